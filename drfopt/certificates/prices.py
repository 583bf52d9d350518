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
the first-order conditions are held to their own tolerance.
"""

from functools import partial

import numpy as np

from ..allocation import Certificate
from ..instance import Instance
from ..policies import Policy
from ..tolerances import CAPACITY, FIRST_ORDER, GAP
from .chain import unit_costs
from .feasibility import infeasibility

__all__ = ["certify", "response_ratio"]

AT_LIMIT = 1e-12
"""Relative distance from the limit at which a user counts as at it: a few roundings."""


def certify(
    instance: Instance, policy: Policy, tasks: np.ndarray, placement: np.ndarray | None, prices: np.ndarray
) -> Certificate:
    """Return the certificate of tasks (n,), placed as (n, k), at prices (k, m) of one unit of each class."""
    infeasible, reason = infeasibility(instance, tasks, placement)
    total = instance.room
    prices = np.maximum(prices, 0)
    costs = unit_costs(instance, prices * total)
    cheapest = costs.min(axis=1)
    playing = ~instance.unplaced() & (instance.limits > 0)
    at_limit = playing & (tasks >= instance.limits * (1 - AT_LIMIT))
    weights = instance.weights
    mu = policy.rates(instance) * weights

    levels = np.where(playing, mu * tasks / weights, 1.0)
    share_cost = np.divide(cheapest, mu, where=playing, out=np.ones(instance.n))
    ratio = np.where(playing, response_ratio(levels, share_cost, policy.alpha), 1.0)
    off = np.where(at_limit, np.maximum(ratio - 1, 0), np.abs(ratio - 1))
    off[~playing] = np.where(tasks[~playing] == 0, 0, np.inf)

    amounts = tasks[:, None] if placement is None else placement
    used = amounts.T @ instance.demands
    priced = prices > 0
    unused = np.divide(np.abs(total - used), total, where=total > 0, out=np.zeros_like(total))
    uncleared = np.where(priced, unused, 0.0)

    dearer = np.where(amounts > 0, costs - np.where(playing, cheapest, 0)[:, None], 0)
    # At the limit, whoever would like more does the best she can: she loses nothing.
    losing = playing & ~(at_limit & (ratio <= 1))
    reached = np.where(losing, ratio, 1.0)
    # Far from the optimum powers overflow; a gap of inf or NaN is not below the tolerance either.
    with np.errstate(over="ignore", invalid="ignore"):
        money = weights * levels ** (1 - policy.alpha)
        loss = money * reached ** (policy.alpha - 1) * _regret(reached, policy.alpha)
        missed = float((prices * (total - used))[priced].sum() + (amounts * dearer).sum() + loss.sum())
        gap = abs(missed) / float(money[playing].sum()) if playing.any() else 0.0

    violation = max(float(off.max()), float(uncleared.max()), infeasible)
    valid = infeasible <= CAPACITY and gap <= GAP and violation <= FIRST_ORDER
    if not reason and not valid:
        reason = _reason(instance, off, uncleared, gap)
    return Certificate(
        kind="prices",
        valid=bool(valid),
        violation=violation,
        gap=gap,
        stopped_by=partial(_bottlenecks, instance, prices, costs, at_limit | ~playing),
        evidence={"prices": prices},
        reason=reason,
    )


def response_ratio(levels: np.ndarray, cost: np.ndarray, alpha: float) -> np.ndarray:
    """Return level over best level, (n,), at costs of one unit of dominant share."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        ratio = levels * cost if alpha == 1 else levels * cost ** (1 / alpha)
    return np.where(np.isfinite(ratio), ratio, np.inf)


def _regret(ratio: np.ndarray, alpha: float) -> np.ndarray:
    """Return what a user loses at ratio r, per unit of money at her best response: at least 0, and 0 at r = 1."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        log = np.log(ratio)
        gained = log if alpha == 1 else np.expm1((1 - alpha) * log) / (1 - alpha)
        regret = (ratio - 1) - gained
    return np.where(np.isfinite(regret), np.maximum(regret, 0), np.inf)


def _bottlenecks(instance: Instance, prices: np.ndarray, costs: np.ndarray, free: np.ndarray) -> tuple:
    """Return what each user pays most for (a pool), or every priced resource of her cheapest classes (machines)."""
    if instance.machines is None:
        pays = instance.demands * prices[0]
        top = pays.argmax(axis=1)
        return tuple(None if f else instance.resources[j] for f, j in zip(free.tolist(), top.tolist(), strict=True))
    names = instance.machine_names
    found: list = []
    for i in range(instance.n):
        if free[i]:
            found.append(None)
            continue
        cheap = costs[i] <= costs[i].min() * (1 + FIRST_ORDER)
        paid = (prices > 0) & (instance.demands[i] > 0) & cheap[:, None]
        found.append(tuple(f"{names[k]}/{instance.resources[j]}" for k, j in np.argwhere(paid)))
    return tuple(found)


def _reason(instance: Instance, off: np.ndarray, uncleared: np.ndarray, gap: float) -> str:
    if off.max() > FIRST_ORDER:
        i = int(off.argmax())
        return f"user {instance.users[i]!r} is off her best response at the prices by {off[i]:.1e}"
    if uncleared.max() > FIRST_ORDER:
        k, j = np.unravel_index(int(uncleared.argmax()), uncleared.shape)
        where = "" if instance.machines is None else f" of {instance.machine_names[k]!r}"
        return f"{instance.resources[j]!r}{where} has a price, but {uncleared[k, j]:.1e} of it is unused"
    return f"the gap is {gap:.1e}"
