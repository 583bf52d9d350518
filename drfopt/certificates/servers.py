"""Leximin on every class of machines by itself: each class is a pool, and has the bottleneck certificate of one."""

from typing import Any

import numpy as np

from ..base.tolerances import CAPACITY
from ..model.allocation import Certificate
from ..model.instance import Instance
from ..model.policies import policy_named
from . import bottleneck
from .exact import certify_filling
from .feasibility import infeasibility

__all__ = ["ON_EACH", "certify", "pool_of"]

ON_EACH = policy_named("drf")
"""What every machine does by itself."""


def pool_of(instance: Instance, users: np.ndarray, k: int, exact: bool = False) -> Instance:
    """Return all machines of class k as a pool of the users (rows of the instance) who may run something there."""
    demands: Any = instance.demands[users]
    room: Any = instance.room[k]
    weights: Any = instance.weights[users] if instance.weighted else None
    if exact:
        demands = [instance.exact_demands[i] for i in users.tolist()]
        weights = [instance.exact_weights[i] for i in users.tolist()] if instance.weighted else None
        room = instance.exact_capacity
        if instance.machines is not None:
            room = [instance.machines[k].count * c for c in instance.exact_machine_capacity[k]]
    return Instance(demands, room, resources=instance.resources, weights=weights)


def certify(instance: Instance, tasks: np.ndarray, placement: np.ndarray | None) -> Certificate:
    """Return the certificate of tasks (n,), placed as (n, k): the worst of the classes'; of fractions in fractions."""
    exact = tasks.dtype == object
    if placement is None:
        return certify_filling(instance, ON_EACH, tasks) if exact else bottleneck.certify(instance, ON_EACH, tasks)
    if exact:
        fine = (placement.sum(axis=1) == tasks).all() and not placement[~instance.fits].any() and (placement >= 0).all()
        violation, reason = (0.0, "") if fine else (float("inf"), "tasks are not those placed where they fit")
    else:
        violation, reason = infeasibility(instance, tasks, placement)
    valid = violation <= CAPACITY
    for k in np.flatnonzero(instance.fits.any(axis=0)).tolist():
        users = np.flatnonzero(instance.fits[:, k])
        pool = pool_of(instance, users, k, exact)
        one = (certify_filling if exact else bottleneck.certify)(pool, ON_EACH, placement[users, k])
        if not one.valid and not reason:
            reason = f"on {instance.machine_names[k]!r}, whose users are {users.tolist()}: {one.reason}"
        violation, valid = max(violation, one.violation), valid and bool(one.valid)
    return Certificate(kind="bottleneck", valid=valid, violation=violation, reason=reason)
