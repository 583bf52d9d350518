"""Products and alpha fairness on machines, as a pool of prices: equal to enumeration, proven, and bounded."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from drfopt import Instance, Machine, solve
from drfopt.certificates import meet_in_the_middle, price_tree, whole
from drfopt.certificates.exhaustive_search import playing, worth
from drfopt.certificates.priced_halves import PricedHalves
from drfopt.engines.whole import load_prices
from drfopt.model.policies import policy_named
from drfopt.model.whole_values import WholeUsers

POLICIES = ("ceei", "alpha:2", "alpha:0.5", "alpha:0.3", "alpha:1.5", "alpha:5")


def drawn(seed):
    """Return a small cluster, its users who play, and the most that can be packed, as a set of tasks."""
    rng = np.random.default_rng(seed)
    n, m, k = int(rng.integers(2, 5)), int(rng.integers(1, 3)), int(rng.integers(1, 3))
    demands = rng.integers(0, 5, (n, m))
    demands[np.arange(n), rng.integers(0, m, n)] += 1
    rooms, counts = rng.integers(3, 10, (k, m)), rng.integers(1, 4, k)
    limits = [None if rng.random() < 0.6 else int(rng.integers(1, 7)) for _ in range(n)]
    weights = [Fraction(int(rng.integers(1, 5)), int(rng.integers(1, 4))) for _ in range(n)]
    machines = [Machine(f"m{q}", room.tolist(), int(c)) for q, (room, c) in enumerate(zip(rooms, counts, strict=True))]
    instance = Instance(demands.tolist(), machines=machines, max_tasks=limits, weights=weights)
    members = playing(instance)
    users = WholeUsers(instance, policy_named(POLICIES[seed % len(POLICIES)]), members)
    packed = {(0,) * len(members)}
    needs = demands[members]
    for room, count in zip(rooms, counts, strict=True):
        ends = [range(min(c // d for c, d in zip(room, row, strict=True) if d) + 1) for row in needs]
        loads = [load for load in itertools.product(*ends) if (np.array(load) @ needs <= room).all()]
        full = [a for a in loads if not any(a != b and all(map(int.__ge__, b, a)) for b in loads)]
        for _ in range(count):
            packed = {
                tuple(min(x + y, most) for x, y, most in zip(a, b, users.most, strict=True))
                for a in packed
                for b in full
            }
    return instance, users, packed


def compared(seeds):
    """Compare answers with enumeration; return how many of them were found in the pool of prices."""
    found = 0
    for seed in seeds:
        instance, users, packed = drawn(seed)
        if not users.members:
            continue
        value, policy = worth(users), POLICIES[seed % len(POLICIES)]
        answer = solve(instance, policy, integer=True)
        assert answer.status == "optimal", seed
        tasks = [int(answer.tasks[i]) for i in users.members]
        assert value(tasks) == max(value(list(map(int, row))) for row in packed), seed
        found += answer.engine == "priced-halves"
    return found


def test_answers_equal_enumeration():
    assert compared(range(40)) > 25


@pytest.mark.slow
def test_answers_equal_enumeration_at_length(some):
    assert compared(range(1_000, 1_000 + some(400))) > some(250)


def test_answers_equal_enumeration_without_a_tree(monkeypatch):
    monkeypatch.setattr(price_tree, "NODES", 0)
    assert compared(range(100, 130)) > 15


def test_every_packing_is_in_the_pool():
    learned = 0
    for seed in range(60):
        _, users, packed = drawn(seed)
        if not users.members:
            continue
        priced = PricedHalves(users)
        for tasks in packed:
            for needs, most in priced.more:
                assert sum(x * d for x, d in zip(tasks, needs, strict=True)) <= most
            if all(x >= priced.halves.least for x in tasks):
                assert priced.halves.loss(tasks) >= 0
        learned += bool(priced.more)
    assert learned > 20


def nodes(seed):
    rng = np.random.default_rng([48, 8, seed])
    return Instance(rng.integers(1, 101, (8, 2)), machines=[Machine("node", [400, 400], 48)])


@pytest.mark.parametrize("policy", ["ceei", "alpha:2"])
def test_machines_that_are_alike_are_proven(policy):
    """Chords and a tree of prices left 7 to 9 per cent after 20 seconds."""
    found = solve(nodes(0), policy, integer=True, time_limit=60)
    assert (found.engine, found.status) == ("priced-halves", "optimal")


def test_where_there_is_too_much_to_list_a_bound_is_near(monkeypatch):
    instance = nodes(1)
    best = solve(instance, "ceei", integer=True)
    users = WholeUsers(instance, policy_named("ceei"), list(range(8)))
    monkeypatch.setattr(meet_in_the_middle, "CHOICES", 10)
    monkeypatch.setattr(price_tree, "NODES", 1)
    monkeypatch.setattr(load_prices, "LISTED", 0)
    found = solve(instance, "ceei", integer=True, time_limit=4, engine="priced-halves")
    assert found.status == "feasible"
    assert 0 < found.certificate.gap < 0.01
    evidence = found.certificate.evidence
    mean = np.exp(np.log(best.tasks).mean())
    assert float(evidence.level) <= mean * (1 + 1e-9) <= float(evidence.bound) * (1 + 2e-9)
    assert not worth(users)(found.tasks.tolist()) > worth(users)(best.tasks.tolist())


def test_another_finder_is_judged_by_the_search_by_loads(monkeypatch):
    instance = Instance([[2, 3], [3, 1], [1, 4]], machines=[Machine("m", [9, 11], 3)])
    monkeypatch.setattr(price_tree, "NODES", 0)
    found = solve(instance, "ceei", integer=True, engine="nash-milp").certificate
    assert (found.evidence.judge, found.valid, found.rigorous) == (whole.LOADS, True, False)
    own = solve(instance, "ceei", integer=True).certificate
    assert (own.evidence.judge, own.valid, own.rigorous) == (whole.AGAIN, True, False)
