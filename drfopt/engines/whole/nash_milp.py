"""The Nash product with whole tasks, as an integer program over HiGHS.

When the placed users cannot all have a task at once, as many as possible get one, and the weighted product is over
them.  The logarithm is replaced by its chords between neighbouring integers, which is exact on integers; chords are
added where a solution needs them, until none is missing.
"""

import math

from ...base.errors import SolverError
from ...base.progress import report
from ...model.whole_values import WholeUsers
from ..problem import Answer, Problem
from .integer_program import Model, Terms, UnfinishedProgram
from .milp import SEARCH, placed
from .totals import TaskColumns, kept_parts, task_columns

__all__ = ["solve"]

ROUNDS = 200

BETTER = 1e-6
"""Part by which a program with more chords may seem better than the one before it: solvers print eight digits."""


def solve(problem: Problem) -> Answer:
    """Return whole tasks of the largest product."""
    users = WholeUsers(problem.instance, problem.policy, problem.members.tolist())
    kept = kept_parts(problem, users)
    chords = [_first_chords(u) for u in users.most]
    served = _served(problem, users, kept)
    deadline = problem.deadline.part(SEARCH)
    best = -math.inf
    for attempt in range(ROUNDS):
        report(f"product: round {attempt + 1}, {sum(map(len, chords))} chords")
        model, columns, _ = _program(problem, users, kept, chords, served)
        try:
            values = model.solve(deadline)
        except UnfinishedProgram as error:
            if error.point is None:
                raise
            tasks = columns.tasks(error.point)
            return placed(problem, columns.supplied, error.point, tasks, "time_limit", users)
        if values is None:
            raise SolverError(
                "the product's program is called infeasible, which has a solution: the solver is not believed"
            )
        if (value := model.value(values)) < best - BETTER * max(1.0, abs(best)):
            raise SolverError(
                "with more chords the product is larger than an earlier optimum: the solver is not believed"
            )
        best = value
        tasks = columns.tasks(values)
        missing = 0
        for p, x in enumerate(tasks):
            # A chord is exact at both of its ends, and every other one is above it there.
            if x > 1 and not columns.numbers[p] and not chords[p] & {x - 1, x}:
                fresh = {q for q in (x - 1, x) if q < users.most[p]}
                chords[p] |= fresh
                missing += len(fresh)
        if not missing:
            return placed(problem, columns.supplied, values, tasks, users=users)
    raise SolverError(f"the product's chords did not settle in {ROUNDS} rounds: use a smaller instance")


def _first_chords(most: int) -> set[int]:
    """Return the integers q whose chord, from log q to log(q + 1), is there from the start: powers of two."""
    return {2**e for e in range(most.bit_length()) if 2**e < most}


def _served(problem: Problem, users: WholeUsers, kept: dict[int, int]) -> int:
    """Return how many users can have a task at once."""
    model, _, has = _program(problem, users, kept, [set() for _ in users.most], None)
    for terms in has:
        for column, x in terms.items():
            model.cost[column] = -x
    values = model.solve(problem.deadline)
    if values is None:
        raise SolverError("the program of whole tasks is called infeasible, though an allocation is known")
    return round(sum(x * values[column] for terms in has for column, x in terms.items()))


def _program(
    problem: Problem, users: WholeUsers, kept: dict[int, int], chords: list[set[int]], served: int | None
) -> tuple[Model, TaskColumns, list[Terms]]:
    """Return the model, the columns of tasks, and for each member whether it has a task.

    `served` is how many are to have one; None for a model without a product.
    """
    model = Model(problem.solver)
    columns = task_columns(model, problem, users, kept)
    served_by = []
    incomes = [float(w) for w in users.incomes]
    for p, (most, income, numbers) in enumerate(zip(users.most, incomes, columns.numbers, strict=True)):
        if numbers:
            # Of several types every number of tasks has a column, and its logarithm is known.
            served_by.append({column: 1.0 for x, column in numbers.items() if x})
            for x, column in numbers.items() if served is not None else ():
                model.cost[column] = -income * math.log(x) if x > 1 else 0.0
            continue
        has, tasks = model.column(1.0), columns.terms[p]
        served_by.append({has: 1.0})
        model.row(0, math.inf, tasks | {has: -1.0})
        model.row(-math.inf, 0, tasks | {has: -float(most)})
        if served is None:
            continue
        log = model.column(math.log(most) if most > 1 else 0.0, -income, whole=False)
        for q in sorted(chords[p]):
            slope = math.log1p(1 / q)
            # log <= log q + slope (x - q) for who has a task, and 0 for who has none.
            line = {column: -slope * x for column, x in tasks.items()}
            model.row(-math.inf, 0, {log: 1.0} | line | {has: slope * q - math.log(q)})
        if most == 1:
            model.row(-math.inf, 0, {log: 1.0})
    if served is not None:
        model.row(served, served, {column: x for terms in served_by for column, x in terms.items()})
    return model, columns, served_by
