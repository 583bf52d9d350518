"""One pool with guarantees, tiers and groups: the clock of `drfopt.model.hierarchy`, run from stop to stop.

Between two stops everything that is used is a curve of straight pieces, so a stop is where one of them meets its
capacity or a ceiling; every stop fills at least one of these, so there are few.

One pool with guarantees, tiers and groups in rational numbers: the same curves as in floats, of fractions.

Machines with guarantees, tiers and groups: the clock of `drfopt.model.hierarchy`, stopped by linear programs.

Between two points of the curve of what is used, everybody's tasks go straight from x to y.  How far they can go:

    maximise    s                                         (at most 1)
    subject to  sum_k z_ik  >=  x_i + s (y_i - x_i)       user i          (multiplier: what her cheapest class costs)
                sum_i a_ikj z_ik  <=  1                   resource j of class k, a fraction of it       (price)

Capacities of the whole cluster and ceilings of groups, which no placement can stretch, say where the clock stops at the
latest; between there and where it stood the first piece that cannot be gone to its end is found by halving.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from ..base.errors import UNRESOLVED, SolverError
from ..base.numbers.rationals import integer_columns
from ..base.progress import report
from ..base.solvers.exact_lp import ExactProgram, maximise
from ..base.tolerances import LEVEL, SAME, SPARE
from ..certificates.chain import CERTAIN, excess, firm
from ..certificates.stops import costs, exact_room
from ..model.evidence import StopEvidence
from ..model.hierarchy import BranchPoint, Breakpoint, Clock, SettledState, Trajectory
from .linear_programs import INFINITY, SMALLEST, basis_to_mend, capacity_rows, load, run, user_rows
from .problem import Answer, Problem, exact_types

__all__ = ["FRACTIONS", "ExactPrograms", "Programs", "solve_exactly", "solve_machines", "solve_pool", "stops"]

NOTICEABLE = 1e-6
"""Share of somebody's dominant resource below which rounding of the whole may be 1e-10 of what it has, or all of it."""

FRACTIONS = 1_000
"""Users up to whom fractions are asked then (the row of `rational-tree`): of more, a small share is the usual case."""


def solve_pool(problem: Problem) -> Answer:
    """Return the allocation, and the stops of the clock that prove it.

    Raises
    ------
    SolverError
        When somebody has so little that rounding decides how much it is, and fractions can say it.
    """
    answer = _filled(problem, exact=False)
    shares = problem.shares.max(axis=1) * answer.tasks
    if problem.n <= FRACTIONS and ((shares > 0) & (shares < NOTICEABLE)).any():
        user = problem.instance.users[problem.members[int(np.where(shares > 0, shares, np.inf).argmin())]]
        raise SolverError(f"user {user!r} has so little that rounding decides how much: ask for exact=True")
    return answer


@contextmanager
def _within_floats() -> Iterator[None]:
    try:
        with np.errstate(over="raise"):
            yield
    except FloatingPointError:
        raise SolverError("levels are beyond the range of floats: ask for exact=True, or change weights") from None


@_within_floats()
def _filled(problem: Problem, exact: bool) -> Answer:
    """Return the same in floats or in fractions."""
    clock = Clock(problem.instance, problem.policy, exact)
    state, breakpoints = clock.start(), list[Breakpoint]()
    for breakpoint, state in stops(problem, clock):  # noqa: B007 -- the last one is the end
        breakpoints.append(breakpoint)
    levels = clock.levels(state.has)
    proof = StopEvidence(breakpoints=tuple(breakpoints))
    return Answer(state.has[problem.members], evidence=proof, levels=levels[problem.members])


def _next(clock: Clock, state: SettledState) -> tuple[Breakpoint, SettledState]:
    """Return the next stop and the state after it."""
    trajectory = clock.trajectory(state)
    waiting = ~state.finished
    used = {c: most for c, most in clock.room.items() if (clock.columns[waiting, c] > 0).any()}
    full = trajectory.first_stop(used)
    columns = [] if full is None else full[2]
    point = trajectory.end if full is None else trajectory.point(*full[:2])
    finished = np.flatnonzero(waiting & (clock.columns[:, columns] > 0).any(axis=1))
    one = clock.zero + 1
    prices = np.array([[one if c in columns else clock.zero for c in range(clock.instance.m)]])
    bounds = [one if c in columns else clock.zero for c in clock.room if c > clock.instance.m]
    breakpoint = Breakpoint(state.promising, point, finished, prices, np.array(bounds))
    return breakpoint, clock.after(state, trajectory.tasks(point), finished)


