"""Engines that answer in floats, on many users at once: what they find is proven, and no other engine is asked.

A check that refuses what is right, of one user in a thousand, is not seen on small clusters: fractions answer there.
"""

import numpy as np
import pytest

from drfopt import Group, Instance, Machine, Organisation, solve
from drfopt.base.tolerances import LEVEL

MANY = 10_000
FEWER = 3_000
"""Users where every stop is a dozen linear programs."""

GROUPS = 50
TEAMS = 3
"""Groups, and groups below each of them."""

RULES = {
    "no rules": "",
    "tree": "groups tiers ceiling",
    "floors": "groups guarantees ceiling",
    "promises": "groups tiers guarantees",
    "surplus": "groups tiers guarantees surplus",
}

CASES = (
    ("drf", "pool", "no rules", MANY, "filling"),
    ("path:1/2:1/2:1/2:1/2..1:1:1:1", "unlimited pool", "no rules", MANY, "path-filling"),
    ("alpha:2", "pool", "no rules", MANY, "newton"),
    ("utilitarian", "pool", "no rules", MANY, "lp"),
    ("drf", "pool", "tree", MANY, "tree-filling"),
    ("tasks", "pool", "promises", MANY, "tree-filling"),
    ("drf", "pool", "surplus", MANY, "tree-filling"),
    ("ceei", "pool", "floors", MANY, "bounded-barrier"),
    ("utilitarian", "pool", "floors", MANY, "bounded-lp"),
    ("drf", "machines", "no rules", MANY, "interior-chain"),
    ("tsf", "machines", "no rules", MANY, "lp-chain"),
    ("ceei", "machines", "no rules", MANY, "barrier"),
    ("utilitarian", "machines", "no rules", MANY, "lp"),
    ("per-server", "unlimited machines", "no rules", MANY, "servers"),
    ("drf", "machines", "tree", FEWER, "tree-chain"),
    ("drf", "machines", "surplus", FEWER, "tree-chain"),
    ("alpha:2", "machines", "floors", FEWER, "bounded-barrier"),
    ("utilitarian", "machines", "floors", FEWER, "bounded-lp"),
)


def cluster(n, there, rules):
    """Return n users of a pool, or of two classes of a hundred machines, with the rules of these words."""
    chance = np.random.default_rng(n)
    demands = chance.integers(0, 5, (n, 4))
    demands[np.arange(n), chance.integers(0, 4, n)] += 1
    capacity = 3 * demands.sum(axis=0)
    users = [f"u{i}" for i in range(n)]
    asked = {"users": users, "weights": chance.integers(1, 4, n), "capacity": capacity}
    if "machines" in there:
        asked |= {"capacity": None, "eligible": chance.random((n, 2)) < 0.5}
        asked["eligible"][np.arange(n), chance.integers(0, 2, n)] = True
        asked["machines"] = [Machine(f"m{k}", capacity * part // 300, 100) for k, part in enumerate(([1, 2] * 2, 2))]
    if "unlimited" not in there:
        asked["max_tasks"] = chance.integers(1, 20, n)
    organised = {"meaning": "surplus" if "surplus" in rules else "floor"}
    if "groups" in rules:
        above = [f"d{g}" for g in range(GROUPS)]
        teams = [f"{name}/t{t}" for name in above for t in range(TEAMS)]
        groups = [Group(name, int(chance.integers(1, 4))) for name in above + teams]
        most = {"r1": float(capacity[0] / GROUPS)}
        if "ceiling" in rules:
            groups[0] = Group("d0", ceiling=most)
        if "guarantees" in rules:
            groups[1] = Group("d1", guarantee=most)
        paths = dict(zip(users, (teams[t] for t in chance.integers(0, len(teams), n)), strict=True))
        organised |= {"groups": groups, "paths": paths}
    if "tiers" in rules:
        organised["tiers"] = {user: int(chance.random() < 0.1) for user in users}
    if "guarantees" in rules:
        organised["guarantees"] = {user: {"r2": 1, "r4": 2} for user in users[::7]}
    return Instance(demands, **asked, organisation=Organisation(**organised) if rules else None)


@pytest.mark.slow
@pytest.mark.parametrize("policy, there, rules, n, engine", CASES, ids=lambda part: str(part))
def test_many_users_are_proven_in_floats(policy, there, rules, n, engine):
    found = solve(cluster(n, there, RULES[rules]), policy, engine="lp-chain" if engine == "lp-chain" else "auto")
    assert found.engine == engine
    assert found.certificate.valid and found.certificate.violation <= LEVEL
    assert (found.tasks > 0).any()
