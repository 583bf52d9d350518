"""Markets of many pools at once: an interior point method on products, then Newton's method on the prices.

In shares of the pool, with a[i, j] what user i takes of resource j for a dominant share of 1, and weights that add up
to 1, the equilibrium with equal incomes is

    x_i y_i = w_i                              what a user has, times what she pays for a unit of it
    y_i = sum_j a[i, j] p_j + v_i              her cost, and what her limit is worth to her
    p_j z_j = 0,   z_j = 1 - sum_i a[i, j] x_i
    v_i h_i = 0,   h_i = u_i - x_i             all letters >= 0

Linear equations and products, of which the first aim at the weights and the others at nothing.  Newton's method on
the products, with targets that go to these along the central path, needs one matrix of m x m a step, and as many steps
for one pool as for another.  Where the products are small, it is known which resources have a price; their clearing,
``sum_i a[i, j] x_i(p) = 1`` with ``x_i(p) = min(w_i / sum_j a[i, j] p_j, u_i)``, is solved for the prices then, so
that every user's own condition holds to rounding.

Source: Eisenberg and Gale, Annals of Mathematical Statistics 30, 1959; Potra, Weighted complementarity problems - a
new paradigm for computing equilibria, SIAM Journal on Optimization 22, 2012 (the first products and their targets).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .pools import Pools

__all__ = ["clear"]

STEPS = 40
"""Interior point steps; a pool that needs more is left to another method."""

POLISHES = 12
"""Newton steps on the prices, changes of mind about who has one included."""

ROUGH, CLOSE = 1e-6, 1e-13
"""Mean products, relative to all money, at which it is plain for nearly all pools, and for all others, which resources
have a price."""

AIM = 0.1
"""Part of these that is the least a product is aimed at."""

KEEP = 0.999
"""Part of the way to the boundary that a step goes at most."""

RIDGE = 1e-14
"""Added to a diagonal, relative to it: prices that are not unique stay where they are."""

ANCHOR = 1e-10
"""The same for the Newton steps on the prices, where rounding would else send such prices anywhere."""

SHUT = 1e-13
"""Excess, relative to the capacity, at which a resource without a price is full: some roundings."""

UNCLEAR = 1e-10
"""The same after which it was not plain which resources have a price: the certificate asks for ten times as much."""

FEW = 0.6
"""Part of a block that is not finished, below which the others are put aside."""


def clear(pools: Pools) -> tuple[np.ndarray, np.ndarray]:
    """Return tasks (n, size) and prices (m, size) of one unit of every resource; NaN where no equilibrium was found."""
    n, _, size = pools.demands.shape
    dominant, out = pools.dominant, pools.out
    weights = np.ones((n, 1)) if pools.weights is None else pools.weights[:, 0]
    weights = np.broadcast_to(weights, (n, size))
    if out is not None:
        weights = np.where(out, 0.0, weights)
        dominant = np.where(dominant > 0, dominant, 1.0)
    total = weights.sum(axis=0)
    scale = np.where(total > 0, total, 1.0)
    take = pools.shares / dominant[:, None]
    if out is not None:
        take[np.broadcast_to(out[:, None], take.shape)] = 0
    most = None
    if pools.limits is not None:
        most = pools.limits * dominant
        if out is not None:
            most = np.where(out, np.inf, most)
    market = _Market(take, weights / scale, most, out)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        prices, error = _polish(market, _interior(market, ROUGH))
        again = np.flatnonzero(~(error <= UNCLEAR))
        if again.size:
            rest = market.taken(again)
            prices[:, again], _ = _polish(rest, _interior(rest, CLOSE))
        amounts = market.response(prices)
        tasks = amounts / dominant
        if pools.limits is not None:
            np.copyto(tasks, pools.limits, where=amounts == most)
        if out is not None:
            tasks[out] = 0
        money = np.where(pools.capacity > 0, prices * scale / pools.capacity, 0.0)
    return tasks, money


@dataclass(frozen=True, eq=False)
class _Market:
    """A block of markets in scaled letters: a (n, m, size), w (n, size), limits u (n, size) and who is out, or None."""

    a: np.ndarray
    w: np.ndarray
    u: np.ndarray | None
    out: np.ndarray | None

    def cost(self, prices: np.ndarray) -> np.ndarray:
        """Return what a unit of each user costs, (n, size); 1 for who is out, so that her w / cost is 0."""
        cost = (self.a * prices).sum(axis=1)
        return cost if self.out is None else cost + self.out

    def response(self, prices: np.ndarray) -> np.ndarray:
        """Return what users want at the prices, (n, size)."""
        wish = self.w / self.cost(prices)
        return wish if self.u is None else np.minimum(wish, self.u)

    def kernel(self, d: np.ndarray) -> list[list[np.ndarray]]:
        """Return the lower triangle of ``sum_i d_i a_i a_i'``, row by row, of arrays (size,)."""
        rows = []
        for j in range(self.a.shape[1]):
            part = d * self.a[:, j]
            rows.append([(part * self.a[:, k]).sum(axis=0) for k in range(j + 1)])
        return rows

    def taken(self, lanes: np.ndarray) -> "_Market":
        """Return some of the markets."""
        u = None if self.u is None else self.u[:, lanes]
        out = None if self.out is None else self.out[:, lanes]
        return _Market(self.a[..., lanes], self.w[:, lanes], u, out)


