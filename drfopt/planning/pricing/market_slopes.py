"""Slopes of a market (CEEI and alpha fairness): the conditions of its optimum, differentiated in the room.

At the optimum of  sum_i w_i U(r_i x_i)  there are prices p >= 0 of a unit of every resource on every class with

    w_i r_i U'(r_i x_i)  =  sum_j p_kj d_ij + nu_i      for every class k on which user i has tasks
    sum_i d_ij z_ik      =  room_kj                     where p_kj > 0
    sum_k z_ik = x_i,    x_i = limit_i where nu_i > 0

and for as long as the same pairs have tasks, the same rows a price and the same users a binding limit, all of this is
smooth: its differential is a linear system in the changes of z and p.  Where the placement leaves a choice the system
has many solutions, all with the same changes of x; the shortest is taken.
"""

from dataclasses import replace

import numpy as np

from ...base.errors import SolverError
from ...base.numbers.shown import in_full
from ...base.tolerances import LEVEL, LEVEL_CEEI
from ...certificates.chain import unit_costs
from ...model.allocation import Allocation
from ...model.policies import policy_named
from ...solving.allocating import solve
from .feasible_growth import Room, slopes_of_rates
from .units import Unit, fine, grown

__all__ = ["CURVED", "MarketDifferential", "slopes_of"]

PRICED = 1e-7
"""Part of the largest budget of a row that counts as a price, and of a cost that may be rounding."""

CURVED = 100.0
"""Times the square of a step that a straight line may be off the curve it follows, in rooms."""

HOLDS = 1e-6
"""Relative error of the differentiated conditions up to which their solution is one."""


NEAR = 1e-4
"""Part of what there is, at which a side is looked at whose conditions change right here; from there and from twice as
far the slopes are drawn back in a straight line."""


def slopes_of(market: "MarketDifferential", unit: Unit, more: bool) -> np.ndarray:
    """Return the slopes of the tasks of every user, (n,), for each unit more, on one side.

    Where the conditions change right here, those beside it are differentiated.

    Raises
    ------
    SolverError
        When they change there as well.
    """
    found = market.slopes(unit, more) if market.clear else None
    if found is not None and market.places(found, unit, more):
        return found
    near, far = (_beside(market, unit, more, times * NEAR * unit.now) for times in (1, 2))
    return 2 * near - far


def _beside(market: "MarketDifferential", unit: Unit, more: bool, step: float) -> np.ndarray:
    step = fine(unit, step)
    cluster, times = grown(market.instance, unit, step if more else -step)
    there = MarketDifferential(solve(cluster, market.policy))
    # In a cluster of finer machines a unit of before is as many times as many.
    found = there.slopes(replace(unit, growth=unit.growth * times), more)
    if found is None:
        raise SolverError(
            f"the conditions of the market change wherever one looks {'above' if more else 'below'} "
            f"{in_full(unit.now)} of {unit.name!r}: compare two clusters with whatif instead"
        )
    return found / times


