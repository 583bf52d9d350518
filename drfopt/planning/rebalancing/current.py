"""What runs where today: whole tasks of every user on every class of machines, or on every machine.

{"placement": {user: {class: tasks}}}                           as ``drfopt solve --json`` prints it
{"machines": {machine: {"class": class, "tasks": {user: n}}}}   machine by machine; who is not listed is empty
{"tasks": {user: tasks}}                                        for a pool; or "users", a list of {name, tasks}

Of a user with several types of tasks the tasks are a table, {type: tasks}, or stand under "types" as `drfopt solve` and
`drfopt convert` write them: {user: [{"name": ..., "tasks": ..., "placement": {class: tasks}}]}. A type without a name
is called "#1" for the first, and so on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from ...base.errors import InstanceError, suggestion
from ...io.native.syntax import tree
from ...io.text.files import read_text, shown
from ...model.instance import Instance
from ...model.naming import labels, some, unique

__all__ = ["Current", "current_of", "labelled", "load_current", "type_names"]

LARGEST = 2**53
"""Most tasks in one place: larger numbers are no counts of anything."""


@dataclass(frozen=True, eq=False)
class Current:
    """Whole tasks of every user in every place.

    Attributes
    ----------
    places : tuple of str
        Names: of classes, of machines, or one for a pool.
    classes : tuple of int
        The class of each place; 0 for a pool.
    tasks : int array (rows, places)
        A row a user; a row a type, where users have several, as `drfopt.model.whole_values.by_types` has them.
    machines : bool
        Whether a place is one machine.
    """

    places: tuple[str, ...]
    classes: tuple[int, ...]
    tasks: np.ndarray
    machines: bool = False


def load_current(path: str | Path, instance: Instance) -> Current:
    """Read a file of what runs where.

    Raises
    ------
    InstanceError
        With file, place and value.
    """
    document = tree(read_text(path), "json", str(path))
    try:
        return current_of(document, instance)
    except InstanceError as error:
        raise InstanceError(f"{path}: {error}") from None


def current_of(document: Any, instance: Instance) -> Current:
    """Return what runs where from plain data.

    Raises
    ------
    InstanceError
        When a name is unknown, or a number of tasks is not whole.
    """
    if not isinstance(document, Mapping):
        raise InstanceError('is no table: write {"placement": {user: {class: tasks}}}')
    if instance.machines is None:
        return _pool(document, instance)
    if "machines" in document:
        return _machines(_table(document["machines"], "machines"), instance)
    if "placement" not in document:
        raise InstanceError("has neither 'placement' nor 'machines': write {\"placement\": {user: {class: tasks}}}")
    tasks = np.zeros((len(type_names(instance)), instance.k), dtype=np.int64)
    typed = _by_types(document, instance, tasks)
    for user, row in _table(document["placement"], "placement").items():
        i = _index(user, instance.users, "user")
        for name, count in _table(row, f"placement of {user!r}").items() if i not in typed else ():
            k = _index(name, instance.machine_names, "machine class")
            _put(count, instance, i, tasks[:, k], f"placement of {user!r} on {name!r}")
    return Current(instance.machine_names, tuple(range(instance.k)), tasks)


def labelled(values: Any, instance: Instance) -> dict[str, Any]:
    """Return a frame of tasks (users by classes), or of a pool a Series (users), as the data of a file."""
    pool, given = instance.machines is None, labels(values)
    if pool != (len(given) == 1) or None in given:
        shape = (
            "a Series of tasks with users as its index" if pool else "a frame with users as rows, classes as columns"
        )
        raise InstanceError(
            f"the current allocation is a {type(values).__name__} that does not say whose: give {shape}"
        )
    for names, word in zip(given, ("user", "machine class"), strict=False):
        unique(names or (), word)
    numbers = [[_count_of(x) for x in np.atleast_1d(row)] for row in values.to_numpy()]
    if pool:
        return {"tasks": {user: row[0] for user, row in zip(given[0] or (), numbers, strict=True)}}
    rows = zip(given[0] or (), numbers, strict=True)
    return {"placement": {user: dict(zip(given[1] or (), row, strict=True)) for user, row in rows}}


def _count_of(cell: Any) -> Any:
    """Return a cell as a number; pandas turns whole ones into floats where another is missing, which is none here."""
    if cell is None or cell != cell:
        return 0
    return int(cell) if cell == int(cell) else float(cell)


def _pool(document: Mapping, instance: Instance) -> Current:
    given = document.get("tasks")
    if given is None and isinstance(document.get("users"), list):
        rows = [_table(row, "users") for row in document["users"]]
        given = {str(row.get("name")): row.get("tasks") for row in rows}
    if given is None:
        raise InstanceError("has no 'tasks', and the cluster is one pool: write {\"tasks\": {user: tasks}}")
    tasks = np.zeros((len(type_names(instance)), 1), dtype=np.int64)
    typed = _by_types(document, instance, tasks)
    for user, count in _table(given, "tasks").items():
        i = _index(user, instance.users, "user")
        if i not in typed:
            _put(count, instance, i, tasks[:, 0], f"tasks of {user!r}")
    return Current(("the pool",), (0,), tasks)


def _machines(document: Mapping, instance: Instance) -> Current:
    """Return every machine as a place; those that are not listed are empty, and called after their class."""
    names, classes, rows = [], [], []
    for name, entry in document.items():
        entry = _table(entry, f"machine {name!r}")
        known = name in instance.machine_names
        of = entry.get("class", name if known else None)
        if of is None:
            raise InstanceError(f'machine {name!r} has no \'class\': write {{"class": ..., "tasks": {{user: n}}}}')
        k = _index(of, instance.machine_names, "machine class")
        running = entry.get("tasks", {}) if "class" in entry or "tasks" in entry else entry
        row = np.zeros(len(type_names(instance)), dtype=np.int64)
        for user, count in _table(running, f"tasks of machine {name!r}").items():
            _put(count, instance, _index(user, instance.users, "user"), row, f"tasks of {user!r} on {name!r}")
        names.append(str(name))
        classes.append(k)
        rows.append(row)
    for k, machine in enumerate(instance.machines or ()):
        listed = classes.count(k)
        if listed > machine.count:
            raise InstanceError(
                f"lists {listed} machines of class {machine.name!r}, of which there are {machine.count}"
            )
        for number in range(listed + 1, machine.count + 1):
            names.append(f"{machine.name} #{number}")
            classes.append(k)
            rows.append(np.zeros(len(type_names(instance)), dtype=np.int64))
    return Current(tuple(names), tuple(classes), np.array(rows).T, machines=True)


def type_names(instance: Instance) -> list[str]:
    """Return what the task type of each row by types is called; empty where a user has one."""
    kinds = instance.task_types or (None,) * instance.n
    return [
        "" if kind is None else kind.name or f"#{number}"
        for mine in kinds
        for number, kind in enumerate(mine or (None,), 1)
    ]


def _rows(instance: Instance, i: int) -> tuple[int, tuple[str, ...]]:
    """Return the first row by types of a user, and the names of its types; none where it has one."""
    kinds = instance.task_types or (None,) * instance.n
    first = sum(len(mine or (None,)) for mine in kinds[:i])
    mine = kinds[i]
    return first, tuple(type_names(instance)[first : first + len(mine)]) if mine else ()


def _put(count: Any, instance: Instance, i: int, column: np.ndarray, place: str) -> None:
    """Set the tasks of a user in a place: a number, or of several types a table."""
    first, names = _rows(instance, i)
    if not names:
        column[first] = _whole(count, place)
        return
    if not isinstance(count, Mapping):
        shape = f'{{"{names[0]}": {shown(count)}}}'
        raise InstanceError(
            f"{place} is {shown(count)}, but its tasks are of {len(names)} types: write a table such as {shape}"
        )
    for name, number in count.items():
        column[first + _index(name, names, "task type")] = _whole(number, f"{place}, type {name!r}")


def _by_types(document: Mapping, instance: Instance, tasks: np.ndarray) -> set[int]:
    """Set what a document says under "types", and return of whom that is."""
    found = set()
    for user, entries in _table(document.get("types") or {}, "types").items():
        i = _index(user, instance.users, "user")
        first, names = _rows(instance, i)
        if not isinstance(entries, list) or len(entries) != len(names):
            raise InstanceError(f"types of {user!r}: write a list with an entry for each of its {len(names)} types")
        for row, (name, entry) in enumerate(zip(names, entries, strict=True), first):
            entry, place = _table(entry, f"types of {user!r}"), f"type {name!r} of {user!r}"
            if entry.get("name", name) != name:
                raise InstanceError(f"types of {user!r}: {shown(entry['name'])} stands in the place of {name!r}")
            if instance.machines is None:
                tasks[row, 0] = _whole(entry.get("tasks", 0), place)
            for home, count in _table(entry.get("placement") or {}, place).items() if instance.machines else ():
                k = _index(home, instance.machine_names, "machine class")
                tasks[row, k] = _whole(count, f"{place} on {home!r}")
        found.add(i)
    return found


def _table(value: Any, place: str) -> Mapping:
    if not isinstance(value, Mapping):
        raise InstanceError(f"{place} is {shown(value)}: write a table")
    return value


def _index(name: Any, known: tuple[str, ...], what: str) -> int:
    if name not in known:
        near = suggestion(str(name), known)
        raise InstanceError(
            f"names {what} {shown(name)}, which the instance does not have{near} (it has {some(known)})"
        )
    return known.index(name)


def _whole(value: Any, place: str) -> int:
    number = isinstance(value, int | float | Decimal) and not isinstance(value, bool) and value == value
    if not number or not 0 <= value <= LARGEST or value != int(value):
        raise InstanceError(f"{place} is {shown(value)}: write a whole number of tasks, 0 or more")
    return int(value)
