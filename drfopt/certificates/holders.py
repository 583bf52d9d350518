"""What users of one pool hold who lie in parts: the sums from which the bottleneck certificate is made."""

import math
from dataclasses import dataclass
from functools import lru_cache, partial, reduce
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ..base.loops import compiled
from ..base.tolerances import LEVEL
from ..model.arrays import LARGEST, LONG, MOST_IN_SETS, SMALLEST, columns, in_blocks, in_mid_range
from ..model.instance import Instance
from .feasibility import infeasibility

__all__ = ["FirstLook", "Holders", "Marks", "Tops", "together"]

HUGE = 1e300
"""Times any positive demand this is above any level, so that the smaller of both is a user's level where she demands
something, and 0 elsewhere; two operations on floats, where a product with yes or no is slower."""

CHUNK = 1 << 12
"""Users of whom a product of matrices is made in one go: its operands stay in the processor's first caches."""

HALVES = 2.0**27 + 1
"""Splits a float into two of half its digits, whose products have no rounding (Dekker 1971)."""


@dataclass(frozen=True)
class Tops:
    """The highest level on each resource (m,), and how far it could still rise in what is unused, relative to it (m,).

    A resource that nobody uses has a top of 0; one that is not full could rise for ever.
    """

    level: np.ndarray
    rise: np.ndarray


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


class FirstLook(NamedTuple):
    """What the first look at a part's users finds: sums (m,), the highest levels (m,), and what is not possible."""

    used: np.ndarray
    highest: np.ndarray
    in_range: bool
    infeasible: float
    reason: str


