"""Whole tasks on devices: every engine finds what writing all allocations down finds, and a schedule tears none."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from drfopt import FormulationError, Instance, Machine, TaskType, crosscheck, solve
from drfopt.base.deadline import NEVER
from drfopt.certificates import second_solver, whole
from drfopt.certificates.feasibility import exactly_feasible
from drfopt.engines.problem import Problem
from drfopt.engines.reference.enumeration import packable
from drfopt.engines.registry import engine_for, engines_for
from drfopt.engines.whole import rounding
from drfopt.engines.whole.device_packing import repacked
from drfopt.engines.whole.machine_by_machine import SingleMachines
from drfopt.model import packings
from drfopt.model.policies import policy_named
from drfopt.solving.methods import second_methods
from drfopt.solving.scheduling import schedule

FORMULATIONS = Path(__file__).parents[2] / "formulations"
PARTS = np.array(["1/2", "1/3", "2/3", "3/5", "2/5", 1, 1, 2, 0, "81/100"], dtype=object)


def shared(seed: int) -> Instance:
    """Return 2 to 4 users on 1 or 2 classes, some of which have devices; parts that tie, and that fit badly."""
    rng = np.random.default_rng([seed, 18])
    n, k = int(rng.integers(2, 5)), int(rng.integers(1, 3))
    demands = [{"cpu": int(rng.integers(0, 3)), "gpu": rng.choice(PARTS)} for _ in range(n)]
    demands = [row if row["cpu"] or row["gpu"] else {"cpu": 1} for row in demands]
    machines = []
    for c in range(k):
        gpus = int(rng.integers(1, 4))
        capacity = {"cpu": int(rng.integers(1, 7)), "gpu": gpus}
        machines.append(
            Machine(f"c{c}", capacity, int(rng.integers(1, 3)), {"gpu": gpus} if rng.random() < 0.8 else None)
        )
    limits = np.where(rng.random(n) < 0.3, rng.integers(0, 4, n), np.inf)
    return Instance(
        {f"u{i}": row for i, row in enumerate(demands)},
        machines=machines,
        resources=("cpu", "gpu"),
        weights=rng.choice([1.0, 2.0], n),
        max_tasks=limits,
        eligible=rng.random((n, k)) < 0.9,
    )


def enumerated(instance, policy):
    problem = Problem(instance, policy, True)
    return second_methods._enumeration(problem)[1] if problem.n else whole.score(instance, policy, [0] * instance.n)


def check(seeds, policies):
    for seed, name in itertools.product(seeds, policies):
        instance, policy = shared(seed), policy_named(name)
        expected = enumerated(instance, policy)
        for engine in engines_for(Problem(instance, policy, True)):
            problem = Problem(instance, policy, True)
            tasks, packing = np.zeros(instance.n, dtype=int), []
            if problem.n:
                answer = engine_for(engine.name, problem).solve(problem)
                tasks[problem.members], packing = answer.tasks, answer.evidence.packing
            assert exactly_feasible(instance, tasks.tolist(), packing) == "", (seed, name, engine.name)
            if not engine.heuristic:
                assert whole.score(instance, policy, tasks.tolist()) == expected, (seed, name, engine.name)


def test_all_engines_find_the_best_of_all():
    check(range(12), ("drf", "asset", "ceei", "throughput"))


@pytest.mark.slow
def test_all_engines_find_the_best_of_many(some):
    check(range(12, 12 + some(1_000)), ("drf", "asset", "tasks", "ceei", "utilitarian", "throughput"))


def test_machines_with_columns_of_their_own(monkeypatch):
    # Where patterns are too many to list, devices are rows of the program, and of the second solver's own.
    for module in (packings, second_solver):
        monkeypatch.setattr(module, "maximal_patterns", lambda *_: None)
    monkeypatch.setattr("drfopt.engines.problem.maximal_patterns", lambda *_: None)
    check(range(12), ("drf", "throughput"))
    for seed in range(6):
        instance, policy = shared(seed), policy_named("throughput")
        found = second_solver.optimum(instance, policy, [0] * instance.n, packings=lambda *_: None)
        assert whole.score(instance, policy, found) == enumerated(instance, policy), seed


def test_the_answer_is_proven_and_crosschecked():
    for seed in range(6):
        for policy in ("drf", "throughput"):
            assert solve(shared(seed), policy, integer=True).certificate.valid, seed
    assert crosscheck(shared(3), "drf", integer=True).agree is True


@pytest.mark.slow
def test_pooled_is_above_packed():
    for seed in range(20):
        instance = shared(seed)
        pooled, packed = (solve(instance, "throughput", integer=whole).tasks.sum() for whole in (False, True))
        assert packed <= pooled + 1e-9, seed


def test_a_schedule_tears_no_device():
    for seed in range(20):
        instance = shared(seed)
        found = schedule(instance)
        fits = instance.fits.tolist()
        every = packable(instance.exact_demands, packings.machine_rows(instance), instance.exact_limits, fits)
        assert any(all(y >= x for y, x in zip(row, found.tasks.tolist(), strict=True)) for row in every), seed
    one = Instance({"A": {"gpu": "0.6"}, "B": {"gpu": 2}}, machines=[Machine("m", {}, devices={"gpu": 4})])
    # A 0.6, B 2, A 0.6, and no two devices are free for B again; nor a part of 0.6 on a device that is shared.
    assert schedule(one).tasks.tolist() == [2, 1]
    assert [step.user for step in schedule(one).trace] == [0, 1, 0]


def test_a_formulation_with_devices_says_the_same():
    for seed in range(8):
        instance, policy = shared(seed), policy_named("drf")
        found = solve(instance, str(FORMULATIONS / "drf_integer.py"), integer=True)
        expected = enumerated(instance, policy)
        # A formulation's leximin may stop at a tie of its own; the lowest level is the same in all.
        playing = Problem(instance, policy, True).members
        assert not len(playing) or whole.score(instance, policy, found.tasks.tolist())[0] == expected[0], seed
        assert found.certificate.violation == 0


def test_a_formulation_of_devices_and_types_equals_the_proven_levels():
    """Two types of a user beside others; what fits is looked at device by device."""
    types = 0
    for seed in range(14):
        instance = shared(seed)
        row, *others = (dict(zip(instance.resources, row, strict=True)) for row in instance.exact_demands)
        several = [TaskType(row, 1), TaskType({"cpu": 1, "gpu": "1/2"}, 2)]
        cluster = {
            name: value for name, value in instance.parts().items() if name in ("machines", "weights", "eligible")
        }
        limits = [None, *instance.exact_limits[1:]]
        rows = dict(zip(instance.users, [several, *others], strict=True))
        mixed = Instance(rows, max_tasks=limits, resources=instance.resources, **cluster)
        stated = solve(mixed, str(FORMULATIONS / "guarantees_integer.py"), integer=True)
        found = solve(mixed, "drf", integer=True)
        assert found.certificate.valid
        assert sorted(stated.levels) == pytest.approx(sorted(found.levels)), seed
        types += stated.tasks[0] > 0
    assert types > 6


def test_a_formulation_that_knows_no_devices_is_refused():
    with pytest.raises(FormulationError, match=r"make no use of the machines' devices \(data.devices\)"):
        solve(shared(3), str(FORMULATIONS / "asset_integer.py"), integer=True)


def test_trades_lower_nobody_who_is_low_and_help_some(monkeypatch):
    policy, won = policy_named("drf"), 0
    given = rounding.trade
    for seed in range(50):
        instance = shared(seed)
        if not (problem := Problem(instance, policy, True)).n:
            continue
        scores = []
        for trade in (lambda cluster, deadline: None, given):
            monkeypatch.setattr(rounding, "trade", trade)
            answer, tasks = rounding.solve(problem), np.zeros(instance.n, dtype=int)
            tasks[problem.members] = answer.tasks
            assert not exactly_feasible(instance, tasks.tolist(), answer.evidence.packing)
            scores.append(whole.score(instance, policy, tasks.tolist()))
        assert scores[1] >= scores[0]
        won += scores[1] > scores[0]
    assert won >= 2


def test_parts_are_packed_anew_and_nobody_loses_any():
    helped = 0
    for seed in range(40):
        instance = shared(seed)
        if not (problem := Problem(instance, policy_named("drf"), True)).n:
            continue
        cluster = SingleMachines(problem, np.zeros(problem.m))
        # Task by task in turn: parts are spread over devices that could share them.
        for p in [*range(problem.n)] * 3:
            cluster.place(p, int(cluster.tasks[p] < cluster.most[p]))
        for p in range(problem.n):
            before = cluster.tasks
            wished = before.copy()
            wished[p] += 1
            if before[p] < cluster.most[p] and repacked(cluster, p, NEVER):
                helped += 1
                before = wished
            assert (cluster.tasks == before).all()
            tasks = np.zeros(instance.n, dtype=int)
            tasks[problem.members] = before
            assert not exactly_feasible(instance, tasks.tolist(), cluster.packing())
    assert helped > 3


def test_parts_that_share_badly_are_packed_anew():
    """Two devices are filled by 3/5 + 2/5 and 1/2 + 1/2, not by 3/5 and 1/2 + 2/5 with 1/2 left over."""
    needs = [{"gpu": part} for part in ("1/2", "2/5", "3/5")]
    rack = Instance(needs, machines=[Machine("m", {"gpu": 1}, 2, {"gpu": 1})], max_tasks=[2, 1, 1])
    cluster = SingleMachines(Problem(rack, policy_named("drf"), True), np.zeros(1))
    for p, where in ((0, 0), (1, 0), (2, 1)):
        assert cluster.put(p, where, 1) == 1
    assert cluster.place(0, 1) == 0
    assert repacked(cluster, 0, NEVER)
    assert cluster.tasks.tolist() == [2, 1, 1]
    assert not repacked(cluster, 0, NEVER)


@pytest.mark.parametrize("free", [True, False])
def test_a_task_is_given_by_a_chain_of_two_trades(free):
    """A needs a, where B is; B could be on b, where C is; and C on c, where it is free to be."""
    machines = [Machine(name, [1]) for name in "abc"]
    open_to = np.array([[True, False, False], [True, True, False], [False, True, free], [False, False, True]])
    problem = Problem(
        Instance([[1]] * 4, machines=machines, eligible=open_to, max_tasks=[1, 1, 1, 0]), policy_named("drf"), True
    )
    cluster = SingleMachines(problem, np.zeros(1))
    for p, where in ((1, 0), (2, 1)):
        cluster.run(p, where, 1)
        cluster.left[where] -= 1
    before = cluster.load.copy(), cluster.left.copy()
    rounding.trade(cluster, NEVER)
    if free:
        assert cluster.tasks.tolist()[:3] == [1, 1, 1]
        assert not cluster.left.any()
    else:
        assert (cluster.load == before[0]).all() and (cluster.left == before[1]).all()
