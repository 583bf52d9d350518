"""Levels of a pool's users rising together, in whole tasks and exact integers: where must the next of them stop?

Users alike in demands, in what tasks are worth and in most tasks form a *kind*; only how many of a kind have stopped
matters.  Levels are values of whole tasks as `drfopt.model.whole_values` defines them, integers.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np

from ...model.whole_values import SAFE
from ..problem import Problem

__all__ = ["BOTTOM", "KindPool", "Kinds", "PricedPool", "Spot", "TooMany", "Vector"]

Vector = tuple[int, ...]

BOTTOM = -1
"""A level below all levels: above it, 0 tasks are enough."""

LARGEST = 10**200
"""Amounts that are less, and sums of them, are within the range of floats."""

LISTED = 1_000
"""Tasks of all users between two levels up to which they are put in order, to see which is the first too many."""


class TooMany(Exception):
    """There are more ways to choose who stops than may be listed."""


@dataclass(frozen=True, eq=False)
class Spot:
    """A level at which users must stop.

    Attributes
    ----------
    level : int
    tasks : array
        Tasks of one user of each kind who stops there.
    must, may : arrays
        How many of each kind have to stop (another task would be one too many), and how many can.
    missing : array
        Of each resource, what is missing if only those stop who have to; 0 where nothing is.
    """

    level: int
    tasks: np.ndarray
    must: np.ndarray
    may: np.ndarray
    missing: np.ndarray


class Kinds:
    """The users who take part, by kinds, with what their tasks are worth and need as integers.

    Attributes
    ----------
    users : WholeUsers
    scales : list of LevelScale
        What tasks of each kind are worth.
    people : list of lists
        Positions of the members of each kind.
    room : tuple of int
        What there is of what tasks need: of a pool the resources; then, as on machines, the ceilings of groups.
    """

    def __init__(self, problem: Problem):
        self.users = users = problem.whole_users
        self.people = [alike for _, _, alike in users.kinds]
        self.scales = [scale for _, scale, _ in users.kinds]
        self.sequences = [sequence for sequence, _, _ in users.kinds]
        self.goods = [sequence.rows for sequence in self.sequences]
        self.table = users.table
        self._needs()

    def _needs(self) -> None:
        """Set `rows`, what a task of each type of each kind needs, and `room`."""
        rows, room = self.users.ceiling_rows
        self.rows = [[tuple(rows[good]) for good in goods] for goods in self.goods]
        self.room: Vector = tuple(room)

    @property
    def sizes(self) -> Vector:
        """Number of users of each kind."""
        return tuple(map(len, self.people))

    def level(self, value: int) -> Fraction:
        """Return a value as the policy counts it."""
        return self.users.told(value)

    def least(self, value: int) -> Vector:
        """Return the fewest tasks of a user of each kind that are worth so much."""
        return tuple(self.table.least(value).tolist())

    def need(self, kind: int, x: int) -> Vector:
        """Return what x tasks of a user of a kind need."""
        rows = self.rows[kind]
        if len(rows) == 1:
            return tuple(x * d for d in rows[0])
        started = self.sequences[kind].started(x)
        return tuple(sum(map(mul, started, column)) for column in zip(*rows, strict=True))

    def runs(self, kind: int, x: int) -> dict[int, int]:
        """Return how many tasks of each shape are x tasks of a user of a kind."""
        found: dict[int, int] = {}
        for good, count in zip(self.goods[kind], self.sequences[kind].started(x), strict=True):
            shape = self.users.goods[good][1]
            found[shape] = found.get(shape, 0) + count
        return found

    def tasks(self, stops: Sequence[tuple[Any, Any]]) -> list[int]:
        """Return the tasks of the members, given numbers and tasks of each kind of who stopped, spot by spot."""
        tasks = [0] * sum(self.sizes)
        waiting = [iter(people) for people in self.people]
        for stopping, counts in stops:
            for kind in np.flatnonzero(stopping).tolist():
                x, people = int(counts[kind]), waiting[kind]
                for _ in range(stopping[kind]):
                    tasks[next(people)] = x
        return tasks


class KindPool(Kinds):
    """The users of one pool by kinds: what their tasks need are its resources, and ceilings of groups."""

    def _needs(self) -> None:
        rows, room = self.users.pool_rows
        self.rows = [[tuple(rows[good]) for good in goods] for goods in self.goods]
        self.room = tuple(room)
        self._changed()

    def _changed(self) -> None:
        """Forget what was known of other rows, and note what a task of each kind needs, side by side."""
        self._harder: dict[int, list[int]] = {}
        users = zip(self.sizes, self.scales, self.rows, strict=True)
        needs = [
            [number * (scale.most + 1) * max(column) for column in zip(*rows, strict=True)]
            for number, scale, rows in users
        ]
        largest = max([max(self.room, default=0), *map(sum, zip(*needs, strict=True))], default=0)
        self.kind: Any = np.int64 if self.table.kind is np.int64 and largest < SAFE else object
        self._first = np.array([rows[0] for rows in self.rows], dtype=self.kind).reshape(-1, len(self.room))
        self.demands = self._first if all(len(rows) == 1 for rows in self.rows) else None
        codes: dict[tuple, int] = {}
        alike = [
            (s.rows, s.promise, None if len(r) == 1 else k)
            for k, (s, r) in enumerate(zip(self.scales, self.rows, strict=True))
        ]
        self._codes = np.array([codes.setdefault(key, len(codes)) for key in alike])
        self._floats: tuple[np.ndarray, np.ndarray] | None = None
        if self.demands is not None:
            amounts = (max(column, default=0) for column in (self.room, self.demands.ravel().tolist(), self._slopes))
            if self._slopes and max(amounts) < LARGEST:
                demands = self.demands.astype(float)
                self._floats = demands, demands / np.array(self._slopes, dtype=float)[:, None]

    @property
    def _slopes(self) -> list[int]:
        """What a task of each kind adds to its value where that is all that counts, else nothing."""
        return [] if self.table.slopes is None else self.table.slopes.tolist()

    def step(self, kind: int, x: int) -> Vector:
        """Return what the task after the first x of a user of a kind needs."""
        rows = self.rows[kind]
        return rows[0] if len(rows) == 1 else rows[self.sequences[kind].next_type(x)]

    def harder(self, one: int) -> list[int]:
        """Return the other kinds than which a kind is easier: they need no less of anything and may run no more tasks.

        All of one type, and with the same values.  Of two kinds of which either is easier, as kinds with other classes
        or ceilings may be, it is the one listed last.
        """
        if one not in self._harder:
            first, most = self._first, self.table.most
            less = (self._codes == self._codes[one]) & (most <= most[one]) & (first >= first[one]).all(axis=1)
            same = (most == most[one]) & (first == first[one]).all(axis=1) & (np.arange(len(most)) >= one)
            self._harder[one] = np.flatnonzero(less & ~same).tolist()
        return self._harder[one]

    def minus(self, left: np.ndarray, numbers: np.ndarray, tasks: np.ndarray) -> np.ndarray:
        """Return what is left over after so many users of each kind with so many tasks each."""
        if self.demands is not None:
            return left - (numbers * tasks) @ self.demands
        used = [0] * len(self.room)
        for kind in np.flatnonzero(numbers).tolist():
            used = [u + int(numbers[kind]) * d for u, d in zip(used, self.need(kind, int(tasks[kind])), strict=True)]
        return left - np.array(used, dtype=self.kind)

    def after(self, stops: Sequence[tuple[Any, Any]]) -> tuple[np.ndarray, np.ndarray]:
        """Return how many of each kind are active after stops, and what is left over."""
        active, left = np.array(self.sizes), np.array(self.room, dtype=self.kind)
        for numbers, tasks in stops:
            active, left = active - np.array(numbers), self.minus(left, np.array(numbers), np.array(tasks))
        return active, left

    # ---- where they must stop ---------------------------------------------------------------------------------

    def next_spot(self, active: np.ndarray, left: np.ndarray, level: int) -> Spot | None:
        """Return the lowest spot above a level that all active users can be above; None when nobody is active."""
        rising = active > 0
        if not rising.any():
            return None
        low, high = level, int(self.table.top[rising].min()) - 1
        if high <= low or self._over(active, left, high).max(initial=0) <= 0:
            return self.spot(active, left, high + 1)  # Somebody has its most tasks, which mostly is next under limits.
        guesses = iter(self._near(active, left))
        while high - low > 1:
            if (listed := self._listed(active, low, high)) is not None:
                values, needs = listed
                short = (needs > -self._over(active, left, low)).any(axis=1)
                return self.spot(active, left, int(values[short.argmax()]))
            middle = next((guess for guess in guesses if low < guess < high), (low + high) // 2)
            above = self.table.least(middle + 1)
            if self._over(active, left, middle).max(initial=0) <= 0:
                # Nothing changes until somebody has another task.
                low = min(high - 1, int(self.table.values(above)[rising].min()) - 1)
            else:
                before = rising & (above > 0)
                high = max(low + 1, int(self.table.values(above - 1)[before].max(initial=BOTTOM)))
        return self.spot(active, left, high)

    def _over(self, active: np.ndarray, left: np.ndarray, level: int) -> np.ndarray:
        """Return by how much it is too much of each thing when all are above a level."""
        return -self.minus(left, active, self.table.least(level + 1))

    def _listed(self, active: np.ndarray, low: int, high: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Return values between two levels, the higher one too, and what all need to be above each, beyond the lower.

        None where they are too many, or tasks of a user differ.
        """
        if self.demands is None:
            return None
        first = self.table.least(low + 1)
        more = np.where(active > 0, self.table.least(high + 1) - first, 0)
        if more.max() > LISTED or not 0 < more.sum() <= LISTED:
            return None
        kinds = np.repeat(np.arange(len(more)), more.astype(np.int64))
        tasks = first[kinds] + np.arange(len(kinds)) - (np.cumsum(more) - more)[kinds]
        values = self.table.values(tasks, kinds)
        order = np.argsort(values, kind="stable")
        needs = np.cumsum((self.demands * active[:, None])[kinds[order]], axis=0)
        return values[order], needs

    def spot(self, active: np.ndarray, left: np.ndarray, level: int) -> Spot:
        """Return what happens at a level that all active users can reach."""
        tasks, above = self.table.least(level), self.table.least(level + 1)
        may = np.where(above > tasks, active, 0)
        must = np.where(above > self.table.most, may, 0)
        free = self.minus(self.minus(left, must, tasks), active - must, above)
        return Spot(level, tasks, must, may, np.maximum(-free, 0))

    def _near(self, active: np.ndarray, left: np.ndarray) -> tuple[int, ...]:
        """Return levels between which the highest is that all can be above, in floats; none where those say nothing.

        Whole tasks need what divisible ones do, and a task each more at most.
        """
        if self._floats is None:
            return ()
        demands, each = self._floats
        numbers, room = active.astype(float), left.astype(float)
        rate, once = numbers @ each, numbers @ demands
        used = rate > 0
        if not used.any():
            return ()
        least, most = ((room - once)[used] / rate[used]).min(), (room[used] / rate[used]).min()
        return int(least) - 1, int(most) + 1

    # ---- who stops there --------------------------------------------------------------------------------------

    def fewest(self, spot: Spot, most: int, budget: int) -> list[Vector]:
        """Return every smallest choice of who stops at a spot, by kinds, of at most so many users.

        Of two kinds with the same level per task, whoever needs less of everything and may run no fewer tasks goes on
        before the other: exchanging the two never makes an allocation worse.

        Raises
        ------
        TooMany
            After so many steps.
        """
        must = tuple(spot.must.tolist())
        if not spot.missing.any():
            return [must] if sum(must) <= most else []
        choice = _Choice(self, spot, budget)
        for count in range(sum(must), min(most, int(spot.may.sum())) + 1):
            if found := list(choice.of(count - sum(must))):
                return found
        return []

    def greedy(self, spot: Spot) -> Vector:
        """Return one choice of who stops at a spot, not always the smallest."""
        stopping, missing = spot.must.copy(), spot.missing
        steps = self.demands
        if steps is None:
            each = [self.step(kind, x) for kind, x in enumerate(spot.tasks.tolist())]
            steps = np.array(each, dtype=self.kind)
        while missing.any():
            short = missing > 0
            # What a task frees, as parts of what is missing.
            covered = (np.minimum(steps[:, short], missing[short]) / missing[short]).sum(axis=1)
            best = int(np.where(stopping < spot.may, covered, -1.0).argmax())
            stopping[best] += 1
            missing = np.maximum(missing - steps[best], 0)
        return tuple(stopping.tolist())

    def finish(self, active: np.ndarray, left: np.ndarray, level: int) -> Iterator[tuple[Vector, np.ndarray]]:
        """Yield who stops with which tasks until nobody is active, each time by the greedy choice."""
        while (spot := self.next_spot(active, left, level)) is not None:
            stopping = self.greedy(spot)
            yield stopping, spot.tasks
            active, level = active - np.array(stopping), spot.level
            left = self.minus(left, np.array(stopping), spot.tasks)


