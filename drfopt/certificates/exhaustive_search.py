"""Has anything a strictly larger product or sum than these whole tasks of a pool? An exact search, without a solver.

Users in turn, each with every number of tasks, the rest bounded by what each could have alone.

The weighted product of whole tasks as something that can be compared: users served first, then the product.
"""

import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np

from ..base.deadline import NEVER, Deadline
from ..model.instance import Instance
from ..model.packings import integer_rows, most_alone
from ..model.policies import Policy

__all__ = ["better", "exactly", "playing", "powers", "products"]


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


NODES = 50_000
"""Branches looked at before the search gives up: some seconds."""


USERS = 400
"""Users beyond which the search, which looks at one after the other, is not begun."""


class _TooLong(Exception):
    """The search has looked at more branches than it may."""


def playing(instance: Instance) -> list[int]:
    """Return the users who are placed and may run at least one whole task."""
    limits = np.floor(instance.limits)
    return np.flatnonzero(~instance.unplaced(integer=True) & (limits > 0)).tolist()


def better(
    instance: Instance, policy: Policy, tasks: list[int], deadline: Deadline = NEVER, most: int | None = None
) -> bool | None:
    """Say whether some allocation of the pool is strictly better; None when the search looks at too many branches.

    `most` is how many they may be, where fewer than `NODES` are wanted.
    """
    members = playing(instance)
    if not members:
        return False
    if len(members) > USERS:
        return None
    try:
        return _Product(
            instance, policy, members, tasks, _Budget(NODES if most is None else min(most, NODES), deadline)
        ).better()
    except _TooLong:
        return None


class _Budget:
    def __init__(self, nodes: int, deadline: Deadline):
        self.left, self.deadline = nodes, deadline

    def spend(self) -> None:
        """Count a branch."""
        self.left -= 1
        if self.left < 0:
            raise _TooLong
        self.deadline.check("the exact search for something better")


def _sums(rates: list[Fraction]) -> Callable[[Sequence[int]], tuple]:
    return lambda tasks: (sum((r * x for r, x in zip(rates, tasks, strict=False)), Fraction(0)),)


class _Product:
    """The search over numbers of tasks, for the product (with users served first) and for sums."""

    def __init__(self, instance: Instance, policy: Policy, members: list[int], tasks: list[int], budget: _Budget):
        self.demands, self.room = integer_rows([instance.exact_demands[i] for i in members], instance.exact_capacity)
        if policy.objective == "alpha":
            self._value = products([instance.exact_weights[i] for i in members])
        else:
            rates = policy.exact_rates(instance)
            self._value = _sums([rates[i] for i in members])
        self.most = [most_alone(instance, i) for i in members]
        self.own = self._value([tasks[i] for i in members])
        self.budget = budget

    def better(self) -> bool:
        """Say whether some allocation has a strictly larger value."""
        return self._extend(0, tuple(self.room), [])

    def _extend(self, position: int, left: tuple[int, ...], chosen: list[int]) -> bool:
        self.budget.spend()
        if position == len(self.demands):
            return self._value(chosen) > self.own
        # What everybody else could have alone of what is left bounds every continuation.
        alone = [self._alone(i, left) for i in range(position, len(self.demands))]
        if not self._value([*chosen, *alone]) > self.own:
            return False
        row = self.demands[position]
        for x in range(alone[0], -1, -1):
            rest = tuple(f - x * d for f, d in zip(left, row, strict=True))
            if self._extend(position + 1, rest, [*chosen, x]):
                return True
        return False

    def _alone(self, i: int, left: tuple[int, ...]) -> int:
        return min(self.most[i], min(f // d for f, d in zip(left, self.demands[i], strict=True) if d))
