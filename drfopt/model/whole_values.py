"""What whole tasks are worth: one number for each number of tasks of a user, so that leximin of the numbers is fair.

Given   f[i]      whole tasks that the guarantee of user i is worth: those of the divisible definition, rounded down,
                  for the types that fit somewhere
        r[i]      the place of her tier in the order of service, 0 for the highest; weight 0 comes last in its tier
        l[i](x)   her level with x whole tasks, as the policy and the meaning of guarantees count it

Value   v[i](x) = (0, x / f[i], r[i])            where x < f[i]
                  (1 + r[i], l[i](x))            otherwise, compared like words in a dictionary

Fair is the allocation of whole tasks whose sorted values are lexicographically largest: the parts of guarantees first,
wherever somebody is below hers, of equal parts that of the higher tier; then the levels of the highest tier, and so on.
Limits, ceilings of users and groups and capacities bound what is possible.  Without rules v is the level, and this the
leximin of whole tasks.

l[i] is the largest of the policy's shares of x tasks over the weight; of a *surplus* each share is what is above the
guarantee (less than 0 where rounding down leaves a part of the guarantee out), of *normalised* levels it is a part of
the guarantee where there is one.  In x it rises by a task's share at least, so that v is strictly rising.

Types   A user with several types of tasks runs them in the proportions of their counts, one sequence of tasks (see
        `TypeSequence`); types that fit nowhere, on no empty machine, are left out.  Her level counts tasks as it does
        of divisible ones, by her average task; what they use is what their types need.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..base.errors import PolicyError
from .hierarchy import Clock, Node, broken
from .hierarchy.market import incomes_of
from .instance import Instance
from .organisation import Broken
from .packings import integer_rows, most_alone, shapes
from .policies import Policy, without_level
from .users import TypeSequence

__all__ = ["SAFE", "LevelScale", "ScaleTable", "WholeUsers", "by_types", "type_rows"]

SAFE = 2**61
"""Sums up to here are exact in numpy's integers; beyond they are of Python's."""


@dataclass(frozen=True, slots=True)
class LevelScale:
    """Values of a user's tasks, as integers; strictly rising.

    Attributes
    ----------
    most : int
        Most tasks of the user.
    rows : tuple of (slope, offset)
        The value of x tasks from `promise` on is the largest of ``slope * x + offset``.
    promise, part, place : int
        Tasks that are promised; below so many the value is ``part * x + place``.
    """

    most: int
    rows: tuple[tuple[int, int], ...]
    promise: int = 0
    part: int = 0
    place: int = 0

    def value(self, x: int) -> int:
        """Return the value of x tasks."""
        if x < self.promise:
            return self.part * x + self.place
        if len(self.rows) == 1:
            slope, offset = self.rows[0]
            return slope * x + offset
        return max(slope * x + offset for slope, offset in self.rows)

    def least(self, value: int) -> int:
        """Return the fewest tasks that are worth so much, which may be more than `most`."""
        if self.promise and (x := -((self.place - value) // self.part)) < self.promise:
            return max(x, 0)
        if len(self.rows) == 1:
            slope, offset = self.rows[0]
            x = -((offset - value) // slope)
        else:
            x = min(-((offset - value) // slope) for slope, offset in self.rows)
        return max(x, self.promise)

    def at(self, value: int) -> bool:
        """Say whether a number of tasks is worth exactly so much."""
        x = self.least(value)
        return x <= self.most and self.value(x) == value

    @property
    def top(self) -> int:
        """The value of the most tasks."""
        return self.value(self.most)


class ScaleTable:
    """Scales side by side: what tasks of several kinds are worth, in arrays of an entry each.

    Attributes
    ----------
    scales : list of LevelScale
    slopes : array or None
        What a task of each kind adds where that is all that counts.
    most, top : arrays
        Most tasks of each kind, and their values.
    """

    def __init__(self, scales: Sequence[LevelScale]):
        self.scales = list(scales)
        top, most = [scale.top for scale in scales], [scale.most for scale in scales]
        plain = all(len(scale.rows) == 1 and not scale.promise and not scale.rows[0][1] for scale in scales)
        amounts = (abs(x) for scale in scales for row in scale.rows for x in row)
        self.kind: Any = np.int64 if max([*top, *most, *amounts], default=0) < SAFE else object
        self.top, self.most = np.array(top, dtype=self.kind), np.array(most, dtype=self.kind)
        self.slopes = np.array([scale.rows[0][0] for scale in scales], dtype=self.kind) if plain else None

    def least(self, value: int) -> np.ndarray:
        """Return the fewest tasks of a user of each kind that are worth so much."""
        if self.slopes is not None:
            return -(-value // self.slopes)
        return np.array([scale.least(value) for scale in self.scales], dtype=self.kind)

    def values(self, tasks: np.ndarray, kinds: Any = slice(None)) -> np.ndarray:
        """Return what numbers of tasks are worth, one of each kind, or of those named."""
        if self.slopes is not None:
            return self.slopes[kinds] * tasks
        scales = self.scales[kinds] if isinstance(kinds, slice) else [self.scales[kind] for kind in kinds.tolist()]
        return np.array([scale.value(x) for scale, x in zip(scales, tasks.tolist(), strict=True)], dtype=self.kind)

    def at(self, value: int) -> np.ndarray:
        """Say of each kind whether a number of tasks is worth exactly so much."""
        tasks = self.least(value)
        return (tasks <= self.most) & (tasks < self.least(value + 1))


def by_types(instance: Instance) -> Instance:
    """Return the cluster with every task type as a user of its own, without rules; itself where nobody has several."""
    if instance.task_types is None:
        return instance
    rows: list = []
    fits: list = []
    limits: list = []
    for i, (mine, limit) in enumerate(zip(instance.task_types, instance.exact_limits, strict=True)):
        rows += [list(kind.demand) for kind in mine] if mine else [list(instance.exact_demands[i])]
        limits += [None] * len(mine) if mine else [limit]
        if instance.fits is not None:
            fits += instance.type_fits[i].tolist() if mine else [instance.fits[i].tolist()]
    parts = instance.parts()
    pool = instance.machines is None
    return Instance(
        rows,
        parts["capacity"],
        machines=parts["machines"],
        resources=instance.resources,
        max_tasks=limits,
        eligible=None if pool else np.array(fits),
    )


def type_rows(instance: Instance) -> list[range]:
    """Return the rows of each user's types in the cluster by types, (n,)."""
    found, place = [], 0
    for mine in instance.task_types or (None,) * instance.n:
        found.append(range(place, place + (len(mine) if mine else 1)))
        place = found[-1].stop
    return found


