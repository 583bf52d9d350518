"""What whole tasks are worth to the verifier, in integers: by enumeration against sums, products, and utilities."""

import itertools
import math
from decimal import Context, Decimal
from fractions import Fraction as F
from types import SimpleNamespace

import pytest

from drfopt.certificates.verifier import whole_values
from drfopt.certificates.verifier.branches import Undecided
from drfopt.certificates.verifier.whole_values import Value

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
