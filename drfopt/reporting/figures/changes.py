"""What changes of the cluster do to its users: who wins and who loses, and by what part of what it had.

A sweep: what becomes of fairness and efficiency as the cluster grows or shrinks.
"""

from typing import Any

from ...base.numbers.shown import counted, number, percent
from ...base.tables import clean
from ..charts import HEIGHT, ROW, Figure, Key, Panel, colours, ink, name_axis, number_axis, zoomed
from ..palette import DASHES, USER_INKS, title_of

__all__ = ["figure", "sweep_figure"]


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
    left_out, wins, loses = len(moved) - len(shown), found["verdicts"]["wins"], found["verdicts"]["loses"]
    low, high = percent(shown[-1]["part"]), percent(shown[0]["part"])
    ends = f"by {low}" if low == high else f"from {low} to {high}"
    others = f" {left_out} others for whom less changes are in the table." if left_out else ""
    return Figure(
        name=f"whatif-{place}",
        title="Who wins and who loses",
        caption=f"Tasks after the changes, relative to those before.{others}",
        alternative=f"{counted(wins, 'user')} {'wins' if wins == 1 else 'win'} and {loses:,} "
        f"{'loses' if loses == 1 else 'lose'}; {ends}.",
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


MOST_DOTS = 16
"""Steps beyond which dots are all there is to see: a pointer finds them unseen."""

MOST_RESOURCES = len(USER_INKS)


def sweep_figure(sweep: dict[str, Any], place: int) -> Figure:
    """Return the panels of one sweep, the `place`-th of the page."""
    steps, resources = sweep["steps"], sweep["resources"][:MOST_RESOURCES]
    what, first, last = sweep["axis"], steps[0], steps[-1]
    keys = tuple(
        Key(f"{name} used", ink(USER_INKS[j]), "", DASHES[j % len(DASHES)]) for j, name in enumerate(resources)
    )
    used = [[step["used"][j] for step in steps] for j in range(len(resources))]
    lowest, total = [step["lowest"] for step in steps], [step["sum_of_shares"] for step in steps]
    return Figure(
        name=f"sweep-{place}",
        title=f"{title_of(sweep['policy'])} as {what} changes",
        caption="The lowest level, the sum of the dominant shares, and the used part of every resource. Levels and "
        "shares are of the cluster as it is, whatever the value; used parts are of the changed one.",
        alternative=f"From {what} {number(first['at'])} to {number(last['at'])} the lowest level goes from "
        f"{percent(first['lowest'])} to {percent(last['lowest'])}, the sum of dominant shares from "
        f"{number(first['sum_of_shares'])} to {number(last['sum_of_shares'])}.",
        panels=(
            _sweep_panel(sweep, [lowest], (Key("", ink("policy0"), ""),), "lowest level", True),
            _sweep_panel(sweep, [total], (Key("", ink("policy1"), ""),), "sum of shares", False),
            _sweep_panel(sweep, used, keys, "used part of resources", True),
        ),
        keys=keys,
    )


def _sweep_panel(
    sweep: dict[str, Any], lines: list[list[float]], keys: tuple[Key, ...], title: str, share: bool
) -> Panel:
    steps, what = sweep["steps"], sweep["axis"]
    rows = [
        {
            "key": key,
            "at": step["at"],
            "value": value,
            "tip": clean(f"{what} {number(step['at'])}: {keys[key].name} {percent(value) if share else number(value)}"),
        }
        for key, line in enumerate(lines)
        for step, value in zip(steps, line, strict=True)
    ]
    encoding = colours(keys, marks="line")
    if not keys[0].name:
        encoding = {"color": {"value": keys[0].paint}}
    dots = {key: value for key, value in encoding.items() if key != "strokeDash"}
    spec = {
        "height": HEIGHT - 20,
        "data": {"values": rows},
        "encoding": {
            "x": number_axis("at", title=clean(what), scale={"zero": False, "padding": 10}, grid=False),
            "y": number_axis("value", share=share),
        },
        "layer": [
            {"mark": {"type": "line", "strokeWidth": 2, "clip": True}, "encoding": encoding},
            zoomed(
                {
                    "mark": {"type": "point", "filled": True, "size": 45, "clip": True},
                    "encoding": dots
                    | {"tooltip": {"field": "tip"}}
                    | ({} if len(steps) <= MOST_DOTS else {"opacity": {"value": 0}}),
                }
            ),
        ],
    }
    return Panel(spec, title)
