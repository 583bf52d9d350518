"""The bound on lies against a market: never beaten by a report, attained where it says so, valid at any prices."""

import json
import random
import re
from fractions import Fraction

import pytest

from drfopt import Instance, audit
from drfopt.axioms.case import AuditCase
from drfopt.axioms.economy import cluster_of, high, low
from drfopt.axioms.manipulation import against_markets, against_two_prices, option_set
from drfopt.axioms.manipulation.against_markets import optima
from drfopt.axioms.manipulation.misreports import worth
from drfopt.axioms.properties.strategy_proofness import best_response
from drfopt.model.policies import policy_named

SP = "strategy-proofness"
SLACK = 1 + Fraction(1, 10**7)
"""Alpha fairness is known to a certificate's error, and so is what a report brings."""


def audit_case(instance, policy):
    return AuditCase(cluster_of(instance), policy_named(policy))


def some_reports(dice, demand, count):
    for _ in range(count):
        yield tuple(
            d * Fraction(dice.randint(1, 6), dice.randint(1, 4)) if d else Fraction(dice.randint(0, 2)) for d in demand
        )


@pytest.mark.parametrize(("policy", "seeds"), [("ceei", 10), ("alpha:2", 4), ("alpha:1.5", 8)])
def test_no_report_beats_the_bound(policy, seeds, draw):
    decided = 0
    for seed in range(seeds):
        case = draw(seed, users=(2, 3), resources=(2, 3), weights=2, limits=seed % 2 == 0)
        at, dice = AuditCase(case.cluster(), policy_named(policy)), random.Random(seed)
        for i in range(at.cluster.n):
            response, truth = against_markets.best(at, i), high(at.truth.tasks[i])
            if not response.decided or (response.report is not None and response.most is None):
                continue
            decided += 1
            most = truth * (1 + response.within) if response.report is None else high(response.most)
            assert most >= low(at.truth.tasks[i])
            for report in some_reports(dice, at.cluster.demands[i], 5):
                assert low(worth(at, i, report)[0]) <= most * SLACK
    assert decided > seeds


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(12))
def test_two_resources_agree_with_the_curve(seed, draw):
    at = AuditCase(draw(seed, users=(2, 4), resources=(2, 2)).cluster(), policy_named("ceei"))
    for i in range(at.cluster.n):
        curve, program = against_two_prices.best(at, i), against_markets.best(at, i)
        assert program.decided
        assert (curve.report is None) == (program.report is None)
        if curve.report is not None:
            assert float(program.value) == pytest.approx(float(curve.value), rel=1e-6)
            assert high(program.most) >= low(curve.value)


def test_three_resources_are_decided():
    lie = audit(Instance([[1, 2, 1], [2, 1, 1]], [1, 1, 9]), "ceei", SP).results[0]
    assert (lie.witness.instead, lie.witness.most) == (Fraction(3, 8), Fraction(3, 8))
    assert str(lie.witness).endswith("no report brings more")
    quiet = audit(Instance([[1, 1, 1], [1, 1, 1]], [1, 1, 1]), "ceei", SP).results[0]
    assert (quiet.verdict, quiet.exact, quiet.note) == ("holds", True, "")


def test_limits_are_decided():
    cluster = Instance([[1, 2], [2, 1], [1, 1]], [1, 1], max_tasks=[None, "1/5", "1/4"])
    lie = audit(cluster, "ceei", SP).results[0]
    assert (lie.witness.tasks, lie.witness.instead, lie.witness.most) == (
        *(Fraction(11, 40), Fraction(9, 32)),
        Fraction(9, 32),
    )
    # At her own limit nobody has anything to gain.
    full = audit_case(Instance([[1, 2], [2, 1]], [1, 1], max_tasks=["1/10", None]), "ceei")
    assert best_response(full, 0).report is None
    assert best_response(full, 0).decided


def test_what_costs_nothing_is_taken_up_to_a_limit():
    # The best report makes cpu free, and C, who needs nothing else, runs its one task.
    told = Instance([[1, 2], [2, 1], [1, 0]], [5, 7], max_tasks=[None, None, 1])
    lie = audit(told, "ceei", SP).results[0]
    assert (lie.witness.user, lie.witness.tasks) == ("u2", 1)
    assert lie.witness.instead == lie.witness.most == Fraction(9, 8)
    stated = option_set.market_of(cluster_of(told), 1, 1)
    assert stated.left((Fraction(0), Fraction(1))) == (Fraction(9, 20), Fraction(1, 2))
    # Without the limit there would be no end to what C takes.
    assert option_set.market_of(cluster_of(Instance([[1, 2], [2, 1], [1, 0]], [5, 7])), 1, 1).left((0, 1)) is None


def test_tangents_that_bound_nothing_prove_nothing():
    """Multipliers that do not exist are not multipliers without bound: a gain of a fifth was said not to be there."""
    told = Instance([[2, 3, 2], [3, 1, 3], [0, 2, 1]], [9, 4, 3], max_tasks=[1, 3, 3])
    lie = audit(told, "alpha:2", SP).results[0].witness
    assert (lie.user, float(lie.instead)) == ("u2", pytest.approx(0.444874, rel=1e-5))
    at = audit_case(told, "alpha:2")
    stated = option_set.market_of(at.cluster, 1, 2)
    useless = (Fraction(456, 1000), Fraction(0), Fraction(74, 1000))
    assert option_set.bound(stated, [useless], low(at.truth.tasks[1]) * stated.size) is None


