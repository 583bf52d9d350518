"""Kueue: the dominant resource share of what a queue borrows, in a tree of cohorts.

Only what is used above the queue's own quota counts.  It is divided by what the cohort above could lend at most, the
largest of the resources counts, in thousandths, over the weight, rounded up.  Queues and cohorts that borrow nothing
have share 0; a weight of 0 makes any borrowing infinite.  A name such as ``cpu@spot`` is a flavour of a resource:
borrowing is measured flavour by flavour and then summed over the resource.

A node with a lending limit keeps the rest of its quota to itself; one with a borrowing limit sees no more of the tree
above than that.

Source: Kueue, pkg/cache/scheduler/fair_sharing.go, resource_node.go and fair_sharing_test.go.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from .amounts import Amount, Amounts, added

__all__ = ["INFINITE", "Node", "Share", "borrowed_share", "tree_shares"]

INFINITE = 2**63 - 1
"""Share of who borrows with weight 0: the largest number that fits."""

THOUSAND = 1000


class Share(NamedTuple):
    """A share in thousandths, rounded up, and the resource it comes from; none when nothing is borrowed."""

    value: int
    dominant: str


@dataclass(frozen=True)
class Node:
    """A cluster queue or a cohort: the cohort above, its own quota, its weight, and its limits by flavour."""

    parent: str | None = None
    nominal: Amounts = field(default_factory=dict)
    weight: Amount = 1
    borrowing_limit: Amounts = field(default_factory=dict)
    lending_limit: Amounts = field(default_factory=dict)


def borrowed_share(usage: Amounts, quota: Amounts, lendable: Amounts, weight: Amount = 1) -> Share:
    """Return the share of what is used above the quota.

    Parameters
    ----------
    usage, quota : amounts by flavour (``cpu`` or ``cpu@spot``)
    lendable : the most the cohort could lend, by resource; resources of which there is none do not count

    >>> borrowed_share({"cpu": 3, "gpu": 7}, {"cpu": 2, "gpu": 5}, {"cpu": 10, "gpu": 10})
    Share(value=200, dominant='gpu')
    """
    borrowed: dict[str, Amount] = {}
    for flavour, amount in usage.items():
        resource = flavour.partition("@")[0]
        borrowed[resource] = borrowed.get(resource, 0) + max(0, amount - quota.get(flavour, 0))
    largest, dominant = Fraction(0), ""
    for resource in sorted(borrowed):
        if lendable.get(resource, 0) > 0 and (ratio := Fraction(borrowed[resource]) / lendable[resource]) > largest:
            largest, dominant = ratio, resource
    if not largest:
        return Share(0, "")
    return Share(math.ceil(THOUSAND * largest / Fraction(weight)) if weight else INFINITE, dominant)


def tree_shares(nodes: Mapping[str, Node], usage: Mapping[str, Amounts]) -> dict[str, Share]:
    """Return the share of every node of a tree; parents must be nodes too.

    Parameters
    ----------
    nodes : by name
    usage : what the queues use, by name and flavour
    """
    tree = _Tree(nodes, usage)
    found = {}
    for name, node in nodes.items():
        if node.parent is None:
            found[name] = Share(0, "")
            continue
        lendable: dict[str, Amount] = {}
        for flavour, amount in tree.reachable(node.parent).items():
            resource = flavour.partition("@")[0]
            lendable[resource] = lendable.get(resource, 0) + amount
        found[name] = borrowed_share(tree.used(name), tree.quota(name), lendable, node.weight)
    return found


class _Tree:
    """Quotas and usage as they add up towards the root."""

    def __init__(self, nodes: Mapping[str, Node], usage: Mapping[str, Amounts]) -> None:
        self.nodes, self.usage = nodes, usage
        self.children = {name: [child for child, node in nodes.items() if node.parent == name] for name in nodes}

    def quota(self, name: str) -> Amounts:
        """Return the node's own quota and what those below it would lend."""
        lent = (self._minus(self.quota(child), self.kept(child)) for child in self.children[name])
        return added(self.nodes[name].nominal, *lent)

    def kept(self, name: str) -> Amounts:
        """Return what the node keeps to itself: its quota above its lending limit."""
        limit, quota = self.nodes[name].lending_limit, self.quota(name)
        return {flavour: max(0, quota.get(flavour, 0) - most) for flavour, most in limit.items()}

    def used(self, name: str) -> Amounts:
        """Return what the node uses: its own, and what those below it could not serve from what they keep."""
        passed = (self._minus(self.used(child), self.kept(child)) for child in self.children[name])
        return added(self.usage.get(name, {}), *passed)

    def reachable(self, name: str) -> Amounts:
        """Return the most that a queue below the node could use of it and of the tree above."""
        node, quota = self.nodes[name], self.quota(name)
        if node.parent is None:
            return quota
        whole = added(self.kept(name), self.reachable(node.parent))
        return {
            flavour: min(amount, quota.get(flavour, 0) + node.borrowing_limit[flavour])
            if flavour in node.borrowing_limit
            else amount
            for flavour, amount in whole.items()
        }

    @staticmethod
    def _minus(amounts: Amounts, kept: Amounts) -> dict[str, Amount]:
        return {flavour: max(0, amount - kept.get(flavour, 0)) for flavour, amount in amounts.items()}
