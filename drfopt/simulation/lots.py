"""Lots and batches: the tasks of one stage of one job, and those of them that run together on one machine."""

from array import array
from collections import deque
from typing import Any

import numpy as np

from .draws import Draw, Times, times

__all__ = ["ENDLESS", "Lot", "StartedLot"]

ENDLESS = 2**60
"""Tasks of a stage that has no end; it stays more than half of them whatever is started."""

CHUNK = 4096
"""Times drawn at once for tasks without end."""


class Lot:
    """The tasks of one stage of one job: how many wait, run, are done, and were withdrawn.

    Attributes
    ----------
    job : object
        Whose stage it is; the simulator's.
    user, kind, number, stage : int
        `number` counts lots in the order in which they came, `stage` those of the job.
    tasks : int
        ``waiting + running + done + withdrawn``, always.
    revoked : int
        Tasks that were stopped and wait, or have waited, again.
    """

    __slots__ = (
        "_again", "_law", "_next", "_random", "_times",
        "done", "job", "kind", "number", "revoked", "running", "stage", "tasks", "user", "waiting", "withdrawn",
    )  # fmt: skip

    def __init__(
        self,
        job: Any,
        where: tuple[int, int, int, int],
        tasks: int | None,
        law: Times,
        random: np.random.Generator,
    ):
        self.job = job
        self.user, self.kind, self.number, self.stage = where
        self.tasks = ENDLESS if tasks is None else tasks
        self.waiting, self.running, self.done, self.withdrawn, self.revoked = self.tasks, 0, 0, 0, 0
        self._law, self._random, self._next = law, random, 0
        self._again: deque[float] = deque()
        self._times: float | array = 0.0
        if tasks is not None or not isinstance(law, Draw):
            drawn = times(law, random, self.tasks)
            self._times = array("d", drawn.tobytes()) if isinstance(drawn, np.ndarray) else drawn
        else:
            self._times = array("d")

    def take(self) -> float:
        """Return how long the next task runs; revoked ones come first, with the time that was theirs."""
        if self._again:
            return self._again.popleft()
        if isinstance(self._times, float):
            return self._times
        if self._next == len(self._times):
            self._times = array("d", times(self._law, self._random, CHUNK).tobytes())  # type: ignore[union-attr]
            self._next = 0
        self._next += 1
        return self._times[self._next - 1]

    def give_back(self, seconds: float, count: int) -> None:
        """Take note of tasks that were stopped and will run again from their beginning."""
        self._again.extend([seconds] * count)

    @property
    def endless(self) -> bool:
        """Whether there are as many tasks as find room."""
        return self.tasks == ENDLESS

    @property
    def over(self) -> bool:
        """Whether nothing of it waits or runs."""
        return not self.waiting and not self.running


class StartedLot:
    """Like tasks of one lot that were started together on one machine.

    Attributes
    ----------
    lot : Lot
    machine, count, number : int
    seconds : float
        How long each of them runs at full speed.
    begun, end : float
        When they started, and when they will end as things stand; `end` is -1 when they are over.
    left, since : float
        Seconds at full speed that were left at the moment `since`; kept where machines may be slow.
    """

    __slots__ = ("begun", "count", "end", "left", "lot", "machine", "number", "seconds", "since")

    def __init__(self, lot: Lot, machine: int, count: int, seconds: float, now: float, number: int):
        self.lot, self.machine, self.count, self.number = lot, machine, count, number
        self.seconds = self.left = seconds
        self.begun = self.since = now
        self.end = now + seconds
