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

A Hadoop trace under two rules: utilization over time, and how much sooner jobs end, by their size.

As in the paper's section 7.3 (Figures 13 and 14): DRF against slots on 400 machines of 12 slots, 16 cores and 32 GB.
Both rules see the same jobs, demands and durations.  The paper's own trace told what each task used; in the samples
that are public these are drawn (`drfopt.simulation.traces.swim`), and the outcome depends on the laws: where tasks need
about half a slot, slots leave machines idle; where they need more than a slot, machines are overloaded and slowed
(`drfopt.simulation.pace`); and where the cluster is not full, neither matters.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 7.3.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...base.numbers.quantities import exact
from ...model.instance import Machine
from ..pace import Slowdown
from ..run import Run, simulate
from . import columns

__all__ = ["BINS", "HADOOP_NODE", "Reduction", "Replay", "Sizes", "Swim", "read", "replay", "scenario"]


if TYPE_CHECKING:
    from ..scenario import Scenario


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


BINS = (1, 501, 1001, 1501, 2001, 2501, 3001)
"""The least tasks of each class of job sizes, as in the paper's Figure 14."""


class Reduction(NamedTuple):
    """Jobs of at least `least` and at most `most` tasks (None: no most), and how much sooner they end on average.

    `reduction` is one minus the mean time from arrival to end under the first rule over that under the second.
    """

    least: int
    most: int | None
    jobs: int
    reduction: float


@dataclass(frozen=True, eq=False)
class Replay:
    """A trace under two rules.

    Attributes
    ----------
    runs : two of Run
    tasks : int array (jobs,)
        Size of each job of the trace.
    times : two float arrays (jobs,)
        Seconds from arrival to end.
    """

    runs: tuple[Run, Run]
    tasks: np.ndarray
    times: tuple[np.ndarray, np.ndarray]

    def reductions(self, bins: Sequence[int] = BINS) -> list[Reduction]:
        """Return how much sooner jobs end under the first rule than under the second; classes without jobs left out."""
        found = []
        for least, after in zip(bins, [*bins[1:], None], strict=True):
            chosen = self.tasks >= least if after is None else (self.tasks >= least) & (self.tasks < after)
            if chosen.any():
                first, second = (float(times[chosen].mean()) for times in self.times)
                most = None if after is None else after - 1
                found.append(Reduction(least, most, int(chosen.sum()), 1 - first / second))
        return found

    def utilization(self, seconds: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean part of each resource that was in use, up to a second, (m,) for each rule.

        A machine that is overloaded counts as full: above 1 is what its tasks were promised, not what it has.
        """
        return tuple(
            np.minimum(run.samples.utilization[run.samples.times <= seconds], 1.0).mean(axis=0) for run in self.runs
        )


def replay(
    trace: Swim,
    sizes: Sizes,
    rules: tuple[str, str] = ("drf", "slots:12"),
    *,
    machines: int = 400,
    machine: Mapping[str, Any] = HADOOP_NODE,
    every: float = 60.0,
    seed: int = 0,
    slowdown: Slowdown | None = None,
) -> Replay:
    """Run the jobs of a trace under two rules, to the end of the last job.

    Parameters
    ----------
    trace : Swim
    sizes : Sizes
        The laws of what the trace lacks.
    rules : two names of rules
    machines, machine : how many, and what each has
    every : seconds between two samples of the state
    seed : names the draws
    slowdown : what overloaded machines lose
    """
    played = scenario(trace, sizes, machines, machine, seed)
    first, second = (simulate(played, rule, seed=seed, every=every, slowdown=slowdown) for rule in rules)
    tasks = np.array([sum(stage.tasks or 0 for stage in user.jobs[0].stages) for user in played.users])
    return Replay((first, second), tasks, (_times(first), _times(second)))


def _times(run: Run) -> np.ndarray:
    """Return seconds from arrival to end, in the order of the users, who have one job each."""
    return run.responses[np.argsort(run.jobs["user"], kind="stable")]
