"""Whole tasks under rules and of several types, proven by trees: every answer, and nothing that is forged."""

import contextlib
import copy
import itertools
import json

import numpy as np
import pytest
from engines.whole_reference import Enumeration, awkward
from forging import attack, file_of, forged
from test_verifier_mutants import mutant_of, verdict

from drfopt import Group, Instance, Machine, Organisation, TaskType, solve
from drfopt.base.errors import DrfoptError
from drfopt.certificates import whole
from drfopt.certificates.document import certificate_document, stated
from drfopt.certificates.exhaustive_search import playing
from drfopt.certificates.group_sweep import GroupSweep
from drfopt.certificates.verifier import loads, verify
from drfopt.certificates.verifier.whole_search import found_better
from drfopt.io.native.reading import loads as read
from drfopt.model.policies import policy_named
from drfopt.model.whole_values import WholeUsers

KINDS = (("floor", False), ("surplus", False), ("normalised", False), ("", True), ("floor", True))
"""What guarantees mean, "" for no rules, and whether some users have several types of tasks."""

GROUPS = tuple((meaning, types, True) for meaning, types in KINDS if meaning)
"""The same in a tree of groups, with weights, tiers and promises of their own."""

LEXIMIN, MARKETS = ("drf", "tasks"), ("ceei", "throughput", "alpha:2", "utilitarian")
SUMMED = (KINDS[0], *KINDS[3:], GROUPS[0])
"""What sums and markets know."""


def drawn(seed, machines, meaning, types, grouped=False):
    """Return a small cluster: promises, tiers, ceilings of users and of one group of all, limits, types; or groups."""
    chance = np.random.default_rng(seed)
    n, m = int(chance.integers(2, 5)), int(chance.integers(1, 3))
    users, resources = [f"u{i}" for i in range(n)], [f"r{j}" for j in range(m)]
    demands = chance.integers(0, 4, (n, m))
    demands[demands.sum(axis=1) == 0, 0] = 1
    rows = {u: dict(zip(resources, row, strict=True)) for u, row in zip(users, demands.tolist(), strict=True)}

    def kind():
        needs = {r: int(chance.integers(0, 3)) for r in resources}
        return TaskType(needs if any(needs.values()) else {resources[0]: 1}, int(chance.integers(1, 5)))

    for u in users[::2] if types else ():
        rows[u] = [kind() for _ in range(int(chance.integers(2, 4)))]

    def some(part, most):
        return {r: int(chance.integers(1, most)) / 2 for r in resources if chance.random() < part}

    more = {"max_tasks": {u: int(chance.integers(1, 6)) for u in users if chance.random() < 0.3}}
    if meaning:
        promised = {u: row for u in users if chance.random() < 0.5 and (row := some(0.6, 10))}
        capped = {u: row for u in users if u not in promised and chance.random() < 0.3 and (row := some(0.4, 16))}
        together = chance.random() < 0.4 and not grouped
        paths = {u: str(chance.choice(["g", "g/h", "k"])) for u in users[:-1]} if grouped else dict.fromkeys(users, "g")
        tree = [
            Group(name, int(chance.integers(1, 3)), some(0.2, 6), {}, int(chance.random() < 0.2))
            for name in ("g", "g/h", "k")
        ]
        more["organisation"] = Organisation(
            promised,
            ceilings=capped,
            tiers={u: int(chance.integers(0, 2)) for u in users} if seed % 2 else {},
            paths=paths if together or grouped else {},
            groups=tree if grouped else [Group("g", ceiling=some(0.7, 20))] if together else [],
            meaning=meaning,
            excluded=[resources[0]] if m > 1 and seed % 7 == 0 else [],
        )
        more["weights"] = {u: int(chance.integers(seed % 4 != 1, 3)) for u in users}
    if not machines:
        return Instance(rows, dict(zip(resources, chance.integers(4, 16, m).tolist(), strict=True)), **more)
    racks = [dict(zip(resources, chance.integers(3, 8, m).tolist(), strict=True)) for _ in range(2)]
    return Instance(
        rows, machines=[Machine(f"c{q}", row, int(chance.integers(1, 3))) for q, row in enumerate(racks)], **more
    )


def answers(seeds, policies=LEXIMIN, kinds=KINDS):
    """Yield the files of what is proven by multipliers alone."""
    for seed, machines, kind, policy in itertools.product(seeds, (False, True), kinds, policies):
        with contextlib.suppress(DrfoptError):
            instance = drawn(seed, machines, *kind)
            found = solve(instance, policy, integer=True)
            written = loads(json.dumps(certificate_document(found)))
            # A sum that does not keep a promise is searched exhaustively, and has no tree.
            if found.certificate.rigorous and (policy in LEXIMIN or written["proof"].get("trees")):
                yield written


