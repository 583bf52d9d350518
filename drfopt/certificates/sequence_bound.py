"""What no sum, product or utility of whole tasks exceeds, whatever rules and types: prices of the cluster, in integers.

Let v_i(x) be what x tasks are worth to user i, u_ij(x) what they need of resource j, ceilings of groups among them, and
l_i the fewest tasks that she has in anything better: her guarantee where all are kept, one of a product in which
everybody has some, and of utilities below 0 (alpha above 1) what is worth as much as everybody's tasks together; fewer
would also be worth so little that a program in floats sees nothing beside it.

Claim.   At any prices p >= 0 nothing better is worth more than  p . c + sum_i max { v_i(x) - p . u_i(x) : x >= l_i }.
Proof.   What can run needs no more than c, so that it is worth at most sum_i v_i(x_i) + p . (c - sum_i u_i(x_i)).  []

Where so many users have a task, not all of them, a bonus for having one, paid by the cluster, changes nothing in sum.

A machine is at most its part of the whole cluster, so the same holds on machines.  A linear program over some numbers
of tasks finds prices in floats; what they prove is computed in integers, of logarithms with the last digit rounded up,
and of a sum rounded down to what sums can be.

Of one type u_i(x) is x u_i(1), and v_i concave from one task on.  So the largest of v_i(x) - p . u_i(x) is found by
halving, and whatever it is found to be, what a concave function could gain beyond it is added: by how much it rises at
the next number, as often as there are more.  Of several types every number is looked at or, where these are too many,
ranges of them: none in a range is worth more than its last or needs less than its first.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from operator import mul

from ..base.solvers.table import program
from ..model.whole_values import WholeUsers
from .exhaustive_search import powers
from .verifier.alpha_utility import AlphaUtility

__all__ = ["most_served", "room_above"]

NUMBERS = 20_000
"""Numbers of tasks, of all users together, up to which each is a column of the program, or looked at."""

FEW = 24
"""Numbers of tasks of one user at least that are columns, and ranges that are looked at."""

GRID = 256
"""Numbers of tasks of one user of one type that are columns where it could have more: prices need no more."""

NEAR = (0, 1, 2, 3, 5, 9, 17, 33, 65)
"""How far from the tasks at hand numbers are columns too: in 1, and in 256ths of the tasks."""

DIGITS = Context(prec=40)

UNIT = 2**80
"""Parts of one in which prices and values are counted."""

BLUR = 3
"""Units by which logarithms and utilities may be too large."""

KEPT = 2**16
"""Logarithms that are remembered: of users with equal weights many are alike."""

SECONDS = 2.0
"""Time that HiGHS has for the prices; any are right."""

LARGEST = 1e300
"""What nothing is worth more than where prices are looked for."""

Value = Callable[[int, int], int]
"""What tasks of a member are worth, in units."""

About = Callable[[int, int], float]
"""The same in floats."""


def room_above(users: WholeUsers, tasks: Sequence[int], tier: int = 0) -> Fraction:
    """Return by how much tasks of the members can be exceeded: in levels, in logarithms of a product, or in utility.

    Of several tiers what is worth something to one of them.  Where users with a task come first and somebody has none,
    that is said of all in which as many users have some.
    """
    numbers = _Numbers(users, tasks, users.tiers[tier])
    mine = numbers.mine
    if users.policy.objective == "sum":
        unit = UNIT * math.lcm(*(rate.denominator for rate in users.rates))
        rates = [int(rate * unit) for rate in users.rates]
        most = numbers.most(lambda p, x: rates[p] * x, lambda p, x: float(rates[p] * x), 0)
        # The sum of so many rates is a whole number of units.
        return Fraction(max(most - most % UNIT - sum(rates[p] * tasks[p] for p in mine), 0), unit)
    low, high, about = _logarithms(users) if users.policy.alpha == 1 else _utilities(users)
    own = sum(low(p, tasks[p]) for p in mine)
    if users.policy.alpha > 1:
        numbers.raise_to(high, own)
    most = numbers.most(high, about, BLUR, served=sum(bool(tasks[p]) for p in mine) if users.serving else None)
    return Fraction(max(most - own, 0), UNIT)


def most_served(users: WholeUsers, tasks: Sequence[int], tier: int = 0) -> int:
    """Return how many users of a tier can have a task at most, where guarantees are kept if they are here."""
    numbers = _Numbers(users, tasks, users.tiers[tier])
    return numbers.most(lambda p, x: UNIT * bool(x), lambda p, x: float(UNIT * bool(x)), 0) // UNIT


class _Numbers:
    """What numbers of tasks need that members can have in anything better, and what there is.

    Attributes
    ----------
    mine : list of int
        Who counts.
    least : list of int
        The fewest tasks of each member in anything better.
    """

    def __init__(self, users: WholeUsers, tasks: Sequence[int], mine: list[int]):
        self.users, self.mine = users, mine
        kept, counts = users.kept(users.spread(tasks)), set(mine)
        self.all_have = bool(mine) and users.serving and all(tasks[p] for p in mine)
        some = counts if self.all_have else set()
        self.least = [max(int(p in some), f if kept else 0) for p, f in enumerate(users.promises)]
        self.counts = [p in counts for p in range(len(users.members))]
        rows, self.room = users.pool_rows
        self.columns = [list(zip(*(rows[good] for good in goods), strict=True)) for goods in users.goods_of]
        self.own = tasks
        self.some = [self._some(p, x) for p, x in enumerate(tasks)]

    def raise_to(self, value: Value, all_of_it: int) -> None:
        """Leave out what is worth less alone than all tasks together, where everybody has some and none gain by it."""
        for p in self.mine if self.all_have else ():
            self.least[p] += bisect_left(range(self.least[p], self.own[p]), all_of_it, key=partial(value, p))
            self.some[p] = self._some(p, self.own[p])

    def need(self, p: int, x: int) -> list[int]:
        """Return what tasks of a member need of everything."""
        started = self.users.sequences[p].started(x)
        return [sum(map(mul, started, column)) for column in self.columns[p]]

    def _some(self, p: int, own: int) -> list[int]:
        """Return numbers of tasks of a member, the fewest and the most among them: all if they are not too many."""
        low, high = self.least[p], self.users.most[p]
        if not self.counts[p]:
            return [low]
        number = max(FEW, NUMBERS // max(len(self.mine), 1))
        if high - low < number:
            return list(range(low, high + 1))
        if len(self.users.sequences[p].rows) == 1:
            number = min(number, GRID)
        # Of large numbers prices are as fine as the steps from the tasks at hand are small.
        steps = [*(max(k, own * k // 256) for k in NEAR), *(own >> k for k in range(9, own.bit_length()))]
        found = {low, low + 1, high} | {own + sign * step for step in steps for sign in (-1, 1)}
        # Steps grow with the numbers.
        found |= {low + round((high - low + 1) ** (k / number)) - 1 for k in range(1, number)}
        return sorted(x for x in found if low <= x <= high)

    def most(self, value: Value, about: About, blur: int, served: int | None = None) -> int:
        """Return what no numbers are worth more than; of so many users with a task, where that is said.

        `about` is a value in floats, and `blur` by how many units one may be too large.
        """
        *prices, bonus = self._prices(about, served)
        found = sum(map(mul, prices, self.room)) - bonus * (served or 0)
        for p, some in enumerate(self.some):
            if not self.counts[p]:
                found -= sum(map(mul, prices, self.need(p, some[0])))
                continue

            def gain(x: int, p: int = p) -> int:
                return value(p, x) + bonus * bool(x) - sum(map(mul, prices, self.need(p, x)))

            low, high = self.least[p], self.users.most[p]
            if len(self.users.sequences[p].rows) == 1:
                none = [] if low else [gain(0)]
                found += max([_highest(gain, max(low, 1), high, blur), *none])
            elif len(some) == high - low + 1:
                found += max(map(gain, some))
            else:
                found += self._of_ranges(p, value, prices, bonus)
        return found

    def _of_ranges(self, p: int, value: Value, prices: Sequence[int], bonus: int) -> int:
        """Return what tasks of several types gain at most."""
        some, found = self.some[p], []
        for before, last in zip([self.least[p] - 1, *some[:-1]], some, strict=True):
            first = before + 1
            found.append(value(p, last) + max(bonus * bool(x) for x in (first, last)))
            found[-1] -= sum(map(mul, prices, self.need(p, first)))
        return max(found)

    def _prices(self, about: About, served: int | None) -> list[int]:
        """Return prices of a unit of everything, and what having a task is worth: multipliers of the program."""
        import highspy

        values = [[min(max(about(p, x), -LARGEST), LARGEST) for x in self.some[p]] for p in self.mine]
        top = max((abs(v) for row in values for v in row), default=1.0) or 1.0
        cost: list[float] = []
        choice: list[dict[int, float]] = []
        used: list[dict[int, float]] = [{} for _ in self.room]
        some: dict[int, float] = {}
        for p, row in zip(self.mine, values, strict=True):
            choice.append({})
            for x, v in zip(self.some[p], row, strict=True):
                column = len(cost)
                choice[-1][column] = 1.0
                if x:
                    some[column] = 1.0
                for j, (amount, c) in enumerate(zip(self.need(p, x), self.room, strict=True)):
                    if amount:
                        used[j][column] = amount / max(c, 1)
                cost.append(-v / top)
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("time_limit", SECONDS)
        limits = [(-math.inf, left, row) for left, row in zip(self._left, used, strict=True)]
        asked = (-math.inf, math.inf) if served is None else (float(served), float(served))
        rows = [*limits, (*asked, some), *((1.0, 1.0, row) for row in choice)]
        highs.passModel(program(cost, [0.0] * len(cost), [1.0] * len(cost), rows))
        highs.run()
        *duals, bonus = list(highs.getSolution().row_dual)[: len(limits) + 1] or [0.0] * (len(limits) + 1)
        prices = [round(Fraction(max(0.0, -y) * top) / max(c, 1)) for y, c in zip(duals, self.room, strict=True)]
        return [*prices, 0 if served is None else round(Fraction(bonus * top))]

    @cached_property
    def _left(self) -> list[float]:
        """What those who do not count leave, of 1 of everything."""
        needs = [self.need(p, some[0]) for p, some in enumerate(self.some) if not self.counts[p]]
        used = [sum(column) for column in zip(*needs, strict=True)] or [0] * len(self.room)
        return [max(0.0, (c - gone) / max(c, 1)) for c, gone in zip(self.room, used, strict=True)]


def _highest(gain: Callable[[int], int], low: int, high: int, blur: int) -> int:
    """Return what a concave function of which gains are known to be at most so much too large does not exceed."""
    # The first number from which it does not rise.
    top = low + bisect_left(range(low, high), True, key=lambda x: gain(x + 1) <= gain(x))
    here = gain(top)
    after = max(0, gain(top + 1) - here + blur) * (high - top) if top < high else 0
    before = max(0, gain(top - 1) - here + blur) * (top - low) if top > low else 0
    return here + max(after, before)


def _utilities(users: WholeUsers) -> tuple[Value, Value, About]:
    """Return the functions to the utility of a member's tasks in units, rounded down, rounded up and in floats."""
    utility = AlphaUtility(Fraction(str(users.policy.alpha)))
    weights, rates = users.incomes, users.market_rates

    def low(p: int, x: int) -> int:
        return utility.units(weights[p], rates[p] * x, UNIT) if x else 0

    return low, lambda p, x: low(p, x) + 2 * bool(x), lambda p, x: UNIT * users.utility(p, x) if x else 0.0


def _logarithms(users: WholeUsers) -> tuple[Value, Value, About]:
    """Return the same of the weighted logarithm of a member's tasks."""
    weights = [w * UNIT for w in powers(users.incomes)]
    return (
        lambda p, x: _lower(weights[p], x),
        lambda p, x: _upper(weights[p], x),
        lambda p, x: weights[p] * math.log(x) if x else 0.0,
    )


@lru_cache(maxsize=KEPT)
def _upper(weight: int, x: int) -> int:
    # The neighbour of 0 has a million digits, and the logarithm of 1 none.
    return math.ceil(weight * Fraction(DIGITS.next_plus(DIGITS.ln(Decimal(x))))) if x > 1 else 0


@lru_cache(maxsize=KEPT)
def _lower(weight: int, x: int) -> int:
    return math.floor(weight * Fraction(DIGITS.next_minus(DIGITS.ln(Decimal(x))))) if x > 1 else 0
