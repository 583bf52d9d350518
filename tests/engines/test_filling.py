"""The filling is the reference to the last digits, whatever the scales, in blocks and groups and on mapped files."""

from fractions import Fraction

import numpy as np
import pytest
from awkward_pools import awkward_pools

from drfopt.base.errors import InstanceError
from drfopt.engines.leximin import filling, saturation
from drfopt.engines.problem import Problem
from drfopt.model import arrays
from drfopt.model.arrays import BLOCK
from drfopt.model.instance import Instance
from drfopt.model.policies import policy_named
from drfopt.solving.allocating import solve

POLICIES = ("drf", "asset", "tasks")


def is_the_reference(seed, count, policy):
    for what, pool, tasks in awkward_pools(seed, count, policy):
        found = solve(pool, policy)
        rates = policy_named(policy).exact_rates(pool)
        levels = [float(rate * x) for rate, x in zip(rates, tasks, strict=True)]
        assert found.levels == pytest.approx(levels, rel=1e-12, abs=0), what
        assert found.certificate.valid


@pytest.mark.parametrize("policy", POLICIES)
def test_awkward_pools(policy):
    is_the_reference(11, 250, policy)


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_thousands_of_awkward_pools(policy, some):
    is_the_reference(12, some(20_000), policy)


def test_digits_that_cancel_are_computed_in_fractions():
    # Both would be full at once in floats; exactly, what A leaves of r2 stops B at 1 - 2e-9 of r1.
    pool = Instance([[1e6, 1e3], [0, 2e8]], [1e-2, 5e3], max_tasks=[None, Fraction(12500, 500000001)])
    assert filling.fill(Problem(pool, policy_named("drf")))[1] > 1e8
    found = solve(pool)
    assert found.levels[0] == pytest.approx(1 - 2e-9, rel=1e-15)
    assert found.certificate.violation <= 1e-15
    assert found.certificate.bottlenecks == ("r2", None)


def crowd(n, m=5, seed=3):
    random = np.random.default_rng(seed)
    demands = random.integers(0, 7, (n, m)) * random.random((n, m)).round(3)
    demands[:, 0] += demands.sum(axis=1) == 0
    return demands, random.integers(1, 9, m) * n / 4


def test_groups_blocks_and_threads_change_nothing(monkeypatch):
    demands, capacity = crowd(3 * BLOCK + 17)
    whole = solve(Instance(demands, capacity))
    assert whole.certificate.violation <= 1e-12
    monkeypatch.setattr(filling, "MOST_IN_SETS", 0)
    assert solve(Instance(demands, capacity)).tasks == pytest.approx(whole.tasks, rel=1e-13)
    monkeypatch.setattr(arrays, "BLOCKS_PER_CORE", 1)
    monkeypatch.setattr(arrays, "cores", lambda: 2)
    threaded = solve(Instance(demands, capacity))
    monkeypatch.setattr(arrays, "cores", lambda: 1)
    assert (solve(Instance(demands, capacity)).tasks == threaded.tasks).all()


@pytest.mark.parametrize("wide", [0.03, 1e-9])
def test_a_sample_says_where_limits_are_looked_at_and_nothing_else(monkeypatch, wide):
    """With a distance too short by far the pass is made again, and the tasks are the same."""
    demands, capacity = crowd(BLOCK)
    limits = np.where(np.arange(BLOCK) % 3, np.random.default_rng(2).lognormal(0, 1, BLOCK), np.inf)
    step_by_step = solve(Instance(demands, capacity, max_tasks=limits * capacity.mean() / BLOCK))
    for module in (filling, saturation):
        monkeypatch.setattr(module, "MANY", 5_000)
    monkeypatch.setattr(saturation, "SAMPLE", 500)
    monkeypatch.setattr(saturation, "NEAR", wide)
    sampled = solve(Instance(demands, capacity, max_tasks=limits * capacity.mean() / BLOCK))
    assert sampled.tasks == pytest.approx(step_by_step.tasks, rel=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_mapped_file_is_not_copied(tmp_path, order):
    demands, capacity = crowd(2 * BLOCK + 5)
    np.save(tmp_path / "demands.npy", np.asarray(demands, order=order))
    mapped = np.load(tmp_path / "demands.npy", mmap_mode="r")
    limits = np.random.default_rng(1).random(len(demands)) * 3
    for more in ({}, {"max_tasks": limits}):
        pool = Instance(mapped, capacity, **more)
        assert np.shares_memory(pool.demands, mapped)
        for policy in ("drf", "ceei"):
            stream, memory = solve(pool, policy), solve(Instance(demands, capacity, **more), policy)
            assert stream.levels == pytest.approx(memory.levels, rel=1e-12)


def test_an_array_that_may_change_is_copied_once_and_then_is_not_the_callers():
    demands, capacity = crowd(100)
    pool = Instance(demands, capacity)
    before = pool.demands.copy()
    demands[:] = 1
    assert (pool.demands == before).all()
    assert not pool.demands.flags.writeable
    assert pool.demands.flags.f_contiguous


@pytest.mark.parametrize(
    ("value", "told"),
    [(np.nan, "is nan: write a finite number"), (np.inf, "is inf: write a finite"), (-1e-3, "is -0.001: it must not")],
)
def test_bad_numbers_are_found_in_every_block(value, told):
    demands, capacity = crowd(BLOCK + 9)
    demands[BLOCK + 3, 2] = value
    with pytest.raises(InstanceError, match=f"user 'u{BLOCK + 4}': demand of 'r3' {told}"):
        Instance(demands, capacity)


def test_nobody_who_demands_nothing_is_overlooked_and_minus_zero_is_zero():
    demands, capacity = crowd(BLOCK + 9)
    demands[BLOCK + 3] = -0.0
    with pytest.raises(InstanceError, match=f"user 'u{BLOCK + 4}' demands nothing"):
        Instance(demands, capacity)
    demands[BLOCK + 3, 1] = 1
    assert solve(Instance(demands, capacity)).certificate.valid
