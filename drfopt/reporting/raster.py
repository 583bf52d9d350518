"""Drawings as PNG, for who has matplotlib."""

import io
import warnings
from typing import TYPE_CHECKING, Any

from ..base.errors import DrfoptError
from ..base.tables import clean
from .drawing import Box, Dot, Drawing, Line, Mark, Words
from .palette import INKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["matplotlib", "plain", "png"]

DOTS = 144
"""Dots per inch, two for every pixel of a drawing: sharp on any screen and in print."""

PIXELS = 72
"""Pixels of a drawing per inch; matplotlib's points."""

MARKERS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "cross": "x", "plus": "+"}
SIDES: dict[str, Any] = {"start": "left", "middle": "center", "end": "right"}


def matplotlib() -> Any:
    """Return matplotlib, or raise `DrfoptError` that names the extra."""
    try:
        import matplotlib as found
    except ModuleNotFoundError:
        raise DrfoptError('drawing needs matplotlib, which is not installed: pip install "drfopt[plot]"') from None
    return found


def plain(text: str) -> str:
    """Return the text with its dollar signs kept from being read as mathematics."""
    return clean(text).replace("$", r"\$")


def png(drawing: Drawing) -> bytes:
    """Return the drawing as a PNG file in the colours for white paper.

    Letters that matplotlib's face does not have are drawn as boxes.

    Raises
    ------
    DrfoptError
        When matplotlib is not installed.
    """
    matplotlib()
    from matplotlib.figure import Figure

    inks = INKS["light"]
    figure = Figure(figsize=(drawing.width / PIXELS, drawing.height / PIXELS), dpi=DOTS, facecolor=inks["paper"])
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set_axis_off()
    ax.set_xlim(0, drawing.width)
    ax.set_ylim(drawing.height, 0)
    for order, mark in enumerate(drawing.marks):
        _draw(ax, mark, inks, order + 1)
    written = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        # The software's version would make the bytes another with every release.
        figure.savefig(written, format="png", dpi=DOTS, metadata={"Software": None})
    return written.getvalue()


def _draw(ax: "Axes", mark: Mark, inks: dict[str, str], order: int) -> None:
    if isinstance(mark, Box):
        _box(ax, mark, inks, order)
    elif isinstance(mark, Line):
        xs, ys = zip(*mark.points, strict=True)
        style = (0, (4, 4)) if mark.dashed else "-"
        ax.plot(xs, ys, color=inks[mark.ink], linewidth=mark.width, linestyle=style, zorder=order)
    elif isinstance(mark, Dot):
        size = (2 * mark.radius) ** 2
        edge = 2.2 if mark.shape in ("cross", "plus") else 0
        marker = MARKERS[mark.shape]
        ax.scatter([mark.x], [mark.y], s=size, c=inks[mark.ink], marker=marker, linewidths=edge, zorder=order)
    else:
        _words(ax, mark, inks, order)


def _box(ax: "Axes", mark: Box, inks: dict[str, str], order: int) -> None:
    from matplotlib.patches import Rectangle

    place = (mark.x, mark.y), mark.width, mark.height
    fill = inks[mark.fill] if mark.fill else "none"
    edge = inks[mark.stroke] if mark.stroke else "none"
    ax.add_patch(
        Rectangle(*place, facecolor=fill, edgecolor=edge, linewidth=mark.edge if mark.stroke else 0, zorder=order)
    )
    if mark.hatch:
        # The colour of a hatch is that of the edge.
        hatched = Rectangle(*place, facecolor="none", edgecolor="#FFFFFF80", hatch=mark.hatch, linewidth=0)
        hatched.set_zorder(order + 0.5)
        ax.add_patch(hatched)


def _words(ax: "Axes", mark: Words, inks: dict[str, str], order: int) -> None:
    from matplotlib.patheffects import withStroke

    drawn = ax.text(
        mark.x,
        mark.y,
        plain(mark.text),
        ha=SIDES[mark.anchor],
        va="baseline",
        color=inks[mark.ink],
        fontsize=mark.size * 0.93,
        fontweight="bold" if mark.bold else "normal",
        rotation=90 if mark.turned else 0,
        rotation_mode="anchor",
        zorder=order,
    )
    if mark.halo:
        drawn.set_path_effects([withStroke(linewidth=3, foreground=inks[mark.halo])])
