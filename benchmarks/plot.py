"""The one picture: seconds over users, both scales logarithmic; a series is a way."""

from dataclasses import dataclass
from pathlib import Path

from drfopt.reporting.charts import Key, Panel, beside, colours, number_axis

from .measure import Row

__all__ = ["draw"]


@dataclass(frozen=True)
class Line:
    """How a way is drawn; yardsticks are grey and broken."""

    colour: str
    shape: str
    dash: tuple[int, ...] = (1, 0)


BROKEN = (5, 3)


LINES = {
    "drfopt filling": Line("#0072B2", "circle"),
    "drfopt lp-chain": Line("#56B4E9", "square"),
    "one LP, a row a user, simplex": Line("#999999", "triangle-up", BROKEN),
    "one LP, a row a user, interior point": Line("#777777", "triangle-down", BROKEN),
    "one LP, a row a user, no crossover": Line("#555555", "cross", BROKEN),
    "one LP, no row a user": Line("#222222", "diamond", BROKEN),
    "one LP a user": Line("#D55E00", "triangle-left"),
    "drfopt newton": Line("#0072B2", "circle"),
    "drfopt barrier": Line("#009E73", "cross"),
    "drfopt conic": Line("#56B4E9", "square"),
    "cvxpy + Clarabel": Line("#555555", "triangle-down", BROKEN),
    "cvxpy + SCS": Line("#D55E00", "triangle-left"),
    "D.sum()": Line("#BBBBBB", "stroke", (1, 2)),
}

PANELS = (("leximin-pool", "DRF, one pool"), ("ceei-pool", "CEEI, one pool"))
FAMILY = "generic"


def draw(rows: list[Row], path: Path) -> None:
    """Write the picture; a way that gave no answer at some size has no point there."""
    keys = [Key(way, line.colour, line.shape, line.dash) for way, line in LINES.items()]
    beside([_panel(rows, question, title, keys) for question, title in PANELS], width=400).save(path)


def _panel(rows: list[Row], question: str, title: str, keys: list[Key]) -> Panel:
    values = [
        {"key": key, "n": row.n, "seconds": row.seconds}
        for key, way in enumerate(LINES)
        for row in rows
        if (row.question, row.group, row.way) == (question, FAMILY, way) and row.seconds
    ]
    powers = {"type": "log"}
    spec = {
        "height": 300,
        "data": {"values": values},
        "encoding": {
            "x": number_axis("n", title="users", scale=powers, values=[10**power for power in range(1, 7)]),
            "y": number_axis("seconds", title="seconds", scale=powers),
        },
        "layer": [
            {"mark": {"type": "line", "strokeWidth": 1.6}, "encoding": colours(keys, marks="line")},
            {"mark": {"type": "point", "filled": True, "size": 50}, "encoding": colours(keys, marks="point")},
        ],
    }
    return Panel(spec, f"{title}, {FAMILY} demands")
