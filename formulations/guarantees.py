"""DRF with guarantees, tiers, ceilings of groups and resources that do not count: one round.

Given    d[i, j]  units of resource j that one task of user i needs                     (n, m)
         c[j]     units of resource j in the whole cluster                              (m,)
         C[k, j]  units of resource j on all machines of class k; a pool is one class   (k, m)
         e[i, k]  whether user i may use class k; a pool is open to all                 (n, k)
         w[i, j]  weight of user i on resource j, positive                              (n, m)
         u[i]     most tasks of user i, her ceilings included, inf for no limit         (n,)
         f[i]     tasks that user i is guaranteed; 0 where nothing is given             (n,)
         v[i, j]  units of resource j that are a share of 1 for user i; c[j] where
                  nothing is given (her guarantee, where shares are parts of it)        (n, m)
         q[j]     whether resource j counts; all do where nothing is given              (m,)
         r[i]     tier of user i, higher ones first; 0 where nothing is given           (n,)
         G[b, i]  whether user i is in the group of ceiling b; none where not given     (b, n)
         L[b, j]  units of resource j that this group may use, positive, or inf         (b, m)
         h[i]     level at which user i is held, NaN while she has not been             (n,)

Derived  a[i]     = max_j d[i, j] / (v[i, j] w[i, j]) over the j that count: level of one task
         rises[i] whether user i is not held, and nobody in a higher tier is not

Find     z[i, k] >= 0  level that user i earns on class k;  s[i] = sum_k z[i, k]
         t             lowest level of those who rise

    maximise    t                                                    (0 when nobody rises)
    subject to  s[i]  >=  t                            for every user i who rises, and
                s[i]  >=  h[i]                         for every user i who is held     (level)
                sum_i d[i, j] / a[i] z[i, k] / C[k, j]  <=  1
                                                       for every class k, resource j    (capacity)
                s[i]  <=  a[i] u[i]                    for every user i with a limit    (limit)
                sum of the z[i, k] without e[i, k]  =  0                                (eligible)
                s[i]  >=  a[i] f[i]                    for every user i                 (promise)
                sum_i G[b, i] d[i, j] / a[i] s[i] / L[b, j]  <=  1
                                                       for every ceiling b, resource j  (ceiling)

Guarantees must fit together: the round is infeasible where they do not. A user of a lower tier
keeps her promise and waits. The duals of (level) sum to 1 over those who rise; a user whose dual
is positive has level t in every optimum, and is held from then on.

Source   Ghodsi et al., "Dominant Resource Fairness", NSDI 2011, section 4.3 (weights);
         guarantees and tiers as in the schedulers of YARN, Kueue, YuniKorn and KAI.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np

POSITIVE = 1e-7  # a dual below it is 0: HiGHS decides on duals to 1e-7


class Round(NamedTuple):
    """One round, not solved; constraints are level, capacity, limit, eligible, promise, ceiling, in this order."""

    problem: cp.Problem
    tasks: cp.Expression
    levels: cp.Expression
    finished: Callable[[], np.ndarray]


def build(data: Any, held: np.ndarray) -> Round:
    """Return the round in which those of the highest tier with NaN in `held`, shape (n,), rise together."""
    d, c, w, u, h = data.demands, data.capacity, data.weights, data.limits, held
    if data.machines is None:
        C, e = c[None, :], np.ones((len(d), 1), dtype=bool)
    else:
        C, e = data.counts[:, None] * data.machines, data.eligible
    # Nobody can run a task that needs what is not there, so any divisor will do in its place.
    c, C = np.where(c > 0, c, 1.0), np.where(C > 0, C, 1.0)
    f, v, q = getattr(data, "promised", np.zeros(len(d))), getattr(data, "units", c), getattr(data, "counted", c > 0)
    r = 1.0 * getattr(data, "tiers", np.zeros(len(d)))
    G, L = getattr(data, "grouped", np.zeros((1, len(d)))), getattr(data, "ceilings", np.full((1, len(c)), np.inf))

    a = (d / (v * w) * q).max(axis=1)
    free = np.isnan(h)
    rises, limited = 1.0 * (free & (r == r[free].max(initial=-np.inf))), 1.0 * np.isfinite(u)

    z = cp.Variable((len(d), len(C)), nonneg=True, name="z")
    s = cp.sum(z, axis=1)
    t = cp.Variable(name="t")
    level = s >= rises * t + np.where(free, 0.0, h)
    capacity = cp.multiply(z.T @ (d / a[:, None]), 1 / C) <= 1
    limit = cp.multiply(limited, s) <= np.where(limited, a * u, 1.0)  # 0 <= 1 for the others
    eligible = cp.sum(cp.multiply(1.0 - e, z)) == 0
    promise = s >= a * f
    ceiling = cp.multiply(G @ cp.multiply(d / a[:, None], cp.reshape(s, (len(d), 1), order="C")), 1 / L) <= 1
    problem = cp.Problem(cp.Maximize(t if rises.any() else 0), [level, capacity, limit, eligible, promise, ceiling])

    def finished() -> np.ndarray:
        """A positive dual: it has this level in every optimum."""
        y = rises * level.dual_value
        return y > min(POSITIVE, y.max() / 2)

    return Round(problem, tasks=s / a, levels=1.0 * s, finished=finished)


if __name__ == "__main__":
    try:
        from rounds import show
    except ModuleNotFoundError:
        raise SystemExit("error: rounds.py, the loop over rounds, must lie beside this file: copy it too") from None
    show(
        build,
        __doc__,
        "max t: s[i] >= t (i rises), s[i] >= h[i] (i is held), sum_i d[i, j] x[i] <= c[j], x[i] <= u[i], x[i] >= "
        "f[i]; s[i] = max_j d[i, j] x[i] / (v[i, j] w[i, j])",
        rows="level capacity limit eligible promise ceiling",
        promised=[4, 0],
    )
