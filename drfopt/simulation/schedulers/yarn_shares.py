"""YARN's fair scheduler: the fair share of each queue of one resource, in whole units.

A queue's share is ``ratio * weight``, not below its minimum nor above its maximum, rounded down; the ratio is the one
at which the shares use up the resource, searched by halving an interval 25 times.  Every resource is shared out on its
own, under the DRF policy too: what comes of it is in general no allocation for anybody's demands.  Rounding down, and
halving no further, leave up to a unit a queue to nobody.

YARN computes in doubles, here it is in fractions.  Where every queue below its maximum has weight 0, YARN's search for
an upper bound does not end; here the queues keep their minimum shares.

Source: Apache Hadoop, ComputeFairShares.java and TestComputeFairShares.java.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .amounts import Amount

__all__ = ["ShareBounds", "fair_shares"]

HALVINGS = 25


@dataclass(frozen=True)
class ShareBounds:
    """A queue's weight and the bounds of its share of one resource; no maximum is None."""

    minimum: int = 0
    maximum: int | None = None
    weight: Amount = 1


def fair_shares(total: int, claims: Sequence[ShareBounds]) -> list[int]:
    """Return the fair share of each queue.

    >>> fair_shares(40, [Claim(), Claim(maximum=50), Claim(maximum=11), Claim(maximum=3)])
    [13, 13, 11, 3]
    """
    bounded = all(claim.maximum is not None for claim in claims)
    wanted = min(total, sum(claim.maximum or 0 for claim in claims)) if bounded else total
    steepest = min((Fraction(claim.weight) for claim in claims if claim.weight > 0), default=None)
    if steepest is None:
        return _at(Fraction(0), claims)
    high = Fraction(1)
    # Once every queue with a weight could have it all, doubling further changes nothing.
    while sum(_at(high, claims)) < wanted and high * steepest <= wanted:
        high *= 2
    low = Fraction(0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        used = sum(_at(middle, claims))
        if used < wanted:
            low = middle
        else:
            high = middle
        if used == wanted:
            break
    return _at(high, claims)


def _at(ratio: Fraction, claims: Sequence[ShareBounds]) -> list[int]:
    found = []
    for claim in claims:
        share = max(ratio * Fraction(claim.weight), Fraction(claim.minimum))
        found.append(math.floor(share if claim.maximum is None else min(share, Fraction(claim.maximum))))
    return found
