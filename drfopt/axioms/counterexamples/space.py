"""A space of small instances in whole numbers, written down once each up to symmetry, or sampled.

All demands are 0 or 1 up to the largest, capacities 1 up to the largest.  Users have no names here, so a set of them
is listed once.  Nor does it matter to a policy how resources are ordered, in which units they are counted, or, where
it looks at shares only, how large a user's task is; of the cases that differ in this only, one is audited.

A counterexample made small: fewest users, fewest resources, then the smallest whole numbers that still do.

Every move makes the case smaller and is taken when the property still fails, decided exactly and without a tie.  When
no single move helps, all smaller cases of that many users and resources are looked at, where they are few enough; then
the result is the smallest there is.
"""

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, permutations, product
from numbers import Integral
from typing import Any

from ...base.errors import DrfoptError, InstanceError, PolicyError, checked_flags
from ...model.instance import Instance
from ...model.policies import policy_named
from ..case import AuditCase
from ..economy import Economy, IdenticalMachines
from ..outcomes import Outcome, batched, pays
from ..properties.property_table import findings, properties_named
from ..verdicts import FAILS, Finding

__all__ = ["FEW", "Case", "Question", "Space", "SpaceUser", "in_one_line", "smaller", "smallest"]


CASES_OF_A_SAMPLE = 50
"""Cases drawn for one unit of a sample."""

CASES_OF_A_UNIT = 1000
"""Cases in a piece of work at most: seconds, after which a search can report, be stopped, and go on."""


@dataclass(frozen=True, order=True)
class SpaceUser:
    """What one user needs and counts, in whole numbers; a limit of 0 is none."""

    demand: tuple[int, ...]
    weight: int = 1
    limit: int = 0


@dataclass(frozen=True, order=True)
class Case:
    """One instance in whole numbers: rows of capacity (a pool has one), and users in order."""

    rooms: tuple[tuple[int, ...], ...]
    users: tuple[SpaceUser, ...]
    pool: bool = True

    @property
    def size(self) -> tuple:
        """What makes a counterexample small: users, resources, sum of the numbers, the largest of them."""
        numbers = [*(c for row in self.rooms for c in row), *(d for user in self.users for d in user.demand)]
        extras = sum(user.weight - 1 + user.limit for user in self.users)
        return (len(self.users), len(self.rooms[0]), sum(numbers) + extras, max(numbers), self.rooms, self.users)

    def cluster(self) -> Economy:
        """Return the case in fractions."""
        n, m = len(self.users), len(self.rooms[0])
        rooms = [tuple(map(Fraction, row)) for row in self.rooms]
        return Economy(
            demands=tuple(tuple(map(Fraction, user.demand)) for user in self.users),
            pool=rooms[0] if self.pool else tuple(sum((row[j] for row in rooms), Fraction(0)) for j in range(m)),
            weights=tuple(Fraction(user.weight) for user in self.users),
            limits=tuple(Fraction(user.limit) if user.limit else None for user in self.users),
            users=tuple(f"u{i}" for i in range(1, n + 1)),
            resources=tuple(f"r{j}" for j in range(1, m + 1)),
            machines=None
            if self.pool
            else tuple(IdenticalMachines(f"m{k}", row, 1, (True,) * n) for k, row in enumerate(rooms, start=1)),
        )

    def to_list(self) -> list:
        """Return the case as JSON keeps it."""
        return [self.rooms, [[user.demand, user.weight, user.limit] for user in self.users], self.pool]

    @classmethod
    def of_list(cls, written: list) -> "Case":
        """Return the case that `to_list` wrote."""
        rooms, users, pool = written
        listed = tuple(SpaceUser(tuple(demand), weight, limit) for demand, weight, limit in users)
        return cls(tuple(map(tuple, rooms)), listed, pool)


MOST_NUMBER = 10**18
"""Largest number of a search; larger ones have more cases than anybody looks at."""


