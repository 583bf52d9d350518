"""Colours and hatches of users: told apart by the colour-blind, and on a black-and-white print."""

from dataclasses import dataclass

__all__ = ["OTHERS", "OUTLINE", "STYLES", "Style"]


@dataclass(frozen=True)
class Style:
    """How one user's part is filled: a colour, and a hatch drawn in white over it."""

    colour: str
    hatch: str


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
HATCHES = ("", "//", "\\\\", "xx", "..", "--", "", "//", "\\\\", "xx", "..", "--")

STYLES = tuple(Style(colour, hatch) for colour, hatch in zip(COLOURS, HATCHES, strict=True))
"""Styles in the order in which users take them."""

OTHERS = Style("#BBBBBB", "")
"""The users who have no colour of their own."""

OUTLINE = "#333333"
"""The edge of a column; what is white inside it is not used."""
