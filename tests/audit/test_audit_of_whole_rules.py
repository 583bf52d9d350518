"""Audits of whole tasks under rules and of several types: verdicts beside enumeration, and what is not defined."""

import random
from fractions import Fraction

import pytest
from engines.whole_reference import Enumeration, awkward

from drfopt import Group, Instance, Machine, Organisation, PolicyError, TaskType, audit, solve, what_if
from drfopt.axioms import ruled, ruled_whole
from drfopt.axioms.economy import cluster_of
from drfopt.base.deadline import NEVER
from drfopt.engines.reference import enumeration
from drfopt.model.policies import policy_named
from drfopt.solving.integrality import whole_parts

USERS = {"A": {"cpu": 1, "memory": 3}, "B": {"cpu": 2, "memory": 1}, "C": {"cpu": 1, "memory": 1}}


def test_what_compares_divisions_is_decided_of_whole_tasks():
    rules = Organisation(guarantees={"A": {"cpu": 4}})
    found = audit(Instance(USERS, {"cpu": 9, "memory": 18}, organisation=rules), integer=True)
    assert found["pareto-efficiency"].verdict == "holds"
    assert found["pareto-efficiency"].exact
    assert "not defined under guarantees: sharing-incentive, envy-freeness" in str(found)
    with pytest.raises(PolicyError, match="envy-freeness is not defined under guarantees"):
        audit(Instance(USERS, {"cpu": 9, "memory": 18}, organisation=rules), properties="envy-freeness", integer=True)


@pytest.mark.parametrize("machines", [False, True], ids=["pool", "machines"])
def test_one_task_more_is_found_wherever_there_is_one(machines):
    """Of all that can be run nothing is called efficient but what enumeration finds so."""
    seen = set()
    for seed in range(8):
        instance = awkward(seed, types=True, machines=machines)
        if instance.organisation and instance.organisation.excluded:
            continue
        reference = Enumeration(instance, "drf")
        best = solve(instance, integer=True).tasks
        for i in [None, *reference.playing]:
            tasks = [int(x) - (i == h and x > 0) for h, x in enumerate(best)]
            rows, decided = ruled_whole.wasted(instance, tasks, policy_named("drf"), NEVER)
            more = [
                instance.users[h]
                for h in reference.playing
                if tasks[h] < reference.most[h] and reference.possible([x + (g == h) for g, x in enumerate(tasks)])
            ]
            assert decided
            assert [user for user, _ in rows] == more
            seen.add(bool(more))
    assert seen == {False, True}


def test_who_can_run_one_task_more_decides_efficiency_as_the_list_of_all_does():
    seen = set()
    for seed in range(12):
        numbers = random.Random(seed)
        machines = [Machine(k, {"a": numbers.randint(3, 9), "b": numbers.randint(3, 9)}) for k in "xy"]
        needs = {user: {"a": numbers.randint(1, 4), "b": numbers.randint(1, 4)} for user in "ABC"}
        cluster = Instance(needs, machines=machines)
        held = tuple(int(x) - (seed % 3 == 0 and x > 0) for x in solve(cluster, integer=True).tasks)
        rooms = list(zip(cluster.exact_machine_capacity, cluster.counts.tolist(), strict=True))
        reached = enumeration.packable(cluster.exact_demands, rooms, cluster.exact_limits)
        better = any(x != held and all(a >= b for a, b in zip(x, held, strict=True)) for x in reached)
        rows, decided = ruled_whole.wasted(cluster, held, policy_named("drf"), NEVER)
        assert decided and bool(list(rows)) == better
        seen.add(better)
    assert seen == {False, True}


def test_its_part_of_a_pool_is_what_it_could_run_alone():
    for seed in range(12):
        instance = awkward(seed, types=True, rules=False)
        total = sum(instance.exact_weights, Fraction(0))
        for i, most in enumerate(whole_parts(instance)):
            part = [c * instance.exact_weights[i] / total for c in instance.exact_capacity]
            alone = Instance(**(instance.parts() | {"capacity": part}))
            # What fits nowhere in the part is left out of the user's sequence, there as here.
            assert most == Enumeration(alone, "drf").most[i], (seed, i)


