"""What to move: files of what runs today, plans that are refused, and what is said."""

import json
import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from drfopt import (
    CertificateError,
    Group,
    Instance,
    InstanceError,
    Machine,
    Organisation,
    PolicyError,
    TaskType,
    rebalance,
    schedule,
)
from drfopt.engines.whole import integer_program
from drfopt.model.whole_values import WholeUsers
from drfopt.planning.rebalancing.current import current_of, load_current
from drfopt.planning.rebalancing.moves import Fairest, Placement
from drfopt.planning.rebalancing.today import today

PAPER = Instance.library("nsdi2011")
CLUSTER = Instance(
    {"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}},
    machines=[Machine("small", {"cpu": 4, "memory": 8}, 2), Machine("large", {"cpu": 6, "memory": 12}, 1)],
)


def test_a_pool_evicts_and_starts_but_never_moves():
    found = rebalance(PAPER, {"tasks": {"B": 3}})
    assert (found.count("move"), found.count("evict"), found.count("start")) == (0, 1, 3)
    assert found.status == "optimal" and found.fewest and found.fairest


def test_few_moves_are_the_fairest_of_few():
    running = {"placement": {"B": {"small": 2, "large": 2}}}
    levels = [sorted(rebalance(CLUSTER, running, moves=k).levels) for k in range(4)]
    assert levels == sorted(levels)
    assert levels[-1] == sorted(rebalance(CLUSTER, running).levels)


def test_machine_by_machine_counts_what_classes_hide():
    byclass = rebalance(CLUSTER, {"placement": {"A": {"small": 2}, "B": {"small": 2, "large": 1}}})
    named = {
        "s1": {"class": "small", "tasks": {"A": 2}},
        "s2": {"class": "small", "tasks": {"B": 1}},
        "large": {"tasks": {"B": 1}},
    }
    bymachine = rebalance(CLUSTER, {"machines": named})
    assert sorted(bymachine.levels) == sorted(byclass.levels)
    assert bymachine.count("move") + bymachine.count("evict") >= 0
    assert bymachine.to_dict()["places"] == "machines" and byclass.to_dict()["places"] == "classes"
    assert "moves within a class come on top" in str(byclass)


@pytest.mark.parametrize("whole", [np.int64, np.float32, Fraction, Decimal], ids=lambda kind: kind.__name__)
def test_a_whole_number_of_any_kind_is_one(whole):
    for cluster, running in (
        (CLUSTER, lambda number: {"placement": {"A": {"small": number(1)}}}),
        (CLUSTER, lambda number: {"machines": {"large": {"tasks": {"B": number(1)}}}}),
        (PAPER, lambda number: {"tasks": {"B": number(2)}}),
    ):
        assert rebalance(cluster, running(whole)) == rebalance(cluster, running(int))
    with pytest.raises(InstanceError, match="write a whole number of tasks"):
        rebalance(PAPER, {"tasks": {"B": whole(3) / 2}})


def test_what_schedule_places_is_what_runs():
    placed = schedule(CLUSTER).placement
    running = {user: dict(zip(CLUSTER.machine_names, row, strict=True)) for user, row in zip("AB", placed, strict=True)}
    assert rebalance(CLUSTER, {"placement": running}, moves=np.int64(0)).count("move") == 0
    with pytest.raises(InstanceError, match="the number of moves is -1: write a whole number, 0 or more"):
        rebalance(CLUSTER, {"placement": running}, moves=-1)


def test_what_solve_prints_is_what_runs(tmp_path):
    from drfopt import solve

    path = tmp_path / "today.json"
    path.write_text(json.dumps(solve(CLUSTER, integer=True).to_dict()))
    found = rebalance(CLUSTER, path)
    assert not found.steps and found.status == "optimal"
    path.write_text(json.dumps(solve(PAPER, integer=True).to_dict()))
    assert not rebalance(PAPER, path).steps


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "is no table"),
        ({}, "has neither 'placement' nor 'machines'"),
        ({"placement": []}, "write a table"),
        ({"placement": {"C": {}}}, "names user 'C'"),
        ({"placement": {"A": {"smal": 1}}}, "did you mean 'small'"),
        ({"placement": {"A": {"small": 1.5}}}, "write a whole number of tasks"),
        ({"placement": {"A": {"small": -1}}}, "write a whole number of tasks"),
        ({"placement": {"A": {"small": True}}}, "write a whole number of tasks"),
        ({"placement": {"A": {"small": float("nan")}}}, "write a whole number of tasks"),
        ({"machines": {"m": {"tasks": {}}}}, "machine 'm' has no 'class'"),
        ({"machines": {f"m{q}": {"class": "large", "tasks": {}} for q in range(2)}}, "of which there are 1"),
    ],
)
def test_bad_files_are_answered_in_one_sentence(document, message):
    with pytest.raises(InstanceError, match=message):
        current_of(document, CLUSTER)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1, column 2: .* correct the JSON there"),
        ("[" * 100_000, "nested deeper"),
        ('{"placement": {"A": {"small": 1}, "A": {}}}', "placement: key 'A' is written twice"),
        ('{"placement": {"A": {"small": 1' + "0" * 5_000 + "}}}", "no number anybody needs"),
        ('{"placement": {"A": {"small": 1e300}}}', r"is 1E\+300: write at most 9,007,199,254,740,992 tasks"),
        ('{"placement": {"A": {"small": Infinity}}}', "is Infinity: write at most 9,007,199,254,740,992 tasks"),
        ('{"placement": {"' + "A" * 5_000 + '": {}}}', "names user 'A{36}"),
    ],
)
def test_a_file_that_is_no_table_of_tasks_is_named(tmp_path, text, message):
    path = tmp_path / "today.json"
    path.write_text(text)
    with pytest.raises(InstanceError, match=rf"today\.json: .*{message}"):
        load_current(path, CLUSTER)


