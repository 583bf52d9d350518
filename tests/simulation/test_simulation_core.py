"""The event core: nothing is lost, nothing runs twice, the same seed gives the same bytes."""

import math
from dataclasses import replace

import naive_rules
import numpy as np
import pytest
from small_scenarios import small_scenario

from drfopt import Instance, InstanceError, Machine, PolicyError, schedule
from drfopt.base.errors import CertificateError
from drfopt.model.organisation import Organisation
from drfopt.model.users import TaskType
from drfopt.simulation import Draw, Job, Outage, Rule, Scenario, Stage, User, simulate
from drfopt.simulation.rules.table import RULES
from drfopt.simulation.rules.task_by_task import AssetFairness, Drf, Fifo, SequentialMinMax
from drfopt.simulation.scenario_files import loads

OWN = ("drf", "asset", "ceei", "sequential-min-max", "slots:3", "single:cpu", "fifo")


def same(one, other):
    """Whether two runs are the same, byte for byte."""
    columns = all(one.jobs[name].tobytes() == other.jobs[name].tobytes() for name in one.jobs)
    states = all(
        getattr(one.samples, name).tobytes() == getattr(other.samples, name).tobytes()
        for name in ("times", "used", "running", "waiting", "wanted", "capacity")
    )
    return columns and states and one.work.tobytes() == other.work.tobytes()


def checked_runs(seeds, rules=OWN):
    for seed in seeds:
        scenario = small_scenario(seed)
        for rule in rules:
            try:
                simulate(scenario, rule, every=1.0, checked=True)
            except PolicyError as error:
                assert "cannot count tasks" in str(error)


def test_invariants_hold_on_random_scenarios():
    checked_runs(range(80))


@pytest.mark.slow
def test_invariants_hold_on_ten_thousand_random_scenarios(some):
    for number in range(some(10_000)):
        checked_runs([1000 + number], [OWN[number % len(OWN)]])


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("rule", "measure"),
    [
        (Drf, naive_rules.drf),
        (AssetFairness, naive_rules.asset),
        (SequentialMinMax, naive_rules.ahead),
        (Fifo, naive_rules.fifo),
    ],
)
@pytest.mark.parametrize("when_full", ["skip", "stop"])
def test_who_looks_at_everything_decides_the_same(rule, measure, when_full):
    for seed in range(120):
        scenario = small_scenario(seed)
        quick = simulate(scenario, rule(when_full=when_full), every=0)
        slow = simulate(scenario, naive_rules.Naive(measure, when_full), every=0, checked=True)
        assert same(quick, slow), seed


@pytest.mark.parametrize(
    "name", ["nsdi2011", "nsdi2011-weighted", "nsdi2011-limit", "sec71-phase1", "sec72", "thm7-skip"]
)
@pytest.mark.parametrize("rule", ["drf", "asset"])
def test_tasks_that_never_end_are_a_schedule(name, rule):
    instance = Instance.library(name)
    run = simulate(Scenario.of(instance), rule, checked=True)
    assert run.running.tolist() == schedule(instance, rule, trace=False).tasks.tolist()


def test_random_pools_with_tasks_that_never_end_are_schedules():
    random = np.random.default_rng(5)
    for _ in range(60):
        n, m = random.integers(1, 6), random.integers(1, 4)
        demands = random.choice([0, 0, 1, 1, 2, 3], (n, m))
        demands[~demands.any(axis=1), 0] = 1
        limits = random.choice([0, 2, 5, np.inf], n)
        instance = Instance(
            demands, random.choice([3, 6, 12, 25], m), weights=random.choice([1, 1, 2, 0.5], n), max_tasks=limits
        )
        for when_full in ("skip", "stop"):
            run = simulate(Scenario.of(instance), Drf(when_full))
            assert run.running.tolist() == schedule(instance, when_full=when_full, trace=False).tasks.tolist()


