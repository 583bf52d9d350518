"""A primal-dual interior point method for programs over pairs (user, class), in which only the classes are factorised.

Given   a[g, j]     what one unit of group g takes of resource j                     (g, m)
        c[k, j]     room of class k                                                  (k, m)
        w[g], h[g]  units of group g for each unit of the level, and units it holds  (g,)

Find    x[g, k] >= 0  units on the open classes

    maximise    t
    subject to  sum_k x[g, k]                      =  w[g] t + h[g]   for every group g      multiplier lambda[g]
                sum_g a[g, j] x[g, k] / c[k, j]   <=  1               for every row (k, j)   price p[k, j]

With  s = cost - lambda  the reduced costs,  v  the slacks of the rows and  D = x / s,  a Newton step is linear in the
prices alone once every group is eliminated by itself: the matrix over the rows is

    sum_g (diag(D_g) - D_g D_g' / S_g)  (x)  a_g a_g'   +  diag(v / p)   +  u u' / e           S_g = sum_k D_gk

(x) the Kronecker product, u and e what eliminating t leaves.  The first part is a weighted Laplacian in the classes:
its blocks off the diagonal, ``- sum_g D_gk D_gl / S_g a_g a_g'``, come from one product of tall matrices, and those on
it are the sums of these, so nothing cancels.  All that has the size of the pairs is done for some users at a time.
Predictor and corrector are S. Mehrotra's (On the implementation of a primal-dual interior point method, SIAM Journal
on Optimization 1992); that generalised upper bounds are eliminated one by one is as old as G. Dantzig and R. Van Slyke
(Journal of Computer and System Sciences 1967).

Rows that earlier rounds filled are *tight*: they hold with equality, so that the others have an inside, and their
prices are free.  Then some rows follow from others, and a ridge leaves the prices along them where they are, which
changes no reduced cost.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from ..base.errors import SolverError
from ..base.tolerances import RIDGE
from .pair_layout import Layout, PairBlock, laplacian, summed

__all__ = ["LevelProgram", "RowMatrix"]

CLOSED = 1e200
"""Reduced cost of a closed pair in a table: what it would carry is nothing, and no number overflows."""

ITERATIONS = 300
"""Far more than the 8 to 15 that most programs need; some, on which HiGHS's takes 70, take 120."""

STUCK = 60
"""Iterations in which the gap is not halved after which it will not be: the steps have come too near the boundary."""

DONE = 1e-13
"""Gap relative to the level at which all that floats can tell is told."""

ENOUGH = 1e-11
"""The gap that is good enough where rounding lets it fall no further; whether it was, the proof says."""

PATIENCE = 2
"""Iterations in which the gap is not halved after which rounding has the word."""

CERTAIN = 1e-9
"""What the multipliers of who rises may be short of 1: the bound divides by what they are."""

MIDDLE = 1e-3
"""Gap down to which an iterate has room on all sides, so that the method can begin there again."""

KEEP, KEEP_LATE = 0.9, 0.995
"""Part of the way to the boundary that a step takes while there is room, and late."""

OUTLIERS = 0.005
"""Part of the pairs that may be stopped at the boundary by themselves, so that all others go further."""

LEFT = 0.1
"""What these keep of themselves."""

BENT = 20.0
"""Largest second-order term, in mean products: where it is more, the predictor went too far to tell."""

ROWS = 10.0
"""What the product of a row is to be, in those of pairs, of which there are many more."""

BINS = 400
"""Eighths of octaves in which falls are counted."""

TINY = np.finfo(float).tiny

CLOSEST = 1e-6
"""What a step leaves of that way at the end."""

FASTEST = 1e-4
"""Largest fall of the products in one step."""

LOWEST = 1e-15
"""The gap below which none is aimed at: there the reduced costs are all rounding."""

MOST = 0.9
"""Part of the multipliers that are left late in a round when somebody is capped, for the round to go on from there."""

PROXIMAL = 1e-18
"""Part of what a tight row's users would give way if nothing held them, that it gives way though all of them are."""

FEASIBLE = 1e-12
"""What rows and groups may be off by for a level to count as reached."""

ROOM = 1e-3
"""Slack that a row is given to begin with, at least."""

LEAST = 1e-9
"""Part of what a group has that each of its pairs carries to begin with, at least."""


