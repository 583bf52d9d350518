"""Sums of fractions that may be long: over common denominators where these are short, else in pairs, reduced once."""

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from .work import bits, spend, to_multiply

__all__ = ["LONG_BITS", "Multiple", "dot", "over_one", "products", "total"]

LONG_BITS = 400
"""Bits of a numerator or denominator beyond which nobody reads it, and by which a common denominator may be longer."""


class Multiple(Fraction):
    """A short multiple of a long fraction that is positive, multiplied out only where it meets another kind of number.

    Attributes
    ----------
    times, long : Fraction
    """

    __slots__ = ("long", "times")
    times: Fraction
    long: Fraction

    def __new__(cls, times: Fraction, long: Fraction) -> "Multiple":
        """Return times * long, not multiplied out."""
        found: Multiple = object.__new__(cls)
        found.times, found.long = times, long
        return found

    def __getattr__(self, name: str) -> int:
        if name not in ("_numerator", "_denominator"):
            raise AttributeError(name)
        spend(math.isqrt(bits(self.long) * bits(self.times)))
        self._numerator, self._denominator = self.value().as_integer_ratio()
        return int(getattr(self, name))

    def value(self) -> Fraction:
        """Return the fraction, multiplied out."""
        return self.long * self.times

    def __bool__(self) -> bool:
        return bool(self.times)

    def __eq__(self, other: object) -> bool:
        return _compared(operator.eq, self, other)

    def __lt__(self, other: Any) -> bool:
        return _compared(operator.lt, self, other)

    def __le__(self, other: Any) -> bool:
        return _compared(operator.le, self, other)

    def __gt__(self, other: Any) -> bool:
        return _compared(operator.gt, self, other)

    def __ge__(self, other: Any) -> bool:
        return _compared(operator.ge, self, other)

    __hash__ = Fraction.__hash__

    def __mul__(self, other: Any) -> Any:
        short = isinstance(other, int | Fraction) and not isinstance(other, Multiple)
        return Multiple(self.times * other, self.long) if short else super().__mul__(other)

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Any:
        return super().__add__(other) if other else self

    __radd__ = __add__


def _compared(operation: Callable[[Any, Any], Any], one: Multiple, other: Any) -> bool:
    """Return what the operation says of a multiple and another number: nothing is reduced for it."""
    if not other or (isinstance(other, Multiple) and other.long is one.long):
        return bool(operation(one.times, other.times if isinstance(other, Multiple) else 0))
    (a, b), (c, d), (e, f) = (v.as_integer_ratio() for v in (one.times, one.long, other))
    spend(to_multiply(bits(one.long), bits(one.times) + bits(Fraction(e))))
    return bool(operation(a * c * f, e * b * d))


def total(values: Iterable[Fraction]) -> Fraction:
    """Return the sum, reduced once: what all denominators have in common first, then in pairs that are not reduced."""
    found, shared = list(values), 0
    if len(found) == 1 and isinstance(found[0], Fraction):
        return found[0]
    if multiples := [value for value in found if type(value) is Multiple]:
        longs = {id(value.long): value.long for value in multiples}
        sums = [Multiple(total(v.times for v in multiples if v.long is long), long) for long in longs.values()]
        rest = [value for value in found if not isinstance(value, Multiple)]
        return sums[0] if len(sums) == 1 and not any(rest) else total([v.value() for v in sums] + rest)
    denominators = {value.denominator for value in found}
    if len(denominators) == 1:
        top, bottom = sum(value.numerator for value in found), denominators.pop()
        spend(max(top.bit_length(), bottom.bit_length()) if bottom > 1 else 0)
        return Fraction(top, bottom)
    for d in denominators:
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
            spend(to_multiply(d.bit_length(), max(d.bit_length(), n.bit_length())))
        last = pairs[-1:] if len(pairs) % 2 else []
        joined = zip(pairs[::2], pairs[1::2], strict=False)
        pairs = [(a * b, x * b + y * a) for (a, x), (b, y) in joined] + last
    ((d, n),) = pairs
    spend(max(d.bit_length(), n.bit_length()))
    return Fraction(n, d * max(shared, 1))


def over_one(values: Sequence[Any]) -> tuple[int, Sequence[Any]]:
    """Return a common denominator, and what stands over it: integers, unless that is much longer than each; then 1."""
    if Multiple in set(map(type, values)):
        return 1, values
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
    return total(x * y for x, y in pairs) * Fraction(1, a * b)
