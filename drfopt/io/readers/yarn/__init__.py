"""YARN: the resource manager's REST files with the XML of a scheduler's queues, or the files of its simulator SLS.

    GET /ws/v1/cluster/nodes                           machines (those that run)
    GET /ws/v1/cluster/apps?states=ACCEPTED,RUNNING    tasks: containers that run and those that are asked for
    GET /ws/v1/cluster/scheduler                       minimum and maximum of queues, where no XML gives them
    GET /ws/v1/cluster/metrics                         what there is altogether, where no nodes are listed
    fair-scheduler.xml                                 weight, minResources (guarantee), maxResources (ceiling)
    capacity-scheduler.xml                             capacity (guarantee and weight), maximum-capacity (ceiling)
    SLS nodes and jobs                                 machines and tasks of a simulated cluster

A user is a queue, or with ``--user-by user`` who submitted. Resources are called as YARN calls them: ``memory-mb``,
``vcores``, ``yarn.io/gpu``. An app with a node label runs on nodes with that label, one that asks for
``<DEFAULT_PARTITION>`` on those without any, one that says nothing (``<Not set>``) on any that its queue may use; in
the simulator a node with an exclusive label takes only who asks for it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from ...text.files import File, failure
from ...text.parts import TreePart, parts
from ...text.yaml_xml import Element, root
from ...writers.amounts import YARN
from ..conversion import POOL, Contents, ListedMachine, Notes, ReadOptions, Task, named
from ..queues.tree import QueueNode, grown, organised
from .capacity import DEFAULT, EVERY, CapacityQueue, properties_of, read_capacities, total_of
from .queues import bounds_of_unlisted, read_queues
from .rest import (
    SOMEWHERE,
    UNLABELLED,
    NodeFeatures,
    app_tasks,
    capacity_queues,
    cluster_total,
    fair_queues,
    machine,
    numbered_nodes,
    simulated_nodes,
    simulated_tasks,
    units_of,
)

__all__ = ["read"]

Needs = tuple[str, frozenset[str] | None]
"""The label that a task asks for, `EVERY` for any, and the labels that its queue may use, None for all."""


@dataclass
class _Files:
    """What the files hold, before it is put together."""

    nodes: list[ListedMachine] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    numbered: list[TreePart] = field(default_factory=list)
    pages: list[TreePart] = field(default_factory=list)
    allocations: list[tuple[Element, str]] = field(default_factory=list)
    properties: list[tuple[dict[str, str], str]] = field(default_factory=list)
    total: dict[str, Fraction] = field(default_factory=dict)
    units: dict[str, Fraction] = field(default_factory=dict)
    submitters: dict[str, set[str]] = field(default_factory=dict)


def read(files: Sequence[File], asked: ReadOptions) -> Contents:
    """Read nodes, apps and queues.

    Parameters
    ----------
    files : sequence of File
        In any order.
    asked : ReadOptions
        Users by ``queue`` (the default) or by ``user``.

    Raises
    ------
    InstanceError
        With file and place.
    """
    notes = Notes()
    by_user = asked.user_by == "user"
    found = _sorted_out(files, by_user, notes)
    used = {resource for task in found.tasks for resource in task.demand}
    asked = asked.called(YARN, used, notes)
    nodes = asked.nodes(found.nodes, _features, notes)
    pool = asked.pool
    if not nodes and pool is None and found.total:
        notes.assumed("no node is listed: what the resource manager says that the cluster has is one pool")
        pool = found.total
    partitions = {DEFAULT: dict(pool)} if pool is not None else _partitions(nodes)
    whole = total_of(partitions.values())
    capacities = [
        queue
        for properties, place in found.properties
        for queue in read_capacities(properties, _named_only(partitions, properties), notes, place, found.units)
    ]
    known = {one.node.name for one in capacities}
    capacities += [one for page in found.pages for one in capacity_queues(page, whole) if one.node.name not in known]
    _find_leaves(found, [one.node.name for one in capacities], by_user)
    queues = [queue for held in found.allocations for queue in read_queues(*held, whole, notes, found.units)]
    queues += [_within(one, found.submitters, notes) for one in capacities]
    queues = _with_pages(queues, found.pages, whole, notes)
    if queues and not by_user:
        most = {
            name: bound
            for held in found.allocations
            for name, bound in bounds_of_unlisted(*held, whole, found.units).items()
        }
        listed, names = len(queues), dict.fromkeys(task.user for task in found.tasks)
        queues = grown(queues, names, notes, lambda parent: most.get(parent or "root", most.get("", {})))
        for name in sorted(most.keys() - {"", *(queue.parent or "root" for queue in queues[listed:])}):
            notes.unused("maxChildResources: it is for queues that users make", name)
    groups: list[dict[str, Any]] = []
    members: dict[str, dict[str, Any]] = {}
    if by_user and queues:
        notes.unused("queue: users are who submitted", queues[0].name, len(queues))
        members = _limited(capacities, found.submitters, notes)
    elif queues:
        groups, members = organised(queues, dict.fromkeys(task.user for task in found.tasks), notes)
    settings = {one.node.name: one for one in capacities}
    return Contents(
        f"yarn, {files[0].stem}",
        f"YARN ({named(files)}): nodes {sum(node.count for node in nodes):,}; memory-mb in MiB",
        nodes,
        _placed([_asking(task, settings, by_user, notes) for task in found.tasks], nodes, notes),
        notes,
        lambda needs, features: not _missing(needs, features),
        pool=pool,
        groups=groups,
        members=members,
        shape=asked.shape,
        wants=lambda queue: (EVERY, settings[queue].labels if queue in settings else None),
        missing=lambda needs, features: [reason] if (reason := _missing(needs, features)) else [],
    )


def _sorted_out(files: Sequence[File], by_user: bool, notes: Notes) -> _Files:
    found = _Files()
    for file in files:
        if file.text.lstrip().startswith("<"):
            top = root(file)
            if top.tag == "configuration":
                found.properties.append((properties_of(top, file.place), file.place))
            else:
                found.allocations.append((top, file.place))
            continue
        for part in _documents(file):
            if "nodes" in part and "rack" in part:
                found.nodes += simulated_nodes(part, notes)
            elif "nodes" in part:
                for one in part["nodes"]["node"].each():
                    found.nodes += filter(None, [machine(one, notes)])
                    found.units |= units_of(one["totalResource"])
            elif "num.nodes" in part:
                found.numbered.append(part)
            elif "job.tasks" in part:
                found.tasks += simulated_tasks(part, by_user, notes)
            elif "scheduler" in part:
                page = part["scheduler"]["schedulerInfo"]
                found.units |= units_of(page["rootQueue"]["clusterResources"])
                found.pages.append(page)
                found.total = found.total or cluster_total(page["rootQueue"]["clusterResources"])
            elif "clusterMetrics" in part:
                found.total = cluster_total(part["clusterMetrics"])
            elif "apps" in part.value:
                for one in part["apps"]["app"].each():
                    found.submitters.setdefault(_queue_of(one), set()).add(one["user"].text())
                    found.tasks += app_tasks(one, by_user, notes)
            elif "nodes" not in part.value:
                raise failure(
                    part.place,
                    "is neither nodes, apps nor scheduler, nor a file of the simulator: "
                    "give what /ws/v1/cluster/nodes, apps and scheduler print, or the XML of the queues",
                )
    for part in found.numbered:
        found.nodes += numbered_nodes(part, notes, named=bool(found.nodes))
    return found


def _find_leaves(found: _Files, names: list[str], by_user: bool) -> None:
    """Give the queues of apps their full names: the capacity scheduler's leaves are named apart, and by that name."""
    parents, leaves = {name.rpartition(".")[0] for name in names}, dict[str, set[str]]()
    for name in names:
        if name not in parents:
            leaves.setdefault(name.rpartition(".")[2], set()).add(name)
    full = {short: min(some) for short, some in leaves.items() if len(some) == 1 and short not in names}
    submitters: dict[str, set[str]] = {}
    for queue, users in found.submitters.items():
        submitters.setdefault(full.get(queue, queue), set()).update(users)
    found.submitters = submitters
    if not by_user:
        found.tasks = [replace(task, user=full.get(task.user, task.user)) for task in found.tasks]


