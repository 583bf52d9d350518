"""Beside whole tasks: a continuous bound that is one, and who says that nothing is better."""

import itertools

import numpy as np
import pytest

from drfopt.base.deadline import NEVER
from drfopt.certificates import meet_in_the_middle, price_tree, whole
from drfopt.certificates.level_bounds import level_bounds
from drfopt.certificates.level_claims import claims
from drfopt.certificates.packing_bound import worth_of
from drfopt.model.instance import Instance
from drfopt.model.organisation import Organisation
from drfopt.model.policies import policy_named
from drfopt.model.whole_values import WholeUsers
from drfopt.solving.allocating import solve
from drfopt.solving.comparing import compare

WIDE = Instance([[3, 1], [2, 2], [1, 4], [4, 1], [2, 3], [5, 2], [1, 1], [2, 5]], [180, 190])
"""Too many users for an exact search to finish, few enough for the search near a bound."""


def test_who_may_have_no_whole_task_by_its_ceiling_takes_nothing_from_the_bound():
    instance = Instance([[2], [1]], [2], organisation=Organisation(ceilings={"u1": {"r1": 1}}))
    found = compare(instance, ["drf"], integer=True).integrality["drf"]
    assert (found.continuous, found.optimum) == (pytest.approx(1), 1)


def test_who_cannot_have_a_whole_task_takes_nothing_from_the_bound():
    # One whole task of the second user is more than there is: divisible, it would take half of what the first has.
    instance = Instance([[1], [11]], [10])
    found = compare(instance, ["drf", "ceei", "utilitarian"], integer=True)
    for row in found.integrality.values():
        assert row.optimum == pytest.approx(10 if "mean" in row.measure else 1)
        assert row.continuous >= row.optimum * (1 - 1e-9)
    assert found.integrality["drf"].continuous == pytest.approx(1)


def test_limits_are_whole_in_the_bound_too():
    instance = Instance([[1], [1]], [10], max_tasks=[0.5, None])
    row = compare(instance, ["drf"], integer=True).integrality["drf"]
    assert (row.continuous, row.optimum) == pytest.approx((1, 1))


def test_nobody_can_have_a_task():
    for policy in ("drf", "ceei", "utilitarian"):
        row = compare(Instance([[5], [4]], machines=[[3]]), [policy], integer=True).integrality[policy]
        assert (row.continuous, row.optimum) == (0, 0)


