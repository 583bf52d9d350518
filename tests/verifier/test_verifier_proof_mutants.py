"""What the verifier makes of proofs that are short of something: small files that are right, wrong, or not decided."""

import itertools
import math
from fractions import Fraction as F
from types import SimpleNamespace

import pytest
from test_verifier_mutants import both_stop, file_of, row, ruled, verdict, without_levels

from drfopt import Group, Instance, Machine, Organisation, TaskType
from drfopt.certificates.verifier import proofs, verify
from drfopt.certificates.verifier.branches import Undecided
from drfopt.certificates.verifier.order import ROUNDING

# ---- machines divided one by one ---------------------------------------------------------------------------------


def one_by_one(tasks=None, integer=False, tiers=None, first=None, machines=1, **instance):
    """A and B on a machine, and perhaps so many tasks there; and what else the first and the instance have."""
    rows, rules = {"A": {"a": 1, "b": 1}, "B": {"a": 1, "b": 1}}, Organisation(tiers=tiers) if tiers else None
    rack = [Machine("m", {"a": 4, "b": 9}), Machine("idle", {"a": "1/2", "b": 9})][:machines]
    found = without_levels(
        file_of(Instance(rows, machines=rack, organisation=rules), "per-server", integer=integer, exact=not integer)
    )
    for user, x in zip(found["users"], tasks or (), strict=bool(tasks)):
        user["tasks"] = x
        found["placement"][user["name"]] = {"m": x}
    found["instance"] |= instance
    found["instance"]["users"][0] |= first or {}
    return found


def needs_what_is_excluded(integer=False):
    return one_by_one(integer=integer, excluded=["b"], first={"demand": {"b": 1}})


def as_high_elsewhere():
    """B could rise, on what A does not stop it at, from A's level."""
    rows = {"A": {"a": 1, "b": 1}, "B": {"b": 1}}
    rack = Instance(rows, machines=[Machine("m", {"a": 4, "b": 100})], weights={"A": 1, "B": "1/2"})
    found = without_levels(file_of(rack, "per-server", exact=True))
    found["placement"]["B"] = {"m": "50"}
    return row(found, 1, tasks="50")


FIRST = {"A": 1}


def groups_one_by_one(exact):
    """A group of A, and one of B and C, on three machines of one class: each group has half, of 9/2 or of 10."""
    rows, room = {name: {"a": "3/2"} for name in "ABC"}, "3/2" if exact else "10/3"
    groups = Organisation(paths={"A": "g", "B": "h", "C": "h"}, groups=[Group("g"), Group("h")])
    rack = Instance(rows, machines=[Machine("m", {"a": room}, 3)], organisation=groups)
    return without_levels(file_of(rack, "per-server", exact=exact))


def one_has_nothing():
    """Of a machine for one task A has it, and of B the packing says nothing."""
    rack = Instance({"A": {"a": 1}, "B": {"a": 1}}, machines=[Machine("m", {"a": 1})])
    found = without_levels(file_of(rack, "per-server", integer=True))
    for one in found["proof"]["packing"]:
        one["tasks"] = {user: x for user, x in one["tasks"].items() if x}
    return found


SERVERS = [
    ("groups", lambda: groups_one_by_one(True), True),
    ("groups in floats", lambda: groups_one_by_one(False), True),
    ("nothing for one", one_has_nothing, True),
    ("nobody at a bottleneck", lambda: one_by_one(("1", "1")), False),
    ("one who has less", lambda: one_by_one(("3", "1")), False),
    ("a limit", lambda: one_by_one(first={"max_tasks": 9}), None),
    ("a limit of whole tasks", lambda: one_by_one(integer=True, first={"max_tasks": 9}), None),
    ("who has no level", needs_what_is_excluded, None),
    ("who has no level in whole tasks", lambda: needs_what_is_excluded(True), None),
    ("no placement", lambda: {key: v for key, v in one_by_one().items() if key != "placement"}, None),
    ("one in front of another", lambda: one_by_one(tiers=FIRST), True),
    ("one in front, and a machine for nobody", lambda: one_by_one(tiers=FIRST, machines=2), True),
    ("both at once where one is in front", lambda: one_by_one(("2", "2"), tiers=FIRST), False),
    ("one who is as high as those at a bottleneck of others", lambda: as_high_elsewhere(), False),
]


# A's levels are those of b and those of n's a, B's of a by its weight of 2; C runs on m, and needs but b.
NEEDS = {"A": {"a": 1, "b": 2, "c": 9}, "B": {"a": 3}, "C": {"b": 1}}
ROOMS = {"m": {"a": 6, "b": 8, "c": 20}, "n": {"a": 4, "b": 8, "c": 20}, "o": {"a": 3, "c": 20}}


