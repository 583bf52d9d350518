"""The best lie where tasks are whole: the reports that can make a difference, by their grid of thresholds.

The outcome depends on a report d only through which numbers of tasks fit, k d[j] <= c[j] - sum_h x[h] d[h, j], and,
for a leximin of dominant shares or shares of one resource, through comparisons of k d[j] / c[j] with l times another
user's rate; what she makes of it depends on k d[j] against l times her true demand.  Each is a comparison of d[j] with
a fraction, so one report on every threshold and one between any two of them, in every resource, are all there are
down to a given size of task.  Smaller and smaller tasks have ever more thresholds: those below the true demand divided
by the number of tasks that fit are not tried, and a search that finds nothing is called no more than that.
"""

from collections.abc import Iterable
from fractions import Fraction
from itertools import product

from ..bounds import low
from ..outcomes import rates
from ..scene import Scene
from . import trials
from .response import Response, worth

__all__ = ["best"]

REPORTS = 1000
"""Reports that are tried for one user; a larger grid is left to trials."""

ENOUGH = 300
"""Reports after which a lie that was found is not improved any more."""

COUNTED = 400
"""Bundles of the others that are looked at for thresholds."""


def best(scene: Scene, i: int) -> Response:
    """Return user i's best response, or the best found where the grid is too large."""
    cluster, policy, truth = scene.cluster, scene.policy, scene.truth.tasks[i]
    if low(truth) >= alone(scene, i):
        return Response(None, None, truth)
    gridded = policy.measure != "asset" and cluster.machines is None and policy.objective in ("leximin", "alpha")
    axes = [_axis(scene, i, j) for j in range(cluster.m)] if gridded else None
    size = 1
    for axis in axes or ():
        size *= len(axis) if axis is not None else REPORTS + 1
    if axes is None or size > REPORTS:
        return trials.best(scene, i)
    found, value, tied, asked = None, truth, False, 0
    for report in product(*(axis or () for axis in axes)):
        if not any(report):
            continue
        if found is not None and not tied and asked > ENOUGH:
            break
        asked += 1
        got, broken = worth(scene, i, report)
        if low(got) > low(value) or (tied and not broken and low(got) == low(value)):
            found, value, tied = report, got, broken
    if found is None:
        return Response(None, None, decided=False, trials=size)
    return Response(found, value, None, trials=asked, tied=tied or scene.truth.tied)


def alone(scene: Scene, i: int) -> Fraction:
    """Return the whole tasks user i could run if she were alone, which no report exceeds."""
    cluster = scene.cluster
    if cluster.machines is None:
        return low(scene.limited(i, scene.per_task(i, cluster.pool)))
    machines = [cluster.machines[k] for k, _ in cluster.classes(i)]
    most = sum((Fraction(c.count * (scene.per_task(i, c.capacity) // 1)) for c in machines), Fraction(0))
    return low(scene.limited(i, most))


def _axis(scene: Scene, i: int, j: int) -> list[Fraction] | None:
    """Return the reports of one resource that can differ in effect; None when there are too many."""
    cluster = scene.cluster
    capacity, mine = cluster.pool[j], cluster.demands[i][j]
    others = [k for k in range(cluster.n) if k != i]
    used: set[Fraction] = {Fraction(0)}
    for k in others:
        step = cluster.demands[k][j]
        if step:
            used = {u + x * step for u in used for x in range(int((capacity - u) // step) + 1)}
        if len(used) > COUNTED:
            return None
    smallest = mine or min((row[j] for row in cluster.demands if row[j]), default=capacity)
    if not smallest or not capacity:
        return [mine]
    most = int(capacity // smallest) + 1
    marks = {(capacity - u) / k for u in used for k in range(1, most + 1) if capacity > u}
    # Whoever asks for less than a task needs gets more, smaller tasks: worth nothing new below her own demand / most.
    marks |= {level * mine / k for level in range(1, most + 1) for k in range(1, most + 1)}
    if scene.policy.objective == "leximin" and scene.policy.measure in ("dominant", "single"):
        speeds = rates(cluster, scene.policy)
        weight = cluster.weight(i, j)
        marks |= {
            capacity * weight * level * speeds[k] / own
            for k in others
            for level in range(1, most + 1)
            for own in range(1, most + 1)
        }
    floor = (mine or smallest) / most
    marks = {mark for mark in marks if floor <= mark <= capacity}
    if not marks:
        return [mine]
    return sorted([*({Fraction(0)} if not mine else set()), *_with_middles(marks, capacity)])


def _with_middles(marks: Iterable[Fraction], capacity: Fraction) -> set[Fraction]:
    listed = sorted({mark for mark in marks if mark})
    if not listed:
        return set()
    return {*listed, *((a + b) / 2 for a, b in zip(listed, [*listed[1:], capacity + 1], strict=True))}
