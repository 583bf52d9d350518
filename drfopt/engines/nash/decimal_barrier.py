"""CEEI and alpha fairness by the interior point method in decimals: for markets whose users differ by more than floats.

The method of `barrier`, in the units of the instance and to as many digits as are asked for.  Nothing is guessed about
which constraints are active: where users pay 10^-12 of what others do, or a limit binds exactly at the optimum, floats
guess wrong.  The products of all inequalities and their duals go down together until they are 10^-digits of what the
poorest user's tasks are worth to it; what is smaller than that in a user's amounts, or in the prices, is then nothing.

    y_i - nu_i - sum_j d_ij p_kj + s_ik = 0       (i, k) on which a task fits; s_ik v_ik   -> 0
    y_i t_i^alpha                       = g_i     t_i = sum_k v_ik, g_i = w_i r_i^(1 - alpha)
    sum_i d_ij v_ik + slack_kj          = c_kj    p_kj slack_kj -> 0
    t_i + h_i                           = u_i     nu_i h_i      -> 0
"""

import decimal
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ...base.errors import SolverError
from ...base.progress import report
from ..problem import Answer, Problem
from .conditions import Conditions, MarketOptimum

__all__ = ["FewDigits", "optimum", "solve"]

DIGITS = 40
"""Digits of the products for an answer in floats: what holds exactly at the optimum is known to half of them."""

SPARE = 3
"""Times the digits of the products that are computed at first."""

LOST = Decimal("1e-9")
"""Part of the products that rounding may be: above it, twice the digits are computed from there on."""

MOST = 4
"""Times the digits at first that are computed at last: an exponent of a hundred would ask for more without end."""

IDLE = 10
"""Iterations in which the products did not fall by half, after which rounding is blamed too."""

TIED: Any = Decimal(1)
"""Error of the equations of y and t above which products need not fall."""

ITERATIONS = 1000
"""Some hundred suffice where several constraints are met exactly at no price, and the products fall slowly.

With more digits than at first there are as many fewer.
"""

FASTEST = Decimal("1e-8")
"""Largest fall of the products in one step: faster, and the next step starts too close to the boundary."""

KEEP = Decimal("0.995")
"""Part of the way to the boundary that a step takes."""

NONE: Any = Decimal(0)
ONE: Any = Decimal(1)


def solve(problem: Problem) -> Answer:
    """Return the optimum and its prices, rounded to floats; the optimum is the evidence."""
    market = Conditions(problem)
    try:
        return market.pointed(*market.settled(optimum(market, DIGITS)))
    except OverflowError:
        raise SolverError(f"the prices of {problem.policy.name} are beyond the range of floats") from None


class FewDigits(SolverError):
    """The method came near the optimum, where rounding stopped it: with more digits it goes on."""


def optimum(market: Conditions, digits: int) -> MarketOptimum:
    """Return the optimum where the products are 10^-digits of what the poorest user's tasks are worth to it.

    Raises
    ------
    SolverError
        When the products do not get there.
    """
    with decimal.localcontext() as context:
        context.prec = SPARE * digits
        context.Emin, context.Emax = decimal.MIN_EMIN, decimal.MAX_EMAX
        space = _Space(market)
        state = _State.start(space)
        least, best, idle, work = ONE.scaleb(-digits), state.gap(), 0, 0
        for iteration in range(ITERATIONS):
            work += context.prec
            off = state.off()
            report(f"iteration {iteration}: gap {off:.1e}")
            market.problem.deadline.check("the interior point method in decimals", f"the gap was {off:.1e}")
            if off <= least:
                return state.ended(least)
            gap = state.gap()
            # While y and t are far from each other the products may rise: that is no rounding.
            best, idle = (gap, 0) if gap < best / 2 or state.tie() > TIED else (best, idle + 1)
            if state.rounding() > LOST * gap or idle > IDLE:
                if context.prec >= MOST * SPARE * digits:
                    break
                context.prec, idle = 2 * context.prec, 0
                state = _State(space, state.v, state.y, state.p, state.nu, state.s - state.dual)
            if work > ITERATIONS * SPARE * digits:
                break
            state = state.next(least)
    failure = FewDigits if off < ONE else SolverError
    raise failure(f"the interior point method in decimals did not converge: the gap was {off:.1e}")


