"""Queues of YuniKorn, Volcano, KAI and Koordinator: one for each user and each group, what is given as its minimum.

    YuniKorn     resources.guaranteed, resources.max, properties priority.offset    queues.yaml; it has no weights
    Volcano      spec.deserved, capability, weight, parent, priority                a Queue each
    KAI          resources.*.quota, limit, overQuotaWeight; parentQueue, priority   a Queue each
    Koordinator  spec.min, max; shared-weight, parent                               an ElasticQuota each

A group has what its members have together. A ceiling of the instance is the maximum.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm
from typing import Any

from ...base.errors import InstanceError
from ...base.numbers.shown import counted
from ...model.allocation import Allocation
from ..native.writing import yaml_text
from .amounts import Names, Shares, kai, kubernetes, quantity, yunikorn
from .exports import by_resource, dns_label, left_out, unique_names
from .kubernetes import document, heading

__all__ = [
    "PRIORITY",
    "RULES",
    "ExportedQueue",
    "elastic_quotas",
    "exported_queues",
    "kai_queues",
    "refuse_root",
    "volcano_queues",
    "whole_weights",
    "yunikorn_queues",
]

RULES = ("ceilings", "groups", "weights of 0")
"""What files of queues say of an instance's rules."""

ALL_RULES = (*RULES, "tiers")

ROOT = "root"
"""What the queue, or account, above all others is called in most programs."""

PRIORITY = 100
"""What KAI takes for the priority of a Queue that says none (DefaultQueuePriority in its constants)."""

LARGEST_WEIGHT = 10**6
"""Weights that are whole numbers there are scaled to at most this."""

ABOVE_NONE = 1_000
"""Where a weight of 0 has to be 1, what the least of the others is."""


@dataclass(frozen=True)
class ExportedQueue:
    """A queue of another program: a user's, or a group's.

    Attributes
    ----------
    label : str
        What it is called there; within its parent where names are paths.
    full : str
        The labels from the root, with dots between them.
    path, parent : str
        Of a group its path in the instance and that of the group above; of a user `parent` is its group.
    user : str or None
        None for a group.
    steps, ceiling : mapping from the number of a target to whole steps
    weight : Fraction
    weights : mapping from the number of a target to Fraction
        Where they differ by resource.
    tier : int
    """

    label: str
    full: str
    path: str
    parent: str
    user: str | None
    steps: Mapping[int, int]
    ceiling: Mapping[int, int]
    weight: Fraction = Fraction(1)
    weights: Mapping[int, Fraction] | None = None
    tier: int = 0


