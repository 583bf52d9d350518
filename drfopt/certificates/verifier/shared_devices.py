"""Devices of machines, such as GPUs: a task takes a part of one device, or whole ones."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["DevicesOf", "devices_of", "taken"]

DevicesOf = dict[int, tuple[Fraction, Fraction]]
"""By resource (its number) how many devices one machine has, and how much is on each."""


def devices_of(
    given: Mapping[str, Any], row: Sequence[Fraction], resources: Sequence[str], number: Callable[[Any], Fraction]
) -> DevicesOf:
    """Return the devices of one machine with so much of each resource, from their count and, where it is told, size."""
    found = {}
    for resource, said in given.items():
        j, told = resources.index(resource), isinstance(said, dict)
        count = number(said["count"] if told else said)
        size = number(said["size"]) if told else row[j] / (count or 1)
        if count < 1 or count.denominator > 1 or size <= 0 or count * size > row[j]:
            raise ValueError(f"{count} devices do not make up {row[j]} of {resource!r}")
        found[j] = count, size
    return found


def taken(devices: DevicesOf, d: Sequence[Fraction]) -> dict[int, Fraction] | None:
    """Return how many devices a task takes of each resource; None where one of these cannot be."""
    needs = {j: d[j] / size for j, (_, size) in devices.items()}
    torn = any(need > 1 and need.denominator > 1 for need in needs.values())
    return None if torn or any(need > devices[j][0] for j, need in needs.items()) else needs
