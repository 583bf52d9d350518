"""Progressive filling of one pool in rational numbers, from saturation to saturation.

At a common level t users hold ``sum_i d_ij min(t, L_i) / r_i`` of resource j, L_i the level of user i at her limit:
concave and piecewise linear in t.  Take the users with ``L_i <= t`` as stopped and the others as rising without end:
that is the tangent at t, it lies above the curve, and so the level at which the first tangent meets its capacity is at
most the saturation.  From there the next step starts (Newton's method), and where it stops at the same users, the level
is the saturation, exactly.  The float engine's levels are where the first step starts, so that one or two are enough;
from a start too high the first step falls back below the saturation.

What is slow in fractions is adding thousands of them: that is done for all resources at once, group by group.
"""

from fractions import Fraction

import numpy as np

from ...base.numbers.rationals import integer_columns, weighted_sums
from ...model.arrays import LARGEST, SMALLEST, in_mid_range
from ..problem import Answer, Problem
from . import saturations

__all__ = ["solve"]

LOWEST, HIGHEST = Fraction(SMALLEST), Fraction(LARGEST)

NEAR = 1e-6
"""Relative distance beyond which floats tell two levels apart: far above their rounding, which is 1e-15 or so."""


def solve(problem: Problem) -> Answer:
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
            found = saturations.fill(problem)[0] if problem.n else self.guess
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
