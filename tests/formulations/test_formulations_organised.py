"""The formulations of guarantees, tiers, ceilings and groups, round by round, against the engines."""

import cvxpy as cp
import numpy as np
import pytest

from drfopt import Group, Instance, Organisation
from drfopt import solve as engine

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

SEEDS = range(12)
NEAR = 1e-5  # what a mixed-integer program leaves of a row
POSITIVE = 1e-6  # below it a dual is 0: HiGHS decides on duals to 1e-7


def rounds_of_tiers(lab, data):
    """Solve round by round; only those of the highest tier rise."""
    held = np.full(len(data.demands), np.nan)
    while np.isnan(held).any():
        program = lab.build("guarantees", data, held)
        tasks, levels = lab.solve(program)
        top = np.isnan(held) & (data.tiers == data.tiers[np.isnan(held)].max())
        finished = top & (program.problem.constraints[0].dual_value > POSITIVE)
        if not finished.any():  # nobody can rise above what is promised: who has most of it waits longest
            finished = top
        held[finished] = levels[finished]
    return tasks


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("meaning", ["floor", "normalised"])
def test_guarantees(lab, seed, meaning):
    chance = np.random.default_rng(seed)
    n, m = 5, 3
    d, c = chance.integers(1, 5, (n, m)).astype(float), np.full(m, 40.0)
    guaranteed = chance.integers(1, 6, n) * (chance.random(n) < 0.5)
    tiers = (chance.random(n) < 0.3).astype(int)
    data = lab.make(d, c, limits=np.where(chance.random(n) < 0.5, chance.integers(1, 4, n), np.inf))
    data.tiers, data.counted = tiers, np.array([True, True, seed % 2 == 0])
    data.promised = np.minimum(guaranteed / d[:, 0], data.limits)
    data.units = np.tile(c, (n, 1))
    if meaning == "normalised":
        data.units[guaranteed > 0, 0] = guaranteed[guaranteed > 0]
    names = [f"u{i + 1}" for i in range(n)]
    instance = Instance(
        d,
        c,
        max_tasks=data.limits,
        organisation=Organisation(
            guarantees={u: {"r1": int(g)} for u, g in zip(names, guaranteed, strict=True) if g},
            tiers=dict(zip(names, tiers.tolist(), strict=True)),
            meaning=meaning,
            excluded=[] if data.counted.all() else ["r3"],
        ),
    )
    assert rounds_of_tiers(lab, data) == pytest.approx(engine(instance).tasks, abs=1e-6)


def test_a_ceiling_of_everybody(lab):
    data = lab.make([(1.0, 1.0), (1.0, 0.0)], (10.0, 10.0))
    data.tiers, data.grouped, data.ceilings = np.zeros(2), np.ones((1, 2)), np.array([[4.0, np.inf]])
    assert rounds_of_tiers(lab, data) == pytest.approx((2, 2))


def rounds_of_groups(lab, data):
    """Solve round by round; of all optima of a round the one with the fewest tasks is meant."""
    d, held = data.demands, np.full(len(data.demands), np.nan)
    while np.isnan(held).any():
        problem, x, s = lab.build("hierarchy", data, held)
        best = problem.solve(solver=cp.HIGHS)
        fewest = cp.Problem(cp.Minimize(cp.sum(x)), [*problem.constraints, problem.objective.expr >= best - 1e-7])
        fewest.solve(solver=cp.HIGHS)
        full = d.T @ x.value >= data.capacity * (1 - NEAR)
        stopped = np.isnan(held) & ((d[:, full] > 0).any(axis=1) | (x.value >= data.limits - NEAR))
        assert stopped.any()
        held[stopped] = s.value[stopped]
    return x.value


@pytest.mark.parametrize("seed", SEEDS)
def test_groups(lab, seed):
    chance = np.random.default_rng(seed)
    n, m = 5, 2
    d, c = chance.integers(1, 5, (n, m)).astype(float), np.full(m, 20.0)
    data = lab.make(d, c, limits=np.where(chance.random(n) < 0.4, chance.integers(1, 3, n), np.inf))
    # The tree: a, b, and a/x below a.
    data.group_parent, data.group_weights = np.array([-1, -1, 0]), chance.integers(1, 4, 3).astype(float)
    data.parent = chance.integers(-1, 3, n)
    paths = ["a", "b", "a/x", ""]
    instance = Instance(
        d,
        c,
        max_tasks=data.limits,
        organisation=Organisation(
            paths={f"u{i + 1}": paths[g] for i, g in enumerate(data.parent.tolist())},
            groups=[Group(name, int(w)) for name, w in zip(paths, data.group_weights, strict=False)],
        ),
    )
    assert rounds_of_groups(lab, data) == pytest.approx(engine(instance).tasks, abs=1e-4)
