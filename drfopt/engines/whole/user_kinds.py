"""Levels of a pool's users rising together, in whole tasks and exact integers: where must the next of them stop?

Users alike in demands, level per task and most tasks form a *kind*; only how many of a kind have stopped matters.
Levels are counted in a unit in which every kind's level of one task is an integer.
"""

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import le

from ...model.packings import integer_rows, most_alone, shapes
from ..problem import Problem

__all__ = ["BOTTOM", "KindPool", "Kinds", "Spot", "TooMany", "Vector"]

Vector = tuple[int, ...]

BOTTOM = -1
"""A level below all levels: above it, 0 tasks are enough."""


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
    """The users who take part, by kinds, with levels as integers.

    Attributes
    ----------
    rates, most : list of int
        Level of one task, most tasks, of each kind.
    shapes : list of int
        Which shape of task (see `drfopt.model.packings.shapes`) each kind runs.
    people : list of lists
        Positions of the members of each kind.
    unit : int
        Levels here are the policy's, times this.
    """

    def __init__(self, problem: Problem):
        instance, members = problem.instance, problem.members.tolist()
        exact = problem.policy.exact_rates(instance)
        self.unit = math.lcm(*(exact[i].denominator for i in members))
        people: dict[tuple[int, int, int], list[int]] = {}
        for shape, positions in enumerate(shapes(instance, members)):
            for position in positions:
                i = members[position]
                kind = (shape, int(exact[i] * self.unit), most_alone(instance, i))
                people.setdefault(kind, []).append(position)
        self.people = list(people.values())
        self.shapes = [shape for shape, _, _ in people]
        self.rates = [rate for _, rate, _ in people]
        self.most = [most for _, _, most in people]

    @property
    def sizes(self) -> Vector:
        """Number of users of each kind."""
        return tuple(map(len, self.people))

    def level(self, level: int) -> Fraction:
        """Return a level as the policy counts it."""
        return Fraction(level, self.unit)

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
    """The users of one pool by kinds, with what they need as integers.

    Attributes
    ----------
    demands : list of tuples, one per kind
    room : tuple of int
    """

    def __init__(self, problem: Problem):
        super().__init__(problem)
        instance, members = problem.instance, problem.members.tolist()
        rows, room = integer_rows([instance.exact_demands[i] for i in members], instance.exact_capacity)
        self.demands: list[Vector] = [tuple(rows[people[0]]) for people in self.people]
        self.room: Vector = tuple(room)

    def minus(self, left: Vector, numbers: Sequence[int], tasks: Sequence[int]) -> Vector:
        """Return what is left over after so many users of each kind with so many tasks each."""
        after = list(left)
        for row, number, x in zip(self.demands, numbers, tasks, strict=True):
            if number and x:
                amount = number * x
                for j, d in enumerate(row):
                    if d:
                        after[j] -= amount * d
        return tuple(after)

    def above(self, level: int) -> list[int]:
        """Return the fewest tasks of a user of each kind above the level."""
        return [level // rate + 1 for rate in self.rates]

    # ---- where they must stop ---------------------------------------------------------------------------------

    def next_spot(self, active: Vector, left: Vector, level: int) -> Spot | None:
        """Return the lowest spot above a level that all active users can be above; None when nobody is active."""
        rising = [kind for kind, number in enumerate(active) if number]
        if not rising:
            return None
        level = self._leap(active, left, level, rising)
        above = self.above(level)
        free = list(self.minus(left, active, above))
        queue = [(above[kind] * self.rates[kind], kind) for kind in rising]
        heapq.heapify(queue)
        while True:
            level = queue[0][0]
            stuck = False
            while queue[0][0] == level:
                _, kind = queue[0]
                heapq.heapreplace(queue, (level + self.rates[kind], kind))
                stuck |= level + self.rates[kind] > self.rates[kind] * self.most[kind]
                for j, d in enumerate(self.demands[kind]):
                    if d:
                        free[j] -= active[kind] * d
            if stuck or min(free) < 0:
                return self.spot(active, left, level)

    def spot(self, active: Vector, left: Vector, level: int) -> Spot:
        """Return what happens at a level that all active users can reach."""
        tasks = [level // rate for rate in self.rates]
        may = tuple(0 if level % rate else number for rate, number in zip(self.rates, active, strict=True))
        must = tuple(number if x + 1 > most else 0 for number, x, most in zip(may, tasks, self.most, strict=True))
        rest = [number - stopping for number, stopping in zip(active, must, strict=True)]
        free = self.minus(self.minus(left, must, tasks), rest, [x + 1 for x in tasks])
        return Spot(level, tuple(tasks), must, may, tuple(max(0, -f) for f in free))

    def _leap(self, active: Vector, left: Vector, level: int, rising: list[int]) -> int:
        """Return a level that all can be above: the highest, if everybody has room for another task, or the same."""

        def reach(level: int) -> bool:
            above = self.above(level)
            if any(above[kind] > self.most[kind] for kind in rising):
                return False
            return min(self.minus(left, active, above)) >= 0

        low = max((level // self.rates[kind] + 1) * self.rates[kind] for kind in rising)
        if not reach(low):
            return level
        high = min(self.rates[kind] * self.most[kind] for kind in rising)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if reach(middle) else (low, middle)
        return low

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
            best, gain = -1, Fraction(-1)
            for kind, number in enumerate(spot.may):
                if number > stopping[kind]:
                    terms = zip(self.demands[kind], missing, strict=True)
                    covered = sum((Fraction(min(d, f), f) for d, f in terms if f), Fraction(0))
                    if covered > gain:
                        best, gain = kind, covered
            stopping[best] += 1
            missing = [max(0, f - d) for f, d in zip(missing, self.demands[best], strict=True)]
        return tuple(stopping)

    def finish(self, active: Vector, left: Vector, level: int) -> Iterator[tuple[Spot, Vector]]:
        """Yield who stops where until nobody is active, each time by the greedy choice."""
        while (spot := self.next_spot(active, left, level)) is not None:
            stopping = self.greedy(spot)
            yield spot, stopping
            active = tuple(a - s for a, s in zip(active, stopping, strict=True))
            left, level = self.minus(left, stopping, spot.tasks), spot.level


class _Choice:
    """Choices of so many users, beyond those who must, whose stopping frees what is missing."""

    def __init__(self, pool: KindPool, spot: Spot, kinds: list[int], budget: int):
        self.spot, self.kinds, self.budget = spot, kinds, budget
        self.rows = [pool.demands[kind] for kind in kinds]
        self.room = [spot.may[kind] - spot.must[kind] for kind in kinds]
        self.before: list[list[int]] = [[] for _ in kinds]
        # Who may go on only after these have: positions of the kinds that are easier in every respect.
        for a, one in enumerate(kinds):
            for b, other in enumerate(kinds):
                same = pool.rates[one] == pool.rates[other] and pool.most[one] >= pool.most[other]
                if a != b and same and all(map(le, pool.demands[one], pool.demands[other])):
                    self.before[a].append(b)
        # Larger first: then, when a kind's turn comes, it is known whether all of those before it have stopped.
        self.order = sorted(range(len(kinds)), key=lambda p: (-sum(self.rows[p]), pool.most[kinds[p]]))
        self.largest = self._largest()

    def _largest(self) -> list[list[list[int]]]:
        """Return for each position and resource the sums of its 0, 1, 2 ... largest demands from there on."""
        tables: list[list[list[int]]] = []
        rest: list[list[int]] = [[] for _ in self.spot.missing]
        for p in reversed(self.order):
            for j, demands in enumerate(rest):
                demands.extend([self.rows[p][j]] * self.room[p])
                demands.sort(reverse=True)
            sums = []
            for demands in rest:
                total, row = 0, [0]
                for d in demands:
                    total += d
                    row.append(total)
                sums.append(row)
            tables.append(sums)
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
