"""Devices of one machine, such as GPUs, as a reader would deal them out by hand.

A task that needs less of a resource than one device has takes a part of one device; a task that needs a multiple of it
takes so many whole devices; any other task cannot run.  Amounts are exact.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

__all__ = ["NO_DEVICES", "DevicesOf", "FreeDevices", "fit_together"]

DevicesOf = Mapping[int, tuple[int, Fraction]]
"""By resource (its column) how many devices one machine has, and how much is on each."""

NO_DEVICES: DevicesOf = {}


class FreeDevices:
    """What is free on every device of a machine, the tasks where they were put: first fit, and nothing moves."""

    def __init__(self, devices: DevicesOf):
        self.size = {j: size for j, (_, size) in devices.items()}
        self.free = {j: [size] * count for j, (count, size) in devices.items()}

    def places(self, demand: Sequence[Fraction]) -> dict[int, list[int]] | None:
        """Return by resource the first devices that a task can have; None where there are not enough."""
        found: dict[int, list[int]] = {}
        for j, free in self.free.items():
            need = Fraction(demand[j]) / self.size[j]
            least = demand[j] if need < 1 else self.size[j]
            number = 1 if 0 < need < 1 else need
            able = [at for at, left in enumerate(free) if left >= least]
            if number.denominator > 1 or number > len(able):
                return None
            found[j] = able[: int(number)]
        return found

    def take(self, demand: Sequence[Fraction]) -> None:
        """Put a task, for which there are places, on them."""
        for j, chosen in (self.places(demand) or {}).items():
            for at in chosen:
                self.free[j][at] -= min(demand[j], self.size[j])


def fit_together(demands: Sequence[Sequence[Fraction]], load: Sequence[int], devices: DevicesOf) -> bool:
    """Say whether one machine can run so many tasks of each user at once, by trying every device for every part."""
    for j, (count, size) in devices.items():
        needs = [Fraction(row[j]) / size for row, x in zip(demands, load, strict=True) for _ in range(x)]
        if any(need > 1 and need.denominator > 1 for need in needs):
            return False
        left = count - sum(need for need in needs if need >= 1)
        parts = sorted((need for need in needs if 0 < need < 1), reverse=True)
        if left < 0 or not _placed(parts, [Fraction(1)] * int(left)):
            return False
    return True


def _placed(parts: Sequence[Fraction], free: list[Fraction]) -> bool:
    if not parts:
        return True
    for room in set(free):
        if parts[0] <= room:
            rest = list(free)
            rest[rest.index(room)] -= parts[0]
            if _placed(parts[1:], rest):
                return True
    return False
