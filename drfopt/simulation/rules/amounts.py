"""Amounts of resources by name, exact, as the schedulers' decisions take them."""

from collections.abc import Collection, Mapping
from fractions import Fraction

__all__ = ["Amount", "Amounts", "added", "dominant_share", "fits"]


Amount = int | Fraction

Amounts = Mapping[str, Amount]
"""Resource to amount; a resource that is not listed is 0."""


def added(*parts: Amounts) -> dict[str, Amount]:
    """Return the sum, resource by resource."""
    total = dict(parts[0]) if parts else {}
    for part in parts[1:]:
        for resource, amount in part.items():
            total[resource] = total.get(resource, 0) + amount
    return total


def dominant_share(held: Amounts, total: Amounts, excluded: Collection[str] = ()) -> Fraction:
    """Return the largest fraction of a resource that is held; resources of no amount, or excluded, do not count."""
    shares = [
        Fraction(held.get(resource, 0)) / Fraction(amount)
        for resource, amount in total.items()
        if amount > 0 and resource not in excluded
    ]
    return max(shares, default=Fraction(0))


def fits(need: Amounts, room: Amounts) -> bool:
    """Return whether everything needed is there."""
    return all(amount <= room.get(resource, 0) for resource, amount in need.items())
