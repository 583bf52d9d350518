"""Certificates of many pools at once: the conditions of a single one, computed from the demands and the tasks.

The same conditions, in the same measures, as `drfopt.certificates.bottleneck` and `drfopt.certificates.prices` hold a
single pool to.  What floats cannot decide counts as not proven.
"""

from typing import Any

import numpy as np

from ...base.tolerances import LEVEL
from ...certificates.prices import AT_LIMIT
from ...certificates.task_errors import AFAR, EPSILON, SHORT
from ...model.arrays import LARGEST, SMALLEST, in_mid_range
from .markets import Factor
from .pools import Pools, quiet

__all__ = ["bottlenecks", "clearing", "infeasibility"]

SAME = 8 * EPSILON
"""Relative distance of levels that are equal but for roundings."""

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

    inf where the error of every level is not bounded by `LEVEL`; the theorem itself, of which this is a coarser form,
    is in `drfopt.certificates.bottleneck`.
    """
    held = pools.demands * tasks
    used = held.sum(axis=1)
    levels = pools.rates * tasks
    on = np.where(pools.demands > 0, levels, 0.0)
    top = on.max(axis=1)
    highest = held * (on >= (top * (1 - SAME))[:, None])
    of_highest = highest.sum(axis=1)
    slack = np.abs(pools.capacity - used)
    full = (slack <= LEVEL * pools.capacity) & (top > 0)
    unused = np.where(full & (of_highest >= LITTLE * pools.capacity), slack / of_highest, np.inf)
    deficits = np.where(on > 0, np.maximum(1 - on / top[:, None], unused[:, None]), np.inf)
    violations = deficits.min(axis=0)
    short = None
    if pools.limits is not None:
        short = np.where(pools.limits > 0, np.maximum(1 - tasks / pools.limits, 0), 0.0)
        short = np.where(pools.limits < np.inf, short, np.inf)
        violations = np.minimum(violations, short)
    if pools.unplaced is not None:
        violations = np.where(pools.unplaced, np.where(tasks == 0, 0.0, np.inf), violations)
    worst = violations.max(axis=0)
    hidden = (4 + np.sqrt(len(tasks))) * EPSILON
    rest = np.where(full, slack / pools.capacity, 0.0).max(axis=0) + hidden
    error = _error(pools, highest, of_highest, top, full, short, rest, worst + SAME)
    proven = (error <= LEVEL) & _in_mid_range(pools, tasks)
    return _never_nan(np.where(proven, np.maximum(worst, infeasibility(pools, tasks, used)), np.inf))


def _error(
    pools: Pools,
    highest: np.ndarray,
    of_highest: np.ndarray,
    top: np.ndarray,
    full: np.ndarray,
    short: Any,
    rest: np.ndarray,
    window: np.ndarray,
) -> np.ndarray:
    """Return a bound of the relative error of levels, (size,), coarser than the theorem's.

    Of every full resource: what is used of it by the part that those at its top hold, A, and by F; no more is carried
    from one to the next.  F is what is held at its top by users below their limits; where another resource may run out
    before they stop, what one of them holds alone.
    """
    if short is not None:
        highest = np.where(short > SAME, highest, 0.0)
    free = highest.sum(axis=1)
    alone = np.where(highest > 0, highest, np.inf).min(axis=1)
    for j in range(len(top)):
        for k in range(len(top)):
            if j != k:
                later = of_highest[k] * (1 - top[j] / top[k] * (1 + 2 * LEVEL)) > 2 * LEVEL * pools.capacity[k]
                meets = full[k] & (top[k] >= top[j] * (1 - SAME)) & ~later
                free[j] = np.where(meets, np.minimum(alone[j], free[j]), free[j])
    # A top at which all are at their limits is nobody's bottleneck.
    up = np.where(full & (free > 0), pools.capacity / free, 0.0).max(axis=0)
    down = np.where(full, pools.capacity / of_highest, 0.0).max(axis=0)
    error = np.zeros(top.shape[1])
    for place in range(len(top)):
        lower = down * (rest + error) + window
        grown = np.maximum(up * (rest + lower) + window, lower)
        error = np.where(full.sum(axis=0) > place, grown, error)
    if short is not None:
        # So near to a limit that a rounding might decide.
        error = np.where(((short > SAME) & (short <= 2 * LEVEL)).any(axis=0), np.inf, error)
    return error + window


def _in_mid_range(pools: Pools, tasks: np.ndarray) -> np.ndarray:
    """Say of which pools all numbers are far from the ends of the range of floats, (size,)."""
    given = [pools.demands, pools.capacity, pools.rates, tasks, pools.weights, pools.limits]
    fine = np.ones(tasks.shape[-1], dtype=bool)
    for values in given:
        if values is not None and not in_mid_range(values):
            inside = ((values >= SMALLEST) & (values <= LARGEST)) | (values == 0) | (values == np.inf)
            fine = fine & inside.all(axis=tuple(range(values.ndim - 1)))
    return fine


@quiet()
def clearing(pools: Pools, tasks: np.ndarray, prices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return violation, gap and error of tasks (n, size) at prices (m, size) of a unit of each resource.

    All are (size,); the error bounds that of every user's tasks and is coarser than `drfopt.certificates.task_errors`,
    where its theorem is.
    """
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
    share = used / pools.capacity
    left = np.where(prices > 0, np.abs(share - 1), np.where(share >= 1 - SHORT, np.inf, 0.0))
    left += np.where(prices > 0, off.max(axis=0) + EPSILON * (len(prices) + 6 + len(tasks) / 2), 0.0)
    slack = np.where(share < 1 - SHORT, 1 - share, 1.0).min(axis=0)
    error = _task_error(pools, tasks, prices, left, slack) + off.max(axis=0)
    return _never_nan(violation), _never_nan(np.where(total > 0, missed / total, 0.0)), _never_nan(error)


