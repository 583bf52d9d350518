"""Whole tasks of several groups: of every division of a small pool the verifier says as the sweep of all ways does."""

import copy
import itertools
from dataclasses import replace
from fractions import Fraction as F
from operator import gt

import pytest
from test_verifier_branches import claimed
from test_verifier_mutants import file_of, without_levels

from drfopt import Group, Instance, Machine, Organisation, TaskType
from drfopt.certificates import group_sweep
from drfopt.certificates.exhaustive_search import playing
from drfopt.certificates.group_sweep import GroupSweep
from drfopt.certificates.verifier import verify, whole_courses, whole_groups, whole_turns
from drfopt.certificates.verifier.claims import Claim
from drfopt.certificates.verifier.cluster import Cluster
from drfopt.certificates.verifier.trees import Carried
from drfopt.model.policies import policy_named
from drfopt.model.whole_values import WholeUsers

SMALL, LARGE, BOTH = {"a": 1}, {"a": 2}, {"a": 1, "b": 1}
GHK = {"A": "g", "B": "g", "C": "h"}


def pool(rows, room, paths, groups, limits=None, weights=None, **rules):
    organisation = Organisation(paths=paths, groups=groups, **rules)
    return Instance(dict(zip("ABCD", rows, strict=False)), room, max_tasks=limits, weights=weights,
                    organisation=organisation)  # fmt: skip


POOLS = {
    "parts of groups": pool([SMALL, LARGE, SMALL], {"a": 6}, GHK, [Group("g", "1/3"), Group("h", "2/7")]),
    "ceilings": pool([SMALL, SMALL, LARGE], {"a": 8}, GHK, [Group("g", ceiling={"a": "5/2"}), Group("h")]),
    "groups in groups": pool(
        [SMALL, SMALL, LARGE],
        {"a": 6},
        {"A": "g/k", "B": "g", "C": "h"},
        [Group("g", 2), Group("g/k", "1/2"), Group("h")],
    ),
    "in turn": pool([SMALL, SMALL, SMALL], {"a": 5}, GHK, [Group("g"), Group("h", tier=1)], {"C": 2}, tiers={"B": 1}),
    "promises": pool(
        [SMALL, LARGE, SMALL], {"a": 7}, GHK, [Group("g"), Group("h")], guarantees={"B": {"a": 4}, "C": {"a": 3}}
    ),
    "a promise to a group": pool([SMALL, LARGE, SMALL], {"a": 7}, GHK, [Group("g", guarantee={"a": 5}), Group("h")]),
    "weights of nothing": pool(
        [SMALL, SMALL, SMALL], {"a": 5}, GHK, [Group("g"), Group("h", 0)], {"A": 2}, weights={"A": 1, "B": 0, "C": 1}
    ),
    "two resources": pool([BOTH, SMALL, {"b": 2}], {"a": 4, "b": 5}, GHK, [Group("g"), Group("h", 2)]),
    "who are alike": pool(
        [LARGE, LARGE, LARGE, SMALL], {"a": 7}, {"A": "g", "B": "g", "C": "g", "D": "h"}, [Group("g", 3), Group("h")]
    ),
    # Where B stops first instead of A, C has to stop before both would.
    "another who stops first": pool(
        [BOTH, SMALL, {"b": 1}],
        {"a": 3, "b": 5},
        {"A": "g", "B": "k", "C": "h"},
        [Group("g"), Group("k"), Group("h", 2)],
    ),
    "types": pool([[TaskType(LARGE, 1), TaskType(SMALL, 2)], SMALL, LARGE], {"a": 6}, GHK, [Group("g"), Group("h")]),
    "above what is promised": pool(
        [SMALL, LARGE, BOTH],
        {"a": 7, "b": 4},
        {"A": "h", "B": "g", "C": "g"},
        [Group("g", guarantee={"a": 4}), Group("h")],
        guarantees={"B": {"a": 3}, "C": {"a": 1}},
        meaning="surplus",
    ),
    "above parts of a task that are promised": pool(
        [SMALL, LARGE, BOTH],
        {"a": 5, "b": 4},
        {"A": "h", "B": "g", "C": "g"},
        [Group("g"), Group("h")],
        {"A": 1},
        guarantees={"B": {"a": 3}},
        meaning="surplus",
    ),
    "in parts of what is promised": pool(
        [SMALL, LARGE, BOTH],
        {"a": 7, "b": 4},
        GHK,
        [Group("g"), Group("h", guarantee={"b": 2})],
        guarantees={"B": {"a": 2}, "C": {"a": 1}},
        meaning="normalised",
    ),
    "one at its limit": pool(
        [SMALL, SMALL, SMALL], {"a": 6}, dict(zip("ABC", "ghk", strict=True)), [Group(name) for name in "ghk"], {"A": 1}
    ),
    # B and D rise while A and C keep their groups' levels where they are: two of B for one of D.
    "gains by weight": pool(
        [{"a": 4}, {"b": 1}, {"a": 2, "c": 1}, {"b": 1}],
        {"a": 6, "b": 6, "c": 9},
        {"A": "g", "B": "g", "C": "h", "D": "h"},
        [Group("g", 2), Group("h")],
        {"A": 1, "C": 1},
        tiers={"A": 1, "C": 1},
    ),
    "a group's level by what it has most of": pool(
        [BOTH, {"a": 2, "b": 1}], {"a": 9, "b": 9}, {"A": "g", "B": "h"}, [Group("g"), Group("h")]
    ),
    # A is at nothing of a, and at a third of b.
    "a user's level by what it has most of": pool(
        [{"a": 2, "b": 1}, {"b": 1}, LARGE],
        {"a": 8, "b": 3},
        GHK,
        [Group("g"), Group("h")],
        guarantees={"A": {"a": 2}, "C": {"a": 2}},
        meaning="surplus",
    ),
    "who can have nothing": pool([SMALL, {"a": 9}, SMALL], {"a": 4}, GHK, [Group("g"), Group("h")]),
}


