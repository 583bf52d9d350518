"""A scenario made ready to run: every amount an integer, every machine a number, every kind of task named once."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from .scenario import Scenario

__all__ = ["Plan", "TaskKind"]


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
