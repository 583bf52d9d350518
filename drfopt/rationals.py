"""Rational arithmetic at scale: exact sums of many fractions, and the number types that python-flint makes faster.

Adding fractions one by one costs a gcd of the growing total each time.  `weighted_sums` groups terms by denominator,
and merges the groups in pairs, so that large numbers meet only large numbers.  Everything works without python-flint
(``pip install drfopt[exact]``), on Python's own integers and fractions, only slower.
"""

import contextlib
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["FLINT", "fraction", "integer_columns", "number", "weighted_sums"]


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
    return value if isinstance(value, Fraction) else Fraction(int(value.p), int(value.q))


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
