"""What a run looks like as time goes by: the state at regular moments, or at every one in which something happened."""

import math
from dataclasses import dataclass

import numpy as np

from ..base.errors import InstanceError
from .plan import ENDLESS
from .state import ClusterState

__all__ = ["Samples", "Timeline"]

KEPT = 500
"""Moments that are kept of many when no interval is asked for: as many as a picture is wide."""

MOST = 20_000_000
"""Numbers of users in all samples together: beyond, a timeline takes gigabytes."""


@dataclass(frozen=True, eq=False)
class Samples:
    """The state at some moments; what holds at one holds until something happens.

    Attributes
    ----------
    times : array (s,)
        Seconds.
    used : array (s, n, m)
        What each user holds.
    running, waiting : array (s, n)
        Tasks of each user; waiting ones without end are inf.
    wanted : array (s, n, m)
        The average demand of the tasks that a user runs and has waiting (`ClusterState.average`); 0 where she has none.
    capacity : array (s, m)
        Of the machines that are up.
    """

    times: np.ndarray
    used: np.ndarray
    running: np.ndarray
    waiting: np.ndarray
    wanted: np.ndarray
    capacity: np.ndarray

    @property
    def dominant_shares(self) -> np.ndarray:
        """Dominant share of each user, (s, n)."""
        room = self.capacity[:, None, :]
        return np.divide(self.used, room, out=np.zeros_like(self.used), where=room > 0).max(axis=2, initial=0.0)

    @property
    def shares(self) -> np.ndarray:
        """Share of each user of each resource, (s, n, m)."""
        room = self.capacity[:, None, :]
        return np.divide(self.used, room, out=np.zeros_like(self.used), where=room > 0)

    @property
    def utilization(self) -> np.ndarray:
        """Part of each resource that is held, (s, m); above 1 where machines are oversubscribed."""
        held = self.used.sum(axis=1)
        return np.divide(held, self.capacity, out=np.zeros_like(held), where=self.capacity > 0)


class Timeline:
    """Takes samples during a run.

    Parameters
    ----------
    every : float or None
        Seconds between samples; 0 for every moment in which something happens.  By default these too, and where they
        are more than twice `KEPT`, an interval that makes about `KEPT` of them.
    until : float or None
        When the run ends, if that is known; if not, the interval doubles when there are too many.
    """

    def __init__(self, every: float | None = None, until: float | None = None):
        self.every, self.until = every, until
        self._step = every or 0.0
        self._next = 0.0
        self._rows: list[tuple] = []

    def upto(self, now: float, cluster: ClusterState) -> None:
        """Take the samples from the last one up to before `now`, in which nothing has changed."""
        if not self._step:
            self._keep(self._row(cluster.now, cluster), cluster)
            if self.every is None and len(self._rows) >= min(2 * KEPT, MOST // (2 * cluster.n)):
                self._take_even(self.until or now, now)
            return
        row = None
        while self._next < now:
            if self.every is None and len(self._rows) >= 2 * KEPT:
                self._take_even(2 * KEPT * self._step, now)
                continue
            row = row or self._row(self._next, cluster)
            self._keep((self._next, *row[1:]), cluster)
            self._advance()

    def _keep(self, row: tuple, cluster: ClusterState) -> None:
        self._rows.append(row)
        if len(self._rows) * cluster.n > MOST:
            raise InstanceError(
                f"{len(self._rows):,} samples of {cluster.n:,} users by {row[0]:.6g} s are too many: ask for a longer "
                f"interval than {self.every or 0:g} s between them"
            )

    def close(self, cluster: ClusterState) -> None:
        """Take the last sample, at the end."""
        if not self._rows or self._rows[-1][0] < cluster.now:
            self._rows.append(self._row(cluster.now, cluster))

    def samples(self, cluster: ClusterState) -> Samples:
        """Return all samples as arrays."""
        units = np.array(cluster.plan.units, dtype=float)
        *columns, endless = zip(*self._rows, strict=True)
        times, used, running, waiting, wanted, capacity = (np.array(column, dtype=float) for column in columns)
        tasks = (running + waiting)[:, :, None]
        average = np.divide(wanted, tasks, out=np.zeros_like(wanted), where=tasks > 0)
        for at, averages in enumerate(endless):
            for user, average_demand in averages.items():
                average[at, user] = average_demand
        waiting[waiting >= ENDLESS // 2] = np.inf
        return Samples(times, used / units, running, waiting, average / units, capacity / units)

    def _take_even(self, whole: float, now: float) -> None:
        """Keep what was so at even intervals, `KEPT` in the whole time, and go on like that from now on."""
        self._step = whole / KEPT
        times = np.array([row[0] for row in self._rows])
        even = np.arange(math.ceil(now / self._step)) * self._step
        at = np.searchsorted(times, even, "right") - 1
        self._rows = [(time, *self._rows[k][1:]) for time, k in zip(even.tolist(), at.tolist(), strict=True)]
        self._next = even[-1]
        self._advance()

    def _advance(self) -> None:
        # By counting, for sums of an interval would drift away from its multiples.
        self._next = (math.floor(self._next / self._step + 0.5) + 1) * self._step

    def _row(self, time: float, cluster: ClusterState) -> tuple:
        # Lists of what is held or wanted are made anew whenever it changes, so they may be kept as they are.
        waiting, wanted = list(cluster.waiting), list(cluster.wanted)
        endless = {user: cluster.average(user) for user, tasks in enumerate(waiting) if tasks >= ENDLESS // 2}
        wanted = [[0] * cluster.m if user in endless else row for user, row in enumerate(wanted)] if endless else wanted
        return time, list(cluster.used), list(cluster.running), waiting, wanted, cluster.totals, endless
