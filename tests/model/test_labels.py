"""Whatever has labels is aligned by them, in every argument, or refused by the label; arrays are positional."""

import time
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from drfopt import (
    Group,
    Instance,
    InstanceError,
    Machine,
    Organisation,
    TaskType,
    rebalance,
    schedule,
    solve,
    solve_many,
)
from drfopt.base.errors import suggestion
from drfopt.simulation import Job, Scenario, Stage, User

USERS, RESOURCES, CLASSES = ["A", "B"], ["cpu", "mem"], ["big", "small"]
DEMANDS = pd.DataFrame({"cpu": [1, 3], "mem": [4, 1]}, index=USERS)
ROOM = pd.Series({"cpu": 9, "mem": 18})
WEIGHTS = pd.Series({"A": 1.0, "B": 2.0})
BY_RESOURCE = pd.DataFrame({"cpu": [1.0, 2.0], "mem": [3.0, 4.0]}, index=USERS)
LIMITS = pd.Series({"A": 5.0, "B": 7.0})
OPEN = pd.DataFrame({"big": [True, False], "small": [True, True]}, index=USERS)
PLACES = pd.DataFrame({"cpu": [8, 4], "mem": [9, 5], "count": [1, 3]}, index=CLASSES)
POOL = {"demands": DEMANDS, "capacity": ROOM}
CLUSTER = {"demands": DEMANDS, "machines": PLACES}

ARGUMENTS = {
    "demands": (POOL, "demands", DEMANDS),
    "capacity": ({**POOL, "resources": RESOURCES}, "capacity", ROOM),
    "weights": (POOL, "weights", WEIGHTS),
    "weights per resource": (POOL, "weights", BY_RESOURCE),
    "max_tasks": (POOL, "max_tasks", LIMITS),
    "eligible": (CLUSTER, "eligible", OPEN),
    "guarantees": (POOL, "guarantees", BY_RESOURCE / 8),
    "ceilings": (POOL, "ceilings", BY_RESOURCE),
    "tiers": (POOL, "tiers", pd.Series({"A": 1, "B": 2})),
    "paths": (POOL, "paths", pd.Series({"A": "eng", "B": "eng/dev"})),
}
"""Of every argument with labels: what goes with it, its name, and a good value."""


def build(rest, name, value):
    if name in ("guarantees", "ceilings", "tiers", "paths"):
        return Instance(**rest, organisation=Organisation(**{name: value}))
    return Instance(**{**rest, name: value})


def same(one, other):
    """Say whether two instances are one but for the order of their resources."""
    order = [other.resources.index(resource) for resource in one.resources]
    return (
        one.users == other.users
        and one.machine_names == other.machine_names
        and np.array_equal(one.demands, other.demands[:, order])
        and np.array_equal(one.capacity, other.capacity[order])
        and np.array_equal(one.weights, other.weights if other.weights.ndim == 1 else other.weights[:, order])
        and np.array_equal(one.limits, other.limits)
        and np.array_equal(one.eligible, other.eligible)
        and one.organisation == other.organisation
    )


@pytest.mark.parametrize("case", ARGUMENTS.values(), ids=ARGUMENTS)
def test_the_order_of_labels_says_nothing(case):
    rest, name, value = case
    if name == "demands":
        rest = {**rest, "users": USERS}
    expected = build(rest, name, value)
    for axis in range(value.ndim):
        turned = value.take([1, 0], axis=axis)
        assert same(build(rest, name, turned), expected)


@pytest.mark.parametrize("case", ARGUMENTS.values(), ids=ARGUMENTS)
def test_a_label_that_is_missing_unknown_or_there_twice_is_named(case):
    rest, name, value = case
    if name == "demands":
        rest = {**rest, "users": USERS}
    # What a user is not promised, and where she has no ceiling, need not be said.
    axes = [0] if name in ("guarantees", "ceilings") else range(value.ndim)
    for axis in axes:
        last = value.axes[axis][-1]
        with pytest.raises(InstanceError, match=rf"{last}"):
            build(rest, name, value.take([0], axis=axis))
        with pytest.raises(InstanceError, match=rf"'{last}x'.*did you mean '{last}'"):
            build(rest, name, value.rename({last: f"{last}x"}, axis=axis))
        with pytest.raises(InstanceError, match=rf"'{last}'.*(twice|one name)"):
            build(rest, name, value.take([0, 1, 1], axis=axis))


