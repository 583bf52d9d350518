"""Rules side by side: common random numbers, intervals, distances from the optimum, and tables for other programs."""

import csv

import numpy as np
import pytest
from small_scenarios import small_scenario

from drfopt import Instance, InstanceError, Machine, PolicyError, solve
from drfopt.simulation import Draw, Job, Outage, Preemption, Scenario, Stage, User, simulate, simulate_each, trials
from drfopt.simulation.distance import MEASURES, distance
from drfopt.simulation.records import job_table, timeline_table, write_table
from drfopt.simulation.rules.ceei import Ceei
from drfopt.simulation.trials import expected_tasks, measures

LAW = Draw("exponential", mean=10)
CLUSTER = (Machine("node", {"cpu": 4, "memory": 14}, 6),)
THREE = Scenario(
    CLUSTER,
    tuple(
        User(name, Job(Stage(demand, 20, LAW), count=3, every=Draw("exponential", mean=40)))
        for name, demand in (
            ("A", {"cpu": 1, "memory": 8}),
            ("B", {"cpu": 2, "memory": 1}),
            ("C", {"cpu": 1, "memory": 3}),
        )
    ),
)


@pytest.mark.slow
def test_processes_give_what_one_loop_gives():
    alone = simulate_each(THREE, ("drf", "slots:3"), replications=3, optimum=True)
    spread = simulate_each(THREE, ("drf", "slots:3"), replications=3, optimum=True, jobs=2)
    assert alone.values.tobytes() == spread.values.tobytes()
    for one, other in zip(alone.runs, spread.runs, strict=True):
        for run, again in zip(one, other, strict=True):
            assert all(run.jobs[name].tobytes() == again.jobs[name].tobytes() for name in run.jobs)


def test_little_work_stays_in_one_process(monkeypatch):
    asked = []

    def noted(function, items, *, jobs, dask, what):
        asked.append(jobs)
        return map(function, items)

    monkeypatch.setattr(trials, "spread", noted)
    simulate_each(THREE, ("drf",), replications=2, jobs=None)
    monkeypatch.setattr(trials, "WORTH", 2 * expected_tasks(THREE))
    simulate_each(THREE, ("drf",), replications=2, jobs=None)
    simulate_each(THREE, ("drf",), replications=2, jobs=3)
    assert asked == [1, None, 3]


def test_how_many_tasks_are_expected():
    assert expected_tasks(THREE) == 3 * 3 * 20
    again = User("A", Job(Stage({"cpu": 1}, 2, 5.0), count=None))
    endless = User("B", Job(Stage({"cpu": 2}, None, 10.0, lasts=20.0), arrival=5.0))
    # A's two tasks come when it is 0, 5, ..., 30; B has room for 4 at once, and three times in its 20 seconds.
    assert expected_tasks(Scenario({"cpu": 8}, (again, endless), until=30)) == 7 * 2 + 4 * 3
    for_ever = User("C", Job(Stage({"cpu": 1}, 2, 5.0), count=None), leaves=10.0)
    assert expected_tasks(Scenario({"cpu": 8}, (for_ever,))) == 3 * 2
    assert expected_tasks(Scenario({"cpu": 8}, (User("D", ()),))) == 0


@pytest.mark.slow
def test_a_dask_cluster_gives_what_one_loop_gives():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        spread = simulate_each(THREE, ("drf", "fifo"), replications=2, dask=cluster.scheduler_address)
    assert spread.values.tobytes() == simulate_each(THREE, ("drf", "fifo"), replications=2).values.tobytes()


def test_differences_on_common_random_numbers_are_surer_than_means():
    trials = simulate_each(THREE, ("drf", "asset"), replications=8)
    response = trials.names.index("mean response")
    _, errors = trials.differences("drf")
    assert errors[1, response] < trials.margins[1, response]
    assert (trials.differences("drf")[0][0] == 0).all()
    by_hand = trials.values[1, :, response].std(ddof=1) / np.sqrt(8) * 2.364624
    assert trials.margins[1, response] == pytest.approx(by_hand, rel=1e-6)
    assert "95%" in str(trials)
    with pytest.raises(PolicyError, match="no run of 'fifo'"):
        trials.differences("fifo")


def test_bad_wishes_are_refused():
    with pytest.raises(PolicyError, match="named twice"):
        simulate_each(THREE, ("drf", "drf"))
    with pytest.raises(PolicyError, match="no rule to simulate"):
        simulate_each(THREE, ())
    with pytest.raises(InstanceError, match="the number of replications is 0"):
        simulate_each(THREE, ("drf",), replications=0)
    with pytest.raises(InstanceError, match="seed is -1"):
        simulate(THREE, seed=-1)