KINDS = [
    pytest.param(instance, policy, id=f"{name}, {policy}")
    for name, instance in POOLS.items()
    for policy in ("drf", "tasks")
    if policy == "drf" or instance.organisation.meaning == "floor"
]


@pytest.mark.parametrize(("instance", "policy"), KINDS)
def test_a_division_in_groups_is_right_where_no_way_to_stop_is_better(instance, policy):
    found = without_levels(file_of(instance, policy, integer=True))
    users = WholeUsers(instance, policy_named(policy), playing(instance))
    sweep, right = GroupSweep(users), 0
    best, own = sweep.best(), [row["tasks"] for row in found["users"]]
    most = [max(2, int(x) + 1) if i in users.members else 0 for i, x in enumerate(own)]
    for tasks in itertools.product(*(range(x + 1) for x in most)):
        for row, x in zip(found["users"], tasks, strict=True):
            row["tasks"] = x
        valid = verify(copy.deepcopy(found)).valid
        assert valid is (sweep.canonical([tasks[i] for i in users.members]) in best), tasks
        right += valid
    assert right


# ---- its parts -------------------------------------------------------------------------------------------------------


def proof_of(instance, tasks=None, excluded=()):
    """What judges a file of this instance, before it begins."""
    found = without_levels(file_of(instance, integer=True))
    found["instance"]["excluded"] = [*excluded]
    for row, x in zip(found["users"], tasks or [row["tasks"] for row in found["users"]], strict=True):
        row["tasks"] = x
    claim = Claim(Cluster(found["instance"]), found)
    carried = Carried(claim)
    return whole_groups.StopProof(claim, carried, whole_groups.Cuts(carried))


def test_of_who_are_alike_the_last_ones_are_chosen():
    able = [[0, 1, 2], [3], [4, 5]]
    for count in range(8):
        wanted = [
            [*able[0][3 - a :], *able[1][1 - b :], *able[2][2 - c :]]
            for a, b, c in itertools.product(range(4), range(2), range(3))
            if a + b + c == count
        ]
        assert sorted(whole_groups._choices(able, count)) == sorted(wanted)
    assert list(whole_groups._choices([], 0)) == [[]] and list(whole_groups._choices([], 1)) == []


