"""Algorithm 1: the paper's Table 1, published traces, and a second one that looks at everything each time."""

from fractions import Fraction as F

import pytest
from degenerate_pools import AMOUNTS, LIMITS, ROOMS, demand_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from drfopt.engines.reference.algorithm1 import discrete_filling, placements


def dominant(demands, capacity):
    return [max(F(d) / c for d, c in zip(row, capacity, strict=True)) for row in demands]


def run_on_pool(demands, capacity, when_full="skip", limits=None):
    limits = limits or [None] * len(demands)
    return discrete_filling(demands, [(capacity, 1)], dominant(demands, capacity), limits, when_full)


def test_table_1():
    # In the paper's table the tie at the start goes to user B, so she is listed first.
    tasks, steps = run_on_pool([[3, 1], [1, 4]], [9, 18])
    assert tasks == [2, 3]
    assert ["BA"[step.user] for step in steps] == list("BAABA")
    assert [step.dominant_shares for step in steps] == [
        (F(1, 3), F(0)),
        (F(1, 3), F(2, 9)),
        (F(1, 3), F(4, 9)),
        (F(2, 3), F(4, 9)),
        (F(2, 3), F(2, 3)),
    ]
    assert [step.used for step in steps] == [(3, 1), (4, 5), (5, 9), (8, 10), (9, 14)]


def test_table_1_with_the_tie_to_a():
    tasks, steps = run_on_pool([[1, 4], [3, 1]], [9, 18])
    assert tasks == [3, 2]
    assert ["AB"[step.user] for step in steps] == list("ABABA")


def test_ten_cpus_and_twenty_gigabytes():
    tasks, steps = run_on_pool([[3, 2], [1, 5]], [10, 20])
    assert tasks == [2, 3]
    assert ["AB"[step.user] for step in steps] == list("ABBAB")
    assert [step.dominant_shares for step in steps] == [
        (F(3, 10), F(0)),
        (F(3, 10), F(1, 4)),
        (F(3, 10), F(1, 2)),
        (F(3, 5), F(1, 2)),
        (F(3, 5), F(3, 4)),
    ]
    assert steps[-1].used == (9, 19)


@pytest.mark.parametrize(
    "demands, capacity, when_full, expected",
    [
        pytest.param([[2], [3]], [4], "skip", [2, 0], id="thm7-skip-false"),
        pytest.param([[1], [2]], [2], "stop", [1, 0], id="int-alg1-stop-PE"),
        pytest.param([[1], [2]], [2], "skip", [2, 0], id="int-alg1-skip-PE"),
        pytest.param([[2], [1]], [2], "skip", [1, 0], id="int-list-SI"),
        pytest.param([[1], [1]], [4], "skip", [2, 2], id="int-list-SP-truth"),
        pytest.param([[3], [1]], [4], "skip", [1, 1], id="int-list-SP-lie"),
    ],
)
def test_integer_facts(demands, capacity, when_full, expected):
    assert run_on_pool(demands, capacity, when_full)[0] == expected


def test_weights_decide_who_is_next_and_not_what_is_shown():
    rates = [F(2, 9) / 2, F(1, 3)]
    tasks, steps = discrete_filling([[1, 4], [3, 1]], [([9, 18], 1)], rates, [None, None])
    assert ["AB"[step.user] for step in steps] == list("ABAAA")
    assert tasks == [4, 1]
    assert steps[-1].dominant_shares == (F(8, 9), F(1, 3))


def test_first_machine_in_order_then_its_copies_then_the_next_class():
    machines = [([2], 2), ([3], 1)]
    started = placements([[2], [1]], machines, [F(2, 7), F(1, 7)], [None, None], "skip", None)
    # Class 0 first, copy by copy; the first user no longer fits on class 1 once it has room for 1 only.
    assert list(started) == [(0, 0), (1, 0), (1, 0), (0, 1), (1, 1)]


def test_eligible_classes_only():
    machines = [([1], 5), ([1], 2)]
    started = list(placements([[1]], machines, [F(1, 7)], [None], "skip", [[False, True]]))
    assert started == [(0, 1), (0, 1)]


