"""What is said of each user, as tables at the door: demands, types of tasks, weights, limits, machine classes.

A user's tasks need not be all alike: with the types ``t`` she has ``count_t`` tasks of each.  Divisible, she runs one
fraction of all of them, so she is described by her *average* task, the sum of ``count_t * demand_t`` over the sum of
counts, of which she has as many as the counts add up to: in one pool nothing else is new.  On machines every type is
placed by itself.

Names of users are a sequence that may make them when asked: a million of them are not free, and only errors need them.
"""

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..base.errors import InstanceError, listed, suggestion
from ..base.numbers.quantities import counted_up_to
from .arrays import ExactTable, amount_in_range, constant, table
from .naming import Places, aligned, as_sequence, by_user, labels, row_of, some, with_names

__all__ = [
    "TaskType",
    "TypeSequence",
    "TypeTable",
    "average",
    "bounded",
    "demand_table",
    "eligible_classes",
    "given_types",
    "limit_table",
    "settled",
    "types_of_users",
    "weight_table",
]

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


Names = Sequence[str]
Types = tuple[tuple[TaskType, ...] | None, ...]


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
    count = counted_up_to(kind.count, f"{place}: count")
    given = with_names(kind.demand, place)
    if isinstance(given, dict):
        row = row_of(given, resources, place, missing=NOTHING)
    else:
        row = list(listed(given, f"{place}: the amounts of a demand", InstanceError))
    if len(row) != len(resources):
        raise InstanceError(f"{place} has {len(row)} demands, but there are {len(resources)} resources")
    demand = tuple(
        value if value is NOTHING else amount_in_range(value, f"{place}: demand of {r!r}")
        for value, r in zip(row, resources, strict=True)
    )
    if not any(demand):
        raise InstanceError(f"{place} demands nothing: give its tasks a positive demand, or leave it out")
    if kind.machines is not None and not classes:
        raise InstanceError(f"{place} lists machines, but the cluster is one pool: give machines, or leave it out")
    named = None if kind.machines is None else listed(kind.machines, f"{place}: machines", InstanceError)
    machines = None if named is None else tuple(map(str, named))
    return TaskType(demand, count, machines, str(kind.name))


def average(types: Sequence[TaskType]) -> list[Fraction]:
    """Return what the average task of settled types needs, (m,)."""
    total = sum(kind.count for kind in types)
    columns = zip(*(kind.demand for kind in types), strict=True)
    sums = (sum(kind.count * need for kind, need in zip(types, needs, strict=True) if need) for needs in columns)
    return [Fraction(amount, total) for amount in sums]


