"""The best misreport against the largest sum of dominant shares in one pool, exactly, from prices of the others'
program.

All in shares: resources have 1 unit, r[k, j] is what user k takes of resource j when her dominant share is 1, b what
user i gets, u limits of the others.  The others make of what she leaves

    V(b) = max sum_k s[k]    subject to  sum_k r[k, j] s[k] <= 1 - b[j],  s[k] <= u[k]
         = min p . (1 - b) + q . u   over the vertices (p, q) of   p . r[k] + q[k] >= 1,  p, q >= 0,

which is concave in b, and a report in proportion to b brings her at least b in some optimum exactly when a little more
of it does not cost the others more than it counts: p . b <= max_j b[j] for some vertex that attains V(b).  That is a
linear program for each vertex and each j, in fractions,

    maximise v    subject to  v r[i] <= b <= 1,  the vertex is no worse than any other at b,  p . b <= b[j],

and where p . b < b[j] she gets it in every optimum.  So a gain that hangs on a tie is told from one that does not.

The best misreport against the largest number of tasks on one pool, exactly.

A user who claims that her task needs next to nothing is served first, whatever the others hold: claiming the fraction
e of her true demand makes her worth 1 / e of a task.  So the most she can get is what she runs alone, and there is a
lie exactly when the truth brings her less.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import comb

from ...base.errors import SolverError
from ...base.solvers.exact_lp import ExactProgram, maximise
from ..case import AuditCase
from ..economy import Row, below, low
from . import misreports
from .misreports import Response, rescaled, worth
from .option_set import OptionMarket, dot, market_of

__all__ = ["best", "most_tasks", "vertices"]


BASES = 5000
"""Sets of rows that are looked at for a vertex; where there are more, reports are tried instead."""

PARTS = tuple(Fraction(k, 8) for k in (7, 6, 4, 2, 1))
"""Parts of the largest gain that are aimed at where the whole of it hangs on a tie."""


@dataclass(frozen=True)
class VertexChoice:
    """A vertex and a resource, and the most user i can have there as a dominant share of her own task, with b (m,)."""

    most: Fraction
    vertex: int
    resource: int
    bundle: Row


def best(case: AuditCase, i: int) -> Response:
    """Return user i's best response."""
    truth, cluster = low(case.truth.tasks[i]), case.cluster
    limit = cluster.limits[i]
    # Weights play no part in the sum.
    market = market_of(replace(cluster, weights=(Fraction(1),) * cluster.n), i, 1)
    if market is None or not market.others or (limit is not None and truth >= limit):
        return Response(None, None, case.truth.tasks[i])
    rows = market.m + sum(other.limit is not None for other in market.others)
    if comb(rows + len(market.others), rows) > BASES:
        return misreports.best(case, i)
    corners = vertices(market)
    choices = [c for v in range(len(corners)) for j in range(market.m) if (c := _most(market, corners, v, j))]
    choices.sort(key=lambda choice: -choice.most)
    most = choices[0].most / market.size
    if low(case.limited(i, most)) <= truth:
        return Response(None, None, case.truth.tasks[i])
    found = _report(case, i, market, corners, choices)
    # How `solve` breaks ties is nobody's theorem: its answers are tried.
    if found.report is not None:
        return found
    tried = misreports.best(case, i)
    return replace(tried, tied=True, most=None if tried.report is None else case.limited(i, most))


def _report(
    case: AuditCase, i: int, market: OptionMarket, corners: Sequence[Row], choices: Sequence[VertexChoice]
) -> Response:
    """Return a report that gains in every optimum, or by a tie as it is broken; none where neither is found."""
    truth = case.truth.tasks[i]
    most = case.limited(i, choices[0].most / market.size)
    known = low(truth) * market.size
    by_a_tie: Response | None = None
    for part in (Fraction(1), *PARTS):
        for choice in choices:
            aim = known + part * (choices[0].most - known)
            if choice.most < aim:
                break
            bundle = _surely(market, corners, choice, aim) or (choice.bundle if part == 1 else None)
            if bundle is None:
                continue
            amounts = [Fraction(0)] * case.cluster.m
            for j, share in zip(market.resources, bundle, strict=True):
                amounts[j] = share * case.cluster.pool[j]
            report = rescaled(case, i, tuple(amounts))
            value, tied = worth(case, i, report)
            if below(truth, value):
                if not tied:
                    return Response(report, value, most, tied=case.truth.tied)
                by_a_tie = by_a_tie or Response(report, value, most, tied=True)
    return by_a_tie or Response(None, None, decided=False, tied=True)


