"""Every way to give the users of a pool whole tasks whose Nash product is near the best: windows, and two halves.

Let p >= 0 be prices and f_i(x) = w_i log x - x (p . d_i).  For whole tasks x within the capacity c,

    sum_i w_i log x_i  =  sum_i max f_i  +  p . c  -  [ sum_i (max f_i - f_i(x_i))  +  p . (c - used) ]

and what is in brackets, the *loss*, is a sum of terms that are never negative.  So an allocation with a loss of R at
most has every user within the window of tasks where her own term is at most R, and leaves no more than R / p_j of any
resource.  With the prices of the continuous optimum the windows are a few tasks wide.

To list all such allocations the users are split into two halves.  All choices of each half whose terms sum to R at most
are listed; a choice of one half goes with those of the other that use up nearly all that it leaves, and these are found
by their place in a grid, not by trying.  There is no solver in this; rounding of the logarithms is covered by a margin,
and who is better is decided by products in integers.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..base.deadline import NEVER, Deadline
from ..model.instance import Instance
from ..model.packings import integer_rows, most_alone
from .exhaustive_search import products

__all__ = ["MeetInTheMiddle", "TooManyChoices"]

MARGIN = 1e-11
"""Loss, per unit of weight, by which rounding might misjudge an allocation: thousands of roundings of a logarithm."""

CHOICES = 6_000_000
"""Choices of one half that are listed: a gigabyte or so."""

PAIRS = 2_000_000
"""Pairs that are looked at at a time."""

CLOSE = 10_000
"""Allocations compared in integers at most."""

NEAR = 3
"""Tasks from the continuous optimum that are mixed to find prices."""

WINDOW = 2_000
"""Tasks of one user's window at most."""

LARGE = 2**53
"""Amounts up to here are exact, in numpy's integers and floats."""


class TooManyChoices(Exception):
    """There are too many choices to list."""