def test_the_example_of_the_issue():
    frame = pd.DataFrame({"cpu": [1, 3], "mem": [4, 1]}, index=USERS)
    assert solve(Instance(frame, {"mem": 18, "cpu": 9})).tasks.tolist() == [3, 2]
    assert schedule(Instance(frame, pd.Series({"mem": 18, "cpu": 9}))).tasks.tolist() == [3, 2]


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_from_frame(order):
    frame = DEMANDS.assign(weight=["1/3", 2], max_tasks=[None, 7]).iloc[order]
    instance = Instance.from_frame(frame, ROOM[::-1], users=USERS)
    assert (instance.users, instance.resources) == (("A", "B"), ("cpu", "mem"))
    assert instance.demands.tolist() == [[1, 4], [3, 1]]
    assert instance.exact_capacity == (9, 18)
    assert instance.exact_weights == (Fraction(1, 3), 2)
    assert instance.exact_limits == (None, 7)
    turned = Instance.from_frame(DEMANDS, ROOM, weights=WEIGHTS[::-1], max_tasks=LIMITS[::-1])
    assert (turned.weights.tolist(), turned.limits.tolist()) == ([1, 2], [5, 7])
    with pytest.raises(InstanceError, match="column 'weight', and weights"):
        Instance.from_frame(frame, ROOM, weights=[1, 1])
    with pytest.raises(InstanceError, match="'mem'"):
        Instance.from_frame(DEMANDS, {"cpu": 9})


def test_machines():
    instance = Instance(DEMANDS, machines=PLACES[["count", "mem", "cpu"]])
    assert instance.machine_names == ("big", "small")
    assert instance.counts.tolist() == [1, 3]
    order = [instance.resources.index(r) for r in RESOURCES]
    assert instance.machine_capacity[:, order].tolist() == [[8, 9], [4, 5]]
    listed = [Machine("big", pd.Series({"mem": 9, "cpu": 8})), Machine("small", {"cpu": 4, "mem": 5}, 3)]
    assert same(Instance(DEMANDS, machines=listed), instance)
    with pytest.raises(InstanceError, match="'gpu'"):
        Instance(DEMANDS, resources=RESOURCES, machines=[Machine("big", pd.Series({"cpu": 8, "gpu": 9}))])
    with pytest.raises(InstanceError, match=r"machine class 'big'.*count is 1\.5"):
        Instance(DEMANDS, machines=PLACES.assign(count=[1.5, 1]))
    with pytest.raises(InstanceError, match=r"'small'.*twice"):
        Instance(DEMANDS, machines=PLACES.rename({"big": "small"}))


def test_rows_of_one_user_have_labels_too():
    rows = {"A": pd.Series({"mem": 4, "cpu": 1}), "B": {"cpu": 3, "mem": 1}}
    expected = Instance(DEMANDS, ROOM)
    assert Instance(rows, ROOM) == expected
    assert Instance(list(rows.values()), ROOM, users=USERS) == expected
    assert Instance(pd.Series(rows), ROOM) == expected
    types = {"A": [TaskType(pd.Series({"mem": 4, "cpu": 1}), 2)], "B": [TaskType([3, 1], 1)]}
    assert Instance(types, ROOM).demands.tolist() == [[1, 4], [3, 1]]
    weighted = Instance(DEMANDS, ROOM, weights={"B": pd.Series({"mem": 4.0, "cpu": 2.0})})
    assert weighted.weights.tolist() == [[1, 1], [2, 4]]
    grouped = Organisation(groups=[Group("eng", guarantee=pd.Series({"mem": 2}))], paths={"A": "eng"})
    assert Instance(DEMANDS, ROOM, organisation=grouped).organisation.groups[0].guarantee == {"mem": 2}


