"""What Slurm's commands print with ``--json``, as rows."""

from collections.abc import Iterator
from typing import Any

from ...text.files import failure
from ...text.parts import TreePart
from ..conversion import Notes
from .configuration import partition_row, unused_settings
from .row import RESERVATION, UNMODELLED, SlurmRow, array_job, job_part

__all__ = ["of_json"]

WRITTEN = {
    "CPUS": "cpus",
    "MEMORY": "real_memory",
    "MEMSPEC": "specialized_memory",
    "NNodes": "node_count",
    "RawShares": "shares",
    "Share": "shares_raw",
}
"""What the JSON calls the amounts of a row."""


def of_json(part: TreePart, notes: Notes) -> Iterator[SlurmRow]:
    """Yield the rows of one document, of every kind that is in it."""
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
    if "associations" in part:
        found = True
        for one in part["associations"].each():
            yield _association(one, notes)
    if "partitions" in part:
        found = True
        for one in part["partitions"].each():
            yield _partition(one, notes)
    if "reservations" in part:
        found = True
        for one in part["reservations"].each():
            notes.unused(RESERVATION, one["name"].text())
    if not found:
        raise failure(
            part.place,
            "has no nodes, sinfo, partitions, jobs, shares or associations: give what a command prints with --json",
        )


def _node(one: TreePart) -> SlurmRow:
    cells = {
        "NODELIST": one["name"].text(),
        "CPUS": _number(one["effective_cpus"]) or _number(one["cpus"]),
        "MEMORY": _number(one["real_memory"]),
        "MEMSPEC": _number(one["specialized_memory"]),
        "GRES": one["gres"].text(),
        "FEATURES": ",".join(_words(one["active_features"]) or _words(one["features"])),
        "PARTITION": ",".join(one["partitions"].texts()),
        "STATE": "+".join(_words(one["state"])),
    }
    return SlurmRow(one.place, "nodes", cells, WRITTEN)


def _nodes_of_sinfo(one: TreePart) -> Iterator[SlurmRow]:
    cells = {
        "CPUS": _least(one["cpus"]),
        "MEMORY": _least(one["memory"]),
        "GRES": one["gres"]["total"].text(),
        "FEATURES": one["features"]["active"].text() or one["features"]["total"].text(),
        "PARTITION": one["partition"]["name"].text(),
        "AVAIL": (_words(one["partition"]["partition"]["state"]) or [""])[0],
        "STATE": "+".join(_words(one["node"]["state"])),
    }
    for name in one["nodes"]["nodes"].texts():
        yield SlurmRow(one.place, "nodes", cells | {"NODELIST": name}, WRITTEN | {"MEMORY": "memory"})


def _job(one: TreePart) -> SlurmRow:
    states = _words(one["job_state"]) or _words(
        one["state"]["current"] if isinstance(one["state"].value, dict) else one["state"]
    )
    cells = {
        "JobID": _named(one),
        "User": one["user_name"].text() or one["user"].text(),
        "Account": one["account"].text(),
        "Partition": one["partition"].text(),
        "State": (states or [""])[0],
        "Reason": one["state_reason"].text()
        or (one["state"]["reason"].text() if isinstance(one["state"].value, dict) else ""),
        "NNodes": _number(one["node_count"]) or _number(one["allocation_nodes"]),
        "Constraint": one["features"].text() or one["constraints"].text(),
        "ReqTRES": one["tres_req_str"].text() or _tres(one["tres"], "requested"),
        "AllocTRES": one["tres_alloc_str"].text() or _tres(one["tres"], "allocated"),
        "NodeMem": _number(one["memory_per_node"]),
        "CoreMem": _number(one["memory_per_cpu"]),
        "NodeGRES": one["tres_per_node"].text(),
        "JobGRES": one["tres_per_job"].text(),
        "TaskGRES": one["tres_per_task"].text(),
        "NodeList": one["nodes"].text() if not isinstance(one["nodes"].value, dict | list) else "",
    }
    cells |= {what: _told(one[row.key]) for what, row in UNMODELLED.items()}
    return SlurmRow(one.place, "jobs", cells, WRITTEN)


def _named(one: TreePart) -> str:
    """Return what ``squeue`` calls a job; 0 stands for none where it is of no array and part of no other job."""
    array, het = one["array"], one["het"]  # of sacct
    whole, first = (
        next((number for part in parts if (number := _number(part)) not in ("", "0")), "")
        for parts in ((one["array_job_id"], array["job_id"]), (one["het_job_id"], het["job_id"]))
    )
    if whole:
        tasks = one["array_task_string"].text() or array["task"].text()
        return array_job(whole, tasks or _number(one["array_task_id"]) or _number(array["task_id"]))
    return job_part(one["job_id"].text(), first, _number(one["het_job_offset"]) or _number(het["job_offset"]))


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
        "Partition": one["partition"].text(),
    }
    return SlurmRow(one.place, "shares", cells, WRITTEN)


def _association(one: TreePart, notes: Notes) -> SlurmRow:
    for above, limits in (("max.tres", one["max"]["tres"]), ("max", one["max"])):
        for key, limit in limits.pairs():
            if (above, key) not in (("max.tres", "total"), ("max", "tres")) and _says(limit.value):
                notes.unused(f"{above}.{key} of an account or user", one["user"].text() or one["account"].text())
    cells = {
        "Account": one["account"].text(),
        "User": one["user"].text(),
        "Parent": one["parent_account"].text(),
        "Share": _number(one["shares_raw"]),
        "Partition": one["partition"].text(),
        "GrpTRES": _tres(one["max"]["tres"], "total"),
    }
    return SlurmRow(one.place, "limits", cells, WRITTEN)


def _partition(one: TreePart, notes: Notes) -> SlurmRow:
    """Return a partition in the words of the text format."""
    fields = {
        "partitionname": one["name"].text(),
        "nodes": one["nodes"]["configured"].text(),
        "state": (_words(one["partition"]["state"]) or [""])[0],
        "totalnodes": _number(one["nodes"]["total"]),
        "allowaccounts": one["accounts"]["allowed"].text(),
        "denyaccounts": one["accounts"]["deny"].text(),
        "allowgroups": one["groups"]["allowed"].text(),
        "allowqos": one["qos"]["allowed"].text(),
        "denyqos": one["qos"]["deny"].text(),
        "qos": one["qos"]["assigned"].text(),
    }
    unused_settings("partitions", fields, notes)
    return partition_row(one.place, fields)


def _least(part: TreePart) -> str:
    """Return what each node of an entry has at least, with a plus where some have more, as text says it."""
    least, most = _number(part["minimum"]), _number(part["maximum"])
    return most if least in ("", most) else f"{least}+"


def _number(part: TreePart) -> str:
    """Return a number, which newer versions wrap in a table that says whether it is set."""
    if isinstance(part.value, dict):
        return part["number"].text() if part["set"].value is not False else ""
    return part.text()


def _says(value: Any) -> bool:
    """Return whether anything below a key is set: numbers are wrapped in tables that say so, and 0 is none."""
    if isinstance(value, dict):
        return value["set"] is True if "set" in value else any(map(_says, value.values()))
    return any(map(_says, value)) if isinstance(value, list) else bool(value)


def _told(part: TreePart) -> str:
    """Return whatever a key says as one text."""
    if isinstance(part.value, bool):
        return "true" if part.value else "false"
    return ",".join(_words(part)) if isinstance(part.value, list) else _number(part)


def _words(part: TreePart) -> list[str]:
    value: Any = part.value
    return part.texts() if isinstance(value, list) else [part.text()] if value is not None else []
