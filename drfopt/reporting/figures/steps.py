"""A sweep: what becomes of fairness and efficiency as the cluster grows or shrinks."""

from typing import Any

from ..drawing import Dot, Drawing, Figure, Key, Line, Mark
from ..holdings import title_of
from ..numbers import number, percent
from ..palette import USER_INKS
from .axes import PANEL, linear, x_axis, y_axis

__all__ = ["figure"]

HEIGHT, TOP, LEFT = 200.0, 12.0, 58.0

MOST_DOTS = 16
"""Steps beyond which a line has no dots: they would be all there is to see."""

MOST_RESOURCES = len(USER_INKS)


def figure(sweep: dict[str, Any], place: int) -> Figure:
    """Return the panels of one sweep, the `place`-th of the page."""
    steps, resources = sweep["steps"], sweep["resources"][:MOST_RESOURCES]
    policy = title_of(sweep["policy"])
    what = sweep["axis"]
    first, last = steps[0], steps[-1]
    used = [[step["used"][j] for step in steps] for j in range(len(resources))]
    return Figure(
        name=f"sweep-{place}",
        title=f"{policy} as {what} changes",
        caption="The lowest level, the sum of the dominant shares, and the used part of every resource.",
        alternative=f"From {what} {number(first['at'])} to {number(last['at'])} the lowest level goes from "
        f"{percent(first['lowest'])} to {percent(last['lowest'])}, the sum of dominant shares from "
        f"{number(first['sum_of_shares'])} to {number(last['sum_of_shares'])}.",
        panels=(
            _panel(steps, [[step["lowest"] for step in steps]], ["policy0"], what, "lowest level", True),
            _panel(steps, [[step["sum_of_shares"] for step in steps]], ["policy1"], what, "sum of shares", False),
            _panel(steps, used, list(USER_INKS), what, "used part of resources", True),
        ),
        keys=tuple(Key(f"{name} used", ink, shape="line") for name, ink in zip(resources, USER_INKS, strict=False)),
    )


def _panel(
    steps: list[dict[str, Any]], rows: list[list[float]], inks: list[str], what: str, title: str, share: bool
) -> Drawing:
    bottom = TOP + HEIGHT
    x = linear([step["at"] for step in steps], LEFT + 6, PANEL - 18)
    y = linear([value for row in rows for value in row], bottom, TOP, zero=True)
    marks: list[Mark] = [*y_axis(y, LEFT, PANEL - 8, share=share), *x_axis(x, TOP, bottom, title=what)]
    for row, ink in zip(rows, inks, strict=False):
        points = tuple((x(step["at"]), y(value)) for step, value in zip(steps, row, strict=True))
        marks.append(Line(points, ink, 2))
        for (px, py), step, value in zip(points, steps, row, strict=True) if len(steps) <= MOST_DOTS else ():
            shown = percent(value) if share else number(value)
            marks.append(Dot(px, py, ink, radius=3.2, tip=f"{what} {number(step['at'])}: {shown}"))
    return Drawing(PANEL, bottom + 42, tuple(marks), title)
