"""The market with equal incomes on one pool, exactly: fractions where the equilibrium is rational, else enclosures.

Given   d[i, j]   units of resource j that one task of user i needs      (n, m)
        c[j]      units of resource j in the pool, positive              (m,)
        w[i]      income of user i                                       (n,)
        u[i]      most tasks of user i, None for no limit                (n,)

The tasks are x[i] = min(u[i], w[i] / sum_j p[j] d[i, j]) at the prices p at which nothing is overused and what is left
over costs nothing.  Users who share no resource, directly or through others, are markets of their own.

One resource: filling.  Two resources, no limits: with p = W (t / c[1], (1 - t) / c[2]) the dual has one variable t,

    phi(t) = - sum_i w[i] log(t a[i] + (1 - t) b[i]),    a, b = shares of the two resources that one task takes,

is convex, and the sign of its derivative at a fraction is exact: it proves a guessed root or
encloses an irrational one.

More resources or limits: prices computed in floats, guessed as fractions and proven, or their gap, bounded in
fractions, bounds every x.  With g[i](x) = w[i] log x - q[i] x and best response b[i],

    g[i](b) - g[i](x) >= w[i] (s - 1)^2 / (2 max(1, s)),  s = x / b,       and the sum over users is at most the gap.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from ..instance import Instance
from ..reference.filling import progressive_filling
from ..solve import solve
from .bounds import Between, Number
from .cluster import Cluster, Row

__all__ = ["Equilibrium", "clear"]

BITS = 110
"""Binary digits to which an irrational price ratio is computed; its enclosure is wider by `SLACK_BITS`."""

SLACK_BITS = 12

SMALL = 10**6
"""Largest denominator guessed for a price ratio that a float suggests."""

REMEMBERED = 4096
"""Markets kept: users who leave, or change, often leave another market as it was."""


@dataclass(frozen=True)
class Equilibrium:
    """Tasks of each user (n,), price of each resource (m,), and which prices are certainly positive."""

    tasks: tuple[Number, ...]
    prices: tuple[Number, ...]
    priced: frozenset[int]


def clear(cluster: Cluster) -> Equilibrium:
    """Return the equilibrium of a pool; who needs what is not there, or has a limit of 0, has 0 tasks."""
    taking = [
        i
        for i in range(cluster.n)
        if cluster.limits[i] != 0 and all(c for d, c in zip(cluster.demands[i], cluster.pool, strict=True) if d)
    ]
    tasks: list[Number] = [Fraction(0)] * cluster.n
    prices: list[Number] = [Fraction(0)] * cluster.m
    priced: set[int] = set()
    for users, resources in _markets(cluster, taking):
        found = _market(
            tuple(tuple(cluster.demands[i][j] for j in resources) for i in users),
            tuple(cluster.pool[j] for j in resources),
            tuple(cluster.weights[i] for i in users),
            tuple(cluster.limits[i] for i in users),
        )
        for i, x in zip(users, found.tasks, strict=True):
            tasks[i] = x
        for j, p in zip(resources, found.prices, strict=True):
            prices[j] = p
        priced.update(resources[j] for j in found.priced)
    return Equilibrium(tuple(tasks), tuple(prices), frozenset(priced))


def _markets(cluster: Cluster, users: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Return users and resources of each part of the pool that shares nothing with another part."""
    parts: list[tuple[list[int], set[int]]] = []
    for i in users:
        mine = {j for j, d in enumerate(cluster.demands[i]) if d}
        met = [part for part in parts if part[1] & mine]
        parts = [part for part in parts if not part[1] & mine]
        parts.append((sorted([i, *(k for part in met for k in part[0])]), mine.union(*(part[1] for part in met))))
    return [(members, sorted(resources)) for members, resources in parts]


