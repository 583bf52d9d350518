"""How far every user's tasks in CEEI and alpha fairness can be from the optimum's: two theorems, one for each cluster.

Conditions of optimality are measured in money, and what is next to nothing in money may be all of who spends little.
So both theorems bound every user's tasks for themselves.

**A pool, from its prices** (`pool_error`).  Let y_i be what i would buy at the prices p, p* prices of the optimum,
d = p* - p, s_i the part of what a task costs i that each resource is, v_i the money i spends, and e_j the part of j
that the y use too much or, where it has a price, leave.  Leaving resources that have neither price nor shortage aside,

    sum_i (y_i - y*_i)(q*_i - q_i)  <=  sum_j e_j c_j |d_j|,

since p* is the least of a convex function with the gradient c - used.  Every term on the left is at least 0, and of a
user far from its limit (v_i / alpha)(s_i . t)^2 but for higher terms, with t_j = d_j / p_j.  With the sum M of
(v_i / alpha) s_i s_i' over such users, or over some of them,

    |t|_M  <=  E = sum_j e_j p_j c_j sqrt(M^-1_jj),        |y*_i / y_i - 1|  <=  E sqrt(s_i' M^-1 s_i) / alpha.

Of many users a sample gives M; as s_i adds up to 1, sqrt(s_i' M^-1 s_i) is at most the largest sqrt(M^-1_jj).  Where
that is not enough all are looked at.  A resource that is used in fixed proportion to others, by all, and is there in the
same proportion, is left out, and its price added to theirs; one that only users at their limits use is left out if these
fit exactly, as they stay at their limits when it costs nothing.  At its limit a user is moved by what its cost grows
beyond what it would pay there.  What else leaves M singular cannot be told here.

**Any cluster, from a point nearby** (`fine_error`).  The engine gives its point again to forty digits: amounts z, which
are shrunk until they are possible, and prices p >= 0.  With m_i the marginal utility at x_i = sum_k z_ik and q_i the
cheapest cost, concavity gives

    sum_i loss_i(x*_i)  <=  G = p . c - sum_i q_i x_i + sum_i max((m_i - q_i)(most_i - x_i), (q_i - m_i) x_i),

where loss_i is what the tangent at x_i overestimates by.  That is at least m_i x_i alpha r^2 / (2 + 2 a r) where x*_i is
x_i (1 + r) with r > 0, for a = max(1, alpha), and at least m_i x_i alpha r^2 / 2 where r < 0.  So r is at most the root.
Nothing is assumed about what is unique or active; where forty digits do not make G small nothing is told.

Both are computed with roundings: the first counts them in e, those of numbers that floats cannot hold included, as an
estimate where thousands are added up; in the second they are 10^-20 of anything that matters.
"""

import decimal
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from ..base.tolerances import LEVEL_CEEI
from ..model.arrays import in_blocks
from ..model.instance import Instance
from ..model.policies import Policy

__all__ = ["FinePoint", "Spending", "fine_error", "pool_error"]

MANY = 1 << 14
"""Users from which on a sample of them is looked at first."""

EVERY, RUNS = 32, 8
"""A sample is one user in so many, in so many runs from everywhere in the list: its bound is wider by as much."""

EPSILON = float(np.finfo(np.float64).eps)

SHORT = 1e-6
"""Part of a resource that may be unused while it counts as one that could have a price."""

ALIKE = 3e-14
"""Part of a resource's column that may be left when it is a combination of others: some roundings."""

AFAR = 1e-7
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


Look = Callable[[slice], Spending]


def pool_error(
    look: Look,
    n: int,
    capacity: np.ndarray,
    prices: np.ndarray,
    used: np.ndarray,
    off: float,
    alpha: float,
    fit_exactly: Callable[[int], bool],
) -> float:
    """Return a bound of the relative error of every user's tasks in a pool; inf where there is none.

    Parameters
    ----------
    look : function
        `Spending` of a slice of the users.
    n : int
    capacity, prices, used : arrays (m,)
        In the units of the resources.
    off : float
        Largest part that anybody's level is off its best response.
    alpha : float
    fit_exactly : function
        Says whether those who use a resource have it, in exact numbers.
    """
    with np.errstate(all="ignore"):
        bound = _Bound(capacity, prices, used, off, alpha, n)
        if not np.isfinite(bound.unit).all():
            return np.inf
        if n >= MANY:
            error = bound.of_sample(look)
            if error <= LEVEL_CEEI:
                return error
        error = bound.of_all(look, fit_exactly)
    return error if error >= 0 else np.inf


