"""The neighbourhood of many equilibria, by an interior point method: as many steps for one pool as for another.

All products of `drfopt.solving.batches.markets` go towards their aims at once, along the central path, by Newton's
method with a predictor and a corrector; the linear equations hold from the start.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .markets import FEW, Factor, MarketBlock

__all__ = ["near"]

STEPS = 40
"""A pool that needs more is left to another method."""

AIM = 0.1
"""Part of what is close enough that is the least a product is aimed at."""

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
    for _ in range(STEPS):
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
    """An iterate, in the letters of a market; v and h are None where there are no limits, 0 and 1 for who has none."""

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
        h = np.where(market.limited, market.u - x, 1.0)
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
        after = self._moved(aim, far).mean
        # Products far below what is asked for help nobody, and their letters would drown in rounding.
        target = np.maximum(self.mean * np.minimum((after / self.mean) ** 3, 1.0), least)
        # Second-order terms count for as much of the way as could be gone: all of them would throw a short step off.
        part = far * far
        wish, left = wish - part * aim.x * aim.y, left - part * aim.p * aim.z + target
        if limit is not None:
            limit = np.where(self.market.limited, limit + part * aim.v * aim.x + target, 0.0)
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
        v = np.where(market.limited, (r3 + self.v * x) / self.h, 0.0)
        return _Step(x, cost + v, p, z, v)

    def _length(self, step: "_Step") -> np.ndarray:
        """Return how far a step may go before some letter is 0, at most 1, (size,)."""
        # Who is out has 0 / 0, which fmax passes over.
        rate = np.fmax.reduce(np.fmax(-step.x / self.x, -step.y / self.y), axis=0)
        rate = np.fmax(rate, np.maximum(-step.p / self.p, -step.z / self.z).max(axis=0))
        if step.v is not None:
            limits = np.where(self.market.limited, np.maximum(-step.v / self.v, step.x / self.h), 0.0)
            rate = np.fmax(rate, limits.max(axis=0))
        return 1 / np.fmax(rate, 1.0)

    def _moved(self, step: "_Step", far: np.ndarray) -> "_State":
        """Return the iterate as far along a step."""
        x, p, z = self.x + far * step.x, self.p + far * step.p, self.z + far * step.z
        if step.v is None:
            return _State(self.market, x, p, z)
        h = np.where(self.market.limited, self.h - far * step.x, 1.0)
        return _State(self.market, x, p, z, self.v + far * step.v, h)


@dataclass(eq=False)
class _Step:
    """A direction, in the letters of an iterate; that of h is minus that of x."""

    x: np.ndarray
    y: np.ndarray
    p: np.ndarray
    z: np.ndarray
    v: Any = None
