"""Has anything a strictly larger product, utility or sum than these whole tasks?  Exact searches, without a solver.

Of a pool: users in turn, each with every number of tasks, the rest bounded by what each could have alone.

Under rules, or of several types: compared is first what is kept of guarantees (`WholeUsers.parts`), then the sum,
or users served and the product.  All of it only grows with the tasks of anybody, and whatever fits leaves room for all
that is less.  So users are given numbers of tasks in turn, most first; the rest is bounded by what each could have
alone beside those.  Whether tasks fit is decided in integers (`packable`).
"""

import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ..base.deadline import NEVER, Deadline
from ..model.instance import Instance
from ..model.packings import integer_rows, most_alone
from ..model.policies import Policy
from ..model.whole_values import WholeUsers
from .branch_and_cut import Inconclusive
from .packable import Packable
from .verifier.alpha_utility import AlphaUtility

__all__ = [
    "SearchTooLong",
    "UtilitySum",
    "better",
    "better_under_rules",
    "exactly",
    "playing",
    "powers",
    "products",
    "worth",
]

EXPONENT = 1000
"""Largest exponent to which tasks are raised exactly; weights such as 0.3333333333333333 would need one of 10^16."""

DIGITS = 60
"""Digits of the logarithm that stands for the product beyond it: equal to so many digits counts as equal."""


