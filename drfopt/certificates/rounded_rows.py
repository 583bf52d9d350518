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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .claim_options import FRACTIONAL, ClaimOptions
from .packing_bound import Pool, Prices

__all__ = ["Row", "RowFinder", "RoundedRow", "rounded"]

TIMES = (1, 2, 3)
"""A change that the solution divides is a divisor, and so are its double and its triple."""

LARGEST = 2**40
"""What coefficients of a row may be at most: multipliers of it are to stay within numpy's integers."""

VIOLATED = 1e-4
"""By how much, in its own length, the solution violates a row that is worth adding."""

TRIED, KEPT = 3, 2
"""Divisors of one row that are looked at closely, and kept."""

MOST = 24
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


class RowFinder:
    """Finds rows that a solution of a claim of a pool violates: of one resource, alone or with the users at a level."""

    def __init__(self, options: ClaimOptions, worth: Pool):
        self.options, self.claim = options, options.claim
        self.allowed = np.array(self.claim.allowed, dtype=np.int64)
        demands = np.array(worth.demands, dtype=object).reshape(-1, len(worth.room))
        needs = demands[options.good] * options.tasks[:, None]
        needs = needs if len(needs) == len(options.choice) or not len(needs) else np.add.reduceat(needs, options.starts)
        left = np.array(worth.room, dtype=object) - np.array(self.claim.fixed, dtype=object) @ demands
        largest = np.maximum(needs.max(axis=0, initial=0), np.abs(left))
        # Resources of which amounts are larger are left out.
        self.resources = np.flatnonzero(largest < LARGEST).tolist()
        self.needs, self.left = {}, {}
        for j in self.resources:
            self.needs[j], self.left[j] = needs[:, j].astype(np.int64), int(left[j])
        self.width = len(worth.room)

    def violated(self, values: np.ndarray, prices: Sequence[float], counts: Sequence[float]) -> list[RoundedRow]:
        """Return rows that a solution violates, those by most first; the multipliers say which levels to look at."""
        options, found = self.options, []
        fractional = np.flatnonzero(np.abs(values - np.round(values)) > FRACTIONAL)
        if not len(fractional):
            return []
        bases = list(self._bases(values, fractional))
        for j in self.resources:
            levels = [(None, 0)]
            if prices[j] > 0:
                levels += [(r, round(count / prices[j])) for r, count in enumerate(counts) if count > 0]
            for row, times in levels:
                each, left = self.needs[j], self.left[j]
                if row is not None and 0 < times < LARGEST:
                    each, left = each + times * (options.row == row), left + times * int(self.allowed[row])
                elif row is not None:
                    continue
                for base in bases:
                    for by, divisor in self._divided(each, left, base, values, fractional):
                        counted = tuple(times * (row == other) for other in range(len(counts)))
                        alone = tuple(int(j == other) for other in range(self.width))
                        found.append((by, RoundedRow((alone,), counted, divisor, tuple(base.tolist()))))
        found.sort(key=lambda one: -one[0])
        return [how for _, how in found[:MOST]]

    def _bases(self, values: np.ndarray, fractional: np.ndarray) -> Iterator[np.ndarray]:
        """Yield options that most take; and where a choice is divided, the first of it, and the last."""
        options, first = self.options, self.options.first
        at = np.flatnonzero(values == np.maximum.reduceat(values, first[:-1])[options.choice])
        base = at[np.unique(options.choice[at], return_index=True)[1]]
        yield base
        divided = np.unique(options.choice[fractional])
        for ends in (first[:-1], first[1:] - 1):
            other = base.copy()
            other[divided] = ends[divided]
            yield other

    def _divided(
        self, each: np.ndarray, left: int, base: np.ndarray, values: np.ndarray, fractional: np.ndarray
    ) -> list[tuple[float, int]]:
        """Return by how much rows are violated, and divisors: of some that say something."""
        options = self.options
        taken = np.flatnonzero(values > FRACTIONAL)
        taken = taken[base[options.choice[taken]] != taken]
        changes, parts = each[taken] - each[base[options.choice[taken]]], values[taken]
        most = left - int((each[base] * options.number).sum())
        some = np.abs(each[fractional] - each[base[options.choice[fractional]]])
        divisors = np.unique(np.concatenate([some * times for times in TIMES]))
        divisors = divisors[(divisors > 1) & (divisors < LARGEST)]
        if not len(divisors):
            return []
        rest = most % divisors
        down, over = np.divmod(changes, divisors[:, None])
        costs = down + np.maximum(over - rest[:, None], 0) / (divisors - rest)[:, None]
        by = costs @ parts - most // divisors
        found = []
        for place in np.argsort(-by)[:TRIED].tolist():
            if by[place] > VIOLATED:
                divisor = int(divisors[place])
                row = rounded(options, each, left, divisor, base)
                length = float(np.sqrt((row.costs.astype(float) ** 2).sum()))
                missed = (float(row.costs @ values) - row.most) / (length or 1.0)
                if missed > VIOLATED and row.costs.max() < LARGEST:
                    found.append((missed, divisor))
        found.sort(reverse=True)
        return found[:KEPT]
