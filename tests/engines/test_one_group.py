"""Whose group counts: who can have no whole task changes nothing of what others have."""

import pytest

from drfopt import EngineError, crosscheck, solve, verify
from drfopt.io.native.reading import built


def test_who_can_have_no_task_makes_no_second_group():
    a = {"name": "A", "demand": {"cpu": 3}, "max_tasks": 4, "guarantee": {"cpu": 4}, "group": "g"}
    b = {"name": "B", "demand": {"cpu": 1, "mem": 3}, "group": "g"}
    c = {"name": "C", "demand": {"cpu": 1, "mem": 2}, "weight": 2, "group": "g"}
    others = [
        {"max_tasks": 0},
        {"max_tasks": "1/2", "group": "h"},
        {"ceiling": {"cpu": "1/2"}},
        {"demand": {"cpu": 11}},
        {"group": "shut"},
    ]
    for other in ({}, *others):
        users = [a, b, c] + ([{"name": "Z", "demand": {"cpu": 1}} | other] if other else [])
        groups = [{"name": "g", "weight": 2}, {"name": "h"}, {"name": "shut", "ceiling": {"cpu": "1/2"}}]
        instance = built({"capacity": {"cpu": 10, "mem": 4}, "users": users, "groups": groups}, "here")
        found = solve(instance, "asset", integer=True)
        assert found.tasks[:3].tolist() == [3, 1, 0], other
        assert verify(found).valid, other
        checked = crosscheck(instance, "asset", integer=True)
        assert checked.agree and not any("group-sweep" in str(row) for row in checked.to_dict()["engines"]), other
    with pytest.raises(EngineError, match="with one group of everybody"):
        solve(instance, "asset", integer=True, engine="group-sweep")


def test_who_can_have_a_whole_task_is_asked_where_tasks_are_whole():
    """Of a hundred thousand users in a tree it took longer to ask than to solve."""
    users = [{"name": name, "demand": {"cpu": 1}, "group": name[0]} for name in ("a1", "b1", "b2")]
    instance = built({"capacity": {"cpu": 10}, "users": users, "groups": [{"name": "a"}, {"name": "b"}]}, "here")
    assert crosscheck(instance).agree and "several_groups" not in vars(instance)
    assert solve(instance, integer=True).certificate.valid and vars(instance)["several_groups"]