@dataclass(frozen=True)
class Space:
    """All instances of one size, or a sample of them.

    Attributes
    ----------
    users, resources : int
    max_demand, max_capacity : int
    zero_demands : bool
        Whether a user may need nothing of some resource.
    max_weight, max_limit : int
        1 and 0 for none; otherwise every weight and every limit (or none) up to there.
    machines : int
        0 for a pool, otherwise so many machines.
    sample, seed : int
        So many cases drawn at random instead of all; 0 for all.
    sizes_matter : bool
        Whether the size of a task, not only its proportions, may make a difference (numbers of tasks, whole tasks).
    names_matter : bool
        Whether resources have different parts to play.
    """

    users: int = 2
    resources: int = 2
    max_demand: int = 4
    max_capacity: int = 4
    zero_demands: bool = False
    max_weight: int = 1
    max_limit: int = 0
    machines: int = 0
    sample: int = 0
    seed: int = 0
    sizes_matter: bool = False
    names_matter: bool = False

    def __post_init__(self) -> None:
        least = {"users": 1, "resources": 1, "max_demand": 1, "max_capacity": 1, "max_weight": 1}
        for name in (*least, "max_limit", "machines", "sample", "seed"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < least.get(name, 0):
                raise InstanceError(f"{name} of the search is {value!r}: give a number, {least.get(name, 0)} or more")
            if int(value) > MOST_NUMBER:
                raise InstanceError(f"{name} of the search has {len(str(value))} digits: give {MOST_NUMBER} or less")
            object.__setattr__(self, name, int(value))
        for name in ("zero_demands", "sizes_matter", "names_matter"):
            checked_flags(**{f"{name} of the search": getattr(self, name)})
            object.__setattr__(self, name, bool(getattr(self, name)))

    @property
    def total(self) -> int:
        """How many cases there are before symmetry: rooms times sets of users, the order of which is no matter."""
        return self.sample or self._count_of_rooms * _multisets(self._count_of_kinds, self.users)

    @property
    def units(self) -> int:
        """Pieces of work: one for each room and its first few users, or so many cases of a sample."""
        if self.sample:
            return -(-self.sample // CASES_OF_A_SAMPLE)
        return self._count_of_rooms * _multisets(self._count_of_kinds, self._fixed)

    @property
    def _fixed(self) -> int:
        """How many users a piece of work fixes: the fewest that leave few cases."""
        kinds, n = self._count_of_kinds, self.users
        return next(q for q in range(1, n + 1) if _multisets(kinds, n - q) <= CASES_OF_A_UNIT)

    @property
    def _count_of_kinds(self) -> int:
        """How many `_kinds` there are, without listing them."""
        demands = (self.max_demand + self.zero_demands) ** self.resources - self.zero_demands
        return demands * self.max_weight * (self.max_limit + 1)

    @property
    def _count_of_rooms(self) -> int:
        """How many `_rooms` there are, without listing them."""
        machines = self.machines or 1
        return math.comb(self.max_capacity**self.resources + machines - 1, machines)

    @cached_property
    def _kinds(self) -> list[SpaceUser]:
        amounts = range(0 if self.zero_demands else 1, self.max_demand + 1)
        demands = [row for row in product(amounts, repeat=self.resources) if any(row)]
        weights, limits = range(1, self.max_weight + 1), range(self.max_limit + 1)
        return [SpaceUser(row, weight, limit) for row in demands for weight in weights for limit in limits]

    @cached_property
    def _rooms(self) -> list[tuple[tuple[int, ...], ...]]:
        rows = list(product(range(1, self.max_capacity + 1), repeat=self.resources))
        return list(combinations_with_replacement(rows, self.machines)) if self.machines else [(row,) for row in rows]

    def largest(self) -> Case:
        """Return the case of the largest numbers, which has weights and limits if any has."""
        rooms = ((self.max_capacity,) * self.resources,) * (self.machines or 1)
        user = SpaceUser((self.max_demand,) * self.resources, self.max_weight, self.max_limit)
        return Case(rooms, (user,) * self.users, not self.machines)

    def cases(self, unit: int) -> Iterator[Case]:
        """Yield every case of one unit of work."""
        if self.sample:
            yield from self._drawn(unit)
            return
        room, number = divmod(unit, _multisets(len(self._kinds), self._fixed))
        chosen = _multiset(number, len(self._kinds), self._fixed)
        first = tuple(self._kinds[kind] for kind in chosen)
        for rest in combinations_with_replacement(self._kinds[chosen[-1] :], self.users - len(first)):
            yield Case(self._rooms[room], (*first, *rest), not self.machines)

    def _drawn(self, unit: int) -> Iterator[Case]:
        dice = random.Random(f"{self.seed}:{unit}")
        for _ in range(min(CASES_OF_A_SAMPLE, self.sample - unit * CASES_OF_A_SAMPLE)):
            rooms = sorted(self._row(dice, 1, self.max_capacity) for _ in range(self.machines or 1))
            users = sorted(self._user(dice) for _ in range(self.users))
            yield Case(tuple(rooms), tuple(users), not self.machines)

    def _user(self, dice: random.Random) -> SpaceUser:
        demand: tuple[int, ...] = ()
        while not any(demand):
            demand = self._row(dice, 0 if self.zero_demands else 1, self.max_demand)
        return SpaceUser(demand, dice.randint(1, self.max_weight), dice.randint(0, self.max_limit))

    def _row(self, dice: random.Random, least: int, most: int) -> tuple[int, ...]:
        return tuple(dice.randint(least, most) for _ in range(self.resources))

    def stands_for_itself(self, case: Case) -> bool:
        """Say whether the case is the one that is audited of all that differ from it by symmetry only.

        What was drawn stands for itself: the others were not.
        """
        if self.machines or self.sample:
            return True
        rows, capacity = [user.demand for user in case.users], case.rooms[0]
        if not self.sizes_matter and not self.max_limit and any(math.gcd(*row) > 1 for row in rows):
            return False
        if any(math.gcd(c, *column) > 1 for c, column in zip(capacity, zip(*rows, strict=True), strict=True)):
            return False
        if self.max_weight > 1 and math.gcd(*(user.weight for user in case.users)) > 1:
            return False
        if self.names_matter:
            return True
        return all(
            self._permuted(case, order) >= (capacity, case.users) for order in permutations(range(len(capacity)))
        )

    @staticmethod
    def _permuted(case: Case, order: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[SpaceUser, ...]]:
        capacity = tuple(case.rooms[0][j] for j in order)
        users = (SpaceUser(tuple(user.demand[j] for j in order), user.weight, user.limit) for user in case.users)
        return capacity, tuple(sorted(users))


def _multisets(kinds: int, size: int) -> int:
    """Return how many sets of that size there are of so many kinds, with repetition."""
    return math.comb(kinds + size - 1, size)


def _multiset(number: int, kinds: int, size: int) -> list[int]:
    """Return the set of that number, from 0, in the order of `combinations_with_replacement`."""
    chosen, kind = list[int](), 0
    for left in range(size - 1, -1, -1):
        while number >= (many := _multisets(kinds - kind, left)):
            number, kind = number - many, kind + 1
        chosen.append(kind)
    return chosen


FEW = 2000
"""Cases of the size reached that are looked at for a smaller one that no single move leads to: about a second."""


def smallest(case: Case, fails: Callable[[Case], bool], few: int = FEW) -> Case:
    """Return a case reached from this one by moves that keep the property failing, or the smallest of `few`."""
    while (found := next((c for c in sorted(smaller(case), key=lambda c: c.size) if fails(c)), None)) is not None:
        case = found
    space = Space(
        users=len(case.users),
        resources=len(case.rooms[0]),
        max_demand=max(d for user in case.users for d in user.demand),
        max_capacity=max(c for row in case.rooms for c in row),
        zero_demands=not all(all(user.demand) for user in case.users),
        max_weight=max(user.weight for user in case.users),
        max_limit=max(user.limit for user in case.users),
        machines=0 if case.pool else len(case.rooms),
    )
    if space.total > few:
        return case
    every = sorted((c for unit in range(space.units) for c in space.cases(unit)), key=lambda c: c.size)
    return next((c for c in every if c.size < case.size and fails(c)), case)


def smaller(case: Case) -> Iterator[Case]:
    """Yield the cases one move away that are smaller."""
    n, m = len(case.users), len(case.rooms[0])
    for i in range(n if n > 1 else 0):
        yield replace(case, users=case.users[:i] + case.users[i + 1 :])
    for j in range(m if m > 1 else 0):
        users = tuple(replace(user, demand=_drop(user.demand, j)) for user in case.users)
        if all(any(user.demand) for user in users):
            yield Case(tuple(_drop(row, j) for row in case.rooms), users, case.pool)
    for k in range(len(case.rooms) if len(case.rooms) > 1 else 0):
        yield replace(case, rooms=case.rooms[:k] + case.rooms[k + 1 :])
    for i, user in enumerate(case.users):
        for kind in _simpler(user):
            yield replace(case, users=tuple(sorted([*case.users[:i], kind, *case.users[i + 1 :]])))
    for k, row in enumerate(case.rooms):
        for j, capacity in enumerate(row):
            for less in _less(capacity):
                changed = (*row[:j], less, *row[j + 1 :])
                yield replace(case, rooms=(*case.rooms[:k], changed, *case.rooms[k + 1 :]))


def _simpler(user: SpaceUser) -> Iterator[SpaceUser]:
    if user.weight > 1:
        yield replace(user, weight=1)
    if user.limit:
        yield replace(user, limit=0)
        yield from (replace(user, limit=limit) for limit in _less(user.limit))
    for j, d in enumerate(user.demand):
        # A zero stays what the searcher allowed: positive demands stay positive.
        for less in _less(d):
            yield replace(user, demand=(*user.demand[:j], less, *user.demand[j + 1 :]))


EVERY = 64
"""Up to here every smaller number is tried in the place of one."""


def _less(number: int) -> Iterator[int]:
    """Yield smaller numbers: all of them, of a large one those that are a power of two, or less by one.

    What the moves reach is as small as any of them makes it, and a number of 18 digits is no search without end.
    """
    if number <= EVERY:
        yield from range(1, number)
        return
    powers = [1 << k for k in range((number - 1).bit_length())]
    yield from sorted({*powers, *(number - power for power in powers)})


def _drop(row: tuple[int, ...], j: int) -> tuple[int, ...]:
    return row[:j] + row[j + 1 :]


@dataclass(frozen=True)
class Question:
    """What is searched for: in which space, under which policy, which properties."""

    policy: str
    properties: tuple[str, ...]
    space: Space
    integer: bool = False

    def takes(self, case: Case) -> bool:
        """Say whether the policy can take the case: the share of one resource needs all users to need it."""
        policy = policy_named(self.policy)
        if policy.path is not None and policy.path.m != self.space.resources:
            raise PolicyError(
                f"{policy.name} is a path of {policy.path.m} resources: search instances with {policy.path.m} of them"
            )
        if policy.measure != "single":
            return True
        names = [f"r{j}" for j in range(1, self.space.resources + 1)]
        if policy.argument not in names:
            raise PolicyError(f"{policy.name}: the resources of a search are {', '.join(names)}")
        return all(user.demand[names.index(policy.argument)] for user in case.users)

    def findings(self, case: Case, batched: Mapping[Economy, Outcome] | None = None) -> tuple[Finding, ...]:
        """Return the findings on one case; `batched` are outcomes in floats that may decide a comparison."""
        chosen = properties_named(self.properties)
        return findings(case.cluster(), policy_named(self.policy), chosen, self.integer, batched=batched)

    def batched(self, cases: Sequence[Case]) -> Mapping[Economy, Outcome]:
        """Return what the properties will ask of these cases, from one batch, where exact outcomes take long."""
        policy = policy_named(self.policy)
        asking = [row.asks for row in properties_named(self.properties) if row.asks is not None]
        if self.integer or not asking or not any(pays(case.cluster(), policy) for case in cases):
            return {}
        audit_cases = [AuditCase(case.cluster(), policy) for case in cases]
        return batched(
            (cluster for audit_case in audit_cases for asks in asking for cluster in asks(audit_case)), policy
        )

    def fails(self, name: str, case: Case) -> bool:
        """Say whether one property certainly fails on a case, whatever tie is broken how."""
        cluster, policy = case.cluster(), policy_named(self.policy)
        try:
            policy.check(cluster.instance())
            (finding,) = findings(cluster, policy, properties_named(name), self.integer)
        except DrfoptError:
            return False
        return finding.verdict == FAILS and not finding.tied


def in_one_line(instance: Instance) -> str:
    """Return an instance in one line: capacities, then demands."""

    def row(values: Sequence[Any]) -> str:
        return f"({', '.join(map(str, values))})"

    rooms = instance.exact_machine_capacity or (instance.exact_capacity,)
    text = f"{' + '.join(map(row, rooms))} for {', '.join(map(row, instance.exact_demands))}"
    if any(weight != 1 for weight in instance.exact_weights):
        text += f", weights {row(instance.exact_weights)}"
    if any(limit is not None for limit in instance.exact_limits):
        text += f", limits {row(['-' if limit is None else limit for limit in instance.exact_limits])}"
    return text
