"""CEEI and alpha fairness: prices of the capacities, and what everybody would do at them.

At prices p >= 0 a task costs user i ``q_i``, the cheapest of her classes.  Her best response has the level
``(q_i / mu_i)^(-1/alpha)`` with mu_i the dominant share of one task, or her limit; for alpha = 1 that is
``x_i = w_i / q_i`` tasks.  With ``r_i = level_i / best level_i`` (for alpha = 1 it is x_i q_i / w_i) the allocation is
optimal exactly when r_i = 1 below the limit, r_i <= 1 at it, nobody sits on a class dearer than her cheapest, and a
resource that is not used up costs nothing.  The first, second and last are held to `FIRST_ORDER`; money spent on dear
classes counts in the gap.

The gap adds up what is missed, term by term and never as a difference of objectives: money left in unused priced
capacity, money spent on dear classes, and each user's loss against her best response, relative to all money spent.
Any prices make it an upper bound of optimum minus objective.  But a gap of e bounds level errors by sqrt(e) only, so
the first-order conditions are held to their own tolerance; and these are measured in money, of which some users have
next to nothing, so the error of everybody's tasks is bounded for itself (`task_errors`) and held to `LEVEL_CEEI`.

Users are looked at block by block: beside the instance and the tasks the proof needs some megabytes, and who was
stopped by what is found out when somebody asks.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from ..base.loops import compiled
from ..base.partitions import Partitions
from ..base.tolerances import AT_LIMIT, CAPACITY, FIRST_ORDER, GAP, LEVEL_CEEI
from ..model.arrays import LONG, columns, in_blocks
from ..model.certificate import Certificate
from ..model.evidence import PriceEvidence
from ..model.instance import Instance
from ..model.policies import Policy
from .feasibility import infeasibility
from .point_errors import DoublePoint, point_error
from .task_errors import FinePoint, Spending, fine_error, pool_error

__all__ = ["Buyers", "certify", "certify_parts"]

SERIES = 1e-5
"""Distance of r from 1 up to which a loss is the first term of its series: the terms as written leave rounding only."""


def certify(
    instance: Instance,
    policy: Policy,
    tasks: np.ndarray,
    placement: np.ndarray | None,
    prices: np.ndarray,
    rates: np.ndarray | None = None,
    fine: FinePoint | DoublePoint | None = None,
) -> Certificate:
    """Return the certificate of tasks (n,), placed as (n, k), at prices (k, m) of one unit of each class.

    `rates` are those of the policy, (n,), where they have been computed before.  `fine` is the engine's point to more
    digits than floats have: without one, answers on machines are not proven, since nothing bounds their errors.
    """
    buyers = Buyers(instance, policy, np.maximum(prices, 0), tasks, placement, rates)
    return certify_parts(
        Partitions([buyers]),
        instance.room,
        prices,
        instance.n,
        lambda part, i: f"user {instance.users[i]!r}",
        partial(_cell, instance),
        "use exact=True",
        stopped=buyers.bottlenecks,
        fine=None if fine is None else partial(_fine, instance, policy, tasks, fine),
        pool=placement is None,
    )


def _fine(instance: Instance, policy: Policy, tasks: np.ndarray, fine: FinePoint | DoublePoint) -> float:
    """Return the bound of everybody's error that a point of more digits gives."""
    if isinstance(fine, DoublePoint):
        return point_error(instance, policy, tasks, fine)
    return fine_error(instance, policy, tasks, fine)


def _cell(instance: Instance, k: int, j: int) -> str:
    where = "" if instance.machines is None else f" of {instance.machine_names[k]!r}"
    return f"{instance.resources[j]!r}{where}"


