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

Guarantees, tiers and groups of one pool, `tree_tasks`, are filled by the reference: its tree and its rows are read from
the instance anew.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import SolverError
from ...base.solvers.exact_lp import largest
from ...engines.reference.tree_filling import GroupNode, fill
from ...model.instance import Instance
from ...model.policies import Policy

__all__ = ["levels", "tasks", "tree_tasks"]

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


Rows = Callable[[list[Fraction]], list[Fraction]]


def tree_tasks(instance: Instance, policy: Policy) -> list[Fraction]:
    """Return the exact tasks of everybody, (n,)."""
    tree = _Tree(instance, policy)
    none = [Fraction(0)] * instance.n
    # Who has a limit of 0, or uses what there is nothing of.
    none_of = [any(use for use, most in zip(row, tree.room, strict=True) if most == 0) for row in tree.use]
    out = {i for i in range(instance.n) if tree.most[i] == 0 or none_of[i]}
    promised = tree.promised(out)
    having, stopped = none, out
    if some := [i for i, amount in enumerate(promised) if amount and i not in out]:
        parts = GroupNode([((), i) for i in some])
        of_promise = [_part(i, promised[i], instance) for i in range(instance.n)]
        having, stopped = fill(parts, tree.use, tree.room, promised, of_promise, none, sorted(out))
    found, _ = fill(tree.root, tree.use, tree.room, tree.most, tree.rows, having, sorted(stopped))
    return found


def _part(i: int, promised: Fraction, instance: Instance) -> Rows:
    """Measure what a user holds as a part of what is promised, by the first resource that she uses."""
    j = next(j for j, d in enumerate(instance.exact_demands[i]) if d)
    whole = promised * instance.exact_demands[i][j]
    return lambda use: [use[j] / whole]


def _in_shares(weight: Fraction, instance: Instance) -> Callable[[list[Fraction]], Fraction]:
    """Measure what users hold in shares of all resources together, by a weight; further columns are ceilings."""
    unit = [1 / (c * weight) if c else Fraction(0) for c in instance.exact_capacity]
    return lambda use: sum((u * held for u, held in zip(unit, use[: instance.m], strict=True)), Fraction(0))


