"""The clock of groups in the verifier: jumps by hand, and the answers of many small organisations, and no others."""

import contextlib
import itertools
from fractions import Fraction as F

import pytest
from test_verifier_mutants import file_of, without_levels
from test_verifier_stops import ROUNDED, claim_of

from drfopt import Group, Instance, Machine, Organisation
from drfopt.base.errors import InstanceError, PolicyError
from drfopt.certificates.verifier import verify
from drfopt.certificates.verifier.clock import RuleClock, by_the_clock
from drfopt.certificates.verifier.order import rounds_of
from drfopt.certificates.verifier.paths import Knot

# ---- jumps -----------------------------------------------------------------------------------------------------------


def clock_of(*shares):
    found = object.__new__(RuleClock)
    found.shares = dict(enumerate(shares))
    return found


def tasks(*each):
    return dict(enumerate(map(F, each)))


JUMP = [tasks(1, 1), tasks(1, 3), tasks(1, 3), tasks(4, 3)]
"""Of shares 2 and 1: from 3 over 5 to 11."""


def test_of_a_jump_so_much_is_gained_as_it_is_by_shares_and_weight():
    clock = clock_of(F(2), F(1))
    points = {0: (1, 1), 1: (1, 2), 2: (1, 3), 5: (F(5, 2), 3), 8: (4, 3), 9: (4, 3)}
    for weight in (F(1), F(2)):
        gains = clock.gained(JUMP, weight)
        assert gains == [0, 2 / weight, 2 / weight, 8 / weight]
        assert {gain: clock.having_gained(gain / weight, JUMP, gains) for gain in points} == {
            gain: tasks(*each) for gain, each in points.items()
        }
    assert clock.gained(JUMP[1:], F(1)) == [0, 0, 6]
    assert clock.having_gained(F(3), JUMP[1:], [F(0), F(0), F(6)]) == tasks(F(5, 2), 3)
    for still, gains in (([], []), (JUMP[:1], [0]), ([JUMP[0]] * 2, [0, 0])):
        assert clock.gained(still, F(1)) == gains
        assert not still or [clock.having_gained(F(gain), still, gains) for gain in (0, 1)] == [JUMP[0]] * 2


def test_who_jump_at_one_level_gain_the_same_and_others_wait_on_their_way():
    clock = clock_of(F(2), F(1), F(1), F(5))
    one = [Knot(F(0), tasks(0, 1)), Knot(F(1), tasks(1, 1)), Knot(F(1), tasks(1, 3)), Knot(F(1), tasks(4, 3))]
    other = [Knot(F(0), {2: F(0)}), Knot(F(1), {2: F(2)}), Knot(F(1), {2: F(6)}), Knot(F(2), {2: F(7)})]
    later = [Knot(F(0), {3: F(0)}), Knot(F(1), {3: F(1)})]
    for weight, jump in (
        (1, [(1, 1, 2), (1, 3, 4), (2, 3, 6), (4, 3, 6)]),
        (2, [(1, 1, 2), (1, 3, 6), (4, 3, 6)]),
        (F(1, 2), [(1, 1, 2), (1, 3, 3), (4, 3, 6)]),
    ):
        found = clock.together([[(one, F(1)), (other, F(weight))], [(later, F(1))]], tasks(0, 1, 0, 0))
        first = [(0, (0, 1, 0, 0)), *((1, (*each, 0)) for each in jump), (2, (4, 3, 7, 0))]
        rest = [(0, (4, 3, 7, 0)), (1, (4, 3, 7, 1))]
        assert found == [Knot(F(level), tasks(*each)) for level, each in (*first, *rest)]
    # Who does not jump is on its way there, and a path that begins later waits.
    slow = [Knot(F(0), {2: F(0)}), Knot(F(2), {2: F(4)})]
    high = [Knot(F(1, 2), {3: F(3)}), Knot(F(1), {3: F(5)})]
    found = clock.together([[(path, F(1)) for path in (one, slow, high)]], tasks(0, 1, 0, 3))
    assert [knot.level for knot in found] == [0, F(1, 2), 1, 1, 1, 2]
    assert [tuple(knot.tasks.values()) for knot in found] == [
        (0, 1, 0, 3), (F(1, 2), 1, 1, 3), (1, 1, 2, 5), (1, 3, 2, 5), (4, 3, 2, 5), (4, 3, 4, 5)]  # fmt: skip


