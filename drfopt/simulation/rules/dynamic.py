"""Dynamic DRF: with the k-th of n users there, at most k/n of every resource is used, and nobody ever loses.

When a user comes for the first time, the shares to which those present may rise are computed anew, exactly, from what
a task of each needs (of several kinds the one she asks for first).  They are then served, the lowest dominant share
first, as long as the next task stays within her part.  Users who leave give nothing back to the others' parts.

Source: Kash, Procaccia and Shah, No Agent Left Behind, AAMAS 2013; `drfopt.simulation.schedulers.dynamic`.
"""

import math
from fractions import Fraction
from operator import add, mul

from ..schedulers.dynamic import raised
from ..state import ClusterState
from ..turns import Ranked

__all__ = ["Dynamic", "build"]


class Dynamic(Ranked):
    """Serve those present within their parts."""

    name = "dynamic"

    def begin(self, cluster: ClusterState) -> None:
        """Nobody has come."""
        super().begin(cluster)
        self._came: dict[int, None] = {}
        self._demands: list[list[Fraction]] = []
        self._parts: list[Fraction] = []

    def resized(self, cluster: ClusterState) -> None:
        """Measure shares of what is there now, in a unit in which they are integers."""
        super().resized(cluster)
        self._unit = math.lcm(*(total for total in cluster.totals if total))
        self._rates = [self._unit // total if total else 0 for total in cluster.totals]
        self._measure(cluster)

    def dispatch(self, cluster: ClusterState) -> None:
        """Raise the parts for each user who has come, then serve."""
        come = [user for user in cluster.moved if cluster.queues[user] and user not in self._came]
        for user in sorted(come):
            lots = [line[0] for line in cluster.queues[user].values()]
            first = min(lots, key=lambda lot: lot.number).kind
            self._came[user] = None
            self._demands.append([Fraction(amount) for amount in cluster.demands[first]])
            totals = [Fraction(total) for total in cluster.totals]
            room = [total * Fraction(len(self._came), cluster.n) for total in totals]
            self._parts = raised(self._demands, room, [*self._parts, Fraction(0)], totals)
        if come:
            self._measure(cluster)
            self.forget(cluster, self._came)
        super().dispatch(cluster)

    def rank(self, cluster: ClusterState, user: int, kind: int) -> int | None:
        """Return the dominant share; None when the next task exceeds the user's part."""
        held = cluster.used[user]
        after = map(mul, map(add, held, cluster.demands[kind]), self._rates)
        return max(map(mul, held, self._rates)) if max(after) <= self._most[user] else None

    def _measure(self, cluster: ClusterState) -> None:
        """Write down the parts in the unit of the shares."""
        self._most = dict(zip(self._came, (math.floor(part * self._unit) for part in self._parts), strict=True))


def build(argument: str = "") -> Dynamic:
    """Return the rule."""
    return Dynamic()
