"""The schedule: what it prints, what it puts into JSON, and what it refuses."""

import json

import numpy as np
import pytest

from drfopt.base.errors import PolicyError, TimeLimitError
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.organisation import Group, Organisation
from drfopt.solving.scheduling import schedule

TABLE_1 = Instance(
    {"B": {"cpu": 3, "memory": 1}, "A": {"cpu": 1, "memory": 4}},
    {"cpu": 9, "memory": 18},
    name="NSDI 2011, Table 1",
)

NODES = Instance(
    {"B": {"cpu": 3, "memory": 1}, "A": {"cpu": 1, "memory": 4}, "huge": {"cpu": 6}},
    machines=[Machine("small", {"cpu": 3, "memory": 3}, 2), Machine("large", {"cpu": 5, "memory": 12}, 2)],
)


def test_document():
    document = schedule(TABLE_1).to_dict()
    assert document["tasks"] == {"B": 2, "A": 3}
    assert document["unplaced"] == []
    assert [entry["user"] for entry in document["trace"]] == list("BAABA")
    assert document["trace"][1] == {
        "step": 2,
        "user": "A",
        "dominant_shares": {"B": 1 / 3, "A": 2 / 9},
        "shares": {"B": {"cpu": 1 / 3, "memory": 1 / 18}, "A": {"cpu": 1 / 9, "memory": 2 / 9}},
        "used": {"cpu": 4.0, "memory": 5.0},
    }
    assert json.loads(json.dumps(document)) == document


def test_sheet_is_table_1():
    found = schedule(TABLE_1).sheet()
    assert [column.heading for column in found.columns] == [
        "step",
        "serves",
        "cpu of B",
        "memory of B",
        "share of B",
        "cpu of A",
        "memory of A",
        "share of A",
        "cpu used",
        "memory used",
    ]
    assert found.rows == [
        (1, "B", "1/3", "1/18", "1/3", "0", "0", "0", "3/9", "1/18"),
        (2, "A", "1/3", "1/18", "1/3", "1/9", "2/9", "2/9", "4/9", "5/18"),
        (3, "A", "1/3", "1/18", "1/3", "2/9", "4/9", "4/9", "5/9", "9/18"),
        (4, "B", "2/3", "1/9", "2/3", "2/9", "4/9", "4/9", "8/9", "10/18"),
        (5, "A", "2/3", "1/9", "2/3", "1/3", "2/3", "2/3", "9/9", "14/18"),
    ]
    assert found.notes == ("tasks: B 2, A 3",)
    assert found.document() == schedule(TABLE_1).to_dict()
    assert "NSDI 2011, Table 1" in str(schedule(TABLE_1))


def test_the_order_of_equals_is_an_option():
    paper = Instance.library("nsdi2011")
    served = lambda **words: [paper.users[step.user] for step in schedule(paper, **words).trace]  # noqa: E731
    assert served(ties=["B", "A"]) == served(ties=["B"]) == list("BAABA")
    assert served() == served(ties=["A"]) == list("ABABA")
    assert schedule(paper, ties=["B"], trace=False).tasks.tolist() == [3, 2]
    for ties, words in (("BA", "give a list"), (["C"], "no user"), (["A", "A"], "twice")):
        with pytest.raises(PolicyError, match=words):
            schedule(paper, ties=ties)


def test_the_order_of_equals_under_rules_of_an_organisation():
    rules = Organisation(paths={"a": "x", "b": "y", "c": "y"}, groups=[Group("x"), Group("y")])
    alike = Instance({"a": {"cpu": 1}, "b": {"cpu": 1}, "c": {"cpu": 1}}, {"cpu": 4}, organisation=rules)
    assert [step.user for step in schedule(alike, ties=["c"]).trace] == [2, 0, 1, 0]
    promised = Organisation(guarantees={"a": {"cpu": 1}, "b": {"cpu": 1}})
    alike = Instance({"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": 2}, organisation=promised)
    assert [step.user for step in schedule(alike, ties=["b"]).trace] == [1, 0]


def test_of_many_users_the_trace_shows_who_is_served():
    crowd = Instance([[1, 2]] * 7, [9, 18])
    headings = [column.heading for column in schedule(crowd).sheet().columns]
    assert headings[2:5] == ["r1 of the served", "r2 of the served", "share of the served"]
    assert len(schedule(crowd).to_dict()["trace"][0]["shares"]) == 7


