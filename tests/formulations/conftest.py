"""Instances as plain arrays, solvers, and the loop around the one-round files."""

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

from formulations import rounds


def make(
    demands, capacity=None, *, machines=None, counts=None, eligible=None, weights=1.0, limits=np.inf, devices=None
):
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
    if devices is not None:
        data.devices = np.array(devices)
        data.device_size = np.where(data.devices > 0, data.machines / np.maximum(data.devices, 1), 1.0)
    return data


def build(name, data, held=None):
    """Build the program of one file; everybody rises unless `held` says otherwise."""
    held = np.full(len(data.demands), np.nan) if held is None else np.array(held, dtype=float)
    return import_module(f"formulations.{name}").build(data, held)


def leximin(name, data):
    """Run a leximin file to its end; return the tasks and the number of rounds."""
    steps = rounds.steps(import_module(f"formulations.{name}").build, data)
    return steps[-1].tasks, len(steps)


def whole_leximin(name, data):
    """Return the sorted levels of a whole-task leximin."""
    return sorted(rounds.steps(import_module(f"formulations.{name}").build, data)[-1].levels.round(9))


@pytest.fixture
def lab():
    """Hand the functions above to a test."""
    return SimpleNamespace(make=make, build=build, solve=rounds.solve, leximin=leximin, whole_leximin=whole_leximin)
