"""Pareto efficiency: nobody could run more without another running less.

In a pool that is so exactly when every user below her limit needs a resource that is used up; on machines a linear
program in fractions asks for the most tasks all could have besides what they have; whole tasks that nothing exceeds are
listed.
Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 3.
"""

from dataclasses import dataclass
from fractions import Fraction

from ...base.deadline import Deadline
from ...base.numbers.enclosures import Enclosure
from ...base.numbers.shown import counted
from ...base.tolerances import NOTICED
from ...engines.reference import enumeration
from ...engines.reference.algorithm1 import Machines
from ..case import AuditCase
from ..economy import Economy, Number, around, below, high, least, low, reaches, side_by_side, times, total
from ..outcomes import error_of
from ..ruled_whole import wasted
from ..verdicts import FAILS, HOLDS, UNDECIDED, Finding, Witness

__all__ = ["NAME", "Waste", "check", "together"]

NAME = "pareto-efficiency"


@dataclass(frozen=True)
class Waste(Witness):
    """A user who could run more tasks while everybody else runs as many as before."""

    property = NAME
    user: str
    tasks: Number
    possible: Number

    def __str__(self) -> str:
        tasks, possible = side_by_side(self.tasks, self.possible)
        return f"user {self.user} runs {counted(tasks, 'task')}, but {possible} would take nothing from anybody else"


def check(case: AuditCase) -> Finding:
    """Ask every user below her limit what stops her."""
    if case.integer:
        return _whole(case)
    return _pool(case) if case.cluster.machines is None else _machines(case)


def _pool(case: AuditCase) -> Finding:
    cluster, truth = case.cluster, case.given
    used = [
        total(times(row[j], x) for x, row in zip(truth.tasks, cluster.demands, strict=True)) for j in range(cluster.m)
    ]
    open_questions = 0
    for i, user in enumerate(cluster.users):
        x, limit = truth.tasks[i], cluster.limits[i]
        needed = [j for j, d in enumerate(cluster.demands[i]) if d]
        at_limit = limit is not None and reaches(x, limit)
        if at_limit or any(j in truth.priced or reaches(used[j], cluster.pool[j]) for j in needed):
            continue
        if all(below(used[j], cluster.pool[j]) for j in needed) and (limit is None or below(x, limit)):
            spare = min((cluster.pool[j] - high(used[j])) / cluster.demands[i][j] for j in needed)
            more = Enclosure(low(x) + spare, high(x) + spare) if isinstance(x, Enclosure) else x + spare
            witness = Waste(user, x, more if limit is None else least(limit, more))
            return Finding(NAME, FAILS, witness, exact=not truth.computed, tied=truth.tied)
        open_questions += 1
    if open_questions:
        return Finding(NAME, UNDECIDED, exact=False, trials=cluster.n)
    return Finding(NAME, HOLDS, exact=not truth.computed, tied=truth.tied)


def _whole(case: AuditCase) -> Finding:
    cluster, truth = case.cluster, case.given
    machines: Machines = [(cluster.pool, 1)]
    eligible = None
    if cluster.machines is not None:
        machines = [c.row for c in cluster.machines]
        eligible = [[c.open_to[i] for c in cluster.machines] for i in range(cluster.n)]
    held = tuple(int(low(x)) for x in truth.tasks)
    try:
        # Only a witness gains by a list: whether one task more fits decides as well, and minds the time.
        reached = enumeration.packable(cluster.demands, machines, cluster.limits, eligible, enumeration.LISTED)
    except enumeration.TooManyToListError:
        return _one_more(case, held)
    for tasks in reached:
        if tasks != held and all(y >= x for y, x in zip(tasks, held, strict=True)):
            i = next(i for i, (y, x) in enumerate(zip(tasks, held, strict=True)) if y > x)
            witness = Waste(cluster.users[i], Fraction(held[i]), Fraction(tasks[i]))
            return Finding(NAME, FAILS, witness, tied=truth.tied)
    return Finding(NAME, HOLDS, tied=truth.tied)


