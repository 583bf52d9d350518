"""One pool with guarantees, tiers and groups: the clock of `drfopt.model.hierarchy`, run from stop to stop.

Between two stops everything that is used is a curve of straight pieces, so a stop is where one of them meets its
capacity or a ceiling; every stop fills at least one of these, so there are few.

One pool with guarantees, tiers and groups in rational numbers: the same curves as in floats, of fractions.
"""

import numpy as np

from ...base.progress import report
from ...model.hierarchy import Ascent, Halt, SettledState
from ..problem import Answer, Problem

__all__ = ["run", "solve", "solve_exactly"]


def solve(problem: Problem) -> Answer:
    """Return the allocation, and the stops of the clock that prove it."""
    return run(problem, exact=False)


def run(problem: Problem, exact: bool) -> Answer:
    """Return the same in floats or in fractions."""
    ascent = Ascent(problem.instance, problem.policy, exact)
    standing, halts = ascent.start(), list[Halt]()
    while not ascent.over(standing):
        problem.deadline.check("filling the tree")
        report(f"stop {len(halts) + 1}: {int(standing.finished.sum())} of {problem.instance.n} users are finished")
        halt, standing = _next(ascent, standing)
        halts.append(halt)
    levels = ascent.levels(standing.has)
    return Answer(standing.has[problem.members], evidence={"halts": tuple(halts), "levels": levels[problem.members]})


def _next(ascent: Ascent, standing: SettledState) -> tuple[Halt, SettledState]:
    """Return the next stop and the standing after it."""
    moment = ascent.moment(standing)
    waiting = ~standing.finished
    used = {c: most for c, most in ascent.room.items() if (ascent.columns[waiting, c] > 0).any()}
    full = moment.first_stop(used)
    columns = [] if full is None else full[2]
    place = moment.end if full is None else moment.place(*full[:2])
    finished = np.flatnonzero(waiting & (ascent.columns[:, columns] > 0).any(axis=1))
    one = ascent.zero + 1
    prices = np.array([[one if c in columns else ascent.zero for c in range(ascent.instance.m)]])
    bounds = [one if c in columns else ascent.zero for c in ascent.room if c > ascent.instance.m]
    halt = Halt(standing.promising, place, finished, prices, np.array(bounds))
    return halt, ascent.after(standing, moment.tasks(place), finished)


def solve_exactly(problem: Problem) -> Answer:
    """Return the allocation as `Fraction`s, and the stops of the clock that prove it."""
    return run(problem, exact=True)
