"""Leximin on every class of machines by itself: each class is a pool, and has the bottleneck certificate of one."""

import numpy as np

from ..base.tolerances import CAPACITY
from ..model.allocation import Certificate
from ..model.instance import Instance
from ..model.policies import policy_named
from . import bottleneck
from .feasibility import infeasibility

__all__ = ["ON_EACH", "certify", "pool_of"]

ON_EACH = policy_named("drf")
"""What every machine does by itself."""


def pool_of(instance: Instance, users: np.ndarray, k: int) -> Instance:
    """Return all machines of class k as a pool of the users (rows of the instance) who may run something there."""
    return Instance(
        instance.demands[users],
        instance.room[k],
        resources=instance.resources,
        weights=instance.weights[users] if instance.weighted else None,
    )


def certify(instance: Instance, tasks: np.ndarray, placement: np.ndarray | None) -> Certificate:
    """Return the certificate of tasks (n,), placed as (n, k): the worst of the classes'."""
    if placement is None:
        return bottleneck.certify(instance, ON_EACH, tasks)
    violation, reason = infeasibility(instance, tasks, placement)
    valid = violation <= CAPACITY
    for k in np.flatnonzero(instance.fits.any(axis=0)).tolist():
        users = np.flatnonzero(instance.fits[:, k])
        one = bottleneck.certify(pool_of(instance, users, k), ON_EACH, placement[users, k])
        if not one.valid and not reason:
            reason = f"on {instance.machine_names[k]!r}, whose users are {users.tolist()}: {one.reason}"
        violation, valid = max(violation, one.violation), valid and bool(one.valid)
    return Certificate(kind="bottleneck", valid=valid, violation=violation, reason=reason)