KEPT = 10_000
"""Numbers of tasks of several types that a sequence remembers what they are of: some megabytes."""


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
        if x not in self._known:
            if len(self._known) >= KEPT:
                self._known.clear()
            self._known[x] = self._started(x)
        return self._known[x]

    def _started(self, x: int) -> tuple[int, ...]:
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

    @cached_property
    def _known(self) -> dict[int, tuple[int, ...]]:
        return {}

    @cached_property
    def _steps(self) -> tuple[int, ...]:
        """How far apart tasks of each type stand, in units in which all are integers."""
        unit = math.lcm(*self.counts)
        return tuple(unit // c for c in self.counts)

    def _place(self, t: int, k: int) -> int:
        return (2 * k - 1) * self._steps[t]

    def next_type(self, x: int) -> int:
        """Return which of the types the task after the first x is of."""
        return next(t for t, (a, b) in enumerate(zip(self.started(x), self.started(x + 1), strict=True)) if a < b)


def types_of_users(rows: Any, users: Names, resources: Names, classes: Names) -> tuple[Any, Types | None]:
    """Return rows of demands, of the average task where there are types, and the types a user; None for none at all."""
    if not isinstance(rows, list) or not any(map(given_types, rows)):
        return rows, None
    kinds = tuple(
        settled(user, row, resources, classes) if given_types(row) else None
        for user, row in zip(users, rows, strict=True)
    )
    for user, types in zip(users, kinds, strict=True):
        for kind in types or ():
            _classes_named(user, kind.machines or (), classes)
    averages = [
        dict(zip(resources, average(types), strict=True)) if types else row
        for types, row in zip(kinds, rows, strict=True)
    ]
    return averages, kinds


def demand_table(rows: Any, users: Names, resources: Names) -> ExactTable:
    """Return what one task of each user needs, (n, m)."""
    if isinstance(rows, list) and any(isinstance(row, Mapping) for row in rows):
        rows = [
            row_of(row, resources, f"user {user!r}") if isinstance(row, Mapping) else row
            for user, row in zip(users, rows, strict=True)
        ]
    demands = table(rows, (len(users), len(resources)), Places("demand", users, resources))
    if (idle := demands.extent.idle) is not None:
        raise InstanceError(f"user {users[idle]!r} demands nothing: give its tasks a positive demand, or leave it out")
    return demands


def weight_table(weights: Any, users: Names, resources: Names) -> tuple[ExactTable, np.ndarray | None]:
    """Return the weights, (n,) or (n, m), with 1 for who has 0; and who that is, bool (n,), None for nobody."""
    n = len(users)
    if weights is None:
        return ExactTable(constant(1.0, n)), None
    weights = aligned(weights, "weights", ("user", users), ("resource", resources))
    if isinstance(weights, Mapping):
        weights = by_user(weights, users, "weights", 1)
    values = as_sequence(weights)
    if isinstance(values, list):
        values = [with_names(value, "weights") for value in values]
    per_resource = isinstance(values, list) and any(isinstance(value, Mapping | list | tuple) for value in values)
    scalar = [not isinstance(value, Mapping | list | tuple) for value in values] if per_resource else []
    if per_resource:
        values = [_weight_row(user, value, resources) for user, value in zip(users, values, strict=False)]
    two = per_resource or (isinstance(values, np.ndarray) and values.ndim == 2)
    shape, places = (n, len(resources)) if two else (n,), Places("weight", users, resources)
    places = replace(places, least="be positive" if two else places.least)
    found = table(values, shape, places)
    if (found.floats > 0).all():
        return found, None
    last = ~(found.floats > 0)
    if two:
        i = int(np.argwhere(last)[0][0])
        if per_resource and scalar[i]:
            raise InstanceError(
                f"user {users[i]!r} has weight 0, to be served last, and others have weights per resource: "
                "that is not defined: give everybody one weight, or none 0"
            )
        raise InstanceError(
            f"user {users[i]!r}: weight of {resources[int(last[i].argmax())]!r} is 0: weights per resource must be "
            "positive; write weight = 0 to serve it last"
        )
    if found.fractions is not None:
        return table([weight or Fraction(1) for weight in found.fractions], shape, places), last
    return table(np.where(last, 1.0, found.floats), shape, places), last


def _weight_row(user: str, value: Any, resources: Names) -> list:
    if isinstance(value, Mapping):
        return row_of(value, resources, f"user {user!r}: weight", missing=1)
    return list(value) if isinstance(value, list | tuple) else [value] * len(resources)


def limit_table(limits: Any, users: Names, types: Types | None) -> ExactTable:
    """Return the most tasks of each user, (n,), inf for no limit: of who has types, at most their number."""
    found, places = ExactTable(constant(np.inf, len(users))), Places("max_tasks", users)
    if hasattr(limits, "isna") and limits.ndim == 1 and limits.isna().any():  # Empty cells, as which pandas keeps None.
        floats = limits.dtype.kind == "f"
        limits = limits.fillna(np.inf) if floats else limits.astype(object).where(limits.notna(), None)
    limits = aligned(limits, "max_tasks", ("user", users))
    if isinstance(limits, Mapping):
        limits = by_user(limits, users, "max_tasks", None)
    if limits is not None:
        found = table(as_sequence(limits), (len(users),), places, unlimited=True)
    if types is None:
        return found
    totals = [None if kinds is None else Fraction(sum(kind.count for kind in kinds)) for kinds in types]
    return bounded(found, totals, users)


def bounded(limits: ExactTable, bounds: Sequence[Fraction | None], users: Names) -> ExactTable:
    """Return the limits (n,), lowered to bounds where there are any."""
    rows = zip(limits.exact(), bounds, strict=True)
    lower = [min((most for most in row if most is not None), default=None) for row in rows]
    return table(lower, (len(users),), Places("max_tasks", users), unlimited=True)


def eligible_classes(eligible: Any, users: Names, classes: Names) -> np.ndarray:
    """Return the machine classes that each user may use, bool (n, k)."""
    shape = (len(users), len(classes))
    if eligible is None or isinstance(eligible, Mapping) or len(labels(eligible)) == 1:
        allowed = np.ones(shape, dtype=bool)
        for i, names in enumerate([] if eligible is None else by_user(eligible, users, "machines", None)):
            if names is not None:
                allowed[i] = _classes_named(users[i], names, classes)
    else:
        rows = aligned(eligible, "eligible", ("user", users), ("machine class", classes))
        try:
            allowed = np.array(rows)
        except ValueError:
            raise InstanceError(f"eligible has rows of different lengths: give bool of shape {shape}") from None
        if allowed.shape != shape or allowed.dtype != bool:
            raise InstanceError(
                f"eligible has shape {allowed.shape} and type {allowed.dtype}, but bool of shape {shape} is needed"
            )
    allowed.flags.writeable = False
    return allowed


def _classes_named(user: str, names: Iterable[str], known: Names) -> np.ndarray:
    if isinstance(by_name := with_names(names, f"user {user!r}: machines"), dict):
        names = row_of(by_name, known, f"user {user!r}: machines", missing=None)
        if not all(isinstance(open_, bool | np.bool_) for open_ in names):
            raise InstanceError(f"user {user!r}: machines by name need true or false each: write a list of names")
        return np.array(names, dtype=bool)
    named = listed([names] if isinstance(names, str) else names, f"user {user!r}: machines", InstanceError)
    classes = set(known)
    for name in named:
        if not isinstance(name, str) or name not in classes:
            raise InstanceError(
                f"user {user!r} may use machine class {name!r}, but the cluster has "
                f"{some(known)}{suggestion(str(name), known)}"
            )
    mine = set(named)
    return np.array([name in mine for name in known], dtype=bool)
