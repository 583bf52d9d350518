"""The two sides of a point: what a little more and a little less of a unit do to a leximin, and how far that holds."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from ..errors import SolverError
from ..solve import solve
from .links import Held, held
from .room import Room
from .units import FINE, Unit, grown

__all__ = ["MOST", "Reach", "side"]

MOST = 10
"""Times what there is, up to where a side is followed; who asks about more has another cluster in mind."""

TIGHT = 1e-9
"""What rounding and the solver leave of a condition that holds, relative to levels and rooms."""

NOTHING = 1e-7
"""Part of what there is, below which a side is no side: something else takes over right here."""

STEP = 1 / 16
"""Part of what there is, to the side of which the links that hold there are looked up first; then halfway to what they
reach back to."""

LEAST = 1e-300
"""Absolute error of a root, which its relative error decides."""

TRIES = 12
"""Times such links are looked up."""

CUTS = 100
"""Cuts for one side: more than have ever been needed."""


@dataclass(frozen=True, eq=False)
class Reach:
    """What holds the users on one side, and the amount up to which; None beyond `MOST` times what is there."""

    held: Held
    until: float | None


def side(base: Held, room: Room, unit: Unit, more: bool) -> Reach:
    """Return what holds everybody above the amount there is, or below it, and how far.

    Raises
    ------
    SolverError
        When nothing is found that holds next to the amount.
    """
    sign = 1.0 if more else -1.0
    end = _end(unit, more)
    if end <= NOTHING * unit.now:
        # Not a bit more, or less, without other tasks fitting on other machines.
        return Reach(base, unit.now)
    reached = _reach(base, room, unit, sign, end)
    if reached > NOTHING * unit.now:
        return _told(base, unit, sign, reached)
    step = min(STEP * unit.now, end)
    for _ in range(TRIES):
        cluster, times = grown(base.instance, unit, sign * _fine(unit, step))
        there = held(solve(cluster, base.policy))
        other = Held(base.instance, base.policy, there.links, there.capped)
        back = _reach_back(other, room, unit, sign, _fine(unit, step))
        if back <= NOTHING * unit.now:
            return _told(other, unit, sign, _reach(other, room, unit, sign, end, _fine(unit, step)))
        step = back / 2
    raise SolverError(
        f"nothing holds the users right {'above' if more else 'below'} {unit.now:g} of {unit.name!r} "
        f"in {TRIES} tries: compare two clusters with whatif instead"
    )


def _fine(unit: Unit, step: float) -> float:
    """Return the step, in parts of machines that `grown` can make."""
    return max(round(step * FINE), 1) / FINE if unit.kind == "machine" else step


def _end(unit: Unit, more: bool) -> float:
    # Nothing at all has no shares: the last billionth stays.
    return min(MOST * unit.now, unit.most - unit.now) if more else min(unit.now * (1 - TIGHT), unit.now - unit.least)


def _told(found: Held, unit: Unit, sign: float, reached: float) -> Reach:
    if sign > 0:
        return Reach(found, None if reached >= (MOST - 1) * unit.now else unit.now + reached)
    return Reach(found, unit.now - reached if reached < unit.now * (1 - 2 * TIGHT) else 0.0)


def _reach(held: Held, room: Room, unit: Unit, sign: float, end: float, start: float = 0.0) -> float:
    """Return how far to the side the links hold everybody, from where they do."""
    slack = _slack(held, room, unit, sign)
    for _ in range(CUTS):
        end = _first_root(slack, start, end)
        if end <= start:
            return start
        here = room.now + sign * end * unit.growth
        if room.asked(held.at(here).tasks, here) <= 1 + 2 * TIGHT:
            return end
    raise SolverError(f"{CUTS} cuts do not tell how far {unit.name!r} holds: compare two clusters with whatif instead")


def _reach_back(held: Held, room: Room, unit: Unit, sign: float, start: float) -> float:
    """Return how near to the amount there is the links still hold everybody, coming from the side."""
    slack = _slack(held, room, unit, sign)
    near = NOTHING * unit.now / 2
    here = room.now + sign * near * unit.growth
    if room.asked(held.at(here).tasks, here) <= 1 + 2 * TIGHT and slack(near) >= -TIGHT:
        return near
    return start - _first_root(lambda back: slack(start - back), 0.0, start)


def _slack(held: Held, room: Room, unit: Unit, sign: float) -> Callable[[float], float]:
    def slack(step: float) -> float:
        here = room.now + sign * step * unit.growth
        place = held.at(here)
        return min(held.slack(place), 1 - room.crowding(place.tasks, here))

    return slack


def _first_root(slack: Callable[[float], float], start: float, end: float) -> float:
    """Return up to where the slack is not below 0, rounding aside: all the way, or to the root nearest to the start."""
    if slack(end) >= -TIGHT:
        return end
    if slack(start) < -TIGHT:
        return start
    high = end
    while high - start > NOTHING * (end - start) and slack(middle := (start + high) / 2) < -TIGHT:
        high = middle
    # What holds everywhere holds up to rounding; so the root is where it clearly does not, and a little before.
    once, twice = (_crossing(slack, start, high, spared * TIGHT) for spared in (1, 2))
    return max(start, 2 * once - twice)


def _crossing(slack: Callable[[float], float], low: float, high: float, spared: float) -> float:
    if slack(high) >= -spared:
        return high
    return float(brentq(lambda step: slack(step) + spared, low, high, xtol=LEAST, rtol=8 * np.finfo(float).eps))
