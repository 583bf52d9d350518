"""SWIM's samples of Hadoop workloads: jobs of a social network's clusters, with what they read, shuffle and write.

Files such as ``FB-2010_samples_24_times_1hr_0.tsv``: no header, six columns separated by tabs

    job, submit time (s), gap since the one before (s), bytes read by maps, bytes shuffled, bytes written by reduces

Source: Chen, Ganapathi, Griffith and Katz, The Case for Evaluating MapReduce Performance Using Workload Suites, MASCOTS
2011; github.com/SWIMProjectUCB/SWIM.

The trace says nothing about users, numbers of tasks, what tasks need or how long they run.  `scenario` makes these up,
and says how in the arguments:

    maps        one for every `block` bytes read, at least one; then reduces, one for every `part` bytes shuffled
    demand      of all maps of a job alike, and of all its reduces: of each resource the `typical` amount times a factor
                drawn from a lognormal law of median 1, rounded to steps, at most a whole machine
    duration    of each task drawn from a lognormal law
    user        every job is a user of its own, as where a pool shares fairly among its jobs
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.numbers.quantities import exact
from ...model.instance import Machine
from .columns import columns

if TYPE_CHECKING:
    from ..scenario import Scenario

__all__ = ["HADOOP_NODE", "Sizes", "Swim", "read", "scenario"]

HADOOP_NODE = {"cpu": 16, "memory": 32}
"""A machine of the paper's section 7.3, of 12 slots, 16 cores and 32 GB."""

COLUMNS = ("", "submit", "", "read", "shuffled", "written")


@dataclass(frozen=True)
class Swim:
    """Jobs, a row each (jobs,): when they came, in seconds, and their bytes."""

    submit: np.ndarray
    read: np.ndarray
    shuffled: np.ndarray
    written: np.ndarray

    def between(self, begin: float, end: float, every: int = 1) -> "Swim":
        """Return the jobs that came in a span of seconds, counted from its begin; only each so-manieth of them."""
        chosen = np.flatnonzero((self.submit >= begin) & (self.submit < end))[::every]
        return Swim(self.submit[chosen] - begin, self.read[chosen], self.shuffled[chosen], self.written[chosen])


@dataclass(frozen=True)
class Sizes:
    """The laws of what the trace lacks.

    Attributes
    ----------
    typical : mapping
        Median of what a task needs, by resource.
    spread : float
        Standard deviation of the logarithm of what tasks need of a resource, drawn for each resource on its own.
    steps : mapping
        What demands are rounded to a multiple of, upwards.
    seconds, seconds_spread : float
        Median of a task's duration, and standard deviation of its logarithm.
    block, part : float
        Bytes for one map, and for one reduce.
    """

    typical: Mapping[str, Any]
    spread: float = 0.5
    steps: Mapping[str, Any] | None = None
    seconds: float = 30.0
    seconds_spread: float = 0.8
    block: float = 256e6
    part: float = 1e9


def read(path: str | Path) -> Swim:
    """Read a sample.

    Raises
    ------
    InstanceError
        With file, line and value, when an entry is not a number, 0 or more.
    """
    return Swim(**columns(path, COLUMNS, header=False, delimiter="\t"))


def scenario(
    trace: Swim,
    sizes: Sizes,
    machines: int = 400,
    machine: Mapping[str, Any] = HADOOP_NODE,
    seed: int = 0,
) -> "Scenario":
    """Return the jobs of a trace as a scenario, all that it lacks drawn as `sizes` says.

    Parameters
    ----------
    machines, machine : how many, and what each has
    seed : names the draws of demands; the durations are drawn by the simulation
    """
    from ..draws import Draw
    from ..scenario import Job, Scenario, Stage, User

    random = np.random.default_rng(seed)
    law = Draw("lognormal", median=sizes.seconds, sigma=sizes.seconds_spread)
    users = []
    for k in range(len(trace.submit)):
        counts = (max(1, math.ceil(trace.read[k] / sizes.block)), math.ceil(trace.shuffled[k] / sizes.part))
        demands = [_demand(sizes, machine, random) for _ in counts]
        stages = tuple(Stage(d, count, law) for d, count in zip(demands, counts, strict=True) if count)
        users.append(User(f"job{k}", (Job(stages, arrival=float(trace.submit[k])),)))
    return Scenario((Machine("node", dict(machine), machines),), tuple(users), name="SWIM")


def _demand(sizes: Sizes, machine: Mapping[str, Any], random: np.random.Generator) -> dict[str, Fraction]:
    """Return what one task needs: typical amounts times a factor each, in whole steps, at most the machine."""
    demand = {}
    for resource, typical in sizes.typical.items():
        step = exact((sizes.steps or {}).get(resource, exact(machine[resource]) / 64))
        amount = float(exact(typical)) * math.exp(sizes.spread * random.standard_normal())
        demand[resource] = min(math.ceil(amount / float(step)) * step, exact(machine[resource]))
    return demand