class _Space:
    """The numbers of a market in decimals: pairs q, rows r = (class, resource) that somebody enters, users i."""

    def __init__(self, market: Conditions):
        problem = market.problem
        user, machine = problem.pairs
        self.user, self.n = user, market.n
        self.alpha = _decimal(Fraction(str(problem.policy.alpha)))
        self.power = max(self.alpha, ONE)
        pairs = list(zip(user.tolist(), machine.tolist(), strict=True))
        self.cells = sorted({(k, j) for i, k in pairs for j, d in enumerate(market.d[i]) if d})
        row = {cell: r for r, cell in enumerate(self.cells)}
        self.matrix = np.full((len(self.cells), len(pairs)), NONE, dtype=object)
        for q, (i, k) in enumerate(pairs):
            for j, d in enumerate(market.d[i]):
                if d:
                    self.matrix[row[k, j], q] = _decimal(d / market.room[k][j])
        self.entering = [np.flatnonzero(line) for line in self.matrix.astype(bool)]
        self.room = [market.room[k][j] for k, j in self.cells]
        self.g = np.array(
            [
                _decimal(w * r) / _decimal(r) ** self.alpha if self.alpha != 1 else _decimal(w)
                for w, r in zip(market.w, market.r, strict=True)
            ],
            dtype=object,
        )
        self.rate = np.array([_decimal(w / r) for w, r in zip(market.w, market.r, strict=True)], dtype=object)
        self.limited = np.array([u is not None for u in market.u])
        self.u = np.array([ONE if u is None else _decimal(u) for u in market.u], dtype=object)

    def total(self, values: np.ndarray) -> np.ndarray:
        """Add up each user's pairs, (n,)."""
        found = np.full(self.n, NONE, dtype=object)
        np.add.at(found, self.user, values)
        return found

    def used(self, v: np.ndarray) -> np.ndarray:
        """Return what part of each row amounts fill, (rows,)."""
        return np.array([line[at] @ v[at] for line, at in zip(self.matrix, self.entering, strict=True)], dtype=object)

    def cost(self, p: np.ndarray) -> np.ndarray:
        """Return what one task of each pair costs at prices of whole rows, (pairs,)."""
        found = np.full(len(self.user), NONE, dtype=object)
        for line, at, price in zip(self.matrix, self.entering, p, strict=True):
            found[at] += line[at] * price
        return found


