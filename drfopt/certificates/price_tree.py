"""Has anything a larger Nash product than these whole tasks of a pool?  Branch and bound on prices, in integers.

For prices p >= 0 and any whole tasks x within the capacities c and within a box l <= x <= u,

    sum_i w_i log x_i  <=  p . c  +  sum_i max over l_i <= v <= u_i of ( w_i log v - v (p . d_i) )

A leaf of the tree is a box with prices at which the right side is no more than the value of the tasks at hand, or a
box of one allocation, which is compared exactly.  A branch splits the numbers of tasks of one user.

Prices come from the duals of a linear program of mixtures of whole numbers, by HiGHS, and are rounded: any prices are
right.  The bound is computed in integers: a logarithm is known from below and from above, to `PLACES` decimals, by
correctly rounded decimals, and the tasks at which a term is largest are found on its concave graph.  Nothing of this is
shared with the search that finds products (`meet_in_the_middle`), which has fixed prices and lists allocations.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from ..base.deadline import NEVER, Deadline
from ..base.solvers.rows import program
from ..model.instance import Instance
from ..model.packings import integer_rows, most_alone
from .exhaustive_search import powers

__all__ = ["Undecided", "better", "larger"]

PLACES = 40
"""Decimals of a logarithm."""

UNIT = 10**PLACES

NODES = 4_000
"""Boxes that are looked at before the search gives up: some seconds."""

WINDOW = 8
"""Tasks on either side of where a user's own price puts it that are mixed by the linear program of a box."""

USERS = 150
"""Users beyond which a box takes too long to be one of thousands."""

MIXED = 1e-6
"""Weight of a mixture beside another that is worth splitting."""

CONTEXT = Context(prec=PLACES + 30)


class Undecided(Exception):
    """The tree grows too large."""


@cache
def _log(x: int) -> int:
    """Return log x in units of 10^-PLACES, rounded down: the logarithm is at most one unit above."""
    return int((CONTEXT.ln(Decimal(x)) * UNIT).to_integral_value(ROUND_FLOOR)) - 1 if x > 1 else 0


def _log_above(x: int) -> int:
    return _log(x) + 3 if x > 1 else 0


def better(
    instance: Instance, members: Sequence[int], tasks: Sequence[int], deadline: Deadline = NEVER, nodes: int = NODES
) -> list[int] | None:
    """Return whole tasks of the members with a larger product, or None where the tree proves that there are none.

    Raises
    ------
    Undecided
        When the tree grows too large, or the linear program does not tell where to split.
    TimeLimitError
    """
    if len(members) > USERS or not all(tasks):
        raise Undecided
    return _Tree(instance, members, tasks, deadline, nodes).grow()


@dataclass(frozen=True)
class _Box:
    """Least and most tasks of every user."""

    low: tuple[int, ...]
    high: tuple[int, ...]

    def split(self, i: int, at: int) -> list["_Box"]:
        """Return the box cut in up to three: below, at and above a number of tasks of user i."""
        ends = [(self.low[i], at - 1), (at, at), (at + 1, self.high[i])]
        return [
            _Box((*self.low[:i], a, *self.low[i + 1 :]), (*self.high[:i], b, *self.high[i + 1 :]))
            for a, b in ends
            if a <= b
        ]

    def halves(self, i: int, most: int) -> list["_Box"]:
        """Return the box cut in two, after a number of tasks of user i."""
        return [
            _Box(self.low, (*self.high[:i], most, *self.high[i + 1 :])),
            _Box((*self.low[:i], most + 1, *self.low[i + 1 :]), self.high),
        ]


