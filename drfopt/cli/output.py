"""The way out of a command: a sheet or a text, to standard output or to a file.

Which versions an answer was computed with.
"""

import errno
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..base.errors import InstanceError
from ..base.tables import FORMATS, SHOWN, WIDTH, Sheet
from .status import USAGE_ERROR

__all__ = ["Output", "check", "check_folder", "deliver", "deliver_proof", "versions"]


SUFFIXES = {".json": "json", ".csv": "csv", ".md": "markdown", ".tex": "latex"}
"""The format a file's name asks for when no option does."""

PLAIN = ("", ".txt", ".text", ".log", ".out")
"""How the name of a file may end that gets the table as it is printed."""

ROWS = 10_000
"""Rows of a table that does not go to a terminal; laying out more takes longer than anyone reads."""


@dataclass(frozen=True)
class Output:
    """Where a result goes and in which format; made before the work: a bad wish must not cost an hour."""

    format: str
    path: Path | None

    @classmethod
    def from_options(cls, format: str | None, json: bool, path: Path | None) -> "Output":
        """Return what ``--format``, ``--json`` and ``-o`` say together."""
        if json and format not in (None, "json"):
            raise USAGE_ERROR(f"--json and --format {format} ask for two formats: give one of them")
        if path is not None:
            check(path)
        asked = "json" if json else format
        if path is not None and asked is None:
            ending = path.suffix.lower()
            if ending not in SUFFIXES and ending not in PLAIN:
                raise InstanceError(
                    f"{path}: nothing is written as {ending!r} here: let the name end in "
                    f"{', '.join(SUFFIXES)} or .txt, or give --format"
                )
            asked = SUFFIXES.get(ending)
        return cls(asked or "table", path)

    def write(
        self, sheet: Sheet, document: Callable[[], Any] | None = None, rows: int = SHOWN, title: str = ""
    ) -> None:
        """Write the sheet; `document` makes what JSON prints instead, `rows` are shown on a terminal.

        With a `title`, JSON says what instance it is of, and with which versions it was computed.
        """
        if self.format == "json" and document is not None:
            made = partial(_titled, document, title) if title else document
            sheet = replace(sheet, document=made)
        deliver(self._text(sheet, rows), self.path)

    def _text(self, sheet: Sheet, rows: int) -> str:
        if self.format == "table":
            return sheet.text(rows=ROWS) if self.path else _for_standard_output(sheet, rows)
        text = FORMATS[self.format](sheet)
        if self.format == "json" and not _can_write(self.path, text):
            return json.dumps(json.loads(text), indent=2)
        return text


def _titled(document: Callable[[], Any], title: str) -> Any:
    return document() | {"instance": title, "version": versions()}


def check(path: Path) -> None:
    """Raise `InstanceError` when a file of that name cannot come into being."""
    if path.is_dir():
        besides = ", and so is an empty name" if path == Path() else ""
        raise InstanceError(f"{path} is a folder{besides}: name a file")
    check_folder(path)


def check_folder(path: Path) -> None:
    """Raise `InstanceError` when there is no folder that a file or folder of that name could lie in, or it is none."""
    if path == Path("-"):
        raise InstanceError("'-' names nothing to write here: only -o can be standard output, give this a name")
    if not path.parent.is_dir():
        name = repr(str(path.parent))
        said = (
            f"{name} is a file: name a folder" if path.parent.exists() else f"there is no folder {name}: make it first"
        )
        raise InstanceError(f"{path}: {said}")


def deliver(text: str, path: Path | None = None) -> None:
    """Write a text, ended by a line break, to a file (whole or not at all) or to standard output."""
    if path is not None:
        from ..io.text.files import write_whole

        write_whole(path, text.rstrip("\n") + "\n")
        return
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding).rstrip("\n") + "\n")
        sys.stdout.flush()
    except OSError as error:
        if error.errno in (errno.EPIPE, errno.EINVAL):
            raise BrokenPipeError from error
        raise OSError(error.errno, error.strerror, "standard output") from error


def deliver_proof(document: dict[str, Any], path: Path) -> None:
    """Write an answer or a verdict with its proof, and with which versions it was computed."""
    deliver(json.dumps(document | {"program": versions()}, ensure_ascii=False), path)


def _for_standard_output(sheet: Sheet, rows: int) -> str:
    from rich.console import Console

    terminal = Console(highlight=False)
    console = terminal if terminal.is_terminal else Console(highlight=False, width=WIDTH)
    with console.capture() as captured:
        sheet.show(console, rows if terminal.is_terminal else ROWS)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _can_write(path: Path | None, text: str) -> bool:
    encoding = "utf-8" if path is not None else getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


COMPUTING = ("numpy", "highspy")
"""Packages whose version may show in the numbers."""


def versions() -> str:
    """Return ``"drfopt 0.1.0, numpy 2.4.6, highspy 1.15.1"`` without importing them."""
    from importlib.metadata import PackageNotFoundError, version

    from .. import __version__

    found = [f"drfopt {__version__}"]
    for package in COMPUTING:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} (not installed)")
    return ", ".join(found)
