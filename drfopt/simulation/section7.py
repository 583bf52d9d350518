"""Section 7 of the DRF paper, simulated: what was published stands beside what comes out, and what was assumed.

Section 7.1, two jobs on 48 machines whose demands change every two minutes (Figure 8).  Given by the paper: the
machines, and what a task of each job needs in each of three phases.  Assumed: how long tasks run (5 to 15 seconds, so
that a phase is some twelve tasks long), and that either job has tasks without end.  How Algorithm 1 treats a user whose
next task fits nowhere decides what is seen.  As printed, nobody is served before her (the rule ``drf-stop``), and the
two jobs are level in the second phase, as in the paper's figure.  Where she is passed over (``drf``), the small tasks
of the other job take every gap before it is large enough for hers.

Section 7.2, DRF against slots and CPU-only sharing (Figures 9 to 12).  Given by the paper: 48 machines of 8 CPUs and
6 GB; four users with tasks of 1 CPU and 0.5 GB, four with tasks of 2 CPUs and 2 GB; jobs of 80 tasks, one after
another, for ten minutes; slots from 3 to 6 a machine.  Of the results the bars of Figure 9, large jobs completed, are
known.  Assumed, and not by the paper: how long tasks run, and how a machine slows down that was given more than it has
(see `drfopt.simulation.pace`).  In the static model CPU-only sharing packs these machines perfectly, so that its poor
result in the paper can only come from overloaded machines.  Hence both assumptions are swept, and what is reported is
where the paper's order of the schemes holds: no value is chosen so that it does.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, sections 7.1 and 7.2.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..base.parallel import spread
from ..base.results import Result
from ..base.tables import Column, Sheet
from .draws import Draw
from .pace import Slowdown
from .run import Run, simulate
from .scenario import Scenario, User
from .trials import Trials, simulate_each

__all__ = [
    "LARGE_JOBS",
    "ORDER",
    "PHASES",
    "SCHEMES",
    "AssumptionRegion",
    "SchemeOutcome",
    "outcome",
    "outcomes",
    "phase_shares",
    "region",
    "run_rules",
    "scenario",
]

READINGS = ("drf-stop", "drf")
"""Algorithm 1 as printed, and passing over whoever does not fit."""

PHASES = ((0.0, 120.0), (120.0, 240.0), (240.0, 360.0))
"""Seconds from which and up to which demands are the same."""

SETTLED = 20.0
"""Seconds after which the last task of the phase before has ended: tasks run 15 at most."""

SCHEMES = {
    "DRF": "drf",
    "3 slots": "slots:3",
    "4 slots": "slots:4",
    "5 slots": "slots:5",
    "6 slots": "slots:6",
    "CPU-fair": "single:cpu",
}
"""The schemes of the paper, and the rules that stand for them."""

LARGE_JOBS = {"DRF": 35, "3 slots": 33, "4 slots": 30, "5 slots": 17, "6 slots": 8, "CPU-fair": 13}
"""Figure 9: large jobs completed, as scanned from the paper's bars."""

ORDER = tuple(sorted(LARGE_JOBS, key=lambda scheme: -LARGE_JOBS[scheme]))
"""The schemes from the most large jobs to the fewest, as the paper has them."""

SPREAD = 0.5
"""Times of tasks are drawn evenly from their mean less to their mean plus this part of it."""

METHODS = 600.0
"""How long the paper's experiment went on: ten minutes."""

MEAN = 10.0
"""Mean seconds of a task in the library scenario."""


def run_rules(seed: int = 0, replications: int = 1, **how: Any) -> Trials:
    """Return the runs of the experiment under either reading of Algorithm 1."""
    return simulate_each(
        Scenario.library("sec71"), READINGS, seed=seed, replications=replications, **{"every": 1.0, **how}
    )


def phase_shares(run: Run) -> np.ndarray:
    """Return the mean dominant share of each job in each phase, once it has settled, (phases, jobs)."""
    times, shares = run.samples.times, run.samples.dominant_shares
    return np.array([shares[(times >= begins + SETTLED) & (times < ends)].mean(axis=0) for begins, ends in PHASES])


class SchemeOutcome(NamedTuple):
    """What Figures 9 to 12 show of a scheme: jobs completed and their mean response times in seconds."""

    large_jobs: float
    small_jobs: float
    large_response: float
    small_response: float


