"""CEEI on machines that are one pool in disguise: the pool's prices, and a placement of what they sell, to 32 digits.

What is possible on machines is possible in the pool of all their capacities.  So where what users buy in the pool fits
on the machines, with the resources that cost something used up on every class, the pool's market is theirs: a resource
has one price everywhere, and nobody minds where it is bought.  The prices are m numbers, found in the pool (`newton`)
and brought to 32 digits by its steps, with

    sum_i d_ij x_i(p)  =  c_j     where p_j > 0,      x_i(p) = w_i / sum_j p_j d_ij, or the limit.

The placement is that of `pool_placing`.  What it misses of 32 digits is small against its parts, none of which is near
0: two corrections, each linear, mend that, while everybody's parts stay 1 together.

Users are looked at block by block; what has the size of the pairs is the placement.
"""

import numpy as np

from ...base.errors import SolverError, TimeLimitError
from ...base.numbers.double_double import DoubleDouble
from ...certificates.point_errors import DoublePoint
from ...model.arrays import in_blocks
from ...model.instance import Instance
from ..pool_placing import PoolPlacement
from ..problem import Answer, Problem
from . import newton

__all__ = ["as_pool"]

STEPS = 12
"""Steps that bring prices from 10 digits to 32; two or three do."""

EXACT = 1e-28
"""Part of a resource that sums over a million users leave open."""

FIT = 1e-25
"""Part of a row that is left open in the end: the judge adds what is beyond it to the error."""

MENDS = 4
"""Corrections of a placement; each adds ten digits."""


MANY = 3_000
"""Pairs from which on asking costs less than it saves."""

CHANGED = 1 << 14
"""Users whose amounts are changed in one go."""


def as_pool(problem: Problem) -> Answer | None:
    """Return the optimum if what is bought in one pool fits on the machines; None where it does not seem to."""
    instance = problem.instance
    if instance.machines is None or instance.k < 2 or problem.policy.alpha != 1:
        return None
    if len(problem.pairs[0]) < MANY:
        return None
    with np.errstate(all="ignore"):
        try:
            return _PooledMarket(problem).solved()
        except TimeLimitError:
            raise
        except SolverError:
            return None


