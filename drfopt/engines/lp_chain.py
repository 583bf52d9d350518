"""Leximin as a chain of linear programs over HiGHS, for pools and machines.

A round maximises the common level t of the users still rising, the others held at theirs with ``>=``.  No limit enters
a program: with everybody rising past her limit, the level a program reaches is a lower bound of the next saturation,
so all users whose limit lies at or below it are finished at their limits at once, and the program is solved again.
Only when there is none does the dual name the saturated: a positive multiplier of a user's row means that she is at
this level in every optimum.  At a vertex a stuck user may have multiplier zero; a later program at the same level
finds her.  Of the multipliers only those are believed that prove the level to the accuracy promised.
"""

import math

import numpy as np
from scipy import sparse

from ..certificates.chain import Round, excess, firm
from ..errors import SolverError, TimeLimitError
from ..progress import report
from ..tolerances import LEVEL
from .linear import INFINITY, SMALLEST, Rows, Solution, capacity_rows, load, run, user_rows
from .problem import Answer, Problem

__all__ = ["solve"]

RESCALE = 1e3
"""Levels may grow by this factor before the program is rebuilt in a new unit."""

SAME = 1e-8
"""Relative difference of a program's level and the one its duals prove that its tolerances account for."""

CERTAIN = 0.1
"""Part of the promised accuracy that one round may spend."""


def solve(problem: Problem) -> Answer:
    """Return the leximin allocation, with the chain of rounds that proves it."""
    chain = _Chain(problem)
    tops = problem.limits * problem.rates
    levels = np.full(problem.n, np.nan)
    rounds: list[Round] = []
    reached = np.zeros(len(problem.pairs[0]))
    while np.isnan(levels).any():
        rising = np.isnan(levels)
        known = f"{int((~rising).sum())} of {problem.n} users are finished, the lowest {len(rounds)} levels proven"
        report(f"round {len(rounds) + 1}: {known}")
        level, reached, multipliers, prices = chain.round(levels, known)
        capped = rising & (tops <= level * (1 + LEVEL * 1e-3))
        if capped.any():
            levels[capped] = tops[capped]
            continue
        level = _bound(level, levels, multipliers, prices)
        stopped = rising & _proven(level, levels, multipliers, prices)
        if not stopped.any():
            raise SolverError(
                f"the dual of the round at level {level:.6g} proves no user finished to 1e-9: "
                "the instance is too badly scaled for floats"
            )
        levels[stopped] = level
        rounds.append(_round(problem, chain.rows, level, stopped, multipliers, prices))
    user, _ = problem.pairs
    total = np.bincount(user, weights=reached, minlength=problem.n)
    with np.errstate(divide="ignore", invalid="ignore"):
        amounts = reached * (levels / (total * problem.rates))[user]
    if not np.isfinite(amounts).all():
        raise SolverError("a user has a level and no place: the instance is too badly scaled for floats")
    tasks = np.where(levels >= tops, problem.limits, levels / problem.rates)
    return Answer(tasks, amounts=amounts, evidence={"rounds": rounds})


def _bound(level: float, levels: np.ndarray, multipliers: np.ndarray, prices: np.ndarray) -> float:
    """Return the level that the duals prove, which is the program's but for the tolerance of its rows."""
    rising = np.isnan(levels)
    mass = math.fsum(multipliers[rising].tolist())
    if not mass > 0:
        return level
    held = np.minimum(levels[~rising], level) * multipliers[~rising]
    proven = math.fsum([*prices.tolist(), *(-held).tolist()]) / mass
    return proven if abs(proven / level - 1) <= SAME else level


def _proven(level: float, levels: np.ndarray, multipliers: np.ndarray, prices: np.ndarray) -> np.ndarray:
    """Say who cannot exceed the level by more than the accuracy promised, (n,)."""
    current = np.minimum(np.where(np.isnan(levels), level, levels), level)
    left = excess(prices, multipliers, current)
    return (multipliers > 0) & (multipliers * (CERTAIN * LEVEL * level) >= left)


