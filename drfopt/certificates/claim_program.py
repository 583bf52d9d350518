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

from ..base.solvers.table import program
from .claim_options import Bounds, ClaimOptions
from .packing_bound import Bounds as LoadBounds
from .packing_bound import Machines, PackingProgram, Pool, Prices

__all__ = ["ClaimProgram", "Duals", "Unsolved"]

BEYOND = 2.0
"""What a user costs who stops beyond those allowed: it spares of nothing more than 1."""

SPARED = 1e6
"""Most that may be left over: where nothing is short, the program would have no end."""


class Unsolved(Exception):
    """The solver has no multipliers."""


class ClaimProgram(PackingProgram):
    """The program of a claim, within bounds that change."""

    def __init__(self, options: ClaimOptions, worth: Pool | Machines):
        super().__init__()
        self.options, self.claim, self.worth = options, options.claim, worth
        for choice in options.choice.tolist():
            self.column(float(options.number[choice]))
        for choice, (a, b) in enumerate(zip(options.first[:-1].tolist(), options.first[1:].tolist(), strict=True)):
            users = float(options.number[choice])
            self.row(users, users, dict.fromkeys(range(a, b), 1.0))
        self.short: list[tuple[dict[int, float], float]] = []
        if isinstance(worth, Pool):
            self._pool(worth)
        else:
            self._machines(worth)
        excess, spare = self.column(math.inf, 1.0), self.column(SPARED, -1.0)
        for terms, change in self.short:
            terms |= {excess: -change, spare: change}
        stops: list[dict[int, float]] = [{} for _ in self.claim.allowed]
        for o, row in enumerate(options.row.tolist()):
            if row >= 0:
                stops[row][o] = 1.0
        self.counted = [
            self.row(-math.inf, allowed, terms | {self.column(math.inf, BEYOND): -1.0})
            for allowed, terms in zip(self.claim.allowed, stops, strict=True)
        ]
        self.place = {load: at for at, load in enumerate(self.loads)}
        self.highs = self._load()

    # ---- rows ---------------------------------------------------------------------------------------------------

    def _row(self, high: float, needs: np.ndarray, runs: dict[int, float] | None = None) -> tuple[int, float]:
        """Add the row that options need no more than there is and what columns run; return it and its unit."""
        unit = float(needs.max(initial=0.0)) or 1.0
        first = self.options.first[:-1]
        spans = np.maximum.reduceat(needs, first) - np.minimum.reduceat(needs, first) if len(first) else needs
        terms = {o: needs[o] / unit for o in np.flatnonzero(needs).tolist()}
        terms |= {column: -x / unit for column, x in (runs or {}).items()}
        if terms:
            self.short.append((terms, float(spans.max(initial=0.0) or unit) / unit))
        return self.row(-math.inf, high / unit, terms), unit

    def _needs(self, goods: np.ndarray) -> np.ndarray:
        """Return what each option needs, given what a task of each good does, (goods, rows)."""
        options = self.options
        needs = goods[options.good] * options.tasks.astype(float)[:, None]
        return needs if len(needs) == len(options.choice) or not len(needs) else np.add.reduceat(needs, options.starts)

    def _pool(self, worth: Pool) -> None:
        needs = self._needs(np.array(worth.demands, dtype=float).reshape(-1, len(worth.room)))
        for j, total in enumerate(worth.room):
            left = total - sum(x * row[j] for x, row in zip(self.claim.fixed, worth.demands, strict=True))
            self.units[0, j] = self._row(left, needs[:, j])

    def _machines(self, worth: Machines) -> None:
        shapes = np.array(worth.shapes)
        runs = self.machine_columns(worth)
        needs = self._needs(np.equal.outer(shapes, np.arange(len(runs))).astype(float))
        for s, run in enumerate(runs):
            fixed = sum(x for x, shape in zip(self.claim.fixed, worth.shapes, strict=True) if shape == s)
            self.units[0, s] = self._row(-fixed, needs[:, s], run)
        needs = self._needs(np.array(worth.under, dtype=float).reshape(len(shapes), -1))
        for b, total in enumerate(worth.ceilings):
            left = total - sum(x * row[b] for x, row in zip(self.claim.fixed, worth.under, strict=True))
            self.units[len(worth.counts) + 1, b] = self._row(left, needs[:, b])

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

    def _load(self) -> Any:
        import highspy

        model = program(self.cost, [0.0] * len(self.high), self.high, self.rows)
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("presolve", "off")
        highs.passModel(model)
        return highs

    def solve(self, bounds: Bounds, loads: LoadBounds) -> tuple[np.ndarray, "Duals"]:
        """Return numbers of users who take each option and of machines with each load, and multipliers.

        Raises
        ------
        Unsolved
        """
        count = len(self.options.choice)
        low = np.concatenate([bounds.low, np.zeros(len(self.loads))])
        high = np.concatenate([bounds.high, self.high[count : count + len(self.loads)]])
        for load, (least, most) in loads.items():
            low[count + self.place[load]], high[count + self.place[load]] = least, most
        if len(low):
            self.highs.changeColsBounds(len(low), np.arange(len(low), dtype=np.int32), low, high)
        self.highs.run()
        while self.filled(self.highs, (solution := self.highs.getSolution()).row_dual):
            self.highs.run()
        duals = np.maximum(-np.array(solution.row_dual), 0.0)
        if not solution.dual_valid or not np.isfinite(duals).all():
            raise Unsolved
        prices = {place: float(duals[row]) / unit for place, (row, unit) in self.units.items()}
        tables = len(self.worth.free)
        rows = [[prices[place] for place in sorted(prices) if place[0] == table] for table in range(tables)]
        found = Duals(rows, [float(duals[row]) for row in self.counted], self.highs.getInfo().objective_function_value)
        return np.array(solution.col_value[: len(low)]), found


@dataclass(frozen=True)
class Duals:
    """Multipliers of what can be run, as rows of a leaf, and of the numbers that may stop; in floats.

    `value` is above 0 where they contradict the claim, as far as floats say.
    """

    prices: list[list[float]]
    counts: list[float]
    value: float

    def whole(self, bits: int) -> tuple[Prices, tuple[int, ...]]:
        """Return them as integers in proportion, the largest of so many bits."""
        largest = max([*(max(row, default=0.0) for row in self.prices), *self.counts, 0.0]) or 1.0
        shift = bits - math.frexp(largest)[1]
        rows = (tuple(int(math.ldexp(price, shift)) for price in row) for row in self.prices)
        return tuple(rows), tuple(int(math.ldexp(count, shift)) for count in self.counts)
