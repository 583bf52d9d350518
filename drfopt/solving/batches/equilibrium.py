"""Equilibria of many pools at once: prices at which every resource that has one is used up.

An interior point method comes near; from there it is plain which resources have a price.  Their clearing,
``sum_i a[j, i] x_i(p) = 1`` with ``x_i(p) = min(w_i / sum_j a[j, i] p_j, u_i)``, is solved for the prices by Newton's
method, so that every user's own condition holds to rounding, whatever the prices.  Letters as in
`drfopt.solving.batches.markets`.
"""

import numpy as np

from .interior import near
from .markets import FEW, Factor, MarketBlock
from .pools import Pools, quiet

__all__ = ["clear"]

ROUGH = 1e-6
"""Mean product, relative to all money, at which it is plain for nearly all pools which resources have a price."""

CLOSE = 1e-13
"""The same for the others."""

STEPS = 12
"""Newton steps on the prices, changes of mind about who has one included."""

ANCHOR = 1e-10
"""Added to a diagonal, relative to it: rounding would else send prices that are not unique anywhere."""

SHUT = 1e-13
"""What is used too much, or left over, relative to the capacity, that counts as nothing: some roundings."""

UNCLEAR = 1e-10
"""The same after which it was not plain which resources have a price: the certificate lets ten times as much pass."""


@quiet()
def clear(pools: Pools) -> tuple[np.ndarray, np.ndarray]:
    """Return tasks (n, size) and prices (m, size) of one unit of every resource; NaN where no equilibrium was found."""
    dominant, out = pools.dominant, pools.out
    weights = np.broadcast_to(1.0 if pools.weights is None else pools.weights, dominant.shape)
    if out is not None:
        weights = np.where(out, 0.0, weights)
        dominant = np.where(dominant > 0, dominant, 1.0)
    money = weights.sum(axis=0)
    money[money == 0] = 1
    take = pools.shares / dominant
    most = None if pools.limits is None else pools.limits * dominant
    if out is not None:
        take[:, out] = 0
        most = None if most is None else np.where(out, np.inf, most)
    market = MarketBlock(take, weights / money, most, out)
    prices = _equilibrium(market)
    amounts = market.response(prices)
    tasks = amounts / dominant
    if pools.limits is not None:
        np.copyto(tasks, pools.limits, where=amounts == most)
    if out is not None:
        tasks[out] = 0
    return tasks, np.where(pools.capacity > 0, prices * money / pools.capacity, 0.0)


def _equilibrium(market: MarketBlock) -> np.ndarray:
    prices, error = _cleared(market, *near(market, ROUGH))
    again = np.flatnonzero(~(error <= UNCLEAR))
    if again.size:
        rest = market.taken(again)
        prices[:, again], _ = _cleared(rest, *near(rest, CLOSE))
    return prices


def _cleared(market: MarketBlock, prices: np.ndarray, priced: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return prices (m, size) near the given ones, and how far they are from clearing, (size,)."""
    found, errors = np.full_like(prices, np.nan), np.full(prices.shape[1], np.inf)
    places = np.arange(prices.shape[1])
    prices = np.where(priced, prices, 0.0)
    for _ in range(STEPS):
        cost = market.cost(prices)
        x = market.w / cost
        # Who is at her limit takes no more when prices fall.
        rise = x / cost if market.u is None else np.where(x < market.u, x / cost, 0.0)
        x = x if market.u is None else np.minimum(x, market.u)
        left = 1 - market.used(x)
        error = np.where(priced, np.abs(left), np.maximum(-left, 0)).max(axis=0)
        better = error < errors[places]
        found[:, places[better]], errors[places[better]] = prices[:, better], error[better]
        kept = np.flatnonzero(error > SHUT)
        if not kept.size:
            break
        if kept.size < FEW * places.size:
            market, places = market.taken(kept), places[kept]
            prices, priced, left, rise = prices[:, kept], priced[:, kept], left[:, kept], rise[:, kept]
        priced = priced | (left < -SHUT)
        prices = prices + _factor(market.kernel(rise), priced).solve(np.where(priced, -left, 0.0))
        # A price that would be negative is none; should its resource be used too much then, it has one again.
        priced &= prices > 0
        prices = np.where(priced, prices, 0.0)
    return found, errors


def _factor(kernel: list[list[np.ndarray]], priced: np.ndarray) -> Factor:
    """Return the factors of the rows and columns that are priced; the others are those of the identity."""
    for j, row in enumerate(kernel):
        for k in range(j):
            row[k] = np.where(priced[j] & priced[k], row[k], 0.0)
        row[j] = np.where(priced[j] & (row[j] > 0), row[j] * (1 + ANCHOR), 1.0)
    return Factor(kernel)
