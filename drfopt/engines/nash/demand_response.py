"""What all users of one pool buy at given prices, and how that changes with the prices: one pass over the demands.

Given   a[i, j] = d[i, j] / c[j]   share of a resource that one task takes                       (n, m)
        k[i]                       tasks bought where one task costs 1                           (n,)
        u[i]                       most tasks                                                    (n,)
        p[j] >= 0                  price of a whole resource                                     (m,)

a task costs user i  q_i = sum_j a_ij p_j,  and for that she buys  x_i = min(k_i q_i^(-1/alpha), u_i)  tasks.  All that
Newton's method on the prices asks for are two sums over the users,

        used_j  = sum_i a_ij x_i,
        bend_jk = sum_i a_ij a_ik x_i / (alpha q_i)   over users below their limits: minus the derivative of used.

A pass reads each block of demands once, as it lies in memory, and what is computed from it stays in the cache.
Measured with 8 resources and in one thread, a pass takes 1.5 times what adding up all demands takes, and one with
`bend` 3.3 times: about m multiplications a demand instead of two.  The first is bound by the memory, the second by the
processor.
"""

from dataclasses import dataclass
from threading import local
from typing import Any

import numpy as np

from ...base.loops import compiled
from ...base.partitions import Partitions
from ...model.arrays import LONG, columns, in_blocks
from ..problem import Problem

__all__ = ["DemandResponse", "PartedResponse", "View", "common_level", "crowd", "worth"]

CHUNK = 1 << 12
"""Users whose products are added up in one go: what they need stays in the first caches, and it takes half as long."""

RUN = 64
"""Users in a row that a sample takes: cache lines, and pages of a file, are not read for one user each."""


@dataclass(frozen=True, eq=False)
class View:
    """What was seen at some prices: `used` (m,) of each resource, and `bend` (m, m), None where not asked for."""

    used: np.ndarray
    bend: Any = None


class DemandResponse:
    """The users of a pool, as they answer to prices.

    Parameters
    ----------
    demands : array (n, m)
        Of one task; read in blocks and never copied.
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
    numbers : int, optional
        Demands of all users in whose process a sample was taken.
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
        numbers: int | None = None,
    ):
        self.numbers = demands.size if numbers is None else numbers
        self.demands, self.capacity, self.budgets, self.limits = demands, capacity, budgets, limits
        self.alpha, self.money, self.each = alpha, money, each
        self.n, self.m = demands.shape
        self.unit = np.divide(1.0, capacity, where=capacity > 0, out=np.zeros(self.m))
        self._scratch = local()

    @classmethod
    def of(cls, problem: Problem, level: float | None = None) -> tuple["DemandResponse", float]:
        """Return the users of a problem, and how many of its units of utility the unit of money here is worth.

        Levels are counted in `level`, which is `common_level` of these users where none is given.
        """
        instance, alpha = problem.instance, problem.policy.alpha
        weights = instance.weights if instance.weighted else 1.0
        limits = _limits(problem)
        money = float(np.sum(weights)) if instance.weighted else float(instance.n)
        if alpha == 1:
            return cls(instance.demands, instance.capacity, weights, limits, alpha, money), 1.0
        rates = _rates(problem)
        level = common_level(instance.capacity, crowd(problem)) if level is None else level
        with np.errstate(all="ignore"):
            budgets = rates ** (1 / alpha - 1) * weights ** (1 / alpha) * level
        return cls(instance.demands, instance.capacity, budgets, limits, alpha, money * level), worth(level, alpha)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_scratch": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state | {"_scratch": local()})

    def look(self, p: np.ndarray, bend: bool = False, tasks: np.ndarray | None = None) -> View:
        """Return what is used at prices p (m,) and, if asked, how it bends; write the tasks (n,) if given a place.

        Where somebody without a limit would pay nothing, the sums are not finite.
        """
        prices = p * self.unit
        loops: Any = compiled(self.demands, numbers=self.numbers)

        def look(rows: slice) -> tuple[np.ndarray, np.ndarray | None]:
            block = columns(self.demands, rows)
            vectors, scaled = self._space(block.shape[1])
            # What is free, or beyond the range of floats, makes sums that are not finite: whoever asked will see it.
            # Silence is a thread's own.
            with np.errstate(all="ignore"):
                cost = np.matmul(prices, block, out=vectors[0])
                bought = vectors[1] if tasks is None else tasks[rows]
                self._buy(rows, cost, bought)
                used = block @ bought
                if not bend:
                    return used, None
                np.multiply(block, self._root(rows, cost, bought), out=scaled)
                scaled *= self.unit[:, None]
                return used, sum((part @ part.T for part in _chunks(scaled)), np.zeros((self.m, self.m)))

        budgets = np.array([self.budgets]) if isinstance(self.budgets, float) else self.budgets
        limits, place = (np.empty(0) if some is None else some for some in (self.limits, tasks))
        given = (self.demands.T, prices, self.unit, budgets, limits, -1 / self.alpha)

        def looped(rows: slice) -> tuple[np.ndarray, np.ndarray | None]:
            used, lower = np.zeros(self.m), np.zeros((self.m, self.m) if bend else (0, 0))
            loops.respond(*given, (rows.start, rows.stop), place, used, lower)
            return used, lower + np.tril(lower, -1).T if bend else None

        parts = in_blocks(self.n, look) if loops is None else in_blocks(self.n, looped, size=LONG)
        used = sum(part for part, _ in parts) * (self.unit * self.each)
        bends = [part for _, part in parts if part is not None]
        return View(used, sum(bends) * (self.each / self.alpha) if bend else None)

    def sample(self, every: int, runs: int | None = None) -> "DemandResponse":
        """Return about one in so many of the users, who stand for all of them; fewer than `RUN` times so many is none.

        Runs of users at equal distances: what lies together in memory, from everywhere in the list.  Of a part of all
        users at least one run is taken.
        """
        runs = self.n // (RUN * every) if runs is None else runs
        length = min(RUN, self.n)
        apart = max(self.n // max(runs, 1), length)

        def taken(values: np.ndarray) -> np.ndarray:
            columns = values.T[..., : runs * apart]
            cut = columns.reshape(*columns.shape[:-1], runs, apart)[..., :length]
            return np.ascontiguousarray(cut).reshape(*columns.shape[:-1], runs * length).T

        budgets = self.budgets if isinstance(self.budgets, float) else taken(self.budgets)
        limits = None if self.limits is None else taken(self.limits)
        each = self.each * self.n / max(runs * length, 1)
        given = (self.capacity, budgets, limits, self.alpha, self.money, each, self.numbers)
        return DemandResponse(taken(self.demands), *given)

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

    def _space(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Return room for two vectors of so many users (2, size) and for a block (m, size), one for each thread."""
        space = getattr(self._scratch, "space", None)
        if space is None or space.shape[1] < size:
            space = self._scratch.space = np.empty((2 + self.m, size))
        return space[:2, :size], space[2:, :size]


