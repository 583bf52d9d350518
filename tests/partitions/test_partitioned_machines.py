"""Users in Parquet files on machines: the levels that `solve` finds in memory, proven from what was written."""

import json
from dataclasses import replace

import numpy as np
import pyarrow
import pytest
from partition_files import RESOURCES, answer, awkward_cluster, write
from pyarrow import parquet

from drfopt import CertificateError, Instance, InstanceError, Machine, PolicyError, SolverError, solve, solve_partitions
from drfopt.engines.leximin import parted_chain
from drfopt.engines.nash import parted_market
from drfopt.io.user_tables import rows
from drfopt.solving import partitioned


def in_memory(columns, machines):
    return Instance(
        np.column_stack([columns[name] for name in RESOURCES]),
        machines=machines,
        resources=RESOURCES,
        weights=columns.get("weight"),
        max_tasks=columns.get("max_tasks"),
        eligible=columns["machines"],
    )


def possible_placement(table, instance):
    """Return the placement that was written, which runs where it may and exceeds no class."""
    placement = np.column_stack([table[f"on {machine}"] for machine in instance.machine_names])
    assert not placement[~instance.fits].any()
    assert (placement.T @ instance.demands <= instance.room * (1 + 1e-12)).all()
    return placement


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(rows, "PAIRS", 100)


CASES = [
    ("drf", 0, 0.4, 0.5),
    ("drf", 1, 1.0, 0.5),
    ("drf", 2, 0.2, 0.0),
    ("asset", 3, 0.4, 0.5),
    ("tasks", 4, 0.7, 0.5),
    ("tsf", 5, 0.4, 0.0),
]


