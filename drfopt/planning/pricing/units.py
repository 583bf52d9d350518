"""Units that a cluster may have more or less of: a resource, a machine of a class, a resource of a class.

A unit of a resource on machines is spread over all machines in proportion to what they have of it; a unit of a
resource of a class evenly over its machines.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...base.errors import InstanceError, suggestion
from ...model.instance import Instance
from ...model.naming import some
from ...model.users import given_types

__all__ = ["FINE", "Unit", "fine", "grown", "units_named", "units_of"]

MOST = 10
"""Times what there is, up to which a unit is asked about; beyond is another cluster."""

NONE_OF_IT = 1e-9
"""Part of an amount that stands for none of it."""

FINE = 10_000
"""A cluster with so many times the machines has parts of machines to add or take; nothing else changes but tasks."""


@dataclass(frozen=True, eq=False)
class Unit:
    """Something to have more of.

    Attributes
    ----------
    kind : str
        ``resource``, ``machine`` or ``cell``.
    name : str
    now : float
        How much there is.
    growth : array (k, m)
        What one unit adds to the room of each class.
    least, most : float
        Amounts between which the same tasks fit on the same machines.
    """

    kind: str
    name: str
    now: float
    growth: np.ndarray
    least: float
    most: float

    def whole(self, instance: Instance) -> float:
        """Return how many units the whole cluster has of what one brings, `now` of what brings nothing."""
        growth = self.growth.sum(axis=0)
        there = instance.capacity[growth > 0] / growth[growth > 0]
        return max(self.now, min(there.tolist(), default=self.now))

    def end(self, more: bool) -> float:
        """Return how many units more, or less, there is sense in asking about."""
        if more:
            return min((MOST - 1) * self.now, self.most - self.now)
        # Nothing at all has no shares: a billionth stays.
        return min(self.now * (1 - NONE_OF_IT), self.now - self.least)

    def until(self, more: bool, reach: float) -> float | None:
        """Return the amount that is so many units more, or less; None for as many as are asked about."""
        if more:
            return None if reach >= (MOST - 1) * self.now else self.now + reach
        return 0.0 if reach >= self.now * (1 - NONE_OF_IT) else self.now - reach


def units_of(instance: Instance) -> tuple[Unit, ...]:
    """Return every unit of a cluster: resources, classes, and resources of classes; not what there is none of."""
    room = instance.room
    units = [_resource(instance, j) for j in range(instance.m) if instance.capacity[j] > 0]
    if instance.machines is not None:
        units += [_machine(instance, k) for k in range(instance.k)]
        units += [_cell(instance, k, j) for k in range(instance.k) for j in range(instance.m) if room[k, j] > 0]
    return tuple(units)


def units_named(instance: Instance, name: str) -> list[Unit]:
    """Return the units of that name: a resource and a machine class may share one.

    Raises
    ------
    InstanceError
        With the nearest name.
    """
    units = units_of(instance)
    if found := [unit for unit in units if unit.name == name]:
        return found
    known = list(dict.fromkeys(unit.name for unit in units))
    raise InstanceError(f"the cluster has no {name!r}: it has {some(known)}{suggestion(name, known)}")


def _resource(instance: Instance, j: int) -> Unit:
    growth = np.zeros_like(instance.room)
    growth[:, j] = instance.room[:, j] / instance.capacity[j]
    now = float(instance.capacity[j])
    bounds = [_bounds(instance, k, j) for k in range(instance.k)]
    low, high = max((low for low, _ in bounds), default=0.0), min((high for _, high in bounds), default=np.inf)
    return Unit("resource", instance.resources[j], now, growth, low * now, high * now)


def _machine(instance: Instance, k: int) -> Unit:
    growth = np.zeros_like(instance.room)
    growth[k] = instance.machine_capacity[k]
    return Unit("machine", instance.machine_names[k], float(instance.counts[k]), growth, 0.0, np.inf)


def _cell(instance: Instance, k: int, j: int) -> Unit:
    growth = np.zeros_like(instance.room)
    growth[k, j] = 1.0
    now = float(instance.room[k, j])
    low, high = _bounds(instance, k, j)
    name = f"{instance.machine_names[k]}/{instance.resources[j]}"
    return Unit("cell", name, now, growth, low * now, high * now)


def _bounds(instance: Instance, k: int, j: int) -> tuple[float, float]:
    """Return the factors of a machine's resource between which the same tasks fit on it."""
    capacity = instance.machine_capacity[k]
    if not capacity[j] > 0:
        return 0.0, np.inf
    demands, fits, eligible = instance.demands, instance.fits[:, k], instance.eligible[:, k]
    if (types := instance.type_table) is not None:
        demands, fits = types.demands, types.fits[:, k]
        kinds = [kind for row in instance.task_types or () for kind in row or (None,)]
        named = [kind is None or not kind.machines or instance.machine_names[k] in kind.machines for kind in kinds]
        eligible = eligible[types.owner] & np.array(named)
    others = np.delete(demands, j, axis=1) <= np.delete(capacity, j)
    waiting = eligible & ~fits & others.all(axis=1)
    demand = demands[:, j]
    return float(demand[fits].max(initial=0.0) / capacity[j]), float(demand[waiting].min(initial=np.inf) / capacity[j])


