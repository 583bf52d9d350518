"""Moves to whole tasks under rules, of several types and of groups, beside all allocations written down."""

import itertools
import random

import numpy as np
import pytest
from engines.organised import organised_pool
from engines.whole_reference import Enumeration, Groups, awkward

from drfopt import Instance, InstanceError, Machine, Organisation, PolicyError, TaskType, solve
from drfopt.model.whole_values import by_types, type_rows
from drfopt.planning.rebalancing.current import Current, current_of
from drfopt.planning.rebalancing.rebalancing import rebalance

KINDS = {
    "rules": {},
    "rules on machines": {"machines": True},
    "types": {"types": True, "rules": False},
    "types on machines": {"types": True, "rules": False, "machines": True},
    "types under rules on machines": {"types": True, "machines": True},
}


def today(instance: Instance, seed: int) -> Current:
    """Return what runs in a pool, in classes, or machine by machine: also where it may not."""
    chance = random.Random(f"today {seed}")
    places = [("the pool", 0)]
    if instance.machines is not None:
        one_by_one = chance.random() < 0.5
        places = [
            (f"{machine.name}.{q}", k)
            for k, machine in enumerate(instance.machines)
            for q in range(machine.count if one_by_one else 1)
        ]
    rows = type_rows(instance)[-1].stop
    running = np.array([[chance.choice([0, 0, 1, 2]) for _ in places] for _ in range(rows)])
    names, classes = zip(*places, strict=True)
    return Current(names, classes, running, instance.machines is not None and one_by_one)


def placements(instance: Instance, current: Current):
    """Yield what can run in every place, (rows, places): machine by machine everything that fits."""
    cluster = by_types(instance)
    rooms = [(0, cluster.exact_capacity)]
    if cluster.machines is not None:
        rooms = [(k, cluster.exact_machine_capacity[k]) for k, m in enumerate(cluster.machines) for _ in range(m.count)]
    most = Enumeration(instance, "drf")
    starts = [0] * cluster.n
    for i, rows in enumerate(type_rows(instance)):
        kinds = instance.task_types and instance.task_types[i]
        for t, q in enumerate(rows):
            starts[q] = min(most.most[i], kinds[t].count) if kinds else most.most[i]
    loads = []
    for k, room in rooms:
        able = [x if cluster.machines is None or cluster.fits[q, k] else 0 for q, x in enumerate(starts)]
        loads.append(
            [
                x
                for x in itertools.product(*(range(a + 1) for a in able))
                if all(sum(n * d for n, d in zip(x, col, strict=True)) <= c
                       for col, c in zip(zip(*cluster.exact_demands, strict=True), room, strict=True))
            ]
        )  # fmt: skip
    if np.prod([float(len(some)) for some in loads]) > 30_000:
        return
    for packed in itertools.product(*loads):
        after = np.array(packed).T.reshape(cluster.n, len(rooms))
        if cluster.machines is not None and not current.machines:
            after = np.array([after[:, [c == k for c, _ in rooms]].sum(axis=1) for k in range(cluster.k)]).T
        yield after


def best(instance: Instance, policy: str, current: Current, moves: int | None):
    """Return the best score within the moves, and the fewest moves to it; None where nothing is, or too much."""
    reference, found, seen = Enumeration(instance, policy), None, {}
    for after in placements(instance, current):
        counts = after.sum(axis=1).tolist()
        leaving = int(np.maximum(0, current.tasks - after).sum())
        if moves is not None and leaving > moves:
            continue
        tasks = [sum(counts[q] for q in rows) for rows in type_rows(instance)]
        if (key := tuple(counts)) not in seen:
            prefix = all(
                [counts[q] for q in rows] == instance.types_started(i, tasks[i])
                for i, rows in enumerate(type_rows(instance))
                if tasks[i] and len(rows) > 1
            )
            within = all(x <= most for x, most in zip(tasks, reference.most, strict=True))
            seen[key] = reference.score(tasks) if prefix and within and reference.possible(tasks) else None
        if seen[key] is not None and (found is None or (seen[key], -leaving) > found):
            found = seen[key], -leaving
    return found


