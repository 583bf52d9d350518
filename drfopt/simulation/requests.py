"""What users ask for: what runs and what waits."""

from collections.abc import Iterable

from .lots import ENDLESS
from .state import ClusterState

__all__ = ["Requests"]


class Requests:
    """What each user asks for of each resource, in the plan's units, and no more than there is.

    Attributes
    ----------
    columns : m lists of n
    """

    def __init__(self, cluster: ClusterState):
        self.columns = [[0] * cluster.n for _ in range(cluster.m)]

    def renew(self, cluster: ClusterState, users: Iterable[int]) -> list[tuple[int, int]]:
        """Look at users again who hold or want something else, and return the users and resources that changed."""
        changed = []
        for user in users:
            for j, (amount, total) in enumerate(zip(_wanted(cluster, user), cluster.totals, strict=True)):
                asked = min(amount, total)
                if self.columns[j][user] != asked:
                    self.columns[j][user] = asked
                    changed.append((user, j))
        return changed


def _wanted(cluster: ClusterState, user: int) -> list[int]:
    """Return what the tasks of a user need that run or wait; of tasks without end all there is."""
    if cluster.waiting[user] < ENDLESS // 2:
        return cluster.wanted[user]
    row = list(cluster.used[user])
    for lot in (lot for line in cluster.queues[user].values() for lot in line):
        for j, need in enumerate(cluster.demands[lot.kind]):
            row[j] += need * lot.waiting if lot.waiting < ENDLESS // 2 else cluster.totals[j] * bool(need)
    return row
