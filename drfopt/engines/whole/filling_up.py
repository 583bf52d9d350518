"""Whole tasks added one by one in the order of the policy, from nothing or from what runs, until nobody has room.

Whoever is below a guarantee goes first, where least of it is kept.  Then, of

    a leximin           whoever's tasks are worth least;
    several groups      whoever's turn it is by their clock;
    a sum               tier by tier, whose task is worth most for what it takes of all resources together;
    alpha fairness      tier by tier, those without a task where such come first, and whose next task is worth most for
                        that: its utility, taken at its middle, is  w r / (r (x + 1/2))^alpha.

All of these grow with anybody's tasks, so that what is filled up is better than it was.  On machines tasks stay where
they are, and the next goes where its user's tasks leave least that nobody can use.  An answer whose search was cut
short is filled up before it is returned, whatever the time: then each is given all that it has room for, in that order.
"""

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import repeat

import numpy as np

from ...base.deadline import NEVER, Deadline
from ...certificates.group_sweep import GroupSweep
from ...model.whole_values import WholeUsers
from ..problem import Answer, Problem
from .machine_by_machine import SingleMachines
from .milp import packed

__all__ = ["GRACE", "PoolTasks", "TaskByTask", "filled", "filled_pool"]

GRACE = 1.0
"""Seconds for tasks one by one where time has run out already; what is left then goes in large steps."""

MANY = 100_000
"""Tasks of a member that would fit above which it runs several at a time: a second or so of one by one."""

CAUGHT_UP = 8
"""Of what would fit all members together run one part in so many before anybody's turn comes again: few enough that
who is behind still catches up, many enough that strides end soon."""

Order = Callable[[int, int], tuple]
"""Where the next task of a member stands who has so many; the first goes first, and a later task is no earlier."""


def filled(problem: Problem, start: Answer | None = None) -> Answer:
    """Return a packed answer, or none at all, with task after task added until nobody has room for one."""
    users = problem.whole_users
    pool = problem.instance.machines is None
    filling = PoolTasks(users, start) if pool else TaskByTask(problem, users, start)
    before = list(filling.tasks)
    _fill(problem, filling)
    if start is None:
        return filling.answer()
    if filling.tasks == before:
        return start
    found = filling.answer()
    proof = replace(start.evidence, packing=found.evidence.packing)
    return replace(start, tasks=found.tasks, amounts=found.amounts, evidence=proof)


def filled_pool(problem: Problem, tasks: list[int]) -> Answer:
    """Return so many tasks of the members of a pool, as far as there is room, with more added in the same way."""
    filling = PoolTasks(problem.whole_users)
    for p, x in enumerate(tasks):
        filling.more(p, x)
    _fill(problem, filling)
    return filling.answer()


