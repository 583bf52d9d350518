"""The verifier's arithmetic by enumeration, against plain fractions: sums, roots, powers, utilities, and their cost."""

import itertools
import math
import operator
from decimal import Context, Decimal
from fractions import Fraction as F

import pytest

from drfopt.certificates.verifier import alpha_utility, exact_sums, powers, reading, work

AMOUNTS = [F(v) for v in ("0", "1", "-2", "1/2", "-1/3", "5/6")]
LISTS = [values for n in range(4) for values in itertools.product(AMOUNTS, repeat=n)]


@pytest.mark.parametrize("text", ["１２", "1/٢", "0.٥"])
def test_digits_of_other_scripts_are_no_numbers(text):
    with pytest.raises(reading.Unread, match="is not a number"):
        reading.number(text)


def test_sums_are_those_of_fractions():
    apart = [F(1, prime) for prime in (2, 3, 5, 7, 11, 13, 17)]
    for values in [*LISTS, (2,), (1, 3), (F(1, 2), 3), *(apart[:n] for n in range(4, 8))]:
        found = exact_sums.total(values)
        assert found == sum(values) and isinstance(found, F)


def test_sums_of_multiples_are_multiples_while_they_can_be():
    one, other = F(7, 3), F(5, 9)
    for times in itertools.product([F(0), F(1, 2), F(-2)], repeat=3):
        for longs in itertools.product([one, other], repeat=3):
            for rest in ([], [F(0)], [F(1, 6)], [F(0), F(-3)]):
                values = [exact_sums.Multiple(*pair) for pair in zip(times, longs, strict=True)]
                found = exact_sums.total([*values, *rest])
                assert found == sum(t * long for t, long in zip(times, longs, strict=True)) + sum(rest)
                assert (type(found) is exact_sums.Multiple) == (len(set(longs)) == 1 and not any(rest))


def test_multiples_are_compared_and_multiplied_as_what_they_are_worth():
    one, other, times = F(7, 3), F(5, 9), [F(0), F(1, 2), F(-2), F(3, 7)]
    multiples = [(exact_sums.Multiple(t, long), t * long) for t, long in itertools.product(times, [one, other])]
    plain = [(v, v) for v in (0, 1, -2, F(7, 6), F(-5, 6), F(1))]
    for (a, x), (b, y) in itertools.product(multiples, [*multiples, *plain]):
        for told in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.mul, operator.add):
            assert told(a, b) == told(x, y) and told(b, a) == told(y, x)
    for a, x in multiples:
        assert bool(a) == bool(x) and hash(a) == hash(x) and isinstance(a, F)
        assert [type(v) for v in (a * 2, F(1, 3) * a, a + 0)] == [exact_sums.Multiple] * 3
        assert type(a * a) is type(a + 1) is F and a * 0.5 == float(x) / 2
        with pytest.raises(AttributeError, match="size"):
            _ = a.size


def test_sums_of_products_are_those_of_fractions():
    for left, right in itertools.product(LISTS[:43], repeat=2):
        if len(left) == len(right):
            assert exact_sums.products(left, right) == sum(a * b for a, b in zip(left, right, strict=True))


def test_a_common_denominator_is_the_least():
    for values in LISTS:
        common, tops = exact_sums.over_one(values)
        assert common == math.lcm(*(v.denominator for v in values))
        assert list(tops) == [v * common for v in values] and all(isinstance(top, int) for top in tops)
    multiple = exact_sums.Multiple(F(1, 2), F(2, 3))
    assert exact_sums.over_one([multiple, F(1, 5)]) == (1, [multiple, F(1, 5)])


@pytest.mark.parametrize("more", [0, 1])
def test_a_common_denominator_is_up_to_so_much_longer_than_each(monkeypatch, more):
    values = [F(1, 2**9), F(1, 3**5), F(1, 5**3)]
    common = math.prod(v.denominator for v in values)
    monkeypatch.setattr(exact_sums, "LONG_BITS", common.bit_length() - 2 * 10 - more)
    assert exact_sums.over_one(values)[0] == (1 if more else common)


# ---- powers ----------------------------------------------------------------------------------------------------------


def test_roots_are_rounded_down():
    for degree in range(1, 6):
        for value in [*range(1, 300), 2**1300 - 1, 2**1300]:
            found = powers.floor_root(value, degree)
            assert found**degree <= value < (found + 1) ** degree


@pytest.mark.parametrize("exponent", [F(p, q) for q in (1, 2, 3) for p in (-4, -1, 1, 2, 5) if math.gcd(p, q) == 1])
def test_powers_are_between_their_ends(exponent):
    degree = exponent.denominator
    for top, bottom, digits in itertools.product([1, 2, 8, 9, 10**9], [1, 4, 27, 10**12 + 1], [1, 7]):
        base = F(top, bottom)
        low, high = powers.power_between(base, exponent, digits)
        value = base**exponent.numerator
        perfect = any(F(a, b) ** degree == base for a in range(1, 10) for b in range(1, 10))
        if low == high:
            assert low**degree == value
        else:
            assert low**degree < value < high**degree and degree > 1
            assert 0 < high - low <= low / F(10) ** digits and not perfect