def _task_error(pools: Pools, tasks: np.ndarray, prices: np.ndarray, left: np.ndarray, slack: np.ndarray) -> np.ndarray:
    """Return the error (size,) that parts of the resources `left` (m, size), unused or used too much, may make.

    `slack` (size,) is the least part that is left of what costs nothing.
    """
    weights = 1.0 if pools.weights is None else pools.weights
    rate, free = tasks / weights, np.broadcast_to(weights, tasks.shape)
    if pools.limits is not None:
        free = np.where(tasks < pools.limits * (1 - AFAR), free, 0.0)
        left = left + np.where(left > 0, np.where(tasks >= pools.limits * (1 - AT_LIMIT), AT_LIMIT, 0).max(axis=0), 0)
    if pools.out is not None:
        rate, free = np.where(pools.out, 0.0, rate), np.where(pools.out, 0.0, free)
    spent = pools.demands * (prices[:, None] * rate)
    matrix = [[(free * one * two).sum(axis=0) for two in spent[: j + 1]] for j, one in enumerate(spent)]
    for j, row in enumerate(matrix):
        row[j] = np.where(prices[j] > 0, row[j], 1.0)
    factor, lengths = Factor(matrix), np.empty_like(prices)
    for j in range(len(prices)):
        unit = np.zeros_like(prices)
        unit[j] = 1.0
        lengths[j] = np.where(prices[j] > 0, np.sqrt(factor.solve(unit)[j]), 0.0)
    reach = np.where(left > 0, left * prices * pools.capacity * lengths, 0.0).sum(axis=0)
    reach = np.where(np.isinf(left).any(axis=0), np.inf, reach)
    poorest = np.where(tasks > 0, weights, np.inf).min(axis=0)
    return reach * lengths.max(axis=0) + len(prices) * reach**2 / (slack * poorest)


def _never_nan(violation: np.ndarray) -> np.ndarray:
    """Return NaN as inf: what is not a number proves nothing."""
    return np.where(np.isnan(violation), np.inf, violation)
