"""The largest sum of dominant shares, of users with one or several types of tasks, whole tasks.

Given    D[p, j]  units of resource j that one task of kind p needs                     (p, m)
         d[i, j]  the same of the average task of user i, by the counts of her types    (n, m)
         c[j]     units of resource j in the whole cluster                              (m,)
         C[q, j]  units of resource j on machine q, one by one; a pool is one machine   (q, m)
         e[p, q]  whether tasks of kind p may run on machine q; a pool is open to all   (p, q)
         k[i, s]  kind of the s-th task that user i starts: her types one after the
                  other, in the proportions of their counts; -1 after her last task     (n, s)
                  where nothing is given a kind a user, as often as she could run it alone
         u[i]     most tasks of user i, where k is not given                            (n,)

Derived  a[i] = max_j d[i, j] / c[j]                     share of one task of user i
         g    = min_i a[i]                               unit of shares
         f[j] = min_p D[p, j] over the kinds that need j unit of resource j

Find     b[i, s] in {0, 1}    whether user i runs the s-th of her tasks;  x[i] = sum_s b[i, s]
         z[p, q] >= 0, whole  tasks of kind p on machine q, where e[p, q]

    maximise    sum_i a[i] / g x[i]
    subject to  b[i, s]  <=  b[i, s - 1]        none before the one ahead of it  (order_i_s)
                sum_q z[p, q]  =  sum b[i, s] over all (i, s) with k[i, s] = p
                                                for every kind p                 (kind_p)
                sum_p D[p, j] / f[j] z[p, q]  <=  C[q, j] / f[j]
                                                for every machine q, resource j  (capacity_q_j)

The tasks of user i are x[i], of whatever types: a share counts tasks by the average one, and what
they use is what their kinds need. Weights play no part. With a[i] = g = 1 it is the largest number
of tasks. There are no duals.

Source   The sum that fairness is measured against: Bertsimas, Farias and Trichakis, "The Price of
         Fairness", Operations Research 59(1), 2011; of dominant shares (Ghodsi et al., "Dominant
         Resource Fairness", NSDI 2011). The order of the tasks is Webster's apportionment (Balinski
         and Young, "Fair Representation", 1982).
"""

from typing import Any, NamedTuple

import numpy as np
import pulp


class Program(NamedTuple):
    """The program, not solved; its constraints bear the names given above."""

    problem: pulp.LpProblem
    tasks: list[pulp.LpAffineExpression]
    levels: None = None


def build(data: Any, held: np.ndarray) -> Program:
    """Return the program; it is solved once and makes no use of `held`."""
    d, c, u = data.demands, data.capacity, data.limits
    D = getattr(data, "kind_demands", d)
    if data.machines is None:
        C, e = c[None, :], np.ones((len(D), 1), dtype=bool)
    else:
        fits = getattr(data, "kind_eligible", data.eligible)
        C, e = np.repeat(data.machines, data.counts, axis=0), np.repeat(fits, data.counts, axis=1)
    users, machines, resources, kinds = range(len(d)), range(len(C)), range(len(c)), range(len(D))
    if hasattr(data, "kinds"):
        k = [row[row >= 0] for row in data.kinds]
    else:
        room = [(C[:, d[i] > 0] / d[i, d[i] > 0]).min(axis=1) for i in users]
        # 0.3 / 0.1 misses 3 by a rounding, hence the spacing.
        k = [[i] * int(min(u[i], np.floor(room[i] + 4 * np.spacing(room[i]))[e[i]].sum())) for i in users]

    # Nobody can run a task that needs what is not there, so any divisor will do in its place.
    a = (d / np.where(c > 0, c, 1.0)).max(axis=1)
    g = a.min()
    f = np.where(D > 0, D, np.inf).min(axis=0)

    problem = pulp.LpProblem("utilitarian_integer", pulp.LpMaximize)
    b = [[pulp.LpVariable(f"b_{i}_{s}", cat="Binary") for s in range(len(k[i]))] for i in users]
    z = {(p, q): pulp.LpVariable(f"z_{p}_{q}", lowBound=0, cat="Integer") for p, q in np.argwhere(e)}
    x = [pulp.lpSum(b[i]) for i in users]
    problem += pulp.lpSum(a[i] / g * x[i] for i in users)
    for i in users:
        for s in range(1, len(k[i])):
            problem += b[i][s] <= b[i][s - 1], f"order_{i}_{s}"
    for p in kinds:
        run = pulp.lpSum(z[p, q] for q in machines if e[p, q])
        problem += run == pulp.lpSum(b[i][s] for i in users for s in range(len(k[i])) if k[i][s] == p), f"kind_{p}"
    for q in machines:
        for j in resources:
            used = pulp.lpSum(D[p, j] / f[j] * z[p, q] for p in kinds if e[p, q] and D[p, j] > 0)
            problem += used <= C[q, j] / f[j], f"capacity_{q}_{j}"
    return Program(problem, tasks=x)


if __name__ == "__main__":
    try:
        from rounds import show
    except ModuleNotFoundError:
        raise SystemExit("error: rounds.py, the loop over rounds, must lie beside this file: copy it too") from None
    show(
        build,
        __doc__,
        "max sum_i max_j d[i, j] x[i] / c[j]: sum_p D[p, j] z[p] <= c[j], z[p] = the tasks of kind p among the "
        "first x[i] of every i; x whole",
        demands=[[1, 3], [3, 1]],
        kind_demands=[[1, 4], [1, 1], [3, 1]],
        kinds=[[0, 0, 1, 0, 0, 1], [2, 2, 2, -1, -1, -1]],
    )
