"""Named instances, shipped as native instance files: the literature's examples and the edges of the theory.

Every file opens with a comment of what to expect of it, and names where it comes from.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from .packaged import Shelf

if TYPE_CHECKING:
    from ...model.instance import Instance

__all__ = ["Summary", "load", "names", "summaries", "text"]

EXPECT = "Expect: "


@dataclass(frozen=True)
class Summary:
    """What a listing shows of a library instance."""

    name: str
    title: str
    source: str
    expect: str


SHELF = Shelf("instance", files(__name__))

names, text = SHELF.names, SHELF.text
"""The names, in alphabetical order, and the file of one."""


def load(name: str) -> "Instance":
    """Return a shipped instance.

    Raises
    ------
    InstanceError
        When there is none of that name.
    """
    from ..native import reading

    return reading.loads(text(name), "toml", SHELF.title(name))


@cache
def summaries() -> tuple[Summary, ...]:
    """Return title, source and expectation of every shipped instance, in the order of `names`."""
    return tuple(_summary(name) for name in names())


def _summary(name: str) -> Summary:
    written = text(name)
    comment = []
    for line in written.splitlines():
        if not line.startswith("#"):
            break
        comment.append(line.removeprefix("#").strip())
    top = tomllib.loads(written)
    return Summary(name, top["name"], top["source"], " ".join(comment).removeprefix(EXPECT))
