"""Armada: the cost of what a queue holds, the shares queues are entitled to, and how far the truth is from them.

Entitlements divide ONE unit of dominant share by weight; what a queue cannot use, for want of demand, is divided again
among the others, for at most ten rounds or until a hundredth is left.  Where demands are complementary the dominant
shares of a fair allocation add up to more than one: these entitlements then are lower than what DRF gives.

Source: Armada, internal/scheduler/scheduling (fairness/fairness.go, context/scheduling.go) and their tests.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ..levels import Amount, Amounts

__all__ = ["ArmadaQueue", "Entitlement", "cost", "entitlements", "fairness_error", "theoretical_share"]


ROUNDS = 10

ENOUGH = Fraction(1, 100)
"""What may be left undivided."""


@dataclass(frozen=True)
class ArmadaQueue:
    """A queue's weight, and its demand as a dominant share of the cluster, which may be more than 1."""

    weight: Amount
    demand: Amount


@dataclass
class Entitlement:
    """A queue's share by weight alone, adjusted up to its demand, and as if its demand had no end."""

    fair: Fraction
    capped: Fraction
    uncapped: Fraction


def cost(held: Amounts, total: Amounts, multipliers: Amounts, weight: Amount = 1) -> Fraction:
    """Return the largest fraction held times its multiplier, over the weight; resources without one count nothing.

    >>> cost({"cpu": 1, "gpu": 1}, {"cpu": 4, "gpu": 4}, {"cpu": 1, "gpu": 2}, weight=2)
    Fraction(1, 4)
    """
    parts = [
        Fraction(multiplier) * Fraction(held.get(name, 0)) / total[name]
        for name, multiplier in multipliers.items()
        if total.get(name, 0) > 0
    ]
    return max(parts, default=Fraction(0)) / Fraction(weight)


def entitlements(queues: Mapping[str, ArmadaQueue]) -> dict[str, Entitlement]:
    """Return what each queue is entitled to."""
    whole = sum((Fraction(queue.weight) for queue in queues.values()), Fraction(0))
    found = {name: Entitlement(Fraction(q.weight) / whole, Fraction(0), Fraction(0)) for name, q in queues.items()}
    spare = {name: Fraction(0) for name in queues}
    content: set[str] = set()
    rest = Fraction(1)
    for _ in range(ROUNDS):
        if rest <= ENOUGH:
            break
        weight = sum((Fraction(q.weight) for name, q in queues.items() if name not in content), Fraction(0))
        for name, queue in queues.items():
            own = Fraction(queue.weight)
            # What she handed back is not given back to her: with no end to her demand she would have kept it.
            found[name].uncapped += own / (weight + own if name in content else weight) * (rest - spare[name])
        if not weight:
            break
        for name in queues.keys() - content:
            found[name].capped += Fraction(queues[name].weight) / weight * rest
        for name, queue in queues.items():
            spare[name] = max(Fraction(0), found[name].capped - Fraction(queue.demand))
            if spare[name]:
                found[name].capped = Fraction(queue.demand)
                content.add(name)
        rest = sum(spare.values(), Fraction(0))
    return found


def theoretical_share(queues: Mapping[str, ArmadaQueue], weight: Amount) -> Fraction:
    """Return the share that one more queue of this weight, with no end to its demand, would be entitled to."""
    newcomer = max(queues, key=len, default="") + "+"
    # Nobody can hold more than the whole, so that a demand of 1 has no end.
    return entitlements({**queues, newcomer: ArmadaQueue(weight, 1)})[newcomer].capped


def fairness_error(held: Mapping[str, Amount], entitled: Mapping[str, Amount]) -> Fraction:
    """Return the sum, over the queues, of what their dominant shares lack of what they are entitled to."""
    return sum((max(Fraction(0), Fraction(entitled[name]) - held.get(name, 0)) for name in entitled), Fraction(0))
