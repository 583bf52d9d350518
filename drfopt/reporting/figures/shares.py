"""Dominant shares of the users: by name when they are few, and ranked from the poorest to the richest when many.

What stops the users: how many each resource, their own limits, or that their task fits on nothing open to them.
"""

from itertools import accumulate
from typing import Any

from ...base.numbers.shown import counted, percent
from ...base.tables import clean
from ..charts import HEIGHT, ROW, Figure, Key, Panel, colours, ink, name_axis, number_axis, thinned, zoomed
from ..palette import POLICY_INKS, title_of
from .tradeoff import keys_of

__all__ = ["figure", "stops_figure"]

PRICED = ("bounds", "duals", "enclosures", "prices")
"""Kinds of certificates of markets and sums."""


FEW = 24
"""Users up to which each has a row."""

WIDE = 50
"""How many times the least the greatest share must be for a scale of powers of ten."""

NEAR = 0.01
"""Part of the axis within which points are one to the eye; the first policy is on top then, others show around it."""

DOT = 70
"""Square pixels of a point, and how many times as many one beneath it has."""


def figure(document: dict[str, Any]) -> Figure:
    """Return one panel with all policies, or two where the users are many."""
    allocations = document["comparison"]["allocations"]
    shares = [[float(user["dominant_share"]) for user in a["users"]] for a in allocations]
    few = len(shares[0]) <= FEW
    keys = keys_of(allocations, lines=not few)
    among = ", of those that are not excluded" if document["instance"]["excluded"] else ""
    return Figure(
        name="shares",
        title="Dominant share of every user",
        caption=f"The share that a user holds of the resource of which it holds most{among}."
        if few
        else "The users from the smallest share to the largest, without who has nothing; and what part of them holds "
        "what part of all dominant shares together: the dotted line is equality.",
        alternative=" ".join(
            f"{key.name}: from {percent(min(row))} to {percent(max(row))}."
            for key, row in zip(keys, shares, strict=True)
        ),
        panels=(_rows(document, shares, keys),) if few else (_ranks(shares, keys), _parts(shares, keys)),
        keys=keys,
    )


def _rows(document: dict[str, Any], shares: list[list[float]], keys: tuple[Key, ...]) -> Panel:
    users = [user["name"] for user in document["users"]]
    near = NEAR * max(max(row) for row in shares)
    points = [
        {
            "place": place,
            "key": key,
            "share": row[place],
            "size": DOT * (1 + min(3, sum(abs(row[place] - other[place]) <= near for other in shares[:key]))) ** 1.6,
            "tip": clean(f"{user}, {keys[key].name}: {percent(row[place])}"),
        }
        # The first policy is drawn last: where all agree, its mark is on top.
        for key, row in reversed(list(enumerate(shares)))
        for place, user in enumerate(users)
    ]
    lines = [
        {"place": place, "low": min(row[place] for row in shares), "high": max(row[place] for row in shares)}
        for place in range(len(users))
    ]
    across = number_axis("share", share=True)
    spec = {
        "height": (ROW + 2) * len(users),
        "encoding": {"y": name_axis(users)},
        "layer": [
            {
                "data": {"values": lines},
                "mark": {"type": "rule", "stroke": ink("outline"), "strokeWidth": 1.4, "tooltip": None},
                "encoding": {"x": across | {"field": "low"}, "x2": {"field": "high"}},
            },
            {
                "data": {"values": points},
                "mark": {"type": "point", "filled": True, "stroke": ink("card"), "strokeWidth": 0.8},
                "encoding": {
                    "x": across,
                    **colours(keys, marks="point"),
                    "size": {"field": "size", "type": "quantitative", "scale": None},
                    "tooltip": {"field": "tip"},
                },
            },
        ],
    }
    return Panel(spec)


def _ranks(shares: list[list[float]], keys: tuple[Key, ...]) -> Panel:
    ranked = [sorted(share for share in row if share > 0) for row in shares]
    everything = [share for row in ranked for share in row]
    wide = bool(everything) and max(everything) > WIDE * min(everything)
    rows = [
        {"key": key, "across": rank, "share": share, "tip": f"{keys[key].name}, user {rank:,}: {percent(share)}"}
        for key, row in enumerate(ranked)
        for rank, share in thinned([(rank, share) for rank, share in enumerate(row, start=1)], wide)
    ]
    scale = {"type": "log", "nice": True} if wide else None
    upwards = number_axis("share", share=True, scale=scale, title="dominant share")
    return _lines(rows, keys, number_axis("across", title="users, ranked"), upwards, "Ranked")


