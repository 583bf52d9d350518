"""Competitive equilibrium from equal incomes: the largest Nash product, whole tasks.

Given    d[i, j]  units of resource j that one task of user i needs                     (n, m)
         c[j]     units of resource j in the whole cluster                              (m,)
         C[q, j]  units of resource j on machine q, one by one; a pool is one machine   (q, m)
         e[i, q]  whether user i may use machine q; a pool is open to all               (n, q)
         w[i]     weight of user i, positive, the same on every resource                (n,)
         u[i]     most tasks of user i, inf for no limit                                (n,)

Derived  U[i] = most tasks user i could run alone: sum_q min_j C[q, j] / d[i, j] over the machines
                that she may use, each term rounded down; no more than u[i]
         K    = 1 + sum_i w[i] log U[i], over the users with U[i] > 0: the worth of a first task
         f[j] = min_i d[i, j] over the users who need j: unit of resource j

Find     z[i, q] >= 0, whole  tasks of user i on machine q, where e[i, q];  x[i] = sum_q z[i, q]
         v[i] >= 0            worth of her tasks: K + w[i] log x[i], and 0 without a task

    maximise    sum_i v[i]                      over the users with U[i] > 0
    subject to  v[i]  <=  K x[i]                for each of them                 (worth_i_0)
                v[i]  <=  K + w[i] (log p + (x[i] - p) log((p + 1) / p))
                                                and for p = 1, ..., U[i] - 1     (worth_i_p)
                sum_i d[i, j] / f[j] z[i, q]  <=  C[q, j] / f[j]
                                                for every machine q, resource j  (capacity_q_j)
                x[i]  <=  u[i]                  for every user i with a limit    (limit_i)

The tasks of user i are x[i]. The rows (worth) are the chords of her worth between neighbouring
whole numbers. The worth is concave, as no later step is as high as K; so at a whole number the
lowest of the chords is the worth itself.
Where not everybody can have a task the product is 0 whatever is done. K then serves as many users
as it can and, among such choices, takes the largest product over those served: one user more adds
K, and all the logarithms together never more than K - 1.
Rows are counted in tasks and in f, where the excess that a solver tolerates is a sliver of the
smallest task; both its gaps, relative and absolute, have to be set to 0.
There are no duals, hence no prices: with whole tasks an equilibrium need not exist.

Source   Ghodsi et al., "Dominant Resource Fairness", NSDI 2011, section 5.2; there with divisible
         tasks. The rule where not everybody can be served: Caragiannis et al., "The Unreasonable
         Fairness of Maximum Nash Welfare", EC 2016.
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
    if data.machines is None:
        C, e = c[None, :], np.ones((len(d), 1), dtype=bool)
    else:
        C, e = np.repeat(data.machines, data.counts, axis=0), np.repeat(data.eligible, data.counts, axis=1)
    users, machines, resources = range(len(d)), range(len(C)), range(len(c))

    room = [(C[:, d[i] > 0] / d[i, d[i] > 0]).min(axis=1) for i in users]
    # 0.3 / 0.1 misses 3 by a rounding, hence the spacing: a chord too many is idle, one too few is wrong.
    U = [int(min(u[i], np.floor(room[i] + 4 * np.spacing(room[i]))[e[i]].sum())) for i in users]
    counted = [i for i in users if U[i] > 0]
    K = 1 + sum(w[i] * log(U[i]) for i in counted)
    f = np.where(d > 0, d, np.inf).min(axis=0)

    problem = pulp.LpProblem("ceei_integer", pulp.LpMaximize)
    z = {(i, q): pulp.LpVariable(f"z_{i}_{q}", lowBound=0, cat="Integer") for i, q in np.argwhere(e)}
    x = [pulp.lpSum(z[i, q] for q in machines if e[i, q]) for i in users]
    v = {i: pulp.LpVariable(f"v_{i}", lowBound=0) for i in counted}
    problem += pulp.lpSum(v.values())
    for i in counted:
        problem += v[i] <= K * x[i], f"worth_{i}_0"
        for p in range(1, U[i]):
            problem += v[i] <= K + w[i] * (log(p) + (x[i] - p) * log((p + 1) / p)), f"worth_{i}_{p}"
    for q in machines:
        for j in resources:
            used = pulp.lpSum(d[i, j] / f[j] * z[i, q] for i in users if e[i, q] and d[i, j] > 0)
            problem += used <= C[q, j] / f[j], f"capacity_{q}_{j}"
    for i in users:
        if np.isfinite(u[i]):
            problem += x[i] <= u[i], f"limit_{i}"
    return Program(problem, tasks=x)


if __name__ == "__main__":
    try:
        from rounds import show
    except ModuleNotFoundError:
        raise SystemExit("error: rounds.py, the loop over rounds, must lie beside this file: copy it too") from None
    show(
        build,
        __doc__,
        "max prod_i x[i] ^ w[i]: sum_i d[i, j] x[i] <= c[j], x[i] <= u[i]; x whole",
    )
