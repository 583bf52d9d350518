"""Names of users in tables: no two may be the same, wherever in the tables they are.

Names stay where they are.  What travels is a number of 64 bits for each, some million at a time; where two are equal,
the names themselves decide.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...base.partitions import Partitions
from ..text.files import failure
from .columns import names_of
from .rows import UserRows, kind_of

__all__ = ["check_names"]

AT_ONCE = 1 << 23
"""Names that are looked at in one pass, of as many as there are."""

ROWS = 1 << 15
"""Names whose letters are looked at in one go."""

SHOWN = 4
"""Numbers that two names share, which are followed up."""

ODD = np.uint64(0x9E3779B97F4A7C15)
"""Multiplies, so that every bit of a number depends on those below it."""


def check_names(parts: Partitions, n: int) -> None:
    """Raise when two users of the parts have one name.

    Parameters
    ----------
    parts : Partitions of UserRows
    n : int
        About how many users there are.

    Raises
    ------
    InstanceError
        With both rows, and the name.
    """
    passes = max(1, -(-n // AT_ONCE))
    for number in range(passes):
        found = [keys for keys in parts.each(_keys, number, passes, what="names") if keys is not None]
        if not found:
            return
        keys = np.sort(np.concatenate(found))
        shared = np.unique(keys[1:][keys[1:] == keys[:-1]])
        for start in range(0, len(shared), SHOWN):
            _compared(parts, shared[start : start + SHOWN])


def _compared(parts: Partitions, keys: np.ndarray) -> None:
    seen: dict[Any, tuple[str, int]] = {}
    for some in parts.each(_with_keys, keys, what="names"):
        for name, path, row in some:
            if name in seen:
                other, first = seen[name]
                where = f"row {first}" if other == path else f"{other}, row {first}"
                raise failure(
                    path,
                    f"column 'name', row {row} is {name!r}, as is {where}: give every user a name of its own, or "
                    "leave the column out",
                )
            seen[name] = (path, row)


def _keys(rows: UserRows, number: int, passes: int) -> np.ndarray | None:
    """Return the numbers of the names that this pass looks at; None where users have no names."""
    found = [keys[~empty] for _, keys, empty in _numbered(rows)]
    if not found:
        return None
    keys = np.concatenate(found)
    return keys if passes == 1 else keys[keys % np.uint64(passes) == number]


def _with_keys(rows: UserRows, keys: np.ndarray) -> list[tuple[Any, str, int]]:
    """Return names that have one of some numbers, and where they are."""
    found, start = [], rows.first
    for chunk, here, empty in _numbered(rows):
        for i in np.flatnonzero(np.isin(here, keys) & ~empty).tolist():
            found.append((chunk[i].as_py(), rows.path, start + i))
        start += len(here)
    return found


def _numbered(rows: UserRows) -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
    """Yield names of a part, a number for each, and which of them are empty cells."""
    import pyarrow

    column = names_of(rows)
    if column is None:
        return
    for chunk in column.chunks:
        for start in range(0, len(chunk), ROWS):
            some = chunk.slice(start, ROWS)
            empty = np.asarray(some.is_null())
            if hasattr(some, "dictionary_decode"):
                some = some.dictionary_decode()
            if kind_of(some.type) == "text":
                yield some, _of_texts(some.cast(pyarrow.large_string()).fill_null("")), empty
            else:
                values = some.fill_null(0).to_numpy(zero_copy_only=False)
                bits = values.astype(np.float64).view(np.uint64) if values.dtype.kind == "f" else values
                yield some, bits.astype(np.uint64) * ODD, empty


def _of_texts(texts: Any) -> np.ndarray:
    """Return a number for each text: its letters, each times a number of its place."""
    _, offsets, letters = texts.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    found = np.zeros(len(texts), dtype=np.uint64)
    if letters is None or ends[-1] == ends[0]:
        return found
    data = np.frombuffer(letters, dtype=np.uint8)[ends[0] : ends[-1]].astype(np.uint64)
    ends = ends - ends[0]
    lengths = np.diff(ends)
    place = np.arange(len(data)) - np.repeat(ends[:-1], lengths)
    weights = np.random.default_rng(0).integers(1 << 63, size=int(lengths.max()), dtype=np.uint64) | np.uint64(1)
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum((data + np.uint64(1)) * weights[place])])
    found = (sums[ends[1:]] - sums[ends[:-1]]) * ODD
    return found ^ (found >> np.uint64(32))
