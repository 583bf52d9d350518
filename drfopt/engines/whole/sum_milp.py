"""The largest sum of levels with whole tasks (utilitarian, throughput), as one integer program over HiGHS."""

from ...base.errors import SolverError
from ...model.packings import most_alone, program_values
from ..problem import Answer, Problem
from .integer_program import Model, UnfinishedProgram
from .milp import SEARCH, placed, supply

__all__ = ["solve"]


def solve(problem: Problem) -> Answer:
    """Return whole tasks of the largest sum."""
    instance, members = problem.instance, problem.members.tolist()
    model = Model(problem.solver)
    supplied = supply(model, problem)
    rates = problem.policy.exact_rates(instance)
    worth = program_values([rates[i] for i in members])
    columns = [model.column(most_alone(instance, i), -w) for i, w in zip(members, worth, strict=True)]
    supplied.within(model, columns)
    status = "optimal"
    try:
        values = model.solve(problem.deadline.part(SEARCH))
    except UnfinishedProgram as error:
        if error.point is None:
            raise
        values, status = error.point, "time_limit"
    if values is None:
        raise SolverError("the program of whole tasks is called infeasible, though no tasks at all are feasible")
    tasks = [round(values[column]) for column in columns]
    return placed(problem, supplied, values, tasks, status)
