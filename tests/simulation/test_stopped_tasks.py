"""Tasks that are stopped, by revocation or an outage: which ones, how many, and where they wait again."""

import numpy as np
import pytest

from drfopt import Machine, simulate
from drfopt.simulation import Job, Outage, Preemption, Scenario, Stage, User

LATE = User("B", Job(Stage({"cpu": 2}, 2, 20), arrival=10))


@pytest.mark.parametrize("moments", [(0,), (0, 1)], ids=["started together", "started at two moments"])
def test_a_task_that_is_larger_than_those_it_displaces_gets_room(moments):
    a = User("A", tuple(Job(Stage({"cpu": 1}, 8 // len(moments), 1000), arrival=at) for at in moments))
    run = simulate(Scenario({"cpu": 8}, (a, LATE)), preemption=Preemption(5), until=100, checked=True)
    assert run.revoked == 4
    assert np.nanmax(run.jobs["finished"]) == 35


def test_a_task_that_started_a_moment_ago_can_be_warned():
    jobs = Job(Stage({"cpu": 1}, 6, 100)), Job(Stage({"cpu": 1}, 4, 100, machines=("m0",)))
    machines = tuple(Machine(name, {"cpu": 4}) for name in ("m0", "m1"))
    scenario = Scenario(machines, tuple(map(User, "AB", jobs)))
    run = simulate(scenario, preemption=Preemption(2), every=0, checked=True)
    # B, who may use one machine only, gets two tasks more at once, not when the first tasks end.
    assert run.revoked == 2
    assert run.jobs["finished"].tolist() == [102, 200]
    assert run.samples.running[run.samples.times == 2].tolist() == [[4, 4]]


def test_the_task_that_came_first_is_claimed_room_for_first():
    # An outage sends B's first task back to wait, behind the kind of its second.
    machines = Machine("m0", {"cpu": 3}), Machine("m1", {"cpu": 6})
    b = User("B", (Job(Stage({"cpu": 3}, 1, 100)), Job(Stage({"cpu": 2}, 1, 100), arrival=1)))
    a = User("A", Job(Stage({"cpu": 1}, 6, 100)))
    scenario = Scenario(machines, (b, a), (Outage("m0", 5),))
    run = simulate(scenario, preemption=Preemption(1), until=10, every=0, checked=True)
    assert run.samples.used[run.samples.times >= 6, 0].tolist() == [[3.0]] * int((run.samples.times >= 6).sum())


def test_nothing_is_stopped_that_frees_nothing_of_what_lacks():
    a = User("A", Job(Stage({"cpu": 1}, 8, 1000)))
    m = User("M", Job(Stage({"memory": 1}, 8, 1000), arrival=1))
    b = User("B", Job(Stage({"cpu": 1}, 2, 20), arrival=10))
    scenario = Scenario({"cpu": 8, "memory": 8}, (a, m, b))
    assert simulate(scenario, preemption=Preemption(5), until=100, checked=True).revoked == 2


def test_newer_tasks_run_on_where_an_older_one_makes_the_room():
    old = User("old", Job((Stage({"cpu": 4}, 2, 1000),)))
    new = User("new", Job(Stage({"cpu": 1}, 4, 1000), arrival=1))
    late = User("late", Job(Stage({"cpu": 4}, 1, 20), arrival=10))
    run = simulate(Scenario({"cpu": 12}, (old, new, late)), preemption=Preemption(5), until=100, checked=True)
    assert run.revoked == 1
    assert run.running.tolist()[1] == 4


def test_two_claims_do_not_count_the_same_free_room():
    a = User("A", Job(Stage({"cpu": 1}, 8, 1000)))
    scenario = Scenario({"cpu": 9}, (a, LATE))
    run = simulate(scenario, preemption=Preemption(5), until=100, checked=True)
    assert run.revoked == 3
    assert np.nanmax(run.jobs["finished"]) == 35


@pytest.mark.parametrize("rule", ["drf", "fifo"])
def test_stopped_tasks_go_back_to_where_they_waited(rule):
    jobs = tuple(Job(Stage({"cpu": 1}, 1, 10), arrival=at) for at in (0, 1))
    outages = (Outage("m", 5), Outage("m", 5, lasts=3))
    scenario = Scenario((Machine("m", {"cpu": 1}, 2),), (User("A", jobs),), outages)
    assert simulate(scenario, rule).jobs["finished"].tolist() == [18, 28]


def test_shares_are_of_the_machines_that_are_up():
    outages = (Outage("m", 5), Outage("m", 5, lasts=3))
    scenario = Scenario((Machine("m", {"cpu": 1}, 2),), (User("A", Job(Stage({"cpu": 1}, 4, 10))),), outages)
    run = simulate(scenario, every=0)
    # Two machines for 5 seconds, none for 3, and then one: full whenever there is one.
    assert run.seconds == 48
    assert run.mean_shares.tolist() == [[1.0]] and run.utilization.tolist() == [1.0]


@pytest.mark.parametrize("rule", ["fifo", "dynamic"])
def test_nothing_is_revoked_where_nobody_has_a_share_to_be_short_of(rule):
    jobs = tuple(Job(Stage({"cpu": 1}, 4, 1000), arrival=at) for at in (0, 1))
    run = simulate(Scenario({"cpu": 8}, (User("A", jobs), LATE)), rule, preemption=Preemption(5), until=100)
    assert run.revoked == 0
