"""Notions for machines: every server by itself, parts of the tasks run alone; against the reference and by hand."""

from fractions import Fraction

import numpy as np
import pytest
from clusters import clusters, pools
from hypothesis import given, settings

from drfopt.base.errors import PolicyError
from drfopt.base.tolerances import LEVEL
from drfopt.certificates import bottleneck
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.policies import policy_named
from drfopt.solving.allocating import solve
from drfopt.solving.crosschecking import crosscheck
from drfopt.solving.verifying import verify


def unlimited(instance):
    """Return the same cluster without limits."""
    where = (
        {"capacity": instance.capacity}
        if instance.machines is None
        else {"machines": instance.machines, "eligible": np.array(instance.eligible)}
    )
    return Instance(instance.demands, weights=instance.weights, **where)


@settings(max_examples=40)
@given(instance=clusters())
def test_every_machine_by_itself_is_the_reference_on_each(instance):
    found = crosscheck(unlimited(instance), "per-server")
    assert found.agree is True
    assert found.max_disagreement <= 1e-12


@settings(max_examples=15)
@given(instance=pools(4))
def test_on_a_pool_they_are_drf(instance):
    plain = unlimited(instance)
    for policy in ("per-server", "tsf"):
        assert solve(plain, policy).tasks == pytest.approx(solve(plain, "drf").tasks, rel=1e-12)
        assert crosscheck(plain, policy).agree is True


def test_two_machines_of_a_class_are_divided_alike():
    demands = [[1, 4], [3, 1]]
    one = solve(Instance(demands, machines=[Machine("a", [9, 18])]), "per-server")
    five = solve(Instance(demands, machines=[Machine("a", [9, 18], 5)]), "per-server")
    assert one.tasks.tolist() == [3, 2]
    assert five.tasks.tolist() == [15, 10]


@pytest.mark.parametrize("size", [1e-6, -1e-6, 0.1])
def test_moved_tasks_are_rejected(size):
    instance = Instance([[1, 2], [2, 1], [1, 0]], machines=[Machine("a", [5, 5]), Machine("b", [4, 9], 2)])
    allocation = solve(instance, "per-server")
    assert allocation.certificate.valid
    for i in range(3):
        factor = np.ones(3)
        factor[i] += size
        moved = bottleneck.certify_servers(instance, allocation.tasks * factor, allocation.placement * factor[:, None])
        assert not moved.valid
        assert moved.reason


def test_every_machine_by_itself_in_fractions():
    machines = [Machine("a", ["10/3", 7]), Machine("b", [3, 4], 2)]
    instance = Instance([["1/3", 1], [2, "1/7"], [1, 1]], machines=machines, weights=[1, 2, "1/3"])
    exact, floats = solve(instance, "per-server", exact=True), solve(instance, "per-server")
    assert floats.engine == "servers"
    assert floats.tasks == pytest.approx(exact.tasks.astype(float), rel=LEVEL)
    assert verify(exact).valid
    assert not bottleneck.certify_servers(instance, exact.tasks, exact.placement + Fraction(1, 10**6)).valid
    for i in range(3):
        moved = exact.placement.copy()
        moved[i] *= 1 + Fraction(1, 10**30)
        assert not bottleneck.certify_servers(instance, moved.sum(axis=1), moved).valid


def test_tiny_users_of_every_machine_are_answered_in_fractions():
    instance = Instance([["1e-12", 1], [1, "1e-140"]], machines=[["1e12", 7], [1, 4]])
    found, exact = solve(instance, "per-server"), solve(instance, "per-server", exact=True)
    assert found.levels == pytest.approx(exact.levels.astype(float), rel=LEVEL)


def test_the_same_tasks_from_another_machine_are_rejected():
    """Both users alike on both machines: what the first has more of here and less of there is no fair division."""
    instance = Instance([[1], [1]], machines=[Machine("a", [2]), Machine("b", [4])])
    placement = np.array([[2.0, 1.0], [0.0, 3.0]])
    assert solve(instance, "per-server").tasks == pytest.approx(placement.sum(axis=1))
    assert not bottleneck.certify_servers(instance, placement.sum(axis=1), placement).valid


def test_what_they_say_no_to():
    limited = Instance([[1], [1]], machines=[[2], [4]], max_tasks=[None, 1], users=["a", "b"])
    with pytest.raises(PolicyError, match=r"knows no limit on all of them, but user 'b' has one: leave limits out"):
        solve(limited, "per-server")
    with pytest.raises(PolicyError, match=r"knows no limit on all of them, but user 'b' has one: leave limits out"):
        solve(limited, "per-server", integer=True)
    with pytest.raises(PolicyError, match="tsf takes one weight a user"):
        solve(Instance([[1, 1]], machines=[[2, 2]], weights=[[1, 2]]), "tsf")


@settings(max_examples=40)
@given(instance=clusters())
def test_the_part_of_the_tasks_run_alone_exactly(instance):
    policy = policy_named("tsf")
    rates = policy.exact_rates(instance)
    assert policy.rates(instance) == pytest.approx([float(rate) for rate in rates], rel=1e-15)


def test_the_part_of_the_tasks_run_alone_by_hand():
    machines = [Machine("a", [2, 12], 2), Machine("b", [12, 2])]
    instance = Instance(
        [["1/5", 1], [4, 1]], machines=machines, eligible=[[True, False], [False, True]], weights=[1, 2]
    )
    # Alone and anywhere: 2 * 10 + 2 tasks, and 2 * 1/2 + 2, though not a whole one fits on a.
    assert policy_named("tsf").exact_rates(instance) == [Fraction(1, 22), Fraction(1, 6)]
