"""The vertex where simplex ended, to rounding: its equations solved, and pivots that the solver's tolerance hides.

A basis is exact, its numbers need not be.  They are solved again from the rows and columns of the program, with what
is left found anew each time.  That can show that the basis is not the best one by less than the tolerance, which rounds
amplify: then the solver is asked for the *corrections* to the point and to the duals, in units in which what is missed
is far above its tolerance, and goes on from there to the next basis.

Source: Gleixner, Steffy and Wolter, Iterative refinement for linear programming, INFORMS Journal on Computing 2016.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import highspy
import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from scipy.sparse.linalg import splu

from ...base.deadline import Deadline
from ...base.errors import SolverError, TimeLimitError
from ...base.numbers.double_double import DoubleDouble
from ..linear_programs import basis_of, correct, resume, run

__all__ = ["StandardForm", "settled", "vertices"]

SOLVED = 2
"""Times the equations of a basis are solved for what is left."""

UNIT = 1e-8
"""What is one in a program of corrections: a hundredth of the tolerance is then far below rounding."""

TURNS = 8
"""Programs of corrections that are asked for."""

CLEAN = 1e-15
"""What a vertex may miss that rounding leaves."""

FREE = 1e-10
"""What a move costs that is to cost nothing, where others cost 1."""

DEPENDENT = 1e-12
"""By so much equations may be broken in one step, so that those that say the same twice have a factorisation."""

SETTLED = 6
"""Times the least move is solved for what is left."""

SPARED = (0.0, 3e-16, 1e-15, 1e-14)
"""By how much who is finished may fall, so that rounding of levels makes no contradiction: the least that will do."""


@dataclass(frozen=True, eq=False)
class StandardForm:
    """Minimise ``cost . x`` over x >= 0 (c,) with ``low <= matrix x <= high`` (r,), one of which each row has.

    A small matrix is dense: one call of scipy.sparse takes as long as all arithmetic with it.
    """

    matrix: sparse.csr_array | np.ndarray
    cost: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def at(self, columns: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the columns (c,) and duals (r,) that a basis makes, bool (c,) and (r,); None where it is none."""
        equations, basic = np.flatnonzero(~rows), np.flatnonzero(columns)
        if len(equations) != len(basic):
            return None
        square = self.matrix[equations][:, basic]
        solve = _factorised(square)
        if solve is None:
            return None
        bound = np.where(np.isfinite(self.low), self.low, self.high)[equations]
        x, y = np.zeros(len(columns)), np.zeros(len(rows))
        x[basic] = _solved(square, bound, solve)
        y[equations] = _solved(square.T, self.cost[basic], partial(solve, trans="T"))
        return x, y

    def missed(self, x: np.ndarray, y: np.ndarray) -> float:
        """Return by how much the worst condition of the optimum is broken; duals are measured by the largest."""
        filled = self.matrix @ x
        signed = np.where(np.isfinite(self.low), -y, y)
        over = np.maximum(self.low - filled, filled - self.high)
        reduced = self.cost - self.matrix.T @ y
        return float(max(-x.min(), over.max(), max(-reduced.min(), signed.max()) / max(np.abs(y).max(), 1.0), 0.0))


def vertices(
    highs: highspy.Highs, program: StandardForm, ended: tuple[np.ndarray, np.ndarray] | None, deadline: Deadline
) -> Iterator[tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]]:
    """Yield columns (c,), duals (r,) and the basis, bool (c,) and (r,), each nearer to the optimum than the one before.

    Raises
    ------
    TimeLimitError
    """
    spare = iter(SPARED)
    stated = replace(program, low=program.low * (1 - next(spare)))
    for _ in range(TURNS):
        point = None if ended is None else stated.at(*ended)
        if ended is None or point is None:
            return
        x, y = point
        yield x, y, ended
        if not stated.missed(x, y) > CLEAN:
            return
        filled = stated.matrix @ x
        correct(
            highs,
            -x / UNIT,
            (stated.low - filled) / UNIT,
            (stated.high - filled) / UNIT,
        )
        try:
            run(highs, "the corrections of a round", deadline)
        except TimeLimitError:
            raise
        except SolverError:
            more = next(spare, None)
            if more is None:
                return
            stated = replace(program, low=program.low * (1 - more))
            resume(highs, *ended)
            continue
        ended = basis_of(highs)


def settled(
    matrix: sparse.csr_array, start: Any, free: np.ndarray, missing: Callable[[Any], np.ndarray], steps: int = SETTLED
) -> Any:
    """Return x (c,) at which nothing is `missing` (r,) of equations: of a start that is near the least relative move.

    What is `free`, bool (c,), moves at no cost.  The start may have more digits than the matrix: then x has them too.
    """
    size = start.high if isinstance(start, DoubleDouble) else start
    parts = matrix @ sparse.diags_array(size)
    least = sparse.diags_array(np.where(free, FREE, 1.0))
    broken = -DEPENDENT * sparse.eye_array(matrix.shape[0])
    square = sparse.block_array([[least, parts.T], [parts, broken]], format="csc")
    try:
        root = splu(square, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:  # It is singular.
        return start
    x, still = start, np.zeros(len(size))
    for _ in range(steps):
        x = x + size * root.solve(np.concatenate([still, missing(x)]))[: len(still)]
    return x


def _factorised(square: sparse.csr_array | np.ndarray) -> Callable[..., np.ndarray] | None:
    """Return what solves equations with the matrix, or with ``trans="T"`` its transpose; None where it is singular."""
    if not isinstance(square, np.ndarray):
        try:
            solve: Callable[..., np.ndarray] = splu(sparse.csc_array(square)).solve
        except RuntimeError:  # It is singular.
            return None
        return solve
    root, pivots, zero = lapack.dgetrf(square)
    if zero:
        return None
    return lambda right, trans="N": lapack.dgetrs(root, pivots, right, trans=trans == "T")[0]


def _solved(
    matrix: sparse.sparray | np.ndarray, right: np.ndarray, solve: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return x with ``matrix x = right`` to rounding."""
    x = solve(right)
    for _ in range(SOLVED):
        x = x + solve(right - matrix @ x)
    return x
