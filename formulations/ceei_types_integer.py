"""CEEI of users with several types of tasks: the largest Nash product, whole tasks.

Given    D[p, j]  units of resource j that one task of kind p needs                     (p, m)
         c[j]     units of resource j in the whole cluster                              (m,)
         C[q, j]  units of resource j on machine q, one by one; a pool is one machine   (q, m)
         e[p, q]  whether tasks of kind p may run on machine q; a pool is open to all   (p, q)
         w[i]     weight of user i, positive, the same on every resource                (n,)
         k[i, s]  kind of the s-th task that user i starts: her types one after the
                  other, in the proportions of their counts; -1 after her last task     (n, s)
                  where nothing is given a kind a user, as often as she could run it alone
         u[i]     most tasks of user i, where k is not given                            (n,)

Derived  U[i] = number of tasks in row i of k
         K    = 1 + sum_i w[i] log U[i], over the users with U[i] > 0: the worth of a first task
         f[j] = min_p D[p, j] over the kinds that need j unit of resource j

Find     b[i, s] in {0, 1}    whether user i runs the s-th of her tasks;  x[i] = sum_s b[i, s]
         z[p, q] >= 0, whole  tasks of kind p on machine q, where e[p, q]

    maximise    sum_i K b[i, 1] + sum_(i, s > 1) w[i] log(s / (s - 1)) b[i, s]
    subject to  b[i, s]  <=  b[i, s - 1]        none before the one ahead of it  (order_i_s)
                sum_q z[p, q]  =  sum b[i, s] over all (i, s) with k[i, s] = p
                                                for every kind p                 (kind_p)
                sum_p D[p, j] / f[j] z[p, q]  <=  C[q, j] / f[j]
                                                for every machine q, resource j  (capacity_q_j)

The tasks of user i are x[i], of whatever types: the product is of numbers of tasks, and what they
use is what their kinds need. The objective is K for everybody served plus sum_i w[i] log x[i], a
step at a time: as many users as can be, and of the ways to serve so many the largest product.
There are no duals, hence no prices: with whole tasks an equilibrium need not exist.

Source   Ghodsi et al., "Dominant Resource Fairness", NSDI 2011, section 5.2; there of one type and
         with divisible tasks. The order of the tasks is Webster's apportionment (Balinski and
         Young, "Fair Representation", 1982).
"""

from math import log
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
    d, c, w, u = data.demands, data.capacity, data.weights[:, 0], data.limits
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

    K = 1 + sum(w[i] * log(len(k[i])) for i in users if len(k[i]))
    f = np.where(D > 0, D, np.inf).min(axis=0)

    problem = pulp.LpProblem("ceei_types_integer", pulp.LpMaximize)
    b = [[pulp.LpVariable(f"b_{i}_{s}", cat="Binary") for s in range(len(k[i]))] for i in users]
    z = {(p, q): pulp.LpVariable(f"z_{p}_{q}", lowBound=0, cat="Integer") for p, q in np.argwhere(e)}
    problem += pulp.lpSum((w[i] * log((s + 1) / s) if s else K) * b[i][s] for i in users for s in range(len(k[i])))
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
    return Program(problem, tasks=[pulp.lpSum(b[i]) for i in users])


if __name__ == "__main__":
    try:
        from rounds import show
    except ModuleNotFoundError:
        raise SystemExit("error: rounds.py, the loop over rounds, must lie beside this file: copy it too") from None
    show(
        build,
        __doc__,
        "max prod_i x[i] ^ w[i]: sum_p D[p, j] z[p] <= c[j], z[p] = the tasks of kind p among the first x[i] of every "
        "i; x whole",
        demands=[[1, 3], [3, 1]],
        kind_demands=[[1, 4], [1, 1], [3, 1]],
        kinds=[[0, 0, 1, 0, 0, 1], [2, 2, 2, -1, -1, -1]],
    )
