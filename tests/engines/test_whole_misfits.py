"""Whole tasks of several types of which one fits nowhere: what guarantees are worth to who has the others."""

from fractions import Fraction as F
from pathlib import Path

import pytest

from drfopt import (
    Group,
    Instance,
    Machine,
    Organisation,
    PolicyError,
    TaskType,
    crosscheck,
    schedule,
    size,
    solve,
    verify,
)
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier.claims import Claim
from drfopt.certificates.verifier.cluster import Cluster
from drfopt.certificates.verifier.whole_levels import whole_promises
from drfopt.engines.formulation.user_file import rules
from drfopt.engines.problem import Problem
from drfopt.model.policies import policy_named
from drfopt.model.whole_values import WholeUsers

POLICIES = ("drf", "asset", "tasks", "tsf", "ceei", "utilitarian", "throughput", "alpha:2")

FORMULATION = Path(__file__).parents[2] / "formulations" / "guarantees_integer.py"

POOL, MACHINE = {"capacity": {"a": 1}}, {"machines": [Machine("m", {"a": 1})]}


def crowded(cluster=MACHINE, second=None, **organisation):
    """A, of whose two types one fits, and B, who is served before it and would take everything."""
    types = [TaskType({"a": 1}, 1), second or TaskType({"a": 2}, 1)]
    given = Organisation(**{"guarantees": {"A": {"a": 1}}, "tiers": {"B": 1}} | organisation)
    return Instance({"A": types, "B": {"a": 1}}, **cluster, organisation=given)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("cluster", [POOL, MACHINE], ids=["pool", "machine"])
def test_a_type_that_fits_nowhere_does_not_void_a_guarantee(policy, cluster):
    found = solve(crowded(cluster), policy, integer=True)
    assert (found.tasks.tolist(), found.broken, found.certificate.valid) == ([1, 0], (), True)
    assert verify(found).valid is True


@pytest.mark.parametrize("second", [TaskType({"a": 1}, 1, []), TaskType({"a": 1}, 1, ["n"])], ids=["none", "too small"])
def test_nor_does_one_that_is_open_to_no_machine_on_which_it_fits(second):
    two = {"machines": [Machine("m", {"a": 1}), Machine("n", {"a": F(1, 2)})]}
    found = solve(crowded(two, second), integer=True)
    assert (found.tasks.tolist(), found.broken, verify(found).valid) == ([1, 0], (), True)


def test_the_formulation_and_all_engines_agree_and_planning_knows():
    found = crosscheck(crowded(), integer=True, formulation=FORMULATION)
    assert found.agree is True
    assert size(crowded(), ["A>=1"], {"m": 1}, integer=True).cost == 0
    with pytest.raises(PolicyError, match="'A' is promised something"):
        schedule(crowded())


def test_of_whom_no_type_fits_the_guarantee_is_broken_and_nobody_waits_for_it():
    types = [TaskType({"a": 3}, 1), TaskType({"a": 2}, 1)]
    given = Organisation(guarantees={"A": {"a": 5}}, tiers={"B": 1})
    found = solve(Instance({"A": types, "B": {"a": 1}}, **MACHINE, organisation=given), integer=True)
    assert (found.tasks.tolist(), [row.owner for row in found.broken], found.unplaced) == ([0, 1], ["A"], ("A",))
    assert verify(found).valid is True


def promises(instance, policy="drf"):
    """What guarantees are worth to the package, to its verifier, and to a formulation file."""
    users = WholeUsers(instance, policy_named(policy), range(instance.n))
    document = certificate_document(solve(instance, policy, integer=True))
    claim = Claim(Cluster(document["instance"]), document)
    told = rules(Problem(instance, policy_named(policy), True))["promised"]
    return users.promises, whole_promises(claim), [int(x + 1e-9) for x in told]


@pytest.mark.parametrize("cluster", [{"capacity": {"a": 9, "b": 8}}, {"machines": [Machine("m", {"a": 9, "b": 8})]}])
@pytest.mark.parametrize(
    "rest, promised",
    [
        ({"guarantees": {"A": {"b": 8}}}, [4, 0]),  # of 2 b each, not of the 7 that the mean needs
        ({"guarantees": {"A": {"a": 9}}}, [4, 0]),  # the types that fit have no more tasks
        ({"guarantees": {"A": {"b": 3}}}, [1, 0]),
        # Levels count the average of all types, 7/8 of b, beside 1/9 of a: 6 are used up by 0.68 tasks and 5.3.
        ({"paths": {"A": "g", "B": "g"}, "groups": [Group("g", guarantee={"a": 6})]}, [0, 5]),
    ],
)
def test_a_guarantee_is_worth_what_it_is_of_the_types_that_fit(cluster, rest, promised):
    types = [TaskType({"a": 1, "b": 2}, 4), TaskType({"a": 1, "b": 12}, 4)]
    instance = Instance({"A": types, "B": {"a": 1}}, **cluster, organisation=Organisation(**rest))
    assert promises(instance) == (promised,) * 3


def test_ceilings_of_what_only_a_type_that_is_left_out_needs_take_nothing_off():
    types = [TaskType({"a": 1}, 1), TaskType({"a": 1, "g": 1}, 1)]
    machines = [Machine("m", {"a": 1, "g": 0})]
    own = {"ceilings": {"A": {"g": 0}}}
    group = {"paths": {"A": "x"}, "groups": [Group("x", ceiling={"g": 0})]}
    for forbids in (own, group):
        given = Organisation(guarantees={"A": {"a": 1}}, tiers={"B": 1}, **forbids)
        found = solve(Instance({"A": types, "B": {"a": 1}}, machines=machines, organisation=given), integer=True)
        assert (found.tasks.tolist(), found.broken, verify(found).valid) == ([1, 0], (), True)
