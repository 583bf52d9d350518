"""Whole tasks to the verifier: sequences of types, packings, and the search of a pool, by enumeration."""

import itertools
import math
from fractions import Fraction as F

import pytest

from drfopt.certificates.verifier import cluster, whole


def in_turn(counts, x):
    """The first x tasks of these types, by their places; of equals the type listed first."""
    places = sorted((F(2 * k - 1, 2 * c), t) for t, c in enumerate(counts) for k in range(1, c + 1))
    return tuple(sum(t == other for _, other in places[:x]) for t in range(len(counts)))


def sequence(counts, demands=None):
    kinds = [cluster.Kind(0, F(1), d, frozenset({0})) for d in demands or [[F(1)]] * len(counts)]
    return whole.Sequence(kinds, [[0]] * len(counts), counts, ["x"] * len(counts), 0)


def test_types_start_in_their_proportions():
    shapes = [counts for n in (1, 2, 3) for counts in itertools.product((1, 2, 3, 7), repeat=n)]
    for counts in [*shapes, (1, 5, 5, 9), (4, 4, 4, 4, 4), (1, 30, 2)]:
        for x in range(sum(counts) + 1):
            assert sequence(counts).started(x) == in_turn(counts, x)
    assert sequence((1,)).started(99) == (99,)


def test_tasks_use_what_those_that_have_started_need():
    demands = [[F(1), F(0)], [F(1, 2), F(3)]]
    for x in range(6):
        one, other = in_turn((2, 3), x)
        assert [sequence((2, 3), demands).uses(x, j) for j in (0, 1)] == [one + other * F(1, 2), other * 3]


def data(*users, machines=None, **more):
    room = {"machines": machines} if machines else {"capacity": {"a": 8, "b": 5}}
    return room | {"users": [{"name": "ABC"[i]} | user for i, user in enumerate(users)]} | more


RACK = [
    {"name": "m", "capacity": {"a": 3, "b": 2}, "count": 2},
    {"name": "n", "capacity": {"a": 5, "b": 1, "g": 4}, "devices": {"g": {"count": 2, "size": 2}}},
]
THREE = [{"name": "m", "capacity": {"g": 9}, "devices": {"g": {"count": 3, "size": 2}}}]
"""Of which there is more than is on devices."""

TYPES = {"tasks": [{"demand": {"a": 2, "b": 1}, "count": 2}, {"demand": {"a": 1}, "count": 3}]}
UNUSED = {"tasks": [{"demand": {"a": 9}, "count": 2}, {"demand": {"a": 1}, "count": 3}]}

MOST = [
    (data({"demand": {"a": 2, "b": 2}}), 2),
    (data({"demand": {"a": 2, "b": 2}, "max_tasks": "3/2"}), 1),
    (data({"demand": {"a": 2, "b": 2}, "max_tasks": 9}), 2),
    (data({"demand": {"a": 2}, "ceiling": {"a": 5}}), 2),
    (data({"demand": {"a": 9}}), 0),
    (data({"demand": {"a": 1, "b": 1}}, machines=RACK), 5),
    (data({"demand": {"a": 1, "b": 1}, "machines": ["m"]}, machines=RACK), 4),
    (data({"demand": {"a": 4}}, machines=RACK), 1),
    (data({"demand": {"a": 6}}, machines=RACK), 0),
    (data({"demand": {"g": "2/3"}}, machines=RACK), 6),
    (data({"demand": {"g": "3/2"}}, machines=RACK), 2),
    (data({"demand": {"g": "4/3"}}, machines=RACK), 2),
    (data({"demand": {"g": 2}}, machines=RACK), 2),
    (data({"demand": {"g": 4}}, machines=RACK), 1),
    (data({"demand": {"g": 2}}, machines=THREE), 3),
    (data({"demand": {"g": 4}}, machines=THREE), 1),
    # Of types: 1 of (2, 1) and 2 of 1 use 4, 2 and 3 use 7 and are all there are.
    (data(TYPES), 5),
    (data(TYPES | {"max_tasks": "7/2"}), 3),
    (data(TYPES | {"max_tasks": 0}), 0),
    (data(TYPES | {"ceiling": {"a": 4}}), 3),
    (data(TYPES | {"ceiling": {"a": 3}}), 2),
    (data(TYPES, capacity={"a": 6, "b": 5}), 4),
    (data(TYPES, capacity={"a": 8, "b": 1}), 3),
    # On machines only what each type could have alone is looked at.
    (data(TYPES, machines=[{"name": "m", "capacity": {"a": 4, "b": 2}}]), 5),
    (data(TYPES, machines=[{"name": "m", "capacity": {"a": 4, "b": 1}}]), 3),
    (data(UNUSED), 3),
]  # fmt: skip


@pytest.mark.parametrize(("given", "most"), MOST)
def test_the_most_tasks_of_a_user(given, most):
    (found,) = whole.sequences(cluster.Cluster(given))
    assert found.most == most
    assert bool(found.kinds) == bool(most or given["users"][0].get("max_tasks") == 0)


