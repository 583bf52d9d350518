"""Hierarchical DRF in one pool: one round of a tree of groups, as a mixed-integer program.

Given    d[i, j]  units of resource j that one task of user i needs                     (n, m)
         c[j]     units of resource j in the pool                                       (m,)
         w[i, j]  weight of user i on resource j, positive                              (n, m)
         u[i]     most tasks of user i, inf for no limit                                (n,)
         p[i]     group that user i is directly in; -1, the root, where not given       (n,)
         P[g]     group that group g is directly in, -1 for the root                    (g,)
         W[g]     weight of group g against its siblings, positive                      (g,)
         h[i]     level at which user i is held, NaN while she rises                    (n,)

Derived  a[i]     = max_j d[i, j] / (c[j] w[i, j])      level of user i with one task
         E[g, i]  whether user i is somewhere below group g
         M        = 1 / min_g W[g], the most that a level of a group can be

Find     x[i] >= 0  tasks of user i;  s[i] = a[i] x[i]
         t          level at which those who rise at the root are together
         y[g]       level at which those who rise directly in group g are together
         b[g, j]    0 or 1: whether group g is held to be at its level by its share of resource j

    maximise    t                                                    (0 when nobody rises)
    subject to  s[i]  =  y[p[i]]           for every user i who rises, t in place of y[-1], and
                s[i]  =  h[i]              for every user i who is held              (level)
                sum_i d[i, j] x[i] / c[j]  <=  1               for every resource j  (capacity)
                s[i]  <=  a[i] u[i]        for every user i with a limit             (limit)
                sum_i E[g, i] d[i, j] x[i] / (c[j] W[g])  <=  y[P[g]]
                                           for every g below whom somebody rises, j  (most)
                the same  >=  y[P[g]] - M (1 - b[g, j])
                                           for every such g, j                       (share)
                sum_j b[g, j]  >=  1       for every such g                          (some)

The level of a group is its largest share, of whatever resource: none is more than what its
siblings have, and one is no less. Where optima differ the one with the fewest tasks is meant: a
member that can rise without its group's level rising does so in a later round.
A mixed-integer program has no dual: who rises and uses a resource that is full, or is at her
limit, is held from then on. Where a demand is 0, a member may be able to rise while its group's
level stands still: if then a round stops nobody, this program does not say how it goes on.

Source   A. Bhattacharya et al., "Hierarchical Scheduling for Diverse Datacenter Workloads",
         SoCC 2013, sections 3 and 4.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np

FULL = 1e-7  # part of a resource, or of a limit, that a solver leaves of what is full


class Round(NamedTuple):
    """One round, not solved; constraints are level, capacity, limit, most, share, some, in this order."""

    problem: cp.Problem
    tasks: cp.Expression
    levels: cp.Expression
    ties: cp.Expression
    finished: Callable[[], np.ndarray]


def build(data: Any, held: np.ndarray) -> Round:
    """Return the round in which the users with NaN in `held`, shape (n,), rise together group by group."""
    if data.machines is not None:
        raise ValueError("hierarchy.py is stated in one pool: use it without machines")
    d, c, w, u, h = data.demands, data.capacity, data.weights, data.limits, held
    p, P = getattr(data, "parent", np.full(len(d), -1)), getattr(data, "group_parent", np.zeros(0, dtype=int))
    W = getattr(data, "group_weights", np.ones(0))
    c = np.where(c > 0, c, 1.0)  # nobody can run a task that needs what is not there

    a = (d / (c * w)).max(axis=1)
    rises, limited = np.isnan(h), 1.0 * np.isfinite(u)
    E = np.array([p == g for g in range(len(P))], dtype=float).reshape(len(P), len(d))
    for g in reversed(range(len(P))):  # parents come before their children
        if P[g] >= 0:
            E[P[g]] += E[g]
    M = 1 / W.min(initial=1.0)
    active = np.flatnonzero((E * rises).any(axis=1))

    x = cp.Variable(len(d), nonneg=True, name="x")
    y = cp.Variable(len(P) + 1, nonneg=True, name="y")  # the last one, y[-1], is t
    b = cp.Variable((max(len(active), 1), len(c)), boolean=True, name="b")
    s = cp.multiply(a, x)
    level = s == cp.multiply(1.0 * rises, y[p]) + np.where(rises, 0.0, h)
    capacity = cp.multiply(d.T @ x, 1 / c) <= 1
    limit = cp.multiply(limited, s) <= np.where(limited, a * u, 1.0)  # 0 <= 1 for the others
    E, W = E[active], W[active, None]
    shares = (E / W) @ cp.multiply(d / c, cp.reshape(x, (len(d), 1), order="C"))
    of_parent = cp.reshape(y[P[active]], (len(active), 1), order="C") if len(active) else 0
    most = shares <= of_parent if len(active) else b >= 0
    share = shares >= of_parent - M * (1 - b) if len(active) else b >= 0
    some = cp.sum(b, axis=1) >= 1
    problem = cp.Problem(cp.Maximize(y[-1] if rises.any() else 0), [level, capacity, limit, most, share, some])

    def finished() -> np.ndarray:
        """It is at its limit, or uses a resource that is full."""
        full = d.T @ x.value >= c * (1 - FULL)
        return rises & ((d[:, full] > 0).any(axis=1) | (x.value >= u * (1 - FULL)))

    return Round(problem, tasks=1.0 * x, levels=s, ties=cp.sum(s), finished=finished)


if __name__ == "__main__":
    try:
        from rounds import show
    except ModuleNotFoundError:
        raise SystemExit("error: rounds.py, the loop over rounds, must lie beside this file: copy it too") from None
    show(
        build,
        __doc__,
        "max t: s[i] = y[p[i]] (i rises), s[i] = h[i] (i is held), max_j (share j of group g) / W[g] = y[P[g]], t "
        "= y[-1], sum_i d[i, j] x[i] <= c[j], x[i] <= u[i]",
        rows="level capacity limit most share some",
        demands=[[1, 4], [1, 4], [3, 1]],
        users=["A1", "A2", "B"],
        parent=[0, 0, -1],
        group_parent=[-1],
        group_weights=[1],
    )
