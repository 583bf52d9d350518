"""Prices, and the few sums by which they prove what the purchases of a region cost at least.

Why they prove it stands in `drfopt.planning.sizing.relaxation`, whose duals they are; any others prove something too.
"""

from dataclasses import dataclass

import numpy as np

from .needs import DOWN, Least
from .regions import Region, Totals

__all__ = ["BoundPrices"]


@dataclass(frozen=True, eq=False)
class BoundPrices:
    """Prices of all capacities, as what counts, and of the proportions.

    Attributes
    ----------
    task : array (n,)
        The cheapest place of a task of each user.
    step : array (offers,)
        What a step adds.
    there : float
        What is there before.
    proportions : array (m, m)
        Price, at least 0, of ``C[g] - floors[j, g] C[j] >= 0`` in each region.
    """

    task: np.ndarray
    step: np.ndarray
    there: float
    proportions: np.ndarray

    def _asked(self, needs: Least, region: Region) -> tuple[np.ndarray, np.ndarray]:
        """Return what a unit of each resource of the whole cluster is worth, and what it costs by asking for more."""
        asked = np.where(region.floors > 0, self.proportions, 0.0)
        return asked.sum(axis=0), (asked * region.floors).sum(axis=1) + self.task @ needs.slopes

    def each(self, cost: np.ndarray, needs: Least, region: Region, totals: Totals) -> np.ndarray:
        """Return what a step costs beyond what it is worth at these prices, (offers,)."""
        plus, minus = self._asked(needs, region)
        worth, paid = self.step + totals.adds @ plus, totals.adds @ minus
        each = cost + paid - worth
        # A step worth its cost counts nothing, however many there may be.
        each[np.abs(each) <= (1 - DOWN) * (np.abs(cost) + paid + worth)] = 0.0
        return each

    def bound(self, cost: np.ndarray, needs: Least, region: Region, totals: Totals) -> float:
        """Return what these prices prove that a purchase of a region costs at least."""
        plus, minus = self._asked(needs, region)
        gained, lost = self.task @ needs.tasks + minus @ totals.there, self.there + plus @ totals.there
        each = self.each(cost, needs, region, totals)
        if (each[~np.isfinite(region.high)] < 0).any():
            return -np.inf
        ends = each * np.where(each < 0, np.where(np.isfinite(region.high), region.high, 0.0), region.low)
        return float(gained - lost + ends.sum() - (1 - DOWN) * (gained + lost + np.abs(ends).sum()))
