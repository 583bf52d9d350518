"""From what runs today to the fair allocation: the fewest moves that reach it, or the fairest with a few."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import CertificateError, InstanceError, PolicyError, SolverError, TimeLimitError
from ...base.numbers.quantities import counted_up_to
from ...base.numbers.shown import changing, counted
from ...base.results import Result
from ...base.tables import Column, Sheet
from ...certificates.group_sweep import GroupSweep
from ...certificates.whole import impossible
from ...engines.problem import Problem
from ...engines.whole.carrying import Running
from ...engines.whole.frontier import packed_as
from ...engines.whole.integer_program import TooLarge, UnfinishedProgram
from ...model.allocation import Allocation
from ...model.evidence import WholeEvidence
from ...model.hierarchy.market import market_rules
from ...model.instance import FEATURES, Instance
from ...model.naming import labels, some
from ...model.policies import AnyPolicy, Policy, policy_on
from ...model.single_machines import ON_EACH
from ...model.whole_values import WholeUsers, type_rows
from ...solving.allocating import solve
from ...solving.neighbours import as_good
from .current import Current, current_of, labelled, load_current
from .largest import Largest, largest_within
from .moves import BestEnds, Fairest, Placement, Tasks, Within
from .separate import Separate
from .today import Today, today

__all__ = ["MoveStep", "Rebalancing", "check", "rebalance"]

SEARCH = 0.5
"""Part of the time in which the optimum, or the levels within the moves, are looked for; the rest is for the moves."""

KEPT = 0.2
"""Part of the rest in which it is looked whether what runs today is better than an optimum that is not proven."""

MOST_MOVES = 2**53
"""Moves beyond which a number of them bounds nothing."""

SHOWN = 5
"""Faults of what is said to run today that are named."""

GOALS = {
    "levels": ("these levels", "is fairer"),
    "sum": ("a sum as large", "has a larger sum"),
    "product": ("a product as large", "has more users with a task, or as many and a larger product"),
    "utilities": ("utilities as large", "has larger utilities"),
}
"""What moves lead to, and what nothing else does, by what is to be best."""


@dataclass(frozen=True)
class MoveStep:
    """Tasks of one user that move, are evicted, or start.

    Attributes
    ----------
    user : str
    tasks : int
    source, target : str or None
        Places; an eviction has no target, and a start no source.
    type : str
        Which tasks, of a user with several types; a number from 1 on where they have no names.
    """

    user: str
    tasks: int
    source: str | None
    target: str | None
    type: str = ""

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
    after : int array (n, places)
        Whole tasks of every user in every place; of a user with several types a row a type.
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
    goal : str
        What is to be best: ``levels``, a ``sum``, a ``product`` or ``utilities``.
    undecided : bool
        Whether what is not proven is a matter of rounding, and not of time.
    """

    _schema = "drfopt rebalancing 1"
    _rows = "users"

    instance: Instance
    policy: str
    current: Current
    after: np.ndarray
    steps: tuple[MoveStep, ...]
    most: int | None
    levels: tuple[Fraction, ...]
    before: tuple[Fraction, ...]
    fewest: bool
    fairest: bool
    decided: int
    seconds: float = field(compare=False)
    too_large: bool = False
    goal: str = "levels"
    undecided: bool = False

    @property
    def status(self) -> str:
        """``optimal`` where all is proven; ``feasible`` where size or rounding is why not, else ``time_limit``."""
        unproven = "feasible" if (self.too_large and not self.fewest) or self.undecided else "time_limit"
        return "optimal" if self.fewest and self.fairest else unproven

    def count(self, kind: str) -> int:
        """Return how many tasks move, are evicted (``evict``), or start."""
        return sum(step.tasks for step in self.steps if step.kind == kind)

    def named(self) -> dict[str, Any]:
        """Return the rows of `to_dict` by user."""
        return {row["name"]: row for row in self.to_dict()["users"]}

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt rebalance --json`` prints."""
        return {
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
                | ({"type": step.type} if step.type else {})
                for step in self.steps
            ],
            "users": [
                {
                    "name": name,
                    "tasks_before": self._held(self.current.tasks, i),
                    "tasks": self._held(self.after, i),
                    "level_before": float(self.before[i]),
                    "level": float(self.levels[i]),
                }
                for i, name in enumerate(self.instance.users)
            ],
            "placement": {
                user: self._places(self.after[rows].sum(axis=0))
                for user, rows in zip(self.instance.users, type_rows(self.instance), strict=True)
            },
            "impossible_today": list(self.today.impossible),
            "undecided_today": list(self.today.undecided),
            "seconds": self.seconds,
        } | ({"types": self._types()} if self.instance.task_types is not None else {})

    @cached_property
    def today(self) -> Today:
        """What is said to run today and cannot."""
        return today(self.current, self.instance)

    def _held(self, tasks: np.ndarray, i: int) -> int:
        """Return the tasks of a user, of all its types and in all places."""
        return int(tasks[type_rows(self.instance)[i]].sum())

    def _places(self, row: np.ndarray) -> dict[str, int]:
        return {place: int(x) for place, x in zip(self.current.places, row.tolist(), strict=True) if x}

    def _types(self) -> dict[str, list[dict[str, Any]]]:
        """Return what runs of each type of a user with several, and where: as `solve` tells it."""
        found = {}
        for user, kinds, rows in zip(
            self.instance.users, self.instance.task_types or (), type_rows(self.instance), strict=True
        ):
            if kinds:
                found[user] = [
                    ({"name": kind.name} if kind.name else {})
                    | {"tasks": int(self.after[q].sum()), "of": kind.count, "placement": self._places(self.after[q])}
                    for kind, q in zip(kinds, rows, strict=True)
                ]
        return found

    def sheet(self) -> Sheet:
        """Return the table: a row a user, and what to do below it."""
        rows = []
        for i, name in enumerate(self.instance.users):
            mine = [step for step in self.steps if step.user == name]
            done = [sum(step.tasks for step in mine if step.kind == kind) for kind in ("move", "evict", "start")]
            tasks = (self._held(self.current.tasks, i), self._held(self.after, i))
            rows.append((name, *tasks, float(self.before[i]), float(self.levels[i]), *done))
        headings = ("tasks today", "tasks", "level today", "level", "move", "evict", "start")
        columns = (Column("user"), *(Column(heading, number=True) for heading in headings))
        title = f"{self.policy}, whole tasks, rebalanced" + (f" - {self.instance.name}" if self.instance.name else "")
        return Sheet(title, columns, rows, tuple(self._notes()), document=self.to_dict)

    def _notes(self) -> list[str]:
        notes = [_sentence(step) for step in self.steps[:20]]
        if len(self.steps) > 20:
            notes.append(f"... and {len(self.steps) - 20} more steps (json has them all)")
        names = {"move": "move", "evict": "eviction", "start": "start"}
        made = ", ".join(counted(self.count(kind), noun) for kind, noun in names.items())
        late = (
            "what is best and what is nearly so differ by less than rounding" if self.undecided else "the time ran out"
        )
        why = "the cluster is too large for the program of moves" if self.too_large else late
        reached, best = GOALS[self.goal]
        few = f"no fewer moves and evictions lead to {reached} (proven)" if self.fewest else f"fewer may do, {why}"
        notes.append(f"{made}: {few}")
        placed = int(self.instance.n - self.instance.unplaced(integer=True).sum())
        if self.fairest:
            within = "" if self.most is None else f" with at most {counted(self.most, 'task')} moved or evicted"
            promised = self.goal != "levels" and "organisation" in self.instance.features
            kept = " that keeps guarantees as well" if promised else ""
            notes.append(f"{self.goal}: no allocation of whole tasks{kept}{within} {best} (proven)")
        elif self.goal != "levels":
            notes.append(f"{self.goal}: the best known, {late}")
        else:
            notes.append(
                f"levels: the {self.decided} lowest of {placed} are proven to be the fairest, the time ran out"
            )
        if odd := self.today.impossible:
            more = f" and {len(odd) - SHOWN} more" if len(odd) > SHOWN else ""
            notes.append(f"today, by the file, there runs what cannot: {'; '.join(odd[:SHOWN])}{more}")
        if undecided := self.today.undecided:
            notes.append(f"whether what runs today can be packed was not decided: {some(undecided)}")
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
        A policy of levels, a market or a sum.
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
    chosen = policy_on(policy, instance)
    if chosen.objective not in ("leximin", "sum", "alpha", "servers"):
        raise PolicyError(
            f"rebalance asks which whole tasks are best, and of {chosen.name} nothing says so: use a policy of levels, "
            "a market or a sum, such as drf, ceei or utilitarian"
        )
    chosen.check(instance, integer=True, knows=FEATURES)
    deadline = Deadline.asked(time_limit)
    if moves is not None:
        moves = counted_up_to(moves, "the number of moves", least=0)
    there = _current(current, instance)
    # One pool is one machine.
    by_itself = chosen.objective == "servers" and instance.machines is not None and bool(instance.fits.any())
    separate = Separate(instance, there, deadline) if by_itself else None
    notion = ON_EACH if chosen.objective == "servers" else chosen
    problem, seen = Problem(instance, notion, integer=True, deadline=deadline), there
    users = WholeUsers(instance, notion, problem.members.tolist())
    if separate is not None:
        problem, seen = separate.problem, separate.current
    levelled = notion.objective == "leximin"
    moves = None if moves is None else min(moves, MOST_MOVES)
    if moves is not None and users.branches and levelled:
        raise PolicyError(
            "which of two allocations is fairer is not defined in several groups, only which are fairest: leave out "
            "the number of moves, and the fewest to one of these are found"
        )
    wanted = _optimum(problem, seen, separate) if moves is None else _within(problem, seen, moves, separate)
    plan, fewest, too_large = _planned(wanted, there, separate, deadline)
    check(problem, seen, plan, wanted.fairest)
    if separate is not None:
        plan = separate.together(plan)
        if moves is not None and plan.leaving(there) > moves:
            raise CertificateError(f"a plan was found in which {plan.leaving(there)} tasks leave, and {moves} may")
    levels = _levels_on(instance, chosen, users if levelled and separate is None else None)
    return Rebalancing(
        instance=instance,
        policy=chosen.name,
        current=there,
        after=plan.tasks,
        steps=tuple(_steps(instance, there, plan.tasks)),
        most=moves,
        levels=levels(plan.tasks),
        before=levels(there.tasks),
        fewest=fewest,
        fairest=wanted.proven,
        decided=wanted.sure,
        seconds=time.perf_counter() - begun,
        too_large=too_large,
        goal=_goal(notion),
        undecided=isinstance(wanted.fairest, Largest) and wanted.fairest.undecided,
    )


def _planned(
    wanted: "_Levels", there: Current, separate: Separate | None, deadline: Deadline
) -> tuple[Placement, bool, bool]:
    """Return a way to the levels, whether it has the fewest moves, and whether the program of those is too large."""
    try:
        return *wanted.fairest.fewest(deadline), False
    except (TooLarge, TimeLimitError) as stopped:
        if wanted.found is None or there.machines:
            raise
        plan = _as_solved(wanted.found, separate)
        # Where nothing leaves its place, nothing could leave less.
        fewest = (plan if separate is None else separate.together(plan)).leaving(there) == 0
        return plan, fewest, isinstance(stopped, TooLarge)


def _levels_on(
    instance: Instance, policy: Policy, users: WholeUsers | None
) -> Callable[[np.ndarray], tuple[Fraction, ...]]:
    """Return what says the levels of tasks by type: those that `users` have where they rise, else rates times tasks."""
    rates = policy.exact_rates(instance)
    if policy.objective in ("alpha", "sum") and "organisation" in instance.features:
        # Groups have incomes.
        rates = market_rules(instance, policy, exact=True).rates.tolist()

    def levels(tasks: np.ndarray) -> tuple[Fraction, ...]:
        held = [int(tasks[rows].sum()) for rows in type_rows(instance)]
        found = [rate * x for rate, x in zip(rates, held, strict=True)]
        if users is not None:
            for p, i in enumerate(users.members):
                found[i] = users.level(p, held[i])
        return tuple(found)

    return levels


def _goal(policy: Policy) -> str:
    """Return what a policy makes best, as `GOALS` calls it."""
    if policy.objective == "leximin":
        return "levels"
    return "sum" if policy.objective == "sum" else "product" if policy.alpha == 1 else "utilities"


@dataclass(frozen=True)
class _Levels:
    """Levels to reach, whether none are fairer, and how many users' levels are proven, from the lowest.

    `found` is the allocation that has them, where one was computed.
    """

    fairest: Fairest | BestEnds | Largest
    proven: bool
    sure: int
    found: Allocation | None = None


def _as_solved(found: Allocation, separate: Separate | None) -> Placement:
    """Return an allocation on machine classes as it was packed."""
    if separate is not None:
        return separate.apart(found)
    packing = found.certificate.evidence.packing or []
    tasks = np.zeros((type_rows(found.instance)[-1].stop, found.instance.k), dtype=np.int64)
    for k, machines, pattern in packing:
        for i, x in pattern.items():
            tasks[i, k] += machines * x
    return Placement(tasks, packing)


def _optimum(problem: Problem, current: Current, separate: Separate | None) -> _Levels:
    """Return the levels of the optimum, as `solve` proves it."""
    left = problem.deadline.part(SEARCH).left()
    limit = None if left == math.inf else left
    if separate is not None:
        found = solve(separate.instance, "per-server", integer=True, time_limit=limit)
        proven, tasks = found.status == "optimal", separate.apart(found).tasks.sum(axis=1).tolist()
        users = problem.whole_users
        fairest = Fairest(
            problem, current, None, _merged([(value, 1) for value in users.values(tasks)]), separate.program
        )
        return _Levels(fairest, proven, problem.n if proven else 0, found)
    found = solve(problem.instance, problem.policy, integer=True, time_limit=limit)
    if not found.finished and (running := _running(problem, current)) is not None:
        found = as_good(found, running, problem.deadline.part(KEPT))
    proven = found.status == "optimal"
    users = problem.whole_users
    if problem.policy.objective != "leximin":
        largest = Largest(problem, current, [int(found.tasks[i]) for i in users.members])
        return _Levels(largest, proven, problem.n if proven else 0, found)
    if users.branches:
        sweep = GroupSweep(users, problem.deadline)
        own = sweep.canonical([int(found.tasks[i]) for i in users.members])
        ends = sweep.best(problem.deadline.part(SEARCH)) if proven else [own]
        return _Levels(BestEnds(problem, current, sweep, ends), proven, problem.n if proven else 0, found)
    levels = [(value, 1) for value in users.values(found.tasks.tolist())]
    sure = sum(count for _, count, _ in found.certificate.proof(WholeEvidence).claims)
    fairest = Fairest(problem, current, None, _merged(levels))
    return _Levels(fairest, proven, problem.n if proven else sure, found)


def _running(problem: Problem, current: Current) -> Running | None:
    """Return what runs today, packed; None where that is not said of single machines, and no packing is found."""
    instance, held = problem.instance, current.tasks.sum(axis=1)
    tasks = [int(held[rows].sum()) for rows in type_rows(instance)]
    if instance.machines is None:
        return Running(instance, tasks, None)
    if current.machines:
        each = zip(current.classes, current.tasks.T.tolist(), strict=True)
        return Running(instance, tasks, [(k, 1, {q: x for q, x in enumerate(row) if x}) for k, row in each])
    own = [tasks[i] for i in problem.members.tolist()]
    in_time = replace(problem, deadline=problem.deadline.part(KEPT))
    try:
        return Running(instance, tasks, packed_as(in_time, problem.whole_users, own).evidence.packing)
    except (SolverError, TimeLimitError):
        return None


def _within(problem: Problem, current: Current, moves: int, separate: Separate | None) -> _Levels:
    """Return the fairest levels that so many moves can reach, as far as there is time."""
    deadline = problem.deadline.part(SEARCH)
    program = Tasks if separate is None else separate.program
    if problem.policy.objective != "leximin":
        try:
            largest, proven = largest_within(problem, current, moves, deadline)
        except Within:
            raise _too_few(program(problem, current, None), moves, separate) from None
        return _Levels(largest, proven, problem.n if proven else 0)
    fairest = Fairest(problem, current, moves, program=program)
    plan: Placement | None = None
    try:
        while (better := fairest.advance(deadline)) is not None:
            plan = better
    except UnfinishedProgram as stopped:
        if plan is None:
            if stopped.point is None:
                raise
            plan = program(problem, current, moves).plan(stopped.point)
        sure = sum(count for _, count in fairest.decided)
        tasks = program(problem, current, None).tasks(plan)
        values = sorted(scale.value(x) for scale, x in zip(fairest.users.scales, tasks, strict=True))
        rest = [(value, 1) for value in values[sure:]]
        return _Levels(replace(fairest, decided=_merged([*fairest.decided, *rest])), False, sure)
    except Within:
        raise _too_few(program(problem, current, None), moves, separate) from None
    return _Levels(fairest, True, problem.n)


def _too_few(program: Tasks, moves: int, separate: Separate | None) -> InstanceError:
    least = program.least(program.problem.deadline)
    if separate is not None:
        odd = list(today(separate.today, separate.instance).impossible)
    else:
        odd = [*today(program.current, program.problem.instance).impossible, *_forbidden(program)]
        odd = odd or _out_of_turn(program)
    why = f" ({'; '.join(odd[:SHOWN])}{f' and {len(odd) - SHOWN} more' if len(odd) > SHOWN else ''})" if odd else ""
    return InstanceError(
        f"what runs today cannot stay as it is{why}: of its tasks at least {least} must move or be evicted before "
        f"anything else, and {moves} may"
    )


def _forbidden(program: Tasks) -> Iterator[str]:
    """Yield what runs today beyond limits, and beyond ceilings of groups."""
    instance, users, rows = program.problem.instance, program.users, type_rows(program.problem.instance)
    each = program.current.tasks.sum(axis=1).tolist()
    for name, limit, mine in zip(instance.users, instance.exact_limits, rows, strict=True):
        if limit is not None and (held := sum(each[q] for q in mine)) > limit:
            yield f"{name} runs {counted(held, 'task')}, and {math.floor(limit)} may"
    for inside, j, most in users.ceilings:
        members = [users.members[p] for p in sorted(inside)]
        used = sum((each[q] * users.cluster.exact_demands[q][j] for i in members for q in rows[i]), Fraction(0))
        if used > most:
            names, resource = some([instance.users[i] for i in members]), instance.resources[j]
            held_now, allowed = changing(float(used), float(most))
            yield f"{names} use {held_now} {resource} together, and may use {allowed}"


def _out_of_turn(program: Tasks) -> list[str]:
    """Return who runs tasks of several types that are not the first of their sequence."""
    instance, users, rows = program.problem.instance, program.users, type_rows(program.problem.instance)
    each = program.current.tasks.sum(axis=1).tolist()
    held = [sum(each[q] for q in mine) for mine in rows]
    first = users.counts(held)
    return [
        f"{instance.users[i]} runs tasks of its types that are not the first {held[i]} of their sequence"
        for i in users.members
        if [first[q] for q in rows[i]] != [each[q] for q in rows[i]]
    ]


def _merged(levels: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: dict[int, int] = {}
    for level, count in levels:
        found[level] = found.get(level, 0) + count
    return sorted(found.items())


def _current(current: Any, instance: Instance) -> Current:
    if isinstance(current, Current):
        return current
    if labels(current):
        current = labelled(current, instance)
    if not isinstance(current, Mapping):
        return load_current(current, instance)
    try:
        return current_of(current, instance)
    except InstanceError as error:
        raise InstanceError(f"the current allocation: {error}") from None


def check(problem: Problem, current: Current, plan: Placement, wanted: Fairest | BestEnds | Largest) -> None:
    """Raise `CertificateError` where a plan is not feasible, exactly, moves too much, or misses the levels."""
    instance, packing = problem.instance, plan.packing
    if current.machines:
        rows = enumerate(zip(current.classes, plan.tasks.T.tolist(), strict=True))
        packing = [(k, 1, {i: x for i, x in enumerate(row) if x}) for _, (k, row) in rows if any(row)]
    users = WholeUsers(instance, problem.policy, problem.members.tolist())
    counts = plan.tasks.sum(axis=1).tolist()
    tasks = [sum(counts[q] for q in rows) for rows in type_rows(instance)]
    wrong = impossible(users, tasks, packing)
    if not wrong and users.counts(tasks) != counts:
        wrong = "tasks of several types of a user are not the first of their sequence"
    if not wrong and wanted.most is not None and plan.leaving(current) > wanted.most:
        wrong = f"{plan.leaving(current)} tasks leave their places, and {wanted.most} may"
    if wrong := wrong or wanted.misses(plan):
        raise CertificateError(f"a plan was found that is not returned: {wrong}")


def _steps(instance: Instance, current: Current, after: np.ndarray) -> list[MoveStep]:
    """Return what changes, user by user: of what leaves, what arrives elsewhere has moved."""
    steps: list[MoveStep] = []
    for user, kind, q in _named(instance):
        change = (after[q] - current.tasks[q]).tolist()
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


def _named(instance: Instance) -> Iterator[tuple[str, str, int]]:
    """Yield each user with each of its types, and the row of it; what it is called is empty where there is one."""
    types = instance.task_types or (None,) * instance.n
    for user, kinds, rows in zip(instance.users, types, type_rows(instance), strict=True):
        for t, q in enumerate(rows):
            yield user, (kinds[t].name or str(t + 1)) if kinds else "", q


def _sentence(step: MoveStep) -> str:
    what = f"{step.tasks} of {step.user}" + (f" ({step.type})" if step.type else "")
    if step.source is None:
        return f"start {what} on {step.target}"
    if step.target is None:
        return f"evict {what} from {step.source}"
    return f"move {what} from {step.source} to {step.target}"
