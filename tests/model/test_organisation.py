"""Task types and organisations at the door: what they become, and that nobody ignores them."""

from fractions import Fraction

import numpy as np
import pytest

from drfopt import Group, Instance, Machine, Organisation, PolicyError, TaskType, crosscheck, rebalance, solve
from drfopt.base.errors import InstanceError
from drfopt.certificates.verifier import verify
from drfopt.model.document import document

CAPACITY = {"cpu": 9, "memory": 18}
MIXED = [TaskType({"cpu": 1, "memory": 4}, 3), TaskType({"cpu": 1}, 1)]


def test_a_user_with_types_is_her_average_task():
    instance = Instance({"A": MIXED, "B": {"cpu": 3, "memory": 1}}, CAPACITY)
    assert instance.exact_demands == ((1, 3), (3, 1))
    assert instance.exact_limits == (4, None)
    assert [kind.demand for kind in instance.task_types[0]] == [(1, 4), (1, 0)]
    assert instance.task_types[1] is None


@pytest.mark.parametrize("policy", ["drf", "asset", "ceei", "tasks", "utilitarian", "alpha:2"])
def test_in_a_pool_types_are_solved_as_their_average(policy: str):
    typed = solve(Instance({"A": MIXED, "B": {"cpu": 3, "memory": 1}}, CAPACITY), policy)
    plain = solve(
        Instance({"A": {"cpu": 1, "memory": 3}, "B": {"cpu": 3, "memory": 1}}, CAPACITY, max_tasks=[4, None]), policy
    )
    assert typed.tasks.tolist() == plain.tasks.tolist()
    assert typed.certificate.valid


def test_max_tasks_lowers_the_number_of_tasks_of_all_types():
    limits = Instance({"A": MIXED}, CAPACITY, max_tasks={"A": Fraction(5, 2)}).exact_limits
    assert limits == (Fraction(5, 2),)
    assert Instance({"A": MIXED}, CAPACITY, max_tasks={"A": 100}).exact_limits == (4,)


def test_on_machines_one_type_that_fits_nowhere_is_enough_to_be_unplaced():
    machines = [Machine("small", {"cpu": 2, "memory": 2}), Machine("large", {"cpu": 8, "memory": 8})]
    kinds = [TaskType({"cpu": 1}, 1, ["small"]), TaskType({"cpu": 1, "memory": 4}, 1, ["small"])]
    instance = Instance({"A": kinds, "B": {"cpu": 1}}, machines=machines)
    assert instance.type_fits[0].tolist() == [[True, False], [False, False]]
    assert instance.unplaced().tolist() == [True, False]
    assert instance.unplaced(integer=True).tolist() == [False, False]


def test_whole_tasks_of_several_types_are_a_product_too_and_refused_by_name_where_they_are_not_defined():
    instance = Instance({"A": MIXED}, CAPACITY)
    assert solve(instance, "ceei", integer=True).certificate.valid
    assert crosscheck(instance, "ceei", integer=True).agree
    machines = Instance({"A": MIXED}, machines=[Machine("m", CAPACITY)])
    with pytest.raises(PolicyError, match=r"knows no count of tasks on all of them, but user 'A' has one"):
        solve(machines, "per-server", integer=True)


def test_an_organisation_has_one_entry_a_user_and_every_group_of_the_tree():
    asked = Organisation(
        guarantees={"A": {"cpu": "500m"}},
        ceilings={"B": {"memory": 4}},
        tiers={"B": 1},
        paths={"A": "eng/dev"},
        groups=[Group("eng/dev", weight=2)],
        excluded=["memory"],
    )
    found = Instance({"A": {"cpu": 1}, "B": {"cpu": 3}}, CAPACITY, organisation=asked, weights={"B": 0}).organisation
    assert found.guarantees == ({"cpu": Fraction(1, 2)}, {})
    assert found.ceilings == ({}, {"memory": 4})
    assert (found.tiers, found.paths, found.last) == ((0, 1), ("eng/dev", ""), (False, True))
    assert [(group.name, group.weight) for group in found.groups] == [("eng", 1), ("eng/dev", 2)]


def test_an_organisation_without_content_is_none():
    assert Instance({"A": {"cpu": 1}}, {"cpu": 1}, organisation=Organisation()).organisation is None
    # What guarantees would mean is kept for whoever is promised something later; nothing else is of it.
    meant = Instance({"A": {"cpu": 1}}, {"cpu": 1}, organisation=Organisation(meaning="surplus"))
    assert meant.organisation.meaning == "surplus" and not meant.features


def test_a_weight_of_zero_is_told_apart_and_is_one_in_the_weights():
    instance = Instance(np.ones((3, 1)), [1.0], weights=np.array([0.0, 2.0, 0.0]))
    assert instance.weights.tolist() == [1, 2, 1]
    assert instance.organisation.last == (True, False, True)


@pytest.mark.parametrize("kind", [3, TaskType({"cpu": 1}, 1.5), TaskType({"cpu": 1}, True), TaskType({"cpu": -1}, 1)])
def test_what_is_no_task_type_is_refused(kind: object):
    with pytest.raises(InstanceError, match=r"user 'A': tasks\[1\]"):
        Instance({"A": [MIXED[0], kind]}, CAPACITY)


def test_tasks_of_several_types_that_run_are_told_type_by_type():
    machines = [Machine("m", CAPACITY)]
    instance = Instance({"A": MIXED}, machines=machines)
    with pytest.raises(InstanceError, match="several types"):
        rebalance(instance, {"placement": {"A": {"m": 1}}})


def test_an_instance_is_made_again_of_its_parts():
    asked = Organisation(guarantees={"A": {"cpu": 1}}, paths={"B": "eng/dev"}, tiers={"A": -1}, meaning="surplus")
    pool = Instance({"A": MIXED, "B": {"cpu": 3}}, CAPACITY, organisation=asked, weights={"B": 0}, name="pool")
    kinds = [TaskType({"cpu": "1/3"}, 2, ["m"], "small")]
    machines = [Machine("m", CAPACITY, 3), Machine("l", {"cpu": 1})]
    several = Instance({"A": kinds, "B": {"cpu": 1}}, machines=machines, eligible={"B": ["l"]}, max_tasks={"B": 0})
    for instance in (pool, several, Instance.library("vector-weights"), Instance.library("sec72")):
        assert Instance(**instance.parts()) == instance


def test_the_verifier_reads_types_as_their_average_and_refuses_what_it_does_not_know():
    allocation = solve(Instance({"A": MIXED, "B": {"cpu": 3, "memory": 1}}, CAPACITY), exact=True)
    written = allocation.to_dict()
    assert verify(written, document(allocation.instance)).valid
    asked = Organisation(tiers={"A": 1})
    tiered = Instance({"A": MIXED, "B": {"cpu": 3, "memory": 1}}, CAPACITY, organisation=asked)
    assert verify(written, document(tiered)).valid is False, "of a higher tier A would have more"
    with pytest.raises(ValueError, match="the key 'mood' of an instance is nothing that the verifier knows"):
        verify(written, document(tiered) | {"mood": "good"})
