"""Why each has what it has in whole tasks: what the next task lacks, beside enumeration, and what is said to help."""

import re

import pytest
from engines.whole_reference import Enumeration, awkward

from drfopt import Instance, Machine, PolicyError, explain, solve
from drfopt.planning.changes import changed


@pytest.mark.parametrize("machines", [False, True], ids=["pool", "machines"])
def test_everybody_who_could_want_more_lacks_something(machines):
    named = 0
    for seed in range(14):
        instance = awkward(seed, types=True, machines=machines)
        try:
            found = explain(instance, integer=True)
        except PolicyError as error:
            assert "excluded" in str(error)
            continue
        reference, tasks = Enumeration(instance, "drf"), found.allocation.tasks.tolist()
        for i in reference.playing:
            row, more = found.users[i], [x + (h == i) for h, x in enumerate(tasks)]
            if tasks[i] == reference.most[i]:
                continue
            assert row.reason == "capacity", (seed, i)
            assert row.stopped_by, (seed, i)
            named += 1
            if not machines:
                everybody = range(instance.n)
                demand = reference.tasks[i][tasks[i]][0]
                over = [
                    r
                    for j, r in enumerate(instance.resources)
                    if demand[j] and reference.used(more, everybody, j) > instance.exact_capacity[j]
                ]
                assert [name for name in row.stopped_by if name in instance.resources] == over
    assert named > 10


def test_reasons_of_whole_tasks():
    demands = {"all": {"cpu": 1}, "limit": {"cpu": 1}, "own": {"cpu": 1}, "wide": {"cpu": 9}, "rest": {"cpu": 2}}
    from drfopt import Organisation

    rules = Organisation(ceilings={"own": {"cpu": "5/2"}})
    instance = Instance(demands, {"cpu": 8}, max_tasks={"all": 1}, organisation=rules)
    found = explain(instance, integer=True)
    assert {row.user: row.reason for row in found.users} == {
        "all": "met",
        "limit": "capacity",
        "own": "ceiling",
        "wide": "unplaced",
        "rest": "capacity",
    }
    assert found["wide"].remedy == "the pool would have to have 9 of cpu instead of 8"
    assert found["own"].remedy.startswith(("raise its ceiling", "its ceiling stops it"))
    assert found["limit"].alone_tasks == 1


def test_what_is_said_to_help_helps():
    pool = Instance({"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}, {"cpu": 9, "memory": 18})
    racks = Instance(
        {"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}},
        machines=[Machine("small", {"cpu": 4, "memory": 8}, 2), Machine("large", {"cpu": 6, "memory": 12})],
    )
    for instance in (pool, racks):
        for i, row in enumerate(explain(instance, integer=True).users):
            change, after, now = re.fullmatch(r"(.*) would give it (\d+) tasks instead of (\d+)", row.remedy).groups()
            assert int(now) == row.tasks
            assert solve(changed(instance, change.split(", ")), integer=True).tasks[i] == int(after) > int(now)


def test_a_device_is_what_a_task_lacks():
    node = Machine("node", {"cpu": 64, "gpu": 2}, devices={"gpu": 2})
    found = explain(Instance({"A": {"gpu": "0.6"}}, machines=[node], resources=["cpu", "gpu"]), integer=True)
    assert found["A"].stopped_by == ("node/gpu",)
