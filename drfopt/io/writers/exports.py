"""Exporters: an allocation as what other schedulers read; `EXPORTS` lists what ``drfopt export`` writes."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import repeat

from ...base.errors import InstanceError, listed, suggestion
from ...base.registry import Registry
from ...model.allocation import Allocation
from ...model.naming import some
from .amounts import Names

__all__ = [
    "EXPORTS",
    "Export",
    "by_resource",
    "decimal",
    "dns_label",
    "export",
    "left_out",
    "unique_names",
    "weight_texts",
]


@dataclass(frozen=True)
class Export:
    """A format in which an allocation is handed to another program.

    Parameters
    ----------
    name : str
        What ``--to`` calls it.
    summary : str
        One line on what it is.
    module : str
        The module of this folder whose ``text(allocation, names, lines)`` returns the file, and adds to `lines` what it
        calls otherwise, leaves out or rounds.
    """

    name: str
    summary: str
    module: str


EXPORTS = Registry(
    Export("csv", "a row for each user, on machines for each user and class: tasks and resources", "allocation_csv"),
    Export(
        "resourcequota",
        "a ResourceQuota of Kubernetes for each user, in the namespace of its name",
        "kubernetes:resource_quotas",
    ),
    Export(
        "kueue", "a ClusterQueue of Kueue for each user, its resources as nominal quota", "kubernetes:cluster_queues"
    ),
    Export("fair-scheduler", "fair-scheduler.xml of YARN: weights, and its resources as minimum", "fair_scheduler"),
    Export(
        "capacity-scheduler",
        "capacity-scheduler.xml of YARN: its dominant share as capacity, in percent that add up to 100",
        "fair_scheduler:capacities",
    ),
    Export(
        "yunikorn", "queues.yaml of YuniKorn: its resources as guaranteed, ceilings as max", "queues:yunikorn_queues"
    ),
    Export("volcano", "a Queue of Volcano for each user: its resources as deserved", "queues:volcano_queues"),
    Export("kai", "a Queue of KAI for each user: its resources as quota", "queues:kai_queues"),
    Export(
        "koordinator", "an ElasticQuota of Koordinator for each user: its resources as min", "queues:elastic_quotas"
    ),
    Export("slurm", "for sacctmgr load: its resources as GrpTRES; who is in a group is a user of the account", "slurm"),
    Export("slurm-accounts", "the same, where everybody is an account", "slurm:accounts"),
    Export("mesos", "roles of Mesos as /roles prints them: weights, its resources as guarantee of a quota", "mesos"),
    what="export",
    error=InstanceError,
    package=__package__,
    function="text",
)


def export(
    allocation: Allocation,
    to: str,
    names: Mapping[str, str] | None = None,
    leave_out: Collection[str] = (),
    lines: list[str] | None = None,
) -> str:
    """Return an allocation in the format of another program; amounts are rounded so that no sum exceeds the capacity.

    Parameters
    ----------
    allocation : Allocation
    to : str
        The name of one of `EXPORTS`.
    names : mapping from resource to ``"target"`` or ``"target:unit"``, optional
        What a resource is called there, and the unit in which the instance counts it, such as
        ``{"memory": "memory:Gi", "gpu": "nvidia.com/gpu"}``.
    leave_out : collection of str
        Resources that the other program has no name for, and does not get.
    lines : list of str, optional
        What is called otherwise there, left out or rounded is added to it; comments of the file say it too.

    Returns
    -------
    str

    Raises
    ------
    InstanceError
        On what is no allocation, an unknown format or resource, or a name that the other program cannot take.

    Examples
    --------
    >>> export(solve(Instance({"A": {"cpu": 1}}, {"cpu": 3})), "csv").splitlines()
    ['user,tasks,cpu', 'A,3.0,3']
    """
    if not isinstance(allocation, Allocation):
        raise InstanceError(f"export takes an Allocation, not {type(allocation).__name__}: give what solve returns")
    row = EXPORTS.named(to)
    if names is not None and not (isinstance(names, Mapping) and all(isinstance(name, str) for name in names.values())):
        raise InstanceError(f"names are {names!r}: give a table from resource to its name there")
    leave_out = listed(leave_out, "resources to leave out", InstanceError)
    for resource in (*(names or ()), *leave_out):
        if resource not in allocation.resources:
            near = suggestion(resource, allocation.resources)
            raise InstanceError(f"the cluster has no {resource!r}, it has {', '.join(allocation.resources)}{near}")
    if both := [resource for resource in leave_out if resource in (names or {})]:
        raise InstanceError(f"{both[0]!r} is given a name and left out: say one of them")
    called: Names = {**(names or {}), **dict.fromkeys(leave_out)}
    text: str = EXPORTS.implementation(row)(allocation, called, [] if lines is None else lines)
    return text


def unique_names(
    own: Sequence[str],
    clean: Callable[[str], str],
    what: str,
    lines: list[str] | None = None,
    kinds: Iterable[str] = repeat("user"),
) -> list[str]:
    """Return names that the other program takes; what is called otherwise is added to `lines`.

    `kinds` says whose each name is, a user's or a group's.

    Raises
    ------
    InstanceError
        When two would have the same one, or one would have none.
    """
    owners: dict[str, tuple[str, str]] = {}
    for said, kind in zip(own, kinds, strict=False):
        name = clean(said)
        if not name:
            raise InstanceError(f"{kind} {said!r} has no letter of a to z and no digit for {what}: rename it")
        if name in owners:
            other, first = owners[name]
            both = f"{kind}s {first!r} and" if other == kind else f"{other} {first!r} and {kind}"
            raise InstanceError(f"{both} {said!r} would both be {what} {name!r}: rename one of them")
        owners[name] = kind, said
    if lines is not None:
        lines += [f"{said!r} is called {name!r} here" for name, (_, said) in owners.items() if name != said]
    return list(owners)


def dns_label(name: str) -> str:
    """Return a name as Kubernetes takes it: small letters, digits and hyphens, at most 63 of them."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:63].strip("-")


