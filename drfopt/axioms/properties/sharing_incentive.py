"""Sharing incentive: nobody would be better off with her part of every resource to herself.

    x[i] >= tasks that user i could run in (w[i] / sum_k w[k]) of the cluster;

with weights per resource her part of resource j is w[i, j] / sum_k w[k, j].  On machines it is that part of every
machine on which her task fits, divisible tasks running there as on a pool; with whole tasks those on it are rounded
down.
Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 3.
"""

from dataclasses import dataclass
from fractions import Fraction

from ..case import AuditCase
from ..economy import Economy, Number, Row, shown
from ..verdicts import FAILS, Count, Finding, Witness

__all__ = ["NAME", "Alone", "check", "part"]

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
        return (
            f"user {self.user} runs {shown(self.tasks)} tasks, "
            f"but {shown(self.alone)} alone in its part of every resource"
        )


def part(cluster: Economy, i: int) -> Row:
    """Return which part of each resource is user i's by her weight, (m,)."""
    return tuple(cluster.weight(i, j) / whole for j, whole in enumerate(cluster.all_weights))


def check(case: AuditCase) -> Finding:
    """Compare every user's tasks with those in her part of the cluster."""
    count, truth = Count(), case.truth
    for i, user in enumerate(case.cluster.users):
        alone = _alone(case, i)
        if count.falls(truth.tasks[i], alone):
            witness = Alone(user, truth.tasks[i], alone)
            return Finding(NAME, FAILS, witness, exact=not truth.computed, tied=truth.tied)
    settled = BY_PRICES if case.fair_market else ""
    return count.finding(NAME, exact=not truth.computed, settled=settled, tied=truth.tied)


def _alone(case: AuditCase, i: int) -> Number:
    cluster, mine = case.cluster, part(case.cluster, i)
    if cluster.machines is None or not case.integer:
        rooms = (tuple(p * c for p, c in zip(mine, room, strict=True)) for _, room in cluster.classes(i))
        return case.limited(i, sum((case.per_task(i, room) for room in rooms), Fraction(0)))
    whole = Fraction(0)
    for k, _ in cluster.classes(i):
        one = cluster.machines[k]
        whole += one.count * (case.per_task(i, tuple(p * c for p, c in zip(mine, one.capacity, strict=True))) // 1)
    return case.limited(i, whole)
