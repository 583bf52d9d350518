"""CEEI and alpha fairness judged by a theorem: any prices bound how far the optimum is from what users would buy.

Prices p >= 0 of the capacities cost user i at least ``q = min_k p_k . d_i`` a task (of several types: the sum of what
its part of each costs where that is cheapest), and at these it would buy y tasks: those with
``s (s y / w) ** -A = q``, or its limit, where s is the dominant share of a task and w its weight.  With
``g_i(x) = w U(s x / w) - q x``, every feasible x has ``f(x) <= sum_i g_i(y) + p . C - sum_i (g_i(y) - g_i(x))``.  So
for the optimum x* and any feasible z, ``sum_i (g_i(y) - g_i(x*)) <= sum_i g_i(y) + p . C - f(z)``, the gap; and a user
whose x* is off y by a part r loses at least ``w (s y / w) ** (1 - A) A r ** 2 / 2 * (1 + r) ** (-A - 1)`` of it.
"""

from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import combinations

from oracle import Model

__all__ = ["Bought", "bought", "polished"]

DIGITS = Context(prec=70, Emax=10**8, Emin=-(10**8))
ROUNDS = 40
"""Newton steps at most; from a float answer six are enough."""

ONE, NONE = Decimal(1), Decimal(0)


def decimal(number: Fraction) -> Decimal:
    """Return a fraction to the digits at hand."""
    return Decimal(number.numerator) / Decimal(number.denominator)


class Bought:
    """What users buy at prices, (n,), and by how much of it the optimum can differ, (n,)."""

    def __init__(self, tasks: list[Decimal], off: list[Decimal]):
        self.tasks, self.off = tasks, off

    @property
    def worst(self) -> Decimal:
        """The largest relative distance."""
        return max(self.off, default=NONE)


class _Market:
    def __init__(self, model: Model, alpha: Fraction):
        self.alpha, self.users = decimal(alpha), model.playing
        self.share = {i: decimal(max(model.shares(i))) for i in self.users}
        self.weight = {i: decimal(model.weights[i][0]) for i in self.users}
        self.demand = {i: [decimal(d) for d in model.demands[i]] for i in self.users}
        self.most = {i: None if (u := model.limits[i]) is None else decimal(u) for i in self.users}
        self.kinds = {i: [(decimal(p), list(map(decimal, d)), f) for p, d, f in model.kinds[i]] for i in self.users}
        self.room = [[decimal(c) * count for c in row] for row, count in model.classes]

    def cost(self, prices: list[list[Decimal]], i: int) -> Decimal:
        def cheapest(demand: list[Decimal], fits: list[bool]) -> Decimal:
            rows = (row for row, yes in zip(prices, fits, strict=True) if yes)
            return min(sum((p * d for p, d in zip(row, demand, strict=True)), NONE) for row in rows)

        return sum((part * cheapest(demand, fits) for part, demand, fits in self.kinds[i]), NONE)

    def buys(self, cost: Decimal, i: int) -> tuple[Decimal, bool]:
        """Return what a user buys, and whether that is its limit."""
        most = self.most[i]
        if cost <= 0:
            return (most if most is not None else Decimal("Infinity")), True
        wanted = (self.share[i] / cost) ** (1 / self.alpha) * self.weight[i] / self.share[i]
        return (most, True) if most is not None and most <= wanted else (wanted, False)

    def utility(self, x: Decimal, i: int) -> Decimal:
        level = self.share[i] * x / self.weight[i]
        power = 1 - self.alpha
        return self.weight[i] * (level**power / power if power else level.ln())

    def judged(self, prices: list[list[Decimal]], feasible: dict[int, Decimal]) -> Bought | None:
        """Return what is bought at prices, and the bound that a feasible allocation gives."""
        gap = sum(
            (p * c for row, room in zip(prices, self.room, strict=True) for p, c in zip(row, room, strict=True)), NONE
        )
        rounding = gap * Decimal("1e-65")
        tasks = {}
        for i in self.users:
            cost = self.cost(prices, i)
            y = tasks[i] = self.buys(cost, i)[0]
            if not y.is_finite() or feasible[i] <= 0:
                return None
            gap += self.utility(y, i) - cost * y - self.utility(feasible[i], i)
        off = []
        for i in self.users:
            level = self.share[i] * tasks[i] / self.weight[i]
            lost = (max(gap, NONE) + rounding) / (self.weight[i] * level ** (1 - self.alpha) * self.alpha) * 2
            r = lost.sqrt()
            # Once more with the factor (1 + r) ** (A + 1) for an r that is no less.
            off.append(r * (1 + 2 * r) ** ((self.alpha + 1) / 2) if r < Decimal("0.01") else ONE)
        return Bought(list(tasks.values()), off)


