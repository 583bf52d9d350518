"""Tiers, floors and resources that do not count, in a pool: proven from the levels alone, and other answers refused."""

import json
from fractions import Fraction

import numpy as np
import pytest

from drfopt import Instance, Organisation, solve
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import loads, verify


def drawn(seed):
    """Return a pool with guarantees that fit together, tiers and limits."""
    chance = np.random.default_rng(seed)
    n, m = int(chance.integers(2, 6)), int(chance.integers(1, 4))
    demands = chance.integers(0, 4, (n, m))
    demands[demands.sum(axis=1) == 0, 0] = 1
    room = chance.integers(8, 30, m)
    users, resources = [f"u{i}" for i in range(n)], [f"r{j}" for j in range(m)]
    guarantees = {u: {r: int(room[j]) / 2 / n} for u in users if chance.random() < 0.5 for j, r in enumerate(resources)}
    tiers = {u: int(chance.integers(0, 3)) for u in users if seed % 2}
    limits = [None if chance.random() < 0.6 else int(chance.integers(0, 6)) for _ in users]
    rows = {u: dict(zip(resources, row, strict=True)) for u, row in zip(users, demands.tolist(), strict=True)}
    return Instance(
        rows,
        dict(zip(resources, room.tolist(), strict=True)),
        max_tasks=dict(zip(users, limits, strict=True)),
        organisation=Organisation(guarantees, tiers=tiers),
    )


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("seed", range(15))
def test_the_answer_is_proven_and_none_beside_it(seed, exact):
    instance = drawn(seed)
    for policy in ("drf", "asset", "tasks"):
        found = loads(json.dumps(certificate_document(solve(instance, policy, exact=exact))))
        report = verify(found)
        assert report.valid is True, [check for check in report.checks if not check.holds]
        for user in found["users"]:
            del user["level"]
        for i, user in enumerate(found["users"]):
            own = user["tasks"]
            for factor in (Fraction(1) - Fraction(1, 10**6), Fraction(1, 2), Fraction(1) + Fraction(1, 10**6)):
                moved = Fraction(str(own)) * factor
                found["users"][i]["tasks"] = str(moved) if exact else float(moved)
                assert Fraction(str(own)) == 0 or verify(found).valid is not True
            found["users"][i]["tasks"] = own


def test_what_is_not_kept_is_not_decided():
    promised = Organisation({"A": {"a": 8}, "B": {"a": 8}})
    found = solve(Instance({"A": {"a": 1}, "B": {"a": 1}}, {"a": 10}, organisation=promised), exact=True)
    report = verify(loads(json.dumps(certificate_document(found))))
    assert report.valid is None and "guarantees" in report.checks[-1].worst
