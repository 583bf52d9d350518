"""Work spread over processes or a Dask cluster by joblib; the answers are those of a serial loop, in its order.

What is spread must be a pure function of its item: then a worker that dies costs time and nothing else, because what it
had in hand is done again.  Whoever runs inside ``joblib.parallel_config(backend="dask")`` gets that cluster without
asking.

Threads of the linear algebra below numpy and scipy, which compete with ours and with each other.
"""

import os
import re
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sized
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from numbers import Integral
from threading import Event, Lock
from typing import Any, TypeVar

from .errors import EngineError, SolverError
from .progress import report

__all__ = ["ALONE", "Workers", "checked_address", "checked_jobs", "connected", "cores", "one_thread", "spread"]


Item = TypeVar("Item")
Result = TypeVar("Result")

DEATHS = 3
"""Times in a row that workers may die without a result in between: after that it is the work that kills them."""

ADDRESS = re.compile(r"(\w+://)?\S+:\d+|inproc://\S+")
"""What Dask takes: a host and a port, and perhaps a protocol; inside one process no port."""

PATIENCE = 10
"""Seconds to wait for a Dask scheduler, and for its first worker."""


def checked_jobs(jobs: Any) -> None:
    """Refuse a number of processes that is none; None stands for one a core.

    Raises
    ------
    EngineError
        With what it is.
    """
    if jobs is not None and (not isinstance(jobs, Integral) or jobs < 1):
        raise EngineError(f"jobs is {jobs!r}: give a whole number, 1 or more, or None for one a core")


def checked_address(dask: Any) -> None:
    """Refuse the address of a Dask scheduler that is none; None stands for no such cluster.

    Raises
    ------
    EngineError
        With what it is.
    """
    if dask is not None and not (isinstance(dask, str) and ADDRESS.fullmatch(dask)):
        raise EngineError(f"dask is {dask!r}: give the address of a scheduler, such as tcp://10.0.0.1:8786")


@dataclass(frozen=True)
class Workers:
    """Who works: `jobs` processes, None for one a core, or the Dask cluster at an address."""

    jobs: int | None = 1
    dask: str | None = None

    def __post_init__(self) -> None:
        checked_jobs(self.jobs)
        checked_address(self.dask)

    @property
    def several(self) -> bool:
        """Whether there is anybody but this process."""
        return self.dask is not None or self.jobs != 1

    def spread(
        self, function: Callable[[Item], Result], items: Iterable[Item], what: str = "items"
    ) -> Iterator[Result]:
        """Do the same as the function `spread`."""
        return spread(function, items, jobs=self.jobs, dask=self.dask, what=what)


ALONE = Workers()


def spread(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    jobs: int | None = None,
    dask: str | None = None,
    what: str = "items",
) -> Iterator[Result]:
    """Yield ``function(item)`` for every item, in the order of the items, each as soon as it and those before are done.

    Parameters
    ----------
    function : callable
        Pure, and importable where the workers run.
    items : iterable
        Taken one by one as workers get free, so it may be a generator without an end.
    jobs : int, optional
        Processes, this one among them; by default one a core. What takes a second or two is done in this process
        alone. On a cluster its cores count, not this.
    dask : str, optional
        Address of a Dask scheduler, such as ``tcp://10.0.0.1:8786``.
    what : str
        What the items are called in progress reports.

    Raises
    ------
    EngineError
        When `jobs` is less than 1, or Dask is asked for and not installed.
    SolverError
        When no cluster answers, or workers die again and again.
    DrfoptError
        What `function` raises of the kind comes when its item's turn has come, as in a loop.
    """
    checked_jobs(jobs)
    checked_address(dask)
    total = f" of {len(items)}" if isinstance(items, Sized) else ""
    return _reported(_results(function, items, jobs, dask), f"{total} {what}")


def _reported(results: Iterator[Result], of_all: str) -> Iterator[Result]:
    for done, result in enumerate(results, start=1):
        report(f"{done}{of_all} done")
        yield result


def _results(
    function: Callable[[Item], Result], items: Iterable[Item], jobs: int | None, dask: str | None
) -> Iterator[Result]:
    if dask is None and (jobs == 1 or _inside_a_worker()):
        yield from map(function, items)
        return
    import joblib

    from .crew import Crew, raised

    def others(waiting: Iterator[Item]) -> Generator[Any, None, None]:
        with _backend(dask):
            yield from _outcomes(function, waiting, jobs)

    if dask is not None or not _own_processes():
        yield from raised(others(iter(items)))
    elif count := (joblib.cpu_count() if jobs is None else jobs) - 1:
        yield from raised(Crew(function, items, count).outcomes(others))
    else:
        yield from map(function, items)


