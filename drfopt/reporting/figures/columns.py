"""Who holds what of every resource, as in Ghodsi et al., NSDI 2011, Figures 3 and 4.

One column a resource, from 0 to 100 % of the cluster, stacked by user; many resources lie on their side.
"""

from typing import Any

import numpy as np

from ...base.tolerances import CAPACITY
from ..drawing import Box, Drawing, Figure, Key, Line, Mark, Words, fitted, width_of
from ..holdings import Part, parts_of, title_of
from ..numbers import amount, percent
from .axes import PANEL, SMALL

__all__ = ["figure"]

MOST_COLUMNS = 6
"""Resources beyond which they lie on their side, where names have room."""

HEIGHT, TOP, LEFT = 220.0, 10.0, 44.0
NAMES, ROW = 104.0, 24.0

LOWEST = 15.0
"""Pixels that a part must be high to carry its amount."""

VISIBLE = 0.4
"""Pixels below which a part is not drawn; together with all others it still adds up."""


def figure(document: dict[str, Any]) -> Figure:
    """Return one panel a policy."""
    allocations = document["comparison"]["allocations"]
    users = [user["name"] for user in document["users"]]
    shares = [_shares(allocation, document) for allocation in allocations]
    parts = parts_of(users, shares)
    panels = tuple(
        _panel(document, allocation, share, parts) for allocation, share in zip(allocations, shares, strict=True)
    )
    keys = [Key(part.name, part.ink, part.style.hatch) for part in parts]
    if any((share.sum(axis=0) < 1 - CAPACITY).any() for share in shares):
        keys.append(Key("unused", "outline", shape="empty"))
    many = "" if len(users) == len(parts) else f" {len(parts) - 1} users by name, and the others together."
    return Figure(
        name="holdings",
        title="Who holds what of every resource",
        caption=f"Each bar is all that the cluster has of a resource, divided among the users.{many}",
        alternative=_told(document, allocations),
        panels=panels,
        keys=tuple(keys),
    )


def _shares(allocation: dict[str, Any], document: dict[str, Any]) -> np.ndarray:
    """Return the fraction of every resource that each user holds, (n, m)."""
    held = np.array([list(user["usage"].values()) for user in allocation["users"]], dtype=float)
    capacity = np.array([resource["capacity"] for resource in document["resources"]])
    return np.divide(held, capacity, where=capacity > 0, out=np.zeros(held.shape))


def _told(document: dict[str, Any], allocations: list[dict[str, Any]]) -> str:
    return " ".join(
        f"{title_of(a['policy'], a['integer'])}: "
        + ", ".join(f"{percent(r['utilization'])} of {r['name']} used" for r in a["resources"])
        + "."
        for a in allocations
    )


def _panel(document: dict[str, Any], allocation: dict[str, Any], shares: np.ndarray, parts: list[Part]) -> Drawing:
    resources = document["resources"]
    upright = len(resources) <= MOST_COLUMNS
    title = title_of(allocation["policy"], allocation["integer"])
    marks: list[Mark] = _scale(len(resources), upright)
    for j, resource in enumerate(resources):
        x, y, long, thick = _place(j, len(resources), upright)
        base = 0.0
        for part in parts:
            share = float(shares[part.members, j].sum())
            size = share * long
            if size >= VISIBLE:
                held = share * resource["capacity"]
                of_all = f"{amount(resource['capacity'])} {resource['name']} ({percent(share)})"
                tip = f"{part.name}: {amount(held)} of {of_all}"
                box = (x, y + long - base - size, thick, size) if upright else (x + base, y, size, thick)
                edge = "card" if size > 3 else ""
                marks.append(Box(*box, fill=part.ink, stroke=edge, hatch=part.style.hatch, tip=tip))
                marks.extend(_label(box, amount(held), resource["name"], part.ink))
            base += size
        marks.append(Box(x, y, *((thick, long) if upright else (long, thick)), stroke="outline"))
        marks.append(_name(resource["name"], x, y, long, thick, upright))
    height = TOP + HEIGHT + 28 if upright else TOP + ROW * len(resources) + 26
    return Drawing(PANEL, height, tuple(marks), title)


def _place(j: int, m: int, upright: bool) -> tuple[float, float, float, float]:
    """Return x, y, length and thickness of a bar."""
    if not upright:
        return NAMES, TOP + j * ROW + 3, PANEL - NAMES - 12, ROW - 6
    pitch = (PANEL - LEFT - 6) / m
    thick = min(0.7 * pitch, 92.0)
    return LEFT + (j + 0.5) * pitch - thick / 2, TOP, HEIGHT, thick


def _scale(m: int, upright: bool) -> list[Mark]:
    marks: list[Mark] = []
    for quarter in range(0, 101, 25):
        if upright:
            y = TOP + HEIGHT * (1 - quarter / 100)
            marks.append(Line(((LEFT, y), (PANEL - 4, y)), "line"))
            marks.append(Words(LEFT - 6, y + 4, f"{quarter} %", "end", "muted", SMALL))
        else:
            x, bottom = NAMES + (PANEL - NAMES - 12) * quarter / 100, TOP + ROW * m
            marks.append(Line(((x, TOP), (x, bottom)), "line"))
            marks.append(Words(min(x, PANEL - 20), bottom + 16, f"{quarter} %", "middle", "muted", SMALL))
    return marks


def _name(name: str, x: float, y: float, long: float, thick: float, upright: bool) -> Words:
    if upright:
        return Words(x + thick / 2, y + long + 18, fitted(name, thick * 1.4), "middle", tip=name)
    return Words(x - 8, y + thick / 2 + 4, fitted(name, NAMES - 10), "end", tip=name)


def _label(box: tuple[float, float, float, float], held: str, resource: str, ink: str) -> list[Mark]:
    x, y, width, height = box
    texts = (f"{held} {resource}", held)
    text = next((text for text in texts if width_of(text, SMALL) <= width - 6), None)
    if text is None or height < LOWEST:
        return []
    room = width_of(text, SMALL) + 4
    middle = x + width / 2, y + height / 2
    return [
        Box(middle[0] - room / 2, middle[1] - 7, room, 14, fill=ink, round=3),
        Words(middle[0], middle[1] + 4, text, "middle", f"on-{ink}", SMALL, halo=ink),
    ]
