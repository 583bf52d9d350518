"""From what runs today to the fair allocation: the fewest moves that reach it, or the fairest with a few."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import CertificateError, InstanceError, PolicyError
from ...base.results import Result
from ...base.tables import Column, Sheet
from ...certificates.whole import impossible
from ...engines.problem import Problem
from ...engines.whole.integer_program import TooLarge, UnfinishedProgram
from ...model.allocation import Allocation
from ...model.evidence import WholeEvidence
from ...model.instance import FEATURES, Instance
from ...model.naming import labels
from ...model.policies import AnyPolicy, policy_named
from ...model.whole_values import WholeUsers, owners, per_user
from ...solving.allocating import solve
from .current import Current, current_of, labelled, load_current, type_names
from .moves import Fairest, Placement, Tasks, Within

__all__ = ["MoveStep", "Rebalancing", "check", "rebalance"]

SEARCH = 0.5
"""Part of the time in which the optimum, or the levels within the moves, are looked for; the rest is for the moves."""


@dataclass(frozen=True)
class MoveStep:
    """Tasks of one user that move, are evicted, or start.

    Attributes
    ----------
    user : str
    tasks : int
    source, target : str or None
        Places; an eviction has no target, and a start no source.
    kind_of_task : str
        Which type of task, where the user has several.
    """

    user: str
    tasks: int
    source: str | None
    target: str | None
    kind_of_task: str = ""

    @property
    def kind(self) -> str:
        """``move``, ``evict`` or ``start``."""
        return "start" if self.source is None else "evict" if self.target is None else "move"


@dataclass(frozen=True, eq=False)
class Rebalancing(Result):
    """What to move, evict and start, and what that leads to.

    Attributes
    ----------
    instance : Instance
    policy : str
    current : Current
    by_type : int array (rows, places)
        Whole tasks of every user in every place; of every type of task where there are several.
    steps : tuple of MoveStep
    most : int or None
        The most moves and evictions that were allowed.
    levels : tuple of Fraction
        Of every user (n,), afterwards.
    before : tuple of Fraction
        Of every user (n,), today.
    fewest : bool
        Whether it is proven that no fewer moves and evictions lead to these levels.
    too_large : bool
        Whether the program of moves was too large to be asked, and the allocation that `solve` found is returned.
    fairest : bool
        Whether it is proven that no levels are fairer, with that many moves.
    decided : int
        Users, from the lowest level up, whose levels are proven to be the fairest.
    seconds : float
    """

    _schema = "drfopt rebalancing 1"
    _rows = "users"

    instance: Instance
    policy: str
    current: Current
    by_type: np.ndarray
    steps: tuple[MoveStep, ...]
    most: int | None
    levels: tuple[Fraction, ...]
    before: tuple[Fraction, ...]
    fewest: bool
    fairest: bool
    decided: int
    seconds: float = field(compare=False)
    too_large: bool = False

    @cached_property
    def after(self) -> np.ndarray:
        """Whole tasks of every user in every place, (n, places)."""
        return _of_users(self.instance, self.by_type)

    @property
    def status(self) -> str:
        """``optimal`` where all is proven; ``feasible`` if the program of moves was too large, else ``time_limit``."""
        unproven = "feasible" if self.too_large and not self.fewest else "time_limit"
        return "optimal" if self.fewest and self.fairest else unproven

    def count(self, kind: str) -> int:
        """Return how many tasks move, are evicted (``evict``), or start."""
        return sum(step.tasks for step in self.steps if step.kind == kind)

    def named(self) -> dict[str, Any]:
        """Return the rows of `to_dict` by user."""
        return {row["name"]: row for row in self.to_dict()["users"]}

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt rebalance --json`` prints."""
        before = per_user(self.instance, self.current.tasks.sum(axis=1))
        document: dict[str, Any] = {
            "schema": self._schema,
            "instance": self.instance.name,
            "policy": self.policy,
            "status": self.status,
            "at_most": self.most,
            "moves": self.count("move"),
            "evictions": self.count("evict"),
            "starts": self.count("start"),
            "fewest_proven": self.fewest,
            "fairest_proven": self.fairest,
            "users_proven": self.decided,
            "places": "machines" if self.current.machines else "classes" if self.instance.machines else "pool",
            "steps": [
                {"kind": step.kind, "user": step.user, "tasks": step.tasks, "from": step.source, "to": step.target}
                | ({"type": step.kind_of_task} if step.kind_of_task else {})
                for step in self.steps
            ],
            "users": [
                {
                    "name": name,
                    "tasks_before": before[i],
                    "tasks": int(self.after[i].sum()),
                    "level_before": float(self.before[i]),
                    "level": float(self.levels[i]),
                }
                for i, name in enumerate(self.instance.users)
            ],
            "placement": {
                user: {place: int(x) for place, x in zip(self.current.places, self.after[i].tolist(), strict=True) if x}
                for i, user in enumerate(self.instance.users)
            },
            "seconds": self.seconds,
        }
        if types := self._types():
            document["types"] = types
        return document

    def _types(self) -> dict[str, list[dict[str, Any]]]:
        """Return of each user with several types how many of each run, and where, as an allocation has them."""
        found: dict[str, list[dict[str, Any]]] = {}
        kinds = [kind for mine in self.instance.task_types or () for kind in mine or (None,)]
        for i, kind, row in zip(owners(self.instance), kinds, self.by_type.tolist(), strict=False):
            if kind is not None:
                there = {place: x for place, x in zip(self.current.places, row, strict=True) if x}
                entry = ({"name": kind.name} if kind.name else {}) | {"tasks": sum(row), "of": kind.count}
                if self.instance.machines is not None:
                    entry["placement"] = there
                found.setdefault(self.instance.users[i], []).append(entry)
        return found

    def sheet(self) -> Sheet:
        """Return the table: a row a user, and what to do below it."""
        rows = []
        before = per_user(self.instance, self.current.tasks.sum(axis=1))
        for i, name in enumerate(self.instance.users):
            mine = [step for step in self.steps if step.user == name]
            done = [sum(step.tasks for step in mine if step.kind == kind) for kind in ("move", "evict", "start")]
            tasks = (before[i], int(self.after[i].sum()))
            rows.append((name, *tasks, float(self.before[i]), float(self.levels[i]), *done))
        headings = ("tasks today", "tasks", "level today", "level", "move", "evict", "start")
        columns = (Column("user"), *(Column(heading, number=True) for heading in headings))
        title = f"{self.policy}, whole tasks, rebalanced" + (f" - {self.instance.name}" if self.instance.name else "")
        return Sheet(title, columns, rows, tuple(self._notes()), document=self.to_dict)

    def _notes(self) -> list[str]:
        notes = [_sentence(step) for step in self.steps[:20]]
        if len(self.steps) > 20:
            notes.append(f"... and {len(self.steps) - 20} more steps (json has them all)")
        counted = f"{self.count('move')} moves, {self.count('evict')} evictions, {self.count('start')} starts"
        why = "the cluster is too large for the program of moves" if self.too_large else "the time ran out"
        few = "no fewer moves and evictions lead to these levels (proven)" if self.fewest else f"fewer may do, {why}"
        notes.append(f"{counted}: {few}")
        placed = int(self.instance.n - self.instance.unplaced(integer=True).sum())
        if self.fairest:
            within = "" if self.most is None else f" with at most {self.most} moves and evictions"
            notes.append(f"levels: no allocation of whole tasks is fairer{within} (proven)")
        else:
            notes.append(
                f"levels: the {self.decided} lowest of {placed} are proven to be the fairest, the time ran out"
            )
        if self.instance.machines is not None and not self.current.machines:
            notes.append("counted between classes: the file names no machines, and moves within a class come on top")
        notes.append(f"{self.status}, {self.seconds:.3g} s")
        return notes


