"""One round of a leximin chain: the highest common level of those who rise in one part of the cluster, and its prices.

Given   a[r, p]   what one unit of the amount of pair p fills of row r          (rows, pairs)
        w[g], h[g]   amount of group g for each unit of the level, and the amount that its finished users hold

Find    x[p] >= 0 amounts

    maximise    t
    subject to  sum_{p of g} x[p]   >=  w[g] t + h[g]   for every group g    multiplier lambda[g]
                sum_p a[r, p] x[p]  <=  1               for every row r      price p[r]

At the optimum  lambda[g]  is the cost of the group's cheapest pair, and with  sum_g w[g] lambda[g] = 1  the level is
sum p - sum h lambda  (that is the bound which the certificate checks).
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from ...base.errors import SolverError, TimeLimitError
from ...base.tolerances import LEVEL, SAME, SPARE
from ...certificates.chain import CERTAIN, excess, firm
from ..level_part import Cap
from ..linear_programs import INFINITY, SMALLEST, basis_of, inside, load, resume, run
from ..problem import Problem
from ..symmetry import Merged
from .active_rows import ActiveSetEquations, Point
from .vertices import StandardForm, vertices

__all__ = ["LastBasis", "PoolRound", "PoolRounds", "RoundPart", "RoundProgram"]

RESCALE = 1e3
"""A level may differ by this factor from the one expected before the program is solved again in its unit."""

TRIES = 3
"""Units that are tried."""

CROWDED = 3.0
"""Pairs for each row from which on interior point is faster than simplex, which may go on from the round before: 0.3 s
and 5 s on 1,000 users and 100 classes with 30 % of the pairs, but 0.5 s and 0.2 s for all rounds of 25 regions."""

SMALL = 1 << 14
"""Numbers of a program, zeros included, up to which it is written in full."""

TIED = 1e-13
"""Relative distance at which rows of one class are full together."""


@dataclass(frozen=True, eq=False)
class RoundPart:
    """Groups (g,) and their open pairs (p,), in order, that share no capacity with anybody else.

    `tight` says whether some users here are held at a level that their prices made: then no point is inside all rows.
    `level` and `rounds` are the level of the last round that made this part, and how many there were; `priced` are the
    rows that had a price in one of them, and their prices, round by round.  `tried` is how many classes there were when
    the part was last asked whether it is one pool.
    """

    groups: np.ndarray
    pairs: np.ndarray
    tight: bool = False
    level: float = 0.0
    rounds: int = 0
    priced: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    tried: int = 0


@dataclass(frozen=True, eq=False)
class LastBasis:
    """Where simplex ended in the last program of every part: the pairs (pairs,) and the slacks of groups (groups,) and
    rows (rows,) that were basic, and of which groups that is `known` (groups,), all bool.

    Its point stays feasible when users are finished at their levels, and the next program begins there.
    """

    pairs: np.ndarray
    groups: np.ndarray
    rows: np.ndarray
    known: np.ndarray

    @classmethod
    def of(cls, merged: Merged) -> "LastBasis":
        """Return what is known before the first program, which is nothing."""
        return cls(
            *(np.zeros(size, bool) for size in (len(merged.owner), merged.groups, merged.room.size, merged.groups))
        )


@dataclass(frozen=True, eq=False)
class PoolRound:
    """A round of a part that is one pool: its level and prices (rows,), the multipliers and whose groups it finishes,
    both (groups,)."""

    level: float
    prices: np.ndarray
    multipliers: np.ndarray
    proven: np.ndarray


@dataclass(frozen=True, eq=False)
class PoolRounds:
    """All rounds of such a part, in ascending order, and the amounts of its pairs, (pairs,)."""

    rounds: list[PoolRound]
    amounts: np.ndarray


class RoundProgram:
    """The program of a part, as HiGHS is asked it."""

    def __init__(self, merged: Merged, part: RoundPart, weights: np.ndarray, held: np.ndarray, basis: LastBasis):
        self.merged, self.part, self.basis = merged, part, basis
        self.owner = np.searchsorted(part.groups, merged.owner[part.pairs])
        self.weights, self.held = weights[part.groups], held[part.groups]
        self.proportions = merged.proportions[part.groups]
        self.tight = part.tight
        self.kinds = np.unique(merged.place[part.pairs])
        self.starts = np.searchsorted(self.owner, np.arange(len(part.groups)))

    @cached_property
    def stated(self) -> tuple[np.ndarray, sparse.csc_array]:
        """The rows of the cluster that the part's pairs enter, and what the pairs fill of them."""
        return self.merged.rows(self.part.pairs)

    @property
    def rows(self) -> np.ndarray:
        """Rows of the cluster that the part's pairs enter, (r,)."""
        return self.stated[0]

    @property
    def matrix(self) -> sparse.csc_array:
        """What one unit of a pair's amount fills of each row, (r, pairs)."""
        return self.stated[1]

    def solve(
        self, problem: Problem, known: str, start: np.ndarray, cap: Cap | None
    ) -> tuple[float, np.ndarray, np.ndarray | None]:
        """Return the level, the amounts (pairs,) and the prices (rows,).

        Parameters
        ----------
        known : str
            What is known so far, if time runs out.
        start : array (pairs,)
            The amounts that the round before left.
        cap : Cap
            Limits need not be met here: who is above hers at the level returned is held there before the next program.
            When nobody rises any more, the prices are None.

        Raises
        ------
        TimeLimitError, SolverError
        """
        if len(self.kinds) == 1 and problem.instance.machines is not None:
            return self.filled()
        unit = self._expected()
        for _ in range(TRIES):
            found = self._solved(unit, problem, known)
            level = found[0].level
            if unit / RESCALE < level < unit * RESCALE:
                return self._sharpened(found, self.matrix)
            if not level > 0:
                break
            unit = level
        raise SolverError("the program of a round reached level 0 though every user is placed: rescale the instance")

    def as_pool(
        self, problem: Problem, known: str, group: np.ndarray, scale: np.ndarray, tops: np.ndarray
    ) -> PoolRounds | None:
        """Return the rounds of the part if it is one pool, of users (u,) who rise; None where it is not, or not asked.

        Parameters
        ----------
        group, scale, tops : arrays (u,)
            Group of the part, amount for a level of 1, and level at the limit.
        """
        return None

    def _sharpened(self, found: list[Point], matrix: sparse.csc_array) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the solution of the equations that the best of what was found nearly satisfies."""
        sharp = ActiveSetEquations(matrix, self.owner, self.weights, self.held).sharpened(found)
        level = sharp.level if abs(sharp.level - found[0].level) <= SAME * found[0].level else found[0].level
        return level, sharp.amounts, sharp.prices

    def costs(self, prices: np.ndarray) -> np.ndarray:
        """Return what one unit of each pair costs, (pairs,)."""
        return self.matrix.T @ prices

    def cheapest(self, prices: np.ndarray) -> np.ndarray:
        """Return what one unit of each group costs where it is cheapest, (groups,)."""
        return np.minimum.reduceat(self.costs(prices), self.starts)

    def proven(self, level: float, prices: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the level that the prices prove, the multipliers (groups,) and who is finished there, bool (groups,).

        At an optimum whoever is placed pays all that her multiplier may be: the prices say it more exactly.
        """
        multipliers = self.cheapest(prices)
        mass = math.fsum((multipliers * self.weights).tolist())
        if not mass > 0:
            return level, multipliers, np.zeros(len(multipliers), dtype=bool)
        bound = math.fsum([*prices.tolist(), *(-multipliers * self.held).tolist()]) / mass
        # The bound holds whatever the program found, which may be more by what the finished were spared.
        if bound <= level * (1 + SAME):
            level = bound
        amounts = self.weights * level + self.held
        left = excess(prices, multipliers, amounts)
        rising = self.weights > 0
        return level, multipliers, rising & (multipliers > 0) & (multipliers * amounts * CERTAIN * LEVEL >= left)

    def filled(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Do the same on one class, where everybody has one pair and the first row that is full decides."""
        growth = self.matrix @ self.weights
        room = 1 - self.matrix @ self.held
        reach = np.divide(room, growth, where=growth > 0, out=np.full(len(room), np.inf))
        level = float(reach.min())
        full = reach <= level * (1 + TIED)
        prices = np.divide(full, growth, where=full, out=np.zeros(len(room)))
        return level, self.held + self.weights * level, prices

    def _expected(self) -> float:
        """Return the level that the part would reach as one pool, which is no lower than the one it will."""
        m = self.proportions.shape[1]
        pooled = np.bincount(self.rows % m, weights=self.merged.room.ravel()[self.rows], minlength=m)
        growth = self.weights @ self.proportions
        left = pooled - self.held @ self.proportions
        return float(np.divide(left, growth, where=growth > 0, out=np.full(len(left), np.inf)).min())

    def _scaled(self, scale: np.ndarray, unit: float) -> tuple[sparse.csr_array | np.ndarray, float]:
        """Return the matrix of the program, (groups + rows, pairs + 1), and its least number that is not 0 in a row.

        Columns are amounts as parts of what their groups (groups,) take when the level is the unit, and the level.
        """
        groups, pairs, rows = len(scale), len(self.owner), len(self.rows)
        growth, stated = -self.weights * unit / scale, self.matrix
        of = np.repeat(np.arange(pairs), np.diff(stated.indptr))
        values = stated.data * scale[self.owner[of]]
        least = float(values.min())
        if (groups + rows) * (pairs + 1) <= SMALL:
            dense = np.zeros((groups + rows, pairs + 1))
            dense[self.owner, np.arange(pairs)] = 1
            dense[groups + stated.indices, of] = values
            dense[:groups, -1] = growth
            return dense, least
        adding = sparse.csc_array((np.ones(pairs), self.owner, np.arange(pairs + 1)), shape=(groups, pairs))
        scaled = sparse.csc_array((values, stated.indices, stated.indptr), shape=stated.shape)
        return sparse.block_array([[adding, sparse.csc_array(growth[:, None])], [scaled, None]], format="csr"), least

    def _solved(self, unit: float, problem: Problem, known: str) -> list[Point]:
        """Return the solver's point, and where it ended at a basis the one that this makes without the solver's errors.

        Whoever is finished is spared a little in the program, and nothing in the equations of the basis.
        """
        scale = self.weights * unit + self.held
        groups, pairs, rows = len(scale), len(self.owner), len(self.rows)
        if not (np.isfinite(scale) & (scale > 0)).all():
            raise SolverError("tasks at the common level are beyond the range of floats: check units and weights")
        matrix, least = self._scaled(scale, unit)
        if least <= SMALLEST:
            raise SolverError(
                f"some user takes only {least:.0e} of a capacity at the common level, which HiGHS "
                "would drop: the demands differ too much for linear programs"
            )
        cost = np.zeros(pairs + 1)
        cost[-1] = -1
        low = np.concatenate([self.held / scale, np.full(rows, -INFINITY)])
        high = np.concatenate([np.full(groups, INFINITY), np.ones(rows)])
        highs = load(cost, np.full(pairs + 1, INFINITY), matrix, low * (1 - SPARE), high)
        last, part = self.basis, self.part
        resumed = bool(last.known[part.groups].all())
        if resumed:
            basic = last.groups[part.groups], last.rows[self.rows]
            resume(highs, np.append(last.pairs[part.pairs], True), np.concatenate(basic))
        ask = inside if pairs > CROWDED * (groups + rows) and not self.tight and not resumed else run
        try:
            solution = ask(highs, "a round of the chain", problem.deadline)
        except TimeLimitError as error:
            raise TimeLimitError(str(error), known) from None

        def point(columns: np.ndarray, duals: np.ndarray) -> Point:
            amounts = np.maximum(columns[:-1], 0) * scale[self.owner]
            return Point(float(columns[-1]) * unit, amounts, firm(np.maximum(-duals[groups:], 0)))

        found = [point(solution.columns, solution.duals)]
        last.known[part.groups] = False
        for columns, duals, ended in vertices(
            highs, StandardForm(matrix, cost, low, high), basis_of(highs), problem.deadline
        ):
            found.append(point(columns, duals))
            last.known[part.groups] = True
            last.pairs[part.pairs], last.groups[part.groups] = ended[0][:-1], ended[1][:groups]
            last.rows[self.rows] = ended[1][groups:]
        return found
