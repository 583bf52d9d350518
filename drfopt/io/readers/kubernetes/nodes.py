"""Nodes that take pods: what they have left beside what belongs to them, and whom they take."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from ...text.parts import TreePart
from ...writers.amounts import KUBERNETES
from ..conversion import ASSUMED, Amounts, ListedMachine, Notes, ReadOptions, Task
from .eligibility import NODE_NAME, SOFT, Features, features_of
from .gpu_parts import REGISTERS, registered, tell_counted
from .objects import Objects, annotations, labels, name
from .pods import Pod

__all__ = ["listed", "machines_of", "nodes", "tasks"]

KINDS = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type", "nvidia.com/gpu.product")
"""Labels that say what a node is sold as, the best first."""


def nodes(objects: Objects, pods: Iterable[Pod], notes: Notes) -> list[ListedMachine]:
    """Return the nodes that are ready and take pods, less what fixed pods ask of them.

    Parameters
    ----------
    pods : iterable of Pod
        The fixed ones are subtracted; the labels that the others look at are kept.
    """
    pods = list(pods)
    looked_at = set().union(*(pod.needs.labels for pod in pods if not pod.fixed))
    belongs: dict[str, list[Pod]] = {}
    for pod in pods:
        if pod.fixed and pod.node is not None:
            belongs.setdefault(pod.node, []).append(pod)
        elif pod.fixed:
            notes.no_task("pod that is no user's task and has no node yet", f"{pod.namespace}/{pod.name}", pod.count)
    found = []
    for item in objects.take("Node"):
        reason = _out_of_use(item)
        if reason:
            notes.no_machine(f"node that {reason}", name(item))
            continue
        there = labels(item) | {NODE_NAME: name(item)}
        taints = list(item["spec"]["taints"].each())
        if any(taint["effect"].text() == SOFT for taint in taints):
            notes.unused(f"taint that only asks ({SOFT})", name(item))
        features = features_of(there, taints, looked_at)
        marks = dict(features.labels) | {f"{key} {effect}": value or "yes" for key, value, effect in features.taints}
        kind = next((there[label] for label in KINDS if label in there), "")
        capacity = _left(item, belongs.pop(name(item), []), notes)
        found.append(ListedMachine(name(item), capacity, kind, features, marks))
    for home, some in belongs.items():
        notes.no_task("fixed pod on a node that is not in use or not listed", f"{some[0].name} on {home}", len(some))
    return found


def listed(objects: Objects, asked: ReadOptions) -> Iterator[Amounts]:
    """Yield what each node has, or each machine of another file, or the pool of that."""
    if asked.given:
        yield from (machine.capacity for machine in asked.machines or ())
        yield asked.pool or {}
    else:
        yield from map(_has, objects.take("Node"))


def machines_of(
    objects: Objects, pods: list[Pod], bounds: Iterable[Iterable[str]], asked: ReadOptions, notes: Notes
) -> tuple[list[ListedMachine], ReadOptions]:
    """Return the nodes listed, or the machines of another file in the words of Kubernetes, and what is asked in them.

    Parameters
    ----------
    bounds : iterable of iterables of str
        Resources that quotas or queues bound.
    """
    bounded = set().union(*bounds)
    tell_counted([(pod.demand, pod.annotations) for pod in pods], bounded, notes)
    used = {resource for pod in pods for resource in pod.demand} | bounded
    asked = asked.called(KUBERNETES, used, notes)
    looked_at = set().union(*(pod.needs.labels for pod in pods))

    def features(called: str, labels: Mapping[str, str]) -> Features:
        return features_of({**labels, NODE_NAME: called}, (), looked_at)

    return asked.nodes(nodes(objects, pods, notes), features, notes), asked


def tasks(pods: Iterable[Pod], user_of: dict[int, str]) -> list[Task]:
    """Return the pods that are no fixed ones as tasks; `user_of` has the user of each by its ``id``."""
    return [
        Task(user_of[id(pod)], pod.demand, pod.count, pod.needs, pod.owner, pod.node)
        for pod in pods
        if not pod.fixed and id(pod) in user_of
    ]


def _out_of_use(item: TreePart) -> str:
    if item["spec"]["unschedulable"].true():
        return "is cordoned off"
    for condition in item["status"]["conditions"].each():
        if condition["type"].text() == "Ready" and condition["status"].text() != "True":
            return "is not ready"
    return ""


def _has(item: TreePart) -> dict[str, Fraction]:
    status = item["status"]
    return status["allocatable" if "allocatable" in status else "capacity"].amounts()


def _left(item: TreePart, pods: list[Pod], notes: Notes) -> dict[str, Fraction]:
    """Return what a node can allocate, less what belongs to it."""
    if "allocatable" not in item["status"]:
        notes.assumed("node can allocate all that it has: it does not say how much", name(item))
    capacity = _has(item)
    for mark, resource in REGISTERS.items():
        if (number := registered(annotations(item).get(mark, ""))) and resource in capacity:
            # What such a node can allocate are shares: so many of each GPU.
            capacity[resource] = Fraction(number)
            notes.assumed(f"{resource}: as many as the GPUs that the node registers", name(item))
    for pod in pods:
        for resource, amount in pod.demand.items():
            if amount > capacity.get(resource, 0):
                notes.assumed(f"node has no {resource} left: its fixed pods ask for more than it has", name(item))
            capacity[resource] = max(Fraction(0), capacity.get(resource, Fraction(0)) - amount)
    if pods:
        notes.no_task("pod that stays where it is: subtracted from its node", pods[0].name, len(pods), ASSUMED)
    return capacity
