"""What is kept of a full run: a CSV file of all rows, what it was run on, a Markdown page and a plot."""

import csv
import json
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path

from . import plot
from .measure import Row
from .questions import QUESTIONS

__all__ = ["RESULTS", "keep", "read", "rewrite", "tables", "write"]

RESULTS = Path(__file__).parent / "results"
MEASUREMENTS, MACHINE, PAGE, PICTURE = "measurements.csv", "machine.json", "README.md", "scaling.svg"

NUMBERS = ("seconds", "ratio", "sum_ratio", "error", "violation", "gap", "memory")

OPENING = """# Results

Written by `python -m benchmarks`; all rows are in [measurements.csv](measurements.csv). Every question comes with the
expectation that was written down before anything was measured, right or wrong, and with what happened.
"""

MEASURED_ON = """## Machine

Of the questions that were measured last. The others keep the rows of their own runs, of which each is one, on machines
of this size with what was installed there: what is "not installed" now may have been then.
"""

READING = """## How to read the tables

Seconds are the shortest of the repetitions, taken in turns with the other rows of the column, each on an instance that
nobody had touched; for drfopt they include the certificate. In parentheses stands the largest relative error against
the reference. `!` marks an answer that drfopt's certificate rejects at the promised accuracy. `-` is no answer: the
notes below a table say why. A ratio is to the fastest yardstick of its column that ended, in the same run. Yardsticks
are in italics; one LP and one MILP find the lowest level only, and that is what their error is of. A conic solver calls
its answer optimal unless a note says otherwise. Memory is the most that Python and numpy had allocated at a time beside
the array of the demands, relative to it.
"""

LIMITATIONS = """## Limitations

- One machine, shared with other work while this ran; two times that differ by less than a third are not different.
- Made instances: eight resources, 60 % of demands not zero, seeds fixed. Real clusters are represented by one trace.
- The peers run with their default tolerances. Tighter ones cost them time and win some digits; that was not explored.
- Peers are called through the modelling layer most people use. Hand-built conic data would save its share of the time.
- Memory is measured where users are a million and more; nothing is on more than one machine.
- A relative error of levels or tasks says nothing about a user whose own level is right and whose placement is not.
"""


