"""CEEI and alpha fairness by the interior point method in decimals, for users who differ by more than floats."""

from ...base.errors import SolverError
from ..problem import Answer, Problem
from .conditions import Conditions
from .decimal_program import optimum

__all__ = ["solve"]

DIGITS = 40
"""Digits of the products for an answer in floats: what holds exactly at the optimum is known to half of them."""


def solve(problem: Problem) -> Answer:
    """Return the optimum and its prices, rounded to floats; the optimum is the evidence."""
    market = Conditions(problem)
    try:
        return market.pointed(*market.settled(optimum(market.in_decimals(), DIGITS)))
    except OverflowError:
        raise SolverError(f"the prices of {problem.policy.name} are beyond the range of floats") from None