def test_as_many_have_to_stop_as_what_is_missing_asks_for():
    """Users of 3, 2, 2 and 1, of whom so many have to stop that the others have room for a task more."""
    rows = [{"a": 3}, LARGE, LARGE, SMALL]
    proof = proof_of(pool(rows, {"a": 16}, dict(zip("ABCD", "ghij", strict=True)), [Group(name) for name in "ghij"]))
    needs, able = [3, 2, 2, 1], [[0], [1, 2], [3]]
    for tasks in itertools.product(range(3), repeat=4):
        after = tuple(x + 1 for x in tasks)
        beyond = sum(d * x for d, x in zip(needs, after, strict=True)) - 16
        wanted = next(k for k in range(5) if sum(needs[:k]) >= beyond or k == 4)
        assert proof.fewest(able, tasks, after) == wanted
        assert proof.goods_of_next(0, tasks) == [int(good == proof.cluster.goods[0][0]) for good in range(3)]


def test_whose_turn_it_is():
    """What is promised first, in parts of it; then levels in groups, of which the second counts for half."""
    proof = proof_of(
        pool([SMALL, LARGE, SMALL], {"a": 24}, {"A": "g", "B": "g", "C": "h"}, [Group("g"), Group("h", "1/2")],
             guarantees={"B": {"a": 4}, "C": {"a": 3}})
    )  # fmt: skip
    promised = {1: 2, 2: 3}
    for tasks in itertools.product(range(4), repeat=3):
        for active in itertools.chain.from_iterable(itertools.combinations(range(3), n) for n in (1, 2, 3)):
            way, turn = proof.due(whole_turns.Way(frozenset(active), tasks))
            parts = {p: F(tasks[p], f) for p, f in promised.items() if p in active and tasks[p] < f}
            if parts:
                least = min(parts.values())
                assert turn == [p for p, part in parts.items() if part == least]
                assert way.moment[0] == 0 and proof.level(way.moment) == least
            else:
                levels = [(tasks[0] + 2 * tasks[1], [0, 1]), (2 * tasks[2], [2])]
                inside = {0: tasks[0], 1: 2 * tasks[1]}
                least = min(level for level, mine in levels if set(mine) & set(active))
                wanted = []
                for level, mine in levels:
                    here = [p for p in mine if p in active]
                    if here and level == least:
                        low = min(inside.get(p, 0) for p in here)
                        wanted += [p for p in here if inside.get(p, 0) == low]
                assert turn == wanted and way.moment[0] == 1
                assert proof.level(way.moment) == F(least, 24) == proof.level((1, (0, False), way.moment[-1]))
            assert way.turns == 0 and way.active == frozenset(active) and way.tasks == tasks
            assert proof.due(way)[0] == replace(way, turns=1)
            assert proof.due(replace(way, turns=4))[0].turns == 5


def test_stops_are_proven_one_after_the_other():
    proof = proof_of(POOLS["one at its limit"])
    first = proof.onward(proof.start)
    assert first == proof.own_stop()[0]
    assert first.tasks == (1, 1, 1) and proof.level(first.moment) == F(1, 6) and first.active == {0, 1, 2}
    assert proof.onward(proof.start, first.time) == first
    assert proof.onward(proof.start, ((1, (0, False), first.moment[-1] + 1), 0)) is None
    assert proof.fault() == ""
    assert [(proof.level(moment), turns, stops) for moment, turns, stops in proof.proven] == [
        (F(1, 6), 0, 1), (F(1, 3), 0, 1), (F(1, 2), 0, 1),
    ]  # fmt: skip
    assert not any(way.active for way in proof.ways) and not proof.mine.active


