"""Cross-checks agree on every library instance; they can also disagree, and say when they cannot tell."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drfopt import Group, Machine, Organisation, TaskType
from drfopt.base.errors import PolicyError, SolverError
from drfopt.io import library
from drfopt.model.instance import Instance
from drfopt.model.policies import policy_named
from drfopt.solving.crosschecking import crosscheck
from drfopt.solving.methods import second_methods

DIVISIBLE = ("drf", "asset", "tasks", "ceei", "alpha:2", "utilitarian", "throughput")
WHOLE = ("drf", "asset", "tasks", "ceei", "utilitarian", "throughput")
FORMULATIONS = Path(__file__).resolve().parents[2] / "formulations"


def takes(instance, policy, integer=False):
    chosen = policy_named(policy)
    if "organisation" in instance.features:
        rises = chosen.objective == "leximin" and not integer
        return rises and (policy != "tasks" or instance.organisation.meaning == "floor")
    return chosen.weights != "scalar" or not instance.weights_per_resource


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", library.names())
def test_every_library_instance(name):
    instance = Instance.library(name)
    for policy in filter(lambda policy: takes(instance, policy), DIVISIBLE):
        found = crosscheck(instance, policy)
        assert found.agree is True, (policy, found)
        assert found.max_disagreement <= 1e-9
        assert len([answer for answer in found.methods if answer.levels is not None]) >= 2


LONG = {"sec72"}
"""In whole tasks these take ten seconds."""


@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in library.names()]
)
def test_every_library_instance_in_whole_tasks(name):
    instance = Instance.library(name)
    for policy in filter(lambda policy: takes(instance, policy, integer=True), WHOLE):
        found = crosscheck(instance, policy, integer=True)
        assert found.agree is True, (policy, found)


def test_the_paper_is_computed_five_ways():
    found = crosscheck(Instance.library("nsdi2011"))
    ways = ["filling", "lp-chain", "reference", "one LP a user", "simplex in fractions"]
    assert [answer.engine for answer in found.methods] == ways
    document = found.to_dict()
    assert document["agree"] is True
    assert document["engines"][0]["levels"] == pytest.approx([2 / 3, 2 / 3])
    assert "they agree" in str(found)


def test_it_can_disagree(monkeypatch):
    liar = second_methods.SecondMethod("liar", lambda problem: True, lambda problem: (np.array([0.5, 0.6]), None))
    monkeypatch.setattr(second_methods, "METHODS", (liar,))
    found = crosscheck(Instance.library("nsdi2011"))
    assert found.agree is False
    assert found.max_disagreement == pytest.approx(0.25)
    assert "THEY DISAGREE" in str(found)


def test_whole_tasks_are_compared_exactly(monkeypatch):
    instance = Instance.library("nsdi2011")
    right = next(method for method in second_methods.METHODS if method.name == "enumeration")

    def worse(problem):
        levels, value = right.compute(problem)
        return levels, (*value[:-1], value[-1] - type(value[-1])(1, 10**30))

    monkeypatch.setattr(second_methods, "METHODS", (replace(right, compute=worse),))
    assert crosscheck(instance, integer=True).agree is False


def test_one_way_alone_is_no_agreement(monkeypatch):
    def fails(problem):
        raise SolverError("no luck today")

    monkeypatch.setattr(
        second_methods, "METHODS", (second_methods.SecondMethod("unlucky", lambda problem: True, fails),)
    )
    found = crosscheck(Instance.library("nsdi2011"), "utilitarian")
    assert found.agree is None
    assert found.max_disagreement is None
    assert "no luck today" in str(found)
    assert "fewer than two independent computations: no answer of unlucky beside" in str(found)
    alone = crosscheck(Instance.library("nsdi2011"), str(FORMULATIONS / "drf.py"))
    assert alone.agree is None
    assert "undecided" in str(alone)


def test_where_a_formulation_is_the_only_second_author_it_is_named():
    groups = Organisation(paths={"A": "g", "B": "h"}, groups=[Group("g"), Group("h")])
    found = crosscheck(Instance({"A": {"a": 1}, "B": {"a": 1}}, {"a": 3}, organisation=groups), integer=True)
    assert found.agree is None
    assert "can take this instance: a formulation would be one more" in str(found)


def test_what_no_policy_can_take():
    with pytest.raises(PolicyError, match="one weight a user"):
        crosscheck(Instance.library("vector-weights"), "ceei")


def test_a_count_of_tasks_binds_the_second_solver_too():
    instance = Instance({"A": [TaskType({"mem": 1}, 3)], "B": {"mem": 2}}, machines=[Machine("m", {"mem": 4})])
    found = crosscheck(instance, "throughput", integer=True)
    assert found.agree and {row.engine for row in found.methods} >= {"CBC", "enumeration"}


def test_fractions_and_floats_are_compared_by_user():
    assert crosscheck(library.load("drfh-two-servers"), "per-server", exact=True).agree


def test_a_file_by_itself_is_undecided_and_says_why(tmp_path):
    file = tmp_path / "most.py"
    file.write_text(
        "import cvxpy as cp\nfrom collections import namedtuple\nBuilt = namedtuple('Built', 'problem tasks levels')\n"
        "def build(data, held):\n    x = cp.Variable(len(data.limits), nonneg=True)\n"
        "    fits = [data.demands.T @ x <= data.capacity]\n"
        "    return Built(cp.Problem(cp.Maximize(cp.sum(x)), fits), x, None)\n"
    )
    found = crosscheck(Instance([[1]], [2]), str(file))
    assert found.agree is None
    assert "nothing but itself computes; --formulation names a second file" in str(found)
    assert crosscheck(Instance([[1]], [2]), str(file), formulation=str(file)).agree
