"""Integer programs over HiGHS, and how whole tasks of users are supplied by a pool or by machines."""

import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import highspy
import numpy as np

from ...base.deadline import NEVER, Deadline
from ...base.errors import SolverError, TimeLimitError
from ...base.solvers.rows import program
from ...base.solvers.table import DIRECT
from ...model.packings import Packing, integer_rows, program_rows, split, trimmed
from ..problem import Answer, Problem
from . import through_pulp

__all__ = [
    "ASKING",
    "SEARCH",
    "Model",
    "Supply",
    "TooLarge",
    "Unfinished",
    "columns",
    "packed",
    "placed",
    "stop",
    "supply",
]

INTEGRAL = 1e-9
"""Distance from a whole number asked of HiGHS."""

ROUNDED = 1e-4
"""Distance from a whole number beyond which its answer is not rounded but refused."""

SEARCH = 0.7
"""Part of the time that the search for an answer may take; the rest is for its proof."""

MET = 1e-6
"""Part of a row's terms by which a point may miss the row: beyond every solver's own tolerance."""

COLUMNS = 200_000
"""Largest program that is built at all."""

Terms = dict[int, float]


class TooLarge(SolverError):
    """A program has more columns than it is worth to hand to a solver."""


class Unfinished(TimeLimitError):
    """The time ran out in an integer program; `point` is the best point found, or None."""

    def __init__(self, point: np.ndarray | None):
        super().__init__("the time limit ran out in an integer program")
        self.point = point


@dataclass
class Model:
    """An integer program under construction: minimise the cost over integer columns.

    No solver is believed: a point is held against the rows, an optimum against a known point, and where a solver that
    was named finds no point HiGHS is asked as well.
    """

    solver: str = DIRECT
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    rows: list[tuple[float, float, Terms]] = field(default_factory=list)

    def column(self, high: float, cost: float = 0.0, low: float = 0.0, whole: bool = True) -> int:
        """Add a column and return its number."""
        if len(self.low) >= COLUMNS:
            raise TooLarge(
                f"the program of whole tasks has over {COLUMNS:,} columns: ask of fewer users or classes at once"
            )
        self.low.append(low)
        self.high.append(high)
        self.cost.append(cost)
        self.whole.append(whole)
        return len(self.low) - 1

    def row(self, low: float, high: float, terms: Terms) -> None:
        """Add the row ``low <= sum of terms <= high``."""
        self.rows.append((low, high, terms))

    def solve(self, deadline: Deadline = NEVER, start: dict[int, float] | None = None) -> np.ndarray | None:
        """Return an optimal point, or None when there is no feasible one; `start` gives columns of a known point.

        Raises
        ------
        TimeLimitError, SolverError
        """
        if any(not terms and not low <= 0 <= high for low, high, terms in self.rows):
            return None
        if not self.low:
            return np.zeros(0)
        deadline.check("an integer program")
        ended, values = self._asked(deadline, start)
        point = None if values is None else self._rounded(values)
        if ended == "stopped":
            raise Unfinished(None if point is None or self._missed(point) else point)
        if point is None:
            if self.solver != DIRECT and replace(self, solver=DIRECT).solve(deadline) is not None:
                raise SolverError(
                    f"solver {self.solver!r} calls an integer program infeasible that has a solution: "
                    "it is not believed"
                )
            return None
        if missed := self._missed(point):
            raise SolverError(f"solver {self.solver!r} returned a point that {missed}: it is not believed")
        if start and self.value(point) > (known := self._known(start)) + MET * max(1.0, abs(known)):
            raise SolverError(
                f"solver {self.solver!r} calls optimal what is worse than a point that is known: it is not believed"
            )
        return point

    def value(self, point: np.ndarray) -> float:
        """Return what a point costs."""
        return math.fsum(cost * x for cost, x in zip(self.cost, point.tolist(), strict=True))

    def _known(self, start: dict[int, float]) -> float:
        """Return what the known columns cost; inf where others cost something too."""
        if any(cost for column, cost in enumerate(self.cost) if column not in start):
            return math.inf
        return math.fsum(self.cost[column] * x for column, x in start.items())

    def _asked(self, deadline: Deadline, start: dict[int, float] | None) -> tuple[str, np.ndarray | None]:
        """Return how the solver ended, ``optimal``, ``infeasible`` or ``stopped``, and its values, if any."""
        if self.solver != DIRECT:
            return through_pulp.run(self, self.solver, deadline)
        highs = self._load()
        highs.setOptionValue("time_limit", deadline.left())
        if start:
            highs.setSolution(len(start), np.array(list(start), dtype=np.int32), np.array(list(start.values())))
        if deadline.stoppable:
            _listen(highs, deadline)
        highs.run()
        status = highs.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            return "infeasible", None
        values = np.array(highs.getSolution().col_value)
        if status in (highspy.HighsModelStatus.kTimeLimit, highspy.HighsModelStatus.kInterrupt):
            feasible = highs.getInfo().primal_solution_status == highspy.kSolutionStatusFeasible
            return "stopped", values if feasible else None
        if status != highspy.HighsModelStatus.kOptimal:
            raise SolverError(f"HiGHS ended an integer program with status {highs.modelStatusToString(status)!r}")
        return "optimal", values

    def _rounded(self, values: np.ndarray) -> np.ndarray:
        rounded = np.where(np.array(self.whole), np.round(values), values)
        if np.abs(values - rounded).max(initial=0.0) > ROUNDED:
            raise SolverError(f"solver {self.solver!r} returned a fraction where a whole number was asked for")
        return rounded

    def _missed(self, point: np.ndarray) -> str:
        """Return what a point misses, in words, or nothing; exactly is decided later, from tasks and packing."""
        x = point.tolist()
        for column, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            if not low - MET <= x[column] <= high + MET * max(1.0, abs(x[column])):
                return f"puts {x[column]:.6g} where {low:.6g} to {high:.6g} was asked for"
        for low, high, terms in self.rows:
            parts = [factor * x[column] for column, factor in terms.items()]
            total, slack = math.fsum(parts), MET * max(1.0, math.fsum(map(abs, parts)))
            if not low - slack <= total <= high + slack:
                return f"makes {total:.6g} of a row that is {low:.6g} to {high:.6g}"
        return ""

    def _load(self) -> highspy.Highs:
        model = program(self.cost, self.low, self.high, self.rows)
        kinds = {True: highspy.HighsVarType.kInteger, False: highspy.HighsVarType.kContinuous}
        model.integrality_ = [kinds[whole] for whole in self.whole]
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        # The presolve of HiGHS 1.15.1 calls some feasible counting programs infeasible.
        highs.setOptionValue("presolve", "off")
        # The default gaps, 1e-4 of the objective and 1e-6 of it, would make "optimal" a matter of taste.
        highs.setOptionValue("mip_rel_gap", 0.0)
        highs.setOptionValue("mip_abs_gap", 0.0)
        highs.setOptionValue("mip_feasibility_tolerance", INTEGRAL)
        highs.passModel(model)
        return highs


