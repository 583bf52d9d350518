"""The largest sum of levels (utilitarian, throughput) as one linear program over HiGHS, for pools and machines."""

from dataclasses import dataclass

import highspy
import numpy as np
from scipy import sparse

from .linear import INFINITY, Rows, capacity_rows, load, run, user_rows
from .problem import Answer, Problem

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
    """Return the program, not solved yet: a task of user i is worth ``rates[i]``, and she has at most ``limits[i]``."""
    user, _ = problem.pairs
    rows, adding = capacity_rows(problem), user_rows(problem)
    # One unit of a column is what the pair could place alone, or its user's limit: then columns and rows are near 1.
    alone = 1 / rows.matrix.max(axis=0).toarray().ravel()
    step = np.minimum(alone, limits[user])
    worth = rates[user] * step
    largest = float(worth.max())
    limited = np.flatnonzero(np.isfinite(limits))
    limit_rows = sparse.diags(1 / limits[limited]) @ adding[limited]
    matrix = sparse.vstack([rows.matrix, limit_rows]) @ sparse.diags(step)
    highs = load(
        -worth / largest,
        np.full(len(user), INFINITY),
        matrix,
        np.full(matrix.shape[0], -INFINITY),
        np.ones(matrix.shape[0]),
    )
    return Stated(highs, rows, limited, step, largest)


def solve(problem: Problem) -> Answer:
    """Return an allocation of the largest sum, and the prices that prove it."""
    stated, (user, _) = program(problem, problem.rates, problem.limits), problem.pairs
    rows, largest = stated.rows, stated.largest
    solution = run(stated.highs, "the largest sum", problem.deadline)
    amounts = np.maximum(solution.columns, 0) * stated.step
    tasks = np.bincount(user, weights=amounts, minlength=problem.n)
    over = np.minimum(1.0, problem.limits / np.where(tasks > 0, tasks, 1.0))
    amounts, tasks = amounts * over[user], tasks * over
    budget = np.maximum(-solution.duals[: len(rows.machine)], 0) * largest
    total = problem.instance.room
    prices = np.divide(rows.spread(budget, problem.k, problem.m), total, where=total > 0, out=np.zeros_like(total))
    return Answer(tasks, amounts=amounts, prices=prices)
