"""Colours and hatches: told apart by the colour-blind, on a black-and-white print, on white paper and on a dark screen.

A colour is known by its name; what it is depends on the theme. Text on a coloured part is black or white, whichever
contrasts more, and that is at least 4.5 to 1.

Which users a picture shows by name: all of a few, of many the largest, and all the others together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

__all__ = [
    "DASHES",
    "FONT",
    "HATCHES",
    "INKS",
    "POLICY_INKS",
    "POLICY_SHAPES",
    "SHADES",
    "USER_INKS",
    "Part",
    "contrast",
    "hatches",
    "parts_of",
    "text_on",
    "title_of",
]  # fmt: skip

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

# Okabe and Ito's colours but black, and yellow that shows no white hatch; then Tol's darker ones.
COLOURS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#332288",
    "#999933",
    "#882255",
    "#44AA99",
    "#AA4499",
    "#117733",
)
ON_DARK = {
    "#0072B2": "#3D9BD6",
    "#332288": "#8C7FDB",
    "#882255": "#C75C8E",
    "#AA4499": "#C268B3",
    "#117733": "#4FAE6E",
    "#009E73": "#1FB58A",
}
"""Lighter forms of the colours that would drown on a dark screen."""

USER_INKS = tuple(f"user{i}" for i in range(len(COLOURS)))
"""Inks in the order in which users take them."""

RISING, FALLING = "M-1,1 l2,-2 M0,8 l8,-8 M7,9 l2,-2", "M-1,7 l2,2 M0,0 l8,8 M7,-1 l2,2"
PATHS = ("", RISING, FALLING, "M0,8 l8,-8 M0,0 l8,8", "M2,2 h1.6 M6,6 h1.6", "M0,4 h8")

HATCHES = {ink: PATHS[i % len(PATHS)] for i, ink in enumerate(USER_INKS)}
"""What is drawn in white over the part of a user, in tiles of 8 by 8: told apart on a black-and-white print too."""

DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3), (10, 2), (4, 2, 1, 2))
"""Dashes of lines, by their places: told apart without colour."""

POLICY_INKS = tuple(f"policy{i}" for i in range(6))
"""Inks of policies; a seventh begins again."""

POLICY_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")

STEPS = 6
SHADES = tuple(f"shade{i}" for i in range(STEPS))
"""Inks of a map of utilization, from idle to used up."""

# Between the page and a blue: one hue, lightness alone tells more from less.
LIGHT_SHADES = ("#F1F5F9", "#D5E4F1", "#ABCBE5", "#74A9D3", "#2F79B5", "#0B4A7F")
DARK_SHADES = ("#1D232B", "#213547", "#24506F", "#2B6C99", "#4A93C6", "#9CCBEB")
POLICY_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#882255", "#7A6A00", "#555555")
POLICY_ON_DARK = ("#56B4E9", "#F0813A", "#2BC192", "#E07BAA", "#D6C23E", "#B4B9C0")

PAGE = {
    "paper": ("#FFFFFF", "#14181D"),
    "card": ("#FFFFFF", "#1A1F26"),
    "ink": ("#1B2127", "#E8EBEF"),
    "muted": ("#545E69", "#A5AFBA"),
    "line": ("#D9DEE4", "#323A44"),
    "outline": ("#6B7580", "#8A95A1"),
    "accent": ("#005E96", "#7CC4F2"),
    "wash": ("#F4F6F8", "#1F252D"),
    "others": ("#B4BAC1", "#7D8792"),
    "alarm": ("#F0711A", "#FF8A3D"),
}


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours ``#RRGGBB``, 1 to 21, as WCAG 2 defines it."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def text_on(colour: str) -> str:
    """Return black or white, whichever is easier to read on the colour."""
    return max("#000000", "#FFFFFF", key=lambda text: contrast(text, colour))


def _luminance(colour: str) -> float:
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    # The two pieces of the sRGB curve.
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _inks(dark: bool) -> dict[str, str]:
    found = {name: pair[dark] for name, pair in PAGE.items()}
    found |= dict(zip(USER_INKS, (ON_DARK.get(c, c) if dark else c for c in COLOURS), strict=True))
    found |= dict(zip(POLICY_INKS, POLICY_ON_DARK if dark else POLICY_COLOURS, strict=True))
    found |= dict(zip(SHADES, DARK_SHADES if dark else LIGHT_SHADES, strict=True))
    filled = (*USER_INKS, "others", *SHADES)
    return found | {f"on-{name}": text_on(found[name]) for name in filled}


INKS: dict[str, dict[str, str]] = {"light": _inks(False), "dark": _inks(True)}
"""Every ink by its name, for each theme; ``on-X`` is the text on a part of ink X."""


def hatches(inks: dict[str, str] | None = None) -> str:
    """Return a pattern for every hatched ink, to stand once in a document; without inks in the page's variables."""
    return "".join(
        f'<pattern id="{name}" width="8" height="8" patternUnits="userSpaceOnUse">'
        f'<rect width="8" height="8" fill="{inks[name] if inks else f"var(--{name})"}"/>'
        f'<path d="{path}" stroke="#fff" stroke-opacity="0.5" stroke-width="1.4" fill="none"/></pattern>'
        for name, path in HATCHES.items()
        if path
    )


# ---- whom a picture shows by name -----------------------------------------------------------------

TITLES = {"drf": "DRF", "asset": "Asset fairness", "ceei": "CEEI"}
"""How the paper calls the policies; others go by their own name."""


@dataclass(frozen=True)
class Part:
    """What one user, or all the others together, hold in one picture."""

    name: str
    ink: str
    members: np.ndarray


def title_of(policy: str, integer: bool = False) -> str:
    """Return what a picture of the policy is called."""
    return TITLES.get(policy, policy) + (", whole tasks" if integer else "")


def parts_of(users: Sequence[str], shares: Sequence[np.ndarray]) -> list[Part]:
    """Return the parts of the columns, from the shares (n, m) of every picture they stand in."""
    room, everyone = len(USER_INKS), np.arange(len(users))
    if len(users) <= room:
        return [
            Part(user, ink, everyone[i : i + 1]) for i, (user, ink) in enumerate(zip(users, USER_INKS, strict=False))
        ]
    # One ranking for all pictures, so that a user keeps its colour from one to the next.
    largest = np.max([share.max(axis=1) for share in shares], axis=0)
    chosen = np.sort(np.argsort(-largest, kind="stable")[: room - 1])
    others = np.setdiff1d(everyone, chosen)
    named = [Part(users[i], ink, everyone[i : i + 1]) for i, ink in zip(chosen.tolist(), USER_INKS, strict=False)]
    return [*named, Part(f"{len(others)} others", "others", others)]