def _interior(market: _Market, close: float) -> tuple[np.ndarray, np.ndarray]:
    """Return prices and what is left of each resource, (m, size) both, where all products are `close` to their aims."""
    _, m, size = market.a.shape
    prices, slack = np.empty((m, size)), np.empty((m, size))
    state = _State.start(market)
    places = np.arange(size)
    for _ in range(STEPS):
        # What is no number never becomes one, and goes no further.
        kept = np.flatnonzero(state.product() > close)
        if not kept.size:
            break
        if kept.size < FEW * places.size:
            prices[:, places], slack[:, places] = state.p, state.z
            state, places = state.taken(kept), places[kept]
        state = state.next(AIM * close)
    prices[:, places], slack[:, places] = state.p, state.z
    return prices, slack


@dataclass(eq=False)
class _State:
    """An iterate, in the letters of the docstring; v and h are None where there are no limits."""

    market: _Market
    x: np.ndarray
    p: np.ndarray
    z: np.ndarray
    v: Any = None
    h: Any = None

    @classmethod
    def start(cls, market: _Market) -> "_State":
        """Return a point at which the linear equations hold: half of the pool divided at equal prices."""
        _, m, size = market.a.shape
        p = np.full((m, size), 1 / m)
        x = np.where(market.w > 0, market.w, 1.0) / market.cost(p)
        if market.out is not None:
            x[market.out] = 0
        x /= 2 * np.maximum((market.a * x[:, None]).sum(axis=0).max(axis=0), 1)
        if market.u is None:
            return cls(market, x, p, 1 - (market.a * x[:, None]).sum(axis=0))
        x = np.minimum(x, market.u / 2)
        limited = np.isfinite(market.u)
        h = np.where(limited, market.u - x, 1.0)
        v = np.where(limited, market.w / (2 * x), 0.0)
        return cls(market, x, p, 1 - (market.a * x[:, None]).sum(axis=0), v, h)

    def __post_init__(self) -> None:
        self.y = self.market.cost(self.p)
        if self.v is not None:
            self.y = self.y + self.v

    def product(self) -> np.ndarray:
        """Return the mean of the products that go to zero, or the error of the others if that is more, (size,)."""
        mean, count = (self.p * self.z).sum(axis=0), float(len(self.p))
        if self.v is not None:
            mean = mean + (self.v * self.h).sum(axis=0)
            count = count + (self.v > 0).sum(axis=0)
        self.mean = mean / count
        return np.maximum(self.mean, np.abs(self.x * self.y - self.market.w).max(axis=0))

    def next(self, least: float) -> "_State":
        """Return the iterate after a predictor and a corrector, which aims at no product below the `least`."""
        slope = self.y if self.v is None else self.y + self.x * self.v / self.h
        factor = _factor(self.market.kernel(self.x / slope), self.z / self.p)
        wish, left = self.market.w - self.x * self.y, -self.p * self.z
        limit = None if self.v is None else -self.v * self.h
        aim = self._direction(factor, slope, wish, left, limit)
        far = self._length(aim)
        after = ((self.p + far * aim.p) * (self.z + far * aim.z)).sum(axis=0)
        count = float(len(self.p))
        if self.v is not None:
            after = after + ((self.v + far * aim.v) * (self.h - far * aim.x) * (self.v > 0)).sum(axis=0)
            count = count + (self.v > 0).sum(axis=0)
        # Products far below what is asked for help nobody, and their letters would drown in rounding.
        target = np.maximum(self.mean * np.minimum((after / count / self.mean) ** 3, 1.0), least)
        # Second-order terms count for as much of the way as could be gone: all of them would throw a short step off.
        part = far * far
        step = self._direction(
            factor,
            slope,
            wish - part * aim.x * aim.y,
            left - part * aim.p * aim.z + target,
            None if limit is None else np.where(self.v > 0, limit + part * aim.v * aim.x + target, 0.0),
        )
        far = np.minimum(KEEP * self._length(step), 1.0)
        return _State(
            self.market,
            self.x + far * step.x,
            self.p + far * step.p,
            self.z + far * step.z,
            None if self.v is None else self.v + far * step.v,
            None if self.h is None else np.where(self.v > 0, self.h - far * step.x, 1.0),
        )

    def _direction(
        self, factor: "_Factor", slope: np.ndarray, r1: np.ndarray, r2: np.ndarray, r3: np.ndarray | None
    ) -> "_Step":
        a = self.market.a
        if r3 is not None:
            r1 = r1 - self.x * r3 / self.h
        right = r2 / self.p + (a * (r1 / slope)[:, None]).sum(axis=0)
        p = factor.solve(right)
        cost = (a * p).sum(axis=1)
        x = (r1 - self.x * cost) / slope
        z = -(a * x[:, None]).sum(axis=0)
        if r3 is None:
            return _Step(x, cost, p, z, None)
        v = np.where(self.v > 0, (r3 + self.v * x) / self.h, 0.0)
        return _Step(x, cost + v, p, z, v)

    def _length(self, step: "_Step") -> np.ndarray:
        """Return how far a step may go before some letter is 0, (size,)."""
        # Who is out has 0 / 0, which fmax passes over.
        rate = np.fmax.reduce(np.fmax(-step.x / self.x, -step.y / self.y), axis=0)
        rate = np.fmax(rate, np.maximum(-step.p / self.p, -step.z / self.z).max(axis=0))
        if self.v is not None:
            rate = np.fmax(rate, np.where(self.v > 0, np.maximum(-step.v / self.v, step.x / self.h), 0).max(axis=0))
        return 1 / np.fmax(rate, 1.0)

    def taken(self, lanes: np.ndarray) -> "_State":
        """Return some of the iterates."""
        v, h = (None if letter is None else letter[:, lanes] for letter in (self.v, self.h))
        state = _State(self.market.taken(lanes), self.x[:, lanes], self.p[:, lanes], self.z[:, lanes], v, h)
        state.mean = self.mean[lanes]
        return state