def exported_queues(
    allocation: Allocation,
    shares: Shares,
    clean: Callable[[str], str],
    lines: list[str],
    rules: tuple[str, ...],
    flat: bool = False,
) -> list[ExportedQueue]:
    """Return a queue for each group, parents first, and for each user.

    Parameters
    ----------
    clean : callable (str) -> str
        What a name becomes there.
    lines : list of str
        What is called otherwise, rounded or left out is added to it.
    rules : tuple of str
        The instance's rules that the file says, such as ``ceilings``; others are named as left out.
    flat : bool
        Whether a name must be the only one of all; otherwise of those in one parent.

    Raises
    ------
    InstanceError
        Where two would have the same name, or one would have none.
    """
    lines += shares.lines
    instance, organisation = allocation.instance, allocation.instance.organisation
    groups = organisation.groups if organisation is not None else ()
    paths = organisation.paths if organisation is not None else ("",) * instance.n
    # A queue that was read from such a tree is called by its whole path: within its parent the last part will do.
    short = [user if flat else _within(user, path) for user, path in zip(instance.users, paths, strict=True)]
    labels: dict[tuple[str, str], str] = {}
    everyone = [
        ("group", group.name, group.name if flat else group.name.rpartition("/")[2], group.parent) for group in groups
    ]
    everyone += [("user", user, own, path) for user, own, path in zip(instance.users, short, paths, strict=True)]
    for parent in [""] if flat else dict.fromkeys(one[3] for one in everyone):
        some = [one for one in everyone if flat or one[3] == parent]
        given = _labels([one[2] for one in some], [one[0] for one in some], clean, lines)
        labels |= {(kind, name): label for (kind, name, _, _), label in zip(some, given, strict=True)}
    full = {"": ""}
    found = []
    for group in groups:
        label = labels["group", group.name]
        full[group.name] = f"{full[group.parent]}.{label}".lstrip(".")
        inside = [i for i, path in enumerate(paths) if f"{path}/".startswith(f"{group.name}/")]
        steps = {j: sum(shares.steps[i][j] for i in inside) for j in range(len(shares.targets))}
        ceiling = shares.in_steps(group.ceiling)
        found.append(
            ExportedQueue(
                label,
                full[group.name],
                group.name,
                group.parent,
                None,
                steps,
                ceiling,
                Fraction(group.weight),
                None,
                group.tier,
            )
        )
    for i, (user, path) in enumerate(zip(instance.users, paths, strict=True)):
        label = labels["user", user]
        last = organisation is not None and organisation.last[i]
        weight, weights = _weights(allocation, shares, i)
        found.append(
            ExportedQueue(
                label,
                f"{full[path]}.{label}".lstrip("."),
                "",
                path,
                user,
                dict(enumerate(shares.steps[i])),
                shares.in_steps(organisation.ceilings[i]) if organisation is not None else {},
                Fraction(0) if last else weight,
                weights,
                organisation.tiers[i] if organisation is not None else 0,
            )
        )
    if organisation is not None and "ceilings" in rules:
        lines += shares.cut([*(group.ceiling for group in groups), *organisation.ceilings])
    lines += left_out(allocation, *rules)
    return found


def _within(user: str, path: str) -> str:
    return user.removeprefix(f"{path.replace('/', '.')}.").removeprefix(f"{path}/") if path else user


def _labels(names: list[str], kinds: list[str], clean: Callable[[str], str], lines: list[str]) -> list[str]:
    if len(set(names)) == len(names):
        return unique_names(names, clean, "queue", lines, kinds)
    twice = next(name for name in names if names.count(name) > 1)
    raise InstanceError(f"a group and a user would both be queue {clean(twice)!r}: rename one of them")


def _weights(allocation: Allocation, shares: Shares, i: int) -> tuple[Fraction, Mapping[int, Fraction] | None]:
    instance = allocation.instance
    if not instance.weights_per_resource:
        return instance.exact_weights[i], None
    columns = [instance.resources.index(resource) for resource in shares.resources]
    own: Any = instance.exact_weights[i]
    return Fraction(1), {j: own[column] if isinstance(own, tuple) else own for j, column in enumerate(columns)}


def whole_weights(weights: Sequence[Fraction], lines: list[str]) -> list[int]:
    """Return weights as whole numbers of at least 1 in the same proportions, as far as `LARGEST_WEIGHT` allows.

    Beside a weight of 0, which is written as 1, those above 0 are made large.
    """
    positive = [weight for weight in weights if weight]
    scale = Fraction(lcm(*(weight.denominator for weight in positive))) if positive else Fraction(1)
    scale /= gcd(*(int(weight * scale) for weight in positive)) if positive else 1
    if len(positive) < len(weights):
        scale *= ABOVE_NONE
    if positive and max(positive) * scale > LARGEST_WEIGHT:
        scale = LARGEST_WEIGHT / max(positive)
        if any((weight * scale).denominator > 1 for weight in positive):
            lines.append(f"weights are rounded to whole numbers up to {LARGEST_WEIGHT:,}")
    found = [max(1, round(weight * scale)) for weight in weights]
    if positive and len(positive) < len(weights):
        least = min(whole for whole, weight in zip(found, weights, strict=True) if weight)
        lines.append(f"a weight of 0 is written as 1, and the least of the others as {least:,}")
    return found


def refuse_root(queues: Iterable[ExportedQueue]) -> None:
    """Refuse a queue that would be taken for the one above all, or stand beside it under its name.

    Raises
    ------
    InstanceError
    """
    for queue in queues:
        if queue.label == ROOT:
            owner = f"group {queue.path!r}" if queue.user is None else f"user {queue.user!r}"
            raise InstanceError(f"{owner} would be called {ROOT!r}, as the one above all is: rename it")


