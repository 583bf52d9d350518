"""Policies side by side: prices of fairness, refusals with their reasons, failures that are not refusals."""

import json
import sys
from fractions import Fraction

import pytest

from drfopt.base.errors import PolicyError, TimeLimitError
from drfopt.model.instance import Instance
from drfopt.model.organisation import Group, Organisation
from drfopt.solving.comparing import compare
from drfopt.solving.crosschecking import crosscheck
from drfopt.solving.scheduling import schedule


@pytest.fixture(scope="module")
def paper():
    return Instance.library("nsdi2011")


def test_the_paper(paper):
    found = compare(paper)
    assert [a.policy for a in found.allocations] == ["drf", "asset", "ceei"]
    assert found.price_of_fairness == pytest.approx({"drf": 1 - (4 / 3) / (16 / 11), "asset": 0.12, "ceei": 0})
    document = json.loads(json.dumps(found.to_dict()))
    assert set(document) == {"schema", "instance", "allocations", "price_of_fairness"}
    assert "price of" in str(found)


def test_whole_tasks_have_their_own_price(paper):
    found = compare(paper, ["drf", "throughput", "utilitarian"], integer=True)
    assert found.price_of_fairness["utilitarian"] == 0
    assert all(0 <= price < 1 for price in found.price_of_fairness.values())


def test_a_policy_that_does_not_apply_is_a_row():
    found = compare(Instance.library("vector-weights"), ["drf", "ceei", "single:gpu"])
    assert set(found.refusals) == {"ceei", "single:gpu"}
    assert not found.failed
    assert "one weight a user" in str(found)
    assert set(found.to_dict()["refusals"]) == {"ceei", "single:gpu"}


def test_an_unknown_policy_is_an_error(paper):
    with pytest.raises(PolicyError, match="no policy 'drff': did you mean 'drf'"):
        compare(paper, ["drf", "drff"])
    with pytest.raises(PolicyError, match="no policies are given"):
        compare(paper, [])


def test_nothing_left_is_an_error():
    with pytest.raises(PolicyError, match="no policy could take the instance; ceei takes one weight a user"):
        compare(Instance.library("vector-weights"), ["ceei", "tasks"])


def test_a_solver_that_fails_is_a_failure(monkeypatch, paper):
    # The package's attribute of this name is the function; the module is found by its import name.
    module = sys.modules["drfopt.solving.comparing"]
    real = module.solve

    def tired(instance, policy, **options):
        if policy == "asset":
            raise TimeLimitError("the time limit ran out", "nothing is known")
        return real(instance, policy, **options)

    monkeypatch.setattr(module, "solve", tired)
    found = compare(paper, ["drf", "asset"])
    assert found.failed
    assert "time limit" in found.refusals["asset"]
    with pytest.raises(TimeLimitError):
        compare(paper, ["asset"])


def test_what_is_excluded_from_shares_is_no_dominant_share():
    rules = Organisation(excluded=["net"])
    demands = {"a": {"cpu": 1, "net": 1}, "b": {"cpu": 1, "net": 9}}
    cluster = Instance(demands, {"cpu": 4, "net": 10}, organisation=rules)
    found = compare(cluster, ["throughput", "utilitarian"])
    for allocation in found.allocations:
        assert allocation.dominant_resources == ("cpu", "cpu")
        assert allocation.dominant_shares == pytest.approx(allocation.tasks / 4)
    assert found.price_of_fairness == {"throughput": 0, "utilitarian": 0}
    assert [step.dominant_shares[step.user] for step in schedule(cluster).trace] == [Fraction(1, 4)] * 2


def test_a_price_below_nothing_under_rules_is_told():
    # The promise is divided by each policy in its own way, and what it leaves to `utilitarian` bears no larger sum.
    rules = Organisation(paths={"a": "g", "b": "g"}, groups=[Group("g", guarantee={"x": 1})])
    found = compare(
        Instance({"a": {"y": 1}, "b": {"x": 1, "y": 1}}, {"x": 2, "y": 3}, organisation=rules), ["throughput"]
    )
    assert found.price_of_fairness["throughput"] == pytest.approx(-1 / 15)
    assert "price of fairness = 1 - sum of shares / sum under utilitarian" in str(found)
    assert "price of fairness = 1 - sum of shares / largest possible sum" in str(compare(Instance([[1]], [1])))


def test_who_needs_what_there_is_none_of_and_what_is_excluded_pays_nothing():
    rules = Organisation(guarantees={"u": {"c": 1}}, excluded=["b"])
    cluster = Instance({"u": {"c": 1}, "v": {"a": 1, "b": 1}}, {"a": 0, "b": 4, "c": 1}, organisation=rules)
    assert compare(cluster, ["ceei"]).allocations[0].tasks.tolist() == [1, 0]


def test_levels_below_0_stand_in_the_table_of_a_cross_check_and_who_is_unplaced_does_not():
    rules = Organisation(guarantees={"a": {"x": 4}, "b": {"x": 4}}, meaning="surplus")
    demands = {"a": {"x": 1}, "b": {"x": 1}, "c": {"y": 1}}
    found = crosscheck(Instance(demands, {"x": 2, "y": 0}, organisation=rules))
    assert found.agree
    assert {row[1:3] for row in found.sheet().rows} == {("-1.5", "-3")}
