"""YuniKorn: the lowest share of what is guaranteed first, of the cluster where nothing is; groups before users.

Source: Apache YuniKorn core, pkg/scheduler/objects (sorting of queues by fairness) and pkg/common/resources.
"""

from operator import mul

from ..schedulers.amounts import Amount
from ..schedulers.hierarchy import ShareNode
from ..state import ClusterState
from .hierarchy import Hierarchy

__all__ = ["Yunikorn", "build"]


class Yunikorn(Hierarchy):
    """Serve the lowest share of the guarantee."""

    def __init__(self) -> None:
        super().__init__("sum")
        self.name = "yunikorn"

    def bounds(self, node: ShareNode) -> list[int]:
        """Return what the node is guaranteed; a resource of which nothing is guaranteed is measured on the cluster."""
        return [promised or total for promised, total in zip(self.guaranteed[node.name], self.totals, strict=True)]

    def standing(self, cluster: ClusterState, user: int, used: list[int], running: int) -> Amount:
        """Return the share of the guarantee of who holds so much, in a unit common to all."""
        return max(map(mul, used, self._leaves[user].rates))


def build(argument: str = "") -> Yunikorn:
    """Return the rule."""
    return Yunikorn()
