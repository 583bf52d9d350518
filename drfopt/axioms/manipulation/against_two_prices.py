"""The best misreport against the market with equal incomes on one pool of two resources, exactly.

By the prices p that her report brings about, user i can get exactly what the others leave at them,

    left[j](p) = c[j] - sum_k w[k] d[k, j] / (p . d[k])        where p[j] > 0, and at most that where p[j] = 0,

over the segment p . c = W; her report is then in proportion to it.  With p = W (t / c[1], (1 - t) / c[2]) this is one
variable t, and with a and b the shares that one task takes, and shares r of what is left,

    r1(t) = 1 - sum_k w[k] a[k] / (W q[k](t)),   r2(t) likewise with b,   q[k](t) = t a[k] + (1 - t) b[k].

She gains exactly where r1 > x a[i] and r2 > x b[i], x what the truth brings: two polynomial inequalities, whose roots
Sturm's theorem isolates.  Where x is irrational it is known as an enclosure; then the gap in which a gain is not
excluded must be the neighbourhood of the truth alone, on which r1 and r2 are monotone in opposite directions.

Her largest gain lies at an end, at a root of r1 / a[i] - r2 / b[i], or at a root of a derivative.
"""

from fractions import Fraction
from functools import reduce
from itertools import pairwise

from ...base.numbers.enclosures import Enclosure
from ...base.numbers.polynomials import Polynomial, add, at, derivative, isolated, narrowed, product, scaled
from ..case import AuditCase
from ..economy import Number, exactly, high, low
from .misreports import Response, rescaled, worth

__all__ = ["RationalCurve", "best"]

NARROW = Fraction(1, 2**40)
"""Width to which a root is narrowed before a fraction in it stands for it: a misreport needs no more digits."""

SIMPLE = 10**4
"""Largest denominator of a fraction that a root may really be."""


class RationalCurve:
    """The curve of what the others leave user i, as rational functions of t with one denominator."""

    def __init__(self, case: AuditCase, i: int):
        cluster = case.cluster
        self.case, self.i = case, i
        shares = [tuple(d / c for d, c in zip(row, cluster.pool, strict=True)) for row in cluster.demands]
        others = [k for k in range(cluster.n) if k != i and cluster.limits[k] != 0]
        income = sum((cluster.weights[k] for k in [i, *others]), Fraction(0))
        self.mine = shares[i]
        self.terms = [(cluster.weights[k] / income, *shares[k]) for k in others]
        factors = [[b, a - b] for _, a, b in self.terms]
        one: Polynomial = [Fraction(1)]
        self.below = reduce(product, factors, one)
        rest = [reduce(product, factors[:k] + factors[k + 1 :], one) for k in range(len(factors))]
        self.left = [
            reduce(add, (scaled(-term[0] * term[1 + j], rest[k]) for k, term in enumerate(self.terms)), self.below)
            for j in range(2)
        ]

    def shares_left(self, t: Fraction) -> tuple[Fraction, Fraction] | None:
        """Return the shares of the two resources that are left at t; None where somebody's task would be free."""
        under = at(self.below, t)
        return None if not under else (at(self.left[0], t) / under, at(self.left[1], t) / under)

    def value(self, t: Fraction) -> Fraction:
        """Return the tasks user i could run with what is left at t; -1 where that is nothing one can hold."""
        left = self.shares_left(t)
        if left is None or min(left) < 0:
            return Fraction(-1)
        return min(r / a for r, a in zip(left, self.mine, strict=True) if a)

    def beyond(self, tasks: Fraction) -> list[Polynomial]:
        """Return polynomials that are all positive inside (0, 1) where user i could run more than so many tasks."""
        return [add(left, scaled(-tasks * a, self.below)) for left, a in zip(self.left, self.mine, strict=True)]

    def slopes(self) -> list[Polynomial]:
        """Return the numerators of the derivatives of r1 and r2, over positive denominators."""
        under = derivative(self.below)
        return [
            add(product(derivative(left), self.below), scaled(Fraction(-1), product(left, under))) for left in self.left
        ]


