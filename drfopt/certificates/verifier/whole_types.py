"""Whole tasks of several types of one user: which are started first, and how many a user can have.

A user with c[t] tasks of type t starts them in one sequence: task k of type t stands at (2 k - 1) / (2 c[t]), of equals
the type listed first (Webster's apportionment).  Types that fit nowhere, on no empty machine, are left out.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from .cluster import Cluster, Kind
from .reading import total
from .work import spend

__all__ = ["Sequence", "sequences"]

LONGEST = 20_000
"""Tasks of one sequence; of a longer one nothing is said."""


@dataclass(frozen=True)
class Sequence:
    """Types of one user that fit somewhere: their kinds, classes, counts, and what they are called in a file."""

    kinds: list[Kind]
    fits: list[list[int]]
    counts: tuple[int, ...]
    names: list[str]
    most: int

    def started(self, x: int) -> tuple[int, ...]:
        """Return how many of each type are among the first x tasks."""
        if len(self.counts) == 1:
            return (x,)
        spend(0, 1 + len(self.counts))
        all_of_them = sum(self.counts)
        found = [(2 * x * c + all_of_them) // (2 * all_of_them) for c in self.counts]
        while (over := sum(found) - x) != 0:  # Rounding is a few tasks too long or too short.
            step = -1 if over > 0 else 1
            ends = enumerate(zip(found, self.counts, strict=True))
            places = [(Fraction(2 * (y + (step > 0)) - 1, 2 * c), t) for t, (y, c) in ends]
            at = max(each for each in places if found[each[1]]) if over > 0 else min(places)
            found[at[1]] += step
        return tuple(found)

    def uses(self, x: int, j: int) -> Fraction:
        """Return what the first x tasks use of a resource."""
        return total(n * kind.d[j] for n, kind in zip(self.started(x), self.kinds, strict=True))


def sequences(cluster: Cluster) -> list[Sequence]:
    """Return the tasks of every user; names of types are the user's and the type's number."""
    found, seen = [], set(cluster.users)
    for i, name in enumerate(cluster.users):
        typed = cluster.types.get(i, [])
        told = [(kind, count, f"{name}:{t}") for t, (kind, count) in enumerate(typed)]
        if any(each in seen for _, _, each in told):
            raise ValueError("a user is called what a type of another is")
        seen.update(each for _, _, each in told)
        if not told:
            (kind,) = (cluster.kinds[q] for q in cluster.kinds_of[i])
            told = [(kind, 1, name)]
        rows = [(kind, open_to, n, each) for kind, n, each in told if (open_to := cluster.fits(kind, True))]
        kinds, names = [kind for kind, *_ in rows], [each for *_, each in rows]
        fits, counts = [ks for _, ks, _, _ in rows], tuple(n for _, _, n, _ in rows)
        plain = Sequence(kinds, fits, counts, names, 0)
        found.append(Sequence(kinds, fits, counts, names, _most(cluster, i, plain) if rows else 0))
    return found


def _most(cluster: Cluster, i: int, tasks: Sequence) -> int:
    """Return the most tasks that a user can have: what its limit and ceilings allow and, but for types, what fits."""
    limit = cluster.limits[i]
    alone = [
        sum(
            cluster.count[k] * min(math.floor(c / d) for c, d in zip(cluster.C[k], kind.d, strict=True) if d)
            for k in fits
        )
        for kind, fits in zip(tasks.kinds, tasks.fits, strict=True)
    ]
    if i not in cluster.types:
        u = cluster.u[i]
        return alone[0] if u is None else min(alone[0], math.floor(u))

    def possible(x: int) -> bool:
        caps = all(tasks.uses(x, cluster.resources.index(r)) <= most for r, most in cluster.caps[i].items())
        pool = not cluster.pool or all(tasks.uses(x, j) <= c for j, c in enumerate(cluster.cluster))
        return caps and pool and all(y <= most for y, most in zip(tasks.started(x), alone, strict=True))

    low, high = 0, sum(tasks.counts) if limit is None else min(sum(tasks.counts), math.floor(limit))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if possible(middle) else (low, middle - 1)
    return low
