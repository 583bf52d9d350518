"""Figures as Vega-Lite specifications, and what shows them: a page's own script, or a file of SVG, PNG or PDF.

A specification is plain JSON. Its colours are the page's variables (``var(--policy0)``), so that the theme of a page,
its print and a file have each their own. Names never stand in an expression but as the strings of a list, and rows
name users, resources and entries of a legend by their places: two things of one name stay two.
"""

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.errors import InstanceError
from ..base.tables import clean
from ..io.text.files import path_of, write_whole
from .palette import FONT, HATCHES, INKS, hatches
from .vega import converter

__all__ = [
    "CONFIG",
    "FADED",
    "HEIGHT",
    "ROW",
    "Chart",
    "Figure",
    "Key",
    "Panel",
    "Spec",
    "beside",
    "checked_picture",
    "colours",
    "ink",
    "lines_of",
    "name_axis",
    "named",
    "number_axis",
    "paint",
    "room_for",
    "span",
    "thinned",
    "unkeyed",
    "zoomed",
]  # fmt: skip

Spec = dict[str, Any]

WIDTH, HEIGHT, ROW = 320, 220, 22
"""Pixels of a panel in a file, of its plot upwards, and of a row with a name."""

ACROSS = 3
"""Panels in a row of a file."""

SHARPNESS = 2.0
"""Dots of a PNG for every pixel: sharp on any screen and in print."""

LETTER, WIDE, LONGEST = 7.2, 10.5, 240
"""Pixels of a letter at an axis, of an m or w, and of a name at most."""

FINE = 250
"""Points of a line across a panel: more are no more to see."""

PICTURES = (".svg", ".png", ".pdf")

SHARE = "format(100 * datum.value, ',.10~r') + ' %'"
"""What stands at the tick of a share; ten digits are fewer than rounding spoils."""

AMOUNT = "format(datum.value, ',.10~r')"


def ink(name: str) -> str:
    """Return the colour of that name, whatever the theme makes of it."""
    return f"var(--{name})"


def paint(name: str) -> str:
    """Return how a part in that ink is filled: with its hatch, where it has one."""
    return f"url(#{name})" if HATCHES.get(name) else ink(name)


FADED = {"condition": {"test": "!length(chosen) || indexof(chosen, datum.key) >= 0", "value": 1}, "value": 0.1}
"""What is not chosen in the legend steps back."""

CONFIG: Spec = {
    "font": FONT,
    "background": "transparent",
    "aria": False,
    "view": {"stroke": None},
    "axis": {
        "labelColor": ink("muted"), "titleColor": ink("muted"), "gridColor": ink("line"), "domain": False,
        "ticks": False, "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal", "labelPadding": 6,
    },
    "axisQuantitative": {"tickCount": 5},
    "title": {"color": ink("ink"), "fontSize": 13, "anchor": "start", "frame": "group", "fontWeight": 600},
    "legend": {
        "labelColor": ink("ink"), "titleColor": ink("muted"), "orient": "bottom", "columns": 6, "labelFontSize": 12,
        "symbolStrokeColor": ink("outline"), "symbolSize": 120, "labelLimit": 220,
    },
    "text": {"color": ink("ink"), "fontSize": 11},
    "concat": {"spacing": 26},
}  # fmt: skip
"""How everything looks."""


@dataclass(frozen=True)
class Key:
    """An entry of a legend: its paint and the shape of its points, or no shape and the dash of its line."""

    name: str
    paint: str
    shape: str = "square"
    dash: tuple[int, ...] = (1, 0)


@dataclass(frozen=True)
class Panel:
    """A specification without a width; `least` is the width in pixels that it needs at least."""

    spec: Spec
    title: str = ""
    least: int = 0


@dataclass(frozen=True)
class Figure:
    """Panels that belong together, one beside the other, with their legend and their text.

    Attributes
    ----------
    name : str
        Of its files, and of its place on the page.
    title, caption : str
    alternative : str
        What the figure shows, for who does not see it.
    panels : tuple of Panel
    keys : tuple of Key
    """

    name: str
    title: str
    caption: str
    alternative: str
    panels: tuple[Panel, ...]
    keys: tuple[Key, ...] = ()

    def whole(self) -> "Chart":
        """Return one chart of all panels with their titles, and the legend below."""
        return beside(self.panels, self.title, self.alternative)


