"""Levels along a path of bundles in floats: the fractions of `rational_path` and their proof, rounded."""

from ..problem import Answer, Problem, in_floats
from . import rational_path

__all__ = ["solve"]


def solve(problem: Problem) -> Answer:
    """Return the leximin allocation along the path, to the last digit."""
    return in_floats(rational_path.solve(problem))
