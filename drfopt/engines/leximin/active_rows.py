"""The equations that a round's optimum satisfies, solved to rounding: what a solver's tolerance left is taken away.

Which rows have a price and which pairs carry amounts says which conditions of the optimum are equations:

    sum_r a[r, p] p[r]  =  lambda[g]              for every pair p of group g that carries something       (dual)
    sum_p a[r, p] x[p]  =  1                      for every row r with a price, or that would be overfull  (primal)
    sum_{p of g} x[p]   =  w[g] t + h[g]          for every group g                                        (primal)

Neither need have one solution; the nearest to the solver's is wanted, where a pair may move in proportion to what it
carries.  With weights  W[p] = x[p] / size[g]  both lead to one symmetric matrix over the rows,

    N  =  A W A'  -  sum_g (A x)_g (A x)_g' / (X[g] size[g])        X[g] = sum of x, (A x)_g what g fills of the rows

the dual by least squares, the primal by least change.  N is singular (all prices may rise together), so a ridge is
added and the steps are repeated, each from residuals found anew (iterative refinement): what the ridge hides vanishes,
and where the equations contradict each other the steps stay small.  Nothing is taken that is not better than before.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ...certificates.chain import DEARER, firm

__all__ = ["ActiveSetEquations", "Interior", "Point"]

UNCLEAR = 1e-12
"""What is missed where the solver stopped too early to tell which pairs carry something."""

RIDGE = 1e-12
"""Added to the diagonal of N, in units in which it is at most 1: far above its rounding, so that it has a root."""

STEPS = 12
"""Refinements of one set of equations: each leaves a thousandth, or shows that there is no more to gain."""

SETS = 4
"""Sets of rows that are tried: a row that a step makes overfull belongs to the next."""

MOST = 4000
"""Rows up to which N, which is full, is factorised: 128 MB, and about a second."""

SPARSE = 0.1
"""Part of a matrix that is not 0 up to which its products are made of lists."""

FULL = 1e-8
"""Distance from full at which a row is taken to be: what earlier rounds filled must not be overfilled now."""

ENOUGH = 1e-14
"""What a point may miss that is left as it is: rounds amplify it, but seldom by a thousand."""

DONE = 1e-15
"""What is missed, relative to all money and to a row, that is rounding."""

FAR = 0.5
"""Part of itself by which a step may change an amount or a price; beyond, they are not the optimum's equations."""


@dataclass(frozen=True, eq=False)
class Point:
    """Level, amounts (pairs,) and prices (rows,) of a round."""

    level: float
    amounts: np.ndarray
    prices: np.ndarray