def test_task_types_and_organisations_become_scenarios():
    types = [TaskType({"cpu": 1}, 1, name="driver"), TaskType({"cpu": 2}, 3, machines=["small"])]
    machines = [Machine("small", {"cpu": 4}, 2), Machine("large", {"cpu": 8})]
    instance = Instance({"A": types, "B": {"cpu": 3}}, machines=machines)
    scenario = Scenario.of(instance)
    assert [job.stages[0].tasks for job in scenario.users[0].jobs] == [1, 3]
    assert simulate(scenario, checked=True).running.tolist() == schedule(instance, trace=False).tasks.tolist()
    promised = Instance({"A": {"cpu": 1}}, {"cpu": 4}, organisation=Organisation(guarantees={"A": {"cpu": 2}}))
    assert Scenario.of(promised).users[0].guarantee == {"cpu": 2}
    assert simulate(Scenario.of(promised)).sheet().notes[-1] == "drf does not look at guarantees"
    forbidden = Instance({"A": {"cpu": 1}}, {"cpu": 4}, organisation=Organisation(ceilings={"A": {"cpu": 2}}))
    with pytest.raises(InstanceError, match="no ceilings"):
        Scenario.of(forbidden)


def test_devices_are_refused_with_what_to_write():
    rack = Machine("rack", {"cpu": 8}, devices={"gpu": 4})
    with pytest.raises(InstanceError, match="a scenario has no devices: give what they have as capacity"):
        Scenario.of(Instance({"A": {"cpu": 1, "gpu": 1}}, machines=[rack]))
    text = '[[machines]]\nname = "rack"\ncapacity = { cpu = 8 }\ndevices = { gpu = 4 }\n'
    with pytest.raises(
        InstanceError, match=r"unknown key 'devices'.*: a scenario has no devices, write all that a machine"
    ):
        loads(text + '[[users]]\nname = "A"\njobs = []\n', "toml")


@pytest.mark.parametrize("rule", OWN)
def test_the_same_seed_gives_the_same_bytes(rule):
    scenario = small_scenario(3)
    assert same(simulate(scenario, rule, seed=7), simulate(scenario, rule, seed=7))


def test_other_seeds_and_replications_give_other_times():
    job = Job(Stage({"cpu": 1}, tasks=5, duration=Draw("exponential", mean=1)))
    scenario = Scenario({"cpu": 2}, (User("A", job),))
    runs = [simulate(scenario, seed=seed, replication=r) for seed in (0, 1) for r in (0, 1)]
    assert len({run.seconds for run in runs}) == 4


def test_rules_are_compared_on_common_random_numbers():
    draw = Draw("lognormal", median=3, sigma=1)
    users = tuple(
        User(n, Job((Stage({"cpu": c}, 6, draw), Stage({"cpu": 1}, 6, draw)), count=3)) for n, c in (("A", 1), ("B", 2))
    )
    machines = (Machine("m", {"cpu": 4}, 2),)
    runs = [simulate(Scenario(machines, users), rule) for rule in ("drf", "fifo", "asset", "sequential-min-max")]
    # What a task takes does not depend on when it starts: the work done in all is the same.
    assert all(np.allclose(run.work, runs[0].work, rtol=1e-12) for run in runs)
    assert len({run.seconds for run in runs}) > 1


def test_the_example(two_users):
    run = simulate(two_users, every=0, checked=True)
    assert run.jobs["finished"].tolist() == [40, 60]
    assert run.samples.times.tolist() == [0, 10, 20, 30, 40, 50, 60]
    assert run.samples.running[0].tolist() == [3, 2]
    assert run.work.tolist() == [[120, 480], [360, 120]]


def test_a_machine_that_is_lost_gives_its_tasks_back():
    stage = Stage({"cpu": 1}, tasks=4, duration=10)
    scenario = Scenario((Machine("m", {"cpu": 1}, 2),), (User("A", Job(stage)),), (Outage("m", 5, 1, lasts=20),))
    run = simulate(scenario, checked=True, every=0)
    # One machine from 5 to 25: the task that was lost at 5 begins anew at 10.
    assert run.revoked == 1
    assert run.jobs["finished"].tolist() == [35]
    assert run.work.tolist() == [[45]]
    assert [row.tolist() for row in run.samples.capacity[run.samples.times == 10]] == [[1]]


