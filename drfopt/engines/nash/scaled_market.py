"""The market behind CEEI and alpha fairness in scaled letters, in which all are near 1.

    maximise    sum_i phi_i(t_i),   t_i = sum_k v_ik,   phi_i'(t) = g_i t^(-alpha),   sum_i g_i = 1
    subject to  sum_i a_ikj v_ik <= 1    for every row (class k, resource j)                price p_kj >= 0
                t_i              <= u_i                                                     dual  nu_i >= 0
                v_ik             >= 0                                                       dual  s_ik >= 0

One unit of v_ik is the number of tasks that user i would have at the start.  A pool is a cluster of one class.
"""

from copy import copy
from dataclasses import dataclass

import numpy as np

from ...base.errors import SolverError
from ...base.states import Most, OnePart, SummedParts
from ..pair_layout import PairBlock, pair_layout, summed
from ..problem import Problem

__all__ = ["MarketPoint", "ScaledMarket", "scaled"]

ROOMY = 1.1
"""What the fullest row has, and a user's limit is, in what there is at the start, at least."""


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
    """The users of a market, or of a part of one, in scaled letters.

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

    scale: np.ndarray
    u: np.ndarray
    limited: np.ndarray
    g: np.ndarray
    log_money: float

    @np.errstate(all="ignore")
    def __init__(self, problem: Problem):
        self.problem, self.alpha, self.n = problem, problem.policy.alpha, problem.n
        user, place = problem.pairs
        demands = problem.instance.demands[problem.members]
        self.layout = layout = pair_layout(np.ascontiguousarray(demands), problem.instance.room, user, place)
        self.spread = np.empty(layout.shape)
        for block in layout.blocks():
            alone = 1 / layout.fullest(block)
            layout.close(block, alone, 0.0)
            self.spread[block.pairs] = alone / layout.spread(block, layout.total(block, alone))

    @classmethod
    def of(cls, problem: Problem) -> "ScaledMarket":
        """Return the market of all users of a problem."""
        market = cls(problem)
        scaled(OnePart(market))
        return market

    def _start(self) -> np.ndarray:
        """Return tasks that are worth the same to everybody for its weight, (n,)."""
        problem = self.problem
        start: np.ndarray = problem.weights / (problem.rates * problem.weights)
        return start

    def crowd(self) -> list:
        """Return what rows have when everybody has its start, (k, m)."""
        layout, start = self.layout, self._start()

        def fill(block: PairBlock) -> tuple:
            return (layout.filled(block, self.spread[block.pairs] * layout.spread(block, start[block.groups])),)

        return summed(layout, fill)

    def choose(self, crowd: float) -> tuple:
        """Choose scales where the fullest row has `crowd` at the start; return the largest logarithm of a g."""
        problem = self.problem
        # A power of two: nothing is rounded by it.
        self.scale = 2.0 ** np.floor(np.log2(np.minimum(self._start() / crowd, problem.limits) / ROOMY))
        self.u = problem.limits / self.scale
        self.limited = np.isfinite(self.u)
        self.layout = copy(self.layout)
        self.layout.need = self.layout.need * self.scale[:, None]
        dominant = problem.rates * problem.weights
        self.log_g = np.log(dominant * self.scale) - self.alpha * np.log(problem.rates * self.scale)
        return (Most(self.log_g.max()),)

    def worth(self, largest: float) -> tuple:
        """Return what the g add up to, relative to the largest."""
        return (float(np.exp(self.log_g - largest).sum()),)

    def settle(self, log_money: float) -> tuple:
        """Measure money in what all g add up to."""
        self.log_money = log_money
        self.g = np.exp(self.log_g - log_money)
        if not (np.isfinite(self.g).all() and np.isfinite(self.layout.need).all()):
            raise SolverError("what users would pay is beyond the range of floats: check weights and demands")
        return ()

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


def scaled(parts: SummedParts) -> float:
    """Choose the scales of markets in parts, each of which sees its own users only; return the logarithm of money."""
    with np.errstate(all="ignore"):
        crowd = float(parts.look("crowd")[0].max())
        largest = float(parts.change("choose", crowd)[0].values)
        log_money = largest + float(np.log(parts.look("worth", largest)[0]))
        parts.change("settle", log_money)
    return log_money
