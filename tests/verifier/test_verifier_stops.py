"""Who is stopped by prices, in the verifier: each part of it against its definition, on all of many small claims."""

import itertools
from dataclasses import replace
from fractions import Fraction as F
from types import SimpleNamespace

import pytest

from drfopt.certificates.verifier.claims import Claim
from drfopt.certificates.verifier.cluster import Cluster
from drfopt.certificates.verifier.order import (
    _all_spent,
    _counted,
    could_rise,
    firm,
    in_order,
    kept,
    place,
    rounds_of,
    stopped,
)
from drfopt.certificates.verifier.rounds import _risers, above, finished_in_rounds

ROUNDED = F(1, 2**49)
"""What rounding accounts for, of all money."""


def claim_of(users, cluster, tasks, accuracy=0, policy="drf", proof=None, **more):
    """A claim of (demand, other keys) of users A, B, ... on a pool or on {class: capacity}, accurate to so much."""
    pool = not isinstance(next(iter(cluster.values())), dict)
    rows = [{"name": name, "demand": d, **keys} for name, (d, keys) in zip("ABCD", users, strict=False)]
    machines = [{"name": name, "capacity": row} for name, row in cluster.items()]
    instance = {"users": rows, **({"capacity": cluster} if pool else {"machines": machines}), **more}
    said = [{"name": row["name"], "tasks": str(x)} for row, x in zip(rows, tasks, strict=True)]
    given = {"policy": policy, "integer": False, "users": said, "proof": proof or {}}
    if not pool:
        given["placement"] = {row["name"]: {next(iter(cluster)): str(x)} for row, x in zip(rows, tasks, strict=True)}
    claim = Claim(Cluster(instance), given)
    claim.report.accuracy = F(accuracy)
    return claim


def priced(claim, p, bounds=()):
    """What a task of each user costs where that is least, what everything costs, and what of it is not spent."""
    c, q = claim.c, []
    for i in claim.n:
        costs = [sum(d * v for d, v in zip(c.d[i], p[k], strict=True)) for k in claim.open[c.kinds_of[i][0]]]
        held = sum(v * c.d[i][j] for v, (_, j, _, members) in zip(bounds, c.ceilings, strict=False) if i in members)
        q.append(min(costs, default=0) + held)
    money = sum(v * r for row, rooms in zip(p, c.room, strict=True) for v, r in zip(row, rooms, strict=True))
    money += sum(v * most for v, (_, _, most, _) in zip(bounds, c.ceilings, strict=False))
    return q, money, money - sum(q[i] * claim.x[i] for i in claim.n if claim.plays[i])


# ---- places ----------------------------------------------------------------------------------------------------------


def at(x, promised, asks, accuracy=0, objective="leximin", lines=((F(1, 6), F(0)),), **more):
    """The place of one user with so many tasks of its promise; its rank is 7."""
    given = SimpleNamespace(rank=[7], cluster=[F(12), F(9), F(5)], d=[[F(2), F(3), F(0)]])
    level = max(slope * x - offset for slope, offset in lines)
    claim = SimpleNamespace(
        x=[F(x)], floor=[F(promised)], report=SimpleNamespace(accuracy=F(accuracy)), objective=objective, c=given,
        y=[max(F(0), level)], r=[lines[0][0]], lines=[list(lines)], **{"u": [None]} | more)  # fmt: skip
    return place(claim, 0, asks)


LATE = ((F(1, 4), F(3, 4)),)
"""A level that begins with three tasks."""


PLACES = [
    ((0, 4, False), {}, None),
    ((0, 4, True), {}, ((0,), 0, 0)),
    ((2, 4, False), {}, ((0,), F(1, 2), 0)),
    ((2, 4, True), {}, ((0,), F(1, 2), 0)),
    ((4, 4, False), {}, ((0,), 1, 0)),
    ((4, 4, True), {}, ((1, 7), F(2, 3), 0)),
    ((5, 4, False), {}, ((1, 7), F(5, 6), 0)),
    ((F(35, 10), 4, True, F(1, 10)), {}, ((0,), F(7, 8), F(7, 80))),
    ((F(36, 10), 4, True, F(1, 10)), {}, ((1, 7), F(6, 10), F(6, 100))),
    ((F(44, 10), 4, False, F(1, 10)), {}, ((0,), F(11, 10), F(11, 100))),
    ((F(45, 10), 4, False, F(1, 10)), {}, ((1, 7), F(3, 4), F(3, 40))),
    ((2, 4, True), {"objective": "alpha"}, ((0,), F(1, 2), 0)),
    ((5, 4, True), {"objective": "alpha"}, ((1,), 5, 5)),
    ((5, 4, False), {"objective": "alpha"}, ((2,), 5, 5)),
    ((1, 1, True), {"lines": LATE}, ((1, 7), -1, 0)),
    ((2, 1, True, F(1, 5)), {"lines": LATE}, ((1, 7), F(-1, 2), F(1, 5))),
    ((2, 1, False, F(1, 5)), {"lines": LATE}, ((1, 7), F(-1, 2), F(1, 5))),
    ((3, 1, True), {"lines": LATE}, ((1, 7), 0, 0)),
    ((F(13, 4), 1, True), {"lines": LATE}, ((1, 7), F(1, 16), 0)),
    ((3, 1, True, F(1, 4)), {"lines": LATE}, ((1, 7), 0, F(3, 16))),
    ((3, 4, True, F(1, 4)), {"lines": LATE}, ((1, 7), 0, F(3, 16))),
    ((0, 0, True), {"lines": LATE}, ((1, 7), -1, 0)),
    ((0, 0, True), {}, ((1, 7), 0, 0)),
]
"""Tasks, what is promised, whether it asks, accuracy; and where that is."""


