"""Whole tasks of which a search was cut short: comparisons say no more than the clusters, and are told as they are."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from drfopt import Group, Instance, Machine, Organisation, TaskType, rebalance, size, solve, sweep, what_if
from drfopt.base.deadline import NEVER
from drfopt.base.errors import TimeLimitError
from drfopt.engines.problem import Answer
from drfopt.engines.registry import engine_for
from drfopt.engines.whole.carrying import Running
from drfopt.engines.whole.milp import packed
from drfopt.planning.changes import changed
from drfopt.solving import allocating, neighbours
from drfopt.solving.neighbours import as_good

POLICIES = ["drf", "ceei", "utilitarian", "alpha:2"]


def _pool() -> Instance:
    return Instance({"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}, {"cpu": 9, "memory": 18})


def _machines() -> Instance:
    machines = [Machine("small", {"cpu": 4, "gpu": 0}, 2), Machine("large", {"cpu": 8, "gpu": 4}, 2)]
    demands = {"A": {"cpu": 1, "gpu": 1}, "B": {"cpu": 2}, "C": {"cpu": 3, "gpu": 1}}
    return Instance(demands, machines=machines, max_tasks={"A": 3})


def _devices() -> Instance:
    machine = Machine("node", {"cpu": 8, "gpu": 2}, 2, devices={"gpu": 2})
    return Instance({"A": {"cpu": 1, "gpu": "3/5"}, "B": {"cpu": 2, "gpu": "2/5"}}, machines=[machine])


def _types() -> Instance:
    kinds = [TaskType({"cpu": 1}, 4), TaskType({"cpu": 2}, 8)]
    return Instance({"A": kinds, "B": {"cpu": 3}}, machines=[Machine("node", {"cpu": 7}, 2)])


def _promised() -> Instance:
    machine = Machine("node", {"cpu": 6}, 2)
    rules = Organisation(guarantees={"B": {"cpu": 8}}, ceilings={"A": {"cpu": 5}})
    return Instance({"A": {"cpu": 1}, "B": {"cpu": 2}}, machines=[machine], organisation=rules)


def _grouped() -> Instance:
    rules = Organisation(paths={"A": "g", "B": "g", "C": "h"}, groups=[Group("g"), Group("h", ceiling={"cpu": 9})])
    demands = {"A": {"cpu": 1}, "B": {"cpu": 2}, "C": {"cpu": 3}}
    return Instance(demands, machines=[Machine("node", {"cpu": 7}, 2)], organisation=rules)


CLUSTERS = {
    "pool": (_pool, "3*cpu"),
    "machines": (_machines, "1*large"),
    "devices": (_devices, "1*node"),
    "types": (_types, "1*node"),
    "promised": (_promised, "1*node"),
    "grouped": (_grouped, "1*node"),
}


@pytest.fixture
def stopped(monkeypatch):
    """Let searches on clusters of which a function says so end at once, with nothing, which is not filled up."""

    def stop(ends, solve=_nothing):
        def solved_by(name, problem, exact=False):
            engine = engine_for(name, problem, exact)
            if not problem.integer or not ends(problem.instance):
                return engine
            return SimpleNamespace(name="stopped", exact=False, divides=False, solve=solve)

        monkeypatch.setattr(allocating, "engine_for", solved_by)
        monkeypatch.setattr(allocating, "BETTER", 0)
        monkeypatch.setattr(allocating, "FILLED", ())

    return stop


def _nothing(problem):
    if problem.instance.machines is None:
        return Answer(np.zeros(problem.n, dtype=np.int64), status="time_limit")
    return packed(problem, [0] * problem.n, [], "time_limit")


def _all_for_b(problem):
    if problem.instance.machines is None:
        return Answer(np.array([0, 4]), status="time_limit")
    return packed(problem, [0, 4], [(0, 2, {1: 2})], "time_limit")


def _no_less(one, other) -> bool:
    return bool((one.tasks >= other.tasks).all())


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_more_machines_take_nobody_its_tasks(cluster, policy, stopped):
    make, more = CLUSTERS[cluster]
    instance = make()
    stopped(lambda one: one != instance)
    found = what_if(instance, [f"add {more}"], policy, integer=True)
    assert found.before.status == "optimal" and found.losers == () and _no_less(found.after, found.before)
    assert found.after.engine == "carried after stopped" and found.after.certificate.violation == 0
    # There is room for more, which is filled.
    assert found.after.tasks.sum() > found.before.tasks.sum()


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_what_runs_with_fewer_machines_runs_with_more(cluster, policy, stopped):
    make, more = CLUSTERS[cluster]
    large = changed(make(), [f"add {more}"])
    stopped(lambda one: one == large)
    found = what_if(large, [f"remove {more}"], policy, integer=True)
    assert found.after.status == "optimal" and found.winners == () and _no_less(found.before, found.after)


def test_what_is_not_proven_is_said(stopped, monkeypatch):
    instance = _machines()
    stopped(lambda one: True)
    monkeypatch.setattr(neighbours, "carried", lambda problem, running: None)
    found = what_if(instance, ["add 1*large"], integer=True)
    assert not found.finished
    assert "changes may be those of the search and not of the cluster, before, after; before: " in str(found)
    assert {found.to_dict()[when]["status"] for when in ("before", "after")} == {"time_limit"}
    stopped(lambda one: False)
    assert "of the search" not in str(what_if(instance, ["add 1*large"], integer=True))


def test_values_of_a_sweep_help_each_other(stopped):
    instance = _machines()
    middle = changed(instance, ["set-count large=3"])
    stopped(lambda one: one != middle)
    found = sweep(instance, "large=1..5/1", jobs=1, integer=True)
    each = found.allocations
    assert each[2].engine != "carried after stopped"
    assert all(_no_less(more, fewer) for fewer, more in pairwise(each[2:]))
    # Who has fewer machines keeps what still runs there.
    assert all(one.tasks.any() and one.certificate.violation == 0 for one in each)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_less_room_and_who_leaves(cluster):
    make, more = CLUSTERS[cluster]
    large = solve(changed(make(), [f"add {more}"]), integer=True)
    for changes in ([], ["remove-user A"], ["add-user N{cpu=1}"], ["set-limit B=1"], ["set-demand B.cpu=9/2"]):
        if changes == ["set-demand B.cpu=9/2"] and cluster == "promised":
            continue
        small = changed(make(), changes)
        stuck = _stopped_on(small)
        found = as_good(stuck, Running.of(large), NEVER)
        assert found.certificate.violation == 0 and found.instance is small
        # Tasks that became larger where they run are not carried.
        assert found.tasks.sum() > 0 or changes == ["set-demand B.cpu=9/2"]


def _stopped_on(instance):
    problem = allocating.Problem(instance, allocating.policy_named("drf"), True)
    return allocating.allocated(problem, allocating.settled(problem, _nothing(problem)), 0.0)


def test_better_is_kept():
    instance = _pool()
    best, stuck = solve(instance, integer=True), _stopped_on(instance)
    assert as_good(best, Running.of(stuck), NEVER) is best


def test_a_larger_purchase_reaches_what_a_smaller_one_does(stopped):
    instance = _machines()
    asked = {"instance": instance, "targets": ["B>=9", "C>=4"], "costs": {"large": 3, "small": 2}, "integer": True}
    seen = []
    stopped(lambda one: bool(seen) or seen.append(one))
    found = size(**asked)
    # Only what the first purchase runs was searched for; with nothing else known no purchase would do.
    assert found.allocation.engine == "carried after stopped" and found.allocation.certificate.violation == 0
    assert found.allocation["B"].tasks >= 9 and found.allocation["C"].tasks >= 4


def test_a_purchase_is_not_called_the_cheapest_where_a_cheaper_one_was_not_decided(stopped, monkeypatch):
    """Of six purchases those of two and three are divided by nobody; the proven one of four is the best known."""
    monkeypatch.setattr(neighbours, "carried", lambda problem, running: None)
    instance = Instance({"A": {"cpu": 1}}, machines=[Machine("m", {"cpu": 1})])
    asked = {"instance": instance, "targets": ["A>=3"], "costs": {"m": 1}, "most": {"m": 5}, "integer": True}
    sure = size(**asked)
    assert (sure.status, sure.cost, sure.bound, sure.undecided) == ("optimal", 2, 2, 0)
    stopped(lambda one: one.counts[0] in (3, 4))
    found = size(**asked)
    assert (found.status, found.cost, found.bound, found.undecided) == ("time_limit", 4, 2, 2)
    assert "none costs less than 2, so at most 50 % of it could be saved" in str(found)
    assert "2 cheaper ones were judged by whole tasks that are not proven the best, and may meet the targets" in str(
        found
    )


def test_a_purchase_that_is_met_by_tasks_that_are_not_proven_says_so(stopped, monkeypatch):
    monkeypatch.setattr(neighbours, "carried", lambda problem, running: None)
    instance = Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, machines=[Machine("m", {"cpu": 2}, 2)])
    stopped(lambda one: True, _all_for_b)
    found = size(instance, ["B>=4"], {"m": 1}, integer=True, most={"m": 3})
    assert found.allocation["B"].tasks == 4 and not found.allocation.finished
    assert "what meets the targets is not proven the best, and the best may miss one: " in str(found)


def test_nothing_meets_the_targets_is_not_said_where_it_was_not_decided(stopped, monkeypatch):
    monkeypatch.setattr(neighbours, "carried", lambda problem, running: None)
    instance = Instance({"A": {"cpu": 1}}, machines=[Machine("m", {"cpu": 1})])
    stopped(lambda one: one.counts[0] > 1)
    with pytest.raises(TimeLimitError, match="and of 1 purchase that missed them the whole tasks are not proven"):
        size(instance, ["A>=3"], {"m": 1}, integer=True, most={"m": 2})


@pytest.mark.parametrize(
    "places",
    [
        {"tasks": {"A": 2, "B": 2}},
        {"placement": {"A": {"m": 2}, "B": {"m": 2}}},
        {"machines": {"one": {"class": "m", "tasks": {"A": 2}}, "two": {"class": "m", "tasks": {"B": 2}}}},
    ],
    ids=["pool", "classes", "machines"],
)
@pytest.mark.parametrize("policy", ["drf", "ceei"])
def test_what_runs_today_is_not_evicted_for_less(places, policy, stopped):
    demands = {"A": {"cpu": 1}, "B": {"cpu": 1}}
    there = {"capacity": {"cpu": 4}} if "tasks" in places else {"machines": [Machine("m", {"cpu": 2}, 2)]}
    instance = Instance(demands, **there)
    # All for one is worse than what runs, and is not reached from it without evictions.
    stopped(lambda one: True, _all_for_b)
    plan = rebalance(instance, places, policy=policy)
    assert plan.steps == () and plan.levels == plan.before and plan.fairest
