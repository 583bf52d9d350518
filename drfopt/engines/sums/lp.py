"""The largest sum of levels (utilitarian, throughput) as one linear program over HiGHS, for pools and machines."""

from dataclasses import dataclass

import highspy
import numpy as np
from scipy import sparse

from ...base.errors import SolverError
from ..linear_programs import INFINITY, Rows, capacity_rows, load, run, user_rows
from ..problem import Answer, Problem

__all__ = ["Stated", "program", "solve"]


@dataclass(frozen=True, eq=False)
class Stated:
    """The program in HiGHS: capacity rows, then a row for each user who is limited; columns in steps of `step`."""

    highs: highspy.Highs
    rows: Rows
    limited: np.ndarray
    step: np.ndarray
    largest: float


def program(problem: Problem, rates: np.ndarray, limits: np.ndarray) -> Stated:
    """Return the program, not solved yet: a task of user i is worth ``rates[i]``, and she has at most ``limits[i]``.

    Types of one user, where `problem` is by type, are held in their proportions by rows of their own.
    """
    user, _ = problem.pairs
    rows, adding = capacity_rows(problem), user_rows(problem)
    # One unit of a column is what the pair could place alone, or its user's limit: then columns and rows are near 1.
    alone = 1 / rows.matrix.max(axis=0).toarray().ravel()
    step = np.minimum(alone, limits[user])
    worth = rates[user] * step
    largest = float(worth.max())
    if not 0 < largest < np.inf:
        raise SolverError("what the users' tasks are worth is beyond the range of floats: ask for an exact answer")
    limited = np.flatnonzero(np.isfinite(limits))
    limit_rows = sparse.diags(1 / limits[limited]) @ adding[limited]
    mixed = _mixed(problem, adding)
    matrix = sparse.vstack([rows.matrix, limit_rows, mixed]) @ sparse.diags(step)
    free = rows.matrix.shape[0] + len(limited)
    highs = load(
        -worth / largest,
        np.full(len(user), INFINITY),
        matrix,
        np.concatenate([np.full(free, -INFINITY), np.zeros(mixed.shape[0])]),
        np.concatenate([np.ones(free), np.zeros(mixed.shape[0])]),
    )
    return Stated(highs, rows, limited, step, largest)


def _mixed(problem: Problem, adding: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return the rows that are 0 where a user has as many tasks of each type as their parts say."""
    later = np.flatnonzero(np.diff(problem.user, prepend=-1) == 0)
    shares = sparse.diags(problem.part.min() / problem.part) @ adding
    return shares[later] - shares[later - 1]


def solve(problem: Problem) -> Answer:
    """Return an allocation of the largest sum, and the prices that prove it."""
    by_type = problem.by_type
    stated = program(by_type, problem.rates[by_type.user], by_type.limits)
    (row, _), rows, largest = by_type.pairs, stated.rows, stated.largest
    solution = run(stated.highs, "the largest sum", problem.deadline)
    amounts = np.maximum(solution.columns, 0) * stated.step
    placed = np.bincount(row, weights=amounts, minlength=by_type.n)
    tasks = np.full(problem.n, np.inf)
    np.minimum.at(tasks, by_type.user, placed / by_type.part)
    tasks = np.minimum(tasks, problem.limits)
    wanted = tasks[by_type.user] * by_type.part
    amounts = amounts * np.divide(wanted, placed, where=placed > 0, out=np.zeros(by_type.n))[row]
    budget = np.maximum(-solution.duals[: len(rows.machine)], 0) * largest
    total = problem.instance.room
    prices = np.divide(rows.spread(budget, problem.k, problem.m), total, where=total > 0, out=np.zeros_like(total))
    return Answer(tasks, amounts=amounts, prices=prices)
