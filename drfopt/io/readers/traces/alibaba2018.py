"""The Alibaba cluster trace of 2018 (cluster-trace-v2018, its schema.txt).

    machine_meta     machine, time, domain 1, domain 2, cpus, memory, status
    batch_task       task, instances, job, type, status, start, end, cpu (100 is a core), memory
    container_meta   container, machine, time, app, status, cpu request (100 is a core), cpu limit, memory

No header; memory is in hundredths of the largest machine's, and so is that of machines (100). A user is a job of the
batch (its tasks are her types) or an app (its containers). Of a machine or container that is listed several times the
latest line counts, every line of a batch task.
"""

from collections.abc import Sequence
from fractions import Fraction

from ...text.files import File, failure
from ...text.parts import CsvRow, first_line, without_header
from ..conversion import Contents, ListedMachine, Notes, ReadOptions, Task

__all__ = ["read"]

MACHINES = ("machine", "time", "domain_1", "domain_2", "cpu", "memory", "status")
BATCH = ("task", "instances", "job", "type", "status", "start", "end", "cpu", "memory")
CONTAINERS = ("container", "machine", "time", "app", "status", "cpu", "cpu_limit", "memory")

AMOUNTS = ("cpu", "memory")

ENDED = ("terminated", "failed", "cancelled", "interrupted", "stopped")
CENTICORES = 100

IGNORED = {
    MACHINES: "failure domains of machines",
    BATCH: "start, end, type and dependencies (in their names) of batch tasks: they are there at once",
    CONTAINERS: "limit of cpu of containers",
}
"""Columns that play no part."""


def read(files: Sequence[File], asked: ReadOptions) -> Contents:
    """Read machines with batch tasks, containers or both.

    Raises
    ------
    InstanceError
        With file and line.
    """
    notes = Notes()
    kinds = {len(columns): columns for columns in (MACHINES, BATCH, CONTAINERS)}
    machines: dict[str, CsvRow] = {}
    batch: list[CsvRow] = []
    containers: dict[str, CsvRow] = {}
    for file in files:
        columns = kinds.get(len(first_line(file)))
        if columns is None:
            wanted = f"machine_meta has {len(MACHINES)}, batch_task {len(BATCH)}, container_meta {len(CONTAINERS)}"
            raise failure(file.place, f"has {len(first_line(file))} columns: {wanted}")
        notes.unused(IGNORED[columns], file.name)
        for row in without_header(file, columns):
            if columns is MACHINES:
                _latest(machines, row["machine"], row)
            elif columns is BATCH:
                batch.append(row)
            else:
                _latest(containers, row["container"], row)
    nodes = []
    for name, row in machines.items():
        if row["status"].upper() not in ("USING", ""):
            notes.no_machine(f"machine that is {row['status']}", name)
        else:
            notes.blank(row, "a machine", name, AMOUNTS)
            nodes.append(ListedMachine(name, {"cpu": row.amount("cpu"), "memory": row.amount("memory")}))
    ended = [row for row in batch if row["status"].lower() in ENDED]
    # A trace of the past has only tasks that have ended: these are what the jobs wanted.
    if len(ended) == len(batch):
        alive = batch
        if batch:
            notes.assumed("batch task that has ended counts as wanted: none of the list runs", count=len(batch))
    else:
        alive = [row for row in batch if row["status"].lower() not in ENDED]
        if ended:
            notes.no_task("batch task that has ended", ended[0]["task"], len(ended))
    tasks = []
    for row in alive:
        count = row.count("instances")
        if not count:
            notes.no_task("batch task of no instances", row["task"])
            continue
        notes.blank(row, "a batch task", row["task"], AMOUNTS)
        tasks.append(Task(f"job {row['job']}", _demand(row), count, None, row["task"]))
    for name, row in containers.items():
        if row["status"].lower() in ENDED:
            notes.no_task("container that has ended", name)
        else:
            notes.blank(row, "a container", name, AMOUNTS)
            tasks.append(Task(row["app"], _demand(row), 1, None, name, row["machine"] or None))
    return Contents(
        f"alibaba2018, {files[0].stem}",
        f"Alibaba cluster trace of 2018: machines {len(nodes):,}; cpu in cores, memory in hundredths",
        nodes,
        tasks,
        notes,
    )


def _latest(known: dict[str, CsvRow], key: str, row: CsvRow) -> None:
    if key not in known or row.amount("time") >= known[key].amount("time"):
        known[key] = row


def _demand(row: CsvRow) -> dict[str, Fraction]:
    return {"cpu": row.amount("cpu") / CENTICORES, "memory": row.amount("memory")}
