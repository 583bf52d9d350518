"""What has to be refuted for whole tasks to be leximin: one claim for every level that somebody has.

The sorted levels are lexicographically largest when, for every level L that somebody has, no allocation has at most as
many users at each lower level, fewer at L, and everybody else above L.  Such an allocation chooses for every user one
of few *options*: to stop at a level where she can be exactly, or to be above L; each is a known number of tasks.

Claims come in the order of their levels and each may use those before it: where a level has as many users as could be
exactly at it, all of them are.
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

__all__ = ["Choice", "LevelClaim", "claims"]

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
