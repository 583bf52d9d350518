"""Simulations drawn: shares and utilization over time, a panel a rule, and the distance from the fair optimum.

Shares are drawn as in Ghodsi et al., NSDI 2011, Figure 8: they hold from one event to the next, so the lines are steps.
"""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.errors import DrfoptError, InstanceError
from ..simulation.distance import MEASURES, Distance, distance
from ..simulation.run import Run
from .palette import OTHERS, OUTLINE, STYLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "checked_picture",
    "plot_distances",
    "plot_jobs",
    "plot_runs",
    "plot_shares_over_time",
    "plot_utilization_over_time",
    "save_runs",
]

COLOURS = tuple(style.colour for style in STYLES)
"""Colours in the order in which users, or rules, take them."""

PICTURES = (".png", ".svg", ".pdf")

DASHES = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)))
"""Styles of lines, so that they can be told apart without colour."""

CROWD = len(COLOURS)
"""Users with a colour each; in a larger crowd everybody's line is thin and grey."""


def plot_shares_over_time(run: Run, ax: "Axes | None" = None, resource: str | None = None) -> "Axes":
    """Draw every user's share over time: her dominant share, or that of one resource.

    Parameters
    ----------
    run : Run
    ax : matplotlib Axes, optional
    resource : str, optional
    """
    ax = _axes(ax)
    samples = run.samples
    if resource is None:
        shares, called = samples.dominant_shares, "dominant share"
    else:
        if resource not in run.resources:
            raise InstanceError(f"the cluster has no {resource!r}: it has {', '.join(run.resources)}")
        shares, called = samples.shares[:, :, run.resources.index(resource)], f"share of {resource}"
    crowd = len(run.users) > CROWD
    for i, name in enumerate(run.users):
        colour = OTHERS.colour if crowd else COLOURS[i]
        style: Any = "-" if crowd else DASHES[i % len(DASHES)]
        label = None if crowd else _plain(name)
        ax.step(samples.times, 100 * shares[:, i], where="post", color=colour, linestyle=style, label=label, lw=1.2)
    _finish(ax, called, run.seconds)
    if not crowd:
        ax.legend(frameon=False, fontsize=8)
    return ax


def plot_utilization_over_time(runs: Run | Sequence[Run], ax: "Axes | None" = None) -> "Axes":
    """Draw how much of each resource is in use over time; of several runs a colour each, a style a resource."""
    ax = _axes(ax)
    found = [runs] if isinstance(runs, Run) else list(runs)
    for run, colour in zip(found, cycle(COLOURS), strict=False):
        for j, resource in enumerate(run.resources):
            label = resource if len(found) == 1 else f"{run.rule}: {resource}"
            ax.step(
                run.samples.times,
                100 * run.samples.utilization[:, j],
                where="post",
                color=COLOURS[j % len(COLOURS)] if len(found) == 1 else colour,
                linestyle=DASHES[j % len(DASHES)],
                label=_plain(label),
                lw=1.2,
            )
    _finish(ax, "in use", max(run.seconds for run in found))
    ax.legend(frameon=False, fontsize=8)
    return ax


def plot_runs(runs: Sequence[Run], distances: Sequence[Distance] = ()) -> np.ndarray:
    """Draw runs side by side, a column each: dominant shares, utilization, and how far from fair they are.

    Parameters
    ----------
    runs : sequence of Run
    distances : sequence of Distance
        One a run, or none.

    Returns
    -------
    array of matplotlib Axes (rows, runs)
    """
    if not runs:
        raise DrfoptError("there is no run to draw: simulate at least one")
    rows = 2 + (len(MEASURES) if distances else 0)
    size = (1 + 3.6 * len(runs), 2.8 * 2 + 1.6 * (rows - 2))
    heights = [2.8, 2.8, *[1.6] * (rows - 2)]
    grid = _pyplot().subplots(
        rows,
        len(runs),
        figsize=size,
        sharex="col",
        sharey="row",
        squeeze=False,
        layout="constrained",
        height_ratios=heights,
    )[1]
    for k, run in enumerate(runs):
        plot_shares_over_time(run, grid[0, k])
        plot_utilization_over_time(run, grid[1, k])
        if distances:
            _draw_distance(grid[2:, k], distances[k], COLOURS[k % len(COLOURS)], "-")
        grid[0, k].set_title(_plain(run.rule))
        for ax in grid[:-1, k]:
            ax.set_xlabel("")
        grid[-1, k].set_xlabel("seconds")
        if k:
            for ax in grid[:, k]:
                ax.set_ylabel("")
                if (legend := ax.get_legend()) is not None:
                    legend.remove()
    return grid


