"""Sharing incentive: nobody would be better off with her part of every resource to herself.

    x[i] >= tasks that user i could run in (w[i] / sum_k w[k]) of the cluster;

with weights per resource her part of resource j is w[i, j] / sum_k w[k, j].  On machines it is that part of every
machine on which her task fits, divisible tasks running there as on a pool; with whole tasks those on it are rounded
down.
Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 3.

No justified complaints: everybody below her limit holds her part of some resource that is used up.
Whoever gets w[i] / sum_k w[k] of a bottleneck has her due of what is scarce.  It implies sharing incentive and Pareto
efficiency, but not envy-freeness.
Source: Dolev, Feitelson, Halpern, Kupferman and Linial, No justified complaints, ITCS 2012.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from ...base.numbers.shown import counted
from ..case import AuditCase
from ..economy import Economy, Number, Row, below, low, reaches, shown, side_by_side, times, total
from ..verdicts import FAILS, HOLDS, UNDECIDED, Count, Finding, Witness

__all__ = ["NAME", "NO_COMPLAINTS", "Alone", "ComplaintWitness", "alone", "check", "check_complaints", "part"]

NAME = "sharing-incentive"

BY_PRICES = "its part of everything costs no more than its income at any prices that clear"
"""Why x[i] = w[i] / (p . d[i]) reaches (w[i] / W) c[j] / d[i, j] for some j she needs: p . c is at most W."""


@dataclass(frozen=True)
class Alone(Witness):
    """A user who would run more tasks alone in her part of the cluster."""

    property = NAME
    user: str
    tasks: Number
    alone: Number

    def __str__(self) -> str:
        tasks, alone = side_by_side(self.tasks, self.alone)
        return f"user {self.user} runs {counted(tasks, 'task')}, but {alone} alone in its part of every resource"


def part(cluster: Economy, i: int) -> Row:
    """Return which part of each resource is user i's by her weight, (m,)."""
    return tuple(cluster.weight(i, j) / whole for j, whole in enumerate(cluster.all_weights))


def check(case: AuditCase) -> Finding:
    """Compare every user's tasks with those in her part of the cluster."""
    count, truth = Count(), case.given
    for i, user in enumerate(case.cluster.users):
        most = alone(case, i)
        if count.falls(truth.tasks[i], most):
            witness = Alone(user, truth.tasks[i], most)
            return Finding(NAME, FAILS, witness, exact=not truth.computed, tied=truth.tied)
    settled = BY_PRICES if case.fair_market else ""
    return count.finding(NAME, exact=not truth.computed, settled=settled, tied=truth.tied)


def alone(case: AuditCase, i: int) -> Number:
    """Return the tasks user i would run alone in her part of every machine, or of the pool."""
    cluster, mine = case.cluster, part(case.cluster, i)
    if cluster.machines is None or not case.integer:
        rooms = (tuple(p * c for p, c in zip(mine, room, strict=True)) for _, room in cluster.classes(i))
        return case.limited(i, sum((case.per_task(i, room) for room in rooms), Fraction(0)))
    whole = 0
    for k, _ in cluster.classes(i):
        one = cluster.machines[k]
        tasks = math.floor(case.per_task(i, tuple(p * c for p, c in zip(mine, one.capacity, strict=True))))
        held = {j: of.part(mine[j]) for j, of in one.devices}
        whole += one.count * case.on_devices(i, k, tasks, held)
    return case.limited(i, Fraction(whole))


NO_COMPLAINTS = "no-justified-complaints"


@dataclass(frozen=True)
class ComplaintWitness(Witness):
    """A user below her limit who holds less than her part of every resource that is used up."""

    property = NO_COMPLAINTS
    user: str
    tasks: Number
    part: Fraction
    most: Number
    resource: str

    def __str__(self) -> str:
        if not self.resource:
            return f"user {self.user} runs {counted(shown(self.tasks), 'task')}, and needs nothing that is used up"
        most, part = side_by_side(self.most, self.part)
        return (
            f"user {self.user} holds {most} of {self.resource} and no more of any resource that is used "
            f"up, though {part} is its part"
        )


def check_complaints(case: AuditCase) -> Finding:
    """Ask every user below her limit for a used-up resource of which she holds her part."""
    cluster, truth = case.cluster, case.given
    if cluster.machines is not None:
        return Finding(NO_COMPLAINTS, UNDECIDED, exact=False, note="defined here for one pool only")
    used = [
        total(times(row[j], x) for x, row in zip(truth.tasks, cluster.demands, strict=True)) for j in range(cluster.m)
    ]
    full = [j in truth.priced or reaches(used[j], c) for j, c in enumerate(cluster.pool)]
    idle = [not full[j] and below(used[j], c) for j, c in enumerate(cluster.pool)]
    undecided = 0
    for i, user in enumerate(cluster.users):
        x, limit, mine = truth.tasks[i], cluster.limits[i], part(cluster, i)
        stuck = any(
            d and (d > c if case.integer else not c) for d, c in zip(cluster.demands[i], cluster.pool, strict=True)
        )
        if stuck or (limit is not None and reaches(x, limit)):
            continue
        held = {j: times(cluster.demands[i][j] / c, x) for j, c in enumerate(cluster.pool) if c}
        if any(full[j] and reaches(share, mine[j]) for j, share in held.items()):
            continue
        if all(idle[j] or below(share, mine[j]) for j, share in held.items()):
            scarce = [j for j in held if full[j]]
            best = max(scarce, key=lambda j: low(held[j]), default=None)
            name = "" if best is None else cluster.resources[best]
            most = Fraction(0) if best is None else held[best]
            witness = ComplaintWitness(user, x, mine[best or 0], most, name)
            return Finding(NO_COMPLAINTS, FAILS, witness, exact=not truth.computed, tied=truth.tied)
        undecided += 1
    if undecided:
        # At an irrational equilibrium shares of exactly w / W are enclosed and not decided.
        return _by_prices(case)
    return Finding(NO_COMPLAINTS, HOLDS, exact=not truth.computed, tied=truth.tied)


def _by_prices(case: AuditCase) -> Finding:
    """A market without limits has no justified complaints: incomes are spent on what is used up.

    Were a user's share of every priced resource below her part w / W, she would spend less than w.
    """
    cluster = case.cluster
    if case.market and case.policy.alpha == 1 and all(limit is None for limit in cluster.limits):
        return Finding(NO_COMPLAINTS, HOLDS, note="it spends its whole income on what is used up")
    return Finding(NO_COMPLAINTS, UNDECIDED, exact=False, trials=cluster.n)
