"""What long work says about itself while it runs, to whoever listens; by default nobody does.

Library code calls `report`; whoever wants to hear it (the command line, a notebook) wraps it in `reporting`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["report", "reporting"]

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("drfopt_progress", default=None)


def report(text: str) -> None:
    """Say what is being done, such as ``"round 3: 12 users rising"``; silent when nobody listens."""
    listener = _listener.get()
    if listener is not None:
        listener(text)


@contextmanager
def reporting(callback: Callable[[str], None]) -> Iterator[None]:
    """Hand every report made inside the block to `callback`; an inner block hides the outer one.

    Examples
    --------
    >>> with reporting(print):
    ...     report("round 1: 2 users rising")
    round 1: 2 users rising
    """
    token = _listener.set(callback)
    try:
        yield
    finally:
        _listener.reset(token)
