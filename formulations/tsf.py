"""Task-share fairness: one round of its leximin, divisible tasks, as a linear program.

Given    d[i, j]  units of resource j that one task of user i needs, the average one    (n, m)
         c[j]     units of resource j in the whole cluster                              (m,)
         C[k, j]  units of resource j on all machines of class k; a pool is one class   (k, m)
         D[p, j]  units of resource j that one task of kind p needs; where nothing is
                  given a user is a kind                                                (p, m)
         P[i, p]  part of the tasks of user i that are of kind p, of which she is       (n, p)
         e[p, k]  whether tasks of kind p may run on class k; a pool is open to all     (p, k)
         w[i]     weight of user i, positive                                            (n,)
         u[i]     most tasks of user i, inf for no limit                                (n,)
         h[i]     level at which user i is held, NaN while she rises                    (n,)

Derived  A[i]    = the largest A with A P[i, p] = sum_k y[p, k] for every kind p of user i,
                   sum_p D[p, j] y[p, k] <= C[k, j], y >= 0:  tasks of user i alone, on any class;
                   of one kind it is sum_k min_j C[k, j] / d[i, j]
         a[i]    = 1 / (A[i] w[i])                      level of user i with one task
         g       = min_j c[j] / sum_i (d[i, j] / a[i])  level at which all, as one, fill a pool
         b[p, j] = g sum_i P[i, p] / a[i] D[p, j]       units of resource j that level g takes

Find     z[p, k] >= 0  level of her whose kind p is that runs on class k, in units of g
         t             lowest level of those who rise, in units of g
         s[i] = sum_p P[i, p] sum_k z[p, k]             level of user i, in units of g

    maximise    t                                         (0 when nobody rises)
    subject to  s[i]  >=  t                               for every user i who rises, and
                s[i]  >=  h[i] / g                        for every user i who is held   (level)
                sum_p b[p, j] z[p, k] / C[k, j]  <=  1    for every class k, resource j  (capacity)
                s[i]  <=  a[i] u[i] / g                   for every user i with a limit  (limit)
                sum of the z[p, k] without e[p, k]  =  0                                 (eligible)
    and, where somebody has several kinds,
                sum_k z[p, k]  =  s[i]                    for every kind p of user i     (together)

The level of user i is g s[i], her tasks are g s[i] / a[i].
The duals of (level) sum to 1 over those who rise. A user whose dual is positive has level t in
every optimum, be it for a resource or for her limit: she is finished, and is held from then on.
The dual of (capacity) is the rate at which t grows with that capacity, the capacity being 1.

Source   Wang, Li, Liang and Li, "Multi-Resource Fair Sharing for Datacenter Jobs with Placement
         Constraints", SC 2016.
"""

from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np


class Round(NamedTuple):
    """One round, not solved; its constraints are level, capacity, limit, eligible, together, in this order."""

    problem: cp.Problem
    tasks: cp.Expression
    levels: cp.Expression


def alone(parts: np.ndarray, demands: np.ndarray, room: np.ndarray) -> float:
    """Return how many tasks of several kinds, in these parts of all, classes have room for."""
    runs = np.array(
        [(demands[p] > 0).any() and ((room > 0) | (demands[p] == 0)).all(axis=1).any() for p in range(len(parts))]
    )
    parts, demands, most = parts[runs], demands[runs], cp.Variable()
    y = cp.Variable((len(parts), len(room)), nonneg=True)
    rows = [cp.sum(y, axis=1) == parts * most, y.T @ demands <= room]
    cp.Problem(cp.Maximize(most), rows).solve(cp.HIGHS)
    return float(most.value)


def build(data: Any, held: np.ndarray) -> Round:
    """Return the round in which the users with NaN in `held`, shape (n,), rise together."""
    d, c, w, u, h = data.demands, data.capacity, data.weights[:, 0], data.limits, held
    D, P = getattr(data, "kind_demands", d), getattr(data, "kind_parts", np.eye(len(d)))
    if data.machines is None:
        C, e = c[None, :], np.ones((len(D), 1), dtype=bool)
    else:
        C, e = data.counts[:, None] * data.machines, getattr(data, "kind_eligible", data.eligible)
    need = np.where(d > 0, d, np.nan)[:, None, :]
    A = np.nanmin(C / need, axis=2).sum(axis=1)
    for i in np.flatnonzero((P > 0).sum(axis=1) > 1):
        A[i] = alone(P[i, P[i] > 0], D[P[i] > 0], C)
    # Nobody can run a task that needs what is not there, so any divisor will do in its place.
    c, C = np.where(c > 0, c, 1.0), np.where(C > 0, C, 1.0)

    a = 1 / (np.where(A > 0, A, 1.0) * w)
    g = 1 / ((d / a[:, None]).sum(axis=0) / c).max()
    b = g * (P / a[:, None]).sum(axis=0)[:, None] * D
    rises, limited = 1.0 * np.isnan(h), 1.0 * np.isfinite(u)

    z = cp.Variable((len(D), len(C)), nonneg=True, name="z")
    s = P @ cp.sum(z, axis=1)
    t = cp.Variable(name="t")
    level = s >= rises * t + np.nan_to_num(h / g)
    capacity = cp.multiply(z.T @ b, 1 / C) <= 1
    limit = cp.multiply(limited, s) <= np.where(limited, a * u / g, 1.0)  # 0 <= 1 for the others
    eligible = cp.sum(cp.multiply(1.0 - e, z)) == 0
    together = [cp.sum(z, axis=1) == (P > 0).T @ s] if len(D) > len(d) else []
    problem = cp.Problem(cp.Maximize(t if rises.any() else 0), [level, capacity, limit, eligible, *together])
    return Round(problem, tasks=cp.multiply(g / a, s), levels=g * s)


if __name__ == "__main__":
    try:
        from rounds import show
    except ModuleNotFoundError:
        raise SystemExit("error: rounds.py, the loop over rounds, must lie beside this file: copy it too") from None
    show(
        build,
        __doc__,
        "max t: s[i] >= t (i rises), s[i] >= h[i] (i is held), sum_i d[i, j] x[i] <= c[j], x[i] <= u[i]; s[i] = "
        "x[i] / (A[i] w[i]), A[i] its tasks alone",
        rows="level capacity limit eligible",
    )