@dataclass(frozen=True)
class Chart:
    """A picture: ``chart.save("name.svg")`` writes it, a notebook shows it, ``chart.spec`` is its Vega-Lite."""

    spec: Spec

    def save(self, path: str | Path) -> None:
        """Write the picture as .svg, .png or .pdf, whole or not at all."""
        path = checked_picture(path_of(path))
        draw: dict[str, Callable[[], str | bytes]] = {".svg": self.svg, ".png": self.png, ".pdf": self.pdf}
        write_whole(path, draw[path.suffix.lower()]())

    def svg(self) -> str:
        """Return the picture as SVG, in the colours for white paper."""
        drawn = converter().vegalite_to_svg(_coloured(self.spec | {"config": CONFIG | {"background": ink("paper")}}))
        # Vega has no hatches of its own: its fills name these.
        return re.sub("<svg[^>]*>", lambda found: f"{found[0]}<defs>{hatches(INKS['light'])}</defs>", drawn, count=1)

    def png(self) -> bytes:
        """Return the picture as PNG."""
        return converter().svg_to_png(self.svg(), scale=SHARPNESS)

    def pdf(self) -> bytes:
        """Return the picture as PDF."""
        return converter().svg_to_pdf(self.svg())

    def _repr_svg_(self) -> str:
        return self.svg()


def beside(
    panels: Sequence[Panel], title: str = "", description: str = "", across: int = ACROSS, width: int = WIDTH
) -> Chart:
    """Return panels in rows of so many, with one legend."""
    drawn = [
        {"width": max(width, panel.least), **({"title": clean(panel.title)} if panel.title else {}), **panel.spec}
        for panel in panels
    ]
    spec: Spec = {"concat": drawn, "columns": across, "params": [{"name": "chosen", "value": []}]}
    spec |= {"description": clean(description)} if description else {}
    return Chart(spec | ({"title": {"text": clean(title), "fontSize": 16, "offset": 14}} if title else {}))


def checked_picture(path: Path) -> Path:
    """Return the path; raise when a picture cannot be written under such a name, or at all."""
    if path.suffix.lower() not in PICTURES:
        raise InstanceError(f"{path}: a picture is written as {', '.join(PICTURES)}: let the name end in one of them")
    converter()
    return path


# ---- parts of specifications ----------------------------------------------------------------------


def named(names: Sequence[str]) -> str:
    """Return the expression for the name at a place, of a tick or of an entry of the legend."""
    return json.dumps([clean(name) for name in names]) + "[datum.value]"


def lines_of(name: str, pixels: int) -> list[str]:
    """Return a name in lines of a width, broken where words of it end."""
    lines = [""]
    for word in re.findall(r"[^\s/._:-]*[\s/._:-]?", name):
        if lines[-1] and len(lines[-1] + word) * LETTER > pixels:
            lines.append("")
        lines[-1] += word
    return lines


def in_lines(names: Sequence[str], pixels: int) -> str:
    """Return the expression for the name at a tick in lines of a width, broken where words of a name end."""
    rows = [lines_of(clean(name), pixels) for name in names]
    return json.dumps([lines if len(lines) > 1 else lines[0] for lines in rows]) + "[datum.value]"


def colours(keys: Sequence[Key], *, marks: str = "square") -> Spec:
    """Return the encoding by the entries of a legend; `marks` is square, point (by shape too) or line (by dash)."""

    def scaled(values: list[Any]) -> Spec:
        domain = list(range(len(keys)))
        legend: Spec = {"title": None, "labelExpr": named([key.name for key in keys])}
        legend |= {"symbolType": "square"} if marks == "square" else {}
        legend |= {"symbolType": "stroke", "symbolStrokeWidth": 2} if marks == "line" else {"symbolStrokeWidth": 0.5}
        return {"field": "key", "type": "nominal", "scale": {"domain": domain, "range": values}, "legend": legend}

    found = {"color": scaled([key.paint for key in keys]), "opacity": FADED}
    if marks == "point":
        found["shape"] = scaled([key.shape for key in keys])
    if marks == "line":
        found["strokeDash"] = scaled([list(key.dash) for key in keys])
    return found