@pytest.mark.parametrize(("given", "more", "expected"), PLACES)
def test_an_amount_comes_among_promises_on_the_way_to_a_level_or_at_one(given, more, expected):
    assert at(*given, **more) == expected


@pytest.mark.parametrize(("lines", "most", "expected"), [
    (((F(1), F(9)),), None, 6),  # alone three tasks, twice that
    (((F(1), F(9)),), 3, 3),
    (((F(1), F(9)),), 7, 6),
    (((F(2), F(6)), (F(1), F(9)), (F(0), F(1))), 7, 3),
    (((F(1), F(0)),), 7, 0),
])  # fmt: skip
def test_a_level_is_counted_from_the_first_line_that_is_above_0_or_from_where_nobody_comes(lines, most, expected):
    given = SimpleNamespace(cluster=[F(12), F(9), F(5)], d=[[F(2), F(3), F(0)]])
    assert _counted(SimpleNamespace(c=given, u=[most], lines=[list(lines)]), 0) == expected


def test_an_amount_comes_after_another_by_its_stage_or_by_more_than_both_are_off():
    keys = [at(x, 2, asks, e) for x, asks, e in itertools.product((1, 2, 3, F(16, 5)), (True, False), (0, F(1, 10)))]
    for one, other in itertools.product(keys, repeat=2):
        off = one.slack + other.slack
        later = one.stage > other.stage or (one.stage == other.stage and one.value > other.value + off)
        assert one.after(other) == later


# ---- prices ----------------------------------------------------------------------------------------------------------

USERS: list = [({"a": 1}, {"guarantee": {"a": 1}}), ({"a": 1, "b": 2}, {}), ({"b": 1}, {"max_tasks": 3})]
POOL, RACK = {"a": 4, "b": 6}, {"m": {"a": 4, "b": 6}, "n": {"a": 2, "b": 1}}


NEAR = (F(0), F(1, 100), F(1, 20), F(1, 10), F(1, 5), F(1, 3), F(-1, 10))
"""How much of a is left."""


def some_claims():
    for machines, accuracy, left in itertools.product((False, True), (F(0), F(1, 10)), NEAR):
        for tasks in ((1, 1, 3), (F(21, 20), 1, 2), (F(11, 10), F(9, 10), 3), (0, 1, 3), (3, F(9, 10), 0)):
            users = USERS if left else [*USERS[:2], ({"b": 1}, {"max_tasks": 0})]
            a, b = tasks[0] + tasks[1] + left, 2 * tasks[1] + (tasks[2] if left else 0)
            room = {"a": str(max(a - machines, F(1, 9))), "b": str(b - machines)}
            yield claim_of(users, {"m": room, "n": {"a": 1, "b": 1}} if machines else room, tasks, accuracy)


def some_prices(claim):
    rows = itertools.product((F(-1), F(0), F(1)), (F(0), F(1), F(1, 2)))
    if claim.c.pool:
        return [[list(row)] for row in rows]
    return [[list(row), list(other)] for row in rows for other in (row, (F(1), F(1, 2)))]


def noticed(claim, i, q, money, unspent):
    """Whether i would notice what is left, on machines and to an accuracy."""
    e, c = claim.report.accuracy, claim.c
    alone = sum(min(c.room[k][j] / d for j, d in enumerate(c.d[i]) if d) for k in claim.open[i] if not c.pool)
    return bool(e) and not c.pool and unspent - ROUNDED * money > e * q[i] * (claim.x[i] if claim.x[i] else alone)


