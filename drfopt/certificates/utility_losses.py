"""What whole tasks lose against a bound of their Nash product or alpha fairness by prices, in integers.

Let u_i be what tasks are worth to user i, p >= 0 prices and f_i(x) = u_i(x) - x (p . d_i), which is concave.  For whole
tasks x within the capacity c,

    sum_i u_i(x_i)  =  sum_i P_i  +  p . c  -  [ sum_i (P_i - f_i(x_i))  +  p . (c - used) ]

where P_i is f_i at its largest, or more, and what is in brackets, the *loss*, is a sum of terms that are never
negative.  Whatever is worth no less than an allocation loses no more.

Members alike in everything are a *kind*: of its n members with X tasks together X mod n have one task more than the
others, since u is concave, and any other way to deal them is worth no more.  So a kind has one term.

All is in units of which prices are integers.  Utilities are known within `ERROR` units: a term is rounded down, so that
no allocation loses less than its terms say, and the loss of an allocation at hand is rounded up.

Machines are a pool of all that they have; prices of tasks, of which no packing can be worth more than so much, are more
such resources (`priced_halves`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np

from ..base.deadline import NEVER, Deadline
from ..base.errors import TimeLimitError
from ..model.packings import integer_rows
from ..model.whole_values import WholeUsers
from .exhaustive_search import powers, worth
from .verifier.alpha_utility import AlphaUtility

__all__ = ["BITS", "ERROR", "LARGE", "Mixture", "TooManyChoices", "UtilityLosses"]

ERROR = 2
"""Units by which a utility that is rounded down may be larger."""

BITS = 52
"""Of what all that there is costs, in units: losses that matter are a thousandth of it, sums of them fit in 64 bits."""

LARGE = 2**53
"""Amounts up to here are exact, in numpy's integers and floats."""

WINDOW = 2_000
"""Tasks of one user's window at most."""

NEAR = 3
"""Tasks about a user's best that are mixed to find prices."""

FARTHER = (0.25, 0.5, 0.75, 1.25, 2.0, 4.0)
"""Parts and multiples of a user's best that are mixed as well: its best may be elsewhere."""

MIXTURES = 20
"""Programs of mixtures that are solved at most: each knows the best of the one before it."""

WORST = 1e6
"""What tasks may be worth less than a user's middle, in a program of mixtures: more is beyond a solver's tolerance."""

FARTHEST = 100.0
"""Logarithm of what tasks may be worth in floats, in units of what they are about a common level."""

DIGITS = 30
"""Digits to which a common level's power is known."""

ROUNDED = 1 + Fraction(1, 10 ** (DIGITS - 2))
"""What a bound is raised by for it."""

CONTEXT = Context(prec=45)


QUICK = 1.0
"""Seconds that a program of mixtures may take where time has run out already."""

OUT_OF_TIME = 1
"""What linprog calls that."""

SEARCHED = "the search near a bound"
"""What is said to have been looked for when the time is up."""


class TooManyChoices(Exception):
    """There are too many choices to list, or numbers are beyond 64 bits."""


@dataclass(frozen=True)
class Mixture:
    """Prices of the resources, (m,), and mean tasks of the members, (n,)."""

    prices: np.ndarray
    tasks: np.ndarray


