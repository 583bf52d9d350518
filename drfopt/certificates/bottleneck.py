"""Leximin in one pool: everybody is at her limit or has a bottleneck.

A bottleneck of a user is a saturated resource that she uses and on which no other user of it has a higher level.
An allocation is max-min fair exactly when every placed user is at her limit or has one (Bertsekas and Gallager,
Data Networks, 1992, section 6.5.2, for one resource a link; Ghodsi et al., NSDI 2011, for dominant shares).

What rounding leaves is measured in levels: a user's deficit on a resource is how far she is below the highest level on
it, or how far the highest level could still rise in what is unused (relative to what the users at that level hold),
whichever is more.  Her violation is the smallest over her resources, and 0 at her limit.
"""

from fractions import Fraction

import numpy as np

from ..allocation import Certificate
from ..instance import Instance
from ..policies import Policy
from ..tolerances import CAPACITY, LEVEL
from .feasibility import infeasibility

__all__ = ["certify"]

LITTLE = 1e-5
"""Part of a capacity that the users at the highest level on it hold, below which their sum with the others' tasks is
taken in fractions: a rounding of the capacity would be more than the accuracy promised of their level."""


def certify(instance: Instance, policy: Policy, tasks: np.ndarray) -> Certificate:
    """Return the bottleneck certificate of tasks (n,) in a pool."""
    infeasible, reason = infeasibility(instance, tasks, None)
    levels = policy.rates(instance) * tasks
    deficits = _deficits(instance, levels, tasks)
    bottleneck = deficits.argmin(axis=1)
    violations = deficits[np.arange(instance.n), bottleneck]
    limited = np.isfinite(instance.limits)
    short = np.full(instance.n, np.inf)
    positive = limited & (instance.limits > 0)
    short[limited] = 0.0
    short[positive] = np.maximum(1 - tasks[positive] / instance.limits[positive], 0)
    unplaced = instance.unplaced()
    short[unplaced] = np.where(tasks[unplaced] == 0, 0.0, np.inf)
    stopped_by_limit = short <= np.minimum(violations, LEVEL)
    violations = np.minimum(violations, short)
    violation = max(float(violations.max()), infeasible)
    valid = infeasible <= CAPACITY and violation <= LEVEL
    if not reason and not valid:
        i = int(violations.argmax())
        reason = (
            f"user {instance.users[i]!r} has no bottleneck and is not at her limit: "
            f"her level could rise by {violations[i]:.1e} of it (exact=True computes in fractions)"
        )
    return Certificate(
        kind="bottleneck",
        valid=valid,
        violation=violation,
        bottlenecks=_names(instance, bottleneck, stopped_by_limit),
        reason=reason,
    )


def _deficits(instance: Instance, levels: np.ndarray, tasks: np.ndarray) -> np.ndarray:
    """Return how far each user is from having resource j as a bottleneck, relative to the level on it, (n, m)."""
    deficits = np.full((instance.n, instance.m), np.inf)
    used = tasks @ instance.demands
    for j, capacity in enumerate(instance.capacity):
        column = instance.demands[:, j]
        uses = column > 0
        top = levels[uses].max(initial=0.0)
        if capacity == 0 or top <= 0:
            continue
        highest = uses & (levels >= top * (1 - LEVEL))
        held_by_highest = float(column[highest] @ tasks[highest])
        unused = abs(capacity - used[j])
        if held_by_highest < LITTLE * capacity:
            # The highest hold so little that rounding of what the others hold would decide: look at it exactly.
            unused = _exactly_unused(instance, tasks, j)
        deficits[uses, j] = np.maximum(1 - levels[uses] / top, unused / held_by_highest)
    return deficits


def _exactly_unused(instance: Instance, tasks: np.ndarray, j: int) -> float:
    used = Fraction(0)
    for i, (x, row) in enumerate(zip(tasks.tolist(), instance.exact_demands, strict=True)):
        if row[j]:
            # Who is at her limit has the limit as it was written, of which the float is a rounding.
            limit = instance.exact_limits[i] if x == instance.limits[i] else None
            used += (Fraction(x) if limit is None else limit) * row[j]
    return abs(float(instance.exact_capacity[j] - used))


def _names(instance: Instance, bottleneck: np.ndarray, at_limit: np.ndarray) -> tuple:
    return tuple(
        None if limit else instance.resources[j]
        for j, limit in zip(bottleneck.tolist(), at_limit.tolist(), strict=True)
    )