# ---- levels of groups ------------------------------------------------------------------------------------------------

GIVEN = [
    ({"a": F(1, 2)}, {"group": "g", "weight": 3}),
    ({"a": 1, "b": 2}, {"group": "g"}),
    ({"b": 1}, {"group": "g", "max_tasks": 0}),
]


def ruled(policy="drf", weight=2, **more):
    users = [({r: str(v) for r, v in d.items()}, keys) for d, keys in GIVEN]
    groups = [{"name": "g", "weight": weight, "guarantee": {"a": 1}}]
    claim = claim_of(users, {"a": 4, "b": 8, "c": 0}, (0, 0, 0), policy=policy, groups=groups, **more)
    return RuleClock(claim)


def test_who_plays_could_have_twice_what_it_could_run_alone_and_gains_all_its_shares():
    clock = ruled()
    assert clock.plays == [0, 1]
    assert clock.most == {0: 16, 1: 8}
    assert clock.shares == {0: F(1, 8), 1: F(1, 2)}
    assert RuleClock(claim_of([({"a": 1, "b": 1}, {})], {"a": 4, "b": 6}, [0])).most == {0: 8}


@pytest.mark.parametrize(("policy", "more", "rows"), [
    ("drf", {}, [((F(1, 16), F(1, 8)), 0), ((0, F(1, 8)), 0)]),
    ("drf", {"weight": 0}, [((F(1, 8), F(1, 4)), 0), ((0, F(1, 4)), 0)]),
    ("drf", {"excluded": ["a"]}, [((0, F(1, 8)), 0)]),
    ("drf", {"guarantees": "surplus"}, [((F(1, 16), F(1, 8)), F(1, 8)), ((0, F(1, 8)), 0)]),
    ("drf", {"guarantees": "normalised"}, [((F(1, 4), F(1, 2)), 0), ((0, F(1, 8)), 0)]),
    ("asset", {}, [((F(1, 16), F(1, 4)), 0)]),
    ("asset", {"guarantees": "surplus"}, [((F(1, 16), F(1, 4)), F(1, 8))]),
    ("single:b", {}, [((0, F(1, 8)), 0)]),
    ("single:a", {}, [((F(1, 16), F(1, 8)), 0)]),
    ("tasks", {}, [((F(1, 2), F(1, 2)), 0)]),
    ("throughput", {}, [((F(1, 2), F(1, 2)), 0)]),
])  # fmt: skip
def test_the_level_of_a_group_is_what_its_users_hold_by_its_weight(policy, more, rows):
    clock = ruled(policy, **more)
    assert clock.rows(clock.root.groups[0]) == [(dict(enumerate(row)), offset) for row, offset in rows]


def test_a_group_of_whose_resources_none_counts_has_no_level():
    clock = ruled(excluded=["a", "b"])
    assert clock.rows(clock.root.groups[0]) == [({}, 0)]


def test_who_has_no_place_or_is_at_its_limit_is_on_no_path():
    clock = ruled()
    group, has = clock.root.groups[0], {0: F(0), 1: F(8)}
    assert clock.inner(group, has, clock.most) == [Knot(F(0), {0: 0, 1: 8}), Knot(F(2, 3), {0: 16, 1: 8})]
    assert clock.onward(dict(clock.most), set(), False) == []
    assert clock.onward({0: F(0), 1: F(0)}, {0, 1}, False) == []
    assert [path[0] for path in clock.onward({0: F(0), 1: F(8)}, set(), False)] == [0, 16]
    clock.promised = {0: F(2), 1: F(4)}
    assert clock.onward({0: F(0), 1: F(0)}, set(), True) == [{0: 0, 1: 0}, {0: 2, 1: 4}]
    assert clock.onward({0: F(1), 1: F(0)}, {1}, True) == [{0: 1, 1: 0}, {0: 2, 1: 0}]


# ---- promises of groups ---------------------------------------------------------------------------------------------

A, B, C = {"a": 1}, {"b": 1}, {"c": 1}
"""Of a there are 10, of b 20, of c 10."""


