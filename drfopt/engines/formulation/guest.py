"""A user's code is a guest: what it prints is no part of an answer, and the time limit ends it too."""

import io
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TextIO

from ...base.deadline import Deadline
from ...base.errors import TimeLimitError

__all__ = ["aside", "ended"]

AGAIN = 1.0
"""Seconds until a guest that went on is interrupted once more."""

LEAST = 0.001
"""Seconds that a guest has at least: a timer of 0 would never ring."""


class _Aside(io.TextIOBase):
    """Text for a stream, which stays open when this is closed."""

    def __init__(self, stream: TextIO):
        self.stream = stream

    def write(self, text: str) -> int:
        if self.closed:
            raise ValueError("it closed its standard output")
        return self.stream.write(text)


@contextmanager
def aside() -> Iterator[None]:
    """Inside the block what is printed goes to standard error."""
    with redirect_stdout(_Aside(sys.stderr)):
        yield


@contextmanager
def ended(name: str, deadline: Deadline) -> Iterator[None]:
    """Inside the block `TimeLimitError` is raised at the deadline, whatever runs.

    Python hears an alarm in its main thread alone, and on Windows not at all: elsewhere a guest may take its time.
    """
    seconds = deadline.left(LEAST)
    if (
        seconds > threading.TIMEOUT_MAX
        or not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
        or signal.getitimer(signal.ITIMER_REAL) != (0.0, 0.0)  # somebody else waits for one
    ):
        yield
        return

    def ring(number: int, frame: object) -> None:
        raise TimeLimitError(f"the time limit ran out in {name}")

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
