"""The Nash product with whole tasks in one pool, by an exact search near the prices of the continuous optimum.

Allocations whose loss against a bound is at most R are listed by `drfopt.certificates.meet_in_the_middle`; R grows
until one is found, and the best of all that lose no more than it is the optimum.  The work grows steeply with R and
little with the number of users: with more of them the optimum is nearer to the bound.  Where not all users can have a
task at once, or there are too many allocations to list, the program of `totals` decides.
"""

import heapq
import math
from dataclasses import replace

import numpy as np

from ...base.errors import TimeLimitError
from ...base.progress import report
from ...certificates.meet_in_the_middle import MeetInTheMiddle, TooManyChoices
from ..problem import Answer, Problem
from . import totals
from .milp import SEARCH

__all__ = ["solve"]

GROWTH = ((1_000, 2.0), (50_000, 1.35), (math.inf, 1.15))
"""Factors by which the loss grows after a search with so many choices at most: a longer list must not be overshot."""

EVEN = 0.6
"""Part of the loss that a half may take in the search for a first allocation."""

SMALLEST = 1e-7
"""First loss, of the greedy allocation's and per unit of weight: next to nothing is listed."""


def solve(problem: Problem) -> Answer:
    """Return whole tasks of the largest product; where time runs out, those of a greedy filling."""
    try:
        halves = MeetInTheMiddle(problem.instance, problem.members.tolist())
    except TooManyChoices:
        return _program(problem)
    if not halves.fit:
        return _program(problem)
    tasks = _greedy(halves)
    most = halves.loss(tasks)
    deadline = problem.deadline.part(SEARCH)
    loss = SMALLEST * float(halves.weights.sum())
    try:
        while True:
            loss = min(loss, most)
            report(f"product: allocations within {loss:.3g} of the bound")
            found = halves.within(loss, deadline, EVEN)
            if found is not None or loss >= most:
                tasks = found or tasks
                report(f"product: all allocations within {halves.loss(tasks):.3g} of the bound")
                best = halves.within(max(0.0, halves.loss(tasks)), deadline)
                return Answer(np.array(best or tasks, dtype=np.int64))
            loss *= next(factor for most_listed, factor in GROWTH if halves.listed <= most_listed)
    except TooManyChoices:
        return _program(problem)
    except TimeLimitError:
        return Answer(np.array(tasks, dtype=np.int64), status="time_limit")


def _program(problem: Problem) -> Answer:
    return replace(totals.solve_product(problem), engine="nash-milp")


def _greedy(halves: MeetInTheMiddle) -> list[int]:
    """Return tasks that fit: each user's best, scaled down, then one task after the other where it gains most."""
    room, rows = halves.room, halves.rows

    def fits(tasks: list[int]) -> bool:
        return all(sum(x * row[j] for x, row in zip(tasks, rows, strict=True)) <= total for j, total in enumerate(room))

    low, high = 0, 1 << 40
    best = halves.best.tolist()

    def scaled(part: int) -> list[int]:
        return [max(1, x * part >> 40) for x in best]

    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(scaled(middle)) else (low, middle)
    tasks = scaled(high) if fits(scaled(high)) else scaled(low)
    left = [total - sum(x * row[j] for x, row in zip(tasks, rows, strict=True)) for j, total in enumerate(room)]
    queue = [(-w * math.log1p(1 / x), i) for i, (w, x) in enumerate(zip(halves.weights.tolist(), tasks, strict=True))]
    heapq.heapify(queue)
    while queue:
        _, i = heapq.heappop(queue)
        if tasks[i] < halves.most[i] and all(d <= f for d, f in zip(rows[i], left, strict=True)):
            tasks[i] += 1
            left = [f - d for d, f in zip(rows[i], left, strict=True)]
            heapq.heappush(queue, (-halves.weights[i] * math.log1p(1 / tasks[i]), i))
    return tasks
