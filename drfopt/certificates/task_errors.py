"""How far every user's tasks in CEEI and alpha fairness can be from the optimum's: two theorems, one for each cluster.

Conditions of optimality are measured in money, and what is next to nothing in money may be all of who spends little.
So both theorems bound every user's tasks for themselves.

**A pool, from its prices** (`pool_error`).  Let y_i be what i would buy at the prices p, p* prices of the optimum,
d = p* - p, s_i the part of what a task costs i that each resource is, v_i the money i spends, and e_j the part of j
that the y use too much or, where it has a price, leave.  Then

    sum_i (y_i - y*_i)(q*_i - q_i)  <=  sum_j e_j c_j |d_j|,

since p* is the least of a convex function with the gradient c - used.  Every term on the left is at least 0, and of a
user far from its limit (v_i / alpha)(s_i . t)^2 but for higher terms, with t_j = d_j / p_j.  With the sum M of
(v_i / alpha) s_i s_i' over such users, or over some of them,

    |t|_M  <=  E = sum_j e_j p_j c_j sqrt(M^-1_jj),        |y*_i / y_i - 1|  <=  E sqrt(s_i' M^-1 s_i) / alpha.

Of many users a sample gives M; as s_i adds up to 1, sqrt(s_i' M^-1 s_i) is at most the largest sqrt(M^-1_jj).  Where
that is not enough all are looked at.  A resource that all use in fixed proportion to others, and of which there is as
much, is left out, and its price added to theirs.  At its limit a user is moved by what its cost grows beyond
what it would pay there.  A resource that only users at their limits use is left out, as they stay there when it costs
nothing; where they need more than there is, by some roundings, none of them has to give more than all that is missing,
and what others use is as uncertain as that.  Resources with neither price nor shortage may get a price p_j; that is of
second order, as it is paid out of sum_j e_j c_j |d_j| for each part of j that is left.  What else leaves M singular
cannot be told here.

Where these bounds are small enough to show that nobody comes to its limit or leaves it and that no price appears or
goes, what is used changes by a matrix within (1 + 1 / alpha) z of M, for z the largest of them; so that

    |y*_i / y_i - 1|  <=  ( sum_j |s_i' M^-1|_j e_j p_j c_j  +  2 (1 + 1 / alpha) z^2 ) / alpha,

which does not pay for errors where others spend as if they were one's own.

**Any cluster, from a point nearby** (`fine_error`).  The engine gives its point again to forty digits: amounts z, which
are shrunk until they are possible, and prices p >= 0.  With m_i the marginal utility at x_i = sum_k z_ik and q_i the
cheapest cost, concavity gives

    sum_i loss_i(x*_i)  <=  G = p . c - sum_i q_i x_i + sum_i max((m_i - q_i)(most_i - x_i), (q_i - m_i) x_i),

where loss_i is what the tangent at x_i overestimates by.  With x*_i = x_i (1 + r) that is at least
m_i x_i alpha r^2 / (2 + 2 max(1, alpha) r) for r > 0, and at least m_i x_i alpha r^2 / 2 for r < 0.  So r is at most
the root.  Nothing is assumed about what is unique or active; where forty digits do not make G small nothing is told.

Both are computed with roundings: the first counts them in e, those of numbers that floats cannot hold included, as an
estimate where thousands are added up; in the second they are 10^-20 of anything that matters.
"""

import decimal
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np

from ..base.partitions import Partitions
from ..base.tolerances import LEVEL_CEEI
from ..model.arrays import in_blocks
from ..model.instance import Instance
from ..model.policies import Policy

__all__ = ["FinePoint", "Spenders", "Spending", "fine_error", "pool_error"]

MANY = 1 << 14
"""Users from which on a sample of them is looked at first."""

EVERY, RUNS = 32, 8
"""A sample is one user in so many, in so many runs from everywhere in the list: its bound is wider by as much."""

EPSILON = float(np.finfo(np.float64).eps)

SHORT = 1e-6
"""Part of a resource that may be unused while it counts as one that could have a price."""

ALIKE = 3e-14
"""Part of a resource's column that may be left when it is a combination of others: some roundings."""

AFAR = 1e-5
"""Relative distance from a limit that no error which is accepted here can bridge."""

