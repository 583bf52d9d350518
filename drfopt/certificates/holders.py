"""What users of one pool hold who lie in parts: the sums from which the bottleneck certificate is made."""

import math
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain
from operator import add
from typing import Any, NamedTuple

import numpy as np

from ..base.loops import HALVES, compiled
from ..base.tolerances import LEVEL
from ..model.arrays import LARGEST, LONG, MOST_IN_SETS, SMALLEST, columns, in_blocks, in_mid_range
from ..model.instance import Instance
from .feasibility import infeasibility
from .marks import BUCKETS, EPSILON, SAME, SHIFT, Marks, SetSums, at_marks, set_members

__all__ = ["FirstLook", "Holders", "Tops", "together"]

HUGE = 1e300
"""Times any positive demand this is above any level, so that the smaller of both is a user's level where she demands
something, and 0 elsewhere; two operations on floats, where a product with yes or no is slower."""

FAR = 1 << 17
"""Users who are added up by set in one go without compiled loops: there may be half as many sets."""

PLACES = 64
"""Sums with what rounding took from them that are made at a time, side by side."""


@dataclass(frozen=True)
class Tops:
    """The highest level on each resource (m,), and how far it could still rise in what is unused, relative to it (m,).

    A resource that nobody uses has a top of 0; one that is not full could rise for ever.
    """

    level: np.ndarray
    rise: np.ndarray


class FirstLook(NamedTuple):
    """What the first look at a part's users finds.

    Sums (m,), the highest levels (m,), what is not possible, and sums by the sets of resources that users need, where
    compiled loops have made these, or users cost too much for a second look.
    """

    used: np.ndarray
    highest: np.ndarray
    in_range: bool
    infeasible: float
    reason: str
    by_set: SetSums | None = None


