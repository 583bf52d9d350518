"""What a simulation is given: machines, users with their jobs, and what happens to the machines meanwhile.

A task needs one demand on one machine for a time.  A stage is a number of like tasks; the stages of a job follow one
another, the next beginning when the last task of the one before has ended, or its time is over.  A job may come again
and again, at intervals or as soon as the one before is done.  Everything is checked here, once.
"""

import math
import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate
from numbers import Integral
from pathlib import Path
from typing import Any

from ..base.errors import InstanceError, suggestion
from ..base.numbers.quantities import MOST_COUNTED, amount
from ..base.registry import door
from ..model.instance import Instance, Machine
from ..model.naming import some, unique, with_names
from ..model.organisation import check_path
from .draws import LATEST, Draw, Times, checked_times

__all__ = ["Job", "Outage", "Scenario", "Stage", "User"]

POOL = "pool"
"""The name of the one machine that a pool is."""

MOST_MACHINES = 1_000_000
"""Machines of a scenario: each is kept by itself, at about a kilobyte."""

WEIGHTS = "a number above 0"
"""What to write as a weight."""

MOST_TASKS = MOST_COUNTED
"""Tasks of a stage."""

MOST_JOBS = 10**8
"""How often a job may come until the end of a run: each time is an event, and that many take half an hour."""

MOST_DRAWN = 10**8
"""Tasks of a stage whose times are drawn, all at once so that they do not depend on the rule: eight bytes each."""


@dataclass(frozen=True)
class Stage:
    """A number of like tasks.

    Attributes
    ----------
    demand : mapping from resource to number
        What one task needs; a resource not listed is 0.
    tasks : int or None
        How many; None for as many as find room for as long as the stage `lasts`.
    duration : float, Draw, one float a task, or None
        Seconds that a task runs; None for ever.
    lasts : float or None
        Seconds after which no more tasks of it start, not even those that an outage or revocation stops, and the next
        stage begins; those that run run on.
    machines : tuple of str, or None
        The classes of machines that may run it; None for all.
    """

    demand: Mapping[str, Any]
    tasks: int | None = 1
    duration: Times = None
    lasts: float | None = None
    machines: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        demand = _amounts(self.demand, "demand")
        if not any(demand.values()):
            raise InstanceError("a task demands nothing: give it a positive demand")
        if self.tasks is not None:
            object.__setattr__(self, "tasks", _whole(self.tasks, "tasks"))
            most = MOST_DRAWN if isinstance(self.duration, Draw) else MOST_TASKS
            if self.tasks > most:
                raise InstanceError(f"tasks is {self.tasks:.3g}: write at most {most:,}")
        elif self.lasts is None:
            raise InstanceError("tasks without end need an end: say how many seconds the stage lasts")
        object.__setattr__(self, "demand", demand)
        object.__setattr__(self, "duration", checked_times(self.duration, "duration", self.tasks))
        object.__setattr__(self, "lasts", _seconds(self.lasts, "lasts"))
        if self.machines is not None:
            object.__setattr__(self, "machines", tuple(map(str, _parts(self.machines, str, "machines"))))


@dataclass(frozen=True)
class Job:
    """Stages that follow one another, and when the job comes.

    Attributes
    ----------
    stages : tuple of Stage
    arrival : float
        Seconds from the start at which it comes first.
    count : int or None
        How often it comes; None for without end: whoever simulates it says until when, or its user leaves.
    every : float, Draw or None
        Seconds from one coming to the next; None: the next comes when the one before has ended.
    name : str
    """

    stages: tuple[Stage, ...]
    arrival: float = 0.0
    count: int | None = 1
    every: float | Draw | None = None
    name: str = ""

    def __post_init__(self) -> None:
        stages = _parts(self.stages, Stage, "stages")
        if not stages:
            raise InstanceError("a job has no stages: give it at least one")
        object.__setattr__(self, "stages", stages)
        object.__setattr__(self, "arrival", _moment(self.arrival, "arrival"))
        if self.count is not None:
            object.__setattr__(self, "count", _whole(self.count, "count"))
        every = checked_times(self.every, "every")
        object.__setattr__(self, "every", every)


