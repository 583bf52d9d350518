"""Numbers of 32 digits beside fractions: what they err by is at most what their module says."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drfopt.base.numbers.double_double import UNIT, DoubleDouble
from drfopt.model.instance import Instance

NUMBERS = st.fractions().filter(bool).map(lambda x: x * Fraction(10) ** (x.numerator % 19 - 9))


def taken(value):
    return value.fraction(0)


@given(a=NUMBERS, b=NUMBERS)
def test_operations_err_by_no_more_than_a_unit(a, b):
    one, two = DoubleDouble.of([a]), DoubleDouble.of([b])
    a, b = taken(one), taken(two)
    assert abs(taken(one + two) - (a + b)) <= UNIT * (abs(a) + abs(b))
    assert abs(taken(one - two) - (a - b)) <= UNIT * (abs(a) + abs(b))
    assert abs(taken(one * two) - a * b) <= UNIT * abs(a * b)
    assert abs(taken(one / two) - a / b) <= UNIT * abs(a / b)


@given(a=NUMBERS, power=st.integers(1, 12), degree=st.integers(1, 7))
def test_powers_and_roots(a, power, degree):
    one = DoubleDouble.of([1 + abs(a) % 7])
    raised, root = taken(one.power(power)), taken(one.root(degree))
    assert abs(raised / taken(one) ** power - 1) <= 2 * power * UNIT
    assert abs(root**degree / taken(one) - 1) <= 4 * degree * UNIT


@given(values=st.lists(NUMBERS, min_size=1, max_size=30))
def test_sums_and_least(values):
    table = DoubleDouble.of(values)
    exact = [table.fraction(q) for q in range(len(values))]
    assert abs(table.sum().fraction(()) - sum(exact)) <= 10 * UNIT * sum(map(abs, exact))
    assert table.least().fraction(()) == min(exact)


def test_sums_of_stretches_are_those_of_each_though_terms_cancel():
    random = np.random.default_rng(5)
    table = DoubleDouble(random.standard_normal(9000) * 10.0 ** random.integers(-20, 1, 9000))
    table = table * DoubleDouble(random.standard_normal(9000))
    table[6000:] = table[:3000] * (-1.0 - 1e-14)
    starts = np.array([0, 1, 3, 50, 3000])
    found = table.sums(starts, np.repeat(np.arange(5), np.diff(starts, append=9000)))
    for at, (begin, end) in enumerate(zip(starts.tolist(), [*starts[1:].tolist(), 9000], strict=True)):
        terms = [table.fraction(q) for q in range(begin, end)]
        assert abs(found.fraction(at) - sum(terms)) <= UNIT * sum(map(abs, terms))


def test_floats_are_their_shortest_decimals():
    random = np.random.default_rng(3)
    floats = np.concatenate(
        [
            random.random(300),
            np.exp(random.uniform(-300, 300, 300)),
            random.integers(1, 10**6, 100) / 1000,
            random.integers(1, 2**62, 100).astype(float),
            random.uniform(9e15, 1e16, 100),
            np.nextafter(10.0 ** random.integers(-20, 20, 100), 0),
            [0, 1, 0.1, 1 / 3, 1e-250, 1e300],
        ]
    )
    found = DoubleDouble.of_decimals(floats)
    for at, value in enumerate(floats.tolist()):
        exact = Fraction(repr(value))
        assert abs(found.fraction(at) - exact) <= UNIT * exact
    assert DoubleDouble.of_decimals(np.array([np.inf])).high.tolist() == [np.inf]


def test_an_instance_knows_its_numbers_to_32_digits():
    instance = Instance([["1/3", 0.1], [2, 3]], [5, 7], weights=[1, "1/7"], max_tasks=[None, "1/9"])
    demands, limits = instance.fine("demands"), instance.fine("limits")
    assert abs(demands.fraction((0, 0)) - Fraction(1, 3)) <= UNIT
    assert abs(demands.fraction((0, 1)) - Fraction(1, 10)) <= UNIT
    assert abs(instance.fine("weights", np.array([1])).fraction(0) - Fraction(1, 7)) <= UNIT
    assert limits.high[0] == np.inf and abs(limits.fraction(1) - Fraction(1, 9)) <= UNIT


def test_what_floats_cannot_tell_is_told():
    third = DoubleDouble.of([Fraction(1, 3)])
    left = (third * 3.0 - 1.0).fraction(0)
    assert abs(left) <= UNIT * 2 and float(Fraction(1 / 3) * 3 - 1) != 0.0
    table = DoubleDouble(np.ones((2, 3)))
    table[:, 1] = DoubleDouble.of([Fraction(1, 3), Fraction(2, 3)])
    assert table.sum(axis=1).high == pytest.approx([7 / 3, 8 / 3])
    assert DoubleDouble(np.zeros((0, 2))).sum().high.tolist() == [0, 0]
