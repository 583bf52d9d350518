"""First in, first out: served is whose waiting job came first; nobody's share is looked at.

What an unconfigured Hadoop did, and what fair sharing was invented against (Zaharia et al., Job Scheduling for
Multi-User MapReduce Clusters, UC Berkeley, 2009).
"""

from ..lowest_first import LowestFirst
from ..state import ClusterState

__all__ = ["Fifo", "build"]


class Fifo(LowestFirst):
    """Serve the job that came first, of those that have tasks waiting which fit."""

    name = "fifo"

    def level(self, cluster: ClusterState, user: int, kind: int) -> tuple[float, int]:
        """Return when the user's first waiting job with tasks of that kind came."""
        lot = cluster.queues[user][kind][0]
        return lot.job.arrival, lot.number

    def standing(self, cluster: ClusterState, user: int, used: list[int], running: int) -> int:
        """Return 0: nobody has a share from which she could be missing something."""
        return 0


def build(argument: str = "") -> Fifo:
    """Return the rule."""
    return Fifo()