def test_who_could_rise_on_what_is_left():
    told = set()
    for claim in some_claims():
        for money, unspent in (
            (F(2**49), F(1)),
            (F(2**49), 1 + F(1, 100)),
            (F(0), F(1, 10)),
            (F(8), F(2)),
            (F(8), F(-2)),
        ):
            q = [F(1), F(0), F(1, 2)]
            for i in claim.n:
                told.add(noticed(claim, i, q, money, unspent))
                assert could_rise(claim, i, q, money, unspent) == noticed(claim, i, q, money, unspent)
    assert told == {True, False}
    one = claim_of([({"a": 1}, {})], {"m": {"a": 8}}, [1], F(1, 4))
    assert not could_rise(one, 0, [F(2)], F(2**49), F(3, 2))
    assert could_rise(one, 0, [F(2)], F(2**49), F(3, 2) + ROUNDED)


def test_of_several_kinds_of_tasks_the_fewest_that_there_is_room_for_count():
    c = SimpleNamespace(pool=False, kinds_of=[[0, 1]])
    claim = SimpleNamespace(report=SimpleNamespace(accuracy=F(1, 10)), c=c, x=[F(0)], alone=[F(3), F(5)].__getitem__)
    assert not could_rise(claim, 0, [F(1)], F(0), F(3, 10))
    assert could_rise(claim, 0, [F(1)], F(0), F(4, 10))


def test_a_round_with_a_price_below_0_stops_nobody():
    users = [({"a": 1}, {"group": "g"}), ({"b": 1}, {})]
    groups = [{"name": "g", "ceiling": {"a": 5}}]
    claim = claim_of(users, {"a": 1, "b": 1}, [1, 1], groups=groups)
    assert list(stopped(claim, [([[F(1), F(0)]], [F(0)])])) == [0]
    assert list(stopped(claim, [([[F(1), F(-1)]], [F(0)])])) == []
    assert list(stopped(claim, [([[F(1), F(1)]], [F(-1)])])) == []


def test_who_does_not_play_is_not_stopped_and_comes_after_nobody():
    claim = claim_of([({"a": 1}, {}), ({"a": 1}, {"tier": -1, "max_tasks": 0})], {"a": 1}, [1, 3])
    assert list(stopped(claim, [([[F(1)]], [])])) == [0]


def test_who_is_stopped_pays_and_nobody_else_who_pays_has_what_comes_later():
    told = set()
    for claim in some_claims():
        e, x, floor = claim.report.accuracy, claim.x, claim.floor
        for p in some_prices(claim):
            q, money, unspent = priced(claim, p)
            found = set(stopped(claim, [(p, [])]))
            told.add(len(found))
            if any(v < 0 for row in p for v in row):
                assert not found
                continue
            pay = [i for i in claim.n if q[i] and claim.plays[i]]
            held = [place(claim, i, False) for i in pay]
            last = max((one for one in held if one), default=None)
            behind = {i for i, one in zip(pay, held, strict=True) if one and not last.after(one)}
            above = sum(q[i] * (x[i] - floor[i]) for i in pay if floor[i] < x[i] <= floor[i] + e * floor[i])
            for i in claim.n:
                asked = place(claim, i, True)
                first = last is None or asked is None or not last.after(asked)
                unnoticed = e * (sum(q[u] * x[u] for u in behind) if i in behind else q[i] * x[i])
                unnoticed += ROUNDED * money if e else 0
                small = abs(unspent) + above <= unnoticed
                assert (i in found) == (i in pay and first and small and not noticed(claim, i, q, money, unspent))
    assert {0, 1} < told


def test_what_rounding_hides_is_so_much_of_all_money_and_no_more():
    e = F(1, 2**40)
    off = (ROUNDED + e) / (1 + e)
    for cluster in ({"a": 1}, {"m": {"a": 1}}):
        for less, found in ((off, [0]), (off + F(1, 2**99), []), (-(ROUNDED + e) / (1 - e), [0])):
            claim = claim_of([({"a": 1}, {})], cluster, [1 - less], e)
            assert list(stopped(claim, [([[F(1)]], [])])) == found
        claim = claim_of([({"a": 1}, {})], cluster, [1], 0)
        assert list(stopped(claim, [([[F(1)]], [])])) == [0]
        assert list(stopped(claim_of([({"a": 1}, {})], cluster, [1 - ROUNDED], 0), [([[F(1)]], [])])) == []


CAPPED = {"groups": [{"name": "g", "ceiling": {"a": 5}}]}
"""A and B may have so much together."""


def capped(tasks, accuracy):
    users = [({"a": 1}, {"group": "g"}), ({"b": 1}, {"group": "g"}), ({"a": 1, "b": 1}, {})]
    return claim_of(users, {"m": {"a": 10**7, "b": 10}, "n": {"a": 3, "b": 4}}, tasks, accuracy, **CAPPED)


