"""DRF of users with several types of tasks: one round of its leximin, whole tasks.

Given    D[p, j]  units of resource j that one task of kind p needs                     (p, m)
         d[i, j]  the same of the average task of user i, by the counts of her types    (n, m)
         c[j]     units of resource j in the whole cluster                              (m,)
         C[q, j]  units of resource j on machine q, one by one; a pool is one machine   (q, m)
         e[p, q]  whether tasks of kind p may run on machine q; a pool is open to all   (p, q)
         w[i, j]  weight of user i on resource j, positive                              (n, m)
         N[q, j]  devices of resource j on machine q, 0 where it is no device           (q, m)
         S[q, j]  units of resource j on one of these devices                           (q, m)
         k[i, s]  kind of the s-th task that user i starts: her types one after the
                  other, in the proportions of their counts; -1 after her last task     (n, s)
                  where nothing is given a kind a user, as often as she could run it alone
         u[i]     most tasks of user i, where k is not given                            (n,)
         h[i]     level at which user i is held, NaN while she rises                    (n,)

Derived  a[i] = max_j d[i, j] / (c[j] w[i, j])           level of user i with one task
         g    = min_i a[i]                               unit of t
         f[j] = min_p D[p, j] over the kinds that need j unit of resource j

Find     b[i, s] in {0, 1}    whether user i runs the s-th of her tasks;  x[i] = sum_s b[i, s]
         z[p, q] >= 0, whole  tasks of kind p on machine q, where e[p, q]
         t                    lowest level of those who rise, in units of g
         v[p, y] >= 0, whole  tasks of kind p that have a part, D[p, j] < S[q, j], of device y
         o[y] in {0, 1}       whether y is had whole, by tasks with D[p, j] a multiple of S[q, j]

    maximise    t                               (0 when nobody rises)
    subject to  x[i]  >=  t g / a[i]            for every user i who rises, and
                x[i]  >=  h[i] / a[i]           for every user i who is held     (level_i)
                b[i, s]  <=  b[i, s - 1]        none before the one ahead of it  (order_i_s)
                sum_q z[p, q]  =  sum b[i, s] over all (i, s) with k[i, s] = p
                                                for every kind p                 (kind_p)
                sum_p D[p, j] / f[j] z[p, q]  <=  C[q, j] / f[j]
                                                for every machine q, resource j  (capacity_q_j)
                sum_p D[p, j] / S[q, j] v[p, y]  <=  1 - o[y]
                                                for every device y of q, j       (device_q_j_y)
                z[p, q]  =  sum_y v[p, y]       for every kind p of parts        (parts_q_j_p)
                sum_p D[p, j] / S[q, j] z[p, q]  <=  sum_y o[y]
                                                over the kinds of whole devices  (entire_q_j)

The tasks of user i are x[i], her level is a[i] x[i]: a level counts tasks by the average one, and
what they use is what their kinds need. Kinds that fit nowhere are in nobody's row, which ends
where limits, counts or the cluster do.
There are no duals, and a round settles t alone. Who stays at t can be a choice (room for three
tasks, two users alike), and a leximin has to try each way.

Source   Ghodsi et al., "Dominant Resource Fairness", NSDI 2011, sections 4.1 and 4.3 (weights), of
         one type; the order of the tasks is Webster's apportionment (Balinski and Young, "Fair
         Representation", 1982).
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
    D = getattr(data, "kind_demands", d)
    if data.machines is None:
        C, e = c[None, :], np.ones((len(D), 1), dtype=bool)
    else:
        fits = getattr(data, "kind_eligible", data.eligible)
        C, e = np.repeat(data.machines, data.counts, axis=0), np.repeat(fits, data.counts, axis=1)
    N, S = np.zeros(C.shape, dtype=int), np.ones(C.shape)
    if getattr(data, "devices", None) is not None:
        N, S = (np.repeat(table, data.counts, axis=0) for table in (data.devices, data.device_size))
    users, machines, resources, kinds = range(len(d)), range(len(C)), range(len(c)), range(len(D))
    if hasattr(data, "kinds"):
        k = [row[row >= 0] for row in data.kinds]
    else:
        room = [(C[:, d[i] > 0] / d[i, d[i] > 0]).min(axis=1) for i in users]
        # 0.3 / 0.1 misses 3 by a rounding, hence the spacing.
        k = [[i] * int(min(u[i], np.floor(room[i] + 4 * np.spacing(room[i]))[e[i]].sum())) for i in users]

    # Nobody can run a task that needs what is not there, so any divisor will do in its place.
    a = (d / (np.where(c > 0, c, 1.0) * w)).max(axis=1)
    g = a.min()
    f = np.where(D > 0, D, np.inf).min(axis=0)

    problem = pulp.LpProblem("types_integer", pulp.LpMaximize)
    b = [[pulp.LpVariable(f"b_{i}_{s}", cat="Binary") for s in range(len(k[i]))] for i in users]
    x = [pulp.lpSum(b[i]) for i in users]
    z = {(p, q): pulp.LpVariable(f"z_{p}_{q}", lowBound=0, cat="Integer") for p, q in np.argwhere(e)}
    t = pulp.LpVariable("t")
    problem += t if np.isnan(h).any() else 0
    for i in users:
        problem += x[i] >= (g / a[i] * t if np.isnan(h[i]) else h[i] / a[i]), f"level_{i}"
        for s in range(1, len(k[i])):
            problem += b[i][s] <= b[i][s - 1], f"order_{i}_{s}"
    for p in kinds:
        run = pulp.lpSum(z[p, q] for q in machines if e[p, q])
        problem += run == pulp.lpSum(b[i][s] for i in users for s in range(len(k[i])) if k[i][s] == p), f"kind_{p}"
    for q in machines:
        for j in resources:
            used = pulp.lpSum(D[p, j] / f[j] * z[p, q] for p in kinds if e[p, q] and D[p, j] > 0)
            problem += used <= C[q, j] / f[j], f"capacity_{q}_{j}"
            if N[q, j]:
                need = {p: D[p, j] / S[q, j] for p in kinds if e[p, q] and D[p, j] > 0}
                parts, devices = [p for p in need if need[p] < 1], range(N[q, j])
                o = [pulp.LpVariable(f"o_{q}_{j}_{y}", cat="Binary") for y in devices]
                v = {
                    (p, y): pulp.LpVariable(f"v_{q}_{j}_{p}_{y}", lowBound=0, cat="Integer")
                    for p in parts
                    for y in devices
                }
                for y in devices:
                    problem += pulp.lpSum(need[p] * v[p, y] for p in parts) <= 1 - o[y], f"device_{q}_{j}_{y}"
                for p in parts:
                    problem += z[p, q] == pulp.lpSum(v[p, y] for y in devices), f"parts_{q}_{j}_{p}"
                entire = pulp.lpSum(need[p] * z[p, q] for p in need if need[p] >= 1)
                problem += entire <= pulp.lpSum(o), f"entire_{q}_{j}"
    return Round(problem, tasks=x, levels=[a[i] * x[i] for i in users])


if __name__ == "__main__":
    try:
        from rounds import show
    except ModuleNotFoundError:
        raise SystemExit("error: rounds.py, the loop over rounds, must lie beside this file: copy it too") from None
    show(
        build,
        __doc__,
        "max t: s[i] >= t (i rises), s[i] >= h[i] (i is held), sum_p D[p, j] z[p] <= c[j], z[p] = the tasks of kind p "
        "among the first x[i] of every i; s[i] = max_j d[i, j] x[i] / (c[j] w[i, j]); x whole",
        demands=[[1, 3], [3, 1]],
        kind_demands=[[1, 4], [1, 1], [3, 1]],
        kinds=[[0, 0, 1, 0, 0, 1], [2, 2, 2, -1, -1, -1]],
    )