class Holders:
    """Users of a part and their tasks (n,), looked at block by block; blocks are columns of the demands, (m, rows)."""

    def __init__(self, instance: Instance, rates: np.ndarray, tasks: np.ndarray):
        self.instance, self.rates, self.tasks = instance, rates, tasks
        unplaced = instance.unplaced()
        self.unplaced = unplaced if unplaced.any() else None
        self.by_set = instance.m <= MOST_IN_SETS

    @property
    def loops(self) -> Any:
        """Compiled passes, where there are some for these users."""
        return compiled(self.instance.demands) if self.by_set and self.unplaced is None else None

    def levels(self, rows: slice) -> np.ndarray:
        """Return the levels of some users."""
        return self.rates[rows] * self.tasks[rows]

    def seen(self) -> FirstLook:
        """Return what one pass over the users finds."""
        with np.errstate(all="ignore"):
            used, highest, in_range = zip(*in_blocks(self.instance.n, self._seen), strict=True)
            total: np.ndarray = reduce(np.add, used)
            tops: np.ndarray = reduce(np.maximum, highest)
            if self.by_set:
                tops = np.where(_members(self.instance.m), tops, 0.0).max(axis=1)
            infeasible, reason = infeasibility(self.instance, self.tasks, None, used=total)
        kept = all(in_range) and self.instance.mid_range
        return FirstLook(total, tops, kept, infeasible, reason)

    def _seen(self, rows: slice) -> tuple[np.ndarray, np.ndarray, bool]:
        """Return what some users use, the highest level on each resource or set, and whether floats hold it all."""
        if self.loops is not None:
            used, highest = np.zeros(self.instance.m), np.zeros(1 << self.instance.m)
            given = (self.rates, self.tasks, self.instance.needs, (SMALLEST, LARGEST), rows.start, rows.stop)
            outside = self.loops.tops(self.instance.demands.T, *given, used, highest)
            return used, highest, not outside
        block, tasks = columns(self.instance.demands, rows), self.tasks[rows]
        levels = self.rates[rows] * tasks
        in_range = in_mid_range(levels) and in_mid_range(tasks) and in_mid_range(self.rates[rows])
        if not self.by_set:
            return block @ tasks, np.minimum(block * HUGE, levels).max(axis=1), in_range
        highest, word = np.zeros(1 << len(block)), self.instance.needs[rows]
        if word.min() == (only := word.max()):
            # Where all need the same it takes a tenth of the time.
            highest[only] = levels.max(initial=0.0)
        else:
            np.maximum.at(highest, word.astype(np.intp), levels)
        return block @ tasks, highest, in_range

    def held(self, marks: Marks, inverse: np.ndarray) -> tuple:
        """Return what users hold at the marks, as `the certificate` has it, in one pass."""
        with np.errstate(all="ignore"):
            best = (_members(self.instance.m) * inverse).max(axis=0) if self.by_set else inverse
            # What is held at one mark is a product.
            several = self.instance.limited or len(marks.low) > 1
            if several and self.loops is not None:
                return together(in_blocks(self.instance.n, partial(self._looped, marks, best), size=LONG))
            return together(in_blocks(self.instance.n, partial(self._look, marks, best)))

    def _looped(self, marks: Marks, best: np.ndarray, rows: slice) -> tuple:
        """Look at some users as `_look` does, in a compiled loop."""
        instance, (g, m) = self.instance, (len(marks.low), self.instance.m)
        limits = instance.limits if instance.limited else np.empty(0)
        sums, near, needed = np.zeros((4 * (g + 1), m)), np.zeros((g, m)), np.zeros((2, g), dtype=bool)
        levels = np.array([marks.least, marks.low * (1 - 2 * LEVEL), marks.high * (1 + marks.window)])
        given = (instance.demands.T, self.rates, self.tasks, limits, instance.needs, best, levels)
        windows = (marks.window, 2 * LEVEL)
        short, i = self.loops.held(*given, windows, rows.start, rows.stop, sums, near, needed)
        by_mark = sums.reshape(2, 2, g + 1, m)
        # Who is near a mark has mostly reached that and no other.
        near += by_mark[0, :, 1:].sum(axis=0)
        free, stopped = by_mark.sum(axis=0)[:, ::-1].cumsum(axis=1)[:, ::-1]
        if not instance.limited:
            # Without limits everybody is at the first mark or above: what that holds is all that is used.
            at = np.concatenate([free[:1], free[2:]]).T
            near = at.copy()
            near[:, :-1] -= at[:, 1:]
            return at, at, near, np.ones(g, dtype=bool), np.zeros(g, dtype=bool), short, i
        return (free + stopped)[1:].T, free[1:].T, near.T, *needed, short, i

    def _look(self, marks: Marks, best: np.ndarray, rows: slice) -> tuple:
        """Look at some users: what they hold, as `the certificate` has it; `best` is of sets, or else of resources."""
        block, levels, tasks = columns(self.instance.demands, rows), self.levels(rows), self.tasks[rows]
        bound = np.take(best, self.instance.needs[rows]) if self.by_set else ((block > 0) * best).max(axis=0)
        none = bound == 0
        bound *= levels
        np.subtract(1, bound, out=bound)
        bound[none] = np.inf
        short = self._short_of_limit(rows)
        if short is not None:
            np.minimum(bound, short, out=bound)
        i = int(bound.argmax())
        above = levels >= marks.least[:, None]
        if short is None:
            # Without limits everybody is at the first mark or above: what that holds is all that is used.
            at = np.column_stack([block @ tasks, _held(block, tasks, above[1:])])
            near = at.copy()
            near[:, :-1] -= at[:, 1:]
            everybody = np.ones(len(marks.low), dtype=bool)
            return at, at, near, everybody, ~everybody, float(bound[i]), rows.start + i
        stops = short <= marks.window
        below = levels <= (marks.high * (1 + marks.window))[:, None]
        close = below & (levels >= (marks.low * (1 - 2 * LEVEL))[:, None])
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
        needed, unclear = free.any(axis=1), (free & (short <= 2 * LEVEL)).any(axis=1)
        return at, rising, near, needed, unclear, float(bound[i]), rows.start + i

    def by_pattern(self, marks: Marks, tied: np.ndarray, g: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what users hold at a mark or above and below their limits, by pattern, and which patterns need it."""
        size, bits = 1 << len(tied), np.arange(len(tied))[:, None]

        def look(rows: slice) -> tuple[np.ndarray, np.ndarray]:
            block, levels = columns(self.instance.demands, rows)[tied], self.levels(rows)
            free = levels >= marks.least[g]
            needs = free & (levels <= marks.high[g])
            short = self._short_of_limit(rows)
            if short is not None:
                free, needs = free & (short > marks.window), needs & (short > marks.window)
            pattern = ((block > 0) << bits).sum(axis=0)
            tasks = self.tasks[rows] * free
            held = [np.bincount(pattern, weights=row * tasks, minlength=size) for row in block]
            return np.array(held), np.bincount(pattern[needs], minlength=size) > 0

        parts = in_blocks(self.instance.n, look)
        return np.sum([part for part, _ in parts], axis=0), np.any([part for _, part in parts], axis=0)

    def at_the_top(self, nearly: np.ndarray) -> np.ndarray:
        """Return what users hold of each resource who have the highest level on it (m,), or nearly."""

        def look(rows: slice) -> np.ndarray:
            block, levels, tasks = columns(self.instance.demands, rows), self.levels(rows), self.tasks[rows]
            return np.array([row @ (tasks * (levels >= top)) for row, top in zip(block, nearly, strict=True)])

        total: np.ndarray = np.sum(in_blocks(self.instance.n, look), axis=0)
        return total

    def closer(self, tops: Tops) -> tuple[float, int]:
        """Return the largest violation, and whose it is, with every resource of everybody looked at."""
        with np.errstate(all="ignore"):
            return max(in_blocks(self.instance.n, lambda rows: self._closer(rows, tops)))

    def exactly_used(self, js: np.ndarray) -> np.ndarray:
        """Return what is used of some resources, (2, r): floats, and what these leave, as exact as both hold it."""

        def look(rows: slice) -> tuple[np.ndarray, np.ndarray]:
            block, done = columns(self.instance.demands, rows)[js], self.tasks[rows]
            product = block * done
            (high, low), (upper, lower) = _halves(block), _halves(done)
            error = ((high * upper - product) + high * lower + low * upper) + low * lower
            total, lost = _summed(product)
            return total, lost + error.sum(axis=1)

        parts = np.array(in_blocks(self.instance.n, look))
        first = np.array([math.fsum(parts[..., r].flat) for r in range(len(js))])
        rest = np.array([math.fsum((-first[r], *parts[..., r].flat)) for r in range(len(js))])
        return np.array([first, rest])

    def _closer(self, rows: slice, tops: Tops) -> tuple[float, int]:
        """Return the largest violation of some users, and whose it is, with every resource of theirs looked at."""
        found = _deficits(columns(self.instance.demands, rows), self.levels(rows), tops).min(axis=0)
        short = self._short_of_limit(rows)
        if short is not None:
            np.minimum(found, short, out=found)
        i = int(found.argmax())
        return float(found[i]), rows.start + i

    def bottlenecks(self, tops: Tops) -> tuple[str | None, ...]:
        """Return the bottleneck of each user, None at her limit; made only when somebody asks."""
        resources = self.instance.resources

        def look(rows: slice) -> list[str | None]:
            deficits = _deficits(columns(self.instance.demands, rows), self.levels(rows), tops)
            names: list[str | None] = [resources[j] for j in deficits.argmin(axis=0).tolist()]
            short = self._short_of_limit(rows)
            if short is not None:
                for i in np.flatnonzero(short <= np.minimum(deficits.min(axis=0), LEVEL)).tolist():
                    names[i] = None
            return names

        return tuple(chain.from_iterable(in_blocks(self.instance.n, look)))

    def _short_of_limit(self, rows: slice) -> np.ndarray | None:
        """Return how far users are below their limits, relative to them: inf without one; None where nobody has one.

        Who is unplaced and has nothing is where she must be.
        """
        if not self.instance.limited and self.unplaced is None:
            return None
        limits, tasks = self.instance.limits[rows], self.tasks[rows]
        with np.errstate(all="ignore"):
            short = tasks / limits
            np.maximum(np.subtract(1, short, out=short), 0, out=short)
            # Of no limit all is left, and a division by no makes it inf; a choice takes several times as long.
            short /= limits < np.inf
        short[np.flatnonzero(limits == 0)] = 0.0
        if self.unplaced is not None:
            unplaced = self.unplaced[rows]
            short[unplaced] = np.where(tasks[unplaced] == 0, 0.0, np.inf)
        return short


def together(looks: list[tuple]) -> tuple:
    """Return what several looks at what users hold found: three sums, who is in any of two, and the last, the most."""
    first, *others = looks
    return reduce(_both, others, first)


def _both(one: tuple, other: tuple) -> tuple:
    sums = (a + b for a, b in zip(one[:3], other[:3], strict=True))
    some = (a | b for a, b in zip(one[3:5], other[3:5], strict=True))
    return (*sums, *some, *max(one[5:], other[5:]))


@lru_cache(maxsize=MOST_IN_SETS)
def _members(m: int) -> np.ndarray:
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


def _deficits(demands: np.ndarray, levels: np.ndarray, tops: Tops) -> np.ndarray:
    """Return how far users are from having each resource as a bottleneck, relative to its top; all (m, n)."""
    top, rise = tops.level[:, None], tops.rise[:, None]
    below = 1 - np.divide(levels, top, where=top > 0, out=np.zeros(demands.shape))
    return np.where(demands > 0, np.maximum(below, rise), np.inf)


def _summed(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return sums along the second axis, and what rounding took from them: pairs are added with their error (Knuth)."""
    lost = np.zeros(len(values))
    while (half := values.shape[1] // 2) > 0:
        one, other = values[:, :half], values[:, half : 2 * half]
        both = one + other
        part = both - one
        lost += ((one - (both - part)) + (other - part)).sum(axis=1)
        values = np.concatenate([both, values[:, 2 * half :]], axis=1)
    return values.sum(axis=1), lost


def _halves(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scaled = values * HALVES
    high = scaled - (scaled - values)
    return high, values - high
