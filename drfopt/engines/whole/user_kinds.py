"""Levels of a pool's users rising together, in whole tasks and exact integers: where must the next of them stop?

Users alike in demands, in what tasks are worth and in most tasks form a *kind*; only how many of a kind have stopped
matters.  Levels are values of whole tasks as `drfopt.model.whole_values` defines them, integers.
"""

import heapq
import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from operator import le, mul

import numpy as np

from ..problem import Problem

__all__ = ["BOTTOM", "KindPool", "Kinds", "PricedPool", "Spot", "TooMany", "Vector"]

Vector = tuple[int, ...]

BOTTOM = -1
"""A level below all levels: above it, 0 tasks are enough."""

LARGEST = 10**200
"""Amounts that are less, and sums of them, are within the range of floats."""

FEW = 4
"""Of so many kinds one has another task between the ends of the search for a level, before tasks are tried in turn."""


class TooMany(Exception):
    """There are more ways to choose who stops than may be listed."""


@dataclass(frozen=True)
class Spot:
    """A level at which users must stop.

    Attributes
    ----------
    level : int
    tasks : tuple of int
        Tasks of one user of each kind who stops there.
    must, may : tuple of int
        How many of each kind have to stop (another task would be one too many), and how many can.
    missing : tuple of int
        Of each resource, what is missing if only those stop who have to; 0 where nothing is.
    """

    level: int
    tasks: Vector
    must: Vector
    may: Vector
    missing: Vector


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
        plain = all(len(scale.rows) == 1 and not scale.promise and not scale.rows[0][1] for scale in self.scales)
        self._slopes = [scale.rows[0][0] for scale in self.scales] if plain else []
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
        if self._slopes:
            return tuple([-(-value // slope) for slope in self._slopes])
        return tuple([scale.least(value) for scale in self.scales])

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

    def tasks(self, stops: Sequence[tuple[Vector, Vector]]) -> list[int]:
        """Return the tasks of the members, given numbers and tasks of each kind of who stopped, spot by spot."""
        tasks = [0] * sum(self.sizes)
        waiting = [iter(people) for people in self.people]
        for stopping, counts in stops:
            for people, number, x in zip(waiting, stopping, counts, strict=True):
                for _ in range(number):
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
        """Forget what was known of other rows, and note in floats what a task needs, and what a level of it does."""
        self._harder: dict[int, list[int]] = {}
        self._floats: tuple[np.ndarray, np.ndarray] | None = None
        amounts = (x for row in (self._slopes, self.room, *(row for rows in self.rows for row in rows)) for x in row)
        if self._slopes and all(len(rows) == 1 for rows in self.rows) and max(amounts) < LARGEST:
            demands = np.array([rows[0] for rows in self.rows], dtype=float)
            self._floats = demands, demands / np.array(self._slopes, dtype=float)[:, None]

    def step(self, kind: int, x: int) -> Vector:
        """Return what the task after the first x of a user of a kind needs."""
        rows = self.rows[kind]
        return rows[0] if len(rows) == 1 else rows[self.sequences[kind].next_type(x)]

    def easier(self, one: int, other: int) -> bool:
        """Say whether a kind has the values of another, may run no fewer tasks and needs no more of anything.

        Of two kinds of which either does, as kinds with other classes or ceilings may, it is the one listed last.
        """
        a, b = self.scales[one], self.scales[other]
        alike = (a.rows, a.promise) == (b.rows, b.promise) and a.most >= b.most
        single = len(self.rows[one]) == len(self.rows[other]) == 1
        equal = a.most == b.most and self.rows[one] == self.rows[other]
        return alike and single and all(map(le, self.rows[one][0], self.rows[other][0])) and (not equal or one > other)

    def harder(self, one: int) -> list[int]:
        """Return the other kinds than which a kind is easier."""
        if one not in self._harder:
            others = range(len(self.scales))
            self._harder[one] = [other for other in others if one != other and self.easier(one, other)]
        return self._harder[one]

    def minus(self, left: Vector, numbers: Sequence[int], tasks: Sequence[int]) -> Vector:
        """Return what is left over after so many users of each kind with so many tasks each."""
        after = list(left)
        for kind, (number, x) in enumerate(zip(numbers, tasks, strict=True)):
            if number and x:
                rows = self.rows[kind]
                row, amount = (rows[0], number * x) if len(rows) == 1 else (self.need(kind, x), number)
                for j, d in enumerate(row):
                    if d:
                        after[j] -= amount * d
        return tuple(after)

    # ---- where they must stop ---------------------------------------------------------------------------------

    def next_spot(self, active: Vector, left: Vector, level: int) -> Spot | None:
        """Return the lowest spot above a level that all active users can be above; None when nobody is active."""
        rising = [kind for kind, number in enumerate(active) if number]
        if not rising:
            return None
        level = self._leap(active, left, level, rising)
        above = self.least(level + 1)
        free = list(self.minus(left, active, above))
        has = list(above)
        queue = [(self.scales[kind].value(above[kind]), kind) for kind in rising]
        heapq.heapify(queue)
        while True:
            level = queue[0][0]
            stuck = False
            while queue[0][0] == level:
                _, kind = queue[0]
                for j, d in enumerate(self.step(kind, has[kind])):
                    if d:
                        free[j] -= active[kind] * d
                has[kind] += 1
                heapq.heapreplace(queue, (self.scales[kind].value(has[kind]), kind))
                stuck |= has[kind] > self.scales[kind].most
            if stuck or min(free) < 0:
                return self.spot(active, left, level)

    def spot(self, active: Vector, left: Vector, level: int) -> Spot:
        """Return what happens at a level that all active users can reach."""
        tasks, above = self.least(level), self.least(level + 1)
        may = tuple(number if more > x else 0 for x, more, number in zip(tasks, above, active, strict=True))
        must = tuple(
            number if more > scale.most else 0 for number, more, scale in zip(may, above, self.scales, strict=True)
        )
        rest = [number - stopping for number, stopping in zip(active, must, strict=True)]
        free = self.minus(self.minus(left, must, tasks), rest, above)
        return Spot(level, tasks, must, may, tuple(max(0, -f) for f in free))

    def _leap(self, active: Vector, left: Vector, level: int, rising: list[int]) -> int:
        """Return a level near the highest that all can be above, or the same where that is near."""
        scales = self.scales

        def reach(level: int) -> bool:
            above = self.least(level + 1)
            if any(above[kind] > scales[kind].most for kind in rising):
                return False
            return min(self.minus(left, active, above), default=0) >= 0

        if near := self._near(active, left):
            # Floats say where to look: whole tasks need what divisible ones do, and a task each more at most.
            high = min(near[1], *(scales[kind].top for kind in rising))
            low = max(min(near[0], high - 1), level)
            if low == level or reach(low):
                each = [self._slopes[kind] for kind in rising]
                while high - low > 1 and sum([(high - low) // slope for slope in each]) > len(rising) // FEW:
                    middle = (low + high) // 2
                    low, high = (middle, high) if reach(middle) else (low, middle)
                return low
        ahead = [scales[kind].value(scales[kind].least(level + 1)) for kind in rising]
        band = self.users.band(min(ahead))
        low = max(value for value in ahead if self.users.band(value) == band)
        high = min(scales[kind].top for kind in rising)
        if not reach(low):
            # Another may have a billion tasks below the next one of somebody.
            low, high = min(ahead), low
            if not reach(low):
                return level
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if reach(middle) else (low, middle)
        return low

    def _near(self, active: Vector, left: Vector) -> tuple[int, int] | None:
        """Return levels between which the highest is that all can be above, in floats; None where those say nothing."""
        if self._floats is None:
            return None
        demands, each = self._floats
        numbers, room = np.array(active, dtype=float), np.array(left, dtype=float)
        rate, once = numbers @ each, numbers @ demands
        used = rate > 0
        if not used.any():
            return None
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
        if not any(spot.missing):
            return [spot.must] if sum(spot.must) <= most else []
        kinds = [kind for kind, number in enumerate(spot.may) if number > spot.must[kind]]
        choice = _Choice(self, spot, kinds, budget)
        for count in range(sum(spot.must), min(most, sum(spot.may)) + 1):
            if found := list(choice.of(count - sum(spot.must))):
                return found
        return []

    def greedy(self, spot: Spot) -> Vector:
        """Return one choice of who stops at a spot, not always the smallest."""
        stopping, missing = list(spot.must), list(spot.missing)
        while any(missing):
            best, gain = -1, -1
            # What a task frees, as parts of what is missing: in integers of one unit.
            unit = math.lcm(*(f for f in missing if f))
            parts = [(j, f, unit // f) for j, f in enumerate(missing) if f]
            for kind, number in enumerate(spot.may):
                if number > stopping[kind]:
                    step = self.step(kind, spot.tasks[kind])
                    covered = sum([min(step[j], f) * part for j, f, part in parts])
                    if covered > gain:
                        best, gain = kind, covered
            stopping[best] += 1
            freed = self.step(best, spot.tasks[best])
            missing = [max(0, f - d) for f, d in zip(missing, freed, strict=True)]
        return tuple(stopping)

    def finish(self, active: Vector, left: Vector, level: int) -> Iterator[tuple[Spot, Vector]]:
        """Yield who stops where until nobody is active, each time by the greedy choice."""
        while (spot := self.next_spot(active, left, level)) is not None:
            stopping = self.greedy(spot)
            yield spot, stopping
            active = tuple(a - s for a, s in zip(active, stopping, strict=True))
            left, level = self.minus(left, stopping, spot.tasks), spot.level


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

    def __init__(self, pool: KindPool, spot: Spot, kinds: list[int], budget: int):
        self.spot, self.kinds, self.budget = spot, kinds, budget
        self.rows = [pool.step(kind, spot.tasks[kind]) for kind in kinds]
        self.room = [spot.may[kind] - spot.must[kind] for kind in kinds]
        # Who may go on only after these have: positions of the kinds that are easier in every respect.
        place = {kind: p for p, kind in enumerate(kinds)}
        self.before = [[place[other] for other in pool.harder(kind) if other in place] for kind in kinds]
        # Larger first: then, when a kind's turn comes, it is known whether all of those before it have stopped.
        self.order = sorted(range(len(kinds)), key=lambda p: (-sum(self.rows[p]), pool.scales[kinds[p]].most))
        self.largest = self._largest()

    def _largest(self) -> list[list[list[int]]]:
        """Return for each position and resource the sums of its 0, 1, 2 ... largest demands from there on."""
        tables: list[list[list[int]]] = []
        rest: list[list[int]] = [[] for _ in self.spot.missing]
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
                    stopping = list(self.spot.must)
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

        yield from extend(0, count, self.spot.missing)
