"""The instance file of this package, in TOML, JSON or YAML: values kept exactly, every error one line.

    [capacity]                          or     [[machines]]  name, capacity = {...}, count, devices
    cpu = 9
    memory = 18

    [[users]]
    name = "A"
    demand = { cpu = 1, memory = "4" }  integers, decimals, fractions "1/3", quantities "500m", "4Gi"
    weight = 1                          or a table per resource; optional
    max_tasks = 10                      optional
    machines = ["xl"]                   the classes this user may use; optional
    tasks = [{ demand = {...}, count = 30 }]        several types of tasks, instead of demand
    guarantee = { cpu = 4 }, ceiling = { cpu = 10 } what she is promised, the most she may use; optional
    tier = 1, group = "eng/dev"         higher tiers are served first; optional

    [[groups]]  name = "eng", weight, guarantee, ceiling, tier
    guarantees = "floor"                or "surplus", "normalised": what a guarantee means
    excluded = ["gpu"]                  resources that are not counted in shares

``name`` and ``source`` of the whole stand at the top, and ``schema = "drfopt instance 1"``, which may be left out.
0.1 is 1/10, not the float nearest to it.
"""

from pathlib import Path
from typing import Any

from ...base.errors import InstanceError
from ...model.instance import Instance
from ...model.machine import Machine
from ...model.organisation import Group, Organisation
from ...model.users import TaskType
from ..text.files import failure
from .entries import InstanceFile, UserEntry, validated
from .syntax import checked_text, read_as, tree

__all__ = ["built", "load", "loads"]


EMPTY = "is empty: 'drfopt new' prints an instance file to start from"


def load(path: str | Path) -> Instance:
    """Read an instance file.

    Parameters
    ----------
    path : str or Path
        A file in TOML, JSON or YAML by its suffix, of at most 200 MiB; ``-`` is standard input, in any of
        the three.

    Raises
    ------
    InstanceError
        In one line: the file, the place in it, the value and the remedy.
    """
    return loads(*read_as(path, EMPTY))


def loads(text: str, format: str | None = None, place: str = "<text>") -> Instance:
    """Read an instance from text.

    Parameters
    ----------
    text : str
    format : {"toml", "json", "yaml"}, optional
        Found out from the text when not given.
    place : str
        What errors call the text.

    Raises
    ------
    InstanceError
        In one line: `place`, where in it, the value and the remedy.
    """
    return built(tree(*checked_text(text, format, place, EMPTY), place), place)


def built(tree: Any, place: str) -> Instance:
    """Build an instance from the tree of an instance file, as a parser or another reader leaves it.

    Raises
    ------
    InstanceError
        In one line: `place`, where in it, the value and the remedy.
    """
    file = validated(tree, place)
    try:
        return _instance(file)
    except InstanceError as error:
        raise failure(place, error) from None


def _instance(file: InstanceFile) -> Instance:
    machines = None
    if file.machines is not None:
        machines = [Machine(entry.name, entry.capacity, entry.count, entry.devices) for entry in file.machines]
    return Instance(
        [_demand(user) for user in file.users],
        file.capacity,
        machines=machines,
        users=[user.name for user in file.users],
        weights=_column(file.users, "weight", 1),
        max_tasks=_column(file.users, "max_tasks", None),
        eligible=_eligible(file),
        organisation=_organisation(file),
        name=file.name or "",
        source=file.source or "",
    )


def _demand(user: UserEntry) -> Any:
    if user.tasks is None:
        return user.demand
    return [TaskType(entry.demand, entry.count, entry.machines, entry.name) for entry in user.tasks]


def _organisation(file: InstanceFile) -> Organisation | None:
    def given(key: str) -> dict[str, Any]:
        return {user.name: value for user in file.users if (value := getattr(user, key))}

    groups = [
        Group(entry.name, entry.weight, entry.guarantee or {}, entry.ceiling or {}, entry.tier)
        for entry in file.groups or ()
    ]
    asked = Organisation(
        given("guarantee"),
        given("ceiling"),
        given("tier"),
        given("group"),
        groups,
        file.guarantees,
        file.excluded or (),
    )
    return None if asked.empty else asked


def _column(users: list[UserEntry], key: str, missing: Any) -> list | None:
    """Return one value a user, or None where no user gives one."""
    values = [getattr(user, key) for user in users]
    if all(value is None for value in values):
        return None
    return [missing if value is None else value for value in values]


def _eligible(file: InstanceFile) -> dict[str, list[str]] | None:
    listed = {user.name: user.machines for user in file.users if user.machines is not None}
    if listed and file.machines is None:
        raise InstanceError(
            f"user {next(iter(listed))!r} lists machines, but the cluster is one pool: "
            "give [[machines]] instead of [capacity], or leave the list out"
        )
    return listed or None
