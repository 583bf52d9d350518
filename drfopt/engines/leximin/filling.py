"""Leximin in one pool by progressive filling: in floats, and in rational numbers where floats lose too many digits.

Filling loses digits only where a resource runs out of which nearly all was taken before, by users with lower levels:
who is left divides a difference of nearly equal numbers.  Then the whole filling is done in fractions and rounded at
the end, and the proof is that of the fractions.  In a large pool that takes seconds, so there it is done only when
floats could not be right to the accuracy promised.

Progressive filling of one pool: all levels rise together; who meets a saturated resource, or her limit, stops.

Given that nobody else stops, the resource that runs out first does so at the level

    min over j of  (c_j - what those hold who have stopped) / (what those hold of j, at a level of 1, who still rise)

and nobody can be above it before: a user whose limit is at or below this level is stopped by her limit.  So all of
those stop at once, the level is computed again (it can only have grown), and when no limit is left below it, the users
of the resources that run out stop there.  That is Newton's method on the level at which a resource runs out, a
concave function of it with a corner at every limit: a few steps a resource, at most m resources, no sorting.  A step
costs two products of a vector with the demands.

Of many users only sums are filled with (`saturation`): a pass over them or two, and the rest does not depend on their
number.

Extra memory: six numbers a user and a byte or two, and no copy of the demands.

What stopped users hold is taken from the capacity, and where they hold nearly all of it, what is left has lost as many
digits as it is smaller: that factor is returned beside the tasks.

Progressive filling of one pool in rational numbers, from saturation to saturation.

At a common level t users hold ``sum_i d_ij min(t, L_i) / r_i`` of resource j, L_i the level of user i at her limit:
concave and piecewise linear in t.  Take the users with ``L_i <= t`` as stopped and the others as rising without end:
that is the tangent at t, it lies above the curve, and so the level at which the first tangent meets its capacity is at
most the saturation.  From there the next step starts (Newton's method), and where it stops at the same users, the level
is the saturation, exactly.  The float engine's levels are where the first step starts, so that one or two are enough;
from a start too high the first step falls back below the saturation.

What is slow in fractions is adding thousands of them: that is done for all resources at once, group by group.

Every class of machines as a pool of its own: identical machines are divided alike, so one class is one pool.
"""

from fractions import Fraction
from functools import reduce

import numpy as np

from ...base.numbers.rationals import integer_columns, weighted_sums
from ...base.partitions import Partitions
from ...model.arrays import LARGEST, MOST_IN_SETS, SMALLEST, columns, in_blocks, in_mid_range
from ...model.evidence import EachStopsEvidence, Evidence, StopEvidence
from ...model.single_machines import ON_EACH, pool_of
from ..problem import Answer, Problem, in_floats
from ..registry import engine_for
from .saturation import MANY, Rising, magnification, saturation, tasks_at

__all__ = ["fill", "solve", "solve_exactly", "solve_servers", "solve_servers_exactly"]

FLOAT_MAX = float(np.finfo(np.float64).max)

FEW = 1 / 8
"""Part of the users up to which those who meet their limits are taken off the sums, which are not added up again."""

ADDED_AGAIN = 1e-2
"""Part of a sum that must be left after taking off, or too many of its digits are lost and it is added up again."""

PER_SET = 4
"""Users there must be for each set of resources before adding them up by it pays."""


def fill(problem: Problem) -> tuple[np.ndarray, float]:
    """Return the leximin tasks of a pool, (n,), and the largest factor by which rounding was magnified, 1 or more."""
    instance = problem.instance
    with np.errstate(divide="ignore"):
        pace = 1 / problem.all_rates
    if not problem.everyone:
        pace[~problem.playing] = 0
    limits = instance.limits if instance.limited else None
    least = MANY if instance.limited else PER_SET << instance.m
    if instance.m <= MOST_IN_SETS and instance.n >= least:
        users = Rising(instance.demands, pace, limits, instance.needs)
        found = saturation(Partitions([users]), instance.capacity, instance.n, instance.limited)
        tasks, magnified = tasks_at(users, found.levels, np.empty(instance.n)), found.magnified
    else:
        tasks, magnified = _fill(instance.demands, pace, instance.capacity, limits)
    return problem.of_members(tasks), magnified


