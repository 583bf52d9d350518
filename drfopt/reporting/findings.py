"""The document behind the page: everything it shows, as the JSON that ``drfopt report --json`` prints.

The page is a view of this document and of nothing else, so that no number on it can differ. It holds no times: the
same instance gives the same bytes.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..base.progress import report
from ..base.tables import finite
from ..model.allocation import Allocation, stopped
from ..model.instance import Instance
from ..model.organisation import Organisation
from ..model.policies import AnyPolicy
from ..model.shortfall import HAS_ALL
from ..planning.before_and_after import WhatIf
from ..planning.sweeping import Sweep
from ..solving.comparing import Comparison, compare
from .measures import measures
from .whatifs import told_of_sweep, told_of_whatif

__all__ = ["SCHEMA", "Document", "study"]

SCHEMA = "drfopt page 1"
"""What the document says that it is."""

Document = dict[str, Any]
"""What JSON can say."""

KINDS = {HAS_ALL: "met", "its limit": "limit", "its ceiling": "ceiling", "": "unknown"}
"""How those are counted whom no resource stops, by what a table says of them."""


@dataclass(frozen=True)
class Stops:
    """How many users were stopped by what under one policy; who has several bottlenecks counts at each."""

    met: int
    limit: int
    ceiling: int
    unplaced: int
    unknown: int
    resources: list[int]
    places: list[list[int]]


def study(
    instance: Instance,
    policies: Sequence[AnyPolicy] = ("drf", "asset", "ceei"),
    *,
    integer: bool = False,
    time_limit: float | None = None,
    sweeps: Iterable[Sweep] = (),
    whatifs: Iterable[WhatIf] = (),
    name: str = "",
    title: str = "",
    date: str = "",
    version: str = "",
) -> Document:
    """Solve the instance under each policy and return the document of the page.

    Parameters
    ----------
    instance : Instance
    policies, integer, time_limit
        As in `compare`.
    sweeps : iterable of Sweep
        What `drfopt.planning.sweeping` found, told on the page.
    whatifs : iterable of WhatIf
        What `drfopt.planning.before_and_after` found.
    name : str
        What to call an instance that has no name.
    title, date, version : str
        Stand at the head of the page; by default the instance's name and nothing.

    Returns
    -------
    dict
        ``comparison`` is what ``drfopt compare --json`` prints, without the seconds.
    """
    comparison = compare(instance, policies, integer=integer, time_limit=time_limit)
    report("laying out the page")
    name = instance.name or name
    found = comparison.allocations
    stops = [_stops(allocation) for allocation in found]
    document = {
        "schema": SCHEMA,
        "title": title or name,
        "date": date,
        "version": version,
        "instance": _instance(instance, integer),
        "policies": [allocation.policy for allocation in found],
        "complete": not comparison.failed,
        "comparison": _comparison(comparison, name, version),
        "measures": [
            asdict(measures(allocation)) | {"price_of_fairness": comparison.price_of_fairness.get(allocation.policy)}
            for allocation in found
        ],
        "users": _users(instance, found),
        "resources": _resources(instance, stops),
        "machines": _machines(instance, found, stops),
        "stops": [{key: getattr(s, key) for key in ("met", "limit", "ceiling", "unplaced", "unknown")} for s in stops],
        "sweeps": [told_of_sweep(sweep) for sweep in sweeps],
        "whatifs": [told_of_whatif(found) for found in whatifs],
    }
    return finite(document)


def _instance(instance: Instance, integer: bool) -> Document:
    return {
        "name": instance.name,
        "source": instance.source,
        "integer": integer,
        "users": instance.n,
        "resources": instance.m,
        "classes": instance.k,
        "machines": None if instance.machines is None else int(instance.counts.sum()),
        "unplaced": int(instance.unplaced(integer).sum()),
    }


def _comparison(comparison: Comparison, name: str, version: str) -> Document:
    document = comparison.to_dict()
    for allocation in document["allocations"]:
        del allocation["seconds"]
        allocation |= {"instance": name, "version": version}
    return document | {"instance": name}


def _users(instance: Instance, allocations: Sequence[Allocation]) -> list[Document]:
    """Return what is known of every user beside her allocations: what she asks for, and what stopped her."""
    unplaced = [set(allocation.unplaced) for allocation in allocations]
    bottlenecks = [allocation.certificate.bottlenecks or (None,) * instance.n for allocation in allocations]
    weights, rules = instance.weights.tolist(), instance.organisation
    types = instance.task_types or (None,) * instance.n
    return [
        {
            "name": user,
            "weight": None if instance.weights_per_resource else weights[i],
            "limit": limit if limit < np.inf else None,
            "demand": dict(zip(instance.resources, row, strict=True)),
            "types": len(kinds) if (kinds := types[i]) else None,
            **({} if rules is None else _rules(rules, i)),
            "stopped": [
                stopped(instance, i, names[i], allocation.tasks[i], user in helpless, allocation.integer)
                for names, allocation, helpless in zip(bottlenecks, allocations, unplaced, strict=True)
            ],
        }
        for i, (user, limit, row) in enumerate(
            zip(instance.users, instance.limits.tolist(), instance.demands.tolist(), strict=True)
        )
    ]


def _rules(rules: Organisation, i: int) -> Document:
    """Return what an organisation says of a user; amounts as text, exactly."""

    def listed(amounts: Mapping[str, Any]) -> str:
        return ", ".join(f"{amount} {resource}" for resource, amount in amounts.items())

    return {
        "group": rules.paths[i],
        "tier": rules.tiers[i],
        "last": bool(rules.last[i]),
        "guarantee": listed(rules.guarantees[i]),
        "ceiling": listed(rules.ceilings[i]),
    }


def _stops(allocation: Allocation) -> Stops:
    instance = allocation.instance
    bottlenecks = allocation.certificate.bottlenecks or (None,) * instance.n
    helpless = set(allocation.unplaced)
    counts: Counter[str] = Counter()
    at: Counter[str] = Counter()
    resources: Counter[str] = Counter()
    for i, user in enumerate(instance.users):
        names = bottlenecks[i] or ()
        names = (names,) if isinstance(names, str) else names
        if user in helpless:
            counts["unplaced"] += 1
        elif stopped(instance, i, bottlenecks[i], allocation.tasks[i], False, allocation.integer) == HAS_ALL:
            counts["met"] += 1
        elif names:
            at.update(names)
            # "class/resource"; a name of either may hold a slash of its own, so it is looked up as a whole.
            mine = {resource for name in names for resource in _resource(instance, name)}
            resources.update(mine)
            # What is no resource is the ceiling of a group; her own is told below.
            counts["ceiling"] += len(mine) == 0
        else:
            counts[KINDS[stopped(instance, i, None, allocation.tasks[i], False, allocation.integer)]] += 1
    return Stops(
        counts["met"],
        counts["limit"],
        counts["ceiling"],
        counts["unplaced"],
        counts["unknown"],
        [resources[name] for name in instance.resources],
        [[at[f"{c}/{r}"] for r in instance.resources] for c in instance.machine_names],
    )


def _resource(instance: Instance, name: str) -> list[str]:
    if instance.machines is None:
        return [name] if name in instance.resources else []
    return [resource for resource in instance.resources if name.endswith(f"/{resource}")][:1]


def _resources(instance: Instance, stops: list[Stops]) -> list[Document]:
    capacity = instance.capacity.tolist()
    return [
        {"name": name, "capacity": capacity[j], "stopped": [s.resources[j] for s in stops]}
        for j, name in enumerate(instance.resources)
    ]


def _machines(instance: Instance, allocations: Sequence[Allocation], stops: list[Stops]) -> list[Document] | None:
    if instance.machines is None:
        return None
    held = [_held_by_classes(allocation) for allocation in allocations]
    room = instance.room
    counts = instance.counts.tolist()
    return [
        {
            "name": name,
            "count": int(counts[k]),
            "resources": [
                {
                    "class": name,
                    "count": int(counts[k]),
                    "name": resource,
                    "capacity": float(room[k, j]),
                    "allocations": [
                        {
                            "used": float(used[k, j]),
                            "utilization": float(used[k, j] / room[k, j]) if room[k, j] else None,
                            "stopped": s.places[k][j],
                        }
                        for used, s in zip(held, stops, strict=True)
                    ],
                }
                for j, resource in enumerate(instance.resources)
            ],
        }
        for k, name in enumerate(instance.machine_names)
    ]


def _held_by_classes(allocation: Allocation) -> np.ndarray:
    """Return what runs on each class, (k, m)."""
    if allocation.placed_by_type is not None:
        return allocation.placed_by_type.astype(float).T @ allocation.instance.type_table.demands
    return np.asarray(allocation.placement, dtype=float).T @ allocation.instance.demands
