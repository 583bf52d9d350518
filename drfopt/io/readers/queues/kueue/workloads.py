"""What wants to run under Kueue: Workloads with their pod sets, or pods that name their LocalQueue."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple, Self

from ....text.parts import TreePart
from ...conversion import Notes, Task
from ...kubernetes.eligibility import ANYWHERE, PodNeeds
from ...kubernetes.objects import Objects, name, namespace, tell_unused
from ...kubernetes.pods import demand as requests
from ...kubernetes.pods import pod_of, pods
from .quotas import API, Key, QuotaNode, Quotas, tell_stopped

__all__ = ["PODS", "LocalQueues", "QueueNeeds", "local_queues", "tasks"]

PODS = "pods"

QUEUE = "kueue.x-k8s.io/queue-name"

DONE = ("Finished",)
ADMITTED = ("Admitted", "QuotaReserved")
"""Conditions of a workload that is over, and of one that has its quota."""


class QueueNeeds(NamedTuple):
    """What has to be so where a task runs.

    Attributes
    ----------
    queue : str
        The ClusterQueue whose quota it takes.
    pod : PodNeeds
        What its pods ask of a node.
    uncovered : tuple of str
        Resources that it needs and of which the queue has no quota: it is never admitted.
    """

    queue: str
    pod: PodNeeds = ANYWHERE
    uncovered: tuple[str, ...] = ()

    @classmethod
    def of(cls, queue: QuotaNode, demand: dict[str, Fraction], pod: PodNeeds = ANYWHERE) -> Self:
        """Return the needs of a task; pods are counted only where a queue has a quota of them."""
        covered = {PODS, *(resource for _, resource in queue.nominal)}
        return cls(queue.name, pod, tuple(resource for resource in demand if resource not in covered))


@dataclass(frozen=True)
class LocalQueues:
    """The LocalQueues by namespace and name: of which ClusterQueue each is, and its weight there.

    Attributes
    ----------
    users : bool
        Whether they are the users, and not their ClusterQueues.
    """

    queues: Mapping[tuple[str, str], tuple[str, Fraction]]
    users: bool = False

    def queue(self, place: str, called: str) -> str:
        """Return the ClusterQueue of one, empty where it is not listed."""
        return self.queues.get((place, called), ("", Fraction(1)))[0]

    def user(self, queue: str, place: str, called: str) -> str:
        """Return whose the tasks of a LocalQueue are."""
        return f"{place}/{called}" if self.users and (place, called) in self.queues else queue

    def queue_of(self, user: str) -> str:
        """Return the ClusterQueue of a user."""
        place, _, called = user.partition("/")
        return (self.queue(place, called) if self.users else "") or user


def local_queues(objects: Objects, users: bool, notes: Notes) -> LocalQueues:
    """Return the LocalQueues that are listed."""
    found = {}
    for item in objects.take("LocalQueue", API):
        weight = item["spec"]["fairSharing"]["weight"]
        tell_stopped(item, notes)
        if weight and not users:
            notes.unused(
                "weight of a LocalQueue: users are ClusterQueues, see user_by localqueue (--user-by)", name(item)
            )
        found[namespace(item), name(item)] = (item["spec"]["clusterQueue"].text(), weight.amount(missing=1))
    return LocalQueues(found, users)


def tasks(
    objects: Objects,
    forest: Quotas,
    classes: Mapping[tuple[str, str], str],
    local: LocalQueues,
    saturate: bool,
    notes: Notes,
) -> tuple[list[Task], Collection[str]]:
    """Return tasks with their `QueueNeeds`, and the queues that want ever more.

    Parameters
    ----------
    classes : mapping from (root, flavor) to the name of the class of that quota
        Where an admitted workload is.
    saturate : bool
        Whether queues without tasks are given some elsewhere.
    """
    workloads = objects.take("Workload", API)
    if not workloads:
        return _of_pods(objects, forest, classes, local, saturate, notes)
    for pod in pods(objects, Notes(), literal=True):
        notes.unused("pod, or what makes some: the Workloads are counted", f"{pod.namespace}/{pod.name}", pod.count)
    found: list[Task] = []
    excluded = _excluded(workloads, forest)
    for item in workloads:
        text = f"{namespace(item)}/{name(item)}"
        held = _conditions(item)
        if held & set(DONE):
            notes.no_task("Workload that has ended", text)
            continue
        if item["spec"]["active"] and not item["spec"]["active"].true():
            notes.no_task("Workload that is not active", text)
            continue
        tell_unused(item["spec"], ("podSets", "queueName", "active"), "a Workload", text, notes)
        admission = item["status"]["admission"]
        asked = item["spec"]["queueName"].text()
        queue = admission["clusterQueue"].text() or local.queue(namespace(item), asked)
        if queue not in forest.queues:
            what, which = ("ClusterQueue", queue) if queue else ("queue", asked)
            notes.no_task(f"Workload whose {what} is not listed", f"{text}, {what} {which!r}")
            continue
        root = forest.root(forest.queues[queue]).name
        assignments = {one["name"].text("main"): one for one in admission["podSetAssignments"].each()}
        ended = {one["name"].text("main"): one["count"].count() for one in item["status"]["reclaimablePods"].each()}
        for part in item["spec"]["podSets"].each():
            tell_unused(part, ("name", "count", "template"), "a pod set", text, notes)
            count = part["count"].count(missing=1)
            if over := min(count, ended.get(part["name"].text("main"), 0)):
                notes.no_task("pod of a Workload that has ended (reclaimablePods)", text, over)
            pod = pod_of(part["template"], notes, [item], count - over, literal=True)
            for resource in pod.demand.keys() & excluded:
                notes.unused(f"{resource} of a Workload: others that ask for it are admitted without a quota", text)
            pod = replace(pod, demand={r: amount for r, amount in pod.demand.items() if r not in excluded})
            assigned = assignments.get(part["name"].text("main")) if held & set(ADMITTED) else None
            flavors = [flavor.text() for _, flavor in assigned["flavors"].pairs()] if assigned else []
            home = next((classes[root, flavor] for flavor in flavors if (root, flavor) in classes), None)
            # Of what has not ended run as many as were admitted.
            running = min(pod.count, assigned["count"].count(missing=pod.count)) if assigned else pod.count
            title = f"{name(item)}/{part['name'].text()}".rstrip("/")
            user = local.user(queue, namespace(item), asked)
            needs = QueueNeeds.of(forest.queues[queue], pod.demand, pod.needs)
            found.append(Task(user, pod.demand, running, needs, title, home))
            if rest := pod.count - running:
                notes.assumed("pod that waits, of a Workload that is admitted in part", text, rest)
                found.append(Task(user, pod.demand, rest, needs, title))
    return found, ()


def _excluded(workloads: Iterable[TreePart], forest: Quotas) -> set[str]:
    """Return what Kueue is configured not to count (excludeResourcePrefixes): it is admitted without a quota."""
    found: set[str] = set()
    for item in workloads:
        queue = forest.queues.get(item["status"]["admission"]["clusterQueue"].text())
        if queue is not None and _conditions(item) & set(ADMITTED):
            for part in item["spec"]["podSets"].each():
                found |= set(QueueNeeds.of(queue, requests(part["template"]["spec"])).uncovered)
    return found


def _conditions(item: TreePart) -> set[str]:
    return {one["type"].text() for one in item["status"]["conditions"].each() if one["status"].text() == "True"}


def _of_pods(
    objects: Objects,
    forest: Quotas,
    classes: Mapping[tuple[str, str], str],
    local: LocalQueues,
    saturate: bool,
    notes: Notes,
) -> tuple[list[Task], Collection[str]]:
    """Return the pods that name a LocalQueue, or whose owner does; without any, what every queue uses, or its quota."""
    found: list[Task] = []
    for pod in pods(objects, notes, literal=True):
        asked = pod.labels.get(QUEUE, "")
        queue = local.queue(pod.namespace, asked)
        if queue in forest.queues:
            user = local.user(queue, pod.namespace, asked)
            needs = QueueNeeds.of(forest.queues[queue], pod.demand, pod.needs)
            found.append(Task(user, pod.demand, pod.count, needs, pod.owner))
        else:
            called = f", LocalQueue {pod.labels[QUEUE]}" if QUEUE in pod.labels else ""
            notes.no_task("pod in no queue that is listed", f"{pod.namespace}/{pod.name}{called}", pod.count)
    if found or saturate or local.users:
        return found, ()
    for queue, quota in forest.queues.items():
        amounts = {"uses": quota.used, "has as quota": quota.nominal}
        what = next((key for key, some in amounts.items() if any(some.values())), None)
        if what is None:
            notes.unused("queue without quota, use and tasks", queue)
            continue
        notes.assumed(f"no Workload is listed: a queue wants ever more of what it {what}", queue)
        root, flavors = forest.root(quota).name, [flavor for flavor, _ in quota.nominal]
        for flavor, demand in _mix(quota, amounts[what], forest).items():
            # What a queue uses is what it runs.
            home = classes.get((root, flavor or flavors[0])) if what == "uses" else None
            found.append(Task(queue, demand, 1, QueueNeeds(queue), flavor, home))
    return found, forest.queues.keys()


def _mix(quota: QuotaNode, amounts: Mapping[Key, Fraction], forest: Quotas) -> dict[str, dict[str, Fraction]]:
    """Return amounts by flavor, each a task of its own, or added up where the flavors of the queue are no classes."""
    apart = forest.apart(forest.root(quota))
    demands: dict[str, dict[str, Fraction]] = {}
    for (flavor, resource), amount in amounts.items():
        if amount:
            demand = demands.setdefault(flavor if apart else "", {})
            demand[resource] = demand.get(resource, Fraction(0)) + amount
    return demands
