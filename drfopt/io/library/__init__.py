"""Named instances, shipped as native instance files: the literature's examples and the edges of the theory.

Every file opens with a comment of what to expect of it, and names where it comes from.

A folder of files that are shipped with the package, and asked for by name.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

from ...base.errors import InstanceError
from ...base.registry import unknown

__all__ = ["PackagedFiles", "Summary", "load", "names", "summaries", "text"]


SUFFIX = ".toml"


@dataclass(frozen=True)
class PackagedFiles:
    """What the package ships of one sort.

    Attributes
    ----------
    what : str
        What a file of it is, for messages: ``instance`` or ``scenario``.
    folder : Traversable
    """

    what: str
    folder: Traversable

    @cache  # noqa: B019 - there are two, as long as the process lives
    def names(self) -> tuple[str, ...]:
        """Return the names of what is shipped, in alphabetical order."""
        entries = (entry.name for entry in self.folder.iterdir())
        return tuple(sorted(entry.removesuffix(SUFFIX) for entry in entries if entry.endswith(SUFFIX)))

    def text(self, name: str) -> str:
        """Return the file of that name.

        Raises
        ------
        InstanceError
            When there is none.
        """
        if not isinstance(name, str) or name not in self.names():
            raise InstanceError(unknown(f"library {self.what}", name, self.names()))
        return (self.folder / f"{name}{SUFFIX}").read_text(encoding="utf-8")

    def title(self, name: str) -> str:
        """Return what messages about that file call it."""
        return f"library {self.what} {name!r}"


if TYPE_CHECKING:
    from ...model.instance import Instance


EXPECT = "Expect: "


@dataclass(frozen=True)
class Summary:
    """What a listing shows of a library instance."""

    name: str
    title: str
    source: str
    expect: str


PACKAGED = PackagedFiles("instance", files(__name__))

names, text = PACKAGED.names, PACKAGED.text
"""The names, in alphabetical order, and the file of one."""


def load(name: str) -> "Instance":
    """Return a shipped instance.

    Raises
    ------
    InstanceError
        When there is none of that name.
    """
    from ..native import reading

    return reading.loads(text(name), "toml", PACKAGED.title(name))


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
