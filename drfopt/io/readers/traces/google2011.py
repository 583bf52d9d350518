"""The Google cluster trace of 2011 (Reiss, Wilkes, Hellerstein: Google cluster-usage traces, format and schema, 2011).

    machine_events   time, machine id, event (0 add, 1 remove, 2 update), platform, CPUs, memory
    task_events      time, missing, job, index, machine id, event, user, class, priority, CPU, memory, disk, different

No header; amounts are relative to the largest machine. The instance is the cluster at the end of the files: machines
that were not removed, and tasks that were submitted (0) or scheduled (1) and have not ended (2 to 6).
"""

from collections.abc import Sequence

from ....base.numbers.quantities import only_digits, parse
from ...text.files import File, failure
from ...text.parts import CsvRow, first_line, without_header
from ..conversion import Contents, ListedMachine, Notes, ReadOptions, Task

__all__ = ["read"]

MACHINES = ("time", "machine", "event", "platform", "cpu", "memory")
TASKS = (
    "time",
    "missing",
    "job",
    "index",
    "machine",
    "event",
    "user",
    "class",
    "priority",
    "cpu",
    "memory",
    "disk",
    "different_machines",
)
REMOVE = 1
LONGEST_TIME = 20
"""Digits of a time in microseconds; the trace ends its last times with 2^63 - 1."""

TaskKey = tuple[str, str]
"""Job and index of a task."""

SUBMIT, SCHEDULE, UPDATES = 0, 1, (7, 8)
"""Events of a task; all others end it."""


def read(files: Sequence[File], asked: ReadOptions) -> Contents:
    """Read machine events and task events.

    Raises
    ------
    InstanceError
        With file and line.
    """
    notes = Notes()
    machines: dict[str, CsvRow] = {}
    tasks: dict[TaskKey, tuple[CsvRow, str]] = {}
    ended: dict[TaskKey, str] = {}
    for file in sorted(files, key=_beginning):
        width = len(first_line(file))
        if width not in (len(MACHINES), len(TASKS)):
            raise failure(
                file.place, f"has {width} columns: machine_events has {len(MACHINES)}, task_events {len(TASKS)}"
            )
        for row in without_header(file, MACHINES if width == len(MACHINES) else TASKS):
            if width == len(MACHINES):
                if row.count("event") == REMOVE:
                    machines.pop(row["machine"], None)
                elif row["cpu"] and row["memory"]:
                    machines[row["machine"]] = row
                else:
                    notes.no_machine("machine event without amounts", row["machine"])
            else:
                _follow(row, tasks, ended)
    for (job, index), what in ended.items():
        notes.no_task(what, f"{job}/{index}")
    nodes = [
        ListedMachine(name, {"cpu": parse(row["cpu"]), "memory": parse(row["memory"])}, row["platform"][:6], labels={})
        for name, row in machines.items()
    ]
    wanted = []
    for row, home in tasks.values():
        if not row["cpu"] and not row["memory"]:
            notes.no_task("task without amounts", f"{row['job']}/{row['index']}")
            continue
        notes.blank(row, "a task", f"{row['job']}/{row['index']}", ("cpu", "memory"))
        demand = {"cpu": row.amount("cpu"), "memory": row.amount("memory")}
        wanted.append(Task(row["user"] or "no user", demand, 1, None, f"job {row['job']}", home or None))
    if wanted:
        notes.unused("resource of tasks that machines do not list: disk")
        notes.unused("priority, scheduling class, different machines and constraints of tasks")
    return Contents(
        f"google2011, {files[0].stem}",
        f"Google cluster trace of 2011: machines {len(nodes):,}, tasks {len(wanted):,} at the end of the files; "
        "amounts relative to the largest machine",
        nodes,
        wanted,
        notes,
    )


def _beginning(file: File) -> tuple[int, str]:
    """Return when a file begins: the parts of a trace are followed in the order of time."""
    time = next(iter(first_line(file)), "")
    return (int(time) if only_digits(time) and len(time) <= LONGEST_TIME else 0), file.name


def _follow(row: CsvRow, tasks: dict[TaskKey, tuple[CsvRow, str]], ended: dict[TaskKey, str]) -> None:
    """Take an event of a task, which may end and be submitted again many times."""
    key, event = (row["job"], row["index"]), row.count("event")
    if event in (SUBMIT, SCHEDULE):
        tasks[key] = (row, row["machine"] if event == SCHEDULE else "")
        ended.pop(key, None)
    elif event in UPDATES:
        if key in tasks:
            tasks[key] = (row, tasks[key][1])
    elif tasks.pop(key, None) is not None:
        ended[key] = "task that has ended"
    else:
        ended.setdefault(key, "end of a task that the files do not begin")
