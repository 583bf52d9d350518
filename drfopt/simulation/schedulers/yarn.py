"""YARN's fair scheduler: which of two queues is served first under its DRF policy, and what is wrong with it.

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
"""

import functools
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from ...errors import PolicyError, suggestion
from .amounts import Amount, Amounts

__all__ = ["FAULTS", "VERSIONS", "Queue", "compare", "order"]

FAULTS = ("nan-ties", "tie-to-first", "tie-to-last", "start-overflow", "yarn-11482")

VERSIONS = {
    "intended": frozenset[str](),
    "hadoop-2": frozenset({"nan-ties", "tie-to-last", "start-overflow"}),
    "hadoop-3": frozenset({"nan-ties", "tie-to-first", "yarn-11482"}),
    "hadoop-3-fixed": frozenset({"nan-ties", "tie-to-first"}),
}
"""What has been in the code: before 2017, until YARN-11482 was mended, and since."""

BITS = 32


@dataclass(frozen=True)
class Queue:
    """A queue or an application: usage, weight, minimum share, and when it started, in milliseconds."""

    usage: Amounts
    weight: Amount = 1
    minimum: Amounts = field(default_factory=dict)
    start: int = 0
    name: str = ""


def compare(one: Queue, other: Queue, cluster: Amounts, faults: Collection[str] = ()) -> int:
    """Return a negative number when one is served first, a positive one when the other is, 0 for the same.

    Parameters
    ----------
    one, other : Queue
    cluster : capacity; its order is that of the resources
    faults : names of `FAULTS`, such as one of the sets in `VERSIONS`

    Raises
    ------
    PolicyError
        When a fault is unknown.

    >>> compare(Queue({"memory": 4000, "cores": 3}), Queue({"memory": 2000, "cores": 5}), {"memory": 8000, "cores": 8})
    -1
    """
    for fault in faults:
        if fault not in FAULTS:
            raise PolicyError(
                f"{fault!r} is no fault of YARN's{suggestion(fault, FAULTS)} (known: {', '.join(FAULTS)})"
            )
    first, second = _ranking(one, cluster, faults), _ranking(other, cluster, faults)
    needy = _needy(one.usage, one.minimum, first, cluster, faults)
    reading = one.usage if "yarn-11482" in faults else other.usage
    other_needy = _needy(reading, other.minimum, second, cluster, faults)
    if needy != other_needy:
        return -1 if needy else 1
    for j, k in zip(first, second, strict=True):
        if needy:
            a, b = _ratio(one.usage, one.minimum, j, faults), _ratio(other.usage, other.minimum, k, faults)
        else:
            a, b = _level(one, cluster, j), _level(other, cluster, k)
        if a is not None and b is not None and a != b:
            return 1 if a > b else -1
    gap = one.start - other.start
    if "start-overflow" in faults:
        gap = (gap + 2 ** (BITS - 1)) % 2**BITS - 2 ** (BITS - 1)
        return gap or (one.name > other.name) - (one.name < other.name)
    return (gap > 0) - (gap < 0) or (one.name > other.name) - (one.name < other.name)


def order(queues: Iterable[Queue], cluster: Amounts, faults: Collection[str] = ()) -> list[Queue]:
    """Return the queues, who is served first at the front; with faults that go round in a circle, some order."""

    def compared(one: Queue, other: Queue) -> int:
        return compare(one, other, cluster, faults)

    return sorted(queues, key=functools.cmp_to_key(compared))


def _ranking(queue: Queue, cluster: Amounts, faults: Collection[str]) -> list[str]:
    """Return the resources by the share of the cluster that is used, largest first."""
    names = list(cluster)[::-1] if "tie-to-last" in faults else list(cluster)
    return sorted(names, key=lambda j: -_share(queue.usage, cluster, j))


def _needy(usage: Amounts, minimum: Amounts, ranking: list[str], cluster: Amounts, faults: Collection[str]) -> bool:
    top = _share(usage, cluster, ranking[0])
    tied = [j for j in ranking if _share(usage, cluster, j) == top]
    if "tie-to-first" in faults or "tie-to-last" in faults:
        tied = ranking[:1]
    return any(usage.get(j, 0) < minimum.get(j, 0) for j in tied)


def _share(usage: Amounts, cluster: Amounts, j: str) -> Fraction:
    return Fraction(usage.get(j, 0)) / cluster[j] if cluster[j] else Fraction(0)


def _level(queue: Queue, cluster: Amounts, j: str) -> Fraction | float:
    """Return share over weight; a queue of weight 0 comes after all others as soon as it uses anything."""
    share = _share(queue.usage, cluster, j)
    return share / Fraction(queue.weight) if queue.weight else float("inf") if share else share


def _ratio(usage: Amounts, minimum: Amounts, j: str, faults: Collection[str]) -> Fraction | float | None:
    """Return usage over minimum share; None compares equal to everything."""
    if bound := minimum.get(j, 0):
        return Fraction(usage.get(j, 0)) / bound
    return None if "nan-ties" in faults and not usage.get(j, 0) else float("inf")
