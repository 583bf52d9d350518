"""The slow chain agrees with progressive filling on pools, with published and exact numbers on machines."""

import csv
from collections import Counter
from fractions import Fraction as F
from itertools import chain, combinations

import numpy as np
import pytest
from degenerate_pools import WEIGHTS, pools
from hypothesis import given, settings
from hypothesis import strategies as st

from drfopt.base.errors import EngineError, PolicyError
from drfopt.engines.reference.path_filling import progressive_filling
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.policies import policy_named
from drfopt.solving.methods.slow_chain import levels


def exact_levels(instance, policy):
    rates = policy_named(policy).exact_rates(instance)
    tasks = progressive_filling(instance.exact_demands, instance.exact_capacity, rates, instance.exact_limits)
    return [float(rate * x) for rate, x in zip(rates, tasks, strict=True)]


def agrees(instance, policy):
    return levels(instance, policy) == pytest.approx(exact_levels(instance, policy), rel=1e-9, abs=0)


@given(pools(), st.sampled_from(["drf", "asset", "tasks"]))
@settings(max_examples=100)
def test_same_as_progressive_filling(instance, policy):
    assert agrees(instance, policy)


@given(pools(), st.integers(0, 4))
@settings(max_examples=60)
def test_limit_that_binds_exactly_where_a_resource_is_full(instance, i):
    i %= instance.n
    rates = policy_named("drf").exact_rates(instance)
    demands, room = instance.exact_demands, instance.exact_capacity
    limits = list(instance.exact_limits)
    limits[i] = progressive_filling(demands, room, rates, limits)[i]
    assert agrees(Instance(demands, room, weights=instance.exact_weights, max_tasks=limits), "drf")


FAMILIES = {
    "identical users": Instance([[1, 2]] * 6, [7, 5]),
    "equal shares": Instance(np.eye(4), np.ones(4)),
    "a chain of saturations": Instance([[1, 0], [1, 0], [1, "1/2"], [0, 1]], [1, 1]),
    "one of ten needs the other resource": Instance([[1, 0]] + [[0, 1]] * 9, [1, 1]),
    "everybody at her limit": Instance([[1], [2], [3]], [1000], max_tasks=[1, 2, 3]),
    "limits far below the others' levels": Instance([[1], [1], [1]], [10], max_tasks=[1e-6, 1e-3, None]),
    "a thousandth and a thousand": Instance([["1/1000", 1], [1000, 1], [1, 0]], [100, 30]),
    "users of an empty resource": Instance([[1, 1], [0, 1], [1, 0]], [0, 10]),
    "nobody can run anything": Instance([[1], [1]], [1], max_tasks=[0, 0]),
}


@pytest.mark.parametrize("policy", ["drf", "asset", "tasks"])
@pytest.mark.parametrize("instance", FAMILIES.values(), ids=FAMILIES)
def test_degenerate_families(instance, policy):
    assert agrees(instance, policy)


@pytest.mark.parametrize("policy", ["drf", "asset", "single:r2"])
def test_weights_per_resource(policy):
    assert agrees(Instance([[1, 2], [1, 1]], [1, 1], weights=[[1, 2], [1, 2]]), policy)


def test_agreement_can_fail():
    wrong = [level * (1 + 1e-8) for level in exact_levels(FAMILIES["identical users"], "drf")]
    assert levels(FAMILIES["identical users"], "drf") != pytest.approx(wrong, rel=1e-9, abs=0)


@pytest.mark.parametrize("seed", range(3))
def test_a_hundred_users(seed):
    rng = np.random.default_rng(seed)
    demands = rng.integers(0, 4, (100, 3)) + (rng.integers(0, 3, 100)[:, None] == np.arange(3))
    limits = np.where(rng.random(100) < 0.5, rng.integers(0, 40, 100), np.inf)
    assert agrees(Instance(demands, [300, 500, 700], max_tasks=limits), "drf")


@pytest.mark.parametrize(
    "demands, machines, eligible, tasks",
    [
        pytest.param([["1/5", 1], [1, "1/5"]], [[2, 12], [12, 2]], None, [10, 10], id="drfh-example"),
        pytest.param([[1, 1], [1, 2]], [[1, 2], [2, 1]], None, [4 / 3, 2 / 3], id="drfh-SI-fails"),
        pytest.param([[1]] * 3, [[1]] * 3, [[1, 0, 0], [1, 1, 0], [1, 1, 1]], [1, 1, 1], id="cmmf-nested"),
        pytest.param([[1]] * 3, [[1]] * 2, [[1, 0], [1, 0], [1, 1]], [0.5, 0.5, 1], id="cmmf-bottleneck"),
    ],
)
def test_published_on_machines(demands, machines, eligible, tasks):
    allowed = None if eligible is None else np.array(eligible, dtype=bool)
    instance = Instance(demands, machines=machines, eligible=allowed)
    rates = policy_named("drf").rates(instance)
    assert levels(instance, "drf") / rates == pytest.approx(tasks, rel=1e-9)


