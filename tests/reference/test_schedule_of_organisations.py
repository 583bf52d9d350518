"""Whole tasks one at a time under guarantees, tiers and groups: the order of YARN's own tests, and each rule."""

import pytest

from drfopt import Group, Instance, Organisation, PolicyError, TaskType, schedule, solve


def served(found) -> list[str]:
    return [found.instance.users[step.user] for step in found.trace]


def started(organisation: Organisation, **rest: object) -> list[int]:
    return schedule(
        Instance({u: {"cpu": 1} for u in "ABC"}, {"cpu": 12}, organisation=organisation, **rest)
    ).tasks.tolist()


def test_yarn_walks_queues():
    """Hadoop, TestFairScheduler.testBasicDRFWithQueues."""
    demands = {
        "app1": {"memory": 3072, "vcores": 1},
        "app2": {"memory": 2048, "vcores": 2},
        "app3": {"memory": 1024, "vcores": 2},
    }
    queues = Organisation(paths={"app1": "queue1", "app2": "queue1", "app3": "queue2"})
    cluster = Instance(demands, {"memory": 8192, "vcores": 7}, max_tasks=[2, 2, 2], organisation=queues)
    assert served(schedule(cluster)) == ["app1", "app3", "app3", "app2"]


def test_yarn_walks_a_hierarchy():
    """Hadoop, TestFairScheduler.testDRFHierarchicalQueues."""
    demands = {
        "app1": {"memory": 3074, "vcores": 1},
        "app2": {"memory": 1024, "vcores": 3},
        "app3": {"memory": 2048, "vcores": 2},
        "app4": {"memory": 1024, "vcores": 2},
    }
    paths = {"app1": "queue1/sub1", "app2": "queue1/sub1", "app3": "queue1/sub2", "app4": "queue2"}
    cluster = Instance(
        demands, {"memory": 12288, "vcores": 12}, max_tasks=[2] * 4, organisation=Organisation(paths=paths)
    )
    assert served(schedule(cluster)) == ["app1", "app4", "app4", "app3", "app3", "app2"]


def test_guarantees_come_first_by_the_part_that_is_kept():
    rules = Organisation(guarantees={"A": {"cpu": 6}, "B": {"cpu": 2}}, tiers={"C": 1})
    found = schedule(Instance({u: {"cpu": 1} for u in "ABC"}, {"cpu": 12}, organisation=rules))
    assert served(found)[:8] == ["A", "B", "A", "A", "A", "B", "A", "A"]
    assert found.tasks.tolist() == [6, 2, 4]


def test_tiers_weights_of_0_ceilings_and_groups():
    assert started(Organisation(tiers={"A": 1}), max_tasks={"A": 8}) == [8, 2, 2]
    assert started(Organisation(), weights={"A": 0, "B": 0}, max_tasks={"C": 8}) == [2, 2, 8]
    pair = {"A": "g", "B": "g"}
    assert started(Organisation(paths=pair)) == [3, 3, 6]
    assert started(Organisation(paths=pair, groups=[Group("g", ceiling={"cpu": "9/2"})])) == [2, 2, 8]
    assert started(Organisation(guarantees={"A": {"cpu": "11/2"}})) == [5, 4, 3]


@pytest.mark.parametrize("name", ["hdrf-rescaling", "hdrf-blocking", "hdrf-starvation", "tree-of-departments"])
def test_where_tasks_are_small_the_schedule_is_the_optimum(name: str):
    instance = Instance.library(name)
    assert schedule(instance).tasks.tolist() == solve(instance, exact=True).tasks.tolist()


def test_what_is_not_scheduled_together_is_refused():
    rules = Organisation(tiers={"A": 1})
    with pytest.raises(
        PolicyError, match="rule 'sequential-min-max' and guarantees, tiers or groups are not scheduled"
    ):
        schedule(Instance({"A": {"cpu": 1}}, {"cpu": 1}, organisation=rules), rule="sequential-min-max")
    with pytest.raises(PolicyError, match="task types and guarantees, tiers or groups are not scheduled together"):
        schedule(Instance({"A": [TaskType({"cpu": 1}, 1)]}, {"cpu": 1}, organisation=rules))
