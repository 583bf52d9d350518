"""Hierarchical DRF, whole tasks: how long the clock runs until somebody must stop, one round.

Given    d[i, j]  units of resource j that one task of user i needs, the average one    (n, m)
         c[j]     units of resource j in the whole cluster                              (m,)
         C[q, j]  units of resource j on machine q, one by one; a pool is one machine   (q, m)
         w[i, j]  weight of user i on resource j, positive                              (n, m)
         u[i]     most tasks of user i, her ceilings included, inf for no limit         (n,)
         f[i]     tasks that user i is guaranteed; 0 where nothing is given             (n,)
         v[j]     whether resource j counts and is compared; all do where not given     (m,)
         B[i, j], H[i, j]  units of resource j that are a share of 1 for user i, and above which
                  she is measured; c[j] and 0 where nothing is given                    (n, m)
         r[i]     tier of user i, higher ones first; 0 where nothing is given           (n,)
         A[i]     group that user i is directly in; -1, the root, where not given       (n,)
         P[g]     group that group g is directly in, -1 for the root                    (g,)
         W[g], R[g]  weight of group g against its siblings, and its tier; 1, 0         (g,)
         F[g, j], Q[g, j]  the same as B and H, of group g                              (g, m)
         G[b, i]  whether user i is in the group of ceiling b; none where not given     (b, n)
         L[b, j]  units of resource j that this group may use, positive, or inf         (b, m)
         D[p, j]  units of resource j that one task of kind p needs; where nothing is
                  given a user is a kind                                                (p, m)
         e[p, q]  whether tasks of kind p may run on machine q; a pool is open to all   (p, q)
         k[i, x]  kind of the x-th task that user i starts, -1 after her last           (n, x)
         N[q, j], S[q, j]  devices of resource j on machine q, units on each; or 0, 1   (q, m)
         h[i]     time at which user i is held, NaN while she goes on                   (n,)

Derived  X[s, i] = tasks of user i after s turns of the clock, at times T[1] < T[2] < ...: it is the
                turn of those who go on and have the smallest part of their guarantees; else, from
                the root down, of the children of the highest tier, and of these of all of the
                lowest level: the largest, over all v[j], of what her or its tasks use above
                H[i, j], Q[g, j], over B[i, j], F[g, j], over her weight or its; of groups at one
                level those that gained least since they came to it, or since somebody was held:
                the sum over j of what is used more, over c[j], over W[g]. All whose turn it is
                have one more task, but who is held by then.
                The last turn, S + 1, is one that capacities, a ceiling or a limit rule out.
         Y[s, p] tasks of kind p among the first X[s, i] of every user i
         a[j] = min_p D[p, j] over the kinds that need j: unit of resource j

Find     y[s] in {0, 1}       whether the clock stands after turn s, s = 0, ..., S
         z[p, q] >= 0, whole  tasks of kind p on machine q, where e[p, q]
         m[p, o] >= 0, whole  tasks of kind p that have a part, D[p, j] < S[q, j], of device o
         n[o] in {0, 1}       whether o is had whole, by tasks with D[p, j] a multiple of S[q, j]

    maximise    sum_s T[s + 1] y[s]             (0 when nobody goes on)
    subject to  sum_s y[s]  =  1                                                 (turn_q)
                sum_q z[p, q]  =  sum_s Y[s, p] y[s]
                                                for every kind p                 (kind_p)
                sum_p D[p, j] / a[j] z[p, q]  <=  C[q, j] / a[j]
                                                for every machine q, resource j  (capacity_q_j)
                sum_p D[p, j] / S[q, j] m[p, o]  <=  1 - n[o]
                                                for every device o of q, j       (device_q_j_o)
                z[p, q]  =  sum_o m[p, o]       for every kind p of parts        (parts_q_j_p)
                sum_p D[p, j] / S[q, j] z[p, q]  <=  sum_o n[o]
                                                over the kinds of whole devices  (entire_q_j)

The tasks of user i are sum_s X[s, i] y[s]. Her level is the time at which she stops: of those who
go on that of the turn which cannot be taken, and the leximin of these times is the best way, its
first stop latest, of as few as can be; then its second. A time is the part of the guarantees, or 1
and the root's lowest level, plus more than all levels for each tier before; a turn at the same
level as the one before it is STEP later.
There are no duals, and a round settles one stop. Who stops is a choice, and each is to be tried.

Source   A. Bhattacharya et al., "Hierarchical Scheduling for Diverse Datacenter Workloads",
         SoCC 2013, sections 3 and 4; there a task at a time by whoever is lowest, in no order of
         ways to stop. The order of the tasks of several types is Webster's apportionment (Balinski
         and Young, "Fair Representation", 1982).
"""

