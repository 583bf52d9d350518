"""Progressive filling gives the published numbers, and what it gives is max-min fair by its definition."""

from fractions import Fraction as F

import pytest
from degenerate_pools import pools
from hypothesis import given, settings
from hypothesis import strategies as st

from drfopt.engines.reference.path_filling import progressive_filling
from drfopt.model.instance import Instance
from drfopt.model.policies import policy_named

NSDI = ([[1, 4], [3, 1]], [9, 18])
THREE = ([[1, 1], [1, 2], [3, 1]], [1, 1])

PUBLISHED = {
    # Ghodsi et al., NSDI 2011, and what follows from its definitions on the example of its section 4.1.
    "drf-4.1": ("drf", *NSDI, {}, "3 2"),
    "asset-4.1": ("asset", *NSDI, {}, "63/25 54/25"),
    "drf-4.1-capA2": ("drf", *NSDI, {"max_tasks": [2, None]}, "2 7/3"),
    "asset-4.1-capA2": ("asset", *NSDI, {"max_tasks": [2, None]}, "2 7/3"),
    "wdrf-4.1-w21": ("drf", *NSDI, {"weights": [2, 1]}, "54/13 18/13"),
    "wdrf-4.1-w12": ("drf", *NSDI, {"weights": [1, 2]}, "9/5 12/5"),
    "tasks-4.1": ("tasks", *NSDI, {}, "9/4 9/4"),
    "cpufair-4.1": ("single:r1", *NSDI, {}, "54/13 18/13"),
    "drf-split": ("drf", [[1, 4], [1, 4], [3, 1]], [9, 18], {}, "27/13 27/13 18/13"),
    "thm1-asset-SI": ("asset", [[1, 3], [1, 1]], [30, 30], {}, "6 12"),
    "thm1-drf": ("drf", [[1, 3], [1, 1]], [30, 30], {}, "5 15"),
    "thm2-asset-BF": ("asset", [[3, 2], [4, 1]], [21, 21], {}, "3 3"),
    "thm2-drf": ("drf", [[3, 2], [4, 1]], [21, 21], {}, "7/2 21/8"),
    "thm3-asset-RM-1": ("asset", [[4, 2], [1, 1]], [77, 77], {}, "11 33"),
    "thm3-asset-RM-2": ("asset", [[4, 2], [1, 1]], [77, 154], {}, "21/2 35"),
    "thm6-drf-RM-1": ("drf", [[2, 1], [1, 2]], [1, 1], {}, "1/3 1/3"),
    "thm6-drf-RM-2": ("drf", [[2, 1], [1, 2]], [1, 4], {}, "1/4 1/2"),
    "appendix-truth": ("drf", [[1, 0]] + [[0, 1]] * 9, [1, 1], {}, "1" + " 1/9" * 9),
    "appendix-lie": ("drf", [[1, 1]] + [[0, 1]] * 9, [1, 1], {}, "1/10" + " 1/10" * 9),
    "vecweights-raw": ("drf", [[1, 2], [1, 1]], [1, 1], {"weights": [[1, 2], [1, 2]]}, "1/3 1/3"),
    # One resource: textbook examples of max-min fairness with demands and weights.
    "mm-weighted-16": (
        "drf",
        [[1]] * 4,
        [16],
        {"max_tasks": [4, 2, 10, 4], "weights": ["5/2", 4, "1/2", 1]},
        "4 2 6 4",
    ),
    "mm-unweighted-10": ("drf", [[1]] * 4, [10], {"max_tasks": [2, "13/5", 4, 5]}, "2 13/5 27/10 27/10"),
    # Users who rise past the first saturation, ties, and a resource that is not there.
    "edge-two-level": ("drf", [[1, 0], [1, 0], [1, "1/2"], [0, 1]], [1, 1], {}, "1/3 1/3 1/3 5/6"),
    "edge-degenerate-duals": ("drf", [[1, 1], [1, 0], [0, 1]], [1, 1], {}, "1/2 1/2 1/2"),
    "edge-zero-capacity": ("drf", [[1, 1], [0, 1]], [0, 10], {}, "0 10"),
    "only-what-is-not-there": ("drf", [[1, 0], [0, 1]], [0, 10], {}, "0 10"),
    "limit-zero": ("drf", *NSDI, {"max_tasks": [0, None]}, "0 3"),
    "asset-zero-demand": ("asset", [[1, 0], [0, 1], [0, 1]], [1, 1], {}, "1 1/2 1/2"),
    "drf-PM-zero-demand": ("drf", [[0, 1], [1, 0], [1, 2]], [1, 1], {}, "1/2 3/4 1/4"),
    "misquoted-B": ("drf", [[1, 4], [3, 4]], [9, 18], {}, "27/10 9/5"),
    "mesos-10-20": ("drf", [[3, 2], [1, 5]], [10, 20], {}, "50/21 20/7"),
    "mesos-ex1": ("drf", [[4, 5], [2, 8]], [10, 20], {}, "20/13 20/13"),
    "ali-beth": ("drf", [[1, 8], [8, 2]], [10, 20], {}, "2 1"),
    # One instance that tells every policy from every other.
    "disc-drf": ("drf", *THREE, {}, "2/5 1/5 2/15"),
    "disc-asset": ("asset", *THREE, {}, "6/19 4/19 3/19"),
    "disc-tasks": ("tasks", *THREE, {}, "1/5 1/5 1/5"),
    "disc-cpu": ("single:r1", *THREE, {}, "3/10 3/10 1/10"),
    "disc-mem": ("single:r2", *THREE, {}, "2/9 1/9 2/9"),
}