def test_where_a_bound_leaves_it_open_reports_are_tried():
    # The curve of two resources cannot tell u2's irrational truth from a gain here.
    told = Instance([[1, 0], [98, 388]], [173, 258], weights=[1, 1000])
    case = audit_case(told, "ceei")
    assert not against_two_prices.best(case, 1).decided
    assert best_response(case, 1).decided


def test_more_limits_than_sets_are_looked_at_are_tried():
    rows = [[1, 2 + k, 1] for k in range(7)]
    at = audit_case(Instance(rows, [1, 1, 1], max_tasks=["1/100"] * 6 + [None]), "ceei")
    response = against_markets.best(at, 6)
    assert response.report is not None or not response.decided


def test_alpha_fairness_says_what_is_certified():
    held = audit(Instance([[1, 1, 1], [1, 1, 1]], [1, 1, 1]), "alpha:2", SP).results[0]
    assert (held.verdict, held.exact) == ("holds", False)
    assert held.note == "no report brings more than (1 + 1e-6) times"
    lie = audit(Instance.library("thm4"), "alpha:2", SP).results[0].witness
    assert float(lie.instead) == pytest.approx(4.49514, rel=1e-5)
    assert float(lie.most) == pytest.approx(float(lie.instead), rel=1e-5)
    assert high(lie.most) >= low(lie.instead)


def test_a_bound_of_many_digits_is_rounded_up():
    lie = audit(Instance([[1, 1], [1, 2], [3, 1]], [1, 1]), "alpha:100", SP).results[0].witness
    assert high(lie.most).denominator > 10**4300
    assert len(json.dumps(lie.to_dict())) > 4300
    told = re.search(r"; no report brings more than (0\.1\d+)$", str(lie))
    assert high(lie.most) <= Fraction(told[1]) < high(lie.most) * Fraction("1.00001")


def test_any_prices_prove_something_and_the_best_prove_most():
    at = audit_case(Instance.library("thm4"), "ceei")
    stated = option_set.market_of(at.cluster, 0, 1)
    most = Fraction(75, 16) * stated.size
    (_, best), *_ = optima(stated, most)
    assert option_set.bound(stated, [best], most) == most
    for guess in ((1, 1), (1, 5), (7, 2), (0, 1)):
        assert option_set.bound(stated, [tuple(map(Fraction, guess))], most) >= most


def test_a_bound_that_forgets_a_user_would_show():
    # Were the others' demands left out, the bound would be above what anybody can get; were they doubled, below.
    at = audit_case(Instance.library("thm4"), "ceei")
    stated = option_set.market_of(at.cluster, 0, 1)
    most = Fraction(75, 16) * stated.size
    (other,) = stated.others
    heavier = option_set.OptionMarket(
        stated.mine,
        stated.income,
        stated.size,
        (option_set.Other(other.row, 2 * other.income, None),),
        stated.alpha,
        stated.resources,
    )
    assert option_set.bound(heavier, [p for _, p in optima(heavier, most)], most) < most


def test_prices_at_which_incomes_are_spent():
    # With a user at her limit prices add up to less than all incomes.
    at = audit_case(Instance([[1, 2], [2, 1]], [1, 1], max_tasks=[None, "1/5"]), "ceei")
    stated = option_set.market_of(at.cluster, 0, 1)
    assert stated.left((Fraction(1), Fraction(1))) == (Fraction(3, 5), Fraction(4, 5))
    assert stated.left((Fraction(0), Fraction(0))) is None


@pytest.mark.parametrize("alpha", ["1.5", "2", "3"])
def test_what_has_no_price_is_claimed_as_it_is_needed(alpha):
    # All that is left of the others too would raise the share that she claims, and with it what she has to spend.
    told = Instance([[2, 1, 3, 4], [5, 5, 2, 5]], [6, 5, 4, 6], weights=[1, 2])
    found = audit(told, f"alpha:{alpha}", SP).results[0]
    assert found.verdict == "fails"
    assert found.witness.report[0::2] == (2, 3) and 2 < found.witness.report[1] < 3
    assert high(found.witness.most) <= low(found.witness.instead) * (1 + Fraction(1, 10**4))


def test_who_is_at_its_limit_as_far_as_can_be_told_cannot_gain():
    told = Instance([[3, 4], [2, 0]], [5, 3], max_tasks=[0.25, 0.25])
    assert audit(told, "alpha:1.5", SP).results[0].verdict == "holds"


def test_a_small_demand_is_no_claim_of_nothing():
    """What a search proposes is rounded in parts of it: in absolute terms 1e-9 would be 0."""
    case = audit_case(Instance([[1, 2], [Fraction(1, 10**9), 0]], [7, 11]), "alpha:3")
    report = best_response(case, 1).report
    assert report is not None and all(r > 0 for r in report)
