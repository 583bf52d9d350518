"""What every result of the package offers: a table when printed, HTML in a notebook, data, LaTeX, a frame, equality.

A result is a frozen dataclass (``eq=False``) that says two things of its own: its `sheet` and its `to_dict`.  Where
its parts have names, `named` makes ``result["A"]`` work.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar

from .errors import suggestion
from .tables import Sheet

__all__ = ["Parts", "Result"]


class Parts(Mapping[Any, Any]):
    """Parts of a result by name, each made when it is asked for: a cluster may have a million users.

    Parameters
    ----------
    names : mapping from name to index; or a range, where the indices are their own names
    made : callable
        Takes an index, and returns the part.
    """

    def __init__(self, names: Mapping[str, int] | range, made: Callable[[int], Any]):
        self._names, self._made = names, made

    def __getitem__(self, name: Any) -> Any:
        if isinstance(self._names, range):
            if name not in self._names:
                raise KeyError(name)
            return self._made(int(name))
        return self._made(self._names[name])

    def __iter__(self) -> Iterator[Any]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Result(ABC):
    """What `solve` and all the others return.

    Two results are equal when they are of one kind and say the same: every field that is compared, arrays number by
    number; how long it took is not compared.
    """

    _schema: ClassVar[str]
    """What `to_dict` says that it is, such as ``"drfopt allocation 1"``; `drfopt.schema` has its keys."""

    _rows: ClassVar[str] = ""
    """The key of `to_dict` under which the rows of `to_frame` are; empty for a result that makes its own."""

    @abstractmethod
    def sheet(self) -> Sheet:
        """Return the table, for a terminal, a paper, a notebook or a file."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the object that the command's ``--json`` prints."""

    def named(self) -> Mapping[Any, Any]:
        """Return what can be asked for by name, or by number, as ``result[name]``."""
        return {}

    def to_frame(self) -> Any:
        """Return a pandas frame, one row for each of what is counted. Needs pandas (``pip install drfopt[frame]``)."""
        import pandas

        frame = pandas.json_normalize(self.to_dict()[self._rows])
        return frame.set_index(frame.columns[0]) if len(frame.columns) else frame

    def to_latex(self) -> str:
        """Return the table as a LaTeX tabular in booktabs style."""
        return self.sheet().latex()

    def __str__(self) -> str:
        return self.sheet().text()

    def _repr_html_(self) -> str:
        return self.sheet().html()

    def __getitem__(self, name: Any) -> Any:
        """Return the part of that name: a user's row, a policy's allocation, a property's finding, a pool by number."""
        found = self.named()
        try:
            return found[name]
        except (KeyError, TypeError):
            near = suggestion(name, map(str, found)) if isinstance(name, str) else ""
            raise KeyError(f"{type(self).__name__} has no part {name!r}{near or ': named() has all of them'}") from None

    __iter__: ClassVar[None] = None
    """Parts are asked for by name; who wants all of them asks for `named`."""

    def __contains__(self, name: Any) -> bool:
        return name in self.named()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return _alike(self, other)

    def __hash__(self) -> int:
        """Return what all results of a kind share, as equal ones must: their contents may be millions of numbers."""
        return hash(type(self))


def _alike(one: Any, other: Any) -> bool:
    """Say whether two dataclasses of one kind have equal fields, as far as these are compared."""
    compared = (field.name for field in fields(one) if field.compare)
    return all(_same(getattr(one, name), getattr(other, name)) for name in compared)


def _same(one: Any, other: Any) -> bool:
    """Say whether two values are equal: arrays by their numbers (NaN equals NaN), containers by what is in them."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if hasattr(one, "shape") or hasattr(other, "shape"):
        import numpy as np

        one, other = np.asarray(one), np.asarray(other)
        return bool(np.array_equal(one, other, equal_nan=one.dtype.kind == other.dtype.kind == "f"))
    if type(one) is type(other) and is_dataclass(one) and type(one).__eq__ is object.__eq__:
        return _alike(one, other)
    return bool(one == other)
