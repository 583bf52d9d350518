"""Alpha fairness and the Nash product by their dual, smoothed: a second method on markets that is no engine's Newton.

Given   e[i, k, j]   part of class k's resource j that user i would take if its task ran all that it can, everywhere
        g[i], a      marginal utility of y[i], the part of that which user i runs:  g[i] y^(-a)
        u[i]         most of y[i], inf for no limit

A user spreads over classes in proportion to exp(-cost / (m v)), cost[k] = e[i, k] . p[k] and v what one more y is worth
to it, which is what it does when it has a taste for variety worth m of that; then what it pays for one y, q[i], is a
smooth function of prices, and

    minimise over p > 0    sum of p  +  sum_i max over y <= u[i] of ( g[i] y^(1-a) / (1-a) - y q[i] )  -  b sum log p

is smooth and convex.  Newton's method follows the minimum as m and b fall.  Its gradient is what every class has left,
so at the end nothing is overfull that has a price; and as m falls the levels, which depend on q[i] alone, come to those
of the market: by about m times the logarithm of the number of classes.  When they move by less than `SETTLED` while m
falls to a hundredth of it, they are the answer.

No conic solver, no placements as unknowns, no code of an engine.  Tables are dense: how large a
cluster may be is said in `drfopt.solving.methods.second_methods`.
"""

from collections.abc import Callable

import numpy as np
from scipy import linalg

from ...base.errors import SolverError
from ...base.tolerances import TINY
from ...model.instance import Instance

__all__ = ["tasks"]

LAST = 1e-12
"""Smoothing m at the end: a thousandth of the accuracy of levels."""

FIRST, FASTER = 1.0, 0.3
"""Smoothing m at the start, and the factor from one stage to the next."""

ALONE = 1e-12
"""Part of a user outside of one class below which it has no other to go to: there large numbers would cancel."""

SHIFT = 1e-14
"""What is first added to a scaled curvature that rounding has left without an inverse."""

SLOWEST = 0.97
"""Factor at which it is given up."""

STEPS = 30
"""Newton steps of a stage at most: then the smoothing fell too fast."""

SHORTEST = 1e-6
"""Part of a Newton step below which nothing is gained any more."""

CHEAPEST = 1e-3
"""Part of the least price that variety leaves a user to pay at least."""

STRONGEST = 1e-3
"""Largest part of the objective that the barrier on prices is."""

SETTLED = 1e-9
"""Relative change of levels at the end, while the smoothing falls to a hundredth: a tenth of what they may be off."""

SAME = 1e-13
"""Change of what users pay that rounding may make."""

NEAR = 0.01
"""A stage is done when a step changes what users pay by this part of the smoothing, or by rounding only.  The gradient
says nothing there: rounding moves users between classes that cost the same, and no price is moved by that."""


def tasks(
    instance: Instance, alpha: float, weights: np.ndarray, rates: np.ndarray, check: Callable[[], None] = lambda: None
) -> np.ndarray:
    """Return divisible tasks (n,) of the optimum; 0 for who is unplaced or has a limit of 0.

    Parameters
    ----------
    weights, rates : arrays (n,)
        Weights of the users, and their levels of one task.
    check : callable
        Raises when the time is over.
    """
    playing = np.flatnonzero(~instance.unplaced() & (instance.limits > 0))
    result = np.zeros(instance.n)
    if playing.size:
        market = _Market(instance, playing, alpha, weights[playing], rates[playing])
        result[playing] = market.run(check)
    return result


