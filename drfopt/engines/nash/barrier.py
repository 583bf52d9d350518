"""CEEI and alpha fairness by a primal-dual interior point method, for pools and machines.

Every iterate keeps capacities, limits and signs strictly; Mehrotra's predictor and corrector drive the products of
each inequality and its dual to a common, shrinking value (S. Wright, Primal-Dual Interior-Point Methods, SIAM 1997).
An iteration costs one small Cholesky factorisation over the rows, whatever the number of users.  The end is Newton on
the optimality conditions of the constraints found active.
"""

from dataclasses import dataclass

import numpy as np

from ...base.errors import SolverError
from ...base.progress import report
from ..problem import Answer, Problem
from ..symmetry import market_without_copies
from .conditions import sharpened
from .polish import polish
from .scaled_market import MarketPoint, Reduced, ScaledMarket

__all__ = ["solve"]

ITERATIONS = 200
CLOSE = 1e-9
"""Gap, relative to all money, at which the active constraints are told apart; below it, slacks drown in rounding."""

FASTEST = 1e-6
"""Largest fall of the products in one step; faster, and the next step starts too close to the boundary."""

RESOLVED = 1e-6
"""Smallest part of the mean that a user's money may be for her to be resolved; below it floats run out."""

IDLE = 1e-3
"""Part of what her tasks are worth to a user that she pays at least, unless her limit holds her."""

KEEP = 0.995
"""Part of the way to the boundary that a step takes."""


def solve(problem: Problem) -> Answer:
    """Return the optimum and its prices."""
    copies = None if problem.instance.machines is None else market_without_copies(problem)
    if copies is not None:
        smaller, split = copies
        return sharpened(problem, split(_solved(smaller)))
    return sharpened(problem, _solved(problem))


def _solved(problem: Problem) -> Answer:
    market = ScaledMarket(problem)
    with np.errstate(all="ignore"):
        start = _interior(market)
    # Only what is paid for prices is resolved; what limits are worth to those at them may be any amount more.
    return market.answer(polish(market, start, float(start.p @ (market.matrix @ start.v))))


def _interior(market: ScaledMarket) -> MarketPoint:
    """Return a point near the optimum, strictly inside every constraint."""
    state = _State.start(market)
    near: _State | None = None
    for iteration in range(ITERATIONS):
        gap, off = state.gap() / state.money(), state.residual()
        if not np.isfinite(gap + off):
            break
        report(f"iteration {iteration}: gap {gap:.1e}")
        market.problem.deadline.check("the interior point method", f"the gap was {gap:.1e}")
        if off <= np.sqrt(CLOSE):
            if gap <= CLOSE:
                return state.point()
            near = state
        state = state.next()
    # Rounding may stop it short of resolving the poorest; whether that is enough, the certificate decides.
    if near is None:
        raise SolverError("the interior point method did not converge: the levels differ too much for this policy")
    return near.point()


