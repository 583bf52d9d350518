"""Levels in integers: what a user holds, measured so that users can be compared exactly.

The share of user i of resource j is ``used[i][j] / totals[j]``, divided by her weight.  Multiplied by one number for
all, large enough, all of these are integers; comparing them costs no fraction and loses nothing.

What users are guaranteed, in a plan's integers.

What users ask for: what runs and what waits.

Amounts of resources by name, exact, as the schedulers' decisions take them.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .plan import ENDLESS, Plan
from .state import ClusterState

__all__ = [
    "Amount",
    "Amounts",
    "Requests",
    "added",
    "dominant_share",
    "fits",
    "quick",
    "rows_of",
    "whole_guarantees",
    "whole_rates",
    "whole_weights",
]


@lru_cache(maxsize=2**14)
def _quick(numerator: int, denominator: int) -> tuple[float, Fraction]:
    return numerator / denominator, Fraction(numerator, denominator)


def quick(numerator: int, denominator: int) -> tuple[float, Fraction]:
    """Return what compares as the quotient does, and as fast as a float: rounding keeps the order.

    Where floats tie, the fractions are nearly always the same object, which needs no comparison.
    """
    step = math.gcd(numerator, denominator)
    return _quick(numerator // step, denominator // step)


def rows_of(*columns: Sequence[int | Fraction], most: int | Fraction) -> list[NDArray[Any]]:
    """Return rows of amounts: in machine integers where `most` bounds what is made of them, else as they are."""
    fast = type(most) is int and most < 2**62
    return [np.array(column, dtype=np.int64 if fast else object) for column in columns]


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


def whole_guarantees(plan: Plan) -> list[list[int]]:
    """Return n rows of m, rounded down to the plan's units."""
    resources = plan.scenario.resources
    return [
        [int(user.guarantee.get(name, 0) * unit) for name, unit in zip(resources, plan.units, strict=True)]
        for user in plan.scenario.users
    ]


class Requests:
    """What each user asks for of each resource, in the plan's units, and no more than there is.

    Attributes
    ----------
    columns : m lists of n
    """

    def __init__(self, cluster: ClusterState):
        self.columns = [[0] * cluster.n for _ in range(cluster.m)]

    def renew(self, cluster: ClusterState, users: Iterable[int]) -> list[tuple[int, int]]:
        """Look at users again who hold or want something else, and return the users and resources that changed."""
        changed = []
        for user in users:
            for j, (amount, total) in enumerate(zip(_wanted(cluster, user), cluster.totals, strict=True)):
                asked = min(amount, total)
                if self.columns[j][user] != asked:
                    self.columns[j][user] = asked
                    changed.append((user, j))
        return changed


def _wanted(cluster: ClusterState, user: int) -> list[int]:
    """Return what the tasks of a user need that run or wait; of tasks without end all there is."""
    if cluster.waiting[user] < ENDLESS // 2:
        return cluster.wanted[user]
    row = list(cluster.used[user])
    for lot in (lot for line in cluster.queues[user].values() for lot in line):
        for j, need in enumerate(cluster.demands[lot.kind]):
            row[j] += need * lot.waiting if lot.waiting < ENDLESS // 2 else cluster.totals[j] * bool(need)
    return row


Amount = int | Fraction

Amounts = Mapping[str, Amount]
"""Resource to amount; a resource that is not listed is 0."""


def added(*parts: Amounts) -> dict[str, Amount]:
    """Return the sum, resource by resource."""
    total = dict(parts[0]) if parts else {}
    for part in parts[1:]:
        for resource, amount in part.items():
            total[resource] = total.get(resource, 0) + amount
    return total


def dominant_share(held: Amounts, total: Amounts, excluded: Collection[str] = ()) -> Fraction:
    """Return the largest fraction of a resource that is held; resources of no amount, or excluded, do not count."""
    shares = [
        Fraction(held.get(resource, 0)) / Fraction(amount)
        for resource, amount in total.items()
        if amount > 0 and resource not in excluded
    ]
    return max(shares, default=Fraction(0))


def fits(need: Amounts, room: Amounts) -> bool:
    """Return whether everything needed is there."""
    return all(amount <= room.get(resource, 0) for resource, amount in need.items())
