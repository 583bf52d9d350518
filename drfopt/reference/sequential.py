"""SequentialMinMax: whole tasks of one pool, always to the user whose level after the task would be lowest.

Given   demands         n rows of m, what one task of each user needs; every user needs something
        capacity        m
        rates, limits   n, level of one task under the policy; most tasks, rounded down, None for no limit

Repeat: of the users who are below their limits and whose next task still fits, serve the one whose level after it,
``rates[i] * (tasks[i] + 1)``, is lowest (of equals, the one listed first).  Algorithm 1 looks at the level before the
task instead; the difference matters where tasks are of different sizes.

Of the mechanisms for whole tasks this one gives each user at least what she could run alone on her part of the pool
(rounded down), wastes nothing, and leaves no envy beyond one bundle of the envious user's own; no mechanism does all of
that and is strategy-proof.

Source: Parkes, Procaccia and Shah, Beyond Dominant Resource Fairness, EC 2012, section 5.
"""

from collections.abc import Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush

from .algorithm1 import Limits, Row

__all__ = ["sequential_min_max"]


def sequential_min_max(demands: Sequence[Row], capacity: Row, rates: Row, limits: Limits) -> list[int]:
    """Return the tasks of each user, (n,).

    >>> sequential_min_max([[1], [3]], [4], [Fraction(1, 4), Fraction(3, 4)], [None, None])
    [4, 0]
    """
    tasks, left = [0] * len(demands), [Fraction(amount) for amount in capacity]
    queue = [(Fraction(rate), i) for i, rate in enumerate(rates)]
    heapify(queue)
    while queue:
        level, i = heappop(queue)
        limit = limits[i]
        below = limit is None or tasks[i] + 1 <= limit
        # Who does not fit now never will: what is left only shrinks.
        if below and all(need <= amount for need, amount in zip(demands[i], left, strict=True)):
            left = [amount - need for amount, need in zip(left, demands[i], strict=True)]
            tasks[i] += 1
            heappush(queue, (level + rates[i], i))
    return tasks
