"""The best lie against a market in one pool, of any number of resources and with limits, for alpha >= 1.

What is to be had by some report is a program over prices (`option_set`); a solver proposes its optimum, the policy's
own outcome says what the report brings, and the bound says in fractions that no other brings more.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from ..bounds import Number, below, exactly, high, low, times
from ..case import Scene
from ..economy import Row
from ..exact_market import clear
from . import trials
from .cones import optima
from .misreport import Response, rescaled, worth
from .option_set import POWERS, SIMPLE, OptionMarket, bound, dot, market_of, rounded, worth_of

__all__ = ["WITHIN", "best"]

WITHIN = Fraction(1, 10**6)
"""Relative gain that a bound may leave open: a hundred times what a certificate leaves open in the truth."""

LIMITED = 5
"""Users with limits up to which all sets of them are looked at."""

HALVINGS = 30
"""Halvings of the interval in which the program is worth what it supposes."""


def best(scene: Scene, i: int) -> Response:
    """Return user i's best response, or that none gains more than a bound leaves open."""
    scene.deadline.check("the audit")
    truth, market = scene.truth.tasks[i], market_of(scene.cluster, i, scene.policy.alpha)
    limit = scene.cluster.limits[i]
    if market is None or not market.others or (limit is not None and low(truth) >= limit):
        return Response(None, None, truth)
    if sum(other.limit is not None for other in market.others) > LIMITED:
        return trials.best(scene, i)
    return _fractions(scene, i, market) if scene.policy.alpha == 1 else _powers(scene, i, market)


def _fractions(scene: Scene, i: int, market: OptionMarket) -> Response:
    """Return the best response under equal incomes: the optimum of the program is a report."""
    truth = scene.truth.tasks[i]
    known = high(truth) * market.size
    prices, found = _prices(scene, market), None
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
        report = _claiming(scene, i, market, found)
        value, _ = worth(scene, i, report)
        return Response(report, value, _most(scene, i, market, candidates, worth_of(market, found), value))
    return _open(scene, i, market, candidates)


def _powers(scene: Scene, i: int, market: OptionMarket) -> Response:
    """Return a lie under alpha > 1 that the program or trials propose, or what the program says of all lies."""
    truth = scene.truth.tasks[i]
    known = low(truth) * market.size
    points = [p for _, p in optima(market, known * (1 + WITHIN))]
    response = _open(scene, i, market, points)
    if response.decided:
        return response
    target, points = _fixed_point(market, known)
    found: Response | None = None
    for p in points:
        left = [1 - sum(float(r) * s for r, s in column) for column in _held(market, p)]
        if min(left) <= 0:
            continue
        report = _claiming(scene, i, market, tuple(map(Fraction, left)))
        for largest in SIMPLE[1:]:
            simple = tuple(r.limit_denominator(largest) for r in report)
            value, _ = worth(scene, i, simple)
            if below(truth, value) and (found is None or below(_plus(found.value), value)):
                found = Response(simple, value)
    most = _most(scene, i, market, points, target * (1 + WITHIN), Fraction(0))
    if found is None or most is None or below(_plus(found.value), most):
        tried = trials.best(scene, i)
        if found is None or (tried.value is not None and below(found.value or truth, tried.value)):
            found = tried
    return found if found.report is None else replace(found, most=most)


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


def _claiming(scene: Scene, i: int, market: OptionMarket, left: Row) -> Row:
    """Return the report in proportion to these shares."""
    bundle = [Fraction(0)] * scene.cluster.m
    for j, share in zip(market.resources, left, strict=True):
        bundle[j] = share * scene.cluster.pool[j]
    return rescaled(scene, i, tuple(bundle))


def _most(
    scene: Scene, i: int, market: OptionMarket, candidates: Sequence[Row], target: Fraction, value: Number
) -> Number | None:
    """Return the tasks that no report exceeds, given the value of one; None where nothing is proven."""
    proven = bound(market, candidates, target)
    return None if proven is None else scene.limited(i, max(high(value), proven / market.size))


def _open(scene: Scene, i: int, market: OptionMarket, candidates: Sequence[Row]) -> Response:
    """Return that nothing gains more than the bound leaves open, where that is next to nothing."""
    truth = scene.truth.tasks[i]
    target = low(truth) * market.size * (1 + WITHIN)
    proven = bound(market, candidates, target) if market.alpha >= 1 else None
    if proven is None or proven > target:
        return Response(None, None, decided=False)
    return Response(None, None, truth, within=max(proven / (low(truth) * market.size) - 1, Fraction(0)))


def _prices(scene: Scene, market: OptionMarket) -> Row | None:
    """Return the prices (m,) of the truth, of a whole resource each, where they are known exactly."""
    if scene.policy.alpha != 1:
        return None
    found = clear(scene.cluster).prices
    if not found or not all(map(exactly, found)):
        return None
    return tuple(low(found[j]) * scene.cluster.pool[j] for j in market.resources)
