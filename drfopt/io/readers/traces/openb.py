"""The openb traces of a production GPU cluster: a list of nodes and a list of pods, comma-separated.

Published with Weng et al., Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation
Gradient Descent, USENIX ATC 2023.

    nodes   sn, cpu_milli, memory_mib, gpu, model
    pods    name, cpu_milli, memory_mib, num_gpu, gpu_milli [, gpu_spec, ...]

Identical nodes become one class of machines. Pods with the same demand and the same ``gpu_spec`` become one
user, whose limit is their number; ``gpu_spec`` is empty or lists the GPU models a pod accepts, such as
``V100M16|V100M32``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from ....base.errors import InstanceError, renaming
from ....model.instance import MEBIBYTE, Instance
from ....model.machine import Machine
from ...text.files import File, failure, shown
from ...text.parts import CsvRow, first_line, with_header
from ..conversion import Conversion, Notes, ReadOptions

__all__ = ["read"]

NODES = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
PODS = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
RESOURCES = ("cpu", "memory", "gpu")

SOURCE = (
    "openb trace (Weng et al., USENIX ATC 2023): {pods:,} pods of {pod_file} on {nodes:,} "
    "nodes of {node_file}; cpu in cores, memory in bytes, gpu in devices"
)


@dataclass(frozen=True)
class _List:
    """A file with its header read: a list of nodes or of pods."""

    path: str
    kind: str
    rows: Iterator[CsvRow]
    ignored: tuple[str, ...]


def read(files: Sequence[File], asked: ReadOptions) -> Conversion:
    """Read a node list and a pod list.

    Parameters
    ----------
    files : two of File
        In either order; their headers tell which is which.
    asked : ReadOptions
        Nothing of it plays a part: users are pods that are alike.

    Returns
    -------
    Conversion
        Its instance has cpu (cores), memory (bytes) and gpu (devices, ``num_gpu * gpu_milli / 1000``), and a node has
        its GPUs as devices. A class is eligible for a user when her ``gpu_spec`` is empty or names its model.

    Raises
    ------
    InstanceError
        With file and line: a missing column, an amount that is no whole number, an empty list, a pod that
        needs nothing.
    """
    if len(files) != 2:
        raise InstanceError(f"openb takes two files, a node list and a pod list: {len(files)} given")
    lists = [_open(file) for file in files]
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
    notes = Notes()
    for one in (nodes, pods):
        if one.ignored:
            notes.unused(f"columns of the list of {one.kind}", ", ".join(one.ignored))
    instance = Instance(
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
    return Conversion(instance, notes.taken())


def _open(file: File) -> _List:
    place = file.place
    header = first_line(file)
    if not header:
        raise failure(place, f"line 1 is no header: write {','.join(NODES)} or {','.join(PODS)}")
    kind = "nodes" if "sn" in map(str.casefold, header) else "pods"
    needed = NODES if kind == "nodes" else PODS
    for column in needed:
        if column not in header:
            raise failure(
                f"{place}: line 1",
                f"the column {column!r} is missing{renaming(column, header)}: "
                f"a list of nodes has {','.join(NODES)}, a list of pods {','.join(PODS)}",
            )
    ignored = tuple(column for column in header if column not in (*needed, "gpu_spec"))
    return _List(place, kind, with_header(file), ignored)


def _classes(nodes: _List) -> tuple[list[Machine], list[str]]:
    """Return identical nodes as classes, in the order they first appear, and the GPU model of each class."""
    counts: dict[tuple[int, int, int, str], int] = {}
    listed: set[str] = set()
    for row in nodes.rows:
        if row["sn"] in listed:
            raise failure(row.place, f"node {shown(row['sn'])} is listed above: keep one of them")
        listed.add(row["sn"])
        key = (row.count("cpu_milli"), row.count("memory_mib"), row.count("gpu"), row["model"])
        counts[key] = counts.get(key, 0) + 1
    machines = []
    for (milli, mib, gpu, model), count in counts.items():
        cpu = Fraction(milli, 1000)
        parts = [model, f"{_decimal(cpu)}cpu", _memory(mib), f"{gpu}gpu" if gpu else ""]
        capacity = {"cpu": cpu, "memory": Fraction(mib * MEBIBYTE), "gpu": Fraction(gpu)}
        devices = {"gpu": gpu} if gpu else None
        machines.append(Machine("-".join(part for part in parts if part), capacity, count, devices))
    return machines, [model for _, _, _, model in counts]


def _users(pods: _List) -> dict[tuple[Fraction, Fraction, Fraction, str], int]:
    """Return how many pods there are of each (cpu, memory, gpu, gpu_spec), in the order they first appear."""
    counts: dict[tuple[Fraction, Fraction, Fraction, str], int] = {}
    listed: set[str] = set()
    for row in pods.rows:
        if row["name"] and row["name"] in listed:
            raise failure(row.place, f"pod {shown(row['name'])} is listed above: keep one of them")
        listed.add(row["name"])
        devices = row.count("num_gpu")
        # A list of pods without GPUs leaves the column empty.
        milli = row.count("gpu_milli") if devices or row["gpu_milli"] else 0
        spec = row["gpu_spec"]
        cpu, memory = Fraction(row.count("cpu_milli"), 1000), Fraction(row.count("memory_mib") * MEBIBYTE)
        if devices > 1 and milli != 1000:
            raise failure(
                row.place,
                f"the pod asks for {milli} thousandths of each of {devices} GPUs: a pod takes a part of one GPU, or "
                "whole ones (gpu_milli 1000)",
            )
        shape = (cpu, memory, Fraction(devices * milli, 1000), spec)
        if not any(shape[:3]):
            raise failure(row.place, "the pod demands nothing: give it some cpu, memory or gpu, or leave it out")
        counts[shape] = counts.get(shape, 0) + 1
    return counts


def _user_name(cpu: Fraction, memory: Fraction, gpu: Fraction, spec: str) -> str:
    parts = [f"{_decimal(cpu)}cpu", _memory(int(memory) // MEBIBYTE), f"{_decimal(gpu)}gpu" if gpu else "", spec]
    return "-".join(part for part in parts if part)


def _memory(mib: int) -> str:
    return f"{mib // 1024}GiB" if mib % 1024 == 0 else f"{mib}MiB"


def _decimal(value: Fraction) -> str:
    """Return thousandths as a decimal without trailing zeros."""
    return f"{value.numerator * 1000 // value.denominator / 1000:.3f}".rstrip("0").rstrip(".")
