"""Koordinator: ``kubectl get nodes,pods -A -o json`` and ``kubectl get elasticquotas -A -o yaml``.

    min                                                guarantee
    max                                                ceiling
    annotation quota.scheduling.koordinator.sh/shared-weight   weight, by resource
    label quota.scheduling.koordinator.sh/parent       the group above

A pod is in the quota that its label ``quota.scheduling.koordinator.sh/name`` names, or in that of its namespace. Where
no node is listed, the annotation ``total-resource`` of the root of a tree of quotas says what there is to divide;
several trees are added up.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from fractions import Fraction

from ...native.syntax import trees
from ...text.parts import TreePart
from ..conversion import Notes
from ..kubernetes.objects import Objects, annotations, labels, name, namespace
from ..kubernetes.pods import Pod
from .tree import QueueNode, System

__all__ = ["read"]

PREFIX = "quota.scheduling.koordinator.sh/"
MARKS = ("parent", "is-parent", "tree-id", "is-root", "allow-lent-resource", "shared-weight", "total-resource")
"""Labels and annotations of a quota that are used, or follow from the tree."""

SYSTEM_QUOTAS = ("koordinator-system-quota",)

UNBOUNDED = 2**62 // 1000
"""From here on a maximum is none: who means no bound writes half of the largest integer, in thousandths."""


def _queues(objects: Objects, notes: Notes) -> list[QueueNode]:
    found = []
    weights = _weights(objects.take("ElasticQuota"), notes)
    for item, weight in zip(objects.take("ElasticQuota"), weights, strict=True):
        marks = labels(item)
        for key in labels(item) | annotations(item):
            if key.startswith(PREFIX) and key.removeprefix(PREFIX) not in MARKS:
                notes.unused(f"{key.removeprefix(PREFIX)} of a quota", name(item))
        if marks.get(f"{PREFIX}allow-lent-resource") == "false":
            notes.unused("guarantee that is not lent: here it is, while nobody of the quota needs it", name(item))
        found.append(
            QueueNode(
                name(item),
                marks.get(f"{PREFIX}parent", ""),
                weight,
                item["spec"]["min"].amounts(),
                {r: most for r, most in item["spec"]["max"].amounts().items() if most < UNBOUNDED},
            )
        )
    return found


def _weights(items: list[TreePart], notes: Notes) -> list[Fraction | Mapping[str, Fraction]]:
    """Return the weights of each quota by resource: amounts, of which only the proportion to the mean has a meaning."""
    parts = []
    for item in items:
        text = annotations(item).get(f"{PREFIX}shared-weight", "")
        place = f"{item.place}: shared-weight"
        parts.append(TreePart(trees(text, place)[0], place).amounts() if text else {})
        if not text:
            notes.assumed("quota without shared-weight has weight 1, not its maximum", name(item))
    given: dict[str, list[Fraction]] = defaultdict(list)
    for weights in parts:
        for resource, weight in weights.items():
            given[resource].append(weight)
    mean = {resource: sum(some, Fraction(0)) / len(some) for resource, some in given.items()}
    relative = [{r: weight / mean[r] for r, weight in weights.items() if mean[r]} for weights in parts]
    return [next(iter(one.values()), Fraction(1)) if len(set(one.values())) <= 1 else one for one in relative]


def _queue_of(objects: Objects) -> Callable[[Pod], str | None]:
    homes: dict[str, str] = {}
    for item in objects.take("ElasticQuota"):
        homes.setdefault(namespace(item), name(item))

    def queue_of(pod: Pod) -> str | None:
        quota = pod.labels.get(f"{PREFIX}name") or homes.get(pod.namespace)
        return None if quota in SYSTEM_QUOTAS else quota

    return queue_of


def _pool(objects: Objects) -> dict[str, Fraction] | None:
    total: dict[str, Fraction] = {}
    for item in objects.take("ElasticQuota"):
        text = annotations(item).get(f"{PREFIX}total-resource", "")
        place = f"{item.place}: total-resource"
        for resource, amount in TreePart(trees(text, place)[0], place).amounts().items() if text else ():
            total[resource] = total.get(resource, Fraction(0)) + amount
    return total or None


read = System("koordinator", _queues, _queue_of, pool=_pool).read