def test_what_is_open_by_name():
    machines = [Machine("big", {"cpu": 8, "mem": 9}), Machine("small", {"cpu": 4, "mem": 5})]
    for row in ({"small": True, "big": False}, pd.Series({"small": True, "big": False}), ["small"], "small"):
        instance = Instance(DEMANDS, machines=machines, eligible={"B": row})
        assert instance.eligible.tolist() == [[True, True], [False, True]]
    series = pd.Series({"B": ["small"], "A": ["big"]})
    assert Instance(DEMANDS, machines=machines, eligible=series).eligible.tolist() == [[True, False], [False, True]]
    with pytest.raises(InstanceError, match="'small'"):
        Instance(DEMANDS, machines=machines, eligible={"B": {"big": True}})


def test_a_mapping_may_leave_out_what_has_a_default_and_nothing_else():
    instance = Instance({"A": {"cpu": 1}, "B": {"mem": 1}}, ROOM, weights={"B": 2}, max_tasks={"A": 3})
    assert instance.demands.tolist() == [[1, 0], [0, 1]]
    assert (instance.weights.tolist(), instance.limits.tolist()) == ([1, 2], [3, np.inf])
    with pytest.raises(InstanceError, match="capacity says nothing of 'mem'"):
        Instance(DEMANDS, {"cpu": 9}, resources=RESOURCES)


def test_users_named_twice_are_one_list():
    by_name = {"A": {"cpu": 1}, "B": {"cpu": 3}}
    turned = Instance(by_name, {"cpu": 9}, users=["B", "A"])
    assert (turned.users, turned.demands.tolist()) == (("B", "A"), [[3], [1]])
    with pytest.raises(InstanceError, match="'B', who is not a user"):
        Instance(by_name, {"cpu": 9}, users=["A", "C"])
    with pytest.raises(InstanceError, match="nothing is said of user 'C'"):
        Instance(by_name, {"cpu": 9}, users=["A", "B", "C"])


def test_labels_are_compared_as_text():
    instance = Instance({1: {7: 2}, 2: {7: 3}}, {7: 9}, weights={2: 5}, max_tasks={1: 4})
    assert (instance.users, instance.resources) == (("1", "2"), ("7",))
    assert (instance.weights.tolist(), instance.limits.tolist()) == ([1, 5], [4, np.inf])
    with pytest.raises(InstanceError, match="'1' is listed twice"):
        Instance({1: {7: 2}, "1": {7: 3}}, {7: 9})


def test_the_index_that_pandas_makes_up_is_no_label():
    frame = DEMANDS.reset_index(drop=True)
    plain = Instance(frame, ROOM, users=USERS, weights=pd.Series([1.0, 2.0]))
    assert plain.weights.tolist() == [1, 2]
    assert Instance(frame, [9, 18]).users == ("u1", "u2")
    # Where it is the names, it is one.
    turned = Instance(frame[::-1], ROOM, weights=pd.Series([1.0, 2.0]))
    assert (turned.users, turned.weights.tolist()) == (("1", "0"), [2, 1])
    with pytest.raises(InstanceError, match="'1', who is not a user"):
        Instance(frame[:1], ROOM, weights=WEIGHTS.reset_index(drop=True)[1:])


def test_arrays_and_lists_are_positional():
    instance = Instance(DEMANDS, [9, 18], weights=[1, 2], max_tasks=np.array([5, 7]))
    assert instance.resources == ("cpu", "mem")
    assert instance.capacity.tolist() == [9, 18]
    assert Instance(DEMANDS.to_numpy(), ROOM).resources == ("cpu", "mem")


def test_fields_of_an_array_are_labels():
    fields = np.array([(4, 1), (1, 3)], dtype=[("mem", int), ("cpu", int)])
    assert Instance(fields, ROOM).demands.tolist() == [[1, 4], [3, 1]]


