"""Numbers ``a + b sqrt(d)`` with rational a and b: guessed from many digits, computed with and compared exactly."""

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

__all__ = ["Surd", "recognised"]

SQUARES = 1000
"""Squares of numbers up to here are taken out of a root."""

REDUCED = Fraction(3, 4)
"""Lovasz's constant of a reduced basis."""

GENEROUS = 5
"""A relation is believed when its coefficients have at most one in so many of the digits that it holds to."""


@dataclass(frozen=True)
class Surd:
    """The number ``a + b sqrt(d)``; d is the same integer, and no square, for all that meet."""

    a: Fraction
    b: Fraction
    d: int

    def _other(self, value: Any) -> "Surd":
        return value if isinstance(value, Surd) else Surd(Fraction(value), Fraction(0), self.d)

    def __add__(self, value: Any) -> "Surd":
        other = self._other(value)
        return Surd(self.a + other.a, self.b + other.b, self.d)

    __radd__ = __add__

    def __neg__(self) -> "Surd":
        return Surd(-self.a, -self.b, self.d)

    def __sub__(self, value: Any) -> "Surd":
        return self + -self._other(value)

    def __rsub__(self, value: Any) -> "Surd":
        return -self + value

    def __mul__(self, value: Any) -> "Surd":
        other = self._other(value)
        return Surd(self.a * other.a + self.b * other.b * self.d, self.a * other.b + self.b * other.a, self.d)

    __rmul__ = __mul__

    def __rtruediv__(self, value: Any) -> "Surd":
        norm = self.a * self.a - self.b * self.b * self.d
        return Surd(self.a / norm, -self.b / norm, self.d) * value

    def __pow__(self, exponent: int) -> "Surd":
        found = self._other(1)
        for _ in range(exponent):
            found = found * self
        return found

    def sign(self) -> int:
        """Return -1, 0 or 1."""
        squares = self.a * self.a - self.b * self.b * self.d
        larger = self.a if squares > 0 else self.b
        return (larger > 0) - (larger < 0) if larger else (self.a > 0) - (self.a < 0)

    def __str__(self) -> str:
        if not self.b:
            return str(self.a)
        bottom = math.lcm(self.a.denominator, self.b.denominator)
        a, b = int(self.a * bottom), int(self.b * bottom)
        root = f"sqrt({self.d})" if abs(b) == 1 else f"{abs(b)} sqrt({self.d})"
        text = f"{a} {'+' if b > 0 else '-'} {root}" if a else f"{'' if b > 0 else '-'}{root}"
        return text if bottom == 1 else f"({text})/{bottom}"


def recognised(values: Sequence[Fraction], digits: int) -> list[Surd] | None:
    """Return numbers of one quadratic field that agree with the values to nearly all their digits, or None.

    That is a guess: whoever uses it has to prove it.
    """
    relations = []
    for value in values:
        relation = _relation(value, digits)
        if relation is None:
            return None
        relations.append(relation)
    root = next((b * b - 4 * a * c for a, b, c in relations if a), None)
    if root is None or root <= 0:
        return None
    for prime in range(2, SQUARES):
        while root % (prime * prime) == 0:
            root //= prime * prime
    found = [_surd(value, relation, root) for value, relation in zip(values, relations, strict=True)]
    return None if None in found else [surd for surd in found if surd is not None]


def _surd(value: Fraction, relation: tuple[int, int, int], root: int) -> Surd | None:
    a, b, c = relation
    if not a:
        return Surd(Fraction(-c, b), Fraction(0), root)
    square = (b * b - 4 * a * c) * root
    whole = math.isqrt(max(square, 0))
    if whole * whole != square:
        return None
    # sqrt(b^2 - 4 a c) = whole / sqrt(root) = whole / root * sqrt(root); the branch is the one nearer to the value.
    part = Fraction(whole, 2 * abs(a) * root)
    middle = Fraction(-b, 2 * a)
    return Surd(middle, part if value > middle else -part, root)


def _relation(value: Fraction, digits: int) -> tuple[int, int, int] | None:
    """Return small integers with ``a v^2 + b v + c = 0`` to the digits; a is 0 where v is rational."""
    scale = 10**digits
    linear = _shortest([[1, 0, round(value * scale)], [0, 1, scale]])
    if max(map(abs, linear[:2])) <= 10 ** (digits // GENEROUS) and abs(linear[2]) <= 10 ** (digits // GENEROUS):
        return 0, linear[0], linear[1]
    rows = [[1, 0, 0, round(value * value * scale)], [0, 1, 0, round(value * scale)], [0, 0, 1, scale]]
    a, b, c, off = _shortest(rows)
    small = max(map(abs, (a, b, c, off))) <= 10 ** (digits // GENEROUS)
    return (a, b, c) if small and a else None


def _shortest(basis: list[list[int]]) -> list[int]:
    """Return the first vector of the reduced basis of the lattice (Lenstra, Lenstra and Lovasz, 1982).

    In integers: `d` holds the determinants of the Gram matrices of the first rows, and ``lam[k][j]`` is ``d[j + 1]``
    times the coefficient of row k along the j-th orthogonalised one (Cohen, A Course in Computational Algebraic Number
    Theory, 1993, section 2.6).
    """
    rows, n, k = [list(row) for row in basis], len(basis), 1
    d, lam = [1], [[0] * n for _ in rows]
    for i, row in enumerate(rows):
        for j in range(i + 1):
            lam[i][j] = sum(map(operator.mul, row, rows[j]))
            for o in range(j):
                lam[i][j] = (d[o + 1] * lam[i][j] - lam[i][o] * lam[j][o]) // d[o]
        d.append(lam[i][i])
    while k < n:
        for j in range(k - 1, -1, -1):
            if times := (2 * lam[k][j] + d[j + 1]) // (2 * d[j + 1]):
                rows[k] = [x - times * y for x, y in zip(rows[k], rows[j], strict=True)]
                lam[k][:j] = [x - times * y for x, y in zip(lam[k][:j], lam[j][:j], strict=True)]
                lam[k][j] -= times * d[j + 1]
        across = lam[k][k - 1]
        if REDUCED.denominator * (d[k + 1] * d[k - 1] + across**2) >= REDUCED.numerator * d[k] ** 2:
            k += 1
            continue
        rows[k], rows[k - 1] = rows[k - 1], rows[k]
        lam[k][: k - 1], lam[k - 1][: k - 1] = lam[k - 1][: k - 1], lam[k][: k - 1]
        length = (d[k - 1] * d[k + 1] + across**2) // d[k]
        for i in range(k + 1, n):
            before = lam[i][k]
            lam[i][k] = (d[k + 1] * lam[i][k - 1] - across * before) // d[k]
            lam[i][k - 1] = (length * before + across * lam[i][k]) // d[k + 1]
        d[k], k = length, max(k - 1, 1)
    return rows[0]
