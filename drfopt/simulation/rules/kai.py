"""NVIDIA's KAI: fair shares of every resource on its own, then queues in the order of how much of theirs they have.

At every moment each resource is divided (`drfopt.simulation.rules.kai`; in whole units of the scenario): a user
deserves her guarantee and requests what runs and waits.  First come users who are within their fair shares, then those
whose next task keeps them within what they deserve, then higher tiers, then the lowest dominant share, of the fair
share instead of the cluster, with the next task and then without.  Who would use a resource of which her fair share is
0 comes last.  Nobody is kept waiting while something fits: shares order users, they do not bound them.

A task that ends changes what its user requests, and where there is not enough for all, the fair shares of all others:
beside rules that look at one user at a time this one costs more the more users there are.

Source: NVIDIA KAI-Scheduler, pkg/scheduler/plugins/proportion/queue_order/queue_order.go.

NVIDIA's KAI scheduler: one resource divided among queues, mostly in whole units.

Everybody first gets what she deserves and asks for.  What is left goes to one class of priority after the other,
higher first; inside a class it is shared by weight, round after round, among those who still ask: whoever asks for no
more than her part gets it all, the others their part rounded down.  Units lost to rounding go, one each, to the largest
remainders; of equals to the queue that was created first.  Every resource is divided on its own.

Left out is the term that lowers the weight of queues by their past usage, which is off by default.

Source: NVIDIA KAI-Scheduler, pkg/scheduler/plugins/proportion/resource_division, and its test.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import add, gt
from typing import TypeVar

from ..levels import Requests, quick, whole_guarantees, whole_weights
from ..state import ClusterState
from ..turns import Ranked
from .amounts import Amount

__all__ = ["Kai", "KaiQueue", "divide"]


Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class KaiQueue:
    """What a queue deserves and requests of one resource, the most it may have, and how it shares in the rest."""

    deserved: Amount
    request: Amount
    most: Amount | None = None
    weight: Amount = 1
    priority: int = 0
    created: int = 0

    @property
    def wanted(self) -> Amount:
        """The request, as far as it is allowed."""
        return self.request if self.most is None else min(self.request, self.most)


def divide(total: Amount, queues: Mapping[Name, KaiQueue], unit: int = 1) -> tuple[dict[Name, Amount], Amount]:
    """Return the fair share of every queue, and what nobody gets.

    Parameters
    ----------
    total : Amount
    queues : mapping from name to KaiQueue
    unit : int
        Of so much a part is rounded down to multiples.

    >>> shares, _ = divide(11, {"a": KaiQueue(2, 10, weight=1), "b": KaiQueue(2, 10, weight=4)})
    >>> {name: int(share) for name, share in shares.items()}
    {'a': 3, 'b': 8}
    """
    wanted = {name: queue.wanted for name, queue in queues.items()}
    if (spare := total - sum(wanted.values())) >= 0 and all(queue.weight for queue in queues.values()):
        # Round after round would come to the same: while anybody lacks something, somebody's part is more than enough.
        return wanted, spare
    shares = {name: min(queue.deserved, wanted[name]) for name, queue in queues.items()}
    rest = max(0, total - sum(shares.values()))
    classes = [
        {name: queue for name, queue in queues.items() if queue.priority == priority}
        for priority in sorted({queue.priority for queue in queues.values()}, reverse=True)
    ]
    remainders: list[dict[Name, Amount]] = []
    for members in classes:
        rest, left = _rounds(rest, members, shares, wanted, unit)
        remainders.append(left)
    for left in remainders:
        for name in sorted(left, key=lambda name: (-left[name], queues[name].created, name)):
            given = min(unit, rest)
            shares[name] += given
            rest -= given
    return shares, rest


def _rounds(
    rest: Amount,
    members: Mapping[Name, KaiQueue],
    shares: dict[Name, Amount],
    wanted: Mapping[Name, Amount],
    unit: int,
) -> tuple[Amount, dict[Name, Amount]]:
    """Share what is left inside a class; return what then is left, and what rounding took, times the weight of all."""
    lost: dict[Name, Amount] = {}
    asking = [(name, queue.weight) for name, queue in members.items() if queue.weight and shares[name] < wanted[name]]
    while rest and asking:
        weight, pot, again = sum(part for _, part in asking), rest, False
        lost.clear()
        for name, own in asking:
            # Parts, pot * own / weight, are compared and rounded without a fraction.
            part, missing = pot * own, wanted[name] - shares[name]
            if missing * weight <= part:
                given, again = missing, again or missing * weight < part
            else:
                given = part // (weight * unit) * unit
                if given * weight < part:
                    lost[name] = part - given * weight
            shares[name] += given
            rest -= given
        if not again:
            break
        asking = [(name, own) for name, own in asking if shares[name] < wanted[name]]
    return rest, lost


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
