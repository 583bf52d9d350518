"""Markets with bounds and task types: CEEI and alpha fairness where users have floors, groups have ceilings, and a
user's types are placed each by itself.

    maximise    sum_i phi_i(t_i),   phi_i'(t) = g_i t^(-alpha)
    subject to  sum_k v_qk              =   t_i    for every type q of user i                dual  pi_q
                sum a_rqk v_qk         <=   1      for every row r (class, resource)         price p_r
                sum_i b_ci t_i         <=   1      for every ceiling c of a group            price beta_c
                l_i <= t_i <= u_i                                                            duals mu_i, nu_i
                v_qk                   >=   0                                                dual  s_qk

One unit of t_i is a number of tasks that brings letters near 1, and one of v_qk the tasks of type q that go with it.
Who is stopped while guarantees are kept has a fixed t_i.  Mehrotra's predictor and corrector go near the optimum, every
inequality with a slack of its own, so that no inner point needs to be known; then Newton's method solves the equations
of what is found to bind, and what has the wrong sign is corrected (as in `polish`).

Source: Eisenberg and Gale 1959 for the program; Jain and Vazirani, Eisenberg-Gale markets, GEB 2010, for linear rows
beside the capacities.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from scipy.sparse.linalg import splu

from ...base.errors import SolverError
from ...base.progress import report
from ...base.tolerances import EXACT, RIDGE, TINY
from ...model.evidence import BoundsEvidence
from ..linear_programs import capacity_rows
from ..problem import Answer, Problem
from ..promised import Promised, kept
from .barrier import FASTEST
from .polish import UNNOTICED

__all__ = ["solve"]

Vectors = tuple[np.ndarray, ...]

ITERATIONS = 150
CLOSE = 1e-11
"""Mean product, relative to the mean of what users pay, at which what binds is told apart."""

ENOUGH = 1e-7
"""The same, and the largest error of an equation, with which Newton may start where rounding stopped it."""

KEEP = 0.995
"""Part of the way to the boundary that a step takes."""

GUESSES, STEPS = 60, 30

SOFT = 1e-9
"""Diagonals that keep what is not unique near where it is; they vanish from the answer as steps repeat."""

ZERO = 1e-11
"""A quantity of scaled size 1 below this is rounding."""

NEGATIVE = ZERO / 1000
"""A price below minus this is none: what is idle has none."""

SOFT_PRICES = SOFT / 1000
"""The same diagonals, of prices."""

UNFILLED = 1e-8
"""Part of a priced row that is left unused when the equations have no solution: Newton's error is far below."""

POOREST = 1e-6
"""Smallest part of the mean that a user's money may be for it to be resolved; below it floats run out."""

REFINEMENTS = 3

SMALL = 50_000
"""Pairs times equations of types and rows up to which matrices are arrays."""


def solve(problem: Problem) -> Answer:
    """Return the optimum and its prices."""
    market = _Market(problem, kept(problem))
    if not market.n:
        return market.answer(_Point.nothing(market))
    with np.errstate(all="ignore"):
        return market.answer(_polished(market, _interior(market)))


@dataclass(frozen=True)
class _Algebra:
    """How matrices are made, scaled by columns, searched for the largest entry of each row, and factorised."""

    made: Callable[[Any], Any]
    scaled: Callable[[Any, np.ndarray], Any]
    diagonal: Callable[[np.ndarray], Any]
    block: Callable[[list[list[Any]]], Any]
    largest: Callable[[Any], np.ndarray]
    factorised: Callable[[Any], Callable[[np.ndarray], np.ndarray]]


