"""Algorithm 1 without its steps: the tasks it starts, in a time that does not grow with their number.

Task a of user i (a = 0, 1, ...) has the key ``(rates[i] * a, i)``, the level at which she asks for it, and Algorithm 1
tries all tasks in the order of their keys, each on the first machine on which it fits; a pool is one machine.  Until
somebody is refused by the machine on which her tasks go everything fits, so what is in use then does not depend on the
order: whether all tasks up to a level fit is a sum for each machine, and the last level at which they do is found by
bisection.  That much is done in floats, with counts that err towards too many where fitting is asked and towards too
few where tasks are started.  What is near the level, a few tasks of each user, is then tried one by one in the exact
order, as Algorithm 1 would, with integers; after a refusal, from there, on the user's next machine.  SequentialMinMax,
which looks at the level after a task, is the same with the key ``(rates[i] * (a + 1), i)``.

    jump     to just below the next refusal, whoever it is; whoever lags a little is served first afterwards
    window   the next tasks of all users by their exact keys, tried with exact comparisons

What fits no more never fits again, so of the users who need more than is free all are left out at once, whoever of them
would have asked first.  The number of jumps is that of the levels around which somebody is refused: at most n in a
pool, and n by the number of machines that are filled.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, Algorithm 1; `drfopt.engines.reference.algorithm1` goes
step by step.  Where users are served in *stages*, nobody of a later one before all of one before it are at their limits
or refused, each stage goes on where the one before it ended.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul

import numpy as np

from ...base.deadline import NEVER, Deadline
from ...base.errors import PolicyError
from ...base.progress import report
from ...model.packings import integer_rooms

__all__ = ["Filled", "bulk_filling"]

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


Stage = tuple[Collection[int], Sequence[Fraction], Sequence[Fraction | None]]


@dataclass(frozen=True)
class Filled:
    """What Algorithm 1 starts.

    Attributes
    ----------
    placement : n rows of k
        Tasks of each user on the machines of each class.
    free : k lists
        What is left, (m,), on each machine of a class on which some task was tried, and on the first of all.
    """

    placement: list[list[int]]
    free: list[list[list[Fraction]]]

    @property
    def tasks(self) -> list[int]:
        """The tasks of each user, (n,)."""
        return [sum(row) for row in self.placement]


def bulk_filling(
    demands: Sequence[Sequence[Fraction]],
    machines: Sequence[tuple[Sequence[Fraction], int]],
    rates: Sequence[Fraction],
    limits: Sequence[Fraction | None],
    when_full: str = "skip",
    eligible: Sequence[Sequence[bool]] | None = None,
    ahead: int = 0,
    ranks: Sequence[int] | None = None,
    deadline: Deadline = NEVER,
    stages: Sequence[Stage] = (),
) -> Filled:
    """Return the tasks that Algorithm 1 starts on machines without devices.

    Parameters
    ----------
    demands : n rows of m
        What one task of each user needs; every user needs something.
    machines : k rows
        What one machine of a class has (m,), and their count.
    rates : (n,), positive
        Level of one task.
    limits : (n,)
        Most tasks, rounded down; None for no limit.
    when_full : str
        ``skip``: who does not fit is passed over; ``stop``: she ends it all.
    eligible : n rows of k, optional
        The classes that each user may use; all of them where it is not given.
    ahead : int
        How many tasks ahead a user's level is looked at: 1 for SequentialMinMax.
    ranks : (n,), optional
        Of equals the lowest is served first; the one listed first where they are not given.
    deadline : Deadline
    stages : sequence, optional
        Who is served in each, with rates (n,) and limits (n,) of all tasks, those of earlier stages included, in place
        of the `rates` and `limits`; all at once where there are none.

    Raises
    ------
    PolicyError
        When rates differ by more than floats can hold.
    TimeLimitError
        When the deadline has passed.

    Examples
    --------
    >>> pool = [9 * 10**12, 18 * 10**12]
    >>> bulk_filling([[3, 1], [1, 4]], [(pool, 1)], [Fraction(1, 3), Fraction(2, 9)], [None, None]).tasks
    [2000000000000, 3000000000000]
    """
    order = list(range(len(demands))) if ranks is None else sorted(range(len(demands)), key=ranks.__getitem__)
    open_ = None if eligible is None else [eligible[i] for i in order]
    filling = _Filling(
        [demands[i] for i in order],
        machines,
        open_,
        when_full == "stop",
        ahead,
    )
    for who, rising, most in stages or [(range(len(order)), rates, limits)]:
        users = np.flatnonzero(np.isin(order, list(who)))
        filling.begin(users, [rising[i] for i in order], [most[i] for i in order])
        while filling.going.size:
            started = f"{sum(filling.tasks):,} tasks were started"
            report(started)
            deadline.check("a schedule, task by task", started)
            filling.window(filling.jump())
    placement: list[list[int]] = [[]] * len(order)
    for i, row in zip(order, filling.placement, strict=True):
        placement[i] = row
    return Filled(placement, filling.left_free())


class _Filling:
    """What has been started so far, exactly, on which machine each user's tasks go, and who goes on.

    A machine comes into being when somebody's task is tried on it; machine 0 has nothing, for who fits nowhere.
    """

    def __init__(
        self,
        demands: Sequence[Sequence[Fraction]],
        machines: Sequence[tuple[Sequence[Fraction], int]],
        eligible: Sequence[Sequence[bool]] | None,
        stops: bool,
        look: int,
    ):
        self._demands, self._machines = demands, machines
        self.needs, self._rooms = integer_rooms(demands, [row for row, _ in machines])
        self.stops, self._look, self._eligible = stops, look, eligible
        n, m = len(self.needs), len(self._rooms[0])
        self.tasks = [0] * n
        self.placement = [[0] * len(machines) for _ in range(n)]
        self.free, self._class = [[0] * m], [0]
        self._copies: list[list[int]] = [[] for _ in machines]
        self.at = [self._another(0)] * n
        self._place = [(0, 0)] * n
        self._units = [max(1, *column) for column in zip(*self._rooms, strict=True)]
        self._sizes = np.array([self._floats(row) for row in self.needs])
        self._ended = False
        for i in [] if eligible is None else [i for i, row in enumerate(eligible) if not row[0]]:
            self._settles(i)

    def begin(self, users: np.ndarray, rates: Sequence[Fraction], limits: Sequence[Fraction | None]) -> None:
        """Have some users, rows in ascending order, go on up to these limits, at these levels of one task."""
        self.limits = [None if limit is None else math.floor(limit) for limit in limits]
        self.going = users[:0] if self._ended else users
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
        ahead, rates, left = self._ahead(), self._rates[self.going], self._left()
        machines, at = np.unique([self.at[i] for i in self.going.tolist()], return_inverse=True)
        parts = self._parts(machines, at)

        def load(tasks: np.ndarray) -> float:
            """Return the largest part of what is free on a machine that so many tasks take."""
            if len(machines) == 1:
                return float((tasks @ parts).max())
            return max(float(np.bincount(at, tasks * part).max()) for part in parts.T)

        def counts(level: float, sign: int) -> np.ndarray:
            """Return the tasks with keys up to a level: for sign 1 at least as many as there are, for -1 at most."""
            steps = np.floor((level - ahead) / rates * (1 + sign * COUNT) + sign * WHOLE) + 1
            return np.minimum(np.maximum(steps, 0), left)

        def fits(level: float) -> bool:
            return load(counts(level, 1)) <= 1 - ROOM

        # At this level everybody's next task, and after it what is free by the mean, would be started.
        low, high = 0.0, float(ahead.max() + rates.max()) + 1 / load(1 / rates)
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
        needs, limits, tasks = self.needs, self.limits, self.tasks
        gone: set[int] = set()
        for i in self._order(ahead):
            if i in gone:
                continue
            if tasks[i] == limits[i]:
                gone.add(i)
            elif self._settles(i):
                at = self.at[i]
                self.free[at] = [amount - need for amount, need in zip(self.free[at], needs[i], strict=True)]
                tasks[i] += 1
                self.placement[i][self._class[at]] += 1
            elif self.stops:
                self.going, self._ended = self.going[:0], True
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
        return Fraction((task + self._look) * step, unit)

    def _ahead(self) -> np.ndarray:
        """Return how far each user's next key is above the lowest, as floats of the exact differences."""
        going = self.going.tolist()
        tasks = [self.tasks[i] + self._look for i in going]
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

    def _parts(self, machines: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Return the parts of what is free that a task of each user takes where it goes, as floats."""
        free = np.array([self._floats(self.free[p]) for p in machines.tolist()])[at]
        sizes = self._sizes[self.going]
        needed = sizes > 0
        return np.divide(sizes, free, where=needed & (sizes <= free), out=np.where(needed, TOO_MUCH, 0.0))

    def _start(self, counts: list[int]) -> None:
        users: dict[int, list[tuple[int, int]]] = {}
        for i, count in zip(self.going.tolist(), counts, strict=True):
            if count:
                self.tasks[i] += count
                self.placement[i][self._class[self.at[i]]] += count
                users.setdefault(self.at[i], []).append((i, count))
        for at, started in users.items():
            mine, free = [count for _, count in started], self.free[at]
            for j in range(len(free)):
                free[j] -= sum(map(mul, mine, (self.needs[i][j] for i, _ in started)))

    def _drop(self) -> None:
        """Find a machine for who fits no more where its tasks went; leave out who is at its limit or has none.

        Where somebody without one ends it all, it stays until it is asked.
        """
        machines, at = np.unique([self.at[i] for i in self.going.tolist()], return_inverse=True)
        free = np.array([self._floats(self.free[p]) for p in machines.tolist()]).reshape(-1, len(self._units))[at]
        fits = np.all(self._sizes[self.going] <= free * (1 - COUNT), axis=1)
        fits[~fits] = [self._settles(i) for i in self.going[~fits].tolist()]
        if not self.stops:
            self.going = self.going[fits]
        self.going = self.going[[self.tasks[i] != self.limits[i] for i in self.going.tolist()]]

    def _settles(self, i: int) -> bool:
        """Say whether a task of user i fits somewhere, and have it go to the first machine where it does.

        What is free only shrinks, so machines before the one where her tasks went are full for good.
        """
        need = self.needs[i]
        k, copy = self._place[i]
        while k < len(self._rooms):
            if (self._eligible is None or self._eligible[i][k]) and _fits(need, self._rooms[k]):
                for here in range(copy, self._machines[k][1]):
                    at = self._copies[k][here] if here < len(self._copies[k]) else self._another(k)
                    if _fits(need, self.free[at]):
                        self._place[i], self.at[i] = (k, here), at
                        return True
            k, copy = k + 1, 0
        self._place[i], self.at[i] = (k, 0), 0
        return False

    def _another(self, k: int) -> int:
        """Return one more machine of a class, on which nothing runs."""
        self.free.append(list(self._rooms[k]))
        self._class.append(k)
        self._copies[k].append(len(self.free) - 1)
        return len(self.free) - 1

    def left_free(self) -> list[list[list[Fraction]]]:
        """Return what is left on the machines of each class, in the units of the demands."""
        units = []
        for j in range(len(self._units)):
            some = next((i for i, row in enumerate(self.needs) if row[j]), None)
            units.append(Fraction(0) if some is None else Fraction(self._demands[some][j]) / self.needs[some][j])
        return [
            [
                [c - (r - f) * unit for c, r, f, unit in zip(row, room, self.free[at], units, strict=True)]
                for at in copies
            ]
            for copies, room, (row, _) in zip(self._copies, self._rooms, self._machines, strict=True)
        ]

    def _floats(self, values: Sequence[int]) -> list[float]:
        """Return amounts of each resource in units of what is there, which floats can hold: 0 for nothing only."""
        return [max(value / unit, SMALLEST) if value else 0.0 for value, unit in zip(values, self._units, strict=True)]


def _fits(task: Sequence[int], free: Sequence[int]) -> bool:
    return all(need <= amount for need, amount in zip(task, free, strict=True))
