"""CEEI and alpha fairness as a conic program, stated in cvxpy and solved by Clarabel.

The logarithm is the exponential cone, other powers are power cones.  A conic solver's "optimal" hides errors of 1e-5
and more in the tasks, so its answer is the start of Newton's method on the optimality conditions.  The statement is
built from the instance, class by class, and shares no row with the other engines.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ...base.errors import SolverError, TimeLimitError
from ...base.tolerances import FIRST_ORDER
from ..problem import Answer, Problem
from .polish import polish
from .scaled_market import MarketPoint, ScaledMarket

__all__ = ["solve"]


def solve(problem: Problem) -> Answer:
    """Return the optimum and its prices."""
    market = ScaledMarket.of(problem)
    start, filled = _cone(problem, market)
    answer = polish(market, start)
    _agree(answer, filled)
    return answer


def _agree(answer: Answer, filled: Callable[[np.ndarray], np.ndarray]) -> None:
    """Hold the polished point against the rows of the conic statement: a slip in either is found here."""
    rows = filled(answer.tasks if answer.amounts is None else answer.amounts)
    priced = np.asarray(answer.prices) > 0
    over, idle = float((rows - 1).max(initial=0)), float(np.abs(1 - rows)[priced].max(initial=0))
    if max(over, idle) > FIRST_ORDER:
        raise SolverError(f"the conic statement and the equations disagree about a capacity by {max(over, idle):.1e}")


def _cone(problem: Problem, market: ScaledMarket) -> tuple[MarketPoint, Callable[[np.ndarray], np.ndarray]]:
    """Return Clarabel's answer, and the function that fills the statement's own capacity rows, (k, m), by tasks.

    One unit of a pair is ``market.scale`` tasks.
    """
    import cvxpy as cp

    user, machine = problem.pairs
    v = cp.Variable(len(user), nonneg=True, name="v")
    tasks = sparse.csr_matrix((np.ones(len(user)), (user, np.arange(len(user)))), shape=(problem.n, len(user))) @ v
    demands = problem.instance.demands[problem.members[user]] * market.scale[user][:, None]
    capacities, cells = [], []
    for k in range(problem.k):
        here = np.flatnonzero(machine == k)
        for j in np.flatnonzero(demands[here].any(axis=0)):
            capacities.append(demands[here, j] / problem.instance.room[k, j] @ v[here] <= 1)
            cells.append((k, j))
    limited = np.flatnonzero(np.isfinite(problem.limits))
    limits = [tasks[limited] <= problem.limits[limited] / market.scale[limited]] if limited.size else []
    model = cp.Problem(cp.Maximize(_utility(cp, tasks, market)), [*capacities, *limits])
    try:
        with warnings.catch_warnings():
            # "May be inaccurate" is what the Newton steps are for, and the certificate is the judge.
            warnings.simplefilter("ignore")
            model.solve(solver=cp.CLARABEL, time_limit=problem.deadline.left())
    except cp.SolverError as error:
        raise SolverError(f"Clarabel failed: {error}") from None
    if model.status in (cp.USER_LIMIT, "user_limit"):
        raise TimeLimitError("the time limit ran out in Clarabel")
    if model.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
        raise SolverError(f"Clarabel ended with status {model.status!r}: try engine 'barrier'")
    p, nu = np.zeros((problem.k, problem.m)), np.zeros(problem.n)
    where = tuple(np.array(cells).T)
    p[where] = [max(float(constraint.dual_value), 0.0) for constraint in capacities]
    if limits:
        nu[limited] = np.maximum(limits[0].dual_value, 0)
    found = np.maximum(np.asarray(v.value), 0)

    def filled(amounts: np.ndarray) -> np.ndarray:
        v.value = amounts / market.scale[user]
        rows = np.zeros((problem.k, problem.m))
        rows[where] = [float(constraint.args[0].value) for constraint in capacities]
        return rows

    return market.point(found, p, nu), filled


def _utility(cp: Any, tasks: Any, market: ScaledMarket) -> Any:
    """Return the sum of utilities of t with the market's weights: the log, or a power."""
    alpha = market.alpha
    if alpha == 1:
        return market.g @ cp.log(tasks)
    try:
        return market.g @ cp.power(tasks, 1 - alpha) / (1 - alpha)
    except ZeroDivisionError:
        # Powers are stated as fractions of small denominators, and cones of one this large have a slope of 0.
        raise SolverError(f"no conic program has the power of alpha:{alpha:g}: take a smaller alpha") from None