def shared(at, some, whole=False, left_out=()):
    """Tasks of A on m and n, what they leave to B and C, and tasks of B on o: each machine is full."""
    users = [{"name": user, "demand": row} for user, row in NEEDS.items()]
    users[1]["weight"], users[2]["machines"] = 2, ["m"]
    instance = {
        "machines": [{"name": k, "capacity": room} for k, room in ROOMS.items()], "users": users, "excluded": ["c"],
    }  # fmt: skip
    placement = {
        "A": {"m": at, "n": some}, "B": {"m": (6 - at) / 3, "n": (4 - some) / 3, "o": F(1)}, "C": {"m": 8 - 2 * at},
    }  # fmt: skip
    if whole:
        placement = {
            user: {k: F(math.floor(x)) for k, x in row.items() if k not in left_out} for user, row in placement.items()
        }
    rows = [{"name": user, "tasks": sum(placement[user].values())} for user in NEEDS]
    packing = [
        {"class": k, "machines": 1, "tasks": {user: int(row[k]) for user, row in placement.items() if row.get(k)}}
        for k in ROOMS if k not in left_out
    ]  # fmt: skip
    proof = {"proof": {"packing": packing}} if whole else {"placement": placement}
    return {"instance": instance, "policy": "per-server", "integer": whole, "users": rows} | proof


def test_machines_are_divided_so_that_nobody_can_rise_on_any():
    """At 3/8 of m its a is used up, and at 1/3 of n."""
    for at, some in itertools.product([F(k, 2) for k in range(9)], [F(k, 3) for k in range(13)]):
        assert verdict(verify, shared(at, some)) is (at == F(3, 2) and some == F(4, 3)), (at, some)


def test_whole_tasks_are_divided_so_that_nothing_is_better_on_any_machine():
    """On m nobody can have more than 2, 1 and 4, on n than 1 and 1."""
    for at, some in itertools.product(range(5), repeat=2):
        assert verdict(verify, shared(F(at), F(some), True)) is ((at, some) == (2, 1)), (at, some)
    for name in ROOMS:
        (check,) = (check for check in verify(shared(F(2), F(1), True, name)).checks if check.holds is not True)
        assert (check.name, check.holds) == ("every machine is divided", False)
        assert check.worst == f"1 of {name}"


# ---- rules, sums, and markets ------------------------------------------------------------------------------------


def demands(needs):
    """Return what a task of A, of B and so on needs: no resource of which it is none."""
    named = zip("ABCD"[: len(needs)], needs, strict=True)
    return {name: {r: x for r, x in zip("ab", need, strict=True) if x} for name, need in named}


def claimed(tasks, needs, room, prices, policy="throughput", exact=True, limits=None, promised=None, **rules):
    """Users of so much of each resource, with so many tasks, and the prices of resources, or tiers that have some."""
    rows = demands(needs)
    rules = Organisation(guarantees=promised or {}, **rules) if promised or rules else None
    cluster = Instance(rows, dict(zip("ab", room, strict=True)), organisation=rules, max_tasks=limits or {})
    found = without_levels(file_of(cluster, policy, exact=exact))
    for user, x in zip(found["users"], tasks, strict=True):
        user["tasks"] = str(x) if exact else float(x)
    found.pop("resources", None)
    found["proof"] = {} if prices is None else {"tiers" if isinstance(prices, list) else "prices": prices}
    return found


def tier(turn, held=None, **prices):
    return {"turn": turn, "prices": prices} | ({"held": {"0": held}} if held else {})


APART, ALIKE = [(1, 0), (0, 1)], [(1, 0), (1, 0)]
ALL = {"A": {"a": 4}}
BOTH = [tier(0, a="1"), tier(1, b="1")]
MARKET = [tier(0, a="1/4"), tier(1, b="1/4")]
NOTHING = {"A": 0, "B": 0}


def left_by_a_promise(**first):
    """A comes first, but all is promised to B, whose tasks, as floats, leave it a part in 10^16."""
    rules = {"promised": {"B": {"a": 1}}, "tiers": FIRST} | first
    tasks, needs = ([0, 3.333333333333333, 0], [(1, 0), (0.3, 0), (1, 0)])
    n = 2 + ("C" in rules["tiers"])
    return claimed(tasks[:n], needs[:n], [1, 1], {"a": 1}, "utilitarian", False, **rules)


def one_after_another(a, b, changed, limits=None):
    """A comes first, and what it leaves of a is B's; of the two tiers some are said to be otherwise."""
    rows = {0: tier(0) if limits else tier(0, a=1), 1: tier(1, "1", a=1)} | {row["turn"]: row for row in changed}
    return claimed([a, b], ALIKE, [4, 4], [*rows.values()], tiers=FIRST, limits=limits)


def three_before_one(policy, weight, b=5 / 2, most=9):
    """A has its limit, B the rest, and C could have more, but is dearer; nothing is left to D."""
    tasks, needs = [1, F(b), 0, 0], [(1, F(1, 2)), (2, F(1, 5)), (3, 0), (1, 0)]
    rows = [tier(0, a="1/2" if policy == "throughput" else "1/6"), tier(1, str(F(weight) - F(1, 9)), a=1)]
    first = dict.fromkeys("ABC", 1)
    return claimed(tasks, needs, [6, 1], rows, policy, tiers=first, limits={"A": 1, "B": most, "C": 9})


