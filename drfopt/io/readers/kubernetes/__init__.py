"""Kubernetes: nodes, pods and quotas, as ``kubectl get nodes,pods,resourcequotas -A -o json`` prints them.

A node is a machine with what it can allocate; cordoned ones and those that are not ready are left out, and what belongs
to a node (pods of a DaemonSet, static pods) is subtracted from it. A pod is a task with the requests that the scheduler
counts; pods of a namespace, or of what ``--user-by`` names, are the tasks of one user, unlike ones as different types.
Where they may run follows from nodeSelector, required node affinity, taints and tolerations. Pods that run or wait are
demand; those with a node are the current allocation. A ResourceQuota is a ceiling of its namespace. Where only owners
are listed (Deployment, StatefulSet, ReplicaSet, Job), their replicas stand for the pods. cpu is in cores, memory in
bytes.
"""

from collections.abc import Sequence
from fractions import Fraction

from ....base.errors import InstanceError
from ...text.files import File
from ..conversion import Contents, Notes, ReadOptions, named
from .eligibility import ANYWHERE, allows, missing
from .gpus import of_one_device
from .nodes import listed, machines_of, tasks
from .objects import Objects, name, namespace
from .pods import Pod, pods

__all__ = ["SOURCE", "USERS", "ceilings", "read"]

PREFIX = "requests."
PLAIN = ("cpu", "memory", "ephemeral-storage", "pods")
"""Resources that may stand without the prefix."""


def ceilings(objects: Objects, notes: Notes) -> dict[str, dict[str, Fraction]]:
    """Return the ceilings of each namespace with a quota; of several quotas on a resource the lowest counts."""
    found: dict[str, dict[str, Fraction]] = {}
    for item in objects.take("ResourceQuota"):
        title = f"{namespace(item)}/{name(item)}"
        if item["spec"]["scopes"] or item["spec"]["scopeSelector"]:
            notes.unused("quota for some of the pods only (it has scopes)", title)
            continue
        for key, part in item["spec"]["hard"].pairs():
            resource = key.removeprefix(PREFIX)
            if not key.startswith((PREFIX, "hugepages-")) and key not in PLAIN:
                notes.unused(f"quota on {key}", title)
                continue
            ceiling = found.setdefault(namespace(item), {})
            ceiling[resource] = min(part.amount(), ceiling.get(resource, part.amount()))
    return found


def _count_fixed(pod: Pod, ceiling: dict[str, Fraction], notes: Notes) -> None:
    """Take what a fixed pod uses off the ceiling of its namespace, which it counts against as all others do."""
    if bounded := pod.demand.keys() & ceiling:
        notes.assumed("pod that stays where it is: taken off its namespace's quota", f"{pod.namespace}/{pod.name}")
    for resource in bounded:
        ceiling[resource] = max(Fraction(0), ceiling[resource] - pod.demand[resource])


USERS = ("namespace", "label:KEY", "annotation:KEY")

SOURCE = "{what} ({files}): nodes {nodes:,}, pods {pods:,}; cpu in cores, memory in bytes"


def read(files: Sequence[File], asked: ReadOptions) -> Contents:
    """Read nodes, pods and quotas.

    Parameters
    ----------
    files : sequence of File
        In any order.
    asked : ReadOptions
        Users by ``namespace`` (the default), ``label:KEY`` or ``annotation:KEY``.

    Raises
    ------
    InstanceError
        With file and place.
    """
    notes = Notes()
    objects = Objects(files, notes)
    objects.refuse_loose()
    found = of_one_device(pods(objects, notes), listed(objects, asked), notes)
    user_by = asked.user_by or "namespace"
    users = {id(pod): _user(pod, user_by, notes) for pod in found}
    quotas = ceilings(objects, notes)
    if user_by != "namespace" and quotas:
        notes.unused("quota of a namespace: users are not namespaces", next(iter(quotas)), len(quotas))
        quotas = {}
    for pod in found:
        if pod.fixed and pod.node is not None and pod.namespace in quotas:
            _count_fixed(pod, quotas[pod.namespace], notes)
    machines, asked = machines_of(objects, found, [*quotas.values()], asked, notes)
    objects.tell_rest()
    return Contents(
        f"kubernetes, {files[0].stem}",
        SOURCE.format(
            what="Kubernetes",
            pods=sum(pod.count for pod in found),
            nodes=sum(machine.count for machine in machines),
            files=named(files),
        ),
        machines,
        tasks(found, users),
        notes,
        allows,
        pool=asked.pool,
        members={namespace: {"ceiling": ceiling} for namespace, ceiling in quotas.items()},
        shape=asked.shape,
        wants=lambda queue: ANYWHERE,
        missing=missing,
    )


def _user(pod: Pod, user_by: str, notes: Notes) -> str:
    kind, _, key = user_by.partition(":")
    if user_by == "namespace":
        return pod.namespace
    if kind not in ("label", "annotation") or not key:
        raise InstanceError(f"users by {user_by!r}: use {', '.join(USERS)}")
    found = (pod.labels if kind == "label" else pod.annotations).get(key)
    if found:
        return found
    if not pod.fixed:
        notes.assumed(f"pod without the {kind} {key}: its user is 'no {key}'", f"{pod.namespace}/{pod.name}", pod.count)
    return f"no {key}"
