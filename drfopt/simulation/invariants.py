"""What must hold at every moment of every run: no task lost, none run twice, no capacity exceeded.

`verify` counts everything anew from the batches that run, after every moment; runs in tests do it.  `Books` count the
tasks of a whole run, and balance at its end; every run does it.
"""

from typing import TYPE_CHECKING, Any

from ..base.errors import CertificateError
from .plan import Lot
from .state import ClusterState

if TYPE_CHECKING:
    from .pace import Pace

__all__ = ["Books", "verify"]


def verify(cluster: ClusterState, pace: "Pace") -> None:
    """Count tasks and amounts anew, and compare with the books.

    Raises
    ------
    CertificateError
        With the first thing that does not agree.
    """
    n, m = cluster.n, cluster.m
    used, running = [[0] * m for _ in range(n)], [0] * n
    lots: dict[Any, int] = {}
    for machine, on in enumerate(cluster.on):
        k = cluster.plan.classes[machine]
        load, room = [0] * m, list(cluster.rooms[k])
        for batch in on.values():
            kind = cluster.plan.kinds[batch.lot.kind]
            _hold(batch.count > 0 and batch.end >= cluster.now, cluster, "a batch is over and still runs")
            _hold(kind.classes is None or k in kind.classes, cluster, "a task runs where it may not")
            load = [total + batch.count * amount for total, amount in zip(load, kind.demand, strict=True)]
            room = [left - batch.count * need for left, need in zip(room, cluster.needs[batch.lot.kind], strict=True)]
            user = batch.lot.user
            used[user] = [total + batch.count * amount for total, amount in zip(used[user], kind.demand, strict=True)]
            running[user] += batch.count
            lots[batch.lot] = lots.get(batch.lot, 0) + batch.count
        _hold(cluster.up[machine] or not on, cluster, f"tasks run on machine {machine}, which is lost")
        _hold(not cluster.up[machine] or cluster.free[machine] == room, cluster, f"machine {machine} is booked wrongly")
        _hold(min(room) >= 0, cluster, f"machine {machine} has no room for what runs on it")
        if not cluster.rule.oversubscribes:
            fits = all(map(int.__le__, load, cluster.plan.capacities[k]))
            _hold(fits, cluster, f"machine {machine} is given more than it has")
            _hold(pace.speed[machine] == 1, cluster, f"machine {machine} is slow without need")
    _hold(used == cluster.used, cluster, "what users hold is booked wrongly")
    _hold(running == cluster.running, cluster, "tasks of users are booked wrongly")
    waiting = [0] * n
    for user, queue in enumerate(cluster.queues):
        for asked, line in queue.items():
            _hold(bool(line) and user in cluster.askers[asked], cluster, "somebody waits who does not ask")
            for lot in line:
                _hold(lot.waiting > 0, cluster, "a lot waits without tasks")
                waiting[user] += lot.waiting
                lots.setdefault(lot, 0)
    _hold(waiting == cluster.waiting, cluster, "waiting tasks are booked wrongly")
    for lot, count in lots.items():
        _hold(lot.running == count, cluster, "the running tasks of a lot are booked wrongly")
        _hold(lot.tasks == lot.waiting + lot.running + lot.done + lot.withdrawn, cluster, "a lot has lost a task")


class Books:
    """The accounts of a run: every lot is entered once, when it is over or at the end of the run."""

    def __init__(self, cluster: ClusterState):
        self._cluster = cluster
        self._running = self._done = self._revoked = 0

    def enter(self, lot: Lot) -> None:
        """Enter a lot, and check that each of its tasks waits, runs, is done or was withdrawn."""
        total = lot.waiting + lot.running + lot.done + lot.withdrawn
        _hold(lot.tasks == total, self._cluster, f"of {lot.tasks} tasks of a lot {total} are accounted for")
        self._running += lot.running
        self._done += lot.done
        self._revoked += lot.revoked

    def balance(self) -> None:
        """Check that every task that was started runs, is done, or was stopped, and that none was done twice.

        Raises
        ------
        CertificateError
            When a task is missing, or there is one too many.
        """
        cluster = self._cluster
        _hold(self._running == sum(cluster.running), cluster, "tasks run that never came")
        _hold(self._done == cluster.ended, cluster, f"{cluster.ended} tasks ended, {self._done} are done")
        _hold(self._revoked == cluster.revoked, cluster, "tasks were revoked that never came")
        known = self._running + self._done + self._revoked + cluster.stopped
        _hold(cluster.started == known, cluster, f"{cluster.started} tasks were started, {known} are accounted for")


def _hold(holds: bool, cluster: ClusterState, what: str) -> None:
    if not holds:
        raise CertificateError(f"the simulation of {cluster.rule.name} is wrong at {cluster.now:.6g} s: {what}")