class Holders:
    """Users of a part and their tasks (n,), looked at block by block; blocks are columns of the demands, (m, rows).

    `far` says that users are read from files, and that one look is to find all there is, if at all possible.
    """

    def __init__(self, instance: Instance, rates: np.ndarray, tasks: np.ndarray, far: bool = False):
        self.instance, self.rates, self.tasks = instance, rates, tasks
        unplaced = instance.unplaced()
        self.unplaced = unplaced if unplaced.any() else None
        self.by_set = instance.m <= MOST_IN_SETS and (far or instance.n >> instance.m > 0)
        self.far = far and self.by_set

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
            if self.loops is not None:
                total, tops, in_range, sums = self._seen_by_set()
            elif self.far:
                looks, within = zip(*in_blocks(self.instance.n, self._far, size=FAR), strict=True)
                sums, in_range = reduce(add, looks), all(within)
                total, tops = sums.held.sum(axis=0) + sums.stopped.sum(axis=0), sums.highest
            else:
                used, highest, within = zip(*in_blocks(self.instance.n, self._seen), strict=True)
                total, tops, in_range, sums = reduce(np.add, used), reduce(np.maximum, highest), all(within), None
            if self.by_set:
                tops = np.where(set_members(self.instance.m), tops, 0.0).max(axis=1)
            infeasible, reason = infeasibility(self.instance, self.tasks, None, used=total)
        return FirstLook(total, tops, in_range and self.instance.mid_range, infeasible, reason, sums)

    def _seen_by_set(self) -> tuple[np.ndarray, np.ndarray, bool, SetSums]:
        """Return what users use, the highest level on each set, whether floats hold it all, and sums by set."""
        instance, sets = self.instance, 1 << self.instance.m
        limits = instance.limits if instance.limited else np.empty(0)
        sums = np.zeros((sets + (BUCKETS if instance.limited else 1), instance.m))
        highest, lowest = np.zeros(sets), np.full(sets, np.inf)
        given = (instance.demands.T, self.rates, self.tasks, limits, instance.needs, (SMALLEST, LARGEST))
        outside, least = self.loops.seen(*given, SAME * EPSILON, SHIFT, sums, highest, lowest)
        return sums.sum(axis=0), highest, not outside, SetSums(sums[:sets], sums[sets:], lowest, highest, least)

    def _far(self, rows: slice) -> tuple[SetSums, bool]:
        """Return what `_seen_by_set` does of some users, and whether floats hold it all."""
        block, x, rates = columns(self.instance.demands, rows), self.tasks[rows], self.rates[rows]
        levels, word, short = rates * x, self.instance.needs[rows].astype(np.intp), self._short_of_limit(rows)
        m, limited = len(block), short is not None
        rises = np.ones(len(x), dtype=bool) if short is None else ~(short <= SAME * EPSILON)
        highest, lowest = np.zeros(1 << m), np.full(1 << m, np.inf)
        if word.min() == (only := word.max()):
            highest[only], lowest[only] = levels.max(), levels.min(where=rises, initial=np.inf)
        else:
            np.maximum.at(highest, word, levels)
            np.minimum.at(lowest, word[rises], levels[rises])
        bucket = (levels[~rises].view(np.int64) >> SHIFT) % BUCKETS
        held, stopped = _added(block, x * rises, word, 1 << m), np.zeros((BUCKETS if limited else 1, m))
        if len(bucket):
            stopped += _added(block[:, ~rises], x[~rises], bucket, BUCKETS)
        least = np.inf if short is None else float(short.min(where=rises, initial=np.inf))
        within = in_mid_range(levels) and in_mid_range(x) and in_mid_range(rates)
        return SetSums(held, stopped, lowest, highest, least), within

    def _seen(self, rows: slice) -> tuple[np.ndarray, np.ndarray, bool]:
        """Return what some users use, the highest level on each resource or set, and whether floats hold it all."""
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
            best = (set_members(self.instance.m) * inverse).max(axis=0) if self.by_set else inverse
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
        levels = np.array([marks.least, marks.near, marks.most])
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
        return *at_marks(marks, block, levels, tasks, short), float(bound[i]), rows.start + i

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

        if self.loops is not None:
            sums = np.zeros((len(js), 2, PLACES))
            self.loops.exact(self.instance.demands.T, js, self.tasks, sums)
            parts = sums.T
        else:
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

    def bottlenecks(self, tops: Tops) -> tuple[str | tuple[str, ...] | None, ...]:
        """Return the bottlenecks of each user, None at her limit; made only when somebody asks."""
        resources = self.instance.resources

        def look(rows: slice) -> list[str | tuple[str, ...] | None]:
            deficits = _deficits(columns(self.instance.demands, rows), self.levels(rows), tops)
            names: list[str | tuple[str, ...] | None] = [resources[j] for j in deficits.argmin(axis=0).tolist()]
            held = deficits <= LEVEL
            for i in np.flatnonzero(held.sum(axis=0) > 1).tolist():
                names[i] = tuple(resources[j] for j in np.flatnonzero(held[:, i]).tolist())
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


def _added(block: np.ndarray, tasks: np.ndarray, rows: np.ndarray, size: int) -> np.ndarray:
    """Return what users hold, added up by the row that each belongs to, (size, m)."""
    if rows.min() == (only := rows.max()):
        # Of who are all alike a product is the sum, and takes a tenth of the time.
        alike = np.zeros((size, len(block)))
        alike[only] = block @ tasks
        return alike
    return np.stack([np.bincount(rows, weights=row * tasks, minlength=size) for row in block], axis=1)


def together(looks: list[tuple]) -> tuple:
    """Return what several looks at what users hold found: three sums, who is in any of two, and the last, the most."""
    first, *others = looks
    return reduce(_both, others, first)


def _both(one: tuple, other: tuple) -> tuple:
    sums = (a + b for a, b in zip(one[:3], other[:3], strict=True))
    some = (a | b for a, b in zip(one[3:5], other[3:5], strict=True))
    return (*sums, *some, *max(one[5:], other[5:]))


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
