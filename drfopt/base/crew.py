"""Work shared by this process and others: whoever is free takes the next item, and results keep the items' order.

A process takes most of a second to start and to import what it needs.  This one works meanwhile and afterwards, so that
of two there is one to start, and no time in which nobody works.
"""

import math
import pickle
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sized
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from contextvars import ContextVar
from functools import lru_cache
from threading import Event, Lock, Thread
from time import perf_counter, sleep
from typing import Any

from .errors import DrfoptError

__all__ = ["WORKING", "Crew", "Failure", "call", "raised"]

WORKING: ContextVar[bool] = ContextVar("WORKING", default=False)
"""Whether a crew works here: what it does is not shared again."""

ALONE_FOR = 0.3
"""Seconds of work after which others are thought of: the first item pays for imports, and tells little of the rest."""

LONG = 0.5
"""Seconds of an item that tells enough by itself."""

WORTH_IT = 2.0
"""Seconds of work that must be left by then: a worker takes half of that to start."""

SHORT = 0.05
"""Seconds of an item below which a worker has the next one at hand, so as not to wait for it."""

IDLE = 60
"""Seconds after which workers without work end."""

TRIES = 3
"""Times that workers are started."""

UNSENDABLE = (pickle.PicklingError, TypeError, AttributeError)
"""Errors of what cannot be pickled."""

READINGS = 100
"""Times that what is to be sent is read, when it changes meanwhile."""

THREADS = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB", "NUMEXPR", "NUMBA")
"""Libraries whose threads would compete with the other workers: ``OMP_NUM_THREADS`` and so on."""


class Failure:
    """An error of this package on its way back from a worker, to be raised when its turn has come."""

    def __init__(self, error: DrfoptError):
        self.error = error


def call(task: tuple[Callable[[Any], Any], Any]) -> Any:
    """Return what a function makes of an item, or its failure.

    One tuple, because joblib scatters larger arguments to Dask's workers, and they would be lost with a worker.
    """
    function, item = task
    try:
        return function(item)
    except DrfoptError as error:
        return Failure(error)


def raised(outcomes: Generator[Any, None, None]) -> Iterator[Any]:
    """Yield what is no failure, and raise what is, when whoever makes the outcomes has stopped."""
    with closing(outcomes):
        for outcome in outcomes:
            if isinstance(outcome, Failure):
                raise outcome.error
            yield outcome


@lru_cache(maxsize=2)
def _read(function: bytes) -> Callable[[Any], Any]:
    found: Callable[[Any], Any] = pickle.loads(function)
    return found


def _ready(function: bytes) -> None:
    """Read the function, and import what it needs for that."""
    _read(function)


def _work(function: bytes, item: bytes) -> Any:
    WORKING.set(True)
    return call((_read(function), pickle.loads(item)))


def _written(thing: Any) -> bytes:
    """Return what is to be sent, pickled while this process works with it.

    What an object keeps when it is first asked for disturbs who is just reading the object: then it is read again.
    """
    from joblib.externals.loky.backend.reduction import dumps

    for _ in range(READINGS):
        try:
            return bytes(dumps(thing))
        except RuntimeError:
            sleep(ALONE_FOR / 10)
    raise pickle.PicklingError(f"{type(thing).__name__} changes all the time")


