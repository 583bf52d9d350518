"""Sums of fractions that may be long: over common denominators where these are short, else in pairs."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from .work import bits, spend

__all__ = ["LONG_BITS", "dot", "over_one", "products", "total"]

LONG_BITS = 400
"""Bits of a numerator or denominator beyond which nobody reads it, and by which a common denominator may be longer."""


def total(values: Iterable[Fraction]) -> Fraction:
    """Return the sum, in pairs: one by one, long fractions would be reduced again and again."""
    found = list(values) or [Fraction(0)]
    while len(found) > 1:
        for value in found:
            spend(bits(value))
        found = [sum(found[at : at + 2], Fraction(0)) for at in range(0, len(found), 2)]
    return found[0]


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
    found = sum(x * y for x, y in pairs) if a > 1 or b > 1 else total(x * y for x, y in pairs)
    return Fraction(found, a * b)
