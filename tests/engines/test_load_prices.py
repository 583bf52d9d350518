"""Machines as a pool of prices: the prices hold for every packing, packings are packings, and the optimum is found."""

import itertools
from math import floor

import numpy as np
import pytest
from whole_pools import tiny

from drfopt import Instance, Machine, solve
from drfopt.base.errors import SolverError
from drfopt.certificates import whole
from drfopt.certificates.machine_loads import MachineLoads
from drfopt.engines.problem import Problem
from drfopt.engines.whole import load_prices
from drfopt.model.policies import policy_named
from drfopt.solving.methods import second_methods


def problem_of(instance, policy="drf"):
    return Problem(instance, policy_named(policy), True)


def loads_of(problem):
    members = problem.members.tolist()
    return MachineLoads(problem.instance, [members[positions[0]] for positions in problem.shapes])


def nodes(seed, users=6, machines=12):
    rng = np.random.default_rng(seed)
    return Instance(rng.integers(1, 101, (users, 2)), machines=[Machine("node", [400, 400], machines)])


def listed(kind):
    """Return all loads of one machine of a class, by trying every number of tasks."""
    ranges = [range(kind.most(s) + 1) for s in kind.shapes]
    for tasks in itertools.product(*ranges):
        used = [
            sum(x * kind.rows[s][j] for s, x in zip(kind.shapes, tasks, strict=True)) for j in range(len(kind.room))
        ]
        if all(u <= c for u, c in zip(used, kind.room, strict=True)):
            yield dict(zip(kind.shapes, tasks, strict=True))


def test_the_most_valuable_load_is_that_of_all_loads():
    for seed in range(40):
        problem = problem_of(tiny(seed, machines=True))
        if not problem.n:
            continue
        loads, random = loads_of(problem), np.random.default_rng(seed)
        prices = random.integers(0, 9, loads.shapes).tolist()
        for kind in loads.classes:
            best = max(sum(prices[s] * x for s, x in load.items()) for load in listed(kind))
            found = kind.heaviest(prices, 0, 10_000)
            assert (found.value, found.bound) == (best, best)
            # Whatever is cut short says no less.
            assert kind.heaviest(prices, 0, 1).bound >= best


def test_prices_refuse_only_what_cannot_be_packed():
    refused = 0
    for seed in range(40):
        problem = problem_of(tiny(seed, machines=True))
        if not problem.n:
            continue
        loads, random = loads_of(problem), np.random.default_rng(seed)
        asked = random.integers(0, 5, loads.shapes).tolist()
        found, packing = loads.prices(asked), loads.pack(asked)
        assert found is None or packing is None
        if found is not None:
            refused += 1
            prices, worth = found
            assert sum(p * x for p, x in zip(prices, asked, strict=True)) > worth
            # The worth is that of the best loads: one less would refuse a packing that there is.
            best = [max(sum(prices[s] * x for s, x in load.items()) for load in listed(k)) for k in loads.classes]
            # One more for what rounding may hide.
            assert worth == sum(kind.count * (most + 1) for kind, most in zip(loads.classes, best, strict=True))
    assert refused > 5


def test_a_packing_carries_what_is_asked_within_the_machines():
    for seed in range(5):
        problem = problem_of(nodes(seed))
        loads = loads_of(problem)
        asked = [5] * loads.shapes
        packing = loads.pack(asked)
        (kind,) = loads.classes
        assert sum(number for _, number, _ in packing) <= kind.count
        for s, x in enumerate(asked):
            assert sum(number * dict(load).get(s, 0) for _, number, load in packing) >= x
        for _, _, load in packing:
            assert all(sum(x * kind.rows[s][j] for s, x in load) <= room for j, room in enumerate(kind.room))


def test_machines_alike_are_solved_and_proven():
    found = solve(nodes(1, 4, 8), integer=True)
    assert (found.engine, found.status) == ("load-prices", "optimal")
    assert found.certificate.valid and found.certificate.rigorous
    by_programs = solve(nodes(1, 4, 8), integer=True, engine="leximin-milp")
    assert sorted(found.levels) == sorted(by_programs.levels)


