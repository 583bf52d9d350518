"""Enumeration finds the published integer optima, and those of a second one that drops nothing."""

from fractions import Fraction as F
from itertools import product
from math import log

import pytest
from degenerate_pools import AMOUNTS, demand_rows
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from drfopt.base.errors import SolverError
from drfopt.engines.reference.enumeration import leximin, nash_product, optimum, packable, total
from drfopt.model.instance import Instance
from drfopt.model.policies import policy_named

NSDI = ([[1, 4], [3, 1]], [9, 18])
THREE = ([[1, 1], [1, 2], [3, 1]], [30, 30])


def on_pool(policy, demands, capacity, limits=None):
    rates = policy_named(policy).exact_rates(Instance(demands, capacity))
    objective = {"leximin": leximin(rates), "alpha": nash_product([1] * len(demands)), "sum": total(rates)}
    chosen = objective[policy_named(policy).objective]
    return optimum(chosen, demands, [(capacity, 1)], limits or [None] * len(demands))


@pytest.mark.parametrize(
    "policy, demands, capacity, expected",
    [
        pytest.param("drf", *NSDI, [(3, 2)], id="int-drf-4.1"),
        pytest.param("asset", *NSDI, [(3, 2)], id="int-asset-4.1"),
        pytest.param("ceei", *NSDI, [(3, 2)], id="int-nash-4.1"),
        pytest.param("throughput", *NSDI, [(3, 2), (4, 1)], id="int-util-4.1"),
        pytest.param("drf", *THREE, [(12, 6, 4)], id="disc30-drf"),
        pytest.param("asset", *THREE, [(9, 6, 5)], id="disc30-asset"),
        pytest.param("ceei", *THREE, [(10, 8, 4)], id="disc30-nash"),
        pytest.param("drf", [[1, 4], [3, 4]], [9, 18], [(2, 2)], id="post-misquoted-B-int"),
        pytest.param("drf", [[1], [3]], [4], [(1, 1)], id="int-leximin-SI"),
        pytest.param("ceei", [[1], [3]], [4], [(1, 1)], id="int-nash-SI"),
        pytest.param("drf", [[1], [2]], [3], [(1, 1)], id="int-leximin-SP-truth"),
        pytest.param("drf", [[3], [2]], [3], [(1, 0)], id="int-leximin-SP-lie"),
        pytest.param("ceei", [[1], [1]], [4], [(2, 2)], id="int-nash-SP-truth"),
        pytest.param("ceei", [[3], [1]], [4], [(1, 1)], id="int-nash-SP-lie"),
    ],
)
def test_published_optima(policy, demands, capacity, expected):
    found = on_pool(policy, demands, capacity)
    assert sorted(found.allocations) == expected
    assert found.tasks == found.allocations[0]


def test_values():
    assert on_pool("drf", *NSDI).value == (F(2, 3), F(2, 3))
    assert on_pool("ceei", *NSDI).value == (2, 6)
    assert on_pool("ceei", *THREE).value == (3, 320)
    assert on_pool("throughput", *NSDI).value == 5


def test_limit():
    assert on_pool("drf", *NSDI, limits=[F(5, 2), None]).allocations == [(2, 2)]


def test_pareto_frontier_of_two_unit_users():
    assert sorted(packable([[1], [1]], [([3], 1)], [None, None])) == [(0, 3), (1, 2), (2, 1), (3, 0)]


def test_three_machines_of_nineteen_tenths_hold_three_tasks():
    machines = [([F(19, 10)], 3)]
    assert optimum(total([1, 1]), [[1], [1]], machines, [None, None]).value == 3


def test_cluster_of_section_7_1():
    # 48 nodes of 4 CPUs and 14 GB: the paper measures about 70 % and 75 %.
    machines, rates = [([4, 14], 48)], [F(10, 672), F(1, 192)]
    found = optimum(leximin(rates), [[1, 10], [1, 1]], machines, [None, None])
    assert found.tasks == (48, 144)
    assert found.value == (F(5, 7), F(3, 4))


