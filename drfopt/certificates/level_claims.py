"""What has to be refuted for whole tasks to be leximin: one claim for every level that somebody has.

The sorted levels are lexicographically largest when, for every level L that somebody has, no allocation has at most as
many users at each lower level, fewer at L, and everybody else above L.  Such an allocation chooses for every user one
of few *options*: to stop at a level where she can be exactly, or to be above L; each is a known number of tasks.

Claims come in the order of their levels and each may use those before it: where a level has as many users as could be
exactly at it, all of them are.

How high can a level in the sorted vector be at most? An exact bound that needs no solver.
"""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from ..model.instance import Instance
from ..model.packings import most_alone, shapes
from ..model.policies import Policy
from .exhaustive_search import playing

__all__ = ["Choice", "LevelClaim", "claims", "highest"]


ABOVE = -1
"""In place of a row: the option to be above the level."""


@dataclass(frozen=True)
class Choice:
    """So many users alike, and their options: pairs (tasks of each, row of the level stopped at, or `ABOVE`).

    `rate` is the level of one task, in the claim's unit, and `most` the most tasks.
    """

    shape: int
    number: int
    rate: int
    most: int
    options: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class LevelClaim:
    """That nobody can do better at a level.

    Attributes
    ----------
    level, unit : int
        The policy's level, times the unit.
    count : int
        How many users stop at it.
    allowed : tuple of int
        Users that may stop at the level of each row; for this level it is one less than `count`.
    fixed : tuple of int
        Tasks of each shape of users who surely stopped.
    choices : tuple of Choice
    """

    level: int
    unit: int
    count: int
    allowed: tuple[int, ...]
    fixed: tuple[int, ...]
    choices: tuple[Choice, ...]

    @property
    def value(self) -> Fraction:
        """The level as the policy counts it."""
        return Fraction(self.level, self.unit)

    def raised(self, level: int) -> "LevelClaim":
        """Return the claim that not all who need not stop below this level can reach another, higher one."""
        own = len(self.allowed) - 1
        choices = []
        for choice in self.choices:
            least = -(-level // choice.rate)
            stops = tuple(option for option in choice.options if option[1] not in (own, ABOVE))
            above = ((least, ABOVE),) if least <= choice.most else ()
            choices.append(replace(choice, options=stops + above))
        return replace(self, level=level, choices=tuple(choices))


def claims(instance: Instance, policy: Policy, tasks: list[int]) -> Iterator[LevelClaim]:
    """Yield the claims that together say that tasks (n,) are leximin, from the lowest level up."""
    members = playing(instance)
    exact = policy.exact_rates(instance)
    unit = math.lcm(*(exact[i].denominator for i in members)) if members else 1
    alike = shapes(instance, members)
    kinds = Counter(
        (shape, int(exact[members[p]] * unit), most_alone(instance, members[p]))
        for shape, positions in enumerate(alike)
        for p in positions
    )
    rest = list(kinds.values())
    stopped = Counter(int(exact[i] * unit) * tasks[i] for i in members)
    fixed = [0] * len(alike)
    open_rows: list[tuple[int, int]] = []
    for level in sorted(stopped):
        count = stopped[level]
        may = [
            number if level % rate == 0 and level // rate <= most else 0
            for (_, rate, most), number in zip(kinds, rest, strict=True)
        ]
        rows = [*open_rows, (level, count - 1)]
        choices = tuple(
            Choice(shape, number, rate, most, _options(rate, most, level, rows))
            for (shape, rate, most), number in zip(kinds, rest, strict=True)
            if number
        )
        yield LevelClaim(level, unit, count, tuple(n for _, n in rows), tuple(fixed), choices)
        if sum(may) == count:
            for index, ((shape, rate, _), number) in enumerate(zip(kinds, may, strict=True)):
                fixed[shape] += number * (level // rate)
                rest[index] -= number
        else:
            open_rows.append((level, count))


def _options(rate: int, most: int, level: int, rows: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    stops = [
        (at // rate, row) for row, (at, allowed) in enumerate(rows) if allowed and at % rate == 0 and at // rate <= most
    ]
    above = level // rate + 1
    return tuple(stops + ([(above, ABOVE)] if above <= most else []))


def highest(instance: Instance, policy: Policy, below: int) -> Fraction:
    """Return a level that the next lowest user cannot exceed, when so many users are below her.

    All but those must reach it, so of every resource of the whole cluster the smallest needs of so many users must
    fit together, whoever they are; machines can only make it harder.  The bound is a level that some user can have.
    """
    members = playing(instance)
    rates = policy.exact_rates(instance)
    most = {i: most_alone(instance, i) for i in members}
    number = len(members) - below

    def possible(level: Fraction) -> bool:
        needs = {i: math.ceil(level / rates[i]) for i in members}
        able = [i for i in members if needs[i] <= most[i]]
        if len(able) < number:
            return False
        for j, total in enumerate(instance.exact_capacity):
            amounts = sorted(needs[i] * instance.exact_demands[i][j] for i in able)
            if sum(amounts[:number], Fraction(0)) > total:
                return False
        return True

    # Nothing changes between two levels at which no need changes: the levels that count are those users can have.
    low, high = Fraction(0), max((rates[i] * most[i] for i in members), default=Fraction(0))
    if number <= 0 or possible(high):
        return high
    while True:
        ranges = [(rates[i], math.floor(low / rates[i]) + 1, math.floor(high / rates[i])) for i in members]
        if sum(max(0, last - first + 1) for _, first, last in ranges) <= 4 * len(members):
            break
        middle = (low + high) / 2
        low, high = (middle, high) if possible(middle) else (low, middle)
    candidates = sorted({rate * x for rate, first, last in ranges for x in range(first, last + 1)})
    first, last = 0, len(candidates)
    while first < last:
        middle_ = (first + last + 1) // 2
        first, last = (middle_, last) if possible(candidates[middle_ - 1]) else (first, middle_ - 1)
    return (
        candidates[first - 1] if first else max(rate * math.floor(low / rate) for rate in (rates[i] for i in members))
    )
