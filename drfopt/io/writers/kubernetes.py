"""A ClusterQueue of Kueue for each user, a Cohort for each group: what she is given is her nominal quota.

A ceiling is what may be borrowed beyond that: of a group, beyond what its members have together.

A ResourceQuota of Kubernetes for each user: what she is given is the most that her namespace may request.

Objects of Kubernetes as YAML documents, below comments that say where they come from.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import repeat
from typing import Any

from ...model.allocation import Allocation
from ..native.writing import yaml_text
from .amounts import Names, TargetName, kubernetes, kueue, quantity
from .exports import by_resource, dns_label, left_out, unique_names, weight_texts

__all__ = ["cluster_queues", "document", "heading", "resource_quotas"]


def document(version: str, kind: str, metadata: Mapping[str, Any], spec: Mapping[str, Any]) -> str:
    """Return one object as a document of its own."""
    return "---\n" + yaml_text({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec})


def heading(allocation: Allocation, lines: Iterable[str]) -> str:
    """Return comments: the policy and the instance, and what was lost to rounding."""
    kind = "whole tasks" if allocation.integer else "divisible tasks"
    title = f" of {allocation.instance.name}" if allocation.instance.name else ""
    said = [f"{allocation.policy}, {kind}{title}", *lines]
    return "".join(f"# {line}\n" for text in said for line in text.splitlines())


VERSION = "kueue.x-k8s.io/v1beta2"
FLAVOR = "default-flavor"
COHORT = "fair"
PLACES = 3
"""Kueue computes with thousandths of a weight."""


def cluster_queues(allocation: Allocation, names: Names, lines: list[str]) -> str:
    """Return a ResourceFlavor and the ClusterQueues as YAML; a queue has the name of its user in small letters.

    Raises
    ------
    InstanceError
        On names of users or resources that Kubernetes does not take.
    """
    shares = kueue(allocation, names)
    targets = shares.targets
    lines += shares.lines
    queues = unique_names(allocation.users, dns_label, "queue", lines)
    lines += left_out(allocation, "ceilings", "groups", "weights of 0")
    weights = _weights(allocation, lines)
    cohorts = _cohorts(allocation, lines)
    documents = [document(VERSION, "ResourceFlavor", {"name": FLAVOR}, {})]
    organisation = allocation.instance.organisation
    n = allocation.instance.n
    paths = organisation.paths if organisation is not None else ("",) * n
    groups = organisation.groups if organisation is not None else ()
    for tree, weight in zip(groups, weights, strict=False):
        spec = {"parentName": cohorts[tree.parent]} | _sharing(weight)
        if ceiling := shares.in_steps(tree.ceiling):
            inside = [
                row for row, path in zip(shares.steps, paths, strict=True) if f"{path}/".startswith(f"{tree.name}/")
            ]
            together = [sum(column) for column in zip(*inside, strict=True)] or [0] * len(targets)
            most = {j: amount - together[j] for j, amount in ceiling.items()}
            spec["resourceGroups"] = [_quota({j: targets[j] for j in ceiling}, [0] * len(targets), most)]
        documents.append(document(VERSION, "Cohort", {"name": cohorts[tree.name]}, spec))
    ceilings = organisation.ceilings if organisation is not None else ({},) * n
    lines += shares.cut([*(group.ceiling for group in groups), *ceilings])
    for user, queue, row, weight, path, ceiling in zip(
        allocation.users,
        queues,
        shares.steps,
        weights[len(groups) :],
        paths,
        map(shares.in_steps, ceilings),
        strict=True,
    ):
        most = {j: amount - row[j] for j, amount in ceiling.items()}
        group = _quota(dict(enumerate(targets)), row, most)
        spec = {"cohortName": cohorts[path], "namespaceSelector": {}, "resourceGroups": [group]} | _sharing(weight)
        documents.append(document(VERSION, "ClusterQueue", {"name": queue, "annotations": {"drfopt/user": user}}, spec))
    return heading(allocation, lines) + "".join(documents)


def _quota(targets: Mapping[int, TargetName], nominal: Sequence[int], borrowed: Mapping[int, int]) -> dict[str, Any]:
    """Return a resource group: nominal quotas, and the most that may be borrowed where there is a bound."""
    resources = [
        {"name": target.name, "nominalQuota": quantity(nominal[j], target)}
        | ({"borrowingLimit": quantity(max(borrowed[j], 0), target)} if j in borrowed else {})
        for j, target in targets.items()
    ]
    return {
        "coveredResources": [target.name for target in targets.values()],
        "flavors": [{"name": FLAVOR, "resources": resources}],
    }


def _cohorts(allocation: Allocation, lines: list[str]) -> dict[str, str]:
    """Return the name of the cohort of every group, and of the whole under the empty path."""
    organisation = allocation.instance.organisation
    paths = [group.name for group in organisation.groups] if organisation is not None else []
    names = unique_names(paths, dns_label, "cohort", lines, repeat("group"))
    whole = COHORT
    while whole in names:
        whole += "-all"
    return {"": whole, **dict(zip(paths, names, strict=True))}


def _sharing(weight: str) -> dict[str, Any]:
    return {} if weight == "1" else {"fairSharing": {"weight": weight}}


def _weights(allocation: Allocation, lines: list[str]) -> list[str]:
    """Return the weights of groups, and then of users, as texts."""
    instance, organisation = allocation.instance, allocation.instance.organisation
    last = organisation.last if organisation is not None else (False,) * instance.n
    groups = [Fraction(group.weight) for group in organisation.groups] if organisation is not None else []
    if not_known := by_resource(allocation, "Kueue"):
        lines += not_known
        own = [Fraction(1)] * instance.n
    else:
        own = [Fraction(0) if late else weight for late, weight in zip(last, instance.exact_weights, strict=True)]
    return weight_texts([*groups, *own], PLACES, lines)


def resource_quotas(allocation: Allocation, names: Names, lines: list[str]) -> str:
    """Return the quotas as YAML; the namespace of a user has her name in small letters.

    Raises
    ------
    InstanceError
        On names of users or resources that Kubernetes does not take.
    """
    shares = kubernetes(allocation, names)
    targets = shares.targets
    lines += shares.lines
    homes = unique_names(allocation.users, dns_label, "namespace", lines)
    lines += left_out(allocation, weights=False)
    documents = []
    for user, home, row in zip(allocation.users, homes, shares.steps, strict=True):
        hard = {
            target.name if target.name == "pods" else f"requests.{target.name}": quantity(amount, target)
            for target, amount in zip(targets, row, strict=True)
        }
        metadata = {"name": "fair-share", "namespace": home, "annotations": {"drfopt/user": user}}
        documents.append(document("v1", "ResourceQuota", metadata, {"hard": hard}))
    return heading(allocation, lines) + "".join(documents)
