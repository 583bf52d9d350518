"""Whole tasks in several groups: all best ways to choose who stops (`drfopt.certificates.group_sweep`)."""

import numpy as np

from ...base.errors import SolverError, TimeLimitError
from ...certificates.group_sweep import GroupSweep, TooManyWays
from ...model.whole_values import WholeUsers
from ..problem import Answer, Problem
from .integer_program import Model
from .milp import SEARCH, placed, supply

__all__ = ["solve"]


def solve(problem: Problem) -> Answer:
    """Return the end of a best way; where there are too many ways, or time runs out, the end of one."""
    users = WholeUsers(problem.instance, problem.policy, problem.members.tolist())
    sweep = GroupSweep(users)
    try:
        tasks, status = sweep.best(problem.deadline.part(SEARCH))[0], "optimal"
    except TooManyWays as error:
        tasks, status = error.tasks, "feasible"
    except TimeLimitError:
        tasks, status = sweep.greedy(), "time_limit"
    if problem.instance.machines is None:
        return Answer(np.array(tasks, dtype=np.int64), status=status)
    return _packed(problem, users, list(tasks), status)


def _packed(problem: Problem, users: WholeUsers, tasks: list[int], status: str) -> Answer:
    """Return tasks, which can be packed, with which machines run what."""
    model, rows = Model(problem.solver), problem.by_type
    supplied, counts = supply(model, rows), users.counts(users.spread(tasks))
    supplied.within(model, [model.column(counts[q], low=counts[q]) for q in rows.members.tolist()])
    values = model.solve(problem.deadline)
    if values is None:
        raise SolverError("the program of machines is called infeasible for tasks that fit: the solver is not believed")
    return placed(problem, supplied, values, tasks, status, users)