def test_limits_are_rounded_down_and_zero_stops_nobody():
    assert run_on_pool([[2], [1], [9]], [9], "stop", limits=[F(0), F(5, 2), F(1, 2)])[0] == [0, 2, 0]


def test_a_huge_class_is_not_unpacked():
    machines = [([F(1)], 10**12)]
    assert sum(1 for _ in placements([[F(1)]], machines, [F(1)], [F(3)], "skip", None)) == 3


@st.composite
def clusters(draw):
    n, m, k = draw(st.integers(1, 4)), draw(st.integers(1, 2)), draw(st.integers(1, 3))
    rooms = draw(st.lists(st.lists(ROOMS, min_size=m, max_size=m), min_size=k, max_size=k))
    return {
        "demands": draw(demand_rows(n, m)),
        "machines": [(row, draw(st.integers(1, 3))) for row in rooms],
        "rates": draw(st.lists(AMOUNTS.filter(bool), min_size=n, max_size=n)),
        "limits": draw(st.lists(LIMITS, min_size=n, max_size=n)),
        "when_full": draw(st.sampled_from(["skip", "stop"])),
        "eligible": draw(st.lists(st.lists(st.booleans(), min_size=k, max_size=k), min_size=n, max_size=n)),
    }


def literal(demands, machines, rates, limits, when_full, eligible):
    """Return who is served where, by looking at all users and all single machines before each task."""
    free = [(k, list(row)) for k, (row, count) in enumerate(machines) for _ in range(count)]
    tasks, started = [0] * len(demands), []
    passed_over = set()
    while True:
        waiting = [
            i for i in range(len(demands)) if i not in passed_over and (limits[i] is None or tasks[i] + 1 <= limits[i])
        ]
        if not waiting:
            return started
        i = min(waiting, key=lambda i: (rates[i] * tasks[i], i))
        for k, room in free:
            if eligible[i][k] and all(d <= a for d, a in zip(demands[i], room, strict=True)):
                room[:] = [a - d for d, a in zip(demands[i], room, strict=True)]
                tasks[i] += 1
                started.append((i, k))
                break
        else:
            if when_full == "stop":
                return started
            passed_over.add(i)


@given(clusters())
@settings(max_examples=300)
def test_same_as_the_literal_algorithm(cluster):
    assert list(placements(**cluster)) == literal(**cluster)


@given(clusters())
@settings(max_examples=60)
def test_trace_adds_up(cluster):
    tasks, steps = discrete_filling(**cluster)
    demands = cluster["demands"]
    assert [(step.user, step.machine) for step in steps] == list(placements(**cluster))
    assert tasks == [sum(step.user == i for step in steps) for i in range(len(demands))]
    used = tuple(sum(x * row[j] for x, row in zip(tasks, demands, strict=True)) for j in range(len(demands[0])))
    assert not steps or steps[-1].used == used


@given(clusters())
@settings(max_examples=60)
def test_stop_leaves_levels_at_most_one_task_apart(cluster):
    # Theorem 7 of the paper, read as a bound between users; it needs users without limits.
    cluster |= {"when_full": "stop", "limits": [None] * len(cluster["demands"])}
    tasks, _ = discrete_filling(**cluster)
    rates = cluster["rates"]
    levels = [rate * x for rate, x in zip(rates, tasks, strict=True)]
    assert all(high - low <= rate for high, rate in zip(levels, rates, strict=True) for low in levels)


@given(clusters())
@settings(max_examples=60)
def test_skip_leaves_no_room_for_one_more_task_on_a_pool(cluster):
    (room, _), *_ = cluster["machines"]
    cluster |= {"when_full": "skip", "eligible": None, "machines": [(room, 1)]}
    tasks, _ = discrete_filling(**cluster)
    demands, limits = cluster["demands"], cluster["limits"]
    left = [room[j] - sum(x * row[j] for x, row in zip(tasks, demands, strict=True)) for j in range(len(room))]
    for x, row, limit in zip(tasks, demands, limits, strict=True):
        full = any(d > amount for d, amount in zip(row, left, strict=True))
        assert full or (limit is not None and x + 1 > limit)