def _parts(shares: list[list[float]], keys: tuple[Key, ...]) -> Panel:
    """Return the Lorenz curves."""
    rows = []
    for key, row in enumerate(shares):
        held, total = list(accumulate(sorted(row), initial=0.0)), sum(row) or 1.0
        rows += [
            {
                "key": key,
                "across": users,
                "share": part,
                "tip": f"{keys[key].name}: {percent(users)} of the users hold {percent(part)}",
            }
            for users, part in thinned([(i / len(row), part / total) for i, part in enumerate(held)], False)
        ]
    whole = {"domain": [0, 1]}
    across = number_axis("across", share=True, scale=whole, title="of the users, from the poorest")
    upwards = number_axis("share", share=True, scale=whole, title="of all dominant shares")
    panel = _lines(rows, keys, across, upwards, "Part of all dominant shares")
    equal = {
        "data": {"values": [{"across": 0, "share": 0}, {"across": 1, "share": 1}]},
        "mark": {"type": "line", "stroke": ink("outline"), "strokeDash": [2, 3], "strokeWidth": 1.2, "tooltip": None},
        "encoding": {"x": across, "y": upwards},
    }
    return Panel(panel.spec | {"layer": [equal, *panel.spec["layer"]]}, panel.title)


def _lines(rows: list[dict[str, Any]], keys: tuple[Key, ...], across: Any, upwards: Any, title: str) -> Panel:
    """Return the curves, the first broad and the others dashed upon it, so that all are seen where all agree."""
    width = {"condition": {"test": "datum.key == 0", "value": 3.4}, "value": 1.8}
    place = {"x": across, "y": upwards}
    spec = {
        "height": HEIGHT,
        "layer": [
            {
                "data": {"values": [row | {"tip": clean(row["tip"])} for row in rows]},
                "layer": [
                    {"mark": {"type": "line", "clip": True},
                     "encoding": place | colours(keys, marks="line") | {"strokeWidth": width}},
                    # What a pointer meets: a line as such has one tip only.
                    zoomed({"mark": {"type": "point", "opacity": 0, "size": 80, "clip": True},
                            "encoding": place | {"tooltip": {"field": "tip"}}}),
                ],
            }
        ],
    }  # fmt: skip
    return Panel(spec, title)


def stops_figure(document: dict[str, Any]) -> Figure:
    """Return one panel a policy."""
    allocations = document["comparison"]["allocations"]
    rows = [_stops_rows(document, place) for place in range(len(allocations))]
    # A reason that nobody has under any policy needs no bar, unless it is a resource.
    kept = [r for r in range(len(rows[0])) if r < len(document["resources"]) or any(counted[r][1] for counted in rows)]
    # Of a pool the certificate of a market or a sum names what a user pays most for; everywhere else all are known.
    pool = document["machines"] is None and not document["instance"]["integer"]
    paid = [pool and a["certificate"]["kind"] in PRICED for a in allocations]
    at = "what it pays most for" if all(paid) else "each, of a market or a sum at one" if any(paid) else "each"
    what = "of which their next task finds too little" if document["instance"]["integer"] else "that is used up"
    most = max((counted[r][1] for counted in rows for r in kept), default=0) or 1
    return Figure(
        name="stops",
        title="What stops the users",
        caption=f"Number of users who cannot have more because of a resource {what} where they may run, or of their "
        f"own limit. Who has several bottlenecks is counted at {at}.",
        alternative=" ".join(
            f"{title_of(a['policy'], a['integer'])}: "
            + ", ".join(f"{counted[r][0]} {counted[r][1]}" for r in kept)
            + "."
            for a, counted in zip(allocations, rows, strict=True)
        ),
        panels=tuple(
            _panel(title_of(a["policy"], a["integer"]), [counted[r] for r in kept], most, place)
            for place, (a, counted) in enumerate(zip(allocations, rows, strict=True))
        ),
    )


def _stops_rows(document: dict[str, Any], place: int) -> list[tuple[str, int]]:
    others = document["stops"][place]
    return [
        *((resource["name"], resource["stopped"][place]) for resource in document["resources"]),
        ("nothing: has all", others["met"]),
        ("its limit", others["limit"]),
        ("a ceiling", others["ceiling"]),
        ("fits nowhere", others["unplaced"]),
        ("the notion", others["notion"]),
        ("not known", others["unknown"]),
    ]


def _panel(title: str, rows: list[tuple[str, int]], most: int, policy: int) -> Panel:
    values = [
        {"place": place, "count": count, "text": f"{count:,}", "tip": clean(f"{name}: {counted(count, 'user')}")}
        for place, (name, count) in enumerate(rows)
    ]
    spec = {
        "height": (ROW + 2) * len(rows),
        "data": {"values": values},
        "encoding": {
            "y": name_axis([name for name, _ in rows]),
            # Room at the right for the number of the longest bar.
            "x": {"field": "count", "type": "quantitative", "axis": None, "scale": {"domain": [0, 1.2 * most]}},
            "tooltip": {"field": "tip"},
        },
        "layer": [
            {"mark": {"type": "bar", "fill": ink(POLICY_INKS[policy % len(POLICY_INKS)]), "height": {"band": 0.7}}},
            {
                "mark": {"type": "text", "align": "left", "baseline": "middle", "dx": 6},
                "encoding": {"text": {"field": "text"}},
            },
        ],
    }
    return Panel(spec, title)
