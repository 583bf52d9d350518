"""No justified complaints: everybody below her limit holds her part of some resource that is used up.

Whoever gets w[i] / sum_k w[k] of a bottleneck has her due of what is scarce.  It implies sharing incentive and Pareto
efficiency, but not envy-freeness.
Source: Dolev, Feitelson, Halpern, Kupferman and Linial, No justified complaints, ITCS 2012.
"""

from dataclasses import dataclass
from fractions import Fraction

from ..case import AuditCase
from ..economy import Number, below, low, reaches, shown, times, total
from ..verdicts import FAILS, HOLDS, UNDECIDED, Finding, Witness
from .sharing_incentive import part

__all__ = ["NAME", "ComplaintWitness", "check"]

NAME = "no-justified-complaints"


@dataclass(frozen=True)
class ComplaintWitness(Witness):
    """A user below her limit who holds less than her part of every resource that is used up."""

    property = NAME
    user: str
    tasks: Number
    part: Fraction
    most: Number
    resource: str

    def __str__(self) -> str:
        if not self.resource:
            return f"user {self.user} runs {shown(self.tasks)} tasks, and needs nothing that is used up"
        return (
            f"user {self.user} holds {shown(self.most)} of {self.resource} and no more of any resource that is used "
            f"up, though {shown(self.part)} is its part"
        )


def check(case: AuditCase) -> Finding:
    """Ask every user below her limit for a used-up resource of which she holds her part."""
    cluster, truth = case.cluster, case.truth
    if cluster.machines is not None:
        return Finding(NAME, UNDECIDED, exact=False, note="defined here for one pool only")
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
            return Finding(NAME, FAILS, witness, exact=not truth.computed, tied=truth.tied)
        undecided += 1
    if undecided:
        # At an irrational equilibrium shares of exactly w / W are enclosed and not decided.
        return _by_prices(case)
    return Finding(NAME, HOLDS, exact=not truth.computed, tied=truth.tied)


def _by_prices(case: AuditCase) -> Finding:
    """A market without limits has no justified complaints: incomes are spent on what is used up.

    Were a user's share of every priced resource below her part w / W, she would spend less than w.
    """
    cluster = case.cluster
    if case.market and case.policy.alpha == 1 and all(limit is None for limit in cluster.limits):
        return Finding(NAME, HOLDS, note="it spends its whole income on what is used up")
    return Finding(NAME, UNDECIDED, exact=False, trials=cluster.n)
