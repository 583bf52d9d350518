"""Markets with bounds and task types between fractions: what binds is read from floats, Newton adds the digits.

In the letters of `bounded`: given the pairs (type q, class k) that are used, the rows and ceilings that have a price,
and who is held at a floor, at a limit or by promises, the conditions of optimality are equations

    sum_j d_qj p_kj  =  pi_q                                (q, k) used
    sum_q part_q pi_q + sum_c b_ci beta_c  =  m_i(x_i)      i is held by nothing; m_i = w_i r_i (r_i x_i)^-alpha
    sum_k z_qk  =  part_q x_i                               type q of user i
    sum d_qj z_qk  =  c_kj                                  (k, j) has a price
    sum_i b_ci x_i  =  1                                    ceiling c has one

Residuals are decimals, corrections one pseudo-inverse of the Jacobian in floats, which leaves what is open (prices and
placements that are not unique) where it was.  What is proven depends on none of that: any possible point that keeps the
floors, and any prices, enclose the optimum (`certificates.bounds`).  Such a point is what an exact linear program can
reach of Newton's, from the floors on; with an optimum in fractions it reaches all, and nothing is left to gain.
"""

import decimal
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from ...base.errors import EngineError, SolverError, TimeLimitError
from ...base.numbers.enclosures import Enclosure, log10
from ...base.progress import report
from ...base.tolerances import AT_LIMIT
from ...certificates.bounds import most_alone
from ...certificates.stops import exact_room
from ...certificates.verifier.powers import GUARD, marginal_between
from ...model.evidence import BoundsEvidence
from ..hierarchy import ExactPrograms
from ..problem import Answer, Problem, exact_types
from ..promised import Promised, in_turn, kept
from . import bounded
from .conditions import FULL, SIMPLE, SPARE, STEPS, USED, check_roots, lost_within, rounded
from .decimal_program import DecimalMarket, optimum

__all__ = ["solve"]

CUT = 1e-11
"""Singular values of the scaled Jacobian below this part of the largest belong to what the equations leave open."""

LARGE = 10**30
"""Below minus one in so many of what it is measured in a price is negative, and not rounded."""

LARGEST = 2_000
"""Unknowns up to which a pseudo-inverse takes seconds."""

NONE = Fraction(0)

BEYOND = "what users pay is beyond the range of floats: check weights and demands"


@dataclass(frozen=True, eq=False)
class _Solution:
    """Tasks of the users (n,), prices of all cells (k, m) and of the ceilings (b,), in fractions."""

    x: list[Fraction]
    p: np.ndarray
    beta: list[Fraction]


def solve(problem: Problem) -> Answer:
    """Return the optimum as `Fraction`s where it is found to be rational, else `Enclosure`s as narrow as asked for."""
    check_roots(problem.policy)
    return in_turn(problem, kept(problem, exact=True), partial(of_tier, problem))


def of_tier(problem: Problem, promised: Promised) -> Answer:
    """Return the same where so much is promised, and held.

    Raises
    ------
    EngineError
        When what is held is known between two ends only: what it leaves is not known then.
    """
    if any(isinstance(x, Enclosure) for x in promised.floors.tolist()):
        raise EngineError(
            f"{problem.policy.name}: what a tier has is irrational here, so that what it leaves to the next is in no "
            "fractions: ask for an answer in floats"
        )
    market = _Market(problem, promised)
    try:
        return market.proven(market.newton(market.in_floats()))
    except TimeLimitError:
        raise
    except SolverError as error:
        # Decimals need no guess of what binds, and more of them where what is just reached takes digits.
        for times in (1, 2):
            market.digits *= times
            try:
                return market.proven(market.in_decimals())
            except TimeLimitError:
                raise
            except SolverError:
                continue
        raise error


