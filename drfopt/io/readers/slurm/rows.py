"""What Slurm's commands print, text or JSON, as rows: nodes, jobs, shares, limits and partitions.

Text has a header that says which columns there are, in any order: between ``|``, above a line of hyphens, or words. A
file may hold what several commands printed, one after the other: a header begins the next. ``scontrol show`` says in
every entry what it is. Without a header only two forms are read, of nodes and of limits, and only where every value is
what its column asks for: a row of another command is never taken for a node.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ....base.errors import suggestion
from ....base.numbers.quantities import only_digits
from ...text.files import File, failure, shown
from ...text.parts import parts
from ..conversion import Notes
from .configuration import configured, is_configuration, partition_row, unused_settings
from .json_rows import of_json
from .row import NOTHING, RESERVATION, SlurmRow, array_job, job_part

__all__ = ["DOWN", "POWER", "RESERVED", "UP", "node_states", "rows"]

UP = (
    *("idle", "mixed", "allocated", "completing", "planned", "reserved", "blocked"),
    *("alloc", "mix", "comp", "resv", "plnd", "block"),
)
DOWN = (
    *("down", "drain", "drained", "draining", "drng", "fail", "failing", "failg", "future", "futr", "error"),
    *("not_responding", "no_respond", "unknown", "unk", "boot", "reboot", "rebooting", "reboot_issued"),
    *("maint", "maintenance", "inval", "invalid_reg", "perfctrs", "npc"),
)
RESERVED = ("reserved", "resv")
POWER = (
    *("powered_down", "powering_down", "power_down", "pow_dn", "poweroff"),
    *("powering_up", "power_up", "pow_up"),
)
"""Beside a state in use: Slurm starts such a node where a job needs it."""

MARKED = {
    "*": "not_responding",
    "$": "maintenance",
    "^": "reboot_issued",
    "@": "reboot_requested",
    "~": "powered_down",
    "%": "powering_down",
    "!": "power_down",
    "#": "powering_up",
    "-": "planned",
    "+": "completing",
}
"""What ``sinfo`` says by a mark behind a state and ``scontrol`` and JSON by another state beside it."""

NODES = ("NODELIST", "CPUS", "MEMORY", "GRES", "PARTITION", "STATE")
LIMITS = ("Account", "User", "Share", "GrpTRES")
"""Columns of what is printed without a header."""

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "nodes": {
        "nodelist": "NODELIST",
        "hostnames": "NODELIST",
        "nodehost": "NODELIST",
        "nodename": "NODELIST",
        "cpus": "CPUS",
        "cpuefctv": "CPUS",
        "cputot": "CPUS",
        "cpus(a/i/o/t)": "CPUS_STATE",
        "memory": "MEMORY",
        "realmemory": "MEMORY",
        "memspeclimit": "MEMSPEC",
        "gres": "GRES",
        "active_features": "FEATURES",
        "activefeatures": "FEATURES",
        "avail_features": "FEATURES",
        "partition": "PARTITION",
        "partitions": "PARTITION",
        "avail": "AVAIL",
        "state": "STATE",
    },
    "jobs": {
        "jobidraw": "JobIDRaw",
        "jobid": "JobID",
        "arraytaskid": "ArrayTaskId",
        "jobname": "JobName",
        "name": "JobName",
        "user": "User",
        "userid": "User",
        "account": "Account",
        "partition": "Partition",
        "state": "State",
        "jobstate": "State",
        "st": "State",
        "nnodes": "NNodes",
        "allocnodes": "NNodes",
        "numnodes": "NNodes",  # of scontrol, whose Nodes with -d are their names
        "nodes": "NNodes",
        "reqtres": "ReqTRES",
        "tres": "ReqTRES",
        "alloctres": "AllocTRES",
        "tres_alloc": "AllocTRES",
        "nodelist": "NodeList",
        "nodelist(reason)": "NodeList",
        "cpus": "CPUs",
        "numcpus": "CPUs",
        "reqcpus": "CPUs",
        "ncpus": "CPUs",
        "alloccpus": "CPUs",
        "min_memory": "SomeMem",
        "minmemorynode": "NodeMem",
        "minmemorycpu": "CoreMem",
        "reqmem": "ReqMem",
        "tres_per_node": "NodeGRES",
        "trespernode": "NodeGRES",
        "tres_per_job": "JobGRES",
        "tresperjob": "JobGRES",
        "tres_per_task": "TaskGRES",
        "trespertask": "TaskGRES",
        "features": "Constraint",
        "constraints": "Constraint",
        "reason": "Reason",
        "licenses": "Licenses",
        "dependency": "Dependency",
        "reqnodelist": "ReqNodeList",
        "req_nodes": "ReqNodeList",
        "excnodelist": "ExcNodeList",
        "exc_nodes": "ExcNodeList",
        "reservation": "Reservation",
        "oversubscribe": "OverSubscribe",
        "over_subscribe": "OverSubscribe",
        "mintmpdisknode": "MinTmpDiskNode",
        "min_tmp_disk": "MinTmpDiskNode",
    },
    "shares": {
        "account": "Account",
        "user": "User",
        "rawshares": "RawShares",
        "parent": "Parent",
        "partition": "Partition",
    },
    "limits": {
        "account": "Account",
        "user": "User",
        "share": "Share",
        "grptres": "GrpTRES",
        "parentname": "Parent",
        "par name": "Parent",
        "partition": "Partition",
    },
}
"""What commands call a column, in small letters, and what a row calls it; of two that are there the first counts."""

NEEDED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "shares": (("RawShares",), ("Account",)),
    "limits": (("GrpTRES",), ("Account",)),
    "jobs": (("JobIDRaw", "JobID"), ("State",), ("ReqTRES", "AllocTRES", "CPUs")),
    "nodes": (("NODELIST",), ("STATE",), ("CPUS", "CPUS_STATE"), ("MEMORY",)),
}
"""Of each of these one column at least; a header is of the first kind of which it has all."""

MARKS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "nodes": (("nodelist", "hostnames", "nodename"), "sinfo -N -o '%N|%c|%m|%G|%P|%T'"),
    "jobs": (
        ("jobid", "jobidraw"),
        "squeue -o '%i|%u|%a|%P|%T|%D|%C|%m|%b|%N', or sacct -a -X -P -o JobID,User,...,ReqTRES",
    ),
    "shares": (("normshares", "fairshare"), "sshare -a -P"),
    "limits": (
        ("share", "grptres", "grpcpus", "grpmem", "grpnodes", "grpjobs", "grpsubmit"),
        "sacctmgr -P show assoc format=Account,User,Share,GrpTRES",
    ),
}
"""Columns that say what a header is of that lacks others, and the command that prints all."""

LONG = ("NODELIST", "", "PARTITION", "STATE", "CPUS", "", "MEMORY", "", "", "", "")
"""Columns of ``sinfo -N -l``: between them nodes, sockets, the disk, the weight, features and the reason."""

UNSAID: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("sinfo -h", re.compile(r"\S+\s+(?:up|down|drain|inact)\s+\S+\s+\d+\s+[a-z]+\S?\s+\S+"), "nodes"),
    ("sinfo -N -h", re.compile(r"\S+\s+\d+\s+\S+\s+[a-z]+\S?"), "nodes"),
    ("squeue -h", re.compile(r"\d\S*\s+\S+\s+\S.*?\s\S+\s+[A-Z]{1,2}\s+[\d:-]+\s+\d+\s+\S.*"), "jobs"),
)
"""What is printed by default without a header, how a row looks, and of which kind; none tells of CPUs."""

LONG_ROW = re.compile(r"\S+\s+\d+\s+\S+\s+[a-z]+\S?\s+\d+\s+\d+:\d+:\d+\s+\d+\s+\d+\s+\d+\s+\S+\s+\S.*")
"""A row of ``sinfo -N -l`` without its header."""

WIDTH = 20
"""Characters of a column of ``squeue -O`` that gives no width: those of the last, where spaces at ends are left out."""

ENTRY = re.compile(r"(?P<key>[A-Za-z][\w:/.-]*)=(?P<value>.*)")
ENTRIES = {"NodeName": "nodes", "JobId": "jobs", "PartitionName": "partitions", "ReservationName": "reservations"}
"""How an entry of ``scontrol show`` begins."""

LOADED = re.compile(r"(?P<what>Cluster|Parent|Account|User) - '(?P<name>[^']*)'(?P<rest>.*)")
FIELD = re.compile(r"((?:gres/[\w.-]+:|[^:])*)(?::|$)")
"""A field of ``sacctmgr dump``, up to a colon that is not before a type of devices, ``gres/gpu:A=1``."""

COMPACT = {"PD": "PENDING", "R": "RUNNING", "CG": "COMPLETING", "CF": "CONFIGURING", "S": "SUSPENDED", "RQ": "REQUEUED"}

EXPECTED = "what sinfo, squeue, sacct, sshare, sacctmgr or scontrol show print, with its header"

Cut = tuple[int, int | None]
"""Where a column begins and ends."""


@dataclass
class _Header:
    kind: str
    columns: tuple[str, ...]
    bar: bool
    names: tuple[str, ...] = ()
    """What the header calls them."""
    starts: tuple[int, ...] = ()
    width: int = 0
    """Characters of its line."""
    cuts: tuple[Cut, ...] = ()
    """Exact columns, from a line of hyphens below the header."""
    free: bool = False
    """Whether the last column is a text that may have spaces inside."""
    said: bool = True
    """Whether it was there; otherwise every row has to be one by itself."""


def node_states(text: str) -> list[str]:
    """Return the states of a node, whichever command printed them: ``idle~`` and ``IDLE+POWERED_DOWN`` are the same."""
    found = []
    for word in text.lower().split("+"):
        state = word.rstrip("".join(MARKED))
        found += [state, *(MARKED[mark] for mark in word[len(state) :])]
    return [state for state in found if state]


def rows(file: File, notes: Notes) -> Iterator[SlurmRow]:
    """Yield the rows of a file; columns that say something and are not used are noted.

    Raises
    ------
    InstanceError
        When a line is none of the kinds, or has another number of columns than its header.
    """
    if file.text.lstrip()[:1] in ("{", "["):
        for part in parts(file):
            yield from of_json(part, notes)
        return
    lines = file.text.splitlines()
    if is_configuration(file.text):
        yield from configured(file, lines, notes)
        return
    if any(line.strip().startswith(tuple(f"{key}=" for key in ENTRIES)) for line in lines):
        yield from _entries(file, lines, notes)
        return
    if any(LOADED.match(line) for line in lines):
        yield from _loaded(file, lines, notes)
        return
    header: _Header | None = None
    unused: dict[str, dict[str, None]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        at = f"{file.place}: line {number}"
        if (found := _header(line, at)) is not None:
            header = found
        elif set(line.strip()) <= {"-", " ", "+"}:
            if header is not None:
                header.cuts = tuple(match.span() for match in re.finditer(r"-+", line))
        elif header is None and _is_title(line, lines[number:]):
            continue
        else:
            if header is None or (not header.said and header.bar and line.count("|") == len(header.columns) - 1):
                header = _unsaid(line, at)
            yield _row(line, header, at, unused.setdefault(header.kind, {}))
    for kind, names in unused.items():
        if names:
            notes.unused(f"columns of {kind}", ", ".join(names))


def _header(line: str, at: str) -> _Header | None:
    bar = "|" in line
    names = [cell.strip() for cell in line.split("|")] if bar else line.split()
    while bar and names and not names[-1]:
        names.pop()
    low = [name.lower() for name in names]
    for kind, needed in NEEDED.items():
        columns = [COLUMNS[kind].get(name, "") for name in low]
        if all(any(one in columns for one in some) for some in needed):
            starts = tuple(match.start() for match in re.finditer(r"\S+", line))
            free = not columns[-1] or "reason" in low[-1]
            return _Header(kind, tuple(columns), bar, tuple(names), starts, len(line), free=free)
    for kind, (marks, command) in MARKS.items():
        # Words of a header, and none with a digit: no row of anything.
        if set(low) & set(marks) and len(low) > 1 and not any(c.isdigit() for c in line):
            lacks = [
                " or ".join(some)
                for some in NEEDED[kind]
                if not any(one in [COLUMNS[kind].get(n, "") for n in low] for one in some)
            ]
            raise failure(
                at,
                f"is neither a header nor a row: it names columns of {kind}, without {' and '.join(lacks)}: "
                f"give {command}",
            )
    return None


def _is_title(line: str, below: Sequence[str]) -> bool:
    """Return whether a line is the date above what ``-l`` prints: the next one is a header."""
    following = next((one for one in below if one.strip()), "")
    return "|" not in line and ":" in line and _header(following, "") is not None


def _unsaid(line: str, at: str) -> _Header:
    """Return the columns of a first line that is no header.

    Raises
    ------
    InstanceError
        When it is not exactly what the manual's commands print without one.
    """
    cells = [cell.strip() for cell in line.split("|")]
    if len(cells) == len(NODES) and cells[0] and cells[-1].lower().rstrip("".join(MARKED)) in UP + DOWN + POWER:
        return _Header("nodes", NODES, True, said=False)
    if len(cells) == len(LIMITS):
        account, _, share, bound = cells
        if account and (share in ("", "parent") or only_digits(share)) and (not bound or "=" in bound):
            return _Header("limits", LIMITS, True, said=False)
    if LONG_ROW.fullmatch(line.strip()):
        return _Header("nodes", LONG, False, said=False, free=True)
    for printed, row, kind in UNSAID:
        if row.fullmatch(line.strip()):
            lacks = "CPUs" if kind == "jobs" else "CPUs or memory"
            raise failure(at, f"is what {printed} prints, which tells no {lacks}: run {MARKS[kind][1]}")
    near = _near(tuple(cells))
    raise failure(
        at,
        f"is neither a header nor a row of nodes or limits: no header says what its {len(cells)} columns are{near}: "
        f"give {EXPECTED} (leave -h, --noheader or -n out)",
    )


def _row(line: str, header: _Header, at: str, unused: dict[str, None]) -> SlurmRow:
    count = len(header.columns)
    if header.bar:
        cells = line.split("|")
        # sacct -p and sshare -p end a line with a bar.
        if len(cells) > count and not any(cell.strip() for cell in cells[count:]):
            cells = cells[:count]
    elif header.cuts and len(header.cuts) == count:
        ends = [start for start, _ in header.cuts[1:]] + [None]
        cells = [line[start:end] for (start, _), end in zip(header.cuts, ends, strict=True)]
    else:
        cells = line.split()
        if (
            header.starts
            and len(cells) != count
            and not any(line[start - 1 : start].strip() for start in header.starts if start)
        ):
            # A cell is empty or has spaces inside: the header says where each begins.
            cells = [line[a:b] for a, b in zip(header.starts, [*header.starts[1:], None], strict=True)]
        elif len(cells) > count and header.free:
            cells = line.split(None, count - 1)
    if len(cells) != count:
        raise failure(at, f"has {len(cells)} columns, but there are {count}: write | between them only")
    found: dict[str, str] = {}
    written: dict[str, str] = {}
    for name, column, cell in zip(header.names or header.columns, header.columns, cells, strict=True):
        if column and not found.get(column, "").strip():
            found[column], written[column] = cell, name
            if name.startswith("TRES") and _fills(cell.strip(), name, header, line):
                raise failure(
                    at,
                    f"{name} is {shown(cell.strip())}, as wide as its column: it may be cut off, "
                    "print it wider, as squeue -O tres-alloc:200 does",
                )
        elif name and not column and cell.strip() not in NOTHING:
            unused[name] = None
    return SlurmRow(at, header.kind, _settled(found), written)


def _fills(cell: str, name: str, header: _Header, line: str) -> bool:
    """Return whether a cell fills a column of ``squeue -O``, which cuts off what is longer; ``-o`` cuts nothing off."""
    if header.bar or header.cuts or not header.starts:
        return False
    k = header.names.index(name)
    start, last = header.starts[k], k + 1 == len(header.names)
    room = (header.width if last else header.starts[k + 1]) - start
    room = WIDTH if room <= len(name) else room
    # Nothing is left of its column before the next one, and it begins where the header says.
    return len(cell) == room and line[start : start + room] == cell and line[start + room : start + room + 1] != " "


def _settled(cells: dict[str, str]) -> dict[str, str]:
    """Return cells in the words of one command: CPUs of a node, a job's state, user and nodes."""
    if "CPUS_STATE" in cells:
        cells.setdefault("CPUS", cells.setdefault("CPUS_TOTAL", cells["CPUS_STATE"].rpartition("/")[2]))
    if "State" in cells:
        cells["State"] = COMPACT.get(cells["State"].strip(), cells["State"])
    if "NODELIST" not in cells and "User" in cells:
        cells["User"] = re.sub(r"\([0-9]+\)$", "", cells["User"].strip()) if "JobID" in cells else cells["User"]
    if "NNodes" in cells:
        cells["NNodes"] = cells["NNodes"].partition("-")[0]  # the least of a range
    if cells.get("NodeList", "").strip().startswith("("):
        # A reason, or nothing.
        cells |= {"Reason": cells["NodeList"].strip().strip("()"), "NodeList": ""}
    return cells


