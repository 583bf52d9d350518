"""CEEI and alpha fairness by a primal-dual interior point method that factorises the classes only, and then Newton.

In the letters of `scaled_market`.  The marginal utility y_i is a variable of its own, tied to the amounts by
``y t^alpha = g``: then all dual conditions are linear, and that one is a product like the others, only that its value
stays.  With D = v / s, h = u - t the slacks of limits and z those of rows, and b = alpha y / t + nu / h, every user is
eliminated by itself, and the matrix over the rows is the *grounded* Laplacian of `pair_layout`,

    sum_i (diag(D_i) - D_i D_i' / (1 / b_i + sum_k D_ik))  (x)  a_i a_i'   +   diag(z / p),

summed without a difference.  What has the size of the pairs is `market_part`'s.  Predictor and
corrector are S. Mehrotra's (On the implementation of a primal-dual interior point method, SIAM Journal on Optimization
1992).  The end is Newton on the optimality conditions of the constraints found active (`polish`).
"""

from collections.abc import Callable

import numpy as np

from ...base.progress import report
from ...base.states import Most, OnePart, SummedParts
from ..interior_point import RowMatrix
from ..problem import Answer, Problem
from .apart import unresolved
from .market_part import MarketPart, MarketStep
from .polish import polish
from .pooled_market import as_pool
from .scaled_market import ScaledMarket

__all__ = ["Barrier", "solve"]

ITERATIONS = 200

FINEST = 1e-10
"""Gap, relative to all money, at which the active constraints are told apart and Newton's method is the faster one."""

ENOUGH = 1e-8
"""The same, with which the active constraints may be told apart where rounding stopped it."""

SATISFIED = 1e-8
"""Error of the equations that is Newton's to mend."""

PATIENCE = 4
"""Iterations in which the gap does not fall by half after which rounding has the word, once it is `ENOUGH`."""

FASTEST = 1e-6
"""Largest fall of the products in one step; faster, and the next step starts too close to the boundary."""

RESOLVED = 1e-6
"""Smallest part of the mean that a user's money may be for it to be resolved; below it floats run out."""

BENT = 3.0
"""Largest second-order term, in mean products: where it is more, the predictor went too far to tell."""

CHEAPER = 0.3
"""What a unit of everybody costs to begin with, relative to what it is worth."""

KEEP = 0.995
"""Part of the way to the boundary that a step takes, while the gap does not say that it may be more."""

LATE = 1e-3
"""Gap from which on roundings are looked at: before, steps change everything by more."""


def solve(problem: Problem) -> Answer:
    """Return the optimum and its prices."""
    if (pooled := as_pool(problem)) is not None:
        return pooled
    market = ScaledMarket.of(problem)

    def watch(state: str, gap: str) -> None:
        report(f"{state}: {gap}")
        problem.deadline.check("the interior point method", f"the {gap}")

    part = MarketPart(market, keeps=True)
    barrier = Barrier(OnePart(part), market.alpha, lambda _, i: f"user {problem.instance.users[i]!r}")
    p, z = barrier.run(watch)
    return polish(market, part.point(p, z))