def promised(users, **groups):
    given = [{"name": name.replace("_", "/"), "guarantee": room} for name, room in groups.items()]
    return claim_of(users, {"a": 10, "b": 20, "c": 10}, [0] * len(users), groups=given)


@pytest.mark.parametrize(("users", "groups", "expected"), [
    ([({"a": 2}, "g"), (A, "")], {"g": {"a": 4}}, (2, 0)),
    ([(A, "g"), (B, "g")], {"g": {"a": 4, "b": 2}}, (1, 2)),  # b is used up at level 1/10
    ([(A, "g"), (B, "g")], {"g": {"a": 4}}, (4, 8)),  # who needs none of it comes to the same level
    ([(A, "g", 2), (B, "g")], {"g": {"a": 4}}, (2, 4)),  # A is at its limit before a is used up
    ([(A, "g"), (B, "g")], {"g": {"c": 5}}, (0, 0)),
    ([(A, "g/h"), (B, "g")], {"g_h": {"a": 4}, "g": {"a": 4}}, (4, 0)),
    ([(A, "g/h"), (A, "g")], {"g_h": {"a": 4}, "g": {"a": 3}}, (4, 0)),
    ([(A, "g/h"), (A, "g")], {"g_h": {"a": 4}, "g": {"a": 6}}, (4, 2)),
    ([(A, "g/h"), (A, "g")], {"g_h": {"a": 4}, "g": {"a": 4, "b": 2}}, (4, 0)),
    ([(A, "g", 2), (B, "g", 3), (C, "g")], {"g": {"a": 4, "b": 10}}, (2, 3, 2)),
    ([(A, "g", 2), (B, "g", 10), (C, "g")], {"g": {"a": 4, "b": 10}}, (2, 10, 5)),
    ([(A, "g", 2, 2), (B, "g")], {"g": {"a": 4}}, (2, 0)),  # A has all it may have before
    ([(A, "g", 2, 2), (B, "g"), (A, "g")], {"g": {"a": 4}}, (2, 4, 2)),
    ([(A, "g", 2, 2)], {"g": {"a": 4}}, (2,)),
    ([(A, "g"), (B, "g")], {"g": {"a": 4, "b": 8}}, (4, 8)),
    ([(A, "g"), (A, "g"), (B, "g")], {"g": {"b": 4, "a": 3}}, (F(3, 2), F(3, 2), 3)),
    ([(A, "g"), (A, "g"), (B, "g", 3)], {"g": {"a": 4, "b": 10}}, (2, 2, 3)),
    ([({"a": "1/2"}, "g")], {"g": {"a": 4}}, (8,)),
])  # fmt: skip
def test_a_guarantee_of_a_group_promises_what_its_users_have_when_it_is_used_up(users, groups, expected):
    keys = [dict(zip(("group", "max_tasks", "guarantee"), more, strict=False)) for _, *more in users]
    for row in keys:
        row |= {"guarantee": {"a": row["guarantee"]}} if "guarantee" in row else {}
    claim = promised([(d, row) for (d, *_), row in zip(users, keys, strict=True)], **groups)
    assert tuple(RuleClock(claim).promised.values()) == expected


def test_who_needs_nothing_of_a_guarantee_is_promised_more_than_it_could_run_where_its_weight_says_so():
    claim = promised([(A, {"group": "g"}), (B, {"group": "g", "weight": 10})], g={"a": 4})
    assert RuleClock(claim).promised == tasks(4, 80)


