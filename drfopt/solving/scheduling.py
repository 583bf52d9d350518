"""Whole tasks one at a time: Algorithm 1 of the DRF paper on an instance, with a trace as in its Table 1.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, Algorithm 1 and Table 1.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from ..base.deadline import Deadline, ending
from ..base.errors import PolicyError, checked_flags, listed, suggestion
from ..base.numbers.shown import counted, share_of_all
from ..base.progress import report
from ..base.results import Result
from ..base.tables import SHOWN, Column, Sheet
from ..engines.problem import Problem
from ..engines.reference.algorithm1 import Free, Lines, Mix, Step, discrete_filling, kinds_started
from ..engines.reference.device_by_device import NO_DEVICES, FreeDevices
from ..engines.whole.bulk_filling import Filled, bulk_filling
from ..model.evidence import WholeEvidence
from ..model.hierarchy import Clock, TreeLine, stages
from ..model.instance import FEATURES, Instance
from ..model.packings import machine_rows, most_alone
from ..model.policies import POLICIES, AnyPolicy, Policy, policy_on
from ..model.single_machines import ON_EACH, machine_of
from ..model.whole_values import WholeUsers
from .allocating import solve

__all__ = ["Schedule", "ScheduleDistance", "schedule"]

WHEN_FULL = ("skip", "stop")

AHEAD = {"algorithm-1": 0, "sequential-min-max": 1}
"""The rules, and how many tasks ahead each looks at a user's level."""

WIDEST = 6
"""Most users, or users times resources, with a column each in the trace; of more users only who is served is shown."""

LONGEST = 1_000_000
"""Tasks of a trace; each is a line with what everybody has."""

CHECKED = 1000
"""Tasks that are started between two looks at the clock."""

MINUTES = 1
"""Minutes that a schedule may be expected to take without a time limit."""

LOOK = 1.5e-5
"""Seconds of a look at a user: where a task is started in its turn, every user's, and in jumps on every machine."""

FEW = 1000
"""Tasks up to which one by one is as fast as in jumps."""


_Run = tuple[Any, Any, Any, Any, str, Any, int, dict[int, Mix], Lines | None, list[int]]
"""Arguments of Algorithm 1; see `drfopt.engines.reference.algorithm1.kinds_started`."""


@dataclass(frozen=True, eq=False)
class ScheduleDistance:
    """How far a schedule is from the optimum of whole tasks.

    Attributes
    ----------
    tasks : int array (n,)
        Those of the optimum.
    lowest, lowest_of_schedule : float
        The lowest level of who takes part, in the optimum and in the schedule.
    higher, lower : int
        How many users have more in the optimum than in the schedule, and how many less.
    proven : bool
        Whether the optimum is; otherwise the time ran out.
    bound : float or None
        What the first level that is not proven could be at most.
    """

    tasks: np.ndarray
    lowest: float
    lowest_of_schedule: float
    higher: int
    lower: int
    proven: bool
    bound: float | None

    def __str__(self) -> str:
        word = "proven" if self.proven else "the best known, not proven"
        return (
            f"optimum of whole tasks ({word}): lowest level {self.lowest:.6g}, here {self.lowest_of_schedule:.6g}; "
            f"more in it: {counted(self.higher, 'user')}, less: {self.lower}"
        )


