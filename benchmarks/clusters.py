"""Questions about machines: made clusters, and the public openb trace from its files to a comparison."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from drfopt.io.readers.asking import read
from drfopt.model.allocation import Allocation
from drfopt.model.instance import Instance
from drfopt.solving.allocating import solve
from drfopt.solving.comparing import Comparison, compare

from . import peers
from .families import cluster
from .measure import Absent, Bench, Case, Failure, Row, Verdict, Way, proven
from .pools import STATEMENTS, engine_way, levels_of, market, one_lp
from .reference import attempt, lowest, off

__all__ = ["Shape", "cut", "data_folder", "machines", "openb", "small_markets"]

SLOW_CHAIN = 200
"""Users up to which the chain with one LP a user is asked on machines."""

ON_MACHINES = tuple(STATEMENTS)[:3]
"""On machines a user's level is a sum over classes, and needs its row."""

FILES = ("openb_node_list_all_node.csv", "openb_pod_list_gpuspec33.csv")

FIRST_LEVEL, MOST_TASKS = 8.08090e-4, 7960.73
"""Of openb, recorded to six digits by other programs before this package had any: the highest level that everybody
can have, if nobody has a limit; and the most tasks, divisible, within the limits."""


@dataclass(frozen=True)
class Shape:
    """A made cluster: users, classes, whether users have limits, and the part of the classes open to a user."""

    n: int
    k: int
    limited: bool = False
    open_to: float = 0.3

    @property
    def name(self) -> str:
        """What it is called in a table."""
        return f"{self.n:,} x {self.k}, {self.open_to:.0%} open" + (", limits" if self.limited else "")

    def build(self) -> Instance:
        """Make it."""
        return cluster(self.n, self.k, limited=self.limited, open_to=self.open_to)


def machines(bench: Bench, size: Shape) -> list[Row]:
    """Measure DRF and CEEI on a made cluster."""
    slow = size.n <= SLOW_CHAIN
    levels = attempt(lambda: peers.one_lp_a_user(size.build())) if slow else None
    fair = Case(
        group="drf",
        name=size.name,
        n=size.n,
        build=size.build,
        reference="the chain with one LP a user",
        ways=(
            Way(
                "drfopt lp-chain",
                "drfopt",
                lambda instance: solve(instance, "drf", engine="lp-chain", time_limit=bench.limit),
                lambda instance, allocation: _chain_verdict(allocation, levels),
            ),
            *(one_lp(statement, bench.limit, levels) for statement in ON_MACHINES),
            levels_of("one LP a user", peers.one_lp_a_user, None, SLOW_CHAIN, "thousands of programs"),
        ),
    )
    return bench.measure("machines", fair) + bench.measure("machines", _nash(bench, size))


def small_markets(bench: Bench, size: Shape) -> list[Row]:
    """Measure CEEI on a cluster of some dozen users."""
    return bench.measure("small-markets", _nash(bench, size))


def _nash(bench: Bench, size: Shape) -> Case:
    tasks = attempt(lambda: solve(size.build(), "ceei", engine="conic").tasks)
    return Case(
        group="ceei",
        name=size.name,
        n=size.n,
        build=size.build,
        reference="the conic engine, polished",
        yardstick="cvxpy + Clarabel",
        ways=(
            engine_way("ceei", "barrier", bench.limit, lambda allocation: off(allocation.tasks, tasks)),
            engine_way("ceei", "conic", bench.limit),
            market("CLARABEL", "yardstick", bench.limit, tasks),
        ),
    )


def _chain_verdict(allocation: Allocation, levels: np.ndarray | None) -> Verdict:
    rounds = len(allocation.certificate.evidence.rounds)
    return proven(allocation.certificate, off(allocation.levels, levels), f"rounds: {rounds}")


def data_folder() -> Path:
    """Return the folder of the public traces that DRFOPT_DATA names; without one, a folder that is not there."""
    return Path(os.environ.get("DRFOPT_DATA") or "DRFOPT_DATA is not set")


