"""Whether tasks can be placed in a cluster that grows or shrinks: cuts that stay true, and a program for new ones.

Tasks x can be placed in a room when no prices say otherwise: for prices p >= 0 of every resource on every class, and
q_i the cost of a task on user i's cheapest class,

    sum_i q_i x_i  <=  p . room.

Such a *cut* speaks of any tasks and any room.  In a pool one a resource are all there are.  On machines the linear
program of the least crowding finds one whenever the cuts known so far let something pass that cannot be placed.

Rates of a cluster that grows: how much of the whole one task is, and how that turns as the whole grows.

Level and share are parts of the cluster, so a unit more of a resource makes every task a smaller part of it, whether
anybody waits for that resource or not.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ...base.errors import SolverError
from ...engines.problem import Problem
from ...model.instance import Instance
from ...model.monopolies import Monopoly, monopolies
from ...model.policies import Policy, shares_per_task

__all__ = ["CUTS", "TIGHT", "Grown", "Room", "skewed", "slopes_of_rates"]


TIGHT = 1e-9
"""What rounding and the solver leave of a condition that holds, relative to levels and rooms."""

CUTS = 100
"""Cuts for one question: more than have ever been needed."""

NEGLIGIBLE = 1e-12
"""Cost of a user's tasks, as a part of all, that is what the solver's rounding left."""

SKEWED = 1e-6
"""Part of her largest share of a machine below which what a task needs of a resource is lost in what is `TIGHT`."""


def skewed(instance: Instance) -> bool:
    """Say whether a program in floats would let somebody run where, of a resource she needs little of, nothing is left.

    In a pool nobody is placed.
    """
    if instance.machines is None:
        return False
    needs = instance.demands > 0
    for room in instance.room:
        shares = np.divide(instance.demands, room, out=np.zeros_like(instance.demands), where=needs & (room > 0))
        least = np.where(shares > 0, shares, np.inf).min(axis=1)
        if (least < SKEWED * shares.max(axis=1)).any():
            return True
    return False


class Room:
    """The room of a cluster in which some tasks (n,) have a place, and the cuts known of it."""

    def __init__(self, instance: Instance, policy: Policy, tasks: np.ndarray):
        self.instance, self.policy, self.tasks = instance, policy, tasks
        self.now = instance.room
        self._highs: Any = None
        # Costs of a task (cuts, n) and prices of a unit (cuts, k m), by which what stands in the room now costs 1.
        self.costs = np.zeros((0, instance.n))
        self._prices = np.zeros((0, self.now.size))
        if instance.machines is None:
            there = instance.capacity > 0
            each = 1 / np.where(there, instance.capacity, 1.0)
            self.costs, self._prices = (instance.demands * each).T[there], np.diag(each)[there]

    def crowding(self, tasks: np.ndarray, room: np.ndarray) -> float:
        """Return by how many times the room of now would have to be larger, more or less, as far as the cuts know.

        Above 1 there is no place for the tasks.
        """
        if not len(self.costs):
            return 0.0
        return float((self.costs @ tasks - self._prices @ (room - self.now).ravel()).max())

    def asked(self, tasks: np.ndarray, room: np.ndarray) -> float:
        """Return the crowding, by a program where cuts may not know it; the cut that shows it is kept."""
        if self.instance.machines is None or not tasks.any():
            return self.crowding(tasks, room)
        if (tasks <= self.tasks).all() and (room >= self.now).all():
            # No more tasks than have a place, and no less room.
            return 1.0
        from ...engines.linear_programs import INFINITY, run

        highs = self._highs = self._build() if self._highs is None else self._highs
        problem, rows = self._problem, self._rows
        users, n = self._owner, problem.n
        cells = (rows.machine, rows.resource)
        need, spare = tasks[users] * problem.part / self._scale, (room[cells] - self.now[cells]) / self.now[cells]
        low = np.concatenate([need, np.full(len(spare), -INFINITY)])
        highs.changeRowsBounds(len(low), np.arange(len(low)), low, np.concatenate([np.full(n, INFINITY), spare]))
        found = run(highs, "the room of a changed cluster")
        prices, costs = np.zeros_like(self.now), np.zeros(self.instance.n)
        prices[cells] = np.maximum(-found.duals[n:], 0) / self.now[cells]
        np.add.at(costs, users, np.maximum(found.duals[:n], 0) * problem.part / self._scale)
        costs[costs * tasks < NEGLIGIBLE] = 0
        if found.objective > 1 + TIGHT:
            self.costs = np.vstack([self.costs, costs])
            self._prices = np.vstack([self._prices, prices.ravel()])
        return found.objective

    def furthest(self, tasks: np.ndarray, turns: np.ndarray, room: np.ndarray, amount: float) -> float:
        """Return how far tasks (n,) that turn so, (n,), can go in a room, up to the first cut; `amount` at most.

        -inf where those of them that do not turn have no place.

        Raises
        ------
        SolverError
            When the cuts do not settle it.
        """
        for _ in range(CUTS):
            if self.asked(tasks + amount * turns, room) <= 1 + 2 * TIGHT:
                return amount
            each, left = self.costs @ turns, 1 - self.costs @ tasks + self._prices @ (room - self.now).ravel()
            if (left[each == 0] < -2 * TIGHT).any():
                return -np.inf
            amount = min(amount, float((left[each > 0] / each[each > 0]).min(initial=amount)))
        raise SolverError(f"{CUTS} cuts do not tell how far tasks can go: compare two clusters with whatif instead")

    def _build(self) -> Any:
        """Return HiGHS holding:  minimise s,  sum_k v_ik >= x_i,  A v - s <= spare."""
        from scipy import sparse

        from ...engines.linear_programs import INFINITY, capacity_rows, load, user_rows

        whole = Problem(self.instance, self.policy)
        # Who has several task types is several users here, each with its part of the tasks.
        problem = whole.by_type
        self._owner = whole.members[problem.user]
        rows = capacity_rows(problem)
        user, _ = problem.pairs
        held = self.tasks[self._owner] * problem.part
        alone = np.full(problem.n, np.inf)
        np.minimum.at(alone, user, 1 / rows.matrix.max(axis=0).toarray().ravel())
        scale = np.where(held > 0, held, alone)
        matrix = rows.matrix @ sparse.diags(scale[user])
        shared = sparse.csr_matrix(-np.ones((len(rows.machine), 1)))
        cost = np.zeros(len(user) + 1)
        cost[-1] = 1.0
        low = np.concatenate([np.zeros(problem.n), np.full(len(rows.machine), -INFINITY)])
        high = np.concatenate([np.full(problem.n, INFINITY), np.zeros(len(rows.machine))])
        stated = sparse.bmat([[user_rows(problem), None], [matrix, shared]], format="csr")
        self._problem, self._rows, self._scale = problem, rows, scale
        return load(cost, np.full(len(user) + 1, INFINITY), stated, low, high)


TIED = 1e-12
"""Relative distance at which two shares of a user are the same, so that either may be the larger one next door."""


class Grown:
    """An instance whose classes have another room (k, m); everything else is as it was, who may run where too."""

    def __init__(self, instance: Instance, room: np.ndarray):
        self._instance = instance
        self.capacity = room.sum(axis=0)
        self.room = room
        if instance.machines is not None:
            self.machine_capacity = room / instance.counts[:, None]

    @cached_property
    def exact_capacity(self) -> tuple[Fraction, ...]:
        """Capacity of the whole cluster, (m,)."""
        return tuple(map(Fraction, self.capacity.tolist()))

    @cached_property
    def exact_machine_capacity(self) -> tuple[tuple[Fraction, ...], ...]:
        """Capacity of one machine of each class, k rows of m."""
        return tuple(tuple(map(Fraction, row)) for row in self.machine_capacity.tolist())

    @cached_property
    def alone(self) -> tuple[Any, ...]:
        """What users with several task types could run alone."""
        return monopolies(self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._instance, name)


def slopes_of_rates(policy: Policy, instance: Instance, growth: np.ndarray, more: bool) -> np.ndarray:
    """Return by how much the rates (n,) change for each unit of growth (k, m), on the side of more or of less."""
    if policy.measure == "alone" and instance.machines is not None:
        return _of_alone(policy, instance, growth, more)
    capacity = np.where(instance.capacity > 0, instance.capacity, np.inf)
    shares = shares_per_task(instance)
    if policy.weights != "none" and instance.weighted:
        shares = shares / (instance.weights if instance.weights_per_resource else instance.weights[:, None])
    turning = -shares * (growth.sum(axis=0) / capacity)
    return SLOPES[policy.measure](shares, turning, more, policy.column(instance))


def _of_largest(shares: np.ndarray, turning: np.ndarray, more: bool, column: int | None) -> np.ndarray:
    """Return the slope of the largest share: of those that are it, the one that is largest next door."""
    top = shares.max(axis=1, keepdims=True)
    mine = shares >= top * (1 - TIED)
    return np.where(mine, turning, -np.inf).max(axis=1) if more else np.where(mine, turning, np.inf).min(axis=1)


def _of_alone(policy: Policy, instance: Instance, growth: np.ndarray, more: bool) -> np.ndarray:
    whole, turn = np.zeros(instance.n), np.zeros(instance.n)
    needs = instance.demands > 0
    inverse = np.divide(1.0, instance.demands, where=needs, out=np.zeros_like(instance.demands))
    for room, grows in zip(instance.room, growth, strict=True):
        fits = np.where(needs, room * inverse, np.inf)
        least = fits.min(axis=1, keepdims=True)
        mine = fits <= least * (1 + TIED)
        rising = grows * inverse
        whole += least[:, 0]
        turn += np.where(mine, rising, np.inf).min(axis=1) if more else np.where(mine, rising, -np.inf).max(axis=1)
    for i, alone in enumerate(instance.alone):
        if alone is not None:
            whole[i], turn[i] = float(alone.tasks), _of_types(instance, i, alone, growth, more)
    rates = policy.rates(instance)
    return np.where(whole > 0, -rates * turn / np.where(whole > 0, whole, 1.0), 0.0)


def _of_types(instance: Instance, i: int, alone: Monopoly, growth: np.ndarray, more: bool) -> float:
    """Return how what a user with several types could run alone turns: of all prices that prove it, the worst.

    Of more room the least is true, and of less the most.
    """
    if alone.unique:
        return float(sum(float(price) * growth[k, j] for k, row in enumerate(alone.prices) for j, price in row.items()))
    from scipy.optimize import linprog

    types, room = instance.type_table, instance.room
    rows = np.flatnonzero(types.owner == i)
    needs, size = np.where(instance.counted, types.demands[rows], 0.0), room.size
    runs = [[k for k in range(instance.k) if need.any() and (room[k, need > 0] > 0).all()] for need in needs]
    there = np.array([bool(classes) for classes in runs])
    costs = [
        np.concatenate([-np.where(np.arange(instance.k)[:, None] == k, need, 0.0).ravel(), np.eye(len(rows))[t]])
        for t, (need, classes) in enumerate(zip(needs, runs, strict=True))
        for k in classes
    ]
    spent = np.concatenate([room.ravel() / float(alone.tasks), np.zeros(len(rows))])
    found = linprog(
        np.concatenate([growth.ravel() if more else -growth.ravel(), np.zeros(len(rows))]),
        np.array([*costs, spent]),
        np.array([0.0] * len(costs) + [1 + NEGLIGIBLE]),
        np.concatenate([np.zeros(size), np.where(there, types.part[rows], 0.0)])[None, :],
        [1.0],
    )
    if found.x is None:
        raise SolverError(f"what more room brings {instance.users[i]!r} alone was not found: leave its types out")
    return float(growth.ravel() @ found.x[:size])


Slope = Callable[[np.ndarray, np.ndarray, bool, int | None], np.ndarray]

SLOPES: dict[str, Slope] = {
    "tasks": lambda shares, turning, more, column: np.zeros(len(shares)),
    "dominant": _of_largest,
    "alone": _of_largest,
    "asset": lambda shares, turning, more, column: turning.sum(axis=1),
    "single": lambda shares, turning, more, column: turning[:, column or 0],
}
"""How the level of a task turns, by measure, from shares (n, m) and how they turn."""
