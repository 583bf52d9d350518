"""Whole tasks one at a time under guarantees, tiers and groups: the order of YARN's own tests, and each rule."""

import random
from fractions import Fraction

import pytest

from drfopt import Group, Instance, Machine, Organisation, PolicyError, TaskType, schedule, solve


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
    rules = Organisation(tiers={"A": 1}, ceilings={"A": {"cpu": 1}})
    with pytest.raises(PolicyError, match="rule 'sequential-min-max' knows no tiers: leave them out"):
        schedule(Instance({"A": {"cpu": 1}}, {"cpu": 1}, organisation=rules), rule="sequential-min-max")
    late = Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, {"cpu": 1}, weights={"A": 1, "B": 0})
    with pytest.raises(PolicyError, match="knows no weights of 0: leave them out, or use rule 'algorithm-1'"):
        schedule(late, rule="sequential-min-max")
    promised = Organisation(paths={"A": "g"}, groups=[Group("g", guarantee={"cpu": 1})])
    with pytest.raises(PolicyError, match="user 'A' is promised something, and which of its task types"):
        schedule(Instance({"A": [TaskType({"cpu": 1}, 1)]}, {"cpu": 1}, organisation=promised))


def by_hand(rows, counts, room, weights, tiers, groups, ceilings):
    """Return who is served: of the group whose share of what it uses is lowest, by weight, the member that is lowest.

    `rows` are each user's types, started in their order; `groups` the name and weight of each user's.
    """
    started, at, order = [[0] * len(mine) for mine in rows], [0] * len(rows), []

    def use(users, j):
        return sum(x * row[j] for i in users for x, row in zip(started[i], rows[i], strict=True))

    def share(users, weight):
        return max(Fraction(use(users, j), room[j]) for j in range(len(room))) / weight

    waiting = set(range(len(rows)))
    while waiting:
        below = {g: [i for i in range(len(rows)) if groups[i][0] == g] for g, _ in groups}
        weight = dict(groups)
        able = [g for g in below if waiting & {*below[g]}]
        g = min(able, key=lambda g: (share(below[g], weight[g]), min(waiting & {*below[g]})))
        i = min(waiting & {*below[g]}, key=lambda i: (-tiers[i], share([i], weights[i]), i))
        row = rows[i][at[i]]
        full = any(use(range(len(rows)), j) + row[j] > room[j] for j in range(len(room)))
        barred = use(below[g], 0) + row[0] > ceilings[g]
        if started[i][at[i]] < counts[i][at[i]] and not full and not barred:
            started[i][at[i]] += 1
            order.append(i)
        elif at[i] + 1 < len(rows[i]):
            at[i] += 1
        else:
            waiting.remove(i)
    return order


@pytest.mark.parametrize("seed", range(12))
def test_types_rise_in_groups_by_what_their_tasks_use(seed):
    """Whose tasks are unlike has the share of what runs, and so has its group; a ceiling passes one type over."""
    chance = random.Random(seed)
    n = chance.randint(2, 4)
    rows = [[[chance.randint(1, 3), chance.randint(0, 3)] for _ in range(chance.randint(1, 3))] for _ in range(n)]
    counts = [[chance.randint(1, 3) for _ in mine] for mine in rows]
    room, weights = [chance.randint(6, 14), chance.randint(6, 14)], [chance.randint(1, 2) for _ in rows]
    tiers = [chance.choice([0, 0, 1]) for _ in rows]
    names = [chance.choice("gh") for _ in rows]
    heavy, ceilings = {"g": 2, "h": 1}, {"g": chance.randint(3, 9), "h": 99}
    users = [f"u{i}" for i in range(n)]
    instance = Instance(
        {
            user: [TaskType(dict(zip("ab", row, strict=True)), count) for row, count in zip(mine, many, strict=True)]
            for user, mine, many in zip(users, rows, counts, strict=True)
        },
        dict(zip("ab", room, strict=True)),
        weights=dict(zip(users, weights, strict=True)),
        organisation=Organisation(
            tiers=dict(zip(users, tiers, strict=True)),
            paths=dict(zip(users, names, strict=True)),
            groups=[Group("g", 2, ceiling={"a": ceilings["g"]}), Group("h")],
        ),
    )
    wanted = by_hand(rows, counts, room, weights, tiers, [(g, heavy[g]) for g in names], ceilings)
    assert served(schedule(instance)) == [users[i] for i in wanted]


def test_of_several_types_one_that_fits_nowhere_is_left_out_under_tiers_too():
    types = [TaskType({"cpu": 1}, 3), TaskType({"cpu": 3}, 2)]
    instance = Instance(
        {"A": types, "B": {"cpu": 1}},
        machines=[Machine("m", {"cpu": 2}, 2)],
        max_tasks={"B": 1},
        organisation=Organisation(tiers={"B": 1}),
    )
    assert served(schedule(instance)) == ["B", "A", "A", "A"]


def test_every_machine_starts_tasks_by_itself():
    """Algorithm 1 on one machine of each class, in shares of it, for all that are alike."""
    users = {"A": {"cpu": 1, "memory": 3}, "B": {"cpu": 2, "memory": 1}, "C": {"cpu": 1, "gpu": "0.5"}}
    machines = [
        Machine("a", {"cpu": 7, "memory": 11}, 3),
        Machine("b", {"cpu": 5, "memory": 4, "gpu": 2}, 2, devices={"gpu": 2}),
    ]
    rules = Organisation(tiers={"B": 1})
    cluster = Instance(users, machines=machines, organisation=rules)
    found = schedule(cluster, "per-server", ties=["C", "A"], optimum=True)
    # On the first B starts 3 tasks and A 1; on the second B has 2, and C the CPU that is left.
    assert found.placement.tolist() == [[3, 0], [9, 4], [0, 2]]
    assert found.tasks.tolist() == [3, 13, 2]
    assert [(step.machine, found.instance.users[step.user]) for step in found.trace] == [
        *[(0, "B")] * 3,
        (0, "A"),
        *[(1, "B")] * 2,
        (1, "C"),
    ]
    assert found.trace[3].used == (7, 6, 0) and found.trace[-1].dominant_shares == (0, Fraction(4, 5), Fraction(1, 4))
    assert "7/7" in str(found) and "those of a class are alike" in str(found)
    assert (found.optimum.higher, found.optimum.lower, found.optimum.proven) == (0, 0, True)
    assert found.optimum.lowest == found.optimum.lowest_of_schedule == 0
    plain = schedule(Instance(users, machines=machines), "per-server", trace=False, rule="sequential-min-max")
    assert plain.trace is None and plain.placement.sum() > 0
    with pytest.raises(PolicyError, match=r"ceei cannot be scheduled task by task.*per-server"):
        schedule(cluster, "ceei")