@pytest.mark.parametrize(("keys", "using", "most", "level", "expected"), [
    # A ends at level 4/10; B, of weight 10, and C are at it with 80 and 8 tasks, which hold 88/20 together.
    (({}, {"weight": 10}, {}), {0}, (4, 1, 1), F(44, 10), (4, 80, 8)),
    (({}, {"weight": 10}, {}), {0}, (4, 90, 9), F(99, 20), (4, 90, 9)),
    (({}, {"weight": 10}, {"max_tasks": 5}), {0}, (4, 1, 1), F(81, 20), (4, 80, 1)),
    (({}, {"weight": 10}, {}), {0, 1}, (4, 100, 1), F(110, 20), (4, 100, 10)),
    (({}, {"weight": 10}, {"tier": -1}), {0}, (4, 1, 1), F(81, 20), (4, 80, 1)),
    (({}, {}, {}), set(), (4, 1, 1), None, (4, 1, 1)),
    (({}, {}, {"max_tasks": 0}), set(), (4, 1), None, (4, 1)),
    (({}, {}, {"max_tasks": 0}), {0}, (4, 1), F(4, 10), (4, 8)),
    # In a group nobody has more than the level allows the group by that one alone; the weight of h is 2.
    (({}, {"group": "g/h"}, {"group": "g/h"}), {0}, (4, 1, 1), F(32, 20), (4, 16, 16)),
    (({"group": "g/h"}, {}, {}), {0}, (4, 1, 1), F(8, 20), (4, 4, 4)),
    (({"group": "g/h"}, {"group": "g/h"}, {}), {0}, (4, 1, 1), F(12, 20), (4, 8, 4)),
])  # fmt: skip
def test_who_needs_nothing_of_a_guarantee_comes_to_where_its_users_end(keys, using, most, level, expected):
    users = [(d, {"group": "g", **row}) for d, row in zip((A, B, B), keys, strict=True)]
    groups = [{"name": "g"}, {"name": "g/h", "weight": 2}]
    clock = RuleClock(claim_of(users, {"a": 10, "b": 20}, [0] * 3, groups=groups))
    found = tasks(*most)
    assert clock.let_rise(clock.root.groups[0], found, using) == level
    assert tuple(found.values()) == expected


def test_of_several_resources_that_one_counts_by_which_less_is_allowed():
    users = [(A, {"group": "g"}), ({"a": 1, "b": 4}, {"group": "g"}), ({"a": 1, "b": 4}, {"group": "g/h"})]
    users[1][1]["guarantee"] = {"b": 4}
    groups = [{"name": "g", "guarantee": {"b": 2}}, {"name": "g/h", "guarantee": {"b": 2}}]
    clock = RuleClock(claim_of(users, {"a": 10, "b": 20}, [0] * 3, groups=groups, guarantees="surplus"))
    found = tasks(4, 0, 0)
    # Above 4 b that it is promised the second has 8 at 4/10, and the third 8 above the 2 of its group.
    assert clock.let_rise(clock.root.groups[0], found, {0}) == F(3 + F(5, 2)) * F(1, 5) - F(1, 10)
    assert found == tasks(4, 3, F(5, 2))
    # With 3 of b the second is at 4/10 as well.
    found = tasks(0, 3, 0)
    assert clock.let_rise(clock.root.groups[0], found, {1}) == 1
    assert found == tasks(4, 3, F(5, 2))


# ---- stops -----------------------------------------------------------------------------------------------------------


def test_groups_that_rise_at_one_level_gain_by_their_weights_and_who_runs_nothing_is_not_asked():
    """At level 1/2 those of the first tier end, of two groups, and the others need nothing that counts by then."""
    for weight, most, jumps in ((1, 5, [(4, 4)]), (2, 10, [(4, 2), (4, 4)])):
        users = [
            (A, {"group": "g", "tier": 1, "max_tasks": most}), (B, {"group": "g", "max_tasks": 4}),
            (A, {"group": "h", "tier": 1, "max_tasks": 5}), (B, {"group": "h", "max_tasks": 4}),
        ]  # fmt: skip
        groups = [{"name": "g", "weight": weight}, {"name": "h"}]
        clock = RuleClock(claim_of(users, {"a": 10, "b": 20}, [0] * 4, groups=groups))
        points = [(0, (0, 0, 0, 0)), *((F(1, 2), (most, b, 5, d)) for b, d in [(0, 0), *jumps])]
        assert clock.inner(clock.root, tasks(0, 0, 0, 0), clock.most) == [Knot(F(t), tasks(*x)) for t, x in points]
    for members in ([(A, {"group": "g", "max_tasks": 0})], [(A, {"group": "g", "max_tasks": 0}), (A, {"group": "g"})]):
        users = [*members, (B, {})]
        clock = RuleClock(claim_of(users, {"a": 10, "b": 20}, [0] * len(users), groups=[{"name": "g"}]))
        assert set(clock.inner(clock.root, dict.fromkeys(clock.plays, F(0)), clock.most)[-1].tasks) == set(clock.plays)


