"""The Nash product by one conic program, its answer taken as it is: a second opinion on markets.

Given   d[i, j]   units of resource j that one task of user i needs
        C[k, j]   units of resource j on all machines of class k; a pool is one class
        w[i]      weight;  u[i] most tasks, inf for no limit

Find    v[p] >= 0, tasks of user i on class k, for every pair p = (i, k) on which one fits, in units of the most that
        could run there alone

    maximise    sum_i w[i] log x[i]
    subject to  sum_p d[i, j] x[p] / C[k, j]  <=  1     for every class and resource j   (capacity)
                x[i]  <=  u[i]                          for every user with a limit      (limit)

The engines share Newton's last steps, and with them every slip that these could have.  Here nothing is polished:
Clarabel is asked for twelve digits: the product has ten or more of them, the tasks of a degenerate optimum six.
"""

import warnings

import numpy as np
from scipy import sparse

from ...base.errors import SolverError, TimeLimitError
from ...model.instance import Instance

__all__ = ["tasks"]

DIGITS = 1e-12
"""Gap and feasibility asked of Clarabel."""

ALMOST = 1e-9
"""What it may stop at where rounding lets it go no further; short of that it has no answer."""


def tasks(instance: Instance, seconds: float = float("inf")) -> np.ndarray:
    """Return divisible tasks (n,) of the largest product; 0 for who is unplaced or has a limit of 0."""
    import cvxpy as cp

    playing = np.flatnonzero(~instance.unplaced() & (instance.limits > 0))
    result = np.zeros(instance.n)
    if not playing.size:
        return result
    rooms = [instance.capacity] if instance.machines is None else [m.count * m.capacity for m in instance.machines]
    pairs = [
        (p, k) for p, i in enumerate(playing) for k in range(len(rooms)) if instance.fits is None or instance.fits[i, k]
    ]
    alone = np.array([_alone(instance.demands[playing[p]], rooms[k]) for p, k in pairs])
    owner = np.array([p for p, _ in pairs])
    total = np.bincount(owner, weights=alone)
    v = cp.Variable(len(pairs), nonneg=True)
    # The tasks of each user, as a part of all that could be its own.
    part = sparse.csr_array((alone / total[owner], (owner, np.arange(len(pairs)))), shape=(len(playing), len(pairs)))
    rows = []
    for k, room in enumerate(rooms):
        here = [q for q, (_, on) in enumerate(pairs) if on == k]
        used = np.array([instance.demands[playing[pairs[q][0]]] * alone[q] for q in here]).reshape(len(here), -1)
        rows += [(used[:, j] / room[j]) @ v[here] <= 1 for j in np.flatnonzero(used.any(axis=0))]
    limits = instance.limits[playing]
    bounded = np.flatnonzero(np.isfinite(limits))
    if bounded.size:
        rows.append((part @ v)[bounded] <= np.minimum(limits / total, 1.0)[bounded])
    weights = instance.weights[playing]
    worth = (weights / weights.sum()) @ cp.log(part @ v)
    model = cp.Problem(cp.Maximize(worth), rows)
    asked = {f"tol_{what}": DIGITS for what in ("gap_abs", "gap_rel", "feas")}
    asked |= {f"reduced_tol_{what}": ALMOST for what in ("gap_abs", "gap_rel", "feas")}
    if seconds < float("inf"):
        asked["time_limit"] = max(seconds, 0.1)
    try:
        with warnings.catch_warnings():
            # "May be inaccurate" is short of twelve digits; the comparison says by how much.
            warnings.simplefilter("ignore")
            model.solve(solver=cp.CLARABEL, **asked)
    except cp.SolverError as error:
        raise SolverError(f"Clarabel failed: {error}") from None
    if model.status == cp.USER_LIMIT:
        raise TimeLimitError("the time limit, or that of its steps, ran out in Clarabel")
    if model.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
        raise SolverError(f"Clarabel ended with status {model.status!r}")
    result[playing] = total * np.asarray((part @ v).value)
    return result


def _alone(demand: np.ndarray, room: np.ndarray) -> float:
    needed = demand > 0
    return float((room[needed] / demand[needed]).min())
