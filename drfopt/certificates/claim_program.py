"""The linear program of a claim: how far from true is it at least, if users were divisible?

Columns are the numbers of users who take each option, what the cluster runs, and how much too little there is of all
that is run at once, in what one user's other option changes; below 0 where something is left over, so that multipliers
say how near the claim is to being true even where it is true of parts of users.  More may stop than are allowed, which
costs more than it brings.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.deadline import NEVER, Deadline
from .claim_options import Bounds, ClaimOptions, OptionNeeds
from .packing_bound import Bounds as LoadBounds
from .packing_bound import Machines, PackingProgram, Pool, Prices, Terms, asker
from .rounded_rows import Row

__all__ = ["ClaimProgram", "Duals", "Unsolved"]

BEYOND = 2.0
"""What a user costs who stops beyond those allowed: it spares of nothing more than 1."""

SPARED = 1e6
"""Most that may be left over: where nothing is short, the program would have no end."""


class Unsolved(Exception):
    """The solver has no multipliers, or none in time."""


class ClaimProgram(PackingProgram):
    """The program of a claim, within bounds that change.

    Of each choice whoever takes no other option takes its last, the *usual* one, which has no column: what the others
    do is counted as a change from it.
    """

    def __init__(
        self,
        options: ClaimOptions,
        worth: Pool | Machines,
        needs: OptionNeeds | None = None,
        deadline: Deadline = NEVER,
        highs: Any = None,
    ):
        super().__init__()
        self.options, self.claim, self.worth, self.deadline = options, options.claim, worth, deadline
        self.highs = asker() if highs is None else highs
        first, count = options.first, len(options.choice)
        self.usual = first[1:] - 1
        self.own = np.delete(np.arange(count), self.usual)
        self.high, self.cost = options.number[options.choice[self.own]].tolist(), [0.0] * len(self.own)
        self.column_of = np.full(count, -1)
        self.column_of[self.own] = np.arange(len(self.own))
        sizes = np.diff(first)
        # Of two options, what bounds say of the usual one they say of the other.
        self.paired, self.several = np.flatnonzero(sizes == 2), np.flatnonzero(sizes > 2)
        ones, columns = np.ones(sizes.max(initial=0)), np.arange(len(self.own))
        starts, ends = self.column_of[first[self.several]].tolist(), (sizes[self.several] - 1).tolist()
        for a, size, users in zip(starts, ends, options.number[self.several].tolist(), strict=True):
            self.sparse_row(0.0, users, (columns[a : a + size], ones[:size]))
        self.short: list[tuple[int, float]] = []  # Rows of what can be short or left over, and by how much at once.
        if isinstance(worth, Machines):
            self._machines(worth)
        else:
            self._pool(needs or OptionNeeds.of(options, worth))
        self.excess, self.spare = self.column(math.inf, 1.0), self.column(SPARED, -1.0)
        for row, change in self.short:
            low, high, (at, values) = self.rows[row]
            both = np.append(at, [self.excess, self.spare]), np.append(values, [-change, change])
            self.rows[row] = low, high, both
        # Columns of those who stop beyond those allowed, level by level.
        self.beyond = [self.column(math.inf, BEYOND) for _ in self.claim.allowed]
        self.counted = self._stops()
        self.place = {load: at for at, load in enumerate(self.loads)}
        self.rounds: list[tuple[int, float]] = []  # Rows that are rounded, and their units.
        self.highs.passModel(self.model(np.zeros(len(self.high))))

    # ---- rows ---------------------------------------------------------------------------------------------------

    def _stops(self) -> list[int]:
        """Add the rows that no more than are allowed stop at each level."""
        options = self.options
        stops = np.equal.outer(np.arange(len(self.beyond)), options.row).astype(float)
        usual = stops[:, self.usual]
        own = stops[:, self.own] - usual[:, options.choice[self.own]]
        left, added = np.array(self.claim.allowed, dtype=float) - usual @ options.number, []
        for changes, most, beyond in zip(own, left.tolist(), self.beyond, strict=True):
            at = np.flatnonzero(changes)
            added.append(self.sparse_row(-math.inf, most, (np.append(at, beyond), np.append(changes[at], -1.0))))
        return added

    def _terms(self, changes: np.ndarray) -> Terms:
        """Return the terms of a row, given what each option changes."""
        own = changes[self.own]
        at = np.flatnonzero(own)
        return at, own[at]

    def _row(self, left: int, needs: np.ndarray, runs: dict[int, float] | None = None) -> tuple[int, float]:
        """Add the row that options need no more than the usual ones leave and columns run; return it and its unit."""
        unit = float(needs.max(initial=0.0)) or 1.0
        changes = needs - needs[self.usual][self.options.choice] if len(needs) else needs
        first = self.options.first[:-1]
        spans = np.maximum.reduceat(needs, first) - np.minimum.reduceat(needs, first) if len(first) else needs
        at, values = self._terms(changes / unit)
        if runs:
            at = np.append(at, list(runs))
            values = np.append(values, [-x / unit for x in runs.values()])
        if len(at) or needs.any():
            # Where no option changes what is needed, all of it can be short.
            self.short.append((len(self.rows), float(spans.max(initial=0.0) or unit) / unit))
        return self.sparse_row(-math.inf, left / unit, (at, values)), unit

    def _all_usual(self) -> np.ndarray:
        """Return the numbers of users who take each option when everybody takes the usual one."""
        numbers = np.zeros(len(self.options.choice), dtype=np.int64)
        numbers[self.usual] = self.options.number
        return numbers

    def _pool(self, needs: OptionNeeds) -> None:
        left = needs.left - self.options.number @ needs.table[self.usual]
        for j, column in enumerate(needs.table.T.astype(float)):
            self.units[0, j] = self._row(int(left[j]), column)

    def _machines(self, worth: Machines) -> None:
        shapes = np.array(worth.shapes)
        runs = self.machine_columns(worth)
        needs = self.options.needs(np.equal.outer(shapes, np.arange(len(runs))).astype(float))
        usual = self.options.asked(self._all_usual())
        for s, run in enumerate(runs):
            fixed = sum(x for x, shape in zip(self.claim.fixed, worth.shapes, strict=True) if shape == s)
            all_usual = sum(x for x, shape in zip(usual, worth.shapes, strict=True) if shape == s)
            self.units[0, s] = self._row(-fixed - all_usual, needs[:, s], run)
        needs = self.options.needs(np.array(worth.under, dtype=float).reshape(len(shapes), -1))
        for b, total in enumerate(worth.ceilings):
            left = total - sum(x * row[b] for x, row in zip(self.claim.fixed, worth.under, strict=True))
            all_usual = sum(x * row[b] for x, row in zip(usual, worth.under, strict=True))
            self.units[len(worth.counts) + 1, b] = self._row(left - all_usual, needs[:, b])

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

    # ---- solutions ----------------------------------------------------------------------------------------------

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows that are rounded; what is left over or short is counted in what one user's other option changes."""
        if not rows:
            return
        costs = np.array([row.costs for row in rows], dtype=float)
        units = costs.max(axis=1)
        units[units == 0] = 1.0
        costs /= units[:, None]
        usual = costs[:, self.usual]
        most = np.array([float(row.most) for row in rows]) / units - usual @ self.options.number
        count = len(self.own)
        own = np.zeros((len(rows), count + 2))
        own[:, :count] = (costs - usual[:, self.options.choice])[:, self.own]
        own[:, count:] = -1.0, 1.0
        columns = np.append(np.arange(count), [self.excess, self.spare])
        row, at = np.nonzero(own)
        starts = np.searchsorted(row, np.arange(len(rows))).astype(np.int32)
        first = self.highs.getNumRow()
        low = np.full(len(rows), -math.inf)
        self.highs.addRows(len(rows), low, most, len(at), starts, columns[at].astype(np.int32), own[row, at])
        self.rounds += zip(range(first, first + len(rows)), units.tolist(), strict=True)

    def solve(self, bounds: Bounds, loads: LoadBounds, spared: float = SPARED) -> tuple[np.ndarray, "Duals"]:
        """Return numbers of users who take each option, then of machines with each load, and multipliers.

        Where much may be left over, that can be worth more than to stop too many costs: then nothing may be `spared`.

        Raises
        ------
        Unsolved
        """
        options, first = self.options, self.options.first
        low, high = bounds.low[self.own].astype(float), bounds.high[self.own].astype(float)
        # Who does not take the usual option takes another.
        least, most = options.number - bounds.high[self.usual], options.number - bounds.low[self.usual]
        at = self.column_of[first[self.paired]]
        low[at], high[at] = np.maximum(low[at], least[self.paired]), np.minimum(high[at], most[self.paired])
        count = len(self.own)
        low = np.concatenate([low, np.zeros(len(self.loads))])
        high = np.concatenate([high, self.high[count : count + len(self.loads)]])
        for load, (lowest, highest) in loads.items():
            low[count + self.place[load]], high[count + self.place[load]] = lowest, highest
        if len(low):
            self.highs.changeColsBounds(len(low), np.arange(len(low), dtype=np.int32), low, high)
        self.highs.changeColBounds(self.spare, 0.0, spared)
        if several := len(self.several):
            low_rows, high_rows = np.maximum(least[self.several], 0).astype(float), most[self.several].astype(float)
            self.highs.changeRowsBounds(several, np.arange(several, dtype=np.int32), low_rows, high_rows)
        self._run()
        while self.filled(self.highs, (solution := self.highs.getSolution()).row_dual):
            self._run()
        return self._values(solution), self._duals(solution)

    def _duals(self, solution: Any) -> "Duals":
        """Return the multipliers of a solution.

        Raises
        ------
        Unsolved
        """
        duals = np.maximum(-np.array(solution.row_dual), 0.0)
        if not solution.dual_valid or not np.isfinite(duals).all():
            raise Unsolved
        prices = {place: float(duals[row]) / unit for place, (row, unit) in self.units.items()}
        tables = len(self.worth.free)
        rows = [[prices[place] for place in sorted(prices) if place[0] == table] for table in range(tables)]
        counts = [float(duals[row]) for row in self.counted]
        rounds = [float(duals[row]) / unit for row, unit in self.rounds]
        return Duals(rows, counts, rounds, self.highs.getInfo().objective_function_value)

    def _run(self) -> None:
        self.highs.setOptionValue("time_limit", self.highs.getRunTime() + self.deadline.left())
        self.highs.run()
        if not self.deadline.left():
            raise Unsolved

    def _values(self, solution: Any) -> np.ndarray:
        """Return numbers of users who take each option, then of machines with each load."""
        options, count = self.options, len(self.own)
        columns = np.array(solution.col_value[: count + len(self.loads)])
        values = np.zeros(len(options.choice))
        values[self.own] = columns[:count]
        if len(options.first) > 1:
            values[self.usual] = options.number - np.add.reduceat(values, options.first[:-1])
        return np.concatenate([values, columns[count:]])

    def fewest(self) -> tuple[np.ndarray, "Duals"]:
        """Return a solution that keeps the claim, after one that does, with the fewest who stop at its own level.

        Its multipliers say that there are no fewer.

        Raises
        ------
        Unsolved
        """
        for column in (self.excess, self.spare, *self.beyond[:-1]):
            self.highs.changeColBounds(column, 0.0, 0.0)
        own = self.counted[-1]
        self.highs.changeRowBounds(own, -math.inf, self.rows[own][1] - self.claim.allowed[-1])
        self._run()
        solution = self.highs.getSolution()
        return self._values(solution), self._duals(solution)


@dataclass(frozen=True)
class Duals:
    """Multipliers of what can be run, as rows of a leaf, of numbers that may stop, and of rounded rows; in floats.

    `value` is above 0 where they contradict the claim, as far as floats say.
    """

    prices: list[list[float]]
    counts: list[float]
    rounds: list[float]
    value: float

    def whole(self, bits: int) -> tuple[Prices, tuple[int, ...], tuple[int, ...]]:
        """Return them as integers in proportion, the largest of so many bits."""
        largest = max([*(max(row, default=0.0) for row in self.prices), *self.counts, *self.rounds, 0.0]) or 1.0
        shift = bits - math.frexp(largest)[1]

        def whole(row: list[float]) -> tuple[int, ...]:
            return tuple(int(math.ldexp(y, shift)) for y in row)

        return tuple(map(whole, self.prices)), whole(self.counts), whole(self.rounds)
