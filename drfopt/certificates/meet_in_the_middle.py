"""Every way to give the users of a pool whole tasks whose product or utility is near the best: windows, two halves.

Against a bound by prices an allocation has a *loss*, a sum of terms that are never negative (`utility_losses`): one for
each kind of users who are alike, and one for what is left over of each resource.  So an allocation with a loss of R at
most has every kind within the window of tasks where its own term is at most R, and leaves no more than R / p_j of any
resource.  With the best prices for mixtures of whole numbers the windows are a few tasks wide.

To list all such allocations the kinds are split into two halves.  All choices of each half whose terms sum to R at most
are listed; a choice of one half goes with those of the other that use up nearly all that it leaves, and these are found
by their place in a grid, not by trying.  There is no solver in this, and no float: terms are integers, rounded down,
and who is better is decided exactly.
"""

import heapq
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..base.deadline import NEVER, Deadline
from ..model.whole_values import SAFE
from .utility_losses import LARGE, SEARCHED, TooManyChoices, UtilityLosses

__all__ = ["MeetInTheMiddle", "TooManyChoices"]

CHOICES = 6_000_000
"""Choices of one half that are listed: a gigabyte or so."""

PAIRS = 2_000_000
"""Pairs that are looked at at a time."""

CLOSE = 10_000
"""Allocations compared exactly at most."""