class Crew:
    """This process and others.

    Parameters
    ----------
    function, items
        As in `drfopt.base.parallel.spread`.
    others : int
        Processes beside this one, at least 1: they start when there turns out to be enough work for them.
    """

    def __init__(self, function: Callable[[Any], Any], items: Iterable[Any], others: int):
        self._function, self._items, self._others = function, iter(items), others
        self._total = len(items) if isinstance(items, Sized) else math.inf
        self._written = b""
        self._there = False
        self._executor: Any = None
        self._lock, self._over = Lock(), Event()
        # Items whose results were not yielded yet, in order; how many are done, and under way at others.
        self._taken: deque[tuple[Any, Future[Any]]] = deque()
        self._done = self._out = 0
        self._begun, self._first = perf_counter(), 0.0

    def outcomes(self, without: Callable[[Iterator[Any]], Iterator[Any]]) -> Generator[Any, None, None]:
        """Yield what became of the items, in their order; where workers die `without` this crew does the rest."""
        watch = Thread(target=self._watch, daemon=True)
        watch.start()
        ended = False
        try:
            while True:
                while self._taken and self._taken[0][1].done():
                    outcome = self._taken[0][1].result()
                    self._taken.popleft()
                    yield outcome
                if (mine := self._take()) is not None:
                    self._do(*mine)
                elif self._taken:
                    self._taken[0][1].exception()
                else:
                    ended = True
                    return
        except BrokenProcessPool:
            self._dismiss(watch, at_once=True)
            yield from self._rest(without)
        except GeneratorExit:
            # What is under way may end, where anybody has begun: those who know the function are kept for what follows.
            self._over.set()
            for _, future in list(self._taken) if self._there else ():
                future.exception()
            ended = True
            raise
        finally:
            self._dismiss(watch, at_once=not (ended and self._there))

    def _take(self) -> tuple[Any, Future[Any]] | None:
        """Return the next item, for whoever asks; None when there is none."""
        with self._lock:
            for item in self._items:
                entry = item, Future[Any]()
                self._taken.append(entry)
                return entry
        return None

    def _do(self, item: Any, future: Future[Any]) -> None:
        """Do an item in this process."""
        mark = WORKING.set(True)
        try:
            future.set_result(call((self._function, item)))
        finally:
            WORKING.reset(mark)
        self._first = self._first or perf_counter() - self._begun
        self._done += 1

    def _watch(self) -> None:
        """Wait until there is enough for others, and have them start."""
        while not self._enough():
            if self._over.wait(ALONE_FOR / 10):
                return
        from joblib.externals.loky import get_reusable_executor

        try:
            self._written = _written(self._function)
        except UNSENDABLE:
            # What cannot be sent to anybody is done here.
            return
        env = {f"{name}_NUM_THREADS": "1" for name in THREADS}
        for _ in range(TRIES):
            self._executor = get_reusable_executor(self._others, timeout=IDLE, env=env)
            try:
                # Nothing waits for who is not there yet: this process goes on, to the end if that comes first.
                starting = [self._executor.submit(_ready, self._written) for _ in range(self._others)]
            except RuntimeError:  # those who were left from work before have died just now
                continue
            for each in starting:
                each.add_done_callback(self._welcome)
            return

    def _welcome(self, ready: Future[Any]) -> None:
        """Give a worker that has started its first item; one that cannot start is not counted on."""
        if ready.cancelled() or ready.exception() is not None:
            return
        self._there = True
        self._give()

    def _enough(self) -> bool:
        """Whether so much is left that others are worth their start, as far as it is known."""
        spent = perf_counter() - self._begun
        done = self._done
        if done > 1:
            each = (spent - self._first) / (done - 1)
        elif spent > LONG:
            each = spent / (done or 1)
        else:
            return False
        return spent > ALONE_FOR and (self._total - done - 1) * each > WORTH_IT

    def _give(self) -> None:
        """Give another item to the workers."""
        if self._over.is_set() or (entry := self._take()) is None:
            return
        item, future = entry
        self._out += 1

        def answered(theirs: Future[Any]) -> None:
            self._out -= 1
            error = BrokenProcessPool("sent away") if theirs.cancelled() else theirs.exception()
            if error is not None:
                future.set_exception(error)
                return
            future.set_result(theirs.result())
            self._done += 1
            each = (perf_counter() - self._begun) * (1 + self._others) / self._done
            while self._out < self._others * (2 if each < SHORT else 1) and not self._over.is_set():
                before = self._out
                self._give()
                if self._out <= before:
                    break

        try:
            self._executor.submit(_work, self._written, _written(item)).add_done_callback(answered)
        except UNSENDABLE as error:
            future.set_exception(error)
        except RuntimeError as error:
            # The workers have died, or are sent away.
            future.set_exception(BrokenProcessPool(str(error)))

    def _rest(self, without: Callable[[Iterator[Any]], Iterator[Any]]) -> Iterator[Any]:
        """Do again what died with the workers, and the rest."""
        again = {id(future) for _, future in self._taken if isinstance(future.exception(), BrokenProcessPool)}
        lost = [item for item, future in self._taken if id(future) in again]
        redone = without(iter([*lost]))
        for _, future in list(self._taken):
            yield next(redone) if id(future) in again else future.result()
        yield from without(self._items)

    def _dismiss(self, watch: Thread, at_once: bool) -> None:
        """Send the workers away: those that work now, or have not even started; others wait for more."""
        self._over.set()
        watch.join()
        if at_once and self._executor is not None:
            self._executor.shutdown(wait=True, kill_workers=True)
            self._executor = None
