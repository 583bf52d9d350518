"""Without any one of its checks the verifier would let something pass: forged files find out every mutant of it."""

import ast
import copy
import importlib.util
import json
import shutil
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from test_verifier_order import noisy

from drfopt import Group, Instance, Machine, Organisation, TaskType, audit, solve
from drfopt.certificates import verifier
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import loads, verify

FOLDER = Path(verifier.__file__).parent


def mutant_of(tmp_path, file, old, new):
    """Return `verify` of a copy of the verifier in which one text, which stands in a file once, is another."""
    source = (FOLDER / file).read_text(encoding="utf-8")
    assert source.count(old) == 1, "the mutant is of what stands there"
    return mutated(tmp_path, file, source.replace(old, new))


def mutated(tmp_path, file, text):
    """Return `verify` of a copy of the verifier in which one file has another text."""
    name = f"mutant_{abs(hash((str(tmp_path), file, text)))}"
    folder = tmp_path / name
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / file).write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.verify


def file_of(instance, policy="drf", **how):
    return loads(json.dumps(certificate_document(solve(instance, policy, **how))))


def pool(**more):
    return Instance([[1, 4], [3, 1]], [9, 18], **more)


def rack(**more):
    return Instance([[1, 2], [2, 1]], machines=[Machine("a", [4, 4], 2), Machine("b", [6, 3])], **more)


def row(found, i, **changes):
    found["users"][i] |= changes
    return found


def without_levels(found):
    for user in found["users"]:
        del user["level"]
    return found


def unplaced(found):
    """Leave out where tasks run, which has to be what the packing says."""
    found.pop("placement")
    return found


def broken_whole():
    return row(without_levels(file_of(Instance([[2]], [9]), integer=True)), 0, tasks="9/2")


def above_limit():
    found = file_of(pool(), exact=True)
    found["instance"]["users"][0]["max_tasks"] = 2
    return found


def above_ceiling():
    found = file_of(Instance.library("tree-of-departments"), exact=True)
    for group in found["instance"]["groups"]:
        for name in group.get("ceiling", {}):
            group["ceiling"][name] = "1/9"
    return without_levels(found)


def other_level():
    return row(file_of(pool(), exact=True), 0, level="1/2")


def overpacked():
    found = file_of(rack(), integer=True)
    found["proof"]["packing"][0]["machines"] += 7
    return unplaced(found)


def unpacked():
    """Whole tasks that are said to run where the packing has none."""
    found = file_of(rack(), integer=True)
    found["placement"][found["users"][0]["name"]] = {}
    return found


def full(room, placed, **more):
    """Everybody at a limit of 5, on a class with so much room, of whom the first is placed as it says."""
    rows = Instance([[1], [1]], machines=[Machine("a", [20]), Machine("b", [20])], max_tasks=[5, 5])
    found = file_of(rows, exact=True)
    for one, capacity in zip(found["instance"]["machines"], room, strict=True):
        one["capacity"] = dict.fromkeys(one["capacity"], capacity)
    found["instance"]["users"][0] |= more
    first, other = (user["name"] for user in found["users"])
    found["placement"] = {first: placed, other: {"b": "5"}}
    return without_levels(found)


def misplaced():
    return full([5, 20], {"a": "3"})


def astray():
    return full([5, 20], {"b": "5"}, machines=["a"])


def overfull():
    return full([4, 20], {"a": "5"})


def early():
    return row(without_levels(file_of(pool(), exact=True)), 0, tasks="2")


def dear_round():
    found = file_of(rack(), exact=True)
    found["proof"]["rounds"][0]["level"] = "7/2"
    return found


def own_machine():
    found = without_levels(file_of(rack(), "per-server"))
    name = found["users"][0]["name"]
    held = found["placement"][name]
    held[next(iter(held))] = 0.1
    found["users"][0]["tasks"] = sum(held.values())
    return found


def by_itself(change, **more):
    """Whole tasks of machines by themselves with another packing, of which the file's tasks are the sum."""
    found = without_levels(file_of(rack(**more), "per-server", integer=True))
    change(found)
    unplaced(found)
    for user in found["users"]:
        user["tasks"] = sum(e["machines"] * e["tasks"].get(user["name"], 0) for e in found["proof"]["packing"])
    return found


