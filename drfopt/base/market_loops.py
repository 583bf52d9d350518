"""What users of a pool buy at given prices, and whether that is right, as compiled loops (`loops`): a pass each.

What some users need lies in the first cache, two columns are looked at together, and within `TILE` users sums are added
in any order, so that several are added at once.
"""

import numpy as np

__all__ = ["respond", "spend"]

TILE = 1 << 7
"""Users who are looked at together."""


def respond(
    demands: np.ndarray,
    prices: np.ndarray,
    unit: np.ndarray,
    budgets: np.ndarray,
    limits: np.ndarray,
    power: float,
    rows: tuple[int, int],
    tasks: np.ndarray,
    used: np.ndarray,
    bend: np.ndarray,
) -> None:
    """Add what some users use, and how that bends, to sums (m,) and the lower half of (m, m).

    Parameters
    ----------
    demands : array (m, n)
    prices, unit : arrays (m,)
        Price of a unit, and what part of its resource it is.
    budgets : array (n,) or (1,)
        Tasks bought where one costs 1; one number where all have the same.
    limits : array (n,), or (0,) where nobody has one
    power : float
        Of what a task costs, to which tasks are in proportion.
    rows : two ints
        The first of the users, and where they end.
    tasks : array (n,) to be written, or (0,)
    bend : array (m, m), or (0, 0) where it is not asked for
    """
    m = len(demands)
    costs, amounts, scaled = np.empty(TILE), np.empty(TILE), np.empty((m, TILE))
    for a in range(rows[0], rows[1], TILE):
        b = min(a + TILE, rows[1])
        n = b - a
        cost, x = costs[:n], amounts[:n]
        for p in range(n):
            cost[p] = 0.0
        for j in range(0, m, 2):
            k = min(j + 1, m - 1)
            price, last, one, two = prices[j], prices[k] * (k - j), demands[j, a:b], demands[k, a:b]
            for p in range(n):
                cost[p] += price * one[p] + last * two[p]
        if power == -1.0:
            for p in range(n):
                x[p] = 1.0 / cost[p]
        else:
            for p in range(n):
                x[p] = cost[p] ** power
        if len(budgets) == 1:
            for p in range(n):
                x[p] *= budgets[0]
        else:
            budget = budgets[a:b]
            for p in range(n):
                x[p] *= budget[p]
        if len(limits):
            most = limits[a:b]
            for p in range(n):
                x[p] = most[p] if x[p] > most[p] else x[p]
        for p in range(n if len(tasks) else 0):
            tasks[a + p] = x[p]
        for j in range(0, m, 2):
            k = min(j + 1, m - 1)
            first, second, one, two = 0.0, 0.0, demands[j, a:b], demands[k, a:b]
            for p in range(n):
                first += one[p] * x[p]
                second += two[p] * x[p]
            used[j] += first
            used[k] += second * (k - j)
        if not len(bend):
            continue
        # The root of x / q by way of the money x q, which is in the range of floats where x / q need not be.
        for p in range(n):
            cost[p] = x[p] / np.sqrt(cost[p] * x[p])
        if len(limits):
            most = limits[a:b]
            for p in range(n):
                cost[p] = 0.0 if x[p] >= most[p] else cost[p]
        for j in range(m):
            part, row, mine = unit[j], demands[j, a:b], scaled[j, :n]
            for p in range(n):
                mine[p] = row[p] * cost[p] * part
            for k in range(j + 1):
                total, other = 0.0, scaled[k, :n]
                for p in range(n):
                    total += mine[p] * other[p]
                bend[j, k] += total


def spend(
    demands: np.ndarray,
    prices: np.ndarray,
    weights: np.ndarray,
    limits: np.ndarray,
    tasks: np.ndarray,
    at_limit: float,
    rows: tuple[int, int],
    used: np.ndarray,
    found: np.ndarray,
) -> int:
    """Add what some users use to sums (m,), and find how far they are off their best responses under ceei.

    Parameters
    ----------
    demands : array (m, n)
    prices : array (m,)
        Of a unit.
    weights : array (n,) or (1,)
    limits : array (n,), or (0,) where nobody has one
    tasks : array (n,)
    at_limit : float
        Part of a limit from which on users are at it.
    rows : two ints
        The first of the users, and where they end.
    found : array (5,)
        Money, and money times the square of what they are off, to be added to; the most that somebody is off, the most
        that somebody who is at a limit is away from it, and the least money of who has tasks.

    Returns
    -------
    int
        Who is off by most.
    """
    m, who = len(demands), rows[0]
    offs, moneys = np.empty(TILE), np.empty(TILE)
    for a in range(rows[0], rows[1], TILE):
        b = min(a + TILE, rows[1])
        n = b - a
        off, money, x = offs[:n], moneys[:n], tasks[a:b]
        for p in range(n):
            off[p] = 0.0
        for j in range(0, m, 2):
            k = min(j + 1, m - 1)
            price, last, one, two = prices[j], prices[k] * (k - j), demands[j, a:b], demands[k, a:b]
            first, second = 0.0, 0.0
            for p in range(n):
                off[p] += price * one[p] + last * two[p]
                first += one[p] * x[p]
                second += two[p] * x[p]
            used[j] += first
            used[k] += second * (k - j)
        for p in range(n):
            money[p] = weights[a + p] if len(weights) > 1 else weights[0]
        for p in range(n):
            off[p] = off[p] * x[p] / money[p] - 1.0
        if len(limits):
            most, short = limits[a:b], found[3]
            for p in range(n):
                stops = x[p] >= most[p] * at_limit
                away = abs(x[p] / most[p] - 1.0) if stops and x[p] > 0 else 0.0
                short = away if away > short else short
                # At the limit, whoever would like more does the best she can.
                off[p] = 0.0 if stops and off[p] < 0 else off[p]
                if most[p] == 0:
                    off[p], money[p] = 0.0 if x[p] == 0 else np.inf, 0.0
            found[3] = short
        total, squares, farther, poorer = 0.0, 0.0, 0, 0
        for p in range(n):
            total += money[p]
            squares += off[p] * off[p] * money[p]
            farther += not abs(off[p]) <= found[2]
            poorer += money[p] < found[4] and x[p] > 0
        found[0] += total
        found[1] += squares
        for p in range(n if farther or poorer else 0):
            if not (abs(off[p]) <= found[2] or found[2] != found[2]):
                found[2], who = abs(off[p]), a + p
            if x[p] > 0 and money[p] < found[4]:
                found[4] = money[p]
    return who
