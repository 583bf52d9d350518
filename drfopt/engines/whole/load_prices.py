"""Leximin of whole tasks on machines, as that of a pool whose resources are prices of the tasks that machines carry.

Whatever prices tasks have, those of a packing cost no more than all machines with their most valuable loads are worth.
So each set of prices is a resource of a pool that contains all packings, and where the leximin optimum of the pool can
be packed it is that of the machines.  It begins with the capacities of the whole cluster; as long as the pool's optimum
cannot be carried, even in fractions of machines, the prices that show it become one more resource (Benders' cuts).  A
cluster of hundreds of machines mostly needs a few of them, and then the packing that the fractions suggest.

Where the pool's optimum is not packed, the counting program of `leximin_milp` decides if it can list what machines
carry; otherwise the lowest levels that are packed are kept, the rest is filled up task by task, and the certificate
says how far that is proven.

Nash products and alpha fairness are found in the same way, near a bound of the pool that contains all packings
(`drfopt.certificates.priced_halves`).  What is worth most there is best if it is packed.  Otherwise the next best ways
are tried; then, and where too many ways would have to be listed, a part of what is greedy in the pool is packed and the
rest filled up task by task, or the program of `totals` decides where it is small.
"""

from dataclasses import replace

import numpy as np

from ...base.errors import TimeLimitError
from ...base.progress import report
from ...certificates.exhaustive_search import worth
from ...certificates.machine_loads import MachineLoads, Packed
from ...certificates.meet_in_the_middle import TooManyChoices
from ...certificates.priced_halves import PricedHalves
from ...model.whole_values import WholeUsers
from ..problem import Answer, Problem
from . import rounding, totals
from .filling_up import filled
from .frontier import best_ways
from .leximin_milp import Counting
from .milp import SEARCH, Supply, columns, placed
from .user_kinds import Kinds, PricedPool

__all__ = ["solve", "solve_product"]

WAYS = 20
"""Optima of the pool that are tried to pack."""

CELLS = 100_000
"""Pairs of a shape and a class beyond which no loads are searched."""

LISTED = 3_000
"""Columns of the counting program up to which it is asked for what was not packed."""

FEWER = (1, 2, 4, 8, 16, 32)
"""Levels that are given up, the highest first, until the others can be packed."""


def solve(problem: Problem) -> Answer:
    """Return the leximin allocation of whole tasks; where the pool's is not packed, a way that keeps its low levels."""
    by_type = problem.by_type
    if len(by_type.shapes) * by_type.k > CELLS:
        return replace(rounding.solve(problem), engine="rounding")
    first = [int(by_type.members[positions[0]]) for positions in by_type.shapes]
    best: list[int] = []
    try:
        pool, loads = PricedPool(problem), MachineLoads(by_type.instance, first, problem.deadline.part(SEARCH))
        while True:
            for tasks in best_ways(problem, pool, loads.deadline, WAYS):
                if (prices := loads.prices(pool.asked(tasks))) is not None:
                    pool.learn(*prices)
                    break
                best = best or tasks
                if (packing := loads.pack(pool.asked(tasks))) is not None:
                    return _answer(problem, pool.users, tasks, packing)
            else:
                break
            report(f"{len(pool.room)} resources of the pool that contains all packings")
            best = []
        start = _kept(problem, pool, loads, best)
    except TimeLimitError:
        return replace(rounding.solve(problem), engine="rounding", status="time_limit")
    if columns(problem) > LISTED:
        return start
    counting = Counting(problem, Kinds(problem), [], [])
    counting.start = start
    return replace(counting.solve(), engine="leximin-milp")


def _answer(problem: Problem, users: WholeUsers, tasks: list[int], packing: Packed, status: str = "optimal") -> Answer:
    """Return tasks of the members, packed, as an answer."""
    rows = problem.by_type
    first = [int(rows.members[positions[0]]) for positions in rows.shapes]
    packs = [(at, k, {first[s]: x for s, x in load}) for at, (k, _, load) in enumerate(packing)]
    values = np.array([float(number) for _, number, _ in packing])
    return placed(problem, Supply(rows.shapes, [], packs, []), values, tasks, status, users)


def _kept(problem: Problem, pool: PricedPool, loads: MachineLoads, best: list[int]) -> Answer:
    """Return an allocation in which as many of the lowest levels as could be packed are those of the pool's optimum."""
    scales = pool.users.scales
    levels = sorted({scale.value(x) for scale, x in zip(scales, best, strict=True)})
    found, packing = [0] * len(best), []
    for fewer in FEWER:
        if fewer >= len(levels):
            break
        # The last levels are the ones that do not fit.
        tasks = [min(x, scale.least(levels[-1 - fewer])) for scale, x in zip(scales, best, strict=True)]
        if (kept := loads.pack(pool.asked(tasks))) is not None:
            found, packing = tasks, kept
            break
    return filled(problem, _answer(problem, pool.users, found, packing, "feasible"))


# ---- products and alpha fairness ------------------------------------------------------------------------------


BEST_WAYS = 20
"""Ways of the pool, best first, that are tried to pack."""

ONE_IN = (0, 500, 200, 100, 50, 20, 10, 5, 2)
"""One in so many tasks of each user is given up, until the others can be packed."""


def solve_product(problem: Problem) -> Answer:
    """Return whole tasks of the largest product or utility; where the pool's are not packed, others near them."""
    users = problem.whole_users
    deadline = problem.deadline.part(SEARCH)
    start: Answer | None = None
    try:
        priced = PricedHalves(users, deadline)
        if not priced.halves.fit:
            return _program(problem)
        start = _packed_below(problem, priced, totals.greedily(priced.halves))
        while True:
            found = totals.nearest(priced.halves, totals.greedily(priced.halves), deadline, BEST_WAYS)
            if not priced.learn(found[0]):
                break
            if not priced.halves.fit:  # a task each is more than machines can pack, as is known now
                return _program(problem)
        for way, tasks in enumerate(found):
            if (packing := priced.loads.pack(priced.whole(tasks))) is not None:
                return _answer(problem, users, tasks, packing, "feasible" if way else "optimal")
        start = _better(users, start, _packed_below(problem, priced, found[0]))
    except TooManyChoices:
        pass
    except TimeLimitError:
        return replace(start or rounding.solve(problem), status="time_limit")
    if start is not None and columns(problem) > LISTED:
        return start
    other = _program(problem)
    return other if start is None or other.status == "optimal" else _better(users, start, other)


def _packed_below(problem: Problem, priced: PricedHalves, tasks: list[int]) -> Answer:
    """Return the most of these tasks that were packed, filled up."""
    for one_in in ONE_IN:
        fewer = [max(min(x, priced.halves.least), x - (-(-x // one_in) if one_in else 0)) for x in tasks]
        if (packing := priced.loads.pack(priced.whole(fewer))) is not None:
            return filled(problem, _answer(problem, priced.users, fewer, packing, "feasible"))
    return filled(problem)


def _better(users: WholeUsers, one: Answer, other: Answer) -> Answer:
    value = worth(users)
    return other if value(other.tasks.tolist()) > value(one.tasks.tolist()) else one


def _program(problem: Problem) -> Answer:
    return replace(totals.solve_product(problem), engine="nash-milp")
