"""Leximin of whole tasks in one pool: all ways to stop the fewest users, swept upwards together, in exact integers.

A *state* is a choice of who has stopped where: which users of each kind are still active, and what the stopped leave
over.  Sweeping the levels upwards, each state says at which level its next user must stop; those that come first are
worse, and of the others only those go on that stop the fewest users there, each in every way that does.  Of two states
with the same active users one is dropped when the other leaves at least as much of everything.  What remains at the
end is the lexicographically largest vector of sorted levels, and no solver was asked.

Without ties there is one state.  Where many users tie the states can be too many to list: from there on the counting
program of `leximin_milp` decides, begun at the best state.

Of several groups, all best ways to choose who stops are swept by `drfopt.certificates.group_sweep`.
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import SolverError, TimeLimitError
from ...base.progress import report
from ...base.tolerances import LEVEL
from ...certificates.group_sweep import GroupSweep, TooManyWays
from ...model.whole_values import WholeUsers
from .. import hierarchy
from ..problem import Answer, Problem
from .filling_up import PoolTasks, TaskByTask
from .integer_program import Model
from .level_search import LevelSearch
from .leximin_milp import Stops
from .milp import SEARCH, placed, supply
from .user_kinds import BOTTOM, KindPool, Spot, TooMany, Vector

__all__ = ["best_ways", "packed_as", "solve", "solve_groups"]

STATES = 4
"""States that are kept at most: beyond, to search level by level is faster than to sweep them all."""

STEPS = 300
"""Steps spent on listing who could stop at one level, for all states: a millisecond."""


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Who is still active (number of each kind), what the stopped leave over, and how it came about."""

    active: np.ndarray
    left: np.ndarray
    trail: tuple | None = None

    def stops(self) -> Stops:
        """Return numbers and tasks of each kind of who stopped, spot by spot."""
        found, trail = [], self.trail
        while trail is not None:
            trail, stopping, tasks = trail
            found.append((stopping, tasks))
        return found[::-1]


def solve(problem: Problem) -> Answer:
    """Return the leximin allocation of whole tasks; where time runs out, the best state finished by greedy choices."""
    pool = KindPool(problem)
    found = _swept(problem, pool, problem.deadline.part(SEARCH))
    return found if isinstance(found, Answer) else Answer(np.array(pool.tasks(found[0].stops()), dtype=np.int64))


def best_ways(problem: Problem, pool: KindPool, deadline: Deadline, most: int) -> Iterator[list[int]]:
    """Yield tasks of the members, so many ways at most, whose sorted values are the best of a pool.

    Raises
    ------
    TimeLimitError
    """
    found = _swept(problem, pool, deadline)
    if not isinstance(found, Answer):
        for state in found[:most]:
            yield pool.tasks(state.stops())
    elif found.status == "optimal":
        yield found.tasks.tolist()
    else:
        raise TimeLimitError("the time limit ran out in the sweep of levels")


def _swept(problem: Problem, pool: KindPool, deadline: Deadline) -> Answer | list[State]:
    """Return the best states; or an answer, where they are too many to list, or time ran out."""
    states = [State(*pool.after([]))]
    decided: list[tuple[int, int]] = []
    try:
        while states[0].active.any():
            stopped = sum(count for _, count in decided)
            report(f"{stopped} of {problem.n} users stopped, {len(decided)} levels, {len(states)} states")
            deadline.check("the sweep of levels")
            level = decided[-1][0] if decided else BOTTOM
            try:
                spot_level, count, states = _advance(pool, states, level)
            except TooMany:
                return LevelSearch(problem, pool, decided, states[0].stops()).solve()
            decided.append((spot_level, count))
    except TimeLimitError:
        return Answer(_finished(pool, states[0], decided[-1][0] if decided else BOTTOM), status="time_limit")
    return states


def _advance(pool: KindPool, states: list[State], level: int) -> tuple[int, int, list[State]]:
    """Return the next level at which somebody stops in every state, how many at least, and the states after it."""
    spots = [pool.next_spot(state.active, state.left, level) for state in states]
    level = max(spot.level for spot in spots if spot is not None)
    budget, fewest = STEPS, sum(pool.sizes)
    found: list[tuple[State, Spot, Vector]] = []
    for state, spot in zip(states, spots, strict=True):
        if spot is None or spot.level != level:
            continue
        choices = pool.fewest(spot, fewest, budget)
        budget -= len(choices)
        if choices and sum(choices[0]) < fewest:
            fewest, found = sum(choices[0]), []
        found.extend((state, spot, stopping) for stopping in choices)
    return level, fewest, _kept(pool, found)


