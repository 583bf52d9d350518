"""Walking through what another program wrote: a part knows its place, and says it when it is not what it should be.

What is missing is an empty part, so that ``pod["spec"]["overhead"]`` can be asked of every pod; null counts as missing.

Comma-separated files row by row, each with its place, with a header or without.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ...base.errors import InstanceError
from ...base.numbers.quantities import exact, only_digits, parse
from ..native.syntax import trees
from .files import File, failure, shown

__all__ = ["LONGEST_INTEGER", "CsvRow", "TreePart", "first_line", "parts", "with_header", "without_header"]


class TreePart:
    """A value in a tree of tables and lists, with its place."""

    __slots__ = ("_key", "_parent", "value")

    def __init__(self, value: Any, key: str | int, parent: "TreePart | None" = None):
        self.value, self._key, self._parent = value, key, parent

    @property
    def place(self) -> str:
        """Where it stands, as ``list.json: items[3].spec``."""
        if self._parent is None:
            return str(self._key)
        above = self._parent.place
        joint = ": " if self._parent._parent is None else "" if isinstance(self._key, int) else "."
        return f"{above}{joint}{f'[{self._key}]' if isinstance(self._key, int) else self._key}"

    def __bool__(self) -> bool:
        return self.value is not None

    def __getitem__(self, key: str) -> "TreePart":
        """Return the part under a key of a table; an empty one where there is none."""
        # A table or nothing, nearly always, and asked for millions of times.
        value = self.value if type(self.value) is dict else self._of(dict, "a table")
        return TreePart(value.get(key), key, self)

    def __contains__(self, key: str) -> bool:
        return self._of(dict, "a table").get(key) is not None

    def pairs(self) -> Iterator[tuple[str, "TreePart"]]:
        """Yield key and part of everything in a table that is not null."""
        for key, value in self._of(dict, "a table").items():
            if value is not None:
                yield key, TreePart(value, key, self)

    def each(self) -> Iterator["TreePart"]:
        """Yield the parts of a list."""
        for i, value in enumerate(self._of(list, "a list")):
            yield TreePart(value, i, self)

    def texts(self) -> list[str]:
        """Return a list of texts."""
        return [part.text() for part in self.each()]

    def text(self, missing: str = "") -> str:
        """Return a text; a number stands for what was written."""
        if self.value is None:
            return missing
        if isinstance(self.value, dict | list | bool):
            raise self.wrong("write a text")
        return str(self.value)

    def true(self) -> bool:
        """Return whether it is true; missing is false."""
        if self.value is None:
            return False
        if not isinstance(self.value, bool):
            raise self.wrong("write true or false")
        return self.value

    def amount(self, missing: int = 0) -> Fraction:
        """Return a number or quantity, 0 or more."""
        found = self.number(missing)
        if found < 0:
            raise self.wrong("write 0 or more")
        return found

    def number(self, missing: int = 0) -> Fraction:
        """Return a number or quantity."""
        if self.value is None:
            return Fraction(missing)
        if isinstance(self.value, dict | list | bool):
            raise self.wrong("write a number or a quantity")
        try:
            return _read(self.value) if isinstance(self.value, str) else exact(self.value)
        except InstanceError as error:
            raise failure(self.place, error) from None

    def count(self, missing: int = 0) -> int:
        """Return a whole number, 0 or more."""
        found = self.amount(missing)
        if found.denominator != 1:
            raise self.wrong("write a whole number")
        return int(found)

    def amounts(self) -> dict[str, Fraction]:
        """Return a table of amounts."""
        return {name: part.amount() for name, part in self.pairs()}

    def wrong(self, remedy: str) -> InstanceError:
        """Return the error that names place, value and remedy."""
        return failure(self.place, f"is {shown(self.value)}: {remedy}")

    def _of(self, kind: type, word: str) -> Any:
        if self.value is None:
            return kind()
        if not isinstance(self.value, kind):
            raise self.wrong(f"{word} belongs here")
        return self.value


@lru_cache(maxsize=1 << 14)
def _read(text: str) -> Fraction:
    """Return a quantity; the pods of a cluster ask for few different ones."""
    return parse(text)


def parts(file: File) -> list[TreePart]:
    """Return the documents of a file in JSON (also one document a line) or YAML.

    Raises
    ------
    InstanceError
        When the file is neither.
    """
    found = [TreePart(value, file.place) for value in trees(file.text, file.place) if value is not None]
    for part in found:
        if not isinstance(part.value, dict | list):
            raise failure(
                file.place,
                f"holds {shown(part.value)}, no object or list in JSON or YAML: give what 'drfopt formats' names",
            )
    return found


WHOLE = re.compile(r"\.0+$")
"""How a whole number ends that was printed as a float."""

LONGEST_INTEGER = 15
"""Digits of an integer in these files; more is a mistake, and a float could not hold it."""


@dataclass(frozen=True)
class CsvRow:
    """One line of a list: where it is, and its columns by name."""

    place: str
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        """Return a column without spaces around it; empty where the file does not have it."""
        return self.cells.get(column, "").strip()

    def count(self, column: str, least: int = 0) -> int:
        """Return a column as a whole number, `least` or more."""
        text = WHOLE.sub("", self[column])  # a table with gaps prints 3.0
        whole = only_digits(text)
        long = whole and len(text) > LONGEST_INTEGER
        if not whole or long or int(text) < least:
            most = f" and of at most {LONGEST_INTEGER} digits" if long else ""
            raise failure(self.place, f"{column} is {shown(self[column])}: write a whole number, {least} or more{most}")
        return int(text)

    def amount(self, column: str) -> Fraction:
        """Return a column as a number or quantity, 0 or more; empty is 0."""
        if not self[column]:
            return Fraction(0)
        try:
            amount = parse(self[column])
        except InstanceError as error:
            raise failure(self.place, f"{column}: {error}") from None
        if amount < 0:
            raise failure(self.place, f"{column} is {shown(self[column])}: write 0 or more")
        return amount


SEPARATORS = {";": "';'", "\t": "tabs", "|": "'|'"}
"""What separates columns in files that are nearly such as are read here, and how it is called."""


def first_line(file: File) -> list[str]:
    """Return the cells of the first line, empty when there is none that can be read.

    What another character separates are cells here too, so that the file is known for what it is; reading refuses it.
    """
    line = next((line for line in file.text.splitlines() if line.strip()), "")
    try:
        cells = next(csv.reader([line]), [])
    except csv.Error:
        return []
    if len(cells) == 1 and (other := _other_separator(cells[0])):
        cells = cells[0].split(other)
    return [cell.strip() for cell in cells]


def _other_separator(cell: str) -> str:
    return next((mark for mark in SEPARATORS if mark in cell), "")


def with_header(file: File, comment: str = "") -> Iterator[CsvRow]:
    """Yield the rows below a header line.

    Raises
    ------
    InstanceError
        When a line is no line of such a file, or has not as many columns as the header; when there are no rows.
    """
    lines = _lines(file, comment)
    header: list[str] = []
    found = False
    for at, cells in lines:
        if not header:
            header = [column.strip() for column in cells]
            twice = next((column for column in header if header.count(column) > 1 and column), None)
            if twice is not None:
                raise failure(at, f"the column {shown(twice)} is there twice: keep one of them")
            continue
        found = True
        if len(cells) != len(header):
            raise failure(at, f"has {len(cells)} columns, but the header has {len(header)}: correct the line")
        yield CsvRow(at, dict(zip(header, cells, strict=True)))
    if not found:
        raise failure(file.place, "has a header and no rows: list at least one")


def without_header(file: File, columns: Sequence[str]) -> Iterator[CsvRow]:
    """Yield the rows of a file whose columns are known; a header line that names the first of them is passed over.

    Raises
    ------
    InstanceError
        When a line is no line of such a file, or has fewer columns, or more.
    """
    for at, cells in _lines(file):
        if cells[0].strip() == columns[0]:
            continue
        if len(cells) != len(columns):
            raise failure(at, f"has {len(cells)} columns, but there are {len(columns)}: {','.join(columns)}")
        yield CsvRow(at, dict(zip(columns, cells, strict=True)))


def _lines(file: File, comment: str = "") -> Iterator[tuple[str, list[str]]]:
    place = file.place
    reader = csv.reader(io.StringIO(file.text, newline=""))
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells) and not (comment and cells[0].startswith(comment)):
                at = f"{place}: line {reader.line_num}"
                if len(cells) == 1 and (other := _other_separator(cells[0])):
                    raise failure(at, f"is separated by {SEPARATORS[other]}: separate the columns by commas")
                yield at, cells
    except csv.Error as error:
        raise failure(f"{place}: line {reader.line_num}", f"{error}: correct the line") from None
