"""Pods, and what makes pods where none are listed: who asks for how much, and where it runs.

What a pod asks of its node, as the scheduler of Kubernetes counts it.

    containers   together, with the sidecars (init containers with ``restartPolicy: Always``)
    ordinary init containers, one after the other, each beside the sidecars that were started before it
    the larger of the two, resource by resource; what the pod as a whole asks for replaces it
    plus the overhead of its runtime, plus one pod

A limit stands for the request that is missing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from ...text.parts import TreePart
from ..conversion import Notes
from .eligibility import PodNeeds, needs_of
from .gpu_parts import device_memory, on_devices
from .objects import OWNERS, Objects, Template, annotations, labels, name, namespace

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

RESIZED = ("PodResizePending", "PodResizeInProgress")
"""Conditions of a pod whose requests were changed while it runs, of which it has not all yet, or still more."""

VOLCANO_QUEUE = "scheduling.volcano.sh/queue-name"
"""The annotation that says the queue of a pod; of a Job of Volcano, its spec does."""

ENDED = ("Complete", "Completed", "Failed", "Finished", "Succeeded", "SuccessCriteriaMet", "Aborted", "Terminated")
"""Conditions and phases of what makes no pods any more."""


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
    ("scheduling gate", "schedulingGates", lambda part: list(part.each())),
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

PRIORITIES = (
    "kueue.x-k8s.io/priority-class",
    "priorityClassName",
    "ray.io/priority-class-name",
    "koordinator.sh/priority-class",
    "koordinator.sh/priority",
)
"""Labels of pods and of what makes them that say a priority; of KAI it is the second one."""


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


def pods(objects: Objects, notes: Notes, literal: bool = False) -> list[Pod]:
    """Return the pods that run or wait, and those that owners without any would make.

    Where pods are listed, of owners only those count that hold theirs back: suspended, or waiting for their queue.
    Parts of GPUs are parts of devices, or `literal` amounts of what is asked for.
    """
    owners = _Owners(objects)
    listed = objects.take("Pod")
    memory = device_memory(objects)
    found = []
    makers: set[tuple[str, str, str]] = set()
    for item in listed:
        phase = item["status"]["phase"].text("Pending")
        makers |= {owner.key for owner in owners.above(item)}
        if phase in FINISHED:
            notes.no_task("pod that has ended", f"{namespace(item)}/{name(item)}, {phase}")
        elif item["metadata"]["deletionTimestamp"] and not item["spec"]["nodeName"]:
            notes.no_task("pod that is deleted before it runs", f"{namespace(item)}/{name(item)}")
        else:
            for one in item["status"]["conditions"].each():
                if one["type"].text() in RESIZED and one["status"].text() == "True":
                    notes.assumed("pod that is being resized has what it is to have", f"{namespace(item)}/{name(item)}")
            found.append(
                pod_of(item, notes, [owner.item for owner in owners.above(item)], literal=literal, memory=memory)
            )
    for owner in owners.listed:
        item, title = owner.item, f"{namespace(owner.item)}/{name(owner.item)}"
        if _has_ended(item):
            notes.no_task(f"{owner.kind} that has ended", title)
        elif owners.above(item):
            continue  # its pods are those of the owner above it
        elif owner.key in makers:
            notes.unused(f"{owner.kind}: its pods are counted", title)
        elif listed and not _held_back(item):
            notes.no_task(f"{owner.kind} none of whose pods is listed, beside pods that are", title)
        else:
            if owner.kind == "Job" and "minAvailable" in item["spec"]:
                notes.unused("gang of a Job: that many of its pods start together or none (minAvailable)", title)
            if any("dependsOn" in task for task in item["spec"]["tasks"].each()):
                notes.unused("order of the tasks of a Job (dependsOn): they are there at once", title)
            for part, count, template in owner.templates(item["spec"]):
                found.append(pod_of(template, notes, [item], _still(item, count, part), part, literal, memory))
    return found


def _still(item: TreePart, count: int, part: str) -> int:
    """Return how many pods of an owner are to come; of a Job no more than it has completions left."""
    if _is_volcano(item):
        phases = item["status"]["taskStatusCount"][part]["phase"]
        return max(0, count - sum(phases[phase].count() for phase in FINISHED))
    completions = item["spec"]["completions"]
    return min(count, max(0, completions.count() - item["status"]["succeeded"].count())) if completions else count


def pod_of(
    item: TreePart,
    notes: Notes,
    above: Sequence[TreePart] = (),
    count: int | None = None,
    part: str = "",
    literal: bool = False,
    memory: Mapping[str, Fraction] = MappingProxyType({}),
) -> Pod:
    """Return a pod, or `count` of a template of the first of those `above` it; `memory` is that of each GPU.

    Labels and annotations of those above it are its own where it has none of that key: a queue is named on either.
    """
    spec = item["spec"]
    home = item if count is None else above[0]
    number = 1 if count is None else count
    title = f"{namespace(home)}/{name(home)}"
    asked_for = [what for what, key, asked in NOT_MODELLED if key in spec and asked(spec[key])]
    asked_for += ["priority" for owner in above if _is_volcano(owner) and owner["spec"]["priorityClassName"]]
    for what in dict.fromkeys(asked_for):
        notes.unused(f"{what} of a pod", title, number)
    found, marks = labels(item), annotations(item)
    for owner in above:
        found, marks = labels(owner) | found, annotations(owner) | marks
        queue = owner["spec"]["queue"] if _is_volcano(owner) else None
        if queue is not None:
            marks.setdefault(VOLCANO_QUEUE, queue.text("default"))
    for label in PRIORITIES:
        if found.get(label):
            notes.unused(f"priority of a pod (label {label})", title, number)
    first = next(item["metadata"]["ownerReferences"].each(), None)
    kind = first["kind"].text() if first is not None else ""
    called = name(home) if first is None else first["name"].text()
    scheduler = spec["schedulerName"].text()
    return Pod(
        f"{name(home)}/{part}".rstrip("/"),
        namespace(home),
        f"{called.removesuffix(f'-{found.get(GENERATION, _NONE)}')}/{part}".rstrip("/"),
        found,
        marks,
        demand(spec) if literal else on_devices(demand(spec), marks, memory, title, notes),
        needs_of(spec),
        spec["nodeName"].text() or None,
        kind in ("DaemonSet", "Node") or MIRROR in marks,
        number,
        scheduler or next((owner["spec"]["schedulerName"].text() for owner in above if _is_volcano(owner)), ""),
    )


_NONE = "\n"
"""No generation: no name ends so."""


@dataclass(frozen=True)
class _Owner:
    kind: str
    item: TreePart
    templates: Callable[[TreePart], Iterator[Template]]

    @property
    def key(self) -> tuple[str, str, str]:
        return namespace(self.item), self.kind, name(self.item)


class _Owners:
    """Everything listed that makes pods, and who is above whom."""

    def __init__(self, objects: Objects):
        self.listed = [
            _Owner(kind, item, templates)
            for kind, groups, templates in OWNERS
            for group in groups
            for item in objects.take(kind, group)
        ]
        self._by_key = {owner.key: owner for owner in self.listed}

    def above(self, item: TreePart) -> list[_Owner]:
        """Return the owners of an object that are listed, the nearest first."""
        found: list[_Owner] = []
        place = namespace(item)
        while True:
            references = [
                (place, one["kind"].text(), one["name"].text()) for one in item["metadata"]["ownerReferences"].each()
            ]
            owner = next((self._by_key[key] for key in references if key in self._by_key), None)
            if owner is None or owner in found:
                return found
            found.append(owner)
            item = owner.item


def _is_volcano(item: TreePart) -> bool:
    return item["apiVersion"].text().startswith("batch.volcano.sh/")


def _has_ended(item: TreePart) -> bool:
    status = item["status"]
    state = status["state"]
    phase = state["phase"].text() if isinstance(state.value, dict) else ""
    over = {one["type"].text() for one in status["conditions"].each() if one["status"].text() == "True"}
    return phase in ENDED or bool(over & set(ENDED))


def _held_back(item: TreePart) -> bool:
    """Return whether an owner makes no pods yet, and will."""
    spec, state = item["spec"], item["status"]["state"]
    # Kubeflow's jobs have a policy that says so.
    return any(part["suspend"].value is True for part in (spec, spec["runPolicy"])) or (
        _is_volcano(item) and isinstance(state.value, dict) and state["phase"].text() in ("Pending", "Inqueue")
    )


def _any(part: TreePart, *keys: str) -> Any:
    return any(key in part for key in keys)