def undivided():
    return by_itself(lambda found: found["proof"]["packing"][0].update(machines=1))


def less_in_sum():
    return row(without_levels(file_of(pool(), "throughput", exact=True)), 0, tasks="0")


def free_market():
    found = file_of(pool(), "ceei", exact=True)
    found["proof"]["prices"] = dict.fromkeys(found["proof"]["prices"], "-1")
    return found


def beside_response():
    found = without_levels(file_of(pool(), "ceei", exact=True))
    found["instance"]["users"][0]["weight"] = 2
    return found


def narrow():
    found = without_levels(file_of(Instance([[4, 1], [1, 16], [16, 1]], [100, 100]), "ceei", exact=True))
    ends = found["users"][0]["tasks"]
    ends["lower"] = ends["upper"]
    return found


def certain():
    """Intervals that are the point alone."""
    found = without_levels(file_of(Instance([[4, 1], [1, 16], [16, 1]], [100, 100]), "ceei", exact=True))
    for user in found["users"]:
        user["tasks"] = dict.fromkeys(("lower", "upper"), found["proof"]["point"][user["name"]])
    return found


def narrow_level():
    found = file_of(Instance([[4, 1], [1, 16], [16, 1]], [100, 100]), "ceei", exact=True)
    ends = found["users"][0]["level"]
    ends["lower"] = ends["upper"]
    return found


def worse_whole():
    found = without_levels(file_of(pool(), integer=True))
    del found["proof"]["trees"]
    return row(found, 0, tasks=2)


def late():
    """Who is served later has what whoever comes before it would have."""
    tiers = Organisation(guarantees={"B": {"a": 1}}, tiers={"A": 1})
    found = without_levels(file_of(Instance({"A": {"a": 1}, "B": {"a": 1}}, {"a": 10}, organisation=tiers), exact=True))
    return row(row(found, 0, tasks="8"), 1, tasks="2")


def beneath():
    """A market's answer where nobody is promised anything, with a promise."""
    found = without_levels(file_of(Instance({"A": {"a": 1}, "B": {"a": 1}}, {"a": 9}), "ceei"))
    found["instance"]["users"][0]["guarantee"] = {"a": 6}
    return found


def market_above_ceiling():
    """A market's answer in a group without a ceiling, with one."""
    rules = Organisation(paths={"A": "g"}, groups=[Group("g")])
    found = without_levels(file_of(Instance({"A": {"a": 1}, "B": {"a": 1}}, {"a": 9}, organisation=rules), "ceei"))
    found["instance"]["groups"] = [{"name": "g", "ceiling": {"a": 3}}]
    return found


def overfull_types():
    """Everybody at its limit, each of whom alone has room, and together they have not."""
    kinds = [TaskType({"a": 2}, 2), TaskType({"a": 1}, 1)]
    found = file_of(Instance({"A": kinds, "B": {"a": 1}}, {"a": 10}, max_tasks={"B": 5}), integer=True)
    found["instance"]["capacity"] = {"a": 9}
    return without_levels(found)


def out_of_time():
    """Everybody alike, where a group has no more than a user beside it."""
    return grouped([4, 4, 4])


def no_loss():
    """A user who loses nothing is said to."""
    found = audit(Instance.library("thm1"), "asset", "sharing-incentive").certificate()
    found["audits"][0]["findings"][0]["user"] = "u1"
    return loads(json.dumps(found))


def loss_of_nothing():
    """A loss, in a division that is not the policy's."""
    found = audit(pool(), "drf", "sharing-incentive").certificate()
    truth = without_levels(found["audits"][0]["truth"])
    row(truth, 0, tasks="0")
    found["audits"][0]["findings"][0] |= {"verdict": "fails", "user": truth["users"][0]["name"]}
    return loads(json.dumps(found))


def early_in_groups():
    """Somebody in a group stops before it has to."""
    groups = {"organisation": Organisation(paths={"A": "g", "B": "h"})}
    found = without_levels(file_of(Instance({"A": {"a": 1}, "B": {"a": 1}}, {"a": 6}, **groups), integer=True))
    return row(found, 0, tasks=2)


