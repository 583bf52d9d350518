"""The log of a search: one line for each unit of work that is done, appended whole, so that a search can go on.

The first line says what is searched.  A line cut short by a crash is dropped, and its unit is done again; of a unit
that stands there twice the last line counts: one in which time ran out has cases ``left``.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from ...base.errors import InstanceError

__all__ = ["Log"]


class Log:
    """Units done, or begun, on disk where a path is given; what was done before is in `done`."""

    def __init__(self, path: Path | None, heading: dict[str, Any]):
        self.path, self.heading = path, json.loads(json.dumps(heading))
        self.done: dict[int, dict[str, Any]] = {}
        if path is not None and path.exists():
            self._read(path)

    def _read(self, path: Path) -> None:
        text = path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        lines = whole.decode("utf-8", "replace").splitlines()
        try:
            entries = [json.loads(line) for line in lines]
            heading = entries[0] if entries else None
            done = {int(entry["unit"]): entry for entry in entries[1:]}
        except (ValueError, KeyError, TypeError):
            raise InstanceError(f"{path} is not the log of a search: name another file, or delete it") from None
        if heading is not None and heading != self.heading:
            known = heading if isinstance(heading, dict) else {}
            other = next((key for key in self.heading if known.get(key) != self.heading[key]), "its version")
            raise InstanceError(
                f"{path} is the log of another search ({other} differs): name another file, or search for the same"
            )
        if len(whole) < len(text):
            os.truncate(path, len(whole))
        self.done = done

    @contextmanager
    def writing(self) -> Iterator["Log"]:
        """Open the file for the lines to come."""
        if self.path is None:
            yield self
            return
        fresh = not self.path.exists() or not self.path.stat().st_size
        with self.path.open("a", encoding="utf-8") as self._file:
            if fresh:
                self._line(self._file, self.heading)
            yield self

    def finished(self, unit: int) -> bool:
        """Say whether a unit is done to its end."""
        return unit in self.done and not self.done[unit].get("left")

    def add(self, entry: dict[str, Any]) -> None:
        """Note what is done of one unit; on disk before this returns."""
        self.done[entry["unit"]] = entry
        if self.path is not None:
            self._line(self._file, entry)

    @staticmethod
    def _line(file: TextIO, entry: dict[str, Any]) -> None:
        file.write(json.dumps(entry, separators=(",", ":")) + "\n")
        file.flush()
        os.fsync(file.fileno())