def _outcomes(function: Callable[[Item], Result], waiting: Iterator[Item], jobs: int | None) -> Iterator[Any]:
    """Yield results and failures in order, and hand out again what workers had when they died."""
    from concurrent.futures.process import BrokenProcessPool

    import joblib

    from .crew import call

    given: deque[Item] = deque()
    enough = Event()
    deaths = 0
    while True:
        calls = (joblib.delayed(call)((function, item)) for item in _noted(waiting, given, enough))
        outputs = joblib.Parallel(n_jobs=-1 if jobs is None else jobs, return_as="generator", batch_size=1)(calls)
        try:
            for outcome in outputs:
                given.popleft()
                deaths = 0
                yield outcome
            return
        except GeneratorExit:
            # What is under way may end: joblib's own way of stopping kills workers while it hands them more.
            enough.set()
            deque(outputs, maxlen=0)
            raise
        except BrokenProcessPool as error:
            deaths += 1
            if deaths > DEATHS:
                raise SolverError(
                    f"worker processes died {deaths} times in a row, perhaps for want of memory: ask for fewer jobs"
                ) from error
        waiting, given = chain(given, waiting), deque()


def _noted(items: Iterator[Item], given: deque[Item], enough: Event) -> Iterator[Item]:
    """Yield the items, and note each in `given` before, until it is enough."""
    for item in items:
        if enough.is_set():
            return
        given.append(item)
        yield item


def _inside_a_worker() -> bool:
    from joblib.parallel import get_active_backend

    from .crew import WORKING

    return WORKING.get() or bool(get_active_backend()[0].nesting_level)


def _own_processes() -> bool:
    """Say whether the surroundings chose nobody to work but processes of this machine."""
    from joblib.parallel import get_active_backend

    return type(get_active_backend()[0]).__name__ == "LokyBackend"


@contextmanager
def _backend(dask: str | None) -> Iterator[None]:
    """Set up joblib: a Dask cluster, the surroundings' choice, or processes whose solvers keep to one thread each."""
    import joblib

    if dask is not None:
        with connected(dask) as client, joblib.parallel_config(backend="dask", client=client):
            yield
    elif _own_processes():
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            yield
    else:
        yield


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to a Dask scheduler whose workers have this package."""
    import asyncio

    try:
        from distributed import Client
    except ImportError:
        raise EngineError("a Dask cluster needs dask.distributed: pip install 'drfopt[dask]'") from None
    try:
        # A Client that fails waits for itself when it is thrown away, and prints that it waited in vain: the address is
        # tried before, in a thread of its own, as a notebook has a loop already.
        with ThreadPoolExecutor(1) as apart:
            apart.submit(asyncio.run, _reached(address)).result()
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise SolverError(
            f"no Dask scheduler answers at {address!r}: {error}: give the address that it prints, such as "
            "tcp://10.0.0.1:8786"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
            # joblib would wait for ever for the result of a call that its worker cannot even read; who dies meanwhile
            # dies as later on.
            told = client.run(_nothing, on_error="return").values()
        except TimeoutError:
            raise SolverError(f"the Dask scheduler at {address!r} has no workers: start some") from None
        if strange := [error for error in told if isinstance(error, ImportError)]:
            raise SolverError(f"the Dask workers at {address!r} cannot import drfopt: {strange[0]}")
        yield client


async def _reached(address: str) -> None:
    """Connect to an address, with the certificates that Dask's own settings name, and leave again."""
    from distributed import Security
    from distributed.comm import connect

    comm = await connect(address, timeout=PATIENCE, **Security().get_connection_args("client"))
    await comm.close()


def _nothing() -> None:
    """Do nothing: whoever can run this has the package."""


class _OneThread:
    """Who asked for one thread and is not done yet, and what gives the libraries their threads back."""

    def __init__(self) -> None:
        self.lock, self.inside, self.limits = Lock(), 0, dict[bool, Any]()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Keep the linear algebra to one thread.

        On matrices of some hundred rows its threads wait for each other longer than they work, thirty times as long
        where another program wants a core; what is worth two cores is divided by users, parts or instances instead.
        Where that holds already it costs next to nothing.
        """
        with self.lock:
            self.inside += 1
            # scipy brings a library of its own when it is loaded, which may be in between.
            if (scipy_too := "scipy.linalg" in sys.modules) not in self.limits:
                self.limits[scipy_too] = _libraries(scipy_too).limit(limits=1, user_api="blas")
        try:
            yield
        finally:
            with self.lock:
                self.inside -= 1
                while not self.inside and self.limits:
                    self.limits.popitem()[1].restore_original_limits()


one_thread = _OneThread()


@lru_cache
def _libraries(scipy_too: bool) -> Any:
    """Return who has a say over the libraries that are loaded; scipy brings one of its own when it is."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def cores() -> int:
    """Return the number of cores this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1
