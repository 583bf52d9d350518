"""Measures of fairness: what they say of published allocations, and that they agree with the audit's own."""

import numpy as np
import pytest
from clusters_to_show import NSDI, crowd, machines, typed

from drfopt.axioms.auditing import audit
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.organisation import Group, Organisation
from drfopt.reporting.findings import study
from drfopt.reporting.measures import ENVY_USERS, envy, measures
from drfopt.solving.allocating import solve


def test_the_example_of_the_paper():
    found = measures(solve(NSDI, "drf"))
    assert found.lowest == pytest.approx(2 / 3)
    assert found.jain == pytest.approx(1)
    assert found.nash == pytest.approx(2 / 3)
    assert found.sum_of_shares == pytest.approx(4 / 3)
    assert found.utilization == pytest.approx((1 + 14 / 18) / 2)
    assert (found.envious, found.envy) == (0, 0)


@pytest.mark.parametrize("n", [2, 7, 30])
def test_leximin_has_the_best_lowest_level_and_the_market_the_best_mean(n):
    policies = ("drf", "asset", "ceei", "utilitarian", "tasks")
    found = {policy: measures(solve(crowd(n), policy)) for policy in policies}
    assert max(found, key=lambda policy: round(found[policy].lowest, 9)) == "drf"
    assert max(found, key=lambda policy: round(found[policy].nash, 9)) == "ceei"
    most = max(m.sum_of_shares for m in found.values())
    assert found["utilitarian"].sum_of_shares == pytest.approx(most)
    assert all(1 / n - 1e-12 <= m.jain <= 1 + 1e-12 for m in found.values() if m.jain is not None)


def test_weights_count_in_levels_and_in_the_mean():
    weighted = Instance([[1, 4], [3, 1]], [9, 18], weights=[2, 1])
    found = measures(solve(weighted, "drf"))
    allocation = solve(weighted, "drf")
    levels = allocation.dominant_shares / np.array([2, 1])
    assert found.lowest == pytest.approx(levels.min())
    assert found.nash == pytest.approx(np.exp((2 * np.log(levels[0]) + np.log(levels[1])) / 3))


def test_who_fits_nowhere_or_has_a_limit_of_0_is_left_out():
    none = Instance([[1, 0], [1, 1], [1, 0]], [4, 0], max_tasks=[None, None, 0])
    found = measures(solve(none, "drf"))
    assert found.lowest == 1
    assert (found.jain, found.nash, found.envious) == (1, 1, 0)
    assert found.utilization == 1
    assert measures(solve(machines(), "drf")).lowest > 0


def test_nobody_takes_part():
    found = measures(solve(Instance([[1]], [4], max_tasks=[0]), "drf"))
    assert (found.lowest, found.jain, found.nash, found.envious) == (0, None, None, 0)


@pytest.mark.parametrize("policy", ["drf", "asset", "single:r1", "utilitarian", "tasks"])
@pytest.mark.parametrize("seed", range(8))
def test_envy_is_the_audits(policy, seed):
    random = np.random.default_rng(seed)
    n, m = 2 + seed % 3, 2
    instance = Instance(
        random.integers(1, 5, (n, m)), random.integers(4, 12, m), weights=random.integers(1, 3, n), max_tasks=[9] * n
    )
    found = measures(solve(instance, policy))
    (verdict,) = audit(instance, policy, properties=["envy-freeness"]).results
    assert (found.envious > 0) == (verdict.verdict == "fails")


@pytest.mark.parametrize("policy", ["drf", "ceei"])
@pytest.mark.parametrize("seed", range(6))
def test_envy_of_whole_tasks_is_the_audits(policy, seed):
    random = np.random.default_rng(seed)
    n = 2 + seed % 3
    demands, weights = random.integers(1, 5, (n, 2)), random.integers(1, 3, n)
    if seed % 2:
        instance = Instance(demands, machines=[Machine("a", [6, 7], 2), Machine("b", [9, 5], 1)], weights=weights)
    else:
        instance = Instance(demands, random.integers(9, 20, 2), weights=weights)
    found = measures(solve(instance, policy, integer=True))
    (verdict,) = audit(instance, policy, properties=["envy-freeness"], integer=True).results
    assert (found.envious > 0) == (verdict.verdict == "fails")


def test_half_a_task_is_nothing_to_envy():
    # What A holds is a task and a half of B, who has one.
    assert measures(solve(Instance([[1], [2]], [5]), "drf", integer=True)).envious == 0
    # A counts twice: what B holds is then four tasks of A, who has three.
    found = measures(solve(Instance([[1], [2]], [5], weights=[2, 1]), "drf", integer=True))
    assert (found.envious, found.envy) == (1, pytest.approx(1 / 3))


def test_whole_tasks_of_types_are_not_compared():
    assert measures(solve(typed(), "drf", integer=True)).envious is None


def test_the_greatest_gain_is_that_of_the_best_bundle():
    # One task of u2 is two of u1; she has three of hers and would have six.
    instance = Instance([[1, 1], [2, 2]], [9, 9])
    gains = envy(instance, np.array([3.0, 3.0]), None, np.array([True, True]))
    assert gains.tolist() == [1.0, 0.0]
    nothing = envy(instance, np.array([0.0, 3.0]), None, np.array([True, True]))
    assert nothing.tolist() == [np.inf, 0.0]


def test_many_users_are_not_compared_pair_by_pair():
    n = ENVY_USERS + 1
    assert envy(crowd(n), np.ones(n), None, np.ones(n, dtype=bool)) is None


def test_who_has_no_weight_is_not_in_the_geometric_mean():
    instance = Instance(
        {"A": [1], "B": [1], "C": [1]}, [8], weights={"A": 1, "B": 1, "C": 0}, max_tasks={"A": 1, "B": 4}
    )
    found = solve(instance)
    assert found.tasks.tolist() == [1, 4, 3]
    assert measures(found).nash == pytest.approx((1 / 8 * 4 / 8) ** 0.5)


def test_who_is_at_a_ceiling_and_finds_something_used_up_is_counted_at_both():
    """Of whole tasks, as explain says; and a ceiling is no limit that somebody asked for."""
    users, pool = {"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": 10}
    own = Instance(users, pool, organisation=Organisation(ceilings={"a": {"cpu": "9/2"}}))
    group = Instance(users, pool, organisation=Organisation(groups=[Group("g", ceiling={"cpu": 4})], paths={"a": "g"}))
    for cluster, first in ((own, "its ceiling, cpu"), (group, "g ceiling of cpu, cpu")):
        page = study(cluster, ["drf"], integer=True)
        assert page["stops"][0]["ceiling"] == 1 and page["resources"][0]["stopped"] == [2]
        assert [row["stopped"] for row in page["users"]] == [[first], ["cpu"]]
        assert [row["limit"] for row in page["users"]] == [None, None]
