"""Algorithm 1 on one pool without its steps: the tasks it starts, in a time that does not grow with their number.

Task a of user i (a = 0, 1, ...) has the key ``(rates[i] * a, i)``, the level at which she asks for it, and Algorithm 1
tries all tasks in the order of their keys.  Until somebody is refused everything fits, so what is in use then does not
depend on the order: whether all tasks up to a level fit is a sum, and the last level at which they do is found by
bisection.  That much is done in floats, with counts that err towards too many where fitting is asked and towards too
few where tasks are started.  What is near the level, a few tasks of each user, is then tried one by one in the exact
order, as Algorithm 1 would, with integers; after a refusal, from there.

    jump     to just below the next refusal, whoever it is; whoever lags a little is served first afterwards
    window   the next tasks of all users by their exact keys, tried with exact comparisons

What fits no more never fits again, so of the users who need more than is free all are left out at once, whoever of them
would have asked first.  The number of jumps is that of the levels around which somebody is refused, at most n.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, Algorithm 1; `drfopt.engines.reference.algorithm1` goes
step by step.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import mul

import numpy as np

from ...base.errors import PolicyError
from ...model.packings import integer_rows

__all__ = ["bulk_filling"]

AHEAD = 3
"""Tasks of a user in a window: a jump leaves one or two, and a refusal is near."""

ROOM = 1e-9
"""Part of what is free that a jump does not touch: far more than the rounding of its sums."""

COUNT = 1e-12
"""Relative error allowed to the float of a number of tasks: far more than its rounding."""

WHOLE = 1e-9
"""Distance from a whole number at which a quotient may be on either side of it."""

TIE = 1e-13
"""Relative distance of two keys below which their order is decided exactly: far more than their rounding."""

TOO_MUCH = 2.0
"""Part of what is free that a task takes which does not fit: how much more than all of it, nobody asks."""

SMALLEST = 1e-300
"""Smallest float that stands for a positive number, and smallest ratio of two rates that floats can hold."""


def bulk_filling(
    demands: Sequence[Sequence[Fraction]],
    capacity: Sequence[Fraction],
    rates: Sequence[Fraction],
    limits: Sequence[Fraction | None],
    when_full: str = "skip",
) -> list[int]:
    """Return the tasks of each user, (n,), that Algorithm 1 starts on a pool.

    Parameters
    ----------
    demands : n rows of m
        What one task of each user needs; every user needs something.
    capacity : (m,)
    rates : (n,), positive
        Level of one task.
    limits : (n,)
        Most tasks, rounded down; None for no limit.
    when_full : str
        ``skip``: who does not fit is passed over; ``stop``: she ends it all.

    Raises
    ------
    PolicyError
        When rates differ by more than floats can hold.

    Examples
    --------
    >>> bulk_filling([[3, 1], [1, 4]], [9 * 10**12, 18 * 10**12], [Fraction(1, 3), Fraction(2, 9)], [None, None])
    [2000000000000, 3000000000000]
    """
    filling = _Filling(demands, capacity, rates, limits, when_full == "stop")
    while filling.going.size:
        filling.window(filling.jump())
    return filling.tasks


class _Filling:
    """What has been started so far, exactly, and who goes on."""

    def __init__(
        self,
        demands: Sequence[Sequence[Fraction]],
        capacity: Sequence[Fraction],
        rates: Sequence[Fraction],
        limits: Sequence[Fraction | None],
        stops: bool,
    ):
        self.needs, self.free = integer_rows(demands, capacity)
        self.limits = [None if limit is None else math.floor(limit) for limit in limits]
        self.stops = stops
        self.tasks = [0] * len(self.needs)
        self._units = [max(total, 1) for total in self.free]
        self._sizes = np.array([self._floats(row) for row in self.needs])
        self.going = np.arange(len(self.needs))
        self._drop()
        highest = max((rates[i] for i in self.going.tolist()), default=Fraction(1))
        self.rates = [(rate / highest).as_integer_ratio() for rate in rates]
        self._rates = np.array([p / q for p, q in self.rates])
        if (self._rates[self.going] < SMALLEST).any():
            raise PolicyError("the levels of one task of two users differ by more than 1e300: check the weights")
        known: dict[tuple[int, int], int] = {}
        self._kinds = np.array([known.setdefault(rate, len(known)) for rate in self.rates])

    def jump(self) -> np.ndarray:
        """Start most of the tasks that fit before somebody is refused, and return how far ahead everybody is then."""
        ahead, rates, left, parts = self._ahead(), self._rates[self.going], self._left(), self._parts()

        def counts(level: float, sign: int) -> np.ndarray:
            """Return the tasks with keys up to a level: for sign 1 at least as many as there are, for -1 at most."""
            steps = np.floor((level - ahead) / rates * (1 + sign * COUNT) + sign * WHOLE) + 1
            return np.minimum(np.maximum(steps, 0), left)

        def fits(level: float) -> bool:
            return float((counts(level, 1) @ parts).max()) <= 1 - ROOM

        # At this level everybody's next task, and after it what is free by the mean, would be started.
        drain = float((parts / rates[:, None]).sum(axis=0).max())
        low, high = 0.0, float(ahead.max() + rates.max()) + 1 / drain
        while fits(high):
            if (counts(high, 1) >= left).all():
                low = high
                break
            low, high = high, 2 * high
        while (counts(high, 1) - counts(low, -1)).sum() > len(rates) and high - low > TIE * high:
            middle = (low + high) / 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        sure = counts(low, -1)
        if low == 0 or sure.max() <= AHEAD:
            return ahead
        self._start([int(count) for count in sure.tolist()])
        return self._ahead()

    def window(self, ahead: np.ndarray) -> None:
        """Try the next tasks of all users one by one, in the exact order."""
        needs, limits, tasks, free = self.needs, self.limits, self.tasks, self.free
        gone: set[int] = set()
        for i in self._order(ahead):
            if i in gone:
                continue
            if tasks[i] == limits[i]:
                gone.add(i)
            elif _fits(needs[i], free):
                free[:] = [amount - need for amount, need in zip(free, needs[i], strict=True)]
                tasks[i] += 1
            elif self.stops:
                self.going = self.going[:0]
                return
            else:
                gone.add(i)
        self._drop()

    def _order(self, ahead: np.ndarray) -> list[int]:
        """Return the users who ask for the next tasks, in the order of their keys, as far as it is complete."""
        going = self.going
        rates = self._rates[going]
        keys = ahead[:, None] + rates[:, None] * np.arange(AHEAD + 1)
        cut = keys[:, -1].min()
        user, task = np.nonzero(keys <= cut * (1 + TIE))
        order = np.lexsort((user, keys[user, task]))
        user, task = user[order], task[order]
        found = keys[user, task]
        close = found[1:] - found[:-1] <= TIE * found[1:]
        edges = np.flatnonzero(np.concatenate(([True], ~close))).tolist()
        asking = going[user].tolist()
        # Equal tasks of equal users are in order; others that are near get into it by their exact keys.
        done = np.array([self.tasks[i] for i in going.tolist()], dtype=object)[user] + task
        kinds = self._kinds[going][user]
        mixed = np.flatnonzero(close & ((kinds[1:] != kinds[:-1]) | (done[1:] != done[:-1])))
        for run in np.unique(np.searchsorted(edges, mixed, side="right")).tolist():
            if run < len(edges):
                part = slice(edges[run - 1], edges[run])
                exact = zip(asking[part], done[part].tolist(), strict=True)
                asking[part] = [i for _, i in sorted((self._key(i, a), i) for i, a in exact)]
        # The last keys may be near to some that were not asked for.
        return asking[: edges[-1]]

    def _key(self, i: int, task: int) -> Fraction:
        """Return the level at which user i asks for her task of that number."""
        step, unit = self.rates[i]
        return Fraction(task * step, unit)

    def _ahead(self) -> np.ndarray:
        """Return how far each user's next key is above the lowest, as floats of the exact differences."""
        going = self.going.tolist()
        tasks = [self.tasks[i] for i in going]
        lowest = int((np.array(tasks, dtype=float) * self._rates[self.going]).argmin())
        while True:
            p, q = self.rates[going[lowest]]
            top = p * tasks[lowest]
            ahead = np.array(
                [
                    (step * task * q - top * unit) / (unit * q)
                    for (step, unit), task in zip((self.rates[i] for i in going), tasks, strict=True)
                ]
            )
            if ahead.min() >= 0:
                return ahead
            lowest = int(ahead.argmin())

    def _left(self) -> np.ndarray:
        """Return how many tasks each user may still start, as floats; inf for no limit."""
        limits = ((self.limits[i], self.tasks[i]) for i in self.going.tolist())
        return np.array([np.inf if limit is None else float(limit - tasks) for limit, tasks in limits])

    def _parts(self) -> np.ndarray:
        """Return the parts of what is free that a task of each user takes, as floats."""
        free = np.array(self._floats(self.free))
        sizes = self._sizes[self.going]
        needed = sizes > 0
        return np.divide(sizes, free, where=needed & (sizes <= free), out=np.where(needed, TOO_MUCH, 0.0))

    def _start(self, counts: list[int]) -> None:
        going = self.going.tolist()
        for i, count in zip(going, counts, strict=True):
            self.tasks[i] += count
        for j in range(len(self.free)):
            self.free[j] -= sum(map(mul, counts, (self.needs[i][j] for i in going)))

    def _drop(self) -> None:
        """Leave out who is at her limit or, where such users are passed over, fits no more."""
        if not self.stops:
            sizes, free = self._sizes[self.going], np.array(self._floats(self.free))
            fits = np.all(sizes <= free * (1 - COUNT), axis=1)
            near = ~fits & np.all(sizes <= free * (1 + COUNT), axis=1)
            fits[near] = [_fits(self.needs[i], self.free) for i in self.going[near].tolist()]
            self.going = self.going[fits]
        self.going = self.going[[self.tasks[i] != self.limits[i] for i in self.going.tolist()]]

    def _floats(self, values: Sequence[int]) -> list[float]:
        """Return amounts of each resource in units of what is there, which floats can hold: 0 for nothing only."""
        return [max(value / unit, SMALLEST) if value else 0.0 for value, unit in zip(values, self._units, strict=True)]


def _fits(task: Sequence[int], free: Sequence[int]) -> bool:
    return all(need <= amount for need, amount in zip(task, free, strict=True))
