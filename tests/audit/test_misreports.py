"""Best responses: never exceeded by a grid of reports, attained by the report they name, equal to the truth where
a theorem says so."""

from fractions import Fraction
from itertools import product

import pytest

from drfopt import Instance
from drfopt.axioms.case import AuditCase
from drfopt.axioms.economy import below, cluster_of, exactly, high, low
from drfopt.axioms.manipulation import against_leximin, against_two_prices, against_whole_tasks, misreports
from drfopt.axioms.manipulation.misreports import worth
from drfopt.axioms.outcomes import rates
from drfopt.axioms.properties.strategy_proofness import best_response
from drfopt.model.policies import policy_named

AMOUNTS = [Fraction(p, 4) for p in (0, 1, 2, 3, 4, 6, 8, 12, 20)]


def audit_case(case, policy, **rest):
    return AuditCase(case.cluster(), policy_named(policy), **rest)


def reports(cluster, i):
    needed = [bool(d) for d in cluster.demands[i]]
    for row in product(AMOUNTS, repeat=cluster.m):
        if all(r or not n for r, n in zip(row, needed, strict=True)):
            yield row


@pytest.mark.parametrize("policy", ["drf", "asset", "single:r1"])
@pytest.mark.parametrize("seed", range(30))
def test_filling_the_best_response_is_the_truth(policy, seed, draw):
    at = audit_case(draw(seed, zero=policy != "single:r1", limits=True), policy)
    for i in range(at.cluster.n):
        response = best_response(at, i)
        assert response.report is None
        assert response.decided
        assert response.most == at.truth.tasks[i]


def test_a_level_that_is_not_that_of_the_filling_would_show(draw, monkeypatch):
    # Were dominant shares compared in the one place and sums of shares in the other, the best responses would differ.
    at = audit_case(draw(3, users=(3, 3), resources=(2, 2), zero=False), "drf")
    assert all(at.truth.tasks)
    wrong = AuditCase(at.cluster, policy_named("asset"))
    monkeypatch.setattr(against_leximin, "rates", lambda cluster, policy: rates(cluster, policy_named("drf")))
    assert any(against_leximin.best(wrong, i).most != wrong.truth.tasks[i] for i in range(3))


@pytest.mark.parametrize("policy", ["drf", "asset"])
@pytest.mark.parametrize("seed", range(4))
def test_no_report_of_a_grid_beats_the_filling(policy, seed, draw):
    at = audit_case(draw(seed, users=(2, 3), resources=(2, 2)), policy)
    for i in range(at.cluster.n):
        for report in reports(at.cluster, i):
            assert worth(at, i, report)[0] <= at.truth.tasks[i]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(14))
def test_no_report_of_a_grid_beats_the_best_lie_against_the_market(seed, draw):
    at = audit_case(draw(seed, users=(2, 4), resources=(2, 2), zero=seed % 2 == 0), "ceei")
    for i in range(at.cluster.n):
        response = against_two_prices.best(at, i)
        assert response.decided
        bound = at.truth.tasks[i] if response.report is None else response.most
        for report in reports(at.cluster, i):
            value, _ = worth(at, i, report)
            assert not below(bound, value), (i, report)
        if response.report is not None:
            assert below(at.truth.tasks[i], response.value)
            assert worth(at, i, response.report)[0] == response.value
            assert high(response.value) <= high(response.most)
            assert float(response.value) == pytest.approx(float(response.most), rel=1e-6)


def test_theorem_4_has_a_better_lie_than_the_paper_prints():
    at = AuditCase(cluster_of(Instance.library("thm4")), policy_named("ceei"))
    response = best_response(at, 0)
    assert response.value == response.most == Fraction(75, 16)
    assert response.report == (16, Fraction(32, 3))
    assert worth(at, 0, (Fraction(16), Fraction(8)))[0] == Fraction(25, 6) < response.most
    # A little more or less of the second resource is no better.
    for off in (Fraction(-1, 100), Fraction(1, 100)):
        assert worth(at, 0, (Fraction(16), Fraction(32, 3) + off))[0] < response.most


def test_an_irrational_market_without_a_lie_is_decided():
    decided = 0
    for third in ((3, 2), (5, 3), (2, 7), (1, 4)):
        at = AuditCase(cluster_of(Instance([[2, 1], [1, 3], third], [1, 1])), policy_named("ceei"))
        for i in range(3):
            response = against_two_prices.best(at, i)
            assert response.decided
            decided += response.report is None and not exactly(at.truth.tasks[i])
    assert decided


def test_counting_tasks_invites_larger_tasks_and_summing_them_smaller_ones():
    at = AuditCase(cluster_of(Instance([[1], [1]], [1])), policy_named("tasks"))
    response = best_response(at, 0)
    assert (response.report, response.value, response.most) == ((2,), Fraction(2, 3), 1)
    at = AuditCase(cluster_of(Instance([[2], [3]], [1])), policy_named("throughput"))
    response = best_response(at, 1)
    assert response.value == response.most == Fraction(1, 3)
    assert response.report[0] < 2 * Fraction(3, 2)


def test_with_one_resource_there_is_no_lie():
    at = AuditCase(cluster_of(Instance([[1], [3]], [5])), policy_named("ceei"))
    assert [best_response(at, i).decided for i in range(2)] == [True, True]


@pytest.mark.parametrize("policy", ["drf", "ceei"])
@pytest.mark.parametrize("seed", range(5))
def test_whole_tasks_the_grid_finds_what_a_finer_grid_finds(policy, seed, draw):
    at = audit_case(draw(seed, users=(2, 2), resources=(1, 1), weights=1, zero=False), policy, integer=True)
    for i in range(2):
        response = against_whole_tasks.best(at, i)
        most = low(at.truth.tasks[i] if response.report is None else response.value)
        for p in range(1, 80):
            assert worth(at, i, (Fraction(p, 20),))[0] <= most


def test_who_could_not_run_more_alone_needs_no_lie():
    at = AuditCase(cluster_of(Instance([[1], [5]], [3])), policy_named("drf"), integer=True)
    response = against_whole_tasks.best(at, 0)
    assert response.report is None
    assert response.decided


def test_trials_find_what_is_known_and_say_how_many_they_made():
    at = AuditCase(cluster_of(Instance.library("thm4")), policy_named("ceei"))
    response = misreports.best(at, 0)
    assert response.trials > 10
    assert below(at.truth.tasks[0], response.value)
    assert high(response.value) <= Fraction(75, 16)
    honest = AuditCase(cluster_of(Instance.library("nsdi2011")), policy_named("drf"))
    assert misreports.best(honest, 0).report is None
    assert not misreports.best(honest, 0).decided
