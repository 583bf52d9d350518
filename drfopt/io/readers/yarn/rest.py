"""What the resource manager's REST interface and the simulator SLS tell: nodes, containers and queues."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ....base.numbers.quantities import only_digits
from ...text.parts import TreePart
from ..conversion import ListedMachine, Notes, Task
from ..kubernetes.objects import tell_unused
from ..queues.tree import QueueNode
from .capacity import CapacityQueue
from .queues import UNITS, YARN_UNITS

__all__ = [
    "SOMEWHERE",
    "UNLABELLED",
    "NodeFeatures",
    "app_tasks",
    "capacity_queues",
    "cluster_total",
    "fair_queues",
    "machine",
    "simulated_nodes",
    "simulated_tasks",
    "units_of",
]

MEMORY, CORES = "memory-mb", "vcores"

IN_USE = ("RUNNING", "NEW")
ALIVE = ("NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING")

SOMEWHERE = ""
"""The node of containers that run, of which the files do not say where."""

SIMULATED = {MEMORY: Fraction(10240), CORES: Fraction(10)}
CONTAINER = {MEMORY: Fraction(1024), CORES: Fraction(1)}
"""What a node of the simulator has, and a container needs, that does not say it."""

JOB = ("job.id", "job.user", "job.queue.name", "job.label.expression", "job.count", "job.tasks")
"""What jobs of the simulator say that is used."""

MASTER = ("am.memory-mb", "am.vcores")
"""How a job of the simulator says the size of its application master."""

OLD_MEMORY = "memory"
"""What containers of its first versions call their memory."""

NO_RESOURCES = ("host", "priority", "type", "execution.type", "allocation.id")
"""What containers of the simulator say, beside times, that is no amount."""

TIMES = (".ms", ".delay")
"""How the keys of their times end."""

UNSET, UNLABELLED = "<Not set>", "<DEFAULT_PARTITION>"
"""What is printed for a label that an app does not name, and for the nodes without one."""


@dataclass(frozen=True)
class NodeFeatures:
    """What of a node decides which containers it takes: its labels, and whether it is only for who asks for them."""

    labels: frozenset[str] = frozenset()
    exclusive: bool = False


def cluster_total(part: TreePart) -> dict[str, Fraction]:
    """Return what the whole cluster has, from the metrics or the page of the fair scheduler; empty where nothing is."""
    if "totalMB" in part:
        return {MEMORY: part["totalMB"].amount(), CORES: part["totalVirtualCores"].amount()}
    found = resources(part) if part else {}
    return found if any(found.values()) else {}


def resources(part: TreePart) -> dict[str, Fraction]:
    """Return a resource as the REST interface prints it: memory in MB, cores, and all others by name."""
    detailed = list(part["resourceInformations"]["resourceInformation"].each())
    if not detailed:
        return {MEMORY: part["memory"].amount(), CORES: part["vCores"].amount()}
    found = {}
    for one in detailed:
        name, unit = one["name"].text(), one["units"].text()
        if unit not in UNITS:
            raise one["units"].wrong(f"use one of {', '.join(filter(None, YARN_UNITS))}")
        scale = UNITS[unit] / (UNITS["Mi"] if name == MEMORY else 1)
        found[name] = one["value"].amount() * (scale if unit else 1)
    return found


def units_of(part: TreePart) -> dict[str, Fraction]:
    """Return what one is of a type of resource whose unit the cluster sets: files with queues count in it."""
    detailed = part["resourceInformations"]["resourceInformation"].each() if part else ()
    units = {one["name"].text(): one["units"].text() for one in detailed}
    return {name: UNITS[unit] for name, unit in units.items() if unit in UNITS and name != MEMORY}


def machine(part: TreePart, notes: Notes) -> ListedMachine | None:
    """Return a node, None when it is not in use."""
    name, state = part["id"].text() or part["nodeHostName"].text(), part["state"].text("RUNNING")
    if state not in IN_USE:
        notes.no_machine(f"node that is {state}", name)
        return None
    if "totalResource" in part:
        capacity = resources(part["totalResource"])
    else:
        capacity = {
            MEMORY: part["usedMemoryMB"].amount() + part["availMemoryMB"].amount(),
            CORES: part["usedVirtualCores"].amount() + part["availableVirtualCores"].amount(),
        }
    labels = frozenset(part["nodeLabels"].texts())
    marks = {"label": "+".join(sorted(labels))} if labels else {}
    return ListedMachine(name, capacity, features=NodeFeatures(labels), labels=marks)


def app_tasks(part: TreePart, by_user: bool, notes: Notes) -> list[Task]:
    """Return the containers of an app: those that run, and those that it asks for anywhere."""
    name, state = part["id"].text(), part["state"].text("RUNNING")
    if state not in ALIVE:
        notes.no_task(f"app that is {state}", name)
        return []
    user = part["user"].text() if by_user else part["queue"].text("default").removeprefix("root.")
    title = part["name"].text() or name
    if part["priority"].number():
        notes.unused("priority of an app", name)
    found: list[Task] = []
    label = _label(part["appNodeLabelExpression"])
    for request in part["resourceRequests"].each():
        if request["resourceName"].text("*") != "*":
            continue  # the rows of a host or a rack repeat the same containers
        wanted = _label(request["nodeLabelExpression"]) or label
        count = request["numContainers"].count()
        found.append(Task(user, resources(request["capability"]), count, wanted, title))
    running = max(Fraction(0), part["runningContainers"].number())
    if running:
        held = {
            MEMORY: max(Fraction(0), part["allocatedMB"].number()) / running,
            CORES: max(Fraction(0), part["allocatedVCores"].number()) / running,
        }
        alike = next((task for task in found if _first_two(task.demand) == held), None)
        if alike is None:
            notes.assumed("running containers of an app are alike: each is its allocation over their number", name)
        demand = held if alike is None else alike.demand
        needs = label if alike is None else alike.needs
        found.append(Task(user, demand, running, needs, title, SOMEWHERE))
    if not found:
        notes.no_task(f"app that is {state}, and no container of it is told", name)
    return found


def _label(part: TreePart) -> str:
    text = part.text().strip()
    return "" if text == UNSET else text


def _first_two(demand: Mapping[str, Fraction]) -> dict[str, Fraction]:
    return {key: amount for key, amount in demand.items() if key in (MEMORY, CORES)}


def fair_queues(part: TreePart, whole: Mapping[str, Fraction]) -> Iterator[QueueNode]:
    """Yield a queue of the fair scheduler's page and all below it; the page does not tell weights."""
    path = part["queueName"].text("root")
    minimum = resources(part["minResources"]) if "minResources" in part else {}
    maximum = resources(part["maxResources"]) if "maxResources" in part else {}
    yield _queue(
        path,
        Fraction(1),
        {resource: amount for resource, amount in minimum.items() if amount},
        # The page prints the whole cluster where a queue has no maximum of its own.
        {resource: amount for resource, amount in maximum.items() if amount < whole.get(resource, Fraction(0))},
    )
    below = part["childQueues"]
    # Older versions print a list, newer ones a table with the list.
    for queue in (below["queue"] if isinstance(below.value, dict) else below).each():
        yield from fair_queues(queue, whole)