class RowMatrix:
    """The matrix over the rows that are there, factorised; a step of refinement makes good what the ridge hides."""

    def __init__(self, matrix: np.ndarray, there: np.ndarray):
        self.there = there
        matrix = matrix.copy() if len(there) == len(matrix) else matrix[np.ix_(there, there)]
        self.size = 1 / np.sqrt(np.maximum(matrix.diagonal(), np.finfo(float).tiny))
        matrix *= self.size
        matrix *= self.size[:, None]
        self.matrix = matrix
        ridge = RIDGE
        while True:
            full = matrix.copy()
            full.flat[:: len(full) + 1] += ridge
            self.factor, failed = dpotrf(full.T, lower=True, overwrite_a=True, clean=False)
            if not failed:
                return
            ridge *= 100
            if not ridge < 1:
                raise SolverError("the interior point method lost its matrix to rounding")

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return y (rows,), 0 where there is no row."""
        scaled = right[self.there] * self.size
        found, _ = dpotrs(self.factor, scaled, lower=True)
        found += dpotrs(self.factor, scaled - self.matrix @ found, lower=True)[0]
        y = np.zeros(len(right))
        y[self.there] = found * self.size
        return y


Cap = Callable[[float], tuple[np.ndarray, np.ndarray] | None]
"""Told a level that is reached, returns w and h (g,) from now on where somebody's limit is met there, or None."""


