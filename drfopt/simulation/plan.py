"""A scenario made ready to run: every amount an integer, every machine a number, every kind of task named once.

Lots and batches: the tasks of one stage of one job, and those of them that run together on one machine.
"""

import math
from array import array
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..base.errors import InstanceError
from .draws import Draw, Times, times
from .scenario import Scenario

__all__ = ["ENDLESS", "Lot", "Plan", "StartedLot", "TaskKind"]


class TaskKind(NamedTuple):
    """What a task needs, in the plan's units (m,), and the machine classes that may run it, None for all."""

    demand: tuple[int, ...]
    classes: tuple[int, ...] | None


@dataclass(frozen=True)
class Plan:
    """A scenario in integers, which makes every comparison of shares and every sum of demands exact.

    Attributes
    ----------
    scenario : Scenario
    units : tuple of int (m,)
        How many of the plan's units one unit of a resource is.
    capacities : tuple of tuples of int (k, m)
        What one machine of each class has.
    classes : list of int (machines,)
        The class of each machine; machines of a class follow one another, in the order of the scenario.
    kinds : list of TaskKind
    stages : nested lists [user][job][stage]
        The kind of each stage.
    weights : tuple of Fraction (n,)
    """

    scenario: Scenario
    units: tuple[int, ...]
    capacities: tuple[tuple[int, ...], ...]
    classes: list[int]
    kinds: list[TaskKind]
    stages: list[list[list[int]]]
    weights: tuple[Fraction, ...]

    @classmethod
    def of(cls, scenario: Scenario) -> "Plan":
        """Return the plan of a scenario."""
        resources = scenario.resources
        rows = [machine.capacity for machine in scenario.machines]
        rows += [stage.demand for user in scenario.users for job in user.jobs for stage in job.stages]
        rows += [user.guarantee for user in scenario.users]
        units = tuple(
            math.lcm(*{row[resource].denominator for row in rows if resource in row}) for resource in resources
        )

        for resource, unit in zip(resources, units, strict=True):
            if max(row.get(resource, 0) for row in rows) * unit > LARGEST:
                raise InstanceError(
                    f"amounts of {resource!r} are too far apart, or too large, to be counted in one unit: take a "
                    "larger unit for it, or round what is small"
                )

        def whole(row: Mapping[str, Fraction]) -> tuple[int, ...]:
            return tuple(int(row.get(resource, 0) * unit) for resource, unit in zip(resources, units, strict=True))

        names = {machine.name: k for k, machine in enumerate(scenario.machines)}
        known: dict[TaskKind, int] = {}
        stages: list[list[list[int]]] = []
        for user in scenario.users:
            stages.append([])
            for job in user.jobs:
                stages[-1].append([])
                for stage in job.stages:
                    able = None if stage.machines is None else tuple(sorted({names[name] for name in stage.machines}))
                    kind = TaskKind(whole(stage.demand), able)
                    stages[-1][-1].append(known.setdefault(kind, len(known)))
        return cls(
            scenario,
            units,
            tuple(whole(machine.capacity) for machine in scenario.machines),
            [k for k, machine in enumerate(scenario.machines) for _ in range(machine.count)],
            list(known),
            stages,
            tuple(user.weight for user in scenario.users),
        )


LARGEST = 10**150
"""Of the least unit that is needed for a resource: what is multiplied stays in the range of floats."""

ENDLESS = 2**60
"""Tasks of a stage that has no end; it stays more than half of them whatever is started."""

CHUNK = 4096
"""Times drawn at once for tasks without end."""


class Lot:
    """The tasks of one stage of one job: how many wait, run, are done, and were withdrawn.

    Attributes
    ----------
    job : object
        Whose stage it is; the simulator's.
    user, kind, number, stage : int
        `number` counts lots in the order in which they came, `stage` those of the job.
    tasks : int
        ``waiting + running + done + withdrawn``, always.
    revoked : int
        Tasks that were stopped and wait, or have waited, again.
    closed : bool
        Whether its time is over: no more tasks of it start.
    """

    __slots__ = (
        "_again", "_law", "_next", "_random", "_times",
        "closed", "done", "job", "kind", "number", "revoked", "running", "stage", "tasks", "user", "waiting",
        "withdrawn",
    )  # fmt: skip

    def __init__(
        self,
        job: Any,
        where: tuple[int, int, int, int],
        tasks: int | None,
        law: Times,
        random: np.random.Generator,
    ):
        self.job = job
        self.user, self.kind, self.number, self.stage = where
        self.tasks = ENDLESS if tasks is None else tasks
        self.waiting, self.running, self.done, self.withdrawn, self.revoked = self.tasks, 0, 0, 0, 0
        self.closed = False
        self._law, self._random, self._next = law, random, 0
        self._again: deque[float] = deque()
        self._times: float | array = 0.0
        if tasks is not None or not isinstance(law, Draw):
            drawn = times(law, random, self.tasks)
            self._times = array("d", drawn.tobytes()) if isinstance(drawn, np.ndarray) else drawn
        else:
            self._times = array("d")

    def take(self) -> float:
        """Return how long the next task runs; revoked ones come first, with the time that was theirs."""
        if self._again:
            return self._again.popleft()
        if isinstance(self._times, float):
            return self._times
        if self._next == len(self._times):
            self._times = array("d", times(self._law, self._random, CHUNK).tobytes())  # type: ignore[union-attr]
            self._next = 0
        self._next += 1
        return self._times[self._next - 1]

    def give_back(self, seconds: float, count: int) -> None:
        """Take note of tasks that were stopped and will run again from their beginning."""
        self._again.extend([seconds] * count)

    @property
    def endless(self) -> bool:
        """Whether there are as many tasks as find room."""
        return self.tasks == ENDLESS

    @property
    def over(self) -> bool:
        """Whether nothing of it waits or runs."""
        return not self.waiting and not self.running


class StartedLot:
    """Like tasks of one lot that were started together on one machine.

    Attributes
    ----------
    lot : Lot
    machine, count, number : int
    seconds : float
        How long each of them runs at full speed.
    begun, end : float
        When they started, and when they will end as things stand; `end` is -1 when they are over.
    left, since : float
        Seconds at full speed that were left at the moment `since`; kept where machines may be slow.
    """

    __slots__ = ("begun", "count", "end", "left", "lot", "machine", "number", "seconds", "since")

    def __init__(self, lot: Lot, machine: int, count: int, seconds: float, now: float, number: int):
        self.lot, self.machine, self.count, self.number = lot, machine, count, number
        self.seconds = self.left = seconds
        self.begun = self.since = now
        self.end = now + seconds
