"""Registries: one tuple of rows behind every word that a user types, and modules that are imported when they are used.

A row has a name; an argument stands behind it in capitals, as in ``slots:K``.  A name that is unknown is answered with
the nearest one and with all there are, in one sentence everywhere.  A row whose algorithm is heavy names the module
that has it.  `lead` and `door` are the same for what a class offers and a room above has: `Instance.load` reads files,
and the model knows no file; the package's face says once what is behind the door.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, Protocol, TypeVar

from .errors import DrfoptError, suggestion

__all__ = ["Registry", "door", "lead", "unknown"]


class Named(Protocol):
    """A row: whatever has a name."""

    @property
    def name(self) -> str:
        """What users call it, and behind a colon what its argument stands for."""


Row = TypeVar("Row", bound=Named)


def unknown(what: str, name: Any, known: Iterable[str], also: str = "", near: Iterable[str] = ()) -> str:
    """Return the sentence that answers an unknown name: the nearest word, and every word there is."""
    words = tuple(known)
    # A word with its argument is compared without it: single:cqu is near to single:RESOURCE by its first half.
    stems = [word.partition(":")[0] for word in words]
    meant = suggestion(str(name), (*words, *near)) or suggestion(str(name).partition(":")[0], stems)
    return f"there is no {what} {str(name)!r}{meant} (known: {', '.join(words)}{also and f', or {also}'})"


class Registry(tuple[Row, ...]):  # noqa: SLOT001  (a tuple can have no slots)
    """Rows by name, in the order in which they are listed and asked.

    Parameters
    ----------
    *rows
    what : str
        What a row is, such as ``engine``, for messages.
    error : type
        What is raised for a name that is unknown.
    package : str, optional
        The folder in which the modules are that rows name in their attribute ``module``.
    function : str, optional
        What the function of such a module is called; a row whose module has several names its own, as in
        ``"lowest:fifo"``.
    also : str, optional
        What is taken beside the names, for messages.
    aliases : mapping from str to str, optional
        Other names that people type, and the row's.
    """

    what: str
    error: type[DrfoptError]
    package: str
    function: str
    also: str
    aliases: Mapping[str, str]

    def __new__(
        cls,
        *rows: Row,
        what: str,
        error: type[DrfoptError],
        package: str = "",
        function: str = "",
        also: str = "",
        aliases: Mapping[str, str] | None = None,
    ) -> "Registry[Row]":
        """Set the rows up."""
        self = super().__new__(cls, rows)
        self.what, self.error, self.package, self.function, self.also = what, error, package, function, also
        self.aliases = aliases or {}
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """What users may write."""
        return tuple(row.name for row in self)

    def get(self, word: Any) -> Row | None:
        """Return the row of that name, its argument left out; None where there is none."""
        # An array compares with a name entry by entry.
        name = self.aliases.get(word, word) if isinstance(word, str) else None
        return next((row for row in self if row.name.partition(":")[0] == name), None)

    def named(self, word: Any) -> Row:
        """Return the row of that name.

        Raises
        ------
        DrfoptError
            Of the kind of this registry, when there is none.
        """
        row = self.get(word)
        if row is None:
            raise self.unknown(word)
        return row

    def unknown(self, word: Any) -> DrfoptError:
        """Return the error that says that there is none of that name."""
        return self.error(unknown(self.what, word, self.names, self.also, self.aliases))

    def implementation(self, row: Any) -> Callable[..., Any]:
        """Return the function behind a row; its module is imported now."""
        module, _, function = row.module.partition(":")
        found: Callable[..., Any] = getattr(import_module(f".{module}", self.package), function or self.function)
        return found


_LEADS: dict[str, str] = {}


def lead(name: str, module: str) -> None:
    """Say which module is behind the door of that name."""
    _LEADS[name] = module


def door(name: str) -> ModuleType:
    """Return the module behind the door of that name, imported now."""
    return import_module(_LEADS[name])
