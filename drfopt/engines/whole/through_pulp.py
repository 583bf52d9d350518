"""An integer program given to PuLP, for a solver that it drives; what comes back is not believed yet."""

import inspect
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import EngineError, SolverError
from ...base.solvers.table import quiet
from ...certificates.second_solver import variable

if TYPE_CHECKING:
    from .milp import Model

__all__ = ["run"]

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


def run(model: "Model", solver: str, deadline: Deadline) -> tuple[str, np.ndarray | None]:
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


def _stated(pulp: Any, model: "Model") -> tuple[Any, list[Any]]:
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
