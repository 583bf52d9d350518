"""Nodes and partitions as ``slurm.conf`` tells them: what there is, without what is allocated of it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ....base.numbers.quantities import only_digits
from ...text.files import File, failure, shown
from ..conversion import Notes
from .row import NOTHING, OUT_OF_USE, SlurmRow
from .tres import hosts

__all__ = ["UNTOLD", "configured", "homes", "is_configuration", "partition_row", "unused_settings"]

CONFIGURED = {
    "nodename": "nodes",
    "partitionname": "partitions",
    "downnodes": "nodes that are down",
    "nodeset": "sets of nodes",
}
"""How lines of ``slurm.conf`` begin that tell of nodes; its keys are in any letters."""

WORDS = re.compile(r'(?:"[^"]*"|\S)+')
"""Keys with their values; one in quotes may hold spaces."""

SIZES = ("cpus", "sockets", "boards", "corespersocket", "realmemory", "nodes")
"""Keys of which such a line has one."""

UNTOLD = ("unknown", "cloud", "idle")
"""What a configuration says of nodes of which it does not tell whether they are in use."""

UNBOUND = (*(text.upper() for text in NOTHING), "ALL", "NO", "OFF", "0")
"""Values of settings of a partition that bound nothing: ``scontrol show partition`` prints every setting."""

USUAL = {"priorityjobfactor": "1", "prioritytier": "1"}
"""Settings of a partition that put it before no other where they are so."""

WRITTEN = {"CPUS": "CPUs", "MEMORY": "RealMemory", "MEMSPEC": "MemSpecLimit"}
"""What a configuration calls the amounts of a node."""

CORES = ("boards", "socketsperboard", "sockets", "corespersocket", "threadspercore")
TOLD_OF_NODES = (
    *("nodename", "cpus", "realmemory", "gres", "feature", "features", "state", "memspeclimit", "corespeccount"),
    *CORES,
)
TOLD = {
    "nodes": TOLD_OF_NODES,
    "partitions": (
        *("partitionname", "nodes", "default", "state", "maxtime", "defaulttime"),
        *("totalcpus", "totalnodes", "tres"),
    ),
    "nodes that are down": ("downnodes", "state", "reason"),
    "sets of nodes": ("nodeset", "nodes", "feature"),
}
"""Keys of such lines that are used, or bear on nothing that is divided."""


def is_configuration(text: str) -> bool:
    """Return whether this is ``slurm.conf``, or what ``slurmd -C`` prints: nodes without what is allocated of them."""
    low = re.sub(r"\\\s*\n", " ", text.lower()).splitlines()
    if any(line.lstrip().startswith("jobid=") or "cputot=" in line for line in low):
        return False
    begins = tuple(f"{key}=" for key in CONFIGURED)
    return any(line.startswith(begins) and any(f" {key}=" in line for key in SIZES) for line in low)


def configured(file: File, lines: Sequence[str], notes: Notes) -> Iterator[SlurmRow]:
    """Yield nodes, partitions and sets of ``slurm.conf``; a line named DEFAULT says what those below it do not say."""
    nodes: list[tuple[str, dict[str, str]]] = []
    down: dict[str, str] = {}
    usual: dict[str, dict[str, str]] = {kind: {} for kind in CONFIGURED.values()}
    for at, line in _whole_lines(file, lines):
        fields = {key.lower(): value for key, _, value in (word.partition("=") for word in WORDS.findall(line))}
        first = next(iter(fields), "")
        kind = CONFIGURED.get(first)
        if kind is None:
            if first:
                notes.unused("setting of no node and no partition", line.split()[0].partition("=")[0])
            continue
        unused_settings(kind, fields, notes)
        if fields[first].upper() == "DEFAULT":
            usual[kind] |= fields
        elif kind == "nodes":
            # Who says its sockets or cores has not the usual number of CPUs.
            own = {key: value for key, value in usual[kind].items() if key != "cpus" or not fields.keys() & set(CORES)}
            nodes.append((at, own | fields))
        elif kind == "nodes that are down":
            down |= dict.fromkeys(hosts(fields[first], at), fields.get("state", "down").lower())
        elif kind == "sets of nodes":
            cells = {"SET": fields[first], "NODELIST": fields.get("nodes", ""), "FEATURES": fields.get("feature", "")}
            yield SlurmRow(at, "sets", cells)
        else:
            yield partition_row(at, usual[kind] | fields)
    for at, fields in nodes:
        for host in hosts(fields["nodename"], at):
            state = down.get(host, "unknown")
            yield _configured_node(at, host, fields if state == "unknown" else fields | {"state": state})


def unused_settings(kind: str, fields: Mapping[str, str], notes: Notes) -> None:
    """Note the settings of an entry, of which the first is its name, that are not used and bound something."""
    name = next(iter(fields.values()))
    for key, value in fields.items():
        bounds = kind != "partitions" or value.upper() not in (*UNBOUND, USUAL.get(key))
        if key not in TOLD[kind] and bounds:
            notes.unused(f"{key} of {kind}", name)


def partition_row(at: str, fields: Mapping[str, str]) -> SlurmRow:
    """Return a partition of ``slurm.conf`` or of ``scontrol show partition``, which alone counts its nodes."""
    columns = {"PARTITION": "partitionname", "NODELIST": "nodes", "STATE": "state", "COUNTED": "totalnodes"}
    return SlurmRow(at, "partitions", {column: fields.get(key, "") for column, key in columns.items()})


def homes(
    told: Mapping[str, set[str]],
    partitions: Iterable[SlurmRow],
    sets: Iterable[SlurmRow],
    marked: Mapping[str, set[str]],
    notes: Notes,
) -> dict[str, set[str]]:
    """Return the partitions of every node; what lists partitions with their nodes tells those that no node tells.

    ``told`` has of every node the partitions that it tells, ``marked`` of every feature the nodes that have it.
    """
    found = {node: set(some) for node, some in told.items()}
    listed = set().union(*told.values())
    named = {row["SET"]: row for row in sets}
    called: dict[str, str] = {}
    # What is, as scontrol prints it, before what slurm.conf says of it.
    for row in sorted(partitions, key=lambda row: not row["COUNTED"]):
        name, state = row["PARTITION"], row["STATE"].lower() or "up"
        if name in called:
            notes.unused("partition that is listed again", name)
            continue
        if state == "drain":
            notes.assumed("partition that is drained runs what is queued in it", name)
        elif state != "up":
            notes.unused(f"partition that is {state}", name)
        called[name] = name if state in ("up", "drain") else f"{name}{OUT_OF_USE}{state})"
        if name in listed or row["NODELIST"] in NOTHING:
            continue
        everywhere = row["NODELIST"].upper() == "ALL"
        for host in told if everywhere else hosts(row["NODELIST"], row.place):
            group = named.get(host)
            members = hosts(group["NODELIST"], group.place) if group else [host]
            for member in {*members, *(marked.get(group["FEATURES"], ()) if group else ())} & found.keys():
                found[member].add(name)
    return {node: {called.get(name, name) for name in some} for node, some in found.items()}


def _whole_lines(file: File, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield lines with their places, without comments; one that ends with a backslash goes on in the next."""
    number = 0
    while number < len(lines):
        at, line = f"{file.place}: line {number + 1}", ""
        while True:
            line, number = line.rstrip("\\") + lines[number].partition("#")[0].rstrip(), number + 1
            if not line.endswith("\\") or number == len(lines):
                break
        yield at, line


def _configured_node(at: str, host: str, fields: Mapping[str, str]) -> SlurmRow:

    def count(*keys: str) -> int:
        text = next((fields[key] for key in keys if key in fields), "1")
        if not (only_digits(text) and len(text) < 10):
            raise failure(at, f"{keys[0]} is {shown(text)}: write a whole number")
        return int(text)

    sockets = count("sockets") if "sockets" in fields else count("boards") * count("socketsperboard")
    threads = count("threadspercore")
    cpus = count("cpus") if "cpus" in fields else sockets * count("corespersocket") * threads
    reserved = count("corespeccount") * threads if "corespeccount" in fields else 0
    cells = {
        "NODELIST": host,
        "CPUS": str(max(0, cpus - reserved)),
        "MEMORY": fields.get("realmemory", "1"),
        "MEMSPEC": fields.get("memspeclimit", ""),
        "GRES": fields.get("gres", ""),
        "FEATURES": fields.get("features", fields.get("feature", "")),
        "STATE": fields.get("state", "unknown").lower(),
    }
    return SlurmRow(at, "configured", cells, WRITTEN)
