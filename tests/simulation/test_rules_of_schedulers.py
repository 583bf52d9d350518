"""The rules of real schedulers in the simulator: they do what their pure decisions say, and lose no task."""

import json
import random
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from drfopt import Instance, InstanceError, Machine, Organisation, PolicyError
from drfopt.base.numbers.quantities import exact
from drfopt.simulation import Draw, Job, Outage, Preemption, Scenario, Stage, User, simulate, simulate_each
from drfopt.simulation.levels import Requests
from drfopt.simulation.rules import kai
from drfopt.simulation.rules.hierarchy import MEASURES, Hierarchy, Leaf, hierarchical_filling
from drfopt.simulation.rules.karma import KarmaRule
from drfopt.simulation.rules.mesos import Mesos
from drfopt.simulation.rules.table import RULES, rule_named
from drfopt.simulation.rules.task_by_task import Fifo
from drfopt.simulation.turns import Turns

VECTORS = {
    vector["id"]: vector
    for vector in json.loads(
        (Path(__file__).parents[1] / "facts" / "schedulers.json").read_text(encoding="utf-8"), parse_float=exact
    )
}
MINE = (
    "mesos",
    "mesos-priority",
    "yarn:intended",
    "yarn:hadoop-2",
    "yarn:hadoop-3",
    "yunikorn",
    "kueue",
    "kai",
    "koordinator",
    "hierarchy:hdrf",
    "hierarchy:scaled",
    "hierarchy:sum",
    "dynamic",
    "karma:cpu",
)


def for_ever(name, demand, tasks, **more):
    return User(name, Job(Stage(demand, tasks)), **more)


def counts(run):
    return dict(zip(run.users, run.running.tolist(), strict=True))


def small_scenario(number):
    """Machines of two classes, users of all kinds: ties, no group, nested groups, guarantees, tasks too large."""
    chance = random.Random(number)
    machines = (
        Machine("a", {"cpu": 4, "gpu": 2}, chance.randint(1, 3)),
        Machine("b", {"cpu": 7}, chance.randint(0, 1) + 1),
    )
    users = []
    for i in range(chance.randint(1, 5)):
        jobs = tuple(
            Job(
                tuple(
                    Stage(
                        {"cpu": chance.choice((1, 2, 5, 9)), "gpu": chance.choice((0, 0, 1))},
                        chance.randint(1, 6),
                        chance.choice((1.0, Draw("exponential", mean=3))),
                    )
                    for _ in range(chance.randint(1, 2))
                ),
                arrival=chance.choice((0.0, 0.0, 2.5)),
            )
            for _ in range(chance.randint(1, 2))
        )
        users.append(
            User(
                f"u{i}",
                jobs,
                weight=chance.choice((1, 1, Fraction(1, 3))),
                guarantee=chance.choice(({}, {}, {"cpu": 2})),
                group=chance.choice(("", "g", "g/h", "k")),
                tier=chance.randint(0, 1),
                leaves=chance.choice((np.inf, np.inf, 4.0)),
            )
        )
    return Scenario(
        machines, tuple(users), (Outage("a", 1.5, 1, chance.choice((None, 2.0))),), until=60, groups={"g": 2}
    )


def _taken(scenario, rule):
    """Return the scenario, of a rule of equal parts with equal weights."""
    if rule.partition(":")[0] not in ("dynamic", "karma"):
        return scenario
    return replace(scenario, users=tuple(replace(user, weight=1) for user in scenario.users))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rule", MINE)
def test_no_task_is_lost_or_run_twice(rule):
    for number in range(25):
        scenario = _taken(small_scenario(number), rule)
        run = simulate(scenario, rule, seed=number, checked=True)
        again = simulate(scenario, rule, seed=number)
        assert all(np.array_equal(run.jobs[name], again.jobs[name], equal_nan=True) for name in run.jobs)


NONE = {"weights": {"weight": 1}, "guarantees": {"guarantee": {}}, "groups": {"group": ""}, "tiers": {"tier": 0}}
"""Users who are not set apart by it."""


