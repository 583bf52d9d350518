"""CEEI on machines that are one pool in disguise: the pool's prices, placed on the machines to 32 digits."""

import numpy as np
import pytest
from test_interior_chain import many_levels, scattered

from drfopt.base.numbers.double_double import DoubleDouble
from drfopt.base.progress import reporting
from drfopt.certificates.point_errors import DoublePoint, point_error
from drfopt.engines.nash import barrier
from drfopt.engines.nash.pooled_market import as_pool
from drfopt.engines.problem import Problem
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.policies import policy_named
from drfopt.solving.allocating import solve

CEEI = policy_named("ceei")


@pytest.mark.parametrize("limited", [0.0, 0.6])
def test_a_pool_in_disguise_is_answered_as_one(limited, monkeypatch):
    instance = many_levels(400, 10, 0.9, limited)
    pooled = as_pool(Problem(instance, CEEI))
    assert pooled is not None
    assert pooled.prices == pytest.approx(np.broadcast_to(pooled.prices[0], pooled.prices.shape), rel=1e-15)
    allocation = solve(instance, "ceei", engine="barrier")
    assert allocation.certificate.valid
    assert allocation.tasks == pytest.approx(pooled.tasks, rel=1e-15)
    assert ((allocation.placement.T @ instance.demands) <= instance.room * (1 + 1e-12)).all()
    monkeypatch.setattr(barrier, "as_pool", lambda problem: None)
    assert allocation.tasks == pytest.approx(solve(instance, "ceei", engine="barrier").tasks, rel=1e-12)
    pool = Instance(instance.demands, instance.room.sum(axis=0), max_tasks=instance.limits)
    assert allocation.tasks == pytest.approx(solve(pool, "ceei").tasks, rel=1e-9)


def test_what_nobody_can_use_has_no_price():
    """Who may use the second class needs none of its second resource."""
    random = np.random.default_rng(2)
    demands = np.column_stack([random.integers(1, 9, 2000), np.arange(2000) % 2])
    machines = [Machine("a", [4000, 500]), Machine("b", [4000, 300])]
    eligible = np.column_stack([np.ones(2000, bool), np.arange(2000) % 2 == 0])
    answer = as_pool(Problem(Instance(demands, machines=machines, eligible=eligible), CEEI))
    assert answer.prices[0].min() > 0
    assert answer.prices[1].tolist() == [answer.prices[0, 0], 0]


def test_the_judge_sees_what_is_spoiled():
    instance = many_levels(400, 10, 0.9)
    answer = as_pool(Problem(instance, CEEI))
    assert point_error(instance, CEEI, answer.tasks, answer.fine) <= 1e-9
    assert point_error(instance, CEEI, answer.tasks * (1 + 1e-6), answer.fine) > 1e-7
    fine = answer.fine
    moved = fine.amounts[:]
    moved.high = fine.amounts.high.copy()
    moved.high[0] *= 1 + 1e-6
    assert point_error(instance, CEEI, answer.tasks, DoublePoint(fine.users, fine.classes, moved, fine.prices)) > 1e-7
    dearer = fine.prices + DoubleDouble(np.where(np.arange(10)[:, None] == 0, fine.prices.high * 1e-6, 0.0))
    assert point_error(instance, CEEI, answer.tasks, DoublePoint(fine.users, fine.classes, fine.amounts, dearer)) > 1e-7


def test_what_is_no_pool_is_left_to_the_interior_point():
    instance = scattered(1, limited=0.3)
    assert as_pool(Problem(instance, CEEI)) is None
    assert solve(instance, "ceei", engine="barrier").certificate.valid
    assert as_pool(Problem(many_levels(400, 10, 0.9), policy_named("alpha:2"))) is None
    assert as_pool(Problem(many_levels(40, 10, 0.9), CEEI)) is None


@pytest.mark.parametrize(("users", "classes", "limited", "most"), [(12, 3, 0.0, 7), (40, 8, 0.6, 12)])
def test_small_markets_begin_near_their_prices(users, classes, limited, most):
    """Prices at which nobody would buy more are set by whoever has least to buy: three iterations more."""
    assert iterations(many_levels(users, classes, 0.6, limited)) <= most


def test_second_order_terms_count_in_full_as_far_as_the_predictor_can_tell():
    """Weighed with how far the predictor could go, they left 21 iterations here, and 53 with 3000 users."""
    assert iterations(scattered(1, 30, 8, 0.3, "huge", 0.4, weighted=True)) <= 18


def iterations(instance):
    said = []
    with reporting(said.append):
        solve(instance, "ceei", engine="barrier")
    return sum(text.startswith("iteration") for text in said)


def test_a_row_that_limits_fill_to_the_last_unit_keeps_its_price():
    """Nobody uses more or less of the gpus, whatever they cost: in the equations of their price there was nothing."""
    machines = [Machine("a", [36, 46]), Machine("b", [7, 0])]
    eligible = np.array([[1, 0], [1, 0], [1, 1], [1, 1]], dtype=bool)
    instance = Instance(
        [[1, 4.6], [3, 4.6], [1, 0], [2, 0]], machines=machines, eligible=eligible, max_tasks=[6, 4, None, None]
    )
    allocation = solve(instance, "ceei", engine="barrier")
    assert allocation.certificate.valid
    assert allocation.tasks == pytest.approx([6, 4, 12.5, 6.25], rel=1e-14)