@dataclass(eq=False)
class _State:
    """An iterate: amounts v, marginal utilities y of the users, prices p, duals nu of limits and s of signs.

    The marginal utility is a variable of its own, tied to the amounts by ``y t^alpha = g``: then all the dual
    conditions are linear, and that one is a product like the others, only that its value stays: a Newton step from
    far away goes in the right direction.
    """

    market: ScaledMarket
    v: np.ndarray
    y: np.ndarray
    p: np.ndarray
    nu: np.ndarray
    s: np.ndarray

    @classmethod
    def start(cls, market: ScaledMarket) -> "_State":
        """Return a point that satisfies every condition but the products: prices so high that nobody would buy more."""
        v = market.spread.copy()
        limited = np.isfinite(market.u)
        prices = 1 / (1 - market.matrix @ v)
        dearest = 2 * float((market.g[market.user] / market.cost(prices)).max())
        p = dearest * prices
        nu = np.where(limited, float(np.mean(market.g)) / np.where(limited, market.u - 1, 1), 0.0)
        s = market.cost(p) + (nu - market.g)[market.user]
        return cls(market, v, market.g.copy(), p, nu, s)

    def __post_init__(self) -> None:
        market = self.market
        self.t = market.total(self.v)
        self.slack = 1 - market.matrix @ self.v
        self.limited = np.isfinite(market.u)
        self.h = np.where(self.limited, market.u - self.t, 1.0)
        self.count = len(self.v) + len(self.slack) + int(self.limited.sum())
        self.dual = (self.y - self.nu)[market.user] - market.cost(self.p) + self.s
        # To the power 1/a the tie is the product of y^(1/a) and t^(alpha/a): neither factor grows faster than linearly.
        a = max(market.alpha, 1.0)
        self.bend = a * np.expm1((np.log(market.g) - np.log(self.y) - market.alpha * np.log(self.t)) / a)

    def point(self) -> MarketPoint:
        """Return what the Newton steps start from."""
        return MarketPoint(self.v, self.p, self.nu)

    def gap(self) -> float:
        """Products of all inequalities and their duals, added up."""
        return float(self.s @ self.v + self.p @ self.slack + (self.nu * self.h)[self.limited].sum())

    def money(self) -> float:
        """What users pay for what they have, as if all paid as little as the poorest: she too is to be resolved."""
        worth = self.y * self.t
        paid = worth - self.nu * self.t
        # Whoever is held by her limit pays next to nothing, and nothing about her hangs on prices.
        paid = paid[paid > IDLE * worth]
        if not paid.size:
            return float(worth.sum())
        return max(float(paid.min()) * len(worth), RESOLVED * float(paid.sum()))

    def residual(self) -> float:
        """Largest relative error of the equations."""
        dual = np.abs(self.dual) / self.y[self.market.user]
        return max(float(dual.max()), float(np.abs(self.bend).max()))

    def next(self) -> "_State":
        """Return the iterate after a predictor and a corrector."""
        market = self.market
        reduced = Reduced(
            market, np.arange(len(self.p)), self.s / self.v, market.alpha * self.y / self.t + self.nu / self.h
        )
        aim = self._direction(reduced, self.bend, -self.s * self.v, -self.p * self.slack, -self.nu * self.h)
        primal, along = self._lengths(aim)
        mean = self.gap() / self.count
        after = self._moved(aim, primal, along)
        target = mean * min(max((after / (mean * self.count)) ** 3, FASTEST), 1.0)
        # Products far below what is asked for help nobody, and their slacks would drown before the equations hold.
        target = max(target, 0.1 * CLOSE * self.money() / self.count)
        # Second-order terms count for as much of the way to zero as could be gone, and will be.
        part = primal * along * max(1 - target / mean, 0.0) ** 2
        step = self._direction(
            reduced,
            self.bend - part * market.alpha / max(market.alpha, 1.0) * (aim.y / self.y) * (aim.t / self.t),
            target - self.s * self.v - part * aim.s * aim.v,
            target - self.p * self.slack + part * aim.p * (market.matrix @ aim.v),
            target - self.nu * self.h + part * aim.nu * aim.t,
        )
        primal, along = self._lengths(step)
        return _State(
            market,
            self.v + primal * step.v,
            self.y + along * step.y,
            self.p + along * step.p,
            self.nu + along * step.nu,
            self.s + along * step.s,
        )

    def _direction(self, reduced: Reduced, bend: np.ndarray, rs: np.ndarray, rp: np.ndarray, rn: np.ndarray) -> "_Step":
        market = self.market
        users = self.y * bend - np.where(self.limited, rn / self.h, 0.0)
        right = self.dual + users[market.user] + rs / self.v - market.cost(rp / self.slack)
        v, t, prices = reduced.solve(self.slack / self.p, right, np.zeros(len(self.p)))
        return _Step(
            v=v,
            t=t,
            y=self.y * (bend - market.alpha * t / self.t),
            p=rp / self.slack + prices,
            nu=np.where(self.limited, (rn + self.nu * t) / self.h, 0.0),
            s=(rs - self.s * v) / self.v,
        )

    def _moved(self, step: "_Step", primal: float, along: float) -> float:
        """Return the gap after a step."""
        slack = self.slack - primal * (self.market.matrix @ step.v)
        limits = (self.nu + along * step.nu) * (self.h - primal * step.t)
        pairs = (self.s + along * step.s) @ (self.v + primal * step.v)
        return float(pairs + (self.p + along * step.p) @ slack + limits[self.limited].sum())

    def _lengths(self, step: "_Step") -> tuple[float, float]:
        """Return how far amounts, and how far duals, go along a step."""
        limited = self.limited
        primal = min(
            _room(self.v, step.v),
            _room(self.slack, -(self.market.matrix @ step.v)),
            _room(self.h[limited], -step.t[limited]),
        )
        along = min(
            _room(self.y, step.y),
            _room(self.p, step.p),
            _room(self.nu[limited], step.nu[limited]),
            _room(self.s, step.s),
        )
        return min(1.0, KEEP * primal), min(1.0, KEEP * along)


@dataclass(eq=False)
class _Step:
    """A direction, in the letters of an iterate."""

    v: np.ndarray
    t: np.ndarray
    y: np.ndarray
    p: np.ndarray
    nu: np.ndarray
    s: np.ndarray


def _room(values: np.ndarray, change: np.ndarray) -> float:
    falling = change < 0
    return float((-values[falling] / change[falling]).min(initial=np.inf))
