"""What runs where today: whole tasks of every user on every class of machines, or on every machine.

{"placement": {user: {class: tasks}}}                           as ``drfopt solve --json`` prints it
{"machines": {machine: {"class": class, "tasks": {user: n}}}}   machine by machine; who is not listed is empty
{"tasks": {user: tasks}}                                        for a pool; or "users", a list of {name, tasks}

Of a user with several types a number is a table {type: tasks}, types by their names or numbers from 1 on; or all of
them are listed under "types", as ``drfopt solve --json`` prints it.  In a pool a number of tasks will do: they are the
first of the user's sequence.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...base.errors import InstanceError, suggestion
from ...base.numbers.quantities import MOST_COUNTED
from ...base.numbers.reals import is_real
from ...io.native.syntax import tree
from ...io.text.files import read_text, shown
from ...model.instance import Instance
from ...model.naming import labels, some, unique
from ...model.whole_values import type_rows

__all__ = ["Current", "current_of", "labelled", "load_current"]


@dataclass(frozen=True, eq=False)
class Current:
    """Whole tasks of every user in every place.

    Attributes
    ----------
    places : tuple of str
        Names: of classes, of machines, or one for a pool.
    classes : tuple of int
        The class of each place; 0 for a pool.
    tasks : int array (n, places)
        Of a user with several types a row a type (`drfopt.model.whole_values.type_rows`).
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
    types, listed = _Rows(instance), _listed(document, instance)
    tasks = np.zeros((types.number, instance.k), dtype=np.int64)
    for user, row in _table(document["placement"], "placement").items():
        i = _index(user, instance.users, "user")
        for name, count in _table(row, f"placement of {user!r}").items():
            k = _index(name, instance.machine_names, "machine class")
            if user not in listed:
                for q, x in types.of(i, count, f"placement of {user!r} on {name!r}"):
                    tasks[q, k] = x
    for user, entries in listed.items():
        for q, entry in zip(types.rows[instance.users.index(user)], entries, strict=True):
            for name, count in _table(entry.get("placement", {}), f"types of {user!r}").items():
                k = _index(name, instance.machine_names, "machine class")
                tasks[q, k] = _whole(count, f"types of {user!r} on {name!r}")
    return Current(instance.machine_names, tuple(range(instance.k)), tasks)


class _Rows:
    """The rows of users, one for each type of theirs, and how a number of tasks says which they are."""

    def __init__(self, instance: Instance):
        self.instance, self.rows = instance, type_rows(instance)
        self.number = self.rows[-1].stop if self.rows else 0

    def of(self, i: int, count: Any, place: str) -> list[tuple[int, int]]:
        """Return rows of user i with whole tasks of each."""
        instance, kinds = self.instance, (self.instance.task_types or {i: None})[i]
        if not kinds:
            return [(self.rows[i][0], _whole(count, place))]
        if not isinstance(count, Mapping):
            if instance.machines is not None:
                raise InstanceError(
                    f"{place} is {shown(count)}, but its tasks are of several types: write {{type: tasks}}"
                )
            # No more than all of them.
            x = min(_whole(count, place), sum(instance.type_sequences[i].counts))
            return list(zip(self.rows[i], instance.types_started(i, x), strict=True))
        names = tuple(kind.name or str(t) for t, kind in enumerate(kinds, start=1))
        return [
            (self.rows[i][_index(name, names, "task type")], _whole(x, f"{place}, {name!r}"))
            for name, x in count.items()
        ]


def _listed(document: Mapping, instance: Instance) -> dict[str, list[Mapping]]:
    """Return what a document lists of each user with several types, in the order of these."""
    found = {}
    for user, entries in _table(document.get("types", {}), "types").items():
        kinds = (instance.task_types or (None,) * instance.n)[_index(user, instance.users, "user")]
        if not isinstance(entries, list) or len(entries) != len(kinds or ()):
            raise InstanceError(f"types of {user!r} is {shown(entries)}: write an entry for each of its task types")
        found[user] = [_table(entry, f"types of {user!r}") for entry in entries]
    return found


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
    types, listed = _Rows(instance), _listed(document, instance)
    tasks = np.zeros((types.number, 1), dtype=np.int64)
    for user, count in _table(given, "tasks").items():
        i = _index(user, instance.users, "user")
        place = f"tasks of {user!r}"
        each = [_whole(entry.get("tasks", 0), place) for entry in listed.get(user, ())]
        for q, x in zip(types.rows[i], each, strict=True) if each else types.of(i, count, place):
            tasks[q, 0] = x
    return Current(("the pool",), (0,), tasks)


def _machines(document: Mapping, instance: Instance) -> Current:
    """Return every machine as a place; those that are not listed are empty, and called after their class."""
    names, classes, rows, types = [], [], [], _Rows(instance)
    for name, entry in document.items():
        entry = _table(entry, f"machine {name!r}")
        known = name in instance.machine_names
        of = entry.get("class", name if known else None)
        if of is None:
            raise InstanceError(f'machine {name!r} has no \'class\': write {{"class": ..., "tasks": {{user: n}}}}')
        k = _index(of, instance.machine_names, "machine class")
        running = entry.get("tasks", {}) if "class" in entry or "tasks" in entry else entry
        row = np.zeros(types.number, dtype=np.int64)
        for user, count in _table(running, f"tasks of machine {name!r}").items():
            i = _index(user, instance.users, "user")
            for q, x in types.of(i, count, f"tasks of {user!r} on {name!r}"):
                row[q] = x
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
            rows.append(np.zeros(types.number, dtype=np.int64))
    return Current(tuple(names), tuple(classes), np.array(rows).T, machines=True)


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
    number = is_real(value)
    if number and value > MOST_COUNTED:
        raise InstanceError(f"{place} is {shown(value)}: write at most {MOST_COUNTED:,} tasks")
    if not number or value < 0 or value != int(value):
        raise InstanceError(f"{place} is {shown(value)}: write a whole number of tasks, 0 or more")
    return int(value)
