"""What changes of the cluster do to its users: who wins and who loses, and by what part of what it had."""

from typing import Any

from ...base.numbers.shown import number, percent
from ...base.tables import clean
from ..charts import ROW, Figure, Key, Panel, colours, ink, name_axis, number_axis

__all__ = ["figure"]

MOST = 24
"""Users who are shown: of more, those for whom most changes."""

KEYS = (Key("wins", ink("policy0")), Key("loses", ink("policy1")))
VERDICTS = {key.name: place for place, key in enumerate(KEYS)}


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
        keys=KEYS,
    )


def _panel(users: list[dict[str, Any]]) -> Panel:
    rows = [
        {
            "place": place,
            "key": VERDICTS[user["verdict"]],
            "part": user["part"],
            "tip": clean(f"{user['name']}: {number(user['before'])} tasks before, {number(user['after'])} after"),
        }
        for place, user in enumerate(users)
    ]
    across = number_axis("part", share=True)
    spec = {
        "height": ROW * len(users),
        "data": {"values": rows},
        "layer": [
            {
                "mark": {"type": "bar", "height": {"band": 0.65}},
                "encoding": {
                    "y": name_axis([user["name"] for user in users]),
                    "x": across,
                    "tooltip": {"field": "tip"},
                    **colours(KEYS),
                },
            },
            {
                "data": {"values": [{"part": 0}]},
                "mark": {"type": "rule", "stroke": ink("ink"), "tooltip": None},
                "encoding": {"x": across},
            },
        ],
    }
    return Panel(spec)
