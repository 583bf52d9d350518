"""Progressive filling of one pool: all levels rise together; who meets a saturated resource, or her limit, stops.

Between two saturations the only events are limits, and what all users hold at a common level t,
``sum_i a_ij min(t, L_i)``, is piecewise linear in t with its corners at the limits.  Sorting the limits once and
summing them up gives every corner, so a saturation is found without walking from limit to limit: at most m phases,
each a few passes over the users.
"""

import numpy as np

from .problem import Answer, Problem

__all__ = ["solve"]


def solve(problem: Problem) -> Answer:
    """Return the leximin allocation of a pool. Exact up to rounding."""
    per_level = problem.shares / problem.rates[:, None]
    tops = problem.limits * problem.rates
    levels = _fill(per_level, tops)
    at_limit = levels >= tops
    tasks = np.where(at_limit, problem.limits, levels / problem.rates)
    return Answer(tasks)


def _fill(per_level: np.ndarray, tops: np.ndarray) -> np.ndarray:
    """Return levels (n,) in a pool of ones, of users who take ``per_level`` (n, m) for a level of 1, up to ``tops``."""
    n, m = per_level.shape
    levels = np.zeros(n)
    free = np.ones(m)
    rising = np.arange(n)
    while rising.size:
        level, saturated = _next_saturation(per_level[rising], tops[rising], free)
        if saturated is None:
            levels[rising] = tops[rising]
            break
        stopped = (per_level[rising][:, saturated] > 0).any(axis=1)
        # Whoever reached her limit below the saturation is finished too, whatever she uses.
        stopped |= tops[rising] <= level
        done = rising[stopped]
        levels[done] = np.minimum(level, tops[done])
        free = np.maximum(1 - levels @ per_level, 0)
        free[saturated] = 0
        rising = rising[~stopped]
    return levels


def _next_saturation(per_level: np.ndarray, tops: np.ndarray, free: np.ndarray) -> tuple[float, np.ndarray | None]:
    """Return the lowest level at which a resource runs out, and which do; None when every limit is met before."""
    limited = np.flatnonzero(tops < np.inf)
    order = limited[np.argsort(tops[limited], kind="stable")]
    corners = tops[order]
    held = np.zeros((len(order) + 1, per_level.shape[1]))
    np.cumsum(per_level[order] * corners[:, None], axis=0, out=held[1:])
    unlimited = per_level[tops == np.inf].sum(axis=0)
    still = np.empty_like(held)
    still[-1] = 0
    still[:-1] = np.cumsum(per_level[order][::-1], axis=0)[::-1]
    still += unlimited
    # Corner q: the first q limits are met, the others are at the level of corner q (or of the next one).
    full = np.flatnonzero((held[:-1] + corners[:, None] * still[:-1] > free).any(axis=1))
    q = int(full[0]) if full.size else len(order)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(still[q] > 0, np.maximum(free - held[q], 0) / still[q], np.inf)
    level = float(reach.min())
    if level == np.inf:
        return level, None
    return level, reach <= level
