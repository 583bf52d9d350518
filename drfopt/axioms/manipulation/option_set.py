"""What a user can get in a market of one pool, by some report: its best, bounded by multipliers in fractions.

All in shares: resources have 1 unit, r[k, j] is what user k takes of resource j when her dominant share is 1, and
incomes w add up to 1.  At prices p the others' dominant shares are

    s[k](p) = min(u[k], w[k] q[k]^(-1/alpha)),    q[k] = p . r[k],      u[k] her limit, or none,

and user i can get, by some report, what they leave: left[j](p) = 1 - sum_k r[k, j] s[k](p) where p[j] > 0, at most
that elsewhere, if p . left(p) = w[i]^alpha (dominant share of what she gets)^(1 - alpha), which is her income w[i] for
alpha = 1.  So the most she can make of it, as a dominant share v of her own task, is at most

    maximise    v
    subject to  v r[i, j] + sum_k r[k, j] s[k]  <=  1                                  for every j      (lambda[j])
                sum_j p[j] - sum_k q[k] s[k]    <=  w[i]^alpha v^(1 - alpha)                            (tau)
                s[k] = u[k], q[k] <= (w[k] / u[k])^alpha          for every k of a set of users with limits  (sigma)
                s[k] = w[k] q[k]^(-1/alpha), q[k] >= (w[k] / u[k])^alpha     for every other k          (sigma)

over all such sets; for alpha = 1 it is that, since what is left grows with the prices and p . left(p) is convex along
a ray: prices at which she would not spend her income can be raised until she does.  For alpha >= 1 every set is a
concave program, because q^(-1/alpha) is convex and q^(1 - 1/alpha) is concave.  So it is enough to know shares z[k]
near the optimum, at which the tangents

    s[k]      >=  z (1 + 1/alpha)      -  z^(1 + alpha) q[k] / (alpha w[k]^alpha)
    q[k] s[k] <=  w[k]^alpha z^(1 - alpha) / alpha  +  (1 - 1/alpha) z q[k]

make the program linear in p, and multipliers lambda, tau, sigma >= 0 with lambda . r[i] = 1 bound it: for *any* z, so
they prove something although a solver in floats proposed z.  The best multipliers are a linear program, solved in
fractions.  Where the bound is what the truth brings, no misreport pays; where it is more by a millionth, no misreport
pays more than that.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from operator import itemgetter

from ...base.solvers.exact_lp import ExactProgram, NoSolutionError, UnboundedError, maximise
from ..economy import Economy, Row

__all__ = ["POWERS", "SIMPLE", "OptionMarket", "Other", "bound", "dot", "market_of", "rounded", "sets", "worth_of"]

SIMPLE = (12, 10**3, 10**6, 10**10)
"""Largest denominators of fractions that stand for a solver's prices: the simplest that is as good is taken."""

POWERS = Fraction(1, 10**12)
"""Relative error granted to a power that is computed in floats, a thousand times what it is."""


@dataclass(frozen=True)
class Other:
    """Another user: her row of shares (m,), her income, and her limit as a dominant share, or None."""

    row: Row
    income: Fraction
    limit: Fraction | None

    def share(self, q: Fraction, alpha: Fraction) -> Fraction | None:
        """Return her dominant share where one of 1 costs q, in floats unless alpha is 1; None where it has no end."""
        if not q:
            return self.limit
        share = self.income / q if alpha == 1 else Fraction(float(self.income) * float(q) ** (-1 / float(alpha)))
        return share if self.limit is None else min(share, self.limit)


