"""Rows that whole numbers keep and parts of users do not: mixed-integer rounding.

Theorem. Let a_1 x_1 + ... + a_n x_n <= b with integers a and b hold for whole numbers x >= 0, d > 0 be an integer, r = b
mod d < d, and f(a) = (a div d) (d - r) + max(0, (a mod d) - r).  Then f(a_1) x_1 + ... + f(a_n) x_n <= (b div d) (d - r).

Proof. Let S be where a_i mod d > r, y the sum of (a_i div d) x_i, with one x_i more of each of S, which is whole, and
t >= 0 the sum of (d - a_i mod d) x_i over S.  The left side of the row is at least d y - t, and that of the new one is
(d - r) y - t.  With q = b div d: if y <= q, that is at most (d - r) q, since t >= 0.  If y > q, t >= d y - b =
d (y - q) - r, so that (d - r) y - t <= (d - r) q - r (y - q - 1) <= (d - r) q.  []

The row that is rounded is what multipliers say of a claim: the prices of the options that users take are at most what
there is in all (`drfopt.certificates.refutation`).  Of each choice one option, the *base*, is taken out, as what all its
users pay who take another is a change from it.  Which rows and divisors say something is a guess (Marchand and Wolsey
2001): the base is the option that most take in the solution of a linear program, the divisor a change that it divides.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .claim_options import FRACTIONAL, ClaimOptions
from .packing_bound import Pool, Prices

__all__ = ["Row", "RoundedRow", "rounded", "violated"]

TIMES = (1, 2, 3)
"""A change that the solution divides is a divisor, and so are its double and its triple."""

LARGEST = 2**40
"""What coefficients of a row may be at most: multipliers of it are to stay within numpy's integers."""

VIOLATED = 1e-4
"""By how much, in its own length, the solution violates a row that is worth adding."""

MOST = 8
"""Rows that are added at once."""


@dataclass(frozen=True, eq=False)
class RoundedRow:
    """How a row is made: the multipliers of a claim, and what is rounded.

    Attributes
    ----------
    prices, counts
        Multipliers of what can be run, and of the rows of the claim.
    divisor : int
    base : tuple of int
        An option of each choice.
    """

    prices: Prices
    counts: tuple[int, ...]
    divisor: int
    base: tuple[int, ...]


class Row(NamedTuple):
    """What each option costs of a row, at least 0, and what all cost at most."""

    costs: np.ndarray
    most: int


def rounded(options: ClaimOptions, prices: np.ndarray, total: int, divisor: int, base: np.ndarray) -> Row:
    """Return the row that prices of options, and what they may cost in all, are rounded to; no cost below 0."""
    each = prices[base]
    changes, most = prices - each[options.choice], total - int((each * options.number).sum())
    rest = most % divisor
    costs = changes // divisor * (divisor - rest) + np.maximum(changes % divisor - rest, 0)
    least = np.minimum.reduceat(costs, options.first[:-1])
    most = most // divisor * (divisor - rest) - int((least * options.number).sum())
    return Row(costs - least[options.choice], most)


def violated(options: ClaimOptions, worth: Pool, values: np.ndarray) -> list[tuple[RoundedRow, Row]]:
    """Return rows of single resources of a pool that a solution violates, those by most first."""
    first = options.first[:-1]
    fractional = np.abs(values - np.round(values)) > FRACTIONAL
    most = np.maximum.reduceat(values, first)[options.choice]
    at = np.flatnonzero(values == most)
    _, where = np.unique(options.choice[at], return_index=True)
    bases = at[where], options.first[1:] - 1
    rows = []
    for j, total in enumerate(worth.room):
        prices = (tuple(int(j == other) for other in range(len(worth.room))),)
        costs, _ = worth.priced(prices)
        counts = (0,) * len(options.claim.allowed)
        each = options.prices(costs, counts)
        if each.dtype == object or each.max(initial=0) >= LARGEST:
            continue
        left = total - sum(x * cost for x, cost in zip(options.claim.fixed, costs, strict=True))
        best: tuple[float, RoundedRow, Row] | None = None
        for base in bases:
            for divisor in _divisors(each, base, options, fractional):
                row = rounded(options, each, left, divisor, base)
                length = float(np.sqrt((row.costs.astype(float) ** 2).sum()))
                by = (float(row.costs @ values) - row.most) / (length or 1.0)
                if by > max(VIOLATED, best[0] if best else 0.0) and row.costs.max() < LARGEST:
                    best = by, RoundedRow(prices, counts, divisor, tuple(base.tolist())), row
        if best:
            rows.append(best)
    rows.sort(key=lambda one: -one[0])
    return [(how, row) for _, how, row in rows[:MOST]]


def _divisors(each: np.ndarray, base: np.ndarray, options: ClaimOptions, fractional: np.ndarray) -> Iterator[int]:
    changes = np.abs(each - each[base][options.choice])
    some = np.unique(changes[fractional & (changes > 0)])
    found = np.unique(np.concatenate([*(some * k for k in TIMES), [changes.max(initial=0) + 1]]))
    return (d for d in found.tolist() if 1 < d < LARGEST)
