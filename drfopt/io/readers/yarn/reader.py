"""Which of YARN's files is which, and the cluster they make together."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ...text.files import File, failure
from ...text.parts import TreePart, parts
from ..assembly import assemble, named
from ..conversion import Contents, Conversion, ListedMachine, Notes, Task
from ..queues.tree import QueueNode, organised
from .queues import read_queues
from .rest import SOMEWHERE, app_tasks, capacity_queues, fair_queues, machine, simulated_nodes, simulated_tasks

__all__ = ["read"]


def read(files: Sequence[File], user_by: str | None = None) -> Conversion:
    """Read nodes, apps and queues.

    Parameters
    ----------
    files : sequence of File
        In any order.
    user_by : str, optional
        ``queue`` (the default) or ``user``.

    Raises
    ------
    InstanceError
        With file and place.
    """
    notes = Notes()
    nodes: list[ListedMachine] = []
    tasks: list[Task] = []
    pages: list[TreePart] = []
    settings: list[File] = []
    by_user = user_by == "user"
    for file in files:
        if file.text.lstrip().startswith("<"):
            settings.append(file)
            continue
        for part in _documents(file):
            if "nodes" in part and "rack" in part:
                nodes += simulated_nodes(part)
            elif "nodes" in part:
                nodes += filter(None, (machine(one, notes) for one in part["nodes"]["node"].each()))
            elif "job.tasks" in part:
                tasks += simulated_tasks(part, by_user, notes)
            elif "scheduler" in part:
                pages.append(part["scheduler"]["schedulerInfo"])
            elif "apps" in part.value:
                for one in part["apps"]["app"].each():
                    tasks += app_tasks(one, by_user, notes)
            elif "nodes" not in part.value:
                raise failure(
                    part.place,
                    "is neither nodes, apps nor scheduler: give what /ws/v1/cluster/nodes, apps and scheduler print",
                )
    whole = _whole(nodes)
    queues = [queue for file in settings for queue in read_queues(file, whole, notes)]
    queues = _with_pages(queues, pages, whole, notes)
    groups: list[dict[str, Any]] = []
    members: dict[str, dict[str, Any]] = {}
    if by_user and queues:
        notes.unused("queue: users are who submitted", queues[0].name, len(queues))
    elif queues:
        groups, members = organised(queues, dict.fromkeys(task.user for task in tasks), notes)
    return assemble(
        Contents(
            f"yarn, {files[0].stem}",
            f"YARN ({named(files)}): nodes {len(nodes):,}; memory-mb in MiB",
            nodes,
            _placed(tasks, nodes, notes),
            notes,
            lambda needs, features: not needs or needs in features[0],
            groups=groups,
            members=members,
        )
    )


def _documents(file: File) -> list[TreePart]:
    found: list[TreePart] = []
    for part in parts(file):
        found += list(part.each()) if isinstance(part.value, list) else [part]
    for part in found:
        if not isinstance(part.value, dict):
            raise part.wrong("a table belongs here")
    return found


def _whole(nodes: list[ListedMachine]) -> dict[str, Fraction]:
    whole: dict[str, Fraction] = {}
    for node in nodes:
        for resource, amount in node.capacity.items():
            whole[resource] = whole.get(resource, Fraction(0)) + amount
    return whole


def _with_pages(
    queues: list[QueueNode], pages: list[TreePart], whole: dict[str, Fraction], notes: Notes
) -> list[QueueNode]:
    """Return the queues of the XML, and those that only the scheduler's page lists with what it says of them."""
    known = {queue.name for queue in queues}
    for page in pages:
        kind = page["type"].text()
        if kind == "fairScheduler":
            told = list(fair_queues(page["rootQueue"], whole))
            if not known:
                notes.assumed(
                    "queue has weight 1: the page does not tell weights, fair-scheduler.xml does", count=len(told)
                )
        elif kind == "capacityScheduler":
            told = list(capacity_queues(page, "root", whole))
        else:
            notes.unused(f"queues of a scheduler of type {kind}: fairScheduler and capacityScheduler are read")
            continue
        queues += [queue for queue in told if queue.name not in known]
    names = {queue.name for queue in queues}
    return [replace(queue, parent=queue.parent if queue.parent in names else "") for queue in queues]


def _placed(tasks: list[Task], nodes: list[ListedMachine], notes: Notes) -> list[Task]:
    """Return the tasks, those that run somewhere on the first node where all nodes are alike."""
    running = [task for task in tasks if task.node == SOMEWHERE]
    alike = len({(tuple(sorted(node.capacity.items())), tuple(node.labels.items())) for node in nodes}) == 1
    if running and not alike:
        count = sum(int(task.count) for task in running)
        notes.unused(
            "running container: on which of the unlike nodes is not told, so it is no current allocation", "", count
        )
    home = nodes[0].name if alike else None
    return [replace(task, node=home) if task.node == SOMEWHERE else task for task in tasks]
