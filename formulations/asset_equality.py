"""Equal spending, the paper's own statement of asset fairness, as a linear program.

Given    d[i, j]  units of resource j that one task of user i needs                     (n, m)
         c[j]     units of resource j in the whole cluster                              (m,)
         C[k, j]  units of resource j on all machines of class k; a pool is one class   (k, m)
         e[i, k]  whether user i may use class k; a pool is open to all                 (n, k)
         w[i, j]  weight of user i on resource j, positive                              (n, m)
         u[i]     most tasks of user i, inf for no limit                                (n,)

Derived  a[i]    = sum_j d[i, j] / (c[j] w[i, j])       cost of one task; all of a resource costs 1
         g       = min_j c[j] / sum_i (d[i, j] / a[i])  spending at which all, as one, fill a pool
         b[i, j] = g d[i, j] / a[i]                     units of resource j that spending g takes

Find     z[i, k] >= 0  spending of user i on class k, in units of g;  s[i] = sum_k z[i, k]
         t             spending of everybody, in units of g

    maximise    t
    subject to  s[i]  =  t                                for every user i               (equality)
                sum_i b[i, j] z[i, k] / C[k, j]  <=  1    for every class k, resource j  (capacity)
                s[i]  <=  a[i] u[i] / g                   for every user i with a limit  (limit)
                sum of the z[i, k] without e[i, k]  =  0                                 (eligible)

The tasks of user i are g s[i] / a[i]. The paper maximises (x, y), the tasks of its two users: with
equal spending, they and t rise together.
The duals of (equality), but for their sign, sum to 1: the part each user has in holding t down.
The dual of (capacity) is the rate at which t grows with that capacity, the capacity being 1.

The equality is right for the paper's two users. In general it loses Pareto efficiency, since
everybody stops with the first who must:
    zero demands  demands (1, 0), (0, 1), (0, 1) on a cluster (1, 1): (1/2, 1/2, 1/2), half of the
                  first resource idle; leximin gives (1, 1/2, 1/2);
    limits        demands (1, 4), (3, 1) on (9, 18), the first user limited to two tasks: (2, 12/7),
                  leximin (2, 7/3); and a limit of 0 brings everybody to 0;
    machines      users who share no machine stop together just the same.

Source   Ghodsi et al., "Dominant Resource Fairness", NSDI 2011, section 5.1: maximise (x, y)
         subject to x + 3y <= 9, 4x + y <= 18, 6x = 7y (a CPU costs 2 dollars, a GB 1).
"""

from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np


class Program(NamedTuple):
    """The program, not solved; its constraints are equality, capacity, limit, eligible, in this order."""

    problem: cp.Problem
    tasks: cp.Expression
    levels: None = None
    shares: cp.Expression | None = None


def build(data: Any, held: np.ndarray) -> Program:
    """Return the program; it is solved once and makes no use of `held`."""
    d, c, w, u = data.demands, data.capacity, data.weights, data.limits
    if data.machines is None:
        C, e = c[None, :], np.ones((len(d), 1), dtype=bool)
    else:
        C, e = data.counts[:, None] * data.machines, data.eligible
    # Nobody can run a task that needs what is not there, so any divisor will do in its place.
    c, C = np.where(c > 0, c, 1.0), np.where(C > 0, C, 1.0)

    a = (d / (c * w)).sum(axis=1)
    g = 1 / ((d / a[:, None]).sum(axis=0) / c).max()
    b = g * d / a[:, None]
    limited = 1.0 * np.isfinite(u)

    z = cp.Variable((len(d), len(C)), nonneg=True, name="z")
    s = cp.sum(z, axis=1)
    t = cp.Variable(name="t")
    equality = s == t
    capacity = cp.multiply(z.T @ b, 1 / C) <= 1
    limit = cp.multiply(limited, s) <= np.where(limited, a * u / g, 1.0)  # 0 <= 1 for the others
    eligible = cp.sum(cp.multiply(1.0 - e, z)) == 0
    problem = cp.Problem(cp.Maximize(t), [equality, capacity, limit, eligible])
    return Program(problem, tasks=cp.multiply(g / a, s), shares=g * s)


if __name__ == "__main__":
    try:
        from rounds import show
    except ModuleNotFoundError:
        raise SystemExit("error: rounds.py, the loop over rounds, must lie beside this file: copy it too") from None
    show(
        build,
        __doc__,
        "max t: sum_j d[i, j] x[i] / (c[j] w[i, j]) = t for every i, sum_i d[i, j] x[i] <= c[j], x[i] <= u[i]",
        rows="equality capacity limit eligible",
    )
