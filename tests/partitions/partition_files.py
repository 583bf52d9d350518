"""Users in Parquet files for the tests: pools made to be awkward, cut into files and row groups."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow
from pyarrow import parquet

from drfopt import Machine

RESOURCES = ("cpu", "memory", "disk")


def awkward_pool(seed, n, limited=True, weighted=False):
    """Return columns and capacities: zero demands, equal users, limits of 0, and some that meet a level exactly."""
    rng = np.random.default_rng(seed)
    demands = rng.integers(0, 4, (n, 3)).astype(float) if seed % 2 else rng.random((n, 3)) * (rng.random((n, 3)) < 0.7)
    demands[demands.sum(axis=1) == 0, seed % 3] = 1
    columns = {name: demands[:, j] for j, name in enumerate(RESOURCES)}
    if limited:
        limits = rng.integers(0, 5, n) * (4.0 / n) * rng.choice([1.0, 0.1, 7.0])
        columns["max_tasks"] = np.where(rng.random(n) < 0.6, limits, np.inf)
    if weighted:
        columns["weight"] = rng.integers(1, 4, n).astype(float)
    return columns, dict(zip(RESOURCES, [9.0, 18.0, 5.0], strict=True))


def write(folder, columns, files=2, group=None):
    """Write columns as so many files of row groups of a size; an infinite limit is an empty cell."""
    Path(folder).mkdir(exist_ok=True)
    arrays = {
        name: pyarrow.array(values, mask=np.isinf(values) if name == "max_tasks" else None)
        for name, values in columns.items()
        if name != "machines"
    }
    if "machines" in columns:
        arrays["machines"] = pyarrow.array([[f"c{k}" for k in np.flatnonzero(row)] for row in columns["machines"]])
    table = pyarrow.table(arrays)
    edges = np.linspace(0, table.num_rows, files + 1).astype(int).tolist()
    for q, (start, stop) in enumerate(pairwise(edges)):
        parquet.write_table(table.slice(start, stop - start), Path(folder, f"part-{q}.parquet"), row_group_size=group)
    return Path(folder)


def answer(folder):
    """Return the columns of an answer, file by file."""
    return pyarrow.concat_tables([parquet.read_table(path) for path in sorted(Path(folder).glob("*.parquet"))])


def awkward_cluster(seed, n, k=5, open_to=0.4, limited=0.5, weighted=False):
    """Return columns and machines: zero demands, equal users, closed classes, limits of 0, and who fits nowhere."""
    rng = np.random.default_rng(seed)
    demands = rng.integers(1, 30, (n, 3)) * (rng.random((n, 3)) < 0.6) * 1.0
    demands[demands.sum(axis=1) == 0, seed % 3] = 7
    demands[: n // 20] = demands[0]
    demands[-1, 0] = 1e6
    opened = rng.random((n, k)) < open_to
    opened[np.arange(n), rng.integers(0, k, n)] = True
    columns = {name: demands[:, j] for j, name in enumerate(RESOURCES)} | {"machines": opened}
    if limited:
        columns["max_tasks"] = np.where(rng.random(n) < limited, rng.choice([0, 0.5, 2, 5, 11], n), np.inf)
    if weighted:
        columns["weight"] = rng.integers(1, 4, n).astype(float)
    rooms = rng.integers(50, 200, (k, 3)) * n / k * 2
    return columns, [Machine(f"c{q}", dict(zip(RESOURCES, row.tolist(), strict=True))) for q, row in enumerate(rooms)]
