"""Whole tasks: claiming all that the others leave as one task is the best lie, against a grid of reports."""

from fractions import Fraction
from itertools import product

import pytest

from drfopt import Instance, Machine, audit, solve
from drfopt.axioms.case import AuditCase
from drfopt.axioms.economy import cluster_of
from drfopt.axioms.manipulation import against_whole_tasks
from drfopt.axioms.manipulation.misreports import worth
from drfopt.axioms.outcomes import Outcome
from drfopt.axioms.properties import pareto_efficiency, sharing_incentive
from drfopt.engines.reference import enumeration
from drfopt.model.policies import policy_named
from drfopt.solving.integrality import whole_parts

THIRDS = [Fraction(p, 3) for p in range(13)]
SIXTHS = [Fraction(p, 6) for p in range(25)]


def audit_case(case, policy):
    return AuditCase(case.cluster(), policy_named(policy), integer=True)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("policy", ["drf", "asset", "tasks", "utilitarian"])
@pytest.mark.parametrize("seed", range(8))
def test_no_report_of_a_grid_beats_the_bound(policy, seed, draw):
    at = audit_case(draw(seed, users=(2, 3), resources=(1, 2), weights=2, limits=seed % 3 == 0), policy)
    for i in range(at.cluster.n):
        response = against_whole_tasks.best(at, i)
        most = response.most if response.report is not None else at.chosen.tasks[i]
        if most is None or (response.report is None and not response.decided):
            continue
        for report in product(SIXTHS if at.cluster.m == 1 else THIRDS, repeat=at.cluster.m):
            useful = all(r or not d for r, d in zip(report, at.cluster.demands[i], strict=True))
            assert not (useful and any(report)) or worth(at, i, report)[0] <= most


@pytest.mark.parametrize("seed", range(6))
def test_what_is_not_decided_hangs_on_a_tie(seed, draw):
    at = audit_case(draw(seed, users=(2, 3), resources=(1, 2)), "drf")
    responses = [against_whole_tasks.best(at, i) for i in range(at.cluster.n)]
    assert all(r.decided or r.tied for r in responses)


def test_a_smaller_gain_does_not_hide_a_larger_one():
    # Whole or in halves 4 units bring her 2; one task of 3 brings 3, where the tie between u1 and u2 is hers.
    cluster = Instance([[1], [2], [1]], [4], weights=[1, 2, 2])
    response = against_whole_tasks.best(AuditCase(cluster_of(cluster), policy_named("tasks"), integer=True), 0)
    assert response.value == 2
    assert response.most == 3


def test_nobody_lies_when_the_others_leave_nothing_worth_it():
    finding = audit(Instance([[2, 1], [1, 2]], [3, 3]), "drf", "strategy-proofness", integer=True).results[0]
    assert (finding.verdict, finding.exact, finding.trials) == ("holds", True, 0)


def test_what_the_others_leave_is_written_down():
    at = AuditCase(cluster_of(Instance([[1], [2]], [5])), policy_named("drf"), integer=True)
    rows, complete = against_whole_tasks.leftovers(at, 0, Fraction(1))
    assert complete
    assert sorted(rows) == [(1,), (3,), (5,)]


def test_counted_tasks_are_claimed_in_pieces():
    # In one piece of 3 she ties with u2; in two pieces of 3/2 she leaves no room for u2 and is the higher.
    (finding,) = audit(Instance([[1], [2]], [3]), "tasks", "strategy-proofness", integer=True).results
    assert finding.verdict == "fails"
    assert not finding.tied
    assert finding.witness.report == (Fraction(3, 2),)


def test_sixteen_units_of_weighted_users_are_quick():
    (finding,) = audit(Instance.library("mm-weighted-16"), "drf", "strategy-proofness", integer=True).results
    assert finding.verdict == "fails"
    assert "no report brings more" in str(finding.witness)


def test_too_many_divisions_are_called_no_more_than_tried(monkeypatch):
    monkeypatch.setattr(against_whole_tasks, "STEPS", 2)
    at = AuditCase(cluster_of(Instance([[1, 1], [1, 2], [2, 1]], [4, 4])), policy_named("drf"), integer=True)
    responses = [against_whole_tasks.best(at, i) for i in range(3)]
    assert not any(r.decided for r in responses if r.report is None and r.most is None)


def of(instance, *properties):
    return audit(instance, integer=True, properties=properties)


def test_halves_of_a_task_on_two_machines_are_no_task():
    """Claiming half of its task A is given four halves, three of them on one machine, which is one task as before."""
    two = Instance({"A": {"cpu": 2}, "B": {"cpu": 2}}, machines=[Machine("m", {"cpu": 3}, 2)], max_tasks={"B": 1})
    assert of(two, "strategy-proofness")["strategy-proofness"].verdict != "fails"


