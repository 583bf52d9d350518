"""Hierarchical DRF, whole tasks: how long the clock runs until somebody must stop, one round.

Given    d[i, j]  units of resource j that one task of user i needs                     (n, m)
         c[j]     units of resource j in the whole cluster                              (m,)
         C[q, j]  units of resource j on machine q, one by one; a pool is one machine   (q, m)
         e[i, q]  whether user i may use machine q; a pool is open to all               (n, q)
         w[i, j]  weight of user i on resource j, positive                              (n, m)
         u[i]     most tasks of user i, her ceilings included, inf for no limit         (n,)
         f[i]     tasks that user i is guaranteed; 0 where nothing is given             (n,)
         v[j]     whether resource j counts; all do where nothing is given              (m,)
         r[i]     tier of user i, higher ones first; 0 where nothing is given           (n,)
         p[i]     group that user i is directly in; -1, the root, where not given       (n,)
         P[g]     group that group g is directly in, -1 for the root                    (g,)
         W[g], R[g]  weight of group g against its siblings, and its tier; 1, 0         (g,)
         G[b, i]  whether user i is in the group of ceiling b; none where not given     (b, n)
         L[b, j]  units of resource j that this group may use, positive, or inf         (b, m)
         h[i]     time at which user i is held, NaN while she goes on                   (n,)

Derived  X[s, i] = tasks of user i after s turns of the clock, at times T[1] < T[2] < ...: it is the
                turn of those who go on and have the smallest part of their guarantees; else, from
                the root down, of the children of the highest tier, and of these of all of the
                lowest level: the largest, over all v[j], of what her or its tasks use / c[j],
                over her weight or its. All of them have one more task, but who is held by then.
                The last turn, S + 1, is one that capacities, a ceiling or a limit rule out.
         k[j] = min_i d[i, j] over the users who need j  unit of resource j

Find     y[s] in {0, 1}       whether the clock stands after turn s, s = 0, ..., S
         z[i, q] >= 0, whole  tasks of user i on machine q, where e[i, q]

    maximise    sum_s T[s + 1] y[s]             (0 when nobody goes on)
    subject to  sum_s y[s]  =  1                                                 (turn_q)
                sum_q z[i, q]  =  sum_s X[s, i] y[s]
                                                for every user i                 (tasks_i)
                sum_i d[i, j] / k[j] z[i, q]  <=  C[q, j] / k[j]
                                                for every machine q, resource j  (capacity_q_j)

The tasks of user i are sum_s X[s, i] y[s]. Her level is the time at which she stops: of those who
go on that of the turn which cannot be taken, and the leximin of these times is the best way, its
first stop latest, of as few as can be; then its second. A time is the part of the guarantees, or 1
and the root's lowest level, plus more than all levels for each tier before; a turn at the same
level as the one before it is STEP later.
There are no duals, and a round settles one stop. Who stops is a choice, and each is to be tried.

Source   A. Bhattacharya et al., "Hierarchical Scheduling for Diverse Datacenter Workloads",
         SoCC 2013, sections 3 and 4; there a task at a time by whoever is lowest, in no order of
         ways to stop.
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
    if data.machines is None:
        C, e = c[None, :], np.ones((len(d), 1), dtype=bool)
    else:
        C, e = np.repeat(data.machines, data.counts, axis=0), np.repeat(data.eligible, data.counts, axis=1)
    users, machines, resources = range(len(d)), range(len(C)), range(len(c))
    f, r = getattr(data, "promised", np.zeros(len(d))), getattr(data, "tiers", np.zeros(len(d)))
    v = getattr(data, "counted", c > 0) & (c > 0)
    p, P = getattr(data, "parent", np.full(len(d), -1)), getattr(data, "group_parent", np.zeros(0, dtype=int))
    W, R = getattr(data, "group_weights", np.ones(len(P))), getattr(data, "group_tiers", np.zeros(len(P)))
    G, L = getattr(data, "grouped", np.zeros((1, len(d)))), getattr(data, "ceilings", np.full((1, len(c)), np.inf))
    # 0.3 / 0.1 misses 3 by a rounding, hence the spacing.
    u, f = np.floor(u * (1 + 2.0**-50)), np.floor(f * (1 + 2.0**-50))
    W, k = np.where(W > 0, W, 1.0), np.where(d > 0, d, np.inf).min(axis=0)

    E = np.array([p == g for g in range(len(P))]).reshape(len(P), len(d))
    for g in reversed(range(len(P))):  # parents come before their children
        if P[g] >= 0:
            E[P[g]] |= E[g]
    a, above = d / np.where(c > 0, c, 1.0) * v, 1 + max(1 / w.min(), (1 / W).max(initial=0.0))
    ranks = sorted({*r[p < 0], *R[P < 0]}, reverse=True)

    def turn(x: np.ndarray, on: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the time at x tasks, and of those who go on whose turn it is."""
        short = on & (x < f)
        if short.any():
            part = np.where(short, x / np.where(f > 0, f, 1.0), np.inf)
            return part.min(), part <= part.min() + SAME
        rank, level, due = lowest(-1, x, on)
        return 1 + above * ranks.index(rank) + level, due

    def lowest(g: int, x: np.ndarray, on: np.ndarray) -> tuple[float, float, np.ndarray]:
        """Return tier and level of the children of group g that come first, and whose turn it is below them."""
        children = [(r[i], (a[i] / w[i] * x[i]).max(), i, None) for i in users if on[i] and p[i] == g]
        inside = [q for q in range(len(P)) if P[q] == g and (E[q] & on).any()]
        children += [(R[q], ((E[q] * x) @ a).max() / W[q], None, q) for q in inside]
        rank = max(child[0] for child in children)
        level = min(child[1] for child in children if child[0] == rank)
        due = np.zeros(len(d), dtype=bool)
        for tier, height, i, q in children:
            if tier == rank and height <= level + SAME:
                due |= lowest(q, x, on)[2] if i is None else np.arange(len(d)) == i
        return rank, level, due

    x, on, X, T = np.zeros(len(d), dtype=int), u >= 1, [], []
    before, again, never = -1.0, 0, above * (len(ranks) + 1)
    while on.any():
        moment, due = turn(x, on)
        again = again + 1 if abs(moment - before) <= SAME else 0
        before, time = moment, moment + STEP * again
        stops = due & (h <= time + STEP / 2)  # no number is less than NaN
        after = x + (due & ~stops)
        over = (after @ d > c * (1 + SAME)).any() or ((G * after) @ d > L * (1 + SAME)).any() or (after > u).any()
        X, T = [*X, x], [*T, time]
        if over:
            break
        x, on = after, on & ~stops
    if not on.any():
        X, T = [x], [0.0]

    problem = pulp.LpProblem("hierarchy_integer", pulp.LpMaximize)
    z = {(i, q): pulp.LpVariable(f"z_{i}_{q}", lowBound=0, cat="Integer") for i, q in np.argwhere(e)}
    y = [pulp.LpVariable(f"y_{s}", cat="Binary") for s in range(len(X))]
    time = pulp.lpSum(T[s] * y[s] for s in range(len(X)))
    tasks = [pulp.lpSum(X[s][i] * y[s] for s in range(len(X))) for i in users]
    problem += time
    problem += pulp.lpSum(y) == 1, "turn_q"
    for i in users:
        problem += pulp.lpSum(z[i, q] for q in machines if e[i, q]) == tasks[i], f"tasks_{i}"
    for q in machines:
        for j in resources:
            used = pulp.lpSum(d[i, j] / k[j] * z[i, q] for i in users if e[i, q] and d[i, j] > 0)
            problem += used <= C[q, j] / k[j], f"capacity_{q}_{j}"
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
        "max T[s + 1]: sum_i d[i, j] x[i] <= c[j], x[i] = tasks of user i after s turns of the clock; x whole",
        demands=[[1, 4], [1, 4], [3, 1]],
        users=["A1", "A2", "B"],
        parent=[0, 0, -1],
        group_parent=[-1],
        group_weights=[1],
    )
