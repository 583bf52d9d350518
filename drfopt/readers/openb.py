"""The openb traces of a production GPU cluster: a list of nodes and a list of pods, comma-separated.

Published with Weng et al., Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation
Gradient Descent, USENIX ATC 2023.

    nodes   sn, cpu_milli, memory_mib, gpu, model
    pods    name, cpu_milli, memory_mib, num_gpu, gpu_milli [, gpu_spec, ...]

Identical nodes become one class of machines. Pods with the same demand and the same ``gpu_spec`` become one
user, whose limit is their number; ``gpu_spec`` is empty or lists the GPU models a pod accepts, such as
``V100M16|V100M32``.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InstanceError, suggestion
from ..instance import Instance
from ..machine import Machine
from .text import failure, read_text, shown

__all__ = ["read"]

NODES = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
PODS = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
RESOURCES = ("cpu", "memory", "gpu")

SOURCE = (
    "openb trace (Weng et al., USENIX ATC 2023): {pods:,} pods of {pod_file} on {nodes:,} "
    "nodes of {node_file}; cpu in cores, memory in GiB, gpu in devices; "
    "the GPUs of a node are pooled (half-free devices add up), "
    "so fragmentation of whole GPUs is not modelled"
)

LONGEST_INTEGER = 15
"""Digits of an integer in these files; more is a mistake, and a float could not hold it."""


@dataclass(frozen=True)
class _Row:
    """One line of a list: where it is, and its columns by name."""

    place: str
    cells: dict[str, str]

    def amount(self, column: str) -> int:
        """Return a column as a whole number, 0 or more."""
        text = self.cells[column].strip()
        if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_INTEGER):
            raise failure(self.place, f"{column} is {shown(text)}: write a whole number, 0 or more")
        return int(text)


@dataclass(frozen=True)
class _List:
    """A file with its header read: a list of nodes or of pods."""

    path: str
    kind: str
    rows: Iterator[_Row]


def read(files: Sequence[str | Path]) -> Instance:
    """Read a node list and a pod list.

    Parameters
    ----------
    files : two paths
        In either order; their headers tell which is which.

    Returns
    -------
    Instance
        Resources cpu (cores), memory (GiB) and gpu (devices, ``num_gpu * gpu_milli / 1000``). The GPUs of a
        node are pooled. A class is eligible for a user when her ``gpu_spec`` is empty or names its model.

    Raises
    ------
    InstanceError
        With file and line: a missing column, an amount that is no whole number, an empty list, a pod that
        needs nothing.
    """
    if len(files) != 2:
        raise InstanceError(f"openb takes two files, a node list and a pod list: {len(files)} given")
    lists = [_open(path) for path in files]
    for kind, columns in (("nodes", NODES), ("pods", PODS)):
        if all(one.kind != kind for one in lists):
            raise failure(
                f"{lists[0].path}, {lists[1].path}",
                f"both are lists of {lists[0].kind}: give one of {kind} too, with the columns {','.join(columns)}",
            )
    nodes, pods = sorted(lists, key=lambda one: one.kind)
    machines, models = _classes(nodes)
    users = _users(pods)
    accepted = [{model.strip() for model in spec.split("|")} for _, _, _, spec in users]
    allowed = [
        [not spec or model in accept for model in models] for (*_, spec), accept in zip(users, accepted, strict=True)
    ]
    return Instance(
        [list(shape[:3]) for shape in users],
        machines=machines,
        users=[_user_name(*shape) for shape in users],
        resources=RESOURCES,
        max_tasks=list(users.values()),
        eligible=np.array(allowed, dtype=bool),
        name=f"openb, {Path(pods.path).stem}",
        source=SOURCE.format(
            pods=sum(users.values()),
            pod_file=Path(pods.path).name,
            nodes=sum(machine.count for machine in machines),
            node_file=Path(nodes.path).name,
        ),
    )


def _open(path: str | Path) -> _List:
    place = str(path)
    reader = csv.reader(io.StringIO(read_text(path), newline=""))
    try:
        header = [column.strip() for column in next(reader)]
    except (StopIteration, csv.Error):
        raise failure(place, f"line 1 is no header: write {','.join(NODES)} or {','.join(PODS)}") from None
    kind = "nodes" if "sn" in header else "pods"
    needed = NODES if kind == "nodes" else PODS
    for column in needed:
        if column not in header:
            raise failure(
                f"{place}: line 1",
                f"the column {column!r} is missing{suggestion(column, header)}: "
                f"a list of nodes has {','.join(NODES)}, a list of pods {','.join(PODS)}",
            )
    return _List(place, kind, _rows(reader, header, needed, place))


def _rows(reader: Any, header: list[str], needed: tuple[str, ...], place: str) -> Iterator[_Row]:
    index = {column: i for i, column in enumerate(header)}
    columns = [column for column in (*needed, "gpu_spec") if column in index]
    found = False
    try:
        for cells in reader:
            if not cells:
                continue
            found = True
            at = f"{place}: line {reader.line_num}"
            if len(cells) != len(header):
                raise failure(at, f"has {len(cells)} columns, but the header has {len(header)}: correct the line")
            yield _Row(at, {column: cells[index[column]] for column in columns})
    except csv.Error as error:
        raise failure(f"{place}: line {reader.line_num}", f"{error}: correct the line") from None
    if not found:
        raise failure(place, "has a header and no rows: list at least one")


def _classes(nodes: _List) -> tuple[list[Machine], list[str]]:
    """Return identical nodes as classes, in the order they first appear, and the GPU model of each class."""
    counts: dict[tuple[int, int, int, str], int] = {}
    for row in nodes.rows:
        key = (
            row.amount("cpu_milli"),
            row.amount("memory_mib"),
            row.amount("gpu"),
            row.cells["model"].strip(),
        )
        counts[key] = counts.get(key, 0) + 1
    machines = []
    for (milli, mib, gpu, model), count in counts.items():
        cpu = Fraction(milli, 1000)
        parts = [model, f"{_decimal(cpu)}cpu", _memory(mib), f"{gpu}gpu" if gpu else ""]
        capacity = {"cpu": cpu, "memory": Fraction(mib, 1024), "gpu": Fraction(gpu)}
        machines.append(Machine("-".join(part for part in parts if part), capacity, count))
    return machines, [model for _, _, _, model in counts]


def _users(pods: _List) -> dict[tuple[Fraction, Fraction, Fraction, str], int]:
    """Return how many pods there are of each (cpu, memory, gpu, gpu_spec), in the order they first appear."""
    counts: dict[tuple[Fraction, Fraction, Fraction, str], int] = {}
    for row in pods.rows:
        devices = row.amount("num_gpu")
        # A list of pods without GPUs leaves the column empty.
        milli = row.amount("gpu_milli") if devices or row.cells["gpu_milli"].strip() else 0
        spec = row.cells.get("gpu_spec", "").strip()
        cpu, memory = Fraction(row.amount("cpu_milli"), 1000), Fraction(row.amount("memory_mib"), 1024)
        shape = (cpu, memory, Fraction(devices * milli, 1000), spec)
        if not any(shape[:3]):
            raise failure(row.place, "the pod demands nothing: give it some cpu, memory or gpu, or leave it out")
        counts[shape] = counts.get(shape, 0) + 1
    return counts


def _user_name(cpu: Fraction, memory: Fraction, gpu: Fraction, spec: str) -> str:
    parts = [f"{_decimal(cpu)}cpu", _memory(int(memory * 1024)), f"{_decimal(gpu)}gpu" if gpu else "", spec]
    return "-".join(part for part in parts if part)


def _memory(mib: int) -> str:
    return f"{mib // 1024}GiB" if mib % 1024 == 0 else f"{mib}MiB"


def _decimal(value: Fraction) -> str:
    """Return thousandths as a decimal without trailing zeros."""
    return f"{value.numerator * 1000 // value.denominator / 1000:.3f}".rstrip("0").rstrip(".")
