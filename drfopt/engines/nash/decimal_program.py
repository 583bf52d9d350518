"""Markets with floors, ceilings, limits and task types by an interior point method in decimals: nothing is guessed.

The program of `bounded`, in the units of the instance and to as many digits as are asked for.  Where users pay 10^-12
of what others do, where promises leave 10^-12 of a class, or where a limit binds exactly at the optimum, floats guess
wrong which constraints are active.  Here the products of all inequalities and their duals go down together until they
are 10^-digits of what the poorest user's tasks are worth to it; what is smaller than that is then nothing.

What is promised is taken out first: who is held and can run in one place only is no part of the program, and of others
the unknown is what they have beyond their floor.  In one vector z >= 0 of amounts v of the pairs (type q, class k),
tasks f beyond floors, and slacks of limits, ceilings and rows:

    f_i + h_i  =  u_i - l_i                        sum_k v_qk - part_q f_i  =  part_q l_i
    sum_i b_ci f_i + c_c  =  1 - sum_i b_ci l_i    sum_q d_qj v_qk / room_kj + r_kj  =  1 - what is taken out

so that  A z = b,  s = -A' price - y >= 0 (y of the f only),  s z -> 0,  and  y_i (l_i + f_i)^alpha = g_i.  A Newton
step needs  A D A'  with a diagonal D, which is factorised.  The start keeps the duals' equations, not the others.
"""

import decimal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ...base.errors import SolverError
from ...base.progress import report
from ..problem import Problem

__all__ = ["DecimalMarket", "FewDigits", "MarketOptimum", "optimum"]

SPARE = 3
"""Times the digits of the products that are computed at first."""

LOST = Decimal("1e-9")
"""Part of the products that rounding may be: above it, twice the digits are computed from there on."""

MOST = 4
"""Times the digits at first that are computed at last: an exponent of a hundred would ask for more without end."""

IDLE = 10
"""Iterations in which the products did not fall by half, after which rounding is blamed too."""

TIED: Any = Decimal(1)
"""Error of the equations above which products need not fall."""

ITERATIONS = 1000
"""Some hundred suffice where several constraints are met exactly at no price, and the products fall slowly.

With more digits than at first there are as many fewer.
"""

FASTEST = Decimal("1e-8")
"""Largest fall of the products in one step: faster, and the next step starts too close to the boundary."""

BEHIND = Decimal("0.1")
"""The same while the equations are further from holding than the products from nothing."""

KEEP = Decimal("0.995")
"""Part of the way to the boundary that a step takes."""

FARTHEST = 400
"""Powers of ten up to which what tasks are worth to users may differ at the start: as many digits more are computed."""

LEAST = Decimal("0.1")
"""Part of a room that its slack is to begin with, whatever the start uses of it."""

NONE: Any = Decimal(0)
ONE: Any = Decimal(1)


class FewDigits(SolverError):
    """The method came near the optimum, where rounding stopped it: with more digits it goes on."""


@dataclass(frozen=True, eq=False)
class DecimalMarket:
    """A market in fractions: pairs (type, class), types with owner, part and demand, users, rooms and ceilings.

    Who is `fixed` has its floor, no more and no less; a limit of None is none, a ceiling says what part of it one task
    of each user is.
    """

    problem: Problem
    alpha: Any
    pairs: Sequence[tuple[int, int]]
    owner: Sequence[int]
    part: Sequence[Fraction]
    demand: Sequence[Sequence[Fraction]]
    room: Any
    floors: Sequence[Fraction]
    fixed: Sequence[bool]
    limits: Sequence[Fraction | None]
    incomes: Sequence[Fraction]
    rates: Sequence[Fraction]
    ceilings: Sequence[Sequence[Fraction]] = ()


@dataclass(frozen=True, eq=False)
class MarketOptimum:
    """Amounts of the pairs, tasks, prices of the cells (class, resource) that have one and of ceilings, and who is at
    its limit; what is nothing is 0."""

    amounts: list[Fraction]
    tasks: list[Fraction]
    prices: dict[tuple[int, int], Fraction]
    bounds: list[Fraction]
    capped: list[bool]


