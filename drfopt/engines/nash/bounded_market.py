"""A market with bounds and task types in scaled letters, the equations of a Newton step in it, and what binds there.

The program stands in `bounded`.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from scipy.sparse.linalg import splu

from ...base.errors import SolverError
from ...base.tolerances import RIDGE, TINY
from ...model.evidence import BoundsEvidence
from ..linear_programs import capacity_rows
from ..problem import Answer, Problem
from ..promised import Promised
from .polish import UNNOTICED
from .polish_part import first_only

__all__ = ["ZERO", "ActiveSet", "BoundedMarket", "BoundedPoint", "NewtonSystem", "Vectors"]

Vectors = tuple[np.ndarray, ...]

REFINEMENTS = 3

SMALL = 50_000
"""Pairs times equations of types and rows up to which matrices are arrays."""

ZERO = 1e-11
"""A quantity of scaled size 1 below this is rounding."""

LEAST = 1e-6
"""Part of a resource that users who are fixed leave at least where others are counted in it: ten digits are left."""

NEGATIVE = ZERO / 1000
"""A price below minus this is none: what is idle has none."""

UNFILLED = 1e-8
"""Part of a priced row that is left unused when the equations have no solution: Newton's error is far below."""


@dataclass(frozen=True)
class _Algebra:
    """How matrices are made, scaled by columns, put together, added to on the diagonal, and factorised.

    And searched for the largest entry of each row.
    """

    made: Callable[[Any], Any]
    scaled: Callable[[Any, np.ndarray], Any]
    diagonal: Callable[[np.ndarray], Any]
    block: Callable[[list[list[Any]]], Any]
    ridged: Callable[[Any, np.ndarray], Any]
    largest: Callable[[Any], np.ndarray]
    factorised: Callable[[Any], Callable[[np.ndarray], np.ndarray]]