def certify_parts(
    parts: Partitions,
    room: np.ndarray,
    prices: np.ndarray,
    n: int,
    called: Callable[[int, int], str],
    cell: Callable[[int, int], str],
    remedy: str,
    stopped: Callable[[], tuple] = tuple,
    fine: Callable[[], float] | None = None,
    pool: bool = True,
    seen: list["Spent"] | None = None,
) -> Certificate:
    """Return the certificate of what users buy who lie in parts: sums over them, whatever their number.

    Parameters
    ----------
    parts : Partitions of Buyers
    room, prices : arrays (k, m)
        What each class has of each resource, and what a unit costs.
    n : int
        Users of all parts.
    called, cell : callable
        What a user is called, from the number of its part and its own there; what a resource of a class is called.
    remedy : str
        What helps where floats do not prove enough.
    stopped : callable
        The certificate's ``stopped_by``.
    fine : callable, optional
        Bounds the error of everybody's tasks from a point of more digits.
    pool : bool
        Whether the cluster is one, whose prices bound that error.
    seen : list of Spent, optional
        What the first look at each part found, where it has been taken before.
    """
    prices = np.maximum(prices, 0)
    seen = parts.each(Buyers.seen, what="proof") if seen is None else seen
    # Far from the optimum powers overflow; what is inf or NaN is not below the tolerances either.
    with np.errstate(all="ignore"):
        used: np.ndarray = np.sum([part.used for part in seen], axis=0)
        left = room - used
        infeasible, reason = max(((part.infeasible, part.reason) for part in seen), key=itemgetter(0))
        over = np.divide(-left, room, where=room > 0, out=np.where(used > 0, np.inf, 0.0))
        k, j = np.unravel_index(int(over.argmax()), over.shape)
        if over[k, j] > infeasible:
            infeasible = float(over[k, j])
            reason = f"capacity of {cell(int(k), int(j))} is exceeded by {infeasible:.1e} of it"
            reason = reason if infeasible > CAPACITY else ""
        unused = np.divide(np.abs(left), room, where=room > 0, out=np.zeros_like(left))
        uncleared = np.where(prices > 0, unused, 0.0)
        missed = float((prices * left).sum()) + sum(part.missed for part in seen)
        money = sum(part.money for part in seen)
        gap = abs(missed) / money if money > 0 else 0.0
        # The first of the farthest; NaN is farther than anything.
        farthest = int(np.argmax([part.off for part in seen]))
        worst = seen[farthest]
        violation = float(np.max([worst.off, uncleared.max(), infeasible]))
    valid = infeasible <= CAPACITY and gap <= GAP and violation <= FIRST_ORDER
    # Where nobody has anything, all conditions say that nobody can.
    error = np.inf if any(part.running for part in seen) else 0.0
    if valid and fine is not None:
        error = fine()
    elif valid and error and pool:
        off = worst.off + max(part.short for part in seen)
        poorest = min(part.poorest for part in seen)
        lacking = partial(_lacking, parts, room[0])
        error = pool_error(parts, n, room[0], prices[0], used[0], off, poorest, seen[0].alpha, lacking)
    if not reason and not valid:
        reason = f"the gap is {gap:.1e}"
        if not worst.off <= FIRST_ORDER:
            user = called(farthest, worst.user)
            reason = f"{user} is off its best response at the prices by {worst.off:.1e}"
        elif not uncleared.max() <= FIRST_ORDER:
            k, j = np.unravel_index(int(uncleared.argmax()), uncleared.shape)
            reason = f"{cell(int(k), int(j))} has a price, but {uncleared[k, j]:.1e} of it is unused"
        elif not np.isfinite(gap):
            reason = "what users would pay is beyond the range of floats: take a smaller alpha"
    elif valid and not error <= LEVEL_CEEI:
        valid, reason = False, f"all conditions hold, but somebody's tasks may be off by {error:.1e}: {remedy}"
    return Certificate(
        kind="prices",
        valid=bool(valid),
        violation=violation,
        gap=gap,
        stopped_by=stopped,
        evidence=PriceEvidence(prices=prices, error=error),
        reason=reason,
    )


def _lacking(parts: Partitions, capacity: np.ndarray, resource: int) -> float:
    """Return the part of its tasks that who has least of a resource gives if it gives all that limits lack of it."""
    found = [part for part in parts.each(Buyers.wanted, resource, what="proof") if part is not None]
    lack = sum((total for total, _, _ in found), Fraction(0)) - (found[0][2] if found else 0)
    return float(lack / min(least for _, least, _ in found)) if lack > 0 else 0.0


class Spent(NamedTuple):
    """What users use (k, m), spend and miss, who of them is farthest from her best response, and what is not possible.

    `short` is the largest part of its limit that somebody who counts as at it is away from it; `poorest` the least that
    somebody's tasks are worth to it; `running` whether somebody has any.
    """

    used: np.ndarray
    money: float
    missed: float
    off: float
    user: int
    short: float
    poorest: Any
    alpha: float
    running: bool = False
    infeasible: float = 0.0
    reason: str = ""


