"""One part of the users: from columns of a table to an instance, and from an answer to columns of a file.

Names of users: no two may be the same, wherever in the tables they are.  They stay where they are; what travels is a
number of 64 bits for each, some million at a time; where two are equal, the names themselves decide.
"""

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...base.errors import InstanceError, suggestion
from ...base.numbers.shown import ALL_DIGITS, in_full
from ...base.partitions import Partitions
from ...model.arrays import Gathered
from ...model.instance import Instance
from ..text.files import failure
from .cluster import BareCluster
from .rows import UserRows, check_columns, kind_of, kinds_of, opened, parquet

__all__ = ["at_row", "check_names", "load", "names_of", "read_columns", "write_columns"]

BETWEEN = "|"
"""What stands between the names of classes in a text."""


def load(rows: UserRows, cluster: BareCluster) -> Instance:
    """Return the users of a part as an instance, whose capacity is that of the whole cluster.

    Raises
    ------
    InstanceError
        With the file, the column, the row (counted from 0) and the remedy.
    """
    if rows.frame is None:
        table = _table(rows, ["weight", "max_tasks", "machines"])
        demands = _columns(rows, _tables(rows, cluster.resources), rows.n, cluster.resources)
    else:
        table = _table(rows, ())
        check_columns(rows.path, kinds_of(table.schema), cluster)
        demands = _columns(rows, [table], table.num_rows, cluster.resources)
    weights = _optional(rows, table, "weight", 1.0)
    limits = _optional(rows, table, "max_tasks", np.inf)
    # What these refuse names the file already.
    eligible = _eligible(rows, table, [machine.name for machine in cluster.machines or ()])
    try:
        return Instance(
            demands,
            None if cluster.capacity is None else list(cluster.capacity),
            machines=cluster.machines,
            resources=cluster.resources,
            weights=weights,
            max_tasks=limits,
            eligible=eligible,
        )
    except InstanceError as error:
        raise at_row(error, rows) from None


def at_row(error: Exception, rows: UserRows) -> Exception:
    """Return the error about a part, which calls users by their number there, as one about a row of its file."""
    text = re.sub(r"user 'u(\d+)'", lambda found: f"row {rows.first + int(found[1]) - 1}", str(error))
    return type(error)(f"{rows.path}: {text}")


def _table(rows: UserRows, wanted: Sequence[str]) -> Any:
    """Return the columns of a part that are there, as an Arrow table; of a frame all of them."""
    if rows.frame is not None:
        import pyarrow

        try:
            table = pyarrow.Table.from_pandas(rows.frame(), preserve_index=False)
        except pyarrow.ArrowException as error:
            raise failure(rows.path, f"is no table of users ({str(error).splitlines()[0]})") from None
        if not table.num_rows:
            raise failure(rows.path, "has no rows: give the frame other partitions, with its own 'repartition'")
        return table
    (table,) = _tables(rows, wanted, rows.groups)
    return table


def _tables(rows: UserRows, wanted: Sequence[str], *together: Sequence[int]) -> Iterator[Any]:
    """Yield the columns of a part of a file that are there, of row groups that are read `together`, or one by one.

    What is read of one before it is copied lies in memory that was used for the one before.
    """
    with opened(rows.path), parquet().ParquetFile(rows.path) as file:
        there = set(file.schema_arrow.names)
        names = [name for name in wanted if name in there]
        for groups in together or [(group,) for group in rows.groups]:
            table = file.read_row_groups(groups, names, use_threads=False)
            yield table if rows.skip is None else table.slice(rows.skip, rows.n)


def _optional(rows: UserRows, table: Any, name: str, missing: float) -> np.ndarray | None:
    """Return a column (n,) that may be left out, with what an empty cell stands for."""
    if name not in table.column_names:
        return None
    values = np.empty(table.num_rows)
    _numbers(rows, table, name, values, missing)
    if name == "weight" and not (values > 0).all():
        i = int((~(values > 0)).argmax())
        told = in_full(float(values[i]), ALL_DIGITS)
        raise failure(rows.path, f"column 'weight', row {rows.first + i} is {told}: write a positive number")
    if (values == missing).all():
        return None
    values.flags.writeable = False
    return values


def _columns(rows: UserRows, tables: Iterable[Any], n: int, names: Sequence[str]) -> np.ndarray:
    """Return columns of tables, one after the other, (n, m)."""
    found, start = Gathered(n, len(names)), 0
    for table in tables:
        for j, name in enumerate(names):
            at = start
            for chunk in table.column(name).chunks:
                if chunk.null_count:
                    i = rows.first + at + int(np.asarray(chunk.is_null()).argmax())
                    raise failure(rows.path, f"column {name!r}, row {i} is empty (null): write 0 for who needs none")
                odd = found.put(j, at, chunk.to_numpy(zero_copy_only=False))
                if odd is not None:
                    _refuse(rows, name, at, odd, ~((odd >= 0) & (odd < np.inf)))
                at += len(chunk)
        start += table.num_rows
    return found.table()


