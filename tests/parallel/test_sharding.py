"""Parts, sweeps and batches divided among processes or over a cluster: bit for bit what one process says."""

import json
import os
import signal
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from distributed import Client, LocalCluster

from drfopt.base.errors import EngineError, InstanceError, PolicyError, SolverError
from drfopt.base.parallel import spread
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.planning.changes import changed
from drfopt.planning.sweeping import sweep
from drfopt.solving.allocating import solve


@pytest.fixture
def paper():
    return Instance.library("nsdi2011")


def islands(count=6, users=12, classes=4):
    """Return a cluster of islands: users of one and machines of another have nothing to do with each other."""
    random = np.random.default_rng(2)
    demands = random.integers(1, 9, (count * users, 3))
    machines = [Machine(f"m{k}", random.integers(20, 90, 3), 2) for k in range(count * classes)]
    eligible = np.zeros((count * users, count * classes), dtype=bool)
    for i in range(count):
        eligible[i * users : (i + 1) * users, i * classes : (i + 1) * classes] = random.random((users, classes)) < 0.5
        eligible[np.arange(i * users, (i + 1) * users), i * classes + random.integers(0, classes, users)] = True
    return Instance(demands, machines=machines, eligible=eligible)


def assert_same(one, other):
    assert np.array_equal(one.tasks, other.tasks)
    assert np.array_equal(one.levels, other.levels)
    assert np.array_equal(one.placement, other.placement)
    mine, theirs = one.certificate.evidence.rounds, other.certificate.evidence.rounds
    assert len(mine) == len(theirs)
    for link, same in zip(mine, theirs, strict=True):
        assert link.level == same.level
        assert np.array_equal(link.finished, same.finished)
        assert np.array_equal(link.prices, same.prices)


def test_parts_in_two_processes_are_the_serial_answer():
    cluster = islands()
    assert_same(solve(cluster, jobs=2), solve(cluster))


def test_a_cluster_of_one_part_starts_no_process(monkeypatch):
    monkeypatch.setattr("drfopt.base.parallel._results", None)
    assert solve(Instance([[1], [1]], machines=[[2], [3]]), jobs=2).certificate.valid


def test_who_asks_for_processes_where_nothing_is_divided_is_told_so():
    for asked in ({"jobs": 2}, {"dask": "tcp://127.0.0.1:1"}):
        with pytest.raises(EngineError, match="engine 'filling' has nothing here to divide"):
            solve(Instance([[1], [1]], [2]), **asked)


def test_a_time_limit_crosses_to_the_processes():
    with pytest.raises(SolverError, match="the time limit ran out"):
        solve(islands(), jobs=2, time_limit=1e-6)


def test_a_batch_is_the_loop(paper):
    batch = [paper, islands(2), paper]
    found = list(spread(solve, batch, jobs=2))
    assert [f.instance.n for f in found] == [paper.n, 24, paper.n]
    for allocation, instance in zip(found, batch, strict=True):
        assert np.array_equal(allocation.tasks, solve(instance).tasks)


def test_an_error_in_a_batch_comes_in_its_turn(paper):
    without = Instance([[0, 1], [3, 1]], paper.capacity, resources=paper.resources)
    results = spread(partial(solve, policy="single:cpu"), [paper, without, paper], jobs=2)
    assert next(results).tasks == pytest.approx([54 / 13, 18 / 13])
    with pytest.raises(PolicyError, match="cpu"):
        next(results)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_sweep_over_a_capacity(paper, jobs):
    found = sweep(paper, ["1/2", 1, 2], resource="cpu", jobs=jobs, exact=True)
    assert found.values == (Fraction(1, 2), 1, 2)
    assert [list(a.tasks) for a in found.allocations] == [
        list(solve(Instance(paper.demands, [c, 18], resources=["cpu", "memory"]), exact=True).tasks)
        for c in (4.5, 9, 18)
    ]
    assert "factor of cpu" in str(found)
    assert json.dumps(found.to_dict())


def test_more_of_everything_keeps_the_rest():
    machines = [Machine("a", {"cpu": "1/3", "memory": 2}, 3), Machine("b", {"cpu": 4, "memory": 1})]
    instance = Instance(
        {"A": {"cpu": "1/7"}, "B": {"cpu": 1, "memory": 1}},
        machines=machines,
        weights={"A": {"cpu": 1, "memory": 2}, "B": {"cpu": 1, "memory": "1/3"}},
        max_tasks={"A": 4},
        eligible={"A": ["a"]},
        name="two",
    )
    more = changed(instance, ["scale cpu=2"])
    assert more.exact_machine_capacity == ((Fraction(2, 3), 2), (8, 1))
    for kept in ("users", "resources", "exact_demands", "exact_weights", "exact_limits", "machine_names", "name"):
        assert getattr(more, kept) == getattr(instance, kept), kept
    assert np.array_equal(more.eligible, instance.eligible)
    assert more.counts.tolist() == [3, 1]


def test_what_a_sweep_says_no_to(paper):
    with pytest.raises(InstanceError, match=r"no resource 'cpus': did you mean 'cpu'\? \(there are cpu, memory\)"):
        sweep(paper, [1], resource="cpus")
    with pytest.raises(
        InstanceError, match="factor of all capacities=-1: a sweep is over amounts: give positive numbers"
    ):
        sweep(paper, [-1])


@pytest.mark.slow
def test_a_dask_cluster_gives_the_serial_answers_though_a_worker_dies():
    cluster, batch = islands(), [islands(count) for count in (1, 2, 3, 4, 5, 6)] * 4
    alone = [solve(instance) for instance in batch]
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as workers:
        address = workers.scheduler_address
        assert_same(solve(cluster, dask=address), solve(cluster))
        with Client(address, set_as_default=False) as client:
            victim = next(iter(client.run(os.getpid).values()))
        found = spread(solve, batch, dask=address)
        first = next(found)
        os.kill(victim, signal.SIGKILL)
        for one, other in zip([first, *found], alone, strict=True):
            assert_same(one, other)
