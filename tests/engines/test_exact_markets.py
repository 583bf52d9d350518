"""Enclosures of CEEI and alpha fairness: rigorous, as narrow as asked for, and fractions where the optimum is one."""

from decimal import Decimal, localcontext
from fractions import Fraction as F

import pytest
from clusters import clusters, pools
from hypothesis import given, settings
from hypothesis import strategies as st
from skewed_markets import skewed_markets

from drfopt.base.numbers import surds
from drfopt.base.numbers.enclosures import Enclosure, lower, upper
from drfopt.base.progress import reporting
from drfopt.engines.nash import enclosure
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.solving.allocating import solve

THEOREM_5 = Instance([[4, 1], [1, 16], [16, 1]], [100, 100])
"""Ghodsi et al., NSDI 2011, theorem 5: the optimum is in Q(sqrt 373)."""


@pytest.mark.parametrize("precision", ["1e-3", "1e-30", "1e-100", 1e-12, "1e-324", "1e-400"])
def test_theorem_5(precision):
    allocation = solve(THEOREM_5, "ceei", exact=True, precision=precision)
    with localcontext() as context:
        context.prec = 820
        root = Decimal(373).sqrt()
        closed = [125 * (25 - root) / 63, 100 * (38 + root) / 1071, 25 * (root - 13) / 51]
    for found, value in zip(allocation.tasks, closed, strict=True):
        assert isinstance(found, Enclosure)
        assert F(value) in found
        assert found.width <= F(str(precision)) * found.upper
    assert allocation.certificate.valid and allocation.certificate.violation == 0


@pytest.mark.sampled(2)
@pytest.mark.parametrize("policy", ["ceei", "alpha:2", "alpha:3", "alpha:0.5"])
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


def test_theorem_5_in_closed_form(paper):
    forms = solve(THEOREM_5, "ceei", exact=True).certificate.evidence.closed_forms
    assert forms == {0: "(3125 - 125 sqrt(373))/63", 1: "(3800 + 100 sqrt(373))/1071", 2: "(-325 + 25 sqrt(373))/51"}
    allocation = solve(paper, "alpha:2", exact=True)
    assert allocation.to_dict()["closed_forms"] == {"A": "-9 + 9 sqrt(2)", "B": "6 - 3 sqrt(2)"}
    assert "closed forms, proven: A -9 + 9 sqrt(2)" in str(allocation)
    # Of degree four or more: nothing is said of it.
    assert solve(THEOREM_5, "alpha:2", exact=True).certificate.evidence.closed_forms == {}


def test_a_wrong_guess_of_a_closed_form_is_not_believed(monkeypatch):
    honest = surds.recognised

    def wrong(values, digits):
        found = honest(values, digits)
        return [found[0] + F(1, 10**50), *found[1:]]

    monkeypatch.setattr(enclosure, "recognised", wrong)
    assert solve(THEOREM_5, "ceei", exact=True).certificate.evidence.closed_forms == {}


SURDS = st.builds(surds.Surd, *[st.fractions(-5, 5, max_denominator=9)] * 2, st.just(7))


@given(x=SURDS, y=SURDS)
def test_surds_are_numbers(x, y):
    def near(value):
        return float(value.a) + float(value.b) * 7**0.5

    assert near(x + y) == pytest.approx(near(x) + near(y), abs=1e-9)
    assert near(2 - x * y) == pytest.approx(2 - near(x) * near(y), abs=1e-9)
    assert x.sign() == (near(x) > 1e-12) - (near(x) < -1e-12)
    if x.sign():
        assert (1 / x) * x == surds.Surd(F(1), F(0), 7)


@pytest.mark.parametrize("policy", ["ceei", "alpha:2"])
def test_rational_machines_with_many_placements(policy):
    # Identical users and machines: neither placements nor prices are unique, the tasks are.
    instance = Instance([[1, 2]] * 4 + [[2, 1]] * 2, machines=[Machine("a", [6, 6], 2), Machine("b", [6, 6], 1)])
    tasks = solve(instance, policy, exact=True).tasks
    assert len(set(map(str, tasks[:4]))) == 1
    assert all(isinstance(x, F) for x in tasks) or policy == "alpha:2"