def test_who_fits_on_no_machine_drags_nobody_down():
    machines = [Machine("small", {"cpu": 4, "memory": 14}, 48)]
    demands = {"job1": {"cpu": 1, "memory": 10}, "job2": {"cpu": 1, "memory": 1}, "huge": {"cpu": 5}}
    found = levels(Instance(demands, machines=machines), "drf")
    assert found == pytest.approx([20 / 27, 20 / 27, 0], rel=1e-9)


def filling_of_one_resource(rates, limits, rooms, eligible):
    """Return exact levels of users who need one unit of the only resource a task.

    By Hall's theorem tasks can be placed exactly when no set of users has more of them than the machines open
    to the set hold; so the sets play the part of resources in progressive filling.
    """
    users = range(len(rates))
    sets = list(chain.from_iterable(combinations(users, size) for size in range(1, len(rates) + 1)))
    room = {s: sum(c for k, c in enumerate(rooms) if any(eligible[i][k] for i in s)) for s in sets}
    tasks, rising = [F(0)] * len(rates), set(users)
    while rising:
        bounds = [limits[i] * rates[i] for i in rising if limits[i] is not None]
        for s in sets:
            if pull := sum(1 / rates[i] for i in rising.intersection(s)):
                bounds.append((room[s] - sum(tasks[i] for i in s if i not in rising)) / pull)
        for i in rising:
            tasks[i] = min(bounds) / rates[i]
        full = [s for s in sets if sum(tasks[i] for i in s) == room[s]]
        rising = {i for i in rising if tasks[i] != limits[i] and not any(i in s for s in full)}
    return [float(rate * x) for rate, x in zip(rates, tasks, strict=True)]


@st.composite
def one_resource(draw):
    n, k = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    row = st.lists(st.booleans(), min_size=k, max_size=k).filter(any)
    return Instance(
        [[1]] * n,
        machines=[[room] for room in draw(st.lists(st.sampled_from([1, 1, 2, 5]), min_size=k, max_size=k))],
        weights=draw(st.lists(WEIGHTS, min_size=n, max_size=n)),
        max_tasks=draw(st.lists(st.sampled_from([None, None, F(1, 2), F(1)]), min_size=n, max_size=n)),
        eligible=np.array(draw(st.lists(row, min_size=n, max_size=n))),
    )


@pytest.mark.slow
@given(one_resource())
@settings(max_examples=200)
def test_exact_on_machines_of_one_resource(instance):
    rooms = [row[0] for row in instance.exact_machine_capacity]
    rates = policy_named("drf").exact_rates(instance)
    expected = filling_of_one_resource(rates, instance.exact_limits, rooms, instance.eligible)
    assert levels(instance, "drf") == pytest.approx(expected, rel=1e-9, abs=0)


def test_one_class_is_a_pool():
    demands, limits = [[1, 4], [3, 1], [2, 2]], [None, 5, None]
    pool = Instance(demands, [90, 180], max_tasks=limits)
    machines = Instance(demands, machines=[Machine("node", [9, 18], 10)], max_tasks=limits)
    assert levels(machines, "asset") == pytest.approx(exact_levels(pool, "asset"), rel=1e-9)


@pytest.mark.slow
def test_production_cluster_of_1523_nodes(data_folder):
    """27 classes, 457 users, no limits: the first level is known from elsewhere, one user fits nowhere."""
    nodes, pods = Counter(), {}
    with (data_folder / "openb" / "openb_node_list_all_node.csv").open() as file:
        for row in csv.DictReader(file):
            nodes[int(row["cpu_milli"]), int(row["memory_mib"]), int(row["gpu"]) * 1000, row["model"]] += 1
    with (data_folder / "openb" / "openb_pod_list_gpuspec33.csv").open() as file:
        for row in csv.DictReader(file):
            gpu = int(row["num_gpu"]) * int(row["gpu_milli"])
            pods[int(row["cpu_milli"]), int(row["memory_mib"]), gpu, row["gpu_spec"]] = None
    instance = Instance(
        [pod[:3] for pod in pods],
        machines=[Machine(f"class {k}", node[:3], count) for k, (node, count) in enumerate(nodes.items())],
        resources=["cpu", "memory", "gpu"],
        eligible=np.array([[not pod[3] or node[3] in pod[3].split("|") for node in nodes] for pod in pods]),
    )
    found = levels(instance, "drf")
    assert (found == 0).sum() == instance.unplaced().sum() == 1
    assert found[found > 0].min() == pytest.approx(8.08090e-4, rel=1e-5)


def test_refuses_what_rounding_errors_would_decide():
    # The first user's limit leaves two ten-millionths to the second, whose level is then 2, give or take.
    instance = Instance([[1, 0], ["1/10000000", "2/5"]], [1, 1], max_tasks=["0.9999998", None])
    assert exact_levels(instance, "tasks") == [0.9999998, 2]
    with pytest.raises(EngineError, match="rounding errors decide"):
        levels(instance, "tasks")


def test_refuses_what_the_solver_would_drop():
    with pytest.raises(EngineError, match="drops"):
        levels(Instance([[1, 1], [1, "1e-12"]], [1, 1]), "drf")


def test_leximin_only():
    with pytest.raises(PolicyError, match="not leximin"):
        levels(Instance([[1]], [1]), "ceei")
