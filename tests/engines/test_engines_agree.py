"""Engine = reference = slow method = formulation, on degenerate random clusters."""

from pathlib import Path

import numpy as np
import pytest
from clusters import clusters, pools
from hypothesis import given, settings

from drfopt.engines.reference.path_filling import progressive_filling
from drfopt.model.policies import policy_named
from drfopt.solving.allocating import solve
from drfopt.solving.crosschecking import crosscheck
from drfopt.solving.methods import slow_chain

FORMULATIONS = Path(__file__).resolve().parents[2] / "formulations"


def exact_levels(instance, name):
    policy = policy_named(name)
    rates = policy.exact_rates(instance)
    tasks = progressive_filling(instance.exact_demands, instance.exact_capacity, rates, instance.exact_limits)
    return np.array([float(rate * x) for rate, x in zip(rates, tasks, strict=True)])


@pytest.mark.parametrize("engine", ["filling", "lp-chain"])
@pytest.mark.parametrize("policy", ["drf", "asset", "tasks"])
@settings(max_examples=40)
@given(instance=pools())
def test_leximin_in_a_pool_is_the_reference(instance, policy, engine):
    allocation = solve(instance, policy, engine=engine)
    assert allocation.levels == pytest.approx(exact_levels(instance, policy), rel=1e-12, abs=1e-300)
    assert allocation.certificate.valid
    assert allocation.certificate.violation <= 1e-12


@settings(max_examples=60)
@given(instance=pools())
def test_rational_answers_are_the_reference(instance):
    exact = solve(instance, "drf", exact=True)
    assert exact.levels.astype(float) == pytest.approx(exact_levels(instance, "drf"), rel=1e-15, abs=1e-300)


@pytest.mark.parametrize("policy", ["drf", "asset", "tasks", "tsf"])
@settings(max_examples=15)
@given(instance=clusters())
def test_leximin_on_machines_is_the_slow_chain(instance, policy):
    allocation = solve(instance, policy)
    assert allocation.certificate.kind == "chain"
    assert allocation.levels == pytest.approx(slow_chain.levels(instance, policy), rel=1e-9, abs=1e-12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("policy", ["ceei", "alpha:2", "alpha:0.5"])
@pytest.mark.parametrize("strategy", [pools, clusters])
def test_markets_by_two_methods(policy, strategy):
    @settings(max_examples=25)
    @given(instance=strategy(6))
    def check(instance):
        one, other = solve(instance, policy, engine="barrier"), solve(instance, policy, engine="conic")
        assert one.levels == pytest.approx(other.levels, rel=1e-8, abs=1e-12)
        assert max(one.certificate.violation, other.certificate.violation) <= 1e-9

    check()


@pytest.mark.parametrize("policy", ["utilitarian", "throughput", "alpha:0"])
@settings(max_examples=25)
@given(instance=clusters(5))
def test_sums_by_two_methods(instance, policy):
    assert crosscheck(instance, policy).agree is True


@pytest.mark.sampled(2)
@pytest.mark.parametrize("policy", ["drf", "asset", "tasks", "ceei", "utilitarian", "throughput"])
@pytest.mark.parametrize("strategy", [pools, clusters])
def test_whole_tasks_are_the_best_of_all(policy, strategy):
    @settings(max_examples=12)
    @given(instance=strategy(4))
    def check(instance):
        found = crosscheck(instance, policy, integer=True)
        assert found.agree is not False
        given_up = {answer.engine: answer.reason for answer in found.methods if answer.reason}
        assert not given_up

    check()


@pytest.mark.parametrize(
    ("file", "policy"), [("drf.py", "drf"), ("asset.py", "asset"), ("tsf.py", "tsf"), ("ceei.py", "ceei")]
)
@pytest.mark.parametrize("strategy", [pools, clusters])
def test_formulations_say_the_same(file, policy, strategy):
    # A conic solver's tasks are good to about 1e-4 only; linear programs to its tolerance.
    accuracy = 2e-3 if policy == "ceei" else 1e-6

    @settings(max_examples=8)
    @given(instance=strategy(4))
    def check(instance):
        stated = solve(instance, str(FORMULATIONS / file))
        ours = solve(instance, policy)
        assert np.sort(policy_named(policy).rates(instance) * stated.tasks) == pytest.approx(
            np.sort(ours.levels), rel=accuracy, abs=accuracy * 1e-2
        )

    check()


def test_alpha_tends_from_utilitarian_to_drf(paper):
    assert solve(paper, "alpha:0").dominant_shares.sum() == pytest.approx(16 / 11)
    assert solve(paper, "alpha:1").tasks == pytest.approx(solve(paper, "ceei").tasks, rel=1e-12)
    assert solve(paper, "alpha:60").dominant_shares == pytest.approx([2 / 3, 2 / 3], rel=0.02)


def test_units_do_not_matter(paper):
    from drfopt.model.instance import Instance

    demands, capacity = paper.demands * [1e-6, 2**40], paper.capacity * [1e-6, 2**40]
    for policy in ("drf", "asset", "ceei", "utilitarian"):
        assert solve(Instance(demands, capacity), policy).tasks == pytest.approx(solve(paper, policy).tasks, rel=1e-12)
