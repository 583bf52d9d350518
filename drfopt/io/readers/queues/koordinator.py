"""Koordinator: ``kubectl get nodes,pods -A -o json`` and ``kubectl get elasticquotas -A -o yaml``.

    min                                                guarantee
    max                                                ceiling
    annotation quota.scheduling.koordinator.sh/shared-weight   weight, by resource; 0 of one that it does not name, and
                                                       without it, or with zeros alone, the max is the weight
    label quota.scheduling.koordinator.sh/parent       the group above

A pod is in the quota that its label ``quota.scheduling.koordinator.sh/name`` names; or in the one that has the name of
its namespace, or names that in its annotation ``namespaces``, or is the only one there; or in the default one, where no
quota has that name either. The default one is served first: the others divide what its pods leave, but for guarantees.
The annotation ``total-resource`` of the root of a tree of quotas is a ceiling, too, and says where no node is listed
what there is to divide; several trees are added up. Trees do not share: the quotas in none are a group, ``no tree``, of
what is left of the nodes beside the totals of the trees that have no label ``ignore-default-tree``.

Source: Koordinator, pkg/scheduler/plugins/elasticquota/quota_handler.go (handlerQuotaWhenRoot),
core/group_quota_manager.go (updateClusterTotalResourceNoLock), plugin_helper.go (getPodAssociateQuotaName).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from functools import partial

from ...native.syntax import trees
from ...text.files import File
from ...text.parts import TreePart
from ..conversion import Contents, Notes, ReadOptions
from ..kubernetes.objects import Objects, annotations, labels, name, namespace
from ..kubernetes.pods import Pod
from .tree import UNLISTED, QueueNode, System, below

__all__ = ["read"]

PREFIX = "quota.scheduling.koordinator.sh/"
MARKS = (
    "parent",
    "is-parent",
    "tree-id",
    "is-root",
    "ignore-default-tree",
    "allow-lent-resource",
    "shared-weight",
    "total-resource",
    "namespaces",
)
"""Labels and annotations of a quota that are used, or follow from the tree."""

TOP = "koordinator-root-quota"
DEFAULT = "koordinator-default-quota"
REST = "no tree"
"""The group of the quotas in no tree: no quota has a space in its name."""

SYSTEM = "koordinator-system-quota"
OWN_QUOTAS = (DEFAULT, SYSTEM)
"""Quotas whose use is taken off what the others divide."""

UNBOUNDED = 2**62 // 1000
"""From here on a maximum is none: who means no bound writes half of the largest integer, in thousandths."""


def _queues(objects: Objects, notes: Notes, given: bool) -> list[QueueNode]:
    found = []
    items = objects.take("ElasticQuota")
    parents = _parents(items, notes)
    totals = [_total(item) for item in items]
    if not given and not objects.take("Node") and sum(map(bool, totals)) == 1:
        totals = [{} for _ in totals]  # That tree is all there is.
    for item, parent, weight, total in zip(items, parents, _weights(items, parents), totals, strict=True):
        marks = labels(item)
        for key in labels(item) | annotations(item):
            if key.startswith(PREFIX) and key.removeprefix(PREFIX) not in MARKS:
                notes.unused(f"{key.removeprefix(PREFIX)} of a quota", name(item))
        if marks.get(f"{PREFIX}allow-lent-resource") == "false":
            notes.unused("guarantee that is not lent: here it is, while nobody of the quota needs it", name(item))
        found.append(
            QueueNode(
                name(item),
                parent,
                weight,
                item["spec"]["min"].amounts(),
                _least(item["spec"]["max"].amounts(), total),
                priority=int(name(item) == DEFAULT),
                group=_is_parent(item),
            )
        )
    return found


def _parents(items: list[TreePart], notes: Notes) -> list[str]:
    """Return the quota above each; where there are trees, `REST` above the first of those in none.

    Of the default quota Koordinator has no bound but its maximum.
    """
    above, trees_of = ([labels(item).get(f"{PREFIX}{key}", "") for item in items] for key in ("parent", "tree-id"))
    totals = list(map(_total, items))
    roots = {tree: name(item) for item, tree, total in zip(items, trees_of, totals, strict=True) if total}
    found = []
    for item, parent, tree, total in zip(items, above, trees_of, totals, strict=True):
        if not roots or total or name(item) in (TOP, DEFAULT) or parent not in ("", TOP):
            found.append(parent)
            continue
        if tree in roots and tree:
            notes.assumed("quota of a tree that names none above it is below the root of the tree", name(item))
        elif tree:
            notes.assumed(
                "quota of a tree without total-resource divides what is left for those in no tree", name(item)
            )
        found.append(roots[tree] if tree in roots and tree else REST)
    return found


def _weights(items: list[TreePart], parents: list[str]) -> list[Fraction | Mapping[str, Fraction]]:
    """Return the weights of each quota by resource: amounts, of which only the proportion among siblings counts.

    Koordinator's own quotas divide nothing with others.
    """
    parts: list[Mapping[str, Fraction]] = []
    siblings: dict[str, list[Mapping[str, Fraction]]] = defaultdict(list)
    for item, parent in zip(items, parents, strict=True):
        told = _annotated(item, "shared-weight").amounts()
        parts.append(told if any(told.values()) else item["spec"]["max"].amounts())
        if name(item) not in OWN_QUOTAS:
            siblings[parent or TOP].append(parts[-1])
    means = {}
    for parent, alike in siblings.items():
        total: dict[str, Fraction] = {}
        for resource, weight in (pair for one in alike for pair in one.items()):
            total[resource] = total.get(resource, Fraction(0)) + weight
        means[parent] = {resource: all_of_it / len(alike) for resource, all_of_it in total.items() if all_of_it}
    relative = [
        {resource: weights.get(resource, Fraction(0)) / mean for resource, mean in means[parent or TOP].items()}
        if name(item) not in OWN_QUOTAS
        else {}
        for item, parent, weights in zip(items, parents, parts, strict=True)
    ]
    return [next(iter(one.values()), Fraction(1)) if len(set(one.values())) <= 1 else one for one in relative]


def _queue_of(objects: Objects) -> Callable[[Pod], str | None]:
    items = objects.take("ElasticQuota")
    homes, known = _homes(items), set(map(name, items))

    def queue_of(pod: Pod) -> str | None:
        quota = pod.labels.get(f"{PREFIX}name") or homes.get(pod.namespace)
        if quota not in known and DEFAULT in known:
            return DEFAULT
        return None if quota == SYSTEM else quota

    return queue_of


def _homes(items: list[TreePart]) -> dict[str, str]:
    """Return the quota of the pods of each namespace that name none."""
    leaves = [item for item in items if not _is_parent(item)]
    lying = Counter(map(namespace, leaves))
    homes = {namespace(item): name(item) for item in leaves if lying[namespace(item)] == 1}
    for item in leaves:
        homes |= {part.text(): name(item) for part in _annotated(item, "namespaces").each()}
    return homes | {name(item): name(item) for item in leaves if name(item) == namespace(item)}


def _is_parent(item: TreePart) -> bool:
    return labels(item).get(f"{PREFIX}is-parent") == "true"


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


def _beyond(
    objects: Objects,
    queues: list[QueueNode],
    tasks: Mapping[str, int],
    there: Mapping[str, Fraction] | None,
    notes: Notes,
) -> tuple[list[QueueNode], Collection[str]]:
    """Return the quotas with the group of those in no tree, which has what the trees leave of what is `there`.

    Where nothing but the trees says what there is, those in none are left out.
    """
    if DEFAULT in tasks:
        promised = any(queue.minimum for queue in queues if queue.name != DEFAULT)
        but = ", but for what they are guaranteed, which comes before" if promised else ""
        notes.assumed(
            f"default quota is served first: the others divide what its pods leave{but}", DEFAULT, tasks[DEFAULT]
        )
    roots = [item for item in objects.take("ElasticQuota") if _total(item)]
    if not roots:
        return queues, ()
    known = {queue.name for queue in queues}
    named = dict.fromkeys([*(queue.parent for queue in queues), *tasks])
    unlisted = [called for called in named if called not in known | {REST, TOP, DEFAULT, ""}]
    for called in unlisted:
        notes.assumed(UNLISTED, called)
    queues = [*queues, *(QueueNode(called, REST) for called in unlisted)]
    if there is None:
        rest = [*below(REST, queues), DEFAULT]
        for called in rest:
            what = "in no tree: no node is listed, so what such quotas divide is not known"
            if called in tasks:
                notes.no_task(f"pod of a quota {what}", called, tasks[called])
            elif called in known:
                notes.unused(f"quota {what}", called)
        return [queue for queue in queues if queue.name not in rest], rest
    first = [queue for queue in queues if queue.parent == REST]
    if not first:
        return queues, ()
    if DEFAULT in tasks:
        notes.assumed("what the default quota uses is not taken off what is left for others in no tree", DEFAULT)
    ceiling = dict[str, Fraction]()
    for item in roots:
        if labels(item).get(f"{PREFIX}ignore-default-tree") == "true":
            notes.assumed("tree that takes nothing from what is in none (ignore-default-tree)", name(item))
            continue
        for resource, amount in _total(item).items():
            ceiling[resource] = ceiling.get(resource, there.get(resource, Fraction(0))) - amount
    for resource, left in ceiling.items():
        # What is promised is there even where trees leave less.
        ceiling[resource] = max(left, sum((queue.minimum.get(resource, Fraction(0)) for queue in first), Fraction(0)))
    return [*queues, QueueNode(REST, maximum=ceiling)], ()


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
    return System("koordinator", queues, _queue_of, pool=_pool, beyond=_beyond, top=TOP, surplus=True).read(
        files, asked
    )
