"""What is said to run today and cannot: more than there is, in the wrong place, or too large to share machines.

What can be said with an amount is said first, by resources and devices one by one.  Where that finds nothing the tasks
of a class are packed on its machines, or it is refuted that they can be (`drfopt.certificates.packable`): both are
decided in integers, and where neither comes to an end in time the class is named as undecided.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import SolverError, TimeLimitError
from ...base.numbers.shown import changing
from ...certificates.branch_and_cut import Inconclusive
from ...certificates.packable import Packable
from ...model.instance import Instance
from ...model.packings import device_room
from ...model.policies import policy_named
from ...model.whole_values import WholeUsers, by_types, type_rows
from .current import Current

__all__ = ["Today", "today"]

LONGEST = 5.0
"""Seconds for all classes of which counting does not say that their tasks cannot be packed."""


@dataclass(frozen=True)
class Today:
    """What cannot run as it is said to, in words, and of which places that is not decided."""

    impossible: tuple[str, ...]
    undecided: tuple[str, ...]


def today(current: Current, instance: Instance, seconds: float = LONGEST) -> Today:
    """Return what is said to run and cannot, by the instance: who has no place there, and what is too much."""
    cluster, deadline = by_types(instance), Deadline.after(seconds)
    owner = [i for i, rows in enumerate(type_rows(instance)) for _ in rows]
    found, undecided = list[str](), list[str]()
    for p, (place, k) in enumerate(zip(current.places, current.classes, strict=True)):
        room, count = instance.exact_capacity, 1
        if instance.machines is not None:
            count = 1 if current.machines else instance.machines[k].count
            room = tuple(amount * count for amount in instance.exact_machine_capacity[k])
        tasks = {q: int(current.tasks[q, p]) for q in np.flatnonzero(current.tasks[:, p]).tolist()}
        closed = {owner[q]: None for q in tasks if cluster.fits is not None and not cluster.fits[q, k]}
        here = [f"{instance.users[i]} runs on {place}, which its task may not use or does not fit on" for i in closed]
        for j, (resource, most) in enumerate(zip(instance.resources, room, strict=True)):
            used = sum((x * cluster.exact_demands[q][j] for q, x in tasks.items()), Fraction(0))
            if used > most:
                too_much, there = changing(float(used), float(most))
                here.append(f"{place} runs {too_much} {resource} of {there}")
        if instance.machines is not None:
            placed = {q: x for q, x in tasks.items() if cluster.fits[q, k]}
            here += _crowded(cluster, place, k, count, placed)
            packs = None if here else _packs(cluster, k, count, placed, deadline)
            if packs is False:
                where = f"its {count} machines" if count > 1 else "it"
                here.append(f"what {place} runs cannot be packed on {where}, though there is enough of each resource")
            elif packs is None and not here:
                undecided.append(place)
        found += here
    return Today(tuple(found), tuple(undecided))


def _crowded(cluster: Instance, place: str, k: int, count: int, tasks: Mapping[int, int]) -> list[str]:
    """Return of which resource tasks that sums leave room for are too large to share machines, or their devices."""
    found, machine = [], (cluster.machines or ())[k]
    demands = {q: cluster.exact_demands[q] for q in tasks}
    for j, resource in enumerate(cluster.resources):
        sizes = [(demands[q][j], x) for q, x in tasks.items() if demands[q][j]]
        room, total = cluster.exact_machine_capacity[k][j], sum(d * x for d, x in sizes)
        devices = (machine.devices or {}).get(resource)
        if devices is not None:
            needs = [(d / devices.size, x) for d, x in sizes]
            whole = sum(int(need) * x for need, x in needs if need.denominator == 1)
            least = whole + _least([(need, x) for need, x in needs if need.denominator > 1], Fraction(1))
            if least > count * devices.count:
                found.append(f"{place} needs at least {least} devices of {resource} and has {count * devices.count}")
                continue
        if total <= count * room and (least := _least(sizes, room)) > count:
            found.append(f"{place} needs at least {least} machines for {resource} and has {count}")
    return found


def _least(sizes: list[tuple[Fraction, int]], room: Fraction) -> int:
    """Return how many bins tasks (size, number) take at least: by their sum, and by how many so large go into one."""
    most, tasks = math.ceil(sum((d * x for d, x in sizes), Fraction(0)) / room) if sizes else 0, 0
    for size, number in sorted(sizes, reverse=True):
        tasks += number
        most = max(most, -(-tasks // (room // size)))
    return most


def _packs(cluster: Instance, k: int, count: int, tasks: Mapping[int, int], deadline: Deadline) -> bool | None:
    """Say whether machines of class k can run these tasks, all resources and devices together; None: not decided."""
    machine, able = (cluster.machines or ())[k], [q for q in tasks if any(cluster.exact_demands[q])]
    if not able or (count == 1 and not machine.devices):
        return True
    try:
        if count == 1:
            return device_room(cluster, k, able).fit({at: tasks[q] for at, q in enumerate(able)})
        alone = Instance(
            [list(cluster.exact_demands[q]) for q in able],
            machines=[replace(machine, count=count)],
            resources=list(cluster.resources),
        )
        users = WholeUsers(alone, policy_named("drf"), range(len(able)))
        return Packable(users, deadline).fits([tasks[q] for q in able])
    except (Inconclusive, SolverError, TimeLimitError):
        return None
