"""KAI: ``kubectl get nodes,pods -A -o json`` and ``kubectl get queues.scheduling.run.ai -o yaml``.

    quota           guarantee (cpu in thousandths of a core, memory in 10^6 bytes, gpu in devices; -1 for no bound)
    limit           ceiling
    overQuotaWeight weight, by resource
    priority        tier, above what a Queue has that says nothing
    parentQueue     the group above

A pod is in the queue that its label ``kai.scheduler/queue`` names.
"""

from collections.abc import Callable
from fractions import Fraction

from ...writers.queues import PRIORITY
from ..conversion import Notes
from ..kubernetes.objects import Objects, name, tell_unused
from ..kubernetes.pods import Pod
from .tree import QueueNode, System

__all__ = ["read"]

GROUPS = ("scheduling.run.ai", "scheduling.kai")
LABELS = ("kai.scheduler/queue", "runai/queue")

UNITS = {
    "cpu": ("cpu", Fraction(1, 1000)),
    "memory": ("memory", Fraction(10**6)),
    "gpu": ("nvidia.com/gpu", Fraction(1)),
}
"""The resource of a pod, and how much of it is one."""


def _queues(objects: Objects, notes: Notes) -> list[QueueNode]:
    found = []
    for group in GROUPS:
        for item in objects.take("Queue", group):
            spec = item["spec"]
            tell_unused(spec, ("parentQueue", "resources", "priority", "displayName"), "a Queue", name(item), notes)
            amounts: dict[str, dict[str, Fraction]] = {"quota": {}, "limit": {}, "overQuotaWeight": {}}
            for key, part in spec["resources"].pairs():
                resource, unit = UNITS.get(key, (key, Fraction(1)))
                weight = part["overQuotaWeight"].amount(missing=1)
                if weight or part["quota"].number() != -1:  # nothing is beyond a quota without bound
                    amounts["overQuotaWeight"][resource] = weight
                for bound in ("quota", "limit"):
                    if bound in part and part[bound].number() != -1:
                        amounts[bound][resource] = part[bound].amount() * unit
                    elif bound == "quota" and bound in part:
                        notes.unused("quota without bound: nothing is promised beyond a fair share", name(item))
            weights = amounts["overQuotaWeight"]
            alike = len(set(weights.values())) <= 1
            found.append(
                QueueNode(
                    name(item),
                    spec["parentQueue"].text(),
                    next(iter(weights.values()), Fraction(1)) if alike else weights,
                    amounts["quota"],
                    amounts["limit"],
                    int(spec["priority"].number()) - PRIORITY if "priority" in spec else 0,
                )
            )
    return found


def _queue_of(objects: Objects) -> Callable[[Pod], str | None]:
    return lambda pod: next((pod.labels[label] for label in LABELS if label in pod.labels), None)


read = System("kai", _queues, _queue_of).read
