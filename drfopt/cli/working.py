"""Around the work of a command: a spinner that says what the library reports, and Ctrl-C that is heard."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..base import progress
from .interrupt import interruptible

__all__ = ["working"]


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
