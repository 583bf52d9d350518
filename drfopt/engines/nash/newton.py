"""CEEI and alpha fairness of one pool by Newton's method on the prices: m unknowns, however many users there are.

At given prices everybody's best is known in closed form (`crowd`), so only the prices of the resources are looked for
(`descent`).  They start from those of a sample of the users, and the sample's from those of a smaller one: the first
pass over everybody is a few thousandths from the end, and with 10^6 users about 5 passes are enough.  A sample that
misleads costs passes, and nothing else.

Users meet their first-order conditions by construction; what is left is whether resources are used up, which is brought
down to rounding.  What does not arrive ends in an exception.

Beside the instance this needs the tasks, a sixteenth of the demands for the sample, for alpha other than 1 some vectors
(n,) more, and a megabyte for each thread.  Demands that are a memory-mapped file are read once a pass, a block at a
time.
"""

import numpy as np

from ...base.errors import SolverError, TimeLimitError
from ..problem import Answer, Problem
from .demand_response import Crowd
from .descent import AWAY, EXACT, Descent

__all__ = ["solve"]

EVERY = 16
"""A sample takes one user in so many: what it costs is lost beside a pass over all."""

FEWEST = 1_000
"""Users in the smallest sample: with fewer, the prices of all would be no nearer than those of nobody."""

ROUGH = 1e-3
"""Part of a resource to which a sample is solved: it differs from everybody by more."""


def solve(problem: Problem) -> Answer:
    """Return the optimum and its prices.

    Raises
    ------
    SolverError
        When the prices do not arrive, or are beyond the range of floats; `TimeLimitError` when time runs out.
    """
    crowd, worth = Crowd.of(problem)
    tasks = np.empty(crowd.n)
    # What is free, or beyond the range of floats, makes sums that are not finite, and these are looked at.
    with np.errstate(all="ignore"):
        p = _descended(problem, crowd, tasks)
        prices = p * crowd.unit * worth
    if not np.isfinite(prices).all():
        raise SolverError(f"the prices of {problem.policy.name} are beyond the range of floats: take a smaller alpha")
    return Answer(problem.of_members(tasks), prices=prices[None, :])


def _descended(problem: Problem, crowd: Crowd, tasks: np.ndarray) -> np.ndarray:
    """Return the prices (m,) at the optimum, and write the tasks (n,)."""
    there = crowd.capacity > 0
    p = np.where(there, crowd.money / crowd.m, 0.0)
    bend = None
    for every in _samples(crowd.n):
        try:
            sample = Descent(problem, crowd.sample(every), p, bend)
            p, bend = sample.run(ROUGH), sample.bend
        except TimeLimitError:
            raise
        except SolverError:
            # It is a place to start from; without it the way is longer.
            continue
        # Somebody outside the sample may need what nobody in it does.
        p = np.where(there & (p == 0), AWAY * crowd.money / crowd.n, p)
    return Descent(problem, crowd, p, bend).run(EXACT, tasks)


def _samples(n: int) -> list[int]:
    """Return how many users each one of a sample stands for, the smallest sample first."""
    parts: list[int] = []
    while n >= FEWEST * EVERY ** (len(parts) + 1):
        parts.append(EVERY ** (len(parts) + 1))
    return parts[::-1]