class WatchedCeei(Ceei):
    """Has the equilibrium of every moment computed anew, and compares."""

    solved = kept = 0

    def _equilibrium(self, cluster, asking):
        self.solved += 1
        return super()._equilibrium(cluster, asking)

    def dispatch(self, cluster):
        before = self.solved
        super().dispatch(cluster)
        if any(cluster.waiting) and not self._stale and self.solved == before:
            self.kept += 1
            fresh = super()._equilibrium(cluster, tuple(self._there[user] for user in sorted(self._there)))
            assert self._tasks == pytest.approx(fresh, rel=1e-9, abs=0)


def test_equilibria_that_are_kept_are_those_of_the_moment():
    rule = WatchedCeei()
    for number in range(40):
        simulate(small_scenario(number), rule)
    assert rule.solved > 100
    assert rule.kept > 100


def test_a_limit_that_binds_moves_the_equilibrium():
    # Each has a part of three, and no limit that matters until A has one task left.
    users = (User("A", Job(Stage({"cpu": 1}, 7, 2.0))), User("B", Job(Stage({"cpu": 1}, 40, 2.0))))
    rule = WatchedCeei()
    run = simulate(Scenario({"cpu": 6}, users), rule)
    assert run.ended == 47
    assert rule.solved == 4, "both ask; A has one task left, below its part of three; A is gone; B has five left of six"


# ---- distance ------------------------------------------------------------------------------------------------------


def test_a_fair_allocation_is_at_no_distance():
    # Divisible and whole optimum are one here: 3 and 2 tasks.
    instance = Instance.library("nsdi2011")
    found = distance(simulate(Scenario.of(instance), until=10)).means()
    assert found["lowest level"] == pytest.approx(1, rel=1e-9)
    assert found["shortfall"] == found["utilization"] == found["envy"] == 0
    tasks = solve(instance, "ceei").tasks
    assert found["Nash welfare"] == pytest.approx(np.sqrt(3 * 2 / np.prod(tasks)), rel=1e-8)


def test_first_come_is_far_from_fair():
    users = (User("A", Job(Stage({"cpu": 1}, 8, 10))), User("B", Job(Stage({"cpu": 1}, 8, 10))))
    found = distance(simulate(Scenario({"cpu": 8}, users), "fifo"))
    # For ten seconds A has all eight CPUs and B none; then the other way round, which is fair: A wants nothing.
    assert found.times.tolist()[0] == 0
    assert found.lowest[0] == 0
    assert found.shortfall[0] == pytest.approx(0.5)
    assert found.envy[0] == pytest.approx(1)
    assert found.nash[0] == 0
    assert found.lowest[-2] == pytest.approx(1)
    assert found.envy[-2] == 0
    assert list(found.columns()) == list(MEASURES)


def test_envy_goes_by_weights_and_limits():
    users = (User("A", Job(Stage({"cpu": 1}, 20, None)), weight=3), User("B", Job(Stage({"cpu": 1}, 20, None))))
    run = simulate(Scenario({"cpu": 8}, users), until=1)
    assert run.running.tolist() == [6, 2]
    assert distance(run).envy[0] == 0
    few = (users[0], User("B", Job(Stage({"cpu": 1}, 1, None)), weight=3))
    assert distance(simulate(Scenario({"cpu": 8}, few), until=1)).envy[0] == 0


def stages(*tasks):
    return Scenario({"cpu": 10}, (User("A", tuple(Job(Stage({"cpu": each}, count, 10)) for count, each in tasks)),))


def test_nobody_envies_herself_or_who_holds_less():
    # The task of 10 that runs holds what would do for nearly two average tasks, of 5.5.
    assert distance(simulate(stages((1, 10), (1, 1)), every=0)).envy[0] == 0
    # B holds 4, in which there is room for more than one task of 3.5, and A runs one: but of 6.
    users = (*stages((1, 6), (1, 1)).users, User("B", Job(Stage({"cpu": 4}, 1, 10))))
    assert distance(simulate(Scenario({"cpu": 10}, users), every=0)).envy[0] == 0


def test_tasks_that_fill_the_pool_fit_in_its_optimum():
    # Three tasks of 10/3 on average: in floats they are more than 10.
    run = simulate(stages((1, 2), (2, 4)), every=0)
    assert run.samples.running[0] == 3
    assert distance(run).whole[0] == 1
    without_end = tuple(Job(Stage({"cpu": each}, None, 10, lasts=10)) for each in (2, 4, 4))
    assert distance(simulate(Scenario({"cpu": 10}, (User("A", without_end),)), until=5)).whole[0] == 1


