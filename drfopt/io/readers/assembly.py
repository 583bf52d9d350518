"""What a cluster's own files tell, machine by machine and task by task, into an instance.

A reader lists `Node`s and `Task`s and says which tasks a node takes. Identical nodes become one class, alike tasks of a
user one type, and what nobody asks for is left out and noted. The instance goes through the same door as an instance
file: what is built is the tree of one.

Tasks that fit nowhere are noted with what the nearest class of machines lacks. Who has several types of tasks runs all
of them in proportion, so that one type that fits nowhere would take the others with it: it becomes a user of its own,
``user: type``, in the same group and promised nothing, which every answer names as unplaced.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import ceil
from typing import Any

from ...base.errors import InstanceError
from ...base.numbers.shown import counted
from ..native import reading
from .conversion import MACHINE, POOL, TASK, Amounts, Contents, Conversion, ListedMachine, Notes, Task, short_names
from .machine_classes import (
    AlikeTasks,
    MachineClass,
    amount_text,
    classes_of,
    devices_of,
    distinct,
    plain_bytes,
    types_of,
)

__all__ = ["assemble"]


PODS = "pods"
"""What Kubernetes counts as a resource, and what other tables of machines do not have."""

BOUNDS = ("guarantee", "ceiling")
"""Keys of users and groups that hold amounts."""

EXPLAINED = 12
"""Notes on single types of tasks; what comes after is counted."""


def _split(
    cluster: Contents,
    users: dict[str, list[AlikeTasks]],
    classes: list[MachineClass],
    resources: list[str],
    plain: Collection[str],
) -> dict[str, str]:
    """Take the types that fit nowhere out of the lists of `users`, and return whose each new user was.

    A user of whom nothing fits stays one user. Every type that fits nowhere is noted with its reason.
    """
    above: dict[str, str] = {}
    explained = 0
    for user, types in list(users.items()):
        lost = [one for one in types if not _fits(cluster, one, classes, resources)]
        for one in lost:
            explained += 1
            name = user if len(types) == 1 else f"{user}: {one.name}"
            reason = (
                _reason(cluster, one, classes, resources, plain)
                if explained <= EXPLAINED
                else "for reasons like those above"
            )
            cluster.notes.assumed(f"fits nowhere: {reason}", name)
        if not lost or len(lost) == len(types):
            continue
        users[user] = [one for one in types if one not in lost]
        for one in lost:
            one.owner = distinct([*users, f"{user}: {one.name}"])[-1]
            above[one.owner] = user
            users[one.owner] = [one]
    return above


def _fits(cluster: Contents, one: AlikeTasks, classes: list[MachineClass], resources: list[str]) -> bool:
    if cluster.pool is not None:
        return all(cluster.pool.get(resource) for resource in one.demand)
    open_to = classes if one.classes is None else [classes[k] for k in one.classes]
    return any(not _lacks(one, has, resources) for has in open_to)


def _lacks(one: AlikeTasks, has: MachineClass, resources: Iterable[str]) -> dict[str, Fraction]:
    """Return what of each resource is there and too little."""
    return {r: there for r, there in zip(resources, has.capacity, strict=True) if one.demand.get(r, 0) > there}


def _reason(
    cluster: Contents, one: AlikeTasks, classes: list[MachineClass], resources: list[str], plain: Collection[str]
) -> str:
    """Return in words what the nearest class lacks: one that is open, otherwise one that is large enough.

    Of equally large ones it is that which misses the fewest needs of the task.
    """
    if cluster.pool is not None:
        return "there is no " + " and no ".join(r for r in one.demand if not cluster.pool.get(r))
    open_to = classes if not one.classes else [classes[k] for k in one.classes]
    lacks = {id(has): _lacks(one, has, resources) for has in open_to}
    closed = not one.classes and one.classes is not None
    unmet = {id(has): cluster.missing(one.needs, has.nodes[0].features) if closed else [] for has in open_to}
    nearest = min(open_to, key=lambda has: (*_distance(one, lacks[id(has)]), len(unmet[id(has)])))
    words = [_short(one, resource, there, plain) for resource, there in lacks[id(nearest)].items()]
    return f"{nearest.name}, the nearest class, {' and '.join([*words, *unmet[id(nearest)]]) or 'is not open to it'}"


def _distance(one: AlikeTasks, lacks: Mapping[str, Fraction]) -> tuple[Fraction, int]:
    return max(((one.demand[r] - there) / one.demand[r] for r, there in lacks.items()), default=Fraction(0)), len(lacks)


def _short(one: AlikeTasks, resource: str, there: Fraction, plain: Collection[str]) -> str:
    if not there:
        return f"has no {resource}"
    return f"has {amount_text(resource, there, plain)} of {amount_text(resource, one.demand[resource], plain)}"


def assemble(cluster: Contents, queues: bool = True) -> Conversion:
    """Return the instance, the notes and the current placement; `queues`: whether ``--saturate`` is of use here.

    Raises
    ------
    InstanceError
        When there are no tasks or no machines, a machine is listed twice, or the instance is not one.
    """
    cluster = _unlimited(cluster)
    tasks = _useful(cluster)
    if not tasks:
        bare = not cluster.nodes and cluster.pool is None
        asks = "saturate (--saturate)" + ", with a file of machines as machines (--machines)" * bare
        many = len(cluster.members) if queues else 0
        remedy = f", or say {asks}: its {counted(many, 'queue')} want{'s' * (many == 1)} everything" if many else ""
        idle = bool(cluster.tasks) and not queues
        files = (
            "list a task that demands something, with a count of 1 or more"
            if idle
            else "give the files that list the tasks too"
        )
        raise InstanceError(
            f"{cluster.place}: no task of a user is waiting or running{cluster.notes.why_none(TASK)}: {files}{remedy}"
        )
    if not cluster.nodes and cluster.pool is None:
        raise InstanceError(
            f"{cluster.place}: there is no machine to run on{cluster.notes.why_none(MACHINE)}: "
            "give the files that list them too, or an instance file as machines (--machines)"
        )
    # What runs on a machine names it, and would take any of that name for it.
    if twice := next((name for name, n in Counter(node.name for node in cluster.nodes).items() if n > 1), None):
        raise InstanceError(
            f"{cluster.place}: machine {twice!r} is listed twice: keep one of them, or give each a name of its own"
        )
    tasks = _at_home(cluster, tasks)
    cluster = replace(cluster, nodes=_roomy(cluster, tasks))
    resources = _resources(cluster, tasks)
    plain = plain_bytes(cluster, tasks)
    classes, allowed = classes_of(cluster, tasks, resources, plain)
    home = {node.name: k for k, one in enumerate(classes) for node in one.nodes}
    users, type_of = types_of(tasks, resources, allowed, tuple(range(len(classes))), home, plain)
    above = _split(cluster, users, classes, resources, plain)
    tree: dict[str, Any] = {"name": cluster.title, "source": cluster.source}
    if cluster.pool is not None:
        tree["capacity"] = {resource: cluster.pool.get(resource, Fraction(0)) for resource in resources}
    else:
        tree["machines"] = [
            {"name": one.name, "capacity": dict(zip(resources, one.capacity, strict=True)), "count": one.count}
            | ({"devices": devices} if (devices := devices_of(one, resources, tasks, cluster.notes)) else {})
            for one in classes
        ]
    if excluded := [resource for resource in cluster.excluded if resource in resources]:
        tree["excluded"] = excluded
    if cluster.groups:
        tree["groups"] = [_bounded(entry, resources, cluster.notes) for entry in cluster.groups]
    factor = _factor(cluster, users, classes, resources)
    names = [one.name for one in classes]
    members = [
        _bounded(_weighted(_member(cluster, user, above), user, types, cluster.notes), resources, cluster.notes)
        for user, types in users.items()
    ]
    tree["users"] = [
        _user(user, types, names, factor, above.get(user, user) in cluster.endless) | entry
        for (user, types), entry in zip(users.items(), _last_by_tier(members), strict=True)
    ]
    for user in cluster.members:
        if user not in users:
            cluster.notes.unused("queue or user without tasks", user)
    _tell_oddly_placed(tasks, allowed, home, cluster.notes)
    placement, by_type = _placement(tasks, type_of, users, classes, home, cluster)
    instance = reading.built(tree, cluster.title)
    return Conversion(instance, cluster.notes.taken(), placement, by_type)


def _member(cluster: Contents, user: str, above: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the further keys of a user; whose tasks were split off from another is in its group, and is promised
    nothing."""
    if user not in above:
        return cluster.members.get(user, {})
    return {key: value for key, value in cluster.members.get(above[user], {}).items() if key in ("group", "tier")}


