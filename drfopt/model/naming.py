"""Names at the door: whatever has labels becomes rows in the order of the names, or is refused by the label at fault.

A Series or frame speaks of everything, and a label that it lacks is an error.  A mapping may leave out what has a
default: a demand is 0, a weight 1, a limit none.  The index that pandas makes up, 0, 1, 2 ..., is no label, unless
these are the names.  Arrays and lists are positional.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.errors import InstanceError, suggestion

__all__ = [
    "Places",
    "aligned",
    "as_sequence",
    "by_user",
    "labels",
    "order_of",
    "resource_names",
    "row_of",
    "rows_of_users",
    "some",
    "unique",
    "with_names",
]

Labels = tuple[str, ...] | None


def labels(values: Any) -> tuple[Labels, ...]:
    """Return the labels along each axis of a Series, frame or structured array, () of everything else.

    An axis with the index that pandas makes up has None.
    """
    if isinstance(values, np.ndarray):
        return () if values.dtype.names is None else (None, values.dtype.names)
    if hasattr(values, "iloc"):
        return tuple(None if _made_up(axis) else tuple(map(str, axis)) for axis in values.axes)
    # Frames without an index, such as those of polars, have labels on one side only.
    framed = hasattr(values, "to_numpy") and hasattr(values, "columns")
    return (None, tuple(map(str, values.columns))) if framed else ()


def _made_up(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


def aligned(values: Any, what: str, *axes: tuple[str, Sequence[str] | None]) -> Any:
    """Return what has labels as an array in the order of the names; everything else as it is.

    Parameters
    ----------
    values : any
    what : str
        Begins the sentence where a label is missing, unknown or there twice.
    axes : pairs of str and sequence of str
        Along each axis, what the names are (``user``), and the names; None to leave the axis as it is.
    """
    found = labels(values)
    if not found:
        return values
    # A copy: a frame can change, and what it hands out changes with it.
    array = np.array(values.tolist(), object) if isinstance(values, np.ndarray) else np.array(values.to_numpy())
    if len(found) > len(axes):
        return array  # of a wrong shape, which is the better thing to say
    for axis, (given, (word, names)) in enumerate(zip(found, axes, strict=False)):
        if names is None:
            continue
        if given is None and 0 < array.shape[axis] == len(names) and names[0].isdecimal():
            numbers = tuple(map(str, range(len(names))))
            given = numbers if set(names) == set(numbers) else None
        if given is not None and (order := order_of(given, names, what, word)) is not None:
            array = array.take(order, axis=axis)
    array.flags.writeable = False  # a second copy is not needed
    return array


def order_of(given: Sequence[str], names: Sequence[str], what: str, word: str) -> list[int] | None:
    """Return where each name is among the labels; None where that is its own place.

    Raises
    ------
    InstanceError
        With the label that is there twice, unknown, or missing.
    """
    if tuple(given) == tuple(names):
        return None
    at = {label: place for place, label in enumerate(given)}
    if len(at) < len(given):
        raise InstanceError(f"{what}: {word} {_twice(given)!r} is listed twice: give each {word} one entry")
    _refuse_unknown(given, names, what, word)
    for name in names:
        if name not in at:
            raise InstanceError(f"{what}: nothing is said of {word} {name!r}: give a value for each {word}")
    return [at[name] for name in names]


def _refuse_unknown(given: Iterable[str], names: Sequence[str], what: str, word: str) -> None:
    known = set(names)
    for label in given:
        if label in known:
            continue
        if word == "user":
            raise InstanceError(f"{what} are given for {label!r}, who is not a user{suggestion(label, names)}")
        raise InstanceError(f"{what}: there is no {word} {label!r}, there is {some(names)}{suggestion(label, names)}")


def _twice(names: Iterable[str]) -> str:
    return next(name for name, times in Counter(names).items() if times > 1)


def with_names(values: Any, what: str) -> Any:
    """Return a Series with labels, or a mapping, as a dict by text; everything else as it is."""
    if not isinstance(values, Mapping):
        found = labels(values)
        if len(found) != 1 or found[0] is None:
            return values
        pairs = list(zip(found[0], values.to_numpy().tolist(), strict=True))
    else:
        pairs = [(str(label), value) for label, value in values.items()]
    made = dict(pairs)
    if len(made) < len(pairs):
        raise InstanceError(f"{what}: {_twice(label for label, _ in pairs)!r} is listed twice: give it once")
    return made


def listed_names(names: Any, what: str) -> list[str]:
    """Return names as text.

    Raises
    ------
    InstanceError
        When what is given cannot be gone through.
    """
    try:
        return [str(name) for name in names]
    except TypeError:
        raise InstanceError(f"{what} are {names!r}: give a list of names") from None


def rows_of_users(demands: Any, users: Sequence[str] | None) -> tuple[Any, tuple[str, ...] | None]:
    """Return one row of demands a user, or a frame as it is, and the names of the users, None where there are none.

    Users who are named twice, by labels and by `users`, come in the order of `users`.
    """
    named = None if users is None else unique(listed_names(users, "users"), "user")
    if isinstance(by_name := with_names(demands, "demands"), dict):
        names = unique(list(by_name), "user")
        if named is not None:
            order_of(names, named, "demands", "user")
            names = named
        return [_row(user, by_name[user]) for user in names], names
    if len(found := labels(demands)) == 2:
        rows, index = demands, found[0]
        if index is not None:
            named = unique(index, "user") if named is None else named
            order_of(index, named, "demands", "user")
    else:
        rows = as_sequence(demands)
        rows = [with_names(row, "demands") for row in rows] if isinstance(rows, list) else rows
        if not isinstance(rows, list | np.ndarray) or (isinstance(rows, np.ndarray) and rows.ndim != 2):
            raise InstanceError(
                "demands must be a mapping from user to {resource: amount}, or an array of shape (n, m)"
            )
    if named is None:
        return rows, None if len(rows) else ()
    if len(named) != len(rows):
        raise InstanceError(f"there are {len(named)} names for {len(rows)} rows of demands: give one a row")
    return rows, named


def _row(user: str, row: Any) -> Any:
    """Return a user's demand as a mapping, a list of task types, or an array."""
    row = with_names(row, f"user {user!r}: demand")
    if not isinstance(row, dict | list | tuple | np.ndarray) and not hasattr(row, "to_numpy"):
        raise InstanceError(f"user {user!r}: demand is {row!r}: write a table of resource and amount")
    return as_sequence(row)


