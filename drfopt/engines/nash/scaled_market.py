"""The market behind CEEI and alpha fairness in scaled letters, and the linear algebra its Newton steps share.

    maximise    sum_i phi_i(t_i),   t_i = sum_k v_ik,   phi_i'(t) = g_i t^(-alpha),   sum_i g_i = 1
    subject to  sum a_rik v_ik <= 1  for every row r (class, resource)                      price p_r >= 0
                t_i            <= u_i                                                       dual  nu_i >= 0
                v_ik           >= 0                                                         dual  s_ik >= 0

One unit of v_ik is the number of tasks that user i would have at the start, so all letters are near 1.  A Newton step
solves  [D + E' b E + A' q A] dv = ...  with D a diagonal over pairs, b over users, E the sums over a user's pairs.
The user blocks D_i + b_i 1 1' invert in closed form, which leaves one small matrix over the rows; with
sigma_i = sum 1/D_ik and pi_ik = 1/(D_ik sigma_i) nothing in it is a difference of large numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg, sparse

from ...base.errors import SolverError
from ...base.tolerances import TINY
from ..linear_programs import Rows, capacity_rows
from ..problem import Answer, Problem

__all__ = ["MarketPoint", "Reduced", "ScaledMarket"]

REFINEMENTS = 2
"""Corrections of a Newton step by its own residual."""

CROWDED = 0.1
"""Part of a table from which on products are faster with its zeros than without."""

RANK = 1e-14
"""Eigenvalue, relative to the largest, below which a direction of the prices is free."""

ROUNDING = 1e-13
"""Relative distance from a limit that adding up a user's pairs leaves."""


@dataclass(eq=False)
class MarketPoint:
    """Amounts v (pairs,), prices p (rows,) and the duals nu (n,) of the limits, in scaled letters."""

    v: np.ndarray
    p: np.ndarray
    nu: np.ndarray


class ScaledMarket:
    """A problem in scaled letters."""

    @np.errstate(all="ignore")
    def __init__(self, problem: Problem):
        self.problem = problem
        self.alpha = problem.policy.alpha
        self.user, self.machine = problem.pairs
        self.n = problem.n
        self.rows: Rows = capacity_rows(problem)
        dominant = problem.rates * problem.weights
        start = problem.weights / dominant
        spread = 1 / self.rows.matrix.max(axis=0).toarray().ravel()
        spread /= self.total(spread)[self.user]
        fullest = float((self.rows.matrix @ (spread * start[self.user])).max())
        self.scale = np.minimum(start / (2 * fullest), problem.limits / 2)
        self.spread = spread
        self.matrix = sparse.csr_matrix(self.rows.matrix @ sparse.diags(self.scale[self.user]))
        self.u = problem.limits / self.scale
        log_g = np.log(dominant * self.scale) - self.alpha * np.log(problem.rates * self.scale)
        self.log_money = float(log_g.max() + np.log(np.exp(log_g - log_g.max()).sum()))
        self.g = np.exp(log_g - self.log_money)
        if not (np.isfinite(self.g).all() and np.isfinite(self.matrix.data).all()):
            raise SolverError("what users would pay is beyond the range of floats: check weights and demands")

    def total(self, values: np.ndarray) -> np.ndarray:
        """Add up each user's pairs, (n,)."""
        return np.bincount(self.user, weights=values, minlength=self.n)

    def marginal(self, t: np.ndarray) -> np.ndarray:
        """Return phi' at t, (n,)."""
        return self.g * t ** (-self.alpha)

    def curvature(self, t: np.ndarray) -> np.ndarray:
        """Return -phi'' at t, (n,)."""
        return self.alpha * self.g * t ** (-self.alpha - 1)

    @cached_property
    def adding(self) -> sparse.csr_matrix:
        """The matrix (pairs, n) that adds up each user's pairs."""
        pairs = len(self.user)
        return sparse.csr_matrix((np.ones(pairs), self.user, np.arange(pairs + 1)), shape=(pairs, self.n))

    @cached_property
    def transposed(self) -> sparse.csr_matrix:
        """The matrix of the rows, pairs first."""
        return self.matrix.T.tocsr()

    def cost(self, p: np.ndarray) -> np.ndarray:
        """Return what one unit of each pair costs at prices p, (pairs,)."""
        return self.transposed @ p

    def answer(self, point: MarketPoint) -> Answer:
        """Return the point in the instance's units."""
        problem = self.problem
        amounts = np.maximum(point.v, 0) * self.scale[self.user]
        tasks = self.total(amounts)
        capped = tasks >= problem.limits * (1 - ROUNDING)
        amounts *= np.where(capped, problem.limits / np.where(capped, tasks, 1), 1)[self.user]
        tasks = np.where(capped, problem.limits, tasks)
        total = problem.instance.room
        with np.errstate(over="ignore", invalid="ignore"):
            budget = self.rows.spread(np.maximum(point.p, 0), problem.k, problem.m) * np.exp(self.log_money)
            prices = np.divide(budget, total, where=total > 0, out=np.zeros_like(total))
        if not np.isfinite(prices).all():
            raise SolverError(f"the prices of {problem.policy.name} are beyond the range of floats: take other weights")
        return Answer(tasks, amounts=amounts, prices=prices)


