"""What has to be refuted for whole tasks to be leximin: one claim for every level that somebody has.

The sorted levels are lexicographically largest when, for every level L that somebody has, no allocation has at most as
many users at each lower level, fewer at L, and everybody else above L.  Such an allocation chooses for every user one
of few *options*: to stop at a level where she can be exactly, or to be above L; each is a known number of tasks.

Claims come in the order of their levels and each may use those before it: where a level has as many users as could be
exactly at it, all of them are; where it has as many as cannot be anywhere else, at their most tasks, nobody else is.

How high can a level in the sorted vector be at most? An exact bound that needs no solver.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from ..model.users import TypeSequence
from ..model.whole_values import LevelScale, WholeUsers

__all__ = ["ABOVE", "Choice", "ClaimList", "HighestValues", "LevelClaim", "ListedChoices", "claims"]


ABOVE = -1
"""In place of a row: the option to be above the level."""


Load = tuple[tuple[int, int], ...]
"""Pairs (good, number of tasks): see `WholeUsers.goods`."""


class Choice(NamedTuple):
    """So many users alike, and their options: pairs (tasks of each, row of the level stopped at, or `ABOVE`).

    `scale` is what tasks are worth, and `sequence` of which goods they are.
    """

    sequence: TypeSequence
    number: int
    scale: LevelScale
    options: tuple[tuple[int, int], ...]

    def load(self, tasks: int) -> Load:
        """Return of which goods so many tasks are."""
        return tuple(zip(self.sequence.rows, self.sequence.started(tasks), strict=True))

    def prices(self, costs: Sequence[int], counts: Sequence[int]) -> list[int]:
        """Return the price of each option: its tasks, at the cost of each good, and the multiplier of its row."""
        if len(self.sequence.rows) == 1:
            cost = costs[self.sequence.rows[0]]
            return [cost * tasks + counts[row] for tasks, row in self.options]
        return [sum(costs[good] * x for good, x in self.load(tasks)) + counts[row] for tasks, row in self.options]


@dataclass(frozen=True)
class LevelClaim:
    """That nobody can do better at a level.

    Attributes
    ----------
    level : int
        As a value of whole tasks.
    value : Fraction
        The same as the policy counts it.
    count : int
        How many users stop at it.
    allowed : tuple of int
        Users that may stop at the level of each row; for this level it is one less than `count`.
    fixed : tuple of int
        Tasks of each good of users who surely stopped.
    choices : sequence of Choice
    surely : int
        Users who can be nowhere but at the level: where they are more than may stop there, that refutes the claim.
    """

    level: int
    value: Fraction
    count: int
    allowed: tuple[int, ...]
    fixed: tuple[int, ...]
    choices: Sequence[Choice]
    surely: int = 0

    def raised(self, level: int, spare: int = 0) -> "LevelClaim":
        """Return the claim that not all but `spare` who need not stop below this level can reach a higher one."""
        own = len(self.allowed) - 1
        choices = []
        for choice in self.choices:
            here, least = choice.scale.least(self.level), choice.scale.least(level)
            stops = tuple(option for option in choice.options if option[1] not in (own, ABOVE))
            rest = ((here, own),) if spare and here <= choice.scale.most else ()
            above = ((least, ABOVE),) if least <= choice.scale.most else ()
            choices.append(choice._replace(options=(*stops, *rest, *above)))
        allowed = (*self.allowed[:-1], spare)
        return replace(self, level=level, allowed=allowed, choices=tuple(choices), surely=0)


@dataclass
class ListedChoices(Sequence[Choice]):
    """The choices of a claim, made when they are first asked for: where nothing is open they never are."""

    claims: "ClaimList"
    level: int
    own: int  # The row of the level, or `ABOVE` where nobody may stop at it.
    rest: np.ndarray
    stops: tuple[np.ndarray, ...]  # Options to stop below it: kind, tasks and row of each.

    @cached_property
    def made(self) -> tuple[Choice, ...]:
        """The choices."""
        table, found = self.claims.table, []
        known: list[list[tuple[int, int]]] = [[] for _ in self.claims.kinds]
        for kind, x, row in zip(*(part.tolist() for part in self.stops), strict=True):
            known[kind].append((x, row))
        least, above = table.least(self.level).tolist(), table.least(self.level + 1).tolist()
        for (sequence, scale), number, stops, x, more in zip(
            self.claims.kinds, self.rest.tolist(), known, least, above, strict=True
        ):
            if number:
                here = ((x, self.own),) if self.own != ABOVE and x < more and x <= scale.most else ()
                beyond = ((more, ABOVE),) if more <= scale.most else ()
                found.append(Choice(sequence, number, scale, (*stops, *here, *beyond)))
        return tuple(found)

    @property
    def columns(self) -> tuple[np.ndarray, ...] | None:
        """Users, good and number of options of each choice, tasks and row of each option; None where tasks differ."""
        table, goods = self.claims.table, self.claims.goods
        if goods is None:
            return None
        playing = self.rest > 0
        least, more, most = table.least(self.level), table.least(self.level + 1), table.most
        here, beyond = (np.flatnonzero(playing & good) for good in ((least < more) & (least <= most), more <= most))
        here = here if self.own != ABOVE else here[:0]
        of, tasks, row = self.stops
        kept = playing[of]
        kind = np.concatenate([of[kept], here, beyond])
        tasks = np.concatenate([tasks[kept], least[here], more[beyond]])
        row = np.concatenate([row[kept], np.repeat([self.own, ABOVE], [len(here), len(beyond)])])
        order = np.argsort(kind, kind="stable")
        sizes = np.bincount(kind, minlength=len(playing))[playing]
        return self.rest[playing], goods[playing], sizes, tasks[order], row[order]

    def __len__(self) -> int:
        return len(self.made)

    def __getitem__(self, place: Any) -> Any:
        return self.made[place]

    def __iter__(self) -> Iterator[Choice]:
        return iter(self.made)


class ClaimList:
    """Claims from the lowest level up, each after those before it.

    Attributes
    ----------
    goods : array or None
        Of what each kind's tasks are; None where somebody has several types.
    rest : array
        Users of each kind (alike in tasks and in what these are worth) who have not surely stopped; who has none left
        makes no choice of a claim.
    rows : list of int
        Levels at which it is open who stops: the rows of a claim, before its own.
    """

    def __init__(self, users: WholeUsers):
        self.users, self.table = users, users.table
        self.kinds = [(sequence, scale) for sequence, scale, _ in users.kinds]
        several = any(len(sequence.rows) > 1 for sequence, _ in self.kinds)
        self.goods = None if several else np.array([sequence.rows[0] for sequence, _ in self.kinds], dtype=np.int64)
        self.rest = np.array([len(alike) for _, _, alike in users.kinds], dtype=np.int64)
        self.rows: list[int] = []
        self._opened: list[int] = []  # How many stop at them.
        self._fixed = [0] * len(users.goods)
        none = np.zeros(0, dtype=np.int64)
        # Options to stop there: kind, tasks and row of each.
        self._stops: tuple[np.ndarray, ...] = (none, none.astype(self.table.kind), none)
        self._may_have = np.zeros(len(self.kinds), dtype=bool)  # Whether there are any.

    def claim(self, level: int, count: int) -> LevelClaim:
        """Return the claim that no fewer than so many can stop at a level."""
        own = len(self.rows) if count > 1 else ABOVE
        choices = ListedChoices(self, level, own, self.rest.copy(), self._stops)
        allowed, surely = (*self._opened, count - 1), int(self.must(level).sum())
        return LevelClaim(level, self.users.told(level), count, allowed, tuple(self._fixed), choices, surely)

    def record(self, level: int, count: int) -> np.ndarray | None:
        """Note how many stop at a level; return how many of each kind where that is sure, or else None."""
        may = np.where(self.table.at(level), self.rest, 0)
        surely = may if may.sum() == count else self.must(level)
        tasks = self.table.least(level)
        if surely.sum() != count:
            kinds = np.flatnonzero(may)
            fresh = kinds, tasks[kinds], np.full(len(kinds), len(self.rows))
            self._stops = tuple(map(np.append, self._stops, fresh))
            self._may_have |= may > 0
            self.rows.append(level)
            self._opened.append(count)
            return None
        for kind in np.flatnonzero(surely).tolist():
            number, sequence = int(surely[kind]), self.kinds[kind][0]
            for good, x in zip(sequence.rows, sequence.started(int(tasks[kind])), strict=True):
                self._fixed[good] += number * x
        self.rest = self.rest - surely
        return surely

    def must(self, level: int) -> np.ndarray:
        """Return how many of each kind can be nowhere but at a level, with their most tasks."""
        return np.where((self.table.top == level) & ~self._may_have, self.rest, 0)


def claims(users: WholeUsers, tasks: list[int]) -> Iterator[LevelClaim]:
    """Yield the claims that together say that tasks (n,) are leximin, from the lowest level up."""
    found = ClaimList(users)
    for level, count in sorted(Counter(users.values(tasks)).items()):
        yield found.claim(level, count)
        found.record(level, count)


class HighestValues:
    """Values that the next lowest user cannot exceed, when so many users are below her.

    All but those must reach it, so of every resource of the whole cluster the smallest needs of so many users must
    fit together, whoever they are; machines can only make it harder.  How many can reach a level is worked out once.
    """

    def __init__(self, users: WholeUsers):
        self.users = users
        rows, self.room = users.pool_rows
        self.columns = list(zip(*rows, strict=True))[: users.instance.m]  # Behind them are ceilings of groups.
        self.top = max((scale.top for scale in users.scales), default=0)
        self._known: dict[int, int] = {}

    def after(self, below: int) -> int:
        """Return the bound when so many users are below: a value that some user can have."""
        scales = self.users.scales
        low, high, number = 0, self.top, len(scales) - below
        if number <= 0 or self._able(high) >= number:
            return high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._able(middle) >= number else (low, middle)
        # Nothing changes between two values that users can have.
        return max(scale.value(min(scale.least(low + 1) - 1, scale.most)) for scale in scales if scale.least(low + 1))

    def _able(self, level: int) -> int:
        """Return how many users can be at a level at once, as far as each resource tells by itself."""
        if level not in self._known:
            self._known[level] = self._fitting([scale.least(level) for scale in self.users.scales])
        return self._known[level]

    def _fitting(self, needs: Sequence[int]) -> int:
        users = self.users
        able = [p for p, scale in enumerate(users.scales) if needs[p] <= scale.most]
        loads = [tuple(zip(users.goods_of[p], users.sequences[p].started(needs[p]), strict=True)) for p in able]
        most = len(able)
        for column, total in zip(self.columns, self.room, strict=False):
            amounts = sorted(sum(column[good] * x for good, x in load) for load in loads)
            most = min(most, bisect_right(list(accumulate(amounts)), total))
        return most
