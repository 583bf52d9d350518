"""Labels at the door of a batch: users, resources and pools in one order, whatever order each argument has them in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.errors import InstanceError
from ...base.results import Result
from ...base.tables import Column, Sheet
from ...model.naming import aligned, labels, listed_names, order_of, unique, with_names

__all__ = ["PoolSolution", "positional"]

Axis = tuple[str, Sequence[str] | None]


def positional(
    demands: Any, capacity: Any, weights: Any, limits: Any, resources: Sequence[str] | None
) -> tuple[Any, Any, Any, Any, Sequence[str] | None, Sequence[str] | None]:
    """Return the same arguments of `solve_many` without labels, in the order of one list of users and of resources.

    The two lists come last, None where nothing has names.

    The users are those of the first frame among the demands; the resources are given, those of the capacity, or those
    of that frame; pools have numbers.

    Raises
    ------
    InstanceError
        With the label that is missing, unknown or there twice.
    """
    frames = [one for one in demands if len(labels(one)) == 2] if isinstance(demands, list | tuple) else []
    users, columns = labels(frames[0]) if frames else (None, None)
    users = None if users is None else unique(users, "user")
    names = _first(resources, _last_labels(capacity), columns)
    names = None if names is None else listed_names(names, "resources")
    counted = demands.ndim if isinstance(demands, np.ndarray) else hasattr(demands, "__len__")
    pools = [str(number) for number in range(len(demands))] if counted else None
    by_pool, by_user, by_resource = ("pool", pools), ("user", users), ("resource", names)
    return (
        [_one(one, "demands", by_user, by_resource) for one in demands] if frames else demands,
        _each(capacity, "capacity", by_pool, by_resource),
        _each(weights, "weights", by_pool, by_user, by_resource),
        _each(limits, "limits", by_pool, by_user),
        users,
        names,
    )


def _first(*candidates: Any) -> Any:
    return next((one for one in candidates if one is not None), None)


def _last_labels(values: Any) -> Sequence[str] | None:
    """Return the labels along the last axis of what has them, or of the first entry of a list that has them."""
    entries = values if isinstance(values, list | tuple) else [values]
    for one in entries:
        if isinstance(one, Mapping):
            return list(map(str, one))
        if found := labels(one):
            return found[-1]
    return None


def _each(values: Any, what: str, *axes: Axis) -> Any:
    """Return an argument for all pools, or a list of one for each, without labels."""
    if isinstance(values, list | tuple) and any(isinstance(one, Mapping) or labels(one) for one in values):
        return [_one(one, what, *axes[1:]) for one in values]
    # A mapping or series is the same for all pools, a frame has one pool a row.
    first = 1 if isinstance(values, Mapping) or len(labels(values)) == 1 else 0
    return _one(values, what, *axes[first:])


def _one(values: Any, what: str, *axes: Axis) -> Any:
    for (word, names), found in zip(axes, labels(values), strict=False):
        if names is None and found is not None:
            raise InstanceError(
                f"{what} name {word} {found[0]!r}, and the demands name no {word}s: give arrays, or demands as frames"
            )
    if not isinstance(values, Mapping):
        return aligned(values, what, *axes)
    by_name, (word, names) = with_names(values, what), axes[0]
    if names is None:
        raise InstanceError(f"{what} name {word}s, and the demands do not: give arrays, or demands as frames")
    order_of(list(by_name), names, what, word)
    return np.array([by_name[name] for name in names])


@dataclass(frozen=True, eq=False)
class PoolSolution(Result):
    """A row of `Solutions`: the proven allocation of one pool.

    Attributes
    ----------
    number : int
        Which pool of the batch, from 0.
    policy : str
    users, resources : tuples of str (n,) and (m,)
    tasks, levels : arrays (n,)
    prices : array (m,) or None
    unplaced : bool array (n,)
    violation, gap : float
    singly : bool
        Whether the batch could not prove it, and `solve` finished it.
    """

    _schema = "drfopt pool 1"
    _rows = "users"

    number: int
    policy: str
    users: tuple[str, ...]
    resources: tuple[str, ...]
    tasks: np.ndarray
    levels: np.ndarray
    prices: np.ndarray | None
    unplaced: np.ndarray
    violation: float
    gap: float
    singly: bool

    def named(self) -> dict[str, float]:
        """Return the tasks of each user, by its name."""
        return dict(zip(self.users, self.tasks.tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the allocation as plain data, with keys of `Allocation.to_dict`, and `pool` and `singly`."""
        rows = zip(self.users, self.tasks.tolist(), self.levels.tolist(), strict=True)
        return {
            "schema": self._schema,
            "pool": self.number,
            "policy": self.policy,
            "users": [{"name": name, "tasks": tasks, "level": level} for name, tasks, level in rows],
            "prices": None if self.prices is None else dict(zip(self.resources, self.prices.tolist(), strict=True)),
            "unplaced": [name for name, out in zip(self.users, self.unplaced.tolist(), strict=True) if out],
            "certificate": {"valid": True, "violation": self.violation, "gap": self.gap},
            "singly": self.singly,
        }

    def sheet(self) -> Sheet:
        """Return the table: a row a user."""
        columns = (Column("user"), Column("tasks", number=True), Column("level", number=True))
        rows = list(zip(self.users, self.tasks.tolist(), self.levels.tolist(), strict=True))
        priced = () if self.prices is None else zip(self.resources, self.prices.tolist(), strict=True)
        notes = (
            [f"prices: {', '.join(f'{name} {price:.6g}' for name, price in priced)}"] if self.prices is not None else []
        )
        return Sheet(f"pool {self.number}: {self.policy}", columns, rows, tuple(notes), document=self.to_dict)
