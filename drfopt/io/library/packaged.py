"""A folder of files that are shipped with the package, and asked for by name."""

from dataclasses import dataclass
from functools import cache
from importlib.resources.abc import Traversable

from ...base.errors import InstanceError
from ...base.registry import unknown

__all__ = ["Shelf"]

SUFFIX = ".toml"


@dataclass(frozen=True)
class Shelf:
    """What the package ships of one sort.

    Attributes
    ----------
    what : str
        What a file of it is, for messages: ``instance`` or ``scenario``.
    folder : Traversable
    """

    what: str
    folder: Traversable

    @cache  # noqa: B019 - there are two shelves, as long as the process lives
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
        if name not in self.names():
            raise InstanceError(unknown(f"library {self.what}", name, self.names()))
        return (self.folder / f"{name}{SUFFIX}").read_text(encoding="utf-8")

    def title(self, name: str) -> str:
        """Return what messages about that file call it."""
        return f"library {self.what} {name!r}"
