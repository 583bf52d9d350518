"""Levels along a path of bundles: two authors, the straight path, and what a certificate and a verifier notice."""

import json
from fractions import Fraction

import numpy as np
import pytest

from drfopt import Instance, PolicyError, crosscheck, solve, verify
from drfopt.certificates.exact import certify_filling
from drfopt.engines.reference.path_filling import path_filling
from drfopt.model.policies import policy_named

BENT = "path:1/2:1/2..3/4:1"


def drawn(seed):
    """Return an instance with zero demands, weights and limits, and a path for it."""
    random = np.random.default_rng(seed)
    n, m = int(random.integers(1, 7)), int(random.integers(1, 4))
    demands = random.integers(0, 5, (n, m))
    demands[demands.sum(axis=1) == 0, 0] = 1
    limits = [None if random.random() < 0.6 else int(random.integers(0, 4)) for _ in range(n)]
    knots = np.cumsum(random.integers(1, 5, (int(random.integers(1, 4)), m)), axis=0)
    name = "path:" + "..".join(":".join(f"{v}/12" for v in knot) for knot in knots)
    weights = random.integers(1, 4, (n, m) if seed % 3 == 0 else n)
    capacity = random.integers(1, 12, m)
    return Instance(demands, capacity, weights=weights, max_tasks=limits), name


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(60))
def test_engine_and_reference_say_the_same_exactly(seed):
    instance, name = drawn(seed)
    policy, found = policy_named(name), solve(instance, name, exact=True)
    shares = [user.shares for user in policy.travellers(instance)]
    given = (instance.exact_demands, instance.exact_capacity, policy.path.knots, policy.path.levels, shares)
    assert found.tasks.tolist() == path_filling(*given, instance.exact_limits)
    assert found.certificate.valid and found.certificate.rigorous
    assert solve(instance, name).tasks == pytest.approx(found.tasks.astype(float), rel=1e-15)
    assert crosscheck(instance, name).agree
    assert verify(found).valid is True


@pytest.mark.parametrize("seed", range(60))
def test_the_straight_path_is_drf(seed):
    instance, _ = drawn(seed)
    one = "path:" + ":".join(["1/3"] * instance.m) + ".." + ":".join(["2"] * instance.m)
    drf, straight = solve(instance, exact=True), solve(instance, one, exact=True)
    assert drf.tasks.tolist() == straight.tasks.tolist()
    assert drf.levels.tolist() == straight.levels.tolist()


def test_the_smallest_instance_on_which_a_path_is_not_drf():
    found = solve(Instance([[1, 2], [2, 1]], [1, 1]), BENT, exact=True)
    assert found.tasks.tolist() == [Fraction(7, 20), Fraction(3, 10)]
    assert found.levels.tolist() == [Fraction(13, 20)] * 2


@pytest.mark.parametrize("seed", range(20))
def test_changed_tasks_are_no_bottleneck_allocation(seed):
    instance, name = drawn(seed)
    policy, found = policy_named(name), solve(instance, name, exact=True)
    for i in np.flatnonzero(found.tasks > 0):
        for factor in (1 - Fraction(1, 10**6), 1 + Fraction(1, 10**6)):
            changed = found.tasks.copy()
            changed[i] *= factor
            assert not certify_filling(instance, policy, changed).valid
        document = json.loads(json.dumps(solve(instance, name).to_dict()))
        document["users"][i]["tasks"] *= 1 - 1e-6
        assert verify(document, instance).valid is False


def test_a_thousand_users():
    random = np.random.default_rng(3)
    found = solve(Instance(random.integers(1, 100, (1000, 3)), [10**6] * 3), "path:1/2:1/2:1/2..3/4:1:1")
    assert found.certificate.valid


@pytest.mark.parametrize(
    ("name", "instance", "said"),
    [
        (BENT, Instance([[1, 2]], machines=[[2, 2]]), "is not defined for machines"),
        ("path:1:1:1", Instance([[1, 2]], [2, 2]), "is a path of 3 resources, but the cluster has 2"),
        ("path:1:1..1:2", Instance([[1, 2]], [2, 2]), "its resource 1 goes from 1 to 1, and must grow"),
        ("path:1:1..2", Instance([[1, 2]], [2, 2]), "its bundles are of 2 and 1 resources"),
        ("path:", Instance([[1, 2]], [2, 2]), "'' is no bundle"),
        ("path:1:x", Instance([[1, 2]], [2, 2]), "'1:x' is no bundle"),
    ],
)
def test_what_is_no_path_here_is_told(name, instance, said):
    with pytest.raises(PolicyError, match=said):
        solve(instance, name)


def test_whole_tasks_and_multiples_are_refused():
    pool = Instance([[1, 2]], [2, 2])
    with pytest.raises(PolicyError, match="not defined for whole tasks"):
        solve(pool, BENT, integer=True)
    with pytest.raises(PolicyError, match="twice the tasks is not twice the level"):
        policy_named(BENT).rates(pool)
