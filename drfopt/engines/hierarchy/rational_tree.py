"""One pool with guarantees, tiers and groups in rational numbers: the same curves as in floats, of fractions."""

from ..problem import Answer, Problem
from .tree_filling import run

__all__ = ["solve"]


def solve(problem: Problem) -> Answer:
    """Return the allocation as `Fraction`s, and the stops of the clock that prove it."""
    return run(problem, exact=True)
