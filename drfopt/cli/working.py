"""Around the work of a command: a spinner that says what the library reports, and Ctrl-C that is heard.

Ctrl-C while a solver computes in C: the interpreter hears it when the solver returns, a thread at once.
"""

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from ..base import progress
from ..base.deadline import ending, stopping
from ..base.errors import TimeLimitError
from ..io.text.files import abandon
from .status import INTERRUPTED

__all__ = ["GRACE", "if_not_stopped", "interruptible", "stoppable", "working"]

Found = TypeVar("Found")

GRACE = 1.0
"""Seconds in which the interpreter may still end the work in its own, orderly way."""


@contextmanager
def interruptible(last_words: Callable[[], None] = lambda: None) -> Iterator[None]:
    """End the process on Ctrl-C though the block is deep in a solver; what it has not finished writing is taken away.

    Parameters
    ----------
    last_words : callable
        Tidies the terminal up before the process ends.
    """
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield
        return
    heard, writer = socket.socketpair()
    writer.setblocking(False)
    finished = threading.Event()
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_listen, args=(heard, finished, last_words), daemon=True).start()
    try:
        yield
    finally:
        finished.set()
        signal.set_wakeup_fd(before)
        # The listener reads the end of the stream and goes.
        writer.close()


@contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """Let a first Ctrl-C end the search for more, with what is known by then; a second one ends everything.

    The block is given what says whether that was asked.
    """
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    asked = threading.Event()

    def hear(number: int, frame: object) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        print("stopping with what is known; Ctrl-C again ends at once", file=sys.stderr, flush=True)

    signal.signal(signal.SIGINT, hear)
    try:
        with stopping(asked.is_set):
            yield asked.is_set
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def if_not_stopped(task: str, work: Callable[[], Found], time_limit: float | None) -> Found | None:
    """Return what is found beside an answer that is known; None after Ctrl-C, or where it fails for lack of time."""
    try:
        with stoppable() as stopped, ending(time_limit), working(task):
            found = work()
            return None if stopped() else found
    except (KeyboardInterrupt, TimeLimitError):
        return None


def _listen(heard: socket.socket, finished: threading.Event, last_words: Callable[[], None]) -> None:
    with heard:
        while number := heard.recv(1):
            if number[0] == signal.SIGINT and not finished.wait(GRACE):
                abandon()
                last_words()
                print("interrupted", file=sys.stderr, flush=True)
                os._exit(INTERRUPTED)


@contextmanager
def working(task: str) -> Iterator[None]:
    """Show `task`, then what is reported, on standard error; nothing at all where that is not a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        with interruptible():
            yield
        return
    from rich.console import Console
    from rich.text import Text

    # The spinner called "line" is ASCII: it turns on every terminal.
    with (
        Console(stderr=True).status(Text(task), spinner="line") as status,
        interruptible(status.stop),
        progress.reporting(lambda text: status.update(Text(text))),
    ):
        yield
