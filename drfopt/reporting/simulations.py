"""Simulations drawn: shares and utilization over time, a panel a rule, and the distance from the fair optimum.

Shares are drawn as in Ghodsi et al., NSDI 2011, Figure 8: they hold from one event to the next, so the lines are steps.

Pictures of a trace: what its tasks demand, alone and against slots, as in the paper's Figures 1 and 2.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from ..base.errors import DrfoptError, InstanceError
from ..base.numbers.shown import percent
from ..base.tables import clean
from ..simulation.distance import MEASURES, Distance, distance
from ..simulation.run import Run
from ..simulation.traces.batch2018 import MACHINE, Batch2018, regions, slot_ratios
from .charts import (
    HEIGHT,
    Chart,
    Key,
    Panel,
    Spec,
    beside,
    colours,
    ink,
    named,
    number_axis,
    paint,
    thinned,
    unkeyed,
)
from .palette import DASHES, USER_INKS

__all__ = [
    "plot_demands",
    "plot_distances",
    "plot_jobs",
    "plot_runs",
    "plot_shares_over_time",
    "plot_slot_ratios",
    "plot_utilization_over_time",
    "save_runs",
]


CROWD = len(USER_INKS)
"""Users with a colour each; in a larger crowd everybody's line is thin and grey."""

TALL, LOW, WIDE = 180, 90, 300
"""Pixels of a panel of shares upwards, of a distance, and of a panel across."""


def plot_shares_over_time(runs: Run | Sequence[Run], resource: str | None = None) -> Chart:
    """Draw every user's share over time, a panel a run: its dominant share, or that of one resource.

    Parameters
    ----------
    runs : Run, or sequence of Run
    resource : str, optional
    """
    found = _listed(runs)
    return _grid([[_shares(run, resource) for run in found]])


def plot_utilization_over_time(runs: Run | Sequence[Run], title: str = "", until: float | None = None) -> Chart:
    """Draw how much of each resource is in use over time, to the end or `until` then.

    Of several runs each has a colour, and each resource a dash.
    """
    found = _listed(runs)
    end = max(run.seconds for run in found) if until is None else until
    keys, lines = [], []
    for place, run in enumerate(found):
        for j, resource in enumerate(run.resources):
            colour = ink(USER_INKS[(j if len(found) == 1 else place) % CROWD])
            name = resource if len(found) == 1 else f"{run.rule}: {resource}"
            keys.append(Key(name, colour, "", DASHES[j % len(DASHES)]))
            lines.append((run.samples.times, run.samples.utilization[:, j]))
    return beside([Panel(_steps(lines, keys, "in use", end), title)], width=2 * WIDE)


def plot_runs(runs: Sequence[Run], distances: Sequence[Distance] = ()) -> Chart:
    """Draw runs side by side, a column each: dominant shares, utilization, and how far from fair they are.

    Parameters
    ----------
    runs : sequence of Run
    distances : sequence of Distance
        One a run, or none.
    """
    if not runs:
        raise DrfoptError("there is no run to draw: simulate at least one")
    rows = [[_shares(run) for run in runs], [_utilization(run) for run in runs]]
    seconds, alone = [run.seconds for run in runs], [Key("", ink("policy0"), "")]
    for name in MEASURES if distances else ():
        rows.append([
            Panel(_steps([(d.times, d.columns()[name])], alone, name, end, share=False, tall=LOW))
            for d, end in zip(distances, seconds, strict=True)
        ])  # fmt: skip
    return _grid(rows)


def plot_distances(distances: Sequence[Distance]) -> Chart:
    """Draw the distance from the fair optimum over time, a panel a measure and a line a rule."""
    if not distances:
        raise DrfoptError("there is no distance to draw: measure at least one run")
    keys = [
        Key(found.rule, ink(USER_INKS[place % CROWD]), "", DASHES[place % len(DASHES)])
        for place, found in enumerate(distances)
    ]
    end = max(float(found.times[-1]) for found in distances)
    panels = [
        Panel(_steps([(d.times, d.columns()[name]) for d in distances], keys, name, end, share=False, tall=LOW))
        for name in MEASURES
    ]
    return beside(panels, across=1, width=2 * WIDE)


def plot_jobs(values: Mapping[str, Mapping[str, float]], ylabel: str, xlabel: str = "") -> Chart:
    """Draw bars: a group a scheme, a bar a series, such as what was published beside what was simulated.

    Parameters
    ----------
    values : mapping from series to {scheme: number}
    ylabel, xlabel : str
    """
    schemes = list(dict.fromkeys(scheme for row in values.values() for scheme in row))
    keys = [Key(series, paint(USER_INKS[key % CROWD])) for key, series in enumerate(values)]
    rows = [
        {"place": place, "key": key, "value": float(row[scheme]), "tip": clean(f"{series}, {scheme}: {row[scheme]:g}")}
        for key, (series, row) in enumerate(values.items())
        for place, scheme in enumerate(schemes)
        if scheme in row
    ]
    axis = {"title": xlabel or None, "labelExpr": named(schemes), "labelAngle": 0, "labelColor": ink("ink")}
    spec: Spec = {
        "height": TALL,
        "data": {"values": rows},
        "mark": {"type": "bar", "stroke": ink("card"), "strokeWidth": 0.6},
        "encoding": {
            "x": {"field": "place", "type": "ordinal", "axis": axis, "scale": {"paddingInner": 0.2}},
            "xOffset": {"field": "key", "type": "ordinal"},
            "y": number_axis("value", title=ylabel),
            "tooltip": {"field": "tip"},
            **colours(keys),
        },
    }
    return beside([Panel(spec if len(keys) > 1 else unkeyed(spec))], width=2 * WIDE)


