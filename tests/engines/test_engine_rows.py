"""The matrices of engines and formulations are the same: at any point they fill every capacity alike."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from drfopt.engines.linear_programs import capacity_rows
from drfopt.engines.problem import Problem
from drfopt.engines.registry import engine_for
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.policies import policy_named

FORMULATIONS = Path(__file__).resolve().parents[2] / "formulations"


def build(file, problem, held):
    spec = importlib.util.spec_from_file_location(file, FORMULATIONS / f"{file}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    instance, members = problem.instance, problem.members
    data = SimpleNamespace(
        demands=instance.demands[members],
        capacity=instance.capacity,
        machines=instance.machine_capacity,
        counts=instance.counts,
        eligible=None if instance.fits is None else instance.fits[members],
        weights=np.broadcast_to(instance.weights[:, None], (instance.n, instance.m))[members],
        limits=problem.limits,
    )
    return module.build(data, held)


def cluster(machines):
    rng = np.random.default_rng(7)
    demands = rng.integers(0, 4, (5, 3)).astype(float)
    demands[:, 0] += 1
    weights = np.array([1.0, 2.0, 1.0, 0.5, 1.0])
    if not machines:
        return Instance(demands, np.array([9.0, 18.0, 7.0]), weights=weights, max_tasks=[2, np.inf, np.inf, 1, np.inf])
    classes = [Machine("a", [4.0, 6.0, 5.0], 2), Machine("b", [8.0, 3.0, 3.0], 3)]
    eligible = np.array([[True, True], [True, False], [True, True], [False, True], [True, True]])
    return Instance(demands, machines=classes, weights=weights, eligible=eligible)


@pytest.mark.parametrize("machines", [False, True], ids=["pool", "machines"])
@pytest.mark.parametrize(("file", "policy"), [("drf", "drf"), ("asset", "asset"), ("tsf", "tsf"), ("ceei", "ceei")])
def test_every_capacity_is_filled_alike(file, policy, machines):
    problem = Problem(cluster(machines), policy_named(policy))
    built = build(file, problem, np.full(problem.n, np.nan))
    rng = np.random.default_rng(1)
    user, machine = problem.pairs
    rows = capacity_rows(problem)
    for _ in range(5):
        for variable in built.problem.variables():
            variable.value = rng.random(variable.shape)
        placed = next(v.value for v in built.problem.variables() if v.shape == (problem.n, problem.k))
        # What is not eligible is held at 0 by a row of its own in the formulation.
        allowed = np.zeros((problem.n, problem.k))
        allowed[user, machine] = 1
        for variable in built.problem.variables():
            if variable.shape == (problem.n, problem.k):
                variable.value = placed * allowed
        total = (placed * allowed).sum(axis=1)
        # Tasks of a pair: the user's tasks in the proportion of her placement.
        amounts = (built.tasks.value / total)[user] * (placed * allowed)[user, machine]
        ours = rows.spread(rows.matrix @ amounts, problem.k, problem.m)
        sides = [c.args[0].value for c in built.problem.constraints if c.args[0].shape == (problem.k, problem.m)]
        assert any(np.allclose(side, ours, rtol=1e-12) for side in sides)
        if built.levels is not None:
            assert built.levels.value == pytest.approx(problem.rates * built.tasks.value, rel=1e-12)


def test_rows_of_the_paper_by_hand():
    problem = Problem(Instance.library("nsdi2011"), policy_named("drf"))
    assert capacity_rows(problem).matrix.toarray() == pytest.approx(np.array([[1 / 9, 3 / 9], [4 / 18, 1 / 18]]))
    assert problem.rates == pytest.approx([4 / 18, 3 / 9])


def test_sparse_clusters_of_users_who_need_different_resources_are_solved_inside():
    random = np.random.default_rng(1)
    demands = random.integers(1, 100, (400, 4))
    eligible = np.arange(18)[None, :] // 3 == (np.arange(400) % 6)[:, None]
    machines = [Machine(f"c{k}", random.integers(500, 2_000, 4) * 20) for k in range(18)]
    drf = policy_named("drf")
    alike = Problem(Instance(demands, machines=machines, eligible=eligible), drf)
    assert engine_for("auto", alike).name == "lp-chain"
    unlike = Problem(
        Instance(demands * (random.random((400, 4)) < 0.4) + [1, 0, 0, 0], machines=machines, eligible=eligible), drf
    )
    assert engine_for("auto", unlike).name == "interior-chain"


def test_sparse_clusters_whose_users_have_next_to_no_choice_go_to_simplex():
    random = np.random.default_rng(2)
    demands = random.integers(1, 100, (600, 4)) * (random.random((600, 4)) < 0.4) + [1, 0, 0, 0]
    machines = [Machine(f"c{k}", random.integers(500, 2_000, 4) * 20) for k in range(90)]
    eligible = (np.arange(600)[:, None] + np.arange(90)[None, :]) % 45 == 0
    drf = policy_named("drf")
    assert engine_for("auto", Problem(Instance(demands, machines=machines, eligible=eligible), drf)).name == "lp-chain"
    eligible |= (np.arange(600)[:, None] + np.arange(90)[None, :]) % 18 == 0
    assert engine_for("auto", Problem(Instance(demands, machines=machines, eligible=eligible), drf)).name != "lp-chain"