class _Tree:
    """The instance in the letters of the reference."""

    def __init__(self, instance: Instance, policy: Policy):
        organisation: Any = instance.organisation
        self.instance, self.policy, self.organisation = instance, policy, organisation
        self.resources = {resource: j for j, resource in enumerate(instance.resources)}
        ceilings = [
            (g.name, self.resources[r], most) for g in self.organisation.groups for r, most in g.ceiling.items()
        ]
        count = self._tasks_count()
        self.use = [
            [*row, count[i], *(row[j] if self._below(i, name) else Fraction(0) for name, j, _ in ceilings)]
            for i, row in enumerate(instance.exact_demands)
        ]
        self.room: list[Fraction | None] = [*instance.exact_capacity, None, *(most for _, _, most in ceilings)]
        self.most = instance.exact_limits
        weights = instance.exact_weights
        guarantees, needs = self.organisation.guarantees, instance.exact_demands
        self.rows = [self._measure(guarantees[i], weights[i], needs[i]) for i in range(instance.n)]
        self.groups: dict[str, GroupNode] = {}
        self.root = self._group("")

    def promised(self, out: set[int]) -> list[Fraction]:
        """Return the tasks that guarantees are worth."""
        found = [self._promise(i) if i not in out else Fraction(0) for i in range(self.instance.n)]
        for group in reversed(self.organisation.groups):
            if not group.guarantee or not self.groups[group.name].children:
                continue
            room = [group.guarantee.get(r) for r in self.instance.resources] + [None] * (
                len(self.room) - self.instance.m
            )
            members = self.groups[group.name].users()
            used = [sum((found[i] * self.use[i][c] for i in members), Fraction(0)) for c in range(len(room))]
            using = {i for i in members if i not in out and any(self._need(i, r) for r in group.guarantee)}
            if all(most is None or u < most for u, most in zip(used, room, strict=True)):
                alone = [self.most[i] if i in using else self._bounded(i) for i in range(self.instance.n)]
                self._let_rise(self.groups[group.name], self._ends(group, alone, using), alone, using)
                others = [tree_tasks if i in members else Fraction(0) for i, tree_tasks in enumerate(found)]
                node = self.groups[group.name]
                new, _ = fill(node, self.use, room, alone, self.rows, others, sorted(out), once=True, until=using)
                found = [new[i] if i in members else found[i] for i in range(self.instance.n)]
        return found

    def _below(self, i: int, name: str) -> bool:
        path = self.organisation.paths[i]
        return path == name or path.startswith(name + "/")

    def _bounded(self, i: int) -> Fraction:
        """Return her limit, or what is as good as none: twice what she could run alone."""
        if (limit := self.most[i]) is not None:
            return limit
        cells = zip(self.instance.exact_demands[i], self.instance.exact_capacity, strict=True)
        return 2 * min(c / d for d, c in cells if d)

    def _ends(self, group: Any, most: list[Fraction | None], using: set[int]) -> list[Fraction]:
        """Return where members end who use a guarantee, were each alone to use it up; others at what they may have."""
        found = []
        for i, known in enumerate(most):
            worth = (
                [amount / d for r, amount in group.guarantee.items() if (d := self._need(i, r))] if i in using else []
            )
            found.append(min([*worth, *([] if known is None else [known])]))
        return found

    def _let_rise(
        self, node: GroupNode, ends: list[Fraction], most: list[Fraction | None], using: set[int]
    ) -> Fraction | None:
        """Let who needs nothing of a guarantee and has no limit come to the level at which her siblings end."""
        nothing, ranks = [Fraction(0)] * len(self.room), dict[Any, list[tuple[list[int], Any, Fraction | None]]]()
        for rank, child in node.children:
            if isinstance(child, GroupNode):
                of = (child.users(), child.rows, self._let_rise(child, ends, most, using))
            else:
                own = max(self.rows[child]([u * ends[child] for u in self.use[child]])) if child in using else None
                of = ([child], self.rows[child], own)
            ranks.setdefault(rank, []).append(of)
        for members in ranks.values():
            if not (levels := [level for _, _, level in members if level is not None]):
                continue
            top = max(levels)
            for below, rows, _ in members:
                for i in below:
                    if i not in using and self.most[i] is None:
                        pairs = zip(rows(self.use[i]), rows(nothing), strict=True)
                        far = min(((top - b) / (a - b) for a, b in pairs if a > b), default=ends[i])
                        ends[i] = most[i] = max(ends[i], far)
        if not any(i in using for i in node.users()):
            return None
        total = [sum((ends[i] * self.use[i][c] for i in node.users()), Fraction(0)) for c in range(len(self.room))]
        return max(node.rows(total))

    def _promise(self, i: int) -> Fraction:
        worth = [amount / d for r, amount in self.organisation.guarantees[i].items() if (d := self._need(i, r))]
        limit = self.most[i]
        return min([*worth, *([] if limit is None else [limit])]) if worth else Fraction(0)

    def _need(self, i: int, resource: str) -> Fraction:
        return self.instance.exact_demands[i][self.resources[resource]]

    def _tasks_count(self) -> list[Fraction]:
        rows = zip(self.instance.exact_demands, strict=True)
        if self.policy.measure != "alone":
            return [Fraction(1) for _ in rows]
        # Of what is excluded there is enough.
        counted = zip(self.instance.exact_capacity, self.instance.counted.tolist(), strict=True)
        cells = [c if there else None for c, there in counted]
        return [max(d / c if c else Fraction(0) for d, c in zip(row, cells, strict=True)) for (row,) in rows]

    def _measure(self, guarantee: Any, weight: Any, needs: Sequence[Fraction] = ()) -> Rows:
        instance, meaning = self.instance, self.organisation.meaning
        m = instance.m
        weights = weight if isinstance(weight, tuple) else (weight,) * m
        if self.policy.measure in ("tasks", "alone"):
            return lambda use: [use[m] / weights[0]]
        counted = [
            j
            for r, j in self.resources.items()
            if instance.exact_capacity[j]
            and r not in self.organisation.excluded
            and (self.policy.measure != "single" or r == self.policy.argument)
        ]

        def rows(use: list[Fraction]) -> list[Fraction]:
            found = []
            for j in counted:
                promise = guarantee.get(instance.resources[j], Fraction(0))
                unit = promise if promise and meaning == "normalised" else instance.exact_capacity[j]
                found.append((use[j] - (promise if meaning == "surplus" else 0)) / unit / weights[j])
            if self.policy.measure == "asset":
                return [sum(found, Fraction(0))]
            # What a user does not need counts in no level of hers.
            return [row for j, row in zip(counted, found, strict=True) if not needs or needs[j]] or [Fraction(0)]

        return rows

    def _group(self, name: str) -> GroupNode:
        o = self.organisation
        children: list = [((-o.tiers[i], o.last[i]), i) for i in range(self.instance.n) if o.paths[i] == name]
        for group in o.groups:
            if group.parent == name:
                children.append(((-group.tier, group.weight == 0), self._group(group.name)))
        here = next((group for group in o.groups if group.name == name), None)
        if here is None:
            return GroupNode(children)
        weight = here.weight or Fraction(1)
        shares = _in_shares(weight, self.instance)
        self.groups[name] = GroupNode(children, self._measure(here.guarantee, weight), shares)
        return self.groups[name]