@dataclass(frozen=True, eq=False)
class Schedule(Result):
    """The tasks that Algorithm 1 starts, in its order.

    Attributes
    ----------
    instance : Instance
    policy : str
    when_full : str
        ``skip`` or ``stop``.
    tasks : int array (n,)
    placement : int array (n, k) or None
        Tasks of each user on each machine class; None for a pool.
    trace : tuple of Step, or None
        One step a task, users and classes by their index, all numbers exact; None where none was kept. Of `per-server`
        those of one machine of each class, with shares and use of it alone.
    rule : str
        ``algorithm-1`` or ``sequential-min-max``.
    types : dict from user to list of int
        Of every user with several task types, how many of each were started.
    free : list by class of lists
        What is left, and on which devices, of the machines that were tried; empty where a trace was kept, and of
        machines by themselves.
    optimum : ScheduleDistance or None
        How far it is from the optimum of whole tasks, where that was asked for.
    """

    _schema = "drfopt schedule 1"

    instance: Instance
    policy: str
    when_full: str
    tasks: np.ndarray
    placement: np.ndarray | None
    trace: tuple[Step, ...] | None
    rule: str = "algorithm-1"
    types: dict[str, list[int]] = field(default_factory=dict)
    free: Free = field(default_factory=list, compare=False, repr=False)
    optimum: ScheduleDistance | None = None

    @property
    def unplaced(self) -> tuple[str, ...]:
        """Names of the users whose task fits nowhere, even on an empty cluster."""
        return tuple(self.instance.users[i] for i in np.flatnonzero(self.instance.unplaced(integer=True)))

    def named(self) -> dict[str, Any]:
        """Return the number of tasks of each user."""
        return dict(zip(self.instance.users, self.tasks.tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt schedule --json`` prints; a trace that was not kept is null."""
        users, classes = self.instance.users, self.instance.machine_names
        document: dict[str, Any] = {
            "schema": self._schema,
            "tasks": dict(zip(users, self.tasks.tolist(), strict=True)),
        }
        if self.placement is not None:
            document["placement"] = {
                user: {name: count for name, count in zip(classes, row, strict=True) if count}
                for user, row in zip(users, self.placement.tolist(), strict=True)
            }
        if self.types:
            document["types"] = self.types
        document["unplaced"] = list(self.unplaced)
        if self.optimum is not None:
            tasks = dict(zip(users, self.optimum.tasks.tolist(), strict=True))
            document["optimum"] = vars(self.optimum) | {"tasks": tasks}
        document["trace"] = None if self.trace is None else [self._entry(*item) for item in enumerate(self.trace, 1)]
        return document

    def _entry(self, number: int, step: Step) -> dict[str, Any]:
        users, resources, classes = self.instance.users, self.instance.resources, self.instance.machine_names
        return {
            "step": number,
            "user": users[step.user],
            **({"machine": classes[step.machine]} if classes else {}),
            **({"type": step.kind} if users[step.user] in self.types else {}),
            "dominant_shares": dict(zip(users, map(float, step.dominant_shares), strict=True)),
            "shares": {
                user: dict(zip(resources, map(float, row), strict=True))
                for user, row in zip(users, step.shares, strict=True)
            },
            "used": dict(zip(resources, map(float, step.used), strict=True)),
        }

    def to_frame(self) -> Any:
        """Return a pandas frame: a row a step, or without a trace a row a user. Needs pandas (`drfopt[frame]`)."""
        import pandas

        if self.trace is None:
            return pandas.DataFrame({"tasks": self.tasks}, index=pandas.Index(self.instance.users, name="user"))
        return pandas.json_normalize(self.to_dict()["trace"]).set_index("step")

    def sheet(self) -> Sheet:
        """Return the trace as the paper's Table 1 shows it, a row a step; without a trace, a row a user.

        Each user's share of every resource stands before the dominant one where that makes no more than `WIDEST`
        columns; `to_dict` has all of them always.
        """
        name = f" - {self.instance.name}" if self.instance.name else ""
        columns, rows = self._outcome() if self.trace is None else self._table1(self.trace)
        return Sheet(
            title=f"{self.policy}, whole tasks one at a time{name}",
            columns=columns,
            rows=rows,
            notes=tuple(self._notes()),
            document=self.to_dict,
        )

    def _table1(self, trace: tuple[Step, ...]) -> tuple[tuple[Column, ...], list[tuple]]:
        users, classes, resources = self.instance.users, self.instance.machine_names, self.instance.resources
        few = len(users) <= WIDEST
        shown = resources if len(resources) > 1 and (not few or len(users) * len(resources) <= WIDEST) else ()
        columns = (
            Column("step", number=True),
            Column("serves"),
            *([Column("on")] if classes else []),
            *(
                Column(f"{what} of {user}", number=True)
                for user in (users if few else ["the served"])
                for what in (*shown, "share")
            ),
            *(Column(f"{resource} used", number=True) for resource in self.instance.resources),
        )
        rows = [
            (
                number,
                users[step.user],
                *([classes[step.machine]] if classes else []),
                *(
                    _share(share)
                    for i in (range(len(users)) if few else [step.user])
                    for share in (*(step.shares[i] if shown else ()), step.dominant_shares[i])
                ),
                *(f"{float(u):.6g}/{c:.6g}" for u, c in zip(step.used, self._room(step), strict=True)),
            )
            for number, step in enumerate(trace, start=1)
        ]
        return columns, rows

    @property
    def _by_itself(self) -> bool:
        """Whether every machine starts tasks by itself."""
        return policy_on(self.policy, self.instance).objective == "servers"

    def _room(self, step: Step) -> np.ndarray:
        """Return what there is where a step counts what is used, (m,)."""
        return self.instance.machine_capacity[step.machine] if self._by_itself else self.instance.capacity

    def _outcome(self) -> tuple[tuple[Column, ...], list[tuple]]:
        columns = (Column("user"), Column("tasks", number=True))
        return columns, list(zip(self.instance.users, self.tasks.tolist(), strict=True))

    def _notes(self) -> list[str]:
        counts = [f"{user} {count}" for user, count in zip(self.instance.users, self.tasks.tolist(), strict=True)]
        notes = [f"tasks: {_some(counts)}"]
        if self.types:
            each = [f"{user} {' + '.join(map(str, started))}" for user, started in self.types.items()]
            notes.append(f"by type: {_some(each)}")
        if self.optimum is not None:
            notes.append(str(self.optimum))
        if self._by_itself:
            notes.append("shares, and what is used, are of one machine by itself; those of a class are alike")
        if AHEAD[self.rule]:
            notes.append("SequentialMinMax: served is whose level after the task is lowest")
        if self.when_full == "stop":
            notes.append("a task that fits nowhere ends it, as printed in the paper: others' tasks may still fit")
        if self.unplaced:
            notes.append(f"unplaced (a task fits on nothing open to it): {_some(self.unplaced)}")
        return notes


def schedule(
    instance: Instance,
    policy: AnyPolicy = "drf",
    *,
    rule: str = "algorithm-1",
    when_full: str = "skip",
    ties: Sequence[str] = (),
    trace: bool = True,
    optimum: bool = False,
    time_limit: float | None = None,
) -> Schedule:
    """Start whole tasks one at a time, always one of the user whose level is lowest; comparisons are exact.

    By the rule ``sequential-min-max`` it is the level after the task that is to be lowest.  Of equal levels the user
    listed first is served, in `ties` or else in the instance; on machines a task goes to the first one, in the order of
    the file, on which it fits, and there to the first devices.  Limits are rounded down, ceilings hold for what the
    tasks use, and users who are unplaced are never served.  Guarantees, tiers and groups: see
    the module `drfopt.model.hierarchy.service_order`.

    Parameters
    ----------
    instance : Instance
    policy : str, Policy or function
        A leximin policy, or `per-server`, by which every machine starts tasks by itself.
    rule : "algorithm-1" or "sequential-min-max"
    when_full : "skip" or "stop"
        Whether a user whose next task fits nowhere is passed over, or ends it all (the paper's printed rule).
    ties : sequence of str
        Users in the order in which they are served at equal levels; who is not among them comes after, in the
        instance's order. The paper's Table 1 has ``["B", "A"]``.
    trace : bool
        Whether to keep the steps; each holds n shares, which for a large cluster is much.  Without them tasks of one
        type are started in jumps where there are no devices and groups, in a time that grows with users and machines.
    optimum : bool
        Whether to solve for the optimum of whole tasks, too, and say how far the schedule is from it.
    time_limit : float, optional
        Seconds for the schedule without a trace, and for that optimum what is left of them.

    Raises
    ------
    PolicyError
        When the policy makes no levels leximin or cannot take the instance, somebody has more than 9e18 tasks, or
        another argument is none of those above.
    TimeLimitError
        When not all tasks were started in time.
    """
    checked_flags(trace=trace, optimum=optimum)
    chosen = policy_on(policy, instance)
    deadline = Deadline.asked(time_limit)
    if optimum:
        found = schedule(
            instance, chosen, rule=rule, when_full=when_full, ties=ties, trace=trace, time_limit=time_limit
        )
        return replace(found, optimum=_distance(found, chosen, deadline.share(1)))
    _check(chosen)
    for words, name, known in (("when_full", when_full, WHEN_FULL), ("rule", rule, AHEAD)):
        if not isinstance(name, str) or name not in known:
            raise PolicyError(f"{words} is {name!r}{suggestion(name, known)} (known: {', '.join(known)})")
    chosen.check(instance, knows=FEATURES)
    ranks = _ranks(instance, ties)
    clock = None if chosen.objective == "servers" else _clock(instance, chosen, rule)
    lines = None if clock is None else _lines(clock, ranks)
    mixes = _mixes(instance, chosen)
    helpless = instance.unplaced(integer=True)
    # A ceiling bounds what unlike tasks use, not how many there are: those of users with types are in their mixes.
    own = [instance.max_tasks[i] if i in mixes else limit for i, limit in enumerate(instance.exact_limits)]
    limits = [Fraction(0) if helpless[i] else limit for i, limit in enumerate(own)]
    rates = chosen.exact_rates(instance)
    if chosen.objective == "servers":
        with ending(deadline.share(1)):
            return _on_machines(instance, chosen, rule, when_full, ties, trace)
    machines = machine_rows(instance)
    eligible = None if instance.eligible is None else instance.eligible.tolist()
    run = (instance.exact_demands, machines, rates, limits, when_full, eligible, AHEAD[rule], mixes, lines, ranks)
    copies = sum(count for _, count, _ in machines)
    in_stages = () if clock is None else stages(clock, limits)
    jumps = not (mixes or in_stages is None or any(devices for _, _, devices in machines))
    about = 0 if jumps and copies == 1 else _expected(instance, limits)
    jumps = jumps and (copies == 1 or about > (LONGEST if trace else FEW))
    wait = partial(_check_wait, instance, trace and jumps, deadline)
    if jumps:
        wait(about, min(about, instance.n * copies))
        rows = [(row, count) for row, count, _ in machines]
        filled = bulk_filling(run[0], rows, *run[2:7], ranks, deadline, in_stages or ())
        if not trace:
            return _filled(instance, chosen, when_full, rule, filled)
        _check_length(about := sum(filled.tasks))
    wait(about, about * (2 + (instance.n if lines else 1)))
    return _one_by_one(instance, chosen, run, rule, deadline, trace)


def _one_by_one(instance: Instance, policy: Policy, run: _Run, rule: str, deadline: Deadline, trace: bool) -> Schedule:
    """Return what is started task by task in a run of Algorithm 1, given by its arguments."""
    _, machines, _, _, when_full, _, _, mixes, *_ = run
    steps = None
    if trace:
        steps = tuple(_counted_shares(instance, step) for step in discrete_filling(*run, most=LONGEST + 1)[1])
        _check_length(len(steps))
    free: Free = []
    started = (
        _in_time(kinds_started(*run, free=free), deadline)
        if steps is None
        else ((step.user, step.kind, step.machine) for step in steps)
    )
    placement = np.zeros((instance.n, len(machines)), dtype=np.int64)
    types = {i: [0] * len(mix.kinds) for i, mix in mixes.items()}
    for (user, kind, machine), count in Counter(started).items():
        placement[user, machine] += count
        if user in types:
            types[user][kind] += count
    return Schedule(
        instance,
        policy.name,
        when_full,
        placement.sum(axis=1),
        None if instance.machines is None else placement,
        steps,
        rule,
        {instance.users[i]: counts for i, counts in types.items()},
        free,
    )


def _expected(instance: Instance, limits: Sequence[Fraction | None]) -> int:
    """Return about how many tasks are started: as many as in one pool of everything, everybody's in turn.

    Where so many take long, none are counted beyond what a user could run alone, below the ceilings of its groups.
    """

    def in_turn(most: Sequence[Fraction | None]) -> int:
        turns = [Fraction(1)] * instance.n
        return sum(bulk_filling(instance.exact_demands, [(instance.exact_capacity, 1)], turns, most).tasks)

    about = in_turn(limits)
    return about if about * (2 + instance.n) * LOOK <= 60 * MINUTES else in_turn(_bounded(instance, limits))


def _bounded(instance: Instance, limits: Sequence[Fraction | None]) -> list[Fraction]:
    found = []
    for i, limit in enumerate(limits):
        most = [Fraction(most_alone(instance, i))] if limit is None else [Fraction(most_alone(instance, i)), limit]
        if rules := instance.organisation:
            needs = dict(zip(instance.resources, instance.exact_demands[i], strict=True))
            ceilings = [rules.ceilings[i], *(group.ceiling for group in rules.above(rules.paths[i]))]
            most += [there / needs[r] for ceiling in ceilings for r, there in ceiling.items() if needs[r]]
        found.append(min(most))
    return found


def _check_wait(instance: Instance, shorter: bool, deadline: Deadline, tasks: int, looks: int) -> None:
    """Refuse so many tasks where they take so many looks at users, which is too long to wait for without a word.

    `shorter` says whether it is only the trace that takes so long.
    """
    minutes = math.ceil(looks * LOOK / 60)
    if minutes > MINUTES and deadline.left() == math.inf:
        instead = "leave the trace out (--no-trace)" if shorter else "give a time limit (--time-limit)"
        raise PolicyError(
            f"up to {float(tasks):.0e} tasks of {counted(instance.n, 'user')} may take {counted(minutes, 'minute')} "
            f"to start: ask in larger tasks, or {instead}"
        )


def _check_length(tasks: int) -> None:
    """Refuse a trace of so many tasks where it is too long."""
    if tasks > LONGEST:
        raise PolicyError(
            f"a trace of about {float(tasks):.0e} tasks is too long to keep: leave it out (--no-trace, trace=False), "
            "or ask in larger tasks"
        )


def _in_time(started: Iterable[tuple[int, int, int]], deadline: Deadline) -> Iterator[tuple[int, int, int]]:
    for number, one in enumerate(started):
        if number % CHECKED == 0:
            known = f"{number:,} tasks were started"
            report(known)
            deadline.check("a schedule, task by task", known)
        yield one


def _on_machines(
    instance: Instance, policy: Policy, rule: str, when_full: str, ties: Sequence[str], trace: bool
) -> Schedule:
    """Return what one machine of each class starts by itself, and as many times that as there are of it."""
    placement = np.zeros((instance.n, instance.k), dtype=np.int64)
    steps: list[Step] = []
    for k in np.flatnonzero(instance.fits.any(axis=0)).tolist():
        who = np.flatnonzero(instance.fits[:, k])
        here = [instance.users[i] for i in who.tolist()]
        first = [name for name in ties if name in here]
        found = schedule(machine_of(instance, who, k), ON_EACH, rule=rule, when_full=when_full, ties=first, trace=trace)
        placement[who, k] = instance.counts[k] * found.tasks
        steps += [_of_all(step, who, k, instance) for step in found.trace or ()]
    tasks = placement.sum(axis=1)
    return Schedule(instance, policy.name, when_full, tasks, placement, tuple(steps) if trace else None, rule)


def _counted_shares(instance: Instance, step: Step) -> Step:
    """Return a step whose dominant shares are of resources that are not excluded from shares."""
    if instance.counted.all():
        return step
    there = np.flatnonzero(instance.counted).tolist()
    shares = tuple(max((row[j] for j in there), default=Fraction(0)) for row in step.shares)
    return step._replace(dominant_shares=shares)


def _of_all(step: Step, who: np.ndarray, k: int, instance: Instance) -> Step:
    """Return a step on a machine of class k by itself with the users of the whole cluster in it."""
    shares = [Fraction(0)] * instance.n
    rows = [(Fraction(0),) * instance.m] * instance.n
    for i, share, row in zip(who.tolist(), step.dominant_shares, step.shares, strict=True):
        shares[i], rows[i] = share, row
    user = int(who[step.user])
    return step._replace(user=user, machine=k, dominant_shares=tuple(shares), shares=tuple(rows))


def _distance(found: Schedule, policy: Policy, time_limit: float | None) -> ScheduleDistance:
    """Return how far a schedule is from the optimum of whole tasks, which is solved and proven."""
    instance = found.instance
    if found.types:
        raise PolicyError(
            "a schedule starts task types in the order of the file, an optimum in the proportions of their counts, so "
            "that the two are not compared: leave the optimum out"
        )
    best = solve(instance, policy, integer=True, time_limit=time_limit)
    if policy.objective == "servers":
        lowest, here = (_lowest_on_each(instance, placed) for placed in (best.placement, found.placement))
    else:
        lowest, here = (_lowest(instance, policy, tasks) for tasks in (best.tasks, found.tasks))
    proof = best.certificate
    bound = proof.evidence.bound if isinstance(proof.evidence, WholeEvidence) else None
    higher, lower = (best.tasks > found.tasks).sum(), (best.tasks < found.tasks).sum()
    return ScheduleDistance(
        best.tasks,
        lowest,
        here,
        int(higher),
        int(lower),
        proof.valid is True,
        None if bound is None else float(bound),
    )


def _lowest(instance: Instance, policy: Policy, tasks: np.ndarray) -> float:
    """Return the lowest level of who takes part, with whole tasks (n,)."""
    users = WholeUsers(instance, policy, np.flatnonzero(Problem(instance, policy, True).playing).tolist())
    return min((float(users.level(p, int(tasks[i]))) for p, i in enumerate(users.members)), default=0.0)


def _lowest_on_each(instance: Instance, placement: Any) -> float:
    """Return the same on any machine, those of a class, with tasks (n, k) in all, being alike."""
    found = []
    for k in np.flatnonzero(instance.fits.any(axis=0)).tolist():
        who = np.flatnonzero(instance.fits[:, k])
        found.append(_lowest(machine_of(instance, who, k), ON_EACH, placement[who, k] // instance.counts[k]))
    return min(found, default=0.0)


def _ranks(instance: Instance, ties: Sequence[str]) -> list[int]:
    """Return the place of every user, (n,), among equals."""
    if isinstance(ties, str):
        raise PolicyError(f"ties are {ties!r}: give a list of names of users, the first one served first")
    ties = listed(ties, "ties", PolicyError)
    for name in ties:
        if not isinstance(name, str) or name not in instance.users:
            raise PolicyError(f"ties name {name!r}, who is no user{suggestion(str(name), instance.users)}")
    if len(set(ties)) < len(ties):
        raise PolicyError(f"ties name {Counter(ties).most_common(1)[0][0]!r} twice: name everybody once at most")
    first = {name: place for place, name in enumerate(ties)}
    return [first.get(user, len(first) + i) for i, user in enumerate(instance.users)]


def _clock(instance: Instance, policy: Policy, rule: str) -> Clock | None:
    """Return the clock of guarantees, tiers and groups; None where there are none."""
    if "organisation" not in instance.features:
        return None
    if AHEAD[rule] and instance.organisation is not None:
        others = replace(instance.organisation, ceilings=()).rules
        raise PolicyError(f"rule {rule!r} knows no {others}: leave them out, or use rule 'algorithm-1'")
    return Clock(instance, policy, exact=True, whole=True)


def _lines(clock: Clock, ranks: Sequence[int]) -> Lines:
    """Return what puts users in line where guarantees, tiers or groups do."""
    instance = clock.instance
    types = enumerate(instance.task_types or ())
    kinds = {i: [kind.demand for kind in mine] for i, mine in types if mine is not None}
    if promised := [i for i in kinds if clock.promised[i]]:
        raise PolicyError(
            f"user {instance.users[promised[0]]!r} is promised something, and which of its task types, started one by "
            "one, the promise is of is nowhere defined: leave the guarantee out, or ask for solve --integer"
        )
    return partial(TreeLine, clock, ranks, kinds)


def _mixes(instance: Instance, policy: Policy) -> dict[int, Mix]:
    """Return the users with several task types: their types as counted by the policy.

    Shares of resources are those of what the started tasks use; task shares are of their number.
    """
    if instance.task_types is None:
        return {}
    capacity, weights, rates = instance.exact_capacity, instance.exact_weights, policy.exact_rates(instance)
    column = instance.resources.index(policy.argument) if policy.measure == "single" else None

    def level(i: int, rows: list[tuple[Fraction, ...]], started: Sequence[int]) -> Fraction:
        if policy.measure in ("tasks", "alone"):
            return sum(started) * rates[i]
        used = [sum(n * row[j] for n, row in zip(started, rows, strict=True)) for j in range(instance.m)]
        shares = [Fraction(u) / c if c else Fraction(0) for u, c in zip(used, capacity, strict=True)]
        return policy.exact_levels([shares], [weights[i]], instance.weights_per_resource, column)[0]

    mixes = {}
    for i, kinds in enumerate(instance.task_types):
        if kinds is not None:
            rows = [kind.demand for kind in kinds]
            classes = instance.type_fits[i].tolist()
            entries = [(kind.demand, kind.count, open_) for kind, open_ in zip(kinds, classes, strict=True)]
            most = {} if instance.organisation is None else instance.organisation.ceilings[i]
            ceilings = [(instance.resources.index(name), amount) for name, amount in most.items()]
            mixes[i] = Mix(entries, partial(level, i, rows), ceilings)
    return mixes


def _filled(instance: Instance, policy: Policy, when_full: str, rule: str, found: Filled) -> Schedule:
    """Return what was started in jumps."""
    most = max(tasks := found.tasks)
    if most > np.iinfo(np.int64).max:
        raise PolicyError(
            f"user {instance.users[tasks.index(most)]!r} would start about {float(most):.0e} tasks, more than can be "
            "counted: give it a limit, or demands in larger units"
        )
    placement = None if instance.machines is None else np.array(found.placement, dtype=np.int64)
    free = [[(room, FreeDevices(NO_DEVICES)) for room in rooms] for rooms in found.free]
    counted = np.array(tasks, dtype=np.int64)
    return Schedule(instance, policy.name, when_full, counted, placement, None, rule, {}, free)


def _check(policy: Policy) -> None:
    if policy.objective not in ("leximin", "servers"):
        able = ", ".join(row.name for row in POLICIES if row.objective in ("leximin", "servers"))
        raise PolicyError(
            f"{policy.name} cannot be scheduled task by task: serving the lowest level makes levels leximin, "
            f"which is what {able} ask for"
        )


def _some(words: Sequence[str]) -> str:
    return ", ".join(words[:SHOWN]) + (" ..." if len(words) > SHOWN else "")


def _share(share: Fraction) -> str:
    return str(share) if share.denominator < 1000 else share_of_all(float(share))
