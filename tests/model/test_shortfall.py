"""What was asked for beside what came of it: who is short, of what and where, and who has all."""

import csv
import io
from fractions import Fraction

import numpy as np
import pytest

from drfopt.base.numbers.shown import amount, counted, in_units, tenths
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.organisation import Organisation
from drfopt.model.users import TaskType
from drfopt.planning.explaining.explanation import explain
from drfopt.solving.allocating import solve

POOL = Instance(
    {"small": {"cpu": 1}, "large": {"cpu": 1}, "endless": {"cpu": 1}, "none": {"cpu": 1}},
    {"cpu": 9},
    max_tasks={"small": 2, "large": 10, "endless": None, "none": 0},
)


def test_asked_got_met_and_the_order_of_shortfall():
    found = solve(POOL)
    short = found.shortfall
    assert found.tasks.tolist() == pytest.approx([2, 3.5, 3.5, 0])
    assert short.missing.tolist() == pytest.approx([0, 6.5, 0, 0])
    assert short.met.tolist() == pytest.approx([1, 0.35, np.nan, 1], nan_ok=True)
    assert [POOL.users[i] for i in short.short] == ["large"]
    # The one who is short, who asks without an end, then who has all, in the order of the file.
    assert [row[0] for row in found.sheet().rows] == ["large", "endless", "small", "none"]
    assert short.demand_met == pytest.approx(5.5 / 12)
    assert found["large"].asked == 10 and found["large"].met == pytest.approx(0.35)


def test_who_has_all_it_asked_for_is_not_stopped_by_a_limit():
    rows = {row[0]: row[-1] for row in solve(POOL).sheet().rows}
    assert rows == {"small": "has all it asked for", "large": "cpu", "endless": "cpu", "none": "has all it asked for"}
    capped = Instance(
        {"A": {"cpu": 1}, "B": {"cpu": 1}},
        {"cpu": 100},
        max_tasks={"A": 8, "B": 3},
        organisation=Organisation(ceilings={"A": {"cpu": 5}}),
    )
    found = solve(capped)
    assert {row[0]: row[-1] for row in found.sheet().rows} == {"A": "its ceiling", "B": "has all it asked for"}
    assert "which its ceiling of cpu does not let it have" in str(found)


def test_who_names_no_end_may_be_stopped_by_its_own_ceiling():
    capped = Organisation(ceilings={"a": {"cpu": 2}})
    ten = Instance({"a": {"cpu": 1}, "b": {"cpu": 1}, "c": {"cpu": 1}}, {"cpu": 10}, max_tasks=[None, None, 1])
    ten = Instance(**(ten.parts() | {"organisation": capped}))
    assert "a and b ask for tasks without an end: stopped by cpu, 1 by its own ceiling" in str(solve(ten))
    assert "a and b ask for tasks without an end: 1 stopped by its own ceiling" in str(solve(ten, integer=True))
    alone = {row.user: row.alone_tasks for row in explain(ten, integer=True).users}
    assert alone == {"a": 2, "b": 3, "c": 1}


def test_of_task_types_all_are_asked_for_and_a_lower_limit_is_a_limit():
    kinds = [TaskType({"cpu": 1}, 2), TaskType({"cpu": 2}, 2)]
    found = solve(Instance({"A": kinds, "B": {"cpu": 1}}, {"cpu": 100}, max_tasks={"A": 2, "B": 1}))
    assert found.shortfall.asked.tolist() == [4, 1]
    assert {row[0]: row[-1] for row in found.sheet().rows} == {"A": "its limit", "B": "has all it asked for"}


def test_json_and_csv_have_them_whatever_the_cluster():
    for instance in (POOL, Instance([[1.0]], [2.0])):
        found = solve(instance)
        for user in found.to_dict(instance=False)["users"]:
            assert {"asked", "got", "met", "weight"} <= set(user)
            assert user["got"] == user["tasks"]
        heading = next(csv.reader(io.StringIO(found.sheet().csv())))
        assert {"asked", "got", "met %", "weight", "tasks"} <= set(heading)
    # Nobody names an end, all weights are 1: a person is spared the empty columns.
    assert "asked" not in str(solve(Instance([[1.0]], [2.0]))) and "weight" not in str(solve(POOL))


