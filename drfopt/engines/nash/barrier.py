"""CEEI and alpha fairness by a primal-dual interior point method that factorises the classes only, and then Newton.

In the letters of `scaled_market`.  The marginal utility y_i is a variable of its own, tied to the amounts by
``y t^alpha = g``: then all dual conditions are linear, and that one is a product like the others, only that its value
stays.  With D = v / s, h = u - t the slacks of limits and z those of rows, and b = alpha y / t + nu / h, every user is
eliminated by itself, and the matrix over the rows is the *grounded* Laplacian of `pair_layout`,

    sum_i (diag(D_i) - D_i D_i' / (1 / b_i + sum_k D_ik))  (x)  a_i a_i'   +   diag(z / p),

summed without a difference.  What has the size of the pairs is computed for some users at a time.  Predictor and
corrector are S. Mehrotra's (On the implementation of a primal-dual interior point method, SIAM Journal on Optimization
1992).  The end is Newton on the optimality conditions of the constraints found active (`polish`).
"""

from collections.abc import Callable
from threading import Lock

import numpy as np

from ...base.errors import SolverError
from ...base.progress import report
from ..interior_point import RowMatrix
from ..pair_layout import PairBlock, laplacian, summed
from ..problem import Answer, Problem
from .polish import polish
from .pooled_market import as_pool
from .scaled_market import MarketPoint, ScaledMarket

__all__ = ["solve"]

ITERATIONS = 200

FINEST = 1e-12
"""Gap, relative to all money, at which floats tell next to nothing more."""

ENOUGH = 1e-8
"""The same, with which the active constraints may be told apart where rounding stopped it."""

SATISFIED = 1e-10
"""Error of the equations that is rounding, and Newton's to mend."""

PATIENCE = 4
"""Iterations in which the gap does not fall by half after which rounding has the word, once it is `ENOUGH`."""

FASTEST = 1e-6
"""Largest fall of the products in one step; faster, and the next step starts too close to the boundary."""

RESOLVED = 1e-6
"""Smallest part of the mean that a user's money may be for it to be resolved; below it floats run out."""

IDLE = 1e-3
"""Part of what its tasks are worth to a user that it pays at least, unless its limit holds it."""

DEARER = 1.2
"""Prices to begin with, relative to those at which nobody would buy more."""

KEEP = 0.995
"""Part of the way to the boundary that a step takes, while the gap does not say that it may be more."""

CLOSED = 1e200
"""Reduced cost of a closed pair in a table."""

CARRIED = 1e-300
"""What a closed pair in a table carries."""

LATE = 1e-3
"""Gap from which on roundings are looked at: before, steps change everything by more."""

DRIFT = 1e-13
"""Relative error of a user's reduced costs from which on it is made good."""


def solve(problem: Problem) -> Answer:
    """Return the optimum and its prices."""
    if (pooled := as_pool(problem)) is not None:
        return pooled
    market = ScaledMarket(problem)
    return polish(market, _Barrier(market).run())


