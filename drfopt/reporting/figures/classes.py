"""How full the machine classes are: a map of classes and resources, its bottlenecks framed."""

from typing import Any

from ..drawing import Box, Drawing, Figure, Key, Mark, Words, fitted
from ..holdings import title_of
from ..numbers import amount, percent
from ..palette import SHADES
from .axes import PANEL, SMALL

__all__ = ["figure"]

MOST_CLASSES = 40
"""Classes that are shown; of more, those on which most users are stopped, then the largest."""

NAMES, ROW, TOP, LEAST = 150.0, 20.0, 26.0, 46.0


def figure(document: dict[str, Any]) -> Figure | None:
    """Return one panel a policy; None for a pool."""
    machines = document["machines"]
    if machines is None:
        return None
    shown = sorted(sorted(range(len(machines)), key=lambda k: _weight(machines[k]))[:MOST_CLASSES])
    left_out = len(machines) - len(shown)
    allocations = document["comparison"]["allocations"]
    caption = "Used part of what all machines of a class have together; framed where somebody is stopped. "
    caption += "Which class runs what is often a choice: this is the placement that was found."
    if left_out:
        caption += f" {left_out} classes on which fewer users are stopped are left out; the table has all."
    return Figure(
        name="classes",
        title="How full the machine classes are",
        caption=caption,
        alternative=" ".join(_told(a, place, machines) for place, a in enumerate(allocations)),
        panels=tuple(
            _panel(title_of(a["policy"], a["integer"]), place, [machines[k] for k in shown])
            for place, a in enumerate(allocations)
        ),
        keys=tuple(
            Key(name, ink)
            for name, ink in zip(("idle", "20 %", "40 %", "60 %", "80 %", "used up"), SHADES, strict=True)
        ),
    )


def _weight(machine: dict[str, Any]) -> tuple[float, float]:
    stopped = sum(sum(cell["stopped"] for cell in resource["allocations"]) for resource in machine["resources"])
    return -stopped, -machine["count"]


def _told(allocation: dict[str, Any], place: int, machines: list[dict[str, Any]]) -> str:
    full = [
        f"{machine['name']} {resource['name']}"
        for machine in machines
        for resource in machine["resources"]
        if resource["allocations"][place]["stopped"]
    ]
    names = ", ".join(full[:12]) + (f" and {len(full) - 12} more" if len(full) > 12 else "")
    title = title_of(allocation["policy"], allocation["integer"])
    return f"{title}: users are stopped by {names}." if full else f"{title}: no class stops anybody."


def _panel(title: str, place: int, machines: list[dict[str, Any]]) -> Drawing:
    resources = [resource["name"] for resource in machines[0]["resources"]]
    wide = max((PANEL - NAMES) / len(resources), LEAST)
    marks: list[Mark] = [
        Words(NAMES + (j + 0.5) * wide, 16, fitted(name, wide - 4, SMALL), "middle", "muted", SMALL, tip=name)
        for j, name in enumerate(resources)
    ]
    for k, machine in enumerate(machines):
        y = TOP + k * ROW
        name = machine["name"]
        marks.append(Words(NAMES - 8, y + 14, fitted(name, NAMES - 10, SMALL), "end", size=SMALL, tip=name))
        for j, resource in enumerate(machine["resources"]):
            marks.extend(_cell(resource, resource["allocations"][place], NAMES + j * wide, y, wide, machine["name"]))
    return Drawing(NAMES + wide * len(resources), TOP + ROW * len(machines) + 4, tuple(marks), title)


def _cell(resource: dict[str, Any], cell: dict[str, Any], x: float, y: float, wide: float, owner: str) -> list[Mark]:
    used = cell["utilization"]
    if used is None:
        return [Words(x + wide / 2, y + 14, "–", "middle", "muted", SMALL)]
    ink = SHADES[min(max(int(used * (len(SHADES) - 1) + 0.5), 0), len(SHADES) - 1)]
    tip = f"{owner}: {amount(cell['used'])} of {amount(resource['capacity'])} {resource['name']} used ({percent(used)})"
    if cell["stopped"]:
        tip += f", stops {cell['stopped']} users"
    marks: list[Mark] = [Box(x + 1, y + 1, wide - 2, ROW - 2, fill=ink, round=2, tip=tip)]
    if cell["stopped"]:
        marks.append(Box(x + 1.75, y + 1.75, wide - 3.5, ROW - 3.5, stroke="alarm", edge=2, round=2))
    text = f"{100 * used:.0f}"
    marks.append(Words(x + wide / 2, y + 14, text, "middle", f"on-{ink}", SMALL, bold=bool(cell["stopped"])))
    return marks
