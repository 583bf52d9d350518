"""What changes of the cluster do to its users: who wins and who loses, and by what part of what she had."""

from typing import Any

from ..drawing import Box, Drawing, Figure, Key, Line, Mark, Words, fitted
from ..numbers import number, percent
from .axes import PANEL, linear, x_axis

__all__ = ["figure"]

MOST = 24
"""Users who are shown: of more, those for whom most changes."""

NAMES, ROW, TOP = 120.0, 22.0, 8.0

INKS = {"wins": "policy0", "loses": "policy1"}


def figure(found: dict[str, Any], place: int) -> Figure | None:
    """Return one panel; None when nobody has more or less than before, or had something to compare with."""
    moved = [user for user in found["users"] if user["part"]]
    if not moved:
        return None
    shown = sorted(moved, key=lambda user: -abs(user["part"]))[:MOST]
    shown.sort(key=lambda user: -user["part"])
    verdicts, left_out = found["verdicts"], len(moved) - len(shown)
    others = f" {left_out} others for whom less changes are in the table." if left_out else ""
    return Figure(
        name=f"whatif-{place}",
        title="Who wins and who loses",
        caption=f"Tasks after the changes, relative to those before.{others}",
        alternative=f"{verdicts['wins']} users win and {verdicts['loses']} lose; from {percent(shown[-1]['part'])} to "
        f"{percent(shown[0]['part'])}.",
        panels=(_panel(shown),),
        keys=(Key("wins", INKS["wins"]), Key("loses", INKS["loses"])),
    )


def _panel(users: list[dict[str, Any]]) -> Drawing:
    bottom = TOP + ROW * len(users)
    x = linear([user["part"] for user in users], NAMES, PANEL - 20, zero=True)
    marks: list[Mark] = x_axis(x, TOP, bottom, share=True)
    for row, user in enumerate(users):
        y, at = TOP + row * ROW, x(user["part"])
        left, right = min(at, x(0)), max(at, x(0))
        tip = f"{user['name']}: {number(user['before'])} tasks before, {number(user['after'])} after"
        marks.append(Words(NAMES - 10, y + 15, fitted(user["name"], NAMES - 12), "end", tip=user["name"]))
        marks.append(Box(left, y + 4, max(right - left, 1.0), ROW - 8, fill=INKS[user["verdict"]], tip=tip))
    marks.append(Line(((x(0), TOP), (x(0), bottom)), "ink"))
    return Drawing(PANEL, bottom + 24, tuple(marks))
