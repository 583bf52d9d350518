"""What the verifier says that it does not follow, and how exactly it reads: files that a mutant of that lets pass."""

from copy import deepcopy
from fractions import Fraction
from types import SimpleNamespace

import pytest
from test_verifier_mutants import file_of, mutant_of, pool, row, verdict, without_levels

from drfopt import Group, Instance, Machine, Organisation, TaskType
from drfopt.certificates.verifier import claims, verify
from drfopt.certificates.verifier.cluster import Cluster

ROWS = {"A": {"a": 1, "b": 1}, "B": {"a": 1, "b": 2}, "C": {"a": 2, "b": 1}}


def changed(policy, change=None, first=None, groups=None, machines=False, **rules):
    """The answer of three users under some rules, said to be that under others: of all, and of the first user."""
    room = {"a": 12, "b": 13}
    cluster = {"machines": [Machine("m", room)]} if machines else {"capacity": room}
    organisation = Organisation(**rules, groups=groups or ()) if rules or groups else None
    found = without_levels(file_of(Instance(ROWS, **cluster, organisation=organisation), policy, exact=True))
    found["instance"] |= change or {}
    found["instance"]["users"][0] |= first or {}
    return found


SURPLUS = {"guarantees": "surplus"}
PATH = "path:1/2:1/2..1:1"


def promised(policy):
    return changed(policy, SURPLUS, guarantees={"A": {"a": 1}})


def promised_to_a_group():
    group = Group("g", guarantee={"a": 1})
    return changed("tasks", SURPLUS, groups=[group], paths=dict.fromkeys("ABC", "g"))


def tiers_in_groups():
    """A comes before B in a group of which each has all, beside C."""
    found = changed("ceei", {"groups": [{"name": "g"}, {"name": "h"}]})
    for user, group in zip(found["instance"]["users"], "ggh", strict=True):
        user["group"] = group
    found["instance"]["users"][0]["tier"] = 1
    return found


def rounded_point():
    """Enclosures about a point in floats, which is not exactly what has to be."""
    found = without_levels(file_of(Instance([[4, 1], [1, 16], [16, 1]], [100, 100]), "ceei", exact=True))
    found["proof"]["point"] = {name: float(Fraction(x)) for name, x in found["proof"]["point"].items()}
    for user in found["users"]:
        point = Fraction(found["proof"]["point"][user["name"]])
        user["tasks"] = {"lower": str(point - Fraction(1, 1000)), "upper": str(point + Fraction(1, 1000))}
    return found


LEXIMIN = 'if self.objective == "leximin":\n            return "" if'
NOT_FOLLOWED = "if not known or self.beyond:"
PROMISED = 'promised = any(map(any, c.guarantee)) or any(group.get("guarantee") for group in c.groups)'

MUTANTS = [
    (NOT_FOLLOWED, "if not known:", lambda: promised("ceei")),
    (NOT_FOLLOWED, "if not known and self.beyond:", tiers_in_groups),
    ("if turns(c) is None:", "if False:", tiers_in_groups),
    (LEXIMIN, LEXIMIN.replace('self.objective == "leximin"', "True"), lambda: promised("ceei")),
    (PROMISED, PROMISED.partition(" or ")[0], promised_to_a_group),
    (PROMISED, "promised =" + PROMISED.partition(" or ")[2], lambda: promised("tasks")),
    ('word == "path" or self.objective in ("", "servers")', "False", lambda: changed(PATH, {"excluded": ["b"]})),
    (' and not c.amounts):', "):", lambda: changed("per-server", first={"guarantee": {"a": 1}}, machines=True)),
    ("and bool(colon) == (word in ARGUED)", "", lambda: changed("drf") | {"policy": "drf:2"}),
    ("not self.enclosed and not written", "not written", rounded_point),
    ("if floats else number(0)", "", lambda: row(
        without_levels(file_of(pool(), exact=True)), 0, tasks="2.9999999999999")),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "forge"), MUTANTS, ids=[f"{row[0]} {row[1]}"[:50] for row in MUTANTS])
def test_a_mutant_of_what_is_followed_is_found_out(tmp_path, old, new, forge):
    mutant = mutant_of(tmp_path, "claims.py", old, new)
    assert verdict(verify, forge()) is not True
    assert verdict(mutant, forge()) is True


def test_fractions_that_were_never_written_are_meant_exactly():
    found = without_levels(file_of(pool(), exact=True))
    for user, x in zip(found["users"], (3, 2), strict=True):
        user["tasks"] = Fraction(x)
    assert verify(found, exact=True).valid is True
    found["users"][0]["tasks"] -= Fraction(1, 10**13)
    assert verify(found, exact=True).valid is False


def test_floats_may_be_off_by_their_accuracy_and_not_by_more():
    for off, right in ((9.9e-10, True), (1.1e-9, False)):
        found = without_levels(file_of(pool()))
        found["users"][0]["tasks"] *= 1 - off
        assert verify(found).valid is right