class _Market:
    """The program in fractions; rows q are types of users who take part, in the order of the problem by type."""

    def __init__(self, problem: Problem, promised: Promised):
        self.problem, self.promised, self.alpha = problem, promised, Fraction(str(problem.policy.alpha))
        self.members = problem.members.tolist()
        self.part, self.d = exact_types(problem)
        self.owner = problem.by_type.user.tolist()
        self.room = exact_room(problem.instance)
        limits = problem.instance.exact_limits
        self.u = [limits[i] for i in self.members]
        self.floors, self.stuck = promised.floors.tolist(), promised.stopped.tolist()
        self.w, self.r = promised.incomes.tolist(), promised.rates.tolist()
        self.b = promised.ceilings
        self.n = len(self.members)
        self.all_pairs = list(zip(*(part.tolist() for part in problem.by_type.pairs), strict=True))
        self.digits = math.ceil(-2 * log10(problem.precision) + math.log10(self.n + 1)) + SPARE

    def worth(self, i: int, x: Fraction) -> tuple[Fraction, Fraction]:
        """Return between what a task more is worth to user i with x tasks: of whole alpha, one number twice."""
        return marginal_between(self.w[i], self.r[i], x, self.alpha, self.digits + GUARD)

    def in_floats(self) -> Answer:
        """Return the optimum that floats find."""
        problem = self.problem
        return bounded.of_tier(
            Problem(problem.instance, problem.policy, False, problem.deadline), self.promised.in_floats
        )

    def in_decimals(self) -> _Solution:
        """Return the optimum that decimals find."""
        held = [stuck or low == most for stuck, low, most in zip(self.stuck, self.floors, self.u, strict=True)]
        market = DecimalMarket(
            self.problem,
            self.alpha,
            self.all_pairs,
            self.owner,
            self.part,
            self.d,
            self.room,
            self.floors,
            held,
            self.u,
            self.w,
            self.r,
            self.b.tolist(),
        )
        found = optimum(market, self.digits)
        prices = np.full(self.room.shape, NONE, dtype=object)
        for cell, price in found.prices.items():
            prices[cell] = price
        return _Solution(found.tasks, prices, found.bounds)

    def _worth_in_floats(self, i: int, x: float) -> float:
        try:
            return float(self.worth(i, Fraction(x))[0])
        except OverflowError:
            raise SolverError(BEYOND) from None

    # ---- Newton ---------------------------------------------------------------------------------------------------

    def newton(self, start: Answer) -> _Solution:
        """Return the solution of the equations of what the float answer sees as active, to all digits."""
        proof = start.evidence
        if start.prices is None or not isinstance(proof, BoundsEvidence):
            raise SolverError("the float engine returned no prices to start from")
        tasks, prices = np.asarray(start.tasks, dtype=float), np.array(start.prices, dtype=float)
        beta = np.asarray(proof.bounds, dtype=float).copy()
        amounts = tasks[self.owner] if start.amounts is None else start.amounts
        freed: set[int] = set()
        while True:
            self._active(tasks, amounts, prices, beta, freed)
            values = self._corrected()
            wrong = self._not_held(values)
            below = [
                at for at, value in enumerate(values[self.cut[2] :]) if value < -self.size[self.cut[2] + at] / LARGE
            ]
            if not below and not wrong:
                return self._solution(values)
            freed |= wrong
            # What rounding made a price is none.
            for at in below:
                if at < len(self.cells):
                    prices[self.cells[at]] = 0.0
                else:
                    beta[self.met[at - len(self.cells)]] = 0.0

    def _not_held(self, values: list[Fraction]) -> set[int]:
        """Return who is at a floor and would have more at the prices, or at a limit and would have less."""
        found = set()
        pi, beta = values[self.cut[1] : self.cut[2]], dict(zip(self.met, values[self.cut[3] :], strict=True))
        for i, x in enumerate(self.x):
            if x and not self.stuck[i]:
                cost = sum((pi[q] * part for q, part in enumerate(self.part) if self.owner[q] == i), NONE)
                cost += sum((price * self.b[c, i] for c, price in beta.items()), NONE)
                more = self.worth(i, x)[0] - cost
                if abs(more) * LARGE > cost and (more > 0) == (x != self.u[i]) and self.floors[i] != self.u[i]:
                    found.add(i)
        return found

    def _corrected(self) -> list[Fraction]:
        """Return the unknowns that satisfy the equations of what binds to all digits."""
        with decimal.localcontext() as context, np.errstate(all="ignore"):
            context.prec = self.digits + SPARE
            values = [Decimal(v) for v in self.start]
            inverse, best = self._inverse(), math.inf
            for step in range(STEPS):
                self.problem.deadline.check("Newton's method to many digits")
                try:
                    left = self._residuals(values)
                except decimal.InvalidOperation:  # Less than nothing has no root.
                    break
                error = max((abs(value) for value in left), default=Decimal(0))
                exponent = float(error.log10()) if error else -math.inf
                report(f"step {step}: {-exponent:.0f} digits of {self.digits}")
                if exponent <= -self.digits:
                    return [Fraction(v) for v in values]
                if not exponent < best and step > SPARE:
                    break
                best = min(best, exponent)
                change = inverse @ np.array([float(value / error) for value in left])
                moved = zip(values, change.tolist(), self.size, strict=True)
                values = [v - Decimal(c) * error * Decimal(s) for v, c, s in moved]
        raise SolverError(
            f"Newton's method stopped at {-best:.0f} of {self.digits} digits: users, rows and limits that floats see "
            "as active are not those of the optimum"
        )

    def _active(
        self, tasks: np.ndarray, amounts: np.ndarray, prices: np.ndarray, beta: np.ndarray, freed: set[int]
    ) -> None:
        """Set what binds, the unknowns' first values, and the sizes of their changes."""
        problem, part = self.problem, np.array([float(v) for v in self.part])
        owner = np.array(self.owner)
        row, machine = problem.by_type.pairs
        used = amounts > USED * (part * tasks[owner])[row]
        self.pairs = [self.all_pairs[at] for at in np.flatnonzero(used)]
        room, filled = problem.instance.room, np.zeros_like(prices)
        np.add.at(filled, machine, amounts[:, None] * np.array(self.d, dtype=float)[row])
        met = self.b.astype(float) @ tasks
        # What only those pay who have what is promised, whatever it costs, may as well cost nothing; so may what nobody
        # notices beside what a task is worth, which is all the prices there are where everybody is at a limit.
        noticed = [x and USED * FULL * self._worth_in_floats(i, x) for i, x in enumerate(tasks.tolist())]
        asking = self._asking()
        paid = np.zeros(prices.shape, dtype=bool)
        for q, k in asking:
            paid[k] |= prices[k] * np.array([float(d * self.part[q]) for d in self.d[q]]) > noticed[owner[q]]
        prices, rising = np.where(paid, prices, 0.0), ~np.array(self.stuck, dtype=bool)
        beta = np.where((self.b[:, rising] > 0).any(axis=1), beta, 0.0) if len(beta) else beta
        money = float((prices * room).sum() + beta.sum()) or 1.0
        cells = (prices * room > USED * FULL * money) & (filled >= room * (1 - FULL))
        self.cells = [(int(k), int(j)) for k, j in np.argwhere(cells)]
        self.met = np.flatnonzero((beta > USED * FULL * money) & (met >= 1 - FULL)).tolist()
        self.x: list[Any] = [None] * self.n
        for i, (floor, limit, stuck) in enumerate(zip(self.floors, self.u, self.stuck, strict=True)):
            if i in freed:
                continue
            if stuck or (floor and tasks[i] <= float(floor) * (1 + AT_LIMIT)):
                self.x[i] = floor
            elif limit is not None and tasks[i] >= float(limit) * (1 - AT_LIMIT):
                self.x[i] = limit
        self.free = [i for i, value in enumerate(self.x) if value is None]
        worth = [self._worth_in_floats(i, tasks[i]) if tasks[i] else money for i in range(self.n)]
        costs = {at: sum(float(d) * prices[at[1], j] for j, d in enumerate(self.d[at[0]])) for at in self.pairs}
        pi = [min((c for (q, _), c in costs.items() if q == at), default=0.0) for at in range(len(self.d))]
        # Whoever is at a floor may pay far more than a task is worth to it.
        self.price = [
            worth[i] if self.x[i] is None else max(worth[i], cost) for i, cost in zip(self.owner, pi, strict=True)
        ]
        z, x = amounts[used].tolist(), tasks[self.free].tolist()
        p, beta0 = [float(prices[cell]) for cell in self.cells], beta[self.met].tolist()
        self.start = [*z, *x, *pi, *p, *beta0]
        self.size = [*z, *x, *self.price, *(money / float(room[cell]) for cell in self.cells), *(money for _ in beta0)]
        self.cut = np.cumsum([len(z), len(x), len(pi), len(p)]).tolist()

    def _asking(self) -> list[tuple[int, int]]:
        """Return the pairs of who is not stuck, and of who could make room for them by running on another class."""
        classes: dict[int, set[int]] = {}
        for q, k in self.all_pairs:
            if self.floors[self.owner[q]] or not self.stuck[self.owner[q]]:  # who has nothing moves nothing
                classes.setdefault(q, set()).add(k)
        asking = {q for q in classes if not self.stuck[self.owner[q]]}
        while True:
            there = {k for q in asking for k in classes[q]}
            more = {q for q, ks in classes.items() if len(ks) > 1 and ks & there} - asking
            if not more:
                return [(q, k) for q, k in self.all_pairs if q in asking]
            asking |= more

    def _terms(self) -> list[tuple[list[tuple[int, Fraction]], Any, Any]]:
        """Return every linear equation as its terms (unknown, factor), what they add up to, and its size."""
        z, x = {at: v for v, at in enumerate(self.pairs)}, {i: self.cut[0] + v for v, i in enumerate(self.free)}
        pi, p, beta = self.cut[1], self.cut[2], self.cut[3]
        column = {cell: p + v for v, cell in enumerate(self.cells)}
        rows: list[tuple[list[tuple[int, Fraction]], Any, Any]] = []
        for q, k in self.pairs:
            paid = [(column[k, j], d) for j, d in enumerate(self.d[q]) if d and (k, j) in column]
            rows.append(([*paid, (pi + q, Fraction(-1))], NONE, self.price[q]))
        for q, (i, part) in enumerate(zip(self.owner, self.part, strict=True)):
            placed = [(v, Fraction(1)) for (at, _), v in z.items() if at == q]
            if i in x:
                size = float(part) * self.start[x[i]]
                rows.append(([*placed, (x[i], -part)], NONE, size))
            elif self.x[i]:
                rows.append((placed, part * self.x[i], float(part * self.x[i])))
        for k, j in self.cells:
            filling = [(v, self.d[q][j]) for (q, at), v in z.items() if at == k and self.d[q][j]]
            rows.append((filling, self.room[k, j], float(self.room[k, j])))
        for c in self.met:
            line = self.b[c].tolist()
            held = sum((line[i] * value for i, value in enumerate(self.x) if value is not None), NONE)
            rows.append(([(x[i], line[i]) for i in self.free if line[i]], 1 - held, 1.0))
        # Of who is held by nothing: what a task costs, less what it is worth, which is no linear term.
        for i in self.free:
            costs = [(pi + q, part) for q, (at, part) in enumerate(zip(self.owner, self.part, strict=True)) if at == i]
            costs += [(beta + v, self.b[c, i]) for v, c in enumerate(self.met) if self.b[c, i]]
            rows.append((costs, i, self.price[self.owner.index(i)]))
        return rows

    def _residuals(self, values: Sequence[Decimal]) -> list[Decimal]:
        """Return left side minus right side, relative to the sizes of the equations."""
        found = []
        for terms, right, size in self.rows:
            left = sum((values[at] * factor for at, factor in terms), Decimal(0))
            if isinstance(right, int):
                place = self.cut[0] + self.free.index(right)
                w, r = self.decimals[right]
                right = w * r * (r * values[place]) ** -_decimal(self.alpha)
            found.append((left - right) / size)
        return found

    def _inverse(self) -> np.ndarray:
        """Return the pseudo-inverse of the Jacobian in relative changes; keep the equations in decimals."""
        if len(self.size) > LARGEST:
            raise SolverError(
                f"{len(self.size)} unknowns are more than the {LARGEST} that are solved to many digits here: "
                "ask for an answer in floats, which has a certificate"
            )
        rows = self._terms()
        if not all(float(size) for _, _, size in rows):
            raise SolverError(BEYOND)
        matrix = np.zeros((len(rows), len(self.size)))
        for at, (terms, right, size) in enumerate(rows):
            for place, factor in terms:
                matrix[at, place] += float(factor) * self.size[place] / size
            if isinstance(right, int):
                place = self.cut[0] + self.free.index(right)
                matrix[at, place] += float(self.alpha) * self.size[place] / self.start[place]
        if not np.isfinite(matrix).all():
            raise SolverError(BEYOND)
        self.decimals = {i: (_decimal(self.w[i]), _decimal(self.r[i])) for i in self.free}
        self.rows = [
            (
                [(place, _decimal(factor)) for place, factor in terms],
                right if isinstance(right, int) else _decimal(right),
                Decimal(size),
            )
            for terms, right, size in rows
        ]
        return np.linalg.pinv(matrix, rcond=CUT)

    def _solution(self, values: list[Fraction]) -> _Solution:
        """Return unknowns as tasks and prices; what rounding made negative is 0."""
        x = list(self.x)
        for v, i in enumerate(self.free):
            x[i] = values[self.cut[0] + v]
            x[i] = max(x[i], self.floors[i]) if self.u[i] is None else min(max(x[i], self.floors[i]), self.u[i])
        prices = np.full(self.room.shape, NONE, dtype=object)
        for cell, value in zip(self.cells, values[self.cut[2] :], strict=False):
            prices[cell] = max(value, NONE)
        beta = [NONE] * len(self.b)
        for c, value in zip(self.met, values[self.cut[3] :], strict=True):
            beta[c] = max(value, NONE)
        return _Solution(x, prices, beta)

    def proven(self, found: _Solution) -> Answer:
        """Return the fractions that a solution is near to where these are the optimum, else what it encloses."""
        simple = self.simple(found)
        answer = None if simple is None else self.enclosed(simple, only_if_exact=True)
        answer = answer or self.enclosed(found)
        if answer is None:
            raise SolverError("no point that keeps the guarantees was found")
        return answer

    def simple(self, found: _Solution) -> _Solution | None:
        """Return fractions of few digits that agree with a solution to nearly all; None where there are none."""
        most, close = 10 ** (self.digits // SIMPLE), Fraction(1, 10 ** (self.digits - SPARE))

        def guessed(value: Fraction) -> Fraction:
            return value.limit_denominator(most)

        x = [guessed(value) for value in found.x]
        if not all(abs(one - other) <= close * other for one, other in zip(x, found.x, strict=True)):
            return None
        # Large prices are rational where their reciprocals are, small ones the other way round.
        p = np.array([[v and 1 / (guessed(1 / v) or 1 / v) for v in row] for row in found.p.tolist()], dtype=object)
        return replace(found, x=x, p=p.reshape(found.p.shape), beta=[guessed(value) for value in found.beta])

    # ---- what is proven -------------------------------------------------------------------------------------------

    def enclosed(self, found: _Solution, only_if_exact: bool = False) -> Answer | None:
        """Return the answer that a solution proves: fractions where nothing could be gained, or else enclosures."""
        x, amounts = self._possible(found)
        if only_if_exact and x != found.x:
            return None
        cost, money = self._costs(found)
        gain = money - sum((q * v for q, v in zip(cost, x, strict=True)), NONE)
        playing = [i for i in range(self.n) if not self.stuck[i]]
        worth, most = {}, {}
        for i in playing:
            worth[i], most[i] = self.worth(i, x[i]), most_alone(self.problem.instance, self.members[i])
            low, high = worth[i]
            gain += max((high - cost[i]) * (most[i] - x[i]), (cost[i] - low) * (x[i] - self.floors[i]))
        if only_if_exact and gain:
            return None
        tasks: list[Any] = list(x)
        places = self.digits // 2 + SPARE // 2
        for i in playing if gain else ():
            below, above = lost_within(gain / (worth[i][0] * x[i]), self.alpha, self.digits)
            low = max(rounded(x[i] * (1 - below), places, math.floor), self.floors[i])
            high = min(rounded(x[i] * (1 + above), places, math.ceil), most[i])
            tasks[i] = Enclosure(min(low, x[i]), max(high, x[i]))
            if tasks[i].width > self.problem.precision * tasks[i].upper:
                width = float(tasks[i].width / tasks[i].upper)
                raise SolverError(f"the enclosures are only {width:.1e} wide: ask for less")
        point = np.full(self.problem.instance.n, NONE, dtype=object)
        point[self.members] = x
        table = np.empty(self.n, dtype=object)
        table[:] = tasks
        proof = BoundsEvidence(
            prices=found.p,
            bounds=np.array(found.beta, dtype=object),
            breakpoints=self.promised.breakpoints,
            full=self.promised.full,
            point=point if gain else None,
        )
        levels = np.empty(self.n, dtype=object)
        levels[:] = [v * r for v, r in zip(tasks, self.r, strict=True)]
        return Answer(table, amounts=amounts, prices=found.p, evidence=proof, levels=levels)

    def _possible(self, found: _Solution) -> tuple[list[Fraction], np.ndarray | None]:
        """Return the possible tasks nearest to a solution on the way from the floors, and amounts, exactly."""
        line = [(floor, value - floor) for floor, value in zip(self.floors, found.x, strict=True)]
        rows = [(self.b[c].tolist(), Fraction(1)) for c in range(len(self.b))]
        pool = self.problem.instance.machines is None
        if pool:
            rows += [([d[j] for d in self.d], room) for j, room in enumerate(self.room[0].tolist())]
        way = Fraction(1)
        for needs, most in rows:
            rise = sum((need * change for need, (_, change) in zip(needs, line, strict=True) if need), NONE)
            held = sum((need * floor for need, (floor, _) in zip(needs, line, strict=True) if need), NONE)
            way = min(way, (most - held) / rise) if rise > 0 else way
        x = [floor + way * change for floor, change in line]
        if pool:
            return [floor + self._down(way) * change for floor, change in line], None
        programs = ExactPrograms(self.problem)
        first, last = (np.full(self.problem.instance.n, NONE, dtype=object) for _ in range(2))
        first[self.members], last[self.members] = self.floors, x
        way = self._down(way * programs.reach(first, last)[0])
        last[self.members] = x = [floor + way * change for floor, change in line]
        return x, programs.placed(last)

    def _down(self, way: Fraction) -> Fraction:
        return way if way == 1 else rounded(way, self.digits + SPARE, math.floor)

    def _costs(self, found: _Solution) -> tuple[list[Fraction], Fraction]:
        """Return what a task of each user costs at least, (n,), and what all capacities and ceilings cost."""
        cheapest: dict[int, Fraction] = {}
        for q, k in self.all_pairs:
            cost = sum((d * p for d, p in zip(self.d[q], found.p[k].tolist(), strict=True) if d and p), NONE)
            cheapest[q] = min(cost, cheapest.get(q, cost))
        costs = [sum((beta * self.b[c, i] for c, beta in enumerate(found.beta) if beta), NONE) for i in range(self.n)]
        for q, (i, part) in enumerate(zip(self.owner, self.part, strict=True)):
            costs[i] += part * cheapest[q]
        return costs, (found.p * self.room).sum() + sum(found.beta, NONE)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)
