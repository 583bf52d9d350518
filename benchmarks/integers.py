"""Questions about whole tasks that are hard: pools of many users, and the openb trace."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from drfopt.io.readers.asking import read
from drfopt.model.allocation import Allocation
from drfopt.model.instance import Instance
from drfopt.model.policies import policy_named
from drfopt.solving.allocating import solve
from formulations import asset_integer, ceei_integer, drf_integer

from .clusters import FILES, cut, data_folder
from .measure import Absent, Bench, Case, Failure, Row, Verdict, Way, proven, without

__all__ = ["Pools", "against_cbc", "complete_against_cbc", "openb", "plain", "pool", "proven_pools", "utilities"]

TASKS = 40
"""Tasks of an average user."""

COMPLETE = 15.0
"""Seconds that CBC gets for all rounds of a complete leximin."""

KEPT = 1e-9
"""Part of a sum of levels that may be lost in a later round: more than is lost in writing it down."""

PLAIN = {"drf": drf_integer, "asset": asset_integer, "ceei": ceei_integer}
"""The plain statements: for leximin one round, which finds the lowest level only."""


@dataclass(frozen=True)
class Pools:
    """Ten made pools: a policy, a kind of demands, users, whether they have limits, and the seconds aimed at."""

    policy: str
    family: str
    n: int
    limited: bool
    aim: float
    seeds: int = 10


def pool(family: str, n: int, seed: int, limited: bool = False) -> Instance:
    """Return a pool of 4 resources.

    ``generic``: demands of 1 to 100, capacities of their own. ``equal``: the same, all capacities equal. ``tied``: all
    capacities equal, and everybody's largest demand the same.
    """
    random = np.random.default_rng([n, seed, len(family)])
    demands = random.integers(1, 101, (n, 4))
    if family == "tied":
        demands = random.integers(1, 51, (n, 4))
        demands[np.arange(n), random.integers(0, 4, n)] = 50
    capacity = np.floor(TASKS * demands.sum(axis=0) * random.uniform(0.9, 1.1, 4))
    if family != "generic":
        capacity = np.full(4, int(TASKS * demands.sum(axis=0).mean()))
    limits = np.where(random.random(n) < 0.5, random.integers(1, 2 * TASKS, n), np.inf)
    return Instance(demands, capacity, max_tasks=limits if limited else None)


def proven_pools(bench: Bench, size: Pools) -> list[Row]:
    """Measure how long ten pools take, one after the other, each proven."""

    def build() -> list[Instance]:
        return [pool(size.family, size.n, seed, size.limited) for seed in range(size.seeds)]

    def run(instances: list[Instance]) -> list[tuple[float, Allocation]]:
        found = []
        for instance in instances:
            begun = time.perf_counter()
            allocation = solve(instance, size.policy, integer=True, time_limit=2 * bench.limit)
            found.append((time.perf_counter() - begun, allocation))
        return found

    def judge(instances: list[Instance], found: list[tuple[float, Allocation]]) -> Verdict:
        within = sum(allocation.status == "optimal" and seconds <= size.aim for seconds, allocation in found)
        slowest = max(seconds for seconds, _ in found)
        note = f"{within} of {len(found)} proven within {size.aim:g} s; the slowest took {slowest:.3g} s"
        proven = all(allocation.status == "optimal" for _, allocation in found)
        return Verdict(proof="valid" if proven else "feasible", note=note)

    limits = ", limits" if size.limited else ""
    case = Case(
        f"{size.policy}, {size.family}{limits}", f"n = {size.n}", size.n, build, (Way("all", "drfopt", run, judge),)
    )
    return bench.measure("whole-tasks-proven", case)


def utilities(bench: Bench, size: tuple[str, int]) -> list[Row]:
    """Measure alpha fairness of one pool beside its Nash product, each proven."""
    family, n = size

    def way(policy: str, role: str) -> Way:
        return Way(
            policy,
            role,
            lambda i: solve(i, policy, integer=True, time_limit=bench.limit),
            lambda i, a: proven(a.certificate),
        )

    ways = (way("ceei", "yardstick"), *(way(f"alpha:{alpha}", "drfopt") for alpha in ("0.5", "2", "5")))
    case = Case(family, f"n = {n}", n, lambda: pool(family, n, 0), ways, yardstick="the Nash product")
    return bench.measure("whole-tasks-alpha", case)


def against_cbc(bench: Bench, size: tuple[str, str, int, int]) -> list[Row]:
    """Measure one pool against PuLP and CBC on the plain statement."""
    policy, family, n, seed = size

    def judge(instance: Instance, allocation: Allocation) -> Verdict:
        proof = allocation.certificate
        return Verdict(proof="valid" if proof.valid else "feasible", violation=proof.violation, gap=proof.gap)

    ways = (
        Way("PuLP + CBC", "yardstick", lambda i: plain(i, policy, bench.limit), lambda i, a: without(None)),
        Way(policy, "drfopt", lambda i: solve(i, policy, integer=True, time_limit=bench.limit), judge),
    )
    group = f"{policy}, {family}"
    case = Case(group, f"n = {n}, seed {seed}", n, lambda: pool(family, n, seed), ways, yardstick="PuLP + CBC, plain")
    return bench.measure("whole-tasks-cbc", case)


def plain(instance: Instance, policy: str, seconds: float, solver: str = "PULP_CBC_CMD") -> Any:
    """Solve the plain statement by CBC, or another solver, gaps 0: for leximin the lowest level alone."""
    import pulp

    built = _stated(instance, policy)
    built.problem.solve(pulp.getSolver(solver, msg=False, timeLimit=seconds, gapRel=0, gapAbs=0))
    if built.problem.sol_status != pulp.LpSolutionOptimal:
        name = "CBC" if "CBC" in solver else solver
        raise Failure(f"{name} ended without an optimum after {seconds:g} s: the ratio is at least that over our time")
    return [variable.value() for variable in built.tasks]


def _stated(instance: Instance, policy: str) -> Any:
    """Return the plain statement of a pool, everybody rising."""
    data = SimpleNamespace(
        demands=instance.demands,
        capacity=instance.capacity,
        machines=None,
        counts=None,
        eligible=None,
        weights=np.ones((instance.n, instance.m)),
        limits=instance.limits,
    )
    return PLAIN[policy].build(data, np.full(instance.n, np.nan))


def complete_against_cbc(bench: Bench, size: tuple[str, str, int, int]) -> list[Row]:
    """Measure one pool against the complete leximin of PuLP and CBC on the plain statement."""
    policy, family, n, seed = size
    seconds = min(COMPLETE, bench.limit)

    def judge(instance: Instance, found: tuple[list[int], int]) -> Verdict:
        tasks, rounds = found
        if rounds < n:
            return without(None, f"out of time in round {rounds + 1} of {n}: ratios to its time are lower bounds")
        rates = policy_named(policy).rates(instance)
        ours = np.sort(rates * solve(instance, policy, integer=True).tasks)
        return without(float(np.abs(np.sort(rates * tasks) / ours - 1).max()))

    ways = (
        Way("PuLP + CBC", "yardstick", lambda i: _leximin(i, policy, seconds), judge),
        Way(
            policy,
            "drfopt",
            lambda i: solve(i, policy, integer=True, time_limit=bench.limit),
            lambda i, a: proven(a.certificate),
        ),
    )
    case = Case(
        f"{policy}, {family}",
        f"n = {n}, seed {seed}",
        n,
        lambda: pool(family, n, seed),
        ways,
        reference="the proven levels",
        yardstick="PuLP + CBC, all levels",
    )
    return bench.measure("whole-tasks-cbc-complete", case)


def _leximin(instance: Instance, policy: str, seconds: float) -> tuple[list[int], int]:
    """Return tasks of the complete leximin by the plain statement and CBC, and how many rounds there was time for.

    Round k maximises the sum of the k lowest levels, those of the rounds before kept: with s_k = k r - sum_i e_i, where
    e_i >= r - level_i and e_i >= 0, no user has to be chosen, and sums of the lowest order allocations as leximin does
    (Ogryczak and Sliwinski, "On direct methods for lexicographic min-max optimization", ICCSA 2006).
    """
    import pulp

    ends = time.perf_counter() + seconds
    built = _stated(instance, policy)
    program, rates = built.problem, policy_named(policy).rates(instance)
    # In units of the smallest step of a level, for CBC's tolerances are absolute.
    levels = [tasks * (rate / rates.min()) for tasks, rate in zip(built.tasks, rates, strict=True)]
    for k in range(1, instance.n + 1):
        kth = pulp.LpVariable(f"r_{k}")
        excess = [pulp.LpVariable(f"e_{k}_{i}", lowBound=0) for i in range(instance.n)]
        for e, level in zip(excess, levels, strict=True):
            program += e >= kth - level
        lowest = k * kth - pulp.lpSum(excess)
        program.setObjective(lowest)
        left = ends - time.perf_counter()
        if left > 0:
            program.solve(pulp.PULP_CBC_CMD(msg=False, timeLimit=left, gapRel=0, gapAbs=0))
        if program.status == pulp.LpStatusInfeasible:
            raise Failure(f"CBC calls round {k} infeasible, which the point of the round before solves")
        if left <= 0 or program.sol_status != pulp.LpSolutionOptimal:
            return [], k - 1
        tasks = [round(variable.value()) for variable in built.tasks]
        # Of the tasks, not of what CBC prints: eight digits are too few to ask for again.
        known = np.sort(rates / rates.min() * tasks)[:k].sum()
        program += lowest >= known * (1 - KEPT)
    return tasks, instance.n


def openb(bench: Bench, pods: int | None) -> list[Row]:
    """Measure DRF in whole tasks on the openb trace; `pods` cuts the list for a quick look."""
    files = [data_folder() / "openb" / name for name in FILES]

    def build() -> Instance | None:
        if not all(file.is_file() for file in files):
            return None
        if pods is None:
            return read("openb", files).instance
        with tempfile.TemporaryDirectory() as folder:
            return read("openb", [cut(file, pods, Path(folder)) for file in files]).instance

    def run(seconds: float | None) -> Callable[[Any], Allocation]:
        def solved(instance: Instance | None) -> Allocation:
            if instance is None:
                raise Absent("the openb trace is not here: set DRFOPT_DATA")
            return solve(instance, "drf", integer=True, time_limit=seconds)

        return solved

    def judge(instance: Instance, allocation: Allocation) -> Verdict:
        proof, continuous = allocation.certificate, solve(instance, "drf").tasks
        placed = instance.n - len(allocation.unplaced)
        short = int((allocation.tasks < np.floor(continuous * (1 + 1e-9))).sum())
        return Verdict(
            proof="valid" if proof.valid else "feasible",
            violation=proof.violation,
            gap=proof.gap,
            note=f"{short} of {placed} users below the whole part of their continuous optimum; {proof.reason}",
        )

    ways = (Way("30 s", "drfopt", run(30.0), judge),)
    if pods is None:
        ways += (Way("no limit", "drfopt", run(None), judge),)
    return bench.measure("whole-tasks-openb", Case("openb", "gpuspec33", pods or 8152, build, ways))
