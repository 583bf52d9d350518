"""The tasks that are to be placed, one row for each type of task of each user."""

from dataclasses import dataclass

import numpy as np

from ...model.instance import Instance

__all__ = ["TaskParts", "parts_of"]


@dataclass(frozen=True, eq=False)
class TaskParts:
    """Tasks to be placed: of which user, how many of them a task of hers is, what one needs, and where it fits."""

    user: np.ndarray
    share: np.ndarray
    demands: np.ndarray
    fits: np.ndarray


def parts_of(instance: Instance) -> TaskParts:
    """Return users without types as one part each, users with types as one a type; a pool is one class."""
    if instance.task_types is None or instance.machines is None:
        fits = np.ones((instance.n, 1), dtype=bool) if instance.fits is None else np.array(instance.fits)
        return TaskParts(np.arange(instance.n), np.ones(instance.n), np.array(instance.demands), fits)
    user: list[int] = []
    share: list[float] = []
    demands: list[np.ndarray] = []
    places: list[np.ndarray] = []
    for i, kinds in enumerate(instance.task_types):
        if kinds is None:
            user.append(i)
            share.append(1.0)
            demands.append(instance.demands[i])
            places.append(instance.fits[i])
            continue
        total = sum(kind.count for kind in kinds)
        for kind, where in zip(kinds, instance.type_fits[i], strict=True):
            user.append(i)
            share.append(kind.count / total)
            demands.append(np.array([float(d) for d in kind.demand]))
            places.append(where)
    return TaskParts(np.array(user), np.array(share), np.array(demands), np.array(places))
