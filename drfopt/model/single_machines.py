"""Every machine by itself: the clusters in which `per-server` divides, one for each class of machines.

Weights, tiers, the tree of groups and what is excluded are on each machine what they are in a pool; amounts that are
promised or forbidden are of the whole cluster, and no machine's.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .instance import Instance
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
    given = _rules(instance, users, weights)
    return Instance(instance.demands[users], instance.room[k], resources=instance.resources, **given)


def machine_of(instance: Instance, users: np.ndarray, k: int) -> Instance:
    """Return one machine of class k as a cluster of these users: a pool, but for devices, which are a machine's."""
    machine = (instance.machines or ())[k]
    given = {"users": [instance.users[i] for i in users.tolist()]} | _exactly(instance, users)
    if machine.devices:
        return Instance(_demands(instance, users), machines=[replace(machine, count=1)], **given)
    return Instance(_demands(instance, users), instance.exact_machine_capacity[k], **given)


def _demands(instance: Instance, users: np.ndarray) -> Sequence[Any]:
    return [instance.exact_demands[i] for i in users.tolist()]


def _exactly(instance: Instance, users: np.ndarray) -> dict[str, Any]:
    weights = [instance.exact_weights[i] for i in users.tolist()] if instance.weighted else None
    return {"resources": instance.resources, **_rules(instance, users, weights)}


def _rules(instance: Instance, users: np.ndarray, weights: Any) -> dict[str, Any]:
    """Return the weights of some users, 0 for who is served last, and the rules that hold for them on a machine."""
    rules = instance.organisation
    if rules is None:
        return {"weights": weights}
    rows = users.tolist()
    if any(rules.last[i] for i in rows):
        told = [1] * len(rows) if weights is None else weights
        weights = [0 if rules.last[i] else weight for i, weight in zip(rows, told, strict=True)]
    names = [instance.users[i] for i in rows]
    return {"weights": weights, "users": names, "organisation": rules.of_one_machine(rows, names)}
