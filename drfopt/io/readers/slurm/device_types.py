"""Types of devices: resources of their own beside the devices of any type, where something makes that matter.

Slurm counts ``gres/gpu:a100`` beside ``gres/gpu``: a job that asks for two A100 holds two of both. Where the devices of
every node are of one type, it is enough to know which nodes a job may use, and shares are of all devices. A type is a
resource of its own where a job asks for it and some node has devices of other types too, or where a limit is on it and
not every device is of that type.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import cast

from ..conversion import Amounts, ListedMachine, Notes, Task
from ..queues.tree import QueueNode

__all__ = ["Features", "kinds", "told_of_machine", "types_apart", "with_totals"]

Features = tuple[frozenset[str], frozenset[str], frozenset[str]]
"""Partitions, types of devices and features of a node."""


def kinds(amounts: Iterable[str]) -> frozenset[str]:
    """Return the types among the names of resources: ``gpu:a100`` of ``gres/gpu:a100``."""
    return frozenset(name.removeprefix("gres/") for name in amounts if ":" in name)


def with_totals(amounts: Amounts) -> dict[str, Fraction]:
    """Return the amounts with the devices of any type, where only those of some types are listed."""
    sums: dict[str, Fraction] = {}
    for name, amount in amounts.items():
        base, typed, _ = name.partition(":")
        if typed and base not in amounts:
            sums[base] = sums.get(base, Fraction(0)) + amount
    return {**sums, **amounts}


def told_of_machine(node: ListedMachine, notes: Notes) -> ListedMachine:
    """Return a machine of another file, whose amounts and whose column ``label:gres`` complete each other."""
    capacity = with_totals(node.capacity)
    partitions, types, marks = cast(Features, node.features)
    several: dict[str, list[str]] = {}
    for kind in sorted(types - kinds(capacity)):
        base, typed, _ = f"gres/{kind}".partition(":")
        if typed and base in capacity:
            several.setdefault(base, []).append(f"gres/{kind}")
    for base, names in several.items():
        if len(names) > 1:
            notes.assumed(
                "machine with several types of a device: each may be all of them, as none is counted", node.name
            )
        capacity |= dict.fromkeys(names, capacity[base])
    held = kinds(name for name, amount in capacity.items() if amount)
    return replace(node, capacity=capacity, features=(partitions, types | held, marks))


def types_apart(
    tasks: Sequence[Task],
    nodes: Sequence[ListedMachine],
    pool: Amounts | None,
    queues: Sequence[QueueNode],
    notes: Notes,
) -> tuple[list[Task], list[ListedMachine], list[QueueNode]]:
    """Return tasks, machines and queues without the types that are no resources of their own.

    A limit on a type that every device is of is one on all devices; one on a type that no job names, or that no machine
    tells, bounds nothing.
    """
    there = [node.capacity for node in nodes] if pool is None else [pool]
    asked = {name for task in tasks for name, amount in task.demand.items() if amount and ":" in name}
    limited = {name for queue in queues for name in queue.maximum if ":" in name}
    own: set[str] = set()
    alone: set[str] = set()
    idle: dict[str, str] = {}
    for name in sorted(asked | limited):
        base = name.partition(":")[0]
        told = [capacity for capacity in there if _typed(base, capacity)]
        if told and all(_typed(base, has) == {name: has[base]} for has in there if has.get(base)):
            alone.add(name)
        elif not told or name not in asked:
            idle[name] = "no job names it" if told else "no node tells its own"
        elif name in limited:
            own.add(name)
            notes.assumed(f"{name} is a resource of its own beside {base}: a limit is on it")
        elif any(0 < has.get(name, 0) < has.get(base, 0) for has in told):
            own.add(name)
            notes.assumed(f"{name} is a resource of its own beside {base}: some node has others too")
    for base in sorted({name.partition(":")[0] for name in limited - alone}):
        if nameless := [task for task in tasks if task.demand.get(base) and not _typed(base, task.demand)]:
            what = f"job that names no type of {base}: limits on types of it do not count it"
            notes.assumed(what, nameless[0].name, len(nameless))

    def kept(amounts: Amounts) -> dict[str, Fraction]:
        return {name: amount for name, amount in amounts.items() if ":" not in name or name in own}

    def bounded(queue: QueueNode) -> QueueNode:
        maximum = kept(queue.maximum)
        for name, amount in queue.maximum.items():
            base = name.partition(":")[0]
            if name in alone:
                maximum[base] = min(amount, maximum.get(base, amount))
            elif name in idle:
                notes.unused(f"limit on a type of device: {idle[name]}", f"{name} of {queue.label}")
        return replace(queue, maximum=maximum)

    return (
        [
            replace(task, demand=kept(task.demand)) if any(":" in name for name in task.demand) else task
            for task in tasks
        ],
        [replace(node, capacity=kept(node.capacity)) for node in nodes],
        [bounded(queue) for queue in queues],
    )


def _typed(base: str, amounts: Amounts) -> dict[str, Fraction]:
    return {name: amount for name, amount in amounts.items() if amount and name.startswith(f"{base}:")}