def promised_before_one():
    """A is promised most of its limit, B has the rest of its tier, and C is dearer; nothing is left to D."""
    needs, first = [(1, F(1, 2)), (2, F(1, 5)), (3, 0), (1, 0)], dict.fromkeys("ABC", 1)
    how = {"limits": {"A": 3, "B": 9, "C": 9}, "promised": {"A": {"a": 2}}, "tiers": first}
    return claimed([3, F(3, 2), 0, 0], needs, [6, 2], [tier(0, a="1/2"), tier(1, "2", a=1)], **how)


def promised_in_part():
    """Of what A and B are promised, one before the other, both have two thirds, and C has nothing."""
    promised, needs = {"A": {"a": 3}, "B": {"a": 3}}, [(1, 0)] * 3
    return claimed([2, 2, 0], needs, [4, 4], [tier(0, a=1), tier(1, 1, a=1)], promised=promised, tiers=FIRST)


def far_apart(a, b, most=1):
    """A comes first, whose limit leaves B next to nothing; what its sum counts for is rounded."""
    rows = [tier(0), tier(1, 1 - 1e-9, a=1)]
    return claimed([a, b], ALIKE, [1 + 1e-10, 4], rows, exact=False, tiers=FIRST, limits={"A": most})


def room_passed(a, b):
    """A comes first, and is stopped by one resource; what it leaves of the other is B's."""
    rows = [tier(0, a=1), tier(1, 1, b=1)]
    return claimed([a, b], [(1, 1), (0, 1)], [1, 1 + 1e-10], rows, exact=False, tiers=FIRST)


def ceiling_passed(a, b):
    """A comes first, and is stopped by the ceiling of its group; what it leaves is B's."""
    rules = Organisation(paths={"A": "g", "B": "h"}, groups=[Group("g", ceiling={"a": 1}, tier=1), Group("h")])
    cluster = Instance({"A": {"a": 1}, "B": {"a": 1}}, {"a": 1 + 1e-10}, organisation=rules)
    found = without_levels(file_of(cluster, "throughput"))
    found["users"][0]["tasks"], found["users"][1]["tasks"] = float(a), float(b)
    found["proof"] = {"tiers": [tier(0) | {"ceilings": {"g": {"a": 1}}}, tier(1, 1, a=1)]}
    return found


def beside_who_has_none():
    """A comes first, with a limit, as another does that fits nowhere; what A leaves is B's."""
    rows, tiers = {"A": {"a": 1}, "C": {"b": 1}, "B": {"a": 1}}, {"A": 1, "C": 1}
    cluster = Instance(rows, {"a": 4, "b": 0}, organisation=Organisation(tiers=tiers), max_tasks={"A": 3})
    return file_of(cluster, "throughput", exact=True)


def by_rounding(b):
    """A comes first, and has all; B has a limit that is less than what floats round of it."""
    rows, needs = [tier(0, a=1 / 3), tier(1, 3e12, a=1e12)], [(3, 0), (1e-12, 0)]
    return claimed([1 / 3, b], needs, [1, 4], rows, exact=False, tiers=FIRST, limits={"B": 1})


def with_all_that_is_promised():
    """A comes first, and C, to which all of b is promised; nothing is left to B."""
    needs, rows = [(1, 0), (1, 0), (0, 1)], [tier(0, a=1), tier(1, 1, a=1)]
    return claimed([4, 0, 4], needs, [4, 4], rows, promised={"C": {"b": 4}}, tiers={"A": 1, "C": 1})


CEILING = Group("g", ceiling={"a": 1})
AS_FAR = (1 + F(1, 10**9)) / (1 - ROUNDING)
"""What there is of a resource, where one task less is as much less as accuracy and rounding pass."""


def passed(room, row, **rules):
    """A has a little more than there is for it, and B a little less."""
    return claimed([1 + 9e-10, 1 - 2.5e-9], APART, [room, 1], [row], exact=False, **rules)


ROUNDED = F(5, 10**10) + ROUNDING * F(7, 2)
"""What half a task may be off by, where all money is 7/2."""


def at_a_rounded_price(left):
    """A comes first, whose limit is far and whose price of a is rounded, so that of a is left as much as it may be.

    With it come C at its limit and D at the ceiling of its group: what they leave of b is B's.
    """
    tasks, needs, b = [1, 1 / 2, 1, 1], [(4, 1), (0, 1), (0, 1), (0, 1)], tier(1, 1, b=1)
    rows = [tier(0, a=(1 - 2e-9) / 4) | {"ceilings": {"g": {"b": 1}}}, b]
    rules = {"tiers": {"A": 1, "C": 1}, "paths": {"D": "g"}, "groups": [Group("g", ceiling={"b": 1}, tier=1)]}
    limits = {"A": 1.3, "C": 1}
    return claimed(tasks, needs, [4 * (1 + F(left)), F(7, 2)], rows, exact=False, limits=limits, **rules)


