"""Koordinator's elastic quotas: tasks in the order in which they came, as long as their group is within its quota.

At every moment each resource is divided into runtime quotas (`drfopt.simulation.rules.koordinator`): a user is a
group of her own whose minimum is her guarantee, and requests what runs and waits.  Tasks start in the order of tiers,
then of their coming, and only within the runtime quotas of their user, of every resource.

A task that ends changes what its user requests, and where there is not enough for all, the quotas of all others: a
task costs more the more users there are, for a hundred of them five times what it costs under `drf`.

Source: Koordinator, pkg/scheduler/plugins/elasticquota.

Koordinator: the runtime quota of each group of one resource, in whole units.

A group starts with its minimum, or its guarantee where that is more, but with no more than it requests (a group that
does not lend keeps the whole minimum).  The rest is shared by weight among those who request more, by the method of
largest remainders; what exceeds a request is shared again among the others.

Source: Koordinator, pkg/scheduler/plugins/elasticquota/core/runtime_quota_calculator.go and its test.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from operator import add, gt
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..levels import Requests, rows_of, whole_guarantees, whole_weights
from ..state import ClusterState
from ..turns import Ranked

__all__ = ["Koordinator", "QuotaGroup", "runtime_quotas"]


Name = TypeVar("Name", str, int)

Row = NDArray[Any]
"""Amounts (n,), in machine integers where these suffice."""


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
    names = sorted(groups)
    rows = [groups[name] for name in names]
    floors = [max(group.minimum, group.guarantee) for group in rows]
    requests, minima, weights, lends = rows_of(
        [group.request for group in rows],
        floors,
        [group.weight for group in rows],
        [group.lends for group in rows],
        most=(total + sum(floors) + sum(group.request for group in rows)) * (1 + sum(group.weight for group in rows)),
    )
    found = dict(zip(names, _divide(total, requests, minima, weights, lends.astype(bool)).tolist(), strict=True))
    return {name: found[name] for name in groups}


def _divide(total: int, requests: Row, floors: Row, weights: Row, lends: NDArray[np.bool_]) -> Row:
    """Return the runtime quotas (n,) of groups in the order of their names."""
    if requests.sum() <= total and lends.all() and (weights > 0).all():
        return requests
    quotas = np.where(lends, np.minimum(requests, floors), floors)
    asking = np.flatnonzero(requests > floors)
    rest = total - quotas.sum()
    while rest > 0 and (weights[asking] > 0).any():
        quotas[asking] += _largest_remainders(rest, weights[asking])
        rest = np.maximum(0, quotas[asking] - requests[asking]).sum()
        quotas[asking] = np.minimum(quotas[asking], requests[asking])
        asking = asking[quotas[asking] < requests[asking]]
    return quotas


def _largest_remainders(amount: int, weights: Row) -> Row:
    """Share whole units by weight; of equal remainders the name that comes first gets the unit."""
    pot, total = amount * weights, weights.sum()
    parts = pot // total
    left = pot - parts * total
    parts[np.argsort(-left, kind="stable")[: amount - parts.sum()]] += 1
    return parts


class Koordinator(Ranked):
    """Serve the first who is within its quota."""

    name = "koordinator"

    def begin(self, cluster: ClusterState) -> None:
        """Take note of minima and weights."""
        super().begin(cluster)
        self._minima = whole_guarantees(cluster.plan)
        self._weights = whole_weights([1 / weight for weight in cluster.plan.weights])
        self._lends = np.ones(cluster.n, dtype=bool)
        self._requests = Requests(cluster)
        self._divided: list[Row] = [np.zeros(cluster.n)] * cluster.m
        self._quotas = [[0] * cluster.n for _ in range(cluster.m)]

    def resized(self, cluster: ClusterState) -> None:
        """Divide what is there now."""
        super().resized(cluster)
        self._due = set(range(cluster.m))
        bound = cluster.n * (1 + sum(self._weights))
        self._rows = [
            rows_of(minima, self._weights, most=(total + sum(minima)) * bound)
            for minima, total in zip(zip(*self._minima, strict=True), cluster.totals, strict=True)
        ]

    def survey(self, cluster: ClusterState, users: Collection[int]) -> Iterable[int]:
        """Work out the quotas of every resource of which something else is requested."""
        again = set(users)
        self._due.update(j for _, j in self._requests.renew(cluster, users))
        for j in self._due:
            minima, weights = self._rows[j]
            requests = np.array(self._requests.columns[j], dtype=minima.dtype)
            quotas = _divide(cluster.totals[j], requests, minima, weights, self._lends)
            again.update(np.flatnonzero(quotas != self._divided[j]).tolist())
            self._divided[j], self._quotas[j] = quotas, quotas.tolist()
        self._due.clear()
        return again

    def rank(self, cluster: ClusterState, user: int, kind: int) -> tuple[int, int] | None:
        """Return the tier and the coming of the next task; None when it exceeds a quota."""
        after = map(add, cluster.used[user], cluster.demands[kind])
        if any(map(gt, after, [column[user] for column in self._quotas])):
            return None
        return -cluster.plan.scenario.users[user].tier, cluster.queues[user][kind][0].number
