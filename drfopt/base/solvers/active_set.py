"""The least value of a convex quadratic function of a few unknowns, each with a lower bound.

    minimise    y' B y / 2 - r' y        B symmetric, positive semidefinite      (m, m)
    subject to  y >= l                   l <= 0                                  (m,)

Either y_j = l_j, or the j-th row of  B y = r  holds.  Block pivoting guesses which, solves the rows, and turns round
all guesses that were wrong at once; where that makes no progress, only the last of them, which ends for every positive
definite matrix (K. Murty, Note on a Bard-type scheme for solving the complementarity problem, Opsearch 1974; J. Judice
and F. Pires, A block principal pivoting algorithm, Computers and Operations Research 1994).
"""

import numpy as np

from ..errors import SolverError
from ..tolerances import RIDGE, ROUNDING

__all__ = ["bounded_minimum"]

PATIENCE = 3
"""Blocks turned round without fewer wrong guesses than ever before."""

ROUNDS = 100
"""Times m: solutions of the rows at most."""


def bounded_minimum(matrix: np.ndarray, right: np.ndarray, low: np.ndarray) -> np.ndarray:
    """Return y (m,) of the program above; rows with ``low == 0`` and ``right <= 0`` are first guessed to stay there.

    Raises
    ------
    SolverError
        When rounding keeps the guesses from settling.
    """
    m = len(right)
    diagonal = matrix.diagonal()
    size = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = matrix * size * size[:, None]
    scaled.flat[:: m + 1] = 1 + RIDGE
    target, bound = right * size, low / size
    free = (low < 0) | (right > 0)
    fewest, patience = m + 1, PATIENCE
    for _ in range(ROUNDS * m):
        y = _solved(scaled, target, bound, free)
        wrong = y < bound * (1 + ROUNDING)
        if not free.all():
            wrong = np.where(free, wrong, scaled @ y - target < -ROUNDING * size)
        count = int(np.count_nonzero(wrong))
        if not count:
            return np.maximum(y * size, low)
        if count < fewest:
            fewest, patience = count, PATIENCE
        elif patience:
            patience -= 1
        else:
            wrong[: np.flatnonzero(wrong)[-1]] = False
        free = free ^ wrong
    raise SolverError("Newton's method on the prices cannot tell which resources have one: rounding hides it")


def _solved(matrix: np.ndarray, right: np.ndarray, bound: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return y with the free rows solved and the others at their bounds."""
    if free.all():
        return np.linalg.solve(matrix, right)
    y = bound.copy()
    there, rest = np.flatnonzero(free), np.flatnonzero(~free)
    if there.size:
        y[there] = np.linalg.solve(matrix[np.ix_(there, there)], right[there] - matrix[np.ix_(there, rest)] @ y[rest])
    return y