def test_who_leaves_takes_everything_along():
    users = (
        User("A", Job(Stage({"cpu": 1}, tasks=9, duration=10)), leaves=15),
        User("B", Job(Stage({"cpu": 1}, tasks=2, duration=10), arrival=12)),
    )
    run = simulate(Scenario({"cpu": 1}, users), checked=True)
    assert run.stopped == 1
    assert np.isnan(run.jobs["finished"]).tolist() == [True, False]
    assert run.jobs["finished"][1] == 35


def test_stages_follow_one_another_and_may_end_by_the_clock():
    first = Stage({"cpu": 1}, tasks=None, duration=4, lasts=10)
    second = Stage({"cpu": 2}, tasks=1, duration=5)
    run = simulate(Scenario({"cpu": 2}, (User("A", Job((first, second))),)), checked=True)
    # Tasks of the first stage that run at 10 run on to 12; the second stage needs the whole machine.
    assert run.jobs["closed"].tolist() == [17]
    assert run.ended == 7


@pytest.mark.parametrize("tasks", [1, 2])
def test_a_stage_whose_time_is_over_gives_way_whether_tasks_wait_or_not(tasks):
    first, second = Stage({"cpu": 1}, tasks, 10, lasts=5), Stage({"disk": 1}, 1, 1)
    run = simulate(Scenario({"cpu": 1, "disk": 1}, (User("A", Job((first, second))),)), checked=True, every=0)
    assert run.samples.times[run.samples.used[:, 0, 1] > 0].tolist() == [5]
    assert (run.ended, run.seconds) == (2, 10)


def test_a_task_that_is_lost_after_its_stages_time_is_stopped_for_good():
    job = Job(Stage({"cpu": 1}, 2, 10, lasts=5))
    lost = Outage("m", 7, 1, lasts=1)
    run = simulate(Scenario((Machine("m", {"cpu": 2}),), (User("A", job),), (lost,)), checked=True)
    assert (run.ended, run.revoked, run.stopped) == (0, 0, 2)
    assert run.jobs["closed"].tolist() == [7]


def test_jobs_come_at_intervals_or_when_the_one_before_is_done():
    def stage(seconds):
        return Stage({"cpu": 1}, tasks=1, duration=seconds)

    at_once = simulate(Scenario({"cpu": 1}, (User("A", Job(stage(3), count=3)),)))
    assert at_once.jobs["arrival"].tolist() == [0, 3, 6]
    spaced = simulate(Scenario({"cpu": 1}, (User("A", Job(stage(3), count=3, every=2, arrival=1)),)))
    assert spaced.jobs["arrival"].tolist() == [1, 3, 5]
    assert spaced.jobs["finished"].tolist() == [4, 7, 10]


def test_the_end_may_come_before_everything_is_done(two_users):
    run = simulate(two_users, until=25)
    assert run.seconds == 25
    assert run.ended == 10
    assert np.isnan(run.jobs["finished"]).all()
    assert run.running.tolist() == [3, 2]


def test_tasks_that_fit_nowhere_are_named():
    users = (User("A", Job(Stage({"cpu": 1}, duration=1))), User("big", Job(Stage({"cpu": 3}, duration=1))))
    run = simulate(Scenario((Machine("m", {"cpu": 2}, 2),), users), checked=True)
    assert run.unplaced == ("big",)
    assert run.waiting.tolist() == [0, 1]
    assert simulate(Scenario((Machine("m", {"cpu": 2}, 2),), users), Drf("stop")).jobs_ended.tolist() == [1, 0]


def test_a_run_does_not_wait_for_jobs_of_who_has_left():
    first, late = Job(Stage({"cpu": 1}, duration=5)), Job(Stage({"cpu": 1}, duration=5), arrival=11)
    assert simulate(Scenario({"cpu": 1}, (User("A", (first, late), leaves=9),))).seconds == 9


