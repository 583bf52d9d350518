"""Rational arithmetic at scale: exact sums of many fractions, and the number types that python-flint makes faster.

Adding fractions one by one costs a gcd of the growing total each time.  `weighted_sums` groups terms by denominator,
and merges the groups in pairs, so that large numbers meet only large numbers.  Everything works without python-flint
(``pip install drfopt[exact]``), on Python's own integers and fractions, only slower.
"""

import contextlib
import decimal
import math
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

__all__ = [
    "FLINT",
    "digits",
    "fraction",
    "integer_columns",
    "number",
    "over_one",
    "short_ratio",
    "weighted_sums",
    "whole",
]

SHORT = 2048
"""Bits up to which an integer is written at once: the time that takes grows with the square of their number."""

RATIOS = 192, 640
"""Bits that a ratio of long fractions may have to be looked for as a short one: most have few."""

FLINT: Any = None
"""The module of python-flint, or None where it is not installed."""

with contextlib.suppress(ImportError):
    import flint

    FLINT = flint


def number(value: Fraction) -> Any:
    """Return the fraction as the type to compute with: flint's where there is one, else itself."""
    return value if FLINT is None else FLINT.fmpq(value.numerator, value.denominator)


def fraction(value: Any) -> Fraction:
    """Return what `number` made, or what came of it, as a `Fraction`."""
    if isinstance(value, Fraction):
        return value
    reduced: Any = _Reduced(int(value.p), int(value.q))
    return Fraction(reduced)


@numbers.Rational.register
@dataclass(frozen=True)
class _Reduced:
    """A fraction in lowest terms: `Fraction` takes these as they are, and would look for their divisor again."""

    numerator: int
    denominator: int


def short_ratio(value: Fraction, other: Fraction) -> Fraction | None:
    """Return value / other where that has at most `RATIOS` bits above and below, else None; `other` is positive.

    Euclid's algorithm on the leading bits proposes it, as long fractions take the square of their length to be reduced;
    whether it is so, their product says.
    """
    if value is other or value == other:
        return Fraction(1)
    above, below = (value.numerator, other.denominator), (value.denominator, other.numerator)
    for short in RATIOS:
        lost = [max(end.bit_length() - 3 * short, 0) for end in above + below]
        a, c, b, d = (abs(end) >> spare for end, spare in zip(above + below, lost, strict=True))
        power = lost[0] + lost[1] - lost[2] - lost[3]
        found = _short_quotient(a * c << max(power, 0), b * d << max(-power, 0), short)
        if found is not None:
            found = found if value > 0 else -found
            return found if found * other == value else None
    return None


def _short_quotient(a: int, b: int, short: int) -> Fraction | None:
    """Return the fraction of at most so many bits that a / b is but for its rounding in three times as many."""
    enough, (p, old_p), (q, old_q) = b.bit_length() + 8 - 2 * short, (1, 0), (0, 1)
    while b:
        most, rest = divmod(a, b)
        (p, old_p), (q, old_q) = (most * p + old_p, p), (most * q + old_q, q)
        if max(p, q).bit_length() > short:
            return None
        a, b = b, rest
        if b.bit_length() <= enough:
            return Fraction(p, q)
    return None


def digits(value: int) -> str:
    """Return an integer as decimal text, however long it is: `str` stops at 4300 digits, and takes its time."""
    if FLINT is not None:
        return str(FLINT.fmpz(value))
    if value.bit_length() <= SHORT:
        return format(decimal.Decimal(value), "f")
    with decimal.localcontext() as context:
        # Long decimals are multiplied fast, so the halves of the bits are put together there.
        context.prec, context.Emax, context.Emin = decimal.MAX_PREC, decimal.MAX_EMAX, decimal.MIN_EMIN
        context.traps[decimal.Inexact] = True
        found = _decimal(abs(value), {})
    return ("-" if value < 0 else "") + format(found, "f")


def _decimal(value: int, powers: dict[int, decimal.Decimal]) -> decimal.Decimal:
    """Return the integer as a decimal; `powers` keeps those of 2 that are needed."""
    if value.bit_length() <= SHORT:
        return decimal.Decimal(value)
    half = SHORT
    while 2 * half < value.bit_length():
        half *= 2
    if half not in powers:
        powers[half] = decimal.Decimal(2) ** half
    top = value >> half
    return _decimal(top, powers) * powers[half] + _decimal(value - (top << half), powers)


def whole(value: Fraction) -> Any:
    """Return the same as `number`, but an integer where it is one."""
    if value.denominator > 1:
        return number(value)
    return value.numerator if FLINT is None else FLINT.fmpz(value.numerator)


def over_one(values: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Return the common denominator of what `number` made, and the integers over it."""
    if FLINT is None:
        common = math.lcm(*{value.denominator for value in values})
        return common, [value.numerator * (common // value.denominator) for value in values]
    common = FLINT.fmpz(1)
    for value in values:
        if common % value.q:
            common = common * (value.q // common.gcd(value.q))
    return common, [value.p * (common // value.q) for value in values]


def integer_columns(rows: Sequence[Sequence[Fraction]], width: int) -> tuple[list[list[int]], list[int]]:
    """Return n rows of integers and, for each of the columns, what its fractions were multiplied by."""
    scales = [math.lcm(*{row[j].denominator for row in rows}) if rows else 1 for j in range(width)]
    return [
        [value.numerator * (scale // value.denominator) for value, scale in zip(row, scales, strict=True)]
        for row in rows
    ], scales


def weighted_sums(factors: Iterable[Fraction], rows: Iterable[Sequence[int]], width: int) -> list[Fraction]:
    """Return the sums over i of ``factors[i] * rows[i][j]``, for every column j, exactly.

    Parameters
    ----------
    factors : n fractions
    rows : n rows of `width` integers
    """
    groups: dict[int, list] = {}
    for factor, row in zip(factors, rows, strict=True):
        top, bottom = factor.numerator, factor.denominator
        held = groups.get(bottom)
        if held is None:
            groups[bottom] = [top * d for d in row]
        else:
            for j, d in enumerate(row):
                if d:
                    held[j] += top * d
    if not groups:
        return [Fraction(0)] * width
    bottom, tops = _merged(groups)
    return [Fraction(top, bottom) for top in tops]


def _merged(groups: dict[int, list]) -> tuple[int, list[int]]:
    """Return the common denominator and the numerators over it of sums kept by their denominators."""
    if FLINT is None:
        terms = [(bottom, tops) for bottom, tops in sorted(groups.items())]
    else:
        integer = FLINT.fmpz
        terms = [(integer(bottom), [integer(top) for top in tops]) for bottom, tops in sorted(groups.items())]
    while len(terms) > 1:
        pairs = zip(terms[::2], terms[1::2], strict=False)
        odd = terms[-1:] if len(terms) % 2 else []
        terms = [_pair(*one, *other) for one, other in pairs] + odd
    (bottom, tops) = terms[0]
    return int(bottom), [int(top) for top in tops]


def _pair(p: Any, tops: list, q: Any, others: list) -> tuple[Any, list]:
    common = math.gcd(p, q) if FLINT is None else p.gcd(q)
    left, right = q // common, p // common
    return p * left, [a * left + b * right for a, b in zip(tops, others, strict=True)]
