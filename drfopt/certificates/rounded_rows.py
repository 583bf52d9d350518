"""Rows that whole numbers of users keep and parts of users need not: mixed-integer rounding.

Where a . x <= b holds for whole numbers x >= 0 with integers a and b, f(a) . x <= f(b) does, for any divisor d, with
f(a) = (a div d) (d - r) + max(0, (a mod d) - r), r = b mod d.  `drfopt.certificates.verifier.branches` has the proof.

The row that is rounded is what multipliers say of a claim: options that users take cost no more than there is in all
(`drfopt.certificates.refutation`).  Of each choice one option, the *base*, is taken out: whoever takes another changes
that.  Which rows and divisors say something is a guess (Marchand and Wolsey, Aggregation and mixed integer rounding to
solve MIPs, 2001): the base is what most take in the solution of a linear program, the divisor a change that it divides,
and the row is one resource, alone or with the users at one level.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .claim_options import FRACTIONAL, ClaimOptions, OptionNeeds
from .packing_bound import Prices

__all__ = ["Rounding", "Row", "RowFinder", "rounded"]

LARGEST = 2**36
"""What coefficients of a row may be at most: multipliers of it are to stay within numpy's integers."""

SUMMED, RATIO = 2**50, 2**10
"""What all users may need of a resource, and how much one may count beside another: products are in these integers."""

VIOLATED = 1e-4
"""By how much, in its own length, the solution violates a row that is worth adding."""

TRIED = 64
"""Rows that are looked at closely, in full length, and added at once where they are violated."""


@dataclass(frozen=True, eq=False)
class Rounding:
    """How a row is made: the multipliers of a claim, and what is rounded.

    Attributes
    ----------
    prices, counts
        Multipliers of what can be run, and of the rows of the claim.
    divisor : int
    base : sequence of int
        An option of each choice.
    """

    prices: Prices
    counts: tuple[int, ...]
    divisor: int
    base: Any


class Row(NamedTuple):
    """What each option costs of a row, at least 0, and what all cost at most."""

    costs: np.ndarray
    most: Any


def rounded(options: ClaimOptions, prices: np.ndarray, total: Any, divisor: Any, base: np.ndarray) -> Row:
    """Return the row that prices of options, and what they may cost in all, are rounded to; no cost below 0.

    Or several rows at once, an entry of each argument for each of them.
    """
    each = np.take_along_axis(prices, base, -1)
    changes, most = prices - each[..., options.choice], total - each @ options.number
    divisors, rest = np.asarray(divisor)[..., None], np.asarray(most % divisor)[..., None]
    costs = changes // divisors * (divisors - rest) + np.maximum(changes % divisors - rest, 0)
    least = np.minimum.reduceat(costs, options.first[:-1], axis=-1)
    most = most // divisor * (divisor - most % divisor) - least @ options.number
    return Row(costs - least[..., options.choice], most)


class RowFinder:
    """Finds rows that a solution of a claim of a pool violates: of one resource, alone or with the users at a level."""

    def __init__(self, options: ClaimOptions, needed: OptionNeeds):
        self.options, self.width = options, len(needed.left)
        needs, left = needed.table, needed.left
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
        bases = list(self._bases(values, divided))
        found = [self._divided(of, at, base, values, divided) for base in bases]
        by, k, divisor = (np.concatenate(part) for part in zip(*found, strict=True))
        order = np.argsort(-by, kind="stable")[:TRIED]
        if not len(order):
            return []
        of_base = np.repeat(np.arange(len(bases)), [len(one[0]) for one in found])[order]
        k, divisor, base = k[order], divisor[order], np.array(bases)[of_base]
        of, at = of[k], at[k]
        total = of @ self.left + at @ self.allowed
        costs, most = rounded(self.options, of @ self.needs + at @ self.stops, total, divisor, base)
        size = np.sqrt((costs.astype(float) ** 2).sum(axis=1))
        by = (costs @ values - most) / np.where(size > 0, size, 1.0)
        kept = np.flatnonzero((by > VIOLATED) & (costs.max(axis=1, initial=0) < LARGEST))
        used = np.zeros((len(k), self.width), dtype=np.int64)
        used[:, self.at] = of
        rows = []
        for row in kept[np.argsort(-by[kept], kind="stable")].tolist():
            how = Rounding((tuple(used[row].tolist()),), tuple(at[row].tolist()), int(divisor[row]), base[row])
            rows.append((how, Row(costs[row], int(most[row]))))
        return rows

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
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return by how much rows are violated once divided by a divisor, which of them, and the divisor."""
        options = self.options
        taken = np.flatnonzero(values > FRACTIONAL)
        taken = taken[base[options.choice[taken]] != taken]
        some = np.concatenate([taken, divided])
        other = base[options.choice[some]]
        changes = of @ (self.needs[:, some] - self.needs[:, other]) + at @ (self.stops[:, some] - self.stops[:, other])
        changes, some = changes[:, : len(taken)], np.abs(changes[:, len(taken) :])
        most = of @ (self.left - self.needs[:, base] @ options.number)
        most += at @ (self.allowed - self.stops[:, base] @ options.number)
        # Each row with each of its divisors, once.
        divisors = np.sort(some, axis=1)
        first = (divisors > 1) & (divisors < LARGEST)
        first[:, 1:] &= divisors[:, 1:] != divisors[:, :-1]
        k, place = np.nonzero(first)
        divisors = divisors[k, place]
        whole, rest = np.divmod(most[k], divisors)
        down, over = np.divmod(changes[k], divisors[:, None])
        costs = down + np.maximum(over - rest[:, None], 0) / (divisors - rest)[:, None]
        by = costs @ values[taken] - whole
        best = np.argsort(-by, kind="stable")[:TRIED]
        best = best[by[best] > VIOLATED]
        return by[best], k[best], divisors[best]
