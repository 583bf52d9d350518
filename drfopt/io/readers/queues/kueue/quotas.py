"""Quotas of ClusterQueues and Cohorts by flavor and resource, and the share that Kueue computes of them.

    subtree    quota of a node: its own nominal quota, and what its children lend
    lends      of a child: its subtree, up to its lending limit
    local      the rest, which only the node itself can use
    potential  what a node could use if nobody else did: all of the root; below, its local part and what the parent
               could use, up to subtree + borrowing limit
    share      the largest over the resources of borrowed / potential of the parent, over the weight, in thousandths

Source: Kueue, KEP 1714 (fair sharing), KEP 79 (hierarchical cohorts); pkg/cache/fair_sharing.go, resource_node.go.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from .....base.errors import InstanceError
from .....model.organisation import DEEPEST
from ....text.parts import TreePart
from ...conversion import Notes
from ...kubernetes.objects import Objects, name, tell_unused

__all__ = ["API", "Key", "QuotaNode", "Quotas", "quotas", "tell_stopped"]

API = "kueue.x-k8s.io"

USED = ("resourceGroups", "fairSharing", "stopPolicy")
"""Keys of their specs that are used, or noted by themselves; beside them the one that names the cohort above."""

Key = tuple[str, str]
"""A flavor and a resource."""


@dataclass(frozen=True)
class QuotaNode:
    """A ClusterQueue or a Cohort.

    Attributes
    ----------
    nominal, borrowing, lending : mapping from (flavor, resource) to Fraction
        The last two hold limits; no entry, no limit.
    used : mapping of the same keys
        What the status says; empty for cohorts.
    groups : int
        Resource groups it has.
    reported : Fraction or None
        The weighted share in its status.
    """

    name: str
    parent: str
    weight: Fraction = Fraction(1)
    nominal: Mapping[Key, Fraction] = field(default_factory=dict)
    borrowing: Mapping[Key, Fraction] = field(default_factory=dict)
    lending: Mapping[Key, Fraction] = field(default_factory=dict)
    used: Mapping[Key, Fraction] = field(default_factory=dict)
    groups: int = 0
    reported: Fraction | None = None


class Quotas:
    """The forest of all quotas.

    Attributes
    ----------
    queues, cohorts : mapping from name to QuotaNode
        Cohorts that are only named are among them.
    """

    def __init__(self, queues: Iterable[QuotaNode], cohorts: Iterable[QuotaNode]):
        self.queues, self.cohorts = _by_name(queues, "ClusterQueue"), _by_name(cohorts, "Cohort")
        for quota in [*self.queues.values(), *self.cohorts.values()]:
            if quota.parent:
                self.cohorts.setdefault(quota.parent, QuotaNode(quota.parent, ""))
        self.children: dict[str, list[QuotaNode]] = {}
        for quota in [*self.queues.values(), *self.cohorts.values()]:
            self.children.setdefault(quota.parent, []).append(quota)
        for quota in [*self.queues.values(), *self.cohorts.values()]:
            self.root(quota)
        self._subtrees: dict[int, dict[Key, Fraction]] = {}

    def root(self, quota: QuotaNode) -> QuotaNode:
        """Return the cohort at the top, or the queue itself when it is in none.

        Raises
        ------
        InstanceError
            When a cohort is below itself, or the tree is deeper than `DEEPEST`.
        """
        seen = set()
        while quota.parent:
            quota = self.cohorts[quota.parent]
            if quota.name in seen:
                raise InstanceError(f"cohort {quota.name!r} is below itself: correct its parentName")
            seen.add(quota.name)
            if len(seen) > DEEPEST:
                raise InstanceError(f"cohort {quota.name!r} is above more than {DEEPEST} levels: leave some out")
        return quota

    def members(self, root: QuotaNode) -> list[QuotaNode]:
        """Return the queues below a root, itself where it is one."""
        return [queue for queue in self.queues.values() if self.root(queue) is root]

    def several(self, root: QuotaNode) -> bool:
        """Return whether a resource has several flavors below a root."""
        everything = self.all_of(root)
        return len({key[1] for key in everything}) < len(everything)

    def apart(self, root: QuotaNode) -> bool:
        """Return whether each flavor below a root is a class of its own: where tasks take all they need of one."""
        return self.several(root) and all(quota.groups <= 1 for quota in [root, *self.members(root)])

    def subtree(self, quota: QuotaNode) -> dict[Key, Fraction]:
        """Return the quota of a node with what its children lend."""
        if id(quota) not in self._subtrees:
            total = dict(quota.nominal)
            for child in self._below(quota):
                for key, amount in self.subtree(child).items():
                    total[key] = total.get(key, Fraction(0)) + amount - self._local(child, key)
            self._subtrees[id(quota)] = total
        return self._subtrees[id(quota)]

    def all_of(self, quota: QuotaNode, idle: Collection[str] = ()) -> dict[Key, Fraction]:
        """Return everything in a tree, lent or not: what there is to divide; of idle queues what they lend."""
        total = dict(quota.nominal)
        for child in self._below(quota):
            kept = self.unlent(child) if child.name in idle and self.queues.get(child.name) is child else {}
            for key, amount in self.all_of(child, idle).items():
                total[key] = total.get(key, Fraction(0)) + amount - kept.get(key, 0)
        return total

    def unlent(self, quota: QuotaNode) -> dict[Key, Fraction]:
        """Return what only the node itself can use."""
        return {key: self._local(quota, key) for key in quota.lending}

    def share(self, quota: QuotaNode) -> Fraction | None:
        """Return the weighted share in thousandths; None where it is infinite (weight 0, and something borrowed)."""
        if not quota.parent:
            return Fraction(0)
        subtree = self.subtree(quota)
        borrowed: dict[str, Fraction] = {}
        for key, amount in self._used(quota).items():
            above = amount - subtree.get(key, Fraction(0))
            if above > 0:
                borrowed[key[1]] = borrowed.get(key[1], Fraction(0)) + above
        if not any(borrowed.values()):
            return Fraction(0)
        if not quota.weight:
            return None
        parent = self.cohorts[quota.parent]
        lendable: dict[str, Fraction] = {}
        for key in self.subtree(self.root(parent)):
            lendable[key[1]] = lendable.get(key[1], Fraction(0)) + self._potential(parent, key)
        ratios = [amount / lendable[r] for r, amount in borrowed.items() if lendable.get(r)]
        return max(ratios, default=Fraction(0)) * 1000 / quota.weight

    def _below(self, quota: QuotaNode) -> list[QuotaNode]:
        return self.children.get(quota.name, []) if self.cohorts.get(quota.name) is quota else []

    def _local(self, quota: QuotaNode, key: Key) -> Fraction:
        if key not in quota.lending:
            return Fraction(0)
        return max(Fraction(0), self.subtree(quota).get(key, Fraction(0)) - quota.lending[key])

    def _potential(self, quota: QuotaNode, key: Key) -> Fraction:
        subtree = self.subtree(quota).get(key, Fraction(0))
        if not quota.parent:
            return subtree
        potential = self._local(quota, key) + self._potential(self.cohorts[quota.parent], key)
        return min(potential, subtree + quota.borrowing[key]) if key in quota.borrowing else potential

    def _used(self, quota: QuotaNode) -> dict[Key, Fraction]:
        """Return what a node uses; of its children's use, what exceeds their local parts."""
        used = dict(quota.used)
        for child in self._below(quota):
            for key, amount in self._used(child).items():
                used[key] = used.get(key, Fraction(0)) + max(Fraction(0), amount - self._local(child, key))
        return used


