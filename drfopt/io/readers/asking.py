"""What the caller adds to a cluster's own files: who is a user, machines from another file, tasks for empty queues.

``--machines FILE`` is an instance file (its ``[[machines]]`` or ``[capacity]``; users are passed over), a table of
machines as of format csv, or a file in the format's own words, which is then read with the others.

``--saturate`` lets every queue without tasks want everything there is: of each kind of machines (those that have the
same resources in the same proportions) tasks of their mean shape, as many as all of them hold, so that a share of the
mix is a share of every kind. ``--shape`` says another task, of which such a queue wants ever more.
"""

import math
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ...base.errors import InstanceError, suggestion
from ..native.entries import validated
from ..native.syntax import sniff, tree
from ..text.files import FORMATS, File, failure
from ..text.parts import first_line, with_header
from .conversion import Amounts, Contents, ListedMachine, Task
from .csv_tables import machine_row

__all__ = ["machines_in", "saturated"]

UNSHAPED = ("pods", "ephemeral-storage", "hugepages-", "attachable-volumes-")
"""How resources begin that every machine has to spare: a task that wants everything names them only where a queue
bounds them."""

LEADS = ("cpu", "vcores", "cpus")
"""The resource of which a task of the mean shape has one."""

MOST_KINDS = 8
"""Kinds of machines that are told apart, unless they differ by more than the last of `FACTORS`: each is one more type
of tasks of every queue that wants everything."""

FACTORS = (0, 1.1, 1.5, 2, 4, 16)
"""By how much proportions differ of machines that are told apart; 0 for at all."""

DIGITS = 6
"""Significant digits of a mean shape, rounded down: a mean of many machines is no short decimal."""


def machines_in(file: File) -> tuple[list[ListedMachine] | None, Amounts | None]:
    """Return the machines of an instance file or a table, or the pool; neither where it is another format's file.

    Raises
    ------
    InstanceError
        With the place in the file.
    """
    header = first_line(file)
    if "machine" in header and "user" not in header:
        return [machine_row(row) for row in with_header(file, comment="#")], None
    try:
        form = next((form for suffix, form in FORMATS.items() if file.place.lower().endswith(suffix)), None)
        found = tree(file.text, form or sniff(file.text), file.place)
    except InstanceError:
        if form == "toml":
            raise
        return None, None  # text of another command, or several documents
    if not isinstance(found, dict) or not found.keys() & {"machines", "capacity"}:
        return None, None
    entry = validated({key: found[key] for key in ("machines", "capacity") if key in found} | {"users": []}, file.place)
    if entry.capacity is not None and entry.machines is None:
        return None, _exact(entry.capacity)
    if not entry.machines or entry.capacity is not None:
        raise failure(file.place, "write [[machines]] or [capacity], one of them")
    return [ListedMachine(one.name, _exact(one.capacity), one.name, count=one.count) for one in entry.machines], None


def _exact(amounts: Mapping[str, Any]) -> dict[str, Fraction]:
    return {resource: Fraction(repr(v) if isinstance(v, float) else v) for resource, v in amounts.items()}


# ---- queues without tasks ----------------------------------------------------------------------------------


