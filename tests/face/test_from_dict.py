"""`Allocation.from_dict` reads back what `to_dict` wrote, through JSON and with its instance."""

import json

import pytest

from drfopt import Allocation, Instance, InstanceError, Machine, Organisation, TaskType, solve, verify

NSDI = Instance.library("nsdi2011")
DEMANDS = {"A": {"cpu": 1, "memory": "1/3"}, "B": {"cpu": 3, "memory": 1}, "C": {"cpu": 0.1, "memory": 2}}
MACHINES = [Machine("small", {"cpu": 9, "memory": 4}), Machine("large", {"cpu": 9, "memory": 14}, 2)]
TYPED = Instance(
    [[TaskType({"cpu": 1, "memory": 4}, 3, ["large"], "big"), TaskType({"cpu": 2, "memory": 1}, 4)], {"cpu": 3}],
    machines=MACHINES,
    users=["A", "B"],
)
POOLED = Instance(
    [[TaskType({"cpu": 1, "memory": 4}, 3), TaskType({"cpu": 2, "memory": 1}, 4)], {"cpu": 3}], {"cpu": 9, "memory": 9}
)
RULED = Instance(
    DEMANDS,
    {"cpu": 9, "memory": 18},
    organisation=Organisation({"A": {"cpu": 8}, "B": {"cpu": 6}}, ceilings={"C": {"memory": 6}}, tiers={"C": 1}),
)
MIXED = Instance(DEMANDS, machines=MACHINES, weights=[1, 2, "3/7"], max_tasks=[2, None, None], name="mixed")
NOBODY = Instance({"A": {"cpu": 5}, "B": {"cpu": 1}}, machines=[Machine("m", {"cpu": 2})])

ANSWERS = {
    "floats": (NSDI, "drf", {}),
    "fractions": (NSDI, "drf", {"exact": True}),
    "a market": (NSDI, "ceei", {}),
    "enclosures": (MIXED, "ceei", {"exact": True}),
    "machines": (MIXED, "drf", {}),
    "machines in fractions": (MIXED, "drf", {"exact": True}),
    "a market of machines": (MIXED, "ceei", {}),
    "whole tasks": (NSDI, "drf", {"integer": True}),
    "whole tasks on machines": (MIXED, "asset", {"integer": True}),
    "types": (TYPED, "drf", {}),
    "types in a pool, in fractions": (POOLED, "drf", {"exact": True}),
    "organisation": (RULED, "drf", {}),
    "organisation in fractions": (RULED, "drf", {"exact": True}),
    "unplaced": (NOBODY, "drf", {}),
    "sum": (NSDI, "utilitarian", {}),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_what_was_written_is_read_back(name):
    instance, policy, how = ANSWERS[name]
    found = solve(instance, policy, **how)
    written = json.dumps(found.to_dict())
    again = Allocation.from_dict(json.loads(written))
    assert again == found and again.instance == instance
    assert json.dumps(again.to_dict()) == written
    assert str(again) == str(found) and again.seconds == found.seconds
    assert again.tasks.dtype == found.tasks.dtype


@pytest.mark.parametrize("name", [name for name in ANSWERS if "organisation" not in name])
def test_the_verifier_takes_the_same_document(name):
    instance, policy, how = ANSWERS[name]
    document = solve(instance, policy, **how).to_dict()
    assert verify(document, instance).valid is not False


def test_the_command_prints_no_instance_but_reads_with_one():
    found = solve(NSDI)
    document = found.to_dict(instance=False)
    assert "cluster" not in document
    assert Allocation.from_dict(document, NSDI) == found
    with pytest.raises(InstanceError, match="has no 'cluster'"):
        Allocation.from_dict(document)


def test_what_is_not_possible_is_refused():
    document = solve(NSDI).to_dict()
    document["users"][0]["tasks"] = 30.0
    with pytest.raises(InstanceError, match="it is no answer for this instance"):
        Allocation.from_dict(document)
    document["users"][0]["name"] = "a"
    with pytest.raises(InstanceError, match="did you mean 'A'"):
        Allocation.from_dict(document)
    document["users"][0] = {"name": "A", "tasks": "many"}
    with pytest.raises(InstanceError, match="write a number"):
        Allocation.from_dict(document)
    with pytest.raises(InstanceError, match="is no answer"):
        Allocation.from_dict({"tasks": 3})
    with pytest.raises(InstanceError, match="is no answer"):
        Allocation.from_dict({"capacity": {"cpu": 1}, "users": [{"name": "A", "demand": {"cpu": 1}}]}, NSDI)
    with pytest.raises(InstanceError, match="has no 'tasks'"):
        Allocation.from_dict({"policy": "drf", "users": [{"name": "A"}]}, NSDI)


def test_an_answer_of_no_policy_or_of_no_optimum_is_refused_by_name():
    document = solve(NSDI).to_dict()
    with pytest.raises(InstanceError, match=r"^the answer: policy: there is no policy 'foo' \(known: drf,"):
        Allocation.from_dict(document | {"policy": "foo"})
    with pytest.raises(InstanceError, match=r"^the answer: status: is 'infeasible': give an answer that is optimal"):
        Allocation.from_dict(document | {"status": "infeasible"})


def test_an_answer_speaks_of_everybody_once():
    document = solve(NSDI).to_dict()
    one, other = document["users"]
    for users, words in (([], "nothing of A, B"), ([one], "nothing of B"), ([one, other, one], "'A' is listed twice")):
        with pytest.raises(InstanceError, match=words):
            Allocation.from_dict(document | {"users": users})


@pytest.mark.parametrize(
    "path, value",
    [
        (["certificate"], "x"),
        (["certificate", "violation"], "x"),
        (["certificate", "gap"], [[1]]),
        (["placement", "A", "m"], "1/0"),
        (["placement", "A", "m"], {"lower": 1, "upper": "x"}),
    ],
)
def test_damaged_answers_are_refused(path, value):
    cluster = Instance({"A": {"cpu": 1}}, machines=[Machine("m", {"cpu": 2})])
    document = solve(cluster, exact=True).to_dict()
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(InstanceError):
        Allocation.from_dict(document)
