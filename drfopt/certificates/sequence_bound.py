"""What no sum, product or utility of whole tasks exceeds, whatever rules and types: prices of the cluster, in integers.

Let v_i(x) be what x tasks are worth to user i, u_ij(x) what they need of resource j, ceilings of groups among them, and
l_i the fewest tasks that she has in anything better: her guarantee where all are kept, and one of a product in which
everybody has some.

Claim.   At any prices p >= 0 nothing better is worth more than  p . c + sum_i max { v_i(x) - p . u_i(x) : x >= l_i }.
Proof.   What can run needs no more than c, so that it is worth at most sum_i v_i(x_i) + p . (c - sum_i u_i(x_i)).  []

Where so many users have a task, not all of them, a bonus for having one, paid by the cluster, changes nothing in sum.

A machine is at most its part of the whole cluster, so the same holds on machines.  A linear program over all numbers of
tasks finds prices in floats; what they prove is computed in integers, of logarithms with the last digit rounded up, and
of a sum rounded down to what sums can be.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from operator import mul

from ..base.solvers.table import program
from ..model.whole_values import WholeUsers
from .exhaustive_search import powers
from .verifier.alpha_utility import AlphaUtility

__all__ = ["most_served", "room_above"]

NUMBERS = 20_000
"""Numbers of tasks, of all users together, up to which each is a column of the program."""

DIGITS = Context(prec=40)

UNIT = 2**80
"""Parts of one in which prices and values are counted."""

SECONDS = 2.0
"""Time that HiGHS has for the prices; any are right."""


def room_above(users: WholeUsers, tasks: Sequence[int]) -> Fraction | None:
    """Return by how much tasks of the members can be exceeded: in levels, in logarithms of a product, or in utility.

    Where users with a task come first and somebody has none, that is said of all in which as many users have some.
    None where it is not known: too many numbers of tasks, or such a market with guarantees that are not all kept.
    """
    numbers = _Numbers.of(users, tasks)
    if numbers is None:
        return None
    if users.policy.objective == "sum":
        unit = UNIT * math.lcm(*(rate.denominator for rate in users.rates))
        rates = [int(rate * unit) for rate in users.rates]
        most = numbers.most([{x: rate * x for x in need} for rate, need in zip(rates, numbers.needs, strict=True)])
        # The sum of so many rates is a whole number of units.
        return Fraction(max(most - most % UNIT - sum(map(mul, rates, tasks)), 0), unit)
    if users.policy.alpha == 1:
        weights = [w * UNIT for w in powers(users.incomes)]
        values = [{x: _upper(w, x) for x in need} for w, need in zip(weights, numbers.needs, strict=True)]
        own = sum(_lower(w, x) for w, x in zip(weights, tasks, strict=True))
    else:
        low = _utilities(users)
        values = [{x: low(p, x) + 2 * bool(x) for x in need} for p, need in enumerate(numbers.needs)]
        own = sum(low(p, x) for p, x in enumerate(tasks))
    most = numbers.most(values, served=sum(map(bool, tasks)) if users.serving else None)
    return Fraction(max(most - own, 0), UNIT)


def most_served(users: WholeUsers, tasks: Sequence[int]) -> int | None:
    """Return how many users can have a task at most where guarantees are kept; None where that is not known."""
    if (numbers := _Numbers.of(users, tasks)) is None:
        return None
    return numbers.most([{x: UNIT * bool(x) for x in need} for need in numbers.needs]) // UNIT


@dataclass
class _Numbers:
    """What each number of tasks needs that a member can have in anything better, and what there is."""

    needs: list[dict[int, list[int]]]
    room: list[int]

    @classmethod
    def of(cls, users: WholeUsers, tasks: Sequence[int]) -> "_Numbers | None":
        """Return the numbers; None where they are too many, or what is better is not one number."""
        serving, kept = users.serving, users.kept(users.spread(tasks))
        least = [max(int(serving and all(tasks)), f if kept else 0) for f in users.promises]
        if (serving and not kept) or sum(users.most) - sum(least) + len(least) > NUMBERS:
            return None
        rows, room = users.pool_rows
        needs = []
        for p, sequence in enumerate(users.sequences):
            columns = list(zip(*(rows[good] for good in users.goods_of[p]), strict=True))
            numbers = range(least[p], users.most[p] + 1)
            needs.append({x: [sum(map(mul, sequence.started(x), column)) for column in columns] for x in numbers})
        return cls(needs, room)

    def most(self, values: list[dict[int, int]], served: int | None = None) -> int:
        """Return what no numbers are worth more than; of so many users with a task, where that is said."""
        *prices, bonus = self._prices(values, served)
        found = sum(map(mul, prices, self.room)) - bonus * (served or 0)
        for value, need in zip(values, self.needs, strict=True):
            found += max(v + bonus * bool(x) - sum(map(mul, prices, need[x])) for x, v in value.items())
        return found

    def _prices(self, values: list[dict[int, int]], served: int | None) -> list[int]:
        """Return prices of a unit of everything, and what having a task is worth: multipliers of the program."""
        import highspy

        top = float(max((abs(v) for value in values for v in value.values()), default=1) or 1)
        cost: list[float] = []
        choice: list[dict[int, float]] = []
        used: list[dict[int, float]] = [{} for _ in self.room]
        some: dict[int, float] = {}
        for value, need in zip(values, self.needs, strict=True):
            choice.append({})
            for x, v in value.items():
                column = len(cost)
                choice[-1][column] = 1.0
                if x:
                    some[column] = 1.0
                for j, (amount, c) in enumerate(zip(need[x], self.room, strict=True)):
                    if amount:
                        used[j][column] = amount / max(c, 1)
                cost.append(-v / top)
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("time_limit", SECONDS)
        limits = [(-math.inf, min(c, 1.0), row) for c, row in zip(self.room, used, strict=True)]
        asked = (-math.inf, math.inf) if served is None else (float(served), float(served))
        rows = [*limits, (*asked, some), *((1.0, 1.0, row) for row in choice)]
        highs.passModel(program(cost, [0.0] * len(cost), [1.0] * len(cost), rows))
        highs.run()
        *duals, bonus = list(highs.getSolution().row_dual)[: len(limits) + 1] or [0.0] * (len(limits) + 1)
        prices = [round(Fraction(max(0.0, -y) * top) / max(c, 1)) for y, c in zip(duals, self.room, strict=True)]
        return [*prices, 0 if served is None else round(Fraction(bonus * top))]


def _utilities(users: WholeUsers) -> Callable[[int, int], int]:
    """Return the function to the utility of a member's tasks in units, which are at most two below the true one."""
    utility = AlphaUtility(Fraction(str(users.policy.alpha)))
    weights, rates = users.incomes, users.market_rates
    return lambda p, x: utility.units(weights[p], rates[p] * x, UNIT) if x else 0


def _upper(weight: int, x: int) -> int:
    # The neighbour of 0 has a million digits, and the logarithm of 1 none.
    return math.ceil(weight * Fraction(DIGITS.next_plus(DIGITS.ln(Decimal(x))))) if x > 1 else 0


def _lower(weight: int, x: int) -> int:
    return math.floor(weight * Fraction(DIGITS.next_minus(DIGITS.ln(Decimal(x))))) if x > 1 else 0