def rebalance(
    instance: Instance,
    current: Any,
    *,
    moves: int | None = None,
    policy: AnyPolicy = "drf",
    time_limit: float | None = None,
) -> Rebalancing:
    """Return the fewest moves and evictions that lead to a fair allocation of whole tasks.

    A task moves when it leaves its place and runs in another, and is evicted when it leaves and runs nowhere; tasks
    that start are not counted.  A place is a machine, where the current allocation names machines, else a class.
    Fair allocations are many: the fewest moves are those to the nearest of all.

    Parameters
    ----------
    instance : Instance
    current : Current, mapping, path of a JSON file, or frame
        What runs today: a frame has tasks of users (rows) on classes (columns), of a pool it is a Series of tasks by
        user; else see `drfopt.planning.rebalancing.current`.
    moves : int, optional
        Return the fairest allocation that so many moves and evictions, at most, can reach.
    policy : str, Policy or function
        A leximin policy.
    time_limit : float, optional
        Seconds.

    Returns
    -------
    Rebalancing
        Its ``steps``, and the tasks ``after`` them.

    Raises
    ------
    InstanceError, PolicyError
        When the current allocation, the number of moves or the policy does not suit the instance.
    TimeLimitError
        When the time is up before any plan was found.

    Examples
    --------
    >>> cluster = Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, machines=[Machine("m", {"cpu": 4})])
    >>> rebalance(cluster, {"placement": {"A": {"m": 4}}}).count("evict")
    2
    """
    begun = time.perf_counter()
    chosen = policy_named(policy)
    if chosen.objective != "leximin":
        raise PolicyError(f"rebalance compares levels, and {chosen.name} does not: use drf, asset, tasks or single:R")
    chosen.check(instance, integer=True, knows=FEATURES)
    if moves is not None and instance.organisation is not None and instance.organisation.branches:
        raise PolicyError(
            "which allocation within a number of moves is the fairest is not defined of whole tasks in several groups: "
            "leave the number of moves out, or the groups"
        )
    if time_limit is not None and not time_limit > 0:
        raise PolicyError(f"the time limit is {time_limit}: give a positive number of seconds")
    if moves is not None and (isinstance(moves, bool) or not isinstance(moves, int) or moves < 0):
        raise InstanceError(f"the number of moves is {moves!r}: give a whole number, 0 or more")
    there = _current(current, instance)
    deadline = Deadline.after(time_limit)
    problem = Problem(instance, chosen, integer=True, deadline=deadline)
    wanted = _optimum(problem, there) if moves is None else _within(problem, there, moves)
    too_large = False
    try:
        plan, fewest = _fixed(problem, wanted) if wanted.fixed else wanted.fairest.fewest(deadline)
    except TooLarge:
        if wanted.found is None or there.machines:
            raise
        plan, too_large = _as_solved(wanted.found), True
        # Where nothing leaves its place, nothing could leave less.
        fewest = plan.leaving(there) == 0
    check(problem, there, plan, wanted.fairest)
    return Rebalancing(
        instance=instance,
        policy=chosen.name,
        current=there,
        by_type=plan.tasks,
        steps=tuple(_steps(instance, there, plan.tasks)),
        most=moves,
        levels=_levels(wanted.fairest.users, plan.tasks),
        before=_levels(wanted.fairest.users, there.tasks),
        fewest=fewest,
        fairest=wanted.proven,
        decided=wanted.sure,
        seconds=time.perf_counter() - begun,
        too_large=too_large,
    )


