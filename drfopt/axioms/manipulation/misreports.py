"""What a user can gain by a misreport: the report, what it brings her, and whether nothing brings more.

Misreports found by trying: every resource of the report more or less, from the best report so far.

Reports are tried in floats, a market's in one batch, and the best of them is what is then verified like any other
misreport.  That nothing is found proves nothing, and the number of reports is told.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...base.tolerances import NOTICED
from ...solving.allocating import solve
from ...solving.batches.batch import solve_many
from ..case import AuditCase
from ..economy import Number, Row, below, times

__all__ = ["Response", "best", "brought", "nearby", "rescaled", "worth"]


@dataclass(frozen=True)
class Response:
    """A user's best known response to the truthful reports of the others.

    Attributes
    ----------
    report : (m,) or None
        A demand she may claim; None where no misreport brings more than the truth.
    value : Number or None
        The tasks she runs with what the report brings, recomputed from the policy's outcome.
    most : Number or None
        What no report exceeds, where that is known; it need not be attained.
    decided : bool
        Whether `report` being None means that there is none.
    trials : int
        Reports that were tried where trying was all that could be done.
    tied : bool
        Whether the outcome rests on how the policy breaks a tie; of an undecided response, that every gain does.
    within : Fraction
        By how much of the truth a misreport may still gain where that there is none is decided up to a bound only.
    """

    report: Row | None
    value: Number | None
    most: Number | None = None
    decided: bool = True
    trials: int = 0
    tied: bool = False
    within: Fraction = Fraction(0)


def worth(case: AuditCase, i: int, report: Row) -> tuple[Number, bool]:
    """Return the tasks user i runs with what the report brings her, and whether a tie was broken for it."""
    (value,), tied = brought(case, {i: report})
    return value, tied


def brought(case: AuditCase, reports: Mapping[int, Row]) -> tuple[list[Number], bool]:
    """Return the tasks each of these users runs with what their reports bring, and whether a tie was broken for it."""
    claimed = case.cluster.reporting_all(reports)
    found = case.given_on(claimed)
    if case.packs:
        most = [case.limited(i, times(case.per_task(i, row), found.tasks[i])) for i, row in reports.items()]
        if not all(below(case.chosen.tasks[i], value) for i, value in zip(reports, most, strict=True)):
            return most, found.tied
        # Parts of a task on two machines, or devices, are none: how the tasks are packed matters.
        placed = case.placed(claimed)
        return [case.with_what(placed, i, i, row) for i, row in reports.items()], found.tied
    return [case.with_what(found, i, i, row) for i, row in reports.items()], found.tied


def rescaled(case: AuditCase, i: int, bundle: Row) -> Row:
    """Return the report in proportion to the bundle that equals the true demand where the bundle binds her."""
    each = case.per_task(i, bundle)
    return tuple(b / each for b in bundle)


COMMON = ((2, 1), (1, 2), (3, 2), (2, 3), (4, 1), (1, 4), (3, 1), (5, 4), (4, 5), (21, 20), (20, 21))

FACTORS = tuple(Fraction(p, q) for p, q in COMMON)

ROUNDS = 3
"""Times the search starts again from the best report."""

LOOKS = 3
"""Reports of a round that are verified, the most promising first: ties may spoil one."""


def best(case: AuditCase, i: int) -> Response:
    """Return the best response among the reports tried."""
    truth = case.chosen.tasks[i]
    report, value, trials, tied = None, truth, 0, False
    seen = {case.cluster.demands[i]}
    for _ in range(ROUNDS):
        start = report or case.cluster.demands[i]
        fresh = [row for row in dict.fromkeys(nearby(case, i, start)) if row not in seen]
        seen.update(fresh)
        trials += len(fresh)
        for row in _promising(case, i, fresh, float(value)):
            got, broken = worth(case, i, row)
            if below(value, got) and (not broken or report is None or tied):
                report, value, tied = row, got, broken
        if report is None or report == start:
            break
    if report is None:
        return Response(None, None, decided=False, trials=trials)
    return Response(report, value, None, decided=False, trials=trials, tied=tied or case.truth.tied)


def nearby(case: AuditCase, i: int, report: Row) -> Iterator[Row]:
    """Yield reports that differ from one in one resource, in all but one, or in the size of the task."""
    cluster = case.cluster
    size = max((r / c for r, c in zip(report, cluster.pool, strict=True) if c), default=Fraction(1))
    for j in range(cluster.m):
        for factor in FACTORS:
            # A resource she does not need is claimed in proportion to the largest share of her task.
            mine = report[j] if report[j] else size * cluster.pool[j] / 4
            if mine:
                yield (*report[:j], mine * factor, *report[j + 1 :])
    if cluster.m == 1 or case.policy.measure == "tasks":
        return
    for factor in FACTORS[:4]:
        yield tuple(factor * r for r in report)


def _promising(case: AuditCase, i: int, reports: Sequence[Row], least: float) -> list[Row]:
    """Return the reports that bring more than `least` in floats, the best first."""
    if case.integer or case.cluster.machines is not None or case.policy.objective in ("sum", "path"):
        # Few and whole, or placed, or quickly exact: nothing is saved by asking twice.
        return list(reports)
    values = _floats(case, i, reports)
    order = np.argsort(-values, kind="stable")[:LOOKS]
    return [reports[k] for k in order if values[k] > least * (1 + NOTICED)]


def _floats(case: AuditCase, i: int, reports: Sequence[Row]) -> np.ndarray:
    """Return the tasks, in floats, that user i runs with what each report brings her."""
    cluster = case.cluster
    each = np.array([float(case.per_task(i, report)) for report in reports])
    if case.policy.name == "ceei" and not cluster.weighted_per_resource:
        demands = np.broadcast_to(np.array(cluster.demands, dtype=float), (len(reports), cluster.n, cluster.m)).copy()
        demands[:, i] = np.array(reports, dtype=float)
        limits = [np.inf if limit is None or k == i else float(limit) for k, limit in enumerate(cluster.limits)]
        weights = np.array(cluster.weights, dtype=float)
        capacity = np.array(cluster.pool, dtype=float)
        found = solve_many(demands, capacity, "ceei", weights=weights, limits=np.array(limits))
        tasks = found.tasks[:, i] * each
    else:
        claims = (cluster.reporting(i, report).instance() for report in reports)
        tasks = np.array([float(solve(claim, case.policy).tasks[i]) for claim in claims]) * each
    limit = cluster.limits[i]
    return tasks if limit is None else np.minimum(tasks, float(limit))
