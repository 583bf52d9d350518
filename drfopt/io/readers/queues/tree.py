"""A tree of queues into groups and users: inner queues are groups, the tasks of a queue are those of a user.

What the queue readers share: nodes and pods as Kubernetes has them, and users that are queues.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from ....base.errors import InstanceError
from ....model.organisation import DEEPEST
from ...text.files import File
from ..conversion import Contents, ListedMachine, Notes, ReadOptions, named
from ..kubernetes import SOURCE
from ..kubernetes.eligibility import ANYWHERE, allows, missing
from ..kubernetes.gpus import of_one_device
from ..kubernetes.nodes import listed, machines_of, tasks
from ..kubernetes.objects import Objects
from ..kubernetes.pods import Pod, pods

__all__ = ["UNLISTED", "QueueNode", "System", "below", "grown", "organised"]


ROOT = ("root", "koordinator-root-quota")
"""Names of the one queue above all others; when it bounds nothing, it is no group of its own."""

UNLISTED = "queue that is named and not listed has weight 1 and no bounds"

FLOORS = (
    "guarantee is a floor and counts in what is compared; this scheduler divides what is above it: "
    'guarantees = "surplus" on top of the file does so'
)


@dataclass(frozen=True)
class QueueNode:
    """A queue of any of the schedulers.

    Parameters
    ----------
    name : str
        As tasks say it, unique.
    parent : str
        Name of the queue above; empty for none.
    weight : Fraction, or mapping from resource to Fraction
        Against its siblings.
    minimum, maximum : mapping from resource to Fraction
        What it is promised, and the most that it may use; a resource not listed has neither.
    priority : int
        Higher ones are served first.
    label : str
        Its name within its parent, where `name` is longer.
    group : bool
        Whether only queues below it have tasks.
    """

    name: str
    parent: str = ""
    weight: Fraction | Mapping[str, Fraction] = Fraction(1)
    minimum: Mapping[str, Fraction] = field(default_factory=dict)
    maximum: Mapping[str, Fraction] = field(default_factory=dict)
    priority: int = 0
    label: str = ""
    group: bool = False

    @property
    def bounds(self) -> dict[str, Any]:
        """Its keys in an instance file."""
        entry: dict[str, Any] = {"weight": self.weight} if self.weight != 1 else {}
        if self.minimum:
            entry["guarantee"] = dict(self.minimum)
        if self.maximum:
            entry["ceiling"] = dict(self.maximum)
        if self.priority:
            entry["tier"] = self.priority
        return entry


def grown(
    queues: Iterable[QueueNode],
    names: Iterable[str],
    notes: Notes,
    bound: Callable[[str], Mapping[str, Fraction]] = lambda parent: {},
) -> list[QueueNode]:
    """Return the queues, and those that tasks name and nobody lists, each below the queue that its path names.

    Parameters
    ----------
    queues : iterable of QueueNode
        Called by their paths, with dots, without that of the root.
    names : iterable of str
        Names of the queues that have tasks.
    notes : Notes
    bound : callable (parent) -> amounts
        The most that a queue below this one may use that is not listed.
    """
    found = list(queues)
    known = {queue.name for queue in found}
    top = ROOT[0] if ROOT[0] in known else ""
    for name in names:
        parts = name.split(".")
        for k, label in enumerate(parts, start=1):
            path, parent = ".".join(parts[:k]), ".".join(parts[: k - 1]) or top
            if path not in known:
                most = bound(parent)
                bounds = "the most that such queues may use" if most else "no bounds"
                notes.assumed(f"queue that is named and not listed has weight 1 and {bounds}", path)
                found.append(QueueNode(path, parent, maximum=most, label=label))
                known.add(path)
    return found


def below(name: str, queues: Iterable[QueueNode]) -> list[str]:
    """Return the names of all queues below one."""
    children: dict[str, list[str]] = {}
    for queue in queues:
        children.setdefault(queue.parent, []).append(queue.name)
    found = list(children.pop(name, ()))
    for one in found:
        found += children.pop(one, ())
    return found


def organised(
    queues: Iterable[QueueNode], users: Iterable[str], notes: Notes, top: str = "", surplus: bool = False
) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return the entries of the groups, and the further keys of each user.

    Parameters
    ----------
    queues : iterable of QueueNode
    users : iterable of str
        Names of the queues that have tasks.
    top : str
        The queue above those that say none, where it is listed.
    surplus : bool
        Whether the scheduler divides what is above guarantees by weight, which an instance has to say.

    Raises
    ------
    InstanceError
        When a queue is listed twice, is below itself, or is promised more than it may use.
    """
    known: dict[str, QueueNode] = {}
    for queue in queues:
        if queue.name in known:
            raise InstanceError(f"queue {queue.name!r} is listed twice: keep one of them")
        known[queue.name] = _bounded(queue, notes)
    for queue in list(known.values()):
        if queue.parent and queue.parent not in known:
            notes.assumed(UNLISTED, queue.parent)
            known[queue.parent] = QueueNode(queue.parent)
    if top in known:
        known |= {name: replace(queue, parent=top) for name, queue in known.items() if not queue.parent and name != top}
    needed, hollow = dict.fromkeys(users), [""]
    while hollow:
        inner = {queue.parent for queue in known.values() if queue.parent}
        hollow = [name for name, queue in known.items() if queue.group and name not in inner and name not in needed]
        for name in hollow:
            notes.unused("group that no queue is in", known.pop(name).label)
    paths = {name: _path(name, known) for name in known}
    groups: list[dict[str, Any]] = []
    members: dict[str, dict[str, Any]] = {}
    for name, queue in known.items():
        above = "/".join(paths[name][:-1])
        if name not in inner:
            members[name] = queue.bounds | ({"group": above} if above else {})
        elif paths[name]:
            groups.append({"name": "/".join(paths[name])} | _scalar(queue, notes).bounds)
    for name in needed:
        if name not in known:
            notes.assumed(UNLISTED, name)
            if paths.get(top):
                members[name] = {"group": "/".join(paths[top])}
        elif name in inner:
            # Tasks of the inner queue itself stand beside its children.
            members[name] = {"group": "/".join(paths[name])} if paths[name] else {}
    entries = {entry["name"]: entry for entry in groups} | members
    promised = [name for name, entry in entries.items() if any(entry.get("guarantee", {}).values())]
    if surplus and promised:
        notes.assumed(FLOORS, promised[0], len(promised))
    return groups, members