def test_samples_hold_what_is_true_between_events(two_users):
    run = simulate(two_users, every=4)
    assert run.samples.times.tolist() == [*range(0, 60, 4), 60]
    at_the_moments = simulate(two_users, every=0).samples
    rows = np.searchsorted(at_the_moments.times, run.samples.times, side="right") - 1
    assert (run.samples.used == at_the_moments.used[rows]).all()


def test_where_little_happens_every_moment_is_a_sample(two_users):
    """A mean over the samples is then one over the time, whatever the gaps between them."""
    asked, unasked = simulate(two_users, every=0).samples, simulate(two_users).samples
    assert unasked.times.tolist() == asked.times.tolist()
    assert (unasked.used == asked.used).all()


def test_many_moments_of_a_run_with_an_end_are_thinned():
    job = Job(Stage({"cpu": 1}, tasks=1, duration=1), count=5000)
    scenario = Scenario({"cpu": 1}, (User("A", job),), until=3000)
    run, moments = simulate(scenario), simulate(scenario, every=0).samples
    assert run.samples.times.tolist() == [*range(0, 3000, 6), 3000]
    rows = np.searchsorted(moments.times, run.samples.times, side="right") - 1
    assert (run.samples.waiting == moments.waiting[rows]).all()


def test_many_moments_are_thinned():
    job = Job(Stage({"cpu": 1}, tasks=1, duration=1), count=5000)
    run = simulate(Scenario({"cpu": 1}, (User("A", job),)))
    assert 500 <= len(run.samples.times) <= 1002
    assert np.ptp(np.diff(run.samples.times)[:-1]) == 0


def test_too_many_samples_are_refused(two_users, monkeypatch):
    monkeypatch.setattr("drfopt.simulation.timeline.MOST", 10_000)
    with pytest.raises(InstanceError, match="ask for a longer interval than 1e-09 s"):
        simulate(two_users, every=1e-9)


class Overbooking(Rule):
    """Starts a task where it does not fit, or one that nobody has."""

    name = "overbooking"

    def __init__(self, times):
        self.times = times

    def dispatch(self, cluster):
        for _ in range(self.times):
            cluster.start(0, 0, 0)


def test_a_rule_that_is_wrong_is_refused():
    scenario = Scenario({"cpu": 2}, (User("A", Job(Stage({"cpu": 1}, tasks=3))),))
    with pytest.raises(PolicyError, match=r"rule overbooking .* 'A' on machine 0, on which it does not fit"):
        simulate(scenario, Overbooking(3))
    scenario = Scenario({"cpu": 2}, (User("A", Job(Stage({"cpu": 1}, tasks=1))),))
    with pytest.raises(PolicyError, match="none of that kind waits"):
        simulate(scenario, Overbooking(2))


class Cheating(Drf):
    """Books falsely, each time in another way."""

    def __init__(self, how):
        super().__init__()
        self.how = how

    def dispatch(self, cluster):
        super().dispatch(cluster)
        self.how(cluster)


@pytest.mark.parametrize(
    "how",
    [
        lambda cluster: cluster.free[0].__setitem__(0, 8),
        lambda cluster: cluster.used[0].__setitem__(0, 0),
        lambda cluster: cluster.running.__setitem__(1, 7),
        lambda cluster: cluster.waiting.__setitem__(1, 0),
        lambda cluster: setattr(next(iter(cluster.queues[0].values()))[0], "done", 1),
    ],
    ids=["room", "holdings", "running", "waiting", "a task twice"],
)
def test_false_books_are_found(two_users, how):
    with pytest.raises(CertificateError, match="the simulation of drf is wrong at 0 s"):
        simulate(two_users, Cheating(how), checked=True)


def test_a_lost_task_is_found_at_the_end(two_users):
    def lose(cluster):
        cluster.ended += cluster.now == 20

    with pytest.raises(CertificateError, match="tasks ended"):
        simulate(two_users, Cheating(lose))


