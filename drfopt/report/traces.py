"""Pictures of traces: what tasks demand, and what becomes of jobs; the paper's Figures 1, 2, 13 and 14.

matplotlib is imported when something is drawn.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..simulation.traces.batch2018 import MACHINE, Batch2018, regions, slot_ratios
from ..simulation.traces.replay import Reduction, Replay
from .palette import STYLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_demands", "plot_reductions", "plot_slot_ratios", "plot_utilization"]

LARGEST_BUBBLE = 300.0
"""Area of the largest bubble, in points squared."""

FULL = 1.0


def plot_demands(trace: Batch2018, ax: "Axes") -> "Axes":
    """Draw what tasks demand, a bubble a region, its area growing with the logarithm of its tasks (Figure 1)."""
    found = regions(trace)
    size = np.log1p(found.tasks)
    ax.scatter(
        found.cpu,
        100 * found.memory / MACHINE["memory"],
        s=LARGEST_BUBBLE * size / size.max(),
        color=STYLES[0].colour,
        alpha=0.35,
        linewidth=0,
    )
    ax.set(xlabel="cores per task", ylabel="memory per task (% of a machine)", xlim=(0, None), ylim=(0, None))
    return ax


def plot_slot_ratios(trace: Batch2018, slots: int, ax: "Axes") -> "Axes":
    """Draw the part of tasks whose demand is at most so many times a slot (Figure 2)."""
    for style, resource in zip(STYLES, MACHINE, strict=False):
        ratios, part = slot_ratios(trace, resource, slots)
        ax.step(ratios, part, where="post", color=style.colour, label=resource)
    ax.axvline(FULL, color="0.6", linewidth=0.8, linestyle=":")
    ax.set(
        xlabel=f"demand over slot, {slots} slots a machine", ylabel="part of the tasks", ylim=(0, 1.02), xlim=(0, None)
    )
    ax.legend(frameon=False, loc="lower right")
    return ax


def plot_utilization(replayed: Replay, resource: str, until: float, ax: "Axes") -> "Axes":
    """Draw the part of a resource that is in use over time, a line a rule (Figure 13).

    What goes above 1 is promised to tasks on overloaded machines, and not there.
    """
    for style, run in zip(STYLES, replayed.runs, strict=False):
        shown = run.samples.times <= until
        j = run.resources.index(resource)
        ax.plot(run.samples.times[shown] / 60, run.samples.utilization[shown, j], color=style.colour, label=run.rule)
    ax.axhline(FULL, color="0.6", linewidth=0.8, linestyle=":")
    ax.set(xlabel="minutes", ylabel=f"{resource} in use", ylim=(0, None), xlim=(0, until / 60))
    ax.legend(frameon=False, loc="lower right")
    return ax


def plot_reductions(reductions: list[Reduction], ax: "Axes") -> "Axes":
    """Draw how much sooner jobs end, a bar a class of sizes (Figure 14)."""
    names = [f"{row.least}-{row.most}" if row.most else f"{row.least}-" for row in reductions]
    bars: Any = ax.bar(names, [100 * row.reduction for row in reductions], color=STYLES[0].colour, width=0.68)
    ax.bar_label(bars, fmt="%.0f %%", padding=2, fontsize=8)
    ax.axhline(0, color="0.3", linewidth=0.8)
    ax.set(xlabel="tasks of the job", ylabel="reduction of the mean time to end (%)")
    ax.margins(y=0.15)
    ax.tick_params(axis="x", labelsize=8)
    return ax
