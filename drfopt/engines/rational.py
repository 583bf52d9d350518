"""Progressive filling of one pool in rational numbers: the reference, as an engine for exact answers."""

import numpy as np

from ..reference.filling import progressive_filling
from .problem import Answer, Problem

__all__ = ["solve"]


def solve(problem: Problem) -> Answer:
    """Return the leximin allocation of a pool as `Fraction`s."""
    instance, members = problem.instance, problem.members.tolist()
    rates = problem.policy.exact_rates(instance)
    tasks = progressive_filling(
        [instance.exact_demands[i] for i in members],
        instance.exact_capacity,
        [rates[i] for i in members],
        [instance.exact_limits[i] for i in members],
    )
    return Answer(np.array(tasks, dtype=object))
