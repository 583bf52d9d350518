"""How the two sides of a unit are looked at: by links, by a market's conditions, by the program of a sum."""

from collections.abc import Callable

import numpy as np

from ...base.tolerances import LEVEL
from ...model.allocation import Allocation
from ...model.instance import Instance
from ...model.policies import policy_named
from .binding_rounds import held
from .feasible_growth import Room
from .market_slopes import MarketDifferential, slopes_of
from .rate_of_change import slopes_of_rates
from .sensitivity import side
from .sums import Sums
from .units import Unit
from .worth import Side

__all__ = ["LOOKS", "TOTAL", "Look"]

ROUNDING = 1e-11
"""A slope that moves less than this part of a user's tasks when everything is doubled is what rounding left of 0."""

TOTAL = policy_named("utilitarian")
"""The policy whose value is the largest sum of dominant shares."""

Look = Callable[[Unit, bool], Side | None]


def _by_links(allocation: Allocation, totals: Sums) -> Look:
    """Look at a leximin: the links of each side say who goes where."""
    base = held(allocation)
    room = Room(base.instance, base.policy, allocation.tasks)

    def look(unit: Unit, more: bool) -> Side | None:
        reach = side(base, room, unit, more)
        if reach is None:
            return None
        found = reach.held
        place = found.at(base.instance.room)
        tasks, levels = found.slopes(unit.growth, more)
        tasks = _firm(tasks, place.tasks, unit)
        shadow, lowest = 0.0, None
        if found.links:
            first = found.links[0]
            weight = float((first.costs[first.finished] / place.rates[first.finished]).sum())
            shadow = float((first.prices * unit.growth).sum()) / weight
            tied = levels[place.levels <= place.levels.min() * (1 + LEVEL)]
            lowest = float(tied.min() if more else tied.max())
        total = totals.side(unit, more, unit.end(more))
        return Side(
            shadow,
            lowest,
            _of_shares(base.instance, unit, more, place.tasks, tasks),
            tasks,
            unit.until(more, reach.units),
            total.price,
            unit.until(more, total.reach),
            found,
        )

    return look


def _by_sums(allocation: Allocation, totals: Sums) -> Look:
    """Look at a sum: its value has a slope, its optimum leaves a choice."""
    policy = policy_named(allocation.policy)
    sums = totals if policy.measure == TOTAL.measure else Sums(allocation.instance, policy)

    def look(unit: Unit, more: bool) -> Side | None:
        end = unit.end(more)
        if end <= ROUNDING * unit.now:
            return None
        piece, total = sums.side(unit, more, end), totals.side(unit, more, end)
        until = unit.until(more, piece.reach)
        return Side(piece.price, None, None, None, until, total.price, unit.until(more, total.reach))

    return look


def _by_market(allocation: Allocation, totals: Sums) -> Look:
    """Look at a market: its conditions of the first order, differentiated."""
    market = MarketDifferential(allocation)

    def look(unit: Unit, more: bool) -> Side | None:
        end = unit.end(more)
        if end <= ROUNDING * unit.now:
            return None
        tasks = _firm(slopes_of(market, unit, more), allocation.tasks, unit)
        total = totals.side(unit, more, end)
        return Side(
            market.price(unit),
            market.lowest(unit, more, tasks),
            _of_shares(allocation.instance, unit, more, allocation.tasks, tasks),
            tasks,
            None,
            total.price,
            unit.until(more, total.reach),
        )

    return look


LOOKS: dict[str, Callable[[Allocation, Sums], Look]] = {"leximin": _by_links, "alpha": _by_market, "sum": _by_sums}
"""How the sides of a unit are looked at, by the objective of the policy."""


def _firm(slopes: np.ndarray, tasks: np.ndarray, unit: Unit) -> np.ndarray:
    """Return the slopes without those that rounding made."""
    scale = max(float(np.abs(slopes).max(initial=0.0)), float(tasks.max(initial=0.0)) / unit.now)
    return np.where(np.abs(slopes) > ROUNDING * scale, slopes, 0.0)


def _of_shares(instance: Instance, unit: Unit, more: bool, tasks: np.ndarray, slopes: np.ndarray) -> float:
    """Return the slope of the sum of dominant shares, every share being one of the larger whole."""
    turning = slopes_of_rates(TOTAL, instance, unit.growth, more)
    return float(turning @ tasks + TOTAL.rates(instance) @ slopes)