def test_a_rule_that_only_wakes_itself_comes_to_an_end():
    class Sleepless(Rule):
        name = "sleepless"

        def dispatch(self, cluster):
            cluster.wake(cluster.now + 1)

    run = simulate(Scenario({"cpu": 1}, (User("A", Job(Stage({"cpu": 1}))),)), Sleepless())
    assert run.started == 0
    assert run.seconds < 2000


def test_rules_have_names_and_files():
    assert len({row.name for row in RULES}) == len(RULES)
    for wrong, told in (("dfr", "did you mean 'drf'"), ("slots", "needs its argument"), ("drf:3", "takes no argument")):
        with pytest.raises(PolicyError, match=told):
            simulate(small_scenario(1), wrong)
    with pytest.raises(PolicyError, match="'many' slots"):
        simulate(small_scenario(1), "slots:many")
    with pytest.raises(PolicyError, match="divides 'gpus', but the cluster has"):
        simulate(small_scenario(1), "single:gpus")


def test_weights_are_obeyed():
    users = [User("A", Job(Stage({"cpu": 1}, 100)), weight=2), User("B", Job(Stage({"cpu": 1}, 100)), weight=1)]
    for rule in ("drf", "asset", "slots:9", "single:cpu", "ceei"):
        assert simulate(Scenario({"cpu": 9}, users), rule).running.tolist() == [6, 3], rule
    assert replace(users[0], weight=3).weight == 3


def test_an_endless_stage_waits_for_ever():
    run = simulate(Scenario({"cpu": 1}, (User("A", Job(Stage({"cpu": 1}, None, 1, lasts=5))),)), until=3)
    assert run.samples.waiting[0].tolist() == [math.inf]


# ---- jobs that do not finish ---------------------------------------------------------------------------------------


def test_a_job_without_end_is_never_done():
    # A holds everything for ever, B runs nothing: neither has a response time, and B's `lasts` is none.
    users = tuple(User(name, Job(Stage({"cpu": 1}, None, lasts=50)), tier=tier) for name, tier in (("A", 1), ("B", 0)))
    scenario = Scenario((Machine("m", {"cpu": 11}),), users, until=100)
    run = simulate(scenario, "mesos-priority")
    assert run.running.tolist() == [11, 0]
    assert run.jobs_ended.tolist() == [0, 0]
    assert np.isnan(run.mean_responses).all()
    assert run.jobs_closed.tolist() == [0, 1]
    assert run.jobs_under_way.tolist() == [1, 0]
    assert "ended before all of their tasks were done, and have no response time: B 1" in str(run)
    assert "under way, which have no response time: A 1" in str(run)
    told = run.to_dict()["users"]
    assert [row["response"] for row in told] == [None, None]
    assert [(row["jobs"], row["jobs_closed"], row["jobs_under_way"]) for row in told] == [(0, 0, 1), (0, 1, 0)]


def test_only_a_job_all_of_whose_tasks_are_done_has_a_response_time():
    def user(name, tasks, lasts=None, leaves=math.inf, then=()):
        return User(name, Job((Stage({name: 1}, tasks, 4.0, lasts=lasts), *then)), leaves=leaves)

    users = (
        user("done", 2, lasts=20),
        user("late", 5, lasts=6),  # two of five tasks, then its time is up while the second runs
        user("goes", 5, leaves=6),
        user("endless", None, lasts=6),
        user("short", 5, lasts=6, then=(Stage({"short": 1}, 1, 4.0),)),  # the second stage is done, the first was not
        user("open", 9),
    )
    run = simulate(Scenario({user.name: 1 for user in users}, users, until=30), checked=True)
    row = {run.users[user]: k for k, user in enumerate(run.jobs["user"])}
    finished, closed, tasks = (run.jobs[name] for name in ("finished", "closed", "tasks"))
    assert {name: finished[k] for name, k in row.items() if finished[k] >= 0} == {"done": 8}
    assert {name: closed[k] for name, k in row.items() if closed[k] >= 0} == {
        "late": 8, "goes": 6, "endless": 8, "short": 12,
    }  # fmt: skip
    assert {name: int(tasks[k]) for name, k in row.items()} == {
        "done": 2, "late": 2, "goes": 1, "endless": 2, "short": 3, "open": 7,
    }  # fmt: skip
    assert run.jobs_under_way.tolist() == [0, 0, 0, 0, 0, 1]
    assert run.tasks_done.tolist() == [2, 2, 1, 2, 3, 7]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("row", RULES, ids=lambda row: row.name)
