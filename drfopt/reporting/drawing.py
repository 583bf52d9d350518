"""A drawing as a list of marks, which knows nothing of how it is written: `svg` and `raster` do that.

Lengths are CSS pixels, y grows downwards; colours are names of `palette.INKS`.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from ..base.tables import clean

__all__ = ["Box", "Dot", "Drawing", "Figure", "Key", "Line", "Mark", "Words", "fitted", "width_of"]

SIZE = 12.0
"""Height of ordinary words."""

LETTER = 0.62
"""Width of most letters and digits of a wide sans-serif face, as a part of its height."""

NARROW = dict.fromkeys("iljtfrI.,:;|!'()[]-/ ", 0.38)
BROAD = dict.fromkeys("mwMW@%", 0.95) | dict.fromkeys("ABCDGHNOQRSUVXZ&", 0.73)


@dataclass(frozen=True)
class Box:
    """A rectangle, filled or outlined or both; `tip` is what a pointer resting on it is told."""

    x: float
    y: float
    width: float
    height: float
    fill: str = ""
    stroke: str = ""
    edge: float = 1.0
    hatch: str = ""
    round: float = 0.0
    tip: str = ""


@dataclass(frozen=True)
class Line:
    """A line through points."""

    points: tuple[tuple[float, float], ...]
    ink: str
    width: float = 1.0
    dashed: bool = False
    tip: str = ""


@dataclass(frozen=True)
class Dot:
    """A point that is told from others by its shape too."""

    x: float
    y: float
    ink: str
    shape: Literal["circle", "square", "triangle", "diamond", "cross", "plus"] = "circle"
    radius: float = 4.5
    tip: str = ""


@dataclass(frozen=True)
class Words:
    """A line of text at a point of its baseline; `halo` is drawn around the letters."""

    x: float
    y: float
    text: str
    anchor: Literal["start", "middle", "end"] = "start"
    ink: str = "ink"
    size: float = SIZE
    bold: bool = False
    turned: bool = False
    halo: str = ""
    tip: str = ""


Mark = Box | Line | Dot | Words


@dataclass(frozen=True)
class Drawing:
    """Marks on a sheet of a width and a height."""

    width: float
    height: float
    marks: tuple[Mark, ...]
    title: str = ""

    def shifted(self, right: float, down: float) -> tuple[Mark, ...]:
        """Return the marks, moved."""
        return tuple(_shifted(mark, right, down) for mark in self.marks)


@dataclass(frozen=True)
class Key:
    """An entry of a legend."""

    name: str
    ink: str
    hatch: str = ""
    shape: Literal["box", "circle", "square", "triangle", "diamond", "cross", "plus", "line", "empty"] = "box"


@dataclass(frozen=True)
class Figure:
    """Drawings that belong together, one beside the other, with their legend and their text.

    Attributes
    ----------
    name : str
        Of its files, and of its place on the page.
    title, caption : str
    alternative : str
        What the figure shows, for who does not see it.
    panels : tuple of Drawing
    keys : tuple of Key
    """

    name: str
    title: str
    caption: str
    alternative: str
    panels: tuple[Drawing, ...]
    keys: tuple[Key, ...] = field(default=())

    def whole(self) -> Drawing:
        """Return one drawing of all panels with their titles, and the legend below."""
        gap, across = 28.0, min(3, len(self.panels))
        wide = max(panel.width for panel in self.panels)
        width = 2 * gap / 2 + across * wide + (across - 1) * gap
        marks: list[Mark] = [Words(gap / 2, 26, self.title, size=16, bold=True)]
        top = 44.0
        for start in range(0, len(self.panels), across):
            row = self.panels[start : start + across]
            for place, panel in enumerate(row):
                left = gap / 2 + place * (wide + gap)
                marks.append(Words(left + panel.width / 2, top + 14, panel.title, "middle", size=13, bold=True))
                marks.extend(panel.shifted(left, top + 22))
            top += 22 + max(panel.height for panel in row) + 16
        top = self._legend(marks, gap / 2, top, width)
        return Drawing(width, top + 8, tuple(marks), self.title)

    def _legend(self, marks: list[Mark], left: float, top: float, width: float) -> float:
        x, y = left, top + 8
        for key in self.keys:
            room = 34 + width_of(key.name)
            if x > left and x + room > width:
                x, y = left, y + 20
            marks.extend(Drawing(0, 0, swatch(key)).shifted(x, y - 11))
            marks.append(Words(x + 20, y, key.name))
            x += room
        return y + 8 if self.keys else top


def swatch(key: Key) -> tuple[Mark, ...]:
    """Return the marks of a legend's entry, 14 by 14."""
    if key.shape == "empty":
        return (Box(1, 1, 12, 12, stroke=key.ink),)
    if key.shape == "box":
        return (Box(0.5, 0.5, 13, 13, fill=key.ink, stroke="line", hatch=key.hatch),)
    line = Line(((0, 7), (14, 7)), key.ink, 2)
    return (line,) if key.shape == "line" else (line, Dot(7, 7, key.ink, key.shape))


def width_of(text: str, size: float = SIZE) -> float:
    """Return about how wide a text is."""
    return size * sum(map(_part, text))


def _part(letter: str) -> float:
    if letter.isascii():
        return NARROW.get(letter) or BROAD.get(letter, LETTER)
    return 1.0 if unicodedata.east_asian_width(letter) in "WF" else LETTER


def fitted(text: str, room: float, size: float = SIZE) -> str:
    """Return the text, or as much of its beginning as there is room for, with an ellipsis."""
    text = clean(text)
    if width_of(text, size) <= room:
        return text
    end, used = 0, width_of("…", size)
    for letter in text:
        used += size * _part(letter)
        if used > room:
            break
        end += 1
    return text[:end].rstrip() + "…"


def _shifted(mark: Mark, right: float, down: float) -> Mark:
    if isinstance(mark, Line):
        return replace(mark, points=_moved(mark.points, right, down))
    return replace(mark, x=mark.x + right, y=mark.y + down)


def _moved(points: Iterable[tuple[float, float]], right: float, down: float) -> tuple[tuple[float, float], ...]:
    return tuple((x + right, y + down) for x, y in points)
