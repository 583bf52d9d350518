"""Levels in integers: what a user holds, measured so that users can be compared exactly.

The share of user i of resource j is ``used[i][j] / totals[j]``, divided by her weight.  Multiplied by one number for
all, large enough, all of these are integers; comparing them costs no fraction and loses nothing.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from .state import ClusterState

__all__ = ["quick", "whole_rates", "whole_weights"]


def quick(value: Fraction) -> tuple[float, Fraction]:
    """Return what compares as the fraction does, and nearly always as fast as a float: rounding keeps the order."""
    return value.numerator / value.denominator, value


def whole_weights(weights: Sequence[Fraction]) -> list[int]:
    """Return n integers: numbers of tasks times these are tasks divided by weights, in a unit common to all."""
    unit = math.lcm(*(weight.numerator for weight in weights))
    whole = [int(unit / weight) for weight in weights]
    step = math.gcd(*whole)
    return [value // step for value in whole]


def whole_rates(cluster: ClusterState, weights: Sequence[Fraction] | None = None) -> list[list[int]]:
    """Return n rows of m integers: held amounts times these are weighted shares, in a unit common to all.

    A resource of which there is nothing at the moment has the rate 0.
    """
    weights = cluster.plan.weights if weights is None else weights
    rates = [
        [1 / (total * weight) if total else Fraction(0) for total in map(Fraction, cluster.totals)]
        for weight in weights
    ]
    unit = math.lcm(*{rate.denominator for row in rates for rate in row})
    whole = [[int(rate * unit) for rate in row] for row in rates]
    step = math.gcd(*(rate for row in whole for rate in row)) or 1
    return [[rate // step for rate in row] for row in whole]
