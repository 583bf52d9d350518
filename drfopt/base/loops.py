"""Passes over many users as compiled loops, for whoever has numba (``pip install 'drfopt[fast]'``); all works without.

What these find is what numpy's passes find, with sums in another order.  Users are the columns of demands (m, n), and
a call is about those from `start` to `stop`.  Equal numbers that are added one after the other are rounded to one side,
so after `AT_ONCE` of them a sum starts anew, and is added to the whole.
"""

from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from .market_loops import respond, spend

__all__ = ["HALVES", "compiled"]

NUMBERS = 2_000_000
"""Numbers of a table from which on its loops are compiled: each process takes two thirds of a second to load them."""

AT_ONCE = 256
"""Numbers that are added one after the other; users whose row and weight are found before they are added."""

PAIRED = 1 << 7
"""Users whose columns are looked at two at a time: both lie in the first cache."""

HALVES = 2.0**27 + 1
"""Splits a float into two of half its digits, whose products have no rounding (Dekker 1971)."""

TILE = 1 << 10
"""Numbers of a column that are copied, or rows, before they are looked at again, which are in the cache then."""


def _survey(
    bits: np.ndarray, out: np.ndarray, start: int, stop: int, highest: np.ndarray, lowest: np.ndarray, sets: np.ndarray
) -> int:
    """Copy rows of bits (n, m) to columns (m, n); find the largest, and the smallest less one, of each column.

    Write which are not zero, a bit each, to sets (n,), and return the first row that has none, -1 for none.
    """
    idle = -1
    m = bits.shape[1]
    for a in range(start, stop, TILE):
        b = min(a + TILE, stop)
        for i in range(a, b):
            word = 0
            for j in range(m):
                out[j, i] = bits[i, j]
                word |= (bits[i, j] != 0) << j
            sets[i] = word
            if word == 0 and idle < 0:
                idle = i
        for j in range(m):
            column, high, low = out[j, a:b], highest[j], lowest[j]
            for p in range(b - a):
                high, low = max(high, column[p]), min(low, column[p] - np.uint64(1))
            highest[j], lowest[j] = high, low
    return idle


def _copied(given: np.ndarray, taken: np.ndarray, member: np.uint8, sets: np.ndarray) -> tuple[np.uint64, np.uint64]:
    """Copy bits of numbers of one column (n,), and add the column to the sets (n,) of those that are not zero.

    Return the largest, and the smallest less one.
    """
    high, low, n = np.uint64(0), np.uint64(0xFFFF_FFFF_FFFF_FFFF), len(given)
    for a in range(0, n, TILE):
        b = min(a + TILE, n)
        old, new, mine, zeros = given[a:b], taken[a:b], sets[a:b], 0
        for p in range(b - a):
            word = old[p]
            new[p] = word
            high, low = max(high, word), min(low, word - np.uint64(1))
            zeros += word == 0
        if zeros == 0:
            for p in range(b - a):
                mine[p] |= member
        else:
            for p in range(b - a):
                mine[p] |= member if new[p] != 0 else 0
    return high, low


def _add(
    demands: np.ndarray,
    start: int,
    stop: int,
    weights: np.ndarray,
    rows: np.ndarray,
    part: np.ndarray,
    count: np.ndarray,
    total: np.ndarray,
) -> None:
    """Add what users from `start` to `stop` hold, times their weights, to the rows of a sum (r, m) that are theirs.

    A row of `part` is what was added to it since it was last added to its `total`, as often as `count` says.
    """
    m = len(demands)
    for i in range(start, stop):
        r, weight = rows[i - start], weights[i - start]
        if count[r] == AT_ONCE:
            count[r] = 0
            for j in range(m):
                total[r, j] += part[r, j]
                part[r, j] = 0.0
        count[r] += 1
        for j in range(m):
            part[r, j] += demands[j, i] * weight


def _by_set(demands: np.ndarray, pace: np.ndarray, sets: np.ndarray, start: int, stop: int, total: np.ndarray) -> None:
    """Add up what users take for a level of 1 by the set of resources that they need, (2^m, m)."""
    part, count = np.zeros(total.shape), np.zeros(len(total), dtype=np.int64)
    _add(demands, start, stop, pace[start:stop], sets[start:stop], part, count, total)
    total += part


def _sides(
    demands: np.ndarray,
    pace: np.ndarray,
    limits: np.ndarray,
    sets: np.ndarray,
    least: np.ndarray,
    most: np.ndarray,
    start: int,
    stop: int,
    total: np.ndarray,
) -> np.ndarray:
    """Add up what users take for a level of 1 whose limits are out of reach, by set, and what others hold at theirs.

    Parameters
    ----------
    least, most : arrays (2^m,)
        The lowest levels of every set, between which resources run out.
    total : array (2^m + 1, m)
        The last row is what users hold at limits.

    Returns
    -------
    int array
        Users of whom neither is known.
    """
    part, count = np.zeros(total.shape), np.zeros(len(total), dtype=np.int64)
    weights, rows = np.empty(AT_ONCE), np.empty(AT_ONCE, dtype=np.int64)
    unknown, found = np.empty(stop - start, dtype=np.int64), 0
    for a in range(start, stop, AT_ONCE):
        b = min(a + AT_ONCE, stop)
        for i in range(a, b):
            s, mine = sets[i], limits[i]
            rows[i - a], weights[i - a] = s, pace[i]
            if mine < least[s] * pace[i]:
                rows[i - a], weights[i - a] = len(least), mine
            elif not mine > most[s] * pace[i]:
                weights[i - a] = 0.0
                if pace[i] > 0:
                    unknown[found] = i
                    found += 1
        _add(demands, a, b, weights, rows, part, count, total)
    total += part
    return unknown[:found]