def test_prices_that_are_next_to_nothing_are_not_there_unless_all_is_spent():
    claim = capped([1, 1, 1], F(1, 10))
    for a, b, c, d, most in itertools.product(
        (F(1), F(-1)), *[(F(0), F(1, 10), F(9, 100), F(1, 4), F(-1))] * 2, *[(F(0), F(1, 10), F(1, 5), F(-1))] * 2
    ):
        p, bounds = [[a, b], [c, d]], [most]
        costs = [a * 10**7, b * 10, c * 3, d * 4, most * 5]
        least = max(costs) / 10**7
        thin = [v > 0 and cost < least for v, cost in zip((a, b, c, d, most), costs, strict=True)]
        kept_ones = [F(0) if t else v for t, v in zip(thin, (a, b, c, d, most), strict=True)]
        slight = [v for v, cost in zip((a, b, c, d, most), costs, strict=True) if v >= 0 and cost < least]
        kept_ones = [
            F(0) if v in slight and cost < least and v >= 0 else v
            for v, cost in zip((a, b, c, d, most), costs, strict=True)
        ]
        assert firm(claim, p, bounds, set()) == (
            ([kept_ones[:2], kept_ones[2:4]], kept_ones[4:]) if any(thin) else (p, bounds)
        )
    for x, thin in ((1, F(1, 10**8)), (F(1, 2), F(0))):
        spent = claim_of([({"a": 1}, {}), ({"b": 1}, {})], {"m": {"a": 1, "b": 1}}, [1, x], F(1, 10))
        assert firm(spent, [[F(1), F(1, 10**8)]], [], {0, 1}) == ([[F(1), thin]], [])
    claim.report.accuracy = F(0)
    p = [[F(1), F(1, 100)], [F(0), F(0)]]
    assert firm(claim, p, [F(1, 100)], {0}) == (p, [F(1, 100)])


def test_all_is_spent_where_what_is_left_is_rounding_and_nobody_would_notice_it():
    users = [({"a": 1}, {}), ({"b": 1}, {})]
    for x, rising, right in (
        (1, {0}, True),
        (1 - F(1, 2**48), {0}, False),
        (1 - F(1, 2**50), {0}, True),
        (1 - F(1, 2**50), {0, 1}, True),
    ):
        claim = claim_of(users, {"m": {"a": 1, "b": 5}}, [x, 1], F(1, 10))
        assert _all_spent(claim, [[F(1), F(0)]], [], rising) is right
    # Of 2^50 that b costs little is left, but too much for A, whose tasks cost next to nothing.
    for x, rising, right in ((F(1, 2), {1}, True), (F(1, 2), {0, 1}, False), (F(1, 2), set(), False), (1, set(), True)):
        claim = claim_of(users, {"m": {"a": 1, "b": 1}}, [x, 1], F(1, 2**30))
        assert _all_spent(claim, [[F(1), F(2**50)]], [], rising) is right
    # So little is left that it is rounding, and a part of what A has; with nobody else everybody would notice it.
    for x, rising, right in (
        (1 - F(1, 2**30), {0}, False),
        (1 - F(1, 2**31), {0}, True),
        (1 - F(1, 2**40), {1}, True),
        (1 - F(1, 2**40), set(), False),
    ):
        claim = claim_of(users, {"m": {"a": 1, "b": 1}}, [x, 1], F(1, 2**30))
        assert _all_spent(claim, [[F(1), F(2**50)]], [], rising) is right
    e = F(1, 2**30)
    for x, money, right in (
        (1 / (1 + e), 2**40, True),
        (1 - F(1, 2**29), 2**20 - 1, True),
        (1 - F(1, 2**29), 2**20 - 2, False),
    ):
        claim = claim_of(users, {"m": {"a": 1, "b": 1}}, [x, 1], e if right and money == 2**40 else F(1, 2))
        assert _all_spent(claim, [[F(1), F(money)]], [], {0}) is right
    users = [({"a": 1}, {"group": "g"}), ({"b": 1}, {})]
    for p, bounds, right in (
        ([[F(1), F(0)]], [F(0)], True),
        ([[F(1), F(-1)]], [F(0)], False),
        ([[F(2), F(0)]], [F(-1)], False),
    ):
        # All is spent, if a price below 0 counts.
        claim = claim_of(users, {"a": 1, "b": 1}, [1, 1], F(1, 10), groups=[{"name": "g", "ceiling": {"a": 1}}])
        assert _all_spent(claim, p, bounds, {0}) is right


def test_everybody_at_its_limit_needs_no_rounds():
    stuck = ({"b": 1}, {})  # Nowhere is there any b.
    for x, rounds, holds in ((2, None, True), (1, None, None), (1, [], False), (2, [], True)):
        proof = {} if rounds is None else {"rounds": rounds}
        users = [({"a": 1}, {"max_tasks": 2}), stuck]
        claim = claim_of(users, {"m": {"a": 4, "b": 0}}, [x, 0], proof=proof)
        in_order(claim)
        assert [check.holds for check in claim.report.checks] == [holds]
    claim = claim_of([({"a": 1}, {"max_tasks": 2}), ({"b": 1}, {})], {"a": 4, "b": 4}, [2, 1], excluded=["b"])
    in_order(claim)
    assert [(check.name, check.holds) for check in claim.report.checks] == [("everybody has a level", None)]


