"""What whole tasks are worth to the verifier, in integers: by enumeration against sums, products, and utilities."""

import itertools
import math
import random
from collections import Counter
from decimal import Context, Decimal
from fractions import Fraction as F
from types import SimpleNamespace

import pytest

from drfopt.certificates.verifier import whole_values
from drfopt.certificates.verifier.branches import Undecided
from drfopt.certificates.verifier.claims import Claim
from drfopt.certificates.verifier.cluster import Cluster
from drfopt.certificates.verifier.whole_values import Value, ValueProof, value_refuted

EXACT = Context(prec=300)
SAME = F(1, 10**200)

MOST, RATES, WEIGHTS, TURNS = (4, 2, 3, 2), (F(2), F(1, 3), F(1), F(1)), (F(1, 2), F(1), F(3, 2), F(1)), (0, 0, 1, 1)
"""Of three users of two tiers, and a fourth who is barred."""

BARRED = 3
KINDS = [("sum", 0), *(("alpha", F(a)) for a in ("1", "2", "3", "1/2", "3/2"))]
EVERY = list(itertools.product(*(range(most + 1) for most in MOST[:BARRED]), (0,)))


def valued(kind, alpha, own, most=MOST, rates=RATES, weights=WEIGHTS, turns=TURNS, barred=(BARRED,)):
    claim = SimpleNamespace(
        objective=kind, alpha=alpha, x=own, turns=turns, barred=set(barred), r=rates, income=weights,
        c=SimpleNamespace(users="ABCD"),
    )  # fmt: skip
    return Value(claim, SimpleNamespace(users=list(range(len(own))), alone=lambda _, i: most[i]))


def utility(alpha, weight, rate, x):
    """The weighted utility of x > 0 tasks; of the logarithm the rate counts for nothing."""
    if alpha == 1:
        return weight * F(EXACT.ln(Decimal(x)))
    level, power = rate * x, 1 - alpha
    if power.denominator == 1:
        return weight * level ** int(power) / power
    base, b = (EXACT.divide(Decimal(v.numerator), Decimal(v.denominator)) for v in (level, power))
    return weight * F(EXACT.power(base, b)) / power


def truth(kind, alpha, tasks, mine):
    """What tasks are worth to some users: how many of them are served, where that counts first, and the sum."""
    if kind == "sum":
        return 0, sum(RATES[i] * tasks[i] for i in mine)
    served = [i for i in mine if tasks[i]]
    return len(served) * (alpha >= 1), sum((utility(alpha, WEIGHTS[i], RATES[i], tasks[i]) for i in served), F(0))


def sign_of(one, other):
    served, more = one[0] - other[0], one[1] - other[1]
    more = served or (0 if abs(more) < SAME else more)
    return (more > 0) - (more < 0)


TIERS = [[0, 1], [2, 3]]


def signs(kind, alpha):
    """Yield what is claimed, its value, other tasks, and which of them are truly worth more to each tier."""
    worth = {x: [truth(kind, alpha, x, mine) for mine in TIERS] for x in EVERY}
    for own in EVERY[:: 1 if kind == "sum" else 9]:
        value = valued(kind, alpha, own)
        for x in EVERY:
            yield own, value, x, [sign_of(*both) for both in zip(worth[x], worth[own], strict=True)]


@pytest.mark.parametrize(("kind", "alpha"), KINDS)
def test_tasks_are_compared_as_they_are_worth(kind, alpha):
    for own, value, x, (first, second) in signs(kind, alpha):
        assert [value.compared(x, t) for t in (0, 1)] == [first, second], (own, x)
        assert value.better(x, 1) is (first > 0)
        assert value.better(x, 2) is value.better(x) is ((first or second) > 0)


@pytest.mark.parametrize(("kind", "alpha"), KINDS)
def test_what_is_worth_more_exceeds_the_claim_by_the_margin_and_the_claim_does_not(kind, alpha):
    for own, value, x, sign in signs(kind, alpha):
        for t, mine in enumerate(TIERS):
            if sign[t] > 0:
                assert sum(value.high(i, x[i]) for i in mine) >= value.least[t] + value.margin[t], (own, x)
            if kind == "alpha" and alpha in (2, 3):  # Of values with a common denominator none is nearer.
                every = (utility(alpha, WEIGHTS[i], RATES[i], y) for i in range(BARRED) for y in range(1, MOST[i] + 1))
                assert value.margin[t] * math.lcm(*(v.denominator for v in every)) <= value.unit
            if F(alpha).denominator == 1:
                assert value.compared(own, t, value.margin[t]) == -1
            else:  # Nothing is known of how near others are.
                assert value.margin[t] == 0


