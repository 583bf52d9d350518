"""Questions about simulations: how long a million tasks take, how time grows with them, and what processes change."""

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from drfopt.instance import Machine
from drfopt.simulation import Draw, Job, Run, Scenario, Stage, User, simulate, simulate_each
from drfopt.simulation.experiments import section72

from .measure import Bench, Case, Row, Verdict, Way

__all__ = ["Crowd", "Sweep", "growth", "replicated", "section_7_2"]

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


def growth(bench: Bench, size: Crowd) -> list[Row]:
    """Measure one run: seconds of the processor, for the clock on the wall belongs to whoever else is there."""

    def judge(scenario: Scenario, found: tuple[Run, float, float]) -> Verdict:
        run, seconds, peak = found
        jobs = len(run.jobs["user"])
        whole = run.ended == jobs * TASKS_A_JOB and not np.isnan(run.jobs["finished"]).any()
        used = ", ".join(f"{part:.0%} of {name}" for name, part in zip(run.resources, run.utilization, strict=True))
        note = f"{run.ended:,} tasks, {seconds / run.ended * 1e6:.1f} us of the processor each, {used} in use"
        if peak:
            note += f"; at most {peak / 2**20:.0f} MiB allocated"
        return Verdict(proof="valid" if whole else "invalid", note=note)

    ways = [Way("simulate", "drfopt", lambda scenario: _timed(scenario, size.rule), judge)]
    if size.tasks <= TRACED:
        ways.append(Way("simulate, memory watched", "drfopt", lambda scenario: _watched(scenario, size.rule), judge))
    case = Case(
        f"{size.rule}, {size.machines} machines", f"{size.tasks:.0e} tasks", USERS, lambda: crowd(size), tuple(ways)
    )
    return bench.measure("simulation-growth", case)


TRACED = 100_000
"""Tasks up to which memory is watched, which makes everything some times slower."""


def _timed(scenario: Scenario, rule: str) -> tuple[Run, float, float]:
    begun = time.process_time()
    run = simulate(scenario, rule)
    return run, time.process_time() - begun, 0.0


def _watched(scenario: Scenario, rule: str) -> tuple[Run, float, float]:
    tracemalloc.start()
    begun = time.process_time()
    run = simulate(scenario, rule)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return run, time.process_time() - begun, peak


def replicated(bench: Bench, size: int) -> list[Row]:
    """Measure so many replications in one process and in two, and compare them byte by byte."""
    scenario = crowd(Crowd(20_000, 100))
    rules = ("drf", "slots:8")
    values: list[bytes] = []

    def run(jobs: int) -> Callable[[Scenario], bytes]:
        return lambda given: simulate_each(given, rules, replications=size, jobs=jobs).values.tobytes()

    def judge(given: Scenario, found: bytes) -> Verdict:
        values.append(found)
        same = all(other == found for other in values)
        return Verdict(proof="valid" if same else "invalid", note="the same bytes" if same else "other bytes")

    ways = tuple(Way(name, "drfopt", run(jobs), judge) for name, jobs in (("one process", 1), ("two processes", 2)))
    case = Case("20,000 tasks, two rules", f"{size} replications", USERS, lambda: scenario, ways)
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

            def judge(given: tuple[float, float], found: section72.Region) -> Verdict:
                jobs = ", ".join(
                    f"{name} {count:g}"
                    for name, count in zip(section72.SCHEMES, found.large_jobs[0, 0, 0], strict=True)
                )
                first, order = bool(found.drf_first.all()), bool(found.ordered.all())
                return Verdict(note=f"{jobs}; DRF first: {first}, the paper's order: {order}")

            way = Way(
                "all six schemes",
                "drfopt",
                lambda given: section72.region((size.mean,), given[:1], given[1:], seconds=size.seconds),
                judge,
            )
            name = f"e_cpu = {cpu:g}, e_memory = {memory:g}"
            case = Case(f"tasks of {size.mean:g} s", name, 8, lambda given=(cpu, memory): given, (way,))
            rows += bench.measure("simulation-section-7.2", case)
    return rows