def test_beside_tasks_without_end_no_others_count():
    without_end, one = Stage({"cpu": 1}, None, 9, lasts=9), Stage({"memory": 1}, 1, 9)
    users = (User("A", (Job(without_end), Job(one))), User("B", Job(Stage({"cpu": 1}, 9, None))))
    machines = (Machine("c", {"cpu": 4}), Machine("m", {"memory": 1}))
    for rule in ("ceei", "drf"):
        run = simulate(Scenario(machines, users, (Outage("m", 0),)), rule, until=5)
        assert run.running.tolist() == [2, 2]
        assert run.samples.wanted[0].tolist() == [[1, 0], [1, 0]]
        found = distance(run)
        assert found.lowest[0] == 1 and found.shortfall[0] == 0 and found.utilization[0] == 0


@pytest.mark.parametrize("rule", ["drf", "kai", "yarn:hadoop-2"])
def test_numbers_that_leave_the_range_of_floats_are_refused(rule):
    def one(capacity, demand, **job):
        return Scenario((Machine("m", {"cpu": capacity}, 2),), (User("A", Job(Stage({"cpu": demand}, 3, 1), **job)),))

    assert simulate(one("1e100", "1e99"), rule).ended == 3
    for capacity, demand in (("1e308", 1), ("1e100", "1e-100")):
        with pytest.raises(InstanceError, match="amounts of 'cpu' are too far apart"):
            simulate(one(capacity, demand), rule)
    with pytest.raises(InstanceError, match=r"arrival is 1e.308: write a number of seconds, 0 or more and at most"):
        one(1, 1, arrival=1e308)


@pytest.mark.parametrize("seed", range(40))
def test_distances_exist_on_awkward_scenarios(seed):
    found = distance(simulate(small_scenario(seed), every=0))
    there = ~np.isnan(found.lowest)
    assert (found.shortfall[there] >= 0).all()
    assert (found.envy[there] >= 0).all()
    assert np.isfinite(found.nash[there]).all()
    assert (found.lowest[there] >= 0).all()


def test_the_optimum_of_a_moment_is_the_one_that_solve_finds():
    run = simulate(THREE, every=7)
    found = distance(run)
    samples = run.samples
    for k in np.flatnonzero(~np.isnan(found.lowest))[::6]:
        here = np.flatnonzero((samples.wanted[k] > 0).any(axis=1))
        limits = samples.running[k, here] + samples.waiting[k, here]
        fair = solve(Instance(samples.wanted[k, here], samples.capacity[k], max_tasks=limits), "drf")
        levels = samples.dominant_shares[k, here]
        assert found.lowest[k] == pytest.approx(levels.min() / min(fair.levels), rel=1e-9)
        assert found.shortfall[k] == pytest.approx(np.maximum(fair.levels - levels, 0).max(), abs=1e-12)


# ---- revocation ----------------------------------------------------------------------------------------------------


def late(weight=1, guarantee=None, **more):
    """A has taken everything when B comes, at 10."""
    a = User("A", Job(Stage({"cpu": 1}, 8, 100)), guarantee=guarantee or {})
    b = User("B", Job(Stage({"cpu": 1}, 8, 100), arrival=10), weight=weight)
    return Scenario({"cpu": 8}, (a, b), **more)


def test_who_comes_late_is_given_her_share_after_the_grace_period():
    run = simulate(late(), preemption=Preemption(5), every=0, checked=True)
    samples = run.samples
    at = {time: row.tolist() for time, row in zip(samples.times, samples.running, strict=True)}
    assert at[10.0] == [8, 0]
    assert at[15.0] == [4, 4]
    assert run.revoked == 4
    # Stopped tasks begin anew and lose what they had done.
    assert run.jobs["finished"].tolist() == [200, 215]
    assert simulate(late()).revoked == 0


def test_weights_and_guarantees_are_obeyed_by_revocation():
    def running(scenario):
        run = simulate(scenario, preemption=Preemption(5), until=20, checked=True)
        return run.running.tolist()

    assert running(late(weight=3)) == [2, 6]
    assert running(late(guarantee={"cpu": 6})) == [6, 2]
    assert running(late(guarantee={"cpu": 8})) == [8, 0]


@pytest.mark.parametrize(
    "rule", ["drf", "drf-stop", "asset", "ceei", "sequential-min-max", "slots:3", "single:cpu", "fifo"]
)
def test_revocation_loses_no_task_and_comes_to_an_end(rule):
    for seed in range(25):
        try:
            run = simulate(small_scenario(seed), rule, preemption=Preemption(0.3), checked=True)
        except PolicyError as error:
            assert "cannot count tasks" in str(error)
            continue
        assert run.revoked <= run.started