def test_users_alike_are_one_kind():
    found = solve(Instance([[2, 3]] * 500, machines=[Machine("node", [64, 128], 4)]), integer=True)
    assert found.status == "optimal" and sorted(set(found.tasks)) == [0, 1]


def test_what_is_not_packed_is_counted(monkeypatch):
    monkeypatch.setattr(MachineLoads, "pack", lambda self, asked: [] if not any(asked) else None)
    for seed in range(12):
        instance = tiny(seed, machines=True)
        problem = problem_of(instance)
        if not problem.n:
            continue
        found = load_prices.solve(problem)
        tasks = np.zeros(instance.n, dtype=int)
        tasks[problem.members] = found.tasks
        assert whole.score(instance, problem.policy, tasks.tolist()) == second_methods._enumeration(problem)[1]
        assert found.engine == "leximin-milp"


@pytest.mark.parametrize("gone", [1, 3])
def test_what_is_neither_packed_nor_counted_keeps_low_levels_and_has_a_bound(monkeypatch, gone):
    best = solve(nodes(2), integer=True)
    packed, calls = MachineLoads.pack, []

    def refusing(self, asked):
        calls.append(asked)
        return None if len(calls) <= gone else packed(self, asked)

    monkeypatch.setattr(MachineLoads, "pack", refusing)
    monkeypatch.setattr(load_prices, "LISTED", 0)
    found = solve(nodes(2), integer=True)
    assert found.certificate.valid is not False and not found.certificate.violation
    ours, theirs = sorted(found.levels), sorted(best.levels)
    first = next((p for p, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b), None)
    assert first is None or (ours[first] < theirs[first] and first >= len(ours) - 2 * gone - 1)
    if found.status != "optimal":
        assert float(found.certificate.evidence.bound) >= theirs[first] * (1 - 1e-12)


@pytest.mark.slow
def test_thousands_of_machines_equal_enumeration(some):
    answered = 0
    for seed, name in itertools.product(range(some(5_000)), ("drf", "asset", "tasks")):
        instance, policy = tiny(9000 + seed, machines=True), policy_named(name)
        problem = Problem(instance, policy, True)
        if not problem.n:
            continue
        found = solve(instance, policy, integer=True)
        answered += found.engine == "load-prices"
        expected = second_methods._enumeration(problem)[1]
        assert found.certificate.valid, (seed, name)
        assert whole.score(instance, policy, [floor(x) for x in found.tasks]) == expected, (seed, name)
    assert answered > some(5_000)


def test_of_equals_with_other_classes_either_may_stop():
    # The first and the last user differ in their classes only, of which prices know nothing: none is easier.
    machines = [Machine("a", [5], 1), Machine("b", [6], 2), Machine("c", [5], 2)]
    open_to = np.array([[1, 0, 1], [1, 1, 1], [1, 1, 1], [1, 1, 0]], dtype=bool)
    limits = [np.inf, np.inf, np.inf, 3]
    instance = Instance(
        [[3], [3], [1], [3]], machines=machines, eligible=open_to, weights=[2, 1, 0.5, 2], max_tasks=limits
    )
    assert sorted(solve(instance, integer=True).levels) == pytest.approx([1 / 9, 1 / 6, 2 / 9, 4 / 9])


@pytest.mark.parametrize(("tasks", "words"), [(9 * 10**15, "takes no program with 9e"), (9 * 10**14, "larger units")])
def test_more_tasks_than_a_solver_counts_are_refused_by_name(tasks: int, words: str) -> None:
    machine = Machine("m", {"a": tasks + 1, "b": 2 * tasks}, 2)
    with pytest.raises(SolverError, match=words):
        solve(Instance({"A": {"a": 1, "b": 2}, "B": {"a": 3, "b": 1}}, machines=[machine]), integer=True)
