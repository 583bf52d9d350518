"""CEEI and alpha fairness with guarantees, groups, types of tasks and devices, whole tasks.

Given    d[i, j]  units of resource j that one task of user i needs, the average one    (n, m)
         c[j]     units of resource j in the whole cluster                              (m,)
         C[q, j]  units of resource j on machine q, one by one; a pool is one machine   (q, m)
         A        0 for the largest sum of dominant shares (of tasks, where tasks are
                  compared), 1 for the Nash product, any other for the largest sum of
                  utilities; 1 where nothing is given
         w[i]     weight of user i, positive, the same on every resource                (n,)
         u[i]     most tasks of user i, her ceilings included, inf for no limit         (n,)
         f[i]     tasks that user i is guaranteed; 0 where nothing is given             (n,)
         y[j]     whether resource j counts; all do where nothing is given              (m,)
         r[i]     group that user i is directly in; -1, the root, where not given       (n,)
         R[g], W[g], M[g]  group above group g, -1 for the root; weight of g; weights of those
                  directly in g who are left out, for they can run nothing              (g,)
         G[b, i]  whether user i is in the group of ceiling b; none where not given     (b, n)
         B[b, j]  units of resource j that this group may use, or inf                   (b, m)
         D[p, j]  units of resource j that one task of kind p needs; where nothing is
                  given a user is a kind                                                (p, m)
         e[p, q]  whether tasks of kind p may run on machine q; a pool is open to all   (p, q)
         k[i, s]  kind of the s-th task that user i starts, -1 after her last; where
                  not given as many of her kind as she could run alone                  (n, s)
         N[q, j], S[q, j]  devices of resource j on machine q, units on each; or 0, 1   (q, m)
         h[i]     parts of guarantees that are settled, one a user, NaN for those to
                  come; whose they are plays no part                                    (n,)

Derived  m[i]     income of user i: w[i], and of those in a group their part, by weight, of
                  the group's, which is W[g] or its part of that of the group above
         U[i, x]  what x tasks are worth: m[i] log x where A = 1; else, with the level
                  l = max_j d[i, j] x / (c[j] m[i]) over the y[j], m[i] l^(1 - A) / (1 - A).
                  For A >= 1 a first task is worth K more, K above all differences of sums
         V[i, x] = min(x / f[i], 1)                      part of her guarantee
         P[l]     all these parts in their order
         a[i, l]  fewest tasks of user i whose part is P[l]
         g[j] = min_p D[p, j] over the kinds that need j: unit of resource j

Find     b[i, s] in {0, 1}    whether user i runs the s-th of her tasks;  x[i] = sum_s b[i, s]
         t[l] in {0, 1}       whether all have a part of P[l] but as many as are settled
         z[p, q] >= 0, whole  tasks of kind p on machine q, where e[p, q]
         m[p, o] >= 0, whole  tasks of kind p that have a part, D[p, j] < S[q, j], of device o
         n[o] in {0, 1}       whether o is had whole, by tasks with D[p, j] a multiple of S[q, j]

    maximise    sum_l t[l]                      in a round that settles a part of a guarantee; else
                sum_(i, s) (U[i, s] - U[i, s - 1]) b[i, s]
    subject to  b[i, s]  <=  b[i, s - 1]        none before the one ahead of it  (order_i_s)
                sum_q z[p, q]  =  sum b[i, s] over all (i, s) with k[i, s] = p
                                                for every kind p                 (kind_p)
                sum_p D[p, j] / g[j] z[p, q]  <=  C[q, j] / g[j]
                                                for every machine q, resource j  (capacity_q_j)
                sum_p D[p, j] / S[q, j] m[p, o]  <=  1 - n[o]
                                                for every device o of q, j       (device_q_j_o)
                z[p, q]  =  sum_o m[p, o]       for every kind p of parts        (parts_q_j_p)
                sum_p D[p, j] / S[q, j] z[p, q]  <=  sum_o n[o]
                                                over the kinds of whole devices  (entire_q_j)
    and, where there are such, named value_l, settled_l and ceiling_b_j,
                sum_i b[i, a[i, l]]  >=  (n - number of h[i] that are settled) t[l],
                sum_i b[i, a[i, l]]  >=  n + 1 - l for the l-th lowest of the h[i], and
                sum G[b, i] D[k[i, s], j] b[i, s]  <=  B[b, j]

Without guarantees it is solved once. With them each round settles the next of the sorted parts, of
whoever it is, until all are: so they are kept as far as they fit together. The last program is the
market's. The objective is concave in x[i]; for A >= 1 it serves as many as can be, and of the ways
to serve so many it takes the best. There are no duals, hence no prices.

Source   Ghodsi et al., "Dominant Resource Fairness", NSDI 2011, section 5.2, of A = 1; Mo and
         Walrand, "Fair End-to-End Window-Based Congestion Control", IEEE/ACM ToN 8(5), 2000, of
         any; Bertsimas, Farias and Trichakis, "The Price of Fairness", Operations Research 59(1),
         2011, of 0. Who cannot all be served: Caragiannis et al., "The Unreasonable Fairness of
         Maximum Nash Welfare", EC 2016. The order of the tasks of several types is Webster's
         apportionment (Balinski and Young, "Fair Representation", 1982).
"""

from collections.abc import Callable
from math import log
from typing import Any, NamedTuple

import numpy as np
import pulp

SAME = 1e-9