def test_a_power_has_so_many_bits():
    for base, exponent, ends in (
        (F(2), F(1, 2), F(1, 2**19)),
        (F(8), F(1, 2), F(1, 2**18)),
        (F(1, 8), F(-3, 2), F(1, 2**15)),
    ):
        low, high = powers.power_between(base, exponent, 5)
        assert high - low == ends


def test_a_task_more_is_worth_its_part_of_the_income():
    for income, rate, tasks in itertools.product([F(1), F(3, 2)], [F(1), F(4), F(2, 9)], [F(1), F(1, 3), F(5)]):
        for alpha in (F(2), F(1, 2), F(3, 2)):
            low, high = powers.marginal_between(income, rate, tasks, alpha, 20)
            q, p = alpha.denominator, alpha.numerator
            true = (income * rate) ** q * (rate * tasks) ** -p
            assert low**q <= true <= high**q and high - low <= low / 10**20


def test_digits_are_as_many_as_tell_ends_apart():
    told = powers.digits_between
    assert told([], []) == told([(F(3), F(3))], []) == powers.GUARD
    bits = {16: F(2**15, 1), 64: F(2**63 - 1, 2**63 - 1), 300: F(1, 2**298)}
    assert told([], bits.values()) == math.ceil(150 * math.log10(2)) + powers.GUARD
    near = [(2 + F(1, 2**98), F(2)), (F(3), F(3)), (1 - F(1, 2**9), F(1)), (F(2), F(1))]
    assert told(near, []) == math.ceil(2 * 99 * math.log10(2)) + powers.GUARD
    assert told(near, [F(1, 2**600)]) == math.ceil(301 * math.log10(2)) + powers.GUARD


# ---- alpha fairness --------------------------------------------------------------------------------------------------

EXACT = Context(prec=250)
ALPHAS = [F(v) for v in ("1/2", "3/2", "2/3", "7/3", "2", "3")]
WEIGHTS = [F(v) for v in ("-2", "-1", "1/2", "1", "4")]
LEVELS = [F(v) for v in ("1", "2", "8", "1/8", "27/8", "3")]


def decimal(value):
    return EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))


def utility(alpha, level):
    return F(EXACT.power(decimal(level), decimal(1 - alpha))) / (1 - alpha)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_sign_of_a_sum_of_utilities_is_known(alpha):
    terms = list(itertools.product(WEIGHTS, LEVELS))
    worth = {term: term[0] * utility(alpha, term[1]) for term in terms}
    one = alpha_utility.AlphaUtility(alpha)
    for n in range(3):
        for chosen in itertools.combinations(terms, n):
            true = sum(worth[term] for term in chosen)
            true = 0 if abs(true) < F(1, 10**90) else true
            assert one.sign(chosen) == (true > 0) - (true < 0), chosen
    for chosen in itertools.combinations(terms[::5], 3):
        true = sum(worth[term] for term in chosen)
        true = 0 if abs(true) < F(1, 10**90) else true
        assert one.sign(chosen) == (true > 0) - (true < 0), chosen


def test_what_is_small_beside_others_that_cancel_is_not_told_by_few_digits():
    near = [(F(1), F(10**90 + 1)), (F(-1), F(10**90)), (F(-1), F(1, 10**92))]
    assert alpha_utility.AlphaUtility(F(1, 2)).sign(near) == 1


def test_units_are_below_what_a_rounded_power_is_above():
    for alpha, level, unit in ((F(1, 2), 9 - F(1, 10**60), 1), (F(5, 3), 10**30 - F(1, 10**30), 2 * 10**20)):
        one = alpha_utility.AlphaUtility(alpha)
        assert one.units(F(1), level, unit) <= utility(alpha, level) * unit


@pytest.mark.parametrize("alpha", [F(1, 2), F(3, 2)])
@pytest.mark.parametrize("digits", [30, 100, 400, 900])
def test_sums_are_told_apart_up_to_a_number_of_digits(alpha, digits):
    near = [(F(1), F(10**digits + 1)), (F(-1), F(10**digits))]
    found = alpha_utility.AlphaUtility(alpha).sign(near)
    assert found == (None if digits > 640 else 1)
    assert alpha_utility.AlphaUtility(alpha).sign([(-w, y) for w, y in near]) == (None if digits > 640 else -1)


@pytest.mark.parametrize(
    ("alpha", "tasks"), [("2", 7), ("2", 10**17), ("3/2", 10**17), ("1/2", 10**7), ("1/1000000000", 10**7)]
)
def test_where_utility_less_its_cost_is_largest_is_known_to_one_task(alpha, tasks):
    """Of many tasks, and of an alpha of next to nothing, floats would be off by thousands."""
    one, weight, rate, best = alpha_utility.AlphaUtility(F(alpha)), F(3), F(1, 7), F(2 * tasks + 1, 2)
    cost = weight * rate * F(EXACT.power(decimal(rate * best), decimal(-one.alpha)))
    assert abs(one.chosen(weight, rate, cost, 9 * tasks) - tasks) <= 1
    assert one.chosen(weight, rate, cost, tasks - 2) == tasks - 2


