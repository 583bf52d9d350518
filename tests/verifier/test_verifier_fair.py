"""What a market is, in the verifier: each part of it against its definition, on all of many small claims."""

import itertools
from fractions import Fraction as F

import pytest
from test_verifier_stops import ROUNDED, priced

from drfopt.certificates.verifier import markets
from drfopt.certificates.verifier.cluster import Cluster
from drfopt.certificates.verifier.markets import MarketClaim, PricedTier, _up
from drfopt.certificates.verifier.powers import marginal_between

USERS = [
    {"name": "A", "demand": {"a": 1}, "guarantee": {"a": 1}},
    {"name": "B", "demand": {"a": 1, "b": 1}, "weight": 2},
    {"name": "C", "demand": {"b": 2}, "max_tasks": 2, "tier": -1},
]

PROMISED = [USERS[0], USERS[1], USERS[2] | {"guarantee": {"b": 1}}]


def market(tasks, policy="ceei", accuracy=0, machines=True, users=USERS, proof=None, room=(4, 4), rest=None, **more):
    """A claim of a market on two classes or a pool, accurate to so much."""
    room = dict(zip("ab", map(str, room), strict=True))
    classes = [{"name": "m", "capacity": room}, {"name": "n", "capacity": (rest or {}).get("n", {"a": 1, "b": 2})}]
    instance = {"users": users} | ({"machines": classes} if machines else {"capacity": room}) | more
    said = [{"name": user["name"], "tasks": x} for user, x in zip(users, tasks, strict=True)]
    given = {"policy": policy, "integer": False, "users": said, "proof": proof or {}}
    if machines:
        given["placement"] = {user["name"]: {"m": str(x)} for user, x in zip(users, tasks, strict=True) if x}
    claim = MarketClaim(Cluster(instance), given, exact=True)
    claim.report.accuracy = F(accuracy)
    return claim


def fair_by_hand(claim, tier, stuck):
    """The three checks of a tier: what its users would choose, what is used up, and what is left of the money."""
    c, x, e, a = claim.c, claim.x, claim.report.accuracy, claim.alpha
    q, money, unspent = priced(claim, tier.p, tier.bounds)
    free = [i for i in claim.n if claim.plays[i] and i not in stuck]
    mine = [i for i in free if claim.turns[i] == tier.turn]
    unspent += sum(q[i] * (x[i] - claim.floor[i]) for i in free if claim.turns[i] > tier.turn)
    alone = [sum(min(r / d for r, d in zip(room, c.d[i], strict=True) if d) for room in c.room) for i in claim.n]
    most = [least if u is None else min(u, least) for u, least in zip(claim.u, alone, strict=True)]
    full = {i for i in mine if abs(x[i] - most[i]) <= e * most[i]}
    low = {i for i in mine if x[i] <= claim.floor[i] + e * claim.floor[i]}
    chosen = True
    for i in mine:
        # What a task costs in what it is worth, to the power that makes this rational.
        worth = (q[i] / (claim.income[i] * claim.r[i])) ** a.denominator * (claim.r[i] * x[i]) ** a.numerator
        chosen &= i in low or worth <= (1 + a * e) ** a.denominator
        chosen &= i in full or worth >= (1 - a * e) ** a.denominator
    unnoticed = e * min([q[i] * x[i] for i in mine if i not in full], default=F(0))
    used = [[sum(c.d[i][j] * z.get(k, 0) for i, z in enumerate(claim.z)) for j in range(2)] for k in range(len(c.room))]
    idle = any(
        v and abs(room - u) > e * room and abs(v * (room - u)) > unnoticed
        for row, rooms, uses in zip(tier.p, c.room, used, strict=True)
        for v, room, u in zip(row, rooms, uses, strict=True)
    )
    for v, (_, j, cap, members) in zip(tier.bounds, c.ceilings, strict=True):
        idle |= bool(v) and abs(sum(c.d[i][j] * x[i] for i in members) - cap) > e * cap
    worth = [marginal_between(claim.income[i], claim.r[i], x[i], a, 40)[0] for i in mine]
    own = sum(max(q[i], each) * x[i] for i, each in zip(mine, worth, strict=True))
    return [chosen, not idle, abs(unspent) <= e * (money if full >= set(mine) else own)]


