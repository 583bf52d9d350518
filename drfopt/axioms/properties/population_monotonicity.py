"""Population monotonicity: when a user leaves, nobody who stays runs fewer tasks.

Decided by removing the users one after the other: n outcomes.
Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 3.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ...base.progress import report
from ..case import AuditCase
from ..economy import Economy, Number, shown
from ..verdicts import FAILS, Count, Finding, Witness

__all__ = ["NAME", "Harmed", "asks", "check"]

NAME = "population-monotonicity"


@dataclass(frozen=True)
class Harmed(Witness):
    """A user who runs fewer tasks after another has left."""

    property = NAME
    user: str
    leaver: str
    tasks: Number
    after: Number

    def __str__(self) -> str:
        return (
            f"user {self.leaver} leaves, and user {self.user} runs {shown(self.after)} tasks instead of "
            f"{shown(self.tasks)}"
        )


def asks(case: AuditCase) -> Iterator[Economy]:
    """Yield the clusters whose outcomes are compared."""
    yield case.cluster
    for leaver in range(case.cluster.n if case.cluster.n > 1 else 0):
        yield case.cluster.without(leaver)


def check(case: AuditCase) -> Finding:
    """Remove every user in turn."""
    count, cluster = Count(), case.cluster
    tied = computed = False
    by_a_tie: Finding | None = None
    for leaver in range(cluster.n if cluster.n > 1 else 0):
        report(f"population monotonicity: {leaver} of {cluster.n} users removed")
        staying = [i for i in range(cluster.n) if i != leaver]
        if case.nobody_loses(cluster.without(leaver), staying):
            computed = True
            continue
        truth, after = case.truth, case.without(leaver)
        error, choice = truth.computed or after.computed, truth.tied or after.tied
        tied, computed = tied or choice, computed or error
        for i, x in zip(staying, after.tasks, strict=True):
            if count.falls(x, truth.tasks[i]):
                witness = Harmed(cluster.users[i], cluster.users[leaver], truth.tasks[i], x)
                finding = Finding(NAME, FAILS, witness, exact=not error, tied=choice)
                if not finding.tied:
                    return finding
                by_a_tie = by_a_tie or finding
    return by_a_tie or count.finding(NAME, exact=not computed, tied=tied)