def _listen(highs: highspy.Highs, deadline: Deadline) -> None:
    """Let HiGHS ask now and then whether to stop; asking gives the interpreter the turn to hear a Ctrl-C."""

    highs.setCallback(partial(stop, deadline), None)
    for kind in ASKING:
        highs.startCallback(kind)


def stop(deadline: Deadline, kind: Any, message: str, out: Any, answer: Any, data: Any) -> None:
    """Answer HiGHS, which asks whether to stop."""
    answer.user_interrupt = deadline.stopped


ASKING = [
    highspy.cb.HighsCallbackType.kCallbackMipInterrupt,
    highspy.cb.HighsCallbackType.kCallbackSimplexInterrupt,
]
"""When HiGHS asks."""


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
    for _ in range(int(instance.counts[k])):
        columns = [model.column(most) for most in alone]
        _capacity_rows(model, columns, demands, room)
        found.single.append((k, dict(zip(users, columns, strict=True))))
        for i, column in zip(users, columns, strict=True):
            found.tasks[shape[i]][column] = 1.0


def _capacity_rows(model: Model, columns: list[int], demands: list[list[int]], room: list[int]) -> None:
    for row, total in program_rows(demands, room):
        model.row(0, total, {column: d for column, d in zip(columns, row, strict=True) if d})


def placed(problem: Problem, supplied: Supply, values: np.ndarray, tasks: list[int], status: str = "optimal") -> Answer:
    """Return whole tasks of the members as an answer, on machines with which of them runs what."""
    if problem.instance.machines is None:
        return Answer(np.array(tasks, dtype=np.int64), status=status)
    return packed(problem, tasks, supplied.packing(values, problem.members.tolist(), tasks), status)


def packed(problem: Problem, tasks: list[int], packing: list[Packing], status: str = "optimal") -> Answer:
    """Return whole tasks of the members and how machines run them as an answer."""
    table = np.zeros((problem.instance.n, problem.k), dtype=np.int64)
    for k, count, pattern in packing:
        for i, x in pattern.items():
            table[i, k] += count * x
    user, machine = problem.pairs
    amounts = table[problem.members[user], machine]
    return Answer(np.array(tasks, dtype=np.int64), amounts=amounts, evidence={"packing": packing}, status=status)
