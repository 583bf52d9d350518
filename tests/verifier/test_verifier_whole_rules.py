"""Whole tasks under rules and of several types, proven by trees: every answer, and nothing that is forged."""

import contextlib
import copy
import itertools
import json

import numpy as np
import pytest
from forging import attack, file_of, forged

from drfopt import Group, Instance, Machine, Organisation, TaskType, solve
from drfopt.base.errors import DrfoptError
from drfopt.certificates import whole
from drfopt.certificates.verifier import verify
from drfopt.io.native.reading import loads as read
from drfopt.model.policies import policy_named

KINDS = (("floor", False), ("surplus", False), ("normalised", False), ("", True), ("floor", True))
"""What guarantees mean, "" for no rules, and whether some users have several types of tasks."""


def drawn(seed, machines, meaning, types):
    """Return a small cluster: promises, tiers, ceilings of users and of one group of all, limits, types."""
    chance = np.random.default_rng(seed)
    n, m = int(chance.integers(2, 5)), int(chance.integers(1, 3))
    users, resources = [f"u{i}" for i in range(n)], [f"r{j}" for j in range(m)]
    demands = chance.integers(0, 4, (n, m))
    demands[demands.sum(axis=1) == 0, 0] = 1
    rows = {u: dict(zip(resources, row, strict=True)) for u, row in zip(users, demands.tolist(), strict=True)}

    def kind():
        needs = {r: int(chance.integers(0, 3)) for r in resources}
        return TaskType(needs if any(needs.values()) else {resources[0]: 1}, int(chance.integers(1, 5)))

    for u in users[::2] if types else ():
        rows[u] = [kind() for _ in range(int(chance.integers(2, 4)))]

    def some(part, most):
        return {r: int(chance.integers(1, most)) / 2 for r in resources if chance.random() < part}

    more = {"max_tasks": {u: int(chance.integers(1, 6)) for u in users if chance.random() < 0.3}}
    if meaning:
        promised = {u: row for u in users if chance.random() < 0.5 and (row := some(0.6, 10))}
        capped = {u: row for u in users if u not in promised and chance.random() < 0.3 and (row := some(0.4, 16))}
        together = chance.random() < 0.4
        more["organisation"] = Organisation(
            promised,
            ceilings=capped,
            tiers={u: int(chance.integers(0, 2)) for u in users} if seed % 2 else {},
            paths=dict.fromkeys(users, "g") if together else {},
            groups=[Group("g", ceiling=some(0.7, 20))] if together else [],
            meaning=meaning,
            excluded=[resources[0]] if m > 1 and seed % 7 == 0 else [],
        )
        more["weights"] = {u: int(chance.integers(seed % 4 != 1, 3)) for u in users}
    if not machines:
        return Instance(rows, dict(zip(resources, chance.integers(4, 16, m).tolist(), strict=True)), **more)
    racks = [dict(zip(resources, chance.integers(3, 8, m).tolist(), strict=True)) for _ in range(2)]
    return Instance(
        rows, machines=[Machine(f"c{q}", row, int(chance.integers(1, 3))) for q, row in enumerate(racks)], **more
    )


def answers(seeds, policies=("drf", "tasks"), kinds=KINDS):
    """Yield the files of what is proven by multipliers alone."""
    for seed, machines, (meaning, types), policy in itertools.product(seeds, (False, True), kinds, policies):
        with contextlib.suppress(DrfoptError):
            instance = drawn(seed, machines, meaning, types)
            if solve(instance, policy, integer=True).certificate.rigorous:
                yield file_of(instance, policy, integer=True)


def proven(files):
    found = [(data, verify(data)) for data in files]
    for data, report in found:
        assert report.valid is True, (data["policy"], [check for check in report.checks if not check.holds])
    return len(found)


def test_whole_tasks_under_rules_and_of_types_are_decided():
    assert proven(answers(range(1, 3), ("drf",))) > 10


@pytest.mark.slow
def test_hundreds_of_whole_tasks_under_rules_and_of_types_are_decided(some):
    assert proven(answers(range(3, 3 + some(100)))) > some(1_100)


def told(chance, found):
    """Return the file with a task less of somebody, in its packing too; or with one thing of it changed."""
    if chance.random() < 0.6:
        return forged(chance, found)
    found = copy.deepcopy(found)
    row = chance.choice([row for row in found["users"] if row["tasks"]] or found["users"])
    for each in found["users"]:
        each.pop("level", None)
    if not row["tasks"]:
        return found, "nothing"
    row["tasks"] = int(row["tasks"]) - 1
    for entry in found["proof"].get("packing", []):
        if entry["tasks"].get(row["name"]):
            entry["machines"] -= 1
            one = copy.deepcopy(entry) | {"machines": 1}
            one["tasks"][row["name"]] -= 1
            found["proof"]["packing"].append(one)
            break
    return found, "fewer"


def is_best(data):
    """Say whether the whole tasks of the file are as good as those that are found again."""
    instance, policy = read(json.dumps(data["instance"], default=str), "json"), policy_named(data["policy"])
    best = solve(instance, policy.name, integer=True).tasks.tolist()
    tasks = [int(row["tasks"]) for row in data["users"]]
    return whole.score(instance, policy, tasks) == whole.score(instance, policy, best)


def test_forged_whole_tasks_prove_nothing_that_is_not_so():
    files = list(answers(range(1, 2), ("drf",)))
    assert attack(files, 60, seed=1, forge=told, right=is_best) > 25


@pytest.mark.slow
def test_ten_thousand_forged_whole_tasks_prove_nothing_that_is_not_so(some):
    files = list(answers(range(10), ("drf",)))
    assert attack(files, some(10_000), seed=2, forge=told, right=is_best) > some(4_000)
