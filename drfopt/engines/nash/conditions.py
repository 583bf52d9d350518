"""The conditions of optimality of a market in rational numbers and decimals: Newton steps, and bounds of every user."""

import decimal
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ...base.errors import EngineError, SolverError
from ...base.numbers.enclosures import Enclosure, log10
from ...base.progress import report
from ...base.tolerances import AT_LIMIT
from ...certificates.task_errors import FinePoint
from ...certificates.verifier.powers import DEGREE, GUARD, marginal_between
from ...model.evidence import PriceEvidence
from ...model.policies import Policy
from ..problem import Answer, Problem
from ..sums import largest
from .decimal_program import DecimalMarket, MarketOptimum

__all__ = ["Conditions", "Decimals", "KKTEquations", "check_roots", "lost_within", "rounded"]

USED = 1e-9
"""Part of a user's tasks, or of all money, below which a pair or price of the float answer counts as none."""


FULL = 1e-7
"""Part of a capacity that may be unused by floats while it counts as used up."""


DIAGONAL = 1e-14
"""Diagonal that keeps open directions where they are, relative to rows scaled to 1."""


STEPS = 200
"""Corrections; each adds ten digits or so, and the precision asked for is rarely beyond a thousand."""


NONE = Fraction(0)


SPARE = 12
"""Digits computed beyond those that the width needs."""


ROUNDED = 24
"""Significant digits to which what could be gained is rounded up."""


SIMPLE = 4
"""A fraction is believed to be the value when it needs at most one in so many of the digits that it agrees with."""


def check_roots(policy: Policy) -> None:
    """Refuse a power whose roots are of too high a degree to be bounded.

    Raises
    ------
    EngineError
    """
    if (degree := Fraction(str(policy.alpha)).denominator) > DEGREE:
        raise EngineError(
            f"{policy.name}: powers are bounded by roots of degree {degree:,}, the denominator of alpha, and of "
            f"{DEGREE:,} at most: write a shorter one, or ask for an answer in floats"
        )


