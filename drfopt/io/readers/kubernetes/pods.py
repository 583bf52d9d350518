"""Pods, and what makes pods where none are listed: who asks for how much, and where it runs.

What a pod asks of its node, as the scheduler of Kubernetes counts it.

    containers   together, with the sidecars (init containers with ``restartPolicy: Always``)
    ordinary init containers, one after the other, each beside the sidecars that were started before it
    the larger of the two, resource by resource; what the pod as a whole asks for replaces it
    plus the overhead of its runtime, plus one pod

A limit stands for the request that is missing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...text.parts import TreePart
from ..conversion import Notes
from .eligibility import PodNeeds, needs_of
from .objects import Objects, annotations, labels, name, namespace

__all__ = ["Pod", "demand", "pod_of", "pods"]


Amounts = dict[str, Fraction]


def demand(spec: TreePart) -> Amounts:
    """Return the requests of a pod with this ``spec``; cpu in cores, memory in bytes, pods 1."""
    if not spec["initContainers"] and not spec["overhead"] and not spec["resources"]:
        return _sum(_together(spec), {"pods": Fraction(1)})
    sidecars: Amounts = {}
    starting: Amounts = {}
    for container in spec["initContainers"].each():
        asked = _requests(container["resources"])
        if container["restartPolicy"].text() == "Always":
            sidecars = _sum(sidecars, asked)
            starting = _larger(starting, sidecars)
        else:
            starting = _larger(starting, _sum(sidecars, asked))
    total = _larger(_sum(sidecars, _together(spec)), starting)
    whole = spec["resources"]
    total |= {resource: limit for resource, limit in whole["limits"].amounts().items() if resource not in total}
    total |= whole["requests"].amounts()
    return _sum(_sum(total, spec["overhead"].amounts()), {"pods": Fraction(1)})


def _together(spec: TreePart) -> Amounts:
    running: Amounts = {}
    for container in spec["containers"].each():
        asked = _requests(container["resources"])
        running = _sum(running, asked) if running else asked
    return running


def _requests(resources: TreePart) -> Amounts:
    return resources["limits"].amounts() | resources["requests"].amounts()


def _sum(one: Amounts, other: Amounts) -> Amounts:
    return one | {resource: one.get(resource, Fraction(0)) + amount for resource, amount in other.items()}


def _larger(one: Amounts, other: Amounts) -> Amounts:
    return one | {resource: max(one.get(resource, Fraction(0)), amount) for resource, amount in other.items()}


FINISHED = ("Succeeded", "Failed")

OWNERS: tuple[tuple[str, str], ...] = (
    ("Deployment", "replicas"),
    ("StatefulSet", "replicas"),
    ("ReplicaSet", "replicas"),
    ("ReplicationController", "replicas"),
    ("Job", "parallelism"),
)
"""Kinds that make pods of a template, and what says how many."""

MIRROR = "kubernetes.io/config.mirror"
"""The annotation of a pod that a node started by itself."""

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

GENERATION = "pod-template-hash"
"""The label with which a Deployment tells its generations apart: the end of their names."""

NOT_MODELLED: tuple[tuple[str, str, Callable[[TreePart], Any]], ...] = (
    ("affinity to or against other pods", "affinity", lambda part: _any(part, "podAffinity", "podAntiAffinity")),
    ("preferred node affinity", "affinity", lambda part: part["nodeAffinity"][PREFERRED]),
    ("spread over the topology", "topologySpreadConstraints", lambda part: list(part.each())),
    ("claim for a device", "resourceClaims", lambda part: list(part.each())),
    ("priority", "priority", lambda part: part.number()),
    ("priority", "priorityClassName", lambda part: part.text()),
    (
        "volume that may be tied to nodes",
        "volumes",
        lambda part: any("persistentVolumeClaim" in v for v in part.each()),
    ),
    (
        "port of the node",
        "containers",
        lambda part: any("hostPort" in p for c in part.each() for p in c["ports"].each()),
    ),
)
"""What a pod may ask for and no instance can say: in words, the key of its spec, and whether that asks for it."""


@dataclass(frozen=True)
class Pod:
    """A pod, or several of one template.

    Attributes
    ----------
    fixed : bool
        Whether it belongs to its node (of a DaemonSet, or static), and is no task that could run elsewhere.
    scheduler : str
        Who places it, where it says so.
    """

    name: str
    namespace: str
    owner: str
    labels: dict[str, str]
    annotations: dict[str, str]
    demand: dict[str, Fraction]
    needs: PodNeeds
    node: str | None = None
    fixed: bool = False
    count: int = 1
    scheduler: str = ""


def pods(objects: Objects, notes: Notes) -> list[Pod]:
    """Return the pods that run or wait; where no pods are listed, those that their owners would make."""
    listed = objects.take("Pod")
    found = []
    for item in listed:
        phase = item["status"]["phase"].text("Pending")
        if phase in FINISHED:
            notes.unused("pod that has ended", f"{namespace(item)}/{name(item)}, {phase}")
        else:
            found.append(pod_of(item, notes))
    owners = list(_owners(objects))
    if listed:
        for kind, _, item in owners:
            notes.unused(f"{kind}: its pods are counted", f"{namespace(item)}/{name(item)}")
        return found
    for _, count, item in owners:
        template = item["spec"]["template"]
        found.append(pod_of(template, notes, owner=item, count=count))
    return found


def pod_of(item: TreePart, notes: Notes, owner: TreePart | None = None, count: int = 1) -> Pod:
    """Return a pod, or `count` of the template of an owner."""
    spec = item["spec"]
    home = item if owner is None else owner
    told = f"{namespace(home)}/{name(home)}"
    for what in dict.fromkeys(what for what, key, asked in NOT_MODELLED if key in spec and asked(spec[key])):
        notes.unused(f"{what} of a pod", told, count)
    found, marks = labels(item), annotations(item)
    first = next(item["metadata"]["ownerReferences"].each(), None)
    kind = first["kind"].text() if first is not None else ""
    called = name(home) if first is None else first["name"].text()
    return Pod(
        name(home),
        namespace(home),
        called.removesuffix(f"-{found.get(GENERATION, '')}"),
        found,
        marks,
        demand(spec),
        needs_of(spec),
        spec["nodeName"].text() or None,
        kind in ("DaemonSet", "Node") or MIRROR in marks,
        count,
        spec["schedulerName"].text(),
    )


def _owners(objects: Objects) -> Iterator[tuple[str, int, TreePart]]:
    """Yield the kind, the number of pods and the object of everything that makes pods and has no owner of its own."""
    for kind, size in OWNERS:
        for item in objects.take(kind):
            if not item["metadata"]["ownerReferences"]:
                yield kind, item["spec"][size].count(missing=1), item


def _any(part: TreePart, *keys: str) -> Any:
    return any(key in part for key in keys)