@dataclass(frozen=True)
class User:
    """Who has jobs, and how she is weighed.

    Attributes
    ----------
    name : str
    jobs : tuple of Job
    weight : number
        Positive.
    guarantee : mapping from resource to number
        What no revocation takes from her; rules with quotas serve it first.
    group : str
        Her place in a hierarchy, ``"a/b"``, for rules that have one.
    tier : int
        Higher is served first by rules that have priorities.
    leaves : float
        Seconds at which she leaves: what waits is withdrawn, what runs is stopped.
    """

    name: str
    jobs: tuple[Job, ...]
    weight: Any = Fraction(1)
    guarantee: Mapping[str, Any] = field(default_factory=dict)
    group: str = ""
    tier: int = 0
    leaves: float = math.inf

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", str(self.name))
        object.__setattr__(self, "jobs", _parts(self.jobs, Job, f"user {self.name!r}: jobs"))
        weight = amount(self.weight, f"user {self.name!r}: weight", WEIGHTS)
        if not weight:
            raise InstanceError(f"user {self.name!r}: weight is {weight}: write {WEIGHTS}")
        object.__setattr__(self, "weight", weight)
        guarantee = _amounts(self.guarantee, f"user {self.name!r}: guarantee")
        object.__setattr__(self, "guarantee", guarantee)
        if self.group:
            check_path(self.group, f"the group of user {self.name!r}")
        if isinstance(self.tier, bool) or not isinstance(self.tier, Integral):
            raise InstanceError(f"user {self.name!r}: tier is {self.tier!r}: write a whole number")
        object.__setattr__(self, "tier", int(self.tier))
        object.__setattr__(self, "leaves", _moment(self.leaves, "leaves", endless=True))


def along(path: str) -> list[str]:
    """Return the groups on the way down to one, itself the last; none for no group."""
    return list(accumulate(path.split("/"), "{}/{}".format)) if path else []


@dataclass(frozen=True)
class Outage:
    """Machines that are lost, and come back: `count` of a class, `at` some second, for `lasts` seconds."""

    machines: str
    at: float
    count: int = 1
    lasts: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", _moment(self.at, "at"))
        object.__setattr__(self, "count", _whole(self.count, "count"))
        object.__setattr__(self, "lasts", _seconds(self.lasts, "lasts"))


@dataclass(frozen=True)
class Scenario:
    """A cluster, its users, and what happens to them.

    Attributes
    ----------
    machines : tuple of Machine
        Classes of machines; each machine runs tasks of its own.  A mapping of capacities instead is one machine.
    users : tuple of User
    outages : tuple of Outage
    until : float or None
        Seconds at which the simulation stops; None: when nothing can happen any more.
    groups : mapping from path to weight
        Weights of groups, for rules with hierarchies; 1 where not listed.
    name, source : str

    Raises
    ------
    InstanceError
        With the culprit, its value and the remedy.
    """

    machines: tuple[Machine, ...]
    users: tuple[User, ...]
    outages: tuple[Outage, ...] = ()
    until: float | None = None
    groups: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        machines = self.machines
        if isinstance(machines, Mapping):
            machines = (Machine(POOL, machines),)
        object.__setattr__(self, "machines", tuple(map(_machine, _parts(machines, Machine, "machines"))))
        object.__setattr__(self, "users", _parts(self.users, User, "users"))
        object.__setattr__(self, "outages", _parts(self.outages, Outage, "outages"))
        object.__setattr__(self, "until", _seconds(self.until, "until"))
        object.__setattr__(self, "groups", _amounts(self.groups, "group weight"))
        if not self.machines:
            raise InstanceError("the cluster has no machines: list at least one class")
        if not self.users:
            raise InstanceError("the scenario has no users: list at least one")
        unique([machine.name for machine in self.machines], "machine class")
        if (count := sum(machine.count for machine in self.machines)) > MOST_MACHINES:
            raise InstanceError(
                f"the cluster has {count:.3g} machines: a simulation takes at most {MOST_MACHINES:,}; make them larger"
            )
        unique([user.name for user in self.users], "user")
        for user in self.users:
            try:
                self._check_user(user)
            except InstanceError as error:
                raise InstanceError(f"user {user.name!r}: {error}") from None
        for k, outage in enumerate(self.outages):
            try:
                there = self._class(outage.machines).count
            except InstanceError as error:
                raise InstanceError(f"outages[{k}]: {error}") from None
            if outage.count > there:
                raise InstanceError(
                    f"outages[{k}]: {outage.count} machines of class {outage.machines!r} are lost, but it has {there}"
                )

    @property
    def resources(self) -> tuple[str, ...]:
        """Names of the resources, (m,), in the order in which machines name them."""
        return tuple(dict.fromkeys(resource for machine in self.machines for resource in machine.capacity))

    def _check_user(self, user: User) -> None:
        known = self.resources
        there = f"it has {some(known)}" if known else "its machines have nothing"
        demands = [stage.demand for job in user.jobs for stage in job.stages]
        for resource in (resource for row in (*demands, user.guarantee) for resource in row):
            if resource not in known:
                raise InstanceError(f"the cluster has no {resource!r}: {there}{suggestion(resource, known)}")
        for job in user.jobs:
            for stage in job.stages:
                for name in stage.machines or ():
                    self._class(name)

    def _class(self, name: str) -> Machine:
        known = {machine.name: machine for machine in self.machines}
        if name not in known:
            near = suggestion(name, list(known))
            raise InstanceError(f"there is no machine class {name!r}: there is {some(list(known))}{near}")
        return known[name]

    def stopping(self, until: float | None) -> "Scenario":
        """Return the scenario with another end; None leaves it as it is.

        Raises
        ------
        InstanceError
            When a job comes without end, or too often, until then.
        """
        ended = self if until is None else replace(self, until=until)
        for user in ended.users:
            end = min(user.leaves, math.inf if ended.until is None else ended.until)
            for job in user.jobs:
                try:
                    _check_end(job, end)
                except InstanceError as error:
                    raise InstanceError(f"user {user.name!r}: {error}") from None
        return ended

    @classmethod
    def load(cls, path: str | Path) -> "Scenario":
        """Read a scenario file (TOML, JSON or YAML by its suffix; ``-`` is standard input)."""
        scenario: Scenario = door("scenario files").load(path)
        return scenario

    @classmethod
    def library(cls, name: str) -> "Scenario":
        """Return a named scenario that is shipped with the package."""
        scenario: Scenario = door("scenario files").library(name)
        return scenario

    @classmethod
    def of(cls, instance: Instance, duration: Times = None, tasks: int = 1_000_000) -> "Scenario":
        """Return an instance as a scenario: every user has one job, there from the start, of its limit or `tasks`.

        Tasks run for `duration` seconds; by default for ever, which makes a simulation under ``drf`` Algorithm 1 of the
        DRF paper.  Guarantees, groups and tiers are kept for the rules that look at them; a run under another says so.
        """
        scenario: Scenario = door("scenario files").scenario_of(instance, duration, tasks)
        return scenario


