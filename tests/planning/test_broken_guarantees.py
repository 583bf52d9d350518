"""Guarantees that do not fit together: whose is broken, by how much, wherever the division is shown."""

from collections import namedtuple
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest

from drfopt import Group, Instance, Machine, Organisation, TaskType, compare, explain, solve, what_if
from drfopt.planning.sweeping import sweep
from drfopt.reporting import study

ROWS = {"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}, "C": {"gpu": 1}}
ROOM = {"cpu": 9, "memory": 18, "gpu": 0}
MACHINES = [Machine("m", ROOM)]
EACH = Organisation(guarantees={"A": {"cpu": 8}, "B": {"cpu": 8}})


def owed(allocation):
    return [(row.owner, row.of_group, row.resource, row.held, row.promised) for row in allocation.broken]


@pytest.mark.parametrize("exact", [False, True])
def test_users_are_named_with_what_they_hold(exact):
    """Memory allows 8 f tasks of A and 8/3 f of B with 104/3 f = 18: both hold f = 27/52 of theirs."""
    allocation = solve(Instance(ROWS, ROOM, organisation=EACH), exact=exact)
    held = F(54, 13) if exact else pytest.approx(54 / 13)
    assert owed(allocation) == [("A", False, "cpu", held, 8), ("B", False, "cpu", held, 8)]
    assert allocation.status == "optimal", "that is what the rules make of promises that do not fit"
    assert "A has 4.15385 of 8 cpu" in str(allocation)
    assert allocation.to_dict()["broken_guarantees"][1]["user"] == "B"


def test_groups_and_who_fits_nowhere_are_named():
    """g is worth 9 tasks of A and h 18 of B, whatever else they need: of the 63 cpu promised there are 9, a seventh."""
    groups = [Group("g", guarantee={"cpu": 9}), Group("h", guarantee={"memory": 18})]
    tree = Organisation(groups=groups, paths={"A": "g", "B": "h", "C": "h"})
    for cluster in ({"capacity": ROOM}, {"machines": MACHINES}):
        assert [row[:4] for row in owed(solve(Instance(ROWS, **cluster, organisation=tree)))] == [
            ("g", True, "cpu", pytest.approx(9 / 7)),
            ("h", True, "memory", pytest.approx(18 / 7)),
        ]
        nowhere = Organisation(guarantees={"C": {"gpu": 2}})
        assert owed(solve(Instance(ROWS, **cluster, organisation=nowhere))) == [("C", False, "gpu", 0, 2)]


def test_kept_promises_are_not_named():
    for promise in ({"cpu": 1}, {"cpu": 8, "memory": 2}):
        kept = solve(Instance(ROWS, ROOM, organisation=Organisation(guarantees={"A": promise})))
        assert not kept.broken and "broken_guarantees" not in kept.to_dict()
    capped = Instance(ROWS, ROOM, organisation=EACH, max_tasks={"A": 1})
    assert not solve(capped).broken, "nobody is owed more than the tasks that it has"


def test_of_a_search_that_was_cut_short_nobody_says_that_promises_cannot_be_kept():
    found = solve(Instance(ROWS, ROOM, organisation=EACH))
    assert "guarantees that cannot be met: " in str(found)
    assert "guarantees that are not met here: " in str(replace(found, status="time_limit"))


def test_every_place_tells():
    cluster = Instance(ROWS, ROOM, organisation=EACH)
    words = "guarantees that cannot be met"
    found = explain(cluster)
    assert words in str(found) and [row["user"] for row in found.to_dict()["broken_guarantees"]] == ["A", "B"]
    assert f"{words}, at 2 of 3 values; at 1: A has" in str(sweep(cluster, [4, 1, "3/2"]))
    assert words not in str(sweep(cluster, [4]))
    assert f"drf: {words}" in str(compare(cluster, ["drf"]))
    assert f"{words} before" in str(what_if(cluster, ["set-guarantee A.cpu=none"]))
    assert study(cluster, ["drf"])["comparison"]["allocations"][0]["broken_guarantees"]


def test_of_several_types_of_whole_tasks_what_runs_is_held():
    """Two tasks of 7/2 on average are promised; the one that runs is the first, of 3."""
    users = {"u": [TaskType({"r": 3}, 4), TaskType({"r": 4}, 4)], "v": {"r": 4}}
    rules = Organisation(guarantees={"u": {"r": 7}, "v": {"r": 4}})
    cluster = Instance(users, machines=[Machine("c", {"r": 6}, 2)], max_tasks=[2, 2], organisation=rules)
    assert owed(solve(cluster, integer=True)) == [("u", False, "r", 3, 7)]


def test_whole_tasks_of_a_formulation_are_owed_whole_tasks():
    """7 of cpu are three whole tasks of 2, which run."""
    rules = Organisation(guarantees={"A": {"cpu": 7}})
    cluster = Instance({"A": {"cpu": 2}}, {"cpu": 7}, organisation=rules)

    def build(data, held):
        import cvxpy as cp

        tasks = cp.Variable(1, integer=True)
        limits = [tasks >= np.floor(data.promised), data.demands.T @ tasks <= data.capacity]
        return namedtuple("Program", "problem tasks levels")(
            cp.Problem(cp.Maximize(cp.sum(tasks)), limits), tasks, None
        )

    found = solve(cluster, build, integer=True)
    assert found.tasks.tolist() == [3] and not found.broken