def _chunks(block: np.ndarray) -> list[np.ndarray]:
    """Return a block (m, b) in pieces of some users."""
    return [block[:, a : a + CHUNK] for a in range(0, block.shape[1], CHUNK)]


def crowd(problem: Problem) -> np.ndarray:
    """Return what the users of a problem use, (m,), when each who may run something has a level of 1."""
    tasks = 1 / _rates(problem)
    limits = _limits(problem)
    if limits is not None:
        tasks[limits == 0] = 0
    used: np.ndarray = tasks @ problem.instance.demands
    return used


def common_level(capacity: np.ndarray, used: np.ndarray) -> float:
    """Return the level at which all users together would fill a resource; at a level of 1 they use so much, (m,).

    With levels counted in it, amounts of money are near the weights, whatever alpha.
    """
    return float((capacity[used > 0] / used[used > 0]).min()) if used.any() else 1.0


def worth(level: float, alpha: float) -> float:
    """Return how many units of utility a unit of money is worth, where levels are counted in `level`."""
    with np.errstate(all="ignore"):
        return float(np.float64(level) ** -alpha)


def _rates(problem: Problem) -> np.ndarray:
    """Return the rates (n of the instance,); who needs only what is not there has a rate of 0, and a limit of 0."""
    return np.where(problem.all_rates > 0, problem.all_rates, 1.0)


def _limits(problem: Problem) -> np.ndarray | None:
    """Return the limits (n of the instance,), 0 for who is unplaced; None where nobody has one."""
    if problem.unplaced.any():
        return np.where(problem.unplaced, 0.0, problem.instance.limits)
    return problem.instance.limits if problem.instance.limited else None


class PartedResponse:
    """Users of a pool who lie in parts, as they answer to prices: the sums that a `DemandResponse` of all would give.

    Parameters
    ----------
    parts : Partitions of DemandResponse
    n : int
        Users of all parts.
    capacity : array (m,)
    alpha, money : float
        As in `DemandResponse`, of all users.
    limited : bool
        Whether somebody has a limit.
    """

    def __init__(self, parts: Partitions, n: int, capacity: np.ndarray, alpha: float, money: float, limited: bool):
        self.parts, self.n, self.capacity, self.alpha, self.money = parts, n, capacity, alpha, money
        self.m = len(capacity)
        self.limits = capacity if limited else None
        self.unit = np.divide(1.0, capacity, where=capacity > 0, out=np.zeros(self.m))
        self.passes = 0

    def look(self, p: np.ndarray, bend: bool = False, tasks: np.ndarray | None = None) -> View:
        """Return what is used at prices p (m,) and, if asked, how it bends; nobody's tasks are written."""
        self.passes += 1
        views = self.parts.each(DemandResponse.look, p, bend, what=f"prices, pass {self.passes}")
        bends = [view.bend for view in views]
        return View(np.sum([view.used for view in views], axis=0), np.sum(bends, axis=0) if bend else None)

    def sample(self, every: int) -> DemandResponse:
        """Return about one in so many of the users, who stand for all of them."""
        found: list[DemandResponse] = self.parts.each(_sampled, every, what="taking a sample")
        drawn = sum(part.n for part in found)
        limits = [np.full(part.n, np.inf) if part.limits is None else part.limits for part in found]
        return DemandResponse(
            np.asfortranarray(np.concatenate([part.demands for part in found])),
            self.capacity,
            np.concatenate([np.broadcast_to(part.budgets, part.n) for part in found]),
            np.concatenate(limits) if self.limits is not None else None,
            self.alpha,
            self.money,
            self.n / drawn,
        )


def _sampled(part: DemandResponse, every: int) -> DemandResponse:
    return part.sample(every, max(part.n // (RUN * every), 1))
