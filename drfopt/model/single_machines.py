"""Every machine by itself: the clusters in which `per-server` divides, one for each class of machines."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .instance import Instance
from .organisation import Organisation
from .policies import policy_named

__all__ = ["ON_EACH", "machine_of", "pool_of"]

ON_EACH = policy_named("drf")
"""What every machine does by itself."""


def pool_of(instance: Instance, users: np.ndarray, k: int, exact: bool = False) -> Instance:
    """Return all machines of class k as a pool of the users (rows of the instance) who may run something there."""
    if exact:
        room = instance.exact_capacity
        if instance.machines is not None:
            room = tuple(instance.machines[k].count * c for c in instance.exact_machine_capacity[k])
        return Instance(_demands(instance, users), room, **_exactly(instance, users))
    weights = instance.weights[users] if instance.weighted else None
    rules = _counting(instance)
    return Instance(
        instance.demands[users], instance.room[k], resources=instance.resources, weights=weights, organisation=rules
    )


def machine_of(instance: Instance, users: np.ndarray, k: int) -> Instance:
    """Return one machine of class k as a cluster of these users: a pool, but for devices, which are a machine's."""
    machine = (instance.machines or ())[k]
    given = _exactly(instance, users) | {"users": [instance.users[i] for i in users.tolist()]}
    if machine.devices:
        return Instance(_demands(instance, users), machines=[replace(machine, count=1)], **given)
    return Instance(_demands(instance, users), instance.exact_machine_capacity[k], **given)


def _demands(instance: Instance, users: np.ndarray) -> Sequence[Any]:
    return [instance.exact_demands[i] for i in users.tolist()]


def _exactly(instance: Instance, users: np.ndarray) -> dict[str, Any]:
    weights = [instance.exact_weights[i] for i in users.tolist()] if instance.weighted else None
    return {"resources": instance.resources, "weights": weights, "organisation": _counting(instance)}


def _counting(instance: Instance) -> Organisation | None:
    """Return the rules that hold on each machine: which resources count in shares, and nothing else."""
    excluded = [name for name, counts in zip(instance.resources, instance.counted, strict=True) if not counts]
    return Organisation(excluded=excluded) if excluded else None
