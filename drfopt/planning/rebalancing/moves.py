"""Where whole tasks run after a few moves, as integer programs.

Given   y[q, p]   tasks of type q that run in place p today
        L         the values that are wanted, from the lowest up, and how many users are at each
        f[i](v)   whole tasks of user i that are worth v, as `drfopt.model.whole_values` says; of v = r[i] x it is x

Find    z[q, p]   tasks of type q in place p, whole
        s[i, v]   whether user i stops at value v; so she has f[i](v) tasks, if there are so many
        u[i, x]   of a user with several types: whether task x of her sequence runs

    minimise    sum of  g[q, p] = max(0, y[q, p] - z[q, p])        tasks that leave their place
    subject to  what runs on the machines of a place fits on them                     (capacity)
                what a group uses is at most its ceiling                              (ceilings)
                sum_p z[q, p]   =  sum_x u[i, x]  over tasks x of type q,
                u[i, x]        >=  u[i, x + 1]                                        (sequence)
                sum_p z[i, p]  >=  sum_v f[i](v) s[i, v],  sum_v s[i, v] = 1          (values)
                sum_i s[i, v]  <=  number of users at value v                         (counts)

Who has no types has one, and no u.  A task that leaves moves to another place or is evicted.  Nothing can have more
users at a higher value and no more at the lower ones, or L would not be the optimum: so these rows say that the values
are L, whoever has which.

With at most K tasks leaving the levels are found one after the other: what the lowest can be, how few users must stop
there, and so on; whoever they are stays open.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import SolverError
from ...base.progress import report
from ...engines.problem import Problem
from ...engines.whole.integer_program import Model, TooLarge, UnfinishedProgram
from ...engines.whole.milp import Supply, device_rows, supply
from ...engines.whole.user_kinds import BOTTOM
from ...model.packings import Packing, device_room, integer_rows, program_rows
from ...model.whole_values import LevelScale, WholeUsers, per_user
from .current import Current

__all__ = ["Fairest", "Placement", "Tasks", "Within"]


LONGEST = 5000
"""Most tasks of a user with several types whose sequence is written down, a column each."""


@dataclass(frozen=True, eq=False)
class Placement:
    """Tasks in every place.

    Attributes
    ----------
    tasks : int array (rows of the instance by types, places)
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
    users : WholeUsers
        Its members.
    current : Current
    most : int or None
        The most tasks that may leave their place.
    """

    def __init__(self, problem: Problem, users: WholeUsers, current: Current, most: int | None = None):
        self.problem, self.users, self.current = problem, users, current
        self.model = Model(problem.solver)
        self.cluster, self.limits, self.scales = users.cluster, users.most, users.scales
        self.rows = [q for sequence in users.sequences for q in sequence.rows]
        self.most = {
            q: x
            for sequence, most_tasks in zip(users.sequences, users.most, strict=True)
            for q, x in zip(sequence.rows, sequence.started(most_tasks), strict=True)
        }
        self.column: dict[tuple[int, int], int] = {}
        self.supplied: Supply | None = None
        if problem.instance.machines is None:
            self._pool()
        elif current.machines:
            self._single_machines()
        else:
            self._classes()
        self._ceilings()
        self._of = [self._tasks_of(p) for p in range(len(self.limits))]
        self.gone = int(np.delete(current.tasks, self.rows, axis=0).sum())
        self.leaving = self._leaving()
        if most is not None:
            self.model.row(-math.inf, most - self.gone, dict.fromkeys(self.leaving.values(), 1.0))

    def of(self, position: int) -> dict[int, float]:
        """Return the tasks of a member as an expression."""
        return dict(self._of[position])

    def _tasks_of(self, position: int) -> dict[int, float]:
        sequence, limit = self.users.sequences[position], self.limits[position]
        run = {q: {c: 1.0 for (row, _), c in self.column.items() if row == q} for q in sequence.rows}
        if len(sequence.rows) == 1:
            (found,) = run.values()
            self.model.row(0, limit, found)
            return found
        if limit > LONGEST:
            raise TooLarge(f"a user has {limit} tasks of several types, and their sequence is a column each")
        steps = [self.model.column(1.0) for _ in range(limit)]
        for first, second in pairwise(steps):
            self.model.row(0, math.inf, {first: 1.0, second: -1.0})
        started: dict[int, list[int]] = {t: [] for t in range(len(sequence.rows))}
        for x, step in enumerate(steps):
            started[sequence.next_type(x)].append(step)
        for t, q in enumerate(sequence.rows):
            self.model.row(0, 0, run[q] | dict.fromkeys(started[t], -1.0))
        return dict.fromkeys(steps, 1.0)

    def _pool(self) -> None:
        columns = [self.model.column(self.most[q]) for q in self.rows]
        self.column = {(q, 0): column for q, column in zip(self.rows, columns, strict=True)}
        self._capacity(columns, self.rows, self.cluster.exact_capacity)

    def _single_machines(self) -> None:
        cluster = self.cluster
        for place, k in enumerate(self.current.classes):
            able = [q for q in self.rows if cluster.fits[q, k]]
            columns = [self.model.column(self.most[q]) for q in able]
            self.column |= {(q, place): column for q, column in zip(able, columns, strict=True)}
            self._capacity(columns, able, cluster.exact_machine_capacity[k])
            device_rows(self.model, columns, device_room(cluster, k, able))

    def _capacity(self, columns: list[int], rows: list[int], room: tuple[Fraction, ...]) -> None:
        demands, total = integer_rows([self.cluster.exact_demands[q] for q in rows], room)
        for row, most in program_rows(demands, total):
            self.model.row(0, most, {column: d for column, d in zip(columns, row, strict=True) if d})

    def _ceilings(self) -> None:
        """Add what groups may use."""
        for inside, j, amount in self.users.ceilings:
            mine = {q for p in inside for q in self.users.sequences[p].rows}
            pairs = [(column, self.cluster.exact_demands[q][j]) for (q, _), column in self.column.items() if q in mine]
            demands, total = integer_rows([(need,) for _, need in pairs], (amount,))
            for row, most in program_rows(demands, total):
                self.model.row(0, most, {c: d for (c, _), d in zip(pairs, row, strict=True) if d})

    def _classes(self) -> None:
        """Classes run as much of each shape of task as can be packed on their machines."""
        by_type = self.problem.by_type
        members = by_type.members.tolist()
        self.supplied = found = supply(self.model, by_type)
        shape = {members[positions[0]]: number for number, positions in enumerate(found.shapes)}
        terms: dict[tuple[int, int], dict[int, float]] = {}
        for column, k, pattern in found.packs:
            for i, x in pattern.items():
                terms.setdefault((shape[i], k), {})[column] = float(x)
        for k, row in found.single:
            for i, column in row.items():
                terms.setdefault((shape[i], k), {})[column] = 1.0
        for (number, k), run in terms.items():
            columns = []
            for q in (members[p] for p in found.shapes[number]):
                if self.cluster.fits[q, k]:
                    self.column[q, k] = self.model.column(self.most[q])
                    columns.append(self.column[q, k])
            self.model.row(-math.inf, 0, dict.fromkeys(columns, 1.0) | {c: -x for c, x in run.items()})

    def _leaving(self) -> dict[tuple[int, int], int]:
        """Add for every place where a member runs something today how much of it leaves."""
        found = {}
        for q in self.rows:
            for place in np.flatnonzero(self.current.tasks[q]).tolist():
                there = int(self.current.tasks[q, place])
                if (q, place) not in self.column:
                    # Her task does not fit there, or may not run there any more: all of it leaves.
                    found[q, place] = self.model.column(there, low=there, whole=False)
                    continue
                column = found[q, place] = self.model.column(there, whole=False)
                self.model.row(there, math.inf, {column: 1.0, self.column[q, place]: 1.0})
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
        for (q, place), column in self.column.items():
            tasks[q, place] = round(values[column])
        if self.supplied is None:
            return Placement(tasks, None)
        # Shapes are packed together: a user's tasks in a class are hers by the columns, so classes are packed singly.
        return Placement(tasks, self._packing(self.supplied, values, tasks))

    def _packing(self, found: Supply, values: np.ndarray, tasks: np.ndarray) -> list[Packing]:
        members = self.problem.by_type.members.tolist()
        packing: list[Packing] = []
        for k in range(self.problem.instance.k):
            packs = [(column, of, pattern) for column, of, pattern in found.packs if of == k]
            single = [(of, row) for of, row in found.single if of == k]
            alone = Supply(found.shapes, found.tasks, packs, single)
            packing += alone.packing(values, members, [int(tasks[q, k]) for q in members])
        return packing


@dataclass
class Fairest:
    """Levels decided so far, from below, as integer values: each with how many users are at it.

    With all of them decided, `fewest` is the plan with these levels for which the fewest tasks leave.
    """

    problem: Problem
    current: Current
    most: int | None = None
    decided: list[tuple[int, int]] = field(default_factory=list)

    @cached_property
    def users(self) -> WholeUsers:
        """Whose levels count, and what their tasks are worth."""
        return WholeUsers(self.problem.instance, self.problem.policy, self.problem.members.tolist())

    def program(self) -> Tasks:
        """Return the program of what can run."""
        return Tasks(self.problem, self.users, self.current, self.most)

    def values(self, tasks: np.ndarray) -> list[int]:
        """Return what tasks in places (rows, places) are worth to each member, the lowest first."""
        return sorted(self.users.values(per_user(self.problem.instance, tasks.sum(axis=1))))

    def fewest(self, deadline: Deadline) -> tuple[Placement, bool]:
        """Return a plan with these levels, and whether it is proven that no fewer tasks leave."""
        program = self.program()
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

    def _ask(self, program: Tasks, level: int | None, at: bool = False) -> list[dict[int, int]]:
        """Add the rows of the levels decided, and that who is not at one of them is above `level` (None: nobody is).

        With `at` they may be at that level as well, which costs 1.  Returns, of each member, which columns say that she
        stops, each with her level there.
        """
        model = program.model
        stops: list[dict[int, int]] = []
        at_level: list[dict[int, float]] = [{} for _ in self.decided]
        values = [value for value, _ in self.decided] + ([level] if at and level is not None else [])
        for p, (scale, limit) in enumerate(zip(program.scales, program.limits, strict=True)):
            above = None if level is None else scale.least(level + 1)
            free = above is not None and above <= limit
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
            if not users and self.most is not None and Tasks(self.problem, self.users, self.current).gone > self.most:
                raise Within("no plan keeps within the moves")
            return None
        done = sum(count for _, count in self.decided)
        report(f"{done} of {users} users stopped, {len(self.decided)} levels decided")
        plan = self._highest(deadline)
        while True:
            level = self._next(plan)
            program = self.program()
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
        program = self.program()
        lowest = program.model.column(1.0, -1.0, whole=False)
        below = self.decided[-1][0] if self.decided else BOTTOM
        stops = self._ask(program, below)
        ends = [(scale, scale.least(below + 1)) for scale in program.scales]
        bands = [program.users.band(scale.value(x)) if x <= scale.most else None for scale, x in ends]
        band = min((b for b in bands if b is not None), default=None)
        # Who is promised more, or of a lower tier, is above all who are not: of the others values are lines.
        lines = {p: _line(scale, below + 1) for p, scale in enumerate(program.scales) if bands[p] == band is not None}
        unit = float(max((slope * program.scales[p].most for p, (slope, _) in lines.items()), default=1) or 1)
        base = min((offset for _, offset in lines.values()), default=0)
        for p, (slope, offset) in lines.items():
            row = {column: slope * x / unit for column, x in program.of(p).items()} | {lowest: -1.0}
            # Who has stopped holds nobody down.
            row |= dict.fromkeys(stops[p], 1.0)
            program.model.row(-(offset - base) / unit, math.inf, row)
        values = program.model.solve(deadline)
        if values is None:
            raise Within("no plan keeps within the moves")
        return program.plan(values)

    def _next(self, plan: Placement) -> int:
        """Return the lowest level of a plan that is not among those decided."""
        below = sum(count for _, count in self.decided)
        return self.values(plan.tasks)[below]


def _line(scale: LevelScale, value: int) -> tuple[int, int]:
    """Return slope and offset of a line that values are not below, from that value on."""
    return (scale.part, 0) if scale.least(value) < scale.promise else scale.rows[0]


class Within(SolverError):
    """With so few tasks leaving their places nothing is feasible."""
