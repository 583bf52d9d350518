"""Instances as plain arrays, solvers, and the leximin loop around the one-round files."""

from importlib import import_module
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pulp
import pytest

POSITIVE = 1e-6  # below it a dual is 0: HiGHS decides on duals to 1e-7, and those of these instances are near 1


def make(demands, capacity=None, *, machines=None, counts=None, eligible=None, weights=1.0, limits=np.inf):
    """Return the `data` of the protocol; `eligible` is narrowed to the classes on which a whole task fits."""
    d, w = np.array(demands, dtype=float), np.array(weights, dtype=float)
    data = SimpleNamespace(machines=None, counts=None, eligible=None, demands=d)
    data.weights = np.broadcast_to(w[:, None] if w.ndim == 1 else w, d.shape)
    data.limits = np.broadcast_to(np.array(limits, dtype=float), len(d))
    if machines is None:
        data.capacity = np.array(capacity, dtype=float)
        return data
    data.machines = np.array(machines, dtype=float)
    data.counts = np.ones(len(data.machines), dtype=int) if counts is None else np.array(counts)
    data.capacity = data.counts @ data.machines
    data.eligible = (d[:, None, :] <= data.machines).all(axis=2)
    if eligible is not None:
        data.eligible &= np.array(eligible, dtype=bool)
    return data


def build(name, data, held=None):
    """Build the program of one file; everybody rises unless `held` says otherwise."""
    held = np.full(len(data.demands), np.nan) if held is None else np.array(held, dtype=float)
    return import_module(f"formulations.{name}").build(data, held)


def solve(program):
    """Solve a program; return its tasks and its levels (None for a notion that is solved once)."""
    if isinstance(program.problem, pulp.LpProblem):
        assert pulp.LpStatus[program.problem.solve(pulp.HiGHS(msg=False, gapRel=0, gapAbs=0))] == "Optimal"
        tasks = np.array([x.value() for x in program.tasks])
        assert np.allclose(tasks, tasks.round(), rtol=0, atol=1e-6)
        return tasks.round(), None if program.levels is None else np.array([s.value() for s in program.levels])
    program.problem.solve(solver=cp.HIGHS if program.problem.is_qp() else cp.CLARABEL)
    assert program.problem.status == cp.OPTIMAL
    return program.tasks.value, None if program.levels is None else program.levels.value


def leximin(name, data):
    """Run a divisible leximin file to its end; return the tasks and the number of rounds."""
    held, rounds = np.full(len(data.demands), np.nan), 0
    while np.isnan(held).any():
        program, rising, rounds = build(name, data, held), np.isnan(held), rounds + 1
        tasks, levels = solve(program)
        finished = rising & (program.problem.constraints[0].dual_value > POSITIVE)
        assert finished.any()
        held[finished] = levels[rising].min()
    return tasks, rounds


def whole_leximin(name, data, held=None):
    """Return the sorted levels of a whole-task leximin, trying each way to hold a user at a round's level."""
    held = np.full(len(data.demands), np.nan) if held is None else held
    rising = np.isnan(held)
    _, levels = solve(build(name, data, held))
    if not rising.any():
        return sorted(levels.round(9))
    t = levels[rising].min()
    ways = [np.where(np.arange(len(held)) == i, t, held) for i in np.flatnonzero(rising)]
    return max(whole_leximin(name, data, way) for way in ways)


@pytest.fixture
def lab():
    """Hand the functions above to a test."""
    return SimpleNamespace(make=make, build=build, solve=solve, leximin=leximin, whole_leximin=whole_leximin)
