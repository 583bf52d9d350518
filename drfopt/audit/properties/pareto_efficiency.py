"""Pareto efficiency: nobody could run more without another running less.

In a pool that is so exactly when every user below her limit needs a resource that is used up; on machines a linear
program asks for the most tasks all could have besides what they have; whole tasks that nothing exceeds are listed.
Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...enclosures import Enclosure
from ...reference import enumeration
from ..bounds import Number, around, below, high, least, low, reaches, shown, times, total
from ..cluster import Cluster
from ..outcomes import FILE_ERROR
from ..scene import Scene
from ..verdicts import FAILS, HOLDS, UNDECIDED, Finding, Witness

__all__ = ["NAME", "Waste", "check"]

NAME = "pareto-efficiency"


@dataclass(frozen=True)
class Waste(Witness):
    """A user who could run more tasks while everybody else runs as many as before."""

    property = NAME
    user: str
    tasks: Number
    possible: Number

    def __str__(self) -> str:
        return (
            f"user {self.user} runs {shown(self.tasks)} tasks, but {shown(self.possible)} would take nothing "
            "from anybody else"
        )


def check(scene: Scene) -> Finding:
    """Ask every user below her limit what stops her."""
    if scene.integer:
        return _whole(scene)
    return _pool(scene) if scene.cluster.machines is None else _machines(scene)


def _pool(scene: Scene) -> Finding:
    cluster, truth = scene.cluster, scene.truth
    used = [
        total(times(row[j], x) for x, row in zip(truth.tasks, cluster.demands, strict=True)) for j in range(cluster.m)
    ]
    open_questions = 0
    for i, user in enumerate(cluster.users):
        x, limit = truth.tasks[i], cluster.limits[i]
        needed = [j for j, d in enumerate(cluster.demands[i]) if d]
        at_limit = limit is not None and reaches(x, limit)
        if at_limit or any(j in truth.priced or reaches(used[j], cluster.pool[j]) for j in needed):
            continue
        if all(below(used[j], cluster.pool[j]) for j in needed) and (limit is None or below(x, limit)):
            spare = min((cluster.pool[j] - high(used[j])) / cluster.demands[i][j] for j in needed)
            more = Enclosure(low(x) + spare, high(x) + spare) if isinstance(x, Enclosure) else x + spare
            witness = Waste(user, x, more if limit is None else least(limit, more))
            return Finding(NAME, FAILS, witness, exact=not truth.computed, tied=truth.tied)
        open_questions += 1
    if open_questions:
        return Finding(NAME, UNDECIDED, exact=False, trials=cluster.n)
    return Finding(NAME, HOLDS, exact=not truth.computed, tied=truth.tied)


def _whole(scene: Scene) -> Finding:
    cluster, truth = scene.cluster, scene.truth
    machines, eligible = [(cluster.pool, 1)], None
    if cluster.machines is not None:
        machines = [(c.capacity, c.count) for c in cluster.machines]
        eligible = [[c.open_to[i] for c in cluster.machines] for i in range(cluster.n)]
    held = tuple(int(low(x)) for x in truth.tasks)
    for tasks in enumeration.packable(cluster.demands, machines, cluster.limits, eligible):
        if tasks != held and all(y >= x for y, x in zip(tasks, held, strict=True)):
            i = next(i for i, (y, x) in enumerate(zip(tasks, held, strict=True)) if y > x)
            witness = Waste(cluster.users[i], Fraction(held[i]), Fraction(tasks[i]))
            return Finding(NAME, FAILS, witness, tied=truth.tied)
    return Finding(NAME, HOLDS, tied=truth.tied)


def _machines(scene: Scene) -> Finding:
    """Ask a linear program for the most tasks, counted in what each has, that leave nobody with less."""
    import numpy as np
    from scipy.optimize import linprog

    cluster, truth = scene.cluster, scene.truth
    pairs = [(i, k) for i in range(cluster.n) for k, _ in cluster.classes(i)]
    held = [float(low(x)) for x in truth.tasks]
    unit = [x or 1.0 for x in held]
    rows = []
    for k, machine in enumerate(cluster.machines or ()):
        for j, room in enumerate(machine.room):
            rows.append(
                [float(cluster.demands[i][j]) * unit[i] / (float(room) or 1.0) if c == k else 0.0 for i, c in pairs]
            )
    full = [1.0 if room else 0.0 for machine in cluster.machines or () for room in machine.room]
    least_of = [[-1.0 if i == h else 0.0 for i, _ in pairs] for h in range(cluster.n)]
    most = [(h, limit) for h, limit in enumerate(cluster.limits) if limit is not None]
    bound = np.array(
        [*full, *(-x / u for x, u in zip(held, unit, strict=True)), *(float(u) / unit[h] for h, u in most)]
    )
    matrix = np.array([*rows, *least_of, *([1.0 if i == h else 0.0 for i, _ in pairs] for h, _ in most)])
    if not pairs:
        return Finding(NAME, HOLDS)
    found = linprog(-np.ones(len(pairs)), A_ub=matrix, b_ub=bound, method="highs")
    if found.status != 0:
        return Finding(NAME, UNDECIDED, exact=False, trials=1, note="the linear program ended without an optimum")
    gains = _tasks_of(found.x, pairs, unit, cluster)
    i = max(range(cluster.n), key=lambda h: (gains[h] - held[h]) / unit[h])
    if gains[i] - held[i] > FILE_ERROR * unit[i]:
        witness = Waste(cluster.users[i], truth.tasks[i], around(gains[i], FILE_ERROR))
        return Finding(NAME, FAILS, witness, exact=False)
    return Finding(NAME, HOLDS, exact=False, note="by a linear program, to its tolerance")


def _tasks_of(
    amounts: Sequence[float], pairs: list[tuple[int, int]], unit: list[float], cluster: Cluster
) -> list[float]:
    tasks = [0.0] * cluster.n
    for amount, (i, _) in zip(amounts, pairs, strict=True):
        tasks[i] += float(amount) * unit[i]
    return tasks
