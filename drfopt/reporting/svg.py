"""Drawings as SVG: inside the page, where the page's theme colours them, or as a file of their own."""

from html import escape

from ..base.tables import clean
from .drawing import Box, Dot, Drawing, Line, Mark, Words
from .palette import INKS

__all__ = ["inline", "patterns", "standalone"]

HATCH = {
    "//": "M-1,1 l2,-2 M0,8 l8,-8 M7,9 l2,-2",
    "\\\\": "M-1,7 l2,2 M0,0 l8,8 M7,-1 l2,2",
    "xx": "M0,8 l8,-8 M0,0 l8,8",
    "--": "M0,4 h8",
    "..": "M2,2 h1.6 M6,6 h1.6",
}
"""Hatches by the names matplotlib has for them, each a path in a tile of 8 by 8."""

IDS = {"//": "rising", "\\\\": "falling", "xx": "crossed", "--": "level", "..": "dotted"}

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

SHAPES = {
    "square": "M{l},{t} H{r} V{b} H{l} Z",
    "triangle": "M{x},{t} L{r},{b} L{l},{b} Z",
    "diamond": "M{x},{T} L{R},{y} L{x},{B} L{L},{y} Z",
    "cross": "M{l},{t} L{r},{b} M{l},{b} L{r},{t}",
    "plus": "M{x},{T} V{B} M{L},{y} H{R}",
}

OPEN_SHAPES = ("cross", "plus")


def inline(drawing: Drawing, label: str) -> str:
    """Return the drawing as an element of a page that has `patterns` and a class for every ink."""
    size = f"0 0 {_number(drawing.width)} {_number(drawing.height)}"
    return (
        f'<svg class="drawing" viewBox="{size}" width="{_number(drawing.width)}" height="{_number(drawing.height)}"'
        f' role="img" aria-label="{_attribute(label)}">{_body(drawing)}</svg>'
    )


def standalone(drawing: Drawing) -> str:
    """Return the drawing as a file, in the colours for white paper."""
    inks = INKS["light"]
    style = " ".join(
        f".f-{name} {{ fill: {colour} }} .s-{name} {{ stroke: {colour} }} .h-{name} {{ stroke: {colour} }}"
        for name, colour in inks.items()
    )
    width, height = _number(drawing.width), _number(drawing.height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' font-family="{FONT}" role="img" aria-label="{_attribute(drawing.title)}">\n'
        f"<style>{style} {RULES}</style>\n<defs>{patterns()}</defs>\n"
        f'<rect width="100%" height="100%" fill="{inks["paper"]}"/>\n{_body(drawing)}\n</svg>\n'
    )


RULES = (
    "text { font-variant-numeric: tabular-nums }"
    " .halo { paint-order: stroke; stroke-width: 3px; stroke-linejoin: round }"
    " .line { fill: none; stroke-linejoin: round; stroke-linecap: round } .dashed { stroke-dasharray: 4 4 }"
)
"""What the classes of marks mean, wherever they stand."""


def patterns() -> str:
    """Return the hatches, to stand once in a document."""
    return "".join(
        f'<pattern id="hatch-{IDS[name]}" width="8" height="8" patternUnits="userSpaceOnUse">'
        f'<path d="{path}" stroke="#fff" stroke-opacity="0.5" stroke-width="1.4" fill="none"/></pattern>'
        for name, path in HATCH.items()
    )


def _body(drawing: Drawing) -> str:
    return "".join(map(_mark, drawing.marks))


def _mark(mark: Mark) -> str:
    if isinstance(mark, Box):
        return _box(mark)
    if isinstance(mark, Line):
        points = " ".join(f"{_number(x)},{_number(y)}" for x, y in mark.points)
        dashed = " dashed" if mark.dashed else ""
        path = f'points="{points}" stroke-width="{_number(mark.width)}"'
        return _tipped(f'polyline class="line s-{mark.ink}{dashed}" {path}', mark.tip)
    if isinstance(mark, Dot):
        return _dot(mark)
    return _words(mark)


def _box(mark: Box) -> str:
    place = f'x="{_number(mark.x)}" y="{_number(mark.y)}" width="{_number(mark.width)}" height="{_number(mark.height)}"'
    place += f' rx="{_number(mark.round)}"' if mark.round else ""
    names = [f"f-{mark.fill}" if mark.fill else "", f"s-{mark.stroke}" if mark.stroke else ""]
    bare = "" if mark.fill else ' fill="none"'
    bare += f' stroke-width="{_number(mark.edge)}"' if mark.stroke and mark.edge != 1 else ""
    drawn = _tipped(f'rect class="{" ".join(filter(None, names))}"{bare} {place}', mark.tip)
    if mark.hatch:
        drawn += f'<rect fill="url(#hatch-{IDS[mark.hatch]})" pointer-events="none" {place}/>'
    return drawn


def _dot(mark: Dot) -> str:
    x, y, r = mark.x, mark.y, mark.radius
    if mark.shape == "circle":
        place = f'circle class="f-{mark.ink}" cx="{_number(x)}" cy="{_number(y)}" r="{_number(r)}"'
        return _tipped(place, mark.tip)
    small, large = 0.9 * r, 1.25 * r
    corners = {"x": x, "y": y, "l": x - small, "r": x + small, "t": y - small, "b": y + small}
    corners |= {"L": x - large, "R": x + large, "T": y - large, "B": y + large}
    path = SHAPES[mark.shape].format(**{name: _number(value) for name, value in corners.items()})
    if mark.shape in OPEN_SHAPES:
        return _tipped(f'path class="line s-{mark.ink}" stroke-width="2.4" d="{path}"', mark.tip)
    return _tipped(f'path class="f-{mark.ink}" d="{path}"', mark.tip)


def _words(mark: Words) -> str:
    x, y = _number(mark.x), _number(mark.y)
    more = f' font-size="{_number(mark.size)}"'
    more += f' text-anchor="{mark.anchor}"' if mark.anchor != "start" else ""
    more += ' font-weight="600"' if mark.bold else ""
    more += f' transform="rotate(-90 {x} {y})"' if mark.turned else ""
    halo = f" halo h-{mark.halo}" if mark.halo else ""
    tip = f"<title>{_text(mark.tip)}</title>" if mark.tip else ""
    return f'<text class="f-{mark.ink}{halo}" x="{x}" y="{y}"{more}>{tip}{_text(mark.text)}</text>'


def _tipped(element: str, tip: str) -> str:
    name = element.split(" ", 1)[0]
    return f"<{element}><title>{_text(tip)}</title></{name}>" if tip else f"<{element}/>"


def _text(text: str) -> str:
    return escape(clean(text), quote=False)


def _attribute(text: str) -> str:
    return escape(clean(text), quote=True)


def _number(value: float) -> str:
    """Return a length in hundredths of a pixel, without zeros that say nothing."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
