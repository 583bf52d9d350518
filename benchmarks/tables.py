"""Users in Parquet files, made part by part, and what dividing them costs against reading them once.

``python -m benchmarks.tables FOLDER --users 10000000 --classes 30`` makes a folder ``users`` and a file
``cluster.toml`` there and keeps them; the question makes its own and takes them away.
"""

import argparse
import os
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from drfopt.base.partitions import quietly
from drfopt.solving.partitioned import PartitionedAllocation, solve_partitions

from .measure import Bench, Case, Row, Verdict, Way, proven

__all__ = ["Files", "divided", "write"]

RESOURCES = ("cpu", "memory", "disk", "gpu")

GROUP = 1 << 17
"""Users of a row group."""

SETS = 500
"""Different sets of classes that users have, where not all are open to everybody."""

FILE = 8 * GROUP
"""Users of a file."""


@dataclass(frozen=True)
class Files:
    """Users with four demands each, all above 0; classes of machines, so large a part open to each, or one pool."""

    n: int
    classes: int = 0
    workers: tuple[int, ...] = (1, 2)
    memory: str = "4GiB"
    policy: str = "drf"
    open_to: float = 1.0

    def __str__(self) -> str:
        some = "" if self.open_to == 1 else f", {self.open_to:.0%} open"
        where = f"{self.classes} classes{some}" if self.classes else "one pool"
        return f"{self.n:,} x {len(RESOURCES)}, {where}, {self.policy}"


@dataclass(frozen=True)
class Cost:
    """An answer, processor seconds and peak memory (bytes) of every worker, and processor seconds of who asked."""

    answer: PartitionedAllocation
    workers: list[tuple[float, float]]
    here: float

    def __str__(self) -> str:
        cpu = ", ".join(f"{seconds:.0f}" for seconds, _ in self.workers)
        peak = ", ".join(f"{size / 2**30:.2f}" for _, size in self.workers)
        path = self.here + max(seconds for seconds, _ in self.workers)
        return f"CPU of workers {cpu} s, here {self.here:.0f} s, longest path {path:.0f} s; peak of each {peak} GiB"


def write(folder: Path, size: Files, seed: int = 0) -> None:
    """Make the files of `size` in a folder."""
    import pyarrow
    from pyarrow import parquet

    random = np.random.default_rng(seed)
    users = folder / "users"
    users.mkdir(parents=True)
    used = np.zeros(len(RESOURCES))
    sets = _class_sets(random, size)
    for number, start in enumerate(range(0, size.n, FILE)):
        demands = random.integers(1, 1000, (min(FILE, size.n - start), len(RESOURCES))) / 8.0
        used += demands.sum(axis=0)
        table = pyarrow.table(dict(zip(RESOURCES, demands.T, strict=True)))
        if sets:
            mine = pyarrow.array(random.integers(0, len(sets), len(demands), dtype=np.int32))
            table = table.append_column("machines", pyarrow.DictionaryArray.from_arrays(mine, sets))
        parquet.write_table(table, users / f"part-{number:05d}.parquet", row_group_size=GROUP, use_dictionary=False)
    rooms = used * random.uniform(0.5, 2.0, (max(1, size.classes), len(RESOURCES)))
    rows = ["[" + ", ".join(f"{room:.1f}" for room in rows) + "]" for rows in rooms]
    rows = [
        ", ".join(f"{name} = {room}" for name, room in zip(RESOURCES, row[1:-1].split(", "), strict=True))
        for row in rows
    ]
    text = (
        "".join(f'[[machines]]\nname = "class{k}"\ncapacity = {{ {row} }}\n' for k, row in enumerate(rows))
        if size.classes
        else "[capacity]\n" + rows[0].replace(", ", "\n") + "\n"
    )
    (folder / "cluster.toml").write_text(text, encoding="utf-8")


def _class_sets(random: np.random.Generator, size: Files) -> list[str]:
    """Return texts that name the classes open to some users; none where all are open to everybody."""
    if not size.classes or size.open_to == 1:
        return []
    many = max(1, round(size.classes * size.open_to))
    orders = [random.permutation(size.classes) for _ in range(SETS)]
    return ["|".join(f"class{k}" for k in sorted(order[:many].tolist())) for order in orders]


@contextmanager
def _made(size: Files) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), size)
        yield Path(folder)


def _read(folder: Path) -> None:
    """Read every column of every file once, a row group at a time."""
    from pyarrow import parquet

    for path in sorted((folder / "users").glob("*.parquet")):
        with parquet.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                file.read_row_group(group)


def _spent() -> tuple[float, float]:
    """Return processor seconds and peak memory in bytes of this process."""
    times = os.times()
    return times.user + times.system, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def _divide(folder: Path, size: Files, workers: int) -> Cost:
    """Divide the users with so many workers of Dask."""
    from distributed import Client, LocalCluster

    answer = folder / f"answer-{workers}"
    shutil.rmtree(answer, ignore_errors=True)
    with (
        quietly(),
        LocalCluster(
            n_workers=workers, threads_per_worker=1, memory_limit=size.memory, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        before, here = client.run(_spent), time.process_time()
        found = solve_partitions(
            folder / "users",
            folder / "cluster.toml",
            size.policy,
            output=answer,
            dask=cluster.scheduler_address,
        )
        here, after = time.process_time() - here, client.run(_spent)
    shutil.rmtree(answer, ignore_errors=True)
    costs = [(seconds - before.get(key, (0.0, 0.0))[0], peak) for key, (seconds, peak) in after.items()]
    return Cost(found, costs, here)


def divided(bench: Bench, size: Files) -> list[Row]:
    """Measure one folder: reading once, and dividing with every number of workers."""

    def way(workers: int) -> Way:
        run: Callable[[Any], Cost] = lambda folder: _divide(folder, size, workers)  # noqa: E731
        return Way(f"drfopt, {workers} of {size.memory}", "drfopt", run, _judged)

    with _made(size) as folder:
        case = Case(
            group=size.policy,
            name=str(size),
            n=size.n,
            build=lambda: folder,
            yardstick="reading once with pyarrow",
            ways=(Way("reading once with pyarrow", "yardstick", _read), *map(way, size.workers)),
        )
        return bench.measure("markets-in-files" if size.policy == "ceei" and size.classes else "users-in-files", case)


def _judged(folder: Path, cost: Cost) -> Verdict:
    rounds = getattr(cost.answer.certificate.evidence, "rounds", ())
    return proven(cost.answer.certificate, note=f"{cost}; partitions: {cost.answer.partitions}; rounds: {len(rounds)}")


def main() -> None:
    """Make the files, and keep them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--users", type=int, default=1_000_000)
    parser.add_argument("--classes", type=int, default=0, help="of machines; none is one pool")
    parser.add_argument("--open-to", type=float, default=1.0, help="part of the classes that a user may use")
    parser.add_argument("--divide", type=int, metavar="WORKERS", nargs="*", help="and divide them with so many workers")
    parser.add_argument("--memory", default="4GiB", help="of a worker")
    asked = parser.parse_args()
    size = Files(asked.users, asked.classes, memory=asked.memory, open_to=asked.open_to)
    if not asked.folder.exists():
        write(asked.folder, size)
    begun = time.perf_counter()
    _read(asked.folder)
    print(f"reading once: {time.perf_counter() - begun:.1f} s", flush=True)
    for workers in asked.divide or ():
        cost = _divide(asked.folder, size, workers)
        print(f"{workers} workers: {cost.answer.seconds:.1f} s; {cost}", flush=True)
        print(cost.answer, flush=True)


if __name__ == "__main__":
    main()
