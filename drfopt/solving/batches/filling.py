"""Progressive filling of many pools at once: all take their steps together, whatever step each of them is at.

With some users held at their ``levels``, resource j runs out when the others, who rise together, reach
``t_j = (1 - what is held of j) / (what the others take of j for a level of 1)``.  Let t be the least of these.  Rising
users whose limits lie at or below t are held there, and t is asked again: what they leave lets the others rise further.
Where there is none, t is a saturation, and whoever needs a resource that runs out at t is held at t.  So every step
holds somebody in every pool that is not finished, and without limits a pool is finished after m of them.
"""

import numpy as np

from .pools import Pools, quiet

__all__ = ["fill"]

FEW = 0.6
"""Part of a block that is not finished, below which the others are put aside."""

NOTHING = 1e-300
"""Stands for nothing free: a resource that nobody drains lasts for ever then, whether there is some of it or none."""


@quiet()
def fill(pools: Pools) -> np.ndarray:
    """Return the leximin tasks of every pool, (n, size), exact up to rounding; NaN where floats do not hold them."""
    rates, out = pools.rates, pools.out
    if out is not None:
        rates = np.where(out, 1.0, rates)
    per_level = pools.shares / rates
    tops = None if pools.limits is None else pools.limits * rates
    if out is not None:
        per_level[:, out] = 0
        tops = np.where(out, 0.0, np.inf if tops is None else tops)
    levels = _levels(per_level, tops)
    tasks = levels / rates
    if pools.limits is not None:
        np.copyto(tasks, pools.limits, where=levels == tops)
    if out is not None:
        tasks[out] = 0
    return tasks


def _levels(per_level: np.ndarray, tops: np.ndarray | None) -> np.ndarray:
    """Return levels (n, size) in pools of ones, of users who take `per_level` for a level of 1, up to `tops`."""
    _, n, size = per_level.shape
    rising = per_level
    free: np.ndarray | float = 1.0
    found = levels = np.zeros((n, size))
    waiting = np.ones((n, size), dtype=bool)
    places = None
    for _ in range(n):
        reach = free / rising.sum(axis=1)
        level = reach.min(axis=0)
        full = reach <= level
        met = None
        if tops is not None:
            met = waiting & (tops <= level)
            full &= ~met.any(axis=0)
            np.copyto(levels, tops, where=met)
        stopped = ((rising > 0) & full[:, None]).any(axis=0)
        np.copyto(levels, level, where=stopped)
        waiting &= ~stopped if met is None else ~(stopped | met)
        going = waiting.any(axis=0)
        if places is not None:
            found[:, places] = levels
        kept = np.flatnonzero(going)
        if not kept.size:
            return found
        if kept.size < FEW * going.size:
            places = kept if places is None else places[kept]
            per_level, levels, waiting = per_level[..., kept], levels[:, kept], waiting[:, kept]
            tops = None if tops is None else tops[:, kept]
        rising = per_level * waiting
        free = np.maximum(1 - (per_level * levels).sum(axis=1), NOTHING)
    # Every step holds somebody, unless there are numbers that floats do not hold: then there is no answer.
    levels[waiting] = np.nan
    if places is not None:
        found[:, places] = levels
    return found
