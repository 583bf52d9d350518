"""Linear programs over the pairs (user, class), built once as sparse arrays and solved by HiGHS.

Columns are levels: pair (i, k) carries ``v_ik = rate_i z_ik / unit``, in a unit that brings levels near 1, and the rows
of the capacities are fractions of a class, so that their right-hand sides are 1.
"""

from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from scipy import sparse

from ..base.deadline import NEVER, Deadline
from ..base.errors import SolverError, TimeLimitError
from ..base.progress import report
from ..base.tolerances import SOLVER_FEASIBILITY
from .problem import Problem

__all__ = [
    "Rows",
    "Solution",
    "basic_columns",
    "basis_of",
    "basis_to_mend",
    "capacity_rows",
    "correct",
    "inside",
    "load",
    "resume",
    "run",
    "user_rows",
]

INFINITY = highspy.kHighsInf

LOOSER = 10
"""Times the tolerance of a second try."""

INSIDE: dict[str, Any] = {
    "solver": "ipm",
    "run_crossover": "off",
    "presolve": "off",
    "ipm_optimality_tolerance": 1e-12,
    "ipm_iteration_limit": 200,
}
"""How HiGHS is asked for a point inside the optimal face; the tolerance is the tightest it takes, since no vertex
follows that would be exact by itself.  It needs 15 to 40 iterations, or never ends.  Presolve finds
nothing to do where this is used, and takes its time."""

DUAL, PRIMAL = 1, 4
"""HiGHS's numbers of the two kinds of simplex."""

SMALLEST = 1e-12
"""Smallest entry of a row that HiGHS keeps when asked to; by default it drops what is below 1e-9."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Capacity rows that some pair enters: `matrix` (rows, pairs) in fractions of a class a task, and their cells."""

    matrix: sparse.csr_matrix
    machine: np.ndarray
    resource: np.ndarray

    def spread(self, values: np.ndarray, k: int, m: int) -> np.ndarray:
        """Return values (rows,) as an array (k, m), 0 where there is no row."""
        table = np.zeros((k, m))
        table[self.machine, self.resource] = values
        return table


