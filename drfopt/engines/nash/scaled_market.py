"""The market behind CEEI and alpha fairness in scaled letters, in which all are near 1.

    maximise    sum_i phi_i(t_i),   t_i = sum_k v_ik,   phi_i'(t) = g_i t^(-alpha),   sum_i g_i = 1
    subject to  sum_i a_ikj v_ik <= 1    for every row (class k, resource j)                price p_kj >= 0
                t_i              <= u_i                                                     dual  nu_i >= 0
                v_ik             >= 0                                                       dual  s_ik >= 0

One unit of v_ik is the number of tasks that user i would have at the start.  A pool is a cluster of one class.
"""

from dataclasses import dataclass

import numpy as np

from ...base.errors import SolverError
from ..pair_layout import PairBlock, pair_layout, summed
from ..problem import Problem

__all__ = ["MarketPoint", "ScaledMarket"]


@dataclass(eq=False)
class MarketPoint:
    """Amounts v, reduced costs s (pairs,), prices p, slacks z (k, m), totals t and duals nu (n,) of the limits."""

    v: np.ndarray
    s: np.ndarray
    p: np.ndarray
    z: np.ndarray
    t: np.ndarray
    nu: np.ndarray


class ScaledMarket:
    """A market in scaled letters.

    Attributes
    ----------
    layout : PairTable or PairList
        Of the pairs on which a task fits, one unit of a user being `scale` (n,) tasks.
    spread : array
        Amounts in that layout to start from: every user's pairs by what they could hold alone, 1 together.
    g, u : arrays (n,)
        Marginal utility at one unit, all adding up to 1, and the limits; `limited` says whose are finite.
    log_money : float
        Logarithm of what the g add up to in the stated objective.
    """

    @np.errstate(all="ignore")
    def __init__(self, problem: Problem):
        self.problem, self.alpha = problem, problem.policy.alpha
        user, place = problem.pairs
        demands = problem.instance.demands[problem.members]
        self.layout = layout = pair_layout(np.ascontiguousarray(demands), problem.instance.room, user, place)
        self.n = problem.n
        dominant = problem.rates * problem.weights
        start = problem.weights / dominant
        self.spread = np.empty(layout.shape)

        def spread(block: PairBlock) -> tuple:
            alone = 1 / layout.fullest(block)
            layout.close(block, alone, 0.0)
            self.spread[block.pairs] = alone = alone / layout.spread(block, layout.total(block, alone))
            return (layout.filled(block, alone * layout.spread(block, start[block.groups])),)

        crowd = float(summed(layout, spread)[0].max())
        # A power of two: nothing is rounded by it.
        self.scale = 2.0 ** np.floor(np.log2(np.minimum(start / (2 * crowd), problem.limits / 2)))
        self.u = problem.limits / self.scale
        self.limited = np.isfinite(self.u)
        layout.need = layout.need * self.scale[:, None]
        log_g = np.log(dominant * self.scale) - self.alpha * np.log(problem.rates * self.scale)
        self.log_money = float(log_g.max() + np.log(np.exp(log_g - log_g.max()).sum()))
        self.g = np.exp(log_g - self.log_money)
        if not (np.isfinite(self.g).all() and np.isfinite(layout.need).all()):
            raise SolverError("what users would pay is beyond the range of floats: check weights and demands")

    def cost(self, p: np.ndarray) -> np.ndarray:
        """Return what one unit of each pair costs at prices (k, m) of whole classes, (pairs,)."""
        layout, found = self.layout, np.empty(self.layout.shape)
        for block in layout.blocks():
            found[block.pairs] = layout.cost(block, p)
        return layout.flat(found)

    def point(self, v: np.ndarray, p: np.ndarray, nu: np.ndarray) -> MarketPoint:
        """Return the point of amounts (pairs,), prices (k, m) and duals (n,), with what they leave."""
        layout, laid, t = self.layout, self.layout.laid(v, 0.0), np.empty(self.n)

        def fill(block: PairBlock) -> tuple:
            t[block.groups] = layout.total(block, laid[block.pairs])
            return (layout.filled(block, laid[block.pairs]),)

        z = np.maximum(1 - summed(layout, fill)[0], 0.0)
        worth = (self.g * t**-self.alpha - nu)[self.problem.pairs[0]]
        return MarketPoint(v, np.maximum(self.cost(p) - worth, 0.0), p, z, t, nu)