def compared(kind: str, seeds: range) -> int:
    """Compare plans with all that is possible; return how many were."""
    number = 0
    for seed in seeds:
        instance = awkward(seed, **KINDS[kind])
        if (instance.organisation and instance.organisation.excluded) or instance.n > 3:
            continue
        current = today(instance, seed)
        for moves in (None, seed % 4):
            expected = best(instance, "drf", current, moves)
            if expected is None:
                continue
            found = rebalance(instance, current, moves=moves)
            reference = Enumeration(instance, "drf")
            tasks = [int(found.after[rows].sum()) for rows in type_rows(instance)]
            assert found.status == "optimal", (kind, seed)
            assert reference.score(tasks) == expected[0], (kind, seed, moves)
            assert found.count("move") + found.count("evict") == -expected[1], (kind, seed, moves)
            number += 1
    return number


@pytest.mark.parametrize("kind", KINDS)
def test_plans_under_rules_equal_enumeration(kind):
    assert compared(kind, range(6)) > 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_plans_under_rules_equal_enumeration_at_length(kind, some):
    assert compared(kind, range(100, 100 + some(400))) > some(130)


def groups(seeds: range) -> int:
    """Compare the nearest end of a best way with all of them; return how many."""
    number = 0
    for seed in seeds:
        instance = organised_pool(seed)
        if max(instance.exact_capacity) > 12 or not instance.several_groups:
            continue
        current = today(instance, seed)
        try:
            found = rebalance(instance, current)
        except PolicyError as error:
            assert "excluded" in str(error), seed
            continue
        ends = Groups(instance, "drf").best()
        assert tuple(found.after[:, 0].tolist()) in ends, seed
        fewest = min(int(np.maximum(0, current.tasks[:, 0] - np.array(end)).sum()) for end in ends)
        assert found.count("evict") == fewest, seed
        number += 1
    return number


def test_the_nearest_end_of_groups_is_found():
    assert groups(range(40)) > 5


@pytest.mark.slow
def test_the_nearest_end_of_groups_is_found_at_length(some):
    assert groups(range(100, 100 + some(4_000))) > some(700)


KINDS_OF_JOB = [TaskType({"cpu": 1}, 4, name="map"), TaskType({"cpu": 2}, 2)]


def test_types_are_told_by_name_and_as_solve_prints_them():
    pool = Instance({"job": KINDS_OF_JOB, "web": {"cpu": 1}}, {"cpu": 8})
    assert current_of({"tasks": {"job": 3}}, pool).tasks.tolist() == [[2], [1], [0]]
    assert current_of({"tasks": {"job": {"map": 3, "2": 1}}}, pool).tasks.tolist() == [[3], [1], [0]]
    assert rebalance(pool, solve(pool, integer=True).to_dict()).steps == ()
    machines = Instance({"job": KINDS_OF_JOB, "web": {"cpu": 1}}, machines=[Machine("m", {"cpu": 4}, 2)])
    assert rebalance(machines, solve(machines, integer=True).to_dict()).steps == ()
    with pytest.raises(InstanceError, match=r"its tasks are of several types: write \{type: tasks\}"):
        current_of({"placement": {"job": {"m": 2}}}, machines)
    with pytest.raises(InstanceError, match=r"names task type 'mpa', .*did you mean 'map'"):
        current_of({"placement": {"job": {"m": {"mpa": 2}}}}, machines)
    with pytest.raises(InstanceError, match="write an entry for each of its task types"):
        current_of({"placement": {}, "types": {"job": []}}, machines)
    found = rebalance(machines, {"placement": {"job": {"m": {"map": 1, "2": 2}}}})
    assert found.to_dict()["types"]["job"][0]["name"] == "map"
    assert {step.type for step in found.steps if step.user == "job"} <= {"map", "2"}


def test_fewer_moves_are_not_defined_of_groups():
    rules = Organisation(paths={"A": "g", "B": "h"})
    instance = Instance({u: {"cpu": 1} for u in "AB"}, {"cpu": 4}, organisation=rules)
    with pytest.raises(PolicyError, match="not defined in several groups, only which are fairest"):
        rebalance(instance, {"tasks": {"A": 4}}, moves=1)
    assert rebalance(instance, {"tasks": {"A": 4}}).count("evict") == 2