def solve_exactly(problem: Problem) -> Answer:
    """Return the allocation as `Fraction`s, and the stops of the clock that prove it."""
    found = _filled(problem, exact=True)
    if problem.instance.machines is None:
        return found
    tasks = np.full(problem.instance.n, Fraction(0), dtype=object)
    tasks[problem.members] = found.tasks
    return replace(found, amounts=ExactPrograms(problem).placed(tasks))


ARRIVED = 1e-11
"""What may be missing of a piece that was gone to its end: a program's rounding."""


@_within_floats()
def solve_machines(problem: Problem) -> Answer:
    """Return the allocation, and the stops of the clock that prove it."""
    clock = Clock(problem.instance, problem.policy)
    state, breakpoints = clock.start(), list[Breakpoint]()
    for breakpoint, state in stops(problem, clock):  # noqa: B007 -- the last one is the end
        breakpoints.append(breakpoint)
    levels = clock.levels(state.has)[problem.members]
    proof, placed = StopEvidence(breakpoints=tuple(breakpoints)), Programs(problem).placed(state.has)
    return Answer(state.has[problem.members], amounts=placed, evidence=proof, levels=levels)


def stops(problem: Problem, clock: Clock) -> Iterator[tuple[Breakpoint, SettledState]]:
    """Yield every stop of the clock, and what is settled after it."""
    pool, exact = problem.instance.machines is None, clock.exact
    programs = None if pool else (ExactPrograms if exact else Programs)(problem)
    state, number = clock.start(), 0
    while not clock.over(state):
        problem.deadline.check("filling the tree")
        number += 1
        report(f"stop {number}: {int(state.finished.sum())} of {problem.instance.n} users are finished")
        before = state
        breakpoint, state = _next(clock, before) if programs is None else _Stop(clock, before, programs).found()
        if not len(breakpoint.finished) and before.promising == state.promising and not clock.over(state):
            user = problem.instance.users[clock.rising(state).argmax()]
            raise SolverError(f"rounding keeps user {user!r} just below its limit: ask for exact=True")
        yield breakpoint, state


