"""What whole tasks cost and gain: the optimum beside the continuous bound, a greedy schedule and a rounding."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from ..base.deadline import Deadline, ending
from ..base.errors import DrfoptError
from ..base.numbers.rationals import integer_columns
from ..engines.problem import Problem
from ..engines.registry import engine_for
from ..model.allocation import Allocation
from ..model.instance import Instance
from ..model.machine import Machine
from ..model.policies import policy_on
from ..model.single_machines import ON_EACH, machine_of
from ..model.users import given_types
from ..model.whole_values import WholeUsers
from .allocating import solve
from .scheduling import schedule

__all__ = ["Integrality", "Rooms", "integrality_cost", "most_in", "whole_parts"]

Rooms = Sequence[tuple[int, int, Sequence[Fraction]]]
"""Class, number of machines, and what each of them has."""

MACHINES = 200
"""Machines up to which a schedule task by task is made for the comparison."""


@dataclass(frozen=True)
class Integrality:
    """One number of the same measure for each way to divide; None where a way does not apply or failed.

    Attributes
    ----------
    measure : str
        ``lowest level`` (``on a machine`` where each is divided by itself), ``geometric mean of tasks`` or ``power mean
        of levels`` (``weighted`` where weights differ), or ``sum of levels``; of users who take part.
    continuous : float or None
        With divisible tasks, for those whom whole tasks can serve, limits rounded down: nothing whole can be above.
    optimum : float
    greedy : float or None
        Task by task, always to the user whose level is lowest (Algorithm 1, passing over who does not fit).
    min_max : float or None
        Task by task, always to the user whose level will be lowest after it (SequentialMinMax).
    rounded : float or None
        That continuous optimum rounded down; on machines packed, and filled up from below.
    better : dict
        For leximin: how many users have a higher level in the optimum than under each other way, and how many a lower
        one.
    """

    measure: str
    continuous: float | None
    optimum: float
    greedy: float | None
    rounded: float | None
    better: dict[str, tuple[int, int]]
    min_max: float | None = None

    def __str__(self) -> str:
        return self.measure + ("" if self.min_max is None else f" (sequential-min-max {self.min_max:.6g})")

    def to_dict(self) -> dict:
        """Return the object that ``drfopt compare --integer --json`` prints for a policy."""
        document = {
            name: getattr(self, name) for name in ("measure", "continuous", "optimum", "greedy", "min_max", "rounded")
        }
        return document | {"users_above_and_below": {name: list(pair) for name, pair in self.better.items()}}


def integrality_cost(allocation: Allocation, time_limit: float | None = None) -> Integrality:
    """Return what belongs beside an allocation of whole tasks."""
    instance, policy = allocation.instance, policy_on(allocation.policy, allocation.instance)
    if policy.objective == "servers" and instance.machines is not None:
        with ending(time_limit):
            return _on_machines(instance)
    policy = ON_EACH if policy.objective == "servers" else policy
    problem = Problem(instance, policy, True, Deadline.asked(time_limit))
    measure, value = _measure(problem)
    ways: dict[str, np.ndarray | None] = dict.fromkeys(("greedy", "min_max", "rounded"))
    continuous = None
    # Types are started task by task in another order, and divisible guarantees are worth parts of tasks.
    if instance.task_types is None:
        for way, rule in (("greedy", "algorithm-1"), ("min_max", "sequential-min-max")):
            ways[way] = _tasks(partial(_greedy, problem, rule))
    if not instance.features:
        served = _served(instance)
        continuous = _tasks(lambda: solve(served, policy, time_limit=problem.deadline.share(1)).tasks)
        ways["rounded"] = _tasks(lambda: _rounded(problem, continuous))
    optimum = np.asarray(allocation.tasks, dtype=float)
    better = {name: _users(optimum, other) for name, other in ways.items() if other is not None}
    numbers = {name: None if tasks is None else value(tasks) for name, tasks in ways.items()}
    bound = None if continuous is None else value(continuous)
    return Integrality(measure, bound, value(optimum), **numbers, better=better)


def _on_machines(instance: Instance) -> Integrality:
    """Return the same of every machine by itself: of each way what is lowest on any of them."""
    found = []
    for k in np.flatnonzero(instance.fits.any(axis=0)).tolist():
        one = machine_of(instance, np.flatnonzero(instance.fits[:, k]), k)
        found.append(integrality_cost(solve(one, ON_EACH, integer=True)))
    told: dict[str, Any] = {}
    for way in ("continuous", "optimum", "greedy", "rounded", "min_max"):
        numbers = [getattr(one, way) for one in found]
        told[way] = None if None in numbers else min(numbers, default=0.0)
    return Integrality("lowest level on a machine", **told, better={})


def _served(instance: Instance) -> Instance:
    """Return the instance as whole tasks see it: whom they leave unplaced has nothing, and limits are whole numbers.

    Who takes nothing in whole tasks must take nothing from the others here either, or this would be no bound of them.
    """
    gone = instance.unplaced(integer=True) & ~instance.unplaced()
    # A user's own ceilings are limits too.
    limits = [None if limit is None else Fraction(math.floor(limit)) for limit in instance.exact_limits]
    limits = [Fraction(0) if out else limit for out, limit in zip(gone, limits, strict=True)]
    if limits == list(instance.max_tasks):
        return instance
    return Instance(**(instance.parts() | {"max_tasks": limits}))


def _measure(problem: Problem) -> tuple[str, Callable[[np.ndarray], float]]:
    """Return the measure that the policy's objective is best told by, and how it is computed from tasks (n,)."""
    members, rates, weights = problem.members, problem.rates, problem.weights

    alpha = problem.policy.alpha

    def mean(tasks: np.ndarray) -> float:
        x = tasks[members]
        if alpha == 1:
            return math.exp(float(weights @ np.log(x)) / float(weights.sum())) if (x > 0).all() else 0.0
        levels = rates * x
        if not levels.any() or (alpha > 1 and not levels.all()):
            return 0.0
        # Powers of parts of the lowest level, or of the highest, are within the range of floats.
        unit = float(levels.min() if alpha > 1 else levels.max())
        return unit * float(weights @ (levels / unit) ** (1 - alpha) / weights.sum()) ** (1 / (1 - alpha))

    def lowest(tasks: np.ndarray) -> float:
        if not problem.instance.features:
            return float((rates * tasks[members]).min(initial=np.inf))
        users = WholeUsers(problem.instance, problem.policy, members.tolist())
        return min(float(users.level(p, int(tasks[i]))) for p, i in enumerate(users.members))

    weighted = "weighted " if len(set(weights.tolist())) > 1 else ""
    measures: dict[str, tuple[str, Callable[[np.ndarray], float]]] = {
        "leximin": ("lowest level", lowest),
        "alpha": (weighted + ("geometric mean of tasks" if alpha == 1 else "power mean of levels"), mean),
        "sum": ("sum of levels", lambda tasks: float(rates @ tasks[members])),
    }
    if not problem.n:
        return measures[problem.policy.objective][0], lambda tasks: 0.0
    return measures[problem.policy.objective]