class MarketDifferential:
    """The optimum of a market and the matrix of its differential, solved once for every direction asked for."""

    def __init__(self, allocation: Allocation):
        instance, policy = allocation.instance, policy_named(allocation.policy)
        self.instance, self.policy, self.allocation = instance, policy, allocation
        self.prices = np.atleast_2d(np.zeros((1, instance.m)) if allocation.prices is None else allocation.prices)
        tasks = allocation.tasks
        self.rates = policy.rates(instance)
        self.room = Room(instance, policy, allocation.tasks)
        limits = instance.limits
        self.capped = np.isfinite(limits) & (tasks >= limits * (1 - LEVEL))
        budget = self.prices * instance.room
        priced = budget > PRICED * max(float(budget.max(initial=0.0)), 0.0)
        self.rows = np.argwhere(priced)
        costs = unit_costs(instance, np.where(priced, budget, 0.0))
        cheap = costs <= costs.min(axis=1, keepdims=True) * (1 + PRICED)
        users, classes = np.nonzero(cheap & np.isfinite(costs) & (tasks > 0)[:, None])
        self.clear = self._clear(priced, costs.min(axis=1))
        # Who is at her limit on classes that cost nothing has nothing to do with anybody.
        pays = (instance.demands[users] * priced[classes]).any(axis=1)
        keep = pays | ~self.capped[users]
        self.users, self.classes = users[keep], classes[keep]
        self._factor()

    def _clear(self, priced: np.ndarray, cheapest: np.ndarray) -> bool:
        """Say whether what binds has a price and what has a price binds, clearly."""
        instance, tasks = self.instance, self.allocation.tasks
        if instance.machines is None:
            used = (tasks @ instance.demands)[None, :]
            if (~priced & (used >= instance.room * (1 - HOLDS)) & (used > 0)).any():
                return False
        playing = (tasks > 0) & np.isfinite(instance.limits)
        free = playing & ~self.capped
        spared = 1 - cheapest[self.capped & playing] / self._marginal()[self.capped & playing]
        return not (tasks[free] >= instance.limits[free] * (1 - HOLDS)).any() and not (spared < HOLDS).any()

    def _factor(self) -> None:
        instance, tasks = self.instance, self.allocation.tasks
        pairs, rows = len(self.users), len(self.rows)
        caps = np.unique(self.users[self.capped[self.users]])
        size = pairs + rows + len(caps)
        matrix = np.zeros((size, size))
        # In units in which tasks, rows and marginal values are 1.
        value = self._marginal()
        same = self.users[:, None] == self.users[None, :]
        free = ~self.capped[self.users]
        held = np.where(same & free[:, None], -self.policy.alpha, 0.0)
        matrix[:pairs, :pairs] = held
        for r, (k, j) in enumerate(self.rows.tolist()):
            here = np.flatnonzero(self.classes == k)
            i = self.users[here]
            filled = instance.demands[i, j] * tasks[i] / instance.room[k, j]
            matrix[here, pairs + r] = -filled * self._budget(k, j) / (value[i] * tasks[i])
            matrix[pairs + r, here] = filled
        for c, i in enumerate(caps.tolist()):
            here = np.flatnonzero(self.users == i)
            matrix[here, pairs + rows + c] = -1.0
            matrix[pairs + rows + c, here] = 1.0
        self.pairs, self._matrix = pairs, matrix
        self._inverse = np.linalg.pinv(matrix) if size else matrix

    def _marginal(self) -> np.ndarray:
        """Return what one more task is worth to each user, (n,)."""
        levels = self.rates * self.allocation.tasks
        return self.instance.weights * self.rates * np.where(levels > 0, levels, 1.0) ** -self.policy.alpha

    def _budget(self, k: int, j: int) -> float:
        return float(self.prices[k, j] * self.instance.room[k, j])

    def price(self, unit: Unit) -> float:
        """Return the price of one unit."""
        return float((self.prices * unit.growth).sum())

    def slopes(self, unit: Unit, more: bool) -> np.ndarray | None:
        """Return the slopes of the tasks of every user, (n,), for each unit more; None where there are none."""
        slopes = np.zeros(self.instance.n)
        if not len(self._matrix):
            return slopes
        right = np.zeros(len(self._matrix))
        # Whose tasks fit nowhere has no rate, and no part in the market.
        turning = slopes_of_rates(self.policy, self.instance, unit.growth, more) / np.where(self.rates, self.rates, 1.0)
        free = ~self.capped[self.users]
        right[: self.pairs] = np.where(free, -(1 - self.policy.alpha) * turning[self.users], 0.0)
        for r, (k, j) in enumerate(self.rows.tolist()):
            right[self.pairs + r] = unit.growth[k, j] / self.instance.room[k, j]
        found = self._inverse @ right
        missed = float(np.abs(self._matrix @ found - right).max())
        if missed > HOLDS * max(float(np.abs(right).max()), LEVEL_CEEI / unit.now):
            return None
        np.add.at(slopes, self.users, found[: self.pairs] * self.allocation.tasks[self.users])
        slopes[self.capped] = 0.0
        return slopes

    def places(self, slopes: np.ndarray, unit: Unit, more: bool) -> bool:
        """Say whether tasks that follow the slopes can be placed.

        If not, somebody who is indifferent between two classes would have to be on one of them with less than nothing.
        """
        step = (1 if more else -1) * NEAR * unit.now
        crowding = self.room.asked(self.allocation.tasks + step * slopes, self.instance.room + step * unit.growth)
        return crowding <= 1 + CURVED * NEAR**2

    def lowest(self, unit: Unit, more: bool, slopes: np.ndarray) -> float | None:
        """Return the slope of the lowest level of those below their limits; None where nobody is."""
        allocation, instance = self.allocation, self.instance
        below = ~instance.unplaced() & ~self.capped & (allocation.tasks > 0)
        if not below.any():
            return None
        both = slopes_of_rates(self.policy, instance, unit.growth, more) * allocation.tasks, self.rates * slopes
        changes = sum(both)
        # What all but cancels is what rounding left of 0.
        changes = np.where(np.abs(changes) > HOLDS * LEVEL * (np.abs(both[0]) + np.abs(both[1])), changes, 0.0)
        lowest = allocation.levels[below].min()
        tied = changes[below & (allocation.levels <= lowest * (1 + LEVEL_CEEI))]
        return float(tied.min() if more else tied.max())
