"""A ResourceQuota of Kubernetes for each user: what she is given is the most that her namespace may request."""

from collections.abc import Mapping

from ...model.allocation import Allocation
from .amounts import dns_label, exact_amounts, kubernetes, quantity, rounded, shortfall, unique_names
from .kubernetes_yaml import document, heading

__all__ = ["text"]


def text(allocation: Allocation, names: Mapping[str, str]) -> str:
    """Return the quotas as YAML; the namespace of a user has her name in small letters.

    Raises
    ------
    InstanceError
        On names of users or resources that Kubernetes does not take.
    """
    targets = kubernetes(allocation, names)
    amounts = exact_amounts(allocation.usage)
    steps = rounded(amounts, allocation.instance.exact_capacity, targets)
    homes = unique_names(allocation.users, dns_label, "namespace")
    documents = []
    for user, home, row in zip(allocation.users, homes, steps, strict=True):
        hard = {
            target.name if target.name == "pods" else f"requests.{target.name}": quantity(amount, target)
            for target, amount in zip(targets, row, strict=True)
        }
        metadata = {"name": "fair-share", "namespace": home, "annotations": {"drfopt/user": user}}
        documents.append(document("v1", "ResourceQuota", metadata, {"hard": hard}))
    return heading(allocation, shortfall(amounts, steps, targets)) + "".join(documents)
