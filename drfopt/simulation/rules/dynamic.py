"""Dynamic DRF: with the k-th of n users there, at most k/n of every resource is used, and nobody ever loses.

When a user comes for the first time, the shares to which those present may rise are computed anew, exactly, from what
a task of each needs (of several kinds the one she asks for first).  They are then served, the lowest dominant share
first, as long as the next task stays within her part, and all tasks within the k/n: tasks of other kinds than the first
are not reckoned with in the parts.  Users who leave give nothing back to the others' parts.  Who
comes while no machine that is up has some resource that she needs counts as come when there is one.
Weights play no part: the paper has none.

Source: Kash, Procaccia and Shah, No Agent Left Behind, AAMAS 2013; `drfopt.simulation.rules.dynamic`.

Dynamic DRF: users arrive one by one, what is given is never taken back, and the rest is held for those to come.

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

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from operator import add, mul

from ...base.errors import InstanceError
from ..state import ClusterState
from ..turns import Turns

__all__ = ["Dynamic", "arrivals", "raised"]


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


class Dynamic(Turns):
    """Serve those present within their parts."""

    name = "dynamic"
    revokes = False

    def begin(self, cluster: ClusterState) -> None:
        """Nobody has come."""
        super().begin(cluster)
        self.require_equal_weights(cluster)
        self._came: dict[int, None] = {}
        self._demands: list[list[Fraction]] = []
        self._parts: list[Fraction] = []
        self._late: set[int] = set()

    def resized(self, cluster: ClusterState) -> None:
        """Measure shares of what is there now, in a unit in which they are integers."""
        super().resized(cluster)
        self._unit = math.lcm(*(total for total in cluster.totals if total))
        self._rates = [self._unit // total if total else 0 for total in cluster.totals]
        self._measure(cluster)

    def dispatch(self, cluster: ClusterState) -> None:
        """Raise the parts for each user who has come, then serve."""
        seen = sorted({*cluster.moved, *self._late} - self._came.keys())
        self._late, come = set(), False
        for user in seen:
            if not (lots := [line[0] for line in cluster.queues[user].values()]):
                continue
            demand = cluster.demands[min(lots, key=lambda lot: lot.number).kind]
            if any(need and not total for need, total in zip(demand, cluster.totals, strict=True)):
                self._late.add(user)
                continue
            come = True
            self._came[user] = None
            self._demands.append([Fraction(amount) for amount in demand])
            totals = [Fraction(total) for total in cluster.totals]
            room = [total * Fraction(len(self._came), cluster.n) for total in totals]
            self._parts = raised(self._demands, room, [*self._parts, Fraction(0)], totals)
        if come:
            self._measure(cluster)
        super().dispatch(cluster)

    def turn(self, cluster: ClusterState, asking: Mapping[int, int]) -> int | None:
        """Return who has the lowest dominant share of those whose next task is within her part and the room."""
        room = [total * len(self._came) for total in cluster.totals]
        used = [sum(column) for column in zip(*cluster.used, strict=True)]
        best: tuple[int, int] | None = None
        for user, kind in asking.items():
            held, demand = cluster.used[user], cluster.demands[kind]
            if max(map(mul, map(add, held, demand), self._rates)) > self._most.get(user, -1):
                continue
            after = zip(used, demand, room, strict=True)
            if any(need and (use + need) * cluster.n > most for use, need, most in after):
                continue
            standing = max(map(mul, held, self._rates)), user
            best = standing if best is None else min(best, standing)
        return None if best is None else best[1]

    def _measure(self, cluster: ClusterState) -> None:
        """Write down the parts in the unit of the shares."""
        self._most = dict(zip(self._came, (math.floor(part * self._unit) for part in self._parts), strict=True))