@pytest.mark.parametrize(("excluded", "bundle", "expected"), [
    # Of b, the only resource that counts, A and B hold 8 less than they are promised until they have 4 and 8 tasks.
    (["a"], {"a": 1, "b": 8}, (F(10, 3), F(20, 3))),
    (["a"], {"b": 4}, (F(10, 3), F(20, 3))),
    ([], {"a": 1, "b": 8}, (5, 5)),
])  # fmt: skip
def test_a_resource_that_a_user_does_not_need_is_in_no_level_of_it(excluded, bundle, expected):
    """There is c as well, of which nobody needs any, so that its surplus would be 0 at once and for long."""
    rules = Organisation(
        paths={"A": "g", "B": "g"}, groups=[Group("g")], meaning="surplus", guarantees=dict.fromkeys("AB", bundle),
        excluded=excluded)  # fmt: skip
    room = {"a": 10, "b": 20, "c": 10}
    users = {"A": {"a": 1, "b": 2}, "B": {"a": 1, "b": 1}}
    found = file_of(Instance(users, capacity=room, organisation=rules), "drf", exact=True)
    assert tuple(F(user["tasks"]) for user in found["users"]) == expected
    assert verify(found).valid is True


def told(users, room, x, steps=(), e=0, **more):
    """What the clock says is wrong, by names, with rounds of who is finished and prices of a and b on m (and n)."""
    rounds = [
        {"finished": list(names), "prices": {k: dict(zip("ab", map(str, row), strict=True)) for k, row in p.items()}}
        for names, p in steps
    ]
    claim = claim_of(users, room, x, e, proof={"rounds": rounds} if rounds else {}, **more)
    given, clock = rounds_of(claim, "rounds")[0], RuleClock(claim)
    return "".join(name[0] for name in (clock.near_stops(given, True) if e else clock.stops(given)))


TWO = {"a": 2, "b": 4}
LIMITS = [(A, {"max_tasks": 1}), (B, {"max_tasks": 3})]


@pytest.mark.parametrize("e", [0, F(1, 10)])
def test_where_nobody_is_stopped_everybody_comes_to_its_limit(e):
    for x, wrong in (((1, 3), ""), ((F(8, 10), 3), "A"), ((F(10, 11), 3), "" if e else "A"), ((1, 4), "B")):
        assert told(LIMITS, {"m": TWO}, x, (), e) == wrong
    assert told(LIMITS, TWO, (1, 3)) == ""


def test_at_one_moment_all_are_stopped_who_pay_for_what_is_used_up():
    users = [(A, {}), (B, {})]
    for room in (TWO, {"m": TWO}):
        steps = [("A", {"m": (1, 0)}), ("B", {"m": (0, 1)})]
        assert told(users, room, (2, 4), steps) == ""
        assert told(users, room, (2, 3), steps) == "B"
        assert told([*users, (A, {})], room, (1, 4, 1), steps) == ""
    # Of a much is left when b is used up.
    assert told(users, {"m": {"a": 2, "b": 0}}, (2, 0), steps) == ""


AAB = [(A, {}), (A, {}), (B, {})]
AB, ONLY_B = {"m": (1, 0)}, {"m": (0, 1)}
THEN_B = ("C", ONLY_B)
R = ROUNDED