@pytest.mark.parametrize(("kind", "alpha"), KINDS)
def test_tasks_are_worth_what_lies_between_low_and_high_and_who_is_served_more_than_all_that(kind, alpha):
    value = valued(kind, alpha, (1, 1, 1, 0))
    assert value.most == dict(enumerate((*MOST[:BARRED], 0)))
    for i in range(BARRED):
        power = value.power[i] / WEIGHTS[i] if alpha == 1 else 1
        assert value.low(i, 0) == value.high(i, 0) == 0
        for x in range(1, MOST[i] + 1):
            known = F(value.unit) * truth(kind, alpha, [x] * 4, [i])[1] * power
            served = value.served if kind == "alpha" and alpha >= 1 else 0
            assert value.low(i, x) <= known + served <= value.high(i, x)
    if kind == "alpha" and alpha < 1:
        assert value.served == 0
    if kind == "alpha" and alpha >= 1:
        rows = [
            ([value.low(i, y) for i, y in enumerate(x)], [value.high(i, y) for i, y in enumerate(x)]) for x in EVERY
        ]
        for (x, (low, _)), (y, (_, high)) in itertools.product(zip(EVERY, rows, strict=True), repeat=2):
            if sum(map(bool, x)) > sum(map(bool, y)):
                assert sum(low) > sum(high)


