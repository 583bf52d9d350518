"""How policies are told apart in a figure: by colour and by shape, and lines by their dashes."""

from typing import Any

from ..charts import Key, ink
from ..holdings import title_of
from ..palette import DASHES, POLICY_INKS, POLICY_SHAPES

__all__ = ["keys_of"]


def keys_of(allocations: list[dict[str, Any]], lines: bool = False) -> tuple[Key, ...]:
    """Return the legend of the policies, as points or as lines."""
    return tuple(
        Key(
            title_of(a["policy"], a["integer"]),
            ink(POLICY_INKS[place % len(POLICY_INKS)]),
            "" if lines else POLICY_SHAPES[place % len(POLICY_SHAPES)],
            DASHES[place % len(DASHES)],
        )
        for place, a in enumerate(allocations)
    )