def test_an_instance_does_not_change_with_its_frame():
    frame = DEMANDS.astype(float)
    instance = Instance(frame, ROOM)
    frame.iloc[0, 0] = 100
    assert instance.demands.tolist() == [[1, 4], [3, 1]]


def test_many_pools():
    frames = [DEMANDS, DEMANDS[["mem", "cpu"]][::-1]]
    plain = solve_many(np.array([DEMANDS, DEMANDS]), [9, 18], weights=[1, 2], limits=[5, 7])
    for room in (
        ROOM,
        ROOM[::-1],
        {"mem": 18, "cpu": 9},
        pd.DataFrame([ROOM, ROOM])[["mem", "cpu"]].to_dict("records"),
    ):
        found = solve_many(frames, room, weights=WEIGHTS[::-1], limits=LIMITS[::-1])
        assert np.array_equal(found.tasks, plain.tasks)
    rooms = pd.DataFrame({"mem": [18, 18], "cpu": [9, 9]})
    assert np.array_equal(solve_many(frames, rooms, weights=[1, 2], limits=[5, 7]).tasks, plain.tasks)
    array = np.array([DEMANDS, DEMANDS])
    turned = solve_many(array, ROOM[::-1], "single:cpu", resources=RESOURCES)
    assert np.array_equal(turned.tasks, solve_many(array, [9, 18], "single:cpu", resources=RESOURCES).tasks)
    each = {"A": {"cpu": 1.0, "mem": 3.0}, "B": {"mem": 4.0, "cpu": 2.0}}
    per = solve_many(array, ROOM, weights=BY_RESOURCE.to_numpy()[None]).tasks
    assert np.array_equal(solve_many(frames, ROOM, weights=[pd.DataFrame(each).T]).tasks, per)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"capacity": ROOM[:1], "resources": RESOURCES}, "'mem'"),
        ({"capacity": {"cpu": 9, "memo": 18}, "resources": RESOURCES}, "'memo'.*did you mean 'mem'"),
        ({"capacity": ROOM.rename({"mem": "cpu"}), "resources": RESOURCES}, "'cpu' is listed twice"),
        ({"capacity": pd.DataFrame([ROOM, ROOM], index=["x", "y"])}, "'x'"),
        ({"capacity": ROOM, "weights": WEIGHTS[:1]}, "'B'"),
        ({"capacity": ROOM, "limits": LIMITS.rename({"B": "C"})}, "'C'"),
        ({"capacity": ROOM, "demands": np.ones((2, 2, 2)), "weights": WEIGHTS}, "'A'"),
        ({"capacity": ROOM, "demands": [DEMANDS, DEMANDS.rename({"B": "C"})]}, "'C'"),
        ({"capacity": ROOM, "demands": [DEMANDS, DEMANDS.rename({"cpu": "gpu"}, axis=1)]}, "'gpu'"),
    ],
)
def test_many_pools_refuse_by_label(arguments, words):
    with pytest.raises(InstanceError, match=words):
        solve_many(**{"demands": [DEMANDS, DEMANDS], **arguments})


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("gpus", "gpu"),
        ("cp", "cpu"),
        ("cup", "cpu"),
        ("CPU", "cpu"),
        ("memroy", "memory"),
        ("tpu", None),
        ("disk", None),
    ],
)
def test_what_is_suggested_is_near(word, near):
    """A slip of the pen has a suggestion, and another resource has none."""
    with pytest.raises(InstanceError) as error:
        Instance({"A": {word: 1}}, {"cpu": 1, "gpu": 1, "memory": 1})
    assert str(error.value).partition("did you mean ")[2] == (f"{near!r}?" if near else "")


def test_a_missing_gpu_is_no_cpu():
    with pytest.raises(InstanceError, match=r"demands 'gpu', but the cluster has cpu, memory$"):
        Instance({"A": {"gpu": 1}}, {"cpu": 1, "memory": 1})