def at_a_rounded_price_on_machines():
    """A comes first, and is stopped by a of its machine: what another has it cannot run."""
    rack = [Machine("m", {"a": 1, "b": 3 / 2}), Machine("n", {"a": 1, "b": 0})]
    rules = {"organisation": Organisation(tiers=FIRST), "max_tasks": {"A": 1.3}}
    found = without_levels(file_of(Instance(demands([(1, 1), (0, 1)]), machines=rack, **rules), "throughput"))
    for user, x in zip(found["users"], (1.0, 0.5), strict=True):
        user["tasks"], found["placement"][user["name"]] = x, {"m": x}
    found["proof"] = {"tiers": [tier(0, m={"a": 1 - 2e-9}), tier(1, 1, m={"b": 1})]}
    return found


def beside_its_promise(promised):
    """A comes first, whose price is rounded; B has its promise, and what else A has left."""
    rows = [tier(0, b=1 - 2e-9), tier(1, 1, b=1)]
    more = {"limits": {"A": 1.3}, "promised": {"B": {"b": promised}}, "tiers": FIRST}
    return claimed([1, 1 / 2], [(0, 1)] * 2, [1, 3 / 2], rows, exact=False, **more)


def without_room():
    """A comes first, whose price of a is rounded; what B could have of b is A's."""
    rows, limits = [tier(0, a=1 - 2e-9), tier(1, 1, b=1)], {"A": 1.4, "B": 1 / 2}
    return claimed([1, 0], [(1, 1), (0, 1)], [1, 1], rows, exact=False, limits=limits, tiers=FIRST)


def taken_beside_promises():
    """Of a C and D have what they can of their promises; A comes before B, which has some of what A could have of b."""
    rows, needs = [tier(0), tier(1, 1, b=1)], [(0, 1), (0, 1), (1, 1), (1, 1)]
    rules = {"promised": {"C": {"a": 3}, "D": {"a": 3}}, "tiers": {"A": 2, "B": 1}, "limits": {"A": 1}}
    return claimed([1 - 1e-10, 2e-10, 2, 2], needs, [4, 5 + 1e-10], rows, exact=False, **rules)


def promised_all_it_may(c):
    """A comes first, at its limit, which it is promised: there is no such tier; then C, and B has the rest."""
    last = tier(1 + c, 1, b=1)
    rows = [tier(1, a=1 - 2e-9), last | {"held": {"0": 1, "1": 1}}] if c else [last]
    tasks, needs = [1, 1 / 2, 1][: 2 + c], [(0, 1), (0, 1), (1, 1)][: 2 + c]
    rules = {"limits": {"A": 1, "C": 1.4}, "tiers": {"A": 2, "C": 1}} if c else {"limits": {"A": 1}, "tiers": {"A": 2}}
    return claimed(tasks, needs, [1, 3 / 2 + c], rows, exact=False, promised={"A": {"b": 1}}, **rules)


def hardly_limited(price):
    """One user has all, and a limit far above it, so that a price that is rounded leaves her much to gain."""
    return claimed([4.0], [(1, 0)], [4, 1], {"a": price}, exact=False, limits={"A": 1e12})


