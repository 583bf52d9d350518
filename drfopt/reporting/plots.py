"""Who holds what of every resource, drawn as in Ghodsi et al., NSDI 2011, Figures 3 and 4.

One column a resource, from 0 to 100 % of the cluster, stacked by user; what nobody holds is left white. Parts
that are high enough carry their amount. matplotlib is imported when something is drawn.
"""

from collections.abc import Iterable, Sequence
from itertools import cycle
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.errors import DrfoptError
from ..base.tolerances import CAPACITY
from ..model.allocation import Allocation
from .holdings import Part, brief, parts_of, title_of
from .numbers import amount
from .palette import OUTLINE
from .raster import matplotlib, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..solving.comparing import Comparison

__all__ = ["plot_comparison", "plot_shares"]

LOWEST_LABEL = 6.0
"""Percent of the column that a part must have to carry its amount: the height of a line of text."""

MOST_COLUMNS = 6
"""Columns of one panel beyond which amounts would run into each other."""

LONGEST_LABEL = 11
"""Letters that fit into a column; where amount and resource are longer, the amount stands alone."""

THINNEST_EDGE = 1.5
"""Percent of the column below which a white edge would hide the part that it should set off."""

BAR = 0.68
"""Width of a column, where 1 is the distance from one to the next."""


def plot_shares(allocation: Allocation, ax: "Axes | None" = None) -> "Axes":
    """Draw who holds what of every resource (Figure 3 of the paper).

    Parameters
    ----------
    allocation : Allocation
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    DrfoptError
        When matplotlib is not installed.
    """
    if ax is None:
        width = 2.4 + 1.1 * min(allocation.instance.m, 12)
        ax = _pyplot().subplots(figsize=(width, 3.8), layout="constrained")[1]
    matplotlib()
    parts = _parts([allocation])
    _draw(ax, allocation, parts)
    ax.set_title(title_of(allocation.policy, allocation.integer))
    ax.set_ylabel("share of the cluster")
    handles = _handles(parts, [allocation])[::-1]
    ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.02, 1), borderaxespad=0, frameon=False)
    return ax


def plot_comparison(
    allocations: "Comparison | Iterable[Allocation]", axes: "Sequence[Axes] | np.ndarray | None" = None
) -> np.ndarray:
    """Draw allocations of one instance side by side, with one legend (Figure 4 of the paper).

    Parameters
    ----------
    allocations : Comparison, or sequence of Allocation
        One panel each, in their order.
    axes : sequence of matplotlib Axes, optional
        One for each allocation; a new figure by default.

    Returns
    -------
    array of matplotlib Axes

    Raises
    ------
    DrfoptError
        When matplotlib is not installed, there is nothing to draw, or there are fewer axes than allocations.
    """
    found = list(allocations if isinstance(allocations, Iterable) else allocations.allocations)
    if not found:
        raise DrfoptError("there is no allocation to draw: compare at least one policy that takes the instance")
    matplotlib()
    panels = _panels(found) if axes is None else np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    if len(panels) < len(found):
        raise DrfoptError(f"there are {len(panels)} axes for {len(found)} allocations: give one each")
    parts = _parts(found)
    for letter, ax, allocation in zip(cycle(ascii_lowercase), panels, found, strict=False):
        _draw(ax, allocation, parts)
        ax.set_title(
            f"({letter}) {title_of(allocation.policy, allocation.integer)}"
            if len(found) > 1
            else title_of(allocation.policy, allocation.integer)
        )
    panels[0].set_ylabel("share of the cluster")
    handles = _handles(parts, found)
    if axes is None:
        panels[0].figure.legend(
            handles=handles,
            loc="outside lower center",
            ncols=min(len(handles), 2 * len(found) + 1),
            frameon=False,
        )
    else:
        place = {"loc": "upper left", "bbox_to_anchor": (1.02, 1), "borderaxespad": 0}
        panels[len(found) - 1].legend(handles=handles[::-1], frameon=False, **place)
    return panels