def _dominant(demands: np.ndarray, capacity: np.ndarray, rates: np.ndarray) -> None:
    """Write the largest share that one task takes of a capacity (m,), for all users, (n,)."""
    m, n = demands.shape
    for a in range(0, n, PAIRED):
        b = min(a + PAIRED, n)
        rate = rates[a:b]
        rate[:] = 0.0
        for j in range(0, m, 2):
            k = min(j + 1, m - 1)
            room, other, one, two = capacity[j], capacity[k], demands[j, a:b], demands[k, a:b]
            for p in range(b - a):
                share, last = one[p] / room, two[p] / other
                share = last if last > share else share
                rate[p] = share if share > rate[p] else rate[p]


def _reached(reach: np.ndarray, sets: np.ndarray, pace: np.ndarray, limits: np.ndarray, tasks: np.ndarray) -> None:
    """Write the tasks of all users (n,) whose sets stop at levels (2^m,): at their limits (n,), or (0,), at most."""
    for i in range(len(tasks)):
        tasks[i] = reach[sets[i]] * pace[i]
    if len(limits):
        for i in range(len(tasks)):
            tasks[i] = limits[i] if tasks[i] > limits[i] else tasks[i]


def _seen(
    demands: np.ndarray,
    rates: np.ndarray,
    tasks: np.ndarray,
    limits: np.ndarray,
    sets: np.ndarray,
    ends: tuple[float, float],
    window: float,
    shift: int,
    total: np.ndarray,
    highest: np.ndarray,
    lowest: np.ndarray,
) -> tuple[int, float]:
    """Add up what users below their limits hold by set, and the others by the last bits of their levels >> shift.

    Find the highest level of every set, and the lowest of users below their limits, (2^m,). Limits are (0,) where
    nobody has one; who is below it by a part of a window at most is at it.

    Returns
    -------
    int, float
        How many rates, tasks and levels are not 0 and outside of two ends; the least part of its limit that one of
        those below is below it.
    """
    n, outside, least, first = len(tasks), 0, np.inf, len(highest)
    smallest, largest, last = *ends, np.int64(len(total) - first - 1)
    part, count = np.zeros(total.shape), np.zeros(len(total), dtype=np.int64)
    rows, levels, left = np.empty(AT_ONCE, dtype=np.int64), np.empty(AT_ONCE), np.empty(AT_ONCE)
    bits = levels.view(np.int64)
    for a in range(0, n, AT_ONCE):
        b = min(a + AT_ONCE, n)
        rate, x = rates[a:b], tasks[a:b]
        for p in range(b - a):
            levels[p], rows[p] = rate[p] * x[p], sets[a + p]
            outside += not ((smallest <= x[p] <= largest) or x[p] == 0)
            outside += not ((smallest <= levels[p] <= largest) or levels[p] == 0)
            outside += not ((smallest <= rate[p] <= largest) or rate[p] == 0)
        for p in range(b - a):
            if levels[p] > highest[rows[p]] or levels[p] != levels[p]:
                highest[rows[p]] = levels[p]
        if len(limits):
            most = limits[a:b]
            for p in range(b - a):
                rest = 1 - x[p] / most[p]
                rest = np.inf if most[p] == np.inf else rest
                left[p] = 0.0 if most[p] == 0 else rest
            for p in range(b - a):
                stops = left[p] <= window
                rows[p] = first + ((bits[p] >> shift) & last) if stops else rows[p]
                least = left[p] if left[p] < least and not stops else least
        for p in range(b - a):
            s = rows[p]
            if s < first and levels[p] < lowest[s]:
                lowest[s] = levels[p]
        _add(demands, a, b, x, rows, part, count, total)
    total += part
    return outside, least


