"""The two sides of a point: what a little more and a little less of a unit do to a leximin, and how far that holds."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from ..errors import SolverError
from ..solve import solve
from .links import Held, held
from .room import Room
from .units import Unit, fine, grown

__all__ = ["NOTHING", "Reach", "side"]

TIGHT = 1e-9
"""What rounding and the solver leave of a condition that holds, relative to levels and rooms."""

NOTHING = 1e-7
"""Part of what there is, below which a side is no side: something else takes over right here."""

STEP = 1 / 16
"""Part of what there is, to the side of which the links that hold there are looked up first; then halfway to what they
reach back to."""

LEAST = 1e-300
"""Absolute error of a root, which its relative error decides."""

LOOKED_AT = (
    *(2.0**-p for p in range(22, 3, -2)),
    *(p / 16 for p in range(1, 16)),
    *(1 - 2.0**-p for p in range(6, 13, 3)),
    1.0,
)
"""Parts of a way on which conditions are looked at; the yardstick turns, so that they may fail in between."""

ASKED_AT = (1.0, 0.5, 0.125, 0.875)
"""Parts of a way at which a program is asked for cuts that are not known."""

TRIES = 12
"""Times such links are looked up."""

CUTS = 100
"""Cuts for one side: more than have ever been needed."""


@dataclass(frozen=True, eq=False)
class Reach:
    """What holds the users on one side, and for how many units."""

    held: Held
    units: float


def side(base: Held, room: Room, unit: Unit, more: bool) -> Reach | None:
    """Return what holds everybody above the amount there is, or below it, and how far; None for a side that is none.

    Raises
    ------
    SolverError
        When nothing is found that holds next to the amount.
    """
    sign = 1.0 if more else -1.0
    end = unit.end(more)
    if end <= NOTHING * unit.now:
        # Not a bit more, or less, without other tasks fitting on the machines.
        return None
    reached = _reach(base, room, unit, sign, end)
    if reached > NOTHING * unit.now:
        return Reach(base, reached)
    step = min(STEP * unit.now, end)
    for _ in range(TRIES):
        cluster, _ = grown(base.instance, unit, sign * fine(unit, step))
        there = held(solve(cluster, base.policy))
        other = Held(base.instance, base.policy, there.links, there.capped)
        back = _reach_back(other, room, unit, sign, fine(unit, step))
        if back <= NOTHING * unit.now:
            return Reach(other, _reach(other, room, unit, sign, end, fine(unit, step)))
        step = back / 2
    raise SolverError(
        f"nothing holds the users right {'above' if more else 'below'} {unit.now:g} of {unit.name!r} "
        f"in {TRIES} tries: compare two clusters with whatif instead"
    )


def _reach(held: Held, room: Room, unit: Unit, sign: float, end: float, start: float = 0.0) -> float:
    """Return how far to the side the links hold everybody, from where they do."""
    slack = _slack(held, room, unit, sign)
    for _ in range(CUTS):
        end = _first_root(slack, start, end)
        if end <= start:
            return start
        if all(_placed(held, room, unit, sign * (start + part * (end - start))) for part in ASKED_AT):
            return end
    raise SolverError(f"{CUTS} cuts do not tell how far {unit.name!r} holds: compare two clusters with whatif instead")


def _reach_back(held: Held, room: Room, unit: Unit, sign: float, start: float) -> float:
    """Return how near to the amount there is the links still hold everybody, coming from the side."""
    slack = _slack(held, room, unit, sign)
    near = NOTHING * unit.now / 2
    if _placed(held, room, unit, sign * near) and slack(near) >= -TIGHT:
        return near
    return start - _first_root(lambda back: slack(start - back), 0.0, start)


def _placed(held: Held, room: Room, unit: Unit, units: float) -> bool:
    """Say whether what the links say can be placed, by a program."""
    here = room.now + units * unit.growth
    return room.asked(held.at(here).tasks, here) <= 1 + 2 * TIGHT


def _slack(held: Held, room: Room, unit: Unit, sign: float) -> Callable[[float], float]:
    def slack(step: float) -> float:
        here = room.now + sign * step * unit.growth
        place = held.at(here)
        return min(held.slack(place), 1 - room.crowding(place.tasks, here))

    return slack


def _first_root(slack: Callable[[float], float], start: float, end: float) -> float:
    """Return up to where the slack is not below 0, rounding aside: all the way, or to the root nearest to the start."""
    if slack(start) < -TIGHT:
        return start
    low = start
    for part in LOOKED_AT:
        high = start + part * (end - start)
        if slack(high) < -TIGHT:
            break
        low = high
    else:
        return end
    # What holds everywhere holds up to rounding; so the root is where it clearly does not, and a little before.
    once, twice = (_crossing(slack, low, high, spared * TIGHT) for spared in (1, 2))
    return min(max(low, 2 * once - twice), once)


def _crossing(slack: Callable[[float], float], low: float, high: float, spared: float) -> float:
    if slack(high) >= -spared:
        return high
    return float(brentq(lambda step: slack(step) + spared, low, high, xtol=LEAST, rtol=8 * np.finfo(float).eps))
