"""Koordinator's elastic quotas: tasks in the order in which they came, as long as their group is within its quota.

At every moment each resource is divided into runtime quotas (`drfopt.simulation.schedulers.koordinator`): a user is a
group of her own whose minimum is her guarantee, and requests what runs and waits.  Tasks start in the order of tiers,
then of their coming, and only within the runtime quotas of their user, of every resource.

A task that ends changes what its user requests, and where there is not enough for all, the quotas of all others: beside
rules that look at one user at a time this one costs more the more users there are.

Source: Koordinator, pkg/scheduler/plugins/elasticquota.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from operator import add, gt

from ..guarantees import whole_guarantees
from ..levels import whole_weights
from ..requests import Requests
from ..schedulers.koordinator import QuotaGroup, runtime_quotas
from ..state import ClusterState
from ..turns import Ranked

__all__ = ["Koordinator", "build"]


class Koordinator(Ranked):
    """Serve the first who is within its quota."""

    name = "koordinator"

    def begin(self, cluster: ClusterState) -> None:
        """Take note of minima and weights."""
        super().begin(cluster)
        minima, weights = whole_guarantees(cluster.plan), whole_weights([1 / weight for weight in cluster.plan.weights])
        self._groups = [
            {i: QuotaGroup(0, minima[i][j], weights[i]) for i in range(cluster.n)} for j in range(cluster.m)
        ]
        self._requests = Requests(cluster)
        self._quotas = [[0] * cluster.n for _ in range(cluster.m)]

    def resized(self, cluster: ClusterState) -> None:
        """Divide what is there now."""
        super().resized(cluster)
        self._divided: list[bool] = [False] * cluster.m

    def survey(self, cluster: ClusterState, users: Collection[int]) -> Iterable[int]:
        """Work out the quotas of every resource of which something else is requested."""
        again = set(users)
        for user, j in self._requests.renew(cluster, users):
            groups = self._groups[j]
            groups[user] = replace(groups[user], request=self._requests.columns[j][user])
            self._divided[j] = False
        for j, total in enumerate(cluster.totals):
            if not self._divided[j]:
                quotas = list(runtime_quotas(total, self._groups[j]).values())
                again.update(i for i, (new, old) in enumerate(zip(quotas, self._quotas[j], strict=True)) if new != old)
                self._quotas[j], self._divided[j] = quotas, True
        return again

    def rank(self, cluster: ClusterState, user: int, kind: int) -> tuple[int, int] | None:
        """Return the tier and the coming of the next task; None when it exceeds a quota."""
        after = map(add, cluster.used[user], cluster.demands[kind])
        if any(map(gt, after, [column[user] for column in self._quotas])):
            return None
        return -cluster.plan.scenario.users[user].tier, cluster.queues[user][kind][0].number


def build(argument: str = "") -> Koordinator:
    """Return the rule."""
    return Koordinator()
