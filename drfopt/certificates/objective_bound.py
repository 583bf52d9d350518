"""How a bound of a sum, product or alpha utility of whole tasks is told: in levels, or in a mean of tasks or levels."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ..base.numbers.shown import and_at_most, counted
from ..model.whole_values import WholeUsers
from .exhaustive_search import powers
from .sequence_bound import most_served, room_above

__all__ = ["ObjectiveBound", "told"]

LARGEST = 300.0
"""Logarithm of a factor beyond which a bound is no number that anybody reads."""

ROUNDED = 1 + 2.0**-40
"""What the bound of a mean is raised by, since it is computed in floats."""


@dataclass(frozen=True)
class ObjectiveBound:
    """What tasks come to, what nothing exceeds, and the sentence that says so."""

    value: Fraction
    bound: Fraction
    words: str
    gap: float


def told(users: WholeUsers, own: Sequence[int], more: Fraction | None, tier: int = 0) -> ObjectiveBound:
    """Return what is known of tasks of the members that can be exceeded by so much at most; None: as prices say.

    Of several tiers it is of one, to which those before it leave no more.  Where somebody has nothing, more users
    served would be better than any product: how many can be is told first.
    """
    found = _of_tier(users, own, more, tier)
    if len(users.tiers) == 1:
        return found
    return replace(found, words=f"{counted(tier, 'tier')} proven; of the next {found.words}")


def _of_tier(users: WholeUsers, own: Sequence[int], more: Fraction | None, tier: int) -> ObjectiveBound:
    mine = users.tiers[tier]
    if users.serving and not all(own[p] for p in mine):
        served, most = sum(bool(own[p]) for p in mine), most_served(users, own, tier)
        if served < most:
            words = f"{served} of {len(mine)} users have a task, and {most} can at most"
            return ObjectiveBound(Fraction(served), Fraction(most), words, 1 - served / most)
        if not served:  # A mean of nobody is no number.
            return ObjectiveBound(Fraction(0), Fraction(0), "nobody has a task, and nobody can", 0.0)
        more = None
    if more is None:
        more = room_above(users, own, tier)
    if users.policy.objective == "sum":
        return _sum(users, own, more, mine)
    return (_product if users.policy.alpha == 1 else _utility)(users, own, more, mine)


def _sum(users: WholeUsers, own: Sequence[int], more: Fraction, mine: Sequence[int]) -> ObjectiveBound:
    value = sum((users.rates[p] * own[p] for p in mine), Fraction(0))
    bound = value + more
    words = f"the sum is {and_at_most(float(value), float(bound))}"
    return ObjectiveBound(value, bound, words, float(more / bound) if bound else 0.0)


def _product(users: WholeUsers, own: Sequence[int], more: Fraction, mine: Sequence[int]) -> ObjectiveBound:
    # The mean is told, weighted and geometric: the product itself may be beyond all numbers.
    raised = powers(users.incomes)
    served = [(raised[p], own[p]) for p in mine if own[p]]
    whole = sum(w for w, _ in served) or 1
    value = Fraction(math.exp(math.fsum(w * math.log(x) for w, x in served) / whole))
    factor = math.exp(min(float(more / whole), LARGEST)) * ROUNDED
    mean, bound = f"{_weighted(users, mine)}geometric mean of tasks", value * Fraction(factor)
    words = f"the {mean} is {and_at_most(float(value), float(bound))}"
    return ObjectiveBound(value, bound, words, 1 - 1 / factor)


def _utility(users: WholeUsers, own: Sequence[int], more: Fraction, mine: Sequence[int]) -> ObjectiveBound:
    most = _mean(users, own, mine, more)
    if most is None:
        # Nobody has more than alone, and no mean of some is more than the largest.
        all_served = not users.serving or all(own[p] for p in mine)
        alone = float(max((users.market_rates[p] * users.most[p] for p in mine), default=Fraction(0)))
        most = (_mean(users, users.most, mine) if all_served else None) or alone
    value = Fraction(_mean(users, own, mine) or 0)
    bound = max(value, Fraction(most * ROUNDED))
    mean = f"{_weighted(users, mine)}power mean of levels"
    words = f"the {mean} is {and_at_most(float(value), float(bound))}"
    return ObjectiveBound(value, bound, words, 1 - float(value / bound) if bound else 0.0)


def _weighted(users: WholeUsers, mine: Sequence[int]) -> str:
    return "weighted " if len({users.incomes[p] for p in mine}) > 1 else ""


def _mean(users: WholeUsers, tasks: Sequence[int], mine: Sequence[int], more: Fraction = Fraction(0)) -> float | None:
    """Return the weighted power mean of the levels of tasks, were the sum of utilities so much larger.

    Above alpha = 1 of those who are served.  None where that is beyond all numbers.
    """
    power = 1 - users.policy.alpha
    rows = [
        (float(users.incomes[p]), float(users.market_rates[p] * tasks[p]))
        for p in mine
        if tasks[p] or not users.serving
    ]
    if not any(y for _, y in rows):
        return None if more else 0.0
    # Powers of parts of the lowest level, or of the highest, are 1 at most.
    unit = min(y for _, y in rows) if power < 0 else max(y for _, y in rows)
    found = sum(m * (y / unit) ** power for m, y in rows if y)
    try:
        found += power * float(more) * math.exp(-power * math.log(unit))
    except OverflowError:
        return None
    return float(unit * (found / sum(m for m, _ in rows)) ** (1 / power)) if found > 0 else None
