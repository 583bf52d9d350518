"""YARN's fair scheduler with its DRF policy: queues and applications compared by dominant share, needy ones first.

``yarn:intended`` compares without faults; ``yarn:hadoop-2``, ``yarn:hadoop-3`` and ``yarn:hadoop-3-fixed`` do as the
code did (`drfopt.simulation.rules.yarn`).  The groups of the scenario are queues, users are applications; a
minimum share is the guarantee, of a queue the sum of its users'.  A task is placed as soon as something changes; the
real one waits for the next heartbeat of a node.

Source: Apache Hadoop, scheduler/fair/policies/DominantResourceFairnessPolicy.java.

YARN's fair scheduler: which of two queues is served first under its DRF policy, and what is wrong with it.

A queue is *needy* when it uses less than its minimum share of its dominant resource.  Needy queues go first; two needy
ones are compared by usage over minimum share, two others by usage over capacity and weight, in each queue's own order
of dominance; then the earlier start goes first, then the name.

Without faults the order here is that of a key of each queue, hence transitive.  The scheduler's own code differs:

========================  =================================================================================
``nan-ties``              a minimum share of 0 that is not used is 0/0, which compares equal to everything: the
                          comparison can go round in a circle
``tie-to-first``          of resources tied for dominance only the first counts for being needy: an idle queue is
                          needy for memory and never for cores (since Hadoop 3)
``tie-to-last``           the same with the last: needy for cores and never for memory (Hadoop 2)
``start-overflow``        start times are subtracted in 32 bits: after 24.8 days the later one goes first (Hadoop 2)
``yarn-11482``            whether the second queue is needy is read from the usage of the first
========================  =================================================================================

Sources: Apache Hadoop, DominantResourceFairnessPolicy.java and its test; issue YARN-11482.

YARN's fair scheduler: the fair share of each queue of one resource, in whole units.

A queue's share is ``ratio * weight``, not below its minimum nor above its maximum, rounded down; the ratio is the one
at which the shares use up the resource, searched by halving an interval 25 times.  Every resource is shared out on its
own, under the DRF policy too: what comes of it is in general no allocation for anybody's demands.  Rounding down, and
halving no further, leave up to a unit a queue to nobody.

YARN computes in doubles, here it is in fractions.  Where every queue below its maximum has weight 0, YARN's search for
an upper bound does not end; here the queues keep their minimum shares.

Source: Apache Hadoop, ComputeFairShares.java and TestComputeFairShares.java.
"""

import functools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from operator import mul
from typing import Any

from ...base.errors import PolicyError, suggestion
from ..levels import Amount, Amounts
from ..state import ClusterState
from .hierarchy import Hierarchy, ShareNode

__all__ = [
    "FAULTS",
    "VERSIONS",
    "QueueOrder",
    "ShareBounds",
    "Yarn",
    "YarnQueue",
    "build",
    "compare",
    "compare_standings",
    "fair_shares",
    "order",
    "ratio",
    "stand",
]


FAULTS = ("nan-ties", "tie-to-first", "tie-to-last", "start-overflow", "yarn-11482")

VERSIONS = {
    "intended": frozenset[str](),
    "hadoop-2": frozenset({"nan-ties", "tie-to-last", "start-overflow"}),
    "hadoop-3": frozenset({"nan-ties", "tie-to-first", "yarn-11482"}),
    "hadoop-3-fixed": frozenset({"nan-ties", "tie-to-first"}),
}
"""What has been in the code: before 2017, until YARN-11482 was mended, and since."""

BITS = 32

NONE = Fraction(0)

Row = Sequence[Amount]


@dataclass(frozen=True)
class YarnQueue:
    """A queue or an application: usage, weight, minimum share, and when it started, in milliseconds.

    A weight may be a mapping from resource to weight, 1 where it names none, as in Hadoop's `ResourceWeights`.
    """

    usage: Amounts
    weight: Amount | Amounts = 1
    minimum: Amounts = field(default_factory=dict)
    start: int = 0
    name: str = ""


