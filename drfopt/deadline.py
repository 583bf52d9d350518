"""The moment by which a computation must have ended, handed from floor to floor; a limit of None never comes."""

import math
import time
from dataclasses import dataclass

from .errors import TimeLimitError

__all__ = ["NEVER", "Deadline"]


@dataclass(frozen=True)
class Deadline:
    """A moment on the monotonic clock.

    Attributes
    ----------
    moment : float
        Seconds of `time.monotonic`; inf for never.
    """

    moment: float = math.inf

    @classmethod
    def after(cls, seconds: float | None) -> "Deadline":
        """Return the deadline that many seconds from now; None is never."""
        return NEVER if seconds is None else cls(time.monotonic() + seconds)

    def left(self, least: float = 0.0) -> float:
        """Return the seconds left, at least so many; inf for never."""
        return max(self.moment - time.monotonic(), least)

    def part(self, fraction: float) -> "Deadline":
        """Return the deadline after that fraction of the time left: the rest is for what has to come after."""
        return self if self is NEVER else Deadline(time.monotonic() + fraction * self.left())

    def check(self, what: str, known: str = "") -> None:
        """Raise `TimeLimitError` when the moment has passed."""
        if time.monotonic() > self.moment:
            raise TimeLimitError(f"the time limit ran out in {what}", known)


NEVER = Deadline()
