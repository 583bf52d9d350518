"""Volcano: ``kubectl get nodes,pods -A -o json`` and ``kubectl get queues,podgroups -A -o yaml``.

    weight                        weight; of 0 is 1, as Volcano makes it
    guarantee.resource, deserved  guarantee (the larger one: nodes are not reserved here, and what is deserved is lent)
    capability                    ceiling
    priority                      tier
    parent, or the annotation volcano.sh/hierarchy with its weights (this one counts where both are given);
                                  without either the Queue root, where it is listed

A pod is in the queue that its annotation or label names, or its PodGroup, or the Job of ``batch.volcano.sh`` that makes
it; ``default`` where Volcano places it. Where neither pods nor such Jobs of a PodGroup are listed, it stands for
``minMember`` tasks of an equal part of ``minResources`` each: in these Volcano writes what a ResourceQuota would count,
``requests.cpu`` beside cpu and ``requests.nvidia.com/gpu`` alone.
"""

from collections.abc import Callable
from fractions import Fraction

from ....base.errors import InstanceError
from ....base.numbers.quantities import parse
from ...text.files import failure
from ...text.parts import TreePart
from ..conversion import Notes
from ..kubernetes.eligibility import PodNeeds
from ..kubernetes.objects import Objects, annotations, labels, name, namespace, tell_unused
from ..kubernetes.pods import VOLCANO_QUEUE, Pod
from .tree import QueueNode, System

__all__ = ["read"]

GROUP = "scheduling.volcano.sh"
HIERARCHY, WEIGHTS = "volcano.sh/hierarchy", "volcano.sh/hierarchy-weights"
POD_GROUP = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")

JOB_QUEUE = "volcano.sh/queue-name"
"""The label, and annotation, by which pods of a Job of Volcano say its queue."""

DONE = ("Completed", "Succeeded", "Failed")
"""Phases of a PodGroup that wants nothing any more."""


QUEUE_KEYS = ("weight", "guarantee", "deserved", "capability", "priority", "parent", "state")
POD_GROUP_KEYS = ("minMember", "minResources", "queue")
"""What their specs say that is used, or noted by itself."""


def _queues(objects: Objects, notes: Notes) -> list[QueueNode]:
    found: dict[str, QueueNode] = {}
    for item in objects.take("Queue", GROUP):
        spec, marks = item["spec"], annotations(item)
        tell_unused(spec, QUEUE_KEYS, "a Queue", name(item), notes)
        if spec["guarantee"]["resource"]:
            notes.assumed("guarantee is lent while nobody of the queue needs it", name(item))
        if spec["state"].text("Open") == "Closed" or item["status"]["state"].text("Open") == "Closed":
            notes.assumed("queue that is closed takes part with what is in it", name(item))
        promised, deserved = spec["guarantee"]["resource"].amounts(), spec["deserved"].amounts()
        parent, weight = spec["parent"].text(), spec["weight"].amount(missing=1)
        if not weight and HIERARCHY not in marks:
            notes.assumed("weight of 0 is 1: Volcano makes it so", name(item))
            weight = Fraction(1)
        if HIERARCHY in marks:
            if parent:
                notes.unused("parent of a queue: its hierarchy is annotated too", name(item))
            parent, weight = _ancestors(item, marks[HIERARCHY], marks.get(WEIGHTS, ""), found, notes)
            if "weight" in spec and spec["weight"].amount() not in (0, weight):
                notes.unused("weight of a queue: its hierarchy is annotated too", name(item))
        found[name(item)] = QueueNode(
            name(item),
            parent,
            weight,
            promised | {r: max(amount, promised.get(r, Fraction(0))) for r, amount in deserved.items()},
            spec["capability"].amounts(),
            int(spec["priority"].number()),
        )
    return list(found.values())


def _ancestors(
    item: TreePart, path: str, weights: str, found: dict[str, QueueNode], notes: Notes
) -> tuple[str, Fraction]:
    """Add the queues on the way to this one, and return the name of the last of them and the weight of this one."""
    labels = [label for label in path.split("/") if label]
    try:
        numbers = [parse(text) for text in weights.split("/") if text] or [Fraction(1)] * len(labels)
    except InstanceError:
        numbers = []
    if not labels or len(numbers) != len(labels) or min(numbers) < 0:
        raise failure(
            item.place,
            f"queue {name(item)!r} is annotated {path!r} with the weights {weights!r}: write one weight a part",
        )
    parent = ""
    for depth, (label, weight) in enumerate(zip(labels[:-1], numbers, strict=False), start=1):
        inner = "/".join(labels[:depth])
        key = label if depth == 1 else inner
        if found.setdefault(key, QueueNode(key, parent, weight, label=label)).weight != weight:
            notes.assumed(f"queue has the weight that is met first, of several in {WEIGHTS} and its own", key)
        parent = key
    return parent, numbers[-1]


def _queue_of(objects: Objects) -> Callable[[Pod], str | None]:
    groups = {(namespace(item), name(item)): item["spec"]["queue"].text("default") for item in objects.take("PodGroup")}

    def queue_of(pod: Pod) -> str | None:
        named = pod.annotations.get(VOLCANO_QUEUE) or pod.labels.get(VOLCANO_QUEUE)
        for key in POD_GROUP:
            named = named or groups.get((pod.namespace, pod.annotations.get(key, "")))
        named = named or pod.labels.get(JOB_QUEUE) or pod.annotations.get(JOB_QUEUE)
        return named or ("default" if pod.scheduler == "volcano" else None)

    return queue_of


def _requests(counted: dict[str, Fraction]) -> dict[str, Fraction]:
    """Return what pods request, of what a quota counts of them: limits and numbers of objects are no resources."""
    found: dict[str, Fraction] = {}
    for resource, amount in counted.items():
        if not resource.startswith(("limits.", "count/")):
            plain = resource.removeprefix("requests.")
            found[plain] = max(amount, found.get(plain, amount))
    return found


def _waiting(objects: Objects, found: list[Pod], notes: Notes) -> list[Pod]:
    """Return what PodGroups ask for of which neither pods nor Jobs are listed."""
    known = {(pod.namespace, pod.annotations.get(key, "")) for pod in found for key in POD_GROUP}
    jobs = {(namespace(item), name(item)) for item in objects.take("Job", "batch.volcano.sh")}
    groups = []
    for item in objects.take("PodGroup"):
        named = (namespace(item), name(item))
        owners = {(named[0], one["name"].text()) for one in item["metadata"]["ownerReferences"].each()}
        spec = item["spec"]
        tell_unused(spec, POD_GROUP_KEYS, "a PodGroup", named[1], notes)
        if named in known or owners & jobs or named in jobs:
            if "minMember" in spec:
                notes.unused("gang of a PodGroup: that many of its pods start together or none (minMember)", named[1])
            continue
        count, amounts = spec["minMember"].count(missing=1), _requests(spec["minResources"].amounts())
        if item["status"]["phase"].text() in DONE or not any(amounts.values()) or not count:
            notes.unused("PodGroup that is over, or does not say its minResources", named[1])
            continue
        notes.assumed("PodGroup without pods: minMember tasks of an equal part of its minResources", named[1])
        each = {resource: amount / count for resource, amount in amounts.items()} | {"pods": Fraction(1)}
        marks = {VOLCANO_QUEUE: spec["queue"].text("default")}
        groups.append(Pod(named[1], named[0], named[1], labels(item), marks, each, PodNeeds(), count=count))
    return groups


read = System("volcano", _queues, _queue_of, waiting=_waiting, top="root").read
