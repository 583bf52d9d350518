"""Machine classes of which there is plenty: who can use them is never stopped by what there is.

Let W be classes on which everybody who may use one of them has room for all tasks up to her limit, with something of
every resource to spare.  Prices p that stop somebody in an efficient division x <= u,

    sum_i q_i(p) x_i  =  p . room        q_i(p) the cost of a task of i on the cheapest class open to her

are 0 on W: moved into W, those who may use it would cost no more than what they fill of W, which is less than p . W
unless that is 0, and nobody else needs more outside.  So a part of a task that may run in W costs nothing at any
prices that stop somebody, and who has no other parts is stopped by her limit alone.  More machines leave it so.
"""

import numpy as np
from scipy import sparse

from ...base.deadline import Deadline
from ...engines.linear_programs import INFINITY, load, run
from ...model.instance import Instance
from ...model.policies import Policy
from .needs import TaskParts, parts_of

__all__ = ["free_parts", "never_stopped"]

SPARE = 1e-6
"""Part of every class that is to stay free: far more than rounding, and no division differs by it."""

OVERLOADED = 1e-9
"""Machines of a class by which it may be too small where a program says that it is large enough."""


def free_parts(instance: Instance, policy: Policy, room: np.ndarray, deadline: Deadline) -> np.ndarray | None:
    """Return which parts of tasks nothing but limits can stop, bool (parts,); None where divisions may waste.

    So may those of machines divided one by one; ceilings of groups can stop whoever is below them.
    """
    rules = instance.organisation
    efficient = policy.objective == "leximin" or (policy.objective in ("alpha", "sum") and rules is None)
    bounded = rules is not None and (rules.excluded or any(group.ceiling for group in rules.groups))
    if not efficient or bounded or policy.measure == "single" or instance.machines is None:
        return None
    return never_stopped(parts_of(instance), instance.limits, room, deadline)


def never_stopped(parts: TaskParts, limits: np.ndarray, room: np.ndarray, deadline: Deadline) -> np.ndarray:
    """Return which parts of tasks may use classes of which there is plenty, bool (parts,).

    Parameters
    ----------
    parts : TaskParts
    limits : array (n,)
        The most tasks of every user; inf for no end.
    room : array (k, m)
        What all machines of each class have.
    """
    tasks = limits[parts.user] * parts.share
    fits = parts.fits & (room > 0).any(axis=1)
    # Who has no limit leaves no plenty wherever it may go.
    ample = ~fits[~np.isfinite(tasks)].any(axis=0)
    while ample.any():
        asked = np.flatnonzero((fits & ample).any(axis=1) & (tasks > 0))
        over = _overloaded(parts, tasks, fits & ample, asked, room, deadline)
        if not over.any():
            break
        ample &= ~over
    return (fits & ample).any(axis=1)


def _overloaded(
    parts: TaskParts, tasks: np.ndarray, fits: np.ndarray, asked: np.ndarray, room: np.ndarray, deadline: Deadline
) -> np.ndarray:
    """Return classes that are too small for all these tasks together, bool (k,); of none a placement was seen to fit.

    The least overload is a program, with an overload of every class; those that its prices are of are too small.
    """
    k, m = room.shape
    row, place = np.nonzero(fits[asked])
    if not len(row):
        return np.zeros(k, dtype=bool)
    unit = np.where(room > 0, room, 1.0)
    width = len(row)
    # A column is a part of a part: of all its tasks, how much runs on a class.
    entries = parts.demands[asked[row]] * tasks[asked[row], None] / unit[place]
    pair, resource = np.nonzero(entries)
    cell = place[pair] * m + resource
    used = sparse.csr_matrix((entries[pair, resource], (cell, pair)), shape=(k * m, width))
    over = sparse.kron(sparse.eye(k), -np.ones((m, 1)))
    whole = sparse.csr_matrix((np.ones(width), (row, np.arange(width))), shape=(len(asked), width))
    matrix = sparse.bmat([[used, over], [whole, None]], format="csr")
    low = np.concatenate([np.full(k * m, -INFINITY), np.ones(len(asked))])
    high = np.concatenate([np.where(room > 0, 1 - SPARE, 0.0).ravel(), np.full(len(asked), INFINITY)])
    cost = np.concatenate([np.zeros(width), np.ones(k)])
    found = run(load(cost, np.full(width + k, INFINITY), matrix, low, high), "what there is plenty of", deadline)
    if found.columns[width:].sum() > OVERLOADED:
        priced = np.zeros(k, dtype=bool)
        priced[np.flatnonzero(found.duals[: k * m] < -OVERLOADED) // m] = True
        return priced
    # The solver is not believed: its placement is made whole and added up.
    placed = np.maximum(found.columns[:width], 0.0)
    placed /= np.bincount(row, placed, len(asked))[row]
    full = (used @ placed).reshape(k, m).max(axis=1) > 1 - SPARE / 2
    return np.asarray(full)
