"""The best misreport against a market in one pool, of any number of resources and with limits, for alpha >= 1.

What is to be had by some report is a program over prices (`option_set`); a solver proposes its optimum, the policy's
own outcome says what the report brings, and the bound says in fractions that no other brings more.

The most user i can get in a market, proposed in floats: the program of `option_set` in Clarabel's cones.

A price and a share with s^alpha q >= w^alpha lie in a power cone, and so do spending and price.  Nothing here is
believed: prices are rounded to fractions, and the bound at them is exact.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ...base.tolerances import CONIC
from ..case import AuditCase
from ..economy import Number, Row, below, exactly, high, low, times
from ..exact_market import clear
from . import misreports
from .misreports import Response, rescaled, worth
from .option_set import POWERS, SIMPLE, OptionMarket, bound, dot, market_of, rounded, sets, worth_of

__all__ = ["WITHIN", "best", "optima"]


def optima(market: OptionMarket, target: Fraction) -> list[tuple[float, Row]]:
    """Return value and prices (m,) of the program of every set of users at their limits, the best first, in floats."""
    found = []
    for at_limit in sets(market):
        solved = _solved(market, at_limit, float(target))
        if solved is not None:
            found.append(solved)
    return sorted(found, reverse=True)


def _solved(market: OptionMarket, at_limit: frozenset[int], target: float) -> tuple[float, Row] | None:
    """Return value and prices of one program by Clarabel; None where it has no solution or none is found."""
    import clarabel  # type: ignore[import-untyped]
    from scipy import sparse

    m, alpha = market.m, float(market.alpha)
    free = [k for k in range(len(market.others)) if k not in at_limit]
    # Columns: prices (m), v, shares of the free, what they spend where that is no constant.
    share_of = {k: m + 1 + f for f, k in enumerate(free)}
    spent_of = {k: m + 1 + len(free) + f for f, k in enumerate(free)} if alpha != 1 else {}
    width = m + 1 + len(free) + len(spent_of)
    rows: list[np.ndarray] = []
    constants: list[float] = []

    def add(constant: float, entries: dict[int, float]) -> None:
        row = np.zeros(width)
        for column, value in entries.items():
            row[column] = value
        rows.append(-row)
        constants.append(constant)

    def priced(k: int, factor: float = 1.0) -> dict[int, float]:
        return {j: factor * float(r) for j, r in enumerate(market.others[k].row)}

    limit = {k: float(other.limit) for k, other in enumerate(market.others) if other.limit is not None}
    income = [float(other.income) for other in market.others]
    for j in range(m):
        entries = {share_of[k]: -float(market.others[k].row[j]) for k in free} | {m: -float(market.mine[j])}
        add(1 - sum(limit[k] * float(market.others[k].row[j]) for k in at_limit), entries)
        add(0.0, {j: 1.0})
    mine = float(market.income) ** alpha * target ** (1 - alpha)
    budget = {j: -1 + sum(limit[k] * float(market.others[k].row[j]) for k in at_limit) for j in range(m)}
    fixed = mine + (sum(income[k] for k in free) if alpha == 1 else 0.0)
    add(fixed, budget | dict.fromkeys(spent_of.values(), 1.0))
    for k, most in limit.items():
        end, sign = (income[k] / most) ** alpha, 1 if k in at_limit else -1
        add(sign * end, priced(k, -sign))
    cones = [clarabel.NonnegativeConeT(len(rows))]
    for k in free:
        add(0.0, {share_of[k]: 1.0})
        add(0.0, priced(k))
        add(income[k] ** (alpha / (1 + alpha)), {})
        cones.append(clarabel.PowerConeT(alpha / (1 + alpha)))
    for k, column in spent_of.items():
        add(0.0, priced(k))
        add(1.0, {})
        add(0.0, {column: 1 / income[k]})
        cones.append(clarabel.PowerConeT(1 - 1 / alpha))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    # The bound is off by what its prices are off; it may stop before, almost there.
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = CONIC
    objective = np.zeros(width)
    objective[m] = -1.0
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((width, width)),
        objective,
        sparse.csc_matrix(np.array(rows)),
        np.array(constants),
        cones,
        settings,
    )
    answer = solver.solve()
    if str(answer.status) not in ("Solved", "AlmostSolved"):
        return None
    prices = tuple(Fraction(max(p, 0.0)) for p in answer.x[:m])
    return (float(answer.x[m]), prices) if any(prices) else None


WITHIN = Fraction(1, 10**6)
"""Relative gain that a bound may leave open: a hundred times what a certificate leaves open in the truth."""

LIMITED = 5
"""Users with limits up to which all sets of them are looked at."""

FREE = Fraction(1, 10**6)
"""Part of the largest price that is none: the solver's zero."""

HALVINGS = 30
"""Halvings of the interval in which the program is worth what it supposes."""


def best(case: AuditCase, i: int) -> Response:
    """Return user i's best response, or that none gains more than a bound leaves open."""
    case.deadline.check("the audit")
    truth, market = case.truth.tasks[i], market_of(case.cluster, i, case.policy.alpha)
    limit = case.cluster.limits[i]
    if market is None or not market.others or (limit is not None and low(truth) >= limit):
        return Response(None, None, truth)
    if limit is not None and limit <= low(truth) * (1 + WITHIN):
        # She is at it, as far as an enclosure can tell.
        return Response(None, None, truth, within=limit / low(truth) - 1)
    if sum(other.limit is not None for other in market.others) > LIMITED:
        return misreports.best(case, i)
    return _fractions(case, i, market) if case.policy.alpha == 1 else _powers(case, i, market)


