"""Allocations that satisfy a claim of a pool: near the solution of its linear program, and checked in integers.

A solution that is a vertex divides few users among options.  All ways to put these in one option each are tried.
"""

from itertools import repeat

import numpy as np

from .claim_options import FRACTIONAL, ClaimOptions, OptionNeeds

__all__ = ["ClaimPoints"]

WAYS = 4_096
"""Ways that are tried: where there are more, users who nearly take one option take it."""

MISSED = 1e-9
"""Part of an amount that floats may miss: integers decide."""


class ClaimPoints:
    """Numbers of users who take each option of a claim of a pool.

    Attributes
    ----------
    uses : array (options, resources and rows)
        What a user of each option needs, and at which level it stops.
    change : array (options,)
        How much other its needs are than those of the last option of its choice, in parts of the largest changes.
    """

    def __init__(self, options: ClaimOptions, needed: OptionNeeds):
        self.options, self.claim, self.needed = options, options.claim, needed
        needs = needed.table.astype(float)
        stops = np.equal.outer(options.row, np.arange(len(self.claim.allowed))).astype(float)
        self.uses = np.hstack([needs, stops])
        changes = np.abs(needs - needs[options.first[1:] - 1][options.choice])
        self.change = (changes / np.maximum(changes.max(axis=0, initial=0.0), 1.0)).sum(axis=1)
        self.most = np.concatenate([needed.left.astype(float), self.claim.allowed])

    def satisfies(self, numbers: np.ndarray) -> bool:
        """Say whether these numbers of users are an allocation that the claim says does not exist; in integers."""
        if not self.options.allowed(numbers):
            return False
        return bool((numbers @ self.needed.table <= self.needed.left).all())

    def near(self, values: np.ndarray) -> np.ndarray | None:
        """Return such numbers near those of a solution, of which the fewest stop at the level; None where none is."""
        options = self.options
        whole = np.floor(values + FRACTIONAL)
        parts = values - whole
        left = options.number - np.add.reduceat(whole, options.first[:-1])
        slots = [k for k, units in enumerate(left.tolist()) for _ in repeat(None, int(units))]
        among = []
        for k in slots:
            a, b = options.first[k], options.first[k + 1]
            among.append(a + np.flatnonzero(parts[a:b] > FRACTIONAL))
        ways = 1
        for at in sorted(range(len(slots)), key=lambda at: parts[among[at]].max(initial=0.0)):
            if not len(among[at]):
                return None
            ways *= len(among[at])
            if ways > WAYS:
                ways //= len(among[at])
                among[at] = among[at][[int(np.argmax(parts[among[at]]))]]
        room = self.most - whole @ self.uses
        room += MISSED * (1 + np.abs(self.most))
        # What those who are still to choose need at least of each thing.
        rest = np.cumsum([self.uses[some].min(axis=0) for some in among[::-1]], axis=0)[::-1]
        uses, way = np.zeros((1, self.uses.shape[1])), np.zeros(1, dtype=np.int64)
        for some, later in zip(among, [*rest[1:], 0.0], strict=False):
            uses = (uses[:, None] + self.uses[some]).reshape(-1, uses.shape[1])
            fits = np.flatnonzero((uses + later <= room).all(axis=1))
            if not len(fits):
                return None
            uses, way = uses[fits], (way[:, None] * len(some) + np.arange(len(some))).ravel()[fits]
        best = way[np.argmin(uses[:, -1])]
        numbers = whole.astype(np.int64)
        for some, chosen in zip(among, np.unravel_index(best, [len(some) for some in among]), strict=True):
            numbers[some[chosen]] += 1
        return numbers if self.satisfies(numbers) else None
