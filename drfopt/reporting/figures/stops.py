"""What stops the users: how many each resource, their own limits, or that their task fits on nothing open to them."""

from typing import Any

from ..drawing import Box, Drawing, Figure, Mark, Words, fitted
from ..holdings import title_of
from .axes import PANEL
from .policies import style_of

__all__ = ["figure"]

NAMES, ROW, TOP, COUNT = 110.0, 26.0, 6.0, 46.0


def figure(document: dict[str, Any]) -> Figure:
    """Return one panel a policy."""
    allocations = document["comparison"]["allocations"]
    rows = [_rows(document, place) for place in range(len(allocations))]
    # A reason that nobody has under any policy needs no bar, unless it is a resource.
    kept = [r for r in range(len(rows[0])) if r < len(document["resources"]) or any(counted[r][1] for counted in rows)]
    most = max((counted[r][1] for counted in rows for r in kept), default=0) or 1
    return Figure(
        name="stops",
        title="What stops the users",
        caption="Number of users who cannot have more because of a resource that is used up where they may run, or of "
        "their own limit. Who has several bottlenecks is counted at each.",
        alternative=" ".join(
            f"{title_of(a['policy'], a['integer'])}: "
            + ", ".join(f"{counted[r][0]} {counted[r][1]}" for r in kept)
            + "."
            for a, counted in zip(allocations, rows, strict=True)
        ),
        panels=tuple(
            _panel(title_of(a["policy"], a["integer"]), [counted[r] for r in kept], most, style_of(place)[0])
            for place, (a, counted) in enumerate(zip(allocations, rows, strict=True))
        ),
    )


def _rows(document: dict[str, Any], place: int) -> list[tuple[str, int]]:
    others = document["stops"][place]
    return [
        *((resource["name"], resource["stopped"][place]) for resource in document["resources"]),
        ("its limit", others["limit"]),
        ("a ceiling", others["ceiling"]),
        ("unplaced", others["unplaced"]),
        ("not known", others["unknown"]),
    ]


def _panel(title: str, rows: list[tuple[str, int]], most: int, ink: str) -> Drawing:
    marks: list[Mark] = []
    for place, (name, count) in enumerate(rows):
        y = TOP + place * ROW
        length = count / most * (PANEL - NAMES - COUNT)
        marks.append(Words(NAMES - 10, y + 17, fitted(name, NAMES - 12), "end", tip=name))
        if count:
            marks.append(Box(NAMES, y + 4, max(length, 1.0), ROW - 8, fill=ink, tip=f"{name}: {count} users"))
        marks.append(Words(NAMES + length + 6, y + 17, f"{count:,}", ink="ink" if count else "muted"))
    return Drawing(PANEL, TOP + ROW * len(rows) + 4, tuple(marks), title)
