"""Questions about what surrounds an answer: whether it grows in proportion to the users."""

import json
import math
import tempfile
import time
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from drfopt import compare, explain
from drfopt.certificates.document import certificate_document
from drfopt.io.native import writing
from drfopt.io.readers.asking import read
from drfopt.io.writers.exports import EXPORTS, export
from drfopt.model.allocation import Allocation
from drfopt.model.instance import Instance
from drfopt.planning.sweeping import sweep
from drfopt.solving.allocating import solve

from .families import family_named
from .listings import LISTINGS
from .measure import Bench, Case, Row, Verdict, Way

__all__ = ["BACK", "WAYS", "exponent", "files", "growth"]

ROWS = 10_000
"""Rows of a table that does not go to a terminal."""

WAYS: dict[str, Callable[[Allocation], Any]] = {
    "save": lambda found: writing.dumps(found.instance),
    "--certificate": lambda found: json.dumps(certificate_document(found)),
    "table": lambda found: found.sheet().text(rows=ROWS),
    "CSV": lambda found: found.sheet().csv(),
    "JSON": lambda found: json.dumps(found.to_dict()),
    "frame": lambda found: found.to_frame(),
    "LaTeX": lambda found: found.to_latex(),
    "HTML": lambda found: found.sheet().html(),
    "explanation": lambda found: explain(found.instance).sheet().text(rows=ROWS),
    "explain, JSON": lambda found: explain(found.instance).sheet().json(),
    "sweep of two": lambda found: sweep(found.instance, [1, 2], jobs=1),
    "compare of three": lambda found: compare(found.instance, ["drf", "asset", "tasks"]),
}
"""What is made of an allocation. Its exact values are made anew: they are kept once they are there."""


def growth(bench: Bench, size: tuple[str, int]) -> list[Row]:
    """Measure what surrounds an answer for n users, beside the answer."""
    family, n = size

    def judge(way: Callable[[Allocation], Any]) -> Callable[[Any, Any], Verdict]:
        return lambda found, answer: _grown(exponent(lambda users: _solved(family, users), way, n))

    ways = (
        Way("solve", "yardstick", lambda found: solve(found.instance)),
        *(Way(name, "drfopt", way, judge(way)) for name, way in WAYS.items()),
    )
    case = Case(family, f"n = {n:,}", n, lambda: _solved(family, n), ways, yardstick="solve")
    return bench.measure("growth", case)


BACK = {
    "resourcequota": "kubernetes",
    "fair-scheduler": "yarn",
    "capacity-scheduler": "yarn",
    "slurm-accounts": "slurm",
}
"""The reader of what is exported, where it is not called as the export is."""

UNREAD = ("csv",)
"""What no reader reads: a table of answers."""


def files(bench: Bench, n: int) -> list[Row]:
    """Measure every export of n users, the reading of the same file as queues that want everything, and of n tasks."""
    ways = [Way("solve", "yardstick", lambda found: solve(found.instance))]
    for row in EXPORTS:
        ways.append(_way(f"write {row.name}", lambda found, to=row.name: _exported(found, to), _queues, n))
        if row.name not in UNREAD:
            ways.append(_way(f"read {row.name}", lambda file, to=row.name: _read(file, to), _filed(row.name), n))
    for name, write in LISTINGS.items():
        made = partial(_listing, write)
        ways.append(_way(f"read tasks, {name}", lambda files, name=name: read(name, files).instance, made, n))
    case = Case("queues", f"n = {n:,}", n, lambda: _queues(n), tuple(ways), yardstick="solve")
    return bench.measure("growth-files", case)


def _way(name: str, way: Callable[[Any], Any], made: Callable[[int], Any], n: int) -> Way:
    """Return a way that works on what is made of n users beforehand."""
    ready: dict[int, Any] = {}

    def run(found: Allocation) -> Any:
        return way(ready.setdefault(n, found if made is _queues else made(n)))

    return Way(name, "drfopt", run, lambda found, answer: _grown(exponent(made, way, n)))


def _queues(n: int) -> Allocation:
    """Return the answer of n queues of a pool of processors and memory, with names that every format has."""
    demands = np.random.default_rng(n).integers(1, 9, (n, 2))
    return solve(Instance(demands, [8 * n, 8 * n], resources=["cpu", "memory"], users=[f"q{i}" for i in range(n)]))


def _exported(found: Allocation, to: str) -> str:
    return export(found, to, {} if to in UNREAD else {"memory": "memory:Gi"})


def _filed(to: str) -> Callable[[int], Path]:
    """Return who writes what is exported into a folder of its own, beside the machines it is for."""

    def made(n: int) -> Path:
        folder = Path(tempfile.mkdtemp(dir=_folder().name))
        (folder / "machines.csv").write_text(f"machine,count,cpu,memory\nm,{n // 2},16,16Gi\n")
        file = folder / (f"{to}.xml" if to in ("fair-scheduler", "capacity-scheduler") else "queues")
        file.write_text(_exported(_queues(n), to))
        return file

    return made


def _listing(write: Callable[[Path, int], list[Path]], n: int) -> list[Path]:
    """Return files that list n tasks, in a folder of their own."""
    return write(Path(tempfile.mkdtemp(dir=_folder().name)), n)


@lru_cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Return a folder that goes when this program ends."""
    return tempfile.TemporaryDirectory(prefix="drfopt-growth-")


def _read(file: Path, to: str) -> Instance:
    return read(BACK.get(to, to), file, machines=file.parent / "machines.csv", saturate=True).instance


def _grown(power: float) -> Verdict:
    return Verdict(note=f"exponent {power:.2f} from a quarter as many")


def exponent(made: Callable[[int], Any], way: Callable[[Any], Any], n: int, times: int = 3) -> float:
    """Return the power of n with which CPU seconds grow from a quarter of n users to n; the shortest times count."""
    small, large = (min(_cpu(made, way, size) for _ in range(times)) for size in (n // 4, n))
    return math.log(large / small, 4)


def _cpu(made: Callable[[int], Any], way: Callable[[Any], Any], n: int) -> float:
    found = made(n)
    begun = time.process_time()
    way(found)
    return time.process_time() - begun


def _solved(family: str, n: int) -> Allocation:
    instance: Instance = family_named(family).build(n)
    return solve(instance)
