"""The options of a claim side by side, and what they cost at the multipliers of a leaf, in integers.

Bounds say how many of each choice's users take each option at least and at most.  What all options cost at least is a
sum of greedy fillings: of each choice the cheapest first, within bounds.

Let that leave `slack` to what there is.  Of a choice, let m be the dearest option of which more than its least are
taken, and v the cheapest of which fewer than its most are.  Each user more who takes an option dearer than m costs the
difference at least, and so does each user less who takes one cheaper than v: so many of either that the slack is
exceeded contradict the claim, and bounds are *tightened* by that (reduced-cost fixing).
"""

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..model.whole_values import SAFE
from .level_claims import ABOVE, LevelClaim, ListedChoices
from .packing_bound import Pool

__all__ = ["FRACTIONAL", "Bounds", "ClaimOptions", "OptionNeeds"]

FRACTIONAL = 1e-6
"""Distance from a whole number at which the solution of a linear program is worth branching upon."""


@dataclass(frozen=True)
class Bounds:
    """Least and most users who take each option, (options,)."""

    low: np.ndarray
    high: np.ndarray

    def hold(self, numbers: np.ndarray) -> bool:
        """Say whether numbers of users, of parts of them too, are within the bounds."""
        return bool((self.low <= numbers + FRACTIONAL).all() and (numbers <= self.high + FRACTIONAL).all())

    def same(self, other: "Bounds") -> bool:
        """Say whether these are the bounds of another."""
        return bool((self.low == other.low).all() and (self.high == other.high).all())

    def only(self, kept: np.ndarray) -> "Bounds":
        """Return the bounds of some options."""
        return Bounds(self.low[kept], self.high[kept])

    def below(self, option: int, most: int) -> "Bounds":
        """Return the bounds with so many at most who take an option."""
        high = self.high.copy()
        high[option] = min(high[option], most)
        return Bounds(self.low, high)

    def beyond(self, option: int, most: int) -> "Bounds":
        """Return the bounds with more than so many who take an option."""
        low = self.low.copy()
        low[option] = max(low[option], most + 1)
        return Bounds(low, self.high)