def number_axis(
    field: str, *, share: bool = False, title: str | None = None, scale: Spec | None = None, **axis: Any
) -> Spec:
    """Return the encoding of a position by a number; a scale begins at zero unless it says otherwise."""
    axis = {"title": title, "labelExpr": SHARE if share else AMOUNT, **axis}
    return {"field": field, "type": "quantitative", "axis": axis, "scale": scale or {"zero": True, "nice": True}}


def room_for(names: Sequence[str]) -> int:
    """Return the pixels that the longest of some names needs, up to `LONGEST`: beyond it ends in an ellipsis."""
    widths = (LETTER * len(name) + (WIDE - LETTER) * sum(map(name.lower().count, "mw")) for name in names)
    return min(LONGEST, max(40, int(max(widths, default=0))))


def name_axis(names: Sequence[str], limit: int | None = None, **axis: Any) -> Spec:
    """Return the encoding of a row or a column by a name; what is longer than the limit ends in an ellipsis."""
    limit = room_for(names) if limit is None else limit
    axis = {
        "title": None,
        "labelExpr": named(names),
        "labelLimit": limit,
        "labelColor": ink("ink"),
        "labelPadding": 9,
        **axis,
    }
    return {"field": "place", "type": "ordinal", "axis": {"grid": False, "labelAngle": 0, **axis}}


def span(values: Sequence[float], least: float, most: float | None = None) -> Spec:
    """Return a scale that holds the values and spans at least the part `least` of the largest.

    A difference that means nothing shall not look large. Nothing is shown beyond `most`, which is the largest value
    there can be.
    """
    low, high = min(values), max(values)
    room = max(0.0, least * (abs(high) or 1.0) - (high - low)) / 2
    # Some paper around the outermost points.
    room += 0.06 * (high - low + 2 * room)
    low, high = low - room, high + room
    if most is not None and high > most:
        low, high = low - (high - most), most + 0.03 * (most - low)
    return {"domain": [low, high], "nice": False, "zero": False}


def zoomed(spec: Spec) -> Spec:
    """Return a layer whose axes are moved by dragging and zoomed by the wheel with Shift; a double click resets them.

    The wheel by itself goes on moving the page.
    """
    ways = {"type": "interval", "zoom": "wheel![event.shiftKey]"}
    return spec | {"params": [{"name": "zoom", "select": ways, "bind": "scales"}]}


def unkeyed(spec: Any) -> Any:
    """Return the specification without legends, for where one stands below all panels."""
    if isinstance(spec, dict):
        return {name: None if name == "legend" else value if name == "values" else unkeyed(value)
                for name, value in spec.items()}  # fmt: skip
    return [unkeyed(value) for value in spec] if isinstance(spec, list) else spec


def thinned(points: list[tuple[float, float]], wide: bool = False) -> list[tuple[float, float]]:
    """Return the first of the points in every small step, and the last; a `wide` scale is one of powers of ten."""
    if len(points) < 3:
        return points
    upwards = [math.log(share) if wide else share for _, share in points]
    right, high = points[-1][0] - points[0][0] or 1.0, max(upwards) - min(upwards) or 1.0
    kept = [0]
    for at in range(1, len(points) - 1):
        across = (points[at][0] - points[kept[-1]][0]) / right
        if across + abs(upwards[at] - upwards[kept[-1]]) / high >= 1 / FINE:
            kept.append(at)
    return [points[at] for at in (*kept, len(points) - 1)]


def _coloured(spec: Any) -> Any:
    """Return the specification in the colours for white paper; what rows hold is not looked at."""
    if isinstance(spec, dict):
        return {name: value if name == "values" else _coloured(value) for name, value in spec.items()}
    if isinstance(spec, list):
        return [_coloured(value) for value in spec]
    return PRINTED.get(spec, spec) if isinstance(spec, str) else spec


PRINTED = {ink(name): colour for name, colour in INKS["light"].items()}