class Reduced:
    """The matrix of a Newton step, reduced to the rows.

    Parameters
    ----------
    market : ScaledMarket
    active : int array
        The rows in play.
    d : array (pairs,)
        Diagonal over pairs; inf keeps a pair where it is.
    b : array (n,)
        Diagonal over users; inf keeps a user's total where it is.
    """

    def __init__(self, market: ScaledMarket, active: np.ndarray, d: np.ndarray, b: np.ndarray):
        self.market, self.active = market, active
        self.matrix = market.matrix[active]
        user = market.user
        inverse = 1 / d
        self.sigma = market.total(inverse)
        self.pi = inverse / np.where(self.sigma > 0, self.sigma, 1.0)[user]
        self.d, self.free = d, np.isfinite(b)
        self.b = np.where(self.free, b, 0.0)
        self.tau = np.where(self.free, self.sigma / (1 + self.b * self.sigma), 0.0)
        self.kernel = self._kernel(inverse)
        self.made: tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]] | None = None

    def solve(
        self, diagonal: np.ndarray, right: np.ndarray, rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Solve  ``(D + E' b E) v + A' y = right,  A v - diagonal y = rows``.

        Returns
        -------
        v (pairs,), t (n,) the users' totals of v, y (rows,)
        """
        factor = self._factor_of(diagonal)
        v, t, y = self._once(factor, right, rows)
        # The reduction squares the conditioning; its error is found in the full system, where nothing is squared.
        for _ in range(REFINEMENTS):
            lost = self._residual(right - self.matrix.T @ y, v, t)
            missed = rows - self.matrix @ v + diagonal * y
            more_v, more_t, more_y = self._once(factor, lost, missed)
            v, t, y = v + more_v, t + more_t, y + more_y
        return v, t, y

    def _once(self, factor: Callable, right: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        y = factor(self.matrix @ self._apply(right)[0] - rows)
        v, t = self._apply(right - self.matrix.T @ y)
        return v, t, y

    def _apply(self, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the inverse of ``D + E' b E`` times a vector over pairs, and its totals."""
        user = self.market.user
        mean = self.market.total(self.pi * right)
        t = self.tau * mean
        v = self.pi * (self.sigma[user] * (right - mean[user]) + t[user])
        # Differences between a user's classes may be huge; what they leave of her total is rounding.
        return v + self.pi * (t - self.market.total(v))[user], t

    def _residual(self, right: np.ndarray, v: np.ndarray, t: np.ndarray) -> np.ndarray:
        user = self.market.user
        kept = np.isfinite(self.d)
        lost = np.where(kept, right - np.where(kept, self.d, 0.0) * v, 0.0) - np.where(self.free, self.b * t, 0.0)[user]
        # Of a user whose total is fixed, only differences between her classes are equations.
        mean = self.market.total(self.pi * lost)
        return lost - np.where(self.free, 0.0, mean)[user]

    def _factor_of(self, diagonal: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """Return the factor, made once for predictor and corrector."""
        if self.made is None or not np.array_equal(self.made[0], diagonal):
            self.made = diagonal, self._factor(diagonal)
        return self.made[1]

    def _factor(self, diagonal: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        full = self.kernel + np.diag(diagonal)
        size = 1 / np.sqrt(np.maximum(full.diagonal(), TINY))
        scaled = full * size[:, None] * size
        try:
            factor = linalg.cho_factor(scaled, check_finite=False)
        except linalg.LinAlgError:
            values, vectors = linalg.eigh(scaled, check_finite=False)
            inverse = np.where(values > RANK * values[-1], 1 / np.maximum(values, TINY), 0.0)
            return lambda right: (vectors @ (inverse * (vectors.T @ (right * size)))) * size
        return lambda right: linalg.cho_solve(factor, right * size, check_finite=False) * size

    def _kernel(self, inverse: np.ndarray) -> np.ndarray:
        market = self.market
        user = market.user
        if len(user) == market.n:
            return (self.matrix @ sparse.diags(self.tau) @ self.matrix.T).toarray()
        # Between classes: minus the products of a user's pairs; within a class: what the pair holds times the rest.
        rest = market.total(self.pi)[user] - self.pi
        largest = np.zeros(market.n)
        np.maximum.at(largest, user, self.pi)
        top = self.pi >= largest[user]
        others = market.total(np.where(top, 0, self.pi))[user]
        alone = market.total(top.astype(float))[user] == 1
        rest = np.where(top & alone, others, rest)
        held = self.pi**2 * self.tau[user] + inverse * rest
        within = (self.matrix @ sparse.diags(held) @ self.matrix.T).toarray()
        # What a user's total takes of all she holds: sigma - tau, but not as a difference.
        taken = np.where(self.free, self.b * self.sigma * self.tau, self.sigma)
        across = self._products(np.sqrt(taken))
        index = market.rows.machine[self.active]
        across[index[:, None] == index] = 0
        return within - across

    def _products(self, root: np.ndarray) -> np.ndarray:
        """Return ``M diag(root^2) M'``, where M adds up what each user's pairs take of each row."""
        user = self.market.user
        columns = sparse.diags(self.pi * root[user])
        mixed = self.matrix @ columns @ self.market.adding
        if mixed.nnz > CROWDED * mixed.shape[0] * mixed.shape[1]:
            table = mixed.toarray()
            return table @ table.T
        return (mixed @ mixed.T).toarray()
