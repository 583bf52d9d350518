"""Integer programs over HiGHS, or another solver that PuLP drives; what comes back is held against the rows."""

import inspect
import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import highspy
import numpy as np

from ...base.deadline import NEVER, Deadline
from ...base.errors import EngineError, SolverError, TimeLimitError
from ...base.solvers.table import DIRECT, program, quiet
from ...certificates.second_solver import variable

__all__ = ["ASKING", "COLUMNS", "INTEGRAL", "MET", "ROUNDED", "Model", "Terms", "TooLarge", "UnfinishedProgram", "stop"]

INTEGRAL = 1e-9
"""Distance from a whole number asked of HiGHS."""


ROUNDINGS = 4
"""Roundings of a column by which it may be off a whole number."""

ROUNDED = 1e-4
"""Distance from a whole number beyond which its answer is not rounded but refused."""

TOLD_APART = 1e12
"""Numbers up to which a solver's floats tell whole ones apart by that."""


MET = 1e-6
"""Part of a row's terms by which a point may miss the row: beyond every solver's own tolerance."""


STOPPED = {
    highspy.HighsModelStatus.kTimeLimit: "stopped",
    highspy.HighsModelStatus.kInterrupt: "stopped",
    highspy.HighsModelStatus.kSolutionLimit: "nodes",
}
"""How HiGHS ends before it knows what is best."""

COLUMNS = 200_000
"""Largest program that is built at all."""


Terms = dict[int, float]


class TooLarge(SolverError):
    """A program has more columns than it is worth to hand to a solver."""


class UnfinishedProgram(TimeLimitError):
    """The time ran out in an integer program, or if not `late` the nodes; `point` is the best found, or None."""

    def __init__(self, point: np.ndarray | None, late: bool = True):
        super().__init__(f"the {'time limit' if late else 'number of nodes'} ran out in an integer program")
        self.point, self.late = point, late


@dataclass
class Model:
    """An integer program under construction: minimise the cost over integer columns.

    No solver is believed: a point is held against the rows, an optimum against a known point, and where a solver that
    was named finds no point HiGHS is asked as well.

    `nodes` is how many HiGHS may branch on where no time limit says when to end, None for as many as it takes.
    """

    solver: str = DIRECT
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    whole: list[bool] = field(default_factory=list)
    rows: list[tuple[float, float, Terms]] = field(default_factory=list)
    nodes: int | None = None

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
        if ended in ("stopped", "nodes"):
            raise UnfinishedProgram(None if point is None or self._missed(point) else point, ended == "stopped")
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
        """Return how the solver ended (optimal, infeasible, stopped, or nodes), and its values, if any."""
        if self.solver != DIRECT:
            return _through_pulp(self, self.solver, deadline)
        highs = self._load()
        highs.setOptionValue("time_limit", deadline.left())
        if self.nodes is not None and deadline.left() == math.inf:
            highs.setOptionValue("mip_max_nodes", self.nodes)
        if start:
            highs.setSolution(len(start), np.array(list(start), dtype=np.int32), np.array(list(start.values())))
        if deadline.stoppable:
            _listen(highs, deadline)
        highs.run()
        status = highs.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            return "infeasible", None
        values = np.array(highs.getSolution().col_value)
        if (ended := STOPPED.get(status)) is not None:
            feasible = highs.getInfo().primal_solution_status == highspy.kSolutionStatusFeasible
            return ended, values if feasible else None
        if status != highspy.HighsModelStatus.kOptimal:
            raise SolverError(f"HiGHS ended an integer program with status {highs.modelStatusToString(status)!r}")
        return "optimal", values

    def _rounded(self, values: np.ndarray) -> np.ndarray:
        rounded = np.where(np.array(self.whole), np.round(values), values)
        if np.abs(values - rounded).max(initial=0.0) > ROUNDED:
            most = np.abs(values).max()
            besides = f", among numbers to {most:.0e}: give demands in larger units" if most > TOLD_APART else ""
            raise SolverError(f"solver {self.solver!r} returned a fraction where a whole number was asked for{besides}")
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
        # Asked for less than the rounding of its largest column HiGHS goes round in circles, whatever the time limit.
        largest = max((x for x in self.high if x < math.inf), default=1.0)
        highs.setOptionValue("mip_feasibility_tolerance", max(INTEGRAL, ROUNDINGS * np.finfo(float).eps * largest))
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


