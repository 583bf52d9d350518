"""Strategy-proofness: nobody runs more tasks, by her true demand, after a misreport about it.

Her report may claim any demand, and asks for tasks without an end; what it brings is worth
min over j of (bundle[j] / d[i, j]) to her, at most her limit.  The best misreport is exact where the policy's structure
allows it, by trials elsewhere: the folder `drfopt.axioms.manipulation` has a file for each kind of policy.
Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 3.

Group strategy-proofness, for groups of two: no two users can misreport together so that both run more tasks.
Who gains and who merely does not lose differs between authors; here both must gain.  For policies that fill a pool by
levels of bundles every pair is decided (`drfopt.axioms.manipulation.against_leximin`); elsewhere pairs of reports are
tried, and that nothing is found proves nothing.  Source: Parkes, Procaccia and Shah, Beyond dominant resource fairness,
TEAC 2015 (DRF is group strategy-proof).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice

from ...base.numbers.shown import counted
from ...base.progress import report as say
from ..case import AuditCase
from ..economy import Number, Row, below, shown, shown_above, side_by_side
from ..manipulation import (
    against_leximin,
    against_markets,
    against_sums,
    against_two_prices,
    against_whole_tasks,
    misreports,
)
from ..manipulation.misreports import Response, brought, nearby
from ..verdicts import FAILS, HOLDS, UNDECIDED, Finding, Witness, row

__all__ = ["NAME", "PAIRS", "Conspiracy", "Misreport", "best_response", "check", "check_pairs"]


def best_response(case: AuditCase, i: int) -> Response:
    """Return user i's best response to the truth of the others."""
    responses = (best(case, i) for takes, best in KINDS if takes(case))
    return next(r for r in responses if r.decided or r.trials or r.tied)


def _pool(case: AuditCase) -> bool:
    return not case.integer and case.cluster.machines is None


def _two_resources(case: AuditCase) -> bool:
    cluster = case.cluster
    unlimited = all(limit is None for limit in cluster.limits)
    return _pool(case) and cluster.m == 2 and all(cluster.pool) and unlimited


def _one_resource(case: AuditCase, i: int) -> Response:
    """What one resource brings a user depends on her weight and not on her report."""
    return Response(None, None, case.truth.tasks[i])


KINDS: tuple[tuple[Callable[[AuditCase], bool], Callable[[AuditCase, int], Response]], ...] = (
    (lambda s: s.integer, against_whole_tasks.best),
    (lambda s: _pool(s) and s.policy.objective in ("leximin", "servers"), against_leximin.best),
    (lambda s: _pool(s) and s.policy.path is not None, against_leximin.along_path),
    (lambda s: not s.integer and s.policy.objective == "servers", against_leximin.on_servers),
    (lambda s: _pool(s) and s.policy.objective == "alpha" and s.cluster.m == 1, _one_resource),
    (lambda s: _two_resources(s) and s.policy.alpha == 1, against_two_prices.best),
    (lambda s: s.market and s.fair_market, against_markets.best),
    (lambda s: _pool(s) and s.policy.objective == "sum" and s.policy.measure == "tasks", against_sums.most_tasks),
    (lambda s: _pool(s) and s.policy.objective == "sum" and s.policy.measure == "dominant", against_sums.best),
    (lambda s: True, misreports.best),
)
"""The first row that takes the case decides it; what it leaves open the next one is asked, and the last one tries."""


NAME = "strategy-proofness"


@dataclass(frozen=True)
class Misreport(Witness):
    """A report that brings a user more than the truth; `most` is what no report exceeds, where that is known.

    Who reports asks for tasks without an end: a `limit` (None for none) is of the true tasks.
    """

    property = NAME
    user: str
    demand: Row
    report: Row
    tasks: Number
    instead: Number
    most: Number | None = None
    limit: Fraction | None = None

    def __str__(self) -> str:
        told, true = map(", ".join, zip(*map(side_by_side, self.report, self.demand), strict=True))
        instead, tasks = side_by_side(self.instead, self.tasks)
        said = (
            f"user {self.user} reports ({told}){without(self.limit)} instead of ({true}) "
            f"and runs {counted(instead, 'task')} instead of {tasks}"
        )
        if self.most is None:
            return said
        if self.most == self.instead:
            return f"{said}; no report brings more"
        return f"{said}; no report brings more than {shown_above(self.most)}"


