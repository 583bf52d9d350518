"""NVIDIA's KAI: fair shares of every resource on its own, then queues in the order of how much of theirs they have.

At every moment each resource is divided (`drfopt.simulation.schedulers.kai`; in whole units of the scenario): a user
deserves her guarantee and requests what runs and waits.  First come users who are within their fair shares, then those
whose next task keeps them within what they deserve, then higher tiers, then the lowest dominant share, of the fair
share instead of the cluster, with the next task and then without.  Who would use a resource of which her fair share is
0 comes last.  Nobody is kept waiting while something fits: shares order users, they do not bound them.

A task that ends changes what its user requests, and where there is not enough for all, the fair shares of all others:
beside rules that look at one user at a time this one costs more the more users there are.

Source: NVIDIA KAI-Scheduler, pkg/scheduler/plugins/proportion/queue_order/queue_order.go.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from operator import add, gt

from ..guarantees import whole_guarantees
from ..levels import quick, whole_weights
from ..requests import Requests
from ..schedulers.amounts import Amount
from ..schedulers.kai import KaiQueue, divide
from ..state import ClusterState
from ..turns import Ranked

__all__ = ["Kai", "build"]

NONE = Fraction(0)


class Kai(Ranked):
    """Serve who has least of its fair share."""

    name = "kai"

    def begin(self, cluster: ClusterState) -> None:
        """Take note of what users deserve."""
        super().begin(cluster)
        users = cluster.plan.scenario.users
        self._deserved = whole_guarantees(cluster.plan)
        weights = whole_weights([1 / weight for weight in cluster.plan.weights])
        self._queues = [
            {
                i: KaiQueue(deserved[j], 0, weight=weights[i], priority=user.tier, created=i)
                for i, (user, deserved) in enumerate(zip(users, self._deserved, strict=True))
            }
            for j in range(cluster.m)
        ]
        self._requests = Requests(cluster)
        self._fair: list[list[Amount]] = [[0] * cluster.n for _ in range(cluster.m)]

    def resized(self, cluster: ClusterState) -> None:
        """Divide what is there now."""
        super().resized(cluster)
        self._divided: list[bool] = [False] * cluster.m

    def survey(self, cluster: ClusterState, users: Collection[int]) -> Iterable[int]:
        """Divide every resource anew of which something else is requested."""
        again = set(users)
        for user, j in self._requests.renew(cluster, users):
            queues = self._queues[j]
            queues[user] = replace(queues[user], request=self._requests.columns[j][user])
            self._divided[j] = False
        for j, (total, unit) in enumerate(zip(cluster.totals, cluster.plan.units, strict=True)):
            if not self._divided[j]:
                fair = list(divide(total, self._queues[j], unit)[0].values())
                again.update(i for i, (new, old) in enumerate(zip(fair, self._fair[j], strict=True)) if new != old)
                self._fair[j], self._divided[j] = fair, True
        return again

    def rank(self, cluster: ClusterState, user: int, kind: int) -> tuple:
        """Return the place in the order of queues."""
        held, fair = cluster.used[user], [column[user] for column in self._fair]
        after = list(map(add, held, cluster.demands[kind]))
        over = any(map(gt, held, fair))
        beyond = any(map(gt, after, self._deserved[user]))
        none = any(amount and not share for amount, share in zip(after, fair, strict=True))
        tier = cluster.plan.scenario.users[user].tier
        return over, beyond, -tier, none, *quick(_dominant(after, fair)), *quick(_dominant(held, fair))

    def standing(self, cluster: ClusterState, user: int, used: list[int], running: int) -> Fraction:
        """Return how much of its fair share a user has who holds so much."""
        self.catch_up(cluster)
        return _dominant(used, [column[user] for column in self._fair])


def _dominant(amounts: Sequence[int], fair: Sequence[Amount]) -> Fraction:
    return max((Fraction(amount) / share for amount, share in zip(amounts, fair, strict=True) if share), default=NONE)


def build(argument: str = "") -> Kai:
    """Return the rule."""
    return Kai()
