"""How full the machine classes are: a map of classes and resources, its bottlenecks framed."""

from typing import Any

from ...base.numbers.shown import amount, counted, in_places, percent
from ...base.tables import clean
from ..charts import FADED, Figure, Key, Panel, Spec, in_lines, ink, lines_of, name_axis, room_for
from ..palette import SHADES, title_of

__all__ = ["figure"]

MOST_CLASSES = 40
"""Classes that are shown; of more, those on which most users are stopped, then the largest."""

ROW, LEAST = 20, 46
"""Pixels of a row, and of a resource at least."""

LEVELS = ("idle", "20 %", "40 %", "60 %", "80 %", "used up")
KEYS = tuple(Key(name, ink(shade)) for name, shade in zip(LEVELS, SHADES, strict=True))


def figure(document: dict[str, Any]) -> Figure | None:
    """Return one panel a policy; None for a pool."""
    machines = document["machines"]
    if machines is None:
        return None
    shown = sorted(sorted(range(len(machines)), key=lambda k: _weight(machines[k]))[:MOST_CLASSES])
    left_out = len(machines) - len(shown)
    allocations = document["comparison"]["allocations"]
    caption = "Used part of what all machines of a class have together; framed where somebody is stopped. "
    if document["instance"]["integer"]:
        caption += (
            "This is one packing, and others may give the same tasks: framed is what the next task of somebody lacks "
            "on the machine of the class where it lacks least; it need not be used up."
        )
    elif document["instance"]["choice"]:
        caption += (
            "This is one placement, and others may give the same tasks: what is framed is used up in all that do, "
        )
        caption += "other cells may be fuller or emptier in another."
    else:
        caption += "Nobody who has tasks has a choice of classes: there is no other placement."
    if left_out:
        caption += f" {left_out} classes on which fewer users are stopped are left out; the table has all."
    return Figure(
        name="classes",
        title="How full the machine classes are",
        caption=caption,
        alternative=" ".join(_in_words(document, a, place) for place, a in enumerate(allocations)),
        panels=tuple(
            _panel(title_of(a["policy"], a["integer"]), place, [machines[k] for k in shown])
            for place, a in enumerate(allocations)
        ),
        keys=KEYS,
    )


def _weight(machine: dict[str, Any]) -> tuple[float, float]:
    stopped = sum(sum(cell["stopped"] for cell in resource["allocations"]) for resource in machine["resources"])
    return -stopped, -machine["count"]


def _in_words(document: dict[str, Any], allocation: dict[str, Any], place: int) -> str:
    full = [
        f"{machine['name']} {resource['name']}"
        for machine in document["machines"]
        for resource in machine["resources"]
        if resource["allocations"][place]["stopped"]
    ]
    names = ", ".join(full[:12]) + (f" and {len(full) - 12} more" if len(full) > 12 else "")
    title = title_of(allocation["policy"], allocation["integer"])
    unknown = document["stops"][place]["unknown"]
    none = "what stops users is not known by class" if unknown else "no class stops anybody"
    return f"{title}: users are stopped by {names}." if full else f"{title}: {none}."


def _panel(title: str, place: int, machines: list[dict[str, Any]]) -> Panel:
    resources = [resource["name"] for resource in machines[0]["resources"]]
    rows = [
        _cell(machine["name"], resource, resource["allocations"][place]) | {"row": row, "column": column}
        for row, machine in enumerate(machines)
        for column, resource in enumerate(machine["resources"])
    ]
    deepest = max(len(lines_of(clean(name), LEAST + 6)) for name in resources)
    # Lines of letters above the map grow downwards: the first begins so much higher.
    top: Spec = {"orient": "top", "labelColor": ink("muted"), "labelExpr": in_lines(resources, LEAST + 6)}
    top |= {"labelPadding": 9 + 13 * (deepest - 1)}
    names = room_for([machine["name"] for machine in machines])
    used = {"transform": [{"filter": "datum.used !== null"}]}
    text = {"type": "text", "baseline": "middle"}
    spec: Spec = {
        "height": ROW * len(machines),
        "data": {"values": rows},
        "encoding": {
            "y": name_axis([machine["name"] for machine in machines], names) | {"field": "row"},
            "x": name_axis(resources, LEAST + 20, **top) | {"field": "column"},
            "opacity": FADED,
            "tooltip": {"field": "tip"},
        },
        "layer": [
            {**used, "mark": {"type": "rect", "cornerRadius": 2, "stroke": ink("card"), "strokeWidth": 2},
             "encoding": {"color": _shaded([key.paint for key in KEYS])}},
            {"transform": [{"filter": "datum.stopped > 0"}],
             "mark": {"type": "rect", "fill": None, "stroke": ink("alarm"), "strokeWidth": 2, "cornerRadius": 2,
                      "width": {"band": 0.96}, "height": {"band": 0.86}}},
            {**used, "mark": text,
             "encoding": {"text": {"field": "text"}, "fill": _shaded([ink(f"on-{shade}") for shade in SHADES])}},
            {"transform": [{"filter": "datum.used === null"}], "mark": text | {"text": "–", "fill": ink("muted")}},
        ],
    }  # fmt: skip
    return Panel(spec, title, names + LEAST * len(resources))


def _shaded(values: list[str]) -> Spec:
    scale = {"domain": list(range(len(SHADES))), "range": values}
    return {"field": "key", "type": "nominal", "scale": scale, "legend": None}


def _cell(owner: str, resource: dict[str, Any], cell: dict[str, Any]) -> dict[str, Any]:
    part = cell["utilization"]
    if part is None:
        return {"used": None, "stopped": 0, "key": 0, "text": "–", "tip": clean(f"{owner} has no {resource['name']}")}
    used, whole = (amount(value, resource["unit"]) for value in (cell["used"], resource["capacity"]))
    tip = f"{owner}: {used} of {whole} {resource['name']} used ({percent(part)})"
    tip += f", stops {counted(cell['stopped'], 'user')}" if cell["stopped"] else ""
    shade = min(max(int(part * (len(SHADES) - 1) + 0.5), 0), len(SHADES) - 1)
    row = {"used": part, "stopped": cell["stopped"], "key": shade}
    return row | {"text": in_places(100 * part, 0, 100), "tip": clean(tip)}
