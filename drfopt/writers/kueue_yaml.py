"""A ClusterQueue of Kueue for each user in one cohort: what she is given is her nominal quota, and may be borrowed."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ..allocation import Allocation
from .amounts import dns_label, exact_amounts, kubernetes, quantity, rounded, shortfall, unique_names
from .kubernetes_yaml import document, heading

__all__ = ["text"]

VERSION = "kueue.x-k8s.io/v1beta2"
FLAVOR = "default-flavor"
COHORT = "fair"
PLACES = 3
"""Kueue computes with thousandths of a weight."""


def text(allocation: Allocation, names: Mapping[str, str]) -> str:
    """Return a ResourceFlavor and the ClusterQueues as YAML; a queue has the name of its user in small letters.

    Raises
    ------
    InstanceError
        On names of users or resources that Kubernetes does not take.
    """
    targets = kubernetes(allocation, names)
    amounts = exact_amounts(allocation.usage)
    steps = rounded(amounts, allocation.instance.exact_capacity, targets)
    queues = unique_names(allocation.users, dns_label, "queue")
    lines = shortfall(amounts, steps, targets)
    weights = _weights(allocation, lines)
    documents = [document(VERSION, "ResourceFlavor", {"name": FLAVOR}, {})]
    for user, queue, row, weight in zip(allocation.users, queues, steps, weights, strict=True):
        resources = [
            {"name": target.name, "nominalQuota": quantity(amount, target)}
            for target, amount in zip(targets, row, strict=True)
        ]
        group = {
            "coveredResources": [target.name for target in targets],
            "flavors": [{"name": FLAVOR, "resources": resources}],
        }
        spec: dict[str, Any] = {"cohortName": COHORT, "namespaceSelector": {}, "resourceGroups": [group]}
        if weight != 1:
            spec["fairSharing"] = {"weight": f"{float(round(weight, PLACES)):g}"}
        documents.append(document(VERSION, "ClusterQueue", {"name": queue, "annotations": {"drfopt/user": user}}, spec))
    return heading(allocation, lines) + "".join(documents)


def _weights(allocation: Allocation, lines: list[str]) -> list[Fraction]:
    instance = allocation.instance
    if instance.weights_per_resource:
        lines.append("weights differ by resource, which Kueue does not know: the queues have none")
        return [Fraction(1)] * instance.n
    weights = list(instance.exact_weights)
    if any(round(weight, PLACES) != weight for weight in weights):
        lines.append("weights are rounded to thousandths")
    return weights
