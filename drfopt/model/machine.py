"""Machines at the door: classes of identical ones, given as `Machine`s or as rows of an array."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..base.errors import InstanceError, listed, suggestion
from ..base.numbers.quantities import counted_up_to
from .arrays import ExactTable, amount_in_range, table
from .naming import Places, aligned, as_sequence, labels, row_of, unique, with_names

__all__ = [
    "Devices",
    "Machine",
    "accepts",
    "capacity_table",
    "devices_of",
    "named_classes",
    "resized",
    "resources_of",
    "with_capacity",
]


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

    def __post_init__(self) -> None:
        for name in ("capacity", "devices"):
            if isinstance(given := getattr(self, name), dict):
                object.__setattr__(self, name, dict(given))  # what the caller does to its own later is not ours

    def settled(self, resources: Sequence[str], row: Sequence[Any], count: int) -> "Machine":
        """Return the class with another capacity (m,) of one machine, devices as large as they are, and count.

        `self` is a class of an instance, whose devices are `Devices` with a size.
        """
        devices = {resources.index(resource): one for resource, one in (self.devices or {}).items()}
        found = {resources[j]: one for j, one in resized(devices, self.capacity, row).items()}
        return Machine(self.name, row, count, found or None)


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
    given = tuple(listed(machines, "machines", InstanceError))
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
        else as_sequence(machine.capacity)
        for machine in classes
    ]
    for machine, row in zip(classes, rows, strict=True):
        if len(row) != len(resources):
            raise InstanceError(
                f"machine class {machine.name!r} has {len(row)} capacities, but there are {len(resources)} resources"
            )
    values = np.array(rows) if all(isinstance(row, np.ndarray) for row in rows) else [list(row) for row in rows]
    places = Places("capacity", names, resources, row_word="machine class")
    counted = [counted_up_to(machine.count, f"machine class {machine.name!r}: count") for machine in classes]
    counts = np.array(counted, dtype=np.int64)
    counts.flags.writeable = False
    return table(values, (len(classes), len(resources)), places), counts


MOST = 10_000
"""Devices of one machine: far more than there are, and few enough to deal out one by one."""


@dataclass(frozen=True)
class Devices:
    """Devices of one machine: how many there are, and the units of the resource that are on each.

    Parameters
    ----------
    count : int
    size : number, optional
        By default the machine's capacity of the resource over the count.
    """

    count: int
    size: Any = None

    def part(self, share: Fraction) -> list[Fraction]:
        """Return what a part of the devices is of each: whole ones, and a part of one more."""
        ours = share * self.count
        return [self.size] * math.floor(ours) + [ours % 1 * self.size]

    def carried(self, need: Fraction, held: Sequence[Fraction]) -> int:
        """Return how many tasks, of which one takes a part of a device or whole ones, run on what is held of each."""
        if need > self.size:
            return int(sum(one >= self.size for one in held) // (need / self.size))
        return int(sum(one // need for one in held))


def with_capacity(name: str, capacity: Any, devices: Mapping[str, Any] | None) -> Any:
    """Return the capacity of a class, with as many units as devices where it says nothing of a resource of which it has
    devices.

    Raises
    ------
    InstanceError
        When such a resource is nearly called like one that the capacity names.
    """
    if devices is not None and not isinstance(devices, Mapping):
        raise InstanceError(f"machine class {name!r}: devices are {devices!r}: give a table, such as {{'gpu': 8}}")
    if not devices or not isinstance(capacity, dict):
        return capacity
    found = dict(capacity)
    for resource, given in devices.items():
        if resource in found:
            continue
        if near := suggestion(resource, list(capacity)):
            raise InstanceError(
                f"machine class {name!r} has devices of {resource!r}, which its capacity does not name{near} (if it is "
                "another resource, write its capacity too)"
            )
        one = _given(given)
        found[resource] = (
            one.count if one.size is None else one.count * amount_in_range(one.size, f"devices of {resource!r}")
        )
    return found


def devices_of(
    name: str, given: Mapping[str, Any] | None, resources: Sequence[str], row: Sequence[Fraction]
) -> dict[str, Devices]:
    """Return the devices of one machine of a class by resource, checked against its capacity (m,).

    Raises
    ------
    InstanceError
        When a resource is unknown, a count is not a whole number from 1 on, or there is less than the devices have.
    """
    found = {}
    for resource, value in (given or {}).items():
        place = f"machine class {name!r}: devices of {resource!r}"
        if resource not in resources:
            raise InstanceError(f"{place}: there is no such resource{suggestion(resource, resources)}")
        there = row[list(resources).index(resource)]
        one = _given(value)
        count = counted_up_to(one.count, f"{place}: their number", MOST)
        size = there / count if one.size is None else amount_in_range(one.size, f"{place}: size")
        if one.size is not None and not size:
            raise InstanceError(f"{place}: size is 0: write what each of the {count} has, above 0")
        if not size or count * size > there:
            of = f"{count} of {size} each" if one.size is not None else f"{count}"
            raise InstanceError(f"{place} are {of}, but the capacity is {there}: write one that they fit into")
        found[resource] = Devices(count, size)
    return found


def _given(value: Any) -> Devices:
    if isinstance(value, Mapping):
        return Devices(value.get("count"), value.get("size"))  # type: ignore[arg-type]
    return value if isinstance(value, Devices) else Devices(value)


def resized(devices: Mapping[int, Devices], before: Sequence[Any], after: Sequence[Any]) -> dict[int, Devices]:
    """Return as many devices of the same sizes as a machine has room for after its capacity (m,) has changed.

    Of a resource of which it has as much as before the devices stay: it may have more than is on them.
    """
    found = {}
    for j, one in devices.items():
        there = one.count if before[j] == after[j] else min(int(Fraction(after[j]) / one.size), MOST)
        if there:
            found[j] = Devices(there, one.size)
    return found


def accepts(demand: Fraction, one: Devices) -> bool:
    """Say whether a task that needs so much takes a part of one device, or whole ones, and no more than there are."""
    need = demand / one.size
    return need < 1 or (need.denominator == 1 and need <= one.count)
