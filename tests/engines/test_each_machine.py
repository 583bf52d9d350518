"""Every machine by itself: whole tasks, and resources that do not count, against everything a machine could run."""

import itertools
import json
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drfopt import Instance, Machine, Organisation, PolicyError, compare, crosscheck, explain, size, solve
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


def best(users, weights, room, devices, counted):
    """Return the best sorted levels on one machine: all vectors of tasks are tried."""
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
            top = max(top, sorted(rate * x for rate, x in zip(rates, tasks, strict=True)))
    return here, rates, top


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
    return users, weights, rooms, draw(st.integers(1, 3)), counted


def built(users, weights, rooms, count, counted):
    machines = [
        Machine(f"m{k}", {"a": a, "b": b, "g": g}, count if k == 0 else 1, devices={"g": g} if g else None)
        for k, (a, b, g) in enumerate(rooms)
    ]
    rules = None if len(counted) == 2 else Organisation(excluded=["b", "g"])
    return Instance(
        {f"u{i}": user for i, user in enumerate(users)},
        machines=machines,
        weights={f"u{i}": w for i, w in enumerate(weights)},
        organisation=rules,
    )


@settings(max_examples=60)
@given(clusters())
def test_on_each_machine_sorted_levels_are_the_best_of_all(drawn):
    users, weights, rooms, count, counted = drawn
    counted = ("a", "b", "g") if len(counted) == 2 else counted
    instance = built(users, weights, rooms, count, drawn[4])
    found = solve(instance, "per-server", integer=True)
    assert found.certificate.valid and found.certificate.rigorous and found.status == "optimal"
    total = np.zeros(len(users), dtype=int)
    machines = [0] * len(rooms)
    for k, number, pattern in found.certificate.evidence.packing:
        a, b, g = rooms[k]
        here, rates, top = best(users, weights, {"a": a, "b": b, "g": g}, {"g": g} if g else {}, counted)
        assert sorted(rate * pattern.get(i, 0) for i, rate in zip(here, rates, strict=True)) == top
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


@pytest.mark.parametrize("rules", [None, EXCLUDED], ids=["all count", "memory does not"])
def test_several_authors_agree(rules):
    found = crosscheck(rack(organisation=rules), "per-server", integer=True, formulation=FORMULATION)
    assert found.agree is True and found.max_disagreement == 0
    assert {"whole-servers", "enumeration, machine by machine", "CBC, machine by machine"} < set(found.named())


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
    with pytest.raises(PolicyError, match="asked of an instance with tiers, excluded resources"):
        solve(Instance(users, machines=[[4, 4]], resources=names, organisation=tiers), "per-server")


@pytest.mark.slow
def test_large_clusters_are_divided_class_by_class():
    chance = random.Random(3)
    machines = [Machine(f"m{k}", [chance.randint(20, 90) for _ in range(3)], chance.randint(1, 40)) for k in range(8)]
    users = [[chance.randint(0, 6) or 1, chance.randint(1, 9), chance.randint(0, 5)] for _ in range(30)]
    found = solve(Instance(users, machines=machines), "per-server", integer=True, time_limit=60)
    assert found.status == "optimal"