def vertices(market: OptionMarket) -> list[Row]:
    """Return the vertices (p, q) of the others' prices: (m + users with limits,) each."""
    limited = [k for k, other in enumerate(market.others) if other.limit is not None]
    width = market.m + len(limited)
    rows = [(*other.row, *(Fraction(int(k == h)) for h in limited)) for k, other in enumerate(market.others)]
    rows += [tuple(Fraction(int(p == q)) for q in range(width)) for p in range(width)]
    least = [*(Fraction(1) for _ in market.others), *(Fraction(0) for _ in range(width))]
    found: dict[Row, None] = {}
    for chosen in combinations(range(len(rows)), width):
        point = _solved([rows[r] for r in chosen], [least[r] for r in chosen])
        if point is not None and all(dot(row, point) >= bound for row, bound in zip(rows, least, strict=True)):
            found[point] = None
    return list(found)


def _solved(rows: Sequence[Row], right: Sequence[Fraction]) -> Row | None:
    """Return the solution of a square system; None where there is no single one."""
    table = [[*row, value] for row, value in zip(rows, right, strict=True)]
    for column in range(len(table)):
        pivot = next((r for r in range(column, len(table)) if table[r][column]), None)
        if pivot is None:
            return None
        table[column], table[pivot] = table[pivot], table[column]
        head = table[column][column]
        table[column] = [value / head for value in table[column]]
        for r, row in enumerate(table):
            if r != column and row[column]:
                factor = row[column]
                table[r] = [value - factor * other for value, other in zip(row, table[column], strict=True)]
    return tuple(row[-1] for row in table)


def _rows(
    market: OptionMarket, corners: Sequence[Row], v: int, j: int
) -> Iterator[tuple[dict[int, Fraction], Fraction]]:
    """Yield what b (columns 0 to m - 1) and v (column m) obey: coefficients and right-hand side; the cost row first."""
    m, mine = market.m, corners[v]
    room = (*(Fraction(1) for _ in range(m)), *(o.limit for o in market.others if o.limit is not None))
    yield {h: mine[h] - (h == j) for h in range(m)}, Fraction(0)
    for h in range(m):
        yield {h: Fraction(1)}, Fraction(1)
        yield {h: Fraction(-1), m: market.mine[h]}, Fraction(0)
    for other in corners:
        if other != mine:
            difference = tuple(b - a for a, b in zip(mine, other, strict=True))
            yield dict(enumerate(difference[:m])), dot(difference, room)


def _program(rows: Sequence[tuple[dict[int, Fraction], Fraction]], width: int, cost: dict[int, Fraction]) -> Row | None:
    columns: list[dict[int, Fraction]] = [{} for _ in range(width)]
    for r, (row, _) in enumerate(rows):
        for column, value in row.items():
            if value:
                columns[column][r] = value
    worth_of = [cost.get(column, Fraction(0)) for column in range(width)]
    program = ExactProgram(columns, [right for _, right in rows], worth_of)
    try:
        return tuple(maximise(program, range(width, width + len(rows)), "the best misreport").x)
    except SolverError:
        # Nothing she may get makes this vertex the best one.
        return None


def _most(market: OptionMarket, corners: Sequence[Row], v: int, j: int) -> VertexChoice | None:
    found = _program(list(_rows(market, corners, v, j)), market.m + 1, {market.m: Fraction(1)})
    return None if found is None else VertexChoice(found[-1], v, j, found[:-1])


def _surely(market: OptionMarket, corners: Sequence[Row], choice: VertexChoice, aim: Fraction) -> Row | None:
    """Return b that brings so much in every optimum; None where there is none of this choice."""
    m = market.m
    cost, *others = _rows(market, corners, choice.vertex, choice.resource)
    # One column more: by how much p . b is below b[j].
    rows = [(cost[0] | {m + 1: Fraction(1)}, cost[1]), *others, ({m: Fraction(-1)}, -aim)]
    found = _program(rows, m + 2, {m + 1: Fraction(1)})
    return None if found is None or not found[m + 1] else found[:m]


CLAIMS = tuple(Fraction(p, q) for p, q in ((3, 4), (2, 3), (1, 2), (1, 3), (1, 4), (1, 8), (1, 16), (1, 64), (1, 1024)))
"""Fractions of her task that are tried for the sentence; that some fraction pays is known before."""


def most_tasks(case: AuditCase, i: int) -> Response:
    """Return user i's best response."""
    most = case.limited(i, case.per_task(i, case.cluster.pool))
    truth = case.truth.tasks[i]
    if low(most) <= low(truth):
        return Response(None, None, most)
    tied = None
    for claim in CLAIMS:
        report = tuple(claim * d for d in case.cluster.demands[i])
        value, broken = worth(case, i, report)
        if low(value) > low(truth):
            if not broken:
                return Response(report, value, most, tied=case.truth.tied)
            tied = tied or Response(report, value, most, tied=True)
    return tied or Response(None, None, most, decided=False, trials=len(CLAIMS))
