"""YuniKorn: the share of a queue against what it is guaranteed, and against the cluster where nothing is.

Resource by resource the usage is divided by the guarantee, or by the most that the cluster allows where there is no
guarantee; a denominator that is given as 0 counts as full as soon as it is used.  The largest counts.

Source: Apache YuniKorn core, pkg/common/resources/resources.go, and resources_test.go (TestGetFairShare,
TestCompUsageRatioSeparately).
"""

from dataclasses import dataclass, field
from fractions import Fraction

from .amounts import Amounts

__all__ = ["YunikornQueue", "compare", "fair_share"]


@dataclass(frozen=True)
class YunikornQueue:
    """What a queue uses, what it is guaranteed, and the most that it can be given."""

    used: Amounts
    guaranteed: Amounts = field(default_factory=dict)
    most: Amounts = field(default_factory=dict)


def fair_share(queue: YunikornQueue) -> Fraction:
    """Return the largest fraction of a guarantee, or of the cluster, that the queue uses.

    >>> fair_share(Queue({"cpu": 100, "memory": 2500}, guaranteed={"cpu": 1000, "memory": 5000}))
    Fraction(1, 2)
    """
    largest = Fraction(0)
    for name, amount in queue.used.items():
        bound = queue.guaranteed.get(name, queue.most.get(name))
        if bound is not None and amount > 0:
            largest = max(largest, Fraction(amount) / bound if bound > 0 else Fraction(1))
    return largest


def compare(one: YunikornQueue, other: YunikornQueue) -> int:
    """Return 1 when one has the larger share, and is served later, -1 when the other has, else 0."""
    a, b = fair_share(one), fair_share(other)
    return (a > b) - (a < b)