@dataclass(frozen=True)
class OptionMarket:
    """User i's row of shares (m,) and income, her dominant share a task, the others, and alpha."""

    mine: Row
    income: Fraction
    size: Fraction
    others: tuple[Other, ...]
    alpha: Fraction
    resources: tuple[int, ...]

    @property
    def m(self) -> int:
        """Number of resources."""
        return len(self.mine)

    def left(self, prices: Row) -> Row | None:
        """Return the shares (m,) that the others leave at prices under which user i spends her income; alpha is 1."""
        spending = [(dot(prices, other.row), other) for other in self.others]
        # What costs nothing is taken up to a limit, and nothing is spent on it.
        scale = self._scale(sum(prices, Fraction(0)), [(q, other) for q, other in spending if q])
        if scale is None:
            return None
        left = [Fraction(1)] * self.m
        for q, other in spending:
            held = other.share(scale * q, Fraction(1))
            if held is None:
                return None
            left = [free - held * r for free, r in zip(left, other.row, strict=True)]
        return tuple(left) if min(left) >= 0 else None

    def _scale(self, total: Fraction, spending: Sequence[tuple[Fraction, Other]]) -> Fraction | None:
        """Return the factor of prices at which all incomes are spent: a root of a convex piecewise linear function."""
        ends = sorted(
            ((other.income / (q * other.limit), other) for q, other in spending if other.limit), key=itemgetter(0)
        )
        # Beyond her end a user is below her limit and spends her income; start beyond all ends.
        slope, constant = total, self.income + sum((other.income for _, other in spending), Fraction(0))
        for end, other in reversed(ends):
            if slope > 0 and constant / slope >= end:
                break
            slope, constant = slope - other.income / end, constant - other.income
        return constant / slope if slope > 0 else None