@pytest.mark.parametrize("seed", range(12))
def test_nothing_whole_is_above_the_bound(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    demands = rng.integers(0, 9, (n, 2))
    demands[np.arange(n), rng.integers(0, 2, n)] += 1
    limits = [None if rng.random() < 0.5 else float(rng.integers(0, 7)) / 2 for _ in range(n)]
    room = rng.integers(4, 14, 2) if seed % 2 else None
    machines = None if seed % 2 else rng.integers(2, 12, (2, 2))
    instance = Instance(demands, room, machines=machines, max_tasks=limits)
    found = compare(instance, ["drf", "asset", "tasks", "ceei", "utilitarian", "throughput"], integer=True)
    for policy, row in found.integrality.items():
        assert row.continuous is None or row.continuous >= row.optimum * (1 - 1e-9), policy


# ---- who says so ---------------------------------------------------------------------------------------------------


def test_the_judge_of_a_product_is_another_method_than_its_finder():
    for engine in ("nash-halves", "nash-milp"):
        found = solve(WIDE, "ceei", integer=True, engine=engine)
        assert found.engine == engine
        proof = found.certificate
        assert proof.valid and proof.rigorous
        assert proof.to_dict()["judge"] == "branch and bound on prices"


def test_the_same_search_is_no_second_author(monkeypatch):
    # What a tree too large for it leaves.
    monkeypatch.setattr(price_tree, "NODES", 0)
    found = solve(WIDE, "ceei", integer=True)
    assert found.engine == "nash-halves"
    proof = found.certificate
    assert proof.valid
    assert not proof.rigorous
    assert proof.evidence.judge == "the same search, run again"
    assert "that nothing is better is the word of the same search, run again: nobody else has proven it" in str(found)
    assert proof.to_dict()["judge"] == "the same search, run again"
    other = solve(WIDE, "ceei", integer=True, engine="nash-milp").certificate
    assert other.evidence.judge == "a search near a bound"
    assert other.rigorous, "it lists what could be better in integers, and another one found the answer"


def test_a_short_exact_search_is_a_second_author(monkeypatch):
    paper = Instance.library("nsdi2011")
    assert solve(paper, "ceei", integer=True).certificate.evidence.judge == "branch and bound on prices"
    # Weights that are no small multiples of one number: that search compares sixty digits of logarithms.
    long = Instance([[1, 4], [3, 1]], [9, 18], weights=[1 / 3, 0.123456789])
    assert solve(long, "ceei", integer=True).certificate.evidence.judge == "branch and bound on prices"
    assert solve(long, "ceei", integer=True).certificate.rigorous
    monkeypatch.setattr(price_tree, "NODES", 0)
    monkeypatch.setattr(meet_in_the_middle, "CHOICES", 0)
    proof = solve(paper, "ceei", integer=True).certificate
    assert proof.valid
    assert proof.rigorous
    assert proof.evidence.judge == "exact search"
    assert not solve(long, "ceei", integer=True).certificate.rigorous


def test_whoever_is_asked_for_something_better_is_not_the_finder(monkeypatch):
    from drfopt.certificates import exhaustive_search
    from drfopt.certificates.branch_and_cut import Inconclusive

    def inconclusive(*arguments, **options):
        raise Inconclusive

    monkeypatch.setattr(whole, "refute", inconclusive)
    monkeypatch.setattr(exhaustive_search, "NODES", 0)
    monkeypatch.setattr(price_tree, "NODES", 0)
    monkeypatch.setattr(whole, "MeetInTheMiddle", lambda *arguments: pytest.fail("not of leximin and sums"))
    paper = Instance.library("nsdi2011")
    for policy in ("drf", "utilitarian"):
        chosen, tasks = policy_named(policy), solve(paper, policy, integer=True, solver="highs").tasks
        for solver, judge in (("highs", "CBC"), ("PULP_CBC_CMD", "HiGHS"), ("COIN_CMD", "HiGHS")):
            proof = whole.certify(paper, chosen, tasks, None, finder=whole.Finder("sum-milp", solver))
            assert proof.valid
            assert proof.evidence.judge == judge
            assert not proof.rigorous
            worse = whole.certify(paper, chosen, np.array([2, 2]), None, finder=whole.Finder("sum-milp", solver))
            assert worse.valid is False
            assert worse.reason.startswith(judge)


@pytest.mark.parametrize("seed", range(12))
def test_levels_above_the_first_that_is_not_proven_are_bounded(seed):
    rng, policy = np.random.default_rng(seed), policy_named("drf")
    limits = [3, None, 5, None] if seed % 2 else None
    instance = Instance(rng.integers(1, 5, (4, 2)), rng.integers(12, 24, 2), max_tasks=limits)
    users, tasks = WholeUsers(instance, policy, range(4)), solve(instance, "drf", integer=True).tasks.tolist()
    every = [
        sorted(users.values(list(x)))
        for x in itertools.product(*(range(most + 1) for most in users.most))
        if (np.array(x) @ instance.demands <= instance.capacity).all()
    ]
    below = 0
    for claim in claims(users, tasks):
        place, lower = below + 1, sorted(users.values(tasks))[:below]
        for at, one in enumerate(level_bounds(users, tasks, claim, worth_of(users), NEVER)):
            place += one.count if at else 0
            known = (levels[place - 1] for levels in every if levels[:below] == lower and levels[below] >= claim.level)
            assert max(known) <= one.bound
            assert one.refuted is not None
            place += 0 if at else one.count - 1
        below += claim.count