SUMS = [
    ("dear tasks instead of cheap ones", lambda: claimed([2, 0], [(2, 1), (1, 1)], [4, 9], {"a": "1"}), False),
    ("a limit at a loss", lambda: claimed([2, 0], [(2, 1), (1, 1)], [4, 9], {"a": "1"}, limits={"A": 9}), False),
    ("who has all that is promised costs nothing", lambda: claimed([4, 0], ALIKE, [4, 9], {}, promised=ALL), True),
    ("beside who has all that is promised", lambda: claimed([4, 3], APART, [4, 4], {"b": "1"}, promised=ALL), False),
    ("no prices", lambda: claimed([4, 4], APART, [4, 4], None), None),
    ("a negative price", lambda: claimed([4, 3], APART, [4, 4], {"a": "1", "b": "-1"}), False),
    ("a negative price of what is left", lambda: claimed([1, 0], [(1, 1)] * 2, [4, 9], {"a": "2", "b": "-1"}), False),
    ("one after another", lambda: claimed([4, 4], APART, [4, 4], BOTH, tiers=FIRST), True),
    ("the second has less", lambda: claimed([4, 3], APART, [4, 4], BOTH, tiers=FIRST), False),
    ("the second has nothing", lambda: claimed([4, 0], APART, [4, 4], BOTH, tiers=FIRST), False),
    ("the second is left out", lambda: claimed([4, 3], APART, [4, 4], BOTH[:1], tiers=FIRST), False),
    ("the first is left out", lambda: claimed([3, 4], APART, [4, 4], BOTH[1:], tiers=FIRST), False),
    ("tiers without prices", lambda: claimed([4, 4], APART, [4, 4], None, tiers=FIRST), None),
    ("nobody can have a task", lambda: claimed([0, 0], ALIKE, [4, 4], None, limits=NOTHING), True),
    # In floats a sum is as exact as what its own tier has.
    ("half of small levels", lambda: claimed([5e9], [(1, 0)], [1e10, 1], {"a": 1e-10}, "utilitarian", False), False),
    (
        "half of a second tier",
        lambda: claimed([1e10, 2], APART, [1e10, 4], [BOTH[0], tier(1, "1", a="1", b="1")], exact=False, tiers=FIRST),
        False,
    ),
    (
        "half of what a first tier leaves",
        lambda: claimed(
            [1e10 - 2, 1],
            ALIKE,
            [1e10, 4],
            [tier(0), tier(1, "1", a="1")],
            exact=False,
            tiers=FIRST,
            limits={"A": 1e10 - 2},
        ),
        False,
    ),
    (
        "nothing for a second tier of small levels",
        lambda: claimed(
            [4, 0], APART, [4, 1e10], [tier(0, a=1 / 4), tier(1, b=1e-10)], "utilitarian", False, tiers=FIRST
        ),
        False,
    ),
    # And where it has nothing, as what one of it could have.
    ("nothing, where nothing but rounding is left", left_by_a_promise, True),
    ("nothing, where nobody of a tier can have a task", lambda: left_by_a_promise(limits={"A": 0}), True),
    ("nothing at all", lambda: claimed([0], [(1, 0)], [1, 1], {"a": 1}, "utilitarian", False), False),
    (
        "nothing, where one of the tier could have next to nothing",
        lambda: left_by_a_promise(tiers={"A": 1, "C": 1}, limits={"C": 1e-9}),
        True,
    ),
    ("beside who can have nothing", lambda: claimed([0, 3], APART, [4, 4], {"b": "1"}, limits={"A": 0}), False),
    ("limits above what there is", lambda: claimed([3, 1], ALIKE, [4, 4], {"a": "1"}, limits={"A": 3, "B": 3}), True),
    ("half of the prices", lambda: claimed([3, 1], ALIKE, [4, 4], {"a": "1/2"}, limits={"A": 3, "B": 3}), False),
    ("who is at her limit costs nothing", lambda: claimed([4, 4], APART, [9, 4], {"b": "1"}, limits={"A": 4}), True),
    ("who is below her limit", lambda: claimed([3], ALIKE[:1], [4, 1], {}, "utilitarian", limits={"A": 4}), False),
    ("a price that is rounded as far as it may be", lambda: hardly_limited("1000000000/1000000001"), True),
    ("a price that is rounded further", lambda: hardly_limited("999999999/1000000001"), False),
    (
        "a negative price beside one that is not",
        lambda: claimed([1, 0], [(1, 1)] * 2, [4, 9], [tier(0, "1", a="2", b="-1")]),
        False,
    ),
    ("what costs nothing", lambda: claimed([4, 3], APART, [4, 4], {"a": "1"}), False),
    # What counts in a tier is its own sum, and weights of sums before it; these are rounded in files of floats.
    (
        "what a later tier has, held by the first",
        lambda: one_after_another(3, 1, [tier(0, a=1) | {"held": {"1": 1}}]),
        False,
    ),
    ("a weight of a sum before that is rounded", lambda: one_after_another(4, 0, [tier(1, "0.9999", a=1)]), True),
    ("a weight of one who has a limit", lambda: one_after_another(3, 1, [tier(1, "9", a=1)], {"A": 3}), True),
    (
        "less than is left by one who has a limit",
        lambda: one_after_another(3, "1/2", [tier(1, "9", a=1)], {"A": 3}),
        False,
    ),
    ("a weight where the second is at its price", lambda: three_before_one("throughput", 2), True),
    ("a weight of levels", lambda: three_before_one("utilitarian", 6), True),
    ("less than three before one could have", lambda: three_before_one("throughput", 2, b=2), False),
    ("a weight where the limit of the second is near", lambda: three_before_one("throughput", 2, most=3), True),
    ("a weight beside a promise", promised_before_one, True),
    ("promises that are kept in part", promised_in_part, True),
    ("next to nothing less, in fractions", lambda: one_after_another(4 - F(1, 10**20), 0, []), False),
    ("amounts far apart", lambda: far_apart(1, 1e-10), True),
    ("nearly half, of amounts far apart", lambda: far_apart(1, 5.1e-11), False),
    ("taken from a tier before", lambda: far_apart(1 - 1e-10, 2e-10), False),
    ("left by the limit of a tier before", lambda: far_apart(1 - 1e-10, 2e-10, 1 - 1e-10), True),
    ("what may be rounding of others", lambda: by_rounding(0.0), None),
    ("what may be taken by rounding of others", lambda: by_rounding(0.5), None),
    ("a tenth of what is left by a limit that rounding passes", lambda: far_apart(1 + 9e-11, 1e-11), None),
    ("a tenth of what is left by a capacity that rounding passes", lambda: room_passed(1 + 9e-11, 1e-11), None),
    ("all that is left by a capacity", lambda: room_passed(1, 1e-10), True),
    ("a tenth of what is left by a ceiling that rounding passes", lambda: ceiling_passed(1 + 9e-11, 1e-11), None),
    ("all that is left by a ceiling", lambda: ceiling_passed(1, 1e-10), True),
    ("beside one that comes first and fits nowhere", lambda: beside_who_has_none(), True),
    # Who has all that is promised gains nothing, and says nothing of what a sum before counts for.
    (
        "below a limit, with all that is promised",
        lambda: claimed([4, 0], ALIKE, [4, 9], {}, limits={"A": 9}, promised=ALL),
        True,
    ),
    ("a weight beside who has all that is promised", with_all_that_is_promised, True),
    # Nothing is paid by what is beyond a capacity, and what is beyond most counts.
    ("a capacity that is passed", lambda: passed(1, tier(0, a=1, b=1)), False),
    (
        "a ceiling that is passed",
        lambda: passed(4, tier(0, b=1) | {"ceilings": {"g": {"a": 1}}}, paths={"A": "g"}, groups=[CEILING]),
        False,
    ),
    ("a capacity that is passed beside one that hardly is", lambda: room_passed(1 + 9e-11, 1e-11 + 1e-21), None),
    # A tier that is said to count for itself does so once.
    (
        "a limit and a capacity that are passed, and a tier that holds itself",
        lambda: claimed([1 + 9e-10], ALIKE[:1], [1, 1], [tier(0, 1, a=1)], exact=False, limits={"A": 1}),
        True,
    ),
    ("as much less as rounding may be", lambda: claimed([1.0], ALIKE[:1], [AS_FAR, 1], {"a": 1}, exact=False), None),
    ("less than that", lambda: claimed([1.0], ALIKE[:1], [AS_FAR + F(1, 10**20), 1], {"a": 1}, exact=False), False),
    # Who comes first, and could have more by the prices, may have taken it, or not.
    ("at a rounded price, as much as rounding may be", lambda: at_a_rounded_price(ROUNDED), None),
    ("at a rounded price, more than that", lambda: at_a_rounded_price(ROUNDED + F(1, 10**20)), False),
    ("at a rounded price on machines", at_a_rounded_price_on_machines, None),
    ("beside who has its promise", lambda: beside_its_promise(1 / 2 - 1e-10), None),
    ("nothing, where others have no more", without_room, True),
    ("taken beside promises that are kept in part", taken_beside_promises, False),
    ("a tier before that is at its promises", lambda: promised_all_it_may(0), True),
    ("two tiers before, one at its promises", lambda: promised_all_it_may(1), None),
]

