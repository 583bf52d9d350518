"""A file of floats that are roundings of an exact answer: that is proven, and the floats are its own."""

import copy
import json
from fractions import Fraction as F

import pytest

from drfopt import Group, Instance, Machine, Organisation, solve
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import loads, verify

FIRST = Organisation(tiers={"A": 1})


def written(instance, policy, **how):
    return loads(json.dumps(certificate_document(solve(instance, policy, **how))))


def third():
    """A comes first, and has its limit of a third; B has the rest, 2/3."""
    return Instance({"A": {"a": 1}, "B": {"a": 1}}, {"a": 1}, max_tasks={"A": "1/3"}, organisation=FIRST)


def of_exact(instance, policy="throughput", **changes):
    """Return a file of floats next to the exact answer, of whose users some rows are others."""
    found = written(instance, policy, exact=True)
    answer = {key: found.pop(key) for key in ("users", "placement", "proof") if key in found}
    rows = [{"name": row["name"], "tasks": float(F(row["tasks"]))} for row in answer["users"]]
    found["users"] = [row | ({"tasks": changes[row["name"]]} if row["name"] in changes else {}) for row in rows]
    return found | {"proof": {"answer": answer}}


def faults(data):
    return [(check.name, check.holds) for check in verify(copy.deepcopy(data)).checks if not check.holds]


def test_floats_of_a_proven_answer_are_proven():
    report = verify(of_exact(third()))
    names = [check.name for check in report.checks]
    assert report.valid is True
    assert report.accuracy == F(1, 10**9)
    assert "on the exact answer: no sum is larger" in names
    assert "tasks are those of the exact answer, rounded" in names


@pytest.mark.parametrize(("off", "valid"), [(9e-10, True), (2e-9, False)])
def test_tasks_are_those_of_the_answer_to_the_accuracy_of_floats(off, valid):
    assert verify(of_exact(third(), B=2 / 3 * (1 - off))).valid is valid


def test_an_answer_is_near_to_both_ends_of_an_enclosure():
    data = of_exact(third())
    row = data["proof"]["answer"]["users"][1]
    row["tasks"] = {"lower": "1/3", "upper": "2/3"}
    data["proof"]["answer"]["proof"]["point"] = {"A": "1/3", "B": "2/3"}
    assert ("tasks are those of the exact answer, rounded", False) in faults(data)
    row["tasks"] = {"lower": "2/3", "upper": "1"}
    assert ("tasks are those of the exact answer, rounded", False) in faults(data)


def test_an_answer_that_is_not_the_best_proves_nothing():
    data = of_exact(third(), B=0.5)
    data["proof"]["answer"]["users"][1] |= {"tasks": "1/2", "level": None}
    assert ("on the exact answer: no sum is larger", False) in faults(data)


def test_an_answer_is_decided_exactly_though_it_is_written_in_floats():
    data = of_exact(third())
    for row in data["proof"]["answer"]["users"]:
        row |= {"tasks": float(F(row["tasks"])), "level": None}
    assert verify(data).valid is False


def test_an_answer_is_of_the_policy_and_the_kind_of_tasks_of_its_file():
    """Whole tasks of drf would be none, and proven to be; of a sum of divisible ones they are not."""
    data = of_exact(third(), A=0.0, B=0.0)
    for row in data["proof"]["answer"]["users"]:
        row |= {"tasks": "0", "level": None}
    data["proof"]["answer"] |= {"policy": "drf", "integer": True, "proof": {}}
    report = verify(data)
    assert report.valid is not True
    good = of_exact(third())
    good["proof"]["answer"] |= {"policy": "drf", "integer": True}
    assert verify(good).valid is True


def test_an_answer_without_users_is_no_answer():
    data = of_exact(third())
    data["proof"]["answer"].pop("users")
    with pytest.raises(ValueError, match=r"it has no 'users' under 'proof\.answer'"):
        verify(data)


def test_floats_that_are_not_possible_are_refused_beside_an_answer_that_is():
    rack = [Machine("m", {"a": 1}), Machine("n", {"a": 1})]
    instance = Instance({"A": {"a": 1}, "B": {"a": 1}}, machines=rack, max_tasks={"A": "1/3"}, organisation=FIRST)
    data = of_exact(instance)
    data["placement"] = {"A": {"m": 1 / 3}, "B": {"m": 1.0, "n": 2 / 3}}
    assert ("capacities", False) in faults(data)


def test_what_only_fractions_tell_is_written_in_fractions():
    """What a ceiling leaves to B is less than what floats round of A's."""
    rules = Organisation(paths={"A": "g", "B": "h"}, groups=[Group("g", ceiling={"a": 1}, tier=1), Group("h")])
    cluster = Instance({"A": {"a": 1}, "B": {"a": 1}}, {"a": F(10**10 + 1, 10**10)}, organisation=rules)
    found = solve(cluster, "throughput")
    data = loads(json.dumps(certificate_document(found)))
    assert found.tasks.tolist() == [1.0, 1e-10]
    assert data["proof"]["answer"]["users"][1]["tasks"] == "1/10000000000"
    assert verify(data).valid is True
