"""Koordinator's elastic quotas: tasks in the order in which they came, as long as their group is within its quota.

At every moment each resource is divided into runtime quotas (`drfopt.simulation.rules.koordinator`): a user is a
group of her own whose minimum is her guarantee, and requests what runs and waits.  Tasks start in the order of tiers,
then of their coming, and only within the runtime quotas of their user, of every resource.

A task that ends changes what its user requests, and where there is not enough for all, the quotas of all others: beside
rules that look at one user at a time this one costs more the more users there are.

Source: Koordinator, pkg/scheduler/plugins/elasticquota.

Koordinator: the runtime quota of each group of one resource, in whole units.

A group starts with its minimum, or its guarantee where that is more, but with no more than it requests (a group that
does not lend keeps the whole minimum).  The rest is shared by weight among those who request more, by the method of
largest remainders; what exceeds a request is shared again among the others.

Source: Koordinator, pkg/scheduler/plugins/elasticquota/core/runtime_quota_calculator.go and its test.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from heapq import nsmallest
from operator import add, gt
from typing import Any, TypeVar

from ..levels import Requests, whole_guarantees, whole_weights
from ..state import ClusterState
from ..turns import Ranked

__all__ = ["Koordinator", "QuotaGroup", "runtime_quotas"]


Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class QuotaGroup:
    """What a group requests of one resource, its minimum, its guarantee, its weight, and whether it lends."""

    request: int
    minimum: int = 0
    weight: int = 1
    guarantee: int = 0
    lends: bool = True


def runtime_quotas(total: int, groups: Mapping[Name, QuotaGroup]) -> dict[Name, int]:
    """Return the runtime quota of each group.

    >>> groups = {"a": QuotaGroup(2, weight=1), "b": QuotaGroup(9, weight=1), "c": QuotaGroup(9, weight=1)}
    >>> runtime_quotas(10, groups)
    {'a': 2, 'b': 4, 'c': 4}
    """
    requests = {name: group.request for name, group in groups.items()}
    if sum(requests.values()) <= total and all(group.lends and group.weight > 0 for group in groups.values()):
        return requests
    floors = {name: max(group.minimum, group.guarantee) for name, group in groups.items()}
    quotas = {name: min(group.request, floors[name]) if group.lends else floors[name] for name, group in groups.items()}
    asking = [name for name, group in groups.items() if group.request > floors[name]]
    rest = total - sum(quotas.values())
    while rest > 0 and any(groups[name].weight > 0 for name in asking):
        for name, part in _largest_remainders(rest, {name: groups[name].weight for name in asking}).items():
            quotas[name] += part
        rest = sum(max(0, quotas[name] - groups[name].request) for name in asking)
        for name in asking:
            quotas[name] = min(quotas[name], groups[name].request)
        asking = [name for name in asking if quotas[name] < groups[name].request]
    return quotas


def _largest_remainders(amount: int, weights: Mapping[Any, int]) -> dict[Any, int]:
    """Share whole units by weight; of equal remainders the name that comes first gets the unit."""
    total = sum(weights.values())
    parts, remainders = {}, []
    for name, weight in weights.items():
        parts[name], rest = divmod(amount * weight, total)
        if weight:
            remainders.append((-rest, name))
    for _, name in nsmallest(amount - sum(parts.values()), remainders):
        parts[name] += 1
    return parts


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
