"""The two sides of a point: what a little more and a little less of a unit do to a leximin, and how far that holds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...base.errors import SolverError
from ...base.numbers.shown import in_full
from ...solving.allocating import solve
from .binding_rounds import Held, held
from .feasible_growth import CUTS, TIGHT, Room
from .units import Unit, fine, grown

__all__ = ["NO_SIDE", "Reach", "side"]

Path = Callable[[float], tuple[Held, np.ndarray]]
"""A way along which something changes: after so many steps, what holds the users, and the room (k, m)."""

NO_SIDE = 1e-8
"""Part of what there is, below which a side is no side: something else takes over right here."""

STEP = 1 / 16
"""Part of what there is, to the side of which the rounds that hold there are looked up first; then halfway to what they
reach back to."""

STRAIGHT = 1e-13
"""Relative distance from a straight line that rounding leaves."""

NEAR = 8 * np.finfo(float).eps
"""Relative distance of the ends of a root."""

SECANTS = 30
"""Steps to where a straight line crosses, before ends are only halved."""

LOOKED_AT = (
    *(2.0**-p for p in range(22, 3, -2)),
    *(p / 16 for p in range(1, 16)),
    *(1 - 2.0**-p for p in range(6, 13, 3)),
    1.0,
)
"""Parts of a way on which conditions are looked at; the rates change, so that they may fail in between."""

ASKED_AT = (1.0, 0.5, 0.125, 0.875)
"""Parts of a way at which a program is asked for cuts that are not known."""

TRIES = 12
"""Times such rounds are looked up."""


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
    if end <= NO_SIDE * unit.now:
        # Not a bit more, or less, without other tasks fitting on the machines.
        return None
    reached = _furthest(_along(base, unit, sign), room, end)
    if reached > NO_SIDE * unit.now:
        return Reach(base, reached)
    step = min(STEP * unit.now, end)
    for _ in range(TRIES):
        step = fine(unit, step)
        cluster, _ = grown(base.instance, unit, sign * step)
        there = held(solve(cluster, base.policy))
        other = replace(there, instance=base.instance)
        back = _back(_along(other, unit, sign), room, NO_SIDE * unit.now / 2, step)
        if back <= NO_SIDE * unit.now:
            return Reach(other, _furthest(_along(other, unit, sign), room, end, step))
        step = back / 2
    raise SolverError(
        f"nothing holds the users right {'above' if more else 'below'} {in_full(unit.now)} of {unit.name!r} "
        f"in {TRIES} tries: compare two clusters with whatif instead"
    )


def _along(held: Held, unit: Unit, sign: float) -> Path:
    """Return the way on which a unit becomes more, or less."""
    return lambda step: (held, held.instance.room + sign * step * unit.growth)


def _furthest(path: Path, room: Room, end: float, start: float = 0.0) -> float:
    """Return how far along a way the rounds hold everybody, from where they do.

    Raises
    ------
    SolverError
        When the cuts do not settle it.
    """
    slack = _slack(path, room)
    for _ in range(CUTS):
        end = _first_root(slack, start, end, (1.0,) if _straight(path, start, end, ("tasks", "rates")) else LOOKED_AT)
        if end <= start:
            return start
        asked_at = ASKED_AT[: 1 if _straight(path, start, end, ("tasks",)) else None]
        if all(_placed(path, room, start + part * (end - start)) for part in asked_at):
            return end
    raise SolverError(f"{CUTS} cuts do not tell how far the rounds hold: compare two clusters with whatif instead")


def _straight(path: Path, start: float, end: float, names: tuple[str, ...]) -> bool:
    """Say whether these of a `HeldPoint` change in straight lines, so that what holds at both ends holds in between."""
    places = [held.at(room) for held, room in map(path, (start, (start + end) / 2, end))]
    lines = [[getattr(point, name) for point in places] for name in names]
    return all(bool((np.abs(a + c - 2 * b) <= STRAIGHT * np.abs(b)).all()) for a, b, c in lines)


def _back(path: Path, room: Room, near: float, start: float) -> float:
    """Return how near to where the way begins the rounds still hold everybody, coming back from afar."""
    slack = _slack(path, room)
    if _placed(path, room, near) and slack(near) >= -TIGHT:
        return near
    return start - _first_root(lambda back: slack(start - back), 0.0, start)


def _placed(path: Path, room: Room, step: float) -> bool:
    """Say whether what the rounds say can be placed, by a program."""
    held, here = path(step)
    return room.asked(held.at(here).tasks, here) <= 1 + 2 * TIGHT


def _slack(path: Path, room: Room) -> Callable[[float], float]:
    def slack(step: float) -> float:
        held, here = path(step)
        point = held.at(here)
        return min(held.slack(point, here), 1 - room.crowding(point.tasks, here))

    return slack


def _first_root(
    slack: Callable[[float], float], start: float, end: float, looked_at: Sequence[float] = LOOKED_AT
) -> float:
    """Return up to where the slack is not below 0, rounding aside: all the way, or to the root nearest to the start."""
    if slack(start) < -TIGHT:
        return start
    low = start
    for part in looked_at:
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
    """Return where the slack is as little below 0 as is spared, by false position; an end that stays counts half."""
    below, above = slack(high) + spared, slack(low) + spared
    if below >= 0:
        return high
    if above <= 0:
        return low
    side = looked = 0
    while abs(high - low) > NEAR * max(abs(high), abs(low)):
        step, looked = (above * high - below * low) / (above - below), looked + 1
        if looked > SECANTS or not min(low, high) < step < max(low, high):
            step = (low + high) / 2
        value = slack(step) + spared
        if value > 0:
            low, above, below, side = step, value, below / 2 if side > 0 else below, 1
        elif value < 0:
            high, below, above, side = step, value, above / 2 if side < 0 else above, -1
        else:
            return step
    return low
