"""What audits ask of whole tasks under rules, or of several types: who could have one more, alone, or of another's.

Whole tasks are a downward closed set: where somebody could have more without another having less, somebody could have
one task more while all others keep theirs.  So Pareto efficiency is decided by asking of every user whether all tasks
and one of hers can be run.

What another holds is a cluster with one user, who runs as many of her tasks in it as fit, in the sequence of her types
(`drfopt.solving.integrality.most_in`).
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from ..base.deadline import Deadline
from ..certificates.branch_and_cut import Inconclusive
from ..certificates.exhaustive_search import playing
from ..certificates.packable import Packable
from ..model.allocation import Allocation
from ..model.instance import Instance
from ..model.policies import Policy
from ..model.whole_values import WholeUsers, type_rows
from ..solving.integrality import Rooms, most_in

__all__ = ["carried", "envied", "wasted"]


def wasted(
    instance: Instance, held: Sequence[int], policy: Policy, deadline: Deadline
) -> tuple[list[tuple[str, int]], bool]:
    """Return users who could have one task more, with those they have, and whether it is known of everybody."""
    users = WholeUsers(instance, policy, playing(instance))
    asked, tasks = Packable(users, deadline), [int(held[i]) for i in users.members]
    rows, decided = [], True
    for p, i in enumerate(users.members):
        if tasks[p] < users.most[p]:
            try:
                if asked.fits([x + (q == p) for q, x in enumerate(tasks)]):
                    rows.append((instance.users[i], tasks[p]))
            except Inconclusive:
                decided = False
    return rows, decided


def envied(found: Allocation, deadline: Deadline) -> Iterator[tuple[int, int, int]]:
    """Yield for each two users how many whole tasks the first could run with what the other holds, by their weights."""
    instance = found.instance
    weights = [row if isinstance(row, tuple) else (row,) * instance.m for row in instance.exact_weights]
    rooms = [_held(found, k) for k in range(instance.n)]
    for i in range(instance.n):
        for k in range(instance.n):
            if i != k:
                deadline.check("the audit")
                scale = [mine / other for mine, other in zip(weights[i], weights[k], strict=True)]
                scaled = [(c, count, [a * s for a, s in zip(room, scale, strict=True)]) for c, count, room in rooms[k]]
                yield i, k, most_in(instance, i, scaled)


def carried(found: Allocation, i: int, part: Fraction) -> int:
    """Return how many tasks user i can run with what it is given, machine by machine, if each brings such a part."""
    row = type_rows(found.instance)[i][0]
    if found.instance.machines is None or part == 1:
        return math.floor(int(found.tasks[i]) * part)
    packing = found.certificate.evidence.packing or []
    return sum(count * math.floor(pattern.get(row, 0) * part) for _, count, pattern in packing)


def _held(found: Allocation, i: int) -> Rooms:
    """Return what a user holds on each machine that runs tasks of it."""
    instance, tasks = found.instance, int(found.tasks[i])
    kinds = instance.task_types[i] if instance.task_types is not None else None
    demands = [kind.demand for kind in kinds] if kinds else [instance.exact_demands[i]]

    def used(counts: Sequence[int]) -> list[Fraction]:
        rows = zip(*demands, strict=True)
        return [sum((x * d for x, d in zip(counts, column, strict=True)), Fraction(0)) for column in rows]

    if instance.machines is None:
        return [(0, 1, used(instance.types_started(i, tasks) if kinds else [tasks]))]
    rows = type_rows(instance)[i]
    packing = found.certificate.evidence.packing or []
    there = [(k, count, [pattern.get(row, 0) for row in rows]) for k, count, pattern in packing]
    return [(k, count, used(counts)) for k, count, counts in there if any(counts)]