class WholeUsers:
    """The users of an instance who take part, with what their whole tasks are worth and need.

    Attributes
    ----------
    members : list of int
        Their rows of the instance; all lists below are in this order.
    cluster : Instance
        The instance by types, whose rows sequences speak of.
    rows : list of int
        The rows of all types of the members, user by user.
    sequences : list of TypeSequence
        Of the types that fit somewhere.
    ruled, branches : bool
        Whether there are rules, and whether groups decide who rises with whom, so that values alone do not.
    ceilings : list of (users as positions, resource, amount)
        What groups may use.
    """

    def __init__(self, instance: Instance, policy: Policy, members: Sequence[int]):
        self.instance, self.policy, self.members = instance, policy, list(members)
        self.cluster = by_types(instance)
        self.rows: list[int] = []
        self.sequences = self._sequences()
        self.ruled = "organisation" in instance.features
        self.branches = self.ruled and instance.several_groups
        place = {i: p for p, i in enumerate(self.members)}
        self.ceilings: list[tuple[frozenset[int], int, Fraction]] = []
        if self.ruled and instance.organisation is not None:
            below = self._clock.below
            self.ceilings = [
                (
                    frozenset(place[i] for i in below[group.name].tolist() if i in place),
                    instance.resources.index(resource),
                    Fraction(amount),
                )
                for group in instance.organisation.groups
                for resource, amount in group.ceiling.items()
            ]

    @cached_property
    def _clock(self) -> Clock:
        leximin = self.policy if self.policy.objective == "leximin" else replace(self.policy, objective="leximin")
        return Clock(self.instance, leximin, exact=True, whole=True)

    @property
    def root(self) -> Node:
        """The tree of an organisation's groups."""
        return self._clock.root

    @property
    def columns(self) -> np.ndarray:
        """What a task of each user of the instance, the average one, counts for in levels of groups: (n, columns)."""
        return self._clock.columns

    @property
    def paths(self) -> list[str]:
        """The group that each member is in, empty for none."""
        rules = self.instance.organisation
        return ["" if rules is None else rules.paths[i] for i in self.members]

    def _sequences(self) -> list[TypeSequence]:
        kinds, rows, found = self.instance.task_types or (None,) * self.instance.n, type_rows(self.instance), []
        for i in self.members:
            self.rows.extend(rows[i])
            if not kinds[i]:
                found.append(TypeSequence((rows[i][0],)))
                continue
            own = self.instance.type_sequences[i]
            found.append(TypeSequence(tuple(rows[i][t] for t in own.rows), own.counts))
        return found

    # ---- what tasks need ------------------------------------------------------------------------------------------

    @cached_property
    def shapes(self) -> list[list[int]]:
        """Rows of the members' types whose tasks are alike, shape by shape."""
        return [[self.rows[p] for p in positions] for positions in shapes(self.cluster, self.rows)]

    @cached_property
    def goods(self) -> list[tuple[int, int, tuple[int, ...]]]:
        """Tasks that are alike to machines and to ceilings: a row of the cluster, its shape, the ceilings it is under.

        Without ceilings of groups there is one for each shape, in the same order.
        """
        return list(self._goods[0])

    @cached_property
    def goods_of(self) -> list[tuple[int, ...]]:
        """The goods that are each member's tasks, type by type."""
        return self._goods[1]

    @cached_property
    def _goods(self) -> tuple[list[tuple[int, int, tuple[int, ...]]], list[tuple[int, ...]]]:
        shape_of = {q: s for s, rows in enumerate(self.shapes) for q in rows}
        found: dict[tuple[int, tuple[int, ...]], tuple[int, int]] = {}
        mine = []
        for p, sequence in enumerate(self.sequences):
            under = tuple(b for b, (users, _, _) in enumerate(self.ceilings) if p in users)
            mine.append(tuple(found.setdefault((shape_of[q], under), (len(found), q))[0] for q in sequence.rows))
        return [(q, shape, under) for (shape, under), (_, q) in found.items()], mine

    @cached_property
    def ceiling_rows(self) -> tuple[list[list[int]], list[int]]:
        """What a task of each good takes of each ceiling, and the ceilings, in integers."""
        if not self.ceilings:
            return [[] for _ in self.goods], []
        demands = self.cluster.exact_demands
        rows = [
            [demands[q][j] if b in under else Fraction(0) for b, (_, j, _) in enumerate(self.ceilings)]
            for q, _, under in self.goods
        ]
        return integer_rows(rows, [amount for _, _, amount in self.ceilings])

    @cached_property
    def pool_rows(self) -> tuple[list[list[int]], list[int]]:
        """What a task of each good takes of each resource of a pool, and the pool; ceilings are further columns."""
        demands = [self.cluster.exact_demands[q] for q, _, _ in self.goods]
        rows, room = integer_rows(demands, self.cluster.exact_capacity)
        more, ceilings = self.ceiling_rows
        return [[*row, *extra] for row, extra in zip(rows, more, strict=True)], [*room, *ceilings]

    def spread(self, tasks: Sequence[int]) -> list[int]:
        """Return the tasks of every user of the instance, (n,), given those of the members."""
        found = [0] * self.instance.n
        for i, x in zip(self.members, tasks, strict=True):
            found[i] = x
        return found

    def counts(self, tasks: Sequence[int]) -> list[int]:
        """Return the tasks of every row of the cluster, given those of every user of the instance, (n,)."""
        found = [0] * self.cluster.n
        for i, sequence in zip(self.members, self.sequences, strict=True):
            for q, x in zip(sequence.rows, sequence.started(tasks[i]), strict=True):
                found[q] = x
        return found

    def use(self, p: int, x: int, j: int) -> Fraction:
        """Return how much of a resource x tasks of a member use."""
        sequence = self.sequences[p]
        demands = self.cluster.exact_demands
        return sum(
            (count * demands[q][j] for q, count in zip(sequence.rows, sequence.started(x), strict=True) if count),
            Fraction(0),
        )

    @cached_property
    def most(self) -> list[int]:
        """The most tasks of each member: what its limit and ceilings allow and, but for types on machines, fits."""
        instance, known = self.instance, {}
        found = []
        for p, i in enumerate(self.members):
            if instance.task_types is not None and instance.task_types[i] is not None:
                found.append(self._most(p))
                continue
            fits = b"" if instance.fits is None else instance.fits[i].tobytes()
            key = (instance.same_demands[i], instance.exact_limits[i], fits)
            if key not in known:
                known[key] = most_alone(instance, i)
            found.append(known[key])
        return found

    def _most(self, p: int) -> int:
        i, sequence, instance = self.members[p], self.sequences[p], self.instance
        alone = [most_alone(self.cluster, q) for q in sequence.rows]

        def possible(x: int) -> bool:
            started = sequence.started(x)
            if any(y > most for y, most in zip(started, alone, strict=True)):
                return False
            pool = instance.exact_capacity if instance.machines is None else ()
            return all(self.use(p, x, j) <= c for j, c in enumerate(pool))

        low, high = 0, int(min(sum(sequence.counts), instance.whole_limits[i]))
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if possible(middle) else (low, middle - 1)
        return low

    # ---- what they are worth --------------------------------------------------------------------------------------

    @cached_property
    def promises(self) -> list[int]:
        """Whole tasks that each member's guarantee is worth."""
        if not self.ruled:
            return [0] * len(self.members)
        promised = self._clock.promised
        return [math.floor(promised[i]) for i in self.members]

    @cached_property
    def lines(self) -> list[tuple[tuple[Fraction, Fraction], ...]]:
        """Slopes and offsets of each member's level."""
        if not self.ruled:
            rates, none = self.policy.exact_rates(self.instance), Fraction(0)
            for i in self.members:
                if not rates[i]:
                    raise PolicyError(
                        f"{self.policy.name} compares shares of what the cluster has none of, and user "
                        f"{self.instance.users[i]!r} runs tasks that need none of it: leave it out, or use drf"
                    )
            return [((rates[i], none),) for i in self.members]
        leaves = self._clock.leaves
        found = []
        for p, i in enumerate(self.members):
            rows = {(Fraction(a), -Fraction(o)) for a, o in zip(leaves.rows[i], leaves.offsets[i], strict=True) if a}
            kept = [(a, o) for a, o in rows if not any((b, c) != (a, o) and b >= a and c >= o for b, c in rows)]
            # To the clock it plays only where all of its types fit, and here where one of them does.
            if not kept and self.most[p] and self._within_ceilings(p):
                raise PolicyError(without_level(self.instance.users[i]))
            # Who may run no task has no level; any slope says that it is 0 without one.
            found.append(tuple(sorted(kept)) or ((Fraction(1), Fraction(0)),))
        return found

    def _within_ceilings(self, p: int) -> bool:
        """Say whether ceilings of groups allow a member a task."""
        return all(self.use(p, 1, j) <= amount for inside, j, amount in self.ceilings if p in inside)

    def level(self, p: int, x: int) -> Fraction:
        """Return the level of x tasks of a member."""
        return max(slope * x + offset for slope, offset in self.lines[p])

    @cached_property
    def ranks(self) -> list[int]:
        """The place of each member's tier, from 0."""
        rules = self.instance.organisation
        if not self.ruled or rules is None:
            return [0] * len(self.members)
        own = [(-rules.tiers[i], rules.last[i]) for i in self.members]
        order = {rank: place for place, rank in enumerate(sorted(set(own)))}
        return [order[rank] for rank in own]

    @property
    def _places(self) -> int:
        """The number of tiers."""
        return max(self.ranks, default=-1) + 1

    @cached_property
    def unit(self) -> int:
        """What makes all levels integers."""
        return math.lcm(*{x.denominator for rows in self.lines for row in rows for x in row})

    @cached_property
    def _bands(self) -> list[tuple[int, int]]:
        """Where the values of each tier begin, and what is added to its levels; parts of promises come first."""
        if not self.ruled:
            return [(0, 0)]
        promised = [f for f in self.promises if f]
        begin = math.lcm(*promised) * self._places if promised else 0
        found = []
        for rank in range(self._places):
            inside = {(self.lines[p], self.promises[p], self.most[p]): p for p, r in enumerate(self.ranks) if r == rank}
            ends = [(self.level(p, low), self.level(p, max(most, low))) for (_, low, most), p in inside.items()]
            low = min(min(low for low, _ in ends), Fraction(0))
            shift = begin - int(low * self.unit)
            found.append((begin, shift))
            begin = shift + int(max(high for _, high in ends) * self.unit) + 1
        return found

    @cached_property
    def scales(self) -> list[LevelScale]:
        """What each member's tasks are worth, in integers."""
        whole = math.lcm(*(f for f in self.promises if f)) * self._places if any(self.promises) else 0
        unit, found = self.unit, []
        for rows, most, promise, rank in zip(self.lines, self.most, self.promises, self.ranks, strict=True):
            shift = self._bands[rank][1]
            integers = [[x.numerator * (unit // x.denominator) for x in row] for row in rows]
            values = tuple([(slope, offset + shift) for slope, offset in integers])
            found.append(LevelScale(most, values, *((promise, whole // promise, rank) if promise else ())))
        return found

    @cached_property
    def kinds(self) -> list[tuple[TypeSequence, LevelScale, list[int]]]:
        """Members alike in goods and in what tasks of them are worth: these two, and their positions."""
        found: dict[tuple, list[int]] = {}
        for p, (goods, scale) in enumerate(zip(self.goods_of, self.scales, strict=True)):
            # Of one type nothing but the limit says how many there are.
            counts = self.sequences[p].counts if len(goods) > 1 else (1,)
            found.setdefault((goods, counts, scale), []).append(p)
        return [(TypeSequence(goods, counts), scale, alike) for (goods, counts, scale), alike in found.items()]

    @cached_property
    def table(self) -> ScaleTable:
        """The scales of all kinds side by side."""
        return ScaleTable([scale for _, scale, _ in self.kinds])

    # ---- what they are worth to a sum or a product ------------------------------------------------------------------

    @cached_property
    def incomes(self) -> list[Fraction]:
        """The weight of each member in a product: its own, or its part of its group's."""
        weights = [Fraction(w) for w in self.instance.exact_weights]
        found = incomes_of(self._clock, weights) if self.ruled else weights
        return [found[i] for i in self.members]

    @property
    def rates(self) -> list[Fraction]:
        """What a task of each member adds to a sum: its share of what is not excluded."""
        return [max(slope for slope, _ in rows) for rows in self.lines]

    @cached_property
    def tiers(self) -> list[list[int]]:
        """Members, as positions, of each tier that a market or sum serves in turn: the first makes its own the most."""
        rules = self.instance.organisation
        turns = None if rules is None or not self.ruled else rules.in_turn
        by_turn: dict[int, list[int]] = {}
        for p, i in enumerate(self.members):
            by_turn.setdefault(0 if turns is None else turns[i], []).append(p)
        return [by_turn[turn] for turn in sorted(by_turn)] or [[]]

    @property
    def serving(self) -> bool:
        """Whether users with a task come before all else: a product is 0 without one, and alpha > 1 no number."""
        return self.policy.objective == "alpha" and self.policy.alpha >= 1

    @cached_property
    def market_rates(self) -> list[Fraction]:
        """The level of a task of each member in a market: its share over its income."""
        own = (self.instance.exact_weights[i] for i in self.members) if self.ruled else self.incomes
        return [rate * w / m for rate, w, m in zip(self.rates, own, self.incomes, strict=True)]

    @cached_property
    def utility_spread(self) -> float:
        """How many times less somebody's last task is worth than `utility_unit`: solvers tell billions not apart."""
        if math.isinf(self.utility_unit):
            return math.inf
        last = (self.utility(p, most) - self.utility(p, most - 1) for p, most in enumerate(self.most) if most > 1)
        least = min(last, default=self.utility_unit)
        return self.utility_unit / least if least > 0 else math.inf

    @cached_property
    def utility_unit(self) -> float:
        """The largest utility of anybody's first task or most: a solver's tolerance is absolute.  1 for logarithms."""
        if self.policy.alpha == 1:
            return 1.0
        ends = (self.utility(p, x) for p, most in enumerate(self.most) for x in (1, most) if x)
        return max(map(abs, ends), default=1.0)

    def utility(self, p: int, x: int) -> float:
        """Return what x tasks, 1 or more, are worth to a member in a market: income times log x, or U of the level.

        Beyond the range of floats it is inf, with its sign.
        """
        power = 1 - self.policy.alpha
        if not power:
            return float(self.incomes[p]) * math.log(x)
        try:
            return float(self.incomes[p]) * float(self.market_rates[p] * x) ** power / power
        except OverflowError:
            return math.copysign(math.inf, power)

    @cached_property
    def parts(self) -> Callable[[Sequence[int]], tuple[tuple[Fraction, int], ...]]:
        """What tasks of the members keep of promises: pairs of a part and the turn of the tier, sorted."""
        promised = [(p, f, self.ranks[p]) for p, f in enumerate(self.promises) if f]
        return lambda tasks: tuple(sorted((min(Fraction(tasks[p], f), Fraction(1)), rank) for p, f, rank in promised))

    @property
    def first_level(self) -> int:
        """The least value that is no part of a guarantee."""
        return self._bands[0][0] if self._bands else 0

    def broken(self, tasks: Sequence[int]) -> tuple[Broken, ...]:
        """Return the guarantees that whole tasks (n,) do not keep, in what the whole tasks that they are worth need."""
        found = self._missed(tasks, self._use)
        return tuple(replace(row, held=float(row.held), promised=float(row.promised)) for row in found)

    def kept(self, tasks: Sequence[int]) -> bool:
        """Say whether whole tasks (n,) are, of every guarantee, those that it is worth, by users' average tasks."""
        return not self._missed(tasks, None)

    def _missed(self, tasks: Sequence[int], use: Callable[[int, Fraction, int], Fraction] | None) -> tuple[Broken, ...]:
        if not self.ruled:
            return ()
        return broken(self._clock, np.array([Fraction(x) for x in tasks], dtype=object), whole=True, use=use)

    def _use(self, i: int, x: Fraction, j: int) -> Fraction:
        """Return how much of a resource x whole tasks of a user need; of who runs nothing, by its average task."""
        p = bisect_left(self.members, i)
        if p < len(self.members) and self.members[p] == i:
            return self.use(p, int(x), j)
        return x * self.instance.exact_demands[i][j]

    def band(self, value: int) -> int:
        """Return which tier a value is of, from 0; -1 for a part of a guarantee."""
        return bisect_right([begin for begin, _ in self._bands], value) - 1

    def told(self, value: int) -> Fraction:
        """Return the level, or the part of a guarantee, that a value stands for."""
        band = self.band(value)
        if band < 0:
            return Fraction(value - value % self._places, self.first_level)
        return Fraction(value - self._bands[band][1], self.unit)

    def score(self, tasks: Sequence[int]) -> tuple[Fraction, ...]:
        """Return the sorted values of tasks (n,): without rules the levels."""
        values = self.values(tasks)
        known = {value: Fraction(value, self.unit) for value in set(values)}
        return tuple(known[value] for value in sorted(values))

    def values(self, tasks: Sequence[int]) -> list[int]:
        """Return what tasks (n,) are worth to each member."""
        return [scale.value(tasks[i]) for i, scale in zip(self.members, self.scales, strict=True)]