class ActiveSetEquations:
    """The letters above, of one program: `matrix` (rows, pairs), `owner` (pairs,), `weights` and `held` (groups,)."""

    def __init__(self, matrix: sparse.csc_array, owner: np.ndarray, weights: np.ndarray, held: np.ndarray):
        self.matrix, self.owner, self.weights, self.held = matrix, owner, weights, held
        self.groups = len(weights)

    def sharpened(self, points: list[Point]) -> Point:
        """Return the point that satisfies the equations, or as much of the way there as is better than the best."""
        with np.errstate(all="ignore"):
            point = min(points, key=self.missed) if len(points) > 1 else points[0]
            if len(point.prices) > MOST or not (point.prices > 0).any():
                return point
            if self.missed(point) <= ENOUGH:
                return point
            found = self._solved(point)
            if self.missed(found) > UNCLEAR:
                found = min((found, self._solved(Interior(self, found).followed())), key=self.missed)
        return found

    def _solved(self, point: Point) -> Point:
        """Return the solution of the equations that the point shows, or the point where that is no better."""
        priced = self._priced(point)
        start = Point(self._bound(priced.prices, point.level), *self._open(priced))
        return min((point, start, self._filled(start)), key=self.missed)

    def missed(self, point: Point) -> float:
        """Return what the conditions of the optimum miss: money, relative to all of it, and the most overfull row."""
        multipliers = self._cheapest(self.matrix.T @ point.prices)
        filled = self.matrix @ self._scaled(point)
        unspent = point.prices @ np.abs(1 - filled) + point.amounts @ (
            self.matrix.T @ point.prices - multipliers[self.owner]
        )
        worst = unspent / point.prices.sum() + max(float(filled.max()) - 1, 0.0)
        return worst if np.isfinite(worst) else np.inf

    def _scaled(self, point: Point) -> np.ndarray:
        """Return the amounts, so many of each group as it is to have."""
        wanted, there = self.weights * point.level + self.held, self._sum(point.amounts)
        return point.amounts * np.divide(wanted, there, where=there > 0, out=np.zeros(self.groups))[self.owner]

    def _sum(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self.owner, weights=values, minlength=self.groups)

    def _cheapest(self, costs: np.ndarray) -> np.ndarray:
        least = np.full(self.groups, np.inf)
        np.minimum.at(least, self.owner, costs)
        return least

    def _bound(self, prices: np.ndarray, level: float) -> float:
        """Return the level that prices prove."""
        multipliers = self._cheapest(self.matrix.T @ prices)
        mass = float(multipliers @ self.weights)
        return (float(prices.sum()) - float(multipliers @ self.held)) / mass if mass > 0 else level

    def _open(self, point: Point) -> tuple[np.ndarray, np.ndarray]:
        """Return the amounts without those on pairs that are too dear, and the prices."""
        costs = self.matrix.T @ point.prices
        dear = costs - self._cheapest(costs)[self.owner] > DEARER * costs
        return np.where(dear, 0.0, point.amounts), point.prices

    def _priced(self, point: Point) -> Point:
        """Return the point with prices at which every group pays the same on all pairs that carry something."""
        best, worst = point, self._uneven(point)
        amounts = self._open(point)[0]
        system = _System(self.matrix, self.owner, amounts, np.flatnonzero(point.prices), self.groups)
        for _ in range(STEPS):
            if worst <= DONE or system.factor is None:
                break
            costs = self.matrix.T @ best.prices
            uneven = costs - (self._sum(amounts * costs) / system.total)[self.owner]
            step = system.scale * system.solve(-system.scale * (system.rows @ (system.weight * uneven)))
            prices = best.prices.copy()
            prices[system.present] += step
            if not (np.abs(step) <= FAR * best.prices[system.present]).all():
                break
            found = Point(point.level, point.amounts, firm(prices))
            if not (now := self._uneven(found)) < worst:
                break
            best, worst = found, now
        return best

    def _uneven(self, point: Point) -> float:
        """Return what is paid more than at the cheapest pairs, relative to all money."""
        costs = self.matrix.T @ point.prices
        return float(self._open(point)[0] @ (costs - self._cheapest(costs)[self.owner])) / float(point.prices.sum())

    def _filled(self, start: Point) -> Point:
        """Return the point with amounts that fill what has a price and overfill nothing."""
        wanted = self.weights * start.level + self.held
        present = (start.prices > 0) | (self.matrix @ self._scaled(start) > 1 - FULL)
        best, worst = start, self.missed(start)
        for _ in range(SETS):
            system = _System(self.matrix, self.owner, best.amounts, np.flatnonzero(present), self.groups)
            for _ in range(STEPS):
                if worst <= DONE or system.factor is None:
                    return best
                short = wanted - self._sum(best.amounts)
                empty = system.scale * (1 - system.rows @ best.amounts)
                pull = system.solve(empty - system.held @ (short / system.total))
                push = (short * system.size - system.held.T @ pull) / system.total
                step = system.weight * (push[self.owner] + system.rows.T @ (system.scale * pull))
                if not (np.abs(step) <= FAR * best.amounts).all():
                    break
                found = Point(start.level, best.amounts + step, start.prices)
                if not (now := self.missed(found)) < worst:
                    break
                best, worst = found, now
            over = self.matrix @ best.amounts > 1 + DONE
            if not (over & ~present).any():
                break
            present |= over
        return best


class _System:
    """N over some rows, `present`, with its root; rows are scaled so that none is larger than another.

    Attributes
    ----------
    rows : sparse array (r, pairs)
    held : array (r, groups)
        What each group fills of each row, scaled.
    """

    def __init__(
        self, matrix: sparse.csc_array, owner: np.ndarray, amounts: np.ndarray, present: np.ndarray, groups: int
    ):
        self.present, self.groups = present, groups
        self.rows = sparse.csr_array(matrix)[present]
        tiny = np.finfo(float).tiny
        self.total = np.maximum(np.bincount(owner, weights=amounts, minlength=groups), tiny)
        most = matrix.max(axis=0).toarray().ravel()
        self.size = np.maximum(np.bincount(owner, weights=amounts * most, minlength=groups) / self.total, tiny)
        self.weight = amounts / self.size[owner]
        self.scale = 1 / np.sqrt(np.maximum(self.rows.power(2) @ self.weight, tiny))
        adding = sparse.csr_array((amounts, (np.arange(len(owner)), owner)), shape=(len(owner), groups))
        self.held = sparse.csr_array(sparse.diags_array(self.scale) @ (self.rows @ adding))

    @cached_property
    def factor(self) -> tuple | None:
        """The root of N with its ridge, None where rounding leaves none."""
        scaled = sparse.diags_array(self.scale) @ self.rows
        held = self.held @ sparse.diags_array(1 / np.sqrt(self.total * self.size))
        table = (scaled @ sparse.diags_array(self.weight) @ scaled.T).toarray()
        table -= _squared(held)
        table.flat[:: len(table) + 1] += RIDGE
        try:
            return cho_factor(table, check_finite=False)
        except LinAlgError:
            return None

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return v with ``N v = right``, nearly."""
        return cho_solve(self.factor, right, check_finite=False)


def _squared(rows: sparse.csr_array) -> np.ndarray:
    """Return ``rows rows'``, which of few numbers lists make faster than tables."""
    if rows.nnz < SPARSE * np.prod(rows.shape):
        return np.asarray((rows @ rows.T).toarray())
    table = rows.toarray()
    return np.asarray(table @ table.T)


