"""Trades: whoever is lowest is given a task in the place of others', who run it elsewhere or have more without it.

Where nobody makes room, the parts of all devices that are alike are packed anew (`device_packing`).
"""

import heapq
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain

import numpy as np

from ...base.deadline import Deadline
from .device_packing import repacked
from .single_machines import SingleMachines

__all__ = ["trade"]

TRADES = 40
"""Machines on which a place is looked for that somebody else makes, for one task."""

FAILED = 2_000
"""Times in all that none may be found."""

Going = list[tuple[int, int]]
"""Pairs (member, tasks) that make room on a machine."""


def trade(cluster: SingleMachines, deadline: Deadline) -> None:
    """Give the lowest a task where somebody else makes room, and ends elsewhere or above where the lowest was."""
    tasks, failed = cluster.tasks.tolist(), 0
    queue = [(cluster.rates[p] * x, p) for p, x in enumerate(tasks) if x < cluster.most[p]]
    heapq.heapify(queue)
    while queue and failed < FAILED and deadline.left():
        level, p = heapq.heappop(queue)
        if level != cluster.rates[p] * tasks[p]:
            continue  # There is a later entry: tasks were lost.
        for where, going in chain(_giving(cluster, p, tasks), _shared_devices(cluster, p)):
            if (lost := _exchanged(cluster, p, where, going, tasks, level)) is not None:
                tasks[p] += 1
                for q, fewer in lost.items():
                    tasks[q] -= fewer
                for r in [*lost, *([p] if tasks[p] < cluster.most[p] else [])]:
                    heapq.heappush(queue, (cluster.rates[r] * tasks[r], r))
                break
            failed += 1
        else:
            if deadline.left() and repacked(cluster, p, deadline):
                tasks[p] += 1
                if tasks[p] < cluster.most[p]:
                    heapq.heappush(queue, (cluster.rates[p] * tasks[p], p))


def _giving(cluster: SingleMachines, p: int, tasks: list[int]) -> Iterator[tuple[int, Going]]:
    """Yield machines and so many tasks of one member there, without which one of p fits; who keeps most first."""
    machines = np.flatnonzero(cluster.eligible[p][cluster.classes])
    q, at = np.nonzero(cluster.load[:, machines])
    where, others = machines[at], cluster.demands[q]
    lacking = np.maximum(cluster.demands[p] - cluster.left[where], 0)
    number = np.where(others > 0, -(-lacking // np.maximum(others, 1)), 0).max(axis=1, initial=1)
    able = (q != p) & ~((others == 0) & (lacking > 0)).any(axis=1) & (number <= cluster.load[q, where])
    kept = cluster.float_rates[q] * (np.array(tasks, dtype=float)[q] - number.astype(float))
    order = np.flatnonzero(able)[np.argsort(-kept[able], kind="stable")]
    # Machines of a class are much alike: of each pair of a member and a class the first.
    _, first = np.unique(q[order] * len(cluster.rooms) + cluster.classes[where[order]], return_index=True)
    for o in order[np.sort(first)[:TRADES]].tolist():
        yield int(where[o]), [(int(q[o]), int(number[o]))]


def _shared_devices(cluster: SingleMachines, p: int) -> Iterator[tuple[int, Going]]:
    """Yield machines and all that one of their devices runs, of several members; the emptiest first."""
    found = []
    for where in np.flatnonzero(cluster.eligible[p][cluster.classes]).tolist():
        if (devices := cluster.devices[k := int(cluster.classes[where])]) is not None:
            members = np.flatnonzero(cluster.eligible[:, k]).tolist()
            for resource, shared in (devices.deal(cluster.running[where]) or {}).items():
                j = cluster.resources.index(resource)
                for on in shared:
                    going = [(members[at], x) for at, x in on.items()]
                    found.append((sum(x * int(cluster.demands[q][j]) for q, x in going), where, going))
    for _, where, going in sorted(found)[:TRADES]:
        yield where, going


def _exchanged(
    cluster: SingleMachines, p: int, where: int, going: Going, tasks: list[int], level: Fraction
) -> dict[int, int] | None:
    """Put a task of p in the place of others; return how many each of them lost, or None and nothing is changed."""
    rows = [p, *(q for q, _ in going)]
    load, left, refused = cluster.load[rows], cluster.left.copy(), cluster.refused[rows]
    for q, number in going:
        cluster.run(q, where, int(cluster.load[q, where]) - number)
        cluster.left[where] += number * cluster.demands[q]
    cluster.refused[:, where] = False
    if (cluster.left[where] >= cluster.demands[p]).all() and cluster.put(p, where, 1):
        lost = {q: number - cluster.place(q, number) for q, number in going}
        if all(not fewer or cluster.rates[q] * (tasks[q] - fewer) > level for q, fewer in lost.items()):
            return {q: fewer for q, fewer in lost.items() if fewer}
    for r, row in zip(rows, load, strict=True):
        for at in np.flatnonzero(cluster.load[r] != row).tolist():
            cluster.run(r, at, int(row[at]))
    cluster.left[:], cluster.refused[rows] = left, refused
    return None