def capacity_queues(page: TreePart, whole: Mapping[str, Fraction]) -> Iterator[CapacityQueue]:
    """Yield the queues of the capacity scheduler's page, if it is that: percentages of the whole cluster."""
    if page["type"].text() == "capacityScheduler":
        yield from _capacities(page, "root", whole)


def _capacities(part: TreePart, above: str, whole: Mapping[str, Fraction]) -> Iterator[CapacityQueue]:
    for queue in part["queues"]["queue"].each():
        path = f"{above}.{queue['queueName'].text()}"
        promised, most = queue["absoluteCapacity"].amount(), queue["absoluteMaxCapacity"].amount(missing=100)
        node = _queue(
            path,
            # In weight mode the page prints a capacity of 0, in others a weight of -1.
            queue["capacity"].amount() or max(Fraction(0), queue["weight"].number()),
            {resource: amount * promised / 100 for resource, amount in whole.items() if promised},
            {resource: amount * most / 100 for resource, amount in whole.items() if most < 100},
        )
        factor = queue["userLimitFactor"].number() if "userLimitFactor" in queue else Fraction(-1)
        yield CapacityQueue(node, factor if factor >= 0 else None)
        yield from _capacities(queue, path, whole)


def _queue(path: str, weight: Fraction, minimum: dict[str, Fraction], maximum: dict[str, Fraction]) -> QueueNode:
    parent, _, label = path.rpartition(".")
    return QueueNode(path.removeprefix("root."), parent.removeprefix("root."), weight, minimum, maximum, label=label)


