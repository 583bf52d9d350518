"""KAI: ``kubectl get nodes,pods -A -o json`` and ``kubectl get queues.scheduling.run.ai -o yaml``.

    quota           guarantee (cpu in thousandths of a core, memory in 10^6 bytes, gpu in devices; -1 for no bound)
    limit           ceiling; where it is not written, the quota
    overQuotaWeight weight, by resource; where it is not written, 0
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
                # Nothing is beyond a quota without bound, or one that is the limit.
                weight = part["overQuotaWeight"].amount(missing=int("limit" not in part))
                if weight or part["quota"].number() != -1:
                    amounts["overQuotaWeight"][resource] = weight
                if "quota" in part and part["quota"].number() != -1:
                    amounts["quota"][resource] = part["quota"].amount() * unit
                elif "quota" in part:
                    notes.unused("quota without bound: nothing is promised beyond a fair share", name(item))
                limit = part["limit" if "limit" in part else "quota"]
                if limit.number() != -1:
                    amounts["limit"][resource] = limit.amount(missing=0) * unit
            for key in [key for key in UNITS if key not in spec["resources"]]:
                notes.assumed(
                    f"Queue that says nothing of {key} may use any amount, where KAI lets it have none", name(item)
                )
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
