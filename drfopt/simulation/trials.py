"""Rules side by side: the same scenarios under each, on the same random numbers, with the error of every mean.

A replication is a drawing of all times; under every rule it is the same one.  So the difference of two rules is taken
replication by replication, and its error is that of the differences, which is far smaller than that of either mean.

How many tasks a scenario runs, roughly and before it is simulated: how much work a simulation will be.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ..base.errors import PolicyError, checked_flags, listed
from ..base.numbers.quantities import counted_up_to
from ..base.parallel import spread
from ..base.results import Result
from ..base.tables import Column, Sheet
from .distance import distance
from .draws import Draw, Times
from .pace import Slowdown
from .preemption import Preemption
from .rules.table import rule_named
from .run import Run, simulate, unregarded
from .scenario import Job, Scenario, Stage
from .turns import Rule

__all__ = ["CONFIDENCE", "Trials", "expected_tasks", "measures", "simulate_each"]


def expected_tasks(scenario: Scenario) -> float:
    """Return about how many tasks run if there is room for all of them, inf where that has no bound."""
    until = math.inf if scenario.until is None else scenario.until
    return sum(
        _comings(job, max(0.0, min(until, user.leaves) - job.arrival))
        * sum(_tasks(stage, scenario) for stage in job.stages)
        for user in scenario.users
        for job in user.jobs
    )


def _comings(job: Job, span: float) -> float:
    """Return how often a job comes in so many seconds; one that follows upon itself, if its tasks ran at once."""
    apart = _mean(job.every) if job.every is not None else sum(_mean(stage.duration) for stage in job.stages)
    most = 1 + span / apart if apart else math.inf
    return most if job.count is None else min(job.count, most)


def _tasks(stage: Stage, scenario: Scenario) -> float:
    if stage.tasks is not None:
        return stage.tasks
    room = min(
        sum(float(machine.capacity.get(resource, 0) * machine.count) for machine in scenario.machines) / float(need)
        for resource, need in stage.demand.items()
        if need
    )
    return room * (1 + (stage.lasts or 0.0) / _mean(stage.duration))


def _mean(times: Times) -> float:
    """Return mean seconds, inf for ever."""
    if times is None:
        return math.inf
    if isinstance(times, Draw):
        return times.mean
    if isinstance(times, Real):
        return float(times)
    return sum(map(float, times)) / len(times) if isinstance(times, Sequence) and len(times) else math.inf


WORTH = 40_000
"""Tasks of all runs together below which processes take longer to start than they save: about a second's work."""

SELDOM = ("jobs cut short", "jobs under way", "tasks revoked")

CONFIDENCE = 0.95
"""Of the intervals: so often the true mean of endlessly many replications lies within."""


class _Trial(NamedTuple):
    scenario: Scenario
    rule: str | Rule
    replication: int
    how: dict[str, Any]
    optimum: bool


