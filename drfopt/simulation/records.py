"""What happened, as tables for other programs: a row a job, or a row a sample and user; CSV or Parquet."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import DrfoptError, InstanceError
from ..io.text.files import path_of, write_whole
from .run import Run

__all__ = ["SUFFIXES", "checked_suffix", "job_table", "timeline_table", "write_table"]

SUFFIXES = (".csv", ".parquet")
"""What a table's file may end in."""

Columns = dict[str, np.ndarray]


def job_table(runs: Iterable[Run]) -> Columns:
    """Return a row for every job of every run: rule, replication, user, job, and the columns of ``Run.jobs``."""
    return _stacked(_jobs(run) for run in runs)


def timeline_table(runs: Iterable[Run]) -> Columns:
    """Return a row for every sample and user of every run: what she runs and has waiting, and her shares."""
    return _stacked(_timeline(run) for run in runs)


def _jobs(run: Run) -> Columns:
    count = len(run.jobs["user"])
    users = np.array(run.users, dtype=object)
    names = [[job.name or f"job {k}" for k, job in enumerate(user.jobs, 1)] for user in run.scenario.users]
    called = [names[user][job] for user, job in zip(run.jobs["user"].tolist(), run.jobs["job"].tolist(), strict=True)]
    return {
        "rule": np.full(count, run.rule, dtype=object),
        "replication": np.full(count, run.replication),
        "user": users[run.jobs["user"]],
        "job": np.array(called, dtype=object),
        **{name: run.jobs[name] for name in ("number", "arrival", "begun", "finished", "closed", "tasks")},
    }


def _timeline(run: Run) -> Columns:
    samples = run.samples
    s, n = samples.running.shape
    shares = samples.shares
    return {
        "rule": np.full(s * n, run.rule, dtype=object),
        "replication": np.full(s * n, run.replication),
        "time": np.repeat(samples.times, n),
        "user": np.tile(np.array(run.users, dtype=object), s),
        "running": samples.running.ravel(),
        "waiting": samples.waiting.ravel(),
        "dominant_share": samples.dominant_shares.ravel(),
        **{f"share_{name}": shares[:, :, j].ravel() for j, name in enumerate(run.resources)},
    }


def _stacked(tables: Iterable[Columns]) -> Columns:
    found = list(tables)
    if not found:
        raise InstanceError("there is no run to write down: simulate at least one")
    return {name: np.concatenate([table[name] for table in found]) for name in found[0]}


def checked_suffix(path: str | Path) -> str:
    """Return what a table's file ends in.

    Raises
    ------
    InstanceError
        When it is neither of `SUFFIXES`.
    DrfoptError
        When it asks for Parquet, and pyarrow is not installed.
    """
    suffix = path_of(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InstanceError(f"{path}: a table is written as {' or '.join(SUFFIXES)}: let the name end in one of them")
    if suffix == ".parquet":
        _parquet()
    return suffix


def write_table(path: str | Path, columns: Columns) -> None:
    """Write a table to a file, whole or not at all: CSV or Parquet by its suffix.

    Numbers are written in full; what has not happened, such as the end of a job, is an empty cell, in
    Parquet null.
    """
    write_whole(path, _bytes_of_parquet(columns) if checked_suffix(path) == ".parquet" else _text_of_csv(columns))


def _text_of_csv(columns: Columns) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    lists = [["" if value != value else value for value in column.tolist()] for column in columns.values()]
    writer.writerows(zip(*lists, strict=True))
    return out.getvalue()


def _bytes_of_parquet(columns: Columns) -> bytes:
    arrow, parquet = _parquet()
    table = arrow.table({name: arrow.array(column, from_pandas=True) for name, column in columns.items()})
    out = io.BytesIO()
    parquet.write_table(table, out)
    return out.getvalue()


def _parquet() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError:
        raise DrfoptError('Parquet needs pyarrow, which is not installed: pip install "drfopt[parquet]"') from None
    return pyarrow, pyarrow.parquet
