"""What is said of whole tasks where ceilings below one task, types that fit nowhere, or devices are in play."""

from dataclasses import replace

import numpy as np
import pytest

from drfopt import Instance, Machine, Organisation, TaskType, explain, solve
from drfopt.planning import advice
from drfopt.planning.advice import advise
from drfopt.planning.explaining import explanation
from drfopt.planning.explaining.explanation import what_stops
from drfopt.planning.explaining.tried_remedies import RemedyTrials


def capped(demand, ceiling, **more):
    rules = Organisation(ceilings={"A": {"cpu": ceiling}})
    return Instance({"A": {"cpu": demand}, "B": {"cpu": 1}}, {"cpu": 4}, organisation=rules, **more)


@pytest.mark.parametrize("limit", [{}, {"max_tasks": {"A": 3}}])
def test_a_ceiling_below_one_task_is_a_ceiling(limit):
    row = explain(capped(2, 1, **limit), user="A", integer=True).users[0]
    assert (row.tasks, row.reason) == (0, "ceiling")
    assert row.remedy == "raise its ceiling: without one it would have 1 task instead of 0"
    if limit:
        reason = advise(solve(capped(2, 1, **limit), integer=True)).reason
        assert reason.startswith("nothing: ceilings and limits hold")


@pytest.mark.parametrize("ceiling", [{"cpu": "1/2"}, {"memory": "1/2"}])
def test_a_ceiling_below_the_first_task_of_several_types_is_a_ceiling(ceiling):
    kinds = [TaskType({"cpu": 1, "memory": 1}, 1), TaskType({"cpu": 2}, 1)]
    rules = Organisation(ceilings={"A": ceiling})
    row = explain(Instance({"A": kinds}, {"cpu": 4, "memory": 2}, organisation=rules), user="A", integer=True).users[0]
    assert (row.tasks, row.reason) == (0, "ceiling")
    assert row.remedy == "raise its ceiling: without one it would have 2 tasks instead of 0"


def test_who_fits_nowhere_is_unplaced_below_its_ceiling_too():
    row = explain(capped(6, 2), user="A", integer=True).users[0]
    assert row.reason == "unplaced" and row.remedy.endswith("its ceiling of cpu (2) would keep it from that too")


def test_who_stands_at_a_ceiling_and_at_what_is_used_up_counts_there():
    rows = explain(Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, {"cpu": 3}, organisation=Organisation(
        ceilings={"B": {"cpu": 1}})), integer=True).users  # fmt: skip
    assert [(row.stopped_by, row.others) for row in rows] == [(("cpu",), 1)] * 2


MACHINES = [Machine("m", {"cpu": 2}, 2), Machine("k", {"cpu": 4})]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (TaskType({"cpu": 3}, 1, ["m"]), "its task 1 fits on k, which it may not use: open one of them to it"),
        (TaskType({"cpu": 5}, 1), "a machine of k would have to have 5 of cpu instead of 4, for its task 1"),
    ],
)
def test_a_type_that_fits_nowhere_is_what_is_left_of_a_user(kind, said):
    cluster = Instance({"A": [kind, TaskType({"cpu": 1}, 2)], "B": {"cpu": 1}}, machines=MACHINES)
    found = explain(cluster, user="A", integer=True)
    row = found.users[0]
    assert (row.tasks, row.reason, row.stopped_by, row.remedy) == (2, "misfit", (), said)
    assert "the rest fits nowhere" in str(found) and "unplaced" not in str(found)


def test_types_that_fit_nowhere_are_named_where_others_of_a_user_run():
    """Also of who is stopped by something else, and not of who fits nowhere at all, who is unplaced."""
    kinds = [TaskType({"cpu": 1}, 2), TaskType({"cpu": 5}, 2), TaskType({"cpu": 6}, 1, name="big")]
    pool = Instance({"A": kinds, "B": {"cpu": 1}, "C": kinds[1:]}, {"cpu": 4})
    for found in (solve(pool, integer=True), explain(pool, integer=True)):
        assert found.to_dict()["misfits"] == {"A": ["2", "big"]} and found.to_dict()["unplaced"] == ["C"]
        assert "types left out (a task fits on nothing open to it): task 2 of A, task big of A" in str(found)
    assert "misfits" not in solve(pool).to_dict() and "left out" not in str(solve(pool))


