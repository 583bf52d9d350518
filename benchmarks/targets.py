"""Whole tasks against the seconds aimed at: machines that are alike, users who tie, products, and the openb trace."""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from drfopt.io.readers.asking import read
from drfopt.model.allocation import Allocation
from drfopt.model.instance import Instance, Machine
from drfopt.model.policies import policy_named
from drfopt.solving.allocating import solve

from .clusters import FILES, data_folder
from .integers import plain, pool
from .measure import Absent, Bench, Case, Row, Verdict, Way, without
from .peers import lowest_whole_level

__all__ = ["TARGETS", "Target", "against_rounds", "crowd", "park", "reached", "rows_of_nodes"]

CLASSES = ((16, 64), (16, 128), (32, 64), (32, 128), (48, 192), (64, 256), (64, 512), (96, 384))
"""Cores and GiB of the classes of a park."""


@dataclass(frozen=True)
class Target:
    """A policy on some instances, and the seconds within which each is to be proven, or to be near.

    Attributes
    ----------
    near : bool
        Whether a bound of at most one task a user above what is found is enough.
    limit : float
        Seconds that each instance is given.
    """

    label: str
    policy: str
    build: Callable[[int], Instance | None]
    aim: float
    limit: float
    near: bool = False
    seeds: int = 3

    def __str__(self) -> str:
        return self.label


def rows_of_nodes(seed: int) -> Instance:
    """Return 48 machines that are alike and 8 users without limits, some eight of whose tasks fill a machine."""
    random = np.random.default_rng([48, 8, seed])
    return Instance(random.integers(1, 101, (8, 2)), machines=[Machine("node", [400, 400], 48)])


def park(machines: int, users: int, seed: int) -> Instance:
    """Return machines of 8 classes and users without limits, whose tasks have 1 to 8 cores and 1 to 64 GiB."""
    random = np.random.default_rng([machines, users, seed])
    counts = 1 + random.multinomial(machines - len(CLASSES), np.full(len(CLASSES), 1 / len(CLASSES)))
    kinds = [
        Machine(f"class{k}", list(room), int(count))
        for k, (room, count) in enumerate(zip(CLASSES, counts, strict=True))
    ]
    return Instance(np.column_stack([random.integers(1, 9, users), random.integers(1, 65, users)]), machines=kinds)


def crowd(users: int) -> Instance:
    """Return 48 machines and users who are all alike."""
    return Instance([[2, 3]] * users, machines=[Machine("node", [512, 1024], 48)])


def _openb(seed: int) -> Instance | None:
    files = [data_folder() / "openb" / name for name in FILES]
    return read("openb", files).instance if all(file.is_file() for file in files) else None


TARGETS = (
    Target("48 machines alike, 8 users", "drf", rows_of_nodes, 0.5, 20.0),
    Target("200 machines, 50 users", "drf", lambda seed: park(200, 50, seed), 20.0, 40.0),
    Target("1,000 machines, 100 users", "drf", lambda seed: park(1_000, 100, seed), 60.0, 60.0, near=True),
    Target("48 machines, 10,000 users alike", "drf", lambda seed: crowd(10_000), 1.0, 20.0, seeds=1),
    Target("openb", "drf", _openb, 120.0, 120.0, near=True, seeds=1),
    Target("a pool, 500 users tied", "drf", lambda seed: pool("tied", 500, seed), 10.0, 40.0),
    Target("product, 20 users", "ceei", lambda seed: pool("generic", 20, seed), 0.5, 20.0, seeds=5),
    Target("product, 20 users tied", "ceei", lambda seed: pool("tied", 20, seed), 0.5, 20.0, seeds=5),
    Target("product, 100 users tied", "ceei", lambda seed: pool("tied", 100, seed), 20.0, 60.0),
    Target("product, 48 machines alike, 8 users", "ceei", rows_of_nodes, 2.0, 20.0),
    Target("product, 200 machines, 50 users", "ceei", lambda seed: park(200, 50, seed), 20.0, 60.0),
    Target("alpha 2, 200 machines, 50 users", "alpha:2", lambda seed: park(200, 50, seed), 20.0, 60.0),
    Target("alpha 5, 50 users tied", "alpha:5", lambda seed: pool("tied", 50, seed), 20.0, 60.0),
    Target("alpha 20, 50 users tied", "alpha:20", lambda seed: pool("tied", 50, seed), 20.0, 60.0),
)
"""What whole tasks are to reach."""


