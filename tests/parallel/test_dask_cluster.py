"""Work spread over a real Dask cluster of two workers: the answers of a serial run, with a worker killed as well."""

import functools
import os
import signal
import time

import joblib
import pytest
from distributed import Client, LocalCluster

from drfopt.base.errors import InstanceError, SolverError
from drfopt.base.parallel import spread

pytestmark = pytest.mark.slow


def slow_square(x):
    time.sleep(0.02)
    return x * x


def refuse(x):
    raise InstanceError(f"{x} is not wanted: leave it out")


def die_once(folder, x):
    """Return the square, but the first time that item 3 is met take the worker down with it."""
    mark = folder / "died"
    if x == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return slow_square(x)


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as made:
        yield made


def test_a_cluster_gives_the_serial_answers(cluster):
    answers = list(spread(slow_square, range(30), dask=cluster.scheduler_address))
    assert answers == list(spread(slow_square, range(30), jobs=1))


def test_the_surroundings_may_choose_the_cluster(cluster):
    with Client(cluster.scheduler_address), joblib.parallel_config(backend="dask"):
        assert list(spread(slow_square, range(10))) == [x * x for x in range(10)]


def test_an_error_crosses_the_wire(cluster):
    with pytest.raises(InstanceError, match=r"^7 is not wanted: leave it out$"):
        list(spread(refuse, [7], dask=cluster.scheduler_address))


def test_a_killed_worker_changes_nothing(cluster, tmp_path):
    answers = list(spread(functools.partial(die_once, tmp_path), range(30), dask=cluster.scheduler_address))
    assert answers == [x * x for x in range(30)]
    assert (tmp_path / "died").exists()


def test_a_cluster_without_workers_is_told(monkeypatch):
    monkeypatch.setattr("drfopt.base.parallel.PATIENCE", 1)
    with (
        LocalCluster(n_workers=0, dashboard_address=None) as empty,
        pytest.raises(SolverError, match=r"has no workers: start some$"),
    ):
        list(spread(slow_square, [1], dask=empty.scheduler_address))