class Barrier:
    """The method, which knows of the users what their parts add up to: prices p, slacks z and what rows have, f.

    Parameters
    ----------
    parts : SummedParts of MarketPart
    alpha : float
    called : callable
        What a user is called in a sentence, from the number of its part and its row there.
    """

    def __init__(self, parts: SummedParts, alpha: float, called: Callable[[int, int], str]):
        self.parts, self.alpha, self.called = parts, alpha, called

    def run(self, watch: Callable[[str, str], None]) -> tuple[np.ndarray, np.ndarray]:
        """Bring the parts near the optimum, strictly inside every constraint; return prices and slacks (k, m) there.

        Parameters
        ----------
        watch : callable
            Told which iteration it is and how far it is before each of them; may raise.

        Raises
        ------
        SolverError
            When rounding, or what users differ by, leaves too much open.
        """
        with np.errstate(all="ignore"):
            self._begin()
            best, waited = np.inf, 0
            near: tuple[np.ndarray, np.ndarray] | None = None
            here = False
            for iteration in range(ITERATIONS):
                gap, off = self.gap, self.off
                part = gap / self.money
                if not np.isfinite(gap + off):
                    break
                watch(f"iteration {iteration}", f"gap {part:.1e}")
                marked = off <= np.sqrt(ENOUGH) and part <= ENOUGH and (near is None or max(part, off) < best)
                if marked:
                    near = self.p, self.z
                best, waited = (max(part, off), 0) if max(part, off) < best / 2 else (best, waited + 1)
                here = part <= FINEST and off <= SATISFIED
                if here or (near is not None and waited >= PATIENCE):
                    here |= marked
                    break
                self._step(gap, marked)
            self.parts.change("end", here)
        if here:
            near = self.p, self.z
        if near is None:
            resources, *found = self.parts.look("ends")
            raise unresolved("the interior point method did not converge", found, resources.first, self.called)
        p, z = near
        return p.reshape(self.shape), z.reshape(self.shape)

    def _begin(self) -> None:
        """Start inside: at prices that are about as low as they will be, where users think little of what they have."""
        filled, ones = self.parts.change("open")
        self.shape = ones.shape
        reach = ones.ravel() > 0
        self.there, self.reach, self.hole = np.flatnonzero(reach), reach.astype(float), (~reach).astype(float)
        self.z = np.where(reach, 1 - filled.ravel(), 1.0)
        self.p = np.where(reach, 1 / self.z, 0.0)
        cheapest, money, users = self.parts.change("price", self.p)
        times = CHEAPER * money / cheapest
        self.p = self.p * times
        count, *told = self.parts.change("begin", times, money / users)
        self.products = count + len(self.there)
        self._take(*told)

    def _take(self, filled: np.ndarray, gap: float, worst: Most, paid: float, worth: float, users: int) -> None:
        """Take over what the parts told after a change."""
        self.f = filled.ravel()
        self.gap = gap + float(self.p @ self.z)
        off, poorest = worst.values.tolist()
        # Of rows that nobody enters, filled is nothing and slack all.
        self.short = 1 - self.f - self.z
        self.off = max(float(np.abs(self.short).max()), off)
        # What users pay for what they have, as if all paid as little as the poorest: it too is to be resolved.
        self.money = max(-poorest * users, RESOLVED * paid) if poorest > -np.inf else worth

    def _step(self, gap: float, mark: bool) -> None:
        """Go one step: a predictor, whose lengths say how far to aim, and a corrector."""
        p, z, reach, parts = self.p, self.z, self.reach, self.parts
        mean = gap / self.products
        most = BENT * mean
        late = gap <= LATE * self.money
        step = MarketStep(p, most, late)
        matrix, pushed = parts.look("weigh", step)
        rate, slack = reach / (p + self.hole), z * reach
        of_row = slack * rate
        matrix.flat[:: len(matrix) + 1] += of_row
        rows = RowMatrix(matrix, self.there)
        del matrix
        side = pushed.ravel() - self.f - self.short
        # The predictor.
        price = rows.solve(side - z)
        dz = -(slack + of_row * price)
        step = MarketStep(p, most, late, first=price)
        falls, sums, to_target, bent = parts.look("predict", step)
        first, dual = _lengths(falls, dz / -z, price * -rate, KEEP)
        # Products after: (v + first dv)(s + dual ds), with dv = -v (1 + along), ds = s along.
        after = sums[0] * (1 - first) + sums[1] * (dual - first - first * dual) - sums[2] * first * dual
        after += (p + dual * price) @ (z + first * dz)
        after += sums[3] + dual * sums[4] + first * sums[5] + first * dual * sums[6]
        target = mean * max(min(max(float(after) / gap, 0.0), 1.0) ** 3, FASTEST)
        # Products far below what is asked for help nobody, and would drown in rounding.
        target = max(target, 0.01 * FINEST * self.money / self.products)
        # The corrector.
        room = (target - np.minimum(np.maximum(price * dz, -most), most)) * rate - slack
        price = rows.solve(side + target * to_target.ravel() + bent.ravel() + room)
        dz = room - of_row * price
        step = MarketStep(p, most, late, step.first, price, target)
        falls = parts.look("correct", step)[0]
        first, dual = _lengths(falls, dz / -z, price * -rate, max(KEEP, 1 - gap / self.money))
        self.z, self.p = z + first * dz, p + dual * price
        self._take(*parts.change("go", step, (first, dual), mark))


def _lengths(falls: Most, slack: np.ndarray, price: np.ndarray, part: float) -> tuple[float, float]:
    """Return the lengths of the steps that go `part` of the way to the boundary, at most 1: of amounts and of duals."""
    first, second = falls.values.tolist()
    first, second = max(first, float(slack.max())), max(second, float(price.max()))
    return min(1.0, part / first) if first > 0 else 1.0, min(1.0, part / second) if second > 0 else 1.0
