"""How many tasks a scenario runs, roughly and before it is simulated: how much work a simulation will be."""

import math
from collections.abc import Sequence
from numbers import Real

from .draws import Draw, Times
from .scenario import Job, Scenario, Stage

__all__ = ["expected_tasks"]


def expected_tasks(scenario: Scenario) -> float:
    """Return about how many tasks run if there is room for all of them, inf where that has no bound."""
    until = math.inf if scenario.until is None else scenario.until
    return sum(
        _comings(job, max(0.0, min(until, user.leaves) - job.arrival))
        * sum(_tasks(stage, scenario) for stage in job.stages)
        for user in scenario.users
        for job in user.jobs
    )


def _comings(job: Job, span: float) -> float:
    """Return how often a job comes in so many seconds; one that follows upon itself, if its tasks ran at once."""
    apart = _mean(job.every) if job.every is not None else sum(_mean(stage.duration) for stage in job.stages)
    most = 1 + span / apart if apart else math.inf
    return most if job.count is None else min(job.count, most)


def _tasks(stage: Stage, scenario: Scenario) -> float:
    if stage.tasks is not None:
        return stage.tasks
    room = min(
        sum(float(machine.capacity.get(resource, 0) * machine.count) for machine in scenario.machines) / float(need)
        for resource, need in stage.demand.items()
        if need
    )
    return room * (1 + (stage.lasts or 0.0) / _mean(stage.duration))


def _mean(times: Times) -> float:
    """Return mean seconds, inf for ever."""
    if times is None:
        return math.inf
    if isinstance(times, Draw):
        return times.mean
    if isinstance(times, Real):
        return float(times)
    return sum(map(float, times)) / len(times) if isinstance(times, Sequence) and len(times) else math.inf