def _without(scenario, what):
    return replace(scenario, users=tuple(replace(user, **NONE[what]) for user in scenario.users), groups={})


def _matters(scenario, rule, what, number):
    """Say whether jobs go otherwise where users are not set apart by it."""
    one, other = (simulate(each, rule, seed=number) for each in (scenario, _without(scenario, what)))
    assert not other.disregarded or what not in other.disregarded
    return not all(np.array_equal(one.jobs[name], other.jobs[name], equal_nan=True) for name in one.jobs)


@pytest.mark.parametrize("row", RULES, ids=lambda row: row.name)
def test_a_rule_looks_at_what_its_row_says(row):
    rule = row.example or row.name
    lone = Scenario({"cpu": 4}, tuple(for_ever(n, {"cpu": 1}, 9, weight=w) for n, w in (("A", 1), ("B", 3))))
    for what in NONE:
        if what == "weights" and row.stem in ("dynamic", "karma"):
            with pytest.raises(PolicyError, match="weight"):
                simulate(lone, rule)
            continue
        some = (_taken(small_scenario(number), rule) for number in range(40 if what in row.regards else 6))
        # In Mesos weights are those of roles, which only who is in no group is by itself.
        tried = chain([lone] if what == "weights" else [], some)
        apart = (_matters(scenario, rule, what, number) for number, scenario in enumerate(tried))
        assert any(apart) == (what in row.regards), what


def test_what_a_rule_does_not_look_at_is_said():
    cluster = Instance(
        {"A": {"cpu": 1}, "B": {"cpu": 1}}, {"cpu": 8}, organisation=Organisation(tiers={"A": 1}), weights=[1, 2]
    )
    scenario = Scenario.of(cluster)
    blind, seeing, first = (simulate(scenario, rule) for rule in ("drf", "yunikorn", "mesos-priority"))
    assert blind.sheet().notes[-1] == "drf does not look at tiers" and blind.to_dict()["disregarded"] == ["tiers"]
    assert seeing.sheet().notes[-1] == "yunikorn does not look at weights" and counts(seeing) == {"A": 8, "B": 0}
    assert first.disregarded == () and not any("does not look at" in note for note in first.sheet().notes)
    sides = simulate_each(scenario, ["fifo", "mesos-priority", "drf"]).sheet().notes
    assert sides[-2:] == ("fifo does not look at weights, tiers", "drf does not look at tiers")


def test_revocation_looks_at_guarantees_where_there_is_any():
    users = tuple(for_ever(name, {"cpu": 1}, 9, guarantee={"cpu": 1}) for name in "AB")
    for rule, revoked in (("drf", ()), ("fifo", ("guarantees",))):
        assert simulate(Scenario({"cpu": 4}, users), rule).disregarded == ("guarantees",)
        assert simulate(Scenario({"cpu": 4}, users), rule, preemption=Preemption(1)).disregarded == revoked


def test_of_a_rule_of_ones_own_nothing_is_said():
    class Mine(Turns):
        name = "mine"

        def turn(self, cluster, asking):
            return min(asking)

    users = (for_ever("A", {"cpu": 1}, 9, tier=1), for_ever("B", {"cpu": 1}, 9))
    assert simulate(Scenario({"cpu": 4}, users), Mine()).disregarded == ()


@pytest.mark.parametrize("rule", MINE)
def test_revocation_loses_no_task_either(rule):
    for number in range(8):
        simulate(
            _taken(small_scenario(number), rule), rule, seed=number, preemption=Preemption(grace=1.0), checked=True
        )


def test_whatever_rule_everything_that_can_is_done_in_the_end():
    stages = tuple(Stage({"cpu": 1 + k}, 7, 3.0) for k in range(2))
    users = tuple(User(f"u{i}", Job(stages, arrival=2.0 * i), group=group) for i, group in enumerate(("", "g", "g")))
    scenario = Scenario((Machine("a", {"cpu": 4}, 2),), users)
    for rule in MINE:
        assert simulate(scenario, rule).ended == 42, rule


