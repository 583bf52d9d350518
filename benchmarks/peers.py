"""Others' ways to an answer, with what is installed anyway: scipy's linprog and milp over HiGHS, cvxpy's solvers.

Each states its program as a careful user would, scaled so that levels and capacities are near 1: a peer that loses
here does not lose for want of units. `cvxpy-leximin`, where somebody has it, is asked too.
"""

import importlib.util
import os
import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from drfopt.base.parallel import cores
from drfopt.engines.linear_programs import load
from drfopt.model.instance import Instance
from drfopt.model.policies import dominant_rates
from drfopt.solving.methods import slow_chain

from .measure import Absent, Failure

__all__ = [
    "Market",
    "leximin_cvxpy",
    "lowest_level",
    "lowest_level_without_rows",
    "lowest_whole_level",
    "nash_product",
    "one_lp_a_user",
    "tidied",
    "water_filling",
]


DUST = 1e-4
"""Part of a user's tasks, of her limit or of a capacity that a conic solver's tolerance may leave behind."""


class Pairs(NamedTuple):
    """Who can run something where: users (p,), classes (p,), and the room of every class (k, m)."""

    user: np.ndarray
    machine: np.ndarray
    room: np.ndarray


def _pairs(instance: Instance) -> Pairs:
    fits = ~instance.unplaced()[:, None] if instance.fits is None else instance.fits
    return Pairs(*np.nonzero(fits & (instance.limits > 0)[:, None]), instance.room)


def _capacities(instance: Instance, pairs: Pairs, unit: np.ndarray) -> sparse.csr_array:
    """Return the rows of all classes and resources, as parts of a class; a column is `unit` (p,) tasks of a pair."""
    need = instance.demands[pairs.user] * unit[:, None]
    pair, resource = np.nonzero(need)
    row = pairs.machine[pair] * instance.m + resource
    part = need[pair, resource] / pairs.room.flat[row]
    return sparse.csr_array((part, (row, pair)), shape=(pairs.room.size, len(pairs.user)))


CONIC = ("CLARABEL", "SCS")
"""Conic solvers that cvxpy hands a program to."""


def lowest_level(instance: Instance, method: str, seconds: float) -> float:
    """Return the highest level everybody can have: ONE program of a leximin, with a row "level >= t" a user.

    `method` is one of linprog, ``ipm`` for HiGHS itself, stopped before it crosses over to a vertex, one of `CONIC`, or
    ``dede``, which is told the same pair by pair.
    """
    if method == "dede":
        return _decomposed(instance)
    pairs = _pairs(instance)
    rates = dominant_rates(instance)
    members, owner = np.unique(pairs.user, return_inverse=True)
    # In this unit everybody at level 1 would just overfill one pool, if all came at once.
    unit = 1 / len(members)
    rows = _capacities(instance, pairs, unit / rates[pairs.user])
    adding = sparse.csr_array((np.ones(len(owner)), (owner, np.arange(len(owner)))))
    everybody = sparse.csr_array(np.ones((len(members), 1)))
    matrix = sparse.block_array([[rows, None], [-adding, everybody]], format="csr")
    right = np.concatenate([np.ones(rows.shape[0]), np.zeros(len(members))])
    tops = rates[members] * instance.limits[members] / unit
    limited = np.flatnonzero(np.isfinite(tops))
    if limited.size:
        over = sparse.hstack([adding[limited], sparse.csr_array((len(limited), 1))])
        matrix, right = sparse.vstack([matrix, over], format="csr"), np.concatenate([right, tops[limited]])
    cost = np.zeros(matrix.shape[1])
    cost[-1] = -1
    solve = _conic if method in CONIC else _largest_last if method.startswith("highs") else _inside
    return solve(matrix, right, cost, method, seconds) * unit


def lowest_level_without_rows(instance: Instance, seconds: float) -> float:
    """Return the same on a pool, stated with ``level = t + what she has above it``: no row a user is left.

    The lowest level can be no higher than the lowest limit, which bounds t; above t nobody need have anything.
    """
    pairs = _pairs(instance)
    rates = dominant_rates(instance)[pairs.user]
    unit = 1 / len(rates)
    rows = _capacities(instance, pairs, unit / rates)
    matrix = sparse.hstack([rows, sparse.csr_array(rows.sum(axis=1)[:, None])], format="csr")
    cost = np.zeros(matrix.shape[1])
    cost[-1] = -1
    bounds = np.zeros((len(cost), 2))
    bounds[:, 1] = np.inf
    bounds[-1, 1] = (rates * instance.limits[pairs.user]).min() / unit
    return _largest_last(matrix, np.ones(len(rows.indptr) - 1), cost, "highs", seconds, bounds) * unit