def optimum(market: DecimalMarket, digits: int) -> MarketOptimum:
    """Return the optimum where the products are 10^-digits of what the poorest user's tasks are worth to it.

    Raises
    ------
    SolverError
        When the products do not get there.
    """
    with decimal.localcontext() as context:
        context.prec = SPARE * digits
        context.Emin, context.Emax = decimal.MIN_EMIN, decimal.MAX_EMAX
        program = _Program(market)
        if not program.users:
            return program.nothing()
        state = program.start()
        # Who pays 10^-300 of what another does is told from nothing by so many digits more.
        worth = state.worth()
        apart = int((max(worth) / min(worth)).log10())
        if apart > FARTHEST:
            raise SolverError(f"what tasks are worth is 10^{apart} apart: take weights nearer to each other")
        first = context.prec = context.prec + apart
        least, best, idle, work = ONE.scaleb(-digits), state.gap(), 0, 0
        for iteration in range(ITERATIONS):
            work += context.prec
            off = state.off()
            report(f"iteration {iteration}: gap {off:.1e}")
            market.problem.deadline.check("the interior point method in decimals", f"the gap was {off:.1e}")
            if off <= least:
                return state.ended(least)
            gap = state.gap()
            # While equations are far from holding the products may rise: that is no rounding.
            best, idle = (gap, 0) if gap < best / 2 or state.error() > TIED else (best, idle + 1)
            if state.rounding() > LOST * gap or idle > IDLE:
                if context.prec >= MOST * first:
                    break
                context.prec, idle = 2 * context.prec, 0
                state = _Iterate(program, state.z, state.y, state.price, state.s + state.dual)
            if work > ITERATIONS * SPARE * digits:
                break
            state = state.next(least)
    failure = FewDigits if off < ONE else SolverError
    raise failure(f"the interior point method in decimals did not converge: the gap was {off:.1e}")


