"""Work spread over processes: the same answers in the same order, whoever dies."""

import functools
import gc
import itertools
import os
import pickle
import signal
import threading
import time

import joblib
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from drfopt.base import crew
from drfopt.base.errors import EngineError, InstanceError, SolverError
from drfopt.base.parallel import one_thread, spread
from drfopt.base.progress import reporting


def square(x):
    return x * x


def refuse_odd(x):
    if x % 2:
        raise InstanceError(f"{x} is odd: give an even number")
    return x


def die_once(folder, here, x):
    """Return the square, but take down the first worker that meets item 3; the process here waits for that."""
    mark = folder / "died"
    if os.getpid() == here:
        wait_for(mark)
    elif x == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return x * x


def wait_for(mark):
    until = time.monotonic() + 60
    while not mark.exists() and time.monotonic() < until:
        time.sleep(0.01)


def die(folder, here, x):
    """Take the worker down; this process only waits until one has died."""
    if os.getpid() == here:
        wait_for(folder / "died")
        return
    (folder / "died").touch()
    os.kill(os.getpid(), signal.SIGKILL)


def threads(folder, here, x):
    if os.getpid() == here:
        wait_for(folder / "died")
        return None
    (folder / "died").touch()
    return os.environ.get("OPENBLAS_NUM_THREADS")


def nested(x):
    return list(spread(square, range(x), jobs=2))


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_come_in_the_order_of_the_items(jobs):
    assert list(spread(square, range(20), jobs=jobs)) == [x * x for x in range(20)]
    assert list(spread(square, [], jobs=jobs)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_endless_stream_is_taken_as_it_is_needed(jobs):
    results = spread(square, itertools.count(), jobs=jobs)
    assert list(itertools.islice(results, 5)) == [0, 1, 4, 9, 16]
    results.close()


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_comes_when_its_turn_has_come(jobs):
    results = spread(refuse_odd, [0, 2, 3, 4], jobs=jobs)
    assert [next(results), next(results)] == [0, 2]
    with pytest.raises(InstanceError, match=r"^3 is odd: give an even number$"):
        next(results)


def where(seconds):
    time.sleep(seconds)
    return os.getpid()


def test_nobody_is_started_for_little_work(monkeypatch):
    """By default: the work of a second is not worth a worker, and of longer work the beginning is done here."""
    ticks = itertools.count()
    # A clock of its own: each look at it is two milliseconds later, however busy the machine.
    monkeypatch.setattr(crew, "perf_counter", lambda: next(ticks) / 500)
    assert set(spread(where, [0.01] * 8)) == {os.getpid()}
    assert set(spread(where, [0.4, 0.01])) == {os.getpid()}


def marks(folder, here, x):
    """Mark who is at work, and wait until others are too, however long they take to start; return who did the item."""
    (folder / str(os.getpid())).touch()
    until = time.monotonic() + 120
    while os.getpid() == here and x == 3 and len(list(folder.iterdir())) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.1)
    return os.getpid()


@pytest.mark.slow
@pytest.mark.parametrize("items", [range(40), itertools.count()], ids=["so many", "who knows how many"])
def test_workers_join_when_they_are_there(items, tmp_path, monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 2)
    by = list(itertools.islice(spread(functools.partial(marks, tmp_path, os.getpid()), items), 40))
    # This process does the first item, and another joins it: after a moment, or at once where it is left from before.
    assert by[0] == os.getpid()
    assert len(set(by)) == 2


class Unsettled:
    """Disturbs its first readers, as an object that keeps what it is asked for while it is pickled."""

    readings = 0

    def __reduce__(self):
        Unsettled.readings += 1
        if Unsettled.readings < 3:
            raise RuntimeError("dictionary changed size during iteration")
        return int, (7,)


def test_what_changes_while_it_is_pickled_is_read_again():
    """A sweep's instance keeps its fractions when they are first asked for: its worker was never started then."""
    assert pickle.loads(crew._written(Unsettled())) == 7


def test_a_killed_worker_changes_nothing(tmp_path):
    assert list(spread(functools.partial(die_once, tmp_path, os.getpid()), range(8), jobs=2)) == [
        x * x for x in range(8)
    ]
    assert (tmp_path / "died").exists()


def test_work_that_always_kills_is_given_up(tmp_path):
    with pytest.raises(SolverError, match=r"^worker processes died 4 times in a row, .*: ask for fewer jobs$"):
        list(spread(functools.partial(die, tmp_path, os.getpid()), range(3), jobs=2))


def test_workers_keep_to_one_thread_and_do_not_spread_again(tmp_path):
    assert set(spread(functools.partial(threads, tmp_path, os.getpid()), range(3), jobs=2)) == {None, "1"}
    assert list(spread(nested, [3, 4], jobs=2)) == [[0, 1, 4], [0, 1, 4, 9]]


def test_progress_is_told():
    heard = []
    with reporting(heard.append):
        list(spread(square, range(2), jobs=1, what="squares"))
        list(spread(square, iter(range(1)), jobs=1))
    assert heard == ["1 of 2 squares done", "2 of 2 squares done", "1 items done"]


@pytest.mark.usefixtures("hears_control_c")
def test_an_interrupt_ends_it():
    results = spread(time.sleep, itertools.repeat(0.05), jobs=2)
    with pytest.raises(KeyboardInterrupt):
        for done, _ in enumerate(results):
            if not done:
                threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    assert list(spread(square, [2], jobs=2)) == [4]


def test_bad_settings_are_refused():
    with pytest.raises(EngineError, match=r"^jobs is 0: give a whole number, 1 or more, or None for one a core$"):
        spread(square, [1], jobs=0)


def test_a_cluster_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setattr("drfopt.base.parallel.PATIENCE", 1)
    with pytest.raises(SolverError, match=r"^no Dask scheduler answers at 'tcp://127.0.0.1:9': "):
        list(spread(square, [1], dask="tcp://127.0.0.1:9"))


@pytest.mark.parametrize("address", ["udp://127.0.0.1:9", "tls://127.0.0.1:9", "inproc://1"])
def test_an_address_that_cannot_be_is_told_once(address, monkeypatch):
    heard = []
    monkeypatch.setattr("sys.unraisablehook", heard.append)
    with pytest.raises(SolverError, match=f"^no Dask scheduler answers at '{address}': "):
        list(spread(square, [1], dask=address))
    gc.collect()
    assert not heard


@pytest.mark.parametrize("address", ["", "foo", "tcp://10.0.0.1", "tcp://:", b"tcp://10.0.0.1:8786", 8786])
def test_what_is_no_address_is_refused_before_anybody_is_asked(address):
    with pytest.raises(
        EngineError, match=r"^dask is .*: give the address of a scheduler, such as tcp://10.0.0.1:8786$"
    ):
        spread(square, [1], dask=address)


def blas_threads():
    """Return the threads of each library of linear algebra that is loaded."""
    return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]


def test_one_thread_within_one_thread_ends_with_the_outer():
    before = blas_threads()
    with threadpool_limits(2, user_api="blas"):
        with one_thread():
            with one_thread():
                assert set(blas_threads()) == {1}
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) != {1}
    assert blas_threads() == before


def test_who_leaves_first_does_not_give_threads_to_who_is_still_inside():
    first, second = one_thread(), one_thread()
    with threadpool_limits(2, user_api="blas"):
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert set(blas_threads()) == {1}
        second.__exit__(None, None, None)
        assert set(blas_threads()) != {1}