def test_under_every_rule_done_means_all_tasks_done(row):
    rule = row.example or row.name
    for seed in range(30):
        scenario = small_scenario(seed)
        try:
            run = simulate(scenario, rule)
        except (PolicyError, InstanceError):  # a task that needs nothing of what the rule divides, or of what there is
            continue
        jobs = [scenario.users[user].jobs[k] for user, k in zip(run.jobs["user"], run.jobs["job"], strict=True)]
        done = ~np.isnan(run.jobs["finished"])
        for job, tasks, ended in zip(jobs, run.jobs["tasks"], done, strict=True):
            counts = [stage.tasks for stage in job.stages]
            assert ended == (None not in counts and tasks == sum(counts)), (seed, job)
        assert not (done & ~np.isnan(run.jobs["closed"])).any()
        every = run.jobs_ended + run.jobs_closed + run.jobs_under_way
        assert every.sum() == len(jobs)
        assert run.tasks_done.sum() == run.ended


def test_the_first_job_is_first_at_every_stage():
    """Its second stage came after the other job's tasks, which are of the same kind or of the same moment."""
    stage = [Stage({"cpu": 1}, 1, 5.0), Stage({"cpu": 1}, 4, 1.0)]
    first, second = Job(tuple(stage), arrival=0.0), Job((Stage({"cpu": 1}, 30, 1.0),), arrival=2.0)
    machines = (Machine("m", {"cpu": 2}),)
    for users in ((User("A", (first, second)),), (User("A", (first,)), User("B", (second,)))):
        found = simulate(Scenario(machines, users), "fifo", checked=True)
        assert found.jobs["finished"].tolist() == [7, 21]
    mine = Job((Stage({"mem": 3}, 1, 5.0), Stage({"cpu": 3, "mem": 2}, 2, 1.0)))
    users = (User("A", (mine,)), User("B", (Job((Stage({"mem": 3}, 6, 3.0),)),)))
    found = simulate(Scenario((Machine("m", {"cpu": 8, "mem": 9}),), users), "fifo", checked=True)
    assert found.jobs["finished"].tolist() == [7, 9]


def test_guarantees_beyond_the_cluster_and_tasks_that_may_run_nowhere_are_said():
    nowhere = Job(Stage({"cpu": 1}, 2, 3, machines=()))
    users = (User("A", nowhere, guarantee={"cpu": 2}), User("B", Job(Stage({"cpu": 1}, 1, 3)), guarantee={"cpu": 3}))
    notes = simulate(Scenario({"cpu": 4}, users)).sheet().notes
    assert "unplaced (some task fits on no machine that it may use): A" in notes
    assert "guarantees are more than there is: 5 of 4 cpu" in notes
    fewer = (users[0], User("B", users[1].jobs, guarantee={"cpu": 2}))
    assert not any("guarantees are more" in note for note in simulate(Scenario({"cpu": 4}, fewer)).sheet().notes)


@pytest.mark.parametrize("every", [None, 1.0])
def test_a_job_without_end_cannot_come_again_in_the_same_moment(every):
    job = Job(Stage({"cpu": 1}, 1, 2.0), arrival=1e17, count=None, every=every)
    with pytest.raises(InstanceError, match="so soon again that floats cannot tell the moments apart"):
        simulate(Scenario({"cpu": 4}, (User("A", job),), until=1e17 + 1000))
