"""Policies side by side: prices of fairness, refusals with their reasons, failures that are not refusals."""

import json
import sys

import pytest

from drfopt.base.errors import PolicyError, TimeLimitError
from drfopt.model.instance import Instance
from drfopt.solving.comparing import compare


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