def _fill(
    demands: np.ndarray, pace: np.ndarray, capacity: np.ndarray, limits: np.ndarray | None = None
) -> tuple[np.ndarray, float]:
    """Return tasks (n,) of users who run ``pace`` (n,) tasks at a level of 1; who has a pace of 0 stays out."""
    pace = pace.copy()
    tasks = np.zeros(len(pace))
    tops = None
    if limits is not None:
        tops = np.divide(limits, pace, where=pace > 0, out=np.full(len(pace), np.inf))

    def used(rows: slice) -> np.ndarray:
        """Stop who uses a resource that is full; return what is used, and what a level more takes, (2, m)."""
        block, done, speed = columns(demands, rows), tasks[rows], pace[rows]
        if full.size:
            stopped = (block[full] > 0).any(axis=0)
            leaving = speed * stopped
            speed -= leaving
            done += np.multiply(leaving, level, out=leaving)
            if tops is not None:
                tops[rows][stopped] = np.inf
        return np.array([block @ done, block @ speed])

    level, magnified, full = 0.0, 1.0, np.array([], dtype=int)
    taken = climb = summed = np.zeros(0)
    again = True
    while True:
        with np.errstate(over="ignore", invalid="ignore"):
            if again:
                taken, climb = reduce(np.add, in_blocks(len(pace), used))
                summed = climb * ADDED_AGAIN
            free = capacity - taken
        if not np.isfinite([free, climb]).all():
            # Beyond the range of floats: rounding counts without end, and fractions decide.
            return tasks, np.inf
        reach = np.divide(free, climb, where=climb > 0, out=np.full(len(capacity), np.inf))
        # Rounding may leave a resource that ran out a trace of less or more: levels never fall.
        reach = np.maximum(reach, level)
        highest, full = float(reach.min()), full[:0]
        if limits is not None and tops is not None:
            met = np.flatnonzero(tops <= min(highest, FLOAT_MAX))
            if met.size:
                tasks[met] = limits[met]
                again = met.size > len(pace) * FEW
                if not again:
                    needs = demands[met]
                    taken, climb = taken + limits[met] @ needs, climb - pace[met] @ needs
                    again = not (climb >= summed).all()
                pace[met], tops[met] = 0, np.inf
                continue
        if highest == np.inf:
            return tasks, magnified
        level = highest
        magnified = max(magnified, magnification(free, climb, capacity, level))
        full, again = np.flatnonzero(reach <= level), True


LOWEST, HIGHEST = Fraction(SMALLEST), Fraction(LARGEST)

NEAR = 1e-6
"""Relative distance beyond which floats tell two levels apart: far above their rounding, which is 1e-15 or so."""


def solve_exactly(problem: Problem) -> Answer:
    """Return the leximin allocation of a pool as `Fraction`s."""
    return Answer(np.array(_Filling(problem).tasks(), dtype=object))


