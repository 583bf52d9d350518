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

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...base.errors import SolverError, TimeLimitError
from ...base.progress import report
from ...base.tolerances import EXACT, TINY
from ...model.evidence import BoundsEvidence
from ..problem import Answer, Problem
from ..promised import Promised, in_turn, kept, market_of_incomes
from .apart import ends, unresolved
from .barrier import FASTEST
from .barrier import solve as barrier
from .bounded_market import ZERO, ActiveSet, BoundedMarket, BoundedPoint, NewtonSystem, Vectors

__all__ = ["of_tier", "solve"]

ITERATIONS = 150
CLOSE = 1e-11
"""Mean product, relative to the mean of what users pay, at which what binds is told apart."""

ENOUGH = 1e-5
"""The same, and the largest error of an equation, with which Newton may start where rounding stopped it."""

BEHIND = 0.5
"""Least part of the products that a step aims at while the equations are off by more than they are."""

KEEP = 0.995
"""Part of the way to the boundary that a step takes."""

GUESSES, STEPS = 60, 30

IDLE = 2
"""Steps among roundings that may bring nothing before the end."""

SOFT = 1e-9
"""Diagonals that keep what is not unique near where it is; they vanish from the answer as steps repeat."""

SOFT_PRICES = SOFT / 1000
"""The same diagonals, of prices."""

PRODUCTS = (("s", "v"), ("p", "z"), ("beta", "c"), ("nu", "h"), ("mu", "f"))
"""Duals and what is to vanish with them."""

POOREST = 1e-6
"""Smallest part of the mean that a user's money may be for it to be resolved; below it floats run out."""


def solve(problem: Problem) -> Answer:
    """Return the optimum and its prices, tier by tier where there are several."""
    return in_turn(problem, kept(problem), partial(of_tier, problem))


def of_tier(problem: Problem, promised: Promised) -> Answer:
    """Return the optimum and its prices where so much is promised, and held."""
    if (answer := _without_bounds(problem, promised)) is not None:
        return answer
    market = BoundedMarket(problem, promised)
    if not market.n:
        return market.answer(BoundedPoint.nothing(market))
    try:
        with np.errstate(all="ignore"):
            return market.answer(_polished(market, _interior(market)))
    except TimeLimitError:
        raise
    except SolverError:
        # To who keeps nearly all there is a task may be worth 1e-15 of what it is to the others: beyond floats.
        if not (held := _kept_to_floors(problem, promised)).any():
            raise
    return of_tier(problem, replace(promised, stopped=promised.stopped | held))


def _kept_to_floors(problem: Problem, promised: Promised) -> np.ndarray:
    """Return who has no more than its floor where alpha is half as large, bool (n,): as a guess, which is proven later.

    The larger alpha is, the less a task is worth to who has most.
    """
    alpha, none = problem.policy.alpha, np.zeros(problem.n, dtype=bool)
    rising = ~promised.stopped & (promised.floors > 0)
    if alpha <= 1 or not rising.any():
        return none
    milder = replace(problem.policy, alpha=max(alpha / 2, 1.0))
    try:
        found = of_tier(Problem(problem.instance, milder, deadline=problem.deadline), promised)
    except TimeLimitError:
        raise
    except SolverError:
        return none
    return np.asarray(rising & (found.tasks <= promised.floors * (1 + EXACT)))


def _without_bounds(problem: Problem, promised: Promised) -> Answer | None:
    """Return the optimum where nobody is bounded; None where somebody is, or floats do not find it so."""
    if (plain := market_of_incomes(problem, promised)) is None:
        return None
    try:
        answer = barrier(Problem(plain, problem.policy, deadline=problem.deadline))
    except TimeLimitError:
        raise
    except SolverError:
        return None
    evidence = BoundsEvidence(bounds=np.zeros(0), breakpoints=promised.breakpoints, full=promised.full)
    return replace(answer, evidence=evidence, levels=promised.rates * answer.tasks, fine=None)


def _interior(market: BoundedMarket) -> BoundedPoint:
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
        raise _unresolved("the interior point method did not converge", market)
    return best[1].point()


def _unresolved(what: str, m: BoundedMarket) -> SolverError:
    instance = m.problem.instance
    found = ends(m.problem, m.promised.incomes)
    return unresolved(what, found, instance.resources, lambda _, i: f"user {instance.users[i]!r}")


