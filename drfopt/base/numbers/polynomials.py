"""Polynomials in fractions, lowest power first, and where they change sign: Sturm's theorem."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

__all__ = [
    "Polynomial",
    "add",
    "at",
    "derivative",
    "isolated",
    "narrowed",
    "product",
    "samples",
    "scaled",
    "square_free",
]

Polynomial = list[Fraction]


def trimmed(p: Sequence[Fraction]) -> Polynomial:
    """Return the polynomial without leading zeros; the zero polynomial is empty."""
    end = len(p)
    while end and not p[end - 1]:
        end -= 1
    return list(p[:end])


def add(p: Sequence[Fraction], q: Sequence[Fraction]) -> Polynomial:
    """Return the sum."""
    longer, shorter = (p, q) if len(p) >= len(q) else (q, p)
    return trimmed([a + (shorter[k] if k < len(shorter) else 0) for k, a in enumerate(longer)])


def scaled(factor: Fraction, p: Sequence[Fraction]) -> Polynomial:
    """Return a factor times the polynomial."""
    return trimmed([factor * a for a in p])


def product(p: Sequence[Fraction], q: Sequence[Fraction]) -> Polynomial:
    """Return the product."""
    if not p or not q:
        return []
    result = [Fraction(0)] * (len(p) + len(q) - 1)
    for k, a in enumerate(p):
        for h, b in enumerate(q):
            result[k + h] += a * b
    return trimmed(result)


def derivative(p: Sequence[Fraction]) -> Polynomial:
    """Return the derivative."""
    return trimmed([k * a for k, a in enumerate(p)][1:])


def at(p: Sequence[Fraction], t: Fraction) -> Fraction:
    """Return the value at t."""
    value = Fraction(0)
    for a in reversed(p):
        value = value * t + a
    return value


def _divided(p: Polynomial, q: Polynomial) -> tuple[Polynomial, Polynomial]:
    rest, quotient = list(p), [Fraction(0)] * max(len(p) - len(q) + 1, 0)
    while len(rest) >= len(q):
        factor, shift = rest[-1] / q[-1], len(rest) - len(q)
        quotient[shift] = factor
        rest = trimmed([a - (factor * q[k - shift] if k >= shift else 0) for k, a in enumerate(rest)][:-1])
    return trimmed(quotient), rest


def square_free(p: Polynomial) -> Polynomial:
    """Return a polynomial with the same roots, each of them once."""
    one, other = p, derivative(p)
    while other:
        one, other = other, _divided(one, other)[1]
        other = scaled(1 / other[-1], other) if other else other
    return _divided(p, one)[0] if len(one) > 1 else p


def isolated(p: Polynomial, lower: Fraction, upper: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Return the roots in the open interval, in order: each alone between two fractions, or twice the root itself.

    Ends of the intervals are no roots, unless both are the same.
    """
    p = square_free(trimmed(p))
    if len(p) < 2:
        return []
    chain = [p, derivative(p)]
    while len(chain[-1]) > 1:
        rest = scaled(Fraction(-1), _divided(chain[-2], chain[-1])[1])
        if not rest:
            break
        chain.append(scaled(1 / abs(rest[-1]), rest))

    def changes(t: Fraction) -> int:
        signs = [value for value in (at(q, t) for q in chain) if value]
        return sum((a < 0) != (b < 0) for a, b in pairwise(signs))

    found: list[tuple[Fraction, Fraction]] = []

    def search(a: Fraction, b: Fraction) -> None:
        # Sturm counts the roots in (a, b]; one at b has been put aside by whoever called.
        count = changes(a) - changes(b) - (not at(p, b))
        if not count:
            return
        middle = (a + b) / 2
        if not at(p, middle):
            search(a, middle)
            found.append((middle, middle))
            search(middle, b)
        elif count == 1 and at(p, a) and at(p, b):
            found.append((a, b))
        else:
            search(a, middle)
            search(middle, b)

    search(lower, upper)
    return found


def samples(p: Polynomial, lower: Fraction, upper: Fraction) -> list[Fraction]:
    """Return one point of the open interval between any two roots of the polynomial that follow each other."""
    walls = [(lower, lower), *isolated(p, lower, upper), (upper, upper)]
    return [(after + before) / 2 for (_, after), (before, _) in pairwise(walls)]


def narrowed(p: Polynomial, interval: tuple[Fraction, Fraction], width: Fraction) -> tuple[Fraction, Fraction]:
    """Return the interval of one simple root, halved until it is at most so wide."""
    a, b = interval
    if a == b:
        return interval
    p = square_free(trimmed(p))
    negative = at(p, a) < 0
    while b - a > width:
        middle = (a + b) / 2
        value = at(p, middle)
        if not value:
            return middle, middle
        a, b = (middle, b) if (value < 0) == negative else (a, middle)
    return a, b
