"""Karma: credits for demands that vary, on one resource: ``karma:cpu``.

Every `quantum` seconds slices of the resource are divided anew by credits (`drfopt.simulation.schedulers.karma`); a
slice is the largest amount of which every demand is a multiple; what does not divide into equal parts is nobody's, as
public slices are, so that it can be borrowed.  Users ask for the slices that their running and
waiting tasks need.  Tasks beyond a user's slices are revoked, the latest first, and begin anew later; tasks that need
nothing of the resource are free to start.

Source: Vuppalapati et al., Karma: Resource Allocation for Dynamic Demands, OSDI 2023.
"""

import math

from ..requests import Requests
from ..schedulers.karma import Karma
from ..state import ClusterState
from ..turns import Ranked

__all__ = ["KarmaRule", "build"]

QUANTUM = 60.0
"""Seconds between two divisions, unless given."""

PUBLIC = 0.5
"""Part of the slices that belongs to nobody, unless given."""


class KarmaRule(Ranked):
    """Divide one resource by credits.

    Parameters
    ----------
    resource : str
    quantum : float
        Seconds between two divisions.
    public : float
        Part of the slices that belongs to nobody.
    credits : int or None
        What every user starts with; None is ten times all slices.
    inflation : int
        What every user gains at a division.
    """

    def __init__(
        self,
        resource: str,
        quantum: float = QUANTUM,
        public: float = PUBLIC,
        credits: int | None = None,
        inflation: int = 0,
    ):
        self.name = f"karma:{resource}"
        self.resource, self.quantum, self.public = resource, quantum, public
        self.credits, self.inflation = credits, inflation

    def begin(self, cluster: ClusterState) -> None:
        """Cut the resource into slices."""
        super().begin(cluster)
        scenario = cluster.plan.scenario
        if self.resource not in scenario.resources:
            raise self.refuse(f"divides {self.resource!r}, but the cluster has {', '.join(scenario.resources)}")
        self._j = scenario.resources.index(self.resource)
        self._needs = [kind.demand[self._j] for kind in cluster.plan.kinds]
        self._slice = math.gcd(*self._needs)
        if not self._slice:
            raise self.refuse(f"divides {self.resource!r}, but no task needs any of it")
        self._users = cluster.n
        slices = cluster.totals[self._j] // self._slice
        start = 10 * slices if self.credits is None else self.credits
        users = tuple(map(str, range(cluster.n)))
        self._state = Karma(users, slices, self._nobodys(slices), self.inflation, dict.fromkeys(users, start))
        self._parts = [0] * cluster.n
        self._requests = Requests(cluster)
        self._next = 0.0

    def resized(self, cluster: ClusterState) -> None:
        """Divide what is there now, from the next division on."""
        super().resized(cluster)
        self._state.slices = cluster.totals[self._j] // self._slice
        self._state.public = self._nobodys(self._state.slices)

    def _nobodys(self, slices: int) -> int:
        """Return how many slices are public: the part that is, and what is left of the rest by equal parts."""
        public = int(self.public * slices)
        return public + (slices - public) % self._users

    def dispatch(self, cluster: ClusterState) -> None:
        """Divide anew if it is time, then serve everybody within her slices."""
        if cluster.now >= self._next and any(cluster.waiting):
            self._divide(cluster)
            self._next = cluster.now + self.quantum
            cluster.wake(self._next)
        super().dispatch(cluster)

    def rank(self, cluster: ClusterState, user: int, kind: int) -> int | None:
        """Return what the user holds; None when the next task exceeds its slices."""
        held = cluster.used[user][self._j]
        return held if held + self._needs[kind] <= self._parts[user] else None

    def standing(self, cluster: ClusterState, user: int, used: list[int], running: int) -> int:
        """Return what she holds of the resource that is divided."""
        return used[self._j]

    def _divide(self, cluster: ClusterState) -> None:
        self._requests.renew(cluster, range(cluster.n))
        most = self._state.slices
        demands = {
            str(user): min(asked // self._slice, most) for user, asked in enumerate(self._requests.columns[self._j])
        }
        given = self._state.round(demands)
        self._parts = [given[str(user)] * self._slice for user in range(cluster.n)]
        self._take_back(cluster)
        self.forget(cluster, range(cluster.n))

    def _take_back(self, cluster: ClusterState) -> None:
        """Revoke what users hold beyond their slices, what started last first."""
        over = {user for user in range(cluster.n) if cluster.used[user][self._j] > self._parts[user]}
        running = [batch for on in cluster.on for batch in on.values() if batch.lot.user in over]
        for batch in sorted(running, key=lambda batch: -batch.number):
            need, user = self._needs[batch.lot.kind], batch.lot.user
            surplus = cluster.used[user][self._j] - self._parts[user]
            if need and surplus > 0:
                cluster.revoke(batch, min(batch.count, -(-surplus // need)))


def build(argument: str) -> KarmaRule:
    """Return the rule that divides that resource."""
    return KarmaRule(argument)
