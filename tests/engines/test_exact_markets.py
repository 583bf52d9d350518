"""Enclosures of CEEI and alpha fairness: rigorous, as narrow as asked for, and fractions where the optimum is one."""

from decimal import Decimal, localcontext
from fractions import Fraction as F

import pytest
from clusters import clusters, pools
from hypothesis import given, settings

from drfopt.enclosures import Enclosure, lower, upper
from drfopt.instance import Instance
from drfopt.solve import solve

THEOREM_5 = Instance([[4, 1], [1, 16], [16, 1]], [100, 100])
"""Ghodsi et al., NSDI 2011, theorem 5: the optimum is in Q(sqrt 373)."""


@pytest.mark.parametrize("precision", ["1e-3", "1e-30", "1e-100", 1e-12])
def test_theorem_5(precision):
    allocation = solve(THEOREM_5, "ceei", exact=True, precision=precision)
    with localcontext() as context:
        context.prec = 220
        root = Decimal(373).sqrt()
        closed = [125 * (25 - root) / 63, 100 * (38 + root) / 1071, 25 * (root - 13) / 51]
    for found, value in zip(allocation.tasks, closed, strict=True):
        assert isinstance(found, Enclosure)
        assert F(value) in found
        assert found.width <= F(str(precision)) * found.upper
    assert allocation.certificate.valid and allocation.certificate.violation == 0


@pytest.mark.parametrize("policy", ["ceei", "alpha:2", "alpha:3"])
@pytest.mark.parametrize("strategy", [pools, clusters])
def test_enclosures_are_where_the_floats_are(policy, strategy):
    @settings(max_examples=30)
    @given(instance=strategy(6))
    def check(instance):
        exact, floats = solve(instance, policy, exact=True), solve(instance, policy)
        assert exact.certificate.valid
        for x, near in zip(exact.tasks, floats.tasks, strict=True):
            assert lower(x) <= upper(x) <= lower(x) * (1 + F(1, 10**30))
            assert float(x) == pytest.approx(near, rel=1e-8, abs=1e-12)

    check()


def test_a_rational_optimum_is_a_fraction(paper):
    allocation = solve(paper, "ceei", exact=True)
    assert allocation.tasks.tolist() == [F(45, 11), F(18, 11)]
    assert allocation.prices.tolist() == [F(1, 5), F(1, 90)]


def test_what_is_printed_of_an_enclosure():
    allocation = solve(THEOREM_5, "ceei", exact=True)
    first = allocation.to_dict()["users"][0]
    assert set(first["tasks"]) == set(first["level"]) == {"lower", "upper"}
    assert "11.2833176" in str(allocation)
