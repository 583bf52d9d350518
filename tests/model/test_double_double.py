"""Numbers of 32 digits beside fractions: what they err by is at most what their module says."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drfopt.base.numbers.double_double import UNIT, DoubleDouble

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


def test_what_floats_cannot_tell_is_told():
    third = DoubleDouble.of([Fraction(1, 3)])
    left = (third * 3.0 - 1.0).fraction(0)
    assert abs(left) <= UNIT * 2 and float(Fraction(1 / 3) * 3 - 1) != 0.0
    table = DoubleDouble(np.ones((2, 3)))
    table[:, 1] = DoubleDouble.of([Fraction(1, 3), Fraction(2, 3)])
    assert table.sum(axis=1).high == pytest.approx([7 / 3, 8 / 3])
    assert DoubleDouble(np.zeros((0, 2))).sum().high.tolist() == [0, 0]
