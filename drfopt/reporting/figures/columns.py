"""Who holds what of every resource, as in Ghodsi et al., NSDI 2011, Figures 3 and 4.

One column a resource, from 0 to 100 % of the cluster, stacked by user; many resources lie on their side.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.numbers.shown import amount, percent
from ...base.tables import clean
from ...base.tolerances import CAPACITY
from ..charts import FADED, HEIGHT, ROW, Figure, Key, Panel, Spec, colours, in_lines, ink, name_axis, number_axis, paint
from ..palette import Part, parts_of, title_of

__all__ = ["columns", "figure", "shares_of"]

Counted = tuple[str, float, str]
"""A resource: its name, its capacity, and what it is counted in."""

MOST_COLUMNS = 6
"""Resources beyond which they lie on their side, where names have room."""

LETTERS = 28
"""Letters beside each other in all columns of a panel together: so much is written on each part."""

LOWEST = 0.065
"""Part of a column that a part must be high to carry its amount: a line of text."""


def figure(document: dict[str, Any]) -> Figure:
    """Return one panel a policy."""
    allocations = document["comparison"]["allocations"]
    users = [user["name"] for user in document["users"]]
    resources = [(resource["name"], resource["capacity"], resource["unit"]) for resource in document["resources"]]
    held = [np.array([list(user["usage"].values()) for user in a["users"]], dtype=float) for a in allocations]
    shares = [shares_of(amounts, resources) for amounts in held]
    parts = parts_of(users, shares)
    many = "" if len(users) == len(parts) else f" {len(parts) - 1} users by name, and the others together."
    return Figure(
        name="holdings",
        title="Who holds what of every resource",
        caption=f"Each bar is all that the cluster has of a resource, divided among the users.{many}",
        alternative=_in_words(allocations),
        panels=tuple(
            Panel(columns(resources, share, parts, shares), title_of(a["policy"], a["integer"]))
            for a, share in zip(allocations, shares, strict=True)
        ),
        keys=_keys(parts, shares),
    )


def shares_of(held: np.ndarray, resources: Sequence[Counted]) -> np.ndarray:
    """Return the fraction of every resource that each user holds, (n, m)."""
    capacity = np.array([capacity for _, capacity, _ in resources], dtype=float)
    return np.divide(held, capacity, where=capacity > 0, out=np.zeros(held.shape))


def _keys(parts: Sequence[Part], shares: Sequence[np.ndarray]) -> tuple[Key, ...]:
    """Return the legend: the parts in the order in which they are stacked, and what is left."""
    keys = [Key(part.name, paint(part.ink)) for part in parts]
    if any((share.sum(axis=0) < 1 - CAPACITY).any() for share in shares):
        keys.append(Key("unused", ink("paper")))
    return tuple(keys)


def columns(
    resources: Sequence[Counted], shares: np.ndarray, parts: Sequence[Part], beside: Sequence[np.ndarray]
) -> Spec:
    """Return the columns of one allocation, from the shares (n, m) and those of all that one legend is for."""
    upright, rows = len(resources) <= MOST_COLUMNS, []
    for place, (name, capacity, unit) in enumerate(resources):
        base = 0.0
        for key, part in enumerate(parts):
            share = float(shares[part.members, place].sum())
            held = share * capacity
            told = amount(held, unit)
            texts = (f"{told} {clean(name)}", told)
            fits = [text for text in texts if len(text) <= LETTERS / len(resources)] if upright else []
            tip = f"{part.name}: {told} of {amount(capacity, unit)} {name} ({percent(share)})"
            text = fits[0] if fits and share >= LOWEST else ""
            row = {"place": place, "key": key, "from": base, "to": base + share, "share": share, "held": held}
            rows.append(row | {"text": text, "tip": clean(tip)})
            base += share
    names, width = [name for name, *_ in resources], int(LETTERS * 8 / len(resources))
    along, across, to = ("y", "x", "y2") if upright else ("x", "y", "x2")
    whole = {"domain": [0, 1], "nice": False}
    inks = [part.ink for part in parts]
    on_parts = {
        "fill": _scaled([ink(f"on-{name}") for name in inks]),
        "stroke": _scaled([ink(name) for name in inks]),
    }
    middle = {
        along: {"field": "middle", "type": "quantitative", "scale": whole},
        "text": {"field": "text"},
        "tooltip": {"field": "tip"},
    }
    label = {"transform": [{"filter": "datum.text"}, {"calculate": "(datum.from + datum.to) / 2", "as": "middle"}]}
    letters: Spec = {"type": "text", "fontSize": 11, "baseline": "middle"}
    return {
        "height": HEIGHT if upright else (ROW + 2) * len(resources),
        "data": {"values": rows},
        "encoding": {
            across: (name_axis(names, width, labelExpr=in_lines(names, width)) if upright else name_axis(names))
            | {"scale": {"paddingInner": 0.28, "paddingOuter": 0.14}},
        },
        "layer": [
            {
                "mark": {"type": "bar", "stroke": ink("card"), "strokeWidth": 0.6},
                "encoding": {
                    along: number_axis("from", share=True, scale=whole, values=[0, 0.25, 0.5, 0.75, 1]),
                    to: {"field": "to"},
                    **colours(_keys(parts, beside)),
                    "tooltip": {"field": "tip"},
                },
            },
            {
                # The edge is the whole resource: what stays white inside it is idle.
                "data": {"values": [{"place": place, "from": 0, "to": 1} for place in range(len(resources))]},
                "mark": {"type": "bar", "fill": None, "stroke": ink("outline"), "strokeWidth": 1, "tooltip": None},
                "encoding": {along: {"field": "from", "type": "quantitative"}, to: {"field": "to"}},
            },
            # The letters stand twice: once broad in the part's own colour, which keeps its hatch away from them.
            {
                **label,
                "mark": letters | {"strokeWidth": 7, "strokeJoin": "round"},
                "encoding": middle | {"stroke": on_parts["stroke"], "opacity": FADED},
            },
            {**label, "mark": letters, "encoding": middle | {"fill": on_parts["fill"], "opacity": FADED}},
        ],
    }


def _scaled(values: list[str]) -> Spec:
    scale = {"domain": list(range(len(values))), "range": values}
    return {"field": "key", "type": "nominal", "scale": scale, "legend": None}


def _in_words(allocations: list[dict[str, Any]]) -> str:
    return " ".join(
        f"{title_of(a['policy'], a['integer'])}: "
        + ", ".join(f"{percent(r['utilization'])} of {r['name']} used" for r in a["resources"])
        + "."
        for a in allocations
    )