def test_of_a_pool_the_rounds_are_the_price_1_on_everything_and_on_every_ceiling():
    groups = [{"name": "g", "ceiling": {"a": 5, "b": 3}}]
    claim = claim_of([({"a": 1}, {"group": "g"})], {"a": 9, "b": 9}, [1], groups=groups)
    rounds, why = rounds_of(claim, "rounds")
    assert not why
    assert [[*p[0], *bounds] for p, bounds in rounds] == [[int(k == j) for j in range(4)] for k in range(4)]
    rack = claim_of([({"a": 1}, {})], {"m": {"a": 9}}, [1], proof={"rounds": []})
    assert rounds_of(rack, "rounds") == ([], "")
    assert rounds_of(rack, "promises") == ([], "the file has no rounds, which machines need")


def test_a_promise_is_short_where_nobody_stops_who_is_promised_more():
    for x, e, right in ((1, 0, False), (2, 0, True), (F(18, 10), F(1, 10), True), (F(17, 10), F(1, 10), False)):
        claim = claim_of([({"a": 1}, {"guarantee": {"a": 2}}), ({"b": 1}, {})], {"a": 4, "b": 4}, [x, 0], e)
        kept(claim)
        assert [check.holds for check in claim.report.checks] == [right]
    claim = claim_of([({"a": 1}, {})], {"a": 4}, [1])
    assert kept(claim) == set()
    assert not claim.report.checks
    # Without rounds nothing is known of machines, unless nobody is short.
    for x, right in ((1, None), (2, True)):
        claim = claim_of([({"a": 1}, {"guarantee": {"a": 2}})], {"m": {"a": 4}}, [x])
        kept(claim)
        assert [check.holds for check in claim.report.checks] == [right]


def test_whose_round_is_spent_needs_no_more_of_its_limit_or_promise():
    step = {"level": "1/2", "finished": [], "prices": {"m": {"a": "1"}}}
    for x, rounds, right in ((1, [step], True), (F(1, 2), [step], False), (1, [], False)):
        for e in (0, F(1, 10)):
            claim = claim_of([({"a": 1}, {}), ({"a": 1}, {})], {"m": {"a": 2}}, [1, x], e, proof={"rounds": rounds})
            in_order(claim)
            assert [check.holds for check in claim.report.checks] == [right]
    promise = {"guarantee": {"a": 2}}
    for x, rounds, right in ((1, [step], True), (F(1, 2), [step], False), (1, [], False)):
        users = [({"a": 1}, promise), ({"a": 1}, promise), ({"b": 1}, {"guarantee": {"b": 1}})]
        room = {"m": {"a": 2, "b": 0}}
        claim = claim_of(users, room, [1, x, 0], proof={"promises": rounds})
        assert kept(claim) == ({0, 1} if right else set())
        assert [check.holds for check in claim.report.checks] == [right]


# ---- rounds ----------------------------------------------------------------------------------------------------------


def test_nobody_rises_whose_round_is_spent_by_those_who_have_its_level_or_less():
    told = set()
    for cluster, e in itertools.product((POOL, RACK), (F(0), F(1, 10))):
        for tasks in ((1, 1, 2), (F(21, 20), 1, 0), (0, F(9, 10), 2), (1, 1, 0)):
            claim = claim_of(USERS, cluster, tasks, e)
            y = claim.y
            for p, t, finished in itertools.product(some_prices(claim), sorted({*y, F(1, 4)}), ([], [0], [0, 1])):
                q, money, unspent = priced(claim, p)
                top = sum(q[i] * claim.x[i] for i in claim.n if y[i] >= t - e * t) if e else 0
                wrong = any(v < 0 for row in p for v in row)
                wrong |= abs(unspent) > e * top + (ROUNDED * money if e else 0)
                wrong |= any(q[i] and y[i] > t + e * t for i in claim.n)
                wrong |= any(
                    not q[i] or abs(y[i] - t) > e * t or noticed(claim, i, q, money, unspent) for i in finished
                )
                assert bool(_risers(claim, t, finished, p)) == wrong
                told.add(wrong)
    assert told == {True, False}
    e = F(1, 2**40)
    off = (ROUNDED + e) / (1 + e)
    for less, right in ((off, True), (off + F(1, 2**99), False)):
        claim = claim_of([({"a": 1}, {}), ({"b": 1}, {})], {"m": {"a": 1, "b": 9}}, [1 - less, 0], e)
        assert (not _risers(claim, claim.y[0], [], [[F(1), F(0)]])) is right


