"""Moves to the best whole tasks of every machine by itself, against everything that machines could run."""

import itertools
import random
from fractions import Fraction

import pytest

from drfopt import Instance, InstanceError, Machine, Organisation, PolicyError, rebalance
from drfopt.planning.rebalancing import separate


def small(seed):
    """Return a cluster with ties, and what each machine of it could run, with its sorted levels, tier by tier."""
    chance = random.Random(seed)
    rows = [[chance.choice([1, 1, 2]), chance.choice([0, 1, 2])] for _ in range(chance.randint(2, 3))]
    rooms = [([chance.randint(1, 3), chance.randint(1, 4)], chance.randint(1, 2)) for _ in range(2)]
    weights, counted = [chance.choice([1, 1, 2]) for _ in rows], chance.choice([(0, 1), (0, 1), (0,)])
    tiers = [0 if seed % 3 else chance.randint(0, 1) for _ in rows]
    named = {f"u{i}": tier for i, tier in enumerate(tiers, start=1) if tier}
    rules = Organisation(excluded=["r2"] if len(counted) < 2 else [], tiers=named if seed % 2 else {})
    weights = [weight if tier or seed % 3 or seed % 2 else 0 for weight, tier in zip(weights, tiers, strict=True)]
    machines = [Machine(f"m{k}", room, count) for k, (room, count) in enumerate(rooms)]
    instance = Instance(rows, machines=machines, weights=weights, organisation=rules)
    runs = []
    for room, _ in rooms:
        fits = [all(d <= c for d, c in zip(row, room, strict=True)) for row in rows]
        rates = [
            max(Fraction(row[j], room[j]) for j in counted) / (w or 1) for row, w in zip(rows, weights, strict=True)
        ]
        able = [
            tasks
            for tasks in itertools.product(*(range(4) if fit else (0,) for fit in fits))
            if all(sum(x * row[j] for x, row in zip(tasks, rows, strict=True)) <= room[j] for j in (0, 1))
        ]
        here = [(i, rates[i]) for i, fit in enumerate(fits) if fit]
        runs.append([([sorted(y * run[i] for i, y in here if tiers[i] == t) for t in (1, 0)], run) for run in able])
    return instance, [count for _, count in rooms], runs, chance


def lost(before, after):
    return sum(max(0, y - x) for y, x in zip(before, after, strict=True))


def fairest(runs, before, most=None):
    """Return the best levels of all that machines could run, so many tasks leaving at most, and minus the fewest."""
    best = ([[], []], 0)
    for chosen in itertools.product(*runs):
        leaving = sum(lost(y, tasks) for y, (_, tasks) in zip(before, chosen, strict=True))
        if most is None or leaving <= most:
            best = max(best, (together([levels for levels, _ in chosen]), -leaving))
    return best


def together(each):
    """Return the levels of several machines in one list for each tier."""
    return [sorted(itertools.chain(*tier)) for tier in zip(*each, strict=True)]


@pytest.mark.parametrize("seed", range(12))
def test_named_machines_lose_the_fewest_of_all(seed):
    instance, counts, runs, chance = small(seed)
    each = [k for k, count in enumerate(counts) for _ in range(count)]
    before = [chance.choice(runs[k])[1] for k in each]
    current = {
        "machines": {
            f"q{q}": {"class": f"m{k}", "tasks": dict(zip(instance.users, tasks, strict=True))}
            for q, (k, tasks) in enumerate(zip(each, before, strict=True))
        }
    }
    top = [max(levels for levels, _ in runs[k]) for k in each]
    found = rebalance(instance, current, policy="per-server")
    assert found.status == "optimal" and found.policy == "per-server"
    after = list(zip(*found.after.tolist(), strict=True))
    for k, tasks, levels in zip(each, after, top, strict=True):
        assert (levels, tuple(tasks)) in runs[k]
    best = sum(
        min(lost(y, tasks) for levels, tasks in runs[k] if levels == wanted)
        for k, y, wanted in zip(each, before, top, strict=True)
    )
    assert found.count("move") + found.count("evict") == best
    if len(each) < 4:
        levels, fewest = fairest([runs[k] for k in each], before, 1)
        one = rebalance(instance, current, policy="per-server", moves=1)
        after = list(zip(*one.after.tolist(), strict=True))
        had = together([next(v for v, t in runs[k] if t == tuple(tasks)) for k, tasks in zip(each, after, strict=True)])
        assert had == levels and one.count("move") + one.count("evict") == -fewest


@pytest.mark.parametrize("seed", range(12))
def test_classes_lose_the_fewest_of_all(seed):
    instance, counts, runs, chance = small(100 + seed)
    before = []
    for k, count in enumerate(counts):
        before.append([sum(column) for column in zip(*(chance.choice(runs[k])[1] for _ in range(count)), strict=True)])
    rows = {u: {f"m{k}": before[k][i] for k in range(2)} for i, u in enumerate(instance.users)}
    found = rebalance(instance, {"placement": rows}, policy="per-server")
    best = 0
    for k, count in enumerate(counts):
        top = max(levels for levels, _ in runs[k])
        ways = itertools.product([tasks for levels, tasks in runs[k] if levels == top], repeat=count)
        best += min(lost(before[k], [sum(column) for column in zip(*way, strict=True)]) for way in ways)
    assert found.status == "optimal"
    assert found.count("move") + found.count("evict") == best


def test_a_pool_is_one_machine_and_who_fits_nowhere_leaves(monkeypatch):
    pool = Instance([[1, 4], [3, 1]], [9, 18])
    one, other = (rebalance(pool, {"tasks": {"u1": 4}}, policy=policy) for policy in ("per-server", "drf"))
    assert one.after.tolist() == other.after.tolist() and one.status == "optimal"
    none = Instance([[9]], machines=[[1], [2]])
    assert rebalance(none, {"placement": {"u1": {"m1": 1}}}, policy="per-server").count("evict") == 1
    machines = Instance([[1], [9]], machines=[[1], [2]])
    found = rebalance(machines, {"placement": {"u2": {"m1": 1}, "u1": {"m2": 2}}}, policy="per-server")
    assert (found.count("evict"), found.count("start")) == (1, 1)
    teams = Instance([[1], [1]], machines=[[2]], organisation=Organisation(paths={"u1": "g"}))
    with pytest.raises(PolicyError, match="in which a group has one level, and it has one on each of them"):
        rebalance(teams, {"placement": {"u1": {"m1": 1}}}, policy="per-server")
    with pytest.raises(InstanceError, match="at least 1 must move"):
        rebalance(machines, {"placement": {"u2": {"m1": 1}}}, policy="per-server", moves=0)
    monkeypatch.setattr(separate, "PAIRS", 1)
    with pytest.raises(PolicyError, match="here there are 2"):
        rebalance(machines, {"placement": {"u1": {"m2": 2}}}, policy="per-server")