def _kept(pool: KindPool, found: list[tuple[State, Spot, Vector]]) -> list[State]:
    """Return the states after these stops, without those that another with the same active users dominates."""
    kept: dict[bytes, list[State]] = {}
    for state, spot, stopping in found:
        numbers = np.array(stopping)
        active, left = state.active - numbers, pool.minus(state.left, numbers, spot.tasks)
        rivals = kept.setdefault(active.tobytes(), [])
        if any((rival.left >= left).all() for rival in rivals):
            continue
        rivals[:] = [rival for rival in rivals if not (rival.left <= left).all()]
        rivals.append(State(active, left, (state.trail, stopping, spot.tasks)))
        if len(kept) > STATES:
            raise TooMany
    return [state for rivals in kept.values() for state in rivals]


def _finished(pool: KindPool, state: State, level: int) -> np.ndarray:
    stops = [*state.stops(), *pool.finish(state.active, state.left, level)]
    return np.array(pool.tasks(stops), dtype=np.int64)


ONE_WAY = 0.5
"""Seconds that one way may take when the time is up."""


def solve_groups(problem: Problem) -> Answer:
    """Return the end of a best way; where there are too many ways, or time runs out, the end of one."""
    users = problem.whole_users
    sweep = GroupSweep(users, problem.deadline.part(SEARCH))
    try:
        tasks, status = sweep.best(problem.deadline.part(SEARCH))[0], "optimal"
    except TooManyWays as error:
        tasks, status = error.tasks, "feasible"
        # Where it was not known what machines can run, somebody may have stopped for nothing.
        if not users.kept(users.spread(tasks)):
            other = _one_way(problem, sweep, "feasible")
            if users.parts(other.tasks.tolist()) > users.parts(tasks):
                return other
    except TimeLimitError:
        return _one_way(problem, sweep, "time_limit")
    if problem.instance.machines is None:
        return Answer(np.array(tasks, dtype=np.int64), status=status)
    return packed_as(problem, users, list(tasks), status)


def _one_way(problem: Problem, sweep: GroupSweep, status: str) -> Answer:
    """Return what one way comes to in time, from what is promised and the whole part of divisible tasks."""
    users, ends = problem.whole_users, problem.deadline.part(0.5).grace(ONE_WAY)
    pool = problem.instance.machines is None
    filling = PoolTasks(users) if pool else TaskByTask(problem, users)

    def run(tasks: Sequence[int]) -> None:
        """Run as many of these tasks as there is room for; of several types on machines one at a time."""
        for p, x in enumerate(map(min, tasks, users.most)):
            while filling.tasks[p] < x and filling.more(p, x - filling.tasks[p]) and ends.left() > 0:
                pass

    run(users.promises)
    divisible = Problem(problem.instance, problem.policy, False, ends.part(0.5))
    with contextlib.suppress(TimeLimitError, SolverError):
        divided = np.zeros(problem.instance.n)
        divided[divisible.members] = (hierarchy.solve_pool if pool else hierarchy.solve_machines)(divisible).tasks
        run([int(x) for x in np.floor(divided[users.members] * (1 + LEVEL)).tolist()])
    sweep.one_by_one(filling.more, ends, filling.tasks)
    return filling.answer(status)


def packed_as(problem: Problem, users: WholeUsers, tasks: list[int], status: str = "feasible") -> Answer:
    """Return tasks, which can be packed, with which machines run what."""
    model, rows = Model(problem.solver), problem.by_type
    supplied, counts = supply(model, rows), users.counts(users.spread(tasks))
    supplied.within(model, [model.column(counts[q], low=counts[q]) for q in rows.members.tolist()])
    values = model.solve(problem.deadline)
    if values is None:
        raise SolverError("the program of machines is called infeasible for tasks that fit: the solver is not believed")
    return placed(problem, supplied, values, tasks, status, users)
