"""A table on its way out: one neutral sheet, printed for a terminal, a paper, a notebook or a program.

Rendering is left to rich (terminal) and the standard library (CSV, JSON); Markdown and LaTeX are a line each.
"""

import csv
import io
import json
import math
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import islice, zip_longest
from typing import Any

from .numbers.shown import DIGITS_OF_CELLS, number, part_of, share_of_all, towards

__all__ = [
    "FORMATS",
    "SHOWN",
    "WIDTH",
    "Bar",
    "Column",
    "End",
    "PartOfAll",
    "Percent",
    "Sheet",
    "clean",
    "finite",
]

SHOWN = 20
"""Rows printed for a person; the rest are counted. Files and programs get all of them."""

WIDTH = 110
"""Columns of text that does not go to a terminal."""

SHORTEST = 10
"""Letters to which a column of names is narrowed at most; on a screen too narrow for that, lines run on."""

PRINTED = 100
"""Lines handed to rich at a time: it copies what it is given several times."""

GAP = 2
"""Spaces between columns, the last of them drawn by the box."""

BAR_WIDTH = 16
BLOCKS = "█▏▎▍▌▋▊▉"


@dataclass(frozen=True)
class Bar:
    """A share between 0 and 1, drawn as a bar for a person and kept as a number for a program."""

    share: float

    def __str__(self) -> str:
        return share_of_all(self.share)

    def drawn(self, blocks: bool = True) -> str:
        """Return the bar and the number; without `blocks` the bar is made of ``#``."""
        filled = max(0.0, min(1.0, self.share)) * BAR_WIDTH
        eighths = round(filled * 8)
        partial = BLOCKS[eighths % 8] if eighths % 8 else ""
        bar = BLOCKS[0] * (eighths // 8) + partial if blocks else "#" * round(filled)
        return f"{bar.ljust(BAR_WIDTH)} {self}"


class PartOfAll(float):
    """A number that is shown as its `whole` only where it is all of it."""

    whole = 1.0


class Percent(PartOfAll):
    """The same in percent."""

    whole = 100.0


class End(float):
    """Where something ends that holds `now`: shown on that side of it, where digits tell the two apart."""

    now: float

    def __new__(cls, value: float, now: float) -> "End":
        """Return the number, beside what holds."""
        made = super().__new__(cls, value)
        made.now = now
        return made

    def __reduce__(self) -> tuple[type["End"], tuple[float, float]]:
        """Return how a copy is made."""
        return End, (float(self), self.now)


@dataclass(frozen=True)
class Column:
    """A column: its heading, whether it holds numbers (then it is set to the right), and whether a person sees it.

    A program gets every column, so that its headings are the same whatever the cluster.
    """

    heading: str
    number: bool = False
    shown: bool = True


@dataclass(frozen=True)
class Sheet:
    """A titled table with notes below it; cells are strings, numbers, `Bar`s or None.

    A float is shown to a person with six digits and given to a program in full.  `document` is made when JSON is asked
    for: that of many users is larger than the table.
    """

    title: str
    columns: tuple[Column, ...]
    rows: list[tuple]
    notes: tuple[str, ...] = ()
    document: Callable[[], Any] | None = field(default=None, repr=False)

    def seen(self) -> "Sheet":
        """Return the sheet with the columns that a person sees."""
        if all(column.shown for column in self.columns):
            return self
        kept = [j for j, column in enumerate(self.columns) if column.shown]
        rows = [tuple(row[j] for j in kept) for row in self.rows]
        return replace(self, columns=tuple(self.columns[j] for j in kept), rows=rows)

    def text(self, *, colour: bool = False, width: int | None = None, rows: int = SHOWN) -> str:
        """Return the table for a terminal, the first rows only, colours only when asked for."""
        from rich.console import Console

        out = io.StringIO()
        console = Console(
            file=out,
            width=width or WIDTH,
            force_terminal=colour,
            no_color=not colour,
            highlight=False,
            legacy_windows=False,
        )
        self.show(console, rows)
        return "\n".join(line.rstrip() for line in out.getvalue().splitlines())

    def show(self, console: Any, rows: int = SHOWN) -> None:
        """Print the first `rows` on a rich console; in ASCII where it cannot write block characters."""
        self.seen()._show(console, rows)

    def _show(self, console: Any, rows: int) -> None:
        from rich.text import Text

        blocks = _can_write(console.encoding, BLOCKS)
        drawn = [[_drawn(cell, blocks) for cell in row] for row in self.rows[:rows]]
        widths = self._widths(drawn, console.width)
        lines = self._lines(drawn, widths, "─" if blocks else "-")
        if self.title:
            console.print(Text(clean(self.title), style="bold"), soft_wrap=True)
        # soft_wrap: on a screen too narrow for its columns a line runs on.
        while some := list(islice(lines, PRINTED)):
            console.print(Text("\n").join(some), soft_wrap=True)
        if len(self.rows) > rows:
            more = f"... and {len(self.rows) - rows} more of {len(self.rows)} (csv and json have them all)"
            console.print(Text(more, style="dim"), soft_wrap=True)
        for note in self.notes:
            console.print(Text(clean(note), style="dim"), soft_wrap=True)

    def _lines(self, drawn: list[list[str]], widths: list[int], rule: str) -> Iterator[Any]:
        """Yield the lines of heading, rule and rows; laid out here, where rich's tables take a millisecond a row."""
        from rich.text import Text

        between = " " * GAP
        headings = [_folded(clean(column.heading), width) for column, width in zip(self.columns, widths, strict=True)]
        most = max(map(len, headings), default=0)
        for parts in zip(*([""] * (most - len(heading)) + heading for heading in headings), strict=True):
            yield Text(between.join(self._set(parts, widths)), style="bold")
        yield Text(rule * (sum(widths) + GAP * (len(widths) - 1)))
        for source, row in zip(self.rows, drawn, strict=False):
            bars = [j for j, cell in enumerate(source) if isinstance(cell, Bar)]
            cells = [_folded(text, width) for text, width in zip(row, widths, strict=True)]
            for parts in zip_longest(*cells, fillvalue=""):
                padded = self._set(parts, widths)
                line = Text(between.join(padded))
                for j in bars:
                    start = sum(map(len, padded[:j])) + GAP * j
                    line.stylize("cyan", start, start + len(padded[j]))
                yield line

    def _set(self, parts: Sequence[str], widths: list[int]) -> list[str]:
        """Return the cells of one line as wide as their columns: numbers to the right, names to the left."""
        from rich.cells import cell_len

        return [
            " " * (width - cell_len(part)) + part if column.number else part + " " * (width - cell_len(part))
            for column, part, width in zip(self.columns, parts, widths, strict=True)
        ]

    def _widths(self, drawn: list[list[str]], room: int) -> list[int]:
        """Return the width of every column: headings of numbers fold first, then names, numbers never."""
        from rich.cells import cell_len

        headings = [clean(column.heading) for column in self.columns]
        cells = [max((cell_len(row[j]) for row in drawn), default=0) for j in range(len(headings))]
        words = [max(map(cell_len, heading.split()), default=1) for heading in headings]
        widths = [max(cell, cell_len(heading)) for cell, heading in zip(cells, headings, strict=True)]
        excess = sum(widths) + GAP * (len(widths) - 1) - room
        for numbers in (True, False):
            least = [
                max(word, cell if column.number else min(cell, SHORTEST)) if column.number == numbers else width
                for column, cell, word, width in zip(self.columns, cells, words, widths, strict=True)
            ]
            while excess > 0 and (able := [j for j, width in enumerate(widths) if width > least[j]]):
                widest = max(able, key=lambda j: widths[j])
                widths[widest] -= 1
                excess -= 1
        return widths

    def json(self) -> str:
        """Return the machine-readable document behind the table, or the rows as objects."""
        headings = [column.heading for column in self.columns]
        if self.document is None:
            document = [dict(zip(headings, map(_bare, row), strict=True)) for row in self.rows]
        else:
            document = self.document()
        try:
            return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
        except ValueError:
            return json.dumps(finite(document), indent=2, ensure_ascii=False, allow_nan=False)

    def csv(self) -> str:
        """Return all rows as comma-separated values."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(column.heading for column in self.columns)
        writer.writerows(map(_bare, row) for row in self.rows)
        return out.getvalue().rstrip("\n")

    def markdown(self) -> str:
        """Return all rows as a Markdown table."""
        seen = self.seen()
        lines = [
            [column.heading for column in seen.columns],
            ["---:" if column.number else "---" for column in seen.columns],
            *([_text(cell).replace("|", "\\|") for cell in row] for row in seen.rows),
        ]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def latex(self) -> str:
        """Return all rows as a LaTeX tabular in booktabs style."""
        seen = self.seen()
        layout = "".join("r" if column.number else "l" for column in seen.columns)
        lines = [" & ".join(_tex(_text(cell)) for cell in row) + r" \\" for row in seen.rows]
        heading = " & ".join(_tex(column.heading) for column in seen.columns) + r" \\"
        body = [
            rf"\begin{{tabular}}{{{layout}}}",
            r"\toprule",
            heading,
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
        ]
        return "\n".join(body)

    def html(self) -> str:
        """Return the table for a notebook, the first rows only."""
        seen = self.seen()
        heading = "".join(f"<th>{escape(column.heading)}</th>" for column in seen.columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(_drawn(cell, True))}</td>" for cell in row) + "</tr>"
            for row in seen.rows[:SHOWN]
        )
        more = f"<p>... and {len(self.rows) - SHOWN} more of {len(self.rows)}</p>" if len(self.rows) > SHOWN else ""
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return (
            f"<table><caption>{escape(self.title)}</caption><thead><tr>{heading}</tr></thead>"
            f"<tbody>{rows}</tbody></table>{more}{notes}"
        )


FORMATS: dict[str, Callable[[Sheet], str]] = {
    "table": Sheet.text,
    "json": Sheet.json,
    "csv": Sheet.csv,
    "markdown": Sheet.markdown,
    "latex": Sheet.latex,
}
"""Ways to write a sheet, by the name the command line takes."""

TEX = {"&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}"} | {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
}


def finite(document: Any) -> Any:
    """Return the document with null for what JSON cannot say: NaN and infinity."""
    if isinstance(document, Mapping):
        return {key: finite(value) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [finite(value) for value in document]
    return None if isinstance(document, float) and not math.isfinite(document) else document


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, PartOfAll):
        return part_of(cell, cell.whole, error=0)
    if isinstance(cell, End):
        return number(*towards(float(cell), cell.now))
    return number(cell, DIGITS_OF_CELLS) if isinstance(cell, float) else clean(str(cell))


def clean(text: str) -> str:
    """Return the text with its control characters spelled out: a name must not steer a terminal."""
    if text.isprintable():
        return text
    return "".join(repr(letter)[1:-1] if unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in text)


def _drawn(cell: Any, blocks: bool) -> str:
    return cell.drawn(blocks) if isinstance(cell, Bar) else _text(cell)


def _folded(text: str, width: int) -> list[str]:
    """Return a text in lines of a width, broken between words where it can be."""
    from rich.cells import cell_len
    from rich.console import Console
    from rich.text import Text

    if cell_len(text) <= width:
        return [text.rstrip()]
    return [line.plain.rstrip() for line in Text(text).wrap(Console(), width, overflow="fold")]


def _bare(cell: Any) -> Any:
    return cell.share if isinstance(cell, Bar) else cell


def _can_write(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _tex(text: str) -> str:
    return "".join(TEX.get(letter, letter) for letter in text)
