"""Leximin with whole tasks: levels from below, the users who stop at each counted, and the counts fixed.

The sorted levels are lexicographically largest when, level value by level value, the fewest users stop there.  So: find
the highest level that all users still active can reach; of those who could be exactly at it, stop as few as possible;
fix that number, but not who they are, and go on.  Given a level the least tasks of every active user are known.  In a
pool without an open choice feasibility is one sum in integers; otherwise it is a counting program over HiGHS.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..errors import SolverError, TimeLimitError
from ..packings import LARGEST, integer_rows, most_alone
from ..progress import report
from .milp import Model, Supply, placed, supply
from .problem import Answer, Problem

__all__ = ["solve"]


@dataclass
class _Stop:
    """At a level, `count` of these users stop; each would have that many tasks."""

    level: Fraction
    count: int
    tasks: dict[int, int]


def solve(problem: Problem) -> Answer:
    """Return the leximin allocation of whole tasks, proven level by level."""
    search = _Search(problem)
    while search.active_count():
        stopped = problem.n - search.active_count()
        known = f"{stopped} of {problem.n} users stopped, the lowest {len(search.stops)} levels found"
        report(known)
        problem.deadline.check("counting who stops", known)
        try:
            search.advance()
        except TimeLimitError as error:
            raise TimeLimitError(str(error), known) from None
    return search.answer()


class _Search:
    """The levels found so far, and which choices of stopped users they leave open. Users are members' positions."""

    def __init__(self, problem: Problem):
        self.problem = problem
        instance, members = problem.instance, problem.members.tolist()
        rates = problem.policy.exact_rates(instance)
        self.rates = [rates[i] for i in members]
        self.most = [most_alone(instance, i) for i in members]
        self.stops: list[_Stop] = []
        self.pool = instance.machines is None
        if self.pool:
            self.demands, self.room = integer_rows(
                [instance.exact_demands[i] for i in members], instance.exact_capacity
            )

    def active_count(self) -> int:
        """Number of users who have not stopped."""
        return len(self.rates) - sum(stop.count for stop in self.stops)

    def advance(self) -> None:
        """Find the next level at which somebody must stop, and how few."""
        level = self._highest()
        stopped = self._surely_stopped()
        tied = {
            i: int(level / rate)
            for i, rate in enumerate(self.rates)
            if (level / rate).denominator == 1 and level / rate <= self.most[i] and i not in stopped
        }
        fewest = self._fewest(level, tied)
        if not 1 <= fewest <= len(tied):
            raise SolverError(
                f"counting who stops at level {level} gave {fewest} of {len(tied)}: the solver is not believed"
            )
        self.stops.append(_Stop(level, fewest, tied))

    def answer(self) -> Answer:
        """Return the tasks, once everybody has stopped, and on machines which of them runs what."""
        if self.pool and not self._open():
            return Answer(np.array(self._least(None), dtype=np.int64))
        model, supplied, choice = self._model(None)
        values = self._solve(model)
        tasks = [0] * len(self.rates)
        for i, x in self._surely_stopped().items():
            tasks[i] = x
        for (stop, i), column in choice.items():
            if round(values[column]):
                tasks[i] = self.stops[stop].tasks[i]
        if supplied is None:
            return Answer(np.array(tasks, dtype=np.int64))
        return placed(self.problem, supplied, values, tasks)

    # ---- the search for a level -------------------------------------------------------------------------------

    def _highest(self) -> Fraction:
        """Return the largest level that all active users can reach."""
        below = self.stops[-1].level if self.stops else Fraction(0)
        if self.stops and not self._reachable(below, strictly=True):
            raise SolverError(
                f"nobody can stop above level {float(below):.6g} though users are active: the solver is not believed"
            )
        stopped = self._surely_stopped()
        high = max(
            rate * most for i, (rate, most) in enumerate(zip(self.rates, self.most, strict=True)) if i not in stopped
        )
        low = below
        # Halve the interval until the candidates in it can be listed.
        while True:
            candidates = self._candidates(low, high, bool(self.stops) and low == below, 4 * len(self.rates) + 16)
            if candidates is not None:
                break
            middle = (low + high) / 2
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
        if first == 0:
            raise SolverError(
                f"no level above {float(low):.6g} is reachable though users are active: the solver is not believed"
            )
        return candidates[first - 1]

    def _candidates(self, low: Fraction, high: Fraction, above: bool, most: int) -> list[Fraction] | None:
        """Return levels from low (or above it) to high that some active user can have; None when too many."""
        ranges = []
        stopped = self._surely_stopped()
        for i, rate in enumerate(self.rates):
            if i not in stopped:
                first = self._need(i, low, strictly=above)
                ranges.append((rate, first, min(math.floor(high / rate), self.most[i])))
        if sum(max(0, last - first + 1) for _, first, last in ranges) > most:
            return None
        return sorted({rate * x for rate, first, last in ranges for x in range(first, last + 1)})

    def _reachable(self, level: Fraction, strictly: bool = False) -> bool:
        """Say whether all active users can have at least (or more than) this level, the counts below it kept."""
        if self.pool and not self._open():
            least = self._least(level, strictly)
            return all(x <= most for x, most in zip(least, self.most, strict=True)) and self._fits(least)
        model, _, _ = self._model(level, strictly)
        return model.solve(self.problem.deadline) is not None

    def _fewest(self, level: Fraction, tied: dict[int, int]) -> int:
        """Return the least number of tied users who must stop at the level."""
        if len(tied) == 1:
            return 1
        self.stops.append(_Stop(level, 0, tied))
        try:
            model, _, choice = self._model(level, strictly=True, counted=False)
            last = len(self.stops) - 1
            for (stop, _), column in choice.items():
                if stop == last:
                    model.cost[column] = 1.0
            values = self._solve(model)
            return sum(round(values[column]) for (stop, _), column in choice.items() if stop == last)
        finally:
            self.stops.pop()

    def _solve(self, model: Model) -> np.ndarray:
        values = model.solve(self.problem.deadline)
        if values is None:
            raise SolverError(
                "HiGHS calls a counting program infeasible that has a solution: the solver is not believed"
            )
        return values

    # ---- programs ---------------------------------------------------------------------------------------------

    def _surely_stopped(self) -> dict[int, int]:
        """Return tasks of users who stopped without a choice."""
        return {i: x for stop in self.stops if stop.count == len(stop.tasks) for i, x in stop.tasks.items()}

    def _open(self) -> bool:
        return any(stop.count < len(stop.tasks) for stop in self.stops)

    def _need(self, i: int, level: Fraction, strictly: bool) -> int:
        quotient = level / self.rates[i]
        return math.floor(quotient) + 1 if strictly else math.ceil(quotient)

    def _least(self, level: Fraction | None, strictly: bool = False) -> list[int]:
        stopped = self._surely_stopped()
        return [
            stopped[i] if i in stopped else self._need(i, level if level is not None else Fraction(0), strictly)
            for i in range(len(self.rates))
        ]

    def _fits(self, tasks: list[int]) -> bool:
        return all(
            sum(x * row[j] for x, row in zip(tasks, self.demands, strict=True)) <= total
            for j, total in enumerate(self.room)
        )

    def _model(
        self, level: Fraction | None, strictly: bool = False, counted: bool = True
    ) -> tuple[Model, Supply | None, dict[tuple[int, int], int]]:
        """Return the program: choices of stopped users that keep the counts, and tasks enough for everybody else.

        Without a level everybody has stopped.  With ``counted=False`` the number of the last stop is left open.
        """
        model = Model()
        choice: dict[tuple[int, int], int] = {}
        for s, stop in enumerate(self.stops):
            if stop.count == len(stop.tasks):
                continue
            for i in stop.tasks:
                choice[s, i] = model.column(1.0)
            if counted or s < len(self.stops) - 1:
                model.row(stop.count, stop.count, {choice[s, i]: 1.0 for i in stop.tasks})
        least, extra = self._needs(model, choice, level, strictly)
        if self.pool:
            self._pool_rows(model, least, extra)
            return model, None, choice
        supplied = supply(model, self.problem)
        for terms, need, options in zip(supplied.tasks, least, extra, strict=True):
            model.row(need, math.inf, terms | {column: -float(x) for column, x in options.items()})
        return model, supplied, choice

    def _needs(
        self, model: Model, choice: dict[tuple[int, int], int], level: Fraction | None, strictly: bool
    ) -> tuple[list[int], list[dict[int, int]]]:
        """Return the tasks of each user when none of her options is chosen, and what each option changes them by."""
        stopped = self._surely_stopped()
        least: list[int] = []
        extra: list[dict[int, int]] = []
        for i in range(len(self.rates)):
            if i in stopped:
                least.append(stopped[i])
                extra.append({})
                continue
            options = {column: self.stops[s].tasks[i] for (s, user), column in choice.items() if user == i}
            need = 0 if level is None else self._need(i, level, strictly)
            if level is None or need > self.most[i]:
                need = 0
                # She must have stopped; without an option to, the row 0 >= 1 says that there is nothing left.
                model.row(1.0, 1.0, dict.fromkeys(options, 1.0) or {model.column(0.0): 1.0})
            elif options:
                model.row(0.0, 1.0, dict.fromkeys(options, 1.0))
            least.append(need)
            extra.append({column: x - need for column, x in options.items()})
        return least, extra

    def _pool_rows(self, model: Model, least: list[int], extra: list[dict[int, int]]) -> None:
        """Add the capacities of a pool: what the choices change, within what the least tasks leave, in integers."""
        for j, total in enumerate(self.room):
            left = total - sum(x * row[j] for x, row in zip(least, self.demands, strict=True))
            terms = {
                column: x * row[j]
                for row, options in zip(self.demands, extra, strict=True)
                for column, x in options.items()
                if x and row[j]
            }
            unit = max((abs(x) for x in terms.values()), default=1)
            unit = 1 if unit <= LARGEST else unit
            if terms or left < 0:
                model.row(-math.inf, left / unit, {column: x / unit for column, x in terms.items()})