@pytest.mark.parametrize(("policy", "seed", "open_to", "limited"), CASES)
def test_files_are_answered_as_memory_is(tmp_path, small_parts, policy, seed, open_to, limited):
    columns, machines = awkward_cluster(seed, 60, 5, open_to, limited, weighted=seed % 2 == 0)
    users = write(tmp_path / "users", columns, files=2, group=13)
    found = solve_partitions(users, machines, policy, jobs=1)
    instance = in_memory(columns, machines)
    expected = solve(instance, policy)
    table = answer(found.folder)
    assert found.users == 60 and found.partitions > 3 and found.unplaced == len(expected.unplaced) == 1
    np.testing.assert_allclose(table["level"], expected.levels, rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(table["tasks"], expected.tasks, rtol=1e-11, atol=1e-300)
    placement = possible_placement(table, instance)
    np.testing.assert_allclose(placement.sum(axis=1), expected.tasks, rtol=1e-11, atol=1e-300)
    assert found.certificate.kind == "chain" and found.certificate.valid and found.error <= 1e-10


def test_what_has_no_room_in_memory_lies_in_files_meanwhile(tmp_path, small_parts, monkeypatch):
    columns, machines = awkward_cluster(6, 60)
    users = write(tmp_path / "users", columns)
    kept = solve_partitions(users, machines, output=tmp_path / "kept", jobs=1)
    monkeypatch.setattr(partitioned, "KEPT", 0.0)
    found = solve_partitions(users, machines, output=tmp_path / "files", jobs=1)
    assert answer(found.folder) == answer(kept.folder)
    assert {path.name for path in tmp_path.iterdir()} == {"users", "kept", "files"}
    assert {path.suffix for path in (tmp_path / "files").iterdir()} == {".parquet", ".json"}


def test_the_proof_is_kept_beside_the_answer(tmp_path):
    columns, machines = awkward_cluster(7, 40)
    found = solve_partitions(write(tmp_path / "users", columns), machines, jobs=1)
    said = json.loads((tmp_path / "users-drf" / "certificate.json").read_text())
    rounds = said["certificate"]["rounds"]
    assert [link["level"] for link in rounds] == sorted(link["level"] for link in rounds)
    assert set(rounds[0]["prices"]) <= {f"{m.name}/{r}" for m in machines for r in RESOURCES}
    assert "levels proven to" in str(found) and "(chain)" in str(found)


@pytest.mark.parametrize("spoilt", ["more tasks", "fewer tasks", "moved", "another class"])
def test_a_wrong_answer_is_not_kept(tmp_path, monkeypatch, small_parts, spoilt):
    columns, machines = awkward_cluster(8, 60, limited=0.0)
    users = write(tmp_path / "users", columns)
    honest = parted_chain.ChainPart.tasks

    def wrong(part):
        tasks, levels, placement = honest(part)
        i = 3
        if spoilt.endswith("tasks"):
            factor = 1 + (1e-6 if spoilt == "more tasks" else -1e-6)
            return tasks * factor, levels * factor, placement * factor
        k, other = placement[i].argsort()[-1], placement[i].argsort()[0]
        moved = placement[i, k] * (1e-6 if spoilt == "moved" else 1.0)
        placement[i, k] -= moved
        placement[i, other] += moved
        return tasks, levels, placement

    monkeypatch.setattr(parted_chain.ChainPart, "tasks", wrong)
    with pytest.raises(CertificateError, match="that its certificate does not prove"):
        solve_partitions(users, machines, jobs=1)
    assert {path.name for path in tmp_path.iterdir()} == {"users"}


def test_rounds_that_prove_less_are_not_believed(tmp_path, monkeypatch, small_parts):
    columns, machines = awkward_cluster(8, 60)
    users = write(tmp_path / "users", columns)
    honest = parted_chain.chain
    monkeypatch.setattr("drfopt.solving.partition_passes.chain", lambda *given: honest(*given)[1:])
    with pytest.raises(CertificateError, match=r"part-\d.parquet: row \d+ is not proven to be finished at level"):
        solve_partitions(users, machines, jobs=1)


TWO = [Machine("large", {"cpu": 9}), Machine("small", {"cpu": 2})]


def test_an_empty_name_in_a_list_is_no_class(tmp_path):
    table = pyarrow.table({"cpu": [1.0, 1.0], "machines": [["small"], ["large", None]]})
    parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(InstanceError, match=r"column 'machines', row 1 names an empty class \(null\): name a class"):
        solve_partitions(tmp_path / "a.parquet", TWO, jobs=1)


def test_a_category_that_no_row_has_is_no_fault(tmp_path):
    classes = pyarrow.DictionaryArray.from_arrays([1, 2], ["huge", "large", "small"])
    parquet.write_table(pyarrow.table({"cpu": [1.0, 1.0], "machines": classes}), tmp_path / "a.parquet")
    solve_partitions(tmp_path / "a.parquet", TWO, output=tmp_path / "answer", jobs=1)
    np.testing.assert_allclose(answer(tmp_path / "answer")["tasks"], [9, 2])


@pytest.mark.parametrize(
    "machines, message",
    [([Machine("large", {"cpu": 0}), TWO[1]], None), ([], "the cluster has no machines: list at least one class")],
)
def test_a_cluster_may_lack_room_but_not_machines(tmp_path, machines, message):
    parquet.write_table(pyarrow.table({"cpu": [1.0]}), tmp_path / "a.parquet")
    if message:
        with pytest.raises(InstanceError, match=message):
            solve_partitions(tmp_path / "a.parquet", machines, jobs=1)
    else:
        solve_partitions(tmp_path / "a.parquet", machines, output=tmp_path / "answer", jobs=1)
        np.testing.assert_allclose(answer(tmp_path / "answer")["tasks"], [2])


def test_a_class_that_nobody_knows_is_named(tmp_path):
    columns, machines = awkward_cluster(9, 30)
    users = write(tmp_path / "users", columns)
    with pytest.raises(InstanceError, match=r"^\S+part-\d.parquet: column 'machines', row \d+ names the class 'c4'"):
        solve_partitions(users, machines[:4], jobs=1)
    assert {path.name for path in tmp_path.iterdir()} == {"users"}


MARKETS = [
    ("ceei", 0, 0.4, 0.5),
    ("ceei", 1, 1.0, 0.0),
    ("ceei", 2, 0.2, 0.9),
    ("ceei", 3, 0.5, 0.3),
    ("alpha:2", 0, 0.4, 0.5),
    ("alpha:1/2", 2, 0.2, 0.9),
]


@pytest.mark.parametrize(("policy", "seed", "open_to", "limited"), MARKETS)
def test_a_market_in_files_is_that_in_memory(tmp_path, small_parts, policy, seed, open_to, limited):
    columns, machines = awkward_cluster(seed, 60, 5, open_to, limited, weighted=seed % 2 == 0)
    found = solve_partitions(write(tmp_path / "users", columns, files=2, group=13), machines, policy, jobs=1)
    instance = in_memory(columns, machines)
    expected = solve(instance, policy)
    table = answer(found.folder)
    assert found.users == 60 and found.partitions > 3 and found.unplaced == len(expected.unplaced) == 1
    np.testing.assert_allclose(table["tasks"], expected.tasks, rtol=1e-12, atol=0)
    np.testing.assert_allclose(table["level"], expected.levels, rtol=1e-12, atol=0)
    np.testing.assert_allclose(found.prices, expected.prices, rtol=1e-9, atol=1e-12 * expected.prices.max())
    possible_placement(table, instance)
    assert found.certificate.kind == "prices" and found.certificate.valid and found.error <= 1e-10


@pytest.mark.parametrize("policy", ["drf", "ceei"])
def test_few_classes_are_used_where_that_is_asked_for(tmp_path, policy):
    columns, machines = awkward_cluster(7, 240, 5, 1.0, 0.0)
    users = write(tmp_path / "users", columns, files=2, group=120)
    asked = {"policy": policy, "jobs": 1}
    many = answer(solve_partitions(users, machines, output=tmp_path / "many", **asked).folder)
    found = solve_partitions(users, machines, output=tmp_path / "few", few_classes=True, **asked)
    few, instance = answer(found.folder), in_memory(columns, machines)
    assert few["tasks"] == many["tasks"] and few["level"] == many["level"]
    assert found.certificate.valid and found.error <= 1e-10
    placement, before = possible_placement(few, instance), possible_placement(many, instance)
    np.testing.assert_allclose(placement.sum(axis=1), few["tasks"], rtol=1e-12)
    several, were = ((table > 1e-9).sum(axis=1) > 1 for table in (placement, before))
    assert found.partitions == 2 and several.sum() <= 2 * placement.shape[1] * instance.m < were.sum() / 5


def test_few_classes_are_of_machines(tmp_path):
    with pytest.raises(InstanceError, match=r"the cluster is one pool: few_classes \(--few-classes\) is for machines"):
        solve_partitions(tmp_path, {"cpu": 1}, few_classes=True)


def test_a_market_that_has_no_room_in_memory_lies_in_files_meanwhile(tmp_path, small_parts, monkeypatch):
    columns, machines = awkward_cluster(6, 60)
    users = write(tmp_path / "users", columns)
    kept = solve_partitions(users, machines, "ceei", output=tmp_path / "kept", jobs=1)
    monkeypatch.setattr(partitioned, "KEPT", 0.0)
    found = solve_partitions(users, machines, "ceei", output=tmp_path / "files", jobs=1)
    assert answer(found.folder) == answer(kept.folder)
    assert {path.name for path in tmp_path.iterdir()} == {"users", "kept", "files"}
    said = json.loads((tmp_path / "files" / "certificate.json").read_text())["certificate"]
    assert said["prices"] and set(said["prices"]) <= {f"{m.name}/{r}" for m in machines for r in RESOURCES}


@pytest.mark.parametrize("spoilt", ["tasks", "placement", "digits"])
def test_a_wrong_market_is_not_kept(tmp_path, monkeypatch, small_parts, spoilt):
    columns, machines = awkward_cluster(8, 60, limited=0.0)
    users = write(tmp_path / "users", columns)
    honest = parted_market.MarketUsers.tasks

    def wrong(part, prices):
        tasks, levels, placement, point = honest(part, prices)
        if spoilt == "tasks":
            return tasks * (1 - 1e-6), levels * (1 - 1e-6), placement * (1 - 1e-6), point
        if spoilt == "digits":
            return tasks, levels, placement, replace(point, amounts=point.amounts * (1 - 1e-7))
        used = placement[3].argmax()
        placement[3, used], placement[3, used - 1] = placement[3, used - 1], placement[3, used]
        return tasks, levels, placement, point

    monkeypatch.setattr(parted_market.MarketUsers, "tasks", wrong)
    with pytest.raises(CertificateError, match="that its certificate does not prove"):
        solve_partitions(users, machines, "ceei", jobs=1)
    assert {path.name for path in tmp_path.iterdir()} == {"users"}


def test_a_market_in_files_that_does_not_converge_says_who_is_furthest_apart(tmp_path, small_parts):
    columns, machines = awkward_cluster(0, 60)
    columns["weight"] = np.ones(60)
    columns["weight"][[33, 47]] = 1e150, 1e-150
    users = write(tmp_path / "users", columns, files=2, group=13)
    with pytest.raises(SolverError, match=r"weights of .*: row 3 and .*: row 17 are 10\^300 apart: bring them nearer"):
        solve_partitions(users, machines, "alpha:7", jobs=1)


def test_parts_of_which_nobody_takes_part_have_no_share(tmp_path, small_parts):
    columns, machines = awkward_cluster(5, 60)
    columns["max_tasks"][:40] = 0.0
    users = write(tmp_path / "users", columns, files=3)
    found = solve_partitions(users, machines, "ceei", output=tmp_path / "some", jobs=1)
    expected = solve(in_memory(columns, machines), "ceei")
    np.testing.assert_allclose(answer(found.folder)["tasks"], expected.tasks, rtol=1e-12, atol=0)
    columns["max_tasks"][:] = 0.0
    nobody = write(tmp_path / "nobody", columns)
    found = solve_partitions(nobody, machines, "ceei", jobs=1)
    assert not any(answer(found.folder)["tasks"].to_pylist()) and not found.prices.any()


def test_other_markets_are_refused_by_name(tmp_path):
    columns, machines = awkward_cluster(9, 30)
    with pytest.raises(PolicyError, match=r"alpha:0 is not built for users in tables: use drf, .* or alpha:A with A"):
        solve_partitions(write(tmp_path / "users", columns), machines, "alpha:0", jobs=1)


def test_a_full_disk_is_one_line(tmp_path, small_parts, monkeypatch):
    columns, machines = awkward_cluster(6, 60)
    users = write(tmp_path / "users", columns)

    class Full:
        """Stands for a file on a disk that is full."""

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return False

        def write(self, data):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(partitioned, "KEPT", 0.0)
    monkeypatch.setattr("drfopt.base.states.opened_for_writing", lambda path: Full())
    with pytest.raises(InstanceError, match=r"no partition can be put there \(No space left on device\): make room"):
        solve_partitions(users, machines, jobs=1)
    assert {path.name for path in tmp_path.iterdir()} == {"users"}


def test_row_groups_are_divided_among_parts(tmp_path, monkeypatch):
    columns, machines = awkward_cluster(10, 50)
    users = write(tmp_path / "users", columns, files=1)
    whole = solve_partitions(users, machines, output=tmp_path / "whole", jobs=1)
    monkeypatch.setattr(rows, "PAIRS", 60)
    found = solve_partitions(users, machines, output=tmp_path / "parts", jobs=1)
    assert whole.partitions == 1 and found.partitions == 5
    np.testing.assert_allclose(answer(found.folder)["tasks"], answer(whole.folder)["tasks"], rtol=1e-11)
