"""Exit statuses, and which exception ends in which: one table, read from the top.

The program around the commands: every exception becomes one line on standard error and an exit status.
"""

import os
import sys
import warnings
from copy import copy
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ..base.errors import CertificateError, DrfoptError, InstanceError, SolverError

__all__ = [
    "BROKEN_PIPE",
    "DISAGREED",
    "FAILED",
    "INTERRUPTED",
    "STATUS",
    "USAGE",
    "USAGE_ERROR",
    "Command",
    "Program",
    "sentence",
    "status_of",
]


DISAGREED = 1
"""The check was made and failed."""

USAGE = 2
"""Bad input or usage."""

FAILED = 3
"""The solver failed or ran out of time."""

INTERRUPTED = 130
BROKEN_PIPE = 141
"""128 and the number of the signal, as a shell reports programs that SIGINT or SIGPIPE ended."""

USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""typer's own usage error, found by descent: its home has moved between versions of typer."""

FILES = (
    "--answer",
    "--certificate",
    "--checkpoint",
    "--cluster",
    "--current",
    "--output",
    "--plot",
    "--plots",
    "--records",
    "--timeline",
)
"""Options that name a file which is written, or read and not to be written over."""

STATUS: tuple[tuple[type[BaseException], int], ...] = (
    (KeyboardInterrupt, INTERRUPTED),
    (typer.Abort, INTERRUPTED),
    (BrokenPipeError, BROKEN_PIPE),
    (USAGE_ERROR, USAGE),
    (SolverError, FAILED),
    (CertificateError, FAILED),
    (MemoryError, FAILED),
    (DrfoptError, USAGE),
    (OSError, USAGE),
    (Exception, FAILED),
)
"""The first row that fits decides; the last one is for mistakes of the package itself."""


def status_of(error: BaseException) -> int:
    """Return the exit status that an exception ends in."""
    return next(status for kind, status in STATUS if isinstance(error, kind))


def sentence(error: BaseException) -> str:
    """Return what is printed of an exception: one line, nothing in it that could steer a terminal."""
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        return "interrupted"
    lines = (line.strip() for line in _message(error).splitlines())
    message = " ".join(line for line in lines if line)
    return "error: " + "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)


def _message(error: BaseException) -> str:
    if isinstance(error, USAGE_ERROR):
        return _usage(error)
    if isinstance(error, MemoryError):
        return "out of memory: the instance is too large for this machine"
    if isinstance(error, DrfoptError):
        return str(error)
    if isinstance(error, OSError):
        place = f"{os.fspath(error.filename)}: " if isinstance(error.filename, str | os.PathLike) else ""
        return f"{place}{error.strerror or error}"
    fault = f"{type(error).__name__}: {error}"
    return f"drfopt itself is at fault ({fault}): set DRFOPT_TRACEBACK=1 to see where, and report it"


def _usage(error: BaseException) -> str:
    # Typer speaks in sentences of its own; joined to ours they begin small and end without a full stop.
    message = error.format_message().strip().rstrip(".").replace(". Did", ": did")  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "drfopt"
    joint = "" if message.endswith("?") else ";"
    return f"{message[:1].lower()}{message[1:]}{joint} see '{command} --help'"


class Command(TyperCommand):
    """A command whose options say one thing each, and do not write one file over another."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the words of the command line apart; an option with one value is not given two.

        Raises
        ------
        UsageError
        """
        given = [] if ctx.resilient_parsing else self._given(ctx, args)
        for option, values in given:
            _one_value(option, values)
        rest = super().parse_args(ctx, args)
        for option, values in given:
            # Python reads the digits of every script.
            if isinstance(ctx.params[option.name], int | float) and not str(values[0]).isascii():
                raise USAGE_ERROR(f"{option.opts[0]} is given as {values[0]!r}: write it with the digits 0 to 9")
        return rest

    def _given(self, ctx: Any, args: list[str]) -> list[tuple[Any, list[Any]]]:
        """Return the options that keep one value, and all that are given for each, as they are written."""
        parser, single = self.make_parser(ctx), [p for p in self.params if p.opts[0][:1] == "-" and not p.multiple]
        for option in single:
            every = copy(option)
            every.multiple = True
            every.add_to_parser(parser, ctx)
        given = parser.parse_args(list(args))[0]
        return [(option, given[option.name]) for option in single if option.name in given]

    def invoke(self, ctx: Any) -> Any:
        """Run it; where two files that it names are one, nothing is begun.

        Raises
        ------
        InstanceError
        """
        named: dict[str, str] = {}
        for option in self.params:
            word, file = option.opts[0], ctx.params.get(option.name)
            if word not in FILES or file is None:
                continue
            path, place = Path(file), os.path.realpath(file)
            # A terminal or a pipe takes one after the other.
            if (path.is_file() or not path.exists()) and named.setdefault(place, word) != word:
                raise InstanceError(f"{named[place]} and {word} both name {str(file)!r}: name two files")
        return super().invoke(ctx)


def _one_value(option: Any, values: list[Any]) -> None:
    """Refuse two different values of an option."""
    first, *others = dict.fromkeys(values)
    if others and option.is_flag:
        raise USAGE_ERROR(f"{option.opts[0]} and {option.secondary_opts[0]} are both given: keep one of them")
    if others:
        raise USAGE_ERROR(f"{option.opts[0]} is given as {first!r} and as {others[0]!r}: keep one of them")


class Program(TyperGroup):
    """A group of commands that never shows a traceback and always exits with a status of the table."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; what the parser says without a place is about this command."""
        try:
            return super().invoke(ctx)
        except USAGE_ERROR as error:
            error.ctx = error.ctx or type(ctx)(self, parent=ctx, info_name=ctx.invoked_subcommand)  # type: ignore[attr-defined]
            raise

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command named by the arguments and exit."""
        if not sys.warnoptions:
            warnings.simplefilter("ignore")
            # Processes that are started know nothing of this filter; Python's own tell what an interrupt leaves behind.
            os.environ.setdefault("PYTHONWARNINGS", "ignore")
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
        _silence(sys.stdout)
        return status
    if os.environ.get("DRFOPT_TRACEBACK"):
        raise error
    if sys.stderr is not None:
        print(sentence(error), file=sys.stderr, flush=True)
        if status == INTERRUPTED:
            # Workers that had not even started are missed by whoever takes them down.
            _silence(sys.stderr)
    return status


def _flush() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


def _silence(stream: Any) -> None:
    """Point a standard stream at nothing: the interpreter uses it once more on its way out."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):
        return