def best(case: AuditCase, i: int) -> Response:
    """Return user i's best response."""
    cluster, truth = case.cluster, case.truth.tasks[i]
    stuck = any(d and not c for d, c in zip(cluster.demands[i], cluster.pool, strict=True))
    if cluster.n == 1 or stuck or cluster.limits[i] == 0:
        return Response(None, None, truth)
    curve = RationalCurve(case, i)
    certain = _gains(curve, high(truth))
    if not certain:
        decided = exactly(truth) or _only_the_truth(curve, low(truth))
        return Response(None, None, truth if decided else None, decided=decided)
    t, most = _peak(curve)
    report = _report(curve, t)
    value, _ = worth(case, i, report)
    return Response(report, value, most)


def _gains(curve: RationalCurve, tasks: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Return intervals of t, none too short, that cover where user i gets more than so many tasks."""
    conditions = curve.beyond(tasks)
    if not all(conditions):
        return []
    both = reduce(product, conditions)
    roots = [narrowed(both, root, NARROW) for root in isolated(both, Fraction(0), Fraction(1))]
    walls = [(Fraction(0), Fraction(0)), *roots, (Fraction(1), Fraction(1))]
    found = []
    for (first, after), (before, last) in pairwise(walls):
        # Two isolating intervals may touch, at a point that is no root.
        if all(at(p, (after + before) / 2) > 0 for p in conditions):
            found.append((first, last))
    return found


def _only_the_truth(curve: RationalCurve, tasks: Fraction) -> bool:
    """Say whether slightly less than the truth is to be had in one interval only, in which the truth is the most."""
    found = _gains(curve, tasks)
    if len(found) > 1:
        return False
    if not found:
        return True
    a, b = found[0]
    one, two = curve.slopes()
    if isolated(one, a, b) or isolated(two, a, b):
        return False
    middle = (a + b) / 2
    return at(one, middle) * at(two, middle) < 0


def _peak(curve: RationalCurve) -> tuple[Fraction, Number]:
    """Return a t at which user i gets most, as nearly as a fraction can say, and an enclosure of the most."""
    cross = add(scaled(curve.mine[1], curve.left[0]), scaled(-curve.mine[0], curve.left[1]))
    candidates: list[tuple[Fraction, Fraction]] = [(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))]
    for p in (cross, *curve.slopes()):
        candidates += [_pinned(p, root) for root in isolated(p, Fraction(0), Fraction(1))]
    scored = [(curve.value(_simplest(root)), _simplest(root), root) for root in candidates]
    value, t, (a, b) = max(scored)
    if a == b:
        return t, value
    return t, Enclosure(value, value + _wobble(curve, a, b))


def _pinned(p: Polynomial, root: tuple[Fraction, Fraction]) -> tuple[Fraction, Fraction]:
    a, b = narrowed(p, root, NARROW)
    guess = ((a + b) / 2).limit_denominator(SIMPLE)
    return (guess, guess) if a <= guess <= b and not at(p, guess) else (a, b)


def _simplest(root: tuple[Fraction, Fraction]) -> Fraction:
    a, b = root
    return a if a == b else ((a + b) / 2).limit_denominator(10**7)


def _wobble(curve: RationalCurve, a: Fraction, b: Fraction) -> Fraction:
    """Return more than the value can change between a and b: each q[k] is linear, so their least is at an end."""
    width, change = max(b - a, NARROW), Fraction(0)
    for w, p, q in curve.terms:
        low_q = min(t * p + (1 - t) * q for t in (max(a - NARROW, Fraction(0)), min(b + NARROW, Fraction(1))))
        if low_q:
            change += w * max(p, q) * abs(p - q) / (low_q * low_q)
    return 4 * width * change / min(x for x in curve.mine if x)


def _report(curve: RationalCurve, t: Fraction) -> tuple[Fraction, ...]:
    left = curve.shares_left(t) or (Fraction(0), Fraction(0))
    bundle = tuple(r * c for r, c in zip(left, curve.case.cluster.pool, strict=True))
    return rescaled(curve.case, curve.i, bundle)
