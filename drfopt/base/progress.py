"""What long work says about itself while it runs, to whoever listens; by default nobody does.

Library code calls `report`; whoever wants to hear it wraps it in `reporting`, and whoever wants to see it, in a
notebook or a terminal, in `show_progress`.  It is logged as well, at level INFO of the logger ``drfopt``.
"""

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["report", "reporting", "show_progress"]

LOG = logging.getLogger("drfopt")
LOG.addHandler(logging.NullHandler())

APART = 0.1
"""Seconds between two lines shown in a notebook: every one is a message to the browser."""

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("drfopt_progress", default=None)


def report(text: str) -> None:
    """Say what is being done, such as ``"round 3: 12 users rising"``; silent when nobody listens."""
    LOG.info("%s", text)
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


@contextmanager
def show_progress() -> Iterator[None]:
    """Show what the work inside the block is at: one line under a notebook's cell, or a spinner in a terminal.

    Examples
    --------
    >>> with show_progress():
    ...     found = solve(Instance([[1, 4], [3, 1]], [9, 18]))
    """
    notebook = _notebook()
    if notebook is not None:
        try:
            with reporting(notebook):
                yield
        finally:
            notebook("", last=True)
        return
    from rich.console import Console
    from rich.text import Text

    # The spinner called "line" is ASCII; where standard error is no terminal, nothing is shown.
    with (
        Console(stderr=True).status("", spinner="line") as status,
        reporting(lambda text: status.update(Text(text))),
    ):
        yield


def _notebook() -> Callable[..., None] | None:
    """Return what shows a line under the cell that runs, None where no notebook does; no widgets are needed."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if not hasattr(shell, "kernel"):
        return None
    handle: Any = sys.modules["IPython.display"].display({"text/plain": ""}, raw=True, display_id=True)
    shown_at = 0.0

    def show(text: str, last: bool = False) -> None:
        nonlocal shown_at
        now = time.monotonic()
        if last or now - shown_at >= APART:
            handle.update({"text/plain": text}, raw=True)
            shown_at = now

    return show
