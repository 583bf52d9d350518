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

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from ..base.tolerances import CAPACITY, FIRST_ORDER, GAP, LEVEL_CEEI
from ..model.allocation import Certificate
from ..model.arrays import columns, in_blocks
from ..model.evidence import PriceEvidence
from ..model.instance import Instance
from ..model.policies import Policy
from .feasibility import infeasibility
from .point_errors import DoublePoint, point_error
from .task_errors import FinePoint, Spending, fine_error, pool_error

__all__ = ["certify"]

AT_LIMIT = 1e-12
"""Relative distance from the limit at which a user counts as at it: a few roundings."""

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
    infeasible, reason = infeasibility(instance, tasks, placement)
    market = _Market(instance, policy, np.maximum(prices, 0), rates)
    parts = in_blocks(instance.n, partial(_look, market, tasks, placement))
    # Far from the optimum powers overflow; what is inf or NaN is not below the tolerances either.
    with np.errstate(all="ignore"):
        used: np.ndarray = np.sum([part.used for part in parts], axis=0)
        left = market.room - used
        unused = np.divide(np.abs(left), market.room, where=market.room > 0, out=np.zeros_like(left))
        uncleared = np.where(market.prices > 0, unused, 0.0)
        missed = float((market.prices * left).sum()) + sum(part.missed for part in parts)
        money = sum(part.money for part in parts)
        gap = abs(missed) / money if money > 0 else 0.0
        # The first of the farthest; NaN is farther than anything.
        worst = parts[int(np.argmax([part.off for part in parts]))]
        violation = float(np.max([worst.off, uncleared.max(), infeasible]))
    valid = infeasible <= CAPACITY and gap <= GAP and violation <= FIRST_ORDER
    # Where nobody has anything, all conditions say that nobody can.
    error = 0.0 if not tasks.any() else np.inf
    if valid and fine is not None:
        error = (
            point_error(instance, policy, tasks, fine)
            if isinstance(fine, DoublePoint)
            else fine_error(instance, policy, tasks, fine)
        )
    elif valid and error and placement is None:
        off = worst.off + max(part.short for part in parts)
        error = pool_error(
            partial(_spending, market, tasks),
            instance.n,
            market.room[0],
            market.prices[0],
            used[0],
            off,
            min(part.poorest for part in parts),
            market.alpha,
            partial(_lacking, instance, tasks),
        )
    if not reason and not valid:
        reason = _reason(instance, worst, uncleared, gap)
    elif valid and not error <= LEVEL_CEEI:
        valid, reason = False, f"all conditions hold, but somebody's tasks may be off by {error:.1e}: use exact=True"
    return Certificate(
        kind="prices",
        valid=bool(valid),
        violation=violation,
        gap=gap,
        stopped_by=partial(_bottlenecks, market, tasks),
        evidence=PriceEvidence(prices=market.prices, error=error),
        reason=reason,
    )


class _Market:
    """An instance, a policy and prices (k, m) of one unit; what users pay, and where they must stop."""

    def __init__(self, instance: Instance, policy: Policy, prices: np.ndarray, rates: np.ndarray | None):
        self.instance, self.prices, self.alpha = instance, prices, policy.alpha
        self.room = instance.room
        self.rates = policy.rates(instance) if rates is None and self.alpha != 1 else rates
        # Who is unplaced can have nothing, as if by a limit.
        unplaced = instance.unplaced()
        self.limits: np.ndarray | None = np.where(unplaced, 0.0, instance.limits) if unplaced.any() else instance.limits
        if not instance.limited and not unplaced.any():
            self.limits = None

    def weights(self, rows: slice) -> np.ndarray | float:
        """Return the weights of some users, (b,); one number where all are 1."""
        return self.instance.weights[rows] if self.instance.weighted else 1.0

    def costs(self, rows: slice, block: np.ndarray) -> np.ndarray:
        """Return what a task of each of some users costs on each class, (k, b); inf where it does not fit."""
        costs = self.prices @ block
        if self.instance.fits is not None:
            costs[~self.instance.fits[rows].T] = np.inf
        return costs

    def stopped(self, rows: slice, tasks: np.ndarray) -> np.ndarray:
        """Say who of some users is at her limit, (b,)."""
        return tasks >= (np.inf if self.limits is None else self.limits[rows] * (1 - AT_LIMIT))


@dataclass(frozen=True)
class _Part:
    """What some users use (k, m), spend and miss, and who of them is farthest from her best response.

    `short` is the largest part of its limit that somebody who counts as at it is away from it; `poorest` the least that
    somebody's tasks are worth to it.
    """

    used: np.ndarray
    money: float
    missed: float
    off: float
    user: int
    short: float
    poorest: Any


