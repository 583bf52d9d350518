"""Fractions of thousands of digits: written, read, added up and certified, with python-flint and without."""

import json
import operator
import random
from decimal import Decimal
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drfopt.base.numbers import rationals
from drfopt.base.numbers.enclosures import LONG_BITS, Enclosure, LongNumbers, text
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import Multiple, loads, long_numbers, verify, with_long
from drfopt.certificates.verifier.reading import number, over_one, products, total
from drfopt.model.instance import Instance
from drfopt.solving.allocating import solve

BITS = [0, 1, 63, rationals.SHORT, rationals.SHORT + 1, 9 * rationals.SHORT + 5]


@pytest.fixture(params=["flint", "fractions"])
def arithmetic(request, monkeypatch):
    if request.param == "fractions":
        monkeypatch.setattr(rationals, "FLINT", None)


@pytest.mark.parametrize("bits", BITS)
def test_integers_of_any_length_as_text(arithmetic, bits):
    value = random.Random(bits).getrandbits(bits) | 1 << bits
    for signed in (value, -value, 1 << bits):
        assert int(Decimal(rationals.digits(signed))) == signed
        assert rationals.digits(signed).lstrip("-").isdigit()


@pytest.mark.parametrize("bits", BITS)
def test_a_certificate_file_reads_what_it_wrote(arithmetic, bits):
    drawn = random.Random(bits)
    value = F(drawn.getrandbits(bits + 1) + 1, 2 * drawn.getrandbits(bits + 1) + 1)
    longer = max(value.numerator.bit_length(), value.denominator.bit_length()) > LONG_BITS
    for signed in (value, -value):
        written = text(signed, hexadecimal=True)
        assert ("0x" in written) == longer
        assert number(written) == signed
        assert "0x" not in text(signed)
    assert text(Enclosure(value, value), hexadecimal=True) == {"lower": text(value, True), "upper": text(value, True)}


def test_sums_over_a_common_denominator():
    drawn = random.Random(1)
    long = [F(drawn.getrandbits(900), 6 * (3**500) // drawn.choice([1, 2, 3])) for _ in range(20)]
    strange = [F(1, 2 * drawn.getrandbits(900) + 1) for _ in range(20)]
    short = [F(drawn.randrange(99), 10**3) for _ in range(20)]
    assert over_one(strange)[0] == 1, "no short common denominator"
    for values in (long, strange, short):
        common, tops = over_one(values)
        assert [F(top) / common for top in tops] == values
        assert products(values, short) == sum(x * y for x, y in zip(values, short, strict=True))
    assert products([], []) == 0


def test_a_pool_of_sixteen_digits(arithmetic):
    drawn = np.random.default_rng(0)
    instance = Instance(drawn.uniform(0.1, 8, (150, 3)), drawn.uniform(50, 99, 3))
    allocation = solve(instance, exact=True)
    demands = instance.exact_demands
    for j in range(3):
        assert allocation.used[j] == sum(x * row[j] for x, row in zip(allocation.tasks, demands, strict=True))
    held = [
        max(d * x / c for d, c in zip(row, instance.exact_capacity, strict=True))
        for row, x in zip(demands, allocation.tasks, strict=True)
    ]
    assert allocation.dominant_shares.tolist() == held
    written = json.dumps(certificate_document(allocation))
    assert "0x" in written
    report = verify(loads(written))
    assert report.valid is True and report.accuracy == 0
    answer = allocation.to_dict()
    with with_long(long_numbers(answer)):
        assert [number(user["tasks"]) for user in answer["users"]] == allocation.tasks.tolist()


def test_short_ratios_of_long_fractions():
    drawn = random.Random(3)
    long = F(drawn.getrandbits(20_000) | 1, drawn.getrandbits(30_000) | 1)
    other = F(drawn.getrandbits(20_000) | 1, drawn.getrandbits(30_000) | 1)
    for bits in (1, 60, 190, 600):
        times = F(drawn.getrandbits(bits) + 1, drawn.getrandbits(bits) | 1)
        assert rationals.short_ratio(times * long, long) == times
        assert rationals.short_ratio(-times * long, long) == -times
        assert rationals.short_ratio(times * long + F(1, 2**40_000), long) is None, "nearly is not"
    assert rationals.short_ratio(other, long) is None


def test_what_is_long_is_written_once():
    long, drawn = F(3**3_000, 2**4_200), random.Random(4)
    numbers = LongNumbers()
    assert numbers.text(F(1, 3)) == "1/3"
    assert numbers.text(long) == "1*L1" and numbers.text(F(-2, 3) * long) == "-2/3*L1"
    assert numbers.product(F(6), F(-2, 3) * long) == "-4*L1"
    apart = [F(1, drawn.getrandbits(5_000) | 1) for _ in range(30)]
    written = [numbers.text(value) for value in apart]
    with with_long(long_numbers({"long": numbers.table})):
        assert [number(text) for text in written] == apart, "those beyond the table in hexadecimal"
        with pytest.raises(ValueError, match="'L99', which is not under 'long'"):
            number("2*L99")
    with pytest.raises(ValueError, match="'L1' is not positive"):
        long_numbers({"long": {"L1": "0"}})


NUMBERS = st.fractions(-9, 9, max_denominator=9)


@pytest.mark.parametrize("longs", [(F(7, 3), F(7, 3)), (F(7, 3), F(5, 9))])
@given(st.lists(st.tuples(NUMBERS, st.booleans()), min_size=1, max_size=5), NUMBERS)
def test_multiples_compute_as_what_they_are_worth(longs, drawn, other):
    """Not multiplied out, multiples of the same and of other numbers add up, compare and multiply as fractions do."""
    values = [Multiple(times, longs[first]) for times, first in drawn]
    plain = [times * longs[first] for times, first in drawn]
    assert total([*values, other]) == sum(plain, other) and total(values) == sum(plain)
    for value, worth in zip(values, plain, strict=True):
        assert value == worth and bool(value) == bool(worth) and abs(value) == abs(worth)
        assert value * other == other * value == worth * other and value + other == other + value == worth + other
        assert value - other == worth - other and float(value) == float(worth) and hash(value) == hash(worth)
        for against, there in [(other, other), (0, 0), *zip(values, plain, strict=True)]:
            for compared in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq):
                assert compared(value, against) == compared(worth, there) and compared(there, value) == compared(
                    there, worth
                )
        if worth:
            assert other / value == other / worth and value / worth == 1
