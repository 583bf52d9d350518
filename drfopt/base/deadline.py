"""The moment by which a computation must have ended, handed from floor to floor; a limit of None never comes."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from .errors import PolicyError, TimeLimitError
from .numbers.reals import is_real

__all__ = ["NEVER", "PAST", "SHORTEST", "Budget", "Deadline", "ending", "stopping"]

LONGEST = 1e12
"""Seconds of the longest time limit: thirty thousand years."""

SHORTEST = 0.01
"""Seconds of a share at least: what comes when the time is up says so, or what it knows without a search."""

_last: ContextVar["Deadline | None"] = ContextVar("drfopt_last", default=None)
_stopped: ContextVar[Callable[[], bool] | None] = ContextVar("drfopt_stopped", default=None)


@contextmanager
def stopping(asked: Callable[[], bool]) -> Iterator[None]:
    """Inside the block every deadline has passed as soon as `asked` says so: a person who has waited long enough."""
    token = _stopped.set(asked)
    try:
        yield
    finally:
        _stopped.reset(token)


@contextmanager
def ending(time_limit: Any) -> Iterator["Deadline"]:
    """Inside the block no deadline that is asked for is later than this time limit: it is one for all that is done."""
    deadline = Deadline.asked(time_limit)
    token = _last.set(deadline)
    try:
        yield deadline
    finally:
        _last.reset(token)


@dataclass(frozen=True)
class Deadline:
    """A moment on the monotonic clock.

    Attributes
    ----------
    moment : float
        Seconds of `time.monotonic`; inf for never.
    heeds : bool
        Whether it has passed when somebody asks to stop.
    """

    moment: float = math.inf
    heeds: bool = True

    @classmethod
    def after(cls, seconds: float | None) -> "Deadline":
        """Return the deadline that many seconds from now; None is never."""
        return NEVER if seconds is None else cls(time.monotonic() + seconds)

    @classmethod
    def asked(cls, time_limit: Any) -> "Deadline":
        """Return the deadline of the time limit that a caller gives, in seconds; None is never, or that of `ending`.

        Raises
        ------
        PolicyError
            When it is no positive number.
        """
        last = _last.get() or NEVER
        if time_limit is None:
            return last
        if not is_real(time_limit) or not time_limit > 0:
            given = time_limit if is_real(time_limit) else repr(time_limit)
            raise PolicyError(f"the time limit is {given}: give a positive number of seconds")
        return min(cls.after(float(min(time_limit, LONGEST))), last, key=lambda deadline: deadline.moment)

    def left(self, least: float = 0.0) -> float:
        """Return the seconds left, at least so many; inf for never."""
        return least if self.stopped else max(self.moment - time.monotonic(), least)

    @property
    def stopped(self) -> bool:
        """Whether somebody asked to stop."""
        asked = _stopped.get()
        return self.heeds and asked is not None and asked()

    @property
    def stoppable(self) -> bool:
        """Whether somebody may ask to stop."""
        return _stopped.get() is not None

    def part(self, fraction: float) -> "Deadline":
        """Return the deadline after that fraction of the time left: the rest is for what has to come after."""
        return self if self is NEVER else Deadline(time.monotonic() + fraction * self.left())

    def grace(self, seconds: float) -> "Deadline":
        """Return this deadline, or the one that many seconds from now where it has passed or comes sooner.

        For what there is no answer without: also where somebody has asked to stop already.
        """
        return Deadline(time.monotonic() + self.left(seconds), not self.stopped)

    def share(self, of: int) -> float | None:
        """Return the seconds of the next of so many computations that are still to come; None where there is no end."""
        return None if self.moment == math.inf else max(self.left() / of, SHORTEST)

    def __reduce__(self) -> tuple:
        """Go to another process as the seconds left: its monotonic clock may be another."""
        return Deadline.after, (None if self.moment == math.inf else self.left(),)

    def sooner(self, seconds: float) -> "Deadline":
        """Return this deadline or the one that many seconds from now, whichever comes first."""
        return Deadline(min(self.moment, time.monotonic() + seconds))

    def check(self, what: str, known: str = "") -> None:
        """Raise `TimeLimitError` when the moment has passed, or somebody asked to stop."""
        if self.stopped:
            raise TimeLimitError(f"stopped in {what}", known)
        if time.monotonic() > self.moment:
            raise TimeLimitError(f"the time limit ran out in {what}", known)


class Budget:
    """Seconds that are spent in several goes, whatever passes between them; None is without end."""

    def __init__(self, time_limit: Any):
        self.left = time_limit

    @contextmanager
    def spent(self) -> Iterator[Deadline]:
        """Inside the block no deadline that is asked for is later than when this is spent."""
        with ending(self.left) as deadline:
            try:
                yield deadline
            finally:
                self.left = None if self.left is None else deadline.left(SHORTEST)


NEVER = Deadline()

PAST = Deadline(0.0)