def test_a_rational_optimum_is_a_fraction(paper):
    allocation = solve(paper, "ceei", exact=True)
    assert allocation.tasks.tolist() == [F(45, 11), F(18, 11)]
    assert allocation.prices.tolist() == [F(1, 5), F(1, 90)]


def test_what_is_printed_of_an_enclosure():
    allocation = solve(THEOREM_5, "ceei", exact=True)
    first = allocation.to_dict()["users"][0]
    assert set(first["tasks"]) == set(first["level"]) == {"lower", "upper"}
    assert "11.2833176" in str(allocation)


def answers(instance, policy):
    """Return tasks in floats and as an enclosure; both are proven."""
    floats = solve(instance, policy)
    assert floats.certificate.valid
    exact = solve(instance, policy, exact=True)
    assert exact.certificate.valid
    for x, near in zip(exact.tasks, floats.tasks.tolist(), strict=True):
        assert max(abs(F(near) - lower(x)), abs(F(near) - upper(x))) <= F(1, 10**8) * upper(x)
    return floats, exact


def test_users_who_differ_by_more_than_floats_resolve():
    ((_, policy, instance),) = skewed_markets(11, [60])
    floats, exact = answers(instance, policy)
    assert floats.engine == "decimal-barrier after barrier"
    assert exact.certificate.evidence.start == "decimal-barrier"
    decimals = solve(instance, policy, engine="decimal-barrier")
    assert decimals.tasks == pytest.approx(floats.tasks, rel=1e-12)


def test_a_start_in_decimals_that_rounding_stopped_near_the_end_has_more_of_them(monkeypatch):
    ((_, policy, instance),) = skewed_markets(4, [186])
    every = enclosure.engines_for
    # Whether floats resolve it is a matter of roundings.
    monkeypatch.setattr(
        enclosure, "engines_for", lambda problem: [e for e in every(problem) if e.name == enclosure.DECIMALS]
    )
    assert solve(instance, policy, exact=True).certificate.evidence.start == "decimal-barrier"


def test_skewed_markets_are_answered():
    for _, policy, instance in skewed_markets(3, range(12)):
        answers(instance, policy)


@pytest.mark.slow
def test_thousands_of_skewed_markets_are_answered(some):
    for _, policy, instance in skewed_markets(4, range(some(5_000))):
        answers(instance, policy)


def test_prices_far_from_utilities_cost_no_digits():
    # Money is 1e40 apart.  That products rise before y and t agree was said to be rounding, four times as many digits
    # were computed, and then it was given up.  No four of the users and no two of the resources show it.
    demands = [[0, 3, 1], [3, "1e-12", 10**6], ["1e-6", "1e-6", 1], ["1e-12", 3, 10**6], [3, "1e-12", 10**6]]
    pool = Instance(demands, ["1e-6", 7, 3], weights=[3, 1, 3, 3, 10**6])
    iterations = []
    with reporting(iterations.append):
        found = solve(pool, "alpha:7", exact=True)
    assert sum(said.startswith("iteration") for said in iterations) < 250
    assert found.certificate.valid and found.certificate.evidence.start == "decimal-barrier"
    assert float(found.tasks[0]) == pytest.approx(7 / 3, rel=1e-9)


def test_limits_that_are_just_reached():
    # Float or fraction next to what users have without limits, and one who lives on what rounding leaves.
    limits = [None, F(300_000_000_000, 400_000_000_001), "0.3749999999990625", "0.18749999999953126", None]
    pool = Instance([[1], [1], [2], [4], [2]], [3], weights=[1, 1, 1, 1, 1e-11], max_tasks=limits)
    assert solve(pool, "ceei", exact=True).certificate.valid