MARKETS = [
    ("one after another", lambda: claimed([4, 4], APART, [4, 4], MARKET, "ceei", tiers=FIRST), True),
    ("the second has less", lambda: claimed([4, 3], APART, [4, 4], MARKET, "ceei", tiers=FIRST), False),
    ("the second is left out", lambda: claimed([4, 3], APART, [4, 4], MARKET[:1], "ceei", tiers=FIRST), False),
    ("the first is left out", lambda: claimed([3, 4], APART, [4, 4], MARKET[1:], "ceei", tiers=FIRST), False),
    ("no prices", lambda: claimed([2, 2], ALIKE, [4, 4], None, "ceei"), None),
    ("beside who can have nothing", lambda: claimed([0, 3], APART, [4, 4], MARKET[1:], "ceei", limits={"A": 0}), False),
    ("nobody can have a task", lambda: claimed([0, 0], ALIKE, [4, 4], None, "ceei", limits=NOTHING), True),
]


def without_rounds():
    """Users in groups on machines, in a file that does not say who stops when."""
    found = ruled([2, 2], {"paths": {"A": "g", "B": "h"}, "groups": [Group("g"), Group("h")]}, machines=True)
    found["proof"] = {}
    return found


def limits_without_rounds():
    """Users in groups on machines, who are all at their limits: nobody has to be stopped."""
    rows = {"A": {"a": 1}, "B": {"a": 1}}
    groups = Organisation(paths={"A": "g", "B": "h"}, groups=[Group("g"), Group("h")])
    rack = Instance(rows, machines=[Machine("m", {"a": 4})], organisation=groups, max_tasks={"A": 1, "B": 1})
    return without_levels(file_of(rack, exact=True)) | {"proof": {}}


# ---- whole tasks -------------------------------------------------------------------------------------------------


def whole(
    tasks, policy="drf", needs=ALIKE, room=(4, 4), trees=None, limits=None, machines=False, weights=None, **rules
):
    """Users with so many whole tasks, and perhaps trees that say why nothing is better."""
    rows = demands(needs)
    room = dict(zip("ab", room, strict=True))
    cluster = {"machines": [Machine("m", room)]} if machines else {"capacity": room}
    rules = Organisation(**rules) if rules else None
    instance = Instance(rows, **cluster, organisation=rules, max_tasks=limits or {}, weights=weights)
    found = without_levels(file_of(instance, policy, integer=True))
    for user, x in zip(found["users"], tasks, strict=True):
        user["tasks"] = x
    if machines:
        found.pop("placement", None)
        found["proof"]["packing"] = [
            {"class": "m", "machines": 1, "tasks": dict(zip(rows, tasks, strict=True))},
        ]
    if trees is not None:
        found["proof"]["trees"] = trees
    else:
        for key in ("trees", "bounds"):
            found["proof"].pop(key, None)
    return found


EMPTY = [[{}]]
GROUPS = {"paths": {"A": "g", "B": "h"}, "groups": [Group("g"), Group("h")]}
MANY = 450
FULL = {"paths": {"A": "g", "B": "h"}, "groups": [Group("g", ceiling={"a": "1/2"}), Group("h")]}
A_MOST = {"user": "A", "most": 2}


