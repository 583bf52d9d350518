"""Fairness against efficiency: what each policy gives to the poorest, and what it makes of the cluster."""

from dataclasses import dataclass
from typing import Any

from ..drawing import Dot, Drawing, Figure, Line, Mark, Words, width_of
from ..holdings import title_of
from ..numbers import number, percent
from .axes import PANEL, Scale, linear, x_axis, y_axis
from .policies import keys_of, style_of

__all__ = ["figure"]

HEIGHT, TOP, LEFT = 210.0, 26.0, 58.0

LEAST = 0.1
"""Part of the largest value that an axis spans at least."""

LINE = 14.0
STEPS = (0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5)
"""Lines up and down, in which a label may stand beside its point."""

NEAR = 3.0
"""Pixels at which points are one to the eye."""


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


def figure(document: dict[str, Any]) -> Figure:
    """Return one panel a plane."""
    allocations = document["comparison"]["allocations"]
    measures = document["measures"]
    planes = [plane for plane in PLANES if all(m[plane.upwards] is not None for m in measures)]
    return Figure(
        name="fairness",
        title="Fairness against efficiency",
        caption="Up is fairer, right is more efficient. A policy at the lower left of another is worse in both.",
        alternative=" ".join(
            f"{title_of(a['policy'], a['integer'])}: lowest level {percent(m['lowest'])}, sum of dominant shares "
            f"{number(m['sum_of_shares'])}, mean utilization {percent(m['utilization'])}."
            for a, m in zip(allocations, measures, strict=True)
        ),
        panels=tuple(_panel(plane, allocations, measures) for plane in planes),
        keys=keys_of(allocations),
    )


def _panel(plane: Plane, allocations: list[dict[str, Any]], measures: list[dict[str, Any]]) -> Drawing:
    bottom = TOP + HEIGHT
    x = linear([m[plane.across] for m in measures], LEFT + 8, PANEL - 22, least=LEAST, most=MOST.get(plane.across))
    y = linear([m[plane.upwards] for m in measures], bottom, TOP, least=LEAST, most=MOST.get(plane.upwards))
    marks: list[Mark] = [
        *y_axis(y, LEFT, PANEL - 8, share=plane.upwards in SHARES, title=plane.upwards_title),
        *x_axis(x, TOP, bottom, share=plane.across in SHARES, title=plane.across_title),
    ]
    for place in reversed(range(len(measures))):
        ink, shape = style_of(place)
        tip = (
            f"{title_of(allocations[place]['policy'])}: {plane.across_title} {number(measures[place][plane.across])}, "
        )
        tip += f"{plane.upwards_title} {number(measures[place][plane.upwards])}"
        at = x(measures[place][plane.across]), y(measures[place][plane.upwards])
        # Of policies at one point the first is on top, and the others show around it.
        beneath = sum(
            abs(x(m[plane.across]) - at[0]) + abs(y(m[plane.upwards]) - at[1]) < NEAR for m in measures[:place]
        )
        marks.append(Dot(*at, ink, shape, 5.5 + 2.5 * min(beneath, 3), tip))
    marks.extend(_names(plane, allocations, measures, x, y))
    return Drawing(PANEL, bottom + 42, tuple(marks), plane.title)


def _names(
    plane: Plane, allocations: list[dict[str, Any]], measures: list[dict[str, Any]], x: Scale, y: Scale
) -> list[Mark]:
    """Return the names beside the points: policies at one point share a label, and labels do not overlap."""
    points: list[tuple[float, float, list[str]]] = []
    for allocation, found in zip(allocations, measures, strict=True):
        at = x(found[plane.across]), y(found[plane.upwards])
        here = next((p for p in points if abs(p[0] - at[0]) + abs(p[1] - at[1]) < NEAR), None)
        name = title_of(allocation["policy"])
        if here:
            here[2].append(name)
        else:
            points.append((*at, [name]))
    marks: list[Mark] = []
    # What no label may cover, as left, top, right and bottom: the points first.
    taken = [(px - 8, py - 8, px + 8, py + 8) for px, py, _ in points]
    for px, py, names in sorted(points, key=lambda point: point[1]):
        text = ", ".join(names)
        left, line = _free(px, py, width_of(text), 13 + 2.5 * min(len(names) - 1, 3), taken)
        taken.append((left, line - 10, left + width_of(text), line + 3))
        if abs(line - 4 - py) > LINE / 2:
            marks.append(Line(((px, py), (left if left > px else left + width_of(text), line - 4)), "outline"))
        marks.append(Words(left, line, text, halo="card"))
    return marks


def _free(
    px: float, py: float, room: float, beside: float, taken: list[tuple[float, float, float, float]]
) -> tuple[float, float]:
    """Return where a label stands: beside its point, or as near to it as nothing else is."""
    for step in STEPS:
        for left in (px + beside, px - beside - room):
            line = py + 4 + step * LINE
            free = all(left + room < x0 or x1 < left or line + 3 < y0 or y1 < line - 10 for x0, y0, x1, y1 in taken)
            if free and left >= LEFT and left + room <= PANEL and TOP <= line <= TOP + HEIGHT:
                return left, line
    return max(min(px + beside, PANEL - room), 2.0), py + 4
