"""A linear program in fractions: the simplex method with Bland's rule, for the few users of an audit.

Given   v[i]      value of one task of user i, not negative     (n,)
        rows      what one task of each user takes of each room (r, n), not negative
        room      (r,), not negative

Find    x >= 0 tasks of the users

    maximise    sum_i v[i] x[i]
    subject to  sum_i rows[r][i] x[i] <= room[r]     for every r

Nobody's tasks is a feasible start, so one phase is enough; Bland's rule cannot cycle.
"""

from collections.abc import Sequence
from fractions import Fraction

__all__ = ["largest"]


def largest(
    values: Sequence[Fraction], rows: Sequence[Sequence[Fraction]], room: Sequence[Fraction]
) -> tuple[list[Fraction], bool]:
    """Return an optimal vertex (n,), and whether it is certainly the only optimum.

    Examples
    --------
    >>> largest([Fraction(1), Fraction(1)], [[Fraction(1), Fraction(3)], [Fraction(4), Fraction(1)]], [9, 18])
    ([Fraction(45, 11), Fraction(18, 11)], True)
    """
    n, r = len(values), len(rows)
    table = [
        [*row, *(Fraction(int(p == q)) for q in range(r)), Fraction(limit)]
        for p, (row, limit) in enumerate(zip(rows, room, strict=True))
    ]
    cost = [*values, *(Fraction(0) for _ in range(r + 1))]
    basis = list(range(n, n + r))
    while (entering := next((q for q in range(n + r) if cost[q] > 0), None)) is not None:
        ratios = [(row[-1] / row[entering], basis[p], p) for p, row in enumerate(table) if row[entering] > 0]
        _, _, leaving = min(ratios)
        _pivot(table, cost, leaving, entering)
        basis[leaving] = entering
    tasks = [Fraction(0)] * (n + r)
    for p, column in enumerate(basis):
        tasks[column] = table[p][-1]
    outside = set(range(n + r)) - set(basis)
    return tasks[:n], all(cost[q] < 0 for q in outside)


def _pivot(table: list[list[Fraction]], cost: list[Fraction], leaving: int, entering: int) -> None:
    pivot = table[leaving][entering]
    table[leaving] = chosen = [value / pivot for value in table[leaving]]
    for p, row in enumerate(table):
        if p != leaving and row[entering]:
            factor = row[entering]
            table[p] = [value - factor * other for value, other in zip(row, chosen, strict=True)]
    factor = cost[entering]
    cost[:] = [value - factor * other for value, other in zip(cost, chosen, strict=True)]
