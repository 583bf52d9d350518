"""Two comma-separated files that any cluster's numbers can be put into, by a spreadsheet or a query.

    machines    machine [, count] , RESOURCE ... [, label:KEY ...]
    tasks       user [, task] [, count] [, machine] [, weight] [, group] , RESOURCE ... [, label:KEY ...]

A column with another name is a resource, in the same unit in both files; an empty cell is 0. In the tasks, ``count``
is 1 when left out, ``machine`` is the machine on which they run now (by the name in the other file), and ``label:KEY``
lists the values that will do, ``A|B``. Rows of a user with unlike demands are her task types. ``weight`` and ``group``
are those of the user: every row of hers that gives one gives the same. Lines that begin with # are comments.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from ...base.errors import InstanceError, renaming, suggestion
from ..text.files import File, failure, shown
from ..text.parts import CsvRow, with_header
from .conversion import Contents, ListedMachine, Notes, ReadOptions, Task, named

__all__ = ["machine_row", "read"]

LABEL = "label:"
OF_MACHINES = ("machine", "count")
OF_TASKS = ("user", "task", "count", "machine", "weight", "group")
COUNTS = ("tasks", "max_tasks", "number", "replicas")
"""What others call how many tasks a row is of."""

Labels = tuple[tuple[str, str], ...]


def read(files: Sequence[File], asked: ReadOptions) -> Contents:
    """Read machines and tasks.

    Raises
    ------
    InstanceError
        With file and line.
    """
    notes = Notes()
    nodes: list[ListedMachine] = []
    tasks: list[Task] = []
    members: dict[str, dict[str, Any]] = {}
    for file in files:
        for row in with_header(file, comment="#"):
            if "user" in row.cells:
                tasks.append(_task(row, members))
            elif "machine" in row.cells:
                nodes.append(machine_row(row))
            else:
                columns = list(row.cells)
                near = renaming("machine", columns) or renaming("user", columns) or ": name the columns"
                raise failure(file.place, f"has neither a column 'machine' nor 'user'{near} in line 1")
    nodes = asked.nodes(nodes, lambda name, labels: tuple(labels.items()), notes)
    if nodes and tasks:
        _check_columns(nodes, tasks)
    return Contents(
        f"csv, {files[0].stem}",
        f"{named(files)}; units as they are there",
        nodes,
        tasks,
        notes,
        lambda needs, labels: not _missing(needs, labels),
        pool=asked.pool,
        members=members,
        missing=_missing,
    )


def _amounts(row: CsvRow, known: tuple[str, ...]) -> dict[str, Fraction]:
    found: dict[str, Fraction] = {}
    for column in row.cells:
        if column and column not in known and not column.startswith(LABEL):
            small = column.casefold()
            if small in known or small.startswith(LABEL):
                wanted = small if small in known else LABEL + column[len(LABEL) :]
                raise failure(row.place, f"the header has a column {shown(column)}: write {wanted!r} for it")
            try:
                found[column] = row.amount(column)
            except InstanceError as error:
                raise InstanceError(f"{error} (a column is a resource, but for {_words(known)})") from None
    return found


def _words(known: tuple[str, ...]) -> str:
    return f"{', '.join(known)} and {LABEL}KEY"


def _labels(row: CsvRow) -> Labels:
    return tuple(
        (column[len(LABEL) :], row[column]) for column in row.cells if column.startswith(LABEL) and row[column]
    )


def machine_row(row: CsvRow) -> ListedMachine:
    """Return the machines of a row of ``machines``."""
    labels = _labels(row)
    name = row["machine"]
    if not name:
        raise failure(row.place, "the machine has no name: write one")
    count = replace(row, place=f"{row.place}: machine {shown(name)}").count("count", 1) if row["count"] else 1
    return ListedMachine(name, _amounts(row, OF_MACHINES), features=labels, labels=dict(labels), count=count)


def _task(row: CsvRow, members: dict[str, dict[str, Any]]) -> Task:
    user = row["user"]
    if not user:
        raise failure(row.place, "the task has no user: write one")
    known = members.setdefault(user, {})
    for key, value in (("weight", row["weight"]), ("group", row["group"])):
        if value and known.setdefault(key, value) != value:
            raise failure(
                row.place, f"{key} of {shown(user)} is {shown(value)}, and {shown(known[key])} above: write one"
            )
    count = row.count("count") if row["count"] else 1
    home = row["machine"] or None
    return Task(user, _amounts(row, OF_TASKS), count, _labels(row), row["task"], home)


def _missing(needs: Labels, labels: Labels) -> list[str]:
    there = dict(labels)
    return [
        f"has not {key}={values}"
        for key, values in needs
        if there.get(key) not in {value.strip() for value in values.split("|")}
    ]


def _check_columns(nodes: list[ListedMachine], tasks: list[Task]) -> None:
    """Refuse a resource of the tasks that no machine has a column for: it is a misspelt one."""
    there = dict.fromkeys(resource for node in nodes for resource in node.capacity)
    for resource in dict.fromkeys(resource for task in tasks for resource in task.demand):
        if resource not in there:
            counts = ": did you mean 'count'?" if resource.casefold() in COUNTS else ""
            near = counts or suggestion(resource, [*there, *OF_TASKS])
            raise InstanceError(
                f"csv: tasks have a column {resource!r}, machines have {', '.join(there)}{near} "
                f"(a column is a resource of both, but for {_words(OF_TASKS)})"
            )
