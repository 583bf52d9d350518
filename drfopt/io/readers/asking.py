"""A cluster's own files, and what is asked of them: who is a user, other files' machines, tasks for empty queues.

``--machines FILE`` is an instance file (its ``[[machines]]`` or ``[capacity]``; users are passed over), a table of
machines as of format csv, or a file in the format's own words, which is then read with the others.

``--saturate`` lets every queue without tasks want everything there is: of each kind of machines (those that have the
same resources in the same proportions) tasks of their mean shape, as many as all of them hold, so that a share of the
mix is a share of every kind. ``--shape`` says another task, of which such a queue wants ever more.
"""

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from ...base.errors import InstanceError, checked_flags, listed, renaming, suggestion
from ...base.numbers.quantities import amount, counted_up_to
from ...base.numbers.shown import counted
from ..native.entries import MachineEntry, validated
from ..native.syntax import sniff, tree
from ..text.files import FORMATS as SYNTAXES
from ..text.files import File, failure, read_file, shown
from ..text.parts import first_line, with_header
from .assembly import assemble
from .conversion import Amounts, Contents, Conversion, ListedMachine, ReadOptions, Task, places
from .csv_tables import machine_row
from .formats import FORMATS

__all__ = ["machines_in", "read", "saturated"]

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


def read(
    format: str,
    files: Sequence[str | Path] | str | Path,
    user_by: str | None = None,
    *,
    saturate: bool = False,
    shape: Mapping[str, Any] | None = None,
    machines: str | Path | None = None,
) -> Conversion:
    """Read a cluster's own files: the instance, what was not used, and what runs where today.

    Parameters
    ----------
    format : str
        The name of one of `FORMATS` (``drfopt formats`` lists them): ``kubernetes``, ``slurm``, ``yarn``, ``csv`` ...
    files : path, or several
        In any order: what a file holds is found out from it; ``-`` is standard input.
    user_by : str, optional
        What makes a user, one of the format's `users`.
    saturate : bool
        Whether queues without tasks want everything: of each kind of machines tasks of their mean shape.
    shape : mapping from resource to number or quantity, optional
        What a task of such a queue needs instead, ``{"cpu": 1, "memory": "4Gi"}``.
    machines : path, optional
        The cluster: an instance file, of which only the machines or the pool are read, a table of machines as of
        format ``csv``, or one more file of the format.

    Returns
    -------
    Conversion
        Its ``instance``, ``notes`` on what was not used or was assumed, and ``current()``, what runs where today.

    Raises
    ------
    InstanceError
        On an unknown format, or files that are not what the format says.

    Examples
    --------
    >>> found = read("csv", ["machines.csv", "tasks.csv"])  # doctest: +SKIP
    >>> found.instance, [str(note) for note in found.notes]  # doctest: +SKIP
    """
    checked_flags(saturate=saturate)
    known = FORMATS.named(format)
    if user_by is not None and not isinstance(user_by, str):
        raise InstanceError(f"{format}: user_by is {user_by!r}: give it as text, such as {known.users[:1] or 'none'}")
    if user_by is not None and user_by.partition(":")[0] not in {user.partition(":")[0] for user in known.users}:
        ways = f"use {', '.join(known.users)}" if known.users else "leave it out"
        raise InstanceError(f"{format}: users by {user_by!r}: {ways}{suggestion(user_by, known.users)}")
    if not isinstance(shape, Mapping | None):
        raise InstanceError(f'{format}: shape is {shape!r}: give a table, such as {{"cpu": 1, "memory": "4Gi"}}')
    if not isinstance(machines, str | Path | None):
        raise InstanceError(f"{format}: machines is {machines!r}: give the path of a file that lists them")
    for option, given, can in (("saturate", saturate, known.queues), ("machines", machines, known.machines)):
        if given and not can:
            some = ", ".join(row.name for row in FORMATS if (row.queues if option == "saturate" else row.machines))
            raise InstanceError(f"{format}: has no use for {option} (--{option}): leave it out ({some} have)")
    if shape and not saturate:
        raise InstanceError(
            f"{format}: shape (--shape) is of tasks that saturate (--saturate) makes: say that too, or leave it out"
        )
    paths = [files] if isinstance(files, str | Path) else listed(files, f"{format}: files", InstanceError)
    if not paths:
        raise InstanceError(f"{format}: no files are given: name them ({known.files})")
    asked = ReadOptions(user_by, saturate, {r: amount(value, f"shape: {r}") for r, value in (shape or {}).items()})
    if shape and not any(asked.shape.values()):
        raise InstanceError("shape: the task needs nothing: give it some of a resource, such as 1 of cpu")
    opened = [read_file(path) for path in paths]
    if machines is not None:
        file = read_file(machines)
        nodes, pool = machines_in(file)
        asked = replace(asked, machines=nodes, pool=pool)
        if not asked.given:
            opened.append(file)  # in the format's own words
    found: Contents | Conversion = FORMATS.implementation(known)(opened, asked)
    if isinstance(found, Conversion):
        return found
    found = replace(found, place=places(opened))
    return assemble(saturated(found) if saturate else found, known.queues)


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
    if other := next((column for column in header if column.casefold() == "machine"), ""):
        raise failure(file.place, f"has no column 'machine'{renaming('machine', [other])} in line 1")
    try:
        form = next((form for suffix, form in SYNTAXES.items() if file.place.lower().endswith(suffix)), None)
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
    return [
        ListedMachine(one.name, _exact(one.capacity), one.name, count=_count(one, file)) for one in entry.machines
    ], None


def _count(entry: MachineEntry, file: File) -> int:
    return counted_up_to(entry.count, f"{file.place}: machine class {shown(entry.name)}: count")


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
        raise InstanceError(f"{cluster.place}: saturate: no queue is listed: give the file that lists them too")
    bounded = {
        r for e in [*cluster.members.values(), *cluster.groups] for k in ("guarantee", "ceiling") for r in e.get(k, ())
    }
    machines = cluster.nodes
    if cluster.pool is not None:
        machines = [ListedMachine("", cluster.pool)]
    there = dict.fromkeys(resource for node in machines for resource, amount in node.capacity.items() if amount)
    if not there and not busy:
        raise InstanceError(
            f"{cluster.place}: saturate: there is no machine, and its {counted(len(empty), 'queue')} "
            f"want{'s' * (len(empty) == 1)} tasks in the shape of machines: give the files that list them too, or "
            "another file as machines (--machines)"
        )
    for resource in shape if there else ():
        if resource not in there:
            raise InstanceError(
                f"shape: no machine has {resource!r}, they have {', '.join(there)}{suggestion(resource, there)}"
            )
    tasks = list(cluster.tasks)
    mixes: dict[Hashable, list[tuple[Amounts, int]]] = {}
    endless = set(cluster.endless)
    idle: list[str] = []
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
            idle.append(name)
        if len(mix) == 1:
            endless.add(name)
        tasks += [Task(name, demand, count, needs) for demand, count in mix]
    if wanting := [name for name in empty if name not in idle]:
        what = "of the shape given" if shape else "in the mean shape of each kind of machines"
        cluster.notes.assumed(f"queue without tasks wants everything, {what}", wanting[0], len(wanting))
    members = {name: entry for name, entry in cluster.members.items() if name not in idle}
    return replace(cluster, tasks=tasks, endless=frozenset(endless), members=members)


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
