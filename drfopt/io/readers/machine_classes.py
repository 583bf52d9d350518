"""Identical machines into classes, alike tasks into types, and names by which a planner knows them again."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from ...model.instance import in_bytes

if TYPE_CHECKING:
    from .conversion import Contents, ListedMachine, Notes, Task

__all__ = [
    "AlikeTasks",
    "MachineClass",
    "amount_text",
    "classes_of",
    "devices_of",
    "distinct",
    "plain_bytes",
    "shape",
    "types_of",
]

BYTES = {"memory": 1, "ephemeral-storage": 1, "memory-mb": 2**20, "mem": 2**20, "disk": 2**20}
"""Bytes in the unit of a resource of that name, for names of machine classes and task types."""

SHORT_NAMES = {"vcores": "cpu", "cpus": "cpu", "gpus": "gpu", "memory-mb": "memory", "mem": "memory"}

DEVICES = {
    **dict.fromkeys(("nvidia.com/gpu", "amd.com/gpu", "volcano.sh/vgpu-number"), 1),
    **dict.fromkeys(("koordinator.sh/gpu", "koordinator.sh/gpu-core", "koordinator.sh/gpu-memory-ratio"), 100),
}
"""Resources that come on devices, and units of one device."""

NAMED_LABELS = 3
"""Labels in the name of a class at most; beyond, a number tells it apart."""

LONGEST_LABEL = 40
"""Characters of a label in a name."""


@dataclass
class MachineClass:
    """Nodes that nothing tells apart: `capacity` (m,) of one of them."""

    capacity: tuple[Fraction, ...]
    nodes: "list[ListedMachine]"
    name: str = ""

    @property
    def count(self) -> int:
        """How many machines there are."""
        return sum(node.count for node in self.nodes)


@dataclass
class AlikeTasks:
    """Alike tasks of a user: their demand, the indices of the classes that take them, None for all, and whose."""

    demand: dict[str, Fraction]
    classes: tuple[int, ...] | None
    owner: str = ""
    needs: Hashable = None
    names: dict[str, None] = field(default_factory=dict)
    count: Fraction = Fraction(0)
    name: str = ""


def classes_of(
    cluster: "Contents", tasks: "Iterable[Task]", resources: list[str], plain: Collection[str]
) -> tuple[list[MachineClass], dict[Hashable, tuple[int, ...]]]:
    """Return the classes of machines, and the indices of those that each of the tasks' needs allows."""
    needs = list(dict.fromkeys(task.needs for task in tasks))
    takes = {
        features: tuple(cluster.allows(need, features) for need in needs)
        for features in dict.fromkeys(node.features for node in cluster.nodes)
    }
    found: dict[tuple, MachineClass] = {}
    for node in cluster.nodes:
        capacity = tuple(node.capacity.get(resource, Fraction(0)) for resource in resources)
        found.setdefault((capacity, takes[node.features]), MachineClass(capacity, [])).nodes.append(node)
    classes = list(found.values())
    _name(classes, resources, plain)
    allowed = {
        need: tuple(k for k, (_, taken) in enumerate(found) if taken[position]) for position, need in enumerate(needs)
    }
    return classes, allowed


