"""Has anything a larger sum or product than these whole tasks, under rules or of several types? An exact search.

Compared is first what is kept of guarantees (sorted parts, 1 at most), then the sum, or users served and the product.
All of it only grows with the tasks of anybody, and whatever fits leaves room for all that is less.  So users are given
numbers of tasks in turn, most first; the rest is bounded by what each could have alone beside those.  Whether tasks fit
is decided in integers (`packable`).
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

from ..base.deadline import NEVER, Deadline
from ..model.whole_values import WholeUsers
from .exhaustive_search import products
from .packable import Packable
from .refutation import Inconclusive

__all__ = ["better", "worth"]

NODES = 20_000
"""Allocations that are looked at before the search gives up: some seconds."""


def worth(users: WholeUsers) -> Callable[[Sequence[int]], tuple]:
    """Return the function from the members' tasks to what is compared, larger is better, in exact numbers."""
    value = _sums(users) if users.policy.objective == "sum" else products(users.incomes)
    promised = [(p, f) for p, f in enumerate(users.promises) if f]
    if not promised:
        return value
    return lambda tasks: (tuple(sorted(min(Fraction(tasks[p], f), Fraction(1)) for p, f in promised)), *value(tasks))


def _sums(users: WholeUsers) -> Callable[[Sequence[int]], tuple]:
    rates = users.rates
    return lambda tasks: (sum((r * x for r, x in zip(rates, tasks, strict=True)), Fraction(0)),)


class _TooLong(Exception):
    """The search has looked at more allocations than it may."""


def better(users: WholeUsers, tasks: Sequence[int], deadline: Deadline = NEVER, nodes: int = NODES) -> bool | None:
    """Say whether some allocation is strictly better than the members' tasks; None when there are too many."""
    try:
        return _Search(users, tasks, deadline, nodes).extend([])
    except (_TooLong, Inconclusive):
        return None


class _Search:
    def __init__(self, users: WholeUsers, tasks: Sequence[int], deadline: Deadline, nodes: int):
        self.users, self.deadline, self.left = users, deadline, nodes
        self.most, self.worth, self.packable = users.most, worth(users), Packable(users)
        self.own = self.worth(tasks)

    def extend(self, chosen: list[int]) -> bool:
        """Say whether something better begins with these tasks, which fit."""
        if len(chosen) == len(self.most):
            return bool(self.worth(chosen) > self.own)
        if not self.worth([*chosen, *self.most[len(chosen) :]]) > self.own:
            return False
        alone = [self._alone(chosen, p) for p in range(len(chosen), len(self.most))]
        if not self.worth([*chosen, *alone]) > self.own:
            return False
        return any(self.extend([*chosen, x]) for x in range(alone[0], -1, -1))

    def _alone(self, chosen: list[int], p: int) -> int:
        """Return the most tasks of a member that fit beside these."""
        self.left -= 1
        if self.left < 0:
            raise _TooLong
        self.deadline.check("the exact search for something better")
        low, high = 0, self.most[p]
        while low < high:
            middle = (low + high + 1) // 2
            tasks = [*chosen, *(0 for _ in range(len(chosen), p)), middle]
            fits = self.packable.fits([*tasks, *(0 for _ in range(p + 1, len(self.most)))], self.deadline)
            low, high = (middle, high) if fits else (low, middle - 1)
        return low