class _Filling:
    """The pool in integers: demands scaled a resource, what is left of each, and who is still rising."""

    def __init__(self, problem: Problem):
        instance, members = problem.instance, problem.members.tolist()
        exact = problem.policy.exact_rates(instance)
        self.problem = problem
        self.demands, scales = integer_columns([instance.exact_demands[i] for i in members], problem.m)
        self.left = [c * scale for c, scale in zip(instance.exact_capacity, scales, strict=True)]
        # Tasks that make a level of 1.
        self.per_level = [1 / exact[i] for i in members]
        self.limits = [instance.exact_limits[i] for i in members]
        self.tops, self.guess = np.full(problem.n, np.inf), np.zeros(problem.n)
        with np.errstate(all="ignore"):
            found = fill(problem)[0] if problem.n else self.guess
            tops, guess = problem.limits * problem.rates, found * problem.rates
        # Near the ends of the range products of floats are worth nothing.
        self.by_floats = instance.mid_range and all(map(in_mid_range, (problem.rates, found, tops, guess)))
        if self.by_floats:
            self.tops, self.guess = tops, guess

    def tasks(self) -> list[Fraction]:
        """Return the tasks of everybody, (n,)."""
        tasks = [Fraction(0)] * self.problem.n
        rising = np.arange(self.problem.n)
        while rising.size:
            self.problem.deadline.check("exact filling")
            level, stopped, full = self._saturation(rising)
            uses = self._users_of(rising, full) & ~stopped
            for i in rising[stopped].tolist():
                tasks[i] = self.limits[i] or Fraction(0)
            if level is not None:
                for i in rising[uses].tolist():
                    tasks[i] = level * self.per_level[i]
                self._take(rising[uses], level)
            self._take(rising[stopped], None)
            rising = rising[~(stopped | uses)]
        return tasks

    def _saturation(self, rising: np.ndarray) -> tuple[Fraction | None, np.ndarray, list[int]]:
        """Return the next saturation, who stopped at her limit until then, and which resources are full.

        The level is None when everybody still rising meets her limit first.
        """
        below = self.guess[rising] < self.tops[rising] * (1 - NEAR)
        start = float(self.guess[rising][below].min()) if below.any() else float(self.tops[rising].max())
        stopped = self.tops[rising] <= start
        while True:
            held = self._sum(rising[stopped], None)
            slope = self._sum(rising[~stopped], 1)
            left = [total - h for total, h in zip(self.left, held, strict=True)]
            if not any(slope) and min(left) >= 0:
                return None, stopped, []
            reach = {j: rest / s for j, (rest, s) in enumerate(zip(left, slope, strict=True)) if s}
            overfull = any(rest < 0 and not s for rest, s in zip(left, slope, strict=True))
            level = Fraction(0) if overfull or not reach else min(reach.values())
            before, stopped = stopped, self._stopped_by(rising, level)
            if (before == stopped).all() and not overfull:
                return level, stopped, [j for j, at in reach.items() if at == level]

    def _stopped_by(self, rising: np.ndarray, level: Fraction) -> np.ndarray:
        """Say whose limit lies at or below the level: by floats, and where they cannot tell, exactly."""
        stopped, close = np.zeros(len(rising), dtype=bool), np.ones(len(rising), dtype=bool)
        if self.by_floats and LOWEST <= level <= HIGHEST:
            tops, at = self.tops[rising], float(level)
            stopped = tops <= at
            close = np.abs(tops - at) <= NEAR * at
        for position in np.flatnonzero(close).tolist():
            i = int(rising[position])
            limit = self.limits[i]
            stopped[position] = limit is not None and limit <= level * self.per_level[i]
        return stopped

    def _users_of(self, rising: np.ndarray, full: list[int]) -> np.ndarray:
        return np.array([any(self.demands[i][j] for j in full) for i in rising.tolist()], dtype=bool)

    def _sum(self, users: np.ndarray, level: int | None) -> list[Fraction]:
        """Return what the users hold at their limits (None) or at a level of 1."""
        listed = users.tolist()
        tasks = [self.limits[i] or Fraction(0) if level is None else self.per_level[i] for i in listed]
        return weighted_sums(tasks, [self.demands[i] for i in listed], self.problem.m)

    def _take(self, users: np.ndarray, level: Fraction | None) -> None:
        """Take off what users hold who are finished: at their limits (None) or at a level."""
        taken = self._sum(users, None if level is None else 1)
        self.left = [rest - (t if level is None else level * t) for rest, t in zip(self.left, taken, strict=True)]


SMALL, SMALL_MAGNIFIED = 200, 1e4
"""Users up to which fractions cost next to nothing, and what rounding may be magnified by there: to 1e-12 or so."""

MOST, MOST_MAGNIFIED = 20_000, 1e6
"""The same for pools in which fractions take up to some ten seconds, at the edge of 1e-9."""


def solve(problem: Problem) -> Answer:
    """Return the leximin allocation of a pool. Exact up to rounding."""
    tasks, magnified = fill(problem)
    if magnified > (SMALL_MAGNIFIED if problem.n <= SMALL else MOST_MAGNIFIED) and problem.n <= MOST:
        return in_floats(solve_exactly(problem))
    return Answer(tasks)


def solve_servers(problem: Problem, exact: bool = False) -> Answer:
    """Return what filling every class by itself gives, added up."""
    instance = problem.instance
    if instance.machines is None:
        return _pool(Problem(instance, ON_EACH, deadline=problem.deadline), exact)
    user, machine = problem.pairs
    stops: dict[int, tuple] = {}
    amounts = np.full(len(user), Fraction(0), dtype=object) if exact else np.zeros(len(user))
    for k in np.unique(machine).tolist():
        problem.deadline.check("the filling of every machine")
        here = np.flatnonzero(machine == k)
        pool = Problem(pool_of(instance, problem.members[user[here]], k, exact), ON_EACH)
        found = _pool(pool, exact)
        amounts[here[pool.members]] = found.tasks
        if isinstance(found.evidence, StopEvidence):
            stops[k] = found.evidence.breakpoints
    tasks = np.zeros(problem.n, dtype=amounts.dtype)
    np.add.at(tasks, user, amounts)
    return Answer(tasks, amounts=amounts, evidence=EachStopsEvidence(classes=stops) if stops else Evidence())


def _pool(problem: Problem, exact: bool) -> Answer:
    """Return what one pool makes; who rises with whom, and after whom, is the clock's to say."""
    rules = problem.instance.organisation
    if rules is None or rules.only_excludes:
        return solve_exactly(problem) if exact else solve(problem)
    return engine_for("auto", problem, exact).solve(problem)


def solve_servers_exactly(problem: Problem) -> Answer:
    """Return the same in rational numbers."""
    return solve_servers(problem, exact=True)