class Conditions:
    """The equations: pairs that are used, rows that are priced, users at their limits."""

    z0: np.ndarray
    p0: list[float]
    price_unit: list[float]

    def __init__(self, problem: Problem):
        instance, members = problem.instance, problem.members.tolist()
        alpha = Fraction(str(problem.policy.alpha))
        self.problem, self.alpha = problem, alpha.numerator if alpha.denominator == 1 else alpha  # type: Problem, Any
        rates = problem.policy.exact_rates(instance)
        self.r = [rates[i] for i in members]
        self.w = [instance.exact_weights[i] for i in members]
        self.u = [instance.exact_limits[i] for i in members]
        self.d = [instance.exact_demands[i] for i in members]
        pool = instance.machines is None
        counts = [1] if pool else [machine.count for machine in instance.machines or ()]
        one = [instance.exact_capacity] if pool else instance.exact_machine_capacity
        self.room = [[count * c for c in row] for count, row in zip(counts, one, strict=True)]
        self.open = [[] for _ in members]  # type: list[list[int]]
        for i, k in zip(*(part.tolist() for part in problem.pairs), strict=True):
            self.open[i].append(k)
        self.n = len(members)
        width = -log10(problem.precision)
        self.digits = math.ceil(2 * width + math.log10(self.n + 1)) + SPARE

    @classmethod
    def of(cls, problem: Problem, start: Answer) -> "Conditions":
        """Return the equations that a float engine's answer sees as active, and the answer as their start."""
        if start.prices is None:
            raise SolverError("the float engine returned no prices to start from")
        self = cls(problem)
        instance = problem.instance
        user, machine = problem.pairs
        amounts = start.tasks if start.amounts is None else start.amounts
        used = amounts > USED * start.tasks[user]
        self.user, self.machine, self.z0 = user[used].tolist(), machine[used].tolist(), amounts[used]
        prices, room = np.asarray(start.prices, dtype=float), instance.room
        filled = np.zeros_like(room)
        np.add.at(filled, machine, amounts[:, None] * instance.demands[problem.members[user]])
        money = float((prices * room).sum())
        cells = (prices * room > USED * FULL * money) & (filled >= room * (1 - FULL))
        self.cells = [(int(k), int(j)) for k, j in np.argwhere(cells)]
        self.p0 = [float(prices[k, j]) for k, j in self.cells]
        # A price may be next to nothing beside what its change is measured in: all money, spread over the capacity.
        self.price_unit = [money / float(room[k, j]) for k, j in self.cells]
        self.capped = (start.tasks >= problem.limits * (1 - AT_LIMIT)).tolist()
        self.mine = self._owned()
        return self

    def in_decimals(self) -> DecimalMarket:
        """Return the market as decimals solve it: of one type a user, without floors and ceilings."""
        none, one = Fraction(0), Fraction(1)
        return DecimalMarket(
            self.problem,
            self.alpha,
            list(zip(*(part.tolist() for part in self.problem.pairs), strict=True)),
            range(self.n),
            [one] * self.n,
            self.d,
            self.room,
            [none] * self.n,
            [False] * self.n,
            self.u,
            self.w,
            self.r,
        )

    def settled(self, optimum: MarketOptimum) -> tuple[list[Fraction], list[Fraction]]:
        """Take the pairs and cells that an optimum uses for those there are; return their tasks and prices."""
        user, machine = self.problem.pairs
        used = [q for q, amount in enumerate(optimum.amounts) if amount]
        self.user, self.machine = user[used].tolist(), machine[used].tolist()
        self.cells, self.capped, self.mine = list(optimum.prices), optimum.capped, self._owned()
        return [optimum.amounts[q] for q in used], list(optimum.prices.values())

    def _owned(self) -> list[list[int]]:
        mine = [[] for _ in self.r]  # type: list[list[int]]
        for q, i in enumerate(self.user):
            mine[i].append(q)
        return mine

    # ---- Newton ---------------------------------------------------------------------------------------------------

    def newton(self) -> tuple[list[Fraction], list[Fraction]]:
        """Return tasks of the pairs and prices of the cells that satisfy the equations to all digits."""
        # What is beyond the range of floats ends in an error, or in steps that lead nowhere.
        with decimal.localcontext() as context, np.errstate(all="ignore"):
            context.prec = self.digits + SPARE
            z, p = [Decimal(v) for v in self.z0.tolist()], [Decimal(v) for v in self.p0]
            data = Decimals(self)
            solver, sizes = self._jacobian()
            best = math.inf
            for step in range(STEPS):
                self.problem.deadline.check("Newton's method to many digits")
                try:
                    left = [value / size for value, size in zip(data.residuals(z, p), sizes, strict=True)]
                except decimal.InvalidOperation:  # Less than nothing has no root.
                    break
                error = max((abs(value) for value in left), default=Decimal(0))
                exponent = float(error.log10()) if error else -math.inf
                report(f"step {step}: {-exponent:.0f} digits of {self.digits}")
                if exponent <= -self.digits:
                    return [Fraction(v) for v in z], [Fraction(max(v, Decimal(0))) for v in p]
                if exponent >= best and step > SPARE:
                    break
                best = min(best, exponent)
                # Scaled by the error, what is left is near 1, however many digits there are.
                change = solver.solve(np.array([float(value / error) for value in left]))
                z = [v + Decimal(c) * error * Decimal(s) for v, c, s in zip(z, change, self.z0.tolist(), strict=False)]
                moved = zip(p, change[len(z) :], self.price_unit, strict=True)
                p = [v + Decimal(c) * error * Decimal(s) for v, c, s in moved]
        raise SolverError(
            f"Newton's method stopped at {-best:.0f} of {self.digits} digits: users, rows and limits that floats see "
            "as active are not those of the optimum"
        )

    def _jacobian(self) -> tuple[Any, list[Decimal]]:
        """Return the factors of the Jacobian in relative changes, and the sizes of the equations."""
        size = len(self.user) + len(self.cells)
        column = {cell: len(self.user) + c for c, cell in enumerate(self.cells)}
        x = np.zeros(self.n)
        np.add.at(x, self.user, self.z0)
        entries: list[tuple[int, int, float]] = []
        sizes: list[float] = []

        def price(row: int, q: int, factor: float) -> None:
            i, k = self.user[q], self.machine[q]
            for j, d in enumerate(self.d[i]):
                if d and (k, j) in column:
                    entries.append(
                        (row, column[k, j], factor * float(d) * self.price_unit[column[k, j] - len(self.user)])
                    )

        with np.errstate(divide="ignore", over="ignore"):
            marginals = [
                float(w * r) * (np.float64(r) * has) ** -float(self.alpha)
                for w, r, has in zip(self.w, self.r, x, strict=True)
            ]
        if not all(0 < marginal < math.inf for marginal in marginals):
            raise SolverError("what a task more is worth to a user is beyond the range of floats: ask for less alpha")
        for i, marginal in enumerate(marginals):
            for place, q in enumerate(self.mine[i]):
                row = len(sizes)
                if self.capped[i] and not place:
                    sizes.append(float(self.u[i] or 0))
                    entries += [(row, other, self.z0[other] / sizes[row]) for other in self.mine[i]]
                    continue
                sizes.append(marginal)
                price(row, q, 1 / marginal)
                if self.capped[i]:
                    price(row, self.mine[i][0], -1 / marginal)
                else:
                    entries += [(row, other, self.alpha * self.z0[other] / x[i]) for other in self.mine[i]]
        for k, j in self.cells:
            row = len(sizes)
            sizes.append(float(self.room[k][j]))
            for q, (i, machine) in enumerate(zip(self.user, self.machine, strict=True)):
                if machine == k and self.d[i][j]:
                    entries.append((row, q, float(self.d[i][j]) * self.z0[q] / sizes[row]))
        rows, columns, values = zip(*entries, strict=True)
        matrix = sparse.csc_matrix((values, (rows, columns)), shape=(size, size))
        try:
            factors = splu((matrix + DIAGONAL * sparse.identity(size)).tocsc())
        except RuntimeError:
            raise SolverError("the equations of what floats see as active are singular") from None
        return factors, [Decimal(s) for s in sizes]

    def pointed(self, z: Sequence[Fraction], p: Sequence[Fraction]) -> Answer:
        """Return a point in floats, and itself as the evidence."""
        problem, members = self.problem, self.problem.members.tolist()
        place = {pair: q for q, pair in enumerate(zip(*(part.tolist() for part in problem.pairs), strict=True))}
        amounts, prices = np.zeros(len(place)), np.zeros((problem.k, problem.m))
        for i, k, value in zip(self.user, self.machine, z, strict=True):
            amounts[place[i, k]] = max(float(value), 0.0)
        for cell, value in zip(self.cells, p, strict=True):
            prices[cell] = float(value)
        tasks = np.where(self.capped, problem.limits, [float(x) for x in self.sums(list(z))])
        fine = FinePoint(
            {(members[i], k): max(v, NONE) for i, k, v in zip(self.user, self.machine, z, strict=True)},
            {cell: value for cell, value in zip(self.cells, p, strict=True) if value},
        )
        return Answer(tasks, None if problem.instance.machines is None else amounts, prices, fine=fine)

    # ---- what is proven -------------------------------------------------------------------------------------------

    def rational(self, x: list[Fraction]) -> Answer | None:
        """Return the optimum as fractions where it is rational, and proven to be; else None.

        The optimum maximises what its own tangent is worth, a linear program, whose prices prove it: they are
        fractions where the tasks are.
        """
        simple = [v.limit_denominator(10 ** (self.digits // SIMPLE)) for v in x]
        close = Fraction(1, 10 ** (self.digits - SPARE))
        if not all(s > 0 and abs(s / v - 1) <= close for s, v in zip(simple, x, strict=True)):
            return None
        worth_of = self.marginals(simple)
        if any(low != high for low, high in worth_of):
            return None
        marginal = [low for low, _ in worth_of]
        amounts, _ = largest(self.problem, [Fraction(1)] * self.n, simple)
        best, prices = largest(self.problem, marginal, self.u)
        worth = [marginal[i] for i in self.problem.pairs[0].tolist()]
        found = sum((v * m for v, m in zip(simple, marginal, strict=True)), Fraction(0))
        if sum(amounts) != sum(simple) or sum(z * v for z, v in zip(best, worth, strict=True)) != found:
            return None
        return Answer(
            np.array(simple, dtype=object), amounts=amounts, prices=prices, evidence=PriceEvidence(prices=prices)
        )

    def enclosures(self, z: list[Fraction], p: list[Fraction], forms: dict[int, str]) -> Answer:
        """Return for every user two fractions that the optimum lies between; and closed forms, where known."""
        z = self._possible(z)
        x = self.sums(z)
        costs = [
            [
                sum((pr * self.d[i][j] for (k, j), pr in zip(self.cells, p, strict=True) if k == c), Fraction(0))
                for c in self.open[i]
            ]
            for i in range(self.n)
        ]
        q = [min(row) for row in costs]
        m = self.marginals(x)
        most = [self._most(i) for i in range(self.n)]
        money = sum((pr * self.room[k][j] for (k, j), pr in zip(self.cells, p, strict=True)), Fraction(0))
        gain = money - sum((a * b for a, b in zip(q, x, strict=True)), Fraction(0))
        misses = (
            max((high - b) * (top - v), (b - low) * v) for (low, high), b, top, v in zip(m, q, most, x, strict=True)
        )
        # Rounded up, as whoever checks it may do: the sum of thousands of long fractions is a longer one.
        gain += sum((rounded(miss, ROUNDED, math.ceil) for miss in misses), Fraction(0))
        gain *= 1 + Fraction(1, 10 ** (ROUNDED // 2))
        places = self.digits // 2 + SPARE // 2
        tasks = []
        for i in range(self.n):
            below, above = lost_within(gain / (m[i][0] * x[i]), self.alpha, self.digits)
            low = max(rounded(x[i] * (1 - below), places, math.floor), Fraction(0))
            high = rounded(min(x[i] * (1 + above), most[i]), places, math.ceil)
            tasks.append(Enclosure(low, min(high, most[i])))
        widest = max(tasks, key=lambda t: t.width / t.upper)
        if widest.width > self.problem.precision * widest.upper:
            raise SolverError(f"the enclosures are only {float(widest.width / widest.upper):.1e} wide: ask for less")
        return self._answer(tasks, z, p, x, forms)

    def _answer(
        self,
        tasks: Sequence[Any],
        z: list[Fraction],
        p: list[Fraction],
        x: list[Fraction],
        forms: dict[int, str],
    ) -> Answer:
        problem = self.problem
        prices = np.full((problem.k, problem.m), Fraction(0), dtype=object)
        for (k, j), value in zip(self.cells, p, strict=True):
            prices[k, j] = value
        at = {pair: q for q, pair in enumerate(zip(self.user, self.machine, strict=True))}
        pairs = zip(*(part.tolist() for part in problem.pairs), strict=True)
        amounts = np.array([z[at[pair]] if pair in at else Fraction(0) for pair in pairs], dtype=object)
        point = np.full(problem.instance.n, Fraction(0), dtype=object)
        point[problem.members] = x
        table = np.empty(self.n, dtype=object)
        table[:] = list(tasks)
        return Answer(
            table,
            amounts=amounts,
            prices=prices,
            evidence=PriceEvidence(prices=prices, point=point, closed_forms=forms),
        )

    def marginals(self, x: list[Fraction]) -> list[tuple[Fraction, Fraction]]:
        """Return between what a task more is worth to each user: of whole alpha, one number twice."""
        return [
            marginal_between(w, r, v, self.alpha, self.digits + GUARD)
            for w, r, v in zip(self.w, self.r, x, strict=True)
        ]

    def sums(self, z: list[Any]) -> list[Any]:
        """Return the tasks of the users."""
        x: list[Any] = [Fraction(0)] * self.n
        for i, value in zip(self.user, z, strict=True):
            x[i] = value + x[i]
        return x

    def _possible(self, z: list[Fraction]) -> list[Fraction]:
        """Return the tasks made smaller, all alike, until they are possible exactly."""
        x = self.sums(z)
        over = [v / u for v, u in zip(x, self.u, strict=True) if u]
        for k, row in enumerate(self.room):
            for j, room in enumerate(row):
                mine = (
                    v * self.d[i][j] for i, machine, v in zip(self.user, self.machine, z, strict=True) if machine == k
                )
                over += [sum(mine, Fraction(0)) / room] if room else []
        most = max(over, default=Fraction(0))
        if most <= 1:
            return z
        scale = rounded(1 / most, self.digits + SPARE, math.floor)
        return [value * scale for value in z]

    def _most(self, i: int) -> Fraction:
        alone = sum((min(self.room[k][j] / d for j, d in enumerate(self.d[i]) if d) for k in self.open[i]), Fraction(0))
        limit = self.u[i]
        return alone if limit is None else min(alone, limit)


class KKTEquations:
    """The residuals of the equations, in the numbers of the instance."""

    def __init__(self, market: "Conditions"):
        self.market, self.alpha = market, market.alpha
        self.d, self.w, self.r, self.u = market.d, market.w, market.r, market.u
        self.room = market.room

    def residuals(self, z: list[Any], p: list[Any]) -> list[Any]:
        """Return left side minus right side, with the sign of a correction, in the order of the Jacobian's rows."""
        market = self.market
        found: list[Any] = []
        cost = [0] * len(z)  # type: list[Any]
        priced: dict[int, list[tuple[int, Any]]] = {}
        for (k, j), value in zip(market.cells, p, strict=True):
            priced.setdefault(k, []).append((j, value))
        for q, (i, k) in enumerate(zip(market.user, market.machine, strict=True)):
            for j, value in priced.get(k, ()):
                cost[q] += value * self.d[i][j]
        for i, mine in enumerate(market.mine):
            x = sum(z[q] for q in mine)
            for place, q in enumerate(mine):
                if market.capped[i]:
                    found.append(cost[mine[0]] - cost[q] if place else self.u[i] - x)
                else:
                    found.append(self.w[i] * self.r[i] / (self.r[i] * x) ** self.alpha - cost[q])
        held = {cell: self.room[cell[0]][cell[1]] for cell in market.cells}
        columns: dict[int, list[int]] = {}
        for k, j in market.cells:
            columns.setdefault(k, []).append(j)
        for q, (i, k) in enumerate(zip(market.user, market.machine, strict=True)):
            for j in columns.get(k, ()):
                if self.d[i][j]:
                    held[k, j] -= z[q] * self.d[i][j]
        return [*found, *held.values()]


class Decimals(KKTEquations):
    """The same in decimals, to the precision of the context."""

    def __init__(self, market: "Conditions"):
        super().__init__(market)
        self.d, self.room = (_decimals(rows) for rows in (market.d, market.room))
        self.w, self.r, self.u = _decimals([market.w, market.r, market.u])
        if isinstance(self.alpha, Fraction):
            self.alpha = _decimals([[self.alpha]])[0][0]


def _decimals(rows: Sequence[Sequence[Any]]) -> Any:
    return [[None if v is None else Decimal(v.numerator) / Decimal(v.denominator) for v in row] for row in rows]


def lost_within(gain: Fraction, alpha: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Return how far below and above its tasks, relative to them, a user loses at least a gain in units of its money.

    The loss is that of `certificates.bounds.tangent_loss`.
    """
    part = rounded(gain, ROUNDED, math.ceil)
    half = part * max(Fraction(1), 1 / Fraction(alpha))
    below = root_above(2 * part / alpha, digits)
    return below, half + root_above(half * half + 2 * part / alpha, digits)


def root_above(value: Fraction, digits: int) -> Fraction:
    """Return the square root, rounded up at so many digits."""
    scale = 10 ** (2 * digits)
    return Fraction(math.isqrt(math.ceil(value * scale)) + 1, 10**digits)


def rounded(value: Fraction, places: int, to: Callable[[Fraction], int]) -> Fraction:
    """Return the value with so many significant places, rounded down (math.floor) or up (math.ceil)."""
    if not value:
        return value
    scale = Fraction(10) ** (places - math.floor(log10(abs(value))))
    return Fraction(to(value * scale)) / scale