@pytest.mark.parametrize(("kind", "alpha"), KINDS)
def test_the_best_within_bounds_is_that_of_all_numbers_of_tasks(kind, alpha):
    value = valued(kind, alpha, (1, 1, 1, 0), most=(30, 9, 20, 2))
    for i, parts, (low, high) in itertools.product(range(BARRED), (0, 1, 3), ((0, 9), (1, 7), (0, 0), (2, 5), (4, 4))):
        step = value.high(i, 5) - value.high(i, 4)
        for cost in (0, 1, step // 3, step, 2 * step, 5 * step, 3 * value.unit):
            best = value.best(i, cost, low, high, parts)
            assert best <= max(parts * value.high(i, x) - cost * x for x in range(low, high + 1))
            assert best >= max(parts * value.low(i, x) - cost * x for x in range(low, high + 1))


@pytest.mark.parametrize("alpha", [F(1, 2), F(3, 2), F(2), F(3)])
def test_what_a_task_more_is_worth_is_known_to_many_digits(alpha):
    """However much a user can run, however far levels and weights are apart, in fractions or in roots."""
    for most, rate, weight in itertools.product((1, 10**6), (F(1, 10**9), F(1), F(10**9)), (F(1), F(1, 10**8))):
        value = valued("alpha", alpha, (1, 1), (most, 1), (rate, F(1)), (weight, F(1)), (0, 0), ())
        x = max(most - 1, 1)
        step = value.low(0, x + 1) - value.low(0, x)
        assert step > 10**35 * (value.high(0, x) - value.low(0, x))


def test_a_large_product_of_a_tier_is_known_as_well_as_a_small_one_of_another():
    for own in ((10**25, 1), (1, 10**50)):
        value = valued("alpha", F(1), own, (10**51, 10**51), turns=(0, 1), weights=(F(1), F(1)), barred=())
        for t in (0, 1):
            assert value.compared(own, t, value.margin[t]) == -1
            more = [x + (p == t) for p, x in enumerate(own)]
            assert value.high(t, more[t]) >= value.least[t] + value.margin[t]


def two(alpha, weights, most=(9, 9), own=(1, 1)):
    return valued("alpha", alpha, own, most, (F(1),) * 2, weights, (0, 0), ())


@pytest.mark.parametrize(("alpha", "weight"), [(F(3), 100), (F(1), 10**45)])
def test_who_is_served_counts_more_than_much_weight(alpha, weight):
    value = two(alpha, (F(weight), F(weight if alpha > 1 else 1)))
    assert value.low(0, 1) + value.low(1, 1) > value.high(0, 9)


def test_of_much_weight_logarithms_are_known_as_well():
    value = two(F(1), (F(10**6), F(1)))
    for x in range(1, 10):
        known = value.served + value.unit * 10**6 * F(EXACT.ln(Decimal(x)))
        assert value.low(0, x) <= known <= value.high(0, x)


def test_of_many_tasks_a_common_denominator_is_not_too_long():
    value = two(F(3), (F(1), F(1)), (60, 60))
    assert value.compared([1, 1], 0, value.margin[0]) == -1


def test_products_that_are_too_long_are_compared_by_logarithms(monkeypatch):
    """As far as these are known: of other numbers with the same product nothing is said."""
    monkeypatch.setattr(whole_values, "LONGEST", 0)
    rates, weights, turns, most = (F(1),) * 2, (F(1),) * 2, (0, 0), (4, 4)
    every = list(itertools.product(range(5), repeat=2))
    for own, x in itertools.product(every, repeat=2):
        value = valued("alpha", F(1), own, most, rates, weights, turns, ())
        assert value.margin == [0]
        (served, product), (had, known) = ((sum(map(bool, y)), math.prod(v for v in y if v)) for y in (x, own))
        sign = (served, product) > (had, known)
        unsaid = served == had and product == known and sorted(x) != sorted(own)
        assert value.compared(x, 0, value.margin[0]) == (
            None if unsaid else sign or ((served, product) == (had, known)) - 1
        )
        assert value.better(x) is (None if unsaid else sign)


def test_who_has_no_level_has_no_utility_but_who_is_barred_needs_none():
    rates = (F(1), F(0))
    for alpha in (F(1, 2), F(2)):
        with pytest.raises(Undecided, match="the level of B is 0 whatever it has"):
            valued("alpha", alpha, (1, 0), (3, 3), rates, turns=(0, 0), barred=())
        assert valued("alpha", alpha, (1, 0), (3, 3), rates, turns=(0, 0), barred=(1,)).better((2, 0)) is True


def test_powers_that_are_too_long_are_not_followed():
    with pytest.raises(Undecided, match="levels to the power -2999 are too far apart"):
        valued("alpha", F(3000), (1, 1), (99, 99), turns=(0, 0), barred=())


# ---- leaves ------------------------------------------------------------------------------------------------------


def claimed(policy, users, room, own, **more):
    """The claim that users, by name with what is said of them, have these whole tasks of a pool."""
    rows = [{"name": name, **said} for name, said in users.items()]
    said = [{"name": name, "tasks": x} for name, x in zip(users, own, strict=True)]
    cluster = Cluster({"capacity": room, "users": rows, **more})
    return Claim(cluster, {"policy": policy, "integer": True, "users": said})


def drawn(chance, policy):
    """A claim of two tiers of a pool, with a user of two types; prices, what the first tier counts, and bounds."""
    needs = [{"a": chance.randint(1, 2), "b": chance.randint(0, 3)} for _ in range(3)]
    kinds = [{"demand": {"a": 1, "b": chance.randint(0, 2)}, "count": chance.randint(1, 3)} for _ in range(2)]
    users = {name: {"demand": row, "tier": chance.randint(0, 1)} for name, row in zip("ABC", needs, strict=True)}
    users["D"] = {"tasks": kinds, "tier": chance.randint(0, 1)}
    own = [chance.randint(0, 2) for _ in users]
    claim = claimed(policy, users, {"a": 7, "b": 9}, own)
    leaf = {"prices": {r: str(F(chance.randint(0, 9), chance.randint(1, 3))) for r in "ab"}}
    leaf["held"] = {"0": str(F(chance.randint(1, 5), 2))} if chance.random() < 0.7 else {}
    most = [sequence.most for sequence in claim.sequences]
    if chance.random() < 0.4:
        near = [max(0, min(x + chance.randint(-1, 1), u)) for x, u in zip(own, most, strict=True)]
        return claim, leaf, {("user", i): (x, x) for i, x in enumerate(near if chance.random() < 0.5 else own)}
    ends = [[chance.randint(0, u), chance.randint(0, u)] for u in most]
    ends = [both if chance.random() < 0.1 else sorted(both) for both in ends]
    return claim, leaf, {("user", i): tuple(ends[i]) for i in chance.sample(range(4), chance.randint(0, 4))}


def left_by(proof, claim, t, leaf, ends):
    """By how much what there is costs more than tasks within bounds are worth less, of the claim's; in value units."""
    value, (rows, room) = proof.value, proof.cluster.rows[0]
    prices = [F(leaf["prices"][r]) * (value.unit if value.curved else 1) for r in "ab"]
    counts = [F(leaf["held"].get("0", 0)), 1] if t else [1, 0]

    def gain(i, x):
        shapes = [proof.cluster.shape_of[good] for good in proof.cluster.goods[i]]
        tasks = zip(claim.sequences[i].started(x), shapes, strict=True)
        return counts[claim.turns[i]] * value.low(i, x) - sum(
            n * p * rows[s][j] for n, s in tasks for j, p in enumerate(prices)
        )

    best = sum(max(gain(i, x) for x in range(low, high + 1)) for i, (low, high) in enumerate(ends))
    return (
        sum(map(math.prod, zip(prices, room, strict=True)))
        + best
        - sum(map(math.prod, zip(counts, value.least, strict=False)))
    )


@pytest.mark.parametrize("policy", ["utilitarian", "ceei", "alpha:2", "alpha:1/2"])
def test_a_leaf_bounds_what_is_better_by_what_its_prices_leave(policy):
    """At most what there is costs, and what everybody's tasks are worth beyond their cost; of sums that is exact."""
    met = Counter()
    for seed in range(150):
        claim, leaf, bounds = drawn(random.Random(seed), policy)
        proof = ValueProof(claim)
        value = proof.value
        ends = [bounds.get(("user", i), (0, value.most[i])) for i in range(4)]
        for t in range(len(value.turns)):
            found = proof.bound(t, leaf, bounds)
            if any(low > high for low, high in ends):
                met["nothing within bounds"] += 1
                assert found is None
                continue
            left = left_by(proof, claim, t, leaf, ends)
            if all(low == high for low, high in ends) and not value.better([low for low, _ in ends], t + 1):
                met["one, and no better"] += 1
                assert found is None
            elif left < value.margin[t]:
                met["refuted"] += 1
                assert found is None
            else:
                met["left"] += 1
                assert abs(found - left) <= (value.unit // 10**30 if value.curved else 0)
    assert len(met) == 4 and min(met.values()) > 5, met


def test_where_nothing_is_branched_upon_tasks_are_between_promise_and_most_and_loads_are_on_all_machines():
    rack = {"machines": [{"name": "m", "capacity": {"a": 3}, "count": 2}], "guarantees": "floor"}
    users = [{"name": "A", "demand": {"a": 2}}, {"name": "B", "demand": {"a": 1}, "guarantee": {"a": 3}}]
    rows = [{"name": "A", "tasks": 1}, {"name": "B", "tasks": 4}]
    claim = Claim(Cluster({**rack, "users": users}), {"policy": "throughput", "integer": True, "users": rows})
    proof = ValueProof(claim)
    load = proof.key({"class": "m", "load": {"A": 1, "B": 1}})
    assert (load, proof.free(load)) == ((0, (1, 1)), (0, 2))
    assert proof.key({"user": "B"}) == ("user", 1)
    assert [proof.free(("user", i)) for i in (0, 1)] == [(0, 2), (3, 6)]


def test_who_has_less_than_it_is_promised_has_no_tree():
    users = {"A": {"demand": {"a": 2}}, "B": {"demand": {"a": 1}, "guarantee": {"a": 3}}}
    with pytest.raises(Undecided, match="B has less than it is promised, which comes before all else"):
        ValueProof(claimed("throughput", users, {"a": 6}, (2, 2)))
    assert ValueProof(claimed("throughput", users, {"a": 6}, (1, 3))).floor == {0: 0, 1: 3}


def test_a_sum_is_refuted_by_a_tree_of_each_tier():
    users = {"A": {"demand": {"a": 2}, "tier": 1}, "B": {"demand": {"a": 1}}}
    half, whole = [{"prices": {"a": "1/2"}}], [{"prices": {"a": "1"}, "held": {"0": "2"}}]
    assert value_refuted(claimed("throughput", users, {"a": 6}, (3, 0)), [half, whole]) == ""
    # Of 7 one is left, which B can have.
    assert (
        value_refuted(claimed("throughput", users, {"a": 7}, (3, 0)), [half, whole]) == "a leaf leaves room for 1 more"
    )
    assert value_refuted(claimed("throughput", users, {"a": 8}, (3, 0)), [half]) == "a leaf leaves room for 1 more"
    with pytest.raises(Undecided, match="ends before all its branches do"):
        value_refuted(claimed("throughput", users, {"a": 6}, (3, 0)), [half])


def test_a_branch_of_a_sum_has_a_leaf_on_both_sides():
    """Of one task at most of both nothing needs a price; of more of A's something does."""
    users = {"A": {"demand": {"a": 2}}, "B": {"demand": {"a": 2}, "max_tasks": 1}}
    own, branch = claimed("throughput", users, {"a": 5}, (1, 1)), {"user": "A", "most": 1}
    free, priced = {"prices": {}}, {"prices": {"a": "1/2"}}
    assert value_refuted(own, [[branch, free, priced]]) == ""
    assert value_refuted(own, [[branch, priced, free]]) == "a leaf leaves room for 1 more"