# Mesos


def test_a_framework_takes_all_of_the_machine_it_is_offered():
    users = (for_ever("A", {"cpu": 1}, 9), for_ever("B", {"cpu": 1}, 9))
    one, many = (Scenario((Machine("m", {"cpu": 8 // k}, k),), users) for k in (1, 8))
    assert counts(simulate(one, "mesos")) == {"A": 8, "B": 0}
    assert counts(simulate(many, "mesos")) == counts(simulate(many, "drf")) == {"A": 4, "B": 4}


def test_what_is_refused_is_offered_to_the_next_in_the_next_cycle():
    users = (User("L", Job(Stage({"cpu": 3}, 9, 50.0))), User("S", Job(Stage({"cpu": 1}, 1, 10.0))))
    scenario = Scenario((Machine("m", {"cpu": 4}),), users, until=30)
    for interval in (1.0, 0.25, 0.0):
        run = simulate(scenario, Mesos(interval=interval))
        assert run.jobs["begun"].tolist() == [0.0, interval] or run.jobs["begun"].tolist() == [interval, 0.0]


def test_a_framework_that_refused_is_passed_over_until_the_refusal_ends():
    # L is lowest and its task fits nowhere: it refuses the machine, and S gets it one cycle later, not at once.
    large = User("L", Job(Stage({"cpu": 3}, 1, 5.0)))
    small = User("S", Job(Stage({"cpu": 1}, 3, 2.0)), weight=Fraction(1, 100))
    held = User("H", Job(Stage({"cpu": 2}, 1, 100.0)), tier=1)
    scenario = Scenario((Machine("m", {"cpu": 4}),), (large, small, held), until=50)
    run = simulate(scenario, Mesos(priorities=True))
    begun = dict(zip(run.jobs["user"].tolist(), run.jobs["begun"].tolist(), strict=True))
    assert begun[2] == 0 and np.isnan(begun[0]) and begun[1] == 2


def test_roles_share_before_their_frameworks():
    users = [for_ever(name, {"cpu": 1}, 20, group=group) for name, group in (("a", "x"), ("b", "x"), ("c", "y"))]
    scenario = Scenario((Machine("m", {"cpu": 1}, 12),), tuple(users), groups={"x": 2})
    assert counts(simulate(scenario, "mesos")) == {"a": 4, "b": 4, "c": 4}
    assert counts(simulate(Scenario(scenario.machines, scenario.users), "mesos")) == {"a": 3, "b": 3, "c": 6}


def test_an_excluded_resource_does_not_count():
    users = (for_ever("A", {"gpu": 1, "cpu": 1}, 9), for_ever("B", {"cpu": 1}, 99))
    scenario = Scenario((Machine("g", {"cpu": 1, "gpu": 1}, 6), Machine("c", {"cpu": 1}, 6)), users)
    assert counts(simulate(scenario, Mesos(excluded=["gpu"]))) == {"A": 3, "B": 9}
    assert counts(simulate(scenario, "mesos")) == {"A": 2, "B": 10}


def test_a_quota_is_served_first_and_kept_free():
    quota = for_ever("Q", {"cpu": 1}, 2, guarantee={"cpu": 6})
    others = for_ever("R", {"cpu": 1}, 99)
    scenario = Scenario((Machine("m", {"cpu": 1}, 10),), (others, quota))
    # Q asks for 2 of the 6 she is promised; the other 4 stay free for her.
    assert counts(simulate(scenario, "mesos")) == {"R": 4, "Q": 2}


@pytest.mark.parametrize(("group", "room"), [("c", 5), ("a/b", 5), ("a/b", 9)])
def test_a_quota_is_kept_free_beside_that_of_a_role_below(group, room):
    late = User("X", Job(Stage({"cpu": 1}, 5, 100), arrival=5), guarantee={"cpu": 2}, group="a")
    early = User("Y", Job(Stage({"cpu": 1}, 9, 100)), guarantee={"cpu": 3}, group=group)
    other = User("Z", Job(Stage({"cpu": 1}, 9, 100)))
    run = simulate(Scenario({"cpu": room}, (late, early, other)), "mesos", until=20)
    assert counts(run)["X"] == 2 and counts(run)["Y"] >= 3


def test_a_lower_priority_gets_what_is_left():
    users = [
        for_ever(name, {"cpu": 1}, tasks, tier=tier) for name, tasks, tier in (("a", 99, 0), ("b", 7, 1), ("c", 99, 0))
    ]
    scenario = Scenario((Machine("m", {"cpu": 1}, 11),), tuple(users))
    assert counts(simulate(scenario, "mesos-priority")) == {"a": 2, "b": 7, "c": 2}


# Hierarchies


def tree_scenario(given):
    users = tuple(
        for_ever(path, row["demand"], row["tasks"], group=path.rpartition("/")[0])
        for path, row in given["users"].items()
    )
    return Scenario(dict(given["capacity"]), users)


@pytest.mark.parametrize("name", ["yarn-drf-apps", "yarn-drf-queues", "yarn-drf-hierarchy"])
@pytest.mark.parametrize("version", ["intended", "hadoop-2", "hadoop-3", "hadoop-3-fixed"])
def test_yarn_in_the_simulator_starts_what_its_own_tests_say(name, version):
    vector = VECTORS[name]
    run = simulate(tree_scenario(vector["given"]), f"yarn:{version}", checked=True)
    sequence = vector["expect"]["sequence"]
    assert counts(run) == {path: sequence.count(path) for path in vector["given"]["users"]}


@pytest.mark.parametrize(("version", "first"), [("intended", "A"), ("hadoop-2", "B"), ("hadoop-3", "A")])
def test_a_fault_of_yarns_changes_who_is_served(version, first):
    # A, idle, is promised memory only.  In Hadoop 2 an idle queue is needy for cores alone, and the earlier goes first.
    task = Stage({"memory": 10, "vcores": 4}, 1, 5.0)
    users = (
        User("A", Job(task, arrival=2.0), guarantee={"memory": 10}),
        User("B", Job(task, arrival=1.0)),
        User("C", Job(task)),
    )
    run = simulate(Scenario({"memory": 10, "vcores": 4}, users), f"yarn:{version}")
    begun = dict(zip((run.users[user] for user in run.jobs["user"]), run.jobs["begun"].tolist(), strict=True))
    assert begun[first] == 5 and sorted(begun.values()) == [0, 5, 10]


@pytest.mark.parametrize("measure", MEASURES)
def test_hierarchies_in_the_simulator_fill_like_the_pure_ones(measure):
    for number in range(40):
        chance = random.Random(number)
        paths = ["a/x", "a/y", "b/c/z", "b/w", "v"][: chance.randint(2, 5)]
        demands = [{"cpu": chance.randint(0, 3), "gpu": chance.randint(1, 2)} for _ in paths]
        tasks = [chance.choice((1, 4, 30)) for _ in paths]
        capacity = {"cpu": chance.randint(5, 20), "gpu": chance.randint(5, 20)}
        weights = {"a": chance.choice((1, 2)), "b": 1}
        order = hierarchical_filling(
            [Leaf(*row) for row in zip(paths, demands, tasks, strict=True)], capacity, weights, measure
        )
        users = tuple(
            for_ever(path, demand, count, group=path.rpartition("/")[0])
            for path, demand, count in zip(paths, demands, tasks, strict=True)
        )
        run = simulate(Scenario(capacity, users, groups=weights), Hierarchy(measure))
        assert counts(run) == {path: order.count(path) for path in paths}


@pytest.mark.parametrize("name", ["volcano-hdrf-rescaling", "volcano-hdrf-blocking", "hdrf-without-blocked-nodes"])
def test_hierarchical_drf_in_the_simulator_gives_the_published_tasks(name):
    given, expect = VECTORS[name]["given"], VECTORS[name]["expect"]
    users, groups = [], {}
    for user, row in given["users"].items():
        *above, own = row["weights"].split("/")[1:]
        path = row["path"].split("/")[1:]
        groups |= {"/".join(path[: k + 1]): exact(weight) for k, weight in enumerate(above)}
        users.append(for_ever(user, row["demand"], row["tasks"], group="/".join(path[:-1]), weight=exact(own)))
    run = simulate(Scenario(given["capacity"], tuple(users), groups=groups), Hierarchy(given["measure"]))
    assert counts(run) == expect["tasks"]


def test_a_tree_of_one_level_is_drf():
    for number in range(20):
        chance = random.Random(number)
        users = tuple(
            User(
                f"u{i}",
                Job(Stage({"cpu": chance.randint(1, 3), "gpu": chance.randint(0, 3)}, 12, Draw("exponential", mean=4))),
                weight=chance.choice((1, 2, Fraction(1, 2))),
            )
            for i in range(4)
        )
        scenario = Scenario((Machine("m", {"cpu": 6, "gpu": 5}, 3),), users)
        drf = simulate(scenario, "drf", seed=number)
        for measure in MEASURES:
            flat = simulate(scenario, Hierarchy(measure), seed=number)
            assert flat.jobs["finished"].tolist() == drf.jobs["finished"].tolist()


def test_yunikorn_serves_higher_tiers_first_and_knows_no_weights():
    users = (for_ever("A", {"cpu": 1}, 8), for_ever("B", {"cpu": 1}, 8, weight=3))
    assert counts(simulate(Scenario({"cpu": 4}, users), "yunikorn")) == {"A": 2, "B": 2}
    urgent = (for_ever("A", {"cpu": 1}, 8, tier=1), for_ever("B", {"cpu": 1}, 3, tier=5, group="g"))
    others = (for_ever("C", {"cpu": 1}, 8, group="g"), for_ever("D", {"cpu": 1}, 8))
    found = counts(simulate(Scenario({"cpu": 8}, (*urgent, *others)), "yunikorn"))
    assert found == {"A": 5, "B": 3, "C": 0, "D": 0}


def test_yunikorn_serves_the_lowest_part_of_a_guarantee():
    users = (for_ever("A", {"cpu": 1}, 99, guarantee={"cpu": 6}), for_ever("B", {"cpu": 1}, 99, guarantee={"cpu": 3}))
    assert counts(simulate(Scenario({"cpu": 12}, users), "yunikorn")) == {"A": 8, "B": 4}


@pytest.mark.parametrize("name", [name for name, vector in VECTORS.items() if vector["kind"] == "kai_division"])
def test_kai_in_the_simulator_gives_fair_shares(name):
    given, expect = VECTORS[name]["given"], VECTORS[name]["expect"]
    users = tuple(
        for_ever(
            user,
            {"gpu": 1},
            row["request"] if row["max"] is None else min(row["request"], row["max"]),
            weight=row["weight"],
            tier=row["priority"],
            guarantee={"gpu": row["deserved"]},
        )
        for user, row in given["queues"].items()
    )
    assert counts(simulate(Scenario({"gpu": given["total"]}, users), "kai")) == expect["fair_share"]


def test_koordinator_in_the_simulator_stays_within_its_quotas():
    vector = VECTORS["koordinator-case1-no-guarantee"]
    users = tuple(
        for_ever(name, {"cpu": 1}, row["request"], weight=row["weight"], guarantee={"cpu": row["min"]})
        for name, row in vector["given"]["groups"].items()
    )
    run = simulate(Scenario({"cpu": vector["given"]["total"]}, users), "koordinator")
    assert counts(run) == vector["expect"]["runtime"]


def test_kueue_shares_what_is_guaranteed_to_nobody():
    users = [for_ever(name, {"cpu": 1}, 99, guarantee={"cpu": own}) for name, own in (("A", 6), ("B", 2))]
    assert counts(simulate(Scenario({"cpu": 12}, tuple(users)), "kueue")) == {"A": 8, "B": 4}
    groups = (("a", "x"), ("b", "x"), ("c", ""))
    users = [for_ever(name, {"cpu": 1}, 99, group=group) for name, group in groups]
    assert counts(simulate(Scenario({"cpu": 12}, tuple(users)), "kueue")) == {"a": 3, "b": 3, "c": 6}
    weighted = Scenario({"cpu": 12}, tuple(users), groups={"x": 2})
    assert counts(simulate(weighted, "kueue")) == {"a": 4, "b": 4, "c": 4}


@pytest.mark.parametrize("name", ["mesos-weights-1-2", "mesos-weights-1-2-3"])
def test_mesos_in_the_simulator_shares_agents_by_weight(name):
    given, expect = VECTORS[name]["given"], VECTORS[name]["expect"]
    machines = tuple(Machine(f"m{k}", row) for k, row in enumerate(given["servers"]))
    users = tuple(for_ever(role, given["servers"][0], 9, weight=row["weight"]) for role, row in given["users"].items())
    assert counts(simulate(Scenario(machines, users), "mesos")) == expect["agents"]


@pytest.mark.parametrize(("name", "role"), [("g", "g"), ("g/x", "g"), ("z/y", "z")])
def test_mesos_takes_nobody_into_a_role_by_her_name(name, role):
    users = (for_ever("A", {"cpu": 1}, 4, group="g"), for_ever("z", {"cpu": 1}, 4), for_ever(name, {"cpu": 1}, 4))
    with pytest.raises(PolicyError, match=f"by its name user '{name}' is in role '{role}': rename it"):
        simulate(Scenario({"cpu": 8}, users), "mesos", until=9)


# Arrivals and credits


def test_dynamic_drf_keeps_room_whatever_kinds_of_tasks_users_have():
    """Of what the first kind does not need the part says nothing."""
    late = User("C", Job(Stage({"mem": 1}, 9, 50.0), arrival=10.0))
    first = User("A", (Job(Stage({"cpu": 1}, 1, 50.0)), Job(Stage({"mem": 1}, 9, 50.0))))
    scenario = Scenario({"cpu": 10, "mem": 10}, (first, for_ever("B", {"mem": 1}, 9), late))
    before, after = (simulate(scenario, "dynamic", until=until, checked=True) for until in (9, 11))
    assert sum(counts(before).values()) == 1 + 6, "two of three are there"
    assert counts(after)["C"] == 3


def test_dynamic_drf_in_the_simulator_follows_the_published_example():
    given, expect = (VECTORS["dynamic-drf"][key] for key in ("given", "expect"))
    names, scale = ("r1", "r2", "r3"), 36
    users = tuple(
        User(f"u{i}", Job(Stage(dict(zip(names, row, strict=True)), 99), arrival=float(i)))
        for i, row in enumerate(given["demands"])
    )
    scenario = Scenario(dict.fromkeys(names, scale), users)
    for step, shares in enumerate(expect["shares"]):
        run = simulate(scenario, "dynamic", until=step + 0.5)
        assert run.running.tolist()[: step + 1] == [scale * exact(share) for share in shares]


def test_karma_in_the_simulator_follows_the_published_test():
    given, expect = (VECTORS["karma-test-inflation"][key] for key in ("given", "expect"))
    users = tuple(
        User(
            name, tuple(Job(Stage({"slice": 1}, d, 60.0, lasts=60.0), arrival=60.0 * t) for t, d in enumerate(row) if d)
        )
        for name, row in given["demands"].items()
    )
    rule = KarmaRule(
        "slice",
        public=given["public"] / given["slices"],
        credits=given["credits"],
        inflation=given["inflation"],
    )
    for t in range(5):
        run = simulate(Scenario({"slice": given["slices"]}, users), rule, until=60.0 * t + 30, checked=True)
        assert counts(run) == {name: row[t] for name, row in expect["allocations"].items()}


def test_karma_takes_back_what_was_borrowed():
    users = (for_ever("A", {"cpu": 1}, 99), User("B", Job(Stage({"cpu": 1}, 99), arrival=30.0)))
    scenario = Scenario({"cpu": 8}, users)
    assert counts(simulate(scenario, "karma:cpu", until=59)) == {"A": 8, "B": 0}
    later = simulate(scenario, "karma:cpu", until=61, checked=True)
    assert later.revoked and counts(later)["B"] >= 4


@pytest.mark.parametrize("tasks", [8, 9])
def test_karma_divides_though_nobody_waits(tasks):
    """Who comes between two divisions waits, and what was borrowed until then is paid for."""
    users = (for_ever("A", {"cpu": 1}, tasks), User("B", Job(Stage({"cpu": 1}, 4, 9000.0), arrival=500.0)))
    scenario, rule = Scenario({"cpu": 8}, users), KarmaRule("cpu")
    assert counts(simulate(scenario, rule, until=539))["B"] == 0
    assert counts(simulate(scenario, rule, until=541, checked=True))["B"] == 4


def test_karma_counts_the_divisions_at_which_nobody_is_there():
    one = User("A", Job(Stage({"cpu": 1}, 1, 1.0), arrival=650.0))
    rule = KarmaRule("cpu", credits=0, inflation=2)
    run = simulate(Scenario({"cpu": 2}, (one,)), rule, checked=True)
    assert run.seconds == 661.0, "it waits until 660 s"
    assert rule._state.credits == {"0": 24}, "two at each of 0, 60, ... 660"


def test_karma_lends_what_does_not_divide_into_equal_parts():
    users = (for_ever("A", {"cpu": 1}, 99), for_ever("B", {"cpu": 1}, 99))
    run = simulate(Scenario({"cpu": 9}, users), "karma:cpu", until=30, checked=True)
    assert sum(counts(run).values()) == 9


def test_a_rule_that_moves_tasks_without_end_is_asked_for_an_end():
    users = (for_ever("A", {"cpu": 1}, 99), for_ever("B", {"cpu": 1}, 99))
    scenario = Scenario({"cpu": 11}, users)
    with pytest.raises(InstanceError, match=r"karma:cpu tasks that never end .* say until when"):
        simulate(scenario, "karma:cpu")
    assert simulate(scenario, "karma:cpu", until=90_000).seconds == 90_000


def test_over_no_time_the_mean_share_is_what_is_held():
    run = simulate(Scenario({"cpu": 4}, (for_ever("A", {"cpu": 1}, 9), for_ever("B", {"cpu": 1}, 9))), "drf")
    assert run.seconds == 0
    assert run.mean_shares.tolist() == [[0.5], [0.5]]
    assert run.utilization.tolist() == [1.0]


def test_every_rule_with_an_argument_has_an_example_that_is_one():
    for row in RULES:
        assert row.takes == bool(row.example)
        if row.takes:
            assert rule_named(row.example).name.partition(":")[0] == row.stem
            with pytest.raises(PolicyError, match=f"write for example '{row.example}'"):
                rule_named(row.stem)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("karma:disk", "divides 'disk', but the cluster has cpu"),
        ("yarn:hadoop-4", "did you mean 'hadoop-3'"),
        ("hierarchy:drf", "known: sum, scaled, hdrf"),
        ("yarn", "needs its argument"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(rule, words):
    with pytest.raises(PolicyError, match=words):
        simulate(Scenario({"cpu": 1}, (for_ever("A", {"cpu": 1}, 1),)), rule)


@pytest.mark.parametrize("rule", ["hierarchy:hdrf", "yarn:intended", "mesos"])
def test_a_group_of_weight_0_is_refused_where_shares_are_divided_by_it(rule):
    scenario = Scenario({"cpu": 4}, (for_ever("A", {"cpu": 1}, 9, group="g"),), groups={"g": 0})
    with pytest.raises(PolicyError, match="'g' is 0: make it positive"):
        simulate(scenario, rule)
    assert counts(simulate(scenario, "kueue")) == {"A": 4}
    with pytest.raises(InstanceError, match="group weight of 'g' is -1"):
        Scenario({"cpu": 4}, scenario.users, groups={"g": -1})


def test_a_task_of_a_closed_stage_that_was_revoked_asks_for_nothing():
    # At 3 A's stage without end is over: what is taken back at 6 waits no more.
    class Asked(Fifo):
        def dispatch(self, cluster):
            requests = Requests(cluster)
            requests.renew(cluster, [0])
            asked[cluster.now] = requests.columns
            super().dispatch(cluster)

    asked = {}
    user = User("A", Job(Stage({"cpu": 1, "gpu": 1}, None, 90.0, lasts=3.0)))
    scenario = Scenario((Machine("m", {"cpu": 1, "gpu": 9}, 4),), (user,), (Outage("m", 6.0, 1),), until=8)
    simulate(scenario, Asked(), checked=True)
    assert asked == {0: [[4], [36]], 3: [[4], [4]], 6: [[3], [3]]}


def test_kai_calls_over_utilized_who_holds_more_than_its_share_of_everything():
    early, late = Job(Stage({"cpu": 1}, 12, 100)), Job(Stage({"cpu": 1}, 8, 100), arrival=2)
    a = User("A", (early, late), tier=1)
    b = User("B", Job(Stage({"cpu": 1, "gpu": 1}, 16, 100), arrival=2), guarantee={"cpu": 10})
    # A holds 12 of a share of 10 cpu, and of gpu nothing of nothing: it is not over, and its tier decides.
    assert counts(simulate(Scenario({"cpu": 20, "gpu": 20}, (a, b)), "kai", until=10)) == {"A": 20, "B": 0}


def test_kai_counts_what_has_no_share_a_thousandfold():
    assert kai._dominant([3, 1], [6, 0], [1, 1]) == (1000, 1)
    assert kai._dominant([3, 1], [6, 0], [1, 4000]) == (3, 6)


def test_what_was_warned_runs_on_where_stopping_it_helps_nobody_any_more():
    """By the time the grace is over who claimed has three of four machines, and the other holds what it is promised."""
    a = Job((Stage({"cpu": 1}, 3, 5.0), Stage({"cpu": 1}, 1, 100.0)))
    b = User("B", Job(Stage({"cpu": 1}, 10, 100.0), arrival=1.0))
    run = simulate(Scenario({"cpu": 4}, (User("A", a), b)), preemption=Preemption(10), checked=True)
    assert run.revoked == 0
    c = User("C", Job(Stage({"cpu": 1}, 1, 100.0), arrival=11.0))
    promised = Scenario({"cpu": 4}, (c, User("A", a, guarantee={"cpu": 1}), b))
    run = simulate(promised, preemption=Preemption(10), until=20, every=0, checked=True)
    assert run.samples.running[run.samples.times >= 5][:, 1].tolist() == [1] * int((run.samples.times >= 5).sum())


def test_dynamic_waits_for_what_a_user_needs():
    def job(arrival):
        return Job(Stage({"cpu": 1}, 2, 10.0), arrival=arrival)

    outage = Outage("m", 5, lasts=5)
    run = simulate(Scenario((Machine("m", {"cpu": 4}),), (User("A", job(0)), User("B", job(7))), (outage,)), "dynamic")
    assert run.jobs["finished"].tolist() == [20, 20]


def test_ceei_takes_equal_parts_for_equal():
    machines = (Machine("m0", {"cpu": 6}), Machine("m1", {"cpu": 4}))
    users = (User("A", Job(Stage({"cpu": 2}, 2, 5.0))), User("B", Job(Stage({"cpu": 3}, 4, 5.0))))
    assert simulate(Scenario(machines, users), "ceei").jobs["finished"].tolist() == [5, 10]


def test_karma_refuses_slices_too_small_to_be_lent_one_by_one():
    users = tuple(User(name, Job(Stage({"cpu": amount}, 4, 5))) for name, amount in (("A", 1), ("B", "0.3333333333")))
    with pytest.raises(PolicyError, match=r"divides 'cpu' into 4e\+10 slices"):
        simulate(Scenario({"cpu": 4}, users), "karma:cpu")