class Program(NamedTuple):
    """A round, or the program itself, not solved; its constraints bear the names given above."""

    problem: pulp.LpProblem
    tasks: list[pulp.LpAffineExpression]
    levels: list[pulp.LpAffineExpression] | None
    finished: Callable[[], np.ndarray] | None = None


def build(data: Any, held: np.ndarray) -> Program:
    """Return the program, or with guarantees the round that settles the lowest part which is not settled."""
    d, c, w, u, h = data.demands, data.capacity, data.weights[:, 0], data.limits, held
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
    A, f, y = getattr(data, "alpha", 1.0), getattr(data, "promised", None), getattr(data, "counted", c > 0) & (c > 0)
    r, R = getattr(data, "parent", np.full(len(d), -1)), getattr(data, "group_parent", np.zeros(0, dtype=int))
    W, M = getattr(data, "group_weights", np.ones(len(R))), getattr(data, "group_absent", np.zeros(len(R)))
    G, B = getattr(data, "grouped", np.zeros((1, len(d)))), getattr(data, "ceilings", np.full((1, len(c)), np.inf))
    if hasattr(data, "kinds"):
        k = [row[row >= 0] for row in data.kinds]
    else:
        # 0.3 / 0.1 misses 3 by a rounding, hence the factor.
        room = [(C[:, d[i] > 0] / d[i, d[i] > 0]).min(axis=1) * (1 + 2.0**-50) for i in users]
        k = [[i] * int(min(u[i], np.floor(room[i])[e[i]].sum())) for i in users]

    each = np.ones(len(R))  # income of a group for each unit of weight directly in it; parents come before children
    for o in range(len(R)):
        inside = M[o] + w[r == o].sum() + W[o == R].sum()
        each[o] = W[o] * (each[R[o]] if R[o] >= 0 else 1.0) / inside if inside else 0.0
    income = w * np.array([each[o] if o >= 0 else 1.0 for o in r])
    share = (d / np.where(c > 0, c, 1.0) * y).max(axis=1)
    if getattr(data, "measure", "dominant") == "tasks":
        share = np.ones(len(d))

    def utility(i: int, x: int) -> float:
        level = share[i] * x / income[i]
        return income[i] * (log(x) if A == 1 else level ** (1 - A) / (1 - A))

    ends = [abs(utility(i, x)) for i in users for x in {1, len(k[i])} if len(k[i])]
    K, unit = (1 + 2 * sum(ends), 1.0) if A >= 1 else (0.0, max(ends, default=1.0))
    gain = [[utility(i, s + 1) - utility(i, s) if s else K + utility(i, 1) for s in range(len(k[i]))] for i in users]
    g = np.where(D > 0, D, np.inf).min(axis=0)

    problem = pulp.LpProblem("market_integer", pulp.LpMaximize)
    b = [[pulp.LpVariable(f"b_{i}_{s}", cat="Binary") for s in range(len(k[i]))] for i in users]
    z = {(p, q): pulp.LpVariable(f"z_{p}_{q}", lowBound=0, cat="Integer") for p, q in np.argwhere(e)}
    tasks, levels, t = [pulp.lpSum(row) for row in b], None, []
    if f is not None:
        f = np.floor(f * (1 + 2.0**-50))
        V = [np.minimum(np.arange(len(k[i]) + 1) / max(f[i], 1.0), 1.0) if f[i] else np.ones(1) for i in users]
        P = np.sort(np.concatenate(V))
        P = P[np.append(True, np.diff(P) > SAME)]
        a, settled = [np.searchsorted(V[i] + SAME, P) for i in users], np.sort(h[~np.isnan(h)])
        t = [pulp.LpVariable(f"t_{p}", cat="Binary") for p in range(len(P))] if np.isnan(h).any() else []

        def kept(p: int) -> pulp.LpAffineExpression:
            return pulp.lpSum(b[i][a[i][p] - 1] if a[i][p] else 1 for i in users if a[i][p] < len(V[i]))

        for p in range(len(t)):
            problem += kept(p) >= (len(d) - len(settled)) * t[p], f"value_{p}"
        for j, part in enumerate(settled):
            problem += kept(np.searchsorted(P + SAME, part)) >= len(d) - j, f"settled_{j}"
        lowest = P[0] + pulp.lpSum((P[p] - P[p - 1]) * t[p] for p in range(1, len(t)))
        levels = [lowest + 0 if np.isnan(h[i]) else h[i] + 0 * lowest for i in users]
    problem += pulp.lpSum(t) if t else pulp.lpSum(gain[i][s] / unit * b[i][s] for i in users for s in range(len(k[i])))
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

    def finished() -> np.ndarray:
        """The next part of a guarantee is settled, and where it is kept all that come after it"""
        first = np.arange(len(d)) == np.isnan(h).argmax()
        return np.isnan(h) if t[-1].value() > 1 - SAME else first

    return Program(problem, tasks, levels, finished if t else None)


if __name__ == "__main__":
    try:
        from rounds import show
    except ModuleNotFoundError:
        raise SystemExit("error: rounds.py, the loop over rounds, must lie beside this file: copy it too") from None
    show(
        build,
        __doc__,
        "max prod_i x[i] ^ m[i]: sum_p D[p, j] z[p] <= c[j], z[p] = the tasks of kind p among the first x[i] of every "
        "i; x whole",
        demands=[[1, 3], [3, 1]],
        kind_demands=[[1, 4], [1, 1], [3, 1]],
        kinds=[[0, 0, 1, 0, 0, 1], [2, 2, 2, -1, -1, -1]],
    )
