"""Numbers as people write them: integers, decimals, fractions, and Kubernetes quantities, kept exactly.

The grammar of a quantity is that of Kubernetes (apimachinery, resource.Quantity): a decimal number, then one of
``n u m k M G T P E`` (powers of 1000) or ``Ki Mi Gi Ti Pi Ei`` (powers of 1024), or an exponent ``e3``/``E3``.
``1E`` is 10^18 and ``1E3`` is 1000.  A fraction is ``"1/3"``.
"""

import math
import numbers
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import InstanceError

__all__ = ["MOST_COUNTED", "NUMBERS", "Number", "amount", "counted_up_to", "exact", "only_digits", "parse"]

Number = int | float | Fraction | Decimal | str

SUFFIXES = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 10**3),
    "k": Fraction(10**3),
    **{letter: Fraction(1000**power) for power, letter in enumerate("MGTPE", start=2)},
    **{f"{letter}i": Fraction(1024**power) for power, letter in enumerate("KMGTPE", start=1)},
}

QUANTITY = re.compile(
    r"(?P<digits>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:(?P<suffix>[KMGTPE]i|[numkMGTPE])|[eE](?P<exponent>[+-]?[0-9]+))?"
)
FRACTION = re.compile(r"([+-]?[0-9]+)\s*/\s*([0-9]+)")

NUMBERS = "an integer, a decimal, a fraction such as '1/3' or a quantity such as '500m' or '4Gi'"
"""What to write where any number will do."""

LONGEST = 400
"""Characters and decimal exponent of a number: beyond, no float could hold the value, and building it takes memory."""


MOST_COUNTED = 2**53
"""The largest count of anything: up to here every whole number is a float."""

READ_OUT = 10**18
"""Counts above this one are told in a sentence by their first digits."""


def parse(text: str, write: str = NUMBERS) -> Fraction:
    """Return the exact value of a number written as text; `write` says what will do where not every number does.

    Raises
    ------
    InstanceError
        When `text` is not a number, a fraction or a quantity.

    Examples
    --------
    >>> parse("500m"), parse("4Gi"), parse("1/3")
    (Fraction(1, 2), Fraction(4294967296, 1), Fraction(1, 3))
    """
    stripped = text.strip()
    shown = repr(text if len(text) <= 40 else text[:37] + "...")
    if len(stripped) > LONGEST:
        raise InstanceError(f"{shown} is too long for a number: write it with at most {LONGEST} characters")
    if fraction := FRACTION.fullmatch(stripped):
        numerator, denominator = map(int, fraction.groups())
        if denominator == 0:
            raise InstanceError(f"{shown} divides by zero: write a fraction with a positive denominator")
        return Fraction(numerator, denominator)
    match = QUANTITY.fullmatch(stripped)
    if not match:
        if any(character.isdecimal() and not character.isascii() for character in stripped):
            raise InstanceError(f"{shown} has digits of another script: write numbers with the digits 0 to 9")
        raise InstanceError(f"{shown} is not a number: write {write}")
    exponent = int(match["exponent"] or 0)
    if abs(exponent) > LONGEST:
        raise InstanceError(f"{shown} is beyond the range of numbers: use an exponent of at most {LONGEST}")
    return Fraction(match["digits"]) * SUFFIXES.get(match["suffix"], Fraction(1)) * Fraction(10) ** exponent


def exact(value: Any, write: str = NUMBERS) -> Fraction:
    """Return the exact value a number stands for; a float stands for its shortest decimal (0.1 is 1/10).

    `write` says what will do where not every number does.

    Raises
    ------
    InstanceError
        When `value` is not a number, or is NaN or infinite.
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, str):
        return parse(value, write)
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Number | Decimal):
        raise InstanceError(f"{value!r} is not a number: write {write}")
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise InstanceError(f"{value} is not finite: write a finite number")
        if len(value.as_tuple().digits) > LONGEST:
            raise InstanceError(f"{str(value)[:37]}... is too long for a number: write at most {LONGEST} digits")
        if value and abs(value.adjusted()) > LONGEST:
            raise InstanceError(f"{value} is beyond the range of numbers: use an exponent of at most {LONGEST}")
        return Fraction(value)
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, numbers.Real):
        if not math.isfinite(value):
            raise InstanceError(f"{float(value)} is not finite: write a finite number")
        return Fraction(repr(float(value)))
    raise InstanceError(f"{value!r} is not a real number: write an integer, a decimal, a fraction or a quantity")


def only_digits(text: str) -> bool:
    """Say whether a text is digits from 0 to 9 alone: for Python those of other scripts are digits, too."""
    return text.isascii() and text.isdecimal()


def amount(value: Any, place: str, write: str = NUMBERS) -> Fraction:
    """Return the exact value of an amount, 0 or more; `place` begins the sentence where it is none, `write` ends it.

    Raises
    ------
    InstanceError
        When it is no number, or negative.
    """
    try:
        found = exact(value, write)
    except InstanceError as error:
        raise InstanceError(f"{place}: {error}") from None
    if found < 0:
        rule = "it must not be negative" if write == NUMBERS else f"write {write}"
        raise InstanceError(f"{place} is {value}: {rule}")
    return found


def counted_up_to(value: Any, what: str, most: int = MOST_COUNTED, least: int = 1) -> int:
    """Return a whole number from `least` to `most`; `what` begins the sentence where it is none.

    Raises
    ------
    InstanceError
        When it is no whole number, or beyond its ends.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        like = f", as {int(value)}" if isinstance(value, float) and value.is_integer() and value >= least else ""
        raise InstanceError(f"{what} is {value!r}: write a whole number, {least:,} or more{like}")
    count = int(value)
    if not least <= count <= most:
        told = str(count) if abs(count) <= READ_OUT else f"{Decimal(count).normalize():.4g}"
        way = f"a whole number, {least:,} or more" if count < least else f"at most {most:,}"
        raise InstanceError(f"{what} is {told}: write {way}")
    return count
