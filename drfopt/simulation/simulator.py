"""The loop: moment after moment, everything that happens in it, then the rule, until nothing more can happen.

Jobs as they come: the times of their coming, what is under way of each, and a row for each when it has ended.
"""

import math
from array import array
from functools import partial
from heapq import heappop
from typing import Any

import numpy as np

from ..base.errors import InstanceError
from ..base.progress import report
from .draws import stream, times
from .invariants import Books, verify
from .pace import Pace
from .plan import Lot, Plan, StartedLot
from .scenario import Job, Scenario, Stage
from .state import ClusterState
from .timeline import Timeline
from .turns import Rule

__all__ = ["Coming", "Records", "Simulator", "Visit"]


class Coming:
    """A user's job that comes again and again."""

    def __init__(self, user: int, index: int, job: Job, seed: tuple[int, ...]):
        self.user, self.index, self.job = user, index, job
        self.came = 0
        self.works = stream(*seed, user, index, 0)
        self.gaps = stream(*seed, user, index, 1)

    @property
    def more(self) -> bool:
        """Whether it comes again."""
        return self.job.count is None or self.came < self.job.count

    def gap(self) -> float:
        """Return the seconds until it comes next."""
        return float(np.ravel(times(self.job.every, self.gaps, 1))[0])


class Visit:
    """One coming of a job: its number, when it came, the stage it is at, and the lots of which tasks wait or run.

    It is `cut` short when tasks of it are taken back that never ran: its time was up.  Tasks without end always are.
    """

    __slots__ = ("arrival", "begun", "coming", "cut", "lots", "number", "stage", "tasks")

    def __init__(self, coming: Coming, number: int, arrival: float):
        self.coming, self.number, self.arrival = coming, number, arrival
        self.begun = -1.0
        self.cut = False
        self.stage = 0
        self.tasks = 0
        self.lots: list[Lot] = []

    @property
    def place(self) -> tuple[float, int, int, int]:
        """Its place among all jobs: of those that came at once the one listed first is first."""
        return self.arrival, self.coming.user, self.coming.index, self.number


class Records:
    """One row a job: user, which of its jobs, which coming of it, when it came, began and ended, tasks done.

    A job has finished when every task of it is done, and only then has a response time.  One that was cut short, or
    whose user left, is closed at that moment instead; one that is under way at the end is neither.
    """

    def __init__(self) -> None:
        self.user, self.job, self.number, self.tasks = array("q"), array("q"), array("q"), array("q")
        self.arrival, self.begun, self.finished, self.closed = array("d"), array("d"), array("d"), array("d")
        self.ended = 0

    def add(self, visit: Visit, finished: float, closed: float) -> None:
        """Write down a job; what has not happened to it is NaN."""
        self.user.append(visit.coming.user)
        self.job.append(visit.coming.index)
        self.number.append(visit.number)
        self.arrival.append(visit.arrival)
        self.begun.append(visit.begun if visit.begun >= 0 else math.nan)
        self.finished.append(finished)
        self.closed.append(closed)
        self.tasks.append(visit.tasks)
        self.ended += finished == finished

    def columns(self) -> dict[str, np.ndarray]:
        """Return the table, a column each (jobs,)."""
        names = ("user", "job", "number", "arrival", "begun", "finished", "closed", "tasks")
        return {name: np.array(getattr(self, name)) for name in names}


SAY = 20_000
"""Events between two progress reports."""

IDLE_WAKES = 1000
"""Wakes in a row in which nothing is foreseen: if they start nothing, nothing ever will be started, and if they start
what they have revoked, that goes on for ever."""


