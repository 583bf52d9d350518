"""How high can a level in the sorted vector be at most? An exact bound that needs no solver."""

import math
from fractions import Fraction

from ..model.instance import Instance
from ..model.packings import most_alone
from ..model.policies import Policy
from .exhaustive_search import playing

__all__ = ["highest"]


def highest(instance: Instance, policy: Policy, below: int) -> Fraction:
    """Return a level that the next lowest user cannot exceed, when so many users are below her.

    All but those must reach it, so of every resource of the whole cluster the smallest needs of so many users must
    fit together, whoever they are; machines can only make it harder.  The bound is a level that some user can have.
    """
    members = playing(instance)
    rates = policy.exact_rates(instance)
    most = {i: most_alone(instance, i) for i in members}
    number = len(members) - below

    def possible(level: Fraction) -> bool:
        needs = {i: math.ceil(level / rates[i]) for i in members}
        able = [i for i in members if needs[i] <= most[i]]
        if len(able) < number:
            return False
        for j, total in enumerate(instance.exact_capacity):
            amounts = sorted(needs[i] * instance.exact_demands[i][j] for i in able)
            if sum(amounts[:number], Fraction(0)) > total:
                return False
        return True

    # Nothing changes between two levels at which no need changes: the levels that count are those users can have.
    low, high = Fraction(0), max((rates[i] * most[i] for i in members), default=Fraction(0))
    if number <= 0 or possible(high):
        return high
    while True:
        ranges = [(rates[i], math.floor(low / rates[i]) + 1, math.floor(high / rates[i])) for i in members]
        if sum(max(0, last - first + 1) for _, first, last in ranges) <= 4 * len(members):
            break
        middle = (low + high) / 2
        low, high = (middle, high) if possible(middle) else (low, middle)
    candidates = sorted({rate * x for rate, first, last in ranges for x in range(first, last + 1)})
    first, last = 0, len(candidates)
    while first < last:
        middle_ = (first + last + 1) // 2
        first, last = (middle_, last) if possible(candidates[middle_ - 1]) else (first, middle_ - 1)
    return (
        candidates[first - 1] if first else max(rate * math.floor(low / rate) for rate in (rates[i] for i in members))
    )
