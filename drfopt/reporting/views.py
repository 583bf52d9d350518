"""Tables and numbers of the page: each names the place in the document that it shows.

A place is a path of keys and positions; in a column None stands for what the row puts in. What is shown is what is
found there, so a table cannot say anything else than the document, and a test can follow every path.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from markupsafe import Markup

from ..base.numbers.shown import DIGITS, apart, fixed, in_units, number, percent, towards, written_in
from ..base.tables import clean
from ..base.tolerances import LEVEL

__all__ = ["Cell", "Column", "Path", "Table", "at", "collapsed", "shown"]

Path = tuple[str | int | None, ...]

SHARES = ("share", "met")

NUMBERS = (*SHARES, "index", "number", "up to", "count")


@dataclass(frozen=True)
class Column:
    """A column: its heading, the place of its values, and how they are shown.

    Attributes
    ----------
    heading : str
    path : tuple
    kind : str
        ``text``, ``share`` (a percentage), ``met`` (1 of all only, however little is missing), ``index`` (a part of
        1), ``number``, ``up to`` (one that something holds up to, rounded down) or ``count``.
    group : str
        Heading above several columns, such as a policy's name.
    unit : tuple
        The place of what amounts are counted in; empty for nothing that has a unit.
    bar : callable or None
        From the value and the row's key to the parts of the cell that a bar fills and that a mark stands at.
    depth : tuple
        The place of how far the names of a tree are set in.
    beside : tuple
        The place of the column that its values are read beside: what differs from that is not to print as the same.
    """

    heading: str
    path: Path
    kind: str = "text"
    group: str = ""
    unit: Path = ()
    bar: Callable[[Any, tuple], tuple[float | None, float | None]] | None = None
    depth: Path = ()
    beside: Path = ()

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
    """What a cell shows, the full value where that says more, and a bar beneath: parts of its width filled and marked.

    `depth` is how far a name is set in, in a tree.
    """

    text: str
    full: str = ""
    bar: float | None = None
    mark: float | None = None
    depth: int = 0


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
        # Columns of one heading and unit, for each policy one, show equal numbers alike.
        pools: dict[Any, list[Any]] = {}
        for column, found in zip(columns, values, strict=True):
            pools.setdefault((column.heading, column.unit), []).extend(found)
        cells = []
        for column, found in zip(columns, values, strict=True):
            units = [at(document, column.unit, key) if column.unit else "" for key in keys]
            plain = zip(_cells(column, found, pools[column.heading, column.unit], units), found, keys, strict=True)
            cells.append([_with_bar(document, column, *row) for row in plain])
        at_paths = {column.path: (found, own) for column, found, own in zip(columns, values, cells, strict=True)}
        for column, found, own in zip(columns, values, cells, strict=True):
            if column.beside in at_paths:
                units = [at(document, column.unit, key) if column.unit else "" for key in keys]
                tell = [written_in(unit, _writer(column)) for unit in units]
                _tell_apart(found, own, *at_paths[column.beside], tell)
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


def collapsed(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with one allocation for policies that give the same, under the titles of all of them."""
    places = document["shown"]

    def chosen(row: list[Any]) -> list[Any]:
        return [row[place] for place in places]

    def of_resource(row: dict[str, Any]) -> dict[str, Any]:
        return row | {key: chosen(row[key]) for key in ("stopped", "allocations") if key in row}

    found = document["comparison"]["allocations"]
    machines = document["machines"]
    return document | {
        "policies": chosen(document["titles"]),
        "comparison": document["comparison"]
        | {"allocations": [found[place] | {"policy": document["titles"][place]} for place in places]},
        "measures": chosen(document["measures"]),
        "stops": chosen(document["stops"]),
        "resources": [of_resource(row) for row in document["resources"]],
        "users": [user | {"stopped": chosen(user["stopped"])} for user in document["users"]],
        "machines": machines
        and [machine | {"resources": [of_resource(row) for row in machine["resources"]]} for machine in machines],
    }


def shown(document: dict[str, Any], path: Path, kind: str = "number", unit: str = "", beside: Path = ()) -> Markup:
    """Return a number of a sentence: what it says in short, its full value, and where it comes from.

    An amount has the digits that tell it from the one that it stands `beside`.
    """
    value = at(document, path)
    if value is None:
        return Markup("–")
    tell: dict[str, Callable[[Any], str]] = {
        "share": percent,
        "number": partial(in_units, unit=unit),
        "count": "{:,}".format,
    }
    text = apart(value, at(document, beside), DIGITS + 1, written_in(unit))[0] if beside else tell[kind](value)
    return Markup('<data value="{}" data-at="{}">{}</data>').format(repr(value), json.dumps(path), text)


def _with_bar(document: dict[str, Any], column: Column, cell: Cell, value: Any, key: tuple) -> Cell:
    """Return a cell with what is drawn beneath it, and how far it is set in."""
    if column.depth:
        return replace(cell, depth=at(document, column.depth, key))
    if column.bar is None or value is None:
        return cell
    bar, mark = column.bar(value, key)
    return replace(cell, bar=bar, mark=mark)


def _cells(column: Column, values: list[Any], pool: list[Any], units: list[str]) -> list[Cell]:
    if not column.numeric:
        return [Cell("–" if value is None else _said(value)) for value in values]
    if any(units) or column.kind == "up to":
        rows, told = zip(values, units, strict=True), _writer(column)
        texts = ["–" if v is None else in_units(v, unit if v else "", told=told) for v, unit in rows]
    else:
        whole, error = 1 if column.kind == "index" else None, 0 if column.kind == "met" else LEVEL
        texts = fixed(values, pool, share=column.kind in SHARES, whole=whole, error=error)
    if column.kind in SHARES:
        texts = [text if value is None else f"{text} %" for text, value in zip(texts, values, strict=True)]
    full = ["" if value is None else repr(value) for value in values]
    return [Cell(text, "" if text == value else value) for text, value in zip(texts, full, strict=True)]


def _writer(column: Column) -> Callable[[float, int], str]:
    return (lambda value, digits: number(*towards(value, digits=digits))) if column.kind == "up to" else number


def _tell_apart(
    values: list[Any],
    cells: list[Cell],
    others: list[Any],
    other_cells: list[Cell],
    tell: list[Callable[[float, int], str]],
) -> None:
    """Give cells, and those that they are read beside, the digits that tell their values apart."""
    for row, (value, other, told) in enumerate(zip(values, others, tell, strict=True)):
        if value is None or other is None or abs(value - other) <= LEVEL * abs(other):
            continue
        if _bare(cells[row].text) == _bare(other_cells[row].text):
            one, two = apart(value, other, DIGITS + 1, told)
            cells[row], other_cells[row] = replace(cells[row], text=one), replace(other_cells[row], text=two)


def _bare(text: str) -> str:
    """Return the text of a number without the zeros at its end."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return clean(str(value))
