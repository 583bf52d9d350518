"""What all users of one pool buy at given prices, and how that changes with the prices: one pass over the demands.

Given   a[i, j] = d[i, j] / c[j]   share of a resource that one task takes                       (n, m)
        k[i]                       tasks bought where one task costs 1                           (n,)
        u[i]                       most tasks                                                    (n,)
        p[j] >= 0                  price of a whole resource                                     (m,)

a task costs user i  q_i = sum_j a_ij p_j,  and for that she buys  x_i = min(k_i q_i^(-1/alpha), u_i)  tasks.  All that
Newton's method on the prices asks for are two sums over the users,

        used_j  = sum_i a_ij x_i,
        bend_jk = sum_i a_ij a_ik x_i / (alpha q_i)   over users below their limits: minus the derivative of used.

A pass reads each block of demands once, as it lies in memory, and what is computed from it stays in the cache: beside
the demands there are the tasks, the limits, for alpha other than 1 the k, and some megabytes.  Without `bend` a pass is
hardly more than reading; `bend` costs three times as much, m multiplications a demand.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..instance import Instance
from .problem import Problem

__all__ = ["Crowd", "View"]

BLOCK = 2**16
"""Demands in a block: half a megabyte, of which a copy and some vectors fit into a core's cache with it."""

RUN = 64
"""Users in a row that a sample takes: cache lines, and pages of a file, are not read for one user each."""


@dataclass(frozen=True, eq=False)
class View:
    """What was seen at some prices: `used` (m,) of each resource, and `bend` (m, m), None where not asked for."""

    used: np.ndarray
    bend: Any = None


