"""Small parts of the verifier, each against all that it may be given and what that means by its definition."""

import itertools
from collections import defaultdict
from fractions import Fraction as F
from types import SimpleNamespace

import pytest

from drfopt.certificates.verifier.groups import incomes, tree, turns
from drfopt.certificates.verifier.paths import Knot, at_level, bent, between, counted, first, last
from drfopt.certificates.verifier.rounds import above

# ---- the tree of groups ----------------------------------------------------------------------------------------------

PATHS = ("", "g", "g/h", "k")


def clusters():
    """Users in some groups, of which one is named on the way only and one may be empty, with tiers and weights of 0."""
    for paths in itertools.product(PATHS, repeat=3):
        for g, h, k, user in itertools.product(((0, 3), (1, 2)), ((0, 0), (2, 5)), ((0, 3), (-1, 1)), ((0, 2), (1, 4))):
            given = [{"name": name, "tier": t, "weight": w} for name, (t, w) in zip(("g/h", "k"), (h, k), strict=True)]
            given += [{"name": "g", "tier": g[0], "weight": g[1]}] if g[0] else []
            ranks = [(0, False), (-user[0], False), (0, True)]
            weights = [[F(1), F(9)], [F(user[1]), F(7)], [F(3), F(8)]]
            yield SimpleNamespace(groups=given, paths=list(paths), rank=ranks, w=weights, users=["A", "B", "C"])


def chain(cluster, i):
    """The nodes above a user and the user itself, as their places among siblings: name, rank, weight."""
    given, steps = {group["name"]: group for group in cluster.groups}, []
    parts = cluster.paths[i].split("/") if cluster.paths[i] else []
    for k in range(len(parts)):
        group = given.get("/".join(parts[: k + 1]), {})
        weight = group.get("weight", 1)
        steps.append(("/".join(parts[: k + 1]), (-group.get("tier", 0), weight == 0), F(weight or 1)))
    return [*steps, (i, cluster.rank[i], cluster.w[i][0])]


def before(cluster, i, j):
    """-1, 0 or 1 as i comes before j, with it or after it: where their ways part."""
    one, other = next((a, b) for a, b in zip(chain(cluster, i), chain(cluster, j), strict=False) if a[0] != b[0])
    return (one[1] > other[1]) - (one[1] < other[1])


def test_turns_are_the_order_where_the_ways_of_two_part():
    answers = set()
    for cluster in clusters():
        same = {(i, j) for i, j in itertools.product(range(3), repeat=2) if i == j or not before(cluster, i, j)}
        found = turns(cluster)
        answers.add(found is None)
        if any((i, k) not in same for i, j in same for other, k in same if j == other):
            assert found is None
            continue
        assert sorted(set(found)) == list(range(max(found) + 1))
        for i, j in itertools.permutations(range(3), 2):
            assert (found[i] > found[j]) - (found[i] < found[j]) == before(cluster, i, j)
    assert answers == {True, False}


def test_incomes_are_parts_by_weight_of_what_those_have_who_come_at_once():
    for cluster in clusters():
        beside = defaultdict(dict)
        for i in range(3):
            way = chain(cluster, i)
            for parent, (name, rank, weight) in zip(["", *(step[0] for step in way)], way, strict=False):
                beside[parent, rank][name] = weight
        # A group without users is a sibling too.
        for group in cluster.groups:
            parent = group["name"].rpartition("/")[0]
            beside[parent, (-group["tier"], not group["weight"])][group["name"]] = F(group["weight"] or 1)
        for i, found in enumerate(incomes(cluster)):
            has, way = F(1), chain(cluster, i)
            for parent, (_, rank, weight) in zip(["", *(step[0] for step in way)], way, strict=False):
                has *= weight / (sum(beside[parent, rank].values()) if parent else 1)
            assert found == has


def test_a_tree_has_every_group_once_under_the_one_it_is_named_in():
    cluster = SimpleNamespace(groups=[{"name": "a/b/c"}, {"name": "d"}], paths=["a/b/c", "a", "", "e/f"])
    names = {}

    def look(group):
        names[group.name] = (group.users, [child.name for child in group.groups])
        for child in group.groups:
            look(child)

    look(tree(cluster))
    assert names == {
        "": ([2], ["a", "d", "e"]), "a": ([1], ["a/b"]), "a/b": ([], ["a/b/c"]), "a/b/c": ([0], []), "d": ([], []),
        "e": ([], ["e/f"]), "e/f": ([3], []),
    }  # fmt: skip
    with pytest.raises(ValueError, match="two groups have one name"):
        tree(SimpleNamespace(groups=[{"name": "a"}, {"name": "a"}], paths=[]))


# ---- paths -----------------------------------------------------------------------------------------------------------

