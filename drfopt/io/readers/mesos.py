"""Mesos: what ``/state`` and ``/roles`` print; mem and disk in MB, cpus and gpus in units.

An active agent is a machine. Tasks that run are the current allocation, and all that a role is known to want: Mesos
offers resources and does not know demands, so a role is taken to want ever more of the same mix. A user is a role (one
inside another, ``eng/dev``, is in the group ``eng``), or with ``--user-by framework`` a framework. A role's weight and
its quota (guarantee, limit) come from ``/roles``. Agents with GPUs are open to frameworks that have the capability
``GPU_RESOURCES``, unless the flag ``filter_gpu_resources`` is off.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ..text.files import File, failure
from ..text.parts import TreePart, parts
from ..writers.amounts import MESOS
from .conversion import Contents, ListedMachine, Notes, ReadOptions, Task, named
from .queues.tree import QueueNode, organised

__all__ = ["read"]

LEFT_OUT = {
    "orphan_tasks": (Notes.no_task, "task without a framework"),
    "unregistered_frameworks": (Notes.no_task, "framework that is not registered"),
    "recovered_slaves": (Notes.no_machine, "agent that has not come back"),
}
"""What else a state lists that may hold something, which nobody knows."""

RUNNING = ("TASK_RUNNING", "TASK_STARTING", "TASK_STAGING", "TASK_KILLING")


def read(files: Sequence[File], asked: ReadOptions) -> Contents:
    """Read agents, tasks and roles.

    Parameters
    ----------
    files : sequence of File
        In any order.
    asked : ReadOptions
        Users by ``role`` (the default) or ``framework``.

    Raises
    ------
    InstanceError
        With file and place.
    """
    notes = Notes()
    by_framework = asked.user_by == "framework"
    nodes: list[ListedMachine] = []
    queues: list[QueueNode] = []
    frameworks: dict[tuple[str, str], list[Task]] = {}
    open_to_all = False
    for file in files:
        for part in parts(file):
            if not isinstance(part.value, dict) or not part.value.keys() & {"slaves", "agents", "frameworks", "roles"}:
                raise failure(part.place, "has neither slaves, frameworks nor roles: give what /state and /roles print")
            for key in ("slaves", "agents"):
                nodes += (node for one in part[key].each() if (node := _node(one, notes)) is not None)
            open_to_all |= part["flags"]["filter_gpu_resources"].value in ("false", False)
            for one in part["frameworks"].each():
                if runs := list(_tasks(one, by_framework, notes)):  # who runs nothing would be no user either
                    frameworks.setdefault((_name(one), one["id"].text()), []).extend(runs)
            # /state lists roles by name, /roles tells about them.
            for key, (note, what) in LEFT_OUT.items():
                if lost := len(list(part[key].each())):
                    note(notes, what, key, lost)
            queues += (_queue(one, notes) for one in part["roles"].each() if isinstance(one.value, dict))
    if by_framework:
        frameworks = _apart(frameworks, notes)
    tasks = [task for runs in frameworks.values() for task in runs]
    groups: list[dict[str, Any]] = []
    members: dict[str, dict[str, Any]] = {}
    if by_framework and queues:
        notes.unused("role: users are frameworks", queues[0].name, len(queues))
    elif queues:
        groups, members = organised(queues, dict.fromkeys(task.user for task in tasks), notes)
    users = {task.user for task in tasks}
    if tasks:
        notes.assumed("every user wants ever more tasks: Mesos does not know what frameworks want")
    if len(users) == 1 and not by_framework and len(frameworks) > 1:
        notes.assumed(
            f"all tasks are of one role, {next(iter(users))!r}, so there is nobody to divide with: "
            f"user_by framework (--user-by) makes users of its {len(frameworks):,} frameworks"
        )
    used = {r for task in tasks for r in task.demand}.union(*({*q.minimum, *q.maximum} for q in queues))
    asked = asked.called(MESOS, used, notes)
    nodes = asked.nodes(nodes, lambda name, labels: None, notes)
    nodes = [replace(node, features=bool(node.capacity.get("gpus")) and not open_to_all) for node in nodes]
    return Contents(
        f"mesos, {files[0].stem}",
        f"Mesos ({named(files)}): agents {sum(node.count for node in nodes):,}; mem and disk in MB",
        nodes,
        tasks,
        notes,
        lambda takes_gpus, kept_for_gpus: takes_gpus or not kept_for_gpus,
        pool=asked.pool,
        groups=groups,
        members=members,
        endless=users,
        shape=asked.shape,
        wants=lambda role: True,
        missing=lambda needs, features: ["has GPUs, which are offered to frameworks with GPU_RESOURCES"],
    )


def _resources(part: TreePart, notes: Notes, whose: str) -> dict[str, Fraction]:
    """Return the amounts; ports and other ranges and sets are texts, and no amounts to divide."""
    found = {}
    for name, value in part.pairs():
        if isinstance(value.value, str | list | dict):
            notes.unused(f"{name}: a range or set, no amount to divide", whose)
        else:
            found[name] = value.amount()
    return found


def _name(framework: TreePart) -> str:
    return framework["name"].text() or framework["id"].text()


def _apart(frameworks: Mapping[tuple[str, str], list[Task]], notes: Notes) -> dict[tuple[str, str], list[Task]]:
    """Return the tasks of each framework, by name and id; where several have one name, their users bear the id too."""
    named_so = Counter(name for name, _ in frameworks)
    for name, count in named_so.items():
        if count > 1:
            notes.assumed("framework with the name of another: its user bears its id too", name, count)
    return {
        (name, own): [replace(task, user=f"{name} ({own})") for task in runs] if own and named_so[name] > 1 else runs
        for (name, own), runs in frameworks.items()
    }


def _node(part: TreePart, notes: Notes) -> ListedMachine | None:
    name = part["id"].text() or part["hostname"].text()
    if "active" in part and not part["active"].true():
        notes.no_machine("agent that is not active", name)
        return None
    for role, reserved in part["reserved_resources"].pairs():
        if any(_resources(reserved, notes, name).values()):
            notes.unused("reservation for a role: its resources are shared here", f"{role} on {name}")
    return ListedMachine(name, _resources(part["resources"], notes, name))


def _tasks(part: TreePart, by_framework: bool, notes: Notes) -> Iterator[Task]:
    framework = _name(part)
    if "active" in part and not part["active"].true():
        notes.no_task("framework that is not active", framework)
        return
    roles = [part["role"].text()] if "role" in part else part["roles"].texts()
    takes_gpus = "capabilities" not in part or "GPU_RESOURCES" in part["capabilities"].texts()
    found, beside = 0, Counter(_resources(part["used_resources"], notes, framework))
    for one in part["tasks"].each():
        if one["state"].text() not in RUNNING:
            notes.no_task("task that does not run", f"{one['id'].text()}, {one['state'].text()}")
            continue
        found += 1
        user = framework if by_framework else one["role"].text((roles or ["*"])[0])
        needs = _resources(one["resources"], notes, one["id"].text(framework))
        beside.subtract(needs)
        yield Task(user, needs, 1, takes_gpus, one["name"].text(framework), one["slave_id"].text() or None)
    if lost := len(list(part["unreachable_tasks"].each())):
        notes.no_task("task that cannot be reached", framework, lost)
    if not found:
        notes.no_task("framework without tasks: what it wants is not known", framework)
    elif rest := [f"{float(amount):g} {name}" for name, amount in beside.items() if amount > 0]:
        notes.unused(
            "what executors hold beside tasks: a task is what it needs itself", f"{framework}: {', '.join(rest)}"
        )


def _queue(part: TreePart, notes: Notes) -> QueueNode:
    name, quota = part["name"].text(), part["quota"]
    parent, _, label = name.rpartition("/")
    promised, most = (_resources(quota[key], notes, name) for key in ("guarantee", "limit"))
    guarantee = {resource: amount for resource, amount in promised.items() if amount}
    return QueueNode(name, parent, part["weight"].amount(missing=1), guarantee, most, label=label)
