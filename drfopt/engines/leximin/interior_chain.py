"""Leximin on machines by the structured interior point method: the chain of `lp_chain`, its rounds solved without rows.

A round begins where the one before ended, with the classes that its prices closed taken away: in the relative interior
of that round's optima, so that there is room on all sides but on the rows that are *tight*, which its prices filled for
good.  These are equations now, and their prices may come out negative.  What a round proved it proves for ever, so any
multiple of its prices may be added to those of a later one: as much as makes them prices again.

First of all a part is asked whether it is one pool in disguise (`pool_placing`).  Then its rounds are those of
progressive filling, a saturated resource has one price on all classes, and nothing else need be solved.
"""

from collections.abc import Callable

import numpy as np
from scipy import sparse

from ...base.deadline import Deadline
from ...base.errors import TimeLimitError
from ...certificates.chain import firm
from ..interior_point import LevelProgram
from ..level_part import Cap
from ..linear_programs import INFINITY, load, run
from ..pair_layout import pair_layout
from ..pool_placing import placed
from ..problem import Answer, Problem
from .active_rows import Point
from .lp_chain import solve_by
from .lp_round import TIED, PoolRound, PoolRounds, RoundProgram

__all__ = ["InteriorRound", "raised", "solve"]

POLISHED = 50_000
"""Pairs up to which the equations of the optimum are solved to rounding in rounds that build on others."""

TRACE = 1e-9
"""A negative price that is this part of the largest is none."""

DIGITS = 1e-3
"""Part of a resource that is left to the rising at least, or too many digits of what is left are lost."""


def solve(problem: Problem) -> Answer:
    """Return the leximin allocation, with the chain of rounds that proves it."""
    return solve_by(problem, InteriorRound)


