"""Leximin the slow way: a linear program for the level, then one for each rising user; a second method.

Given   pairs     p = (i, k) where a whole task of user i fits on class k; a pool is one class
        a[j, p]   part of the class's resource j that user i takes for each unit of level she gets there
        held[i]   level of each finished user

Find    z[p] >= 0, the level that user i gets on class k

    maximise    t
    subject to  sum_p a[j, p] z[p]   <=  1         for every class and resource j    (capacity)
                sum_{p of i} z[p]    >=  held[i]   for every finished user i         (held)
                sum_{p of i} z[p]    >=  t         for every rising user i           (rising)

A limit is no row.  Where limits of rising users lie at or below t, all of these are finished at their limits,
since cutting levels off there leaves everything feasible, and the program is solved again.  Where none does,
each rising user is asked whether she can have more than t while nobody falls below what she has: her level
takes the place of t in the objective, and who cannot is finished at t.  The question is spared only to a user
whom the answer to an earlier one, a feasible allocation, shows above t.

The textbook's chain (Ogryczak, Pioro and Tomaszewski, Telecommunications network design and max-min
optimization problem, JTIT 2005): it reads no duals, shares no code with an engine, and builds its own rows.
Its weak side is a user who takes next to nothing of what others fill: rounding errors of theirs are much to
her.  Where these could decide, the answer is refused.
"""

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ...base.errors import EngineError, PolicyError, SolverError
from ...base.tolerances import LEVEL, ROUNDING, SOLVER_FEASIBILITY
from ...model.instance import Instance
from ...model.policies import AnyPolicy, policy_named

__all__ = ["levels"]

SMALLEST = 1e-9
"""HiGHS reads a coefficient up to here as zero, without a word."""

SPARE = 1e-9
"""By how much every class is widened to see how much that changes a level."""


def levels(instance: Instance, policy: AnyPolicy) -> np.ndarray:
    """Return the leximin levels of divisible tasks, (n,); 0 for unplaced users and for limits of 0.

    Raises
    ------
    PolicyError
        When the policy is not leximin or cannot take the instance.
    EngineError
        When some user takes so little of a resource that floats cannot decide.
    SolverError
        When a program ends without an optimum.
    """
    chosen = policy_named(policy)
    if chosen.objective != "leximin":
        raise PolicyError(f"{chosen.name} is not leximin, and a chain of levels computes nothing else")
    chosen.check(instance, knows=("types", "types on machines"))
    members = np.flatnonzero(~instance.unplaced() & (instance.limits > 0))
    reached = np.zeros(instance.n)
    if members.size:
        rates = chosen.rates(instance)
        if (types := instance.type_table) is None:
            row, demands, fits = members, instance.demands[members] / rates[members, None], None
            if instance.fits is not None:
                fits = instance.fits[members]
        else:
            mine = np.flatnonzero(np.isin(types.owner, members))
            row, fits = types.owner[mine], types.fits[mine]
            demands = types.demands[mine] * (types.part[mine] / rates[row])[:, None]
        owner, cost = _pairs(instance, demands, fits)
        reached[row] = _chain(owner, cost, rates[row] * instance.limits[row], row)
    return reached