def test_types_on_machines_have_a_part_and_envy():
    kinds = [TaskType({"cpu": 2}, 6), TaskType({"cpu": 3}, 3, ["small"])]
    machines = [Machine("large", {"cpu": 8}, 2), Machine("small", {"cpu": 6}, 2)]
    instance = Instance({"team": kinds, "web": {"cpu": 1}}, machines=machines, weights={"team": 1, "web": 3})
    # A quarter of each machine: 2 cpu of the large ones and 1.5 of the small, where a task of 3 never fits.
    assert next(iter(whole_parts(instance))) == 2
    found = audit(instance, integer=True)
    assert found["sharing-incentive"].verdict == "holds"
    held = list(ruled_whole.envied(solve(instance, integer=True), NEVER))
    assert [(i, k) for i, k, _ in held] == [(0, 1), (1, 0)]


def test_a_smaller_report_carries_tasks_machine_by_machine():
    instance = Instance({"A": {"cpu": 2}}, machines=[Machine("m", {"cpu": 6}, 3)])
    found = solve(instance, integer=True)
    assert found.tasks.tolist() == [9]
    # Half of three tasks on each of three machines is one task, three times.
    assert ruled_whole.carried(found, 0, Fraction(1, 2)) == 3
    assert ruled_whole.carried(found, 0, Fraction(1)) == 9


def test_who_leaves_a_group_may_cost_another():
    """Groups of whole tasks are audited too, and exactly: the verifier's clock judges who stops."""
    users = {"a1": {"cpu": 2}, "a2": {"cpu": 1}, "b": {"cpu": 1}}
    rules = Organisation(paths={"a1": "a", "a2": "a", "b": "b"}, groups=[Group("a", 2), Group("b")])
    found = audit(Instance(users, {"cpu": 10}, organisation=rules), integer=True)
    assert found["pareto-efficiency"].verdict == "holds"
    assert found["population-monotonicity"].exact


def test_parts_of_two_devices_carry_no_task_of_somebody_with_several_types():
    """B holds 0.4 of each of two devices, on neither of which a task of 0.6 runs: that A envies it is not shown."""
    cluster = Instance(
        {
            "A": [TaskType({"gpu": "0.6", "cpu": 1}, 1), TaskType({"gpu": "0.6", "cpu": 2}, 1)],
            "B": {"gpu": "0.4", "cpu": 2},
            "C": {"gpu": "0.6"},
        },
        machines=[Machine("m", {"cpu": 4}, devices={"gpu": 2})],
        max_tasks={"A": 2, "B": 2, "C": 2},
    )
    assert solve(cluster, "throughput", integer=True).tasks.tolist() == [0, 2, 2]
    found = audit(cluster, "throughput", "envy-freeness", integer=True)["envy-freeness"]
    assert found.verdict == "no violation found" and "user A would have more if parts" in found.note
    # Of somebody of one type it is known what runs on its part of the devices: C has two thirds of one.
    assert list(whole_parts(cluster))[1:] == [0, 1]


@pytest.mark.parametrize("integer", [False, True])
def test_a_report_of_all_that_a_user_needs_brings_so_many_times_its_tasks(integer):
    rules = Organisation(guarantees={"A": {"x": 1}}, meaning="normalised")
    cluster = Instance({"A": {"x": 1}, "B": {"x": 1}}, {"x": 4}, organisation=rules)
    case = ruled._RuledCase(cluster, policy_named("drf"), NEVER, integer)
    reported = Instance({"A": {"x": 2}, "B": {"x": 1}}, {"x": 4}, organisation=rules)
    assert case.reporting({0: (0, 2.0)})[0] == 2 * float(solve(reported, integer=integer).tasks[0])


def test_a_machine_that_grows_has_as_many_devices_as_it_is_measured_with():
    """Of four devices of one unit, six are there when it has six units: three whole tasks of two, not two."""
    machine = Machine("m", {"gpu": 4, "cpu": 9}, devices={"gpu": 4})
    before = cluster_of(Instance({"A": {"gpu": 2, "cpu": 1}}, machines=[machine]))
    after = before.with_capacity(before.resources.index("gpu"), Fraction(6), 0)
    assert after.machines[0].row[2] == {before.resources.index("gpu"): (6, 1)}
    assert after.instance().machines[0].devices["gpu"].count == 6
    cpu = before.with_capacity(before.resources.index("cpu"), Fraction(18), 0)
    assert cpu.machines[0].devices == before.machines[0].devices


def test_a_machine_keeps_its_devices_where_it_has_more_of_the_resource_than_is_on_them():
    given = {"gpu": {"count": 4, "size": 1}}
    instance = Instance({"A": {"gpu": 1, "cpu": 1}}, machines=[Machine("m", {"gpu": 5, "cpu": 4}, devices=given)])
    assert cluster_of(instance).instance().machines[0].devices["gpu"].count == 4
    assert what_if(instance, ["set-capacity m/cpu=80"], integer=True).after.tasks.tolist() == [4]
