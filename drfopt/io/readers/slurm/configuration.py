"""Nodes and partitions as ``slurm.conf`` tells them: what there is, without what is allocated of it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ....base.numbers.quantities import only_digits
from ...text.files import File, failure, shown
from ..conversion import Notes
from .row import OUT_OF_USE, SlurmRow
from .tres import hosts

__all__ = ["configured", "is_configuration"]

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

WRITTEN = {"CPUS": "CPUs", "MEMORY": "RealMemory", "MEMSPEC": "MemSpecLimit"}
"""What a configuration calls the amounts of a node."""

CORES = ("boards", "socketsperboard", "sockets", "corespersocket", "threadspercore")
TOLD_OF_NODES = (
    *("nodename", "cpus", "realmemory", "gres", "feature", "features", "state", "memspeclimit", "corespeccount"),
    *CORES,
)
TOLD = {
    "nodes": TOLD_OF_NODES,
    "partitions": ("partitionname", "nodes", "default", "state", "maxtime", "defaulttime"),
    "nodes that are down": ("downnodes", "state", "reason"),
    "sets of nodes": ("nodeset", "nodes", "feature"),
}
"""Keys of such lines that are used, or bear on nothing that is divided."""


def is_configuration(lines: Sequence[str]) -> bool:
    """Return whether this is ``slurm.conf``, or what ``slurmd -C`` prints: nodes without what is allocated of them."""
    low = [line.lower() for line in lines]
    if any(line.lstrip().startswith("jobid=") or "cputot=" in line for line in low):
        return False
    begins = tuple(f"{key}=" for key in CONFIGURED)
    return any(line.startswith(begins) and any(f" {key}=" in line for key in SIZES) for line in low)


@dataclass
class _Configuration:
    """What the lines of a configuration say: of nodes, with their places; the nodes of partitions in use; and so on."""

    nodes: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    partitions: dict[str, str] = field(default_factory=dict)
    down: dict[str, str] = field(default_factory=dict)
    sets: dict[str, dict[str, str]] = field(default_factory=dict)

    def homes(self, place: str) -> tuple[dict[str, list[str]], list[str]]:
        """Return the partitions of each host that is named, and those that all are in."""
        marked: dict[str, list[str]] = {}
        for at, fields in self.nodes:
            for feature in filter(None, _features(fields).split(",")):
                marked.setdefault(feature.strip(), []).extend(hosts(fields["nodename"], at))
        everywhere = [name for name, some in self.partitions.items() if some.upper() == "ALL"]
        found: dict[str, list[str]] = {}
        for name, some in self.partitions.items():
            for host in hosts(some, place) if name not in everywhere else ():
                named = self.sets.get(host, {"nodes": host})
                members = [*hosts(named.get("nodes", ""), place), *marked.get(named.get("feature", ""), ())]
                for member in dict.fromkeys(members):
                    found.setdefault(member, []).append(name)
        return found, everywhere


def configured(file: File, lines: Sequence[str], notes: Notes) -> Iterator[SlurmRow]:
    """Yield the nodes of ``slurm.conf``; a line named DEFAULT says what those below it have that do not say it."""
    told = _Configuration()
    usual: dict[str, dict[str, str]] = {kind: {} for kind in CONFIGURED.values()}
    for at, line in _whole_lines(file, lines):
        fields = {key.lower(): value for key, _, value in (word.partition("=") for word in WORDS.findall(line))}
        first = next(iter(fields), "")
        kind = CONFIGURED.get(first)
        if kind is None:
            if first:
                notes.unused("setting of no node and no partition", line.split()[0].partition("=")[0])
            continue
        for key in fields.keys() - set(TOLD[kind]):
            notes.unused(f"{key} of {kind}", fields[first])
        if fields[first].upper() == "DEFAULT":
            usual[kind] |= fields
        elif kind == "nodes":
            # Who says its sockets or cores has not the usual number of CPUs.
            own = {key: value for key, value in usual[kind].items() if key != "cpus" or not fields.keys() & set(CORES)}
            told.nodes.append((at, own | fields))
        elif kind == "nodes that are down":
            told.down |= dict.fromkeys(hosts(fields[first], at), fields.get("state", "down").lower())
        elif kind == "sets of nodes":
            told.sets[fields[first]] = fields
        else:
            fields = usual[kind] | fields
            state = fields.get("state", "UP").lower()
            if state == "drain":
                notes.assumed("partition that is drained runs what is queued in it", fields[first])
            elif state != "up":
                notes.unused(f"partition that is {state}", fields[first])
            called = fields[first] if state in ("up", "drain") else f"{fields[first]}{OUT_OF_USE}{state})"
            told.partitions[called] = fields.get("nodes", "")
    homes, everywhere = told.homes(file.place)
    for at, fields in told.nodes:
        for host in hosts(fields["nodename"], at):
            state = told.down.get(host, "unknown")
            own = fields if state == "unknown" else fields | {"state": state}
            yield _configured_node(at, host, own, [*homes.get(host, []), *everywhere], notes)


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


def _features(fields: Mapping[str, str]) -> str:
    return fields.get("features", fields.get("feature", ""))


def _configured_node(at: str, host: str, fields: Mapping[str, str], homes: Sequence[str], notes: Notes) -> SlurmRow:
    state = fields.get("state", "UNKNOWN").lower()
    if state in ("unknown", "cloud", "idle"):
        notes.assumed("node is in use: a configuration does not tell its state", host)
        state = "idle"

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
        "FEATURES": _features(fields),
        "PARTITION": ",".join(homes),
        "STATE": state,
    }
    return SlurmRow(at, "nodes", cells, WRITTEN)
