"""What the package certifies, in floats or in fractions, the standalone verifier accepts from the file alone."""

import json

import pytest
from clusters import clusters, pools
from hypothesis import given, settings

from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import loads, verify
from drfopt.model.document import document
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.solving.allocating import solve

POLICIES = ["drf", "asset", "tasks", "ceei", "alpha:2", "alpha:0.5", "utilitarian", "throughput"]


def faults(report):
    return [check for check in report.checks if not check.holds]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("strategy", [pools, clusters])
def test_certificate_files_are_accepted(policy, strategy):
    @settings(max_examples=25)
    @given(instance=strategy(6))
    def check(instance):
        for exact in (False, True):
            allocation = solve(instance, policy, exact=exact)
            text = json.dumps(certificate_document(allocation))
            report = verify(loads(text), document(instance))
            assert report.valid is True, faults(report)
            assert report.accuracy == 0 or not exact

    check()


@pytest.mark.parametrize(
    ("policy", "small"),
    [
        ("drf", Machine("m2", {"a": 0.01})),
        ("asset", Machine("m2", {"a": 0.01})),
        ("tasks", Machine("m2", {"a": 0.01}, 2)),
    ],
)
def test_a_class_that_is_next_to_nothing_has_a_price_too(policy, small):
    """Without it who may use it would cost nothing: 1e-7 of the cluster is full like the rest."""
    users = [{"a": 0.01}, {"a": 0.01}, {"a": 0.03}, {"a": 0.01}]
    instance = Instance(users, machines=[Machine("m1", {"a": 100}, 1000), small], max_tasks=[1, None, None, None])
    report = verify(loads(json.dumps(certificate_document(solve(instance, policy)))))
    assert report.valid, str(report)


@pytest.mark.parametrize("policy", POLICIES)
def test_what_solve_prints_of_a_pool_is_enough(policy):
    @settings(max_examples=25)
    @given(instance=pools(6))
    def check(instance):
        printed = loads(json.dumps(solve(instance, policy).to_dict()))
        report = verify(printed, document(instance))
        assert report.valid is True, faults(report)

    check()


@settings(max_examples=25)
@given(instance=clusters(5))
def test_what_solve_prints_of_machines_lacks_the_rounds(instance):
    printed = loads(json.dumps(solve(instance, "drf").to_dict()))
    report = verify(printed, document(instance))
    # Where limits finish everybody, no rounds are needed.
    assert report.valid in (None, True)
    assert {check.name for check in faults(report)} <= {"everybody is at its limit or finished once"}


@pytest.mark.parametrize("policy", ["drf", "ceei", "utilitarian"])
def test_whole_tasks_of_small_pools_are_searched(policy, paper):
    allocation = solve(paper, policy, integer=True)
    assert verify(loads(json.dumps(certificate_document(allocation)))).valid is True
