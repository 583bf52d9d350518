"""Tables and numbers of the page: each names the place in the document that it shows.

A place is a path of keys and positions; in a column None stands for what the row puts in. What is shown is what is
found there, so a table cannot say anything else than the document, and a test can follow every path.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ..base.numbers.shown import fixed, number, percent
from ..base.tables import clean

__all__ = ["Cell", "Column", "Path", "Table", "at", "shown"]

Path = tuple[str | int | None, ...]

NUMBERS = ("share", "number", "count")


@dataclass(frozen=True)
class Column:
    """A column: its heading, the place of its values, and how they are shown.

    Attributes
    ----------
    heading : str
    path : tuple
    kind : str
        ``text``, ``share`` (a percentage), ``number`` or ``count``.
    group : str
        Heading above several columns, such as a policy's name.
    """

    heading: str
    path: Path
    kind: str = "text"
    group: str = ""

    @property
    def numeric(self) -> bool:
        """Whether the column is set to the right and sorted as numbers."""
        return self.kind in NUMBERS

    @property
    def place(self) -> str:
        """The path as the page tells it."""
        return json.dumps(self.path)


@dataclass(frozen=True)
class Cell:
    """What a cell shows, and the full value where that says more."""

    text: str
    full: str = ""


@dataclass(frozen=True)
class Table:
    """A table of the document.

    Attributes
    ----------
    name : str
        Of its place on the page.
    caption : str
    unit : str
        What a row is, in the plural.
    columns : tuple of Column
    rows : tuple of (key, cells)
        The key is what the row puts into the paths, as JSON.
    left_out : int
        Rows that the document has and the table has not.
    """

    name: str
    caption: str
    unit: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    left_out: int = 0

    @classmethod
    def of(
        cls,
        document: dict[str, Any],
        name: str,
        caption: str,
        unit: str,
        columns: Iterable[Column],
        keys: Sequence[tuple[int | str, ...]],
        left_out: int = 0,
    ) -> "Table":
        """Return the table whose rows are the `keys` put into the paths of the columns."""
        columns = tuple(columns)
        values = [[at(document, column.path, key) for key in keys] for column in columns]
        # Columns of one heading, for each policy one, show equal numbers alike.
        pools: dict[str, list[Any]] = {}
        for column, found in zip(columns, values, strict=True):
            pools.setdefault(column.heading, []).extend(found)
        cells = [_cells(column, found, pools[column.heading]) for column, found in zip(columns, values, strict=True)]
        rows = zip(keys, zip(*cells, strict=True), strict=True)
        return cls(name, caption, unit, columns, tuple((json.dumps(key), row) for key, row in rows), left_out)

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Headings above the columns and how many columns each stands over; empty where there are none."""
        found: list[tuple[str, int]] = []
        for column in self.columns:
            if found and found[-1][0] == column.group:
                found[-1] = (column.group, found[-1][1] + 1)
            else:
                found.append((column.group, 1))
        return found if any(name for name, _ in found) else []


def at(document: Any, path: Path, key: Sequence[int | str] = ()) -> Any:
    """Return what the document has at a path, the Nones in it replaced by the key, in order."""
    filled = iter(key)
    for step in path:
        document = document[next(filled) if step is None else step]
    return document


def shown(document: dict[str, Any], path: Path, kind: str = "number") -> Markup:
    """Return a number of a sentence: what it says in short, its full value, and where it comes from."""
    value = at(document, path)
    if value is None:
        return Markup("–")
    text = {"share": percent, "number": number, "count": "{:,}".format}[kind](value)
    return Markup('<data value="{}" data-at="{}">{}</data>').format(repr(value), json.dumps(path), text)


def _cells(column: Column, values: list[Any], pool: list[Any]) -> list[Cell]:
    if not column.numeric:
        return [Cell("–" if value is None else _said(value)) for value in values]
    texts = fixed(values, pool, share=column.kind == "share")
    if column.kind == "share":
        texts = [text if value is None else f"{text} %" for text, value in zip(texts, values, strict=True)]
    full = ["" if value is None else repr(value) for value in values]
    return [Cell(text, "" if text == value else value) for text, value in zip(texts, full, strict=True)]


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return clean(str(value))
