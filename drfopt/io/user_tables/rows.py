"""Where users are: row groups of Parquet files, or partitions of a Dask frame; only the ends of files are read."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from ...base.errors import EngineError, renaming, suggestion
from ..text.files import failure
from .cluster import SPECIAL, BareCluster

__all__ = ["UserRows", "check_columns", "kind_of", "kinds_of", "opened", "parquet", "rows_of_files", "rows_of_frame"]

PART = 1 << 20
"""Users of a part at most, unless a row group has more: they and what is computed from them take some 100 MB."""

PAIRS = 1 << 20
"""Pairs of a user and a class of machines that a part has at most, for the same reason, and so that workers have equal
loads; row groups are divided."""


@dataclass(frozen=True)
class UserRows:
    """Some users: row groups of a Parquet file, or a partition of a frame.

    Attributes
    ----------
    path : str
        The file; of a frame what errors call it.
    groups : tuple of int
        Row groups of the file.
    first, n : int
        The first row, counted from 0 in the file, and how many there are; of a frame 0 until it is looked at.
    stem : str
        What the answer's file is called, without suffix.
    frame : object or None
        What returns the pandas frame when it is called.
    skip : int or None
        Rows of a row group before these, where there are others in it; None where all are these.
    columns : tuple of str
        Which of the columns that are not resources may be there: of a file those that are, of a frame all.
    """

    path: str
    groups: tuple[int, ...] = ()
    first: int = 0
    n: int = 0
    stem: str = ""
    frame: Any = field(default=None, repr=False)
    skip: int | None = None
    columns: tuple[str, ...] = SPECIAL


def parquet() -> Any:
    """Return ``pyarrow.parquet``.

    Raises
    ------
    EngineError
        When it is not installed.
    """
    try:
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise EngineError('Parquet needs pyarrow, which is not installed: pip install "drfopt[parquet]"') from None
    return pyarrow.parquet


def rows_of_files(path: str | Path, cluster: BareCluster) -> list[UserRows]:
    """Return where the users are that a folder of Parquet files, or one such file, holds.

    Only the ends of the files are read, which say what columns there are and how many rows.

    Raises
    ------
    InstanceError
        When there is no file, a file cannot be read, or its columns are not those of the cluster.
    """
    reader, folder = parquet(), Path(path)
    files = [folder] if folder.is_file() else sorted(folder.glob("*.parquet"))
    if not folder.exists():
        raise failure(str(path), "there is no such folder: check the name")
    if not files:
        raise failure(str(path), "has no files *.parquet: name the folder that they are in")
    found: list[UserRows] = []
    first: tuple[str, dict[str, str]] | None = None
    for file in files:
        with opened(file), reader.ParquetFile(file) as end:
            meta, kinds, names = end.metadata, kinds_of(end.schema_arrow), end.schema_arrow.names
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise failure(str(file), f"has two columns {twice!r}: leave one out")
        check_columns(str(file), kinds, cluster)
        if first is None:
            first = (str(file), kinds)
        elif set(kinds) != set(first[1]):
            name = min(set(kinds) ^ set(first[1]))
            has, lacks = (str(file), first[0]) if name in kinds else (first[0], str(file))
            raise failure(has, f"has a column {name!r} that {lacks} lacks: give all files the same columns")
        elif kinds.get("name") != first[1].get("name"):
            other = f"{kinds['name']}, and that of {first[0]} {first[1]['name']}"
            raise failure(str(file), f"column 'name' holds {other}: write one of them in all files")
        sizes = [meta.row_group(q).num_rows for q in range(meta.num_row_groups)]
        most = None if cluster.machines is None else max(1, PAIRS // len(cluster.machines))
        special = tuple(name for name in SPECIAL if name in kinds)
        found += [replace(rows, columns=special) for rows in _cut(file, sizes, most)]
    if not found:
        raise failure(str(path), "its files have no rows: put users into them")
    return found


def _cut(file: Path, sizes: list[int], most: int | None) -> list[UserRows]:
    """Return the parts of a file whose row groups have so many rows; `most` divides row groups that have more."""
    cut: list[tuple[int, list[int], int, int | None]] = []
    start = 0
    for group, size in enumerate(sizes):
        last = cut[-1] if cut else None
        if most is not None and size > most:
            pieces = -(-size // most)
            edges = [size * q // pieces for q in range(pieces + 1)]
            cut += [(start + a, [group], b - a, a) for a, b in pairwise(edges)]
        elif last is not None and last[3] is None and last[2] + size <= (PART if most is None else most):
            cut[-1] = (last[0], [*last[1], group], last[2] + size, None)
        elif size:
            cut.append((start, [group], size, None))
        start += size
    several = len(cut) > 1
    return [
        UserRows(str(file), tuple(groups), first, n, f"{file.stem}-{q:04d}" if several else file.stem, skip=skip)
        for q, (first, groups, n, skip) in enumerate(cut)
    ]


def rows_of_frame(frame: Any) -> list[UserRows]:
    """Return where the users are of a Dask frame: its partitions, which are asked for one at a time."""
    return [
        # A worker that is at work on the partition makes it itself.
        UserRows(f"partition {q}", stem=f"part-{q:05d}", frame=partial(part.compute, scheduler="synchronous"))
        for q, part in enumerate(frame.to_delayed())
    ]


@contextlib.contextmanager
def opened(file: Any) -> Iterator[None]:
    """Turn what pyarrow says of a file into one line that names it."""
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise failure(str(file), f"cannot be read as Parquet ({reason}): check it, or write it again") from None


def kinds_of(schema: Any) -> dict[str, str]:
    """Return what the columns of an Arrow schema hold; an index that pandas made up is none of them."""
    return {field.name: kind_of(field.type) for field in schema if not field.name.startswith("__")}


def kind_of(kind: Any) -> str:
    """Return what a column holds: ``number``, ``text``, ``texts``, or its type where it is none of these."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_integer(kind) or types.is_floating(kind):
        return "number"
    if types.is_null(kind):
        return "nothing"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    if (types.is_list(kind) or types.is_large_list(kind)) and kind_of(kind.value_type) in ("text", "nothing"):
        return "texts"
    return str(kind)


def check_columns(place: str, kinds: Mapping[str, str], cluster: BareCluster) -> None:
    """Raise when columns are missing, unknown, or of another type."""
    pool = cluster.machines is None
    known = (*cluster.resources, *SPECIAL)
    for name in cluster.resources:
        if name not in kinds:
            raise failure(
                place,
                f"has no column {name!r}"
                + (
                    renaming(name, [kind for kind in kinds if kind not in known])
                    or ": add it (0 for who needs none), or leave that resource out of the cluster"
                ),
            )
    for name, kind in kinds.items():
        if name not in known:
            near = suggestion(name, known)
            raise failure(place, f"has a column {name!r}, which is neither a resource nor one of {', '.join(SPECIAL)}"
                          f"{near or ': leave it out'}")  # fmt: skip
        asked = {"name": ("text", "number"), "machines": ("text", "texts", "nothing")}.get(name, ("number",))
        if name in ("weight", "max_tasks"):
            asked = ("number", "nothing")
        if kind not in asked:
            wanted = {"name": "text or numbers", "machines": 'names of classes such as "large|small"'}.get(
                name, "numbers"
            )
            raise failure(place, f"column {name!r} holds {kind}: write {wanted}")
    if pool and "machines" in kinds:
        raise failure(place, "has a column 'machines', but the cluster is one pool: give machines, or leave it out")
