"""Whole tasks in several groups: all best ways to choose who stops (`drfopt.certificates.group_sweep`)."""

import numpy as np

from ...base.errors import TimeLimitError
from ...certificates.group_sweep import GroupSweep, TooManyWays
from ...model.whole_values import WholeUsers
from ..problem import Answer, Problem
from .milp import SEARCH

__all__ = ["solve"]


def solve(problem: Problem) -> Answer:
    """Return the end of a best way; where there are too many ways, or time runs out, the end of one."""
    sweep = GroupSweep(WholeUsers(problem.instance, problem.policy, problem.members.tolist()))
    try:
        return Answer(np.array(sweep.best(problem.deadline.part(SEARCH))[0], dtype=np.int64))
    except TooManyWays as error:
        return Answer(np.array(error.tasks, dtype=np.int64), status="feasible")
    except TimeLimitError:
        return Answer(np.array(sweep.greedy(), dtype=np.int64), status="time_limit")
