"""What no sum or product of whole tasks exceeds, whatever the rules and types: prices of the cluster, in integers.

Let v_i(x) be what x tasks are worth to user i, u_ij(x) what they need of resource j, ceilings of groups among them, and
l_i the fewest tasks that she has in anything better: her guarantee where all are kept, and one of a product.

Claim.   At any prices p >= 0 nothing better is worth more than  p . c + sum_i max { v_i(x) - p . u_i(x) : x >= l_i }.
Proof.   What can run needs no more than c, so that it is worth at most sum_i v_i(x_i) + p . (c - sum_i u_i(x_i)).  []

A machine is at most its part of the whole cluster, so the same holds on machines.  A linear program over all numbers of
tasks finds prices in floats; what they prove is computed in integers, of logarithms with the last digit rounded up, and
of a sum rounded down to what sums can be.
"""

import math
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from operator import mul

from ..base.solvers.table import program
from ..model.whole_values import WholeUsers
from .exhaustive_search import powers

__all__ = ["room_above"]

NUMBERS = 20_000
"""Numbers of tasks, of all users together, up to which each is a column of the program."""

DIGITS = Context(prec=40)

UNIT = 2**80
"""Parts of one in which prices and values are counted."""

SECONDS = 2.0
"""Time that HiGHS has for the prices; any are right."""


def room_above(users: WholeUsers, tasks: Sequence[int]) -> Fraction | None:
    """Return by how much tasks of the members can be exceeded: in levels of a sum, in logarithms of a product.

    None where that is not known: too many numbers of tasks, a product in which somebody has nothing, or a product with
    guarantees that are not all kept.
    """
    product = users.policy.objective != "sum"
    kept = not users.broken(users.spread(list(tasks)))
    if product and not (kept and all(tasks)):
        return None
    least = [max(int(product), f if kept else 0) for f in users.promises]
    if sum(most - low + 1 for most, low in zip(users.most, least, strict=True)) > NUMBERS:
        return None
    rows, room = users.pool_rows
    unit = UNIT * (1 if product else math.lcm(*(rate.denominator for rate in users.rates)))
    weights = [w * unit for w in powers(users.incomes)] if product else [int(rate * unit) for rate in users.rates]
    values: list[dict[int, int]] = []
    needs: list[dict[int, list[int]]] = []
    own = 0
    for p, sequence in enumerate(users.sequences):
        goods = [rows[good] for good in users.goods_of[p]]
        numbers = range(least[p], users.most[p] + 1)
        needs.append(
            {x: [sum(map(mul, sequence.started(x), column)) for column in zip(*goods, strict=True)] for x in numbers}
        )
        values.append({x: _upper(weights[p], x) if product else weights[p] * x for x in numbers})
        own += _lower(weights[p], tasks[p]) if product else weights[p] * tasks[p]
    prices = _prices(values, needs, room, unit)
    most = sum(map(mul, prices, room))
    for value, need in zip(values, needs, strict=True):
        most += max(worth - sum(map(mul, prices, need[x])) for x, worth in value.items())
    if not product:
        most -= most % UNIT  # the sum of so many rates is a whole number of these
    return Fraction(max(most - own, 0), unit)


def _upper(weight: int, x: int) -> int:
    # The neighbour of 0 has a million digits, and the logarithm of 1 none.
    return math.ceil(weight * Fraction(DIGITS.next_plus(DIGITS.ln(Decimal(x))))) if x > 1 else 0


def _lower(weight: int, x: int) -> int:
    return math.floor(weight * Fraction(DIGITS.next_minus(DIGITS.ln(Decimal(x))))) if x > 1 else 0


def _prices(values: list[dict[int, int]], needs: list[dict[int, list[int]]], room: list[int], unit: int) -> list[int]:
    """Return prices of one unit of everything, in parts: the multipliers of the linear program of all numbers."""
    import highspy

    top = float(max((worth for value in values for worth in value.values()), default=1) or 1)
    cost: list[float] = []
    choice: list[dict[int, float]] = []
    used: list[dict[int, float]] = [{} for _ in room]
    for value, need in zip(values, needs, strict=True):
        choice.append({})
        for x, worth in value.items():
            choice[-1][len(cost)] = 1.0
            for j, (amount, c) in enumerate(zip(need[x], room, strict=True)):
                if amount:
                    used[j][len(cost)] = amount / max(c, 1)
            cost.append(-worth / top)
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("time_limit", SECONDS)
    limits = [(-math.inf, min(c, 1.0), row) for c, row in zip(room, used, strict=True)]
    ones = [(1.0, 1.0, row) for row in choice]
    highs.passModel(program(cost, [0.0] * len(cost), [1.0] * len(cost), limits + ones))
    highs.run()
    duals = list(highs.getSolution().row_dual)[: len(room)] or [0.0] * len(room)
    return [round(Fraction(max(0.0, -dual) * top) / max(c, 1)) for dual, c in zip(duals, room, strict=True)]