def _look(market: _Market, tasks: np.ndarray, placement: np.ndarray | None, rows: slice) -> _Part:
    with np.errstate(all="ignore"):
        block, tasks = columns(market.instance.demands, rows), tasks[rows]
        costs = market.costs(rows, block)
        cheapest = costs[0] if len(costs) == 1 else costs.min(axis=0)
        amounts = tasks[None, :] if placement is None else placement[rows].T
        dear = 0.0 if placement is None else float(np.where(amounts > 0, amounts * (costs - cheapest), 0.0).sum())
        money, off = _responses(market, rows, tasks, cheapest)
        short = 0.0
        if market.limits is not None:
            stopped = market.stopped(rows, tasks)
            short = float(np.abs(tasks / market.limits[rows] - 1).max(where=stopped & (tasks > 0), initial=0))
            # At the limit, whoever would like more does the best she can: she loses nothing.
            np.copyto(off, 0.0, where=stopped & (off < 0))
            out = market.limits[rows] == 0
            if out.any():
                off[out] = np.where(tasks[out] == 0, 0.0, np.inf)
                money = np.where(out, 0.0, money)
        lost = _lost(market.alpha, money, off)
        poorest = np.min(money, where=tasks > 0, initial=np.inf) if isinstance(money, np.ndarray) else money
        spent = float(money.sum()) if isinstance(money, np.ndarray) else money * len(tasks)
        np.abs(off, out=off)
        user = int(off.argmax())
        return _Part(amounts @ block.T, spent, dear + lost, float(off[user]), rows.start + user, short, poorest)


def _spending(market: _Market, tasks: np.ndarray, rows: slice) -> Spending:
    """Return what some users of a pool spend."""
    block, tasks = columns(market.instance.demands, rows), tasks[rows]
    money, off = _responses(market, rows, tasks, market.prices[0] @ block)
    room = np.full(len(tasks), np.inf)
    if market.limits is not None:
        room = np.where(market.stopped(rows, tasks), 0.0, 1 - tasks / market.limits[rows])
    return Spending(block, tasks, np.broadcast_to(money, tasks.shape), off, room)


def _lacking(instance: Instance, tasks: np.ndarray, resource: int) -> float:
    """Return the part of its tasks that who has least of a resource gives if it gives all that limits lack of it."""
    users = np.flatnonzero((instance.demands[:, resource] > 0) & (tasks > 0)).tolist()
    limits, demands = instance.exact_limits, instance.exact_demands
    held = [(limits[i] or Fraction(tasks[i])) * demands[i][resource] for i in users]
    lack = sum(held, Fraction(0)) - instance.exact_capacity[resource]
    return float(lack / min(held)) if lack > 0 else 0.0


def _responses(
    market: _Market, rows: slice, tasks: np.ndarray, cost: np.ndarray
) -> tuple[np.ndarray | float, np.ndarray]:
    """Return the money each of some users spends on what she has, and r - 1, her level against her best."""
    alpha, weights = market.alpha, market.weights(rows)
    if market.rates is None or alpha == 1:
        ratio = np.multiply(tasks, cost)
        ratio /= weights
        ratio -= 1
        return weights, ratio
    rates = market.rates[rows]
    levels = rates * tasks
    ratio = levels * (cost / (rates * weights)) ** (1 / alpha) - 1
    return weights * levels ** (1 - alpha), ratio


def _lost(alpha: float, money: np.ndarray | float, off: np.ndarray) -> float:
    """Return what users lose against their best responses, where they are off them by r - 1."""
    if max(float(off.max()), -float(off.min())) <= SERIES:
        return float(np.dot(off * money, off)) * alpha / 2
    ratio = off + 1
    # What one would gain is x^(1 - alpha) / (1 - alpha), a logarithm at 1, less what it is at r = 1.
    log = np.log(ratio)
    gained = log if alpha == 1 else np.expm1((1 - alpha) * log) / (1 - alpha)
    return float(np.sum(money * ratio ** (alpha - 1) * np.maximum(off - gained, 0)))


def _bottlenecks(market: _Market, tasks: np.ndarray) -> tuple:
    """Return what each user pays most for (a pool), or every priced resource of her cheapest classes (machines)."""
    instance = market.instance
    names, resources = instance.machine_names, instance.resources

    def look(rows: slice) -> list:
        block, stopped = columns(instance.demands, rows), market.stopped(rows, tasks[rows]).tolist()
        if instance.machines is None:
            dearest = (block * market.prices[0][:, None]).argmax(axis=0).tolist()
            return [None if s else resources[j] for s, j in zip(stopped, dearest, strict=True)]
        costs = market.costs(rows, block)
        cheap = costs <= costs.min(axis=0) * (1 + FIRST_ORDER)
        paid = (np.argwhere((market.prices > 0) & (block[:, i] > 0) & cheap[:, i, None]) for i in range(len(stopped)))
        return [
            None if s else tuple(f"{names[k]}/{resources[j]}" for k, j in p) for s, p in zip(stopped, paid, strict=True)
        ]

    return tuple(found for part in in_blocks(instance.n, look) for found in part)


def _reason(instance: Instance, worst: _Part, uncleared: np.ndarray, gap: float) -> str:
    if not worst.off <= FIRST_ORDER:
        return f"user {instance.users[worst.user]!r} is off its best response at the prices by {worst.off:.1e}"
    if not uncleared.max() <= FIRST_ORDER:
        k, j = np.unravel_index(int(uncleared.argmax()), uncleared.shape)
        where = "" if instance.machines is None else f" of {instance.machine_names[k]!r}"
        return f"{instance.resources[j]!r}{where} has a price, but {uncleared[k, j]:.1e} of it is unused"
    return f"the gap is {gap:.1e}"
