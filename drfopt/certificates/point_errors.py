"""How far every user's tasks in CEEI and alpha fairness can be from the optimum's, from a point of 32 digits nearby.

**Theorem.**  Let z >= 0 be amounts that are possible, x_i = sum_k z_ik, and p >= 0 any prices; q_i what a task costs i
on its cheapest class, y_i what i would buy at that, its limit at most, and m_i its marginal utility.  The tangent at
y_i, concavity, and p . used(x*) <= p . c for the optimum x* give

    sum_i loss_i(x*_i)  <=  G  =  p . c  -  sum_i q_i x_i  +  sum_i (m_i(x_i) - q_i)(y_i - x_i)

where loss_i(x) = u_i(y_i) - u_i(x) - m (y_i - x) for the slope m of its utility at y_i, which is q_i below the limit
and no less at it.  Indeed sum u_i(x_i) <= sum u_i(x*_i); what x_i is worth to a user net of its cost is less than what
y_i is by at most (m_i(x_i) - q_i)(y_i - x_i), and what x*_i is worth to it, net of its cost, is less by loss_i(x*_i)
at least.  With x*_i = y_i (1 + r),

    loss_i  >=  m_i y_i alpha r^2 / (2 + 2 max(1, alpha) r)   for r > 0,   m_i y_i alpha r^2 / 2   for r < 0,

so r is at most the root of that at G.  Nothing is assumed about what is unique or active, nor about how the point was
found.  Since r goes with the root of G, the first two terms, which nearly cancel, are added up in double-double numbers
of the instance's exact ones; what these may err by is added to G.

Users are looked at block by block.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from ..base.numbers.double_double import UNIT, DoubleDouble
from ..base.partitions import Partitions
from ..base.states import First, Most
from ..model.arrays import in_blocks
from ..model.instance import Instance
from ..model.policies import Policy

__all__ = ["WIDE", "DoublePoint", "PointUsers", "in_stretches", "parts_error", "point_error", "rooms"]


MIDDLE = 1e-200
"""Amounts, costs and marginal utilities below this, or above one over it, have lost digits at the ends of the range."""


FLOATS = 1e-9
"""Far more than the roundings of a few numbers in floats: what is added to those that must not be too small."""


WIDE = 1 << 14
"""Products of 32 digits computed at once: more of them wait for memory, fewer for the interpreter."""


@dataclass(frozen=True, eq=False)
class DoublePoint:
    """Amounts and prices to 32 digits.

    Attributes
    ----------
    users, classes : int arrays (pairs,)
        Rows of the instance, in ascending order, and their classes.
    amounts : DoubleDouble (pairs,)
        Tasks.
    prices : DoubleDouble (k, m)
        Of one unit of each resource of a class.
    """

    users: np.ndarray
    classes: np.ndarray
    amounts: DoubleDouble
    prices: DoubleDouble


def point_error(instance: Instance, policy: Policy, tasks: np.ndarray, point: DoublePoint) -> float:
    """Return a bound of the relative error of every user's tasks (n,), floats; inf where there is none."""
    return parts_error(Partitions([PointUsers(instance, policy, tasks, point)]), instance.n)


def parts_error(parts: Partitions, n: int) -> float:
    """Return the same of n users who lie in parts, each of them `PointUsers`: three sums over them."""
    with np.errstate(all="ignore"):
        filled, over, prices, room, rounding = parts.total(PointUsers.used, n, what="proof")
        ratio = filled / room.first
        ratio[(room.first.high == 0) & (filled.high == 0)] = 0.0
        most = max(float(over.values), float(((ratio - 1.0).high).max()))
        if not (np.isfinite(filled.high).all() and most < np.inf):
            return math.inf
        # The amounts are shrunk until they are possible, roundings included.
        shrunk = DoubleDouble(1.0) - (max(most, 0.0) * (1 + FLOATS) + rounding.first)
        spent, missed, size = parts.total(PointUsers.spent, shrunk, what="proof")
        money = (prices.first * room.first).reshape(-1).sum()
        gain = float((money - spent).high) + missed
        gain += 4 * rounding.first * (float(money.high) + size)
        (worst,) = parts.total(PointUsers.worst, shrunk, max(gain, 0.0), what="proof")
        error = float(worst.values)
    return error if gain < math.inf and error >= 0 else math.inf