def test_types_that_fit_somewhere_are_named_by_their_numbers():
    users = {"demand": {"a": 1}}, UNUSED, TYPES | {"machines": ["n"]}
    one, two, three = whole.sequences(cluster.Cluster(data(*users, machines=RACK)))
    assert (one.names, one.counts, one.fits) == (["A"], (1,), [[0, 1]])
    assert (two.names, two.counts, two.fits) == (["B:1"], (3,), [[0, 1]])
    assert (three.names, three.counts, three.fits) == (["C:0", "C:1"], (2, 3), [[1], [1]])
    with pytest.raises(ValueError, match="called what a type of another is"):
        whole.sequences(cluster.Cluster(data(TYPES, {"name": "A:1", "demand": {"a": 1}})))


def test_the_largest_number_is_found():
    for high in range(9):
        for edge in range(9):
            assert whole._largest(high, lambda x, edge=edge: x <= edge) == min(high, edge)


# ---- packings --------------------------------------------------------------------------------------------------------


def packed(k, machines, tasks, **devices):
    return {"class": k, "machines": machines, "tasks": tasks} | ({"devices": devices} if devices else {})


NEEDS = {"A": [F(2), F(1), F(0)], "B": [F(1), F(0), F(2, 3)], "C": [F(0), F(0), F(2)], "D": [F(0), F(0), F(3)]}
FITS = {"A": [0, 1], "B": [1], "C": [1], "D": []}

PACKINGS = [
    ({"A": 2}, [packed("m", 2, {"A": 1})], []),
    ({"A": 2}, [packed("m", 1, {"A": 1}), packed("m", 1, {"A": 1})], []),
    ({"A": 3}, [packed("m", 2, {"A": 1}), packed("n", 1, {"A": 1})], []),
    ({"A": 2}, [packed("m", 1, {"A": 1})], ["A: 2 tasks, 1 packed"]),
    ({"A": 1}, [packed("m", 2, {"A": 1})], ["A: 1 tasks, 2 packed"]),
    ({"A": 1}, [packed("m", "1/2", {"A": 2})], ["m: 1/2 machines with 2 tasks", "a machine of m: 4 of 3 a"]),
    ({"A": 1}, [packed("m", 2, {"A": "1/2"})], ["m: 2 machines with 1/2 tasks"]),
    ({"A": 1}, [packed("m", -1, {"A": -1})], ["m: -1 machines with -1 tasks"]),
    ({"A": 1}, [packed("m", 1, {"A": 2}), packed("m", 1, {"A": -1})], [
        "m: 1 machines with -1 tasks", "a machine of m: 4 of 3 a"]),
    ({"A": 1}, [packed("m", 2, {"A": 1}), packed("m", -1, {"A": 1})], ["m: -1 machines with 1 tasks"]),
    ({"A": 3}, [packed("m", 3, {"A": 1})], ["3 machines of m, of 2"]),
    ({"A": 3}, [packed("m", 2, {"A": 1}), packed("m", 1, {"A": 1})], ["3 machines of m, of 2"]),
    ({"A": 2}, [packed("n", 1, {"A": 2})], ["a machine of n: 2 of 1 b"]),
    ({"B": 1}, [packed("m", 1, {"B": 1})], ["B does not fit on m", "a machine of m: 2/3 of 0 g"]),
    ({"D": 1}, [packed("n", 1, {"D": 1})], ["D does not fit on n"]),
    ({"B": 0, "A": 1}, [packed("m", 1, {"B": 0, "A": 1})], []),
    ({"B": 2}, [packed("n", 1, {"B": 2}, g=[{"B": 2}])], []),
    ({"B": 3}, [packed("n", 1, {"B": 3}, g=[{"B": 3}])], []),
    ({"B": 4}, [packed("n", 1, {"B": 4}, g=[{"B": 3}, {"B": 1}])], []),
    ({"B": 4}, [packed("n", 1, {"B": 4}, g=[{"B": 4}])], ["a machine of n: 4/3 of one g"]),
    ({"B": 2}, [packed("n", 1, {"B": 2})], ["a machine of n: not all 2 tasks of B are on one g each"]),
    ({"B": 2}, [packed("n", 1, {"B": 2}, g=[{"B": 1}])], ["a machine of n: not all 2 tasks of B are on one g each"]),
    ({"B": 1}, [packed("n", 1, {"B": 1}, g=[{"B": 1}, {"B": 1}])], [
        "a machine of n: not all 1 tasks of B are on one g each"]),
    ({"B": 3}, [packed("n", 1, {"B": 3}, g=[{"B": 1}] * 3)], ["a machine of n: 3 devices of 2 g"]),
    ({"B": 1, "C": 1}, [packed("n", 1, {"B": 1, "C": 1}, g=[{"B": 1}])], []),
    ({"B": 2, "C": 1}, [packed("n", 1, {"B": 2, "C": 1}, g=[{"B": 1}] * 2)], ["a machine of n: 3 devices of 2 g"]),
    ({"C": 2}, [packed("n", 1, {"C": 2})], []),
    ({"C": 3}, [packed("n", 1, {"C": 3})], ["a machine of n: 6 of 4 g", "a machine of n: 3 devices of 2 g"]),
    ({"B": 1}, [packed("n", 1, {"B": 1}, g=[{"B": 2}, {"B": -1}])], [
        "a machine of n: a shared g carries tasks that cannot be"]),
    ({"B": 1}, [packed("n", 1, {"B": 1}, g=[{"B": "1/2"}, {"B": "1/2"}])], [
        "a machine of n: a shared g carries tasks that cannot be"]),
    ({"B": 1}, [packed("n", 1, {"B": 1}, g=[{"B": 1, "C": 1}])], [
        "a machine of n: a shared g carries tasks that cannot be"]),
    ({"A": 1, "B": 1}, [packed("n", 1, {"A": 1, "B": 1}, g=[{"B": 1, "A": 0}])], []),
    ({"A": 1, "B": 1}, [packed("n", 1, {"A": 1, "B": 1}, g=[{"B": 1, "A": 7}])], []),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "packing", "faults"), PACKINGS)