@dataclass(eq=False)
class _Step:
    """A direction, in the letters of an iterate."""

    x: np.ndarray
    y: np.ndarray
    p: np.ndarray
    z: np.ndarray
    v: Any


class _Factor:
    """Cholesky factors of matrices m x m, one a pool: entries are arrays (size,)."""

    def __init__(self, rows: list[list[np.ndarray]]):
        self.rows: list[list[np.ndarray]] = []
        self.inverse: list[np.ndarray] = []
        for j, row in enumerate(rows):
            found: list[np.ndarray] = []
            for k in range(j):
                rest = row[k]
                for q in range(k):
                    rest = rest - found[q] * self.rows[k][q]
                found.append(rest * self.inverse[k])
            rest = row[j]
            for entry in found:
                rest = rest - entry * entry
            self.inverse.append(1 / np.sqrt(np.maximum(rest, RIDGE * row[j])))
            self.rows.append(found)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return the solutions of right-hand sides (m, size)."""
        found = np.empty_like(right)
        m = len(right)
        for j in range(m):
            rest = right[j]
            for k in range(j):
                rest = rest - self.rows[j][k] * found[k]
            np.multiply(rest, self.inverse[j], out=found[j])
        for j in reversed(range(m)):
            rest = found[j]
            for k in range(j + 1, m):
                rest = rest - self.rows[k][j] * found[k]
            np.multiply(rest, self.inverse[j], out=found[j])
        return found


def _factor(kernel: list[list[np.ndarray]], diagonal: np.ndarray) -> _Factor:
    for j, row in enumerate(kernel):
        row[j] = row[j] + diagonal[j]
    return _Factor(kernel)


def _polish(market: _Market, near: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return prices (m, size) at which those resources are used up that have one, and by how much they are not."""
    prices, slack = near
    size = prices.shape[1]
    found = np.full_like(prices, np.nan)
    places = np.arange(size)
    priced = prices > slack
    prices = np.where(priced, prices, 0.0)
    errors = np.full(size, np.inf)
    for _ in range(POLISHES):
        wish = market.w / market.cost(prices)
        free = np.ones_like(wish, dtype=bool) if market.u is None else wish < market.u
        x = wish if market.u is None else np.minimum(wish, market.u)
        left = 1 - (market.a * x[:, None]).sum(axis=0)
        error = np.where(priced, np.abs(left), np.maximum(-left, 0)).max(axis=0)
        better = error < errors[places]
        found[:, places[better]], errors[places[better]] = prices[:, better], error[better]
        kept = np.flatnonzero(error > SHUT)
        if not kept.size:
            break
        if kept.size < FEW * places.size:
            market, prices, priced, left = market.taken(kept), prices[:, kept], priced[:, kept], left[:, kept]
            x, free, places = x[:, kept], free[:, kept], places[kept]
        priced = priced | (left < -SHUT)
        kernel = market.kernel(np.where(free, x / market.cost(prices), 0.0))
        for j, row in enumerate(kernel):
            for k in range(j):
                row[k] = np.where(priced[j] & priced[k], row[k], 0.0)
            row[j] = np.where(priced[j] & (row[j] > 0), row[j] * (1 + ANCHOR), 1.0)
        change = _Factor(kernel).solve(np.where(priced, -left, 0.0))
        prices = prices + change
        worthless = priced & ~(prices > 0)
        priced = priced & ~worthless
        prices = np.where(priced, prices, 0.0)
    return found, errors