class LevelProgram:
    """One round: the highest level, in the letters above.

    Groups are measured in what they have to begin with, so that x, t and what a row has are near 1.

    Parameters
    ----------
    layout : PairTable or PairList
        Its `need` is rescaled where groups are capped.
    weights, held : arrays (g,)
        w and h.
    tight : bool array (k, m)
    """

    def __init__(self, layout: Layout, weights: np.ndarray, held: np.ndarray, tight: np.ndarray):
        self.layout, self.weights, self.held = layout, weights, held
        self.lam = self.change = self.dearer = np.zeros(0)
        self._middle = (np.zeros(0), 0.0, np.zeros(0))
        reach = summed(layout, lambda block: (layout.filled(block, layout.ones(block)),))[0] > 0
        self.there = np.flatnonzero(reach)
        self.free = (reach & ~tight).ravel()
        self.tight = bool((reach & tight).any())

    def solve(
        self, amounts: np.ndarray, level: float, cap: Cap | None = None, watch: Callable[[str], None] = print
    ) -> tuple[float, np.ndarray, np.ndarray | None]:
        """Return the level, the amounts (pairs,) and the prices (k, m): any multiple of them, free ones maybe negative.

        Parameters
        ----------
        amounts : array (pairs,)
            Where to begin: of every group ``w level + h``.
        cap : callable
            Where somebody's limit is passed its group is held there, and the round goes on; when nobody rises any more,
            the prices are None.  Who is at the end at its limit to rounding is not told.
        watch : callable
            Told how far it is before every iteration; may raise.

        Raises
        ------
        SolverError
            When rounding leaves more open than the proof could allow.
        """
        layout = self.layout
        self.unit, self.t = level, 1.0
        self.scale = self.weights * level + self.held
        layout.need = layout.need * self.scale[:, None]
        self.x = layout.laid(amounts, 0.0)
        for block in layout.blocks():
            here = self.x[block.pairs]
            here /= layout.spread(block, np.maximum(layout.total(block, here), np.finfo(float).tiny))
            np.maximum(here, layout.spread(block, LEAST / layout.degree(block)), out=here)
            layout.close(block, here, 0.0)
            here /= layout.spread(block, layout.total(block, here))
        self._weigh()
        self._begin()
        if cap is not None:
            self._middle = (self.x.copy(), self.t, self.omega * self.t + self.eta)
        best, waited, good = np.inf, 0, False
        for iteration in range(ITERATIONS):
            gap = self._gap()
            watch(f"iteration {iteration}: gap {gap / self.t:.1e} of the level")
            if gap < best / 2:
                best, waited = gap, 0
            else:
                waited += 1
            feasible = self._off() <= FEASIBLE
            at_rest = gap <= DONE * self.t or (gap <= ENOUGH * self.t and waited >= PATIENCE)
            resolved = feasible and abs(self._short()) <= CERTAIN
            if good and not (resolved and np.isfinite(gap)):
                # The last step was made of rounding.
                self._undo()
                gap, resolved, at_rest = 0.0, True, True
            if not np.isfinite(gap) or waited >= STUCK:
                break
            done, good = resolved and at_rest, resolved and gap <= ENOUGH * self.t
            if cap is not None and feasible:
                if self._capped(cap, self.t * self.unit * (1 - FEASIBLE), gap <= MIDDLE * self.t):
                    if not self.weights.any():
                        return self.t * self.unit, self._amounts(), None
                    best, waited, good = np.inf, 0, False
                    continue
                if gap > MIDDLE * self.t:
                    self._middle = (self.x.copy(), self.t, self.omega * self.t + self.eta)
            if done:
                return self.t * self.unit, self._amounts(), self.p.reshape(layout.k, layout.m)
            self._step(gap)
        raise SolverError("the interior point method did not converge: take another engine, such as lp-chain")

    def _amounts(self) -> np.ndarray:
        """Return the amounts of the pairs in the groups' own units, (pairs,)."""
        layout, table = self.layout, self.x.copy()
        amounts = self.scale * (self.omega * self.t + self.eta)
        for block in layout.blocks():
            here = table[block.pairs]
            layout.close(block, here, 0.0)
            here *= layout.spread(block, amounts[block.groups] / layout.total(block, here))
        return layout.flat(table)

    def _weigh(self) -> None:
        """Put w and h in the groups' units."""
        self.omega, self.eta = self.weights * self.unit / self.scale, self.held / self.scale

    def _capped(self, cap: Cap, level: float, late: bool) -> bool:
        """Hold at their limits who has reached them; what a group has shrinks with its unit, and x stays.

        Late, when little room is left, many may leave a boundary that others are to pass: then from where there was
        room.
        """
        found = cap(level)
        if found is None:
            return False
        self.weights, self.held = found
        if late and self.weights.any() and float(self.weights @ (self.lam / self.scale)) * self.unit < MOST:
            self.x, self.t, had = self._middle
            self.x = self.x.copy()
            self._rescale((self.weights * self.t * self.unit + self.held) / (self.scale * had))
            self._begin()
            return True
        shrunk = (self.weights * self.t * self.unit + self.held) / (self.scale * (self.omega * self.t + self.eta))
        self.lam = self.lam * shrunk
        self._rescale(shrunk)
        for block in self.layout.blocks():
            self.s[block.pairs] *= self.layout.spread(block, shrunk[block.groups])
            self.layout.close(block, self.s[block.pairs], CLOSED)
        self._fill()
        self.v[self.free] = np.maximum(1 - self.f[self.free], self.v[self.free])
        return True

    def _rescale(self, shrunk: np.ndarray) -> None:
        """Measure groups in `shrunk` times the unit they had."""
        self.layout.need = self.layout.need * shrunk[:, None]
        self.scale = shrunk * self.scale
        self._weigh()

    def _begin(self) -> None:
        """Choose slacks, prices and reduced costs: inside, and everybody paying about as much as the others."""
        layout, free = self.layout, self.free
        self._fill()
        self.rhs = np.where(free, 1.0, self.f)
        self.v = np.where(free, np.maximum(1 - self.f, ROOM), 1.0)
        self.p = np.where(free, 1 / self.v, 0.0)
        mean, cheapest = np.empty(layout.g), np.empty(layout.g)
        self.s = np.empty(layout.shape)
        prices = self._table(self.p)

        def price(block: PairBlock) -> tuple:
            cost = layout.cost(block, prices)
            mean[block.groups] = layout.total(block, cost * layout.ones(block)) / layout.degree(block)
            cheapest[block.groups] = layout.cheapest(block, cost)
            self.s[block.pairs] = cost
            return ()

        summed(layout, price)
        self.lam = cheapest - np.maximum(mean, mean.mean())
        size = 1 / (self.omega @ mean)
        for block in layout.blocks():
            here = self.s[block.pairs]
            here -= layout.spread(block, self.lam[block.groups])
            here *= size
            layout.close(block, here, CLOSED)
        self.p *= size
        self.lam *= size
        self.products = layout.count + ROWS * int(free.sum())

    def _table(self, rows: np.ndarray) -> np.ndarray:
        return rows.reshape(self.layout.k, self.layout.m)

    def _fill(self) -> None:
        """Compute what the rows have, f, and what the groups have."""
        layout = self.layout
        self.has = np.empty(layout.g)

        def fill(block: PairBlock) -> tuple:
            here = self.x[block.pairs]
            self.has[block.groups] = layout.total(block, here)
            return (layout.filled(block, here),)

        self.f = summed(layout, fill)[0].ravel()

    def _gap(self) -> float:
        pairs = summed(self.layout, lambda block: (float(np.vdot(self.x[block.pairs], self.s[block.pairs])),))[0]
        return pairs + float(self.v[self.free] @ self.p[self.free])

    def _off(self) -> float:
        """Return what the equations of rows and groups miss at most."""
        rows = np.abs(self.f + np.where(self.free, self.v, 0.0) - self.rhs)[self.there]
        groups = np.abs(self.omega * self.t + self.eta - self.has)
        return max(float(rows.max(initial=0)), float(groups.max()))

    def _short(self) -> float:
        """Return what is missing of the multipliers of who rises, which are 1 together."""
        return 1 - float(self.omega @ self.lam)

    def _open(self, block: PairBlock) -> np.ndarray:
        return self.x[block.pairs] / self.s[block.pairs]

    def _step(self, gap: float) -> None:
        """Go one step: a predictor, whose lengths say how far to aim, and a corrector."""
        layout, free, x, s = self.layout, self.free, self.x, self.s
        total, amount = np.empty(layout.g), self.omega * self.t + self.eta

        def weigh(block: PairBlock) -> tuple:
            d = self._open(block)
            total[block.groups] = each = layout.total(block, d)
            grow, has = (layout.spread(block, v[block.groups] / each) for v in (self.omega, amount))
            fixed = (layout.squares(block, d),) if self.tight else ()
            return layout.filled(block, d * grow), layout.filled(block, d * has), *fixed

        per_level, of_amount, *fixed = (table.ravel() for table in summed(layout, weigh))
        down = self.omega @ (self.omega / total)
        matrix = laplacian(layout, self._open, total)
        matrix.flat[:: len(matrix) + 1] += np.where(
            free, self.v / np.where(free, self.p, 1.0), PROXIMAL * fixed[0] if self.tight else 0.0
        )
        matrix += np.outer(per_level, per_level / down)
        rows = RowMatrix(matrix, self.there)
        del matrix
        short = self._short()

        def direction(side: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, float]:
            """Return the changes of prices and level for what rows and groups miss."""
            missing = short - float(self.omega @ (groups / total))
            price = rows.solve(side + per_level * (missing / down))
            return price, (missing - float(per_level @ price)) / down

        def relative(block: PairBlock, price: np.ndarray, groups: np.ndarray, level: float) -> tuple:
            """Return the change of the multipliers, and that of the reduced costs."""
            cost = layout.cost(block, self._table(price))
            rise = (
                layout.total(block, cost * self._open(block)) + groups[block.groups] + self.omega[block.groups] * level
            )
            rise /= total[block.groups]
            cost -= layout.spread(block, rise)
            return rise, cost

        price, level = direction(of_amount - self.rhs, amount)
        inverse, second = np.empty(layout.g), np.empty(layout.g)
        given = OUTLIERS * layout.count if gap > MIDDLE * self.t else 0.0

        def predict(block: PairBlock) -> tuple:
            here, costs = x[block.pairs], s[block.pairs]
            along = relative(block, price, amount, level)[1]
            along /= costs
            falls = _Falls.seen(1 + along, -along)
            money = here * costs
            sums = (float(money.sum()), float(np.vdot(money, along)), float(np.vdot(money * along, along)))
            per_cost = 1 / costs
            bent = self._bent(here, costs, along, most)
            d = here * per_cost
            inverse[block.groups] = one = layout.total(block, per_cost)
            second[block.groups] = two = layout.total(block, bent)
            one, two = (layout.spread(block, v / total[block.groups]) for v in (one, two))
            return (
                falls,
                np.array(sums),
                layout.filled(block, per_cost - d * one),
                layout.filled(block, bent - d * two),
            )

        most = BENT * gap / self.products
        far, sums, of_inverse, of_second = summed(layout, predict)
        ratio = price[free] / self.p[free]
        money = self.v[free] * self.p[free]
        sums += float(money.sum()), float(money @ ratio), float((money * ratio) @ ratio)
        first, dual = far.lengths(given, 1 + ratio, -ratio, 1.0)
        after = sums[0] * (1 - first) + sums[1] * (dual - first - first * dual) - sums[2] * first * dual
        aim = max(max(float(after) / float(sums[0]), 0.0) ** 3, FASTEST) * gap
        aim = max(aim, LOWEST * self.t) / self.products
        # The corrector: products are to be `aim`, second-order terms of the predictor included.
        room = np.zeros(len(free))
        room[free] = ROWS * aim / self.p[free] + self._bent(self.v[free], self.p[free], ratio, ROWS * most)
        groups = amount - aim * inverse - second
        side = of_amount - self.rhs + aim * of_inverse.ravel() + of_second.ravel() + room
        before = (price, level)
        price, level = direction(side, groups)
        if self.change.shape != x.shape:
            self.change, self.dearer = np.empty_like(x), np.empty_like(s)
        change, dearer = self.change, self.dearer
        rises = np.empty(layout.g)

        def correct(block: PairBlock) -> tuple:
            here, costs = x[block.pairs], s[block.pairs]
            along = relative(block, before[0], amount, before[1])[1]
            along /= costs
            rises[block.groups], dear = relative(block, price, groups, level)
            more = aim / costs
            more -= here
            more += self._bent(here, costs, along, most)
            more -= here / costs * dear
            # What is closed stays at nothing, or its products would count.
            layout.close(block, more, 0.0)
            change[block.pairs], dearer[block.pairs] = more, dear
            return (_Falls.seen(-more / np.maximum(here, TINY), -dear / costs),)

        far = summed(layout, correct)[0]
        slack = room[free] - self.v[free] - self.v[free] / self.p[free] * price[free]
        part = min(max(KEEP_LATE if not given else KEEP, 1 - gap / self.t), 1 - CLOSEST)
        falls = np.append(-slack / self.v[free], -level / self.t)
        first, dual = far.lengths(given, falls, -price[free] / self.p[free], part)
        self._last = (first, dual, slack, level, price, rises)
        self._move(1.0, LEFT if given else 0.0)

    @staticmethod
    def _bent(here: np.ndarray, costs: np.ndarray, along: np.ndarray, most: float) -> np.ndarray:
        """Return what the second order of the predictor adds to amounts, at most so much of a product."""
        product = here * costs * along
        product *= 1 + along
        np.clip(product, -most, most, out=product)
        product /= costs
        return product

    def _undo(self) -> None:
        """Take the last step back."""
        self._move(-1.0, 0.0)

    def _move(self, part: float, left: float) -> None:
        """Go so much of the last step; what would lose more than all but `left` of itself keeps that."""
        layout = self.layout
        first, dual, slack, level, price, rises = self._last
        self.v[self.free] += part * first * slack
        self.t += part * first * level
        self.p += part * dual * price
        self.lam += part * dual * rises
        self.has = np.empty(layout.g)
        amount = self.omega * self.t + self.eta

        def go(block: PairBlock) -> tuple:
            here, costs = self.x[block.pairs], self.s[block.pairs]
            more, dearer = part * first * self.change[block.pairs], part * dual * self.dearer[block.pairs]
            clipped = 0
            more += here
            if left:
                least = left * here
                clipped = int(np.count_nonzero(more < least))
                np.maximum(more, least, out=more)
                dearer += costs
                least = left * costs
                least -= dearer
                short = np.maximum(-layout.cheapest(block, -least), 0)
                dearer += layout.spread(block, short)
                self.lam[block.groups] -= short
                layout.close(block, dearer, CLOSED)
                costs[:] = dearer
            else:
                costs += dearer
            # Beside what is clipped, rounding alone takes groups from what they are to have.
            more *= layout.spread(block, amount[block.groups] / layout.total(block, more))
            here[:] = more
            self.has[block.groups] = layout.total(block, here)
            return clipped, layout.filled(block, here)

        clipped, f = summed(layout, go)
        self.f = f.ravel()
        if clipped:
            self.v[self.free] = np.maximum(1 - self.f[self.free], left * self.v[self.free])


