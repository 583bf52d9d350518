"""Levels along a path of bundles, leximin in one pool: the saturations one after the other, in rational numbers.

At level t the rising hold ``d_ij min(X_i(t), u_i)`` of resource j, X_i(t) the tasks that the bundle b(t) carries.  On
one line of the path X_i is the least of m straight lines, so all that is held is concave, and Newton's method from
below does not pass the saturation: the tangent at t lies above the curve, and meets what is left before the curve does.
Its steps end at a level that they reproduce, which is the saturation, exactly.

They begin where bisection in floats puts the saturation, less a margin, if that much fits, which is decided exactly;
otherwise where the last saturation was.
"""

from fractions import Fraction

import numpy as np

from ...base.numbers.rationals import integer_columns, weighted_sums
from ...model.paths import Traveller
from ..problem import Answer, Problem, in_floats

__all__ = ["solve", "solve_rounded"]

HALVINGS = 60
"""Of the interval that floats look for a saturation in: to their last digits."""

BELOW = Fraction(10**9 - 1, 10**9)
"""Part of the level that floats found from which the exact steps begin: far more than rounding moves it."""


def solve(problem: Problem) -> Answer:
    """Return the leximin allocation along the path as `Fraction`s, with the levels."""
    instance, members = problem.instance, problem.members.tolist()
    everybody = problem.policy.travellers(instance)
    users = [everybody[i] for i in members]
    tasks = _Filling(problem, users).tasks() if members else []
    levels = [user.level(x) for user, x in zip(users, tasks, strict=True)]
    return Answer(np.array(tasks, dtype=object), levels=np.array(levels, dtype=object))


def solve_rounded(problem: Problem) -> Answer:
    """Return the same in floats, to the last digit; its proof is that of the fractions."""
    return in_floats(solve(problem))


class _Filling:
    """The pool in integers, what is left of each resource, and the users on their path."""

    def __init__(self, problem: Problem, users: list[Traveller]):
        instance, members = problem.instance, problem.members.tolist()
        self.problem, self.users, self.path = problem, users, users[0].path
        self.demands, self.scales = integer_columns([instance.exact_demands[i] for i in members], problem.m)
        self.left = [c * scale for c, scale in zip(instance.exact_capacity, self.scales, strict=True)]
        self.limits = [instance.exact_limits[i] for i in members]
        self.needs = np.array([[bool(d) for d in row] for row in self.demands])
        # In floats, to guess with: parts of the pool that a task takes, and what carries it.
        self.parts = problem.shares
        self.inverse = np.array([[float(1 / s) if s else np.inf for s in user.shares] for user in users])
        self.knots = np.array(self.path.knots, dtype=float)
        self.marks = np.array(self.path.levels, dtype=float)
        self.slopes = np.array(self.path.slopes, dtype=float)

    def tasks(self) -> list[Fraction]:
        """Return the tasks of everybody, (n,)."""
        tasks = [Fraction(0)] * len(self.users)
        rising, level = np.arange(len(tasks)), Fraction(0)
        while rising.size:
            self.problem.deadline.check("filling along a path")
            level, full = self._saturation(rising, level)
            carried = {i: self._capped(i, level) for i in rising.tolist()}
            done = np.array([x == self.limits[i] for i, x in carried.items()]) | self.needs[rising][:, full].any(axis=1)
            if not full:
                carried = {i: limit for i in carried if (limit := self.limits[i]) is not None}
                done[:] = True
            for i in rising[done].tolist():
                tasks[i] = carried[i]
            taken = self._sums(rising[done], [carried[i] for i in rising[done].tolist()])
            self.left = [rest - used for rest, used in zip(self.left, taken, strict=True)]
            rising = rising[~done]
        return tasks

    def _saturation(self, rising: np.ndarray, start: Fraction) -> tuple[Fraction, list[int]]:
        """Return the level at which the next resource is used up, and which are; none where limits are met before."""
        level = self._begin(rising, start)
        while True:
            q = self.path.line(level, self.path.levels)
            held, growth = self._tangent(rising, level, q)
            full = [j for j, (h, g) in enumerate(zip(held, growth, strict=True)) if g and h == self.left[j]]
            if full:
                return level, full
            meets = [level + (rest - h) / g for rest, h, g in zip(self.left, held, growth, strict=True) if g]
            # The last line has no end.
            ends = self.path.levels[q + 1 : -1][:1]
            if not meets and not ends:
                return level, []
            level = min([*meets, *ends])

    def _begin(self, rising: np.ndarray, start: Fraction) -> Fraction:
        """Return a level at or below the next saturation, near to it where floats are of use."""
        inverse, parts, limits = self.inverse[rising], self.parts[rising], self.problem.limits[rising]
        scales = [c * s for c, s in zip(self.problem.instance.exact_capacity, self.scales, strict=True)]
        room = np.array([float(rest / total) if total else 0.0 for rest, total in zip(self.left, scales, strict=True)])

        def fits(level: float) -> bool:
            q = max(0, min(int(np.searchsorted(self.marks, level, side="right")), len(self.slopes)) - 1)
            bundle = self.knots[q] + (level - self.marks[q]) * self.slopes[q]
            carried = np.minimum((bundle * inverse).min(axis=1), limits)
            return bool((carried @ parts <= room).all())

        low = high = float(start)
        with np.errstate(all="ignore"):
            for _ in range(HALVINGS):
                low, high = high, 2 * high + 1
                if not fits(high):
                    break
            for _ in range(HALVINGS):
                middle = (low + high) / 2
                low, high = (middle, high) if fits(middle) else (low, middle)
        guess = Fraction(low) * BELOW if np.isfinite(low) else start
        if guess <= start:
            return start
        held = self._sums(rising, [self._capped(i, guess) for i in rising.tolist()])
        return guess if all(h <= rest for h, rest in zip(held, self.left, strict=True)) else start

    def _tangent(self, rising: np.ndarray, level: Fraction, q: int) -> tuple[list[Fraction], list[Fraction]]:
        """Return what the rising hold of each resource at a level of line q, and how fast that grows from there."""
        bundle = [(self.path.share(j, level), v) for j, v in enumerate(self.path.slopes[q])]
        tasks, speeds = [], []
        for i in rising.tolist():
            shares, limit = self.users[i].shares, self.limits[i]
            carried, speed = min((b / s, v / s) for (b, v), s in zip(bundle, shares, strict=True) if s)
            met = limit is not None and carried >= limit
            tasks.append(limit if met and limit is not None else carried)
            speeds.append(Fraction(0) if met else speed)
        return self._sums(rising, tasks), self._sums(rising, speeds)

    def _capped(self, i: int, level: Fraction) -> Fraction:
        carried, limit = self.users[i].tasks(level), self.limits[i]
        return carried if limit is None else min(carried, limit)

    def _sums(self, users: np.ndarray, factors: list[Fraction]) -> list[Fraction]:
        return weighted_sums(factors, [self.demands[i] for i in users.tolist()], self.problem.m)
