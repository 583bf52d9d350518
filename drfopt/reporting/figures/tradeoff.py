"""Fairness against efficiency: what each policy gives to the poorest, and what it makes of the cluster.

How policies are told apart in a figure: by colour and by shape, and lines by their dashes.
"""

from dataclasses import dataclass
from typing import Any

from ...base.numbers.shown import DIGITS, number, part_of, percent
from ...base.tables import clean
from ..charts import HEIGHT, Figure, Key, Panel, colours, ink, number_axis, span, zoomed
from ..palette import DASHES, POLICY_INKS, POLICY_SHAPES, title_of

__all__ = ["figure", "keys_of"]


def keys_of(allocations: list[dict[str, Any]], lines: bool = False) -> tuple[Key, ...]:
    """Return the legend of the policies, as points or as lines."""
    return tuple(
        Key(
            title_of(a["policy"], a["integer"]),
            ink(POLICY_INKS[place % len(POLICY_INKS)]),
            "" if lines else POLICY_SHAPES[place % len(POLICY_SHAPES)],
            DASHES[place % len(DASHES)],
        )
        for place, a in enumerate(allocations)
    )


LEAST = 0.1
"""Part of the largest value that an axis spans at least."""

NEAR, LINE, BESIDE = 0.012, 0.065, 0.45
"""Parts of the axes: points so near are one to the eye, labels so near upwards and across would cover each other."""

ABOVE, APART = 18, 13
"""Pixels of a label above its point, where it is centred, or else beside it."""

DOT = 110
"""Square pixels of a point, and how many more one beneath it has."""


@dataclass(frozen=True)
class Plane:
    """A measure of efficiency across, one of fairness upwards."""

    across: str
    across_title: str
    upwards: str
    upwards_title: str
    title: str


PLANES = (
    Plane("sum_of_shares", "sum of dominant shares", "lowest", "lowest level", "What the poorest has"),
    Plane(
        "sum_of_shares", "sum of dominant shares", "nash", "geometric mean of the levels", "What they have in the mean"
    ),
    Plane("utilization", "mean utilization", "jain", "Jain's index", "How equal the levels are"),
)

MOST = {"jain": 1.0, "utilization": 1.0}
"""Measures that cannot be more."""

SHARES = ("lowest", "nash", "utilization")


def figure(document: dict[str, Any]) -> Figure | None:
    """Return one panel a plane; None where there is one division only."""
    allocations, measures = document["comparison"]["allocations"], document["measures"]
    if len(allocations) < 2:
        # One point says nothing of a trade-off.
        return None
    keys = keys_of(allocations)
    planes = [plane for plane in PLANES if all(m[plane.upwards] is not None for m in measures)]
    return Figure(
        name="fairness",
        title="Fairness against efficiency",
        caption="Up is fairer, right is more efficient. A policy at the lower left of another is worse in both.",
        alternative=" ".join(
            f"{key.name}: lowest level {percent(m['lowest'])}, sum of dominant shares "
            f"{number(m['sum_of_shares'])}, mean utilization {percent(m['utilization'])}."
            for key, m in zip(keys, measures, strict=True)
        ),
        panels=tuple(_panel(plane, keys, measures) for plane in planes),
        keys=keys,
    )


def _told(measure: str, value: float) -> str:
    return part_of(value, MOST[measure], DIGITS + 1) if measure in MOST else number(value)


def _panel(plane: Plane, keys: tuple[Key, ...], measures: list[dict[str, Any]]) -> Panel:
    points = [(m[plane.across], m[plane.upwards]) for m in measures]
    scales = [
        span([point[axis] for point in points], LEAST, MOST.get(name))
        for axis, name in enumerate((plane.across, plane.upwards))
    ]
    # Where they stand on the sheet, from 0 to 1.
    at = [
        tuple(
            (value - scale["domain"][0]) / (scale["domain"][1] - scale["domain"][0])
            for value, scale in zip(point, scales, strict=True)
        )
        for point in points
    ]
    rows = []
    # Of policies at one point the first is on top, and the others show around it.
    for key, (across, upwards) in reversed(list(enumerate(points))):
        told = _told(plane.across, across), _told(plane.upwards, upwards)
        tip = f"{keys[key].name}: {plane.across_title} {told[0]}, {plane.upwards_title} {told[1]}"
        size = DOT * (1 + min(3, sum(_near(at[key], other) for other in at[:key]))) ** 1.6
        rows.append({"key": key, "across": across, "upwards": upwards, "size": size, "tip": clean(tip)})
    place = {
        "x": number_axis(
            "across", share=plane.across in SHARES, title=plane.across_title, scale=scales[0], tickCount=4
        ),
        "y": number_axis("upwards", share=plane.upwards in SHARES, title=plane.upwards_title, scale=scales[1]),
    }
    spec = {
        "height": HEIGHT,
        "layer": [
            zoomed({
                "data": {"values": rows},
                "mark": {"type": "point", "filled": True, "stroke": ink("card"), "strokeWidth": 0.8, "clip": True},
                "encoding": {
                    **place,
                    **colours(keys, marks="point"),
                    "size": {"field": "size", "type": "quantitative", "scale": None},
                    "tooltip": {"field": "tip"},
                },
            }),
            {
                "data": {"values": _labels(points, at, keys)},
                "mark": {"type": "text", "baseline": "middle", "align": {"expr": "datum.align"}, "tooltip": None,
                         "fontSize": 12, "dx": {"expr": "datum.right"}, "dy": {"expr": "datum.lower"}, "limit": 210},
                "encoding": {**place, "text": {"field": "text"}},
            },
        ],
    }  # fmt: skip
    return Panel(spec, plane.title)


def _near(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return abs(one[0] - other[0]) + abs(one[1] - other[1]) < NEAR


def _labels(points: list[tuple[float, float]], at: list[tuple[float, ...]], keys: tuple[Key, ...]) -> list[dict]:
    """Return the names beside the points: policies at one point share a label, and none covers another."""
    groups: list[list[int]] = []
    for key in range(len(points)):
        here = next((group for group in groups if _near(at[group[0]], at[key])), None)
        if here is None:
            groups.append([key])
        else:
            here.append(key)
    rows: list[dict] = []
    taken: list[tuple[float, float]] = []
    for group in sorted(groups, key=lambda group: -at[group[0]][1]):
        x, y = at[group[0]]
        align, right = ("left", APART) if x < 0.4 else ("right", -APART) if x > 0.6 else ("center", 0)
        # A centred label begins above its point, and passes all points on its way down.
        line = y + (ABOVE / HEIGHT if align == "center" else 0)
        points_by = [y0 for x0, y0 in at if abs(x - x0) < BESIDE / 2] if align == "center" else []
        while any(abs(x - x0) < BESIDE and abs(line - y0) < LINE * 0.99 for x0, y0 in taken) or any(
            abs(line - y0) < LINE for y0 in points_by
        ):
            line -= LINE / 4
        taken.append((x, line))
        text = clean(", ".join(keys[key].name for key in group))
        lower = round((y - line) * HEIGHT, 1)
        row = {"across": points[group[0]][0], "upwards": points[group[0]][1], "text": text}
        rows.append(row | {"align": align, "right": right, "lower": lower})
    return rows
