"""Arrays of numbers of 32 digits: every one the unevaluated sum of two floats, the second a rounding of the first.

Sums and products lose nothing that a float could tell (D. Knuth, The Art of Computer Programming 2, 4.2.2; T. Dekker,
Numerische Mathematik 18, 1971), and what is computed here from them errs by at most `UNIT` of its result for products
and quotients, and of its terms' absolute values for sums, as long as nothing leaves the range of floats (Y. Hida,
X. Li and D. Bailey, Algorithms for Quad-Double Precision Floating Point Arithmetic, ARITH 2001).
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, Union

import numpy as np

__all__ = ["UNIT", "DoubleDouble", "Operand"]

UNIT = 2.0**-98
"""Relative error of one operation, at most: the best known bounds are 2 to 15 times 2^-104."""

SPLITTER = 2.0**27 + 1
"""Cuts a float into two halves whose products are exact."""

LEAST_TEN = 250
"""Powers of ten up to which, and down to one over which, products are far from the ends of the range."""

WHOLE = 2**53
"""Every whole number below is a float."""

FEW = 4000
"""Terms of a sum of which twice 53 bits are left after two cuts; up to 10^7 it takes three."""

LEAST = 32
"""Terms of which the lower halves are added up in floats: what that rounds is below `UNIT` of the upper ones."""

Operand = Union["DoubleDouble", np.ndarray, float]
_Reduce = Callable[[np.ndarray, np.ufunc], np.ndarray]
_Spread = Callable[[np.ndarray], np.ndarray]


class DoubleDouble:
    """Numbers ``high + low``, two float arrays of one shape."""

    __slots__ = ("high", "low")
    __array_priority__ = 1000

    def __init__(self, high: Any, low: Any = None):
        self.high = np.asarray(high, dtype=float)
        self.low = np.zeros_like(self.high) if low is None else np.asarray(low, dtype=float)

    @staticmethod
    def _made(high: Any, low: Any) -> "DoubleDouble":
        """Return what operations found: floats, of which nothing is to be made."""
        found: DoubleDouble = object.__new__(DoubleDouble)
        found.high, found.low = high, low
        return found

    @classmethod
    def of(cls, values: Iterable[Fraction], shape: tuple[int, ...] | None = None) -> "DoubleDouble":
        """Return fractions to 32 digits; in the shape that is asked for."""
        listed = list(values)
        high = np.array([float(value) for value in listed])
        # Of whole numbers nothing is left, which is most of what clusters have.
        low = np.array(
            [
                0.0 if value.denominator == 1 and abs(near) < WHOLE else float(value - Fraction(near))
                for value, near in zip(listed, high.tolist(), strict=True)
            ]
        )
        return cls(high, low) if shape is None else cls(high.reshape(shape), low.reshape(shape))

    @classmethod
    def of_decimals(cls, floats: np.ndarray) -> "DoubleDouble":
        """Return the shortest decimals that floats from 0 on stand for, to 32 digits.

        Fifteen digits name a float or do not; where they do not, the nearest of sixteen, or of seventeen.
        """
        floats = np.asarray(floats, dtype=float)
        found = cls(floats.copy())
        with np.errstate(invalid="ignore"):
            whole = (floats == np.floor(floats)) & (floats < 1 / np.finfo(float).eps)
        left = np.flatnonzero(~whole & np.isfinite(floats))
        values = floats.ravel()[left]
        ten = np.floor(np.log10(values)).astype(int)
        ten -= values < _POWERS.high[np.clip(ten, -LEAST_TEN, LEAST_TEN) + LEAST_TEN]
        for digits in (15, 16, 17) if values.size else ():
            shift = digits - 1 - ten
            some = np.abs(shift) < LEAST_TEN
            power = _POWERS[np.where(some, shift, 0) + LEAST_TEN]
            scaled = cls(values) * power
            whole = np.rint(scaled.high)
            decimal = (cls(whole) + np.rint((scaled - whole).high)) / power
            told = some & (decimal.high == values)
            found.low.ravel()[left[told]] = decimal.low[told]
            left, values, ten = left[~told], values[~told], ten[~told]
        for at, value in zip(left.tolist(), values.tolist(), strict=True):
            found.low.ravel()[at] = float(Fraction(repr(value)) - Fraction(value))
        return found

    def __getitem__(self, at: Any) -> "DoubleDouble":
        return DoubleDouble._made(self.high[at], self.low[at])

    def __setitem__(self, at: Any, value: Operand) -> None:
        value = _double(value)
        self.high[at], self.low[at] = value.high, value.low

    def __neg__(self) -> "DoubleDouble":
        return DoubleDouble._made(-self.high, -self.low)

    def __add__(self, other: Operand) -> "DoubleDouble":
        if isinstance(other, DoubleDouble):
            high, low = _sum(self.high, other.high)
            # What these additions round is of the size of the lower halves of the terms: 2^-106 of them.
            return DoubleDouble._made(*_renewed(high, low + (self.low + other.low)))
        high, low = _sum(self.high, np.asarray(other))
        return DoubleDouble._made(*_renewed(high, low + self.low))

    __radd__ = __add__

    def __sub__(self, other: Operand) -> "DoubleDouble":
        return self + (-other)

    def __rsub__(self, other: Operand) -> "DoubleDouble":
        return -self + other

    def __mul__(self, other: Operand) -> "DoubleDouble":
        if isinstance(other, DoubleDouble):
            high, low = _product(self.high, other.high)
            low = low + (self.high * other.low + self.low * other.high)
        else:
            high, low = _product(self.high, np.asarray(other))
            low = low + self.low * other
        return DoubleDouble._made(*_renewed(high, low))

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> "DoubleDouble":
        other = _double(other)
        first = self.high / other.high
        high, low = _product(first, other.high)
        # The product is the dividend but for its last bit: their difference is exact.
        rest = ((self.high - high) - low) + (self.low - first * other.low)
        return DoubleDouble._made(*_renewed(first, rest / other.high))

    def __rtruediv__(self, other: Operand) -> "DoubleDouble":
        return _double(other) / self

    def scaled(self, by: Any) -> "DoubleDouble":
        """Return these times powers of two, by which nothing is rounded."""
        return DoubleDouble._made(self.high * by, self.low * by)

    def power(self, exponent: int) -> "DoubleDouble":
        """Return a whole power, from 0 on, of these."""
        if exponent < 2:
            return self if exponent else DoubleDouble(np.ones_like(self.high))
        half = self.power(exponent // 2)
        return half * half * self if exponent % 2 else half * half

    def root(self, degree: int) -> "DoubleDouble":
        """Return a root of these, which are positive."""
        if degree == 1:
            return self
        near = self.high ** (1 / degree)
        found = DoubleDouble(near)
        for _ in range(2):
            found = found + found * ((self / found.power(degree) - 1.0).high / degree)
        return found

    def sum(self, axis: int = 0) -> "DoubleDouble":
        """Add up along an axis."""
        high, low = np.moveaxis(self.high, axis, 0), np.moveaxis(self.low, axis, 0)
        if len(high) < 2:
            return DoubleDouble(high[0].copy(), low[0].copy()) if len(high) else DoubleDouble(np.zeros(high.shape[1:]))
        return _added(high, low, len(high), lambda some, add: add.reduce(some, axis=0), lambda sums: sums)

    def sums(self, starts: np.ndarray, groups: np.ndarray) -> "DoubleDouble":
        """Add up stretches of a vector that begin at `starts`, none of them empty; `groups` says which each is in."""
        if not len(groups):
            return self
        longest = int(np.diff(starts, append=len(groups)).max())
        return _added(
            self.high, self.low, longest, lambda some, add: add.reduceat(some, starts), lambda sums: sums[groups]
        )

    def least(self, axis: int = 0) -> "DoubleDouble":
        """Return the least along an axis."""
        high = self.high.min(axis=axis)
        tied = self.high == np.expand_dims(high, axis)
        return DoubleDouble(high, np.where(tied, self.low, np.inf).min(axis=axis))

    def reshape(self, *shape: int) -> "DoubleDouble":
        """Return the same in another shape."""
        return DoubleDouble._made(self.high.reshape(*shape), self.low.reshape(*shape))

    def fraction(self, at: Any) -> Fraction:
        """Return one of these as it is."""
        return Fraction(float(self.high[at])) + Fraction(float(self.low[at]))


_POWERS = DoubleDouble.of(Fraction(10) ** e for e in range(-LEAST_TEN, LEAST_TEN + 1))
"""Powers of ten."""


def _double(value: Operand) -> DoubleDouble:
    return value if isinstance(value, DoubleDouble) else DoubleDouble(value)


def _sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rounded sum, and what rounding took."""
    total = a + b
    of_b = total - a
    return total, (a - (total - of_b)) + (b - of_b)


