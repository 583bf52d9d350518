"""Scenarios from files and from instances: what `Scenario.load`, `Scenario.library` and `Scenario.of` open.

Named scenarios, shipped as files in the library's folder ``scenarios``.

An instance as a scenario: everybody is there from the start, with all her tasks.
"""

import math
from importlib.resources import files

from ..base.errors import InstanceError
from ..io import library as packaged
from ..io.library import PackagedFiles
from ..model.instance import Instance, Machine
from . import reading
from .draws import Times
from .reading import load
from .scenario import POOL, Job, Scenario, Stage, User

__all__ = ["library", "load", "names", "scenario_of", "template", "text"]


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
    return reading.loads(text(name), "toml", PACKAGED.title(name))


def scenario_of(instance: Instance, duration: Times, tasks: int) -> Scenario:
    """Return the scenario; who has no limit has `tasks` tasks, all of them run for `duration` seconds.

    Task types are jobs, in their order.  Of an organisation guarantees, groups and tiers are kept, for the rules that
    know of them.

    Raises
    ------
    InstanceError
        When the instance has weights by resource, limits below the counts of task types, or what no rule knows of.
    """
    organisation = instance.organisation
    if instance.weights_per_resource:
        raise InstanceError("a scenario has one weight a user, the instance one a resource: give one a user")
    if organisation is not None and (any(organisation.ceilings) or any(organisation.last) or organisation.excluded):
        raise InstanceError("a scenario has no ceilings, weights of 0 and excluded resources: leave them out")
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
