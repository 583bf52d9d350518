"""The levels at which full resources run out, and what users hold there: user by user, or by the sets they need.

Users below their limits who need the same resources have the same level but for rounding, where an allocation is right.
So their sums, their lowest level and their highest say what a look at each of them would, as long as no mark lies
between the two: `SetSums.at`.  Of who is at a limit only sums by the first digits of their levels are known, and the
theorem of `bottleneck` has room for that: with less held at the marks and above, and more near them, it says less.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..base.tolerances import LEVEL
from ..model.arrays import MOST_IN_SETS

__all__ = ["BUCKETS", "EPSILON", "SAME", "SHIFT", "Marks", "SetSums", "at_marks", "set_members"]

EPSILON = float(np.finfo(np.float64).eps)
"""Relative: of a level it counts `SAME` times, of a sum of n products a quarter of the root of n times more."""

SAME = 16
"""Roundings by which equal levels may differ: those of shares, of their sum, of a weight, and of the tasks."""

SHIFT, BUCKETS = 44, 1 << 10
"""Levels are told apart by their bits from there on, an exponent and 8 digits, the last of which number buckets."""

CHUNK = 1 << 12
"""Users of whom a product of matrices is made in one go: its operands stay in the processor's first caches."""


@dataclass(frozen=True)
class Marks:
    """The levels at which full resources run out, ascending.

    Attributes
    ----------
    low, high : arrays (g,)
        The levels that are one mark to rounding.
    of : int array (m,)
        The mark of each resource, -1 where it is not full.
    window : float
        How far levels may be below their marks, relative to them.
    """

    low: np.ndarray
    high: np.ndarray
    of: np.ndarray
    window: float

    @classmethod
    def of_tops(cls, highest: np.ndarray, full: np.ndarray, window: float) -> "Marks":
        """Return the marks of tops (m,)."""
        order = np.flatnonzero(full)[np.argsort(highest[full], kind="stable")]
        tops, of = highest[order], np.full(len(highest), -1)
        first, last = np.ones((2, len(tops)), dtype=bool)
        first[1:] = last[:-1] = tops[1:] > tops[:-1] * (1 + window)
        of[order] = np.cumsum(first) - 1
        return cls(tops[first], tops[last], of, window)

    @property
    def least(self) -> np.ndarray:
        """The least levels that count as at the marks, (g,)."""
        return self.low * (1 - self.window)

    @property
    def near(self) -> np.ndarray:
        """The least levels that count as near the marks, (g,)."""
        return self.low * (1 - 2 * LEVEL)

    @property
    def most(self) -> np.ndarray:
        """The highest levels that count as at the marks, (g,)."""
        return self.high * (1 + self.window)


