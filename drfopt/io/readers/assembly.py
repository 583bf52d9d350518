"""What a cluster's own files tell, machine by machine and task by task, into an instance.

A reader lists `Node`s and `Task`s and says which tasks a node takes. Identical nodes become one class, alike tasks of a
user one type, and what nobody asks for is left out and noted. The instance goes through the same door as an instance
file: what is built is the tree of one.
"""

from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from ...base.errors import InstanceError
from ..native import reading
from ..text.files import File
from .conversion import Contents, Conversion, Notes, Task
from .machine_classes import AlikeTasks, MachineClass, classes_of, types_of

__all__ = ["assemble", "named"]


def named(files: Iterable[File]) -> str:
    """Return the names of files for the source of an instance."""
    return ", ".join(file.name for file in files)


def assemble(cluster: Contents) -> Conversion:
    """Return the instance, the notes and the current placement.

    Raises
    ------
    InstanceError
        When there are no tasks or no machines, or the instance is not one.
    """
    tasks = _useful(cluster)
    if not tasks:
        told = next((f" ({note})" for note in cluster.notes.taken()), "")
        raise InstanceError(
            f"{cluster.title}: no task of a user is waiting or running{told}: give the files that list the tasks too"
        )
    if not cluster.nodes and cluster.pool is None:
        raise InstanceError(f"{cluster.title}: there is no machine to run on: give the files that list them too")
    resources = _resources(cluster, tasks)
    classes, allowed = classes_of(cluster, tasks, resources)
    home = {node.name: k for k, one in enumerate(classes) for node in one.nodes}
    users, type_of = types_of(tasks, resources, allowed, tuple(range(len(classes))), home)
    tree: dict[str, Any] = {"name": cluster.title, "source": cluster.source}
    if cluster.pool is not None:
        tree["capacity"] = {resource: cluster.pool.get(resource, Fraction(0)) for resource in resources}
    else:
        tree["machines"] = [
            {"name": one.name, "capacity": dict(zip(resources, one.capacity, strict=True)), "count": one.count}
            for one in classes
        ]
    if cluster.groups:
        tree["groups"] = [_bounded(entry, resources, cluster.notes) for entry in cluster.groups]
    factor = _factor(cluster, users, classes, resources) if cluster.unlimited else 1
    names = [one.name for one in classes]
    tree["users"] = [
        _user(user, types, names, factor, cluster.unlimited)
        | _bounded(cluster.members.get(user, {}), resources, cluster.notes)
        for user, types in users.items()
    ]
    for user in cluster.members:
        if user not in users:
            cluster.notes.unused("queue or user without tasks", user)
    _tell_oddly_placed(tasks, allowed, classes, home, resources, cluster.notes)
    placement, by_type = _placement(tasks, type_of, users, classes, home, cluster.notes)
    instance = reading.built(tree, cluster.title)
    return Conversion(instance, cluster.notes.taken(), placement, by_type)


def _useful(cluster: Contents) -> list[Task]:
    useful = []
    for task in cluster.tasks:
        if not any(task.demand.values()):
            cluster.notes.unused("task that demands nothing", f"{task.user}/{task.name}".rstrip("/"), int(task.count))
        elif task.count:
            useful.append(task)
    return useful


def _resources(cluster: Contents, tasks: list[Task]) -> list[str]:
    """Return what somebody demands, in the order in which the machines list it."""
    wanted = dict.fromkeys(resource for task in tasks for resource, demand in task.demand.items() if demand)
    capacities = [cluster.pool] if cluster.pool is not None else [node.capacity for node in cluster.nodes]
    there = dict.fromkeys(resource for capacity in capacities for resource in capacity)
    for resource in there:
        if resource not in wanted:
            cluster.notes.unused(f"resource that nobody demands: {resource}")
    for resource in wanted:
        if resource not in there:
            cluster.notes.assumed(f"no machine has any {resource}: tasks that demand it can run nowhere")
    return [r for r in there if r in wanted] + [r for r in wanted if r not in there]