def _tasks(compute: Callable[[], np.ndarray | None]) -> np.ndarray | None:
    """Return tasks as floats, or None where a way refuses or fails."""
    try:
        tasks = compute()
    except DrfoptError:
        return None
    return None if tasks is None else np.asarray(tasks, dtype=float)


def _greedy(problem: Problem, rule: str) -> np.ndarray | None:
    instance, policy = problem.instance, problem.policy
    if policy.objective != "leximin" or not (instance.machines is None or instance.counts.sum() <= MACHINES):
        return None
    return schedule(instance, policy, rule=rule, trace=False, time_limit=problem.deadline.share(1)).tasks


def _rounded(problem: Problem, continuous: np.ndarray | None) -> np.ndarray | None:
    if problem.instance.machines is None:
        return None if continuous is None else np.floor(continuous)
    if problem.policy.objective != "leximin" or not problem.n:
        return None
    tasks = np.zeros(problem.instance.n)
    tasks[problem.members] = engine_for("rounding", problem).solve(problem).tasks
    return tasks


def _users(optimum: np.ndarray, other: np.ndarray) -> tuple[int, int]:
    return int((optimum > other).sum()), int((optimum < other).sum())


def whole_parts(instance: Instance) -> Iterator[int]:
    """Yield the whole tasks that each user could run alone in its part of every machine, by weight."""
    weights = [row if isinstance(row, tuple) else (row,) * instance.m for row in instance.exact_weights]
    totals = [sum(column, Fraction(0)) for column in zip(*weights, strict=True)]
    rooms = [instance.exact_capacity] if instance.machines is None else instance.exact_machine_capacity
    counts = [1] if instance.machines is None else instance.counts.tolist()
    amounts, units = integer_columns(rooms, instance.m)
    table = np.array(amounts, dtype=object)
    for i, mine in enumerate(weights):
        part = [w / total for w, total in zip(mine, totals, strict=True)]
        if instance.machines is not None and (instance.task_types is None or instance.task_types[i] is None):
            whole = sum(_on_each(instance, i, part, table, units))
            yield whole if (limit := instance.exact_limits[i]) is None else min(whole, math.floor(limit))
        else:
            parts = [[c * share for c, share in zip(room, part, strict=True)] for room in rooms]
            yield most_in(instance, i, list(zip(range(len(parts)), counts, parts, strict=True)))