def too_many():
    found = file_of(Instance({f"u{i}": {"a": 1} for i in range(MANY)}, {"a": MANY}), integer=True)
    del found["proof"]["trees"]
    return row(without_levels(found), 0, tasks=0)


def of_many(policy):
    """More users than are looked at one by one, with a tree that needs no such look."""
    return without_levels(
        file_of(Instance({f"u{i}": {"a": 1} for i in range(MANY)}, {"a": MANY}), policy, integer=True)
    )


def on_machines(limits=None, **rules):
    """The answer of two users of whole tasks on two machines, as it is written."""
    rack = [Machine("m", {"a": 3}, 2)]
    rules = Organisation(**rules)
    rows = {"A": {"a": 1}, "B": {"a": 1}}
    return file_of(Instance(rows, machines=rack, organisation=rules, max_tasks=limits or {}), integer=True)


def of_types():
    """A's tasks are of two types, in a pool."""
    cluster = Instance({"A": [TaskType({"a": 1}, 2), TaskType({"a": 2}, 1)], "B": {"a": 1}}, {"a": 4})
    found = without_levels(file_of(cluster, integer=True))
    return found | {"proof": {}}


def of_no_policy(policy):
    return whole([2, 2]) | {"policy": policy}


def of_no_level(tasks):
    """B needs what is excluded alone."""
    found = whole(tasks, needs=APART, trees=EMPTY)
    found["instance"]["excluded"] = ["b"]
    return found


WHOLE = [
    ("nobody can have a task", lambda: whole([0, 0], limits=NOTHING), True),
    ("nobody, and one who cannot", lambda: whole([4, 0], limits={"B": 0}), True),
    ("more than all can be looked at of", too_many, None),
    ("a better choice of who stops", both_stop, False),
    ("the choice of who stops on machines", lambda: whole([1, 2], machines=True, trees=[], **GROUPS), None),
    ("the choice of who stops in a pool", lambda: whole([2, 2], trees=[], **GROUPS), True),
    ("another power than that of products, and no tree", lambda: whole([2, 2], "alpha:2"), True),
    ("another power, less for one, and no tree", lambda: whole([2, 1], "alpha:2"), False),
    ("another power, and a tree of nothing", lambda: whole([2, 2], "alpha:2", trees=EMPTY), None),
    ("a sum, and a tree of nothing", lambda: whole([2, 2], "alpha:0", trees=EMPTY), True),
    ("a smaller sum, and a tree of nothing", lambda: whole([2, 1], "alpha:0", trees=EMPTY), False),
    ("weights that are long", lambda: whole([2, 2], "ceei", trees=EMPTY, weights={"A": "1/10007", "B": 1}), None),
    ("a group, and no tree", lambda: whole([2, 2], paths={"A": "g", "B": "g"}, groups=[Group("g")]), None),
    ("types, and no tree", of_types, None),
    ("in turn, and no tree", lambda: whole([4, 0], tiers=FIRST), None),
    ("who has no level", lambda: of_no_level([4, 4]), True),
    ("less beside who has no level", lambda: of_no_level([3, 4]), False),
    ("nobody can have a task on machines", lambda: whole([0, 0], limits=NOTHING, machines=True), True),
    ("levels of many", lambda: of_many("drf"), True),
    ("the sum of many", lambda: of_many("throughput"), True),
    ("groups on machines", lambda: on_machines(**GROUPS), True),
    ("groups of which one can have nothing", lambda: on_machines(**FULL), True),
    (
        "half a tree of groups",
        lambda: whole([2, 2], trees=[[{"class": "m", "load": {"A": 3}, "most": 1}]], machines=True, **GROUPS),
        None,
    ),
    ("a formulation file", lambda: of_no_policy("some.py"), None),
    ("no policy", lambda: of_no_policy("fair"), None),
    ("no tree on machines", lambda: whole([2, 2], machines=True), None),
    # A leaf of one allocation refutes it only if it is no better; and one whose bounds cross is of none.
    (
        "what is better alone in a leaf",
        lambda: whole([2], "throughput", ALIKE[:1], (3, 1), [[A_MOST, {"prices": {"a": "1"}}, {}]]),
        False,
    ),
    (
        "bounds that cross",
        lambda: whole(
            [2, 2],
            "throughput",
            trees=[[A_MOST, {"prices": {"a": "1"}}, {"user": "A", "most": 1}, {}, {"prices": {"a": "1"}}]],
        ),
        True,
    ),
]

CASES = [(f"{kind}: {name}", *case) for kind, table in {
    "servers": SERVERS, "sums": SUMS, "markets": MARKETS, "whole": WHOLE,
    "rules": [
        ("machines in groups without rounds", without_rounds, None),
        ("a group has less", lambda: ruled([1, 3], GROUPS), False),
        ("one has less", lambda: claimed([1, 3], ALIKE, [4, 4], None, "drf"), False),
        ("machines in groups without rounds, where all are at limits", limits_without_rounds, True),
    ],
}.items() for name, *case in table]  # fmt: skip