DIGITS = 50
"""Digits of sums at a fine point."""

NEARLY = 1e-6
"""Part by which a class is dearer than the cheapest, in floats, that ends any doubt about which is cheaper."""


# ---- a pool, from its prices -----------------------------------------------------------------------------------------


class Spending(NamedTuple):
    """Some users at given prices.

    `demands` is (m, b), all else (b,): `tasks`; `worth`, what they are worth to them (what they pay for them, below
    their limits); `off`, level over best response minus 1; `room`, how far their limits are away, as a part of them.
    """

    demands: np.ndarray
    tasks: np.ndarray
    worth: np.ndarray
    off: np.ndarray
    room: np.ndarray


class Spenders(Protocol):
    """Users of a pool, or a part of them."""

    @property
    def n(self) -> int:
        """How many there are."""

    def spending(self, rows: slice) -> Spending:
        """Return what some of them spend."""


def pool_error(
    parts: Partitions,
    n: int,
    capacity: np.ndarray,
    prices: np.ndarray,
    used: np.ndarray,
    off: float,
    poorest: float,
    alpha: float,
    lacking: Callable[[int], float],
) -> float:
    """Return a bound of the relative error of every user's tasks in a pool; inf where there is none.

    Parameters
    ----------
    parts : Partitions of Spenders
    n : int
        Users of all parts.
    capacity, prices, used : arrays (m,)
        In the units of the resources.
    off : float
        Largest part that anybody's level is off its best response.
    poorest : float
        The least that what somebody has is worth to it.
    alpha : float
    lacking : function
        The largest part of its tasks that somebody has to give where the limits of all who use a resource need more
        than there is, in exact numbers.
    """
    with np.errstate(all="ignore"):
        bound = _Bound(capacity, prices, used, off, poorest, alpha, n)
        if not np.isfinite(bound.unit).all():
            return np.inf
        if n >= MANY:
            error = bound.of_sample(parts)
            if error <= LEVEL_CEEI:
                return error
        error = bound.of_all(parts, lacking)
    return error if error >= 0 else np.inf