class _Falls:
    """How much of themselves amounts and reduced costs lose in a step: the most, and how many lose how much."""

    def __init__(self, most: np.ndarray, counts: np.ndarray):
        self.most, self.counts = most, counts

    @classmethod
    def seen(cls, *falls: np.ndarray) -> "_Falls":
        """Take notice of relative falls of amounts and of reduced costs."""
        counts = np.zeros((len(falls), BINS), dtype=np.int64)
        for count, values in zip(counts, falls, strict=True):
            much = values[values > 0.5]
            if much.size:
                count[:] = np.bincount(np.minimum((np.log2(much) * 8 + 8).astype(int), BINS - 1), minlength=BINS)
        return cls(np.array([float(values.max(initial=0.0)) for values in falls]), counts)

    def __add__(self, other: "_Falls") -> "_Falls":
        return _Falls(np.maximum(self.most, other.most), self.counts + other.counts)

    def lengths(self, given: float, slack: np.ndarray, price: np.ndarray, part: float) -> tuple[float, float]:
        """Return the lengths of the steps that go `part` of the way to the boundary, at most 1.

        So many amounts and so many reduced costs may be `given` up: they would stop all others.
        """
        found = []
        for most, count, rows in zip(self.most, self.counts, (slack, price), strict=True):
            if given:
                beyond = count[::-1].cumsum()[::-1]
                stays = int(np.argmax(beyond <= given))
                most = min(most, 2.0 ** ((stays - 8) / 8))
            fall = max(float(most), float(rows.max(initial=0.0)))
            found.append(min(1.0, part / fall) if fall > 0 else 1.0)
        return found[0], found[1]