def save_runs(runs: Sequence[Run], path: Path, optimum: bool = False) -> None:
    """Draw runs side by side into a file, if wished with their distance from the fair optimum."""
    plot_runs(runs, [distance(run) for run in runs] if optimum else ()).save(path)


def _listed(runs: Run | Sequence[Run]) -> list[Run]:
    found = [runs] if isinstance(runs, Run) else list(runs)
    if not found:
        raise DrfoptError("there is no run to draw: simulate at least one")
    return found


def _shares(run: Run, resource: str | None = None) -> Panel:
    samples = run.samples
    if resource is None:
        shares, called = samples.dominant_shares, "dominant share"
    else:
        if resource not in run.resources:
            raise InstanceError(f"the cluster has no {resource!r}: it has {', '.join(run.resources)}")
        shares, called = samples.shares[:, :, run.resources.index(resource)], f"share of {resource}"
    crowd = len(run.users) > CROWD
    keys = [
        Key(user, ink("others") if crowd else ink(USER_INKS[i]), "", DASHES[0 if crowd else i % len(DASHES)])
        for i, user in enumerate(run.users)
    ]
    spec = _steps([(samples.times, line) for line in shares.T], keys, called, run.seconds)
    return Panel(unkeyed(spec) if crowd else spec, run.rule)


def _utilization(run: Run) -> Panel:
    keys = [Key(name, ink(USER_INKS[j % CROWD]), "", DASHES[j % len(DASHES)]) for j, name in enumerate(run.resources)]
    return Panel(_steps([(run.samples.times, line) for line in run.samples.utilization.T], keys, "in use", run.seconds))


def _grid(rows: Sequence[Sequence[Panel]]) -> Chart:
    """Return rows of panels that share a height; the legend of a row stands below its first panel."""
    panels = []
    for row in rows:
        seen = [value["value"] or 0 for panel in row for value in panel.spec["data"]["values"]]
        for place, panel in enumerate(row):
            spec = panel.spec if place == 0 else unkeyed(panel.spec)
            high = max([*seen, spec["usermeta"]["full"]])
            spec["encoding"]["y"]["scale"] = {"domain": [1.03 * min([*seen, 0]), 1.03 * high or 1.0]}
            panels.append(Panel(spec, panel.title))
    chart = beside(panels, across=len(rows[0]), width=WIDE)
    apart = {"scale": dict.fromkeys(("color", "strokeDash"), "independent")}
    return Chart(chart.spec | {"resolve": apart})


def _news(times: Sequence[float], values: Sequence[float]) -> Iterator[tuple[float, float | None]]:
    """Yield both ends of a line, and wherever it has something new; None is where there is nothing to draw."""
    before: float | None = None
    for at, (second, number) in enumerate(zip(times, values, strict=True)):
        value = number if math.isfinite(number) else None
        if at in (0, len(times) - 1) or value != before:
            if value is None and before is not None:
                # It held until now.
                yield second, before
            yield second, value
        before = value


def _steps(
    lines: Sequence[tuple[np.ndarray, np.ndarray]],
    keys: Sequence[Key],
    called: str,
    seconds: float,
    *,
    share: bool = True,
    tall: int = TALL,
) -> Spec:
    """Return lines that hold from one sample to the next; what does not change needs no point."""
    rows = []
    for key, (times, values) in enumerate(lines):
        for second, value in _news(times.tolist(), values.tolist()):
            text = percent(value) if share else f"{value or 0:.4g}"
            tip = clean(f"{keys[key].name} {text} from {second:g} s".strip())
            rows.append({"key": key, "seconds": second, "value": value, "tip": tip})
    alone = not keys[0].name
    encoding = {"color": {"value": keys[0].paint}} if alone else colours(keys, marks="line")
    whole = {"data": {"values": [{"full": 1}]}, "mark": {"type": "rule", "stroke": ink("outline"), "strokeWidth": 0.8}}
    return {
        "height": tall,
        "usermeta": {"full": 1.0 if share else 0.0},
        "data": {"values": rows},
        "encoding": {
            "x": number_axis("seconds", title="seconds", scale={"domain": [0, seconds or 1]}, grid=False),
            "y": number_axis("value", share=share, title=clean(called)),
        },
        "layer": [
            {
                "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.4, "clip": True},
                "encoding": {**encoding, "tooltip": {"field": "tip"}},
            },
            *([whole | {"encoding": {"x": None, "y": {"field": "full", "type": "quantitative"}}}] if share else []),
        ],
    }


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
