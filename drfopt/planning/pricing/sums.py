"""The largest sum of levels as a function of one amount: concave, in straight pieces, each the dual of a program.

The dual of the program for any amount is a line that the sum exceeds nowhere.  The lines found at the ends of what is
known cross where a price stops being true, or show that it is true all the way: a few programs find the piece next to
the amount there is, and its end, whatever ties there are.  Levels are shares of the cluster as it is.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.errors import SolverError
from ...engines.problem import Problem
from ...model.instance import Instance
from ...model.policies import Policy
from .units import Unit

__all__ = ["Piece", "Sums"]

ON_LINE = 1e-9
"""Distance from a line, relative to the sum, that the solver's tolerances account for."""

NEXT = 1e-7
"""Part of what there is, below which a piece is no piece: another begins right here."""

CUTS = 100
"""Programs for one side: more than have ever been needed."""


@dataclass(frozen=True)
class Piece:
    """What one unit more is worth next to the amount there is, and for how many units."""

    price: float
    reach: float


class Sums:
    """The largest sum of levels under a policy, for a cluster that grows or shrinks."""

    def __init__(self, instance: Instance, policy: Policy):
        self.instance = instance
        self._problem = Problem(instance, policy)
        self._none = self._problem.n == 0
        if not self._none:
            from ...engines.sums.lp import program

            self._stated = program(self._problem, self._problem.rates, self._problem.limits)
            self.now, self._prices = self._solved(np.zeros_like(instance.room))

    def price(self, unit: Unit) -> float:
        """Return the price of one unit in the certificate of the sum; where there are several, one of them."""
        return 0.0 if self._none else float((self._prices * unit.growth).sum())

    def side(self, unit: Unit, more: bool, end: float) -> Piece:
        """Return the piece next to the amount there is, followed so many units far at most.

        Raises
        ------
        SolverError
            When the lines do not settle.
        """
        if self._none:
            return Piece(0.0, end)
        sign = 1.0 if more else -1.0
        slope = sign * self.price(unit)
        others: list[tuple[float, float]] = []
        for _ in range(CUTS):
            crossings = [(above / (slope - other), other) for above, other in others if other < slope]
            step, steeper = min(crossings, default=(end, slope))
            if step <= NEXT * unit.now:
                # That line begins where the first does: this side is its own.
                slope = steeper
                continue
            step = min(step, end)
            value, prices = self._solved(sign * step * unit.growth)
            if value >= self.now + slope * step - ON_LINE * self.now:
                return Piece(sign * slope, step)
            other = sign * float((prices * unit.growth).sum())
            others.append((max(value - other * step - self.now, 0.0), other))
        raise SolverError(f"{CUTS} programs do not tell how far the price of {unit.name!r} holds: use whatif instead")

    def _solved(self, growth: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the largest sum, and the prices of a unit (k, m), in a cluster that has grown."""
        from ...engines.linear_programs import INFINITY, run

        stated, rows, room = self._stated, self._stated.rows, self.instance.room
        cells = (rows.machine, rows.resource)
        high = np.maximum(1 + growth[cells] / room[cells], 0.0)
        highs: Any = stated.highs
        highs.changeRowsBounds(len(high), np.arange(len(high)), np.full(len(high), -INFINITY), high)
        found = run(highs, "the largest sum of a changed cluster", self._problem.deadline)
        prices = np.zeros_like(room)
        prices[cells] = np.maximum(-found.duals[: len(rows.machine)], 0) * stated.largest / room[cells]
        return -found.objective * stated.largest, prices
