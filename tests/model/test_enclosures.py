"""What is said of numbers known between two fractions is certain, and where nothing is, nothing is said."""

from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drfopt.base.numbers.enclosures import Enclosure, above, at_least, beginning, equal, lower, upper
from drfopt.model.instance import Instance
from drfopt.solving.allocating import solve

FRACTIONS = st.fractions(min_value=-4, max_value=4, max_denominator=6)


@st.composite
def enclosed(draw):
    """Return a value and something that encloses it."""
    low, value, high = sorted(draw(st.tuples(FRACTIONS, FRACTIONS, FRACTIONS)))
    return value, draw(st.sampled_from([value, Enclosure(low, high)]))


@given(one=enclosed(), other=enclosed())
def test_a_verdict_holds_for_the_values_enclosed(one, other):
    (x, around_x), (y, around_y) = one, other
    for verdict, truth in ((at_least, x >= y), (above, x > y), (equal, x == y)):
        assert verdict(around_x, around_y) in (None, truth)
        assert verdict(x, y) is truth


@given(one=enclosed(), other=enclosed())
def test_arithmetic_encloses_what_it_should(one, other):
    (x, around_x), (y, around_y) = one, other
    for value, around in (
        (x + y, around_x + around_y),
        (x - y, around_x - around_y),
        (x * y, around_x * around_y),
    ):
        assert lower(around) <= value <= upper(around)
    if isinstance(around_x, Enclosure) and y and (not isinstance(around_y, Enclosure) or 0 not in around_y):
        assert x / y in around_x / around_y


def test_verdicts():
    unit = Enclosure(F(1), F(2))
    assert at_least(unit, 1) is True
    assert at_least(F(1, 2), unit) is False
    assert at_least(unit, unit) is None
    assert above(unit, 1) is None
    assert above(3, unit) is True
    assert equal(unit, 3) is False
    assert equal(unit, unit) is None
    assert equal(Enclosure(F(1), F(1)), 1) is True


def test_a_float_is_refused_with_the_remedy():
    with pytest.raises(TypeError, match="exact=True"):
        at_least(0.1, F(1, 10))
    with pytest.raises(ValueError, match="smaller end first"):
        Enclosure(F(2), F(1))
    with pytest.raises(ZeroDivisionError, match="may be 0"):
        Enclosure(F(1), F(2)) / Enclosure(F(-1), F(1))


@pytest.mark.parametrize(
    ("value", "digits"),
    [
        (F(2, 3), "0.66666666666666666..."),
        (F(-1, 3), "-0.33333333333333333..."),
        (Enclosure(F(33333, 10**5), F(33335, 10**5)), "0.3333..."),
        (F(10**21 - 1, 10**21), "0.9999999999999999..."),
        (F(10**40, 3), "3.3333333333333333E+39..."),
        (Enclosure(1 - F(1, 10**20), 1 + F(1, 10**20)), "1 +- 1e-20"),
        (Enclosure(F(13, 5) - F(1, 10**40), F(13, 5)), "2.6 +- 1e-40"),
        (Enclosure(F(3, 10) - F(12, 10**41), F(3, 10)), "0.3 +- 2e-40"),
        (Enclosure(F(-1), F(1)), "0 +- 1e+0"),
        (F(0), "0"),
    ],
)
def test_the_first_digits_are_cut_and_are_those_of_both_ends(value: F | Enclosure, digits: str) -> None:
    assert beginning(value) == digits


def test_a_table_of_exact_numbers_has_their_digits() -> None:
    root = "0.57735026918962576450914878050195745564760175127012687601860232648"
    table = solve(Instance.library("ceei-irrational-min"), "ceei", exact=True).sheet()
    assert root[:19] + "..." in table.rows[0]