LEAST = 0.1
"""Seconds that a solver is given at least: some take 0 for no limit."""

OPTIONS: dict[str, dict[str, Any]] = {
    # The presolve of HiGHS 1.15.1 calls some feasible counting programs infeasible.
    "HiGHS": {"presolve": "off"},
    "GUROBI": {"MIPGapAbs": 0.0},
}
"""What a solver must be told besides, by PuLP's name of it."""

EXACT = frozenset({"GLPK_CMD"})
"""Solvers that cannot be told a gap, and stop at none by themselves."""


def _through_pulp(model: Model, solver: str, deadline: Deadline) -> tuple[str, np.ndarray | None]:
    """Return how the solver ended, ``optimal``, ``infeasible`` or ``stopped``, and the values of the columns, if any.

    Raises
    ------
    EngineError
        When the solver cannot be told a gap of 0, or the time limit.
    SolverError
        When it fails, or ends otherwise.
    """
    import pulp

    with quiet():
        program, columns = _stated(pulp, model)
        driver = _driver(pulp, solver, deadline)
        try:
            program.solve(driver)
        except pulp.PulpSolverError as error:
            if deadline.stopped:
                return "stopped", None
            raise SolverError(f"solver {solver!r} failed on an integer program: {error}") from None
    if program.status == pulp.LpStatusInfeasible:
        return "infeasible", None
    values = [column.value() for column in columns]
    point = None if any(x is None or not math.isfinite(x) for x in values) else np.array(values, dtype=float)
    if program.status == pulp.LpStatusOptimal and program.sol_status == pulp.LpSolutionOptimal and point is not None:
        return "optimal", point
    feasible = program.sol_status == pulp.LpSolutionIntegerFeasible
    if deadline.stopped or (deadline.left() < math.inf and (feasible or program.status == pulp.LpStatusNotSolved)):
        return "stopped", point if feasible else None
    raise SolverError(
        f"solver {solver!r} ended an integer program with status {pulp.LpStatus[program.status]!r} "
        f"({pulp.LpSolution[program.sol_status]})"
    )


def _stated(pulp: Any, model: Model) -> tuple[Any, list[Any]]:
    """Return the program for PuLP and its variables, column by column."""
    program = pulp.LpProblem("whole_tasks", pulp.LpMinimize)
    columns = []
    for number, (low, high, whole) in enumerate(zip(model.low, model.high, model.whole, strict=True)):
        kind = pulp.LpInteger if whole else pulp.LpContinuous
        columns.append(variable(program, f"x{number}", _finite(low), _finite(high), kind))
    # Named even where it costs nothing: PuLP forgets a variable that is in no row and has no cost.
    program.setObjective(pulp.LpAffineExpression(list(zip(columns, model.cost, strict=True))))
    for low, high, terms in model.rows:
        held = pulp.LpAffineExpression([(columns[column], x) for column, x in terms.items()])
        if not terms:
            continue
        if low == high:
            program += held == low
            continue
        if low > -math.inf:
            program += held >= low
        if high < math.inf:
            program += held <= high
    return program, columns


def _finite(bound: float) -> float | None:
    return bound if math.isfinite(bound) else None


def _driver(pulp: Any, solver: str, deadline: Deadline) -> Any:
    """Return PuLP's driver of a solver, gaps 0: the defaults would make "optimal" a matter of taste."""
    options: dict[str, Any] = {"msg": False} | OPTIONS.get(solver, {})
    takes = inspect.signature(type(pulp.getSolver(solver, msg=False)).__init__).parameters
    if "gapRel" not in takes and solver not in EXACT:
        raise EngineError(f"PuLP cannot tell solver {solver!r} to leave no gap: name another")
    options |= {gap: 0.0 for gap in ("gapRel", "gapAbs") if gap in takes}
    seconds = deadline.left(LEAST)
    if seconds < math.inf:
        if "timeLimit" not in takes:
            raise EngineError(f"PuLP cannot tell solver {solver!r} a time limit: name another, or drop the limit")
        options["timeLimit"] = seconds
    return pulp.getSolver(solver, **options)
