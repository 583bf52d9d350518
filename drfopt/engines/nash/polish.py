"""Newton's method on the optimality conditions of a market: from a solver's answer to one that rounding alone limits.

Given which pairs are used, which rows are priced and which users are at their limits, the conditions are equations:
the marginal utility of a user equals the cost on each class she uses, priced rows are used up, users at their limits
stay there.  Where placements or prices are not unique, tiny diagonals keep them near the start.  Afterwards the signs
are looked at, wrong guesses are corrected, and the equations are solved again.
"""

import numpy as np
from scipy import sparse

from ...base.errors import SolverError
from ...base.tolerances import EXACT, TINY
from .scaled_market import MarketPoint, Reduced, ScaledMarket

__all__ = ["polish"]

GUESSES = 60
STEPS = 40

NEAR = 1e-8
"""Diagonal over pairs, relative to the curvature of the user's utility: it vanishes from the answer as steps repeat."""

FREE = 1e-13
"""Diagonal over rows, relative to the matrix: it keeps prices that are not unique near the start."""

ZERO = 1e-12
"""A quantity of scaled size 1 below this is rounding."""

UNNOTICED = 1e-3
"""Price of a whole idle row, relative to all money, that is a solver's tolerance."""

UNFILLED = 1e-7
"""Part of a priced row that is left unused when the equations have no solution: Newton's error is far below."""

FAR = 0.3
"""Relative change of a user's tasks beyond which the start was none: solver and equations speak of two markets."""


def polish(market: ScaledMarket, start: MarketPoint, money: float) -> MarketPoint:
    """Return the solution of the optimality conditions nearest to the start.

    `money` is the amount, in scaled letters, that the start's tolerance is relative to.

    Raises
    ------
    SolverError
        When no choice of active constraints satisfies them, or the solution is far from the start.
    """
    # Overflow and division by zero mean a hopeless start: the comparisons below, and the certificate, see that.
    with np.errstate(all="ignore"):
        point = _settle(market, start, money)
        before, after = market.total(start.v), market.total(point.v)
        moved = np.nan_to_num(np.abs(after - before) / np.maximum(before, ZERO), nan=np.inf)
    if not moved.max() <= FAR:
        user = market.problem.instance.users[market.problem.members[int(moved.argmax())]]
        raise SolverError(
            f"Newton's method moved user {user!r} by {moved.max():.1e} of its tasks: the start is not believed"
        )
    return point


def _settle(market: ScaledMarket, start: MarketPoint, money: float) -> MarketPoint:
    guess = _Guess(market, start, money)
    point = start
    for _ in range(GUESSES):
        point = _newton(market, guess, point)
        if not guess.mend(point):
            return point
    raise SolverError(f"no set of active constraints was found in {GUESSES} tries: try the other engine")


class _Guess:
    """Which pairs are used, which rows priced, which users at their limits."""

    def __init__(self, market: ScaledMarket, start: MarketPoint, money: float):
        self.market = market
        t = market.total(start.v)
        slack = 1 - market.matrix @ start.v
        # Part of what a user would pay for a little more that a row alone asks: of her who minds it most.  A price so
        # small that the money would not notice it on an idle row is a solver's zero, whatever it is to a user.
        asked = sparse.diags(start.p) @ market.matrix @ sparse.diags(1 / market.marginal(t)[market.user])
        self.priced = (asked.max(axis=1).toarray().ravel() >= slack) & (start.p >= UNNOTICED * money * slack)
        # Zeros make no class dearer than another: who is at her limit would be crowded onto the smallest of them.
        cost = market.cost(np.where(self.priced, start.p, 0.0))
        cheapest = np.full(market.n, np.inf)
        np.minimum.at(cheapest, market.user, cost)
        part = start.v / t[market.user]
        least = cheapest[market.user]
        dearer = np.where(cost > least, cost / least - 1, 0.0)
        self.used = part >= dearer
        # The cheapest class of a user is used whatever the solver says.
        self.used |= cost <= least * (1 + ZERO)
        gap = np.where(np.isfinite(market.u), 1 - t / market.u, np.inf)
        self.capped = start.nu / market.marginal(t) >= gap
        self.seen: set[bytes] = set()

    def mend(self, point: MarketPoint) -> bool:
        """Correct what has the wrong sign; say whether anything had."""
        market = self.market
        t = market.total(point.v)
        size = market.marginal(t)
        negative = self.used & (point.v < -ZERO * t[market.user])
        lacking = ~self.used & (
            size[market.user] - point.nu[market.user] - market.cost(point.p) > ZERO * size[market.user]
        )
        filled = market.matrix @ point.v
        worthless = self.priced & (point.p < 0)
        idle = np.where(self.priced, 1 - filled, 0.0)
        if idle.max(initial=0) > UNFILLED:
            # A row that no price fills, because all who use it are at their limits, is worth nothing either; while it
            # is thought to be, the equations have no solution, and other rows look idle too: the idlest goes first.
            worthless[int(idle.argmax())] = True
        overfull = ~self.priced & (filled > 1 + ZERO)
        pushed = self.capped & (point.nu < -ZERO * size)
        beyond = ~self.capped & (t > market.u * (1 + ZERO))
        changes = (negative, lacking, worthless, overfull, pushed, beyond)
        if not any(change.any() for change in changes):
            return False
        if self._repeats():
            negative, lacking, worthless, overfull, pushed, beyond = map(_first, changes)
        self.used = (self.used & ~negative) | lacking
        self.priced = (self.priced & ~worthless) | overfull
        self.capped = (self.capped & ~pushed) | beyond
        point.v[~self.used] = 0
        point.p[~self.priced] = 0
        point.nu[~self.capped] = 0
        return True

    def _repeats(self) -> bool:
        key = self.used.tobytes() + self.priced.tobytes() + self.capped.tobytes()
        known = key in self.seen
        self.seen.add(key)
        return known