class MeetInTheMiddle:
    """The search among allocations in which every member has a task.

    Parameters
    ----------
    instance : Instance
        A pool.
    members : sequence of int
        Users who may run a task.

    Attributes
    ----------
    listed : int
        Choices of a half that the last search listed.
    """

    def __init__(self, instance: Instance, members: Sequence[int]):
        self.rows, self.room = integer_rows([instance.exact_demands[i] for i in members], instance.exact_capacity)
        self.most = [most_alone(instance, i) for i in members]
        exact = [instance.exact_weights[i] for i in members]
        self.weights = np.array([float(w) for w in exact])
        self.value = products(exact)
        self.fit = all(sum(row[j] for row in self.rows) <= total for j, total in enumerate(self.room))
        if max(max(self.room, default=0), max(map(max, self.rows), default=0)) >= LARGE or max(self.most) >= LARGE:
            raise TooManyChoices
        self.demands = np.array(self.rows, dtype=np.int64)
        self.margin = MARGIN * float(self.weights.sum()) * max(1.0, math.log(max(self.most)))
        self.prices = self._prices()
        self.cost = self.demands @ self.prices
        self.best = np.array([self._peak(i) for i in range(len(members))], dtype=np.int64)
        self.peak = self._worth(np.arange(len(members)), self.best)
        self.listed = 0

    def _prices(self) -> np.ndarray:
        """Return prices near those of the continuous optimum, (m,); any are right, and better ones are faster."""
        from scipy.optimize import minimize

        room = np.maximum(np.array(self.room, dtype=float), 1.0)
        shares, most = self.demands / room, np.array(self.most, dtype=float)

        def dual(prices: np.ndarray) -> tuple[float, np.ndarray]:
            cost = shares @ prices
            tasks = self.weights / np.maximum(cost, self.weights / most)
            value = prices.sum() + (self.weights * np.log(tasks) - cost * tasks).sum()
            return value, 1 - tasks @ shares

        m = len(room)
        start = np.full(m, self.weights.sum() / m)
        found = minimize(dual, start, jac=True, bounds=[(0, None)] * m, method="L-BFGS-B", options=SETTINGS)
        cost = np.maximum(shares @ found.x, self.weights / most)
        middle = np.floor(self.weights / cost).astype(np.int64)
        return self._whole_prices(shares, middle, found.x) / room

    def _whole_prices(self, shares: np.ndarray, middle: np.ndarray, prices: np.ndarray) -> np.ndarray:
        """Return the prices at which mixtures of whole numbers near the middle are worth most: the losses are less."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_array

        near = np.arange(-NEAR, NEAR + 1)
        user = np.repeat(np.arange(len(middle)), len(near))
        tasks = np.clip(np.repeat(middle, len(near)) + np.tile(near, len(middle)), 1, np.array(self.most)[user])
        worth = self.weights[user] * np.log(tasks / np.maximum(middle, 1)[user])
        one = csr_array((np.ones(len(user)), (user, np.arange(len(user)))))
        found = linprog(-worth, (shares[user] * tasks[:, None]).T, np.ones(shares.shape[1]), one, np.ones(len(middle)))
        return np.maximum(-found.ineqlin.marginals, 0.0) if found.status == 0 else np.maximum(prices, 0.0)

    def _worth(self, users: np.ndarray, tasks: np.ndarray) -> np.ndarray:
        return self.weights[users] * np.log(tasks) - self.cost[users] * tasks

    def _peak(self, i: int) -> int:
        """Return the whole number of tasks, 1 or more, at which a user's own worth is largest."""
        middle = self.weights[i] / max(self.cost[i], self.weights[i] / self.most[i])
        low = max(1, min(self.most[i], math.floor(middle)))
        options = np.array([low, min(low + 1, self.most[i])])
        return int(options[np.argmax(self._worth(np.array([i, i]), options))])

    def loss(self, tasks: Sequence[int]) -> float:
        """Return the loss of whole tasks of the members, each 1 or more; below 0 only by rounding."""
        x = np.array(tasks, dtype=np.int64)
        users = np.arange(len(x))
        left = np.array(
            [
                total - sum(int(t) * row[j] for t, row in zip(tasks, self.rows, strict=True))
                for j, total in enumerate(self.room)
            ],
            dtype=float,
        )
        return float((self.peak - self._worth(users, x)).sum() + left @ self.prices)

    def gap(self, tasks: Sequence[int]) -> float:
        """Return the relative distance of the weighted geometric mean of the tasks from a bound of it."""
        return -math.expm1(-max(0.0, self.loss(tasks)) / float(self.weights.sum()))

    def within(self, loss: float, deadline: Deadline = NEVER, part: float = 1.0) -> list[int] | None:
        """Return tasks with the largest product among all allocations of at most this loss; None if there is none.

        With a `part` below 1 only those are looked at in which neither half takes more of the loss than that: most of
        them, in a small fraction of the time.

        Raises
        ------
        TooMany, TimeLimitError
        """
        limit = loss + self.margin
        if limit < 0:
            return None
        windows = [self._window(i, limit) for i in range(len(self.most))]
        left = [
            total - sum(int(x) * row[j] for x, row in zip(self.best, self.rows, strict=True))
            for j, total in enumerate(self.room)
        ]
        one, other = (self._half(users, windows, part * limit, deadline) for users in _split(windows, limit))
        self.listed = max(len(one.terms), len(other.terms))
        found = self._joined(one, other, np.array(left, dtype=np.int64), limit, deadline)
        return max(found, key=self.value, default=None)

    def _window(self, i: int, limit: float) -> tuple[np.ndarray, np.ndarray]:
        """Return a user's numbers of tasks whose term is within the limit, and the terms."""
        reach = 1
        while True:
            tasks = np.arange(max(1, self.best[i] - reach), min(self.most[i], self.best[i] + reach) + 1)
            terms = np.maximum(self.peak[i] - self._worth(np.full(len(tasks), i), tasks), 0.0)
            inside = terms <= limit
            whole = (tasks[0] == 1 or not inside[0]) and (tasks[-1] == self.most[i] or not inside[-1])
            if whole:
                order = np.argsort(terms[inside], kind="stable")
                return tasks[inside][order], terms[inside][order]
            reach *= 2
            if reach > WINDOW:
                raise TooManyChoices

    def _half(self, users: list[int], windows: list, limit: float, deadline: Deadline) -> "_Choices":
        """Return all choices of some users whose terms are within the limit."""
        terms, used = np.zeros(1), np.zeros((1, len(self.room)), dtype=np.int64)
        trail: list[tuple[np.ndarray, np.ndarray]] = []
        for i in users:
            deadline.check("the search for a larger product")
            tasks, own = windows[i]
            # Terms in order: every earlier choice goes with the first so many of them.
            number = np.searchsorted(own, limit - terms, side="right")
            if number.sum() > CHOICES:
                raise TooManyChoices
            before = np.repeat(np.arange(len(terms), dtype=np.int32), number)
            option = np.arange(len(before)) - np.repeat(np.cumsum(number) - number, number)
            terms = terms[before] + own[option]
            used = used[before] + (tasks[option] - self.best[i])[:, None] * self.demands[i]
            trail.append((before, tasks[option].astype(np.int32) if tasks.max() < 2**31 else tasks[option]))
        return _Choices(users, trail, terms, used)

    def _joined(
        self, one: "_Choices", other: "_Choices", left: np.ndarray, limit: float, deadline: Deadline
    ) -> list[list[int]]:
        """Return the allocations of the least loss, and those that rounding cannot tell from them."""
        best, kept = limit, []
        for a, b in self._partners(one, other, left, limit):
            deadline.check("the search for a larger product")
            rest = left - one.used[a] - other.used[b]
            total = one.terms[a] + other.terms[b] + rest @ self.prices
            good = (rest >= 0).all(axis=1) & (total <= best + self.margin)
            if not good.any():
                continue
            best = min(best, float(total[good].min()))
            kept += list(zip(total[good].tolist(), a[good].tolist(), b[good].tolist(), strict=True))
            kept = [row for row in kept if row[0] <= best + self.margin]
            if len(kept) > CLOSE:
                raise TooManyChoices
        return [self._tasks(one, a, other, b) for _, a, b in kept]

    def _tasks(self, one: "_Choices", a: int, other: "_Choices", b: int) -> list[int]:
        tasks = [0] * len(self.most)
        for half, row in ((one, a), (other, b)):
            for i, (before, number) in zip(reversed(half.users), reversed(half.trail), strict=True):
                tasks[i] = int(number[row])
                row = int(before[row])
        return tasks

    def _partners(
        self, one: "_Choices", other: "_Choices", left: np.ndarray, limit: float
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield pairs of choices by what the first half's terms leave: the more they take, the fewer partners."""
        orders = np.argsort(one.terms), np.argsort(other.terms)
        ends = [
            np.searchsorted(half.terms[order], limit * np.arange(BANDS + 1) / BANDS, side="right")
            for half, order in zip((one, other), orders, strict=True)
        ]
        for band in range(BANDS):
            first = orders[0][0 if band == 0 else ends[0][band] : ends[0][band + 1]]
            second = orders[1][: ends[1][BANDS - band]]
            if not len(first) or not len(second):
                continue
            rest = limit * (BANDS - band) / BANDS
            if len(first) >= len(second):
                for a, b in self._neighbours(one.used[first], other.used[second], left, rest):
                    yield first[a], second[b]
            else:
                for b, a in self._neighbours(other.used[second], one.used[first], left, rest):
                    yield first[a], second[b]

    def _neighbours(
        self, one: np.ndarray, other: np.ndarray, left: np.ndarray, limit: float
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield pairs of uses (choices, m) that could leave less than `limit` worth of every resource, some at a time.

        Cells of the grid are as wide as what may be left over: the partners of a choice are in two neighbouring cells.
        """
        with np.errstate(divide="ignore"):
            width = np.where(self.prices > 0, np.ceil(np.minimum(limit / self.prices, LARGE)) + 1, np.inf)
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
    """Choices of some users: the sum of their terms, and what they use beyond their best, (choices, m).

    `trail` tells the tasks, user by user: which choice of the users before it was, and her tasks.
    """

    users: list[int]
    trail: list[tuple[np.ndarray, np.ndarray]]
    terms: np.ndarray
    used: np.ndarray


def _split(windows: list[tuple[np.ndarray, np.ndarray]], limit: float) -> tuple[list[int], list[int]]:
    """Return the users in two halves of about as many choices each."""
    # A user with many cheap options multiplies the choices most: in pairs of neighbours, each half has one of them.
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
"""Parts of the limit that a typical user of a choice takes, for weighing how many choices a window makes."""

BANDS = 16
"""Bands of a half's choices by the sum of their terms."""

GRIDDED = 4
"""Resources that the grid has axes for."""

SETTINGS = {"maxiter": 500, "ftol": 1e-15, "gtol": 1e-10}
"""Of the search for prices: as near as floats allow; any prices are right."""
