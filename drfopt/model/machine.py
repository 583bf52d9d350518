"""Machines at the door: classes of identical ones, given as `Machine`s or as rows of an array."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..base.errors import InstanceError
from .arrays import ExactTable, Places, table
from .devices import Devices, resized, with_capacity
from .naming import aligned, labels, listed, row_of, unique, with_names

__all__ = ["Machine", "capacity_table", "named_classes", "resources_of"]


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
    devices : mapping from resource to int or Devices, optional
        How many devices of the resource one machine has, which share its capacity of it alike; where the capacity does
        not name the resource, there is one unit on each. Whole tasks take a part of one device, or whole devices.
    """

    name: str
    capacity: Any
    count: int = 1
    devices: Mapping[str, Any] | None = None

    def settled(self, resources: Sequence[str], row: Sequence[Any], count: int) -> "Machine":
        """Return the class with another capacity (m,) of one machine, devices as large as they are, and count.

        `self` is a class of an instance, whose devices are `Devices` with a size.
        """
        devices: dict[str, Devices] = dict(self.devices or {})
        return Machine(self.name, row, count, resized(devices, resources, row) or None)


def named_classes(machines: Any) -> tuple[Machine, ...]:
    """Return the classes as machines with names."""
    if isinstance(machines, np.ndarray):
        if machines.ndim != 2:
            raise InstanceError(f"machines have shape {machines.shape}: an array of shape (k, m) is needed")
        return tuple(Machine(f"m{k}", row) for k, row in enumerate(machines, start=1))
    if isinstance(machines, Machine):
        raise InstanceError(f"machines are {machines!r}: give a list of them, [Machine(...)]")
    if len(found := labels(machines)) == 2:
        machines = _rows_of(machines, *found)
    given = tuple(machines)
    if given and all(isinstance(row, list | tuple) for row in given):
        return tuple(Machine(f"m{k}", row) for k, row in enumerate(given, start=1))
    for machine in given:
        if not isinstance(machine, Machine):
            raise InstanceError(f"{machine!r} is not a machine: use Machine(name=..., capacity=..., count=...)")
    if not given:
        raise InstanceError("the cluster has no machines: list at least one class")
    return tuple(map(_named, given))


def _named(one: Machine) -> Machine:
    name = str(one.name)
    capacity = with_names(one.capacity, f"machine class {name!r}")
    return replace(one, name=name, capacity=with_capacity(name, capacity, one.devices))


def _rows_of(frame: Any, index: tuple[str, ...] | None, columns: tuple[str, ...] | None) -> list[Machine]:
    """Return the rows of a frame, whose column ``count``, if it has one, says how many machines there are."""
    names = index or [f"m{k}" for k in range(1, len(frame) + 1)]
    rows = aligned(frame, "machines", ("machine class", None), ("resource", None)).tolist()
    if columns is None:
        return [Machine(name, row) for name, row in zip(names, rows, strict=True)]
    amounts = [dict(zip(unique(columns, "resource"), row, strict=True)) for row in rows]
    counts = [row.pop("count", 1) for row in amounts]
    return [
        Machine(name, row, int(count) if isinstance(count, float) and count.is_integer() else count)
        for name, row, count in zip(names, amounts, counts, strict=True)
    ]


def resources_of(classes: Sequence[Machine]) -> Any:
    """Return the resources that any class names, as keys, or the first capacity where none names them.

    A resource that one class lacks is 0 there.
    """
    named = [one.capacity for one in classes if isinstance(one.capacity, dict)]
    return dict.fromkeys(resource for capacity in named for resource in capacity) if named else classes[0].capacity


def capacity_table(classes: tuple[Machine, ...], resources: Sequence[str]) -> tuple[ExactTable, np.ndarray]:
    """Return what one machine of each class has, (k, m), and how many there are, int (k,)."""
    names = unique([machine.name for machine in classes], "machine class")
    rows = [
        row_of(machine.capacity, resources, f"machine class {machine.name!r}")
        if isinstance(machine.capacity, dict)
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