class Programs:
    """The program above for one cluster: rows and pairs stay, tasks change.

    Who has several task types is several users here, each with her part of the tasks.
    """

    def __init__(self, problem: Problem):
        self.problem = by_type = problem.by_type
        self.whole = problem
        self.rows, self.adding = capacity_rows(by_type), user_rows(by_type)
        self.owner = by_type.pairs[0]
        self.user, self.part = problem.members[by_type.user], by_type.part

    def reach(self, first: np.ndarray, last: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return how far one can go between two tasks of everybody (n,), 0 to 1, amounts (pairs,) and prices (k, m)."""
        problem, rows = self.problem, len(self.rows.machine)
        begin, end = first[self.user] * self.part, last[self.user] * self.part
        some = np.flatnonzero(end > 0)
        pairs = np.flatnonzero(end[self.owner] > 0)
        unit = end[self.owner[pairs]]
        matrix = sparse.csc_array(self.rows.matrix)[:, pairs] @ sparse.diags_array(unit)
        if matrix.nnz and matrix.data.min() <= SMALLEST:
            raise self._dropped(matrix.tocoo(), pairs)
        adding = sparse.csr_array(self.adding)[some][:, pairs]
        growth = sparse.csc_array(-((end - begin) / np.where(end > 0, end, 1))[some][:, None])
        held = begin[some] / end[some]
        cost, upper = np.zeros(len(pairs) + 1), np.full(len(pairs) + 1, INFINITY)
        cost[-1], upper[-1] = -1, 1
        highs = load(
            cost,
            upper,
            sparse.block_array([[adding, growth], [matrix, None]], format="csr"),
            np.concatenate([np.where(begin[some] == end[some], held * (1 - SPARE), held), np.full(rows, -INFINITY)]),
            np.concatenate([np.full(len(some), INFINITY), np.ones(rows)]),
        )
        solution = run(highs, "a stop of the clock", problem.deadline)
        amounts = np.zeros(len(self.owner))
        amounts[pairs] = np.maximum(solution.columns[:-1], 0) * unit
        prices = np.maximum(-solution.duals[len(some) :], 0)
        return float(solution.columns[-1]), amounts, self.rows.spread(prices, problem.k, problem.m)

    def _dropped(self, matrix: sparse.coo_array, pairs: np.ndarray) -> SolverError:
        """Return the error of a program with an entry that HiGHS would drop; columns are these pairs."""
        at, instance = int(matrix.data.argmin()), self.problem.instance
        row, column = int(matrix.row[at]), int(matrix.col[at])
        user = self.whole.instance.users[self.user[self.owner[pairs[column]]]]
        there = instance.resources[self.rows.resource[row]]
        where = "there" if instance.machines is None else f"of class {instance.machines[self.rows.machine[row]].name!r}"
        return SolverError(
            f"user {user!r} takes only {matrix.data[at]:.0e} of the {there!r} {where}, which linear programs in floats "
            "would drop: bring demands and capacities nearer to each other, or ask for exact=True (--exact)"
        )

    def placed(self, tasks: np.ndarray) -> np.ndarray:
        """Return amounts (pairs,) that are these tasks (n,), to the last digit."""
        wanted = tasks[self.user] * self.part
        if not wanted.any():
            return np.zeros(len(self.owner))
        _, amounts, _ = self.reach(np.zeros(len(tasks)), tasks)
        total = np.bincount(self.owner, weights=amounts, minlength=len(wanted))
        return amounts * np.divide(wanted, total, where=total > 0, out=np.zeros(len(wanted)))[self.owner]


class ExactPrograms:
    """The same in fractions: HiGHS finds a basis in floats, and exact pivots mend it."""

    def __init__(self, problem: Problem):
        self.problem = by_type = problem.by_type
        self.parts, needs = exact_types(problem)
        self.user = problem.members[by_type.user].tolist()
        self.rows = capacity_rows(by_type)
        demands, scales = integer_columns(needs, problem.m)
        self.cells = list(zip(self.rows.machine.tolist(), self.rows.resource.tolist(), strict=True))
        at = {cell: by_type.n + r for r, cell in enumerate(self.cells)}
        self.columns: list[dict[int, Fraction]] = []
        for q, k in zip(*(pair.tolist() for pair in by_type.pairs), strict=True):
            uses = {at[k, j]: Fraction(d) for j, d in enumerate(demands[q]) if d}
            self.columns.append({q: Fraction(-1), **uses})
        counts = [machine.count for machine in problem.instance.machines or ()]
        room = problem.instance.exact_machine_capacity
        self.room = [counts[k] * room[k][j] * scales[j] for k, j in self.cells]

    def reach(self, first: np.ndarray, last: np.ndarray) -> tuple[Fraction, np.ndarray, np.ndarray]:
        """Return how far one can go between two tasks of everybody (n,), amounts (pairs,) and prices (k, m)."""
        n, rows = self.problem.n, list(zip(self.user, self.parts, strict=True))
        growth = {q: part * (last[i] - first[i]) for q, (i, part) in enumerate(rows) if last[i] != first[i]}
        end = n + len(self.cells)
        columns = [*self.columns, {**growth, end: Fraction(1)}]
        b = [-part * first[i] for i, part in rows] + self.room + [Fraction(1)]
        c = [Fraction(0)] * len(self.columns) + [Fraction(1)]
        entries = [(float(v), r, at) for at, column in enumerate(columns) for r, v in column.items()]
        values, at_rows, at_columns = zip(*entries, strict=True)
        matrix = sparse.csr_matrix((values, (at_rows, at_columns)), shape=(len(b), len(columns)))
        cost, low = np.zeros(len(columns)), np.full(len(b), -INFINITY)
        cost[-1] = -1.0
        high = np.array([float(value) for value in b])
        highs = load(cost, np.full(len(columns), INFINITY), matrix, low, high)
        basis = basis_to_mend(highs, "a stop of the clock", self.problem.deadline)
        optimum = maximise(ExactProgram(columns, b, c), basis, "a stop of the exact clock", self.problem.deadline)
        prices = np.full((self.problem.k, self.problem.m), Fraction(0), dtype=object)
        for (k, j), price, room in zip(self.cells, optimum.prices[n:], self.room, strict=False):
            prices[k, j] = price * room
        return optimum.x[-1], np.array(optimum.x[:-1], dtype=object), prices

    def placed(self, tasks: np.ndarray) -> np.ndarray:
        """Return amounts (pairs,) that are these tasks (n,)."""
        _, amounts, _ = self.reach(tasks, tasks)
        left = [part * tasks[i] for i, part in zip(self.user, self.parts, strict=True)]
        for at, q in enumerate(self.problem.pairs[0].tolist()):
            amounts[at] = min(amounts[at], left[q])
            left[q] -= amounts[at]
        return amounts


class _Stop:
    """The search for the next stop after a state."""

    def __init__(self, clock: Clock, state: SettledState, programs: Any):
        self.clock, self.state, self.programs = clock, state, programs
        self.trajectory: Trajectory = clock.trajectory(state)
        waiting = ~state.finished
        used = {c: most for c, most in clock.room.items() if (clock.columns[waiting, c] > 0).any()}
        self.full = self.trajectory.first_stop(used)
        self.waiting = waiting

    def found(self) -> tuple[Breakpoint, SettledState]:
        """Return the stop and the state after it."""
        last = len(self.trajectory.level) - 1 if self.full is None else self.full[0]
        points = [self.trajectory.point(point) for point in range(last + 1)]
        if self.full is not None:
            points.append(self.trajectory.point(*self.full[:2]))
        if self._arrives(points[-1]):
            return self._breakpoint(points[-1], *self._bounded())
        low, high = 0, len(points) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._arrives(points[middle]) else (low, middle)
        begin, end = self.trajectory.tasks(points[low]), self.trajectory.tasks(points[high])
        way, _, prices = self.programs.reach(begin, end)
        if not self.clock.exact:
            prices = firm(prices)
            way = self._proven(way, prices, begin, end)
        part = way * self.full[1] if self.full is not None and high == len(points) - 1 else way
        bounds = np.full(len(self.clock.ceilings), self.clock.zero)
        return self._breakpoint(self.trajectory.point(low, part), prices, bounds)

    def _arrives(self, point: BranchPoint) -> bool:
        begin, end = self.state.has, self.trajectory.tasks(point)
        if (begin == end).all():
            return True
        return bool(self.programs.reach(begin, end)[0] >= 1 - (0 if self.clock.exact else ARRIVED))

    def _bounded(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the prices of what is full in the whole cluster: every class pays its part."""
        instance, columns = self.clock.instance, self.full[2] if self.full is not None else []
        zero = self.clock.zero
        paid = np.array([zero + 1 if j in columns else zero for j in range(instance.m)])
        bounds = [zero + 1 if instance.m + 1 + b in columns else zero for b in range(len(self.clock.ceilings))]
        room = exact_room(instance) if self.clock.exact else instance.room
        whole = room.sum(axis=0) if self.clock.exact else instance.capacity
        return room / np.where(whole > 0, whole, zero + 1) * paid, np.array(bounds)

    def _proven(self, way: float, prices: np.ndarray, begin: np.ndarray, end: np.ndarray) -> float:
        """Return how far the prices say that one can go, which is more exact than what the program found."""
        price = self._price(prices, np.zeros(0))
        mass = float(price @ (end - begin))
        if not mass > 0:
            return way
        bound = (float(prices.sum()) - float(price @ begin)) / mass
        size = max(1.0, float(price @ end) / mass)
        return min(max(bound, 0.0), 1.0) if abs(bound - way) <= SAME * size else way

    def _price(self, prices: np.ndarray, bounds: np.ndarray) -> np.ndarray:
        price = costs(self.clock, prices, bounds)
        return price if self.clock.exact else np.where(np.isfinite(price), price, 0)

    def _breakpoint(
        self, point: BranchPoint, prices: np.ndarray, bounds: np.ndarray
    ) -> tuple[Breakpoint, SettledState]:
        tasks = self.trajectory.tasks(point)
        price = self._price(prices, bounds)
        if self.clock.exact:
            if prices.sum() + sum(bounds) != price @ tasks:
                raise SolverError("the prices of an exact stop are not all spent: this cannot be")
            done = np.flatnonzero(self.waiting & (price > 0))
            breakpoint = Breakpoint(self.state.promising, point, done, prices, bounds)
            return breakpoint, self.clock.after(self.state, tasks, done)
        left = excess(np.concatenate([prices.ravel(), bounds]), price, tasks)
        held = np.where(tasks > 0, tasks, self.clock.leaves.most)
        finished = np.flatnonzero(self.waiting & (price > 0) & (price * held * CERTAIN * LEVEL >= left))
        if not len(finished) and point != self.trajectory.end:
            raise SolverError(
                f"the prices of the stop at level {float(point.time):.6g} prove nobody finished to 1e-9: {UNRESOLVED}"
            )
        breakpoint = Breakpoint(self.state.promising, point, finished, prices, bounds)
        return breakpoint, self.clock.after(self.state, tasks, finished)
