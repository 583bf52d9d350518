"""What is said of each user, as tables at the door: demands, weights, limits, machine classes.

Names of users are a sequence that may make them when asked: a million of them are not free, and only errors need them.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..base.errors import InstanceError, suggestion
from .arrays import ExactTable, Places, table
from .naming import aligned, by_user, labels, listed, row_of, some, with_names
from .task_types import TaskType, average, given_types, settled

__all__ = ["bounded", "demand_table", "eligible_classes", "limit_table", "types_of_users", "weight_table"]

Names = Sequence[str]
Types = tuple[tuple[TaskType, ...] | None, ...]


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
        return ExactTable(np.broadcast_to(1.0, (n,))), None  # one float, however many users
    weights = aligned(weights, "weights", ("user", users), ("resource", resources))
    if isinstance(weights, Mapping):
        weights = by_user(weights, users, "weights", 1)
    values = listed(weights)
    if isinstance(values, list):
        values = [with_names(value, "weights") for value in values]
    per_resource = isinstance(values, list) and any(isinstance(value, Mapping | list | tuple) for value in values)
    scalar = [not isinstance(value, Mapping | list | tuple) for value in values] if per_resource else []
    if per_resource:
        values = [_weight_row(user, value, resources) for user, value in zip(users, values, strict=False)]
    two = per_resource or (isinstance(values, np.ndarray) and values.ndim == 2)
    shape, places = (n, len(resources)) if two else (n,), Places("weight", users, resources)
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
    found, places = ExactTable(np.broadcast_to(np.inf, (len(users),))), Places("max_tasks", users)
    limits = aligned(limits, "max_tasks", ("user", users))
    if isinstance(limits, Mapping):
        limits = by_user(limits, users, "max_tasks", None)
    if limits is not None:
        found = table(listed(limits), (len(users),), places, unlimited=True)
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
        allowed = np.array(aligned(eligible, "eligible", ("user", users), ("machine class", classes)))
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
    named, classes = [names] if isinstance(names, str) else list(names), set(known)
    for name in named:
        if not isinstance(name, str) or name not in classes:
            raise InstanceError(
                f"user {user!r} may use machine class {name!r}, but the cluster has "
                f"{some(known)}{suggestion(str(name), known)}"
            )
    mine = set(named)
    return np.array([name in mine for name in known], dtype=bool)
