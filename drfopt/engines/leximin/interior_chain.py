"""Leximin on machines by the structured interior point method: the chain of `lp_chain`, its rounds solved without rows.

A round begins where the one before ended, with the classes that its prices closed taken away: in the relative interior
of that round's optima, so that there is room on all sides but on the rows that are *tight*, which its prices filled for
good.  These are equations now, and their prices may come out negative.  What a round proved it proves for ever, so any
multiple of its prices may be added to those of a later one: as much as makes them prices again.
"""

import numpy as np
from scipy import sparse

from ...base.deadline import Deadline
from ...base.errors import TimeLimitError
from ...certificates.chain import firm
from ..interior_point import LevelProgram
from ..level_part import Cap
from ..linear_programs import INFINITY, load, run
from ..pair_layout import pair_layout
from ..problem import Answer, Problem
from .active_rows import Point
from .lp_chain import solve_by
from .lp_round import RoundProgram

__all__ = ["InteriorRound", "raised", "solve"]

POLISHED = 50_000
"""Pairs up to which the equations of the optimum are solved to rounding in rounds that build on others."""

TRACE = 1e-9
"""A negative price that is this part of the largest is none."""


def solve(problem: Problem) -> Answer:
    """Return the leximin allocation, with the chain of rounds that proves it."""
    return solve_by(problem, InteriorRound)


class InteriorRound(RoundProgram):
    """The program of a part, of which no array is larger than the pairs."""

    def _laid(self) -> None:
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

        def watch(state: str) -> None:
            try:
                problem.deadline.check("a round of the chain", state)
            except TimeLimitError as error:
                raise TimeLimitError(str(error), known) from None

        k, m = len(self.kinds), self.proportions.shape[1]
        program = LevelProgram(self.layout, self.weights, self.held, tight.reshape(k, m))
        with np.errstate(all="ignore"):
            level, amounts, table = program.solve(begin, level, cap, watch)
        self.layout.need = self.proportions
        self.weights, self.held = program.part.weights, program.part.held
        if table is None:
            return level, amounts, None
        prices = raised(table.ravel(), before, problem.deadline)
        if before and len(amounts) <= POLISHED:
            # What is missed is carried on from round to round.
            present, matrix = self.stated
            sharp = self._sharpened(Point(level, amounts, prices[entered]), matrix)
            level, amounts, prices[np.searchsorted(self.all_rows, present)] = sharp
        return level, amounts, prices

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
