"""The best misreport where tasks are whole, in one pool: she claims what the others would leave her as a single task.

Say a report d brings her k tasks, the others y, under a leximin of shares, or a sum of them.  Then the report

    r = c - sum_h y[h] d[h]        all that the others leave, as one task

brings her at least one such task, which is as much or more: every division with whole r is one with whole multiples
of k d, (1, y) among them, in which her share has only grown, while the divisions that give her nothing are as good as
before.  So the sums of whole tasks of the others name all reports that matter, however small a task she might claim.

Where her tasks are counted (max-min on tasks, the Nash product) the number k matters as well, and r / k is reported for
every k in question.  Under max-min on tasks these are the k up to the first above her weight times the highest level
anybody can have: from there on she counts as the highest in any case, and a smaller k leaves fewer divisions between.
Under the Nash product k is not bounded so simply, and finding nothing is called no more than that; under the largest
number of tasks she has what she would have alone, if she claims tasks small enough.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from ..case import AuditCase
from ..economy import Number, Row, low
from . import misreports
from .misreports import Response

__all__ = ["best", "leftovers"]

REPORTS = 2000
"""Reports that are tried for one user, the most promising first."""

CONFIRMED = 12
"""Reports that gain in some optimum, the largest gains first, of which it is asked whether that is the one given."""

STEPS = 20_000
"""Numbers of tasks of the others that are written down, at most."""

MOST_CLAIMED = 12
"""Numbers of tasks she may claim to need for what is one, under the Nash product."""

SMALL_TASKS = tuple(2**k for k in range(1, 11))
"""Numbers of tasks she may claim to need for what is one, under the largest number of tasks."""


def best(case: AuditCase, i: int) -> Response:
    """Return user i's best response, or the best found where there are too many reports."""
    policy, truth = case.policy, case.chosen.tasks[i]
    if low(truth) >= alone(case, i):
        return Response(None, None, truth)
    if case.cluster.machines is not None or policy.objective not in ("leximin", "servers", "alpha", "sum"):
        return misreports.best(case, i)
    return _Search(case, i).response()


