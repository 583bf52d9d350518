"""What to buy where machines are divided one by one, or a resource is not counted: the cheapest of all tried."""

import itertools
import random

import numpy as np
import pytest

from drfopt import Instance, Machine, Organisation, size, solve
from drfopt.planning.sizing import growing

MOST = 4
"""Machines of each class, or units of each resource, that may be bought."""


def small(seed, policy):
    """Return a small instance with zero demands, and costs."""
    chance = random.Random(seed)
    n, m = chance.randint(2, 3), 2
    rows = [[chance.choice([0, 1, 1, 2, 3]) for _ in range(m)] for _ in range(n)]
    rows = [row if any(row) else [1, 1] for row in rows]
    rules = None
    if policy != "per-server":
        rows = [[row[0] or 1, row[1]] for row in rows]
        rules = Organisation(excluded=["r2"])
    machines = [Machine(f"c{k}", [chance.randint(1, 4), chance.randint(1, 4)], chance.randint(1, 2)) for k in range(3)]
    allowed = [[chance.random() < 0.8 for _ in range(3)] for _ in range(n)]
    weights = [chance.choice([1, 2]) for _ in range(n)]
    instance = Instance(rows, machines=machines, eligible=np.array(allowed), weights=weights, organisation=rules)
    return instance, {f"c{k}": chance.randint(1, 6) for k in range(3)}, chance.randint(1, 6)


def after(instance, bought):
    parts = instance.parts()
    machines = [Machine(c.name, c.capacity, c.count + x) for c, x in zip(parts["machines"], bought, strict=True)]
    return Instance(**(parts | {"machines": machines}))


@pytest.mark.parametrize("policy", ["per-server", "drf", "asset"])
@pytest.mark.parametrize("seed", range(6))
def test_the_cheapest_purchase_is_that_of_all_tried(seed, policy):
    instance, costs, least = small(seed, policy)
    user = next((u for u, out in zip(instance.users, instance.unplaced(), strict=True) if not out), None)
    if user is None:
        return
    i = instance.users.index(user)
    tried = {
        bought: sum(x * c for x, c in zip(bought, costs.values(), strict=True))
        for bought in itertools.product(range(MOST + 1), repeat=3)
    }
    best = None
    for bought, cost in sorted(tried.items(), key=lambda item: item[1]):
        if solve(after(instance, bought), policy).tasks[i] >= least * (1 - 1e-9):
            best = cost
            break
    found = size(instance, f"{user}>={least}", costs, policy=policy, most=dict.fromkeys(costs, MOST), time_limit=60)
    assert found.cost == best
    assert best is None or found.bound == best


def test_a_pool_under_per_server_is_sized_as_under_drf():
    pool = Instance([[1, 4], [3, 1]], [9, 18])
    costs, units = {"r1": 3, "r2": 1}, {"r1": 1, "r2": 2}
    one, other = (size(pool, "u1>=5", costs, policy=p, steps=units, time_limit=60) for p in ("per-server", "drf"))
    assert (one.status, one.cost, one.bound) == (other.status, other.cost, other.bound)


def test_dear_classes_are_refuted_at_once():
    """Every machine gives the same whatever else is bought, so the program of the purchase says all of it."""
    machines = [Machine(f"c{k}", row) for k, row in enumerate([[12, 7], [5, 11], [9, 9], [4, 14]])]
    cluster = Instance([[1, 4], [3, 1], [2, 2], [4, 1]], machines=machines)
    found = size(cluster, "u1>=30,u2>=20", {"c0": 7, "c1": 5, "c2": 6, "c3": 4}, policy="per-server", time_limit=60)
    assert found.status == "optimal"
    assert found.judged < 20
    assert found.bound == found.cost


@pytest.mark.parametrize("seed", range(3))
def test_what_is_found_by_doubling_is_made_cheaper(seed, monkeypatch):
    instance, costs, _ = small(seed, "drf")
    user = next(u for u, out in zip(instance.users, instance.unplaced(), strict=True) if not out)
    asked = (f"{user}>={4 * solve(instance)[user].tasks}", costs)
    expected = size(instance, *asked)
    monkeypatch.setattr(growing, "ASKED", 0)
    found = size(instance, *asked)
    assert found.status == expected.status == "optimal" and found.cost == expected.cost
