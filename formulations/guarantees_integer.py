"""DRF with guarantees, tiers, ceilings, types of tasks and devices, whole tasks: one round.

Given    d[i, j]  units of resource j that one task of user i needs, the average one    (n, m)
         c[j]     units of resource j in the whole cluster                              (m,)
         C[q, j]  units of resource j on machine q, one by one; a pool is one machine   (q, m)
         w[i, j]  weight of user i on resource j, positive                              (n, m)
         u[i]     most tasks of user i, her ceilings included, inf for no limit         (n,)
         f[i]     tasks that user i is guaranteed; 0 where nothing is given             (n,)
         v[i, j]  units of resource j that are a share of 1 for user i; c[j] where
                  nothing is given (her guarantee, where shares are parts of it)        (n, m)
         H[i, j]  units of resource j above which she is measured; 0 where not given    (n, m)
         y[j]     whether resource j counts and is compared; all do where not given     (m,)
         o[i]     tasks of user i alone, where those are compared in parts of these     (n,)
         r[i]     tier of user i, higher ones first; 0 where nothing is given           (n,)
         G[b, i]  whether user i is in the group of ceiling b; none where not given     (b, n)
         B[b, j]  units of resource j that this group may use, or inf                   (b, m)
         D[p, j]  units of resource j that one task of kind p needs; where nothing is
                  given a user is a kind                                                (p, m)
         e[p, q]  whether tasks of kind p may run on machine q; a pool is open to all   (p, q)
         k[i, s]  kind of the s-th task that user i starts, -1 after her last; where
                  not given as many of her kind as she could run alone                  (n, s)
         N[q, j], S[q, j]  devices of resource j on machine q, units on each; or 0, 1   (q, m)
         h[i]     values that are settled, one a user, NaN for those to come; whose
                  they are plays no part                                                (n,)

Derived  V[i, x]  value of x tasks of user i: from her guarantee on L[i, x], and more than all
                  levels differ for each tier above hers; below it x / f[i], with TIE more for
                  each tier above hers, less so much that it is lower than all levels, where
                  L[i, x] = max_j (d[i, j] x - H[i, j]) / (v[i, j] w[i, j]) over the y[j],
                  or the sum of these, or x / w[i], or x / (o[i] w[i]), whatever is compared
         P[l]     all values in their order
         a[i, l]  fewest tasks of user i that are worth P[l]
         g[j] = min_p D[p, j] over the kinds that need j: unit of resource j

Find     b[i, s] in {0, 1}    whether user i runs the s-th of her tasks;  x[i] = sum_s b[i, s]
         t[l] in {0, 1}       whether all have a value of P[l] but as many as are settled
         z[p, q] >= 0, whole  tasks of kind p on machine q, where e[p, q]
         m[p, o] >= 0, whole  tasks of kind p that have a part, D[p, j] < S[q, j], of device o
         n[o] in {0, 1}       whether o is had whole, by tasks with D[p, j] a multiple of S[q, j]

    maximise    sum_l t[l]                      (0 when all are settled)
    subject to  sum_i b[i, a[i, l]]  >=  (n - number of h[i] that are settled) t[l]
                                                for every value l, b[i, 0] = 1   (value_p)
                b[i, s]  <=  b[i, s - 1]        none before the one ahead of it  (order_i_s)
                sum_q z[p, q]  =  sum b[i, s] over all (i, s) with k[i, s] = p
                                                for every kind p                 (kind_p)
                sum_p D[p, j] / g[j] z[p, q]  <=  C[q, j] / g[j]
                                                for every machine q, resource j  (capacity_q_j)
                sum_p D[p, j] / S[q, j] m[p, o]  <=  1 - n[o]
                                                for every device o of q, j       (device_q_j_o)
                z[p, q]  =  sum_o m[p, o]       for every kind p of parts        (parts_q_j_p)
                sum_p D[p, j] / S[q, j] z[p, q]  <=  sum_o n[o]
                                                over the kinds of whole devices  (entire_q_j)
    and, where there are such, named settled_l and ceiling_b_j,
                sum_i b[i, a[i, l]]  >=  n + 1 - l for the l-th lowest of the h[i], and
                sum G[b, i] D[k[i, s], j] b[i, s]  <=  B[b, j]

A round finds the next of the sorted values, of whoever it is: after n of them they are the
lexicographically largest. So guarantees that do not fit together are kept to their best parts, of
equal ones that of a higher tier, and one tier is served after the other. Values nearer than SAME
are one.
There are no duals.

Source   Ghodsi et al., "Dominant Resource Fairness", NSDI 2011, section 4.3 (weights); guarantees
         and tiers as in the schedulers of YARN, Kueue, YuniKorn and KAI. Sorted values one by one:
         Ogryczak and Sliwinski, "On solving linear programs with the ordered weighted averaging
         objective", EJOR 148(1), 2003. The order of the tasks of several types is Webster's
         apportionment (Balinski and Young, "Fair Representation", 1982).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pulp

SAME = 1e-9
TIE = 10 * SAME


class Round(NamedTuple):
    """One round, not solved; its constraints bear the names given above."""

    problem: pulp.LpProblem
    tasks: list[pulp.LpAffineExpression]
    levels: list[pulp.LpAffineExpression]
    finished: Callable[[], np.ndarray]


def build(data: Any, held: np.ndarray) -> Round:
    """Return the round that finds the lowest value which is not settled."""
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
    f, r = getattr(data, "promised", np.zeros(len(d))), 1.0 * getattr(data, "tiers", np.zeros(len(d)))
    v = getattr(data, "units", np.tile(np.where(c > 0, c, 1.0), (len(d), 1)))
    H = getattr(data, "surplus", np.zeros(d.shape))
    y = getattr(data, "counted", c > 0) & getattr(data, "compared", c > 0) & (c > 0)
    G, B = getattr(data, "grouped", np.zeros((1, len(d)))), getattr(data, "ceilings", np.full((1, len(c)), np.inf))
    f = np.floor(f * (1 + 2.0**-50))  # 0.3 / 0.1 misses 3 by a rounding
    if hasattr(data, "kinds"):
        k = [row[row >= 0] for row in data.kinds]
    else:
        room = [(C[:, d[i] > 0] / d[i, d[i] > 0]).min(axis=1) * (1 + 2.0**-50) for i in users]
        k = [[i] * int(min(u[i], np.floor(room[i])[e[i]].sum())) for i in users]

    measure, alone = getattr(data, "measure", "dominant"), getattr(data, "alone", np.ones(len(d)))

    def level(i: int, x: int) -> float:
        shares = (d[i] * x - H[i]) / (v[i] * w[i])
        if measure in ("tasks", "alone"):
            return x / (w[i, 0] * (alone[i] if measure == "alone" else 1.0))
        return shares[y].sum() if measure == "asset" else shares[y & (d[i] > 0)].max()

    L = [np.array([level(i, x) for x in range(len(k[i]) + 1)]) for i in users]
    low, top = min(0.0, *(row.min() for row in L)), max(row.max() for row in L)
    V = []
    for i in users:
        x, above = np.arange(len(k[i]) + 1), len(set(r[r > r[i]]))
        V.append(np.where(x < f[i], low - 1 + x / max(f[i], 1.0) + TIE * above, L[i] + (1 + top - low) * above))
    P = np.sort(np.concatenate(V))
    P = P[np.append(True, np.diff(P) > SAME)]
    a = [np.searchsorted(V[i] + SAME, P) for i in users]
    settled = np.sort(h[~np.isnan(h)])
    g = np.where(D > 0, D, np.inf).min(axis=0)

    problem = pulp.LpProblem("guarantees_integer", pulp.LpMaximize)
    b = [[pulp.LpVariable(f"b_{i}_{s}", cat="Binary") for s in range(len(k[i]))] for i in users]
    t = [pulp.LpVariable(f"t_{p}", cat="Binary") for p in range(len(P))] if np.isnan(h).any() else []
    z = {(p, q): pulp.LpVariable(f"z_{p}_{q}", lowBound=0, cat="Integer") for p, q in np.argwhere(e)}

    def worth(p: int) -> pulp.LpAffineExpression:
        ends = [b[i][a[i][p] - 1] if a[i][p] else 1 for i in users if a[i][p] <= len(k[i])]
        return pulp.lpSum(ends)

    problem += pulp.lpSum(t)
    for p in range(len(t)):
        problem += worth(p) >= (len(d) - len(settled)) * t[p], f"value_{p}"
    for j, value in enumerate(settled):
        problem += worth(np.searchsorted(P + SAME, value)) >= len(d) - j, f"settled_{j}"
    for i in users:
        for s in range(1, len(k[i])):
            problem += b[i][s] <= b[i][s - 1], f"order_{i}_{s}"
    for p in kinds:
        run = pulp.lpSum(z[p, q] for q in machines if e[p, q])
        problem += run == pulp.lpSum(b[i][s] for i in users for s in range(len(k[i])) if k[i][s] == p), f"kind_{p}"
    for q in machines:
        for j in resources:
            used = pulp.lpSum(D[p, j] / g[j] * z[p, q] for p in kinds if e[p, q] and D[p, j] > 0)
            problem += used <= C[q, j] / g[j], f"capacity_{q}_{j}"
            if N[q, j]:
                need = {p: D[p, j] / S[q, j] for p in kinds if e[p, q] and D[p, j] > 0}
                parts, devices = [p for p in need if need[p] < 1], range(N[q, j])
                n = [pulp.LpVariable(f"n_{q}_{j}_{o}", cat="Binary") for o in devices]
                m = {
                    (p, o): pulp.LpVariable(f"m_{q}_{j}_{p}_{o}", lowBound=0, cat="Integer")
                    for p in parts
                    for o in devices
                }
                for o in devices:
                    problem += pulp.lpSum(need[p] * m[p, o] for p in parts) <= 1 - n[o], f"device_{q}_{j}_{o}"
                for p in parts:
                    problem += z[p, q] == pulp.lpSum(m[p, o] for o in devices), f"parts_{q}_{j}_{p}"
                entire = pulp.lpSum(need[p] * z[p, q] for p in need if need[p] >= 1)
                problem += entire <= pulp.lpSum(n), f"entire_{q}_{j}"
    for o, j in np.argwhere(np.isfinite(B)):
        used = pulp.lpSum(D[k[i][s], j] * b[i][s] for i in users if G[o, i] for s in range(len(k[i])))
        problem += used <= B[o, j], f"ceiling_{o}_{j}"

    next_one = P[0] + pulp.lpSum((P[p] - P[p - 1]) * t[p] for p in range(1, len(t)))
    levels = [next_one + 0 if np.isnan(h[i]) else h[i] + 0 * next_one for i in users]
    if not t:
        steps = [np.diff(V[i]) for i in users]
        levels = [V[i][0] + pulp.lpSum(steps[i][s] * b[i][s] for s in range(len(k[i]))) for i in users]

    def finished() -> np.ndarray:
        """One value is settled"""
        return np.arange(len(d)) == np.isnan(h).argmax()

    return Round(problem, [pulp.lpSum(row) for row in b], levels, finished)


if __name__ == "__main__":
    try:
        from rounds import show
    except ModuleNotFoundError:
        raise SystemExit("error: rounds.py, the loop over rounds, must lie beside this file: copy it too") from None
    show(
        build,
        __doc__,
        "max t: as many V[i, x[i]] >= t as are not settled, sum_p D[p, j] z[p] <= c[j], z[p] = the tasks of kind p "
        "among the first x[i] of every i; x whole",
        promised=[4, 0],
    )