def _on_each(
    instance: Instance, i: int, part: Sequence[Fraction], table: np.ndarray, units: Sequence[int]
) -> Iterator[int]:
    """Yield the whole tasks of a user of one type in a part of every machine of each class, and of its devices.

    `table` is what machines have, in integers (k, m) of so many units of each resource.
    """
    needs = [(j, d, part[j] / (d * units[j])) for j, d in enumerate(instance.exact_demands[i]) if d]
    most = np.min([table[:, j] * rate.numerator // rate.denominator for j, _, rate in needs], axis=0).tolist()
    for k in instance.fits[i].nonzero()[0].tolist():
        devices = (instance.machines or ())[k].devices or {}
        held = [(d, devices[r], part[j]) for j, d, _ in needs if (r := instance.resources[j]) in devices]
        yield int(instance.counts[k]) * min([most[k], *(one.carried(d, one.part(mine)) for d, one, mine in held)])


def most_in(instance: Instance, i: int, rooms: Rooms) -> int:
    """Return the most whole tasks of a user in rooms of its own; devices are not divided, but pooled."""
    if not rooms or not any(any(room) for _, _, room in rooms):
        return 0
    parts = instance.parts()
    demand, cluster = parts["demands"][i], dict[str, Any](capacity=list(rooms[0][2]))
    if instance.machines is not None:
        named: dict[int, list[str]] = {}
        machines = []
        for number, (k, count, room) in enumerate(rooms):
            named.setdefault(k, []).append(f"{k}/{number}")
            machines.append(Machine(f"{k}/{number}", list(room), count))
        if given_types(demand):
            of = {name: named.get(k, []) for k, name in enumerate(instance.machine_names)}
            demand = [
                kind if kind.machines is None else replace(kind, machines=[n for c in kind.machines for n in of[c]])
                for kind in demand
            ]
        open_to = np.array([[bool(instance.eligible[i][k]) for k, _, _ in rooms]])
        cluster = {"machines": machines, "eligible": open_to}
    # A user's own ceilings bind it there too.
    limit = instance.whole_limits[i]
    one = Instance([demand], **cluster, resources=instance.resources, max_tasks=[limit] if limit < math.inf else None)
    return int(solve(one, integer=True).tasks[0])
