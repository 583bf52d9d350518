"""Exact filling that starts from floats is exactly the reference, which starts from nothing."""

from fractions import Fraction as F

import numpy as np
import pytest
from clusters import pools
from hypothesis import given, settings
from hypothesis import strategies as st

from drfopt.base.numbers import rationals
from drfopt.engines.leximin import filling
from drfopt.engines.problem import Problem
from drfopt.engines.reference.path_filling import progressive_filling
from drfopt.model.instance import Instance
from drfopt.model.policies import policy_named
from drfopt.solving.allocating import solve


def reference(instance, name):
    rates = policy_named(name).exact_rates(instance)
    return progressive_filling(instance.exact_demands, instance.exact_capacity, rates, instance.exact_limits)


@pytest.mark.parametrize("policy", ["drf", "asset", "tasks"])
@settings(max_examples=60)
@given(instance=pools())
def test_exact_filling_is_the_reference(instance, policy):
    allocation = solve(instance, policy, exact=True)
    assert allocation.tasks.tolist() == reference(instance, policy)
    assert allocation.certificate.valid and allocation.certificate.violation == 0


@pytest.mark.parametrize("factor", [0.0, 0.5, 1.0 - 1e-9, 1.5, 1e6])
@settings(max_examples=25)
@given(instance=pools())
def test_a_wrong_guess_costs_steps_and_not_the_answer(instance, factor):
    with pytest.MonkeyPatch.context() as patch:
        honest = filling.fill
        patch.setattr(filling, "fill", lambda problem: (honest(problem)[0] * factor, 0.0))
        tasks = filling.solve_exactly(Problem(instance, policy_named("drf"))).tasks
    members = Problem(instance, policy_named("drf")).members
    assert tasks.tolist() == [reference(instance, "drf")[i] for i in members]


@pytest.mark.parametrize("flint", [True, False], ids=["flint", "fractions"])
def test_limits_that_bind_exactly_at_a_saturation(flint, monkeypatch):
    if not flint:
        monkeypatch.setattr(rationals, "FLINT", None)
    # Three thirds of cpu; the limit of the first is reached at the very level at which cpu runs out.
    for limit, tasks in (("1/3", ["1/3"] * 3), (F(10**20 - 1, 3 * 10**20), [F(10**20 - 1, 3 * 10**20)])):
        found = solve(Instance([[1, 0], [1, 0], [1, "1/7"]], [1, 5], max_tasks=[limit, None, None]), exact=True)
        assert found.tasks.tolist()[: len(tasks)] == [F(x) for x in tasks]
        assert found.used[0] == 1


@pytest.mark.parametrize("flint", [True, False], ids=["flint", "fractions"])
@given(data=st.data())
def test_sums_are_sums(data, flint):
    numbers = st.fractions(max_denominator=50)
    factors = data.draw(st.lists(numbers, max_size=9))
    rows = [[data.draw(st.integers(0, 9)) for _ in range(3)] for _ in factors]
    with pytest.MonkeyPatch.context() as patch:
        if not flint:
            patch.setattr(rationals, "FLINT", None)
        found = rationals.weighted_sums(factors, rows, 3)
    assert found == [sum((f * row[j] for f, row in zip(factors, rows, strict=True)), F(0)) for j in range(3)]


def test_many_users_with_long_decimals():
    random = np.random.default_rng(3)
    instance = Instance(random.random((300, 4)), np.full(4, 90.0), max_tasks=random.random(300) * 3)
    allocation = solve(instance, "asset", exact=True)
    assert allocation.levels.astype(float) == pytest.approx(solve(instance, "asset").levels, rel=1e-12)
    assert any(u == c for u, c in zip(allocation.used, instance.exact_capacity, strict=True))
