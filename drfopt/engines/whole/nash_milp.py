"""The Nash product with whole tasks, as an integer program over HiGHS.

When the placed users cannot all have a task at once, as many as possible get one, and the weighted product is over
them.  The logarithm is replaced by its chords between neighbouring integers, which is exact on integers; chords are
added where a solution needs them, until none is missing.
"""

import math

from ...base.errors import SolverError
from ...base.progress import report
from ...model.packings import most_alone
from ..problem import Answer, Problem
from .integer_program import Model, UnfinishedProgram
from .milp import SEARCH, placed, supply

__all__ = ["solve"]

ROUNDS = 200

BETTER = 1e-6
"""Part by which a program with more chords may seem better than the one before it: solvers print eight digits."""


def solve(problem: Problem) -> Answer:
    """Return whole tasks of the largest product."""
    instance, members = problem.instance, problem.members.tolist()
    most = [most_alone(instance, i) for i in members]
    chords = [_first_chords(u) for u in most]
    served = _served(problem, most)
    deadline = problem.deadline.part(SEARCH)
    best = -math.inf
    for attempt in range(ROUNDS):
        report(f"product: round {attempt + 1}, {sum(map(len, chords))} chords")
        model, supplied, columns = _program(problem, most, chords, served)
        try:
            values = model.solve(deadline)
        except UnfinishedProgram as error:
            if error.point is None:
                raise
            tasks = [round(error.point[x]) for x, _, _ in columns]
            return placed(problem, supplied, error.point, tasks, "time_limit")
        if values is None:
            raise SolverError(
                "the product's program is called infeasible, which has a solution: the solver is not believed"
            )
        if (value := model.value(values)) < best - BETTER * max(1.0, abs(best)):
            raise SolverError(
                "with more chords the product is larger than an earlier optimum: the solver is not believed"
            )
        best = value
        tasks = [round(values[x]) for x, _, _ in columns]
        missing = 0
        for p, x in enumerate(tasks):
            # A chord is exact at both of its ends, and every other one is above it there.
            if x > 1 and not chords[p] & {x - 1, x}:
                fresh = {q for q in (x - 1, x) if q < most[p]}
                chords[p] |= fresh
                missing += len(fresh)
        if not missing:
            return placed(problem, supplied, values, tasks)
    raise SolverError(f"the product's chords did not settle in {ROUNDS} rounds: use a smaller instance")


def _first_chords(most: int) -> set[int]:
    """Return the integers q whose chord, from log q to log(q + 1), is there from the start: powers of two."""
    return {2**e for e in range(most.bit_length()) if 2**e < most}


def _served(problem: Problem, most: list[int]) -> int:
    """Return how many users can have a task at once."""
    model = Model(problem.solver)
    supplied = supply(model, problem)
    supplied.within(model, [model.column(1.0, -1.0) for _ in most])
    values = model.solve(problem.deadline)
    if values is None:
        raise SolverError("the program of whole tasks is called infeasible, though no tasks at all are feasible")
    return sum(round(v) for v, c in zip(values, model.cost, strict=True) if c)


def _program(problem: Problem, most: list[int], chords: list[set[int]], served: int) -> tuple:
    """Return model, supply and for each member the columns of tasks, logarithm and whether she has a task."""
    model = Model(problem.solver)
    supplied = supply(model, problem)
    columns = []
    for p in range(problem.n):
        x, has = model.column(most[p]), model.column(1.0)
        log = model.column(math.log(most[p]) if most[p] > 1 else 0.0, -float(problem.weights[p]), whole=False)
        model.row(0, math.inf, {x: 1.0, has: -1.0})
        model.row(-math.inf, 0, {x: 1.0, has: -float(most[p])})
        for q in sorted(chords[p]):
            slope = math.log1p(1 / q)
            # log <= log q + slope (x - q) for who has a task, and 0 for who has none.
            model.row(-math.inf, 0, {log: 1.0, x: -slope, has: slope * q - math.log(q)})
        if most[p] == 1:
            model.row(-math.inf, 0, {log: 1.0})
        columns.append((x, log, has))
    supplied.within(model, [x for x, _, _ in columns])
    model.row(served, served, {has: 1.0 for _, _, has in columns})
    return model, supplied, columns
