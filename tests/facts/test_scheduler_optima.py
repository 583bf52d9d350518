"""What schedulers hand out in their own tests is the optimum here, or the difference is told in numbers."""

import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from drfopt import Instance, solve
from drfopt.base.numbers.quantities import exact
from drfopt.base.tolerances import LEVEL
from drfopt.io.native import reading
from drfopt.model.hierarchy import Clock
from drfopt.model.policies import policy_named
from drfopt.solving.crosschecking import crosscheck

FACTS = json.loads((Path(__file__).parent / "scheduler_optima.json").read_text(encoding="utf-8"))
DIVIDED = [fact for fact in FACTS if "tasks" in fact]
MEASURED = [fact for fact in FACTS if fact["relation"] == "level"]
NAMES = {fact["id"]: fact for fact in FACTS}


def instance_of(fact) -> Instance:
    return reading.loads(json.dumps(fact["instance"]), "json", fact["id"])


def named(facts):
    return pytest.mark.parametrize("fact", facts, ids=[fact["id"] for fact in facts])


def test_every_fact_has_a_source_and_every_difference_a_reason():
    assert len(NAMES) == len(FACTS) == 41
    assert all(fact["source"] for fact in FACTS)
    assert all(fact["why"] and fact["scheduler"] for fact in DIVIDED if fact["relation"] != "optimum")


@named(DIVIDED)
def test_the_tasks_are_the_optimum(fact):
    instance, expected = instance_of(fact), [exact(value) for value in fact["tasks"]]
    if fact["integer"]:
        assert solve(instance, fact["policy"], integer=True).tasks.tolist() == expected
        return
    found = solve(instance, fact["policy"], exact=True)
    assert found.tasks.tolist() == expected
    np.testing.assert_allclose(solve(instance, fact["policy"]).tasks, np.array(expected, dtype=float), rtol=LEVEL)
    assert crosscheck(instance, fact["policy"]).agree


@named([fact for fact in DIVIDED if fact["relation"] == "rounded"])
def test_whole_units_are_the_optimum_rounded(fact):
    for here, there in zip(fact["tasks"], fact["scheduler"], strict=True):
        assert abs(exact(here) - exact(there)) < 1
    assert sum(map(exact, fact["tasks"])) == sum(map(exact, fact["scheduler"]))


def test_weight_0_leaves_nothing_idle_here_and_20_cpus_in_koordinator():
    fact = NAMES["koordinator-case2-weight0"]
    assert sum(map(exact, fact["tasks"])) == 100
    assert sum(map(exact, fact["scheduler"])) == 80
    capped = json.loads(json.dumps(fact["instance"]))
    capped["users"][3]["ceiling"] = {"cpu": 15}
    found = solve(reading.loads(json.dumps(capped), "json", "capped"), exact=True)
    assert found.tasks.tolist() == [exact(value) for value in fact["scheduler"]]


@named(MEASURED)
def test_a_level_is_the_share_that_the_scheduler_computes(fact):
    instance = instance_of(fact)
    clock = Clock(instance, policy_named("drf"), exact=True)
    level = clock.levels(np.array([Fraction(1)], dtype=object))[0]
    # Kueue counts in thousandths, rounds up, and takes all that is below nominal for 0, which is below 0 here.
    assert -(-max(level, 0) * fact["unit"] // 1) == fact["share"] if fact["unit"] > 1 else level == exact(fact["share"])


# ---- rules that are no optimum ------------------------------------------------------------------------------------


AGENTS = [(2, 1024), (1, 512), (3, 2048), (4, 4096), (1, 512)]


def lowest_share(agents, owners) -> Fraction:
    total = [sum(column) for column in zip(*agents, strict=True)]
    held = [
        [sum(agent[j] for agent, owner in zip(agents, owners, strict=True) if owner == role) for j in range(2)]
        for role in range(2)
    ]
    return min(max(Fraction(row[j], total[j]) for j in range(2)) for row in held)


def best_lowest_share(agents) -> Fraction:
    return max(lowest_share(agents, owners) for owners in itertools.product(range(2), repeat=len(agents)))


def test_agents_that_go_whole_to_the_poorest_as_they_arrive_are_no_optimum():
    """Mesos, HierarchicalAllocatorTest.UnreservedDRF: one role ends with 5/11, though both could have 6/11."""
    arrived = [0, 1, 1, 0, 1]
    assert lowest_share(AGENTS, arrived) == Fraction(5, 11)
    assert best_lowest_share(AGENTS) == Fraction(6, 11)


def test_arrivals_of_nested_roles_end_at_their_optimum():
    """Mesos, HierarchicalAllocatorTest.NestedRoleDRF: 2/5 and 3/5 of the cpus, and nothing lifts the lower."""
    agents = [(2, 1024), (1, 512), (2, 1024)]
    assert lowest_share(agents, [0, 1, 1]) == best_lowest_share(agents) == Fraction(2, 5)


def test_quota_chopped_by_resource_is_no_number_of_tasks():
    """Mesos, DisproportionateQuotaVsAllocation: of two agents the quota role gets (2, 1024) and (2, 0)."""
    agents = {"name": "agent", "count": 2, "capacity": {"cpus": 2, "mem": 1024}}
    role = {"name": "quota-role", "guarantee": {"cpus": 4, "mem": 1024}, "ceiling": {"cpus": 4, "mem": 1024}}
    whole = {"machines": [agents], "users": [role | {"demand": {"cpus": 1, "mem": 256}}]}
    found = solve(reading.loads(json.dumps(whole), "json", "whole"))
    # Tasks in proportion to the quota use as much in total, but as much on one agent as on the other.
    assert found.used.tolist() == [4, 1024]
    assert found.placement.tolist() == [[4]]


def test_shares_of_each_resource_by_itself_waste_what_goes_with_it():
    """YARN computes shares resource by resource: for A of (1 cpu, 4 GB) and B of (3, 1) these fit 9/4 and 3/2 tasks."""
    nsdi = Instance.library("nsdi2011")
    halves = [min(Fraction(9, 2) / d[0], Fraction(18, 2) / d[1]) for d in nsdi.exact_demands]
    assert halves == [Fraction(9, 4), Fraction(3, 2)]
    assert solve(nsdi, exact=True).tasks.tolist() == [3, 2]


def test_a_flattened_tree_and_one_without_blocked_nodes_give_other_numbers():
    """Bhattacharya et al., SoCC 2013: what collapsing a hierarchy and what rescaling blocked nodes do."""
    tree, flat = Instance.library("hdrf-rescaling"), Instance.library("hdrf-collapsed")
    assert solve(tree, exact=True).dominant_shares.tolist() == [Fraction(1, 2)] * 3
    assert solve(flat, exact=True).dominant_shares.tolist() == [Fraction(2, 3), Fraction(1, 3), Fraction(1, 3)]
    blocking = solve(Instance.library("hdrf-blocking"), exact=True).tasks.tolist()
    assert blocking == [10, 10, 10, 15, 15]
    # Were 31, whom cpu stops at 10, still to scale what 32 counts for, 32 would have 20 of the memory and 4 only 10.
    assert blocking[3:] != [20, 10]