def _pairs(
    instance: Instance, demands: np.ndarray, fits: np.ndarray | None
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return whose each pair is, (rows, pairs) of 0 and 1, and what it costs: a, (classes * m, pairs).

    A row is a member, or one of her task types; `demands` (rows, m) are what it needs for a level of 1.
    """
    if instance.machines is None or fits is None:
        room, fits = instance.capacity[None, :], np.ones((len(demands), 1), dtype=bool)
    else:
        room = np.array([machine.count * machine.capacity for machine in instance.machines])
    user, machine = np.nonzero(fits)
    pairs = np.arange(len(user))
    need = demands[user]
    pair, resource = np.nonzero(need)
    row = machine[pair] * instance.m + resource
    cost = sparse.csr_array((need[pair, resource] / room.flat[row], (row, pair)), shape=(room.size, len(pairs)))
    return sparse.csr_array((np.ones(len(pairs)), (user, pairs))), cost


def _chain(owner: sparse.csr_array, cost: sparse.csr_array, ceiling: np.ndarray, member: np.ndarray) -> np.ndarray:
    """Return the level of each row; `ceiling` (rows,) is the level at the limit of its `member` (rows,).

    Rows of one member, her task types, rise together: when one is stuck, so is she.
    """
    n = len(ceiling)
    level = np.zeros(n)
    rising = np.ones(n, dtype=bool)
    # An n-th part of every class for everybody is an allocation: the first level is 1 to n times this.
    t = np.minimum(owner @ (1 / cost.max(axis=0).toarray().ravel()), ceiling).min() / n
    while rising.any():
        for _ in range(2):  # the second time in units of the level found, so that every row is near 1
            unit = np.where(rising, t, level)
            shares = sparse.csr_array(cost.multiply(owner.T @ unit))
            growth, z = _highest(owner, shares, rising)
            t *= growth
        error = ROUNDING * (_highest(owner, shares, rising, SPARE)[0] - growth) / SPARE
        if error > LEVEL:
            raise EngineError(
                f"the chain of levels would be off by {error:.0e}: rising users take so little of what "
                "others fill that rounding errors decide"
            )
        finished = rising & (ceiling <= t)
        if finished.any():
            level[finished] = ceiling[finished]
        else:
            stuck = _stuck(owner, shares, rising, z, growth)
            finished = rising & np.isin(member, member[stuck])
            level[finished] = t
        rising &= ~finished
    return level


def _highest(
    owner: sparse.csr_array, shares: sparse.csr_array, rising: np.ndarray, spare: float = 0.0
) -> tuple[float, np.ndarray]:
    """Return the highest common level of the rising, the finished held at 1, and an allocation with it."""
    shortfall = sparse.csr_array(rising[:, None].astype(float))
    rows = sparse.block_array([[shares, None], [-owner, shortfall]], format="csr")
    most = np.concatenate([np.full(shares.shape[0], 1 + spare), np.where(rising, 0.0, -1.0)])
    level = np.zeros(rows.shape[1])
    level[-1] = 1
    solution = _maximise(level, rows, most)
    return solution[-1], solution[:-1]


def _stuck(
    owner: sparse.csr_array, shares: sparse.csr_array, rising: np.ndarray, z: np.ndarray, t: float
) -> np.ndarray:
    """Return which of the rising, (members,), can have no more than t in an allocation that lowers nobody.

    The programs speak of changes of z.  A row that z fills then has the right-hand side 0, and the rounding
    errors of large users do not look like room for a small one.
    """
    rows = sparse.vstack([shares, -owner], format="csr")
    room = np.concatenate([np.ones(shares.shape[0]), np.where(rising, -t, -1.0)]) - rows @ z
    room[room <= ROUNDING] = 0.0
    columns = shares.tocsc()
    least = np.minimum.reduceat(columns.data, columns.indptr[owner.indptr[:-1]])
    in_doubt = rising & (owner @ z <= t * (1 + LEVEL))
    stuck = np.zeros(len(rising), dtype=bool)
    for i in np.flatnonzero(in_doubt):
        if in_doubt[i]:
            change = _maximise(owner[[i]].toarray()[0], rows, room, -z)
            reached = owner @ (z + change) / t - 1
            growth = owner @ change / t
            # By what the solver overdraws, a user may grow by as many times what she takes least of.
            noise = np.maximum(LEVEL, (rows @ change - room).max() / least)
            if LEVEL < growth[i] <= noise[i]:
                raise EngineError(
                    f"the chain of levels cannot tell whether a user may have {growth[i]:.0e} more: it "
                    f"takes {least[i]:.0e} of some resource, too little beside rounding errors"
                )
            stuck[i] = growth[i] <= LEVEL
            in_doubt &= reached <= noise
    if not stuck.any():
        raise SolverError("the chain of levels found nobody who is stuck at the highest common level")
    return stuck


def _maximise(
    objective: np.ndarray, rows: sparse.csr_array, most: np.ndarray, lowest: np.ndarray | float = 0.0
) -> np.ndarray:
    if (smallest := np.abs(rows.data).min()) <= SMALLEST:
        raise EngineError(
            f"the chain of levels has a user who takes {smallest:.0e} of a resource, which its solver drops"
        )
    # At this tolerance presolve takes a rounding error in a row that is exactly full for a contradiction.
    options = {
        "presolve": False,
        "primal_feasibility_tolerance": SOLVER_FEASIBILITY,
        "dual_feasibility_tolerance": SOLVER_FEASIBILITY,
    }
    bounds = np.column_stack(np.broadcast_arrays(lowest, np.full(len(objective), np.inf)))
    result = linprog(-objective, A_ub=rows, b_ub=most, bounds=bounds, method="highs", options=options)
    if result.status != 0:
        raise SolverError(f"a program of the chain of levels ended without an optimum: {result.message}")
    return np.maximum(result.x, lowest)
