"""Group strategy-proofness, for groups of two: no two users can misreport together so that both run more tasks.

Who gains and who merely does not lose differs between authors; here both must gain.  For policies that fill a pool by
levels of bundles every pair is decided (`drfopt.axioms.manipulation.against_leximin`); elsewhere pairs of reports are
tried, and that nothing is found proves nothing.  Source: Parkes, Procaccia and Shah, Beyond dominant resource fairness,
TEAC 2015 (DRF is group strategy-proof).
"""

from dataclasses import dataclass
from itertools import combinations, islice

from ..case import AuditCase
from ..economy import Number, Row, below, shown, times, total
from ..manipulation import against_leximin
from ..manipulation.misreports import nearby
from ..verdicts import FAILS, HOLDS, UNDECIDED, Finding, Witness, row

__all__ = ["NAME", "Conspiracy", "check"]

NAME = "group-strategy-proofness"

REPORTS = 8
"""Reports of each member that are tried with each of the other's."""


@dataclass(frozen=True)
class Conspiracy(Witness):
    """Two users who misreport together, and both run more tasks."""

    property = NAME
    users: tuple[str, ...]
    reports: tuple[Row, ...]
    tasks: tuple[Number, ...]
    instead: tuple[Number, ...]

    def __str__(self) -> str:
        claims = " and ".join(f"user {u} reports {row(r)}" for u, r in zip(self.users, self.reports, strict=True))
        gains = " and ".join(
            f"{shown(got)} tasks instead of {shown(had)}" for had, got in zip(self.tasks, self.instead, strict=True)
        )
        return f"{claims}, and they run {gains}"


def check(case: AuditCase) -> Finding:
    """Try pairs of reports for every two users."""
    cluster, truth, trials = case.cluster, case.truth, 0
    if _filled(case) and all(against_leximin.pair_gains_nothing(case, *p) for p in combinations(range(cluster.n), 2)):
        return Finding(NAME, HOLDS)
    for pair in combinations(range(cluster.n), 2):
        claims = [[cluster.demands[i], *islice(nearby(case, i, cluster.demands[i]), REPORTS)] for i in pair]
        for one in claims[0]:
            for other in claims[1]:
                trials += 1
                reports = dict(zip(pair, (one, other), strict=True))
                found = case.run(cluster.reporting_all(reports))
                got = [_worth(case, i, reports[i], found.amounts(i)) for i in pair]
                if all(below(truth.tasks[i], value) for i, value in zip(pair, got, strict=True)):
                    witness = Conspiracy(
                        tuple(cluster.users[i] for i in pair),
                        (one, other),
                        tuple(truth.tasks[i] for i in pair),
                        tuple(got),
                    )
                    tied = truth.tied or found.tied
                    return Finding(NAME, FAILS, witness, exact=not truth.computed, trials=trials, tied=tied)
    return Finding(NAME, UNDECIDED, exact=False, trials=trials)


def _filled(case: AuditCase) -> bool:
    """Say whether a filling of a pool by levels of bundles decides the outcome."""
    pool = not case.integer and case.cluster.machines is None
    return pool and case.policy.objective in ("leximin", "servers", "path") and case.policy.measure != "tasks"


def _worth(case: AuditCase, i: int, report: Row, amounts: tuple[Number, ...]) -> Number:
    mine = {k for k, _ in case.cluster.classes(i)}
    return case.limited(i, times(case.per_task(i, report), total(z for k, z in enumerate(amounts) if k in mine)))