def write(rows: list[Row], machine: dict[str, str]) -> None:
    """Write everything anew."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / MACHINE).write_text(json.dumps(machine, indent=2) + "\n", encoding="utf-8")
    with (RESULTS / MEASUREMENTS).open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(field.name for field in fields(Row))
        writer.writerows(map(_line, rows))
    rewrite()


def keep(rows: list[Row], machine: dict[str, str]) -> None:
    """Write rows of whole questions in place of those there were, and everything else as it was."""
    order = [question.name for question in QUESTIONS]
    measured = {row.question for row in rows}
    kept = [row for row in read() if row.question not in measured and row.question in order]
    write(sorted([*kept, *rows], key=lambda row: order.index(row.question)), machine)


def rewrite() -> None:
    """Write page and plot from the rows that are kept."""
    rows = read()
    machine = json.loads((RESULTS / MACHINE).read_text(encoding="utf-8"))
    plot.draw(rows, RESULTS / PICTURE)
    (RESULTS / PAGE).write_text(_page(rows, machine), encoding="utf-8")


def read() -> list[Row]:
    """Return the rows that are kept."""
    with (RESULTS / MEASUREMENTS).open(encoding="utf-8", newline="") as lines:
        return [_row(line) for line in csv.DictReader(lines)]


def _line(row: Row) -> list[str]:
    return ["" if v is None else f"{v:.6g}" if isinstance(v, float) else str(v) for v in asdict(row).values()]


def _row(line: dict[str, str]) -> Row:
    numbers = {name: float(line[name]) if line.get(name) else None for name in NUMBERS}
    return Row(**(line | numbers | {"n": int(line["n"]), "repetitions": int(line["repetitions"])}))


def _page(rows: list[Row], machine: dict[str, str]) -> str:
    parts = [OPENING, MEASURED_ON, _table([("", "")], [], [[key, value] for key, value in machine.items()])]
    parts += ["", READING, f"![seconds over users, both scales logarithmic]({PICTURE})\n"]
    for question in QUESTIONS:
        own = [row for row in rows if row.question == question.name]
        parts += [f"## {question.name}\n", f"{question.question}\n"]
        parts += [f"**Expected:** {question.expectation}\n"]
        parts += [f"**Happened:** {question.happened or 'not written yet'}\n", tables(own)]
    return "\n".join([*parts, LIMITATIONS])


def tables(rows: Iterable[Row]) -> str:
    """Return Markdown tables: one a group, with a column a case, or a row a way where there is a single case."""
    parts = []
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.question, row.group), []).append(row)
    for (_, group), listed in groups.items():
        cases = list(dict.fromkeys(row.case for row in listed))
        parts.append(f"### {group}" + (f", {cases[0]}" if len(cases) == 1 else "") + "\n")
        parts.append(_single(listed) if len(cases) == 1 else _wide(listed, cases))
        parts.append(_notes(listed))
    return "\n".join(parts)


def _single(rows: list[Row]) -> str:
    yardstick = next((row.yardstick for row in rows if row.yardstick), "yardstick")
    columns = {
        "seconds": lambda row: _number(row.seconds),
        "x D.sum()": lambda row: _number(row.sum_ratio),
        f"x {yardstick}": lambda row: _number(row.ratio),
        "error": lambda row: _error(row.error),
        "certificate": lambda row: row.proof,
        "violation": lambda row: _error(row.violation),
        "gap": lambda row: _error(row.gap),
        "memory": lambda row: _number(row.memory),
    }
    # A column of which nobody has anything says nothing.
    kept = {head: show for head, show in columns.items() if any(show(row) not in ("", "-") for row in rows)}
    lines = [[_name(row), *(show(row) for show in kept.values())] for row in rows]
    return _table(["way"], list(kept), lines)


def _wide(rows: list[Row], cases: list[str]) -> str:
    ways = list(dict.fromkeys((row.way, row.role) for row in rows))
    cells = {(row.way, row.case): row for row in rows}
    yardstick = next((row.yardstick for row in rows if row.yardstick), "")
    name = {row.way: _name(row) for row in rows}

    def lines(show: object) -> list[list[str]]:
        return [
            [name[way], *(show(cells[way, case]) if (way, case) in cells else "" for case in cases)] for way, _ in ways
        ]

    parts = [_table(["seconds (error)"], cases, lines(_cell))]
    if any(row.sum_ratio for row in rows):
        parts += ["", _table(["x D.sum()"], cases, lines(lambda row: _number(row.sum_ratio)))]
    if yardstick:
        parts += ["", _table([f"x {yardstick}"], cases, lines(lambda row: _number(row.ratio)))]
    return "\n".join(parts)


def _cell(row: Row) -> str:
    if row.seconds is None:
        return "-"
    error = "" if row.error is None else f" ({_error(row.error)})"
    return f"{_number(row.seconds)}{error}" + (" !" if row.proof == "invalid" else "")


def _notes(rows: list[Row]) -> str:
    """Return a line a way: what there is to say of its cases, equal notes told once."""
    several = len({row.case for row in rows}) > 1
    told: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        if row.note:
            told.setdefault(row.way, {}).setdefault(row.note, []).append(row.case)
    references = {row.reference for row in rows if row.reference}
    lines = [f"- errors are against {' or '.join(sorted(references))}"] if references else []
    for way, notes in told.items():
        parts = [f"{note} ({'; '.join(cases)})" if several else note for note, cases in notes.items()]
        lines.append(f"- {way}: {'. '.join(parts)}")
    return "\n" + "\n".join(lines) + "\n"


def _name(row: Row) -> str:
    return {"yardstick": f"*{row.way}*", "peer": row.way, "drfopt": f"**{row.way}**"}[row.role]


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}" if value >= 1e-4 else f"{value:.1e}"


def _error(value: float | None) -> str:
    return "" if value is None else "0" if value == 0 else f"{value:.0e}"


def _table(left: list, right: list, lines: list[list[str]]) -> str:
    first = left[0] if isinstance(left[0], str) else ""
    heads = [first, *right] if right or first else ["", ""]
    rule = ["---", *("---:" for _ in right)] if right or first else ["---", "---"]
    return "\n".join("| " + " | ".join(line) + " |" for line in [heads, rule, *lines])
