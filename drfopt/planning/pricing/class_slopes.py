"""What one more unit is worth where every machine is divided by itself: each class is a pool, with the prices of one.

Classes have nothing in common, so what a unit adds to several of them adds up what it adds to each: tasks, and the
lowest levels on their machines, of which there is one a class.  One more machine of a class divides as the others do,
so that it brings everybody there what one of them brings, however many there are.
"""

from collections.abc import Callable

import numpy as np

from ...base.errors import SolverError
from ...model.allocation import Allocation
from ...model.single_machines import ON_EACH, pool_of
from .price_table import OneSided, Prices
from .sensitivity import NO_SIDE
from .units import Unit

__all__ = ["ClassSlopes"]


class ClassSlopes:
    """The slopes of an allocation of machines by themselves: those of the pools that its classes are."""

    def __init__(self, allocation: Allocation, priced: Callable[..., Prices]):
        """Take the allocation, and `price`, which is asked of one class after the other."""
        self.allocation, self.instance = allocation, allocation.instance
        placed = np.asarray(allocation.placement, dtype=float)
        self.of_one = placed / self.instance.counts
        self.pools: dict[int, tuple[np.ndarray, Prices]] = {}
        for k in np.flatnonzero(self.instance.fits.any(axis=0)).tolist():
            users = np.flatnonzero(self.instance.fits[:, k])
            self.pools[k] = users, priced(pool_of(self.instance, users, k), ON_EACH)

    def slopes(self, unit: Unit, more: bool) -> tuple[np.ndarray, float, float | None] | None:
        """Return the slopes of tasks (n,), the price, and for how many units both hold: None where that is not known.

        None for a side that is none.

        Raises
        ------
        SolverError
            When nothing is proven next to what some class has.
        """
        end = unit.end(more)
        if end <= NO_SIDE * unit.now:
            return None
        tasks, shadow, reach = np.zeros(self.instance.n), 0.0, end
        known = True
        for k, (users, prices) in self.pools.items():
            for j in np.flatnonzero(unit.growth[k]).tolist():
                growth, found = float(unit.growth[k, j]), self._side(prices, j, more)
                if found is None or found.tasks is None:
                    continue
                shadow += growth * found.price
                if unit.kind != "machine":
                    tasks[users] += growth * found.tasks
                    known &= not self._drawn(prices)
                    room = float(self.instance.room[k, j])
                    if found.until is not None:
                        reach = min(reach, abs(found.until - room) / growth)
        if unit.kind == "machine":
            tasks = self.of_one[:, unit.growth.any(axis=1)].sum(axis=1)
        return tasks, shadow, reach if known else None

    def _side(self, prices: Prices, j: int, more: bool) -> OneSided | None:
        worth = prices.named().get(self.instance.resources[j])
        if worth is not None and worth.unknown:
            # What is not known of a class is not nothing.
            raise SolverError(worth.unknown)
        return None if worth is None else worth.more if more else worth.less

    @staticmethod
    def _drawn(prices: Prices) -> bool:
        """Say whether how far slopes hold on a class is not known, as under rules."""
        return all(side.held is None for worth in prices.units for side in worth.one_sided)
