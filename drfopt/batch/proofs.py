"""Certificates of many pools at once: the conditions of a single one, computed from the demands and the tasks.

The same conditions, in the same measures, as `drfopt.certificates.bottleneck` and `drfopt.certificates.prices` hold a
single pool to.  What floats cannot decide counts as not proven.
"""

import numpy as np

from ..certificates.prices import AT_LIMIT
from ..tolerances import LEVEL
from .pools import Pools, quiet

__all__ = ["bottlenecks", "clearing", "infeasibility"]

LITTLE = 1e-3
"""Part of a capacity that the users at the highest level on it hold, below which rounding of what the others hold may
be more than 1e-12 of their level."""


@quiet()
def infeasibility(pools: Pools, tasks: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Return the largest relative amount by which a constraint is broken, (size,), by tasks (n, size)."""
    worst = np.where(used > 0, used / pools.capacity - 1, 0.0).max(axis=0)
    if not (tasks.min() >= 0 and tasks.max() < np.inf):
        worst[~((tasks >= 0) & (tasks < np.inf)).all(axis=0)] = np.inf
    if pools.limits is not None:
        worst = np.maximum(worst, np.where(tasks > pools.limits, tasks / pools.limits - 1, 0.0).max(axis=0))
    return np.maximum(worst, 0)


@quiet()
def bottlenecks(pools: Pools, tasks: np.ndarray) -> np.ndarray:
    """Return how far the pools are from leximin, (size,): what is missed of the bottleneck condition, or broken.

    inf where the users at the highest level on a resource hold so little of it that rounding would decide.
    """
    held = pools.demands * tasks
    used = held.sum(axis=1)
    on = np.where(pools.demands > 0, pools.rates * tasks, 0.0)
    top = on.max(axis=1)
    of_highest = (held * (on >= (top * (1 - LEVEL))[:, None])).sum(axis=1)
    unused = np.abs(pools.capacity - used) / of_highest
    unused[~((of_highest >= LITTLE * pools.capacity) & (top > 0))] = np.inf
    deficits = np.where(on > 0, np.maximum(1 - on / top[:, None], unused[:, None]), np.inf)
    violations = deficits.min(axis=0)
    if pools.limits is not None:
        short = np.where(pools.limits > 0, np.maximum(1 - tasks / pools.limits, 0), 0.0)
        violations = np.minimum(violations, np.where(pools.limits < np.inf, short, np.inf))
    if pools.unplaced is not None:
        violations = np.where(pools.unplaced, np.where(tasks == 0, 0.0, np.inf), violations)
    return _told(np.maximum(violations.max(axis=0), infeasibility(pools, tasks, used)))


@quiet()
def clearing(pools: Pools, tasks: np.ndarray, prices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return violation (size,) and gap (size,) of tasks (n, size) at prices (m, size) of a unit of each resource."""
    used = (pools.demands * tasks).sum(axis=1)
    weights = np.ones((1, 1)) if pools.weights is None else pools.weights
    ratio = tasks * (pools.demands * prices[:, None]).sum(axis=0) / weights
    off = np.abs(ratio - 1)
    loss = weights * np.maximum(ratio - 1 - np.log(ratio), 0)
    money = np.broadcast_to(weights, tasks.shape)
    if pools.limits is not None:
        at_limit = tasks >= pools.limits * (1 - AT_LIMIT)
        off = np.where(at_limit, np.maximum(ratio - 1, 0), off)
        # At the limit, whoever would like more does the best she can: she loses nothing.
        loss = np.where(at_limit & (ratio <= 1), 0.0, loss)
    if pools.out is not None:
        off = np.where(pools.out, np.where(tasks == 0, 0.0, np.inf), off)
        loss, money = np.where(pools.out, 0.0, loss), np.where(pools.out, 0.0, money)
    unused = np.where(prices > 0, pools.capacity - used, 0.0)
    uncleared = np.where(prices > 0, np.abs(unused) / pools.capacity, 0.0)
    missed, total = np.abs((prices * unused).sum(axis=0) + loss.sum(axis=0)), money.sum(axis=0)
    violation = np.maximum(np.maximum(off.max(axis=0), uncleared.max(axis=0)), infeasibility(pools, tasks, used))
    violation[~(prices >= 0).all(axis=0)] = np.inf
    return _told(violation), _told(np.where(total > 0, missed / total, 0.0))


def _told(violation: np.ndarray) -> np.ndarray:
    """Return NaN as inf: what is not a number proves nothing."""
    return np.where(np.isnan(violation), np.inf, violation)
