"""NVIDIA's KAI: fair shares of every resource on its own, then queues in the order of how much of theirs they have.

At every moment each resource is divided (`drfopt.simulation.rules.kai`; in whole units of the scenario): a user
deserves her guarantee and requests what runs and waits.  Last come users who hold more than their fair shares of
*every* resource; KAI counts cpu, memory and gpu, so that nobody does where a scenario has fewer than three.  Then come
first those whose next task keeps them within what they deserve, then higher tiers, then who would use nothing of which
she may be given nothing: the larger of what she deserves and of her fair share.  Of that, instead of the cluster, is
the dominant share, whose lowest comes next, with the next task and then without; amounts of what she may be given
nothing of count a thousandfold.  Of equals who may be given less comes first: less of everything in KAI, and less in
the sum of parts of the cluster here, as an order of all needs it.  Nobody is kept waiting while something fits: shares
order users, they do not bound them.

A task that ends changes what its user requests, and where there is not enough for all, the fair shares of all others:
a task costs more the more users there are, for a hundred of them five times what it costs under `drf`.

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
from dataclasses import dataclass
from fractions import Fraction
from operator import add, gt
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..levels import Amount, Requests, quick, rows_of, whole_guarantees, whole_weights
from ..state import ClusterState
from ..turns import Ranked

__all__ = ["Kai", "KaiQueue", "divide"]


RESOURCES = 3
"""Resources of a cluster of KAI: cpu, memory and gpu; one that a scenario does not name is held by nobody."""

PENALTY = 1000
"""Times what is held of a resource of which nothing may be given."""

Name = TypeVar("Name", bound=Hashable)

Row = NDArray[Any]
"""Amounts (n,), in machine integers where these suffice."""


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
    names = sorted(queues, key=lambda name: (queues[name].created, name))
    rows = [queues[name] for name in names]
    wanted, deserved, weights = rows_of(
        [queue.wanted for queue in rows],
        [queue.deserved for queue in rows],
        [queue.weight for queue in rows],
        most=_most(
            total + sum(queue.wanted + queue.deserved for queue in rows), [queue.weight for queue in rows], unit
        ),
    )
    shares, rest = _divide(
        total, wanted, deserved, weights, _classes([queue.priority for queue in rows], weights.tolist()), unit
    )
    found = dict(zip(names, shares.tolist(), strict=True))
    return {name: found[name] for name in queues}, rest if isinstance(rest, Fraction) else int(rest)


def _most(total: Amount, weights: Sequence[Amount], unit: int) -> Amount:
    """Return a bound on all that is made of amounts, weights and units on the way."""
    return total * (len(weights) + sum(weights)) * unit


def _classes(priorities: Sequence[int], weights: Sequence[Amount]) -> list[NDArray[np.intp]]:
    """Return the positions of those of each priority that have a weight, the highest first."""
    ranked = [priority if weight else None for priority, weight in zip(priorities, weights, strict=True)]
    row = np.array(ranked, dtype=object)
    return [np.flatnonzero(row == priority) for priority in sorted(set(priorities), reverse=True)]


def _divide(
    total: Amount, wanted: Row, deserved: Row, weights: Row, classes: Sequence[NDArray[np.intp]], unit: int
) -> tuple[Row, Amount]:
    """Return the fair shares (n,) of queues in the order of their creation, and what nobody gets."""
    if (spare := total - wanted.sum()) >= 0 and sum(map(len, classes)) == len(wanted):
        # Round after round would come to the same: while anybody lacks something, somebody's part is more than enough.
        return wanted, spare
    shares = np.minimum(deserved, wanted)
    rest = max(0, total - shares.sum())
    remainders = []
    for members in classes:
        rest, first = _rounds(rest, members, shares, wanted, weights, unit)
        remainders.append(first)
    for first in remainders:
        whole = int(rest // unit)
        shares[first[:whole]] += unit
        rest -= unit * len(first[:whole])
        if len(first) > whole:
            shares[first[whole]] += rest
            rest -= rest
    return shares, rest


def _rounds(
    rest: Amount, asking: NDArray[np.intp], shares: Row, wanted: Row, weights: Row, unit: int
) -> tuple[Amount, NDArray[np.intp]]:
    """Share what is left inside a class; return what then is left, and from whom rounding took, the most first."""
    asking = asking[shares[asking] < wanted[asking]]
    lost, losers = np.zeros(0), asking[:0]
    while rest and len(asking):
        own, missing = weights[asking], wanted[asking] - shares[asking]
        # Parts, rest * own / weight, are compared and rounded without a fraction.
        weight, parts = own.sum(), rest * own
        needs = missing * weight
        enough = needs <= parts
        given = np.where(enough, missing, parts // (weight * unit) * unit)
        shares[asking] += given
        rest -= given.sum()
        lost, losers = np.where(enough, 0, parts - given * weight), asking
        if not (needs < parts).any():
            break
        asking = asking[~enough]
    # Of equals the one created first comes first: the sort is stable.
    return rest, losers[np.argsort(-lost, kind="stable")[: np.count_nonzero(lost)]]


class Kai(Ranked):
    """Serve who has least of its fair share."""

    name = "kai"

    def begin(self, cluster: ClusterState) -> None:
        """Take note of what users deserve."""
        super().begin(cluster)
        self._deserved = whole_guarantees(cluster.plan)
        self._weights = whole_weights([1 / weight for weight in cluster.plan.weights])
        self._tiers = [user.tier for user in cluster.plan.scenario.users]
        self._classes = _classes(self._tiers, self._weights)
        self._requests = Requests(cluster)
        self._divided: list[Row] = [np.zeros(cluster.n)] * cluster.m
        self._fair = [[0] * cluster.n for _ in range(cluster.m)]

    def resized(self, cluster: ClusterState) -> None:
        """Divide what is there now."""
        super().resized(cluster)
        self._due = set(range(cluster.m))
        self._rows = [
            rows_of(deserved, self._weights, most=_most(total + max(deserved), self._weights, unit))
            for deserved, total, unit in zip(
                zip(*self._deserved, strict=True), cluster.totals, cluster.plan.units, strict=True
            )
        ]

    def survey(self, cluster: ClusterState, users: Collection[int]) -> Iterable[int]:
        """Divide every resource anew of which something else is requested."""
        again = set(users)
        self._due.update(j for _, j in self._requests.renew(cluster, users))
        for j in self._due:
            deserved, weights = self._rows[j]
            wanted = np.array(self._requests.columns[j], dtype=deserved.dtype)
            total, unit = cluster.totals[j], cluster.plan.units[j]
            fair = _divide(total, wanted, deserved, weights, self._classes, unit)[0]
            again.update(np.flatnonzero(fair != self._divided[j]).tolist())
            self._divided[j], self._fair[j] = fair, fair.tolist()
        self._due.clear()
        return again

    def rank(self, cluster: ClusterState, user: int, kind: int) -> tuple:
        """Return the place in the order of queues."""
        held, fair = cluster.used[user], [column[user] for column in self._fair]
        after = list(map(add, held, cluster.demands[kind]))
        over = cluster.m >= RESOURCES and all(map(gt, held, fair))
        beyond = any(map(gt, after, self._deserved[user]))
        allocatable = self._allocatable(user)
        none = any(amount and not share for amount, share in zip(after, allocatable, strict=True))
        units = cluster.plan.units
        shares = [part for amounts in (after, held) for part in quick(*_dominant(amounts, allocatable, units))]
        larger = sum(share / (total or 1) for share, total in zip(allocatable, cluster.totals, strict=True))
        return over, beyond, -self._tiers[user], none, *shares, larger

    def _allocatable(self, user: int) -> list[int]:
        """Return the most that a user may be given of each resource, (m,)."""
        return [max(column[user], own) for column, own in zip(self._fair, self._deserved[user], strict=True)]

    def standing(self, cluster: ClusterState, user: int, used: list[int], running: int) -> Fraction:
        """Return how much of what it may be given a user has who holds so much."""
        self.catch_up(cluster)
        return Fraction(*_dominant(used, self._allocatable(user), cluster.plan.units))


def _dominant(amounts: Sequence[int], allocatable: Sequence[int], units: Sequence[int]) -> tuple[int, int]:
    """Return numerator and denominator of the largest part of what may be given."""
    most, of = 0, 1
    for amount, share, unit in zip(amounts, allocatable, units, strict=True):
        part, whole = (amount, share) if share else (amount * PENALTY, unit)
        if part * of > most * whole:
            most, of = part, whole
    return most, of
