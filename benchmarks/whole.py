"""Questions about whole tasks: small pools, and the machines of the DRF paper's section 7."""

from collections.abc import Callable

import numpy as np

from drfopt.model.allocation import Allocation
from drfopt.model.instance import Instance
from drfopt.solving.allocating import solve
from drfopt.solving.crosschecking import crosscheck

from . import peers
from .families import whole_pool
from .measure import Bench, Case, Row, Verdict, Way, proven, without

__all__ = ["PAPER", "measure"]

POLICIES = ("drf", "asset", "ceei", "utilitarian")

CROSSCHECKED = 10
"""Users up to which every second way of computing is asked as well, for the reference."""

PAPER = {
    "sec71-phase1": (48, 144),
    "sec71-phase2": (48, 96),
    "sec71-phase3": (44, 78),
    "sec72": (54, 54, 54, 54, 21, 21, 21, 21),
}
"""Tasks under DRF, whole and on the nodes: the paper prints the shares of section 7.1; derived for 7.2."""


def measure(bench: Bench, size: int | str) -> list[Row]:
    """Measure a pool of so many users, or the cluster of the paper that is called so."""
    return _paper(bench, size) if isinstance(size, str) else _pools(bench, size)


def _pools(bench: Bench, n: int) -> list[Row]:
    """Measure four policies on a pool of whole tasks."""
    instance = whole_pool(n)
    ways = tuple(
        _way(policy, bench.limit, _agreement(instance, policy) if n <= CROSSCHECKED else None) for policy in POLICIES
    )
    reference = "crosscheck" if n <= CROSSCHECKED else ""
    return bench.measure(
        "whole-tasks", _case("pools", f"n = {n}", n, lambda: whole_pool(n), ways, reference, bench.limit)
    )


def _paper(bench: Bench, name: str) -> list[Row]:
    """Measure DRF and the others on a cluster of the paper's section 7."""

    def printed(allocation: Allocation) -> float:
        return float(np.abs(np.sort(allocation.tasks) - np.sort(PAPER[name])).max())

    ways = tuple(_way(policy, bench.limit, printed if policy == "drf" else None) for policy in POLICIES)
    instance = Instance.library(name)
    case = _case("section 7", name, instance.n, lambda: Instance.library(name), ways, "the paper's tasks", bench.limit)
    return bench.measure("whole-tasks", case)


def _case(
    group: str,
    name: str,
    n: int,
    build: Callable[[], Instance],
    ways: tuple[Way, ...],
    reference: str,
    seconds: float,
) -> Case:
    single = Way(
        "one MILP",
        "yardstick",
        lambda i: peers.lowest_whole_level(i, seconds),
        lambda i, a: without(None),
    )
    return Case(group, name, n, build, (single, *ways), reference, yardstick="one MILP")


def _way(policy: str, seconds: float, error: Callable[[Allocation], float | None] | None) -> Way:
    def judge(instance: Instance, allocation: Allocation) -> Verdict:
        found = None if error is None else error(allocation)
        evidence = allocation.certificate.evidence
        # Where the exact search gave up, its time is in that of the second solver.
        note = f"{allocation.engine}, judged by {evidence.judge} in {evidence.seconds:.2g} s of it"
        return proven(allocation.certificate, found, note)

    return Way(policy, "drfopt", lambda i: solve(i, policy, integer=True, time_limit=seconds), judge)


def _agreement(instance: Instance, policy: str) -> Callable[[Allocation], float | None]:
    """Return what every other way of computing differs by: 0 where all agree, None where there is no other."""
    checked = crosscheck(instance, policy, integer=True)
    return lambda allocation: checked.max_disagreement
