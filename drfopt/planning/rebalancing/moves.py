"""Where whole tasks run after a few moves, as integer programs.

Given   y[i, p]   tasks of user i that run in place p today
        L         the levels that are wanted, from the lowest up, and how many users are at each
        r[i]      level of one task of user i

Find    z[i, p]   tasks of user i in place p, whole
        s[i, v]   whether user i stops at level v; so she has v / r[i] tasks, if that is a whole number

    minimise    sum of  g[i, p] = max(0, y[i, p] - z[i, p])        tasks that leave their place
    subject to  what runs on the machines of a place fits on them                     (capacity)
                sum_p z[i, p]  >=  sum_v (v / r[i]) s[i, v],  sum_v s[i, v] = 1       (levels)
                sum_i s[i, v]  <=  number of users at level v                         (counts)

A task that leaves moves to another place or is evicted.  Nothing can have more users at a higher level and no more at
the lower ones, or L would not be the optimum: so these rows say that the levels are L, whoever has which.

With at most K tasks leaving the levels are found one after the other: what the lowest can be, how few users must stop
there, and so on; whoever they are stays open.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import SolverError
from ...base.progress import report
from ...engines.problem import Problem
from ...engines.whole.integer_program import Model, UnfinishedProgram
from ...engines.whole.milp import Supply, device_rows, supply
from ...model.packings import Packing, device_room, integer_rows, most_alone, program_rows
from .current import Current

__all__ = ["Fairest", "Placement", "Tasks", "Within"]


@dataclass(frozen=True, eq=False)
class Placement:
    """Tasks in every place.

    Attributes
    ----------
    tasks : int array (n of the instance, places)
    packing : list of Packing or None
        How machines of classes run them; None for a pool, and where places are machines.
    """

    tasks: np.ndarray
    packing: list[Packing] | None

    def leaving(self, current: Current) -> int:
        """Return how many tasks leave their place."""
        return int(np.maximum(0, current.tasks - self.tasks).sum())


class Tasks:
    """The program of what runs where, before anything is asked of levels.

    Parameters
    ----------
    problem : Problem
        With whole tasks; its members are whose levels count. Nobody else can run anything.
    current : Current
    most : int or None
        The most tasks that may leave their place.
    """

    def __init__(self, problem: Problem, current: Current, most: int | None = None):
        self.problem, self.current = problem, current
        self.model = Model(problem.solver)
        self.members = problem.members.tolist()
        instance = problem.instance
        self.limits = [most_alone(instance, i) for i in self.members]
        rates = problem.policy.exact_rates(instance)
        self.rates = [rates[i] for i in self.members]
        self.column: dict[tuple[int, int], int] = {}
        self.supplied: Supply | None = None
        if instance.machines is None:
            self._pool()
        elif current.machines:
            self._single_machines()
        else:
            self._classes()
        self.gone = int(np.delete(current.tasks, self.members, axis=0).sum())
        self.leaving = self._leaving()
        if most is not None:
            self.model.row(-math.inf, most - self.gone, dict.fromkeys(self.leaving.values(), 1.0))

    def of(self, position: int) -> dict[int, float]:
        """Return the tasks of a member as an expression."""
        return {column: 1.0 for (p, _), column in self.column.items() if p == position}

    def _pool(self) -> None:
        instance = self.problem.instance
        columns = [self.model.column(most) for most in self.limits]
        self.column = {(p, 0): column for p, column in enumerate(columns)}
        self._capacity(columns, self.members, instance.exact_capacity)

    def _single_machines(self) -> None:
        instance = self.problem.instance
        for place, k in enumerate(self.current.classes):
            able = [p for p, i in enumerate(self.members) if instance.fits[i, k]]
            columns = [self.model.column(self.limits[p]) for p in able]
            self.column |= {(p, place): column for p, column in zip(able, columns, strict=True)}
            users = [self.members[p] for p in able]
            self._capacity(columns, users, instance.exact_machine_capacity[k])
            device_rows(self.model, columns, device_room(instance, k, users))
        for p, most in enumerate(self.limits):
            self.model.row(0, most, self.of(p))

    def _capacity(self, columns: list[int], users: list[int], room: tuple[Fraction, ...]) -> None:
        demands, total = integer_rows([self.problem.instance.exact_demands[i] for i in users], room)
        for row, most in program_rows(demands, total):
            self.model.row(0, most, {column: d for column, d in zip(columns, row, strict=True) if d})

    def _classes(self) -> None:
        """Classes run as much of each shape of task as can be packed on their machines."""
        instance = self.problem.instance
        self.supplied = found = supply(self.model, self.problem)
        shape = {self.members[positions[0]]: number for number, positions in enumerate(found.shapes)}
        terms: dict[tuple[int, int], dict[int, float]] = {}
        for column, k, pattern in found.packs:
            for i, x in pattern.items():
                terms.setdefault((shape[i], k), {})[column] = float(x)
        for k, row in found.single:
            for i, column in row.items():
                terms.setdefault((shape[i], k), {})[column] = 1.0
        for (number, k), run in terms.items():
            columns = []
            for p in found.shapes[number]:
                if instance.fits[self.members[p], k]:
                    self.column[p, k] = self.model.column(self.limits[p])
                    columns.append(self.column[p, k])
            self.model.row(-math.inf, 0, dict.fromkeys(columns, 1.0) | {c: -x for c, x in run.items()})
        for p, most in enumerate(self.limits):
            self.model.row(0, most, self.of(p))

    def _leaving(self) -> dict[tuple[int, int], int]:
        """Add for every place where a member runs something today how much of it leaves."""
        found = {}
        for p, i in enumerate(self.members):
            for place in np.flatnonzero(self.current.tasks[i]):
                there = int(self.current.tasks[i, place])
                if (p, int(place)) not in self.column:
                    # Her task does not fit there, or may not run there any more: all of it leaves.
                    found[p, int(place)] = self.model.column(there, low=there, whole=False)
                    continue
                column = found[p, int(place)] = self.model.column(there, whole=False)
                self.model.row(there, math.inf, {column: 1.0, self.column[p, int(place)]: 1.0})
        return found

    def least(self, deadline: Deadline) -> int:
        """Return how many tasks leave at the least, whatever the levels."""
        for column in self.leaving.values():
            self.model.cost[column] = 1.0
        values = self.model.solve(deadline)
        if values is None:
            raise SolverError("an empty cluster is called impossible: the solver is not believed")
        return self.gone + round(self.model.value(values))

    def plan(self, values: np.ndarray) -> Placement:
        """Return what runs where in a solution."""
        tasks = np.zeros_like(self.current.tasks)
        for (p, place), column in self.column.items():
            tasks[self.members[p], place] = round(values[column])
        if self.supplied is None:
            return Placement(tasks, None)
        # Shapes are packed together: a user's tasks in a class are hers by the columns, so classes are packed singly.
        return Placement(tasks, self._packing(values, tasks))

    def _packing(self, values: np.ndarray, tasks: np.ndarray) -> list[Packing]:
        found = self.supplied
        if found is None:
            raise SolverError("machines without packings")
        packing: list[Packing] = []
        for k in range(self.problem.instance.k):
            packs = [(column, of, pattern) for column, of, pattern in found.packs if of == k]
            single = [(of, row) for of, row in found.single if of == k]
            alone = Supply(found.shapes, found.tasks, packs, single)
            packing += alone.packing(values, self.members, [int(tasks[i, k]) for i in self.members])
        return packing


@dataclass
class Fairest:
    """Levels decided so far, from below: each with how many users are at it.

    With all of them decided, `fewest` is the plan with these levels for which the fewest tasks leave.
    """

    problem: Problem
    current: Current
    most: int | None = None
    decided: list[tuple[Fraction, int]] = field(default_factory=list)

    def fewest(self, deadline: Deadline) -> tuple[Placement, bool]:
        """Return a plan with these levels, and whether it is proven that no fewer tasks leave."""
        program = Tasks(self.problem, self.current, self.most)
        for column in program.leaving.values():
            program.model.cost[column] = 1.0
        self._ask(program, None)
        try:
            values, proven = program.model.solve(deadline), True
        except UnfinishedProgram as stopped:
            if stopped.point is None:
                raise
            values, proven = stopped.point, False
        if values is None:
            raise SolverError("no plan has the optimal levels, though an allocation does: the solver is not believed")
        return program.plan(values), proven

    def _ask(self, program: Tasks, level: Fraction | None, at: bool = False) -> list[dict[int, float]]:
        """Add the rows of the levels decided, and that who is not at one of them is above `level` (None: nobody is).

        With `at` they may be at that level as well, which costs 1.  Returns, of each member, which columns say that she
        stops, each with her level there.
        """
        model = program.model
        stops: list[dict[int, float]] = []
        at_level: list[dict[int, float]] = [{} for _ in self.decided]
        values = [value for value, _ in self.decided] + ([level] if at and level is not None else [])
        for p, (rate, limit) in enumerate(zip(program.rates, program.limits, strict=True)):
            above = None if level is None else max(0, level // rate + 1)
            free = above is not None and above <= limit
            need = float(above or 0) if free else 0.0
            terms, chosen = program.of(p), {}
            for v, value in enumerate(values):
                if (value / rate).denominator == 1 and value / rate <= limit:
                    new = v == len(self.decided)
                    column = model.column(1.0, 1.0 if new else 0.0)
                    chosen[column] = float(value)
                    terms[column] = need - float(value / rate)
                    if not new:
                        at_level[v][column] = 1.0
            model.row(need, math.inf, terms)
            # Who is above no level stops somewhere.
            options = dict.fromkeys(chosen, 1.0) or {model.column(0.0): 1.0}
            model.row(0.0 if free else 1.0, 1.0, options)
            stops.append(chosen)
        for columns, (_, count) in zip(at_level, self.decided, strict=True):
            model.row(-math.inf, count, columns or {model.column(0.0): 1.0})
        return stops

    # ---- level by level ---------------------------------------------------------------------------------------

    def advance(self, deadline: Deadline) -> Placement | None:
        """Decide the next level; return a plan with all levels so far, or None where everybody has stopped.

        Raises
        ------
        UnfinishedProgram
            When the time is up.
        """
        users = len(self.problem.members)
        if sum(count for _, count in self.decided) == users:
            if not users and self.most is not None and Tasks(self.problem, self.current).gone > self.most:
                raise Within("no plan keeps within the moves")
            return None
        done = sum(count for _, count in self.decided)
        report(f"{done} of {users} users stopped, {len(self.decided)} levels decided")
        plan = self._highest(deadline)
        while True:
            level = self._next(plan)
            program = Tasks(self.problem, self.current, self.most)
            self._ask(program, level, at=True)
            values = program.model.solve(deadline)
            if values is None:
                raise SolverError("a plan that is known is called impossible: the solver is not believed")
            plan = program.plan(values)
            if count := round(program.model.value(values)):
                self.decided.append((level, count))
                return plan

    def _highest(self, deadline: Deadline) -> Placement:
        """Return a plan in which the lowest level above those decided is as high as floats can tell."""
        program = Tasks(self.problem, self.current, self.most)
        unit = float(max(rate * most for rate, most in zip(program.rates, program.limits, strict=True)))
        lowest = program.model.column(1.0, -1.0, whole=False)
        stops = self._ask(program, self.decided[-1][0] if self.decided else Fraction(-1))
        for p, (rate, chosen) in enumerate(zip(program.rates, stops, strict=True)):
            row = {column: float(rate) / unit for column in program.of(p)} | {lowest: -1.0}
            row |= {column: 1.0 - level / unit for column, level in chosen.items()}
            program.model.row(0.0, math.inf, row)
        values = program.model.solve(deadline)
        if values is None:
            raise Within("no plan keeps within the moves")
        return program.plan(values)

    def _next(self, plan: Placement) -> Fraction:
        """Return the lowest level of a plan that is not among those decided."""
        rates = self.problem.policy.exact_rates(self.problem.instance)
        levels = sorted(rates[i] * int(plan.tasks[i].sum()) for i in self.problem.members.tolist())
        below = sum(count for _, count in self.decided)
        return levels[below]


class Within(SolverError):
    """With so few tasks leaving their places nothing is feasible."""
