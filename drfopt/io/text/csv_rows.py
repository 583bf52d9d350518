"""Comma-separated files row by row, each with its place, with a header or without."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...base.errors import InstanceError
from ...base.numbers.quantities import parse
from .files import File, failure, shown

__all__ = ["LONGEST_INTEGER", "CsvRow", "first_line", "with_header", "without_header"]

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

    def count(self, column: str) -> int:
        """Return a column as a whole number, 0 or more."""
        text = self[column]
        if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_INTEGER):
            raise failure(self.place, f"{column} is {shown(text)}: write a whole number, 0 or more")
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


def first_line(file: File) -> list[str]:
    """Return the cells of the first line, empty when there is none that can be read."""
    line = next((line for line in file.text.splitlines() if line.strip()), "")
    try:
        return [cell.strip() for cell in next(csv.reader([line]), [])]
    except csv.Error:
        return []


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
                yield f"{place}: line {reader.line_num}", cells
    except csv.Error as error:
        raise failure(f"{place}: line {reader.line_num}", f"{error}: correct the line") from None