def test_exact_numbers_and_whole_tasks_are_asked_for_in_their_kind():
    half = Instance([[1], [1]], [3], max_tasks=["5/2", "5/2"])
    assert solve(half, exact=True).to_dict()["users"][0]["asked"] == "5/2"
    assert solve(half, exact=True)["u1"].asked == Fraction(5, 2)
    whole = solve(half, integer=True)
    assert whole.to_dict()["users"][0]["asked"] == 2
    assert sorted(whole.shortfall.missing) == [0, 1]


def test_the_last_lines_say_who_is_short_of_what_and_where():
    cluster = Instance(
        {"train": {"cpu": 4, "gpu": 1}, "web": {"cpu": 2}, "huge": {"cpu": 500}},
        machines=[Machine("a/b", {"cpu": 32, "gpu": 8}, 2), Machine("plain", {"cpu": 64, "gpu": 0}, 4)],
        max_tasks={"train": 30, "web": 10, "huge": 1},
    )
    last = str(solve(cluster)).splitlines()[-3:]
    assert last[0].startswith(
        "short: 1 of 3 users, besides 1 unplaced, has less than it asked for, 14 gpu, 56 cpu in all; "
    )
    assert last[1] == "  train: 16 of 30 tasks (53.3 %), short of 14 gpu on a/b"
    assert last[2].endswith("huge")


def test_of_several_types_some_may_not_run_where_a_user_is_stopped():
    """Of the 132 cpu that are missing 32 are of what may run on the class."""
    both = [TaskType({"cpu": 8, "gpu": 1}, 8), TaskType({"cpu": 10}, 20, machines=("plain",))]
    machines = [Machine("gpu", {"cpu": 32, "gpu": 8}), Machine("plain", {"cpu": 64, "gpu": 0}, 4)]
    said = str(solve(Instance({"ml": both, "web": {"cpu": 1}}, machines=machines, max_tasks={"web": 10})))
    assert "  ml: 14 of 28 tasks (50 %), short of 132 cpu, stopped on gpu" in said


def test_memory_in_bytes_is_told_in_its_units_and_nothing_else_is():
    kubernetes = Instance({"A": {"cpu": 1, "memory": "4Gi"}}, {"cpu": 100, "memory": "16Gi"})
    assert "memory 16 GiB of 16 GiB" in str(solve(kubernetes))
    slurm = Instance({"A": {"cpu": 1, "mem": 4096}}, {"cpu": 100, "mem": 16384})
    assert slurm.units == ("", "MiB") and "mem 16 GiB of 16 GiB" in str(solve(slurm))
    few = Instance({"A": {"mem": 64, "memory": 4096}}, {"mem": 1e4, "memory": 1e6})
    assert few.units == ("", "")
    yarn = Instance({"A": {"memory": 4096, "disk": 10}}, {"memory": 2e9, "disk": 1e12})
    assert yarn.units == ("", "")
    assert in_units(1536 * 2**20, "bytes") == "1.5 GiB"
    assert in_units(1536, "MiB") == "1.5 GiB" and amount(1536.0, "MiB") == "1.5 GiB"
    assert in_units(500, "bytes") == "500 bytes"
    assert in_units(0, "bytes") == "0 bytes"
    assert in_units(17179869184.0) == "17,179,869,184"


def test_one_is_told_as_one():
    assert [counted(n, "user") for n in (0, 1, 2000, "1", "1/2")] == [
        "0 users",
        "1 user",
        "2,000 users",
        "1 user",
        "1/2 users",
    ]
    assert counted(2, "class") == "2 classes"


@pytest.mark.parametrize(
    ("asked", "exact", "words"),
    [
        ("1.00001", False, ("99.999 % of what is asked for is met", "a: 1 of 1.00001 tasks (99.999 %)")),
        ("1000000000001/1000000000000", True, ("almost 100 % of what is asked for", "a: 1 of 1 task (almost 100 %)")),
    ],
)
def test_what_is_short_by_next_to_nothing_is_short(asked: str, exact: bool, words: tuple[str, ...]) -> None:
    allocation = solve(Instance({"a": {"r": 1}}, {"r": 1}, max_tasks={"a": Fraction(asked)}), exact=exact)
    said = "\n".join(allocation.notes())
    assert all(word in said for word in words)
    assert allocation.sheet().rows[0][-1] == "r"
    assert allocation.shortfall.demand_met < 1