def in_vain(tasks, rows=None, promised=None, machines=0):
    """The most tasks, where promises are not kept: on 3 of a resource, or on so many machines with 2."""
    rows, promised = rows or {"A": {"a": 2}, "B": {"a": 1}}, promised or {"A": {"a": 4}}
    cluster = {"machines": [Machine("m", {"a": 2}, machines)]} if machines else {"capacity": {"a": 3}}
    instance = Instance(rows, **cluster, organisation=Organisation(guarantees=promised))
    found = without_levels(file_of(instance, "throughput", integer=True))
    if machines:
        at = dict(zip(rows, tasks, strict=True))
        unplaced(found)
        found["proof"]["packing"] = [{"class": "m", "machines": 1, "tasks": {u: x for u, x in at.items() if x}}]
    for user, x in zip(found["users"], tasks, strict=True):
        user["tasks"] = x
    return found


def more_and_not_promised():
    """Three tasks, of which A has none of the two that it is promised, instead of two of which it has one."""
    return in_vain((0, 3))


def alone_in_less():
    """What a user could run alone halved, and the division that is fair then."""
    kinds, machines = [TaskType({"a": 1}, 5), TaskType({"a": 2}, 5)], [Machine("m", {"a": 6})]
    halved, found = (
        file_of(Instance({"A": kinds, "B": {"a": 1}}, machines=machines, weights=[w, 1]), "tsf") for w in ("1/2", 1)
    )
    less = {"A": {"placement": [{"m": "1"}, {"m": "1"}], "prices": {"m": {"a": "1"}}}}
    claimed = {key: halved[key] for key in ("users", "placement", "types")}
    return found | claimed | {"proof": halved["proof"] | {"alone": less}}


def beside_its_exact_answer():
    """Who comes first has a millionth less than in the exact answer, which is proven."""
    rules = Organisation(tiers={"A": 1})
    found = file_of(
        Instance({"A": {"a": "1/7"}, "B": {"a": 1}}, {"a": 1}, organisation=rules), "throughput", exact=True
    )
    answer = {"users": copy.deepcopy(found["users"]), "proof": found["proof"]}
    for user in found["users"]:
        user |= {"tasks": float(Fraction(user["tasks"])) * (1 - 1e-6), "level": None}
    return found | {"proof": {"answer": answer}}


FORGED = [
    beside_its_exact_answer,
    alone_in_less,
    lambda: a_tier_left_out(),
    more_and_not_promised,
    early_in_groups,
    no_loss,
    loss_of_nothing,
    late,
    out_of_time,
    overfull_types,
    market_above_ceiling,
    beneath,
    broken_whole,
    above_limit,
    above_ceiling,
    other_level,
    overpacked,
    unpacked,
    misplaced,
    astray,
    overfull,
    early,
    dear_round,
    own_machine,
    undivided,
    less_in_sum,
    free_market,
    beside_response,
    narrow,
    certain,
    narrow_level,
    worse_whole,
]


def checks_of(file):
    """Yield every place at which faults are recorded: the source with that check made blind, and its name."""
    tree = ast.parse((FOLDER / file).read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and len(node.args) > 1]
    for node in calls:
        named = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if named != "add" or (isinstance(node.args[1], ast.List) and not node.args[1].elts):
            continue
        kept, node.args[1] = node.args[1], ast.List(elts=[], ctx=ast.Load())
        yield ast.unparse(node.args[0])[:60], ast.unparse(ast.fix_missing_locations(tree))
        node.args[1] = kept


TOLD_TWICE = {
    "'tasks are not negative'": "the placement would be negative too",
    "'who can run nothing has nothing'": "it would be above a limit, or run where it does not fit",
    "'what has a price is used up'": "money would be left",
    "'all money is spent where tasks are cheapest'": "named by test_verifier_forged",
    "'the instance is the one of the file'": "named by test_verifier_forged",
}
"""Checks that say more plainly what another one says as well, or that other tests hold."""


EVERY = [
    (file, name, text)
    for file in (
        "possible.py",
        "order.py",
        "clock.py",
        "rounds.py",
        "proofs.py",
        "markets.py",
        "whole_search.py",
        "__init__.py",
        "audited.py",
    )
    for name, text in checks_of(file)
    if name not in TOLD_TWICE
]