def _weighted(entry: Mapping[str, Any], user: str, types: Iterable[AlikeTasks], notes: Notes) -> Mapping[str, Any]:
    """Return the keys of a user without weights of 0 by resource: with one of what it needs it is served last."""
    weights = entry.get("weight")
    if not isinstance(weights, Mapping) or all(weights.values()):
        return entry
    needed = next((r for one in types for r, amount in one.demand.items() if amount and not weights.get(r, 1)), None)
    if needed is not None:
        notes.assumed(f"queue has weight 0 of {needed}, which its tasks need: it is served last", user)
        return {**entry, "weight": 0}
    return {**entry, "weight": {resource: weight for resource, weight in weights.items() if weight}}


def _last_by_tier(members: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the keys of the users, weight 0 beside weights by resource as a tier below all others."""
    if not any(isinstance(entry.get("weight"), Mapping) for entry in members):
        return members
    below = min(entry.get("tier", 0) for entry in members) - 1
    return [
        {**{key: value for key, value in entry.items() if key != "weight"}, "tier": below}
        if entry.get("weight") == 0
        else entry
        for entry in members
    ]


def _at_home(cluster: Contents, tasks: list[Task]) -> list[Task]:
    """Return the tasks on the machines as these are called: a file may say ``n1`` of ``n1.cluster.local``, or so."""
    known = {node.name for node in cluster.nodes}
    full = short_names(known)
    found = []
    for task in tasks:
        host = task.node
        if host is not None and host not in known:
            short = host.partition(".")[0]
            same = full.get(host) or (short if short in known and not short.isdecimal() else None)
            if same is not None:
                cluster.notes.assumed("machine is the one of that short name, or full name", f"{host}: {same}")
                task = replace(task, node=same)
        found.append(task)
    return found


def _roomy(cluster: Contents, tasks: list[Task]) -> list[ListedMachine]:
    """Return the machines, each with room for any one of the tasks that run on it today."""
    nodes = {node.name: node for node in cluster.nodes}
    for task in tasks:
        node = nodes.get(task.node) if task.node is not None else None
        lacks = {r: amount for r, amount in task.demand.items() if node and amount > node.capacity.get(r, 0)}
        if node is not None and lacks:
            cluster.notes.assumed(
                "machine is taken to have the room: task runs on a machine that, by the files, has no room for it",
                f"{task.user}/{task.name} on {node.name}",
            )
            nodes[node.name] = replace(node, capacity={**node.capacity, **lacks})
    return [nodes[node.name] for node in cluster.nodes]


def _unlimited(cluster: Contents) -> Contents:
    """Return the cluster with tasks that count no pods where no machine says how many it takes."""
    machines = [*(node.capacity for node in cluster.nodes), *([] if cluster.pool is None else [cluster.pool])]
    if (
        not machines
        or any(PODS in capacity for capacity in machines)
        or all(PODS not in t.demand for t in cluster.tasks)
    ):
        return cluster
    cluster.notes.assumed("machines do not say how many pods they take: any number")
    if any(PODS in entry.get(key, ()) for entry in [*cluster.groups, *cluster.members.values()] for key in BOUNDS):
        return _with_pods(cluster)
    tasks = [replace(task, demand={r: d for r, d in task.demand.items() if r != PODS}) for task in cluster.tasks]
    return replace(cluster, tasks=tasks)


def _with_pods(cluster: Contents) -> Contents:
    """Return the cluster with as many pods as could ever run, which count in no share: somebody's are bounded."""
    demands = {tuple(task.demand.items()): Fraction(0) for task in cluster.tasks if task.demand.get(PODS)}
    for task in cluster.tasks:
        if task.demand.get(PODS):
            demands[tuple(task.demand.items())] += task.count

    @cache
    def most(capacity: tuple[tuple[str, Fraction], ...]) -> Fraction:
        has, total = dict(capacity), Fraction(0)
        for demand, count in demands.items():
            fit = [has.get(resource, 0) / amount for resource, amount in demand if amount and resource != PODS]
            total += ceil(min(fit, default=count)) * dict(demand)[PODS]
        return Fraction(ceil(total))

    def roomy(capacity: Amounts) -> Amounts:
        return {**capacity, PODS: most(tuple(capacity.items()))}

    nodes = [replace(node, capacity=roomy(node.capacity)) for node in cluster.nodes]
    return replace(cluster, nodes=nodes, pool=None if cluster.pool is None else roomy(cluster.pool), excluded=(PODS,))


def _useful(cluster: Contents) -> list[Task]:
    useful = []
    for task in cluster.tasks:
        if not any(task.demand.values()):
            cluster.notes.no_task("task that demands nothing", f"{task.user}/{task.name}".rstrip("/"), int(task.count))
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


def _user(user: str, types: list[AlikeTasks], names: list[str], factor: int, endless: bool) -> dict[str, Any]:
    if len(types) > 1:
        times = factor if endless else 1
        entries = [{"name": one.name, **_task(one, names)} | {"count": one.count * times} for one in types]
        return {"name": user, "tasks": entries}
    return {"name": user, **_task(types[0], names)} | ({} if endless else {"max_tasks": types[0].count})


def _task(one: AlikeTasks, names: list[str]) -> dict[str, Any]:
    return {"demand": one.demand} | ({} if one.classes is None else {"machines": [names[k] for k in one.classes]})


def _factor(
    cluster: Contents, users: Mapping[str, list[AlikeTasks]], classes: list[MachineClass], names: list[str]
) -> int:
    """Return how often the tasks of users with several types must be listed so that the cluster is full before."""
    several = [types for user, types in users.items() if len(types) > 1 and user in cluster.endless]
    if not several:
        return 1
    total = dict.fromkeys(names, Fraction(0)) | dict(cluster.pool or {})
    for one in classes:
        for resource, amount in zip(names, one.capacity, strict=True):
            total[resource] += amount * one.count
    factor = 1
    for types in several:
        wanted = {r: sum((one.demand.get(r, Fraction(0)) * one.count for one in types), Fraction(0)) for r in names}
        factor = max(factor, 1 + int(min(total[r] / wanted[r] for r in names if wanted[r])))
    cluster.notes.assumed(
        "user with several task types who wants ever more of the same mix: a multiple of it is listed, more than there "
        "is room for, and counts as asked for",
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
    tasks: list[Task], allowed: Mapping[Hashable, tuple[int, ...]], home: Mapping[str, int], notes: Notes
) -> None:
    """Note the tasks that run where, by the files, they may not."""
    for task in tasks:
        if task.node is not None and task.node in home and home[task.node] not in allowed[task.needs]:
            hint = f"{task.user}/{task.name} on {task.node}"
            notes.assumed("task may run on the class of the machine it runs on, against its constraints of today", hint)


def _placement(
    tasks: list[Task],
    type_of: list[AlikeTasks],
    users: Mapping[str, list[AlikeTasks]],
    classes: list[MachineClass],
    home: Mapping[str, int],
    cluster: Contents,
) -> tuple[dict, dict]:
    """Return what runs where, {user: {class: tasks}}, and the same by type for users with several."""
    placement: dict[str, dict[str, Fraction]] = {}
    by_type: dict[str, dict[str, dict[str, Fraction]]] = {}
    for task, kind in zip(tasks, type_of, strict=True):
        if task.node is None:
            continue
        if cluster.pool is None and task.node not in home:
            hint = f"{task.user}/{task.name} on {task.node}"
            cluster.notes.assumed("running task counts as waiting: its machine is not in use or not listed", hint)
            continue
        name = POOL if cluster.pool is not None else classes[home[task.node]].name
        there = placement.setdefault(kind.owner, {})
        there[name] = there.get(name, Fraction(0)) + task.count
        if len(users[kind.owner]) > 1:
            there = by_type.setdefault(kind.owner, {}).setdefault(kind.name, {})
            there[name] = there.get(name, Fraction(0)) + task.count
    return placement, by_type