def test_a_machine_of_which_no_tasks_are_told_is_empty():
    document = {"machines": {"m": {"class": "large"}, "n": {"class": "small", "tasks": {"A": 1.0}}}}
    assert current_of(document, CLUSTER).tasks.sum() == 1


def test_questions_that_make_no_sense():
    with pytest.raises(PolicyError, match="which whole tasks are best, and of path:1:1 nothing says so"):
        rebalance(CLUSTER, {"placement": {}}, policy="path:1:1")
    with pytest.raises(InstanceError, match="write a whole number, 0 or more"):
        rebalance(PAPER, {"tasks": {}}, moves=-1)
    with pytest.raises(InstanceError, match="at least 1 must move or be evicted before"):
        rebalance(PAPER, {"tasks": {"B": 4}}, moves=0)


def test_a_plan_that_is_wrong_is_not_returned():
    from drfopt.engines.problem import Problem
    from drfopt.model.policies import policy_named
    from drfopt.planning.rebalancing.moves import Fairest
    from drfopt.planning.rebalancing.rebalancing import check

    problem = Problem(PAPER, policy_named("drf"), integer=True)
    current = current_of({"tasks": {"B": 3}}, PAPER)
    found = rebalance(PAPER, current)
    # Levels are held as integers: both are at the same.
    levels = [(max(WholeUsers(PAPER, problem.policy, [0, 1]).values([3, 2])), 2)]
    good = Placement(found.after, None)
    wanted = Fairest(problem, current, 1, levels)
    check(problem, current, good, wanted)
    with pytest.raises(CertificateError, match="are used"):
        check(problem, current, Placement(found.after + 2, None), wanted)
    with pytest.raises(CertificateError, match="below those"):
        check(problem, current, Placement(found.after - [[1], [0]], None), wanted)
    with pytest.raises(CertificateError, match="leave their places"):
        check(problem, current, good, replace(wanted, most=0))


def test_where_the_program_of_moves_is_too_large_the_allocation_found_is_returned(monkeypatch):
    running = {"placement": {"B": {"small": 2, "large": 2}}}
    exact = rebalance(CLUSTER, running)

    def fewest(self, deadline):
        raise integer_program.TooLarge("too large")

    monkeypatch.setattr(Fairest, "fewest", fewest)
    found = rebalance(CLUSTER, running)
    assert found.too_large and found.fairest and not found.fewest
    assert sorted(found.levels) == sorted(exact.levels)
    moved = [one.count("move") + one.count("evict") for one in (found, exact)]
    assert moved[0] >= moved[1] > 0
    assert found.status == "feasible"
    assert "fewer may do, the cluster is too large for the program of moves" in str(found)
    # Nothing leaves an empty cluster, and nothing could leave less.
    empty = rebalance(CLUSTER, {"placement": {}})
    assert empty.fewest and empty.status == "optimal"