def test_what_is_nearly_used_up_is_not_said_to_be():
    users = {"a": {"cpu": 1}, "b": {"mem": 1}}
    cluster = Instance(users, {"cpu": 1, "mem": 9_000_000_000}, max_tasks={"a": "0.99999", "b": 1})
    assert solve(cluster).notes()[0] == "used: cpu 0.99999 of 1 (99.999%), mem 1 of 9,000,000,000 (1e-08%)"
    assert tenths(1.0) == tenths(1 - 1e-12) == "100.0%" and tenths(0.0) == "0.0%"
    assert tenths(1e-6, "+") == "+0.0001%" and tenths(0.25, "+") == "+25.0%" and tenths(1.00001) == "100.001%"


def test_who_fits_nowhere_is_not_left_out_of_those_who_ask_without_an_end():
    users = {name: {"cpu": 1} for name in "abcd"} | {"huge": {"gpu": 1}}
    said = solve(Instance(users, {"cpu": 9, "gpu": 0}, max_tasks={"d": 1})).notes()
    assert "3 users, besides 1 unplaced, ask for tasks without an end: stopped by cpu" in said


def test_what_is_less_than_all_is_shown_as_less_in_every_table():
    """Of 10^8 tasks one is missing: neither a cell nor a column of the page says 100."""
    from drfopt import Instance, explain, solve, what_if
    from drfopt.base.numbers.shown import fixed, in_places, tenths
    from drfopt.planning.sweeping import sweep

    cluster = Instance({"A": {"cpu": 1}}, {"cpu": 10**8 - 1}, max_tasks={"A": 10**8})
    tables = solve(cluster), explain(cluster), what_if(cluster, ["set-capacity cpu=+0"])
    for table in tables:
        text = table.sheet().text()
        assert "99.999999" in text and "  100  " not in text
    assert "0.99999999" in sweep(cluster, "cpu=99999999").sheet().text()
    assert fixed([0.5, 0.999999, 1.0], share=True) == ["50.0", "<100.0", "100.0"]
    assert [in_places(value, 0, 100) for value in (0, 0.2, 99.7, 100)] == ["0", "<1", "<100", "100"]
    assert tenths(0.99999999, decimals=4) == "99.999999%" and tenths(0.5, decimals=4) == "50.0000%"


@pytest.mark.parametrize("asked", [10**16, 10**17])
def test_next_to_nothing_of_what_is_asked_for_is_told_as_what_it_is(asked):
    cluster = Instance({"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}, {"cpu": 9, "memory": 18})
    short = solve(Instance(**cluster.parts() | {"max_tasks": [asked, None]})).shortfall
    assert short.demand_met == pytest.approx(3 / asked, rel=1e-12)


def test_a_loss_of_nearly_all_is_not_all():
    assert [tenths(part, "+") for part in (-0.9999167, -1.0, 0.99999)] == ["-99.99%", "-100.0%", "+99.999%"]


def test_a_whole_task_that_is_missing_is_so_however_many_run():
    """No error of floats excuses it, as it does the other number of divisible tasks."""
    many = Instance([[1]], [2 * 10**9], max_tasks=[2 * 10**9 + 1], resources=["cpu"])
    found = solve(many, integer=True)
    assert found.shortfall.missing.tolist() == [1] and found.shortfall.met[0] < 1
    assert "  99.9999999  " in str(found) and "short of 1 cpu" in str(found)
    assert {row[-1] for row in found.sheet().rows} == {""} and "has all it asked for" not in str(found)
    assert solve(many).shortfall.met.tolist() == [1]


def test_what_is_met_exactly_of_almost_all_is_not_all():
    almost = Instance([[1]], [1], max_tasks=[1 + Fraction(1, 10**20)])
    assert solve(almost, exact=True).shortfall.met[0] < 1
    assert "  <100  " in str(solve(almost, exact=True))