def spoken(rounds):
    """Rounds of a file: level, who is finished, prices of a and b on m and n."""
    named = [[dict(zip("ab", map(str, row), strict=True)) for row in p] for _, _, p in rounds]
    return [
        {"level": str(t), "finished": list(names), "prices": dict(zip("mn", p, strict=True))}
        for (t, names, _), p in zip(rounds, named, strict=True)
    ]


def judged_by_hand(claim, rounds):
    """What is to be said of each round and of them all, by the definition of what they prove."""
    e, below, last, times, said = claim.report.accuracy, claim.below(), F(0), [0] * len(claim.n), []
    everything = list(claim.open)
    for t, names, p in rounds:
        finished = ["ABC".index(name) for name in names if "ABC".index(name) in below]
        late = t + t * e < last
        said.append(not late and not _risers(claim, t, finished, p))
        _, money, unspent = priced(claim, p)
        spare, last = max(unspent - (ROUNDED * money if e else 0), F(0)), t
        for i in set(finished):
            times[i] += 1
        for at, kind in enumerate(claim.c.kinds):
            costs = {k: sum(d * v for d, v in zip(kind.d, p[k], strict=True)) for k in claim.open[at]}
            least = min(costs.values(), default=F(0))
            claim.open[at] = [
                k for k, v in costs.items()
                if v == least or (e and (v - least < least / 10**4 or 10 * claim.r[at] * spare > e * t * (v - least)))
            ]  # fmt: skip
    left, claim.open = claim.open, everything
    return [*said, all(times[i] == 1 if i in below else times[i] < 2 or not claim.plays[i] for i in claim.n)], left


STEPS = [
    (t, names, p)
    for t, names in itertools.product((F(1, 4), F(1, 2), F(52, 100)), ("A", "AB", "BB", "C"))
    for p in (
        [[1, 0], [1, 1]],
        [[1, 0], [1, 0]],
        [[1, 0], [F(10001, 10000), 0]],
        [[1, 0], [F(100009, 100000), 0]],
        [[0, 1], [0, 1]],
        [[1, 1], [2, 1]],
    )
]


def test_rounds_prove_what_they_say_one_after_the_other():
    """A and B need a, B both, and C, which may be at its limit, b; on two classes, of which one may be dear."""
    told = set()
    users = [({"a": 1}, {}), ({"a": 1, "b": 1}, {}), ({"b": 1}, {"max_tasks": 3})]
    rack = {"m": {"a": 4, "b": 8}, "n": {"a": 4, "b": 4}}
    for e, tasks in itertools.product(
        (F(0), F(1, 20)), ((4, 4, 3), (4, 4, 2), (4 + F(4, 10**4), 4, 3), (4 + F(36, 10**5), 4, 3), (2, 5, 4))
    ):
        claim = claim_of(users, rack, tasks, e)
        whole = list(claim.open)
        for rounds in [*itertools.product(STEPS, repeat=1), *itertools.product(STEPS[::7], STEPS[1::4])]:
            rounds = [(t, names, [[F(v) for v in row] for row in p]) for t, names, p in rounds]
            claim.proof, claim.open = {"rounds": spoken(rounds)}, list(whole)
            expected, left = judged_by_hand(claim, rounds)
            claim.open = list(whole)
            claim.report.checks.clear()
            finished_in_rounds(claim)
            assert [check.holds for check in claim.report.checks] == expected
            assert list(map(set, claim.open)) == list(map(set, left))
            told.add(tuple(expected))
    assert len(told) > 5


@pytest.mark.parametrize(("x", "steps", "holds"), [
    (F(19, 20), [(1, "AB", 1)], [None, True]),  # B is finished by a price that rounding may have made.
    (F(19, 20), [(1, "A", 1)], [True, False]),
    (F(1, 2), [(1, "AB", 1)], [False, True]),
    (F(19, 20), [(2, "AB", 1)], [False, True]),
    (F(19, 20), [(1, "A", 0), (F(1, 2), "B", 1)], [True, False, True]),
    (F(19, 20), [(2, "", 0), (1, "AB", 1)], [True, False, True]),
    (F(19, 20), [(1, "A", 0), (1, "B", 1)], [True, None, True]),
    (F(19, 20), [(1, "A", 0), (1, "B", 10**8)], [True, True, True]),
])  # fmt: skip
def test_where_prices_decide_that_rounding_may_have_made_nothing_is_told(x, steps, holds):
    claim = claim_of([({"a": 1}, {}), ({"b": 1}, {})], {"m": {"a": 1, "b": 1}}, [1, x], F(1, 10))
    claim.proof = {
        "rounds": [
            {"level": str(t), "finished": list(names), "prices": {"m": {"a": "1", "b": str(F(thin, 10**8))}}}
            for t, names, thin in steps
        ]
    }
    finished_in_rounds(claim)
    assert [check.holds for check in claim.report.checks] == holds


