"""What an audit does with the numbers a verdict may rest on: `Fraction`s, and enclosures where those do not reach.

A comparison is made only where the enclosures decide it; where they overlap, neither `below` nor `reaches` holds.  The
numbers come from the audit itself, millions of them, so they are not looked at before they are compared.
"""

from collections.abc import Iterable
from fractions import Fraction

from ..base.numbers.enclosures import Enclosure

__all__ = [
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


Number = Fraction | Enclosure


def low(value: Number) -> Fraction:
    """Return what the value is at least."""
    return value.lower if isinstance(value, Enclosure) else value


def high(value: Number) -> Fraction:
    """Return what the value is at most."""
    return value.upper if isinstance(value, Enclosure) else value


def exactly(value: Number) -> bool:
    """Say whether the value is known exactly."""
    return not isinstance(value, Enclosure)


def around(value: float, error: float) -> Number:
    """Return the enclosure of a computed value whose relative error is at most `error`; 0 stays 0."""
    if not value:
        return Fraction(0)
    centre, width = Fraction(value), Fraction(abs(value)) * Fraction(error)
    return Enclosure(centre - width, centre + width)


def times(factor: Fraction, value: Number) -> Number:
    """Return a factor that is not negative times the value."""
    if isinstance(value, Enclosure):
        return Enclosure(factor * value.lower, factor * value.upper)
    return factor * value


def least(*values: Number) -> Number:
    """Return the smallest of the values, as an enclosure where one of them is."""
    if all(exactly(value) for value in values):
        return min(low(value) for value in values)
    lower, upper = min(map(low, values)), min(map(high, values))
    return lower if lower == upper else Enclosure(lower, upper)


def total(values: Iterable[Number]) -> Number:
    """Return the sum of the values."""
    listed = list(values)
    if all(exactly(value) for value in listed):
        return sum(map(low, listed), Fraction(0))
    return Enclosure(sum(map(low, listed), Fraction(0)), sum(map(high, listed), Fraction(0)))


def below(one: Number, other: Number) -> bool:
    """Say whether the one is certainly less than the other."""
    return high(one) < low(other)


def reaches(one: Number, other: Number) -> bool:
    """Say whether the one is certainly as much as the other."""
    return one is other or low(one) >= high(other)


def shown(value: Number) -> str:
    """Return the value as a sentence has it: a fraction where it is short, otherwise rounded."""
    if isinstance(value, Enclosure):
        return f"{float(value):.6g}"
    if len(str(value.numerator)) + len(str(value.denominator)) <= DIGITS:
        return str(value)
    return f"{float(value):.6g}"
