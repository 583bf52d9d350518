"""Questions about schedulers on a trace: a day of Hadoop jobs, the laws of what it lacks, and what each rule costs."""

import itertools
from collections.abc import Callable

import numpy as np

from drfopt.model.instance import Machine
from drfopt.simulation import Draw, Job, Run, Scenario, Stage, User, simulate
from drfopt.simulation.traces import swim
from drfopt.simulation.traces.swim import Replay, replay

from .clusters import data_folder
from .measure import Absent, Bench, Case, Row, Verdict, Way

__all__ = ["LAWS", "hadoop_day", "hadoop_laws", "rules_at_work"]

FILE = "FB-2010_samples_24_times_1hr_0.tsv"
HOUR = 3600.0
SLOT = {"cpu": 16 / 12, "memory": 32 / 12}
STEPS = {"cpu": 0.25, "memory": 0.5}

LAWS = tuple(itertools.product((30, 60, 120), (0.5, 0.75, 1.0), (2,)))
"""Median seconds of a task, what the typical task needs of a slot, and of how many jobs and machines there is one."""

LARGE = 501
"""Tasks of a large job, at least."""


def hadoop_day(bench: Bench, hours: int) -> list[Row]:
    """Measure the simulation of the first so many hours, on the paper's 400 machines."""

    def judge(scenario: Scenario, run: Run) -> Verdict:
        late = float(np.nanmean(run.responses))
        used = ", ".join(f"{name} {part:.0%}" for name, part in zip(run.resources, run.utilization, strict=True))
        note = f"{run.ended:,} tasks in {run.moments:,} moments; mean time of a job {late:.0f} s; mean use: {used}"
        return Verdict(proof="valid", note=note)

    ways = tuple(_simulating(rule, judge, every=600.0) for rule in ("drf", "slots:12"))
    jobs = len(_trace(hours).submit) if _there() else hours
    case = Case("Hadoop jobs", f"{hours} h", jobs, lambda: _scenario(hours), ways, yardstick="")
    return bench.measure("hadoop-day", case)


def hadoop_laws(bench: Bench, law: tuple[float, float, int]) -> list[Row]:
    """Measure how much sooner jobs end under DRF than with slots, for one pair of laws."""
    seconds, part, every = law

    def judge(trace: swim.Swim, found: Replay) -> Verdict:
        small, large = (row.reduction for row in found.reductions((1, LARGE)))
        cpu, memory = np.subtract(*found.utilization(2 * HOUR))
        used = f"cpu {cpu:+.0%}, memory {memory:+.0%}"
        note = f"sooner: jobs of 1 to 500 tasks {small:+.0%}, larger {large:+.0%}; use of machines: {used}"
        return Verdict(proof="valid", note=note)

    sizes = swim.Sizes({name: part * slot for name, slot in SLOT.items()}, steps=STEPS, seconds=seconds)
    way = Way("DRF against 12 slots", "drfopt", lambda trace: replay(trace, sizes, machines=400 // every), judge)
    case = Case(f"{seconds} s", f"{part} of a slot", 2, lambda: _two_hours(every), (way,), yardstick="")
    return bench.measure("hadoop-laws", case)


RULES = (
    "drf",
    "mesos",
    "yarn:hadoop-3-fixed",
    "yunikorn",
    "kueue",
    "kai",
    "koordinator",
    "hierarchy:hdrf",
    "dynamic",
    "karma:cpu",
)


def rules_at_work(bench: Bench, tasks: int) -> list[Row]:
    """Measure every rule on 20 users in 4 groups, 50 machines, and so many tasks altogether."""
    random = np.random.default_rng(0)
    law = Draw("exponential", mean=60)
    users = tuple(
        User(
            f"u{i}",
            Job(Stage({"cpu": int(random.integers(1, 5)), "memory": int(random.integers(1, 9))}, tasks // 20, law)),
            group=f"g{i % 4}",
        )
        for i in range(20)
    )
    scenario = Scenario((Machine("node", {"cpu": 16, "memory": 32}, 50),), users)

    def judge(scenario: Scenario, run: Run) -> Verdict:
        done = run.ended == tasks
        return Verdict(
            proof="valid" if done else "invalid", note=f"{run.ended:,} tasks; over after {run.seconds:,.0f} s"
        )

    ways = tuple(_simulating(rule, judge) for rule in RULES)
    return bench.measure(
        "rules-at-work", Case("rules", f"{tasks:,} tasks", tasks, lambda: scenario, ways, yardstick="")
    )


def _simulating(rule: str, judge: Callable, every: float | None = None) -> Way:
    return Way(rule, "drfopt", lambda scenario: simulate(scenario, rule, every=every), judge)


def _there() -> bool:
    return (data_folder() / "swim" / FILE).is_file()


def _trace(hours: int) -> swim.Swim:
    if not _there():
        raise Absent("the trace is not there: set DRFOPT_DATA to the folder that has swim/")
    return swim.read(data_folder() / "swim" / FILE).between(0, hours * HOUR)


def _two_hours(every: int) -> swim.Swim:
    return _trace(8).between(6 * HOUR, 8 * HOUR, every)


def _scenario(hours: int) -> Scenario:
    sizes = swim.Sizes({name: 0.75 * slot for name, slot in SLOT.items()}, steps=STEPS, seconds=60)
    return swim.scenario(_trace(hours), sizes)
