"""Koordinator: ``kubectl get nodes,pods -A -o json`` and ``kubectl get elasticquotas -A -o yaml``.

    min                                                guarantee
    max                                                ceiling
    annotation quota.scheduling.koordinator.sh/shared-weight   weight, by resource; 0 of one that it does not name, and
                                                       without it, or with zeros alone, the max is the weight
    label quota.scheduling.koordinator.sh/parent       the group above

A pod is in the quota that its label ``quota.scheduling.koordinator.sh/name`` names; or in the one that has the name of
its namespace, or names that in its annotation ``namespaces``, or is the only one there; or in the default one. The
annotation ``total-resource`` of the root of a tree of quotas is a ceiling, too, and says where no node is listed what
there is to divide; several trees are added up.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial

from ...native.syntax import trees
from ...text.files import File
from ...text.parts import TreePart
from ..conversion import Contents, Notes, ReadOptions
from ..kubernetes.objects import Objects, annotations, labels, name, namespace
from ..kubernetes.pods import Pod
from .tree import QueueNode, System

__all__ = ["read"]

PREFIX = "quota.scheduling.koordinator.sh/"
MARKS = (
    "parent",
    "is-parent",
    "tree-id",
    "is-root",
    "allow-lent-resource",
    "shared-weight",
    "total-resource",
    "namespaces",
)
"""Labels and annotations of a quota that are used, or follow from the tree."""

TOP = "koordinator-root-quota"
DEFAULT = "koordinator-default-quota"
SYSTEM_QUOTAS = ("koordinator-system-quota",)

UNBOUNDED = 2**62 // 1000
"""From here on a maximum is none: who means no bound writes half of the largest integer, in thousandths."""


def _queues(objects: Objects, notes: Notes, given: bool) -> list[QueueNode]:
    found = []
    weights = _weights(objects.take("ElasticQuota"))
    totals = [_total(item) for item in objects.take("ElasticQuota")]
    if not given and not objects.take("Node") and sum(map(bool, totals)) == 1:
        totals = [{} for _ in totals]  # That tree is all there is.
    for item, weight, total in zip(objects.take("ElasticQuota"), weights, totals, strict=True):
        marks = labels(item)
        for key in labels(item) | annotations(item):
            if key.startswith(PREFIX) and key.removeprefix(PREFIX) not in MARKS:
                notes.unused(f"{key.removeprefix(PREFIX)} of a quota", name(item))
        if marks.get(f"{PREFIX}allow-lent-resource") == "false":
            notes.unused("guarantee that is not lent: here it is, while nobody of the quota needs it", name(item))
        found.append(
            QueueNode(
                name(item),
                _parent(item),
                weight,
                item["spec"]["min"].amounts(),
                _least(item["spec"]["max"].amounts(), total),
            )
        )
    return found


def _weights(items: list[TreePart]) -> list[Fraction | Mapping[str, Fraction]]:
    """Return the weights of each quota by resource: amounts, of which only the proportion among siblings counts."""
    parts = []
    siblings: dict[str, list[Mapping[str, Fraction]]] = defaultdict(list)
    for item in items:
        told = _annotated(item, "shared-weight").amounts()
        parts.append(told if any(told.values()) else item["spec"]["max"].amounts())
        siblings[_parent(item) or TOP].append(parts[-1])
    means = {}
    for parent, alike in siblings.items():
        total: dict[str, Fraction] = {}
        for resource, weight in (pair for one in alike for pair in one.items()):
            total[resource] = total.get(resource, Fraction(0)) + weight
        means[parent] = {resource: all_of_it / len(alike) for resource, all_of_it in total.items() if all_of_it}
    relative = [
        {resource: weights.get(resource, Fraction(0)) / mean for resource, mean in means[_parent(item) or TOP].items()}
        for item, weights in zip(items, parts, strict=True)
    ]
    return [next(iter(one.values()), Fraction(1)) if len(set(one.values())) <= 1 else one for one in relative]


def _parent(item: TreePart) -> str:
    return labels(item).get(f"{PREFIX}parent", "")


def _queue_of(objects: Objects) -> Callable[[Pod], str | None]:
    homes = _homes(objects.take("ElasticQuota"))
    default = next((DEFAULT for item in objects.take("ElasticQuota") if name(item) == DEFAULT), None)

    def queue_of(pod: Pod) -> str | None:
        quota = pod.labels.get(f"{PREFIX}name") or homes.get(pod.namespace, default)
        return None if quota in SYSTEM_QUOTAS else quota

    return queue_of


def _homes(items: list[TreePart]) -> dict[str, str]:
    """Return the quota of the pods of each namespace that name none."""
    leaves = [item for item in items if labels(item).get(f"{PREFIX}is-parent") != "true"]
    lying = Counter(map(namespace, leaves))
    homes = {namespace(item): name(item) for item in leaves if lying[namespace(item)] == 1}
    for item in leaves:
        homes |= {part.text(): name(item) for part in _annotated(item, "namespaces").each()}
    return homes | {name(item): name(item) for item in leaves if name(item) == namespace(item)}


def _annotated(item: TreePart, key: str) -> TreePart:
    """Return what an annotation of a quota has, as JSON."""
    text, place = annotations(item).get(f"{PREFIX}{key}", ""), f"{item.place}: {key}"
    return TreePart(trees(text, place)[0] if text else None, place)


def _total(item: TreePart) -> dict[str, Fraction]:
    """Return what the tree of quotas below this one divides, where it is the root of one."""
    return _annotated(item, "total-resource").amounts()


def _least(most: dict[str, Fraction], total: dict[str, Fraction]) -> dict[str, Fraction]:
    bounds = {r: min(some) for r in most | total if (some := [one[r] for one in (most, total) if r in one])}
    return {r: bound for r, bound in bounds.items() if bound < UNBOUNDED}


def _pool(objects: Objects) -> dict[str, Fraction] | None:
    total: dict[str, Fraction] = {}
    for item in objects.take("ElasticQuota"):
        for resource, amount in _total(item).items():
            total[resource] = total.get(resource, Fraction(0)) + amount
    return total or None


def read(files: Sequence[File], asked: ReadOptions) -> Contents:
    """Read nodes, pods and quotas.

    Raises
    ------
    InstanceError
        With file and place.
    """
    queues = partial(_queues, given=asked.given)
    return System("koordinator", queues, _queue_of, pool=_pool, top=TOP, surplus=True).read(files, asked)