def left_out(allocation: Allocation, *said: str, weights: bool = True, classes: bool = False) -> list[str]:
    """Return a sentence on what of the instance's rules the file does not say beside those that are `said`.

    Whether it has a place for weights, and tells machine classes apart, is not a rule of the instance.
    """
    instance = allocation.instance
    organisation = instance.organisation
    rules = [rule for rule in (organisation.rules.split(", ") if organisation is not None else ()) if rule]
    # What is given keeps guarantees and ceilings already.
    lost = [rule for rule in rules if rule not in (*said, "guarantees")]
    if instance.weighted and not weights:
        lost.append("weights")
    if instance.machines is not None and instance.k > 1 and not classes:
        # An amount in a queue is good on any machine.
        lost.append("on which classes of machines the amounts are")
        types = instance.task_types or (None,) * instance.n
        rows = zip(instance.users, instance.eligible, types, strict=True)
        if kept := [u for u, able, kinds in rows if not able.all() or any(kind.machines for kind in kinds or ())]:
            lost.append(f"which classes may run tasks of {some(kept)}")
    return [f"not written: {', '.join(lost)}"] if lost else []


def by_resource(allocation: Allocation, who: str) -> list[str]:
    """Return a sentence where users' weights differ by resource and a program has one number for each of them."""
    differ = allocation.instance.weights_per_resource
    return [f"weights differ by resource, which {who} does not know: every user counts with 1"] if differ else []


def weight_texts(weights: Iterable[Fraction], places: int, lines: list[str]) -> list[str]:
    """Return weights with at most so many decimals, told where that rounds; what is above 0 remains so."""
    least = Fraction(1, 10**places)
    weights = list(weights)
    kept = [max(round(weight, places), least) if weight else weight for weight in weights]
    if kept != weights:
        lines.append(f"weights are rounded to steps of {decimal(least, places)}")
    return [decimal(weight, places) for weight in kept]


def decimal(value: Fraction, places: int) -> str:
    """Return a number with at most so many decimals."""
    text = f"{Decimal(round(value * 10**places)).scaleb(-places):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
