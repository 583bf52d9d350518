"""CEEI worked out anew whenever somebody begins or ceases to ask: served is who is furthest below her part of it.

At every moment the users who run tasks or have tasks waiting stand for an instance: one pool of all machines that are
up, each user with the average demand of her tasks.  Its competitive equilibrium from equal incomes says how many tasks
each should run; served is who runs the smallest part of its own.  A user with fewer tasks than its part has a limit.
The equilibrium is found in floats: parts that differ by less than they tell are equal.

A task that ends lowers its user's limit.  Where the limit does not bind, the equilibrium stays what it is; where it
does, or where the average demand is another, Newton's method has to find the prices again, which takes as long as fifty
tasks under `drf`.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 5.2, for the policy; recomputing it as tasks come
and go is the obvious way of scheduling by it.
"""

import numpy as np

from ...solving.batches.batch import solve_many
from ..plan import ENDLESS
from ..state import ClusterState
from ..turns import LowestFirst

__all__ = ["Ceei"]

SLACK = 1e-6
"""A limit further than this above the tasks of an equilibrium does not bind it: tasks are found to 1e-8."""

DIGITS = 7
"""After the point of a part, for the same reason."""

KNOWN = 10_000
"""Equilibria that are kept, for the same users ask for the same again and again."""


class Ceei(LowestFirst):
    """Serve the smallest part of the tasks that the equilibrium gives."""

    name = "ceei"

    def resized(self, cluster: ClusterState) -> None:
        """Forget the equilibria of another cluster."""
        super().resized(cluster)
        self._known: dict[tuple, list[float]] = {}
        self._there: dict[int, tuple] = {}
        self._tasks: list[float] = [0.0] * cluster.n
        self._stale = self._due = self._fresh = False

    def dispatch(self, cluster: ClusterState) -> None:
        """Work out the equilibrium of the moment if anybody can be served, then serve."""
        for user in cluster.moved:
            self._meet(cluster, user)
        self._due = self._stale and any(cluster.waiting)
        if cluster.opened or any(self._full.fitting(cluster, machine) for machine in cluster.freed):
            self._catch_up(cluster)
        if self._fresh:
            self._fresh = False
            cluster.moved.update(dict.fromkeys(range(cluster.n)))
        super().dispatch(cluster)

    def level(self, cluster: ClusterState, user: int, kind: int) -> float:
        """Return the tasks that run as a part of those of the equilibrium."""
        return self._part(user, cluster.running[user])

    def standing(self, cluster: ClusterState, user: int, used: list[int], running: int) -> float:
        """Return so many tasks as a part of those of the equilibrium."""
        self._catch_up(cluster)
        return self._part(user, running)

    def _part(self, user: int, running: int) -> float:
        tasks = self._tasks[user]
        return round(running / tasks, DIGITS) if tasks > 0 else float(running)

    def _catch_up(self, cluster: ClusterState) -> None:
        """Have the equilibrium of the moment, if somebody waits."""
        if self._due:
            self._due, self._stale, self._fresh = False, False, True
            self._tasks = self._equilibrium(cluster, tuple(self._there[user] for user in sorted(self._there)))

    def _meet(self, cluster: ClusterState, user: int) -> None:
        """Write down for tasks of which average demand a user asks, up to which limit."""
        tasks = cluster.running[user] + cluster.waiting[user]
        if not tasks:
            self._stale |= self._there.pop(user, None) is not None
            return
        demand = tuple(cluster.average(user))
        most = min((room / need for room, need in zip(cluster.totals, demand, strict=True) if need), default=0.0)
        before, new = self._there.get(user), (user, demand, tasks if tasks < min(most, ENDLESS // 2) else None)
        self._there[user] = new
        if before is None or before[1] != demand:
            self._stale = True
        elif before != new:
            # A limit that does not bind, neither before nor now, can go without moving a price.
            room = self._tasks[user] * (1 + SLACK)
            self._stale |= any(limit is not None and limit < room for limit in (before[2], new[2]))

    def _equilibrium(self, cluster: ClusterState, asking: tuple) -> list[float]:
        """Return the tasks of each user in the equilibrium, (n,)."""
        if asking not in self._known:
            if len(self._known) >= KNOWN:
                self._known.clear()
            demands = np.array([demand for _, demand, _ in asking])
            weights = np.array([float(cluster.plan.weights[user]) for user, _, _ in asking])
            limits = np.array([np.inf if limit is None else float(limit) for _, _, limit in asking])
            pool = np.array(cluster.totals, dtype=float)
            found = solve_many(demands[None], pool, "ceei", weights=weights, limits=limits).tasks[0]
            tasks = [0.0] * cluster.n
            for (user, _, _), count in zip(asking, found.tolist(), strict=True):
                tasks[user] = count
            self._known[asking] = tasks
        return self._known[asking]