def _queue_of(app: TreePart) -> str:
    return app["queue"].text("default").removeprefix("root.")


# ---- labels ------------------------------------------------------------------------------------------------


def _features(name: str, labels: Mapping[str, str]) -> NodeFeatures:
    """Return the features of a machine of another file: its column ``label:label`` or ``label:partition``."""
    stated = next((labels[key] for key in ("label", "partition", "node-label") if key in labels), "")
    return NodeFeatures(frozenset(part.strip() for part in stated.split(",") if part.strip()))


def _missing(needs: Needs, features: NodeFeatures) -> str:
    """Return in words why a node does not take a task; one without a label may run on any that is not exclusive."""
    label, open_to = needs
    if open_to is not None and features.labels and not features.labels & open_to:
        return f"has the label {'+'.join(sorted(features.labels))}, which its queue may not use"
    if label in ("", EVERY):
        return "" if label == EVERY or not features.exclusive else "is for tasks that ask for its label"
    if label == UNLABELLED:
        return f"has the label {'+'.join(sorted(features.labels))}, and it asks for none" if features.labels else ""
    return "" if label in features.labels else f"has not the label {label}"


def _partitions(nodes: Sequence[ListedMachine]) -> dict[str, dict[str, Fraction]]:
    """Return what the nodes of each label have; of several labels the first counts, as a node has one in YARN."""
    found: dict[str, dict[str, Fraction]] = {}
    for node in nodes:
        features: Any = node.features
        there = found.setdefault(min(features.labels, default=DEFAULT), {})
        for resource, amount in node.capacity.items():
            there[resource] = there.get(resource, Fraction(0)) + amount * node.count
    return found