def test_a_packing_is_what_the_machines_hold(asked, packing, faults):
    c = cluster.Cluster(data({"demand": {"a": 2, "b": 1}}, machines=RACK))
    assert c.resources == ["a", "b", "g"]
    rows = {name: (NEEDS[name], FITS[name], n) for name, n in asked.items()}
    assert sorted(whole.unpacked(c, rows, packing)) == sorted(faults)


# ---- the search of a pool --------------------------------------------------------------------------------------------


def test_what_is_compared_of_whole_tasks():
    rates, weights = [F(1, 2), F(2)], [F(1), F(2)]
    for tasks in itertools.product(range(4), repeat=2):
        levels = [tasks[0] * F(1, 2), tasks[1] * F(2)]
        assert whole.score("leximin", rates, weights)(tasks) == sorted(levels)
        assert whole.score("sum", rates, weights)(tasks) == sum(levels)
        for each in ([F(1), F(2)], [F(3), F(6)], [F(1, 3), F(2, 3)]):
            served = [(x or 1) ** p for x, p in zip(tasks, (1, 2), strict=True)]
            assert whole.score("alpha", rates, each)(tasks) == (sum(x > 0 for x in tasks), math.prod(served))
    assert whole.score("alpha", [], [])([]) == (0, 1)
    assert whole.score("alpha", rates, [F(1), F(whole.POWER)])([3, 2]) == (2, 3 * 2**whole.POWER)
    assert whole.score("alpha", rates, [F(1), F(whole.POWER + 1)]) is None


SEARCHED = [
    ([[1, 2], [3, 1]], [7, 6], [None, None]),
    ([[1, 2], [3, 1]], [7, 6], [F(3, 2), 1]),
    ([[2, 0], [1, 1], [0, 3]], [5, 4], [None, 2, None]),
    ([[2, 0], [1, 1], [0, 3]], [0, 4], [None, None, 0]),
]


@pytest.mark.parametrize("kind", ["leximin", "sum", "alpha"])
@pytest.mark.parametrize(("demands", "room", "most"), SEARCHED)
def test_nothing_is_better_where_no_other_tasks_are(kind, demands, room, most):
    n = len(demands)
    demands, room = [[F(d) for d in row] for row in demands], [F(c) for c in room]
    value = whole.score(kind, [F(1), F(1, 2), F(3)][:n], [F(1), F(2), F(1)][:n])
    limits = [9 if u is None else math.floor(u) for u in most]
    every = [
        list(x)
        for x in itertools.product(*(range(limit + 1) for limit in limits))
        if all(sum(k * row[j] for k, row in zip(x, demands, strict=True)) <= c for j, c in enumerate(room))
    ]
    for own in every:
        found = whole.better(demands, room, most, own, value)
        if any(value(x) > value(own) for x in every):
            assert found in every and value(found) > value(own)
        else:
            assert found is None


def test_a_search_of_a_pool_ends(monkeypatch):
    def searched(n, room=0):
        rows = [[F(2)], [F(3)], *[[F(1)]] * (n - 2)]
        return whole.better(rows, [F(room)], [None] * n, [room // 2] + [0] * (n - 1), lambda x: 2 * x[0] + 3 * x[1])

    assert searched(100) is None
    assert searched(101) == "101 users are too many to look at everything they could have"
    # All that is there is used: of every number of the first user's tasks one look is enough.
    monkeypatch.setattr(whole, "BRANCHES", 2_000)
    assert searched(2, 2 * 1_998) is None
    assert searched(2, 2 * 1_999) == "more than 2000 branches would have to be looked at"
    # The last look that is allowed finds what is better.
    rows = [[F(2)], [F(3)]]
    assert whole.better(rows, [F(3_994)], [None] * 2, [0, 0], lambda x: x[1] == 1_331) == [0, 1_331]
    assert "more than 2000" in whole.better(rows, [F(3_996)], [None] * 2, [0, 0], lambda x: x[1] == 1_332)
    assert whole.better([[F(1)]], [F(9_999)], [None], [0], sum) == [9_999]
