"""YuniKorn: ``kubectl get nodes,pods -A -o json`` and its ``queues.yaml``, as a file or in its ConfigMap.

    resources.guaranteed  guarantee
    resources.max         ceiling
    properties priority.offset   tier, beside the highest of the queues below
               priority.policy   fence: theirs is not looked at
    queues                the queues below

vcore is called cpu, as pods call it. A pod is in the queue that its label or annotation names, with or without
``root.`` in front and in any case; in ``root.default`` where YuniKorn places it. YuniKorn has no weights.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction

from ...native.syntax import trees
from ...text.files import failure
from ...text.parts import TreePart
from ..conversion import Notes
from ..kubernetes.objects import Objects, tell_unused
from ..kubernetes.pods import Pod
from .tree import QueueNode, System

__all__ = ["read"]

LABELS = ("queue", "yunikorn.apache.org/queue")
DEFAULT = "default"
CONFIG = "queues.yaml"


def _queues(objects: Objects, notes: Notes) -> list[QueueNode]:
    found: list[QueueNode] = []
    for config in _configurations(objects):
        partitions = list(config["partitions"].each())
        if partitions:
            tell_unused(partitions[0], ("name", "queues"), "a partition", partitions[0]["name"].text(), notes)
        if len(partitions) > 1:
            notes.unused("partition of nodes after the first", partitions[1]["name"].text(), len(partitions) - 1)
        for queue in partitions[0]["queues"].each() if partitions else ():
            found += _below(queue, "", notes)
    return found


def _configurations(objects: Objects) -> Iterator[TreePart]:
    for part in objects.loose:
        if "partitions" not in part:
            raise failure(part.place, "has neither a kind nor partitions: give objects of Kubernetes and queues.yaml")
        yield part
    for item in objects.take("ConfigMap"):
        text = item["data"][CONFIG].text()
        if text:
            place = f"{item.place}: {CONFIG}"
            yield from (TreePart(tree, place) for tree in trees(text, place))


def _below(part: TreePart, parent: str, notes: Notes) -> Iterator[QueueNode]:
    label = part["name"].text().lower()
    name = f"{parent}.{label}" if parent else label
    tell_unused(part, ("name", "parent", "resources", "properties", "queues"), "a queue", name, notes)
    for key, _ in part["properties"].pairs():
        if key not in ("priority.offset", "priority.policy"):
            notes.unused(f"property {key} of a queue", name)
    below = [list(_below(queue, name, notes)) for queue in part["queues"].each()]
    offset = int(part["properties"]["priority.offset"].number())
    if part["properties"]["priority.policy"].text() != "fence":
        offset += (highest := max((queue[0].priority for queue in below), default=0))
        if highest and parent:
            notes.assumed("parent is as urgent as its most urgent queue, though no task may wait in that", name)
    resources = part["resources"]
    yield QueueNode(
        _short(name),
        _short(parent),
        Fraction(1),
        _amounts(resources["guaranteed"]),
        _amounts(resources["max"]),
        offset,
        label,
    )
    for queue in below:
        yield from queue


def _amounts(part: TreePart) -> dict[str, Fraction]:
    return {"cpu" if name == "vcore" else name: amount for name, amount in part.amounts().items()}


def _short(name: str) -> str:
    return name.removeprefix("root.")


def _queue_of(objects: Objects) -> Callable[[Pod], str | None]:
    def queue_of(pod: Pod) -> str | None:
        for label in LABELS:
            text = pod.labels.get(label) or pod.annotations.get(label)
            if text:
                return _short(text.lower())
        return DEFAULT if pod.scheduler == "yunikorn" else None

    return queue_of


read = System("yunikorn", _queues, _queue_of, loose=True, dotted=True).read
