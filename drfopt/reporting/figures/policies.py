"""How policies are told apart in a figure: by colour and by shape."""

from typing import Any, Literal

from ..drawing import Key
from ..holdings import title_of
from ..palette import POLICY_INKS

__all__ = ["keys_of", "style_of"]

Shape = Literal["circle", "square", "triangle", "diamond", "cross", "plus"]

SHAPES: tuple[Shape, ...] = ("circle", "square", "triangle", "diamond", "cross", "plus")


def style_of(place: int) -> tuple[str, Shape]:
    """Return ink and shape of the policy in that place."""
    return POLICY_INKS[place % len(POLICY_INKS)], SHAPES[place % len(SHAPES)]


def keys_of(allocations: list[dict[str, Any]], lines: bool = False) -> tuple[Key, ...]:
    """Return the legend of the policies, as lines or as points."""
    styles = [style_of(place) for place in range(len(allocations))]
    return tuple(
        Key(title_of(a["policy"], a["integer"]), ink, shape="line" if lines else shape)
        for a, (ink, shape) in zip(allocations, styles, strict=True)
    )