def _user(user: str, types: list[AlikeTasks], names: list[str], factor: int, unlimited: bool) -> dict[str, Any]:
    if len(types) > 1:
        entries = [{"name": one.name, **_task(one, names)} | {"count": one.count * factor} for one in types]
        return {"name": user, "tasks": entries}
    return {"name": user, **_task(types[0], names)} | ({} if unlimited else {"max_tasks": types[0].count})


def _task(one: AlikeTasks, names: list[str]) -> dict[str, Any]:
    return {"demand": one.demand} | ({} if one.classes is None else {"machines": [names[k] for k in one.classes]})


def _factor(
    cluster: Contents, users: Mapping[str, list[AlikeTasks]], classes: list[MachineClass], names: list[str]
) -> int:
    """Return how often the tasks of users with several types must be listed so that the cluster is full before."""
    several = [types for types in users.values() if len(types) > 1]
    total = dict.fromkeys(names, Fraction(0)) | dict(cluster.pool or {})
    for one in classes:
        for resource, amount in zip(names, one.capacity, strict=True):
            total[resource] += amount * one.count
    factor = 1
    for types in several:
        wanted = {r: sum((one.demand.get(r, Fraction(0)) * one.count for one in types), Fraction(0)) for r in names}
        factor = max(factor, 1 + int(min(total[r] / wanted[r] for r in names if wanted[r])))
    if several:
        cluster.notes.assumed(
            "user with several task types who wants ever more of the same mix: a multiple of it is listed",
            count=len(several),
        )
    return factor


def _bounded(entry: Mapping[str, Any], resources: list[str], notes: Notes) -> dict[str, Any]:
    """Return an entry without weights, guarantees and ceilings of what nobody demands."""
    kept = dict(entry)
    for key in ("guarantee", "ceiling", "weight"):
        if not isinstance(kept.get(key), Mapping):
            continue
        for resource in kept[key]:
            if resource not in resources:
                notes.unused(f"{key} of a resource that nobody demands: {resource}", entry.get("name", ""))
        kept[key] = {resource: amount for resource, amount in kept[key].items() if resource in resources}
        if not kept[key]:
            del kept[key]
    return kept


def _tell_oddly_placed(
    tasks: list[Task],
    allowed: Mapping[Hashable, tuple[int, ...]],
    classes: list[MachineClass],
    home: Mapping[str, int],
    resources: list[str],
    notes: Notes,
) -> None:
    """Note the tasks that run where, by the files, they may not or could not."""
    for task in tasks:
        if task.node is None or task.node not in home:
            continue
        k, told = home[task.node], f"{task.user}/{task.name} on {task.node}"
        if k not in allowed[task.needs]:
            notes.assumed("task may run on the class of the machine it runs on, against its constraints of today", told)
        if any(task.demand.get(r, 0) > has for r, has in zip(resources, classes[k].capacity, strict=True)):
            notes.assumed("task runs on a machine that, by the files, has no room for it", told)


def _placement(
    tasks: list[Task],
    type_of: list[AlikeTasks],
    users: Mapping[str, list[AlikeTasks]],
    classes: list[MachineClass],
    home: Mapping[str, int],
    notes: Notes,
) -> tuple[dict, dict]:
    """Return what runs where, {user: {class: tasks}}, and the same by type for users with several."""
    placement: dict[str, dict[str, Fraction]] = {}
    by_type: dict[str, dict[str, dict[str, Fraction]]] = {}
    for task, kind in zip(tasks, type_of, strict=True):
        if task.node is None:
            continue
        if task.node not in home:
            told = f"{task.user}/{task.name} on {task.node}"
            notes.assumed("running task counts as waiting: its machine is not in use or not listed", told)
            continue
        name = classes[home[task.node]].name
        there = placement.setdefault(task.user, {})
        there[name] = there.get(name, Fraction(0)) + task.count
        if len(users[task.user]) > 1:
            there = by_type.setdefault(task.user, {}).setdefault(kind.name, {})
            there[name] = there.get(name, Fraction(0)) + task.count
    return placement, by_type
