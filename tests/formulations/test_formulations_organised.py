"""The formulations of guarantees, tiers, ceilings and groups, round by round, against the engines."""

from pathlib import Path
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest

from drfopt import Group, Instance, Organisation, compare, crosscheck
from drfopt import solve as engine
from drfopt.base.errors import CertificateError, DrfoptError, FormulationError
from formulations import guarantees_integer, rounds

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

SEEDS = range(12)


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
    assert lab.leximin("guarantees", data)[0] == pytest.approx(engine(instance).tasks, rel=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_guarantees_of_whole_tasks(lab, seed):
    chance = np.random.default_rng(seed)
    d, c = chance.integers(1, 4, (3, 2)).astype(float), np.full(2, 12.0)
    guaranteed, tiers = chance.integers(0, 5, 3), (chance.random(3) < 0.4).astype(int)
    data = lab.make(d, c, limits=np.where(chance.random(3) < 0.5, chance.integers(1, 4, 3), np.inf))
    data.tiers, data.promised = tiers, np.minimum(guaranteed / d[:, 0], data.limits)
    data.grouped, data.ceilings = np.ones((1, 3)), np.array([[9.0, np.inf]])
    names = ["u1", "u2", "u3"]
    rules = Organisation(
        guarantees={u: {"r1": int(g)} for u, g in zip(names, guaranteed, strict=True) if g},
        tiers=dict(zip(names, tiers.tolist(), strict=True)),
        paths=dict.fromkeys(names, "g"),
        groups=[Group("g", ceiling={"r1": 9})],
    )
    found = engine(Instance(d, c, max_tasks=data.limits, organisation=rules), integer=True)
    stated, whole = rounds.steps(guarantees_integer.build, data)[-1].tasks, np.floor(data.promised)

    def values(tasks):
        parts = np.where(tasks < whole, tasks / np.maximum(whole, 1) - 9, -tiers + (d / c).max(axis=1) * tasks / 9)
        return sorted(parts)

    assert values(stated) == pytest.approx(values(found.tasks))


def test_a_ceiling_of_everybody(lab):
    data = lab.make([(1.0, 1.0), (1.0, 0.0)], (10.0, 10.0))
    data.tiers, data.grouped, data.ceilings = np.zeros(2), np.ones((1, 2)), np.array([[4.0, np.inf]])
    assert lab.leximin("guarantees", data)[0] == pytest.approx((2, 2))


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
    assert lab.leximin("hierarchy", data)[0] == pytest.approx(engine(instance).tasks, rel=1e-8)


# ---- the files where a policy has a name ---------------------------------------------------------------------------

FOLDER = Path(__file__).resolve().parents[2] / "formulations"
GUARANTEES, HIERARCHY = str(FOLDER / "guarantees.py"), str(FOLDER / "hierarchy.py")
RULES = {  # what a row of guarantees.py is about, all at once, and each letter of it
    "guarantees": {"c": {"mem": 4}, "a": {"cpu": 5}},
    "tiers": {"a": 1},
    "excluded": ["disk"],
    "meaning": "normalised",
}


def company(weights=None, **rules):
    return Instance(
        {"a": {"cpu": 1, "mem": 2, "disk": 1}, "b": {"cpu": 2, "mem": 1}, "c": {"cpu": 1, "mem": 1}},
        {"cpu": 20, "mem": 30, "disk": 10},
        max_tasks={"a": 6},
        weights=weights,
        organisation=Organisation(**rules),
    )


@pytest.mark.parametrize(
    "instance",
    [
        Instance.library("guarantee-floor"),
        company(**RULES),
        company(**RULES, weights={"b": 0}),
        company(guarantees=RULES["guarantees"]),
        company(paths=dict.fromkeys("abc", "all"), groups=[Group("all", ceiling={"cpu": 9})]),
        Instance([[1, 2], [2, 1]], machines=[[4, 6], [6, 4]], organisation=Organisation(guarantees={"u1": {"r1": 4}})),
    ],
    ids=["library", "all at once", "weight 0", "floor", "ceiling", "machines"],
)
def test_guarantees_are_solved_and_cross_checked(instance):
    found = crosscheck(instance, "drf", formulation=GUARANTEES)
    assert found.agree is True
    assert found.methods[-1].levels is not None and found.max_disagreement < 1e-9


@pytest.mark.parametrize("name", ["hdrf-blocking", "hdrf-rescaling", "hdrf-starvation", "hdrf-collapsed"])
def test_hierarchies_are_solved_and_cross_checked(name):
    found = crosscheck(Instance.library(name), "drf", formulation=HIERARCHY)
    assert found.agree is True
    assert found.methods[-1].levels is not None
    compared = compare(Instance.library(name), ["drf", HIERARCHY])
    assert compared[HIERARCHY].tasks == pytest.approx(compared["drf"].tasks)


@pytest.mark.parametrize(
    "instance, file, words",
    [
        (Instance.library("hdrf-blocking"), GUARANTEES, r"groups \(data.parent\)"),
        (Instance.library("guarantee-floor"), HIERARCHY, r"guarantees \(data.promised\)"),
        (Instance.library("kueue-borrowing"), GUARANTEES, r"guarantees above which levels are measured"),
        (company(tiers={"a": 1}), str(FOLDER / "drf.py"), "tiers, or weights of 0"),
        (company(excluded=["disk"]), str(FOLDER / "ceei.py"), "resources that do not count"),
        (
            company(paths=dict.fromkeys("abc", "all"), groups=[Group("all", ceiling={"cpu": 9})]),
            str(FOLDER / "drf_integer.py"),
            "ceilings of groups",
        ),
        (company(paths={"a": "x"}, groups=[Group("x", tier=2)]), HIERARCHY, "tiers of groups"),
        (company(paths={"a": "x"}, tiers=dict.fromkeys("abc", 1)), HIERARCHY, "tiers, or weights of 0"),
        (
            company(paths={"a": "x"}, groups=[Group("x", guarantee={"cpu": 1})], meaning="surplus"),
            str(FOLDER / "market_integer.py"),
            r"guarantees of groups above which their levels are measured \(data.group_surplus\)",
        ),
        (Instance([[1, 1]], machines=[[4, 6]]), HIERARCHY, "stated in one pool"),
        (company(guarantees={"a": {"cpu": 6}, "b": {"cpu": 20}}), GUARANTEES, "guarantees must fit together"),
    ],
)
def test_what_a_file_does_not_know_is_refused_and_not_passed_over(instance, file, words):
    with pytest.raises(DrfoptError, match=words) as refused:
        engine(instance, file)
    assert "\n" not in str(refused.value)


def ignores_the_ceiling(data, held):
    assert data.grouped.all() and data.ceilings.shape == (1, 3)
    x = cp.Variable(len(data.demands), nonneg=True)
    rows = [data.demands.T @ x <= data.capacity, x <= np.where(np.isfinite(data.limits), data.limits, 1e6)]
    return SimpleNamespace(problem=cp.Problem(cp.Maximize(cp.sum(x)), rows), tasks=1 * x, levels=None)


def test_what_is_forbidden_is_checked_whatever_a_file_says():
    instance = company(paths=dict.fromkeys("abc", "all"), groups=[Group("all", ceiling={"cpu": 9})])
    with pytest.raises(CertificateError, match="ceiling of group 'all' for 'cpu', 9, is exceeded"):
        engine(instance, ignores_the_ceiling)


def stops_nobody(data, held):
    round_ = ignores_the_ceiling(data, held)
    return SimpleNamespace(**vars(round_) | {"levels": 1 * round_.tasks, "finished": lambda: np.zeros(3, dtype=bool)})


def says_nothing(data, held):
    return SimpleNamespace(**vars(stops_nobody(data, held)) | {"finished": lambda: np.ones(2)})


@pytest.mark.parametrize("build, words", [(stops_nobody, "calls nobody finished"), (says_nothing, "True or False")])
def test_a_round_that_is_wrong_about_who_is_finished(build, words):
    instance = company(paths=dict.fromkeys("abc", "all"), groups=[Group("all", ceiling={"cpu": 9})])
    with pytest.raises(FormulationError, match=words):
        engine(instance, build)
