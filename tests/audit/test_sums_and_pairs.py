"""Lies against the sum of shares, told from ties; pairs who lie together against a filling."""

import random
from fractions import Fraction
from itertools import combinations, product

import pytest

from drfopt import Instance, audit, solve
from drfopt.axioms.case import AuditCase
from drfopt.axioms.economy import cluster_of
from drfopt.axioms.manipulation import against_leximin, against_sums
from drfopt.axioms.manipulation.misreports import worth
from drfopt.axioms.manipulation.option_set import market_of
from drfopt.axioms.outcomes import rates
from drfopt.model.policies import policy_named

AMOUNTS = [Fraction(p, 4) for p in range(17)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(16))
def test_no_report_of_a_grid_beats_the_sum_of_shares(seed, draw):
    at = AuditCase(draw(seed, users=(2, 4), resources=(2, 2), weights=1, limits=seed % 2 == 0).cluster(), UTILITARIAN)
    for i in range(at.cluster.n):
        response, truth = against_sums.best(at, i), at.truth.tasks[i]
        hangs_on_ties = response.report is None and not response.decided
        bound = response.most if response.report is not None else truth
        for report in product(AMOUNTS, repeat=2):
            if all(r or not d for r, d in zip(report, at.cluster.demands[i], strict=True)) and any(report):
                value, tied = worth(at, i, report)
                if not hangs_on_ties:
                    assert value <= bound
                elif not at.truth.tied:
                    assert value <= truth or tied
        if response.report is not None:
            assert truth < response.value <= response.most
            assert worth(at, i, response.report)[0] == response.value


UTILITARIAN = policy_named("utilitarian")


def test_the_prices_of_the_others():
    at = AuditCase(cluster_of(Instance([[1, 1], [1, 2], [2, 1]], [1, 1])), UTILITARIAN)
    market = market_of(at.cluster, 0, 1)
    # p + q / 2 >= 1 and p / 2 + q >= 1: where both hold with equality, and on the axes.
    assert set(against_sums.vertices(market)) == {(Fraction(2, 3), Fraction(2, 3)), (0, 2), (2, 0)}


def test_a_lie_against_the_sum_names_what_nothing_exceeds():
    (finding,) = audit(Instance([[1, 2], [2, 1]], [1, 1]), "utilitarian", "strategy-proofness").results
    assert finding.verdict == "fails"
    assert finding.exact
    assert finding.witness.most >= finding.witness.instead > finding.witness.tasks


def test_gains_that_hang_on_a_tie_are_said_to():
    # However one resource is divided, the sum is the same: only the tie decides.
    (finding,) = audit(Instance([[1], [1]], [1]), "utilitarian", "strategy-proofness").results
    assert finding.verdict == "fails" or "tie" in finding.note
    assert finding.tied


def test_one_user_or_one_at_her_limit_has_nothing_to_gain():
    alone = AuditCase(cluster_of(Instance([[1, 2]], [1, 1])), UTILITARIAN)
    assert against_sums.best(alone, 0).decided
    full = AuditCase(cluster_of(Instance([[1, 2], [2, 1]], [9, 9], max_tasks=[1, 1])), UTILITARIAN)
    assert [against_sums.best(full, i).decided for i in range(2)] == [True, True]


@pytest.mark.parametrize("policy", ["drf", "asset", "single:r1", "tsf", "per-server"])
@pytest.mark.parametrize("seed", range(20))
def test_no_two_gain_together_against_a_filling(policy, seed, draw):
    case = draw(seed, users=(2, 4), zero=policy != "single:r1", limits=seed % 2 == 0 and policy != "per-server")
    at = AuditCase(case.cluster(), policy_named(policy))
    assert all(against_leximin.pair_gains_nothing(at, *pair) for pair in combinations(range(at.cluster.n), 2))


@pytest.mark.parametrize("seed", range(4))
def test_no_pair_of_drawn_reports_gains_against_a_filling(seed, draw):
    at, dice = AuditCase(draw(seed, users=(2, 3), resources=(2, 2)).cluster(), policy_named("drf")), random.Random(seed)
    for pair in combinations(range(at.cluster.n), 2):
        for _ in range(40):
            reports = {i: tuple(dice.choice(AMOUNTS[1:]) for _ in range(2)) for i in pair}
            found = at.run(at.cluster.reporting_all(reports))
            got = [at.limited(i, at.per_task(i, reports[i]) * found.tasks[i]) for i in pair]
            assert not all(value > at.truth.tasks[i] for i, value in zip(pair, got, strict=True))


def test_a_pair_that_could_gain_would_show(monkeypatch):
    # With levels that count tasks the truth of the filling is not what the argument needs.
    at = AuditCase(cluster_of(Instance([[1, 3], [3, 1], [2, 2]], [4, 4])), policy_named("drf"))
    assert at.truth.tasks
    monkeypatch.setattr(
        against_leximin, "rates", lambda cluster, policy: [r / 4**i for i, r in enumerate(rates(cluster, policy))]
    )
    assert not all(against_leximin.pair_gains_nothing(at, *pair) for pair in combinations(range(3), 2))


@pytest.mark.parametrize("integer", [False, True], ids=["divisible", "whole"])
@pytest.mark.parametrize(
    ("demands", "capacity", "policy"),
    [
        ([[4, 3], [4, 4]], [9, 5], "utilitarian"),
        ([[1, 1], [0, 1]], [1, 1], "utilitarian"),
        ([[1, 4], [4, 1], [3, 0]], [9, 7], "throughput"),
        ([[3], [3], [4]], [9], "utilitarian"),
        ([[1, 2], [3, 1]], [9, 5], "throughput"),
        ([[3], [3], [4]], [9], "drf"),
    ],
)
def test_of_several_divisions_as_good_all_verdicts_are_on_those_that_solve_gives(demands, capacity, policy, integer):
    """A lie does not gain over a division that nobody gives, nor does anybody lose what it never had."""
    found = audit(Instance(demands, capacity), policy, integer=integer)
    given = solved(demands, capacity, policy, integer)
    for finding in found.results:
        told = finding.witness
        if finding.property == "strategy-proofness" and told is not None:
            i = int(told.user[1:]) - 1
            reports = [list(told.report) if k == i else row for k, row in enumerate(demands)]
            parts = (r / Fraction(d) for r, d in zip(told.report, demands[i], strict=True) if d)
            brought = solved(reports, capacity, policy, integer)[i] * min(parts)
            assert told.tasks == given[i] < (brought.__floor__() if integer else brought)
        elif finding.property == "resource-monotonicity" and told is not None:
            i, j = int(told.user[1:]) - 1, int(told.resource[1:]) - 1
            larger = [told.raised if k == j else c for k, c in enumerate(capacity)]
            assert told.after == solved(demands, larger, policy, integer)[i] < given[i] == told.tasks
        elif finding.property in ("sharing-incentive", "envy-freeness") and told is not None:
            assert told.tasks == given[int(told.user[1:]) - 1]


def solved(demands, capacity, policy, integer):
    how = {"integer": True} if integer else {"exact": True}
    return [Fraction(x) for x in solve(Instance(demands, capacity), policy, **how).tasks.tolist()]