def reached(bench: Bench, target: Target) -> list[Row]:
    """Measure how long each instance of a target takes, one after the other."""

    def run(instances: list[Instance | None]) -> list[tuple[float, Allocation]]:
        found = []
        for instance in instances:
            if instance is None:
                raise Absent("the openb trace is not here: set DRFOPT_DATA")
            begun = _seconds()
            allocation = solve(instance, target.policy, integer=True, time_limit=target.limit)
            found.append((_seconds() - begun, allocation))
        return found

    def judge(instances: list[Instance], found: list[tuple[float, Allocation]]) -> Verdict:
        done = [allocation.status == "optimal" for _, allocation in found]
        near = [target.near and _near(i, target.policy, a) for i, (_, a) in zip(instances, found, strict=True)]
        good = [good or close for good, close in zip(done, near, strict=True)]
        within = sum(well and seconds <= target.aim for well, (seconds, _) in zip(good, found, strict=True))
        note = (
            f"{within} of {len(found)} within {target.aim:g} s of cpu, {sum(done)} proven; the slowest took "
            f"{max(seconds for seconds, _ in found):.3g} s"
        )
        gaps = [a.certificate.gap for (_, a), proven in zip(found, done, strict=True) if not proven]
        gap = None if None in gaps else max((g for g in gaps if g is not None), default=0.0)
        return Verdict(proof="valid" if all(done) else "feasible", gap=gap, note=note)

    instances = [target.build(seed) for seed in range(target.seeds)]
    n = next((instance.n for instance in instances if instance is not None), 0)
    case = Case(
        target.label, "all seeds", n, lambda: [target.build(s) for s in range(target.seeds)],
        (Way("all", "drfopt", run, judge),),
    )  # fmt: skip
    return bench.measure("whole-tasks-targets", case)


def _seconds() -> float:
    """Return the cpu seconds of this process and of the solvers that it has started."""
    return math.fsum(os.times()[:4])


def _near(instance: Instance, policy: str, allocation: Allocation) -> bool:
    """Say whether all levels that are not proven are at most one task of their users below their bounds."""
    proof = allocation.certificate.evidence
    level, bound = getattr(proof, "level", None), getattr(proof, "bound", None)
    if level is None or bound is None:
        return False
    rates, tasks = policy_named(policy).exact_rates(instance), allocation.tasks.tolist()
    for value, most in ((level, bound), *((value, most) for value, _, most in getattr(proof, "above", ()))):
        own = [rate for rate, x in zip(rates, tasks, strict=True) if rate * int(x) == value]
        if not own or most - value > max(own):
            return False
    return True


def against_rounds(bench: Bench, size: tuple[str, str, int, int]) -> list[Row]:
    """Measure a complete and proven leximin against one round of the plain statement, by CBC and by HiGHS.

    What PuLP takes to write the program is in it, and CBC's process; scipy's program is written in arrays.
    """
    policy, family, n, seed = size
    in_arrays = Way(
        "scipy + HiGHS", "yardstick", lambda i: lowest_whole_level(i, bench.limit), lambda i, a: without(None)
    )

    def judge(instance: Instance, allocation: Allocation) -> Verdict:
        return Verdict(proof="valid" if allocation.certificate.valid else "feasible", gap=allocation.certificate.gap)

    ways = (
        Way("PuLP + CBC", "yardstick", lambda i: plain(i, policy, bench.limit), lambda i, a: without(None)),
        Way("PuLP + HiGHS", "yardstick", lambda i: plain(i, policy, bench.limit, "HiGHS"), lambda i, a: without(None)),
        *([in_arrays] if policy == "drf" else []),
        Way("drfopt", "drfopt", lambda i: solve(i, policy, integer=True, time_limit=bench.limit), judge),
    )
    case = Case(
        f"{policy}, {family}", f"n = {n}, seed {seed}", n, lambda: pool(family, n, seed), ways,
        yardstick="one round, the fastest",
    )  # fmt: skip
    return bench.measure("whole-tasks-rounds", case)
