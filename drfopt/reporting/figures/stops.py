"""What stops the users: how many each resource, their own limits, or that their task fits on nothing open to them."""

from typing import Any

from ...base.tables import clean
from ..charts import ROW, Figure, Panel, ink, name_axis
from ..holdings import title_of
from ..palette import POLICY_INKS

__all__ = ["figure"]


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
            _panel(title_of(a["policy"], a["integer"]), [counted[r] for r in kept], most, place)
            for place, (a, counted) in enumerate(zip(allocations, rows, strict=True))
        ),
    )


def _rows(document: dict[str, Any], place: int) -> list[tuple[str, int]]:
    others = document["stops"][place]
    return [
        *((resource["name"], resource["stopped"][place]) for resource in document["resources"]),
        ("nothing: has all", others["met"]),
        ("its limit", others["limit"]),
        ("a ceiling", others["ceiling"]),
        ("unplaced", others["unplaced"]),
        ("not known", others["unknown"]),
    ]


def _panel(title: str, rows: list[tuple[str, int]], most: int, policy: int) -> Panel:
    values = [
        {"place": place, "count": count, "text": f"{count:,}", "tip": clean(f"{name}: {count} users")}
        for place, (name, count) in enumerate(rows)
    ]
    spec = {
        "height": (ROW + 2) * len(rows),
        "data": {"values": values},
        "encoding": {
            "y": name_axis([name for name, _ in rows]),
            # Room at the right for the number of the longest bar.
            "x": {"field": "count", "type": "quantitative", "axis": None, "scale": {"domain": [0, 1.2 * most]}},
            "tooltip": {"field": "tip"},
        },
        "layer": [
            {"mark": {"type": "bar", "fill": ink(POLICY_INKS[policy % len(POLICY_INKS)]), "height": {"band": 0.7}}},
            {
                "mark": {"type": "text", "align": "left", "baseline": "middle", "dx": 6},
                "encoding": {"text": {"field": "text"}},
            },
        ],
    }
    return Panel(spec, title)
