"""Some users of a market while Newton's method solves the optimality conditions to 32 digits (see `polish`).

What is done to them, and what they add up to, are passes: the method of `polish` asks for them by name.
"""

import hashlib
from fractions import Fraction

import numpy as np

from ...base.errors import SolverError
from ...base.numbers.double_double import DoubleDouble
from ...base.states import First, Most, Worst
from ...certificates.point_errors import in_stretches, rooms
from ..pair_layout import laplacian, pair_layout, summed
from ..problem import Problem
from .scaled_market import MarketPoint, ScaledMarket

__all__ = ["PolishPart", "first_only", "unit_of"]

NEAR = 1e-8
"""Diagonal over pairs, relative to the curvature of the user's utility."""


class PolishPart:
    """The users of a part: which of their pairs are used, who is at its limit, and amounts to 32 digits.

    Parameters
    ----------
    market : ScaledMarket
    start : MarketPoint
        Prices of which are not looked at.
    number : int
        Which part it is.
    keeps : bool
        Whether what a pass computes is kept for the next ones, or made again.
    """

    def __init__(self, market: ScaledMarket, start: MarketPoint, number: int = 0, keeps: bool = False):
        self.market, self.problem, self.number, self.keeps = market, market.problem, number, keeps
        problem, instance = self.problem, self.problem.instance
        self.user, self.place = problem.pairs
        self.n, self.k, self.m = problem.n, problem.k, problem.m
        self.alpha = Fraction(str(problem.policy.alpha))
        members = problem.members
        self.scale = market.scale
        self.need = instance.fine("demands", members).scaled(self.scale[:, None])
        self.room = _rooms(problem)
        weights = instance.fine("weights", members)
        self.worth = weights.scaled(1 / unit_of(market.log_money))
        if self.alpha != 1:
            rates = problem.policy.exact_rates(instance)
            level = DoubleDouble.of(rates[i] for i in members.tolist()).scaled(self.scale)
            # w s (s t)^-alpha for the level s t of t units.
            self.worth = self.worth * level / self._powered(level)
        self.limited = market.limited
        self.u = instance.fine("limits", members).scaled(1 / self.scale)
        self.u[~self.limited] = 1.0
        self.start = start.t
        self.v = DoubleDouble(start.v)
        self.starts = np.searchsorted(self.user, np.arange(self.n + 1))
        self.marginal_at_start = marginal = market.g * start.t ** -float(self.alpha)
        ratio = start.s / marginal[self.user]
        self.used = start.v / start.t[self.user] >= ratio
        least = np.minimum.reduceat(ratio, self.starts[:-1])
        self.used |= ratio <= least[self.user]
        self.capped = self.limited & (start.nu / marginal >= 1 - start.t / np.where(self.limited, market.u, 1))
        self.known: tuple[DoubleDouble, DoubleDouble] | None = None
        self.kept: tuple[DoubleDouble, DoubleDouble, DoubleDouble] | None = None

    # ---- passes ------------------------------------------------------------------------------------------------------

    def guess(self) -> tuple:
        """Return minus what the poorest has of all money, what users would pay at most for what a unit takes of each
        row of those open to them (k, m), and what the classes have."""
        marginal = self.marginal_at_start
        poorest = float((marginal * self.start).min())
        most = np.zeros((self.k, self.m))
        weights = self.market.layout.need / marginal[:, None]
        for k in range(self.k):
            most[k] = weights[self.user[self.place == k]].max(axis=0, initial=0.0)
        return Most(-poorest), Most(most), First(self.room)

    def begin(self, p: DoubleDouble) -> tuple:
        """Take away what is not used; return what `_equate` does."""
        high = np.where(self.used, np.maximum(self.v.high, 0), 0.0)
        self.v = DoubleDouble(high, np.where(self.used, self.v.low, 0.0))
        return self._equate(p)

    def factor(self) -> tuple:
        """Return the users' part of the matrix of a Newton step."""
        curve = float(self.alpha) * self.size / self.t.high
        pairs = np.flatnonzero(self.used)
        self.layout = layout = pair_layout(self.need.high, self.room.high, self.user[pairs], self.place[pairs])
        self.d = d = layout.laid(1 / (NEAR * curve[self.user[pairs]]), 0.0)
        ground = np.where(self.capped, 0.0, 1 / curve)
        self.total = np.concatenate([layout.total(block, d[block.pairs]) for block in layout.blocks()]) + ground
        return (laplacian(layout, lambda block: d[block.pairs], self.total, ground),)

    def push(self) -> list:
        """Return what the inverse over the pairs, of each user by itself, fills of what they miss, (k, m)."""
        layout = self.layout
        amounts = self._pushed(layout.laid(self.missed[self.used], 0.0))
        return summed(layout, lambda block: (layout.filled(block, amounts[block.pairs]),))

    def reach(self, price: np.ndarray) -> tuple:
        """Return by what part of its tasks somebody would fall with changes of prices."""
        change = np.bincount(self.user[self.used], weights=self._moves(price), minlength=self.n)
        return (Most((-change / self.t.high).max()),)

    def move(self, price: np.ndarray, reach: float, keep: bool, p: DoubleDouble) -> tuple:
        """Go so far with changes of prices, to prices p; `keep` says whether `rest` may come back to here."""
        if keep:
            self.kept = self.v, self.t, self.nu
        v = DoubleDouble(self.v.high.copy(), self.v.low.copy())
        v[self.used] = v[self.used] + reach * self._moves(price)
        self.v = v
        return self._equate(p)

    def rest(self, here: bool) -> tuple:
        """Stay here, or where a step began that was to be kept."""
        if not here and self.kept is not None:
            self.v, self.t, self.nu = self.kept
            self.known = None
        self.kept = None
        return ()

    def wrong(self, p: DoubleDouble, zero: float) -> tuple:
        """Say what kinds of signs are wrong: of pairs used and not, of users at their limits and below; and minus the
        number of the first part where they are."""
        there = np.array([kind.any() for kind in self._wrong(p, zero)])
        return Most(there), Most(np.where(there, -self.number, -np.inf))

    def fingerprint(self) -> tuple[int]:
        """Return a number that tells who uses what and who is at its limit from all else."""
        told = hashlib.blake2b(self.number.to_bytes(8, "big") + self.used.tobytes() + self.capped.tobytes())
        return (int.from_bytes(told.digest(), "big"),)

    def mend(self, p: DoubleDouble, zero: float, first: np.ndarray | None) -> tuple:
        """Guess anew what has the wrong sign, or the first of each kind where that is in this part."""
        kinds = self._wrong(p, zero)
        if first is not None:
            kinds = [
                first_only(kind) if -number == self.number else np.zeros_like(kind)
                for kind, number in zip(kinds, first.tolist(), strict=True)
            ]
        negative, lacking, pushed, beyond = kinds
        self.used = (self.used & ~negative) | lacking
        self.capped = (self.capped & ~pushed) | beyond
        self.known = None
        return ()

    def moved(self) -> tuple[Worst]:
        """Say by what part of its tasks somebody was moved from the start, and who."""
        moved = np.abs(self.t.high / self.start - 1)
        far = int(moved.argmax())
        return (Worst(float(moved[far]), self.number, int(self.problem.members[far])),)

    def answer(self) -> tuple[DoubleDouble, np.ndarray]:
        """Return the tasks of each pair (pairs,), and of each user (n,)."""
        v = DoubleDouble(self.v.high.copy(), self.v.low.copy())
        v[v.high < 0] = 0.0
        tasks = np.where(self.capped, self.problem.limits, self.t.high * self.scale)
        return v.scaled(self.scale[self.user]), tasks

    # ---- what they are made of ---------------------------------------------------------------------------------------

    def _powered(self, base: DoubleDouble) -> DoubleDouble:
        return base.power(self.alpha.numerator).root(self.alpha.denominator)

    def _total(self, values: DoubleDouble) -> DoubleDouble:
        """Add up each user's pairs, (n,)."""
        if self.k == 1:
            return values
        return values.sums(self.starts[:-1], self.user)

    def _cost(self, p: DoubleDouble) -> DoubleDouble:
        """Return what one unit of each pair costs at prices of whole rows, (pairs,)."""
        price = p / self.room
        costs = (
            (self.need[:, some][self.user] * price[:, some][self.place]).sum(axis=1)
            for some in in_stretches(self.m, len(self.user))
        )
        return sum(costs, next(costs))

    def _filled(self) -> DoubleDouble:
        """Return what is used of every row, (k, m)."""
        table = DoubleDouble(np.zeros((self.n, self.k)))
        table[self.user, self.place] = self.v
        found = DoubleDouble(np.zeros((self.k, self.m)))
        for some in in_stretches(self.m, table.high.size):
            found[:, some] = (table[:, :, None] * self.need[:, None, some]).sum()
        return found

    def _equate(self, p: DoubleDouble) -> tuple:
        """Return the largest relative error of pairs, what rows have, and how many users have nothing."""
        t = self._total(self.v)
        empty = int(np.count_nonzero(~(t.high > 0)))
        self.t, self.known = t, None
        if empty:
            return Most(np.inf), DoubleDouble(np.zeros((self.k, self.m))), empty
        if self.capped.any():
            stretch = self.u / t
            stretch[~self.capped] = 1.0
            self.v = self.v * stretch[self.user]
            t[self.capped] = self.u[self.capped]
        marginal, cost = self._looked(p)
        dual = marginal[self.user] - cost
        self.nu = self._mean(dual)
        self.missed = np.where(self.used, (dual - self.nu[self.user]).high, 0.0)
        self.size = marginal.high
        return Most((np.abs(self.missed) / self.size[self.user]).max()), self._filled(), 0

    def _looked(self, p: DoubleDouble) -> tuple[DoubleDouble, DoubleDouble]:
        """Return marginal utilities (n,) and what one unit of each pair costs."""
        known = self.known
        if known is None:
            known = self.worth / self._powered(self.t), self._cost(p)
            self.known = known if self.keeps else None
        return known

    def _mean(self, dual: DoubleDouble) -> DoubleDouble:
        """Return what users at their limits would pay beyond what they do, (n,): the mean over their pairs."""
        if not self.capped.any():
            return DoubleDouble(np.zeros(self.n))
        mine = self.used & self.capped[self.user]
        user, dual = self.user[mine], dual[mine]
        each = 1 / np.maximum(np.bincount(user, minlength=self.n), 1)
        # Of what its pairs are from their mean in floats, which is little at the end, floats are enough again.
        near = np.bincount(user, dual.high, self.n) * each
        return DoubleDouble(near) + np.bincount(user, (dual - near[user]).high, self.n) * each

    def _pushed(self, right: np.ndarray) -> np.ndarray:
        """Return the inverse over the pairs, of each user by itself, times a vector."""
        layout, found = self.layout, np.empty(self.layout.shape)
        for block in layout.blocks():
            here, some = self.d[block.pairs], right[block.pairs]
            mean = layout.total(block, here * some) / self.total[block.groups]
            found[block.pairs] = here * (some - layout.spread(block, mean))
        return found

    def _moves(self, price: np.ndarray) -> np.ndarray:
        """Return the changes of what is used that go with changes of prices, (used pairs,)."""
        layout = self.layout
        right = layout.laid(self.missed[self.used], 0.0)
        for block in layout.blocks():
            right[block.pairs] -= layout.cost(block, price)
        return layout.flat(self._pushed(right))

    def _wrong(self, p: DoubleDouble, zero: float) -> list[np.ndarray]:
        """Return what pairs are used less than not at all, or lack, and who is pushed to its limit, or beyond it."""
        t = self.t.high
        marginal, cost = self._looked(p)
        missing = (marginal[self.user] - self.nu[self.user] - cost).high
        at = (self.t - self.u).high / np.where(self.limited, self.u.high, 1.0)
        return [
            self.used & (self.v.high < -zero * t[self.user]),
            ~self.used & (missing > zero * marginal.high[self.user]),
            self.capped & (self.nu.high < -zero * marginal.high),
            self.limited & ~self.capped & (at > zero),
        ]


def unit_of(log_money: float) -> float:
    """Return the power of two that is nearest to all money, so that nothing is rounded by it.

    Raises
    ------
    SolverError
        When it is below what floats can divide by.
    """
    power = float(np.round(log_money / np.log(2)))
    if power < np.finfo(float).minexp:
        raise SolverError("what users would pay is beyond the range of floats: take other weights")
    return float(2.0 ** np.float64(power))


def _rooms(problem: Problem) -> DoubleDouble:
    room = rooms(problem.instance)
    # What is not there nobody may use: any size will do.
    room[room.high == 0] = 1.0
    return room


def first_only(change: np.ndarray) -> np.ndarray:
    """Return only the first of the changes."""
    only = np.zeros_like(change)
    if change.any():
        only[np.unravel_index(int(np.argmax(change)), change.shape)] = True
    return only
