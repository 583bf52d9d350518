"""The largest sum of levels in rational numbers: HiGHS finds the basis in floats, exact arithmetic decides it.

maximise    sum_i v_i sum_k z_ik                                          (v_i: what one task is worth)
subject to  sum_i d_ij z_ik  <=  c_kj    resource j of class k
            sum_k z_ik       <=  u_i     user i has a limit
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ...base.numbers.rationals import integer_columns
from ...base.solvers.exact_lp import ExactProgram, maximise
from ..linear_programs import basic_columns, run
from ..problem import Answer, Problem
from . import lp

__all__ = ["largest", "solve"]


def solve(problem: Problem) -> Answer:
    """Return an allocation of the largest sum as `Fraction`s, and the prices that prove it."""
    rates, limits = problem.policy.exact_rates(problem.instance), problem.instance.exact_limits
    members = problem.members.tolist()
    amounts, prices = largest(problem, [rates[i] for i in members], [limits[i] for i in members])
    tasks = np.full(problem.n, Fraction(0), dtype=object)
    for i, z in zip(problem.pairs[0].tolist(), amounts, strict=True):
        tasks[i] += z
    return Answer(tasks, amounts=amounts, prices=prices, evidence={"prices": prices})


def largest(
    problem: Problem, worth: Sequence[Fraction], limits: Sequence[Fraction | None]
) -> tuple[np.ndarray, np.ndarray]:
    """Return tasks of the pairs (pairs,) of the largest worth, and prices (k, m) of a unit that prove it."""
    instance, members = problem.instance, problem.members.tolist()
    most = np.array([np.inf if u is None else float(u) for u in limits])
    program = lp.program(problem, np.array([float(v) for v in worth]), most)
    run(program.highs, "the largest sum", problem.deadline)
    demands, scales = integer_columns([instance.exact_demands[i] for i in members], problem.m)
    cells = list(zip(program.rows.machine.tolist(), program.rows.resource.tolist(), strict=True))
    row_of = {cell: r for r, cell in enumerate(cells)}
    limit_row = {i: len(cells) + r for r, i in enumerate(program.limited.tolist())}
    users, machines = (part.tolist() for part in problem.pairs)
    columns = []
    for i, k in zip(users, machines, strict=True):
        column = {row_of[k, j]: Fraction(d) for j, d in enumerate(demands[i]) if d}
        columns.append(column | ({limit_row[i]: Fraction(1)} if i in limit_row else {}))
    room = [instance.exact_capacity] if instance.machines is None else instance.exact_machine_capacity
    counts = [1] if instance.machines is None else [machine.count for machine in instance.machines]
    b = [counts[k] * room[k][j] * scales[j] for k, j in cells] + [limits[i] or Fraction(0) for i in limit_row]
    stated = ExactProgram(columns, b, [worth[i] for i in users])
    optimum = maximise(stated, basic_columns(program.highs), "the exact sum", problem.deadline)
    prices = np.full((problem.k, problem.m), Fraction(0), dtype=object)
    for (k, j), price in zip(cells, optimum.prices, strict=False):
        prices[k, j] = price * scales[j]
    return np.array(optimum.x, dtype=object), prices