class Crowd:
    """The users of a pool, as they answer to prices.

    Parameters
    ----------
    demands : array (m, n)
        Of one task, a row a resource: of any strides, read and never copied.
    capacity : array (m,)
        Who demands what there is nothing of is to have a limit of 0.
    budgets : array (n,) or float
        k; a float for one that all have.
    limits : array (n,) or None
        u; None where nobody has one.
    alpha : float
    money : float
        About what all prices together will be: the scale to start from.
    each : float
        How many users each one stands for: more than 1 in a sample.
    """

    def __init__(
        self,
        demands: np.ndarray,
        capacity: np.ndarray,
        budgets: np.ndarray | float,
        limits: np.ndarray | None,
        alpha: float,
        money: float,
        each: float = 1.0,
    ):
        self.demands, self.capacity, self.budgets, self.limits = demands, capacity, budgets, limits
        self.alpha, self.money, self.each = alpha, money, each
        self.m, self.n = demands.shape
        self.unit = _inverse(capacity)
        length = max(1, min(self.n, BLOCK // self.m))
        self._blocks = [slice(begin, min(begin + length, self.n)) for begin in range(0, self.n, length)]
        self._vectors = np.empty((2, length))
        self._scaled = np.empty((self.m, length))

    @classmethod
    def of(cls, problem: Problem) -> tuple["Crowd", float]:
        """Return the users of a problem, and how many of its units of utility the unit of money here is worth."""
        instance, alpha = problem.instance, problem.policy.alpha
        weights, limits = instance.weights, _limits(instance)
        budgets: np.ndarray | float = float(weights[0]) if weights.strides == (0,) else weights
        money = float(weights.sum())
        if alpha == 1:
            return cls(instance.demands.T, instance.capacity, budgets, limits, alpha, money), 1.0
        plain = cls(instance.demands.T, instance.capacity, 1.0, limits, alpha, money)
        budgets, level = plain._at_one_level(weights)
        with np.errstate(over="ignore"):
            worth = float(np.float64(level) ** -alpha)
        return cls(plain.demands, plain.capacity, budgets, limits, alpha, money * level), worth

    def look(self, p: np.ndarray, bend: bool = False, tasks: np.ndarray | None = None) -> View:
        """Return what is used at prices p (m,) and, if asked, how it bends; write the tasks (n,) if given a place.

        Where somebody without a limit would pay nothing, the sums are not finite; the caller lets numpy be silent.
        """
        prices = p * self.unit
        used = np.zeros(self.m)
        total = np.zeros((self.m, self.m)) if bend else None
        for rows in self._blocks:
            block = self.demands[:, rows]
            size = block.shape[1]
            cost = np.dot(prices, block, out=self._vectors[0, :size])
            bought = self._vectors[1, :size] if tasks is None else tasks[rows]
            self._buy(rows, cost, bought)
            used += np.dot(block, bought)
            if total is not None:
                scaled = np.multiply(block, self._root(rows, cost, bought), out=self._scaled[:, :size])
                scaled *= self.unit[:, None]
                total += np.dot(scaled, scaled.T)
        used *= self.unit * self.each
        return View(used, None if total is None else total * (self.each / self.alpha))

    def sample(self, every: int) -> "Crowd":
        """Return about one in so many of the users, who stand for all of them; fewer than `RUN` times so many is none.

        Runs of users at equal distances: what lies together in memory, from everywhere in the list.
        """
        runs = self.n // (RUN * every)

        def taken(values: np.ndarray) -> np.ndarray:
            front = values.shape[:-1]
            cut = values[..., : runs * RUN * every].reshape(*front, runs, RUN * every)[..., :RUN]
            return np.ascontiguousarray(cut).reshape(*front, runs * RUN)

        budgets = self.budgets if isinstance(self.budgets, float) else taken(self.budgets)
        limits = None if self.limits is None else taken(self.limits)
        each = self.each * self.n / (runs * RUN)
        return Crowd(taken(self.demands), self.capacity, budgets, limits, self.alpha, self.money, each)

    def _buy(self, rows: slice, cost: np.ndarray, bought: np.ndarray) -> None:
        """Write what users buy at their costs."""
        budgets = self.budgets if isinstance(self.budgets, float) else self.budgets[rows]
        if self.alpha == 1:
            np.divide(budgets, cost, out=bought)
        else:
            np.power(cost, -1 / self.alpha, out=bought)
            bought *= budgets
        if self.limits is not None:
            np.minimum(bought, self.limits[rows], out=bought)

    def _root(self, rows: slice, cost: np.ndarray, bought: np.ndarray) -> np.ndarray:
        """Return the root of x / q, and 0 for users at their limits, in the place of the cost."""
        # By way of the money x q, which is in the range of floats where x / q need not be.
        money = np.multiply(cost, bought, out=cost)
        root = np.divide(bought, np.sqrt(money, out=money), out=money)
        if self.limits is not None:
            np.copyto(root, 0.0, where=bought >= self.limits[rows])
        return root

    def _at_one_level(self, weights: np.ndarray) -> tuple[np.ndarray, float]:
        """Return k (n,), and the level at which all users together would fill a resource.

        With levels counted in it, amounts of money are near the weights, whatever alpha.
        """
        budgets = np.empty(self.n)
        crowded = np.zeros(self.m)
        for rows in self._blocks:
            shares = np.multiply(self.demands[:, rows], self.unit[:, None], order="C")
            dominant = shares.max(axis=0)
            # Who needs only what is not there has nothing, and a limit of 0.
            dominant[dominant == 0] = 1
            tasks = weights[rows] / dominant
            if self.limits is not None:
                tasks[self.limits[rows] == 0] = 0
            crowded += shares @ tasks
            budgets[rows] = weights[rows] * dominant ** (1 / self.alpha - 1)
        level = 1 / float(crowded.max())
        budgets *= level
        return budgets, level


def _inverse(capacity: np.ndarray) -> np.ndarray:
    return np.divide(1.0, capacity, where=capacity > 0, out=np.zeros(len(capacity)))


def _limits(instance: Instance) -> np.ndarray | None:
    """Return the limits (n,), 0 for who is unplaced; None where nobody has one."""
    if not instance.capacity.all():
        return np.where(instance.unplaced(), 0.0, instance.limits)
    # Limits that were never given are one infinity, repeated.
    return None if instance.limits.strides == (0,) else instance.limits
