"""How much of the devices is lost to fragmentation: pooled, whole tasks packed, and a greedy schedule.

Divisible tasks use half-free devices as if they were one; whole tasks cannot. So of each resource with devices

    pooled    what the policy's divisible tasks use: under max-min fairness without an organisation and several task
              types nobody's lowest level is higher in whole tasks
    packed    the policy's whole tasks, packed; where that is not proven, the best that is known, with its gap
    greedy    Algorithm 1: one task at a time on the first devices that take it, and nothing moves

and of the two latter what is idle, and the part of it that is a *fragment*: with ``p[i]`` the part of user i's tasks
among all tasks that need some of the resource,

    sum over machines and users of  p[i] * (idle devices of the machine that cannot serve a task of user i)

these being all of its idle amount where such a task does not fit on the machine, and otherwise what is left on devices
of which too little is left for the task's part of one, or for a whole one.

Source: Weng et al., Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent,
USENIX ATC 2023, section 2.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import PolicyError, TimeLimitError
from ...base.numbers.shown import in_full
from ...model.allocation import Allocation
from ...model.instance import Instance
from ...model.machine import Devices
from ...model.policies import policy_named
from ...model.users import TaskType
from ...solving.allocating import solve
from ...solving.scheduling import Schedule, schedule

__all__ = ["DeviceUse", "Fragmentation", "IdleMachines", "fragmentation", "fragments"]


@dataclass(frozen=True)
class IdleMachines:
    """So many machines of class `k` on which so much is free (m,), and by resource so much on each device."""

    k: int
    count: int
    free: Sequence[Fraction]
    devices: Mapping[int, Sequence[Fraction]]


@dataclass(frozen=True)
class DeviceUse:
    """What one way to divide makes of the devices.

    Attributes
    ----------
    way : str
        ``pooled``, ``packed`` or ``greedy``.
    tasks, lowest : float
        Tasks in all, and the lowest level of who is placed.
    used, idle : dict from resource to float
        Units of each resource that has devices.
    fragments : dict from resource to float, or None
        How much of what is idle is a fragment; None where they are pooled, which knows no devices.
    proven : str
        What is proven of it.
    """

    way: str
    tasks: float
    lowest: float
    used: dict[str, float]
    idle: dict[str, float]
    fragments: dict[str, float] | None
    proven: str

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of ``drfopt explain --fragmentation --json``."""
        names = ("way", "tasks", "lowest", "used", "idle", "fragments", "proven")
        return {name: getattr(self, name) for name in names}

    def sentence(self) -> str:
        """Return it in one line."""
        parts = []
        for name, used in self.used.items():
            idle = self.idle[name]
            torn = self.fragments and f", {in_full(self.fragments[name])} of the {in_full(idle)} idle are fragments"
            parts.append(f"{in_full(used)} of {in_full(used + idle)} {name} in use{torn or ''}")
        tasks = f"{in_full(self.tasks)} tasks, lowest level {self.lowest:.6g}"
        return f"{self.way}: {'; '.join(parts)}; {tasks} ({self.proven})"