def saturated(cluster: Contents) -> Contents:
    """Return the cluster with tasks for every queue that has none.

    Raises
    ------
    InstanceError
        Where there is no such queue, no machine whose shape its tasks could have, or none with a resource of the shape.
    """
    shape = cluster.shape
    busy = {task.user for task in cluster.tasks if task.count and any(task.demand.values())}
    empty = [name for name in cluster.members if name not in busy]
    if not empty and not busy:
        raise InstanceError(f"{cluster.place}: --saturate: no queue is listed: give the file that lists them too")
    bounded = {
        r for e in [*cluster.members.values(), *cluster.groups] for k in ("guarantee", "ceiling") for r in e.get(k, ())
    }
    machines = cluster.nodes
    if cluster.pool is not None:
        machines = [ListedMachine("", cluster.pool)]
    there = dict.fromkeys(resource for node in machines for resource, amount in node.capacity.items() if amount)
    if not there and not busy:
        raise InstanceError(
            f"{cluster.place}: --saturate: there is no machine, and its {len(empty):,} queues want tasks in "
            "the shape of machines: give the files that list them too, or another file with --machines"
        )
    for resource in shape if there else ():
        if resource not in there:
            raise InstanceError(
                f"--shape: no machine has {resource!r}, they have {', '.join(there)}{suggestion(resource, there)}"
            )
    tasks = list(cluster.tasks)
    mixes: dict[Hashable, list[tuple[Amounts, int]]] = {}
    endless = set(cluster.endless)
    for name in empty:
        needs, usable = cluster.wants(name), cluster.usable(name)
        if (needs, usable) not in mixes:
            # A pool takes everybody.
            open_to = [node for node in machines if cluster.pool is not None or cluster.allows(needs, node.features)]
            if usable is not None:
                open_to = [replace(node, capacity=_only(node.capacity, usable)) for node in open_to]
            own = shape if usable is None else _only(shape, usable)
            mixes[needs, usable] = [(own, 1)] if own else [] if shape else list(_mix(open_to, bounded))
        mix = mixes[needs, usable]
        if not mix:
            cluster.notes.unused("queue that may use nothing there is", name)
        if len(mix) == 1:
            endless.add(name)
        tasks += [Task(name, demand, count, needs) for demand, count in mix]
    if empty:
        what = "of the shape given" if shape else "in the mean shape of each kind of machines"
        cluster.notes.assumed(f"queue without tasks wants everything, {what}", empty[0], len(empty))
    return replace(cluster, tasks=tasks, endless=frozenset(endless))


def _only(amounts: Amounts, usable: Collection[str]) -> Amounts:
    return {resource: amount for resource, amount in amounts.items() if resource in usable}


def _mix(machines: Iterable[ListedMachine], bounded: Collection[str]) -> Iterable[tuple[Amounts, int]]:
    """Yield the mean task of each kind of machines, and how many of it the machines of that kind hold."""
    for names, nodes in _kinds(machines, bounded):
        total = {r: sum((node.capacity[r] * node.count for node in nodes), Fraction(0)) for r in names}
        mean = {r: amount / total[names[0]] for r, amount in total.items()}
        # One task has to fit on every machine of the kind, after rounding too.
        least = min(min(Fraction(1), *(node.capacity[r] / mean[r] for r in names)) for node in nodes)
        task = {r: _short(amount * least) for r, amount in mean.items()}
        yield task, math.ceil(total[names[0]] / task[names[0]])


def _kinds(
    machines: Iterable[ListedMachine], bounded: Collection[str]
) -> Iterable[tuple[list[str], list[ListedMachine]]]:
    """Yield machines with the same resources in about the same proportions, the resource that leads first.

    Proportions are told apart as finely as `MOST_KINDS` allows: exactly at first, then by ever larger factors.
    """
    several = []
    for node in machines:
        named = [r for r, amount in node.capacity.items() if amount and (r in bounded or not r.startswith(UNSHAPED))]
        lead = next((r for r in LEADS if r in named), next(iter(named), ""))
        if named:
            several.append(([lead, *(r for r in named if r != lead)], node))
    for factor in FACTORS:
        kinds: dict[Hashable, tuple[list[str], list[ListedMachine]]] = {}
        for names, node in several:
            ratios = [node.capacity[r] / node.capacity[names[0]] for r in names]
            rounded = ratios if not factor else [round(math.log(ratio) / math.log(factor)) for ratio in ratios]
            key = frozenset(zip(names, rounded, strict=True))
            kinds.setdefault(key, (names, []))[1].append(node)
        if len(kinds) <= MOST_KINDS or factor == FACTORS[-1]:
            yield from kinds.values()
            return


def _short(value: Fraction) -> Fraction:
    """Return a positive value cut to `DIGITS` significant digits, or to whole units where it has more of them."""
    size = math.floor(math.log10(value.numerator) - math.log10(value.denominator))
    step = min(Fraction(1), Fraction(10) ** (size + 1 - DIGITS))
    return math.floor(value / step) * step
