"""Public traces of clusters, read into plain arrays, and what of the paper's figures they can show.

A trace is not carried by the package: get its file and pass the path.
"""

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...base.errors import InstanceError
from ...io.text.files import failure, read_text, shown

__all__ = ["columns"]


def columns(path: str | Path, names: Sequence[str], *, header: bool, delimiter: str = ",") -> dict[str, np.ndarray]:
    """Return columns of numbers, 0 or more, as float arrays, one entry a line.

    Parameters
    ----------
    path : file of text
    names : which columns; without a header all there are, in order, an empty name for one to leave out
    header : whether the first line names the columns; others than `names` are left out

    Raises
    ------
    InstanceError
        With file, line and value, when a column is missing or an entry is not a number, 0 or more.
    """
    text = read_text(str(path))
    lines = csv.reader(io.StringIO(text), delimiter=delimiter)
    where = {name: k for k, name in enumerate(names) if name}
    if header:
        found = next(lines, [])
        if missing := [name for name in names if name not in found]:
            raise InstanceError(
                f"{path}: column {missing[0]!r} is missing: the first line must name {', '.join(names)}"
            )
        where = {name: found.index(name) for name in names}
    width = len(found) if header else len(names)
    kept: dict[str, list[float]] = {name: [] for name in where}
    for row in lines:
        place = f"{path}, line {lines.line_num}"
        if not row:
            continue
        if len(row) != width:
            raise failure(place, f"there are {len(row)} columns: {width} were expected")
        for name, k in where.items():
            kept[name].append(_number(row[k], place, name))
    if not any(kept.values()):
        raise InstanceError(f"{path}: there are no rows: expected one a line, of {', '.join(where)}")
    return {name: np.array(values) for name, values in kept.items()}


def _number(text: str, place: str, name: str) -> float:
    try:
        value = float(text) if text.isascii() else math.nan
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise failure(place, f"{name} is {shown(text)}: write a number, 0 or more")
    return value
