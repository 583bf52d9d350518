"""Efficient sharing: the most dominant share in all that leaves nobody below its own part.

Given    d[i, j]  units of resource j that one task of user i needs                     (n, m)
         c[j]     units of resource j in the whole cluster                              (m,)
         C[k, j]  units of resource j on all machines of class k; a pool is one class   (k, m)
         e[i, k]  whether user i may use class k; a pool is open to all                 (n, k)
         w[i, j]  weight of user i on resource j, positive                              (n, m)
         u[i]     most tasks of user i, inf for no limit                                (n,)

Derived  a[i]    = max_j d[i, j] / c[j]                   dominant share of one task
         p[i, j] = w[i, j] / sum_i w[i, j]                her part of resource j
         r[i]    = sum_k min_j p[i, j] C[k, j] / d[i, j]  tasks that her part of the classes she
                                                          may use would run; no more than u[i]

Find     z[i, k] >= 0  tasks of user i on class k;  x[i] = sum_k z[i, k]

    maximise    sum_i a[i] x[i]
    subject to  x[i]  >=  r[i]                            for every user i               (sharing)
                sum_i d[i, j] z[i, k] / C[k, j]  <=  1    for every class k, resource j  (capacity)
                x[i]  <=  u[i]                            for every user i with a limit  (limit)
                sum of the z[i, k] without e[i, k]  =  0                                 (eligible)

The dual of (sharing) is the cost of the guarantee: dominant share lost in all where user i is
promised one task more. The sharing incentive is a row, and Pareto efficiency follows, since a task
of anybody adds to the sum; of envy and of truthful demands nothing is said. Where users tie for
the best use of a resource, several allocations are optimal.

Source   the worked example of README.md, a new notion in one file.
"""

from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np


class Program(NamedTuple):
    """The program, not solved; its constraints are sharing, capacity, limit, eligible, in this order."""

    problem: cp.Problem
    tasks: cp.Expression
    levels: None = None


def build(data: Any, held: np.ndarray) -> Program:
    """Return the program; it is solved once and makes no use of `held`."""
    d, c, w, u = data.demands, data.capacity, data.weights, data.limits
    if data.machines is None:
        C, e = c[None, :], np.ones((len(d), 1), dtype=bool)
    else:
        C, e = data.counts[:, None] * data.machines, data.eligible
    # Nobody can run a task that needs what is not there, so any divisor will do in its place.
    c, C = np.where(c > 0, c, 1.0), np.where(C > 0, C, 1.0)

    a = (d / c).max(axis=1)
    p = w / w.sum(axis=0)
    # The least p C / d is one over the greatest d / (p C), and there a demand of 0 does no harm.
    r = np.minimum(u, (e / (d[:, None, :] / (p[:, None, :] * C)).max(axis=2)).sum(axis=1))
    limited = 1.0 * np.isfinite(u)

    z = cp.Variable((len(d), len(C)), nonneg=True, name="z")
    x = cp.sum(z, axis=1)
    sharing = x >= r
    capacity = cp.multiply(z.T @ d, 1 / C) <= 1
    limit = cp.multiply(limited, x) <= np.where(limited, u, 1.0)  # 0 <= 1 for the others
    eligible = cp.sum(cp.multiply(1.0 - e, z)) == 0
    problem = cp.Problem(cp.Maximize(a @ x), [sharing, capacity, limit, eligible])
    return Program(problem, tasks=x)


if __name__ == "__main__":
    try:
        from rounds import show
    except ModuleNotFoundError:
        raise SystemExit("error: rounds.py, the loop over rounds, must lie beside this file: copy it too") from None
    show(
        build,
        __doc__,
        "max sum_i a[i] x[i], a[i] = max_j d[i, j] / c[j]: x[i] >= r[i] (its part alone), sum_i d[i, j] x[i] <= "
        "c[j], x[i] <= u[i]",
        rows="sharing capacity limit eligible",
    )
