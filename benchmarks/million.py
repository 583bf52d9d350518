"""A question about one pool of a million users and more: what everything costs, from the arrays to the proven answer.

What is timed is ``solve(Instance(arrays), policy)``: the checks at the door, one copy of the demands, the engine that
``auto`` takes, and the certificate. A row is one family at one size, and its ruler is D.sum() on the same array.
"""

import tracemalloc
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from drfopt.allocation import Allocation
from drfopt.instance import Instance
from drfopt.solve import solve

from .families import family_named
from .measure import Bench, Case, Row, Verdict, Way, proven
from .pools import SUM

__all__ = ["Arrays", "Size", "arrays", "measure", "measured_as"]


@dataclass(frozen=True)
class Size:
    """One row: a policy, a family of pools and a number of users."""

    policy: str
    family: str
    n: int

    def __str__(self) -> str:
        return f"{self.family}, n = {self.n:,}"


@dataclass(frozen=True, eq=False)
class Arrays:
    """What a user has before there is an instance: demands (n, m) row by row, capacity (m,), limits (n,) or None."""

    demands: np.ndarray
    capacity: np.ndarray
    limits: np.ndarray | None

    def instance(self) -> Instance:
        return Instance(self.demands, self.capacity, max_tasks=self.limits)


@lru_cache(maxsize=1)
def arrays(family: str, n: int) -> Arrays:
    """Return the arrays of one pool; the last ones are kept, for making them takes longer than solving them."""
    made = family_named(family).build(n)
    limits = np.array(made.limits) if np.isfinite(made.limits).any() else None
    return Arrays(np.array(made.demands, order="C"), np.array(made.capacity), limits)


def measure(bench: Bench, size: Size, question: str) -> list[Row]:
    """Measure one size: the ruler, the door alone, and everything."""
    case = Case(
        group=size.policy,
        name="from the arrays to the proof",
        n=size.n,
        build=lambda: arrays(size.family, size.n),
        ways=(
            SUM,
            Way("Instance(...)", "drfopt", Arrays.instance),
            Way("solve(Instance(...))", "drfopt", lambda given: _solved(given, size, bench), judge(size)),
        ),
    )
    # All sizes of a policy stand in one table, so a way is called by its size too.
    return [replace(row, way=f"{row.way}, {size}") for row in bench.measure(question, case)]


def measured_as(question: str):
    """Return the runner of a question of that name."""
    return lambda bench, size: measure(bench, size, question)


def _solved(given: Arrays, size: Size, bench: Bench) -> Allocation:
    return solve(given.instance(), size.policy, time_limit=bench.limit)


def judge(size: Size):
    """Return what looks at an answer: its certificate, and the memory that finding it once more takes."""

    def look(given: Arrays, allocation: Allocation) -> Verdict:
        tracemalloc.start()
        again = solve(given.instance(), size.policy)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        note = f"engine {again.engine}"
        return replace(proven(allocation.certificate, note=note), memory=peak / given.demands.nbytes)

    return look