@pytest.fixture(scope="module")
def forged():
    return [(make(), verify(make()).valid) for make in FORGED]


def test_what_is_forged_is_not_accepted(forged):
    for make, (_, valid) in zip(FORGED, forged, strict=True):
        assert valid is False, make.__name__


def verdict(judge, data):
    try:
        return judge(copy.deepcopy(data)).valid
    except ValueError:
        return "refused"


@pytest.mark.parametrize(("file", "name", "text"), [pytest.param(*each, id=each[1]) for each in EVERY])
def test_a_verifier_without_one_check_is_found_out(forged, tmp_path, file, name, text):
    blind = mutated(tmp_path, file, text)
    assert any(verdict(blind, data) is not False for data, _ in forged), name


# ---- trees -------------------------------------------------------------------------------------------------------


def tree_file(policy="drf"):
    return file_of(
        Instance([[15], [10], [6]], machines=[Machine("m", [30], 2)], max_tasks=[1, 2, 4]), policy, integer=True
    )


def nothing_priced(policy):
    """Leaves that price nothing, and say that it proves something."""
    found = tree_file(policy)
    for tree in found["proof"]["trees"]:
        for node in tree:
            node.pop("tasks", None) if "most" not in node else None
            if "levels" in node:
                node["levels"] = ["0"] * len(node["levels"])
    return found


def below_nothing(policy):
    """Negative prices of what is left over, at which everything seems refuted, and a user who has nothing."""
    found = without_levels(file_of(Instance([[1, 1], [1, 1]], [2, 100]), policy, integer=True))
    priced = {"prices": {list(found["instance"]["capacity"])[1]: "-1"}}
    found["proof"]["trees"] = [[priced | {"levels": ["0"] * levels}] for levels in (1, 2)]
    return row(found, 0, tasks=0)


def half_a_tree(policy):
    found = tree_file(policy)
    found["proof"]["trees"] = [
        tree[: max(1, len(tree) - 1)] if len(tree) > 1 else tree for tree in found["proof"]["trees"]
    ]
    return found


def one_more(policy):
    """Machines may carry what is not full, once more than they are."""
    found = tree_file(policy)
    for tree in found["proof"]["trees"]:
        for node in tree:
            if "most" in node:
                node["most"] -= 1
    return found


def under(rules, policy="drf"):
    """The plain answer of two users, and its trees, under rules."""
    found = without_levels(file_of(Instance({"A": {"a": 1}, "B": {"a": 1}}, {"a": 4}), policy, integer=True))
    found["instance"]["users"][0] |= rules
    return found


def promised(policy):
    if policy in ("ceei", "throughput"):
        return tree_file(policy) | {"proof": {}}
    return under({"guarantee": {"a": 3}}, policy)


def first_served(policy):
    return under({"tier": 1}, policy)


def capped(policy):
    """A ceiling whose price is to refute whatever is more."""
    rules = Organisation(paths=dict.fromkeys("AB", "g"), groups=[Group("g", ceiling={"a": 4})])
    cluster = Instance({"A": {"a": 1}, "B": {"a": 1}}, {"a": 5}, organisation=rules)
    if policy in ("ceei", "throughput"):
        return tree_file(policy) | {"proof": {}}
    found = without_levels(file_of(cluster, policy, integer=True))
    found["proof"]["trees"] = [[{"ceilings": {"g": {"a": "1"}}, "levels": ["0"]}]]
    return row(row(found, 0, tasks=1), 1, tasks=1)


def not_promised(policy):
    """More tasks, of which A has none of the one that it is promised, and prices that say that nothing is more."""
    if policy != "throughput":
        return tree_file(policy) | {"proof": {}}
    found = in_vain((0, 3), promised={"A": {"a": 2}})
    found["proof"]["trees"] = [[{"prices": {"a": "1"}}]]
    return found


