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
"""

from collections.abc import Sequence
from fractions import Fraction

__all__ = ["progressive_filling"]


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