def quotas(objects: Objects, notes: Notes) -> Quotas:
    """Return the quotas of all ClusterQueues and Cohorts."""
    found: dict[str, list[QuotaNode]] = {}
    for kind, above in (("ClusterQueue", ("cohortName", "cohort")), ("Cohort", ("parentName", "parent"))):
        for item in objects.take(kind, API):
            tell_unused(item["spec"], (*above, *USED), f"a {kind}", name(item), notes)
            tell_stopped(item, notes)
            parent = next((item["spec"][key].text() for key in above if item["spec"][key]), "")
            found.setdefault(kind, []).append(_quota(item, parent))
    return Quotas(found.get("ClusterQueue", ()), found.get("Cohort", ()))


def tell_stopped(item: TreePart, notes: Notes) -> None:
    """Note a queue that admits nothing at present."""
    if item["spec"]["stopPolicy"].text("None") != "None":
        notes.assumed("queue that is stopped (stopPolicy) takes part with what is in it", name(item))


def _quota(item: TreePart, parent: str) -> QuotaNode:
    amounts: dict[str, dict[Key, Fraction]] = {"nominalQuota": {}, "borrowingLimit": {}, "lendingLimit": {}}
    groups = list(item["spec"]["resourceGroups"].each())
    for group in groups:
        for flavor in group["flavors"].each():
            for resource in flavor["resources"].each():
                key = (flavor["name"].text(), resource["name"].text())
                for what, found in amounts.items():
                    if what in resource:
                        found[key] = resource[what].amount()
    status = item["status"]
    used = {
        (flavor["name"].text(), resource["name"].text()): resource["total"].amount()
        for flavor in (status["flavorsUsage"] or status["flavorsReservation"]).each()
        for resource in flavor["resources"].each()
    }
    sharing = status["fairSharing"]
    return QuotaNode(
        name(item),
        parent,
        item["spec"]["fairSharing"]["weight"].amount(missing=1),
        amounts["nominalQuota"],
        amounts["borrowingLimit"],
        amounts["lendingLimit"],
        used,
        len(groups),
        sharing["weightedShare"].number() if "weightedShare" in sharing else None,
    )


def _by_name(some: Iterable[QuotaNode], kind: str) -> dict[str, QuotaNode]:
    found: dict[str, QuotaNode] = {}
    for quota in some:
        if not quota.name:
            raise InstanceError(f"a {kind} has no metadata.name: give it one, others are below it by its name")
        if quota.name in found:
            raise InstanceError(f"{kind} {quota.name!r} is listed twice: keep one of them")
        found[quota.name] = quota
    return found
