"""Newton's method on the optimality conditions of a market, to 32 digits, from a point in floats.

Given which pairs are used, which rows are priced and which users are at their limits, the conditions are equations:

    phi_i'(t_i) - nu_i - sum_j a_ikj p_kj  =  0      (i, k) used; nu_i = 0 below the limit, t_i = u_i at it
    sum_i a_ikj v_ik                       =  1      (k, j) priced

Their residuals are computed in double-double numbers from the instance's exact ones, the corrections in floats: the
users are eliminated one by one, as in `barrier`, with a small diagonal over the pairs in the place of s / v.  It
and a ridge over the rows keep placements and prices that are not unique where they are, and vanish from the answer as
steps repeat: each adds about eight digits.  Then the signs are looked at, and what is wrong is guessed anew.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...base.errors import SolverError
from ...base.numbers.double_double import DoubleDouble
from ...base.tolerances import TINY
from ...certificates.point_errors import WIDE, DoublePoint
from ..interior_point import RowMatrix
from ..pair_layout import Layout, laplacian, pair_layout, summed
from ..problem import Answer, Problem
from .scaled_market import MarketPoint, ScaledMarket

__all__ = ["polish"]

GUESSES = 60
STEPS = 40

NEAR = 1e-8
"""Diagonal over pairs, relative to the curvature of the user's utility."""

EXACT = 1e-27
"""Relative error of the equations at which there is nothing left to gain."""

PAID = 1e-22
"""The same relative to what the poorest has of all money: errors of tasks go with the root of it."""

SETTLED = 1e-22
"""The same with which it is enough, when steps gain no more."""

SLOW = 0.3
"""Part of the error that a step may leave; more, and it is said to gain nothing."""

ZERO = 1e-23
"""A quantity of scaled size 1 below this is rounding."""

UNNOTICED = 1e-3
"""Price of a whole idle row, relative to all money, that is a solver's tolerance."""

UNFILLED = 1e-12
"""Part of a priced row that is left unused when the equations have no solution: Newton's error is far below."""

ROUGH = 1e-9
"""Error from which on the next step has its own factors: below, the old ones leave as little."""

FAR = 0.3
"""Relative change of a user's tasks beyond which the start was none: solver and equations speak of two markets."""

DEEPEST = 64
"""Largest numerator or denominator of an exponent whose powers are computed to 32 digits."""


