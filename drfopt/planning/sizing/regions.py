"""Sets of purchases: between two ends, with proportions of what the cluster then has; and its capacity there.

Prices, and the few sums by which they prove what the purchases of a region cost at least.

Why they prove it stands in `drfopt.planning.sizing.relaxation`, whose duals they are; any others prove something too.
"""

from dataclasses import dataclass, fields, replace

import numpy as np

from .needs import Least
from .rates import DOWN

__all__ = ["BoundPrices", "Region", "Totals"]


UNBOUNDED = 1e12
"""Steps that stand for any number of them, where a proportion is looked for: it is off by one part in so many."""


@dataclass(frozen=True, eq=False)
class Region:
    """Purchases between two ends after which capacities stand in certain proportions.

    Attributes
    ----------
    low, high : array (offers,)
        Steps of every offer, both ends included.
    floors : array (m, m)
        ``C[g] >= floors[j, g] C[j]``, with C the capacity of the whole cluster after the purchase; 0 asks for nothing.
    """

    low: np.ndarray
    high: np.ndarray
    floors: np.ndarray

    @property
    def empty(self) -> bool:
        """Whether some end is below the other."""
        return bool((self.low > self.high).any())

    @property
    def single(self) -> bool:
        """Whether it is one purchase."""
        return bool((self.low == self.high).all())


@dataclass(frozen=True, eq=False)
class Totals:
    """Capacity of the whole cluster: what is there (m,), and what a step of each offer adds (offers, m)."""

    there: np.ndarray
    adds: np.ndarray

    def after(self, counts: np.ndarray) -> np.ndarray:
        """Return the capacity (m,) after a purchase; inf where it is without end."""
        with np.errstate(invalid="ignore"):
            return self.there + np.where(self.adds > 0, self.adds * counts[:, None], 0.0).sum(axis=0)

    def quotients(self, region: Region) -> np.ndarray:
        """Return what ``C[g] / C[j]`` is at least in a region, (m, m).

        At the least every offer is bought to one end or the other: from any quotient on, those that would lower it go
        up, until none would.
        """
        least, high = self.after(region.low), np.minimum(region.high, UNBOUNDED)
        spare = (high - region.low)[:, None] * self.adds
        found = np.divide(
            least[None, :], least[:, None], where=least[:, None] > 0, out=np.full_like(region.floors, np.inf)
        )
        for _ in range(len(high) + 1):
            with np.errstate(invalid="ignore"):
                lowers = self.adds[:, None, :] < found * self.adds[:, :, None]
            over = least[None, :] + np.where(lowers, spare[:, None, :], 0.0).sum(axis=0)
            under = least[:, None] + np.where(lowers, spare[:, :, None], 0.0).sum(axis=0)
            better = np.divide(over, under, where=under > 0, out=np.full_like(found, np.inf))
            if (better >= found).all():
                break
            found = np.minimum(better, found)
        found[~np.isfinite(found)] = 0.0
        found = np.maximum(found * DOWN, region.floors) * DOWN
        np.fill_diagonal(found, 1.0)
        return found

    def reaching(self, region: Region, capacity: np.ndarray) -> Region:
        """Return the part of a region after which the capacity is this (m,) or more.

        Of an offer that takes at least what all others together, bought to their ends, leave missing of any resource.
        """
        with np.errstate(invalid="ignore"):
            most = np.where(self.adds > 0, self.adds * region.high[:, None], 0.0)
        others = np.array([np.delete(most, s, axis=0).sum(axis=0) for s in range(len(most))])
        rest = (capacity - self.there - others) * DOWN
        least = np.divide(rest, self.adds, where=self.adds > 0, out=np.zeros_like(rest)).max(axis=1)
        return replace(region, low=np.maximum(region.low, least))

    def exact_quotients(self, counts: np.ndarray) -> np.ndarray:
        """Return ``C[g] / C[j]`` after a purchase, (m, m)."""
        found = self.after(counts)
        table = np.divide(found[None, :], found[:, None], where=found[:, None] > 0, out=np.zeros((len(found),) * 2))
        np.fill_diagonal(table, 1.0)
        return table


@dataclass(frozen=True, eq=False)
class BoundPrices:
    """Prices of all capacities, as what counts, and of the proportions; several such lists have an axis before.

    Attributes
    ----------
    task : array (n,)
        The cheapest place of a task of each user.
    step : array (offers,)
        What a step adds.
    there : array ()
        What is there before.
    proportions : array (m, m)
        Price, at least 0, of ``C[g] - floors[j, g] C[j] >= 0`` in each region.
    """

    task: np.ndarray
    step: np.ndarray
    there: np.ndarray
    proportions: np.ndarray

    @classmethod
    def listed(cls, one: "BoundPrices", others: "BoundPrices | None", most: int) -> "BoundPrices":
        """Return a list with one more at its front, of no more than `most`."""
        parts = [(getattr(one, f.name)[None], () if others is None else getattr(others, f.name)) for f in fields(cls)]
        return cls(*(np.concatenate([new, *([old[: most - 1]] if len(old) else ())]) for new, old in parts))

    def _asked(self, needs: Least, region: Region) -> tuple[np.ndarray, np.ndarray]:
        """Return what a unit of each resource of the whole cluster is worth, and what it costs by asking for more."""
        asked = np.where(region.floors > 0, self.proportions, 0.0)
        return asked.sum(axis=-2), (asked * region.floors).sum(axis=-1) + self.task @ needs.slopes

    def each(self, cost: np.ndarray, needs: Least, region: Region, totals: Totals) -> np.ndarray:
        """Return what a step costs beyond what it is worth at these prices, (offers,)."""
        plus, minus = self._asked(needs, region)
        worth, paid = self.step + plus @ totals.adds.T, minus @ totals.adds.T
        each = cost + paid - worth
        # A step worth its cost counts nothing, however many there may be.
        each[np.abs(each) <= (1 - DOWN) * (np.abs(cost) + paid + worth)] = 0.0
        return each

    def bound(self, cost: np.ndarray, needs: Least, region: Region, totals: Totals) -> float:
        """Return what these prices prove that a purchase of a region costs at least; of several the most."""
        plus, minus = self._asked(needs, region)
        gained, lost = self.task @ needs.tasks + minus @ totals.there, self.there + plus @ totals.there
        each = self.each(cost, needs, region, totals)
        endless = (each[..., ~np.isfinite(region.high)] < 0).any(axis=-1)
        ends = each * np.where(each < 0, np.where(np.isfinite(region.high), region.high, 0.0), region.low)
        found = gained - lost + ends.sum(axis=-1) - (1 - DOWN) * (gained + lost + np.abs(ends).sum(axis=-1))
        return float(np.where(endless, -np.inf, found).max())