def capacity_rows(problem: Problem) -> Rows:
    """Return the rows ``sum_i a_ikj z_ik <= 1`` of all classes and resources that somebody uses."""
    user, machine = problem.pairs
    pair, resource = np.nonzero(problem.cost)
    index = machine[pair] * problem.m + resource
    present, row = np.unique(index, return_inverse=True)
    entries = problem.cost[pair, resource]
    matrix = sparse.csr_matrix((entries, (row, pair)), shape=(len(present), len(user)))
    return Rows(matrix, present // problem.m, present % problem.m)


def user_rows(problem: Problem) -> sparse.csr_matrix:
    """Return the matrix (n, pairs) that adds up each user's pairs."""
    user, _ = problem.pairs
    return sparse.csr_matrix((np.ones(len(user)), (user, np.arange(len(user)))), shape=(problem.n, len(user)))


@dataclass(frozen=True, eq=False)
class Solution:
    """Columns (c,), duals of the rows (r,) and the objective of a solved program."""

    columns: np.ndarray
    duals: np.ndarray
    objective: float


def load(
    cost: np.ndarray, upper: np.ndarray, matrix: sparse.spmatrix, low: np.ndarray, high: np.ndarray
) -> highspy.Highs:
    """Return HiGHS holding: minimise ``cost . x``, ``low <= matrix x <= high``, ``0 <= x <= upper``."""
    by_row = sparse.csr_matrix(matrix)
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = by_row.shape
    model.col_cost_, model.col_lower_, model.col_upper_ = cost, np.zeros(len(cost)), upper
    model.row_lower_, model.row_upper_ = low, high
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_ = by_row.indptr, by_row.indices
    model.a_matrix_.value_ = by_row.data
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    _ask(highs, SOLVER_FEASIBILITY)
    # What is dropped is free: a small task on a large machine would cost nothing.
    highs.setOptionValue("small_matrix_value", SMALLEST)
    highs.passModel(model)
    return highs


def _ask(highs: highspy.Highs, tolerance: float) -> None:
    highs.setOptionValue("primal_feasibility_tolerance", tolerance)
    highs.setOptionValue("dual_feasibility_tolerance", tolerance)


def basic_columns(highs: highspy.Highs) -> list[int]:
    """Return the basis HiGHS ended with: columns, and slacks of rows numbered after all columns."""
    found = highs.getBasis()
    basic = highspy.HighsBasisStatus.kBasic
    return [q for q, status in enumerate([*found.col_status, *found.row_status]) if status == basic]


def basis_of(highs: highspy.Highs) -> tuple[np.ndarray, np.ndarray] | None:
    """Return which columns (c,) and slacks of rows (r,) are basic, bool; None where HiGHS keeps no basis."""
    status, found = highs.getBasicVariables()  # type: ignore[attr-defined]
    if status != highspy.HighsStatus.kOk:
        return None
    basic = np.asarray(found)
    columns, rows = np.zeros(highs.getNumCol(), dtype=bool), np.zeros(highs.getNumRow(), dtype=bool)
    columns[basic[basic >= 0]] = True
    rows[-1 - basic[basic < 0]] = True
    return columns, rows


def resume(highs: highspy.Highs, columns: np.ndarray, rows: np.ndarray) -> None:
    """Let primal simplex go on from the basis of another program, whose optimum is feasible in this one.

    `columns` (c,) and `rows` (r,) are as `basis_of` has them; HiGHS completes what is no basis here.
    """
    status = (highspy.HighsBasisStatus.kNonbasic, highspy.HighsBasisStatus.kBasic)
    basis = highspy.HighsBasis()
    basis.col_status = [status[one] for one in columns.tolist()]
    basis.row_status = [status[one] for one in rows.tolist()]
    basis.valid = basis.alien = True
    highs.setBasis(basis)
    highs.setOptionValue("simplex_strategy", PRIMAL)


def correct(highs: highspy.Highs, lower: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    """Change the bounds of columns (c,) and rows (r,), and let dual simplex go on from where it is."""
    columns, rows = np.arange(len(lower), dtype=np.int32), np.arange(len(low), dtype=np.int32)
    highs.changeColsBounds(len(columns), columns, lower, np.full(len(columns), INFINITY))
    highs.changeRowsBounds(len(rows), rows, low, high)  # type: ignore[attr-defined]
    highs.setOptionValue("simplex_strategy", DUAL)


def basis_to_mend(highs: highspy.Highs, what: str, deadline: Deadline) -> list[int]:
    """Solve and return the basis, from which exact pivots go on; of the slacks where HiGHS finds no optimum."""
    columns, rows = highs.getNumCol(), highs.getNumRow()
    try:
        run(highs, what, deadline)
    except TimeLimitError:
        raise
    except SolverError:
        return list(range(columns, columns + rows))
    found = basic_columns(highs)
    return found if len(found) == rows else list(range(columns, columns + rows))


def run(highs: highspy.Highs, what: str, deadline: Deadline = NEVER) -> Solution:
    """Solve and return the optimum.

    Raises
    ------
    TimeLimitError, SolverError
        When HiGHS ends with any status other than optimal; `what` names the program.
    """
    highs.setOptionValue("time_limit", highs.getRunTime() + deadline.left())
    highs.run()
    status = highs.getModelStatus()
    if status not in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kTimeLimit):
        # Rows that earlier levels fill to the last digit can make the tightest tolerance a contradiction. From no basis
        # and asked for less, simplex ends; whether that was enough, the certificate says.
        highs.clearSolver()
        _ask(highs, LOOSER * SOLVER_FEASIBILITY)
        highs.run()
        status = highs.getModelStatus()
        _ask(highs, SOLVER_FEASIBILITY)
    if status == highspy.HighsModelStatus.kTimeLimit:
        raise TimeLimitError(f"the time limit ran out in {what}")
    if status != highspy.HighsModelStatus.kOptimal:
        raise SolverError(
            f"HiGHS ended {what} with status {highs.modelStatusToString(status)!r}: its numbers may lie too far apart; "
            "give them in other units, or divide by another engine"
        )
    return _solution(highs)


def inside(highs: highspy.Highs, what: str, deadline: Deadline = NEVER) -> Solution:
    """Solve by interior point without crossover: duals from within the optimal face name every row that binds there.

    Where that ends without an optimum, simplex is asked, whose duals may name fewer.

    Raises
    ------
    TimeLimitError, SolverError
        When neither ends with the status optimal; `what` names the program.
    """
    for option, value in INSIDE.items():
        highs.setOptionValue(option, value)
    highs.setOptionValue("time_limit", highs.getRunTime() + deadline.left())
    highs.run()
    status = highs.getModelStatus()
    if status == highspy.HighsModelStatus.kOptimal:
        return _solution(highs)
    if status != highspy.HighsModelStatus.kTimeLimit:
        report(f"interior point ended {what} with status {highs.modelStatusToString(status)!r}: on to simplex")
        highs.clearSolver()
        highs.setOptionValue("solver", "choose")
        highs.setOptionValue("presolve", "choose")
    return run(highs, what, deadline)


def _solution(highs: highspy.Highs) -> Solution:
    solution = highs.getSolution()
    return Solution(
        np.array(solution.col_value),
        np.array(solution.row_dual),
        float(highs.getInfo().objective_function_value),
    )