def bought(
    model: Model, alpha: Fraction, prices: Sequence[Sequence[Fraction]], rows: Sequence[tuple[int, int, list[Fraction]]]
) -> Bought | None:
    """Judge by given prices (k, m) and what is placed of each user's types (k,), shrunk to what is feasible."""
    with localcontext(DIGITS):
        market = _Market(model, alpha)
        rows = [row for row in rows if row[0] in market.kinds]
        shrunk, most = ONE, dict.fromkeys(market.users, Decimal("Infinity"))
        for i, t, amounts in rows:
            most[i] = min(most[i], decimal(sum(amounts, Fraction(0))) / market.kinds[i][t][0])
        for k, room in enumerate(market.room):
            for j, there in enumerate(room):
                used = sum((decimal(amounts[k]) * market.kinds[i][t][1][j] for i, t, amounts in rows), NONE)
                shrunk = min(shrunk, there / used) if used > 0 else shrunk
        for i, u in market.most.items():
            shrunk = min(shrunk, u / most[i]) if u is not None and most[i] > 0 else shrunk
        feasible = {i: x * shrunk for i, x in most.items()}
        return market.judged([[max(decimal(p), NONE) for p in row] for row in prices], feasible)


def polished(model: Model, alpha: Fraction, start: Sequence[Fraction]) -> Bought | None:
    """Judge a pool by prices that Newton's method makes of some (m,), whichever resources turn out to be scarce."""
    with localcontext(DIGITS):
        market = _Market(model, alpha)
        if not market.users:
            return Bought([], [])
        given = [max(decimal(p), NONE) for p in start]
        worth = [p * c for p, c in zip(given, market.room[0], strict=True)]
        scarce = tuple(j for j, w in enumerate(worth) if w > sum(worth, NONE) * Decimal("1e-7"))
        there = [j for j, c in enumerate(market.room[0]) if c]
        sets = [scarce, *(s for size in range(1, len(there) + 1) for s in combinations(there, size))]
        best: Bought | None = None
        for active in sets:
            found = _newton(market, given, active)
            if found is not None and (best is None or found.worst < best.worst):
                best = found
            if best is not None and best.worst < Decimal("1e-15"):
                break
        return best


def _newton(market: _Market, start: list[Decimal], active: Sequence[int]) -> Bought | None:
    room = market.room[0]
    floor = Decimal("1e-6") * max((p * c for p, c in zip(start, room, strict=True)), default=NONE)
    prices = [
        max(p, floor / c if c else NONE) if j in active else NONE
        for j, (p, c) in enumerate(zip(start, room, strict=True))
    ]
    for _ in range(ROUNDS):
        matrix = [[NONE] * len(active) for _ in active]
        short = [-room[j] for j in active]
        for i in market.users:
            cost = market.cost([prices], i)
            x, bound = market.buys(cost, i)
            if not x.is_finite():
                return None
            for a, j in enumerate(active):
                short[a] += market.demand[i][j] * x
                for b, other in enumerate(active) if not bound else ():
                    matrix[a][b] += market.demand[i][j] * market.demand[i][other] * x / cost / market.alpha
        step = _solved(matrix, short, [room[j] for j in active])
        part = ONE
        for j, s in zip(active, step, strict=True):
            if prices[j] + s < 0 and s < 0:
                part = min(part, -prices[j] / s * Decimal("0.9"))
        for j, s in zip(active, step, strict=True):
            prices[j] += part * s
        if part == 1 and all(abs(s) <= abs(prices[j]) * Decimal("1e-55") for j, s in zip(active, step, strict=True)):
            break
    tasks = {i: market.buys(market.cost([prices], i), i)[0] for i in market.users}
    if any(not x.is_finite() for x in tasks.values()):
        return None
    used = [sum((market.demand[i][j] * x for i, x in tasks.items()), NONE) for j in range(len(room))]
    shrunk = min([ONE, *(c / u for c, u in zip(room, used, strict=True) if u > 0)])
    return market.judged([prices], {i: x * shrunk for i, x in tasks.items()})


def _solved(matrix: list[list[Decimal]], right: list[Decimal], scale: list[Decimal]) -> list[Decimal]:
    """Solve by elimination in units of `scale`; a row that others add up to is left out, its unknown stays 0."""
    size = len(right)
    rows = [[matrix[a][b] / scale[a] / scale[b] for b in range(size)] + [right[a] / scale[a]] for a in range(size)]
    largest = max((abs(v) for row in rows for v in row[:-1]), default=NONE)
    chosen: dict[int, int] = {}
    for b in range(size):
        left = [a for a in range(size) if a not in chosen.values()]
        a = max(left, key=lambda a: abs(rows[a][b]))
        if abs(rows[a][b]) <= largest * Decimal("1e-50"):
            continue
        chosen[b] = a
        for other in range(size):
            if other != a and rows[other][b]:
                factor = rows[other][b] / rows[a][b]
                rows[other] = [v - factor * w for v, w in zip(rows[other], rows[a], strict=True)]
    return [rows[chosen[b]][-1] / rows[chosen[b]][b] / scale[b] if b in chosen else NONE for b in range(size)]