@pytest.mark.parametrize("there", [0, 1])
def test_who_has_a_type_that_fits_nowhere_is_not_held_by_its_ceiling_alone(there):
    """It was told that nothing is to be bought, and a machine of 2 cpu gives it a task; with no cpu none is tried."""
    kinds = [TaskType({"mem": 1}, 1), TaskType({"cpu": 2}, 2)]
    rules = Organisation(ceilings={"A": {"mem": 0}})

    def advised(cpu):
        cluster = Instance({"A": kinds}, machines=[Machine("m", {"mem": 1, "cpu": cpu})], organisation=rules)
        found = solve(cluster, integer=True)
        return found.tasks.tolist(), advise(found).reason

    assert advised(there) == ([0], advice.TARGET)
    assert advised(2) == ([1], "nothing: ceilings and limits hold those who are short")


def test_the_limit_that_is_to_be_raised_is_that_of_the_file():
    pool = Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, {"cpu": 4}, max_tasks={"A": "1/2"})
    assert explain(pool, user="A", integer=True).users[0].remedy.startswith("raise its limit of 0.5: without one")


@pytest.mark.parametrize(
    ("machine", "demand", "said"),
    [
        (
            Machine("m", {"cpu": 4, "gpu": 4}, 2, {"gpu": 4}),
            {"cpu": 5, "gpu": "3/2"},
            "5 of cpu instead of 4; it takes neither a part of one device of gpu nor whole ones",
        ),
        (
            Machine("m", {"cpu": 4, "gpu": 5}, 2, {"gpu": {"count": 2, "size": 2}}),
            {"cpu": 1, "gpu": 6},
            "3 gpu devices of 2 instead of 2",
        ),
    ],
)
def test_devices_are_a_second_obstacle(machine, demand, said):
    found = solve(Instance({"A": demand, "B": {"cpu": 1}}, machines=[machine]), integer=True)
    assert RemedyTrials(found, True).unplaced(0) == f"a machine of m would have to have {said}"


def test_who_is_at_its_ceiling_is_stopped_by_no_machine_where_there_is_room_on_another():
    """One machine is full and one of the same class is not, or one of another, or has devices for it."""
    rules = Organisation(ceilings={"a": {"cpu": 4}, "b": {"cpu": 3}})
    users = {"a": {"cpu": 1}, "b": {"cpu": 1}, "c": {"cpu": 1}}
    for machines in ([Machine("m", {"cpu": 8}, 2)], [Machine("m", {"cpu": 6}), Machine("n", {"cpu": 8})]):
        rows = explain(Instance(users, machines=machines, max_tasks={"c": 4}, organisation=rules), integer=True).named()
        assert {user: (row.reason, row.stopped_by) for user, row in rows.items()} == {
            "a": ("ceiling", ()), "b": ("ceiling", ()), "c": ("met", ()),
        }  # fmt: skip
    devices = [Machine("m", {"gpu": 3}, devices={"gpu": 3})]
    for ceiling, stops in (("3/2", ()), ("9/4", ("m/gpu",))):
        rules = Organisation(ceilings={"a": {"gpu": ceiling}})
        cluster = Instance({"a": {"gpu": "3/4"}}, machines=devices, organisation=rules)
        assert explain(cluster, integer=True).users[0].stopped_by == stops