def _bounded(queue: QueueNode, notes: Notes) -> QueueNode:
    minimum = dict(queue.minimum)
    for resource, promised in queue.minimum.items():
        if promised > queue.maximum.get(resource, promised):
            notes.assumed(f"guarantee of {resource} is cut to the ceiling: it was above it", queue.name)
            minimum[resource] = queue.maximum[resource]
    return replace(queue, minimum=minimum, label=queue.label or queue.name)


def _scalar(queue: QueueNode, notes: Notes) -> QueueNode:
    """Return the queue with one weight: groups have no weights by resource."""
    if not isinstance(queue.weight, Mapping):
        return queue
    weight = max(queue.weight.values(), default=Fraction(1))
    if len(set(queue.weight.values())) > 1:
        notes.assumed(f"group has one weight, the largest of its weights by resource: {weight}", queue.name)
    return replace(queue, weight=weight)


def _path(name: str, known: Mapping[str, QueueNode]) -> list[str]:
    """Return the labels from the root to a queue; a root that bounds nothing is left out."""
    path: list[str] = []
    seen: set[str] = set()
    while name:
        if name in seen:
            raise InstanceError(
                f"queue {name!r} is below itself: correct the parent of one of {', '.join(sorted(seen)[:12])}"
            )
        seen.add(name)
        if len(seen) > DEEPEST + len(ROOT):
            raise InstanceError(f"queue {name!r} is above more than {DEEPEST} levels: leave some out")
        queue = known[name]
        if not (name in ROOT and not queue.parent and not queue.minimum and not queue.maximum):
            path.insert(0, (queue.label or name).replace("/", "|"))
        name = queue.parent
    return path