def test_a_program_with_too_many_columns_is_not_handed_to_a_solver(monkeypatch):
    monkeypatch.setattr(integer_program, "COLUMNS", 2)
    with pytest.raises(integer_program.TooLarge, match="over 2 columns: ask of fewer users or classes at once"):
        rebalance(CLUSTER, {"placement": {}}, moves=1)


def test_what_cannot_run_today_is_said():
    machines = [Machine("m", {"cpu": 4}, 2), Machine("g", {"gpu": 1})]
    found = rebalance(Instance({"a": {"cpu": 1}}, machines=machines), {"placement": {"a": {"m": 9, "g": 1}}})
    assert found.today.impossible == (
        "m runs 9 cpu of 8",
        "a runs on g, which its task may not use or does not fit on",
        "g runs 1 cpu of 0",
    )
    assert "there runs what cannot: m runs 9 cpu of 8; " in str(found)
    assert found.to_dict()["impossible_today"][0] == "m runs 9 cpu of 8"
    at_home = rebalance(Instance({"a": {"cpu": 1}}, machines=machines), {"placement": {"a": {"m": 8}}})
    assert "runs what cannot" not in str(at_home)
    assert at_home.to_dict()["impossible_today"] == []


GPUS = Machine("g", {"gpu": 2}, 2, devices={"gpu": 2})
PARTS = {"a": {"gpu": Fraction(3, 5)}, "b": {"gpu": 1}, "c": {"gpu": Fraction(2, 5)}}
TIGHT = Machine("m", {"cpu": 5}, 2)


@pytest.mark.parametrize(
    ("machine", "users", "current", "said"),
    [
        # By sums 3.8 of 4 gpu; of three fifths one goes on a device.
        (GPUS, PARTS, {"placement": {"a": {"g": 3}, "b": {"g": 2}}}, ["g needs at least 5 devices of gpu and has 4"]),
        (GPUS, PARTS, {"placement": {"a": {"g": 2}, "b": {"g": 2}, "c": {"g": 2}}}, []),
        # 0.5 + 0.4 and 0.4 + 0.3 + 0.3 go on two devices; 0.5 + 3 x 0.4 + 0.3 would have to fill both and do not.
        (
            Machine("g", {"gpu": 2}, devices={"gpu": 2}),
            {"a": {"gpu": Fraction(1, 2)}, "b": {"gpu": Fraction(2, 5)}, "c": {"gpu": Fraction(3, 10)}},
            {"machines": {"g": {"a": 1, "b": 2, "c": 2}}},
            [],
        ),
        (
            Machine("g", {"gpu": 2}, devices={"gpu": 2}),
            {"a": {"gpu": Fraction(1, 2)}, "b": {"gpu": Fraction(2, 5)}, "c": {"gpu": Fraction(3, 10)}},
            {"machines": {"g": {"a": 1, "b": 3, "c": 1}}},
            ["what g runs cannot be packed on it, though there is enough of each resource"],
        ),
        # By sums 9 of 10 cpu; of 3 cpu one goes on a machine.
        (TIGHT, {"a": {"cpu": 3}}, {"placement": {"a": {"m": 3}}}, ["m needs at least 3 machines for cpu and has 2"]),
        (TIGHT, {"a": {"cpu": 3}, "b": {"cpu": 2}}, {"placement": {"a": {"m": 2}, "b": {"m": 2}}}, []),
        # Of 4 cpu two go on a machine, and of 3 cpu three: that each is few enough leaves 3 cpu over.
        (
            Machine("m", {"cpu": 10}, 2),
            {"a": {"cpu": 4}, "b": {"cpu": 3}},
            {"placement": {"a": {"m": 4}, "b": {"m": 1}}},
            ["what m runs cannot be packed on its 2 machines, though there is enough of each resource"],
        ),
        # Together with memory: each of the four needs more than half of one of the two.
        (
            Machine("m", {"cpu": 9, "mem": 9}, 2),
            {"a": {"cpu": 5, "mem": 3}, "b": {"cpu": 3, "mem": 5}, "c": {"cpu": 2, "mem": 2}},
            {"placement": {"a": {"m": 2}, "b": {"m": 2}, "c": {"m": 1}}},
            ["what m runs cannot be packed on its 2 machines, though there is enough of each resource"],
        ),
        # The last case but one of one machine, on two: one more of 0.4 than can be.
        (
            Machine("g", {"gpu": 1}, 2, devices={"gpu": 1}),
            {"a": {"gpu": Fraction(1, 2)}, "b": {"gpu": Fraction(2, 5)}, "c": {"gpu": Fraction(3, 10)}},
            {"placement": {"a": {"g": 1}, "b": {"g": 3}, "c": {"g": 1}}},
            ["what g runs cannot be packed on its 2 machines, though there is enough of each resource"],
        ),
    ],
)
def test_what_is_too_large_to_share_machines_or_devices_is_said(machine, users, current, said):
    instance = Instance(users, machines=[machine])
    found = rebalance(instance, current)
    assert found.to_dict()["impossible_today"] == said
    assert all(f"there runs what cannot: {line}" in str(found) for line in said)
    assert found.to_dict()["undecided_today"] == []
    if said:
        with pytest.raises(InstanceError, match=f"cannot stay as it is \\({re.escape(said[0])}"):
            rebalance(instance, current, moves=0)
    else:
        assert rebalance(instance, current, moves=0).status == "optimal"