def _dense_factors(matrix: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    factors, pivots, fault = lapack.dgetrf(matrix)
    if fault:
        raise RuntimeError("the matrix is singular")
    return lambda right: lapack.dgetrs(factors, pivots, right)[0]


# Of a few users a sparse matrix costs more to make than to use.
DENSE = _Algebra(
    lambda matrix: matrix.toarray(),
    lambda matrix, d: matrix * d,
    np.diag,
    np.block,
    lambda matrix: matrix.max(axis=1, initial=-np.inf),
    _dense_factors,
)
SPARSE = _Algebra(
    sparse.csr_array,
    lambda matrix, d: matrix @ sparse.diags_array(d),
    sparse.diags_array,
    sparse.block_array,
    lambda matrix: matrix.max(axis=1).toarray().ravel(),
    lambda matrix: splu(sparse.csc_array(matrix)).solve,
)


class _Market:
    """The program in scaled letters; users are those who take part and may rise, or are fixed above 0."""

    def __init__(self, problem: Problem, promised: Promised):
        self.problem, self.promised, self.alpha = problem, promised, problem.policy.alpha
        self.by_type = by_type = problem.by_type
        floors, limits = promised.floors, problem.limits
        self.fixed = promised.stopped | (floors >= limits)
        self.there = ~self.fixed | (floors > 0)
        self.n = int(self.there.sum())
        keep = self.there[by_type.user]
        self.types = np.flatnonzero(keep)
        pairs = np.flatnonzero(keep[by_type.pairs[0]])
        number = np.cumsum(self.there) - 1
        self.pairs = pairs
        self.owner = number[by_type.user[self.types]]
        renumbered = np.cumsum(keep) - 1
        self.type, self.machine = renumbered[by_type.pairs[0][pairs]], by_type.pairs[1][pairs]
        self.members = np.flatnonzero(self.there)
        self.fixed, floors, limits = self.fixed[self.there], floors[self.there], limits[self.there]
        self.rows = capacity_rows(by_type)
        part, q = by_type.part[self.types], len(self.types)
        alone = np.zeros(q)
        matrix = sparse.csc_array(self.rows.matrix)[:, pairs]
        np.add.at(alone, self.type, 1 / matrix.max(axis=0).toarray().ravel())
        most = np.full(self.n, np.inf)
        np.minimum.at(most, self.owner, alone / part)
        # Everybody at half of an equal part of what it could run alone, floors and limits permitting.
        scale = np.minimum(most / (2 * max(self.n, 1)), limits / 2)
        scale = np.where(self.fixed, np.minimum(floors, limits), np.maximum(scale, 1.25 * floors))
        self.scale = np.where(limits < scale, (floors + np.minimum(limits, 1e300)) / 2, scale)
        A = matrix @ sparse.diags_array((part * self.scale[self.owner])[self.type])
        B = sparse.csr_array(promised.ceilings[:, self.there] * self.scale)
        E = sparse.csr_array((np.ones(len(pairs)), (self.type, np.arange(len(pairs)))), shape=(q, len(pairs)))
        owned = sparse.csr_array((np.ones(q), (np.arange(q), self.owner)), shape=(q, self.n))
        finite = np.isfinite(A.data).all() and np.isfinite(B.data).all()
        self.algebra = DENSE if (q + A.shape[0]) * len(pairs) <= SMALL else SPARSE
        self.A, self.B, self.E, self.O = map(self.algebra.made, (A, B, E, owned))
        self.EA = self.algebra.made(sparse.vstack([E, -A]))
        self.low = np.where(self.fixed, 0.0, floors / self.scale)
        self.u = np.where(self.fixed, np.inf, limits / self.scale)
        self.floored, self.limited = self.low > 0, np.isfinite(self.u)
        rates, incomes = promised.rates[self.there], promised.incomes[self.there]
        log_g = np.log(incomes * rates * self.scale) - self.alpha * np.log(rates * self.scale)
        log_g = log_g[~self.fixed]
        self.log_money = float(log_g.max() + np.log(np.exp(log_g - log_g.max()).sum())) if log_g.size else 0.0
        self.g = np.zeros(self.n)
        self.g[~self.fixed] = np.exp(log_g - self.log_money)
        if not (finite and np.isfinite(self.g).all()):
            raise SolverError("what users would pay is beyond the range of floats: check weights and demands")

    def cost(self, p: np.ndarray) -> np.ndarray:
        """Return what one unit of each pair costs, (pairs,)."""
        return np.asarray(self.A.T @ p)

    def user_cost(self, pi: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Return what one unit of each user costs, (n,)."""
        return np.asarray(self.O.T @ pi + self.B.T @ beta)

    def answer(self, point: "_Point") -> Answer:
        """Return the point in the instance's units."""
        problem, by_type = self.problem, self.by_type
        tasks, amounts = np.zeros(problem.n), np.zeros(len(by_type.pairs[0]))
        floors, limits = self.promised.floors[self.there], problem.limits[self.there]
        t = np.where(self.fixed, 1.0, np.clip(point.t, self.low, self.u))
        held = np.where(self.fixed, np.minimum(floors, limits), t * self.scale)
        at_limit = self.limited & (t >= self.u)
        held = np.where(at_limit, limits, np.where(self.floored & (t <= self.low), floors, held))
        tasks[self.members] = held
        v = np.maximum(point.v, 0)
        total = np.asarray(self.E @ v)
        wanted = held[self.owner] * by_type.part[self.types]
        amounts[self.pairs] = v * np.divide(wanted, total, where=total > 0, out=np.zeros(len(total)))[self.type]
        room = problem.instance.room
        money = np.exp(self.log_money)
        budget = self.rows.spread(np.maximum(point.p, 0), problem.k, problem.m) * money
        prices = np.divide(budget, room, where=room > 0, out=np.zeros_like(room))
        bounds = np.maximum(point.beta, 0) * money
        if not (np.isfinite(prices).all() and np.isfinite(bounds).all()):
            raise SolverError(f"the prices of {problem.policy.name} are beyond the range of floats: take other weights")
        evidence = BoundsEvidence(bounds=bounds, breakpoints=self.promised.breakpoints, full=self.promised.full)
        levels = self.promised.rates * tasks
        return Answer(tasks, amounts=amounts, prices=prices, evidence=evidence, levels=levels)


@dataclass(eq=False)
class _Point:
    """Amounts, totals, and duals of types, rows, ceilings, limits and floors."""

    v: np.ndarray
    t: np.ndarray
    pi: np.ndarray
    p: np.ndarray
    beta: np.ndarray
    nu: np.ndarray
    mu: np.ndarray
    s: np.ndarray

    @classmethod
    def nothing(cls, market: _Market) -> "_Point":
        """Return the point of a market without users."""
        none = np.zeros(0)
        rows, ceilings = len(market.rows.machine), market.B.shape[0]
        return cls(none, none, none, np.zeros(rows), np.zeros(ceilings), none, none, none)


class _System:
    """A Newton step, reduced to users, types, rows and ceilings.

    Solves, for diagonals D over pairs and b over users (inf for who is fixed) and small ones over rows and ceilings,

        D v - E' pi + A' p = r1        b t + O' pi + B' beta = r2        E v - O t = r3
        A v - P p = r4                 B t - Q beta = r5
    """

    def __init__(self, market: _Market, D: np.ndarray, b: np.ndarray, P: np.ndarray, Q: np.ndarray):
        self.m, self.D, algebra = market, D, market.algebra
        self.free = np.isfinite(b)
        keep = self.free.astype(float)
        self.O, self.B = algebra.scaled(market.O, keep), algebra.scaled(market.B, keep)
        self.b, self.P, self.Q = np.where(self.free, b, 1.0), P, Q
        self.inverse = np.where(np.isfinite(D), 1 / D, 0.0)
        n, q, r, c = market.n, len(market.types), len(P), len(Q)
        schur = algebra.scaled(market.EA, self.inverse) @ market.EA.T
        nobody, no_type, no_row = (algebra.made(sparse.csr_array(shape)) for shape in ((r, n), (q, c), (r, c)))
        middle = schur + algebra.diagonal(np.concatenate([np.zeros(q), P]))
        users = algebra.block([[self.O], [nobody]])
        other = algebra.block([[no_type], [no_row]])
        matrix = algebra.block(
            [
                [algebra.diagonal(self.b), users.T, self.B.T],
                [-users, middle, other],
                [self.B, other.T, -algebra.diagonal(Q)],
            ]
        )
        # In units in which the largest entries of rows and columns are near 1.
        self.size = 1 / np.sqrt(np.maximum(algebra.largest(abs(matrix)), TINY))
        scaled = algebra.scaled(algebra.scaled(matrix, self.size).T, self.size).T
        sign = np.concatenate([np.ones(n + q + r), -np.ones(c)])
        try:
            # What is left free by a few roundings is held by as many; refinement takes them back.
            self.factors = algebra.factorised(scaled + algebra.diagonal(RIDGE * sign))
        except RuntimeError:
            raise SolverError("the equations of the market are singular in floats") from None
        self.cut = np.cumsum([n, q, r])

    def solve(self, *right: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return v, t, pi, p, beta."""
        found = self._once(*right)
        for _ in range(REFINEMENTS):
            more = self._once(*self._residual(found, right))
            found = tuple(x + y for x, y in zip(found, more, strict=True))
        return found

    def _residual(self, found: Vectors, right: Vectors) -> Vectors:
        m = self.m
        (v, t, pi, p, beta), (r1, r2, r3, r4, r5) = found, right
        kept = np.isfinite(self.D)
        one = np.where(kept, r1 - np.where(kept, self.D, 0.0) * v + m.E.T @ pi - m.A.T @ p, 0.0)
        two = r2 - self.b * t - self.O.T @ pi - self.B.T @ beta
        return (
            one,
            two,
            r3 - m.E @ v + self.O @ t,
            r4 - m.A @ v + self.P * p,
            r5 - self.B @ t + self.Q * beta,
        )

    def _once(self, *right: np.ndarray) -> Vectors:
        r1, r2, r3, r4, r5 = right
        base = self.inverse * r1
        middle = np.concatenate([r3, -r4]) - self.m.EA @ base
        x = self.factors(np.concatenate([r2, middle, r5]) * self.size) * self.size
        t, pi, p, beta = np.split(x, self.cut)
        v = base + self.inverse * (self.m.EA.T @ np.concatenate([pi, p]))
        return v, t, pi, p, beta


def _interior(market: _Market) -> _Point:
    """Return a point near the optimum, by an interior point method that starts anywhere."""
    state = _State.start(market)
    best: tuple[float, _State] | None = None
    for iteration in range(ITERATIONS):
        mean, off = state.mean(), state.error()
        if not np.isfinite(mean + off):
            break
        report(f"iteration {iteration}: products {mean:.1e}, equations {off:.1e}")
        market.problem.deadline.check("the interior point method", f"the mean product was {mean:.1e}")
        worst = max(mean, off)
        if best is None or worst < best[0]:
            best = worst, state
        if mean <= CLOSE and off <= CLOSE:
            break
        try:
            state = state.next()
        except SolverError:
            break
    if best is None or best[0] > ENOUGH:
        raise SolverError("the interior point method did not converge: the levels differ too much for this policy")
    return best[1].point()


@dataclass(eq=False)
class _State:
    """An iterate: a point, marginal utilities y, and slacks z of rows, c of ceilings, h below limits, f above floors.

    As in `barrier` the marginal utility is a variable, tied to the tasks by ``y t^alpha = g``.
    """

    m: _Market
    v: np.ndarray
    t: np.ndarray
    y: np.ndarray
    pi: np.ndarray
    p: np.ndarray
    beta: np.ndarray
    nu: np.ndarray
    mu: np.ndarray
    s: np.ndarray
    z: np.ndarray
    c: np.ndarray
    h: np.ndarray
    f: np.ndarray

    @classmethod
    def start(cls, m: _Market) -> "_State":
        """Return the start: equal parts on all classes, and prices so high that nobody would buy more."""
        count = np.asarray(m.E @ np.ones(len(m.type)))
        v = 1 / count[m.type]
        t = np.ones(m.n)
        types = np.bincount(m.owner, minlength=m.n)
        free = ~m.fixed
        mean = 1 / max(int(free.sum()), 1)
        g = np.where(free, m.g, mean)
        pi = (g / types)[m.owner]
        filled = np.asarray(m.A @ v)
        most = max(float(filled.max(initial=0)), 1.0)
        z = np.maximum(1 - filled, 0.1 * most)
        prices = 1 / z
        p = prices * 2 * float((pi[m.type] / m.cost(prices)).max())
        c = np.maximum(1 - np.asarray(m.B @ t), 0.1)
        beta = mean / c
        h, f = np.where(m.limited, np.maximum(m.u - 1, 0.1), 1.0), np.where(m.floored, np.maximum(1 - m.low, 0.1), 1.0)
        nu, mu = np.where(m.limited, mean / h, 0.0), np.where(m.floored, mean / f, 0.0)
        s = np.maximum(m.cost(p) - pi[m.type], mean)
        return cls(m, v, t, g.copy(), pi, p, beta, nu, mu, s, z, c, h, f)

    def point(self) -> _Point:
        return _Point(self.v, self.t, self.pi, self.p, self.beta, self.nu, self.mu, self.s)

    def gap(self) -> float:
        m = self.m
        found = self.s @ self.v + self.p @ self.z + self.beta @ self.c
        return float(found + (self.nu * self.h)[m.limited].sum() + (self.mu * self.f)[m.floored].sum())

    @property
    def count(self) -> int:
        m = self.m
        return len(self.v) + len(self.p) + len(self.beta) + int(m.limited.sum()) + int(m.floored.sum())

    def mean(self) -> float:
        """Gap relative to what users pay, as if all paid as little as the poorest."""
        free = ~self.m.fixed
        if not free.any():
            return self.gap()
        worth = (self.y * self.t)[free]
        return self.gap() / max(float(worth.min()) * len(worth), POOREST * float(worth.sum()))

    def residuals(self) -> Vectors:
        m = self.m
        free = ~m.fixed
        e1 = m.cost(self.p) - self.pi[m.type] - self.s
        e2 = np.where(free, self.nu - self.mu + m.user_cost(self.pi, self.beta) - self.y, 0.0)
        e3 = m.O @ self.t - m.E @ self.v
        e4 = 1 - m.A @ self.v - self.z
        e5 = 1 - m.B @ self.t - self.c
        eh = np.where(m.limited, m.u - self.t - self.h, 0.0)
        ef = np.where(m.floored, self.t - m.low - self.f, 0.0)
        a = max(m.alpha, 1.0)
        bend = np.where(
            free, a * np.expm1((np.log(np.where(free, m.g, 1)) - np.log(self.y) - m.alpha * np.log(self.t)) / a), 0.0
        )
        return e1, e2, e3, e4, e5, eh, ef, bend

    def error(self) -> float:
        m = self.m
        e1, e2, e3, e4, e5, eh, ef, bend = self.residuals()
        y = np.where(m.fixed, self.y.mean(), self.y)
        parts = [e1 / y[m.owner[m.type]], e2 / y, e3, e4, e5, eh / np.where(m.limited, m.u, 1), ef, bend]
        return max(float(np.abs(part).max(initial=0)) for part in parts)

    def next(self) -> "_State":
        m = self.m
        res = self.residuals()
        b = m.alpha * self.y / self.t
        b = b + np.where(m.floored, self.mu / self.f, 0.0) + np.where(m.limited, self.nu / self.h, 0.0)
        b = np.where(m.fixed, np.inf, b)
        system = _System(m, self.s / self.v, b, self.z / self.p, self.c / self.beta)
        aims = (-self.s * self.v, -self.p * self.z, -self.beta * self.c, -self.nu * self.h, -self.mu * self.f)
        aim = self._direction(system, res, aims)
        primal, along = self._lengths(aim)
        mean = self.gap() / self.count
        after = self._after(aim, primal, along) / self.count
        target = mean * max(min(after / mean, 1.0) ** 3, FASTEST)
        part = primal * along
        corrected = (
            target - self.s * self.v - part * aim.s * aim.v,
            target - self.p * self.z - part * aim.p * aim.z,
            target - self.beta * self.c - part * aim.beta * aim.c,
            target - self.nu * self.h - part * aim.nu * aim.h,
            target - self.mu * self.f - part * aim.mu * aim.f,
        )
        step = self._direction(system, res, corrected)
        primal, along = self._lengths(step)
        names = {"v": primal, "t": primal, "z": primal, "c": primal, "h": primal, "f": primal}
        moved = {
            name: getattr(self, name) + names.get(name, along) * getattr(step, name)
            for name in ("v", "t", "y", "pi", "p", "beta", "nu", "mu", "s", "z", "c", "h", "f")
        }
        return _State(m, **moved)

    def _direction(self, system: _System, res: Vectors, aims: Vectors) -> "_State":
        m = self.m
        e1, e2, e3, e4, e5, eh, ef, bend = res
        rs, rp, rb, rn, rm = aims
        h, f = np.where(m.limited, self.h, 1.0), np.where(m.floored, self.f, 1.0)
        rn, rm = np.where(m.limited, rn, 0.0), np.where(m.floored, rm, 0.0)
        r2 = self.y * bend - e2 + (rm - self.mu * ef) / f - (rn - self.nu * eh) / h
        r2 = np.where(m.fixed, 0.0, r2)
        v, t, pi, p, beta = system.solve(rs / self.v - e1, r2, e3, e4 - rp / self.p, np.asarray(e5 - rb / self.beta))
        z = (rp - self.z * p) / self.p
        c = (rb - self.c * beta) / self.beta
        dh = np.where(m.limited, eh - t, 0.0)
        df = np.where(m.floored, ef + t, 0.0)
        nu, mu = (rn - self.nu * dh) / h, (rm - self.mu * df) / f
        y = np.where(m.fixed, 0.0, self.y * (bend - m.alpha * t / self.t))
        s = (rs - self.s * v) / self.v
        return _State(m, v, t, y, pi, p, beta, nu, mu, s, z, c, dh, df)

    def _lengths(self, step: "_State") -> tuple[float, float]:
        m, free = self.m, ~self.m.fixed
        primal = [(self.v, step.v), (self.t[free], step.t[free]), (self.z, step.z), (self.c, step.c)]
        primal += [(self.h[m.limited], step.h[m.limited]), (self.f[m.floored], step.f[m.floored])]
        dual = [(self.s, step.s), (self.p, step.p), (self.beta, step.beta), (self.y[free], step.y[free])]
        dual += [(self.nu[m.limited], step.nu[m.limited]), (self.mu[m.floored], step.mu[m.floored])]
        return min([1.0, *(KEEP * _room(*part) for part in primal)]), min(
            [1.0, *(KEEP * _room(*part) for part in dual)]
        )

    def _after(self, step: "_State", primal: float, along: float) -> float:
        m = self.m
        found = (self.s + along * step.s) @ (self.v + primal * step.v)
        found += (self.p + along * step.p) @ (self.z + primal * step.z)
        found += (self.beta + along * step.beta) @ (self.c + primal * step.c)
        found += ((self.nu + along * step.nu) * (self.h + primal * step.h))[m.limited].sum()
        found += ((self.mu + along * step.mu) * (self.f + primal * step.f))[m.floored].sum()
        return float(found)


def _room(values: np.ndarray, change: np.ndarray) -> float:
    falling = change < 0
    return float((-values[falling] / change[falling]).min(initial=np.inf))


# ---- Newton on what binds ------------------------------------------------------------------------------------------


class _Guess:
    """Which pairs are used, which rows and ceilings priced, who is at a limit or a floor."""

    def __init__(self, m: _Market, point: _Point):
        self.m = m
        cost = m.cost(point.p)
        y = np.where(m.fixed, np.maximum(np.asarray(m.O.T @ point.pi), TINY), m.g * point.t**-m.alpha)
        worth = np.maximum(point.pi, ZERO * y[m.owner])
        dear = np.maximum(cost - point.pi[m.type], 0) / worth[m.type]
        t = point.t[m.owner[m.type]]
        least = np.full(len(m.types), np.inf)
        np.minimum.at(least, m.type, dear)
        self.used = (point.v / t >= dear) | (dear <= least[m.type])
        slack = 1 - m.A @ point.v
        asked = point.p * m.algebra.largest(m.algebra.scaled(m.A, 1 / y[m.owner[m.type]]))
        # A price so small that the money would not notice it on an idle row is the method's zero.
        money = float(point.p @ (1 - slack) + point.beta @ (m.B @ point.t))
        self.priced = (asked >= slack) & (point.p >= UNNOTICED * money * slack)
        under = 1 - m.B @ point.t
        asked = point.beta * m.algebra.largest(m.algebra.scaled(m.B, 1 / y))
        self.capped_groups = (asked >= under) & (point.beta >= UNNOTICED * money * under)
        self.at_limit = m.limited & (point.nu / y >= (m.u - point.t) / np.where(m.limited, m.u, 1))
        self.at_floor = m.floored & (point.mu / y >= (point.t - m.low))
        self.seen: set[bytes] = set()

    def mend(self, point: _Point) -> bool:
        """Correct what has the wrong sign; say whether anything had."""
        m = self.m
        free = ~m.fixed
        y = np.where(free, m.g * np.maximum(point.t, TINY) ** -m.alpha, np.maximum(np.asarray(m.O.T @ point.pi), TINY))
        owner = m.owner[m.type]
        t = point.t[owner]
        negative = self.used & (point.v < -ZERO * t)
        cheaper = ~self.used & (point.pi[m.type] - m.cost(point.p) > ZERO * y[owner])
        filled = m.A @ point.v
        worthless = self.priced & (point.p < -NEGATIVE)
        idle = np.where(self.priced, 1 - filled, 0.0)
        if idle.max(initial=0) > UNFILLED:
            worthless[int(idle.argmax())] = True
        overfull = ~self.priced & (filled > 1 + ZERO)
        met = m.B @ point.t
        unpaid = self.capped_groups & (point.beta < -NEGATIVE)
        slack = np.where(self.capped_groups, 1 - met, 0.0)
        if slack.max(initial=0) > UNFILLED:
            unpaid[int(slack.argmax())] = True
        exceeded = ~self.capped_groups & (met > 1 + ZERO)
        below = self.at_limit & (point.nu < -ZERO * y)
        beyond = ~self.at_limit & m.limited & (point.t > m.u * (1 + ZERO))
        lifted = self.at_floor & (point.mu < -ZERO * y)
        sunk = ~self.at_floor & m.floored & (point.t < m.low * (1 - ZERO))
        changes = [negative, cheaper, worthless, overfull, unpaid, exceeded, below, beyond, lifted, sunk]
        if not any(change.any() for change in changes):
            return False
        key = b"".join(x.tobytes() for x in (self.used, self.priced, self.capped_groups, self.at_limit, self.at_floor))
        if key in self.seen:
            changes = [_first(change) for change in changes]
        self.seen.add(key)
        negative, cheaper, worthless, overfull, unpaid, exceeded, below, beyond, lifted, sunk = changes
        self.used = (self.used & ~negative) | cheaper
        self.priced = (self.priced & ~worthless) | overfull
        self.capped_groups = (self.capped_groups & ~unpaid) | exceeded
        self.at_limit = (self.at_limit & ~below) | beyond
        self.at_floor = (self.at_floor & ~lifted) | sunk
        return True


def _first(change: np.ndarray) -> np.ndarray:
    only = np.zeros_like(change)
    if change.any():
        only[int(np.argmax(change))] = True
    return only


def _polished(market: _Market, start: _Point) -> _Point:
    """Return the solution of the equations of what binds, corrected until all signs are right."""
    guess = _Guess(market, start)
    point = start
    for _ in range(GUESSES):
        market.problem.deadline.check("Newton's method")
        point = _newton(market, guess, point)
        if not guess.mend(point):
            return point
    raise SolverError(f"no set of active constraints was found in {GUESSES} tries: try the other engine")


def _newton(m: _Market, guess: _Guess, start: _Point) -> _Point:
    held = m.fixed | guess.at_limit | guess.at_floor
    t = np.where(guess.at_limit, np.where(m.limited, m.u, 1.0), np.where(guess.at_floor, m.low, start.t))
    t = np.where(m.fixed, 1.0, np.maximum(t, TINY))
    v = np.where(guess.used, np.maximum(start.v, 0), 0.0)
    p = np.where(guess.priced, np.maximum(start.p, 0), 0.0)
    beta = np.where(guess.capped_groups, np.maximum(start.beta, 0), 0.0)
    pi = start.pi.copy()
    best, kept_point = np.inf, None
    scale = m.g.max(initial=0.0) or 1.0
    for _ in range(STEPS):
        y = np.where(m.fixed, scale, m.g * t**-m.alpha)
        owner = m.owner[m.type]
        r1 = np.where(guess.used, pi[m.type] - m.cost(p), 0.0)
        r2 = np.where(held, 0.0, y - m.user_cost(pi, beta))
        r3 = m.O @ t - m.E @ v
        r4 = np.where(guess.priced, 1 - m.A @ v, 0.0)
        r5 = np.where(guess.capped_groups, 1 - m.B @ t, 0.0)
        parts = [r1 / y[owner], r2 / y, r3, r4, r5]
        error = max(float(np.abs(part).max(initial=0)) for part in parts)
        if error < best:
            best, kept_point = error, (v, t, pi, p, beta)
        if error <= EXACT or not np.isfinite(error) or error > 1e3 * max(best, ZERO):
            break
        curve = np.where(held, np.inf, m.alpha * y / t)
        D = np.where(guess.used, SOFT * (y / t)[owner], np.inf)
        # A row without a price keeps 0: its diagonal is so large that nothing moves it.
        P = np.where(guess.priced, SOFT_PRICES / np.maximum(y.max(), TINY), 1e30)
        Q = np.where(guess.capped_groups, SOFT_PRICES / np.maximum(y.max(), TINY), 1e30)
        try:
            dv, dt, dpi, dp, dbeta = _System(m, D, curve, P, Q).solve(r1, r2, r3, r4, r5)
        except SolverError:
            break
        dt = np.where(held, 0.0, dt)
        reach = float(np.min(np.where(dt < 0, 0.5 * t / np.maximum(-dt, TINY), 1.0), initial=1.0))
        reach = min(reach, 1.0)
        v = np.where(guess.used, v + reach * dv, 0.0)
        p = np.where(guess.priced, p + reach * dp, 0.0)
        beta = np.where(guess.capped_groups, beta + reach * dbeta, 0.0)
        t, pi = t + reach * dt, pi + reach * dpi
    if kept_point is None:
        raise SolverError("Newton's method found nothing: the levels differ too much for this policy")
    v, t, pi, p, beta = kept_point
    y = np.where(m.fixed, 0.0, m.g * t**-m.alpha)
    left = y - m.user_cost(pi, beta)
    nu, mu = np.where(guess.at_limit, left, 0.0), np.where(guess.at_floor, -left, 0.0)
    return _Point(v, t, pi, p, beta, nu, mu, start.s)
