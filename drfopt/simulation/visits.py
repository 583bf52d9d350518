"""Jobs as they come: the times of their coming, what is under way of each, and a row for each when it has ended."""

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
    """One coming of a job: its number, when it came, the stage it is at, and the lots of which tasks wait or run."""

    __slots__ = ("arrival", "begun", "coming", "lots", "number", "stage", "tasks")

    def __init__(self, coming: Coming, number: int, arrival: float):
        self.coming, self.number, self.arrival = coming, number, arrival
        self.begun = -1.0
        self.stage = 0
        self.tasks = 0
        self.lots: list[Lot] = []


class Records:
    """One row a job: user, which of her jobs, which coming of it, when it came, began and ended, tasks done."""

    def __init__(self) -> None:
        self.user, self.job, self.number, self.tasks = array("q"), array("q"), array("q"), array("q")
        self.arrival, self.begun, self.finished = array("d"), array("d"), array("d")
        self.ended = 0

    def add(self, user: int, job: int, number: int, arrival: float, begun: float, finished: float, tasks: int) -> None:
        """Write down a job; one that has not ended has NaN for its end."""
        self.user.append(user)
        self.job.append(job)
        self.number.append(number)
        self.arrival.append(arrival)
        self.begun.append(begun)
        self.finished.append(finished)
        self.tasks.append(tasks)
        self.ended += finished == finished

    def columns(self) -> dict[str, np.ndarray]:
        """Return the table, a column each (jobs,)."""
        names = ("user", "job", "number", "arrival", "begun", "finished", "tasks")
        return {name: np.array(getattr(self, name)) for name in names}
