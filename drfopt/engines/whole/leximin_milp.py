"""Leximin with whole tasks: levels from below, the users who stop at each counted, and the counts fixed.

The sorted levels are lexicographically largest when, level value by level value, the fewest users stop there.  So: find
the highest level that all users still active can reach; of those who could be exactly at it, stop as few as possible;
fix that number, but not who they are, and go on.  Given a level the least tasks of every active user are known, so who
stops where is all that is left to choose: a counting program over HiGHS, with a column for each kind of user and each
level at which the choice is open.

In a pool the search follows an incumbent: where its next user must stop, the program is asked for the fewest that must,
whoever stopped before.  On machines, what can be packed is part of the program, and levels are found by halving.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...base.errors import SolverError, TimeLimitError
from ...base.progress import report
from ...model.packings import LARGEST
from ..problem import Answer, Problem
from . import rounding
from .integer_program import Model, Terms
from .milp import SEARCH, Supply, placed, supply
from .user_kinds import BOTTOM, KindPool, Kinds, Vector

__all__ = ["Counting", "solve"]

START = 0.2
"""Part of the time that the search for a packing to start from may take."""

Stops = list[tuple[Vector, Any]]
"""Number and tasks of each kind of who stops, level by level."""


@dataclass(frozen=True)
class _Stop:
    """At a level `count` users stop, of these kinds so many at most; each would have so many tasks."""

    level: int
    count: int
    may: Vector
    tasks: Vector

    @property
    def open(self) -> bool:
        """Whether there is a choice."""
        return self.count < sum(self.may)


def solve(problem: Problem) -> Answer:
    """Return the leximin allocation of whole tasks; where time runs out, the best one known."""
    if problem.instance.machines is None:
        pool = KindPool(problem)
        return Counting(problem, pool, [], []).solve()
    counting = Counting(problem, Kinds(problem), [], [])
    counting.start = start = _packed_start(problem)
    if start is not None and start.tasks.tolist() == counting.kinds.users.most:
        return replace(start, status="optimal")
    return counting.solve()


def _packed_start(problem: Problem) -> Answer | None:
    """Return the continuous optimum rounded and packed, or None where that is not known."""
    try:
        return rounding.solve(replace(problem, deadline=problem.deadline.part(START)))
    except TimeLimitError:
        raise
    except SolverError:
        return None


class Counting:
    """The levels found so far and how many stop at each, which leaves open who they are.

    Parameters
    ----------
    problem : Problem
    kinds : Kinds, or KindPool for a pool
    decided : list of (level, count)
        What is known already, from below.
    stops : list
        A way to stop these users.
    """

    def __init__(self, problem: Problem, kinds: Kinds, decided: list[tuple[int, int]], stops: Stops):
        self.problem, self.kinds = problem, kinds
        self.deadline = problem.deadline.part(SEARCH)
        self.stops: list[_Stop] = []
        self.incumbent = stops
        self.start: Answer | None = None
        for level, count in decided:
            self._record(level, count)

    def solve(self) -> Answer:
        """Count on until everybody has stopped."""
        try:
            while self._active():
                known = f"{self.problem.n - self._active()} of {self.problem.n} users stopped"
                report(f"{known}, {len(self.stops)} levels counted")
                self.deadline.check("counting who stops")
                if isinstance(self.kinds, KindPool):
                    self._advance_pool(self.kinds)
                else:
                    self._advance()
            return self._answer()
        except TimeLimitError:
            return self._best_known()

    def _active(self) -> int:
        return sum(self.kinds.sizes) - sum(stop.count for stop in self.stops)

    def _record(self, level: int, count: int) -> None:
        may, must = self._may(level), self._must(level)
        if not 1 <= count <= sum(may):
            raise SolverError(
                f"counting who stops at level {float(self.kinds.level(level)):.6g} gave {count} of {sum(may)}: "
                "the solver is not believed"
            )
        self.stops.append(_Stop(level, count, must if sum(must) == count else may, self.kinds.least(level)))

    def _may(self, level: int) -> Vector:
        """Return how many of each kind can be exactly at a level."""
        rest = self._rest()
        return tuple(number if scale.at(level) else 0 for scale, number in zip(self.kinds.scales, rest, strict=True))

    def _must(self, level: int) -> Vector:
        """Return how many of each kind can be nowhere but exactly at a level, with their most tasks."""
        opened = [stop.level for stop in self.stops if stop.open]
        return tuple(
            number if scale.top == level and not any(scale.at(at) for at in opened) else 0
            for scale, number in zip(self.kinds.scales, self._rest(), strict=True)
        )

    def _rest(self) -> list[int]:
        """Return how many of each kind have not surely stopped."""
        rest = list(self.kinds.sizes)
        for stop in self.stops:
            if not stop.open:
                rest = [number - stopped for number, stopped in zip(rest, stop.may, strict=True)]
        return rest

    # ---- in a pool: along an incumbent ------------------------------------------------------------------------

    def _advance_pool(self, pool: KindPool) -> None:
        """Find the next level at which somebody must stop, and how few, from where the incumbent's users must."""
        spot = pool.next_spot(*pool.after(self.incumbent), self.stops[-1].level if self.stops else BOTTOM)
        if spot is None:
            raise SolverError("nobody is active though the counts say so: the solver is not believed")
        greedy = pool.greedy(spot)
        if sum(greedy) == 1 and not any(stop.open for stop in self.stops):
            self._record(spot.level, 1)
            self.incumbent.append((greedy, spot.tasks))
            return
        stops = [*self.incumbent, (greedy, spot.tasks)]
        count, self.incumbent = self._fewest(spot.level, stops)
        if count:
            self._record(spot.level, count)
        # Otherwise others stopped before, and nobody has to here: on from this incumbent.

    # ---- on machines: by halving ------------------------------------------------------------------------------

    def _advance(self) -> None:
        """Find the highest level that all active users can reach, and how few of them must stop there."""
        level = self._highest()
        may, known = self._may(level), self._known_count(level)
        must = sum(self._must(level))
        count = must if must == known or sum(may) == 1 else self._fewest(level, None)[0]
        self._record(level, max(count, 1))

    def _known_count(self, level: int) -> int | None:
        """Return how many users of the start stop at the next level, where it agrees with everything before."""
        if self.start is None or self._known_level() != level:
            return None
        return self._levels(self.start).count(level)

    def _levels(self, answer: Answer) -> list[int]:
        """Return the levels of the members in an answer."""
        scale = {p: scale for scale, people in zip(self.kinds.scales, self.kinds.people, strict=True) for p in people}
        return [scale[p].value(int(x)) for p, x in enumerate(answer.tasks)]

    def _highest(self) -> int:
        below = self.stops[-1].level if self.stops else BOTTOM
        kinds, rest = self.kinds, self._rest()
        rising = [kind for kind, number in enumerate(rest) if number]
        tops = [kinds.scales[kind].top for kind in rising]
        # Who has surely not stopped goes no higher than her most tasks.
        high = max(tops) if any(stop.open for stop in self.stops) else min(tops)
        low = below
        if (known := self._known_level()) is not None:
            # Everybody has that much in the start; mostly no more is possible, and one program says so.
            above = min(kinds.scales[kind].value(kinds.scales[kind].least(known + 1)) for kind in rising)
            if above > high or not self._reachable(above):
                return known
            low = above
        # Halve the interval until the candidates in it can be listed.
        while (candidates := self._candidates(low, high, rising)) is None:
            middle = (low + high) // 2
            if self._reachable(middle):
                low = middle
            else:
                high = middle
        first, last = 0, len(candidates)
        while first < last:
            middle = (first + last + 1) // 2
            if self._reachable(candidates[middle - 1]):
                first = middle
            else:
                last = middle - 1
        if first == 0 and low == below:
            raise SolverError(
                f"no level above {float(kinds.level(low)):.6g} is reachable though users are active: "
                "the solver is not believed"
            )
        return candidates[first - 1] if first else low

    def _known_level(self) -> int | None:
        """Return the next level of the start, where it agrees with everything counted so far."""
        if self.start is None:
            return None
        levels = sorted(self._levels(self.start))
        counted = [stop.level for stop in self.stops for _ in range(stop.count)]
        return levels[len(counted)] if levels[: len(counted)] == counted else None

    def _candidates(self, low: int, high: int, rising: list[int]) -> list[int] | None:
        """Return levels above low, up to high, that some active user can have; None when too many."""
        scales = [self.kinds.scales[kind] for kind in rising]
        ranges = [(scale, scale.least(low + 1), min(scale.least(high + 1) - 1, scale.most)) for scale in scales]
        if sum(max(0, last - first + 1) for _, first, last in ranges) > 4 * len(self.kinds.scales) + 16:
            return None
        return sorted({scale.value(x) for scale, first, last in ranges for x in range(first, last + 1)})

    def _reachable(self, level: int) -> bool:
        """Say whether all active users can have at least this level, the counts below it kept."""
        program = _Program(self, self.kinds.least(level))
        return program.model.solve(self.deadline) is not None

    # ---- programs ---------------------------------------------------------------------------------------------

    def _fewest(self, level: int, start: Stops | None) -> tuple[int, Stops]:
        """Return the least number of users who must stop at a level, and a way to stop those and the counted."""
        may = self._may(level)
        last = _Stop(level, -1, may, self.kinds.least(level))
        program = _Program(self, self.kinds.least(level + 1), last, start)
        values = self._solved(program)
        stops = program.stops(values)
        count = sum(stops[-1][0])
        return count, stops if count else stops[:-1]

    def _solved(self, program: "_Program") -> np.ndarray:
        values = program.model.solve(self.deadline, program.start)
        if values is None:
            raise SolverError("a counting program is called infeasible that has a solution: the solver is not believed")
        return values

    # ---- answers ----------------------------------------------------------------------------------------------

    def _answer(self) -> Answer:
        if isinstance(self.kinds, KindPool):
            return Answer(np.array(self.kinds.tasks(self.incumbent), dtype=np.int64))
        program = _Program(self, None)
        values = self._solved(program)
        tasks = self.kinds.tasks(program.stops(values))
        if program.supplied is None:
            raise SolverError("machines without packings")
        return placed(self.problem, program.supplied, values, tasks, users=self.kinds.users)

    def _best_known(self) -> Answer:
        """Return the incumbent, finished by greedy choices; on machines a greedy filling."""
        if not isinstance(self.kinds, KindPool):
            return replace(self.start, status="time_limit") if self.start else rounding.solve(self.problem)
        level = self.stops[-1].level if self.stops else BOTTOM
        rest = self.kinds.finish(*self.kinds.after(self.incumbent), level)
        tasks = self.kinds.tasks([*self.incumbent, *rest])
        return Answer(np.array(tasks, dtype=np.int64), status="time_limit")


