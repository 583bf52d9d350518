"""Trees that are too deep, circular or nameless, and files that are slow to read: one line, in work that is linear."""

import json
import time
from pathlib import Path

import pytest

from drfopt import Group, Instance, InstanceError, Organisation
from drfopt.io.readers.asking import read
from drfopt.model.organisation import DEEPEST


def cohort(name: str, parent: str = "") -> dict:
    spec = {"parentName": parent} if parent else {}
    return {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Cohort", "metadata": {"name": name}, "spec": spec}


def cluster_queue(parent: str) -> dict:
    flavors = [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "4"}]}]
    spec = {"cohortName": parent, "resourceGroups": [{"flavors": flavors}]}
    return {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue", "metadata": {"name": "A"}, "spec": spec}


def chain(levels: int) -> list[dict]:
    return [cohort(f"c{i}", f"c{i + 1}") for i in range(levels - 1)]


FORESTS = {
    "circular": ([cohort("a", "b"), cohort("b", "a"), cluster_queue("a")], "cohort '[ab]' is below itself"),
    "circular beside it": ([cohort("a", "b"), cohort("b", "a"), cluster_queue("")], "cohort '[ab]' is below itself"),
    "its own parent": ([cohort("a", "a"), cluster_queue("a")], "cohort 'a' is below itself"),
    "nameless": ([cohort(""), cluster_queue("")], "a Cohort has no metadata.name"),
    "deep": ([*chain(5_000), cluster_queue("c0")], f"more than {DEEPEST} levels"),
    "deep beside it": ([*chain(5_000), cluster_queue("")], f"more than {DEEPEST} levels"),
}


@pytest.mark.parametrize(("items", "words"), FORESTS.values(), ids=FORESTS)
def test_cohorts(tmp_path: Path, items: list[dict], words: str) -> None:
    path = tmp_path / "kueue.json"
    path.write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
    began = time.process_time()
    with pytest.raises(InstanceError, match=words) as error:
        read("kueue", [path])
    assert str(error.value).isprintable()
    assert time.process_time() - began < 60


def test_queues_in_a_long_row(tmp_path: Path) -> None:
    queues = [
        {
            "apiVersion": "scheduling.run.ai/v2",
            "kind": "Queue",
            "metadata": {"name": f"q{i}"},
            "spec": {"parentQueue": f"q{i + 1}", "resources": {"cpu": {"quota": 1}}},
        }
        for i in range(5_000)
    ]
    node = {"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4"}}}
    container = {"name": "c", "resources": {"requests": {"cpu": "1"}}}
    metadata = {"name": "p", "namespace": "n", "labels": {"kai.scheduler/queue": "q0"}}
    pod = {"kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}
    path = tmp_path / "kai.json"
    path.write_text(json.dumps({"kind": "List", "items": [*queues, node, pod]}), encoding="utf-8")
    with pytest.raises(InstanceError, match=f"more than {DEEPEST} levels"):
        read("kai", [path])


@pytest.mark.parametrize("levels", [DEEPEST + 1, 50_000])
def test_groups(levels: int) -> None:
    path = "/".join("g" * levels)
    for organisation in (Organisation(paths={"A": path}), Organisation(groups=[Group(path)])):
        began = time.process_time()
        with pytest.raises(InstanceError, match=f"{levels} levels deep: groups have at most {DEEPEST}$") as error:
            Instance({"A": {"cpu": 1}}, {"cpu": 1}, organisation=organisation)
        assert len(str(error.value)) < 200
        assert time.process_time() - began < 20


def test_groups_as_deep_as_they_may_be_are_solved() -> None:
    from drfopt import solve

    path = "/".join("g" * DEEPEST)
    organisation = Organisation(paths={"A": path})
    assert solve(Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, {"cpu": 4}, organisation=organisation)).tasks.sum() == 4


def test_many_resources_cost_what_they_hold(tmp_path: Path) -> None:
    """A class for each of many resources: the table is square, and nearly all of it is 0."""
    path = tmp_path / "square.toml"
    classes = "".join(f"[[machines]]\nname='m{i}'\ncapacity={{r{i}=1}}\n" for i in range(700))
    path.write_text(classes + "[[users]]\nname='a'\ndemand={r1=1}\n", encoding="utf-8")
    began = time.process_time()
    assert Instance.load(path).capacity.sum() == 700
    assert time.process_time() - began < 60


def test_a_table_that_no_memory_holds_is_refused() -> None:
    rooms = {f"r{j}": 1 for j in range(8_000)}
    with pytest.raises(InstanceError, match=r"8000 resources for 8000 users .*too many"):
        Instance([{f"r{j}": 1} for j in range(8_000)], rooms)