@dataclass(frozen=True)
class Fragmentation:
    """The ways side by side; `lost` is what the packed tasks use less than the pooled ones, by resource."""

    ways: tuple[DeviceUse, ...]

    @property
    def lost(self) -> dict[str, float]:
        """Units in use where devices are pooled and not where whole tasks are packed."""
        pooled, packed = self.ways[:2]
        return {name: used - packed.used[name] for name, used in pooled.used.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of ``drfopt explain --fragmentation --json``."""
        return {"ways": [way.to_dict() for way in self.ways], "lost": self.lost}

    def sentences(self) -> list[str]:
        """Return a line for each way, and one for what is lost."""
        found = [way.sentence() for way in self.ways]
        if lost := ", ".join(f"{in_full(amount)} {name}" for name, amount in self.lost.items() if amount >= 0):
            found.append(f"lost to fragmentation and to whole tasks: {lost}")
        if gained := ", ".join(f"{in_full(-amount)} {name}" for name, amount in self.lost.items() if amount < 0):
            found.append(f"whole tasks use more than divisible ones, for fairness divides otherwise: {gained}")
        return found


def fragmentation(pooled: Allocation, time_limit: float | None = None) -> Fragmentation:
    """Return what whole tasks make of the devices of an instance, beside an allocation of divisible tasks.

    Parameters
    ----------
    pooled : Allocation
        Of divisible tasks.
    time_limit : float, optional
        Seconds for the packing and its proof, and for the greedy schedule what is left of them: a long one is left out.

    Raises
    ------
    PolicyError
        When no machines of the instance have devices, or the policy has no whole tasks.
    """
    instance = pooled.instance
    if not instance.has_devices:
        raise PolicyError("no machine has devices: say how many each machine of a class has, such as 8 of gpu")
    deadline = Deadline.asked(time_limit)
    whole = solve(instance, pooled.policy, integer=True, time_limit=deadline.share(1))
    proven = "proven" if whole.certificate.valid else f"the best that is known; {whole.certificate.reason}"
    ways = [
        _use(instance, "pooled", pooled.tasks, pooled.levels, pooled.used, None, _bound(pooled)),
        _use(instance, "packed", whole.tasks, whole.levels, whole.used, list(_left(whole)), proven),
    ]
    if policy_named(pooled.policy).objective == "leximin" and not instance.features:
        with suppress(PolicyError, TimeLimitError):
            greedy = schedule(instance, pooled.policy, trace=False, time_limit=deadline.share(1))
            levels = policy_named(pooled.policy).rates(instance) * greedy.tasks
            used = greedy.tasks @ instance.demands
            ways.append(_use(instance, "greedy", greedy.tasks, levels, used, list(_unused(greedy)), "Algorithm 1"))
    return Fragmentation(tuple(ways))


def _bound(pooled: Allocation) -> str:
    """Return whether the lowest level of divisible tasks is a bound of that in whole tasks, in words."""
    instance = pooled.instance
    objective = policy_named(pooled.policy).objective
    # What promises, tiers and groups come to depends on what is possible, and so does which types run.  Whom only whole
    # tasks leave unplaced may be the one who is lowest in divisible ones.
    gone = (instance.unplaced(integer=True) != instance.unplaced()).any()
    if objective not in ("leximin", "servers") or instance.features or gone:
        return "no bound of whole tasks here"
    # Of every machine by itself each is bounded, and what all add up to is not.
    return "on each machine a bound" if objective == "servers" else "a bound"


def _use(
    instance: Instance,
    way: str,
    tasks: np.ndarray,
    levels: np.ndarray,
    amounts: np.ndarray,
    idle: list[IdleMachines] | None,
    proven: str,
) -> DeviceUse:
    placed = ~instance.unplaced(integer=True)
    columns = _columns(instance)
    used = {instance.resources[j]: float(amounts[j]) for j in columns}
    return DeviceUse(
        way,
        float(tasks.sum()),
        float(np.asarray(levels, dtype=float)[placed].min(initial=np.inf)) if placed.any() else 0.0,
        used,
        {instance.resources[j]: float(instance.capacity[j]) - used[instance.resources[j]] for j in columns},
        None if idle is None else {instance.resources[j]: fragments(instance, idle, j) for j in columns},
        proven,
    )


def _columns(instance: Instance) -> list[int]:
    """Return the resources of which some machine has devices."""
    named = {r for machine in instance.machines or () for r in machine.devices or {}}
    return [j for j, r in enumerate(instance.resources) if r in named]


def fragments(instance: Instance, idle: Iterable[IdleMachines], resource: int) -> float:
    """Return how much of what is idle of a resource is a fragment, in expectation over the tasks that need it.

    Parameters
    ----------
    idle : iterable of IdleMachines
        All machines on which something is left.
    resource : int
        One that has devices.
    """
    demands, fits, asked = _kinds(instance)
    asked = np.where(np.isfinite(asked), asked, 1.0) * (demands[:, resource] > 0)
    part = asked / asked.sum() if asked.sum() else asked
    total = 0.0
    for machines in idle:
        if not machines.devices.get(resource):
            continue
        runs, wanted = _runs(instance, machines, resource, demands, fits)
        left = np.array([float(amount) for amount in machines.devices[resource]])
        too_little = (left[None, :] < np.minimum(wanted, 1.0)[:, None]) @ left
        total += (
            machines.count * float(part @ np.where(runs, too_little, left.sum())) * _size(instance, machines, resource)
        )
    return total


def _kinds(instance: Instance) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return demands (q, m), classes on which they fit (q, k) and the number of tasks (q,) of each kind of task."""
    if (types := instance.type_table) is None:
        return instance.demands, instance.fits, instance.asked
    return types.demands, types.fits, types.part * instance.asked[types.owner]


def _runs(
    instance: Instance, machines: IdleMachines, resource: int, demands: np.ndarray, fits: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return which kinds of tasks fit on what is left of a machine, and the devices of a resource that each takes."""
    free = np.array([float(amount) for amount in machines.free])
    runs = fits[:, machines.k] & (demands <= free).all(axis=1)
    wanted = np.zeros(len(demands))
    for j, devices in machines.devices.items():
        left = np.array([float(amount) for amount in devices])
        need = demands[:, j] / _size(instance, machines, j)
        largest, entire = left.max(initial=0.0), int((left >= 1).sum())
        runs &= np.where(need < 1, need <= largest, need <= entire)
        wanted = need if j == resource else wanted
    return runs, wanted


def _size(instance: Instance, machines: IdleMachines, j: int) -> float:
    return float(_devices(instance, machines.k)[j].size)


def _devices(instance: Instance, k: int) -> dict[int, Devices]:
    machine = instance.machines[k] if instance.machines else None
    there = (machine.devices if machine is not None else None) or {}
    return {instance.resources.index(r): one for r, one in there.items()}


def _left(whole: Allocation) -> Iterable[IdleMachines]:
    """Yield what whole tasks leave of the machines, amounts on devices in parts of one."""
    instance, evidence = whole.instance, whole.certificate.evidence
    unused = instance.counts.tolist()
    kinds = instance.task_types if instance.type_table is not None else None
    needs = [
        tuple(kind.demand)
        for i, row in enumerate(instance.exact_demands)
        for kind in (kinds[i] if kinds else None) or (TaskType(row, 1),)
    ]
    for (k, count, pattern), shared in zip(evidence.packing or (), evidence.devices(instance), strict=True):
        unused[k] -= count
        rows = [(x, needs[i]) for i, x in pattern.items()]
        free = [
            c - sum((x * row[j] for x, row in rows), Fraction(0))
            for j, c in enumerate(instance.exact_machine_capacity[k])
        ]
        devices = {}
        for j, one in _devices(instance, k).items():
            entire = sum(x * row[j] for x, row in rows if row[j] >= one.size) / one.size
            on = (shared or {}).get(instance.resources[j], [])
            parts = [1 - sum(x * needs[i][j] for i, x in device.items()) / one.size for device in on]
            devices[j] = [*parts, *[Fraction(1)] * (one.count - int(entire) - len(on))]
        yield IdleMachines(k, count, free, devices)
    yield from _empty(instance, unused)


def _unused(greedy: Schedule) -> Iterable[IdleMachines]:
    """Yield the same of a schedule."""
    instance = greedy.instance
    for k, machines in enumerate(greedy.free):
        for room, held in machines:
            sizes = {j: one.size for j, one in _devices(instance, k).items()}
            yield IdleMachines(k, 1, room, {j: [f / sizes[j] for f in free] for j, free in held.free.items()})
    yield from _empty(instance, [n - len(m) for n, m in zip(instance.counts.tolist(), greedy.free, strict=True)])


def _empty(instance: Instance, counts: Sequence[int]) -> Iterable[IdleMachines]:
    for k, count in enumerate(counts):
        if count:
            devices = {j: [Fraction(1)] * one.count for j, one in _devices(instance, k).items()}
            yield IdleMachines(k, count, instance.exact_machine_capacity[k], devices)