class TaskByTask:
    """Machines to which tasks are added one by one, each where it fits first, ceilings of groups kept.

    Attributes
    ----------
    tasks : list of int
        What the members have.
    """

    def __init__(self, problem: Problem, users: WholeUsers, start: Answer | None = None):
        self.problem, self.users = problem, users
        self.cluster = SingleMachines(problem.by_type, np.zeros(problem.m))
        self.place = {q: p for p, q in enumerate(self.cluster.members)}
        self.under, room = users.ceiling_rows
        self.tasks, self.left = [0] * problem.n, list(room)
        if start is not None:
            self.tasks = start.tasks.tolist()
            self.cluster.carry(start.evidence.packing or [])
            for p, sequence in enumerate(users.sequences):
                for good, count in zip(users.goods_of[p], sequence.started(self.tasks[p]), strict=True):
                    self.left = [f - count * d for d, f in zip(self.under[good], self.left, strict=True)]

    def next_good(self, p: int) -> int:
        """Return of which goods the next task of a member is."""
        sequence = self.users.sequences[p]
        return self.users.goods_of[p][sequence.next_type(self.tasks[p]) if len(sequence.rows) > 1 else 0]

    def more(self, p: int, number: int = 1) -> int:
        """Run up to so many more tasks of a member; return for how many room was found.

        Of several types they are those that come next, all of them or half as many, and so on.
        """
        sequence = self.users.sequences[p]
        if len(sequence.rows) == 1:
            number = self._run(p, 0, number)
        while number and len(sequence.rows) > 1 and not self._all_run(p, number):
            number //= 2
        self.tasks[p] += number
        return number

    def _all_run(self, p: int, number: int) -> bool:
        """Run the next tasks of a member of several types, so many, or none if not all have room; say which."""
        sequence, x, left = self.users.sequences[p], self.tasks[p], self.left
        before = self.cluster.state() if number > 1 else None
        counts = [b - a for a, b in zip(sequence.started(x), sequence.started(x + number), strict=True)]
        done = all(self._run(p, t, count) == count for t, count in enumerate(counts) if count)
        if not done and before is not None:
            self.left = left
            self.cluster.restore(before)
        return done

    def _run(self, p: int, t: int, number: int) -> int:
        """Run up to so many tasks of one type of a member; return for how many there was room."""
        need = self.under[self.users.goods_of[p][t]]
        number = min([number, *(f // d for d, f in zip(need, self.left, strict=True) if d)])
        placed = self.cluster.place(self.place[self.users.sequences[p].rows[t]], number)
        self.left = [f - placed * d for f, d in zip(self.left, need, strict=True)]
        return placed

    def rooms(self) -> list[int]:
        """Return how many more tasks of each member would fit if what is left were on one machine."""
        left = self.cluster.left.sum(axis=0, dtype=object)  # beyond 64 bits, too
        rows = [self.cluster.demands[self.place[sequence.rows[0]]] for sequence in self.users.sequences]
        return [min(int(f // d) for d, f in zip(row, left, strict=True) if d) for row in rows]

    def answer(self, status: str = "feasible") -> Answer:
        """Return what runs."""
        return packed(self.problem, self.tasks, self.cluster.packing(), status)


class PoolTasks:
    """The same in a pool, in integers.

    Attributes
    ----------
    tasks : list of int
        What the members have.
    """

    def __init__(self, users: WholeUsers, start: Answer | None = None):
        self.users, (self.rows, room) = users, users.pool_rows
        self.tasks, self.left = [0] * len(users.members), list(room)
        for p, x in enumerate([] if start is None else start.tasks.tolist()):
            self.left, self.tasks[p] = self._after(p, x), x

    def next_good(self, p: int) -> int:
        """Return of which goods the next task of a member is."""
        goods = self.users.goods_of[p]
        return goods[self.users.sequences[p].next_type(self.tasks[p]) if len(goods) > 1 else 0]

    def more(self, p: int, number: int = 1) -> int:
        """Run up to so many more tasks of a member; return for how many there was room."""
        low, high = 0, number
        while low < high:
            middle = (low + high + 1) // 2
            fits = min(self._after(p, middle), default=0) >= 0
            low, high = (middle, high) if fits else (low, middle - 1)
        self.left, self.tasks[p] = self._after(p, low), self.tasks[p] + low
        return low

    def _after(self, p: int, number: int) -> list[int]:
        """Return what so many more tasks leave, less than 0 where there is not as much."""
        sequence, x, left = self.users.sequences[p], self.tasks[p], self.left
        for good, now, then in zip(
            self.users.goods_of[p], sequence.started(x), sequence.started(x + number), strict=True
        ):
            left = [f - (then - now) * d for f, d in zip(left, self.rows[good], strict=True)]
        return left

    def rooms(self) -> list[int]:
        """Return how many more tasks of each member would fit if nobody else had more."""
        rows = [self.rows[goods[0]] for goods in self.users.goods_of]
        return [min(f // d for d, f in zip(row, self.left, strict=True) if d) for row in rows]

    def answer(self, status: str = "feasible") -> Answer:
        """Return what runs."""
        return Answer(np.array(self.tasks, dtype=np.int64), status=status)


def _fill(problem: Problem, filling: TaskByTask | PoolTasks) -> None:
    """Run tasks until nobody has room: where time has run out, one by one for the seconds of grace only."""
    users, ends = problem.whole_users, problem.deadline.grace(GRACE)
    ordered = _order(problem, users)
    if users.branches and problem.policy.objective == "leximin":
        GroupSweep(users, ends).one_by_one(filling.more, ends, filling.tasks)
    _one_by_one(users, filling, ordered, ends)
    _one_by_one(users, filling, ordered, NEVER, at_once=True)


def _one_by_one(
    users: WholeUsers, filling: TaskByTask | PoolTasks, order: Order, ends: Deadline, at_once: bool = False
) -> None:
    """Run tasks of whoever comes first, until it does no more, or at once all that there is room for."""
    most = users.most
    queue = [(order(p, x), p) for p, x in enumerate(filling.tasks) if x < most[p]]
    heapq.heapify(queue)
    full = set[int]()  # Goods of which no task fits any more.
    stride = _strides(filling)
    while queue and ends.left() > 0:
        _, p = heapq.heappop(queue)
        x, good = filling.tasks[p], filling.next_good(p)
        if good in full:
            continue
        number = most[p] - x
        if queue and not at_once:
            number = min(number, max(_until(partial(order, p), x, most[p], queue[0][0]), next(stride)[p]))
        if not filling.more(p, number):
            full.add(good)
        elif filling.tasks[p] < most[p]:
            heapq.heappush(queue, (order(p, filling.tasks[p]), p))


def _strides(filling: TaskByTask | PoolTasks) -> Iterator[list[int]]:
    """Yield how many tasks at a time each member may run while there is room for very many, step by step.

    Each is a small part of what would fit: the others catch up, and the last `MANY` go in the order of the policy.
    """
    n = len(filling.tasks)
    while max(rooms := filling.rooms(), default=0) > MANY:
        yield from repeat([room // (CAUGHT_UP * n) for room in rooms], n)
    yield from repeat([0] * n)


def _until(place: Callable[[int], tuple], x: int, most: int, following: tuple) -> int:
    """Return how many tasks more, one at least, are one step: those that come before what follows."""
    low = high = 1
    while x + high < most and place(x + high) < following:
        low, high = high + 1, 2 * high
    high = min(high, most - x)
    low = min(low, high)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if place(x + middle) < following else (low, middle)
    return low


# ---- in which order ------------------------------------------------------------------------------------------------


def _order(problem: Problem, users: WholeUsers) -> Order:
    """Return the order of the policy."""
    if problem.policy.objective == "leximin":
        return lambda p, x: (users.scales[p].value(x),)
    turns = {p: turn for turn, mine in enumerate(users.tiers) for p in mine}
    takes = np.log(np.maximum(problem.shares.sum(axis=1), np.finfo(float).tiny)).tolist()
    power, rates, incomes = 0.0, users.rates, [Fraction(1)] * len(takes)
    if problem.policy.objective == "alpha":
        power, rates, incomes = float(problem.policy.alpha), users.market_rates, users.incomes
    rows = zip(takes, rates, incomes, strict=True)
    # In logarithms, as powers of levels are beyond floats where alpha is large.
    first = [take - _log(income) + (power - 1) * _log(rate) for take, rate, income in rows]

    def order(p: int, x: int) -> tuple:
        if x < users.promises[p]:
            return (0, users.scales[p].value(x))
        return (1, turns[p], users.serving and x > 0, first[p] + power * math.log(x + 0.5), p)

    return order


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)
