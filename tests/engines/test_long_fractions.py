"""Fractions of thousands of digits: written, read, added up and certified, with python-flint and without."""

import json
import random
from decimal import Decimal
from fractions import Fraction as F

import numpy as np
import pytest

from drfopt.base.numbers import rationals
from drfopt.base.numbers.enclosures import LONG_BITS, Enclosure, text
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import loads, verify
from drfopt.certificates.verifier.reading import number, over_one, products
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
    users = allocation.to_dict()["users"]
    assert [number(user["tasks"]) for user in users] == allocation.tasks.tolist()
