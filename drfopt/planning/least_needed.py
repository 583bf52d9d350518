"""How much of a purchase some tasks need at least: with less of it they cannot be run, whatever is fair.

Given   x[i]  tasks of users;  class k, or a resource of a pool, of which there may be more or less

Find    z[i, l] >= 0  tasks of i on class l;  y  how many times class k, as it is, is used

    minimise    y
    subject to  sum_l z[i, l]  >=  x[i];   what runs on class l uses no more than all of it, on k than y times it
"""

import math

import numpy as np

from ..base.errors import SolverError
from ..base.tolerances import LEVEL
from ..engines.problem import Problem
from ..model.allocation import Allocation
from ..model.policies import policy_on

__all__ = ["least_needed"]


def least_needed(allocation: Allocation, name: str, tasks: np.ndarray | None = None) -> float:
    """Return the amount of a class, or of a pool's resource, that some tasks need at least: 0 where that is not known.

    Of several types of whole tasks it is not.

    Parameters
    ----------
    allocation : Allocation
    name : str
        Of the class or resource.
    tasks : array (n,), optional
        Those of the allocation, unless given; they may be more than the cluster has room for.
    """
    instance = allocation.instance
    tasks = (allocation.tasks if tasks is None else tasks).astype(float)
    if instance.machines is None:
        j = instance.resources.index(name)
        return float(instance.demands[:, j] @ tasks) * (1 - LEVEL)
    from scipy import sparse  # Solvers are loaded where one is asked only.

    from ..engines.linear_programs import INFINITY, capacity_rows, load, run, user_rows

    problem = Problem(instance, policy_on(allocation.policy, instance))
    if not problem.n or (allocation.integer and instance.type_table is not None):
        return 0.0
    rows, k = problem.by_type, instance.machine_names.index(name)
    wanted = tasks[problem.members][rows.user] * rows.part
    some, capacity = np.flatnonzero(wanted > 0), capacity_rows(rows)
    if not some.size:
        return 0.0
    here = np.where(capacity.machine == k, -1.0, 0.0)[:, None]
    placed = sparse.diags(1 / wanted[some]) @ user_rows(rows)[some]
    matrix = sparse.vstack(
        [sparse.hstack([capacity.matrix, here]), sparse.hstack([placed, np.zeros((len(some), 1))])], format="csr"
    )
    pairs = capacity.matrix.shape[1]
    # A column is counted in what its pair could place alone.
    step = np.append(1 / capacity.matrix.max(axis=0).toarray().ravel(), 1.0)
    highs = load(
        np.append(np.zeros(pairs), 1.0),
        np.full(pairs + 1, INFINITY),
        matrix @ sparse.diags(step),
        np.concatenate([np.full(len(here), -INFINITY), np.full(len(some), 1 - LEVEL)]),
        np.concatenate([1.0 + here.ravel(), np.full(len(some), INFINITY)]),
    )
    try:
        part = run(highs, "what a purchase needs at least").objective
    except SolverError:
        return 0.0
    return math.floor(max(part, 0.0) * (1 - LEVEL) * float(instance.counts[k]) * 1e6) / 1e6
