"""Hierarchies: groups of users compared before their members, by one of the measures of what a group holds.

``hierarchy:hdrf`` is hierarchical DRF, ``hierarchy:scaled`` leaves out its rule of blocked nodes, ``hierarchy:sum``
compares what groups hold together, as Mesos and YARN do (`drfopt.simulation.schedulers.hierarchy` tells them apart).
A user is blocked when no task of hers waits that fits anywhere at the moment.

Source: Bhattacharya et al., Hierarchical Scheduling for Diverse Datacenter Workloads, SoCC 2013.
"""

from collections.abc import Mapping
from typing import Any

from ..cluster import Cluster
from ..guarantees import whole_guarantees
from ..schedulers.amounts import Amount, added
from ..schedulers.hierarchy import Node, Tree
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
        Tree([], measure=measure)

    def key(self, node: Node) -> Any:
        """Return what orders siblings, lowest first."""
        return node.level, node.position

    def begin(self, cluster: Cluster) -> None:
        """Build the tree of the scenario's groups; a user is a leaf in hers."""
        scenario = cluster.plan.scenario
        # A user's own name may be a path or the name of a group: her number is neither.
        paths = [f"{user.group}/#{i}" if user.group else f"#{i}" for i, user in enumerate(scenario.users)]
        weights = {**scenario.groups, **dict(zip(paths, cluster.plan.weights, strict=True))}
        self._tree = Tree(paths, weights, self.measure, self.key)
        self._leaves = [self._tree.leaves[path] for path in paths]
        self._users = {path: i for i, path in enumerate(paths)}
        self.guaranteed: dict[str, dict[str, Amount]] = {}
        for path, amounts in zip(paths, whole_guarantees(cluster.plan), strict=True):
            steps = path.split("/")
            promised = dict(zip(scenario.resources, amounts, strict=True))
            for above in ("/".join(steps[: k + 1]) for k in range(len(steps))):
                self.guaranteed[above] = added(self.guaranteed.get(above, {}), promised)
        self.resized(cluster)

    def resized(self, cluster: Cluster) -> None:
        """Measure shares of what is there now."""
        self.capacity = dict(zip(cluster.plan.scenario.resources, cluster.totals, strict=True))

    def turn(self, cluster: Cluster, asking: Mapping[int, int]) -> int | None:
        """Return the user at the end of the walk."""
        for user, leaf in enumerate(self._leaves):
            leaf.held = dict(zip(self.capacity, cluster.used[user], strict=True))
            leaf.blocked = user not in asking
        found = self._tree.first(self.capacity)
        return None if found is None else self._users[found.name]


def build(argument: str) -> Hierarchy:
    """Return the rule with that measure."""
    return Hierarchy(argument)