@lru_cache(maxsize=REMEMBERED)
def _market(demands: tuple[Row, ...], capacity: Row, weights: Row, limits: tuple[Fraction | None, ...]) -> Equilibrium:
    if len(capacity) == 1:
        return _one_resource(demands, capacity, weights, limits)
    if len(capacity) == 2 and all(limit is None for limit in limits):
        return _two_resources(demands, capacity, weights)
    return _any(demands, capacity, weights, limits)


# ---- one resource --------------------------------------------------------------------------------------------------


def _one_resource(demands: tuple[Row, ...], capacity: Row, weights: Row, limits: tuple) -> Equilibrium:
    rates = [row[0] / w for row, w in zip(demands, weights, strict=True)]
    tasks = tuple(progressive_filling(demands, capacity, rates, limits))
    # Whoever is below her limit pays her income for the highest level.
    rising = [rate * x for rate, x, limit in zip(rates, tasks, limits, strict=True) if x != limit]
    price = 1 / rising[0] if rising else Fraction(0)
    return Equilibrium(tasks, (price,), frozenset({0} if price else ()))


# ---- two resources -------------------------------------------------------------------------------------------------


def _two_resources(demands: tuple[Row, ...], capacity: Row, weights: Row) -> Equilibrium:
    a = [row[0] / capacity[0] for row in demands]
    b = [row[1] / capacity[1] for row in demands]
    t = _ratio(a, b, weights)
    ends = [t] if isinstance(t, Fraction) else [t.lower, t.upper]
    income = sum(weights, Fraction(0))

    def tasks_at(t: Fraction) -> list[Fraction]:
        return [w / (income * (t * p + (1 - t) * q)) for w, p, q in zip(weights, a, b, strict=True)]

    found = [tasks_at(end) for end in ends]
    prices = [(income * end / capacity[0], income * (1 - end) / capacity[1]) for end in ends]
    priced = {j for j in range(2) if all(price[j] > 0 for price in prices)}
    return Equilibrium(
        tuple(_span(values) for values in zip(*found, strict=True)),
        tuple(_span(values) for values in zip(*prices, strict=True)),
        frozenset(priced),
    )


def _ratio(a: list[Fraction], b: list[Fraction], weights: Row) -> Number:
    """Return the t in [0, 1] at which phi is least."""

    def slope(t: Fraction) -> Fraction:
        return sum(
            (w * (q - p) / (t * p + (1 - t) * q) for w, p, q in zip(weights, a, b, strict=True)),
            Fraction(0),
        )

    # Where a user needs one resource only, the other end has an infinite price for her: the slope points inwards.
    if all(b) and slope(Fraction(0)) >= 0:
        return Fraction(0)
    if all(a) and slope(Fraction(1)) <= 0:
        return Fraction(1)
    guess = _root([float(v) for v in a], [float(v) for v in b], [float(w) for w in weights])
    simple = Fraction(guess).limit_denominator(SMALL)
    if 0 < simple < 1 and slope(simple) == 0:
        return simple
    t = _refined(slope, Fraction(guess))
    width = Fraction(1, 2 ** (BITS - SLACK_BITS))
    while not slope(t - width) < 0 < slope(t + width):
        width *= 4
    return Between(t - width, t + width)


def _root(a: list[float], b: list[float], weights: list[float]) -> float:
    lower, upper = 0.0, 1.0
    while lower < (middle := (lower + upper) / 2) < upper:
        slope = sum(w * (q - p) / (middle * p + (1 - middle) * q) for w, p, q in zip(weights, a, b, strict=True))
        if slope < 0:
            lower = middle
        else:
            upper = middle
    return middle


def _refined(slope: Callable[[Fraction], Fraction], t: Fraction) -> Fraction:
    """Return a root of the slope nearer than a float can say, by two secant steps."""
    step = Fraction(1, 2**40)
    for _ in range(2):
        left, right = slope(t - step), slope(t + step)
        t = _rounded(t - slope(t) * 2 * step / (right - left))
        step = Fraction(1, 2**70)
    return t


def _rounded(t: Fraction) -> Fraction:
    return Fraction(round(t * 2**BITS), 2**BITS)