PRICES = [
    [[F(a), F(b)], [F(c), F(d)]]
    for a, b, c, d in [
        (1, 0, 1, 0),
        (1, F(1, 25), 1, F(1, 10)),
        (1, F(1, 10), 1, 0),
        (1, 1, 1, 1),
        (1, 0, 2, 0),
        (F(1, 2), F(1, 4), F(1, 2), F(1, 4)),
        (0, 1, 0, 1),
    ]
]
TASKS = [(1, 1, 1), (1, 3, 0), (2, 2, 2), (1, F(29, 10), 2), (F(21, 20), F(28, 10), 1), (3, 1, F(3, 2))]


def test_a_tier_is_fair_where_its_users_would_choose_what_they_have_and_what_has_a_price_is_gone():
    told = set()
    capped = [{"name": "g", "ceiling": {"a": 4}}]
    grouped = [USERS[0] | {"group": "g"}, USERS[1] | {"group": "g"}, USERS[2]]
    cases = itertools.product(("alpha:1/2", "ceei", "alpha:2"), (F(0), F(1, 5)), (0, 1, 2), TASKS)
    for policy, e, kind, tasks in cases:
        a, b = tasks[0] + tasks[1], tasks[1] + 2 * tasks[2]
        users, more = (grouped, {"groups": capped}) if kind == 2 else (PROMISED, {})
        room = (a, b) if kind == 0 else (a + F(1, 5), b + 3) if kind == 1 else (a, b + 2)
        claim = market(tasks, policy, e, kind == 0, users, room=room, **more)
        for p, turn, stuck, factor in itertools.product(PRICES, (0, 1), (set(), {1}, {2}), (F(1, 2),)):
            scaled = [[v * factor for v in row] for row in p[: len(claim.c.room)]]
            for bounds in ([F(0)], [F(1, 3)]) if kind == 2 else ([],):
                tier = PricedTier(turn, scaled, bounds, [], {})
                claim.report.checks.clear()
                if any(not claim.x[i] for i in claim.n if i not in stuck and claim.turns[i] == turn):
                    assert claim.fair(tier, stuck) is False
                    assert [check.holds for check in claim.report.checks] == [False]
                    continue
                assert claim.fair(tier, stuck) is True
                found = [check.holds for check in claim.report.checks]
                assert found == fair_by_hand(claim, tier, stuck)
                told.add(tuple(found))
    assert len(told) > 5


def test_who_has_no_place_is_in_no_tier():
    for users, tasks in (([*USERS[:2], USERS[2] | {"max_tasks": 0}], (1, 1, 0)), (USERS, (1, 0, 0))):
        claim = market(tasks, machines=False, users=users, room=(4, 4 if tasks[1] else 0), proof={"prices": {"a": "1"}})
        assert claim.fair(PricedTier(1, [[F(1), F(1)]], [], [], {}), set()) is True
        assert claim.tiers(set())[0] == [PricedTier(0, [[F(1), F(0)]], [], [], {})]
        assert [name[0] for name in claim.left_out([], set())] == ["A", "B"][: 1 + tasks[1]]