@pytest.mark.parametrize(
    ("rules", "current", "said"),
    [
        ({"max_tasks": {"A": 3}}, {"A": 5, "B": 2}, "(A runs 5 tasks, and 3 may): of its tasks at least 2 must"),
        (
            {"organisation": Organisation(ceilings={"A": {"cpu": "3.5"}})},
            {"A": 5, "B": 2},
            "(A runs 5 tasks, and 3 may): of its tasks at least 2 must",
        ),
        (
            {"organisation": Organisation(groups=[Group("g", ceiling={"cpu": 3})], paths={"A": "g", "B": "g"})},
            {"A": 2, "B": 2},
            "(A, B use 4 cpu together, and may use 3): of its tasks at least 1 must",
        ),
        ({"max_tasks": {"A": 3}}, {"A": 7, "B": 2}, "(m runs 9 cpu of 8; A runs 7 tasks, and 3 may): of its tasks at"),
    ],
)
def test_what_may_not_stay_and_why(rules, current, said):
    instance = Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, machines=[Machine("m", {"cpu": 4}, 2)], **rules)
    with pytest.raises(InstanceError, match=re.escape(f"cannot stay as it is {said}")):
        rebalance(instance, {"placement": {user: {"m": x} for user, x in current.items()}}, moves=0)


def test_types_run_in_their_sequence_or_cannot_stay():
    job = [TaskType({"cpu": 1}, 2, name="one"), TaskType({"cpu": 2}, 2, name="two")]
    instance = Instance({"job": job}, machines=[Machine("m", {"cpu": 2}, 1)])
    with pytest.raises(InstanceError, match="tasks of its types that are not the first 2 of their sequence"):
        rebalance(instance, {"placement": {"job": {"m": {"one": 2}}}}, moves=0)


def test_where_there_is_no_time_to_pack_what_runs_today_that_is_said():
    instance = Instance({"a": {"cpu": 4}, "b": {"cpu": 3}}, machines=[Machine("m", {"cpu": 10}, 2)])
    found = rebalance(instance, {"placement": {"a": {"m": 4}, "b": {"m": 1}}})
    late = today(found.current, instance, seconds=0)
    assert (late.impossible, late.undecided) == ((), ("m",))
    vars(found)["today"] = late
    assert "whether what runs today can be packed was not decided: m" in str(found)
    assert found.to_dict()["undecided_today"] == ["m"]