class _Bound:
    """The first theorem, in parts of prices: a resource that has none counts as if it took all money."""

    def __init__(
        self, capacity: np.ndarray, prices: np.ndarray, used: np.ndarray, off: float, alpha: float, n: int
    ):
        self.n, self.alpha, self.off = n, alpha, off
        there = capacity > 0
        share = np.divide(used, capacity, where=there, out=np.zeros_like(used))
        self.rows = np.flatnonzero(there & ((prices > 0) | (share >= 1 - SHORT)))
        self.part = (prices[self.rows] > 0).astype(float)
        money = float((prices * capacity).sum())
        capacity = capacity[self.rows]
        self.price = np.where(self.part > 0, prices[self.rows], money / capacity)
        self.unit = self.price * capacity
        left = np.where(self.part > 0, np.abs(share - 1)[self.rows], np.maximum(share[self.rows] - 1, 0))
        # Numbers that floats cannot hold, costs of m terms, and sums of n of which large ones err by less than they may.
        self.e = left + off + EPSILON * (len(prices) + 6 + min(n / 2, 2 * math.sqrt(n)))

    def spent(self, users: Spending) -> np.ndarray:
        """Return the parts s of what a task is worth to users, (b, rows)."""
        rate = np.divide(users.tasks, users.worth, where=users.tasks > 0, out=np.zeros_like(users.tasks))
        return (users.demands[self.rows] * self.price[:, None] * rate).T

    def bends(self, users: Spending, spent: np.ndarray) -> np.ndarray:
        """Return the roots of what users add to M, (b, rows); none of who may be at its limit."""
        weight = np.where((users.room > AFAR) & (users.tasks > 0), users.worth / self.alpha, 0.0)
        return np.sqrt(weight)[:, None] * spent

    def of_sample(self, look: Look) -> float:
        """Return the bound that a sample gives."""
        if not self.part.all():
            return np.inf
        run = self.n // (EVERY * RUNS)
        starts = np.linspace(0, self.n - run, RUNS).astype(int).tolist()
        seen = [look(slice(start, start + run)) for start in starts]
        bends = [np.linalg.qr(self.bends(users, self.spent(users)), mode="r") for users in seen]
        root = self._root(np.vstack(bends))
        if root is None:
            return np.inf
        lengths = np.sqrt((root**2).sum(axis=1))
        return float((self.e * self.unit) @ lengths) * float(lengths.max()) / self.alpha + self.off

    def of_all(self, look: Look, fit_exactly: Callable[[int], bool]) -> float:
        """Return the bound that all users give."""
        triangles = in_blocks(self.n, partial(self._triangles, look))
        spent = np.linalg.qr(np.vstack([one for one, _ in triangles]), mode="r")
        bends = np.linalg.qr(np.vstack([two for _, two in triangles]), mode="r")
        if not (np.isfinite(spent).all() and np.isfinite(bends).all()):
            return np.inf
        kept = self._independent(spent, bends, fit_exactly)
        root = None if kept is None else self._root(bends[:, kept])
        if kept is None or root is None:
            return np.inf
        reach = float((self.e * self.unit)[kept] @ np.sqrt((root**2).sum(axis=1)))
        moved = in_blocks(self.n, partial(self._moved, look, kept, root, reach))
        worst, poorest = max(one for one, _ in moved), min(two for _, two in moved)
        # What resources without a price may still cost is of second order: it is paid out of E |t|.
        return worst + len(self.unit) * reach**2 / (SHORT * poorest * self.alpha)

    def _triangles(self, look: Look, rows: slice) -> tuple[np.ndarray, np.ndarray]:
        users = look(rows)
        spent = self.spent(users)
        return np.linalg.qr(spent, mode="r"), np.linalg.qr(self.bends(users, spent), mode="r")

    def _moved(self, look: Look, kept: np.ndarray, root: np.ndarray, reach: float, rows: slice) -> tuple[float, float]:
        """Return how far somebody's tasks may be off, and what the poorest spends."""
        users = look(rows)
        some = users.tasks > 0
        change = reach * np.sqrt(((self.spent(users)[:, kept] @ root) ** 2).sum(axis=1)) / self.alpha
        # Who is at its limit has off <= 0 where it would have more.
        error = np.where(users.room > 0, change + np.abs(users.off), np.maximum(change + users.off, 0) + EPSILON)
        return float(error.max(where=some, initial=0)), float(users.worth.min(where=some, initial=np.inf))

    def _independent(
        self, spent: np.ndarray, bends: np.ndarray, fit_exactly: Callable[[int], bool]
    ) -> np.ndarray | None:
        """Return the resources that matter, as positions of `rows`; None where that cannot be told."""
        price, kept = self.part.copy(), []  # type: np.ndarray, list[int]
        for at in sorted(range(len(price)), key=lambda at: (-self.part[at], -self.unit[at])):
            if not bends[:, at].any():
                if not fit_exactly(int(self.rows[at])):
                    return None
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