def test_rounds_of_a_pool_come_resource_by_resource_and_machines_have_none_of_their_own():
    users = [({"a": 1}, {}), ({"b": 1}, {}), ({"b": 1}, {})]
    for cluster, expected in (({"a": 1, "b": 2}, [True, True, True]), ({"m": {"a": 1, "b": 2}}, [None])):
        claim = claim_of(users, cluster, [1, 1, 1])
        finished_in_rounds(claim)
        assert [check.holds for check in claim.report.checks] == expected


@pytest.mark.parametrize(("e", "t", "names", "more", "holds", "open_"), [
    (F(1, 10), 1, "B", F(10), True, {0, 1}),
    (F(1, 2**40), 2, "", 1 - F(1, 10**7), None, {1}),
])  # fmt: skip
def test_prices_that_rounding_may_have_made_close_a_class_where_they_decide(e, t, names, more, holds, open_):
    """Of m all b is used up, which costs next to nothing there but for A as much as two tasks on n."""
    rack = {"m": {"a": 10**8, "b": 1}, "n": {"a": 10**8, "b": 1}}
    claim = claim_of([({"a": 1, "b": 1}, {}), ({"a": 1}, {})], rack, [1, 2 * 10**8 + more], e)
    prices = {"m": {"a": "1", "b": "2"}, "n": {"a": "1"}}
    claim.proof = {"rounds": [{"level": str(t), "finished": list(names), "prices": prices}]}
    finished_in_rounds(claim)
    assert claim.report.checks[0].holds is holds
    assert list(map(set, claim.open)) == [open_, {0, 1}]


def test_a_class_is_open_to_whom_what_is_left_of_the_money_beyond_rounding_could_take_there():
    e, level = F(1, 2**40), F(5, 2**9)  # Ten times what is left of 2^-49, for half of a level each, is as dear as this.
    for part, (left, more, open_) in itertools.product(
        (F(1), F(1, 2)), ((3, F(1, 9), {0}), (4, 1, {0}), (4, F(99, 100), {0, 1}))
    ):
        rack = {"m": {"a": 1, "b": 0}, "n": {"a": 1, "b": 0}}
        claim = claim_of([({"a": 1}, {}), ({"b": 1}, {})], rack, [(3 - left * ROUNDED) / part, 0], e)
        claim.c.kinds[0] = replace(claim.c.kinds[0], part=part)
        prices = {"m": {"a": "1"}, "n": {"a": "2"}}
        claim.proof = {"rounds": [{"level": str(level / part * more), "finished": [], "prices": prices}]}
        finished_in_rounds(claim)
        assert list(map(set, claim.open)) == [open_, set()]


def test_a_round_below_level_0_comes_too_late():
    claim = claim_of([({"a": 1}, {"max_tasks": 1})], {"m": {"a": 1}}, [1])
    for proof, holds in (({"rounds": [{"level": "-1/2", "finished": [], "prices": {}}]}, [False, True]), ({}, [True])):
        claim.proof = proof
        claim.report.checks.clear()
        finished_in_rounds(claim)
        assert [check.holds for check in claim.report.checks] == holds


def test_what_is_not_spent_goes_unnoticed_by_who_has_the_level_of_a_round_and_no_other():
    for left, right in ((F(1, 10), True), (F(1, 9), False)):
        claim = claim_of([({"a": 1}, {}), ({"a": 1}, {})], {"m": {"a": 10}}, [1, F(1, 2)], F(1, 10))
        claim.c.room[0][0] = F(3, 2) + left
        assert (not _risers(claim, F(1, 10), [], [[F(1)]])) is right


@pytest.mark.parametrize(("x", "e", "t", "finished", "p", "wrong"), [
    ((1, 0), 0, 1, [0], [[1, 0]], 0),
    ((1, 0), 0, F(1, 2), [], [[1, 0]], 1),  # A has a higher level than the round
    ((1, 0), F(1, 10), F(10, 11), [], [[1, 0]], 0),
    ((1, 0), F(1, 10), F(9, 10), [], [[1, 0]], 1),
    ((1, 0), F(1, 10), F(6, 10), [], [[1, 0]], 1),
    ((F(1, 4), F(3, 4)), 0, F(3, 4), [0], [[1, 0]], 1),  # A has less than the round that finishes it
    ((F(1, 4), F(3, 4)), 0, F(3, 4), [1], [[1, 0]], 0),
    ((1 - F(1, 2**60), 0), 0, 1 - F(1, 2**60), [], [[1, 0]], 1),  # Of fractions all is spent.
    ((F(9, 10), 0), F(1, 10), 1, [], [[F(1), 0]], 1),  # A tenth is left, of which A feels less than a tenth,
    ((F(10, 11), 0), F(1, 10), F(100, 99), [], [[F(1), 0]], 0),
    ((F(10, 11), 0), F(1, 10), F(101, 99), [], [[F(1), 0]], 1),  # and nobody, where it is below the level.
    ((1, 0), 0, 1, [0], [[1, -1]], 2),
])  # fmt: skip
def test_a_round_finishes_who_pays_at_its_level_and_no_more(x, e, t, finished, p, wrong):
    claim = claim_of([({"a": 1}, {}), ({"a": 1}, {})], {"m": {"a": 1, "b": 1}}, x, e)
    assert len(_risers(claim, F(t), finished, [[F(v) for v in row] for row in p])) == wrong


