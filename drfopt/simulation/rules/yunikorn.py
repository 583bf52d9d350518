"""YuniKorn: the lowest share of what is guaranteed first, of the cluster where nothing is; groups before users.

Source: Apache YuniKorn core, pkg/scheduler/objects (sorting of queues by fairness) and pkg/common/resources.
"""

from fractions import Fraction
from typing import Any

from ..cluster import Cluster
from ..schedulers.hierarchy import Node
from ..schedulers.yunikorn import Queue, fair_share
from .hierarchy import Hierarchy

__all__ = ["Yunikorn", "build"]


class Yunikorn(Hierarchy):
    """Serve the lowest share of the guarantee."""

    def __init__(self) -> None:
        super().__init__("sum")
        self.name = "yunikorn"

    def key(self, node: Node) -> Any:
        """Return the share of the guarantee; a resource of which nothing is guaranteed is measured on the cluster."""
        promised = {name: amount for name, amount in self.guaranteed[node.name].items() if amount}
        return fair_share(Queue(node.held, promised, self.capacity)) / node.weight, node.position

    def standing(self, cluster: Cluster, user: int, used: list[int], running: int) -> Fraction:
        """Return the share of the guarantee of who holds so much."""
        names = cluster.plan.scenario.resources
        promised = {name: amount for name, amount in self.guaranteed[self._leaves[user].name].items() if amount}
        queue = Queue(dict(zip(names, used, strict=True)), promised, self.capacity)
        return fair_share(queue) / cluster.plan.weights[user]


def build(argument: str = "") -> Yunikorn:
    """Return the rule."""
    return Yunikorn()
