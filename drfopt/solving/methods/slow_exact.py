"""Leximin and sums in fractions by the plainest simplex method there is: a second method on exact answers.

Given   p = (i, k)  a pair of a user and a class on which its task fits; a pool is one class
        z[p]        tasks of user i on class k;   r[i] the level of one task;   u[i] most tasks

Sums are one program.  A round of leximin has two, in z, t and a switch s, which is 1 in every optimum:

    maximise    B s + t                                                                 (B large)
    subject to  sum_p d[i, j] z[p]  <=  C[k, j]           for every class and resource   (capacity)
                sum_{p of i} z[p]   <=  u[i]              for every user with a limit    (limit)
                h[i] s - r[i] sum_{p of i} z[p]  <=  0    for every finished user        (held)
                t      - r[i] sum_{p of i} z[p]  <=  0    for every rising user          (rising)
                s  <=  1

and then the same for every rising user, its own level in the place of t, the others held at t: who cannot have more is
finished.  Bland's rule on a dense table of `Fraction`s begins at nothing, which is feasible; no basis of a float
solver is looked at, no dual is read, and nothing is shared with the engines for exact answers.
"""

from fractions import Fraction

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import SolverError
from ...base.solvers.exact_lp import largest
from ...model.instance import Instance
from ...model.policies import Policy

__all__ = ["levels", "tasks"]

NOTHING, ONE = Fraction(0), Fraction(1)


def tasks(instance: Instance, policy: Policy) -> np.ndarray:
    """Return tasks (n,) of a largest sum of levels, as `Fraction`s."""
    program = _Program(instance)
    rates = policy.exact_rates(instance)
    found, _ = largest([rates[i] for i, _ in program.pairs], program.rows, program.room)
    return np.array(program.sums(found), dtype=object)


def levels(instance: Instance, policy: Policy, deadline: Deadline) -> np.ndarray:
    """Return the leximin levels (n,) as `Fraction`s; 0 for who is unplaced or has a limit of 0."""
    program, rates = _Program(instance), policy.exact_rates(instance)
    rising, held = {i for i, _ in program.pairs}, dict[int, Fraction]()
    while rising:
        deadline.check("the chain of levels in fractions")
        top = program.highest(rates, rising, held, None)
        at_top = held | dict.fromkeys(rising, top)
        stuck = {i for i in rising if program.highest(rates, {i}, at_top, i) == top}
        if not stuck:
            raise SolverError("the chain of levels in fractions found nobody who is stuck at the highest level")
        held |= dict.fromkeys(stuck, top)
        rising -= stuck
    return np.array([held.get(i, NOTHING) for i in range(instance.n)], dtype=object)


class _Program:
    """Pairs, and the rows of what can run."""

    def __init__(self, instance: Instance):
        playing = np.flatnonzero(~instance.unplaced() & (instance.limits > 0)).tolist()
        if instance.machines is None:
            rooms = [list(instance.exact_capacity)]
        else:
            counts = instance.counts.tolist()
            rooms = [[int(n) * c for c in row] for n, row in zip(counts, instance.exact_machine_capacity, strict=True)]
        fits = instance.fits
        self.pairs = [(i, k) for i in playing for k in range(len(rooms)) if fits is None or fits[i, k]]
        self.n, self.rows, self.room = instance.n, list[list[Fraction]](), list[Fraction]()
        for k, room in enumerate(rooms):
            for j, total in enumerate(room):
                row = [instance.exact_demands[i][j] if on == k else NOTHING for i, on in self.pairs]
                if any(row):
                    self.rows.append(row)
                    self.room.append(total)
        for i in playing:
            limit = instance.exact_limits[i]
            if limit is not None:
                self.rows.append([ONE if owner == i else NOTHING for owner, _ in self.pairs])
                self.room.append(limit)

    def sums(self, z: list[Fraction]) -> list[Fraction]:
        """Return the tasks of each user, (n,)."""
        found = [NOTHING] * self.n
        for (i, _), amount in zip(self.pairs, z, strict=False):
            found[i] += amount
        return found

    def highest(
        self, rates: list[Fraction], rising: set[int], held: dict[int, Fraction], alone: int | None
    ) -> Fraction:
        """Return the highest common level of the rising beside what is held; of one user beside all the others."""
        rows = [[*row, NOTHING, NOTHING] for row in self.rows]
        room = list(self.room)
        for i in sorted({*held, *rising}):
            own = [-rates[i] if owner == i else NOTHING for owner, _ in self.pairs]
            if i in rising:
                rows.append([*own, NOTHING, ONE])
            if i in held and i != alone:
                rows.append([*own, held[i], NOTHING])
            room += [NOTHING] * (len(rows) - len(room))
        rows.append([NOTHING] * len(self.pairs) + [ONE, NOTHING])
        room.append(ONE)
        # No level is above all that its user could have if everything were its own, many times over.
        most = max((c / d for row, c in zip(self.rows, self.room, strict=True) for d in row if d), default=ONE)
        switch = 10**12 * (1 + max(rates) * most * len(self.pairs))
        found, _ = largest([*([NOTHING] * len(self.pairs)), switch, ONE], rows, room)
        if found[-2] != 1:
            raise SolverError("the chain of levels in fractions does not hold what it has found")
        return found[-1]
