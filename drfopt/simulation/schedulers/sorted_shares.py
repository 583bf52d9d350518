"""All shares of a cluster, largest first: how YARN's capacity scheduler and YuniKorn compare two usages.

Ties on the dominant share fall to the second largest share, and so on.  YuniKorn counts a resource that the cluster
does not have by its bare amount, which then dominates every fraction.

Sources: Apache Hadoop YARN, DominantResourceCalculator and TestResourceCalculator.testCompareDominant; Apache
YuniKorn core, pkg/common/resources/resources.go, and resources_test.go, TestCompUsageRatio.
"""

from fractions import Fraction
from itertools import zip_longest

from .amounts import Amounts

__all__ = ["compare_sorted_shares"]


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
