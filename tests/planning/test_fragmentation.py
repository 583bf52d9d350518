"""What whole tasks lose of devices: the measure against its definition written out, and three ways side by side."""

import random
from fractions import Fraction as F

import pytest

from drfopt import Instance, Machine, Organisation, PolicyError, TaskType, explain
from drfopt.planning.explaining.fragmentation import DeviceUse, Fragmentation, IdleMachines, fragments

NODE = [Machine("node", {"cpu": 8}, 2, {"gpu": 3})]


def literal(instance, idle, j):
    """Return the measure, user by user and device by device."""
    asked = [x if x < float("inf") else 1 for x in instance.asked]
    needy = [i for i in range(instance.n) if instance.exact_demands[i][j]]
    total = F(0)
    for machines in idle:
        left = machines.devices[j]
        for i in needy:
            row = instance.exact_demands[i]
            fits = all(d <= f for d, f in zip(row, machines.free, strict=True)) and instance.fits[i, machines.k]
            if row[j] < 1:
                fits = fits and any(f >= row[j] for f in left)
            else:
                fits = fits and sum(f == 1 for f in left) >= row[j]
            lost = sum(f for f in left if f < min(row[j], 1)) if fits else sum(left)
            total += machines.count * F(asked[i]) / sum(F(asked[q]) for q in needy) * lost
    return float(total)


def test_the_measure_is_its_definition():
    rng = random.Random(5)
    for _ in range(60):
        instance = Instance(
            {f"u{i}": {"cpu": rng.randint(1, 4), "gpu": rng.choice(["0.3", "0.5", "0.7", 1, 2, 0])} for i in range(4)}
            | {"last": {"gpu": "0.4"}},
            machines=NODE,
            max_tasks=[rng.randint(1, 5) for _ in range(5)],
            eligible={"u0": []} if rng.random() < 0.3 else None,
        )
        idle = []
        for count in (1, 2):
            left = [F(rng.choice([0, 2, 3, 5, 10]), 10) for _ in range(3)]
            idle.append(IdleMachines(0, count, [F(rng.randint(0, 8)), sum(left)], {1: left}))
        assert fragments(instance, idle, 1) == pytest.approx(literal(instance, idle, 1))


def test_three_ways_side_by_side():
    # Three parts of 0.6 leave 0.4 of each device: enough for nobody. Pooled, five of them would run.
    instance = Instance({"A": {"cpu": 1, "gpu": "0.6"}}, machines=[Machine("node", {"cpu": 8}, 1, {"gpu": 3})])
    found = explain(instance, fragmentation=True)
    pooled, packed, greedy = found.fragmentation.ways
    assert (pooled.tasks, packed.tasks, greedy.tasks) == (5, 3, 3)
    assert pooled.fragments is None and pooled.idle["gpu"] == pytest.approx(0)
    assert packed.fragments["gpu"] == pytest.approx(1.2) == packed.idle["gpu"] == greedy.fragments["gpu"]
    assert packed.proven == "proven"
    assert found.fragmentation.lost == {"gpu": pytest.approx(1.2)}
    assert found.to_dict()["fragmentation"]["ways"][1]["way"] == "packed"
    assert "1.2 of the 1.2 idle are fragments" in str(found)
    assert "--fragmentation" in str(explain(instance))


def test_packed_is_no_worse_than_greedy():
    users = {"A": {"gpu": "0.5"}, "B": {"gpu": "0.4"}, "C": {"gpu": 1}}
    instance = Instance(users, machines=[Machine("n", {}, devices={"gpu": 2})], max_tasks={"A": 1, "B": 2, "C": 1})
    _, packed, greedy = explain(instance, fragmentation=True).fragmentation.ways
    assert packed.lowest >= greedy.lowest and packed.used["gpu"] >= greedy.used["gpu"]
    for way in (packed, greedy):
        assert way.fragments["gpu"] <= way.idle["gpu"] + 1e-12


def test_without_devices_there_is_nothing_to_say():
    with pytest.raises(PolicyError, match=r"no machine has devices: say how many each machine .*such as 8 of gpu"):
        explain(Instance({"A": {"a": 1}}, {"a": 4}), fragmentation=True)


def test_types_are_counted_as_types():
    types = {"A": [TaskType({"gpu": "0.6"}, 2), TaskType({"gpu": 2}, 1)], "B": {"gpu": "0.3"}}
    instance = Instance(types, machines=[Machine("n", {}, 2, devices={"gpu": 2})], max_tasks={"B": 1})
    _, packed = explain(instance, fragmentation=True).fragmentation.ways
    # 0.6 0.3 | 0.6 and a machine for the task of two, or less: what is left of a device serves 0.3 at most.
    assert packed.used["gpu"] + packed.idle["gpu"] == 4
    assert 0 <= packed.fragments["gpu"] <= packed.idle["gpu"] + 1e-12


def test_pooled_is_a_bound_only_where_it_is():
    ten = {"machines": [Machine("m", {}, 1, devices={"gpu": 10})]}
    users = {"a": {"gpu": 6}, "b": {"gpu": 1}}
    pooled, packed = explain(
        Instance(users, **ten, organisation=Organisation(tiers={"a": 1})), fragmentation=True
    ).fragmentation.ways
    assert pooled.lowest < packed.lowest and pooled.proven == "no bound of whole tasks here"
    assert explain(Instance(users, **ten), fragmentation=True).fragmentation.ways[0].proven == "a bound"
    typed = {"a": {"gpu": "0.6"}, "b": [TaskType({"cpu": 1}, 1), TaskType({"cpu": 2}, 1)]}
    two = [Machine("m", {"cpu": 10}, devices={"gpu": 2})]
    assert "pooled" not in str(explain(Instance(typed, machines=two), integer=True))
    shared = Instance({"a": [TaskType({"gpu": "0.6"}, 1), TaskType({"cpu": 1}, 1)]}, machines=two)
    assert "devices are pooled in it for who has several task types" in str(explain(shared, integer=True))


def test_who_has_more_in_whole_tasks_loses_nothing():
    def way(name: str, used: float) -> DeviceUse:
        return DeviceUse(name, 1.0, 0.5, {"gpu": used}, {"gpu": 4 - used}, None, "proven")

    said = Fragmentation((way("pooled", 2.0), way("packed", 3.0))).sentences()[-1]
    assert said == "whole tasks use more than divisible ones, for fairness divides otherwise: 1 gpu"