class ClaimOptions:
    """The options of all choices of a claim, one after the other.

    Attributes
    ----------
    choice, row : arrays
        Of each option, the choice that it is one of, and the row of the level stopped at, or `ABOVE`.
    number : array
        Users of each choice.
    option, good, tasks : arrays
        What options need: entries of a good and a number of tasks, option by option.
    """

    def __init__(self, claim: LevelClaim):
        self.claim = claim
        if isinstance(claim.choices, ListedChoices) and (columns := claim.choices.columns) is not None:
            self.number, good, sizes, self.tasks, self.row = columns
            own = np.ones(len(self.row), dtype=np.int64)
            self.good = np.repeat(good, sizes)
        else:
            sizes = np.array([len(choice.options) for choice in claim.choices], dtype=np.int64)
            self.number = np.array([choice.number for choice in claim.choices], dtype=np.int64)
            self.row = np.array([row for choice in claim.choices for _, row in choice.options], dtype=np.int64)
            loads = [choice.load(x) for choice in claim.choices for x, _ in choice.options]
            own = np.array(list(map(len, loads)), dtype=np.int64)
            self.good = np.array([good for load in loads for good, _ in load], dtype=np.int64)
            tasks = [x for load in loads for _, x in load]
            self.tasks = np.array(tasks, dtype=np.int64 if max(tasks, default=0) < SAFE else object)
        self.first = np.concatenate([[0], np.cumsum(sizes)])
        self.choice = np.repeat(np.arange(len(sizes)), sizes)
        self.stuck = not sizes.all()
        self.option, self.starts = np.repeat(np.arange(len(own)), own), np.cumsum(own) - own
        self.largest = int(self.tasks.max(initial=0)) * int(own.max(initial=1))

    def only(self, kept: np.ndarray) -> "ClaimOptions":
        """Return some of the options, at least one of every choice."""
        some, entries = copy(self), np.isin(self.option, kept)
        some.__dict__.pop("free", None)
        some.choice, some.row = self.choice[kept], self.row[kept]
        some.first = np.searchsorted(some.choice, np.arange(len(self.number) + 1))
        some.good, some.tasks = self.good[entries], self.tasks[entries]
        some.option = np.searchsorted(kept, self.option[entries])
        some.starts = np.searchsorted(some.option, np.arange(len(kept)))
        return some

    def needs(self, goods: np.ndarray) -> np.ndarray:
        """Return what each option needs, (options, things), given what a task of each good does, (goods, things)."""
        needs = goods[self.good] * self.tasks[:, None].astype(goods.dtype)
        return needs if len(needs) == len(self.choice) or not len(needs) else np.add.reduceat(needs, self.starts)

    def forced(self) -> np.ndarray:
        """Return how many users at least stop at the level of each row: who has no other option."""
        alone = self.first[:-1][np.diff(self.first) == 1]
        alone = alone[self.row[alone] != ABOVE]
        return np.bincount(self.row[alone], self.number[self.choice[alone]], len(self.claim.allowed))

    def counts(self, prices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return multipliers of rows at which all options cost much, and what they cost with them beyond that.

        Given several prices of options, (prices, options), that numpy's integers hold.  Each multiplier is as it is
        best given those before it, the last row first: what the first user saves at the level who may no longer stop
        there.
        """
        rows = len(self.claim.allowed)
        found = np.zeros((len(prices), rows), dtype=prices.dtype)
        prices, each, top = prices.copy(), np.arange(len(prices)), prices.max(initial=0)
        for row in (rows - 1, *range(rows - 1)):
            mine = self.row == row
            at = np.flatnonzero(mine)
            others = np.minimum.reduceat(np.where(mine, SAFE, prices), self.first[:-1], axis=1)
            saved = np.minimum(others[:, self.choice[at]] - prices[:, at], top)
            order = np.argsort(-saved, axis=1)
            stopping = np.cumsum(self.number[self.choice[at]][order], axis=1)
            beyond = (stopping <= self.claim.allowed[row]).sum(axis=1)
            if len(at) and (over := beyond < len(at)).any():
                first = order[each, np.minimum(beyond, len(at) - 1)]
                found[:, row] = np.where(over, np.maximum(saved[each, first], 0), 0)
                prices[:, at] += found[:, row, None]
        least = np.minimum.reduceat(prices, self.first[:-1], axis=1) @ self.number
        return found, least - found @ np.array(self.claim.allowed, dtype=prices.dtype)

    @cached_property
    def free(self) -> Bounds:
        """The bounds that hold of themselves."""
        return Bounds(np.zeros(len(self.choice), dtype=np.int64), self.number[self.choice])

    def asked(self, numbers: np.ndarray) -> list[int]:
        """Return how many tasks of each good so many users of each option have."""
        asked = [0] * len(self.claim.fixed)
        entries = np.flatnonzero(numbers[self.option])
        users = numbers[self.option[entries]].tolist()
        for number, good, x in zip(users, self.good[entries].tolist(), self.tasks[entries].tolist(), strict=True):
            asked[good] += number * x
        return asked

    def allowed(self, numbers: np.ndarray) -> bool:
        """Say whether so many users of each option are all there are, and no more stop at any level than may."""
        if (numbers < 0).any() or (np.add.reduceat(numbers, self.first[:-1]) != self.number).any():
            return False
        stopping = self.row != ABOVE
        stopped = np.bincount(self.row[stopping], numbers[stopping], len(self.claim.allowed))
        return bool((stopped <= self.claim.allowed).all())

    def able(self, bounds: Bounds) -> bool:
        """Say whether every choice's users can choose within bounds."""
        if self.stuck or bounds is self.free:
            return not self.stuck
        if (bounds.low > bounds.high).any():
            return False
        least, most = (np.add.reduceat(ends, self.first[:-1]) for ends in (bounds.low, bounds.high))
        return bool((least <= self.number).all() and (self.number <= most).all())

    def prices(self, costs: list[int], counts: tuple[int, ...]) -> np.ndarray:
        """Return what each option costs: its tasks, at the cost of each good, and the multiplier of its row."""
        most = max(self.largest, 1) * max(costs, default=0) + max(counts, default=0)
        kind = np.int64 if most * max(1, int(self.number.sum())) < SAFE else object
        each = np.array(costs, dtype=kind)[self.good] * self.tasks
        if len(each) != len(self.choice):
            each = np.add.reduceat(each, self.starts)
        return each + np.array([*counts, 0], dtype=kind)[self.row]  # The last is that of `ABOVE`.

    def cost(self, prices: np.ndarray, bounds: Bounds) -> int:
        """Return what all options cost at least within bounds that allow it."""
        if bounds is not self.free:
            return self.least(prices, bounds)[0]
        return int((np.minimum.reduceat(prices, self.first[:-1]) * self.number).sum())

    def least(self, prices: np.ndarray, bounds: Bounds) -> tuple[int, np.ndarray]:
        """Return what all options cost at least, and how many users take each then, within bounds that allow it."""
        if bounds is self.free:
            each = np.minimum.reduceat(prices, self.first[:-1])
            return int((each * self.number).sum()), self._cheapest(prices, each)
        if self.single:
            # What somebody has to take before all else, and what nobody can after all.
            none = prices.max(initial=0) + 1
            ranked = np.where(bounds.low > 0, -1, np.where(bounds.high > 0, prices, none))
            taken = self._cheapest(ranked, np.minimum.reduceat(ranked, self.first[:-1]))
            return int((prices * taken).sum()), taken
        order = np.lexsort((prices, self.choice)) if prices.dtype != object else self._ordered(prices)
        room = (bounds.high - bounds.low)[order]
        before = np.cumsum(room) - room
        before -= before[self.first[:-1]][self.choice]
        left = (self.number - np.add.reduceat(bounds.low, self.first[:-1]))[self.choice]
        taken = bounds.low.copy()
        taken[order] += np.clip(left - before, 0, room)
        return int((prices * taken).sum()), taken

    def _cheapest(self, prices: np.ndarray, each: np.ndarray) -> np.ndarray:
        """Return how many users take each option where all of a choice take the first of those at its least price."""
        at, cheapest = np.flatnonzero(prices == each[self.choice])[::-1], np.empty(len(each), dtype=np.int64)
        cheapest[self.choice[at]] = at
        taken = np.zeros(len(prices), dtype=np.int64)
        taken[cheapest] = self.number
        return taken

    @cached_property
    def single(self) -> bool:
        """Whether every choice is one user's."""
        return bool((self.number == 1).all())

    def _ordered(self, prices: np.ndarray) -> np.ndarray:
        """Return the options by choice and price, where prices are Python's integers."""
        return np.array(sorted(range(len(prices)), key=lambda o: (self.choice[o], prices[o])), dtype=np.int64)

    def tightened(self, prices: np.ndarray, bounds: Bounds, taken: np.ndarray, slack: int) -> Bounds:
        """Return the bounds beyond which the slack is exceeded."""
        if not len(prices):
            return bounds
        first, slack = self.first[:-1], slack if prices.dtype == object else min(slack, SAFE)
        given, spare = taken > bounds.low, taken < bounds.high
        none = prices.max() + 1
        dearest = np.maximum.reduceat(np.where(given, prices, -1), first)[self.choice]
        cheapest = np.minimum.reduceat(np.where(spare, prices, none), first)[self.choice]
        dear, cheap = (prices > dearest) & (dearest >= 0), (prices < cheapest) & (cheapest < none)
        high = np.where(dear, taken + slack // np.where(dear, prices - dearest, 1), bounds.high)
        low = np.where(cheap, taken - slack // np.where(cheap, cheapest - prices, 1), bounds.low)
        high, low = np.minimum(high, bounds.high), np.maximum(low, bounds.low)
        return Bounds(low.astype(np.int64), high.astype(np.int64))


@dataclass(frozen=True)
class OptionNeeds:
    """What each option needs of each resource of a pool, (options, resources), and what there is for all of them.

    In numpy's integers where these hold what everybody needs, so that sums of them do too.
    """

    table: np.ndarray
    left: np.ndarray

    @classmethod
    def of(cls, options: ClaimOptions, pool: Pool) -> "OptionNeeds":
        """Return what the options of a claim need."""
        most = max(1, options.largest) * max(1, int(options.number.sum())) * max(1, pool.most)
        fixed = pool.used(options.claim.fixed)
        kind = np.int64 if max(most, *pool.room, *fixed) < SAFE else object
        left = [total - used for total, used in zip(pool.room, fixed, strict=True)]
        return cls(options.needs(pool.table.astype(kind)), np.array(left, dtype=kind))

    def only(self, kept: np.ndarray) -> "OptionNeeds":
        """Return the needs of some options."""
        return OptionNeeds(self.table[kept], self.left)