class _Tree:
    """The boxes still to be refuted."""

    def __init__(
        self, instance: Instance, members: Sequence[int], tasks: Sequence[int], deadline: Deadline, nodes: int
    ):
        self.deadline, self.left, self.own = deadline, nodes, list(tasks)
        weights = [instance.exact_weights[i] for i in members]
        self.weights, self.powers = weights, powers(weights)
        self.rows, self.room = integer_rows([instance.exact_demands[i] for i in members], instance.exact_capacity)
        self.most = [most_alone(instance, i) for i in members]
        self.value = sum(w * _log(x) for w, x in zip(self.powers, tasks, strict=True))
        self.mixtures = _Mixtures(self.rows, self.room, self.most, self.powers, self.own)

    def grow(self) -> list[int] | None:
        waiting = [_Box((1,) * len(self.most), tuple(self.most))]
        while waiting:
            self.left -= 1
            if self.left < 0:
                raise Undecided
            self.deadline.check("the proof of the largest product")
            box = self._tightened(waiting.pop())
            if box is None:
                continue
            if box.low == box.high:
                if larger(self.weights, box.low, self.own):
                    return list(box.low)
                continue
            mixed, prices = self.mixtures.solve(box)
            if self._bounded(box, prices):
                continue
            waiting += self._split(box, mixed)
        return None

    def _tightened(self, box: _Box) -> _Box | None:
        """Return the box without what does not fit beside the least of everybody else; None where nothing is left."""
        used = [sum(x * row[j] for x, row in zip(box.low, self.rows, strict=True)) for j in range(len(self.room))]
        left = [total - u for total, u in zip(self.room, used, strict=True)]
        if min(left) < 0:
            return None
        high = []
        for low, top, row in zip(box.low, box.high, self.rows, strict=True):
            high.append(min(top, low + min(f // d for f, d in zip(left, row, strict=True) if d)))
        return _Box(box.low, tuple(high))

    def _bounded(self, box: _Box, prices: Sequence[float]) -> bool:
        """Say whether nothing in the box has a larger product, by prices: in integers."""
        # Prices of integer units, in the units of the logarithms.
        whole = [int(Decimal(price) * UNIT) if price > 0 else 0 for price in prices]
        bound = sum(p * c for p, c in zip(whole, self.room, strict=True))
        for low, high, w, row in zip(box.low, box.high, self.powers, self.rows, strict=True):
            bound += _most(low, high, w, sum(p * d for p, d in zip(whole, row, strict=True)))
        return bound <= self.value

    def _split(self, box: _Box, mixed: list[dict[int, float]]) -> list[_Box]:
        """Return the parts of a box: where a mixture is not one number, else around the tasks at hand."""
        loose = [(min(w for w in mix.values()), i) for i, mix in enumerate(mixed) if len(mix) > 1]
        if loose:
            # The mixture that is nearest to half and half.
            _, i = max(loose)
            middle = sum(x * w for x, w in mixed[i].items()) / sum(mixed[i].values())
            return box.halves(i, min(max(math.floor(middle), box.low[i]), box.high[i] - 1))
        i = next(k for k, (a, b) in enumerate(zip(box.low, box.high, strict=True)) if a < b)
        at = next(iter(mixed[i]), self.own[i])
        return box.split(i, min(max(at, box.low[i]), box.high[i]))


def _most(low: int, high: int, weight: int, cost: int) -> int:
    """Return a bound of ``weight * log v - v * cost`` over whole v in low..high, in units of the logarithms.

    A logarithm is up to three units too large here.  Where the next term is not larger than this one, the true terms
    fall from then on or rise by less than that a step, since they are concave.
    """

    def term(v: int) -> int:
        return weight * _log_above(v) - v * cost

    v = min(max(weight * UNIT // cost, low), high) if cost else high
    while v < high and term(v + 1) > term(v):
        v += 1
    while v > low and term(v - 1) > term(v):
        v -= 1
    return term(v) + 3 * weight * (high - low + 1)


class _Mixtures:
    """The linear program of a box: of each user a mixture of whole numbers of tasks, worth most within the room."""

    def __init__(
        self,
        rows: Sequence[Sequence[int]],
        room: Sequence[int],
        most: Sequence[int],
        powers: Sequence[int],
        own: Sequence[int],
    ):
        self.scale = float(max(powers))
        self.units = [float(max(total, 1)) for total in room]
        self.values = [range(max(1, x - WINDOW), min(top, x + WINDOW) + 1) for x, top in zip(own, most, strict=True)]
        cost: list[float] = []
        terms = [dict[int, float]() for _ in room]
        sums: list[dict[int, float]] = []
        for i, values in enumerate(self.values):
            sums.append({})
            for v in values:
                column = len(cost)
                cost.append(-powers[i] / self.scale * math.log(v / own[i]))
                sums[i][column] = 1.0
                for j, d in enumerate(rows[i]):
                    if d:
                        terms[j][column] = v * d / self.units[j]
        stated = [(-math.inf, total / unit, row) for total, unit, row in zip(room, self.units, terms, strict=True)]
        stated += [(1.0, 1.0, row) for row in sums]
        import highspy

        self.highs: Any = highspy.Highs()
        self.highs.setOptionValue("output_flag", False)
        self.highs.setOptionValue("presolve", "off")
        self.highs.passModel(program(cost, [0.0] * len(cost), [math.inf] * len(cost), stated))
        self.columns = np.arange(len(cost), dtype=np.int32)
        self.owner = np.repeat(np.arange(len(own)), [len(v) for v in self.values])
        self.number = np.concatenate([np.array(v) for v in self.values])

    def solve(self, box: _Box) -> tuple[list[dict[int, float]], list[float]]:
        """Return the mixtures, and the prices of a unit of each resource in the units of the weights.

        Raises
        ------
        Undecided
            When a user has none of its numbers in the box, or the program ends without duals.
        """
        inside = (self.number >= np.array(box.low)[self.owner]) & (self.number <= np.array(box.high)[self.owner])
        if len(set(self.owner[inside].tolist())) < len(box.low):
            # Far from the tasks at hand the prices of before have to do.
            return [{} for _ in box.low], getattr(self, "last", [0.0] * len(self.units))
        high = np.where(inside, np.inf, 0.0)
        self.highs.changeColsBounds(len(high), self.columns, np.zeros(len(high)), high)
        self.highs.run()
        found = self.highs.getSolution()
        if not found.dual_valid:
            raise Undecided
        status = self.highs.getModelStatus()
        import highspy

        if status != highspy.HighsModelStatus.kOptimal:
            return [{} for _ in box.low], getattr(self, "last", [0.0] * len(self.units))
        duals = [max(0.0, -value) * self.scale / unit for value, unit in zip(found.row_dual, self.units, strict=False)]
        self.last = duals
        mixed: list[dict[int, float]] = [{} for _ in box.low]
        for column, weight in enumerate(found.col_value):
            if weight > MIXED:
                mixed[self.owner[column]][int(self.number[column])] = weight
        return mixed, duals


# ---- exact comparisons ---------------------------------------------------------------------------------------------


def larger(weights: Sequence[Fraction], tasks: Sequence[int], others: Sequence[int]) -> bool:
    """Say whether tasks, each 1 or more, have a larger weighted product than others: exactly, whatever the weights.

    Logarithms of more and more digits decide; that two products are the same, their factors do.
    """
    raised = powers(weights)
    changed = [(w, x, y) for w, x, y in zip(raised, tasks, others, strict=True) if x != y]
    for digits in (40, 160, 640):
        context = Context(prec=digits)
        terms = [(w, Fraction(context.ln(Decimal(x))), Fraction(context.ln(Decimal(y)))) for w, x, y in changed]
        total = sum((w * (one - other) for w, one, other in terms), Fraction(0))
        # Each logarithm is rounded to so many digits.
        error = sum((w * (one + other) for w, one, other in terms), Fraction(0)) / 10 ** (digits - 1)
        if abs(total) > error:
            return total > 0
        if _same_product([(w, x) for w, x, _ in changed] + [(-w, y) for w, _, y in changed]):
            return False
    raise ArithmeticError(f"two products are the same to {digits} digits and not equal")


def _same_product(terms: list[tuple[int, int]]) -> bool:
    """Say whether the product of x to the power w is 1: numbers are broken up until none has a factor of another."""
    left = [(w, x) for w, x in terms if x > 1]
    base: dict[int, int] = {}
    while left:
        w, x = left.pop()
        shared = next((b for b in base if math.gcd(b, x) > 1), None)
        if shared is None:
            base[x] = w
            continue
        common = math.gcd(shared, x)
        power = base.pop(shared)
        left += [(power + w, common), (power, shared // common), (w, x // common)]
        left = [(v, b) for v, b in left if b > 1 and v]
    return not any(base.values())
