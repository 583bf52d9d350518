"""YARN's fair scheduler with its DRF policy: queues and applications compared by dominant share, needy ones first.

``yarn:intended`` compares without faults; ``yarn:hadoop-2``, ``yarn:hadoop-3`` and ``yarn:hadoop-3-fixed`` do as the
code did (`drfopt.simulation.schedulers.yarn`).  The groups of the scenario are queues, users are applications; a
minimum share is the guarantee, of a queue the sum of its users'.  A task is placed as soon as something changes; the
real one waits for the next heartbeat of a node.

Source: Apache Hadoop, scheduler/fair/policies/DominantResourceFairnessPolicy.java.
"""

import functools
from operator import mul
from typing import Any

from ...base.errors import PolicyError, suggestion
from ..schedulers.hierarchy import ShareNode
from ..schedulers.yarn import VERSIONS, compare_standings, ratio, stand
from ..state import ClusterState
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
