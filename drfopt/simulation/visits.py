"""Jobs as they come: the times of their coming, what is under way of each, and a row for each when it has ended."""

import math
from array import array

import numpy as np

from .draws import stream, times
from .lots import Lot
from .scenario import Job

__all__ = ["Coming", "Records", "Visit"]


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
