"""Dynamic DRF: users arrive one by one, what is given is never taken back, and the rest is held for those to come.

Given   d[i, r]   what a task of user i needs, in the order in which users arrive; n users in all
        c[r]      capacity
        s[i]      her dominant share so far

When the k-th user has arrived, the dominant shares of the first k rise to the leximin allocation in which nobody falls
below what she has and of every resource at most the fraction k/n is used.  So nobody loses when another arrives, and
whoever has arrived prefers her part to k/n-th of an equal split; the price is that at no time all can be used before
the last one came, and that the last allocation need not be DRF's.

Source: Kash, Procaccia and Shah, No Agent Left Behind: Dynamic Fair Division of Multiple Resources, AAMAS 2013 and
JAIR 51 (2014).
"""

from collections.abc import Sequence
from fractions import Fraction

from ...base.errors import InstanceError

__all__ = ["arrivals", "raised"]

Row = Sequence[Fraction]


def arrivals(demands: Sequence[Row], capacity: Row, expected: int | None = None) -> list[list[Fraction]]:
    """Return the dominant shares after every arrival: k of them after the k-th.

    Parameters
    ----------
    demands : n rows of m, in the order of arrival
    capacity : (m,)
    expected : how many users are reckoned with, at least n; None is n

    Raises
    ------
    InstanceError
        When more users arrive than were expected.

    >>> half, whole = Fraction(1, 2), Fraction(1)
    >>> [[str(share) for share in shares] for shares in arrivals([[whole, half], [half, whole]], [whole, whole])]
    [['1/2'], ['2/3', '2/3']]
    """
    total = len(demands) if expected is None else expected
    if total < len(demands):
        raise InstanceError(f"{len(demands)} users arrive, but {total} are expected: expect at least {len(demands)}")
    shares: list[Fraction] = []
    steps = []
    for k in range(1, len(demands) + 1):
        shares = raised(demands[:k], [c * Fraction(k, total) for c in capacity], [*shares, Fraction(0)], capacity)
        steps.append(shares)
    return steps


def raised(demands: Sequence[Row], room: Row, shares: Sequence[Fraction], capacity: Row) -> list[Fraction]:
    """Return the leximin dominant shares, none below what it was, that fit into the room.

    Parameters
    ----------
    demands : k rows of m, each with something that there is
    room : (m,), what may be used in all
    shares : (k,), what users have already; it must fit
    capacity : (m,), what dominant shares are taken of
    """
    weights = [_per_share(row, capacity) for row in demands]
    found = list(shares)
    rising = set(range(len(demands)))
    while rising:
        levels = ((_level(r, weights, found, rising, room[r]), r) for r in range(len(room)))
        level, full = min((level, r) for level, r in levels if level is not None)
        for i in rising:
            found[i] = max(found[i], level)
        rising -= {i for i in rising if weights[i][full]}
    return found


def _per_share(row: Row, capacity: Row) -> list[Fraction]:
    """Return what a user takes of each resource for each unit of dominant share."""
    shares = [d / c for d, c in zip(row, capacity, strict=True) if c]
    if not any(shares):
        raise InstanceError("a user who arrives demands nothing that there is: give it a positive demand")
    return [d / max(shares) for d in row]


def _level(
    r: int, weights: Sequence[Row], shares: Sequence[Fraction], rising: set[int], room: Fraction
) -> Fraction | None:
    """Return the level at which resource r is full, when the rising users reach it or stay above; None for never."""
    users = sorted((shares[i], weights[i][r]) for i in rising if weights[i][r])
    left = room - sum((shares[i] * weights[i][r] for i in range(len(shares))), Fraction(0))
    slope, level = Fraction(0), Fraction(0)
    for share, weight in users:
        if slope and left <= (share - level) * slope:
            break
        left -= (share - level) * slope
        slope, level = slope + weight, share
    return level + left / slope if slope else None
