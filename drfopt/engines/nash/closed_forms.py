"""The optimum of a market in a quadratic field: guessed from its digits, proven by the conditions of optimality."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ...base.numbers.surds import recognised
from .conditions import KKTEquations

if TYPE_CHECKING:
    from .conditions import Conditions

__all__ = ["closed_forms"]

FEW = 40
"""Pairs and prices up to which closed forms are looked for."""


MARGIN, DIGITS = 12, 60
"""Digits that Newton's method may have left open, and digits that are looked at: enough to believe a guess."""


def closed_forms(market: "Conditions", z: list[Fraction], p: list[Fraction]) -> dict[int, str]:
    """Return the optimum in a quadratic field by user, proven by the conditions of optimality; {} where none is.

    The numbers are guessed from their digits; the equations and inequalities are decided exactly.
    """
    if len(z) + len(p) > FEW:
        return {}
    guess = recognised([*z, *p], min(market.digits - MARGIN, DIGITS))
    if guess is None or not _optimal(market, guess[: len(z)], guess[len(z) :]):
        return {}
    return {int(market.problem.members[i]): str(x) for i, x in enumerate(market.sums(guess[: len(z)]))}


def _optimal(market: "Conditions", z: list[Any], p: list[Any]) -> bool:
    """Say whether tasks of the pairs and prices of the cells satisfy every condition, exactly."""
    if any(value.sign() for value in KKTEquations(market).residuals(z, p)) or min(v.sign() for v in z) <= 0:
        return False
    room = {(k, j): Fraction(0) + c for k, row in enumerate(market.room) for j, c in enumerate(row)}
    left: dict[tuple[int, int], Any] = dict(room)
    for q, (i, k) in enumerate(zip(market.user, market.machine, strict=True)):
        for j, d in enumerate(market.d[i]):
            left[k, j] = left[k, j] - z[q] * d
    zero = z[0] * 0
    conditions = [*p, *(zero + value for value in left.values())]
    for i, x in enumerate(market.sums(z)):
        costs = {
            k: sum((v * market.d[i][j] for (c, j), v in zip(market.cells, p, strict=True) if c == k), zero)
            for k in market.open[i]
        }
        marginal = market.w[i] * market.r[i] / (market.r[i] * x) ** market.alpha
        mine = costs[market.machine[market.mine[i][0]]]
        conditions += [cost - mine for cost in costs.values()]
        limit = market.u[i]
        conditions += [marginal - mine] if market.capped[i] else [zero + limit - x] if limit is not None else []
    return all(value.sign() >= 0 for value in conditions)