def test_a_path_is_of_a_pool_and_of_divisible_tasks():
    for wrong in ({"integer": True}, {"instance": changed("drf", machines=True)["instance"]}):
        with pytest.raises(ValueError, match="one pool and divisible tasks"):
            verify(changed(PATH) | wrong)


def test_what_counts_tasks_is_followed_for_several_types_and_weights_per_resource():
    """A user with types needs no word of what it could run alone in a pool; and a sum knows no weights."""
    kinds = [TaskType({"a": 1}, 2), TaskType({"a": 2}, 1)]
    assert verify(file_of(Instance({"A": kinds, "B": {"a": 1}}, {"a": 9}), "tsf", exact=True)).valid is True
    weighed = Instance({"A": {"a": 1}, "B": {"a": 2}}, {"a": 9}, weights={"A": {"a": 2}, "B": 1})
    assert verify(file_of(weighed, "throughput", integer=True)).valid is True


@pytest.mark.parametrize(("policy", "level"), [("tsf", 0.25), ("drf", 0.5)])
def test_of_a_resource_that_a_pool_has_none_of_one_type_is_short_and_the_level_counts_the_others(policy, level):
    """What is not there has no share; alone the user would run four tasks, of which two are the other type's."""
    kinds = [TaskType({"a": 1, "b": 1}, 1), TaskType({"b": 1}, 1)]
    found = file_of(Instance({"A": kinds}, {"a": 0, "b": 2}), policy, integer=True)
    assert found["users"][0]["level"] == level
    assert verify(found).valid is True
    found["users"][0]["level"] = 0
    assert verify(found).valid is False


def test_a_path_is_straight_between_its_bundles_and_goes_on_behind_the_last():
    knots, heights = [0, 1, 3], [Fraction(v) for v in (0, 4, 5)]
    found = [claims._between(knots, heights, Fraction(at, 2)) for at in range(9)]
    assert found == [0, 2, 4, *(4 + Fraction(step, 4) for step in range(1, 7))]


@pytest.mark.parametrize(("policy", "why"), [
    ("path:1/2..1", "is no path of 2 resources"),
    ("path:1:1..1:1", "does not grow from bundle to bundle"),
    ("path:1/2:1..1:1/2", "does not grow from bundle to bundle"),
])  # fmt: skip
def test_a_path_names_all_resources_and_grows(policy, why):
    with pytest.raises(ValueError, match=why):
        verify(changed(PATH) | {"policy": policy})


def test_a_path_is_followed_as_it_was_solved():
    found = file_of(Instance(ROWS, {"a": 12, "b": 13}), PATH, exact=True)
    assert verify(found).valid is True
    assert verify(found | {"policy": "path:1/4:1/2..1:1"}).valid is False


def test_a_policy_is_a_file_where_its_name_ends_so_and_no_policy_without_its_argument():
    pool = Instance({"A": {"a.py": 1}}, {"a.py": 2})
    assert verify(without_levels(file_of(pool, "drf", exact=True)) | {"policy": "single:a.py"}).valid is None
    assert verify(changed("drf") | {"policy": "alpha"}).valid is None


def test_prices_of_a_proof_come_before_those_of_the_resources():
    found = without_levels(file_of(pool(), "ceei", exact=True))
    assert found["proof"]["prices"]
    found["resources"] = [{"name": r, "price": "7"} for r in found["instance"]["capacity"]]
    assert verify(found).valid is True
    prices = found["proof"].pop("prices")
    assert verify(found).valid is False
    found["resources"] = [{"name": r, "price": v} for r, v in prices.items()]
    assert verify(found).valid is True


def test_enclosures_on_machines_without_a_point_and_without_a_placement_prove_nothing():
    found = changed("ceei", machines=True)
    found.pop("placement", None)
    for user in found["users"]:
        x = user["tasks"]
        user["tasks"] = x if isinstance(x, dict) else {"lower": x, "upper": x}
    found["proof"].pop("point", None)
    assert verify(found).valid is None


def test_of_a_limit_only_whole_tasks_count_where_tasks_are_whole():
    for limit in ("5/2", 2):
        found = file_of(Instance([[1], [1]], [9], max_tasks=[2, 2]), integer=True)
        for user in found["instance"]["users"]:
            user["max_tasks"] = limit
        assert verify(found).valid is True


KINDS = [TaskType({"a": 1}, 2), TaskType({"a": 2}, 1)]


def typed(policy="tsf", **cluster):
    """A user of two types, and another."""
    cluster = cluster or {"machines": [Machine("m", {"a": 3}, 2), Machine("n", {"a": 4})]}
    return file_of(Instance({"A": KINDS, "B": {"a": 1}}, **cluster), policy, exact=True)


def with_proof(found, **more):
    found["proof"] |= more
    return found


def wide():
    """Enclosures on machines, of which the file names no point: that is where its tasks are placed."""
    found = changed("ceei", machines=True)
    del found["proof"]["point"]
    for user in found["users"]:
        place = Fraction(found["placement"][user["name"]]["m"])
        user["tasks"] = {"lower": str(place * Fraction(99, 100)), "upper": str(place * Fraction(101, 100))}
    return found


