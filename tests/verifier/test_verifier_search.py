"""Whole tasks without trees, under rules and on machines: every division of a small cluster, against all others."""

import copy
import itertools
import math
from fractions import Fraction as F

import pytest
from test_verifier_mutants import file_of, without_levels

from drfopt import Instance, Machine, Organisation
from drfopt.certificates.verifier import verify, whole_search

NEEDS = {"A": (1, 0), "B": (2, 1)}
ROOMS = {"m": (3, 1), "n": (2, 2)}
RULES = {
    "none": {},
    "a promise": {"guarantees": {"A": {"a": 3}}},
    "two promises": {"guarantees": {"A": {"a": 4}, "B": {"a": 4, "b": 2}}},
    "in turn": {"tiers": {"B": 1}},
    "in turn, and a promise to the later": {"tiers": {"B": 1}, "guarantees": {"A": {"a": 2}}},
}
POLICIES = {
    "throughput": lambda x: x,
    "ceei": lambda x: (x > 0, x or 1),
    "alpha:2": lambda x: (x > 0, -F(1, x) if x else F(0)),
}


def loads():
    """Yield what there is room for, and on which machine: A's and B's tasks of each."""
    each = [
        [(x, y) for x, y in itertools.product(range(4), repeat=2) if x + 2 * y <= a and y <= b]
        for a, b in ROOMS.values()
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


@pytest.mark.parametrize("rules", RULES.values(), ids=list(RULES))
@pytest.mark.parametrize("policy", POLICIES)
def test_a_division_is_right_where_no_other_is_better(policy, rules):
    rows = {u: {r: x for r, x in zip("ab", need, strict=True) if x} for u, need in NEEDS.items()}
    rack = [Machine(name, dict(zip("ab", room, strict=True))) for name, room in ROOMS.items()]
    organisation = Organisation(**rules) if rules else None
    found = without_levels(file_of(Instance(rows, machines=rack, organisation=organisation), policy, integer=True))
    found.pop("placement", None)
    every, right = loads(), 0
    best = max(worth(tasks, policy, rules) for tasks in every)
    for tasks, on in every.items():
        for user, x in zip(found["users"], tasks, strict=True):
            user["tasks"] = x
        found["proof"] = {"packing": [
            {"class": name, "machines": 1, "tasks": dict(zip("AB", load, strict=True))}
            for name, load in zip(ROOMS, on, strict=True)
        ]}  # fmt: skip
        valid = verify(copy.deepcopy(found)).valid
        right += valid is True
        assert valid is (worth(tasks, policy, rules) == best), tasks
    assert 0 < right < len(every)


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
