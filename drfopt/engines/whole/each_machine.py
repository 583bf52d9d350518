"""Leximin of whole tasks on every machine by itself: one machine of each class is divided, and all like it as it is.

One machine is a pool, and has the engine of one; where it has devices it is a cluster of one machine.
"""

import numpy as np

from ...model.evidence import Evidence
from ...model.packings import Packing
from ...model.single_machines import ON_EACH, machine_of
from ..problem import Answer, Problem
from ..registry import engine_for
from .filling_up import filled

__all__ = ["solve"]


def solve(problem: Problem) -> Answer:
    """Return the whole tasks of one machine of each class, as often as there are machines of it."""
    instance = problem.instance
    if instance.machines is None:
        return _divided(Problem(instance, ON_EACH, True, problem.deadline, solver=problem.solver))
    user, machine = problem.pairs
    amounts = np.zeros(len(user), dtype=np.int64)
    packing: list[Packing] = []
    classes, status = np.unique(machine).tolist(), "optimal"
    for done, k in enumerate(classes):
        here, count = np.flatnonzero(machine == k), instance.machines[k].count
        rows = problem.members[user[here]]
        deadline = problem.deadline.part(1 / (len(classes) - done))
        one = Problem(machine_of(instance, rows, k), ON_EACH, True, deadline, solver=problem.solver)
        found = _divided(one)
        amounts[here[one.members]] = count * found.tasks
        held = zip(rows[one.members].tolist(), found.tasks.tolist(), strict=True)
        packing.append((k, count, {i: int(x) for i, x in held if x}))
        status = status if found.status == "optimal" else found.status
    tasks = np.zeros(problem.n, dtype=np.int64)
    np.add.at(tasks, user, amounts)
    return Answer(tasks, amounts=amounts, evidence=Evidence(packing=packing), status=status)


def _divided(problem: Problem) -> Answer:
    if not problem.n:
        return Answer(np.zeros(0, dtype=np.int64))
    found = engine_for("auto", problem).solve(problem)
    return found if found.status == "optimal" else filled(problem, found)