def _pyplot() -> Any:
    matplotlib()
    from matplotlib import pyplot

    return pyplot


def _panels(allocations: list[Allocation]) -> np.ndarray:
    columns = min(max(allocation.instance.m for allocation in allocations), 10)
    across = min(len(allocations), 4)
    down = -(-len(allocations) // across)
    size = (0.6 + across * (0.5 + 1.05 * columns), 0.8 + 3.2 * down)
    grid = _pyplot().subplots(down, across, figsize=size, sharey=True, squeeze=False, layout="constrained")[1].ravel()
    for ax in grid[len(allocations) :]:
        ax.set_axis_off()
    return grid[: len(allocations)]


# ---- what is drawn --------------------------------------------------------------------------------


def _shares(allocation: Allocation) -> np.ndarray:
    """Return the fraction of every resource that each user holds, (n, m)."""
    capacity = allocation.instance.capacity
    held = allocation.usage.astype(float)
    return np.divide(held, capacity, where=capacity > 0, out=np.zeros(held.shape))


def _parts(allocations: list[Allocation]) -> list[Part]:
    return parts_of(allocations[0].users, [_shares(allocation) for allocation in allocations])


def _handles(parts: list[Part], allocations: list[Allocation]) -> list:
    """Return the entries of the legend in the order in which the parts are stacked."""
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=part.style.colour, hatch=part.style.hatch, edgecolor="white", label=plain(part.name))
        for part in parts
    ]
    if any((_shares(allocation).sum(axis=0) < 1 - CAPACITY).any() for allocation in allocations):
        handles.append(Patch(facecolor="white", edgecolor=OUTLINE, label="unused"))
    return handles


# ---- drawing --------------------------------------------------------------------------------------


def _draw(ax: "Axes", allocation: Allocation, parts: list[Part]) -> None:
    resources = allocation.resources
    places = np.arange(len(resources))
    shares = _shares(allocation)
    usage = allocation.usage.astype(float)
    base = np.zeros(len(resources))
    for part in parts:
        height = 100 * shares[part.members].sum(axis=0)
        ax.bar(
            places,
            height,
            bottom=base,
            width=BAR,
            color=part.style.colour,
            hatch=part.style.hatch,
            edgecolor="white",
            linewidth=np.where(height < THINNEST_EDGE, 0, 0.7),
        )
        if len(resources) <= MOST_COLUMNS:
            _label(ax, resources, usage[part.members].sum(axis=0), base, height)
        base = base + height
    # The outline is the whole resource: what stays white inside it is idle.
    ax.bar(places, 100, width=BAR, facecolor="none", edgecolor=OUTLINE, linewidth=0.9, zorder=3)
    slanted = max(map(len, resources)) > (10 if len(resources) <= MOST_COLUMNS else 4)
    ax.set_xticks(
        places,
        [plain(brief(r)) for r in resources],
        rotation=35 if slanted else 0,
        ha="right" if slanted else "center",
        rotation_mode="anchor" if slanted else "default",
    )
    ax.set_xlim(-0.5, len(resources) - 0.5)
    ax.set_ylim(0, 103)
    ax.set_yticks(range(0, 101, 25), [f"{percent} %" for percent in range(0, 101, 25)])
    ax.tick_params(axis="x", length=0)
    ax.spines[["top", "right", "bottom"]].set_visible(False)


def _label(ax: "Axes", resources: tuple[str, ...], held: np.ndarray, base: np.ndarray, height: np.ndarray) -> None:
    for j, resource in enumerate(resources):
        if height[j] < LOWEST_LABEL:
            continue
        label = f"{amount(held[j])} {resource}"
        ax.text(
            j,
            base[j] + height[j] / 2,
            plain(label if len(label) <= LONGEST_LABEL else amount(held[j])),
            ha="center",
            va="center",
            fontsize=8,
            zorder=4,
            bbox={"boxstyle": "round,pad=0.2", "facecolor": "white", "alpha": 0.88, "linewidth": 0},
        )
