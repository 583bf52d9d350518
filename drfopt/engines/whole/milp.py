"""Integer programs over HiGHS: how whole tasks of users are supplied by a pool or by machines."""

import math
from dataclasses import dataclass

import numpy as np

from ...model.devices import DeviceRoom
from ...model.evidence import Evidence
from ...model.packings import (
    Packing,
    device_room,
    integer_rows,
    program_rows,
    split,
    trimmed,
)
from ...model.whole_values import WholeUsers
from ..problem import Answer, Problem
from .integer_program import Model, Terms

__all__ = ["SEARCH", "Supply", "columns", "device_rows", "packed", "placed", "supply"]


SEARCH = 0.7
"""Part of the time that the search for an answer may take; the rest is for its proof."""


@dataclass
class Supply:
    """What a cluster can run, as columns of a model.

    Attributes
    ----------
    shapes : list of lists
        Positions of the members whose tasks are alike, as `drfopt.model.packings.shapes` lists them.
    tasks : list of terms
        The most tasks of each shape, as an expression of columns.
    packs : list of (column, class, pattern)
        Machines of that class, each with the pattern: as many as the column says. Empty for a pool.
    single : list of (class, {shape: column})
        One machine, with as many tasks of each shape as its column says.

    A pattern counts the tasks of a shape under its first user.
    """

    shapes: list[list[int]]
    tasks: list[Terms]
    packs: list[tuple[int, int, dict[int, int]]]
    single: list[tuple[int, dict[int, int]]]

    def within(self, model: Model, columns: list[int]) -> None:
        """Add the rows that columns of tasks of the members (n,) are within what can be run."""
        for positions, terms in zip(self.shapes, self.tasks, strict=True):
            model.row(-math.inf, 0, {columns[p]: 1.0 for p in positions} | {c: -x for c, x in terms.items()})

    def packing(self, values: np.ndarray, members: list[int], tasks: list[int]) -> list[Packing]:
        """Return which machines run what, with exactly these tasks of each member."""
        merged: dict[tuple[int, tuple], int] = {}
        used = [(round(values[column]), k, pattern) for column, k, pattern in self.packs]
        used += [(1, k, {i: round(values[c]) for i, c in row.items() if round(values[c])}) for k, row in self.single]
        for count, k, pattern in used:
            if count and pattern:
                key = (k, tuple(sorted(pattern.items())))
                merged[key] = merged.get(key, 0) + count
        asked = {members[positions[0]]: sum(tasks[p] for p in positions) for positions in self.shapes}
        packing = trimmed([(k, count, dict(pattern)) for (k, pattern), count in merged.items()], asked)
        for positions in self.shapes:
            if len(positions) > 1:
                packing = split(packing, members[positions[0]], [(members[p], tasks[p]) for p in positions])
        return packing


def supply(model: Model, problem: Problem) -> Supply:
    """Add what the cluster of the problem can run to a model."""
    instance, members = problem.instance, problem.members.tolist()
    alike = problem.shapes
    users = [members[positions[0]] for positions in alike]
    if instance.machines is None:
        columns = [model.column(math.inf) for _ in users]
        demands, room = integer_rows([instance.exact_demands[i] for i in users], instance.exact_capacity)
        _capacity_rows(model, columns, demands, room)
        return Supply(alike, [{column: 1.0} for column in columns], [], [])
    found = Supply(alike, [{} for _ in users], [], [])
    shape = {i: number for number, i in enumerate(users)}
    for k, machine in enumerate(instance.machines):
        patterns = problem.patterns[k]
        if patterns is None:
            _single_machines(model, problem, k, shape, found)
            continue
        columns = [model.column(machine.count) for _ in patterns]
        model.row(0, machine.count, dict.fromkeys(columns, 1.0))
        for column, pattern in zip(columns, patterns, strict=True):
            found.packs.append((column, k, pattern))
            for i, x in pattern.items():
                found.tasks[shape[i]][column] = float(x)
    return found


def columns(problem: Problem) -> int:
    """Return how many columns `supply` adds for the machines of a problem."""
    problem = problem.by_type
    instance, members = problem.instance, problem.members.tolist()
    users = [members[positions[0]] for positions in problem.shapes]
    total = 0
    for k, machine in enumerate(instance.machines or ()):
        patterns = problem.patterns[k]
        total += int(instance.fits[users, k].sum()) * machine.count if patterns is None else len(patterns)
    return total


def _single_machines(model: Model, problem: Problem, k: int, shape: dict[int, int], found: Supply) -> None:
    """Add a column for each shape on each machine of a class with too many patterns to list."""
    instance = problem.instance
    users = [i for i in shape if instance.fits[i, k]]
    demands, room = integer_rows([instance.exact_demands[i] for i in users], instance.exact_machine_capacity[k])
    alone = [min(f // d for d, f in zip(row, room, strict=True) if d) for row in demands]
    devices = device_room(instance, k, users)
    for _ in range(int(instance.counts[k])):
        columns = [model.column(most) for most in alone]
        _capacity_rows(model, columns, demands, room)
        device_rows(model, columns, devices)
        found.single.append((k, dict(zip(users, columns, strict=True))))
        for i, column in zip(users, columns, strict=True):
            found.tasks[shape[i]][column] = 1.0


def _capacity_rows(model: Model, columns: list[int], demands: list[list[int]], room: list[int]) -> None:
    for row, total in program_rows(demands, room):
        model.row(0, total, {column: d for column, d in zip(columns, row, strict=True) if d})


def device_rows(model: Model, columns: list[int], devices: DeviceRoom) -> None:
    """Add what the devices of one machine allow of the tasks of its users, a column each."""
    for rows in devices.rows_of(columns):
        ways = [model.column(rows.count) for _ in range(rows.fillings)]
        model.row(0, rows.count, dict.fromkeys(ways, 1.0) | {c: float(number) for c, number in rows.entire})
        for terms, holds in rows.sharing:
            filled = {way: -float(x) for way, x in zip(ways, holds, strict=True) if x}
            model.row(-math.inf, 0, dict.fromkeys(terms, 1.0) | filled)


def placed(
    problem: Problem,
    supplied: Supply,
    values: np.ndarray,
    tasks: list[int],
    status: str = "optimal",
    users: WholeUsers | None = None,
) -> Answer:
    """Return whole tasks of the members as an answer, on machines with which of them runs what.

    Of several types `users` says how many of each there are among the tasks.
    """
    if problem.instance.machines is None:
        return Answer(np.array(tasks, dtype=np.int64), status=status)
    rows = problem.by_type
    counts = tasks
    if rows is not problem and users is not None:
        started = users.counts(users.spread(tasks))
        counts = [started[q] for q in rows.members.tolist()]
    return packed(problem, tasks, supplied.packing(values, rows.members.tolist(), counts), status)


def packed(problem: Problem, tasks: list[int], packing: list[Packing], status: str = "optimal") -> Answer:
    """Return whole tasks of the members and how machines run them, by types, as an answer."""
    rows = problem.by_type
    table = np.zeros((rows.instance.n, rows.k), dtype=np.int64)
    for k, count, pattern in packing:
        for i, x in pattern.items():
            table[i, k] += count * x
    row, machine = rows.pairs
    amounts = table[rows.members[row], machine]
    return Answer(np.array(tasks, dtype=np.int64), amounts=amounts, evidence=Evidence(packing=packing), status=status)