class MeetInTheMiddle(UtilityLosses):
    """The search among allocations, of products and above alpha = 1 among those in which every member has a task.

    Attributes
    ----------
    listed : int
        Choices of a half that the last search listed.
    """

    listed = 0

    def within(self, limit: int, deadline: Deadline = NEVER, part: float = 1.0, ways: int = 1) -> list[list[int]]:
        """Return the tasks that are worth most among all allocations of at most this loss, so many at most, best first.

        Of allocations that differ only in which of a kind has what, one is looked at.

        With a `part` below 1 only those are looked at in which neither half takes more of the loss than that: most of
        them, in a small fraction of the time.

        Raises
        ------
        TooManyChoices, TimeLimitError
        """
        if limit < 0:
            return []
        windows = [self.window(kind, limit, deadline) for kind in self.kinds]
        if any(not len(tasks) for tasks, _ in windows):
            return []
        self._check(windows, limit)
        one, other = (self._half(half, windows, int(part * limit), deadline) for half in _split(windows, limit))
        self.listed = max(len(one.terms), len(other.terms))
        found = self._joined(one, other, np.array(self.left, dtype=np.int64), limit, deadline, ways)
        return sorted(found, key=self.value, reverse=True)[:ways] if len(found) > 1 else found

    def _check(self, windows: list[tuple[np.ndarray, np.ndarray]], limit: int) -> None:
        """Refuse what is beyond the integers of numpy."""
        far = [
            max(abs(int(x) - len(kind) * self.best[kind[0]]) for x in tasks)
            for kind, (tasks, _) in zip(self.kinds, windows, strict=True)
        ]
        rows = [self.rows[kind[0]] for kind in self.kinds]
        for j, (price, left) in enumerate(zip(self.prices, self.left, strict=True)):
            most = abs(left) + sum(f * row[j] for f, row in zip(far, rows, strict=True))
            if most >= LARGE or most * price * len(self.prices) + 2 * limit >= SAFE:
                raise TooManyChoices

    def _half(self, kinds: list[int], windows: list, limit: int, deadline: Deadline) -> "_Choices":
        """Return all choices of some kinds whose terms are within the limit."""
        terms, used = np.zeros(1, dtype=np.int64), np.zeros((1, len(self.room)), dtype=np.int64)
        trail: list[tuple[np.ndarray, np.ndarray]] = []
        for k in kinds:
            deadline.check(SEARCHED)
            tasks, own = windows[k]
            first, size = self.kinds[k][0], len(self.kinds[k])
            # Terms in order: every earlier choice goes with the first so many of them.
            number = np.searchsorted(own, limit - terms, side="right")
            if number.sum() > CHOICES:
                raise TooManyChoices
            before = np.repeat(np.arange(len(terms), dtype=np.int32), number)
            option = np.arange(len(before)) - np.repeat(np.cumsum(number) - number, number)
            terms = terms[before] + own[option]
            used = used[before] + (tasks[option] - size * self.best[first])[:, None] * self.demands[first]
            trail.append((before, tasks[option].astype(np.int32) if tasks.max() < 2**31 else tasks[option]))
        return _Choices(kinds, trail, terms, used)

    def _joined(
        self, one: "_Choices", other: "_Choices", left: np.ndarray, limit: int, deadline: Deadline, ways: int
    ) -> list[list[int]]:
        """Return so many allocations of the least loss, and those that rounding cannot tell from them."""
        best, kept, prices = limit, [], np.array(self.prices, dtype=np.int64)
        for a, b in self._partners(one, other, left, limit):
            deadline.check(SEARCHED)
            rest = left - one.used[a] - other.used[b]
            total = one.terms[a] + other.terms[b] + rest @ prices
            good = (rest >= 0).all(axis=1) & (total <= best + self.margin)
            if not good.any():
                continue
            kept += list(zip(total[good].tolist(), a[good].tolist(), b[good].tolist(), strict=True))
            if len(kept) >= ways:
                best = min(best, heapq.nsmallest(ways, (row[0] for row in kept))[-1])
            kept = [row for row in kept if row[0] <= best + self.margin]
            if len(kept) > CLOSE:
                raise TooManyChoices
        return [self._tasks(one, a, other, b) for _, a, b in kept]

    def _tasks(self, one: "_Choices", a: int, other: "_Choices", b: int) -> list[int]:
        """Return the tasks of the members, of each kind as even as can be."""
        tasks = [0] * len(self.most)
        for half, row in ((one, a), (other, b)):
            for k, (before, number) in zip(reversed(half.kinds), reversed(half.trail), strict=True):
                each, more = divmod(int(number[row]), len(self.kinds[k]))
                for place, p in enumerate(self.kinds[k]):
                    tasks[p] = each + (place < more)
                row = int(before[row])
        return tasks

    def _partners(
        self, one: "_Choices", other: "_Choices", left: np.ndarray, limit: int
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield pairs of choices by what the first half's terms leave: the more they take, the fewer partners."""
        orders = np.argsort(one.terms), np.argsort(other.terms)
        ends = [
            np.searchsorted(
                half.terms[order], np.array([limit * band // BANDS for band in range(BANDS + 1)]), side="right"
            )
            for half, order in zip((one, other), orders, strict=True)
        ]
        for band in range(BANDS):
            first = orders[0][0 if band == 0 else ends[0][band] : ends[0][band + 1]]
            second = orders[1][: ends[1][BANDS - band]]
            if not len(first) or not len(second):
                continue
            rest = limit * (BANDS - band) // BANDS
            if len(first) >= len(second):
                for a, b in self._neighbours(one.used[first], other.used[second], left, rest):
                    yield first[a], second[b]
            else:
                for b, a in self._neighbours(other.used[second], one.used[first], left, rest):
                    yield first[a], second[b]

    def _neighbours(
        self, one: np.ndarray, other: np.ndarray, left: np.ndarray, limit: int
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield pairs of uses (choices, m) that could leave less than `limit` worth of every resource, some at a time.

        Cells of the grid are as wide as what may be left over: the partners of a choice are in two neighbouring cells.
        """
        width = np.array([min(limit // price, LARGE) + 1.0 if price else np.inf for price in self.prices])
        able = ((one >= left - other.max(axis=0) - width) & (one <= left - other.min(axis=0))).all(axis=1)
        kept = np.flatnonzero(able)
        if not len(kept):
            return
        one = one[kept]
        spread = np.ptp(one, axis=0) + 1.0
        axes = [int(j) for j in np.argsort(width / spread) if width[j] < spread[j]][:GRIDDED]
        step = width[axes].astype(np.int64)
        cells = one[:, axes] // step
        first = cells.min(axis=0)
        sizes = cells.max(axis=0) - first + 1
        stride = np.append(np.cumprod(sizes[::-1])[::-1][1:], 1).astype(np.int64)[: len(axes)]
        key = (cells - first) @ stride
        order = np.argsort(key, kind="stable")
        key = key[order]
        goal = (left[axes] - other[:, axes]) // step - first
        # In the order of their goals, searching for them walks through the keys once.
        goal_order = np.argsort(goal @ stride, kind="stable")
        goal = goal[goal_order]
        for corner in itertools.product((0, 1), repeat=len(axes)):
            cell = goal - np.array(corner, dtype=np.int64)
            inside = np.flatnonzero(((cell >= 0) & (cell < sizes)).all(axis=1))
            wanted = cell[inside] @ stride
            low = np.searchsorted(key, wanted, side="left")
            number = np.searchsorted(key, wanted, side="right") - low
            for part in _parts(number):
                count = number[part]
                offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
                yield kept[order[np.repeat(low[part], count) + offset]], goal_order[np.repeat(inside[part], count)]


@dataclass(frozen=True)
class _Choices:
    """Choices of some kinds: the sum of their terms, and what they use beyond their best, (choices, m).

    `trail` tells the tasks, kind by kind: which choice of the kinds before it was, and the tasks of all of it.
    """

    kinds: list[int]
    trail: list[tuple[np.ndarray, np.ndarray]]
    terms: np.ndarray
    used: np.ndarray


def _split(windows: list[tuple[np.ndarray, np.ndarray]], limit: int) -> tuple[list[int], list[int]]:
    """Return the kinds in two halves of about as many choices each."""
    # A kind with many cheap options multiplies the choices most: in pairs of neighbours, each half has one of them.
    order = sorted(range(len(windows)), key=lambda i: float(np.exp(-TYPICAL * windows[i][1] / limit).sum()))
    halves: tuple[list[int], list[int]] = ([], [])
    for rank, i in enumerate(order):
        halves[(rank + 1) // 2 % 2].append(i)
    return halves


def _parts(number: np.ndarray) -> Iterator[np.ndarray]:
    """Yield indices so that the numbers of each part sum to little more than `PAIRS`."""
    live = np.flatnonzero(number)
    if not len(live):
        return
    total = np.cumsum(number[live]) // PAIRS
    for part in range(int(total[-1]) + 1):
        if len(indices := live[total == part]):
            yield indices


TYPICAL = 8
"""Parts of the limit that a typical kind of a choice takes, for weighing how many choices a window makes."""

BANDS = 16
"""Bands of a half's choices by the sum of their terms."""

GRIDDED = 4
"""Resources that the grid has axes for."""