Solver = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Takes what pairs and rows miss, and returns the changes of amounts and prices."""


def polish(market: ScaledMarket, start: MarketPoint) -> Answer:
    """Return the solution of the optimality conditions nearest to the start, with itself to 32 digits as evidence.

    Raises
    ------
    SolverError
        When no choice of active constraints satisfies them, or the solution is far from the start.
    """
    with np.errstate(all="ignore"):
        return _Polish(market, start).run()


@dataclass
class _Wrong:
    """What has the wrong sign: bool arrays over pairs, rows and users."""

    negative: np.ndarray
    lacking: np.ndarray
    worthless: np.ndarray
    overfull: np.ndarray
    pushed: np.ndarray
    beyond: np.ndarray

    def any(self) -> bool:
        return any(change.any() for change in vars(self).values())

    def first(self) -> "_Wrong":
        """Keep only the first of several changes of a kind: it breaks a cycle."""
        return _Wrong(**{name: _first(change) for name, change in vars(self).items()})


class _Polish:
    def __init__(self, market: ScaledMarket, start: MarketPoint):
        self.market, self.problem = market, market.problem
        problem, instance = self.problem, self.problem.instance
        self.user, self.place = problem.pairs
        self.n, self.k, self.m = problem.n, problem.k, problem.m
        self.alpha = Fraction(str(problem.policy.alpha))
        if max(self.alpha.numerator, self.alpha.denominator) > DEEPEST:
            raise SolverError(f"powers of {self.alpha} are not computed to 32 digits")
        members = problem.members
        # Scales and the unit of money are powers of two, so that nothing is rounded by them.
        self.scale = market.scale
        self.money = 2.0 ** np.round(market.log_money / np.log(2))
        self.need = instance.fine("demands", members) * self.scale[:, None]
        self.room = _rooms(problem)
        weights = instance.fine("weights", members)
        self.worth = weights / self.money
        if self.alpha != 1:
            rates = problem.policy.exact_rates(instance)
            level = DoubleDouble.of(rates[i] for i in members.tolist()) * self.scale
            # w s (s t)^-alpha for the level s t of t units.
            self.worth = self.worth * level / self._powered(level)
        self.limited = market.limited
        self.u = instance.fine("limits", members) / self.scale
        self.u[~self.limited] = 1.0
        self.start = start
        self.v = DoubleDouble(start.v)
        unit = float(np.exp(market.log_money)) / self.money
        self.p = DoubleDouble(start.p * unit)
        self.starts = np.searchsorted(self.user, np.arange(self.n + 1))
        poorest = float((market.g * start.t ** (1 - float(self.alpha))).min())
        self.exact = min(max(EXACT, PAID * poorest), ZERO / 10)
        self._guess(start)

    def _powered(self, base: DoubleDouble) -> DoubleDouble:
        return base.power(self.alpha.numerator).root(self.alpha.denominator)

    # ---- which constraints are active -------------------------------------------------------------------------------

    def _guess(self, start: MarketPoint) -> None:
        market, layout = self.market, self.market.layout
        marginal = market.g * start.t ** -float(self.alpha)
        ratio = start.s / marginal[self.user]
        part = start.v / start.t[self.user]
        self.used = part >= ratio
        least = np.minimum.reduceat(ratio, self.starts[:-1])
        self.used |= ratio <= least[self.user]
        # Part of what a user would pay for a little more that a row alone asks: of whom minds it most.
        most = np.zeros((self.k, self.m))
        weights = layout.need / marginal[:, None]
        for k in range(self.k):
            most[k] = weights[self.user[self.place == k]].max(axis=0, initial=0.0)
        asked = start.p * most * layout.place_rate
        money = float((start.p * (1 - start.z)).sum())
        self.priced = (asked >= start.z) & (start.p >= UNNOTICED * money * start.z)
        self.capped = self.limited & (start.nu / marginal >= 1 - start.t / np.where(self.limited, market.u, 1))
        self.seen: set[bytes] = set()

    def _mend(self, wrong: _Wrong) -> None:
        key = self.used.tobytes() + self.priced.tobytes() + self.capped.tobytes()
        if key in self.seen:
            wrong = wrong.first()
        self.seen.add(key)
        self.used = (self.used & ~wrong.negative) | wrong.lacking
        self.priced = (self.priced & ~wrong.worthless) | wrong.overfull
        self.capped = (self.capped & ~wrong.pushed) | wrong.beyond

    # ---- the equations ----------------------------------------------------------------------------------------------

    def run(self) -> Answer:
        """Solve, look at the signs, and again."""
        for _ in range(GUESSES):
            self.problem.deadline.check("Newton's method to 32 digits")
            error = self._solve()
            wrong = self._wrong(error)
            if not wrong.any():
                if error > SETTLED:
                    raise SolverError(f"Newton's method to 32 digits ended where equations are off by {error:.1e}")
                return self._answer()
            self._mend(wrong)
        raise SolverError(f"no set of active constraints was found in {GUESSES} tries: try the other engine")

    def _total(self, values: DoubleDouble) -> DoubleDouble:
        """Add up each user's pairs, (n,)."""
        if self.k == 1:
            return values
        return values.sums(self.starts[:-1], self.user)

    def _cost(self, p: DoubleDouble) -> DoubleDouble:
        """Return what one unit of each pair costs at prices of whole rows, (pairs,)."""
        price = p / self.room
        cost = self.need[:, 0][self.user] * price[:, 0][self.place]
        for j in range(1, self.m):
            cost = cost + self.need[:, j][self.user] * price[:, j][self.place]
        return cost

    def _left(self, v: DoubleDouble) -> DoubleDouble:
        """Return the part of every row that is left, (k, m)."""
        table = DoubleDouble(np.zeros((self.n, self.k)))
        table[self.user, self.place] = v
        found = DoubleDouble(np.zeros((self.k, self.m)))
        at_once = max(1, WIDE // table.high.size)
        for j in range(0, self.m, at_once):
            some = slice(j, j + at_once)
            found[:, some] = (table[:, :, None] * self.need[:, None, some]).sum()
        return 1.0 - found / self.room

    def _marginal(self, t: DoubleDouble) -> DoubleDouble:
        return self.worth / self._powered(t)

    def _solve(self) -> float:
        """Solve the equations of what is taken to be active; return the largest relative error that is left."""
        used, capped = self.used, self.capped
        self.v[~used], self.p[~self.priced] = 0.0, 0.0
        self.v.high[:], self.p.high[:] = np.maximum(self.v.high, 0), np.maximum(self.p.high, 0)
        best, factored, kept = np.inf, np.inf, (self.v[:], self.p[:])
        factors: Solver | None = None
        pairs = np.flatnonzero(used)
        owner = self.user[pairs]
        layout = pair_layout(self.need.high, self.room.high, owner, self.place[pairs])
        for step in range(STEPS):
            t = self._total(self.v)
            if not (t.high > 0).all():
                if not step:
                    raise SolverError("Newton's method to 32 digits is left without any tasks of some user")
                break
            if capped.any():
                stretch = self.u / t
                stretch[~capped] = 1.0
                self.v = self.v * stretch[self.user]
                t[capped] = self.u[capped]
            marginal, cost = self._marginal(t), self._cost(self.p)
            dual = marginal[self.user] - cost
            self.nu = self._mean(dual)
            dual = dual - self.nu[self.user]
            missed = np.where(used, dual.high, 0.0)
            left = self._left(self.v)
            rows = np.where(self.priced, left.high, 0.0)
            size = marginal.high
            error = float(max((np.abs(missed) / size[self.user]).max(), np.abs(rows).max()))
            self.t, self.left, self.cost, self.marginal = t, left, cost, marginal
            before = best
            if error < best:
                best, kept = error, (self.v[:], self.p[:])
            if error <= self.exact or not error < np.inf or (step > 3 and error > SLOW * before):
                break
            if factors is None or (step < 4 and factored > ROUGH):
                factors, factored = self._factored(layout, pairs, t.high, size), error
            dv, dp = factors(missed[pairs], rows)
            change = np.bincount(owner, weights=dv, minlength=self.n)
            reach = float(np.min(np.where(change < 0, 0.5 * t.high / np.maximum(-change, TINY), 1.0), initial=1.0))
            self.v[pairs] = self.v[pairs] + reach * dv
            self.p = self.p + reach * dp
        self.v, self.p = kept
        return best

    def _mean(self, dual: DoubleDouble) -> DoubleDouble:
        """Return what users at their limits would pay beyond what they do, (n,): the mean over their pairs."""
        if not self.capped.any():
            return DoubleDouble(np.zeros(self.n))
        count = np.bincount(self.user[self.used], minlength=self.n)
        dual = dual[:]
        dual[~self.used] = 0.0
        found = DoubleDouble(np.zeros(self.n))
        found[self.capped] = self._total(dual)[self.capped] / np.maximum(count, 1.0)[self.capped]
        return found

    def _factored(self, layout: Layout, pairs: np.ndarray, t: np.ndarray, size: np.ndarray) -> Solver:
        """Return the solver of one Newton step."""
        curve = float(self.alpha) * size / t
        d = layout.laid(1 / (NEAR * curve[self.user[pairs]]), 0.0)
        ground = np.where(self.capped, 0.0, 1 / curve)
        total = np.concatenate([layout.total(block, d[block.pairs]) for block in layout.blocks()]) + ground
        matrix = laplacian(layout, lambda block: d[block.pairs], total, ground)
        solver = RowMatrix(matrix, np.flatnonzero(self.priced))
        shape = (self.k, self.m)

        def pushed(right: np.ndarray) -> np.ndarray:
            """Return the inverse over the pairs, of each user by itself, times a vector."""
            found = np.empty(layout.shape)
            for block in layout.blocks():
                here, some = d[block.pairs], right[block.pairs]
                mean = layout.total(block, here * some) / total[block.groups]
                found[block.pairs] = here * (some - layout.spread(block, mean))
            return found

        def filled(amounts: np.ndarray) -> np.ndarray:
            return np.asarray(summed(layout, lambda block: (layout.filled(block, amounts[block.pairs]),))[0])

        def solve(missed: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            right = layout.laid(missed, 0.0)
            price = solver.solve((filled(pushed(right)) - rows).ravel()).reshape(shape)
            for block in layout.blocks():
                right[block.pairs] -= layout.cost(block, price)
            return layout.flat(pushed(right)), price

        return solve

    def _wrong(self, error: float) -> _Wrong:
        """Return what has the wrong sign."""
        zero = max(ZERO, 10 * error)
        size, t, cost = self.marginal.high, self.t.high, self.cost
        missing = (self.marginal[self.user] - self.nu[self.user] - cost).high
        left = self.left.high
        worthless = self.priced & (self.p.high < -zero * float(np.abs(self.p.high).max(initial=0)))
        idle = np.where(self.priced, left, 0.0)
        if idle.max(initial=0) > max(UNFILLED, zero):
            # A row that no price fills, because all who use it are at their limits, is worth nothing either; while it
            # is thought to be, the equations have no solution, and other rows look idle too: the idlest goes first.
            worthless[np.unravel_index(int(idle.argmax()), idle.shape)] = True
        at = (self.t - self.u).high / np.where(self.limited, self.u.high, 1.0)
        return _Wrong(
            negative=self.used & (self.v.high < -zero * t[self.user]),
            lacking=~self.used & (missing > zero * size[self.user]),
            worthless=worthless,
            overfull=~self.priced & (left < -zero),
            pushed=self.capped & (self.nu.high < -zero * size),
            beyond=self.limited & ~self.capped & (at > zero),
        )

    def _answer(self) -> Answer:
        problem, start = self.problem, self.start
        moved = np.abs(self.t.high / start.t - 1)
        if not moved.max() <= FAR:
            user = problem.instance.users[problem.members[int(moved.argmax())]]
            raise SolverError(
                f"Newton's method moved user {user!r} by {moved.max():.1e} of its tasks: the start is not believed"
            )
        v = self.v
        v[v.high < 0] = 0.0
        p = self.p / self.room
        p[p.high < 0] = 0.0
        amounts = v * self.scale[self.user]
        tasks = np.where(self.capped, problem.limits, (self.t * self.scale).high)
        prices = p.high * self.money
        if not np.isfinite(prices).all():
            raise SolverError(f"the prices of {problem.policy.name} are beyond the range of floats: take other weights")
        fine = DoublePoint(problem.members[self.user], self.place, amounts, p * self.money)
        return Answer(tasks, None if problem.instance.machines is None else amounts.high, prices, fine=fine)


def _rooms(problem: Problem) -> DoubleDouble:
    instance = problem.instance
    counts = [1] if instance.machines is None else [machine.count for machine in instance.machines]
    one = [instance.exact_capacity] if instance.machines is None else instance.exact_machine_capacity
    flat = [count * c for count, row in zip(counts, one, strict=True) for c in row]
    room = DoubleDouble.of(flat, (problem.k, problem.m))
    # What is not there nobody may use: any size will do.
    room[room.high == 0] = 1.0
    return room


def _first(change: np.ndarray) -> np.ndarray:
    only = np.zeros_like(change)
    if change.any():
        only[np.unravel_index(int(np.argmax(change)), change.shape)] = True
    return only
