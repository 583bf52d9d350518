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


# ---- what is read, one by one ----------------------------------------------------------------------------------------


def read(policy="drf", tasks=(1, 1), users=None, integer=False, **more):
    """The claim of A and B, of what is said of them, of a pool of 12 and 13, or of what there is instead."""
    rows = users or [{"demand": {"a": 1}}, {"demand": {"a": 2, "b": 1}}]
    names = "ABC"[: len(rows)]
    rows = [{"name": name, **row} for name, row in zip(names, rows, strict=True)]
    room = {"machines": more.pop("machines")} if "machines" in more else {"capacity": more.pop("capacity", ROOM)}
    rules = {key: more.pop(key) for key in ("groups", "guarantees") if key in more}
    how = {key: more.pop(key) for key in ("exact",) if key in more}
    has = [{"name": name, "tasks": x} for name, x in zip(names, tasks, strict=True)]
    data = {"policy": policy, "integer": integer, "users": has, **more}
    return claims.Claim(Cluster({**room, "users": rows, **rules}), data, **how)


ROOM = {"a": 12, "b": 13}
RACK = [{"name": "m", "capacity": {"a": 4, "b": 2}}, {"name": "n", "capacity": {"a": 2, "b": 4}, "count": 2}]
TYPES = {"tasks": [{"demand": {"a": 1}, "count": 2}, {"demand": {"a": 2}, "count": 1}]}
TYPED = [TYPES, {"demand": {"b": 1}}]
PLACED = {"types": {"A": [{"placement": {"m": 2}}, {"placement": {"n": 1}}]}, "placement": {"B": {"n": 3}}}


@pytest.mark.parametrize(("more", "why"), [
    ({"schema": "other 1"}, "its schema is 'other 1'"),
    ({"integer": "true"}, "'integer' says whether tasks are whole"),
    ({"integer": True, "tasks": ({"lower": 1, "upper": 2}, 1)}, "whole tasks are numbers"),
    ({"policy": "ceei", "users": [{"demand": {"a": 1}, "weight": {"a": 2, "b": 1}}, {"demand": {"a": 2}}],
        "instance": {}}, "ceei is not defined for weights per resource"),
])  # fmt: skip
def test_a_claim_that_cannot_be_read_is_refused(more, why):
    with pytest.raises(ValueError, match=why):
        read(**more)


def test_users_are_those_of_the_instance_in_its_order():
    rows = [{"name": "B", "tasks": 1}, {"name": "A", "tasks": 1}]
    cluster = Cluster({"capacity": {"a": 9}, "users": [{"name": name, "demand": {"a": 1}} for name in "AB"]})
    with pytest.raises(ValueError, match="its users are not those of the instance, in its order"):
        claims.Claim(cluster, {"policy": "drf", "integer": False, "users": rows})


def test_what_is_compared_is_said_by_the_policy():
    told = [("alpha:2", "alpha"), ("alpha:0", "sum"), ("per-server", "leximin"), ("drf", "leximin"), ("other", "")]
    assert [read(policy).objective for policy, _ in told] == [objective for _, objective in told]
    assert read("per-server", machines=RACK).objective == "servers"
    weighed = [{"demand": {"a": 1}, "weight": {"a": 2, "b": 1}}, {"demand": {"a": 2}}]
    assert read("drf", users=weighed, instance={}).objective == "leximin"
    assert read("ceei", users=weighed).objective == "alpha"  # Asked on the way to a proof.


def test_numbers_are_exact_unless_all_of_them_are_floats():
    for tasks, more, accuracy in (
        ((1.5, 1.0), {}, claims.ACCURACY),
        ((1.5, "1"), {}, 0),
        ((1.5, 1.0), {"exact": True}, 0),
        ((1, 1), {"integer": True}, 0),
        (({"lower": 1.0, "upper": 2.0}, 1.0), {}, 0),
    ):
        assert read(tasks=tasks, **more).report.accuracy == accuracy
    assert Fraction("1e-9") == claims.ACCURACY


def test_a_point_is_that_of_enclosures_the_one_of_the_file_before_that_of_the_placement():
    wide, rack = ({"lower": 1, "upper": 3}, 2), {"machines": RACK, "placement": {"A": {"m": 1, "n": 1}, "B": {"n": 2}}}
    point = {"proof": {"point": {"A": "5/2"}}}
    assert read(tasks=wide).enclosed and read(tasks=wide).x == [1, 2]
    assert read(tasks=(3, 2), **point).x == [3, 2]
    assert read(tasks=(3, 1), **rack).x == [3, 1]
    assert read(tasks=wide, **rack).x == [2, 2]
    assert read(tasks=wide, **rack, **point).x == [Fraction(5, 2), 2]


