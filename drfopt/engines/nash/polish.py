"""Newton's method on the optimality conditions of a market, to 32 digits, from a point in floats.

Given which pairs are used, which rows are priced and which users are at their limits, the conditions are equations:

    phi_i'(t_i) - nu_i - sum_j a_ikj p_kj  =  0      (i, k) used; nu_i = 0 below the limit, t_i = u_i at it
    sum_i a_ikj v_ik                       =  1      (k, j) priced

Their residuals are computed in double-double numbers from the instance's exact ones, the corrections in floats: the
users are eliminated one by one, as in `barrier`, with a small diagonal over the pairs in the place of s / v.  It
and a ridge over the rows keep placements and prices that are not unique where they are, and vanish from the answer as
steps repeat: each adds about eight digits.  Then the signs are looked at, and what is wrong is guessed anew.
"""

import hashlib
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ...base.errors import SolverError
from ...base.numbers.double_double import DoubleDouble
from ...base.states import First, Most, OnePart, SummedParts, Worst
from ...base.tolerances import TINY
from ...certificates.point_errors import WIDE, DoublePoint
from ...model.policies import Policy
from ..interior_point import RowMatrix
from ..pair_layout import laplacian, pair_layout, summed
from ..problem import Answer, Problem
from .scaled_market import MarketPoint, ScaledMarket

__all__ = ["Polish", "PolishPart", "polish"]

GUESSES = 60
STEPS = 40

NEAR = 1e-8
"""Diagonal over pairs, relative to the curvature of the user's utility."""

EXACT = 1e-27
"""Relative error of the equations at which there is nothing left to gain."""

PAID = 1e-22
"""The same relative to what the poorest has of all money: errors of tasks go with the root of it."""

SETTLED = 1e-22
"""The same with which it is enough, when steps gain no more."""

SLOW = 0.3
"""Part of the error that a step may leave; more, and it is said to gain nothing."""

ZERO = 1e-23
"""A quantity of scaled size 1 below this is rounding."""

UNNOTICED = 1e-3
"""Price of a whole idle row, relative to all money, that is a solver's tolerance."""

UNFILLED = 1e-12
"""Part of a priced row that is left unused when the equations have no solution: Newton's error is far below."""

ROUGH = 1e-9
"""Error from which on the next step has its own factors: below, the old ones leave as little."""

FAR = 0.3
"""Relative change of a user's tasks beyond which the start was none: solver and equations speak of two markets."""

DEEPEST = 64
"""Largest numerator or denominator of an exponent whose powers are computed to 32 digits."""


Called = Callable[[int, int], str]
"""What a user is called in a sentence, from the number of its part and its row there."""


def polish(market: ScaledMarket, start: MarketPoint) -> Answer:
    """Return the solution of the optimality conditions nearest to the start, with itself to 32 digits as evidence.

    Raises
    ------
    SolverError
        When no choice of active constraints satisfies them, or the solution is far from the start.
    """
    problem = market.problem
    check = problem.deadline.check
    method = Polish(problem.policy, market.log_money, lambda _, i: f"user {problem.instance.users[i]!r}")
    with np.errstate(all="ignore"):
        part = PolishPart(market, start, keeps=True)
        prices = method.run(OnePart(part), start.p, start.z, lambda state: check("Newton's method to 32 digits"))
        amounts, tasks = part.answer()
    fine = DoublePoint(problem.members[part.user], part.place, amounts, prices * method.money)
    return Answer(tasks, None if problem.instance.machines is None else amounts.high, method.told(prices), fine=fine)


