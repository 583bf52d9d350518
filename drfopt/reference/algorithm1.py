"""Algorithm 1 of the DRF paper: whole tasks, one at a time, always to the user whose level is lowest.

Given   demands         n rows of m, what one task of each user needs; every user needs something
        machines        k pairs: what one machine of a class has (m), and their count; a pool is one machine
        rates, limits   n, level of one task under the policy; most tasks, rounded down, None for no limit
        eligible        n rows of k, the classes each user may use; None for all

Repeat: take the user with the lowest level ``rates[i] * tasks[i]`` who is below her limit (of equals, the one
listed first); start one task of hers on the first machine on which it fits, in the order of the file, copies
of a class one after the other.  What happens when it fits nowhere is the one choice, `when_full`:

    skip   she is passed over for good, since what is free only shrinks; Pareto efficient on one pool
    stop   everything ends, as printed in the paper, though there may be room for others; of two users below
           their limits the higher is then at most one task of hers ahead

SequentialMinMax is the same with one difference, `ahead`: it takes the user whose level *after* her next task would be
lowest, which matters where tasks are of different sizes.  Of the mechanisms for whole tasks in one pool it gives each
user what she could run alone on her part (rounded down), wastes nothing, and leaves no envy beyond one bundle.

Sources: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, Algorithm 1, Table 1 and Theorem 7;
Parkes, Procaccia and Shah, Beyond Dominant Resource Fairness, EC 2012, section 5, for SequentialMinMax.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush
from typing import NamedTuple

__all__ = ["Step", "discrete_filling", "placements"]

Row = Sequence[Fraction]
Machines = Sequence[tuple[Row, int]]
Limits = Sequence[Fraction | None]
Classes = Sequence[Sequence[bool]] | None


class Step(NamedTuple):
    """A row of the paper's Table 1: who is served, on which class, and shares (n,) and use (m,) after it."""

    user: int
    machine: int
    dominant_shares: tuple[Fraction, ...]
    used: tuple[Fraction, ...]


def placements(
    demands: Sequence[Row],
    machines: Machines,
    rates: Row,
    limits: Limits,
    when_full: str,
    eligible: Classes,
    ahead: int = 0,
) -> Iterator[tuple[int, int]]:
    """Yield the tasks in the order in which they start: which user, on which machine class."""
    free: list[list[list[Fraction]]] = [[] for _ in machines]

    def rooms(i: int) -> Iterator[tuple[int, list[Fraction]]]:
        """Yield the machine for each further task of user i; one that refused her never takes one again."""
        for k, (row, count) in enumerate(machines):
            if (eligible is None or eligible[i][k]) and _fits(demands[i], row):
                for copy in range(count):
                    if copy == len(free[k]):
                        free[k].append(list(row))
                    while _fits(demands[i], free[k][copy]):
                        yield k, free[k][copy]

    search = [rooms(i) for i in range(len(demands))]
    queue = [(rates[i] * ahead, i, 1) for i in range(len(demands))]
    heapify(queue)
    while queue:
        _, i, task = heappop(queue)
        if (limit := limits[i]) is not None and task > limit:
            continue
        if found := next(search[i], None):
            k, room = found
            room[:] = [amount - need for amount, need in zip(room, demands[i], strict=True)]
            heappush(queue, (rates[i] * (task + ahead), i, task + 1))
            yield i, k
        elif when_full == "stop":
            return


def discrete_filling(
    demands: Sequence[Row],
    machines: Machines,
    rates: Row,
    limits: Limits,
    when_full: str = "skip",
    eligible: Classes = None,
    ahead: int = 0,
) -> tuple[list[int], list[Step]]:
    """Return the tasks of each user, (n,), and every step on the way; `placements` alone keeps none.

    >>> tasks, steps = discrete_filling([[3, 1], [1, 4]], [([9, 18], 1)], [3, 2], [None, None])
    >>> tasks, ["BA"[step.user] for step in steps]
    ([2, 3], ['B', 'A', 'A', 'B', 'A'])
    """
    total = [sum((row[j] * count for row, count in machines), Fraction(0)) for j in range(len(demands[0]))]
    dominant = [max(d / c if c else Fraction(0) for d, c in zip(row, total, strict=True)) for row in demands]
    tasks, shares = [0] * len(demands), [Fraction(0)] * len(demands)
    used, steps = [Fraction(0)] * len(total), []
    for user, machine in placements(demands, machines, rates, limits, when_full, eligible, ahead):
        tasks[user] += 1
        shares[user] = tasks[user] * dominant[user]
        used = [u + d for u, d in zip(used, demands[user], strict=True)]
        steps.append(Step(user, machine, tuple(shares), tuple(used)))
    return tasks, steps


def _fits(task: Row, room: Row) -> bool:
    return all(need <= amount for need, amount in zip(task, room, strict=True))
