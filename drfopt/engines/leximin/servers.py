"""Every class of machines as a pool of its own: identical machines are divided alike, so one class is one pool."""

import numpy as np

from ...certificates.servers import ON_EACH, pool_of
from ..problem import Answer, Problem
from . import filling

__all__ = ["solve"]


def solve(problem: Problem) -> Answer:
    """Return what filling every class by itself gives, added up."""
    instance = problem.instance
    if instance.machines is None:
        return filling.solve(Problem(instance, ON_EACH, deadline=problem.deadline))
    user, machine = problem.pairs
    amounts = np.zeros(len(user))
    for k in np.unique(machine).tolist():
        problem.deadline.check("the filling of every machine")
        here = np.flatnonzero(machine == k)
        pool = Problem(pool_of(instance, problem.members[user[here]], k), ON_EACH)
        amounts[here[pool.members]] = filling.solve(pool).tasks
    return Answer(np.bincount(user, weights=amounts, minlength=problem.n), amounts=amounts)
