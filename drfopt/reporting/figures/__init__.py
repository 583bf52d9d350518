"""The figures of a page, each a file that draws one from the document."""

from collections.abc import Callable
from typing import Any

from ..charts import Figure
from ..views import collapsed
from . import changes, classes, columns, shares, tradeoff

__all__ = ["FIGURES", "figures"]

FIGURES: tuple[Callable[[dict[str, Any]], Figure | None], ...] = (
    columns.figure,
    shares.figure,
    shares.stops_figure,
    classes.figure,
    tradeoff.figure,
)
"""In the order of the page; a row that the document has nothing for gives None."""


def figures(document: dict[str, Any]) -> dict[str, Figure]:
    """Return every figure that the document gives, by name."""
    document = collapsed(document)
    drawn = [found for draw in FIGURES if (found := draw(document)) is not None]
    drawn += [changes.sweep_figure(sweep, place) for place, sweep in enumerate(document["sweeps"], start=1)]
    differences = [changes.figure(found, place) for place, found in enumerate(document["whatifs"], start=1)]
    drawn += [figure for figure in differences if figure is not None]
    return {figure.name: figure for figure in drawn}