class _Program:
    """The counting program: choices that keep the counts, and room for the tasks that then everybody needs.

    Parameters
    ----------
    counting : Counting
    need : tuple of int or None
        Fewest tasks of an active user of each kind; None when everybody has stopped.
    last : _Stop, optional
        A further level, at which as few as possible are to stop.
    start : Stops, optional
        A known solution.
    """

    def __init__(self, counting: Counting, need: Vector | None, last: _Stop | None = None, start: Stops | None = None):
        self.model = model = Model(counting.problem.solver)
        self.kinds = kinds = counting.kinds
        self.all = [*counting.stops, *([last] if last else [])]
        self.columns: dict[tuple[int, int], int] = {}
        rest = counting._rest()
        for s, stop in enumerate(self.all):
            if not stop.open:
                continue
            cost = 1.0 if stop is last else 0.0
            for kind, number in enumerate(stop.may):
                if number:
                    self.columns[s, kind] = model.column(min(number, rest[kind]), cost)
            if stop is not last:
                terms = {column: 1.0 for (t, _), column in self.columns.items() if t == s}
                model.row(stop.count, stop.count, terms)
        self.start = None if start is None else {c: float(start[s][0][kind]) for (s, kind), c in self.columns.items()}
        self.supplied: Supply | None = None
        self._needs(rest, need)
        if not isinstance(kinds, KindPool):
            self._packed(counting.problem)
        self._within()

    def _needs(self, rest: list[int], need: Vector | None) -> None:
        """Set what is needed: pairs (number, tasks) of each kind when no open choice is taken, and what choices change.

        A choice puts one user with other tasks in the place of one with the least: (column, tasks, least) of each kind.
        """
        self.least: list[list[tuple[int, int]]] = [[] for _ in rest]
        self.extra: list[list[tuple[int, int, int]]] = []
        for stop in self.all:
            if not stop.open:
                for pairs, number, tasks in zip(self.least, stop.may, stop.tasks, strict=True):
                    pairs.append((number, tasks))
        options_of: list[dict[int, int]] = [{} for _ in rest]
        for (s, kind), column in self.columns.items():
            options_of[kind][column] = self.all[s].tasks[kind]
        for kind, (number, options) in enumerate(zip(rest, options_of, strict=True)):
            each = 0
            if need is None or need[kind] > self.kinds.scales[kind].most:
                # They must have stopped; without an option to, the row 0 >= 1 says that there is nothing left.
                if number:
                    row = dict.fromkeys(options, 1.0) or {self.model.column(0.0): 1.0}
                    self.model.row(number, number, row)
            else:
                each = need[kind]
                if len(options) > 1 or any(self.model.high[column] > number for column in options):
                    self.model.row(0.0, number, dict.fromkeys(options, 1.0))
            self.least[kind].append((number, each))
            self.extra.append([(column, tasks, each) for column, tasks in options.items()])

    def _summed(self, need: Callable[[int, int], dict[int, int]]) -> tuple[dict[int, int], dict[int, Terms]]:
        """Return of each thing what is needed of it without choices, and what each choice changes of that."""
        least: dict[int, int] = {}
        extra: dict[int, Terms] = {}
        for kind, (pairs, options) in enumerate(zip(self.least, self.extra, strict=True)):
            for number, tasks in pairs:
                for what, amount in need(kind, tasks).items() if number and tasks else ():
                    least[what] = least.get(what, 0) + number * amount
            for column, tasks, each in options:
                without = need(kind, each)
                now = need(kind, tasks)
                for what in without | now:
                    if change := now.get(what, 0) - without.get(what, 0):
                        extra.setdefault(what, {})[column] = change
        return least, extra

    def _within(self) -> None:
        """Add the capacities of a pool, and ceilings: what the choices change, within what the least tasks leave."""
        kinds = self.kinds
        least, extra = self._summed(lambda kind, x: dict(enumerate(kinds.need(kind, x))))
        for j, total in enumerate(kinds.room):
            left, terms = total - least.get(j, 0), extra.get(j, {})
            unit = max((abs(x) for x in terms.values()), default=1)
            unit = 1 if unit <= LARGEST else unit
            if terms or left < 0:
                self.model.row(-math.inf, left / unit, {column: x / unit for column, x in terms.items()})

    def _packed(self, problem: Problem) -> None:
        """Add what the machines can run: as much of each shape of task as all who run it need."""
        self.supplied = supply(self.model, problem.by_type)
        least, extra = self._summed(self.kinds.runs)
        for shape, terms in enumerate(self.supplied.tasks):
            asked = {column: -float(x) for column, x in extra.get(shape, {}).items()}
            self.model.row(least.get(shape, 0), math.inf, terms | asked)

    def stops(self, values: np.ndarray) -> Stops:
        """Return who stops where in a solution."""
        found: Stops = []
        for s, stop in enumerate(self.all):
            chosen = range(len(stop.may))
            numbers = (
                tuple(round(values[self.columns[s, kind]]) if (s, kind) in self.columns else 0 for kind in chosen)
                if stop.open
                else stop.may
            )
            found.append((numbers, stop.tasks))
        return found
