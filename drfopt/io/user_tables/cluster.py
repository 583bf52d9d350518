"""A cluster without users: what each part of them is divided on."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...base.errors import InstanceError
from ...model.instance import Instance
from ...model.machine import Machine
from ..native.reading import built
from ..native.syntax import tree
from ..text.files import failure, format_of, read_text

__all__ = ["SPECIAL", "BareCluster"]

SPECIAL = ("name", "weight", "max_tasks", "machines")
"""Columns that are no resources."""

PLACEHOLDER = "users in tables"


@dataclass(frozen=True)
class BareCluster:
    """A cluster without users.

    Attributes
    ----------
    resources : tuple of str (m,)
    capacity : tuple of numbers (m,) or None
    machines : tuple of Machine or None
    """

    resources: tuple[str, ...]
    capacity: tuple | None
    machines: tuple[Machine, ...] | None
    room: np.ndarray = field(repr=False, compare=False)
    """What each class has in all its machines, (k, m); a pool is one class."""

    @property
    def total(self) -> np.ndarray:
        """What the whole cluster has, (m,)."""
        return self.room[0] if self.machines is None else self.room.sum(axis=0)

    @property
    def m(self) -> int:
        """Number of resources."""
        return len(self.resources)

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Names of the classes of machines, (k,); None for a pool."""
        return None if self.machines is None else tuple(machine.name for machine in self.machines)

    @classmethod
    def of(cls, given: Any) -> "BareCluster":
        """Return the cluster of a native file without users, of a table of capacities, or of machines."""
        if isinstance(given, str | Path):
            return _load(given)
        pool = isinstance(given, Mapping)
        try:
            return _without_users(_alone(given if pool else None, None if pool else given))
        except (AttributeError, KeyError, TypeError):
            raise InstanceError(
                f"the cluster is a {type(given).__name__}: give the path of an instance file without users, a table of "
                "capacities, or a list of machines"
            ) from None


def _alone(capacity: Any, machines: Any) -> Instance:
    """Return the instance of a cluster and one user, whom nobody will ask."""
    first = dict(capacity) if capacity is not None else machines[0].capacity if len(machines) else {"cpu": 1}
    demand = dict.fromkeys(first, 1) if isinstance(first, Mapping) else np.ones_like(first, dtype=float)
    return Instance({PLACEHOLDER: demand}, capacity, machines=machines)


def _without_users(instance: Instance) -> BareCluster:
    if taken := sorted(set(instance.resources) & set(SPECIAL)):
        raise InstanceError(f"the cluster has a resource {taken[0]!r}, which is the name of another column: rename it")
    pool = instance.machines is None
    parts = instance.parts()
    return BareCluster(
        instance.resources,
        tuple(parts["capacity"]) if pool else None,
        None if pool else tuple(parts["machines"]),
        instance.room,
    )


def _load(path: str | Path) -> BareCluster:
    """Return the cluster of an instance file that has ``[capacity]`` or ``[[machines]]``, and no users.

    Raises
    ------
    InstanceError
        In one line: the file, the place in it, the value and the remedy.
    """
    place, text = str(path), read_text(path)
    found = tree(text, format_of(path), place)
    if isinstance(found, dict):
        if "users" in found:
            raise failure(place, "lists users, but they are in tables: leave them out, or solve this file by itself")
        for key in ("groups", "guarantees", "excluded"):
            if key in found:
                raise failure(place, f"has {key!r}, which is not built for users in tables: leave it out")
        rooms = [
            found.get("capacity"),
            *(m.get("capacity") for m in found.get("machines") or () if isinstance(m, dict)),
        ]
        demand = next((room for room in rooms if isinstance(room, dict) and room), {"cpu": 1})
        found = found | {"users": [{"name": PLACEHOLDER, "demand": dict.fromkeys(demand, 1)}]}
    with _as_cluster(place):
        return _without_users(built(found, place))


@contextlib.contextmanager
def _as_cluster(place: str) -> Iterator[None]:
    try:
        yield
    except InstanceError as error:
        raise InstanceError(str(error) if str(error).startswith(place) else f"{place}: {error}") from None