def test_weighted_product_is_compared_exactly():
    # Weights 1/2 and 1/3 are the exponents 3 and 2.
    found = optimum(nash_product([F(1, 2), F(1, 3)]), [[1], [1]], [([5], 1)], [None, None])
    assert found.value == (2, 3**3 * 2**2)
    assert found.allocations == [(3, 2)]


def test_serving_more_users_comes_before_the_product():
    found = optimum(nash_product([1, 1]), [[1], [3]], [([3], 1)], [None, None])
    assert found.value == (1, 3)
    found = optimum(nash_product([1, 1]), [[1], [3]], [([4], 1)], [None, None])
    assert found.value == (2, 1)


def test_exponents_beyond_reason_are_refused():
    with pytest.raises(SolverError, match="exponent"):
        nash_product([F(1, 3), F("0.3333333333")])


def test_budget():
    with pytest.raises(SolverError, match="1,000"):
        optimum(total([1, 1]), [[1], [1]], [([100], 3)], [None, None], budget=1000)


def everything(demands, machines, limits, eligible):
    """Return all integer allocations, one number for each user and single machine, nothing left out."""
    singles = [(k, row) for k, (row, count) in enumerate(machines) for _ in range(count)]
    n = len(demands)

    def most(i, k, row):
        fit = min(room // d for room, d in zip(row, demands[i], strict=True) if d)
        return int(fit) if eligible[i][k] else 0

    loads = []
    for k, row in singles:
        tables = product(*(range(most(i, k, row) + 1) for i in range(n)))
        loads.append(
            [
                x
                for x in tables
                if all(sum(a * d[j] for a, d in zip(x, demands, strict=True)) <= row[j] for j in range(len(row)))
            ]
        )
    sums = {tuple(map(sum, zip(*choice, strict=True))) for choice in product(*loads)}
    return {x for x in sums if all(u is None or a <= u for a, u in zip(x, limits, strict=True))}


@st.composite
def clusters(draw):
    n, m, k = draw(st.integers(1, 3)), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    rooms = draw(st.lists(st.lists(st.sampled_from([1, 2, 3]), min_size=m, max_size=m), min_size=k, max_size=k))
    limits = st.sampled_from([None, None, F(0), F(1), F(5, 2)])
    return (
        draw(demand_rows(n, m)),
        [(row, draw(st.integers(1, 2)) if k == 1 else 1) for row in rooms],
        draw(st.lists(limits, min_size=n, max_size=n)),
        draw(st.lists(st.lists(st.booleans(), min_size=k, max_size=k), min_size=n, max_size=n)),
    )


@given(clusters(), st.lists(AMOUNTS.filter(bool), min_size=3, max_size=3))
@settings(max_examples=200)
def test_same_as_looking_at_everything(cluster, values):
    demands = cluster[0]
    values = values[: len(demands)]
    naive = everything(*cluster)
    assume(len(naive) < 20_000)
    for objective in (leximin(values), nash_product(values), total(values)):
        found = optimum(objective, cluster[0], cluster[1], *cluster[2:])
        best = max(map(objective, naive))
        assert found.value == best
        assert sorted(found.allocations) == sorted(x for x in naive if objective(x) == best)


@given(clusters(), st.lists(AMOUNTS.filter(bool), min_size=3, max_size=3))
@settings(max_examples=40)
def test_integer_product_orders_as_the_weighted_one(cluster, weights):
    demands = cluster[0]
    weights = weights[: len(demands)]
    tasks = optimum(nash_product(weights), *cluster).tasks

    def served_and_log(x):
        return sum(map(bool, x)), sum(float(w) * log(a) for w, a in zip(weights, x, strict=True) if a)

    served, best = max(map(served_and_log, everything(*cluster)))
    assert served_and_log(tasks) == (served, pytest.approx(best, rel=1e-12, abs=1e-12))
