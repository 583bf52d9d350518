"""Where whole tasks run after a few moves, as integer programs.

Given   y[i, p]   tasks of user i that run in place p today
        L         the values that are wanted, from the lowest up, and how many users are at each
        x[i](v)   tasks that are worth v to user i (`drfopt.model.whole_values`: levels, where there are no rules)

Find    z[i, p]   tasks of user i in place p, whole
        s[i, v]   whether user i stops at value v, if some number of tasks is worth just that

    minimise    sum of  g[i, p] = max(0, y[i, p] - z[i, p])        tasks that leave their place
    subject to  what runs on the machines of a place fits on them, and below ceilings (capacity)
                sum_p z[i, p]  >=  sum_v x[i](v) s[i, v],  sum_v s[i, v] = 1          (levels)
                sum_i s[i, v]  <=  number of users at value v                         (counts)

Of a user with several types every type is a row of z, and together they are the first so many of its sequence of tasks.

A task that leaves moves to another place or is evicted.  Nothing can have more users at a higher level and no more at
the lower ones, or L would not be the optimum: so these rows say that the levels are L, whoever has which.

With at most K tasks leaving the levels are found one after the other: what the lowest can be, how few users must stop
there, and so on; whoever they are stays open.

In several groups no value says who is due: the ends of all best ways are known (`drfopt.certificates.group_sweep`), and
of each the nearest is looked for, users alike in any order.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import SolverError
from ...base.progress import report
from ...certificates.group_sweep import GroupSweep
from ...engines.problem import Problem
from ...engines.whole.integer_program import Model, UnfinishedProgram
from ...engines.whole.milp import Supply, device_rows, supply
from ...model.packings import Packing, device_room, integer_rows, program_rows
from ...model.whole_values import WholeUsers
from .current import Current

__all__ = ["BestEnds", "Fairest", "Placement", "Tasks", "Within", "nearest"]


@dataclass(frozen=True, eq=False)
class Placement:
    """Tasks in every place.

    Attributes
    ----------
    tasks : int array (n of the instance, places)
        Of several types of a user a row a type.
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
        self.users = problem.whole_users
        self.cluster, self.members = self.users.cluster, self.users.rows
        self.limits: list[int] = []
        self.rows: list[list[int]] = []
        self._limits()
        self.column: dict[tuple[int, int], int] = {}
        self.supplied: Supply | None = None
        if self.cluster.machines is None:
            self._pool()
        elif current.machines:
            self._single_machines()
        else:
            self._classes()
        self.chosen = [self._types(p) if len(rows) > 1 else {} for p, rows in enumerate(self.rows)]
        self._ceilings()
        self.gone = int(np.delete(current.tasks, self.members, axis=0).sum())
        self.leaving = self._leaving()
        if most is not None:
            self.model.row(-math.inf, most - self.gone, dict.fromkeys(self.leaving.values(), 1.0))

    def of(self, position: int) -> dict[int, float]:
        """Return the tasks of a user who takes part as an expression."""
        if len(self.rows[position]) == 1:
            return self._of_row(self.rows[position][0])
        return {column: float(x) for x, column in self.chosen[position].items()}

    def tasks(self, plan: Placement) -> list[int]:
        """Return the tasks of those who take part in a plan."""
        counts = plan.tasks.sum(axis=1)
        return [int(sum(counts[self.members[r]] for r in rows)) for rows in self.rows]

    def _of_row(self, row: int) -> dict[int, float]:
        return {column: 1.0 for (r, _), column in self.column.items() if r == row}

    def _limits(self) -> None:
        """Set the positions of each user's rows, and the most tasks of each row."""
        place = {q: r for r, q in enumerate(self.members)}
        self.limits = [0] * len(self.members)
        types, r = self.problem.instance.task_types, 0
        for i, most, sequence in zip(self.users.members, self.users.most, self.users.sequences, strict=True):
            number = len(types[i] or (0,)) if types is not None else 1
            self.rows.append(list(range(r, r + number)))
            r += number
            for q, x in zip(sequence.rows, sequence.started(most), strict=True):
                self.limits[place[q]] = x

    def _types(self, position: int) -> dict[int, int]:
        """Say that the types of a user are the first so many of its tasks; return a column for each number of them."""
        sequence = self.users.sequences[position]
        numbers = {x: self.model.column(1.0) for x in range(self.users.most[position] + 1)}
        self.model.row(1.0, 1.0, dict.fromkeys(numbers.values(), 1.0))
        started = {x: dict(zip(sequence.rows, sequence.started(x), strict=True)) for x in numbers}
        for r in self.rows[position]:
            of_type = {column: -float(started[x].get(self.members[r], 0)) for x, column in numbers.items()}
            self.model.row(0.0, 0.0, self._of_row(r) | {column: x for column, x in of_type.items() if x})
        return numbers

    def _ceilings(self) -> None:
        """Keep the ceilings of groups; those of users are limits."""
        for inside, j, amount in self.users.ceilings:
            rows = [r for p in sorted(inside) for r in self.rows[p]]
            demands, room = integer_rows([[self.cluster.exact_demands[self.members[r]][j]] for r in rows], [amount])
            for row, total in program_rows(demands, room):
                terms = {c: d for r, d in zip(rows, row, strict=True) if d for c in self._of_row(r)}
                self.model.row(-math.inf, total, terms)

    def _pool(self) -> None:
        columns = [self.model.column(most) for most in self.limits]
        self.column = {(r, 0): column for r, column in enumerate(columns)}
        self._capacity(columns, self.members, self.cluster.exact_capacity)

    def _single_machines(self) -> None:
        cluster = self.cluster
        for place, k in enumerate(self.current.classes):
            able = [r for r, q in enumerate(self.members) if cluster.fits[q, k]]
            columns = [self.model.column(self.limits[r]) for r in able]
            self.column |= {(r, place): column for r, column in zip(able, columns, strict=True)}
            users = [self.members[r] for r in able]
            self._capacity(columns, users, cluster.exact_machine_capacity[k])
            device_rows(self.model, columns, device_room(cluster, k, users))
        for r, most in enumerate(self.limits):
            self.model.row(0, most, self._of_row(r))

    def _capacity(self, columns: list[int], users: list[int], room: tuple[Fraction, ...]) -> None:
        demands, total = integer_rows([self.cluster.exact_demands[q] for q in users], room)
        for row, most in program_rows(demands, total):
            self.model.row(0, most, {column: d for column, d in zip(columns, row, strict=True) if d})

    def _classes(self) -> None:
        """Classes run as much of each shape of task as can be packed on their machines."""
        self.supplied = found = supply(self.model, self.problem.by_type)
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
            for r in found.shapes[number]:
                if self.cluster.fits[self.members[r], k]:
                    self.column[r, k] = self.model.column(self.limits[r])
                    columns.append(self.column[r, k])
            self.model.row(-math.inf, 0, dict.fromkeys(columns, 1.0) | {c: -x for c, x in run.items()})
        for r, most in enumerate(self.limits):
            self.model.row(0, most, self._of_row(r))

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
        for k in range(self.cluster.k):
            packs = [(column, of, pattern) for column, of, pattern in found.packs if of == k]
            single = [(of, row) for of, row in found.single if of == k]
            alone = Supply(found.shapes, found.tasks, packs, single)
            packing += alone.packing(values, self.members, [int(tasks[i, k]) for i in self.members])
        return packing