def alone(case: AuditCase, i: int) -> Fraction:
    """Return the whole tasks user i could run if she were alone, which no report exceeds."""
    cluster = case.cluster
    if cluster.machines is None:
        return low(case.limited(i, case.per_task(i, cluster.pool)))
    machines = [cluster.machines[k] for k, _ in cluster.classes(i)]
    most = sum((Fraction(c.count * (case.per_task(i, c.capacity) // 1)) for c in machines), Fraction(0))
    return low(case.limited(i, most))


def leftovers(case: AuditCase, i: int, least: Fraction) -> tuple[list[Row], bool]:
    """Return what the others leave with whole tasks if it is worth so many tasks of user i, and whether that is all."""
    cluster = case.cluster
    spare = tuple(c - least * d for c, d in zip(cluster.pool, cluster.demands[i], strict=True))
    if any(room < 0 for room in spare):
        return [], True
    used: set[Row] = {(Fraction(0),) * cluster.m}
    for k, demand in enumerate(cluster.demands):
        if k == i:
            continue
        limit = cluster.limits[k]
        grown: set[Row] = set()
        for row in used:
            tasks, total = 0, row
            while all(t <= s for t, s in zip(total, spare, strict=True)) and (limit is None or tasks <= limit):
                grown.add(total)
                if len(grown) > STEPS:
                    return [_left(cluster.pool, total) for total in grown], False
                tasks, total = tasks + 1, tuple(t + d for t, d in zip(total, demand, strict=True))
        used = grown
    return [_left(cluster.pool, total) for total in used], True


def _left(pool: Row, used: Row) -> Row:
    return tuple(c - u for c, u in zip(pool, used, strict=True))


@dataclass
class _Search:
    """Reports of user i, tried in order of what they could bring.

    Attributes
    ----------
    gain : report and value, or None
        The best report found that gains in every optimum of it over every optimum of the truth.
    by_a_tie : dict from report to value
        Those that gain over the optimum that is given in one that may be: ties decide.
    highest : Fraction
        What a report brings in the best optimum.
    known : bool
        Whether all optima were known every time.
    """

    case: AuditCase
    i: int
    asked: int = 0
    gain: tuple[Row, Fraction] | None = None
    by_a_tie: dict[Row, Fraction] = field(default_factory=dict)
    highest: Fraction = Fraction(0)
    known: bool = True
    truth: Fraction = Fraction(0)

    def response(self) -> Response:
        """Return the best report, and whether nothing brings more."""
        truth = self.truth = low(self.case.chosen.tasks[self.i])
        decided = self._tried(truth) and self.known
        if self.gain is not None:
            return Response(*self.gain, max(self.gain[1], self.highest) if decided else None, trials=self.asked)
        for report in sorted(self.by_a_tie, key=lambda report: -self.by_a_tie[report])[:CONFIRMED]:
            value = self._worth(report, self.case.given_on(self.case.cluster.reporting(self.i, report)).tasks[self.i])
            if value > truth:
                return Response(report, value, None, trials=self.asked, tied=True)
        if decided and self.highest <= truth:
            return Response(None, None, truth)
        return Response(None, None, decided=False, trials=0 if decided else self.asked, tied=decided)

    def _tried(self, truth: Fraction) -> bool:
        """Try the reports until none left could bring more than one found; say whether that was all of them."""
        case, i = self.case, self.i
        if case.cluster.n == 1:
            return True
        span, demand = case.truth.span, case.cluster.demands[i]
        floor = truth if span is None else self._worth(demand, span[i][1])
        left, complete = leftovers(case, i, truth + 1)
        pieces, all_pieces = self._pieces()
        by_value: dict[Fraction, list[Row]] = {}
        for row in left:
            by_value.setdefault(low(case.limited(i, case.per_task(i, row))), []).append(row)
        for most in sorted(by_value, reverse=True):
            if self.gain is not None and most <= self.gain[1]:
                break
            # A multiple of the truth makes the simplest story.
            rows: Sequence[Row] = [tuple(most * d for d in demand), *sorted(by_value[most])]
            for row, k in product(dict.fromkeys(rows), pieces):
                if self.asked >= REPORTS:
                    return False
                self._try(tuple(r / k for r in row), floor)
                if self.gain is not None and most <= self.gain[1]:
                    break
        return complete and all_pieces

    def _try(self, report: Row, floor: Fraction) -> None:
        least, value, most = self._brings(report)
        self.highest = max(self.highest, most)
        if least > floor and (self.gain is None or value > self.gain[1]):
            self.gain = report, value
        elif most > self.truth:
            self.by_a_tie[report] = most

    def _pieces(self) -> tuple[Sequence[int], bool]:
        """Return how many tasks she claims to need for what is left, and whether no other number matters."""
        case, i, cluster = self.case, self.i, self.case.cluster
        policy = case.policy
        if policy.alpha == 1:
            return range(1, MOST_CLAIMED + 1), False
        if policy.measure != "tasks":
            return (1,), True
        if policy.objective == "sum":
            return SMALL_TASKS, False
        others = (k for k in range(cluster.n) if k != i)
        level = max((alone(case, k) / cluster.weights[k] for k in others), default=Fraction(0))
        return range(1, math.floor(level * cluster.weights[i]) + 2), True

    def _brings(self, report: Row) -> tuple[Fraction, Fraction, Fraction]:
        """Return what a report brings in the worst optimum, in the one the policy takes, and in the best."""
        found = self.case.run(self.case.cluster.reporting(self.i, report))
        self.asked += 1
        value = self._worth(report, found.tasks[self.i])
        if found.span is None:
            self.known = False
            return (Fraction(0) if found.tied else value), value, value
        least, most = found.span[self.i]
        return self._worth(report, least), value, self._worth(report, most)

    def _worth(self, report: Row, tasks: Number) -> Fraction:
        return low(self.case.limited(self.i, self.case.per_task(self.i, report) * low(tasks)))
