"""CEEI and alpha fairness as a conic program, stated in cvxpy and solved by Clarabel.

The logarithm is the exponential cone, other powers are power cones.  A conic solver's "optimal" hides errors of 1e-5
and more in the tasks, so its answer is the start of Newton's method on the optimality conditions.  The statement is
built from the instance, class by class, and shares no row with the other engines.
"""

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from ..errors import SolverError, TimeLimitError
from .market import Market, Point
from .polish import polish
from .problem import Answer, Problem

__all__ = ["solve"]


def solve(problem: Problem) -> Answer:
    """Return the optimum and its prices."""
    market = Market(problem)
    return market.answer(polish(market, _cone(problem, market)))


def _cone(problem: Problem, market: Market) -> Point:
    """Return Clarabel's answer, in the market's units: one unit of a pair is ``market.scale`` tasks."""
    import cvxpy as cp

    user, machine = problem.pairs
    v = cp.Variable(len(user), nonneg=True, name="v")
    tasks = sparse.csr_matrix((np.ones(len(user)), (user, np.arange(len(user)))), shape=(problem.n, len(user))) @ v
    demands = problem.instance.demands[problem.members[user]] * market.scale[user][:, None]
    capacities, cells = [], []
    for k in range(problem.k):
        here = np.flatnonzero(machine == k)
        for j in np.flatnonzero(demands[here].any(axis=0)):
            capacities.append(demands[here, j] / problem.room[k, j] @ v[here] <= 1)
            cells.append((k, j))
    limited = np.flatnonzero(np.isfinite(problem.limits))
    limits = [tasks[limited] <= problem.limits[limited] / market.scale[limited]] if limited.size else []
    model = cp.Problem(cp.Maximize(_utility(cp, tasks, market)), [*capacities, *limits])
    options = {} if problem.time_limit is None else {"time_limit": problem.time_limit}
    try:
        with warnings.catch_warnings():
            # "May be inaccurate" is what the Newton steps are for, and the certificate is the judge.
            warnings.simplefilter("ignore")
            model.solve(solver=cp.CLARABEL, **options)
    except cp.SolverError as error:
        raise SolverError(f"Clarabel failed: {error}") from None
    if model.status in (cp.USER_LIMIT, "user_limit"):
        raise TimeLimitError("the time limit ran out in Clarabel")
    if model.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
        raise SolverError(f"Clarabel ended with status {model.status!r}: try engine 'barrier'")
    p = np.zeros(len(market.rows.machine))
    position = {cell: r for r, cell in enumerate(zip(market.rows.machine.tolist(), market.rows.resource.tolist(), strict=True))}
    for cell, constraint in zip(cells, capacities, strict=True):
        p[position[cell]] = max(float(constraint.dual_value), 0.0)
    nu = np.zeros(problem.n)
    if limits:
        nu[limited] = np.maximum(limits[0].dual_value, 0)
    return Point(np.maximum(v.value, 0), p, nu)


def _utility(cp: Any, tasks: Any, market: Market) -> Any:
    """Return the sum of utilities of t with the market's weights: the log, or a power."""
    alpha = market.alpha
    if alpha == 1:
        return market.g @ cp.log(tasks)
    return market.g @ cp.power(tasks, 1 - alpha) / (1 - alpha)