def test_long_words_and_many_cost_no_time():
    names = [f"resource-{j}" for j in range(30_000)]
    for word in ("resource-x", "x" * 10**6):
        began = time.process_time()
        suggestion(word, [*names, "y" * 10**6])
        assert time.process_time() - began < 20


def test_what_runs_today_is_aligned_by_its_labels():
    users = {"A": {"cpu": 1}, "B": {"cpu": 1}}
    cluster = Instance(users, machines=[Machine("m", {"cpu": 4}), Machine("k", {"cpu": 2})])
    runs = pd.DataFrame({"k": [1, 0], "m": [0, 4]}, index=["B", "A"])
    told = rebalance(cluster, {"placement": {"A": {"m": 4}, "B": {"k": 1}}})
    assert rebalance(cluster, runs).current.tasks.tolist() == told.current.tasks.tolist() == [[4, 0], [0, 1]]
    pool = Instance(users, {"cpu": 4})
    assert rebalance(pool, pd.Series([1, 3], ["B", "A"])).current.tasks.ravel().tolist() == [3, 1]
    for wrong, words in (
        (runs.rename(index={"B": "C"}), "'C'"),
        (runs.reset_index(drop=True), "users as rows"),
        (runs + 0.5, "whole"),
    ):
        with pytest.raises(InstanceError, match=words):
            rebalance(cluster, wrong)


def test_a_machine_of_a_scenario_may_have_a_series():
    users = [User("A", (Job((Stage({"cpu": 1}, tasks=2, duration=3.0),)),))]
    series = Scenario([Machine("m", pd.Series([14, 4], ["memory", "cpu"]))], users)
    assert series.machines[0].capacity == {"cpu": 4, "memory": 14}
    with pytest.raises(InstanceError, match=r"^machine class 'm': capacity is \[14, 4\]: give amounts by name"):
        Scenario([Machine("m", pd.Series([14, 4]))], users)
    amounts = pd.Series([2, 1], ["memory", "cpu"])
    assert Stage(amounts).demand == User("A", users[0].jobs, guarantee=amounts).guarantee == {"cpu": 1, "memory": 2}


@pytest.mark.parametrize("cluster", [{"capacity": {"cpu": 9}}, {"machines": [Machine("m", {"cpu": 4})]}])
def test_a_frame_names_what_the_cluster_has(cluster):
    with pytest.raises(InstanceError, match="demands: there is no resource 'mem', there is cpu"):
        Instance.from_frame(DEMANDS, **cluster)
    with pytest.raises(InstanceError, match="demands: nothing is said of resource 'gpu'"):
        Instance.from_frame(DEMANDS, {"cpu": 9, "mem": 18, "gpu": 3})
    # The order of resources is that of the frame.
    assert Instance.from_frame(DEMANDS, {"mem": 18, "cpu": 9}) == Instance.from_frame(DEMANDS, [9, 18])


def test_an_empty_cell_is_no_limit():
    assert Instance(DEMANDS, ROOM, max_tasks=pd.Series([1, None], index=["A", "B"])).max_tasks == (1, None)
    with pytest.raises(InstanceError, match="nan is not finite: write a finite number, or inf or None where there is"):
        Instance(DEMANDS, ROOM, max_tasks=[1, float("nan")])


def test_what_weights_may_be_and_machines_count():
    with pytest.raises(InstanceError, match="weight of 'mem' is -1: it must be positive"):
        Instance(DEMANDS, ROOM, weights={"A": {"cpu": 2, "mem": -1}})
    with pytest.raises(InstanceError, match="weight is -1: it must not be negative"):
        Instance(DEMANDS, ROOM, weights={"A": -1})
    with pytest.raises(InstanceError, match=r"count is 2\.0: write a whole number, 1 or more, as 2"):
        Instance(DEMANDS, machines=[Machine("m", {"cpu": 4, "mem": 4}, 2.0)])