@dataclass(frozen=True)
class _Levels:
    """Levels to reach, whether none are fairer, and how many users' levels are proven, from the lowest.

    `found` is the allocation that has them, where one was computed; it is `fixed` where levels do not say who is served
    first, and nothing but this allocation is fair.
    """

    fairest: Fairest
    proven: bool
    sure: int
    found: Allocation | None = None

    @property
    def fixed(self) -> bool:
        """Whether levels do not tell what is fair."""
        return self.fairest.users.branches


def _fixed(problem: Problem, wanted: _Levels) -> tuple[Placement, bool]:
    """Return the tasks of an allocation of a pool, where there is one place: no fewer can leave it."""
    users = wanted.fairest.users
    tasks = [] if wanted.found is None else [int(x) for x in wanted.found.tasks]
    return Placement(np.array(users.counts(tasks), dtype=np.int64)[:, None], None), True


def _of_users(instance: Instance, tasks: np.ndarray) -> np.ndarray:
    """Return tasks of rows by types (rows, places) as those of users (n, places)."""
    found = np.zeros((instance.n, tasks.shape[1]), dtype=np.int64)
    np.add.at(found, owners(instance), tasks)
    return found


def _as_solved(found: Allocation) -> Placement:
    """Return an allocation on machine classes as it was packed."""
    packing = found.certificate.evidence.packing or []
    tasks = np.zeros((len(owners(found.instance)), found.instance.k), dtype=np.int64)
    for k, machines, pattern in packing:
        for i, x in pattern.items():
            tasks[i, k] += machines * x
    return Placement(tasks, packing)


def _optimum(problem: Problem, current: Current) -> _Levels:
    """Return the levels of the optimum, as `solve` proves it."""
    left = problem.deadline.part(SEARCH).left()
    limit = None if left == math.inf else left
    found = solve(problem.instance, problem.policy, integer=True, time_limit=limit)
    proven = found.status == "optimal"
    fairest = Fairest(problem, current, None)
    fairest.decided = _merged([(value, 1) for value in fairest.users.values([int(x) for x in found.tasks])])
    sure = sum(count for _, count, _ in found.certificate.proof(WholeEvidence).claims)
    return _Levels(fairest, proven, problem.n if proven else sure, found)


