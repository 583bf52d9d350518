"""The batch2018 trace: tasks of batch jobs in a production cluster, one group of like tasks a line.

A file ``jobs.csv`` with a header; of its columns are read

    submit_time     seconds from the start of the trace
    duration        seconds that one task runs
    cpu             cores that one task needs
    memory          fraction of a machine's memory that one task needs
    instances_num   how many tasks
    job_id

Machines there have 64 cores, and memory 1.  The trace comes with a benchmark of job schedulers that was made from
Alibaba's cluster trace of 2018 (github.com/alibaba/clusterdata).  It stands in for the Hadoop cluster of the paper,
whose trace is not public, where Figures 1 and 2 are drawn: the shape of those figures can be compared, their numbers
cannot.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...base.errors import InstanceError
from . import columns

__all__ = ["MACHINE", "Batch2018", "Regions", "read", "regions", "slot_ratios"]

MACHINE = {"cpu": 64.0, "memory": 1.0}
"""What one machine has."""

COLUMNS = ("submit_time", "duration", "cpu", "memory", "instances_num", "job_id")


@dataclass(frozen=True)
class Batch2018:
    """Groups of like tasks, a row each (rows,).

    Attributes
    ----------
    submit, duration : float arrays, seconds
    cpu, memory : float arrays, what one task needs, in cores and in fractions of a machine
    tasks, job : int arrays
    """

    submit: np.ndarray
    duration: np.ndarray
    cpu: np.ndarray
    memory: np.ndarray
    tasks: np.ndarray
    job: np.ndarray

    def demand(self, resource: str) -> np.ndarray:
        """Return what one task of each row needs of ``cpu`` or ``memory`` (rows,)."""
        if resource not in MACHINE:
            raise InstanceError(f"the trace has no {resource!r}: it has {' and '.join(MACHINE)}")
        return self.cpu if resource == "cpu" else self.memory


class Regions(NamedTuple):
    """Where the demands lie: the middle of each region that has tasks, in cores and in memory, and how many it has."""

    cpu: np.ndarray
    memory: np.ndarray
    tasks: np.ndarray


def read(path: str | Path) -> Batch2018:
    """Read the trace.

    Raises
    ------
    InstanceError
        When a column is missing, or an entry is not a number, 0 or more.
    """
    found = columns(path, COLUMNS, header=True)
    return Batch2018(
        submit=found["submit_time"],
        duration=found["duration"],
        cpu=found["cpu"],
        memory=found["memory"],
        tasks=found["instances_num"].astype(np.int64),
        job=found["job_id"].astype(np.int64),
    )


def regions(trace: Batch2018, cores: float = 0.1, memory: float = 0.002) -> Regions:
    """Return how many tasks lie in each region of demands, as the bubbles of the paper's Figure 1.

    Parameters
    ----------
    cores, memory : the sides of a region
    """
    cell = np.stack([np.floor(trace.cpu / cores), np.floor(trace.memory / memory)], axis=1).astype(np.int64)
    known, where = np.unique(cell, axis=0, return_inverse=True)
    tasks = np.bincount(where.ravel(), weights=trace.tasks).astype(np.int64)
    return Regions((known[:, 0] + 0.5) * cores, (known[:, 1] + 0.5) * memory, tasks)


def slot_ratios(trace: Batch2018, resource: str, slots: int) -> tuple[np.ndarray, np.ndarray]:
    """Return demand over slot, ascending, and the fraction of tasks up to each, as the paper's Figure 2.

    Parameters
    ----------
    resource : "cpu" or "memory"
    slots : equal slots that a machine is cut into; above 1 a task needs more than its slot

    Returns
    -------
    two float arrays (distinct ratios,)
    """
    ratios, where = np.unique(trace.demand(resource) * slots / MACHINE[resource], return_inverse=True)
    counts = np.bincount(where.ravel(), weights=trace.tasks)
    return ratios, np.cumsum(counts) / counts.sum()
