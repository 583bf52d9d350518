"""The same tasks on fewer classes of machines: a vertex of all placements of them.

Where an optimum leaves a choice, an interior point method ends in the middle of it, with a little of everybody
everywhere.  With n users and r rows of capacities a vertex has at most n + r pairs.  Nothing that a certificate speaks
of changes: everybody keeps her tasks, classes that are full stay full, and only pairs that were used are used.
"""

import numpy as np

from ..base.errors import SolverError
from ..base.tolerances import CAPACITY
from ..certificates.feasibility import infeasibility
from ..model.instance import Instance

__all__ = ["fewest"]

MOST = 50_000
"""Pairs beyond which the program would take minutes: the placement stays as it was found."""

LITTLE = 1e-9
"""Part of a user's tasks that is a solver's tolerance and not a placement."""

PRIMAL = 4
"""HiGHS's number of the primal simplex method, the fastest where every point is as good as any other."""


def fewest(instance: Instance, tasks: np.ndarray, placement: np.ndarray | None) -> np.ndarray | None:
    """Return a placement (n, k) of the same tasks (n,) on few classes; the one given, where there is no other.

    Of types (q, k) it is the sum by users, as they were placed.
    """
    if placement is not None and instance.type_table is not None:
        return instance.type_table.summed(placement)
    if placement is None or placement.dtype != np.float64:
        return placement
    user, machine = np.nonzero(placement > LITTLE * tasks[:, None])
    several = np.bincount(user, minlength=instance.n) > 1
    if not several.any() or len(user) > MOST:
        return placement
    try:
        found = _vertex(instance, tasks, placement, user, machine)
    except SolverError:
        # Rounding may leave a full class no room for what fills it; then what was proven is what there is.
        return placement
    return found if infeasibility(instance, tasks, found)[0] <= CAPACITY else placement


def _vertex(
    instance: Instance, tasks: np.ndarray, placement: np.ndarray, user: np.ndarray, machine: np.ndarray
) -> np.ndarray:
    """Return a vertex; columns are parts of a user's tasks."""
    from scipy import sparse

    from .linear_programs import INFINITY, load, run

    pairs = np.arange(len(user))
    need = instance.demands[user] * tasks[user, None]
    pair, resource = np.nonzero(need)
    row = machine[pair] * instance.m + resource
    present, row = np.unique(row, return_inverse=True)
    entries = need[pair, resource] / instance.room.ravel()[present][row]
    parts = sparse.csr_array((np.ones(len(user)), (user, pairs)), shape=(instance.n, len(user)))
    parts = parts[np.unique(user)]
    rows = sparse.csr_array((entries, (row, pair)), shape=(len(present), len(user)))
    highs = load(
        np.zeros(len(user)),
        np.full(len(user), INFINITY),
        sparse.vstack([parts, rows]),
        np.concatenate([np.ones(parts.shape[0]), np.full(len(present), -INFINITY)]),
        # What is there overfills a class by a tolerance, and is to stay possible.
        np.concatenate([np.ones(parts.shape[0]), np.maximum(rows @ (placement[user, machine] / tasks[user]), 1.0)]),
    )
    highs.setOptionValue("simplex_strategy", PRIMAL)
    part = np.maximum(run(highs, "the placement on few classes").columns, 0)
    total = np.bincount(user, weights=part, minlength=instance.n)
    table = np.zeros((instance.n, instance.k))
    table[user, machine] = part * (tasks / np.where(total > 0, total, 1))[user]
    return table