class _PooledMarket:
    def __init__(self, problem: Problem):
        self.problem, instance = problem, problem.instance
        self.user, self.place = problem.pairs
        self.need = problem.of_members(instance.demands)
        needed = np.zeros((problem.k, problem.m), dtype=bool)
        for k in range(problem.k):
            open_to = problem.of_members(instance.fits[:, k])
            needed[k] = ((self.need > 0) & open_to[:, None]).any(axis=0)
        counts = [machine.count for machine in instance.machines or ()]
        rows = [count * c for count, row in zip(counts, instance.exact_machine_capacity, strict=True) for c in row]
        self.room = DoubleDouble.of(rows, (problem.k, problem.m))
        self.room[~needed] = 0.0
        self.capacity = self.room.sum()

    def solved(self) -> Answer | None:
        problem, there = self.problem, self.capacity.high > 0
        limits, weights = problem.limits, problem.weights
        pool = Instance(
            self.need[:, there],
            self.capacity.high[there],
            weights=weights,
            max_tasks=limits if np.isfinite(limits).any() else None,
        )
        asked = Problem(pool, problem.policy, deadline=problem.deadline)
        if not asked.everyone:
            return None
        answer = newton.solve(asked)
        del asked, pool
        prices = np.zeros(problem.m)
        prices[there] = answer.prices[0] if answer.prices is not None else 0.0
        self.full = prices > 0
        price = self._priced(DoubleDouble(prices))
        if price is None:
            return None
        tasks = self._tasks(price)
        placement = PoolPlacement(self.need * tasks.high[:, None], self.room.high, self.user, self.place, self.full)
        parts = placement.run(lambda state: problem.deadline.check("the placement of a pool on its machines", state))
        if parts is None:
            return None
        amounts = self._mended(placement, tasks, parts)
        if amounts is None:
            return None
        per_unit = DoubleDouble(np.zeros((problem.k, problem.m)))
        per_unit[:] = price[None, :]
        # What nobody can use has no price.
        per_unit[self.room.high == 0] = 0.0
        users = self.user if problem.everyone else problem.members[self.user]
        fine = DoublePoint(users, self.place, amounts, per_unit)
        met = np.where(self.capped, problem.limits, tasks.high)
        return Answer(met, amounts.high, per_unit.high.copy(), fine=fine)

    def _fine(self, table: str, rows: slice) -> DoubleDouble:
        return self.problem.instance.fine(table, rows if self.problem.everyone else self.problem.members[rows])

    def _bought(self, price: DoubleDouble, rows: slice) -> tuple[DoubleDouble, np.ndarray, DoubleDouble, DoubleDouble]:
        """Return the tasks of some users at these prices, who is at its limit, their demands and what a task costs."""
        need = self._fine("demands", rows)
        spent = need[:, 0] * price[0]
        for j in range(1, len(price.high)):
            spent = spent + need[:, j] * price[j]
        tasks = self._fine("weights", rows) / spent
        limits = self._fine("limits", rows)
        capped = np.isfinite(limits.high)
        capped[capped] = (tasks[capped] - limits[capped]).high >= 0
        capped |= spent.high <= 0
        tasks[capped] = limits[capped]
        return tasks, capped, need, spent

    def _tasks(self, price: DoubleDouble) -> DoubleDouble:
        found = in_blocks(self.problem.n, lambda rows: self._bought(price, rows)[:2])
        self.capped = np.concatenate([capped for _, capped in found])
        return DoubleDouble(
            np.concatenate([tasks.high for tasks, _ in found]), np.concatenate([tasks.low for tasks, _ in found])
        )

    def _priced(self, price: DoubleDouble) -> DoubleDouble | None:
        """Return the prices at which what has one is used up, to 32 digits."""
        full = self.full

        def used(rows: slice) -> tuple[DoubleDouble, np.ndarray]:
            tasks, capped, need, spent = self._bought(price, rows)
            taken = need * DoubleDouble(tasks.high[:, None], tasks.low[:, None])
            bend = np.where(capped, 0.0, tasks.high / spent.high)[:, None] * need.high
            return taken.sum(), bend.T @ need.high

        best = np.inf
        for _ in range(STEPS):
            self.problem.deadline.check("Newton's method to 32 digits")
            parts = in_blocks(self.problem.n, used)
            taken, bend = parts[0]
            for more, also in parts[1:]:
                taken, bend = taken + more, bend + also
            over = (taken - self.capacity).high
            error = float(np.abs(over[full] / self.capacity.high[full]).max(initial=0))
            if not np.isfinite(error) or (over[~full] > 0).any():
                return None
            if error <= EXACT:
                return price
            if not error < best / 2:
                return price if error <= FIT else None
            best = error
            size = price.high[full]
            change = np.linalg.lstsq(bend[np.ix_(full, full)] * size, over[full], rcond=None)[0] * size
            price[full] = price[full] + change
            if not (price.high[full] > 0).all():
                return None
        return None

    def _mended(self, placement: PoolPlacement, tasks: DoubleDouble, parts: np.ndarray) -> DoubleDouble | None:
        """Return the amounts of the pairs to 32 digits, which fill the full rows and add up to the users' tasks."""
        amounts = DoubleDouble(parts * tasks.high[self.user])
        starts = np.searchsorted(self.user, np.arange(self.problem.n + 1))
        rate = np.divide(tasks.high, placement.size)
        error = np.inf
        for turn in range(MENDS + 1):
            self.problem.deadline.check("the placement of a pool to 32 digits")
            sums = in_blocks(self.problem.n, lambda rows: self._settled(amounts, tasks, starts, rows))
            used = sums[0]
            for more in sums[1:]:
                used = used + more
            there = self.room.high > 0
            miss = np.where(there, ((used - self.room) / np.where(there, self.room.high, 1.0)).high, 0.0)
            before, error = error, float(np.abs(miss[:, self.full]).max(initial=0))
            if (miss[:, ~self.full] > 0).any() or (amounts.high < 0).any():
                return None
            if error <= EXACT or turn == MENDS or not error < before / 2:
                return amounts if error <= FIT else None
            change = placement.mended(np.where(self.full, miss, 0.0))
            for a in range(0, self.problem.n, CHANGED):
                some = slice(int(starts[a]), int(starts[min(a + CHANGED, self.problem.n)]))
                amounts[some] = amounts[some] + change[some] * rate[self.user[some]]
        return None

    def _settled(self, amounts: DoubleDouble, tasks: DoubleDouble, starts: np.ndarray, rows: slice) -> DoubleDouble:
        """Make each user's largest pair what the others leave of its tasks; return what these users use, (k, m)."""
        pairs = slice(int(starts[rows.start]), int(starts[rows.stop]))
        owner, place = self.user[pairs] - rows.start, self.place[pairs]
        table = DoubleDouble(np.zeros((rows.stop - rows.start, self.problem.k)))
        table[owner, place] = amounts[pairs]
        most, every = table.high.argmax(axis=1), np.arange(rows.stop - rows.start)
        table[every, most] = table[every, most] + (tasks[rows] - table.sum(axis=1))
        amounts[pairs] = table[owner, place]
        need = self._fine("demands", rows)
        found = DoubleDouble(np.zeros((self.problem.k, self.problem.m)))
        for j in range(self.problem.m):
            found[:, j] = (table * DoubleDouble(need.high[:, j, None], need.low[:, j, None])).sum()
        return found