def _first(change: np.ndarray) -> np.ndarray:
    """Keep only the first of several changes: it breaks a cycle."""
    only = np.zeros_like(change)
    if change.any():
        only[int(np.argmax(change))] = True
    return only


def _newton(market: ScaledMarket, guess: _Guess, start: MarketPoint) -> MarketPoint:
    """Return the solution of the equations of a guess."""
    user = market.user
    active = np.flatnonzero(guess.priced)
    v = np.where(guess.used, np.maximum(start.v, 0), 0.0)
    p = np.where(guess.priced, np.maximum(start.p, 0), 0.0)
    nu = np.where(guess.capped, np.maximum(start.nu, 0), 0.0)
    # Users at their limits start there, and no step takes them away.
    t = market.total(v)
    stretch = np.where(guess.capped & (t > 0), np.where(guess.capped, market.u, 1) / np.where(t > 0, t, 1), 1.0)
    v = v * stretch[user]
    best = np.inf
    kept = MarketPoint(v, p, nu)
    for _ in range(STEPS):
        t = market.total(v)
        if not (t > 0).all():
            break
        size = market.marginal(t)
        cost = market.cost(p)
        dual = np.where(guess.used, size[user] - nu[user] - cost, 0.0)
        left = 1 - market.matrix[active] @ v
        # A user at her limit pays her dual whatever it is; only differences between her classes count.
        error = max(
            float(np.abs(np.where(guess.capped[user], 0, dual) / size[user]).max()),
            float(np.abs(left).max(initial=0)),
        )
        spread = _spread(market, guess, dual / size[user])
        error = max(error, spread)
        if error < best:
            best, kept = error, MarketPoint(v, p, nu)
        if error <= EXACT or not np.isfinite(error) or error > 1e3 * max(best, ZERO):
            break
        d = np.where(guess.used, NEAR * market.curvature(t)[user], np.inf)
        b = np.where(guess.capped, np.inf, market.curvature(t))
        reduced = Reduced(market, active, d, b)
        diagonal = FREE * np.maximum(reduced.kernel.diagonal(), TINY)
        dv, change, dp = reduced.solve(diagonal, dual, left)
        full = np.zeros(len(p))
        full[active] = dp
        # Half of what a user has is the most a step may take from her: the utility is not defined at 0.
        reach = float(np.min(np.where(change < 0, 0.5 * t / np.maximum(-change, TINY), 1.0), initial=1.0))
        v, p = v + reach * dv, p + reach * full
        mean = _weighted(market, guess, size[user] - market.cost(p))
        nu = np.where(guess.capped, mean, 0.0)
    return kept


def _weighted(market: ScaledMarket, guess: _Guess, values: np.ndarray) -> np.ndarray:
    """Return the mean over each user's used pairs, (n,)."""
    count = market.total(guess.used.astype(float))
    return market.total(np.where(guess.used, values, 0)) / np.maximum(count, 1)


def _spread(market: ScaledMarket, guess: _Guess, values: np.ndarray) -> float:
    """Return the largest difference between a user's used pairs and their mean."""
    mean = _weighted(market, guess, values)
    return float(np.abs(np.where(guess.used, values - mean[market.user], 0)).max(initial=0))
