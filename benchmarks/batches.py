"""Questions about much at once: hundreds of thousands of small pools, and billions of whole tasks in one pool."""

import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from drfopt.certificates import bottleneck, prices
from drfopt.engines.reference.algorithm1 import placements
from drfopt.model.instance import Instance
from drfopt.model.policies import policy_named
from drfopt.solving.allocating import solve
from drfopt.solving.batches.batch import Solutions, solve_many
from drfopt.solving.scheduling import Schedule, schedule

from .measure import Absent, Bench, Case, Row, Verdict, Way
from .reference import ceei_tasks, leximin_levels, off

__all__ = ["Tasks", "Work", "billions", "many"]

SAMPLE = 100
"""Pools of a batch that are judged one by one, and that the yardstick solves one by one."""

POLICIES = ("drf", "ceei")


@dataclass(frozen=True)
class Work:
    """A batch: its family, and its pools, users and resources."""

    family: str
    b: int
    n: int = 2
    m: int = 2


@dataclass(frozen=True)
class Batch:
    """Arrays (b, n, m), (b, m) and, where there are limits, (b, n)."""

    demands: np.ndarray
    capacity: np.ndarray
    limits: np.ndarray | None

    def pool(self, i: int) -> Instance:
        """Return one of the pools."""
        limits = None if self.limits is None else self.limits[i]
        return Instance(self.demands[i], self.capacity[i], max_tasks=limits)


def batch(work: Work) -> Batch:
    """Return the same batch every time."""
    random = np.random.default_rng([zlib.crc32(work.family.encode()), work.b, work.n, work.m])
    shape = (work.b, work.n, work.m)
    demands = random.integers(1, 100, shape).astype(float)
    capacity = random.integers(3_000, 9_000, (work.b, work.m)) * float(work.n)
    limits = None
    if work.family == "tied":
        demands = random.choice([0.0, 0.0, 1.0, 1.0, 2.0, 3.0], shape)
        demands[~demands.any(axis=2), 0] = 1
        capacity = random.choice([4.0, 6.0, 12.0], (work.b, work.m))
    if work.family == "limits":
        limits = np.where(random.random((work.b, work.n)) < 0.7, random.integers(0, 300, (work.b, work.n)), np.inf)
    if work.family == "ill-scaled":
        demands *= 10.0 ** random.integers(-4, 5, (work.b, work.n, 1))
    return Batch(demands, capacity, limits)


def many(bench: Bench, work: Work) -> list[Row]:
    """Measure a batch under leximin and under the Nash product."""
    rows: list[Row] = []
    for policy in POLICIES:
        case = Case(
            group=f"{policy}, {work.family}, {work.n} x {work.m}",
            name=f"b = {work.b:,}",
            n=work.n,
            build=lambda: batch(work),
            reference=f"levels in fractions, {SAMPLE} pools"
            if policy == "drf"
            else f"tasks in long double, {SAMPLE} pools",
            yardstick=f"{SAMPLE} x solve",
            ways=(
                Way("D.sum()", "yardstick", lambda batch: batch.demands.sum()),
                Way(f"{SAMPLE} x solve", "yardstick", lambda batch, policy=policy: _one_by_one(batch, policy)),
                Way("solve_many", "drfopt", lambda batch, policy=policy: _at_once(batch, policy), _judge),
                # What the Nash product costs beside leximin stands in one table, of one run.
                *(
                    (Way("solve_many, drf", "drfopt", lambda batch: _at_once(batch, "drf")),)
                    if policy == "ceei"
                    else ()
                ),
            ),
        )
        rows += bench.measure("batches", case)
    return rows


def _at_once(batch: Batch, policy: str) -> Solutions:
    return solve_many(batch.demands, batch.capacity, policy, limits=batch.limits)


def _one_by_one(batch: Batch, policy: str) -> None:
    for i in range(SAMPLE):
        solve(batch.pool(i), policy)