def _span(values: Sequence[Fraction]) -> Number:
    return values[0] if len(values) == 1 or values[0] == values[1] else Between(min(values), max(values))


# ---- any number of resources, and limits ---------------------------------------------------------------------------


def _any(demands: tuple[Row, ...], capacity: Row, weights: Row, limits: tuple) -> Equilibrium:
    instance = Instance([list(row) for row in demands], list(capacity), weights=list(weights), max_tasks=list(limits))
    computed = solve(instance, "ceei")
    floats = [float(p) for p in computed.prices] if computed.prices is not None else []
    size = max(1.0, *(p * float(c) for p, c in zip(floats, capacity, strict=True)))
    guess = tuple(
        Fraction(p * float(c) / size).limit_denominator(SMALL) * Fraction(size).limit_denominator(SMALL) / c
        for p, c in zip(floats, capacity, strict=True)
    )
    if found := _proven(demands, capacity, weights, limits, guess):
        return found
    prices = tuple(Fraction(max(p, 0.0)) for p in floats)
    return _enclosed(demands, capacity, weights, limits, prices)


def _responses(demands: tuple[Row, ...], weights: Row, limits: tuple, prices: Row) -> list[Fraction] | None:
    """Return what each user buys at the prices; None where somebody's task costs nothing and she has no limit."""
    tasks = []
    for row, w, limit in zip(demands, weights, limits, strict=True):
        cost = sum((p * d for p, d in zip(prices, row, strict=True)), Fraction(0))
        if not cost and limit is None:
            return None
        wanted = w / cost if cost else limit
        tasks.append(wanted if limit is None else min(limit, wanted))
    return tasks


def _proven(demands: tuple[Row, ...], capacity: Row, weights: Row, limits: tuple, prices: Row) -> Equilibrium | None:
    tasks = _responses(demands, weights, limits, prices)
    if tasks is None:
        return None
    used = _used(demands, tasks, len(capacity))
    if any(u > c or (p and u < c) for u, c, p in zip(used, capacity, prices, strict=True)):
        return None
    return Equilibrium(tuple(tasks), prices, frozenset(j for j, p in enumerate(prices) if p))


def _enclosed(demands: tuple[Row, ...], capacity: Row, weights: Row, limits: tuple, prices: Row) -> Equilibrium:
    wanted = _responses(demands, weights, limits, prices)
    if wanted is None:
        free = Fraction(1, 2**60)
        return _enclosed(
            demands, capacity, weights, limits, tuple(max(p, free / c) for p, c in zip(prices, capacity, strict=True))
        )
    used = _used(demands, wanted, len(capacity))
    scale = min([Fraction(1), *(c / u for u, c in zip(used, capacity, strict=True) if u)])
    # The point scale * wanted is feasible; what it loses against the bound of these prices is the gap.
    gap = sum((p * (c - scale * u) for p, u, c in zip(prices, used, capacity, strict=True)), Fraction(0))
    for row, w, x in zip(demands, weights, wanted, strict=True):
        r = x * sum((p * d for p, d in zip(prices, row, strict=True)), Fraction(0)) / w
        gap += w * ((1 - scale) / scale - r * (1 - scale))
    tasks = []
    for w, x in zip(weights, wanted, strict=True):
        g = gap / w
        error = g + _root_above(g * g + 2 * g)
        tasks.append(Between(x * max(Fraction(0), 1 - error), x * (1 + error)))
    return Equilibrium(tuple(tasks), prices, frozenset())


def _used(demands: tuple[Row, ...], tasks: Sequence[Fraction], m: int) -> list[Fraction]:
    return [sum((x * row[j] for x, row in zip(tasks, demands, strict=True)), Fraction(0)) for j in range(m)]


def _root_above(value: Fraction) -> Fraction:
    """Return a fraction that is at least the square root."""
    scale = 2**64
    return Fraction(math.isqrt(math.ceil(value * scale * scale)) + 1, scale)