PAIR = [Group("g"), Group("h")]
UNCOUNTED = [
    # After the first round C, at nothing, has all that is left of b, and B none.
    (pool([SMALL, BOTH, {"b": 1}], {"a": 3, "b": 3}, {"A": "h", "B": "g", "C": "g"}, PAIR), "b", {(2, 1, 2)}),
    # Nobody's count: after a task each C has another, as its group gained less, and then one of all has the last.
    (pool([SMALL] * 3, {"a": 5}, GHK, PAIR), "a", {(2, 1, 2), (1, 2, 2), (1, 1, 3)}),
    # The group of A and B has gained no more by its weight, and all have another, but one of them.
    (pool([SMALL] * 3, {"a": 5}, GHK, [Group("g", 2), Group("h")]), "a", {(2, 2, 1), (2, 1, 2), (1, 2, 2)}),
    # A has what it is promised, and is then where B is.
    (pool([SMALL, SMALL, {"b": 1}], {"a": 5, "b": 1}, GHK, PAIR, guarantees={"A": {"a": 2}}), "a",
     {(3, 2, 1), (4, 1, 1)}),
]  # fmt: skip


@pytest.mark.parametrize(("instance", "excluded", "best"), UNCOUNTED)
def test_whose_tasks_do_not_count_is_at_nothing_until_it_stops(instance, excluded, best):
    found = without_levels(file_of(instance, integer=True))
    found["instance"]["excluded"] = [excluded]
    for tasks in itertools.product(range(5), repeat=3):
        for row, x in zip(found["users"], tasks, strict=True):
            row["tasks"] = x
        assert verify(copy.deepcopy(found)).valid is (tasks in best), tasks


# ---- very many turns -------------------------------------------------------------------------------------------------


def many(k):
    """Yield the small pools in k times as many tasks, each a part of one, and some whose groups stand still or nest."""
    for instance in POOLS.values():
        rules = instance.organisation
        by_user = {name: dict(zip(instance.users, getattr(rules, name), strict=True))
                   for name in ("guarantees", "ceilings", "tiers", "paths")}  # fmt: skip
        if instance.task_types is None:
            yield Instance(
                {u: {r: F(d) / k for r, d in zip(instance.resources, row, strict=True)}
                 for u, row in zip(instance.users, instance.exact_demands, strict=True)},
                dict(zip(instance.resources, instance.exact_capacity, strict=True)),
                weights={u: 0 if last else w for u, w, last in zip(instance.users, instance.exact_weights, rules.last,
                                                                   strict=True)},
                max_tasks={u: None if most is None else most * k
                           for u, most in zip(instance.users, instance.exact_limits, strict=True)},
                organisation=Organisation(**by_user, groups=rules.groups, meaning=rules.meaning),
            )  # fmt: skip
    # C and D have room while A keeps its group's level where it is; B's group is below another.
    yield pool(
        [{"a": 1}, {"a": 3, "b": 1}, {"b": 3, "c": 1}, {"b": 2}],
        {"a": 20 * k, "b": 40 * k, "c": 9 * k},
        {"A": "g", "B": "h/k", "C": "g/k", "D": "h"},
        [Group("g", 2), Group("h", "1/2"), Group("h/k"), Group("g/k")],
        {"A": 8 * k},
        guarantees={"C": {"b": 7 * k}, "D": {"b": 2}},
    )


def stops_of(proof):
    """Return what comes of a proof: its fault, when who stops, and ways that are left, whatever turns are counted."""
    fault = proof.fault()
    return fault, [(moment, stops) for moment, _, stops in proof.proven], {(w.active, w.tasks) for w in proof.ways}