class _Barrier:
    """An iterate: amounts v, marginal utilities y, prices p, slacks z and h, duals nu of limits and s of signs."""

    def __init__(self, market: ScaledMarket):
        self.problem, self.layout, self.alpha = market.problem, market.layout, market.alpha
        self.n, self.g, self.u, self.limited = market.n, market.g, market.u, market.limited
        self.v = market.spread.copy()
        # The tie of y and t is a product of powers of which neither grows faster than linearly.
        self.power = max(self.alpha, 1.0)
        # What is nothing in floats is no point to go on from, and `run` says so.
        with np.errstate(divide="ignore"):
            self.log_g = np.log(self.g)
        self.capped = bool(self.limited.any())
        # What has no limit has a dual of 0 and a slack of 1, and these stay.
        self.most = np.where(self.limited, self.u, 0.0)

    def run(self) -> MarketPoint:
        """Return a point near the optimum, strictly inside every constraint.

        Raises
        ------
        SolverError
            When rounding, or what users differ by, leaves too much open.
        """
        with np.errstate(all="ignore"):
            self._begin()
            best, waited = np.inf, 0
            near: MarketPoint | None = None
            for iteration in range(ITERATIONS):
                gap, off = self._gap(), self._off()
                self.money = self._money()
                part = gap / self.money
                if not np.isfinite(gap + off):
                    break
                report(f"iteration {iteration}: gap {part:.1e}")
                self.problem.deadline.check("the interior point method", f"the gap was {part:.1e}")
                near_enough = off <= np.sqrt(ENOUGH) and part <= ENOUGH
                if near_enough and (near is None or max(part, off) < best):
                    near = self._point()
                best, waited = (max(part, off), 0) if max(part, off) < best / 2 else (best, waited + 1)
                if part <= FINEST and off <= SATISFIED:
                    return self._point()
                if near is not None and waited >= PATIENCE:
                    break
                self._step(gap)
        if near is None:
            raise SolverError("the interior point method did not converge: the levels differ too much for this policy")
        return near

    def _point(self) -> MarketPoint:
        shape = (self.layout.k, self.layout.m)
        return MarketPoint(
            self.layout.flat(self.v).copy(),
            self.layout.flat(self.s).copy(),
            self.p.reshape(shape).copy(),
            self.z.reshape(shape).copy(),
            self.t.copy(),
            self.nu.copy(),
        )

    def _begin(self) -> None:
        """Start inside: prices so high that nobody would buy more."""
        layout = self.layout
        for block in layout.blocks():
            layout.close(block, self.v[block.pairs], CARRIED)
        self._fill()
        reach = summed(layout, lambda block: (layout.filled(block, layout.ones(block)),))[0].ravel() > 0
        self.there, self.reach = np.flatnonzero(reach), reach
        self.z = np.where(reach, 1 - self.f, 1.0)
        self.p = np.where(reach, 1 / self.z, 0.0)
        self.s = np.empty(layout.shape)

        def price(block: PairBlock) -> tuple:
            self.s[block.pairs] = layout.cost(block, self._table(self.p))
            return ()

        summed(layout, price)
        cheapest = np.concatenate([layout.cheapest(block, self.s[block.pairs]) for block in layout.blocks()])
        dearest = DEARER * float((self.g / cheapest).max())
        self.p *= dearest
        self.y, self.h = self.g.copy(), np.where(self.limited, self.u - self.t, 1.0)
        self.nu = np.where(self.limited, float(np.mean(self.g)) / self.h, 0.0)
        for block in layout.blocks():
            here = self.s[block.pairs]
            here *= dearest
            here += layout.spread(block, (self.nu - self.g)[block.groups])
            layout.close(block, here, CLOSED)
        self.products = layout.count + len(self.there) + int(self.limited.sum())

    def _table(self, rows: np.ndarray) -> np.ndarray:
        return rows.reshape(self.layout.k, self.layout.m)

    def _fill(self) -> None:
        """Compute what rows and users have, f and t."""
        layout, self.t = self.layout, np.empty(self.n)

        def fill(block: PairBlock) -> tuple:
            here = self.v[block.pairs]
            self.t[block.groups] = layout.total(block, here)
            return (layout.filled(block, here),)

        self.f = summed(layout, fill)[0].ravel()

    def _gap(self) -> float:
        """Products of all inequalities and their duals, added up."""
        pairs = summed(self.layout, lambda block: (float(np.vdot(self.v[block.pairs], self.s[block.pairs])),))[0]
        return pairs + float(self.p @ self.z) + float(self.nu @ self.h)

    def _money(self) -> float:
        """What users pay for what they have, as if all paid as little as the poorest: it too is to be resolved."""
        worth = self.y * self.t
        paid = worth - self.nu * self.t
        # Whoever is held by its limit pays next to nothing, and nothing about it hangs on prices.
        paid = paid[paid > IDLE * worth]
        if not paid.size:
            return float(worth.sum())
        return max(float(paid.min()) * len(worth), RESOLVED * float(paid.sum()))

    def _drift(self) -> np.ndarray | None:
        """Return what roundings have left of ``y - nu - cost + s`` of every pair; None where it is nothing to anybody.

        Who is poor began with more, and the roundings of that stay.
        """
        layout, lost = self.layout, np.empty(self.layout.shape)
        prices, off = self._table(self.p), np.empty(self.n)

        def look(block: PairBlock) -> tuple:
            here = self.s[block.pairs] - layout.cost(block, prices)
            here += layout.spread(block, (self.y - self.nu)[block.groups])
            layout.close(block, here, 0.0)
            lost[block.pairs] = here
            off[block.groups] = layout.total(block, np.abs(here)) / self.y[block.groups]
            return ()

        summed(layout, look)
        self.drift = float(off.max())
        return lost if self.drift > DRIFT else None

    def _tie(self) -> np.ndarray:
        a = self.power
        return a * np.expm1((self.log_g - np.log(self.y) - self.alpha * np.log(self.t)) / a)

    def _off(self) -> float:
        """Return the largest error of rows, limits and ties."""
        rows = float((np.abs(self.f + self.z - 1) * self.reach).max())
        limits = float((np.abs((self.t + self.h) / self.u - 1)).max(where=self.limited, initial=0))
        self.tie = self._tie()
        return max(rows, limits, float(np.abs(self.tie).max()))

    def _step(self, gap: float) -> None:
        """Go one step: a predictor, whose lengths say how far to aim, and a corrector."""
        layout, v, s, y, t, nu, h, p, z = (
            getattr(self, name) for name in ("layout", "v", "s", "y", "t", "nu", "h", "p", "z")
        )
        limited, tie, n, reach = self.limited, self.tie, self.n, self.reach
        b = self.alpha * y / t + nu / h
        total, missed = np.empty(n), np.zeros(n)

        def open_(block: PairBlock) -> np.ndarray:
            return v[block.pairs] / s[block.pairs]

        lost = self._drift() if gap <= LATE * self.money else None

        def weigh(block: PairBlock) -> tuple:
            d = open_(block)
            total[block.groups] = layout.total(block, d)
            if lost is not None:
                missed[block.groups] = layout.total(block, d * lost[block.pairs])
            return ()

        summed(layout, weigh)
        ground = 1 / b
        taken = 1 / (ground + total)
        matrix = laplacian(layout, open_, total + ground, ground)
        rate = reach / np.where(reach, p, 1.0)
        of_row = z * rate
        matrix.flat[:: len(matrix) + 1] += of_row
        rows = RowMatrix(matrix, self.there)
        del matrix
        missing = (1 - self.f - z) * reach
        over = (self.most - t - h) * limited

        def users(tied: np.ndarray, rn: np.ndarray) -> np.ndarray:
            return y * tied - (rn - nu * over) / h

        def dearer(dt: np.ndarray, tied: np.ndarray, rn: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """Return the changes of y and nu."""
            return y * (tied - self.alpha * dt / t), (rn - nu * (over - dt)) / h

        def see(dz: np.ndarray, price: np.ndarray, dh: np.ndarray, dy: np.ndarray, dnu: np.ndarray) -> _Lengths:
            """Return how far rows and users may go."""
            far = _Lengths()
            far.see(dz / -z)
            far.see(price * -rate, dual=True)
            far.see(dy / -y, dual=True)
            if self.capped:
                far.see(dh / -h)
                far.see((dnu / -nu)[limited], dual=True)
            return far

        # The predictor.
        paid = nu * h
        aim_users = users(tie, -paid)
        pushed = taken * (aim_users * ground + t - missed)

        def weighed(block: PairBlock) -> np.ndarray:
            """Return D times what users are pushed by, and what their reduced costs have lost."""
            found = layout.spread(block, pushed[block.groups]) + (0.0 if lost is None else lost[block.pairs])
            return open_(block) * found

        def filled_by(block: PairBlock) -> tuple:
            return (layout.filled(block, weighed(block)),)

        price = rows.solve(summed(layout, filled_by)[0].ravel() - self.f - missing - z)
        one, two = np.empty(n), np.empty(n)
        moves, dears = np.empty(layout.shape), np.empty(layout.shape)
        spent = self._spent(price, open_, moves)
        change = (total * aim_users - t + missed - spent) * ground * taken
        dy, dnu = dearer(change, tie, -paid)
        # dnu - dy, but not as a difference: at a limit both are large.
        lift = -taken * (aim_users * ground + t - missed + spent)
        dz, dh = -(z * reach + of_row * price), (over - change) * limited
        far = see(dz, price, dh, dy, dnu)

        def relative(block: PairBlock, cost: np.ndarray) -> np.ndarray:
            """Return the change of the reduced costs, in the place of that of the costs."""
            cost += layout.spread(block, lift[block.groups])
            if lost is not None:
                cost -= lost[block.pairs]
            return cost

        def predict(block: PairBlock) -> tuple:
            here, costs = v[block.pairs], s[block.pairs]
            along = relative(block, moves[block.pairs])
            along /= costs
            layout.close(block, along, 0.0)
            far.see(1 + along)
            far.see(-along, dual=True)
            money = here * costs
            one[block.groups] = layout.total(block, 1 / costs)
            sums = float(money.sum()), float(np.vdot(money, along)), float(np.vdot(money * along, along))
            # The second-order terms, which the corrector makes good.
            along *= (1 + along) * here
            two[block.groups] = layout.total(block, along)
            return sums

        sums = np.array(summed(layout, predict))
        first, dual = far.lengths(KEEP)
        # Products after: (v + first dv)(s + dual ds), with dv = -v (1 + along), ds = s along.
        after = sums[0] * (1 - first) + sums[1] * (dual - first - first * dual) - sums[2] * first * dual
        after += (p + dual * price) @ (z + first * dz) + (nu + dual * dnu) @ (h + first * dh)
        mean = gap / self.products
        target = mean * min(max((float(after) / gap) ** 3, FASTEST), 1.0)
        # Products far below what is asked for help nobody, and would drown in rounding.
        target = max(target, 0.01 * FINEST * self.money / self.products)
        # Second-order terms count for as much of the way to zero as could be gone, and will be.
        part = first * dual * max(1 - target / mean, 0.0) ** 2
        # The corrector.
        tied = tie - part * self.alpha / self.power * (dy / y) * (change / t)
        rn = target * limited - paid - part * dnu * dh
        wanted = users(tied, rn)
        brought = target * one - t + part * two + missed
        pushed = taken * (wanted * ground - brought)
        room = (target - part * price * dz) * rate - z * reach

        def corrected(block: PairBlock) -> tuple:
            # What products at `target` bring each pair beside its price.
            aimed = moves[block.pairs]
            aimed *= part
            aimed += target / s[block.pairs]
            return (layout.filled(block, aimed + weighed(block)),)

        side = summed(layout, corrected)[0].ravel() - self.f - missing + room
        price = rows.solve(side)
        spent = self._spent(price, open_, dears)
        change = (total * wanted + brought - spent) * ground * taken
        dy, dnu = dearer(change, tied, rn)
        lift = -taken * (wanted * ground - brought + spent)
        dz, dh = room - of_row * price, (over - change) * limited
        far = see(dz, price, dh, dy, dnu)

        def correct(block: PairBlock) -> tuple:
            here, costs = v[block.pairs], s[block.pairs]
            dear, more = relative(block, dears[block.pairs]), moves[block.pairs]
            more -= here
            open_ = here / costs
            more -= open_ * dear
            layout.close(block, more, 0.0)
            # Differences between a user's classes may be huge; what they leave of its total is rounding.
            more += open_ * layout.spread(
                block, (change[block.groups] - layout.total(block, more)) / total[block.groups]
            )
            layout.close(block, dear, 0.0)
            far.see(-more / here)
            far.see(-dear / costs, dual=True)
            return ()

        summed(layout, correct)
        first, dual = far.lengths(max(KEEP, 1 - gap / self.money))
        for block in layout.blocks():
            v[block.pairs] += first * moves[block.pairs]
            s[block.pairs] += dual * dears[block.pairs]
        self.z, self.h = z + first * dz, h + first * dh
        self.p, self.y, self.nu = p + dual * price, y + dual * dy, nu + dual * dnu
        self._fill()

    def _spent(self, price: np.ndarray, open_: Callable[[PairBlock], np.ndarray], costs: np.ndarray) -> np.ndarray:
        """Return what users pay at changed prices for their D, (n,), and write what each pair costs."""
        layout, spent = self.layout, np.empty(self.n)

        def spend(block: PairBlock) -> tuple:
            costs[block.pairs] = cost = layout.cost(block, self._table(price))
            spent[block.groups] = layout.total(block, cost * open_(block))
            return ()

        summed(layout, spend)
        return spent


class _Lengths:
    """How far a step may go: the largest relative falls seen, of amounts and of duals."""

    def __init__(self) -> None:
        self.falls, self.lock = [0.0, 0.0], Lock()

    def see(self, falls: np.ndarray, dual: bool = False) -> None:
        """Take notice of relative falls."""
        most = float(falls.max(initial=0.0))
        # Threads that look at different users meet here: none may overwrite what another saw.
        with self.lock:
            self.falls[dual] = max(self.falls[dual], most)

    def lengths(self, part: float) -> tuple[float, float]:
        """Return the lengths of the steps that go `part` of the way to the boundary, at most 1."""
        first, second = (min(1.0, part / fall) if fall > 0 else 1.0 for fall in self.falls)
        return first, second