def _fractions(case: AuditCase, i: int, market: OptionMarket) -> Response:
    """Return the best response under equal incomes: the optimum of the program is a report."""
    truth = case.truth.tasks[i]
    known = high(truth) * market.size
    prices, found = _prices(case, market), None
    if prices is not None and exactly(truth):
        proven = bound(market, [prices], known)
        if proven is not None and proven <= known:
            return Response(None, None, truth)
    points = [p for _, p in optima(market, known)]
    for p in points:
        for guess in rounded(p):
            left = market.left(guess)
            if left is not None and (found is None or worth_of(market, left) > worth_of(market, found) * (1 + POWERS)):
                found = left
    candidates = [*points, *([] if prices is None else [prices])]
    if found is not None and worth_of(market, found) > known * (1 + POWERS):
        report = _claiming(case, i, market, found)
        value, _ = worth(case, i, report)
        return Response(report, value, _most(case, i, market, candidates, worth_of(market, found), value))
    return _open(case, i, market, candidates)


def _powers(case: AuditCase, i: int, market: OptionMarket) -> Response:
    """Return a misreport under alpha > 1 that the program or trials propose, or what the program says of all."""
    truth = case.truth.tasks[i]
    known = low(truth) * market.size
    points = [p for _, p in optima(market, known * (1 + WITHIN))]
    response = _open(case, i, market, points)
    if response.decided:
        return response
    target, points = _fixed_point(market, known)
    found: Response | None = None
    for p in points:
        left = [1 - sum(float(r) * s for r, s in column) for column in _held(market, p)]
        if min(left) <= 0:
            continue
        report = _claiming(case, i, market, _needed(market, p, tuple(map(Fraction, left))))
        # A small claim is rounded in parts of its largest entry, which else would be nothing.
        unit = min(max(report), Fraction(1))
        for largest in SIMPLE[1:]:
            simple = tuple(unit * (r / unit).limit_denominator(largest) for r in report)
            value, _ = worth(case, i, simple)
            if below(truth, value) and (found is None or below(_plus(found.value), value)):
                found = Response(simple, value)
    most = _most(case, i, market, points, target * (1 + WITHIN), Fraction(0))
    if found is None or most is None or below(_plus(found.value), most):
        tried = misreports.best(case, i)
        if found is None or (tried.value is not None and below(found.value or truth, tried.value)):
            found = tried
    return found if found.report is None else replace(found, most=most)


def _needed(market: OptionMarket, prices: Row, left: Row) -> Row:
    """Return what is left of what has a price, and of all else what she needs: more would raise her share for nothing.

    Her claim spends w^alpha (its dominant share)^(1 - alpha), which is the less the larger that share is.
    """
    most, tasks = max(prices), worth_of(market, left)
    free = [p <= most * FREE for p in prices]
    return tuple(tasks * r if f else share for share, r, f in zip(left, market.mine, free, strict=True))


def _plus(value: Number | None) -> Number:
    """Return what is noticeably more."""
    return times(1 + 10 * WITHIN, value or Fraction(0))


def _fixed_point(market: OptionMarket, least: Fraction) -> tuple[Fraction, list[Row]]:
    """Return the v at which the program is worth v, and the prices there: it is worth less for a larger v."""
    upper, points = 1.0, []
    lower = float(least)
    for _ in range(HALVINGS):
        middle = (lower + upper) / 2
        found = optima(market, Fraction(middle))
        if found and found[0][0] >= middle:
            lower, points = middle, [p for _, p in found]
        else:
            upper = middle
    return Fraction(upper), points


def _held(market: OptionMarket, prices: Row) -> list[list[tuple[Fraction, float]]]:
    """Return, resource by resource, the others' rows and their dominant shares at prices, in floats."""
    shares = []
    for other in market.others:
        q = float(dot(prices, other.row))
        share = float(other.income) * q ** (-1 / float(market.alpha)) if q else math.inf
        shares.append(share if other.limit is None else min(share, float(other.limit)))
    return [[(other.row[j], s) for other, s in zip(market.others, shares, strict=True)] for j in range(market.m)]


def _claiming(case: AuditCase, i: int, market: OptionMarket, left: Row) -> Row:
    """Return the report in proportion to these shares."""
    bundle = [Fraction(0)] * case.cluster.m
    for j, share in zip(market.resources, left, strict=True):
        bundle[j] = share * case.cluster.pool[j]
    return rescaled(case, i, tuple(bundle))


def _most(
    case: AuditCase, i: int, market: OptionMarket, candidates: Sequence[Row], target: Fraction, value: Number
) -> Number | None:
    """Return the tasks that no report exceeds, given the value of one; None where nothing is proven."""
    proven = bound(market, candidates, target)
    return None if proven is None else case.limited(i, max(high(value), proven / market.size))


def _open(case: AuditCase, i: int, market: OptionMarket, candidates: Sequence[Row]) -> Response:
    """Return that nothing gains more than the bound leaves open, where that is next to nothing."""
    truth = case.truth.tasks[i]
    target = low(truth) * market.size * (1 + WITHIN)
    proven = bound(market, candidates, target) if market.alpha >= 1 else None
    if proven is None or proven > target:
        return Response(None, None, decided=False)
    return Response(None, None, truth, within=max(proven / (low(truth) * market.size) - 1, Fraction(0)))


def _prices(case: AuditCase, market: OptionMarket) -> Row | None:
    """Return the prices (m,) of the truth, of a whole resource each, where they are known exactly."""
    if case.policy.alpha != 1:
        return None
    found = clear(case.cluster).prices
    if not found or not all(map(exactly, found)):
        return None
    return tuple(low(found[j]) * case.cluster.pool[j] for j in market.resources)