class PricedPool(KindPool):
    """Machines as a pool that contains all packings: the resources of the whole cluster, and prices of tasks."""

    def learn(self, prices: Sequence[int], worth: int) -> None:
        """Add a resource: a task of each shape needs its price of it, and there is what all machines are worth."""
        shape = [good[1] for good in self.users.goods]
        self.rows = [
            [(*row, prices[shape[good]]) for good, row in zip(goods, rows, strict=True)]
            for goods, rows in zip(self.goods, self.rows, strict=True)
        ]
        self.room = (*self.room, worth)
        self._changed()

    def asked(self, tasks: Sequence[int]) -> list[int]:
        """Return how many tasks of each shape are these of the members."""
        found = [0] * len(self.users.shapes)
        for goods, sequence, x in zip(self.users.goods_of, self.users.sequences, tasks, strict=True):
            for good, count in zip(goods, sequence.started(x), strict=True):
                found[self.users.goods[good][1]] += count
        return found


class _Choice:
    """Choices of so many users, beyond those who must, whose stopping frees what is missing."""

    def __init__(self, pool: KindPool, spot: Spot, budget: int):
        free = spot.may - spot.must
        self.kinds, self.budget = np.flatnonzero(free).tolist(), budget
        self.must, self.missing = spot.must.tolist(), tuple(spot.missing.tolist())
        self.rows = [pool.step(kind, int(spot.tasks[kind])) for kind in self.kinds]
        self.room = free[self.kinds].tolist()
        kinds = self.kinds
        # Who may go on only after these have: positions of the kinds that are easier in every respect.
        place = {kind: p for p, kind in enumerate(kinds)}
        self.before = [[place[other] for other in pool.harder(kind) if other in place] for kind in kinds]
        # Larger first: then, when a kind's turn comes, it is known whether all of those before it have stopped.
        self.order = sorted(range(len(kinds)), key=lambda p: (-sum(self.rows[p]), pool.scales[kinds[p]].most))
        self.largest = self._largest()

    def _largest(self) -> list[list[list[int]]]:
        """Return for each position and resource the sums of its 0, 1, 2 ... largest demands from there on."""
        tables: list[list[list[int]]] = []
        rest: list[list[int]] = [[] for _ in self.missing]
        for p in reversed(self.order):
            for j, demands in enumerate(rest):
                if self.room[p]:
                    place = bisect_left(demands, -self.rows[p][j])
                    demands[place:place] = [-self.rows[p][j]] * self.room[p]
            tables.append([[-total for total in accumulate(demands, initial=0)] for demands in rest])
        return tables[::-1]

    def of(self, count: int) -> Iterator[Vector]:
        """Yield choices of that many users."""
        chosen = [0] * len(self.kinds)

        def extend(position: int, left: int, missing: Vector) -> Iterator[Vector]:
            self.budget -= 1
            if self.budget < 0:
                raise TooMany
            if left == 0:
                if not any(f > 0 for f in missing):
                    stopping = list(self.must)
                    for p, taken in enumerate(chosen):
                        stopping[self.kinds[p]] += taken
                    yield tuple(stopping)
                return
            if position == len(self.order):
                return
            sums = self.largest[position]
            if len(sums[0]) <= left or any(f > row[left] for f, row in zip(missing, sums, strict=True) if f > 0):
                return
            p = self.order[position]
            free = all(chosen[b] == self.room[b] for b in self.before[p])
            for taken in range(min(left, self.room[p]) if free else 0, -1, -1):
                chosen[p] = taken
                rest = tuple(f - taken * d for f, d in zip(missing, self.rows[p], strict=True)) if taken else missing
                yield from extend(position + 1, left - taken, rest)
            chosen[p] = 0

        yield from extend(0, count, self.missing)
