"""The most user i can get in a market, proposed in floats: the program of `option_set` in Clarabel's cones.

A price and a share with s^alpha q >= w^alpha lie in a power cone, and so do spending and price.  Nothing here is
believed: prices are rounded to fractions, and the bound at them is exact.
"""

from fractions import Fraction

import numpy as np

from ..economy import Row
from .option_set import OptionMarket, sets

__all__ = ["optima"]

TIGHT = 1e-12
"""Tolerances asked of Clarabel: the bound is off by what its prices are off, and it may stop before, almost there."""


def optima(market: OptionMarket, target: Fraction) -> list[tuple[float, Row]]:
    """Return value and prices (m,) of the program of every set of users at their limits, the best first, in floats."""
    found = []
    for at_limit in sets(market):
        solved = _solved(market, at_limit, float(target))
        if solved is not None:
            found.append(solved)
    return sorted(found, reverse=True)


def _solved(market: OptionMarket, at_limit: frozenset[int], target: float) -> tuple[float, Row] | None:
    """Return value and prices of one program by Clarabel; None where it has no solution or none is found."""
    import clarabel  # type: ignore[import-untyped]
    from scipy import sparse

    m, alpha = market.m, float(market.alpha)
    free = [k for k in range(len(market.others)) if k not in at_limit]
    # Columns: prices (m), v, shares of the free, what they spend where that is no constant.
    share_of = {k: m + 1 + f for f, k in enumerate(free)}
    spent_of = {k: m + 1 + len(free) + f for f, k in enumerate(free)} if alpha != 1 else {}
    width = m + 1 + len(free) + len(spent_of)
    rows: list[np.ndarray] = []
    constants: list[float] = []

    def add(constant: float, entries: dict[int, float]) -> None:
        row = np.zeros(width)
        for column, value in entries.items():
            row[column] = value
        rows.append(-row)
        constants.append(constant)

    def priced(k: int, factor: float = 1.0) -> dict[int, float]:
        return {j: factor * float(r) for j, r in enumerate(market.others[k].row)}

    limit = {k: float(other.limit) for k, other in enumerate(market.others) if other.limit is not None}
    income = [float(other.income) for other in market.others]
    for j in range(m):
        entries = {share_of[k]: -float(market.others[k].row[j]) for k in free} | {m: -float(market.mine[j])}
        add(1 - sum(limit[k] * float(market.others[k].row[j]) for k in at_limit), entries)
        add(0.0, {j: 1.0})
    mine = float(market.income) ** alpha * target ** (1 - alpha)
    budget = {j: -1 + sum(limit[k] * float(market.others[k].row[j]) for k in at_limit) for j in range(m)}
    fixed = mine + (sum(income[k] for k in free) if alpha == 1 else 0.0)
    add(fixed, budget | dict.fromkeys(spent_of.values(), 1.0))
    for k, most in limit.items():
        end, sign = (income[k] / most) ** alpha, 1 if k in at_limit else -1
        add(sign * end, priced(k, -sign))
    cones = [clarabel.NonnegativeConeT(len(rows))]
    for k in free:
        add(0.0, {share_of[k]: 1.0})
        add(0.0, priced(k))
        add(income[k] ** (alpha / (1 + alpha)), {})
        cones.append(clarabel.PowerConeT(alpha / (1 + alpha)))
    for k, column in spent_of.items():
        add(0.0, priced(k))
        add(1.0, {})
        add(0.0, {column: 1 / income[k]})
        cones.append(clarabel.PowerConeT(1 - 1 / alpha))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TIGHT
    objective = np.zeros(width)
    objective[m] = -1.0
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((width, width)),
        objective,
        sparse.csc_matrix(np.array(rows)),
        np.array(constants),
        cones,
        settings,
    )
    answer = solver.solve()
    if str(answer.status) not in ("Solved", "AlmostSolved"):
        return None
    prices = tuple(Fraction(max(p, 0.0)) for p in answer.x[:m])
    return (float(answer.x[m]), prices) if any(prices) else None
