"""CEEI and alpha fairness between fractions: Newton to many digits, then bounds that need no digits at all.

The float engine tells which pairs (user, class) are used, which rows have a price and who is at her limit.  Given
those, the conditions of optimality are equations in the tasks z of the pairs and the prices p of the rows:

    sum_j p_kj d_ij          =  m_i(x_i)     i below her limit, (i, k) used; m_i = w_i r_i (r_i x_i)^-alpha
    sum_j (p_kj - p_lj) d_ij =  0            i at her limit, (i, k) and (i, l) used
    sum_k z_ik               =  u_i          i at her limit
    sum_i d_ij z_ik          =  c_kj         (k, j) has a price

Their residuals are computed in decimals of as many digits as are needed, the corrections by one factorisation of the
Jacobian in floats: every step adds some ten digits.  A tiny diagonal lets prices and placements stay where they are
when the equations leave them open.

Where no float engine sees them rightly, or answers at all, `decimal_program` goes on until the enclosures are narrow.

What is proven does not depend on any of that.  With a possible allocation x, prices p >= 0 and q_i the price of a task,
the optimum x* satisfies  sum_i loss_i(x*_i)  <=  sum_i m_i(x_i) (x*_i - x_i)  <=  gain, where loss_i is what the
tangent at x_i overestimates her utility by, and ``gain`` adds up money not spent and what prices miss of the m_i.  So
x*_i lies where loss_i is at most the gain: an interval whose width is the square root of what Newton left.

The optimum of a market in a quadratic field: guessed from its digits, proven by the conditions of optimality.
"""

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ...base.errors import SolverError, TimeLimitError
from ...base.numbers.surds import recognised
from ...model.evidence import PriceEvidence
from ..problem import Answer, Problem
from ..registry import engines_for
from .conditions import Conditions, KKTEquations, check_roots
from .decimal_program import FewDigits, optimum

__all__ = ["closed_forms", "solve"]


if TYPE_CHECKING:
    from .conditions import Conditions


FEW = 40
"""Pairs and prices up to which closed forms are looked for."""


MARGIN, DIGITS = 12, 60
"""Digits that Newton's method may have left open, and digits that are looked at: enough to believe a guess."""


def closed_forms(market: "Conditions", z: list[Fraction], p: list[Fraction]) -> dict[int, str]:
    """Return the optimum in a quadratic field by user, proven by the conditions of optimality; {} where none is.

    The numbers are guessed from their digits; the equations and inequalities are decided exactly.
    """
    if len(z) + len(p) > FEW or isinstance(market.alpha, Fraction):
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


DECIMALS = "decimal-barrier"
"""The engine whose start is the optimum already."""


def solve(problem: Problem) -> Answer:
    """Return `Fraction`s where the optimum is proven to be rational, else `Enclosure`s as narrow as asked for."""
    check_roots(problem.policy)
    floats = Problem(problem.instance, problem.policy, False, problem.deadline)
    failure: SolverError | None = None
    # Which pairs, rows and limits are active is read from floats; decimals need no guess.
    for engine in engines_for(floats):
        try:
            if engine.name == DECIMALS:
                found = _from_decimals(problem)
            else:
                market = Conditions.of(problem, engine.solve(floats))
                found = _proven(market, *market.newton())
        except TimeLimitError:
            raise
        except SolverError as error:
            failure = failure or error
        else:
            proof = found.evidence
            return replace(
                found, evidence=replace(proof, start=engine.name) if isinstance(proof, PriceEvidence) else proof
            )
    raise failure or SolverError(f"no engine gave a start of {problem.policy.name}")


def _proven(market: Conditions, z: list[Fraction], p: list[Fraction]) -> Answer:
    return market.rational(market.sums(z)) or market.enclosures(z, p, closed_forms(market, z, p))


def _from_decimals(problem: Problem) -> Answer:
    """Return the answer of a start in decimals; with more of them where limits that are just reached take digits."""
    market = Conditions(problem)
    try:
        return _settled(market)
    except FewDigits:
        market.digits *= 2
        return _settled(market)


def _settled(market: Conditions) -> Answer:
    found = optimum(market.in_decimals(), market.digits)
    try:
        return _proven(market, *market.settled(found))
    except TimeLimitError:
        raise
    except SolverError as error:
        raise FewDigits(str(error)) from error
