"""Volcano: ``kubectl get nodes,pods -A -o json`` and ``kubectl get queues,podgroups -A -o yaml``.

    weight                        weight
    guarantee.resource, deserved  guarantee (the larger one: nodes are not reserved here, and what is deserved is lent)
    capability                    ceiling
    priority                      tier
    parent, or the annotation volcano.sh/hierarchy with its weights (this one counts where both are given)

A pod is in the queue that its annotation or label names, or its PodGroup; ``default`` where Volcano places it.
"""

from collections.abc import Callable
from fractions import Fraction

from ...text.files import failure
from ...text.parts import TreePart
from ..conversion import Notes
from ..kubernetes.objects import Objects, annotations, name, namespace
from ..kubernetes.pods import Pod
from .tree import QueueNode, System

__all__ = ["read"]

GROUP = "scheduling.volcano.sh"
HIERARCHY, WEIGHTS = "volcano.sh/hierarchy", "volcano.sh/hierarchy-weights"
QUEUE = "scheduling.volcano.sh/queue-name"
POD_GROUP = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")


def _queues(objects: Objects, notes: Notes) -> list[QueueNode]:
    found: dict[str, QueueNode] = {}
    for item in objects.take("Queue", GROUP):
        spec, marks = item["spec"], annotations(item)
        if spec["guarantee"]["resource"]:
            notes.assumed("guarantee is lent while nobody of the queue needs it", name(item))
        if spec["state"].text("Open") == "Closed" or item["status"]["state"].text("Open") == "Closed":
            notes.assumed("queue that is closed takes part with what is in it", name(item))
        promised, deserved = spec["guarantee"]["resource"].amounts(), spec["deserved"].amounts()
        parent, weight = spec["parent"].text(), spec["weight"].amount(missing=1)
        if HIERARCHY in marks:
            if parent:
                notes.unused("parent of a queue: its hierarchy is annotated too", name(item))
            parent, weight = _ancestors(item, marks[HIERARCHY], marks.get(WEIGHTS, ""), found)
        found[name(item)] = QueueNode(
            name(item),
            parent,
            weight,
            promised | {r: max(amount, promised.get(r, Fraction(0))) for r, amount in deserved.items()},
            spec["capability"].amounts(),
            int(spec["priority"].number()),
        )
    return list(found.values())


def _ancestors(item: TreePart, path: str, weights: str, found: dict[str, QueueNode]) -> tuple[str, Fraction]:
    """Add the queues on the way to this one, and return the name of the last of them and the weight of this one."""
    labels = [label for label in path.split("/") if label]
    numbers = [text for text in weights.split("/") if text] or ["1"] * len(labels)
    if not labels or len(numbers) != len(labels) or not all(text.isdecimal() for text in numbers):
        raise failure(
            item.place,
            f"queue {name(item)!r} is annotated {path!r} with the weights {weights!r}: write one weight a part",
        )
    parent = ""
    for depth, (label, weight) in enumerate(zip(labels[:-1], numbers, strict=False), start=1):
        inner = "/".join(labels[:depth])
        key = label if depth == 1 else inner
        found.setdefault(key, QueueNode(key, parent, Fraction(weight), label=label))
        parent = key
    return parent, Fraction(numbers[-1])


def _queue_of(objects: Objects) -> Callable[[Pod], str | None]:
    groups = {(namespace(item), name(item)): item["spec"]["queue"].text("default") for item in objects.take("PodGroup")}

    def queue_of(pod: Pod) -> str | None:
        told = pod.annotations.get(QUEUE) or pod.labels.get(QUEUE)
        for key in POD_GROUP:
            told = told or groups.get((pod.namespace, pod.annotations.get(key, "")))
        return told or ("default" if pod.scheduler == "volcano" else None)

    return queue_of


read = System("volcano", _queues, _queue_of).read
