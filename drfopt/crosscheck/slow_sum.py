"""The largest sum of levels by scipy's interior point method, on rows built here: a second opinion."""

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ..errors import SolverError
from ..instance import Instance
from ..policies import Policy

__all__ = ["tasks"]


def tasks(instance: Instance, policy: Policy) -> np.ndarray:
    """Return divisible tasks (n,) of the largest sum of levels.

    A column is one user on one class, in units of the most tasks she could have there.
    """
    members = np.flatnonzero(~instance.unplaced() & (instance.limits > 0))
    result = np.zeros(instance.n)
    if not members.size:
        return result
    owners, columns, worth = [], [], []
    rates = policy.rates(instance)
    classes = [instance.capacity] if instance.machines is None else [m.count * m.capacity for m in instance.machines]
    for i in members:
        for k, room in enumerate(classes):
            if instance.fits is not None and not instance.fits[i, k]:
                continue
            needed = instance.demands[i] > 0
            alone = min(float((room[needed] / instance.demands[i, needed]).min()), float(instance.limits[i]))
            used = np.zeros((len(classes), instance.m))
            used[k, needed] = instance.demands[i, needed] * alone / room[needed]
            owners.append((i, alone))
            columns.append(sparse.csc_array(used.reshape(-1, 1)))
            worth.append(rates[i] * alone)
    user = np.array([i for i, _ in owners])
    most = np.array([a for _, a in owners])
    limited = [i for i in members if np.isfinite(instance.limits[i])]
    rows = [sparse.hstack(columns)]
    rows += [sparse.csr_array(((user == i) * most / instance.limits[i])[None, :]) for i in limited]
    matrix = sparse.vstack(rows, format="csr")
    worth_array = np.array(worth)
    found = linprog(-worth_array / worth_array.max(), A_ub=matrix, b_ub=np.ones(matrix.shape[0]), method="highs-ipm")
    if found.status != 0:
        raise SolverError(f"linprog ended without an optimum: {found.message}")
    np.add.at(result, user, found.x * most)
    return result
