"""Progressive filling of one pool: all levels rise together; who meets a saturated resource, or her limit, stops.

Given that nobody else stops, the resource that runs out first does so at the level

    min over j of  (c_j - what those hold who have stopped) / (what those hold of j, at a level of 1, who still rise)

and nobody can be above it before: a user whose limit is at or below this level is stopped by her limit.  So all of
those stop at once, the level is computed again (it can only have grown), and when no limit is left below it, the users
of the resources that run out stop there.  That is Newton's method on the level at which a resource runs out, a
concave function of it with a corner at every limit: a few steps a resource, at most m resources, no sorting.  A step
costs two products of a vector with the demands.

Without limits, users who need the same set of resources stop together, so each such group is one user to the filling:
three passes over the users, and the rest does not depend on their number.

Extra memory: six numbers a user, and no copy of the demands.

What stopped users hold is taken from the capacity, and where they hold nearly all of it, what is left has lost as many
digits as it is smaller: that factor is returned beside the tasks.
"""

import numpy as np

from ...model.arrays import columns, in_blocks
from ..problem import Problem

__all__ = ["fill"]

FLOAT_MAX = float(np.finfo(np.float64).max)

ROUNDING = 1e-14
"""What sums of products may be off by, relative to the largest: far more than they are."""

LEAST = 1e-100
"""Makes nothing left something, whose digits are all lost."""

PER_GROUP = 4
"""Users there must be for each set of resources before grouping them pays."""

MOST_GROUPED = 16
"""Resources up to which a set of them is a small number."""


def fill(problem: Problem) -> tuple[np.ndarray, float]:
    """Return the leximin tasks of a pool, (n,), and the largest factor by which rounding was magnified, 1 or more."""
    instance = problem.instance
    pace = problem.all_rates.copy()
    if not problem.everyone:
        out = np.ones(instance.n, dtype=bool)
        out[problem.members] = False
        pace[out] = np.inf
    np.divide(1, pace, out=pace)
    if instance.limited:
        tasks, magnified = _fill(instance.demands, pace, instance.capacity, instance.limits)
    elif instance.m <= MOST_GROUPED and instance.n >= PER_GROUP << instance.m:
        tasks, magnified = _fill_groups(instance.demands, pace, instance.capacity)
    else:
        tasks, magnified = _fill(instance.demands, pace, instance.capacity)
    return problem.of_members(tasks), magnified


def _fill_groups(demands: np.ndarray, pace: np.ndarray, capacity: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the same as `_fill`, found for groups of users that need the same set of resources."""
    group, sums = _groups(demands, pace)
    levels, magnified = _fill(sums, (sums > 0).any(axis=1).astype(float), capacity)
    tasks = np.empty(len(pace))
    in_blocks(len(pace), lambda rows: np.multiply(levels.take(group[rows]), pace[rows], out=tasks[rows]))
    return tasks, magnified


def _groups(demands: np.ndarray, pace: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each user's set of resources as a number (n,), and what each set takes for a level of 1, (2^m, m)."""
    n, m = demands.shape
    group = np.empty(n, dtype=np.uint16)

    def look(rows: slice) -> np.ndarray:
        block = columns(demands, rows)
        word = group[rows]
        word[:] = 0
        for uses in block > 0:
            word += word
            word += uses
        cells = word.astype(np.intp)
        return np.array([np.bincount(cells, weights=taken, minlength=1 << m) for taken in block * pace[rows]])

    return group, np.sum(in_blocks(n, look), axis=0).T


def _fill(
    demands: np.ndarray, pace: np.ndarray, capacity: np.ndarray, limits: np.ndarray | None = None
) -> tuple[np.ndarray, float]:
    """Return tasks (n,) of users who run ``pace`` (n,) tasks at a level of 1; who has a pace of 0 stays out."""
    pace = pace.copy()
    tasks = np.zeros(len(pace))
    tops = None
    if limits is not None:
        tops = np.divide(limits, pace, where=pace > 0, out=np.full(len(pace), np.inf))
    level, magnified = 0.0, 1.0
    while True:
        with np.errstate(over="ignore", invalid="ignore"):
            free, climb = capacity - tasks @ demands, pace @ demands
        if not np.isfinite([free, climb]).all():
            # Beyond the range of floats: rounding counts without end, and fractions decide.
            return tasks, np.inf
        reach = np.divide(free, climb, where=climb > 0, out=np.full(len(capacity), np.inf))
        # Rounding may leave a resource that ran out a trace of less or more: levels never fall.
        reach = np.maximum(reach, level)
        highest = float(reach.min())
        if limits is not None and tops is not None:
            met = np.flatnonzero(tops <= min(highest, FLOAT_MAX))
            if met.size:
                tasks[met] = limits[met]
                pace[met], tops[met] = 0, np.inf
                continue
        if highest == np.inf:
            return tasks, magnified
        level = highest
        magnified = max(magnified, _magnified(free, climb, capacity, level))
        stopped = np.zeros(len(pace), dtype=bool)
        for j in np.flatnonzero(reach <= level):
            stopped |= demands[:, j] > 0
        leaving = pace * stopped
        pace -= leaving
        tasks += np.multiply(leaving, level, out=leaving)
        if tops is not None:
            tops[stopped] = np.inf


def _magnified(free: np.ndarray, climb: np.ndarray, capacity: np.ndarray, level: float) -> float:
    """Return by how much rounding counts more in what is left of those resources that may be the first to run out."""
    used = climb > 0
    rounding = ROUNDING * capacity[used]
    first = free[used] - rounding <= level * climb[used]
    left = np.maximum(free[used][first], rounding[first] * LEAST)
    # Nothing may be left that floats can tell from nothing: then rounding counts without end.
    with np.errstate(divide="ignore"):
        return float((capacity[used][first] / left).max(initial=1.0))