# ---- SLS ---------------------------------------------------------------------------------------------------


def simulated_nodes(part: TreePart, notes: Notes) -> list[ListedMachine]:
    """Return the nodes of a rack of the simulator; memory in MB."""
    rack = part["rack"].text()
    found = []
    for node in part["nodes"].each():
        name = f"{rack}/{node['node'].text()}".lstrip("/")
        capacity = {}
        for resource, usual in SIMULATED.items():
            if resource not in node:
                notes.assumed(f"node of the simulator that does not say its {resource} has {int(usual)}", name)
            capacity[resource] = node[resource].amount() if resource in node else usual
        for key, amount in node.pairs():
            if key not in ("node", "labels"):
                capacity[key] = amount.amount()
        labels = _labels(node["labels"])
        marks = {"label": "+".join(sorted(labels))} if labels else {}
        found.append(
            ListedMachine(name, capacity, features=NodeFeatures(frozenset(labels), any(labels.values())), labels=marks)
        )
    return found


def numbered_nodes(part: TreePart, notes: Notes, named: bool) -> list[ListedMachine]:
    """Return as many nodes as the trace of a simulator says that there are, unless some are named."""
    count = part["num.nodes"].count()
    tell_unused(part, ("num.nodes", "num.racks"), "a trace of the simulator", "num.nodes", notes)
    if named:
        notes.unused("num.nodes of a trace of the simulator: its nodes are listed")
    if named or not count:
        return []
    for resource, usual in SIMULATED.items():
        notes.assumed(f"node of the simulator that does not say its {resource} has {int(usual)}", "num.nodes", count)
    return [ListedMachine("node", dict(SIMULATED), features=NodeFeatures(frozenset()), count=count)]


def _labels(part: TreePart) -> dict[str, bool]:
    """Return labels and whether they are exclusive: a text ``a, b(exclusive=false)``, or a list of texts or tables."""
    if not isinstance(part.value, list):
        marks = [text.strip() for text in part.text().split(",") if text.strip()]
    else:
        marks = [one["label"].text() if isinstance(one.value, dict) else one.text() for one in part.each()]
    found = {}
    for text in marks:
        name, _, flag = text.partition("(")
        found[name.strip()] = flag.replace(" ", "").rstrip(")").lower() != "exclusive=false"
    return found


def simulated_tasks(part: TreePart, by_user: bool, notes: Notes) -> list[Task]:
    """Return the containers of a job of the simulator."""
    user = part["job.user"].text("default") if by_user else part["job.queue.name"].text("default").removeprefix("root.")
    title = part["job.id"].text("job")
    label = part["job.label.expression"].text()
    copies = max(1, part["job.count"].count(missing=1))
    _tell_rest(part, (*JOB, *MASTER), "a job", title, notes)
    memory, cores = (part[key].text(str(usual)) for key, usual in zip(MASTER, CONTAINER.values(), strict=True))
    master = f"container of the application master of a job of the simulator, {memory} MB and {cores} vcores each"
    notes.unused(master, title, copies)
    found = []
    for one in part["job.tasks"].each():
        sizes = {key: name for key, size in one.pairs() if (name := _resource(key, size.value))}
        said = {name: one[key].amount() for key, name in sizes.items()}
        _tell_rest(one, ("count", *sizes), "a container", title, notes)
        for resource, usual in CONTAINER.items():
            if resource not in said:
                notes.assumed(f"container of the simulator that does not say its {resource} has {int(usual)}", title)
        count = max(1, one["count"].count(missing=1))
        found.append(Task(user, {**CONTAINER, **said}, count * copies, label, title))
    return found


def _resource(key: str, value: object) -> str:
    """Return the resource of which a key of a container says an amount; empty for none."""
    name = key.removeprefix("container.")
    if name == key or name in NO_RESOURCES or key.endswith(TIMES) or not only_digits(str(value).replace(".", "", 1)):
        return ""
    return MEMORY if name == OLD_MEMORY else name


def _tell_rest(part: TreePart, used: Sequence[str], whose: str, title: str, notes: Notes) -> None:
    """Note what is not used of a job or container; its times in one note."""
    times = [key for key, _ in part.pairs() if key.endswith(TIMES)]
    if times:
        notes.unused(f"times of {whose} of the simulator: all of them are there at once", title)
    tell_unused(part, (*used, *times), f"{whose} of the simulator", title, notes)