class Buyers:
    """Users of a part, prices (k, m) of one unit, and what is bought: what they pay, and where they must stop."""

    def __init__(
        self,
        instance: Instance,
        policy: Policy,
        prices: np.ndarray,
        tasks: np.ndarray,
        placement: np.ndarray | None = None,
        rates: np.ndarray | None = None,
    ):
        self.instance, self.prices, self.alpha = instance, prices, policy.alpha
        self.tasks, self.placement = tasks, placement
        self.rates = policy.rates(instance) if rates is None and self.alpha != 1 else rates
        # Who is unplaced can have nothing, as if by a limit.
        unplaced = instance.unplaced()
        self.limits: np.ndarray | None = np.where(unplaced, 0.0, instance.limits) if unplaced.any() else instance.limits
        if not instance.limited and not unplaced.any():
            self.limits = None

    @property
    def n(self) -> int:
        """How many there are."""
        return self.instance.n

    def weights(self, rows: slice) -> np.ndarray | float:
        """Return the weights of some users, (b,); one number where all are 1."""
        return self.instance.weights[rows] if self.instance.weighted else 1.0

    def costs(self, rows: slice, block: np.ndarray) -> np.ndarray:
        """Return what a task of each of some users costs on each class, (k, b); inf where it does not fit."""
        costs = self.prices @ block
        if self.instance.fits is not None:
            costs[~self.instance.fits[rows].T] = np.inf
        return costs

    def stopped(self, rows: slice) -> np.ndarray:
        """Say who of some users is at her limit, (b,)."""
        return self.tasks[rows] >= (np.inf if self.limits is None else self.limits[rows] * (1 - AT_LIMIT))

    def seen(self) -> Spent:
        """Return what one pass over the users finds."""
        with np.errstate(all="ignore"):
            pool = self.placement is None
            loops: Any = compiled(self.instance.demands) if pool and self.alpha == 1 else None
            if loops is None:
                found = in_blocks(self.n, self._seen)
            else:
                found = in_blocks(self.n, partial(self._looped, loops), size=LONG)
            used: np.ndarray = np.sum([part.used for part in found], axis=0)
            infeasible, reason = infeasibility(
                self.instance, self.tasks, self.placement, used=used[0] if pool else None
            )
        return found[int(np.argmax([part.off for part in found]))]._replace(
            used=used,
            money=sum(part.money for part in found),
            missed=sum(part.missed for part in found),
            short=max(part.short for part in found),
            poorest=min(part.poorest for part in found),
            running=bool(self.tasks.any()),
            infeasible=infeasible,
            reason=reason,
        )

    def _looped(self, loops: Any, rows: slice) -> Spent:
        """Look at some users of a pool under ceei as `_seen` does, in a compiled loop; not at who is far off."""
        weights = self.instance.weights if self.instance.weighted else np.ones(1)
        limits = np.empty(0) if self.limits is None else self.limits
        used, found = np.zeros(self.instance.m), np.array([0.0, 0.0, 0.0, 0.0, np.inf])
        given = (self.instance.demands.T, self.prices[0], weights, limits, self.tasks, 1 - AT_LIMIT)
        user = loops.spend(*given, (rows.start, rows.stop), used, found)
        money, squares, off, short, poorest = found.tolist()
        if not off <= SERIES:
            return self._seen(rows)
        return Spent(used[None, :], money, squares / 2, off, user, short, poorest, self.alpha)

    def _seen(self, rows: slice) -> Spent:
        block, tasks = columns(self.instance.demands, rows), self.tasks[rows]
        costs = self.costs(rows, block)
        cheapest = costs[0] if len(costs) == 1 else costs.min(axis=0)
        amounts = tasks[None, :] if self.placement is None else self.placement[rows].T
        dear = 0.0 if self.placement is None else float(np.where(amounts > 0, amounts * (costs - cheapest), 0.0).sum())
        money, off = self._responses(rows, cheapest)
        short = 0.0
        if self.limits is not None:
            stopped = self.stopped(rows)
            short = float(np.abs(tasks / self.limits[rows] - 1).max(where=stopped & (tasks > 0), initial=0))
            # At the limit, whoever would like more does the best she can: she loses nothing.
            np.copyto(off, 0.0, where=stopped & (off < 0))
            out = self.limits[rows] == 0
            if out.any():
                off[out] = np.where(tasks[out] == 0, 0.0, np.inf)
                money = np.where(out, 0.0, money)
        lost = _lost(self.alpha, money, off)
        poorest = np.min(money, where=tasks > 0, initial=np.inf) if isinstance(money, np.ndarray) else money
        spent = float(money.sum()) if isinstance(money, np.ndarray) else money * len(tasks)
        np.abs(off, out=off)
        user = int(off.argmax())
        farthest, missed = float(off[user]), dear + lost
        return Spent(amounts @ block.T, spent, missed, farthest, rows.start + user, short, poorest, self.alpha)

    def spending(self, rows: slice) -> Spending:
        """Return what some users of a pool spend."""
        block, tasks = columns(self.instance.demands, rows), self.tasks[rows]
        money, off = self._responses(rows, self.prices[0] @ block)
        room = np.full(len(tasks), np.inf)
        if self.limits is not None:
            room = np.where(self.stopped(rows), 0.0, 1 - tasks / self.limits[rows])
        return Spending(block, tasks, np.broadcast_to(money, tasks.shape), off, room)

    def wanted(self, resource: int) -> tuple[Fraction, Fraction, Fraction] | None:
        """Return what users at their limits need of a resource, the least of them, and what there is; None for none."""
        users = np.flatnonzero((self.instance.demands[:, resource] > 0) & (self.tasks > 0)).tolist()
        limits, demands = self.instance.exact_limits, self.instance.exact_demands
        held = [(limits[i] or Fraction(self.tasks[i])) * demands[i][resource] for i in users]
        return (sum(held, Fraction(0)), min(held), self.instance.exact_capacity[resource]) if held else None

    def _responses(self, rows: slice, cost: np.ndarray) -> tuple[np.ndarray | float, np.ndarray]:
        """Return the money each of some users spends on what she has, and r - 1, her level against her best."""
        alpha, weights, tasks = self.alpha, self.weights(rows), self.tasks[rows]
        if self.rates is None or alpha == 1:
            ratio = np.multiply(tasks, cost)
            ratio /= weights
            ratio -= 1
            return weights, ratio
        rates = self.rates[rows]
        levels = rates * tasks
        ratio = levels * (cost / (rates * weights)) ** (1 / alpha) - 1
        return weights * levels ** (1 - alpha), ratio

    def bottlenecks(self) -> tuple:
        """Return what each user pays most for (a pool), or all priced resources of her cheapest classes (machines)."""
        instance = self.instance
        names, resources = instance.machine_names, instance.resources

        def look(rows: slice) -> list:
            block, stopped = columns(instance.demands, rows), self.stopped(rows).tolist()
            if instance.machines is None:
                dearest = (block * self.prices[0][:, None]).argmax(axis=0).tolist()
                return [None if s else resources[j] for s, j in zip(stopped, dearest, strict=True)]
            costs = self.costs(rows, block)
            cheap = costs <= costs.min(axis=0) * (1 + FIRST_ORDER)
            paid = [np.argwhere((self.prices > 0) & (block[:, i] > 0) & cheap[:, i, None]) for i in range(len(stopped))]
            return [
                None if s else tuple(f"{names[k]}/{resources[j]}" for k, j in p)
                for s, p in zip(stopped, paid, strict=True)
            ]

        return tuple(found for part in in_blocks(instance.n, look) for found in part)


def _lost(alpha: float, money: np.ndarray | float, off: np.ndarray) -> float:
    """Return what users lose against their best responses, where they are off them by r - 1."""
    if max(float(off.max()), -float(off.min())) <= SERIES:
        return float(np.dot(off * money, off)) * alpha / 2
    ratio = off + 1
    # What one would gain is x^(1 - alpha) / (1 - alpha), a logarithm at 1, less what it is at r = 1.
    log = np.log(ratio)
    gained = log if alpha == 1 else np.expm1((1 - alpha) * log) / (1 - alpha)
    return float(np.sum(money * ratio ** (alpha - 1) * np.maximum(off - gained, 0)))