def powers(weights: Sequence[Fraction]) -> list[int]:
    """Return the smallest integers in the proportions of the weights."""
    scale = math.lcm(*(weight.denominator for weight in weights)) if weights else 1
    raised = [int(weight * scale) for weight in weights]
    common = math.gcd(*raised) or 1
    return [power // common for power in raised]


def exactly(weights: Sequence[Fraction]) -> bool:
    """Say whether products under these weights are compared in integers, and not by digits of their logarithms."""
    return max(powers(weights), default=1) <= EXPONENT


def products(weights: Sequence[Fraction]) -> Callable[[Sequence[int]], tuple]:
    """Return the function from tasks (n,) to (users with a task, product over them); larger is better.

    The product is an exact integer when the weights are small multiples of one number; otherwise its logarithm, to
    `DIGITS` digits.
    """
    raised = powers(weights)
    if exactly(weights):
        return lambda tasks: (
            sum(1 for x in tasks if x),
            math.prod(x**power for x, power in zip(tasks, raised, strict=False) if x),
        )
    context = Context(prec=DIGITS + 10)
    logarithms: dict[int, Decimal] = {}

    def log(x: int) -> Decimal:
        if x not in logarithms:
            logarithms[x] = context.ln(Decimal(x))
        return logarithms[x]

    def value(tasks: Sequence[int]) -> tuple:
        total = sum((power * log(x) for x, power in zip(tasks, raised, strict=False) if x), Decimal(0))
        return sum(1 for x in tasks if x), total.normalize(Context(prec=DIGITS))

    return value


NODES, ALLOCATIONS = 50_000, 20_000
"""Branches of a pool, and allocations under rules, looked at before a search gives up: some seconds."""

USERS = 400
"""Users beyond which the search, which looks at one after the other, is not begun."""


class SearchTooLong(Exception):
    """More would have to be looked at than may be: branches, or digits of two sums."""


def playing(instance: Instance) -> list[int]:
    """Return the users who are placed and may run at least one whole task."""
    return np.flatnonzero(~instance.unplaced(integer=True) & (instance.whole_limits > 0)).tolist()


def better(
    instance: Instance, policy: Policy, tasks: list[int], deadline: Deadline = NEVER, most: int | None = None
) -> list[int] | None:
    """Return tasks of the members in the pool that are strictly better; [] for none, None for too many branches.

    `most` is how many they may be, where fewer than `NODES` are wanted.
    """
    members = playing(instance)
    if not members:
        return []
    if len(members) > USERS:
        return None
    try:
        return _Product(
            instance, policy, members, tasks, _Budget(NODES if most is None else min(most, NODES), deadline)
        ).better()
    except SearchTooLong:
        return None


class _Budget:
    def __init__(self, nodes: int, deadline: Deadline):
        self.left, self.deadline = nodes, deadline

    def spend(self) -> None:
        """Count a branch, or an allocation."""
        self.left -= 1
        if self.left < 0:
            raise SearchTooLong
        self.deadline.check("the exact search for something better")


def _sums(rates: Sequence[Fraction]) -> Callable[[Sequence[int]], tuple]:
    return lambda tasks: (sum((r * x for r, x in zip(rates, tasks, strict=False)), Fraction(0)),)


class _Product:
    """The search over numbers of tasks, for the product (with users served first) and for sums."""

    def __init__(self, instance: Instance, policy: Policy, members: list[int], tasks: list[int], budget: _Budget):
        self.demands, self.room = integer_rows([instance.exact_demands[i] for i in members], instance.exact_capacity)
        self._value = _value(WholeUsers(instance, policy, members))
        self.most = [most_alone(instance, i) for i in members]
        self.own = self._value([tasks[i] for i in members])
        self.budget = budget

    def better(self) -> list[int]:
        """Return an allocation of strictly larger value; [] for none."""
        return self._extend(0, tuple(self.room), [])

    def _extend(self, position: int, left: tuple[int, ...], chosen: list[int]) -> list[int]:
        self.budget.spend()
        if position == len(self.demands):
            return chosen if self._value(chosen) > self.own else []
        # What everybody else could have alone of what is left bounds every continuation.
        alone = [self._alone(i, left) for i in range(position, len(self.demands))]
        if not self._value([*chosen, *alone]) > self.own:
            return []
        row = self.demands[position]
        for x in range(alone[0], -1, -1):
            rest = tuple(f - x * d for f, d in zip(left, row, strict=True))
            if found := self._extend(position + 1, rest, [*chosen, x]):
                return found
        return []

    def _alone(self, i: int, left: tuple[int, ...]) -> int:
        return min(self.most[i], min(f // d for f, d in zip(left, self.demands[i], strict=True) if d))


class UtilitySum(Fraction):
    """A sum of weighted utilities to `DIGITS` digits, compared with others exactly.

    Attributes
    ----------
    utility : AlphaUtility
    terms : list of (weight, level)
    error : Fraction
        How much larger the true sum is at most.
    """

    __slots__ = ("error", "terms", "utility")
    utility: AlphaUtility
    terms: list[tuple[Fraction, Fraction]]
    error: Fraction

    @classmethod
    def of(
        cls, value: Fraction, utility: AlphaUtility, terms: list[tuple[Fraction, Fraction]], error: Fraction
    ) -> "UtilitySum":
        """Return the sum of the terms, whose value is known up to an error."""
        found = cls(value)
        found.utility, found.terms, found.error = utility, terms, error
        return found

    def __reduce__(self) -> Any:
        return UtilitySum.of, (Fraction(self), self.utility, self.terms, self.error)

    def __eq__(self, other: object) -> bool:
        return not self._beyond(other) if isinstance(other, UtilitySum) else super().__eq__(other)

    def __lt__(self, other: Any) -> bool:
        return self._beyond(other) < 0 if isinstance(other, UtilitySum) else bool(super().__lt__(other))

    def __gt__(self, other: Any) -> bool:
        return self._beyond(other) > 0 if isinstance(other, UtilitySum) else bool(super().__gt__(other))

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    __hash__ = Fraction.__hash__

    def _beyond(self, other: "UtilitySum") -> Fraction | int:
        if abs(apart := self - other) > self.error + other.error:
            return apart
        if (sign := self.utility.sign([*self.terms, *((-weight, level) for weight, level in other.terms)])) is None:
            raise SearchTooLong
        return sign


def _utilities(users: WholeUsers, mine: Sequence[int]) -> Callable[[Sequence[int]], tuple]:
    """Return the function from tasks of some to (users with a task, for alpha above 1; the sum of utilities)."""
    utility, serving = AlphaUtility(Fraction(str(users.policy.alpha))), users.serving
    known: dict[tuple[int, int], int] = {}
    rows = [(users.incomes[p], users.market_rates[p]) for p in mine]
    ends = (
        abs(utility.about(rate * x, 10))
        for (_, rate), p in zip(rows, mine, strict=True)
        for x in (1, users.most[p])
        if x
    )
    unit = math.ceil(10**DIGITS / max(ends, default=1)) + 1

    def one(p: int, x: int) -> int:
        if (p, x) not in known:
            weight, rate = rows[p]
            known[p, x] = utility.units(weight, rate * x, unit)
        return known[p, x]

    def value(tasks: Sequence[int]) -> tuple:
        terms = [(rows[p][0], rows[p][1] * x) for p, x in enumerate(tasks) if x]
        units = sum(one(p, x) for p, x in enumerate(tasks) if x)
        found = UtilitySum.of(Fraction(units, unit), utility, terms, Fraction(2 * len(terms), unit))
        return (len(terms), found) if serving else (found,)

    return value


def _value(users: WholeUsers) -> Callable[[Sequence[int]], tuple]:
    """Return what tasks are worth: to the first tier that is served, then to the second, and so on."""
    if len(users.tiers) < 2:
        return _of_tier(users, range(len(users.members)))
    tiers = [(mine, _of_tier(users, mine)) for mine in users.tiers]
    return lambda tasks: tuple(number for mine, value in tiers for number in value([tasks[p] for p in mine]))


def _of_tier(users: WholeUsers, mine: Sequence[int]) -> Callable[[Sequence[int]], tuple]:
    if users.policy.objective == "sum":
        return _sums([users.rates[p] for p in mine])
    return products([users.incomes[p] for p in mine]) if users.policy.alpha == 1 else _utilities(users, mine)


def worth(users: WholeUsers) -> Callable[[Sequence[int]], tuple]:
    """Return the function from the members' tasks to what is compared, larger is better, in exact numbers."""
    value = _value(users)
    return (lambda tasks: (users.parts(tasks), *value(tasks))) if any(users.promises) else value


def better_under_rules(
    users: WholeUsers, tasks: Sequence[int], deadline: Deadline = NEVER, nodes: int = ALLOCATIONS
) -> list[int] | None:
    """Return tasks that are strictly better than the members'; [] for none, None when there are too many."""
    try:
        return _Search(users, tasks, _Budget(nodes, deadline)).extend([])
    except (SearchTooLong, Inconclusive):
        return None


class _Search:
    def __init__(self, users: WholeUsers, tasks: Sequence[int], budget: _Budget):
        self.budget = budget
        self.most, self.worth, self.packable = users.most, worth(users), Packable(users, budget.deadline)
        self.own = self.worth(tasks)

    def extend(self, chosen: list[int]) -> list[int]:
        """Return something better that begins with these tasks, which fit; [] for nothing."""
        if len(chosen) == len(self.most):
            return chosen if self.worth(chosen) > self.own else []
        most, *others = (self._alone(chosen, p) for p in range(len(chosen), len(self.most)))
        for x in range(most, -1, -1):
            self.budget.spend()
            if not self.worth([*chosen, x, *others]) > self.own:
                break  # Fewer are worth less.
            if found := self.extend([*chosen, x]):
                return found
        return []

    def _alone(self, chosen: list[int], p: int) -> int:
        """Return the most tasks of a member that fit beside these."""
        self.budget.spend()
        low, high = 0, self.most[p]
        while low < high:
            middle = (low + high + 1) // 2
            tasks = [*chosen, *(0 for _ in range(len(chosen), p)), middle]
            fits = self.packable.fits([*tasks, *(0 for _ in range(p + 1, len(self.most)))])
            low, high = (middle, high) if fits else (low, middle - 1)
        return low