@pytest.mark.parametrize(("make", "valid"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
def test_a_file_is_judged_as_it_is(make, valid):
    assert verdict(verify, make()) is valid


# ---- what is told ------------------------------------------------------------------------------------------------


def of_surplus():
    found = whole([2, 2], "ceei")
    found["instance"]["guarantees"] = "surplus"
    found["instance"]["users"][0]["guarantee"] = {"a": 1}
    return found


def promised_in_vain():
    """Each is promised both of the tasks that there are."""
    rules = Organisation(guarantees={"A": {"a": 4}, "B": {"a": 4}}, **GROUPS)
    return file_of(Instance({"A": {"a": 2}, "B": {"a": 2}}, {"a": 4}, organisation=rules), integer=True)


def of_bounds():
    found = whole([2, 2], machines=True)
    found["proof"]["bounds"] = []
    return found


BETTER, BEST = "nothing is better", "optimality"

ALL_STOPPED = "everybody is at its limit or stopped by who comes before it"

TOLD = [
    ("no placement", dict(case[:2] for case in SERVERS)["no placement"], BEST, "the file does not say on which mach"),
    ("one machine", one_by_one, "nobody can rise on m", ""),
    ("no rounds", lambda: ruled([4, 0], machines=True) | {"proof": {}}, ALL_STOPPED, "the file has no rounds, which"),
    ("bounds and no trees", of_bounds, BETTER, "level"),
    ("a sum in groups", lambda: whole([2, 2], "throughput", trees=[[{"prices": {"a": "1"}}]], **GROUPS), BETTER, ""),
    ("a group that can have nothing", lambda: on_machines(**FULL), "no fewer users can be at level 1", ""),
    ("a group at its limit", lambda: on_machines({"A": 0}, **GROUPS), "no fewer users can be at level 1", ""),
    ("a pool without trees", lambda: whole([2, 2]), BETTER, ""),
    ("no policy", lambda: of_no_policy("fair"), BEST, "fair is no policy of the table: only feasibility was checked"),
    ("a formulation file", lambda: of_no_policy("some.py"), BEST, "the formulation file's own claim: only"),
    ("surplus", of_surplus, BEST, "what ceei makes of guarantees that are surplus is not followed here: only"),
    ("no trees", lambda: whole([2, 2], machines=True), BETTER, "the file has no trees, which they need"),
    ("a leaf", lambda: whole([2, 2], "alpha:2", trees=EMPTY), BETTER, "a leaf leaves room for"),
    ("a level on machines", lambda: whole([2, 2], machines=True, trees=EMPTY), BETTER, "level"),
    ("a leaf that suffices", lambda: whole([2, 2], "throughput", trees=[[{"prices": {"a": "1"}}]]), BETTER, ""),
    ("nobody has a task, in a sum", dict(case[:2] for case in SUMS)["nobody can have a task"], "no sum is larger", ""),
    ("nobody has a task, in a market", MARKETS[-1][1], "everybody has what it would choose", ""),
    ("nobody has a task", WHOLE[0][1], BETTER, ""),
    ("levels", lambda: of_many("drf"), f"no fewer users can be at level 1/{MANY}", ""),
    ("stops", lambda: on_machines(**GROUPS), "no fewer than 2 stop, and no later, at level 1/2", ""),
    ("stops before promises are kept", promised_in_vain, "no fewer than 2 stop, and no later, at part 1/2", ""),
]


@pytest.mark.parametrize(("make", "name", "why"), [row[1:] for row in TOLD], ids=[row[0] for row in TOLD])
def test_what_was_looked_at_is_told_once(make, name, why):
    (found,) = (check for check in verify(make()).checks if check.name == name)
    assert found.holds is (None if why else True)
    assert why in found.worst and bool(why) == bool(found.worst)


@pytest.mark.parametrize("why", ["", "a level is not refuted", Undecided("a tree ends before all its branches do")])
def test_levels_are_told_by_the_places_of_whom_they_bound(monkeypatch, why):
    """Behind those whose level is proven, of the lowest the next user, and of each later one the last of its users."""

    def fault(trees, bounds):
        if isinstance(why, Undecided):
            raise why
        return why

    levels = SimpleNamespace(fault=fault, proven=[(1, 2), (2, 1)], bounded=[(3, 2, 4), (5, 3, 6), (7, 1, 8)])
    monkeypatch.setattr(proofs, "LevelProof", lambda claim: levels)
    told = []
    claim = SimpleNamespace(proof={}, report=SimpleNamespace(add=lambda name, faults: told.append((name, faults))))
    assert proofs.Proof.by_levels(claim, []) is (why == "")
    assert told == [
        ("no fewer users can be at level 1", []),
        ("no fewer users can be at level 2", []),
        ("level 3, place 4, can be 4 at most", []),
        ("level 5, place 8, can be 6 at most", []),
        ("level 7, place 9, can be 8 at most", []),
    ]
    assert claim.why == str(why)


def test_of_one_market_for_all_no_tier_is_judged():
    (check,) = (check for check in verify(MARKETS[0][1]()).checks if check.name == "every tier is judged")
    assert check.holds
    market = claimed([2, 2], ALIKE, [4, 4], {"a": "1/2"}, "ceei")
    assert "every tier is judged" not in {check.name for check in verify(market).checks}