CENTRED = 0.1
"""Part of what complementarity misses that the next step aims at."""

FOLLOWED = 25
"""Newton's steps inside, each of which leaves about a tenth."""

BOUNDARY = 0.99
"""Part of the way to the boundary that a step may go."""


class Interior:
    """The interior point method over the equations: x, row slacks v, prices p, reduced costs s, all positive."""

    def __init__(self, equations: ActiveSetEquations, point: Point):
        self.e = e = equations
        self.start = point
        x, self.t, p = e._scaled(point), point.level, point.prices / point.prices.sum()
        # What is 0 with its partner gets the root of their product: inside, and in the middle.
        each = max(e.missed(point), DONE) / len(x)
        root = np.sqrt(each)
        slack = 1 - e.matrix @ x
        self.p = np.maximum(p, each / np.maximum(slack, root))
        self.v = np.maximum(slack, each / self.p)
        costs = e.matrix.T @ self.p
        self.multipliers = e._cheapest(costs) - each / e._sum(x)
        self.s = costs - self.multipliers[e.owner]
        self.x = np.maximum(x, each / np.maximum(self.s, root * costs))

    def followed(self) -> Point:
        """Return where the way inside ends: the prices are right there, the amounts but for what the ridge hides."""
        for _ in range(FOLLOWED):
            if float(self.x @ self.s) + float(self.p @ self.v) <= DONE * float(self.p.sum()) or not self._step():
                break
        return Point(self.e._bound(self.p, self.t), self.x, firm(self.p))

    def _step(self) -> bool:
        """Go one step; say whether there was one."""
        e, x, v, p, s = self.e, self.x, self.v, self.p, self.s
        target = CENTRED * (float(x @ s) + float(v @ p)) / (len(x) + len(v))
        open_ = x / s
        more = target / s - x
        total = e._sum(open_)
        adding = sparse.csr_array((open_, (np.arange(len(x)), e.owner)), shape=(len(x), e.groups))
        filled = sparse.csr_array(e.matrix @ adding)
        short = e.weights * self.t + e.held - e._sum(x)
        table = (e.matrix @ sparse.diags_array(open_) @ e.matrix.T).toarray()
        table.flat[:: len(table) + 1] += v / p
        size = 1 / np.sqrt(table.diagonal())
        table -= _squared(filled @ sparse.diags_array(1 / np.sqrt(total)))
        per_level = filled @ (e.weights / total)
        missing = (short - e._sum(more)) / total
        right = e.matrix @ (more + x) + target / p - 1 + filled @ missing
        table *= size * size[:, None]
        table.flat[:: len(table) + 1] += RIDGE
        try:
            root = cho_factor(table, check_finite=False)
        except (LinAlgError, ValueError):
            return False
        a, b = (size * cho_solve(root, size * side, check_finite=False) for side in (right, per_level))
        down = float(e.weights @ (e.weights / total)) + float(per_level @ b)
        level = -(float(e.weights @ missing) + float(per_level @ a)) / down
        price = a + level * b
        multiplier = missing + (filled.T @ price + e.weights * level) / total
        cost = e.matrix.T @ price - multiplier[e.owner]
        amount, slack = more - open_ * cost, target / p - v - v / p * price
        if not np.isfinite(level) or not np.isfinite(amount).all():
            return False
        first = min(_length(x, amount), _length(v, slack))
        second = min(_length(p, price), _length(s, cost))
        self.x, self.v, self.t = x + first * amount, v + first * slack, self.t + first * level
        self.p, self.multipliers = p + second * price, self.multipliers + second * multiplier
        self.s = s + second * cost
        return True


def _length(values: np.ndarray, step: np.ndarray) -> float:
    """Return how far the step may be gone so that the values stay positive, at most 1."""
    shrinks = step < 0
    return min(1.0, BOUNDARY * float((-values[shrinks] / step[shrinks]).min(initial=np.inf)))