def compare(one: YarnQueue, other: YarnQueue, cluster: Amounts, faults: Collection[str] = ()) -> int:
    """Return a negative number when one is served first, a positive one when the other is, 0 for the same.

    Parameters
    ----------
    one, other : YarnQueue
    cluster : capacity; its order is that of the resources
    faults : names of `FAULTS`, such as one of the sets in `VERSIONS`

    Raises
    ------
    PolicyError
        When a fault is unknown.

    >>> one, other = YarnQueue({"memory": 4000, "cores": 3}), YarnQueue({"memory": 2000, "cores": 5})
    >>> compare(one, other, {"memory": 8000, "cores": 8})
    -1
    """
    for fault in faults:
        if fault not in FAULTS:
            raise PolicyError(
                f"{fault!r} is no fault of YARN's{suggestion(fault, FAULTS)} (known: {', '.join(FAULTS)})"
            )
    first, second = (_standing(queue, cluster, faults) for queue in (one, other))
    return compare_standings(first, second, faults)


@dataclass(frozen=True)
class QueueOrder:
    """What a queue is compared by, resource by resource in the order of the cluster's.

    Attributes
    ----------
    usage, minimum : rows
    shares, levels : rows
        Of the cluster, and the same over the weight; or both over the weight, if it is positive.
    ratios : row
        Usage over minimum share; None compares equal to everything.
    start, name
        As in `YarnQueue`; a name is anything that compares.
    ranking : list of int
        The resources, the largest share first.
    needy : bool
        Whether less than a minimum share is used of the first, or of one that ties with it.
    """

    usage: Row
    minimum: Row
    shares: Row
    levels: Row
    ratios: Sequence[Any]
    start: int
    name: Any
    ranking: list[int]
    needy: bool

    @property
    def key(self) -> tuple:
        """What orders queues where there are no faults."""
        values = self.ratios if self.needy else self.levels
        return (not self.needy, *[values[j] for j in self.ranking], self.start, self.name)


def stand(
    rows: tuple[Row, Row, Row, Row], ratios: Sequence[Any], start: int, name: Any, faults: Collection[str] = ()
) -> QueueOrder:
    """Return the standing of a queue with these rows: usage, minimum shares, shares and levels."""
    usage, minimum, shares, levels = rows
    places = range(len(shares))[::-1] if "tie-to-last" in faults else range(len(shares))
    ranking = sorted(places, key=lambda j: -shares[j])
    return QueueOrder(
        usage, minimum, shares, levels, ratios, start, name, ranking, _needy(usage, shares, minimum, ranking, faults)
    )


def compare_standings(one: QueueOrder, other: QueueOrder, faults: Collection[str] = ()) -> int:
    """Return what `compare` returns."""
    if not faults:
        first, second = one.key, other.key
        return (first > second) - (first < second)
    needy, other_needy = one.needy, other.needy
    if "yarn-11482" in faults:
        other_needy = _needy(one.usage, one.shares, other.minimum, other.ranking, faults)
    if needy != other_needy:
        return -1 if needy else 1
    mine, others = (one.ratios, other.ratios) if needy else (one.levels, other.levels)
    for j, k in zip(one.ranking, other.ranking, strict=True):
        a, b = mine[j], others[k]
        if a is not None and b is not None and a != b:
            return 1 if a > b else -1
    gap = one.start - other.start
    if "start-overflow" in faults:
        gap = (gap + 2 ** (BITS - 1)) % 2**BITS - 2 ** (BITS - 1)
        return gap or (one.name > other.name) - (one.name < other.name)
    return (gap > 0) - (gap < 0) or (one.name > other.name) - (one.name < other.name)


def order(queues: Iterable[YarnQueue], cluster: Amounts, faults: Collection[str] = ()) -> list[YarnQueue]:
    """Return the queues, who is served first at the front; with faults that go round in a circle, some order."""

    def compared(one: YarnQueue, other: YarnQueue) -> int:
        return compare(one, other, cluster, faults)

    return sorted(queues, key=functools.cmp_to_key(compared))