def _quantities(steps: Mapping[int, int], shares: Shares) -> dict[str, str]:
    return {shares.targets[j].name: quantity(amount, shares.targets[j]) for j, amount in steps.items()}


# ---- one file each -----------------------------------------------------------------------------------------


def yunikorn_queues(allocation: Allocation, names: Names, lines: list[str]) -> str:
    """Return ``queues.yaml`` of YuniKorn; a dot in a name becomes a hyphen.

    Raises
    ------
    InstanceError
        On names of users or resources that YuniKorn does not take.
    """
    shares = yunikorn(allocation, names)
    queues = exported_queues(allocation, shares, _part_of_path, lines, ALL_RULES)
    refuse_root(queue for queue in queues if not queue.parent)
    owners: dict[str, str] = {}
    for queue in queues:
        owner = f"group {queue.path!r}" if queue.user is None else f"user {queue.user!r}"
        if (other := owners.setdefault(queue.full.lower(), owner)) != owner:
            raise InstanceError(f"{other} and {owner} would both be queue {queue.full.lower()!r}: rename one of them")
    queues = _under_parents(queues, lines)
    if allocation.instance.weights_per_resource or len({queue.weight for queue in queues}) > 1:
        lines.append("weights are not written: YuniKorn has none")

    def below(parent: str) -> list[dict[str, Any]]:
        found = []
        for queue in queues:
            if queue.parent != parent:
                continue
            resources = {"guaranteed": _quantities(queue.steps, shares)}
            if queue.ceiling:
                resources["max"] = _quantities(queue.ceiling, shares)
            entry: dict[str, Any] = {"name": queue.label, "resources": resources}
            if queue.tier:
                entry["properties"] = {"priority.offset": str(queue.tier)}
            if queue.user is None:
                entry |= {"parent": True, "queues": below(queue.path)}
            found.append(entry)
        return found

    tree = {"partitions": [{"name": "default", "queues": [{"name": "root", "submitacl": "*", "queues": below("")}]}]}
    return heading(allocation, lines) + yaml_text(tree)


def _under_parents(queues: Iterable[ExportedQueue], lines: list[str]) -> list[ExportedQueue]:
    """Return the queues, parents first, with ceilings that are nowhere above those of the queues they are in."""
    most: dict[str, dict[int, int]] = {"": {}}
    found, cut = [], 0
    for queue in queues:
        above = most[queue.parent]
        ceiling = {j: min(amount, above.get(j, amount)) for j, amount in queue.ceiling.items()}
        cut += ceiling != queue.ceiling
        found.append(replace(queue, ceiling=ceiling))
        if queue.user is None:
            most[queue.path] = {**above, **ceiling}
    if cut:
        lines.append(f"ceilings above that of a group around them count as that: {counted(cut, 'queue')}")
    return found


def volcano_queues(allocation: Allocation, names: Names, lines: list[str]) -> str:
    """Return a Queue of Volcano for each group and user, as YAML.

    Raises
    ------
    InstanceError
        On names of users or resources that Kubernetes does not take.
    """
    shares = kubernetes(allocation, names)
    queues = exported_queues(allocation, shares, dns_label, lines, ALL_RULES, flat=True)
    refuse_root(queues)
    lines += by_resource(allocation, "Volcano")
    called = {queue.path: queue.label for queue in queues if queue.user is None}
    documents = []
    for queue, weight in zip(queues, whole_weights([queue.weight for queue in queues], lines), strict=True):
        spec: dict[str, Any] = {"weight": weight, "reclaimable": True, "deserved": _quantities(queue.steps, shares)}
        if queue.ceiling:
            spec["capability"] = _quantities(queue.ceiling, shares)
        if queue.parent:
            spec["parent"] = called[queue.parent]
        if queue.tier:
            spec["priority"] = queue.tier
        documents.append(document("scheduling.volcano.sh/v1beta1", "Queue", _metadata(queue), spec))
    return heading(allocation, lines) + "".join(documents)