class _Market:
    def __init__(self, instance: Instance, playing: np.ndarray, alpha: float, weights: np.ndarray, rates: np.ndarray):
        demands = instance.demands[playing]
        if instance.machines is None:
            rooms, fits = instance.capacity[None, :], np.ones((len(playing), 1), dtype=bool)
        else:
            rooms = np.array([machine.count * machine.capacity for machine in instance.machines])
            fits = instance.fits[playing]
        parts = np.divide(demands[:, None, :], rooms, where=rooms > 0, out=np.zeros((len(demands), *rooms.shape)))
        alone = np.where(fits, 1 / np.where(fits, parts.max(axis=2), 1.0), 0.0)
        self.most = alone.sum(axis=1)
        self.fits, self.alpha = fits, alpha
        self.taste = np.log(np.where(fits, alone, 1.0) / self.most[:, None])
        self.e = np.where(fits[:, :, None], parts * self.most[:, None, None], 0.0)
        self.rows = self.e.max(axis=0) > 0
        levels = rates * self.most
        worth = np.log(weights) + (1 - alpha) * np.log(levels)
        self.g = np.exp(worth - worth.max())
        self.g /= self.g.sum()
        self.u = instance.limits[playing] / self.most

    def run(self, check: Callable[[], None]) -> np.ndarray:
        """Return the tasks of who plays, (n,)."""
        prices = np.where(self.rows, 1 / self.rows.sum(), 0.0)
        smooth, factor, found = FIRST, FASTER, []
        while smooth > LAST:
            check()
            reached = self._stage(prices, smooth * factor)
            if reached is None:
                factor **= 0.5
                if factor > SLOWEST:
                    raise SolverError(f"the smoothed dual does not come below a smoothing of {smooth:.0e}")
                continue
            prices, smooth, factor = reached, smooth * factor, max(FASTER, factor**1.5)
            if smooth < 1e2 * LAST:
                found.append(self._amounts(self._costs(prices).min(axis=1)))
        y = found[-1]
        money = float(prices.sum())
        unspent = abs(money - float(y @ self._costs(prices).min(axis=1))) / max(
            money, float(self.g @ y ** (1 - self.alpha))
        )
        moved = float(np.abs(found[-1] / found[0] - 1).max())
        if not max(moved, unspent) <= SETTLED:
            raise SolverError(
                f"the smoothed dual did not settle: levels still move by {moved:.0e}, and {unspent:.0e} of what all "
                "capacities cost is not spent"
            )
        return y * self.most

    def _costs(self, prices: np.ndarray) -> np.ndarray:
        return np.where(self.fits, np.einsum("ikj,kj->ik", self.e, prices), np.inf)

    def _amounts(self, q: np.ndarray) -> np.ndarray:
        return np.minimum((self.g / q) ** (1 / self.alpha), self.u)

    def _look(self, prices: np.ndarray, smooth: float, reference: np.ndarray) -> tuple:
        """Return y (n,), how it is spread (n, k), q (n,), and what every class has left of every resource (k, m)."""
        width = smooth * reference
        costs = self._costs(prices)
        least = costs.min(axis=1)
        exponent = np.where(self.fits, self.taste - (costs - least[:, None]) / width[:, None], -np.inf)
        top = exponent.max(axis=1)
        spread = np.exp(exponent - top[:, None])
        total = spread.sum(axis=1)
        spread /= total[:, None]
        q = least - width * (top + np.log(total))
        # A taste for variety may be worth more than a price: then nothing bounds the user but its limit.
        q = np.maximum(q, least * CHEAPEST)
        y = self._amounts(q)
        return y, spread, q, 1 - np.einsum("ik,ikj->kj", y[:, None] * spread, self.e)

    def _stage(self, prices: np.ndarray, smooth: float) -> np.ndarray | None:
        """Return the prices at which the smoothed dual is least, None where Newton does not come to them."""
        barrier = min(smooth**1.6, STRONGEST) / self.rows.sum()
        # What one more y is worth, which for who is at its limit is more than it pays.
        reference = self._costs(prices).min(axis=1)
        reference = self.g * self._amounts(reference) ** -self.alpha
        rows = self.rows
        p = prices.copy()
        y, spread, q, left = self._look(p, smooth, reference)
        for _ in range(STEPS):
            gradient = (left - np.divide(barrier, p, where=rows, out=np.zeros_like(p)))[rows]
            scaled = p[rows] * gradient
            step = self._newton(p, y, spread, q, smooth * reference, scaled, barrier)
            full = np.zeros_like(p)
            full[rows] = p[rows] * step
            paid = np.abs(np.einsum("ikj,kj->ik", self.e, full))
            effect = float(((spread * paid).sum(axis=1) / reference).max())
            if effect <= max(SAME, NEAR * smooth):
                p[rows] *= np.maximum(1 + step, 0.1)
                return p
            slope, length = float(scaled @ step), min(1.0, 0.9 / max(float(-step.min()), TINY))
            # Where rounding leaves no way down, what is left has to be as little as the smoothing.
            stuck = p if effect <= smooth else None
            if not slope < 0:
                return stuck
            while True:
                trial = p.copy()
                trial[rows] = p[rows] * (1 + length * step)
                look = self._look(trial, smooth, reference)
                after = (look[3] - np.divide(barrier, trial, where=rows, out=np.zeros_like(trial)))[rows]
                # The slope at the end of the step: still falling, or climbing less than it fell.
                if float((p[rows] * after) @ step) <= -0.5 * slope:
                    break
                length /= 2
                if length < SHORTEST:
                    return stuck
            p, (y, spread, q, left) = trial, look
        return stuck

    def _newton(
        self,
        p: np.ndarray,
        y: np.ndarray,
        spread: np.ndarray,
        q: np.ndarray,
        width: np.ndarray,
        scaled: np.ndarray,
        barrier: float,
    ) -> np.ndarray:
        """Return the step of the prices on the rows, relative to them."""
        n, k, m = self.e.shape
        weighted = self.e * p
        mean = spread[:, :, None] * weighted
        flat = mean.reshape(n, -1)
        moves = spread.max(axis=1) < 1 - ALONE
        inverse = np.where(moves, 1 / width, 0.0)
        gives = np.where(y < self.u, y / (self.alpha * q), 0.0)
        matrix = flat.T @ (flat * (gives - y * inverse)[:, None])
        share = (y * inverse)[:, None] * spread
        for at in range(k):
            block = weighted[:, at].T @ (weighted[:, at] * share[:, at, None])
            matrix[at * m : (at + 1) * m, at * m : (at + 1) * m] += block
        inside = self.rows.reshape(-1)
        matrix = matrix[np.ix_(inside, inside)]
        matrix[np.diag_indices_from(matrix)] += barrier
        scale = np.sqrt(np.maximum(matrix.diagonal(), TINY))
        matrix /= scale[:, None] * scale
        shift = 0.0
        while True:
            try:
                factor = linalg.cho_factor(matrix + shift * np.eye(len(matrix)))
                return -linalg.cho_solve(factor, scaled / scale) / scale
            except linalg.LinAlgError:
                shift = max(10 * shift, SHIFT)
                if shift > 1:
                    raise SolverError("the smoothed dual has a curvature that floats cannot invert") from None
