"""KAI: ``kubectl get nodes,pods -A -o json`` and ``kubectl get queues.scheduling.run.ai -o yaml``.

    quota           guarantee (cpu in thousandths of a core, memory in 10^6 bytes, gpu in devices; -1 for no bound)
    limit           ceiling; where it is not written, the quota
    overQuotaWeight weight, by resource; where it is not written, 0
    priority        tier, above what a Queue has that says nothing
    parentQueue     the group above

A pod is in the queue that its label ``kai.scheduler/queue`` names.  Where tasks ask for MIG devices, queues have quotas
of a resource ``gpu``, of which a whole GPU is 1 and a device ``nvidia.com/mig-Xg.Ygb`` is X.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ...text.files import File
from ...writers.queues import PRIORITY
from ..conversion import Contents, Notes, ReadOptions
from ..kubernetes.objects import Objects, name, tell_unused
from ..kubernetes.pods import Pod
from .tree import QueueNode, System

__all__ = ["read"]

GROUPS = ("scheduling.run.ai", "scheduling.kai")
LABELS = ("kai.scheduler/queue", "runai/queue")

GPU, GPUS = "nvidia.com/gpu", "gpu"
"""Whole GPUs, and what a quota counts where there are MIG devices, too."""

MIG = re.compile(r"nvidia\.com/mig-([0-9]+)g\.")

UNITS = {
    "cpu": ("cpu", Fraction(1, 1000)),
    "memory": ("memory", Fraction(10**6)),
    "gpu": (GPU, Fraction(1)),
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
                tell_unused(part, amounts, f"{key} of a Queue", name(item), notes)
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


def read(files: Sequence[File], asked: ReadOptions) -> Contents:
    """Read nodes, pods and queues, and count MIG devices in quotas.

    Raises
    ------
    InstanceError
        With file and place.
    """
    found = System("kai", _queues, _queue_of, surplus=True).read(files, asked)
    devices = {resource for task in found.tasks for resource in task.demand if MIG.match(resource)}
    if not devices:
        return found
    found.notes.assumed("MIG devices count in quotas: gpu is all GPUs, one of nvidia.com/mig-Xg.Ygb is X", min(devices))
    return replace(
        found,
        nodes=[replace(node, capacity=_counted(node.capacity)) for node in found.nodes],
        tasks=[replace(task, demand=_counted(task.demand)) for task in found.tasks],
        pool=None if found.pool is None else _counted(found.pool),
        shape=_counted(found.shape),
        groups=[_in_gpus(group, devices) for group in found.groups],
        members={user: _in_gpus(keys, devices) for user, keys in found.members.items()},
    )


def _counted(amounts: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Return amounts with what a quota counts of them."""
    parts = [(amount, MIG.match(resource)) for resource, amount in amounts.items()]
    gpus = amounts.get(GPU, Fraction(0)) + sum((amount * int(m[1]) for amount, m in parts if m), Fraction(0))
    return {**amounts, **({GPUS: gpus} if gpus else {})}


def _in_gpus(entry: Mapping[str, Any], devices: set[str]) -> dict[str, Any]:
    """Return the keys of a user or group, bounds of whole GPUs as those of all, and weights of each kind of them."""
    kept = dict(entry)
    for key in ("guarantee", "ceiling", "weight"):
        amounts = kept.get(key)
        if isinstance(amounts, Mapping) and GPU in amounts:
            alike = dict.fromkeys((GPU, *sorted(devices)), amounts[GPU]) if key == "weight" else {}
            others = {resource: amount for resource, amount in amounts.items() if resource != GPU}
            kept[key] = {**others, GPUS: amounts[GPU], **alike}
    return kept
