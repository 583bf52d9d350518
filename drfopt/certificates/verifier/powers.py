"""Powers of fractions with fractional exponents: between two fractions, by integer roots.

Claim.   For whole numbers q >= 1 and s, a fraction v > 0 and  r = floor(root_q(floor(v 2^(q s)))),
         r / 2^s  <=  root_q(v)  <  (r + 1) / 2^s.
Proof.   r^q is at most v 2^(q s); and (r + 1)^q, a whole number above its rounded value, is above it as well.  []

Whether the root is a fraction is decided: in lowest terms numerator and denominator are powers then.
"""

import math
from collections.abc import Iterable
from fractions import Fraction

from .work import bits, spend, to_multiply

__all__ = ["DEGREE", "GUARD", "digits_between", "floor_root", "marginal_between", "power_between"]

DEGREE = 1_000
"""Largest denominator of an exponent: roots of higher degree are of numbers too long to be looked at."""

ROUNDING = 2.0**-50
"""Relative distance above its float at which a root begins: a few roundings of a logarithm and a power."""

GUARD = 40
"""Digits beyond those that are told apart: for users who could have far more than they have, and for sums of many."""


def digits_between(ends: Iterable[tuple[Fraction, Fraction]], costs: Iterable[Fraction]) -> int:
    """Return how many digits of marginal utilities are needed where pairs (end, tasks) are to be told apart.

    What an end loses is the square of its distance.  Who has all there is for it is at no distance of its end, and
    what a task costs has to be told from what it is worth: it is known to half of the digits it is written with.
    """
    written = max(map(bits, costs), default=0) // 2
    apart = (abs(end / tasks - 1) for end, tasks in ends)
    most = max((off.denominator.bit_length() - off.numerator.bit_length() for off in apart if off), default=0)
    return math.ceil(max(2 * most, written) * math.log10(2)) + GUARD


def marginal_between(
    income: Fraction, rate: Fraction, tasks: Fraction, alpha: Fraction, digits: int
) -> tuple[Fraction, Fraction]:
    """Return between what a task more is worth:  income rate (rate tasks)^-alpha."""
    low, high = power_between(rate * tasks, -Fraction(alpha), digits)
    return income * rate * low, income * rate * high


def power_between(base: Fraction, exponent: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Return the ends between which a power lies: equal where it is a fraction, else within 10^-digits of each other.

    Examples
    --------
    >>> power_between(Fraction(4, 9), Fraction(-1, 2), 5)
    (Fraction(3, 2), Fraction(3, 2))
    """
    degree = exponent.denominator
    size = abs(exponent.numerator) * bits(base)
    spend(to_multiply(size, size))
    if degree == 1:
        return (found := base ** int(exponent)), found
    top, bottom = (floor_root(end, degree) for end in base.as_integer_ratio())
    if (top**degree, bottom**degree) == base.as_integer_ratio():
        return (found := Fraction(top, bottom) ** exponent.numerator), found
    value = base**exponent.numerator
    length = math.ceil(digits * math.log2(10)) + 2
    shift = length - (value.numerator.bit_length() - value.denominator.bit_length()) // degree
    up, down = (degree * shift, 0) if shift >= 0 else (0, -degree * shift)
    spend(to_multiply(size, degree * length))
    root, unit = floor_root((value.numerator << up) // (value.denominator << down), degree), Fraction(2) ** shift
    return root / unit, (root + 1) / unit


def floor_root(value: int, degree: int) -> int:
    """Return the root of a whole number, 1 or more, rounded down."""
    # Newton's method from above falls until it is there; a float begins near it, however large the degree is.
    size = math.log2(value) * (1 + ROUNDING) / degree
    whole = max(math.floor(size) - 60, 0)
    root = math.ceil(2.0 ** (size - whole) * (1 + ROUNDING)) + 1 << whole
    while True:
        spend(to_multiply(value.bit_length(), value.bit_length()))
        lower = ((degree - 1) * root + value // root ** (degree - 1)) // degree
        if lower >= root:
            return root
        root = lower
