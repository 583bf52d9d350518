"""Users whose tasks are not all alike: several types, each with a count, run in the proportions of the counts.

A user with the types ``t`` has ``count_t`` tasks of each.  Divisible, she runs one fraction of all of them, so she is
described by her *average* task, the sum of ``count_t * demand_t`` over the sum of counts, of which she has as many as
the counts add up to: in one pool nothing else is new.  On machines every type is placed by itself.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..base.errors import InstanceError
from ..base.numbers.quantities import amount
from .naming import row_of, with_names

__all__ = ["TaskType", "TypeSequence", "TypeTable", "average", "given_types", "settled"]

NOTHING = Fraction(0)
"""What is needed of a resource that is not listed."""


@dataclass(frozen=True)
class TaskType:
    """Tasks of one user that are alike.

    Parameters
    ----------
    demand : mapping from resource to number, or array of shape (m,)
        What one task needs; behind the door a tuple of fractions, (m,).
    count : int
        How many of them the user has, 1 or more.
    machines : sequence of str, optional
        The machine classes it may use, among those that the user may use; all of these by default.
    name : str
    """

    demand: Any
    count: int
    machines: Sequence[str] | None = None
    name: str = ""


@dataclass(frozen=True, eq=False)
class TypeTable:
    """All types of all users of a cluster of machines, one row a type; who has none is one type of her own.

    Attributes
    ----------
    owner : int array (q,)
        Whose each type is, user by user.
    part : array (q,)
        Part of her tasks that are of this type.
    demands : array (q, m)
    fits : bool array (q, k)
        Whether a class is eligible and one task fits on one of its machines.
    """

    owner: np.ndarray
    part: np.ndarray
    demands: np.ndarray
    fits: np.ndarray

    def summed(self, values: np.ndarray) -> np.ndarray:
        """Add up what is known of each type (q, ...) by users, (n, ...)."""
        return np.add.reduceat(values, np.flatnonzero(np.diff(self.owner, prepend=-1)), axis=0)


def given_types(row: Any) -> bool:
    """Say whether a user's entry among the demands is a list of task types instead of one demand."""
    return isinstance(row, list | tuple) and bool(row) and isinstance(row[0], TaskType)


def settled(user: str, types: Sequence[Any], resources: Sequence[str], classes: Sequence[str]) -> tuple[TaskType, ...]:
    """Return the types of a user with exact demands by resource, checked.

    Raises
    ------
    InstanceError
        When one is no task type, its count is not a whole number from 1 on, it demands nothing, or a name is unknown.
    """
    return tuple(_settled(f"user {user!r}: tasks[{t}]", kind, resources, classes) for t, kind in enumerate(types))


def _settled(place: str, kind: Any, resources: Sequence[str], classes: Sequence[str]) -> TaskType:
    if not isinstance(kind, TaskType):
        raise InstanceError(f"{place} is {kind!r}: use TaskType(demand=..., count=...) for each type of task")
    count = kind.count
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 1 <= count <= 2**53:
        raise InstanceError(f"{place}: count is {count!r}: write a whole number, 1 or more")
    given = with_names(kind.demand, place)
    row = row_of(given, resources, place, missing=NOTHING) if isinstance(given, dict) else list(given)
    if len(row) != len(resources):
        raise InstanceError(f"{place} has {len(row)} demands, but there are {len(resources)} resources")
    demand = tuple(
        value if value is NOTHING else amount(value, f"{place}: demand of {r!r}")
        for value, r in zip(row, resources, strict=True)
    )
    if not any(demand):
        raise InstanceError(f"{place} demands nothing: give its tasks a positive demand, or leave it out")
    if kind.machines is not None and not classes:
        raise InstanceError(f"{place} lists machines, but the cluster is one pool: give machines, or leave it out")
    machines = None if kind.machines is None else tuple(map(str, kind.machines))
    return TaskType(demand, int(count), machines, str(kind.name))


def average(types: Sequence[TaskType]) -> list[Fraction]:
    """Return what the average task of settled types needs, (m,)."""
    total = sum(kind.count for kind in types)
    columns = zip(*(kind.demand for kind in types), strict=True)
    sums = (sum(kind.count * need for kind, need in zip(types, needs, strict=True) if need) for needs in columns)
    return [Fraction(amount, total) for amount in sums]


@dataclass(frozen=True)
class TypeSequence:
    """In which order a user starts whole tasks of her types: one after the other, in the proportions of their counts.

    Task k of a type with c tasks stands at (2 k - 1) / (2 c), of equals the type listed first.  So after each task what
    has started is nearest to her proportions, and exactly in proportion when all have: Webster's apportionment
    (M. Balinski and H. P. Young, Fair Representation, 1982).

    Attributes
    ----------
    rows, counts : tuple of int
        Each type's row among all types of a cluster, and how many tasks are of it.
    """

    rows: tuple[int, ...]
    counts: tuple[int, ...] = (1,)

    def started(self, x: int) -> tuple[int, ...]:
        """Return how many of each type are among the first x tasks."""
        if len(self.rows) == 1:
            return (x,)
        total = sum(self.counts)
        found = [(2 * x * c + total) // (2 * total) for c in self.counts]
        # Rounding parts of x is the prefix up to some place of the sequence; it is a few tasks too long or too short.
        ahead = [(self._place(t, y + 1), t) for t, y in enumerate(found)]
        heapq.heapify(ahead)
        for _ in range(x - sum(found)):
            _, t = heapq.heappop(ahead)
            found[t] += 1
            heapq.heappush(ahead, (self._place(t, found[t] + 1), t))
        for _ in range(sum(found) - x):
            last = max((t for t, y in enumerate(found) if y), key=lambda t: (self._place(t, found[t]), t))
            found[last] -= 1
        return tuple(found)

    def _place(self, t: int, k: int) -> Fraction:
        return Fraction(2 * k - 1, 2 * self.counts[t])

    def next_type(self, x: int) -> int:
        """Return which of the types the task after the first x is of."""
        return next(t for t, (a, b) in enumerate(zip(self.started(x), self.started(x + 1), strict=True)) if a < b)