def fill(instance: Instance, policy: str) -> list[F]:
    rates = policy_named(policy).exact_rates(instance)
    return progressive_filling(instance.exact_demands, instance.exact_capacity, rates, instance.exact_limits)


@pytest.mark.parametrize("policy, demands, capacity, rest, expected", PUBLISHED.values(), ids=PUBLISHED)
def test_published_number(policy, demands, capacity, rest, expected):
    assert fill(Instance(demands, capacity, **rest), policy) == [F(x) for x in expected.split()]


def is_max_min_fair(instance: Instance, policy: str, tasks: list[F]) -> bool:
    """Feasible, and everybody is at her limit, unplaced, or highest among the users of a full resource."""
    demands, capacity, limits = instance.exact_demands, instance.exact_capacity, instance.exact_limits
    users = range(instance.n)
    used = [sum(demands[i][j] * tasks[i] for i in users) for j in range(instance.m)]
    levels = [rate * x for rate, x in zip(policy_named(policy).exact_rates(instance), tasks, strict=True)]

    def has_bottleneck(i: int) -> bool:
        return any(
            demands[i][j] and used[j] == capacity[j] and all(levels[k] <= levels[i] for k in users if demands[k][j])
            for j in range(instance.m)
        )

    feasible = all(x >= 0 for x in tasks) and all(u <= c for u, c in zip(used, capacity, strict=True))
    allowed = all(limit is None or x <= limit for x, limit in zip(tasks, limits, strict=True))
    return feasible and allowed and all(tasks[i] == limits[i] or has_bottleneck(i) for i in users)


@given(pools(), st.sampled_from(["drf", "asset", "tasks"]))
@settings(max_examples=300)
def test_result_is_max_min_fair(instance, policy):
    tasks = fill(instance, policy)
    assert is_max_min_fair(instance, policy, tasks)
    helpless = instance.unplaced()
    assert all(x == 0 for x, out in zip(tasks, helpless, strict=True) if out)


@given(pools(), st.integers(0, 4), st.sampled_from([F(999, 1000), F(1001, 1000)]))
@settings(max_examples=60)
def test_condition_rejects_another_number_of_tasks(instance, i, factor):
    tasks = fill(instance, "drf")
    i %= instance.n
    if tasks[i]:
        tasks[i] *= factor
        assert not is_max_min_fair(instance, "drf", tasks)


@given(pools(), st.permutations(range(5)))
@settings(max_examples=40)
def test_order_and_units_do_not_matter(instance, order):
    order = [i for i in order if i < instance.n]
    other = Instance(
        [[d * 1000 for d in instance.exact_demands[i]] for i in order],
        [c * 1000 for c in instance.exact_capacity],
        weights=[instance.exact_weights[i] for i in order],
        max_tasks=[instance.exact_limits[i] for i in order],
    )
    tasks = fill(instance, "asset")
    assert fill(other, "asset") == [tasks[i] for i in order]


def test_limit_reached_just_when_the_resource_is_full():
    assert progressive_filling([[1], [1]], [2], [F(1), F(1)], [F(1), None]) == [1, 1]
