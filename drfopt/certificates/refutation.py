"""Refuting a claim by multipliers and, where those do not suffice, by branching.

With any multipliers, >= 0, for what the cluster can run (prices) and for the numbers of users who may stop at each
level, a claim is contradicted by

    sum over users of the price of her cheapest option: tasks times price, plus the multiplier of its level
        >  what all that the cluster can run is worth + sum of multipliers times numbers allowed

Both sides are integers, and this is all that is believed.  Linear programs over HiGHS say which multipliers to try.
Where a linear program has a solution, how many users of some kind take some option is branched upon, or how many
machines of a class have some load: at most so many, or more; each leaf of the tree has multipliers of its own.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

import numpy as np

from ..base.deadline import NEVER, Deadline
from ..base.solvers.table import program
from .level_claims import ABOVE, LevelClaim
from .packing_bound import Machines, PackingProgram, Pool, Prices, cheapest

__all__ = ["FRACTIONAL", "Better", "Inconclusive", "Refutation", "holds", "refute"]

WORK = 500_000
"""Columns of all linear programs for one claim before the branching gives up: some seconds."""

GRID = 80
"""Multipliers are rounded to integers of so many bits; both sides of the contradiction use the rounded ones."""

FRACTIONAL = 1e-6
"""Distance from a whole number at which the solution of a linear program is worth branching upon."""

Bounds = dict[Any, tuple[int, int]]
"""Least and most users that take an option, by its column (of all choices in turn), and machines with a load."""


class Better(Exception):
    """The claim is wrong: this is an allocation that it says does not exist."""


class Inconclusive(Exception):
    """Neither a refutation nor an allocation was found."""


@dataclass(frozen=True)
class Refutation:
    """A leaf (multipliers) or a branch of the tree that refutes a claim.

    Attributes
    ----------
    prices, counts
        At a leaf: multipliers of what can be run, and of the rows of the claim.
    column : int or (class, load)
        At a branch: the option, or the load, that at most
    most : int
        users, or machines, have below `low`, and more of them below `high`.
    """

    prices: Prices = ()
    counts: tuple[int, ...] = ()
    column: Any = -1
    most: int = 0
    low: "Refutation | None" = None
    high: "Refutation | None" = None

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return 1 if self.low is None or self.high is None else self.low.leaves + self.high.leaves


def holds(claim: LevelClaim, worth: Pool | Machines, proof: Refutation, bounds: Bounds | None = None) -> bool:
    """Say whether a refutation contradicts a claim; in integers, and without a solver."""
    bounds = {} if bounds is None else bounds
    if proof.low is None or proof.high is None:
        return _contradicts(claim, worth, proof, bounds)
    low, high = bounds.get(proof.column, (0, _size(claim, worth, proof.column)))
    return holds(claim, worth, proof.low, bounds | {proof.column: (low, min(high, proof.most))}) and holds(
        claim, worth, proof.high, bounds | {proof.column: (max(low, proof.most + 1), high)}
    )


def _size(claim: LevelClaim, worth: Pool | Machines, column: Any) -> int:
    if isinstance(column, tuple):
        return worth.counts[column[0]] if isinstance(worth, Machines) else 0
    for choice in claim.choices:
        if column < len(choice.options):
            return choice.number
        column -= len(choice.options)
    return 0


def _contradicts(claim: LevelClaim, worth: Pool | Machines, leaf: Refutation, bounds: Bounds) -> bool:
    if any(count < 0 for count in leaf.counts) or any(p < 0 for row in leaf.prices for p in row):
        return False
    loads = {column: ends for column, ends in bounds.items() if isinstance(column, tuple)}
    if (found := worth.priced(leaf.prices, loads)) is None:
        # No machines have such loads; or, without bounds, prices say nothing.
        return bool(loads) and worth.priced(leaf.prices) is not None
    costs, total = found
    total += sum(map(mul, leaf.counts, claim.allowed))
    least = sum(map(mul, costs, claim.fixed))
    counts = (*leaf.counts, 0)  # The last is that of `ABOVE`.
    column = 0
    for choice in claim.choices:
        each = choice.prices(costs, counts)
        if not bounds:
            if not each:
                return True
            least += choice.number * min(each)
        else:
            ends = [bounds.get(column + o, (0, choice.number)) for o in range(len(each))]
            cost_of_all = cheapest(each, ends, choice.number)
            if cost_of_all is None:
                return True
            least += cost_of_all
        column += len(each)
    return least > total


def refute(claim: LevelClaim, worth: Pool | Machines, deadline: Deadline = NEVER, branch: bool = True) -> Refutation:
    """Return a refutation of the claim, which `holds`.

    Parameters
    ----------
    branch : bool
        Whether to branch where one linear program does not suffice.

    Raises
    ------
    Better
        When an allocation of a pool satisfies the claim.
    Inconclusive
        When the tree grows too large, or what is left is a question of packing.
    TimeLimitError
    """
    simple = _simple(claim, worth)
    if simple is not None and _contradicts(claim, worth, simple, {}):
        return simple
    if all(len(choice.options) == 1 for choice in claim.choices) and isinstance(worth, Pool):
        raise Better
    return _Tree(claim, worth, deadline).grow({}, branch)


def _simple(claim: LevelClaim, worth: Pool | Machines) -> Refutation | None:
    """Return a leaf of one row alone that contradicts the claim: for a pool where nothing is to choose, they decide."""
    rows, none = len(claim.allowed), (0,) * len(claim.allowed)
    stuck = not all(choice.options for choice in claim.choices)
    if isinstance(worth, Pool):
        fewest = list(claim.fixed)
        for choice in claim.choices:
            for good, x in choice.load(min((tasks for tasks, _ in choice.options), default=0)):
                fewest[good] += choice.number * x
        for j, most in enumerate(worth.room):
            if stuck or sum(x * row[j] for x, row in zip(fewest, worth.demands, strict=True)) > most:
                return Refutation((_unit(j, len(worth.room)),), none)
    stop = [0] * rows
    for choice in claim.choices:
        (row,) = {row for _, row in choice.options} if len(choice.options) == 1 else {ABOVE}
        if row != ABOVE:
            stop[row] += choice.number
    beyond = (
        r for r, (number, allowed) in enumerate(zip(stop, claim.allowed, strict=True)) if stuck or number > allowed
    )
    found = next(beyond, None)
    return None if found is None else Refutation(worth.free, _unit(found, rows))


def _unit(place: int, length: int) -> tuple[int, ...]:
    return tuple(int(place == other) for other in range(length))


class _Tree:
    """The branching for one claim."""

    def __init__(self, claim: LevelClaim, worth: Pool | Machines, deadline: Deadline):
        self.claim, self.worth, self.deadline = claim, worth, deadline
        self.program = _Relaxation(claim, worth)
        self.left = 1 + WORK // len(self.program.high)

    def grow(self, bounds: Bounds, branch: bool = True) -> Refutation:
        """Return the tree that refutes the claim within bounds."""
        self.left -= 1
        if self.left < 0:
            raise Inconclusive
        self.deadline.check("the proof of the optimum")
        nothing = Refutation(self.worth.free, (0,) * len(self.claim.allowed))
        if bounds and _contradicts(self.claim, self.worth, nothing, bounds):
            return nothing  # Nobody can choose so.
        values, leaf = self.program.solve(bounds)
        if _contradicts(self.claim, self.worth, leaf, bounds):
            return leaf
        if not branch:
            raise Inconclusive
        options = len(self.program.options)
        distance = np.abs(values - np.round(values))
        # What users take is branched upon first: of loads there are many that do the same.
        chosen, carried = distance[:options], distance[options:]
        place = int(np.argmax(chosen)) if chosen.max(initial=0.0) > FRACTIONAL else -1
        if place < 0 and carried.max(initial=0.0) > FRACTIONAL:
            place = options + int(np.argmax(carried))
        if place < 0:
            self._decide(np.round(values), bounds)
            raise Inconclusive
        column = place if place < options else self.program.loads[place - options]
        most = math.floor(values[place])
        low, high = bounds.get(column, (0, _size(self.claim, self.worth, column)))
        return Refutation(
            column=column,
            most=most,
            low=self.grow(bounds | {column: (low, most)}),
            high=self.grow(bounds | {column: (most + 1, high)}),
        )

    def _decide(self, values: np.ndarray, bounds: Bounds) -> None:
        """Raise `Better` when these numbers of users, and of machines with loads, make an allocation."""
        asked = list(self.claim.fixed)
        taken = [0] * len(self.claim.allowed)
        column = 0
        for choice in self.claim.choices:
            numbers = [int(v) for v in values[column : column + len(choice.options)]]
            column += len(numbers)
            if sum(numbers) != choice.number or min(numbers, default=0) < 0:
                return
            for number, (tasks, row) in zip(numbers, choice.options, strict=True):
                for good, x in choice.load(tasks):
                    asked[good] += number * x
                if row != ABOVE:
                    taken[row] += number
        if isinstance(self.worth, Pool):
            rows = zip(*self.worth.demands, strict=True)
            within = all(sum(map(mul, asked, row)) <= most for row, most in zip(rows, self.worth.room, strict=True))
        else:
            within = self.program.carries(asked, [int(v) for v in values[len(self.program.options) :]])
        if within and all(t <= allowed for t, allowed in zip(taken, self.claim.allowed, strict=True)):
            raise Better


class _Relaxation(PackingProgram):
    """The linear program of a claim: by how much must rows be relaxed for a fraction of an allocation to exist?

    Columns are the numbers of users who take each option, and what the cluster runs; rows that may be exceeded, at
    cost 1, are what is run (of a pool's resources, else of each shape) and the numbers that may stop.
    """

    def __init__(self, claim: LevelClaim, worth: Pool | Machines):
        super().__init__()
        self.claim, self.worth = claim, worth
        self.options = [self.column(choice.number) for choice in claim.choices for _ in choice.options]
        self.asked: list[dict[int, float]] = [{} for _ in claim.fixed]
        stops: list[dict[int, float]] = [{} for _ in claim.allowed]
        column = 0
        for choice in claim.choices:
            terms = range(column, column + len(choice.options))
            column += len(choice.options)
            self.row(choice.number, choice.number, dict.fromkeys(terms, 1.0))
            for c, (tasks, row) in zip(terms, choice.options, strict=True):
                for good, x in choice.load(tasks):
                    self.asked[good][c] = self.asked[good].get(c, 0.0) + float(x)
                if row != ABOVE:
                    stops[row][c] = 1.0
        if isinstance(worth, Pool):
            self._pool(worth)
        else:
            self._machines(worth)
        self.counted = [self._elastic(allowed, terms, 1.0) for allowed, terms in zip(claim.allowed, stops, strict=True)]
        self.place = {load: at for at, load in enumerate(self.loads)}
        self.highs = self._load()

    def _elastic(self, high: float, terms: dict[int, float], unit: float) -> int:
        scaled = {column: value / unit for column, value in terms.items()}
        return self.row(-math.inf, high / unit, scaled | {self.column(math.inf, 1.0): -1.0})

    def _pool(self, worth: Pool) -> None:
        for j, total in enumerate(worth.room):
            left = total - sum(x * row[j] for x, row in zip(self.claim.fixed, worth.demands, strict=True))
            terms: dict[int, float] = {}
            for row, asked in zip(worth.demands, self.asked, strict=True):
                for c, x in asked.items():
                    terms[c] = terms.get(c, 0.0) + x * row[j]
            unit = float(max(terms.values(), default=1) or 1)
            self.units[0, j] = (self._elastic(left, terms, unit), unit)

    def _machines(self, worth: Machines) -> None:
        for s, runs in enumerate(self.machine_columns(worth)):
            goods = [good for good, shape in enumerate(worth.shapes) if shape == s]
            asked = self._together([(good, 1) for good in goods])
            unit = max(asked.values(), default=1.0) or 1.0
            fixed = sum(self.claim.fixed[good] for good in goods)
            row = self._elastic(-fixed, asked | {column: -x for column, x in runs.items()}, unit)
            self.units[0, s] = (row, unit)
        for b, total in enumerate(worth.ceilings):
            needs = [(good, row[b]) for good, row in enumerate(worth.under) if row[b]]
            terms = self._together(needs)
            unit = max(terms.values(), default=1.0) or 1.0
            left = total - sum(self.claim.fixed[good] * need for good, need in needs)
            self.units[len(worth.counts) + 1, b] = (self._elastic(left, terms, unit), unit)

    def _together(self, goods: Sequence[tuple[int, int]]) -> dict[int, float]:
        """Return how much each option asks of some goods, each so many times."""
        found: dict[int, float] = {}
        for good, times in goods:
            for column, x in self.asked[good].items():
                found[column] = found.get(column, 0.0) + times * x
        return found

    def carries(self, asked: Sequence[int], machines: Sequence[int]) -> bool:
        """Say whether so many machines with each load run what is asked of each shape."""
        if not self.listed or not isinstance(self.worth, Machines):
            return False
        left, counts = [0] * len(self.worth.users), list(self.worth.counts)
        for s, x in zip(self.worth.shapes, asked, strict=True):
            left[s] += x
        for b, most in enumerate(self.worth.ceilings):
            if sum(x * row[b] for x, row in zip(asked, self.worth.under, strict=True)) > most:
                return False
        for (k, load), number in zip(self.loads, machines, strict=True):
            counts[k] -= number
            for s, x in zip(self.worth.fitting[k], load, strict=True):
                left[s] -= number * x
        return min(counts) >= 0 and min(machines, default=0) >= 0 and max(left, default=0) <= 0

    def _load(self) -> Any:
        import highspy

        model = program(self.cost, [0.0] * len(self.high), self.high, self.rows)
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("presolve", "off")
        highs.passModel(model)
        return highs

    def solve(self, bounds: Bounds) -> tuple[np.ndarray, Refutation]:
        """Return numbers of users who take each option, and the multipliers found, as a leaf."""
        count = len(self.options) + len(self.loads)
        low = np.zeros(count)
        high = np.array(self.high[:count], dtype=float)
        for column, (least, most) in bounds.items():
            place = column if isinstance(column, int) else len(self.options) + self.place[column]
            low[place], high[place] = least, most
        if len(low):
            self.highs.changeColsBounds(len(low), np.arange(len(low), dtype=np.int32), low, high)
        self.highs.run()
        while self.filled(self.highs, (solution := self.highs.getSolution()).row_dual):
            self.highs.run()
        duals = [max(0.0, -value) for value in solution.row_dual]
        if not solution.dual_valid or not np.isfinite(duals).all():
            raise Inconclusive
        return np.array(solution.col_value[: len(low)]), self._leaf(duals)

    def _leaf(self, duals: list[float]) -> Refutation:
        """Return the duals as integers in proportion."""
        prices = {place: duals[row] / unit for place, (row, unit) in self.units.items()}
        counts = [duals[row] for row in self.counted]
        largest = max([*prices.values(), *counts], default=0.0) or 1.0
        shift = GRID - math.frexp(largest)[1]
        whole = {place: int(math.ldexp(price, shift)) for place, price in prices.items()}
        tables = len(self.worth.free)
        rows = [[whole[place] for place in sorted(whole) if place[0] == table] for table in range(tables)]
        return Refutation(tuple(map(tuple, rows)), tuple(int(math.ldexp(count, shift)) for count in counts))
