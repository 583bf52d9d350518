"""Markets of many pools at once: their letters, and the linear algebra of m x m that Newton's method needs.

In shares of the pool, with a[j, i] what user i takes of resource j for a dominant share of 1, and weights that add up
to 1, the equilibrium with equal incomes is

    x_i y_i = w_i                              what a user has, times what she pays for a unit of it
    y_i = sum_j a[j, i] p_j + v_i              her cost, and what her limit is worth to her
    p_j z_j = 0,   z_j = 1 - sum_i a[j, i] x_i
    v_i h_i = 0,   h_i = u_i - x_i             all letters >= 0

Linear equations and products, of which the first aim at the weights and the others at nothing.

Source: Eisenberg and Gale, Annals of Mathematical Statistics 30, 1959; Potra, Weighted complementarity problems - a
new paradigm for computing equilibria, SIAM Journal on Optimization 22, 2012 (products and their aims).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...base.tolerances import RIDGE

__all__ = ["FEW", "Factor", "MarketBlock"]

FEW = 0.6
"""Part of a block that is not finished, below which the others are put aside."""


@dataclass(frozen=True, eq=False)
class MarketBlock:
    """A block of markets.

    Attributes
    ----------
    a : array (m, n, size)
    w : array (n, size)
        0 for who is out.
    u : array (n, size) or None
        Limits; inf for none and for who is out.
    out : bool array (n, size) or None
        Who has no task whatever happens; her a is 0.
    """

    a: np.ndarray
    w: np.ndarray
    u: np.ndarray | None
    out: np.ndarray | None

    @cached_property
    def limited(self) -> Any:
        """Who has a limit, bool (n, size); None where nobody can have one."""
        return None if self.u is None else self.u < np.inf

    @cached_property
    def products(self) -> np.ndarray | float:
        """How many products go to zero, (size,) or the same for all."""
        return float(len(self.a)) + (0.0 if self.limited is None else self.limited.sum(axis=0))

    @cached_property
    def poorest(self) -> np.ndarray:
        """Weight of the poorest who is not out, relative to the mean, (size,); 1 where all are out."""
        playing = self.w > 0
        weight = np.where(playing, self.w, np.inf).min(axis=0) * playing.sum(axis=0)
        return np.where(playing.any(axis=0), weight, 1.0)

    def cost(self, prices: np.ndarray) -> np.ndarray:
        """Return what a unit of each user costs, (n, size); 1 for who is out, so that her w / cost is 0."""
        cost = self.worth(prices)
        return cost if self.out is None else cost + self.out

    def worth(self, prices: np.ndarray) -> np.ndarray:
        """Return what each user takes for a unit, at prices (m, size), whoever she is, (n, size)."""
        return np.einsum("jib,jb->ib", self.a, prices)

    def used(self, x: np.ndarray) -> np.ndarray:
        """Return what users take together of each resource with amounts x (n, size), (m, size)."""
        return np.einsum("jib,ib->jb", self.a, x)

    def response(self, prices: np.ndarray) -> np.ndarray:
        """Return what users want at the prices, (n, size)."""
        wish = self.w / self.cost(prices)
        return wish if self.u is None else np.minimum(wish, self.u)

    def kernel(self, d: np.ndarray) -> list[list[np.ndarray]]:
        """Return the lower triangle of ``sum_i d_i a_i a_i'``, row by row, of arrays (size,)."""
        rows = []
        for j, row in enumerate(self.a):
            part = d * row
            rows.append([np.einsum("ib,ib->b", part, other) for other in self.a[: j + 1]])
        return rows

    def taken(self, lanes: np.ndarray) -> "MarketBlock":
        """Return some of the markets."""
        u = None if self.u is None else self.u[:, lanes]
        out = None if self.out is None else self.out[:, lanes]
        return MarketBlock(self.a[..., lanes], self.w[:, lanes], u, out)


class Factor:
    """Cholesky factors of matrices m x m, one a pool: entries are arrays (size,)."""

    def __init__(self, rows: list[list[np.ndarray]]):
        self.rows: list[list[np.ndarray]] = []
        self.inverse: list[np.ndarray] = []
        for j, row in enumerate(rows):
            found: list[np.ndarray] = []
            for k in range(j):
                rest = row[k]
                for q in range(k):
                    rest = rest - found[q] * self.rows[k][q]
                found.append(rest * self.inverse[k])
            rest = row[j]
            for entry in found:
                rest = rest - entry * entry
            self.inverse.append(1 / np.sqrt(np.maximum(rest, RIDGE * row[j])))
            self.rows.append(found)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return the solutions of right-hand sides (m, size)."""
        found = np.empty_like(right)
        m = len(right)
        for j in range(m):
            rest = right[j]
            for k in range(j):
                rest = rest - self.rows[j][k] * found[k]
            np.multiply(rest, self.inverse[j], out=found[j])
        for j in reversed(range(m)):
            rest = found[j]
            for k in range(j + 1, m):
                rest = rest - self.rows[k][j] * found[k]
            np.multiply(rest, self.inverse[j], out=found[j])
        return found