def resource_names(resources: Sequence[str] | None, rows: Any, capacity: Any) -> list[str]:
    """Return the names of the resources: given, taken from the capacity or from the demands, or made up."""
    if resources is not None:
        return listed_names(resources, "resources")
    capacity = with_names(capacity, "capacity")
    if isinstance(capacity, Mapping):
        return list(capacity)
    if len(found := labels(rows)) == 2 and found[1] is not None:
        return list(found[1])
    if isinstance(rows, list) and rows and isinstance(rows[0], Mapping):
        raise InstanceError("demands name resources and the capacity does not: give it as a mapping, or name resources")
    width = np.shape(capacity)
    if len(width) != 1:
        raise InstanceError("the capacity must be a mapping from resource to amount, or an array of shape (m,)")
    return [f"r{j}" for j in range(1, width[0] + 1)]


def row_of(values: Mapping, resources: Sequence[str], owner: str, missing: Any = 0) -> list:
    """Return the values of a mapping by resource, in the order of the resources; `missing` None: all must be there."""
    by_name, known = with_names(values, owner), set(resources)
    for resource in by_name:
        if resource not in known:
            verb = "demands" if owner.startswith("user") and not owner.endswith("weight") else "names"
            raise InstanceError(
                f"{owner} {verb} {resource!r}, but the cluster has {some(resources)}{suggestion(resource, resources)}"
            )
    for resource in resources if missing is None else ():
        if resource not in by_name:
            raise InstanceError(f"{owner} says nothing of {resource!r}: write 0 where there is none")
    return [by_name.get(resource, missing) for resource in resources]


def by_user(values: Any, users: Sequence[str], what: str, missing: Any) -> list:
    """Return what is said of each user, in the order of the users: `missing` of who is not in a mapping.

    Of a frame, a user has a dict of the cells that are not empty.
    """
    found = labels(values)
    if found:
        rows = aligned(values, what, ("user", users), ("resource", None)).tolist()
        if len(rows) != len(users):
            raise InstanceError(f"{what} are {len(rows)} for {len(users)} users: give every user one")
        if len(found) == 1:
            return rows
        columns = found[1] or tuple(map(str, range(len(rows[0]))))
        # What is not equal to itself is NaN, an empty cell.
        return [{r: cell for r, cell in zip(columns, row, strict=True) if not _empty(cell)} for row in rows]
    if not isinstance(values, Mapping):
        raise InstanceError(f"{what} are of type {type(values).__name__}: give a mapping from user")
    by_name = with_names(values, what)
    _refuse_unknown(by_name, users, what, "user")
    return [by_name.get(user, missing) for user in users]


def _empty(cell: Any) -> bool:
    """Say whether a cell of a frame is empty: None, NaN, or what is neither equal to itself nor unequal."""
    return cell is None or (isinstance(cell, float) and cell != cell) or type(cell).__name__ == "NAType"


def as_sequence(values: Any) -> Any:
    """Return sequences and frames as list or array, everything else as it is."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ndarray):
        return values if values.dtype.kind in "fiu" else values.tolist()
    if isinstance(values, tuple | range):
        return list(values)
    return values


def unique(names: Sequence[str], what: str) -> tuple[str, ...]:
    """Return the names as a tuple; two equal ones, or an empty one, are an error."""
    if len(set(names)) < len(names):
        raise InstanceError(f"{what} {_twice(names)!r} is listed twice: give each {what} one name")
    if any(not name for name in names):
        raise InstanceError(f"a {what} has an empty name: give each {what} a name")
    return tuple(names)


def some(names: Sequence[str], most: int = 12) -> str:
    """Return the first names, and how many more there are."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


@dataclass(frozen=True)
class Places:
    """How an entry of a table is called in an error: title of the table, names along its axes."""

    title: str
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()
    row_word: str = "user"
    reason: str = ""
    least: str = "not be negative"

    def at(self, index: tuple[int, ...]) -> str:
        """Return the words for one entry, such as ``user 'A': demand of 'cpu'``."""
        names = (self.rows, self.columns) if self.row_word else (self.columns,)
        labels = [str(axis[i]) if len(axis) else str(i) for axis, i in zip(names, index, strict=False)]
        if not self.row_word:
            return f"{self.title} of {labels[0]!r}"
        of = f" of {labels[1]!r}" if len(labels) > 1 else ""
        return f"{self.row_word} {labels[0]!r}: {self.title}{of}"