def test_a_task_that_ends_within_the_grace_period_is_not_stopped():
    a = User("A", Job(Stage({"cpu": 1}, 8, 12)))
    b = User("B", Job(Stage({"cpu": 1}, 4, 10), arrival=10))
    run = simulate(Scenario({"cpu": 8}, (a, b)), preemption=Preemption(5), checked=True)
    assert run.revoked == 0
    assert run.jobs["finished"].tolist() == [12, 22]


def test_no_grace_is_no_period():
    with pytest.raises(InstanceError, match="grace period is 0"):
        Preemption(0)


# ---- slow machines -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("exponent", "ends"), [(0, 10), (1, 20), (2, 40)])
def test_overloaded_machines_slow_down_as_they_were_told(exponent, ends):
    from drfopt.simulation import Slowdown

    users = (User("A", Job(Stage({"cpu": 1, "memory": 4}, 2, 10))),)
    run = simulate(Scenario({"cpu": 2, "memory": 4}, users), "single:cpu", slowdown=Slowdown({"memory": exponent}))
    assert run.jobs["finished"].tolist() == [ends]


def test_a_machine_gets_faster_when_a_task_ends():
    users = (
        User("A", Job(Stage({"cpu": 1}, 1, 10))),
        User("B", Job(Stage({"cpu": 1}, 1, 20))),
    )
    run = simulate(Scenario({"cpu": 1}, users), "slots:2", checked=True)
    # Both at half speed until A has done her ten seconds, at 20; B has ten left then.
    assert run.jobs["finished"].tolist() == [20, 30]
    # Work counts what is held, which was twice what there is.
    assert run.utilization.tolist() == [pytest.approx(50 / 30)]


# ---- tables --------------------------------------------------------------------------------------------------------


def test_tables_are_written_as_csv_and_parquet(tmp_path):
    runs = [simulate(THREE, rule, until=60) for rule in ("drf", "fifo")]
    jobs, timeline = job_table(runs), timeline_table(runs)
    assert len(jobs["user"]) == sum(len(run.jobs["user"]) for run in runs)
    assert len(timeline["time"]) == sum(run.samples.running.size for run in runs)
    path = tmp_path / "jobs.csv"
    write_table(path, jobs)
    rows = list(csv.DictReader(path.open(encoding="utf-8")))
    assert [row["user"] for row in rows] == jobs["user"].tolist()
    assert [float(row["finished"] or "nan") for row in rows] == pytest.approx(jobs["finished"].tolist(), nan_ok=True)
    parquet = pytest.importorskip("pyarrow.parquet")
    for name, table in (("jobs", jobs), ("timeline", timeline)):
        write_table(tmp_path / f"{name}.parquet", table)
        read = parquet.read_table(tmp_path / f"{name}.parquet")
        assert read.column_names == list(table)
        assert read.num_rows == len(next(iter(table.values())))
    first = (tmp_path / "jobs.parquet").read_bytes()
    write_table(tmp_path / "jobs.parquet", jobs)
    assert (tmp_path / "jobs.parquet").read_bytes() == first
    with pytest.raises(InstanceError, match=r"\.csv or \.parquet"):
        write_table(tmp_path / "jobs.txt", jobs)


def test_what_is_measured_has_names():
    found = measures(simulate(THREE), optimum=True)
    assert list(found)[-len(MEASURES) :] == list(MEASURES)
    assert found["jobs done"] == 9


def test_a_measure_that_is_0_has_its_column():
    jobs = [Job(Stage({"cpu": 1}, 1, 100)), *(Job(Stage({"cpu": 3}, 20, 100)) for _ in range(2))]
    scenario = Scenario({"cpu": 10}, tuple(User(name, job) for name, job in zip("ABC", jobs, strict=True)), until=10)
    found = simulate_each(scenario, ["fifo"], optimum=True)
    assert found.means[0, found.names.index("lowest level")] == 0
    columns = [column.heading for column in found.sheet().columns if column.shown]
    assert {"lowest level", "Nash welfare", "whole tasks", "tasks done"} <= set(columns)
    assert not {"tasks revoked", "jobs cut short"} & set(columns)


def test_what_is_the_same_in_every_drawing_has_no_interval():
    found = simulate_each(Scenario.library("two-users"), ["drf", "fifo"], replications=3, optimum=True)
    assert (found.margins == 0).all()
