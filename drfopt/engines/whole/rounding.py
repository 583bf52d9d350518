"""Whole tasks packed on machines: the whole part of the continuous optimum, the lowest levels first.

For a level L everybody is wished her tasks up to L, but no more than the whole part of her continuous optimum.  The
wishes are packed largest task first, on machines whose rest has the proportions of the task; whose wish does not come
true goes first the next time, some rounds long.  The highest L whose wishes can be packed so is found by halving.
Then tasks are added one by one, always to the user whose level is lowest: up to the continuous optimum, then beyond it.
At last whoever is lowest is given a task in the place of somebody's who runs it elsewhere, or has more without it.

Under rules of an organisation, and with several types of tasks, no continuous optimum is rounded: tasks are added one
by one from the beginning, always to whom those that it has are worth least.

Nothing is proven here: the certificate says how far from below the levels are the highest possible.  Evidence of the
answer is the whole part of everybody's continuous optimum, where there was time for it: who has less is told.
"""

import heapq
from contextlib import suppress
from dataclasses import replace

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import TimeLimitError
from ...base.progress import report
from ...base.tolerances import LEVEL
from ...model.whole_values import WholeUsers
from ..leximin import lp_chain
from ..problem import Answer, Problem
from .milp import packed
from .single_machines import SingleMachines
from .trading import trade

__all__ = ["TaskByTask", "solve", "task_by_task"]

ROUNDS = 15
"""Times that wishes are packed again with other users first."""

GRACE = 1.0
"""Seconds that tasks are given one by one where time has run out already: there is no other answer then."""

CONTINUOUS = 0.5
"""Part of the time that the continuous optimum may take."""


def solve(problem: Problem) -> Answer:
    """Return the packing; its status says that it is feasible, not that it is optimal."""
    if problem.instance.features:
        return task_by_task(problem)
    continuous = Problem(problem.instance, problem.policy, False, problem.deadline.part(CONTINUOUS))
    tasks = np.zeros(problem.instance.n)
    known = False
    with suppress(TimeLimitError):
        tasks[continuous.members] = lp_chain.solve(continuous).tasks
        known = True
    used, total = tasks @ problem.instance.demands, problem.instance.capacity
    scarce = np.divide(used, total**2, where=total > 0, out=np.zeros(len(total)))
    cluster = SingleMachines(problem, scarce)
    # A count that rounding put just below a whole number is that number.
    whole = np.floor(tasks[problem.members] * (1 + LEVEL)).astype(np.int64)
    target = np.minimum(whole, np.array(cluster.most, dtype=object)).astype(np.int64)
    _highest_packed(problem, cluster, target)
    cluster.fill_up(target.tolist())
    cluster.fill_up(cluster.most)
    trade(cluster, problem.deadline)
    answer = packed(problem, [int(x) for x in cluster.tasks], cluster.packing(), status="feasible")
    return replace(answer, whole_part=target) if known else answer


def filled(problem: Problem, start: Answer) -> Answer:
    """Return a packed answer with task after task added while some fit, whose values are lowest going first."""
    return task_by_task(problem, start)


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

    def more(self, p: int, number: int = 1) -> int:
        """Run up to so many more tasks of a member, of several types one; return for how many there was room."""
        sequence, t = self.users.sequences[p], 0
        if len(sequence.rows) > 1:
            t, number = sequence.next_type(self.tasks[p]), 1
        need = self.under[self.users.goods_of[p][t]]
        number = min([number, *(f // d for d, f in zip(need, self.left, strict=True) if d)])
        placed = self.cluster.place(self.place[sequence.rows[t]], number)
        self.tasks[p] += placed
        self.left = [f - placed * d for f, d in zip(self.left, need, strict=True)]
        return placed

    def answer(self, status: str = "feasible") -> Answer:
        """Return what runs."""
        return packed(self.problem, self.tasks, self.cluster.packing(), status)


def task_by_task(problem: Problem, start: Answer | None = None) -> Answer:
    """Return what task after task comes to under rules or with several types, whose values are lowest going first.

    Where time runs out, `GRACE` later at the earliest, that is what runs so far.
    """
    users = WholeUsers(problem.instance, problem.policy, problem.members.tolist())
    filling = TaskByTask(problem, users, start)
    queue = [(s.value(x), p) for p, (s, x) in enumerate(zip(users.scales, filling.tasks, strict=True)) if x < s.most]
    heapq.heapify(queue)
    deadline = Deadline.after(problem.deadline.left(GRACE))
    while queue and deadline.left() > 0:
        _, p = heapq.heappop(queue)
        scale, x = users.scales[p], filling.tasks[p]
        # She stays the lowest until she is worth what the next is: so many tasks are one step.
        number = min(scale.most, max(x + 1, scale.least(queue[0][0]) if queue else scale.most)) - x
        if filling.more(p, number) and filling.tasks[p] < scale.most:
            heapq.heappush(queue, (scale.value(filling.tasks[p]), p))
    return filling.answer()


def _highest_packed(problem: Problem, cluster: SingleMachines, target: np.ndarray) -> None:
    """Leave the cluster with the wishes of the highest level that could be packed."""
    rates = cluster.float_rates
    first = np.zeros(len(target))
    best = (first, np.zeros_like(target))
    # The first look is at everything; nearer than one task of the user with the smallest step nothing changes.
    level = high = float((rates * target).max())
    low = 0.0
    while level > low and high - low > rates.min() and problem.deadline.left():
        wishes = np.minimum(target, np.ceil(level / rates * (1 - LEVEL)).astype(np.int64))
        report(f"packing all tasks up to level {level:.6g}")
        order = _packed(cluster, wishes, first)
        if order is None:
            high = level
        else:
            low, first, best = level, order, (order, wishes)
        level = (low + high) / 2
    cluster.pack(best[1], _before(cluster, best[0]))


def _packed(cluster: SingleMachines, wishes: np.ndarray, first: np.ndarray) -> np.ndarray | None:
    """Return how often each user has to go first for the wishes to be packed; None where they never were."""
    first = first.copy()
    for _ in range(ROUNDS):
        cluster.pack(wishes, _before(cluster, first))
        short = cluster.tasks < wishes
        if not short.any():
            # As it was packed: the order was that of before.
            return first
        first[short] += 1
    return None


def _before(cluster: SingleMachines, first: np.ndarray) -> list[int]:
    return np.lexsort((-cluster.size, -first)).tolist()
