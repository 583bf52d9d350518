"""Pictures of a trace: what its tasks demand, alone and against slots, as in the paper's Figures 1 and 2."""

import numpy as np

from ..simulation.traces.batch2018 import MACHINE, Batch2018, regions, slot_ratios
from .charts import HEIGHT, Chart, Key, Panel, beside, colours, ink, number_axis, thinned
from .palette import DASHES, USER_INKS

__all__ = ["plot_demands", "plot_slot_ratios"]

LARGEST_BUBBLE = 500.0
"""Area of the largest bubble, in square pixels."""

FULL = 1.0


def plot_demands(trace: Batch2018) -> Chart:
    """Draw what tasks demand, a bubble a region, its area growing with the logarithm of its tasks (Figure 1)."""
    found = regions(trace)
    area = np.log1p(found.tasks)
    area = LARGEST_BUBBLE * area / area.max()
    part = found.memory / MACHINE["memory"]
    rows = [
        {"cpu": float(cpu), "memory": float(memory), "tasks": float(tasks), "area": float(size)}
        for cpu, memory, tasks, size in zip(found.cpu, part, found.tasks, area, strict=True)
    ]
    spec = {
        "height": HEIGHT,
        "data": {"values": rows},
        "mark": {"type": "point", "filled": True, "fill": ink("policy0"), "opacity": 0.35},
        "encoding": {
            "x": number_axis("cpu", title="cores per task"),
            "y": number_axis("memory", share=True, title="memory per task, of a machine"),
            "size": {"field": "area", "type": "quantitative", "scale": None},
        },
    }
    return beside([Panel(spec)])


def plot_slot_ratios(trace: Batch2018, slots: int) -> Chart:
    """Draw the part of tasks whose demand is at most so many times a slot (Figure 2)."""
    keys, rows = [], []
    for key, resource in enumerate(MACHINE):
        keys.append(Key(resource, ink(USER_INKS[key]), "", DASHES[key]))
        ratios, part = slot_ratios(trace, resource, slots)
        points = thinned(list(zip(ratios.tolist(), part.tolist(), strict=True)))
        rows += [{"key": key, "ratio": ratio, "part": share} for ratio, share in points]
    spec = {
        "height": HEIGHT,
        "layer": [
            {
                "data": {"values": rows},
                "mark": {"type": "line", "interpolate": "step-after"},
                "encoding": {
                    "x": number_axis("ratio", title=f"demand over slot, {slots} slots a machine"),
                    "y": number_axis("part", share=True, title="of the tasks"),
                    **colours(keys, marks="line"),
                },
            },
            {
                "data": {"values": [{"full": FULL}]},
                "mark": {"type": "rule", "stroke": ink("outline"), "strokeDash": [2, 3]},
                "encoding": {"x": {"field": "full", "type": "quantitative"}},
            },
        ],
    }
    return beside([Panel(spec)])
