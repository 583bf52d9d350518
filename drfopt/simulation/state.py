"""The machines, what runs on them and who waits: the state of a simulation, and what a rule may do to it.

A rule is a scheduler's way of deciding which waiting task starts where (`Rule`).
The simulator handles, for every moment in which something happens, first everything that happens in it (tasks end,
machines are lost or come back, users leave, stages end, jobs come), then calls ``rule.dispatch(cluster)`` once.  There
the rule starts what it wants to be started.  It reads the cluster (`ClusterState`) and acts on it
by three calls only:

    cluster.start(user, kind, machine)    start the user's next waiting task of a kind on a machine
    cluster.revoke(batch, count)          stop running tasks, which go back to where they waited
    cluster.wake(time)                    be called again at a moment to come though nothing may happen in it

What it reads, with users, kinds of tasks and machines by their numbers, amounts in integers (``cluster.plan.units``),
times in seconds:

    cluster.now
    cluster.plan                   .scenario, .kinds, .classes (of machines), .capacities (of classes), .weights
    cluster.totals (m,)            capacity of the machines that are up
    cluster.used[user] (m,)        what the user holds
    cluster.running[user]          tasks that run
    cluster.waiting[user]          tasks that wait
    cluster.wanted[user] (m,)      what all of them need that run or wait
    cluster.queues[user]           {kind: deque of lots that wait}; a lot is the tasks of one stage of one job
    cluster.askers[kind]           the users who have waiting tasks of a kind: a dict, whose values are the rule's own
    cluster.free[machine]          what is free on it, in the rule's own terms (see `Rule.room`)
    cluster.fits(kind, machine)    whether the machine may run the kind, is up, and has room in the rule's own terms
    cluster.able[kind]             machines that may run a kind and are large enough
    cluster.on[machine]            {number: batch} of what runs there; a batch is like tasks started together
    cluster.freed                  machines on which something became free since the last dispatch (a set)
    cluster.opened                 kinds for which somebody asks since the last dispatch, and nobody did before (a dict)
    cluster.moved                  users who hold something else, or ask for it, since the last dispatch (a dict)

After a dispatch `freed`, `opened` and `moved` are emptied.  Numbers are those of the scenario.  A rule must decide
by nothing but what it reads here and randomness of its own from ``cluster.stream(name)``: then the same seed gives the
same bytes.  Most rules serve, as long as anything fits, the user who is lowest by some measure: these derive from
`drfopt.simulation.turns.LowestFirst` and say only which measure.
"""

from collections import deque
from heapq import heappush
from operator import add, mul, sub
from typing import Any, Protocol

import numpy as np

from ..base.errors import PolicyError
from .draws import stream
from .plan import ENDLESS, Lot, Plan, StartedLot

__all__ = ["FIRST", "ClusterState"]

FIRST = {name: rank << 60 for rank, name in enumerate(("ends", "back", "lost", "leaves", "closes", "comes", "wakes"))}
"""What happens at one moment happens in this order, and within it in the order in which it was foreseen."""


class Terms(Protocol):
    """The terms in which room is counted: the part of a rule (`drfopt.simulation.state`) that the state itself asks."""

    name: str
    oversubscribes: bool
    by_job: bool

    def prepare(self, plan: Plan) -> None:
        """Look at the scenario before anything else."""

    def room(self, capacity: tuple[int, ...]) -> tuple[int, ...]:
        """Return what is counted on a machine of this capacity."""
        ...

    def need(self, demand: tuple[int, ...]) -> tuple[int, ...]:
        """Return what a task of this demand takes of a machine's room."""
        ...