POINTS = [
    [{0: F(a), 1: F(b)} for a, b in zip((0, *ups), (0, *sides), strict=True)]
    for ups in ((1, 3), (2, 2), (0, 4))
    for sides in ((2, 2), (0, 1), (1, 5))
]
ROWS = [
    [({0: F(1)}, F(0)), ({0: F(2), 1: F(1)}, F(3))],
    [({0: F(1, 2), 1: F(1)}, F(0)), ({1: F(3)}, F(2)), ({0: F(4)}, F(5))],
    [({0: F(1), 1: F(1)}, F(0)), ({0: F(1), 1: F(1)}, F(1)), ({}, F(0))],
    [({0: F(1)}, F(0)), ({1: F(1)}, F(0)), ({0: F(1, 2), 1: F(1, 2)}, F(0))],
]


def level(rows, tasks):
    return max(sum(row.get(i, 0) * x for i, x in tasks.items()) - offset for row, offset in rows)


def on_way(one, other, way):
    return {i: one[i] + way * (other[i] - one[i]) for i in one}


def test_a_path_bends_where_another_row_is_the_largest_and_nowhere_else():
    for points, rows in itertools.product(POINTS, ROWS):
        expected = [(level(rows, points[0]), points[0])]
        for one, other in itertools.pairwise(points):
            values = [[sum(row.get(i, 0) * t[i] for i in t) - o for row, o in rows] for t in (one, other)]
            ways = {
                (b - a) / ((v - a) - (w - b))
                for (a, v), (b, w) in itertools.combinations(zip(*values, strict=True), 2)
                if v - a != w - b
            }
            for way in sorted(way for way in ways if 0 < way < 1):
                step = min([abs(way - u) for u in {*ways, F(0), F(1)} if u != way]) / 2
                left, here, right = (level(rows, on_way(one, other, u)) for u in (way - step, way, way + step))
                if left + right != 2 * here:
                    expected.append((here, on_way(one, other, way)))
            expected.append((level(rows, other), other))
        assert list(bent(points, rows)) == expected


def test_what_is_between_two_knots_is_on_the_line():
    path = [Knot(F(0), {0: F(0), 1: F(1)}), Knot(F(2), {0: F(4), 1: F(1)}), Knot(F(3), {0: F(4), 1: F(7)})]
    told = {-1: (0, 1), 0: (0, 1), 1: (2, 1), F(3, 2): (3, 1), F(5, 2): (4, 4), F(17, 6): (4, 6), 3: (4, 7), 9: (4, 7)}
    for at, (a, b) in told.items():
        assert at_level(path, F(at)) == {0: a, 1: b}
    assert at_level(path[:1], F(5)) == {0: 0, 1: 1}
    assert between(path[0].tasks, path[2].tasks, F(1, 2)) == {0: 2, 1: 4}
    assert counted([F(3), F(0)])(path[2].tasks) == 12
    assert counted([F(3), F(2)])(path[2].tasks) == 26


def way_found(points, held, amount, at, found):
    """Judge what was found of an amount that is passed on the way to point `at`, and return how far on that way."""
    if at is None:
        assert found is None
        return None
    if not at:
        assert found == (0, 0, points[0])
        return None
    way = (amount - held[at - 1]) / (held[at] - held[at - 1])
    assert found == (at - 1, way, on_way(points[at - 1], points[at], way))
    return way


def test_a_path_first_comes_to_an_amount_where_it_had_less_before():
    for points, each in itertools.product(POINTS, ([F(1), F(1)], [F(2), F(0)], [F(1, 3), F(2)])):
        count = counted(each)
        for amount in (F(0), F(1), F(3, 2), F(4), count(points[1]), count(points[-1]), F(99)):
            found, held = first(points, count, amount), [count(tasks) for tasks in points]
            at = next((at for at, h in enumerate(held) if h >= amount), None)
            if (way := way_found(points, held, amount, at, found)) is not None:
                assert 0 < way <= 1
                assert count(found.tasks) == amount


def test_a_path_stays_at_an_amount_as_long_as_it_has_no_more():
    for points, each in itertools.product(POINTS, ([F(1), F(1)], [F(2), F(0)], [F(1, 3), F(2)])):
        count = counted(each)
        for amount in (F(-1), F(0), F(1), F(3, 2), F(4), count(points[1]), count(points[-1]), F(99)):
            found, held = last(points, count, amount), [count(tasks) for tasks in points]
            at = next((at for at, h in enumerate(held) if h > amount), None)
            if (way := way_found(points, held, amount, at, found)) is not None:
                assert 0 <= way < 1
                assert count(found.tasks) == amount


# ---- levels ----------------------------------------------------------------------------------------------------------


def test_one_number_is_above_another_whatever_floats_make_of_them():
    some = [F(0), F(1, 3), F(1, 3) + F(1, 10**30), F(-1), F(-1) - F(1, 10**30), F(10**400), F(10**400 + 1), F(2)]
    for one, other in itertools.product(some, repeat=2):
        assert above(one, other) == (one > other)
