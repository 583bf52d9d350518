"""A feasible allocation of whole tasks to begin with."""

from .problem import Answer, Problem

__all__ = ["filled"]


def filled(problem: Problem) -> Answer:
    """Return whole tasks by a greedy filling of the machines."""
    raise NotImplementedError
