"""Tasks dealt out to the devices of one machine: whole ones alone, parts beside others on one device each.

What a device is worth, where parts have prices, is the most that parts on one device are worth together.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from operator import mul

from .work import spend

__all__ = ["dealt", "dearest"]

FINEST = 10_000
"""Parts that a device is counted in at most, where they are priced."""

CELLS_A_STEP = 8
"""Sums that are compared, and counted as a step."""


def dealt(count: Fraction, needs: Sequence[Fraction], load: Sequence[int]) -> bool:
    """Say whether tasks can have their devices: whole ones alone, parts beside others on one device each."""
    free = int(count - sum(need * x for need, x in zip(needs, load, strict=False) if need >= 1))
    sizes = sorted(((need, x) for need, x in zip(needs, load, strict=False) if 0 < need < 1 and x), reverse=True)
    unit = math.lcm(*(need.denominator for need, _ in sizes))
    return free >= 0 and _binned([int(need * unit) for need, _ in sizes], [x for _, x in sizes], unit, free)


def _binned(sizes: Sequence[int], left: list[int], unit: int, bins: int) -> bool:
    """Say whether parts can stand in so many devices, the largest that is left being on the next one."""
    first = next((s for s, x in enumerate(left) if x), None)
    if first is None:
        return True
    if sum(map(mul, sizes, left)) > unit * bins:
        return False

    def fill(place: int, room: int, rest: list[int]) -> bool:
        spend(0, 1)
        if place == len(sizes):
            return _binned(sizes, rest, unit, bins - 1)
        most = min(rest[place], room // sizes[place])
        return any(
            fill(place + 1, room - x * sizes[place], [*rest[:place], rest[place] - x, *rest[place + 1 :]])
            for x in range(most, -1, -1)
        )

    left = [*left[:first], left[first] - 1, *left[first + 1 :]]
    return fill(first, unit - sizes[first], left)


def dearest(prices: Mapping[Fraction, int]) -> int | None:
    """Return what parts on one device are worth at most; None where some are none, or too fine."""
    room = math.lcm(*(part.denominator for part in prices))
    if room > FINEST or any(not 0 < part <= 1 for part in prices):
        return None
    spend(0, 1 + room * len(prices) // CELLS_A_STEP)
    sizes = [(int(part * room), price) for part, price in prices.items()]
    best = [0]
    for used in range(1, room + 1):
        best.append(max([0, *(best[used - size] + price for size, price in sizes if size <= used)]))
    return best[-1]