@dataclass(eq=False)
class _State:
    """An iterate: a point, marginal utilities y, and slacks z of rows, c of ceilings, h below limits, f above floors.

    As in `barrier` the marginal utility is a variable, tied to the tasks by ``y t^alpha = g``.
    """

    m: BoundedMarket
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
    def start(cls, m: BoundedMarket) -> "_State":
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

    def point(self) -> BoundedPoint:
        return BoundedPoint(self.v, self.t, self.pi, self.p, self.beta, self.nu, self.mu, self.s)

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
        # Whoever is at its floor pays more than its marginal utility, and so much is what is rounded.
        y = np.where(m.fixed, self.y.mean(), self.y + np.where(m.floored, self.mu, 0.0))
        parts = [e1 / y[m.owner[m.type]], e2 / y, e3, e4, e5, eh / np.where(m.limited, m.u, 1), ef, bend]
        return max(float(np.abs(part).max(initial=0)) for part in parts)

    def next(self) -> "_State":
        m = self.m
        res = self.residuals()
        b = m.alpha * self.y / self.t
        b = b + np.where(m.floored, self.mu / self.f, 0.0) + np.where(m.limited, self.nu / self.h, 0.0)
        b = np.where(m.fixed, np.inf, b)
        system = NewtonSystem(m, self.s / self.v, b, self.z / self.p, self.c / self.beta)
        aims = [-getattr(self, dual) * getattr(self, slack) for dual, slack in PRODUCTS]
        aim = self._direction(system, res, aims)
        primal, along = self._lengths(aim)
        mean = self.gap() / self.count
        after = self._after(aim, primal, along) / self.count
        # Products that vanish before the equations hold leave nothing with which to mend them.
        slowest = BEHIND if self.error() > self.mean() else FASTEST
        target = mean * max(min(max(after / mean, 0.0), 1.0) ** 3, slowest)
        part = primal * along
        corrected = [
            target + product - part * getattr(aim, dual) * getattr(aim, slack)
            for product, (dual, slack) in zip(aims, PRODUCTS, strict=True)
        ]
        step = self._direction(system, res, corrected)
        primal, along = self._lengths(step)
        lengths = dict.fromkeys("vtzchf", primal) | dict.fromkeys(("y", "pi", "p", "beta", "nu", "mu", "s"), along)
        return _State(m, **{name: getattr(self, name) + by * getattr(step, name) for name, by in lengths.items()})

    def _direction(self, system: NewtonSystem, res: Vectors, aims: list[np.ndarray]) -> "_State":
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


def _polished(market: BoundedMarket, start: BoundedPoint) -> BoundedPoint:
    """Return the solution of the equations of what binds, corrected until all signs are right."""
    guess = ActiveSet(market, start)
    point = start
    for _ in range(GUESSES):
        market.problem.deadline.check("Newton's method")
        point = _newton(market, guess, point)
        if not guess.mend(point):
            return point
    raise SolverError(f"no set of active constraints was found in {GUESSES} tries: try the other engine")


def _newton(m: BoundedMarket, guess: ActiveSet, start: BoundedPoint) -> BoundedPoint:
    held = m.fixed | guess.at_limit | guess.at_floor
    t = np.where(guess.at_limit, np.where(m.limited, m.u, 1.0), np.where(guess.at_floor, m.low, start.t))
    t = np.where(m.fixed, 1.0, np.maximum(t, TINY))
    v = np.where(guess.used, np.maximum(start.v, 0), 0.0)
    p = np.where(guess.priced, np.maximum(start.p, 0), 0.0)
    beta = np.where(guess.capped_groups, np.maximum(start.beta, 0), 0.0)
    pi = start.pi.copy()
    best, kept_point, idle = np.inf, None, 0
    scale = m.g.max(initial=0.0) or 1.0
    for _ in range(STEPS):
        y = np.where(m.fixed, scale, m.g * t**-m.alpha)
        owner = m.owner[m.type]
        r1 = np.where(guess.used, pi[m.type] - m.cost(p), 0.0)
        r2 = np.where(held, 0.0, y - m.user_cost(pi, beta))
        r3 = m.O @ t - m.E @ v
        r4 = np.where(guess.priced, 1 - m.A @ v, 0.0)
        r5 = np.where(guess.capped_groups, 1 - m.B @ t, 0.0)
        # Whoever is held at a floor may pay far more than a task is worth to it.
        size = np.where(guess.at_floor, np.maximum(y, m.user_cost(pi, beta)), y)
        parts = [r1 / size[owner], r2 / y, r3, r4, r5]
        error = max(float(np.abs(part).max(initial=0)) for part in parts)
        idle = 0 if error <= best / 2 or best > ZERO else idle + 1
        if error < best:
            best, kept_point = error, (v, t, pi, p, beta)
        if error <= EXACT or idle > IDLE or not np.isfinite(error) or error > 1e3 * max(best, ZERO):
            break
        curve = np.where(held, np.inf, m.alpha * y / t)
        D = np.where(guess.used, SOFT * (size / t)[owner], np.inf)
        # A row without a price keeps 0: its diagonal is so large that nothing moves it.
        P = np.where(guess.priced, SOFT_PRICES / np.maximum(y.max(), TINY), 1e30)
        Q = np.where(guess.capped_groups, SOFT_PRICES / np.maximum(y.max(), TINY), 1e30)
        try:
            dv, dt, dpi, dp, dbeta = NewtonSystem(m, D, curve, P, Q).solve(r1, r2, r3, r4, r5)
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
        raise _unresolved("Newton's method found nothing", m)
    v, t, pi, p, beta = kept_point
    y = np.where(m.fixed, 0.0, m.g * t**-m.alpha)
    left = y - m.user_cost(pi, beta)
    nu, mu = np.where(guess.at_limit, left, 0.0), np.where(guess.at_floor, -left, 0.0)
    return BoundedPoint(v, t, pi, p, beta, nu, mu, start.s)