class UtilityLosses:
    """The terms of the loss of each member's tasks, and of what is left over.

    Parameters
    ----------
    users : WholeUsers
        Of a Nash product or alpha fairness, who may run a task each: where users served come first, all of them do.
    more : sequence of (needs, room)
        Resources besides those of the cluster: what a task of each member needs, and what there is.

    Attributes
    ----------
    value : callable
        From tasks of the members to what is compared exactly, larger is better.
    kinds : list of list of int
        Members alike in what a task needs and where it runs, most tasks, income and rate.
    fit : bool
        Whether the least tasks of all members fit.
    prices, cost : list of int
        Of each resource, and of a task of each member.
    mixed : Mixture
        What is worth most of mixtures of whole numbers.
    best : list of int
        A number of tasks near that which is worth most beyond its cost.
    """

    def __init__(self, users: WholeUsers, more: Sequence[tuple[Sequence[int], int]] = (), deadline: Deadline = NEVER):
        instance, policy = users.instance, users.policy
        rows, room = integer_rows([instance.exact_demands[i] for i in users.members], instance.exact_capacity)
        self.rows = [[*row, *(needs[p] for needs, _ in more)] for p, row in enumerate(rows)]
        self.room = [*room, *(most for _, most in more)]
        self.most, self.value, self.least = users.most, worth(users), int(users.serving)
        self.weights = users.incomes
        alike: dict[tuple, list[int]] = {}
        for p, goods in enumerate(users.goods_of):
            alike.setdefault((goods, self.most[p], self.weights[p], users.market_rates[p]), []).append(p)
        self.kinds = list(alike.values())
        self.fit = all(self.least * sum(row[j] for row in self.rows) <= total for j, total in enumerate(self.room))
        together = [len(kind) * self.most[kind[0]] for kind in self.kinds]
        if max(max(self.room, default=0), max(map(max, self.rows), default=0), *together) >= LARGE:
            raise TooManyChoices
        self.alpha = policy.alpha
        self.utility = None if policy.alpha == 1 else AlphaUtility(Fraction(str(policy.alpha)))
        # In units of a level that all can have, or near it, what any tasks are worth is no number beyond floats.
        self.common = self._common([float(rate) for rate in users.market_rates])
        self.rates = [rate / self.common for rate in users.market_rates]
        self.demands = np.array(self.rows, dtype=np.int64)
        self.mixed = self._mixture(deadline)
        prices = self.mixed.prices
        whole = float(prices @ self.room) or float(sum(self.weights))
        self.unit = Fraction(2) ** round(BITS - math.log2(whole))
        self.prices = [round(Fraction(p) * self.unit) for p in prices.tolist()]
        self.cost = [sum(p * d for p, d in zip(self.prices, row, strict=True)) for row in self.rows]
        self.known: dict[tuple[int, int], int] = {}
        self.best = [self._nearby(p) for p in range(len(self.most))]
        self.peak = [self._peak(p) for p in range(len(self.most))]
        self.left = self.remaining(self.best)
        self.margin = ERROR * len(self.most)

    def remaining(self, tasks: Sequence[int]) -> list[int]:
        """Return what whole tasks of the members leave of each resource; below 0 where they do not fit."""
        return [
            total - sum(int(x) * row[j] for x, row in zip(tasks, self.rows, strict=True))
            for j, total in enumerate(self.room)
        ]

    def loss(self, tasks: Sequence[int]) -> int:
        """Return the loss of whole tasks of the members, rounded up: by `margin` at most."""
        terms = sum(self.peak[p] - self._low(p, int(x)) for p, x in enumerate(tasks))
        return terms + sum(price * f for price, f in zip(self.prices, self.remaining(tasks), strict=True))

    def window(self, kind: Sequence[int], limit: int, deadline: Deadline = NEVER) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of tasks of all of a kind whose terms are within the limit, and the terms, least first.

        Beyond one whose term is not, on the side away from the best, no term is: what tasks are worth is concave.

        Raises
        ------
        TooManyChoices, TimeLimitError
        """
        p, number = kind[0], len(kind)
        found: dict[int, int] = {}
        for step in (-1, 1):
            x = number * self.best[p] + min(step, 0)
            while number * self.least <= x <= number * self.most[p]:
                deadline.check(SEARCHED)
                each, more = divmod(x, number)
                term = (number - more) * self._term(p, each) + (more * self._term(p, each + 1) if more else 0)
                if term > limit:
                    break
                found[x] = term
                if len(found) > WINDOW:
                    raise TooManyChoices
                x += step
        if max(found.values(), default=0) > np.iinfo(np.int64).max:
            raise TooManyChoices
        order = sorted(found, key=lambda x: (found[x], x))
        return np.array(order, dtype=np.int64), np.array([found[x] for x in order], dtype=np.int64)

    def _term(self, p: int, x: int) -> int:
        return max(self.peak[p] - self._low(p, x) - ERROR, 0)

    def gain(self, p: int, x: int) -> float:
        """Return about what a task after x of a member's is worth, in logarithms: of large alpha it is no float."""
        alpha, rate = float(self.alpha), float(self.rates[p])
        return math.log(float(self.weights[p])) + (1 - alpha) * math.log(rate) - alpha * math.log(x + 0.5)

    # ---- what tasks are worth ------------------------------------------------------------------------------------

    def _low(self, p: int, x: int) -> int:
        """Return what x tasks are worth beyond their cost, in units, rounded down: at most `ERROR` below."""
        if (p, x) not in self.known:
            weight = self.weights[p] * self.unit
            if not x:
                found = 0
            elif self.utility is None:
                found = math.floor(weight * Fraction(CONTEXT.ln(Decimal(x)))) - 1
            else:
                found = self.utility.units(weight, self.rates[p] * x, 1)
            self.known[p, x] = found - x * self.cost[p]
        return self.known[p, x]

    def _nearby(self, p: int) -> int:
        """Return about where a member's tasks are worth most beyond their cost."""
        most = self.most[p]
        x = self._response(p, float(Fraction(self.cost[p]) / self.unit))
        for step in (1, -1):
            while self.least <= x + step <= most and self._low(p, x + step) > self._low(p, x):
                x += step
        return x

    def _peak(self, p: int) -> int:
        """Return no less than what any tasks of a member are worth beyond their cost.

        From one number of tasks to the next they rise less and less, so that the first step bounds all of them.
        """
        x, found = self.best[p], 0
        for step, far in ((1, self.most[p]), (-1, self.least)):
            if x != far:
                rise = self._low(p, x + step) + ERROR - self._low(p, x)
                found = max(found, rise * abs(far - x))
        return self._low(p, x) + ERROR + found

    def room_above(self, tasks: Sequence[int]) -> Fraction:
        """Return by how much another allocation can be worth more at most: of a product, in logarithms."""
        lost = Fraction(self.loss(tasks)) / self.unit
        if self.utility is None:
            return lost * powers(self.weights)[0] / self.weights[0]
        return lost * self.utility.about(self.common, DIGITS) * ROUNDED

    # ---- prices: in floats, since any are right ------------------------------------------------------------------

    def _common(self, rates: Sequence[float]) -> Fraction:
        """Return a power of two near the level that all could have in a pool."""
        used = [sum(row[j] / rate for row, rate in zip(self.rows, rates, strict=True)) for j in range(len(self.room))]
        level = min((total / d for total, d in zip(self.room, used, strict=True) if d and total), default=1.0)
        return Fraction(2) ** round(math.log2(level))

    def _response(self, p: int, cost: float) -> int:
        """Return about the tasks that are worth most to a member beyond such a cost of each."""
        most = self.most[p]
        if cost <= 0:
            return most
        alpha, rate = float(self.alpha), float(self.rates[p])
        at = (math.log(float(self.weights[p])) + (1 - alpha) * math.log(rate) - math.log(cost)) / alpha
        return most if at >= math.log(most) else max(self.least, math.floor(math.exp(at)))

    def _worth(self, p: int, x: int) -> float:
        if not x:
            return 0.0
        log, power = math.log(float(self.rates[p]) * x), 1 - float(self.alpha)
        return float(self.weights[p]) * (math.exp(min(power * log, FARTHEST)) / power if power else log)

    def _mixture(self, deadline: Deadline) -> Mixture:
        """Return the mixtures of whole numbers that are worth most: at their prices the losses are least.

        Raises
        ------
        TimeLimitError
            Where a linear program of so many members takes longer than is left, and than `QUICK`.
        """
        from scipy.optimize import linprog
        from scipy.sparse import csr_array

        n, room = len(self.most), np.maximum(np.array(self.room, dtype=float), 1.0)
        shares = self.demands / room
        columns = [self._about(p, round(1 / float(rate))) for p, rate in enumerate(self.rates)]
        mixed = Mixture(np.zeros(len(room)), np.zeros(n))
        options = {} if deadline is NEVER else {"time_limit": deadline.left(QUICK)}
        for _ in range(MIXTURES):
            user = np.repeat(np.arange(n), [len(row) for row in columns])
            tasks = np.concatenate([sorted(row) for row in columns]).astype(float)
            value = np.concatenate([self._values(p, sorted(row)) for p, row in enumerate(columns)])
            one = csr_array((np.ones(len(user)), (user, np.arange(len(user)))))
            found = linprog(
                -value, (shares[user] * tasks[:, None]).T, np.ones(len(room)), one, np.ones(n), options=options
            )
            if found.status == OUT_OF_TIME and not mixed.prices.any():
                raise TimeLimitError("the prices of the largest product took longer than was left")
            if found.status != 0:
                break
            prices = np.maximum(-found.ineqlin.marginals, 0.0)
            mixed = Mixture(prices / room, np.bincount(user, weights=tasks * found.x, minlength=n))
            chosen = [self._response(p, cost) for p, cost in enumerate((shares @ prices).tolist())]
            new = [self._about(p, x) - row for (p, x), row in zip(enumerate(chosen), columns, strict=True)]
            if all(x in row and x + 1 not in fresh for x, row, fresh in zip(chosen, columns, new, strict=True)):
                break
            columns = [row | fresh for row, fresh in zip(columns, new, strict=True)]
        return mixed

    def _about(self, p: int, x: int) -> set[int]:
        near = [*range(x - NEAR, x + NEAR + 1), *(math.floor(x * part) for part in FARTHER), self.least]
        return {min(max(x, self.least), self.most[p]) for x in near}

    def _values(self, p: int, tasks: Sequence[int]) -> np.ndarray:
        worth = np.array([self._worth(p, x) for x in tasks])
        return np.maximum(worth - worth.max(), -WORST * float(self.weights[p]))