@dataclass
class Fairest:
    """Values decided so far, from below: each with how many users are at it.

    With all of them decided, `fewest` is the plan with these levels for which the fewest tasks leave.
    """

    problem: Problem
    current: Current
    most: int | None = None
    decided: list[tuple[int, int]] = field(default_factory=list)
    program: Callable[[Problem, Current, int | None], Tasks] = Tasks
    """Says what runs where, and what leaves."""

    @cached_property
    def users(self) -> WholeUsers:
        """Who takes part, and what tasks are worth."""
        return self.problem.whole_users

    def fewest(self, deadline: Deadline) -> tuple[Placement, bool]:
        """Return a plan with these levels, and whether it is proven that no fewer tasks leave."""
        program = self.program(self.problem, self.current, self.most)
        self._ask(program, None)
        return nearest(program, deadline)

    def misses(self, plan: Placement) -> str:
        """Return what of a plan is not as good as was asked for, in words."""
        tasks = self.program(self.problem, self.current, None).tasks(plan)
        values = sorted(scale.value(x) for scale, x in zip(self.users.scales, tasks, strict=True))
        wanted = [value for value, count in self.decided for _ in range(count)]
        return "its levels are below those that were asked for" if values < wanted else ""

    def _ask(self, program: Tasks, level: int | None, at: bool = False) -> list[dict[int, int]]:
        """Add the rows of the values decided, and that who is not at one of them is above `level` (None: nobody is).

        With `at` they may be at that value as well, which costs 1.  Returns, of each user, which columns say that it
        stops, each with its value there.
        """
        model = program.model
        stops: list[dict[int, int]] = []
        at_level: list[dict[int, float]] = [{} for _ in self.decided]
        values = [value for value, _ in self.decided] + ([level] if at and level is not None else [])
        for p, scale in enumerate(self.users.scales):
            above = None if level is None else scale.least(level + 1)
            free = above is not None and above <= scale.most
            need = float(above or 0) if free else 0.0
            terms, chosen = program.of(p), {}
            for v, value in enumerate(values):
                if scale.at(value):
                    new = v == len(self.decided)
                    column = model.column(1.0, 1.0 if new else 0.0)
                    chosen[column] = value
                    terms[column] = need - float(scale.least(value))
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
            if not users and self.most is not None and self.program(self.problem, self.current, None).gone > self.most:
                raise Within("no plan keeps within the moves")
            return None
        done = sum(count for _, count in self.decided)
        report(f"{done} of {users} users stopped, {len(self.decided)} levels decided")
        linear = all(len(scale.rows) == 1 and not scale.promise for scale in self.users.scales)
        plan = self._highest(deadline) if linear else self._halved(deadline)
        while True:
            level = self._next(plan)
            program = self.program(self.problem, self.current, self.most)
            self._ask(program, level, at=True)
            values = program.model.solve(deadline)
            if values is None:
                raise SolverError("a plan that is known is called impossible: the solver is not believed")
            plan = program.plan(values)
            if count := round(program.model.value(values)):
                self.decided.append((level, count))
                return plan

    def _highest(self, deadline: Deadline) -> Placement:
        """Return a plan in which the lowest value above those decided is as high as floats can tell."""
        program, scales = self.program(self.problem, self.current, self.most), self.users.scales
        unit = float(max(scale.top for scale in scales)) or 1.0
        lowest = program.model.column(1.0, -1.0, whole=False)
        stops = self._ask(program, self.decided[-1][0] if self.decided else -1)
        for p, (scale, chosen) in enumerate(zip(scales, stops, strict=True)):
            slope, offset = scale.rows[0]
            row = {column: slope / unit * x for column, x in program.of(p).items()} | {lowest: -1.0}
            row |= {column: 1.0 - value / unit for column, value in chosen.items()}
            program.model.row(-offset / unit, math.inf, row)
        values = program.model.solve(deadline)
        if values is None:
            raise Within("no plan keeps within the moves")
        return program.plan(values)

    def _halved(self, deadline: Deadline) -> Placement:
        """Return a plan in which the lowest value above those decided is highest, which is found by halving."""
        done = self.decided[-1][0] if self.decided else -1
        numbers = {scale: range(scale.least(done + 1), scale.most + 1) for scale in set(self.users.scales)}
        candidates = sorted({scale.value(x) for scale, tasks in numbers.items() for x in tasks})
        low, high, plan = 0, len(candidates), None
        while low < high:
            # The lowest of them is asked first: where it is not possible, nothing is.
            middle = 0 if plan is None else (low + high) // 2
            program = self.program(self.problem, self.current, self.most)
            self._ask(program, candidates[middle] - 1)
            values = program.model.solve(deadline)
            if values is not None:
                low, plan = middle + 1, program.plan(values)
            else:
                high = middle
        if plan is None:
            raise Within("no plan keeps within the moves")
        return plan

    def _next(self, plan: Placement) -> int:
        """Return the lowest value in a plan that is not among those decided."""
        tasks = self.program(self.problem, self.current, None).tasks(plan)
        values = sorted(scale.value(x) for scale, x in zip(self.users.scales, tasks, strict=True))
        return values[sum(count for _, count in self.decided)]


