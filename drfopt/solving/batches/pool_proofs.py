"""Certificates of many pools at once: the conditions of a single one, computed from the demands and the tasks.

The same conditions, in the same measures, as `drfopt.certificates.bottleneck` and `drfopt.certificates.prices` hold a
single pool to.  What floats cannot decide counts as not proven.
"""

from typing import Any

import numpy as np

from ...base.tolerances import AT_LIMIT, FIRST_ORDER, LEVEL, LEVEL_CEEI
from ...certificates.task_errors import AFAR, ALIKE, EPSILON, SHORT
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

    All are (size,); the error bounds that of every user's tasks. Its theorem is in `drfopt.certificates.task_errors`;
    a coarse form of it is enough for most pools, and the whole of it for those with ties.
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
    error = _never_nan(_task_error(pools, tasks, prices, left, slack) + off.max(axis=0))
    tied = np.flatnonzero((violation <= FIRST_ORDER) & (error > LEVEL_CEEI))
    if tied.size:
        error[tied] = _tied_error(pools, tasks, prices, ratio - 1, tied)
    return _never_nan(violation), _never_nan(np.where(total > 0, missed / total, 0.0)), error


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


def _tied_error(pools: Pools, tasks: np.ndarray, prices: np.ndarray, off: np.ndarray, some: np.ndarray) -> np.ndarray:
    """Return the error (some,) of some pools by the whole theorem: each user's own, with resources without a price.

    `off` (n, size) is what is paid over what is to be paid, minus 1.  A pool of which the theorem says nothing, or what
    takes exact numbers (who is at a limit uses a resource alone), has inf.
    """
    n, m = tasks.shape[0], prices.shape[0]
    demands, tasks, prices, off = pools.demands[..., some].T, tasks[:, some].T, prices[:, some].T, off[:, some].T
    capacity = np.broadcast_to(pools.capacity, (m, pools.demands.shape[-1]))[:, some].T
    worth, room, short = np.ones_like(tasks), np.full_like(tasks, np.inf), 0.0
    if pools.weights is not None:
        worth = np.broadcast_to(pools.weights, (n, pools.demands.shape[-1]))[:, some].T
    if pools.limits is not None:
        limits = np.broadcast_to(pools.limits, (n, pools.demands.shape[-1]))[:, some].T
        held = tasks >= limits * (1 - AT_LIMIT)
        room = np.where(held, 0.0, 1 - tasks / limits)
        short = np.where(held & (tasks > 0), np.abs(tasks / limits - 1), 0.0).max(axis=1)
    has, held = tasks > 0, room <= 0
    farthest = np.where(has, np.where(held, np.maximum(off, 0), np.abs(off)), 0.0).max(axis=1) + short
    # A resource that has no price counts as if it took all money.
    share = np.where(capacity > 0, (demands * tasks[..., None]).sum(axis=1) / capacity, 0.0)
    priced = prices > 0
    scarce, part = (capacity > 0) & (priced | (share >= 1 - SHORT)), priced.astype(float)
    idle = (capacity > 0) & ~scarce
    unit = np.where(priced, prices * capacity, (prices * capacity).sum(axis=1, keepdims=True))
    missed = np.where(priced, np.abs(share - 1), np.maximum(share - 1, 0)) + farthest[:, None]
    missed += EPSILON * (m + 6 + min(n / 2, 2 * np.sqrt(n)))
    spent = demands * np.where(scarce, unit / capacity, 0.0)[:, None] * np.where(has, tasks / worth, 0.0)[..., None]
    bends = np.sqrt(np.where((room > AFAR) & has, worth, 0.0))[..., None] * spent
    kept, told = _independent(spent, part, unit, scarce)
    told &= ~(scarce & ~bends.any(axis=1)).any(axis=1) & np.isfinite(bends).all(axis=(1, 2))
    told &= np.isfinite(unit).all(axis=1)
    root, inverted = _roots(np.where(told[:, None, None] & kept[:, None], bends, 0.0), kept)
    lengths = np.sqrt((root**2).sum(axis=2))
    weights = np.where(kept, missed * unit, 0.0)
    slack = np.where(idle, 1 - share, np.inf)
    reach = (weights * lengths).sum(axis=1) * (1 + np.sqrt(LEVEL_CEEI * (1 / slack).sum(axis=1)))
    directions = spent @ root
    change = reach[:, None] * np.sqrt((directions**2).sum(axis=2))
    rests = (demands * np.where(idle, 1 / (capacity * slack), 0.0)[:, None]).sum(axis=2) * tasks
    change += reach[:, None] ** 2 * np.where(has, rests / worth, 0.0)
    straight = (np.abs(directions @ root.transpose(0, 2, 1)) * weights[:, None]).sum(axis=2)
    most = np.where(has, change, 0.0).max(axis=1)

    def worst(moved: np.ndarray) -> np.ndarray:
        # Who is at its limit is off where it would have less.
        error = np.where(held, np.maximum(moved + off, 0) + EPSILON, moved + np.abs(off))
        return np.asarray(np.where(has, error, 0.0).max(axis=1))

    near = np.where(has, np.where(held, -off, np.where(room > AFAR, room, 0.0)), np.inf).min(axis=1)
    steady = (2 * most < np.minimum(np.minimum(near, slack.min(axis=1)), AFAR)) & (priced | ~kept).all(axis=1)
    steady &= (lengths * reach[:, None]).max(axis=1) < 0.5
    error = worst(change)
    error = np.where(steady, np.minimum(error, worst(straight) + 4 * most**2), error)
    return _never_nan(np.where(told & inverted, error, np.inf))


