"""A question about one pool of a million users and more: what everything costs, from the arrays to the proven answer.

What is timed is ``solve(Instance(arrays), policy)``: the checks at the door, one copy of the demands, the engine that
``auto`` takes, and the certificate. A row is one family at one size, and its ruler is D.sum() on the same array.
"""

import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from drfopt.model.allocation import Allocation
from drfopt.model.instance import Instance
from drfopt.solving.allocating import solve

from .families import family_named
from .measure import Bench, Case, Row, Verdict, Way, proven
from .pools import SUM

__all__ = ["Arrays", "Size", "arrays", "measured_as"]

PATIENCE = 6
"""Times the budget of other questions: ten million users take seconds, and one run on a shared machine says little."""


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


def measured_as(question: str) -> Callable[[Bench, Size], list[Row]]:
    """Return the runner of the question of that name: the ruler, the door alone, and everything."""

    def measure(bench: Bench, size: Size) -> list[Row]:
        case = Case(
            group=size.policy,
            name="from the arrays to the proof",
            n=size.n,
            build=lambda: arrays(size.family, size.n),
            ways=(
                SUM,
                Way("Instance(...)", "drfopt", Arrays.instance),
                Way(
                    "solve(Instance(...))",
                    "drfopt",
                    lambda given: _solved(given, size, bench),
                    lambda given, allocation: _judged(given, size, allocation),
                ),
            ),
        )
        rows = replace(bench, budget=PATIENCE * bench.budget).measure(question, case)
        # All sizes of a policy stand in one table, so a way is called by its size too.
        return [replace(row, way=f"{row.way}, {size}") for row in rows]

    return measure


def _solved(given: Arrays, size: Size, bench: Bench) -> Allocation:
    return solve(given.instance(), size.policy, time_limit=bench.limit)


def _judged(given: Arrays, size: Size, allocation: Allocation) -> Verdict:
    """Return the certificate's verdict, and the memory that finding the answer once more takes."""
    tracemalloc.start()
    engine = solve(given.instance(), size.policy).engine
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return replace(proven(allocation.certificate, note=f"engine {engine}"), memory=peak / given.demands.nbytes)
