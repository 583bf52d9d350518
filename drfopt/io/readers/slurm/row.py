"""A row of what Slurm prints, whatever printed it, and what several ways of printing share."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ....base.numbers.quantities import only_digits

__all__ = ["NOTHING", "OUT_OF_USE", "RESERVATION", "UNMODELLED", "SlurmRow", "Unmodelled", "array_job", "job_part"]

OUT_OF_USE = " ("
"""Behind the name of a partition that runs nothing, before the state that says why: no job asks for it so."""

NOTHING = ("", "(null)", "N/A", "n/a", "None", "none", "Unknown", "UNLIMITED")
"""What is printed for nothing."""


@dataclass(frozen=True)
class Unmodelled:
    """What a job may ask for and no instance can say: in words, the key of the JSON, and what asks for nothing."""

    words: str
    key: str = ""
    nothing: tuple[str, ...] = NOTHING


UNMODELLED: Mapping[str, Unmodelled] = {
    "Licenses": Unmodelled("licence of a job", "licenses"),
    "Dependency": Unmodelled("dependency of a job: it is there at once", "dependency"),
    "ReqNodeList": Unmodelled("list of nodes that a job asks for: it may run anywhere", "required_nodes"),
    "ExcNodeList": Unmodelled("list of nodes that a job keeps away from: it may run anywhere", "excluded_nodes"),
    "Reservation": Unmodelled("reservation of a job", "resv_name"),
    "OverSubscribe": Unmodelled(
        "job that has its nodes for itself: it takes what it asks for", "exclusive", (*NOTHING, "OK", "YES", "false")
    ),
    "BeginTime": Unmodelled("time before which a job does not begin: it is there at once"),
    "MinTmpDiskNode": Unmodelled("disk for temporary files of a job", "minimum_tmp_disk_per_node", (*NOTHING, "0")),
}
"""As ``scontrol show job`` calls it."""

RESERVATION = "reservation: its nodes take any job"


@dataclass(frozen=True)
class SlurmRow:
    """A line: where it is, which kind, and its columns by name; what the file calls those that it calls otherwise."""

    place: str
    kind: str
    cells: dict[str, str] = field(default_factory=dict)
    written: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, column: str) -> str:
        """Return a column without spaces around it; empty where the file does not have it."""
        return self.cells.get(column, "").strip()

    def called(self, column: str) -> str:
        """Return what the file calls a column, so that a sentence names what stands there."""
        return self.written.get(column, column)


def array_job(job: str, tasks: str) -> str:
    """Return what ``squeue`` calls a job: ``1003_7`` one of an array, ``1003_[8-20%2]`` those that are no jobs yet."""
    return job if not tasks else f"{job}_{tasks}" if only_digits(tasks) else f"{job}_[{tasks}]"


def job_part(job: str, first: str, offset: str) -> str:
    """Return what ``squeue`` calls a job that is a part of a heterogeneous one: ``1020+1``."""
    return f"{first}+{offset or 0}" if first not in ("", "0") else job
