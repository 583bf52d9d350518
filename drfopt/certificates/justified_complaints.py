"""No justified complaints: a check of an allocation of one pool, not a policy, for many allocations pass it.

A user has no justified complaint when she is at her limit, or holds her entitlement of some saturated resource: the
part of it that her weight is of all weights.  Then whoever wants more of what has run out already has her part of it
(Dolev, Feitelson, Halpern, Kupferman and Linial, No justified complaints, ITCS 2012).  CEEI always passes (Gutman and
Nisan, AAMAS 2012); DRF need not.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..base.errors import PolicyError
from ..base.tolerances import CAPACITY, LEVEL
from ..model.instance import Instance

__all__ = ["Complaint", "complaints"]


@dataclass(frozen=True)
class Complaint:
    """A user who holds less than her entitlement of everything that has run out.

    `resource` is the saturated one of which she holds the largest part of her entitlement, None when there is none.
    """

    user: str
    resource: str | None
    share: Fraction | float
    entitlement: Fraction | float

    def __str__(self) -> str:
        if self.resource is None:
            return f"{self.user!r} could have more, and nothing has run out"
        return (
            f"{self.user!r} holds {float(self.share):.6g} of {self.resource!r}, which has run out, and is entitled to "
            f"{float(self.entitlement):.6g}"
        )


def complaints(instance: Instance, tasks: Any) -> tuple[Complaint, ...]:
    """Return who has a justified complaint about tasks (n,); decided exactly when these are `Fraction`s or integers.

    Raises
    ------
    PolicyError
        On machines, where the notion is not defined.
    """
    if instance.machines is not None:
        raise PolicyError("no justified complaints is a notion for one pool: give a capacity, not machines")
    exact = all(isinstance(x, Fraction | int) for x in (tasks.tolist() if isinstance(tasks, np.ndarray) else tasks))
    return (_exactly if exact else _nearly)(instance, tasks)


def _nearly(instance: Instance, tasks: np.ndarray) -> tuple[Complaint, ...]:
    tasks = np.asarray(tasks, dtype=float)
    there = instance.capacity > 0
    shares = np.where(there, instance.demands * tasks[:, None] / np.where(there, instance.capacity, 1), 0)
    weights = np.broadcast_to(
        instance.weights if instance.weights_per_resource else instance.weights[:, None], shares.shape
    )
    entitled = weights / weights.sum(axis=0)
    full = there & (shares.sum(axis=0) >= 1 - CAPACITY)
    held = np.where(full, shares / entitled, -np.inf)
    content = (tasks >= instance.limits * (1 - LEVEL)) | (held.max(axis=1) >= 1 - LEVEL) | instance.unplaced()
    found = []
    for i in np.flatnonzero(~content).tolist():
        j = int(held[i].argmax())
        found.append(_complaint(instance, i, j if full[j] else None, float(shares[i, j]), float(entitled[i, j])))
    return tuple(found)


def _exactly(instance: Instance, tasks: Any) -> tuple[Complaint, ...]:
    given = [Fraction(x) for x in tasks]
    weights = [w if isinstance(w, tuple) else (w,) * instance.m for w in instance.exact_weights]
    demands, capacity = instance.exact_demands, instance.exact_capacity
    used = [sum((x * row[j] for x, row in zip(given, demands, strict=True)), Fraction(0)) for j in range(instance.m)]
    full = [j for j in range(instance.m) if capacity[j] and used[j] >= capacity[j]]
    total = [sum((w[j] for w in weights), Fraction(0)) for j in range(instance.m)]
    found = []
    for i in np.flatnonzero(~instance.unplaced()).tolist():
        limit = instance.exact_limits[i]
        held = {j: (given[i] * demands[i][j] / capacity[j], weights[i][j] / total[j]) for j in full}
        if (limit is not None and given[i] >= limit) or any(share >= part for share, part in held.values()):
            continue
        j = max(held, key=lambda j: held[j][0] / held[j][1], default=None)
        found.append(_complaint(instance, i, j, *(held[j] if j is not None else (Fraction(0), Fraction(0)))))
    return tuple(found)


def _complaint(instance: Instance, i: int, j: int | None, share: Any, entitlement: Any) -> Complaint:
    return Complaint(instance.users[i], None if j is None else instance.resources[j], share, entitlement)