class ClusterState:
    """What a rule reads and acts on; `drfopt.simulation.state` lists it.

    Parameters
    ----------
    plan : Plan
    rule : Terms
        Says in which terms room is counted.
    seed : tuple of int
        Names the streams of random numbers.
    """

    def __init__(self, plan: Plan, rule: Terms, seed: tuple[int, ...]):
        n, m = len(plan.weights), len(plan.units)
        self.plan, self.rule, self.seed = plan, rule, seed
        self.now = 0.0
        self.n, self.m = n, m
        rule.prepare(plan)
        self.rooms = [tuple(rule.room(row)) for row in plan.capacities]
        self.demands = [kind.demand for kind in plan.kinds]
        self.needs = [tuple(rule.need(kind.demand)) for kind in plan.kinds]
        self.free: list[list[int]] = [list(self.rooms[k]) for k in plan.classes]
        self.up = [True] * len(plan.classes)
        self.totals = [sum(column) for column in zip(*(plan.capacities[k] for k in plan.classes), strict=True)]
        self.used = [[0] * m for _ in range(n)]
        self.running = [0] * n
        self.waiting = [0] * n
        self.wanted = [[0] * m for _ in range(n)]
        self.queues: list[dict[int, deque[Lot]]] = [{} for _ in range(n)]
        self.askers: list[dict[int, Any]] = [{} for _ in plan.kinds]
        self.on: list[dict[int, StartedLot]] = [{} for _ in plan.classes]
        self.able = self._able()
        self.freed: set[int] = set()
        self.opened: dict[int, None] = {}
        self.moved: dict[int, None] = {}
        self.events: list[tuple[float, int, Any]] = []
        self.busy: dict[tuple[int, int], float] = {}
        self._offered, self._counted = [0.0] * m, 0.0
        self.started = self.ended = self.revoked = self.stopped = 0
        # Lots whose time is over and of which tasks were stopped since the simulator looked.
        self.expired: list[Lot] = []
        self._fresh: dict[tuple[Lot, int, float], int] = {}
        self._batches: list[StartedLot] = []
        self.foreseen = 0
        self._number = 0
        self._counter = 0

    def _able(self) -> list[list[int]]:
        of_class: dict[int, list[int]] = {}
        for machine, k in enumerate(self.plan.classes):
            of_class.setdefault(k, []).append(machine)
        known: dict[tuple[int, ...], list[int]] = {}
        able = []
        for kind, need in zip(self.plan.kinds, self.needs, strict=True):
            may = range(len(self.rooms)) if kind.classes is None else kind.classes
            fit = tuple(k for k in may if all(map(int.__le__, need, self.rooms[k])))
            if fit not in known:
                known[fit] = [machine for k in fit for machine in of_class[k]]
            able.append(known[fit])
        return able

    def average(self, user: int) -> list[float]:
        """Return the average demand (m,) of a user's tasks that run or wait; beside those without end none count."""
        tasks = self.running[user] + self.waiting[user]
        if self.waiting[user] < ENDLESS // 2:
            return [amount / tasks for amount in self.wanted[user]]
        lots = [lot for line in self.queues[user].values() for lot in line if lot.endless]
        return [sum(column) / len(lots) for column in zip(*(self.demands[lot.kind] for lot in lots), strict=True)]

    # ---- what a rule may do -----------------------------------------------------------------------------------

    def fits(self, kind: int, machine: int) -> bool:
        """Whether a machine that is up may run a task of the kind and has room for it, in the rule's terms."""
        classes = self.plan.kinds[kind].classes
        if classes is not None and self.plan.classes[machine] not in classes:
            return False
        return min(map(sub, self.free[machine], self.needs[kind])) >= 0

    def start(self, user: int, kind: int, machine: int) -> None:
        """Start the user's next waiting task of a kind on a machine.

        Raises
        ------
        PolicyError
            When she has none waiting, or it does not fit: the rule is wrong.
        """
        left = list(map(sub, self.free[machine], self.needs[kind]))
        classes = self.plan.kinds[kind].classes
        line = self.queues[user].get(kind)
        if line is None or min(left) < 0 or (classes is not None and self.plan.classes[machine] not in classes):
            name = self.plan.scenario.users[user].name
            raise PolicyError(
                f"the rule {self.rule.name} starts a task of user {name!r} on machine {machine}, "
                + ("but none of that kind waits" if line is None else "on which it does not fit: correct the rule")
            )
        self.free[machine] = left
        self.used[user] = list(map(add, self.used[user], self.demands[kind]))
        lot = line[0]
        lot.waiting -= 1
        lot.running += 1
        self.waiting[user] -= 1
        self.running[user] += 1
        self.started += 1
        what = (lot, machine, lot.take())
        self._fresh[what] = self._fresh.get(what, 0) + 1
        if not lot.waiting:
            line.popleft()
            if not line:
                self._nobody_asks(user, kind)

    def revoke(self, batch: StartedLot, count: int | None = None) -> None:
        """Stop tasks of a batch, all by default; they wait again, as the first of their lot, and begin anew.

        Of a lot whose time is over none begins anew.
        """
        count = batch.count if count is None else count
        lot = batch.lot
        self._end(batch, count)
        if lot.closed:
            self._give_up(lot, count)
            self.expired.append(lot)
            return
        lot.revoked += count
        lot.give_back(batch.seconds, count)
        self.revoked += count
        if not lot.waiting:
            self._ask(lot)
        lot.waiting += count
        self.waiting[lot.user] += count

    def wake(self, time: float) -> None:
        """Have the rule called at a moment to come, even if nothing else happens then."""
        self.foresee(time, "wakes", None)

    def stream(self, *names: int) -> np.random.Generator:
        """Return a stream of random numbers of the rule's own, apart from those of the jobs."""
        return stream(*self.seed, self.n, *names)

    # ---- what the simulator does ------------------------------------------------------------------------------

    def foresee(self, time: float, what: str, event: Any) -> None:
        """Have an event happen at a moment."""
        self._counter += 1
        self.foreseen += event is not None
        heappush(self.events, (time, FIRST[what] + self._counter, event))

    def add(self, lot: Lot) -> None:
        """Let the tasks of a lot wait."""
        self.waiting[lot.user] += lot.waiting
        self._want(lot, lot.waiting)
        self._ask(lot)

    def batch(self) -> None:
        """Turn the tasks just started into batches."""
        for (lot, machine, seconds), count in self._fresh.items():
            self._number += 1
            batch = StartedLot(lot, machine, count, seconds, self.now, self._number)
            self.on[machine][self._number] = batch
            self._batches.append(batch)
        self._fresh.clear()

    def flush(self) -> list[StartedLot]:
        """Return the batches of all tasks started since the last time."""
        self.batch()
        batches, self._batches = self._batches, []
        return batches

    def finish(self, batch: StartedLot) -> None:
        """Let the tasks of a batch be done."""
        count = batch.count
        self._end(batch, count)
        batch.lot.done += count
        self.ended += count
        self._want(batch.lot, -count)

    def withdraw(self, lot: Lot, running: bool) -> None:
        """Take away what waits of a lot and, if wished, stop what runs of it."""
        self.moved[lot.user] = None
        if running:
            for batch in [batch for on in self.on for batch in on.values() if batch.lot is lot]:
                count = batch.count
                self._end(batch, count)
                self._give_up(lot, count)
        if lot.waiting:
            line = self.queues[lot.user][lot.kind]
            line.remove(lot)
            if not line:
                self._nobody_asks(lot.user, lot.kind)
            self.waiting[lot.user] -= lot.waiting
            self._want(lot, -lot.waiting)
            lot.withdrawn += lot.waiting
            lot.waiting = 0

    def _give_up(self, lot: Lot, count: int) -> None:
        lot.withdrawn += count
        self.stopped += count
        self._want(lot, -count)

    def lose(self, machine: int) -> None:
        """Take a machine away; what ran on it waits again."""
        for batch in list(self.on[machine].values()):
            self.revoke(batch)
        self.up[machine] = False
        self.free[machine] = [-1] * len(self.free[machine])
        self.freed.discard(machine)
        self._resize(machine, -1)

    def bring_back(self, machine: int) -> None:
        """Give a lost machine back, empty."""
        k = self.plan.classes[machine]
        self.up[machine] = True
        self.free[machine] = list(self.rooms[k])
        self.freed.add(machine)
        self._resize(machine, 1)

    def worked(self) -> dict[tuple[int, int], float]:
        """Return the seconds that tasks of each user and kind have run up to now, those that run included."""
        seconds = dict(self.busy)
        for on in self.on:
            for batch in on.values():
                where = (batch.lot.user, batch.lot.kind)
                seconds[where] = seconds.get(where, 0.0) + batch.count * (self.now - batch.begun)
        return seconds

    def offered(self) -> list[float]:
        """Return what the machines that were up had of each resource, times seconds, up to now."""
        more = self.now - self._counted
        self._offered = [so_far + total * more for so_far, total in zip(self._offered, self.totals, strict=True)]
        self._counted = self.now
        return self._offered

    def _resize(self, machine: int, sign: int) -> None:
        self.offered()
        row = self.plan.capacities[self.plan.classes[machine]]
        self.totals = [total + sign * amount for total, amount in zip(self.totals, row, strict=True)]

    def _want(self, lot: Lot, count: int) -> None:
        demand = self.demands[lot.kind]
        more = demand if count == 1 else tuple(map(mul, demand, [count] * len(demand)))
        self.wanted[lot.user] = list(map(add, self.wanted[lot.user], more))

    def _ask(self, lot: Lot) -> None:
        queue = self.queues[lot.user]
        line = queue.get(lot.kind)
        self.moved[lot.user] = None
        if line is None:
            line = queue[lot.kind] = deque()
            askers = self.askers[lot.kind]
            if not askers:
                self.opened[lot.kind] = None
            askers[lot.user] = None
        # From the end: most jobs come after all that wait.
        at = len(line)
        while at and self._turn(line[at - 1]) > self._turn(lot):
            at -= 1
        line.insert(at, lot)

    def _turn(self, lot: Lot) -> Any:
        """Return the place of a lot in the line: that of its job, or when it came; who is stopped goes back to it."""
        return lot.job.place if self.rule.by_job else lot.number

    def _nobody_asks(self, user: int, kind: int) -> None:
        del self.queues[user][kind]
        askers = self.askers[kind]
        del askers[user]
        if not askers:
            self.opened.pop(kind, None)

    def _end(self, batch: StartedLot, count: int) -> None:
        lot, machine = batch.lot, batch.machine
        user, kind = lot.user, lot.kind
        need, demand = self.needs[kind], self.demands[kind]
        where = (user, kind)
        self.busy[where] = self.busy.get(where, 0.0) + count * (self.now - batch.begun)
        if count > 1:
            need, demand = tuple(map(mul, need, [count] * len(need))), tuple(map(mul, demand, [count] * len(demand)))
        self.free[machine] = list(map(add, self.free[machine], need))
        self.used[user] = list(map(sub, self.used[user], demand))
        self.running[user] -= count
        self.moved[user] = None
        lot.running -= count
        self.freed.add(machine)
        batch.count -= count
        if not batch.count:
            batch.end = -1.0
            del self.on[machine][batch.number]
