"""Whole tasks without trees, under rules and on machines: every division of a small cluster, against all others."""

import copy
import itertools
import math
from fractions import Fraction as F
from types import SimpleNamespace

import pytest
from test_verifier_mutants import file_of, without_levels

from drfopt import Group, Instance, Machine, Organisation
from drfopt.certificates.verifier import verify, whole_search
from drfopt.certificates.verifier.claims import Claim
from drfopt.certificates.verifier.cluster import Cluster

NEEDS = {"A": (1, 0), "B": (2, 1)}
ROOMS = {"m": (3, 1), "n": (2, 2)}
RULES = {
    "none": {},
    "a promise": {"guarantees": {"A": {"a": 3}}},
    "two promises": {"guarantees": {"A": {"a": 4}, "B": {"a": 4, "b": 2}}},
    "in turn": {"tiers": {"B": 1}},
    "in turn, and a promise to the later": {"tiers": {"B": 1}, "guarantees": {"A": {"a": 2}}},
    "a ceiling": {"paths": {"B": "g"}, "groups": [Group("g", ceiling={"a": 3})]},
    "a ceiling of both": {"paths": {"A": "g", "B": "g"}, "groups": [Group("g", ceiling={"a": 3})]},
}
MOST = {"a ceiling": lambda x, y: 2 * y <= 3, "a ceiling of both": lambda x, y: x + 2 * y <= 3}
POLICIES = {
    "throughput": lambda x: x,
    "ceei": lambda x: (x > 0, x or 1),
    "alpha:2": lambda x: (x > 0, -F(1, x) if x else F(0)),
}


def loads(rooms, elsewhere=()):
    """Return what there is room for, and on which machine: A's and B's tasks of each, A's not on some."""
    each = [
        [
            (x, y)
            for x, y in itertools.product(range(6), repeat=2)
            if x + 2 * y <= a and y <= b and not (x and k in elsewhere)
        ]
        for k, (a, b) in rooms.items()
    ]
    return {tuple(map(sum, zip(*on, strict=True))): on for on in itertools.product(*each)}