@dataclass
class BestEnds:
    """The ends of all best ways of several groups, as tasks of those who take part; users alike may change places."""

    problem: Problem
    current: Current
    sweep: GroupSweep
    ends: list[tuple[int, ...]]
    most: None = None

    def fewest(self, deadline: Deadline) -> tuple[Placement, bool]:
        """Return a plan for the end that is nearest, and whether it is proven that no fewer tasks leave."""
        found = []
        for end in self.ends:
            program = Tasks(self.problem, self.current)
            model = program.model
            for alike in self.sweep.kinds:
                numbers = Counter(end[p] for p in alike)
                chosen = {(p, x): model.column(1.0) for p in alike for x in numbers}
                for x, number in numbers.items():
                    model.row(number, number, {chosen[p, x]: 1.0 for p in alike})
                for p in alike:
                    model.row(1.0, 1.0, {chosen[p, x]: 1.0 for x in numbers})
                    model.row(0.0, 0.0, program.of(p) | {chosen[p, x]: -float(x) for x in numbers if x})
            found.append(nearest(program, deadline))
        plan, _ = min(found, key=lambda row: row[0].leaving(self.current))
        return plan, all(proven for _, proven in found)

    def misses(self, plan: Placement) -> str:
        """Return what of a plan is not as good as was asked for, in words."""
        tasks = self.sweep.canonical(Tasks(self.problem, self.current).tasks(plan))
        return "" if tasks in self.ends else "it is not the end of a best way to choose who stops"


def nearest(program: Tasks, deadline: Deadline) -> tuple[Placement, bool]:
    """Return the plan of a program for which the fewest tasks leave, and whether that is proven."""
    for column in program.leaving.values():
        program.model.cost[column] = 1.0
    try:
        values, proven = program.model.solve(deadline), True
    except UnfinishedProgram as stopped:
        if stopped.point is None:
            raise
        values, proven = stopped.point, False
    if values is None:
        raise SolverError("no plan has the optimal levels, though an allocation does: the solver is not believed")
    return program.plan(values), proven


class Within(SolverError):
    """With so few tasks leaving their places nothing is feasible."""