def _round(
    problem: Problem,
    rows: Rows,
    level: float,
    stopped: np.ndarray,
    multipliers: np.ndarray,
    prices: np.ndarray,
) -> Round:
    everybody = np.zeros(problem.instance.n)
    everybody[problem.members] = multipliers
    return Round(level, problem.members[stopped], everybody, rows.spread(prices, problem.k, problem.m))


class _Chain:
    """The program of a round, kept in HiGHS from one round to the next so that each starts from the last basis."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.rows = capacity_rows(problem)
        self.adding = user_rows(problem)
        self.unit = 0.0
        # If everybody could use every class, the level would be this: the first unit.
        self.expected = 1 / float((problem.shares / problem.rates[:, None]).sum(axis=0).max())

    def round(self, levels: np.ndarray, known: str) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """Return level, levels of the pairs (pairs,), multipliers of users (n,) and prices of the rows (rows,)."""
        if self.unit == 0.0:
            self._build(self.expected, levels)
        self._hold(levels)
        solution = self._run(known)
        if not 1 / RESCALE < solution.columns[-1] < RESCALE:
            if not solution.columns[-1] > 0:
                raise SolverError(
                    "the program of a round reached level 0 though every user is placed: rescale the instance"
                )
            self._build(self.unit * solution.columns[-1], levels)
            solution = self._run(known)
        n = self.problem.n
        prices = firm(np.maximum(-solution.duals[n:], 0))
        # At an optimum whoever is placed pays all that her multiplier allows: the prices say it more exactly.
        multipliers = self._affordable(prices)
        return (
            solution.columns[-1] * self.unit,
            np.maximum(solution.columns[:-1], 0) * self.unit,
            multipliers / self.unit,
            prices,
        )

    def _affordable(self, prices: np.ndarray) -> np.ndarray:
        """Return the largest multipliers that the prices allow, (n,): the cheapest class of each user."""
        user, _ = self.problem.pairs
        cost = self.scaled.T @ prices
        cheapest = np.full(self.problem.n, np.inf)
        np.minimum.at(cheapest, user, cost)
        return cheapest

    def _build(self, unit: float, levels: np.ndarray) -> None:
        problem = self.problem
        user, _ = problem.pairs
        self.unit = unit
        self.scaled = self.rows.matrix @ sparse.diags(unit / problem.rates[user])
        if self.scaled.nnz and self.scaled.data.min() <= SMALLEST:
            raise SolverError(
                f"some user takes only {self.scaled.data.min():.0e} of a capacity at the common level, which HiGHS "
                "would drop: the demands differ too much for linear programs"
            )
        n, p = problem.n, len(user)
        level_column = sparse.csr_matrix(-np.isnan(levels).astype(float)[:, None])
        matrix = sparse.bmat([[self.adding, level_column], [self.scaled, None]], format="csr")
        low = np.concatenate(
            [np.where(np.isnan(levels), 0.0, levels / unit), np.full(len(self.rows.machine), -INFINITY)]
        )
        high = np.concatenate([np.full(n, INFINITY), np.ones(len(self.rows.machine))])
        cost = np.zeros(p + 1)
        cost[-1] = -1
        self.highs = load(cost, np.full(p + 1, INFINITY), matrix, low, high)
        self.held = ~np.isnan(levels)

    def _hold(self, levels: np.ndarray) -> None:
        """Take newly finished users out of the common level and hold them at theirs."""
        fresh = np.flatnonzero(~np.isnan(levels) & ~self.held)
        last = len(self.problem.pairs[0])
        for i in fresh:
            self.highs.changeCoeff(int(i), last, 0.0)
            self.highs.changeRowBounds(int(i), levels[i] / self.unit, INFINITY)
        self.held[fresh] = True

    def _run(self, known: str) -> Solution:
        try:
            return run(self.highs, "a round of the chain", self.problem.deadline)
        except TimeLimitError as error:
            raise TimeLimitError(str(error), known) from None
