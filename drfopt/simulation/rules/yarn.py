"""YARN's fair scheduler with its DRF policy: queues and applications compared by dominant share, needy ones first.

``yarn:intended`` compares without faults; ``yarn:hadoop-2``, ``yarn:hadoop-3`` and ``yarn:hadoop-3-fixed`` do as the
code did (`drfopt.simulation.schedulers.yarn`).  The groups of the scenario are queues, users are applications; a
minimum share is the guarantee, of a queue the sum of its users'.  A task is placed as soon as something changes; the
real one waits for the next heartbeat of a node.

Source: Apache Hadoop, scheduler/fair/policies/DominantResourceFairnessPolicy.java.
"""

import functools
from typing import Any

from ...errors import PolicyError, suggestion
from ..cluster import Cluster
from ..schedulers.hierarchy import Node
from ..schedulers.yarn import VERSIONS, Queue, compare
from .hierarchy import Hierarchy

__all__ = ["Yarn", "build"]

MILLISECONDS = 1000


class Yarn(Hierarchy):
    """Serve as YARN's comparison says.

    Parameters
    ----------
    version : one of `drfopt.simulation.schedulers.yarn.VERSIONS`
    """

    def __init__(self, version: str = "intended"):
        if version not in VERSIONS:
            raise PolicyError(
                f"YARN has no version {version!r}{suggestion(version, VERSIONS)} (known: {', '.join(VERSIONS)})"
            )
        super().__init__("sum")
        self.name = f"yarn:{version}"
        self._faults = VERSIONS[version]
        self._first = functools.cmp_to_key(self._compared)

    def begin(self, cluster: Cluster) -> None:
        """Build the tree, and note when each application first comes."""
        super().begin(cluster)
        users = cluster.plan.scenario.users
        self._start = {
            leaf.name: int(MILLISECONDS * min((job.arrival for job in user.jobs), default=0))
            for leaf, user in zip(self._leaves, users, strict=True)
        }

    def key(self, node: Node) -> Any:
        """Return what orders siblings: YARN's own comparison."""
        start = self._start.get(node.name, 0)
        queue = Queue(node.held, node.weight, self.guaranteed[node.name], start, f"{node.position:09}")
        return self._first(queue)

    def _compared(self, one: Queue, other: Queue) -> int:
        return compare(one, other, self.capacity, self._faults)


def build(argument: str) -> Yarn:
    """Return the rule as that version has it."""
    return Yarn(argument)
