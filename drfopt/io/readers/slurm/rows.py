"""What Slurm's commands print, text or JSON, as rows of four kinds: nodes, jobs, shares and limits."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ....base.errors import suggestion
from ...text.files import File, failure
from ...text.parts import TreePart, parts

__all__ = ["SlurmRow", "rows"]

NODES = ("NODELIST", "CPUS", "MEMORY", "GRES", "PARTITION", "STATE")
LIMITS = ("Account", "User", "Share", "GrpTRES")
"""Columns of what is printed without a header."""

HEADERS = {
    "nodes": ("STATE", "CPUS"),
    "jobs": ("State", "ReqTRES"),
    "shares": ("Account", "RawShares"),
    "limits": ("Account", "GrpTRES"),
}
"""Columns by which a header is known."""

EXPECTED = "what sinfo -h -N -o '%N|%c|%m|%G|%P|%T', sacct -X -P -o ..., sshare -a -P or sacctmgr -nP print"


@dataclass(frozen=True)
class SlurmRow:
    """A line: where it is, which kind, and its columns by name."""

    place: str
    kind: str
    cells: dict[str, str] = field(default_factory=dict)

    def __getitem__(self, column: str) -> str:
        """Return a column without spaces around it; empty where the file does not have it."""
        return self.cells.get(column, "").strip()


def rows(file: File) -> Iterator[SlurmRow]:
    """Yield the rows of a file.

    Raises
    ------
    InstanceError
        When it is none of the kinds, or a line has another number of columns than the first.
    """
    if file.text.lstrip()[:1] in ("{", "["):
        for part in parts(file):
            yield from _of_json(part)
        return
    header: tuple[str, ...] = ()
    kind = ""
    for number, line in enumerate(file.text.splitlines(), start=1):
        if not line.strip():
            continue
        cells = tuple(line.split("|"))
        at = f"{file.place}: line {number}"
        if not header:
            names = tuple(cell.strip() for cell in cells)
            kind = next((kind for kind, known in HEADERS.items() if set(known) <= set(names)), "")
            if kind:
                header = names
                continue
            if len(cells) not in (len(NODES), len(LIMITS)):
                raise failure(at, f"is neither a header nor a row of nodes or limits{_near(names)}: give {EXPECTED}")
            kind, header = ("nodes", NODES) if len(cells) == len(NODES) else ("limits", LIMITS)
        if len(cells) != len(header):
            raise failure(at, f"has {len(cells)} columns, but there are {len(header)}: write | between them only")
        yield SlurmRow(at, kind, dict(zip(header, cells, strict=True)))


def _near(names: tuple[str, ...]) -> str:
    known = [column for columns in HEADERS.values() for column in columns]
    return next((near for name in names if (near := suggestion(name, known))), "")


# ---- JSON --------------------------------------------------------------------------------------------------


def _of_json(part: TreePart) -> Iterator[SlurmRow]:
    if not isinstance(part.value, dict):
        raise part.wrong("give what a command of Slurm prints with --json")
    found = False
    if "nodes" in part:
        found = True
        for one in part["nodes"].each():
            yield _node(one)
    if "sinfo" in part:
        found = True
        for one in part["sinfo"].each():
            yield from _nodes_of_sinfo(one)
    if "jobs" in part:
        found = True
        for one in part["jobs"].each():
            yield _job(one)
    if "shares" in part:
        found = True
        shares = part["shares"]
        for one in (shares["shares"] if isinstance(shares.value, dict) else shares).each():
            yield _share(one)
    if not found:
        raise failure(part.place, "has neither nodes, sinfo, jobs nor shares: give what a command prints with --json")


def _node(one: TreePart) -> SlurmRow:
    cells = {
        "NODELIST": one["name"].text(),
        "CPUS": _number(one["cpus"]),
        "MEMORY": _number(one["real_memory"]),
        "GRES": one["gres"].text(),
        "PARTITION": ",".join(one["partitions"].texts()),
        "STATE": "+".join(_words(one["state"])),
    }
    return SlurmRow(one.place, "nodes", cells)


def _nodes_of_sinfo(one: TreePart) -> Iterator[SlurmRow]:
    cells = {
        "CPUS": _number(one["cpus"]["maximum"]),
        "MEMORY": _number(one["memory"]["maximum"]),
        "GRES": one["gres"]["total"].text(),
        "PARTITION": one["partition"]["name"].text(),
        "STATE": "+".join(_words(one["node"]["state"])),
    }
    for name in one["nodes"]["nodes"].texts():
        yield SlurmRow(one.place, "nodes", cells | {"NODELIST": name})


def _job(one: TreePart) -> SlurmRow:
    states = _words(one["job_state"]) or _words(
        one["state"]["current"] if isinstance(one["state"].value, dict) else one["state"]
    )
    array = one["array_task_string"].text()
    cells = {
        "JobIDRaw": one["job_id"].text() + (f"_[{array}]" if array else ""),
        "User": one["user_name"].text() or one["user"].text(),
        "Account": one["account"].text(),
        "Partition": one["partition"].text(),
        "State": (states or [""])[0],
        "NNodes": _number(one["node_count"]) or _number(one["allocation_nodes"]),
        "ReqTRES": one["tres_req_str"].text() or _tres(one["tres"], "requested"),
        "AllocTRES": one["tres_alloc_str"].text() or _tres(one["tres"], "allocated"),
        "NodeList": one["nodes"].text() if not isinstance(one["nodes"].value, dict | list) else "",
    }
    return SlurmRow(one.place, "jobs", cells)


def _tres(part: TreePart, key: str) -> str:
    """Return the list of a job's TRES in the words of the text format."""
    found = []
    for one in part[key].each() if isinstance(part.value, dict) else ():
        kind, name = one["type"].text(), one["name"].text()
        found.append(f"{kind}{'/' if name else ''}{name}={_number(one['count'])}")
    return ",".join(found)


def _share(one: TreePart) -> SlurmRow:
    user = "USER" in _words(one["type"])
    cells = {
        "Account": one["parent"].text() if user else one["name"].text(),
        "User": one["name"].text() if user else "",
        "Parent": "" if user else one["parent"].text(),
        "RawShares": _number(one["shares"]),
    }
    return SlurmRow(one.place, "shares", cells)


def _number(part: TreePart) -> str:
    """Return a number, which newer versions wrap in a table that says whether it is set."""
    if isinstance(part.value, dict):
        return part["number"].text() if part["set"].value is not False else ""
    return part.text()


def _words(part: TreePart) -> list[str]:
    value: Any = part.value
    return part.texts() if isinstance(value, list) else [part.text()] if value is not None else []