@pytest.mark.parametrize(("number", "instance"), list(enumerate(many(11))))
def test_many_turns_at_once_come_to_what_they_come_to_one_by_one(number, instance, monkeypatch):
    users = WholeUsers(instance, policy_named("drf"), playing(instance))
    with monkeypatch.context() as slow:
        slow.setattr(group_sweep, "ONE_BY_ONE", 10**9)
        sweep = GroupSweep(users)
        ends, greedy = sweep.best(), sweep.greedy()
    monkeypatch.setattr(group_sweep, "ONE_BY_ONE", 1)
    assert GroupSweep(users).best() == ends and GroupSweep(users).greedy() == greedy
    for shift in ({}, {number % len(ends[0]): 1}, {0: -1, len(ends[0]) - 1: -3}):
        tasks = users.spread([max(0, x + shift.get(p, 0)) for p, x in enumerate(ends[0])])
        fast, slow = proof_of(instance, tasks), proof_of(instance, tasks)
        monkeypatch.setattr(whole_groups, "ONE_BY_ONE", 10**9)
        told = stops_of(slow)
        monkeypatch.setattr(whole_groups, "ONE_BY_ONE", 1)
        assert stops_of(fast) == told and (told[0] == "" or shift)


@pytest.mark.parametrize("instance", list(many(11)))
def test_a_way_comes_to_its_stop_at_the_turn_at_which_it_does_one_by_one(instance, monkeypatch):
    proof, found = proof_of(instance), []
    proof.ways *= 2  # Turns are counted, as where there is another way.
    for turns in (10**9, 1):
        monkeypatch.setattr(whole_groups, "ONE_BY_ONE", turns)
        found.append((proof.onward(proof.start), proof.own_stop()))
    assert found[0] == found[1]


def noted(proof, way):
    """Return what each group is noted with once it is asked."""
    now = {group.name: proof.standing(group, way.tasks) for group in proof.root.nodes() if group.name}
    return {name: way.since.get(name, (None,)) if way.since.get(name, (None,))[0] == at[0] else at
            for name, at in now.items()}  # fmt: skip


