"""Walking through what another program wrote: a part knows its place, and says it when it is not what it should be.

What is missing is an empty part, so that ``pod["spec"]["overhead"]`` can be asked of every pod; null counts as missing.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ...base.errors import InstanceError
from ...base.numbers.quantities import exact, parse
from ..native.syntax import trees
from .files import File, failure, shown

__all__ = ["TreePart", "parts"]


class TreePart:
    """A value in a tree of tables and lists, with its place."""

    __slots__ = ("_key", "_parent", "value")

    def __init__(self, value: Any, key: str | int, parent: "TreePart | None" = None):
        self.value, self._key, self._parent = value, key, parent

    @property
    def place(self) -> str:
        """Where it stands, as ``list.json: items[3].spec``."""
        if self._parent is None:
            return str(self._key)
        above = self._parent.place
        joint = ": " if self._parent._parent is None else "" if isinstance(self._key, int) else "."
        return f"{above}{joint}{f'[{self._key}]' if isinstance(self._key, int) else self._key}"

    def __bool__(self) -> bool:
        return self.value is not None

    def __getitem__(self, key: str) -> "TreePart":
        """Return the part under a key of a table; an empty one where there is none."""
        # A table or nothing, nearly always, and asked for millions of times.
        value = self.value if type(self.value) is dict else self._of(dict, "a table")
        return TreePart(value.get(key), key, self)

    def __contains__(self, key: str) -> bool:
        return self._of(dict, "a table").get(key) is not None

    def pairs(self) -> Iterator[tuple[str, "TreePart"]]:
        """Yield key and part of everything in a table that is not null."""
        for key, value in self._of(dict, "a table").items():
            if value is not None:
                yield key, TreePart(value, key, self)

    def each(self) -> Iterator["TreePart"]:
        """Yield the parts of a list."""
        for i, value in enumerate(self._of(list, "a list")):
            yield TreePart(value, i, self)

    def texts(self) -> list[str]:
        """Return a list of texts."""
        return [part.text() for part in self.each()]

    def text(self, missing: str = "") -> str:
        """Return a text; a number stands for what was written."""
        if self.value is None:
            return missing
        if isinstance(self.value, dict | list | bool):
            raise self.wrong("write a text")
        return str(self.value)

    def true(self) -> bool:
        """Return whether it is true; missing is false."""
        if self.value is None:
            return False
        if not isinstance(self.value, bool):
            raise self.wrong("write true or false")
        return self.value

    def amount(self, missing: int = 0) -> Fraction:
        """Return a number or quantity, 0 or more."""
        found = self.number(missing)
        if found < 0:
            raise self.wrong("write 0 or more")
        return found

    def number(self, missing: int = 0) -> Fraction:
        """Return a number or quantity."""
        if self.value is None:
            return Fraction(missing)
        if isinstance(self.value, dict | list | bool):
            raise self.wrong("write a number or a quantity")
        try:
            return _read(self.value) if isinstance(self.value, str) else exact(self.value)
        except InstanceError as error:
            raise failure(self.place, error) from None

    def count(self, missing: int = 0) -> int:
        """Return a whole number, 0 or more."""
        found = self.amount(missing)
        if found.denominator != 1:
            raise self.wrong("write a whole number")
        return int(found)

    def amounts(self) -> dict[str, Fraction]:
        """Return a table of amounts."""
        return {name: part.amount() for name, part in self.pairs()}

    def wrong(self, remedy: str) -> InstanceError:
        """Return the error that names place, value and remedy."""
        return failure(self.place, f"is {shown(self.value)}: {remedy}")

    def _of(self, kind: type, word: str) -> Any:
        if self.value is None:
            return kind()
        if not isinstance(self.value, kind):
            raise self.wrong(f"{word} belongs here")
        return self.value


@lru_cache(maxsize=1 << 14)
def _read(text: str) -> Fraction:
    """Return a quantity; the pods of a cluster ask for few different ones."""
    return parse(text)


def parts(file: File) -> list[TreePart]:
    """Return the documents of a file in JSON (also one document a line) or YAML.

    Raises
    ------
    InstanceError
        When the file is neither.
    """
    found = [TreePart(value, file.place) for value in trees(file.text, file.place) if value is not None]
    for part in found:
        if not isinstance(part.value, dict | list):
            raise failure(file.place, f"holds {shown(part.value)}: a list of objects in JSON or YAML belongs here")
    return found