def _held(
    demands: np.ndarray,
    rates: np.ndarray,
    tasks: np.ndarray,
    limits: np.ndarray,
    sets: np.ndarray,
    best: np.ndarray,
    marks: np.ndarray,
    windows: tuple[float, float],
    start: int,
    stop: int,
    sums: np.ndarray,
    near: np.ndarray,
    needed: np.ndarray,
) -> tuple[float, int]:
    """Add up what users hold, by how many marks they are at or above, and find who misses most of her conditions.

    Parameters
    ----------
    demands, rates, tasks, limits, sets : arrays (m, n), (n,) ...
        `limits` are empty where nobody has one.
    best : array (2^m,)
        One over the lowest mark of every set; 0 where it has none.
    marks : array (3, g)
        Levels from which on users are at the marks, and from and up to which they are near them.
    windows : two floats
        How far users may be below their limits and count as at them, and up to which rounding might decide that.
    sums : array (4 (g + 1), m)
        What those hold who have reached so many marks and are near the last: below their limits, then at them; and the
        same of those who are not near it.
    near : array (g, m)
        What those hold who are near other marks than the last they have reached.
    needed : bool array (2, g)
        Whether somebody at a mark is below her limit, and whether so little that rounding might decide.

    Returns
    -------
    float, int
        The most that somebody misses, and who that is.
    """
    g, limited = marks.shape[1], len(limits) > 0
    part, count = np.zeros(sums.shape), np.zeros(len(sums), dtype=np.int64)
    rows = np.empty(AT_ONCE, dtype=np.int64)
    levels, left, short = np.empty((3, AT_ONCE))
    worst, who = -np.inf, start
    for a in range(start, stop, AT_ONCE):
        users = min(AT_ONCE, stop - a)
        # Short steps without a choice are done for several users at a time.
        for p in range(users):
            levels[p], rows[p] = rates[a + p] * tasks[a + p], 0
        for q in range(g):
            for p in range(users):
                rows[p] += levels[p] >= marks[0, q]
        for p in range(users):
            bound = best[sets[a + p]]
            short[p] = 1 - bound * levels[p] if bound != 0 else np.inf
        if limited:
            for p in range(users):
                rest = 1 - tasks[a + p] / limits[a + p]
                rest = np.inf if limits[a + p] == np.inf else 0.0 if rest < 0 else rest
                left[p] = 0.0 if limits[a + p] == 0 else rest
            for p in range(users):
                short[p] = left[p] if left[p] < short[p] else short[p]
        # Mostly nobody, which several comparisons at once find out.
        farther = 0
        for p in range(users):
            farther += not short[p] <= worst
        for p in range(users if farther else 0):
            if short[p] > worst or (short[p] != short[p] and worst == worst):
                worst, who = short[p], a + p
        for p in range(users if limited else 0):
            at, level, stops = rows[p], levels[p], left[p] <= windows[0]
            first, last = at, at
            while first > 0 and level <= marks[2, first - 1]:
                first -= 1
                needed[0, first] |= not stops
                needed[1, first] |= not stops and left[p] <= windows[1]
            while last < g and level >= marks[1, last]:
                last += 1
            rows[p] += (g + 1) * (stops + 2 * (first == at or level < marks[1, at - 1]))
            if last - first > 1 or last > at:
                for q in range(first, last):
                    if q != at - 1 and level >= marks[1, q]:
                        for j in range(len(demands)):
                            near[q, j] += demands[j, a + p] * tasks[a + p]
        _add(demands, a, a + users, tasks[a : a + users], rows, part, count, sums)
    sums += part
    return worst, who


def _exact(demands: np.ndarray, js: np.ndarray, tasks: np.ndarray, total: np.ndarray) -> None:
    """Add up what is used of some resources, in as many places at a time as `total` (r, 2, places) has.

    The first of two is the sum, the second what rounding took from it and from the products (Knuth; Dekker 1971).
    """
    places, n = total.shape[2], len(tasks)
    for r in range(len(js)):
        demand, high, low = demands[js[r]], total[r, 0], total[r, 1]
        for a in range(0, n, places):
            one, other = demand[a : a + places], tasks[a : a + places]
            for p in range(len(one)):
                d, x = one[p], other[p]
                product, scaled, again = d * x, d * HALVES, x * HALVES
                upper, most = scaled - (scaled - d), again - (again - x)
                lower, rest = d - upper, x - most
                error = ((upper * most - product) + upper * rest + lower * most) + lower * rest
                both = high[p] + product
                part = both - high[p]
                low[p] += ((high[p] - (both - part)) + (product - part)) + error
                high[p] = both


def compiled(table: np.ndarray, by_rows: bool = False, numbers: int | None = None) -> Any:
    """Return the loops for a table of floats that is in memory column by column, or row by row.

    None where it is not, where it is small, or the one is whose sample it is and which has so many `numbers`, and where
    numba is not there.
    """
    there = table.flags.c_contiguous if by_rows else table.flags.f_contiguous
    large = (table.size if numbers is None else numbers) >= NUMBERS
    return _loops() if large and there and table.dtype == np.float64 else None


@lru_cache(maxsize=1)
def _loops() -> Any:
    """Return the loops as machine code, which is made when one is called first and kept in a cache on the disk."""
    try:
        from numba import njit
        from numba.extending import register_jitable

        register_jitable(_add)
        loop = njit(nogil=True, cache=True, error_model="numpy")
        # In any order, that is several at once.
        summing = njit(nogil=True, cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
        return SimpleNamespace(
            survey=loop(_survey),
            copied=loop(_copied),
            by_set=loop(_by_set),
            sides=loop(_sides),
            seen=loop(_seen),
            dominant=loop(_dominant),
            reached=loop(_reached),
            held=loop(_held),
            exact=loop(_exact),
            respond=summing(respond),
            spend=summing(spend),
        )
    except (ImportError, RuntimeError, AttributeError):
        # It is not there, or there is a numpy or a coverage that it does not know, or no place for the cache.
        return None