def _judge(batch: Batch, found: Solutions) -> Verdict:
    """Look at a sample with the certificates and the references of single pools."""
    policy = policy_named(found.policy)
    error, valid = 0.0, bool(np.isfinite(found.tasks).all())
    for i in range(SAMPLE):
        instance, tasks = batch.pool(i), found.tasks[i]
        if found.prices is None:
            error = max(error, off(found.levels[i], leximin_levels(instance)[0]) or 0.0)
            proof = bottleneck.certify(instance, policy, tasks)
        else:
            error = max(error, off(tasks, ceei_tasks(instance, found.prices[i])) or 0.0)
            proof = prices.certify(instance, policy, tasks, None, found.prices[i][None, :])
        valid &= bool(proof.valid)
    note = f"{found.singly.sum():,} pools finished one by one"
    return Verdict(error, "valid" if valid else "invalid", float(found.violation.max()), float(found.gap.max()), note)


# ---- whole tasks in bulk -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tasks:
    """A pool of n users and 4 resources with room for about so many tasks."""

    family: str
    tasks: int
    n: int = 1_000


STEPS = 100_000
"""Tasks up to which Algorithm 1 goes step by step, at about ten microseconds each."""


def crowd(size: Tasks) -> Instance:
    """Return the same pool every time."""
    random = np.random.default_rng([zlib.crc32(size.family.encode()), size.n])
    shape = (size.n, 4)
    demands = random.integers(1, 100, shape).astype(float)
    if size.family == "decimals":
        demands = random.random(shape)
    if size.family == "tied":
        demands = random.choice([1.0, 1.0, 2.0, 3.0], shape)
    demands *= random.random(shape) < 0.6
    demands[~demands.any(axis=1), 0] = 1
    room = np.ceil(demands.mean(axis=0) * size.tasks * random.uniform(0.8, 1.2, 4))
    limits = None
    if size.family == "limits":
        limits = np.where(random.random(size.n) < 0.7, random.uniform(0.1, 2, size.n) * size.tasks / size.n, np.inf)
    return Instance(demands, room, max_tasks=limits)


def billions(bench: Bench, size: Tasks) -> list[Row]:
    """Measure Algorithm 1 in jumps and, where that ends, step by step."""
    case = Case(
        group=f"{size.family}, {size.n:,} users",
        name=f"{size.tasks:.0e} tasks",
        n=size.n,
        build=lambda: crowd(size),
        reference="Algorithm 1, users with other tasks" if size.tasks <= STEPS else "",
        yardstick="exact numbers",
        ways=(
            Way("D.sum()", "yardstick", lambda instance: instance.demands.sum()),
            Way("exact numbers", "yardstick", _numbers),
            Way("step by step", "drfopt", lambda instance: _stepped(instance, size.tasks)),
            Way("in jumps", "drfopt", lambda instance: schedule(instance, trace=False), _exactly(size)),
        ),
    )
    return bench.measure("bulk-filling", case)


def _numbers(instance: Instance) -> tuple:
    """Make the fractions that every exact way needs."""
    return (
        instance.exact_demands,
        instance.exact_capacity,
        instance.exact_limits,
        policy_named("drf").exact_rates(instance),
    )


def _stepped(instance: Instance, tasks: int) -> Counter:
    if tasks > STEPS:
        raise Absent(f"left out: {tasks:.0e} tasks at some microseconds each")
    demands, capacity, limits, rates = _numbers(instance)
    return Counter(user for user, _ in placements(demands, [(capacity, 1)], rates, limits, "skip", None))


def _exactly(size: Tasks) -> Callable[[Instance, Schedule], Verdict]:
    def judge(instance: Instance, found: Schedule) -> Verdict:
        tasks = found.tasks.tolist()
        left = [
            room - sum((x * row[j] for x, row in zip(tasks, instance.exact_demands, strict=True)), Fraction(0))
            for j, room in enumerate(instance.exact_capacity)
        ]
        done = [limit is not None and x + 1 > limit for x, limit in zip(tasks, instance.exact_limits, strict=True)]
        full = [
            any(need > room for need, room in zip(row, left, strict=True)) or at_limit
            for row, at_limit in zip(instance.exact_demands, done, strict=True)
        ]
        valid = min(left) >= 0 and all(full)
        error = None
        if size.tasks <= STEPS:
            steps = _stepped(instance, size.tasks)
            error = float(sum(x != steps[i] for i, x in enumerate(tasks)))
        note = f"{sum(tasks):,} tasks; it fits and no task more does, in fractions"
        return Verdict(error, "valid" if valid else "invalid", note=note if valid else "it does not fit, or more does")

    return judge
