"""Is anything strictly better than these whole tasks of a pool? An exact search, without a solver.

Leximin: to be strictly better, an allocation must agree with the counts of stopped users below some level and have
fewer at it.  Sweeping the levels upwards, the choices are which of the users that can be exactly at a level stop there;
identical users are told apart only by how many of them do.  Everybody else needs at least the fewest tasks above the
level, so a branch ends as soon as those do not fit.

Products and sums: users in turn, each with every number of tasks, the rest bounded by what each could have alone.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from ..deadline import NEVER, Deadline
from ..instance import Instance
from ..packings import integer_rows, most_alone
from ..policies import Policy
from .products import products

__all__ = ["better", "playing"]

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


def better(instance: Instance, policy: Policy, tasks: list[int], deadline: Deadline = NEVER) -> bool | None:
    """Say whether some allocation of the pool is strictly better; None when the search is too long."""
    members = playing(instance)
    if not members:
        return False
    if len(members) > USERS:
        return None
    try:
        if policy.objective == "leximin":
            return _Leximin(instance, policy, members, tasks, deadline).better()
        return _Product(instance, policy, members, tasks, deadline).better()
    except _TooLong:
        return None


class _Budget:
    def __init__(self, deadline: Deadline):
        self.left, self.deadline = NODES, deadline

    def spend(self) -> None:
        """Count a branch."""
        self.left -= 1
        if self.left < 0:
            raise _TooLong
        self.deadline.check("the exact search for something better")


class _Leximin:
    """The search over who stops where, on types of identical users; levels in a unit that makes them integers."""

    def __init__(self, instance: Instance, policy: Policy, members: list[int], tasks: list[int], deadline: Deadline):
        demands, room = integer_rows([instance.exact_demands[i] for i in members], instance.exact_capacity)
        exact = policy.exact_rates(instance)
        unit = math.lcm(*(exact[i].denominator for i in members))
        rates = [int(exact[i] * unit) for i in members]
        kinds = Counter(
            (tuple(row), rate, most_alone(instance, i)) for row, rate, i in zip(demands, rates, members, strict=True)
        )
        self.kinds = list(kinds)
        self.sizes = list(kinds.values())
        self.room = room
        self.counts = Counter(rate * tasks[i] for rate, i in zip(rates, members, strict=True))
        self.levels = sorted(self.counts)
        self.budget = _Budget(deadline)
        self.seen: set[tuple] = set()

    def better(self) -> bool:
        """Say whether the counts can be kept below some level, with fewer at it."""
        return self._from(0, tuple(self.sizes), tuple(self.room))

    def _from(self, position: int, active: tuple[int, ...], left: tuple[int, ...]) -> bool:
        """Say so from a level on, given how many of each type have not stopped and what the stopped have left over."""
        if position == len(self.levels) or (position, active, left) in self.seen:
            return False
        self.seen.add((position, active, left))
        level = self.levels[position]
        options, held, needed = [], [], []
        for (_, rate, most), size in zip(self.kinds, active, strict=True):
            above, beyond = divmod(level, rate)
            tied = size if not beyond and above <= most else 0
            # Whoever cannot have more than the level, must stop at it; who cannot even have it, spoils the branch.
            must = size if above + 1 > most else 0
            if must > tied:
                return False
            options.append(range(must, tied + 1))
            held.append(above)
            needed.append(above + 1)
        count = self.counts[level]
        for stopping in _choices(options, count, self.budget):
            after = self._minus(left, held, stopping)
            rest = tuple(size - s for size, s in zip(active, stopping, strict=True))
            if min(self._minus(after, needed, rest)) < 0:
                continue
            if sum(stopping) < count or self._from(position + 1, rest, after):
                return True
        return False

    def _minus(self, left: tuple[int, ...], tasks: list[int], numbers: tuple[int, ...]) -> tuple[int, ...]:
        """Return what is left over after so many users of each type with so many tasks each."""
        after = list(left)
        for (row, _, _), x, number in zip(self.kinds, tasks, numbers, strict=True):
            if x and number:
                after = [f - x * number * d for f, d in zip(after, row, strict=True)]
        return tuple(after)


def _choices(options: list[range], total: int, budget: _Budget) -> Iterator[tuple[int, ...]]:
    """Yield every choice of one number from each range with a sum of at most `total`."""
    least = [0] * (len(options) + 1)
    for position in range(len(options) - 1, -1, -1):
        least[position] = least[position + 1] + options[position].start
    chosen = [0] * len(options)

    def extend(position: int, left: int) -> Iterator[tuple[int, ...]]:
        budget.spend()
        if position == len(options):
            yield tuple(chosen)
            return
        most = min(options[position].stop - 1, left - least[position + 1])
        for number in range(options[position].start, most + 1):
            chosen[position] = number
            yield from extend(position + 1, left - number)

    yield from extend(0, total)


def _sums(rates: list[Fraction]) -> Callable[[Sequence[int]], tuple]:
    return lambda tasks: (sum((r * x for r, x in zip(rates, tasks, strict=False)), Fraction(0)),)


class _Product:
    """The search over numbers of tasks, for the product (with users served first) and for sums."""

    def __init__(self, instance: Instance, policy: Policy, members: list[int], tasks: list[int], deadline: Deadline):
        self.demands, self.room = integer_rows([instance.exact_demands[i] for i in members], instance.exact_capacity)
        if policy.objective == "alpha":
            self._value = products([instance.exact_weights[i] for i in members])
        else:
            rates = policy.exact_rates(instance)
            self._value = _sums([rates[i] for i in members])
        self.most = [most_alone(instance, i) for i in members]
        self.own = self._value([tasks[i] for i in members])
        self.budget = _Budget(deadline)

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
