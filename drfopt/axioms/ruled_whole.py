"""What audits ask of whole tasks under rules, or of several types: who could have one more, alone, or of another's.

Whole tasks are a downward closed set: where somebody could have more without another having less, somebody could have
one task more while all others keep theirs.  So Pareto efficiency is decided by asking of every user whether all tasks
and one of hers can be run.

A part of a cluster, or what another holds, is a cluster with one user, who runs as many of her tasks in it as fit, in
the sequence of her types.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..base.deadline import Deadline
from ..certificates.exhaustive_search import playing
from ..certificates.packable import Packable
from ..certificates.refutation import Inconclusive
from ..model.allocation import Allocation
from ..model.instance import Instance
from ..model.machine import Machine
from ..model.policies import Policy
from ..model.task_types import given_types
from ..model.whole_values import WholeUsers, type_rows
from ..solving.allocating import solve

__all__ = ["alone", "carried", "envied", "wasted"]

Rooms = Sequence[tuple[int, int, Sequence[Fraction]]]
"""Class, number of machines, and what each of them has."""


def wasted(found: Allocation, policy: Policy, deadline: Deadline) -> tuple[list[tuple[str, int]], bool]:
    """Return users who could have one task more, with those they have, and whether it is known of everybody."""
    users = WholeUsers(found.instance, policy, playing(found.instance))
    asked, tasks = Packable(users), [int(found.tasks[i]) for i in users.members]
    rows, decided = [], True
    for p, i in enumerate(users.members):
        if tasks[p] < users.most[p]:
            try:
                if asked.fits([x + (q == p) for q, x in enumerate(tasks)], deadline):
                    rows.append((found.instance.users[i], tasks[p]))
            except Inconclusive:
                decided = False
    return rows, decided


def alone(instance: Instance) -> Iterator[int]:
    """Yield the whole tasks that each user could run alone in its part of every machine, by weight."""
    weights = [row if isinstance(row, tuple) else (row,) * instance.m for row in instance.exact_weights]
    totals = [sum(column, Fraction(0)) for column in zip(*weights, strict=True)]
    rooms = [instance.exact_capacity] if instance.machines is None else instance.exact_machine_capacity
    counts = [1] if instance.machines is None else instance.counts.tolist()
    for i, mine in enumerate(weights):
        part = [w / total for w, total in zip(mine, totals, strict=True)]
        parts = [[c * share for c, share in zip(room, part, strict=True)] for room in rooms]
        yield _most(instance, i, [(k, count, room) for k, (count, room) in enumerate(zip(counts, parts, strict=True))])


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
                yield i, k, _most(instance, i, scaled)


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


def _most(instance: Instance, i: int, rooms: Rooms) -> int:
    """Return the most whole tasks of a user in rooms of its own; devices are not divided, but pooled."""
    if not rooms or not any(any(room) for _, _, room in rooms):
        return 0
    parts = instance.parts()
    demand, cluster = parts["demands"][i], dict[str, Any](capacity=list(rooms[0][2]))
    if instance.machines is not None:
        named: dict[int, list[str]] = {}
        machines = []
        for number, (k, count, room) in enumerate(rooms):
            named.setdefault(k, []).append(f"{k}/{number}")
            machines.append(Machine(f"{k}/{number}", list(room), count))
        if given_types(demand):
            of = {name: named.get(k, []) for k, name in enumerate(instance.machine_names)}
            demand = [
                kind if kind.machines is None else replace(kind, machines=[n for c in kind.machines for n in of[c]])
                for kind in demand
            ]
        open_to = np.array([[bool(instance.eligible[i][k]) for k, _, _ in rooms]])
        cluster = {"machines": machines, "eligible": open_to}
    limit = None if parts["max_tasks"] is None else [parts["max_tasks"][i]]
    one = Instance([demand], **cluster, resources=instance.resources, max_tasks=limit)
    return int(solve(one, integer=True).tasks[0])