def _dense_factors(matrix: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    factors, pivots, fault = lapack.dgetrf(matrix)
    if fault:
        raise RuntimeError("the matrix is singular")
    return lambda right: lapack.dgetrs(factors, pivots, right)[0]


def _scaled(matrix: Any, d: np.ndarray) -> Any:
    """Return a sparse matrix, stored by rows or columns, scaled by columns; a product takes longer."""
    found = copy(matrix)
    found.data = matrix.data * (d[matrix.indices] if matrix.format == "csr" else np.repeat(d, np.diff(matrix.indptr)))
    return found


def _cells(matrix: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the row and the column of each entry that a sparse matrix, or a diagonal, stores."""
    if matrix.format == "dia":
        return (np.arange(matrix.shape[0]),) * 2
    outer = np.repeat(np.arange(len(matrix.indptr) - 1), np.diff(matrix.indptr))
    return (outer, matrix.indices) if matrix.format == "csr" else (matrix.indices, outer)


def _block(blocks: list[list[Any]]) -> Any:
    """Return sparse blocks as one matrix by rows; SciPy looks at each block several times."""
    corner = [np.cumsum([0, *sizes]) for sizes in ([r[0].shape[0] for r in blocks], [c.shape[1] for c in blocks[0]])]
    placed = [
        (block.data.ravel(), *(at + first for at, first in zip(_cells(block), (top, left), strict=True)))
        for top, line in zip(corner[0].tolist(), blocks, strict=False)
        for left, block in zip(corner[1].tolist(), line, strict=False)
    ]
    data, rows, columns = (np.concatenate(part) for part in zip(*placed, strict=True))
    return sparse.csr_array((data, (rows, columns)), shape=(corner[0][-1], corner[1][-1]))


def _ridged(matrix: Any, d: np.ndarray) -> Any:
    """Return a sparse matrix with something added to its diagonal."""
    found, (rows, columns) = copy(matrix), _cells(matrix)
    on = rows == columns
    if np.count_nonzero(on) < len(d):  # Nobody needs anything of some row.
        return matrix + sparse.diags_array(d)
    found.data = matrix.data + np.where(on, d[rows], 0.0)
    return found


# Of a few users a sparse matrix costs more to make than to use.
DENSE = _Algebra(
    lambda matrix: matrix.toarray(),
    lambda matrix, d: matrix * d,
    np.diag,
    np.block,
    lambda matrix, d: matrix + np.diag(d),
    lambda matrix: matrix.max(axis=1, initial=-np.inf),
    _dense_factors,
)
SPARSE = _Algebra(
    sparse.csr_array,
    _scaled,
    sparse.diags_array,
    _block,
    _ridged,
    lambda matrix: matrix.max(axis=1).toarray().ravel(),
    lambda matrix: splu(sparse.csc_array(matrix)).solve,
)


class BoundedMarket:
    """The program in scaled letters; users are those who take part and may rise, or are fixed above 0."""

    def __init__(self, problem: Problem, promised: Promised):
        self.problem, self.promised, self.alpha = problem, promised, problem.policy.alpha
        self.by_type = by_type = problem.by_type
        floors, limits = promised.floors, problem.limits
        self.fixed = promised.stopped | (floors >= limits)
        self.there = ~self.fixed | (floors > 0)
        self.rows = capacity_rows(by_type)
        whole = sparse.csc_array(self.rows.matrix)
        held = np.where(self.fixed & (floors > 0), np.minimum(floors, limits), 0.0)
        self.apart, self.left, self.spare = self._apart(whole, held)
        self.there &= self.apart == 0
        self.n = int(self.there.sum())
        keep = self.there[by_type.user]
        self.types = np.flatnonzero(keep)
        pairs = np.flatnonzero(keep[by_type.pairs[0]])
        number = np.cumsum(self.there) - 1
        self.pairs = pairs
        self.owner = number[by_type.user[self.types]]
        renumbered = np.cumsum(keep) - 1
        self.type, self.machine = renumbered[by_type.pairs[0][pairs]], by_type.pairs[1][pairs]
        self.members = np.flatnonzero(self.there)
        self.fixed, floors, limits = self.fixed[self.there], floors[self.there], limits[self.there]
        part, q = by_type.part[self.types], len(self.types)
        alone = np.zeros(q)
        matrix = sparse.csc_array(sparse.diags_array(1 / self.left) @ whole[:, pairs])
        if len(pairs):  # of nothing SciPy knows no largest
            np.add.at(alone, self.type, 1 / matrix.max(axis=0).toarray().ravel())
        most = np.full(self.n, np.inf)
        np.minimum.at(most, self.owner, alone / part)
        ceilings = promised.ceilings[:, self.there] / self.spare[:, None]
        most = np.minimum(most, 1 / np.maximum(ceilings.max(axis=0, initial=0.0), TINY))
        # Everybody at half of an equal part of what it could run alone, floors and limits permitting.
        scale = np.minimum(most / (2 * max(self.n, 1)), limits / 2)
        scale = np.where(self.fixed, np.minimum(floors, limits), np.maximum(scale, 1.25 * floors))
        self.scale = np.where(limits < scale, (floors + np.minimum(limits, 1e300)) / 2, scale)
        A = matrix @ sparse.diags_array((part * self.scale[self.owner])[self.type])
        # A ceiling that only those meet whose tasks are known has no price, and perhaps no room beside them.
        met = (ceilings[:, ~self.fixed] > 0).any(axis=1, keepdims=True)
        B = sparse.csr_array(ceilings * self.scale * met)
        E = sparse.csr_array((np.ones(len(pairs)), (self.type, np.arange(len(pairs)))), shape=(q, len(pairs)))
        owned = sparse.csr_array((np.ones(q), (np.arange(q), self.owner)), shape=(q, self.n))
        finite = np.isfinite(A.data).all() and np.isfinite(B.data).all()
        self.algebra = DENSE if (q + A.shape[0]) * len(pairs) <= SMALL else SPARSE
        self.A, self.B, self.E, self.O = map(self.algebra.made, (A, B, E, owned))
        self.EA = self.algebra.made(sparse.vstack([E, -A]))
        # SciPy takes longer to transpose a small matrix than to multiply by it.
        self.AT, self.BT, self.ET, self.OT, self.EAT = (each.T for each in (self.A, self.B, self.E, self.O, self.EA))
        r, c = len(self.rows.machine), B.shape[0]
        self.OR = self.algebra.made(sparse.vstack([owned, sparse.csr_array((r, self.n))]))
        self.nothing = self.algebra.made(sparse.csr_array((q + r, c)))
        self.low = np.where(self.fixed, 0.0, floors / self.scale)
        self.u = np.where(self.fixed, np.inf, limits / self.scale)
        self.floored, self.limited = self.low > 0, np.isfinite(self.u)
        rates, incomes = promised.rates[self.there], promised.incomes[self.there]
        log_g = np.log(incomes * rates * self.scale) - self.alpha * np.log(rates * self.scale)
        log_g = log_g[~self.fixed]
        self.log_money = float(log_g.max() + np.log(np.exp(log_g - log_g.max()).sum())) if log_g.size else 0.0
        self.g = np.zeros(self.n)
        self.g[~self.fixed] = np.exp(log_g - self.log_money)
        if not (finite and np.isfinite(self.g).all()):
            raise SolverError("what users would pay is beyond the range of floats: check weights and demands")

    def _apart(self, rows: sparse.csc_array, held: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the tasks of who is no part of the program (n,), and what is left of rows and of ceilings beside.

        In a pool, what is fixed is nothing to be found, and what it leaves may be little of the whole: rows and
        ceilings are counted in that.
        """
        by_type, ceilings = self.by_type, self.promised.ceilings
        left = 1 - rows @ (held[by_type.user] * by_type.part)[by_type.pairs[0]]
        spare = 1 - ceilings @ held
        asked = np.asarray(rows[:, ~self.fixed[by_type.user][by_type.pairs[0]]].sum(axis=1)).ravel() > 0
        wanted = (ceilings[:, ~self.fixed] > 0).any(axis=1)
        scarce = min(left[asked].min(initial=1.0), spare[wanted].min(initial=1.0)) < LEAST
        if by_type.instance.machines is not None or scarce:
            return np.zeros_like(held), np.ones_like(left), np.ones_like(spare)
        return held, np.where(asked, left, 1.0), np.where(wanted, spare, 1.0)

    @property
    def asked(self) -> np.ndarray:
        """Which resources of which classes anybody may rise on, or make room on by moving, bool (k, m).

        What only those use who have what they have whatever it costs has no price.
        """
        by_type = self.problem.by_type
        asking = ~self.fixed[self.owner]
        choice = np.bincount(self.type, minlength=len(self.types)) > 1
        while True:
            there = np.isin(self.machine, self.machine[asking[self.type]])
            more = np.isin(np.arange(len(self.types)), self.type[there]) & choice & ~asking
            if not more.any():
                break
            asking |= more
        found = np.zeros((self.problem.k, self.problem.m), dtype=bool)
        pairs = asking[self.type]
        needed = by_type.instance.demands[by_type.members[self.types[self.type[pairs]]]] > 0
        np.logical_or.at(found, self.machine[pairs], needed)
        return found

    def cost(self, p: np.ndarray) -> np.ndarray:
        """Return what one unit of each pair costs, (pairs,)."""
        return np.asarray(self.AT @ p)

    def user_cost(self, pi: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Return what one unit of each user costs, (n,)."""
        return np.asarray(self.OT @ pi + self.BT @ beta)

    def answer(self, point: "BoundedPoint") -> Answer:
        """Return the point in the instance's units."""
        problem, by_type = self.problem, self.by_type
        tasks, amounts = np.zeros(problem.n), np.zeros(len(by_type.pairs[0]))
        floors, limits = self.promised.floors[self.there], problem.limits[self.there]
        t = np.where(self.fixed, 1.0, np.clip(point.t, self.low, self.u))
        held = np.where(self.fixed, np.minimum(floors, limits), t * self.scale)
        at_limit = self.limited & (t >= self.u)
        held = np.where(at_limit, limits, np.where(self.floored & (t <= self.low), floors, held))
        tasks[self.members] = held
        v = np.maximum(point.v, 0)
        total = np.asarray(self.E @ v)
        wanted = held[self.owner] * by_type.part[self.types]
        amounts[self.pairs] = v * np.divide(wanted, total, where=total > 0, out=np.zeros(len(total)))[self.type]
        apart = (self.apart[by_type.user] * by_type.part)[by_type.pairs[0]]
        tasks, amounts = np.where(self.apart > 0, self.apart, tasks), np.where(apart > 0, apart, amounts)
        room = problem.instance.room
        money = np.exp(self.log_money)
        budget = self.rows.spread(np.maximum(point.p, 0) / self.left, problem.k, problem.m) * money
        prices = np.divide(budget, room, where=room > 0, out=np.zeros_like(room))
        prices = np.where(self.asked, prices, 0.0)
        bounds = np.maximum(point.beta, 0) / self.spare * money
        if not (np.isfinite(prices).all() and np.isfinite(bounds).all()):
            raise SolverError(f"the prices of {problem.policy.name} are beyond the range of floats: take other weights")
        evidence = BoundsEvidence(bounds=bounds, breakpoints=self.promised.breakpoints, full=self.promised.full)
        levels = self.promised.rates * tasks
        return Answer(tasks, amounts=amounts, prices=prices, evidence=evidence, levels=levels)


@dataclass(eq=False)
class BoundedPoint:
    """Amounts, totals, and duals of types, rows, ceilings, limits and floors."""

    v: np.ndarray
    t: np.ndarray
    pi: np.ndarray
    p: np.ndarray
    beta: np.ndarray
    nu: np.ndarray
    mu: np.ndarray
    s: np.ndarray

    @classmethod
    def nothing(cls, market: BoundedMarket) -> "BoundedPoint":
        """Return the point of a market without users."""
        none = np.zeros(0)
        rows, ceilings = len(market.rows.machine), market.B.shape[0]
        return cls(none, none, none, np.zeros(rows), np.zeros(ceilings), none, none, none)


class NewtonSystem:
    """A Newton step, reduced to users, types, rows and ceilings.

    Solves, for diagonals D over pairs and b over users (inf for who is fixed) and small ones over rows and ceilings,

        D v - E' pi + A' p = r1        b t + O' pi + B' beta = r2        E v - O t = r3
        A v - P p = r4                 B t - Q beta = r5
    """

    def __init__(self, market: BoundedMarket, D: np.ndarray, b: np.ndarray, P: np.ndarray, Q: np.ndarray):
        self.m, self.D, algebra = market, D, market.algebra
        self.free = np.isfinite(b)
        keep = self.free.astype(float)
        self.O, self.B = algebra.scaled(market.O, keep), algebra.scaled(market.B, keep)
        self.OT, self.BT = self.O.T, self.B.T
        self.b, self.P, self.Q = np.where(self.free, b, 1.0), P, Q
        self.inverse = np.where(np.isfinite(D), 1 / D, 0.0)
        n, q, r, c = market.n, len(market.types), len(P), len(Q)
        schur = algebra.scaled(market.EA, self.inverse) @ market.EAT
        middle = algebra.ridged(schur, np.concatenate([np.zeros(q), P]))
        users, other = algebra.scaled(market.OR, keep), market.nothing
        matrix = algebra.block(
            [
                [algebra.diagonal(self.b), users.T, self.BT],
                [-users, middle, other],
                [self.B, other.T, -algebra.diagonal(Q)],
            ]
        )
        # In units in which the largest entries of rows and columns are near 1.
        self.size = 1 / np.sqrt(np.maximum(algebra.largest(abs(matrix)), TINY))
        scaled = algebra.scaled(algebra.scaled(matrix, self.size).T, self.size).T
        sign = np.concatenate([np.ones(n + q + r), -np.ones(c)])
        try:
            # What is left free by a few roundings is held by as many; refinement takes them back.
            self.factors = algebra.factorised(algebra.ridged(scaled, RIDGE * sign))
        except RuntimeError:
            raise SolverError("the equations of the market are singular in floats") from None
        self.cut = np.cumsum([n, q, r])

    def solve(self, *right: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return v, t, pi, p, beta."""
        found = self._once(*right)
        for _ in range(REFINEMENTS):
            more = self._once(*self._residual(found, right))
            found = tuple(x + y for x, y in zip(found, more, strict=True))
        return found

    def _residual(self, found: Vectors, right: Vectors) -> Vectors:
        m = self.m
        (v, t, pi, p, beta), (r1, r2, r3, r4, r5) = found, right
        kept = np.isfinite(self.D)
        one = np.where(kept, r1 - np.where(kept, self.D, 0.0) * v + m.ET @ pi - m.AT @ p, 0.0)
        two = r2 - self.b * t - self.OT @ pi - self.BT @ beta
        return (
            one,
            two,
            r3 - m.E @ v + self.O @ t,
            r4 - m.A @ v + self.P * p,
            r5 - self.B @ t + self.Q * beta,
        )

    def _once(self, *right: np.ndarray) -> Vectors:
        r1, r2, r3, r4, r5 = right
        base = self.inverse * r1
        middle = np.concatenate([r3, -r4]) - self.m.EA @ base
        x = self.factors(np.concatenate([r2, middle, r5]) * self.size) * self.size
        t, pi, p, beta = np.split(x, self.cut)
        v = base + self.inverse * (self.m.EAT @ np.concatenate([pi, p]))
        return v, t, pi, p, beta


class ActiveSet:
    """Which pairs are used, which rows and ceilings priced, who is at a limit or a floor."""

    def __init__(self, m: BoundedMarket, point: BoundedPoint):
        self.m = m
        cost = m.cost(point.p)
        y = np.where(m.fixed, np.maximum(np.asarray(m.OT @ point.pi), TINY), m.g * point.t**-m.alpha)
        worth = np.maximum(point.pi, ZERO * y[m.owner])
        dear = np.maximum(cost - point.pi[m.type], 0) / worth[m.type]
        t = point.t[m.owner[m.type]]
        least = np.full(len(m.types), np.inf)
        np.minimum.at(least, m.type, dear)
        self.used = (point.v / t >= dear) | (dear <= least[m.type])
        slack = 1 - m.A @ point.v
        asked = point.p * m.algebra.largest(m.algebra.scaled(m.A, 1 / y[m.owner[m.type]]))
        # A price so small that the money would not notice it on an idle row is the method's zero.
        money = float(point.p @ (1 - slack) + point.beta @ (m.B @ point.t))
        self.priced = (asked >= slack) & (point.p >= UNNOTICED * money * slack)
        under = 1 - m.B @ point.t
        asked = point.beta * m.algebra.largest(m.algebra.scaled(m.B, 1 / y))
        self.capped_groups = (asked >= under) & (point.beta >= UNNOTICED * money * under)
        self.at_limit = m.limited & (point.nu / y >= (m.u - point.t) / np.where(m.limited, m.u, 1))
        self.at_floor = m.floored & (point.mu / y >= (point.t - m.low))
        self.seen: set[bytes] = set()

    def mend(self, point: BoundedPoint) -> bool:
        """Correct what has the wrong sign; say whether anything had."""
        m = self.m
        free = ~m.fixed
        y = np.where(free, m.g * np.maximum(point.t, TINY) ** -m.alpha, np.maximum(np.asarray(m.OT @ point.pi), TINY))
        owner = m.owner[m.type]
        t = point.t[owner]
        negative = self.used & (point.v < -ZERO * t)
        cheaper = ~self.used & (point.pi[m.type] - m.cost(point.p) > ZERO * y[owner])
        filled = m.A @ point.v
        worthless = self.priced & (point.p < -NEGATIVE)
        idle = np.where(self.priced, 1 - filled, 0.0)
        if idle.max(initial=0) > UNFILLED:
            worthless[int(idle.argmax())] = True
        overfull = ~self.priced & (filled > 1 + ZERO)
        met = m.B @ point.t
        unpaid = self.capped_groups & (point.beta < -NEGATIVE)
        slack = np.where(self.capped_groups, 1 - met, 0.0)
        if slack.max(initial=0) > UNFILLED:
            unpaid[int(slack.argmax())] = True
        exceeded = ~self.capped_groups & (met > 1 + ZERO)
        below = self.at_limit & (point.nu < -ZERO * y)
        beyond = ~self.at_limit & m.limited & (point.t > m.u * (1 + ZERO))
        lifted = self.at_floor & (point.mu < -ZERO * y)
        sunk = ~self.at_floor & m.floored & (point.t < m.low * (1 - ZERO))
        out, into = (negative, worthless, unpaid, below, lifted), (cheaper, overfull, exceeded, beyond, sunk)
        if not any(change.any() for change in (*out, *into)):
            return False
        sets = (self.used, self.priced, self.capped_groups, self.at_limit, self.at_floor)
        key = b"".join(each.tobytes() for each in sets)
        # Only the first of several changes of a kind: it breaks a cycle.
        some = first_only if key in self.seen else np.asarray
        self.seen.add(key)
        self.used, self.priced, self.capped_groups, self.at_limit, self.at_floor = (
            (each & ~some(gone)) | some(come) for each, gone, come in zip(sets, out, into, strict=True)
        )
        return True
