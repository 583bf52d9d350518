"""A table on its way out: one neutral sheet, printed for a terminal, a paper, a notebook or a program.

Rendering is left to rich (terminal) and the standard library (CSV, JSON); Markdown and LaTeX are a line each.
"""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import Any

__all__ = ["FORMATS", "Bar", "Column", "Sheet"]

SHOWN = 20
"""Rows printed for a person; the rest are counted. Files and programs get all of them."""

BAR_WIDTH = 16


@dataclass(frozen=True)
class Bar:
    """A share between 0 and 1, drawn as a bar for a person and kept as a number for a program."""

    share: float

    def __str__(self) -> str:
        return f"{self.share:.4f}"

    def drawn(self) -> str:
        """Return the bar and the number."""
        eighths = round(max(0.0, min(1.0, self.share)) * BAR_WIDTH * 8)
        partial = " ▏▎▍▌▋▊▉"[eighths % 8].strip()
        return f"{('█' * (eighths // 8) + partial).ljust(BAR_WIDTH)} {self}"


@dataclass(frozen=True)
class Column:
    """A column: its heading, and whether it holds numbers (then it is set to the right)."""

    heading: str
    number: bool = False


@dataclass(frozen=True)
class Sheet:
    """A titled table with notes below it; cells are strings, numbers, `Bar`s or None."""

    title: str
    columns: tuple[Column, ...]
    rows: list[tuple]
    notes: tuple[str, ...] = ()
    document: Any = field(default=None, repr=False)

    def text(self, *, colour: bool = False, width: int | None = None) -> str:
        """Return the table for a terminal, the first rows only, colours only when asked for."""
        from rich.console import Console

        out = io.StringIO()
        console = Console(
            file=out, width=width or 110, force_terminal=colour, no_color=not colour, highlight=False, legacy_windows=False
        )
        self.show(console)
        return out.getvalue().rstrip("\n")

    def show(self, console: Any) -> None:
        """Print the table on a rich console."""
        from rich import box
        from rich.markup import escape as plain
        from rich.table import Table

        grid = Table(title=plain(self.title), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
        for column in self.columns:
            grid.add_column(column.heading, justify="right" if column.number else "left", overflow="fold")
        for row in self.rows[:SHOWN]:
            grid.add_row(*(plain(_drawn(cell)) for cell in row))
        console.print(grid)
        if len(self.rows) > SHOWN:
            console.print(f"... and {len(self.rows) - SHOWN} more of {len(self.rows)}", style="dim")
        for note in self.notes:
            console.print(plain(note), style="dim", soft_wrap=True)

    def json(self) -> str:
        """Return the machine-readable document behind the table, or the rows as objects."""
        headings = [column.heading for column in self.columns]
        fallback = [dict(zip(headings, map(_bare, row), strict=True)) for row in self.rows]
        return json.dumps(fallback if self.document is None else self.document, indent=2, ensure_ascii=False, allow_nan=False)

    def csv(self) -> str:
        """Return all rows as comma-separated values."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(column.heading for column in self.columns)
        writer.writerows(map(_bare, row) for row in self.rows)
        return out.getvalue().rstrip("\n")

    def markdown(self) -> str:
        """Return all rows as a Markdown table."""
        lines = [
            [column.heading for column in self.columns],
            ["---:" if column.number else "---" for column in self.columns],
            *([_text(cell).replace("|", "\\|") for cell in row] for row in self.rows),
        ]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def latex(self) -> str:
        """Return all rows as a LaTeX tabular in booktabs style."""
        layout = "".join("r" if column.number else "l" for column in self.columns)
        lines = [" & ".join(_tex(_text(cell)) for cell in row) + r" \\" for row in self.rows]
        heading = " & ".join(_tex(column.heading) for column in self.columns) + r" \\"
        body = [rf"\begin{{tabular}}{{{layout}}}", r"\toprule", heading, r"\midrule", *lines, r"\bottomrule", r"\end{tabular}"]
        return "\n".join(body)

    def html(self) -> str:
        """Return the table for a notebook, the first rows only."""
        heading = "".join(f"<th>{escape(column.heading)}</th>" for column in self.columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(_drawn(cell))}</td>" for cell in row) + "</tr>" for row in self.rows[:SHOWN]
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


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)


def _drawn(cell: Any) -> str:
    return cell.drawn() if isinstance(cell, Bar) else _text(cell)


def _bare(cell: Any) -> Any:
    return cell.share if isinstance(cell, Bar) else cell


def _tex(text: str) -> str:
    return "".join(TEX.get(letter, letter) for letter in text)