def _largest_last(
    matrix: sparse.csr_array,
    right: np.ndarray,
    cost: np.ndarray,
    method: str,
    seconds: float,
    bounds: np.ndarray | tuple = (0, None),
) -> float:
    found = linprog(cost, A_ub=matrix, b_ub=right, bounds=bounds, method=method, options={"time_limit": seconds})
    if found.status != 0:
        raise Failure(f"linprog ended without an optimum: {found.message}")
    return float(found.x[-1])


def _inside(matrix: sparse.csr_array, right: np.ndarray, cost: np.ndarray, method: str, seconds: float) -> float:
    """Return the last column where the interior point method ends: near the optimum, not at a vertex."""
    endless = np.full(len(cost), np.inf)
    highs = load(cost, endless, matrix, np.full(len(right), -np.inf), right)
    options = {"solver": method, "run_crossover": "off", "time_limit": seconds}
    for tolerance in ("primal", "dual"):
        options[f"{tolerance}_feasibility_tolerance"] = 1e-7  # the solver's own default
    for option, value in options.items():
        highs.setOptionValue(option, value)
    highs.run()
    status = highs.modelStatusToString(highs.getModelStatus())
    if status != "Optimal":
        raise Failure(f"HiGHS ended without an optimum: {status}")
    return float(highs.getSolution().col_value[-1])


def _conic(matrix: sparse.csr_array, right: np.ndarray, cost: np.ndarray, method: str, seconds: float) -> float:
    """Return the last column of what a conic solver finds through cvxpy, at its own tolerances."""
    import cvxpy as cp

    x = cp.Variable(len(cost), nonneg=True)
    problem = cp.Problem(cp.Minimize(cost @ x), [matrix @ x <= right])
    limit = "time_limit" if method == "CLARABEL" else "time_limit_secs"
    try:
        problem.solve(solver=method, **{limit: seconds})
    except cp.SolverError as error:
        raise Failure(f"cvxpy: {error}") from error
    if problem.status != "optimal":
        raise Failure(f"{method} ended without an optimum: {problem.status}")
    return float(x.value[-1])


def _decomposed(instance: Instance) -> float:
    """Return the highest level of all as the package dede decomposes it: a part a class, a part a user (OSDI 2025).

    All have one level; that is a constraint of the first kind.  A Python of its own is asked (`decomposed`).
    """
    python = os.environ.get("DEDE_PYTHON")
    if python is None:
        raise Absent(
            "not installed: dede 0.1.6 asks for cvxpy 1.4.0 and numpy 1.26.4, older than what is needed here; "
            "DEDE_PYTHON names a Python 3.11 that has it, with scipy below 1.12"
        )
    unit = 1 / instance.n
    need = instance.demands * (unit / dominant_rates(instance))[:, None]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.npz"
        np.savez(program, fits=instance.fits, need=need, room=instance.room)
        script = Path(__file__).with_name("decomposed.py")
        asked = [python, str(script), str(program), str(cores())]
        found = subprocess.run(asked, capture_output=True, text=True, check=False)
    if found.returncode:
        # Whatever stops a rival inside is a result of the measurement, not of this program.
        raise Failure(f"dede stopped: {found.stderr.strip().splitlines()[-1]}")
    return float(found.stdout.splitlines()[-1]) / instance.n * unit