class InteriorRound(RoundProgram):
    """The program of a part, of which no array is larger than the pairs."""

    def _laid(self) -> None:
        if hasattr(self, "layout"):
            return
        merged, part = self.merged, self.part
        m = merged.room.shape[1]
        place = np.zeros(len(merged.room), dtype=np.intp)
        place[self.kinds] = np.arange(len(self.kinds))
        self.place = place[merged.place[part.pairs]]
        self.all_rows = (self.kinds[:, None] * m + np.arange(m)).ravel()
        self.layout = pair_layout(self.proportions, merged.room[self.kinds], self.owner, self.place)

    @property
    def rows(self) -> np.ndarray:
        """Rows of the classes that are open to somebody, (r,)."""
        return self.all_rows if hasattr(self, "layout") else super().rows

    def solve(
        self, problem: Problem, known: str, start: np.ndarray, cap: Cap | None
    ) -> tuple[float, np.ndarray, np.ndarray | None]:
        """Return the level, the amounts (pairs,) and the prices (rows,): `RoundProgram.solve`."""
        if len(self.kinds) == 1:
            return self.filled()
        self._laid()
        entered = self._entered().ravel()
        before = [np.where(entered, self._here(*priced), 0.0) for priced in self.part.priced]
        tight = np.zeros(len(entered), dtype=bool)
        for prices in before:
            tight |= prices > 0
        level = self.part.level
        has = np.add.reduceat(start, self.starts)
        begin = start if level > 0 and (has > 0).all() else None

        k, m = len(self.kinds), self.proportions.shape[1]
        program = LevelProgram(self.layout, self.weights, self.held, tight.reshape(k, m))
        with np.errstate(all="ignore"):
            level, amounts, table = program.solve(begin, level, cap, _watch(problem, known))
        self.layout.need = self.proportions
        self.weights, self.held = program.part.weights, program.part.held
        if table is None:
            return level, amounts, None
        prices = raised(table.ravel(), before, problem.deadline)
        if before and len(amounts) <= POLISHED:
            # What is missed is carried on from round to round.
            present, matrix = self.stated
            sharp = self._sharpened([Point(level, amounts, prices[entered])], matrix)
            level, amounts, prices[np.searchsorted(self.all_rows, present)] = sharp
        return level, amounts, prices

    def as_pool(
        self, problem: Problem, known: str, group: np.ndarray, scale: np.ndarray, tops: np.ndarray
    ) -> PoolRounds | None:
        """Return the rounds of the part if it is one pool: `RoundProgram.as_pool`."""
        if len(self.kinds) == 1:
            return None
        self._laid()
        before = self.weights, self.held
        with np.errstate(all="ignore"):
            found = self._filled_pool(group, scale, tops)
            if found is not None:
                rounds, full = found
                watch = _watch(problem, known)
                amounts = self.held
                has = amounts > 0
                pairs = has[self.owner]
                room = np.where(self._entered(), self.merged.room[self.kinds], 0.0)
                need = self.proportions[has] * amounts[has, None]
                owner = (has.cumsum() - 1)[self.owner[pairs]]
                parts = placed(need, room, owner, self.place[pairs], full, watch)
        self.weights, self.held = before
        if found is None or parts is None:
            return None
        laid = np.zeros(len(self.owner))
        laid[pairs] = parts * amounts[self.owner[pairs]]
        return PoolRounds(rounds, laid)

    def _filled_pool(
        self, group: np.ndarray, scale: np.ndarray, tops: np.ndarray
    ) -> tuple[list[PoolRound], np.ndarray] | None:
        """Fill the pool of all classes, and leave what groups hold then; return rounds, and what is full, bool (m,).

        None where rounding leaves too few digits of it.
        """
        room = np.where(self._entered(), self.merged.room[self.kinds], 0.0)
        capacity = room.sum(axis=0)
        groups = len(self.held)
        need = self.proportions[group] * scale[:, None]
        free = capacity - self.held @ self.proportions
        rising = np.ones(len(group), dtype=bool)
        rounds: list[PoolRound] = []
        all_full = np.zeros(len(capacity), dtype=bool)
        start, levels = self.held, np.zeros(len(group))
        while rising.any():
            growth, left = need.T @ rising.astype(float), free - need.T @ levels
            reach = np.divide(left, growth, where=growth > 0, out=np.full(len(left), np.inf))
            level = float(reach.min())
            met = rising & (tops <= level)
            if met.any():
                levels[met], rising = tops[met], rising & ~met
                continue
            full = reach <= level * (1 + TIED)
            if not (0 < level < np.inf and (left[full] >= DIGITS * capacity[full]).all()):
                return None
            self.weights = np.bincount(group, weights=scale * rising, minlength=groups)
            self.held = start + np.bincount(group, weights=scale * levels, minlength=groups)
            prices = (room * np.divide(1.0, growth, where=full, out=np.zeros(len(full)))).ravel()
            level, multipliers, proven = self.proven(level, prices)
            finished = rising & (need[:, full] > 0).any(axis=1)
            if (proven[group] & rising != finished).any():
                return None
            rounds.append(PoolRound(level, prices, multipliers, proven))
            levels[finished], rising = level, rising & ~finished
            all_full |= full
        self.held = start + np.bincount(group, weights=scale * levels, minlength=groups)
        return rounds, all_full

    def cheapest(self, prices: np.ndarray) -> np.ndarray:
        """Return what one unit of each group costs where it is cheapest, (groups,)."""
        if not hasattr(self, "layout"):
            return super().cheapest(prices)
        layout = self.layout
        table = prices.reshape(layout.k, layout.m)
        return np.concatenate([layout.cheapest(block, layout.cost(block, table)) for block in layout.blocks()])

    def costs(self, prices: np.ndarray) -> np.ndarray:
        """Return what one unit of each pair costs, (pairs,)."""
        if not hasattr(self, "layout"):
            return super().costs(prices)
        layout = self.layout
        found = np.empty(layout.shape)
        table = prices.reshape(layout.k, layout.m)
        for block in layout.blocks():
            found[block.pairs] = layout.cost(block, table)
        return layout.flat(found)

    def _entered(self) -> np.ndarray:
        """Return the rows that some pair enters, bool (k, m): what others paid for elsewhere is not this part's."""
        layout = self.layout
        return np.sum([layout.filled(block, layout.ones(block)) for block in layout.blocks()], axis=0) > 0

    def _here(self, rows: np.ndarray, prices: np.ndarray) -> np.ndarray:
        """Return prices of an earlier round of the rows that are here, (r,)."""
        table = np.zeros(self.merged.room.size)
        table[rows] = prices
        return table[self.all_rows]


def raised(prices: np.ndarray, before: list[np.ndarray], deadline: Deadline) -> np.ndarray:
    """Return prices (r,) of which none is negative, and none rounding's: the least that these and multiples of those of
    earlier rounds, (r,) each, make.

    The first that would do can be a hundred thousand times as much, and the proof loses as many digits.
    """
    if (prices < -TRACE * prices.max()).any():
        earlier = np.array(before)
        there = (earlier > 0).any(axis=0)
        total = earlier.sum(axis=1)
        highs = load(
            np.concatenate([total, -total]),
            np.full(2 * len(earlier), INFINITY),
            sparse.csr_array(np.vstack([earlier, -earlier])[:, there].T),
            -prices[there],
            np.full(int(there.sum()), INFINITY),
        )
        up, down = np.split(run(highs, "the prices of a round", deadline).columns, 2)
        prices = prices + (up - down) @ earlier
    return firm(prices)


def _watch(problem: Problem, known: str) -> Callable[[str], None]:
    """Return what asks the deadline how far a round is."""

    def watch(state: str) -> None:
        try:
            problem.deadline.check("a round of the chain", state)
        except TimeLimitError as error:
            raise TimeLimitError(str(error), known) from None

    return watch