def _named_only(
    partitions: Mapping[str, Mapping[str, Fraction]], properties: Mapping[str, str]
) -> dict[str, dict[str, Fraction]]:
    """Return the partitions that the file tells apart; all other nodes count with those without a label."""
    known = {label: has for label, has in partitions.items() if any(f"-labels.{label}." in key for key in properties)}
    rest = total_of([has for label, has in partitions.items() if label not in known])
    return {**{label: dict(has) for label, has in known.items()}, DEFAULT: rest}


def _within(one: CapacityQueue, submitters: Mapping[str, Collection[str]], notes: Notes) -> QueueNode:
    """Return a queue, which its users together cannot use beyond their limits."""
    queue, users = one.node, len(submitters.get(one.node.name, ()))
    if one.factor is None:
        return queue
    if not users:
        if one.written:
            notes.unused("user-limit-factor: how many users a queue has is not told", queue.name)
        return queue
    bound = {resource: amount * one.factor * users for resource, amount in queue.minimum.items()}
    most = {r: min(amount, queue.maximum.get(r, amount)) for r, amount in bound.items()}
    if most:
        notes.assumed(f"queue has no more than {_factor(one)} lets its users of today have", queue.name)
    return replace(queue, maximum={**queue.maximum, **most})


def _limited(
    capacities: Sequence[CapacityQueue], submitters: Mapping[str, Collection[str]], notes: Notes
) -> dict[str, dict[str, Any]]:
    """Return the ceilings of single users: what user-limit-factor lets each have of all queues that it submits to."""
    # What a factor lets one user have of a queue; of a queue whose factor is -1, a user may have all.
    most = {
        one.node.name: {r: amount * one.factor for r, amount in one.node.minimum.items()}
        for one in capacities
        if one.factor is not None and one.node.minimum
    }
    factors = {one.node.name: _factor(one) for one in capacities}
    found: dict[str, dict[str, Any]] = {}
    for user in dict.fromkeys(user for users in submitters.values() for user in users):
        mine = [name for name, users in submitters.items() if user in users]
        if all(name in most for name in mine):
            found[user] = {"ceiling": total_of([most[name] for name in mine])}
            for factor in dict.fromkeys(factors[name] for name in mine):
                notes.assumed(f"user has no more than {factor} of its queues' capacities", user)
    return found


def _factor(one: CapacityQueue) -> str:
    return "user-limit-factor" if one.written else "user-limit-factor, which is not written and 1 in YARN,"


def _asking(task: Task, settings: Mapping[str, CapacityQueue], by_user: bool, notes: Notes) -> Task:
    """Return a task that asks for a label, its queue's where it names none, among those its queue may use."""
    known = None if by_user else settings.get(task.user)
    label = str(task.needs or "") or (known.expression if known else "")
    # Of what runs the request is told already, and the simulator's tasks know no labels.
    if not label and task.needs is not None and task.node is None:
        notes.assumed("request without a node label can run on any node of its queue that is not exclusive", task.name)
    return replace(task, needs=(label, known.labels if known else None))


# ---- putting together --------------------------------------------------------------------------------------


def _documents(file: File) -> list[TreePart]:
    found: list[TreePart] = []
    for part in parts(file):
        found += list(part.each()) if isinstance(part.value, list) else [part]
    for part in found:
        if not isinstance(part.value, dict):
            raise part.wrong("a table belongs here")
    return found


def _with_pages(
    queues: list[QueueNode], pages: list[TreePart], whole: dict[str, Fraction], notes: Notes
) -> list[QueueNode]:
    """Return the queues there are, and those that only the fair scheduler's page lists with what it says of them."""
    known = {queue.name for queue in queues}
    for page in pages:
        kind = page["type"].text()
        if kind == "fairScheduler":
            stated = list(fair_queues(page["rootQueue"], whole))
            if not known:
                notes.assumed(
                    "queue has weight 1: the page does not tell weights, fair-scheduler.xml does", count=len(stated)
                )
            queues += [queue for queue in stated if queue.name not in known]
        elif kind != "capacityScheduler":
            notes.no_task(f"queues of a scheduler of type {kind}: fairScheduler and capacityScheduler are read")
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
    home = nodes[0].name if alike else None if nodes else POOL
    return [replace(task, node=home) if task.node == SOMEWHERE else task for task in tasks]