def openb(bench: Bench, pods: int | None) -> list[Row]:
    """Measure the openb trace end to end; `pods` cuts the list for a quick look, None takes all."""
    files = [data_folder() / "openb" / name for name in FILES]
    if not all(file.is_file() for file in files):
        return bench.measure("openb", Case("openb", "gpuspec33", 0, lambda: None, (_missing(),)))
    with tempfile.TemporaryDirectory() as folder:
        if pods is not None:
            files = [cut(file, pods, Path(folder)) for file in files]
        whole = read("openb", files).instance
        whole.save(Path(folder) / "openb.toml")
        return bench.measure("openb", _trace(bench, files, Path(folder) / "openb.toml", whole, pods is None))


def _trace(bench: Bench, files: list[Path], saved: Path, whole: Instance, complete: bool) -> Case:
    seconds = bench.limit

    def solved(label: str, policy: str, judge: Callable[[Instance, Allocation], Verdict] = _proof) -> Way:
        return Way(label, "drfopt", lambda i: solve(i, policy, time_limit=seconds), judge)

    def first_level(instance: Instance, allocation: Allocation) -> Verdict:
        error = abs(lowest(allocation.levels, allocation.instance) / FIRST_LEVEL - 1) if complete else None
        return proven(allocation.certificate, error, "of the lowest level")

    def most_tasks(instance: Instance, allocation: Allocation) -> Verdict:
        error = abs(allocation.tasks.sum() / MOST_TASKS - 1) if complete else None
        return proven(allocation.certificate, error, "of the sum")

    return Case(
        group="openb",
        name=f"{whole.n} users, {whole.k} classes",
        n=whole.n,
        build=lambda: Instance.load(saved),
        reference="six recorded digits",
        ways=(
            *(one_lp(statement, seconds, None) for statement in ON_MACHINES),
            Way("convert", "drfopt", lambda instance: read("openb", files).instance),
            solved("drf", "drf"),
            Way(
                "drf, no limits", "drfopt", lambda i: solve(_without_limits(i), "drf", time_limit=seconds), first_level
            ),
            solved("asset", "asset"),
            solved("ceei", "ceei"),
            Way("ceei, conic engine", "drfopt", lambda i: solve(i, "ceei", engine="conic", time_limit=seconds), _proof),
            solved("utilitarian", "utilitarian"),
            solved("throughput", "throughput", most_tasks),
            Way("compare, three policies", "drfopt", lambda i: compare(i, time_limit=seconds), _all_proven),
            Way("the command drfopt compare", "drfopt", lambda i: _command(saved, seconds)),
        ),
    )


def _proof(instance: Instance, allocation: Allocation) -> Verdict:
    return proven(allocation.certificate)


def _all_proven(instance: Instance, comparison: Comparison) -> Verdict:
    refused = ", ".join(comparison.refusals)
    valid = all(allocation.certificate.valid for allocation in comparison.allocations) and not refused
    return Verdict(proof="valid" if valid else "invalid", note=f"refused: {refused}" if refused else "")


def _missing() -> Way:
    def run(instance: None) -> None:
        raise Absent("the trace is not there: set DRFOPT_DATA to the folder that has openb/")

    return Way("convert", "drfopt", run)


def cut(file: Path, rows: int, folder: Path) -> Path:
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    short = folder / file.name
    short.write_text("".join(lines[: rows + 1]), encoding="utf-8")
    return short


def _without_limits(instance: Instance) -> Instance:
    return Instance(
        instance.demands,
        machines=instance.machines,
        eligible=np.array(instance.eligible),
        users=instance.users,
        resources=instance.resources,
    )


def _command(saved: Path, seconds: float) -> None:
    words = [sys.executable, "-m", "drfopt", "compare", str(saved), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=10 * seconds, check=False)
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or ["nothing on standard error"]
        raise Failure(f"exit status {done.returncode}: {last[0]}")
