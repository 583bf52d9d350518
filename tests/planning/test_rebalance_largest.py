"""Moves to the largest sum, product or utilities of whole tasks, beside all allocations written down."""

from fractions import Fraction as F

import numpy as np
import pytest
from engines.whole_reference import Enumeration, awkward
from planning.test_rebalance_rules import best, today

from drfopt import CertificateError, Group, Instance, InstanceError, Machine, Organisation, SolverError, solve
from drfopt.engines.problem import Problem
from drfopt.model.policies import policy_named
from drfopt.model.whole_values import type_rows
from drfopt.planning.rebalancing.current import current_of
from drfopt.planning.rebalancing.largest import Largest
from drfopt.planning.rebalancing.moves import Placement
from drfopt.planning.rebalancing.rebalancing import check, rebalance

KINDS = {
    "plain": {"rules": False},
    "machines": {"rules": False, "machines": True},
    "rules": {},
    "rules on machines": {"machines": True},
    "types on machines": {"types": True, "rules": False, "machines": True},
    "types under rules on machines": {"types": True, "machines": True},
    "tiers": {"tiers": True},
    "tiers on machines": {"tiers": True, "machines": True},
}
POLICIES = ("ceei", "utilitarian", "throughput", "alpha:2", "alpha:0.5")


def compared(kind: str, policy: str, seeds: range) -> int:
    """Compare plans with all that is possible; return how many were."""
    number = 0
    for seed in seeds:
        instance = awkward(seed, **KINDS[kind], market=True)
        if (instance.organisation and instance.organisation.excluded) or instance.n > 3:
            continue
        current, reference = today(instance, seed), Enumeration(instance, policy)
        for moves in (None, seed % 4):
            expected = best(instance, policy, current, moves)
            if expected is None:
                continue
            found = rebalance(instance, current, moves=moves, policy=policy)
            tasks = [int(found.after[rows].sum()) for rows in type_rows(instance)]
            assert found.status == "optimal", (kind, policy, seed, moves)
            assert reference.score(tasks) == expected[0], (kind, policy, seed, moves)
            assert found.count("move") + found.count("evict") == -expected[1], (kind, policy, seed, moves)
            number += 1
    return number


@pytest.mark.sampled(3)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kind", KINDS)
def test_plans_equal_enumeration(kind, policy):
    assert compared(kind, policy, range(4)) > 2


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kind", KINDS)
def test_plans_equal_enumeration_at_length(kind, policy, some):
    assert compared(kind, policy, range(100, 100 + some(60))) > some(20)


PAIR = Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, capacity={"cpu": 20_001})


@pytest.mark.parametrize("moves", [None, 1, 2])
def test_a_product_that_is_as_large_but_for_rounding_is_not_the_largest(moves):
    """9,999 x 10,002 is less than 10,000 x 10,001 by two parts in 10^8."""
    found = rebalance(PAIR, {"tasks": {"A": 9_999, "B": 10_002}}, moves=moves, policy="ceei")
    assert found.after.ravel().tolist() == [10_000, 10_001]
    assert (found.count("evict"), found.status) == (1, "optimal")
    stays = rebalance(PAIR, {"tasks": {"A": 9_999, "B": 10_002}}, moves=0, policy="ceei")
    assert (stays.after.ravel().tolist(), stays.status) == ([9_999, 10_002], "optimal")


@pytest.mark.parametrize("moves", [None, 1])
def test_a_sum_that_is_as_large_but_for_rounding_is_not_the_largest(moves):
    one = 6 * 10**7
    either = Instance({"A": {"r": one}, "B": {"r": one + 2}}, capacity={"r": 10**8})
    found = rebalance(either, {"tasks": {"A": 1}}, moves=moves, policy="utilitarian")
    assert (found.after.ravel().tolist(), found.status) == ([0, 1], "optimal")
    stays = rebalance(either, {"tasks": {"A": 1}}, moves=0, policy="utilitarian")
    assert (stays.after.ravel().tolist(), stays.status) == ([1, 0], "optimal")


def test_utilities_that_no_solver_tells_apart():
    pool = Instance({"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}, capacity={"cpu": 9, "memory": 18})
    found = rebalance(pool, {"tasks": {"B": 3}}, policy="alpha:20")
    assert (found.after.ravel().tolist(), found.count("evict"), found.status) == ([3, 2], 1, "optimal")
    with pytest.raises(SolverError, match="leave out the number of moves, or use a smaller alpha"):
        rebalance(pool, {"tasks": {"B": 3}}, moves=1, policy="alpha:20")


def test_nobody_who_may_run_anything():
    nobody = Instance({"A": {"cpu": 1}}, capacity={"cpu": 2}, max_tasks={"A": 0})
    for policy in POLICIES:
        assert rebalance(nobody, {"tasks": {"A": 1}}, moves=1, policy=policy).count("evict") == 1
        assert rebalance(nobody, {"tasks": {"A": 1}}, policy=policy).status == "optimal"
        with pytest.raises(InstanceError, match="at least 1 must move or be evicted before"):
            rebalance(nobody, {"tasks": {"A": 1}}, moves=0, policy=policy)


def test_what_is_said_of_a_sum_speaks_of_guarantees():
    users = {"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}
    pool = {"cpu": 9, "memory": 18}
    plain = rebalance(Instance(users, capacity=pool), {"tasks": {"B": 3}}, policy="ceei")
    assert "has more users with a task, or as many and a larger product (proven)" in str(plain)
    promised = Instance(users, capacity=pool, organisation=Organisation(guarantees={"B": {"cpu": 9}}))
    kept = rebalance(promised, {"tasks": {"A": 3}}, policy="utilitarian")
    assert kept.after.ravel().tolist() == [0, 3]
    assert "sum: no allocation of whole tasks that keeps guarantees as well has a larger sum (proven)" in str(kept)


def test_a_plan_that_is_worth_less_is_not_returned():
    problem = Problem(PAIR, policy_named("ceei"), integer=True)
    current = current_of({"tasks": {"A": 9_999, "B": 10_002}}, PAIR)
    worse = Placement(np.array([[9_999], [10_002]]), None)
    with pytest.raises(CertificateError, match="it is worth less than was asked for"):
        check(problem, current, worse, Largest(problem, current, [10_000, 10_001]))


def test_when_the_time_is_up_the_way_to_what_is_known_is_told():
    users = {f"u{i}": {"cpu": 1 + i % 3, "memory": 1 + i * i % 5} for i in range(24)}
    rack = Instance(users, machines=[Machine(f"m{k}", {"cpu": 7 + k, "memory": 11 - k}, 40) for k in range(4)])
    found = rebalance(rack, {"placement": {"u0": {"m0": 7}}}, policy="ceei", time_limit=0.5)
    assert found.status in ("time_limit", "optimal")
    assert found.after.sum() > 0


@pytest.mark.parametrize(("policy", "one"), [("ceei", F(1, 6)), ("alpha:2", F(1, 6)), ("utilitarian", F(1, 4))])
def test_levels_are_those_of_solve_where_groups_have_incomes(policy, one):
    rules = Organisation(paths={"A": "g", "B": "g"}, groups=[Group("g", 3)])
    cluster = Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, {"cpu": 4}, organisation=rules)
    found = solve(cluster, policy, integer=True)
    assert found.levels.tolist() == pytest.approx([float(one * x) for x in found.tasks.tolist()])
    plan = rebalance(cluster, {"tasks": {"A": 1, "B": 2}}, policy=policy)
    assert plan.before == (one, 2 * one) and plan.levels == tuple(one * int(x) for x in plan.after[:, 0])