MUTANTS = [
    ("whole_values.py", "if claim.x[i] < promise]", "if False]", not_promised),
    ("whole_levels.py", "self.promise = promise", "self.promise = 0", promised),
    ("whole_levels.py", "claim.sequences[i].most, claim.c.rank[i]", "claim.sequences[i].most, 0", first_served),
    ("trees.py", "worth: Any = sum(map(mul, capped, self.ceilings))", "worth: Any = 0", capped),
    ("trees.py", "if (price := integer(value)) < 0:", "if (price := integer(value)) < -(10**99):", below_nothing),
    ("branches.py", "    if waiting:\n        raise Undecided", "    if False:\n        raise Undecided", half_a_tree),
    ("whole_levels.py", "is not None and found[0] >= 0:", "is not None and found[0] > 0:", nothing_priced),
    ("whole_values.py", "if (more := proof.bound(tier, leaf, bounds)) is not None:", "if False:", nothing_priced),
    ("order.py", "and abs(unspent) <= claim.report.accuracy * least", "", noisy),
]


@pytest.mark.parametrize(("file", "old", "new", "forge"), MUTANTS, ids=[f"{row[0]}-{row[1][:20]}" for row in MUTANTS])
def test_a_mutant_of_the_trees_is_found_out(tmp_path, file, old, new, forge):
    mutant = mutant_of(tmp_path, file, old, new)
    accepted = 0
    for policy in ("drf", "tasks", "ceei", "throughput"):
        data = forge(policy)
        assert verdict(verify, data) is not True
        accepted += verdict(mutant, data) is True
    assert accepted


def test_what_does_not_keep_a_promise_is_decided_without_trees():
    both = {"A": {"a": 2}, "B": {"a": 3}}, {"A": {"a": 4}, "B": {"a": 3}}
    for data in (in_vain((1, 1)), in_vain((0, 1), *both), in_vain((1,), {"A": {"a": 2}}, machines=1)):
        assert "trees" not in data["proof"]
        assert verify(data).valid is True


def test_a_search_that_is_long_says_so():
    many = {f"u{i}": {"a": 1} for i in range(400)}
    data = in_vain([1, 1, 1] + [0] * 397, many, {"u0": {"a": 4}})
    (check,) = (check for check in verify(data).checks if check.name == "nothing is better")
    assert check.holds is None and "too many tasks to look at everything" in check.worst


