"""Kueue with fair sharing: the tree of cohorts holds a tournament for the task whose admission raises shares least.

Groups of the scenario are cohorts, users cluster queues whose nominal quota is their guarantee; what is guaranteed to
nobody is the root cohort's own.  In each cohort the children's candidates are compared by the share that the child
would have with the candidate admitted (`drfopt.simulation.rules.kueue`; rounded up to thousandths, so that ties
are frequent), then by tier, then by who came first.  A task is admitted when it fits on a machine.

Source: Kueue, pkg/scheduler/fair_sharing_iterator.go.

Kueue: the dominant resource share of what a queue borrows, in a tree of cohorts.

Only what is used above the queue's own quota counts.  It is divided by what the cohort above could lend at most, the
largest of the resources counts, in thousandths, over the weight, rounded up.  Queues and cohorts that borrow nothing
have share 0; a weight of 0 makes any borrowing infinite.  A name such as ``cpu@spot`` is a flavour of a resource:
borrowing is measured flavour by flavour and then summed over the resource.

A node with a lending limit keeps the rest of its quota to itself; one with a borrowing limit sees no more of the tree
above than that.

Source: Kueue, pkg/cache/scheduler/fair_sharing.go, resource_node.go and fair_sharing_test.go.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from operator import sub
from typing import NamedTuple

from ..levels import Amount, Amounts, added, whole_guarantees
from ..state import ClusterState
from ..turns import Turns

__all__ = ["INFINITE", "CohortNode", "CohortTree", "Kueue", "Share", "borrowed_share", "tree_shares"]


INFINITE = 2**63 - 1
"""Share of who borrows with weight 0: the largest number that fits."""

THOUSAND = 1000


class Share(NamedTuple):
    """A share in thousandths, rounded up, and the resource it comes from; none when nothing is borrowed."""

    value: int
    dominant: str


@dataclass(frozen=True)
class CohortNode:
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


def tree_shares(nodes: Mapping[str, CohortNode], usage: Mapping[str, Amounts]) -> dict[str, Share]:
    """Return the share of every node of a tree; parents must be nodes too.

    Parameters
    ----------
    nodes : by name
    usage : what the queues use, by name and flavour
    """
    tree = CohortTree(nodes)
    used = tree.used(usage)
    return {name: tree.share(name, used[name]) for name in nodes}


class CohortTree:
    """Cohorts and queues: what is lent, kept and within reach is worked out once; usage is told anew each time."""

    def __init__(self, nodes: Mapping[str, CohortNode]) -> None:
        self.nodes = nodes
        depth = {name: len(list(self.upwards(name))) for name in nodes}
        self._deepest_first = sorted(nodes, key=lambda name: -depth[name])
        self._quotas: dict[str, Amounts] = {name: node.nominal for name, node in nodes.items()}
        for name in self._deepest_first:
            if (above := nodes[name].parent) is not None:
                self._quotas[above] = added(self._quotas[above], _minus(self._quotas[name], self._kept(name)))
        self._reach: dict[str, Amounts] = {}
        for name in reversed(self._deepest_first):
            self._reach[name] = self._reachable(name)
        self._lendable = {name: _by_resource(amounts) for name, amounts in self._reach.items()}

    def upwards(self, name: str | None) -> Iterator[str]:
        """Yield the node, its parent, and so on to the root."""
        while name is not None:
            yield name
            name = self.nodes[name].parent

    def used(self, usage: Mapping[str, Amounts]) -> dict[str, Amounts]:
        """Return what every node uses: its own, and what those below it could not serve from what they keep."""
        used: dict[str, Amounts] = {name: usage.get(name, {}) for name in self.nodes}
        for name in self._deepest_first:
            if (above := self.nodes[name].parent) is not None:
                used[above] = added(used[above], _minus(used[name], self._kept(name)))
        return used

    def share(self, name: str, used: Amounts) -> Share:
        """Return the share of a node that uses so much; a root borrows from nobody."""
        node = self.nodes[name]
        if node.parent is None:
            return Share(0, "")
        return borrowed_share(used, self._quotas[name], self._lendable[node.parent], node.weight)

    def after(self, queue: str, need: Amounts, used: Mapping[str, Amounts]) -> dict[str, Share]:
        """Return the shares on the way from a queue to the root when it uses so much more than `used` says."""
        found = {}
        more = need
        for name in self.upwards(queue):
            grown = added(used[name], more)
            found[name] = self.share(name, grown)
            kept = self._kept(name)
            passed = _minus(used[name], kept)
            more = {key: amount - passed.get(key, 0) for key, amount in _minus(grown, kept).items()}
        return found

    def _kept(self, name: str) -> Amounts:
        """Return what the node keeps to itself: its quota above its lending limit."""
        limit, quota = self.nodes[name].lending_limit, self._quotas[name]
        return {flavour: max(0, quota.get(flavour, 0) - most) for flavour, most in limit.items()}

    def _reachable(self, name: str) -> Amounts:
        """Return the most that a queue below the node could use of it and of the tree above."""
        node, quota = self.nodes[name], self._quotas[name]
        if node.parent is None:
            return quota
        whole = added(self._kept(name), self._reach[node.parent])
        return {
            flavour: min(amount, quota.get(flavour, 0) + node.borrowing_limit[flavour])
            if flavour in node.borrowing_limit
            else amount
            for flavour, amount in whole.items()
        }


def _by_resource(amounts: Amounts) -> dict[str, Amount]:
    """Return the sum over the flavours of each resource."""
    found: dict[str, Amount] = {}
    for flavour, amount in amounts.items():
        resource = flavour.partition("@")[0]
        found[resource] = found.get(resource, 0) + amount
    return found


def _minus(amounts: Amounts, kept: Amounts) -> Amounts:
    return {flavour: max(0, amount - kept.get(flavour, 0)) for flavour, amount in amounts.items()} if kept else amounts


ROOT = ""


class Kueue(Turns):
    """Admit the winner of the tournament."""

    name = "kueue"

    def begin(self, cluster: ClusterState) -> None:
        """Build the tree of cohorts."""
        super().begin(cluster)
        scenario = cluster.plan.scenario
        self._names = scenario.resources
        self._queues = [f"{user.group}/#{i}" if user.group else f"#{i}" for i, user in enumerate(scenario.users)]
        self._quotas = [dict(zip(self._names, row, strict=True)) for row in whole_guarantees(cluster.plan)]
        self._nodes = {ROOT: CohortNode()}
        for path, user, quota in zip(self._queues, scenario.users, self._quotas, strict=True):
            steps = path.split("/")
            for k in range(1, len(steps)):
                group, above = "/".join(steps[:k]), "/".join(steps[: k - 1])
                self._nodes.setdefault(group, CohortNode(above, weight=Fraction(scenario.groups.get(group, 1))))
            self._nodes[path] = CohortNode("/".join(steps[:-1]), quota, Fraction(user.weight))
        self._paths = [path.split("/") for path in self._queues]
        self._held = cluster.used[:]
        self.resized(cluster)

    def resized(self, cluster: ClusterState) -> None:
        """Give the root what is guaranteed to nobody, of what is there now."""
        promised = added(*self._quotas)
        totals = zip(self._names, cluster.totals, strict=True)
        self._nodes[ROOT] = CohortNode(None, {name: max(0, total - promised[name]) for name, total in totals})
        self._tree = CohortTree(self._nodes)
        held = {path: self._amounts(row) for path, row in zip(self._queues, self._held, strict=True)}
        self._used = self._tree.used(held)
        self._shares: dict[str, dict[int, int]] = {name: {} for name in self._nodes}

    def changed(self, cluster: ClusterState, users: Iterable[int]) -> None:
        """Count what users hold, and what their cohorts do: no node keeps anything to itself."""
        for user in users:
            if (held := cluster.used[user]) is not self._held[user]:
                more = self._amounts(list(map(sub, held, self._held[user])))
                self._held[user] = held
                for name in self._tree.upwards(self._queues[user]):
                    self._used[name] = added(self._used[name], more)
                    self._shares[name].clear()

    def turn(self, cluster: ClusterState, asking: Mapping[int, int]) -> int | None:
        """Return the winner at the root: in each cohort the candidate with the lowest share of who nominates it."""
        users, nodes = cluster.plan.scenario.users, self._nodes
        # By depth, so that a cohort's candidate is known before the cohort above asks for it.
        levels: dict[int, list[tuple[str, int]]] = {}
        for user in asking:
            levels.setdefault(len(self._paths[user]), []).append((self._queues[user], user))
        winner = None
        for depth in range(max(levels), 0, -1):
            best: dict[str | None, tuple] = {}
            for name, user in levels.get(depth, ()):
                kind = asking[user]
                known = self._shares[name]
                share = known[kind] if kind in known else self._share(cluster, name, kind)
                rank = share, -users[user].tier, cluster.queues[user][kind][0].number, user
                above = nodes[name].parent
                if above not in best or rank < best[above]:
                    best[above] = rank
            winners = [(str(above), rank[-1]) for above, rank in best.items()]
            levels.setdefault(depth - 1, []).extend(winners)
            winner = winners[0][1]
        return winner

    def _share(self, cluster: ClusterState, name: str, kind: int) -> int:
        """Return the share that a node would have with another task of the kind."""
        grown = added(self._used[name], self._amounts(cluster.demands[kind]))
        self._shares[name][kind] = share = self._tree.share(name, grown).value
        return share

    def _amounts(self, row: Sequence[int]) -> Amounts:
        return dict(zip(self._names, row, strict=True))