Beyond = Callable[
    [Objects, list[QueueNode], Mapping[str, int], Mapping[str, Fraction] | None, Notes],
    tuple[list[QueueNode], Collection[str]],
]


@dataclass(frozen=True)
class System:
    """A scheduler with queues.

    Parameters
    ----------
    name : str
        As ``--from`` says it.
    queues : callable (Objects, Notes) -> list of QueueNode
    queue_of : callable (Objects) -> callable (Pod) -> name of its queue, or None when it is in none
    loose : bool
        Whether it has files that are no objects of Kubernetes.
    dotted : bool
        Whether queues are called by their paths, with dots.
    waiting : callable (Objects, list of Pod, Notes) -> list of Pod
        What else waits beside the pods and their owners.
    beyond : callable (Objects, list of QueueNode, pods by queue, what there is, Notes) -> list of QueueNode, names
        The queues again, once it is known who has pods and what there is, None where only the queues say it; and the
        names of those that were left out.
    pool : callable (Objects) -> mapping or None
        What the queues' objects say that the whole cluster has, where no node is listed.
    top : str
        The queue that is above those that say none.
    surplus : bool
        Whether it divides what is above guarantees by weight.
    """

    name: str
    queues: Callable[[Objects, Notes], list[QueueNode]]
    queue_of: Callable[[Objects], Callable[[Pod], str | None]]
    loose: bool = False
    dotted: bool = False
    waiting: Callable[[Objects, list[Pod], Notes], list[Pod]] = lambda objects, found, notes: []
    beyond: Beyond = lambda objects, queues, tasks, there, notes: (queues, ())
    pool: Callable[[Objects], Mapping[str, Fraction] | None] = lambda objects: None
    top: str = ""
    surplus: bool = False

    def read(self, files: Sequence[File], asked: ReadOptions) -> Contents:
        """Read nodes, pods and queues.

        Raises
        ------
        InstanceError
            With file and place.
        """
        notes = Notes()
        objects = Objects(files, notes)
        if not self.loose:
            objects.refuse_loose()
        queues = self.queues(objects, notes)
        queue_of = self.queue_of(objects)
        found: list[Pod] = []
        users: dict[int, str] = {}
        all_pods = pods(objects, notes)
        all_pods += self.waiting(objects, all_pods, notes)
        for pod in of_one_device(all_pods, listed(objects, asked), notes):
            queue = None if pod.fixed else queue_of(pod)
            found.append(pod if queue is not None else replace(pod, fixed=True))
            if queue is not None:
                users[id(found[-1])] = queue
        bounds = [amounts for queue in queues for amounts in (queue.minimum, queue.maximum)]
        machines, asked = machines_of(objects, found, bounds, asked, notes)
        pool = asked.pool
        there = _all_of(machines) or pool
        if not machines and pool is None:
            pool = self.pool(objects)
            if pool is not None:
                notes.assumed("no node is listed: what the queues say that the cluster has is one pool")
        objects.tell_rest()
        counts: Counter[str] = Counter()
        for pod in found:
            if id(pod) in users:
                counts[users[id(pod)]] += pod.count
        queues, out = self.beyond(objects, queues, counts, there, notes)
        users = {pod: queue for pod, queue in users.items() if queue not in out}
        if self.dotted and queues:
            queues = grown(queues, dict.fromkeys(users.values()), notes)
        groups, members = organised(queues, dict.fromkeys(users.values()), notes, self.top, self.surplus)
        return Contents(
            f"{self.name}, {files[0].stem}",
            SOURCE.format(
                what=self.name,
                pods=sum(pod.count for pod in found),
                nodes=sum(machine.count for machine in machines),
                files=named(files),
            ),
            machines,
            tasks(found, users),
            notes,
            allows,
            pool=pool,
            groups=groups,
            members=members,
            shape=asked.shape,
            wants=lambda queue: ANYWHERE,
            missing=missing,
        )


def _all_of(machines: Iterable[ListedMachine]) -> dict[str, Fraction]:
    total: dict[str, Fraction] = {}
    for machine in machines:
        for resource, amount in machine.capacity.items():
            total[resource] = total.get(resource, Fraction(0)) + amount * machine.count
    return total
