"""A Hadoop trace under two rules: utilization over time, and how much sooner jobs end, by their size.

As in the paper's section 7.3 (Figures 13 and 14): DRF against slots on 400 machines of 12 slots, 16 cores and 32 GB.
Both rules see the same jobs, demands and durations.  The paper's own trace told what each task used; in the samples
that are public these are drawn (`drfopt.simulation.traces.swim`), and the outcome depends on the laws: where tasks need
about half a slot, slots leave machines idle; where they need more than a slot, machines are overloaded and slowed
(`drfopt.simulation.pace`); and where the cluster is not full, neither matters.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 7.3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..pace import Slowdown
from ..run import Run, simulate
from .swim import HADOOP_NODE, Sizes, Swim, scenario

__all__ = ["BINS", "Reduction", "Replay", "replay"]

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
