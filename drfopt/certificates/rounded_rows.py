"""Rows that whole numbers of users keep and parts of users need not: mixed-integer rounding.

Where a . x <= b holds for whole numbers x >= 0 with integers a and b, f(a) . x <= f(b) does, for any divisor d, with
f(a) = (a div d) (d - r) + max(0, (a mod d) - r), r = b mod d.  `drfopt.certificates.verifier.branches` has the proof.

The row that is rounded is what multipliers say of a claim: options that users take cost no more than there is in all
(`drfopt.certificates.refutation`).  Of each choice one option, the *base*, is taken out: whoever takes another changes
that.  Which rows and divisors say something is a guess (Marchand and Wolsey, Aggregation and mixed integer rounding to
solve MIPs, 2001): the base is what most take in the solution of a linear program, the divisor a change that it divides,
and the row is one resource, alone or with the users at one level.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .claim_options import FRACTIONAL, ClaimOptions
from .packing_bound import Pool, Prices

__all__ = ["Rounding", "Row", "RowFinder", "rounded"]

TIMES = (1, 2, 3)
"""A change that the solution divides is a divisor, and so are its double and its triple."""

LARGEST = 2**36
"""What coefficients of a row may be at most: multipliers of it are to stay within numpy's integers."""

SUMMED, RATIO = 2**50, 2**10
"""What all users may need of a resource, and how much one may count beside another: products are in these integers."""

VIOLATED = 1e-4
"""By how much, in its own length, the solution violates a row that is worth adding."""

TRIED = 32
"""Rows that are looked at closely, in full length, and added at once where they are violated."""


@dataclass(frozen=True, eq=False)
class Rounding:
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
        self.options, self.width = options, len(worth.room)
        demands = np.array(worth.demands, dtype=object).reshape(-1, self.width)
        needs = demands[options.good] * options.tasks[:, None]
        needs = needs if len(needs) == len(options.choice) or not len(needs) else np.add.reduceat(needs, options.starts)
        left = np.array(worth.room, dtype=object) - np.array(options.claim.fixed, dtype=object) @ demands
        # Resources of which amounts are larger are left out.
        summed = np.maximum(needs.max(axis=0, initial=0) * int(options.number.sum()), np.abs(left))
        self.at = np.flatnonzero(summed < SUMMED)
        self.needs, self.left = needs[:, self.at].T.astype(np.int64), left[self.at].astype(np.int64)
        self.allowed = np.array(options.claim.allowed, dtype=np.int64)
        self.stops = np.equal.outer(np.arange(len(self.allowed)), options.row).astype(np.int64)

    def violated(
        self, values: np.ndarray, prices: Sequence[float], counts: Sequence[float]
    ) -> list[tuple[Rounding, Row]]:
        """Return rows that a solution violates, those by most first; the multipliers say which of them to look at."""
        divided = np.flatnonzero(np.abs(values - np.round(values)) > FRACTIONAL)
        if not len(divided):
            return []
        of, at = self._mixed(np.array(prices)[self.at], np.array(counts))
        found: list[tuple[float, int, int, np.ndarray]] = []
        for base in self._bases(values, divided):
            found += self._divided(of, at, base, values, divided)
        found.sort(key=lambda one: -one[0])
        rows = []
        for _, k, divisor, base in found[:TRIED]:
            each, left = of[k] @ self.needs + at[k] @ self.stops, int(of[k] @ self.left + at[k] @ self.allowed)
            row_of = rounded(self.options, each, left, divisor, base)
            costs = row_of.costs.astype(float)
            by = (float(costs @ values) - row_of.most) / (math.sqrt(float(costs @ costs)) or 1.0)
            if by > VIOLATED and costs.max() < LARGEST:
                used = np.zeros(self.width, dtype=np.int64)
                used[self.at] = of[k]
                how = Rounding((tuple(used.tolist()),), tuple(at[k].tolist()), divisor, tuple(base.tolist()))
                rows.append((by, how, row_of))
        rows.sort(key=lambda one: -one[0])
        return [(how, row_of) for _, how, row_of in rows]

    def _mixed(self, prices: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return multipliers of rows to look at, in whole proportions: of resources, and of the users at each level.

        Each resource alone; of those with prices each with one level, with all levels, and with another resource.
        """
        one = np.eye(len(prices), dtype=np.int64)
        of, at = [one], [np.zeros((len(prices), len(counts)), dtype=np.int64)]
        priced, levels = np.flatnonzero(prices > 0), np.flatnonzero(counts > 0)
        for j in priced.tolist():
            times = np.minimum(np.rint(counts / prices[j]), LARGEST).astype(np.int64)
            with_levels = np.vstack([np.diag(times)[levels], times[None]])
            other = [k for k in priced.tolist() if (prices[k], k) > (prices[j], j)]
            pairs = (
                one[other] * np.minimum(np.rint(prices[other] / prices[j]), RATIO).astype(np.int64)[:, None] + one[j]
            )
            of += [np.repeat(one[j][None], len(with_levels), axis=0), pairs]
            at += [with_levels, np.zeros((len(other), len(counts)), dtype=np.int64)]
        return np.vstack(of), np.vstack(at)

    def _bases(self, values: np.ndarray, divided: np.ndarray) -> Iterator[np.ndarray]:
        """Yield options that most take; and where a choice is divided, the first of it, and the last."""
        options, first = self.options, self.options.first
        at = np.flatnonzero(values == np.maximum.reduceat(values, first[:-1])[options.choice])
        base = np.empty(len(options.number), dtype=np.int64)
        base[options.choice[at[::-1]]] = at[::-1]
        yield base
        choices = options.choice[divided]
        for ends in (first[:-1], first[1:] - 1):
            other = base.copy()
            other[choices] = ends[choices]
            yield other

    def _divided(
        self, of: np.ndarray, at: np.ndarray, base: np.ndarray, values: np.ndarray, divided: np.ndarray
    ) -> Iterator[tuple[float, int, int, np.ndarray]]:
        """Yield by how much rows are violated once divided by a divisor, which of them, and the divisor."""
        options = self.options

        def changes_of(some: np.ndarray) -> np.ndarray:
            other = base[options.choice[some]]
            needs, stops = (table[:, some] - table[:, other] for table in (self.needs, self.stops))
            return of @ needs + at @ stops

        taken = np.flatnonzero(values > FRACTIONAL)
        taken = taken[base[options.choice[taken]] != taken]
        changes, some = changes_of(taken), np.abs(changes_of(divided))
        most = of @ (self.left - self.needs[:, base] @ options.number)
        most += at @ (self.allowed - self.stops[:, base] @ options.number)
        divisors = np.concatenate([some * times for times in TIMES], axis=1)
        divisors[divisors >= LARGEST] = 0
        divisors = np.where(divisors > 1, divisors, 1)
        whole, rest = np.divmod(most[:, None], divisors)
        down, over = np.divmod(changes[:, None, :], divisors[:, :, None])
        costs = down + np.maximum(over - rest[:, :, None], 0) / (divisors - rest)[:, :, None]
        by = costs @ values[taken] - whole
        by[divisors == 1] = 0.0
        order = np.argsort(-by, axis=None)[: 2 * TRIED]
        seen = set()
        for k, place in zip(*np.unravel_index(order, by.shape), strict=True):
            key = int(k), int(divisors[k, place])
            if by[k, place] <= VIOLATED:
                return
            if key not in seen:
                seen.add(key)
                yield float(by[k, place]), *key, base