def dot(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    """Return the sum of the products."""
    return sum((a * b for a, b in zip(one, other, strict=True)), Fraction(0))


def market_of(cluster: Economy, i: int, alpha: float) -> OptionMarket | None:
    """Return the market in shares; None where user i has no part in it."""

    def shares(k: int) -> Row | None:
        """Return her shares of what there is; None where she needs what is not there."""
        if any(d and not c for d, c in zip(cluster.demands[k], cluster.pool, strict=True)):
            return None
        return tuple(cluster.demands[k][j] / cluster.pool[j] for j in resources)

    resources = tuple(j for j, c in enumerate(cluster.pool) if c)
    mine = shares(i)
    if mine is None or cluster.limits[i] == 0:
        return None
    taking = [(k, row) for k in range(cluster.n) if k != i and cluster.limits[k] != 0 if (row := shares(k)) is not None]
    income = sum((cluster.weights[k] for k in [i, *(k for k, _ in taking)]), Fraction(0))
    others = []
    for k, row in taking:
        limit = cluster.limits[k]
        others.append(
            Other(
                tuple(r / max(row) for r in row),
                cluster.weights[k] / income,
                None if limit is None else limit * max(row),
            )
        )
    size = max(mine)
    return OptionMarket(
        tuple(r / size for r in mine),
        cluster.weights[i] / income,
        size,
        tuple(others),
        Fraction(alpha),
        resources,
    )


def worth_of(market: OptionMarket, left: Row) -> Fraction:
    """Return the dominant share that user i can make of these shares."""
    return min(share / r for share, r in zip(left, market.mine, strict=True) if r)


def rounded(prices: Row) -> Iterator[Row]:
    """Yield simpler prices near these: first their proportions, then with their sum."""
    total = sum(prices, Fraction(0))
    for largest in SIMPLE:
        simple = tuple((p / total).limit_denominator(largest) for p in prices)
        if any(simple):
            yield tuple(total.limit_denominator(SIMPLE[-1]) * p for p in simple)


def bound(market: OptionMarket, candidates: Sequence[Row], target: Fraction) -> Fraction | None:
    """Return what user i's dominant share cannot exceed, in fractions, `target` if it is proven; None where nothing is.

    Parameters
    ----------
    candidates : sequence of (m,)
        Prices whose tangents are tried, in the order given and rounded in the order of `SIMPLE`; any prices prove
        something.
    target : Fraction
        What is wanted; nothing lower is looked for.
    """
    # That there is nothing is shown, for alpha above 1, of a share of at least the target.
    worst = Fraction(0) if market.alpha == 1 else target
    for at_limit in sets(market):
        least: Fraction | None = None
        for prices in candidates:
            for guess in rounded(prices):
                try:
                    proven = _tangents(market, at_limit, guess, target)
                except UnboundedError:
                    # Multipliers without bound: nobody can be at her limit just so.
                    least = Fraction(0)
                    break
                except NoSolutionError:
                    # No multipliers: these tangents bound nothing.
                    continue
                if proven is not None and (least is None or proven < least):
                    least = proven
                if least is not None and least <= target:
                    break
            if least is not None and least <= target:
                break
        if least is None:
            return None
        worst = max(worst, least)
    return worst


def sets(market: OptionMarket) -> Iterator[frozenset[int]]:
    """Yield the sets of users who may be at their limits."""
    limited = [k for k, other in enumerate(market.others) if other.limit is not None]
    for size in range(len(limited) + 1):
        yield from map(frozenset, combinations(limited, size))


def _tangents(market: OptionMarket, at_limit: frozenset[int], prices: Row, target: Fraction) -> Fraction | None:
    """Return the bound from the tangents at these prices, those at their limits given."""
    alpha, m = market.alpha, market.m
    if alpha == 1:
        prices = _spent(market, at_limit, prices)
    room = [Fraction(1)] * m
    # A row of (drain[j]) is what one unit of lambda[j] costs at prices: lambda . drain[l] on price l.
    drain = [[Fraction(0)] * m for _ in range(m)]
    spent = [Fraction(1)] * m
    income = _power(market.income, alpha) * _power(target, 1 - alpha)
    ends: list[tuple[Row, Fraction, int]] = []
    for k, other in enumerate(market.others):
        q = dot(prices, other.row)
        if other.limit is not None:
            ends.append((other.row, _power(other.income / other.limit, alpha), 1 if k in at_limit else -1))
        if k in at_limit:
            room = [free - (other.limit or 0) * r for free, r in zip(room, other.row, strict=True)]
            spent = [s - (other.limit or 0) * r for s, r in zip(spent, other.row, strict=True)]
            continue
        # Any tangent is valid: where her share is beyond her limit, that at her limit is the nearest.
        z = other.share(q, alpha)
        if z is None:
            return None
        steep = _power(z, 1 + alpha) / (alpha * _power(other.income, alpha, down=True))
        room = [free - z * (1 + 1 / alpha) * r for free, r in zip(room, other.row, strict=True)]
        for j, r in enumerate(other.row):
            for h, s in enumerate(other.row):
                drain[h][j] += steep * r * s
        income += _power(other.income, alpha) * _power(z, 1 - alpha) / alpha
        spent = [s - (1 - 1 / alpha) * z * r for s, r in zip(spent, other.row, strict=True)]
    # Columns: lambda[j] (m), tau, sigma; rows: lambda . r[i] >= 1, then one for every price.
    columns = []
    for j in range(m):
        column = {1 + h: drain[h][j] for h in range(m) if drain[h][j]}
        columns.append(column | ({0: -market.mine[j]} if market.mine[j] else {}))
    columns.append({1 + h: -spent[h] for h in range(m) if spent[h]})
    for row, _, sign in ends:
        columns.append({1 + h: -sign * r for h, r in enumerate(row) if r})
    cost = [*room, income, *(sign * end for _, end, sign in ends)]
    program = ExactProgram(columns, [Fraction(-1), *([Fraction(0)] * m)], [-c for c in cost])
    found = maximise(program, range(len(columns), len(columns) + m + 1), "the bound on a misreport")
    proven = dot(cost, found.x)
    return proven if alpha == 1 else max(proven, target)


def _spent(market: OptionMarket, at_limit: frozenset[int], prices: Row) -> Row:
    """Return prices in the same proportions at which all incomes but those of users at their limits are spent."""
    total, income = sum(prices, Fraction(0)), market.income
    for k, other in enumerate(market.others):
        if k in at_limit:
            total -= (other.limit or 0) * dot(prices, other.row)
        else:
            income += other.income
    return prices if total <= 0 else tuple(p * income / total for p in prices)


def _power(base: Fraction, exponent: Fraction, down: bool = False) -> Fraction:
    """Return at least the power, exactly where the exponent is whole; at most it where `down` is asked."""
    if exponent.denominator == 1:
        return base**exponent.numerator
    error = -POWERS if down else POWERS
    return Fraction(float(base) ** float(exponent)) * (1 + error)
