"""Whole tasks that run on one cluster, carried to another: as many of them as run there, and more where there is room.

A cluster that has all that another has runs what the other runs, so that no answer on it need be worse.  Who is there
is known by name, and a machine by that of its class.  What is carried is an answer like any other: that it is possible
is decided in integers, and how good it is the certificate says.
"""

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, replace
from operator import gt

from ...certificates.whole import impossible
from ...model.allocation import Allocation
from ...model.instance import Instance
from ...model.packings import Packing, trimmed
from ...model.users import TypeSequence
from ...model.whole_values import type_rows
from ..problem import Answer, Problem
from .filling_up import filled, filled_pool
from .milp import packed

__all__ = ["Running", "carried"]

FILLING = 0.5
"""Part of the time in which what is carried is filled up; the rest is for its proof."""


@dataclass(frozen=True, eq=False)
class Running:
    """Whole tasks of every user of a cluster (n,), on machines with the packing that runs them."""

    instance: Instance
    tasks: list[int]
    packing: list[Packing] | None

    @classmethod
    def of(cls, allocation: Allocation) -> "Running":
        """Return what an allocation of whole tasks runs."""
        return cls(allocation.instance, allocation.tasks.tolist(), allocation.certificate.evidence.packing)


def carried(problem: Problem, running: Running) -> Answer | None:
    """Return what of some tasks runs on the cluster of a problem, filled up; None where they cannot be carried."""
    instance, users = problem.instance, problem.whole_users
    there = dict(zip(running.instance.users, running.tasks, strict=True))
    own = [min(there.get(instance.users[i], 0), most) for i, most in zip(users.members, users.most, strict=True)]
    in_time = replace(problem, deadline=problem.deadline.part(FILLING))
    if instance.machines is None:
        return filled_pool(in_time, own)
    if running.packing is None:
        return None
    packing = _moved(running, instance)
    have = Counter[int]()
    for _, count, pattern in packing:
        for q, x in pattern.items():
            have[q] += count * x
    own = [_running(sequence, have, most) for sequence, most in zip(users.sequences, own, strict=True)]
    tasks = users.spread(own)
    packing = trimmed(packing, dict(enumerate(users.counts(tasks))))
    if impossible(users, tasks, packing):
        return None
    return filled(in_time, packed(problem, own, packing, "feasible"))


def _running(sequence: TypeSequence, have: Counter[int], most: int) -> int:
    """Return how many tasks of a user run where there are so many of each type, `most` at most."""
    there = [have[q] for q in sequence.rows]
    return bisect_left(range(1, most + 1), True, key=lambda x: any(map(gt, sequence.started(x), there)))


def _moved(running: Running, instance: Instance) -> list[Packing]:
    """Return the packing with the rows and classes of another cluster, without users and machines that it has not."""
    before, rows = running.instance, dict(zip(instance.users, type_rows(instance), strict=True))
    row: dict[int, int] = {}
    for user, mine in zip(before.users, type_rows(before), strict=True):
        if len(rows.get(user, ())) == len(mine):
            row |= dict(zip(mine, rows[user], strict=True))
    classes = {name: k for k, name in enumerate(instance.machine_names)}
    left, moved = [int(count) for count in instance.counts], list[Packing]()
    for k, count, pattern in running.packing or ():
        at = classes.get(before.machine_names[k])
        if at is not None and (number := min(count, left[at])):
            left[at] -= number
            moved.append((at, number, {row[q]: x for q, x in pattern.items() if q in row}))
    return moved
