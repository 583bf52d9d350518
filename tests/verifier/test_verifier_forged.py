"""Genuine certificates are accepted, and a file in which one number was changed is not, unless it is still right."""

import copy
import json
import random
from fractions import Fraction as F

import numpy as np
import pytest

from drfopt.base.errors import InstanceError
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import loads, number, verify
from drfopt.io.native.reading import loads as read
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.organisation import Group, Organisation
from drfopt.model.users import TaskType
from drfopt.solving.allocating import solve

POOL = Instance(
    [[1, 4, 0], [3, 1, 1], [2, 0, 5], [1, 1, 0], ["1/3", 2, 2]],
    [9, 18, "15/2"],
    weights=[1, 2, 1, "1/2", 1],
    max_tasks=[None, None, None, "1/4", 2],
)
CLUSTER = Instance(
    [[1, 1], [1, 2], [3, 1], [1, 0], [2, "5/3"]],
    machines=[Machine("a", [4, 6], 2), Machine("b", [6, 4]), Machine("c", [9, 9], 3)],
    eligible=np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1], [0, 0, 1]], dtype=bool),
    max_tasks=[None, None, None, 1, None],
)
PLACES = Instance(
    [[1], [1], [2], [1]],
    machines=[Machine("a", [6]), Machine("b", [1]), Machine("c", [3])],
    eligible=np.array([[1, 1, 0], [0, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool),
)
"""Levels one above the other: what is dear in one round is closed in the next."""

THEOREM_5 = Instance([[4, 1], [1, 16], [16, 1]], [100, 100])
WHOLE = Instance([[1, 4], [3, 1], [2, 2]], [9, 18], max_tasks=["1/2", None, 1])
NOTHING = Instance([[1, 4], [3, 1]], [0, 18])
NARROW = "1e-60"

GENUINE = {
    "pool drf": (POOL, "drf", {}),
    "pool asset": (POOL, "asset", {}),
    "pool ceei": (POOL, "ceei", {}),
    "pool alpha": (POOL, "alpha:2", {}),
    "pool sum": (POOL, "utilitarian", {}),
    "machines drf": (CLUSTER, "drf", {}),
    "machines tasks": (CLUSTER, "tasks", {}),
    "machines ceei": (CLUSTER, "ceei", {}),
    "machines sum": (CLUSTER, "throughput", {}),
    "theorem 5": (THEOREM_5, "ceei", {}),
    "whole drf": (WHOLE, "drf", {"integer": True, "exact": False}),
    "whole ceei": (WHOLE, "ceei", {"integer": True, "exact": False}),
    "whole alpha": (WHOLE, "alpha:2", {"integer": True, "exact": False}),
    "whole alpha of roots": (WHOLE, "alpha:0.5", {"integer": True, "exact": False}),
    "whole sum": (WHOLE, "utilitarian", {"integer": True, "exact": False}),
    "whole nothing": (NOTHING, "ceei", {"integer": True, "exact": False}),
    "floats pool": (POOL, "drf", {"exact": False}),
    "floats ceei": (POOL, "ceei", {"exact": False}),
    "floats machines": (CLUSTER, "drf", {"exact": False}),
    "floats places": (PLACES, "drf", {"exact": False}),
    "machines tsf": (CLUSTER, "tsf", {}),
    "floats tsf": (PLACES, "tsf", {"exact": False}),
    "floats sum": (CLUSTER, "utilitarian", {"exact": False}),
}


def made(name):
    instance, policy, options = GENUINE[name]
    allocation = solve(instance, policy, **{"exact": True, **options})
    return loads(json.dumps(certificate_document(allocation)))


@pytest.fixture(scope="module")
def genuine():
    return {name: made(name) for name in GENUINE}


@pytest.fixture(scope="module")
def truth():
    """Enclosures so narrow that they tell whether a wider one is right."""
    return {
        name: solve(instance, policy, exact=True, precision=NARROW).tasks
        for name, (instance, policy, options) in GENUINE.items()
        if not options
    }


def numbers(tree, path=()):
    """Yield the paths of all numbers in a document, but those of the instance."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key not in ("instance", "name", "schema", "policy", "finished", "class", "integer", "user"):
                yield from numbers(value, (*path, key))
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from numbers(value, (*path, index))
    else:
        yield path


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def changed(chance, value, floats):
    """Return another number: a little more or less, or something else altogether."""
    value = number(value)
    tiny = F(1, 10**6) if floats else F(1, 10 ** chance.randint(1, 40))
    other = chance.choice([value * (1 + tiny), value * (1 - tiny), value + 1, -value, value * 2, value / 3, F(0)])
    return value + 1 if other == value else other


def forged(chance, document):
    """Return a copy in which one thing is changed, and what it was."""
    document = copy.deepcopy(document)
    floats = not isinstance(document["users"][0]["tasks"], str | dict)
    rows, rounds = document["users"], document["proof"].get("rounds", [])
    kind = chance.choice(["number"] * 6 + ["consistent"] * 4 + ["swap", "drop", "early", "merge"])
    if kind == "consistent" and not isinstance(rows[0]["tasks"], dict):
        return consistently_forged(chance, document, floats), (kind,)
    if kind == "swap":
        one, other = chance.sample(range(len(rows)), 2)
        rows[one]["tasks"], rows[other]["tasks"] = rows[other]["tasks"], rows[one]["tasks"]
    elif kind == "drop" and rounds:
        del rounds[chance.randrange(len(rounds))]
    elif kind == "early" and len(rounds) > 1:
        source, target = chance.sample(rounds, 2)
        if source["finished"]:
            target["finished"].append(source["finished"].pop())
    elif kind == "merge" and len(rounds) > 1:
        last = rounds.pop()
        rounds[-1]["finished"] += last["finished"]
    else:
        kind, path = "number", chance.choice(list(numbers({k: document[k] for k in document if k != "instance"})))
        value = changed(chance, at(document, path), floats)
        at(document, path[:-1])[path[-1]] = value if floats and "proof" not in path else str(value)
        return document, path
    return document, (kind,)


def consistently_forged(chance, document, floats):
    """Return the document with another number of tasks, and nothing beside it that would give that away."""
    row = chance.choice(document["users"])
    other = changed(chance, row["tasks"], floats)
    for each in document["users"]:
        del each["level"]
    places = document.get("placement", {}).get(row["name"])
    if places:
        name = chance.choice(list(places))
        moved = number(places[name]) + other - number(row["tasks"])
        places[name] = moved if floats else str(moved)
    row["tasks"] = other if floats else str(other)
    return document


def claim(document):
    """Return what the document says is so: tasks, and levels where it gives them."""
    levels = [row.get("level", {}) for row in document["users"]]
    return [row["tasks"] for row in document["users"]], [y if isinstance(y, dict) else number(y) for y in levels]


def still_right(document, original, truth):
    """Say whether the claim is the same, or of enclosures one that is right as well."""
    (tasks, levels), (old, _) = claim(document), claim(original)
    same = tasks == old or (
        not any(isinstance(x, str | dict) for x in tasks) and tasks == pytest.approx(old, rel=1e-12)
    )
    if same and levels in (claim(original)[1], [{}] * len(levels)):
        return True
    ends = [row["tasks"] for row in document["users"]]
    if truth is None or not all(isinstance(end, dict) for end in ends):
        return False
    for level, old in zip(levels, claim(original)[1], strict=True):
        if level != old and (not isinstance(level, dict) or (level and not wider(level, old))):
            return False
    for end, x in zip(ends, truth, strict=True):
        low, high = (x.lower, x.upper) if hasattr(x, "lower") else (x, x)
        if not number(end["lower"]) <= low <= high <= number(end["upper"]):
            return False
    return True


def wider(level, old):
    return number(level["lower"]) <= number(old["lower"]) and number(level["upper"]) >= number(old["upper"])


def accepted(document, instance=None):
    try:
        return verify(document, instance).valid is True
    except ValueError:
        return False


@pytest.mark.parametrize("name", GENUINE)
def test_a_genuine_certificate_is_accepted(genuine, name):
    report = verify(genuine[name])
    assert report.valid is True, [check for check in report.checks if not check.holds]
    assert (report.accuracy > 0) == name.startswith("floats")


def attack(genuine, truth, times, seed):
    chance = random.Random(seed)
    refused = kept = 0
    for _ in range(times):
        name = chance.choice(list(GENUINE))
        document, what = forged(chance, genuine[name])
        if still_right(document, genuine[name], truth.get(name)):
            # A proof may be written in other numbers; a broken one is not accepted, and that is right as well.
            kept += 1
            continue
        assert not accepted(document), (name, what)
        refused += 1
    assert refused > times / 3, kept


def test_forged_certificates_are_rejected(genuine, truth):
    attack(genuine, truth, 600, seed=6)


@pytest.mark.slow
def test_ten_thousand_forged_certificates_are_rejected(genuine, truth, some):
    attack(genuine, truth, some(10_000), seed=66)


@pytest.mark.parametrize("name", [name for name in GENUINE if "drf" in name or "tasks" in name])
def test_proofs_that_prove_less_are_rejected(genuine, name):
    for index in range(len(genuine[name]["proof"].get("rounds", []))):
        for change in ("drop", "prices", "nobody", "higher"):
            document = copy.deepcopy(genuine[name])
            step = document["proof"]["rounds"][index]
            if change == "drop":
                del document["proof"]["rounds"][index]
            elif change == "prices":
                step["prices"] = {}
            elif change == "nobody":
                step["finished"] = []
            else:
                step["level"] = str(number(step["level"]) * 2)
            if step["finished"] or change == "higher":
                assert not accepted(document), change


def test_a_dear_class_is_closed_to_what_follows_and_to_nothing_before():
    """A fills m with B, and n is free of her; that n is not hers either, only the first round says."""
    users = [{"name": "A", **A}, {"name": "B", **A, "machines": ["m"]}, {"name": "C", **A, "machines": ["n"]}]
    machines = [{"name": "m", "capacity": {"cpu": 2}}, {"name": "n", "capacity": {"cpu": 3}}]
    rounds = [
        {"level": "1/5", "finished": ["B"], "prices": {"m": {"cpu": "1"}, "n": {"cpu": "2"}}},
        {"level": "3/5", "finished": ["C"], "prices": {"n": {"cpu": "1"}}},
    ]
    document = {
        "instance": {"machines": machines, "users": users},
        "policy": "drf",
        "integer": False,
        "users": [{"name": "A", "tasks": "1"}, {"name": "B", "tasks": "1"}, {"name": "C", "tasks": "3"}],
        "placement": {"A": {"m": "1"}, "B": {"m": "1"}, "C": {"n": "3"}},
        "proof": {"rounds": rounds},
    }
    # Not the answer: A could move to n, and B rise. The first round does not spend its money, and closes nothing.
    assert verify(document).valid is False
    names = {check.name for check in verify(document).checks if not check.holds}
    assert "nobody finished at level 1/5 can rise" in names


@pytest.mark.parametrize("name", ["machines drf", "machines tasks", "floats machines"])
def test_rounds_stand_in_their_order(genuine, name):
    document = copy.deepcopy(genuine[name])
    assert len({step["level"] for step in document["proof"]["rounds"]}) > 1
    document["proof"]["rounds"].reverse()
    assert not accepted(document)


def pool_of(tasks, policy="drf", prices=None, rounds=None, integer=False, **instance):
    """Return a document on a pool of cpu and memory: what follows is in it, and nothing else."""
    users = [{"name": name, **row} for name, row in instance["users"].items()]
    proof = ({} if prices is None else {"prices": prices}) | ({} if rounds is None else {"rounds": rounds})
    return {
        "instance": {"capacity": instance.get("capacity", {"cpu": 1, "memory": 1}), "users": users},
        "policy": policy,
        "integer": integer,
        "users": [{"name": user["name"], "tasks": x} for user, x in zip(users, tasks, strict=True)],
        "proof": proof,
    }


@pytest.mark.parametrize(
    "user",
    [
        {"tasks": [{"demand": {"cpu": 2}, "count": 1}, {"demand": {"cpu": -1}, "count": 1}]},
        {"tasks": [{"demand": {"cpu": 2}, "count": 1}, {"demand": {}, "count": 1}]},
        {"tasks": []},
        {"demand": {"cpu": 1}, "ceiling": {"memory": -1}},
    ],
    ids=["a type gives back", "a type needs nothing", "no types", "a ceiling below nothing"],
)
def test_no_instance_hides_a_negative_amount_in_an_average(user):
    with pytest.raises(ValueError, match="is negative, or a weight, count or user's demand is nothing"):
        verify(pool_of(["1"], users={"A": user}))


STRANGE = {
    "a key of the top in a user": lambda data: data["users"][0].update(users=2),
    "a key of a group": lambda data: data["groups"][0].update(wieght=3),
    "a key of a task type": lambda data: data["users"][1]["tasks"][0].update(weight=3),
    "a number for a table": lambda data: data["users"][0].update(demand=2),
    "a name that is no text": lambda data: data["machines"][0].update(name=-1),
    "guarantees that mean nothing known": lambda data: data.update(guarantees="most"),
    "two users of one name": lambda data: data["users"][1].update(name="A"),
    "a guarantee above its ceiling": lambda data: data["users"][0].update(guarantee={"cpu": 2}, ceiling={"cpu": 1}),
    "half a task of a type": lambda data: data["users"][1]["tasks"][0].update(count=1.5),
    "a resource that is not there": lambda data: data["users"][0]["demand"].update(gpu=1),
    "a title that is no text": lambda data: data.update(name=["x"]),
    "a text for a list": lambda data: data.update(excluded=""),
    "a text for the list of its letters": lambda data: data["users"][0].update(machines="m"),
    "a list for a table": lambda data: data["users"][0].update(ceiling=[]),
    "a resource without a name": lambda data: data["machines"][0]["capacity"].update({"": 1}),
    "a group without a name": lambda data: data["groups"].append({"name": ""}),
    "a class that is not there": lambda data: data["users"][0]["machines"].append("n"),
    "a pool beside machines": lambda data: data.update(capacity={"cpu": 4}),
    "a tier as a text": lambda data: data["users"][0].update(tier="1e30"),
    "half a tier": lambda data: data["groups"][0].update(tier=0.5),
    "half a machine": lambda data: data["machines"][0].update(count=1.5),
    "classes in a pool": lambda data: data.update(capacity=data.pop("machines")[0]["capacity"]),
}


@pytest.mark.parametrize("what", STRANGE)
def test_what_the_reader_of_instances_refuses_the_verifier_refuses(what):
    users = {"A": {"cpu": 1}, "B": [TaskType({"cpu": 1}, 2), TaskType({"cpu": 2}, 1)]}
    rules = Organisation(paths={"A": "g", "B": "g"}, groups=[Group("g", 2, tier=1)], tiers={"A": 1})
    racks = [Machine("m", {"cpu": 4}, 2)]
    instance = Instance(users, machines=racks, eligible={"A": ["m"], "B": ["m"]}, organisation=rules)
    data = json.loads(json.dumps(certificate_document(solve(instance, integer=True))))
    assert accepted(data)
    data["instance"]["users"][0]["machines"] = ["m"]
    assert accepted(data)
    STRANGE[what](data["instance"])
    with pytest.raises(ValueError):
        verify(loads(json.dumps(data)))
    with pytest.raises(InstanceError):
        read(json.dumps(data["instance"]), "json")


@pytest.mark.parametrize(
    "devices",
    [{"count": 3, "size": 2}, {"count": "3/2", "size": 2}, {"count": 0, "size": 2}, {"count": 2, "size": 0}, 0],
)
def test_devices_that_do_not_make_up_their_resource_are_refused(devices):
    node = Machine("node", {"gpu": 4}, devices={"gpu": 2})
    data = json.loads(
        json.dumps(certificate_document(solve(Instance({"A": {"gpu": 1}}, machines=[node]), integer=True)))
    )
    assert accepted(data)
    data["instance"]["machines"][0]["devices"]["gpu"] = devices
    with pytest.raises(ValueError, match="devices do not make up 4 of 'gpu'"):
        verify(loads(json.dumps(data)))
    with pytest.raises(InstanceError):
        read(json.dumps(data["instance"]), "json")


@pytest.mark.parametrize("policy", ["ceei", "alpha:0.5", "tasks", "tsf"])
@pytest.mark.parametrize("weight", [{}, {"cpu": 2, "memory": 2}])
def test_a_table_of_weights_is_none_of_a_policy_of_one_weight_a_user(policy, weight):
    data = certificate_document(solve(Instance({"A": {"cpu": 1}, "B": {"memory": 1}}, {"cpu": 4, "memory": 4}), policy))
    data = json.loads(json.dumps(data))
    assert accepted(data)
    data["instance"]["users"][0]["weight"] = weight
    with pytest.raises(ValueError, match="not defined for weights per resource"):
        verify(loads(json.dumps(data)))


@pytest.mark.parametrize("whole", [1, 0, "true", None, [], 1.5])
def test_whether_tasks_are_whole_is_true_or_false(whole):
    with pytest.raises(ValueError, match="'integer' says whether tasks are whole: true or false"):
        verify(loads(json.dumps(pool_of(["1/2", "1/2"], users=TWO) | {"integer": whole})))


def test_whole_tasks_lie_between_no_two_numbers():
    whole = pool_of([2, 1], "throughput", users=TWO, integer=True, capacity={"cpu": 3, "memory": 1})
    assert verify(loads(json.dumps(whole))).valid
    whole["proof"]["point"] = {"A": "2", "B": "1"}
    whole["users"][0]["tasks"] = {"lower": "1", "upper": "3"}
    with pytest.raises(ValueError, match="whole tasks are numbers"):
        verify(loads(json.dumps(whole)))


@pytest.mark.parametrize("machines", [False, True])
def test_where_all_are_at_their_limits_groups_need_no_rounds(machines):
    """B fits nowhere: nothing is left for prices to prove."""
    rows, rules = {"A": {"cpu": 1}, "B": {"cpu": 3}}, Organisation(paths={"B": "g"}, groups=[Group("g", 2)])
    how = {"machines": [Machine("m", {"cpu": 2}, 2)]} if machines else {"capacity": {"cpu": 4}}
    how["max_tasks"] = {"A": 2} if machines else {"A": 1, "B": 1}
    document = certificate_document(solve(Instance(rows, organisation=rules, **how), exact=True))
    assert verify(loads(json.dumps(document))).valid is True
    document["users"][0]["tasks"], document["users"][0]["level"] = "1/2", "1/8"
    assert verify(loads(json.dumps(document))).valid is not True


A, B = {"demand": {"cpu": 1}}, {"demand": {"cpu": 1, "memory": 1}}
TWO = {"A": A, "B": B}
CPU = {"prices": {"cpu": 1}}

WRONG = {
    "a negative task": ("tasks are not negative", pool_of(["2", "-1"], users=TWO)),
    "half a task": ("tasks are whole", pool_of(["1/2", "1/2"], integer=True, users=TWO)),
    "a limit": ("limits", pool_of(["3/4", "1/4"], users={"A": A | {"max_tasks": "1/2"}, "B": B})),
    "a user who fits nowhere": (
        "who can run nothing has nothing",
        pool_of(["1", "1"], users={"A": A, "B": {"demand": {"memory": 1}}}, capacity={"cpu": 1, "memory": 0}),
    ),
    "too much": ("capacities", pool_of(["1", "1"], users=TWO)),
    "too little": ("everybody is at its limit or finished once", pool_of(["1/3", "1/3"], users=TWO)),
    "money that is not spent": (
        "nobody finished at level 1/3 can rise",
        pool_of(["1/3", "1/3"], users=TWO, rounds=[{"level": "1/3", "finished": ["A", "B"], **CPU}]),
    ),
    "the rich pay": (
        "nobody finished at level 1/4 can rise",
        pool_of(
            ["3/4", "1/4"],
            users=TWO,
            rounds=[{"level": "3/4", "finished": ["A"], **CPU}, {"level": "1/4", "finished": ["B"], **CPU}],
        ),
    ),
    "finished twice": (
        "everybody is at its limit or finished once",
        pool_of(["1/2", "1/2"], users=TWO, rounds=[{"level": "1/2", "finished": ["A", "B"], **CPU}] * 2),
    ),
    "a negative price": (
        "nobody finished at level 1/4 can rise",
        pool_of(
            ["1/4", "1/4"],
            "tasks",
            users={"A": B, "B": {"demand": {"cpu": 2, "memory": 1}}},
            rounds=[{"level": "1/4", "finished": ["A", "B"], "prices": {"cpu": 2, "memory": -1}}],
        ),
    ),
    "a limit she would not reach": (
        "everybody has what it would choose",
        pool_of(["3/4", "1/4"], "ceei", {"cpu": "4"}, users={"A": A | {"max_tasks": "3/4"}, "B": B}),
    ),
    "a smaller sum": ("no sum is larger", pool_of(["1/2", "1/4"], "throughput", {"cpu": 1}, users=TWO)),
    "a free task": (
        "no sum is larger",
        pool_of(["1", "0"], "throughput", {"cpu": 1}, users={"A": A, "B": {"demand": {"memory": 1}}}),
    ),
    "a sum at a negative price": (
        "no sum is larger",
        pool_of(["1/2", "0"], "throughput", {"cpu": 1, "memory": "-1/2"}, users={"A": A, "B": A}),
    ),
    "too dear": (
        "everybody has what it would choose",
        pool_of(["3/4", "1/4"], "ceei", {"cpu": "2"}, users=TWO),
    ),
    "too cheap": (
        "everybody has what it would choose",
        pool_of(["1/2", "1/2"], "ceei", {"cpu": "1"}, users=TWO),
    ),
    "a price of what is left over": (
        "what has a price is used up",
        pool_of(["1/2", "1/2"], "ceei", {"cpu": "2", "memory": "1/2"}, users=TWO),
    ),
    "nothing for a market's user": ("prices", pool_of(["1", "0"], "ceei", {"cpu": "1"}, users=TWO)),
    "a better whole answer": (
        "nothing is better",
        pool_of(["1", "0"], integer=True, users=TWO, capacity={"cpu": 3, "memory": 1}),
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_each_check_finds_what_it_is_for(case):
    name, document = WRONG[case]
    report = verify(loads(json.dumps(document)))
    assert report.valid is False
    assert name in {check.name for check in report.checks if check.holds is False}


@pytest.mark.parametrize(
    ("placement", "name"),
    [
        ({"A": {"m": "1/4"}, "B": {"m": "1/2"}}, "tasks are those placed"),
        ({"A": {"m": "3/2", "n": "-1"}, "B": {"m": "1/2"}}, "tasks are those placed"),
        ({"A": {"n": "1/2"}, "B": {"m": "1/2"}}, "tasks run where they fit"),
    ],
)
def test_placements_are_looked_at(placement, name):
    document = pool_of(["1/2", "1/2"], users={"A": A | {"machines": ["m"]}, "B": A | {"machines": ["m"]}})
    machines = [{"name": c, "capacity": {"cpu": 1}} for c in "mn"]
    document["instance"] = {"machines": machines, "users": document["instance"]["users"]}
    document["proof"] = {"rounds": [{"level": "1/4", "finished": ["A", "B"], "prices": {"m": {"cpu": "1"}}}]}
    good = {"A": {"m": "1/2"}, "B": {"m": "1/2"}}
    assert verify(document | {"placement": good}).valid is True
    report = verify(document | {"placement": placement})
    assert name in {check.name for check in report.checks if check.holds is False}
    assert verify(document).valid is None, "without a placement nothing is proven"


def test_an_enclosure_must_be_wide_enough():
    document = made("theorem 5")
    for user in range(3):
        for end, other in (("lower", "upper"), ("upper", "lower")):
            narrow = copy.deepcopy(document)
            tasks = narrow["users"][user]["tasks"]
            point = number(narrow["proof"]["point"][narrow["users"][user]["name"]])
            tasks[end] = str(point + (number(tasks[other]) - point) * F(-1, 10**12))
            report = verify(narrow)
            assert "no optimum is outside of an enclosure" in {c.name for c in report.checks if c.holds is False}
    # A point that is possible but far from the optimum leaves room for much.
    document["proof"]["point"] = {name: str(number(x) * F(1, 2)) for name, x in document["proof"]["point"].items()}
    for row in document["users"]:
        row["tasks"] = {"lower": document["proof"]["point"][row["name"]], "upper": row["tasks"]["upper"]}
    assert verify(document).valid is False


def test_money_that_is_not_spent_is_room_for_something_better():
    document = pool_of([{"lower": "1/4", "upper": "1/4"}] * 2, "ceei", {"cpu": "4"}, users=TWO)
    document["proof"]["point"] = {"A": "1/4", "B": "1/4"}
    assert verify(document).valid is False


def test_dear_classes_are_noticed():
    users = [{"name": "A", **A}, {"name": "B", **A, "machines": ["m"]}]
    document = {
        "instance": {"machines": [{"name": c, "capacity": {"cpu": 1}} for c in "mn"], "users": users},
        "policy": "ceei",
        "integer": False,
        "users": [{"name": "A", "tasks": "1"}, {"name": "B", "tasks": "1"}],
        "placement": {"A": {"n": "1"}, "B": {"m": "1"}},
        "proof": {"prices": {"m": {"cpu": "1"}, "n": {"cpu": "1"}}},
    }
    assert verify(document).valid is True
    document["proof"]["prices"]["n"]["cpu"] = "2"
    report = verify(document)
    (failed,) = [check for check in report.checks if not check.holds]
    assert (failed.name, failed.worst) == ("all money is spent where tasks are cheapest", "2 of 3")


def test_another_instance_is_noticed(genuine):
    for name in ("pool drf", "machines drf"):
        document = genuine[name]
        given = copy.deepcopy(document["instance"])
        assert accepted(document, given)
        given["users"][0]["demand"]["r1"] = "1000001/1000000"
        report = verify(document, given)
        assert report.valid is False
        assert "the instance is the one of the file" in {check.name for check in report.checks if not check.holds}


def test_every_failing_step_is_named_with_its_amounts(genuine):
    document = copy.deepcopy(genuine["pool drf"])
    document["users"][0]["tasks"] = "7/2"
    faults = [check for check in verify(document).checks if not check.holds]
    assert {"levels are those of the tasks", "capacities"} <= {check.name for check in faults}
    assert all(any(c.isdigit() for c in check.worst) for check in faults)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        '{"policy": "drf"}',
        '{"a": 1, "a": 2}',
        '{"a": NaN}',
        '{"a": 1e999999999}',
        '{"instance": {"capacity": {"cpu": 1}, "users": []}, "policy": "drf", "integer": false, "users": []}',
    ],
)
def test_what_is_no_certificate_is_refused_in_a_sentence(text):
    with pytest.raises(ValueError):
        verify(loads(text))


def test_an_empty_packing_carries_nothing():
    document = loads(json.dumps(certificate_document(solve(CLUSTER, integer=True))))
    assert verify(document).valid
    document["proof"]["packing"] = []
    assert verify(document).valid is False
    del document["proof"]["packing"]
    assert verify(document).valid is None


def test_levels_of_enclosures_are_part_of_the_claim():
    document = made("theorem 5")
    level = document["users"][1]["level"]
    level["lower"] = level["upper"]
    assert verify(document).valid is False


def test_names_are_different():
    document = made("pool drf")
    for rows in (document["users"], document["instance"]["users"]):
        rows[1]["name"] = rows[0]["name"]
    with pytest.raises(ValueError, match="one name"):
        verify(document)


def test_numbers_of_any_length():
    long = F(10**6000 + 1, 3**9000)
    from drfopt.base.numbers.enclosures import text

    assert number(text(long)) == long
    assert number("0.1") == number(0.1) == F(1, 10)
    for bad in ("1/0", "x", True, None, "1e500", [1]):
        with pytest.raises((ValueError, ZeroDivisionError)):
            number(bad)


def test_answers_of_long_decimals_are_read_and_told():
    random_ = np.random.default_rng(5)
    instance = Instance(random_.random((120, 3)), np.full(3, 40.0))
    document = loads(json.dumps(certificate_document(solve(instance, "asset", exact=True))))
    assert len(document["long"]["L1"]) > 3_000 and document["users"][0]["tasks"].endswith("*L1")
    report = verify(document)
    assert report.valid is True
    assert all(len(check.name) < 100 for check in report.checks)
    document["users"][0], document["users"][1] = (
        document["users"][i] | {"tasks": document["users"][1 - i]["tasks"]} for i in (0, 1)
    )
    assert verify(document).valid is False


def test_of_groups_ceilings_and_levels_are_decided():
    instance = Instance.library("tree-of-departments")
    data = json.loads(json.dumps(certificate_document(solve(instance, exact=True))))
    assert verify(data).valid is True
    data["users"][3]["tasks"] = "4"
    found = verify(data)
    assert found.valid is False
    assert any(check.holds is False and check.worst == "sci: 5 of 4" for check in found.checks)


def test_ceilings_of_users_are_limits():
    capped = Instance(
        {"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}},
        {"cpu": 9, "memory": 18},
        organisation=Organisation(ceilings={"A": {"cpu": 3, "memory": 8}}),
    )
    data = json.loads(json.dumps(certificate_document(solve(capped, exact=True))))
    assert verify(data).valid
    data["instance"]["users"][0]["ceiling"]["memory"] = 12
    assert verify(data).valid is False


def test_a_point_is_no_proof_of_other_tasks(genuine):
    """Only of enclosures is there a point; tasks beside the right one are wrong, as numbers and as ends."""
    for name in ("floats ceei", "floats pool", "pool drf"):
        document = copy.deepcopy(genuine[name])
        rows = document["users"]
        document["proof"]["point"] = {row["name"]: str(number(row["tasks"])) for row in rows}
        moved = number(rows[0]["tasks"]) * (1 - F(1, 10**6))
        rows[0]["tasks"] = float(moved) if name.startswith("floats") else str(moved)
        assert not accepted(document), name
        rows[0] |= {"tasks": {"lower": "0", "upper": str(moved)}, "level": {"lower": "0", "upper": "1"}}
        assert not accepted(document), name


TYPED = Instance(
    {"A": [TaskType({"cpu": 1}, 2), TaskType({"cpu": 2}, 1)], "B": {"cpu": 1}},
    machines=[Machine("a", {"cpu": 3}), Machine("b", {"cpu": 2})],
)


@pytest.mark.parametrize("integer", [False, True], ids=["divisible", "whole"])
@pytest.mark.parametrize("document", [certificate_document, lambda found: found.to_dict(proof=True)])
def test_where_tasks_run_is_what_is_proven(integer, document):
    told = loads(json.dumps(document(solve(TYPED, "drf", integer=integer))))
    told["instance"] = json.loads(json.dumps(certificate_document(solve(TYPED, "drf"))))["instance"]
    assert verify(told).valid

    def forged(change):
        data = copy.deepcopy(told)
        change(data)
        return next(check for check in verify(data).checks if check.name == "tasks are those placed")

    moved = forged(lambda data: data["placement"].update(B={"b": -58, "a": 1}))
    summed = forged(lambda data: data["placement"].update(A={"b": 58}))
    typed = forged(lambda data: data["types"]["A"][0].update(placement={"b": 58}))
    assert not moved.holds and not summed.holds and not typed.holds
    assert not integer or "packed" in moved.worst
    assert "by types" in summed.worst