def _check_end(job: Job, end: float) -> None:
    """Refuse a job that comes too often until some second, inf for never."""
    times = math.inf if job.count is None else job.count
    if end < math.inf:
        # What follows upon itself comes as often as there is room for it, which nobody knows before.
        apart = job.every.mean if isinstance(job.every, Draw) else job.every
        times = 0 if apart is None else min(times, 1 + max(end - job.arrival, 0.0) / apart)
        if times > MOST_JOBS:
            most = f"stop earlier, or let it come at most {MOST_JOBS:,} times"
            raise InstanceError(f"a job comes about {times:.3g} times in the {end:g} s until the end: {most}")
    elif job.count is None:
        raise InstanceError("a job comes without end: say until when, or how often it comes (count)")
    elif times > MOST_JOBS:
        most = f"say until when, or write at most {MOST_JOBS:,}"
        raise InstanceError(f"a job comes {times:.3g} times: {most}")


def _machine(machine: Machine) -> Machine:
    called = f"machine class {machine.name!r}"
    count = _whole(machine.count, f"{called}: count")
    capacity = _amounts(machine.capacity, f"{called}: capacity")
    return Machine(str(machine.name), capacity, count)


def _parts(value: Any, kind: type, what: str) -> tuple:
    """Return parts of a kind as a tuple; one of it stands for itself, but for a text, which is not its letters."""
    parts = (value,) if isinstance(value, kind) and kind is not str else value
    if isinstance(parts, str) or not isinstance(parts, Iterable):
        raise InstanceError(f"{what} is {value!r}: give a list of {kind.__name__}")
    parts = tuple(parts)
    for one in parts:
        if not isinstance(one, kind):
            raise InstanceError(f"{what} has {one!r}: give {kind.__name__} only")
    return parts


def _amounts(value: Any, what: str) -> dict[str, Fraction]:
    """Return amounts by resource, or by group, 0 or more."""
    by_name = with_names(value, what)
    if not isinstance(by_name, dict):
        given = reprlib.repr(value.tolist() if hasattr(value, "tolist") else value)
        raise InstanceError(f"{what} is {given}: give amounts by name, such as {{'cpu': 4, 'memory': 14}}")
    return {name: amount(one, f"{what} of {name!r}") for name, one in by_name.items()}


def _whole(value: Any, what: str) -> int:
    """Return a whole number from 1 on."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise InstanceError(f"{what} is {value!r}: write a whole number, 1 or more")
    return int(value)


def _moment(value: Any, what: str, endless: bool = False, positive: bool = False) -> float:
    """Return a time from 0 on, or above it."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, bool) or not (0 <= number <= LATEST or (endless and number == math.inf)):
        most = f" and at most {LATEST:g}" if number > LATEST else ""
        least = "above 0" if positive else "0 or more"
        raise InstanceError(f"{what} is {value!r}: write a number of seconds, {least}{most}")
    if positive and number == 0:
        raise InstanceError(f"{what} is 0: write a positive number of seconds, or leave it out")
    return number


def _seconds(value: Any, what: str) -> float | None:
    """Return a positive time, or None."""
    if value is None:
        return None
    return _moment(value, what, positive=True)