def proven(files):
    found = [(data, verify(data)) for data in files]
    for data, report in found:
        assert report.valid is True, (data["policy"], [check for check in report.checks if not check.holds])
    return len(found)


def test_whole_tasks_under_rules_and_of_types_are_decided():
    assert proven(answers(range(1, 3), ("drf",), KINDS + GROUPS)) > 16


def test_sums_and_products_under_rules_and_of_types_are_decided():
    assert proven(answers((4,), ("ceei", "utilitarian"), SUMMED[:3])) > 8


@pytest.mark.slow
def test_hundreds_of_sums_and_products_under_rules_and_of_types_are_decided(some):
    assert proven(answers(range(5, 5 + some(20)), MARKETS, SUMMED)) > some(300)


@pytest.mark.slow
def test_hundreds_of_whole_tasks_under_rules_and_of_types_are_decided(some):
    assert proven(answers(range(3, 3 + some(100)))) > some(1_100)


@pytest.mark.slow
def test_hundreds_of_whole_tasks_in_groups_are_decided(some):
    assert proven(answers(range(3, 3 + some(40)), kinds=GROUPS)) > some(320)


def every_division(seeds):
    """Compare the search of the verifier with enumeration, for all that can be run; return how much is not the best."""
    worse = 0
    for seed in seeds:
        kind = ({}, {"machines": True}, {"types": True}, {"types": True, "machines": True})[seed % 4]
        instance = awkward(seed, market=True, **kind)
        policy = ("ceei", "utilitarian", "alpha:2", "alpha:0.5", "throughput")[seed % 5]
        try:
            broken = solve(instance, policy, integer=True).broken
        except DrfoptError:
            continue
        reference = Enumeration(instance, policy)
        if not broken or not reference.playing:
            continue
        best = reference.best()
        for tasks in itertools.product(*(range(most + 1) for most in reference.most)):
            if reference.possible(list(tasks)):
                claim = stated(instance, policy_named(policy), list(tasks))
                right = reference.score(list(tasks)) == best
                assert (found_better(claim) is None) == right, (seed, tasks)
                worse += not right
    return worse


def test_what_keeps_no_promise_is_searched_as_enumeration_does():
    assert every_division(range(60)) > 20


@pytest.mark.slow
def test_thousands_that_keep_no_promise_are_searched_as_enumeration_does(some):
    assert every_division(range(100, 100 + some(6_000))) > some(3_000)


def told(chance, found):
    """Return the file with a task less of somebody, in its packing too; or with one thing of it changed."""
    if chance.random() < 0.6:
        return forged(chance, found)
    found = copy.deepcopy(found)
    row = chance.choice([row for row in found["users"] if row["tasks"]] or found["users"])
    for each in found["users"]:
        each.pop("level", None)
    if not row["tasks"]:
        return found, "nothing"
    row["tasks"] = int(row["tasks"]) - 1
    for entry in found["proof"].get("packing", []):
        if entry["tasks"].get(row["name"]):
            entry["machines"] -= 1
            one = copy.deepcopy(entry) | {"machines": 1}
            one["tasks"][row["name"]] -= 1
            found["proof"]["packing"].append(one)
            break
    return found, "fewer"


def is_best(data):
    """Say whether the whole tasks of the file are as good as those that are found again."""
    instance, policy = read(json.dumps(data["instance"], default=str), "json"), policy_named(data["policy"])
    best = solve(instance, policy.name, integer=True).tasks.tolist()
    tasks = [int(row["tasks"]) for row in data["users"]]
    users = WholeUsers(instance, policy, playing(instance))
    if users.branches and policy.objective == "leximin":
        sweep = GroupSweep(users)
        return sweep.canonical([tasks[i] for i in users.members]) in sweep.best()
    return whole.score(instance, policy, tasks) == whole.score(instance, policy, best)


def test_forged_whole_tasks_prove_nothing_that_is_not_so():
    files = list(answers(range(1, 2), ("drf",), KINDS + GROUPS))
    assert attack(files, 80, seed=1, forge=told, right=is_best) > 30


@pytest.mark.slow
def test_ten_thousand_forged_whole_tasks_prove_nothing_that_is_not_so(some):
    files = list(answers(range(10), ("drf",)))
    assert attack(files, some(10_000), seed=2, forge=told, right=is_best) > some(4_000)


