"""Users in Parquet files: the tasks that `solve` finds in memory, proven by sums, or one line and nothing written."""

import json

import numpy as np
import pyarrow
import pytest
from partition_files import RESOURCES, answer, awkward_pool, write
from pyarrow import parquet

from drfopt import CertificateError, DrfoptError, Instance, InstanceError, Machine, PolicyError, solve, solve_partitions
from drfopt.io.user_tables import rows
from drfopt.solving import partition_passes, partitioned

POOL = {"cpu": 9, "memory": 18}
GOOD = {"cpu": [1.0, 3.0], "memory": [4.0, 1.0]}


def in_memory(columns, capacity):
    demands = np.column_stack([columns[name] for name in RESOURCES])
    return Instance(
        demands,
        [capacity[name] for name in RESOURCES],
        resources=RESOURCES,
        weights=columns.get("weight"),
        max_tasks=columns.get("max_tasks"),
    )


@pytest.mark.parametrize("policy", ["drf", "asset", "tasks", "tsf"])
@pytest.mark.parametrize("seed", range(6))
def test_files_are_answered_as_memory_is(tmp_path, monkeypatch, seed, policy):
    monkeypatch.setattr(rows, "PART", 40)
    columns, capacity = awkward_pool(seed, 150, limited=seed % 3 > 0, weighted=seed % 2 == 0)
    users = write(tmp_path / "users", columns, files=2, group=20)
    found = solve_partitions(users, capacity, policy, jobs=1)
    expected = solve(in_memory(columns, capacity), policy)
    table = answer(found.folder)
    assert found.partitions == 4 and found.users == 150
    assert found.unplaced == len(expected.unplaced)
    np.testing.assert_allclose(table["tasks"], expected.tasks, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(table["level"], expected.levels, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(found.used, expected.used, rtol=1e-12)
    assert found.certificate.valid and found.certificate.kind == expected.certificate.kind


@pytest.mark.parametrize(
    ("policy", "seed"), [*(("ceei", seed) for seed in range(6)), ("alpha:2", 3), ("alpha:1/2", 4), ("alpha:3", 5)]
)
def test_a_market_of_files_is_that_of_memory(tmp_path, monkeypatch, policy, seed):
    monkeypatch.setattr(rows, "PART", 40)
    columns, capacity = awkward_pool(seed, 150, limited=seed % 3 > 0, weighted=seed % 2 == 0)
    found = solve_partitions(write(tmp_path / "users", columns, files=2, group=20), capacity, policy, jobs=1)
    expected = solve(in_memory(columns, capacity), policy)
    table = answer(found.folder)
    np.testing.assert_allclose(table["tasks"], expected.tasks, rtol=1e-8, atol=1e-300)
    np.testing.assert_allclose(table["level"], expected.levels, rtol=1e-8, atol=1e-300)
    np.testing.assert_allclose(found.prices, expected.prices, rtol=1e-7, atol=1e-12)
    assert found.certificate.kind == "prices" and found.error <= 1e-8


def test_a_market_that_does_not_clear_is_not_kept(tmp_path, monkeypatch):
    users = write(tmp_path / "users", awkward_pool(4, 50, limited=False)[0])
    honest = partition_passes.descended
    monkeypatch.setattr(partition_passes, "descended", lambda *given, **more: honest(*given, **more) * (1 + 1e-6))
    with pytest.raises(CertificateError, match=r"has a price, but 1.0e-06 of it is unused"):
        solve_partitions(users, awkward_pool(4, 50)[1], "ceei", jobs=1)
    assert {path.name for path in tmp_path.iterdir()} == {"users"}


def test_the_share_of_one_resource(tmp_path):
    columns, capacity = awkward_pool(2, 60)
    columns["cpu"] = columns["cpu"] + 1
    found = solve_partitions(write(tmp_path / "users", columns), capacity, "single:cpu", jobs=1)
    assert found.folder.endswith("users-single-cpu")
    np.testing.assert_allclose(
        answer(found.folder)["tasks"], solve(in_memory(columns, capacity), "single:cpu").tasks, rtol=1e-12
    )


def test_names_and_rows_stay_in_their_order(tmp_path):
    columns = GOOD | {"name": ["B", "A"], "weight": [1, 2]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "only.parquet")
    found = solve_partitions(tmp_path / "only.parquet", POOL, output=tmp_path / "answer", jobs=1)
    assert answer(tmp_path / "answer")["name"].to_pylist() == ["B", "A"]
    expected = solve(Instance([[1, 4], [3, 1]], [9, 18], weights=[1, 2]), "drf")
    np.testing.assert_allclose(answer(found.folder)["tasks"], expected.tasks, rtol=1e-12)
    assert json.loads((tmp_path / "answer" / "certificate.json").read_text())["certificate"]["valid"]


def test_a_wrong_answer_is_not_kept(tmp_path, monkeypatch):
    users = write(tmp_path / "users", awkward_pool(4, 50, limited=False)[0])
    honest = partition_passes.tasks_at

    def shifted(part, levels, out):
        tasks = honest(part, levels, out)
        tasks[3] *= 1 - 1e-6
        return tasks

    monkeypatch.setattr(partition_passes, "tasks_at", shifted)
    with pytest.raises(CertificateError, match=r"does not prove: .*part-\d.parquet: row 3 has no bottleneck"):
        solve_partitions(users, awkward_pool(4, 50)[1], jobs=1)
    assert {path.name for path in tmp_path.iterdir()} == {"users"}


def test_a_pool_that_is_overfull_is_not_kept(tmp_path, monkeypatch):
    users = write(tmp_path / "users", awkward_pool(4, 50, limited=False)[0])
    honest = partition_passes.tasks_at
    monkeypatch.setattr(partition_passes, "tasks_at", lambda *given: np.multiply(honest(*given), 1 + 1e-6))
    with pytest.raises(CertificateError, match=r"capacity of '\w+' is exceeded by 1.0e-06 of it"):
        solve_partitions(users, awkward_pool(4, 50)[1], jobs=1)


def test_what_does_not_fit_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(partitioned, "KEPT", 0.0)
    columns, capacity = awkward_pool(5, 80)
    found = solve_partitions(write(tmp_path / "users", columns), capacity, jobs=1)
    np.testing.assert_allclose(
        answer(found.folder)["tasks"], solve(in_memory(columns, capacity), "drf").tasks, rtol=1e-12, atol=1e-300
    )


@pytest.mark.parametrize(("room", "times"), [(0.0, 2 * 2), (0.5, 1 + 2), (1.0, 2)], ids=["none", "half", "all"])
def test_who_has_no_limits_is_read_twice(tmp_path, monkeypatch, room, times):
    """Users that are not kept: to add them up, and to write and prove their tasks; no sample is needed."""
    read = []
    load = partition_passes.load
    monkeypatch.setattr(partition_passes, "load", lambda *given: read.append(given) or load(*given))
    # So many bytes as 80 users of three resources, and one number more, take.
    monkeypatch.setattr("drfopt.base.partitions._Here.memory", lambda _: room * 80 * 4 * 8 / partitioned.KEPT)
    monkeypatch.setattr("drfopt.engines.leximin.saturation.MANY", 60)
    columns, capacity = awkward_pool(5, 80, limited=False)
    found = solve_partitions(write(tmp_path / "users", columns, files=2), capacity, jobs=1)
    assert len(read) == times
    np.testing.assert_allclose(
        answer(found.folder)["tasks"], solve(in_memory(columns, capacity), "drf").tasks, rtol=1e-12, atol=1e-300
    )


@pytest.mark.parametrize("policy", ["drf", "ceei"])
def test_of_users_with_limits_and_weights_half_are_kept(tmp_path, monkeypatch, policy):
    columns, capacity = awkward_pool(6, 90, weighted=True)
    monkeypatch.setattr("drfopt.base.partitions._Here.memory", lambda _: 0.5 * 90 * 5 * 8 / partitioned.KEPT)
    found = solve_partitions(write(tmp_path / "users", columns, files=4), capacity, policy, jobs=1)
    np.testing.assert_allclose(
        answer(found.folder)["tasks"], solve(in_memory(columns, capacity), policy).tasks, rtol=1e-8, atol=1e-300
    )


FAULTS = {
    "a missing column": ({"cpu": [1.0, 3.0]}, "a.parquet: has no column 'memory': add it"),
    "a column in other letters": (
        {"cpu": [1.0], "Memory": [1.0]},
        "has no column 'memory': write 'memory' for 'Memory'",
    ),
    "a column nobody knows": (GOOD | {"wieght": [1, 2]}, "'wieght', which is neither .*: did you mean 'weight'"),
    "no number": (GOOD | {"cpu": [1.0, np.nan]}, "column 'cpu', row 1 is nan: write a finite number, 0 or more"),
    "less than nothing": (GOOD | {"cpu": [-1.0, 1.0]}, "column 'cpu', row 0 is -1: it must not be negative"),
    "an empty cell": (GOOD | {"cpu": [1.0, None]}, r"column 'cpu', row 1 is empty \(null\): write 0"),
    "a text": (GOOD | {"cpu": ["1", "2"]}, "column 'cpu' holds text: write numbers"),
    "a user who needs nothing": ({"cpu": [1, 0], "memory": [1, 0]}, "a.parquet: row 1 demands nothing"),
    "a weight of 0": (GOOD | {"weight": [1, 0]}, "column 'weight', row 1 is 0: write a positive number"),
    "a limit below 0": (GOOD | {"max_tasks": [1, -1]}, "column 'max_tasks', row 1 is -1: it must not be negative"),
    "classes in a pool": (GOOD | {"machines": ["a", "b"]}, "a column 'machines', but the cluster is one pool"),
    "no rows": ({"cpu": pyarrow.array([], "double"), "memory": pyarrow.array([], "double")}, "its files have no rows"),
}


@pytest.mark.parametrize("columns, message", FAULTS.values(), ids=FAULTS)
def test_a_fault_is_one_line_with_file_column_row_and_remedy(tmp_path, columns, message):
    users = tmp_path / "users"
    users.mkdir()
    parquet.write_table(pyarrow.table(columns), users / "a.parquet")
    with pytest.raises(InstanceError, match=message) as raised:
        solve_partitions(users, POOL, jobs=1)
    assert str(raised.value).startswith(str(users)) and "\n" not in str(raised.value)
    assert {path.name for path in tmp_path.iterdir()} == {"users"}


def test_names_are_of_one_type_in_all_files(tmp_path):
    for file, name in (("a", 5), ("b", "5")):
        parquet.write_table(
            pyarrow.table({"cpu": [1.0], "memory": [1.0], "name": [name]}), tmp_path / f"{file}.parquet"
        )
    with pytest.raises(
        InstanceError, match=r"b.parquet: column 'name' holds text, and that of \S+a.parquet number: write"
    ):
        solve_partitions(tmp_path, POOL, jobs=1)


def test_a_column_that_is_there_twice_is_named(tmp_path):
    table = pyarrow.Table.from_arrays([pyarrow.array([1.0])] * 3, names=["cpu", "memory", "cpu"])
    parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(InstanceError, match=r"a.parquet: has two columns 'cpu': leave one out"):
        solve_partitions(tmp_path / "a.parquet", POOL, jobs=1)


def test_rows_are_counted_in_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "PART", 2)
    columns = {"cpu": [1.0, 1, 1, 1, np.nan, 1], "memory": [1.0] * 6}
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet", row_group_size=2)
    with pytest.raises(InstanceError, match=r"a.parquet: column 'cpu', row 4 is nan"):
        solve_partitions(tmp_path / "a.parquet", POOL, jobs=1)


@pytest.mark.parametrize("names", [["a", "bc", "", "d", "abc", "bc"], [3, 1, None, 2, None, 1]], ids=["text", "number"])
def test_a_name_that_two_users_share_is_told_with_both(tmp_path, monkeypatch, names):
    monkeypatch.setattr("drfopt.io.user_tables.columns.AT_ONCE", 2)
    columns = {"cpu": [1.0] * 6, "memory": [1.0] * 6, "name": names}
    users = write(tmp_path / "users", columns, files=2)
    shown = repr(names[1])
    with pytest.raises(
        InstanceError, match=rf"part-1.parquet: column 'name', row 2 is {shown}, as is .*part-0.parquet, row 1:"
    ):
        solve_partitions(users, POOL, jobs=1)
    one = write(tmp_path / "one", columns, files=1)
    with pytest.raises(
        InstanceError, match=rf"part-0.parquet: column 'name', row 5 is {shown}, as is row 1: give every"
    ):
        solve_partitions(one, POOL, jobs=1)
    assert {path.name for path in tmp_path.iterdir()} == {"users", "one"}


def test_names_that_differ_in_a_letter_are_different(tmp_path):
    names = [f"user-{i}" for i in range(300)] + [f"resu-{i}" for i in range(300)]
    columns = {"cpu": [1.0] * 600, "memory": [1.0] * 600, "name": names}
    found = solve_partitions(write(tmp_path / "users", columns), POOL, jobs=1)
    assert answer(found.folder)["name"].to_pylist() == names


def test_folders_that_cannot_be(tmp_path):
    empty, users = tmp_path / "empty", write(tmp_path / "users", GOOD | {"memory": [4.0, 1.0]}, files=1)
    empty.mkdir()
    cases = {
        "there is no such folder": (tmp_path / "none", None),
        r"has no files \*.parquet": (empty, None),
        "exists already: remove it": (users, empty),
        "does not exist: make it first": (users, tmp_path / "none" / "answer"),
    }
    for message, (source, output) in cases.items():
        with pytest.raises(InstanceError, match=message):
            solve_partitions(source, POOL, output=output, jobs=1)


def test_files_that_do_not_go_together(tmp_path):
    users = write(tmp_path / "users", GOOD, files=1)
    parquet.write_table(pyarrow.table(GOOD | {"weight": [1, 2]}), users / "z.parquet")
    with pytest.raises(InstanceError, match=r"z.parquet: has a column 'weight' that .*part-0.parquet lacks: give all"):
        solve_partitions(users, POOL, jobs=1)
    (users / "z.parquet").write_text("no table")
    with pytest.raises(InstanceError, match=r"z.parquet: cannot be read as Parquet"):
        solve_partitions(users, POOL, jobs=1)


def test_what_is_not_built_is_refused(tmp_path):
    users = write(tmp_path / "users", GOOD, files=1)
    for refused, message in (
        (lambda: solve_partitions(users, POOL, "utilitarian"), "utilitarian is not built for users in tables: use drf"),
        (lambda: solve_partitions(users, [Machine("a", POOL)], "alpha:0"), "alpha:0 is not built .* or alpha:A"),
        (lambda: solve_partitions(users, POOL, "single:gpu"), "names a resource that the cluster does not have"),
        (lambda: solve_partitions(users, POOL, jobs=0), "jobs is 0: give a whole number, 1 or more"),
        (lambda: solve_partitions([1, 2], POOL), "users are a list: give the folder of their Parquet files"),
        (lambda: solve_partitions(users, 7), "the cluster is a int: give the path"),
        (lambda: solve_partitions(users, {"name": 1}), "a resource 'name', which is the name of another column"),
    ):
        with pytest.raises(DrfoptError, match=message):
            refused()
    columns = {"cpu": [1.0, 0.0], "memory": [1.0, 1.0]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "b.parquet")
    with pytest.raises(PolicyError, match=r"b.parquet: single:cpu compares shares of 'cpu', but row 1 demands none"):
        solve_partitions(tmp_path / "b.parquet", POOL, "single:cpu", jobs=1)


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "[capacity]\ncpu = 9\nmemory = 18\n[[users]]\nname = 'A'\ndemand = { cpu = 1 }",
            "lists users, but they are in",
        ),
        ("[capacity]\ncpu = -9\nmemory = 18", "cluster.toml: capacity of 'cpu' is -9: it must not be negative"),
        ("[capacity]\ncpu = 9\n[[groups]]\nname = 'a'", "has 'groups', which is not built for users in tables"),
        ("capcity = 3", "unknown key 'capcity'"),
        ("name = 'nothing'", "needs either a capacity .* or machines"),
    ],
)
def test_the_cluster_is_a_file_without_users(tmp_path, text, message):
    users = write(tmp_path / "users", GOOD, files=1)
    (tmp_path / "cluster.toml").write_text(text)
    with pytest.raises(InstanceError, match=message):
        solve_partitions(users, tmp_path / "cluster.toml", jobs=1)