def fine(unit: Unit, step: float) -> float:
    """Return a step in parts of machines that `grown` can make."""
    return max(round(step * FINE), 1) / FINE if unit.kind == "machine" else step


def grown(instance: Instance, unit: Unit, amount: float) -> tuple[Instance, float]:
    """Return the instance with so many units more, and how many times as large everything in it is.

    Parts of machines are whole machines of a cluster that is `FINE` times as large, tasks and limits with it.
    """
    if instance.organisation is not None or instance.task_types is not None:
        return _grown_exactly(instance, unit, amount)
    common: dict[str, Any] = {"users": instance.users, "resources": instance.resources, "weights": _weights(instance)}
    if instance.machines is None:
        capacity = (instance.room + amount * unit.growth)[0]
        return Instance(instance.demands, capacity, max_tasks=instance.limits, **common), 1.0
    if unit.kind == "machine":
        extra = np.where(unit.growth.any(axis=1), round(FINE * amount), 0)
        counts, times = instance.counts * FINE + extra, float(FINE)
        rows = instance.machine_capacity
    else:
        counts, times = instance.counts, 1.0
        rows = (instance.room + amount * unit.growth) / instance.counts[:, None]
    named = zip(instance.machines, rows, counts.tolist(), strict=True)
    machines = [one.settled(instance.resources, row, count) for one, row, count in named if count]
    there = counts > 0
    eligible = np.ascontiguousarray(instance.eligible[:, there])
    limits = instance.limits * times
    return Instance(instance.demands, machines=machines, eligible=eligible, max_tasks=limits, **common), times


def _grown_exactly(instance: Instance, unit: Unit, amount: float) -> tuple[Instance, float]:
    """Return the same of an instance whose rules and task types are amounts, too, and grow with finer machines."""
    parts, times = instance.parts(), 1
    if instance.machines is None:
        parts["capacity"] = (instance.room + amount * unit.growth)[0]
        return Instance(**parts), 1.0
    if unit.kind == "machine":
        times, rows = FINE, instance.machine_capacity
        counts = instance.counts * FINE + np.where(unit.growth.any(axis=1), round(FINE * amount), 0)
    else:
        counts, rows = instance.counts, (instance.room + amount * unit.growth) / instance.counts[:, None]
    named = zip(instance.machines, rows, counts.tolist(), strict=True)
    parts["machines"] = [one.settled(instance.resources, row, count) for one, row, count in named]
    if times > 1:
        parts["demands"] = [
            [replace(kind, count=kind.count * times) for kind in row] if given_types(row) else row
            for row in parts["demands"]
        ]
        limits = parts["max_tasks"]
        parts["max_tasks"] = None if limits is None else [None if u is None else u * times for u in limits]
        if (rules := parts["organisation"]) is not None:
            parts["organisation"] = rules.times(times)
    return Instance(**parts), float(times)


def _weights(instance: Instance) -> np.ndarray | None:
    return instance.weights if instance.weighted else None