@pytest.mark.parametrize(("x", "steps", "wrong"), [
    ((1, 1, 4), [("AB", AB), THEN_B], ""),
    ((1, 1, 2), [("ABC", AB)], "C"),  # C does not pay
    ((1, 1, 4), [("AB", AB)], "C"),
    ((1, 1, 4), [THEN_B, ("AB", AB)], "AB"),  # When b is used up they would have 2 each.
    ((F(95, 100), F(105, 100), 4), [("AB", AB), THEN_B], ""),
    ((F(8, 10), F(12, 10), 4), [("AB", AB), THEN_B], "AB"),
    ((F(95, 100), F(95, 100), 4), [("AB", AB), THEN_B], "AB"),  # on what is left each could rise by more than a tenth
    ((1, F(3, 2), 4), [("A", AB), ("B", AB), THEN_B], "BB"),  # B has more than at the stop of A
    ((F(10, 11) * (1 + R), (1 + R) / F(9, 10), 4), [("AB", AB), THEN_B], ""),
    ((F(10, 11) * (1 + R) - R, (1 + R) / F(9, 10), 4), [("AB", AB), THEN_B], "A"),
    ((F(10, 11) * (1 + R), (1 + R) / F(9, 10) + R, 4), [("AB", AB), THEN_B], "B"),
    ((1, F(109, 100), 2), [("AB", AB), ("C", {"m": (1, 1)})], "C"),  # All but what A and B have, which is 209/100,
    ((1, F(109, 100), F(391, 100)), [("AB", AB), ("C", {"m": (1, 1)})], ""),
    ((1, F(109, 100), F(354, 100)), [("AB", AB), ("C", {"m": (1, 1)})], "C"),
])  # fmt: skip
def test_floats_stop_whom_the_file_says_where_all_who_pay_have_what_they_have_in_the_end(x, steps, wrong):
    assert told(AAB, {"m": TWO}, x, steps, F(1, 10)) == wrong


def test_whoever_runs_nothing_may_be_told_to_be_finished():
    users = [(A, {}), (B, {"max_tasks": 0})]
    assert told(users, {"m": TWO}, (2, 0), [("AB", AB)], F(1, 10)) == ""


@pytest.mark.parametrize(("weight", "wrong"), [(2 * R / (1 - R), ""), (2 * R / (1 - 2 * R), "A"), (9 * R, "A")])
def test_who_has_nothing_in_a_file_of_floats_has_not_more_than_rounding(weight, wrong):
    """By its weight A has so little of two tasks, where it could have four, that it is nothing, or a little more."""
    users = [(A, {"weight": str(weight)}), (A, {})]
    assert told(users, {"m": TWO}, (0, 2), [("AB", AB)], F(1, 10)) == wrong


def judged(claim):
    by_the_clock(claim, rounds_of(claim, "rounds")[0])
    return claim.report.checks[-1].holds


def test_of_fractions_nothing_is_rounded_and_of_a_pool_of_floats_there_are_no_rounds():
    steps = {"rounds": [{"finished": ["A"], "prices": {"m": {"a": "1"}}}]}
    for x, e, room, right in (
        (1, 0, {"m": {"a": 1}}, True),
        (1 - R / 2, 0, {"m": {"a": 1}}, False),
        (1 - R / 2, F(1, 10), {"m": {"a": 1}}, True),
        (F(95, 100), F(1, 10), {"a": 1}, True),
        (F(90, 100), F(1, 10), {"a": 1}, True),
        (F(89, 100), F(1, 10), {"a": 1}, False),
        (F(95, 100), 0, {"a": 1}, False),
    ):
        assert judged(claim_of([(A, {})], room, [x], e, proof=steps if "m" in room else {})) is right
    # What A and B have in the end counts for C: of 24, of which they pay 10 a task, 31/10 are left.
    steps = (("AB", 1, 0), ("C", 10, 1))
    rows = [{"finished": list(names), "prices": {"m": {"a": a, "b": b}}} for names, a, b in steps]
    assert judged(claim_of(AAB, {"m": TWO}, (1, F(109, 100), F(31, 10)), F(1, 10), proof={"rounds": rows})) is True


@pytest.mark.parametrize(("m", "n", "ceiling"), [
    ((1, -1), (1, 0), 0), ((1, 0), (1, F(-1, 2)), 0), ((1, 0), (1, 0), F(-1, 2)), ((1, -1), (1, -1), -1),
])  # fmt: skip
def test_prices_below_0_stop_nobody(m, n, ceiling):
    """Of the money for 3 of a they take away that for 2 at most, so that A would stop at what it has."""
    rows = dict(zip("mn", (m, n), strict=True))
    steps = {
        "rounds": [{
            "finished": ["A"],
            "prices": {k: dict(zip("ab", map(str, row), strict=True)) for k, row in rows.items()},
            "ceilings": {"g": {"b": str(ceiling)}},
        }]
    }  # fmt: skip
    room = {"m": {"a": 2, "b": 1}, "n": {"a": 1, "b": 1}}
    for e in (0, F(1, 10)):
        x = 3 + min(m[1], 0) + min(n[1], 0) + min(ceiling, 0)
        groups = [{"name": "g", "ceiling": {"b": 1}}]
        claim = claim_of([(A, {"group": "g"})], room, [x], e, groups=groups, proof=steps)
        assert judged(claim) is False