def _entries(file: File, lines: Sequence[str], notes: Notes) -> Iterator[SlurmRow]:
    """Yield what ``scontrol show`` prints of nodes, jobs and partitions, in one line or several for an entry."""
    kind, at = "", ""
    fields: dict[str, str] = {}
    written: dict[str, str] = {}
    last = ""
    for number, line in enumerate(lines, start=1):
        if "=" not in line and _header(line, f"{file.place}: line {number}") is not None:
            raise failure(
                f"{file.place}: line {number}",
                f"{shown(line.strip())} is the header of another command: give what it prints in a file of its own",
            )
        for k, word in enumerate(line.split()):
            match = ENTRY.fullmatch(word)
            if match is None:
                if not kind:
                    raise failure(
                        f"{file.place}: line {number}", f"{shown(line.strip())} is before the first entry: leave it out"
                    )
                if last:
                    fields[last] += f" {word}"
                continue
            if k == 0 and match["key"] in ENTRIES:  # a reservation has a PartitionName, too
                if kind:
                    yield from _entry(kind, at, fields, written, notes)
                kind, at, fields = ENTRIES[match["key"]], f"{file.place}: line {number}", {}
            elif not kind:
                raise failure(
                    f"{file.place}: line {number}",
                    f"{shown(word)} is before the first {' or '.join(ENTRIES)}: leave it out",
                )
            last = match["key"].lower()
            fields.setdefault(last, match["value"])
            written.setdefault(last, match["key"])
    if kind:
        yield from _entry(kind, at, fields, written, notes)