@dataclass(frozen=True, eq=False)
class AssumptionRegion(Result):
    """The experiment under many assumptions.

    Attributes
    ----------
    means : tuple of float
        Mean seconds of a task.
    cpu, memory : tuple of float
        Exponents of the slowdown.
    large_jobs : array (means, cpu, memory, schemes)
        Large jobs completed, a mean of the replications, in the order of `SCHEMES`.
    seconds : float
        How long each simulation went on.
    """

    _schema = "drfopt assumptions 1"
    _rows = "assumptions"

    means: tuple[float, ...]
    cpu: tuple[float, ...]
    memory: tuple[float, ...]
    large_jobs: np.ndarray
    seconds: float = METHODS

    def above(self, one: str, other: str) -> np.ndarray:
        """Where one scheme completes more large jobs than another, bool (means, cpu, memory)."""
        names = list(SCHEMES)
        return self.large_jobs[..., names.index(one)] > self.large_jobs[..., names.index(other)]

    @property
    def ordered(self) -> np.ndarray:
        """Where the schemes are in the paper's order, all six of them, bool (means, cpu, memory)."""
        pairs = [self.above(one, other) for one, other in pairwise(ORDER)]
        return np.all(pairs, axis=0)

    @property
    def drf_first(self) -> np.ndarray:
        """Where DRF completes the most large jobs, bool (means, cpu, memory)."""
        return np.all([self.above("DRF", other) for other in SCHEMES if other != "DRF"], axis=0)

    def named(self) -> dict[str, np.ndarray]:
        """Return the large jobs that each scheme completes, by its name, (means, cpu, memory)."""
        return {scheme: self.large_jobs[..., s] for s, scheme in enumerate(SCHEMES)}

    def to_dict(self) -> dict[str, Any]:
        """Return every assumption with the large jobs of each scheme, as plain data."""
        return {
            "schema": self._schema,
            "seconds": self.seconds,
            "published": dict(LARGE_JOBS),
            "assumptions": [
                {
                    "mean": mean,
                    "cpu": cpu,
                    "memory": memory,
                    "large_jobs": dict(zip(SCHEMES, self.large_jobs[where].tolist(), strict=True)),
                    "drf_first": bool(self.drf_first[where]),
                    "ordered": bool(self.ordered[where]),
                }
                for where, mean, cpu, memory in self._assumptions()
            ],
        }

    def _assumptions(self) -> Iterator[tuple[tuple[int, ...], float, float, float]]:
        """Yield the place of each assumption in the arrays, its mean time and its two exponents."""
        for where in np.ndindex(*self.large_jobs.shape[:3]):
            yield where, self.means[where[0]], self.cpu[where[1]], self.memory[where[2]]

    def sheet(self) -> Sheet:
        """Return the table: a row an assumption, large jobs by scheme, and what of the paper's order holds."""
        columns = (
            Column("mean task", number=True),
            Column("e_cpu", number=True),
            Column("e_memory", number=True),
            *(Column(scheme, number=True) for scheme in SCHEMES),
            Column("DRF first"),
            Column("paper's order"),
        )
        rows = [
            (
                f"{mean:g}",
                f"{cpu:g}",
                f"{memory:g}",
                *(f"{jobs:.3g}" for jobs in self.large_jobs[where]),
                bool(self.drf_first[where]),
                bool(self.ordered[where]),
            )
            for where, mean, cpu, memory in self._assumptions()
        ]
        published = ", ".join(f"{scheme} {jobs}" for scheme, jobs in LARGE_JOBS.items())
        notes = (f"large jobs completed in {self.seconds:g} s; published, of {METHODS:g} s: {published}",)
        return Sheet("section 7.2 under other assumptions", columns, rows, notes, document=self.to_dict)


def scenario(mean: float = MEAN, seconds: float = METHODS) -> Scenario:
    """Return the scenario with tasks of another mean time, or another end."""
    found = Scenario.library("sec72")
    law = Draw("uniform", low=mean * (1 - SPREAD), high=mean * (1 + SPREAD))

    def other(user: User) -> User:
        (job,) = user.jobs
        return replace(user, jobs=(replace(job, stages=(replace(job.stages[0], duration=law),)),))

    return replace(found, users=tuple(map(other, found.users)), until=seconds)


def outcome(run: Run) -> SchemeOutcome:
    """Return what the paper's figures show of a run."""
    large = np.array([name.startswith("large") for name in run.users])
    jobs = run.jobs_ended
    responses, whose = run.responses, large[run.jobs["user"]]
    done = ~np.isnan(responses)

    def mean(some: np.ndarray) -> float:
        return float(responses[some & done].mean()) if (some & done).any() else float("nan")

    return SchemeOutcome(float(jobs[large].sum()), float(jobs[~large].sum()), mean(whose), mean(~whose))


def outcomes(
    slowdown: Slowdown | None = None, mean: float = MEAN, seed: int = 0, **how: Any
) -> dict[str, SchemeOutcome]:
    """Return what comes of every scheme under one assumption; `how` are further arguments of `simulate`."""
    given = scenario(mean)
    return {
        scheme: outcome(simulate(given, rule, seed=seed, slowdown=slowdown, **how)) for scheme, rule in SCHEMES.items()
    }


def region(
    means: Sequence[float] = (10.0, 20.0),
    cpu: Sequence[float] = (0.0, 1.0, 2.0),
    memory: Sequence[float] = (0.0, 1.0, 2.0, 4.0, 8.0),
    *,
    replications: int = 1,
    seed: int = 0,
    seconds: float = METHODS,
    jobs: int | None = 1,
) -> AssumptionRegion:
    """Return the experiment under all combinations of mean times and exponents.

    Parameters
    ----------
    means, cpu, memory : sequences of float
        Mean seconds of a task; exponents of the slowdown by CPU and by memory.
    replications, seed : int
    seconds : float
        How long it goes on; the paper's ten minutes by default.
    jobs : int, optional
        Processes.
    """
    items = [
        (scenario(mean, seconds), rule, Slowdown({"cpu": first, "memory": second}), seed, replication)
        for mean in means
        for first in cpu
        for second in memory
        for rule in SCHEMES.values()
        for replication in range(replications)
    ]
    found = np.array(list(spread(_large_jobs, items, jobs=jobs, what="runs")), dtype=float)
    shape = (len(means), len(cpu), len(memory), len(SCHEMES), replications)
    return AssumptionRegion(tuple(means), tuple(cpu), tuple(memory), found.reshape(shape).mean(axis=4), seconds)


def _large_jobs(item: tuple[Scenario, str, Slowdown, int, int]) -> float:
    given, rule, slowdown, seed, replication = item
    return outcome(simulate(given, rule, slowdown=slowdown, seed=seed, replication=replication)).large_jobs