@pytest.mark.parametrize("degree", [2, 3, 4])
def test_a_root_is_that_of_a_power(degree):
    one = alpha_utility.AlphaUtility(1 - F(1, degree))
    for ratio in {F(a, b) for a, b in itertools.product([*range(1, 20), 27, 64, 81, 625, 1000, 10**24], repeat=2)}:
        roots = (round(v ** (1 / degree)) for v in ratio.as_integer_ratio())
        root = F(*roots)
        assert one.root(ratio) == (root if root**degree == ratio else None)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_utilities_are_known_in_units_and_to_digits(alpha):
    one = alpha_utility.AlphaUtility(alpha)
    for level, weight in itertools.product([*LEVELS, F(10**60), F(1, 10**60)], [F(1, 3), F(1), F(10**40)]):
        true = weight * utility(alpha, level)
        for unit in (1, 7, 10**40):
            low = one.units(weight, level, unit)
            assert low <= true * unit <= low + (1 if alpha.denominator == 1 else 2)
            assert alpha.denominator > 1 or low == math.floor(true * unit) or abs(true * unit - low - 1) < F(1, 10**60)
        for digits in (5, 30):
            about = one.about(level, digits)
            assert alpha.denominator > 1 or about == level ** int(1 - alpha)
            assert abs(about / (1 - alpha) - true / weight) <= abs(true / weight) / F(10) ** digits
        assert one.log10(level) == pytest.approx(math.log10(level), abs=1e-12)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_what_is_chosen_is_worth_its_cost(alpha):
    one = alpha_utility.AlphaUtility(alpha)
    for weight, rate in itertools.product([F(1, 3), F(1), F(900)], [F(1), F(2, 7), F(11)]):
        for cost, most in itertools.product([F(1), F(10**9), F(1, 50), F(1, 10**9)], [0, 9, 10**6]):
            # Of  weight rate (rate x)^-alpha = cost  the root.
            base, power = decimal(weight * rate / cost), decimal(1 / alpha)
            best = min(F(EXACT.power(base, power)) / rate, most)
            found = one.chosen(weight, rate, cost, most)
            assert found == math.floor(best) or (abs(best - round(best)) < F(1, 10**20) and abs(found - best) <= 1)


# ---- what it costs ---------------------------------------------------------------------------------------------------


def spent(doing, *args):
    """What is taken of long numbers, steps and grants."""
    with work.metered(bounded=True):
        doing(*args)
        left = work.LEFT.get()
        return work.LONG_WORK - left.long, work.STEPS - left.steps, work.LONG_GRANTS - left.grants


def test_work_is_counted():
    short, long = work.SHORT_BITS, work.SHORT_BITS + 1
    assert spent(lambda: None) == (0, 0, 0)
    assert spent(work.spend, short) == (0, 1, 0) and spent(work.spend, short, 5) == (0, 5, 0)
    assert spent(work.spend, long) == (long**2, 0, 0) and spent(work.spend, long, 3) == (3 * long**2, 0, 0)
    plain = work.LONG_GRANT
    for size, more in ((0, plain), (short, plain), (long, plain + long**2), (10**9, work.LONG_GRANTS)):
        assert spent(work.grant, size) == (-more, -work.STEPS_GRANT, more)
    with work.metered(bounded=True):
        work.grant(10**9)
        work.grant(0)
        left = work.LEFT.get()
        assert (left.grants, left.long) == (0, work.LONG_WORK + work.LONG_GRANTS)
        assert left.steps == work.STEPS + 2 * work.STEPS_GRANT


def test_work_ends_when_there_is_none_left():
    with work.metered(bounded=True):
        work.spend(0, work.STEPS)
        with pytest.raises(work.Unfinished):
            work.spend(0)
    assert work.LEFT.get() is None
    with work.metered(bounded=True):
        work.LEFT.get().long = 10**8
        work.spend(10**4)
        work.LEFT.get().long = 10**8 - 1
        with pytest.raises(work.Unfinished):
            work.spend(10**4)
    with work.metered(bounded=False):
        work.grant(1)
        work.spend(10**9, 10**9)
        assert work.LEFT.get() is None


def test_a_product_costs_less_than_a_quotient_as_python_multiplies():
    assert work.bits(F(-5, 8)) == 7 and work.bits(9) == 5
    for one, other, found in (
        (100, 400, 200),
        (400, 100, 200),
        (2_100, 2_100, 2_100),
        (0, 9, 0),
        (2_100, 8_400, 4_200),
    ):
        assert work.to_multiply(one, other) == found
    # Twice as long numbers are multiplied by three products of half of them.
    for size in (4_200, 10**5):
        twice, once = (work.to_multiply(n * size, n * size) ** 2 for n in (2, 1))
        assert twice / once == pytest.approx(3, rel=1e-3)