def test_machines_and_who_fits_on_none():
    found = schedule(NODES)
    assert found.placement.tolist() == [[2, 1], [0, 5], [0, 0]]
    assert found.tasks.tolist() == [3, 5, 0]
    assert found.unplaced == ("huge",)
    document = found.to_dict()
    assert document["placement"] == {"B": {"small": 2, "large": 1}, "A": {"large": 5}, "huge": {}}
    assert document["trace"][0]["machine"] == "small"
    assert "unplaced (a task fits on nothing open to it): huge" in str(found)


def test_an_unplaced_user_does_not_stop_the_others():
    assert schedule(NODES, when_full="stop").tasks.sum() > 0


def test_skip_and_stop():
    cluster = Instance({"u1": {"cpu": 1}, "u2": {"cpu": 2}}, {"cpu": 2})
    assert schedule(cluster).tasks.tolist() == [2, 0]
    stopped = schedule(cluster, when_full="stop")
    assert stopped.tasks.tolist() == [1, 0]
    assert "may still fit" in str(stopped)


def test_limits_are_rounded_down():
    cluster = Instance({"u1": {"cpu": 1}, "u2": {"cpu": 1}}, {"cpu": 9}, max_tasks={"u1": "5/2"})
    assert schedule(cluster).tasks.tolist() == [2, 7]


def test_weights_decide_and_are_not_shown():
    cluster = Instance({"u1": {"cpu": 1}, "u2": {"cpu": 1}}, {"cpu": 3}, weights=[2, 1])
    found = schedule(cluster)
    assert found.tasks.tolist() == [2, 1]
    assert [float(share) for share in found.trace[-1].dominant_shares] == [2 / 3, 1 / 3]


def test_exact_where_floats_are_not():
    # Three times 0.1 is more than 0.3 in floats.
    assert schedule(Instance({"u": {"cpu": 0.1}}, {"cpu": 0.3})).tasks.tolist() == [3]


def test_without_a_trace():
    found = schedule(NODES, trace=False)
    assert found.trace is None
    assert found.to_dict()["trace"] is None
    assert np.array_equal(found.placement, schedule(NODES).placement)
    assert found.sheet().rows == [("B", 3), ("A", 5), ("huge", 0)]


def test_many_users_share_a_column():
    found = schedule(Instance(np.ones((8, 1)), [8.0])).sheet()
    assert [column.heading for column in found.columns] == [
        "step",
        "serves",
        "share of the served",
        "r1 used",
    ]
    assert found.rows[7] == (8, "u8", "1/8", "8/8")


def test_nobody_is_served():
    found = schedule(Instance([[2]], [1]))
    assert found.trace == ()
    assert found.to_dict()["trace"] == []


@pytest.mark.parametrize("policy", ["ceei", "utilitarian", "alpha:2"])
def test_leximin_policies_only(policy):
    with pytest.raises(PolicyError, match=rf"{policy} .*drf, asset, single:RESOURCE, .*tasks"):
        schedule(TABLE_1, policy)


@pytest.mark.parametrize("policy", ["asset", "tasks", "single:cpu"])
def test_other_leximin_policies(policy):
    assert schedule(TABLE_1, policy).policy == policy


def test_unknown_rule():
    with pytest.raises(PolicyError, match="did you mean 'stop'"):
        schedule(TABLE_1, when_full="stopp")


def test_sequential_min_max_looks_one_task_ahead():
    four = Instance([[1], [3]], [4])
    assert schedule(four).tasks.tolist() == [1, 1]
    found = schedule(four, rule="sequential-min-max")
    assert found.tasks.tolist() == [4, 0]
    assert "SequentialMinMax" in str(found)
    with pytest.raises(
        PolicyError, match=r"rule is 'sequential': did you mean|rule is 'sequential'.*known: algorithm-1"
    ):
        schedule(four, rule="sequential")


def test_a_schedule_without_a_trace_stops_in_time():
    cluster = Instance([[1], [2]], [10**7], organisation=Organisation(paths={"u1": "g"}))
    with pytest.raises(TimeLimitError, match=r"ran out in a schedule, task by task; .* tasks were started"):
        schedule(cluster, trace=False, time_limit=0.05)
    crowd = Instance([[1]] * 3, machines=[Machine("m", [7], 10**6)])
    with pytest.raises(TimeLimitError, match=r"ran out in a schedule, task by task; .* tasks were started"):
        schedule(crowd, trace=False, time_limit=0.05)


def test_billions_of_tasks_are_not_started_one_by_one():
    cluster = Instance({"A": {"cpu": "1/3"}, "B": {"cpu": 1}}, {"cpu": 10**12}, weights=[1, 2])
    assert schedule(cluster, ties=["B", "A"], trace=False).tasks.sum() > 10**12