def test_limits_are_whole_where_tasks_are_and_nobody_plays_who_may_have_nothing_or_fits_nowhere():
    limited = [{"demand": {"a": 1}, "max_tasks": "5/2"}, {"demand": {"a": 20}}]
    assert (read(users=limited).u, read(users=limited).plays) == ([Fraction(5, 2), None], [True, True])
    whole = read(users=limited, integer=True)
    assert (whole.u, whole.plays) == ([2, None], [True, False])
    for integer in (False, True):
        nobody = read(users=[{"demand": {"a": 1}, "max_tasks": 0}, {"demand": {"b": 1}}], integer=integer)
        assert (nobody.u, nobody.plays) == ([0, None], [False, True])
    large = [{"tasks": [{"demand": {"a": 1}, "count": 2}, {"demand": {"a": 9}, "count": 1}]}, {"demand": {"b": 1}}]
    assert read(users=large, machines=RACK).plays == [False, True]
    surplus = read(
        users=[{"demand": {"a": 20}, "guarantee": {"a": 3}}, {"demand": {"b": 1}}], machines=RACK, guarantees="surplus"
    )
    assert (surplus.plays, surplus.y) == ([False, True], [0, Fraction(1, 10)])


def test_below_a_ceiling_of_nothing_is_nobody_who_needs_it():
    for most, limits, plays in ((0, [None, 0], [True, False]), (2, [None, None], [True, True])):
        groups = [{"name": "g", "ceiling": {"b": most}}]
        users = [{"demand": {"a": 1}, "group": "g"}, {"demand": {"b": 1}, "group": "g"}]
        found, whole = (read(users=users, groups=groups, integer=integer) for integer in (False, True))
        assert (found.u, found.plays) == (limits, plays)
        assert (whole.u, whole.plays) == ([None, None], [True, True])
        assert whole.barred == {i for i, may in enumerate(plays) if not may}


def test_members_of_a_group_have_parts_of_what_it_has_to_spend_and_levels_by_them():
    users = [{"demand": {"a": 1}, "weight": 2, "group": "g"}, {"demand": {"a": 3}, "group": "g"}]
    found = read("ceei", users=users, capacity={"a": 12}, groups=[{"name": "g", "weight": 3}])
    assert found.income == [2, 1]
    assert found.lines == [[(Fraction(1, 24), 0)], [(Fraction(1, 4), 0)]]
    shares = read("ceei", users=users, capacity={"a": 12}, groups=[{"name": "g"}])
    assert shares.income == [Fraction(2, 3), Fraction(1, 3)]
    assert shares.lines == [[(Fraction(1, 8), 0)], [(Fraction(3, 4), 0)]]
    assert read("drf", users=users, capacity={"a": 12}, groups=[{"name": "g"}]).lines == [
        [(Fraction(1, 24), 0)], [(Fraction(1, 4), 0)]
    ]  # fmt: skip


def test_what_is_not_followed_is_said():
    silent = read("tsf", users=TYPED, machines=RACK)
    assert (silent.beyond, silent.objective) == ("what A could run alone, of which the file says nothing,", "")
    promised = [{"demand": {"a": 1}, "guarantee": {"a": 1}}, {"demand": {"b": 1}, "tier": 1}]
    tiers = [{"demand": {"a": 1}}, {"demand": {"b": 1}, "tier": 1}]
    assert read("per-server", users=tiers, machines=RACK).beyond == ""
    assert "rules of an organisation" in read("per-server", users=promised, machines=RACK).beyond
    for policy in ("tasks", "ceei"):
        assert read(policy, users=promised).beyond == read(policy, users=tiers, guarantees="surplus").beyond == ""
        assert "guarantees that are surplus" in read(policy, users=promised, guarantees="surplus").beyond


def test_turns_are_those_of_tiers_where_all_have_one_order():
    users = [{"demand": {"a": 1}, "group": "g"}, {"demand": {"b": 1}, "tier": 1, "group": "g"}]
    assert read(users=users, groups=[{"name": "g"}]).turns == [1, 0]
    assert read(users=[*users, {"demand": {"a": 1}}], tasks=(1, 1, 1), groups=[{"name": "g"}]).turns == [0, 0, 0]


def test_whole_tasks_of_several_types_are_mixed():
    assert [read(users=users, integer=whole).mixed for users in (None, TYPED) for whole in (False, True)] == [
        False, False, False, True
    ]  # fmt: skip


