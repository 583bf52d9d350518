"""NVIDIA's KAI: fair shares of every resource on its own, then queues in the order of how much of theirs they have.

At every moment each resource is divided (`drfopt.simulation.schedulers.kai`; in whole units of the scenario): a user
deserves her guarantee and requests what runs and waits.  First come users who are within their fair shares, then those
whose next task keeps them within what they deserve, then higher tiers, then the lowest dominant share, of the fair
share instead of the cluster, with the next task and then without.  Who would use a resource of which her fair share is
0 comes last.  Nobody is kept waiting while something fits: shares order users, they do not bound them.

Source: NVIDIA KAI-Scheduler, pkg/scheduler/plugins/proportion/queue_order/queue_order.go.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ..cluster import Cluster
from ..guarantees import whole_guarantees
from ..requests import requests
from ..schedulers.kai import Queue, divide
from ..turns import Turns

__all__ = ["Kai", "build"]


class Kai(Turns):
    """Serve who has least of her fair share."""

    name = "kai"

    def begin(self, cluster: Cluster) -> None:
        """Take note of what users deserve."""
        self._deserved = whole_guarantees(cluster.plan)

    def dispatch(self, cluster: Cluster) -> None:
        """Divide every resource anew, then serve."""
        users = cluster.plan.scenario.users
        asked = requests(cluster)
        self._fair: list[list[Fraction]] = [[] for _ in users]
        for j, unit in enumerate(cluster.plan.units):
            queues = {
                f"{i:09}": Queue(
                    Fraction(self._deserved[i][j], unit),
                    Fraction(asked[i][j], unit),
                    weight=user.weight,
                    priority=user.tier,
                    created=i,
                )
                for i, user in enumerate(users)
            }
            shares, _ = divide(Fraction(cluster.totals[j], unit), queues)
            for i, share in enumerate(shares.values()):
                self._fair[i].append(share * unit)
        super().dispatch(cluster)

    def turn(self, cluster: Cluster, asking: Mapping[int, int]) -> int | None:
        """Return the first in the order of queues."""
        return min(asking, key=lambda user: self._rank(cluster, user, asking[user]))

    def standing(self, cluster: Cluster, user: int, used: list[int], running: int) -> Fraction:
        """Return how much of her fair share a user has who holds so much."""
        return _dominant(used, self._fair[user])

    def _rank(self, cluster: Cluster, user: int, kind: int) -> tuple:
        held, fair = cluster.used[user], self._fair[user]
        after = [amount + need for amount, need in zip(held, cluster.plan.kinds[kind].demand, strict=True)]
        over = any(amount > share for amount, share in zip(held, fair, strict=True))
        beyond = any(amount > share for amount, share in zip(after, self._deserved[user], strict=True))
        none = any(amount and not share for amount, share in zip(after, fair, strict=True))
        tier = cluster.plan.scenario.users[user].tier
        return over, beyond, -tier, none, _dominant(after, fair), _dominant(held, fair), user


def _dominant(amounts: Sequence[int], fair: Sequence[Fraction]) -> Fraction:
    return max((amount / share for amount, share in zip(amounts, fair, strict=True) if share), default=Fraction(0))


def build(argument: str = "") -> Kai:
    """Return the rule."""
    return Kai()