def _within(problem: Problem, current: Current, moves: int) -> _Levels:
    """Return the fairest levels that so many moves can reach, as far as there is time."""
    fairest = Fairest(problem, current, moves)
    deadline = problem.deadline.part(SEARCH)
    plan: Placement | None = None
    try:
        while (better := fairest.advance(deadline)) is not None:
            plan = better
    except UnfinishedProgram as stopped:
        if plan is None:
            if stopped.point is None:
                raise
            plan = fairest.program().plan(stopped.point)
        sure = sum(count for _, count in fairest.decided)
        rest = [(value, 1) for value in fairest.values(plan.tasks)[sure:]]
        return _Levels(Fairest(problem, current, moves, _merged([*fairest.decided, *rest])), False, sure)
    except Within:
        least = Tasks(problem, fairest.users, current).least(problem.deadline)
        raise InstanceError(
            f"what runs today does not fit where it runs, or may not run there: at least {least} moves or evictions "
            f"are needed before anything else, and {moves} are allowed"
        ) from None
    return _Levels(fairest, True, problem.n)


def _merged(levels: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: dict[int, int] = {}
    for level, count in levels:
        found[level] = found.get(level, 0) + count
    return sorted(found.items())


def _levels(users: WholeUsers, tasks: np.ndarray) -> tuple[Fraction, ...]:
    """Return the levels (n,) of tasks in places; of who takes no part as the policy counts them."""
    held = per_user(users.instance, tasks.sum(axis=1))
    rates = users.policy.exact_rates(users.instance)
    found = [rate * x for rate, x in zip(rates, held, strict=True)]
    for p, i in enumerate(users.members):
        found[i] = users.level(p, held[i])
    return tuple(found)


def _current(current: Any, instance: Instance) -> Current:
    if isinstance(current, Current):
        return current
    if labels(current):
        current = labelled(current, instance)
    return current_of(current, instance) if isinstance(current, Mapping) else load_current(current, instance)


def check(problem: Problem, current: Current, plan: Placement, wanted: Fairest) -> None:
    """Raise `CertificateError` where a plan is not feasible, exactly, moves too much, or misses the levels."""
    instance, users, packing = problem.instance, wanted.users, plan.packing
    if current.machines:
        rows = enumerate(zip(current.classes, plan.tasks.T.tolist(), strict=True))
        packing = [(k, 1, {i: x for i, x in enumerate(row) if x}) for _, (k, row) in rows if any(row)]
    counts = plan.tasks.sum(axis=1)
    tasks = per_user(instance, counts)
    wrong = impossible(users, tasks, packing, None)
    if not wrong and users.counts(tasks) != counts.tolist():
        wrong = "tasks of several types do not run in their proportions"
    if not wrong and wanted.most is not None and plan.leaving(current) > wanted.most:
        wrong = f"{plan.leaving(current)} tasks leave their places, and {wanted.most} may"
    least = [value for value, count in wanted.decided for _ in range(count)]
    if not wrong and not users.branches and sorted(users.values(tasks)) < least:
        wrong = "its levels are below those that were asked for"
    if wrong:
        raise CertificateError(f"a plan was found that is not returned: {wrong}")


def _steps(instance: Instance, current: Current, after: np.ndarray) -> list[MoveStep]:
    """Return what changes, user by user: of what leaves, what arrives elsewhere has moved."""
    steps: list[MoveStep] = []
    kinds = type_names(instance)
    for row, i in enumerate(owners(instance)):
        user, kind = instance.users[i], kinds[row]
        change = (after[row] - current.tasks[row]).tolist()
        leaving = [[place, -x] for place, x in enumerate(change) if x < 0]
        arriving = [[place, x] for place, x in enumerate(change) if x > 0]
        while leaving and arriving:
            count = min(leaving[0][1], arriving[0][1])
            steps.append(MoveStep(user, count, current.places[leaving[0][0]], current.places[arriving[0][0]], kind))
            for queue in (leaving, arriving):
                queue[0][1] -= count
                if not queue[0][1]:
                    queue.pop(0)
        steps += [MoveStep(user, count, current.places[place], None, kind) for place, count in leaving]
        steps += [MoveStep(user, count, None, current.places[place], kind) for place, count in arriving]
    return steps


def _sentence(step: MoveStep) -> str:
    what = f"{step.tasks} of {step.user}" + (f" ({step.kind_of_task})" if step.kind_of_task else "")
    if step.source is None:
        return f"start {what} on {step.target}"
    if step.target is None:
        return f"evict {what} from {step.source}"
    return f"move {what} from {step.source} to {step.target}"