ENDS = [F(1, 100), F(3, 100), F(1, 20), F(1, 10), F(1, 7), F(1, 5), F(1, 3), F(1, 2), F(7, 10), F(9, 10)]
"""How far, of the point, the ends of an enclosure are from it."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("policy", ["alpha:1/2", "ceei", "alpha:2"])
def test_outside_of_an_enclosure_more_is_lost_than_there_is_to_gain(policy):
    told, alone = set(), (8, 4)
    users = [USERS[0] | {"guarantee": {"a": "1/2"}}, USERS[1] | {"max_tasks": 4}]
    for down, up, dear, unspent in itertools.product(
        ENDS, [*ENDS, F(2), F(9)], (F(9, 10), F(1), F(11, 10)), (F(0), F(1, 50))
    ):
        point = (F(1), F(2))
        rows = [{"lower": str(x * (1 - down)), "upper": str(x * (1 + up))} for x in point]
        proof = {"point": dict(zip("AB", map(str, point), strict=True))}
        claim = market(rows, policy, machines=False, users=users, room=alone, proof=proof)
        a, gain, worth = float(claim.alpha), float(unspent), []
        for i, x in enumerate(point):
            worth.append(float(claim.income[i] * claim.r[i]) * float(claim.r[i] * x) ** -a)
        q = [F(str(round(worth[0] * float(dear), 9))), F(str(round(worth[1], 9)))]
        for i, x in enumerate(point):
            most, low = float(claim.most_of([i])[i]), min(float(claim.floor[i]), float(x))
            gain += max((worth[i] - float(q[i])) * (most - float(x)), (float(q[i]) - worth[i]) * (float(x) - low))
        losses = []
        for i, x in enumerate(point):
            if x * (1 - down) > claim.floor[i]:
                losses.append(worth[i] * float(x) * a * float(down) ** 2 / 2)
            if x * (1 + up) < claim.most_of([i])[i]:
                losses.append(worth[i] * float(x) * a * float(up) ** 2 / (2 + 2 * max(a, 1) * float(up)))
        if all(abs(loss - gain) > 1e-6 for loss in losses):
            claim.report.checks.clear()
            claim.enclosures(q, unspent, [0, 1])
            assert [check.holds for check in claim.report.checks] == [all(loss > gain for loss in losses)]
            told.add(all(loss > gain for loss in losses))
    assert told == {True, False}
    # The only check of a tier of enclosures, by the prices at which the point is chosen.
    claim = market(rows, policy, machines=False, users=users, room=alone, proof=proof)
    assert claim.fair(PricedTier(0, [[F(1), F(1)]], [], [], {}), set()) is True
    assert [check.name for check in claim.report.checks] == ["no optimum is outside of an enclosure"]


@pytest.mark.parametrize(("policy", "cap"), [("alpha:1/4", 1), ("ceei", 1), ("alpha:2", 2)])
def test_an_end_loses_just_so_much_and_none_where_there_is_all(policy, cap):
    """A has 1 of 16 tasks, where a task more is worth a fraction, at the prices at which it would choose them."""
    for down, up, most in itertools.product((F(0), F(1, 2), F(1)), (F(1), F(1, 10), F(2)), (None, F(11, 10), F(2))):
        users = [USERS[0] | {"guarantee": {"a": str(1 - down)}} | ({"max_tasks": str(most)} if most else {})]
        rows = [{"lower": "1/2", "upper": str(1 + up)}]
        claim = market(rows, policy, machines=False, users=users, room=(16, 1), proof={"point": {"A": "1"}})
        a, r = claim.alpha, F(1, 16)
        worth = claim.income[0] * r * {F(1, 4): 2, F(1): 16, F(2): 256}[a]
        ends = [worth * a / 8] if down > F(1, 2) else []
        ends += [worth * a * up**2 / (2 + 2 * cap * up)] if 1 + up < (most or 16) else []
        for less in (F(0), F(1, 10**9)):
            claim.report.checks.clear()
            gain = min(ends, default=F(10**9)) + less
            claim.enclosures([worth], gain, [0])
            assert [check.holds for check in claim.report.checks] == [not ends or not less]


def test_of_what_a_task_is_worth_that_end_counts_which_proves_less(monkeypatch):
    """Between 9/10 and 11/10 a task is worth so much: as much as is to gain at most, and to lose at least."""
    monkeypatch.setattr(markets, "marginal_between", lambda *_: (F(9, 10), F(11, 10)))
    rows = [{"lower": "1/2", "upper": "16"}]
    claim = market(rows, machines=False, users=USERS[1:2], room=(16, 16), proof={"point": {"B": "1"}})
    for price, gain in ((F(1), F(15, 10)), (F(7, 5), F(1, 2))):  # 15 more by 1/10 each, or 1 less by 1/2
        loss = F(9, 10) / 8
        for unspent, right in ((loss - gain, True), (loss - gain + F(1, 10**9), False)):
            claim.report.checks.clear()
            claim.enclosures([price], unspent, [0])
            # What is to gain is rounded up, and nothing is lost to who is told so.
            assert [check.holds for check in claim.report.checks] == [right]


def test_who_is_barred_keeps_no_money_for_later():
    """C may have nothing, whatever it is promised, and pays for the ceiling that bars it."""
    barred = USERS[2] | {"guarantee": {"b": 2}, "max_tasks": 9, "group": "g"}
    users = [{"name": "A", "demand": {"a": 1}}, {"name": "B", "demand": {"a": 1}, "tier": -1}, barred]
    p, bounds = [[F(1), F(0)]], [F(1)]
    tier = PricedTier(0, p, bounds, [(p, bounds)], {})
    for tasks, found, spent in (((3, 1, 0), {0}, False), ((4, 1, 0), {0, 1}, True)):
        groups = [{"name": "g", "ceiling": {"b": 0}, "tier": -1}]
        claim = market(tasks, machines=False, users=users, room=(4, 9), groups=groups)
        assert (claim.plays, claim.floor) == ([True, True, False], [0, 0, 1])
        assert claim.stopped_after(tier, set()) == found
        claim.fair(tier, set())
        assert claim.report.checks[-1].holds is spent


def test_no_price_is_below_0_where_all_is_spent_after_a_tier():
    users = [*USERS[:2], USERS[2] | {"guarantee": {"b": 1}}]
    claim = market((2, 2, 0), machines=False, users=users, room=(4, 2), groups=[{"name": "g", "ceiling": {"a": 4}}])
    for b, bound, found in ((0, 0, {0, 1}), (1, 0, {0, 1, 2}), (-1, 0, {0, 1}), (1, -1, {0, 1})):
        p, bounds = [[F(1), F(b)]], [F(bound)]
        assert claim.stopped_after(PricedTier(0, p, bounds, [(p, bounds)], {}), set()) == found


def test_what_is_left_of_a_resource_goes_unnoticed_up_to_the_accuracy_or_where_nobody_would_feel_it():
    users = [{"name": name, "demand": {"a": 1}} for name in "AC"] + [{"name": "B", "demand": {"b": 1}, "max_tasks": 1}]
    for room, price, idle in (
        ((5, 1), (1, 1), False),  # a fifth of a, just as much as the accuracy
        ((6, 1), (1, 1), True),
        ((6, 1), (1, F(1, 9)), True),
        ((4, 2), (1, 1), True),
        ((4, 2), (1, F(1, 9)), False),  # B has all it may, and what is left costs less than A would feel
        ((4, 2), (1, F(2, 5)), False),
    ):
        claim = market((2, 2, 1), "ceei", F(1, 5), False, users, room=room)
        claim.fair(PricedTier(0, [[F(price[0]), F(price[1])]], [], [], {}), set())
        found = {check.name: check.holds for check in claim.report.checks}
        assert found["what has a price is used up"] is not idle


def test_prices_are_not_below_0_and_powers_take_no_high_roots():
    for p, bounds in (([[F(-1), F(1)]], [F(1)]), ([[F(1), F(1)], [F(1), F(-1)]], []), ([[F(1), F(1)]], [F(-1)])):
        groups = [{"name": "g", "ceiling": {"a": 4}}] if bounds else []
        claim = market((1, 1, 1), machines=len(p) > 1, groups=groups)
        assert claim.fair(PricedTier(0, p, bounds, [], {}), set()) is False
        assert [check.holds for check in claim.report.checks] == [False]
    for power, right in (("1/1000", True), ("1/1001", False)):
        claim = market((1, 1, 1), f"alpha:{power}", machines=False)
        assert claim.fair(PricedTier(0, [[F(1), F(1)]], [], [], {}), set()) is right


def test_after_a_tier_who_pays_has_what_it_has_where_everybody_has_all_that_there_is():
    told = set()
    spare = (F(0), F(1, 20), F(1, 10), F(1, 5), F(2, 5), F(3, 5))
    for e, machines, late, left in itertools.product((F(0), F(1, 10)), (False, True), (None, F(1), 0), spare):
        last = USERS[2] | ({"max_tasks": 0} if late == 0 else {"guarantee": {"b": 2}} if late else {})
        tasks, room = (2, 2, late or 0), (4 + left - machines, 2 + 2 * (late or 0) + left / 2 - machines)
        classes = {"n": {"a": "1", "b": "1"}} if machines else {}
        claim = market(tasks, "ceei", e, machines, [*USERS[:2], last], room=room, rest=classes)
        for p, stuck, sign in itertools.product(PRICES, (set(), {0}), (1, -1)):
            p = [[v * sign for v in p[0]], *([p[0]] * machines)]
            q, money, _ = priced(claim, p)
            settled = stuck | {i for i in claim.n if claim.turns[i] == 0}
            rest = money - sum(q[i] * (claim.x[i] if i in settled else claim.floor[i]) for i in claim.n)
            expected = set(settled)
            for i in set(claim.n) - settled:
                alone = sum(min(r / d for r, d in zip(room, claim.c.d[i], strict=True) if d) for room in claim.c.room)
                noticed = e * q[i] * (claim.floor[i] or min(alone, claim.u[i])) + ROUNDED * money if e else 0
                if sign > 0 and q[i] and claim.plays[i] and rest <= noticed:
                    expected.add(i)
            assert claim.stopped_after(PricedTier(0, p, [], [(p, [])], {}), stuck) == expected
            told.add(len(expected))
    assert told == {2, 3}


def test_of_what_is_left_after_a_tier_rounding_is_taken_off():
    users = [{"name": "A", "demand": {"a": 1}}, {"name": "B", "demand": {"a": 1}, "tier": -1, "guarantee": {"a": 1}}]
    for more, found in ((F(0), {0, 1}), (F(1, 2**60), {0})):
        claim = market((1, 1), "ceei", F(1, 2**30), False, users)
        claim.c.room = [[(2 + F(1, 2**30) + more) / (1 - ROUNDED), F(4)]]
        p = [[F(1), F(0)]]
        assert claim.stopped_after(PricedTier(0, p, [], [(p, [])], {}), set()) == found


def test_a_group_promises_its_users_what_they_have_when_it_is_used_up():
    users = [USERS[0] | {"group": "g"}, USERS[1] | {"group": "g"}, USERS[2] | {"group": "h", "max_tasks": 0}]
    users[0] = {key: value for key, value in users[0].items() if key != "guarantee"}
    groups = [{"name": "g", "guarantee": {"a": 2}}, {"name": "h"}]
    claim = market((2, 2, 0), machines=False, users=users, groups=groups)
    claim.promised()
    assert sum(claim.floor) == 2
    assert min(claim.floor[:2]) > 0
    assert claim.floor[2] == 0


def test_an_amount_between_two_ends_settles_nothing():
    claim = market((1, {"lower": "1", "upper": "2"}, 1), machines=False)
    full = [([[F(1), F(1)]], [])]
    assert claim.stopped_after(PricedTier(0, full[0][0], [], full, {}), {2}) == {2}
    assert claim.stopped_after(PricedTier(1, full[0][0], [], full, {}), set()) >= {2}


def test_the_most_tasks_are_those_that_one_could_run_alone_or_its_limit():
    tasks = [{"demand": {"a": 1}, "count": 10}, {"demand": {"b": 1}, "count": 30}]
    for machines, most, expected in ((False, None, 8), (True, None, F(32, 3)), (True, 5, 5), (False, 9, 8)):
        limit = {"max_tasks": most} if most else {}
        users = [{"name": "A", "tasks": tasks} | limit, *USERS[1:]]
        assert market((1, 1, 1), machines=machines, users=users, room=(3, 6)).most_of([0]) == {0: expected}


# ---- tiers -----------------------------------------------------------------------------------------------------------


def test_the_tiers_of_a_file_are_in_their_order_or_there_is_one_with_the_prices_of_all():
    prices = {"m": {"a": "1", "b": "2"}, "n": {"a": "3"}}
    told = [[F(1), F(2)], [F(3), F(0)]]
    alike = [{**user, "tier": 0} for user in USERS]
    claim = market((1, 1, 1), users=alike, proof={"prices": prices})
    assert claim.tiers(set()) == ([PricedTier(0, told, [], [], {})], "")
    assert market((1, 1, 1), users=alike).tiers(set())[0] == []
    two = market((1, 1, 1), proof={"prices": prices})
    assert two.tiers(set()) == ([], "the file does not say at which prices each tier is served")
    assert two.tiers({2}) == ([PricedTier(0, told, [], [], {})], "")
    assert two.tiers({0, 1}) == ([PricedTier(1, told, [], [], {})], "")
    assert two.tiers({0, 1, 2}) == ([PricedTier(0, told, [], [], {})], "")
    # Who cannot have more than it is promised rises in no tier.
    kept = [USERS[0], USERS[1], USERS[2] | {"guarantee": {"b": 4}}]
    assert market((1, 1, 2), users=kept, proof={"prices": prices}).tiers(set())[0] == [PricedTier(0, told, [], [], {})]
    # Nor who has no place.
    barred = [USERS[0], USERS[1], USERS[2] | {"max_tasks": 0}]
    assert market((1, 1, 0), users=barred, proof={"prices": prices}).tiers(set())[0] == [
        PricedTier(0, told, [], [], {})
    ]
    step = {"turn": 0, "prices": prices}
    later = {"turn": 1, "prices": prices, "held": {"0": "1/2"}, "full": [{"prices": prices}]}
    for rows, right in (([step, later], 2), ([later, step], 0), ([step, step], 0), ([], 0), ([later], 1)):
        tiers, why = market((1, 1, 1), proof={"tiers": rows}).tiers(set())
        assert (len(tiers), bool(why)) == (right, not right)
    (one,), _ = market((1, 1, 1), proof={"tiers": [later]}).tiers(set())
    assert one == PricedTier(1, told, [], [(told, [])], {0: F(1, 2)})


def test_who_could_rise_is_in_some_tier():
    for stuck, turn, missing in ((set(), 0, "C"), (set(), 1, "AB"), ({0}, 1, "B"), ({2}, 0, ""), ({0, 1, 2}, 5, "")):
        tiers = [PricedTier(turn, [], [], [], {})]
        assert [name[0] for name in market((1, 1, 1)).left_out(tiers, stuck)] == list(missing)
    users = [USERS[0], USERS[1] | {"max_tasks": 0}, USERS[2] | {"guarantee": {"b": 4}}]
    assert [name[0] for name in market((1, 0, 2), users=users).left_out([], set())] == ["A"]


def test_a_number_of_64_bits_is_not_below_the_value_and_hardly_above():
    for value in (F(0), F(1, 3), F(10**30, 7), F(1, 10**40), F(3), F(-1, 3), F(10**40 + 1, 10**40)):
        found = _up(value)
        assert value <= found <= value + abs(value) / 2**62
        assert found.denominator & (found.denominator - 1) == 0


@pytest.mark.parametrize(
    ("second", "holds"), [("1/2", True), ("0.4999999999", True), ("0.499999999", None), ("0.49", False), ("0.1", False)]
)
def test_what_is_left_to_a_later_tier_is_measured_by_what_it_has(second, holds):
    """All but half of 10^9 is what others have: a fifth of the half was accepted, as a part of all."""
    users = [
        {"name": "A", "demand": {"a": 1}, "max_tasks": "999999999.5", "tier": 1},
        {"name": "B", "demand": {"a": 1}},
    ]
    claim = market((F("999999999.5"), F(second)), "ceei", "1e-9", False, users, room=(10**9, 1))
    price = 1 / F(second)
    claim.fair(PricedTier(1, [[price, F(0)]], [], [], {}), {0})
    checks = {check.name: check for check in claim.report.checks}
    money = checks["all money is spent where tasks are cheapest"]
    assert money.holds is holds
    assert ("which may be rounding of what others have" in money.worst) == (holds is None)


def test_in_fractions_nothing_is_rounding():
    users = [{"name": "A", "demand": {"a": 1}}]
    claim = market((1 - F(1, 10**30),), "ceei", 0, False, users, room=(1, 1))
    claim.fair(PricedTier(0, [[1 / claim.x[0], F(0)]], [], [], {}), set())
    assert {check.name: check.holds for check in claim.report.checks}[
        "all money is spent where tasks are cheapest"
    ] is False