def _entry(
    kind: str, at: str, fields: Mapping[str, str], written: Mapping[str, str], notes: Notes
) -> Iterator[SlurmRow]:
    if kind == "reservations":
        notes.unused(RESERVATION, fields["reservationname"])
        return
    if kind == "partitions":
        unused_settings(kind, fields, notes)
        yield partition_row(at, fields)
        return
    cells: dict[str, str] = {}
    names: dict[str, str] = {}
    for key, column in COLUMNS[kind].items():
        if key in fields and fields[key] not in ("(null)", "None") and column not in cells:
            cells[column], names[column] = fields[key], written[key]
    if kind == "jobs":
        job = job_part(cells.get("JobID", ""), fields.get("hetjobid", ""), fields.get("hetjoboffset", ""))
        cells["JobID"] = array_job(fields.get("arrayjobid") or job, cells.get("ArrayTaskId", ""))
    yield SlurmRow(at, kind, _settled(cells), names)


def _loaded(file: File, lines: Sequence[str], notes: Notes) -> Iterator[SlurmRow]:
    """Yield what ``sacctmgr dump`` writes: accounts and users below the parent that was named last."""
    parent = "root"
    for number, line in enumerate(lines, start=1):
        match = LOADED.match(line)
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        at = f"{file.place}: line {number}"
        if match is None:
            raise failure(at, "is no line of sacctmgr dump: write Cluster, Parent, Account or User - 'name':...")
        name = match["name"]
        fields = dict(part.partition("=")[::2] for part in FIELD.findall(match["rest"].strip()) if "=" in part)
        cells = {"Share": fields.get("Fairshare", ""), "GrpTRES": fields.get("GrpTRES", "").strip("'")}
        cells["Partition"] = fields.get("Partition", "").strip("'")
        for limit in fields:
            if limit.startswith(("Grp", "Max")) and limit != "GrpTRES":
                notes.unused(f"{limit} of an account or user", name)
        if match["what"] == "Parent":
            parent = name
        elif match["what"] == "Cluster":
            yield SlurmRow(at, "limits", cells | {"Account": "root"})
        elif match["what"] == "Account":
            yield SlurmRow(at, "limits", cells | {"Account": name, "Parent": parent})
        elif match["what"] == "User" and (name, parent) != ("root", "root"):
            yield SlurmRow(at, "limits", cells | {"Account": parent, "User": name})


def _near(names: tuple[str, ...]) -> str:
    known = [column for columns in COLUMNS.values() for column in columns.values()]
    return next((near for name in names if len(name) > 3 and (near := suggestion(name, known))), "")
