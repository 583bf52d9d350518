"""Allocations drawn in a notebook or into a file, as in Ghodsi et al., NSDI 2011, Figures 3 and 4.

One column a resource, from 0 to 100 % of the cluster, stacked by user; what nobody holds is left white. Parts
that are high enough carry their amount. The drawing needs ``drfopt[plot]``, imported when something is shown.
"""

from collections.abc import Iterable, Sequence
from itertools import cycle
from string import ascii_lowercase
from typing import TYPE_CHECKING

from ..base.errors import DrfoptError
from ..model.allocation import Allocation
from .charts import Chart, Panel, beside
from .figures.columns import columns, shares_of
from .palette import parts_of, title_of

if TYPE_CHECKING:
    from ..solving.comparing import Comparison

__all__ = ["plot_comparison", "plot_shares"]

MOST_ACROSS = 4
"""Panels in a row."""

COLUMN, EDGE, MOST_COLUMNS = 85, 40, 10
"""Pixels of a column and of the panel beside them, and columns that make a panel wider."""


def plot_shares(allocation: Allocation) -> Chart:
    """Draw who holds what of every resource (Figure 3 of the paper).

    Parameters
    ----------
    allocation : Allocation

    Returns
    -------
    Chart
        Shown by a notebook, written by ``.save("shares.svg")``.
    """
    return _drawn([allocation], [title_of(allocation.policy, allocation.integer)])


def plot_comparison(allocations: "Comparison | Iterable[Allocation]", *, titles: Sequence[str] | None = None) -> Chart:
    """Draw allocations of one instance side by side, with one legend (Figure 4 of the paper).

    Parameters
    ----------
    allocations : Comparison, or sequence of Allocation
        One panel each, in their order.
    titles : sequence of str, optional
        What the panels are called, where two are of one policy; by default its name, with a letter.

    Returns
    -------
    Chart

    Raises
    ------
    DrfoptError
        When there is nothing to draw.
    """
    found = list(allocations if isinstance(allocations, Iterable) else allocations.allocations)
    if not found:
        raise DrfoptError("there is no allocation to draw: compare at least one policy that takes the instance")
    if titles is not None:
        if len(titles) != len(found):
            raise DrfoptError(f"there are {len(titles)} titles and {len(found)} allocations: give one title each")
        return _drawn(found, titles)
    titles = [title_of(allocation.policy, allocation.integer) for allocation in found]
    if len(found) > 1:
        titles = [f"({letter}) {title}" for letter, title in zip(cycle(ascii_lowercase), titles, strict=False)]
    return _drawn(found, titles)


def _drawn(allocations: Sequence[Allocation], titles: Sequence[str]) -> Chart:
    resources = [
        list(zip(a.resources, a.instance.capacity.tolist(), a.instance.units, strict=True)) for a in allocations
    ]
    shares = [shares_of(a.usage.astype(float), all_of) for a, all_of in zip(allocations, resources, strict=True)]
    parts = parts_of(allocations[0].users, shares)
    panels = [
        Panel(columns(all_of, share, parts, shares), title)
        for all_of, share, title in zip(resources, shares, titles, strict=True)
    ]
    width = EDGE + COLUMN * min(max(map(len, resources)), MOST_COLUMNS)
    return beside(panels, across=min(len(panels), MOST_ACROSS), width=width)