class Simulator:
    """One run of a scenario under a rule.

    Parameters
    ----------
    scenario : Scenario
    rule : Rule
    seed : tuple of int
    pace : Pace
        How machines slow down that have more to do than they can.
    timeline : Timeline
        Takes note of the state as time goes by.
    checked : bool
        Whether to verify every invariant after every moment, which takes long.
    """

    def __init__(
        self,
        scenario: Scenario,
        rule: Rule,
        seed: tuple[int, ...],
        pace: Pace,
        timeline: Timeline,
        checked: bool = False,
    ):
        self.scenario, self.rule, self.pace, self.timeline, self.checked = scenario, rule, pace, timeline, checked
        self.plan = Plan.of(scenario)
        self.cluster = ClusterState(self.plan, rule, seed)
        self.until = math.inf if scenario.until is None else scenario.until
        self.moments = self.events = 0
        self.books = Books(self.cluster)
        self._came = 0
        self.records = Records()
        self._visits: list[dict[Visit, None]] = [{} for _ in scenario.users]
        self._gone = [False] * len(scenario.users)
        self._idle = self._shuffles = 0
        for user, row in enumerate(scenario.users):
            for index, job in enumerate(row.jobs):
                coming = Coming(user, index, job, seed)
                self._foresee(coming, job.arrival)
            if row.leaves < math.inf:
                self.cluster.foresee(row.leaves, "leaves", partial(self._leave, user))
        for outage in scenario.outages:
            self.cluster.foresee(outage.at, "lost", partial(self._lose, outage))

    def run(self) -> None:
        """Let everything happen that happens up to the end."""
        cluster, rule = self.cluster, self.rule
        rule.begin(cluster)
        rule.resized(cluster)
        while (now := self._next_moment()) <= self.until and now < math.inf:
            if now > cluster.now:
                self.timeline.upto(now, cluster)
                cluster.now = now
            before = cluster.started
            while self._next_moment() == now:
                self._handle(self._pop(), now)
            self.moments += 1
            rule.dispatch(cluster)
            self._settle()
            self._expire()
            if self.checked:
                verify(cluster, self.pace)
            if self._idles(before):
                break
        if self.until < math.inf:
            self.timeline.upto(self.until, cluster)
            cluster.now = self.until
        self.timeline.close(cluster)
        for visits in self._visits:
            for visit in list(visits):
                self._note(visit)
        self.books.balance()

    def _next_moment(self) -> float:
        """Return when something happens next, inf for never; ends that have been put off are left out."""
        events = self.cluster.events
        while events:
            time, _, event = events[0]
            if type(event) is not StartedLot or event.end == time:
                return time
            self._pop()
        return math.inf

    def _pop(self) -> Any:
        event = heappop(self.cluster.events)[2]
        self.cluster.foreseen -= event is not None
        return event

    def _handle(self, event: Any, now: float) -> None:
        """Let one event happen."""
        self.events += 1
        if self.events % SAY == 0:
            report(f"{now:.6g} s, {self.cluster.ended:,} tasks done, {self.records.ended:,} jobs")
        if type(event) is StartedLot:
            lot = event.lot
            lot.job.tasks += event.count
            self.cluster.finish(event)
            if not lot.waiting and not lot.running:
                self._over(lot)
        elif event is not None:
            event()

    def _settle(self) -> None:
        """Make batches of what was started, and foresee their ends."""
        cluster = self.cluster
        batches = cluster.flush()
        for batch in batches:
            if batch.lot.job.begun < 0:
                batch.lot.job.begun = batch.begun
        if self.rule.oversubscribes:
            self.pace.settle(cluster, batches)
        else:
            for batch in batches:
                if batch.end < math.inf:
                    cluster.foresee(batch.end, "ends", batch)
        cluster.freed.clear()
        cluster.opened.clear()
        cluster.moved.clear()

    def _idles(self, before: int) -> bool:
        """Whether the rule only keeps waking itself, and nothing can come of it."""
        if self.cluster.foreseen:
            self._idle = self._shuffles = 0
            return False
        if self.cluster.started > before:
            self._idle = 0
            self._shuffles += 1
            if self.until == math.inf and self.cluster.revoked and self._shuffles > IDLE_WAKES:
                raise InstanceError(
                    f"under {self.rule.name} tasks that never end are revoked and started for ever: say until when"
                )
            return False
        self._idle += 1
        return not any(self.cluster.waiting) or self._idle > IDLE_WAKES

    # ---- jobs -------------------------------------------------------------------------------------------------

    def _foresee(self, coming: Coming, time: float) -> None:
        """Foresee that a job comes, unless its user leaves before: then the run need not last until that moment."""
        if time <= self.scenario.users[coming.user].leaves:
            self.cluster.foresee(time, "comes", partial(self._come, coming))

    def _come(self, coming: Coming) -> None:
        if self._gone[coming.user]:
            return
        coming.came += 1
        visit = Visit(coming, coming.came, self.cluster.now)
        self._visits[coming.user][visit] = None
        if coming.job.every is not None and coming.more:
            self._again(visit, self.cluster.now + coming.gap())
        self._open(visit)

    def _again(self, visit: Visit, time: float) -> None:
        """Foresee that a job comes again; without end it cannot come again and again in one moment."""
        coming = visit.coming
        if coming.job.count is None and time <= visit.arrival:
            name = self.scenario.users[coming.user].name
            raise InstanceError(
                f"user {name!r}: jobs[{coming.index}] comes without end, and at {time:g} s so soon again that floats "
                "cannot tell the moments apart: let it come earlier, or less often"
            )
        self._foresee(coming, time)

    def _open(self, visit: Visit) -> None:
        """Let the tasks of the stage at which a job is wait."""
        coming = visit.coming
        stage = coming.job.stages[visit.stage]
        kind = self.plan.stages[coming.user][coming.index][visit.stage]
        where = (coming.user, kind, self._came, visit.stage)
        self._came += 1
        lot = Lot(visit, where, stage.tasks, stage.duration, self._works(visit, stage))
        visit.lots.append(lot)
        self.cluster.add(lot)
        if stage.lasts is not None:
            self.cluster.foresee(self.cluster.now + stage.lasts, "closes", partial(self._close, lot))

    def _works(self, visit: Visit, stage: Stage) -> np.random.Generator:
        """Return the stream from which the tasks of a stage draw: their times must not depend on the rule."""
        coming = visit.coming
        if stage.tasks is not None and len(coming.job.stages) == 1:
            # Jobs of one stage come in the same order under every rule, so they share a stream.
            return coming.works
        return stream(*self.cluster.seed, coming.user, coming.index, 2, visit.number, visit.stage)

    def _close(self, lot: Lot) -> None:
        """End a stage whose time is over, and go on to the next; what runs of it runs on."""
        visit = lot.job
        if lot not in visit.lots or visit not in self._visits[visit.coming.user]:
            return
        lot.closed = True
        if lot.waiting:
            visit.cut = True
            self.cluster.withdraw(lot, running=False)
        self._over(lot)

    def _expire(self) -> None:
        """Take note of tasks that were stopped after their stage's time was over."""
        lots = dict.fromkeys(self.cluster.expired)
        self.cluster.expired.clear()
        for lot in lots:
            lot.job.cut = True
            if lot.over and lot in lot.job.lots:
                self._over(lot)

    def _over(self, lot: Lot) -> None:
        """Go on to the next stage of a job, or end it, when nothing of a lot waits."""
        visit = lot.job
        if not lot.running:
            visit.lots.remove(lot)
            self.books.enter(lot)
        if visit.stage == lot.stage and visit.stage + 1 < len(visit.coming.job.stages):
            visit.stage += 1
            self._open(visit)
        elif not visit.lots:
            self._end(visit)

    def _end(self, visit: Visit) -> None:
        coming = visit.coming
        now = self.cluster.now
        self._write(visit, *((math.nan, now) if visit.cut else (now, math.nan)))
        if coming.job.every is None and coming.more:
            self._again(visit, now)

    def _leave(self, user: int) -> None:
        self._gone[user] = True
        for visit in list(self._visits[user]):
            for lot in visit.lots:
                self.cluster.withdraw(lot, running=True)
            self._note(visit, self.cluster.now)

    def _note(self, visit: Visit, closed: float = math.nan) -> None:
        """Write down a job that has not ended by itself."""
        self._write(visit, math.nan, closed)
        for lot in visit.lots:
            self.books.enter(lot)

    def _write(self, visit: Visit, finished: float, closed: float) -> None:
        del self._visits[visit.coming.user][visit]
        self.records.add(visit, finished, closed)

    # ---- machines ---------------------------------------------------------------------------------------------

    def _lose(self, outage: Any) -> None:
        k = [machine.name for machine in self.scenario.machines].index(outage.machines)
        cluster = self.cluster
        able = [machine for machine, of in enumerate(self.plan.classes) if of == k and cluster.up[machine]]
        lost = able[: outage.count]
        for machine in lost:
            cluster.lose(machine)
        self._expire()
        self.rule.resized(cluster)
        if outage.lasts is not None and lost:
            cluster.foresee(cluster.now + outage.lasts, "back", partial(self._bring_back, lost))

    def _bring_back(self, lost: list[int]) -> None:
        for machine in lost:
            self.cluster.bring_back(machine)
        self.rule.resized(self.cluster)
