"""Leximin in one pool by progressive filling: in floats, and in rational numbers where floats lose too many digits.

Filling loses digits only where a resource runs out of which nearly all was taken before, by users with lower levels:
who is left divides a difference of nearly equal numbers.  Then the whole filling is done in fractions and rounded at
the end, and the proof is that of the fractions.  In a large pool that takes seconds, so there it is done only when
floats could not be right to the accuracy promised.
"""

from ..problem import Answer, Problem, in_floats
from . import rational, saturations

__all__ = ["solve"]

SMALL, SMALL_MAGNIFIED = 200, 1e4
"""Users up to which fractions cost next to nothing, and what rounding may be magnified by there: to 1e-12 or so."""

MOST, MOST_MAGNIFIED = 20_000, 1e6
"""The same for pools in which fractions take up to some ten seconds, at the edge of 1e-9."""


def solve(problem: Problem) -> Answer:
    """Return the leximin allocation of a pool. Exact up to rounding."""
    tasks, magnified = saturations.fill(problem)
    if magnified > (SMALL_MAGNIFIED if problem.n <= SMALL else MOST_MAGNIFIED) and problem.n <= MOST:
        return in_floats(rational.solve(problem))
    return Answer(tasks)
