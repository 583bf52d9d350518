"""The program around the commands: every exception becomes one line on standard error and an exit status."""

import os
import sys
import warnings
from typing import Any

from typer.core import TyperGroup

from .status import BROKEN_PIPE, FAILED, INTERRUPTED, sentence, status_of

__all__ = ["Program"]


class Program(TyperGroup):
    """A group of commands that never shows a traceback and always exits with a status of the table."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command named by the arguments and exit."""
        if not sys.warnoptions:
            warnings.simplefilter("ignore")
        extra["standalone_mode"] = False
        try:
            status = super().main(*args, **extra) or 0
            _flush()
        except BaseException as error:
            status = _failed(error)
        else:
            # Some versions of typer turn Ctrl-C into this status without a word.
            if status == INTERRUPTED:
                status = _failed(KeyboardInterrupt())
        sys.exit(status if isinstance(status, int) else 0)


def _failed(error: BaseException) -> int:
    if isinstance(error, SystemExit):
        # typer and rich answer a broken pipe with an exit of their own, of another meaning here.
        if not isinstance(error.__context__, BrokenPipeError):
            return error.code if isinstance(error.code, int) else FAILED if error.code else 0
        error = error.__context__
    status = status_of(error)
    if status == BROKEN_PIPE:
        _silence()
        return status
    if os.environ.get("DRFOPT_TRACEBACK"):
        raise error
    if sys.stderr is not None:
        print(sentence(error), file=sys.stderr)
    return status


def _flush() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


def _silence() -> None:
    """Point standard output at nothing: the interpreter flushes it once more on its way out."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return
