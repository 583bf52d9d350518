"""One run of a scenario under a rule, and what is measured in it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..base.errors import InstanceError, checked_flags
from ..base.numbers.reals import is_real
from ..base.numbers.shown import changing, counted, share_of_all, tenths
from ..base.results import Result
from ..base.tables import Column, Sheet
from ..model.naming import some
from .pace import Pace, Slowdown
from .plan import Plan
from .preemption import Preempting, Preemption
from .rules.table import disregarded, rule_named
from .scenario import Scenario
from .simulator import Simulator
from .timeline import Samples, Timeline
from .turns import Rule

__all__ = ["Run", "simulate", "unregarded"]


@dataclass(frozen=True, eq=False)
class Run(Result):
    """What became of a scenario under a rule.

    Attributes
    ----------
    scenario : Scenario
    rule : str
    seed, replication : int
    seconds : float
        When the simulation ended, in the scenario's own time.
    jobs : dict of arrays (jobs,)
        A row a job that came: ``user`` and ``job`` (which of its jobs) by number, ``number`` (which coming of it),
        ``arrival``, ``begun`` (when its first task started), ``finished`` (when all of its tasks were done), ``closed``
        (when it ended otherwise: its time was up, as it always is for tasks without end, or its user left), ``tasks``
        done; NaN for what has not happened.
    samples : Samples
        The state as time went by.
    started, ended, revoked, stopped : int
        Tasks: started, done, stopped to be run again, stopped for good.
    moments : int
        Moments at which something happened.
    work : array (n, m)
        What each user held of each resource, times seconds.
    room : array (m,)
        What the machines had that were up, times seconds.
    waiting, running : array (n,)
        Tasks at the end; waiting ones without end are inf.
    unplaced : tuple of str
        Users with tasks that no machine can ever run.
    disregarded : tuple of str
        What sets users apart and the rule does not look at: of weights, guarantees, groups and tiers.
    """

    _schema = "drfopt run 1"
    _rows = "users"

    scenario: Scenario
    rule: str
    seed: int
    replication: int
    seconds: float
    jobs: dict[str, np.ndarray]
    samples: Samples
    started: int
    ended: int
    revoked: int
    stopped: int
    moments: int
    work: np.ndarray
    room: np.ndarray
    waiting: np.ndarray
    running: np.ndarray
    unplaced: tuple[str, ...]
    disregarded: tuple[str, ...]

    @property
    def users(self) -> tuple[str, ...]:
        """Names of the users, (n,)."""
        return tuple(user.name for user in self.scenario.users)

    @property
    def resources(self) -> tuple[str, ...]:
        """Names of the resources, (m,)."""
        return self.scenario.resources

    @property
    def responses(self) -> np.ndarray:
        """Seconds from arrival to end of every job, NaN for those of which not all tasks were done, (jobs,)."""
        return self.jobs["finished"] - self.jobs["arrival"]

    @property
    def jobs_ended(self) -> np.ndarray:
        """Jobs of each user of which all tasks were done, (n,)."""
        return self._count(~np.isnan(self.jobs["finished"]))

    @property
    def jobs_closed(self) -> np.ndarray:
        """Jobs of each user that ended before all of their tasks were done, (n,)."""
        return self._count(~np.isnan(self.jobs["closed"]))

    @property
    def jobs_under_way(self) -> np.ndarray:
        """Jobs of each user that had come and not ended when the simulation did, (n,)."""
        return self._count(np.isnan(self.jobs["finished"]) & np.isnan(self.jobs["closed"]))

    @property
    def tasks_done(self) -> np.ndarray:
        """Tasks of each user that were done, (n,)."""
        return np.bincount(self.jobs["user"], self.jobs["tasks"], len(self.users)).astype(np.int64)

    def _count(self, some: np.ndarray) -> np.ndarray:
        return np.bincount(self.jobs["user"][some], minlength=len(self.users))

    @property
    def mean_responses(self) -> np.ndarray:
        """Mean seconds from arrival to end of each user's jobs of which all tasks were done, NaN for none, (n,)."""
        done = ~np.isnan(self.jobs["finished"])
        total = np.bincount(self.jobs["user"][done], self.responses[done], minlength=len(self.users))
        return np.divide(total, self.jobs_ended, out=np.full(len(self.users), np.nan), where=self.jobs_ended > 0)

    @property
    def mean_shares(self) -> np.ndarray:
        """Share of each resource that each user held of what was up, (n, m), each times seconds; over no time, now."""
        held, room = (self.work, self.room) if self.seconds else (self._held, self._capacity)
        return np.divide(held, room, out=np.zeros_like(held), where=room > 0)

    @property
    def utilization(self) -> np.ndarray:
        """Mean part of each resource that was held, (m,); above 1 where machines were oversubscribed."""
        return self.mean_shares.sum(axis=0)

    @property
    def _overpromised(self) -> list[str]:
        """Resources of which users are guaranteed more than all machines have."""
        users = self.scenario.users
        sums = [sum((user.guarantee.get(name, 0) for user in users), Fraction(0)) for name in self.resources]
        there = zip(self.resources, sums, self._capacity.tolist(), strict=True)
        over = [(name, *changing(float(promised), room)) for name, promised, room in there if promised > room]
        return [f"{promised} of {room} {name}" for name, promised, room in over]

    @property
    def _held(self) -> np.ndarray:
        return self.samples.used[-1]

    @property
    def _capacity(self) -> np.ndarray:
        rows = [
            [float(machine.capacity.get(resource, 0) * machine.count) for resource in self.resources]
            for machine in self.scenario.machines
        ]
        return np.sum(rows, axis=0)

    def named(self) -> dict[str, Any]:
        """Return the rows of `to_dict` by user."""
        return {row["name"]: row for row in self.to_dict()["users"]}

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt simulate --json`` prints."""
        users = [
            {
                "name": name,
                "jobs": int(jobs),
                "jobs_closed": int(closed),
                "jobs_under_way": int(under_way),
                "response": _known(response),
                "tasks": int(tasks),
                "mean_shares": dict(zip(self.resources, map(float, shares), strict=True)),
                "running": int(running),
                "waiting": float(waiting),
            }
            for name, jobs, closed, under_way, response, tasks, shares, running, waiting in zip(
                self.users,
                self.jobs_ended,
                self.jobs_closed,
                self.jobs_under_way,
                self.mean_responses,
                self.tasks_done,
                self.mean_shares,
                self.running,
                self.waiting,
                strict=True,
            )
        ]
        return {
            "schema": self._schema,
            "scenario": self.scenario.name,
            "rule": self.rule,
            "seed": self.seed,
            "replication": self.replication,
            "seconds": self.seconds,
            "tasks": {"started": self.started, "ended": self.ended, "revoked": self.revoked, "stopped": self.stopped},
            "users": users,
            "utilization": dict(zip(self.resources, map(float, self.utilization), strict=True)),
            "unplaced": list(self.unplaced),
            "disregarded": list(self.disregarded),
        }

    def sheet(self) -> Sheet:
        """Return the table: a row a user."""
        columns = (
            Column("user"),
            Column("jobs done", number=True),
            Column("mean response", number=True),
            Column("tasks done", number=True),
            *(Column(f"mean share of {resource}", number=True) for resource in self.resources),
            Column("running", number=True),
            Column("waiting", number=True),
        )
        rows = [
            (
                name,
                int(jobs),
                _known(response),
                int(tasks),
                *map(share_of_all, shares),
                int(running),
                float(waiting),
            )
            for name, jobs, response, tasks, shares, running, waiting in zip(
                self.users,
                self.jobs_ended,
                self.mean_responses,
                self.tasks_done,
                self.mean_shares,
                self.running,
                self.waiting,
                strict=True,
            )
        ]
        used = ", ".join(f"{name} {tenths(used)}" for name, used in zip(self.resources, self.utilization, strict=True))
        notes = [f"{counted(self.ended, 'task')} done in {self.seconds:.6g} s; mean utilization: {used}"]
        if self.revoked:
            notes.append(f"stopped, to begin anew: {counted(self.revoked, 'task')}")
        for jobs, what in (
            (self.jobs_closed, "jobs that ended before all of their tasks were done, and have no response time"),
            (self.jobs_under_way, "jobs still under way, which have no response time"),
        ):
            if jobs.any():
                counts = [f"{name} {count}" for name, count in zip(self.users, jobs.tolist(), strict=True) if count]
                notes.append(f"{what}: {some(counts)}")
        if self.unplaced:
            notes.append(f"unplaced (some task fits on no machine that it may use): {', '.join(self.unplaced)}")
        if promised := self._overpromised:
            notes.append(f"guarantees are more than there is: {', '.join(promised)}")
        notes += unregarded([self])
        name = f" - {self.scenario.name}" if self.scenario.name else ""
        return Sheet(f"{self.rule}, simulated{name}", columns, rows, tuple(notes), document=self.to_dict)


def simulate(
    scenario: Scenario,
    rule: str | Rule = "drf",
    *,
    seed: int = 0,
    replication: int = 0,
    until: float | None = None,
    every: float | None = None,
    slowdown: Slowdown | None = None,
    preemption: Preemption | None = None,
    checked: bool = False,
) -> Run:
    """Let a scheduler work, and return what becomes of users and machines.

    Parameters
    ----------
    scenario : Scenario
    rule : str or Rule
        A name (``drfopt rules`` lists them), or a rule of your own (see `drfopt.simulation.state`).
    seed, replication : int
        Name the random numbers; the same ones give the same run.  Under every rule tasks run equally long.
    until : float, optional
        Seconds at which it stops; by default the scenario's own end, or when nothing can happen any more.
    every : float, optional
        Seconds between samples of the state; 0 for every moment in which something happens.
    slowdown : Slowdown, optional
        How machines that are oversubscribed slow down.
    preemption : Preemption, optional
        Whether tasks are revoked for users below their share.
    checked : bool
        Whether to count everything anew after every moment, which takes long.

    Raises
    ------
    InstanceError, PolicyError
        On bad input, or a rule that cannot take the scenario.
    CertificateError
        When tasks or amounts do not add up: the simulation is not believed.

    Examples
    --------
    >>> from drfopt.simulation import Job, Scenario, Stage, User
    >>> a = User("A", Job(Stage({"cpu": 1, "memory": 4}, tasks=12, duration=10)))
    >>> b = User("B", Job(Stage({"cpu": 3, "memory": 1}, tasks=12, duration=10)))
    >>> simulate(Scenario({"cpu": 9, "memory": 18}, (a, b))).jobs["finished"].tolist()
    [40.0, 60.0]
    """
    for name, number in (("seed", seed), ("replication", replication)):
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 0:
            raise InstanceError(f"{name} is {number!r}: write a whole number, 0 or more")
    checked_flags(checked=checked)
    if every is not None and not (is_real(every) and 0 <= every < math.inf):
        raise InstanceError(f"every is {every!r}: give the seconds between samples, 0 for every moment")
    if slowdown is not None and not isinstance(slowdown, Slowdown):
        raise InstanceError(f"slowdown is {slowdown!r}: give a Slowdown, such as Slowdown({{'cpu': 1}})")
    chosen = rule_named(rule)
    if preemption is not None and not isinstance(preemption, Preemption):
        raise InstanceError(f"preemption is {preemption!r}: give a Preemption, such as Preemption(grace=5)")
    if preemption is not None:
        chosen = Preempting(chosen, preemption)
    if not isinstance(scenario, Scenario):
        what = type(scenario).__name__
        raise InstanceError(f"a rule takes a Scenario, not {what}: build one, or use Scenario.library(name)")
    scenario = scenario.stopping(until)
    pace = Pace(Plan.of(scenario), slowdown or Slowdown())
    simulator = Simulator(
        scenario,
        chosen,
        (int(seed), int(replication)),
        pace,
        Timeline(None if every is None else float(every), scenario.until),
        checked,
    )
    simulator.run()
    return _run(simulator, int(seed), int(replication))


def unregarded(runs: Iterable[Run]) -> list[str]:
    """Return sentences on what rules do not look at though it sets users apart."""
    return [f"{run.rule} does not look at {', '.join(run.disregarded)}" for run in runs if run.disregarded]


def _known(value: float) -> float | None:
    """Return a number, None where there is none."""
    return None if np.isnan(value) else float(value)


def _run(simulator: Simulator, seed: int, replication: int) -> Run:
    cluster, scenario = simulator.cluster, simulator.scenario
    work = np.zeros((cluster.n, cluster.m))
    units = np.array(simulator.plan.units, dtype=float)
    for (user, kind), seconds in cluster.worked().items():
        work[user] += np.array(simulator.plan.kinds[kind].demand, dtype=float) / units * seconds
    samples = simulator.timeline.samples(cluster)
    helpless = {
        scenario.users[user].name: None
        for user, jobs in enumerate(simulator.plan.stages)
        if any(not cluster.able[kind] for stages in jobs for kind in stages)
    }
    return Run(
        scenario=scenario,
        rule=simulator.rule.name,
        seed=seed,
        replication=replication,
        seconds=cluster.now,
        jobs=simulator.records.columns(),
        samples=samples,
        started=cluster.started,
        ended=cluster.ended,
        revoked=cluster.revoked,
        stopped=cluster.stopped,
        moments=simulator.moments,
        work=work,
        room=np.array(cluster.offered(), dtype=float) / units,
        waiting=samples.waiting[-1],
        running=samples.running[-1],
        unplaced=tuple(helpless),
        disregarded=disregarded(simulator.rule, scenario.users),
    )
