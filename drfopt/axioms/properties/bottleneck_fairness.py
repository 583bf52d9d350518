"""Bottleneck fairness: if all users need the same resource most, the outcome is weighted max-min fairness on it.

Needing it most means that it is the largest share of the whole cluster that her task takes.
Single-resource fairness is the same where there is one resource only.
Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...engines.reference import enumeration
from ...solving.allocating import solve
from ..case import AuditCase
from ..economy import Economy, Number, low, reaches, side_by_side, times
from ..verdicts import FAILS, HOLDS, Count, Finding, Witness, row

__all__ = ["NAME", "SINGLE", "NotMaxMin", "Uneven", "check", "check_single", "fairest", "sorted_shares"]

NAME = "bottleneck-fairness"
SINGLE = "single-resource-fairness"


@dataclass(frozen=True)
class Uneven(Witness):
    """A user below her limit who holds less of a resource for her weight than another."""

    user: str
    other: str
    resource: str
    share: Number
    other_share: Number
    weighted: bool = False

    def __str__(self) -> str:
        per = ", each divided by the user's weight" if self.weighted else ""
        share, other = side_by_side(self.share, self.other_share)
        return (
            f"user {self.user} holds {share} of {self.resource} and could use more, "
            f"while user {self.other} holds {other}{per}"
        )


@dataclass(frozen=True)
class NotMaxMin(Witness):
    """Sorted shares of a resource, below the best that whole tasks allow."""

    resource: str
    shares: tuple[Number, ...]
    best: tuple[Number, ...]
    weighted: bool = False

    def __str__(self) -> str:
        per = ", each divided by the user's weight," if self.weighted else ""
        are = f"shares of {self.resource}{per} are {row(self.shares)}"
        return f"{are}, the lowest first, but {row(self.best)} are possible and fairer"


def check(case: AuditCase) -> Finding:
    """Look for a resource that all users need most, and compare shares of it."""
    if case.cluster.machines is not None:
        return Finding(NAME, HOLDS, note="says nothing of machines")
    shared = [j for j in range(case.cluster.m) if _needed_most(case.cluster, j)]
    if not shared:
        return Finding(NAME, HOLDS, note="no resource is needed most by all")
    findings = [_proportional(case, NAME, j) for j in shared]
    return next((f for f in findings if f.verdict == FAILS), findings[0])


def check_single(case: AuditCase) -> Finding:
    """Compare shares of the only resource."""
    if case.cluster.m > 1:
        return Finding(SINGLE, HOLDS, note=f"says nothing of {case.cluster.m} resources")
    if case.cluster.machines is not None:
        return Finding(SINGLE, HOLDS, note="says nothing of machines")
    return _proportional(case, SINGLE, 0)


def _needed_most(cluster: Economy, j: int) -> bool:
    if not all(cluster.pool):
        return False
    shares = [[d / c for d, c in zip(demand, cluster.pool, strict=True)] for demand in cluster.demands]
    return all(mine[j] == max(mine) for mine in shares)


def _proportional(case: AuditCase, name: str, j: int) -> Finding:
    """Say whether shares of resource j, for the users' weights, are max-min fair."""
    cluster, truth = case.cluster, case.given
    if not cluster.pool[j]:
        return Finding(name, HOLDS, note="there is none of the resource")
    each = [cluster.demands[i][j] / cluster.pool[j] / cluster.weight(i, j) for i in range(cluster.n)]
    shares = [times(rate, x) for rate, x in zip(each, truth.tasks, strict=True)]
    if case.integer:
        return _whole(case, name, j, each, shares)
    count = Count()
    for i, user in enumerate(cluster.users):
        limit = cluster.limits[i]
        if limit is not None and reaches(truth.tasks[i], limit):
            continue
        for k, other in enumerate(cluster.users):
            if k != i and count.falls(shares[i], shares[k]):
                weighted = any(w != 1 for w in (cluster.weight(i, j), cluster.weight(k, j)))
                witness = Uneven(user, other, cluster.resources[j], shares[i], shares[k], weighted)
                return Finding(name, FAILS, witness, exact=not truth.computed, tied=truth.tied)
    settled = "only the resource that all need most is priced" if case.market else ""
    return count.finding(name, exact=not truth.computed, settled=settled, tied=truth.tied)


def _whole(case: AuditCase, name: str, j: int, each: list[Fraction], shares: list[Number]) -> Finding:
    """Compare the sorted shares with the best sorted shares of whole tasks."""
    cluster, truth = case.cluster, case.given
    found, best = tuple(sorted(map(low, shares))), sorted_shares(each, fairest(cluster, j, each))
    if found != best:
        weighted = any(cluster.weight(i, j) != 1 for i in range(cluster.n))
        return Finding(name, FAILS, NotMaxMin(cluster.resources[j], found, best, weighted), tied=truth.tied)
    return Finding(name, HOLDS, tied=truth.tied)


def fairest(cluster: Economy, j: int, each: Sequence[Fraction]) -> tuple[int, ...]:
    """Return whole tasks (n,) in a pool whose shares of resource j, `each` (n,) a task, are leximin."""
    try:
        best = enumeration.optimum(enumeration.leximin(each), cluster.demands, [(cluster.pool, 1)], cluster.limits)
    except enumeration.TooManyToListError:
        found = solve(cluster.instance(), f"single:{cluster.resources[j]}", integer=True)
        return tuple(int(x) for x in found.tasks)
    return max(best.allocations)


def sorted_shares(each: Sequence[Fraction], tasks: Sequence[int]) -> tuple[Fraction, ...]:
    """Return the shares of whole tasks (n,), the lowest first."""
    return tuple(sorted(rate * x for rate, x in zip(each, tasks, strict=True)))
