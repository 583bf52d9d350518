"""The largest sum of levels with whole tasks (utilitarian, throughput), as one integer program over HiGHS."""

import math

from ..errors import SolverError
from ..packings import program_values
from .milp import Model, placed, supply
from .problem import Answer, Problem

__all__ = ["solve"]


def solve(problem: Problem) -> Answer:
    """Return whole tasks of the largest sum."""
    instance, members = problem.instance, problem.members.tolist()
    model = Model()
    supplied = supply(model, problem)
    rates = problem.policy.exact_rates(instance)
    worth = program_values([rates[i] for i in members])
    columns = []
    for i, w, terms in zip(members, worth, supplied.tasks, strict=True):
        limit = instance.exact_limits[i]
        column = model.column(math.inf if limit is None else math.floor(limit), -w)
        model.row(-math.inf, 0, {column: 1.0} | {c: -x for c, x in terms.items()})
        columns.append(column)
    values = model.solve(problem.deadline)
    if values is None:
        raise SolverError("HiGHS calls the program of whole tasks infeasible, though no tasks at all are feasible")
    tasks = [round(values[column]) for column in columns]
    return placed(problem, supplied, values, tasks)
