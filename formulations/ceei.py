"""Competitive equilibrium from equal incomes: the largest Nash product, divisible tasks.

Given    d[i, j]  units of resource j that one task of user i needs                     (n, m)
         c[j]     units of resource j in the whole cluster                              (m,)
         C[k, j]  units of resource j on all machines of class k; a pool is one class   (k, m)
         e[i, k]  whether user i may use class k; a pool is open to all                 (n, k)
         w[i]     weight of user i, positive, the same on every resource                (n,)
         u[i]     most tasks of user i, inf for no limit                                (n,)

Derived  g[i]    = w[i] / (sum_i w[i]) min_j c[j] / d[i, j]   tasks that her part of a pool runs
         b[i, j] = g[i] d[i, j]                               units of resource j that they need

Find     z[i, k] >= 0  tasks of user i on class k, in units of g[i];  s[i] = sum_k z[i, k]

    maximise    sum_i w[i] log(g[i] s[i])                 over the users with u[i] > 0
    subject to  sum_i b[i, j] z[i, k] / C[k, j]  <=  1    for every class k, resource j  (capacity)
                s[i]  <=  u[i] / g[i]                     for every user i with a limit  (limit)
                sum of the z[i, k] without e[i, k]  =  0                                 (eligible)

The tasks of user i are x[i] = g[i] s[i].
The dual of (capacity), divided by C[k, j], is the price p[k, j] of a unit of the resource. At these
prices a user below her limit spends her whole income, w[i] = x[i] sum_j p[k, j] d[i, j], on every
class k that she uses, and no other class is cheaper; what is not used up is free.
The dual of (limit), divided by g[i], is what one more task would add to the objective.

Source   Ghodsi et al., "Dominant Resource Fairness", NSDI 2011, section 5.2; that the
         optimum is an equilibrium: Eisenberg, "Aggregation of Utility Functions",
         Management Science 7 (4), 1961.
"""

from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np


class Program(NamedTuple):
    """The program, not solved; its constraints are capacity, limit, eligible, in this order."""

    problem: cp.Problem
    tasks: cp.Expression
    levels: None = None


def build(data: Any, held: np.ndarray) -> Program:
    """Return the program; it is solved once and makes no use of `held`."""
    d, c, w, u = data.demands, data.capacity, data.weights[:, 0], data.limits
    if data.machines is None:
        C, e = c[None, :], np.ones((len(d), 1), dtype=bool)
    else:
        C, e = data.counts[:, None] * data.machines, data.eligible
    # Nobody can run a task that needs what is not there, so any divisor will do in its place.
    c, C = np.where(c > 0, c, 1.0), np.where(C > 0, C, 1.0)

    g = w / w.sum() / (d / c).max(axis=1)
    b = g[:, None] * d
    counted, limited = u > 0, 1.0 * np.isfinite(u)

    z = cp.Variable((len(d), len(C)), nonneg=True, name="z")
    s = cp.sum(z, axis=1)
    product = w[counted] @ (cp.log(s[counted]) + np.log(g[counted])) if counted.any() else 0
    capacity = cp.multiply(z.T @ b, 1 / C) <= 1
    limit = cp.multiply(limited, s) <= np.where(limited, u / g, 1.0)  # 0 <= 1 for the others
    eligible = cp.sum(cp.multiply(1.0 - e, z)) == 0
    problem = cp.Problem(cp.Maximize(product), [capacity, limit, eligible])
    return Program(problem, tasks=cp.multiply(g, s))


if __name__ == "__main__":
    try:
        from rounds import show
    except ModuleNotFoundError:
        raise SystemExit("error: rounds.py, the loop over rounds, must lie beside this file: copy it too") from None
    show(
        build,
        __doc__,
        "max sum_i w[i] log x[i]: sum_i d[i, j] x[i] <= c[j], x[i] <= u[i]",
        rows="capacity limit eligible",
    )
