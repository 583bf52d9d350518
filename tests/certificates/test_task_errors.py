"""Errors of who spends next to nothing: bounded by the certificate, or another engine is asked."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from drfopt import Machine, solve, solve_many
from drfopt.base.numbers.enclosures import lower, upper
from drfopt.certificates import prices
from drfopt.certificates.point_errors import point_error
from drfopt.certificates.task_errors import FinePoint, fine_error
from drfopt.engines.nash import barrier, decimal_barrier, newton
from drfopt.engines.problem import Problem
from drfopt.model.instance import Instance
from drfopt.model.policies import policy_named

CEEI = policy_named("ceei")
EXACT = Fraction(1, 10**8)


def off(floats, exact):
    """Return the largest relative error, exactly."""
    pairs = zip(floats.tolist(), exact.tolist(), strict=True)
    return max(max(abs(Fraction(x) - lower(y)), abs(Fraction(x) - upper(y))) / upper(y) for x, y in pairs)


SHARED = Instance([[1, 1], [1, 0], [0, 1]], [1, 1], weights=[1, 1e-9, 1e-9])
"""The first has nearly all of both; what it leaves is 2e-9 of each, which rounding of the first hides to 1e-7."""


def test_conditions_that_hold_do_not_hide_a_tiny_user():
    tasks = solve(SHARED, "ceei", exact=True).tasks.astype(float)
    moved = tasks * np.array([1, 1 + 2e-8, 1 - 2e-8])
    proof = prices.certify(SHARED, CEEI, moved, None, 1e-9 / moved[[[1, 2]]])
    assert proof.violation <= 1e-15
    assert not proof.valid and "may be off" in proof.reason


def test_the_bound_is_no_less_than_the_error():
    # Prices are moved by a little, and with them what everybody buys: the conditions of users hold, clearing does not.
    random = np.random.default_rng(5)
    for _ in range(40):
        n, m = random.integers(1, 7), random.integers(1, 4)
        limits = np.where(random.random(n) < 0.3, random.random(n), np.inf)
        weights = 10.0 ** random.integers(-3, 1, n)
        pool = Instance(random.random((n, m)) + 0.01, random.random(m) + 0.1, weights=weights, max_tasks=limits)
        best = newton.solve(Problem(pool, CEEI))
        moved = best.prices * (1 + 1e-10 * random.standard_normal(m))
        tasks = np.minimum(pool.weights / np.maximum(pool.demands @ moved[0], 1e-300), limits)
        proof = prices.certify(pool, CEEI, tasks, None, moved)
        assert proof.evidence.error >= np.abs(tasks / best.tasks - 1).max() * (1 - 1e-3) - 1e-12


@pytest.mark.parametrize("extra", [0, 0.5])
def test_resources_in_fixed_proportion_are_one(extra):
    demands = np.random.default_rng(6).random((40, 2))
    copies = np.hstack([demands, demands @ [[2.0], [1.0]]])
    room = np.array([3.0, 4.0])
    pool = Instance(copies, [*room, room @ [2.0, 1.0] + extra])
    assert solve(pool, "ceei").engine == "newton"
    assert solve(pool, "ceei").tasks == pytest.approx(solve(Instance(demands, room), "ceei").tasks, rel=1e-10)


def test_limits_that_fill_a_resource_exactly_are_told_from_those_that_do_not():
    full = Instance([[1]] * 10, [1], max_tasks=["1/10"] * 10)
    assert solve(full, "ceei").engine == "newton"
    # By 1e-17 of it more than there is: who would give way is decided exactly.
    over = Instance([[1]] * 9 + [["1e-17"]], [1], max_tasks=["1/9"] * 9 + [1], weights=[1] * 9 + ["1e-18"])
    assert off(solve(over, "ceei").tasks, solve(over, "ceei", exact=True).tasks) <= EXACT


CLASSES = Instance([[1, 4], [3, 1], [1, 1]], machines=[Machine("a", [9, 18]), Machine("b", [6, 7])])


def test_a_fine_point_bounds_and_a_wrong_one_does_not():
    problem = Problem(CLASSES, CEEI)
    answer = decimal_barrier.solve(problem)
    fine = answer.fine
    assert fine_error(CLASSES, CEEI, answer.tasks, fine) <= 1e-14
    for i in range(3):
        moved = answer.tasks * (1 + 1e-7 * (np.arange(3) == i))
        assert fine_error(CLASSES, CEEI, moved, fine) >= 0.99e-7
    dear = FinePoint(fine.amounts, {cell: p * Fraction(10**7 + 1, 10**7) for cell, p in fine.prices.items()})
    assert fine_error(CLASSES, CEEI, answer.tasks, dear) > 1e-8
    less = FinePoint({q: x * Fraction(10**7 - 1, 10**7) for q, x in fine.amounts.items()}, fine.prices)
    assert fine_error(CLASSES, CEEI, answer.tasks, less) > 1e-8
    assert not prices.certify(CLASSES, CEEI, answer.tasks, problem.placement(answer.amounts), answer.prices).valid
    assert fine_error(CLASSES, CEEI, answer.tasks, replace(fine, amounts={})) == np.inf


CAPPED = Instance(
    [[1, 4], [3, 1], ["1/3", 1]],
    machines=[Machine("a", [9, 18]), Machine("b", [6, 7])],
    weights=[1, 2, "1/7"],
    max_tasks=[None, "1.7", None],
)


@pytest.mark.parametrize("policy", ["ceei", "alpha:2", "alpha:1.5", "alpha:0.5"])
@pytest.mark.parametrize("instance", [CLASSES, CAPPED], ids=["free", "capped"])
def test_a_double_point_bounds_and_a_wrong_one_does_not(instance, policy):
    chosen = policy_named(policy)
    answer = barrier.solve(Problem(instance, chosen))
    point = answer.fine
    assert point_error(instance, chosen, answer.tasks, point) <= 1e-11
    for i in range(3):
        moved = answer.tasks * (1 + 1e-7 * (np.arange(3) == i))
        assert point_error(instance, chosen, moved, point) >= 0.99e-7
    for factor in (1 - 1e-7, 1 + 1e-7):
        assert point_error(instance, chosen, answer.tasks, replace(point, prices=point.prices * factor)) > 1e-8
        assert point_error(instance, chosen, answer.tasks, replace(point, amounts=point.amounts * factor)) > 1e-8
    free = replace(point, prices=point.prices * 0.0)
    assert point_error(instance, chosen, answer.tasks, free) == np.inf
    nobody = replace(point, amounts=point.amounts * 0.0)
    assert point_error(instance, chosen, answer.tasks, nobody) == np.inf


def test_a_double_point_of_another_answer_bounds_no_less_than_its_error():
    # Amounts of one user are moved from class to class and to another user, both possible: only the sums say so.
    answer = barrier.solve(Problem(CLASSES, CEEI))
    best = solve(CLASSES, "ceei", exact=True).tasks
    for part in (1e-3, 1e-5, 1e-7):
        amounts = answer.fine.amounts[:]
        amounts[0] = amounts[0] * (1 - part)
        point = replace(answer.fine, amounts=amounts)
        tasks = np.array([float(sum(point.amounts.fraction(q) for q in (2 * i, 2 * i + 1))) for i in range(3)])
        assert off(tasks, best) <= point_error(CLASSES, CEEI, tasks, point)


def limited(seed):
    """Return a pool whose last user is poor, and where others are at limits that they just reach."""
    random = np.random.default_rng(seed)
    n, m = int(random.integers(2, 6)), int(random.integers(1, 4))
    demands = random.integers(0, 5, (n, m)) * 1.0
    demands[~demands.any(axis=1), 0] = 1
    weights = np.where(np.arange(n) < n - 1, 1, 10.0 ** random.integers(-12, 0))
    capacity = random.integers(1, 9, m) * 1.0
    optimum = solve(Instance(demands, capacity, weights=weights), "ceei", exact=True).tasks
    middle = [(lower(x) + upper(x)) / 2 for x in optimum]
    limits = [x if random.random() < 0.6 and i < n - 1 else None for i, x in enumerate(middle)]
    limits = [float(x) if x is not None and random.random() < 0.5 else x for x in limits]
    return Instance(demands, capacity, weights=weights, max_tasks=limits)


TWICE = 419
"""Limits met so exactly that decimals are asked for twice as many digits."""


def is_right(seeds):
    for seed in seeds:
        pool = limited(seed)
        assert off(solve(pool, "ceei").tasks, solve(pool, "ceei", exact=True).tasks) <= EXACT, seed


def test_limits_that_are_just_reached():
    is_right([2, 5, 17, TWICE])


@pytest.mark.slow
def test_hundreds_of_limits_that_are_just_reached(some):
    is_right(range(some(2_000)))


def test_many_at_once():
    tiny = Instance([[1, 1], [1, 0], [1, 1]], [10, 10], weights=[2, 1e-15, 1e-15])
    for pool in (SHARED, tiny):
        found = solve_many(pool.demands[None], pool.capacity[None], policy="ceei", weights=pool.weights[None])
        assert found.singly.all()
        assert off(found.tasks[0], solve(pool, "ceei", exact=True).tasks) <= EXACT


def test_of_many_users_a_sample_is_enough():
    random = np.random.default_rng(7)
    pool = Instance(random.random((50_000, 4)), [50_000] * 4)
    assert solve(pool, "ceei").certificate.evidence.error <= 1e-9