@pytest.mark.parametrize("instance", list(many(7)))
def test_a_jump_comes_to_a_state_of_its_way_in_which_what_is_noted_is_right(instance):
    """Before each number of tasks of each user, from some states; where turns are counted at the first of a level."""
    proof, least = proof_of(instance), whole_courses.FEW
    states, way = [], proof.start
    while not proof.cuts.refuted(way.tasks) and all(x <= y for x, y in zip(way.tasks, proof.most, strict=True)):
        way, turn = proof.due(way)
        states.append(way)
        way = replace(way, tasks=whole_turns.more(way.tasks, turn))
    known = [way.tasks for way in states]
    for start in range(0, len(states), 1 + len(states) // 4):
        # Where nothing but limits ends it, too; what is known by then is no reason to leave more turns.
        course = whole_courses.Course(proof, states[start])
        assert course.jumped(proof.cuts.refuted, True).tasks in known[start:]
        for p, counted in itertools.product(range(len(proof.users)), (False, True)):
            for most in range(0, known[-1][p] + 1, 1 + known[-1][p] // 5):
                end = [*known[-1][:p], most, *known[-1][p + 1 :]]
                way = course.jumped(lambda tasks, end=end: any(map(gt, tasks, end)), counted)
                at = known.index(way.tasks)
                wanted = next((s for s, tasks in enumerate(known) if tasks[p] > most), len(known))
                assert start <= at < max(wanted, start + 1)
                found, turn = proof.due(way)
                assert (found.moment, turn) == (states[at].moment, proof.due(states[at])[1])
                if found.moment[0] and not counted and states[start].moment[0]:
                    # Nobody has more than a few tasks left to go.
                    gaps = zip(known[min(wanted, len(known) - 1)], way.tasks, strict=True)
                    assert max(x - y for x, y in gaps) <= least + 1
                    assert noted(proof, way) == noted(proof, states[at])
                if counted:
                    # At the first of the level at which it is where turns are not counted.
                    last = known.index(course.jumped(lambda tasks, end=end: any(map(gt, tasks, end)), False).tasks)
                    same = [s for s in range(start, last + 1) if states[s].moment == states[last].moment]
                    assert at == same[0] and (states[at].turns == 0 or at == start)


PLENTY = {"a": 10**6, "b": 10**6}
ENDLESS = [
    # Nothing but limits ends these ways: of who is alone, of who is in a group, and of one of two who rise together.
    pool([SMALL, LARGE, SMALL], PLENTY, GHK, PAIR, {"A": 90, "B": 80, "C": 41}),
    pool([SMALL, LARGE, SMALL], PLENTY, GHK, PAIR, {"A": 80, "B": 33, "C": 190}),
    pool([SMALL, {"a": 3}, BOTH], PLENTY, GHK, [Group("g"), Group("h", "1/3")], {"A": 95, "B": 40, "C": 60}),
    # A and B are below a group of two, and D in none.
    pool([SMALL, LARGE, {"b": 3}, {"a": 5}], PLENTY, {"A": "g/k", "B": "g/k", "C": "g", "D": "h"},
         [Group("g", 2), Group("g/k", "1/2"), Group("h")], {"A": 61, "B": 85, "C": 70, "D": 77}),
    # A is promised more than is left to B and C then.
    pool([SMALL, LARGE, SMALL], PLENTY, GHK, PAIR, {"A": 75, "B": 31, "C": 66},
         guarantees={"A": {"a": 60}, "C": {"a": 43}}),
    pool([SMALL, LARGE, SMALL], PLENTY, GHK, PAIR, {"A": 75, "B": 20, "C": 66},
         guarantees={"A": {"a": 60}, "B": {"a": 40}, "C": {"a": 43}}),
]  # fmt: skip


def states_of(proof):
    """Return all states of the way on which nobody stops, until limits end it."""
    states, way = [], proof.start
    while all(x <= y for x, y in zip(way.tasks, proof.most, strict=True)):
        way, turn = proof.due(way)
        states.append(way)
        way = replace(way, tasks=whole_turns.more(way.tasks, turn))
    return states


def keys_of(proof, course, way):
    """Return level and gain of the children of the root, by what groups held at the states before."""
    now = noted(proof, way)
    for child, _ in course.children[id(proof.root)]:
        if isinstance(child, int):
            yield max(slope * way.tasks[child] - offset for slope, offset in course.lines[child]), 0
        else:
            level, held = proof.standing(child, way.tasks)
            yield level, held - now[child.name][1]


@pytest.mark.parametrize(
    ("instance", "excluded"),
    [(one, out) for one in [*many(5), *ENDLESS] for out in ("", "b") if not out or out in one.resources],
)
def test_what_groups_have_at_a_key_is_what_they_have_where_the_last_of_them_comes_to_it(instance, excluded):
    """At each key of the way from some states on, at those next to it, and at the ends of what is promised."""
    proof = proof_of(instance, excluded=excluded)
    states = states_of(proof)
    for start in range(0, len(states), 1 + len(states) // 3):
        course = whole_courses.Course(proof, states[start])
        promised = bool(proof.due(states[start])[0].moment[0] == 0)
        mine = [way for way in states[start:] if (way.moment[0] == 0) == promised]
        # What is promised ends where the next turns begin, unless limits end it before.
        mine += [way for way in states[start + len(mine) :][:1] if promised]
        reached = [min(keys_of(proof, course, way)) for way in mine]
        for key in reached[:: 1 + len(reached) // 9]:
            for other in (key, (key[0], key[1] + 1), (key[0], key[1] - 1), (key[0] + 1, 0), (key[0] - 1, 0)):
                if other[1] < 0:
                    continue
                wanted = next((way.tasks for way, at in zip(mine, reached, strict=True) if at >= other), None)
                assert course.together(proof.root, other) == wanted, (start, other)


@pytest.mark.parametrize("paths", [GHK, {"A": "g", "B": "h"}])
def test_who_counts_for_nothing_is_never_past_a_level_and_so_ends_every_jump(paths):
    proof = proof_of(pool([SMALL, SMALL, {"b": 1}], PLENTY, paths, PAIR, {"A": 9, "B": 9, "C": 90}), excluded="b")
    course = whole_courses.Course(proof, proof.start)
    assert course.together(proof.root, (0, 0)) == (0, 0, 0)
    assert course.together(proof.root, (1, 0)) is course.together(proof.root, (0, 10**9)) is None
    for counted in (False, True):
        assert course.jumped(lambda _: False, counted).tasks == (0, 0, 0)


def test_what_was_looked_for_is_not_looked_for_again():
    """Of a nested group some 55,000 levels are asked for, and 77,000 where what it came with is not kept."""
    proof, asked = proof_of(list(many(10**6))[-1]), list[object]()
    standing = proof.standing
    proof.standing = lambda child, tasks: (asked.append(child), standing(child, tasks))[1]
    assert proof.fault() == ""
    assert len(asked) < 60_000


@pytest.mark.parametrize("instance", ENDLESS)
def test_a_jump_is_ended_by_limits_where_nothing_else_ends_it(instance):
    proof = proof_of(instance)
    states = states_of(proof)
    for start in range(0, len(states), 9):
        way = whole_courses.Course(proof, states[start]).jumped(lambda _: False, False)
        found = next(one for one in states[start:] if one.tasks == way.tasks)
        # What is promised is a way of its own, to the end of it.
        wanted = states[-1] if states[start].moment[0] else next(one for one in states if one.moment[0])
        assert max(x - y for x, y in zip(wanted.tasks, found.tasks, strict=True)) <= whole_courses.FEW


# ---- trees -----------------------------------------------------------------------------------------------------------


def in_groups(*leaves):
    """Two tasks each, on three machines with room for one of the one or two of the other."""
    rules = Organisation(paths={"A": "g", "B": "h"}, groups=[Group("g"), Group("h")])
    rack = Instance({"A": {"a": 3}, "B": {"a": 2}}, machines=[Machine("m", {"a": 4}, 3)], organisation=rules)
    return claimed(rack, [2, 2], [("m", 2, {"A": 1}), ("m", 1, {"B": 2})], [list(leaves)])


def test_a_tree_in_groups_refutes_what_costs_too_much_on_each_of_its_sides():
    """A task of B more is a half of a machine more than there are."""
    right, nothing = {"tasks": {"A": "1", "B": "1/2"}, "levels": ["0"]}, {"levels": ["0"]}
    assert verify(in_groups(right)).valid is True
    assert verify(in_groups(nothing)).valid is not True
    for most in range(3):
        for load in ({"A": 1}, {"B": 2}):
            side = {"class": "m", "load": load, "most": most}
            assert verify(in_groups(side, right, right)).valid is True
            assert verify(in_groups(side, nothing, right)).valid is not True
            assert verify(in_groups(side, right, nothing)).valid is not True
    # More than there are machines is nothing.
    assert verify(in_groups({"class": "m", "load": {"A": 1}, "most": 3}, right, nothing)).valid is True


def test_what_one_side_of_a_tree_refutes_is_not_refuted():
    """C comes after A and B, of whom one has room for a task: both stop on the side where C has the machine."""
    groups = [Group("g"), Group("h"), Group("k", tier=-1)]
    rules = Organisation(paths=dict(zip("ABC", "ghk", strict=True)), groups=groups)
    rows = {"A": {"a": 2}, "B": {"a": "5/2"}, "C": {"a": "3/2"}}
    rack = Instance(rows, machines=[Machine("m", {"a": 3})], organisation=rules)
    none, nothing = [{"class": "m", "load": {user: 1}, "most": 0} for user in "AB"], {"levels": ["0"]}
    tree = [*none, {"tasks": {"A": "1", "B": "1"}, "levels": ["0"]}, nothing, nothing]
    assert verify(claimed(rack, [0, 0, 2], [("m", 1, {"C": 2})], [tree])).valid is None
    assert verify(claimed(rack, [0, 0, 2], [("m", 1, {"C": 2})], [tree[:3] + tree[2:3] * 2])).valid is None
    assert verify(claimed(rack, [0, 1, 0], [("m", 1, {"B": 1})], [])).valid is True
