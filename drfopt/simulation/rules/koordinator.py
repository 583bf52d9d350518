"""Koordinator's elastic quotas: tasks in the order in which they came, as long as their group is within its quota.

At every moment each resource is divided into runtime quotas (`drfopt.simulation.schedulers.koordinator`): a user is a
group of her own whose minimum is her guarantee, and requests what runs and waits.  Tasks start in the order of tiers,
then of their coming, and only within the runtime quotas of their user, of every resource.

Source: Koordinator, pkg/scheduler/plugins/elasticquota.
"""

from collections.abc import Mapping

from ..cluster import Cluster
from ..guarantees import whole_guarantees
from ..levels import whole_weights
from ..requests import requests
from ..schedulers.koordinator import Group, runtime_quotas
from ..turns import Turns

__all__ = ["Koordinator", "build"]


class Koordinator(Turns):
    """Serve the first who is within her quota."""

    name = "koordinator"
    everywhere = True

    def begin(self, cluster: Cluster) -> None:
        """Take note of minima and weights."""
        self._minima = whole_guarantees(cluster.plan)
        self._weights = whole_weights([1 / weight for weight in cluster.plan.weights])

    def dispatch(self, cluster: Cluster) -> None:
        """Work out the quotas of every resource, then serve."""
        asked = requests(cluster)
        self._quotas: list[list[int]] = [[] for _ in range(cluster.n)]
        for j, total in enumerate(cluster.totals):
            groups = {f"{i:09}": Group(asked[i][j], self._minima[i][j], self._weights[i]) for i in range(cluster.n)}
            for i, quota in enumerate(runtime_quotas(total, groups).values()):
                self._quotas[i].append(quota)
        super().dispatch(cluster)

    def turn(self, cluster: Cluster, asking: Mapping[int, int]) -> int | None:
        """Return the first whose next task stays within her quotas."""
        able = []
        for user, kind in asking.items():
            after = map(int.__add__, cluster.used[user], cluster.plan.kinds[kind].demand)
            if all(map(int.__le__, after, self._quotas[user])):
                tier = cluster.plan.scenario.users[user].tier
                able.append((-tier, cluster.queues[user][kind][0].number, user))
        return min(able)[-1] if able else None


def build(argument: str = "") -> Koordinator:
    """Return the rule."""
    return Koordinator()
