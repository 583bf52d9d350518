"""Dominant resource fairness: one round of its leximin, whole tasks, as a mixed-integer program.

Given    d[i, j]  units of resource j that one task of user i needs                     (n, m)
         c[j]     units of resource j in the whole cluster                              (m,)
         C[q, j]  units of resource j on machine q, one by one; a pool is one machine   (q, m)
         e[i, q]  whether user i may use machine q; a pool is open to all               (n, q)
         w[i, j]  weight of user i on resource j, positive                              (n, m)
         D[q, j]  devices of resource j on machine q, 0 where it is no device           (q, m)
         S[q, j]  units of resource j on one of these devices                           (q, m)
         u[i]     most tasks of user i, inf for no limit                                (n,)
         h[i]     level at which user i is held, NaN while she rises                    (n,)

Derived  a[i] = max_j d[i, j] / (c[j] w[i, j])           level of user i with one task
         g    = min_i a[i]                               unit of t
         f[j] = min_i d[i, j] over the users who need j  unit of resource j

Find     z[i, q] >= 0, whole  tasks of user i on machine q, where e[i, q];  x[i] = sum_q z[i, q]
         t                    lowest level of those who rise, in units of g
         v[i, b] >= 0, whole  tasks of user i that have a part, d[i, j] < S[q, j], of device b
         o[b] in {0, 1}       whether b is had whole, by tasks with d[i, j] a multiple of S[q, j]

    maximise    t                               (0 when nobody rises)
    subject to  x[i]  >=  t g / a[i]            for every user i who rises, and
                x[i]  >=  h[i] / a[i]           for every user i who is held     (level_i)
                sum_i d[i, j] / f[j] z[i, q]  <=  C[q, j] / f[j]
                                                for every machine q, resource j  (capacity_q_j)
                sum_i d[i, j] / S[q, j] v[i, b]  <=  1 - o[b]
                                                for every device b of q, j       (device_q_j_b)
                z[i, q]  =  sum_b v[i, b]       for every user i of parts        (parts_q_j_i)
                sum_i d[i, j] / S[q, j] z[i, q]  <=  sum_b o[b]
                                                over the users of whole devices  (entire_q_j)
                x[i]  <=  u[i]                  for every user i with a limit    (limit_i)

The tasks of user i are x[i], her level is a[i] x[i].
A task runs on one machine, hence a column for every machine, however many are alike.
Rows are counted in tasks and in f, where the excess that a solver tolerates is a sliver of the
smallest task; both its gaps, relative and absolute, have to be set to 0.
There are no duals, and a round settles t alone. Who stays at t can be a choice (room for three
tasks, two users alike), and a leximin has to try each way.

Source   Ghodsi et al., "Dominant Resource Fairness", NSDI 2011, sections 4.1 and 4.3 (weights);
         there with divisible tasks.
"""

from typing import Any, NamedTuple

import numpy as np
import pulp


class Round(NamedTuple):
    """One round, not solved; its constraints bear the names given above."""

    problem: pulp.LpProblem
    tasks: list[pulp.LpAffineExpression]
    levels: list[pulp.LpAffineExpression]


def build(data: Any, held: np.ndarray) -> Round:
    """Return the round in which the users with NaN in `held`, shape (n,), rise together."""
    d, c, w, u, h = data.demands, data.capacity, data.weights, data.limits, held
    if data.machines is None:
        C, e = c[None, :], np.ones((len(d), 1), dtype=bool)
    else:
        C, e = np.repeat(data.machines, data.counts, axis=0), np.repeat(data.eligible, data.counts, axis=1)
    D, S = np.zeros(C.shape, dtype=int), np.ones(C.shape)
    if getattr(data, "devices", None) is not None:
        D, S = (np.repeat(table, data.counts, axis=0) for table in (data.devices, data.device_size))
    users, machines, resources = range(len(d)), range(len(C)), range(len(c))

    # Nobody can run a task that needs what is not there, so any divisor will do in its place.
    a = (d / (np.where(c > 0, c, 1.0) * w)).max(axis=1)
    g = a.min()
    f = np.where(d > 0, d, np.inf).min(axis=0)

    problem = pulp.LpProblem("drf_integer", pulp.LpMaximize)
    z = {(i, q): pulp.LpVariable(f"z_{i}_{q}", lowBound=0, cat="Integer") for i, q in np.argwhere(e)}
    x = [pulp.lpSum(z[i, q] for q in machines if e[i, q]) for i in users]
    t = pulp.LpVariable("t")
    problem += t if np.isnan(h).any() else 0
    for i in users:
        problem += x[i] >= (g / a[i] * t if np.isnan(h[i]) else h[i] / a[i]), f"level_{i}"
    for q in machines:
        for j in resources:
            used = pulp.lpSum(d[i, j] / f[j] * z[i, q] for i in users if e[i, q] and d[i, j] > 0)
            problem += used <= C[q, j] / f[j], f"capacity_{q}_{j}"
            if D[q, j]:
                need = {i: d[i, j] / S[q, j] for i in users if e[i, q] and d[i, j] > 0}
                parts = [i for i in need if need[i] < 1]
                o = [pulp.LpVariable(f"o_{q}_{j}_{b}", cat="Binary") for b in range(D[q, j])]
                v = {
                    (i, b): pulp.LpVariable(f"v_{q}_{j}_{i}_{b}", lowBound=0, cat="Integer")
                    for i in parts
                    for b in range(D[q, j])
                }
                for b in range(D[q, j]):
                    shared = pulp.lpSum(need[i] * v[i, b] for i in parts)
                    problem += shared <= 1 - o[b], f"device_{q}_{j}_{b}"
                for i in parts:
                    problem += z[i, q] == pulp.lpSum(v[i, b] for b in range(D[q, j])), f"parts_{q}_{j}_{i}"
                entire = pulp.lpSum(need[i] * z[i, q] for i in need if need[i] >= 1)
                problem += entire <= pulp.lpSum(o), f"entire_{q}_{j}"
    for i in users:
        if np.isfinite(u[i]):
            problem += x[i] <= u[i], f"limit_{i}"
    return Round(problem, tasks=x, levels=[a[i] * x[i] for i in users])


if __name__ == "__main__":
    try:
        from rounds import show
    except ModuleNotFoundError:
        raise SystemExit("error: rounds.py, the loop over rounds, must lie beside this file: copy it too") from None
    show(
        build,
        __doc__,
        "max t: s[i] >= t (i rises), s[i] >= h[i] (i is held), sum_i d[i, j] x[i] <= c[j], x[i] <= u[i]; s[i] = "
        "max_j d[i, j] x[i] / (c[j] w[i, j]); x whole",
    )
