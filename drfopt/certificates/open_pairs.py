"""Pairs (row of demands, class) on which tasks fit, some rows at a time: as a table, or listed where few are open."""

from dataclasses import dataclass

import numpy as np

__all__ = ["OpenPairs"]

CELLS = 1 << 16
"""Cells looked at in one go, so that a few arrays of them stay in the processor's cache."""

LISTED = 0.12
"""Part of a table that is open below which its pairs are listed."""


@dataclass(frozen=True, eq=False)
class OpenPairs:
    """Some rows of demands and the classes open to them.

    Attributes
    ----------
    rows : slice
    at : tuple
        Where the pairs are in a table (rows, k).
    shut : bool array (b, k) or None
        Of a table, which of its pairs are none.
    owner, starts : int arrays or None
        Of a list, the row (p,) of each pair, counted from the first, and each row's first pair; every row has one.
    """

    rows: slice
    at: tuple
    shut: np.ndarray | None = None
    owner: np.ndarray | None = None
    starts: np.ndarray | None = None

    @classmethod
    def of(cls, n: int, k: int, fits: np.ndarray | None) -> list["OpenPairs"]:
        """Return n rows in blocks, told which of k classes are open (n, k), or None for all."""
        step = max(1, CELLS // max(1, k))
        blocks = [slice(a, min(a + step, n)) for a in range(0, n, step)]
        if fits is None:
            return [cls(rows, (rows, slice(None))) for rows in blocks]
        listed = np.count_nonzero(fits) < LISTED * fits.size and bool(fits.any(axis=1).all())
        if not listed:
            return [cls(rows, (rows, slice(None)), ~fits[rows]) for rows in blocks]
        found = []
        for rows in blocks:
            owner, place = np.nonzero(fits[rows])
            starts = np.searchsorted(owner, np.arange(rows.stop - rows.start))
            found.append(cls(rows, (owner + rows.start, place), None, owner, starts))
        return found

    def costs(self, demands: np.ndarray, per_unit: np.ndarray) -> np.ndarray:
        """Return what a task costs at prices (k, m) of one unit, of pairs that are none too."""
        if self.owner is None:
            return np.asarray(demands[self.rows] @ per_unit.T)
        return np.asarray(np.einsum("pj,pj->p", demands[self.at[0]], per_unit[self.at[1]]))

    def cheapest(self, costs: np.ndarray, closed: np.ndarray) -> np.ndarray:
        """Return the least cost of each row, but for what is closed (rows, k); inf where nothing is left."""
        costs[closed[self.at]] = np.inf
        if self.starts is not None:
            return np.asarray(np.minimum.reduceat(costs, self.starts))
        if self.shut is not None:
            costs[self.shut] = np.inf
        return np.asarray(costs.min(axis=1))

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Return values of all rows at these rows' pairs."""
        return values[self.rows, None] if self.owner is None else values[self.at[0]]
