"""Pictures of a trace: what its tasks demand, alone and against slots, as in the paper's Figures 1 and 2."""

from typing import TYPE_CHECKING

import numpy as np

from ..simulation.traces.batch2018 import MACHINE, Batch2018, regions, slot_ratios
from .palette import STYLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_demands", "plot_slot_ratios"]

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