@pytest.mark.slow
def test_ten_thousand_forged_groups_prove_nothing_that_is_not_so(some):
    files = list(answers(range(3), ("drf",), GROUPS))
    assert attack(files, some(10_000), seed=3, forge=told, right=is_best) > some(4_000)


@pytest.mark.slow
def test_ten_thousand_forged_sums_and_products_prove_nothing_that_is_not_so(some):
    files = list(answers((4,), MARKETS[:2], (KINDS[4], GROUPS[0])))
    assert attack(files, some(10_000), seed=4, forge=told, right=is_best) > some(4_000)


# ---- without one of its parts -------------------------------------------------------------------------------------


def tree_of(rows, tasks, policy="drf", capacity=1, **more):
    """The file of users, in the group that a small first letter names, with these tasks instead of the right ones."""
    rules = {name: more.pop(name) for name in ("guarantees", "tiers", "groups") if name in more}
    organisation = Organisation(paths={u: u[0] for u in rows if u[0].islower()}, **rules)
    found = file_of(Instance(rows, {"a": capacity, "b": 1}, organisation=organisation, **more), policy, integer=True)
    for row, x in zip(found["users"], tasks, strict=True):
        row["tasks"] = x
        row.pop("level", None)
    return found


def of_seed(tasks, seed, meaning="floor"):
    found = file_of(drawn(seed, False, meaning, False, True), integer=True)
    for row, x in zip(found["users"], tasks, strict=True):
        row["tasks"] = x
        row.pop("level", None)
    return found


def standing_still(tasks, cpus=12, weight=1):
    """Two groups with half of the gpus, whose levels stand still while x, y and v run: tasks of 3, 1 and 2 cpus."""
    rows = {"a": {"gpu": weight}, "x": {"cpu": 3}, "b": {"gpu": 1}, "y": {"cpu": 1}, "v": {"cpu": 2}}
    paths = {"a": "g", "x": "g", "b": "h", "y": "h", "v": "h"}
    limits = {"a": 1, "b": 1, "v": 9 if len(tasks) > 4 else 0}
    organisation = Organisation(paths=paths, groups=[Group("g", weight), Group("h")])
    room = {"gpu": 2 * weight, "cpu": cpus}
    found = file_of(Instance(rows, room, max_tasks=limits, organisation=organisation), integer=True)
    for row, x in zip(found["users"], (*tasks, 0), strict=False):
        row["tasks"] = x
        row.pop("level", None)
    return found


def one_leaf_of_two():
    """A machine carries (1, 1) or (3, 0): that the first is not used refutes B, on one side of a branch only."""
    rules = Organisation(paths={"A": "g", "B": "h"})
    found = file_of(Instance({"A": {"a": 1}, "B": {"a": 2}}, machines=[Machine("m", {"a": 3})], organisation=rules),
                    integer=True)  # fmt: skip
    for row, x in zip(found["users"], (3, 0), strict=True):
        row["tasks"] = x
        row.pop("level", None)
    found["placement"] = {"A": {"m": 3}, "B": {}}
    found["proof"]["packing"] = [{"class": "m", "machines": 1, "tasks": {"A": 3}}]
    found["proof"]["trees"] = [[{"class": "m", "load": {"A": 1, "B": 1}, "most": 0}, {"tasks": {"B": "1"}}, {}]]
    return found


def better_broken():
    """More tasks, of which A has none of the one that it is promised."""
    rows = {"A": {"a": 2}, "B": {"a": 1}}
    found = file_of(Instance(rows, {"a": 2}), "throughput", integer=True)
    promised = Instance(rows, {"a": 2}, organisation=Organisation({"A": {"a": 2}}))
    return found | {"instance": file_of(promised, "throughput", integer=True)["instance"]}


def of_other_incomes():
    """The product of users that are alike, one of whom is in a group of weight 3."""
    rows = {"A": {"a": 1}, "B": {"a": 1}}
    groups = Organisation(paths={"A": "g"}, groups=[Group("g", 3)])
    found = file_of(Instance(rows, {"a": 8}), "ceei", integer=True)
    for row in found["users"]:
        row.pop("level", None)
    return found | {
        "instance": file_of(Instance(rows, {"a": 8}, organisation=groups), "ceei", integer=True)["instance"]
    }


def one_of_two_types():
    """A task of A beside all of B's is better: it is not refuted by no task of A's, nor by two."""
    rows = {"A": [TaskType({"a": 1}, 1), TaskType({"a": 4}, 1)], "B": {"a": 1}}
    found = file_of(Instance(rows, {"a": 6}, max_tasks={"B": 4}), "throughput", integer=True)
    found["users"] = [{"name": "A", "tasks": 0}, {"name": "B", "tasks": 4}]
    found["proof"]["trees"] = [[{"prices": {"a": "2/5"}}]]
    return found