def test_where_an_answer_that_is_not_proven_leaves_room_it_is_the_search_that_stops(monkeypatch):
    """It was called a promise to others, which eight times more would not help; B is stopped by what it lacks."""
    pool = Instance({"A": {"cpu": 1}, "B": {"cpu": 7}}, {"cpu": 9})
    cut = replace(solve(pool, integer=True), tasks=np.array([3, 0]), status="feasible")
    monkeypatch.setattr(explanation, "solve", lambda *_, **__: cut)
    rows = explain(pool, user="A", integer=True).users
    assert [(row.reason, row.stopped_by) for row in rows] == [("search", ())]
    assert rows[0].remedy.startswith("another of its tasks fits beside the others'")
    assert what_stops(cut) == [("search", ()), ("capacity", ("cpu",))]


def test_who_is_short_by_its_ceiling_is_told_so_of_whole_tasks_too():
    rules = Organisation(ceilings={"d": {"mem": 8}})
    said = "short of 10 mem, which its ceiling of mem does not let it have"
    for demand in ({"mem": 5, "cpu": 1}, [TaskType({"mem": 5, "cpu": 1}, 2), TaskType({"mem": 5}, 1)]):
        limit = {"max_tasks": {"d": 3}} if isinstance(demand, dict) else {}
        pool = Instance({"d": demand, "e": {"cpu": 1}}, {"cpu": 9, "mem": 24}, organisation=rules, **limit)
        assert f"d: 1 of 3 tasks (33.3 %), {said}" in str(solve(pool, integer=True))
    wide = Organisation(ceilings={"d": {"mem": 16}})
    pool = Instance({"d": {"mem": 5}, "e": {"mem": 5}}, {"mem": 14}, max_tasks={"d": 3}, organisation=wide)
    assert "does not let it have" not in str(solve(pool, integer=True))
    endless = Instance({"d": {"mem": 5}}, {"mem": 24}, organisation=rules)
    assert solve(endless, integer=True).tasks.tolist() == [1] and not solve(endless, integer=True).shortfall.sentences()


def test_of_a_device_without_room_is_told_beside_an_amount_that_lacks():
    """Parts of 0.4 are free on both devices: more cpu alone does not help B."""
    one = [Machine("g", {"cpu": 3, "gpu": 2}, devices={"gpu": 2})]
    users = {"A": {"cpu": 1, "gpu": "3/5"}, "B": {"cpu": 2, "gpu": "1/2"}}
    rules = Organisation(tiers={"A": 1})
    found = explain(Instance(users, machines=one, max_tasks={"A": 2}, organisation=rules), user="B", integer=True)
    assert found.users[0].stopped_by == ("g/cpu", "g/gpu")
    assert "add 1*g would give it 2 tasks" in found.users[0].remedy


def test_where_a_device_alone_is_missing_is_nearest_though_parts_of_devices_add_up_to_more():
    """Of four devices all have 0.4 free, or two have: cpu is missing beside the latter only."""
    one = Machine("g", {"cpu": 16, "gpu": 4}, 3, {"gpu": 4})
    users = {"db": {"cpu": 4, "gpu": 1}, "etl": {"cpu": 3, "gpu": "3/5"}}
    rules = Organisation(guarantees={"db": {"cpu": 6}}, meaning="surplus")
    cluster = Instance(users, machines=[one], weights={"etl": 2}, max_tasks={"db": 6}, organisation=rules)
    assert explain(cluster, user="db", integer=True).users[0].stopped_by == ("g/gpu",)


@pytest.mark.parametrize("first", ["ab", "ba"])
def test_of_two_machines_that_lack_as_much_of_one_thing_the_one_that_lacks_no_other_is_nearest(first):
    """The order of the users in the file decided."""
    users = {"a": {"cpu": 8, "mem": 32}, "b": {"cpu": 8, "mem": 16}}
    users = {name: users[name] for name in first} | {"web": {"cpu": 1, "mem": 4}}
    node = [Machine("node", {"cpu": 8, "mem": 32}, 2)]
    cluster = Instance(users, machines=node, max_tasks={"a": 1, "b": 1}, weights={"web": 0})
    assert explain(cluster, user="web", integer=True).users[0].stopped_by == ("node/cpu",)