def _standing(queue: YarnQueue, cluster: Amounts, faults: Collection[str]) -> QueueOrder:
    usage, minimum = ([amounts.get(name, 0) for name in cluster] for amounts in (queue.usage, queue.minimum))
    shares = [Fraction(used) / total if total else NONE for used, total in zip(usage, cluster.values(), strict=True)]
    each = isinstance(queue.weight, Mapping)
    weights = [
        Fraction(queue.weight.get(name, 1) if isinstance(queue.weight, Mapping) else queue.weight) for name in cluster
    ]
    # A queue of weight 0 comes after all others as soon as it uses anything.
    levels: list[Any] = [
        share / weight if weight else math.inf if share else share
        for share, weight in zip(shares, weights, strict=True)
    ]
    ratios = [ratio(used, bound, faults) for used, bound in zip(usage, minimum, strict=True)]
    # Weights a resource change which one is dominant; one weight does not.
    return stand((usage, minimum, levels if each else shares, levels), ratios, queue.start, queue.name, faults)


def ratio(used: Amount, bound: Amount, faults: Collection[str] = ()) -> Fraction | float | None:
    """Return usage over minimum share; None compares equal to everything."""
    if bound:
        return Fraction(used) / bound
    return None if "nan-ties" in faults and not used else math.inf


def _needy(usage: Row, shares: Row, minimum: Row, ranking: Sequence[int], faults: Collection[str]) -> bool:
    if "tie-to-first" in faults or "tie-to-last" in faults:
        return usage[ranking[0]] < minimum[ranking[0]]
    top = shares[ranking[0]]
    return any(usage[j] < minimum[j] for j in ranking if shares[j] == top)


MILLISECONDS = 1000


class Yarn(Hierarchy):
    """Serve as YARN's comparison says.

    Parameters
    ----------
    version : one of `drfopt.simulation.rules.yarn.VERSIONS`
    """

    def __init__(self, version: str = "intended"):
        if version not in VERSIONS:
            raise PolicyError(
                f"YARN has no version {version!r}{suggestion(version, VERSIONS)} (known: {', '.join(VERSIONS)})"
            )
        super().__init__("sum")
        self.name = f"yarn:{version}"
        self._faults = VERSIONS[version]
        self._first = functools.cmp_to_key(functools.partial(compare_standings, faults=self._faults))

    def begin(self, cluster: ClusterState) -> None:
        """Build the tree, and note when each application first comes."""
        super().begin(cluster)
        users = cluster.plan.scenario.users
        self._start = {
            leaf.name: int(MILLISECONDS * min((job.arrival for job in user.jobs), default=0))
            for leaf, user in zip(self._leaves, users, strict=True)
        }

    def key(self, node: ShareNode) -> Any:
        """Return what orders siblings: YARN's own comparison."""
        start = self._start.get(node.name, 0)
        minimum = self.guaranteed[node.name]
        ratios = [ratio(used, bound, self._faults) for used, bound in zip(node.held, minimum, strict=True)]
        levels = list(map(mul, node.held, node.rates))
        standing = stand((node.held, minimum, levels, levels), ratios, start, node.position, self._faults)
        return self._first(standing) if self._faults else standing.key


def build(argument: str) -> Yarn:
    """Return the rule as that version has it."""
    return Yarn(argument)


HALVINGS = 25


@dataclass(frozen=True)
class ShareBounds:
    """A queue's weight and the bounds of its share of one resource; no maximum is None."""

    minimum: int = 0
    maximum: int | None = None
    weight: Amount = 1


def fair_shares(total: int, claims: Sequence[ShareBounds]) -> list[int]:
    """Return the fair share of each queue.

    >>> fair_shares(40, [ShareBounds(), ShareBounds(maximum=50), ShareBounds(maximum=11), ShareBounds(maximum=3)])
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