def test_a_level_is_the_largest_of_all_lines():
    """Of resources with a promise what is above it counts."""
    users = [{"demand": {"a": 3, "b": 1}, "guarantee": {"a": 6}}, {"demand": {"a": 1}, "guarantee": {"a": 3}}]
    two = read(users=users, guarantees="surplus")
    assert two.lines[0] == [(Fraction(1, 4), Fraction(1, 2)), (Fraction(1, 13), 0)]
    assert [two.level(0, Fraction(x)) for x in (1, 4)] == [Fraction(1, 13), Fraction(1, 2)]
    assert two.r[0] == Fraction(1, 4)
    swapped = read(users=[users[0] | {"guarantee": {"b": 13}, "demand": {"a": 1, "b": 13}}, users[1]],
                   guarantees="surplus")  # fmt: skip
    assert swapped.lines[0] == [(Fraction(1, 12), 0), (1, 1)]
    assert [swapped.level(0, Fraction(x)) for x in (1, 4)] == [Fraction(1, 12), 3]
    one = read(users=[{"demand": {"a": 3}, "guarantee": {"a": 6}}, users[1]], capacity={"a": 12}, guarantees="surplus")
    assert one.lines[0] == [(Fraction(1, 4), Fraction(1, 2))] and one.level(0, Fraction(1)) == Fraction(-1, 4)
    assert read().level(1, Fraction(3)) == Fraction(1, 2)


def test_a_level_along_a_path_is_that_of_the_resource_that_is_furthest_on_it():
    """Of weight 2 half of what it has of a counts; nobody has a level of nothing, and a task of it counts one."""
    users = [{"demand": {"a": 3}, "weight": 2}, {"demand": {"a": 1, "b": 1}}]
    for tasks, level in ((2, Fraction(3, 16)), (4, Fraction(3, 8)), (6, Fraction(11, 16))):
        # Shares of a of 1/4 (at 2/4 of the way to a half), 1/2, and 3/4 (half of the way from there to all).
        found = read("path:1/2:1/4..1:1", (tasks, 0), users)
        assert found.lines == [[(level / tasks, 0)], [(1, 0)]]
        assert found.y == [level, 0]


def test_without_a_placement_of_every_type_nothing_is_placed():
    assert read(users=TYPED, machines=RACK, placement={"B": {"n": 3}}).z is None
    assert read(users=TYPED, machines=RACK).z is None
    placed = read(users=TYPED, machines=RACK, **PLACED)
    assert placed.z == [{0: 2}, {1: 1}, {1: 3}]
    assert [[placed.used(k, j) for j in (0, 1)] for k in (0, 1)] == [[2, 0], [2, 3]]
    assert read(users=TYPED, machines=RACK).used(0, 0) == 0
    assert [read(tasks=(3, 2)).used(0, j) for j in (0, 1)] == [7, 2]


def test_what_there_is_for_one_alone_is_that_of_all_classes_by_what_it_needs():
    assert [read(machines=RACK).alone(at) for at in (0, 1)] == [8, 4]
    assert [read().alone(at) for at in (0, 1)] == [12, 6]


def test_alone_on_machines_is_what_the_file_places_and_in_a_pool_what_there_is():
    """What one class has left of a and another of b is for nobody, but in a pool it is."""
    rows = {"A": [TaskType({"a": 1, "b": 1}, 6), TaskType({"a": 2, "b": 2}, 3)], "B": {"b": 1}}
    machines = [Machine(row["name"], row["capacity"], row.get("count", 1)) for row in RACK]
    for cluster, most in (({"machines": machines}, Fraction(9, 2)), ({"capacity": {"a": 8, "b": 10}}, 6)):
        found = file_of(Instance(rows, **cluster), "tsf", exact=True)
        assert claims.Claim(Cluster(found["instance"]), found).lines[0] == [(1 / Fraction(most), 0)]


def test_who_is_below_its_limit_may_rise():
    users = [{"demand": {"a": 1}, "max_tasks": 3}, {"demand": {"b": 1}}]
    assert [read(users=users, tasks=(x, 1)).below() for x in ("1", "3")] == [{0, 1}, {1}]


def test_what_a_task_costs_is_paid_on_the_cheapest_class_and_to_ceilings():
    users = [{"demand": {"a": 1, "b": 1}, "group": "g"}, {"demand": {"a": 2}}]
    groups = [{"name": "g", "ceiling": {"a": 3, "b": 5}}]
    found = read(users=users, machines=RACK, groups=groups, proof={"ceilings": {"g": {"b": "1/2"}}})
    assert found.bounds == [0, Fraction(1, 2)]
    prices = [[Fraction(1), Fraction(2)], [Fraction(1), Fraction(1)]]
    # On m one of each costs 3, on n 2; there is 4, 2 of one machine and 4, 8 of two.
    assert found.market(prices) == ([2, 2], 8 + 12, 20 - 4)
    bounds = [Fraction(1), Fraction(1, 2)]
    assert found.market(prices, bounds) == (
        [Fraction(7, 2), 2],
        20 + 3 + Fraction(5, 2),
        25 + Fraction(1, 2) - Fraction(11, 2),
    )