class _Bound:
    """The first theorem, in parts of prices: a resource that has none counts as if it took all money."""

    def __init__(
        self,
        capacity: np.ndarray,
        prices: np.ndarray,
        used: np.ndarray,
        off: float,
        poorest: float,
        alpha: float,
        n: int,
    ):
        self.n, self.alpha, self.off, self.poorest = n, alpha, off, poorest
        there = capacity > 0
        share = np.divide(used, capacity, where=there, out=np.zeros_like(used))
        scarce = there & ((prices > 0) | (share >= 1 - SHORT))
        self.rows = np.flatnonzero(scarce)
        self.given = 0.0
        """What users at their limits may have to give."""
        self.idle = np.flatnonzero(there & ~scarce)
        self.slack = (1 - share)[self.idle]
        self.plenty = capacity[self.idle]
        self.part = (prices[self.rows] > 0).astype(float)
        money = float((prices * capacity).sum())
        capacity = capacity[self.rows]
        self.price = np.where(self.part > 0, prices[self.rows], money / capacity)
        self.unit = self.price * capacity
        left = np.where(self.part > 0, np.abs(share - 1)[self.rows], np.maximum(share[self.rows] - 1, 0))
        # Numbers that floats cannot hold, costs of m terms, and sums of n: long ones err by less than they may.
        self.e = left + off + EPSILON * (len(prices) + 6 + min(n / 2, 2 * math.sqrt(n)))

    def spent(self, users: Spending) -> np.ndarray:
        """Return the parts s of what a task is worth to users, (b, rows)."""
        rate = np.divide(users.tasks, users.worth, where=users.tasks > 0, out=np.zeros_like(users.tasks))
        return (users.demands[self.rows] * self.price[:, None] * rate).T

    def bends(self, users: Spending, spent: np.ndarray) -> np.ndarray:
        """Return the roots of what users add to M, (b, rows); none of who may be at its limit."""
        return self._roots(users)[:, None] * spent

    def _roots(self, users: Spending) -> np.ndarray:
        """Return what parts are multiplied by for that, (b,)."""
        return np.sqrt(np.where((users.room > AFAR) & (users.tasks > 0), users.worth / self.alpha, 0.0))

    def of_sample(self, parts: Partitions) -> float:
        """Return the bound that a sample gives."""
        if not self.part.all():
            return np.inf
        root = self._root(_added(parts.each(_sampled, self, what="proof")))
        if root is None:
            return np.inf
        lengths = np.sqrt((root**2).sum(axis=1))
        reach = self._reach(float((self.e * self.unit) @ lengths))
        second = reach**2 * float((1 / self.slack).sum()) / self.poorest
        return (reach * float(lengths.max()) + second) / self.alpha + self.off

    def of_all(self, parts: Partitions, lacking: Callable[[int], float]) -> float:
        """Return the bound that all users give."""
        triangles = parts.each(_seen, self, what="proof")
        spent, bends = (_added(some) for some in zip(*triangles, strict=True))
        if not (np.isfinite(spent).all() and np.isfinite(bends).all()):
            return np.inf
        kept = self._independent(spent, bends, lacking)
        root = None if kept is None else self._root(bends[:, kept])
        if kept is None or root is None:
            return np.inf
        reach = self._reach(float(((self.e + self.given) * self.unit)[kept] @ np.sqrt((root**2).sum(axis=1))))
        weights = np.zeros(len(self.rows))
        weights[kept] = (self.e + self.given)[kept] * self.unit[kept]
        moved = np.array(parts.each(_moved, self, kept, root, reach, weights[kept], what="proof"))
        error, most, straight = moved[:, :3].max(axis=0).tolist()
        apart = float(moved[:, 3].min())
        lengths = np.sqrt((root**2).sum(axis=1)) * reach
        steady = self.part[kept].all() and lengths.max(initial=0) < 0.5 and 2 * most < min(apart, *self.slack, AFAR)
        if steady:
            error = min(error, straight + 2 * (1 + 1 / self.alpha) * most**2 / self.alpha)
        return float(error) + self.given

    def _reach(self, reach: float) -> float:
        """Return E with what prices of idle resources add to it, where they move nobody by more than is accepted."""
        return reach * (1 + math.sqrt(LEVEL_CEEI * float((1 / self.slack).sum())))

    def triangles(self, users: Spending) -> tuple[np.ndarray, np.ndarray]:
        """Return what some users add to the triangles of what is spent, and of what bends."""
        spent, roots = self.spent(users), self._roots(users)
        triangle = _triangle(spent)
        # Of users who pay alike, which is most of them, the one is a multiple of the other.
        alike = roots.size and roots.min() == roots.max()
        return triangle, roots[0] * triangle if alike else _triangle(roots[:, None] * spent)

    def moved(
        self, users: Spending, kept: np.ndarray, root: np.ndarray, reach: float, weights: np.ndarray
    ) -> tuple[float, float, float, float]:
        """Return for some users how far tasks may be off, costs may move, tasks may be off if nothing else changes,
        and how near somebody is to changing it.
        """
        some, held = users.tasks > 0, users.room <= 0
        directions = self.spent(users)[:, kept] @ root
        change = reach * np.sqrt((directions**2).sum(axis=1))
        # What is left of an idle resource times its price is at most E^2.
        idle = (users.demands[self.idle] / (self.plenty * self.slack)[:, None]).sum(axis=0) * users.tasks
        change += reach**2 * np.divide(idle, users.worth, where=some, out=np.zeros_like(idle))
        straight = np.abs(directions @ root.T) @ weights

        def worst(moved: np.ndarray) -> float:
            # Who is at its limit has off <= 0 where it would have more.
            part = moved / self.alpha
            error = np.where(held, np.maximum(part + users.off, 0) + EPSILON, part + np.abs(users.off))
            return float(error.max(where=some, initial=0))

        near = np.where(held, -users.off * self.alpha, np.where(users.room > AFAR, users.room, 0.0))
        apart = float(near.min(where=some, initial=np.inf))
        return worst(change), float(change.max(where=some, initial=0)), worst(straight), apart

    def _independent(self, spent: np.ndarray, bends: np.ndarray, lacking: Callable[[int], float]) -> np.ndarray | None:
        """Return the resources that matter, as positions of `rows`; None where that cannot be told."""
        price, kept = self.part.copy(), []  # type: np.ndarray, list[int]
        for at in sorted(range(len(price)), key=lambda at: (-self.part[at], -self.unit[at])):
            if not bends[:, at].any():
                self.given += lacking(int(self.rows[at]))
                continue
            column = spent[:, at]
            others = spent[:, kept]
            parts, *_ = np.linalg.lstsq(others, column, rcond=None) if kept else (np.zeros(0), None)
            if np.linalg.norm(column - others @ parts) > ALIKE * np.linalg.norm(column):
                kept.append(at)
                continue
            # It is used up by what the others let pass, or less.
            sizes = self.unit[at] + np.abs(parts) @ self.unit[kept]
            if not self.unit[at] >= parts @ self.unit[kept] - 16 * EPSILON * sizes:
                return None
            price[kept] += parts * price[at]
            if (price[kept] < 0).any() or (price[kept][parts < -ALIKE] < 0.5).any():
                return None
        return np.array(kept, dtype=np.intp)

    def _root(self, bends: np.ndarray) -> np.ndarray | None:
        """Return R (rows, rows) with R R' the inverse of B' B for B `bends`; None where there is no inverse."""
        sizes = np.sqrt((bends**2).sum(axis=0))
        if not ((sizes > 0) & np.isfinite(sizes)).all():
            return None
        _, values, vectors = np.linalg.svd(bends / sizes, full_matrices=False)
        if len(values) < len(sizes) or (len(values) and values[-1] <= ALIKE * values[0]):
            return None
        root: np.ndarray = (vectors / values[:, None]).T / sizes[:, None]
        return root