def without(limit: Fraction | None) -> str:
    """Return what a report leaves out beside the demand."""
    return "" if limit is None else f" and no limit (it has one of {shown(limit)})"


def check(case: AuditCase) -> Finding:
    """Ask every user for her best response."""
    truth, trials, decided, tied = case.chosen, 0, True, case.truth.tied
    within, open_to_trials = Fraction(0), False
    misreport: tuple[Misreport, bool] | None = None
    for i, user in enumerate(case.cluster.users):
        say(f"strategy-proofness: {i} of {case.cluster.n} users asked")
        response = best_response(case, i)
        trials += response.trials
        within = max(within, response.within)
        if response.report is not None and response.value is not None and below(truth.tasks[i], response.value):
            numbers = (truth.tasks[i], response.value, response.most)
            found = Misreport(user, case.cluster.demands[i], response.report, *numbers, case.cluster.limits[i])
            if misreport is None or (misreport[1] and not response.tied):
                misreport = found, response.tied
            if not response.tied:
                break
        elif not response.decided:
            decided, open_to_trials = False, open_to_trials or not response.tied
    if misreport is not None:
        witness, broken = misreport
        return Finding(NAME, FAILS, witness, exact=not truth.computed, trials=trials, tied=broken)
    if decided and within:
        return Finding(NAME, HOLDS, exact=False, note=f"no report brings more than (1 + {_rounded_up(within)}) times")
    if decided:
        return Finding(NAME, HOLDS, exact=not truth.computed, tied=tied)
    note = "" if open_to_trials else "whether anybody gains by a misreport is decided by how ties are broken"
    return Finding(NAME, UNDECIDED, exact=False, trials=trials, note=note, tied=tied)


def _rounded_up(within: Fraction) -> str:
    """Return the power of ten that is not below."""
    return f"1e{math.ceil(math.log10(within))}"


PAIRS = "group-strategy-proofness"

REPORTS = 8
"""Reports of each member that are tried with each of the other's."""


@dataclass(frozen=True)
class Conspiracy(Witness):
    """Two users who misreport together, and both run more tasks."""

    property = PAIRS
    users: tuple[str, ...]
    reports: tuple[Row, ...]
    tasks: tuple[Number, ...]
    instead: tuple[Number, ...]
    limits: tuple[Fraction | None, ...] = ()

    def __str__(self) -> str:
        limits = self.limits or (None,) * len(self.users)
        told = zip(self.users, self.reports, limits, strict=True)
        claims = " and ".join(f"user {user} reports {row(report)}{without(limit)}" for user, report, limit in told)
        gains = " and ".join(
            "{} tasks instead of {}".format(*side_by_side(got, had))
            for had, got in zip(self.tasks, self.instead, strict=True)
        )
        return f"{claims}, and they run {gains}"


def check_pairs(case: AuditCase) -> Finding:
    """Try pairs of reports for every two users."""
    cluster, truth, trials = case.cluster, case.chosen, 0
    if _filled(case) and all(against_leximin.pair_gains_nothing(case, *p) for p in combinations(range(cluster.n), 2)):
        return Finding(PAIRS, HOLDS)
    for pair in combinations(range(cluster.n), 2):
        claims = [[cluster.demands[i], *islice(nearby(case, i, cluster.demands[i]), REPORTS)] for i in pair]
        for one in claims[0]:
            for other in claims[1]:
                trials += 1
                reports = dict(zip(pair, (one, other), strict=True))
                got, broken = brought(case, reports)
                if all(below(truth.tasks[i], value) for i, value in zip(pair, got, strict=True)):
                    witness = Conspiracy(
                        tuple(cluster.users[i] for i in pair),
                        (one, other),
                        tuple(truth.tasks[i] for i in pair),
                        tuple(got),
                        tuple(cluster.limits[i] for i in pair),
                    )
                    tied = truth.tied or broken
                    return Finding(PAIRS, FAILS, witness, exact=not truth.computed, trials=trials, tied=tied)
    return Finding(PAIRS, UNDECIDED, exact=False, trials=trials)


def _filled(case: AuditCase) -> bool:
    """Say whether a filling of a pool by levels of bundles decides the outcome."""
    pool = not case.integer and case.cluster.machines is None
    return pool and case.policy.objective in ("leximin", "servers", "path") and case.policy.measure != "tasks"
