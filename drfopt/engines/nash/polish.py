"""Newton's method on the optimality conditions of a market, to 32 digits, from a point in floats.

Given which pairs are used, which rows are priced and which users are at their limits, the conditions are equations:

    phi_i'(t_i) - nu_i - sum_j a_ikj p_kj  =  0      (i, k) used; nu_i = 0 below the limit, t_i = u_i at it
    sum_i a_ikj v_ik                       =  1      (k, j) priced

Their residuals are computed in double-double numbers from the instance's exact ones, the corrections in floats: the
users are eliminated one by one, as in `barrier`, with a small diagonal over the pairs in the place of s / v.  It
and a ridge over the rows keep placements and prices that are not unique where they are, and vanish from the answer as
steps repeat: each adds about eight digits.  Then the signs are looked at, and what is wrong is guessed anew.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from ...base.errors import SolverError
from ...base.numbers.double_double import DoubleDouble
from ...base.states import OnePart, SummedParts
from ...base.tolerances import TINY
from ...certificates.point_errors import DoublePoint
from ...model.policies import Policy
from ..interior_point import RowMatrix
from ..problem import Answer
from .polish_part import PolishPart, first_only, unit_of
from .scaled_market import MarketPoint, ScaledMarket

__all__ = ["Polish", "polish"]

GUESSES = 60
STEPS = 40

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
        told = method.told(prices)
    fine = DoublePoint(problem.members[part.user], part.place, amounts, prices.scaled(method.money))
    return Answer(tasks, None if problem.instance.machines is None else amounts.high, told, fine=fine)


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
            self.money = unit_of(log_money)
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
                worthless, overfull = first_only(worthless), first_only(overfull)
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
                matrix, factored = parts.change("factor")[0], error
                # Of a row of which all who use it are at their limits, on no other class, any price will do.
                solver = RowMatrix(matrix, np.flatnonzero(priced.ravel() & (matrix.diagonal() > 0)))
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
