"""The Nash product and alpha fairness of whole tasks on machines, as in a pool whose resources are prices of tasks.

The pool contains all packings (`drfopt.certificates.priced_halves`), so where what is worth most in it can be packed it
is worth most on machines.  Where it is not packed the next best ways of the pool are tried; then, and where too many
ways would have to be listed, a part of what is greedy in the pool is packed and the rest filled up task by task, or the
program of `totals` decides where it is small.  The certificate says how near that is.
"""

from dataclasses import replace

from ...base.errors import TimeLimitError
from ...certificates.exhaustive_search import worth
from ...certificates.meet_in_the_middle import TooManyChoices
from ...certificates.priced_halves import PricedHalves
from ...model.whole_values import WholeUsers
from ..problem import Answer, Problem
from . import rounding
from .load_prices import LISTED, packed_answer
from .milp import SEARCH, columns
from .totals import greedily, nearest, solve_product

__all__ = ["solve"]

WAYS = 20
"""Ways of the pool, best first, that are tried to pack."""

FEWER = (0, 500, 200, 100, 50, 20, 10, 5, 2)
"""One in so many tasks of each user is given up, until the others can be packed."""


def solve(problem: Problem) -> Answer:
    """Return whole tasks of the largest product or utility; where the pool's are not packed, others near them."""
    users = WholeUsers(problem.instance, problem.policy, problem.members.tolist())
    deadline = problem.deadline.part(SEARCH)
    start: Answer | None = None
    try:
        priced = PricedHalves(users, deadline)
        if not priced.halves.fit:
            return _program(problem)
        start = _below(problem, priced, greedily(priced.halves))
        while True:
            found = nearest(priced.halves, greedily(priced.halves), deadline, WAYS)
            if not priced.learn(found[0]):
                break
        for way, tasks in enumerate(found):
            if (packing := priced.loads.pack(priced.whole(tasks))) is not None:
                return packed_answer(problem, users, tasks, packing, "feasible" if way else "optimal")
        start = _better(users, start, _below(problem, priced, found[0]))
    except TooManyChoices:
        pass
    except TimeLimitError:
        return replace(start or rounding.solve(problem), status="time_limit")
    if start is not None and columns(problem) > LISTED:
        return start
    other = _program(problem)
    return other if start is None or other.status == "optimal" else _better(users, start, other)


def _below(problem: Problem, priced: PricedHalves, tasks: list[int]) -> Answer:
    """Return the most of these tasks that were packed, filled up."""
    for one_in in FEWER:
        fewer = [max(min(x, priced.halves.least), x - (-(-x // one_in) if one_in else 0)) for x in tasks]
        if (packing := priced.loads.pack(priced.whole(fewer))) is not None:
            return rounding.filled(problem, packed_answer(problem, priced.users, fewer, packing, "feasible"))
    return rounding.task_by_task(problem)


def _better(users: WholeUsers, one: Answer, other: Answer) -> Answer:
    value = worth(users)
    return other if value(other.tasks.tolist()) > value(one.tasks.tolist()) else one


def _program(problem: Problem) -> Answer:
    return replace(solve_product(problem), engine="nash-milp")