def _numbers(rows: UserRows, table: Any, name: str, out: np.ndarray, missing: float) -> None:
    """Write a column to an array (n,), and refuse what is no number from 0 on."""
    start = 0
    for chunk in table.column(name).chunks:
        here = out[start : start + len(chunk)]
        if chunk.null_count:
            empty = np.asarray(chunk.is_null())
            here[:] = missing
            here[~empty] = chunk.drop_null().to_numpy(zero_copy_only=False)
        else:
            here[:] = chunk.to_numpy(zero_copy_only=False)
        _refuse(rows, name, start, here, ~(here >= 0) | ((here == np.inf) & (missing != np.inf)))
        start += len(chunk)


def _refuse(rows: UserRows, name: str, start: int, values: np.ndarray, bad: np.ndarray) -> None:
    """Raise where some of the values of a column, from a row of a part on, are bad."""
    if bad.any():
        i = int(bad.argmax())
        rule = "it must not be negative" if -np.inf < values[i] < 0 else "write a finite number, 0 or more"
        told = in_full(float(values[i]), ALL_DIGITS)
        raise failure(rows.path, f"column {name!r}, row {rows.first + start + i} is {told}: {rule}")


def _eligible(rows: UserRows, table: Any, classes: Sequence[str]) -> np.ndarray | None:
    """Return which classes are open to users, bool (n, k); None where that is not said."""
    if "machines" not in table.column_names or table.column("machines").null_count == table.num_rows:
        return None
    number = {name: k for k, name in enumerate(classes)}
    allowed = np.zeros((table.num_rows, len(classes)), dtype=bool)
    start = 0
    for chunk in table.column("machines").chunks:
        here = allowed[start : start + len(chunk)]
        empty = np.asarray(chunk.is_null())
        if kind_of(chunk.type) == "texts":
            lengths = np.asarray(chunk.value_lengths().fill_null(0))
            owner = np.repeat(np.arange(len(chunk)), lengths)
            each = chunk.flatten().dictionary_encode()
            if each.null_count:
                i = rows.first + start + int(owner[np.asarray(each.is_null()).argmax()])
                raise failure(
                    rows.path, f"column 'machines', row {i} names an empty class (null): name a class, or leave it out"
                )
            names = [[name] for name in each.dictionary.to_pylist()]
        else:
            owner = np.flatnonzero(~empty)
            each = chunk.drop_null()
            each = each if hasattr(each, "dictionary") else each.dictionary_encode()
            names = [text.split(BETWEEN) if text else [] for text in each.dictionary.to_pylist()]
        sets = np.zeros((len(names), len(classes)), dtype=bool)
        code = np.asarray(each.indices)
        for q in np.unique(code):  # A dictionary may have words that no row uses.
            for name in names[q]:
                if name not in number:
                    i = rows.first + start + int(owner[(code == q).argmax()])
                    near = suggestion(str(name).strip(), classes)
                    known = near or f": the classes are {', '.join(classes)}"
                    raise failure(rows.path, f"column 'machines', row {i} names the class {name!r}{known}")
                sets[q, number[name]] = True
        if len(names):
            np.logical_or.at(here, owner, sets[code]) if kind_of(chunk.type) == "texts" else here.__setitem__(
                owner, sets[code]
            )
        here[empty] = True
        start += len(chunk)
    return allowed


def names_of(rows: UserRows) -> Any:
    """Return the column of names of a part as an Arrow array, None where there is none."""
    if "name" not in rows.columns:
        return None
    table = _table(rows, ["name"])
    return table.column("name") if "name" in table.column_names else None


def read_columns(folder: str, stem: str) -> dict[str, np.ndarray]:
    """Return the numbers of a part's answer, by column, as they were written."""
    path = Path(folder) / f"{stem}.parquet"
    with opened(path), parquet().ParquetFile(path) as file:
        table = file.read([name for name in file.schema_arrow.names if name != "name"], use_threads=False)
    return {name: table.column(name).to_numpy() for name in table.column_names}


def write_columns(folder: str, stem: str, columns: Mapping[str, Any]) -> None:
    """Write columns of a part's answer as ``stem.parquet``, which is there whole or not at all.

    Two workers may come to write the same part, when one was thought to be dead: the last one's file is kept.
    """
    import pyarrow

    target = Path(folder) / f"{stem}.parquet"
    part = target.with_name(f".{secrets.token_hex(6)}.part")
    try:
        # Floats of an answer are all different, and the digits of tasks too: nothing is found that could be shorter.
        parquet().write_table(
            pyarrow.table(dict(columns)),
            part,
            use_dictionary=["name"] if "name" in columns else False,
            compression={name: "none" if name == "tasks" else "snappy" for name in columns},
        )
        part.replace(target)
    except OSError as error:
        raise failure(
            str(target), f"cannot be written ({error.strerror or error}): make room, or name another folder"
        ) from None
    finally:
        part.unlink(missing_ok=True)


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
    if not any("name" in rows.columns for rows in parts.sources):
        return
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
