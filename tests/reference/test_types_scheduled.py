"""Algorithm 1 for users with several task types: types in the order listed, levels by what they use."""

import pytest

from drfopt import Instance, Machine, Organisation, TaskType, schedule

CAPACITY = {"cpu": 9, "memory": 18}
A = [TaskType({"cpu": 1, "memory": 4}, 2), TaskType({"cpu": 1}, 9)]


def test_types_are_started_in_their_order_until_they_are_used_up():
    found = schedule(Instance({"A": A, "B": {"cpu": 3, "memory": 1}}, CAPACITY))
    # A has 2/9 and then 4/9 of the memory; a task that needs only cpu leaves her at 4/9.
    assert "".join(found.instance.users[step.user] for step in found.trace) == "ABABA"
    assert [step.kind for step in found.trace if step.user == 0] == [0, 0, 1]
    assert found.types == {"A": [2, 1]}
    assert found.to_dict()["types"] == {"A": [2, 1]}
    assert "by type: A 2 + 1" in str(found)


def test_without_a_trace_the_outcome_is_the_same():
    instance = Instance({"A": A, "B": {"cpu": 3, "memory": 1}}, CAPACITY)
    for rule in ("algorithm-1", "sequential-min-max"):
        kept, counted = (schedule(instance, rule=rule, trace=trace) for trace in (True, False))
        assert kept.types == counted.types
        assert kept.tasks.tolist() == counted.tasks.tolist()


def test_one_type_is_the_same_as_a_demand_with_a_limit():
    demand = {"cpu": 1, "memory": 4}
    typed = Instance({"A": [TaskType(demand, 2)], "B": {"cpu": 3, "memory": 1}}, CAPACITY)
    plain = Instance({"A": demand, "B": {"cpu": 3, "memory": 1}}, CAPACITY, max_tasks={"A": 2})
    for rule in ("algorithm-1", "sequential-min-max"):
        for when_full in ("skip", "stop"):
            for policy in ("drf", "asset", "tasks", "single:cpu"):
                ours, theirs = (schedule(one, policy, rule=rule, when_full=when_full) for one in (typed, plain))
                assert ours.trace == theirs.trace


def test_a_type_that_fits_nowhere_is_passed_over_and_the_next_one_tried():
    kinds = [TaskType({"cpu": 20}, 1), TaskType({"cpu": 4}, 5)]
    instance = Instance({"A": kinds}, CAPACITY)
    assert schedule(instance).types == {"A": [0, 2]}
    assert schedule(instance, when_full="stop").types == {"A": [0, 0]}


def test_each_type_goes_to_its_own_classes():
    machines = [Machine("small", {"cpu": 2}), Machine("large", {"cpu": 8}, 2)]
    kinds = [TaskType({"cpu": 2}, 3, ["small"]), TaskType({"cpu": 5}, 3)]
    found = schedule(Instance({"A": kinds}, machines=machines))
    assert found.types == {"A": [1, 2]}
    assert found.placement.tolist() == [[1, 2]]


def test_max_tasks_counts_all_types():
    assert schedule(Instance({"A": A}, CAPACITY, max_tasks={"A": 3})).types == {"A": [2, 1]}


@pytest.mark.parametrize("trace", [True, False])
def test_a_ceiling_holds_for_what_unlike_tasks_use(trace):
    # On average a task uses 12/22 of a GPU, and a ceiling of 6 would be 11 tasks: the first 8 would use 8.
    kinds = [TaskType({"cpu": 4, "gpu": 1}, 12), TaskType({"cpu": 2}, 10)]
    capped = Organisation(ceilings={"A": {"gpu": 6}})
    found = schedule(Instance({"A": kinds}, {"cpu": 64, "gpu": 8}, organisation=capped), trace=trace)
    assert found.types == {"A": [6, 10]}
    capped = Organisation(ceilings={"A": {"gpu": "13/2", "cpu": 29}})
    found = schedule(Instance({"A": kinds}, {"cpu": 64, "gpu": 8}, organisation=capped), trace=trace)
    assert found.types == {"A": [6, 2]}
    found = schedule(Instance({"A": kinds}, {"cpu": 64, "gpu": 8}, organisation=capped), trace=trace, when_full="stop")
    assert found.types == {"A": [6, 2]}


def test_task_shares_count_tasks_whatever_they_use():
    # A could run 99/8 of its tasks, of 8/11 memory each in proportion, in parts of 99/4; B nine.
    users = {"A": A, "B": {"cpu": 1}}
    found = schedule(Instance(users, CAPACITY), "tsf")
    assert [found.instance.users[step.user] for step in found.trace[:5]] == ["A", "B", "A", "B", "A"]
    machines = [Machine("a", {"cpu": 5, "memory": 10}), Machine("b", {"cpu": 4, "memory": 8})]
    assert schedule(Instance(users, machines=machines), "tsf").tasks.sum() == 9