def kai_queues(allocation: Allocation, names: Names, lines: list[str]) -> str:
    """Return a Queue of KAI for each group and user, as YAML, below one called root: a queue has one above it there.

    Raises
    ------
    InstanceError
        On names of users that Kubernetes does not take, or resources beside cpu, memory and gpu.
    """
    shares = kai(allocation, names)
    queues = exported_queues(allocation, shares, dns_label, lines, ALL_RULES, flat=True)
    refuse_root(queues)
    version = "scheduling.run.ai/v2"
    documents = [document(version, "Queue", {"name": ROOT}, {"resources": _unbounded(Fraction(1))})]
    called = {queue.path: queue.label for queue in queues if queue.user is None} | {"": ROOT}
    for queue in queues:
        resources = _unbounded(queue.weight)
        for j, target in enumerate(shares.targets):
            weight = queue.weights[j] if queue.weights is not None else queue.weight
            limit = queue.ceiling.get(j)
            resources[target.name] = {
                "quota": _plain(queue.steps[j] * target.step),
                "limit": -1 if limit is None else _plain(limit * target.step),
                "overQuotaWeight": _plain(weight),
            }
        spec: dict[str, Any] = {"parentQueue": called[queue.parent], "resources": resources}
        if queue.tier:
            spec["priority"] = PRIORITY + queue.tier
        documents.append(document(version, "Queue", _metadata(queue), spec))
    return heading(allocation, lines) + "".join(documents)


def _unbounded(weight: Fraction) -> dict[str, dict[str, Any]]:
    """Return what KAI lets a queue use that is not kept from anything: of what is not written it may use nothing."""
    return {name: {"quota": -1, "limit": -1, "overQuotaWeight": _plain(weight)} for name in ("cpu", "memory", "gpu")}


PREFIX = "quota.scheduling.koordinator.sh/"


def elastic_quotas(allocation: Allocation, names: Names, lines: list[str]) -> str:
    """Return an ElasticQuota of Koordinator for each group and user; without a ceiling its max is all there is.

    Raises
    ------
    InstanceError
        On names of users or resources that Kubernetes does not take.
    """
    shares = kubernetes(allocation, names)
    queues = exported_queues(allocation, shares, dns_label, lines, RULES, flat=True)
    instance = allocation.instance
    whole = shares.in_steps(dict(zip(instance.resources, instance.exact_capacity, strict=True)))
    called = {queue.path: queue.label for queue in queues if queue.user is None}
    # All zeros are no weights there, and memory's are rounded up to whole ones.
    told: list[str] = []
    columns = [
        whole_weights([queue.weights[j] if queue.weights else queue.weight for queue in queues], told)
        for j in range(len(shares.targets))
    ]
    lines += dict.fromkeys(told)
    documents = []
    for queue, *weights in zip(queues, *columns, strict=True):
        metadata = _metadata(queue)
        metadata["namespace"] = "kube-system"
        metadata["labels"] = {f"{PREFIX}is-parent": str(queue.user is None).lower()}
        if queue.parent:
            metadata["labels"][f"{PREFIX}parent"] = called[queue.parent]
        shared = {target.name: str(weight) for target, weight in zip(shares.targets, weights, strict=True)}
        metadata["annotations"] = metadata.get("annotations", {}) | {f"{PREFIX}shared-weight": json.dumps(shared)}
        most = {j: queue.ceiling.get(j, whole[j]) for j in whole}
        spec = {"min": _quantities(queue.steps, shares), "max": _quantities(most, shares)}
        documents.append(document("scheduling.sigs.k8s.io/v1alpha1", "ElasticQuota", metadata, spec))
    return heading(allocation, lines) + "".join(documents)


def _part_of_path(name: str) -> str:
    return re.sub(r"[^\w:#/@-]+", "-", name, flags=re.ASCII).strip("-")[:64]


def _metadata(queue: ExportedQueue) -> dict[str, Any]:
    marks = {"drfopt/user": queue.user} if queue.user is not None else {"drfopt/group": queue.path}
    return {"name": queue.label, "annotations": marks}


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