from typing import Any, NamedTuple

import numpy as np
import pulp

STEP = 1e-6  # time between turns at one level; levels that differ have to be farther apart
SAME = 1e-9  # below it levels are the same, up to roundings


class Round(NamedTuple):
    """One round, not solved; its constraints bear the names given above."""

    problem: pulp.LpProblem
    tasks: list[pulp.LpAffineExpression]
    levels: list[pulp.LpAffineExpression]


def build(data: Any, held: np.ndarray) -> Round:
    """Return the round in which the users with NaN in `held`, shape (n,), go on."""
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
    f, r = getattr(data, "promised", np.zeros(len(d))), getattr(data, "tiers", np.zeros(len(d)))
    v, whole = getattr(data, "counted", c > 0) & getattr(data, "compared", c > 0) & (c > 0), np.where(c > 0, c, 1.0)
    A, P = getattr(data, "parent", np.full(len(d), -1)), getattr(data, "group_parent", np.zeros(0, dtype=int))
    W, R = getattr(data, "group_weights", np.ones(len(P))), getattr(data, "group_tiers", np.zeros(len(P)))
    B, H = getattr(data, "units", np.tile(whole, (len(d), 1))), getattr(data, "surplus", np.zeros(d.shape))
    F, Q = getattr(data, "group_units", np.tile(whole, (len(P), 1))), getattr(data, "group_surplus", 0.0 * P[:, None])
    G, L = getattr(data, "grouped", np.zeros((1, len(d)))), getattr(data, "ceilings", np.full((1, len(c)), np.inf))
    # 0.3 / 0.1 misses 3 by a rounding, hence the factor.
    u, f = np.floor(u * (1 + 2.0**-50)), np.floor(f * (1 + 2.0**-50))
    k = [row[row >= 0] for row in data.kinds] if hasattr(data, "kinds") else None
    u = u if k is None else np.minimum(u, [len(row) for row in k])
    W, measure = np.where(W > 0, W, 1.0), getattr(data, "measure", "dominant")

    def started(x: np.ndarray) -> np.ndarray:
        """Return the tasks of each kind among the first x[i] of every user i."""
        if k is None:
            return x
        return sum((np.bincount(k[i][: x[i]], minlength=len(D)) for i in users), np.zeros(len(D), dtype=int))

    def level(shares: np.ndarray, some: np.ndarray, tasks: float) -> float:
        """Return a level, where `some` of the resources count."""
        known = {"dominant": shares[some].max, "asset": shares[v].sum, "tasks": lambda: tasks}
        return known[measure]() if some.any() else 0.0

    E = np.array([g == A for g in range(len(P))]).reshape(len(P), len(d))
    for g in reversed(range(len(P))):  # parents come before their children
        if P[g] >= 0:
            E[P[g]] |= E[g]
    alone = np.where(d > 0, c / np.where(d > 0, d, 1.0), np.inf).min(axis=1)
    light = max(1 / w.min(), (1 / W).max(initial=0.0))
    low = light * len(c) * max((H / B).max(initial=0.0), (Q / F).max(initial=0.0))
    above = 1 + low + light * max(len(c) * (c / np.vstack([B, F])).max(), alone.sum() if measure == "tasks" else 0.0)
    ranks = sorted({*r[A < 0], *R[P < 0]}, reverse=True)
    since: dict[int, tuple[float, float]] = {}  # a group's level, and its shares when it came to that

    def turn(x: np.ndarray, on: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the time at x tasks, and of those who go on whose turn it is."""
        short = on & (x < f)
        if short.any():
            part = np.where(short, x / np.where(f > 0, f, 1.0), np.inf)
            return part.min(), part <= part.min() + SAME
        rank, level, due = lowest(-1, x, on)
        return 1 + low + above * ranks.index(rank) + level, due

    def lowest(g: int, x: np.ndarray, on: np.ndarray) -> tuple[float, float, np.ndarray]:
        """Return tier and level of the children of group g that come first, and whose turn it is below them."""
        children = []
        for i in np.flatnonzero(on & (g == A)):
            share = (d[i] * x[i] - H[i]) / (B[i] * w[i])
            children.append((r[i], level(share, v & (d[i] > 0), x[i] / w[i, 0]), 0.0, i, None))
        for q in (q for q in range(len(P)) if P[q] == g and (E[q] & on).any()):
            share = ((E[q] * x) @ d - Q[q]) / (F[q] * W[q])
            own, held = level(share, v, (E[q] * x).sum() / W[q]), ((E[q] * x) @ d / whole).sum() / W[q]
            if q not in since or abs(since[q][0] - own) > SAME:
                since[q] = own, held
            children.append((R[q], own, held - since[q][1], None, q))
        rank = max(child[0] for child in children)
        height = min(child[1] for child in children if child[0] == rank)
        first = [child[2:] for child in children if child[0] == rank and child[1] <= height + SAME]
        least, due = min(child[0] for child in first), np.zeros(len(d), dtype=bool)
        for gain, i, q in first:
            if gain <= least + SAME:
                due |= lowest(q, x, on)[2] if i is None else np.arange(len(d)) == i
        return rank, height, due

    def over(x: np.ndarray) -> bool:
        """Return whether x tasks are more than capacities, a ceiling or a limit allow."""
        used = np.array([started(np.where(inside, x, 0)) @ D for inside in G])
        return bool((started(x) @ D > c * (1 + SAME)).any() or (used > L * (1 + SAME)).any() or (x > u).any())

    x, on, X, T = np.zeros(len(d), dtype=int), u >= 1, [], []
    before, again, never = -1.0, 0, above * (len(ranks) + 1)
    while on.any():
        moment, due = turn(x, on)
        again = again + 1 if abs(moment - before) <= SAME else 0
        before, time = moment, moment + STEP * again
        stops = due & (h <= time + STEP / 2)  # no number is less than NaN
        after = x + (due & ~stops)
        X, T = [*X, x], [*T, time]
        if over(after):
            break
        x, on = after, on & ~stops
        if stops.any():
            since.clear()
    if not on.any():
        X, T = [x], [0.0]
    Y, a = [started(x) for x in X], np.where(D > 0, D, np.inf).min(axis=0)

    problem = pulp.LpProblem("hierarchy_integer", pulp.LpMaximize)
    z = {(p, q): pulp.LpVariable(f"z_{p}_{q}", lowBound=0, cat="Integer") for p, q in np.argwhere(e)}
    y = [pulp.LpVariable(f"y_{s}", cat="Binary") for s in range(len(X))]
    time = pulp.lpSum(T[s] * y[s] for s in range(len(X)))
    tasks = [pulp.lpSum(X[s][i] * y[s] for s in range(len(X))) for i in users]
    problem += time
    problem += pulp.lpSum(y) == 1, "turn_q"
    for p in kinds:
        run = pulp.lpSum(z[p, q] for q in machines if e[p, q])
        problem += run == pulp.lpSum(Y[s][p] * y[s] for s in range(len(X))), f"kind_{p}"
    for q in machines:
        for j in resources:
            used = pulp.lpSum(D[p, j] / a[j] * z[p, q] for p in kinds if e[p, q] and D[p, j] > 0)
            problem += used <= C[q, j] / a[j], f"capacity_{q}_{j}"
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
    stop = [time if u[i] >= 1 else never + 0 * time for i in users]  # who may have no task never stops
    levels = [stop[i] if np.isnan(h[i]) else h[i] + 0 * time for i in users]
    return Round(problem, tasks=tasks, levels=levels)


if __name__ == "__main__":
    try:
        from rounds import show
    except ModuleNotFoundError:
        raise SystemExit("error: rounds.py, the loop over rounds, must lie beside this file: copy it too") from None
    show(
        build,
        __doc__,
        "max T[s + 1]: sum_p D[p, j] z[p] <= c[j], z[p] = the tasks of kind p among the first x[i] of every i, "
        "x[i] = tasks of user i after s turns of the clock; x whole",
        demands=[[1, 4], [1, 4], [3, 1]],
        users=["A1", "A2", "B"],
        parent=[0, 0, -1],
        group_parent=[-1],
        group_weights=[1],
    )