def lowest_whole_level(instance: Instance, seconds: float) -> float:
    """Return the highest level everybody can have with whole tasks: ONE program, by milp, machine by machine."""
    rates = dominant_rates(instance)
    if instance.machines is None:
        rooms = [(0, instance.capacity)]
    else:
        rooms = [(k, row) for k, row in enumerate(instance.machine_capacity) for _ in range(int(instance.counts[k]))]
    fits = np.ones((instance.n, 1), dtype=bool) if instance.fits is None else instance.fits
    pairs = [(i, q) for q, (k, _) in enumerate(rooms) for i in range(instance.n) if fits[i, k]]
    rows = np.zeros((len(rooms) * instance.m + instance.n, len(pairs) + 1))
    for column, (i, q) in enumerate(pairs):
        rows[q * instance.m : (q + 1) * instance.m, column] = instance.demands[i]
        rows[len(rooms) * instance.m + i, column] = -rates[i]
    rows[len(rooms) * instance.m :, -1] = 1
    right = np.concatenate([*(room for _, room in rooms), np.zeros(instance.n)])
    found = milp(
        np.append(np.zeros(len(pairs)), -1),
        constraints=LinearConstraint(sparse.csr_array(rows), ub=right),
        integrality=np.append(np.ones(len(pairs)), 0),
        bounds=Bounds(0, np.inf),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    if found.status != 0:
        raise Failure(f"milp ended without an optimum: {found.message}")
    return float(found.x[-1])


def one_lp_a_user(instance: Instance) -> np.ndarray:
    """Return leximin levels (n,) by the textbook's chain: a program a round, and one for every user in doubt."""
    return slow_chain.levels(instance, "drf")


class Market(NamedTuple):
    """What a conic solver says: tasks (n,), placed as (n, k), and prices (k, m) of a unit; a pool is one class."""

    tasks: np.ndarray
    placement: np.ndarray
    prices: np.ndarray
    status: str


def nash_product(instance: Instance, solver: str, seconds: float) -> Market:
    """Return CEEI as cvxpy gets it from a conic solver: a column a pair, counted in parts of what she could expect."""
    import cvxpy as cp

    pairs = _pairs(instance)
    members, owner = np.unique(pairs.user, return_inverse=True)
    incomes, limits = instance.weights[members], instance.limits[members]
    unit = incomes / incomes.sum() / dominant_rates(instance)[members]
    rows = _capacities(instance, pairs, unit[owner])
    v = cp.Variable(len(owner), nonneg=True)
    tasks = v if instance.machines is None else sparse.csr_matrix((np.ones(len(owner)), (owner, range(len(owner))))) @ v
    capacity = sparse.csr_matrix(rows) @ v <= 1
    limited = np.flatnonzero(np.isfinite(limits))
    most = [tasks[limited] <= (limits / unit)[limited]] if limited.size else []
    problem = cp.Problem(cp.Maximize(incomes @ cp.log(tasks)), [capacity, *most])
    limit = {"CLARABEL": {"time_limit": seconds}, "SCS": {"time_limit_secs": seconds}}[solver]
    with warnings.catch_warnings():
        # An inaccurate answer is judged like any other; the status says so.
        warnings.simplefilter("ignore")
        try:
            problem.solve(solver=solver, **limit)
        except cp.SolverError as error:
            raise Failure(f"{solver}: {error}") from None
    if problem.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
        raise Failure(f"{solver} ended with status {problem.status!r}")
    placement = np.zeros((instance.n, len(instance.room)))
    placement[pairs.user, pairs.machine] = np.maximum(v.value, 0) * unit[owner]
    return tidied(instance, placement, np.reshape(capacity.dual_value, instance.room.shape), problem.status)


def tidied(instance: Instance, placement: np.ndarray, duals: np.ndarray, status: str) -> Market:
    """Return the answer with what its tolerance left behind cleared away, so that it is judged by what it means.

    An interior point method ends with a little on every class and a small price on everything, and just below every
    limit. Nothing below `DUST` of what it belongs to is held against it.
    """
    placement = np.where(placement > DUST * placement.max(axis=1, keepdims=True), placement, 0)
    total = placement.sum(axis=1)
    tasks = np.where(total >= instance.limits * (1 - DUST), instance.limits, total)
    placement *= np.divide(tasks, total, where=total > 0, out=np.zeros(instance.n))[:, None]
    unused = placement.T @ instance.demands < instance.room * (1 - DUST)
    worth = np.where((duals < DUST * duals.sum()) & unused | (instance.room == 0), 0, np.maximum(duals, 0))
    prices = np.divide(worth, instance.room, where=instance.room > 0, out=np.zeros(worth.shape))
    return Market(tasks, placement, prices, status)


def leximin_cvxpy(instance: Instance, method: str) -> np.ndarray:
    """Return leximin levels (n,) by one of the methods of cvxpy-leximin."""
    if importlib.util.find_spec("cvxpy_leximin") is None:
        raise Absent("not installed")
    import cvxpy as cp
    from cvxpy_leximin import Leximin, Problem

    pairs, rates = _pairs(instance), dominant_rates(instance)
    members, owner = np.unique(pairs.user, return_inverse=True)
    unit = 1 / len(members)
    rows = _capacities(instance, pairs, unit / rates[pairs.user])
    v = cp.Variable(len(owner), nonneg=True)
    level = sparse.csr_matrix((np.ones(len(owner)), (owner, range(len(owner))))) @ v
    tops = (instance.limits * rates)[members] / unit
    constraints = [sparse.csr_matrix(rows) @ v <= 1]
    limited = np.flatnonzero(np.isfinite(tops))
    if limited.size:
        constraints.append(level[limited] <= tops[limited])
    # Its method with a big M needs binary variables.
    solver = cp.HIGHS if method.endswith("big_M") else cp.CLARABEL
    problem = Problem(Leximin([level[i] for i in range(len(members))]), constraints)
    try:
        problem.solve(method=method, solver=solver)
    except Exception as error:
        # Whatever stops a rival inside is a result of the measurement, not of this program.
        raise Failure(f"cvxpy-leximin stopped: {type(error).__name__}: {error}") from None
    if problem.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
        raise Failure(f"cvxpy-leximin ended with status {problem.status!r}")
    levels = np.zeros(instance.n)
    levels[members] = np.array(level.value) * unit
    return levels


IMPROVED = 1e-2
"""Part of the level by which a user has to improve in the water-filling's integer program to be taken for rising: with
less, a thousandth of a class is within the solver's tolerance, and everybody improves on everything."""


def water_filling(instance: Instance, seconds: float) -> np.ndarray:
    """Return leximin levels (n,) by water-filling with one integer program a level, as published for schedulers.

    Each turn maximises the lowest level of those who rise; then an integer program finds the largest set of them that
    can all improve at once while nobody falls, and whoever is not in it is finished (Narayanan et al.,
    Heterogeneity-aware cluster scheduling policies for deep learning workloads, OSDI 2020, on their max-min policy).
    """
    begun = time.perf_counter()
    pairs, rates = _pairs(instance), dominant_rates(instance)
    members, owner = np.unique(pairs.user, return_inverse=True)
    n, unit = len(members), 1 / len(members)
    rows = _capacities(instance, pairs, unit / rates[pairs.user])
    adding = sparse.csr_array((np.ones(len(owner)), (owner, np.arange(len(owner)))))
    tops = (instance.limits * rates)[members] / unit
    held = np.full(n, np.nan)
    while np.isnan(held).any():
        rising = np.isnan(held)
        least = np.where(rising, 0.0, held)
        level = _milp(rows, adding, -rising.astype(float)[:, None], least, tops, np.zeros(1), begun, seconds)[-1]
        least = np.where(rising, level, held) * (1 - DUST**2)
        choose = -IMPROVED * level * np.eye(n)[:, rising]
        improves = _milp(rows, adding, choose, least, tops, np.ones(choose.shape[1]), begun, seconds)
        stopped = np.flatnonzero(rising)[improves[-choose.shape[1] :] < 0.5]
        if not stopped.size:
            raise Failure(f"water-filling: everybody is said to improve on level {level * unit:.6g}")
        held[stopped] = level
    levels = np.zeros(instance.n)
    levels[members] = held * unit
    return levels


def _milp(
    rows: sparse.csr_array,
    adding: sparse.csr_array,
    more: np.ndarray,
    least: np.ndarray,
    tops: np.ndarray,
    whole: np.ndarray,
    begun: float,
    seconds: float,
) -> np.ndarray:
    """Return pairs and the columns of `more`, of which the sum is the largest; those that are `whole` are 0 or 1."""
    pairs, extra = rows.shape[1], more.shape[1]
    matrix = sparse.block_array([[rows, None], [adding, sparse.csr_array(more)]], format="csr")
    upper = np.where(whole.astype(bool), 1.0, np.inf)
    limits = sparse.hstack([adding, sparse.csr_array((len(tops), extra))])
    left = seconds - (time.perf_counter() - begun)
    if left <= 0:
        raise Failure("water-filling ran out of time")
    found = milp(
        np.concatenate([np.zeros(pairs), -np.ones(extra)]),
        constraints=[
            LinearConstraint(
                matrix,
                np.concatenate([np.full(rows.shape[0], -np.inf), least]),
                np.concatenate([np.ones(rows.shape[0]), np.full(len(least), np.inf)]),
            ),
            LinearConstraint(limits, -np.inf, tops),
        ],
        integrality=np.concatenate([np.zeros(pairs), whole]),
        bounds=Bounds(0, np.concatenate([np.full(pairs, np.inf), upper])),
        options={"time_limit": left, "mip_rel_gap": 0.0},
    )
    if found.status != 0:
        raise Failure(f"water-filling: a program ended without an optimum: {found.message}")
    return found.x