def _independent(
    spent: np.ndarray, part: np.ndarray, unit: np.ndarray, scarce: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return which scarce resources matter, bool (some, m), and of which pools that can be told, from (some, n, m).

    A resource that all use in fixed proportion to others, and of which there is as much, is left out: the others have
    its price.
    """
    size, _, m = spent.shape
    lanes = np.arange(size)
    kept, told, price = np.zeros((size, m), dtype=bool), np.ones(size, dtype=bool), part.copy()
    basis, parts = np.zeros_like(spent), np.zeros((size, m, m))
    """Orthonormal columns, one a resource that is kept, and what each is made of: ``basis = spent @ parts``."""
    for order in np.lexsort((-unit, -part), axis=1).T:
        column = spent[lanes, :, order]
        rest, of = column, np.zeros((size, m))
        for _ in range(2):
            along = (basis * rest[..., None]).sum(axis=1)
            rest = rest - (basis * along[:, None]).sum(axis=2)
            of = of + (parts * along[:, None]).sum(axis=2)
        length, apart = (np.sqrt((far**2).sum(axis=1)) for far in (rest, column - (spent @ of[..., None])[..., 0]))
        here = scarce[lanes, order]
        new = here & (np.maximum(length, apart) > ALIKE * np.sqrt((column**2).sum(axis=1)))
        made = -of
        made[lanes, order] = 1.0
        inverse = np.where(new, 1 / length, 0.0)[:, None]
        basis[lanes, :, order] = np.where(new[:, None], rest * inverse, 0.0)
        parts[lanes, :, order] = np.where(new[:, None], made * inverse, 0.0)
        kept[lanes, order] = new
        # It is used up by what the others let pass, or less.
        mine, dependent = unit[lanes, order], here & ~new
        sizes = mine + (np.abs(of) * unit).sum(axis=1)
        lets = mine >= (of * unit).sum(axis=1) - 16 * EPSILON * sizes
        price += np.where(dependent[:, None], of * price[lanes, order][:, None], 0.0)
        spare = ((price >= 0) & ~((of < -ALIKE) & (price < 0.5)) | ~kept).all(axis=1)
        told &= ~dependent | (lets & spare)
    return kept, told


def _roots(bends: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return R (.., m, m) with R R' the inverse of B' B on what is kept, for B `bends`, and where there is one."""
    sizes = np.sqrt((bends**2).sum(axis=1))
    sizes = np.where(sizes > 0, sizes, 1.0)
    _, values, vectors = np.linalg.svd(bends / sizes[:, None], full_matrices=False)
    large = values > ALIKE * values[:, :1]
    inverse = np.where(large, 1 / np.where(large, values, 1.0), 0.0)
    return (vectors * inverse[..., None]).transpose(0, 2, 1) / sizes[..., None], large.sum(axis=1) == kept.sum(axis=1)


def _never_nan(violation: np.ndarray) -> np.ndarray:
    """Return NaN as inf: what is not a number proves nothing."""
    return np.where(np.isnan(violation), np.inf, violation)
