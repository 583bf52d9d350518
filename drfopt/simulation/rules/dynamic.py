"""Dynamic DRF: with the k-th of n users there, at most k/n of every resource is used, and nobody ever loses.

When a user comes for the first time, the shares to which those present may rise are computed anew, exactly, from what
a task of each needs (of several kinds the one she asks for first).  They are then served, the lowest dominant share
first, as long as the next task stays within her part.  Users who leave give nothing back to the others' parts.

Source: Kash, Procaccia and Shah, No Agent Left Behind, AAMAS 2013; `drfopt.simulation.schedulers.dynamic`.
"""

from collections.abc import Mapping
from fractions import Fraction

from ..cluster import Cluster
from ..schedulers.dynamic import raised
from ..turns import Turns

__all__ = ["Dynamic", "build"]


class Dynamic(Turns):
    """Serve those present within their parts."""

    name = "dynamic"
    everywhere = True

    def begin(self, cluster: Cluster) -> None:
        """Nobody has come."""
        self._came: list[int] = []
        self._demands: list[list[Fraction]] = []
        self._parts: list[Fraction] = []

    def dispatch(self, cluster: Cluster) -> None:
        """Raise the parts for each user who has come, then serve."""
        for user, queue in enumerate(cluster.queues):
            if queue and user not in self._came:
                lots = [line[0] for line in queue.values()]
                first = min(lots, key=lambda lot: lot.number).kind
                self._came.append(user)
                self._demands.append([Fraction(amount) for amount in cluster.plan.kinds[first].demand])
                totals = [Fraction(total) for total in cluster.totals]
                room = [total * Fraction(len(self._came), cluster.n) for total in totals]
                self._parts = raised(self._demands, room, [*self._parts, Fraction(0)], totals)
        super().dispatch(cluster)

    def turn(self, cluster: Cluster, asking: Mapping[int, int]) -> int | None:
        """Return the lowest of those whose next task stays within her part."""
        able = [
            (self._share(cluster, user), user)
            for user, kind in asking.items()
            if self._share(cluster, user, kind) <= self._parts[self._came.index(user)]
        ]
        return min(able)[1] if able else None

    def _share(self, cluster: Cluster, user: int, kind: int | None = None) -> Fraction:
        more = [0] * cluster.m if kind is None else cluster.plan.kinds[kind].demand
        return max(
            Fraction(held + need, total)
            for held, need, total in zip(cluster.used[user], more, cluster.totals, strict=True)
            if total
        )


def build(argument: str = "") -> Dynamic:
    """Return the rule."""
    return Dynamic()
