"""Equilibria of many pools at once: prices at which every resource that has one is used up.

An interior point method comes near; from there it is plain which resources have a price.  Their clearing,
``sum_i a[j, i] x_i(p) = 1`` with ``x_i(p) = min(w_i / sum_j a[j, i] p_j, u_i)``, is solved for the prices by Newton's
method, so that every user's own condition holds to rounding, whatever the prices.  Letters as in
`drfopt.solving.batches.markets`.

The neighbourhood of many equilibria, by an interior point method: as many steps for one pool as for another.

All products of `drfopt.solving.batches.markets` go towards their aims at once, along the central path, by Newton's
method with a predictor and a corrector; the linear equations hold from the start.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .markets import FEW, Factor, MarketBlock
from .pools import Pools, quiet

__all__ = ["clear", "near"]


INTERIOR_STEPS = 40
"""A pool that needs more is left to another method."""

AIM = 0.1
"""Part of what is close enough that is the least a product is aimed at."""

UNLIMITED = 1e300
"""Room of who has no limit: nothing that is divided by it is anything."""

KEEP = 0.999
"""Part of the way to the boundary that a step goes at most."""


def near(market: MarketBlock, close: float) -> tuple[np.ndarray, np.ndarray]:
    """Return prices and who of the resources has one, (m, size) both, where all products are `close` to their aims.

    Close is relative to what all users have on average, or to what the poorest has if that is less.
    """
    m, _, size = market.a.shape
    prices, priced = np.empty((m, size)), np.empty((m, size), dtype=bool)
    state = _State.start(market)
    places = np.arange(size)
    for _ in range(INTERIOR_STEPS):
        # What is no number never becomes one, and goes no further.
        enough = close * state.market.poorest
        kept = np.flatnonzero(state.error() > enough)
        if not kept.size:
            break
        if kept.size < FEW * places.size:
            prices[:, places], priced[:, places] = state.p, state.priced()
            state, places, enough = state.taken(kept), places[kept], enough[kept]
        state = state.next(AIM * enough)
    prices[:, places], priced[:, places] = state.p, state.priced()
    return prices, priced


@dataclass(eq=False)
class _State:
    """An iterate, in the letters of a market; v and h are None without limits, 0 and `UNLIMITED` for who has none."""

    market: MarketBlock
    x: np.ndarray
    p: np.ndarray
    z: np.ndarray
    v: Any = None
    h: Any = None

    @classmethod
    def start(cls, market: MarketBlock) -> "_State":
        """Return a point at which the linear equations hold: half of the pool divided at equal prices."""
        m, _, size = market.a.shape
        p = np.full((m, size), 1 / m)
        x = np.where(market.w > 0, market.w, 1.0) / market.cost(p)
        if market.out is not None:
            x[market.out] = 0
        x /= 2 * np.maximum(market.used(x).max(axis=0), 1)
        if market.u is None:
            return cls(market, x, p, 1 - market.used(x))
        x = np.minimum(x, market.u / 2)
        h = np.where(market.limited, market.u - x, UNLIMITED)
        v = np.where(market.limited, market.w / (2 * x), 0.0)
        return cls(market, x, p, 1 - market.used(x), v, h)

    def __post_init__(self) -> None:
        self.y = self.market.cost(self.p)
        money = (self.p * self.z).sum(axis=0)
        if self.v is not None:
            self.y += self.v
            money += (self.v * self.h).sum(axis=0)
        self.mean = money / self.market.products

    def error(self) -> np.ndarray:
        """Return the mean of the products that go to zero, or how far another is from its aim if that is more."""
        return np.maximum(self.mean, np.abs(self.x * self.y - self.market.w).max(axis=0))

    def priced(self) -> np.ndarray:
        """Say which resources are nearer to having a price than to being left over, (m, size).

        Of what somebody pays, a resource may be a part that is nothing to all others.
        """
        part = self.p * (self.market.a / self.y).max(axis=1)
        return part > self.z

    def next(self, least: np.ndarray) -> "_State":
        """Return the iterate after a predictor and a corrector, which aims at no product below the `least`."""
        slope = self.y if self.v is None else self.y + self.x * self.v / self.h
        factor = self._factor(slope)
        wish, left = self.market.w - self.x * self.y, -self.p * self.z
        limit = None if self.v is None else -self.v * self.h
        aim = self._direction(factor, slope, wish, left, limit)
        far = self._length(aim)
        after = ((self.p + far * aim.p) * (self.z + far * aim.z)).sum(axis=0)
        if limit is not None:
            after += ((self.v + far * aim.v) * (self.h - far * aim.x)).sum(axis=0)
        after /= self.market.products
        # Products far below what is asked for help nobody, and their letters would drown in rounding.
        target = np.maximum(self.mean * np.minimum((after / self.mean) ** 3, 1.0), least)
        # Second-order terms count for as much of the way as could be gone: all of them would throw a short step off.
        part = far * far
        wish, left = wish - part * aim.x * aim.y, left - part * aim.p * aim.z + target
        if limit is not None:
            limit = (limit + part * aim.v * aim.x + target) * self.market.limited
        step = self._direction(factor, slope, wish, left, limit)
        return self._moved(step, KEEP * self._length(step))

    def taken(self, lanes: np.ndarray) -> "_State":
        """Return some of the iterates."""
        v, h = (None if letter is None else letter[:, lanes] for letter in (self.v, self.h))
        return _State(self.market.taken(lanes), self.x[:, lanes], self.p[:, lanes], self.z[:, lanes], v, h)

    def _factor(self, slope: np.ndarray) -> Factor:
        kernel, diagonal = self.market.kernel(self.x / slope), self.z / self.p
        for j, row in enumerate(kernel):
            row[j] += diagonal[j]
        return Factor(kernel)

    def _direction(self, factor: Factor, slope: np.ndarray, r1: np.ndarray, r2: np.ndarray, r3: Any) -> "_Step":
        """Return the step that changes the products by r1 (x y), r2 (p z) and r3 (v h), but for terms of second order.

        Eliminated one by one, x, y, z and v leave a matrix over the prices.
        """
        market = self.market
        if r3 is not None:
            r1 = r1 - self.x * r3 / self.h
        p = factor.solve(r2 / self.p + market.used(r1 / slope))
        cost = market.worth(p)
        x = (r1 - self.x * cost) / slope
        z = -market.used(x)
        if r3 is None:
            return _Step(x, cost, p, z)
        v = (r3 + self.v * x) / self.h
        return _Step(x, cost + v, p, z, v)

    def _length(self, step: "_Step") -> np.ndarray:
        """Return how far a step may go before some letter is 0, at most 1, (size,)."""
        # Who is out, or has no limit, has 0 / 0, which fmax passes over.
        rate = np.fmax.reduce(np.fmax(-step.x / self.x, -step.y / self.y), axis=0)
        rate = np.fmax(rate, np.maximum(-step.p / self.p, -step.z / self.z).max(axis=0))
        if step.v is not None:
            rate = np.fmax(rate, np.fmax.reduce(np.fmax(-step.v / self.v, step.x / self.h), axis=0))
        return 1 / np.fmax(rate, 1.0)

    def _moved(self, step: "_Step", far: np.ndarray) -> "_State":
        """Return the iterate as far along a step."""
        x, p, z = self.x + far * step.x, self.p + far * step.p, self.z + far * step.z
        if step.v is None:
            return _State(self.market, x, p, z)
        return _State(self.market, x, p, z, self.v + far * step.v, self.h - far * step.x)


@dataclass(eq=False)
class _Step:
    """A direction, in the letters of an iterate; that of h is minus that of x."""

    x: np.ndarray
    y: np.ndarray
    p: np.ndarray
    z: np.ndarray
    v: Any = None


ROUGH = 1e-4
"""Mean product, relative to all money, at which it is plain for nearly all pools which resources have a price."""

ROUGH_LIMITS = 1e-5
"""The same where it has to be plain who is at its limit."""

CLOSE = 1e-13
"""The same for the others."""

STEPS = 12
"""Newton steps on the prices, changes of mind about who has one included."""

ANCHOR = 1e-10
"""Added to a diagonal, relative to it: rounding would else send prices that are not unique anywhere."""

SHUT = 1e-13
"""What is used too much, or left over, relative to the capacity, that counts as nothing: some roundings."""

UNSETTLED = 1e-12
"""The same after which it was not plain which resources have a price; they are looked for again from nearer by."""


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
    prices, error = _cleared(market, *near(market, ROUGH if market.u is None else ROUGH_LIMITS))
    again = np.flatnonzero(~(error <= UNSETTLED))
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
        back = ~better
        if kept.size < FEW * places.size:
            market, places = market.taken(kept), places[kept]
            prices, priced, left, rise, back = (
                prices[:, kept],
                priced[:, kept],
                left[:, kept],
                rise[:, kept],
                back[kept],
            )
        priced = priced | (left < -SHUT)
        old = prices
        prices = prices + _factor(market.kernel(rise), priced).solve(np.where(priced, -left, 0.0))
        # A price that would be negative is none; should its resource be used too much then, it has one again.
        gone = priced & (prices <= 0)
        priced &= ~gone
        some = np.flatnonzero(gone.any(axis=0))
        if some.size:
            # The others have to know: what those that are gone leave is for them to fill.
            rest, bend, free = market.taken(some), rise[:, some], priced[:, some]
            fall = np.where(gone[:, some], -old[:, some], 0.0)
            missed = -left[:, some] - rest.used(bend * rest.worth(fall))
            step = _factor(rest.kernel(bend), free).solve(np.where(free, missed, 0.0))
            prices[:, some] = np.maximum(old[:, some] + step, 0.0)
        if market.u is not None and back.any():
            # Beyond a limit that was met on the way the step was too long: half of it is tried.
            prices[:, back] = (found[:, places[back]] + old[:, back]) / 2
            priced[:, back] |= prices[:, back] > 0
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
