"""Numbers a verdict may rest on: a `Fraction`, or two of them that enclose an irrational or a computed value.

A comparison is made only where the enclosures decide it; where they overlap, neither `below` nor `reaches` holds.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

__all__ = [
    "Between",
    "Number",
    "around",
    "below",
    "exactly",
    "high",
    "least",
    "low",
    "reaches",
    "shown",
    "times",
    "total",
]

DIGITS = 12
"""Digits of numerator and denominator together up to which a sentence shows a fraction."""


@dataclass(frozen=True)
class Between:
    """A value known to lie between two fractions."""

    lower: Fraction
    upper: Fraction

    def __float__(self) -> float:
        return float((self.lower + self.upper) / 2)

    def __str__(self) -> str:
        return shown(self)


Number = Fraction | Between


def low(value: Number) -> Fraction:
    """Return what the value is at least."""
    return value.lower if isinstance(value, Between) else value


def high(value: Number) -> Fraction:
    """Return what the value is at most."""
    return value.upper if isinstance(value, Between) else value


def exactly(value: Number) -> bool:
    """Say whether the value is known exactly."""
    return not isinstance(value, Between)


def around(value: float, error: float) -> Number:
    """Return the enclosure of a computed value whose relative error is at most `error`; 0 stays 0."""
    if not value:
        return Fraction(0)
    centre, width = Fraction(value), Fraction(abs(value)) * Fraction(error)
    return Between(centre - width, centre + width)


def times(factor: Fraction, value: Number) -> Number:
    """Return a factor that is not negative times the value."""
    if isinstance(value, Between):
        return Between(factor * value.lower, factor * value.upper)
    return factor * value


def least(*values: Number) -> Number:
    """Return the smallest of the values, as an enclosure where one of them is."""
    if all(exactly(value) for value in values):
        return min(low(value) for value in values)
    lower, upper = min(map(low, values)), min(map(high, values))
    return lower if lower == upper else Between(lower, upper)


def total(values: Iterable[Number]) -> Number:
    """Return the sum of the values."""
    listed = list(values)
    if all(exactly(value) for value in listed):
        return sum(map(low, listed), Fraction(0))
    return Between(sum(map(low, listed), Fraction(0)), sum(map(high, listed), Fraction(0)))


def below(one: Number, other: Number) -> bool:
    """Say whether the one is certainly less than the other."""
    return high(one) < low(other)


def reaches(one: Number, other: Number) -> bool:
    """Say whether the one is certainly as much as the other."""
    return one is other or low(one) >= high(other)


def shown(value: Number) -> str:
    """Return the value as a sentence has it: a fraction where it is short, otherwise rounded."""
    if isinstance(value, Between):
        return f"{float(value):.6g}"
    if len(str(value.numerator)) + len(str(value.denominator)) <= DIGITS:
        return str(value)
    return f"{float(value):.6g}"