@dataclass(eq=False)
class _State:
    """An iterate, in the letters of the module's first lines; p and slack are of whole rows."""

    space: _Space
    v: np.ndarray
    y: np.ndarray
    p: np.ndarray
    nu: np.ndarray
    s: np.ndarray

    @classmethod
    def start(cls, space: _Space) -> "_State":
        """Return a point inside every inequality: prices so high that nobody would buy more."""
        spread = np.array([ONE / line.max() for line in space.matrix.T], dtype=object)
        spread /= space.total(spread)[space.user]
        share = spread * space.rate[space.user]
        tasks = space.rate / (2 * space.used(share).max())
        tasks = np.where(space.limited, np.minimum(tasks, space.u / 2), tasks)
        v = spread * tasks[space.user]
        y = space.g / tasks**space.alpha
        prices = ONE / (ONE - space.used(v))
        p = prices * (2 * (y[space.user] / space.cost(prices)).max())
        worth = sum(y * tasks) / space.n
        nu = np.where(space.limited, worth / np.where(space.limited, space.u - tasks, ONE), NONE)
        return cls(space, v, y, p, nu, space.cost(p) + (nu - y)[space.user])

    def __post_init__(self) -> None:
        space = self.space
        self.t = space.total(self.v)
        self.slack = ONE - space.used(self.v)
        self.h = np.where(space.limited, space.u - self.t, ONE)
        self.count = len(self.v) + len(self.p) + int(space.limited.sum())
        self.dual = (self.y - self.nu)[space.user] - space.cost(self.p) + self.s
        ratio = space.g / (self.y * self.t**space.alpha)
        # As a product of powers of y and t of which neither grows faster than linearly, as in `barrier`.
        self.bend = space.power * (ratio ** (ONE / space.power) - ONE) if space.power != 1 else ratio - ONE

    def gap(self) -> Decimal:
        """Products of all inequalities and their duals, added up."""
        return self.s @ self.v + self.p @ self.slack + self.nu @ (self.h * self.space.limited)

    def off(self) -> Decimal:
        """Return the gap, relative to what the poorest user's tasks are worth to it, or the worst tie of y and t."""
        return max(self.gap() / min(self.y * self.t), self.tie())

    def tie(self) -> Decimal:
        """Return the worst error of y t^alpha = g, as `bend` measures it."""
        return max(abs(self.bend))

    def rounding(self) -> Decimal:
        """Return what the linear equations miss, which but for rounding is nothing, in money."""
        return abs(self.dual) @ self.v

    def ended(self, least: Decimal) -> MarketOptimum:
        """Return the iterate without what is nothing."""
        space = self.space
        poorest = min(self.y * self.t)
        amounts = np.where(self.v * self.y[space.user] > poorest * least, self.v, NONE)
        capped = space.limited & (self.nu * self.t > self.h * self.y)
        prices = {
            cell: Fraction(p) / room
            for cell, p, slack, room in zip(space.cells, self.p, self.slack, space.room, strict=True)
            if p > poorest * slack
        }
        return MarketOptimum([Fraction(x) for x in amounts], prices, capped.tolist())

    def next(self, least: Decimal) -> "_State":
        """Return the iterate after a predictor and a corrector."""
        space = self.space
        solver = self._factored()
        aim = self._direction(solver, self.bend, -self.s * self.v, -self.p * self.slack, -self.nu * self.h)
        primal, along = self._lengths(aim)
        gap = self.gap()
        mean = gap / self.count
        after = self._moved(aim, primal, along)
        target = mean * min(max((after / gap) ** 3, FASTEST), ONE)
        # Products far below what is asked for help nobody.
        target = max(target, least * min(self.y * self.t) / self.count / 10)
        # Second-order terms count for as much of the way to zero as could be gone, and will be.
        part = primal * along * max(1 - target / mean, NONE) ** 2
        step = self._direction(
            solver,
            self.bend - part * space.alpha / space.power * (aim.y / self.y) * (aim.t / self.t),
            target - self.s * self.v - part * aim.s * aim.v,
            target - self.p * self.slack + part * aim.p * space.used(aim.v),
            target - self.nu * self.h + part * aim.nu * aim.t,
        )
        primal, along = self._lengths(step)
        return _State(
            space,
            self.v + primal * step.v,
            self.y + along * step.y,
            self.p + along * step.p,
            self.nu + along * step.nu,
            self.s + along * step.s,
        )

    def _factored(self) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """Return the solver of  (D + E' b E) v + A' y = right,  A v - (slack / p) y = 0  for v and y."""
        space = self.space
        inverse = self.v / self.s
        b = space.alpha * self.y / self.t + np.where(space.limited, self.nu / self.h, NONE)
        bent = b / (1 + b * space.total(inverse))

        def apply(right: np.ndarray) -> np.ndarray:
            return inverse * (right - (bent * space.total(inverse * right))[space.user])

        rows = len(self.p)
        kernel = np.full((rows, rows), NONE, dtype=object)
        held = [np.full(space.n, NONE, dtype=object) for _ in range(rows)]
        for r, at in enumerate(space.entering):
            np.add.at(held[r], space.user[at], space.matrix[r, at] * inverse[at])
        for r, at in enumerate(space.entering):
            line = space.matrix[r, at] * inverse[at]
            mine = bent * held[r]
            for c in range(r + 1):
                kernel[r, c] = kernel[c, r] = line @ space.matrix[c, at] - mine @ held[c]
            kernel[r, r] += self.slack[r] / self.p[r]
        lower = _cholesky(kernel)

        def solved(right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            y = _substituted(lower, space.used(apply(right)))
            return apply(right - space.cost(y)), y

        return solved

    def _direction(self, solver: Callable, bend: np.ndarray, rs: np.ndarray, rp: np.ndarray, rn: np.ndarray) -> "_Step":
        space = self.space
        users = self.y * bend - np.where(space.limited, rn / self.h, NONE)
        right = self.dual + users[space.user] + rs / self.v - space.cost(rp / self.slack)
        v, prices = solver(right)
        t = space.total(v)
        return _Step(
            v=v,
            t=t,
            y=self.y * (bend - space.alpha * t / self.t),
            p=rp / self.slack + prices,
            nu=np.where(space.limited, (rn + self.nu * t) / self.h, NONE),
            s=(rs - self.s * v) / self.v,
        )

    def _moved(self, step: "_Step", primal: Decimal, along: Decimal) -> Decimal:
        """Return the gap after a step."""
        slack = self.slack - primal * self.space.used(step.v)
        limits = (self.nu + along * step.nu) * (self.h - primal * step.t)
        pairs = (self.s + along * step.s) @ (self.v + primal * step.v)
        return pairs + (self.p + along * step.p) @ slack + limits @ self.space.limited

    def _lengths(self, step: "_Step") -> tuple[Decimal, Decimal]:
        """Return how far amounts, and how far duals, go along a step."""
        limited = self.space.limited
        ways = (
            ((self.v, step.v), (self.slack, -self.space.used(step.v)), (self.h[limited], -step.t[limited])),
            ((self.y, step.y), (self.p, step.p), (self.nu[limited], step.nu[limited]), (self.s, step.s)),
        )
        primal, along = (min(_room(*values) for values in way) for way in ways)
        return primal, along


@dataclass(eq=False)
class _Step:
    """A direction, in the letters of an iterate."""

    v: np.ndarray
    t: np.ndarray
    y: np.ndarray
    p: np.ndarray
    nu: np.ndarray
    s: np.ndarray


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _room(values: np.ndarray, change: np.ndarray) -> Decimal:
    """Return how much of a change keeps values positive, with some distance; all of it at most."""
    return min([ONE, *(KEEP * -v / c for v, c in zip(values, change, strict=True) if c < 0)])


def _cholesky(matrix: np.ndarray) -> np.ndarray:
    """Return the lower factor L of  L D L', with D on its diagonal."""
    lower = matrix.copy()
    for c in range(len(lower)):
        if not lower[c, c] > 0:
            raise SolverError("the interior point method in decimals ran out of digits")
        column = lower[c + 1 :, c] / lower[c, c]
        for r, factor in enumerate(column, c + 1):
            lower[r, c + 1 : r + 1] -= factor * lower[c + 1 : r + 1, c]
        lower[c + 1 :, c] = column
    return lower


def _substituted(lower: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the solution of  L D L' x = right."""
    x = right.copy()
    for c in range(len(x)):
        x[c + 1 :] -= lower[c + 1 :, c] * x[c]
    x /= lower.diagonal()
    for c in reversed(range(len(x))):
        x[c] -= lower[c + 1 :, c] @ x[c + 1 :] if c + 1 < len(x) else NONE
    return x