def devices_of(one: MachineClass, resources: list[str], tasks: "Iterable[Task]", notes: "Notes") -> dict[str, int]:
    """Return the devices of one machine of a class, of resources of which some task takes a part of a device."""
    tasks, found = list(tasks), {}
    for resource, amount in zip(resources, one.capacity, strict=True):
        size = DEVICES.get(resource)
        if size is None or not amount or all(not task.demand.get(resource, 0) % size for task in tasks):
            continue
        if amount % size:
            notes.assumed(f"parts of {resource} add up on a machine that has {amount / size} of them", one.name)
        else:
            found[resource] = int(amount // size)
    return found


def types_of(
    tasks: "Iterable[Task]",
    resources: list[str],
    allowed: Mapping[Hashable, tuple[int, ...]],
    everywhere: tuple[int, ...],
    home: Mapping[str, int],
    plain: Collection[str],
) -> tuple[dict[str, list[AlikeTasks]], list[AlikeTasks]]:
    """Return every user's types in the order in which they are met, and the type of each task.

    Tasks of a user are of one type when they have the same demand and the same classes of machines. Where a task runs
    is open to it whatever its needs say of the node's features today: `home` is the class of each node.
    """
    found: dict[tuple, AlikeTasks] = {}
    users: dict[str, list[AlikeTasks]] = {}
    type_of = []
    for task in tasks:
        demand = tuple(task.demand.get(resource, Fraction(0)) for resource in resources)
        classes = allowed[task.needs]
        k = None if task.node is None else home.get(task.node)
        if k is not None and k not in classes:
            classes = tuple(sorted((*classes, k)))
        key = (task.user, demand, classes)
        if key not in found:
            positive = {resource: amount for resource, amount in zip(resources, demand, strict=True) if amount}
            found[key] = AlikeTasks(positive, None if classes == everywhere else classes, task.user, task.needs)
            users.setdefault(task.user, []).append(found[key])
        one = found[key]
        one.count += task.count
        if task.name:
            one.names[task.name] = None
        type_of.append(one)
    for types in users.values():
        names = [_type_name(one, plain) for one in types]
        for one, name in zip(types, distinct(names), strict=True):
            one.name = name
    return users, type_of


# ---- names -------------------------------------------------------------------------------------------------


def plain_bytes(cluster: "Contents", tasks: "Sequence[Task]") -> frozenset[str]:
    """Return the resources of a name that says MiB whose amounts are bytes all the same."""
    pool = cluster.pool or {}
    return frozenset(
        resource
        for resource in BYTES
        if in_bytes(
            (task.demand.get(resource, 0) for task in tasks),
            (node.capacity.get(resource, 0) for node in cluster.nodes),
            pool.get(resource, 0),
        )
    )


def amount_text(resource: str, value: Fraction, plain: Collection[str]) -> str:
    """Return an amount for a name, such as ``16cpu``, ``62GiB`` or ``2gpu``."""
    short = _last(resource)
    if resource in BYTES or short.startswith("hugepages-"):
        size = value * (1 if resource in plain else BYTES.get(resource, 1))
        power = next((power for power in (4, 3, 2, 1) if size >= 1024**power), 0)
        word = "" if SHORT_NAMES.get(resource, resource) == "memory" else short
        if power:  # less than a KiB is no memory in bytes, but in a unit of its own
            return f"{_brief(size / 1024**power)}{' KMGT'[power]}iB{word}"
    return f"{_brief(value)}{SHORT_NAMES.get(short, short)}"


def shape(resources: Iterable[str], amounts: Iterable[Fraction], plain: Collection[str]) -> str:
    """Return amounts for a name, such as ``16cpu-62GiB-2gpu``; pods are on every machine and in no name."""
    there = [(resource, amount) for resource, amount in zip(resources, amounts, strict=True) if amount]
    return "-".join(amount_text(*one, plain) for one in there if one[0] != "pods")


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _brief(value: Fraction) -> str:
    if value >= 10**6:
        return f"{float(min(value, Fraction(10) ** 300)):.4g}"
    return f"{float(value):.3f}".rstrip("0").rstrip(".")


def _type_name(one: AlikeTasks, plain: Collection[str]) -> str:
    first = next(iter(one.names), "") or shape(one.demand, one.demand.values(), plain) or "task"
    return f"{first} and {len(one.names) - 1} more" if len(one.names) > 1 else first


def _name(classes: list[MachineClass], resources: list[str], plain: Collection[str]) -> None:
    """Name every class after its kind and size, after its labels where these differ, and by number at last."""
    for one in classes:
        kinds = {node.kind for node in one.nodes}
        kind = kinds.pop() if len(kinds) == 1 else ""
        one.name = "-".join(part for part in (kind, shape(resources, one.capacity, plain)) if part) or "empty"
    by_name: dict[str, list[MachineClass]] = {}
    for one in classes:
        by_name.setdefault(one.name, []).append(one)
    for alike in by_name.values():
        for label in _differing(alike)[:NAMED_LABELS] if len(alike) > 1 else ():
            if len({one.name for one in alike}) == len(alike):
                break  # those before tell them apart
            for one in alike:
                values = sorted({node.labels.get(label, "") for node in one.nodes})
                suffix = f"{_last(label)}={'|'.join(values)}"
                if values != [""] and len(suffix) <= LONGEST_LABEL:
                    one.name = f"{one.name}-{suffix}"
    for one, name in zip(classes, distinct([one.name for one in classes]), strict=True):
        one.name = name


def _differing(alike: "list[MachineClass]") -> list[str]:
    """Return the labels whose values differ between classes."""
    labels = dict.fromkeys(label for one in alike for node in one.nodes for label in node.labels)
    return [
        label
        for label in labels
        if len({frozenset(node.labels.get(label, "") for node in one.nodes) for one in alike}) > 1
    ]


def distinct(names: list[str]) -> list[str]:
    """Return the names, the second of two equal ones with a number."""
    taken: set[str] = set()
    found = []
    for name in names:
        free, number = name, 1
        while free in taken:
            number += 1
            free = f"{name} #{number}"
        taken.add(free)
        found.append(free)
    return found
