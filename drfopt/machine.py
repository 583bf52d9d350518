"""Machines at the door: classes of identical ones, given as `Machine`s or as rows of an array."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Places, Table, table
from .errors import InstanceError
from .naming import listed, row_of, unique

__all__ = ["Machine", "capacity_table", "named_classes"]


@dataclass(frozen=True)
class Machine:
    """A class of identical machines; a task runs on one machine of it.

    Parameters
    ----------
    name : str
    capacity : mapping from resource to number, or array of shape (m,)
        What ONE machine has.
    count : int
        How many identical machines there are.
    """

    name: str
    capacity: Any
    count: int = 1


def named_classes(machines: Any) -> tuple[Machine, ...]:
    """Return the classes as machines with names, each speaking of all resources that any of them names."""
    if isinstance(machines, np.ndarray):
        if machines.ndim != 2:
            raise InstanceError(f"machines have shape {machines.shape}: an array of shape (k, m) is needed")
        return tuple(Machine(f"m{k}", row) for k, row in enumerate(machines, start=1))
    listed = tuple(machines)
    if listed and all(isinstance(row, list | tuple) for row in listed):
        return tuple(Machine(f"m{k}", row) for k, row in enumerate(listed, start=1))
    for machine in listed:
        if not isinstance(machine, Machine):
            raise InstanceError(f"{machine!r} is not a machine: use Machine(name=..., capacity=..., count=...)")
    if not listed:
        raise InstanceError("the cluster has no machines: list at least one class")
    names: dict[str, None] = {}
    for machine in listed:
        if isinstance(machine.capacity, Mapping):
            names.update(dict.fromkeys(map(str, machine.capacity)))
    # A resource that one class lacks is 0 there: every class speaks of all resources.
    return tuple(
        Machine(str(machine.name), {r: machine.capacity.get(r, 0) for r in names}, machine.count)
        if isinstance(machine.capacity, Mapping)
        else Machine(str(machine.name), machine.capacity, machine.count)
        for machine in listed
    )


def capacity_table(classes: tuple[Machine, ...], resources: Sequence[str]) -> tuple[Table, np.ndarray]:
    """Return what one machine of each class has, (k, m), and how many there are, int (k,)."""
    names = unique([machine.name for machine in classes], "machine class")
    rows = [
        row_of(machine.capacity, resources, f"machine class {machine.name!r}")
        if isinstance(machine.capacity, Mapping)
        else listed(machine.capacity)
        for machine in classes
    ]
    for machine, row in zip(classes, rows, strict=True):
        if len(row) != len(resources):
            raise InstanceError(
                f"machine class {machine.name!r} has {len(row)} capacities, but there are {len(resources)} resources"
            )
    values = np.array(rows) if all(isinstance(row, np.ndarray) for row in rows) else [list(row) for row in rows]
    places = Places("capacity", names, resources, row_word="machine class")
    counts = np.array([_count(machine) for machine in classes], dtype=np.int64)
    counts.flags.writeable = False
    return table(values, (len(classes), len(resources)), places), counts


def _count(machine: Machine) -> int:
    count = machine.count
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 1 <= count <= 2**53:
        raise InstanceError(f"machine class {machine.name!r}: count is {count!r}: write a whole number, 1 or more")
    return int(count)