def one_price():
    found = changed("ceei")
    del found["proof"]["prices"]
    return found | {"resources": [{"name": "a", "price": "1"}, {"name": "b", "price": None}]}


def ruled(needs, room, policy="drf", max_tasks=None, **rules):
    return file_of(Instance(needs, room, max_tasks=max_tasks, organisation=Organisation(**rules)), policy, exact=True)


TWO = {"A": {"a": 1}, "B": {"a": 1, "b": 1}}
BESIDE = {"A": {"a": 1, "b": 1}, "B": {"a": 1, "b": 2}, "C": {"a": 2}}

READ = {
    "where a pool is said to run tasks": (lambda: changed("drf") | {"placement": {"A": {"m": 1}}}, True),
    "weights per resource, of what is not followed": (
        lambda: changed("tasks", SURPLUS, {"weight": {"a": 2, "b": 1}}, guarantees={"A": {"a": 1}}), None),
    "no point but a placement": (wide, True),
    "a ceiling of nothing": (lambda: ruled(
        BESIDE, {"a": 12, "b": 13}, groups=[Group("g", ceiling={"b": 0})], paths={"A": "g", "C": "g"}), True),
    "tiers inside of groups": (lambda: ruled(
        ROWS, {"a": 12, "b": 13}, groups=[Group("g"), Group("h")], paths={**dict.fromkeys("AB", "g"), "C": "h"},
        tiers={"A": 1}), True),
    "one price of two": (one_price, None),
    "two types alone": (typed, True),
    "two types alone, under drf": (lambda: with_proof(typed("drf"), alone={"A": None}), True),
    "two types alone, in a pool": (lambda: with_proof(typed(capacity={"a": 9}), alone={"A": None}), True),
    "two types of which the sum is not placed": (
        lambda: (found := typed()) | {"placement": {"B": found["placement"]["B"]}}, True),
    **{f"who fits nowhere, under {policy}": (lambda policy=policy: file_of(Instance(
        ROWS, machines=[Machine("m", {"a": 3, "b": 2}, 2)], eligible={"C": []}), policy, exact=True), True)
        for policy in ("drf", "ceei", "utilitarian")},
    "two types of a market": (lambda: typed("ceei"), True),
    "surplus without a promise": (lambda: changed("tasks", SURPLUS, tiers={"A": 1}), True),
    "less than a promise": (lambda: ruled(
        TWO, {"a": 12, "b": 13}, max_tasks={"A": 1}, guarantees={"A": {"a": 6}}, meaning="surplus"), True),
    "a path beside nothing": (
        lambda: file_of(Instance({"A": {"a": 1}, "B": {"a": 2}}, {"a": 12, "b": 0}), PATH, exact=True), True),
    "a path on which one has nothing": (
        lambda: row(changed(PATH), 2, tasks="0"), False),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_what_a_file_says_is_read_as_it_is_meant(name):
    make, valid = READ[name]
    assert verify(make()).valid is valid


@pytest.mark.parametrize("more", [{}, {"guarantees": {"A": {"a": 1}}, "meaning": "surplus"}])
def test_of_what_only_excluded_resources_make_the_level_is_nothing(more):
    found = ruled(TWO, {"a": 12, "b": 13}, max_tasks={"A": 4}, excluded=["b"], **more)
    found["instance"]["users"][0]["demand"] = {"b": 1}
    for level, right in ((0, True), (1, False)):
        found["users"][0]["level"] = level
        (check,) = (check for check in verify(deepcopy(found)).checks if check.name.startswith("levels are"))
        assert check.holds is right


@pytest.mark.parametrize("policy", ["ceei", "tasks"])
def test_what_counts_tasks_or_incomes_knows_no_weights_per_resource(policy):
    with pytest.raises(ValueError, match=f"{policy} is not defined for weights per resource"):
        verify(changed(policy, first={"weight": {"a": 2, "b": 1}}))


def test_every_type_is_placed():
    found = typed()
    found["types"]["A"].pop()
    with pytest.raises(ValueError, match="'A' has 2 task types, of which 1 are placed"):
        verify(found)


def test_barred_are_those_who_play_and_have_no_room_for_one_task_below_a_ceiling():
    instance = Instance(
        {"A": {"a": 1}, "B": {"a": 2}, "C": {"a": 2}}, {"a": 9}, max_tasks={"C": 0},
        organisation=Organisation(groups=[Group("g", ceiling={"a": 1})], paths=dict.fromkeys("ABC", "g")),
    )  # fmt: skip
    found = file_of(instance, integer=True)
    assert claims.Claim(Cluster(found["instance"]), found).barred == {1}


def test_near_is_up_to_the_accuracy():
    claim = SimpleNamespace(report=SimpleNamespace(accuracy=claims.ACCURACY))
    for off, right in ((claims.ACCURACY, True), (claims.ACCURACY * Fraction(11, 10), False)):
        assert claims.Claim.near(claim, 3 + 3 * off, Fraction(3)) is right
