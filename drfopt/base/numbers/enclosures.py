"""Numbers known exactly or between two fractions, and comparisons that are theorems or nothing.

An exact answer is a `Fraction` or, where the optimum is irrational, an `Enclosure`: two fractions with the true value
between them.  `at_least` and its siblings return True or False only where that follows for every value the operands
may have, and None where it does not: two enclosures that overlap are undecided, never "close enough".
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

from .rationals import digits, short_ratio

__all__ = [
    "Enclosure",
    "Exact",
    "LongNumbers",
    "above",
    "at_least",
    "beginning",
    "equal",
    "least",
    "log10",
    "lower",
    "text",
    "upper",
]

SHOWN = 17
"""Digits of an exact number in a table."""

LONGEST = 40
"""Digits of an enclosure on its own."""

LOST = 4
"""Digits that both ends may lack of what its width tells."""

LONG_BITS = 4096
"""Bits beyond which a certificate file has an integer in hexadecimal."""

TABLE = 16
"""Long fractions that a document writes once: of a pool one a saturated resource is enough."""

MISSES = 64
"""Long fractions that are no multiples of those in the table, after which no more are tried."""


@dataclass(frozen=True)
class Enclosure:
    """A number known to lie between two fractions, both included; sums and products enclose theirs.

    Attributes
    ----------
    lower, upper : Fraction
    """

    lower: Fraction
    upper: Fraction

    def __post_init__(self) -> None:
        if self.lower > self.upper:
            raise ValueError(f"nothing lies between {self.lower} and {self.upper}: give the smaller end first")

    @property
    def width(self) -> Fraction:
        """Distance of the ends."""
        return self.upper - self.lower

    def __contains__(self, value: Rational) -> bool:
        return self.lower <= value <= self.upper

    def __add__(self, other: "Exact") -> "Enclosure":
        return Enclosure(self.lower + lower(other), self.upper + upper(other))

    __radd__ = __add__

    def __neg__(self) -> "Enclosure":
        return Enclosure(-self.upper, -self.lower)

    def __sub__(self, other: "Exact") -> "Enclosure":
        return self + -other

    def __rsub__(self, other: "Exact") -> "Enclosure":
        return -self + other

    def __mul__(self, other: "Exact") -> "Enclosure":
        ends = [a * b for a in (self.lower, self.upper) for b in (lower(other), upper(other))]
        return Enclosure(min(ends), max(ends))

    __rmul__ = __mul__

    def __truediv__(self, other: "Exact") -> "Enclosure":
        low, high = lower(other), upper(other)
        if low <= 0 <= high:
            raise ZeroDivisionError(f"the divisor may be 0: it lies between {low} and {high}")
        return self * Enclosure(1 / high, 1 / low)

    def __float__(self) -> float:
        return float((self.lower + self.upper) / 2)

    def __bool__(self) -> bool:
        return self.lower != 0 or self.upper != 0

    def __str__(self) -> str:
        return beginning(self, LONGEST)


Exact = int | Fraction | Enclosure
"""What can be compared with certainty."""


def lower(value: Exact) -> Fraction:
    """Return the least the value can be."""
    return value.lower if isinstance(value, Enclosure) else _fraction(value)


def upper(value: Exact) -> Fraction:
    """Return the most the value can be."""
    return value.upper if isinstance(value, Enclosure) else _fraction(value)


def beginning(value: Exact, most: int = SHOWN) -> str:
    """Return the first digits of a number, at most so many, cut and not rounded; of an enclosure those of both ends.

    Where the ends have few digits in common, on both sides of a round number, it is that ``+-`` what holds both ends.
    """
    ends = lower(value), upper(value)
    size = max(map(abs, ends))
    if ends[0] < 0 < ends[1] or not size:
        return f"0 +- {_scale(size)}" if size else "0"
    place = most - _power(size) - 1
    known = min(place, -_power(ends[1] - ends[0]) - 1) if ends[0] < ends[1] else place
    for decimals in range(known, known - LOST, -1):
        low, high = (_cut(abs(end), decimals) for end in ends)
        if low == high:
            sign, found = "-" if ends[0] < 0 else "", Decimal(low).scaleb(-decimals)
            return f"{sign}{found}..."
    middle = Fraction(round((ends[0] + ends[1]) / 2 * Fraction(10) ** place)) / Fraction(10) ** place
    near = Decimal(middle.numerator) / Decimal(middle.denominator)
    return f"{near.normalize():f} +- {_scale(max(ends[1] - middle, middle - ends[0]))}"


def _power(value: Fraction) -> int:
    """Return the power of ten of the first digit of a positive number, or the one below or above."""
    return math.floor(log10(value))


def log10(value: Fraction) -> float:
    """Return the logarithm of a positive number, which may be smaller or larger than any float."""
    return math.log10(value.numerator) - math.log10(value.denominator)


def _scale(value: Fraction) -> str:
    """Return a positive number in one digit, and no smaller."""
    return f"{Context(prec=1, rounding=ROUND_CEILING).divide(Decimal(value.numerator), Decimal(value.denominator)):.0e}"


def least(values: Iterable[Any], default: Any = 0) -> Any:
    """Return the smallest of some numbers; where one is enclosed, an enclosure of the smallest."""
    found = list(values)
    if not any(isinstance(value, Enclosure) for value in found):
        return min(found, default=default)
    return Enclosure(min(map(lower, found)), min(map(upper, found)))


def text(value: Exact, hexadecimal: bool = False) -> str | dict[str, str]:
    """Return an exact value as files have it: ``"63/25"``, or the ends of an enclosure; however long they are.

    With `hexadecimal` what has more than `LONG_BITS` is written as ``"0x3f/0x19"``, which is read and written in one
    pass, and so in certificate files: decimals of so many digits nobody reads, and they take ten times as long.
    """
    if isinstance(value, Enclosure):
        return {"lower": _written(value.lower, hexadecimal), "upper": _written(value.upper, hexadecimal)}
    return _written(_fraction(value), hexadecimal)


class LongNumbers:
    """The long fractions of one document: each is written once, and what is a short multiple of it by that.

    All tasks of a pool's leximin are: one level, or one for every saturated resource, times what a user needs.  Levels
    of 10,000 users with 16 digits have 80,000 digits each, and there are as many users to write them for.

    Parameters
    ----------
    bits : int
        The length beyond which a fraction is long.

    Attributes
    ----------
    table : dict
        The names of the fractions that others are multiples of, with their text; empty where nothing is long.
    """

    def __init__(self, bits: int = LONG_BITS) -> None:
        self.bits, self.missed = bits, 0
        self.table: dict[str, Any] = {}
        self.values: dict[str, Fraction] = {}
        self._last: tuple[Any, Fraction, str] | None = None

    def text(self, value: Exact) -> str | dict[str, str]:
        """Return an exact value as `text` does, a long fraction as ``"63/25*L1"``, or in hexadecimal."""
        if isinstance(value, Enclosure):
            return text(value, hexadecimal=True)
        value = _fraction(value)
        if max(end.bit_length() for end in value.as_integer_ratio()) <= self.bits:
            return text(value)
        for name, long in self.values.items() if self.missed < MISSES else ():
            if (times := short_ratio(value, long)) is not None:
                self._last = value, times, name
                return f"{times}*{name}"
        self.missed += bool(self.values)
        if len(self.values) == TABLE or self.missed >= MISSES:
            return text(value, hexadecimal=True)
        name = f"L{len(self.values) + 1}"
        self.values[name], self.table[name] = value, text(value, hexadecimal=True)
        self._last = value, Fraction(1), name
        return f"1*{name}"

    def product(self, factor: Fraction, value: Any) -> str | dict[str, str]:
        """Return the text of a short multiple of a number: it is not multiplied out where that was the last written."""
        if self._last is None or self._last[0] is not value or not factor:
            return self.text(factor * value)
        return f"{factor * self._last[1]}*{self._last[2]}"


def at_least(x: Exact, y: Exact) -> bool | None:
    """Say whether x >= y: True or False where that is certain, None where it is undecided.

    Raises
    ------
    TypeError
        When one of them is a float: its error is not known.

    Examples
    --------
    >>> at_least(Fraction(63, 25), Fraction(5, 2)), at_least(Enclosure(Fraction(1), Fraction(2)), 2)
    (True, None)
    """
    if lower(x) >= upper(y):
        return True
    return False if upper(x) < lower(y) else None


def above(x: Exact, y: Exact) -> bool | None:
    """Say whether x > y: True or False where that is certain, None where it is undecided."""
    reverse = at_least(y, x)
    return None if reverse is None else not reverse


def equal(x: Exact, y: Exact) -> bool | None:
    """Say whether x = y: of enclosures only the difference can be certain, unless they have no width."""
    if at_least(x, y) is False or at_least(y, x) is False:
        return False
    return True if lower(x) == upper(x) == lower(y) == upper(y) else None


def _written(value: Fraction, hexadecimal: bool) -> str:
    ends = value.as_integer_ratio()
    if hexadecimal and max(end.bit_length() for end in ends) > LONG_BITS:
        return "/".join(map(hex, ends))
    top, bottom = map(digits, ends)
    return top if bottom == "1" else f"{top}/{bottom}"


def _cut(value: Fraction, decimals: int) -> int:
    """Return how many units of so many decimals are in a number."""
    ten = 10 ** abs(decimals)
    return value.numerator * ten // value.denominator if decimals >= 0 else value.numerator // (value.denominator * ten)


def _fraction(value: Any) -> Fraction:
    if isinstance(value, Fraction):
        return value  # Made anew, it would be reduced once more.
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    raise TypeError(
        f"{value!r} is a {type(value).__name__}, whose error is not known: compare Fractions or Enclosures (exact=True)"
    )