def _sampled(users: Spenders, bound: _Bound) -> np.ndarray:
    """Return the triangle of what bends, of a sample of the users of a part."""
    run = users.n // (EVERY * RUNS)
    seen = [users.spending(slice(s, s + run)) for s in np.linspace(0, users.n - run, RUNS).astype(int).tolist()]
    return _added([_triangle(bound.bends(some, bound.spent(some))) for some in seen])


def _seen(users: Spenders, bound: _Bound) -> tuple[np.ndarray, np.ndarray]:
    """Return the triangles of the users of a part."""
    found = in_blocks(users.n, lambda rows: bound.triangles(users.spending(rows)))
    one, two = (_added(some) for some in zip(*found, strict=True))
    return one, two


def _moved(
    users: Spenders, bound: _Bound, kept: np.ndarray, root: np.ndarray, reach: float, weights: np.ndarray
) -> list[float]:
    """Return how far the users of a part may be moved: `_Bound.moved` of the worst."""
    with np.errstate(all="ignore"):
        found = in_blocks(users.n, lambda rows: bound.moved(users.spending(rows), kept, root, reach, weights))
    worst = np.array(found)
    return [*worst[:, :3].max(axis=0).tolist(), float(worst[:, 3].min())]


def _triangle(rows: np.ndarray) -> np.ndarray:
    """Return the triangle R with R' R = B' B, for B some rows."""
    return np.asarray(np.linalg.qr(rows, mode="r"))


def _added(triangles: Sequence[np.ndarray]) -> np.ndarray:
    """Return the triangle of all rows of which these are the triangles."""
    return triangles[0] if len(triangles) == 1 else _triangle(np.vstack(triangles))


# ---- any cluster, from a point nearby --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FinePoint:
    """Amounts and prices to many digits: tasks of (user, class), and prices of a unit of (class, resource)."""

    amounts: dict[tuple[int, int], Fraction]
    prices: dict[tuple[int, int], Fraction]


def fine_error(instance: Instance, policy: Policy, tasks: np.ndarray, point: FinePoint) -> float:
    """Return a bound of the relative error of every user's tasks (n,), floats, from a point nearby."""
    with decimal.localcontext() as context:
        context.prec = DIGITS
        context.Emin, context.Emax = decimal.MIN_EMIN, decimal.MAX_EMAX
        return _FineBound(instance, policy, point).worst(tasks)


