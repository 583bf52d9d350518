"""Leximin on machines: copies, parts that share nothing, limits by the hundred, placements on few classes."""

import numpy as np
import pytest

from drfopt.base.errors import SolverError
from drfopt.certificates import chain
from drfopt.engines import linear_programs
from drfopt.engines.leximin import lp_round
from drfopt.engines.problem import Problem
from drfopt.engines.symmetry import Merged
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.policies import policy_named
from drfopt.solving.allocating import solve
from drfopt.solving.methods import slow_chain


def random_cluster(seed, users=40, kinds=12, classes=10, open_to=0.4, limited=False):
    """Return a cluster with copies of users and classes, and demands of 0."""
    random = np.random.default_rng(seed)
    shapes = random.integers(0, 5, (kinds, 3))
    shapes[:, 0] += shapes.sum(axis=1) == 0
    kind, size = random.integers(0, kinds, users), random.integers(1, 4, users)
    rooms = random.integers(8, 40, (classes // 2, 3))
    like = random.integers(0, len(rooms), classes)
    opened = random.random((kinds, len(rooms))) < open_to
    opened[np.arange(kinds), random.integers(0, len(rooms), kinds)] = True
    machines = [
        Machine(f"m{q}", rooms[r] * int(random.integers(1, 3)), int(random.integers(1, 4))) for q, r in enumerate(like)
    ]
    limits = np.where(random.random(users) < 0.5, random.integers(0, 4, users) / 2, np.inf) if limited else None
    return Instance(
        shapes[kind] * size[:, None],
        machines=machines,
        eligible=opened[kind][:, like],
        weights=random.integers(1, 3, users),
        max_tasks=limits,
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_clusters_with_copies_are_the_slow_chain(seed, limited):
    instance = random_cluster(seed, limited=limited)
    for policy in ("drf", "tsf"):
        allocation = solve(instance, policy)
        assert allocation.levels == pytest.approx(slow_chain.levels(instance, policy), rel=1e-9, abs=1e-12)
        assert allocation.certificate.violation <= 1e-9


@pytest.mark.parametrize("policy", ["ceei", "alpha:2.5", "alpha:0.5"])
@pytest.mark.parametrize("limited", [False, True])
def test_markets_with_copies_are_the_market_without(policy, limited):
    instance = random_cluster(3, limited=limited)
    merged, plain = solve(instance, policy), solve(instance, policy, engine="conic")
    assert merged.tasks == pytest.approx(plain.tasks, rel=1e-8, abs=1e-12)
    assert merged.certificate.violation <= 1e-9


def test_copies_are_one_and_what_differs_is_not():
    machines = [Machine("a", [4, 8], 2), Machine("b", [2, 4]), Machine("c", [4, 4]), Machine("d", [1, 1])]
    demands = [[1, 2], [2, 4], [1, 2], [1, 1]]
    eligible = np.array([[True, True, True, False], [True, True, True, False], [True, True, False, False], [True] * 4])
    merged = Merged.of(Problem(Instance(demands, machines=machines, eligible=eligible), policy_named("drf")))
    assert merged.group.tolist() == [0, 0, 1, 2]
    # a and b have the same proportions and users; c is square; d is the fourth user's alone.
    assert merged.kind.tolist() == [0, 0, 1, 2]
    assert merged.room.tolist() == [[10, 20], [4, 4], [1, 1]]
    assert merged.part.tolist() == [0.8, 0.2, 1, 1]


def test_parts_that_share_nothing_need_no_common_program(monkeypatch):
    """Twenty islands of two users and one class each: every level by a formula, and not one linear program."""

    def refuse(*arguments):
        raise AssertionError("a program was solved")

    monkeypatch.setattr(lp_round, "load", refuse)
    islands = 20
    random = np.random.default_rng(0)
    demands = random.integers(1, 9, (2 * islands, 2))
    machines = [Machine(f"m{k}", random.integers(10, 90, 2)) for k in range(islands)]
    eligible = np.repeat(np.eye(islands, dtype=bool), 2, axis=0)
    allocation = solve(Instance(demands, machines=machines, eligible=eligible))
    rounds = allocation.certificate.evidence.rounds
    assert [link.level for link in rounds] == sorted(link.level for link in rounds)
    assert len({round(link.level, 12) for link in rounds}) == islands


def test_limits_by_the_hundred_take_few_programs(monkeypatch):
    programs = []
    monkeypatch.setattr(lp_round, "load", lambda *arguments: programs.append(1) or linear_programs.load(*arguments))
    random = np.random.default_rng(4)
    n, k = 200, 12
    demands = random.integers(1, 9, (n, 3))
    machines = [Machine(f"m{q}", random.integers(50, 400, 3), 3) for q in range(k)]
    limits = random.uniform(0.1, 12, n)
    instance = Instance(demands, machines=machines, eligible=random.random((n, k)) < 0.5, max_tasks=limits)
    allocation = solve(instance)
    assert len(set(np.round(allocation.levels, 12))) > 100
    assert len(programs) <= 15


@pytest.mark.parametrize("policy", ["drf", "ceei"])
def test_placements_use_few_classes_and_prove_the_same(policy):
    random = np.random.default_rng(6)
    n, k, m = 60, 15, 3
    demands = random.integers(1, 9, (n, m))
    machines = [Machine(f"m{q}", random.integers(20, 90, m), 2) for q in range(k)]
    instance = Instance(demands, machines=machines)
    allocation = solve(instance, policy)
    found = allocation.placed.args[2]
    assert (found > 0).sum() > n + k * m
    assert (allocation.placement > 0).sum() <= n + k * m
    assert allocation.placement.sum(axis=1) == pytest.approx(allocation.tasks, rel=1e-12)
    assert allocation.placement is allocation.placement
    if policy == "drf":
        rounds = list(allocation.certificate.evidence.rounds)
        assert chain.certify(instance, policy_named(policy), allocation.tasks, allocation.placement, rounds).valid
    written = allocation.to_dict()["placement"]
    assert sum(map(len, written.values())) == (allocation.placement > 0).sum()


def test_a_solver_that_ends_without_an_optimum_is_followed_by_simplex(monkeypatch):
    instance = random_cluster(1, users=60, kinds=40, open_to=0.9)
    plain = solve(instance).levels
    monkeypatch.setitem(linear_programs.INSIDE, "ipm_iteration_limit", 1)
    assert solve(instance).levels == pytest.approx(plain, rel=1e-9)


def test_a_task_that_fits_to_the_last_digit_fits_where_classes_are_merged():
    # 9.1 of the first resource make the room of the second 1 - 1e-16, and u6 needs 1.
    machines = [Machine("c0", [5.2, 1], 2), Machine("c1", [9.1, 1]), Machine("c2", [5.2, 2], 3)]
    users = {"u1": [3, 0], "u2": [1, 0.5], "u4": [0, 1], "u5": [1, 0.5], "u6": [0, 1]}
    limits = {"u1": 3, "u2": 0.5, "u5": 0.5}
    eligible = {"u1": ["c0", "c1"], "u4": ["c0", "c2"]}
    cluster = Instance(users, machines=machines, max_tasks=limits, eligible=eligible, weights=[2, 2, 2, 2, 0.5])
    assert solve(cluster, "ceei").certificate.valid


def test_rounds_of_one_level_come_in_the_order_in_which_they_close_classes():
    machines = [Machine("m2", {"r": 6}), Machine("m3", {"r": 2}, 3)]
    cluster = Instance({"u0": {"r": 2}, "u1": {"r": 2}, "u2": {"r": 3}}, machines=machines, weights=[2, 1, 2])
    assert solve(cluster, "tasks").tasks.tolist() == [2, 1, 2]


def sparse_cluster(seed):
    """Return users on few of many classes: a round that finishes nearly all leaves next to nothing to the others."""
    random = np.random.default_rng(seed)
    demands = random.integers(1, 100, (200, 4)) * (random.random((200, 4)) < 0.5)
    demands[~demands.any(axis=1), 0] = 50
    room = random.integers(500, 2000, (24, 4)) * 200 // 24 + 200
    eligible = random.random((200, 24)) < 0.07
    eligible[np.arange(200), random.integers(0, 24, 200)] = True
    return Instance(demands, machines=[Machine(f"m{q}", row) for q, row in enumerate(room)], eligible=eligible)


@pytest.mark.parametrize(
    "seed", [8, pytest.param(26, marks=pytest.mark.slow), pytest.param(52, marks=pytest.mark.slow)]
)
def test_rounds_that_live_on_what_is_left_are_proven(seed):
    instance = sparse_cluster(seed)
    found, exact = solve(instance, engine="lp-chain"), solve(instance, exact=True)
    np.testing.assert_allclose(found.levels, exact.levels.astype(float), rtol=1e-10)


def test_later_programs_begin_where_the_one_before_ended(monkeypatch):
    steps = []
    run = lp_round.run

    def counted(highs, what, deadline):
        found = run(highs, what, deadline)
        steps.append(highs.getInfo().simplex_iteration_count)
        return found

    monkeypatch.setattr(lp_round, "run", counted)
    assert solve(sparse_cluster(3), engine="auto").certificate.valid
    assert len(steps) > 5 and max(steps[1:]) < steps[0] / 2


def test_a_round_that_floats_do_not_resolve_says_what_is_known(monkeypatch):
    """Of its cause nothing is known: these amounts are all of one size."""
    honest = lp_round.RoundProgram.proven

    def none_proven(program, level, prices):
        level, multipliers, proven = honest(program, level, prices)
        return level, multipliers, proven & False

    monkeypatch.setattr(lp_round.RoundProgram, "proven", none_proven)
    with pytest.raises(SolverError, match=r"to 1e-9: floats do not resolve it: choose units .*, or solve with exact"):
        solve(random_cluster(3), engine="lp-chain")