def test_parts_of_a_task_on_two_gpus_are_no_task():
    needs = {"cpu": 1, "gpu": Fraction(3, 5)}
    machine = Machine("g", {"cpu": 16, "gpu": 2}, devices={"gpu": 2})
    instance = Instance({"A": needs, "B": needs}, machines=[machine])
    assert of(instance, "strategy-proofness")["strategy-proofness"].verdict != "fails"
    at = AuditCase(cluster_of(instance), policy_named("drf"), integer=True)
    assert worth(at, 0, (Fraction(1), Fraction(3, 10)))[0] <= 1
    # Half of three GPUs is one and a half, on which two tasks of 3/5 do not run.
    third = Instance({"A": needs, "B": needs}, machines=[Machine("g", {"cpu": 16, "gpu": 3}, devices={"gpu": 3})])
    pooled = Instance({"A": needs, "B": needs}, machines=[Machine("g", {"cpu": 16, "gpu": 3})])
    alone = [sharing_incentive.alone(AuditCase(cluster_of(x), policy_named("drf"), True), 0) for x in (third, pooled)]
    assert alone == [1, 2]
    assert [list(whole_parts(x)) for x in (third, pooled)] == [[1, 1], [2, 2]]


def test_whole_gpus_carry_parts_and_parts_no_whole_ones():
    machine = Machine("g", {"gpu": 4}, devices={"gpu": 4})
    users = {"whole": {"gpu": 1}, "part": {"gpu": Fraction(2, 5)}, "two": {"gpu": 2}}
    at = AuditCase(cluster_of(Instance(users, machines=[machine])), policy_named("drf"), integer=True)
    third = [Fraction(4, 5)] * 2
    assert [at.on_devices(i, 0, 9, {0: third}) for i in range(3)] == [0, 4, 0]
    assert [at.on_devices(i, 0, 9, {0: [Fraction(1)] * 3}) for i in range(3)] == [3, 6, 1]


def refusing(*_, **__):
    raise enumeration.TooManyToListError("too many")


@pytest.mark.parametrize("policy", ["drf", "ceei", "utilitarian"])
@pytest.mark.parametrize("seed", range(6))
def test_an_audit_without_the_list_says_the_same(policy, seed, draw, monkeypatch):
    cluster = draw(seed, users=(2, 3), resources=(1, 2), zero=False, weights=1).cluster().instance()
    names = ["sharing-incentive", "pareto-efficiency", "single-resource-fairness", "bottleneck-fairness"]
    listed = audit(cluster, policy, names, integer=True).results
    monkeypatch.setattr(enumeration, "optimum", refusing)
    monkeypatch.setattr(enumeration, "packable", refusing)
    asked = audit(cluster, policy, names, integer=True).results
    for one, other in zip(listed, asked, strict=True):
        # Among optima that are as good the verdict is on the one that is given.
        assert one.verdict == other.verdict or one.tied, (one, other)


def test_waste_is_found_without_the_list(monkeypatch):
    monkeypatch.setattr(enumeration, "packable", refusing)
    at = AuditCase(cluster_of(Instance([[1, 2], [2, 1]], [6, 6])), policy_named("drf"), integer=True)
    assert pareto_efficiency.check(at).verdict == "holds"
    at.given = Outcome((Fraction(2), Fraction(1)))
    assert str(pareto_efficiency.check(at).witness) == str(pareto_efficiency.Waste("u2", Fraction(1), Fraction(2)))


def test_a_list_that_is_too_long_says_so():
    with pytest.raises(enumeration.TooManyToListError, match="more than 100 nodes"):
        enumeration.packable([[Fraction(1)]] * 3, [([Fraction(40)], 1)], [None] * 3, budget=100)


@pytest.mark.parametrize("policy", ["asset", "drf"])
def test_a_lie_is_held_against_the_optimum_that_is_given(policy):
    # The truth is tied: A 1, B 2 is given, and A 2, B 1 as good. With (4) A has 1 in the only optimum, two true tasks.
    told = Instance({"A": [2], "B": [1]}, [5], weights={"A": 2, "B": 1}, max_tasks={"B": 2})
    assert solve(told, policy, integer=True).tasks.tolist() == [1, 2]
    found = audit(told, policy, "strategy-proofness", integer=True).results[0]
    assert found.verdict == "fails" and found.tied
    assert (found.witness.report, found.witness.tasks, found.witness.instead) == ((4,), 1, 2)


@pytest.mark.parametrize("policy", ["asset", "drf"])
def test_a_lie_that_pays_only_if_a_tie_is_broken_otherwise_is_no_violation(policy):
    told = Instance({"A": [3], "B": [1]}, [6])
    assert solve(Instance({"A": [6], "B": [1]}, [6]), policy, integer=True).tasks.tolist() == [0, 6]
    found = audit(told, policy, "strategy-proofness", integer=True).results[0]
    assert found.verdict == "no violation found"
    assert found.note == "whether anybody gains by a misreport is decided by how ties are broken"