def worth(tasks, policy, rules):
    """What is kept of promises, from the least; and then what tasks are worth, tier by tier."""
    promised = {u: row["a"] // NEEDS[u][0] for u, row in rules.get("guarantees", {}).items()}
    kept = sorted(min(F(x, promised[u]), F(1)) for u, x in zip("AB", tasks, strict=True) if u in promised)
    each = [POLICIES[policy](x) for x in tasks]
    if "tiers" in rules:
        return kept, each[1], each[0]
    if policy == "throughput":
        return kept, sum(each)
    served, values = sum(one[0] for one in each), [one[1] for one in each]
    if policy == "ceei":
        return kept, served, math.prod(values)
    # Of levels: B's are of larger tasks.
    return kept, served, sum(value / rate for value, rate in zip(values, RATES, strict=True))


RATES = (F(1, 5), F(2, 5))
"""What a task of each is of the cluster: of five of the first resource, and of three of the second."""


def judged(instance, policy, every, best):
    """Judge all these divisions, of which those that are as good as the best are right; return how many there are."""
    found, right = without_levels(file_of(instance, policy, integer=True)), 0
    found.pop("placement", None)
    for tasks, on in every.items():
        for user, x in zip(found["users"], tasks, strict=True):
            user["tasks"] = x
        found["proof"] = on
        valid = verify(copy.deepcopy(found)).valid
        right += valid is True
        assert valid is best(tasks), tasks
    return right


ROWS = {u: {r: x for r, x in zip("ab", need, strict=True) if x} for u, need in NEEDS.items()}


def packed(rooms, on):
    return {"packing": [
        {"class": name, "machines": 1, "tasks": dict(zip("AB", load, strict=True))}
        for name, load in zip(rooms, on, strict=True)
    ]}  # fmt: skip


@pytest.mark.parametrize("where", ["machines", "some machines", "pool"])
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("policy", POLICIES)
def test_a_division_is_right_where_no_other_is_better(policy, name, where):
    rules, rooms = RULES[name], {"": (5, 3)} if where == "pool" else ROOMS
    elsewhere = ["m"] if where == "some machines" else []
    cluster = {"capacity": dict(zip("ab", rooms[""], strict=True))} if where == "pool" else {
        "machines": [Machine(name, dict(zip("ab", room, strict=True))) for name, room in rooms.items()]}  # fmt: skip
    cluster |= {"eligible": {"A": ["n"]}} if elsewhere else {}
    organisation = Organisation(**rules) if rules else None
    every = loads(rooms, elsewhere)
    every = {tasks: on for tasks, on in every.items() if name not in MOST or MOST[name](*tasks)}
    proofs = {tasks: {} if where == "pool" else packed(rooms, on) for tasks, on in every.items()}
    best = max(worth(tasks, policy, rules) for tasks in every)
    instance = Instance(ROWS, **cluster, organisation=organisation)
    right = judged(instance, policy, proofs, lambda tasks: worth(tasks, policy, rules) == best)
    assert 0 < right < len(every)


def test_a_division_of_parts_of_devices_is_right_where_no_other_is_better():
    """Two devices, of which a task of A takes two thirds, and one of B a half, or none is on a whole one."""
    machine = Machine("m", {"a": 5}, devices={"gpu": 2})
    rows = {"A": {"gpu": "2/3"}, "B": {"gpu": "1/2", "a": 1}}
    every = {
        (x, y): [{"A": 1}] * x + [{"B": 2}] * (y // 2) + [{"B": 1}] * (y % 2)
        for x, y in ((0, 0), (1, 0), (2, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 1), (1, 2))
    }
    proofs = {
        tasks: {"packing": [{"class": "m", "machines": 1, "tasks": dict(zip("AB", tasks, strict=True)), "devices": {
            "gpu": on}}]} for tasks, on in every.items()
    }  # fmt: skip
    instance = Instance(rows, machines=[machine])
    assert judged(instance, "throughput", proofs, lambda tasks: tasks == (0, 4)) == 1
    assert judged(instance, "ceei", proofs, lambda tasks: tasks == (1, 2)) == 1


def test_no_two_tasks_are_on_one_device_that_has_not_room_for_both():
    """Three tasks would be no more than there is, of two devices with two units each."""
    rows, machine = {"A": {"gpu": "4/3"}, "B": {"gpu": "6/5"}}, Machine("m", {"gpu": 4}, devices={"gpu": 2})
    proofs = {
        (x, y): {"packing": [{"class": "m", "machines": 1, "tasks": {"A": x, "B": y}, "devices": {
            "gpu": [{"A": 1}] * x + [{"B": 1}] * y}}]}
        for x, y in itertools.product(range(3), repeat=2) if x + y <= 2
    }  # fmt: skip
    instance = Instance(rows, machines=[machine])
    assert judged(instance, "throughput", proofs, lambda tasks: sum(tasks) == 2) == 3


def test_what_is_too_near_to_be_told_apart_is_not_decided(monkeypatch):
    monkeypatch.setattr(whole_search.Value, "better", lambda *_: None)
    (check,) = (check for check in verify(three()).checks if check.name == "nothing is better")
    assert check.holds is None and "too near" in check.worst


def short_of(rows, cluster, promised, **limits):
    """Whole tasks of users in order, without trees: the most there are beside what is promised."""
    rules = Organisation(guarantees=promised)
    found = file_of(Instance(rows, **cluster, organisation=rules, **limits), "throughput", integer=True)
    found["proof"].pop("trees", None)
    return without_levels(found)


def three():
    """Users of whom two want one task, in a pool of six."""
    rows = {name: {"a": 1} for name in "ABC"}
    return short_of(rows, {"capacity": {"a": 6}}, {"A": {"a": 1}}, max_tasks={"B": 1, "C": 1})


def torn():
    """Two machines on each of which there is room for half a task more."""
    rows = {name: {"a": 2} for name in "AB"}
    return short_of(rows, {"machines": [Machine("m", {"a": 3}, 2)]}, {"A": {"a": 2}})


MANY = "the file has no trees, and there are too many tasks to look at everything that could be"
PLACED = "the file has no trees, and there are too many tasks to try every way to place them"


@pytest.mark.parametrize(("make", "name", "enough", "begun", "counted"), [
    (three, "BRANCHES", 10, 8, True),
    (torn, "BRANCHES", 15, 4, True),
    (three, "DEEP", 3, 3, False),
    (torn, "DEEP", 3, 2, False),
])  # fmt: skip
def test_a_search_that_is_too_long_is_not_begun_or_not_ended(monkeypatch, make, name, enough, begun, counted):
    def told(limit):
        monkeypatch.setattr(whole_search, name, limit)
        (found,) = (check for check in verify(make()).checks if check.name == "nothing is better")
        assert found.holds is (None if found.worst else True)
        return found.worst

    assert told(enough) == ""
    assert told(begun - 1) == MANY
    for limit in range(begun, enough):
        more = f"the file has no trees, and more than {limit} branches would have to be looked at"
        assert told(limit) == (more if counted else PLACED)


def test_what_ends_with_a_way_to_place_tasks_counts_all_its_branches(monkeypatch):
    """Of ten the last ones are ways to place two tasks of A's, after it is known that there is no room for three."""
    less = torn()
    less["users"][1]["tasks"], less["placement"]["B"] = 0, {}
    del less["proof"]["packing"][1]
    for limit, holds in ((8, None), (9, None), (10, False)):
        monkeypatch.setattr(whole_search, "BRANCHES", limit)
        (check,) = (check for check in verify(less).checks if check.name == "nothing is better")
        assert check.holds is holds


def test_what_is_better_in_a_pool_can_be_run(monkeypatch):
    monkeypatch.setattr(whole_search, "DEEP", 3)
    less = three()
    less["users"][0]["tasks"] -= 1
    (check,) = (check for check in verify(less).checks if check.name == "nothing is better")
    assert check.holds is False


def test_tasks_need_what_there_is_of_a_ceiling_only_below_it():
    rules = Organisation(**RULES["a ceiling"])
    found = file_of(Instance(ROWS, {"a": 5, "b": 3}, organisation=rules), "throughput", integer=True)
    needs = whole_search._Search(Claim(Cluster(found["instance"]), found)).needs
    assert (needs[0][1], needs[1][1]) == ((1, 0, 0), (2, 1, 2))


def test_the_most_that_is_left_for_one():
    search = SimpleNamespace(needs=[[(F(x),) for x in range(9)]])
    assert [whole_search._Search.alone(search, 0, (F(left),)) for left in range(11)] == [*range(9), 8, 8]
