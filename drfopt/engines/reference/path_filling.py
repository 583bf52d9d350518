"""Progressive filling: the max-min fair division of one pool, found by raising everybody's level together.

Given   d[i][j]   units of resource j that one task of user i needs      n rows of m
        c[j]      units of resource j in the pool                        m
        r[i]      level of one task of user i under the policy           n
        u[i]      most tasks of user i, None for no limit                n

All levels rise from 0 at one speed, so at level t a rising user has t / r[i] tasks.  From time to time
something stops some of them: a resource is used up, and everybody who needs it stops; or a user has reached
her limit, and she stops alone.  The others go on until nobody rises.

Why the result is max-min fair: whoever was stopped by a resource shares it with users who stopped with her or
before her, so her level could grow only at the cost of a level that is no higher.

Source: Bertsekas and Gallager, Data Networks, 1992, section 6.5.2 (a resource is a link);
Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 4 (dominant shares).

Filling along a path of bundles, from bend to bend: max-min fairness of levels that are no multiples of tasks.

Given   d[i][j]   units of resource j that one task of user i needs              n rows of m
        c[j]      units of resource j in the pool                                m
        b[q]      the knots of a path of bundles, in shares, and their levels    q rows of m
        s[i][j]   share of resource j in one task of user i, by its weight       n rows of m
        u[i]      most tasks of user i, None for no limit                        n

At level t a rising user has as many tasks as the bundle b(t) carries, ``min over j of b(t)[j] / s[i][j]``.  Between two
bends that is a straight line for everybody: the knots of the path, the levels at which what carries a user least
changes from one resource to another, and those at which it meets its limit.  So the pool is filled from one bend to the
next, and where a resource would be used up on the way, the filling ends there for those who need it.

Why the result is max-min fair, and why that does not ask how levels depend on tasks as long as they grow with them:
whoever was stopped by a resource shares it with users who stopped with it or before it.

Source: Li and Xue, Egalitarian division under Leontief preferences, Economic Theory 2013; Friedman, Ghodsi and Psomas,
Strategyproof allocation of discrete jobs on multiple machines, EC 2014.
"""

from collections.abc import Sequence
from fractions import Fraction

__all__ = ["path_filling", "progressive_filling"]


def progressive_filling(
    demands: Sequence[Sequence[Fraction]],
    capacity: Sequence[Fraction],
    rates: Sequence[Fraction],
    limits: Sequence[Fraction | None],
) -> list[Fraction]:
    """Return the exact tasks of each user, (n,), whose levels ``rates[i] * tasks[i]`` are max-min fair.

    Parameters
    ----------
    demands : n rows of m, not negative
        Every user needs something.
    capacity : (m,), not negative
        Who needs a resource of capacity 0 gets no task.
    rates : (n,), positive
        Not looked at for a user who needs a resource of capacity 0.
    limits : (n,), not negative, or None for no limit

    Examples
    --------
    >>> from fractions import Fraction as F
    >>> progressive_filling([[1, 4], [3, 1]], [9, 18], [F(2, 9), F(1, 3)], [None, None])
    [Fraction(3, 1), Fraction(2, 1)]
    """
    resources = range(len(capacity))
    users_of = [[i for i, row in enumerate(demands) if row[j]] for j in resources]
    tasks = [Fraction(0)] * len(demands)
    level = Fraction(0)
    left = list(capacity)
    rising = set(range(len(demands))).difference(*(users_of[j] for j in resources if not left[j]))
    drain = [sum((demands[i][j] / rates[i] for i in users_of[j] if i in rising), Fraction(0)) for j in resources]
    tops = [(limit * rates[i], i) for i in rising if (limit := limits[i]) is not None]
    tops.sort(reverse=True)
    while rising:
        until_full = [left[j] / drain[j] for j in resources if drain[j]]
        until_limit = [tops[-1][0] - level] if tops else []
        step = min(until_full + until_limit)

        level += step
        left = [left[j] - step * drain[j] for j in resources]
        stopped = {i for j in resources if not left[j] for i in users_of[j] if i in rising}
        while tops and (tops[-1][0] == level or tops[-1][1] not in rising):
            stopped.add(tops.pop()[1])
        for i in stopped & rising:
            tasks[i] = level / rates[i]
            drain = [now - d / rates[i] if d else now for now, d in zip(drain, demands[i], strict=True)]
        rising -= stopped
    return tasks


Row = Sequence[Fraction]


def path_filling(
    demands: Sequence[Row],
    capacity: Row,
    knots: Sequence[Row],
    levels: Row,
    shares: Sequence[Row],
    limits: Sequence[Fraction | None],
) -> list[Fraction]:
    """Return the exact tasks of each user, (n,), whose levels along the path are max-min fair.

    Who needs a resource of capacity 0 gets no task.

    Examples
    --------
    >>> F = Fraction
    >>> knots = [(F(0), F(0)), (F(1, 2), F(1, 2)), (F(3, 4), F(1))]
    >>> path_filling([[1, 2], [2, 1]], [1, 1], knots, [F(0), F(1, 2), F(7, 8)], [[1, 2], [2, 1]], [None, None])
    [Fraction(7, 20), Fraction(3, 10)]
    """
    resources, tasks = range(len(capacity)), [Fraction(0)] * len(demands)
    left = list(capacity)
    rising = _untouched(range(len(demands)), demands, left)
    rising = [i for i in rising if limits[i] != 0]
    last = len(knots) - 2
    for q in range(last + 1):
        low, high = levels[q], levels[q + 1]
        speed = [(b - a) / (high - low) for a, b in zip(knots[q], knots[q + 1], strict=True)]
        # Along this line user i has least of  a + v t  over its lines (a, v), one a resource.
        lines = {
            i: [((knots[q][j] - low * speed[j]) / s, speed[j] / s) for j, s in enumerate(shares[i]) if s]
            for i in rising
        }
        level, end = low, None if q == last else high
        while rising and level != end:
            bend = min([t for i in rising if (t := _bend(lines[i], limits[i], level)) is not None], default=end)
            to = end if bend is None or (end is not None and end < bend) else bend
            slope = {i: _carried(lines[i], level)[1] for i in rising}
            drain = [sum((demands[i][j] * slope[i] for i in rising), Fraction(0)) for j in resources]
            full = min((left[j] / drain[j] for j in resources if drain[j]), default=Fraction(0))
            step = full if to is None else min(full, to - level)
            level += step
            left = [rest - step * d for rest, d in zip(left, drain, strict=True)]
            for i in rising:
                tasks[i] += step * slope[i]
            rising = [i for i in _untouched(rising, demands, left) if tasks[i] != limits[i]]
    return tasks


def _carried(lines: list[tuple[Fraction, Fraction]], level: Fraction) -> tuple[Fraction, Fraction]:
    """Return what is carried at a level, and how fast that grows from there on."""
    return min((a + v * level, v) for a, v in lines)


def _bend(lines: list[tuple[Fraction, Fraction]], limit: Fraction | None, level: Fraction) -> Fraction | None:
    """Return the next level at which another line carries least, or the limit is met; None where there is none."""
    now, slope = _carried(lines, level)
    slower = [(a, v) for a, v in lines if v < slope]
    meets = [level + (a + v * level - now) / (slope - v) for a, v in slower]
    if limit is not None:
        meets.append(level + (limit - now) / slope)
    return min(meets, default=None)


def _untouched(users: Sequence[int], demands: Sequence[Row], left: Row) -> list[int]:
    """Return those of the users who need nothing that is used up."""
    full = [j for j, amount in enumerate(left) if amount == 0]
    return [i for i in users if not any(demands[i][j] for j in full)]
