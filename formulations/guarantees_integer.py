"""DRF with guarantees, tiers and ceilings of groups, whole tasks: one round.

Given    d[i, j]  units of resource j that one task of user i needs                     (n, m)
         c[j]     units of resource j in the whole cluster                              (m,)
         C[q, j]  units of resource j on machine q, one by one; a pool is one machine   (q, m)
         e[i, q]  whether user i may use machine q; a pool is open to all               (n, q)
         w[i, j]  weight of user i on resource j, positive                              (n, m)
         u[i]     most tasks of user i, her ceilings included, inf for no limit         (n,)
         f[i]     tasks that user i is guaranteed; 0 where nothing is given             (n,)
         v[i, j]  units of resource j that are a share of 1 for user i; c[j] where
                  nothing is given (her guarantee, where shares are parts of it)        (n, m)
         q[j]     whether resource j counts; all do where nothing is given              (m,)
         r[i]     tier of user i, higher ones first; 0 where nothing is given           (n,)
         G[b, i]  whether user i is in the group of ceiling b; none where not given     (b, n)
         L[b, j]  units of resource j that this group may use, positive, or inf         (b, m)
         h[i]     level at which user i is held, NaN while she rises                    (n,)

Derived  a[i] = max_j d[i, j] / (v[i, j] w[i, j]) over the j that count: level of one task
         A    = 1 + max_i a[i] min_j c[j] / d[i, j]      more than the level of anybody
         B[i] = A times the number of tiers above hers: no level of a tier is as low as one above
         g    = min_i a[i]                               unit of t
         k[j] = min_i d[i, j] over the users who need j  unit of resource j

Find     z[i, q] >= 0, whole  tasks of user i on machine q, where e[i, q];  x[i] = sum_q z[i, q]
         t                    lowest level of those who rise, tiers counted, in units of g

    maximise    t                               (0 when nobody rises)
    subject to  a[i] x[i] + B[i]  >=  t g       for every user i who rises, and
                a[i] x[i] + B[i]  >=  h[i]      for every user i who is held     (level_i)
                x[i]  >=  f[i], rounded down    for every user i                 (promise_i)
                sum_i d[i, j] / k[j] z[i, q]  <=  C[q, j] / k[j]
                                                for every machine q, resource j  (capacity_q_j)
                x[i]  <=  u[i]                  for every user i with a limit    (limit_i)
    and, where there are ceilings of groups, named ceiling_b_j,
                sum_i G[b, i] d[i, j] / k[j] x[i]  <=  L[b, j] / k[j]

The tasks of user i are x[i], her level is a[i] x[i] + B[i]: one leximin serves one tier after the
other, and of all ways to serve a higher tier as well the one that is best for the next.
Guarantees must fit together: the round is infeasible where they do not.
There are no duals, and a round settles t alone. Who stays at t can be a choice (room for three
tasks, two users alike), and a leximin has to try each way.

Source   Ghodsi et al., "Dominant Resource Fairness", NSDI 2011, section 4.3 (weights);
         guarantees and tiers as in the schedulers of YARN, Kueue, YuniKorn and KAI.
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
    """Return the round in which the users with NaN in `held`, shape (n,), rise tier by tier."""
    d, c, w, u, h = data.demands, data.capacity, data.weights, data.limits, held
    if data.machines is None:
        C, e = c[None, :], np.ones((len(d), 1), dtype=bool)
    else:
        C, e = np.repeat(data.machines, data.counts, axis=0), np.repeat(data.eligible, data.counts, axis=1)
    users, machines, resources = range(len(d)), range(len(C)), range(len(c))

    # Nobody can run a task that needs what is not there, so any divisor will do in its place.
    c = np.where(c > 0, c, 1.0)
    f, v, q = getattr(data, "promised", np.zeros(len(d))), getattr(data, "units", c), getattr(data, "counted", c > 0)
    r = 1.0 * getattr(data, "tiers", np.zeros(len(d)))
    G, L = getattr(data, "grouped", np.zeros((1, len(d)))), getattr(data, "ceilings", np.full((1, len(c)), np.inf))
    a = (d / (v * w) * q).max(axis=1)
    A = 1 + (a * np.where(d > 0, c / np.where(d > 0, d, 1.0), np.inf).min(axis=1)).max()
    B = A * np.array([len(set(r[r > own])) for own in r])
    g = a.min()
    k = np.where(d > 0, d, np.inf).min(axis=0)

    problem = pulp.LpProblem("guarantees_integer", pulp.LpMaximize)
    z = {(i, q): pulp.LpVariable(f"z_{i}_{q}", lowBound=0, cat="Integer") for i, q in np.argwhere(e)}
    x = [pulp.lpSum(z[i, q] for q in machines if e[i, q]) for i in users]
    t = pulp.LpVariable("t")
    problem += t if np.isnan(h).any() else 0
    for i in users:
        problem += x[i] >= (g / a[i] * t if np.isnan(h[i]) else h[i] / a[i]) - B[i] / a[i], f"level_{i}"
        # 0.3 / 0.1 misses 3 by a rounding, hence the spacing.
        problem += x[i] >= np.floor(f[i] + 4 * np.spacing(f[i])), f"promise_{i}"
    for q in machines:
        for j in resources:
            used = pulp.lpSum(d[i, j] / k[j] * z[i, q] for i in users if e[i, q] and d[i, j] > 0)
            problem += used <= C[q, j] / k[j], f"capacity_{q}_{j}"
    for i in users:
        if np.isfinite(u[i]):
            problem += x[i] <= u[i], f"limit_{i}"
    for b, j in np.argwhere(np.isfinite(L)):
        used = pulp.lpSum(d[i, j] / k[j] * x[i] for i in users if G[b, i] and d[i, j] > 0)
        problem += used <= L[b, j] / k[j], f"ceiling_{b}_{j}"
    return Round(problem, tasks=x, levels=[a[i] * x[i] + B[i] for i in users])


if __name__ == "__main__":
    try:
        from rounds import show
    except ModuleNotFoundError:
        raise SystemExit("error: rounds.py, the loop over rounds, must lie beside this file: copy it too") from None
    show(
        build,
        __doc__,
        "max t: s[i] >= t (i rises), s[i] >= h[i] (i is held), x[i] >= f[i], sum_i d[i, j] x[i] <= c[j], x[i] <= u[i]; "
        "s[i] = max_j d[i, j] x[i] / (v[i, j] w[i, j]), lower tiers above; x whole",
        promised=[4, 0],
    )
