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
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from scipy.linalg.blas import dger, dsymv
from scipy.linalg.lapack import dpotrf, dpotrs

from ..base.errors import SolverError
from ..base.states import OnePart, SummedParts, Worst
from ..base.tolerances import RIDGE
from .level_part import Cap, LevelPart, LevelStep, bent
from .pair_layout import Layout

__all__ = ["LevelMethod", "LevelProgram", "RowMatrix"]

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

CLIPPED = 4
"""Iterations in which the gap is not halved after which none are stopped: what they give up is then never made good."""

BENT = 20.0
"""Largest second-order term, in mean products: where it is more, the predictor went too far to tell."""

ROWS = 10.0
"""What the product of a row is to be, in those of pairs, of which there are many more."""

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

HALF = 0.5
"""Part of the fullest row that is filled to begin with, where nothing is known."""

SMALLEST = float(np.finfo(float).tiny)

ROOM = 1e-3
"""Slack that a row is given to begin with, at least."""


class RowMatrix:
    """The matrix over the rows that are there, factorised; a step of refinement makes good what the ridge hides."""

    def __init__(self, matrix: np.ndarray, there: np.ndarray):
        self.there = there
        if len(there) < len(matrix):
            matrix = matrix[there[:, None], there]
        self.size = 1 / np.sqrt(np.maximum(matrix.diagonal(), SMALLEST))
        matrix = matrix * self.size
        matrix *= self.size[:, None]
        self.diagonal = matrix.diagonal().copy()
        ridge = RIDGE
        while True:
            matrix.flat[:: len(matrix) + 1] = self.diagonal + ridge
            # The root takes one triangle, and the other one stays what it was.
            self.factor, failed = dpotrf(matrix.T, lower=True, overwrite_a=True, clean=False)
            if not failed:
                self.hidden = self.diagonal - self.factor.diagonal()
                return
            ridge *= 100
            if not ridge < 1:
                raise SolverError("the interior point method lost its matrix to rounding")
            matrix = np.tril(matrix, -1)
            matrix += matrix.T

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return y (rows,), 0 where there is no row."""
        if not len(self.there):  # LAPACK takes no matrix of no rows.
            return np.zeros(len(right))
        scaled = right[self.there] * self.size
        found, _ = dpotrs(self.factor, scaled, lower=True)
        product = dsymv(1.0, self.factor, found) + self.hidden * found
        found += dpotrs(self.factor, scaled - product, lower=True)[0]
        y = np.zeros(len(right))
        y[self.there] = found * self.size
        return y


class LevelParts(SummedParts, Protocol):
    """The users of a program, in one part or in many, by the passes of `LevelPart`."""

    def keep(self) -> None:
        """Be ready to come back to where they are now."""

    def back(self) -> None:
        """Come back to where they were when they were to be kept."""


class InMemory(OnePart):
    """Users in memory, whose last step can be taken back."""

    def __init__(self, part: LevelPart):
        super().__init__(part)
        self._told: tuple[Any, ...] = ()

    def change(self, what: str, *told: Any) -> list[Any]:
        """Return what a pass returns."""
        self._told = told
        return self.look(what, *told)

    def keep(self) -> None:
        """Do nothing: directions are kept."""

    def back(self) -> None:
        """Take the last step back."""
        step, (first, dual), *_ = self._told
        self.part.go(step, (-first, -dual), step.t, 0.0, False)


class LevelProgram:
    """One round of users in memory: the highest level, in the letters above.

    Parameters
    ----------
    layout : PairTable or PairList
        Its `need` is rescaled where groups are capped.
    weights, held : arrays (g,)
        w and h.
    tight : bool array (k, m)
    """

    def __init__(self, layout: Layout, weights: np.ndarray, held: np.ndarray, tight: np.ndarray):
        self.part = LevelPart(layout, weights, held, keeps=True)
        self.tight = tight

    def solve(
        self, amounts: np.ndarray | None, level: float, cap: Cap | None = None, watch: Callable[[str], None] = print
    ) -> tuple[float, np.ndarray, np.ndarray | None]:
        """Return the level, the amounts (pairs,) and the prices (k, m): any multiple of them, free ones maybe negative.

        Parameters
        ----------
        amounts : array (pairs,) or None
            Where to begin: of every group ``w level + h``.  None begins on all open classes, at a level of its own.
        cap : Cap
            Where somebody's limit is passed its group is held there, and the round goes on; when nobody rises any more,
            the prices are None.  Who is at the end at its limit to rounding is not told.
        watch : callable
            Told how far it is before every iteration; may raise.

        Raises
        ------
        SolverError
            When rounding leaves more open than the proof could allow.
        """
        part = self.part
        part.cap = Cap() if cap is None else cap
        parts = InMemory(part)
        method = LevelMethod(parts, self.tight)
        if amounts is None:
            level = method.spread()
        else:
            amounts = part.layout.laid(amounts, 0.0)
        found, prices = method.solve(amounts, level, cap is not None, watch)
        part.settle(found / level)
        return found, part.layout.flat(part.x), prices


class LevelMethod:
    """The method, which knows of the users what their parts add up to.

    Parameters
    ----------
    parts : LevelParts
    tight : bool array (k, m)
    """

    def __init__(self, parts: LevelParts, tight: np.ndarray):
        self.parts = parts
        reach = parts.look("reach")[0] > 0
        self.shape = reach.shape
        self.there = np.flatnonzero(reach)
        self.free = (reach & ~tight).ravel()
        self.tight = bool((reach & tight).any())

    def spread(self) -> float:
        """Return a level at which everybody has room on all open classes."""
        used = self.parts.look("spread")[0]
        return HALF / float(used.max())

    def solve(
        self, amounts: Any, level: float, limited: bool, watch: Callable[[str], None]
    ) -> tuple[float, np.ndarray | None]:
        """Return the level and the prices (k, m), as `LevelProgram.solve` does; amounts stay with the parts.

        Parameters
        ----------
        amounts : object
            From what the parts start: they are told of it and of the level.
        level : float
        limited : bool
            Whether somebody has a limit.
        """
        filled = self.parts.change("start", amounts, level)[0]
        if not (np.isfinite(filled).all() and 0 < level < np.inf):
            raise SolverError("tasks at the common level are beyond the range of floats: check units and weights")
        self.unit, self.t, self.rising, self.clips = level, 1.0, True, True
        self.t_middle: float | None = None
        self._begin(filled)
        best, waited, good = np.inf, 0, False
        for iteration in range(ITERATIONS):
            gap = self._gap()
            self.clips = self.clips and waited < CLIPPED
            watch(f"iteration {iteration}: gap {gap / self.t:.1e} of the level")
            if gap < best / 2:
                best, waited = gap, 0
            else:
                waited += 1
            feasible = self._off() <= FEASIBLE
            at_rest = gap <= DONE * self.t or (gap <= ENOUGH * self.t and waited >= PATIENCE)
            resolved = feasible and abs(self.short) <= CERTAIN
            if good and not (resolved and np.isfinite(gap)):
                # The last step was made of rounding.
                self._undo()
                gap, resolved, at_rest = 0.0, True, True
            if not np.isfinite(gap) or waited >= STUCK:
                break
            done, good = resolved and at_rest, resolved and gap <= ENOUGH * self.t
            if limited and feasible and self._capped(self.t * self.unit * (1 - FEASIBLE), gap <= MIDDLE * self.t):
                if not self.rising:
                    return self.t * self.unit, None
                best, waited, good = np.inf, 0, False
                continue
            if done:
                return self.t * self.unit, self.p.reshape(self.shape)
            if good:
                self.parts.keep()
            self._step(gap, limited and (self.t_middle is None or (feasible and gap > MIDDLE * self.t)))
        raise SolverError("the interior point method did not converge: take another engine, such as lp-chain")

    def _capped(self, level: float, late: bool) -> bool:
        """Hold at their limits who has reached them.

        Late, when little room is left, many may leave a boundary that others are to pass: then from where there was
        room.
        """
        if not self.parts.look("due", level)[0]:
            return False
        rising, left = self.parts.change("meet", level)
        self.rising = bool(rising)
        if late and self.rising and left * self.unit < MOST:
            self.t = self.t if self.t_middle is None else self.t_middle
            self._begin(self.parts.change("again", self.t)[0])
            return True
        filled, *told = self.parts.change("shrink", self.t)
        self._take(filled, *told)
        self.v[self.free] = np.maximum(1 - self.f[self.free], self.v[self.free])
        return True

    def _begin(self, filled: np.ndarray) -> None:
        """Choose slacks, prices and reduced costs: inside, and everybody paying about as much as the others."""
        free, f = self.free, filled.ravel()
        self.rhs = np.where(free, 1.0, f)
        self.v = np.where(free, np.maximum(1 - f, ROOM), 1.0)
        self.p = np.where(free, 1 / self.v, 0.0)
        paid, by_weight, groups, pairs = self.parts.look("pay", self.p)
        size = 1 / by_weight
        told = self.parts.change("begin", self.p, paid / groups, size)
        self.p *= size
        self._take(filled, *told)
        self.count = pairs
        self.products = pairs + ROWS * int(free.sum())

    def _take(self, filled: np.ndarray, money: float, paid: float, off: Worst) -> None:
        """Take over what the parts told after a change; what is missing of the multipliers, 1 together, is short."""
        self.f, self.money, self.short, self.off = filled.ravel(), money, 1 - paid, off.value

    def _gap(self) -> float:
        return self.money + float(self.v[self.free] @ self.p[self.free])

    def _off(self) -> float:
        """Return what the equations of rows and groups miss at most."""
        rows = np.abs(self.f + np.where(self.free, self.v, 0.0) - self.rhs)[self.there]
        return max(float(rows.max(initial=0)), self.off)

    def _step(self, gap: float, mark: bool) -> None:
        """Go one step: a predictor, whose lengths say how far to aim, and a corrector."""
        free, parts = self.free, self.parts
        *tables, down, owed, matrix = parts.look("weigh", self.t, self.tight)
        per_level, of_amount = (table.ravel() for table in tables[:2])
        matrix.flat[:: len(matrix) + 1] += np.where(
            free, self.v / np.where(free, self.p, 1.0), PROXIMAL * tables[2].ravel() if self.tight else 0.0
        )
        dger(1 / down, per_level, per_level, a=matrix.T, overwrite_a=True)
        rows = RowMatrix(matrix, self.there)
        del matrix

        def direction(side: np.ndarray, owed: float) -> tuple[np.ndarray, float]:
            """Return the changes of prices and level for what rows and groups miss."""
            missing = self.short - owed
            price = rows.solve(side + per_level * (missing / down))
            return price, (missing - float(per_level @ price)) / down

        price, level = direction(of_amount - self.rhs, owed)
        given = OUTLIERS * self.count if self.clips and gap > MIDDLE * self.t else 0.0
        step = LevelStep(self.t, (price, level), BENT * gap / self.products)
        far, sums, of_inverse, of_second, owing = parts.look("predict", step)
        ratio = price[free] / self.p[free]
        money = self.v[free] * self.p[free]
        sums = sums + np.array([float(money.sum()), float(money @ ratio), float((money * ratio) @ ratio)])
        first, dual = far.lengths(given, 1 + ratio, -ratio, 1.0)
        after = sums[0] * (1 - first) + sums[1] * (dual - first - first * dual) - sums[2] * first * dual
        aim = max(min(max(float(after) / float(sums[0]), 0.0), 1.0) ** 3, FASTEST) * gap
        aim = max(aim, LOWEST * self.t) / self.products
        # The corrector: products are to be `aim`, second-order terms of the predictor included.
        room = np.zeros(len(free))
        room[free] = ROWS * aim / self.p[free] + bent(self.v[free], self.p[free], ratio, ROWS * step.most)
        side = of_amount - self.rhs + aim * of_inverse.ravel() + of_second.ravel() + room
        price, level = direction(side, owed - aim * float(owing[0]) - float(owing[1]))
        step = replace(step, then=(price, level), aim=aim)
        far = parts.look("correct", step)[0]
        slack = room[free] - self.v[free] - self.v[free] / self.p[free] * price[free]
        part = min(max(KEEP_LATE if not given else KEEP, 1 - gap / self.t), 1 - CLOSEST)
        falls = np.append(-slack / self.v[free], -level / self.t)
        first, dual = far.lengths(given, falls, -price[free] / self.p[free], part)
        self._before = (self.t, self.v.copy(), self.p.copy(), self.f)
        if mark:
            self.t_middle = self.t
        self.v[free] += first * slack
        self.t += first * level
        self.p += dual * price
        left = LEFT if given else 0.0
        clipped, filled, *told = parts.change("go", step, (first, dual), self.t, left, mark)
        self._take(filled, *told)
        if clipped:
            self.v[free] = np.maximum(1 - self.f[free], left * self.v[free])

    def _undo(self) -> None:
        """Take the last step back."""
        self.parts.back()
        self.t, self.v, self.p, self.f = self._before
