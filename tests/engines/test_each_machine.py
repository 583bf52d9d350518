"""Every machine by itself: whole tasks, and resources that do not count, against everything a machine could run."""

import itertools
import json
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drfopt import Group, Instance, Machine, Organisation, PolicyError, compare, crosscheck, explain, size, solve
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import loads, verify

FORMULATION = str(Path(__file__).resolve().parents[2] / "formulations" / "guarantees_integer.py")


def fits(user, room, devices):
    return all(d <= room.get(r, 0) for r, d in user.items()) and all(user.get(r, 0) <= 1 for r in devices)


def dealt(parts, count):
    """Say whether parts of devices go on so many devices, by trying each on each."""
    if not parts:
        return True

    def put(left, rooms):
        if not left:
            return True
        return any(
            put(left[1:], [*rooms[:b], rooms[b] - left[0], *rooms[b + 1 :]])
            for b in range(count)
            if rooms[b] >= left[0]
        )

    return put(sorted(parts, reverse=True), [Fraction(1)] * count)


def best(users, weights, room, devices, counted, ranks):
    """Return the best levels on one machine, sorted rank by rank: all vectors of tasks are tried."""
    here = [i for i, user in enumerate(users) if fits(user, room, devices)]
    most = [min(int(room[r] // d) for r, d in users[i].items() if d) for i in here]
    rates = [max(Fraction(d) / room[r] for r, d in users[i].items() if d and r in counted) / weights[i] for i in here]
    top = []
    for tasks in itertools.product(*(range(x + 1) for x in most)):
        used = {r: sum(x * users[i].get(r, 0) for x, i in zip(tasks, here, strict=True)) for r in room}
        if any(used[r] > room[r] for r in room):
            continue
        parts = {
            r: [users[i][r] for x, i in zip(tasks, here, strict=True) for _ in range(x) if users[i].get(r)]
            for r in devices
        }
        if all(dealt(parts[r], devices[r]) for r in devices):
            top = max(top, by_rank(ranks, here, rates, tasks))
    return here, rates, top


def by_rank(ranks, here, rates, tasks):
    """Return the levels of users on a machine, those who are served first before the others, each rank sorted."""
    levels = [(ranks[i], rate * x) for i, rate, x in zip(here, rates, tasks, strict=True)]
    return [sorted(y for at, y in levels if at == rank) for rank in sorted(set(ranks))]


@st.composite
def clusters(draw):
    """Return users, weights, machines, their devices and the resources that count; tied on purpose."""
    amounts = st.sampled_from([0, 0, 1, 1, 2, Fraction(1, 2)])
    n, counted = draw(st.integers(1, 4)), draw(st.sampled_from([("a", "b"), ("a", "b"), ("a",)]))
    kinds = draw(
        st.lists(
            st.tuples(st.sampled_from([1, 1, 2]), amounts, st.sampled_from([0, 0, Fraction(2, 5)])),
            min_size=1,
            max_size=3,
        )
    )
    users = [dict(zip("abg", draw(st.sampled_from(kinds)), strict=True)) for _ in range(n)]
    weights = draw(st.lists(st.sampled_from([1, 1, 2]), min_size=n, max_size=n))
    rooms = draw(
        st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from([0, 0, 1, 2])), min_size=1, max_size=3)
    )
    # Weight 0 comes last in its tier.
    ordered = draw(st.sampled_from([False, True]))
    ranks = draw(st.lists(st.tuples(st.sampled_from([0, -1]), st.booleans()), min_size=n, max_size=n))
    return users, weights, rooms, draw(st.integers(1, 3)), counted, ranks if ordered else [(0, False)] * n


def built(users, weights, rooms, count, counted, ranks):
    machines = [
        Machine(f"m{k}", {"a": a, "b": b, "g": g}, count if k == 0 else 1, devices={"g": g} if g else None)
        for k, (a, b, g) in enumerate(rooms)
    ]
    tiers = {f"u{i}": -tier for i, (tier, _) in enumerate(ranks) if tier}
    excluded = [] if len(counted) == 2 else ["b", "g"]
    rules = Organisation(tiers=tiers, excluded=excluded) if tiers or excluded else None
    weights = [0 if late else w for w, (_, late) in zip(weights, ranks, strict=True)]
    return Instance(
        {f"u{i}": user for i, user in enumerate(users)},
        machines=machines,
        weights={f"u{i}": w for i, w in enumerate(weights)},
        organisation=rules,
    )


@settings(max_examples=60)
@given(clusters())
def test_on_each_machine_sorted_levels_are_the_best_of_all(drawn):
    users, weights, rooms, _, counted, ranks = drawn
    counted = ("a", "b", "g") if len(counted) == 2 else counted
    instance = built(*drawn)
    weights = [1 if late else w for w, (_, late) in zip(weights, ranks, strict=True)]
    found = solve(instance, "per-server", integer=True)
    assert found.certificate.valid and found.certificate.rigorous and found.status == "optimal"
    total = np.zeros(len(users), dtype=int)
    machines = [0] * len(rooms)
    for k, number, pattern in found.certificate.evidence.packing:
        a, b, g = rooms[k]
        here, rates, top = best(users, weights, {"a": a, "b": b, "g": g}, {"g": g} if g else {}, counted, ranks)
        assert by_rank(ranks, here, rates, [pattern.get(i, 0) for i in here]) == top
        machines[k] += number
        for i, x in pattern.items():
            total[i] += number * x
    assert found.tasks.tolist() == total.tolist()
    assert all(there in (0, machine.count) for there, machine in zip(machines, instance.machines, strict=True))
    assert verify(loads(json.dumps(certificate_document(found)))).valid


def rack(**more):
    machines = [
        Machine("a", {"cpu": 7, "memory": 11}, 3),
        Machine("b", {"cpu": 5, "memory": 4, "gpu": 2}, 2, devices={"gpu": 2}),
    ]
    users = {"A": {"cpu": 1, "memory": 3}, "B": {"cpu": 2, "memory": 1}, "C": {"cpu": 1, "gpu": "0.5"}}
    return Instance(users, machines=machines, weights={"A": 1, "B": 2, "C": 1}, **more)


EXCLUDED = Organisation(excluded=["memory"])
TIERS = Organisation(tiers={"C": 1})
TREE = Organisation(paths={"A": "g", "B": "h", "C": "h"}, groups=[Group("g", 2), Group("h")], tiers={"B": 2})


@pytest.mark.parametrize("rules", [None, EXCLUDED, TIERS], ids=["all count", "memory does not", "in tiers"])
def test_several_authors_agree(rules):
    found = crosscheck(rack(organisation=rules), "per-server", integer=True, formulation=FORMULATION)
    assert found.agree is True and found.max_disagreement == 0
    assert {"whole-servers", "enumeration, machine by machine", "CBC, machine by machine"} < set(found.named())


@settings(max_examples=60)
@given(clusters())
def test_in_order_everybody_has_a_bottleneck_on_each_machine(drawn):
    """A resource that is full of those who are served no later, none of whom is of a later rank or at a higher level.

    Of divisible tasks that is the leximin of the first rank, then with what it leaves that of the next, and so on.
    """
    users, weights, rooms, count, _, ranks = drawn
    instance = built(users, weights, [(a, b, 0) for a, b, _ in rooms], count, ("a", "b"), ranks)
    found = solve(instance, "per-server", exact=True)
    if not found.placement.any():
        return
    for k, (a, b, _) in enumerate(rooms):
        room, many = {"a": a, "b": b}, count if k == 0 else 1
        here = [i for i, user in enumerate(users) if fits(user, {**room, "g": 0}, {})]
        z = {i: found.placement[i, k] / many for i in here}
        w = [1 if late else w for w, (_, late) in zip(weights, ranks, strict=True)]
        y = {i: z[i] * max(Fraction(users[i][r]) / room[r] / w[i] for r in room if users[i][r]) for i in here}
        full = [r for r in room if room[r] and sum(z[i] * users[i][r] for i in here) == room[r]]
        for i in here:
            assert any(
                users[i][r]
                and all(
                    (not z[h] or ranks[h] <= ranks[i]) and (ranks[h] != ranks[i] or y[h] <= y[i])
                    for h in here
                    if users[h][r]
                )
                for r in full
            )
    floats = solve(instance, "per-server")
    assert floats.tasks == pytest.approx([float(x) for x in found.tasks], rel=1e-9, abs=1e-12)
    for answer in (found, floats):
        data = loads(json.dumps(certificate_document(answer)))
        assert verify(data).valid


@pytest.mark.parametrize("rules", [TIERS, TREE], ids=["tiers", "groups"])
@pytest.mark.parametrize("how", [{}, {"exact": True}, {"integer": True}], ids=["divisible", "exact", "whole"])
def test_an_order_and_a_tree_hold_on_each_machine(rules, how):
    """What each class has is what its users make of it as a pool; others who are served first have another answer."""
    # No devices: a pool has none.
    plain = [Machine("a", {"cpu": 7, "memory": 11, "gpu": 0}, 3), Machine("b", {"cpu": 5, "memory": 4, "gpu": 1}, 2)]
    instance = Instance(**(rack(organisation=rules).parts() | {"machines": plain}))
    found = solve(instance, "per-server", **how)
    tasks = np.zeros(3, dtype=found.tasks.dtype)
    for machine, here in zip(plain, ("AB", "ABC"), strict=True):
        parts = instance.parts()
        rows = [instance.users.index(user) for user in here]
        parts |= {key: [parts[key][i] for i in rows] for key in ("demands", "weights", "users")}
        order = {user: tier for user, tier in rules.tiers.items() if user in here}
        own = replace(rules, tiers=order, paths={user: path for user, path in rules.paths.items() if user in here})
        pool = parts | {"machines": None, "eligible": None, "capacity": machine.capacity, "organisation": own}
        tasks[rows] = tasks[rows] + machine.count * solve(Instance(**pool), "drf", **how).tasks
    assert found.tasks == pytest.approx(tasks)
    data = loads(json.dumps(certificate_document(found)))
    assert verify(data).valid
    for user in data["users"]:
        user.pop("level", None)
    data["instance"].get("groups", data["instance"]["users"][:1])[-1]["tier"] = 3
    assert not verify(data).valid


def test_what_is_promised_of_all_machines_is_nobodys_on_one():
    for rules in ({"guarantees": {"A": {"cpu": 1}}}, {"paths": {"A": "g"}, "groups": [Group("g", ceiling={"cpu": 1})]}):
        with pytest.raises(PolicyError, match=r"asked of an instance with (guarantees|ceilings), and it divides every"):
            solve(rack(organisation=Organisation(tiers={"B": 1}, **rules)), "per-server")
    limited = rack(organisation=Organisation(tiers={"B": 1}), max_tasks={"A": 3})
    with pytest.raises(PolicyError, match="knows no limit on all of them"):
        solve(limited, "per-server")


def test_a_pool_is_one_machine():
    pool = Instance([[1, 4], [3, 1]], [9, 18])
    found, plain = (solve(pool, policy, integer=True) for policy in ("per-server", "drf"))
    assert found.tasks.tolist() == plain.tasks.tolist() == [3, 2]
    assert crosscheck(pool, "per-server", integer=True).agree is True
    assert verify(loads(json.dumps(certificate_document(found)))).valid
    assert compare(pool, ["per-server"], integer=True).integrality["per-server"].optimum == pytest.approx(2 / 3)


def forged(found, change):
    data = loads(json.dumps(certificate_document(found)))
    for user in data["users"]:
        user.pop("level", None)
    change(data)
    for user in data["users"]:
        user["tasks"] = sum(e["machines"] * e["tasks"].get(user["name"], 0) for e in data["proof"]["packing"])
    return data


def one_less(data):
    data["proof"]["packing"][0]["tasks"]["A"] -= 1


def an_empty_machine(data):
    data["proof"]["packing"][0]["machines"] -= 1


def unlike_machines(data):
    row = data["proof"]["packing"][0]
    data["proof"]["packing"].append(row | {"machines": 1, "tasks": {"A": 1, "B": 3}})
    row["machines"] -= 1
    data["proof"]["servers"].append(data["proof"]["servers"][0])


def without_trees(data):
    data["proof"]["servers"][1]["trees"] = []


def a_limit(data):
    data["instance"]["users"][0]["max_tasks"] = 20


@pytest.mark.parametrize("change", [one_less, an_empty_machine, unlike_machines, without_trees, a_limit])
def test_forged_files_are_not_accepted(change):
    found = solve(rack(), "per-server", integer=True)
    assert verify(forged(found, lambda data: None)).valid is True
    assert verify(forged(found, change)).valid is not True


def test_what_is_said_of_machines_by_themselves():
    instance = rack()
    found = solve(instance, "per-server", integer=True)
    assert not found.other_placements
    beside = compare(instance, ["per-server"], integer=True).integrality["per-server"]
    assert beside.measure == "lowest level on a machine" and beside.optimum <= beside.continuous
    assert "add 1*a would give it 14 tasks instead of 11" in str(explain(instance, "per-server", integer=True))
    bought = size(instance, "A>=14,C>=9", {"a": 3, "b": 2}, policy="per-server", integer=True)
    assert (bought.status, bought.cost) == ("optimal", 6)


def test_excluded_resources_alone_are_known_and_other_rules_are_not():
    users = {"A": {"cpu": 1, "memory": 2}, "B": {"cpu": 1}}
    names = ["cpu", "memory"]
    half = Instance(users, machines=[[4, 4], [2, 8]], resources=names, organisation=EXCLUDED)
    found = solve(half, "per-server", exact=True)
    # The same part of the CPU on each; by the memory too A would have less on the first.
    assert [str(x) for x in found.tasks.tolist()] == ["3", "3"]
    assert [str(y) for y in found.levels.tolist()] == ["1/2", "1/2"]
    assert crosscheck(half, "per-server").agree and crosscheck(half, "per-server", exact=True).agree
    assert verify(loads(json.dumps(certificate_document(found)))).valid
    data = loads(json.dumps(certificate_document(found)))
    data["instance"]["excluded"] = ["cpu"]
    assert not verify(data).valid
    only = Instance(
        {"A": {"memory": 1}, "B": {"cpu": 1}}, machines=[[4, 4]], resources=["cpu", "memory"], organisation=EXCLUDED
    )
    with pytest.raises(PolicyError, match="user 'A' uses only resources that are excluded"):
        solve(only, "per-server")
    tiers = Organisation(excluded=["memory"], tiers={"A": 1})
    found = solve(Instance(users, machines=[[4, 4]], resources=names, organisation=tiers), "per-server", exact=True)
    assert found.tasks.tolist() == [2, 2]


@pytest.mark.slow
def test_large_clusters_are_divided_class_by_class():
    chance = random.Random(3)
    machines = [Machine(f"m{k}", [chance.randint(20, 90) for _ in range(3)], chance.randint(1, 40)) for k in range(8)]
    users = [[chance.randint(0, 6) or 1, chance.randint(1, 9), chance.randint(0, 5)] for _ in range(30)]
    found = solve(Instance(users, machines=machines), "per-server", integer=True, time_limit=60)
    assert found.status == "optimal"
