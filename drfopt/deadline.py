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

    def __reduce__(self) -> tuple:
        """Go to another process as the seconds left: its monotonic clock may be another."""
        return Deadline.after, (None if self.moment == math.inf else self.left(),)

    def check(self, what: str, known: str = "") -> None:
        """Raise `TimeLimitError` when the moment has passed."""
        if time.monotonic() > self.moment:
            raise TimeLimitError(f"the time limit ran out in {what}", known)


NEVER = Deadline()
