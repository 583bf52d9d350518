"""The scenario file, in TOML, JSON or YAML, and what `Scenario.load`, `Scenario.library` and `Scenario.of` open.

It has the manners of the instance file, with jobs instead of demands:

    until = 600                             seconds at which it stops; optional

    [[machines]]                            or [capacity], which is one machine
    name = "node"
    count = 48
    capacity = { cpu = 4, memory = "14G" }

    [[users]]
    name = "A"
    weight = 1                              optional; also guarantee, group, tier, leaves
    jobs = [{ tasks = 80, demand = { cpu = 1, memory = 1 }, duration = 10, count = 5, every = 60 }]

    [[outages]]
    machines = "node"
    at = 100
    count = 3
    lasts = 60

A job of several stages has ``stages = [{ tasks, demand, duration, lasts, machines }, ...]`` in the place of these keys.
A time is a number of seconds or ``{ distribution = "exponential", mean = 10 }``; one that is left out is without end.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from ..base.errors import InstanceError, suggestion, unknown_key
from ..base.numbers.quantities import Number, counted_up_to, exact
from ..io import library as packaged
from ..io.library import PackagedFiles
from ..io.native.syntax import checked_text, read_as, tree
from ..io.text.files import failure, shown
from ..model.instance import Instance, Machine
from ..model.naming import some
from .draws import Draw, Times
from .scenario import POOL, Job, Outage, Scenario, Stage, User, along

__all__ = ["library", "load", "loads", "names", "scenario_of", "template", "text"]

EMPTY = "is empty: see 'drfopt new --scenario' for a file to start from"


def load(path: str | Path) -> Scenario:
    """Read a scenario file; ``-`` is standard input.

    Raises
    ------
    InstanceError
        In one line: the file, the place in it, the value and the remedy.
    """
    return loads(*read_as(path, EMPTY))


def loads(text: str, format: str | None = None, place: str = "<text>") -> Scenario:
    """Read a scenario from text, ``toml``, ``json`` or ``yaml``; found out from the text when not given.

    Raises
    ------
    InstanceError
        In one line: `place`, where in it, the value and the remedy.
    """
    said = checked_text(text, format, place, EMPTY)
    try:
        return _scenario(tree(*said, place))
    except InstanceError as error:
        sentence = str(error).removeprefix(f"{place}: ")
        raise failure(place, sentence) from None


# ---- values --------------------------------------------------------------------------------------------------------


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise InstanceError(f"is {shown(value)}: write a text in quotes")
    return value


def _in_range(value: Any, what: str = "") -> Fraction:
    """Return the exact value of a number to which a float is near."""
    if isinstance(value, bool) or not isinstance(value, Number):
        raise InstanceError(f"{what}is {shown(value)}: write a number")
    found = exact(value)
    try:
        lost = bool(found) and not float(found)
    except OverflowError:
        lost = True
    if lost:
        raise InstanceError(f"{what}is {shown(value)}, outside the range of floats: change the unit")
    return found


def _number(value: Any) -> float:
    return float(_in_range(value))


def _whole(value: Any) -> int:
    number = _in_range(value)
    if number.denominator != 1:
        raise InstanceError(f"is {shown(value)}: write a whole number")
    return number.numerator


def _count(value: Any) -> int | None:
    return None if value == "endless" else _whole(value)


def _amounts(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InstanceError(f"is {shown(value)}: write resources and amounts, such as {{ cpu = 1, memory = 4 }}")
    found = {}
    for resource, amount in value.items():
        found[resource] = _in_range(amount, f"of {resource!r} ")
    return found


def _groups(value: Any) -> dict[str, Any]:
    found = {}
    for index, entry in enumerate(_list(value)):
        keys = _fields(entry, GROUP, f"groups[{index}]")
        if keys["name"] in found:
            raise InstanceError(f"of group {keys['name']!r} is there twice: give it once")
        found[keys["name"]] = keys.get("weight", 1)
    return found


def _names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InstanceError(f'is {shown(value)}: write a list of machine classes, such as ["xl"]')
    for name in value:
        if not isinstance(name, str):
            raise InstanceError(f"of {shown(name)}: write names of machine classes in quotes")
    return tuple(value)


def _times(value: Any) -> Any:
    if isinstance(value, list):
        return [_number(one) for one in value]
    if not isinstance(value, dict):
        return _number(value)
    rest = dict(value)
    if "distribution" not in rest:
        raise InstanceError('is a table without a distribution: write { distribution = "exponential", mean = 10 }')
    name = _text(rest.pop("distribution"))
    return Draw(name, **{key: _number(one) for key, one in rest.items()})


def _gap(value: Any) -> Any:
    if isinstance(value, list):
        raise InstanceError("is a list: write one time, or a distribution, for all gaps")
    return _times(value)


def _list(value: Any) -> list:
    if not isinstance(value, list):
        raise InstanceError(f"is {shown(value)}: write a list of tables")
    return value


# ---- tables --------------------------------------------------------------------------------------------------------


class FileKey(NamedTuple):
    """How the value of a key is read, and whether the key has to be there."""

    read: Callable[[Any], Any]
    needed: bool = False


STAGE = {
    "demand": FileKey(_amounts, True),
    "tasks": FileKey(_count),
    "duration": FileKey(_times),
    "lasts": FileKey(_number),
    "machines": FileKey(_names),
}
JOB = {
    "name": FileKey(_text),
    "arrival": FileKey(_number),
    "count": FileKey(_count),
    "every": FileKey(_gap),
    "stages": FileKey(_list),
}
USER = {
    "name": FileKey(_text, True),
    "jobs": FileKey(_list, True),
    "weight": FileKey(_in_range),
    "guarantee": FileKey(_amounts),
    "group": FileKey(_text),
    "tier": FileKey(_whole),
    "leaves": FileKey(_number),
}
MACHINE = {"name": FileKey(_text, True), "capacity": FileKey(_amounts, True), "count": FileKey(_whole)}
OUTAGE = {
    "machines": FileKey(_text, True),
    "at": FileKey(_number, True),
    "count": FileKey(_whole),
    "lasts": FileKey(_number),
}
GROUP = {"name": FileKey(_text, True), "weight": FileKey(_in_range)}
TOP = {
    "name": FileKey(_text),
    "source": FileKey(_text),
    "until": FileKey(_number),
    "capacity": FileKey(_amounts),
    "machines": FileKey(_list),
    "users": FileKey(_list, True),
    "outages": FileKey(_list),
    "groups": FileKey(_groups),
}


DEVICES = ": a scenario has no devices, write all that a machine has into its capacity and tasks may take part of it"
"""The remedy for who has some."""


def _fields(table: Any, known: Mapping[str, FileKey], place: str) -> dict[str, Any]:
    """Return the values of a table, read; unknown keys, and missing ones, are errors that name the place."""
    where = f"{place}: " if place else ""
    if not isinstance(table, dict):
        raise InstanceError(f"{place or 'the file'} is {shown(table)}: write a table")
    found = {}
    for key, value in table.items():
        if key not in known:
            raise InstanceError(f"{where}{unknown_key(key, known, DEVICES if key == 'devices' else None)}")
        try:
            found[key] = known[key].read(value)
        except InstanceError as error:
            raise InstanceError(f"{where}{key} {_after(str(error))}") from None
    for key, how in known.items():
        if how.needed and key not in found:
            raise InstanceError(f"{where}the key {key!r} is missing")
    return found


def _after(sentence: str) -> str:
    """Return a sentence so that it goes on from the name of a key."""
    return sentence if sentence.startswith(("is ", "of ")) else f"is wrong: {sentence}"


def _scenario(table: Any) -> Scenario:
    keys = _fields(table, TOP, "")
    if ("capacity" in keys) == ("machines" in keys):
        raise InstanceError("the cluster needs either [capacity] (one machine) or [[machines]]: give one of them")
    machines: Any = keys.get("capacity")
    if machines is None:
        rows = [_fields(entry, MACHINE, f"machines[{k}]") for k, entry in enumerate(keys["machines"])]
        machines = tuple(Machine(row["name"], row["capacity"], row.get("count", 1)) for row in rows)
    outages = [_made(Outage, entry, OUTAGE, f"outages[{k}]") for k, entry in enumerate(keys.get("outages", []))]
    users = [_user(entry, f"users[{i}]") for i, entry in enumerate(keys["users"])]
    groups = list(dict.fromkeys(path for user in users for path in along(user.group)))
    for name in keys.get("groups", ()):
        if name not in groups:
            known = f"users are in {some(groups)}{suggestion(name, groups)}" if groups else "no user has a group"
            raise InstanceError(f"groups: nobody is in group {name!r}: {known}")
    rest = {key: keys[key] for key in ("name", "source", "until", "groups") if key in keys}
    return Scenario(machines, tuple(users), tuple(outages), **rest)


def _user(entry: Any, place: str) -> User:
    name = entry.get("name") if isinstance(entry, dict) else None
    place += f" ({name!r})" if isinstance(name, str) else ""
    if isinstance(entry, dict) and "demand" in entry and "jobs" not in entry:
        raise InstanceError(
            f"{place} has a demand and no jobs, as in an instance: write jobs = [{{ tasks, demand, duration }}]"
        )
    keys = _fields(entry, USER, place)
    jobs = tuple(_job(job, f"{place}: jobs[{k}]") for k, job in enumerate(keys.pop("jobs")))
    return _checked(lambda: User(jobs=jobs, **keys), place)


def _job(entry: Any, place: str) -> Job:
    if isinstance(entry, dict) and "stages" not in entry:
        keys = _fields(entry, {**JOB, **STAGE}, place)
        stage = {key: keys.pop(key) for key in STAGE if key in keys}
        return _checked(lambda: Job(stages=(Stage(**stage),), **keys), place)
    keys = _fields(entry, JOB, place)
    stages = tuple(_made(Stage, row, STAGE, f"{place}: stages[{k}]") for k, row in enumerate(keys.pop("stages")))
    return _checked(lambda: Job(stages=stages, **keys), place)


def _made(make: Callable[..., Any], entry: Any, known: Mapping[str, FileKey], place: str) -> Any:
    keys = _fields(entry, known, place)
    return _checked(lambda: make(**keys), place)


def _checked(make: Callable[[], Any], place: str) -> Any:
    try:
        return make()
    except InstanceError as error:
        raise InstanceError(f"{place}: {error}") from None


PACKAGED = PackagedFiles("scenario", files(packaged) / "scenarios")

names, text = PACKAGED.names, PACKAGED.text
"""The names, in alphabetical order, and the file of one."""


def template() -> str:
    """Return a scenario file with every key explained, which can be simulated as it is."""
    return files(__package__).joinpath("template.toml").read_text(encoding="utf-8")


def library(name: str) -> Scenario:
    """Return a shipped scenario.

    Raises
    ------
    InstanceError
        When there is none of that name.
    """
    return loads(text(name), "toml", PACKAGED.title(name))


def scenario_of(instance: Instance, duration: Times, tasks: int) -> Scenario:
    """Return the scenario; who has no limit has `tasks` tasks, all of them run for `duration` seconds.

    Task types are jobs, in their order.  Of an organisation guarantees, groups and tiers are kept, for the rules that
    look at them.

    Raises
    ------
    InstanceError
        When the instance has weights by resource, limits below the counts of task types, or what no rule knows of.
    """
    if not isinstance(instance, Instance):
        raise InstanceError(f"a scenario is made of an instance, not of {instance!r}: give an Instance")
    tasks = counted_up_to(tasks, "tasks")
    organisation = instance.organisation
    if instance.weights_per_resource:
        raise InstanceError("a scenario has one weight a user, the instance one a resource: give one a user")
    if organisation is not None and (any(organisation.ceilings) or any(organisation.last) or organisation.excluded):
        raise InstanceError("a scenario has no ceilings, weights of 0 and excluded resources: leave them out")
    if instance.has_devices:
        raise InstanceError(
            "a scenario has no devices: give what they have as capacity, of which tasks may take a part"
        )
    users = []
    for i, name in enumerate(instance.users):
        kept: dict = {}
        if organisation is not None:
            kept = {
                "guarantee": organisation.guarantees[i],
                "group": organisation.paths[i],
                "tier": organisation.tiers[i],
            }
        users.append(User(name, _jobs(instance, i, duration, tasks), instance.exact_weights[i], **kept))
    groups = {} if organisation is None else {group.name: group.weight for group in organisation.groups}
    return Scenario(_machines(instance), tuple(users), groups=groups, name=instance.name, source=instance.source)


def _machines(instance: Instance) -> tuple[Machine, ...]:
    if instance.machines is None:
        return (Machine(POOL, dict(zip(instance.resources, instance.exact_capacity, strict=True))),)
    return tuple(
        Machine(machine.name, dict(zip(instance.resources, row, strict=True)), machine.count)
        for machine, row in zip(instance.machines, instance.exact_machine_capacity, strict=True)
    )


def _jobs(instance: Instance, user: int, duration: Times, tasks: int) -> tuple[Job, ...]:
    able = None if instance.eligible is None else _classes(instance, instance.eligible[user])
    types = None if instance.task_types is None else instance.task_types[user]
    limit = instance.exact_limits[user]
    if types is None:
        demand = dict(zip(instance.resources, instance.exact_demands[user], strict=True))
        count = tasks if limit is None else math.floor(limit)
        return (Job((Stage(demand, count, duration, machines=able),)),) if count else ()
    if limit is None or limit < sum(kind.count for kind in types):
        raise InstanceError(
            f"user {instance.users[user]!r} may run fewer tasks than its types have: a scenario has no such limit"
        )
    jobs = []
    for kind in types:
        demand = dict(zip(instance.resources, kind.demand, strict=True))
        classes = able if kind.machines is None else tuple(k for k in kind.machines if able is None or k in able)
        jobs.append(Job((Stage(demand, kind.count, duration, machines=classes),), name=kind.name))
    return tuple(jobs)


def _classes(instance: Instance, eligible: list[bool]) -> tuple[str, ...] | None:
    """Return the names of the classes that a user may use, None for all."""
    names = tuple(name for name, may in zip(instance.machine_names, eligible, strict=True) if may)
    return None if len(names) == instance.k else names
