"""Branch and cut: the refutation of a claim is looked for by linear programs, and branches where these do not suffice.

Linear programs over HiGHS say which multipliers to try.  Where one does not contradict, its multipliers still say how
many users at most can take an option, or at least have to (`claim_options`); then how many take some option is branched
upon, or how many machines of a class have some load: at most so many, or more.

Of a pool, before branching and at every branch, rows that whole numbers of users keep, and the solution of the program
does not, are added to it (`rounded_rows`).  What is found is judged by `drfopt.certificates.refutation`, in integers.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from ..base.deadline import NEVER, Deadline
from .claim_options import FRACTIONAL, Bounds
from .claim_points import ClaimPoints
from .claim_program import ClaimProgram, Duals, Unsolved
from .level_claims import LevelClaim
from .packing_bound import Bounds as LoadBounds
from .packing_bound import Machines, Pool, asker
from .refutation import Checks, Left, Refutation
from .rounded_rows import Rounding, RowFinder

__all__ = ["Better", "Inconclusive", "Learned", "refute"]

WORK = 400_000
"""Columns of all linear programs of a tree before the branching gives up: some seconds."""

GRIDS = (32, 80)
"""Multipliers are rounded to integers of so many bits, of more where fewer do not contradict what floats do."""


PATIENCE, GAINED = 3, 0.05
"""Times that rounded rows are added though the program comes no nearer, by this part of what is missing."""

ROUNDS, ROWS = 1, 300
"""How often rounded rows are added at a node, and how many there are in a program up to which they are."""

HINTS = 3
"""Multipliers of claims before that are asked, and those of the last."""

FEW = 2
"""Rows of a claim up to which multipliers of one resource mostly refute it; of more they hardly ever do."""

SHRUNK = 0.7
"""Part of the options at most to which bounds have to narrow a program for it to be written anew."""

PROOF = "the proof of the optimum"
"""What is said to have been looked for when the time is up."""


class Learned:
    """What one claim teaches of the next: multipliers that may tighten its bounds before a program is asked."""

    def __init__(self) -> None:
        self.leaves: list[Refutation] = []
        self.highs: Any = None  # Who was asked, and is asked again.

    def __getstate__(self) -> dict[str, Any]:
        """Go along with an allocation without the solver, which is made anew where it is asked again."""
        return self.__dict__ | {"highs": None}


class Better(Exception):
    """The claim is wrong: so many users who take each option are an allocation that it says does not exist.

    `proof` may refute the claim that fewer stop at its level.
    """

    def __init__(self, numbers: Sequence[int], proof: "Refutation | None" = None):
        super().__init__()
        self.numbers, self.proof = numbers, proof


class Inconclusive(Exception):
    """Neither a refutation nor an allocation was found."""


def refute(
    claim: LevelClaim,
    worth: Pool | Machines,
    deadline: Deadline = NEVER,
    branch: bool = True,
    known: Sequence[Refutation] = (),
    learned: Learned | None = None,
) -> Refutation:
    """Return a refutation of the claim, which `holds`.

    Parameters
    ----------
    branch : bool
        Whether to branch where one linear program does not suffice.
    known : list of Refutation
        What may do: what an engine says, or what refutes the level before: what is short there mostly is so here.
    learned : Learned, optional
        From claims before, and from this one.

    Raises
    ------
    Better
        When an allocation of a pool satisfies the claim.
    Inconclusive
        When the tree grows too large, or what is left is a question of packing.
    TimeLimitError
    """
    rows = len(claim.allowed)
    if claim.surely > min(claim.allowed[-1:], default=0):
        return Refutation(worth.free, _unit(rows - 1, rows))
    checks = Checks(claim, worth)
    if checks.options.stuck:
        return Refutation(worth.free, (0,) * rows)  # Somebody can choose nothing.
    for proof in chain(map(partial(_carried, rows), known), _simple(checks)):
        if len(proof.counts) in (0, rows) and (held := checks.proven(proof)) is not None:
            return held
    if len(checks.options.choice) == len(checks.options.number) and isinstance(worth, Pool):
        raise Better(checks.options.number.tolist())  # There is nothing to choose.
    return _Tree(checks, deadline, learned or Learned()).whole(branch)


def _carried(rows: int, known: Refutation) -> Refutation:
    """Return multipliers of a level before for this one, of rows that stayed open since, and anew; others as is."""
    fewer = rows - len(known.counts) if known.alone and known.counts else 0
    return replace(known, counts=(*known.counts, *known.counts[-1:] * fewer)) if fewer > 0 else known


def _simple(checks: Checks) -> Iterator[Refutation]:
    """Yield leaves of one row alone that contradict the claim: for a pool where nothing is to choose, they decide.

    Then leaves of one resource of a pool that may: whoever may no longer stop at a level is who frees least of it.
    """
    options, needs, rows = checks.options, checks.needs, len(checks.claim.allowed)
    if needs is not None and len(options.number):
        fewest = options.number @ np.minimum.reduceat(needs.table, options.first[:-1])
        for j in np.flatnonzero(fewest > needs.left).tolist():
            yield Refutation((_unit(j, len(needs.left)),), (0,) * rows)
    for row in np.flatnonzero(options.forced() > np.array(checks.claim.allowed, dtype=np.int64)).tolist():
        yield Refutation(checks.worth.free, _unit(row, rows))
    if needs is not None and 0 < rows <= FEW and len(options.number) and needs.table.dtype != object:
        short = np.flatnonzero(options.number @ needs.table[options.first[1:] - 1] > needs.left)
        counts, least = options.counts(needs.table[:, short].T)
        for at in np.flatnonzero(least > needs.left[short]).tolist():
            yield Refutation((_unit(int(short[at]), len(needs.left)),), tuple(counts[at].tolist()))


def _nodes(proof: Refutation) -> Iterator[Refutation]:
    """Yield all nodes of a tree."""
    waiting = [proof]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.parts


def _only(proof: Refutation, used: Sequence[int], kept: np.ndarray) -> Refutation:
    """Return a tree with multipliers of these rounded rows alone, and branches upon these options."""
    parts = (proof.low, proof.high, proof.then)
    low, high, then = (None if part is None else _only(part, used, kept) for part in parts)
    rounds = tuple(proof.rounds[k] for k in used if k < len(proof.rounds))
    branch = proof.low is not None and not isinstance(proof.column, tuple)
    column = int(kept[proof.column]) if branch else proof.column
    return replace(proof, rounds=rounds, column=column, low=low, high=high, then=then)


def _unit(place: int, length: int) -> tuple[int, ...]:
    return tuple(int(place == other) for other in range(length))


class _Tree:
    """The branching for one claim."""

    def __init__(self, checks: Checks, deadline: Deadline, learned: Learned):
        self.deadline, self.learned, self.claim, self.worth = deadline, learned, checks.claim, checks.worth
        self.nothing = Refutation(self.worth.free, (0,) * len(self.claim.allowed))
        self.rows: list[Rounding] = []  # In the program, after the multipliers that have tightened bounds.
        self.chain: list[Refutation] = []
        self.size, self.kept = len(checks.options.choice), np.arange(len(checks.options.choice))
        self.checks, self.bounds = checks, checks.options.free
        self._hinted()
        self._begin()

    def _begin(self) -> None:
        """Write the program of the options that there are."""
        self.options = options = self.checks.options
        needs = self.checks.needs
        self.learned.highs = self.learned.highs or asker()
        self.program = ClaimProgram(options, self.worth, needs, self.deadline, self.learned.highs)
        self.program.add(self.checks.rows)
        self.points = None if needs is None else ClaimPoints(options, needs)
        self.finder: RowFinder | None = None

    def _hinted(self) -> None:
        """Tighten bounds of a pool by multipliers of claims before."""
        rows, bounds = len(self.claim.allowed), self.bounds
        for known in self.learned.leaves if isinstance(self.worth, Pool) and rows else []:
            leaf = _carried(rows, known)
            left = self.checks.left(leaf, bounds, {}) if len(leaf.counts) == rows else None
            if left is not None and not left.bounds.same(bounds):
                self.chain.append(leaf)
                bounds = left.bounds
        if not self._fewer_options(bounds):
            self.chain = []

    def _fewer_options(self, bounds: Bounds) -> bool:
        """Leave out the options that nobody can take, where they are many; say whether they are."""
        kept = np.flatnonzero(bounds.high)
        if len(kept) > SHRUNK * len(bounds.high):
            return False
        self.checks, self.bounds, self.kept = self.checks.only(kept), bounds.only(kept), self.kept[kept]
        return True

    def _better(self, numbers: np.ndarray, proof: Refutation | None = None) -> Better:
        whole = np.zeros(self.size, dtype=np.int64)
        whole[self.kept] = numbers
        return Better(whole.tolist(), proof)

    def whole(self, branch: bool) -> Refutation:
        """Return a tree that refutes the claim."""
        if branch and self.points is not None and (leaf := self._rounded()) is not None:
            return self._with_rows(leaf)
        self.steps = 1 + WORK // len(self.program.high)
        return self._with_rows(self.grow(self.bounds, {}, branch))

    def _rounded(self) -> Refutation | None:
        """Add rounded rows to the program as long as these bring it nearer; return multipliers that refute then.

        Raises
        ------
        Better
        """
        best, waited, asked = -math.inf, 0, False
        while waited < PATIENCE:
            values, duals = self._solved(self.bounds, {})
            leaf, left = self._left(duals, self.bounds, {})
            if not asked:
                # Of a program of some options it says nothing of the others: what left these out does.
                self.learned.leaves = [*self.chain[:HINTS], leaf]
            asked = True
            if left is None:
                return leaf
            self._near(values)
            if not left.bounds.same(self.bounds):
                self.chain.append(leaf)
                moved = not left.bounds.hold(values)
                if self._fewer_options(left.bounds):
                    self._begin()
                    continue
                self.bounds = left.bounds
                if moved:
                    continue
            waited = 0 if duals.value > best + GAINED * abs(best) else waited + 1
            best = max(best, duals.value)
            if not self._cut(values, duals):
                break
        return None

    def _cut(self, values: np.ndarray, duals: Duals, more: bool = True) -> bool:
        """Add rounded rows that a solution of a pool's program violates, if more are wanted; say whether there are."""
        if not more or self.checks.needs is None:
            return False
        self.finder = self.finder or RowFinder(self.options, self.checks.needs)
        found = self.finder.violated(values, duals.prices[0], duals.counts)
        self.rows += [replace(how, base=self.kept[how.base]) for how, _ in found]
        self.checks.rows += (rows := [row for _, row in found])
        self.program.add(rows)
        return bool(found)

    def _with_rows(self, proof: Refutation) -> Refutation:
        """Return a tree with the rounded rows that have multipliers in it, of all options."""
        for leaf in reversed(self.chain):
            proof = replace(leaf, then=proof)
        used = sorted({k for leaf in _nodes(proof) for k, times in enumerate(leaf.rounds) if times})
        rows = tuple(replace(self.rows[k], base=tuple(np.array(self.rows[k].base).tolist())) for k in used)
        return replace(_only(proof, used, self.kept), rows=rows)

    def _solved(self, bounds: Bounds, loads: LoadBounds, **how: Any) -> tuple[np.ndarray, Duals]:
        self.deadline.check(PROOF)
        try:
            return self.program.solve(bounds, loads, **how)
        except Unsolved:
            self.deadline.check(PROOF)
            raise Inconclusive from None

    def _near(self, values: np.ndarray) -> None:
        """Raise `Better` when near a solution is an allocation of a pool."""
        if self.points is not None and (numbers := self.points.near(values)) is not None:
            raise self._fewer(numbers)

    def grow(self, bounds: Bounds, loads: LoadBounds, branch: bool = True, rounds: int = ROUNDS) -> Refutation:
        """Return the tree that refutes the claim within bounds."""
        self.steps -= 1
        if self.steps < 0:
            raise Inconclusive
        if not self.options.able(bounds) or (loads and self.worth.priced(self.worth.free, loads) is None):
            return self.nothing  # Nobody can choose so.
        values, duals = self._solved(bounds, loads)
        leaf, left = self._left(duals, bounds, loads)
        if left is None:
            return leaf
        if not branch:
            raise Inconclusive
        self._near(values)
        if left.bounds.same(bounds):
            if rounds and self._cut(values, duals, len(self.rows) < ROWS):
                return self.grow(bounds, loads, branch, rounds - 1)
            return self._branched(values, bounds, loads)
        chosen = values[: len(self.options.choice)]
        if left.bounds.hold(chosen):
            return replace(leaf, then=self._branched(values, left.bounds, loads))
        return replace(leaf, then=self.grow(left.bounds, loads, branch))

    def _fewer(self, numbers: np.ndarray) -> Better:
        """Return an allocation of a pool with as few who stop at the level of the claim as another, or fewer."""
        own = self.options.row == len(self.claim.allowed) - 1
        if self.points is None or not numbers[own].any():
            return self._better(numbers)
        try:
            values, duals = self.program.fewest()
        except Unsolved:
            return self._better(numbers)
        other = self.points.near(values)
        numbers = numbers if other is None or other[own].sum() > numbers[own].sum() else other
        return self._better(numbers, self._with_rows(Refutation(*duals.whole(GRIDS[0]))))

    def _left(self, duals: Duals, bounds: Bounds, loads: LoadBounds) -> tuple[Refutation, Left | None]:
        """Return multipliers as a leaf, and what they leave of the claim."""
        for bits in GRIDS:
            leaf = Refutation(*duals.whole(bits))  # prices, counts, rounds
            left = self.checks.left(leaf, bounds, loads)
            if left is None or duals.value <= 0:
                break
        return leaf, left

    def _branched(self, values: np.ndarray, bounds: Bounds, loads: LoadBounds) -> Refutation:
        options = len(self.options.choice)
        distance = np.abs(values - np.round(values))
        # What users take is branched upon first: of loads there are many that do the same.  In a pool, what users take
        # whose choice matters most: in the place of who changes little there is another.
        chosen, carried = distance[:options], distance[options:]
        place = int(np.argmax(chosen)) if chosen.max(initial=0.0) > FRACTIONAL else -1
        if place >= 0 and self.points is not None:
            weighed = np.where(chosen > FRACTIONAL, chosen * self.points.change, 0.0)
            place = int(np.argmax(weighed)) if weighed.any() else place
        if place < 0 and carried.max(initial=0.0) > FRACTIONAL:
            place = options + int(np.argmax(carried))
        if place < 0:
            self._decide(np.round(values).astype(np.int64))
            return self._without_spare(bounds, loads)
        column = place if place < options else self.program.loads[place - options]
        most = math.floor(values[place])
        below, beyond = self.checks.branches(column, most, bounds, loads)
        # The nearer side first: an allocation that the claim says does not exist is rather there.
        if values[place] - most > 0.5:
            high, low = self.grow(*beyond), self.grow(*below)
        else:
            low, high = self.grow(*below), self.grow(*beyond)
        return Refutation(column=column, most=most, low=low, high=high)

    def _without_spare(self, bounds: Bounds, loads: LoadBounds) -> Refutation:
        """Return multipliers that refute the claim when nothing counts that is left over."""
        _, duals = self._solved(bounds, loads, spared=0.0)
        leaf, left = self._left(duals, bounds, loads)
        if left is not None:
            raise Inconclusive
        return leaf

    def _decide(self, values: np.ndarray) -> None:
        """Raise `Better` when these numbers of users, and of machines with loads, make an allocation."""
        numbers, machines = np.split(values, [len(self.options.choice)])
        if self.points is not None:
            better = self.points.satisfies(numbers)
        else:
            asked = [x + more for x, more in zip(self.options.asked(numbers), self.claim.fixed, strict=True)]
            better = self.options.allowed(numbers) and self.program.carries(asked, machines.tolist())
        if better:
            raise self._better(numbers)
