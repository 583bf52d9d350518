"""YuniKorn: higher tiers first, then the lowest share of what is guaranteed, of the cluster where nothing is.

Tiers are priorities: a group is as urgent as its most urgent member of whom a task waits and fits, so that the highest
tier is served first wherever it is.  Then groups are compared before their members.  Weights play no part, as queues of
YuniKorn have none.

Source: Apache YuniKorn core, pkg/scheduler/objects (sorting of queues by fairness) and pkg/common/resources.

YuniKorn: the share of a queue against what it is guaranteed, and against the cluster where nothing is.

Resource by resource the usage is divided by the guarantee, or by the most that the cluster allows where there is no
guarantee; a denominator that is given as 0 counts as full as soon as it is used.  The largest counts.

Source: Apache YuniKorn core, pkg/common/resources/resources.go, and resources_test.go (TestGetFairShare,
TestCompUsageRatioSeparately).

All shares of a cluster, largest first: how YARN's capacity scheduler and YuniKorn compare two usages.

Ties on the dominant share fall to the second largest share, and so on.  YuniKorn counts a resource that the cluster
does not have by its bare amount, which then dominates every fraction.

Sources: Apache Hadoop YARN, DominantResourceCalculator and TestResourceCalculator.testCompareDominant; Apache
YuniKorn core, pkg/common/resources/resources.go, and resources_test.go, TestCompUsageRatio.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import zip_longest
from operator import mul

from ..levels import Amount, Amounts
from ..state import ClusterState
from .hierarchy import Hierarchy, ShareNode

__all__ = ["Yunikorn", "YunikornQueue", "compare", "compare_sorted_shares", "fair_share"]


class Yunikorn(Hierarchy):
    """Serve the highest tier, and there the lowest share of the guarantee."""

    def __init__(self) -> None:
        super().__init__("sum")
        self.name = "yunikorn"

    def weights(self, cluster: ClusterState, paths: Sequence[str]) -> dict[str, Amount]:
        """Return none."""
        return {}

    def turn(self, cluster: ClusterState, asking: Mapping[int, int]) -> int | None:
        """Return whose turn it is among those of the highest tier."""
        tiers = self._tiers
        highest = max((tiers[user] for user in asking), default=0)
        return super().turn(cluster, {user: asking[user] for user in asking if tiers[user] == highest})

    def begin(self, cluster: ClusterState) -> None:
        """Take note of the tiers."""
        self._tiers = [user.tier for user in cluster.plan.scenario.users]
        super().begin(cluster)

    def bounds(self, node: ShareNode) -> list[int]:
        """Return what the node is guaranteed; a resource of which nothing is guaranteed is measured on the cluster."""
        return [promised or total for promised, total in zip(self.guaranteed[node.name], self.totals, strict=True)]

    def standing(self, cluster: ClusterState, user: int, used: list[int], running: int) -> Amount:
        """Return the share of the guarantee of who holds so much, in a unit common to all."""
        return max(map(mul, used, self._leaves[user].rates))


@dataclass(frozen=True)
class YunikornQueue:
    """What a queue uses, what it is guaranteed, and the most that it can be given."""

    used: Amounts
    guaranteed: Amounts = field(default_factory=dict)
    most: Amounts = field(default_factory=dict)


def fair_share(queue: YunikornQueue) -> Fraction:
    """Return the largest fraction of a guarantee, or of the cluster, that the queue uses.

    >>> fair_share(YunikornQueue({"cpu": 100, "memory": 2500}, guaranteed={"cpu": 1000, "memory": 5000}))
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


def compare_sorted_shares(one: Amounts, other: Amounts, total: Amounts) -> int:
    """Return -1, 0 or 1 as one holds less than, as much as, or more than the other.

    >>> compare_sorted_shares({"cpu": 2, "memory": 1}, {"cpu": 1, "memory": 2}, {"cpu": 4, "memory": 4})
    0
    """
    for a, b in zip_longest(_sorted(one, total), _sorted(other, total), fillvalue=Fraction(0)):
        if a != b:
            return 1 if a > b else -1
    return 0


def _sorted(held: Amounts, total: Amounts) -> list[Fraction]:
    return sorted((Fraction(amount) / (total.get(name, 0) or 1) for name, amount in held.items()), reverse=True)