@dataclass(frozen=True, eq=False)
class SetSums:
    """What users hold who are below their limits, by the set of resources that they need.

    Attributes
    ----------
    held : array (2^m, m)
    stopped : array (buckets, m)
        What those hold who are at their limits, by the bits of their levels; of one bucket, where nobody has a limit.
    lowest, highest : arrays (2^m,)
        The lowest level of these users, inf where there are none, and the highest of all.
    least : float
        The least part of its limit that one of these users is below it.
    """

    held: np.ndarray
    stopped: np.ndarray
    lowest: np.ndarray
    highest: np.ndarray
    least: float

    def __add__(self, other: "SetSums") -> "SetSums":
        return SetSums(
            self.held + other.held,
            self.stopped + other.stopped,
            np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest),
            min(self.least, other.least),
        )

    def at(self, marks: Marks, inverse: np.ndarray) -> tuple | None:
        """Return what users hold at the marks, as `at_marks`, and what somebody misses; None where sums do not tell.

        `inverse` is one over the mark of each resource, (m, 1).
        """
        some = np.flatnonzero(self.lowest < np.inf)
        low, high = self.lowest[some], self.highest[some]
        best = (set_members(len(inverse))[:, some] * inverse).max(axis=0)
        short = np.where(best > 0, 1 - best * low, np.inf).max(initial=-np.inf)
        ends = np.concatenate([marks.least, marks.near, np.nextafter(marks.most, np.inf)])[:, None]
        if short > marks.window or self.least <= 2 * LEVEL or ((low < ends) != (high < ends)).any():
            return None
        at, rising, near, *who = at_marks(marks, self.held[some].T, low, np.ones(len(some)), np.full(len(some), np.inf))
        for g, ends_of in enumerate(zip(marks.near, marks.most, strict=True)):
            near[:, g] += self._stopped(*ends_of)
        return at, rising, near, *who, float(short)

    def _stopped(self, low: np.float64, high: np.float64) -> np.ndarray:
        """Return what those hold at most who are at their limits at levels between two, (m,)."""
        first, last = (int(level.view(np.int64)) >> SHIFT for level in (low, high))
        buckets = np.arange(first, min(last, first + len(self.stopped) - 1) + 1) % len(self.stopped)
        held: np.ndarray = self.stopped[buckets].sum(axis=0)
        return held

    def by_pattern(self, marks: Marks, tied: np.ndarray, g: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what users hold at a mark or above, by which of the tied resources they need, and who needs it."""
        sets = np.flatnonzero((self.lowest >= marks.least[g]) & (self.lowest < np.inf))
        pattern, size = (
            (set_members(self.stopped.shape[1])[tied][:, sets] << np.arange(len(tied))[:, None]).sum(axis=0),
            1 << len(tied),
        )
        held = [np.bincount(pattern, weights=self.held[sets, j], minlength=size) for j in tied]
        return np.array(held), np.bincount(pattern[self.lowest[sets] <= marks.high[g]], minlength=size) > 0


def at_marks(marks: Marks, block: np.ndarray, levels: np.ndarray, tasks: np.ndarray, short: np.ndarray | None) -> tuple:
    """Return what users (demands as columns, levels, tasks) hold at the marks and above, and so on.

    `short` is how far they are below their limits, (n,); None where nobody has one.

    Returns
    -------
    three arrays (m, g), two bool arrays (g,)
        What users hold at marks or above, how much of it below their limits, what they hold near the marks; whether
        somebody at a mark is below her limit, and whether so little that rounding might decide.
    """
    above = levels >= marks.least[:, None]
    if short is None:
        # Without limits everybody is at the first mark or above: what that holds is all that is used.
        at = np.column_stack([block @ tasks, _held(block, tasks, above[1:])])
        near = at.copy()
        near[:, :-1] -= at[:, 1:]
        everybody = np.ones(len(marks.low), dtype=bool)
        return at, at, near, everybody, ~everybody
    stops = short <= marks.window
    below = levels <= marks.most[:, None]
    close = below & (levels >= marks.near[:, None])
    free = above & ~stops
    at, rising = np.split(_held(block, tasks, np.concatenate([above, free])), 2, axis=1)
    near = rising.copy()
    near[:, :-1] -= rising[:, 1:]
    # Who is near a mark is below her limit, and at the mark; the others are few.
    own = free.copy()
    own[:-1] &= ~above[1:]
    if (few := np.flatnonzero((own != close).any(axis=0))).size:
        near += block[:, few] @ ((close[:, few].astype(float) - own[:, few]) * tasks[few]).T
    free &= below
    return at, rising, near, free.any(axis=1), (free & (short <= 2 * LEVEL)).any(axis=1)


@lru_cache(maxsize=MOST_IN_SETS)
def set_members(m: int) -> np.ndarray:
    """Say which of m resources are in which sets, (m, 2^m)."""
    members: np.ndarray = (np.arange(1 << m) >> np.arange(m)[:, None]) & 1 == 1
    return members


def _held(block: np.ndarray, tasks: np.ndarray, some: np.ndarray) -> np.ndarray:
    """Return what some users (g, rows) hold of each resource, (m, g)."""
    sums = np.zeros((len(some), len(block)))
    for a in range(0, len(tasks), CHUNK):
        rows = slice(a, a + CHUNK)
        sums += (some[:, rows] * tasks[rows]) @ block[:, rows].T
    return sums.T
