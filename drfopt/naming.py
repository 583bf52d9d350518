"""Names at the door: mappings by name become rows in the order of the names, and a name that is unknown is an error."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .errors import InstanceError, suggestion

__all__ = ["by_user", "listed", "resource_names", "row_of", "rows_of_users", "some", "unique"]


def rows_of_users(demands: Any, users: Sequence[str] | None) -> tuple[Any, tuple[str, ...] | None]:
    """Return one row of demands a user, and the names of the users, None where none are given."""
    if isinstance(demands, Mapping):
        if users is not None and list(users) != list(demands):
            raise InstanceError("users are named twice, by demands and by users, and differ: give them once")
        rows = list(demands.values())
        for user, row in zip(demands, rows, strict=True):
            if not isinstance(row, Mapping) and not isinstance(row, list | tuple | np.ndarray):
                raise InstanceError(f"user {user!r}: demand is {row!r}: write a table of resource and amount")
        return [listed(row) for row in rows], unique([str(user) for user in demands], "user")
    rows = listed(demands)
    if not isinstance(rows, list | np.ndarray) or (isinstance(rows, np.ndarray) and rows.ndim != 2):
        raise InstanceError("demands must be a mapping from user to {resource: amount}, or an array of shape (n, m)")
    if users is None:
        return rows, None if len(rows) else ()
    names = unique([str(user) for user in users], "user")
    if len(names) != len(rows):
        raise InstanceError(f"there are {len(names)} names for {len(rows)} rows of demands: give one a row")
    return rows, names


def resource_names(resources: Sequence[str] | None, rows: Any, capacity: Any) -> list[str]:
    """Return the names of the resources: given, taken from the capacity, or made up."""
    if resources is not None:
        return [str(resource) for resource in resources]
    if isinstance(capacity, Mapping):
        return [str(resource) for resource in capacity]
    if len(rows) and isinstance(rows[0], Mapping):
        raise InstanceError("demands name resources and the capacity does not: give it as a mapping, or name resources")
    width = np.shape(capacity)
    if len(width) != 1:
        raise InstanceError("the capacity must be a mapping from resource to amount, or an array of shape (m,)")
    return [f"r{j}" for j in range(1, width[0] + 1)]


def row_of(values: Mapping, resources: Sequence[str], owner: str, missing: int = 0) -> list:
    """Return the values of a mapping by resource, in the order of the resources."""
    for resource in values:
        if resource not in resources:
            verb = "demands" if owner.startswith("user") and not owner.endswith("weight") else "names"
            raise InstanceError(
                f"{owner} {verb} {str(resource)!r}, but the cluster has {some(resources)}"
                f"{suggestion(str(resource), resources)}"
            )
    return [values.get(resource, missing) for resource in resources]


def by_user(values: Mapping, users: Sequence[str], what: str, missing: Any) -> list:
    """Return the values of a mapping by user, in the order of the users."""
    known = set(users)
    for user in values:
        if user not in known:
            raise InstanceError(f"{what} are given for {str(user)!r}, who is not a user{suggestion(str(user), users)}")
    return [values.get(user, missing) for user in users]


def listed(values: Any) -> Any:
    """Return sequences and frames as list or array, everything else as it is."""
    if hasattr(values, "to_numpy"):
        return values.to_numpy()
    if isinstance(values, np.ndarray):
        return values if values.dtype.kind in "fiu" else values.tolist()
    if isinstance(values, tuple | range):
        return list(values)
    return values


def unique(names: Sequence[str], what: str) -> tuple[str, ...]:
    """Return the names as a tuple; two equal ones, or an empty one, are an error."""
    if len(set(names)) < len(names):
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise InstanceError(f"{what} {name!r} is listed twice: give each {what} one name")
            seen.add(name)
    if any(not name for name in names):
        raise InstanceError(f"a {what} has an empty name: give each {what} a name")
    return tuple(names)


def some(names: Sequence[str], most: int = 12) -> str:
    """Return the first names, and how many more there are."""
    """Return one row of demands a user, and the names of the users, None where none are given."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