SEARCHED = [
    ("kept > self.own if kept != self.own else ", "", more_and_not_promised),
    ("if self.runs(chosen) else None", "if False else None", lambda: in_vain((1, 0))),
    ("range(most[i], -1, -1)", "range(most[i], 0, -1)", lambda: in_vain(
        (1, 0), {"A": {"a": 2}, "B": {"a": 3}}, {"A": {"a": 4}, "B": {"a": 3}})),
    ("range(min(count, len(tasks)))", "range(min(count, 1))", lambda: in_vain(
        (1,), {"A": {"a": 2}}, {"A": {"a": 6}}, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "forge"), SEARCHED, ids=[row[0][:20] for row in SEARCHED])
def test_a_mutant_of_the_search_is_found_out(tmp_path, old, new, forge):
    mutant = mutant_of(tmp_path, "whole_search.py", old, new)
    assert verify(forge()).valid is False
    assert verdict(mutant, forge()) is True


# ---- rules -------------------------------------------------------------------------------------------------------


def ruled(tasks, rules=None, policy="drf", machines=False, rounds=(), **proof):
    """Two users of one resource each, on a pool of 4 or one machine, with so many tasks under some rules."""
    rows = {"A": {"a": 1, "b": 1}, "B": {"a": 1, "b": 1}}
    room = {"a": 4, "b": 100}
    how = {"machines": [Machine("m", room)]} if machines else {"capacity": room}
    found = file_of(Instance(rows, organisation=Organisation(**(rules or {"tiers": {"A": 1}})), **how), policy)
    found = without_levels(found)
    for user, x in zip(found["users"], tasks, strict=True):
        user["tasks"] = str(x)
    if machines:
        found["placement"] = {user["name"]: {"m": user["tasks"]} for user in found["users"]}
        found["proof"] = {"rounds": [{"prices": {"m": prices}} for prices in rounds]}
    found["proof"] |= proof
    return found


def other_weight():
    """Groups of which one counts for more than the market of the file knows."""
    groups = [Group("g"), Group("h")]
    rules = Organisation(paths={"A": "g", "B": "h"}, groups=groups)
    found = file_of(Instance({"A": {"a": 1}, "B": {"a": 1}}, {"a": 4}, organisation=rules), "ceei")
    found["instance"]["groups"] = [{"name": "g", "weight": 3}, {"name": "h"}]
    return without_levels(found)


def grouped(tasks, **groups):
    """A, and B and C in a group, of one resource each, on a pool of 12."""
    rows, paths = {"A": {"a": 1}, "B": {"a": 1}, "C": {"a": 1}}, {"B": "g", "C": "g"}
    rules = Organisation(paths=paths, groups=[Group("g", **groups)])
    found = without_levels(file_of(Instance(rows, {"a": 12}, organisation=rules), exact=True))
    for user, x in zip(found["users"], tasks, strict=True):
        user["tasks"] = str(x)
    return found


def promised_to_a_group():
    """A market in which nothing is promised, with a promise to a group of more than it has."""
    groups = [Group("g"), Group("h")]
    rules = Organisation(paths={"A": "g", "B": "h"}, groups=groups)
    found = file_of(Instance({"A": {"a": 1}, "B": {"a": 1}}, {"a": 4}, organisation=rules), "ceei")
    found["instance"]["groups"] = [{"name": "g", "guarantee": {"a": 3}}, {"name": "h"}]
    return without_levels(found)


def as_one_tier(*turns):
    """Two users of whom one comes first, who are said to be served at once, at the prices of that."""
    return ruled([2, 2], policy="ceei", tiers=[{"turn": turn, "prices": {"a": "1/2"}} for turn in turns])


def a_tier_left_out():
    """The first of two tiers is not judged."""
    return as_one_tier("1")


def limited():
    """A sum of users at no limit, where nothing costs anything."""
    found = ruled([2, 1], {"guarantees": {"A": {"a": 1}}}, "throughput", prices={})
    for user in found["instance"]["users"]:
        user["max_tasks"] = 3
    return found


ORDER = [
    ("order.py", "        if min([*map(min, p), *bounds]) < 0:\n            continue\n", "", [
        ruled([1, 1], {"guarantees": {"A": {"a": 1}}}, machines=True, rounds=[{"a": "49", "b": "-1"}])]),
    ("order.py", "first = last is None", "first = True or last is None", [ruled([1, 3]), ruled([3, 1])]),
    ("order.py", "            if first and abs", "            if first or abs", [ruled([1, 0])]),
    ("order.py", "x[i] < floor[i] * (1 - e) and", "x[i] < 0 and", [
        ruled([2, 2], {"guarantees": {"A": {"a": 3}}}, "ceei", prices={"a": "1/2"})]),
    ("order.py", "(1, claim.c.rank[i])", "(1, 0)", [ruled([2, 2])]),
    ("groups.py", "divide(one, weight * each)", "divide(one, each)", [other_weight()]),
    ("clock.py", "weight, promise = group.weight or number(1),", "weight, promise = number(1),", [
        grouped([6, 3, 3], weight=2)]),
    ("groups.py", "return -number(self.given.get(\"tier\", 0)), not self.weight", "return 0, False", [
        grouped([6, 3, 3], tier=1)]),
    ("clock.py", "self.promised |= self.worth(group)", "pass", [grouped([6, 3, 3], guarantee={"a": 8})]),
    ("clock.py", "if not claim.near(claim.x[i], has[i])", "if claim.x[i] < 0", [grouped([4, 4, 4])]),
    ("markets.py", "unspent += total(q[i] * (x[i] - self.floor[i]) for i in later)", "", [as_one_tier("0", "1")]),
    ("markets.py", "if self.turns[i] not in there", "if False", [as_one_tier("1")]),
    ("markets.py", "least = {i for i in playing if x[i] <= self.floor[i] * (1 + e)}", "least = set(playing)", [
        ruled([3, 1], {"guarantees": {"A": {"a": 1}}}, "ceei", prices={"a": "1"})]),
    ("markets.py", "floor.get(i, number(0))", "number(0)", [promised_to_a_group()]),
    ("markets.py", "if i in stuck:", "if True:", [limited()]),
]  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new", "forged"), ORDER, ids=[row[1].strip()[:30] for row in ORDER])
def test_a_mutant_of_the_order_is_found_out(tmp_path, file, old, new, forged):
    mutant = mutant_of(tmp_path, file, old, new)
    assert [verdict(verify, data) for data in forged] == [False] * len(forged)
    assert any(verdict(mutant, data) is True for data in forged)


# ---- the clock, and several types --------------------------------------------------------------------------------


def instead(honest, declared, policy="drf", said=None, **how):
    """The answer of one cluster, said to be that of another, and perhaps of another policy."""
    found = without_levels(file_of(honest, policy, **how))
    return found | {"instance": file_of(declared, policy, **how)["instance"], "policy": said or policy}


def in_groups(group=None, users=(), **rules):
    """A, and B and C in a group, of two resources."""
    rows = {"A": {"a": 1, "b": 1}, "B": {"a": 2, "b": 1}, "C": {"a": 1, "b": 3}}
    rules = {"paths": {"B": "g", "C": "g"}, "groups": [Group("g", **(group or {}))]} | rules
    return Instance(rows, {"a": 12, "b": 13}, organisation=Organisation(**rules))


def apart(group=None, **rules):
    """A and C, each in a group of its own, in which its own level is of no account."""
    rows = {"A": {"a": 1, "b": 1}, "C": {"a": 1, "b": 3}}
    groups = {"paths": {"A": "h", "C": "g"}, "groups": [Group("h"), Group("g", **(group or {}))]}
    return Instance(rows, {"a": 12, "b": 13}, organisation=Organisation(**groups, **rules))


def stopped_early():
    """All stop with the first, with whom A has nothing in common."""
    groups = {"paths": {"A": "h", "C": "g"}, "groups": [Group("h"), Group("g", weight=2)]}
    rows = {"A": {"a": 1}, "C": {"b": 1}}
    found = without_levels(file_of(Instance(rows, {"a": 12, "b": 12}, organisation=Organisation(**groups)), exact=True))
    return row(found, 0, tasks="6")


def of_types(capacity=4, limit=None, ceiling=None):
    """A user whose second task is the large one, of two that stand at one place."""
    kinds = [TaskType({"a": 4}, 1), TaskType({"a": 1}, 3)]
    rules = {"organisation": Organisation(ceilings={"A": {"a": ceiling}})} if ceiling else {}
    limits = {} if limit is None else {"max_tasks": {"A": limit}}
    return Instance({"A": kinds, "B": {"a": 1}}, {"a": capacity}, **limits, **rules)


def second_first():
    """Two tasks in room for one, as if the second were small."""
    kinds = [TaskType({"a": 4}, 1), TaskType({"a": 1}, 3)]
    found = without_levels(file_of(Instance({"A": kinds}, {"a": 4}, max_tasks={"A": 1}), integer=True))
    del found["instance"]["users"][0]["max_tasks"]
    found["proof"]["trees"] = [[{"levels": ["0"]}]]
    return row(found, 0, tasks=2)


def named_alike():
    """A user who is called what a type of another is."""
    text = json.dumps(certificate_document(solve(of_types(20), integer=True)))
    return loads(text.replace('"B"', '"A:1"'))


def next_to_nothing(part, price):
    """C is stopped with A, by a price of next to nothing for what it needs, of which it has a part; in floats."""
    groups = Organisation(paths={"A": "g", "C": "h"}, groups=[Group("g"), Group("h", weight=part)])
    rack = [Machine("m", {"a": 4, "b": 8})]
    found = without_levels(file_of(Instance({"A": {"a": 1}, "C": {"b": 1}}, machines=rack, organisation=groups)))
    found["placement"]["C"] = {"m": 8 * part}
    found["proof"] = {"rounds": [{"level": 1, "finished": ["A", "C"], "prices": {"m": {"a": "1", "b": price}}}]}
    return row(found, 1, tasks=8 * part)


def both_stop():
    """Two users in groups of their own stop with nothing, where one of them could have the only task."""
    groups = Organisation(paths={"A": "g", "B": "h"}, groups=[Group("g"), Group("h")])
    found = file_of(Instance({"A": {"a": 1}, "B": {"a": 1}}, {"a": 1}, organisation=groups), integer=True)
    return row(row(without_levels(found), 0, tasks=0), 1, tasks=0)


PROMISE = {"guarantee": {"b": 6}}

CLOCK = [
    ("clock.py", "j not in c.excluded and ", "", lambda: instead(apart(), apart(excluded=["b"]))),
    ("clock.py", 'own / unit if c.meaning == "surplus" else number(0)', "number(0)", lambda: instead(
        apart(PROMISE), apart(PROMISE, meaning="surplus"))),
    ("clock.py", 'own if own and c.meaning == "normalised" else room', "room", lambda: instead(
        apart(PROMISE), apart(PROMISE, meaning="normalised"))),
    ("clock.py", 'if word == "asset":', "if False:", lambda: instead(apart(), apart(), said="asset")),
    ("clock.py", "(self.c.rank[i], []).append((own", "((0, False), []).append((own", lambda: instead(
        in_groups(), in_groups(tiers={"A": 1}))),
    ("clock.py", "{i: c.floor[i] for i in self.plays}", "dict.fromkeys(self.plays, number(0))", lambda: instead(
        in_groups(), in_groups(guarantees={"C": {"b": 9}}))),
    ("clock.py", "{i for i in has if any(q[i] for end, q in ends if end == stop)}",
     "set(has)", stopped_early),
    ("clock.py", "if could_rise(claim, i, q, money, unspent)", "if False",
     lambda: next_to_nothing(0.999, "1/10000000")),
    ("order.py", " if claim.report.accuracy else number(0)", " * 0", lambda: next_to_nothing(0.5, "1e-30")),
    ("whole.py", "tasks.uses(x, cluster.resources.index(r)) <= most for", "True for", lambda: instead(
        of_types(20), of_types(20, ceiling=4), integer=True)),
    ("whole.py", "min(sum(tasks.counts), math.floor(cluster.max_tasks[i] or 0))", "sum(tasks.counts)", lambda: instead(
        of_types(20), of_types(20, limit=1), integer=True)),
    ("whole.py", "2 * c), t) for t", "2 * c), -t) for t", second_first),
    ("whole.py", "if any(each in named for _, _, each in told):", "if False:", named_alike),
    ("whole_groups.py", "if beyond <= 0:", "if beyond < 0:", both_stop),
]  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new", "forge"), CLOCK, ids=[row[1].strip()[:30] for row in CLOCK])
def test_a_mutant_of_the_clock_or_of_types_is_found_out(tmp_path, file, old, new, forge):
    mutant, data = mutant_of(tmp_path, file, old, new), forge()
    assert verdict(verify, data) in (False, "refused")
    assert verdict(mutant, data) is True


# ---- every machine by itself -------------------------------------------------------------------------------------


def counted(**how):
    """Two answers of one cluster, one in which a resource does not count."""
    rows = {"A": {"a": 1, "b": 3}, "B": {"a": 2, "b": 1}}
    machines = [Machine("m", {"a": 6, "b": 7}, 2), Machine("n", {"a": 9, "b": 12})]
    every, some = (Instance(rows, machines=machines, organisation=o) for o in (None, Organisation(excluded=["b"])))
    return instead(every, some, "per-server", **how)


LIMITED = "if limited := [i for i in self.n if self.c.u[i] is not None]:"
UNCOUNTED = "excluded = [self.resources[j] for j in self.excluded]"

EACH = [
    ("proofs.py", "            one.nothing_better()\n", "", lambda: by_itself(
        lambda found: found["proof"]["packing"][0].update(tasks={"u1": 1}))),
    ("proofs.py", LIMITED, "if limited := []:", lambda: by_itself(
        lambda found: found["instance"]["users"][0].update(max_tasks=20))),
    ("proofs.py", "in enumerate(room) if j not in self.c.excluded]", "in enumerate(room)]", lambda: counted(
        exact=True)),
    ("cluster.py", UNCOUNTED, "excluded = []", lambda: counted(integer=True)),
]  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new", "forge"), EACH, ids=[row[1].strip()[:30] for row in EACH])
def test_a_mutant_of_machines_by_themselves_is_found_out(tmp_path, file, old, new, forge):
    mutant, data = mutant_of(tmp_path, file, old, new), forge()
    assert verdict(verify, data) is not True
    assert verdict(mutant, data) is True