def in_stretches(m: int, size: int) -> list[slice]:
    """Return m columns, of so many numbers each, in stretches whose products are computed at once."""
    at_once = max(1, WIDE // max(size, 1))
    return [slice(j, j + at_once) for j in range(0, m, at_once)]


def rooms(instance: Instance) -> DoubleDouble:
    """Return what all machines of each class have together, (k, m); a pool is one class."""
    one = instance.fine("capacity")
    return one.reshape(1, -1) if instance.machines is None else one * instance.counts[:, None].astype(float)


class PointUsers:
    """Users of a part, their tasks and the point near them."""

    def __init__(self, instance: Instance, policy: Policy, tasks: np.ndarray, point: DoublePoint):
        self.instance, self.tasks, self.point = instance, tasks, point
        self.exponent = Fraction(str(policy.alpha))
        self.alpha = float(self.exponent)
        self.m = instance.m
        self.k = max(1, instance.k)
        self.rates = policy.exact_rates(instance) if self.exponent != 1 else None
        self.starts = np.searchsorted(point.users, np.arange(instance.n + 1))
        self._looked: list | None = None
        self._amounts: dict[int, DoubleDouble] = {}

    def used(self, n: int) -> tuple:
        """Return what users use of each row (k, m), by what part somebody is beyond its limit; prices, what classes
        have, and what sums over n users may err by, which are the same for all parts."""
        instance = self.instance
        with np.errstate(all="ignore"):
            parts = in_blocks(instance.n, self._used)
            filled = parts[0][0]
            for part, _ in parts[1:]:
                filled = filled + part
        same = First(self.point.prices), First(rooms(instance)), First(self._rounding(n))
        return filled, Most(max(ratio for _, ratio in parts)), *same

    def spent(self, shrunk: DoubleDouble) -> tuple:
        """Return what users pay at least, with all amounts shrunk, what they miss, and the size of both."""
        seen = self._seen(shrunk)
        spent = seen[0][0]
        for looked in seen[1:]:
            spent = spent + looked[0]
        return spent, sum(looked[1] for looked in seen), sum(looked[2] for looked in seen)

    def worst(self, shrunk: DoubleDouble, gain: float) -> tuple:
        """Return the largest bound of a user's error, where all together lose so much at most."""
        error = 0.0
        with np.errstate(all="ignore"):
            for _, _, _, worth, off in self._seen(shrunk):
                lost = gain / worth
                curve = max(1 / self.alpha, 1.0) * lost
                bound = (curve + np.sqrt(curve**2 + 2 * lost / self.alpha) + off).max(initial=0)
                error = float(np.maximum(error, bound))
        return (Most(error),)

    def _seen(self, shrunk: DoubleDouble) -> list:
        """Return what `_look` does, which is made once where the users stay."""
        if self._looked is None:
            with np.errstate(all="ignore"):
                self._looked = in_blocks(self.instance.n, partial(self._look, shrunk))
        return self._looked

    def _rounding(self, n: int) -> float:
        """Return what sums over all users may err by, relative to their terms, which are positive."""
        powers = 2 * (self.exponent.numerator + self.exponent.denominator)
        return UNIT * (2 * math.ceil(math.log2(n + 1)) + 3 * self.k + 3 * self.m + powers + 20)

    def _table(self, rows: slice) -> DoubleDouble:
        """Return the amounts of some users on each class, (b, k)."""
        point, pairs = self.point, slice(int(self.starts[rows.start]), int(self.starts[rows.stop]))
        table = DoubleDouble(np.zeros((rows.stop - rows.start, self.k)))
        table[point.users[pairs] - rows.start, point.classes[pairs]] = point.amounts[pairs]
        return table

    def _demands(self, rows: slice) -> DoubleDouble:
        return self.instance.fine("demands", rows)

    def _used(self, rows: slice) -> tuple[DoubleDouble, float]:
        """Return what some users use of each row, (k, m), and by what part the first is beyond its limit."""
        table, demands = self._table(rows), self._demands(rows)
        found = DoubleDouble(np.zeros((self.k, self.m)))
        for some in in_stretches(self.m, table.high.size):
            found[:, some] = (table[:, :, None] * demands[:, None, some]).sum()
        floats = self.instance.limits[rows]
        bound = np.flatnonzero((floats > 0) & np.isfinite(floats))
        if not bound.size:
            return found, 0.0
        self._amounts[rows.start] = amounts = table.sum(axis=1)
        over = amounts[bound] / self.instance.fine("limits", rows)[bound] - 1.0
        return found, float(over.high.max())

    def _look(self, shrunk: DoubleDouble, rows: slice) -> tuple[DoubleDouble, float, float, np.ndarray, np.ndarray]:
        """Return what some users pay at least, what they miss, what that may err by, their worths and distances."""
        instance = self.instance
        amounts = self._amounts.get(rows.start)
        x = (self._table(rows).sum(axis=1) if amounts is None else amounts) * shrunk
        cost = self._cheapest(rows)
        some = x.high > 0
        tasks = self.tasks[rows]
        if ((tasks > 0) & ~some).any():
            return DoubleDouble(0.0), math.inf, 0.0, np.ones(1), np.zeros(1)
        here = np.flatnonzero(some) + rows.start
        x, cost, tasks = x[some], cost[some], tasks[some]
        weights = instance.fine("weights", here)
        if self.rates is None:
            marginal = weights / x
        else:
            rates = DoubleDouble.of(self.rates[i] for i in here.tolist())
            power = (rates * x).power(self.exponent.numerator).root(self.exponent.denominator)
            marginal = weights * rates / power
            marginal[power.high > 1 / MIDDLE] = 0.0
        if not all(((v.high >= MIDDLE) & (v.high <= 1 / MIDDLE)).all() for v in (x, cost[cost.high > 0], marginal)):
            return DoubleDouble(0.0), math.inf, 0.0, np.ones(1), np.zeros(1)
        # Relative distances, which are all that is left to floats.
        apart = ((marginal - cost) / marginal).high
        limited = np.isfinite(instance.limits[here])
        most = instance.fine("limits", here)
        most[~limited] = 0.0
        left = np.where(limited, ((most - x) / x).high, np.inf)
        wanted = np.where(cost.high > 0, np.expm1(-np.log1p(-apart) / self.alpha), np.inf)
        reach = np.minimum(wanted, np.maximum(left, 0.0))
        worth = (marginal * x).high
        missed = float((worth * np.abs(apart * reach)).sum())
        off = np.abs(((tasks - x) / x).high) + np.abs(reach)
        size = float((cost.high * x.high).sum() + worth.sum())
        # What y_i is worth.
        worth = worth * np.minimum(1.0, (1 + reach) ** (1 - self.alpha)) * (1 - FLOATS)
        return (cost * x).sum(), missed * (1 + FLOATS), size, worth, off

    def _cheapest(self, rows: slice) -> DoubleDouble:
        """Return what a task of some users costs at least, (b,)."""
        demands, prices = self._demands(rows), self.point.prices
        costs = (
            (demands[:, None, some] * prices[None, :, some]).sum(axis=2)
            for some in in_stretches(self.m, len(demands.high) * self.k)
        )
        cost = sum(costs, next(costs))
        if self.instance.fits is not None:
            closed = ~self.instance.fits[rows]
            cost[closed] = np.inf
        return cost.least(axis=1)
