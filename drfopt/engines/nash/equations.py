"""The conditions of optimality of a market as equations, in whatever numbers; and roots and roundings with a side."""

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .enclosure import Conditions

__all__ = ["Decimals", "Equations", "root_above", "rounded"]


class Equations:
    """The residuals of the equations, in the numbers of the instance."""

    def __init__(self, market: "Conditions"):
        self.market = market
        self.d, self.w, self.r, self.u = market.d, market.w, market.r, market.u
        self.room = market.room

    def residuals(self, z: list[Any], p: list[Any]) -> list[Any]:
        """Return left side minus right side, with the sign of a correction, in the order of the Jacobian's rows."""
        market = self.market
        found: list[Any] = []
        cost = [0] * len(z)  # type: list[Any]
        priced: dict[int, list[tuple[int, Any]]] = {}
        for (k, j), value in zip(market.cells, p, strict=True):
            priced.setdefault(k, []).append((j, value))
        for q, (i, k) in enumerate(zip(market.user, market.machine, strict=True)):
            for j, value in priced.get(k, ()):
                cost[q] += value * self.d[i][j]
        for i, mine in enumerate(market.mine):
            x = sum(z[q] for q in mine)
            for place, q in enumerate(mine):
                if market.capped[i]:
                    found.append(cost[mine[0]] - cost[q] if place else self.u[i] - x)
                else:
                    found.append(self.w[i] * self.r[i] / (self.r[i] * x) ** market.alpha - cost[q])
        held = {cell: self.room[cell[0]][cell[1]] for cell in market.cells}
        columns: dict[int, list[int]] = {}
        for k, j in market.cells:
            columns.setdefault(k, []).append(j)
        for q, (i, k) in enumerate(zip(market.user, market.machine, strict=True)):
            for j in columns.get(k, ()):
                if self.d[i][j]:
                    held[k, j] -= z[q] * self.d[i][j]
        return [*found, *held.values()]


class Decimals(Equations):
    """The same in decimals, to the precision of the context."""

    def __init__(self, market: "Conditions"):
        super().__init__(market)
        self.d, self.room = (_decimals(rows) for rows in (market.d, market.room))
        self.w, self.r, self.u = _decimals([market.w, market.r, market.u])


def _decimals(rows: Sequence[Sequence[Any]]) -> Any:
    return [[None if v is None else Decimal(v.numerator) / Decimal(v.denominator) for v in row] for row in rows]


def root_above(value: Fraction, digits: int) -> Fraction:
    """Return the square root, rounded up at so many digits."""
    scale = 10 ** (2 * digits)
    return Fraction(math.isqrt(math.ceil(value * scale)) + 1, 10**digits)


def rounded(value: Fraction, places: int, to: Callable[[Fraction], int]) -> Fraction:
    """Return the value with so many significant places, rounded down (math.floor) or up (math.ceil)."""
    if not value:
        return value
    scale = Fraction(10) ** (places - math.floor(math.log10(abs(value.numerator)) - math.log10(value.denominator)))
    return Fraction(to(value * scale)) / scale
