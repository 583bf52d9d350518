"""Dominant shares of the users: by name when they are few, and ranked from the poorest to the richest when many."""

from itertools import accumulate
from typing import Any

from ..drawing import Dot, Drawing, Figure, Line, Mark, Words, fitted
from ..holdings import title_of
from ..numbers import percent
from .axes import PANEL, linear, logarithmic, x_axis, y_axis
from .policies import keys_of, style_of

__all__ = ["figure"]

FEW = 24
"""Users up to which each has a row."""

WIDE = 50
"""How many times the least the greatest share must be for a scale of powers of ten."""

NEAR = 3.0
"""Pixels at which points are one to the eye; the first policy is on top then, and the others show around it."""

MOST_BENEATH = 3
"""Policies at one point beyond which the marks beneath grow no more: they would cover their neighbours."""

NAMES, ROW, TOP = 110.0, 24.0, 8.0
HEIGHT, LEFT = 240.0, 62.0


def figure(document: dict[str, Any]) -> Figure:
    """Return one panel with all policies."""
    allocations = document["comparison"]["allocations"]
    shares = [[float(user["dominant_share"]) for user in a["users"]] for a in allocations]
    few = len(shares[0]) <= FEW
    panels = (
        (_rows(document, allocations, shares),) if few else (_ranks(allocations, shares), _parts(allocations, shares))
    )
    return Figure(
        name="shares",
        title="Dominant share of every user",
        caption="The share that a user holds of the resource of which it holds most."
        if few
        else "The users from the smallest share to the largest, without who has nothing; and what part of them holds "
        "what part of all dominant shares together: the dashed line is equality.",
        alternative=" ".join(
            f"{title_of(a['policy'], a['integer'])}: from {percent(min(row))} to {percent(max(row))}."
            for a, row in zip(allocations, shares, strict=True)
        ),
        panels=panels,
        keys=keys_of(allocations, lines=not few),
    )


def _rows(document: dict[str, Any], allocations: list[dict[str, Any]], shares: list[list[float]]) -> Drawing:
    users = [user["name"] for user in document["users"]]
    everything = [share for row in shares for share in row]
    bottom = TOP + ROW * len(users)
    x = linear(everything, NAMES, PANEL - 20, zero=True)
    marks: list[Mark] = x_axis(x, TOP, bottom, share=True)
    for i, user in enumerate(users):
        y = TOP + (i + 0.5) * ROW
        marks.append(Words(NAMES - 10, y + 4, fitted(user, NAMES - 12), "end", tip=user))
        of_hers = [x(row[i]) for row in shares]
        marks.append(Line(((min(of_hers), y), (max(of_hers), y)), "outline", 1.4))
        # The first policy is drawn last: where all agree, hers is the mark on top.
        for place in reversed(range(len(shares))):
            ink, shape = style_of(place)
            tip = f"{user}, {title_of(allocations[place]['policy'])}: {percent(shares[place][i])}"
            beneath = sum(abs(of_hers[place] - x0) < NEAR for x0 in of_hers[:place])
            marks.append(Dot(of_hers[place], y, ink, shape, 4 + 1.5 * min(beneath, MOST_BENEATH), tip))
    return Drawing(PANEL, bottom + 24, tuple(marks))


def _ranks(allocations: list[dict[str, Any]], shares: list[list[float]]) -> Drawing:
    ranked = [sorted(share for share in row if share > 0) for row in shares]
    everything = [share for row in ranked for share in row] or [0.0]
    wide = min(everything) > 0 and max(everything) > WIDE * min(everything)
    bottom = TOP + HEIGHT
    y = (logarithmic if wide else linear)(everything, bottom, TOP)
    x = linear([1, max(2, *map(len, ranked))], LEFT, PANEL - 16, zero=True)
    marks: list[Mark] = [*y_axis(y, LEFT, PANEL - 12, share=True), *x_axis(x, TOP, bottom, title="users, ranked")]
    curves = [[(x(i + 1), y(share)) for i, share in enumerate(row)] for row in ranked]
    return Drawing(PANEL, bottom + 42, (*marks, *_lines(allocations, curves)), "Ranked")


def _parts(allocations: list[dict[str, Any]], shares: list[list[float]]) -> Drawing:
    """Return the Lorenz curves."""
    bottom = TOP + HEIGHT
    y, x = linear([0, 1], bottom, TOP), linear([0, 1], LEFT, PANEL - 16)
    marks: list[Mark] = [
        *y_axis(y, LEFT, PANEL - 12, share=True),
        *x_axis(x, TOP, bottom, share=True, title="of the users, from the poorest"),
        Line(((x(0), y(0)), (x(1), y(1))), "outline", 1.2, dashed=True),
    ]
    curves = []
    for row in shares:
        held, total = list(accumulate(sorted(row), initial=0.0)), sum(row) or 1.0
        curves.append([(x(i / len(row)), y(part / total)) for i, part in enumerate(held)])
    return Drawing(PANEL, bottom + 42, (*marks, *_lines(allocations, curves)), "Part of all dominant shares")


def _lines(allocations: list[dict[str, Any]], curves: list[list[tuple[float, float]]]) -> list[Mark]:
    """Return the curves, the first broad and the others dashed upon it, so that all are seen where all agree."""
    return [
        Line(
            tuple(_thinned(curve)),
            style_of(place)[0],
            3.4 if place == 0 else 1.7,
            place > 0,
            title_of(allocations[place]["policy"]),
        )
        for place, curve in enumerate(curves)
        if curve
    ]


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the first of the points in every pixel, and the last: a hundred thousand are no more to see than that."""
    kept = [points[0]]
    for point in points[1:-1]:
        if abs(point[0] - kept[-1][0]) + abs(point[1] - kept[-1][1]) >= 1:
            kept.append(point)
    return [*kept, points[-1]]