@dataclass(eq=False)
class _Program:
    """A market in decimals: equations A z = b by columns, and where each unknown stands.

    `users` are those who rise, in the order of their f; rows come in the order limits, types, ceilings, rooms, so that
    little fills in where A D A' is factorised.
    """

    market: DecimalMarket
    columns: list[list[tuple[int, Any]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        m = self.market
        self.alpha = _decimal(Fraction(str(m.alpha)))
        self.power = max(self.alpha, ONE)
        self.users = [i for i, fixed in enumerate(m.fixed) if not fixed]
        classes: dict[int, list[int]] = {}
        for at, (q, _) in enumerate(m.pairs):
            classes.setdefault(q, []).append(at)
        self.taken = {at[0]: m.part[q] * m.floors[m.owner[q]] for q, at in classes.items() if self._held(q, len(at))}
        self.pairs = [
            at for at, (q, _) in enumerate(m.pairs) if at not in self.taken and (self._rises(q) or m.floors[m.owner[q]])
        ]
        self.types = sorted({m.pairs[at][0] for at in self.pairs})
        self._rooms()
        self._ceilings()
        self._equations()

    def _rises(self, q: int) -> bool:
        return not self.market.fixed[self.market.owner[q]]

    def _held(self, q: int, places: int) -> bool:
        """Say whether a type's amount is known."""
        return not self._rises(q) and places == 1

    def _rooms(self) -> None:
        """Find what is left of every room that somebody in the program enters."""
        m = self.market
        left: dict[tuple[int, int], Fraction] = {
            (k, j): Fraction(1) for k, j in sorted({(m.pairs[at][1], j) for at in self.pairs for j in self._needs(at)})
        }
        for at, amount in self.taken.items():
            q, k = m.pairs[at]
            for j in self._needs(at):
                if (k, j) in left:
                    left[k, j] -= amount * m.demand[q][j] / m.room[k][j]
        self.cells, self.left = list(left), [_decimal(value) for value in left.values()]

    def _needs(self, at: int) -> list[int]:
        return [j for j, d in enumerate(self.market.demand[self.market.pairs[at][0]]) if d]

    def _ceilings(self) -> None:
        """Find what floors leave of every ceiling that somebody who rises meets."""
        m = self.market
        self.met = [c for c, line in enumerate(m.ceilings) if any(line[i] for i in self.users)]
        self.spare = [
            _decimal(1 - sum((b * low for b, low in zip(m.ceilings[c], m.floors, strict=True)), Fraction(0)))
            for c in self.met
        ]

    def _equations(self) -> None:
        m, users = self.market, self.users
        self.limited = [a for a, i in enumerate(users) if m.limits[i] is not None]
        self.limit = [_decimal((m.limits[users[a]] or Fraction(0)) - m.floors[users[a]]) for a in self.limited]
        types, ceilings = len(self.limited), len(self.limited) + len(self.types)
        rooms = ceilings + len(self.met)
        place = {q: types + t for t, q in enumerate(self.types)}
        cell = {at: rooms + r for r, at in enumerate(self.cells)}
        for at in self.pairs:
            q, k = m.pairs[at]
            needs = [(cell[k, j], _decimal(m.demand[q][j] / m.room[k][j])) for j in self._needs(at)]
            self.columns.append([(place[q], ONE), *needs])
        own: dict[int, list[int]] = {}
        for q in self.types:
            own.setdefault(m.owner[q], []).append(q)
        number = {a: row for row, a in enumerate(self.limited)}
        for a, i in enumerate(users):
            column = [(number[a], ONE)] if a in number else []
            column += [(place[q], -_decimal(m.part[q])) for q in own[i]]
            column += [
                (ceilings + c, _decimal(m.ceilings[at][i])) for c, at in enumerate(self.met) if m.ceilings[at][i]
            ]
            self.columns.append(column)
        self.f = slice(len(self.pairs), len(self.pairs) + len(users))
        slacks = [*range(types), *range(ceilings, rooms + len(self.cells))]
        self.columns += [[(row, ONE)] for row in slacks]
        self.slack = {row: self.f.stop + at for at, row in enumerate(slacks)}
        promised = [_decimal(m.part[q] * m.floors[m.owner[q]]) for q in self.types]
        self.right = np.array([*self.limit, *promised, *self.spare, *self.left], dtype=object)
        self.place, self.at_ceilings, self.at_rooms = place, ceilings, rooms
        self.floor = np.array([_decimal(m.floors[i]) for i in users], dtype=object)
        pays = [(m.incomes[i], m.rates[i]) for i in users]
        # w r (r x)^-alpha is what a task more is worth with x tasks.
        self.g = np.array([_decimal(w * r) / _decimal(r) ** self.alpha for w, r in pays], dtype=object)
        self.size = np.array([_decimal(w / r) for w, r in pays], dtype=object)

    def times(self, z: np.ndarray, sized: Callable[[Any], Any] = lambda factor: factor) -> np.ndarray:
        """Return A z; with `abs` what its terms add up to without their signs."""
        found = np.full(len(self.right), NONE, dtype=object)
        for column, value in zip(self.columns, z, strict=True):
            for row, factor in column:
                found[row] += sized(factor) * value
        return found

    def transposed(self, price: np.ndarray) -> np.ndarray:
        """Return A' price."""
        return np.array([sum((f * price[row] for row, f in column), NONE) for column in self.columns], dtype=object)

    def start(self) -> "_Iterate":
        """Return a start inside every inequality: half of what is left at most, and prices so high that none is bought.

        What everybody has beyond its floor is in the proportion of incomes.
        """
        m = self.market
        dearest = [max((f for row, f in column[1:]), default=NONE) for column in self.columns[: len(self.pairs)]]
        all_of = dict.fromkeys(self.types, NONE)
        for at, most in zip(self.pairs, dearest, strict=True):
            all_of[m.pairs[at][0]] += ONE / most
        spread = [ONE / (most * all_of[m.pairs[at][0]]) for at, most in zip(self.pairs, dearest, strict=True)]
        number = {i: a for a, i in enumerate(self.users)}
        part = [_decimal(m.part[m.pairs[at][0]]) for at in self.pairs]
        owners = [m.owner[m.pairs[at][0]] for at in self.pairs]
        f = self.size
        v = [s * p * (f[number[i]] if i in number else NONE) for s, p, i in zip(spread, part, owners, strict=True)]
        z = np.full(len(self.columns), NONE, dtype=object)
        z[: len(v)], z[self.f] = v, f
        used = self.times(z)
        full = max(used[row] / left for row, left in enumerate(self.right) if row >= self.at_ceilings and left > 0)
        f = f / (2 * full)
        f[self.limited] = np.minimum(f[self.limited], np.array(self.limit, dtype=object) / 2)
        has = [(self.floor[number[i]] + f[number[i]] if i in number else _decimal(m.floors[i])) for i in owners]
        z[: len(v)] = [s * p * x for s, p, x in zip(spread, part, has, strict=True)]
        z[self.f] = f
        used = self.times(z)
        for row, at in self.slack.items():
            z[at] = max(self.right[row] - used[row], LEAST * (abs(self.right[row]) + used[row]))
        y = self.g / (self.floor + f) ** self.alpha
        worth = sum(y * f) / len(f)
        price = np.full(len(self.right), NONE, dtype=object)
        for row, at in self.slack.items():
            price[row] = -worth / z[at]
        for q, row in self.place.items():
            price[row] = (
                2 * y[number[m.owner[q]]] if m.owner[q] in number else 2 * worth / _decimal(m.floors[m.owner[q]])
            )
        cost = -self.transposed(np.where(np.arange(len(price)) >= self.at_rooms, price, NONE))
        times = max((2 * price[self.place[m.pairs[at][0]]] / cost[a] for a, at in enumerate(self.pairs)))
        price[self.at_rooms :] *= times
        state = _Iterate(self, z, y, price, np.full(len(z), NONE, dtype=object))
        return _Iterate(self, z, y, price, state.s + state.dual)

    def nothing(self) -> MarketOptimum:
        """Return what there is where nobody rises."""
        m = self.market
        amounts = [self.taken.get(at, Fraction(0)) for at in range(len(m.pairs))]
        return MarketOptimum(amounts, list(m.floors), {}, [Fraction(0)] * len(m.ceilings), [False] * len(m.floors))


@dataclass(eq=False)
class _Iterate:
    """An iterate, in the letters of the module's first lines."""

    program: _Program
    z: np.ndarray
    y: np.ndarray
    price: np.ndarray
    s: np.ndarray

    def __post_init__(self) -> None:
        program = self.program
        self.t = program.floor + self.z[program.f]
        self.short = program.right - program.times(self.z)
        self.dual = -program.transposed(self.price) - self.s
        self.dual[program.f] -= self.y
        ratio = program.g / (self.y * self.t**program.alpha)
        # As a product of powers of y and t of which neither grows faster than linearly, as in `barrier`.
        self.bend = program.power * (ratio ** (ONE / program.power) - ONE) if program.power != 1 else ratio - ONE

    def gap(self) -> Decimal:
        """Products of all inequalities and their duals, added up."""
        return self.s @ self.z

    def worth(self) -> np.ndarray:
        """Return what each user's tasks are worth to it, (n,)."""
        return self.y * self.t

    def off(self) -> Decimal:
        """Return the gap, relative to what the poorest user's tasks are worth to it, or the worst equation."""
        return max((self.gap() + abs(self.price) @ abs(self.short)) / min(self.worth()), self.error())

    def error(self) -> Decimal:
        """Return the worst error of y t^alpha = g, as `bend` measures it, or of A z = b."""
        sizes = abs(self.program.right) + self.program.times(self.z, abs)
        rows = [abs(a) / b for a, b in zip(self.short, sizes, strict=True) if a]
        return max(max(abs(self.bend)), *rows, NONE)

    def rounding(self) -> Decimal:
        """Return what the duals' equations miss, which but for rounding is nothing, in money."""
        return abs(self.dual) @ self.z

    def ended(self, least: Decimal) -> MarketOptimum:
        """Return the iterate without what is nothing."""
        program, m = self.program, self.program.market
        poorest = min(self.worth())
        amounts = [program.taken.get(at, Fraction(0)) for at in range(len(m.pairs))]
        tasks, capped = list(m.floors), [False] * len(m.floors)
        f, s = self.z[program.f], self.s[program.f]
        for a, i in enumerate(program.users):
            # Who would rather have less than its floor has it.
            held = m.floors[i] > 0 and s[a] * self.t[a] > f[a] * self.y[a]
            tasks[i] = m.floors[i] if held else Fraction(self.t[a])
        for row, a in enumerate(program.limited):
            i, h = program.users[a], self.z[program.slack[row]]
            capped[i] = -self.price[row] * self.t[a] > h * self.y[a]
            tasks[i] = (m.limits[i] or tasks[i]) if capped[i] else tasks[i]
        worth = dict(zip(program.users, self.y, strict=True))
        for v, at in zip(self.z, program.pairs, strict=False):
            q, _ = m.pairs[at]
            # To who is held an amount is worth what it costs.
            each = worth.get(m.owner[q], self.price[program.place[q]])
            amounts[at] = Fraction(v) if v * each > poorest * least else Fraction(0)

        def paid(row: int) -> Fraction:
            price = -self.price[row]
            return Fraction(price) if price > poorest * self.z[program.slack[row]] else Fraction(0)

        rooms = {(k, j): paid(program.at_rooms + r) / m.room[k][j] for r, (k, j) in enumerate(program.cells)}
        bounds = [Fraction(0)] * len(m.ceilings)
        for c, at in enumerate(program.met):
            bounds[at] = paid(program.at_ceilings + c)
        return MarketOptimum(amounts, tasks, {cell: price for cell, price in rooms.items() if price}, bounds, capped)

    def next(self, least: Decimal) -> "_Iterate":
        """Return the iterate after a predictor and a corrector."""
        solver = self._factored()
        products = self.s * self.z
        aim = self._direction(solver, self.bend, -products)
        primal, along = self._lengths(aim)
        gap = self.gap()
        mean = gap / len(self.z)
        after = (self.s + along * aim.s) @ (self.z + primal * aim.z)
        behind = self.error() > gap / min(self.worth())
        target = mean * min(max((after / gap) ** 3, BEHIND if behind else FASTEST), ONE)
        # Products far below what is asked for help nobody.
        target = max(target, least * min(self.worth()) / len(self.z) / 10)
        # Second-order terms count for as much of the way to zero as could be gone, and will be.
        part = primal * along * max(1 - target / mean, NONE) ** 2
        f, program = aim.z[self.program.f], self.program
        bend = self.bend - part * program.alpha / program.power * (aim.y / self.y) * (f / self.t)
        step = self._direction(solver, bend, target - products - part * aim.s * aim.z)
        primal, along = self._lengths(step)
        return _Iterate(
            self.program,
            self.z + primal * step.z,
            self.y + along * step.y,
            self.price + along * step.price,
            self.s + along * step.s,
        )

    def _factored(self) -> Callable[[np.ndarray], np.ndarray]:
        """Return the solver of  A D A' x = right, where D is what a unit of price moves."""
        program = self.program
        weight = self.s / self.z
        weight[program.f] += program.alpha * self.y / self.t
        self.moves = ONE / weight
        size = len(program.right)
        kernel = np.full((size, size), NONE, dtype=object)
        for column, moved in zip(program.columns, self.moves, strict=True):
            for row, factor in column:
                for other, second in column:
                    if other <= row:
                        kernel[row, other] += factor * second * moved
        lower = _factors(kernel)
        return lambda right: _substituted(lower, right)

    def _direction(self, solver: Callable, bend: np.ndarray, products: np.ndarray) -> "_Direction":
        program = self.program
        right = products / self.z - self.dual
        right[program.f] += self.y * bend
        price = solver(self.short - program.times(self.moves * right))
        z = self.moves * (program.transposed(price) + right)
        y = self.y * (bend - program.alpha * z[program.f] / self.t)
        return _Direction(z, y, price, (products - self.s * z) / self.z)

    def _lengths(self, step: "_Direction") -> tuple[Decimal, Decimal]:
        """Return how far amounts, and how far duals, go along a step."""
        return _room(self.z, step.z), min(_room(self.y, step.y), _room(self.s, step.s))


@dataclass(eq=False)
class _Direction:
    """A direction, in the letters of an iterate."""

    z: np.ndarray
    y: np.ndarray
    price: np.ndarray
    s: np.ndarray


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _room(values: np.ndarray, change: np.ndarray) -> Decimal:
    """Return how much of a change keeps values positive, with some distance; all of it at most."""
    return min([ONE, *(KEEP * -v / c for v, c in zip(values, change, strict=True) if c < 0)])


def _factors(matrix: np.ndarray) -> list[tuple[Any, list[tuple[int, Any]]]]:
    """Return D and the columns of L below the diagonal, where a symmetric matrix is  L D L'."""
    found = []
    for c in range(len(matrix)):
        pivot = matrix[c, c]
        if not pivot > 0:
            raise SolverError("the interior point method in decimals ran out of digits")
        column = [(r, matrix[r, c]) for r in range(c + 1, len(matrix)) if matrix[r, c]]
        for at, (r, value) in enumerate(column):
            factor = value / pivot
            for other, second in column[: at + 1]:
                matrix[r, other] -= factor * second
        found.append((pivot, [(r, value / pivot) for r, value in column]))
    return found


def _substituted(factors: list[tuple[Any, list[tuple[int, Any]]]], right: np.ndarray) -> np.ndarray:
    """Return the solution of  L D L' x = right."""
    x = right.copy()
    for c, (_, column) in enumerate(factors):
        for r, factor in column:
            x[r] -= factor * x[c]
    for c in reversed(range(len(x))):
        pivot, column = factors[c]
        x[c] = x[c] / pivot - sum((factor * x[r] for r, factor in column), NONE)
    return x