ONE, OTHER = {"a": 1}, {"b": 1}
VALUES = "whole_values.py"
CLOCK, STOPS = "whole_turns.py", "whole_groups.py"
TWO = {"A": ONE, "B": ONE, "hC": OTHER}
MUTANTS = [
    (CLOCK, "< (f := self.promise[p])", "< (f := 0 * self.promise[p])", lambda: of_seed((1, 0, 1, 3), 3)),
    (STOPS, "if late := next((way for way in here if way.time > at.time), None):", "if late := None:", lambda: of_seed(
        (0, 0, 0), 1)),
    (STOPS, "if count < most:", "if False:", lambda: of_seed((1, 1, 2, 1), 2)),
    (CLOCK, "setdefault(self.claim.c.rank[self.users[p]], [])", "setdefault((0, False), [])", lambda: of_seed(
        (1, 2, 0), 1)),
    (CLOCK, "setdefault(child.rank, [])", "setdefault((0, False), [])", lambda: of_seed((0, 1, 1), 9)),
    (CLOCK, "held -= way.since[child.name][1]", "held = 0", lambda: standing_still((1, 3, 1, 3))),
    (CLOCK, "/ weight for p in", "for p in", lambda: standing_still((1, 2, 1, 6), weight=2)),
    (CLOCK, "way.since[child.name][0] != level", "False", lambda: standing_still((1, 1, 1, 4), 7)),
    (STOPS, "more(way.tasks, going), since={})", "more(way.tasks, going))", lambda: standing_still(
        (1, 1, 1, 2, 2), 9)),
    (STOPS, "if any(after[p] > self.most[p]", "if any(after[p] >= self.most[p]", lambda: of_seed((1, 2, 0), 1)),
    (STOPS, "> worth for costs", "+ 1 > worth for costs", lambda: of_seed((0, 1, 1), 1)),
    (STOPS, "all(sum(map(mul, costs, goods))", "any(sum(map(mul, costs, goods))", one_leaf_of_two),
    (STOPS, "found[next_one.active, next_one.tasks] = next_one", "found[0] = next_one", lambda: of_seed(
        (1, 1, 1, 2), 2)),
    (STOPS, "beyond, least = beyond - cost, max(least, needed)", "beyond, least = beyond - cost, needed + 1",
     lambda: of_seed((0, 0, 1), 1)),
    (STOPS, "for alike, one in each), reverse=True)", "for alike, one in each))", lambda: of_seed(
        (1, 4, 1, 1), 2, "normalised")),
    (CLOCK, "tuple(self.lines[p]), self.promise[p])", "self.promise[p])", lambda: tree_of(
        TWO, (1, 0, 1), weights={"A": 2})),
    (CLOCK, "tuple(self.lines[p]), self.promise[p])", "tuple(self.lines[p]))", lambda: tree_of(
        TWO, (1, 0, 1), guarantees={"A": {"a": 2}, "B": {"a": 1}})),
    (CLOCK, "kind = (claim.c.paths[i], cluster", "kind = (cluster", lambda: tree_of(
        {"gA": ONE, "hB": ONE}, (1, 0), groups=[Group("g", 2), Group("h")])),
    (CLOCK, "cluster.goods[i], cluster.tasks[i].counts", "cluster.tasks[i].counts", lambda: tree_of(
        {"A": {"a": 2}, "B": ONE, "hC": ONE}, (2, 1, 1), "tasks", 6, max_tasks={"A": 3, "B": 3, "hC": 1})),
    (VALUES, "if broken := [", "if not [", better_broken),
    (VALUES, "weights = [claim.income[i] for", "weights = [claim.c.w[i][0] for", of_other_incomes),
    (VALUES, "range(low, high + 1)", "(low, high)", one_of_two_types),
    ("whole_levels.py", "math.floor(worth.get(i, 0))", "math.ceil(worth.get(i, 0))",
     lambda: of_seed((1, 2, 0), 1)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "old", "new", "forge"), MUTANTS, ids=[f"{row[1][:18]} {row[2][:18]}" for row in MUTANTS]
)
def test_a_mutant_of_the_clock_of_whole_tasks_is_found_out(tmp_path, file, old, new, forge):
    mutant, data = mutant_of(tmp_path, file, old, new), forge()
    assert verdict(verify, data) is not True
    assert verdict(mutant, data) is True
