"""What no genuine file says: levels between ends, policies that are none, two clusters in one answer, endless work."""

import pytest

from drfopt.certificates.verifier import AUDITS, verify

SHORT = "that takes more work than a file may cost"


def answer(cluster, policy="drf", integer=False, proof=None, **tasks):
    """Return a document of an instance and everybody's tasks."""
    users = [{"name": name, "tasks": x} for name, x in tasks.items()]
    return {"instance": cluster, "policy": policy, "integer": integer, "users": users, "proof": proof or {}}


def pool(*users, cpu=1):
    return {"capacity": {"cpu": cpu}, "users": [{"name": name, "demand": {"cpu": 1}} for name in users]}


def worst(document):
    return next(check.worst for check in verify(document).checks if check.holds is not True)


@pytest.mark.parametrize(("lower", "upper", "valid"), [("1/2", "1/2", True), ("0", "1", True), ("5", "6", False)])
def test_the_level_of_a_number_of_tasks_is_between_its_ends(lower, upper, valid):
    document = answer(pool("A", "B"), A="1/2", B="1/2")
    document["users"][0]["level"] = {"lower": lower, "upper": upper}
    assert verify(document).valid is valid
    if not valid:
        assert worst(document) == "A: 5, 6"


@pytest.mark.parametrize("policy", ["alpha:-1", "single:gpu"])
def test_what_is_no_policy_is_not_proven(policy):
    """At half each the conditions of alpha = -1 hold, though all for one is worth more; of GPUs there are none."""
    document = answer(pool("A", "B"), policy, proof={"prices": {"cpu": "1/2"}}, A="1/2", B="1/2")
    assert verify(document).valid is None
    assert verify(document | {"policy": "single:cpu"}).valid


def test_a_resource_that_counts_and_is_not_there_is_named():
    document = answer(pool("A", "B"), "single:cpux", A="1/2", B="1/2")
    for user in document["users"]:
        user["level"] = "1/2"
    assert verify(document | {"policy": "single:cpu"}).valid
    report, missing = verify(document), "the share of 'cpux', a resource that the instance does not have, is not"
    said = [(check.holds, check.worst) for check in report.checks if check.holds is not True]
    assert [(None, f"{missing} known here"), (None, f"{missing} followed here: only feasibility was checked")] == said


def test_what_a_file_names_and_writes_wrongly_is_told_in_words_and_not_as_python_has_it():
    document = answer(pool("A", "B"), A="1/2", B="1/2")
    for text in ("2x", "1/0", "1e", "0xg", ""):
        document["users"][0]["tasks"] = text
        with pytest.raises(ValueError, match=f"'{text}' is not a number"):
            verify(document)
    users = [{"name": "A", "demand": {"cpu": 1}, "machines": ["m"]}]
    machines = [{"name": name, "capacity": {"cpu": 1}} for name in "mn"]
    placed = answer({"machines": machines, "users": users}, A="1") | {"placement": {"A": {"n": "1"}}}
    assert worst(placed) == "A: 1 on n"
    placed |= {"integer": True, "proof": {"packing": [{"class": "o", "machines": 1, "tasks": {"A": 1}}]}}
    with pytest.raises(ValueError, match="the instance has no class 'o'"):
        verify(placed)


@pytest.mark.parametrize("key", ["cluster", "instance"])
def test_a_verdict_compares_the_clusters_that_are_proven(key):
    """Who leaves takes nothing from who stays: it has less in a cluster that was smaller all the time."""
    truth = answer(pool("A", "B", cpu=20), A="10", B="10")
    truth |= {"cluster": truth["instance"], "instance": pool("A", "B")} if key == "cluster" else {}
    finding = {"property": "population-monotonicity", "verdict": "fails", "user": "A", "other": "B"}
    findings = [finding | {"after": [answer(pool("A"), A="1")]}]
    with pytest.raises(ValueError, match="differ in more than the property speaks of"):
        verify({"schema": AUDITS, "audits": [{"truth": truth, "findings": findings}]})


def test_groups_of_great_depth_are_not_decided():
    deep, cluster = "/".join("a" * 3_000), pool("A", "B")
    cluster["users"][0]["group"] = deep
    assert worst(answer(cluster | {"groups": [{"name": deep}]}, A="1/2", B="1/2")) == SHORT


def test_loads_beyond_memory_are_not_listed():
    machine = {"name": "m", "capacity": {"cpu": 10**9, "mem": 10**10}}
    users = [{"name": name, "demand": {"cpu": 1, "mem": mem}, "max_tasks": 1} for name, mem in (("A", 1), ("B", 2))]
    packing = [{"class": "m", "machines": 1, "tasks": {"A": 1, "B": 1}}]
    proof = {"packing": packing, "trees": [[{"tasks": {"A": 1}, "levels": [0]}]]}
    assert worst(answer({"machines": [machine], "users": users}, "tasks", True, proof, A=1, B=1)) == SHORT


def test_powers_of_long_levels_are_counted():
    long = {"A": f"{'7' * 4_000}/{'3' * 3_999}1", "B": f"{'9' * 4_000}/{'1' * 3_999}7"}
    users = [{"name": name, "demand": {"cpu": d}, "max_tasks": 1} for name, d in long.items()]
    assert worst(answer({"capacity": {"cpu": 1000}, "users": users}, "alpha:1001", True, A=1, B=1)) == SHORT


def test_the_order_of_many_types_is_counted():
    kinds = [{"demand": {"cpu": 1 + t}, "count": 1} for t in range(1_200)]
    cluster = {"capacity": {"cpu": 360_000}, "users": [{"name": "A", "tasks": kinds}]}
    assert worst(answer(cluster, integer=True, proof={"trees": []}, A=1)) == SHORT