def _renewed(high: np.ndarray, low: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the same sum with the first as near to it as a float can be; it was the larger before."""
    total = high + low
    return total, low - (total - high)


def _added(high: np.ndarray, low: np.ndarray, count: int, reduce: _Reduce, spread: _Spread) -> DoubleDouble:
    """Return sums of at most `count` terms each.

    Bits above one place are cut off all terms of a sum at once, so that sums of them are exact in any order; what is
    left is cut again (S. Rump, T. Ogita and S. Oishi, Accurate floating-point summation, SIAM Journal on Scientific
    Computing 2008).  What is added up in floats at last is below 2^-53 times the bound for all.
    """
    bits = (count + 1).bit_length()
    sums = []
    for rest, times in ((high, 2 if count <= FEW else 3), (low, int(count > LEAST))):
        # Above all sums of terms; each cut leaves terms of which sums are that much smaller.
        place = np.ldexp(1.0, np.frexp(reduce(np.abs(rest), np.maximum))[1] + bits) if times else rest
        for _ in range(times):
            above = spread(place)
            cut = (above + rest) - above
            rest = rest - cut
            sums.append(reduce(cut, np.add))
            place = place * 2.0 ** (bits - 53)
        sums.append(reduce(rest, np.add))
    total, left = _sum(sums[0], sums[1])
    # All that is left is below 2^-53 of the terms, and what these additions round below that of it.
    return DoubleDouble._made(*_renewed(total, left + sum(sums[2:])))


def _product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rounded product, and what rounding took."""
    product = a * b
    (one, two), (three, four) = _halves(a), _halves(b)
    return product, ((one * three - product) + one * four + two * three) + two * four


def _halves(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    big = SPLITTER * a
    one = big - (big - a)
    return one, a - one