def test_no_price_of_a_round_is_below_0_on_any_class():
    """Nobody needs b, and of the price of a on n B takes what A pays on m."""
    claim = claim_of([({"a": 1}, {}), ({"b": 1}, {})], {"m": {"a": 1, "b": 0}, "n": {"a": 1, "b": 1}}, [2, 1])
    for b in (-1, 0):
        assert len(_risers(claim, claim.y[0], [], [[F(1), F(0)], [F(1), F(b)]])) == (b < 0)


@pytest.mark.parametrize(("b", "c", "said"), [(1, 1, None), (1, F(1, 2), False), (F(1, 2), 1, False)])
def test_prices_that_rounding_may_have_made_count_only_where_all_of_them_are_of_what_is_used_up(b, c, said):
    """By its weight B is at the level of A, and is finished by a price of next to nothing; C is not."""
    users = [({"a": 1}, {}), ({"b": 1}, {"weight": str(b)}), ({"c": 1}, {})]
    claim = claim_of(users, {"m": {"a": 1, "b": 1, "c": 1}}, [1, F(19, 20) * b, c], F(1, 10))
    prices = {"m": {"a": "1", "b": str(F(1, 10**8)), "c": str(F(1, 10**12))}}
    claim.proof = {"rounds": [{"level": "1", "finished": ["A", "B"], "prices": prices}]}
    finished_in_rounds(claim)
    assert [check.holds for check in claim.report.checks] == [said, False]


def test_who_is_finished_by_a_round_needs_no_price_in_the_next():
    """What is left is too much for A, which has next to nothing and is finished, and little to the others."""
    e, x, left = F(1, 2**30), F(1, 2**20), F(1, 2**40)
    users = [({"a": 1}, {}), ({"a": 1}, {"weight": str(1 - x)}), ({"b": 1}, {})]
    claim = claim_of(users, {"m": {"a": 1, "b": 1}}, [x, 1 - x - left, 1], e)
    prices = {"m": {"a": "1", "b": str(2**50)}}
    for first, said in (("A", True), ("", None)):
        claim.proof = {
            "rounds": [
                {"level": str(x), "finished": list(first), "prices": {"m": {"a": "1"}}},
                {"level": "1", "finished": ["B", "C"], "prices": prices},
            ]
        }
        claim.report.checks.clear()
        finished_in_rounds(claim)
        assert claim.report.checks[1].holds is said


A, B, AB = {"a": 1}, {"b": 1}, {"a": 1, "b": 1}


@pytest.mark.parametrize(("users", "room", "x", "holds"), [
    ([A, B], {"a": 1, "b": 1}, (1, 1), [True, True, True]),
    ([A, A, B], {"a": 3, "b": 4}, (2, 1, 4), [True, True, False]),  # The first has more than the second.
    ([A, A, B], {"a": 3, "b": 4}, (1, 2, 4), [True, True, False]),
    ([AB, A, B], {"a": 4, "b": 2}, (1, 3, 1), [True, True, True]),
    ([AB, A], {"a": 4, "b": 2}, (1, 2), [False]),
    ([AB], {"a": 1, "b": 1}, (1,), [True, True, True]),
    ([A, B], {"a": 1, "b": 2}, (1, 1), [True, False]),
    ([A, B], {"a": 1, "b": 0}, (1, 0), [True, True]),
])  # fmt: skip
def test_of_a_pool_every_resource_that_is_used_up_finishes_who_has_the_highest_level(users, room, x, holds):
    claim = claim_of([(d, {}) for d in users], room, x)
    finished_in_rounds(claim)
    assert [check.holds for check in claim.report.checks] == holds


def test_numbers_that_round_to_the_same_are_compared_as_they_are():
    big, thin = F(10**400), F(1, 10**30)
    for one, other in ((F(1), F(1, 2)), (1 + thin, F(1)), (big + 1, big), (big, F(1)), (F(1), -big)):
        assert above(one, other) is True
        assert above(other, one) is False
        assert above(one, one) is above(one + 0, F(one)) is False