def _one_more(case: AuditCase, held: tuple[int, ...]) -> Finding:
    """Ask of every user whether one task more can be run beside all that are held."""
    rows, decided = wasted(case.cluster.instance(), held, case.policy, case.deadline)
    for user, tasks in rows:
        return Finding(NAME, FAILS, Waste(user, Fraction(tasks), Fraction(tasks + 1)), tied=case.given.tied)
    if not decided:
        return Finding(NAME, UNDECIDED, exact=False, trials=case.cluster.n)
    return Finding(NAME, HOLDS, tied=case.given.tied)


def _machines(case: AuditCase) -> Finding:
    """Ask a linear program, in fractions, for the most tasks that leave nobody with less, counted in what each has."""
    cluster, truth = case.cluster, case.given
    if not any(cluster.classes(i) for i in range(cluster.n)):
        return Finding(NAME, HOLDS)
    held = [low(x) for x in truth.tasks]
    placed = together(cluster, held, case.deadline)
    gains = [sum((z for (h, _), z in placed.items() if h == i), Fraction(0)) for i in range(cluster.n)]
    i = max(range(cluster.n), key=lambda h: (gains[h] - held[h]) / (held[h] or 1))
    if truth.exact and gains[i] > held[i]:
        return Finding(NAME, FAILS, Waste(cluster.users[i], truth.tasks[i], gains[i]), exact=True, tied=truth.tied)
    if truth.exact:
        return Finding(NAME, HOLDS, tied=truth.tied)
    # The program starts from the least the tasks may be: what it gains within the error of all is nothing.
    error = max(NOTICED, 10 * error_of(case.policy))
    if gains[i] - held[i] > Fraction(error) * (held[i] or 1):
        witness = Waste(cluster.users[i], truth.tasks[i], around(float(gains[i]), error))
        return Finding(NAME, FAILS, witness, exact=False)
    return Finding(NAME, HOLDS, exact=False, note="to the error of the tasks, which are computed in floats")


def together(cluster: Economy, held: list[Fraction], deadline: Deadline) -> dict[tuple[int, int], Fraction]:
    """Return tasks by user and class of a largest sum, each counted in what she has, where nobody has less than `held`.

    Floats propose a basis, exact arithmetic decides it.
    """
    import numpy as np
    from scipy import sparse

    from ...base.solvers.exact_lp import ExactProgram, maximise
    from ...engines.linear_programs import INFINITY, basic_columns, load, run

    pairs = [(i, k) for i in range(cluster.n) for k, _ in cluster.classes(i)]
    unit = [x or Fraction(1) for x in held]
    cells: dict[tuple[int, int], int] = {}
    columns: list[dict[int, Fraction]] = []
    room: list[Fraction] = []
    for i, k in pairs:
        column = {}
        for j, d in enumerate(cluster.demands[i]):
            if d:
                whole = (cluster.machines or ())[k].room[j]
                row = cells.setdefault((k, j), len(cells))
                column[row] = d * unit[i] / whole
        columns.append(column)
    room += [Fraction(1)] * len(cells)
    for h, x in enumerate(held):
        limit = cluster.limits[h]
        if x:
            room.append(-x / unit[h])
        if limit is not None:
            room.append(limit / unit[h])
        for (i, _), column in zip(pairs, columns, strict=True):
            if i == h and x:
                column[len(room) - 1 - (limit is not None)] = Fraction(-1)
            if i == h and limit is not None:
                column[len(room) - 1] = Fraction(1)
    entries = [(float(value), r, q) for q, column in enumerate(columns) for r, value in column.items()]
    values, rows, places = zip(*entries, strict=True)
    matrix = sparse.csr_matrix((values, (rows, places)), shape=(len(room), len(pairs)))
    most = np.array([float(value) for value in room])
    highs = load(-np.ones(len(pairs)), np.full(len(pairs), INFINITY), matrix, np.full(len(room), -INFINITY), most)
    run(highs, "the program of what more is possible", deadline)
    program = ExactProgram(columns, room, [Fraction(1)] * len(pairs))
    found = maximise(program, basic_columns(highs), "the program of what more is possible", deadline)
    return {(i, k): amount * unit[i] for (i, k), amount in zip(pairs, found.x, strict=True)}
