"""Sums of fractions that may be long: over common denominators where these are short, else in pairs, reduced once."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from .work import spend

__all__ = ["LONG_BITS", "dot", "over_one", "products", "total"]

LONG_BITS = 400
"""Bits of a numerator or denominator beyond which nobody reads it, and by which a common denominator may be longer."""


def total(values: Iterable[Fraction]) -> Fraction:
    """Return the sum, reduced once: what all denominators have in common first, then in pairs that are not reduced."""
    found, shared = list(values), 0
    for d in {value.denominator for value in found}:
        longer = max(d.bit_length() - shared.bit_length(), 1)
        spend(math.isqrt(d.bit_length() * longer))
        if not shared or d % shared:
            spend(d.bit_length())
            shared = math.gcd(shared, d)
    over: dict[int, int] = {}
    for value in found:
        d = value.denominator // shared
        over[d] = over.get(d, 0) + value.numerator
    pairs = list(over.items()) or [(1, 0)]
    while len(pairs) > 1:
        for d, n in pairs:
            spend(math.isqrt(d.bit_length() * max(d.bit_length(), n.bit_length())))
        last = pairs[-1:] if len(pairs) % 2 else []
        joined = zip(pairs[::2], pairs[1::2], strict=False)
        pairs = [(a * b, x * b + y * a) for (a, x), (b, y) in joined] + last
    ((d, n),) = pairs
    spend(max(d.bit_length(), n.bit_length()))
    return Fraction(n, d * max(shared, 1))


def over_one(values: Sequence[Any]) -> tuple[int, Sequence[Any]]:
    """Return a common denominator, and what stands over it: integers, unless that is much longer than each; then 1."""
    denominators = {value.denominator for value in values}
    longest, common = max((d.bit_length() for d in denominators), default=0), 1
    for d in sorted(denominators, reverse=True):
        spend(longest)
        if common % d:
            common = math.lcm(common, d)
            if common.bit_length() > 2 * longest + LONG_BITS:
                return 1, values
    return common, [value.numerator * (common // value.denominator) for value in values]


def products(left: Sequence[Any], right: Sequence[Any]) -> Fraction:
    """Return the sum of the products: long fractions over common denominators first, where that is short."""
    return dot(over_one(left), over_one(right))


def dot(left: tuple[int, Sequence[Any]], right: tuple[int, Sequence[Any]]) -> Fraction:
    """Return the sum of the products of what stands over two common denominators, as `over_one` leaves it."""
    (a, first), (b, second) = left, right
    spend(math.isqrt(a.bit_length() * b.bit_length()), 1 + len(first))
    pairs = zip(first, second, strict=True)
    return total(x * y for x, y in pairs) / (a * b)
