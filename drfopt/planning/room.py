"""Whether tasks can be placed in a cluster that grows or shrinks: cuts that stay true, and a program for new ones.

Tasks x can be placed in a room when no prices say otherwise: for prices p >= 0 of every resource on every class, and
q_i the cost of a task on user i's cheapest class,

    sum_i q_i x_i  <=  p . room.

Such a *cut* speaks of any tasks and any room.  In a pool one a resource are all there are.  On machines the linear
program of the least crowding finds one whenever the cuts known so far let something pass that cannot be placed.
"""

from dataclasses import dataclass

import highspy
import numpy as np
from scipy import sparse

from ..engines import Problem
from ..engines.linear import INFINITY, capacity_rows, load, run, user_rows
from ..instance import Instance
from ..policies import Policy

__all__ = ["Cut", "Room"]

NEGLIGIBLE = 1e-12
"""Cost of a user's tasks, as a part of all, that is what the solver's rounding left."""


@dataclass(frozen=True, eq=False)
class Cut:
    """Costs of a task (n,) and prices of a unit (k, m); what stands in the room now costs 1."""

    costs: np.ndarray
    prices: np.ndarray

    def crowding(self, tasks: np.ndarray, room: np.ndarray, now: np.ndarray) -> float:
        """Return by how many times today's room would have to be larger, more or less: above 1 there is no place."""
        return float(self.costs @ tasks - (self.prices * (room - now)).sum())


class Room:
    """The room of a cluster, and the cuts known of it."""

    def __init__(self, instance: Instance, policy: Policy):
        self.instance, self.policy = instance, policy
        self.now = instance.room
        self.cuts: list[Cut] = []
        self.programs = 0
        self._highs: highspy.Highs | None = None
        if instance.machines is None:
            self.cuts = [self._whole(j) for j in range(instance.m) if instance.capacity[j] > 0]

    def _whole(self, j: int) -> Cut:
        prices = np.zeros((1, self.instance.m))
        prices[0, j] = 1 / self.instance.capacity[j]
        return Cut(self.instance.demands[:, j] / self.instance.capacity[j], prices)

    def crowding(self, tasks: np.ndarray, room: np.ndarray) -> float:
        """Return the crowding that the cuts know of."""
        return max((cut.crowding(tasks, room, self.now) for cut in self.cuts), default=0.0)

    def asked(self, tasks: np.ndarray, room: np.ndarray) -> float:
        """Return the crowding, by a program where cuts may not know it; the cut that shows it is kept."""
        if self.instance.machines is None or not tasks.any():
            return self.crowding(tasks, room)
        high = self._highs = self._build(tasks) if self._highs is None else self._highs
        problem, rows = self._problem, self._rows
        self.programs += 1
        users, n = problem.members, problem.n
        cells = (rows.machine, rows.resource)
        for r, need in enumerate((tasks[users] / self._scale).tolist()):
            high.changeRowBounds(r, need, INFINITY)
        spare = (room[cells] - self.now[cells]) / self.now[cells]
        for r, more in enumerate(spare.tolist()):
            high.changeRowBounds(n + r, -INFINITY, more)
        found = run(high, "the room of a changed cluster")
        prices, costs = np.zeros_like(self.now), np.zeros(self.instance.n)
        prices[cells] = np.maximum(-found.duals[n:], 0) / self.now[cells]
        costs[users] = np.maximum(found.duals[:n], 0) / self._scale
        costs[costs * tasks < NEGLIGIBLE] = 0
        self.cuts.append(Cut(costs, prices))
        return found.objective

    def _build(self, tasks: np.ndarray) -> highspy.Highs:
        """Return HiGHS holding:  minimise s,  sum_k v_ik >= x_i,  A v - s <= spare."""
        problem = Problem(self.instance, self.policy)
        rows = capacity_rows(problem)
        user, _ = problem.pairs
        held = tasks[problem.members]
        alone = np.full(problem.n, np.inf)
        np.minimum.at(alone, user, 1 / rows.matrix.max(axis=0).toarray().ravel())
        scale = np.where(held > 0, held, alone)
        matrix = rows.matrix @ sparse.diags(scale[user])
        crowd = sparse.csr_matrix(-np.ones((len(rows.machine), 1)))
        cost = np.zeros(len(user) + 1)
        cost[-1] = 1.0
        low = np.concatenate([np.zeros(problem.n), np.full(len(rows.machine), -INFINITY)])
        high = np.concatenate([np.full(problem.n, INFINITY), np.zeros(len(rows.machine))])
        whole = sparse.bmat([[user_rows(problem), None], [matrix, crowd]], format="csr")
        self._problem, self._rows, self._scale = problem, rows, scale
        return load(cost, np.full(len(user) + 1, INFINITY), whole, low, high)