def plot_distances(distances: Sequence[Distance]) -> np.ndarray:
    """Draw the distance from the fair optimum over time, a panel a measure and a line a rule; return the axes."""
    if not distances:
        raise DrfoptError("there is no distance to draw: measure at least one run")
    axes = _pyplot().subplots(len(MEASURES), 1, figsize=(7.5, 1.7 * len(MEASURES)), sharex=True, layout="constrained")[
        1
    ]
    for found, colour, style in zip(distances, cycle(COLOURS), cycle(DASHES), strict=False):
        _draw_distance(axes, found, colour, style)
    axes[0].legend(frameon=False, fontsize=8, ncols=len(distances), loc="lower center", bbox_to_anchor=(0.5, 1))
    axes[-1].set_xlabel("seconds")
    return axes


def _draw_distance(axes: np.ndarray, found: Distance, colour: str, style: Any) -> None:
    for ax, (name, values) in zip(axes, found.columns().items(), strict=True):
        ax.step(found.times, values, where="post", color=colour, linestyle=style, lw=1.1, label=_plain(found.rule))
        ax.set_ylabel(name)
        ax.spines[["top", "right"]].set_visible(False)


def plot_jobs(values: dict[str, dict[str, float]], ylabel: str, ax: "Axes | None" = None) -> "Axes":
    """Draw bars: a group a scheme, a bar a series, such as what was published beside what was simulated.

    Parameters
    ----------
    values : mapping from series to {scheme: number}
    ylabel : str
    """
    ax = _axes(ax)
    schemes = list(dict.fromkeys(scheme for row in values.values() for scheme in row))
    width = 0.8 / len(values)
    for k, (series, row) in enumerate(values.items()):
        places = np.arange(len(schemes)) + (k - (len(values) - 1) / 2) * width
        heights = [row.get(scheme, np.nan) for scheme in schemes]
        ax.bar(places, heights, width, label=_plain(series), color=COLOURS[k], edgecolor="white")
    ax.set_xticks(range(len(schemes)), [_plain(scheme) for scheme in schemes])
    ax.set_ylabel(ylabel)
    ax.tick_params(axis="x", length=0)
    ax.spines[["top", "right"]].set_visible(False)
    if len(values) > 1:
        ax.legend(frameon=False, fontsize=8)
    return ax


def checked_picture(path: Path) -> None:
    """Raise when a picture cannot be written under such a name, or at all."""
    if path.suffix.lower() not in PICTURES:
        raise InstanceError(f"{path}: a picture is written as {', '.join(PICTURES)}: let the name end in one of them")
    _pyplot()


def save_runs(runs: Sequence[Run], path: Path, optimum: bool = False) -> None:
    """Draw runs side by side into a file, if wished with their distance from the fair optimum."""
    _pyplot().switch_backend("Agg")
    figure = plot_runs(runs, [distance(run) for run in runs] if optimum else ())[0, 0].figure
    figure.savefig(path, dpi=150)
    _pyplot().close(figure)


def _axes(ax: "Axes | None") -> "Axes":
    return _pyplot().subplots(figsize=(6.4, 3.4), layout="constrained")[1] if ax is None else ax


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError:
        raise DrfoptError('drawing needs matplotlib, which is not installed: pip install "drfopt[plot]"') from None
    return pyplot


def _finish(ax: "Axes", called: str, seconds: float) -> None:
    ax.set_xlabel("seconds")
    ax.set_ylabel(f"{called}, %")
    ax.set_xlim(0, seconds or 1)
    ax.set_ylim(bottom=0)
    ax.axhline(100, color=OUTLINE, lw=0.6)
    ax.spines[["top", "right"]].set_visible(False)


def _plain(text: str) -> str:
    """Return the text with its dollar signs kept from being read as mathematics."""
    return text.replace("$", r"\$")