class _FineBound:
    """The second theorem."""

    def __init__(self, instance: Instance, policy: Policy, point: FinePoint):
        self.instance, self.alpha = instance, _decimal(Fraction(str(policy.alpha)))
        pool = instance.machines is None
        counts = [1] if pool else [machine.count for machine in instance.machines or ()]
        one = [instance.exact_capacity] if pool else instance.exact_machine_capacity
        self.room = [[_decimal(count * c) for c in row] for count, row in zip(counts, one, strict=True)]
        self.amounts: dict[int, dict[int, Decimal]] = {}
        for (i, k), amount in point.amounts.items():
            self.amounts.setdefault(i, {})[k] = _decimal(amount)
        self.users = list(self.amounts)
        self.demands = {i: [(j, _decimal(d)) for j, d in enumerate(instance.exact_demands[i]) if d] for i in self.users}
        self.prices: list[dict[int, Decimal]] = [{} for _ in self.room]
        for (k, j), price in point.prices.items():
            self.prices[k][j] = _decimal(price)
        self.limits = [None if u is None else _decimal(u) for u in instance.exact_limits]
        rates = None if policy.alpha == 1 else policy.exact_rates(instance)
        self.rates = [Decimal(1)] * instance.n if rates is None else [_decimal(rate) for rate in rates]
        self.cheap = self._cheap()

    def _cheap(self) -> list[list[int]]:
        """Return the classes that may be the cheapest of each user who has tasks."""
        table = np.zeros((len(self.room), self.instance.m))
        for k, row in enumerate(self.prices):
            for j, price in row.items():
                table[k, j] = float(price)
        costs = self.instance.demands[self.users] @ table.T
        if self.instance.fits is not None:
            costs[~self.instance.fits[self.users]] = np.inf
        least = costs.min(axis=1, keepdims=True)
        near = (costs <= least * (1 + NEARLY)) | ~np.isfinite(least)
        return [np.flatnonzero(row).tolist() for row in near]

    def worst(self, tasks: np.ndarray) -> float:
        """Return the largest bound of a user's error."""
        tasks = tasks.tolist()
        if any(x > 0 and i not in self.amounts for i, x in enumerate(tasks)):
            return math.inf
        shrunk = self._shrunk()
        gain = sum((p * self.room[k][j] for k, row in enumerate(self.prices) for j, p in row.items()), Decimal(0))
        worths = []
        for i, cheap in zip(self.users, self.cheap, strict=True):
            x = sum(self.amounts[i].values(), Decimal(0)) * shrunk
            if x <= 0:
                return math.inf
            cost = min(self._cost(i, k) for k in cheap)
            weight, rate = _decimal(self.instance.exact_weights[i]), self.rates[i]
            marginal = weight / x if self.alpha == 1 else weight * rate * (rate * x) ** -self.alpha
            most = self._most(i)
            gain += max((marginal - cost) * (most - x), (cost - marginal) * x) - cost * x
            worths.append((i, x, marginal * x))
        error, curve = Decimal(0), max(1 / self.alpha, Decimal(1))
        for i, x, worth in worths:
            part = max(gain, Decimal(0)) / worth
            reach = curve * part + ((curve * part) ** 2 + 2 * part / self.alpha).sqrt()
            error = max(error, reach + abs(Decimal(tasks[i]) / x - 1))
        return float(error)

    def _cost(self, i: int, k: int) -> Decimal:
        prices = self.prices[k]
        return sum((prices[j] * d for j, d in self.demands[i] if j in prices), Decimal(0))

    def _shrunk(self) -> Decimal:
        """Return the factor that makes the amounts possible."""
        used: dict[tuple[int, int], Decimal] = {}
        over = [Decimal(1)]
        for i, mine in self.amounts.items():
            for k, amount in mine.items():
                for j, d in self.demands[i]:
                    used[k, j] = used.get((k, j), Decimal(0)) + amount * d
            limit = self.limits[i]
            if limit is not None:
                over.append(sum(mine.values(), Decimal(0)) / limit)
        over += [amount / self.room[k][j] for (k, j), amount in used.items()]
        return 1 / max(over)

    def _most(self, i: int) -> Decimal:
        """Return more than the optimum can give a user."""
        fits = self.instance.fits
        classes: Sequence[int] = range(len(self.room)) if fits is None else np.flatnonzero(fits[i]).tolist()
        alone = sum((min(self.room[k][j] / d for j, d in self.demands[i]) for k in classes), Decimal(0))
        limit = self.limits[i]
        return alone if limit is None else min(alone, limit)


def _decimal(value: Fraction | int) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