@dataclass(frozen=True, eq=False)
class Trials(Result):
    """Runs of one scenario under several rules.

    Attributes
    ----------
    scenario : Scenario
    rules : tuple of str
    runs : tuple of tuples of Run
        ``runs[rule][replication]``.
    names : tuple of str
        What was measured.
    values : array (rules, replications, measures)
        NaN where there is nothing to measure.
    """

    _schema = "drfopt trials 1"
    _rows = "rules"

    scenario: Scenario
    rules: tuple[str, ...]
    runs: tuple[tuple[Run, ...], ...]
    names: tuple[str, ...]
    values: np.ndarray

    @property
    def means(self) -> np.ndarray:
        """Mean of each rule and measure, (rules, measures)."""
        return self.values.mean(axis=1)

    @property
    def margins(self) -> np.ndarray:
        """Half the width of the confidence interval of each mean, (rules, measures); NaN for one replication."""
        return _margins(self.values)

    def differences(self, base: str) -> tuple[np.ndarray, np.ndarray]:
        """Return means and margins of what each rule measures more than the rule `base`, (rules, measures) each."""
        if base not in self.rules:
            raise PolicyError(f"there was no run of {base!r}: there are {', '.join(self.rules)}")
        apart = self.values - self.values[self.rules.index(base)]
        return apart.mean(axis=1), _margins(apart)

    def named(self) -> dict[str, Any]:
        """Return the runs of each rule, a tuple with one a replication."""
        return dict(zip(self.rules, self.runs, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt simulate --json`` prints for several rules or replications."""
        apart, error = self.differences(self.rules[0])
        return {
            "schema": self._schema,
            "scenario": self.scenario.name,
            "replications": len(self.runs[0]),
            "confidence": CONFIDENCE,
            "rules": [
                {
                    "rule": rule,
                    "measures": {
                        name: {
                            "mean": float(self.means[r, k]),
                            "margin": float(self.margins[r, k]),
                            "difference": float(apart[r, k]),
                            "difference_margin": float(error[r, k]),
                            "values": self.values[r, :, k].tolist(),
                        }
                        for k, name in enumerate(self.names)
                    },
                }
                for r, rule in enumerate(self.rules)
            ],
        }

    def sheet(self) -> Sheet:
        """Return the table: a row a rule, means and margins."""
        count = len(self.runs[0])
        # What is missing everywhere is not shown, nor what happens seldom and never did; 0 of all else says something.
        columns = [Column("rule")]
        for name, values in zip(self.names, np.moveaxis(self.values, 2, 0), strict=True):
            shown = bool(values.any() if name in SELDOM else not np.isnan(values).all())
            columns.append(Column(name, number=True, shown=shown))
        rows = [(rule, *map(_spoken, self.means[r], self.margins[r])) for r, rule in enumerate(self.rules)]
        notes = []
        if count > 1:
            notes.append(f"means of {count} replications, +- half a {CONFIDENCE:.0%} confidence interval")
            apart, error = self.differences(self.rules[0])
            told = [
                f"{rule}: {', '.join(apart_in)}"
                for r, rule in enumerate(self.rules)
                if (apart_in := [name for k, name in enumerate(self.names) if abs(apart[r, k]) > error[r, k]])
            ]
            if len(self.rules) > 1:
                notes.append(
                    f"on the same random numbers the {CONFIDENCE:.0%} interval of the difference from {self.rules[0]} "
                    f"leaves out 0: {'; '.join(told) or 'none'}"
                )
        notes += unregarded(runs[0] for runs in self.runs)
        name = f" - {self.scenario.name}" if self.scenario.name else ""
        return Sheet(f"rules side by side{name}", tuple(columns), rows, tuple(notes), document=self.to_dict)


def measures(run: Run, optimum: bool = False) -> dict[str, float]:
    """Return what is measured of a run: jobs, responses, tasks, utilization and, if wished, the distances.

    The mean response is of jobs that are done; those that were cut short, or are under way at the end, have none.
    """
    responses = run.responses[~np.isnan(run.responses)]
    found = {
        "jobs done": float(run.jobs_ended.sum()),
        "jobs cut short": float(run.jobs_closed.sum()),
        "jobs under way": float(run.jobs_under_way.sum()),
        "mean response": float(responses.mean()) if responses.size else float("nan"),
        "tasks done": float(run.ended),
        "tasks revoked": float(run.revoked),
        "seconds": run.seconds,
    }
    found |= {f"{name} used": float(used) for name, used in zip(run.resources, run.utilization, strict=True)}
    if optimum:
        found |= distance(run).means()
    return found


def simulate_each(
    scenario: Scenario,
    rules: Iterable[str | Rule],
    *,
    replications: int = 1,
    seed: int = 0,
    until: float | None = None,
    every: float | None = None,
    slowdown: Slowdown | None = None,
    preemption: Preemption | None = None,
    optimum: bool = False,
    checked: bool = False,
    jobs: int | None = 1,
    dask: str | None = None,
) -> Trials:
    """Let several rules do the same work, again and again.

    Parameters
    ----------
    scenario, seed, until, every, slowdown, preemption, checked
        As in `simulate`.
    rules : iterable of str or Rule
    replications : int
        Drawings of all times; the same ones under every rule.
    optimum : bool
        Whether to measure the distance from the fair optimum, in the mean over the samples.
    jobs, dask : int, str
        Processes, None for one a core if the work is worth it, or the address of a Dask scheduler.  The answers do not
        depend on them.

    Raises
    ------
    InstanceError, PolicyError
        On bad numbers; on a rule that is unknown, named twice, or missing.
    """
    replications = counted_up_to(replications, "the number of replications")
    checked_flags(optimum=optimum, checked=checked)
    chosen = listed(rules, "rules", PolicyError)
    if not chosen:
        raise PolicyError("there is no rule to simulate: name at least one")
    names = [rule_named(rule).name for rule in chosen]
    if len(set(names)) < len(names):
        raise PolicyError(f"a rule is named twice among {', '.join(names)}: name each once")
    how = {"seed": seed, "until": until, "every": every, "slowdown": slowdown, "preemption": preemption}
    how["checked"] = checked
    items = [
        _Trial(scenario, rule, replication, how, optimum) for rule in chosen for replication in range(replications)
    ]
    if jobs is None and dask is None and expected_tasks(scenario.stopping(until)) * len(items) < WORTH:
        jobs = 1
    found = list(spread(_run, items, jobs=jobs, dask=dask, what="runs"))
    rows = [found[r * replications : (r + 1) * replications] for r in range(len(names))]
    return Trials(
        scenario=scenario,
        rules=tuple(names),
        runs=tuple(tuple(run for run, _ in row) for row in rows),
        names=tuple(found[0][1]),
        values=np.array([[list(values.values()) for _, values in row] for row in rows]),
    )


def _run(trial: _Trial) -> tuple[Run, dict[str, float]]:
    run = simulate(trial.scenario, trial.rule, replication=trial.replication, **trial.how)
    return run, measures(run, trial.optimum)


def _margins(values: np.ndarray) -> np.ndarray:
    """Return half the width of the confidence intervals of means over the second axis."""
    count = values.shape[1]
    if count < 2:
        return np.full((values.shape[0], values.shape[2]), np.nan)
    from scipy.stats import t

    # Beside the first, so that rounding makes nothing of values that are equal.
    spread = (values - values[:, :1]).std(axis=1, ddof=1)
    return t.ppf((1 + CONFIDENCE) / 2, count - 1) * spread / np.sqrt(count)


def _spoken(mean: float, margin: float) -> str | None:
    if np.isnan(mean):
        return None
    return f"{mean:.4g}" if np.isnan(margin) else f"{mean:.4g} +- {margin:.2g}"
