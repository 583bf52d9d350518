"""Python code of others that has to end in time: it is interrupted where it stands."""

import ctypes
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .deadline import Deadline
from .errors import TimeLimitError

__all__ = ["interrupted"]

AGAIN = 1.0
"""Seconds after which code is interrupted again that goes on as if nothing had been."""


class _TimeUp(BaseException):
    """No `Exception`, which the code may well catch."""


@contextmanager
def interrupted(deadline: Deadline, what: str, least: float = 0.0) -> Iterator[None]:
    """End the Python code inside the block when the deadline has passed; a call that waits in C comes back first.

    Parameters
    ----------
    what : str
        What the time ran out in.
    least : float
        Seconds that the code has in any case.

    Raises
    ------
    TimeLimitError
    """
    seconds = deadline.left(least)
    if seconds == math.inf:
        yield
        return
    thread, done = ctypes.c_ulong(threading.get_ident()), threading.Event()

    def ring() -> None:
        wait = seconds
        while not done.wait(wait):
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(_TimeUp))
            wait = AGAIN

    bell = threading.Thread(target=ring, daemon=True)
    try:
        try:
            bell.start()
            yield
        finally:
            done.set()
            bell.join()
            # What has rung and was not heard must not be heard later, elsewhere.
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, None)
    except _TimeUp:
        done.set()  # It may have rung before that was done.
        raise TimeLimitError(f"the time limit ran out in {what}") from None
