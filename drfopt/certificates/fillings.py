"""What the devices of one machine are worth, when the parts that tasks take of one have prices: its dearest filling.

Given a price q[z] of every size z that tasks take of a device, all of it included, no device carries more than

    K = max over fillings f, with sum of z f[z] <= 1, of sum of q[z] f[z]

worth of parts: an unbounded knapsack, solved in integers. Half-free devices that add up are what this does not count.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from ..model.devices import DeviceRoom

__all__ = ["FINEST", "Fillings", "dearest", "fillings_of"]

FINEST = 10_000
"""Parts that a device is counted in at most; devices of finer ones are priced as pooled."""


@dataclass(frozen=True)
class Fillings:
    """The devices of one resource of a machine, and what a task of each shape takes of them.

    Attributes
    ----------
    count, room : int
        Devices of one machine, and what there is of each.
    sizes : tuple of int
        What tasks take of one device.
    parts : tuple of Fraction
        The same as parts of a device.
    taken : tuple of (int, int)
        Of each shape the place of its size, and how many devices it takes so much of; (0, 0) where it needs none.
    known : dict
        Fillings that some prices made worth a column, (parts of each size); the next program begins with them.
    """

    resource: str
    count: int
    room: int
    sizes: tuple[int, ...]
    parts: tuple[Fraction, ...]
    taken: tuple[tuple[int, int], ...]
    known: dict[tuple[int, ...], None] = field(default_factory=dict, compare=False)

    def worth(self, prices: Sequence[int]) -> int:
        """Return what all devices of a machine are worth at most."""
        return self.count * dearest(self.sizes, prices, self.room)[0]

    def alone(self, place: int) -> tuple[int, ...]:
        """Return a device full of parts of one size, as parts of each size."""
        return tuple(self.room // size if z == place else 0 for z, size in enumerate(self.sizes))


def dearest(sizes: Sequence[int], prices: Sequence, room: int) -> tuple:
    """Return what the most valuable filling of some room is worth, and how many of each size are in it."""
    best: list = [0] * (room + 1)
    last = [-1] * (room + 1)
    priced = [(place, size, price) for place, (size, price) in enumerate(zip(sizes, prices, strict=True)) if price > 0]
    for used in range(1, room + 1):
        best[used] = best[used - 1]
        for place, size, price in priced:
            if size <= used and best[used - size] + price > best[used]:
                best[used], last[used] = best[used - size] + price, place
    held, left = [0] * len(sizes), room
    while left > 0:
        if (place := last[left]) < 0:
            left -= 1
        else:
            held[place] += 1
            left -= sizes[place]
    return best[room], held


def fillings_of(devices: DeviceRoom) -> list[Fillings]:
    """Return the devices of a machine, resource by resource, that tasks take parts of which are not too fine."""
    found = []
    for resource, count, unit, whole, parts in devices.rows:
        sizes = sorted({*(part for part in parts if part), *([unit] if any(whole) else [])})
        step = math.gcd(*sizes)
        if unit // step > FINEST:
            continue
        at = {size: place for place, size in enumerate(sizes)}
        taken = tuple(
            (at[unit], number) if number else (at[part], 1) if part else (0, 0)
            for number, part in zip(whole, parts, strict=True)
        )
        shares = tuple(Fraction(size, unit) for size in sizes)
        found.append(Fillings(resource, count, unit // step, tuple(z // step for z in sizes), shares, taken))
    return found
