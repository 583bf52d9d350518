"""Work on something that lies in parts, wherever these are: in this process, or with the workers of a Dask cluster.

What is known of a part is a pure function of where it comes from, so a worker that dies costs time and nothing else:
what it had is made again by another.  Results of `Partitions.each` travel; what is `Partitions.kept` stays where it is.
"""

import ctypes
import logging
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby, pairwise
from multiprocessing import current_process
from typing import Any, Protocol

from .crew import WORKING
from .deadline import NEVER, Deadline
from .errors import DrfoptError, EngineError, SolverError, TimeLimitError
from .parallel import checked_jobs, connected
from .progress import report

__all__ = ["HERE", "Partitions", "Place", "place", "quietly"]

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""What they are called in malloc.h of glibc."""

STARTS = 2
"""Times that workers of this machine are started, where one of them dies before all are there."""

GROUPS, TOGETHER = 4, 4
"""Groups of parts that a thread of a worker has, or more where one would have more than so many parts.

A group is one task of Dask, which costs some milliseconds in all processes together; while it is changed, what it was
before takes room as well.
"""

IDLE = {
    "distributed.admin.tick.interval": "10s",
    "distributed.admin.tick.cycle": "10s",
    "distributed.admin.tick.limit": "60s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "500ms",
    "distributed.client.scheduler-info-interval": "10s",
}
"""How often processes of Dask look at themselves."""

Step = tuple[Callable[..., Any], tuple]
"""A function of a part, and what else it is given."""


class Place(Protocol):
    """Where work is done."""

    def memory(self) -> float:
        """Return the bytes there are for parts that are kept, nan where that cannot be told."""

    def kept(self, sources: Sequence[Any], steps: tuple[Step, ...]) -> list[Any]:
        """Return handles of what the steps make of the sources."""

    def results(
        self, sources: Sequence[Any], steps: tuple[Step, ...], what: str, gathered: Callable[[Iterable[Any]], Any]
    ) -> Iterator[Any]:
        """Yield what is gathered of what the steps make of some sources, of the next ones, and so on."""


class Partitions:
    """Partitions that are to be made of sources by steps, one after the other, wherever `place` is.

    Parameters
    ----------
    sources : sequence
        What each part is made of: small values, or handles of the place.
    steps : tuple of (callable, arguments)
        The first is given a source, each next one what the one before it returned.
    place : Place
    """

    def __init__(self, sources: Sequence[Any], steps: tuple[Step, ...] = (), place: Place | None = None):
        self.sources, self.steps, self.place = sources, steps, HERE if place is None else place

    def __len__(self) -> int:
        return len(self.sources)

    def then(self, work: Callable[..., Any], *given: Any) -> "Partitions":
        """Return the parts that work makes of these; it is done whenever somebody asks for them."""
        return Partitions(self.sources, (*self.steps, (work, given)), self.place)

    def kept(self) -> "Partitions":
        """Return the same parts, made once and held where they were made."""
        return Partitions(self.place.kept(self.sources, self.steps), (), self.place) if self.steps else self

    def some(self, most: int) -> "Partitions":
        """Return at most so many of them, from everywhere in the list."""
        if len(self) <= most:
            return self
        chosen = [self.sources[q * len(self) // most] for q in range(most)]
        return Partitions(chosen, self.steps, self.place)

    def each(self, work: Callable[..., Any], *given: Any, what: str = "partition") -> list[Any]:
        """Return ``work(part, *given)`` of every part, in their order; `what` is told as progress."""
        found = self.place.results(self.sources, (*self.steps, (work, given)), what, list)
        return [each for some in found for each in some]

    def total(self, work: Callable[..., Any], *given: Any, what: str = "partition") -> list[Any]:
        """Return the sums of the tuples that work returns, which are made where the parts are.

        Parts of which it returns None have no share in them; of no part at all the list is empty.
        """
        return added(self.place.results(self.sources, (*self.steps, (work, given)), what, added)) or []


def added(tuples: Iterable[Any]) -> list[Any] | None:
    """Return the sums of tuples, place by place, of which no more than one is held; None of None alone."""
    sums: list[Any] | None = None
    for found in tuples:
        if found is not None:
            sums = list(found) if sums is None else [a + b for a, b in zip(sums, found, strict=True)]
    return sums


def done(source: Any, steps: tuple[Step, ...]) -> Any:
    """Return what the steps make of a source."""
    for work, given in steps:
        source = work(source, *given)
    return source


class _Here:
    """This process, one part after the other."""

    def __init__(self, deadline: Deadline = NEVER):
        self.deadline = deadline

    def memory(self) -> float:
        try:
            return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        except (AttributeError, OSError, ValueError):
            return math.nan

    def kept(self, sources: Sequence[Any], steps: tuple[Step, ...]) -> list[Any]:
        return [done(source, steps) for source in sources]

    def results(
        self, sources: Sequence[Any], steps: tuple[Step, ...], what: str, gathered: Callable[[Iterable[Any]], Any]
    ) -> Iterator[Any]:
        yield gathered(self._told(sources, steps, what))

    def _told(self, sources: Sequence[Any], steps: tuple[Step, ...], what: str) -> Iterator[Any]:
        for number, source in enumerate(sources, start=1):
            self.deadline.check(what)
            yield done(source, steps)
            if len(sources) > 1:
                report(f"{what}: {number} of {len(sources)} partitions")


HERE: Place = _Here()


@dataclass(frozen=True)
class _Held:
    """A part that workers hold: which it is of those that a future of Dask makes."""

    group: Any = field(repr=False)
    number: int


class _Workers:
    """The workers of a Dask cluster; whoever holds a handle can have its group of parts made again."""

    def __init__(self, client: Any, deadline: Deadline):
        self.client, self.deadline = client, deadline

    def _workers(self) -> dict[str, Any]:
        found: dict[str, Any] = self.client.scheduler_info(n_workers=-1)["workers"]
        return found

    def memory(self) -> float:
        return float(sum(worker["memory_limit"] for worker in self._workers().values()))

    def kept(self, sources: Sequence[Any], steps: tuple[Step, ...]) -> list[Any]:
        groups = self._sent(sources, steps, list)
        return [_Held(future, number) for future, size in groups for number in range(size)]

    def results(
        self, sources: Sequence[Any], steps: tuple[Step, ...], what: str, gathered: Callable[[Iterable[Any]], Any]
    ) -> Iterator[Any]:
        from distributed import as_completed

        self.deadline.check(what)
        groups = self._sent(sources, steps, gathered)
        place = {future.key: q for q, (future, _) in enumerate(groups)}
        left = self.deadline.left()
        finished = as_completed(
            [future for future, _ in groups], loop=self.client.loop, timeout=left if left < math.inf else None
        )
        early: dict[int, Any] = {}
        after = there = 0
        try:
            for some in finished.batches():
                if failed := [future for future in some if future.status == "error"]:
                    raise _told(failed[0].exception())
                # What was lost with a worker by now is made again.
                early |= dict(zip((place[future.key] for future in some), self.client.gather(some), strict=True))
                there += sum(groups[place[future.key]][1] for future in some)
                report(f"{what}: {there} of {len(sources)} partitions")
                while after in early:
                    yield early.pop(after)
                    after += 1
        except TimeoutError:
            raise TimeLimitError(f"{what}: the time limit ran out") from None
        finally:
            if after < len(groups):
                self.client.cancel([future for future, _ in groups])

    def _sent(
        self, sources: Sequence[Any], steps: tuple[Step, ...], gathered: Callable[[Iterable[Any]], Any]
    ) -> list[tuple[Any, int]]:
        """Have a task be done for each group of the sources; return their futures, and how many sources each has."""
        groups: list[tuple[str | None, Any, Sequence[int]]] = []
        for held, run in groupby(sources, lambda source: source.group if isinstance(source, _Held) else None):
            some = list(run)
            groups += self._dealt(some) if held is None else [(None, held, [source.number for source in some])]
        sent: dict[int, Any] = {}
        for address in dict.fromkeys(address for address, *_ in groups):
            mine = [q for q, group in enumerate(groups) if group[0] == address]
            futures = self.client.map(
                _alone,
                [groups[q][1] for q in mine],
                [groups[q][2] for q in mine],
                steps=steps,
                gathered=gathered,
                pure=False,
                workers=address,
                allow_other_workers=address is not None,
            )
            sent |= dict(zip(mine, futures, strict=True))
        return [(sent[q], len(which)) for q, (*_, which) in enumerate(groups)]

    def _dealt(self, sources: list[Any]) -> Iterator[tuple[str | None, Any, Sequence[int]]]:
        """Cut sources into groups that differ by one part at most, and deal them out to the workers' threads in turn.

        Dask itself deals them out by what it guesses that they take.
        """
        threads = [address for address, worker in self._workers().items() for _ in range(worker["nthreads"])]
        cores = max(1, len(threads))
        groups = min(len(sources), cores * max(GROUPS, math.ceil(len(sources) / (TOGETHER * cores))))
        for q, (start, stop) in enumerate(pairwise(len(sources) * q // groups for q in range(groups + 1))):
            yield threads[q % len(threads)] if threads else None, sources[start:stop], range(stop - start)


def _alone(
    sources: Sequence[Any], which: Sequence[int], steps: tuple[Step, ...], gathered: Callable[[Iterable[Any]], Any]
) -> Any:
    """Return what is gathered of some sources by a worker, of which there is one a core."""
    _keep_memory()
    mark = WORKING.set(True)
    try:
        return gathered(done(sources[q], steps) for q in which)
    finally:
        WORKING.reset(mark)


@lru_cache(maxsize=1)
def _keep_memory() -> None:
    """Have memory that is freed be used again: Dask has workers give it back at once, and half of the time goes there.

    Blocks come and go thousands of times a pass; of each page the first touch costs as much as what is computed on it.
    """
    try:
        settings = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return
    for option, size in ((_TRIM_THRESHOLD, 1 << 28), (_MMAP_THRESHOLD, 1 << 24)):
        settings(option, size)


def _told(error: BaseException) -> BaseException:
    """Return what is raised here of what a worker raised."""
    if isinstance(error, DrfoptError):
        return error
    if type(error).__name__ == "KilledWorker":
        return SolverError(
            "workers died again and again on one partition, perhaps for want of memory: write smaller row groups, or "
            "start workers with more"
        )
    return SolverError(f"a worker failed: {type(error).__name__}: {error}")


@contextmanager
def place(jobs: int, dask: str | None, deadline: Deadline = NEVER) -> Iterator[Place]:
    """Open the place where work is done: this process for one job, else processes here, or a Dask cluster.

    Parameters
    ----------
    jobs : int
        Worker processes of a cluster of this machine, which ends with the block.
    dask : str or None
        Address of a Dask scheduler, such as ``tcp://10.0.0.1:8786``: its workers do it.
    deadline : Deadline

    Raises
    ------
    EngineError
        When Dask is needed and not installed, or `jobs` is less than 1.
    SolverError
        When no cluster answers.
    """
    checked_jobs(jobs)
    if dask is None and jobs == 1:
        yield _Here(deadline)
        return
    with _scheduler(jobs) if dask is None else _given(dask) as address, connected(address) as client:
        yield _Workers(client, deadline)


@contextmanager
def _given(address: str) -> Iterator[str]:
    yield address


def quietly() -> Any:
    """Return a context in which Dask starts processes that look at themselves seldom, not fifty times a second.

    Nobody sees what they find, without a dashboard, and it takes 1 to 2 % of a core in each process all the time.
    """
    import dask

    return dask.config.set(IDLE)


@contextmanager
def _scheduler(jobs: int) -> Iterator[str]:
    """Start a scheduler and its workers on this machine, one thread each."""
    try:
        from distributed import LocalCluster
    except ImportError:
        raise EngineError(
            "several processes on partitions need dask.distributed: pip install 'drfopt[dask]', or ask for one job"
        ) from None
    if getattr(current_process(), "_inheriting", False):
        # A worker that runs the caller's script again before it can work: who asked for workers is told below.
        raise SystemExit(1)
    for left in reversed(range(STARTS)):
        try:
            with quietly():
                cluster = LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                )
            break
        except RuntimeError as error:
            if not left:
                raise SolverError(
                    f"of {jobs} worker processes some did not start, or died as they did ({error}): run it again, or "
                    'ask for one job; where a script asks for them, put what it does under if __name__ == "__main__":, '
                    "which lets them read it"
                ) from None
    with cluster:
        yield cluster.scheduler_address
