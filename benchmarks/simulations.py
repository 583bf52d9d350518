"""Questions about simulations: how long a million tasks take, how time grows with them, and what processes change."""

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from drfopt.model.instance import Machine
from drfopt.simulation import Draw, Job, Run, Scenario, Stage, User, section7, simulate, simulate_each
from drfopt.simulation.rules.table import RULES

from .measure import Bench, Case, Row, Verdict, Way

__all__ = ["Crowd", "Replications", "Sweep", "growth", "replicated", "rules", "section_7_2"]

USERS = 100
TASKS_A_JOB = 100
MEAN = 60.0


@dataclass(frozen=True)
class Crowd:
    """A hundred users on machines of 16 CPUs and 64 GB, jobs of a hundred tasks, so many tasks in all."""

    tasks: int
    machines: int = 400
    rule: str = "drf"


def crowd(size: Crowd) -> Scenario:
    """Return the same scenario every time; it asks for about as much as there is, whatever its length."""
    random = np.random.default_rng([2011, USERS])
    pace = Draw("exponential", mean=MEAN * TASKS_A_JOB / 60 * 400 / size.machines)
    count = max(1, size.tasks // USERS // TASKS_A_JOB)
    users = tuple(
        User(
            f"u{i}",
            Job(
                Stage(
                    {"cpu": int(random.integers(1, 5)), "memory": int(random.integers(1, 17))},
                    tasks=TASKS_A_JOB,
                    duration=Draw("exponential", mean=MEAN),
                ),
                count=count,
                every=pace,
            ),
        )
        for i in range(USERS)
    )
    return Scenario((Machine("node", {"cpu": 16, "memory": 64}, size.machines),), users)


def _timed(scenario: Scenario, rule: str) -> tuple[Run, float]:
    begun = time.process_time()
    run = simulate(scenario, rule)
    return run, time.process_time() - begun


def growth(bench: Bench, size: Crowd) -> list[Row]:
    """Measure one run, and note seconds of the processor: the clock on the wall belongs to whoever else is there."""

    def judge(scenario: Scenario, found: tuple[Run, float]) -> Verdict:
        run, seconds = found
        whole = run.ended == len(run.jobs["user"]) * TASKS_A_JOB and not np.isnan(run.jobs["finished"]).any()
        used = ", ".join(f"{part:.0%} of {name}" for name, part in zip(run.resources, run.utilization, strict=True))
        largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        note = (
            f"{run.ended:,} tasks, {seconds / run.ended * 1e6:.1f} us of the processor each, {used} in use; the whole "
            f"process has never had more than {largest:.0f} MiB"
        )
        return Verdict(proof="valid" if whole else "invalid", note=note)

    ways = (Way("simulate", "drfopt", lambda scenario: _timed(scenario, size.rule), judge),)
    group = f"{size.rule}, {size.machines} machines"
    case = Case(group, f"{size.tasks:.0e} tasks", USERS, lambda: crowd(size), ways, yardstick="")
    return bench.measure("simulation-growth", case)


def rules(bench: Bench, size: Crowd) -> list[Row]:
    """Measure every rule of the table on one scenario, beside `drf`."""

    def judge(scenario: Scenario, found: tuple[Run, float]) -> Verdict:
        run, seconds = found
        whole = run.ended == len(run.jobs["user"]) * TASKS_A_JOB
        note = f"{seconds / run.ended * 1e6:.0f} us of the processor a task, the first time"
        return Verdict(proof="valid" if whole else "invalid", note=note)

    names = [row.example or row.name for row in RULES]
    ways = tuple(
        Way(name, "yardstick" if name == "drf" else "drfopt", lambda given, name=name: _timed(given, name), judge)
        for name in names
    )
    case = Case(f"{size.machines} machines", f"{size.tasks:.0e} tasks", USERS, lambda: crowd(size), ways, "", "drf")
    return bench.measure("simulation-rules", case)


@dataclass(frozen=True)
class Replications:
    """So many drawings of a scenario of so many tasks."""

    count: int
    tasks: int


def replicated(bench: Bench, size: Replications) -> list[Row]:
    """Measure so many replications in one process and in two, and compare them byte by byte."""
    scenario = crowd(Crowd(size.tasks, 100))
    rules = ("drf", "slots:8")
    values: list[bytes] = []

    def run(jobs: int) -> Callable[[Scenario], bytes]:
        return lambda given: simulate_each(given, rules, replications=size.count, jobs=jobs).values.tobytes()

    def judge(given: Scenario, found: bytes) -> Verdict:
        values.append(found)
        same = all(other == found for other in values)
        return Verdict(proof="valid" if same else "invalid", note="the same bytes" if same else "other bytes")

    ways = tuple(Way(name, "drfopt", run(jobs), judge) for name, jobs in (("one process", 1), ("two processes", 2)))
    case = Case(
        f"{size.tasks:,} tasks, two rules", f"{size.count} replications", USERS, lambda: scenario, ways, yardstick=""
    )
    return bench.measure("simulation-replications", case)


@dataclass(frozen=True)
class Sweep:
    """Assumptions of section 7.2: the mean time of a task, the exponents by CPU and by memory, and how long it goes."""

    mean: float
    cpu: tuple[float, ...]
    memory: tuple[float, ...]
    seconds: float = 600.0


def section_7_2(bench: Bench, size: Sweep) -> list[Row]:
    """Report for every assumption how many large jobs each scheme completes, and what of the paper's order holds."""
    rows: list[Row] = []
    for cpu in size.cpu:
        for memory in size.memory:

            def judge(given: tuple[float, float], found: section7.AssumptionRegion) -> Verdict:
                jobs = ", ".join(
                    f"{name} {count:g}" for name, count in zip(section7.SCHEMES, found.large_jobs[0, 0, 0], strict=True)
                )
                first, order = bool(found.drf_first.all()), bool(found.ordered.all())
                return Verdict(note=f"{jobs}; DRF first: {first}, the paper's order: {order}")

            way = Way(
                "all six schemes",
                "drfopt",
                lambda given: section7.region((size.mean,), given[:1], given[1:], seconds=size.seconds),
                judge,
            )
            name = f"e_cpu = {cpu:g}, e_memory = {memory:g}"
            case = Case(f"tasks of {size.mean:g} s", name, 8, lambda given=(cpu, memory): given, (way,), yardstick="")
            rows += bench.measure("simulation-section-7.2", case)
    return rows