class Polish:
    """The method, which knows of the users what their parts add up to.

    Parameters
    ----------
    policy : Policy
    log_money : float
        As in `ScaledMarket`.
    called : callable
    """

    def __init__(self, policy: Policy, log_money: float, called: Called):
        alpha = Fraction(str(policy.alpha))
        if max(alpha.numerator, alpha.denominator) > DEEPEST:
            raise SolverError(f"powers of {alpha} are not computed to 32 digits")
        self.policy, self.called = policy, called
        self.priced = np.zeros((0, 0), dtype=bool)
        # What is beyond the range of floats is refused at the end.
        with np.errstate(all="ignore"):
            self.money = _unit(log_money)
            self.unit = float(np.exp(log_money) / self.money)

    def run(self, parts: SummedParts, p: np.ndarray, z: np.ndarray, watch: Callable[[str], None]) -> DoubleDouble:
        """Solve the equations, look at the signs, and again; return the prices (k, m) of one unit, in money's.

        Parameters
        ----------
        parts : SummedParts of PolishPart
            Which are where the equations are solved in the end.
        p, z : arrays (k, m)
            Prices and slacks to start from.
        watch : callable
            Told how far it is before every guess and step; may raise.
        """
        self.parts, self.watch, self.shape = parts, watch, p.shape
        self.p = DoubleDouble(p * self.unit)
        self._guess(p, z)
        for guess in range(GUESSES):
            self.said = f"digits, guess {guess + 1}"
            error = self._solve()
            zero = max(ZERO, 10 * error)
            worthless, overfull = self._wrong_rows(zero)
            wrong, first = parts.look("wrong", self.p, zero)
            if not (wrong.values.any() or worthless.any() or overfull.any()):
                if error > SETTLED:
                    raise SolverError(f"Newton's method to 32 digits ended where equations are off by {error:.1e}")
                return self._prices()
            key = self.priced.tobytes(), parts.look("fingerprint")[0]
            # Only the first of several changes of a kind: it breaks a cycle.
            again = key in self.seen
            self.seen.add(key)
            parts.change("mend", self.p, zero, first.values if again else None)
            if again:
                worthless, overfull = _first(worthless), _first(overfull)
            self.priced = (self.priced & ~worthless) | overfull
        raise SolverError(f"no set of active constraints was found in {GUESSES} tries: try the other engine")

    def told(self, prices: DoubleDouble) -> np.ndarray:
        """Return the prices (k, m) in the stated objective.

        Raises
        ------
        SolverError
            When they are beyond the range of floats.
        """
        found: np.ndarray = prices.high * self.money
        if not np.isfinite(found).all():
            raise SolverError(f"the prices of {self.policy.name} are beyond the range of floats: take other weights")
        return found

    def _guess(self, p: np.ndarray, z: np.ndarray) -> None:
        """Say which rows are priced."""
        poorest, most, room = self.parts.look("guess")
        self.exact = min(max(EXACT, PAID * -float(poorest.values)), ZERO / 10)
        self.room = room.first
        rate = np.divide(1.0, self.room.high, where=self.room.high > 0, out=np.zeros(self.shape))
        asked = p * most.values * rate
        money = float((p * (1 - z)).sum())
        self.priced = (asked >= z) & (p >= UNNOTICED * money * z)
        self.seen: set[tuple[bytes, int]] = set()

    def _solve(self) -> float:
        """Solve the equations of what is taken to be active; return the largest relative error that is left."""
        parts, priced = self.parts, self.priced
        self.p[~priced] = 0.0
        self.p = DoubleDouble(np.maximum(self.p.high, 0), self.p.low)
        best, factored, kept, better = np.inf, np.inf, self.p, False
        solver: RowMatrix | None = None
        off, filled, empty = parts.change("begin", self.p)
        for step in range(STEPS):
            if empty:
                if not step:
                    raise SolverError("Newton's method to 32 digits is left without any tasks of some user")
                better = False
                break
            left = 1.0 - filled / self.room
            rows = np.where(priced, left.high, 0.0)
            error = float(max(float(off.values), np.abs(rows).max()))
            before, better = best, error < best
            if better:
                best, kept = error, self.p
            if better or not step:
                self.left = left
            if error <= self.exact or not error < np.inf or (step > 3 and error > SLOW * before):
                break
            self.watch(f"{self.said}, step {step + 1}: equations off by {error:.0e}")
            if solver is None or (step < 4 and factored > ROUGH):
                solver, factored = RowMatrix(parts.change("factor")[0], np.flatnonzero(priced)), error
            price = solver.solve((parts.look("push")[0] - rows).ravel()).reshape(self.shape)
            fall = float(parts.look("reach", price)[0].values)
            reach = min(0.5 / max(fall, TINY), 1.0)
            self.p = self.p + reach * price
            off, filled, empty = parts.change("move", price, reach, better, self.p)
        parts.change("rest", better)
        self.p = kept
        return best

    def _wrong_rows(self, zero: float) -> tuple[np.ndarray, np.ndarray]:
        """Return what rows are priced and worth nothing, and what is overfull, bool (k, m)."""
        left = self.left.high
        worthless = self.priced & (self.p.high < -zero * float(np.abs(self.p.high).max(initial=0)))
        idle = np.where(self.priced, left, 0.0)
        if idle.max(initial=0) > max(UNFILLED, zero):
            # A row that no price fills, because all who use it are at their limits, is worth nothing either; while it
            # is thought to be, the equations have no solution, and other rows look idle too: the idlest goes first.
            worthless[np.unravel_index(int(idle.argmax()), idle.shape)] = True
        return worthless, ~self.priced & (left < -zero)

    def _prices(self) -> DoubleDouble:
        """Return prices of one unit, where nobody was moved far."""
        moved = self.parts.look("moved")[0]
        if not moved.value <= FAR:
            raise SolverError(
                f"Newton's method moved {self.called(*moved.whose)} by {moved.value:.1e} of its tasks: the start is "
                "not believed"
            )
        p = self.p / self.room
        p[p.high < 0] = 0.0
        return p


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
        self.need = instance.fine("demands", members) * self.scale[:, None]
        self.room = _rooms(problem)
        weights = instance.fine("weights", members)
        self.worth = weights / _unit(market.log_money)
        if self.alpha != 1:
            rates = problem.policy.exact_rates(instance)
            level = DoubleDouble.of(rates[i] for i in members.tolist()) * self.scale
            # w s (s t)^-alpha for the level s t of t units.
            self.worth = self.worth * level / self._powered(level)
        self.limited = market.limited
        self.u = instance.fine("limits", members) / self.scale
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
                _first(kind) if -number == self.number else np.zeros_like(kind)
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
        tasks = np.where(self.capped, self.problem.limits, (self.t * self.scale).high)
        return v * self.scale[self.user], tasks

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
        cost = self.need[:, 0][self.user] * price[:, 0][self.place]
        for j in range(1, self.m):
            cost = cost + self.need[:, j][self.user] * price[:, j][self.place]
        return cost

    def _filled(self) -> DoubleDouble:
        """Return what is used of every row, (k, m)."""
        table = DoubleDouble(np.zeros((self.n, self.k)))
        table[self.user, self.place] = self.v
        found = DoubleDouble(np.zeros((self.k, self.m)))
        at_once = max(1, WIDE // table.high.size)
        for j in range(0, self.m, at_once):
            some = slice(j, j + at_once)
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
        count = np.bincount(self.user[self.used], minlength=self.n)
        dual = DoubleDouble(np.where(self.used, dual.high, 0.0), np.where(self.used, dual.low, 0.0))
        found = DoubleDouble(np.zeros(self.n))
        found[self.capped] = self._total(dual)[self.capped] / np.maximum(count, 1.0)[self.capped]
        return found

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


def _unit(log_money: float) -> float:
    """Return the power of two that is nearest to all money, so that nothing is rounded by it."""
    return float(2.0 ** np.round(log_money / np.log(2)))


def _rooms(problem: Problem) -> DoubleDouble:
    instance = problem.instance
    counts = [1] if instance.machines is None else [machine.count for machine in instance.machines]
    one = [instance.exact_capacity] if instance.machines is None else instance.exact_machine_capacity
    flat = [count * c for count, row in zip(counts, one, strict=True) for c in row]
    room = DoubleDouble.of(flat, (problem.k, problem.m))
    # What is not there nobody may use: any size will do.
    room[room.high == 0] = 1.0
    return room


def _first(change: np.ndarray) -> np.ndarray:
    only = np.zeros_like(change)
    if change.any():
        only[np.unravel_index(int(np.argmax(change)), change.shape)] = True
    return only
