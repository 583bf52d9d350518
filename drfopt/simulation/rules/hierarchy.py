"""Hierarchies: groups of users compared before their members, by one of the measures of what a group holds.

``hierarchy:hdrf`` is hierarchical DRF, ``hierarchy:scaled`` leaves out its rule of blocked nodes, ``hierarchy:sum``
compares what groups hold together, as Mesos and YARN do (`drfopt.simulation.schedulers.hierarchy` tells them apart).
A user is blocked when no task of hers waits that fits anywhere at the moment.

Source: Bhattacharya et al., Hierarchical Scheduling for Diverse Datacenter Workloads, SoCC 2013.
"""

from collections.abc import Iterable, Mapping
from operator import add
from typing import Any

from ..guarantees import whole_guarantees
from ..schedulers.hierarchy import ShareNode, ShareTree
from ..state import ClusterState
from ..turns import Turns

__all__ = ["Hierarchy", "build"]


class Hierarchy(Turns):
    """Walk the tree from its root, at each node to the child that comes first.

    Parameters
    ----------
    measure : "hdrf", "scaled" or "sum"
    """

    def __init__(self, measure: str = "hdrf"):
        self.measure = measure
        self.name = f"hierarchy:{measure}"
        ShareTree([], measure=measure)

    def key(self, node: ShareNode) -> Any:
        """Return what orders siblings, lowest first."""
        return node.level, node.position

    def begin(self, cluster: ClusterState) -> None:
        """Build the tree of the scenario's groups; a user is a leaf in its own."""
        super().begin(cluster)
        scenario = cluster.plan.scenario
        if void := [name for name, weight in scenario.groups.items() if not weight]:
            raise self.refuse(f"divides shares by weights, and that of group {void[0]!r} is 0: make it positive")
        # A user's own name may be a path or the name of a group: its number is neither.
        paths = [f"{user.group}/#{i}" if user.group else f"#{i}" for i, user in enumerate(scenario.users)]
        weights = {**scenario.groups, **dict(zip(paths, cluster.plan.weights, strict=True))}
        self._tree = ShareTree(paths, weights, self.measure, self.key)
        self._leaves = [self._tree.leaves[path] for path in paths]
        self._users = {path: i for i, path in enumerate(paths)}
        self.guaranteed: dict[str, list[int]] = {}
        for path, amounts in zip(paths, whole_guarantees(cluster.plan), strict=True):
            steps = path.split("/")
            for above in ("/".join(steps[: k + 1]) for k in range(len(steps))):
                self.guaranteed[above] = list(map(add, self.guaranteed.get(above, [0] * cluster.m), amounts))
        self.resized(cluster)

    def resized(self, cluster: ClusterState) -> None:
        """Measure shares of what is there now."""
        self.totals = cluster.totals
        self._tree.resize(self.bounds)

    def bounds(self, node: ShareNode) -> list[int]:
        """Return of how much of each resource the share of a node is taken."""
        return self.totals

    def changed(self, cluster: ClusterState, users: Iterable[int]) -> None:
        """Tell the tree what users hold."""
        for user in users:
            self._tree.hold(self._leaves[user], cluster.used[user])

    def turn(self, cluster: ClusterState, asking: Mapping[int, int]) -> int | None:
        """Return the user at the end of the walk."""
        found = self._tree.first([self._leaves[user] for user in asking])
        return None if found is None else self._users[found.name]


def build(argument: str) -> Hierarchy:
    """Return the rule with that measure."""
    return Hierarchy(argument)
