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

More resources or limits: `solve` computes fractions or enclosures, which takes a hundred times longer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from ..base.numbers.enclosures import Enclosure
from ..engines.reference.path_filling import progressive_filling
from ..model.instance import Instance
from ..solving.allocating import solve
from .economy import Economy, Number, Row, low

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


def clear(cluster: Economy) -> Equilibrium:
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


def _markets(cluster: Economy, users: Sequence[int]) -> list[tuple[list[int], list[int]]]:
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
    return Enclosure(t - width, t + width)


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
    return values[0] if len(values) == 1 or values[0] == values[1] else Enclosure(min(values), max(values))


# ---- any number of resources, and limits ---------------------------------------------------------------------------


def _any(demands: tuple[Row, ...], capacity: Row, weights: Row, limits: tuple) -> Equilibrium:
    instance = Instance([list(row) for row in demands], list(capacity), weights=list(weights), max_tasks=list(limits))
    found = solve(instance, "ceei", exact=True)
    prices = tuple([] if found.prices is None else found.prices.tolist())
    return Equilibrium(tuple(found.tasks.tolist()), prices, frozenset(j for j, p in enumerate(prices) if low(p) > 0))
