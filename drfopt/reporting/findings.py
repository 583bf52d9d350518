"""The document behind the page: everything it shows, as the JSON that ``drfopt report --json`` prints.

The page is a view of this document and of nothing else, so that no number on it can differ. It holds no times: the
same instance gives the same bytes.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..base.errors import DrfoptError
from ..base.numbers.shown import DIGITS_OF_CELLS, in_units, number
from ..base.progress import report
from ..base.tables import finite
from ..model.allocation import Allocation, stopped
from ..model.instance import Instance
from ..model.organisation import Organisation
from ..model.policies import AnyPolicy, policy_on
from ..model.shortfall import ENDLESS, HAS_ALL, MET, SHORT, cells_of
from ..planning.advice import LARGEST, advise, most_priced, priced_quickly
from ..planning.before_and_after import WhatIf
from ..planning.explaining.explanation import UNKNOWN, what_stops
from ..planning.explaining.remedies import Remedies
from ..planning.pricing.price_table import Prices
from ..planning.sweeping import Sweep
from ..solving.comparing import Comparison, compare
from .measures import measures
from .palette import title_of
from .whatifs import sweep_to_dict, whatif_to_dict

__all__ = ["SCHEMA", "Document", "study"]

SCHEMA = "drfopt page 1"
"""What the document says that it is."""

Document = dict[str, Any]
"""What JSON can say."""

ALIKE = 1e-7
"""Relative difference of tasks up to which two policies are said to give the same: what certificates leave open in
CEEI, with a digit to spare."""

MOST_SHORT, MOST_EXPLAINED = 200, 12
"""Users listed as short, and of these with a sentence on what would raise them."""

KINDS = {HAS_ALL: "met", "its limit": "limit", "its ceiling": "ceiling", "": "unknown"}
"""How those are counted whom no resource stops, by what a table says of them."""

WORDS = {kind: words for words, kind in KINDS.items()} | {"unplaced": "unplaced", "notion": "notion"}
"""What a table says of them, by how they are counted."""


LEFT = "what is left of its tasks fits nowhere"
"""What a table says of who has started all its types but those that fit on nothing, and so is not unplaced itself."""


@dataclass(frozen=True)
class Stop:
    """What stopped one user: how it is counted, or empty and the names of what did; and what a table says."""

    kind: str
    words: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Stops:
    """How many users were stopped by what under one policy: who has several bottlenecks at each, or at one."""

    met: int
    limit: int
    ceiling: int
    unplaced: int
    notion: int
    unknown: int
    resources: list[int]
    places: list[list[int]]


def study(
    instance: Instance,
    policies: Sequence[AnyPolicy] = ("drf", "asset", "ceei"),
    *,
    integer: bool = False,
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
    policies, integer
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
    comparison, sweeps, whatifs = compare(instance, policies, integer=integer), tuple(sweeps), tuple(whatifs)
    report("laying out the page")
    name = instance.name or name
    found = comparison.allocations
    each = [_each_stop(allocation) for allocation in found]
    stops = [_stops(instance, users) for users in each]
    shown, titles = _distinct(found)
    document = {
        "schema": SCHEMA,
        "title": title or name,
        "date": date,
        "version": version,
        "instance": _instance(instance, comparison),
        "policies": [allocation.policy for allocation in found],
        "shown": shown,
        "titles": titles,
        "complete": not comparison.failed and all(s.finished for s in sweeps) and all(w.finished for w in whatifs),
        "comparison": _comparison(comparison, name, version),
        "measures": [
            asdict(measures(allocation)) | {"price_of_fairness": comparison.price_of_fairness.get(allocation.policy)}
            for allocation in found
        ],
        **_answer(found[0], each[0]),
        "order": found[0].shortfall.order.tolist(),
        "queues": _queues(found[0]),
        "users": _users(instance, each),
        "resources": _resources(instance, stops),
        "machines": _machines(instance, found, stops),
        "stops": [
            {key: getattr(s, key) for key in ("met", "limit", "ceiling", "unplaced", "notion", "unknown")}
            for s in stops
        ],
        "sweeps": [sweep_to_dict(sweep) for sweep in sweeps],
        "whatifs": [whatif_to_dict(found) for found in whatifs],
    }
    return finite(document)


def _distinct(allocations: Sequence[Allocation]) -> tuple[list[int], list[str]]:
    """Return the places of policies that give different tasks, and the title of each with those that give the same."""
    alike: dict[int, list[int]] = {}
    tasks = [allocation.tasks.astype(float) for allocation in allocations]
    for place, own in enumerate(tasks):
        same = (p for p in alike if np.allclose(tasks[p], own, rtol=ALIKE, atol=ALIKE * float(own.max(initial=0.0))))
        alike.setdefault(next(same, place), []).append(place)
    names = [title_of(allocation.policy) for allocation in allocations]
    titles = {p: " = ".join(names[q] for q in places) for p, places in alike.items()}
    return list(alike), [titles.get(p, name) for p, name in enumerate(names)]


def _answer(allocation: Allocation, stops: Sequence[Stop]) -> Document:
    """Return what stands on the first screen: who is short of what, what to buy, what fits nowhere; then prices."""
    short, instance = allocation.shortfall, allocation.instance
    standing = short.standing[short.order]
    listed = short.order[standing == SHORT]
    listed = listed if listed.size else short.order[standing == ENDLESS]
    asked = np.where(np.isfinite(short.asked), short.asked, short.got) * short.shares
    largest = float(asked[listed].max(initial=0.0)) or 1.0
    report("looking for what helps")
    found, raised = _worth(allocation, listed[:MOST_EXPLAINED].tolist())
    advice = advise(allocation, endless=True, prices=found)
    missing = short.missing_amounts
    return {
        "short": {
            "users": short.count(SHORT),
            "endless": short.count(ENDLESS),
            "held": sum(
                any(cell.resource is not None for cell in cells_of(instance, stops[i].names))
                for i in np.flatnonzero(short.standing == ENDLESS).tolist()
            ),
            "met": short.count(MET),
            "unplaced": int(short.unplaced.sum()),
            "demand_met": short.demand_met,
            "missing": [
                {"name": name, "amount": float(missing[j]), "part": float(missing[j] / instance.capacity[j])}
                for j, name in enumerate(instance.resources)
                if missing[j] and instance.capacity[j]
            ],
            "listed": [
                {
                    "user": i,
                    "name": instance.users[i],
                    "asked": float(short.asked[i]) if np.isfinite(short.asked[i]) else None,
                    "got": float(short.got[i]),
                    "met": None if np.isnan(short.met[i]) else float(short.met[i]),
                    "lacks": short.lacks(i),
                    "where": short.where(i),
                    "asked_part": float(asked[i]) / largest,
                    "got_part": float(short.got[i] * short.shares[i]) / largest,
                    "raised": raised.get(i, ""),
                }
                for i in listed[:MOST_SHORT].tolist()
            ],
        },
        "advice": advice.to_dict(),
        "prices": None if found is None else _price_rows(found),
    }


def _worth(allocation: Allocation, users: list[int]) -> tuple[Prices | None, dict[int, str]]:
    """Return what one more of every machine, or of a pool's resources, is worth, and what would raise some users.

    Where all are too many to be priced in a moment, those that hold somebody who is short are.
    """
    instance, short = allocation.instance, allocation.shortfall
    if instance.n * max(instance.k, 1) > LARGEST or allocation.integer:
        return None, {}
    names = None
    if not priced_quickly(instance, instance.k or instance.m):
        held = dict.fromkeys(
            cell.machine or instance.resources[cell.resource]
            for i in users
            for cell in short.cells(i)
            if cell.resource is not None
        )
        names = list(held)[: int(most_priced(instance))]
        if not names:
            return None, {}
    remedies = Remedies(allocation, thorough=False, names=names)
    try:
        prices = remedies.prices
        raised = {i: remedies.capacity(i) for i in users if len(short.cells(i))}
    except DrfoptError:
        return None, {}
    return prices, raised


def _price_rows(prices: Prices) -> Document | None:
    units = dict(zip(prices.instance.resources, prices.instance.units, strict=True))
    rows: list[Document] = [
        {
            "name": worth.name,
            "unit": units.get(worth.name, "") if prices.instance.machines is None else "",
            "now": worth.now,
            "price": side.price,
            "tasks": float(side.tasks.sum()),
            "whom": _whom(prices.instance, side.tasks),
            "until": side.until,
        }
        for worth in prices.units
        if (side := worth.more) is not None and side.tasks is not None
    ]
    # First what has a price, and then what moves most tasks.
    rows.sort(key=lambda row: (-row["price"], -abs(row["tasks"])))
    partly = len(prices.units) < (prices.instance.k or prices.instance.m)
    return {"policy": prices.policy, "price_of": prices.price_of, "partly": partly, "units": rows} if rows else None


def _whom(instance: Instance, tasks: np.ndarray) -> str:
    """Return who has more of it, by the first three."""
    order = [i for i in np.argsort(-tasks, kind="stable").tolist() if tasks[i] > 0]
    named = ", ".join(f"{instance.users[i]} +{number(float(tasks[i]), 3)}" for i in order[:3])
    return named + (f" and {len(order) - 3} more" if len(order) > 3 else "")


def _queues(allocation: Allocation) -> list[Document] | None:
    """Return the tree of groups and users with what they are promised, may have, use and wait for; None without one."""
    instance = allocation.instance
    rules = instance.organisation
    if rules is None or not (rules.groups or any(rules.guarantees) or any(rules.ceilings)):
        return None
    usage = allocation.usage.astype(float)
    pending = allocation.shortfall.lacking(np.arange(instance.n))
    endless = ~np.isfinite(allocation.shortfall.asked)
    members: dict[str, list[int]] = {}
    children: dict[str, list[str]] = {}
    for i, path in enumerate(rules.paths):
        members.setdefault(path, []).append(i)
    for group in rules.groups:
        children.setdefault(group.parent, []).append(group.name)
    entries = {group.name: group for group in rules.groups}
    rows: list[Document] = []

    def row(name: str, depth: int, kind: str, of: list[int], weight: Any, has: Sequence[Mapping[str, Any]]) -> Document:
        used, waiting = usage[of].sum(axis=0), pending[of].sum(axis=0)
        open_end = (endless[of, None] & (instance.demands[of] > 0)).any(axis=0)
        guarantee, ceiling = has
        return {
            "name": name, "depth": depth, "kind": kind, "weight": weight,
            "resources": [
                {
                    "used": float(used[j]),
                    "guarantee": float(guarantee[r]) if r in guarantee else None,
                    "ceiling": float(ceiling[r]) if r in ceiling else None,
                    "pending": None if open_end[j] else float(waiting[j]),
                }
                for j, r in enumerate(instance.resources)
            ],
        }  # fmt: skip

    def down(path: str, depth: int) -> list[int]:
        place = len(rows)
        if path:
            rows.append({})
        of = [i for child in children.get(path, ()) for i in down(child, depth + bool(path))]
        for i in members.get(path, ()):
            weight = None if instance.weights_per_resource else 0.0 if rules.last[i] else float(instance.weights[i])
            has = (rules.guarantees[i], rules.ceilings[i])
            rows.append(row(instance.users[i], depth + bool(path), "user", [i], weight, has))
        of += members.get(path, ())
        if path:
            group = entries[path]
            has = (group.guarantee, group.ceiling)
            rows[place] = row(path.rpartition("/")[2], depth, "group", of, float(group.weight), has)
        return of

    down("", 0)
    return rows


def _instance(instance: Instance, comparison: Comparison) -> Document:
    return {
        "name": instance.name,
        "source": instance.source,
        "integer": comparison.integer,
        "users": instance.n,
        "resources": instance.m,
        "classes": instance.k,
        "machines": None if instance.machines is None else int(instance.counts.sum()),
        "unplaced": int(instance.unplaced(comparison.integer).sum()),
        "choice": any(allocation.other_placements for allocation in comparison.allocations),
        "excluded": not instance.counted.all(),
    }


def _comparison(comparison: Comparison, name: str, version: str) -> Document:
    document = comparison.to_dict()
    for allocation in document["allocations"]:
        del allocation["seconds"]
        allocation |= {"instance": name, "version": version}
    return document | {"instance": name}


def _users(instance: Instance, stops: Sequence[Sequence[Stop]]) -> list[Document]:
    """Return what is known of every user beside her allocations: what she asks for, and what stopped her."""
    weights, rules = instance.weights.tolist(), instance.organisation
    units = dict(zip(instance.resources, instance.units, strict=True))
    types = instance.task_types or (None,) * instance.n
    return [
        {
            "name": user,
            "weight": None
            if instance.weights_per_resource
            else 0.0
            if rules is not None and rules.last[i]
            else weights[i],
            "limit": limit if limit < np.inf else None,
            "demand": dict(zip(instance.resources, row, strict=True)),
            "types": len(kinds) if (kinds := types[i]) else None,
            **({} if rules is None else _rules(rules, i, units)),
            "stopped": [users[i].words for users in stops],
        }
        for i, (user, limit, row) in enumerate(
            zip(instance.users, instance.asked.tolist(), instance.demands.tolist(), strict=True)
        )
    ]


def _rules(rules: Organisation, i: int, units: Mapping[str, str]) -> Document:
    """Return what an organisation says of a user; amounts as text."""

    def listed(amounts: Mapping[str, Any]) -> str:
        each = {r: in_units(float(amount), units[r], DIGITS_OF_CELLS) for r, amount in amounts.items()}
        return ", ".join(f"{amount} {resource}" for resource, amount in each.items())

    return {
        "group": rules.paths[i],
        "tier": rules.tiers[i],
        "last": bool(rules.last[i]),
        "guarantee": listed(rules.guarantees[i]),
        "ceiling": listed(rules.ceilings[i]),
    }


def _each_stop(allocation: Allocation) -> list[Stop]:
    """Return what stopped each user, (n,): of whole tasks and formulation files, whose certificate names nothing, as
    `explain` says it.
    """
    instance, integer = allocation.instance, allocation.integer
    bottlenecks = allocation.certificate.bottlenecks or (None,) * instance.n
    if integer or policy_on(allocation.policy, instance).objective in UNKNOWN:
        report("looking for what stops users")
        return [_explained(allocation, i, *found) for i, found in enumerate(what_stops(allocation))]
    helpless, stops = set(allocation.unplaced), []
    for i, user in enumerate(instance.users):
        words = stopped(instance, i, bottlenecks[i], allocation.tasks[i], user in helpless, integer)
        names = bottlenecks[i] or ()
        names = (names,) if isinstance(names, str) else tuple(names)
        kind = "unplaced" if user in helpless else "met" if words == HAS_ALL else "" if names else KINDS[words]
        stops.append(Stop(kind, words, names))
    return stops


def _explained(allocation: Allocation, i: int, reason: str, names: tuple[str, ...]) -> Stop:
    if reason == "misfit":
        return Stop("unplaced", LEFT, names)
    kind = reason if reason in WORDS else "" if names else "unknown"
    words = (
        WORDS[kind] if kind else stopped(allocation.instance, i, names, allocation.tasks[i], False, allocation.integer)
    )
    return Stop(kind, ", ".join([words, *names]) if kind == "ceiling" else words, names)


def _stops(instance: Instance, users: Sequence[Stop]) -> Stops:
    counts: Counter[str] = Counter()
    at: Counter[str] = Counter()
    resources: Counter[int | None] = Counter()
    named = {names: {cell.resource for cell in cells_of(instance, names)} for names in {stop.names for stop in users}}
    for stop in users:
        if stop.kind:
            counts[stop.kind] += 1
            if stop.kind != "ceiling":
                continue
        at.update(stop.names)
        resources.update(named[stop.names])
        # What is no resource is the ceiling of a group; her own is told apart, and counted already.
        counts["ceiling"] += not stop.kind and None in named[stop.names]
    return Stops(
        counts["met"],
        counts["limit"],
        counts["ceiling"],
        counts["unplaced"],
        counts["notion"],
        counts["unknown"],
        [resources[j] for j in range(instance.m)],
        [[at[f"{c}/{r}"] for r in instance.resources] for c in instance.machine_names],
    )


def _resources(instance: Instance, stops: list[Stops]) -> list[Document]:
    capacity = instance.capacity.tolist()
    return [
        {
            "name": name,
            "capacity": capacity[j],
            "unit": instance.units[j],
            "stopped": [s.resources[j] for s in stops],
        }
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
                    "unit": instance.units[j],
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
