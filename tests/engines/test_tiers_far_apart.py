"""Markets and sums in turn, of numbers many magnitudes apart: what is a rounding of some is all that others have."""

import pytest

from drfopt import solve
from drfopt.io.native.reading import built
from drfopt.solving.verifying import verify


def cluster(**entries):
    return built(entries, "far apart")


def with_little_left(policy):
    """The first tier leaves to another what its own sum or demand rounds away."""
    if policy == "utilitarian":
        users = [{"name": "A", "demand": {"a": 2e6, "b": 6e-8}, "weight": 0}, {"name": "B", "demand": {"b": 1}}]
        return cluster(capacity={"a": 1e8, "b": 1703.19}, users=users)
    users = [{"name": "A", "demand": {"a": 2e-5, "b": 1}}, {"name": "B", "demand": {"a": 2e-5}, "tier": 1}]
    return cluster(capacity={"a": 10.6, "b": 6e-4}, users=users)


@pytest.mark.parametrize("policy", ["utilitarian", "throughput"])
def test_the_exact_answer_is_proven_and_not_its_rounding(policy):
    found = solve(with_little_left(policy), policy)
    exact = solve(with_little_left(policy), policy, exact=True)
    assert found.tasks.tolist() == [float(x) for x in exact.tasks]
    assert found.certificate.valid and found.certificate.rigorous
    assert verify(found).valid is True


def test_floats_that_the_verifier_leaves_open_are_asked_for_in_fractions():
    users = [
        {"name": "A", "demand": {"a": 1}},
        {"name": "B", "demand": {"a": 90000}, "tier": 1, "guarantee": {"a": 1e-8}},
        {"name": "C", "demand": {"a": 10000}, "guarantee": {"a": 2e-4}},
    ]
    found = solve(cluster(capacity={"a": 5.76e-5}, users=users), "throughput")
    assert verify(found).valid is True


@pytest.mark.parametrize("policy", ["ceei", "alpha:2", "alpha:0.5"])
@pytest.mark.parametrize("there", ["0.0006", "0.000007"])
def test_nobody_is_stopped_whose_machines_are_its_own(policy, there):
    """Of b one machine has next to nothing, and that is all that B may use."""
    machines = [
        {"name": "m", "capacity": {"a": "0.0026", "b": 1000000}},
        {"name": "n", "capacity": {"a": 1, "b": there}},
    ]
    users = [
        {"name": "A", "demand": {"a": "7e-7", "b": "0.02"}, "tier": 1, "machines": ["m"]},
        {"name": "B", "demand": {"b": "2e-8"}, "machines": ["n"]},
    ]
    found = solve(cluster(machines=machines, users=users), policy)
    assert found.tasks == pytest.approx([26000 / 7, float(there) / 2e-8], rel=1e-9)
    assert verify(found).valid is True


@pytest.mark.parametrize(("policy", "limit"), [("alpha:0.5", True), ("alpha:2", False)])
def test_a_small_machine_stays_full_on_which_next_to_nothing_of_a_users_tasks_runs(policy, limit):
    machines = [{"name": "m", "capacity": {"a": 1e6}}, {"name": "n", "capacity": {"a": 7e-7}}]
    users = [{"name": "A", "demand": {"a": 1e-9}, "max_tasks": 50000}, {"name": "B", "demand": {"a": 1}, "weight": 0}]
    if not limit:
        machines = [{"name": "m", "capacity": {"a": 8e5}}, {"name": "n", "count": 2, "capacity": {"a": 0.08}}]
        users = [{"name": "A", "demand": {"a": 1}}, {"name": "B", "demand": {"a": 7e-7}, "tier": 2}]
    assert verify(solve(cluster(machines=machines, users=users), policy)).valid is True