def test_who_has_no_level_has_none_by_the_clock_either():
    for more, expected in (({}, None), ({"max_tasks": 0}, True)):
        claim = claim_of([(A, {}), (B, more)], {"a": 1, "b": 1}, [1, 0], excluded=["b"])
        by_the_clock(claim, rounds_of(claim, "rounds")[0])
        assert [check.holds for check in claim.report.checks] == [expected]


# ---- answers ---------------------------------------------------------------------------------------------------------

USERS = {"A": {"a": 1}, "B": {"b": 1}, "C": {"a": 1, "b": 2}, "D": {"a": 2, "b": 1}}
PATHS = [
    {"A": "g", "B": "g", "C": "h", "D": "h"},
    {"A": "g", "B": "g/h", "C": "g/h", "D": "k"},
    {"A": "g", "B": "g", "C": "g"},
]
RULES = [
    {},
    {"guarantee": {"a": 3}},
    {"guarantee": {"b": 4}, "weight": 2},
    {"guarantee": {"a": 2, "b": 2}},
    {"tier": 1, "guarantee": {"a": 1}},
    {"weight": 0},
]
POLICIES = ("drf", "asset", "single:a", "tasks", "throughput")
SINGLE = {"A": {"a": 1}, "B": {"a": 1, "b": 2}, "C": {"a": 2, "b": 1}, "D": {"a": 1, "b": 1}}
RACK = [Machine("m", {"a": 4, "b": 5}, 2), Machine("n", {"a": 1, "b": 4})]


def answers(policy, step, machines=False, exact=True):
    """Files of every so many organisations: rules of groups, limits, tiers and weights, and what promises mean."""
    shares = policy in ("drf", "asset", "single:a")
    limits, tiers = ({}, {"A": 1}, {"C": 1, "B": 2}), ({}, {"B": 1}, {"A": 2, "C": 1})
    meanings = ("floor", "surplus", "normalised") if shares else ("floor",)
    every = itertools.product(PATHS, RULES, RULES[:3], limits, tiers, meanings)
    for paths, one, other, most, tier, meaning in itertools.islice(every, POLICIES.index(policy), None, step):
        names = sorted(set(paths.values()))
        groups = [
            Group(name, **rules)
            for name, rules in itertools.zip_longest(names, (one, other)[: len(names)], fillvalue={})
        ]
        rules = Organisation(tiers=tier if policy != "throughput" else {}, paths=paths, groups=groups, meaning=meaning)
        users = {name: (SINGLE if policy == "single:a" else USERS)[name] for name in paths}
        weights = {"A": 2} if policy == "tasks" else {}
        cluster = {"machines": RACK} if machines else {"capacity": {"a": 9, "b": 12}}
        rack = Instance(users, **cluster, max_tasks=most, weights=weights, organisation=rules)
        with contextlib.suppress(PolicyError, InstanceError):
            yield without_levels(file_of(rack, policy, exact=exact))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("policy", POLICIES)
def test_what_the_clock_leaves_everybody_with_is_the_answer_and_nothing_else_is(policy):
    files = list(answers(policy, 41 if policy in ("drf", "asset", "single:a") else 17))
    assert len(files) > 15
    for k, found in enumerate(files):
        assert verify(found).valid is True
        for user in found["users"][k % 2 :: 2]:
            x = F(user["tasks"])
            user["tasks"] = str(x * F(999, 1000))
            assert verify(found).valid is not True or not x
            user["tasks"] = str(x)


@pytest.mark.parametrize("exact", [True, False])
def test_on_machines_the_clock_stops_where_the_file_says(exact):
    files = list(answers("drf", 113, True, exact))
    assert len(files) > 5
    for found in files:
        assert verify(found).valid is True
        for user in found["users"]:
            x = F(str(user["tasks"]))
            user["tasks"] = str(x * F(999, 1000)) if exact else float(x * F(999, 1000))
            assert verify(found).valid is not True or not x
            user["tasks"] = str(x) if exact else float(x)
